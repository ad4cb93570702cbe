# What code written for package gputools expects: results by its names, its arguments, its other functions.

set.seed(7)
x <- matrix(rnorm(300), 50, dimnames = list(NULL, letters[1:6]))
y <- matrix(rnorm(200), 50, dimnames = list(NULL, LETTERS[1:4]))
x[, 2] <- x[, 1] + rnorm(50) / 5
y[, 3] <- -x[, 4] + rnorm(50) / 5
scores <- matrix(sample(1:4, 240, TRUE), 60, dimnames = list(NULL, letters[1:4]))
holes <- x
holes[c(3, 17, 40), 2] <- NA
holes[c(5, 17), 5] <- NaN
within_precision <- list(single = 1e-6, double = 1e-13)

# cor.test() of all columns of both, a matrix for each part.
tests_one_by_one <- function(a, b, method) {
  part <- function(f) outer(seq_len(ncol(a)), seq_len(ncol(b)), Vectorize(function(i, j) f(a[, i], b[, j])))
  test <- function(i, j) suppressWarnings(cor.test(i, j, method = method))
  list(pairs = part(function(i, j) sum(!is.na(i + j))), p.value = part(function(i, j) test(i, j)$p.value))
}

test_that("$coefficients is cor(), for every measure, with ties and missing values, in both precisions", {
  for (precision in names(within_precision)) for (backend in backends()) for (method in all_methods) {
    allowed <- within_precision[[precision]]
    run <- function(...) gpuCor(..., method = method, precision = precision, backend = backend)
    for (data in list(x, scores)) {
      expect_equal(run(data)$coefficients, cor(data, method = method), tolerance = allowed)
      expect_equal(run(data, data[, 3:1], output = "list")$coefficients, cor(data, data[, 3:1], method = method),
                   tolerance = allowed)
    }
    expect_equal(run(holes, use = "pairwise.complete.obs")$coefficients,
                 cor(holes, use = "pairwise.complete.obs", method = method), tolerance = allowed)
  }
})

test_that("$pairs, $ts and $p.value are those of cor.test(), when asked for and with test = TRUE", {
  off_diagonal <- function(m) m[row(m) != col(m)]
  for (method in all_methods) for (data in list(x, holes)) for (test in c(FALSE, TRUE)) {
    if ((method == "kendall" || anyNA(data)) && !test) next
    r <- gpuCor(data, use = "pairwise.complete.obs", method = method, precision = "double", test = test)
    truth <- tests_one_by_one(data, data, if (method == "spearman") "pearson" else method)
    expect_identical(dimnames(r$p.value), list(letters[1:6], letters[1:6]))
    expect_identical(unname(r$pairs), truth$pairs + 0)
    if (method == "spearman") {
      own <- gpuCorTest(data, use = "pairwise.complete.obs", method = method, precision = "double", output = "matrix")
      expect_equal(off_diagonal(r$p.value), off_diagonal(own$p.value), tolerance = 1e-10)
    } else {
      expect_equal(off_diagonal(r$p.value), off_diagonal(truth$p.value), tolerance = 1e-10)
    }
    if (method == "pearson") {
      ts <- Vectorize(function(i, j) if (i == j) Inf else unname(cor.test(data[, i], data[, j])$statistic))
      expect_equal(unname(r$ts), outer(1:6, 1:6, ts), tolerance = 1e-10)
    }
    expect_s3_class(r, c("gpuCor", "allPairs", "dist"), exact = TRUE)
    expect_s3_class(1 - r, "dist", exact = TRUE)
    expect_setequal(names(attributes(1 - r)), names(attributes(1 - gpuCor(x))))
  }
})

test_that("$pairs follows from the coefficients where all pairs have the same observations", {
  keep <- rep(c(TRUE, TRUE, FALSE, TRUE, TRUE), 10)
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.vector(x), file, endian = "little")
  outside <- gpuCorFile(file, dim(x), dimnames = dimnames(x))
  truth <- gpuCor(x, precision = "double", test = TRUE)
  for (data in list(x, outside, Matrix::Matrix(x, sparse = TRUE))) {
    r <- suppressMessages(gpuCor(data, precision = "double"))
    for (part in c("pairs", "ts", "p.value")) expect_equal(r[[part]], truth[[part]], label = part)
    weighted <- suppressMessages(gpuCor(data, weights = keep, precision = "double"))
    expect_identical(weighted$pairs, truth$pairs - 10)
    expect_equal(weighted$p.value, gpuCor(x[keep, ], precision = "double")$p.value)
  }
  first <- gpuCor(replace(x, 2, NA)) # "everything": column a has no coefficient
  expect_identical(first$pairs[2, ], c(a = NA, b = 50, c = 50, d = 50, e = 50, f = 50))
})

test_that("with missing values pair by pair, $pairs is found with test = TRUE", {
  run <- function(...) suppressWarnings(gpuCor(..., precision = "double"))
  expect_error(run(holes, use = "pairwise")$pairs, "pairs may have different observations; .*test = TRUE")
  for (use in c("everything", "pairwise.complete.obs")) {
    expect_identical(unname(run(holes, use = use, test = TRUE)$pairs), unname(crossprod(!is.na(holes))))
  }
  expect_identical(run(x, use = "pairwise")$pairs, run(x)$pairs)
})

test_that("p values that do not follow from what is kept are refused, and found with test = TRUE", {
  expect_error(gpuCor(x, method = "kendall")$p.value, "test = TRUE")
  expect_error(gpuCor(x[1:14, ], method = "spearman")$p.value, "so few observations.*test = TRUE")
  expect_identical(dim(gpuCor(x[1:14, ], method = "spearman")$ts), c(6L, 6L))
  expect_error(gpuCor(x, covariates = y)$ts, "'covariates'.*test = TRUE")
  freed <- gpuCor(x, covariates = y, test = TRUE)
  expect_equal(freed$p.value, gpuCorTest(x, covariates = y, output = "matrix")$p.value)
  expect_error(gpuCor(list(x, x), combine = "mean")$pairs, "many subjects")
  expect_error(gpuCor(x)$residuals, "no 'residuals'; there are \\$coefficients")
  expect_error(gpuCor(x, test = "yes"), "'test' must be TRUE or FALSE")
  expect_identical(gpuCor(x)$coef, as.matrix(gpuCor(x)))
  expect_equal(attr(gpuCor(x, test = TRUE), "call"), quote(gpuCor(x, test = TRUE)))
})

test_that("with y the parts are a list, and an option makes lists of all results", {
  for (method in all_methods) {
    found <- gpuCor(x, y, method = method, test = TRUE, precision = "double")
    expect_identical(names(found), c("coefficients", "pairs", "ts", "p.value"))
    expect_equal(found$coefficients, cor(x, y, method = method), tolerance = 1e-13)
    expect_identical(found$pairs, found$coefficients * 0 + 50)
    if (method != "spearman") {
      expect_equal(unname(found$p.value), tests_one_by_one(x, y, method)$p.value, tolerance = 1e-9)
    }
  }
  old <- options(gpucor.output = "list")
  on.exit(options(old))
  expect_identical(gpuCor(x, y)$coefficients, gpuCor(x, y, output = "matrix"))
  expect_identical(names(gpuCor(x, y)), c("coefficients", "pairs", "ts"))
  expect_identical(gpuCor(x, test = TRUE)$p.value, gpuCorTest(x, output = "matrix")$p.value)
  expect_identical(dim(gpuCor(x[, 1], y[, 1])$coefficients), c(1L, 1L))
  expect_s3_class(gpuCor(x, output = "dist"), "gpuCor")
})

test_that("gpuCorPairs() by threshold has the pairs of cor()", {
  for (method in all_methods) for (absolute in c(TRUE, FALSE)) {
    for (precision in c("single", "double")) for (other in list(NULL, y)) {
      r <- cor(x, other, method = method)
      strength <- if (absolute) abs(r) else r
      if (is.null(other)) strength[lower.tri(strength, TRUE)] <- NA
      truth <- which(strength >= 0.1, arr.ind = TRUE)
      found <- gpuCorPairs(x, other, threshold = 0.1, method = method, absolute = absolute, precision = precision)
      expect_identical(names(found), c("from", "to", "r"))
      expect_setequal(paste(found$from, found$to), paste(rownames(r)[truth[, 1]], colnames(r)[truth[, 2]]))
      expect_equal(found$r, r[cbind(found$from, found$to)], tolerance = 1e-6)
      expect_false(is.unsorted(-abs(found$r)))
    }
  }
})

test_that("gpuCorPairs(top) has each column's strongest", {
  r <- cor(x, y)
  for (top in 1:3) {
    found <- gpuCorPairs(x, y, top = top)
    truth <- lapply(colnames(y), function(to) paste(head(rownames(r)[order(-abs(r[, to]))], top), to))
    expect_setequal(paste(found$from, found$to), unlist(truth))
    expect_identical(nrow(found), 4L * top)
  }
  ties <- cbind(x[, 1:3], x[, 1:3])
  expect_identical(gpuCorPairs(unname(ties), x[, 1:3, drop = FALSE], top = 1)$from, 1:3)
  alone <- gpuCorPairs(x, top = 1)
  near <- `diag<-`(abs(cor(x)), 0)
  partner <- colnames(x)[apply(near, 2, which.max)]
  expect_setequal(paste(alone$from, alone$to), unique(paste(pmin(colnames(x), partner), pmax(colnames(x), partner))))
})

test_that("gpuCorPairs(test) adds tests, and mistakes are named", {
  found <- gpuCorPairs(x, y, threshold = 0.1, test = TRUE, precision = "double")
  p <- tests_one_by_one(x, y, "pearson")$p.value
  dimnames(p) <- list(colnames(x), colnames(y))
  expect_equal(found$p.value, p[cbind(found$from, found$to)], tolerance = 1e-9)
  expect_identical(found$n, rep(50, nrow(found)))
  expect_equal(found$ts, found$r * sqrt(48 / (1 - found$r^2)))
  expect_error(gpuCorPairs(x), "one of 'threshold' and 'top'")
  expect_error(gpuCorPairs(x, threshold = 0.1, top = 2), "one of 'threshold' and 'top'")
  expect_error(gpuCorPairs(x, threshold = 0, limit = 14), "15 pairs are more than 'limit', 14")
  expect_error(gpuCorPairs(x, threshold = 0.1, method = "kendall", test = TRUE), "gpuCorTest")
  expect_error(gpuCorPairs(holes, use = "pairwise", threshold = 0.1, test = TRUE), "gpuCorTest")
  expect_identical(nrow(gpuCorPairs(x, threshold = 1, test = TRUE)), 0L)
  expect_error(gpuCorPairs(x, threshold = c(0.1, 0.2)), "'threshold' must be a number in [0, 1], not c(0.1, 0.2)",
               fixed = TRUE)
  expect_error(gpuCorPairs(x, top = 0), "'top' must be a whole number of at least 1, not 0")
  expect_error(gpuCorPairs(x, top = 1:2), "'top' must be a whole number of at least 1, not 1:2")
  expect_error(gpuCorPairs(x, threshold = 0.1, output = "matrix"), "matched by multiple actual arguments")
})

test_that("tests stand beside whichever pairs were looked at", {
  groups <- pairMask(rep(1:2, 3), same = TRUE)
  some <- gpuCorPairs(x, threshold = 0, pairs = groups, test = TRUE)
  all <- gpuCorPairs(x, threshold = 0, test = TRUE)
  expect_equal(some$p.value, all$p.value[match(paste(some$from, some$to), paste(all$from, all$to))])
  expect_identical(nrow(some), 6L)
  mutual <- gpuCorPairs(x, top = 1, mutual = TRUE, test = TRUE)
  expect_identical(mutual[1:3], gpuCorPairs(x, top = 1, mutual = TRUE))
})

test_that("gpuCorPerm() counts the same permutations as cor() does", {
  some <- matrix(rexp(60), 12, dimnames = list(NULL, letters[1:5]))
  others <- matrix(rexp(48), 12)
  others[, 2] <- others[, 2] + 2 * some[, 4]
  for (other in list(NULL, others)) for (method in c("pearson", "spearman", "kendall")) {
    second <- if (is.null(other)) some else other
    observed <- cor(some, second, method = method)
    if (is.null(other)) diag(observed) <- NA
    set.seed(5)
    shuffled <- replicate(200, abs(cor(some, second[sample.int(12), ], method = method)))
    if (is.null(other)) shuffled[rep(diag(5) == 1, 200)] <- NA
    largest <- apply(shuffled, 3, max, na.rm = TRUE)
    p <- (rowSums(shuffled >= rep(abs(observed) - 1e-10, 200), dims = 2) + 1) / 201
    adjusted <- (vapply(abs(observed), function(r) sum(largest >= r - 1e-10), 0) + 1) / 201
    set.seed(5)
    found <- gpuCorPerm(some, other, B = 200, method = method, precision = "double")
    expect_equal(found$p.value, p)
    expect_equal(as.vector(found$p.adjusted), adjusted)
    expect_equal(found$coefficients, cor(some, second, method = method), tolerance = 1e-12)
  }
  set.seed(5)
  single <- gpuCorPerm(some, others, B = 200)
  set.seed(5)
  expect_lte(max(abs(single$p.value - gpuCorPerm(some, others, B = 200, precision = "double")$p.value)), 3 / 201)
  expect_error(gpuCorPerm(some, B = 0), "'B' must be a whole number")
  expect_error(gpuCorPerm(holes), "missing")
  expect_error(gpuCorPerm(some[1:2, ]), "at least 3")
  expect_error(gpuCorPerm(some, B = 9, test = TRUE), "unused argument 'test'")
  expect_error(gpuCorPerm(some, B = 9, output = "list"), "unused argument 'output'")
})

test_that("observations of gpuCorPerm() have no weights and covariates of their own, and an experiment its assay", {
  expect_error(gpuCorPerm(x, B = 9, weights = rep(0:1, 25)), "unused argument 'weights'")
  skip_unless_full()
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(list(raw = t(x), squared = t(x^2)))
  set.seed(2)
  from_assay <- gpuCorPerm(se, B = 9, assay = "squared")
  set.seed(2)
  expect_identical(from_assay, gpuCorPerm(x^2, B = 9))
})
