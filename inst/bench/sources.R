# Data that are not in memory: networks of columns in files, and of a sparse matrix.
#
#   Rscript inst/bench/sources.R [--record]
#
# Takes a few minutes on two cores. --record writes the output to results/sources.txt beside this script. Needs rhdf5
# and HDF5Array, and space for two files of 320 MB in the temporary folder.
#
# Every measurement runs in a process of its own and reads a file that was read before: it comes from the system's file
# cache, not from the disk.
#
# seconds   of gpuCorNetwork(x, threshold = 0.25), mostly for the products: the line "memory" includes no reading
# read      average number of times that a column was read, counted in a separate run
# floor     seconds that this reading takes alone: the bytes divided by the rate at which all blocks are read in
#           sequence without gpucor (raw: by readBin(); memory: copied)
# ratio     seconds / floor
# peak      MB of the process's peak resident memory (VmHWM) above what it had before the calls
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
for (file in c("memory.R", "record.R")) source(file.path(here, file))
part <- Sys.getenv("GPUCOR_BENCH_PART") # in a process started by this script: what to measure
folder <- Sys.getenv("GPUCOR_BENCH_FOLDER", tempdir())
n_obs <- 1000
n_var <- 40000
CHUNK <- 32 # columns
raw_path <- file.path(folder, "columns.bin")
h5_path <- file.path(folder, "columns.h5")

# ---- measurements

sources <- list(
  memory = function() matrix(readBin(raw_path, "double", n_obs * n_var), n_obs),
  raw = function() gpuCorFile(raw_path, c(n_obs, n_var)),
  HDF5 = function() gpuCorFile(h5_path, dataset = "x"),
  HDF5Array = function() HDF5Array::HDF5Array(h5_path, "x")
)

# Seconds to read all columns once.
reading_seconds <- function(kind, x) {
  width <- max(CHUNK, 2^19 %/% n_obs %/% CHUNK * CHUNK)
  first <- seq(1, n_var, width)
  connection <- if (kind == "raw") file(raw_path, "rb")
  read <- switch(kind,
    memory = function(from, to) x[, from:to] + 0,
    raw = function(from, to) readBin(connection, "double", n_obs * (to - from + 1)),
    function(from, to) gpucor:::read_run(x, from:to)
  )
  seconds <- system.time(for (from in first) read(from, min(from + width - 1, n_var)))[["elapsed"]]
  if (!is.null(connection)) close(connection)
  seconds
}

network <- function(x, memory) gpuCorNetwork(x, threshold = 0.25, memory = memory, backend = "cpu")

# How often each column is read, on average.
count_reads <- function(memory) {
  columns <- 0
  read <- gpucor:::read_run
  utils::assignInNamespace("read_run", function(x, of) {
    columns <<- columns + length(of)
    read(x, of)
  }, "gpucor")
  network(sources$HDF5(), memory)
  columns / n_var
}

measure_network <- function(kind, memory) {
  x <- sources[[kind]]()
  network(matrix(stats::rnorm(900), 30), 0) # loads everything that a first call loads
  if (kind != "memory" && kind != "raw") gpucor:::read_run(x, 1:2)
  gc()
  before <- status_mb("VmRSS")
  writeLines("5", "/proc/self/clear_refs") # resets the peak
  seconds <- system.time(network(x, memory))[["elapsed"]]
  peak <- status_mb("VmHWM") - before
  list(seconds = seconds, peak = peak, floor = reading_seconds(kind, x))
}

# Pearson's correlation of a sparse matrix's columns, written out.
crossprod_cor <- function(x) {
  means <- Matrix::colMeans(x)
  covariance <- (as.matrix(Matrix::crossprod(x)) - nrow(x) * tcrossprod(means)) / (nrow(x) - 1)
  covariance / tcrossprod(sqrt(diag(covariance)))
}

measure_sparse <- function(kind) {
  set.seed(1)
  x <- Matrix::rsparsematrix(20000, 2000, 0.1, rand.x = function(n) stats::rpois(n, 3) + 1)
  run <- if (kind == "gpucor") function() gpuCor(x, output = "matrix", backend = "cpu") else function() crossprod_cor(x)
  invisible(suppressMessages(gpuCor(x[1:50, 1:20], backend = "cpu")))
  gc()
  before <- status_mb("VmRSS")
  writeLines("5", "/proc/self/clear_refs")
  seconds <- vapply(1:3, function(k) system.time(r <<- suppressMessages(run()))[["elapsed"]], 0)
  peak <- status_mb("VmHWM") - before
  list(seconds = min(seconds), peak = peak, off = max(abs(r - crossprod_cor(x))), size = as.numeric(object.size(x)))
}

# ---- a process for each

apart <- function(...) {
  result <- tempfile()
  Sys.setenv(GPUCOR_BENCH_PART = paste(c(..., result), collapse = "|"), GPUCOR_BENCH_FOLDER = folder)
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)))
  Sys.unsetenv("GPUCOR_BENCH_PART")
  if (status != 0) stop("a measurement failed: ", ...)
  readRDS(result)
}

if (nzchar(part)) {
  part <- strsplit(part, "|", fixed = TRUE)[[1L]]
  found <- switch(part[1L],
    network = measure_network(part[2L], as.numeric(part[3L])),
    reads = count_reads(as.numeric(part[2L])),
    sparse = measure_sparse(part[2L])
  )
  saveRDS(found, part[length(part)])
  quit()
}

# The first columns share a signal. Writes both files, one block at a time.
write_data <- function() {
  set.seed(1)
  rhdf5::h5createFile(h5_path)
  suppressMessages(rhdf5::h5createDataset(h5_path, "x", c(n_obs, n_var), chunk = c(n_obs, CHUNK), level = 0))
  connection <- file(raw_path, "wb")
  on.exit(close(connection))
  signal <- stats::rnorm(n_obs)
  for (first in seq(1, n_var, 100)) {
    values <- matrix(stats::rnorm(n_obs * 100), n_obs) + signal * (first == 1)
    writeBin(as.vector(values), connection, endian = "little")
    rhdf5::h5write(values, h5_path, "x", start = c(1, first), count = c(n_obs, 100))
  }
}

# ---- the report

say <- function(...) emit(sprintf(...))
open_record("sources.txt")

megabytes <- n_obs * n_var * 8 / 1e6
write_data()
say("%s observations x %s variables, %.0f MB; HDF5 in chunks of %d columns", format(n_obs, big.mark = ","),
    format(n_var, big.mark = ","), megabytes, CHUNK)
say("%-24s %10s %6s %8s %8s %10s", "", "seconds", "read", "floor", "ratio", "peak MB")
for (memory in c(0, 32e6)) {
  say(if (memory == 0) "memory = 0: as gpucor decides" else sprintf("memory = %.0f MB", memory / 1e6))
  reads <- apart("reads", memory)
  for (kind in names(sources)) {
    found <- apart("network", kind, memory)
    floor <- found$floor * reads
    say("  %-22s %10.2f %6.1f %8.2f %8.1f %10.0f", kind, found$seconds, reads, floor, found$seconds / floor,
        found$peak)
  }
}
unlink(c(raw_path, h5_path))

say("")
say("Pearson of 2,000 columns of a sparse matrix, 20,000 rows, a tenth not 0")
ours <- apart("sparse", "gpucor")
peer <- apart("sparse", "crossprod")
say("%-24s %10s %10s", "", "seconds", "peak MB")
say("  %-22s %10.2f %10.0f", "gpuCor()", ours$seconds, ours$peak)
say("  %-22s %10.2f %10.0f", "by Matrix::crossprod()", peer$seconds, peer$peak)
say("  off from one another by %.1e at most; the matrix has %.0f MB, and would have %.0f dense", ours$off,
    ours$size / 1e6, 20000 * 2000 * 8 / 1e6)
close_record()
