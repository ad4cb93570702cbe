# Runs every kernel of the CUDA back end once, small, and compares with stats::cor: for
#   compute-sanitizer --tool memcheck --leak-check full --target-processes all Rscript inst/bench/every-kernel.R
#   compute-sanitizer --tool racecheck --kernel-name-exclude kernel_substring=gemm --target-processes all \
#     Rscript inst/bench/every-kernel.R
# (racecheck takes very long on cuBLAS's own kernels.)
library(gpucor)

agree <- function(x, y = NULL, method, use = "everything") {
  ours <- suppressWarnings(gpuCor(x, y, use, method, output = "matrix", backend = "cuda"))
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
slices <- matrix(rnorm(400 * 3), 400) # more sign bits than one slice holds
for (method in c("pearson", "kendall", "spearman")) {
  agree(distinct, method = method)
  agree(ties, distinct[, 1:3], method)
  agree(holes[, 1:5], holes[, 6:20], method, "pairwise.complete.obs")
  invisible(gpuCorTriangle(distinct, method = method, order = "column", backend = "cuda"))
}
agree(long, method = "spearman")
agree(slices, method = "kendall")
print(unlist(.Call(gpucor:::r_live))) # allocations left: none
