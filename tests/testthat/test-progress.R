# How far a job is: one bar over all of its passes, in the form that suits who looks.

x <- normal(40, 2500)

# What is shown of a call, as a log would have it if it were written all the time. On a processor: a GPU is done before
# there is anything to show.
shown_of <- function(call, display = "log") {
  lines <- character()
  with_options(list(gpucor.progress_quiet = 0, gpucor.progress_log = 0, gpucor.progress_display = display,
                    gpucor.threads = 1, gpucor.backend = "cpu"), {
    withCallingHandlers(call, message = function(condition) {
      lines <<- c(lines, conditionMessage(condition))
      invokeRestart("muffleMessage")
    })
  })
  sub("\n$", "", lines)
}

shares_of <- function(lines) as.numeric(sub(" %.*", "", sub("^gpucor: ", "", grep(" %", lines, value = TRUE))))

job_here <- function() gpucor:::state$job

test_that("several passes are one job, whose share never falls", {
  lines <- shown_of(pickPower(x, seq(1, 16, 0.12), progress = TRUE)) # four passes
  shares <- shares_of(lines)
  expect_gt(length(shares), 3)
  expect_false(is.unsorted(shares))
  expect_gt(max(shares), 50) # passes after the first
  expect_match(lines[1], "powers")
  expect_true(any(grepl("million pairs/s, [0-9]+ s left$", lines)))
  expect_match(utils::tail(lines, 1), "^gpucor: finished after ")
  expect_identical(sum(grepl("finished", lines)), 1L)
  expect_null(job_here())
})

test_that("what R does after the passes is said, without a time left", {
  lines <- shown_of(pickPower(x[, 1:200], progress = TRUE))
  expect_match(lines[length(lines) - 1], "^gpucor: [0-9]+ %, scale-free fits$")
  lines <- shown_of(gpuCorNetwork(x[, 1:200], threshold = 0.3, output = "edges", progress = TRUE))
  expect_match(lines, "rows of the network$|sorting the edges$|finished", all = TRUE)
  lines <- shown_of(gpuCorCompare(x[1:20, 1:300], x[21:40, 1:300], progress = TRUE))
  expect_match(lines[1:2], "p values$|false discovery rates$")
  lines <- shown_of(gpuConnectivity(x[, 1:200], maps = "eigenvector", progress = TRUE))
  expect_match(lines[1], "eigenvector$")
})

test_that("p values of tests are a part of the job, and permutations are counted", {
  # Many pairs of few observations: p values take most of the time, and longer than the display waits between lines.
  shares <- shares_of(shown_of(gpuCorTest(normal(10, 6000), progress = TRUE)))
  expect_true(any(shares > 20 & shares < 95))
  lines <- shown_of(gpuCorTest(x[, 1:400], adjust = "maxT", n_perm = 800, progress = TRUE))
  expect_match(grep("permutation", lines, value = TRUE)[1], "permutation [0-9]+ of 800, ")
  expect_false(is.unsorted(shares_of(lines)))
})

test_that("labels, rates and times are for people", {
  say <- function(...) gpucor:::describe_doing(list(...), 0.39)
  expect_identical(say(text = "overlap", of = 30), "overlap 12 of 30")
  expect_identical(say(text = "powers"), "powers")
  expect_identical(gpucor:::describe_doing(NULL, 0), "pairs")
  expect_identical(vapply(c(2.1e3, 4.12e8, 3e9), gpucor:::show_rate, ""), c("2.1 thousand", "410 million", "3 billion"))
  expect_identical(vapply(c(0.2, 59.5, 200, 7300), gpucor:::show_left, ""),
                   c("1 s", "1 min 00 s", "3 min 20 s", "2 h 01 min"))
})

test_that("the time left goes by how fast it went of late", {
  job <- list2env(list(started = gpucor:::now() - 100, fraction = 0.1))
  gpucor:::note_speed(job, gpucor:::now())
  expect_equal(job$speed, 0.001, tolerance = 0.01)
  job$fraction <- 0.9
  gpucor:::note_speed(job, gpucor:::now() + 100)
  expect_gt(job$speed, 0.006) # 0.008 since, 0.0045 on the whole
})

test_that("nothing is shown of short work, nor unless it is asked for", {
  expect_silent(gpuCor(x[, 1:50], progress = TRUE))
  expect_identical(shown_of(gpuCor(x[, 1:50], progress = FALSE)), character())
  expect_silent(gpuCor(x[, 1:50]))
  expect_null(job_here())
  expect_error(gpuCor(x, use = "nonsense", progress = TRUE))
  expect_error(gpuCorNetwork(x, threshold = 0.5, progress = TRUE, use = "all.obs", pairs = 3))
  expect_null(job_here())
})

test_that("the environment may say true as people do", {
  old <- Sys.getenv("GPUCOR_PROGRESS", NA)
  on.exit(if (is.na(old)) Sys.unsetenv("GPUCOR_PROGRESS") else Sys.setenv(GPUCOR_PROGRESS = old))
  few <- x[, 1:5]
  yes <- c("true", "TRUE", "True", "yes", "on", "1")
  for (value in c(yes, "false", "no", "off", "0")) {
    Sys.setenv(GPUCOR_PROGRESS = value)
    expect_s3_class(gpuCor(few), "gpuCor")
    expect_identical(place_on()$progress > 0, value %in% yes)
  }
  Sys.setenv(GPUCOR_PROGRESS = "perhaps")
  expect_error(gpuCor(few), "'progress' must be TRUE or FALSE, not \"perhaps\"")
})

test_that("cli shows a bar, or hands it on to who listens", {
  skip_if_not_installed("cli")
  lines <- with_options(list(gpucor.progress_quiet = 0, gpucor.progress_display = "cli", gpucor.threads = 1,
                             gpucor.backend = "cpu", cli.progress_handlers_only = "logger"), {
    utils::capture.output(invisible(pickPower(x, seq(1, 16, 0.2), progress = TRUE)))
  })
  steps <- as.numeric(sub(".* ([0-9.]+)/1000 .*", "\\1", lines))
  expect_false(is.unsorted(steps))
  expect_gt(max(steps), 500)
  expect_match(lines[1], "created$")
  expect_match(lines[length(lines)], "terminated")
  expect_null(job_here())
})

test_that("a handler that leaves by a jump leaves nothing behind", {
  leave <- function(how) {
    with_options(list(gpucor.progress_quiet = 0, gpucor.progress_log = 0, gpucor.progress_display = "log",
                      gpucor.threads = 1), how(pickPower(x, seq(1, 16, 0.2), progress = TRUE)))
  }
  expect_identical(leave(function(call) tryCatch(call, message = function(condition) "left")), "left")
  expect_null(job_here())
  expect_error(leave(function(call) withCallingHandlers(call, message = function(condition) stop("by an error"))),
               "by an error")
  gone <- leave(function(call) {
    withRestarts(withCallingHandlers(call, message = function(condition) invokeRestart("away")),
                 away = function() "gone")
  })
  expect_identical(gone, "gone")
  expect_nothing_left()
  expect_identical(as.vector(gpuCor(x[, 1:3])), as.vector(gpuCor(x[, 1:3])))
})
