# Ctrl-C and the progress line, in a child process.

for (backend in backends()) {
  test_that(paste(backend, "stops at once when interrupted, whatever it computes"), {
    skip_without_children()
    jobs <- long_jobs[[backend]]
    child <- start_child(jobs, backend)
    on.exit(child$process$kill())
    for (k in seq_along(jobs)) {
      result <- interrupt_job(child, k)
      label <- paste(backend, names(jobs)[k])
      cat(sprintf("%s: stopped %.2f s after the interrupt\n", label, result$seconds))
      expect_identical(result$ended, "interrupted", label = label)
      expect_lt(result$seconds, 2, label = label) # half a second, on a machine with nothing else to do
      expect_identical(result$live, list(host = 0, device = 0), label = label)
      expect_lt(result$error, 1e-6, label = label)
      # Nobody asked for a progress line.
      expect_identical(trimws(stderr_of(child)), "", label = label)
    }
  })

  test_that(paste(backend, "shows progress with the time left, after two seconds, and none of short work"), {
    skip_unless_full()
    skip_without_children()
    jobs <- list(list(n_obs = 50, n_var = 20, method = "pearson"), long_jobs[[backend]]$kendall)
    child <- start_child(lapply(jobs, c, progress = TRUE), backend)
    on.exit(child$process$kill())
    shown <- function() grepl("gpucor: [0-9]+ %, pairs, .*([0-9]+ (s|min|h) )+left", stderr_of(child))
    result <- interrupt_job(child, 2, after = 0, meanwhile = function() {
      expect_identical(readRDS(child$files$results[1])$ended, "finished")
      expect_identical(trimws(stderr_of(child)), "")
      expect_true(wait_until(shown, 20), label = paste("a line with the time left in", dQuote(stderr_of(child), FALSE)))
    })
    expect_identical(result$ended, "interrupted")
    expect_no_match(stderr_of(child), "finished")
  })
}
