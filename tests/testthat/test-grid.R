# Every back end, method and use, on every kind of data, against stats::cor() in double.

data <- kinds_of_data(30, 18)

for (backend in backends()) for (method in all_methods) for (use in all_uses) {
  test_that(paste(backend, method, use, "is cor()"), {
    for (kind in names(data)) {
      x <- data[[kind]]
      expect_like_cor(x, NULL, use, method, backend, kind)
      expect_like_cor(x[, 1:11], x[, 12:18], use, method, backend, paste(kind, "x wider than y"))
      expect_like_cor(x[, 12:18], x[, 1:11], use, method, backend, paste(kind, "y wider than x"))
      expect_like_cor(x[, 1:11], x[, 5:9], use, method, backend, paste(kind, "columns in common"))
    }
    expect_nothing_live()
  })

  test_that(paste(backend, method, use, "is cor() for the smallest sizes"), {
    for (n_obs in 0:3) for (n_var in 0:2) {
      label <- paste(n_obs, "x", n_var)
      x <- normal(n_obs, n_var)
      expect_like_cor(x, NULL, use, method, backend, label)
      expect_like_cor(x, normal(n_obs, 3, seed = 4), use, method, backend, paste(label, "with y"))
      expect_like_cor(normal(n_obs, 3, seed = 4), x, use, method, backend, paste(label, "as y"))
      x[] <- 5
      expect_like_cor(x, NULL, use, method, backend, paste(label, "constant"))
    }
    for (n_obs in 2:3) {
      x <- normal(n_obs, 4)
      x[1, 2] <- NA
      expect_like_cor(x, NULL, use, method, backend, paste(n_obs, "rows, one NA"))
    }
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
    for (n_obs in c(2047:2049, 3000)) {
      expect_like_cor(heavy_ties(n_obs, 3), NULL, "everything", method, backend, paste(n_obs, "rows"))
      expect_like_cor(with_missing(rounded(n_obs, 2), 0.1), NULL, "pairwise.complete.obs", method, backend,
                      paste(n_obs, "rows, missing"))
    }
  })

  test_that(paste(backend, method, "numbers of variables"), {
    for (n_var in c(63:65, 127:129, 255:257, 300)) {
      label <- paste(n_var, "columns")
      x <- if (n_var %% 2) normal(15, n_var) else rounded(15, n_var)
      expect_like_cor(x, NULL, "everything", method, backend, label)
      expect_like_cor(x[, 1:5], x, "everything", method, backend, paste(label, "of y"))
      expect_like_cor(x, x[, 1:5], "everything", method, backend, paste(label, "of x"))
    }
  })

  test_that(paste(backend, method, "over tiles' edges"), {
    for (n_var in c(513, 2049, 4097)) {
      x <- rounded(7, n_var)
      truth <- quick_cor(x, method)
      # With a row that all columns lack, every pair has the other rows in common.
      holes <- rbind(NA, x)
      for (use in c("everything", "pairwise.complete.obs")) {
        given <- if (use == "everything") x else holes
        label <- paste(backend, n_var, "columns")
        triangle <- suppressWarnings(gpuCorTriangle(given, use, method, "column", backend))
        expect_no_difference(triangle, truth[upper.tri(truth)], method, paste(use, label))
        if (n_var > 2049) next # rectangles this wide add nothing
        narrow <- given[, 1:257]
        r <- suppressWarnings(gpuCor(narrow, given, use, method, backend = backend))
        expect_no_difference(r, truth[1:257, ], method, paste(use, label, "of y"))
        r <- suppressWarnings(gpuCor(given, narrow, use, method, backend = backend))
        expect_no_difference(r, truth[, 1:257], method, paste(use, label, "of x"))
      }
      # Each pair with common rows of its own.
      x <- with_missing(x, 0.1)
      pairs <- sample_pairs(n_var)
      r <- suppressWarnings(gpuCor(x, use = "pairwise", method = method, backend = backend))
      expect_pairs_like_cor(r[trianglePosition(pairs$i, pairs$j, n_var)], pairs, x, method = method,
                            use = "pairwise.complete.obs", label = label)
    }
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
