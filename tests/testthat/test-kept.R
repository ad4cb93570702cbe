# Edges that stay on the GPU until it is known which of them are wanted, against the CPU back end. GPUCOR_KEEP_FROM: how
# many pairs are enough for that.

kept_slots <- function(..., from = "1") {
  with_env(c(GPUCOR_KEEP_FROM = from), slots_of(suppressWarnings(gpuCorNetwork(..., backend = "cuda"))))
}

expect_kept <- function(...) {
  expect_identical(kept_slots(...), slots_of(suppressWarnings(gpuCorNetwork(..., backend = "cpu"))))
}

for (method in all_methods) {
  test_that(paste("networks of edges that stayed are the same:", method), {
    skip_without_gpu()
    x <- normal(40, 700)
    for (data in list(x, round(x, 1), with_constants(x), with_missing(x, 0.002))) for (sign in all_signs) {
      expect_kept(data, threshold = 0.2, sign = sign, method = method)
      expect_kept(data, data[, 5:90], threshold = 0.1, sign = sign, method = method, use = "pairwise")
      expect_kept(data, fdr = 0.4, sign = sign, method = method, use = "complete.obs")
      # All pairs come, and the weaker ones go.
      expect_kept(data, density = 0.01, sign = sign, method = method)
    }
    for (threshold in 0:1) expect_kept(x, threshold = threshold, method = method)
    expect_kept(x, p.value = 1e-3, method = method)
    expect_kept(x[, 1:2], threshold = 0.999, method = method)
    gc()
    expect_nothing_live()
  })
}

test_that("edges stay in several tiles, and land where they find no room", {
  skip_without_gpu()
  x <- normal(20, 20000)
  net <- slots_of(gpuCorNetwork(x, threshold = 0.5, backend = "cpu"))
  expect_gt(length(net[[2]]), 2^22) # more than a first piece of memory holds
  expect_identical(kept_slots(x, threshold = 0.5), net)
  for (memory in c(1e6, 256e6)) expect_identical(kept_slots(x, threshold = 0.5, memory = memory), net)
  expect_identical(kept_slots(x, density = 0.001), slots_of(gpuCorNetwork(x, density = 0.001, backend = "cpu")))
})

test_that("edges that stay with several workers become one network", {
  skip_without_gpu()
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit(.Call(gpucor:::r_set_shared_steps, 0))
  x <- round(normal(20, 6000), 1)
  with_options(list(gpucor.workers_per_device = 3), {
    for (memory in list(NULL, 1e6, 100e6)) for (method in c("pearson", "kendall")) {
      expect_kept(x, threshold = 0.4, memory = memory, method = method)
      expect_kept(x, density = 0.01, memory = memory, method = method)
    }
    expect_identical(without_call(with_env(c(GPUCOR_KEEP_FROM = "1"), gpuConnectivity(x, density = 0.01))),
                     without_call(gpuConnectivity(x, density = 0.01, backend = "cpu")))
  })
  gc()
  expect_nothing_live()
})

test_that("connectivity by density is the same where edges stay", {
  skip_without_gpu()
  x <- round(normal(30, 600), 1)
  for (power in list(NULL, 2)) {
    run <- function(backend) {
      gpuConnectivity(x, density = 0.02, power = power, method = "kendall", backend = backend)[c("degree", "strength")]
    }
    expect_identical(with_env(c(GPUCOR_KEEP_FROM = "1"), run("cuda")), run("cpu"))
  }
})

test_that("degrees and strengths of edges that stayed are the same in windows, of every sign, over several tiles", {
  skip_without_gpu()
  x <- with_constants(round(normal(60, 500), 1))
  wide <- normal(20, 20000)
  windows <- function(x, ..., backend) {
    w <- with_env(c(GPUCOR_KEEP_FROM = "1"), gpuCorWindows(x, output = "connectivity", backend = backend, ...))
    w[c("degree", "strength", "threshold")]
  }
  expect_same <- function(...) expect_identical(windows(..., backend = "cuda"), windows(..., backend = "cpu"))
  for (sign in all_signs) for (method in c("pearson", "kendall")) {
    suppressWarnings(expect_same(x, width = 30, step = 10, density = 0.05, sign = sign, method = method))
  }
  expect_same(wide, width = 12, step = 8, density = 0.001)
  expect_same(wide, width = 12, step = 8, density = 0.001, memory = 256e6)
})

test_that("edges that stay survive the session, and not a fork", {
  skip_without_gpu()
  x <- normal(30, 300)
  run <- run_on("cuda", x = x, criterion = list(name = "threshold", value = 0.2))
  run <- gpucor:::with_criterion(run, stays = "rows")
  pass <- with_env(c(GPUCOR_KEEP_FROM = "1"), gpucor:::edge_pass(run, 0.2))
  forked <- parallel::mclapply(1:2, function(i) tryCatch(gpucor:::store_rank(pass, 5, run), error = conditionMessage))
  expect_match(forked[[1]], "process that this one was forked from")
  .Call(gpucor:::r_live) # closes the session
  r <- abs(cor(x))
  expect_equal(gpucor:::store_rank(pass, 5, run), sort(r[upper.tri(r)], decreasing = TRUE)[5], tolerance = 1e-6)
  rows <- gpucor:::take_rows(gpucor:::kept_edges(pass, 0.2), run)
  expect_identical(rows$x, gpuCorNetwork(x, threshold = 0.2, backend = "cpu")@x)
})

for (resource in resources_of("cuda")) {
  test_that(paste("edges that stay fail cleanly wherever the", resource, "fails"), {
    skip_without_gpu()
    x <- rounded(12, 460)
    runs <- list(threshold = function() slots_of(gpuCorNetwork(x, threshold = 0.3, backend = "cuda")),
                 # 105,570 edges come first
                 density = function() slots_of(gpuCorNetwork(x, density = 0.01, backend = "cuda")),
                 degrees = function() gpuConnectivity(x, density = 0.01, backend = "cuda"))
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    for (workers in 1:2) with_options(list(gpucor.workers_per_device = workers), {
      with_env(c(GPUCOR_KEEP_FROM = "1"), for (name in names(runs)) {
        walk_failures(runs[[name]], resource, paste("kept", name, workers), function(label) {
          gc()
          expect_nothing_live(label)
        }, may_survive = workers > 1)
      })
    })
  })
}
