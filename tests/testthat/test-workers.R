# Several devices, or on the processor several workers, give the bytes that one gives.

# By each way to divide the work: a list of options and settings.
ways_to_divide <- function(backend) {
  if (backend == "cpu") return(lapply(2:4, function(n) list(options = list(gpucor.cpu_workers = n))))
  gpus <- nrow(gpuInfo()$devices)
  ways <- list(list(devices = 0), list(devices = gpus - 1))
  if (gpus > 1) ways <- c(ways, list(list(devices = "all"), list(devices = rev(seq_len(gpus) - 1))))
  ways
}

# However small the work is, all share it.
shared <- function(code) {
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit(.Call(gpucor:::r_set_shared_steps, 0))
  force(code)
}

slots_of <- function(net) list(net@p, net@i, net@x, net@threshold)

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
    sums = quiet(gpuConnectivity, x, threshold = 0.3, power = c(1, 6.5), ...)
  )
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "is the same by any number of workers"), {
    for (n_var in c(2, 65, 1100)) for (x in list(normal(21, n_var), rounded(21, n_var))) {
      y <- normal(21, 3, seed = 5) + x[, 1]
      alone <- results_of(x, y, method, backend)
      for (way in ways_to_divide(backend)) {
        divided <- shared(with_options(as.list(way$options), {
          if (is.null(way$devices)) results_of(x, y, method, backend) else
            results_of(x, y, method, backend, devices = way$devices)
        }))
        expect_identical(divided, alone, label = paste(n_var, deparse1(way)))
      }
    }
    expect_nothing_live()
  })

  test_that(paste(backend, method, "is the same for pairs of common observations by several workers"), {
    x <- with_missing(rounded(20, 150), 0.1)
    run <- function(...) suppressWarnings(gpuCor(x, use = "pairwise", method = method, backend = backend, ...))
    alone <- run()
    for (way in ways_to_divide(backend)) {
      divided <- shared(with_options(as.list(way$options),
                                     if (is.null(way$devices)) run() else run(devices = way$devices)))
      expect_identical(divided, alone)
    }
  })
}

test_that("'devices' is a GPU's number, several, or all", {
  x <- normal(10, 4)
  for (bad in list(-1, 0.5, "first", NA, numeric(), 1000, c(0, 0))) {
    if ("cuda" %in% backends()) {
      expect_error(gpuCor(x, backend = "cuda", devices = bad), "'devices' must be a GPU's number")
      expect_error(chooseGpu(bad), "'deviceId' must be a GPU's number")
    }
    expect_silent(gpuCor(x, backend = "cpu", devices = bad)) # has no meaning there
  }
})
