# gpucor on several GPUs of one host: seconds with one and with more of them, and whether the results are identical.
#
#   Rscript inst/bench/gpu-several.R [--record] [row ...]
#
# Without rows: all, except those measured with one number of GPUs only, which must be named. With --record the output
# is also written to results/gpu-several.txt. Environment variables as in gpu.R: GPUCOR_BENCH_LIBS, GPUCOR_BENCH_SCALE.
# The largest rows need some 60 GB of host memory.
#
# floor  minimum seconds with that many GPUs: products and transfers are divided among them, the host's memory is
#        filled once; from rates measured in the same run on one GPU
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
folder <- tempdir()
scale <- as.numeric(Sys.getenv("GPUCOR_BENCH_SCALE", "1"))
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R")) source(file.path(here, file))
suppressPackageStartupMessages({
  library(gpucor)
  library(Matrix)
})

# only: the one number of GPUs to measure, if fewer would take too long.
row <- function(kind, method, n_var, n_obs, only = NA, by_name = FALSE) {
  list(kind = kind, method = method, n_var = max(1000, round(n_var * scale)), n_obs = n_obs, steps = 0, only = only,
       by_name = by_name)
}
most <- nrow(gpuInfo()$devices)
rows <- list(
  "dist-pearson" = row("dist", "pearson", 100000, 100),
  "dist-kendall" = row("dist", "kendall", 58523, 1024),
  "net-kendall" = row("network", "kendall", 1e6, 512),
  "net-pearson-voxels" = row("network", "pearson", 1561152, 1200),
  "net-kendall-half" = row("network", "kendall", 780576, 1200),
  "net-kendall-voxels" = row("network", "kendall", 1561152, 1200, only = most, by_name = TRUE),
  "sums-pearson" = row("sums", "pearson", 60000, 200),
  "windows-pearson" = row("windows", "pearson", 40000, 165)
)
has_ties <- function(row) FALSE
DENSITY <- 0.001
WIDTH <- 30 # of a window

call_with <- function(row, x, devices) {
  switch(row$kind,
    dist = gpuCor(x, method = row$method, devices = devices),
    network = gpuCorNetwork(x, density = DENSITY, method = row$method, devices = devices),
    sums = gpuConnectivity(x, threshold = 0.5, power = 6, method = row$method, devices = devices),
    windows = gpuCorWindows(x, WIDTH, output = "connectivity", density = DENSITY, method = row$method,
                            devices = devices)
  )
}

# The better of two runs if they are short, after a small call that starts the drivers.
measure_devices <- function(row, x, devices) {
  invisible(call_with(row, x[, seq_len(min(20000, ncol(x))), drop = FALSE], devices))
  seconds <- Inf
  for (turn in 1:2) {
    result <- NULL
    gc(full = TRUE)
    now <- system.time(result <- call_with(row, x, devices))[["elapsed"]]
    seconds <- min(seconds, now)
    if (now >= 10) break
  }
  list(seconds = seconds, engine = engine_stages(), result = result)
}

# The result without its call, which differs.
bytes_of <- function(result) {
  if (isS4(result)) list(result@p, result@i, result@x, result@threshold) else unclass(result)
}
same_bytes <- function(a, b) {
  attr(a, "call") <- attr(b, "call") <- NULL
  identical(bytes_of(a), bytes_of(b))
}

# The floor for a number of GPUs: products and transfers are divided.
floor_of <- function(row, pairs, edges, rates, gpus) {
  if (row$kind == "windows") return(2 * pairs * WIDTH * (row$n_obs - WIDTH + 1) / rates$half / gpus)
  if (row$kind == "sums") return(2 * pairs * row$n_obs / rates$float / gpus)
  terms <- floor_terms(row, pairs, edges, rates)
  terms[c("products", "wire")] <- terms[c("products", "wire")] / gpus
  floor_seconds(row, terms)
}

COLUMNS <- "%-19s %9s %5s %5s %9s %9s %6s %7s %7s %10s"
tell_line <- function(name, row, gpus, floor, m, alone, same) {
  pace <- if (is.null(alone)) "" else number(alone / m$seconds)
  emit(sprintf(COLUMNS, name, number(row$n_var, 8), row$n_obs, gpus, number(floor), number(m$seconds),
               number(m$seconds / floor), pace, number(m$engine[2]), same))
}

run_row <- function(name, rates) {
  row <- rows[[name]]
  x <- .Call("random_matrix", row$n_obs, row$n_var, row$steps)
  numbers <- if (is.na(row$only)) unique(c(1, 2, most)) else row$only
  first <- NULL
  for (gpus in numbers[numbers <= most]) {
    m <- measure_devices(row, x, seq_len(gpus) - 1)
    edges <- if (row$kind == "network") m$result@edges else 0
    same <- if (is.null(first)) "" else if (same_bytes(first$result, m$result)) "same bytes" else "DIFFERENT"
    tell_line(name, row, gpus, floor_of(row, pairs_of(ncol(x)), edges, rates, gpus), m, first$seconds, same)
    if (is.null(first) && length(numbers) > 1) first <- m
    if (same == "DIFFERENT") failed <<- TRUE
  }
}

# Runs more workers than GPUs on little data: three and four workers divide the pairs as that many GPUs would.
check_divisions <- function() {
  x <- .Call("random_matrix", 60, 9000, 10)
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit(.Call(gpucor:::r_set_shared_steps, 0))
  for (method in c("pearson", "kendall")) {
    alone <- gpuCorNetwork(x, density = 0.01, method = method, devices = 0)
    for (workers in 2:4) {
      options(gpucor.workers_per_device = workers)
      same <- same_bytes(alone, gpuCorNetwork(x, density = 0.01, method = method, devices = 0))
      options(gpucor.workers_per_device = NULL)
      say(method, ", 9,000 variables, ", workers, " workers on one GPU: ", if (same) "same bytes" else "DIFFERENT")
      if (!same) failed <<- TRUE
    }
  }
}

failed <- FALSE
open_record("gpu-several.txt")
share_folder(function() {
  build_random()
  build_rates()
})
info <- gpuInfo()
describe_machine(info)
say(most, " GPUs: ", paste(info$devices$name, collapse = ", "))
rates <- measure_rates(info$threads, TRUE)
describe_rates(rates)
asked <- setdiff(arguments, "--record")
standard <- names(rows)[!vapply(rows, `[[`, NA, "by_name")]
emit("")
check_divisions()
emit("")
emit(sprintf(COLUMNS, "", "N", "n_obs", "GPUs", "floor", "seconds", "ratio", "pace", "engine", ""))
for (name in if (length(asked)) asked else standard) {
  tryCatch(run_row(name, rates), error = function(e) {
    failed <<- TRUE
    say(name, ": failed: ", conditionMessage(e))
  })
  gc(full = TRUE)
}
say("Seconds from the call to the finished R object; pace: those of one GPU over these; engine: seconds multiplying ",
    "and delivering, of the slowest worker.")
emit("The run took ", number(proc.time()[["elapsed"]]), " s.")
close_record()
quit(status = failed)
