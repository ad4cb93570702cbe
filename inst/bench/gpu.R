# gpucor on a GPU: seconds, memory and accuracy of large problems, compared with the machine's limits and with published
# results.
#
#   Rscript inst/bench/gpu.R [--record] [row ...]
#
# Without rows: all of them. The largest need some 60 GB of host memory. --record writes the output to results/gpu.txt
# beside this script. Each row runs in a process of its own (voxel rows share one with their data), so that a failure
# affects no other row. Environment variables:
#   GPUCOR_BENCH_LIBS    a folder with random.so and gpu-rates.so, for machines without compilers
#   GPUCOR_BENCH_SCALE   the fraction of the variables to use, such as 0.01 for a quick look
#   GPUCOR_BENCH_LIMIT   seconds after which no further row is started
# A package without a GPU, or GPUCOR_BACKEND=cpu, runs the same on the CPU; GPU rates and floors are then missing.
#
# ours     seconds from the call to the finished R object, with an R matrix as input: the better of two runs if they
#          take less than 10 s, after a small call that starts the driver. The second run reuses the memory of the
#          first one's result; dense.R measures both cases
# floor    minimum seconds of any program on this machine, from rates measured in the same run
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
part <- strsplit(Sys.getenv("GPUCOR_BENCH_PART"), ",")[[1]] # in a process started by this script: the row to measure
folder <- Sys.getenv("GPUCOR_BENCH_FOLDER", tempdir()) # where these processes leave their results
scale <- as.numeric(Sys.getenv("GPUCOR_BENCH_SCALE", "1"))
limit <- as.numeric(Sys.getenv("GPUCOR_BENCH_LIMIT", "Inf"))
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R")) source(file.path(here, file))

# ---- the rows

# must: required seconds or, for a sustained rate, 10^12 operations per second. published: seconds, authors and
# hardware. steps: values are rounded to multiples of 1 / steps. k: a network of each variable's k strongest neighbours,
# NA: by density.
row <- function(kind, method, n_var, n_obs, published = "", must = NA, steps = 0, once = FALSE, data = "", k = NA) {
  list(kind = kind, method = method, n_var = max(1000, round(n_var * scale)), n_obs = n_obs, published = published,
       must = must, steps = steps, once = once, data = data, k = k)
}
rows <- list(
  "dist-pearson" = row("dist", "pearson", 100000, 100, "11.0 (K40)", 1.6),
  "dist-kendall" = row("dist", "kendall", 58523, 1024, "340", 1.0),
  "dist-kendall-ties" = row("dist", "kendall", 58523, 1024, "340", steps = 10),
  "net-pearson" = row("network", "pearson", 1e6, 128, "777", 2.5),
  "net-spearman" = row("network", "spearman", 1e6, 128, "782", 2.5),
  "net-kendall-300k" = row("network", "kendall", 3e5, 128, "862", 0.8),
  "net-kendall" = row("network", "kendall", 1e6, 128, "never", 3.5),
  "net-kendall-ties" = row("network", "kendall", 1e6, 128, "never", steps = 10),
  "net-pearson-k10" = row("network", "pearson", 3e5, 128, must = 0.4, k = 10),
  "net-kendall-k50" = row("network", "kendall", 3e5, 128, must = 0.8, k = 50),
  "net-pearson-voxels" = row("network", "pearson", 1561152, 1200, "an hour", 25, data = "voxels"),
  "net-kendall-voxels" = row("network", "kendall", 1561152, 1200, "never", NA, once = TRUE, data = "voxels"),
  "test-pearson" = row("test", "pearson", 20000, 100, must = 1),
  "test-kendall" = row("test", "kendall", 20000, 100, must = 1),
  "maxT-pearson" = row("maxT", "pearson", 5000, 100, must = 5),
  "maxT-spearman" = row("maxT", "spearman", 5000, 100, must = 5),
  "maxT-kendall" = row("maxT", "kendall", 5000, 100, must = 5),
  "compare-pearson" = row("compare", "pearson", 10000, 100, must = 0.5), # gpuCorCompare() of two groups of 50 rows
  "sums-pearson" = row("sums", "pearson", 3e5, 128, must = 0.8), # gpuConnectivity(): one power
  "maps-pearson" = row("maps", "pearson", 90112, 165, must = 0.4), # centrality measures of voxels
  "rate-sign" = row("rate", "kendall", 65536, 512, must = 8000),
  "rate-sign-ties" = row("rate", "kendall", 65536, 512, must = NA, steps = 10),
  "rate-half" = row("rate", "pearson", 131072, 1024, must = 450)
)
DENSITY <- 0.001
PERMUTATIONS <- 1000 # of a maxT test
GROUP_PERMUTATIONS <- 200 # of two groups' rows
BEYOND <- 0.6 # a threshold that almost no pair of the data reaches

has_ties <- function(row) row$steps > 0

# ---- all rows

result_file <- function(name) file.path(folder, paste0(name, ".rds"))

# Runs this script for one part of the work and prints its output.
run_part <- function(part) {
  Sys.setenv(GPUCOR_BENCH_PART = paste(part, collapse = ","))
  on.exit(Sys.unsetenv("GPUCOR_BENCH_PART"))
  command <- paste(shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla", shQuote(script), "2>&1")
  child <- pipe(command, "r")
  while (length(line <- readLines(child, 1, warn = FALSE))) emit(line)
  status <- close(child)
  if (isTRUE(status != 0)) {
    say(paste(part, collapse = ", "), ": ended with status ", if (status > 255) status %/% 256 else status)
  }
}

# If a process dies, another one takes the rows after the failed one.
run_rows <- function(names) {
  if (proc.time()[["elapsed"]] > limit) return(say("no time left for ", paste(names, collapse = ", ")))
  run_part(names)
  left <- names[!file.exists(result_file(names))]
  if (length(left) > 1) run_rows(left[-1])
}

read_result <- function(name) {
  tryCatch(suppressWarnings(readRDS(result_file(name))), error = function(e) list(name = name, error = "no result"))
}

main <- function() {
  asked <- setdiff(arguments, "--record")
  unknown <- setdiff(asked, names(rows))
  if (length(unknown)) stop("there is no row ", unknown[1], "; rows are ", paste(names(rows), collapse = ", "))
  wanted <- if (length(asked)) intersect(names(rows), asked) else names(rows)
  open_record("gpu.txt")
  share_folder(function() {
    build_random()
    build_rates()
  })
  run_part("rates")
  emit("")
  data <- vapply(wanted, function(name) if (nzchar(rows[[name]]$data)) rows[[name]]$data else name, "")
  for (group in split(wanted, factor(data, unique(data)))) run_rows(group)
  print_table(wanted)
  emit("")
  emit("The run took ", number(proc.time()[["elapsed"]]), " s.")
}

if (!length(part)) {
  main()
} else if (identical(part, "rates")) {
  rates_part()
} else {
  rows_part(part)
}
