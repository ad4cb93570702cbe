# Subjects as a sample: Student's t of each subject's Fisher z, beside t.test().

z_matrix <- function(x, method = "pearson") {
  vapply(x, function(m) {
    z <- z_of(suppressWarnings(cor(m, method = method)))
    z[lower.tri(z)]
  }, numeric(choose(ncol(x[[1]]), 2)))
}

# Rows: statistic, df, p value and mean or difference of means, of each pair.
t_tests <- function(z, z_y = NULL, variance = "equal") {
  of_pair <- function(k) {
    test <- t.test(z[k, ], if (!is.null(z_y)) z_y[k, ], var.equal = variance == "equal")
    c(test$statistic, test$parameter, test$p.value, if (is.null(z_y)) test$estimate else -diff(test$estimate))
  }
  vapply(seq_len(nrow(z)), of_pair, numeric(4))
}

# Subjects that differ among themselves in their correlations.
varied_subjects <- function(n, m, spread = 0.3, shared = 0.4) {
  lapply(n, function(n) {
    loadings <- shared + spread * matrix(rnorm(2 * m), 2)
    matrix(rnorm(2 * n), n) %*% loadings + matrix(rnorm(n * m), n)
  })
}

for (backend in backends()) {
  test_that(paste(backend, "tests the difference of two groups of subjects as t.test()"), {
    set.seed(1)
    x <- varied_subjects(c(40, 30, 50, 35), 33)
    y <- varied_subjects(c(25, 60, 45), 33, 0.5)
    for (method in c("pearson", "spearman", "kendall")) for (variance in c("equal", "unequal")) {
      truth <- t_tests(z_matrix(x, method), z_matrix(y, method), variance)
      compare <- function(...) {
        gpuCorCompare(x, y, method = method, backend = backend, precision = "double", variance = variance, ...)
      }
      all <- compare()
      expect_equal(as.vector(all$statistic), truth[1, ], tolerance = 1e-8)
      expect_equal(as.vector(all$df), truth[2, ], tolerance = 1e-8)
      expect_equal(as.vector(all$p.value), truth[3, ], tolerance = 1e-8)
      expect_equal(as.vector(all$difference), truth[4, ], tolerance = 1e-8)
      expect_equal(as.vector(all$fdr), p.adjust(truth[3, ], "BH"), tolerance = 1e-8)
      expect_named(as.data.frame(all), c("from", "to", "difference", "statistic", "df", "p.value", "fdr"))
      edges <- compare(p.value = 0.05, output = "edges")
      at <- order(-abs(truth[4, ]))
      at <- at[truth[3, at] <= 0.05]
      expect_equal(edges$p.value, truth[3, at], tolerance = 1e-8)
      expect_equal(edges$statistic, truth[1, at], tolerance = 1e-8)
      expect_equal(edges$df, truth[2, at], tolerance = 1e-8)
      expect_equal(edges$difference, truth[4, at], tolerance = 1e-8)
      for (fdr in c(0.3, 0.8)) for (sign in c("absolute", "negative")) {
        found <- p.adjust(truth[3, ], "BH") <= fdr & (sign == "absolute" | truth[4, ] < 0)
        expect_equal(compare(fdr = fdr, sign = sign)@edges, sum(found))
      }
      by_size <- compare(density = 0.1, output = "edges")
      first <- order(-abs(truth[4, ]))[seq_len(nrow(by_size))]
      expect_equal(by_size$difference, truth[4, first], tolerance = 1e-8)
      expect_equal(by_size$p.value, truth[3, first], tolerance = 1e-8)
    }
  })

  test_that(paste(backend, "tests the mean z of subjects as t.test(), within a matrix and between two"), {
    set.seed(2)
    x <- varied_subjects(c(40, 30, 50, 35, 28), 20)
    truth <- t_tests(z_matrix(x))
    for (precision in c("single", "double")) for (sign in c("absolute", "positive")) {
      tolerance <- if (precision == "single") 1e-4 else 1e-8
      net <- function(...) {
        gpuCorNetwork(x, combine = "fisher", sign = sign, precision = precision, backend = backend, ...)
      }
      of_sign <- sign == "absolute" | truth[4, ] > 0
      edges <- net(p.value = 0.02, output = "edges")
      at <- order(-abs(truth[4, ]))
      at <- at[(truth[3, ] <= 0.02 & of_sign)[at]]
      expect_equal(edges$r, tanh(truth[4, at]), tolerance = tolerance)
      expect_equal(edges$p.value, truth[3, at], tolerance = tolerance)
      expect_equal(edges$df, truth[2, at])
      fdr <- p.adjust(truth[3, ], "BH")
      expect_equal(net(fdr = 0.05)@edges, sum(fdr <= 0.05 & of_sign))
      expect_equal(sort(net(fdr = 0.05, output = "edges")$fdr), sort(fdr[fdr <= 0.05 & of_sign]), tolerance = tolerance)
    }
    halves <- lapply(x, function(m) list(m[, 1:8], m[, 9:20]))
    both <- gpuCorNetwork(lapply(halves, `[[`, 1), lapply(halves, `[[`, 2), p.value = 0.05, combine = "fisher",
                          precision = "double", backend = backend)
    all <- matrix(NA, 20, 20)
    all[lower.tri(all)] <- truth[3, ] <= 0.05
    expect_identical(unname(as.matrix(both) != 0), unname(t(all[9:20, 1:8])))
  })

  test_that(paste(backend, "gives the same tests for any number of threads and workers"), {
    set.seed(3)
    x <- varied_subjects(c(20, 25, 30), 300)
    y <- varied_subjects(c(22, 24), 300)
    for (variance in c("equal", "unequal")) {
      compare <- function(...) gpuCorCompare(x, y, backend = backend, variance = variance, ...)
      once <- compare()
      expect_identical(compare(threads = 1), once)
      with_options(list(gpucor.workers_per_device = 3), expect_identical(compare(), once))
      expect_identical(compare(memory = 1e5), once)
    }
  })

  test_that(paste(backend, "finds the largest t of each permutation of labels"), {
    set.seed(4)
    x <- varied_subjects(c(20, 33, 25), 14)
    y <- varied_subjects(c(30, 25, 21, 28), 14)
    x[[2]][, 3] <- x[[2]][, 4] # a coefficient of 1
    z <- cbind(z_matrix(x), z_matrix(y))
    for (sign in c("absolute", "positive", "negative")) for (variance in c("equal", "unequal")) {
      set.seed(5)
      net <- suppressWarnings(gpuCorCompare(x, y, threshold = 0.1, n_perm = 12, sign = sign, precision = "double",
                                            backend = backend, variance = variance))
      set.seed(5)
      truth <- vapply(1:12, FUN.VALUE = 0, function(b) {
        in_x <- sample.int(7) <= 3
        t <- t_tests(z[, in_x], z[, !in_x], variance)[1, ]
        max(switch(sign, absolute = abs(t), positive = t, negative = -t))
      })
      expect_equal(net@maxima, truth, tolerance = 1e-8)
      edges <- as.data.frame(net)
      size <- switch(sign, absolute = abs(edges$statistic), positive = edges$statistic, negative = -edges$statistic)
      expect_equal(edges$p.adjusted, vapply(size, function(t) (1 + sum(truth >= t - 1e-6)) / 13, 0))
    }
  })
}

test_that("pairs without a coefficient in a subject have no test, unless the subject is left out", {
  set.seed(6)
  x <- varied_subjects(c(20, 33, 25, 40), 8)
  x[[2]][, 8] <- 1
  net <- function(...) suppressWarnings(gpuCorNetwork(x, p.value = 1, combine = "fisher", output = "edges", ...))
  expect_equal(nrow(net()), 21)
  left <- net(na.rm = TRUE, precision = "double")
  expect_equal(nrow(left), 28)
  expect_setequal(left$df[left$to == 8 | left$from == 8], 2)
  of_8 <- left[left$from == 1 & left$to == 8, ]
  expect_equal(of_8$p.value, t.test(atanh(vapply(x[-2], function(m) cor(m[, 1], m[, 8]), 0)))$p.value, tolerance = 1e-8)
  y <- varied_subjects(c(20, 20), 8)
  expect_warning(all <- gpuCorCompare(x, y), "standard deviation is zero")
  expect_identical(unname(is.na(as.matrix(all$p.value)[8, 1:7])), rep(TRUE, 7))
  expect_identical(unname(which(is.na(as.matrix(all$p.value)[1:7, 1:7]))), seq(1L, 49L, 8L)) # the diagonal
})

test_that("subjects that agree have no difference, and p = 1", {
  x <- varied_subjects(c(20, 20), 5)
  same <- gpuCorCompare(x[c(1, 1)], x[c(1, 1)])
  expect_true(all(same$difference == 0) && all(same$statistic == 0) && all(same$p.value == 1))
})

test_that("series of subjects that differ give 5 % by chance, where fixed effects give many more", {
  set.seed(7)
  rates <- rowMeans(replicate(20, {
    groups <- split(varied_subjects(rep(40, 10), 12, 0.5, 0), rep(1:2, 5))
    p <- function(effects) mean(gpuCorCompare(groups[[1]], groups[[2]], effects = effects)$p.value < 0.05)
    c(p("random"), p("fixed"))
  }))
  expect_lt(abs(rates[1] - 0.05), 0.015)
  expect_gt(rates[2], 0.2)
})

test_that("what has no meaning is an error", {
  x <- varied_subjects(c(20, 20, 20), 5)
  expect_error(gpuCorNetwork(x, fdr = 0.1, combine = "fisher", subject_weights = 1:3), "each subject counts once")
  expect_error(gpuCorNetwork(x, threshold = 0.1, combine = "fisher", effects = "fixed"), "'effects' changes p values")
  expect_error(gpuCor(x, effects = "random"), "unused argument 'effects'")
  expect_error(gpuCorNetwork(x, fdr = 0.1, combine = "fisher", effects = "some"), "'effects' must be one of")
  expect_error(gpuCorNetwork(x, fdr = 0.1), "combine = \"fisher\" only; combine is \"mean\"")
  expect_error(gpuCorNetwork(x[[1]], fdr = 0.1, effects = "random"), "'x' is not a list")
})
