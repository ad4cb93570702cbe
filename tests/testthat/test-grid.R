# Every back end, method and use, on every kind of data, against stats::cor() in double.

data <- kinds_of_data(30, 18)
sides <- list(x = list(1:18, NULL), `x wider than y` = list(1:11, 12:18), `y wider than x` = list(12:18, 1:11),
              `columns in common` = list(1:11, 5:9))

for (backend in backends()) {
  test_that(paste(backend, "is cor()"), {
    rows <- covering(kind = names(data), use = all_uses, method = all_methods, sides = names(sides))
    for_rows(rows, function(kind, use, method, shape, label) {
      x <- data[[kind]]
      y <- if (shape != "x") x[, sides[[shape]][[2]]]
      expect_like_cor(x[, sides[[shape]][[1]]], y, use, method, backend, label)
    })
    expect_nothing_live()
  })

  test_that(paste(backend, "is cor() for the smallest sizes"), {
    rows <- covering(n_obs = 0:3, n_var = 0:2, use = all_uses, method = all_methods,
                     shape = c("x", "with y", "as y", "constant"))
    for_rows(rows, function(n_obs, n_var, use, method, shape, label) {
      x <- normal(n_obs, n_var)
      other <- normal(n_obs, 3, seed = 4)
      switch(shape, x = expect_like_cor(x, NULL, use, method, backend, label),
             `with y` = expect_like_cor(x, other, use, method, backend, label),
             `as y` = expect_like_cor(other, x, use, method, backend, label),
             constant = expect_like_cor(0 * x + 5, NULL, use, method, backend, label))
    })
    for_rows(covering(n_obs = 2:3, use = all_uses, method = all_methods), function(n_obs, use, method, label) {
      x <- normal(n_obs, 4)
      x[1, 2] <- NA
      expect_like_cor(x, NULL, use, method, backend, paste(label, "one NA"))
    })
    expect_nothing_live()
  })
}

# ---- sizes about the edges of words, slices, blocks and tiles

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "numbers of observations"), {
    # Kendall has n(n-1)/2 bits: 55, 66, 78 about a 64-bit word, 44,850 over a slice of 32,768;
    # Pearson sums slices of 2048 observations.
    for (n_obs in c(4:7, 11:13, 16:17, 23:24, 32:33, 46, 64:65, 129, 256:258, 300)) {
      expect_like_cor(normal(n_obs, 6), NULL, "everything", method, backend, paste(n_obs, "rows"))
      expect_like_cor(rounded(n_obs, 6), NULL, "everything", method, backend, paste(n_obs, "rows, ties"))
      expect_like_cor(with_missing(rounded(n_obs, 6), 0.1), NULL, "pairwise.complete.obs", method, backend,
                      paste(n_obs, "rows, missing"))
    }
    long <- if (full_tier()) c(2047:2049, 3000) else if (method != "kendall") 2047:2049 # cor() takes long for Kendall
    for (n_obs in long) {
      expect_like_cor(heavy_ties(n_obs, 3), NULL, "everything", method, backend, paste(n_obs, "rows"))
      expect_like_cor(with_missing(rounded(n_obs, 2), 0.1), NULL, "pairwise.complete.obs", method, backend,
                      paste(n_obs, "rows, missing"))
    }
  })

  test_that(paste(backend, method, "numbers of variables"), {
    for (n_var in c(63:65, 127:129, 255:257, if (full_tier()) 300)) {
      label <- paste(n_var, "columns")
      x <- if (n_var %% 2) normal(15, n_var) else rounded(15, n_var)
      truth <- outcome(cor(x, method = method))$value
      expect_no_difference(outcome(gpuCor(x, method = method, output = "matrix", backend = backend))$value, truth,
                           method, label)
      run <- function(...) gpuCor(..., method = method, backend = backend)
      expect_no_difference(run(x[, 1:5], x), truth[1:5, ], method, paste(label, "of y"))
      expect_no_difference(run(x, x[, 1:5]), truth[, 1:5], method, paste(label, "of x"))
    }
  })
}

for (backend in backends()) {
  test_that(paste(backend, "over tiles' edges"), {
    # With y: x is as narrow as a tile's rows, or columns.
    sizes <- c(if (full_tier()) 513, 2049, if (backend == "cuda") 4097)
    rows <- covering(n_var = sizes, method = all_methods, shape = c("triangle", "narrow x", "narrow y", "pairs"),
                     use = c("everything", "pairwise.complete.obs"), strength = if (full_tier()) 2 else 1)
    for_rows(rows, function(n_var, method, shape, use, label) {
      if (shape != "triangle") n_var <- min(n_var, 2049) # rectangles this wide add nothing
      x <- rounded(7, n_var)
      # With a row that all columns lack, every pair has the other rows in common.
      given <- if (use == "everything") x else rbind(NA, x)
      run <- function(...) suppressWarnings(gpuCor(..., use = use, method = method, backend = backend))
      switch(shape,
        triangle = {
          r <- suppressWarnings(gpuCorTriangle(given, method, use, "column", backend = backend))
          truth <- quick_cor(x, method)
          expect_no_difference(r, truth[upper.tri(truth)], method, label)
        },
        `narrow x` = expect_no_difference(run(given[, 1:257], given), quick_cor(x, method)[1:257, ], method, label),
        `narrow y` = expect_no_difference(run(given, given[, 1:257]), quick_cor(x, method)[, 1:257], method, label),
        pairs = { # each with common rows of its own
          x <- with_missing(x, 0.1)
          pairs <- sample_pairs(n_var, n_random = if (full_tier()) 150 else 30)
          r <- suppressWarnings(gpuCor(x, use = "pairwise", method = method, backend = backend))
          expect_pairs_like_cor(r[trianglePosition(pairs$i, pairs$j, n_var)], pairs, x, method = method,
                                use = "pairwise.complete.obs", label = label)
        })
    })
    expect_nothing_live()
  })
}

test_that("what stands in for cor() is cor()", {
  for (method in all_methods) {
    x <- with_constants(rounded(7, 12))
    expect_no_difference(quick_cor(x, method), suppressWarnings(cor(x, method = method)), method)
  }
})

# ---- one warning, of the right kind

test_that("a constant column is warned of once, by name", {
  x <- with_constants(normal(10, 6))
  colnames(x) <- letters[1:6]
  for (backend in backends()) for (method in all_methods) {
    warnings <- character()
    withCallingHandlers(gpuCor(x, method = method, backend = backend), warning = function(condition) {
      warnings <<- c(warnings, conditionMessage(condition))
      invokeRestart("muffleWarning")
    })
    expect_length(warnings, 1)
    expect_match(warnings, "the standard deviation is zero (2 of 6 columns of 'x': b, f)", fixed = TRUE)
  }
  expect_warning(gpuCor(normal(10, 2), x), "of 'y': b, f")
  expect_warning(gpuCor(normal(10, 6)), NA)
})

test_that("a column constant in the common rows of a pair is warned of as by cor()", {
  x <- cbind(c(1, 1, 1, 2, 3), c(4, 6, 5, NA, NA), c(1, 2, 3, 5, 4))
  for (backend in backends()) for (method in all_methods) {
    expect_warning(r <- gpuCor(x, use = "pairwise", method = method, backend = backend), "standard deviation is zero")
    expect_identical(is.na(as.vector(r)), c(TRUE, FALSE, FALSE))
  }
})

test_that("Inf among the common rows gives NaN, for other reasons NA", {
  x <- cbind(inf = c(Inf, 1, 3, 2, 4, NA), no_row = c(NA, NA, NA, NA, NA, 1), one_row = c(NA, 2, NA, NA, NA, 1),
             elsewhere = c(NA, 2, 5, 4, 1, 7), here = c(2, 6, 5, 1, 1, 1))
  for (backend in backends()) {
    expect_like_cor(x, NULL, "pairwise.complete.obs", "pearson", backend, "Inf")
    expect_like_cor(x[, 1], x[, -1], "pairwise.complete.obs", "pearson", backend, "Inf, y")
  }
})
