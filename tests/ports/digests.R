# Prints a digest of every kind of result, one per line, to compare builds and machines: lines must not depend on the
# processor, its instruction set (GPUCOR_CPU=plain), the compiler and its flags, the number of threads, or the back end.
#   Rscript tests/ports/digests.R > here.txt      then diff with the lines of another build or machine
suppressMessages(library(gpucor))

# Hashes the bits of the numbers in an object of any class.
digest <- function(object) {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.double(unlist(numbers_in(object))), file, endian = "little")
  unname(tools::md5sum(file))
}
numbers_in <- function(object) {
  if (inherits(object, c("gpuCor", "dist"))) return(as.vector(object))
  if (isS4(object)) return(list(object@i, object@p, object@x, if (.hasSlot(object, "threshold")) object@threshold))
  if (is.list(object)) return(lapply(unclass(object), numbers_in))
  if (is.numeric(object) || is.logical(object)) object
}
show <- function(name, value) cat(sprintf("%-60s %s\n", name, digest(suppressWarnings(suppressMessages(value)))))

# Generates data without the system's random numbers, exp() or log(), which differ between machines.
state <- 1
uniform <- function(n) {
  vapply(seq_len(n), function(k) {
    state <<- (16807 * state) %% 2147483647
    state / 2147483647
  }, 0)
}
n_obs <- 61
n_var <- 90
x <- matrix(uniform(n_obs * n_var) + uniform(n_obs * n_var), n_obs) + uniform(n_obs) * rep(uniform(n_var), each = n_obs)
ties <- round(4 * x)
gaps <- replace(x, uniform(length(x)) < 0.05, NA)
large <- x * rep(10^seq(-300, 300, length.out = n_var), each = n_obs)
weights <- uniform(n_obs)
z <- cbind(uniform(n_obs), seq_len(n_obs))

methods <- c("pearson", "spearman", "kendall", "bicor", "cosine", "distance", "mi")
inputs <- list(doubles = x, ties = ties, gaps = gaps, large = large)
for (method in methods) {
  for (name in names(inputs)) {
    use <- if (name == "gaps") "pairwise" else "everything"
    for (precision in c("single", "double")) {
      show(paste("gpuCor", method, name, precision), gpuCor(inputs[[name]], use = use, method = method,
                                                            precision = precision))
    }
    show(paste("network", method, name), gpuCorNetwork(inputs[[name]], density = 0.1, use = use, method = method))
  }
  show(paste("k", method), gpuCorNetwork(x, k = 5, method = method))
  show(paste("rectangle", method), gpuCor(x[, 1:20], x[, 21:60], method = method))
  show(paste("powers", method), gpuConnectivity(x, power = c(1, 2.5, 6, 12), method = method))
  show(paste("maps", method), gpuConnectivity(x, maps = c("mean", "z", "icc"), threshold = 0.3, method = method))
  show(paste("windows", method), gpuCorWindows(x, width = 30, step = 7, method = method, output = "moments"))
  if (method != "mi") {
    show(paste("tests", method), gpuCorTest(ties, method = method, df = if (method == "cosine") n_obs - 1))
  }
  show(paste("subjects", method), gpuCor(list(x, ties[1:50, ]), combine = "fisher", method = method))
}
for (method in setdiff(methods, c("kendall", "distance", "mi"))) {
  show(paste("weights", method), try(gpuCor(x, weights = weights, method = method), silent = TRUE))
  show(paste("covariates", method), try(gpuCor(x, covariates = z, method = method), silent = TRUE))
}
for (method in c("coherence", "concordance")) {
  show(paste("gpuCor", method), gpuCor(x, method = method))
  show(paste("network", method), gpuCorNetwork(x, density = 0.1, method = method))
}
show("overlap", gpuTOM(x, power = 6, TOMType = "unsigned"))
show("compare", gpuCorCompare(x[1:30, ], x[31:61, ], fdr = 0.5))
set.seed(1)
show("permuted", gpuCorTest(x[, 1:30], adjust = "maxT", n_perm = 50))
show("eigenvector", gpuConnectivity(x, maps = "eigenvector"))
show("association", gpuAssociation(x, data.frame(a = weights)))
