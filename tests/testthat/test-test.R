# gpuTtest() and gpuCorTest(), against stats::cor.test().

# Correlated, so that p values spread over many orders of magnitude; with ties.
set.seed(8)
x <- round(normal(25, 5) + outer(rnorm(25), c(0, 1, 2, 3, -2)), 1)
colnames(x) <- letters[1:5]
holes <- with_missing(x, 0.15)

alternatives <- c("two.sided", "less", "greater")

reference_test <- function(x, y, method, alternative) {
  test <- suppressWarnings(cor.test(x, y, alternative, method, exact = FALSE))
  # cor.test() names Spearman's S; its p value is that of this t.
  n <- sum(!is.na(x + y))
  r <- unname(test$estimate)
  statistic <- if (method == "spearman") r * sqrt((n - 2) / (1 - r^2)) else unname(test$statistic)
  c(coefficient = r, n = n, statistic = statistic, p.value = test$p.value)
}

# A float32 product behind t; exact counts behind z.
test_tolerance <- c(pearson = 1e-5, kendall = 1e-10, spearman = 1e-5)

expect_like_cor_test <- function(test, x, y, label) {
  frame <- as.data.frame(test)
  truth <- t(mapply(function(i, j) reference_test(x[, i], y[, j], test$method, test$alternative),
                    frame$from, frame$to, USE.NAMES = FALSE))
  expect_equal(as.matrix(frame[colnames(truth)]), truth, tolerance = test_tolerance[[test$method]], ignore_attr = TRUE,
               label = paste(test$method, test$alternative, label))
  # all.equal() takes means, and small p values must be right each by itself.
  off <- abs(log(frame$p.value) - log(truth[, "p.value"]))
  expect_lt(max(off), 100 * test_tolerance[[test$method]], label = paste(test$method, test$alternative, label, "log p"))
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "tests are those of cor.test()"), {
    for (alternative in alternatives) {
      test <- function(..., use = "pairwise.complete.obs") {
        gpuCorTest(..., use = use, method = method, alternative = alternative, backend = backend)
      }
      expect_like_cor_test(test(x, use = "everything"), x, x, "ties")
      expect_like_cor_test(test(holes), holes, holes, "pairwise")
      expect_like_cor_test(test(x[, 1:2], x[, 3:5], use = "everything"), x[, 1:2], x[, 3:5], "y")
      expect_like_cor_test(test(holes[, 1:2], holes[, 3:5]), holes[, 1:2], holes[, 3:5], "y, pairwise")
      untied <- normal(20, 4)
      colnames(untied) <- letters[1:4]
      expect_like_cor_test(test(untied, use = "everything"), untied, untied, "no ties")
      complete <- holes[complete.cases(holes), ]
      expect_like_cor_test(test(holes, use = "complete.obs"), complete, complete, "complete")
    }
  })
}

test_that("parts have the shape asked for", {
  parts <- c("coefficient", "n", "statistic", "p.value")
  for (method in all_methods) {
    triangle <- gpuCorTest(x, method = method)
    square <- gpuCorTest(x, method = method, output = "matrix")
    rectangle <- gpuCorTest(x[, 1:2], x[, 3:5], method = method)
    expect_s3_class(triangle, "gpuCorTest", exact = TRUE)
    expect_s3_class(triangle$coefficient, "gpuCor")
    for (part in parts) {
      expect_s3_class(triangle[[part]], "dist")
      expect_identical(labels(triangle[[part]]), colnames(x))
      expect_identical(dimnames(square[[part]]), dimnames(cor(x)))
      expect_identical(dimnames(rectangle[[part]]), dimnames(cor(x[, 1:2], x[, 3:5])))
      expect_equal(as.vector(triangle[[part]]), square[[part]][lower.tri(square[[part]])], ignore_attr = TRUE)
      expect_equal(as.vector(rectangle[[part]]), as.vector(square[[part]][1:2, 3:5]), tolerance = 1e-5)
    }
    single <- gpuCorTest(x[, 1], x[, 2], method = method)
    expect_equal(single$p.value, square$p.value[[1, 2]], tolerance = 1e-5)
    expect_identical(triangle[c("method", "use", "alternative", "log.p")],
                     list(method = method, use = "everything", alternative = "two.sided", log.p = FALSE),
                     ignore_attr = TRUE)
  }
})

test_that("p is right in the far tail, and log p beyond", {
  # Student's tail is an incomplete beta function of 1 - r^2.
  log_p_of <- function(r, n) pbeta((1 - r) * (1 + r), (n - 2) / 2, 1 / 2, log.p = TRUE)
  x <- normal(2500, 3)
  x[, 2] <- 4 * x[, 1] + x[, 2]
  for (method in c("pearson", "spearman")) {
    rows <- 1:120
    p <- gpuCorTest(x[rows, ], method = method)
    expect_lt(p$p.value[1], 1e-60) # 2 * (1 - pt()) is 0
    expect_equal(log(p$p.value[1]), log_p_of(p$coefficient[1], 120), tolerance = 1e-12)
    log_p <- gpuCorTest(x, method = method, log.p = TRUE)
    expect_lt(log_p$p.value[1], log(1e-308))
    expect_equal(log_p$p.value[1], log_p_of(log_p$coefficient[1], 2500), tolerance = 1e-12)
    expect_identical(gpuCorTest(x, method = method)$p.value[1], 0)
  }
  z <- gpuCorTest(x, method = "kendall", log.p = TRUE)
  expect_gt(z$statistic[1], 40)
  # The normal tail's asymptotic series.
  tail <- function(z) -z^2 / 2 - log(z * sqrt(2 * pi)) + log1p(-1 / z^2 + 3 / z^4)
  expect_equal(z$p.value[1], tail(z$statistic[1]) + log(2), tolerance = 1e-9)
  greater <- gpuCorTest(x, method = "kendall", alternative = "greater", log.p = TRUE)
  expect_equal(greater$p.value[1], tail(z$statistic[1]), tolerance = 1e-9)
  expect_identical(gpuCorTest(x, method = "kendall", alternative = "less")$p.value[1], 1)
})

test_that("log p is the logarithm of p, and never above 0", {
  for (method in all_methods) for (alternative in alternatives) {
    p <- gpuCorTest(holes, use = "pairwise", method = method, alternative = alternative)
    log_p <- gpuCorTest(holes, use = "pairwise", method = method, alternative = alternative, log.p = TRUE)
    expect_equal(exp(log_p$p.value), p$p.value)
    expect_true(all(log_p$p.value <= 0))
  }
  uncorrelated <- gpuCorTest(c(1, 2, 1, 2), c(1, 1, 2, 2), log.p = TRUE)
  expect_identical(uncorrelated$p.value, 0)
})

test_that("NA where there is nothing to test", {
  few <- cbind(a = c(1, 2, NA, 4, 3), b = c(2, 1, 3, NA, NA), c = c(1, 3, 2, 2, 5), d = 1)
  for (method in all_methods) {
    test <- suppressWarnings(gpuCorTest(few, use = "pairwise", method = method))
    frame <- as.data.frame(test)
    expect_identical(frame$n, c(2, 4, 4, 3, 3, 5))
    expect_identical(is.na(frame$p.value), c(TRUE, FALSE, TRUE, FALSE, TRUE, TRUE))
    expect_identical(is.na(frame$statistic), is.na(frame$p.value))
    expect_output(print(test))
  }
})

test_that("as.data.frame() has a row for each pair, in order", {
  frame <- as.data.frame(gpuCorTest(x))
  expect_identical(names(frame), c("from", "to", "coefficient", "n", "statistic", "p.value"))
  expect_identical(frame$from, rep(letters[1:4], 4:1))
  expect_identical(frame$to, c("b", "c", "d", "e", "c", "d", "e", "d", "e", "e"))
  expect_identical(as.data.frame(gpuCorTest(unname(x)))$to[1:4], c(2, 3, 4, 5))
  rectangle <- as.data.frame(gpuCorTest(x[, 1:2], x[, 3:5]))
  expect_identical(rectangle$from, rep(c("a", "b"), 3))
  expect_identical(rectangle$to, rep(c("c", "d", "e"), each = 2))
  expect_identical(rownames(as.data.frame(gpuCorTest(x), row.names = LETTERS[1:10])), LETTERS[1:10])
})

test_that("print() shows the smallest p values first", {
  text <- capture.output(print(gpuCorTest(x, method = "kendall")))
  expect_match(text[1], "Kendall's tau-b, 10 tests, alternative two.sided; smallest p:", fixed = TRUE)
  frame <- as.data.frame(gpuCorTest(x, method = "kendall"))
  best <- frame[which.min(frame$p.value), ]
  expect_match(text[3], paste(best$from, "*", best$to))
  expect_output(print(gpuCorTest(x, log.p = TRUE)), "smallest log p")
  expect_output(print(gpuCorTest(x[, 1], x[, 2])), "1 tests")
})

test_that("gpuTtest() gives t scores in the shape of the coefficients", {
  r <- cor(x)[1:2, 3:5]
  t <- gpuTtest(25, r)
  expect_identical(dimnames(t), dimnames(r))
  expect_equal(t[1, 2], unname(cor.test(x[, 1], x[, 4])$statistic))
  pairs <- matrix(c(25, 10, 3, 2, 1, NA), 2)
  expect_equal(gpuTtest(pairs, r), r * sqrt((ifelse(pairs > 2, pairs, NA) - 2) / (1 - r^2)))
  expect_identical(is.na(as.vector(gpuTtest(pairs, r))), as.vector(pairs) < 3 | is.na(as.vector(pairs)))
  expect_equal(gpuTtest(c(5, 6), c(0.5, NA)), c(0.5 * sqrt(3 / 0.75), NA))
  expect_identical(gpuTtest(10, c(1, -1, 0)), c(Inf, -Inf, 0))
  # 1 - r^2 would lose half the digits here.
  expect_equal(gpuTtest(3, 1 - 2^-50), 1 / sqrt(2^-50 * 2), tolerance = 1e-14)
  expect_s3_class(gpuTtest(25, gpuCor(x)), "dist", exact = TRUE)
  expect_length(gpuTtest(5, numeric()), 0)
})

test_that("gpuTtest() refuses what cannot be", {
  expect_error(gpuTtest(10, c(0.5, 1.25)), "'coeffs' is 1.25 at element 2; coefficients lie in [-1, 1]", fixed = TRUE)
  expect_error(gpuTtest(c(10, 11), c(0.1, 0.2, 0.3)), "'goodPairs' has 2 values; it must have one, or .*: 3")
  expect_error(gpuTtest("10", 0.5), "'goodPairs' must be numeric")
  expect_error(gpuTtest(10, "0.5"), "'coeffs' must be numeric")
})

test_that("gpuCorTest() checks its arguments", {
  expect_error(gpuCorTest(x, alternative = "both"), "'alternative' must be one of")
  expect_identical(gpuCorTest(x, alternative = "g")$alternative, "greater")
  expect_error(gpuCorTest(x, log.p = NA), "'log.p' must be TRUE or FALSE")
  expect_error(gpuCorTest(holes, use = "all.obs"), "missing observations")
  sparse <- methods::as(x, "CsparseMatrix")
  expect_message(test <- gpuCorTest(sparse, method = "kendall"), "is a sparse matrix")
  expect_equal(as.data.frame(test), as.data.frame(gpuCorTest(x, method = "kendall")))
  frame <- as.data.frame(x)
  expect_equal(as.data.frame(gpuCorTest(frame)), as.data.frame(gpuCorTest(x)))
})

test_that("what ties of columns amount to is found in C as by its definition, in whatever has the columns", {
  quotient <- function(v) if (anyNA(v) || all(v == v[1])) NA_real_ else gpucor:::tie_quotient(v)
  found <- function(x, y = NULL, use = "everything", ...) {
    task <- gpucor:::network_task(x, y, list(name = "fdr", value = 0.1), "absolute", use, "kendall", "cpu", ...)
    gpucor:::column_quotients(task)
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
  expect_match(messages, "memory for (the ties of columns|columns being read)")
})
