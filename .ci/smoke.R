# Whether an installed package computes what cor() does: for systems on which only that is asked.
library(gpucor)
gpuInfo()
set.seed(1)
x <- matrix(round(rnorm(40 * 300), 1), 40)
for (method in c("pearson", "spearman", "kendall")) {
  off <- max(abs(as.matrix(gpuCor(x, method = method)) - cor(x, method = method)))
  net <- gpuCorNetwork(x, threshold = 0.4, method = method)
  cat(method, ": off by ", off, ", ", net@edges, " edges\n", sep = "")
  r <- abs(cor(x, method = method)[upper.tri(diag(300))])
  stopifnot(off < 1e-6, abs(net@edges - sum(r >= 0.4)) <= sum(abs(r - 0.4) < 1e-7))
}
