# A `dist` of 100,000 variables: 4,999,950,000 pairs, past 2^32, 40 GB of doubles.
#   Rscript inst/bench/large-dist.R [N] [n_obs] [backend]
# Prints for each method the seconds (from the call to the finished R object), the largest
# difference from stats::cor on 10,000 sampled pairs, and what host memory was used beyond the
# result at the peak. Needs 50 GB of memory at the default size.
library(gpucor)

arguments <- commandArgs(TRUE)
n_var <- if (length(arguments) > 0) as.integer(arguments[1]) else 100000L
n_obs <- if (length(arguments) > 1) as.integer(arguments[2]) else 100L
backend <- if (length(arguments) > 2) arguments[3] else "auto"

set.seed(20)
# One factor gives coefficients of every size; rounding gives ties.
x <- round(tcrossprod(rnorm(n_obs), rnorm(n_var)) + matrix(rnorm(n_obs * n_var), n_obs), 2)
pairs <- n_var * (n_var - 1) / 2

# Among the sampled pairs are the first, the last, and those around 2^31 and 2^32.
positions <- c(1, pairs, 2^31 + -1:1, 2^32 + -1:1)
positions <- positions[positions >= 1 & positions <= pairs]
positions <- unique(c(positions, ceiling(runif(10000 - length(positions)) * pairs)))
sampled <- triangleIndex(positions, n_var)

status_gb <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) * 1024 / 1e9
}

print(gpuInfo())
cat(sprintf("N = %d, n_obs = %d, %.0f pairs\n", n_var, n_obs, pairs))
invisible(gpuCor(x[, 1:2], backend = backend)) # start the GPU
for (method in c("pearson", "spearman", "kendall")) {
  gc(reset = TRUE)
  writeLines("5", "/proc/self/clear_refs") # forget the peak so far
  before <- status_gb("VmRSS")
  seconds <- system.time(r <- gpuCor(x, method = method, backend = backend))[["elapsed"]]
  extra <- status_gb("VmHWM") - before - pairs * 8 / 1e9
  truth <- vapply(seq_along(positions), function(k) cor(x[, sampled[k, 1]], x[, sampled[k, 2]], method = method), 0)
  error <- max(abs(r[positions] - truth))
  cat(sprintf("%-8s %7.2f s, %6.0f M pairs/s, largest error on %d pairs %.1e, host memory beyond input and result %.2f GB\n",
              method, seconds, pairs / seconds / 1e6, length(positions), error, extra))
  stopifnot(error < if (method == "kendall") 1e-12 else 1e-6)
  rm(r)
}
