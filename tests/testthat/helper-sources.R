# Data that are not in memory, and what is computed of them.

named <- function(x) `colnames<-`(x, paste0("v", seq_len(ncol(x))))

# Where all methods and uses are tried; `few` has some rows without missing values.
small_data <- function() {
  few <- rounded(30, 40)
  few[1:4, ] <- with_missing(few[1:4, ], 0.2)
  list(complete = named(rounded(30, 40)), missing = with_missing(rounded(30, 40), 0.1), few = with_constants(few))
}

# What is to be the same of a network, whatever it was computed from.
bare <- function(value) {
  if (isS4(value)) return(lapply(c(p = "p", i = "i", x = "x", Dimnames = "Dimnames", threshold = "threshold"),
                                 function(name) methods::slot(value, name)))
  if (!is.null(attr(value, "call"))) attr(value, "call") <- NULL
  value
}

jobs <- list(
  cor = function(x, ...) gpuCor(x, ...),
  network = function(x, ...) gpuCorNetwork(x, threshold = 0.3, ...),
  density = function(x, ...) gpuCorNetwork(x, density = 0.05, ...),
  connectivity = function(x, ...) gpuConnectivity(x, threshold = 0.2, power = 2, ...),
  triangle = function(x, ...) gpuCorTriangle(x, ...)
)

# A job's outcome, without what is the caller's.
result_of_job <- function(x, job, use, ...) {
  result <- outcome(jobs[[job]](x, use = use, ...))
  replace(result, "value", list(bare(result$value)))
}

# A name for the contents of an object.
digest_of <- function(object) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(serialize(object, NULL), file)
  tools::md5sum(file)[[1]]
}

# The same of matrices, each found once.
known_results <- new.env()
known_result <- function(x, ...) {
  key <- paste(digest_of(x), ...)
  if (is.null(known_results[[key]])) known_results[[key]] <- result_of_job(x, ...)
  known_results[[key]]
}

# Jobs of what make() makes of each of some matrices are those of the matrices.
expect_same_results <- function(make, data, label, methods = all_methods, uses = all_uses, which = names(jobs)) {
  outside <- lapply(data, make)
  rows <- covering(data = seq_along(data), job = which, method = methods, use = uses)
  for (k in seq_len(nrow(rows))) {
    row <- rows[k, ]
    ours <- result_of_job(outside[[row$data]], row$job, row$use, method = row$method)
    truth <- known_result(data[[row$data]], row$job, row$use, method = row$method)
    expect_identical(ours, truth, label = paste(c(label, names(data)[row$data], row[-1]), collapse = " "))
  }
  expect_nothing_left(label)
}

# An HDF5 file of a matrix.
write_dense <- function(x, chunk = dim(x), level = 0) {
  file <- tempfile(fileext = ".h5")
  rhdf5::h5createFile(file)
  suppressMessages({
    rhdf5::h5createDataset(file, "data", dim(x), storage.mode = storage.mode(x), chunk = chunk, level = level)
  })
  rhdf5::h5write(x, file, "data")
  file
}

# Several workers, however small the work is.
with_workers <- function(code) {
  old <- options(gpucor.workers_per_device = 2L)
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit({
    options(old)
    .Call(gpucor:::r_set_shared_steps, 0)
  })
  force(code)
}

# A .bed file of genotypes x, numbers of A1 alleles, as the format's definition says: two bits a sample, in a byte from
# right to left. `...`: columns of the .bim file other than ids.
write_plink <- function(x, ..., file = tempfile(fileext = ".bed")) {
  bits <- `dim<-`(ifelse(is.na(x), "01", c("11", "10", "00")[x + 1]), dim(x))
  bytes <- apply(rbind(bits, matrix("00", -nrow(x) %% 4, ncol(x))), 2, function(variant) {
    apply(matrix(variant, 4), 2, function(four) strtoi(paste(rev(four), collapse = ""), 2))
  })
  writeBin(as.raw(c(0x6c, 0x1b, 0x01, bytes)), file)
  bim <- data.frame(chromosome = 1, id = colnames(x), cm = 0, bp = seq_len(ncol(x)), a1 = "A", a2 = "G")
  bim[names(list(...))] <- list(...)
  fam <- cbind("family", rownames(x), 0, 0, 0, -9)
  write_words <- function(table, ending) {
    write.table(table, sub("bed$", ending, file), quote = FALSE, row.names = FALSE, col.names = FALSE)
  }
  write_words(bim, "bim")
  write_words(fam, "fam")
  file
}
