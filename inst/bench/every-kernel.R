# Runs every kernel of the CUDA back end once on small data, and compares with stats::cor. For
#   compute-sanitizer --tool memcheck --leak-check full --target-processes all Rscript inst/bench/every-kernel.R
#   compute-sanitizer --tool racecheck --target-processes all Rscript inst/bench/every-kernel.R
# With GPUCOR_NO_WGMMA=1 in the environment a Hopper GPU runs the code for older ones.
library(gpucor)

agree <- function(x, y = NULL, method, use = "everything") {
  ours <- suppressWarnings(gpuCor(x, y, method, use, output = "matrix", backend = "cuda"))
  truth <- suppressWarnings(cor(x, y, use, method))
  stopifnot(all.equal(ours, truth, tolerance = if (method == "kendall") 1e-12 else 1e-6))
}

set.seed(1)
distinct <- matrix(rnorm(34 * 70), 34)
ties <- round(distinct, 1)
ties[, 3] <- 2
holes <- ties
holes[sample(length(holes), 100)] <- NA
long <- matrix(rnorm(2100 * 3), 2100) # ranked by a sort
opened <- matrix(rnorm(1030 * 3), 1030) # sign bits are packed per tile
slices <- matrix(rnorm(4100 * 3), 4100) # and in slices, if pairwise-complete
sorted <- cbind(matrix(rnorm(4200 * 2), 4200), round(matrix(rnorm(4200 * 2), 4200), 1)) # pair by pair
wide <- matrix(rnorm(2049 * 40), 2049) # bitsets of signs
blocks <- matrix(rnorm(400 * 600), 400) # larger blocks of signs, on Hopper
tall <- matrix(rnorm(3 * 9000), 3) # clusters of four blocks, on Hopper
levels <- cbind(matrix(rpois(2100 * 4, 0.5), 2100), long, round(long[, 1], 1)) # bitsets of levels
for (method in c("pearson", "kendall", "spearman")) {
  agree(distinct, method = method)
  agree(ties, distinct[, 1:3], method)
  agree(holes[, 1:5], holes[, 6:20], method, "pairwise.complete.obs")
  invisible(gpuCorTriangle(distinct, method = method, order = "column", backend = "cuda"))
}
# Compares networks, and sums of Pearson's coefficients, between both back ends; coefficients agree within 1e-6.
same <- function(f, x, ..., method = "pearson") {
  both <- lapply(c("cpu", "cuda"), function(backend) suppressWarnings(f(x, ..., method = method, backend = backend)))
  drop <- function(r) if (isS4(r)) list(r@p, r@i, r@x, r@threshold) else r[c("degree", "strength", "soft", "edges")]
  within <- if (isS4(both[[1]]) || method != "pearson") 1e-12 else 1e-6
  stopifnot(isTRUE(all.equal(drop(both[[1]]), drop(both[[2]]), tolerance = within)))
}
for (method in c("pearson", "kendall", "spearman")) {
  same(gpuCorNetwork, ties, threshold = 0.1, method = method)
  same(gpuCorNetwork, ties, density = 0.05, method = method, sign = "positive")
  same(gpuCorNetwork, distinct, k = 3, method = method)
  same(gpuCorNetwork, holes, y = distinct, threshold = 0.2, method = method, use = "pairwise.complete.obs")
  same(gpuConnectivity, ties, threshold = 0.2, power = c(1.5, 6), method = method)
}
same(gpuCorNetwork, holes, y = distinct, threshold = 0.2, method = "cosine", use = "pairwise.complete.obs")
same(gpuCorNetwork, ties, threshold = 0.1, method = "distance") # operands are longer than columns
same(gpuCorNetwork, distinct, density = 0.05, partial = TRUE)
same(gpuCorNetwork, distinct, density = 0.05, method = "coherence") # combined coefficients stay on the device
same(gpuCorNetwork, distinct, threshold = 0, method = "coherence")
same(gpuCorNetwork, blocks, threshold = 0, method = "concordance") # more edges than a tile has room for at first
same(gpuCorNetwork, distinct, density = 0.05, method = "concordance")
same(gpuCorNetwork, distinct, k = 3, method = "concordance")
same(gpuConnectivity, distinct, threshold = 0.2, method = "concordance")
same(gpuConnectivity, distinct, power = c(1.5, 6), method = "coherence")
for (power in c(2.5, 6)) same(gpuConnectivity, distinct, power = power) # summed by the kernel that multiplies
largest <- lapply(c("cpu", "cuda"), function(backend) { # of permuted columns
  set.seed(1)
  gpuCorTest(distinct, adjust = "maxT", n_perm = 3, backend = backend)$p.adjusted
})
stopifnot(identical(largest[[1]], largest[[2]]))
same(gpuCorNetwork, distinct, density = 0.05, normalize = "clr")
same(gpuCorNetwork, ties, threshold = 0.1, method = "mi") # level bitsets
same(gpuCorNetwork, ties, y = distinct[, 1:20], threshold = 0.1, method = "mi")
same(gpuCorNetwork, matrix(rnorm(6300 * 5), 6300), threshold = 0, method = "mi") # terms that exceed shared memory
agree(matrix(rnorm(9 * 1030), 9), method = "pearson") # centred on the device
many <- matrix(rnorm(5 * 700), 5) # more edges in a tile than the initial capacity
for (method in c("pearson", "kendall")) { # records of neighbours, many of them ties, are pruned, or the host gets them
  same(function(...) gpuCorNetwork(..., k = 1, memory = 400 * 700), round(many), method = method)
  same(function(...) gpuCorNetwork(..., k = 1, memory = 1), round(many), method = method)
}
same(gpuCorNetwork, many, threshold = 0)
for (linkage in c("average", "single")) { # the same bytes
  trees <- lapply(c("cpu", "cuda"), function(backend) gpuHclust(dist(t(many)), linkage, backend = backend))
  stopifnot(identical(trees[[1]]$merge, trees[[2]]$merge), identical(trees[[1]]$height, trees[[2]]$height))
}
agree(long, method = "spearman")
same(gpuCorNetwork, opened, threshold = 0, method = "kendall")
same(gpuConnectivity, opened, threshold = 0, method = "kendall")
agree(slices[, 1:2], method = "kendall")
slices[1, 1] <- NA
agree(slices[, 1:2], method = "kendall", use = "pairwise.complete.obs")
agree(levels, method = "kendall")
agree(sorted, method = "kendall")
same(gpuCorNetwork, wide, threshold = 0, method = "kendall")
same(gpuCorNetwork, cbind(wide, levels[seq_len(2049), ]), threshold = 0, method = "kendall")
same(gpuCorNetwork, tall, threshold = 0.99999)
same(gpuCorNetwork, blocks, threshold = 0.1, method = "kendall")
agree(levels[, 1:5], levels[, 4:8], "kendall")
same(gpuCorNetwork, distinct, density = 0.02) # a histogram, from half-precision products
same(gpuCorNetwork, distinct, density = 0.02, method = "kendall") # from signs
Sys.setenv(GPUCOR_KEEP_FROM = "1") # edges stay on the GPU
for (method in c("pearson", "kendall")) {
  same(gpuCorNetwork, ties, threshold = 0.1, method = method)
  same(gpuCorNetwork, many, density = 0.01, method = method) # weaker edges are pruned
  same(gpuConnectivity, many, density = 0.01, method = method)
  same(gpuCorNetwork, distinct, fdr = 0.2, method = method)
}
# Sums over subjects are computed on the GPU; dot products of rows for host sinks.
alike <- function(f, x, ..., take = as.vector, within = 0) {
  both <- lapply(c("cpu", "cuda"), function(backend) take(suppressWarnings(f(x, ..., backend = backend))))
  stopifnot(isTRUE(all.equal(both[[1]], both[[2]], tolerance = within)))
}
subjects <- list(ties, distinct)
for (combine in c("mean", "fisher", "min")) {
  alike(gpuCor, subjects, combine = combine)
  same(gpuCorNetwork, subjects, density = 0.02, combine = combine, method = "kendall")
}
permuted <- function(x, ...) { # every subject's values, for a host sink
  set.seed(1)
  gpuCorCompare(x, list(ties[, rev(seq_len(ncol(ties)))]), n_perm = 5, effects = "fixed", ...)
}
alike(permuted, subjects, take = function(r) r$p.adjusted)
alike(function(x, ...) permuted(x[[1]], ...), subjects, take = function(r) r$p.adjusted) # the largest of each
mirrored <- lapply(subjects, function(m) m[, rev(seq_len(ncol(m)))])
alike(function(x, ...) gpuCorCompare(x, mirrored, ...), subjects, take = function(r) r$statistic)
alike(gpuCorNetwork, c(subjects, mirrored), p.value = 0.05, combine = "fisher", take = function(net) net@x)
alike(gpuCorTest, distinct, method = "spearman", take = function(r) r$p.value)
# Sums over all pairs: of stored products, and of stored coefficients.
sums <- function(r) c(r$degree, r$soft, r$mean, r$z, r$icc, r$histogram$counts)
for (method in c("pearson", "kendall")) for (x in list(ties, holes)) for (y in list(NULL, distinct)) {
  alike(gpuConnectivity, x, y = y, threshold = c(0.1, 0.2), power = c(1, 2.5), maps = c("mean", "z", "icc"),
        histogram = TRUE, method = method, use = if (anyNA(x)) "pairwise.complete.obs" else "everything", take = sums)
}
same(gpuCorNetwork, distinct, threshold = 0.1, pairs = pairMask(rep_len(1:3, ncol(distinct)), same = TRUE))
for (method in c("pearson", "kendall")) for (use in c("everything", "pairwise.complete.obs")) { # stay from run to run
  alike(gpuCorWindows, if (use == "everything") ties else holes, width = 20, step = 5, output = "moments",
        method = method, use = use, take = function(r) c(r$mean, r$sd, r$min, r$max, r$windows))
}
alike(gpuCorWindows, ties, width = 20, step = 5, output = "moments", density = 0.1, take = function(r) r$sd@x)
same(gpuCorNetwork, distinct, threshold = 0.1, method = "bicor")
same(gpuCorNetwork, holes, y = distinct, threshold = 0.2, method = "bicor", use = "pairwise.complete.obs")
alike(gpuCor, holes, method = "distance", use = "pairwise.complete.obs")
with_holes <- function(x) replace(x, sample(length(x), 100), NA)
alike(gpuCor, with_holes(long), method = "bicor", use = "pairwise.complete.obs") # in device memory
alike(gpuCor, distinct, covariates = distinct[, 1:2], method = "spearman")
# Topological overlap: adjacencies and their products by bands, to a result and to a host sink.
within_rounding <- function(...) alike(gpuTOM, ..., within = 1e-6)
for (type in c("unsigned", "signed", "signed 2")) within_rounding(distinct, TOMType = type)
within_rounding(blocks, type = "signed", TOMDenom = "mean", replaceMissingAdjacencies = TRUE)
within_rounding(blocks, output = "network", k = 3, method = "kendall", take = function(net) net@x)
# Two workers on the GPU at the same time, for each sink.
.Call(gpucor:::r_set_shared_steps, 1)
options(gpucor.workers_per_device = 2L)
agree(ties, method = "kendall")
same(gpuCorNetwork, ties, threshold = 0.1)
same(gpuCorNetwork, distinct, k = 3, method = "spearman")
same(gpuCorNetwork, ties, k = 2, method = "kendall")
same(gpuConnectivity, ties, threshold = 0.2, power = 2, method = "kendall")
print(unlist(.Call(gpucor:::r_live))) # number of allocations left: 0
