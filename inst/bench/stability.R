# Stability of edges and modules in resamples, and networks of single samples.
#
#   Rscript inst/bench/stability.R [--record] [--peers] [row ...]
#
# The data are those of gene expression: every column is a mixture of 20 common factors and noise of its own; for
# modules, a column follows one of 12 factors, or none. --peers: also the same by hand. GPUCOR_BENCH_SCALE: the fraction
# of the variables to use, such as 0.1 for a quick look.
#
# ours     seconds from the call to the finished R object, and in parentheses CPU seconds (user and system), which other
#          work on the machine changes less
# floor    the same of one call without resamples, the mean of four before and four after (ours is a mean of many, too,
#          not the best of them), times the number of resamples; lioness: of a network in double precision, twice
# ratio    ours / floor, of CPU seconds on a processor, of elapsed seconds on a GPU
# must     the goal, in seconds, or as a ratio (x)
# peer     CPU seconds by hand: cor() of each resample of 2,000 columns, and its largest coefficients by a partial sort,
#          scaled to all pairs; modules: WGCNA's blockwiseModules() of all samples, times the number of resamples
#
# --record writes the output to results/stability.txt beside this script, on a CPU to results/stability-cpu.txt.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))
has_gpu <- nrow(gpuInfo()$devices) > 0
scale <- as.numeric(Sys.getenv("GPUCOR_BENCH_SCALE", "1"))
N_RESAMPLES <- 100
N_MODULES <- 10

mixture <- function(n_obs, n_var) {
  set.seed(1)
  n_var <- round(n_var * scale)
  matrix(rnorm(n_obs * 20), n_obs) %*% matrix(rnorm(20 * n_var, sd = 0.3), 20) + rnorm(n_obs * n_var)
}
modular <- function(n_obs, n_var) {
  set.seed(1)
  n_var <- round(n_var * scale)
  factors <- cbind(matrix(rnorm(n_obs * 12), n_obs), 0)
  factors[, sample.int(13, n_var, replace = TRUE)] + rnorm(n_obs * n_var)
}
pairs_of <- function(n) n * (n - 1) / 2
cpu_of <- function(code) sum(system.time(code)[c("user.self", "sys.self")])

# The 0.1 % largest coefficients.
strongest_by_hand <- function(r) {
  weight <- abs(r[upper.tri(r)])
  at <- length(weight) - ceiling(0.001 * length(weight))
  weight > sort(weight, partial = at)[at]
}
resamples_by_hand <- function(x) {
  some <- x[, seq_len(min(ncol(x), 2000))]
  used <- cpu_of({
    counts <- 0
    for (b in 1:3) counts <- counts + strongest_by_hand(cor(some[sample.int(nrow(x), round(0.63 * nrow(x))), ]))
  })
  used * N_RESAMPLES / 3 * pairs_of(ncol(x)) / pairs_of(ncol(some))
}
lioness_by_hand <- function(x) {
  some <- x[, seq_len(min(ncol(x), 2000))]
  n <- nrow(x)
  used <- cpu_of({
    others <- cor(some[-1, ])
    strongest_by_hand(n * (cor(some) - others) + others)
  })
  used * pairs_of(ncol(x)) / pairs_of(ncol(some))
}
modules_by_hand <- function(x) {
  suppressPackageStartupMessages(library(WGCNA))
  N_MODULES * cpu_of(utils::capture.output(blockwiseModules(x, power = 6, maxBlockSize = ncol(x))))
}

network <- function(x, ...) gpuCorNetwork(x, density = 0.001, ...)
modules <- function(x, ...) gpuModules(x, power = 6, ...)
row <- function(data, n_obs, n_var, ours, one, times, must, peer) {
  list(data = data, n_obs = n_obs, n_var = n_var, ours = ours, one = one, times = times, must = must, peer = peer)
}
rows <- list(
  "edges" = row(mixture, 57, 22283, function(x) network(x, resample = N_RESAMPLES), network, N_RESAMPLES,
                if (has_gpu) "3" else "1 x", resamples_by_hand),
  "lioness" = row(mixture, 57, 22283, function(x) network(x, lioness = 1), function(x) network(x, precision = "double"),
                  2, "", lioness_by_hand),
  "modules" = row(modular, 57, if (has_gpu) 10000 else 2000, function(x) modules(x, stability = N_MODULES), modules,
                  N_MODULES, "", modules_by_hand)
)

mean_of <- function(work) rowMeans(vapply(1:4, function(k) seconds_of(work, 1), c(elapsed = 0, cpu = 0)))

run_row <- function(name) {
  row <- rows[[name]]
  x <- row$data(row$n_obs, row$n_var)
  colnames(x) <- paste0("g", seq_len(ncol(x)))
  invisible(row$one(x[, seq_len(ncol(x) / 10)])) # opens the device, and loads packages
  before <- mean_of(function() row$one(x))
  set.seed(1)
  ours <- seconds_of(function() row$ours(x), if (has_gpu) 2 else 1)
  floor <- row$times * (before + mean_of(function() row$one(x))) / 2
  by <- if (has_gpu) "elapsed" else "cpu"
  peer <- if ("--peers" %in% arguments) sprintf("  peer %8s", number(row$peer(x))) else ""
  emit(sprintf("%-8s %6s x %d, %3d times  ours %7.2f (%7.2f)  floor %7.2f (%7.2f)  ratio %4.2f  must %4s%s", name,
               format(ncol(x), big.mark = ","), nrow(x), row$times, ours[["elapsed"]], ours[["cpu"]],
               floor[["elapsed"]], floor[["cpu"]], ours[[by]] / floor[[by]], row$must, peer))
}

wanted <- setdiff(arguments, c("--record", "--peers"))
open_record(if (has_gpu) "stability.txt" else "stability-cpu.txt")
for (name in if (length(wanted)) wanted else names(rows)) run_row(name)
close_record()
