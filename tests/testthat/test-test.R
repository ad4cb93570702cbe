# gpuTtest() and gpuCorTest(), against stats::cor.test().

x <- spread_pairs()
holes <- with_missing(x, 0.15)

reference_test <- function(x, y, method, alternative) {
  test <- suppressWarnings(cor.test(x, y, alternative, method, exact = FALSE))
  # cor.test() names Spearman's S; its p value is that of this t.
  n <- sum(!is.na(x + y))
  r <- unname(test$estimate)
  statistic <- if (method == "spearman") r * sqrt((n - 2) / (1 - r^2)) else unname(test$statistic)
  c(r = r, n = n, statistic = statistic, p.value = test$p.value)
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
        gpuCorTest(..., use = use, method = method, alternative = alternative, backend = backend, exact = FALSE)
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
  parts <- c("r", "n", "statistic", "p.value")
  for (method in all_methods) {
    triangle <- gpuCorTest(x, method = method)
    square <- gpuCorTest(x, method = method, output = "matrix")
    rectangle <- gpuCorTest(x[, 1:2], x[, 3:5], method = method)
    expect_s3_class(triangle, "gpuCorTest")
    expect_s3_class(triangle$r, "gpuCor")
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

test_that("many pairs of several numbers of observations have the p values of each alone", {
  x <- normal(40, 290) + rnorm(40) # more than 1,000 pairs for each number of observations
  x[1, 1:30] <- x[2, 20:50] <- x[3:36, 60] <- x[4:40, 61] <- NA
  x[, 70] <- 1
  square <- crossprod(!is.na(x))
  lower <- lower.tri(square)
  for (method in c("pearson", "spearman")) {
    test <- function(...) {
      suppressWarnings(gpuCorTest(x, method = method, use = "pairwise.complete.obs", exact = FALSE, ...))
    }
    matrix <- test(output = "matrix", threads = 1)
    r <- unclass(matrix$r)
    t <- r * sqrt(pmax(square - 2, 0) / (1 - r^2))
    is_tested <- lower & square >= 3 & !is.na(r)
    expect_identical(matrix$n, square, ignore_attr = TRUE)
    expect_equal(matrix$statistic[is_tested], t[is_tested])
    p <- 2 * pt(-abs(t[is_tested]), square[is_tested] - 2)
    expect_equal(log(matrix$p.value[is_tested]), log(p), tolerance = 1e-9)
    expect_true(all(is.na(matrix$p.value[lower & !is_tested])))
    expect_true(all(is.na(diag(matrix$p.value))))
    expect_identical(test(output = "matrix", threads = 2), matrix, ignore_attr = "call")
    triangle <- test()
    for (part in c("n", "statistic", "p.value")) {
      expect_true(isSymmetric(matrix[[part]]))
      expect_identical(as.vector(triangle[[part]]), matrix[[part]][lower])
    }
  }
})

test_that("p is right in the far tail, and log p beyond", {
  # Student's tail is an incomplete beta function of 1 - r^2.
  log_p_of <- function(r, n) pbeta((1 - r) * (1 + r), (n - 2) / 2, 1 / 2, log.p = TRUE)
  x <- normal(2500, 3)
  x[, 2] <- 4 * x[, 1] + x[, 2]
  for (method in c("pearson", "spearman")) {
    rows <- 1:120
    p <- gpuCorTest(x[rows, ], method = method, exact = FALSE, precision = "double")
    expect_lt(p$p.value[1], 1e-60) # 2 * (1 - pt()) is 0
    expect_equal(log(p$p.value[1]), log_p_of(p$r[1], 120), tolerance = 1e-12)
    log_p <- gpuCorTest(x, method = method, log.p = TRUE, exact = FALSE, precision = "double")
    expect_lt(log_p$p.value[1], log(1e-308))
    expect_equal(log_p$p.value[1], log_p_of(log_p$r[1], 2500), tolerance = 1e-12)
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

log_p_by_r <- function(test) {
  tail <- function(q, lower.tail) {
    if (test$method == "kendall") return(pnorm(q, lower.tail = lower.tail, log.p = TRUE))
    pt(q, as.vector(test$n) - 2, lower.tail = lower.tail, log.p = TRUE)
  }
  statistic <- as.vector(test$statistic)
  switch(test$alternative, two.sided = pmin(0, tail(-abs(statistic), TRUE) + log(2)),
         less = tail(statistic, TRUE), greater = tail(statistic, FALSE))
}

test_that("p is that of pt() and pnorm() in every tail, for any number of observations", {
  rows <- covering(n_obs = c(3, 4, 5, 9, 40, 300, 3000), method = all_methods, alternative = alternatives)
  for_rows(rows, function(n_obs, method, alternative, label) {
    m <- graded(n_obs, 50)
    m[, 2:25] <- -m[, 2:25] # strong ones of either sign
    holes <- m
    holes[seq_len(n_obs %/% 3), 40:50] <- NA
    data <- list(m, holes) # of one number of observations, and of several
    if (n_obs == 3000 && method == "kendall" && !full_tier()) data <- list(m) # pair by pair it takes seconds
    for (data in data) {
      test <- function(log.p) {
        suppressWarnings( # of few observations
          gpuCorTest(data, use = "pairwise", method = method, alternative = alternative, log.p = log.p, exact = FALSE,
                     precision = "double")
        )
      }
      log_p <- test(TRUE)
      p <- test(FALSE)
      truth <- log_p_by_r(log_p)
      finite <- which(is.finite(truth))
      expect_gt(length(finite), 100, label = label)
      expect_identical(which(is.na(as.vector(log_p$p.value))), which(is.na(truth)), label = label)
      expect_lt(max(abs(as.vector(log_p$p.value)[finite] - truth[finite]) / pmax(1, abs(truth[finite]))), 1e-13,
                label = paste(label, "log p"))
      normal_p <- finite[truth[finite] > log(1e-300)]
      expect_lt(max(abs(as.vector(p$p.value)[normal_p] / exp(truth[normal_p]) - 1)), 1e-12, label = label)
    }
    if (n_obs == 3000 && alternative == "two.sided") expect_lt(min(truth, na.rm = TRUE), log(1e-300))
  })
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

test_that("a number of observations that all pairs have is a vector like any other", {
  n <- gpuCorTest(x)$n
  expect_identical(sum(n), 250)
  expect_identical(as.vector(n), rep(25, 10))
  changed <- n
  changed[3] <- 1
  expect_identical(as.vector(changed), replace(rep(25, 10), 3, 1))
  expect_identical(as.vector(n), rep(25, 10))
  expect_identical(unserialize(serialize(n, NULL)), n)
  expect_identical(unserialize(serialize(changed, NULL)), changed)
  expect_identical(as.matrix(n)["b", ], c(a = 25, b = 0, c = 25, d = 25, e = 25))
  expect_identical(gpuCorTest(x[, 1:2], x[, 3:5])$n["a", ], c(c = 25, d = 25, e = 25))
  expect_length(gpuCorTest(x[, 1, drop = FALSE])$n, 0)
  many <- gpuCorTest(normal(5, 300))$n
  expect_identical(length(many), 44850L)
  expect_identical(range(many), c(5, 5))
})

test_that("as.data.frame() has a row for each pair, in order", {
  frame <- as.data.frame(gpuCorTest(x))
  expect_identical(names(frame), c("from", "to", "r", "n", "statistic", "p.value"))
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
  expect_output(print(gpuCorTest(x[, 1], x[, 2])), ", 1 test, ")
})

test_that("one column has no pair to test, and says so", {
  for (n in 0:1) {
    test <- gpuCorTest(x[, seq_len(n), drop = FALSE])
    expect_identical(dim(as.data.frame(test)), c(0L, 6L))
    expect_output(print(test), ", 0 tests, alternative two.sided")
    expect_output(print(expect_no_warning(summary(test))), "tests 0, missing 0")
  }
  one <- gpuCorCompare(x[1:10, 1, drop = FALSE], x[11:25, 1, drop = FALSE])
  expect_output(print(one), ", 0 tests;")
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
  test <- suppressMessages(gpuCorTest(sparse, method = "kendall"))
  expect_equal(as.data.frame(test), as.data.frame(gpuCorTest(x, method = "kendall")))
  frame <- as.data.frame(x)
  expect_equal(as.data.frame(gpuCorTest(frame)), as.data.frame(gpuCorTest(x)))
})

# ---- exact p values

# cor.test()'s, whose tail on the other side is one less a rounded number: that of -y has all digits.
exact_test <- function(x, y, method, alternative, exact = NULL) {
  less <- function(y) suppressWarnings(cor.test(x, y, method = method, alternative = "less", exact = exact))$p.value
  switch(alternative, less = less(y), greater = less(-y), two.sided = min(1, 2 * less(y), 2 * less(-y)))
}

exact_tests <- function(m, method, alternative, exact = NULL) {
  pairs <- utils::combn(ncol(m), 2)
  apply(pairs, 2, function(k) exact_test(m[, k[1]], m[, k[2]], method, alternative, exact))
}

expect_same_p <- function(p, truth, label) {
  expect_identical(is.na(as.vector(p)), is.na(truth), label = label)
  expect_lt(max(abs(as.vector(p) / truth - 1)[which(truth > 0)]), 1e-10, label = label)
  expect_identical(as.vector(p)[which(truth == 0)], truth[which(truth == 0)], label = label)
}

# cor.test() has exact values of Spearman's rho up to 9 observations, and by default of Kendall's tau up to 49.
exact_sizes <- list(kendall = c(3:13, 30, 49, 50), spearman = 3:9)

test_that("exact p values are those of cor.test()", {
  sizes <- do.call(rbind, lapply(names(exact_sizes), function(method) {
    data.frame(method = method, n_obs = exact_sizes[[method]])
  }))
  rows <- covering(size = seq_len(nrow(sizes)), alternative = alternatives, strength = if (full_tier()) 2 else 1)
  for_rows(rows, function(size, alternative, label) {
    method <- sizes$method[size]
    n_obs <- sizes$n_obs[size]
    m <- graded(n_obs, 6)
    m[, 2:3] <- -m[, 2:3]
    truth <- exact_tests(m, method, alternative, TRUE)
    test <- function(...) gpuCorTest(m, method = method, alternative = alternative, exact = TRUE, ...)
    label <- paste(method, n_obs, alternative)
    expect_same_p(test()$p.value, truth, label)
    expect_equal(as.vector(test(log.p = TRUE)$p.value), as.vector(log(test()$p.value)), label = label)
    asymptotic <- gpuCorTest(m, method = method, alternative = alternative, exact = FALSE)
    expect_identical(test()$statistic, asymptotic$statistic)
    untold <- gpuCorTest(m, method = method, alternative = alternative)
    expect_identical(untold$p.value, if (n_obs < 50) test()$p.value else asymptotic$p.value)
  })
  m <- graded(60, 5)
  expect_same_p(gpuCorTest(m, method = "kendall", exact = TRUE)$p.value, exact_tests(m, "kendall", "two.sided", TRUE),
                "kendall")
})

test_that("exact p values are shares of all orders", {
  orders <- as.matrix(expand.grid(rep(list(1:6), 6)))
  orders <- orders[apply(orders, 1, anyDuplicated) == 0, ]
  expect_identical(nrow(orders), 720L)
  m <- cbind(1:6, c(2, 1, 3, 5, 4, 6), c(6, 3, 4, 5, 1, 2))
  for (method in c("kendall", "spearman")) {
    r <- apply(orders, 1, function(order) cor(1:6, order, method = method))
    at_least <- function(bound) mean(r >= bound - 1e-9)
    own <- cor(m, method = method)[lower.tri(diag(3))]
    p <- gpuCorTest(m, method = method, exact = TRUE, alternative = "greater")
    expect_equal(as.vector(p$p.value), vapply(own, at_least, 0), tolerance = 1e-14)
    p <- gpuCorTest(m, method = method, exact = TRUE, alternative = "less")
    expect_equal(as.vector(p$p.value), vapply(-own, at_least, 0), tolerance = 1e-14)
  }
})

test_that("p values are exact where there are no ties and few observations", {
  m <- cbind(normal(20, 3), rounded(20, 1))
  m <- cbind(m, c(NA, m[-1, 4]))
  m[2:3, 1] <- NA
  tied <- c(FALSE, FALSE, TRUE, TRUE, FALSE, TRUE, TRUE, TRUE, TRUE, TRUE)
  n_obs <- list(kendall = 20, spearman = 11)
  for (method in names(n_obs)) {
    test <- function(m, ...) gpuCorTest(m[1:n_obs[[method]], ], use = "pairwise", method = method, ...)$p.value
    expect_warning(p <- test(m, exact = TRUE), "ties: 7 of 10 pairs have no exact p value")
    if (method == "spearman") expect_silent(expect_identical(test(m), p))
    expect_identical(as.vector(p == test(m, exact = if (method == "kendall") FALSE)), tied | method == "spearman")
    own <- complete.cases(m[, 1:2]) & seq_len(20) <= n_obs[[method]]
    expect_equal(p[1], exact_test(m[own, 1], m[own, 2], method, "two.sided"), tolerance = 1e-10)
    # A tie of two values that no other column has does not count.
    untied <- cbind(c(1, 1, 3:9), c(NA, 5:1, 7:9))
    expect_silent(p <- gpuCorTest(untied, use = "pairwise", method = method, exact = TRUE)$p.value)
    expect_equal(p[1], exact_test(2:9, untied[-1, 2], method, "two.sided"), tolerance = 1e-10)
  }
  m <- normal(171, 2)
  p <- function(n_obs, exact) gpuCorTest(m[seq_len(n_obs), ], method = "kendall", exact = exact)$p.value[1]
  expect_silent(exact <- p(170, TRUE))
  expect_false(exact == p(170, FALSE))
  expect_warning(exact <- p(171, TRUE), "more than 170 observations: 1 of 1 pair has no exact p value", fixed = TRUE)
  expect_identical(exact, p(171, FALSE))
  expect_silent(p(171, FALSE))
  expect_silent(p(171, NULL))
  for (n_obs in 49:50) {
    expect_identical(p(n_obs, NULL) == p(n_obs, FALSE), n_obs > 49)
    of_cor <- cor.test(m[seq_len(n_obs), 1], m[seq_len(n_obs), 2], method = "kendall")$p.value
    expect_equal(p(n_obs, NULL), of_cor, tolerance = 1e-10)
  }
  expect_identical(gpuCorTest(m, exact = TRUE)$p.value, gpuCorTest(m)$p.value)
  expect_error(gpuCorTest(m, exact = "yes"), "'exact' must be TRUE or FALSE")
  gaps <- normal(21, 3)
  gaps[1, 1] <- NA # the other pair has 21 observations
  expect_warning(p <- gpuCorTest(gaps, use = "pairwise", method = "spearman", exact = TRUE)$p.value,
                 "^more than 20 observations: 1 of 3 pairs has no exact p value$")
  expect_identical(as.vector(p == gpuCorTest(gaps, use = "pairwise", method = "spearman", exact = FALSE)$p.value)[1:2],
                   c(FALSE, FALSE))
})

# Sums of squared differences of ranks, halved, of all orders: the number of orders with each, by the set of ranks that
# the first observations have.
rho_counts <- function(n) {
  steps <- n * (n^2 - 1) / 6
  bits <- 2^(seq_len(n) - 1)
  counts <- matrix(0, steps + 1, 2^n) # of x^2 - x, halved, whose sum is even
  counts[1, 1] <- 1
  size <- colSums(matrix(bitwAnd(rep(seq_len(2^n) - 1, each = n), bits) > 0, n))
  for (at in seq_len(n)) for (set in which(size == at - 1)) for (rank in which(bitwAnd(set - 1, bits) == 0)) {
    step <- ((at - rank)^2 - (at - rank)) / 2
    to <- set + 2^(rank - 1)
    here <- seq_len(steps + 1 - step)
    counts[here + step, to] <- counts[here + step, to] + counts[here, set]
  }
  counts[, 2^n]
}

test_that("p values of Spearman's rho are exact in the tail, and nearly elsewhere", {
  n <- if (full_tier()) 15 else 11
  counts <- rho_counts(n)
  truth <- cumsum(counts) / factorial(n)
  expect_identical(sum(counts), factorial(n))
  r <- 1 - 2 * (seq_along(truth) - 1) / (length(truth) - 1)
  # Pairs with each coefficient, as far as they are found at random.
  m <- normal(n, 150)
  m <- cbind(m, m[, 1] + normal(n, 250, seed = 2) %*% diag(10^seq(0, -2, length.out = 250)))
  test <- gpuCorTest(m, method = "spearman", alternative = "greater", precision = "double")
  at <- 1 + round((1 - as.vector(test$r)) / 2 * (length(truth) - 1))
  expect_gt(length(unique(at)), 0.9 * length(truth) / 2)
  error <- as.vector(test$p.value) / truth[at] - 1
  tail <- if (n > 14) 80 else Inf
  expect_lt(max(abs(error[at <= tail])), 1e-12)
  expect_lt(max(abs(error)), 0.04)
})

# How probable the orders that look like the pair's own are, by the column that ties more.
own_order_p <- function(m) {
  same <- apply(m, 2, function(x) prod(factorial(table(x))))
  apply(utils::combn(ncol(m), 2), 2, function(k) max(same[k]) / factorial(nrow(m)))
}

test_that("Spearman's rho beyond exact p values, and with ties, has those of its moments", {
  for (n_obs in c(4, 9, 14, 20, 21, 22, 100, 2000)) {
    m <- graded(n_obs, 9)
    m[, 2:3] <- -m[, 2:3]
    if (n_obs <= 20) m <- round(rbind(m[-1, ], m[2, ]), 1) # two are the same
    for (alternative in alternatives) {
      run <- function(...) gpuCorTest(m, method = "spearman", alternative = alternative, precision = "double", ...)
      test <- suppressWarnings(run()) # of few observations
      two_sided <- moments_p(as.vector(test$r), n_obs)
      is_that_side <- if (alternative == "less") test$r <= 0 else test$r >= 0
      truth <- if (alternative == "two.sided") two_sided else ifelse(is_that_side, two_sided / 2, 1 - two_sided / 2)
      if (n_obs <= 20) truth <- pmax(truth, pmin(1, own_order_p(m) * (1 + (alternative == "two.sided"))))
      normal_p <- which(truth > 1e-300)
      expect_gt(length(normal_p), 9)
      expect_lt(max(abs(as.vector(test$p.value) / truth - 1)[normal_p]), 1e-10, label = paste(n_obs, alternative))
      log_p <- as.vector(suppressWarnings(run(log.p = TRUE))$p.value)
      expect_equal(log_p[normal_p], log(truth)[normal_p], tolerance = 1e-10)
      expect_true(all(is.finite(log_p)))
    }
  }
  # A pair of the same order has a p value above 0.
  same <- cbind(1:21, 1:21)
  expect_gt(gpuCorTest(same, method = "spearman")$p.value[1], 2 / factorial(21))
  expect_identical(gpuCorTest(same, method = "spearman", exact = FALSE)$p.value[1], 0)
})

test_that("p values of few observations with many ties are not below the probability of their own order", {
  zeros <- matrix(ifelse(runif(8 * 150) < 0.6, 0, rexp(8 * 150)), 8)
  for (method in c("spearman", "kendall")) {
    m <- zeros[, apply(zeros, 2, function(x) length(unique(x)) > 1)]
    p <- as.vector(suppressWarnings(gpuCorTest(m, method = method))$p.value)
    expect_true(all(p >= 2 * own_order_p(m) * (1 - 1e-12) | p == 1))
    expect_gt(min(p.adjust(p, "BH")), 0.05)
    approximate <- gpuCorTest(m, method = method, exact = FALSE)$p.value
    if (method == "spearman") expect_lt(min(p.adjust(approximate, "BH")), 0.05)
    holes <- with_missing(m, 0.1)
    pair <- complete.cases(holes[, 1:2])
    alone <- suppressWarnings(gpuCorTest(holes[pair, 1:2], method = method))$p.value[1]
    expect_equal(suppressWarnings(gpuCorTest(holes, use = "pairwise", method = method))$p.value[1], alone,
                 tolerance = 1e-6)
  }
})

test_that("p values of Spearman's rho are valid in the tail", {
  # Student's t has 1.6 and 2 times as many.
  for (n_obs in c(14, 20)) {
    p <- unlist(lapply(1:8, function(seed) gpuCorTest(normal(n_obs, 500, seed = seed), method = "spearman")$p.value))
    for (level in c(1e-3, 1e-4)) expect_lt(sum(p <= level), level * length(p) + 5 * sqrt(level * length(p)))
    p <- p.adjust(p[seq_len(choose(500, 2))], "BH")
    expect_gt(min(p), 0.01)
  }
})

test_that("p values of coefficients near 1 are those of double precision", {
  old <- options(gpucor.orientation = "columns") # variables in columns, though correlated
  on.exit(options(old))
  for (n_obs in c(7, 30, 60, 300)) for (method in c("pearson", "spearman", "bicor")) {
    noise <- 10^seq(-0.5, -5, length.out = 12)
    m <- normal(n_obs, 1)[, 1] + normal(n_obs, 12, seed = 2) %*% diag(noise)
    holes <- m
    holes[1, 3:4] <- NA
    label <- paste(method, n_obs)
    for (data in list(m, holes)) {
      log_p <- function(...) {
        test <- gpuCorTest(data, use = "pairwise", method = method, log.p = TRUE, ..., df = if (n_obs == 30) 20)
        expect_identical(as.vector(gpuCor(data, use = "pairwise", method = method, ...)), as.vector(test$r))
        p <- as.vector(test$p.value)
        t <- as.vector(test$statistic)
        tail <- pt(-abs(t), if (n_obs == 30) 20 else as.vector(test$n) - 2, log.p = TRUE) + log(2)
        if (method != "spearman") expect_equal(p, tail, tolerance = 1e-9)
        p
      }
      truth <- log_p(precision = "double")
      is_one <- is.infinite(truth) # by Student's t of ranks in the same order
      own <- log_p()
      expect_identical(is.infinite(own), is_one)
      # Below 1e-300 the logarithm is right.
      expect_lt(max((abs(own - truth) / pmax(1, abs(truth) / 690))[!is_one]), 2e-3, label = label)
    }
    edges <- function(...) gpuCorNetwork(m, p.value = 0.5, method = method, output = "edges", ...)
    own <- edges()$p.value
    truth <- edges(precision = "double")$p.value
    is_normal <- truth > 1e-300
    expect_lt(max(abs(own / truth - 1)[is_normal]), 2e-3, label = label)
    expect_identical(as.data.frame(gpuCorNetwork(m, p.value = 0.5, method = method))$p.value, own)
    pairs <- function(precision) {
      gpuAssociation(m[, 1:6], m[, 7:12], p.value = 0.5, method = method, precision = precision)
    }
    single <- pairs("single")$p.value
    truth <- pairs("double")$p.value
    expect_lt(max(abs(single / truth - 1)[truth > 1e-300]), 2e-3, label = label)
  }
  expect_identical(gpuCorTest(cbind(1:20, 1:20), log.p = TRUE)$p.value[1], -Inf)
})

test_that("pairs below min_obs have no coefficient, are not tested, and are no edges", {
  m <- with_missing(normal(14, 40), 0.3)
  for (method in all_methods) {
    run <- function(f, ...) suppressWarnings(f(m, use = "pairwise", method = method, ...))
    all <- run(gpuCorTest)
    some <- run(gpuCorTest, min_obs = 8)
    few <- as.vector(all$n) < 8
    expect_gt(sum(few), 50)
    for (part in c("r", "statistic", "p.value")) {
      expect_identical(as.vector(some[[part]]), replace(as.vector(all[[part]]), few, NA))
    }
    edges <- run(gpuCorNetwork, p.value = 0.3, min_obs = 8, output = "edges")
    expect_equal(sort(edges$p.value), sort(some$p.value[which(some$p.value <= 0.3)]), tolerance = 1e-6)
    edges <- run(gpuCorNetwork, fdr = 0.9, min_obs = 8, output = "edges")
    adjusted <- p.adjust(some$p.value, "BH", sum(!is.na(some$r)))
    expect_identical(nrow(edges), sum(adjusted <= 0.9, na.rm = TRUE))
    traits <- m[, 31:40]
    tested <- function(...) {
      own <- utils::modifyList(list(min_obs = 8), list(...))
      suppressWarnings(do.call(gpuAssociation, c(list(m[, 1:30], traits, method = method), own)))
    }
    matrices <- tested(output = "matrix")
    expect_identical(is.na(matrices$r), is.na(tested(output = "matrix", min_obs = 3)$r) | matrices$n < 8)
    expect_identical(is.na(matrices$p.value), is.na(matrices$r))
    expect_equal(tested(p.value = 0.2)$p.value, sort(matrices$p.value[which(matrices$p.value <= 0.2)]),
                 tolerance = 1e-9)
  }
  expect_true(all(is.na(gpuCorTest(x, min_obs = 26)$p.value)))
  expect_error(gpuCorNetwork(x, fdr = 0.1, min_obs = 26), "p values need at least 26 observations; there are 25")
  expect_error(gpuCorNetwork(list(x, x), fdr = 0.5, min_obs = 5), "'min_obs' is for one subject's data")
  expect_error(gpuCorNetwork(x, r = 0.5), "'r' abbreviates 'resample'; give that, or threshold =")
  expect_true(all(is.na(gpuCor(x, min_obs = 26))))
  expect_identical(gpuCor(x, min_obs = 25), gpuCor(x), ignore_attr = "call")
  expect_error(gpuCorWindows(x, width = 12, min_obs = 5), "unused argument 'min_obs'", fixed = TRUE)
  for (wrong in list(2, 3.5, "5", NA, c(4, 5))) {
    expect_error(gpuCorTest(x, min_obs = wrong), "'min_obs' must be a whole number of at least 3")
  }
})

test_that("every verb takes the coefficients of pairs with min_obs observations alone", {
  m <- with_missing(normal(24, 30), 0.25)
  colnames(m) <- paste0("v", 1:30)
  n <- crossprod(!is.na(m))
  is_few <- n[lower.tri(n)] < 14
  expect_gt(sum(is_few), 100)
  for (method in c(all_methods, "mi")) {
    run <- function(f, ...) suppressWarnings(f(m, use = "pairwise", method = method, min_obs = 14, ...))
    r <- suppressWarnings(as.matrix(gpuCor(m, use = "pairwise", method = method)))
    r[n < 14] <- NA
    diag(r) <- NA
    all <- r[lower.tri(r)]
    expect_identical(as.vector(run(gpuCor)), all)
    expect_identical(as.vector(run(gpuCor, y = m[, 1:3])), as.vector(suppressWarnings({
      full <- gpuCor(m, m[, 1:3], use = "pairwise", method = method)
      replace(full, n[, 1:3] < 14, NA)
    })))
    of_network <- function(...) sort(abs(run(gpuCorNetwork, output = "edges", ...)$r))
    cut <- sort(abs(all), decreasing = TRUE)[40]
    expect_equal(of_network(threshold = cut - 1e-6), sort(abs(all[which(abs(all) >= cut - 1e-6)])), tolerance = 1e-6)
    expect_equal(of_network(density = 40 / length(all)), sort(abs(all[which(abs(all) >= cut)])), tolerance = 1e-6)
    strongest <- apply(abs(r), 2, function(own) seq_along(own) == max(which.max(own), 0))
    if (!anyDuplicated(abs(all[!is.na(all)]))) { # ranks may tie
      expect_equal(of_network(k = 1), sort(abs(r[lower.tri(r) & (strongest | t(strongest))])), tolerance = 1e-6,
                   label = method)
    }
    degrees <- run(gpuConnectivity, threshold = cut - 1e-6)$degree
    expect_equal(as.vector(as.matrix(degrees)[, 1]), unname(colSums(abs(r) >= cut - 1e-6, na.rm = TRUE)))
  }
  run <- function(f, ...) suppressWarnings(f(..., use = "pairwise", min_obs = 14))
  r <- suppressWarnings(as.matrix(gpuCor(m, use = "pairwise")))
  signed <- abs(replace(r, n < 14, 0))^2 # an adjacency of 0 where there is no coefficient
  diag(signed) <- 0
  overlaps <- (signed %*% signed + signed) / (outer(colSums(signed), colSums(signed), pmin) + 1 - signed)
  tom <- run(gpuTOM, m, power = 2, type = "unsigned", TOMType = "unsigned", replaceMissingAdjacencies = TRUE)
  expect_equal(as.vector(tom), overlaps[lower.tri(overlaps)], tolerance = 1e-5)
  other <- with_missing(normal(26, 30), 0.25)
  colnames(other) <- colnames(m)
  both <- n >= 14 & crossprod(!is.na(other)) >= 14
  more <- lapply(2:3, function(k) `colnames<-`(normal(20, 30, k), colnames(m)))
  compared <- run(gpuCorCompare, list(m, more[[1]]), list(other, more[[2]]), threshold = 0)
  expect_identical(as.vector(as.matrix(compared) != 0), as.vector(both & lower.tri(both) | both & upper.tri(both)))
  expect_identical(is.na(as.vector(run(gpuCor, list(m, other)))), !both[lower.tri(both)])
  expect_identical(is.na(as.vector(run(gpuCor, list(m, other), na.rm = TRUE))),
                   (n < 14 & crossprod(!is.na(other)) < 14)[lower.tri(n)])
})

test_that("many coefficients of 1 or -1 by very few observations are a warning", {
  few <- normal(4, 30)
  words <- "pairs have abs(r) = 1 from 5 observations or fewer, which is common by chance; min_obs = 6"
  expect_warning(gpuCorTest(few, method = "spearman"), words, fixed = TRUE)
  expect_warning(gpuCorNetwork(few, p.value = 0.5, method = "spearman"), words, fixed = TRUE)
  holes <- with_missing(normal(12, 60), 0.5)
  expect_warning(gpuCorTest(holes, use = "pairwise", method = "spearman"), words, fixed = TRUE)
  expect_warning(gpuCorNetwork(holes, use = "pairwise", fdr = 0.5, method = "spearman"), words, fixed = TRUE)
  expect_silent(gpuCorTest(holes, use = "pairwise", method = "spearman", min_obs = 6))
  expect_silent(gpuCorTest(few))
  expect_silent(gpuCorTest(normal(14, 30), method = "spearman"))
})

test_that("exact p values are right in the far tail", {
  for (n_obs in c(20, 100, 170)) {
    same <- cbind(seq_len(n_obs), seq_len(n_obs), rev(seq_len(n_obs)))
    log_p <- gpuCorTest(same, method = "kendall", exact = TRUE, log.p = TRUE)$p.value
    expect_equal(as.vector(log_p), rep(log(2) - lgamma(n_obs + 1), 3), tolerance = 1e-13)
    # One inversion: n - 1 of the orders, and the one that has none.
    same[1:2, 2] <- 2:1
    log_p <- gpuCorTest(same[, 1:2], method = "kendall", exact = TRUE, log.p = TRUE, alternative = "greater")$p.value
    expect_equal(log_p[1], log(n_obs) - lgamma(n_obs + 1), tolerance = 1e-13)
  }
})
