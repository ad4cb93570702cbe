# PLINK 1 files as data: a .bed file has two bits for each genotype, one variant after the other, and the .bim and .fam
# files beside it have a line for each variant and for each sample.

# Returns a gpuCorFile, whose element `variants` is a data frame of the .bim file. `given`: the user's name of `file`,
# which may be a link to it: the other files are beside the link.
plink_file <- function(file, given) {
  read <- function(ending, fields) {
    path <- check_data_file(sub("bed$", ending, given))
    words <- paste0("the file \"", path, "\" cannot be read: ")
    with_our_errors(scan(path, fields, quote = "", na.strings = character(), multi.line = FALSE, flush = TRUE,
                         quiet = TRUE), words, fail_file)
  }
  variants <- as.data.frame(read("bim", list(chromosome = "", id = "", cm = 0, bp = 0L, a1 = "", a2 = "")))
  has_no_id <- variants$id == "."
  variants$id[has_no_id] <- paste(variants$chromosome, variants$bp, sep = ":")[has_no_id]
  variants$chromosome[variants$chromosome == "0"] <- NA # unplaced, so that a pair mask leaves it out
  variants$bp[which(variants$bp <= 0)] <- NA
  if (all(variants$cm %in% 0)) variants$cm[] <- NA # unknown
  samples <- read("fam", list(NULL, ""))[[2L]]
  x <- new_file(file, "plink", c(length(samples), nrow(variants)), list(samples, variants$id), variants = variants,
                storage = "integer") # in a plan, see store_data()
  check_plink_file(x)
  x
}

is_plink_name <- function(file) grepl("[.]bed$", file)

# Stops unless the file is a .bed file with the number of genotypes of x.
check_plink_file <- function(x) {
  shown <- paste0("\"", check_data_file(x$file), "\"")
  begin <- readBin(x$file, "raw", 3L)
  if (!identical(begin[1:2], as.raw(c(0x6c, 0x1b)))) {
    fail_file(shown, " is no .bed file of PLINK; for a raw file give 'dim'")
  }
  if (!identical(begin[3L], as.raw(1L))) {
    fail_file(shown, " does not have one variant after the other, as plink --make-bed writes it")
  }
  bytes <- 3 + plink_stride(x) * ncol(x)
  if (file.size(x$file) == bytes) return(invisible())
  fail_file(shown, " has ", format_count(file.size(x$file)), " bytes, and ", n_of(nrow(x), "sample"), " (.fam) and ",
            n_of(ncol(x), "variant"), " (.bim) take ", format_count(bytes))
}

# Returns the number of bytes of a variant.
plink_stride <- function(x) ceiling(nrow(x) / 4)

# The numbers of A1 alleles that a byte means: four samples x the bytes 0 to 255. The lowest two bits are the first
# sample's; 0: A1 twice, 1: missing, 2: once, 3: not at all.
GENOTYPES <- matrix(c(2L, NA, 1L, 0L)[outer(4^(0:3), 0:255, function(place, byte) byte %/% place %% 4) + 1], 4L)

read_plink_columns <- function(x, columns) {
  check_plink_file(x)
  stride <- plink_stride(x)
  connection <- file(x$file, "rb")
  on.exit(close(connection))
  seek(connection, 3 + (columns[1L] - 1) * stride)
  values <- GENOTYPES[, as.integer(readBin(connection, "raw", stride * length(columns))) + 1L]
  dim(values) <- c(4 * stride, length(columns))
  if (nrow(x) == 4 * stride) values else values[seq_len(nrow(x)), , drop = FALSE]
}
