# parallel::mclapply() forks R: the engine must work in the child although its threads are gone.

# A child that hangs cannot be waited for.
in_fork <- function(code, seconds = 20) {
  job <- parallel::mcparallel(code)
  result <- parallel::mccollect(job, wait = FALSE, timeout = seconds)
  if (is.null(result)) kill_fork(job)
  suppressWarnings(parallel::mccollect(job)) # a child remains until collected, and may be by now
  result[[1]]
}

for (method in all_methods) {
  test_that(paste(method, "computes in a forked child after its parent has"), {
    skip_on_os("windows")
    x <- rounded(20, 300)
    run <- function(...) gpuCor(x, method = method, output = "matrix", ...)
    truth <- run(threads = 2)
    gc() # results of earlier tests
    child <- in_fork(list(auto = run(), threads = run(backend = "cpu", threads = 2), live = live()))
    expect_equal(child$auto, truth, tolerance = tolerance[[method]])
    expect_equal(child$threads, truth, tolerance = tolerance[[method]])
    expect_identical(child$live, list(host = 0, device = 0))
    expect_equal(run(), truth, tolerance = tolerance[[method]])
  })
}

test_that("parallel::mclapply() works", {
  skip_on_os("windows")
  x <- rounded(20, 40)
  gpuCor(x)
  run <- function(method) gpuCor(x, method = method, output = "matrix")
  skip_if(is.null(in_fork(run("kendall"))), "a forked child hangs, and mclapply() would, too")
  results <- parallel::mclapply(all_methods, run, mc.cores = 2)
  for (k in seq_along(all_methods)) {
    expect_equal(results[[k]], cor(x, method = all_methods[k]), tolerance = tolerance[[k]])
  }
})
