# The progress of a job: one bar over all passes of the function that the user called. The engine reports the completed
# fraction of a pass (src/r/call.c); functions say which part of the job a pass is (at_pass()) and what R is doing
# (doing()).

# Seconds before anything is shown, between reports of the engine, between lines of a log, and between redraws. Options
# override the first and the third for tests.
QUIET_SECONDS <- 2
REPORT_SECONDS <- 0.2
LOG_SECONDS <- 60
REDRAW_SECONDS <- 0.04

# ---- the job

quiet_seconds <- function() getOption("gpucor.progress_quiet", QUIET_SECONDS)

# Returns the job of a place, which starts with its first report and ends with the outermost function of the
# package on the stack, also after an error. The bar restarts if that function makes another place.
job_of <- function(place) {
  job <- state$job
  if (is.null(job)) {
    job <- list2env(list(started = place$started, shown = -Inf), parent = emptyenv())
    state$job <- job
    own <- quote(end_job(!identical(returnValue(end_job), end_job))) # the result, or after an error the default
    do.call(on.exit, list(own, add = TRUE), envir = sys.frame(outermost_frame()))
  }
  if (!identical(job$of, place$started)) {
    fresh <- list(of = place$started, fraction = 0, seen = 0, done = Inf, rate = NA_real_, speed = NULL)
    list2env(fresh, job)
  }
  job
}

end_job <- function(is_finished) {
  job <- state$job
  job$is_finished <- is_finished
  state$job <- NULL
  if (!is.null(job$display)) job$display$end(job)
}

now <- function() proc.time()[["elapsed"]]

# Shows at once what R is doing while no engine runs, without a remaining time, which is unknown.
doing <- function(place, what) {
  if (place$progress == 0 || now() - place$started < quiet_seconds()) return(invisible())
  job <- job_of(place)
  job$fraction <- max(job$fraction, place$pass[1L])
  job$rate <- NA_real_
  show_job(job, what, left = FALSE, at_once = TRUE)
}

# Called by the engine and by loops in R. `fraction`: of the place's pass; `pairs`: its number of pairs, or 0 if it
# does not count pairs.
report_progress <- function(place, fraction, pairs = 0) {
  if (place$progress == 0) return(invisible())
  job <- job_of(place)
  fraction <- min(max(fraction, 0), 1)
  job$fraction <- min(1, max(job$fraction, place$pass[1L] + fraction * place$pass[2L]))
  done <- if (isFALSE(place$doing$rated)) 0 else fraction * pairs
  time <- now()
  if (!identical(job$what, place$doing) || done < job$done) { # another pass
    job$what <- place$doing
    job$since <- time
    job$from <- done
  }
  job$done <- done
  job$rate <- if (time - job$since > 0.1) (done - job$from) / (time - job$since) else NA_real_
  show_job(job, describe_doing(place$doing, fraction))
}

# Returns a pass's label. `what`: list(text; of: number of similar things that the pass loops over, or NULL; rated:
# FALSE if the engine does not count pairs).
describe_doing <- function(what, fraction) {
  if (is.null(what)) return("pairs")
  if (is.null(what$of) || what$of < 2) return(what$text)
  paste(what$text, format_count(min(what$of, 1 + floor(fraction * what$of))), "of", format_count(what$of))
}

# ---- display

show_job <- function(job, what, left = TRUE, at_once = FALSE) {
  time <- now()
  if (time - job$started < quiet_seconds()) return(invisible())
  if (!at_once && time - job$shown < REDRAW_SECONDS) return(invisible())
  job$shown <- time
  note_speed(job, time)
  if (is.null(job$display)) {
    kind <- getOption("gpucor.progress_display")
    if (is.null(kind)) {
      is_bar <- requireNamespace("cli", quietly = TRUE) &&
        (cli::is_dynamic_tty(stderr()) || !is.null(getOption("cli.progress_handlers")))
      kind <- if (is_bar) "cli" else "log"
    }
    job$display <- DISPLAYS[[kind]]
    job$display$begin(job)
  }
  rate <- if (is.finite(job$rate) && job$rate >= 1000) paste(show_rate(job$rate), "pairs/s")
  time_left <- if (left && job$speed > 0) paste(show_left((1 - job$fraction) / job$speed), "left")
  job$display$show(job, paste(c(what, rate, time_left), collapse = ", "))
}

# Averages the fraction of the job per second over recent time: passes differ in speed from their estimates.
note_speed <- function(job, time) {
  elapsed <- time - job$started
  if (is.null(job$speed)) {
    job$speed <- if (elapsed > 0) job$fraction / elapsed else 0
  } else {
    passed <- time - job$timed
    if (passed < 0.05) return(invisible())
    weight <- 1 - exp(-passed / max(3, elapsed / 3))
    job$speed <- job$speed + weight * ((job$fraction - job$seen) / passed - job$speed)
  }
  job$timed <- time
  job$seen <- job$fraction
}

show_left <- function(seconds) {
  seconds <- ceiling(seconds)
  if (seconds < 60) return(paste(seconds, "s"))
  if (seconds < 3600) return(sprintf("%.0f min %02.0f s", seconds %/% 60, seconds %% 60))
  sprintf("%.0f h %02.0f min", seconds %/% 3600, seconds %% 3600 %/% 60)
}

show_rate <- function(rate) {
  power <- min(3, floor(log10(rate) / 3))
  paste(format(signif(rate / 1000^power, 2), trim = TRUE), c("thousand", "million", "billion")[power])
}

# The displays, functions of the job: a bar by package cli, whose option cli.progress_handlers passes it to progressr
# and others; or a line per minute, as a bar would fill a log.
DISPLAYS <- list(
  cli = list(begin = function(job) {
    old <- options(cli.progress_show_after = 0)
    on.exit(options(old))
    job$frame <- new.env(parent = topenv()) # cli evaluates the format here
    format <- "{cli::pb_bar} {cli::pb_percent} {cli::pb_extra$text}"
    job$bar <- cli::cli_progress_bar(total = 1000, format = format, extra = list(text = ""), auto_terminate = FALSE,
                                     clear = TRUE, .auto_close = FALSE, .envir = job$frame)
  }, show = function(job, text) {
    cli::cli_progress_update(set = 1000 * job$fraction, extra = list(text = text), force = TRUE, id = job$bar,
                             .envir = job$frame)
  }, end = function(job) cli::cli_progress_done(id = job$bar, .envir = job$frame)),
  log = list(begin = function(job) {
    job$logged <- job$started
    job$lines <- 0L
  }, show = function(job, text) {
    if (now() - job$logged < getOption("gpucor.progress_log", LOG_SECONDS)) return(invisible())
    job$logged <- now()
    job$lines <- job$lines + 1L
    message(sprintf("gpucor: %.0f %%, %s", floor(100 * job$fraction), text))
  }, end = function(job) {
    if (job$lines > 0L && job$is_finished) message("gpucor: finished after ", show_seconds(now() - job$started))
  })
)
