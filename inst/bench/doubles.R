# How many instructions on doubles and on floats a pair takes, and the min time of these on other GPUs: some have
# a double unit for every 64 of floats. Needs a GPU and the CUDA Toolkit's ncu.
#
#   Rscript inst/bench/doubles.R [--record] [row ...]
#
# doubles   additions, products and conversions, of all kernels of a call, for each pair; counted by the GPU
# floats    the same on the ordinary cores; those of tensor cores are not counted, as the double products of overlaps
# others    seconds of 1e9 pairs by these counts and the units' rates in data sheets: estimates, run on none of them
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(here, "gpu-report.R"))

normal <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * n_var), n_obs)
}
missing <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var)
  x[sample.int(length(x), 0.05 * length(x))] <- NA
  x
}
all_pairs <- function(...) function(x) gpucor::gpuCor(x, ...)
network <- function(...) function(x) gpucor::gpuCorNetwork(x, density = 0.001, ...)
rows <- list(
  "dist, n_obs 200" = list(normal(200, 4000), all_pairs()),
  "dist, n_obs 800" = list(normal(800, 4000), all_pairs()),
  "network" = list(normal(200, 4000), network()),
  "network, Kendall" = list(normal(200, 4000), network(method = "kendall")),
  "network, double" = list(normal(200, 4000), network(precision = "double")),
  "network, partial" = list(normal(200, 4000), network(partial = TRUE)),
  "concordance" = list(normal(200, 4000), network(method = "concordance")),
  "power" = list(normal(200, 4000), function(x) gpucor::gpuConnectivity(x, power = 6)),
  "maps" = list(normal(200, 4000), function(x) gpucor::gpuConnectivity(x, threshold = 0.2, maps = "mean")),
  "overlap" = list(normal(200, 4000), function(x) gpucor::gpuTOM(x, power = 6)),
  "pairwise" = list(missing(200, 4000), all_pairs(use = "pairwise")),
  "pairwise, Spearman" = list(missing(200, 2000), all_pairs(use = "pairwise", method = "spearman")),
  "pairwise, bicor" = list(missing(200, 2000), all_pairs(use = "pairwise", method = "bicor")),
  "pairwise, distance" = list(missing(200, 2000), all_pairs(use = "pairwise", method = "distance"))
)
if (identical(arguments[1], "run")) {
  row <- rows[[arguments[2]]]
  invisible(suppressWarnings(row[[2]](row[[1]])))
  quit()
}

gpus <- data.frame(row.names = c("A100", "L40S", "RTX 4090", "RTX 5090", "H200", "B200", "B300"),
                   processors = c(108, 142, 128, 170, 132, 148, 148), ghz = c(1.41, 2.52, 2.52, 2.41, 1.98, 1.97, 1.97),
                   floats = c(64, 128, 128, 128, 128, 128, 128), doubles = c(32, 2, 2, 2, 64, 64, 2)) # a clock

counted <- list(doubles = c("dadd", "dmul", "dfma", "conversion"), floats = c("fadd", "fmul", "ffma"))
metric <- function(op) paste0("smsp__sass_thread_inst_executed_op_", op, "_pred_on.sum")
count <- function(name) {
  out <- system2("ncu", c("--csv", "--target-processes", "all", "--metrics",
                          paste(metric(unlist(counted)), collapse = ","), file.path(R.home("bin"), "Rscript"),
                          shQuote(script), "run", shQuote(name)), stdout = TRUE, stderr = FALSE)
  found <- utils::read.csv(text = out[startsWith(out, "\"")], check.names = FALSE)
  value <- as.numeric(gsub(",", "", found[["Metric Value"]]))
  vapply(counted, function(ops) sum(value[found[["Metric Name"]] %in% metric(ops)]), 0)
}

open_record("doubles.txt")
emit(sprintf("%-20s %9s %9s ", "", "doubles", "floats"), paste(sprintf("%9s", rownames(gpus)), collapse = ""))
asked <- setdiff(arguments, "--record")
for (name in if (length(asked)) asked else names(rows)) {
  n <- ncol(rows[[name]][[1]])
  each <- count(name) / (n * (n - 1) / 2)
  seconds <- pmax(each[["doubles"]] / gpus$doubles, each[["floats"]] / gpus$floats) / (gpus$processors * gpus$ghz)
  emit(sprintf("%-20s %9s %9s ", name, number(each[["doubles"]]), number(each[["floats"]])),
       paste(sprintf("%9s", vapply(seconds, number, "", 2)), collapse = ""))
}
close_record()
