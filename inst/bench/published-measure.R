# Builds and measures for published.R: the methods' programs, and gpucor's own calls.

# ---- building

build_programs <- function() {
  sources <- list.files(file.path(here, "published"), "[.](cu|c)$", full.names = TRUE)
  compiler <- tryCatch(suppressWarnings(system(paste(r_command(), "CMD config CC"), intern = TRUE)),
                       error = function(e) "cc")
  flag <- architecture()
  if (is.null(flag)) say("No GPU: programs in CUDA are not built.")
  for (source in sources) {
    name <- sub("[.]c?[cu]$", "", basename(source))
    cuda <- grepl("[.]cu$", source)
    if (cuda && is.null(flag)) next
    command <- if (cuda) paste(nvcc(), "-std=c++17 -O3", flag, "-Xcompiler -fopenmp") else
      paste(compiler, "-O3 -fopenmp")
    build(name, paste(command, shQuote(source), "-o", shQuote(name), if (cuda) "-lcublas", "-lm"))
  }
  build_random()
}

# ---- a method

# Seconds and the largest error, from the line that the program prints; harness.h describes its fields.
read_line <- function(out, log) {
  fields <- strsplit(trimws(utils::tail(out, 1)), " +")[[1]]
  seconds <- suppressWarnings(as.numeric(fields[5]))
  if (length(fields) != 7 || is.na(seconds)) return(list(error = "no such line as the harness prints"))
  list(seconds = seconds, off = suppressWarnings(as.numeric(fields[6])), name = fields[1],
       note = readLines(log, warn = FALSE))
}

# fresh: results go to untouched memory.
run_program <- function(row, fresh = FALSE) {
  Sys.setenv(PUBLISHED_FRESH = if (fresh) "1" else "")
  program <- file.path(Sys.getenv("GPUCOR_BENCH_LIBS"), row$program)
  if (!file.exists(program)) return(list(error = "no such program"))
  log <- tempfile("program")
  more <- c(format(c(row$n_var, row$n_obs), scientific = FALSE, trim = TRUE), "0", row$more)
  out <- suppressWarnings(system2(program, more, stdout = TRUE, stderr = log, timeout = 300))
  status <- c(attr(out, "status"), 0)[1]
  if (status != 0) return(list(error = failure(status, log)))
  read_line(out, log)
}

# Runs a program both ways, if it allocates memory for its results before it computes them; with one CPU core, whose
# times are estimated from some rows, only into touched memory.
run_both_ways <- function(row) {
  if (is.na(row$program)) return(list())
  first <- run_program(row)
  if (!is.null(first$error)) return(first)
  if (row$kind == "network") {
    first$fresh <- first$seconds
    first$seconds <- NULL
  } else if (row$program != "sequential") {
    again <- run_program(row, fresh = TRUE)
    if (!is.null(again$error)) return(again)
    first$fresh <- again$seconds
    first$off <- max(first$off, again$off)
  }
  first
}

# ---- gpucor

own_call <- function(row, x) {
  if (row$kind == "triangle") return(function() gpuCor(x, method = row$method))
  if (row$kind == "network") {
    return(function() gpuCorNetwork(x, density = row$density, sign = "positive", method = row$method))
  }
  x <- t(x) # gpuDist() has variables in rows
  function() gpuDist(x, method = row$method)
}

# The best of two runs, or of `runs`, and its result.
time_runs <- function(call, runs = 2) {
  seconds <- numeric()
  for (run in seq_len(runs)) {
    result <- NULL
    gc(full = TRUE)
    started <- Sys.time()
    result <- call()
    seconds[run] <- as.numeric(Sys.time() - started, units = "secs")
  }
  list(seconds = seconds, result = result)
}

# Times a call into fresh memory and into memory reused from an earlier result, after a small call that starts the
# driver.
time_call <- function(row, x) {
  invisible(own_call(row, x[, seq_len(min(2000, ncol(x))), drop = FALSE])())
  call <- own_call(row, x)
  options(gpucor.keep_memory = FALSE)
  run <- time_runs(call)
  run$fresh <- min(run$seconds)
  run$seconds <- NULL
  if (row$kind == "network") return(run)
  run$result <- NULL
  options(gpucor.keep_memory = TRUE)
  kept <- time_runs(call, 3)
  list(fresh = run$fresh, seconds = min(kept$seconds[-1]), result = kept$result)
}

# The largest error of the edges, or 2 if a pair is wrongly an edge or wrongly not. Columns 1 and 8 of every other
# twenty share a signal: these pairs are edges or nearly so.
network_error <- function(row, x, net) {
  at <- ceiling(stats::runif(samples_of(row)) * length(net@x))
  j <- findInterval(at - 1, net@p)
  off <- max(0, abs(net@x[at] - truth_of(row, x, net@i[at] + 1L, j)))
  first <- unique(ceiling(stats::runif(500) * (ncol(x) %/% 40)) - 1) * 40 + 1
  r <- truth_of(row, x, first, first + 7)
  wrong <- are_edges(net, first, first + 7) != (r >= net@threshold) & abs(r - net@threshold) > 1e-6
  if (any(wrong)) 2 else off
}

own_error <- function(row, x, result) {
  switch(row$kind, network = network_error(row, x, result), triangle = check_dist(row, x, result)$off,
         distance = check_dist(row, x, 1 - result)$off)
}

# Measures one of gpucor's calls, such as "triangle pearson 5000 100 0.001", where the last number is a network's.
call_part <- function(part) {
  suppressPackageStartupMessages({
    library(gpucor)
    library(Matrix)
  })
  if (!load_library("random")) quit(status = 1)
  fields <- strsplit(part, " ")[[1]]
  row <- list(kind = fields[1], method = fields[2], n_var = as.numeric(fields[3]), n_obs = as.numeric(fields[4]),
              density = as.numeric(fields[5]))
  set.seed(20)
  x <- .Call("random_matrix", row$n_obs, row$n_var, 0)
  run <- time_call(row, x)
  note <- if (row$kind == "network") {
    sprintf("threshold %.7f, %.0f edges", run$result@threshold, length(run$result@x))
  }
  saveRDS(list(seconds = run$seconds, fresh = run$fresh, off = own_error(row, x, run$result), note = note),
          result_file(part))
}
