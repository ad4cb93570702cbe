# The biweight midcorrelation, beside WGCNA's.

# Outliers, ties, a large mean, a constant, two columns without a median absolute deviation.
heavy_tails <- function(n_obs, n_var) {
  set.seed(6)
  x <- matrix(rt(n_obs * n_var, 2), n_obs) + rnorm(n_obs)
  x[, 2] <- x[, 2] + 1e6
  x[, 3] <- round(x[, 3])
  x[, 4] <- 7
  x[, 5] <- c(rep(0, n_obs - n_obs %/% 3), rnorm(n_obs %/% 3))
  x[, 6] <- rep(c(1, 1, 1, 0), length.out = n_obs)
  x
}

# name: of the data.
expect_like_wgcna <- function(name, x, maxPOutliers = 1, pearsonFallback = "individual", use = "all.obs",
                              backends = "cpu", precisions = "single", within = 1e-6) {
  label <- paste("bicor,", name, maxPOutliers, pearsonFallback)
  theirs <- by_package("WGCNA", label, {
    off_diagonal(suppressWarnings(WGCNA::bicor(x, maxPOutliers = maxPOutliers, pearsonFallback = pearsonFallback,
                                               use = use)))
  })
  for (backend in backends) for (precision in precisions) {
    ours <- suppressWarnings(gpuCor(x, use = use, method = "bicor", output = "matrix", backend = backend,
                                    precision = precision, options = list(maxPOutliers = maxPOutliers,
                                                                          pearsonFallback = pearsonFallback)))
    wrong <- differences(off_diagonal(ours), theirs, within)
    expect(length(wrong) == 0, paste(c(wrong, label, backend, precision), collapse = " "))
  }
}

test_that("coefficients are WGCNA's, whatever its arguments", {
  x <- heavy_tails(61, 12)
  for (outliers in c(1, 0.27, 0.1, 0)) for (fallback in c("individual", "none", "all")) {
    expect_like_wgcna("61", x, outliers, fallback, backends = backends(), precisions = c("single", "double"))
  }
  expect_like_wgcna("deviations", x[, -(4:6)], pearsonFallback = "all") # all have a deviation
  for (n_obs in c(4, 5, 64, 127, 1001)) expect_like_wgcna(n_obs, heavy_tails(n_obs, 9), 0.05)
})

test_that("and so are those of pairs with observations of their own", {
  x <- with_missing(heavy_tails(50, 10), 0.2)
  for (outliers in c(1, 0.1)) for (fallback in c("individual", "none", "all")) {
    expect_like_wgcna("pairwise", x, outliers, fallback, use = "pairwise.complete.obs", backends = backends(),
                      within = 1e-7) # theirs of a large mean
  }
})

# 2,100 observations: sorted by CUB, in the device's memory instead of a block's.
test_that("a GPU computes pairs with observations of their own to the same bits", {
  skip_without_gpu()
  for (n_obs in c(3, 31, 64, 129, 2100)) {
    x <- with_missing(heavy_tails(n_obs, 12), 0.3)
    x[1, 7] <- Inf
    y <- with_missing(heavy_tails(n_obs, 7), 0.1) * 1e-300
    for (outliers in c(1, 0.1)) for (fallback in c("individual", "none", "all")) {
      of <- function(backend, ...) {
        suppressWarnings(gpuCor(..., use = "pairwise.complete.obs", method = "bicor", output = "matrix",
                                backend = backend, precision = "double",
                                options = list(maxPOutliers = outliers, pearsonFallback = fallback)))
      }
      expect_identical(of("cuda", x), of("cpu", x))
      expect_identical(of("cuda", x, y), of("cpu", x, y))
    }
  }
})

test_that("coefficients are those of the definition for every kind of data and rule for missing values", {
  data <- kinds_of_data(21, 8)
  for (backend in backends()) for (name in c("infinite_and_constants", "missing", "mostly_missing", "empty_column")) {
    for (use in c("everything", "pairwise.complete.obs")) expect_designed(data[[name]], "bicor", use, backend)
  }
  expect_designed(data$missing_in_some_rows, "bicor", "complete.obs", "cpu", precision = "double", within = 1e-12)
  expect_nothing_live()
})

test_that("a column without a deviation is told of, in every function", {
  x <- heavy_tails(40, 8)
  told <- "median absolute deviation is zero.*2 of 8 columns of 'x': 5, 6"
  expect_warning(expect_warning(gpuCor(x, method = "bicor"), told), "standard deviation is zero.*1 of 8")
  expect_warning(gpuCor(x[, -4], method = "bicor"), "2 of 7 columns of 'x': 4, 5", fixed = TRUE)
  expect_warning(gpuCorNetwork(x[, -4], threshold = 0.5, method = "bicor"), "2 of 7 columns", fixed = TRUE)
  expect_warning(gpuConnectivity(x[, -4], power = 2, method = "bicor"), "2 of 7 columns", fixed = TRUE)
  expect_warning(gpuDist(t(x[, -4]), method = "bicor"), "2 of 7 rows", fixed = TRUE)
  expect_silent(gpuCor(x[, 7:8], method = "bicor"))
  none <- suppressWarnings(gpuCor(x, method = "bicor", options = list(pearsonFallback = "none"), output = "matrix"))
  expect_true(all(is.na(none[4:6, -(4:6)])))
})

test_that("options belong to their method, and have bounds", {
  x <- normal(10, 3)
  expect_error(gpuCor(x, options = list(maxPOutliers = 0.1)),
               "'options' has \"maxPOutliers\"; method = \"pearson\" takes none",
               fixed = TRUE)
  expect_error(gpuCor(x, method = "bicor", options = list(maxPOutliers = 2)),
               "'maxPOutliers' must be a number between 0 and 1",
               fixed = TRUE)
  expect_error(gpuCor(x, method = "bicor", options = list(pearsonFallback = "some")),
               "'pearsonFallback' must be one of")
  expect_identical(gpuCorTriangle(x, method = "bicor", options = list(quick = 0.5)),
                   gpuCorTriangle(x, method = "bicor"))
})

test_that("pairs of fewer than 5 observations have no p value and are no edges", {
  set.seed(16)
  x <- matrix(rnorm(20 * 100), 20)
  x[runif(length(x)) < 0.55] <- NA
  run <- function(f, ...) f(x, method = "bicor", use = "pairwise", ...)
  expect_warning(test <- run(gpuCorTest), "pairs have no p value: method = \"bicor\" needs at least 5", fixed = TRUE)
  n <- as.vector(test$n)
  expect_identical(is.na(as.vector(test$p.value)), n < 5 | is.na(as.vector(test$r)))
  expect_gt(sum(n %in% 3:4 & abs(as.vector(test$r)) == 1, na.rm = TRUE), 2) # these were edges at any level
  words <- "pairs with strong coefficients have no p value: method = \"bicor\" needs at least 5 observations"
  for (criterion in list(list(fdr = 0.05), list(p.value = 0.01))) {
    expect_warning(edges <- do.call(run, c(list(gpuCorNetwork, output = "edges"), criterion)), words, fixed = TRUE)
    expect_false(any(paste(edges$from, edges$to) %in% with(as.data.frame(test), paste(from, to)[n < 5])))
  }
  expect_silent(run(gpuCorNetwork, p.value = 0.01, min_obs = 5))
  few <- gpuCor(x[1:4, colSums(is.na(x[1:4, ])) == 0], method = "bicor")
  expect_true(all(is.na(few$p.value)))
})

test_that("pairs of few observations are counted once, and tested by permutation without the diagonal", {
  set.seed(17)
  x <- matrix(rnorm(20), 5)
  x[1, 1] <- NA # 3 of 6 pairs have 4 observations
  test <- function(x, ...) gpuCorTest(x, method = "bicor", ...)
  for (output in c("dist", "matrix")) {
    expect_warning(test(x[-1, ], output = output), "^6 pairs have no p value")
    expect_warning(test(x, use = "pairwise", output = output), "^3 pairs have no p value")
  }
  expect_warning(gpuCor(x[-1, ], method = "bicor", test = TRUE), "^6 pairs have no p value")
  expect_warning(test(x[-1, ], x[-1, ]), "^16 pairs have no p value") # of x and y
  expect_warning(test(x[-1, ], min_obs = 4), "^6 pairs have no p value")
  set.seed(1)
  permuted <- test(x[-1, ], adjust = "maxT", n_perm = 99, output = "matrix")
  expect_identical(which(is.na(permuted$p.adjusted)), c(1L, 6L, 11L, 16L))
  set.seed(1)
  pairs <- test(x[-1, ], adjust = "maxT", n_perm = 99)
  expect_identical(as.vector(pairs$p.adjusted), permuted$p.adjusted[lower.tri(permuted$p.adjusted)])
  # The p values by permutation are shown, as there are no others.
  best <- order(pairs$p.adjusted, -abs(pairs$r))
  expect_output(print(pairs), "smallest p:\n +from +to .*p.adjusted\n +[1-4] +[1-4] ")
  expect_equal(summary(pairs)$strongest$p.adjusted, as.vector(pairs$p.adjusted)[best])
  expect_identical(summary(pairs)[c("tests", "missing")], list(tests = 6L, missing = 0L))
  expect_identical(summary(pairs, level = 1)$significant, c(permutation = 6L))
})
