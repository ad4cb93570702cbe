# A network of columns in an HDF5 file, on CPUs, in memory that is a fraction of the file.
#
#   Rscript inst/bench/larger-than-memory.R [N] [n_obs] [memory] [--record]
#
# 1,000,000 columns of 500 observations take about 40 minutes on two cores, and 4 GB of disk. --record writes the output
# to results/larger-than-memory.txt beside this script. Needs rhdf5.
#
# The columns are voxels of an image in slices of 50 x 50: neighbours resemble one another. Memory is the system's peak
# of resident memory (VmHWM) minus what was resident before the call and minus the result.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
numbers <- as.numeric(setdiff(arguments, "--record"))
given <- function(k, default) if (length(numbers) >= k) numbers[k] else default
n_var <- given(1, 1e6)
n_obs <- given(2, 500)
memory <- given(3, 1e9)
density <- 1e-4
SIDE <- 50
CHUNK <- 50 # columns

script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(dirname(script), "memory.R"))
folder <- tempfile("larger")
dir.create(folder)
path <- file.path(folder, "voxels.h5")

# A slice: each voxel shares noise with its neighbours, and all share some.
neighbours <- function(side) {
  band <- outer(seq_len(side), seq_len(side), function(i, j) exp(-(i - j)^2 / 4))
  function(noise) {
    slices <- array(noise, c(side, side, nrow = n_obs))
    smooth <- apply(slices, 3, function(slice) band %*% slice %*% band)
    t(smooth)
  }
}

write_columns <- function() {
  rhdf5::h5createFile(path)
  rhdf5::h5createDataset(path, "voxels", c(n_obs, n_var), storage.mode = "double", chunk = c(n_obs, CHUNK), level = 0)
  smooth <- neighbours(SIDE)
  shared <- matrix(rnorm(n_obs * 8), n_obs)
  width <- SIDE^2
  for (from in seq(1, n_var, width)) {
    to <- min(from + width - 1, n_var)
    slice <- smooth(rnorm(n_obs * width)) + shared %*% matrix(rexp(8 * width), 8) + rnorm(n_obs * width)
    rhdf5::h5write(slice[, seq_len(to - from + 1)], path, "voxels", index = list(NULL, from:to))
  }
  rhdf5::h5closeAll()
}

# Another process writes the columns, so that its memory is not measured.
if (nzchar(Sys.getenv("GPUCOR_BENCH_FILE"))) {
  path <- Sys.getenv("GPUCOR_BENCH_FILE")
  set.seed(1)
  write_columns()
  quit()
}
Sys.setenv(GPUCOR_BENCH_FILE = path)
written <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), n_var, n_obs))
if (written != 0) stop("the columns could not be written")

columns_read <- 0
read <- gpucor:::read_run
utils::assignInNamespace("read_run", function(x, of) {
  columns_read <<- columns_read + length(of)
  read(x, of)
}, "gpucor")

x <- gpuCorFile(path, dataset = "voxels")
invisible(gpuCorNetwork(matrix(rnorm(900), 30), density = 0.1)) # loads everything that a first call loads
invisible(read(x, 1:2))
columns_read <- 0
invisible(gc())
before <- status_mb("VmRSS")
writeLines("5", "/proc/self/clear_refs") # resets the peak
time <- system.time(net <- gpuCorNetwork(x, density = density, memory = memory, backend = "cpu"))
peak <- status_mb("VmHWM") - before
result <- as.numeric(object.size(net)) / 2^20

report <- c(
  sprintf("%.0f variables x %.0f observations in HDF5, %.0f MB; density %g, memory = %g MB", n_var, n_obs,
          file.size(path) / 1e6, density, memory / 1e6),
  sprintf("%.0f edges, threshold %.6f, %.0f s, %.0f s of CPU; each column read %.1f times", net@edges, net@threshold,
          time[["elapsed"]], time[["user.self"]] + time[["sys.self"]], columns_read / n_var),
  sprintf("resident at most %.0f MB, of which the result is %.0f MB: %.0f MB beyond it", peak, result, peak - result)
)
unlink(folder, recursive = TRUE)
here <- dirname(script)
source(file.path(here, "record.R"))
open_record("larger-than-memory.txt")
for (text in report) emit(text)
close_record()
