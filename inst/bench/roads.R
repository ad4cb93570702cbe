# Work that does not take the road of most: missing values, long columns, many regressors, false discovery rates,
# context likelihood, permutations, networks of very many edges, measures and tests with a last step of their own.
# Elapsed seconds.
#
#   Rscript inst/bench/roads.R [--record] [row ...]
#
# Without rows: all of the processor's where there is no GPU, otherwise those of a GPU. --record writes the output to
# results/roads-cpu.txt or results/roads-cuda.txt beside this script. The processor's rows are meant for two threads.
#
# floor   seconds of what cannot be avoided, in the same run: the same pairs without missing values, the network of a
#         threshold, Pearson's network; for threads, those of one
# peer    seconds of another R package or of R
# ours    the best of three calls
# must    goal for ours; of rows that have one times the floor, that product
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))
suppressPackageStartupMessages(library(gpucor))
on_gpu <- nrow(gpuInfo()$devices) > 0

elapsed <- function(work, times = 3) {
  seconds_of(function() suppressWarnings(suppressMessages(work())), times)[["elapsed"]]
}

normal <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * n_var), n_obs)
}
# Columns that 20 factors make correlate.
correlated <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var)
  x + 0.3 * matrix(rnorm(n_obs * 20), n_obs) %*% matrix(rnorm(20 * n_var), 20)
}
missing <- function(x, fraction) {
  x[sample.int(length(x), fraction * length(x))] <- NA
  x
}
filled <- function(x) {
  x[is.na(x)] <- 0
  x
}
pairwise <- function(n_var, n_obs, fraction, method, must, peer = NULL) {
  list(data = function() missing(normal(n_obs, n_var), fraction), peer = peer, must = must,
       ours = function(x) gpuCor(x, use = "pairwise", method = method), floor = function(x) gpuCor(filled(x)))
}
# The network of a false discovery rate against that of its threshold.
discovery <- function(data, method, fdr, times) {
  network <- function(x, ...) gpuCorNetwork(x, method = method, ...)
  list(data = data, times = times, prepare = function(x) threshold <<- min(abs(network(x, fdr = fdr)@x)),
       ours = function(x) network(x, fdr = fdr), floor = function(x) network(x, threshold = threshold))
}
threads <- function(work, times) {
  list(data = function() normal(100, 6000), times = times,
       ours = function(x) work(x, 2), floor = function(x) work(x, 1))
}
compare <- function(x, n_perm = 0) gpuCorCompare(x[1:52, ], x[53:102, ], density = 0.001, n_perm = n_perm)
wgcna <- function(x) WGCNA::cor(x, use = "p", nThreads = 2)

cpu_rows <- list(
  "threads, dist" = threads(function(x, n) gpuCor(x, threads = n), 0.56),
  "threads, Kendall" = threads(function(x, n) gpuCorNetwork(x, method = "kendall", density = 0.01, threads = n), 0.56),
  "pairs, 3,000" = pairwise(3000, 128, 0.005, "pearson", 0.12, wgcna),
  "pairs, 4,000" = pairwise(4000, 128, 0.02, "pearson", 0.3, function(x) cor(x, use = "p")),
  "pairs, Spearman" = pairwise(4000, 128, 0.02, "spearman", 0.6),
  "pairs, bicor" = pairwise(1000, 128, 0.02, "bicor", 0.4, function(x) WGCNA::bicor(x, use = "p", nThreads = 2)),
  "pairs, distance" = pairwise(1500, 102, 0.02, "distance", 1),
  "pairs, tests" = list(data = function() missing(normal(128, 1500), 0.02), must = 0.1,
                        ours = function(x) gpuCorTest(x, use = "pairwise"), floor = function(x) gpuCorTest(filled(x)),
                        peer = function(x) Hmisc::rcorr(x)),
  "long distance" = list(data = function() normal(5000, 200), must = 3, floor = function(x) gpuCor(x),
                         ours = function(x) gpuCor(x, method = "distance")),
  "band-pass" = list(data = function() normal(1200, 6000), must = 0.15,
                     floor = function(x) gpuConnectivity(x[1:155, ], threshold = 0.3),
                     ours = function(x) gpuConnectivity(x, threshold = 0.3, bandpass = c(0.01, 0.1), tr = 0.72)),
  "clean" = list(data = function() normal(128, 3000), floor = function(x) crossprod(x[, 1:24], x),
                 prepare = function(x) regressors <<- x[, 1:24], must = NA,
                 ours = function(x) gpuClean(x, covariates = regressors),
                 peer = function(x) lm.fit(cbind(1, regressors), x)),
  "FDR, Pearson" = discovery(function() correlated(105, 22283), "pearson", 1e-6, 1.3),
  "FDR, Kendall" = discovery(function() correlated(105, 22283), "kendall", 1e-6, 1.3),
  "FDR, ties" = discovery(function() round(correlated(57, 5000), 1), "kendall", 0.05, 2),
  "CLR" = list(data = function() correlated(105, 22283), must = 1.2,
               floor = function(x) gpuCorNetwork(x, density = 0.005),
               ours = function(x) gpuCorNetwork(x, normalize = "clr", density = 0.005)),
  "permutations" = list(data = function() normal(102, 6000), must = 3, floor = compare,
                        ours = function(x) compare(x, 100))
)

network <- function(n_var, density, must) {
  list(data = function() normal(128, n_var), must = must, floor = function(x) gpuCorNetwork(x, threshold = 0.9),
       ours = function(x) gpuCorNetwork(x, density = density))
}
association <- function(p, must) {
  list(data = function() correlated(200, 25000), must = must,
       floor = function(x) gpuCorNetwork(x[, 1:20000], x[, 20001:25000], threshold = 0.99),
       ours = function(x) gpuAssociation(x[, 1:20000], x[, 20001:25000], p.value = p))
}
# A network with a last step of its own, beside Pearson's of the same columns.
last_step <- function(data, n_obs, n_var, must, ...) {
  list(data = function() data(n_obs, n_var), must = must, prepare = function(x) complete <<- filled(x),
       floor = function(x) gpuCorNetwork(complete, density = 0.001),
       ours = function(x) gpuCorNetwork(x, density = 0.001, ...))
}
gaps <- function(n_obs, n_var) missing(correlated(n_obs, n_var), 0.05)
one_frequency <- list(segment = 64, band = "sum")
kinship <- 0.5 * (diag(1000) + outer(1:1000 %% 10, 1:1000 %% 10, `==`))
two_groups <- function(n_var, ...) {
  list(data = function() correlated(210, n_var), must = 0.1,
       floor = function(x) gpuCorCompare(x[1:105, ], x[106:210, ], p.value = 0.05),
       ours = function(x) gpuCorCompare(x[1:105, ], x[106:210, ], n_perm = 50, ...))
}
subjects <- function(...) {
  list(data = function() lapply(1:24, function(i) correlated(200, 800) + rnorm(160000)), must = 0.05,
       floor = function(x) gpuCorNetwork(x, density = 0.001, combine = "fisher"),
       ours = function(x) gpuCorCompare(x[1:12], x[13:24], ...))
}
moments <- function(step, must) {
  list(data = function() normal(165, 20000), must = must, floor = function(x) gpuCorNetwork(x, density = 0.001),
       ours = function(x) gpuCorWindows(x, 60, step = step, output = "moments", density = 0.001))
}

gpu_rows <- list(
  "300,000, 0.012" = network(3e5, 0.012, 0.5),
  "300,000, 0.0125" = network(3e5, 0.0125, 0.6),
  "300,000, 0.02" = network(3e5, 0.02, 1.2),
  "1,000,000, 0.001" = network(1e6, 0.001, 0.7),
  "1,000,000, 0.002" = network(1e6, 0.002, 1.6),
  "1,000,000, partial" = list(data = function() normal(128, 1e6), times = 1.2,
                              floor = function(x) gpuCorNetwork(x, density = 0.001),
                              ours = function(x) gpuCorNetwork(x, density = 0.001, partial = TRUE)),
  "pairs, Pearson" = pairwise(20000, 200, 0.05, "pearson", 0.12),
  "pairs, network" = list(data = function() missing(normal(200, 20000), 0.05), must = 0.12,
                          floor = function(x) gpuCorNetwork(filled(x), density = 0.001),
                          ours = function(x) gpuCorNetwork(x, use = "pairwise", density = 0.001)),
  "CLR" = c(cpu_rows[["CLR"]][c("data", "floor", "ours")], must = 0.15),
  "association, 5.0 M" = association(1.24e-5, 0.3),
  "association, 1.2 M" = association(2.8e-8, 0.1),
  "threads, dist" = list(data = function() normal(100, 10000), times = 1.2, floor = function(x) gpuCor(x, threads = 8),
                         ours = function(x) gpuCor(x)),
  "concordance" = last_step(normal, 100, 50000, 0.05, method = "concordance"),
  "coherence, one" = last_step(normal, 200, 100000, 0.2, method = "coherence", bandpass = c(0.1, 0.11), tr = 1,
                               options = one_frequency),
  "coherence" = last_step(normal, 200, 100000, NA, method = "coherence", bandpass = c(0.02, 0.24), tr = 1),
  "covariance" = last_step(correlated, 1000, 18000, 0.1, covariance = kinship),
  "partial" = last_step(correlated, 1000, 18000, 0.2, partial = TRUE),
  "pairs, Spearman" = last_step(gaps, 200, 20000, 0.1, use = "pairwise", method = "spearman"),
  "pairs, bicor" = last_step(gaps, 200, 20000, 0.3, use = "pairwise", method = "bicor"),
  "pairs, distance" = list(data = function() gaps(105, 5000), must = 0.1, floor = function(x) gpuCor(filled(x)),
                           ours = function(x) gpuCor(x, use = "pairwise", method = "distance")),
  "rates, two groups" = two_groups(6000, fdr = 0.05),
  "maxT, two groups" = two_groups(8000, p.value = 0.05),
  "subjects, t" = subjects(p.value = 0.001),
  "subjects, maxT" = subjects(p.value = 0.05, n_perm = 100),
  "subjects, rates" = subjects(fdr = 0.05, n_perm = 100),
  "windows, 22" = moments(5, NA),
  "windows, 106" = moments(1, 0.2),
  "eigenvector" = list(data = function() normal(128, 3e5), must = 0.3,
                       floor = function(x) gpuCorNetwork(x, density = 0.001),
                       ours = function(x) gpuConnectivity(x, maps = "eigenvector", density = 0.001))
)

run_row <- function(name) {
  row <- rows[[name]]
  x <- row$data()
  if (!is.null(row$prepare)) row$prepare(x)
  floor <- elapsed(function() row$floor(x))
  peer <- if (!is.null(row$peer)) tryCatch(elapsed(function() row$peer(x), 1), error = function(e) NA) else NA
  ours <- elapsed(function() row$ours(x))
  must <- if (is.null(row$times)) row$must else row$times * floor
  emit(sprintf("%-20s %8s %8s %8s %8s %8s", name, number(floor), number(peer), number(ours), number(ours / floor),
               number(must)))
}

rows <- if (on_gpu) gpu_rows else cpu_rows
wanted <- setdiff(arguments, "--record")
open_record(if (on_gpu) "roads-cuda.txt" else "roads-cpu.txt")
load <- tryCatch(strsplit(readLines("/proc/loadavg"), " ")[[1]][1], error = function(e) "unknown")
say("load of the machine before: ", load)
emit(sprintf("%-20s %8s %8s %8s %8s %8s", "", "floor", "peer", "ours", "ratio", "must"))
for (name in if (length(wanted)) wanted else names(rows)) run_row(name)
close_record()
