# Tests of groups of subjects by permutation, beside the same by hand in R with igraph.
#
#   Rscript inst/bench/groups.R [--record]
#
# 94 regions x 200 volumes of 5 and 5 (or 10) subjects, 999 permutations, on the processor.
#
# floor    seconds that multiplying z once for each permutation takes at 10 Gflop/s: four operations for each subject
#          and pair
# peer     seconds of R by hand: coefficients by cor(), t of all pairs by matrix products for each permutation,
#          components by igraph; fewer permutations, scaled to all
# ours     seconds from the call to the result: the better of three calls
# CPU      the same in CPU time, user and system, which is meaningful on a shared machine
# ratio    of CPU times, peer to ours
# must     the goal, in seconds
#
# --record writes the output to results/groups.txt beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
for (file in c("gpu-report.R", "seconds.R")) source(file.path(here, file))

REGIONS <- 94
N_PERM <- 999
set.seed(1)
subjects <- lapply(1:10, function(i) matrix(rnorm(200 * REGIONS), 200) + 0.5 * rnorm(200))
first <- subjects[1:5]
second <- subjects[6:10]
design <- cbind(1, rep(0:1, 5), seq_len(10) %% 4)
is_pair <- lower.tri(diag(REGIONS))

# ---- by hand

z_of_subjects <- function() vapply(subjects, function(x) atanh(cor(x)[is_pair]), numeric(sum(is_pair)))
welch <- function(z, in_first) {
  a <- z[, in_first]
  b <- z[, !in_first]
  v <- function(m) rowSums((m - rowMeans(m))^2) / (ncol(m) * (ncol(m) - 1))
  (rowMeans(a) - rowMeans(b)) / sqrt(v(a) + v(b))
}
paired <- function(z, signs) {
  d <- (z[, 1:5] - z[, 6:10]) * rep(signs, each = nrow(z))
  rowMeans(d) / sqrt(rowSums((d - rowMeans(d))^2) / 20)
}
residual_t <- function(z, x) {
  q <- qr(x)
  rest <- rowSums(t(qr.resid(q, t(z)))^2) / (nrow(x) - ncol(x))
  t(qr.coef(q, t(z)))[, 2] / sqrt(rest * chol2inv(qr.R(q))[2, 2])
}
largest_component <- function(t) {
  pairs <- which(is_pair, arr.ind = TRUE)[abs(t) >= 3, , drop = FALSE]
  graph <- igraph::make_graph(t(pairs), n = REGIONS, directed = FALSE)
  if (nrow(pairs)) max(table(igraph::components(graph)$membership[pairs[, 1]])) else 0
}
draw <- function() seq_len(10) %in% sample.int(10, 5)
by_hand <- list(
  `labels, maxT` = function(z) max(abs(welch(z, draw()))),
  `labels, NBS` = function(z) largest_component(welch(z, draw())),
  `paired, maxT` = function(z) max(abs(paired(z, sample(c(-1, 1), 5, TRUE)))),
  `design, maxT` = function(z) {
    null <- qr(design[, c(1, 3)])
    e <- t(qr.resid(null, t(z)))
    max(abs(residual_t(e[, sample.int(10)], design)))
  }
)
ours <- list(
  `labels, maxT` = function() gpuCorCompare(first, second, n_perm = N_PERM),
  `labels, NBS` = function() gpuCorCompare(first, second, threshold = 3, n_perm = N_PERM, components = "size"),
  `paired, maxT` = function() gpuCorCompare(first, second, paired = TRUE, n_perm = N_PERM),
  `design, maxT` = function() gpuCorCompare(subjects, design = design, contrast = c(0, 1, 0), n_perm = N_PERM)
)
must <- c(`labels, maxT` = 0.2, `labels, NBS` = 1, `paired, maxT` = 0.2, `design, maxT` = 0.2)

open_record("groups.txt")
emit(REGIONS, " regions x 200 of 10 subjects, ", N_PERM, " permutations")
line <- function(...) emit(sprintf("%-14s %9s %9s %9s %9s %9s %7s %6s", ...))
line("", "floor", "peer", "its CPU", "ours", "CPU", "ratio", "must")
floor <- 4 * sum(is_pair) * length(subjects) * N_PERM / 10e9
few <- 50
for (name in names(ours)) {
  set.seed(2)
  peer <- seconds_of(function() {
    z <- z_of_subjects()
    for (b in seq_len(few)) by_hand[[name]](z)
  }, 2L) * N_PERM / few
  own <- seconds_of(ours[[name]], 3L)
  line(name, number(floor), number(peer[["elapsed"]]), number(peer[["cpu"]]), number(own[["elapsed"]]),
       number(own[["cpu"]]), number(peer[["cpu"]] / own[["cpu"]]), number(must[[name]]))
}
close_record()
