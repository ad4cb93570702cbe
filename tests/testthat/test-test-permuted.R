# P values of gpuCorTest() adjusted by permutation.

x <- spread_pairs()
holes <- with_missing(x, 0.15)

permute <- function(x, seed, number, jointly) .Call(gpucor:::r_permute, x, seed, number, jointly)

# The seed that gpuCorTest() draws.
drawn_seed <- function(seed) {
  set.seed(seed)
  floor(runif(2) * 2^32)
}

largest <- function(r, alternative) {
  r <- as.vector(r)
  max(switch(alternative, two.sided = abs(r), less = -r, greater = r), na.rm = TRUE)
}

test_that("permutations have the same values, in every order", {
  m <- matrix(seq_len(60) + 0, 6)
  for (jointly in c(FALSE, TRUE)) {
    permuted <- permute(m, c(1, 2), 0, jointly)
    expect_identical(apply(permuted, 2, sort), m)
    expect_false(identical(permuted, m))
    expect_identical(all(permuted - permuted[, 1] == m - m[, 1]), jointly)
    expect_identical(permute(m, c(1, 2), 0, jointly), permuted)
    for (other in list(permute(m, c(1, 3), 0, jointly), permute(m, c(2, 2), 0, jointly),
                       permute(m, c(1, 2), 1, jointly))) {
      expect_false(identical(other, permuted))
    }
  }
  # All 6 orders of three values are equally frequent: chi squared with 5 degrees of freedom.
  orders <- apply(permute(matrix(1:3 + 0, 3, 6000), c(5, 6), 0, FALSE), 2, paste, collapse = "")
  expect_length(unique(orders), 6)
  expect_lt(sum((table(orders) - 1000)^2 / 1000), qchisq(1 - 1e-4, 5))
})

for (backend in backends()) test_that(paste(backend, "maxT is what permutations in R give"), {
  m <- graded(15, 9)
  m[, 6:9] <- -m[, 6:9]
  tied <- round(m[, 5:9], 1)
  gaps <- m
  gaps[c(2, 7), 3] <- NA
  for (method in all_methods) for (alternative in alternatives) {
    label <- paste(method, alternative)
    run <- function(...) {
      set.seed(4)
      gpuCorTest(..., method = method, alternative = alternative, adjust = "maxT", n_perm = 60, backend = backend)
    }
    expect_max_t <- function(test, maxima, label) {
      r <- as.vector(test$r)
      weight <- switch(alternative, two.sided = abs(r), less = -r, greater = r)
      truth <- vapply(weight, function(w) (1 + sum(maxima >= w - gpucor:::SAME_COEFFICIENT)) / 61, 0)
      expect_equal(as.vector(test$p.adjusted), truth, tolerance = 1e-12, label = label)
      expect_gt(length(unique(truth)), 1, label = label)
    }
    seed <- drawn_seed(4)
    maxima_of <- function(x) {
      vapply(0:59, function(k) largest(no_diagonal(cor(permute(x, seed, k, FALSE), method = method)), alternative), 0)
    }
    test <- run(m)
    expect_max_t(test, maxima_of(m), label)
    expect_identical(run(m), test)
    expect_equal(run(m, log.p = TRUE)$p.adjusted, log(test$p.adjusted))
    expect_identical(as.data.frame(test)$p.adjusted, as.vector(test$p.adjusted))
    y_maxima <- vapply(0:59, function(k) largest(cor(m, permute(tied, seed, k, TRUE), method = method), alternative), 0)
    expect_max_t(run(m, tied), y_maxima, paste(label, "y"))
    complete <- complete.cases(gaps)
    # Values move among the complete rows only: the sequence is that of as many rows.
    expect_max_t(run(gaps, use = "complete"), maxima_of(m[complete, ]), paste(label, "complete"))
  }
})

test_that("with covariates it is residuals of a robust regression that are permuted, and regressed again", {
  m <- graded(24, 7)
  z <- cbind(seq_len(24), rep(0:1, c(10, 14)))
  keep <- rep(c(TRUE, TRUE, FALSE), 8)
  for (method in c("pearson", "bicor")) for (rows in list(rep(TRUE, 24), keep)) {
    run <- function(...) {
      set.seed(4)
      gpuCorTest(..., method = method, adjust = "maxT", n_perm = 15, covariates = z, weights = as.numeric(rows),
                 precision = "double")
    }
    own <- z[rows, ]
    rest <- huber_residuals(m[rows, ], own)
    of_rest <- function(...) as.matrix(gpuCor(..., method = method, covariates = own, precision = "double"))
    share <- function(r, maxima) vapply(abs(as.vector(r)), function(v) (1 + sum(maxima >= v - 1e-9)) / 16, 0)
    seed <- drawn_seed(4)
    maxima <- vapply(0:14, function(k) largest(no_diagonal(of_rest(permute(rest, seed, k, FALSE))), "two.sided"), 0)
    test <- run(m)
    expect_equal(as.vector(test$p.adjusted), share(test$r, maxima), label = method)
    maxima <- vapply(0:14, FUN.VALUE = 0, function(k) {
      largest(of_rest(rest[, 1:3], permute(rest[, 4:7], seed, k, TRUE)), "two.sided")
    })
    test <- run(m[, 1:3], m[, 4:7])
    expect_equal(as.vector(test$p.adjusted), share(test$r, maxima), label = method)
  }
})

test_that("robust residuals are those of Huber's M-estimate, and leave nothing of what the covariates determine", {
  set.seed(6)
  z <- cbind(rnorm(60), rep(0:1, c(24, 36)))
  m <- cbind(exp(matrix(rnorm(60 * 6), 60)), rt(60, 2), rnorm(60))
  basis <- qr.Q(qr(cbind(1, z)))
  left <- gpucor:::robust_residuals(m, basis)
  expect_equal(left, huber_residuals(m, z))
  weighted <- apply(m, 2, function(x) { # as MASS::rlm()
    own <- residuals(lm(x ~ z))
    for (step in 1:100) {
      own <- lm.wfit(cbind(1, z), x, pmin(1, 1.345 * median(abs(own)) / 0.6745 / abs(own)))$residuals
    }
    own
  })
  expect_equal(left, unname(weighted), tolerance = 1e-3)
  expect_equal(gpucor:::residual_columns(left, basis, FALSE), unname(residuals(lm(m ~ z))))
  expect_true(all(gpucor:::robust_residuals(cbind(z, 1), basis) == 0))
  alone <- cbind(c(rep(0, 59), 5)) # least squares would leave something in all rows
  expect_equal(gpucor:::robust_residuals(alone, basis), alone - alone[1], tolerance = 1e-2)
})

test_that("residuals of ranks are not permuted", {
  for (surrogate in c("permutation", "phase")) {
    expect_error(gpuCorTest(graded(24, 7), method = "spearman", covariates = 1:24, adjust = "maxT",
                            surrogate = surrogate), "those of ranks do not stand")
  }
})

# The largest weights of permutations, as the engine has them.
engine_maxima <- function(x, y = NULL, method, side, use = "everything", n_perm = 1, ...) {
  run <- run_on(..., x = x, y = y, method = method, use = use)
  counted <- gpucor:::perform(run, "observations")
  gpucor:::perform(run, "maxima", counted, gpucor:::constant(side), n_perm, c(5, 6), NULL)$maxima
}

# GPUCOR_NO_WGMMA: what GPUs before Hopper run, which newer ones can, too.
instructions <- list(newest = c(GPUCOR_NO_WGMMA = NA), older = c(GPUCOR_NO_WGMMA = "1"))
sides <- c("absolute", "positive", "negative")

for (backend in backends()) for (kind in names(instructions)[seq_len(1 + (backend == "cuda"))]) {
  expect_same_maxima <- function(..., label) {
    with_env(instructions[[kind]], {
      ours <- engine_maxima(..., backend = backend)
      truth <- engine_maxima(..., backend = "cpu", threads = 1)
    })
    expect_identical(ours, truth, label = label)
    invisible(ours)
  }

  test_that(paste("the largest of all pairs is the same number everywhere:", backend, kind), {
    # 64 halves are a piece, 1,024 signs, too; a block is 128 x 256 or 256 x 256, and some pairs are beyond its edges.
    rows <- covering(kind = c("untied", "tied", "mixed", "binary", "spoilt", "infinite"), n_var = c(2, 16, 257, 530),
                     method = all_methods, side = sides, n_obs = c(12, 65), y = c(FALSE, TRUE))
    for_rows(rows, function(kind, n_var, method, side, n_obs, y, label) {
      x <- normal(n_obs, n_var)
      few <- if (y) x[, seq_len(n_var %/% 2), drop = FALSE]
      spoilt <- x
      spoilt[, 1] <- 7
      spoilt[3, 2] <- NA
      data <- switch(kind, untied = x, tied = round(x, 1), mixed = cbind(x[, -1], round(x[, 1])),
                     binary = (x > 0) + 0, spoilt = spoilt, infinite = cbind(c(Inf, x[-1, 1]), x[, -1]))
      expect_same_maxima(data, few, method, side, label = label)
    })
    expect_nothing_live()
  })

  test_that(paste("the largest of all pairs of long columns:", backend, kind), {
    # Beyond 8,192 observations there are no products of halves; the signs of 1,100 are opened for a tile.
    rows <- covering(n_obs = c(1100, 8192, 8193), side = sides, strength = if (full_tier()) 2 else 1)
    for_rows(rows, function(n_obs, side, label) {
      x <- normal(n_obs, 150)
      x[, 2] <- x[, 1] + x[, 2] / 100
      for (method in c("pearson", "spearman")) {
        expect_same_maxima(x, NULL, method, side, label = paste(n_obs, method, side))
      }
      few <- if (n_obs > 2000) x[, 1:4] else x
      expect_same_maxima(few, NULL, "kendall", side, label = paste(n_obs, "kendall", side))
      expect_same_maxima(round(few), NULL, "kendall", side, label = paste(n_obs, "kendall", side, "tied"))
    })
  })

  test_that(paste("the largest of pairs in many tiles:", backend, kind), {
    x <- normal(20, 9000)
    for (method in all_methods) {
      at_once <- expect_same_maxima(x, NULL, method, "absolute", label = method)
      in_panels <- engine_maxima(x, NULL, method, "absolute", backend = backend, memory = 1)
      expect_identical(in_panels, at_once, label = method)
    }
  })
}

test_that("the largest coefficients are the same however the pairs are divided", {
  x <- normal(8, 2100) # more than a tile, so that several workers have a part
  # Which worker has the largest one is another matter in each permutation.
  for (backend in backends()) for (method in all_methods) for (y in list(NULL, x[, 1:30] + rounded(8, 30))) {
    expect_same_divided(function(...) engine_maxima(x, y, method, "absolute", n_perm = 6, backend = backend, ...))
  }
})

test_that("maxima are those of permutations that are tested alone", {
  x <- normal(30, 8)
  for (backend in backends()) for (method in all_methods) for (side in sides) {
    maxima <- engine_maxima(x, NULL, method, side, n_perm = 3, backend = backend)
    truth <- vapply(0:2, function(k) {
      r <- cor(permute(x, c(5, 6), k, FALSE), method = method)
      max(weight_of(r[upper.tri(r)], side))
    }, 0)
    expect_equal(maxima, truth, tolerance = 1e-6, label = paste(backend, method, side))
  }
  # No pair has a coefficient; and all have the same one, which is below zero.
  for (backend in backends()) {
    constant <- matrix(1, 5, 3)
    expect_lt(max(engine_maxima(constant, NULL, "pearson", "absolute", backend = backend)), -1)
    two <- cbind(1:2, 1:2) + 0
    expect_true(all(engine_maxima(two, NULL, "kendall", "negative", n_perm = 20, backend = backend) %in% c(-1, 1)))
  }
})

test_that("maxT is uniform where nothing is correlated, and finds what is", {
  m <- normal(20, 200)
  smallest <- vapply(1:200, function(k) {
    min(gpuCorTest(normal(12, 6, seed = k), adjust = "maxT", n_perm = 99)$p.adjusted)
  }, 0)
  # The smallest one is among 1/100, ..., 1 with equal probabilities.
  expect_gt(suppressWarnings(ks.test(smallest, punif))$p.value, 1e-3)
  m[, 2] <- m[, 1] + 0.1 * m[, 2]
  set.seed(1)
  test <- gpuCorTest(m, adjust = "maxT", n_perm = 199)
  expect_identical(test$p.adjusted[1], 1 / 200)
  expect_true(all(test$p.adjusted >= test$p.value - 0.05))
})

test_that("maxT needs the same observations for all pairs", {
  expect_error(gpuCorTest(holes, use = "pairwise", adjust = "maxT"), "permutes observations that all pairs have")
  expect_error(gpuCorTest(x, adjust = "BH"), "'adjust' must be one of")
  expect_error(gpuCorTest(x, adjust = "maxT", n_perm = 0), "'n_perm' must be a whole number of at least 1|between 1")
  expect_null(gpuCorTest(x)$p.adjusted)
  constant <- suppressWarnings(gpuCorTest(cbind(x, 1), adjust = "maxT", n_perm = 9))
  expect_identical(is.na(as.vector(constant$p.adjusted)), is.na(as.vector(constant$r)))
})

for (backend in backends()) for (resource in resources_of(backend)) {
  test_that(paste(backend, "tests fail cleanly wherever the", resource, "fails"), {
    near <- cbind(holes[, 1:3], holes[, 1:2] * 2 + 1e-7 * x[, 4:5])
    runs <- list(
      pairwise = function(...) gpuCorTest(holes, use = "pairwise", ..., exact = TRUE),
      `near 1` = function(...) gpuCorTest(near, use = "pairwise", ...),
      `edges near 1` = function(...) {
        gpuCorNetwork(cbind(x[1:9, ], near[1:9, 4:5]), use = "pairwise", p.value = 0.5, ...)
      },
      `y, complete` = function(...) gpuCorTest(x[, 1:2], holes[, 3:5], use = "complete", ...),
      maxT = function(...) {
        set.seed(1)
        gpuCorTest(x, ..., adjust = "maxT", n_perm = 2)$p.adjusted
      },
      edges = function(...) gpuCorNetwork(holes, fdr = 0.9, use = "pairwise", ...)
    )
    rows <- covering(run = names(runs), method = all_methods, strength = if (full_tier()) 2 else 1)
    with_options(list(gpucor.threads = 2L), for_rows(rows, function(name, method, label) {
      run <- function() suppressWarnings(runs[[name]](method = method, backend = backend))
      messages <- walk_failures(run, resource, paste(backend, label), expect_nothing_left)
      expect_match(unique(messages), ways_out[[resource]])
    }))
  })
}

test_that("what ties of columns amount to is found in C as by its definition, in whatever has the columns", {
  quotient <- function(v) {
    if (anyNA(v) || all(v == v[1])) return(NA_real_)
    n <- length(v)
    t <- as.numeric(tabulate(match(v, unique(v))))
    sum((2 * rank(v) - n - 1)^2) / (n * (n - 1) - sum(t * (t - 1))) - 1
  }
  found <- function(x, y = NULL, use = "everything", ...) {
    run <- run_on("cpu", x = x, y = y, method = "kendall", use = use, criterion = list(name = "fdr", value = 0.1))
    counted <- gpucor:::perform(run, "observations")
    q <- unname(gpucor:::perform(run, "tie_quotients", counted))
    if (is.null(y)) q[1L] else q
  }
  data <- kinds_of_data(9, 8)
  data$zeros <- rbind(0, -0, heavy_ties(40, 8))
  data$long <- cbind(rounded(3000, 2), normal(3000, 2), c(1, rep(0, 2999)))
  data$whole <- matrix(rep_len(c(1:5, NA), 42), 7)
  data$three <- rounded(3, 20)
  for (kind in names(data)) {
    x <- data[[kind]]
    truth <- list(apply(x, 2, quotient))
    for (threads in 1:3) expect_equal(found(x, threads = threads), truth, tolerance = 0, label = kind)
    expect_equal(found(Matrix::Matrix(x + 0, sparse = TRUE)), truth, tolerance = 0, label = paste(kind, "sparse"))
    expect_equal(found(x[, 1:3], x), list(truth[[1]][1:3], truth[[1]]), tolerance = 0, label = paste(kind, "with y"))
    rows <- which(stats::complete.cases(x))
    if (length(rows) == 0) next
    complete <- apply(x[rows, , drop = FALSE], 2, quotient)
    expect_equal(found(x, x[, 2:1], "complete.obs"), list(complete, complete[2:1]), tolerance = 0, label = kind)
  }
  x <- data$long
  path <- tempfile()
  on.exit(unlink(path))
  writeBin(as.vector(x), path)
  expect_equal(found(gpuCorFile(path, dim = dim(x))), list(apply(x, 2, quotient)), tolerance = 0)
  messages <- walk_failures(function() found(x), "host", "ties")
  expect_match(messages, "memory for")
})
