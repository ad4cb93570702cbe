# Several devices, or several workers on one, give the bytes that one gives.

# Ways to divide the work: how many workers a device has, and which devices.
ways_to_divide <- function(backend) {
  ways <- lapply(2:4, function(n) list(workers = n, devices = 0))
  gpus <- if (backend == "cuda") nrow(gpuInfo()$devices) else 1
  if (gpus > 1) {
    ways <- c(ways, list(list(workers = 1, devices = gpus - 1), list(workers = 1, devices = "all"),
                         list(workers = 2, devices = rev(seq_len(gpus) - 1))))
  }
  ways
}

# However small the work is, all share it.
divided <- function(way, code) {
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit(.Call(gpucor:::r_set_shared_steps, 0))
  with_options(list(gpucor.workers_per_device = way$workers, gpucor.devices = way$devices), code)
}

results_of <- function(x, y, method, backend, ...) {
  quiet <- function(f, ...) suppressWarnings(f(..., method = method, backend = backend))
  list(
    row = quiet(gpuCorTriangle, x, ...),
    column = quiet(gpuCorTriangle, x, order = "column", memory = 1, ...),
    matrix = quiet(gpuCor, x, output = "matrix", ...),
    rectangle = quiet(gpuCor, x, y, ...),
    threshold = slots_of(quiet(gpuCorNetwork, x, threshold = 0.4, ...)),
    density = slots_of(quiet(gpuCorNetwork, x, density = 0.02, ...)),
    between = slots_of(quiet(gpuCorNetwork, x, y, threshold = 0.3, ...)),
    neighbours = slots_of(quiet(gpuCorNetwork, x, k = 3, ...)),
    mutual = slots_of(quiet(gpuCorNetwork, x, k = 3, mutual = TRUE, ...)),
    both = slots_of(quiet(gpuCorNetwork, x, y, k = 3, ...)),
    degrees = quiet(gpuConnectivity, x, threshold = 0.3, ...),
    sums = quiet(gpuConnectivity, x, threshold = 0.3, power = c(1, 6.5), histogram = TRUE, ...)
  )
}

for (backend in backends()) {
  test_that(paste(backend, "is the same by any number of workers"), {
    ways <- ways_to_divide(backend)
    rows <- covering(method = all_methods, n_var = c(2, 65, 1100), data = c("normal", "rounded"), way = seq_along(ways))
    rows <- rows[order(rows$method, rows$n_var, rows$data), ]
    known <- ""
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      x <- switch(row$data, normal = normal(21, row$n_var), rounded = rounded(21, row$n_var))
      run <- function() results_of(x, normal(21, 3, seed = 5) + x[, 1], row$method, backend)
      problem <- paste(row$method, row$n_var, row$data)
      if (problem != known) alone <- run()
      known <- problem
      way <- ways[[row$way]]
      expect_identical(divided(way, run()), alone, label = paste(problem, deparse1(way)))
    }
    expect_nothing_live()
  })
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "is the same for pairs of common observations by several workers"), {
    x <- with_missing(rounded(20, 150), 0.1)
    run <- function(...) suppressWarnings(gpuCor(x, use = "pairwise", method = method, backend = backend, ...))
    alone <- run()
    for (way in ways_to_divide(backend)) {
      expect_identical(divided(way, run()), alone, label = deparse1(way))
    }
  })
}

test_that("'devices' is a GPU's number, several, or all", {
  x <- normal(10, 4)
  for (bad in list(-1, 0.5, "first", "cuda", TRUE, NA, numeric(), c(0, 0), 1000)) {
    if ("cuda" %in% backends()) {
      expect_error(gpuCor(x, backend = "cuda", devices = bad), "'devices' must be a GPU's number")
      expect_error(chooseGpu(bad), "'deviceId' must be a GPU's number")
    }
    if (identical(bad, 1000)) next
    expect_error(gpuCor(x, backend = "cpu", devices = bad), "'devices' must be a GPU's number, .* backend = \"cuda\"")
  }
  # A call that names GPUs runs where there are none, or others.
  for (good in list(0, c(1, 0), 1000, "0,1", "all")) expect_silent(gpuCor(x, backend = "cpu", devices = good))
})
