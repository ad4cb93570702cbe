# How far a job is: one bar over all passes of the function that the user called, whatever it calls itself. The engine
# says what share of a pass is done (src/r/progress.c), functions say which part of the job a pass is (at_pass()) and
# what R is at (doing()).

# Seconds before anything is shown, between reports of the engine, and between lines of a log: options set the first and
# the last, for tests.
QUIET_SECONDS <- 2
REPORT_SECONDS <- 0.2
LOG_SECONDS <- 60
REDRAW_SECONDS <- 0.04

# ---- the job

# For argument `progress`: seconds between reports of the engine, 0 for none.
choose_progress <- function(progress, found = NULL) {
  wanted <- if (is.null(progress)) {
    interactive() || is_heard_by_progressr()
  } else {
    check_flag(progress, "progress", where_from("progress", found, "a bar in interactive sessions"))
  }
  if (wanted) min(REPORT_SECONDS, max(0.001, quiet_seconds())) else 0
}

quiet_seconds <- function() getOption("gpucor.progress_quiet", QUIET_SECONDS)

# The job that settings are of, which begins with its first report: that of the outermost function of the package on the
# stack, with which it ends, however that ends. Where that calls a function that makes settings of its own, the bar
# begins anew.
job_of <- function(settings) {
  job <- state$job
  if (is.null(job)) {
    job <- list2env(list(started = settings$started, shown = -Inf), parent = emptyenv())
    state$job <- job
    own <- quote(end_job(!identical(returnValue(end_job), end_job))) # what is returned, or after an error the default
    do.call(on.exit, list(own, add = TRUE), envir = outermost_frame())
  }
  if (!identical(job$of, settings$started)) {
    fresh <- list(of = settings$started, share = 0, seen = 0, done = Inf, rate = NA_real_, speed = NULL)
    list2env(fresh, job)
  }
  job
}

outermost_frame <- function() {
  own <- topenv()
  for (k in seq_len(sys.nframe())) {
    if (identical(environment(sys.function(k)), own)) return(sys.frame(k))
  }
}

end_job <- function(is_finished) {
  job <- state$job
  job$is_finished <- is_finished
  state$job <- NULL
  if (!is.null(job$display)) job$display$end(job)
}

now <- function() proc.time()[["elapsed"]]

# What R is at while no engine runs: shown at once, without a time left, as nobody knows it.
doing <- function(settings, what) {
  if (settings$progress == 0 || now() - settings$started < quiet_seconds()) return(invisible())
  job <- job_of(settings)
  job$share <- max(job$share, settings$pass[1L])
  job$rate <- NA_real_
  show_job(job, what, left = FALSE, at_once = TRUE)
}

# The engine's word, and that of loops in R: share of the pass that the settings are of; pairs: how many it has, 0 where
# that is not what is counted.
report_progress <- function(settings, share, pairs = 0) {
  if (settings$progress == 0) return(invisible())
  job <- job_of(settings)
  share <- min(max(share, 0), 1)
  job$share <- min(1, max(job$share, settings$pass[1L] + share * settings$pass[2L]))
  count_pace(job, settings$doing, if (isFALSE(settings$doing$rated)) 0 else share * pairs)
  show_job(job, describe_doing(settings$doing, share))
}

# Pairs a second of the pass at hand.
count_pace <- function(job, what, done) {
  time <- now()
  if (!identical(job$what, what) || done < job$done) {
    job$what <- what
    job$since <- time
    job$from <- job$done <- done
  }
  job$done <- done
  job$rate <- if (time - job$since > 0.1) (done - job$from) / (time - job$since) else NA_real_
}

# A label of a pass: text; of: how many like things it goes through, where it does; rated: FALSE where the engine does
# not count pairs.
describe_doing <- function(what, share) {
  if (is.null(what)) return("pairs")
  if (is.null(what$of) || what$of < 2) return(what$text)
  paste(what$text, format_count(min(what$of, 1 + floor(share * what$of))), "of", format_count(what$of))
}

# ---- what is shown

show_job <- function(job, what, left = TRUE, at_once = FALSE) {
  time <- now()
  if (time - job$started < quiet_seconds()) return(invisible())
  if (!at_once && time - job$shown < REDRAW_SECONDS) return(invisible())
  job$shown <- time
  note_speed(job, time)
  if (is.null(job$display)) {
    job$display <- choose_display()
    job$display$begin(job)
  }
  job$display$show(job, job_text(job, what, left))
}

# Shares of the job a second, of late rather than on the whole: passes take more or less than was thought.
note_speed <- function(job, time) {
  elapsed <- time - job$started
  if (is.null(job$speed)) {
    job$speed <- job$share / elapsed
  } else {
    passed <- time - job$timed
    if (passed < 0.05) return(invisible())
    weight <- 1 - exp(-passed / max(3, elapsed / 3))
    job$speed <- job$speed + weight * ((job$share - job$seen) / passed - job$speed)
  }
  job$timed <- time
  job$seen <- job$share
}

job_text <- function(job, what, left) {
  paste(c(what, if (is.finite(job$rate) && job$rate >= 1000) paste0(show_rate(job$rate), " pairs/s"),
          if (left && job$speed > 0) paste(show_left((1 - job$share) / job$speed), "left")), collapse = ", ")
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

# list(begin, show, end), functions of the job.
choose_display <- function() {
  kind <- getOption("gpucor.progress_display")
  if (is.null(kind)) {
    on_screen <- if (has_cli()) "cli" else "bar"
    kind <- if (is_heard_by_progressr()) "progressr" else if (has_terminal()) on_screen else "log"
  }
  switch(kind, progressr = display_progressr(), cli = display_cli(), bar = display_bar(), log = display_log())
}

has_terminal <- function() isatty(stderr()) || (interactive() && Sys.getenv("RSTUDIO") == "1")

has_cli <- function() requireNamespace("cli", quietly = TRUE) && cli::is_dynamic_tty(stderr())

# Whether someone listens: for all of the session, or around this call.
is_heard_by_progressr <- function() {
  if (!isNamespaceLoaded("progressr")) return(FALSE)
  if (isTRUE(progressr::handlers(global = NA))) return(TRUE)
  any(vapply(seq_len(sys.nframe()), function(k) identical(sys.function(k), progressr::with_progress), NA))
}

# A thousand steps, as progressr's numbers are whole.
display_progressr <- function() {
  list(begin = function(job) {
    job$tell <- progressr::progressor(1000, label = "gpucor", on_exit = FALSE, envir = new.env())
    job$told <- 0
  }, show = function(job, text) {
    steps <- floor(1000 * job$share) - job$told
    job$told <- job$told + steps
    job$tell(text, amount = steps)
  }, end = function(job) job$tell(type = "finish"))
}

display_cli <- function() {
  list(begin = function(job) {
    old <- options(cli.progress_show_after = 0)
    on.exit(options(old))
    job$frame <- new.env(parent = topenv()) # where cli evaluates the format
    format <- "{cli::pb_bar} {cli::pb_percent} {cli::pb_extra$text}"
    job$bar <- cli::cli_progress_bar(total = 1000, format = format, extra = list(text = ""), auto_terminate = FALSE,
                                     clear = TRUE, .auto_close = FALSE, .envir = job$frame)
  }, show = function(job, text) {
    cli::cli_progress_update(set = 1000 * job$share, extra = list(text = text), force = TRUE, id = job$bar,
                             .envir = job$frame)
  }, end = function(job) cli::cli_progress_done(id = job$bar, .envir = job$frame))
}

display_bar <- function() {
  write <- function(text) cat("\r", text, file = stderr(), sep = "")
  list(begin = function(job) job$width <- min(getOption("width"), 100L) - 1L, show = function(job, text) {
    done <- floor(12 * job$share)
    text <- sprintf("[%s%s] %3.0f %%, %s", strrep("=", done), strrep(" ", 12 - done), floor(100 * job$share), text)
    write(formatC(substr(text, 1L, job$width), width = -job$width))
  }, end = function(job) {
    write(strrep(" ", job$width))
    write("")
  })
}

# Lines for files: where a bar would fill them.
display_log <- function() {
  say <- function(job, text) {
    if (now() - job$logged < getOption("gpucor.progress_log", LOG_SECONDS)) return(invisible())
    job$logged <- now()
    job$lines <- job$lines + 1L
    message(sprintf("gpucor: %.0f %%, %s", floor(100 * job$share), text))
  }
  list(begin = function(job) {
    job$logged <- job$started
    job$lines <- 0L
  }, show = say, end = function(job) {
    if (job$lines > 0L && job$is_finished) message("gpucor: finished after ", show_seconds(now() - job$started))
  })
}
