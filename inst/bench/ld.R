# Linkage disequilibrium of PLINK files: pairs of variants at most 3 cM apart whose r^2 is at least 0.2, over the samples
# that have both genotypes.
#
#   Rscript inst/bench/ld.R [--record]
#
# Takes ten minutes with a GPU and 16 cores, a minute without. Prints seconds: "read" reads the bytes of the file once,
# the floor; "cor()" is stats::cor(use = "pairwise") of 300 variants in memory, times the pairs of the window; then
# gpuCorNetwork() of the file. --record writes the output to results/ld-<back end>.txt beside this script.

suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
source(file.path(here, "record.R"))
has_gpu <- length(gpuInfo()$devices$name) > 0

# Writes a file of n_obs samples and n_var variants, evenly over 22 chromosomes of 150 cM, 1 % missing. From one variant
# to the next, 2 samples of a hundred have their genotypes drawn again.
write_genotypes <- function(n_obs, n_var) {
  file <- tempfile("genotypes", fileext = ".bed")
  chromosome <- sort(rep(1:22, length.out = n_var))
  cm <- unlist(lapply(table(chromosome), function(n) seq(0, 150, length.out = n)))
  pieces <- parallel::mclapply(1:22, mc.cores = parallel::detectCores(), function(k) {
    set.seed(k)
    codes <- sample(c(0L, 2L, 3L), n_obs, TRUE, c(0.1, 0.4, 0.5)) # two, one and no allele
    unlist(lapply(seq_len(sum(chromosome == k)), function(j) {
      some <- sample.int(n_obs, n_obs %/% 50)
      codes[some] <<- sample(c(0L, 2L, 3L), length(some), TRUE, c(0.1, 0.4, 0.5))
      own <- replace(codes, sample.int(n_obs, n_obs %/% 100), 1L)
      own <- matrix(c(own, integer(-n_obs %% 4)), 4)
      as.raw(own[1, ] + 4L * own[2, ] + 16L * own[3, ] + 64L * own[4, ])
    }))
  })
  connection <- file(file, "wb")
  writeBin(as.raw(c(0x6c, 0x1b, 1)), connection)
  for (piece in pieces) writeBin(piece, connection)
  close(connection)
  writeLines(sprintf("%d rs%d %.4f %.0f A G", chromosome, seq_len(n_var), cm, 1 + cm * 1e6), sub("bed$", "bim", file))
  writeLines(sprintf("f%d s%d 0 0 0 -9", seq_len(n_obs), seq_len(n_obs)), sub("bed$", "fam", file))
  file
}

number <- function(x) format(x, big.mark = ",", scientific = FALSE)
seconds_of <- function(code) system.time(code)[["elapsed"]]

sizes <- list(c(7000, 20000), c(5000, 100000), c(5000, 500000))
if (!has_gpu) sizes <- list(c(500, 2000), c(500, 10000))
invisible(gpuCorNetwork(matrix(rnorm(1000), 50), threshold = 0.9)) # starts the GPU
open_record(paste0("ld-", if (has_gpu) "cuda" else "cpu", ".txt"))
emit(sprintf("%9s %8s %13s %11s %8s %12s %8s %8s", "variants", "samples", "pairs", "edges", "read", "cor()", "ours",
             "times"))
for (size in sizes) {
  file <- write_genotypes(size[1], size[2])
  x <- gpuCorFile(file)
  window <- pairMask(x$variants[c("chromosome", "cm")], within_distance = 3)
  read <- seconds_of(readBin(file, "raw", file.size(file)))
  some <- x[, 1:300]
  peer <- seconds_of(cor(some, use = "pairwise")) / (300 * 299 / 2)
  ours <- seconds_of(net <- gpuCorNetwork(x, pairs = window, threshold = sqrt(0.2), use = "pairwise"))
  cm <- split(x$variants$cm, x$variants$chromosome)
  pairs <- sum(vapply(cm, function(at) sum(findInterval(at + 3, at) - seq_along(at)), 0))
  emit(sprintf("%9s %8s %13s %11s %8.2f %12.1f %8.2f %8.0f", number(size[2]),
               number(size[1]), number(pairs), number(length(net@x)),
               read, peer * pairs, ours, peer * pairs / ours))
  unlink(sub("bed$", "*", file))
}
close_record()
