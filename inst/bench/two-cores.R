# Functions on a processor without a GPU, in CPU seconds.
#
#   Rscript inst/bench/two-cores.R [row ...] [--record]
#
# Takes two minutes on two free cores. --record writes the output to results/two-cores.txt beside this script.
#
# floor   CPU seconds of what cannot be avoided, in the same run: for maps and degrees, the same pairs multiplied for a
#         network without edges; for groups, the subjects' coefficients; for voxels, R's gzfile() alone, which inflates;
#         for modules, dynamicTreeCut alone, as it cuts the same tree
# peer    CPU seconds of the same result by R: for groups, of kept z by products of matrices
# ours    CPU seconds of all threads: the best of two calls
# ratio   ours / floor
# must    goal for ours
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))
suppressPackageStartupMessages(library(gpucor))
options(gpucor.backend = "cpu")

cpu_of <- function(work, times = 2) seconds_of(function() suppressMessages(suppressWarnings(work())), times)[["cpu"]]

normal <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * n_var), n_obs)
}

# ---- rows

connectome <- function() normal(188, 37268)
no_edges <- function(x) gpuCorNetwork(x, threshold = 0.999)
subjects <- function() lapply(1:10, function(s) normal(200 + s, 94))

# Welch's t of all pairs for each relabelling; returns the largest |t| of each.
by_hand <- function(x, n_perm = 999) {
  z <- vapply(x, function(m) {
    r <- cor(m)
    atanh(r[lower.tri(r)])
  }, numeric(94 * 93 / 2))
  set.seed(2)
  is_first <- replicate(n_perm, 1:10 %in% sample.int(10, 5)) + 0
  moments <- function(chosen) list(mean = z %*% chosen / 5, square = z^2 %*% chosen)
  a <- moments(is_first)
  b <- moments(1 - is_first)
  variance <- (a$square - 5 * a$mean^2 + b$square - 5 * b$mean^2) / 20
  apply(abs(a$mean - b$mean) / sqrt(variance), 2, max)
}

# A series of 16-bit integers, 64 x 64 x 36 x 200, of which a third is not 0.
make_image <- function() {
  file <- tempfile(fileext = ".nii.gz")
  set.seed(1)
  at <- expand.grid(1:64, 1:64, 1:36)
  mean <- 1000 * exp(-((at[, 1] - 32)^2 + (at[, 2] - 32)^2) / 400)
  values <- replicate(200, as.integer(ifelse(mean > 300, rnorm(nrow(at), mean, 20), 0)))
  writeVoxels(array(values, c(64, 64, 36, 200)), file, array(0, c(64, 64, 36)))
  in_16_bits(file)
}

# Rewrites a file of 32-bit integers: datatype 4 and 16 bits at offsets 70 and 72 of the header.
in_16_bits <- function(file) {
  from <- gzfile(file, "rb")
  bytes <- readBin(from, "raw", 352)
  values <- readBin(from, "integer", 64 * 64 * 36 * 200)
  close(from)
  bytes[71:74] <- as.raw(c(4, 0, 16, 0))
  to <- gzfile(file, "wb")
  writeBin(bytes, to)
  writeBin(values, to, size = 2L)
  close(to)
  file
}

inflate <- function(file) {
  from <- gzfile(file, "rb")
  on.exit(close(from))
  while (length(readBin(from, "raw", 2^22)) == 2^22) NULL
}

genes <- function() {
  x <- normal(100, 8000)
  factors <- matrix(rnorm(100 * 40), 100)[, rep(1:40, length.out = 8000)]
  x + 0.8 * factors * rep(runif(8000), each = 100)
}

# dynamicTreeCut alone, of the tree and the distances that gpuModules() has.
cut_alone <- function(x) {
  tom <- gpuTOM(x)
  tree <- gpuHclust(tom)
  distances <- 1 - as.matrix(tom)
  cpu_of(function() dynamicTreeCut::cutreeDynamic(tree, distM = distances, deepSplit = 2, verbose = 0), 1)
}

rows <- list(
  mean = list(data = connectome, ours = function(x) gpuConnectivity(x, maps = "mean"), floor = no_edges, must = NA),
  z = list(data = connectome, ours = function(x) gpuConnectivity(x, maps = "z"), floor = no_edges, must = 14),
  threshold = list(data = connectome, ours = function(x) gpuConnectivity(x, threshold = 0.12), floor = no_edges,
                   must = NA),
  density = list(data = connectome, ours = function(x) gpuConnectivity(x, density = 0.1), floor = no_edges, must = 12),
  groups = list(data = subjects, ours = function(x) gpuCorCompare(x[1:5], x[6:10], n_perm = 999),
                floor = function(x) for (one in x) gpuCor(one), peer = by_hand, must = 0.2),
  readVoxels = list(data = make_image, ours = readVoxels, floor = inflate, must = 0.8),
  voxelMatrix = list(data = make_image, ours = voxelMatrix, floor = inflate, must = 0.8),
  modules = list(data = genes, ours = function(x) gpuModules(x, power = 6), floor = cut_alone, must = 9)
)

run_row <- function(name) {
  row <- rows[[name]]
  x <- row$data()
  if (name == "modules") invisible(loadNamespace("WGCNA")) # once a session, and not ours
  floor <- if (name == "modules") row$floor(x) else cpu_of(function() row$floor(x))
  peer <- if (!is.null(row$peer)) cpu_of(function() row$peer(x)) else NA
  ours <- cpu_of(function() row$ours(x))
  emit(sprintf("%-12s %8s %8s %8s %8s %8s", name, number(floor), number(peer), number(ours), number(ours / floor),
               number(row$must)))
}

wanted <- setdiff(arguments, "--record")
open_record("two-cores.txt")
load <- tryCatch(strsplit(readLines("/proc/loadavg"), " ")[[1]][1], error = function(e) "unknown")
say("load of the machine before: ", load)
emit(sprintf("%-12s %8s %8s %8s %8s %8s", "", "floor", "peer", "ours", "ratio", "must"))
for (name in if (length(wanted)) wanted else names(rows)) run_row(name)
close_record()
