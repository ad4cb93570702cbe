# The network of a given density: with a sample of the columns and without one the same.

# From a bound that a sample of `columns` gave, and whether that was low enough.
with_sample <- function(columns, code, ...) {
  used <- NULL
  sampled_edges <- gpucor:::sampled_edges
  spy <- function(run, k) {
    edges <- sampled_edges(run, k)
    used <<- c(used, !is.null(edges))
    edges
  }
  limits <- list(MIN_SAMPLE = columns, SAMPLE_EDGES = 100, SAMPLE_MARGIN = 1.5, SAMPLE_MORE = 0,
                 sampled_edges = spy)
  net <- with_values(utils::modifyList(limits, list(...)), code)
  list(net = net, used = used)
}

without_sample <- function(code) with_values(list(SAMPLE_COLUMNS = 0), code)

# A few modules among noise, and neighbours that are alike.
modules <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var)
  centre <- normal(n_obs, 3, seed = 2)
  for (j in seq_len(n_var %/% 4)) x[, j] <- x[, j] + centre[, j %% 3 + 1]
  for (j in seq(n_var %/% 2 + 1, n_var)) x[, j] <- x[, j] + x[, j - 1]
  x
}

expect_sampled <- function(columns, ..., sampled = TRUE, label = "") {
  truth <- without_sample(quiet_network(...))
  ours <- with_sample(columns, quiet_network(...))
  expect_same_network(ours$net, truth, label)
  if (!is.na(sampled)) expect_identical(ours$used, sampled, label = paste(label, "use of the sample"))
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "has the same network with and without a sample"), {
    run <- function(..., label, columns = 100) {
      expect_sampled(columns, ..., method = method, backend = backend, label = paste(method, label))
    }
    data <- list(normal = normal(40, 700), modules = modules(30, 700), missing = with_missing(normal(40, 700), 0.02),
                 constants = with_constants(normal(40, 700)))
    for (name in names(data)) {
      x <- data[[name]]
      use <- if (name == "missing") "pairwise" else "everything"
      signs <- if (full_tier()) all_signs else all_signs[match(name, names(data)) %% 3 + 1]
      for (sign in signs) run(x, density = 0.05, sign = sign, use = use, label = paste(name, sign))
      run(x[, 1:20], x, density = 0.1, use = use, columns = 60, label = paste(name, "with a narrow x"))
      run(x, x[, 20:1], density = 0.1, use = use, columns = 60, label = paste(name, "with a narrow y"))
      run(x[, 1:350], x[, 351:700], density = 0.1, use = use, sampled = if (name == "modules") NA else TRUE,
          label = paste(name, "with y"))
    }
    for (density in c(0.02, 0.2, 0.7, 1)) run(data$normal, density = density, label = density)
    run(Matrix::Matrix(heavy_ties(60, 700), sparse = TRUE), density = 0.05, label = "sparse")
    expect_nothing_left()
  })

  test_that(paste(backend, method, "sorts the sample if coefficients are small"), {
    for (sign in all_signs) {
      # All thresholds are below MIN_BINS bins.
      truth <- without_sample(quiet_network(normal(40, 700), density = 0.05, sign = sign, method = method,
                                            backend = backend))
      ours <- with_sample(100, MIN_BINS = 20000,
                          quiet_network(normal(40, 700), density = 0.05, sign = sign, method = method,
                                        backend = backend))
      expect_same_network(ours$net, truth, sign)
      expect_true(ours$used)
    }
  })

  test_that(paste(backend, method, "does without a sample that misleads"), {
    run <- function(..., columns = 60, sampled = TRUE) {
      expect_sampled(columns = columns, ..., method = method, backend = backend, label = method, sampled = sampled)
    }
    # Only the sample has strong pairs: too few edges. Only the others: the bound rises.
    columns <- floor((seq_len(60) * (sqrt(5) - 1) / 2) %% 1 * 600) + 1
    strong <- weak <- normal(30, 600)
    strong[, columns] <- strong[, columns] + 5 * strong[, columns[1]]
    weak[, -columns] <- weak[, -columns] + 5 * weak[, columns[1]]
    run(strong, density = 0.05, sampled = FALSE)
    run(weak, density = 0.05)
    # As many ties as there are pairs, or nearly.
    run(normal(2, 600), density = 0.05)
    run(normal(3, 600)[, rep(1:6, 100)], density = 0.05)
    # Observations that count depend on all columns.
    holes <- normal(30, 600)
    holes[cbind(1:10, 1:10)] <- NA
    run(holes, density = 0.05, use = "complete.obs", sampled = FALSE)
    expect_nothing_left()
  })
}

for (backend in backends()) for (method in c("kendall", "spearman")) {
  test_that(paste(backend, method, "keeps all ties at the sampled threshold"), {
    data <- list(rounded(9, 600), heavy_ties(16, 600))
    for (turn in 1:2) {
      x <- data[[turn]]
      r <- exact_cor(x, method = method)
      for (sign in if (full_tier()) all_signs else all_signs[turn + 0:1]) {
        weights <- ranked_weights(r, sign, TRUE)
        k <- c(4000, 9000)
        for (k in c(k, sum(weights >= weights[k[1]]))) {
          density <- (k - 0.5) / choose(600, 2)
          net <- with_sample(100, quiet_network(x, density = density, sign = sign, method = method,
                                                backend = backend))$net
          expect_network(net, r, !is.na(r) & weight_of(r, sign) >= weights[k], 0)
          expect_equal(net@threshold, weights[k], tolerance = 0)
        }
      }
    }
  })
}

test_that("a large network is sampled, a small one is not", {
  sample <- function(n_obs, n_var, density, y = NULL) {
    run <- run_on("cpu", x = matrix(0, n_obs, n_var), y = y, criterion = list(name = "density", value = density))
    gpucor:::sample_run(run, gpucor:::edges_of_density(density, run$pairs))
  }
  expect_null(sample(10, 200, 0.01))
  expect_identical(ncol(sample(10, 600, 0.01)$x), 128L)
  expect_identical(ncol(sample(10, 4000, 0.01)$x), 500L)
  expect_identical(ncol(sample(10, 20000, 0.01)$x), 2500L)
  expect_identical(sample(10, 20000, 0.01)$pairs, choose(2500, 2))
  expect_identical(ncol(sample(2, 150000, 0.001)$x), 16190L)
  with_y <- sample(10, 20000, 0.02, matrix(0, 10, 50))
  expect_identical(c(ncol(with_y$x), ncol(with_y$y)), c(2500L, 50L))
  expect_identical(with_y$pairs, 125000)
  # Long columns: fewer of them.
  with_values(list(SAMPLE_VALUES = 2^14), expect_identical(ncol(sample(100, 4000, 0.01)$x), 163L))
  for (n_var in c(4000, 20000, 65536)) {
    size <- n_var %/% 3
    columns <- gpucor:::sampled_columns(matrix(0, 1, n_var), size)
    expect_identical(anyDuplicated(c(columns)), 0L)
    expect_lt(max(diff(sort(columns))), 9)
  }
})

# ---- the k-th largest weight

# All edges of x from `least` on, and their weights.
stored <- function(x, least, sign, method, backend, ceiling = 2) {
  run <- run_on(backend, x = x, method = method, criterion = list(name = "density", value = 1), sign = sign)
  list(run = run, pass = gpucor:::edge_pass(run, least, ceiling))
}

for (backend in backends()) {
  test_that(paste(backend, "finds the weight of a rank, and how many there are"), {
    data <- list(normal = normal(20, 120), tied = rounded(4, 120), equal = normal(2, 120), few = normal(20, 2),
                 none = normal(1, 10), copies = normal(20, 5)[, rep(1:5, 20)])
    for_rows(covering(name = names(data), sign = all_signs, least = c(0, 0.3)), function(name, sign, least, label) {
      x <- data[[name]]
      all <- quiet_network(x, threshold = 0, sign = sign, backend = backend)
      weights <- sort(weight_of(all@x, sign), decreasing = TRUE)
      weights <- weights[weights >= least]
      store <- stored(x, least, sign, "pearson", backend)
      n <- length(weights)
      for (k in unique(pmax(1, c(1, 2, n %/% 2, n - 1, n)))) {
        truth <- if (k <= n) weights[k] + 0 else 0
        expect_identical(gpucor:::store_rank(store$pass, k, store$run), truth, label = paste(label, k))
      }
      expect_identical(gpucor:::store_rank(store$pass, n + 1, store$run), 0)
      for (from in c(0, least, 0.5, 1, 1.5, weights[n %/% 2])) {
        expect_identical(gpucor:::ask_store(store$pass, store$run, "count", from), sum(weights >= from) + 0)
      }
      # Those above the ceiling are larger than any.
      store <- stored(x, least, sign, "pearson", backend, ceiling = 0.6)
      above <- sum(weights >= 0.6)
      if (above > 0) expect_identical(gpucor:::store_rank(store$pass, above, store$run), Inf)
      if (above < n) expect_identical(gpucor:::store_rank(store$pass, above + 1, store$run), weights[above + 1])
      expect_identical(gpucor:::ask_store(store$pass, store$run, "count", 0.7), above + 0)
    })
  })

  test_that(paste(backend, "finds the rank among more weights than are looked at one by one"), {
    x <- cbind(rounded(5, 2400), normal(5, 520)) # of more than 2^22 pairs
    for (method in c("pearson", if (full_tier()) "kendall")) {
      store <- stored(x, 0, "absolute", method, backend)
      weights <- sort(abs(quiet_network(x, threshold = 0, method = method, backend = backend)@x), decreasing = TRUE)
      expect_gt(length(weights), 2^22)
      for (k in if (full_tier()) c(1, 1e3, 1e6, length(weights) - c(1e6, 1, 0)) else c(1e3, length(weights) - 1e6)) {
        expect_identical(gpucor:::store_rank(store$pass, k, store$run), weights[k], label = paste(method, k))
      }
    }
    rm(store)
    expect_nothing_left()
  })

  for (resource in resources_of(backend)) {
    test_that(paste(backend, "with a sample fails cleanly wherever the", resource, "fails"), {
      x <- normal(20, 400)
      run <- function() with_sample(60, gpuCorNetwork(x, density = 0.1, backend = backend))$net
      messages <- walk_failures(run, resource, paste(backend, "density"), expect_nothing_left)
      expect_match(unique(messages), ways_out[[resource]])
    })
  }
}

# Small stores raise their bound, too, for several workers or in shares: the k-th largest weight of more edges than are
# looked at one by one.
test_that("a pass that wants the k strongest edges finds them, and few others stay", {
  x <- cbind(rounded(6, 700), normal(6, 800))
  ascending <- x[, order(abs(suppressWarnings(cor(x, x[, 1]))))]
  rows <- covering(k = c(1, 1000, 40000, 300000, Inf), workers = 1:3, sign = all_signs,
                   method = c("pearson", "kendall"), order = c("as it is", "ascending"),
                   strength = if (full_tier()) 2 else 1)
  for_rows(rows, function(k, workers, sign, method, order, label) {
    x_now <- if (order == "ascending") ascending else x
    all <- quiet_network(x_now, threshold = 0, method = method, sign = sign, backend = "cpu")
    weight <- weight_of(all@x, sign)
    weights <- sort(weight, decreasing = TRUE)
    k <- min(k, length(weights) + 1)
    run <- run_on("cpu", x = x_now, method = method, criterion = list(name = "density", value = 1), sign = sign)
    pass <- with_options(list(gpucor.workers_per_device = workers),
                         gpucor:::edge_pass(run, 0, max = 2^53, wanted = k))
    threshold <- if (k <= length(weights)) weights[k] + 0 else 0
    expect_identical(gpucor:::store_rank(pass, k, run), threshold, label = label)
    kept <- gpucor:::ask_store(pass, run, "count", 0)
    if (k <= 40000 && method == "pearson") expect_lt(kept, length(weights) / 2, label = label)
    rows <- gpucor:::take_rows(gpucor:::kept_edges(pass, threshold), run)
    strong <- weight >= threshold
    expect_identical(rows$x, all@x[strong], label = label)
    expect_identical(rows$i, all@i[strong], label = label)
  })
  expect_nothing_left()
})

test_that("more edges than a matrix can hold are an error", {
  x <- normal(20, 300)
  few <- replace(gpucor:::engine$constants, "max edges", 1000)
  with_values(list(constant = function(name) few[[name]]), {
    expect_error(gpuCorNetwork(x, threshold = 0), "more than 1000 edges.*ask for fewer.*file =")
    expect_error(gpuCorNetwork(x, density = 0.5), "'density' is 0.5, which makes 22,425 edges")
  })
  expect_nothing_left()
})

for (resource in resources_of("cpu")) {
  test_that(paste("a bound that rises fails cleanly wherever the", resource, "fails"), {
    x <- normal(5, 600)
    run <- function() gpuCorNetwork(x, density = 0.01, use = "complete.obs", backend = "cpu")
    expect_match(unique(walk_failures(run, resource, "raising", expect_nothing_left)), ways_out[[resource]])
  })
}
