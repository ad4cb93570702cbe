# Ctrl-C and the progress line, in a child process.

for (backend in backends()) for (name in names(long_jobs[[backend]])) {
  test_that(paste(backend, name, "stops at once when interrupted"), {
    skip_without_children()
    child <- start_child(long_jobs[[backend]][[name]], backend)
    on.exit(child$process$kill())
    expect_true(wait_until(function() file.exists(child$files$ready), 60))
    Sys.sleep(1)
    result <- interrupt_child(child)
    cat(sprintf("%s, %s: stopped %.2f s after the interrupt\n", backend, name, result$seconds))
    expect_identical(result$ended, "interrupted")
    expect_lt(result$seconds, 2) # half a second, on a machine with nothing else to do
    expect_identical(result$live, list(host = 0, device = 0))
    expect_lt(result$error, 1e-6)
    # Nobody asked for a progress line.
    expect_identical(trimws(stderr_of(child)), "")
  })
}

for (backend in backends()) {
  test_that(paste(backend, "shows progress with the time left, after two seconds"), {
    skip_without_children()
    child <- start_child(long_jobs[[backend]]$kendall, backend, progress = TRUE)
    on.exit(child$process$kill())
    expect_true(wait_until(function() file.exists(child$files$ready), 60))
    Sys.sleep(1)
    expect_identical(trimws(stderr_of(child)), "")
    shown <- function() grepl("\\[=* *\\] +[0-9]+ %, pairs, .*([0-9]+ (s|min|h) )+left", stderr_of(child))
    expect_true(wait_until(shown, 6), label = paste("a bar with the time left in", dQuote(stderr_of(child), FALSE)))
    result <- interrupt_child(child)
    expect_identical(result$ended, "interrupted")
    # The line is wiped: the last thing on it is blank.
    expect_match(stderr_of(child), "\r {40,}\r$")
  })
}

test_that("short work shows no progress even when asked", {
  skip_without_children()
  text <- callr::r(function() {
    stderr <- tempfile()
    sink(file(stderr, "w"), type = "message")
    gpucor::gpuCor(matrix(rnorm(1000), 50), threads = 1, progress = TRUE)
    sink(type = "message")
    readLines(stderr)
  })
  expect_identical(text, character())
})
