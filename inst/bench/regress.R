# Times every row of rows.R in two builds of gpucor, interleaved, and fails if the new build is slower.
#
#   Rscript inst/bench/regress.R OLD_LIBRARY NEW_LIBRARY [BACKEND] [FILTER]
#
# `make regress REF=<commit>` installs both builds and calls this; on a machine without git or make it needs R and the
# two libraries only. BACKEND: "cpu" or "cuda"; by default the new build's. FILTER: a regular expression that names of
# rows match.
#
# Each build has an R process that lives until the end. A row's calls alternate between the two, and the faster ones
# count: elapsed seconds, and those of all processors. A row whose elapsed time has grown by more than 15 % is measured
# again, longer, and fails if it has grown by as much again. A row that only the old build cannot run is reported.
arguments <- commandArgs(TRUE)
if (length(arguments) < 2) stop("Rscript regress.R OLD_LIBRARY NEW_LIBRARY [BACKEND] [FILTER]")
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
LIMIT <- 1.15
SHORT <- 0.02 # seconds: shorter calls are repeated
BUDGET <- 0.5 # seconds that a row is measured; one that seems slower six times as long
MIN_TIMES <- 3
MAX_TIMES <- 15

# ---- what a build's process runs; all of these are global there

begin <- function(rows, backend) {
  suppressPackageStartupMessages(library(gpucor))
  if (!is.na(backend)) options(gpucor.backend = backend)
  sys.source(rows, globalenv())
  DATA <<- list(key = "", x = NULL)
  list(backend = if (is.na(backend)) gpuInfo()$default else backend, version = R.version.string,
       threads = gpuInfo()$threads, device = gpuInfo()$devices$name[1])
}

quietly <- function(code) {
  utils::capture.output(value <- suppressWarnings(suppressMessages(force(code))))
  value
}

# Makes the row's data, unless the row before had the same, and calls it once. Returns NULL or why that is impossible.
prepare <- function(name, size) {
  tryCatch({
    row <- ROWS[[name]]
    made_by <- environment(row$data) # a function of a function has its arguments there
    given <- if (!identical(made_by, globalenv())) mget(ls(made_by), made_by)
    key <- paste(c(deparse(row$data), deparse(given), size), collapse = " ")
    if (key != DATA$key) {
      DATA <<- list(key = "", x = NULL)
      DATA <<- list(key = key, x = quietly(row$data(size[1], size[2])))
    }
    quietly(row$call(DATA$x))
    NULL
  }, error = function(e) strsplit(conditionMessage(e), "\n")[[1]][1])
}

# Returns elapsed and processor seconds of a call, the average of `times` calls.
time_row <- function(name, times) {
  call <- ROWS[[name]]$call
  gc()
  used <- system.time(quietly(for (k in seq_len(times)) call(DATA$x)))
  c(elapsed = used[["elapsed"]], cpu = sum(used[c("user.self", "sys.self")])) / times
}

# ---- processes

start <- function(library) {
  before <- Sys.getenv("R_LIBS", NA)
  on.exit(if (is.na(before)) Sys.unsetenv("R_LIBS") else Sys.setenv(R_LIBS = before))
  Sys.setenv(R_LIBS = paste(c(normalizePath(library), before[!is.na(before)]), collapse = .Platform$path.sep))
  parallel::makePSOCKcluster(1, outfile = nullfile())
}

both <- structure(list(start(arguments[1])[[1]], start(arguments[2])[[1]]), class = c("SOCKcluster", "cluster"))
on_one <- function(side, ...) parallel::clusterCall(both[side], ...)[[1]]
functions <- c("quietly", "begin", "prepare", "time_row")
parallel::clusterExport(both, functions)
backend <- if (length(arguments) > 2) arguments[3] else on_one(2, begin, file.path(here, "rows.R"), NA)$backend
about <- parallel::clusterCall(both, begin, file.path(here, "rows.R"), backend)[[2]]

# ---- rows

measure <- function(name, budget) {
  found <- list(NULL, NULL)
  times <- 1
  used <- 0
  for (k in seq_len(MAX_TIMES)) {
    for (side in if (k %% 2) 1:2 else 2:1) {
      seconds <- on_one(side, time_row, name, times)
      used <- used + seconds[["elapsed"]] * times
      found[[side]] <- rbind(found[[side]], seconds)
    }
    if (k == 1) { # of one call, whose time may be below the clock's
      times <- max(1, ceiling(SHORT / max(1e-3, min(found[[1]][, "elapsed"], found[[2]][, "elapsed"]))))
      if (times > 1) found <- list(NULL, NULL)
    }
    if (k >= MIN_TIMES && used > budget) break
  }
  lapply(found, function(seconds) apply(seconds, 2, min))
}

LINE <- "%-18s %8s x %6s %9s %9s %7s %7s  %s"
line <- function(...) {
  cat(sub(" +$", "", sprintf(LINE, ...)), "\n", sep = "")
  flush(stdout())
}
number <- function(x) format(signif(x, 3), scientific = FALSE)
ratio_of <- function(found, what) found[[2]][[what]] / found[[1]][[what]]
measured_line <- function(name, size, found, verdict) {
  line(name, format(size[2], scientific = FALSE), format(size[1], scientific = FALSE), number(found[[1]][["elapsed"]]),
       number(found[[2]][["elapsed"]]), sprintf("%.2f", ratio_of(found, "elapsed")),
       sprintf("%.2f", ratio_of(found, "cpu")), verdict)
}
not_measured <- function(name, size, why) {
  line(name, format(size[2], scientific = FALSE), format(size[1], scientific = FALSE), "", "", "", "", why)
}

# Returns TRUE if the row fails.
run_row <- function(name) {
  row <- ROWS[[name]]
  size <- row[[if (backend == "cpu") "cpu" else "gpu"]]
  absent <- Filter(function(package) !requireNamespace(package, quietly = TRUE), row$needs)
  if (length(absent)) {
    not_measured(name, size, paste("needs", toString(absent)))
    return(FALSE)
  }
  why <- parallel::clusterCall(both, prepare, name, size)
  if (!is.null(why[[2]])) {
    not_measured(name, size, paste("FAILS in the new one:", why[[2]]))
    return(TRUE)
  }
  if (!is.null(why[[1]])) {
    not_measured(name, size, paste("not in the old one:", why[[1]]))
    return(FALSE)
  }
  found <- measure(name, BUDGET)
  if (ratio_of(found, "elapsed") <= LIMIT) {
    measured_line(name, size, found, "")
    return(FALSE)
  }
  measured_line(name, size, found, "again:")
  found <- measure(name, 6 * BUDGET)
  is_slower <- ratio_of(found, "elapsed") > LIMIT
  measured_line(name, size, found, if (is_slower) "SLOWER" else "")
  is_slower
}

sys.source(file.path(here, "rows.R"), globalenv())
has_size <- function(row) !is.null(row[[if (backend == "cpu") "cpu" else "gpu"]])
chosen <- names(Filter(has_size, ROWS))
if (length(arguments) > 3) chosen <- grep(arguments[4], chosen, value = TRUE)
machine <- c(paste(about$threads, "threads"), about$device[backend != "cpu"], about$version)
cat(paste(c(format(Sys.Date()), backend, machine), collapse = ", "), "\n", sep = "")
line("row", "N", "n_obs", "old s", "new s", "new/old", "its CPU", "")
begun <- proc.time()[["elapsed"]]
failed <- chosen[vapply(chosen, run_row, NA)]
parallel::stopCluster(both)
cat(length(chosen), " rows in ", round(proc.time()[["elapsed"]] - begun), " s; failed: ",
    if (length(failed)) toString(failed) else "none", "\n", sep = "")
quit(status = as.integer(length(failed) > 0))
