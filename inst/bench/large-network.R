# Networks of a million and more variables on a GPU: time, memory, and whether they are right, on
# 10,000 of their edges and 10,000 pairs anywhere.
#   Rscript inst/bench/large-network.R [--record] [1000000x128 1561152x1200 ...]
# It wants host memory for the input (8 bytes a value) and three times the result.
# Half of the variables come in groups of 20 that share a signal, the others are noise.
suppressPackageStartupMessages({
  library(gpucor)
  library(Matrix)
})

arguments <- commandArgs(TRUE)
sizes <- grep("x", setdiff(arguments, "--record"), value = TRUE)
if (!length(sizes)) sizes <- c("1000000x128", "1561152x1200")
densities <- c("1000000x128" = 0.001, "1561152x1200" = 0.0001)

# The unit rates that the floor assumes, of an H200.
HALF_FLOPS <- 935e12
WIRE_BYTES <- 55e9

# Seconds by Zhao, Du and Wang on a TITAN Black.
PEER <- c("1000000x128" = 777)

peak_gb <- function() {
  line <- grep("VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024^2
}

make_data <- function(n_obs, n_var) {
  set.seed(1)
  x <- matrix(runif(as.numeric(n_obs) * n_var), n_obs)
  for (first in seq(1, n_var / 2, by = 20)) {
    columns <- first:(first + 19)
    x[, columns] <- x[, columns] + runif(1) * runif(n_obs)
  }
  x
}

# Which of the pairs i < j are edges.
are_edges <- function(net, i, j) {
  mapply(function(i, j) {
    entries <- net@i[seq.int(net@p[j] + 1, length.out = net@p[j + 1] - net@p[j])]
    at <- findInterval(i - 1, entries)
    at > 0 && entries[at] == i - 1
  }, i, j)
}

wrong_pairs <- function(net, x, i, j) {
  r <- mapply(function(i, j) cor(x[, i], x[, j]), i, j)
  edge <- are_edges(net, i, j)
  sum(edge != (abs(r) >= net@threshold) & abs(abs(r) - net@threshold) > 1e-6)
}

check <- function(net, x, n = 10000) {
  at <- sort(ceiling(runif(n) * length(net@x)))
  i <- net@i[at] + 1L
  j <- findInterval(at - 1, net@p)
  off <- max(abs(net@x[at] - mapply(function(i, j) cor(x[, i], x[, j]), i, j)))
  a <- ceiling(runif(2 * n) * ncol(x))
  b <- ceiling(runif(2 * n) * ncol(x))
  anywhere <- utils::head(which(a != b), n)
  outside <- wrong_pairs(net, x, pmin(a, b)[anywhere], pmax(a, b)[anywhere])
  near <- (seq_len(n / 20) - 1) * 20 + 1 # of one group: in the network or just outside
  list(off = off, wrong = wrong_pairs(net, x, i, j) + outside + wrong_pairs(net, x, near, near + 7))
}

measure <- function(size) {
  dims <- as.numeric(strsplit(size, "x")[[1L]])
  density <- if (size %in% names(densities)) densities[[size]] else 0.001
  x <- make_data(dims[2L], dims[1L])
  invisible(gpuCorNetwork(x[, 1:5000], density = density, backend = "cuda")) # the driver starts
  before <- peak_gb()
  seconds <- system.time(net <- gpuCorNetwork(x, density = density, backend = "cuda"))[["elapsed"]]
  result_gb <- (12 * net@edges + 4 * dims[1L]) / 2^30
  found <- check(net, x)
  operations <- 2 * net@pairs * 2 * dims[2L] # two passes
  floor <- operations / HALF_FLOPS + 16 * net@edges / WIRE_BYTES
  wanted <- ceiling(density * net@pairs)
  cat(sprintf(paste0(
    "%s, density %g: %.0f edges (%.0f asked for), |r| >= %.7f\n",
    "  %.1f s; floor %.1f s (%.3g operations at %g T/s, edges at %g GB/s): ratio %.1f%s\n",
    "  memory: input %.1f GB, result %.1f GB, peak of the process %.1f GB (%.1f before)\n",
    "  of 10,000 edges, 10,000 pairs anywhere and 500 of groups %d wrong; largest error of r %.1e\n"),
    size, density, net@edges, wanted, net@threshold, seconds, floor, operations, HALF_FLOPS / 1e12, WIRE_BYTES / 1e9,
    seconds / floor, if (size %in% names(PEER)) sprintf("; Zhao et al. %g s: %.0f x", PEER[[size]], PEER[[size]] / seconds) else "",
    8 * prod(dims) / 2^30, result_gb, peak_gb(), before, found$wrong, found$off))
  if (net@edges != wanted) cat("  ties at the threshold:", net@edges - wanted, "\n")
}

report <- function() {
  gpu <- gpuInfo()$devices[1, ]
  cat("Networks by density, Pearson; ", gpu$name, ", ", parallel::detectCores(), " cores, ", format(Sys.Date()), "\n", sep = "")
  for (size in sizes) measure(size)
}

report()
