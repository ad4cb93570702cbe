# A network written to a file, compared with the disk's write rate and with the same network in memory.
#   Rscript inst/bench/file.R [N] [n_obs] [density] [spool_bytes] [--once] [--record]
# The floor is the file's bytes at the rate at which the folder's disk takes as many zeros, plus the network in memory.
# The zeros are written before and after, and the faster time counts: memory that a virtual machine has never used, and
# in which the system caches files, is slow at first. --once: a large network, each measured once, with little memory
# for its edges. With --record the output is also written to results/file.txt, or to results/file-cuda.txt with a GPU.
suppressPackageStartupMessages(library(gpucor))

arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(here, "record.R"))
once <- "--once" %in% arguments
numbers <- as.numeric(grep("^--", arguments, value = TRUE, invert = TRUE))
given <- function(k, default) if (length(numbers) >= k) numbers[k] else default
n_var <- given(1, 20000)
n_obs <- given(2, 100)
density <- given(3, 0.02)
spool <- given(4, 1e7)

folder <- tempfile("file")
dir.create(folder)
file <- file.path(folder, "net.h5ad")

# Elapsed and CPU seconds: the minimum of some runs.
TIMES <- if (once) 1 else 3
measure <- function(work) {
  times <- vapply(seq_len(TIMES), FUN.VALUE = c(clock = 0, cpu = 0), function(k) {
    unlink(file)
    gc()
    time <- system.time(work())
    c(clock = time[["elapsed"]], cpu = time[["user.self"]] + time[["sys.self"]])
  })
  apply(times, 1, min)
}

# Bytes per second that the disk takes, including the sync.
disk_rate <- function(bytes) {
  zeros <- file.path(folder, "zeros")
  on.exit(unlink(zeros))
  pieces <- max(1, ceiling(bytes / 2^20))
  arguments <- c("if=/dev/zero", paste0("of=", zeros), "bs=1M", paste0("count=", pieces), "conv=fsync")
  pieces * 2^20 / system.time(system2("dd", arguments, stderr = FALSE))[["elapsed"]]
}

set.seed(1)
x <- matrix(rnorm(n_obs * n_var), n_obs)
run <- function(...) gpuCorNetwork(x, density = density, ...)
invisible(gpuCorNetwork(x[, 1:100], threshold = 0.5, file = file)) # loads packages and starts threads

memory <- measure(function() edges <<- run()@edges)
bytes <- 24 * edges # per edge twice a column index (8 bytes) and a value (4 bytes)
before <- disk_rate(bytes)
options(gpucor.spool_bytes = spool)
spooled <- measure(function() run(file = file))
bytes <- file.size(file)
if (!once) {
  options(gpucor.spool_bytes = 0)
  kept <- measure(function() run(file = file))
  options(gpucor.spool_bytes = spool)
}
unlink(file)
rate <- max(before, disk_rate(bytes))
unlink(folder, recursive = TRUE)

floor <- memory[["clock"]] + bytes / rate
line <- function(name, time) {
  sprintf("%-34s %8.2f %8.2f %10.2f %12.2f", name, time[["clock"]], time[["cpu"]], time[["clock"]] / floor,
          time[["cpu"]] / memory[["cpu"]])
}
report <- c(
  sprintf("N = %.0f, n_obs = %.0f, density %g: %.0f edges, a file of %.0f MB", n_var, n_obs, density, edges,
          bytes / 1e6),
  sprintf("floor: the network %.2f s, and %.0f MB at the disk's %.0f MB/s %.2f s", memory[["clock"]], bytes / 1e6,
          rate / 1e6, bytes / rate),
  sprintf("%-34s %8s %8s %10s %12s", "", "s", "CPU s", "x floor", "x CPU memory"),
  line("in memory", memory),
  if (!once) line("file, edges in memory", kept),
  line(sprintf("file, %.0f MB of edges in memory", spool / 1e6), spooled)
)
open_record(if (gpuInfo()$default == "cuda") "file-cuda.txt" else "file.txt")
for (text in report) emit(text)
close_record()
