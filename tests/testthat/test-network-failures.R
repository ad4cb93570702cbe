# gpuCorNetwork() and gpuConnectivity() where memory or a GPU fails, or a user interrupts.

for (backend in backends()) for (resource in resources_of(backend)) {
  for (turn in seq_along(all_methods)) {
    method <- all_methods[turn]
    test_that(paste(backend, method, "fails cleanly wherever the", resource, "fails"), {
      complete <- rounded(12, 70)
      holes <- with_missing(complete, 0.1)
      runs <- list(
        threshold = function(...) gpuCorNetwork(complete, threshold = 0.5, ...),
        density = function(...) gpuCorNetwork(complete, density = 0.1, ...),
        k = function(...) gpuCorNetwork(complete, k = 3, ...),
        p.value = function(...) gpuCorNetwork(complete[, 1:20], p.value = 0.1, ...),
        fdr = function(...) gpuCorNetwork(complete[, 1:20], fdr = 0.5, sign = "positive", ...),
        `threshold, y` = function(...) gpuCorNetwork(complete[, 1:30], complete[, 31:70], threshold = 0.5, ...),
        `k, y` = function(...) gpuCorNetwork(complete[, 1:30], complete[, 31:70], k = 3, mutual = TRUE, ...),
        `density, pairwise` = function(...) gpuCorNetwork(holes, density = 0.1, use = "pairwise", ...),
        `complete.obs` = function(...) gpuCorNetwork(holes[, 1:3], threshold = 0.1, use = "complete.obs", ...),
        connectivity = function(...) gpuConnectivity(complete, density = 0.1, power = 2, histogram = TRUE, ...),
        `connectivity, density` = function(...) gpuConnectivity(complete, density = 0.1, ...),
        `connectivity, pairwise` = function(...) gpuConnectivity(holes, threshold = 0.5, use = "pairwise", ...)
      )
      if (!full_tier()) { # every run by one method, but for those like others
        runs <- runs[setdiff(names(runs), c("p.value", "threshold, y", "connectivity, density"))]
        runs <- runs[seq_along(runs) %% length(all_methods) == turn - 1]
      }
      for (name in names(runs)) {
        run <- function() suppressWarnings(runs[[name]](method = method, backend = backend))
        messages <- walk_failures(run, resource, paste(backend, method, name), expect_nothing_left)
        expect_match(unique(messages), ways_out[[resource]])
      }
    })
  }

  test_that(paste(backend, "fails cleanly in the middle of rounds when the", resource, "fails"), {
    skip_unless_full()
    wide <- rounded(3, c(cpu = 2048, cuda = 4096)[[backend]] + 5)
    run <- function(f, ...) suppressWarnings(f(wide, ..., backend = backend, memory = 1))
    neighbours <- function() run(gpuCorNetwork, wide[, 1:10], k = 2, method = "kendall")
    walk_failures(neighbours, resource, "rounds, k", expect_nothing_left)
    sums <- function() run(gpuConnectivity, threshold = 0.9)
    walk_failures(sums, resource, "rounds, connectivity", expect_nothing_left)
  })
}

test_that("a network of many edges that fails half way leaves nothing behind", {
  skip_unless_full()
  x <- rounded(6, 700) # more edges than one piece of memory for them holds
  for (backend in backends()) {
    run <- function() suppressWarnings(gpuCorNetwork(x, threshold = 0, backend = backend, threads = 1))
    walk_failures(run, "host", backend, expect_nothing_left)
  }
})

test_that("a warning turned into an error leaves nothing behind", {
  x <- with_constants(normal(10, 5))
  with_options(list(warn = 2), {
    expect_error(gpuCorNetwork(x, threshold = 0.1), "standard deviation")
    expect_error(gpuConnectivity(x, density = 0.1), "standard deviation")
  })
  expect_nothing_left()
})

long_work <- list(
  threshold = function(x, folder) gpuCorNetwork(x, threshold = 0.9, method = "kendall"),
  connectivity = function(x, folder) gpuConnectivity(x, density = 0.01, method = "kendall"),
  file = function(x, folder) gpuCorNetwork(x, threshold = 0.9, method = "kendall", file = file.path(folder, "net.h5ad"))
)

for (backend in backends()) for (name in names(long_work)) {
  test_that(paste(backend, name, "stops at once when interrupted"), {
    skip_unless_full()
    skip_without_children()
    if (name == "file") skip_if_not_installed("rhdf5")
    result <- expect_stops_at_once(start_work(long_work[[name]], long_jobs[[backend]]$kendall, backend))
    expect_identical(result$left, character())
  })
}

test_that("the strongest of many edges are found without a sort, the first of equal ones, by any number of threads", {
  for (n in c(0, 1, 5, 6, 7, 40, 5000)) {
    x <- round(sin(seq_len(n)^2), 2)
    x[n - 1] <- -Inf
    first <- as.numeric(utils::head(order(-abs(x)), 6))
    strongest <- function(threads) .Call(gpucor:::r_summary, x, numeric(), 6L, threads)$strongest
    for (threads in 1:3) expect_identical(strongest(threads), first)
  }
})
