# Results of all pairs, compared with the machine's own rates: into fresh memory from the system, and into memory reused
# from an earlier result.
#
#   Rscript inst/bench/dense.R [--record] [--peers] [row ...]
#
# Every row runs in a process of its own, on matrices that are always the same. --peers: also runs the fastest published
# method of published.R, both ways. --record writes the output to results/dense.txt beside this script. Environment
# variables: GPUCOR_BENCH_LIBS as in published.R; GPUCOR_BENCH_RUNS, the number of runs of which the best counts: 3.
#
# floor   the slower of the transfer to the host and, for fresh memory, of its first touch, at the rates measured in
#         this run: 4 bytes per pair
# fresh   seconds from the call to the finished R object, with gpucor.keep_memory = FALSE
# kept    the same after a result of this size was freed
# method  the method's own seconds, into memory that was touched before its clock starts, and into untouched memory
# then, for fresh / kept: seconds of the run to prepare, to multiply and deliver, to open and close; and in R code
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
part <- Sys.getenv("GPUCOR_BENCH_PART") # in a process started by this script: the row to measure
folder <- Sys.getenv("GPUCOR_BENCH_FOLDER", tempdir()) # where these processes leave their results
scale <- 1 # used by gpu-measure.R
quick <- FALSE
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R", "published-measure.R")) source(file.path(here, file))
result_file <- function(name) file.path(folder, paste0(name, ".rds"))

# must: required seconds on an H200 with 16 cores, into fresh memory.
row <- function(n_var, n_obs, must, kind = "triangle", method = "pearson", peer = "fast-gpu-pcc row") {
  list(n_var = n_var, n_obs = n_obs, must = must, kind = kind, method = method, peer = peer)
}
rows <- list(`pearson-10000` = row(10000, 100, 0.02), `pearson-20000` = row(20000, 100, 0.04),
             `pearson-40000` = row(40000, 100, 0.15), `pearson-100000` = row(100000, 100, 0.8),
             `pearson-long` = row(100000, 300, NA),
             spearman = row(21000, 1000, 0.08, "distance", "spearman", "kim-spearman"),
             kendall = row(58523, 1024, 0.5, "triangle", "kendall", NA))

# ---- one row

# The best run: its seconds and those of its stages.
best_of <- function(call, keep) {
  options(gpucor.keep_memory = keep)
  runs <- as.integer(Sys.getenv("GPUCOR_BENCH_RUNS", "3")) + keep # the first run fills the buffer cache
  found <- vapply(seq_len(runs), function(k) {
    invisible(gc(full = TRUE))
    started <- Sys.time()
    result <- call()
    seconds <- as.numeric(Sys.time() - started, units = "secs")
    stages <- .Call(gpucor:::r_stages)
    stopifnot(length(result) == pairs_of(attr(result, "Size")))
    c(seconds, stages[1:2], stages[3] - sum(stages[1:2]), seconds - stages[3])
  }, numeric(5))
  if (keep) found <- found[, -1, drop = FALSE]
  found[, which.min(found[1, ])]
}

row_part <- function(name) {
  suppressPackageStartupMessages(library(gpucor))
  row <- rows[[name]]
  if (!load_library("random")) quit(status = 1)
  x <- .Call("random_matrix", row$n_obs, row$n_var, 0)
  invisible(own_call(row, x[, 1:2000])())
  call <- own_call(row, x)
  fresh <- best_of(call, FALSE)
  kept <- best_of(call, TRUE)
  result <- call()
  off <- check_dist(row, x, if (row$kind == "distance") 1 - result else result)$off
  saveRDS(list(fresh = fresh, kept = kept, off = off), result_file(name))
}

in_process <- function(name) {
  Sys.setenv(GPUCOR_BENCH_PART = name)
  on.exit(Sys.unsetenv("GPUCOR_BENCH_PART"))
  log <- tempfile("row")
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script)), stdout = log, stderr = log)
  if (status != 0) return(list(error = failure(status, log)))
  if (name == "rates") writeLines(readLines(log))
  readRDS(result_file(name))
}

# ---- the table

COLUMNS <- "%-15s %7s %6s | %8s %8s %8s %6s %6s | %8s %8s %6s | %8s %8s %7s"

peer_seconds <- function(row, fresh) {
  if (!"--peers" %in% arguments || is.na(row$peer)) return(NA)
  program <- strsplit(row$peer, " ")[[1]]
  c(run_program(c(row, list(program = program[1], more = program[-1])), fresh)$seconds, NA)[1]
}

table_line <- function(name, rates) {
  row <- rows[[name]]
  m <- in_process(name)
  if (!is.null(m$error)) return(emit(name, " failed: ", m$error))
  wire <- 4 * pairs_of(row$n_var) / rates$wire
  floor <- max(wire, 4 * pairs_of(row$n_var) / rates$fill, na.rm = TRUE)
  emit(sprintf(COLUMNS, name, number(row$n_var, 8), row$n_obs, number(floor), number(m$fresh[1]), number(row$must),
               if (is.na(row$must)) "" else if (m$fresh[1] <= row$must) "yes" else "no", number(m$fresh[1] / floor),
               number(wire), number(m$kept[1]), number(m$kept[1] / wire), number(peer_seconds(row, TRUE)),
               number(peer_seconds(row, FALSE)), sprintf("%.1e", m$off)))
  stages <- function(seconds) paste(vapply(seconds[-1], number, ""), collapse = " + ")
  emit("                fresh: ", stages(m$fresh), "; kept: ", stages(m$kept))
}

main <- function() {
  chosen <- setdiff(arguments, c("--record", "--peers"))
  unknown <- setdiff(chosen, names(rows))
  if (length(unknown)) stop("there is no row ", unknown[1], "; there are ", paste(names(rows), collapse = ", "))
  open_record("dense.txt")
  share_folder(function() {
    build_random()
    build_rates()
    if ("--peers" %in% arguments) build_programs()
  })
  rates <- in_process("rates")
  if (!is.null(rates$error)) stop(rates$error)
  emit(sprintf(COLUMNS, "", "N", "n_obs", "floor", "fresh", "must", "met", "ratio", "wire", "kept", "ratio",
               "peer,new", "touched", "r off"))
  for (name in if (length(chosen)) chosen else names(rows)) table_line(name, rates)
  close_record()
}

if (part == "rates") {
  rates_part()
} else if (nzchar(part)) {
  row_part(part)
} else {
  invisible(main())
}
