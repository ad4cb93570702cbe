# Correlations of a sparse matrix of 2,000 columns and 30,000 rows, compared with Matrix::crossprod() in the same run.
#
#   Rscript inst/bench/sparse.R [--record]
#
# Takes half a minute on one core. Prints CPU seconds of the faster of two calls, by the fraction of nonzeros.
# "crossprod" is the product of the sparse matrix with itself alone, "formula" is Pearson's correlation from it.
# --record writes the output to results/sparse.txt beside this script.

suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
source(file.path(here, "gpu-report.R"))
options(gpucor.threads = 1, gpucor.backend = "cpu")

crossprod_cor <- function(x) {
  means <- Matrix::colMeans(x)
  covariance <- (as.matrix(Matrix::crossprod(x)) - nrow(x) * tcrossprod(means)) / (nrow(x) - 1)
  covariance / tcrossprod(sqrt(diag(covariance)))
}

cpu_seconds <- function(f, x) {
  min(vapply(1:2, function(k) sum(system.time(f(x))[c("user.self", "sys.self")]), 0))
}

ways <- list(
  crossprod = Matrix::crossprod,
  formula = crossprod_cor,
  pearson = function(x) gpuCor(x),
  spearman = function(x) gpuCor(x, method = "spearman"),
  kendall = function(x) gpuCor(x, method = "kendall")
)
open_record("sparse.txt")
emit("one core")
emit(sprintf("%-10s", "nonzeros"), paste(sprintf("%12s", names(ways)), collapse = ""))
for (fraction in c(0.005, 0.02, 0.05)) {
  set.seed(1)
  x <- Matrix::rsparsematrix(30000, 2000, fraction, rand.x = function(n) log1p(rgeom(n, 0.3) + 1))
  seconds <- vapply(ways, function(way) suppressMessages(cpu_seconds(way, x)), 0)
  emit(sprintf("%-10s", paste(100 * fraction, "%")), paste(sprintf("%12.3f", seconds), collapse = ""))
}
close_record()
