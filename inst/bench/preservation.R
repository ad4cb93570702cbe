# Preservation of modules, beside WGCNA and beside R by hand.
#
#   Rscript inst/bench/preservation.R [--record] [--peers]
#
# Two data sets of 57 samples, in which 40 modules have a factor each. The smaller one has 1,500 genes, and 10
# permutations, with which WGCNA::modulePreservation() is run (--peers); the larger one has 22,283 genes, and 1,000
# permutations. In a third, as large one, modules differ in size as those of real data do.
#
# ours     gpuPreservation(): elapsed, and user and system time of all threads
# floor    seconds that the products of the modules' columns take on two cores at 225 Gflop/s in double precision
# by hand  the seven statistics of NetRep by crossprod(), svd() and cor(), of each module's columns; of the larger data
#          seconds of 3 permutations, scaled
# must     the goal
#
# --record writes the output to results/preservation.txt beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
source(file.path(here, "gpu-report.R"))

N_OBS <- 57
FLOPS <- 225e9

# sizes: of the modules; the other genes are in none.
make_sets <- function(n_var, sizes) {
  set.seed(1)
  label <- sample(rep(c(seq_along(sizes), 0), c(sizes, n_var - sum(sizes))))
  loading <- runif(n_var, 0.3, 1.5) * (label > 0)
  set <- function() {
    factors <- matrix(rnorm(N_OBS * length(sizes)), N_OBS)[, pmax(label, 1)]
    x <- factors * rep(loading, each = N_OBS) + rnorm(N_OBS * n_var)
    structure(x, dimnames = list(NULL, paste0("g", seq_len(n_var))))
  }
  list(reference = set(), test = set(), label = label)
}

timed <- function(code) {
  taken <- system.time(code)
  c(elapsed = taken[["elapsed"]], cpu = sum(taken[1:2]) + sum(taken[4:5], na.rm = TRUE))
}

# ---- by hand

describe <- function(x) {
  x <- scale(x)
  r <- crossprod(x) / (nrow(x) - 1)
  component <- svd(x, nu = 1, nv = 0)$u[, 1]
  contribution <- as.vector(cor(x, component))
  list(r = r[upper.tri(r)], degree = colSums(r^6) - 1, contribution = contribution * sign(sum(contribution)))
}

compare <- function(reference, test) {
  with(test, c(mean(r^6), mean(contribution^2), cor(reference$r, r), cor(reference$degree, degree),
               cor(reference$contribution, contribution), mean(sign(reference$r) * r),
               mean(sign(reference$contribution) * contribution)))
}

by_hand <- function(sets, n_perm) {
  members <- split(seq_along(sets$label), sets$label)[-1]
  references <- lapply(members, function(genes) describe(sets$reference[, genes]))
  replicate(n_perm, {
    drawn <- sample(ncol(sets$test))
    mapply(function(reference, genes) compare(reference, describe(sets$test[, drawn[genes]])), references, members)
  })
}

wgcna <- function(sets, n_perm) {
  capture.output(found <- suppressWarnings(WGCNA::modulePreservation(
    list(reference = list(data = sets$reference), test = list(data = sets$test)), list(reference = sets$label),
    nPermutations = n_perm, maxModuleSize = ncol(sets$test), verbose = 0, savePermutedStatistics = FALSE
  )))
  found
}

# ---- rows

LINE <- "%-44s %8s %8s %8s %8s %8s"
row_line <- function(what, floor, taken, ours, must = "") {
  emit(sprintf(LINE, what, number(floor, 2), number(taken[["elapsed"]]), number(taken[["cpu"]]),
               paste0(number(taken[["elapsed"]] / ours[["elapsed"]], 2), " x"), must))
}

row <- function(title, sizes, n_var, n_perm, hand_perm, must, peer) {
  sets <- make_sets(n_var, sizes)
  floor <- sum(sizes * (sizes - 1)) * N_OBS * (n_perm + 2) / FLOPS
  invisible(gpuPreservation(sets$reference, sets$test, sets$label, n_perm = 1, type = "unsigned", power = 6))
  ours <- timed(gpuPreservation(sets$reference, sets$test, sets$label, n_perm = n_perm))
  emit(title)
  row_line("  gpuPreservation()", floor, ours, ours, must)
  # The reference's part of both runs does not scale.
  few <- timed(by_hand(sets, hand_perm))
  row_line("  by hand", NaN, few * n_perm / hand_perm, ours)
  if (peer) row_line("  WGCNA::modulePreservation()", NaN, timed(wgcna(sets, n_perm)), ours)
}

sizes_between <- function(largest, smallest, n) round(exp(seq(log(largest), log(smallest), length.out = n)))

open_record("preservation.txt")
emit("Seconds; ratio: of elapsed times to ours")
emit(sprintf(LINE, "", "floor", "elapsed", "CPU", "ratio", "must"))
row("1,500 genes, 40 modules of 30, 10 permutations", rep(30, 40), 1500, 10, 10, "0.1 s", "--peers" %in% arguments)
row("22,283 genes, 40 modules of 557, 1,000 permutations", rep(557, 40), 22283, 1000, 3, "60 s", FALSE)
row("22,283 genes, 40 modules of 24 to 2,400, 1,000", sizes_between(2400, 24, 40), 22283, 1000, 2, "60 s", FALSE)
close_record()
