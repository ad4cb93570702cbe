# Threads of the processor: results are those of one thread, whichever threads the build has.

test_that("results are the same on one thread and on three", {
  x <- normal(60, 300)
  gaps <- replace(x, seq(1, length(x), by = 41), NA)
  calls <- list(
    function(threads) gpuCor(x, threads = threads, backend = "cpu"),
    function(threads) gpuCor(x, method = "kendall", threads = threads, backend = "cpu"),
    function(threads) gpuCor(gaps, use = "pairwise", threads = threads, backend = "cpu"),
    function(threads) gpuCorNetwork(x, density = 0.05, threads = threads, backend = "cpu"),
    function(threads) gpuCorNetwork(x, k = 5, threads = threads, backend = "cpu"),
    function(threads) gpuConnectivity(x, power = c(1, 2.3, 6), threads = threads, backend = "cpu"),
    function(threads) gpuTOM(x, power = 6, threads = threads, backend = "cpu"),
    function(threads) gpuCorWindows(x, width = 30, step = 10, output = "moments", threads = threads, backend = "cpu"),
    function(threads) gpuCor(list(x, x^3), combine = "fisher", threads = threads, backend = "cpu"),
    function(threads) gpuCorTest(x, threads = threads, backend = "cpu")
  )
  for (k in seq_along(calls)) expect_identical(calls[[k]](3), calls[[k]](1), label = paste("call", k))
})
