# The products on tensor cores against the CPU back end: sizes one off what a block, a piece of a column
# and a tile hold, both kinds of instructions, and tiles with more edges than there is room for.

# GPUCOR_NO_WGMMA: what GPUs before Hopper run, which newer ones can, too.
instructions <- list(newest = c(GPUCOR_NO_WGMMA = NA), older = c(GPUCOR_NO_WGMMA = "1"))

data_of <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var)
  list(untied = x, tied = round(x, 1), mixed = cbind(x[, -1], round(x[, 1])), holes = with_missing(x, 0.002),
       constants = with_constants(x))
}

expect_same_network <- function(...) {
  both <- lapply(c("cpu", "cuda"), function(backend) suppressWarnings(gpuCorNetwork(..., backend = backend)))
  slots <- lapply(both, function(net) list(net@p, net@i, net@x, net@threshold))
  expect_identical(slots[[2]], slots[[1]])
}

for (kind in names(instructions)) {
  env <- instructions[[kind]]

  test_that(paste("coefficients of signs are exact:", kind), {
    skip_without_gpu()
    # 1,024 signs are a piece: 45 observations have 990, 46 have 1,035.
    for (n_obs in c(2, 45, 46, 65)) for (n_var in c(2, 127, 257)) for (x in data_of(n_obs, n_var)) {
      run <- function(backend, ...) {
        suppressWarnings(gpuCor(..., method = "kendall", output = "matrix", backend = backend))
      }
      with_env(env, {
        expect_identical(run("cuda", x), run("cpu", x))
        expect_identical(run("cuda", x, x[, seq_len(n_var / 2), drop = FALSE]),
                         run("cpu", x, x[, seq_len(n_var / 2), drop = FALSE]))
      })
    }
  })

  test_that(paste("long columns, whose bits are kept, opened for a tile, or in slices:", kind), {
    skip_without_gpu()
    for (n_obs in c(1024, 1025, 1800, 4097)) for (x in data_of(n_obs, 9)[1:3]) with_env(env, {
      expect_identical(suppressWarnings(gpuCorTriangle(x, method = "kendall", backend = "cuda")),
                       suppressWarnings(gpuCorTriangle(x, method = "kendall", backend = "cpu")))
      expect_same_network(x, threshold = 0.01, method = "kendall")
    })
  })

  test_that(paste("signs of many observations, in larger blocks:", kind), {
    skip_without_gpu()
    # From 363 observations there are 65 pieces; 512 rows and 192 columns are a cluster's block.
    for (n_obs in c(361, 363, 1100)) for (n_var in c(191, 193, 511, 513, 1030)) {
      for (x in data_of(n_obs, n_var)[c("untied", "mixed")]) with_env(env, {
        expect_same_network(x, threshold = 0.05, method = "kendall")
        expect_same_network(x[, 1:190], x, threshold = 0.05, sign = "negative", method = "kendall")
      })
    }
    expect_nothing_live()
  })

  for (method in all_methods) test_that(paste("networks are the same:", method, kind), {
    skip_without_gpu()
    # 64 halves are a piece; 256 rows and columns a block.
    for (n_obs in c(63, 65)) for (n_var in c(255, 257, 1100)) for (x in data_of(n_obs, n_var)) with_env(env, {
      expect_same_network(x, threshold = 0.25, method = method)
      expect_same_network(x, threshold = 0.25, sign = "positive", method = method)
      expect_same_network(x[, 1:200], x, threshold = 0.25, sign = "negative", method = method)
      expect_same_network(x, density = 0.01, method = method)
      expect_same_network(x, k = 5, method = method)
    })
    expect_nothing_live()
  })

  test_that(paste("several panels and many tiles are one network:", kind), {
    skip_without_gpu()
    x <- normal(20, 9000)
    for (method in c("pearson", "kendall")) with_env(env, {
      at_once <- gpuCorNetwork(x, threshold = 0.8, method = method, backend = "cuda")
      rounds <- gpuCorNetwork(x, threshold = 0.8, method = method, backend = "cuda", memory = 1)
      expect_identical(rounds@x, at_once@x)
      expect_identical(rounds@i, at_once@i)
      expect_identical(rounds@p, at_once@p)
    })
  })

  test_that(paste("more edges than there is room for in a tile:", kind), {
    skip_without_gpu()
    x <- normal(6, 6500) # 21 million pairs, all of them edges; at once a tile has at most 16.8
    for (method in c("pearson", "kendall")) with_env(env, {
      net <- gpuCorNetwork(x, threshold = 0, method = method, backend = "cuda")
      expect_equal(net@edges, choose(6500, 2))
      expect_identical(net@i, sequence(0:6499) - 1L)
      dense <- gpuCorTriangle(x, method = method, order = "column", backend = "cuda")
      expect_equal(net@x, as.vector(dense), tolerance = 1e-6)
    })
  })
}
