# Several thresholds, densities or ks in one run: the networks of as many calls.

same_but_call <- function(ours, truth) {
  if (isS4(ours)) ours@call <- truth@call
  identical(ours, truth)
}

# One call with all values, and one for each.
expect_several <- function(criterion, values, ..., label = "") {
  run <- function(value) {
    suppressWarnings(do.call(gpuCorNetwork, c(list(...), by_criterion(criterion, value))))
  }
  ours <- run(values)
  expect_length(ours, length(values))
  expect_equal(as.numeric(names(ours)), values, tolerance = 1e-14)
  for (v in seq_along(values)) {
    expect(same_but_call(ours[[v]], run(values[v])), paste(label, criterion, values[v], "differs"))
  }
  invisible(ours)
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "has several networks of one run"), {
    data <- list(normal = normal(30, 257), ties = heavy_ties(12, 129), constants = with_constants(normal(20, 65)))
    for (name in names(data)) {
      x <- data[[name]]
      for (sign in all_signs) {
        several <- function(...) {
          expect_several(..., x = x, sign = sign, method = method, backend = backend, label = paste(name, sign))
        }
        several("density", c(0.01, 1e-4, 0.3, 0.01))
        several("threshold", c(0.5, 0, 0.9, 1))
        several("k", c(3, 1, 300, 7, 3))
      }
    }
    several <- function(...) expect_several(..., x = x, method = method, backend = backend)
    several("k", c(2, 5), mutual = TRUE)
    several("density", c(0.1, 0.02), output = "edges")
    several("k", c(4, 1), y = data$constants[, 10:1])
    several("density", c(0.5, 0.1), y = data$constants[, 10:1])
    x <- with_missing(data$constants, 0.1)
    several("density", c(0.1, 0.02), use = "pairwise")
    several("k", c(4, 1), use = "pairwise")
    expect_nothing_left()
  })
}

test_that("several densities are found from a sample of the columns and by several workers", {
  x <- normal(20, 700)
  with_values(list(MIN_SAMPLE = 100, SAMPLE_EDGES = 100, SAMPLE_MARGIN = 1.5, SAMPLE_MORE = 0), {
    expect_several("density", c(0.01, 0.05, 0.001), x = x)
  })
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit(.Call(gpucor:::r_set_shared_steps, 0))
  with_options(list(gpucor.workers_per_device = 3L), {
    expect_several("density", c(0.01, 0.05), x = x)
    expect_several("k", c(4, 2), x = x)
  })
})

test_that("a plan has several networks, too", {
  x <- normal(20, 300)
  for (criterion in list(list(density = c(0.01, 0.1)), list(k = c(2, 5, 3)), list(threshold = c(0.5, 0.3)))) {
    path <- tempfile("plan")
    do.call(quiet_plan, c(list(path, x, shards = 3), criterion))
    quiet_run(path)
    expect_true(all(mapply(same_but_call, gpuCorCollect(path), do.call(gpuCorNetwork, c(list(x), criterion)))))
    unlink(path, recursive = TRUE)
  }
  expect_nothing_left()
})

test_that("what has no several values says so", {
  x <- normal(10, 5)
  expect_error(gpuCorNetwork(x, k = 1:2, file = tempfile()), "'k' has 2 values, and 'file' takes one network")
  for (criterion in c("p.value", "fdr")) {
    expect_error(do.call(gpuCorNetwork, c(list(x), by_criterion(criterion, c(0.1, 0.2)))),
                 paste0("'", criterion, "' must be a number above 0"))
  }
  expect_error(gpuCorNetwork(x, density = c(0.1, 0)), "'density' must be a number above 0 and up to 1, not 0")
})
