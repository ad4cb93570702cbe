# Squared distance correlation, beside package energy's and the definition.

# Ties, two levels, a large mean, dependence without correlation.
dependent <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var, seed = 3)
  x[, 2] <- x[, 1]^2 + 0.3 * x[, 2]
  x[, 3] <- round(x[, 3])
  x[, 4] <- x[, 4] > 0
  x[, 5] <- x[, 5] + 1e6
  x
}

# U-centred distances of a column, or NULL without observations enough or where all of them are 0.
u_centred <- function(x) {
  n <- length(x)
  if (n < 4) return(NULL)
  distances <- abs(outer(x, x, "-"))
  rows <- rowSums(distances)
  centred <- distances - outer(rows, rows, "+") / (n - 2) + sum(distances) / ((n - 1) * (n - 2))
  own <- centred[lower.tri(centred)]
  if (sum(own^2) > 1e-20 * sum(distances^2)) own
}

squared_distance <- function(x, y) {
  both <- !is.na(x) & !is.na(y)
  a <- u_centred(x[both])
  b <- u_centred(y[both])
  if (is.null(a) || is.null(b)) NA_real_ else sum(a * b) / sqrt(sum(a^2) * sum(b^2))
}

# The coefficients of long columns: squared_distance() by blocks of rows, which stay in the processor's cache.
long_distances <- function(x) {
  n <- nrow(x)
  blocks <- split(seq_len(n), seq_len(n) %/% 32)
  distances <- function(at) lapply(seq_len(ncol(x)), function(j) abs(outer(x[at, j], x[, j], "-")))
  rows <- do.call(rbind, lapply(blocks, function(at) vapply(distances(at), rowSums, numeric(length(at)))))
  sums <- Reduce(`+`, lapply(blocks, function(at) {
    centred <- mapply(function(own, j) {
      own <- own - outer(rows[at, j], rows[, j], "+") / (n - 2) + sum(rows[, j]) / ((n - 1) * (n - 2))
      own[cbind(seq_along(at), at)] <- 0 # no pair
      own
    }, distances(at), seq_len(ncol(x)))
    crossprod(centred)
  }))
  cov2cor(sums)
}

all_pairs <- function(f, x, y = x) {
  outer(seq_len(ncol(x)), seq_len(ncol(y)), Vectorize(function(i, j) f(x[, i], y[, j])))
}

matrix_of <- function(x, ...) suppressWarnings(gpuCor(x, method = "distance", output = "matrix", ...))

expect_distances <- function(x, truth, within, label, ...) {
  wrong <- differences(no_diagonal(matrix_of(x, ...)), no_diagonal(truth), within)
  expect(length(wrong) == 0, paste(c(wrong, label), collapse = " "))
}

p_of <- function(r, n) pchisq(pmax(0, n * r + 1), 1, lower.tail = FALSE)

test_that("coefficients are those of package energy, by both precisions and on every back end", {
  skip_if_not_installed("energy")
  for (n_obs in c(4, 5, 13, 64, 131)) {
    x <- dependent(n_obs, 9)
    x <- x[, apply(x, 2, function(column) !is.null(u_centred(column)))]
    theirs <- all_pairs(energy::bcdcor, x)
    for (backend in backends()) {
      expect_distances(x, theirs, 1e-6, n_obs, backend = backend)
      expect_distances(x, theirs, 1e-12, n_obs, backend = backend, precision = "double")
    }
  }
  x <- dependent(40, 12)
  expect_lt(max(abs(gpuCor(x[, 1:5], x[, 6:12], method = "distance", precision = "double") -
                      t(all_pairs(energy::bcdcor, x[, 6:12], x[, 1:5])))), 1e-12)
  expect_nothing_live()
})

test_that("very large and very small values, constants and missing values are as by the definition", {
  x <- dependent(30, 10)
  x[, 6] <- x[, 6] * 1e300
  x[, 7] <- x[, 7] * 1e-300
  scaled <- x
  scaled[, 6:7] <- sweep(x[, 6:7], 2, c(1e300, 1e-300), "/")
  x[, 8] <- scaled[, 8] <- 3
  x[, 9] <- scaled[, 9] <- c(-2, rep(0.1, 28), 7) # no pair of distances that is not determined by others
  expect_distances(x, all_pairs(squared_distance, scaled), 1e-6, "single")
  expect_distances(x, all_pairs(squared_distance, scaled), 1e-12, "double", precision = "double")
  expect_warning(gpuCor(x, method = "distance"), "standard deviation is zero (2 of 10 columns of 'x': 8, 9)",
                 fixed = TRUE)
  gaps <- with_missing(scaled, 0.3)
  gaps[5:30, 10] <- NA
  for (backend in backends()) for (precision in c("single", "double")) {
    expect_distances(gaps, all_pairs(squared_distance, gaps), 1e-12, "pairwise", precision = precision,
                     use = "pairwise.complete.obs", backend = backend)
  }
  expect_distances(gaps[, -10], all_pairs(squared_distance, na.omit(gaps[, -10])), 1e-6, "complete.obs",
                   use = "complete.obs")
  infinite <- matrix_of(replace(scaled, 7, Inf))
  expect_true(all(is.nan(infinite[1, c(2:7, 10)])))
  everything <- matrix_of(replace(scaled, 7, NA))
  expect_true(all(is.na(everything[1, -1])) && !anyNA(everything[2:7, 2:7]))
  expect_nothing_live()
})

# Columns of more than 3,072 observations are compared without their distances.
test_that("long columns are as by the definition, by both precisions and on every back end", {
  x <- cbind(dependent(3100, 5)[, 2:3], normal(3100, 1, seed = 4) / runif(3100), c(rep(0.1, 3000), 1:100))
  expect_equal(long_distances(x[3061:3100, ]), all_pairs(squared_distance, x[3061:3100, ]), tolerance = 1e-12)
  truth <- long_distances(x)
  for (backend in backends()) for (precision in c("single", "double")) {
    expect_distances(x, truth, 1e-12, precision, precision = precision, backend = backend)
  }
  expect_lt(max(abs(gpuCor(x[, 1:2], x[, 3:4], method = "distance") - truth[1:2, 3:4])), 1e-12)
  expect_equal(as.vector(gpuCor(x, method = "distance")), truth[lower.tri(truth)], tolerance = 1e-6)
  windows <- gpuCorWindows(x, width = 3090, step = 10, method = "distance")
  expect_identical(as.vector(windows[[2]]), as.vector(gpuCor(x[11:3100, ], method = "distance")))
  subjects <- gpuCor(list(x, x[3051:3100, ]), combine = "mean", method = "distance")
  expect_equal(as.vector(subjects), tolerance = 1e-6,
               as.vector(gpuCor(x, method = "distance") + gpuCor(x[3051:3100, ], method = "distance")) / 2)
  expect_nothing_live()
})

test_that("long and pairwise-complete columns that have no coefficients are those of short ones", {
  x <- dependent(3090, 8)
  x[, 3] <- 3
  x[, 4] <- c(-2, rep(0.1, 3088), 7)
  x[, 5] <- c(-1e15, x[2:3089, 5], 1e15) # rounding leaves nothing
  x[7, 6] <- NA
  x[7, 7] <- Inf
  for (n_obs in c(60, 3090)) for (use in c("everything", "pairwise")) {
    data <- x[c(1:(n_obs - 1), 3090), ]
    short <- matrix_of(x[c(1:59, 3090), ], use = use)
    expect_identical(is.na(matrix_of(data, use = use)), is.na(short))
    expect_identical(is.nan(matrix_of(data, use = use)), is.nan(short))
    expect_warning(gpuCor(data[, 1:5], method = "distance", use = use), "zero (3 of 5 columns of 'x': 3, 4, 5)",
                   fixed = TRUE)
  }
  expect_identical(is.nan(short[1, ]), rep(c(FALSE, TRUE, FALSE), c(6, 1, 1)))
  expect_nothing_live()
})

test_that("a column and its copy have coefficient 1, and no column of a pair is the first", {
  x <- rbind(dependent(3200, 6), NA)
  x[, 2] <- x[, 1]
  x[, 6] <- c(sample(3200), NA)
  x[, 5] <- c(sample(3200), NA)
  for (n_obs in c(100, 3200)) for (use in c("everything", "pairwise")) {
    data <- x[seq_len(n_obs), ]
    if (use == "pairwise") data <- rbind(data, NA, NA)
    r <- gpuCor(data[, 1:3], data[, c(2, 5, 6)], method = "distance", use = use)
    back <- gpuCor(data[, c(2, 5, 6)], data[, 1:3], method = "distance", use = use)
    expect_identical(unname(unclass(r)[, ]), unname(t(unclass(back)[, ])))
    if (use == "pairwise" || n_obs > 3072) expect_identical(r[1, 1], 1)
  }
  both <- matrix_of(rbind(x[1:100, 5:6], NA), use = "pairwise")
  expect_identical(both[1, 2], matrix_of(rbind(x[1:100, 6:5], NA), use = "pairwise")[1, 2])
})

test_that("pairwise-complete coefficients have the same bits on every back end", {
  for (n_obs in c(5, 40, 300, 1500)) {
    x <- dependent(n_obs, 12)
    x[, 7] <- round(2 * x[, 7]) # few levels: quadrants of one value
    x[, 8] <- 3
    x[1, 9] <- Inf
    x[, 10] <- runif(n_obs) < 0.3
    x <- with_missing(x, 0.05)
    of <- function(backend) matrix_of(x, use = "pairwise.complete.obs", precision = "double", backend = backend)
    for (backend in backends()) expect_identical(of(backend), of("cpu"))
  }
})

test_that("there is no coefficient of fewer than four observations", {
  x <- normal(4, 6)
  for (n_obs in 1:3) for (use in c("everything", "complete.obs", "pairwise.complete.obs")) {
    for (precision in c("single", "double")) {
      expect_silent(r <- gpuCor(x[seq_len(n_obs), , drop = FALSE], method = "distance", use = use,
                                precision = precision))
      expect_true(all(is.na(r)) && length(r) == 15)
    }
  }
  expect_false(anyNA(gpuCor(x, method = "distance")))
  expect_warning(gpuCorNetwork(x[1:3, ], threshold = 0.1, method = "distance"), "^3 observations leave no coefficient$")
  gaps <- rbind(x, x + 1)
  gaps[1:5, 2] <- NA
  expect_warning(gpuCorNetwork(gaps, threshold = 0.1, method = "distance", use = "pairwise"),
                 "fewer than 4 values leave no coefficient (1 of 6 columns of 'x': 2)", fixed = TRUE)
  x <- normal(6, 3)
  x[1:3, 1] <- NA # three observations of every pair with it
  expect_identical(is.na(as.vector(gpuCor(x, method = "distance", use = "pairwise"))), c(TRUE, TRUE, FALSE))
})

test_that("networks keep positive coefficients only", {
  x <- dependent(50, 40)
  r <- no_diagonal(matrix_of(x, precision = "double"))
  criteria <- list(list("threshold", 0.05), list("density", 0.03), list("k", 2))
  for (backend in backends()) for (criterion in criteria) {
    arguments <- c(list(x, method = "distance", backend = backend), by_criterion(criterion[[1]], criterion[[2]]))
    keep <- reference_network(r, criterion[[1]], criterion[[2]], sign = "positive", within = 1e-6)
    net <- do.call(gpuCorNetwork, arguments)
    expect_network(net, r, keep$keep, 1e-6, keep$near, label = paste(backend, criterion[[1]]))
    expect_true(all(net@x > 0))
    expect_same_network(do.call(gpuCorNetwork, c(arguments, sign = "positive")), net)
  }
  expect_error(gpuCorNetwork(x, k = 1, sign = "negative", method = "distance"), "negative coefficients are no evidence")
  expect_error(gpuCorWindows(x, width = 20, k = 1, sign = "neg", output = "network", method = "distance"),
               "sign = \"negative\" has no meaning")
})

test_that("p values are those of the chi-squared distribution", {
  x <- dependent(50, 30)
  x[, 11:30] <- 0.6 * x[, 11:30] + x[, rep(6:10, 4)]^2
  for (use in c("everything", "pairwise.complete.obs")) {
    data <- if (use == "everything") x else with_missing(x, 0.1)
    test <- gpuCorTest(data, method = "distance", use = use, precision = "double")
    n <- as.vector(test$n)
    expect_equal(as.vector(test$statistic), n * as.vector(test$r) + 1)
    expect_equal(as.vector(test$p.value), p_of(as.vector(test$r), n), tolerance = 1e-12)
    logs <- gpuCorTest(data, method = "distance", use = use, precision = "double", log.p = TRUE)$p.value
    expect_equal(exp(as.vector(logs)), as.vector(test$p.value), tolerance = 1e-12)
    frame <- as.data.frame(test)
    for (level in c(1e-3, 0.05, 0.3)) {
      by_p <- gpuCorNetwork(data, p.value = level, method = "distance", use = use, output = "edges")
      keep <- frame[frame$p.value <= level, ]
      expect_setequal(paste(by_p$from, by_p$to), paste(keep$from, keep$to))
      by_fdr <- gpuCorNetwork(data, fdr = level, method = "distance", use = use, output = "edges")
      adjusted <- p.adjust(frame$p.value, "BH")
      keep <- order(frame$p.value)[seq_len(sum(adjusted <= level))]
      expect_setequal(paste(by_fdr$from, by_fdr$to), paste(frame$from, frame$to)[keep])
      expect_equal(sort(by_fdr$fdr), sort(adjusted[keep]), tolerance = 1e-4)
      expect_gt(nrow(by_fdr), 0)
    }
  }
  expect_identical(test$alternative, "greater")
  expect_identical(gpuCorTest(data, method = "distance", alternative = "greater", use = use)$p.value,
                   gpuCorTest(data, method = "distance", use = use)$p.value)
  expect_nothing_live()
})

test_that("variables against traits, and permutation, test positive coefficients", {
  x <- dependent(50, 12)
  test <- gpuCorTest(x[, 1:8], x[, 9:12] + x[, 2], method = "distance", precision = "double")
  expect_equal(as.vector(test$p.value), p_of(as.vector(test$r), 50), tolerance = 1e-12)
  found <- gpuAssociation(x[, 1:8], x[, 9:12] + x[, 2], method = "distance", p.value = 0.05)
  expect_equal(sort(found$p.value), sort(test$p.value[test$p.value <= 0.05]), tolerance = 1e-9)
  expect_equal(sort(found$statistic), sort(test$statistic[test$p.value <= 0.05]), tolerance = 1e-9)
  set.seed(1)
  permuted <- gpuCorTest(x[, 1:4], method = "distance", adjust = "maxT", n_perm = 99)
  expect_identical(order(permuted$p.adjusted)[1], 1L)
  expect_identical(permuted$p.adjusted[1], 0.01)
  r <- as.vector(permuted$r)
  expect_true(all(as.vector(permuted$p.adjusted)[r < 0] > 0.5))
})

test_that("what does not hold for squared coefficients is an error", {
  x <- dependent(20, 6)
  of <- function(f, ...) f(..., method = "distance")
  expect_error(of(gpuCorTest, x, alternative = "less"), "\"less\" has no meaning for method = \"distance\"")
  expect_error(of(gpuCorTest, x, df = 10), "'df' has no meaning.*a chi-squared distribution")
  expect_error(of(gpuCor, x, weights = runif(20)), "no 'weights' other than 0 and 1: it compares pairs of observations")
  expect_error(of(gpuCor, x, covariates = runif(20)), "takes no 'covariates', 'bandpass' or 'runs'")
  expect_error(of(gpuCorNetwork, x, fdr = 0.4), "'fdr' must be at most 0.31 for method = \"distance\", not 0.4")
  expect_error(of(gpuCorNetwork, x, p.value = 0.32), "'p.value' must be at most 0.31")
  expect_error(of(gpuCorNetwork, list(x, x), p.value = 0.05, combine = "fisher"), "not known for method = \"distance\"")
  expect_error(of(gpuCorCompare, x, x),
               "known for methods \"pearson\", \"spearman\" and \"bicor\", not for \"distance\"")
  expect_error(of(gpuCor, x)$p.value, "they do not follow from Student's t")
  some <- rep(c(1, 0, 1, 1), 5)
  expect_identical(as.vector(of(gpuCor, x, weights = some)), as.vector(of(gpuCor, x[some == 1, ])))
})

test_that("pairs of fewer than 10 observations have no p value and are no edges", {
  x <- dependent(9, 6)
  words <- "15 pairs have no p value: method = \"distance\" needs at least 10 observations"
  for (min_obs in list(NULL, 4)) {
    expect_warning(test <- gpuCorTest(x, method = "distance", min_obs = min_obs), words, fixed = TRUE)
    expect_true(all(is.na(test$p.value)) && !anyNA(test$r))
  }
  expect_silent(gpuCorTest(x, method = "distance", min_obs = 10)) # the user knows
  expect_silent(adjusted <- gpuCorTest(x, method = "distance", adjust = "maxT", n_perm = 9)) # valid for any number
  expect_false(anyNA(adjusted$p.adjusted))
  expect_true(all(is.na(gpuCorTest(x, method = "distance", min_obs = 10, adjust = "maxT", n_perm = 9)$p.adjusted)))
  expect_error(gpuCorNetwork(x, p.value = 0.05, method = "distance"),
               "p values of method = \"distance\" need at least 10 observations; there are 9", fixed = TRUE)
  expect_silent(gpuCorTest(dependent(10, 6), method = "distance"))
  gaps <- with_missing(dependent(14, 30), 0.2)
  test <- suppressWarnings(gpuCorTest(gaps, method = "distance", use = "pairwise"))
  few <- as.vector(test$n) < 10
  expect_identical(is.na(as.vector(test$p.value)), few)
  words <- "pairs with strong coefficients have no p value: method = \"distance\" needs"
  expect_warning(edges <- gpuCorNetwork(gaps, p.value = 0.3, method = "distance", use = "pairwise", output = "edges"),
                 words)
  expect_identical(nrow(edges), sum(as.vector(test$p.value) <= 0.3, na.rm = TRUE))
})

test_that("every function takes distance correlations", {
  x <- dependent(30, 20)
  r <- no_diagonal(matrix_of(x))
  expect_equal(as.vector(gpuDist(t(x), method = "distance")), 1 - as.vector(gpuCor(x, method = "distance")))
  expect_equal(gpuConnectivity(x, power = 2, method = "distance")$soft[, 1], rowSums(r^2, na.rm = TRUE),
               tolerance = 1e-5, ignore_attr = TRUE)
  first <- eigen(`diag<-`(r, 1) + 1)$vectors[, 1]
  eigenvector <- gpuConnectivity(x, maps = "eigenvector", method = "distance")$eigenvector
  expect_equal(eigenvector, first / first[which.max(abs(first))], tolerance = 1e-6)
  windows <- gpuCorWindows(x, width = 12, step = 9, method = "distance")
  expect_equal(as.vector(windows[[2]]), as.vector(gpuCor(x[10:21, ], method = "distance")))
  expect_equal(as.vector(gpuCor(list(x, x[1:9, ]), combine = "mean", method = "distance")),
               as.vector(gpuCor(x, method = "distance") + gpuCor(x[1:9, ], method = "distance")) / 2, tolerance = 1e-5)
  expect_s4_class(suppressWarnings(gpuTOM(x, power = 2, type = "signed hybrid", method = "distance",
                                          output = "network", threshold = 0.1)), "gpuTOMNetwork")
  sparse <- methods::as(Matrix::Matrix(round(pmax(x, 0)), sparse = TRUE), "CsparseMatrix")
  expect_equal(as.vector(suppressMessages(gpuCor(sparse, method = "distance"))),
               as.vector(gpuCor(as.matrix(sparse), method = "distance")))
})

test_that("results do not depend on how the work is divided, nor on memory", {
  x <- dependent(40, 700)
  expect_same_divided(function(...) as.vector(gpuCor(x, method = "distance", ...)))
  expect_same_divided(function(...) slots_of(gpuCorNetwork(x, density = 0.001, method = "distance", ...)))
  gaps <- with_missing(x[, 1:60], 0.1)
  expect_same_divided(function(...) as.vector(gpuCor(gaps, use = "pairwise", method = "distance", ...)))
  long <- dependent(3080, 30)
  for (precision in c("single", "double")) {
    expect_same_divided(function(...) as.vector(gpuCor(long, method = "distance", precision = precision, ...)))
  }
  path <- tempfile("plan-")
  on.exit(unlink(path, recursive = TRUE))
  quiet_plan(path, x, threshold = 0.2, method = "distance", verb = "gpuCorNetwork", shards = 3)
  quiet_run(path)
  expect_collected(path, gpuCorNetwork(x, threshold = 0.2, method = "distance"))
})
