# A network in shards on the GPUs of one host, with one process per GPU that sees no other GPU.
#
#   Rscript inst/bench/shares.R [N] [n_obs] [shards] [--record]
#
# With --record the output is also written to results/shares.txt. A plan's folder, in the temporary folder, has the
# data,
# 8 bytes per value.
#
# seconds     of the call on one GPU; of writing the plan; of all shards by that many processes, from their start to
#             the end of the last one; of collecting
# efficiency  speedup over one process, divided by the number of GPUs
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
folder <- tempdir()
scale <- 1
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R")) source(file.path(here, file))
suppressPackageStartupMessages(library(gpucor))

numbers <- as.numeric(setdiff(arguments, "--record"))
given <- function(k, default) if (length(numbers) >= k) numbers[k] else default
n_var <- given(1, 780576)
n_obs <- given(2, 1200)
shares <- given(3, 16)
path <- file.path(folder, "plan")

seconds_of <- function(work) system.time(work)[["elapsed"]]

# Runs one process per GPU at the same time; each takes free shards until all are computed.
run_shares <- function(gpus) {
  threads <- max(1, gpuInfo()$threads %/% gpus)
  line <- sprintf("CUDA_VISIBLE_DEVICES=%d GPUCOR_THREADS=%d %s -e 'gpucor::gpuCorRun(\"%s\", \"free\")' 2>&1 &",
                  seq_len(gpus) - 1L, threads, shQuote(file.path(R.home("bin"), "Rscript")), path)
  script <- file.path(folder, "shares.sh")
  writeLines(c(line, "wait"), script)
  begun <- setdiff(dir(file.path(path, "rounds"), full.names = TRUE), file.path(path, "rounds/1.rds"))
  unlink(c(begun, file.path(path, "claims")), recursive = TRUE) # as if no shard had been computed yet
  found <- NULL
  seconds <- seconds_of(found <- system2("sh", script, stdout = TRUE))
  if (sum(grepl("^shard .* s on ", found)) < shares) stop("shards were not computed: ", paste(found, collapse = "\n"))
  seconds
}

bytes_of <- function(net) list(net@p, net@i, net@x, net@threshold)

open_record("shares.txt")
share_folder(build_random)
invisible(load_library("random"))
info <- gpuInfo()
describe_machine(info)
most <- NROW(info$devices)
x <- .Call("random_matrix", n_obs, n_var, 0)
network <- function(x) gpuCorNetwork(x, density = 0.001, method = "kendall", devices = if (most > 0) 0)
invisible(network(x[, seq_len(min(n_var, 20000))])) # starts the driver
net <- NULL
call_seconds <- seconds_of(net <- network(x))
say("Kendall network of ", n_var, " variables x ", n_obs, ", density 0.001: ", net@edges, " edges; a call on one GPU ",
    number(call_seconds), " s")
plan_seconds <- seconds_of(gpuCorPlan(path, x, density = 0.001, method = "kendall", shards = shares))
say("the plan, ", number(8 * n_var * n_obs / 1e9), " GB, was written in ", number(plan_seconds), " s")
rm(x)
invisible(gc())
alone <- NULL
for (gpus in unique(c(1, 2, max(most, 1)))) {
  seconds <- run_shares(gpus)
  if (is.null(alone)) alone <- seconds
  collected <- NULL
  collect_seconds <- seconds_of(collected <- gpuCorCollect(path))
  same <- identical(bytes_of(collected), bytes_of(net))
  say(gpus, if (gpus > 1) " processes" else " process", ": ", shares, " shares ", number(seconds), " s, efficiency ",
      percent(alone / seconds / gpus), ", against the call ", percent(call_seconds / seconds / gpus), "; collected in ",
      number(collect_seconds), " s, ", if (same) "the same bytes" else "DIFFERENT")
  if (!same) quit(status = 1)
}
