# Hierarchical clustering of the distances 1 - r, compared with the machine's own rate and with fastcluster.
#
#   Rscript inst/bench/tree.R [backend] [N] [method] [--record] [--peers]
#
# Default: average linkage of N = 20,000 on a CPU; 20,000, 60,000 and 100,000 on a GPU. --peers: also
# fastcluster::hclust(), up to its limit of 65,536. --record writes the output to results/tree.txt beside this script,
# on a CPU to results/tree-cpu.txt.
#
# floor   four readings of N x N distances of 4 bytes, as each cluster is searched and merged: on a CPU at 20 GB/s,
#         which two cores read; on a GPU at 4.2 TB/s, and 4 N steps that end with a wait of 1.5 microseconds
# ours    seconds from the coefficients to the tree: the best of some runs; CPU: user and system time of all threads
# ratio   to the floor; for fastcluster: its time divided by ours, elapsed and CPU
# off     the largest difference of a height from fastcluster's, relative to the largest height
# same    merges that are fastcluster's
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))
positional <- grep("^--", arguments, value = TRUE, invert = TRUE)

# Groups of columns, as modules of genes.
make_data <- function(n_obs, n_var) {
  set.seed(1)
  group <- seq_len(n_var) %% 50
  common <- matrix(rnorm(n_obs * 50), n_obs)[, group + 1] * rep(group > 10, each = n_obs)
  matrix(rnorm(n_obs * n_var), n_obs) + common
}

floor_of <- function(backend, n) {
  bytes <- 4 * 4 * n^2
  if (backend == "cpu") bytes / 20e9 else bytes / 4.2e12 + 4 * n * 1.5e-6
}

LINE <- "%-30s %9s %9s %9s %13s %9s %9s"

measure <- function(backend, n, method) {
  r <- gpucor::gpuCor(make_data(100, n), backend = backend)
  invisible(gpucor::gpuHclust(gpucor::gpuCor(make_data(100, 1000), backend = backend), backend = backend))
  ours <- NULL
  used <- seconds_of(function() ours <<- gpucor::gpuHclust(r, method, backend = backend), 3)
  floor <- floor_of(backend, n)
  emit(sprintf(LINE, paste0("gpuHclust(), ", backend, ", N = ", number(n, 8)), number(floor), number(used[["elapsed"]]),
               number(used[["cpu"]]), number(used[["elapsed"]] / floor), "", ""))
  if (!"--peers" %in% arguments || n > 65536) return(invisible())
  d <- (1 - r) + 0 # doubles
  theirs <- NULL
  peer <- seconds_of(function() theirs <<- fastcluster::hclust(d, method), 1)
  emit(sprintf(LINE, "fastcluster", "", number(peer[["elapsed"]]), number(peer[["cpu"]]),
               paste0(number(peer[["elapsed"]] / used[["elapsed"]]), " / ", number(peer[["cpu"]] / used[["cpu"]])),
               sprintf("%.1e", max(abs(ours$height - theirs$height)) / max(theirs$height)),
               percent(mean(rowSums(ours$merge != theirs$merge) == 0))))
}

main <- function() {
  given <- function(k, default) if (length(positional) >= k) positional[k] else default
  info <- gpucor::gpuInfo()
  backend <- given(1, info$default)
  method <- given(3, "average")
  open_record(if (backend == "cpu") "tree-cpu.txt" else "tree.txt")
  emit("Hierarchical clustering, ", backend, ", method = \"", method, "\", ", info$threads, " threads")
  emit(sprintf(LINE, "", "floor", "elapsed", "CPU", "ratio", "off", "same"))
  sizes <- if (backend == "cpu") 20000 else c(20000, 60000, 100000)
  for (n in as.numeric(given(2, sizes))) measure(backend, n, method)
  close_record()
}

invisible(main())
