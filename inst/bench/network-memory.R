# Memory of a network of 50,000 variables on the CPU: the process's peak minus its memory before, compared with input +
# 3 times the result + 300 MB.
#   Rscript inst/bench/network-memory.R [N] [n_obs] [density]
suppressPackageStartupMessages(library(gpucor))

arguments <- as.numeric(commandArgs(TRUE))
n_var <- if (length(arguments) > 0) arguments[1] else 50000
n_obs <- if (length(arguments) > 1) arguments[2] else 50
density <- if (length(arguments) > 2) arguments[3] else 0.001
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
source(file.path(dirname(script), "memory.R"))

set.seed(1)
x <- matrix(rnorm(n_obs * n_var), n_obs)
seconds <- system.time(net <- gpuCorNetwork(x, density = density, backend = "cpu"))[["elapsed"]]
peak <- status_mb("VmHWM")
input <- as.numeric(object.size(x)) / 2^20
result <- as.numeric(object.size(net)) / 2^20
allowed <- input + 3 * result + 300
cat(sprintf("N = %.0f, n_obs = %.0f, density %g: %.0f edges, %.1f s on %d threads\n", n_var, n_obs, density, net@edges,
            seconds, gpuInfo()$threads))
cat(sprintf("peak resident memory of the process %.0f MB, R and its packages included; ", peak),
    sprintf("input %.0f + 3 x result %.0f + 300 = %.0f MB allowed\n", input, result, allowed), sep = "")
stopifnot(peak < allowed)
