# Differences between two groups: by the formula, and by permutation.

z_mean <- function(x, method = "pearson") {
  n <- vapply(x, nrow, 0) - 3
  Reduce(`+`, Map(function(m, w) w * z_of(cor(m, method = method)), x, n)) / sum(n)
}

reference_difference <- function(x, y, method) {
  d <- z_mean(x, method) - z_mean(y, method)
  spread <- function(x) 1 / sum(vapply(x, nrow, 0) - 3)
  error <- sqrt((spread(x) + spread(y)) * c(pearson = 1, spearman = 1.06)[[method]])
  list(difference = d[lower.tri(d)], error = error, p = 2 * pnorm(-abs(d[lower.tri(d)] / error)))
}

differing <- function(n, m = 65) {
  subjects <- some_subjects(n, m, 6, 0)
  lapply(subjects, function(x) {
    x[, 1:4] <- x[, 1:4] + 2 * rnorm(nrow(x))
    x
  })
}

robust_scale <- function(m) apply(m, 2, function(v) (v - median(v)) / mad(v, constant = 1))

for (backend in backends()) {
  test_that(paste(backend, "compares two matrices and two groups of subjects"), {
    set.seed(1)
    groups <- list(list(differing(60), some_subjects(45, 65, 6, 0)),
                   list(differing(c(20, 33, 41)), some_subjects(c(30, 25), 65, 6, 0)))
    for (g in groups) for (method in c("pearson", "spearman")) {
      truth <- reference_difference(g[[1]], g[[2]], method)
      one <- length(g[[1]]) == 1
      x <- if (one) g[[1]][[1]] else g[[1]]
      y <- if (one) g[[2]][[1]] else g[[2]]
      compare <- function(...) gpuCorCompare(x, y, method = method, backend = backend, effects = "fixed", ...)
      all <- compare()
      expect_equal(as.vector(all$difference), truth$difference, tolerance = 1e-5)
      expect_equal(all$error, truth$error)
      expect_equal(as.vector(all$p.value), truth$p, tolerance = 1e-4)
      expect_equal(as.vector(all$fdr), p.adjust(truth$p, "BH"), tolerance = 1e-4)
      expect_equal(unname(unlist(all$n)), vapply(c(g[[1]], g[[2]]), nrow, 0))
      d <- as.vector(all$difference)

      edges <- compare(p.value = 0.01, output = "edges")
      expect_equal(nrow(edges), sum(truth$p <= 0.01))
      expect_equal(edges$p.value, sort(all$p.value[all$p.value <= 0.01]), tolerance = 1e-9)
      expect_identical(edges, as.data.frame(compare(p.value = 0.01)))
      net <- suppressWarnings(compare(fdr = 0.05), classes = "gpuCorNormalRows")
      expect_gt(net@edges, 2)
      expect_equal(net@edges, sum(p.adjust(truth$p, "BH") <= 0.05))
      expect_equal(compare(threshold = 0.3, sign = "positive")@edges, sum(d >= 0.3))
      most <- sort(-d, decreasing = TRUE)[ceiling(0.01 * length(d))]
      expect_equal(compare(density = 0.01, sign = "negative")@threshold, most, tolerance = 1e-12)
      expect_equal(dim(compare(k = 2)), c(65L, 65L))
      full <- as.matrix(all$difference)
      expect_equal(unname(as.matrix(compare(threshold = 0.3))), unname(ifelse(abs(full) >= 0.3, full, 0)))
    }
  })

  test_that(paste(backend, "finds no difference between equal groups, and the opposite of groups exchanged"), {
    set.seed(2)
    x <- differing(c(20, 33))
    y <- some_subjects(c(25, 30), 65)
    expect_equal(max(abs(gpuCorCompare(x, x, backend = backend)$difference)), 0, tolerance = 1e-12)
    there <- gpuCorCompare(x, y, backend = backend)$difference
    expect_equal(as.vector(gpuCorCompare(y, x, backend = backend)$difference), -as.vector(there), tolerance = 1e-10)
  })

  test_that(paste(backend, "adjusts p values by permutation of labels"), {
    set.seed(3)
    x <- differing(c(20, 33, 25), 12)
    y <- some_subjects(c(30, 25), 12, 6, 0)
    compare <- function(...) {
      set.seed(4)
      gpuCorCompare(x, y, n_perm = 40, backend = backend, effects = "fixed", ...)
    }
    all <- compare()
    set.seed(4)
    n <- vapply(c(x, y), nrow, 0)
    largest <- vapply(1:40, function(b) {
      in_x <- sample.int(5) <= 3
      t <- reference_difference(c(x, y)[in_x], c(x, y)[!in_x], "pearson")
      max(abs(t$difference)) / t$error
    }, 0)
    statistic <- abs(as.vector(all$statistic))
    truth <- vapply(statistic, function(z) (1 + sum(largest >= z - 1e-4)) / 41, 0)
    expect_equal(as.vector(all$p.adjusted), truth)
    edges <- compare(threshold = 0.2, output = "edges")
    expect_equal(edges$p.adjusted, as.vector(all$p.adjusted)[order(-abs(all$difference))][seq_len(nrow(edges))])
    expect_identical(compare(), compare())
  })

  test_that(paste(backend, "finds the largest difference of each permutation of labels, on every sign"), {
    set.seed(13)
    x <- differing(c(20, 33), 70)
    y <- some_subjects(c(30, 25, 28), 70, 6, 0)
    n <- vapply(c(x, y), nrow, 0)
    truth <- function(sign, method, columns = 1:70) {
      set.seed(14)
      vapply(1:12, FUN.VALUE = 0, function(b) {
        in_x <- sample.int(length(n)) <= length(x)
        picked <- lapply(c(x, y), function(m) m[, columns])
        d <- reference_difference(picked[in_x], picked[!in_x], method)
        max(switch(sign, absolute = abs(d$difference), positive = d$difference, negative = -d$difference)) / d$error
      })
    }
    maxima <- function(x, ...) {
      set.seed(14)
      found <- suppressWarnings(gpuCorCompare(x, y, threshold = 0.2, n_perm = 12, backend = backend,
                                              effects = "fixed", ...))
      atanh(found@maxima) / found@error
    }
    for (sign in c("absolute", "positive", "negative")) for (method in c("pearson", "spearman")) {
      expect_equal(maxima(x, sign = sign, method = method), truth(sign, method), tolerance = 1e-5)
    }
    once <- maxima(x, precision = "double")
    expect_equal(once, truth("absolute", "pearson"), tolerance = 1e-12)
    expect_identical(maxima(x, precision = "double", threads = 1), once)
    expect_identical(maxima(x, precision = "double", memory = 1e5), once)
    with_options(list(gpucor.workers_per_device = 3), expect_identical(maxima(x, precision = "double"), once))
    x[[1]][, 1:65] <- 1 # no coefficient in one subject: no difference in any permutation
    expect_equal(maxima(x, precision = "double"), truth("absolute", "pearson", 66:70), tolerance = 1e-12)
  })

  for (resource in resources_of(backend)) {
    test_that(paste(backend, "permutes labels cleanly wherever the", resource, "fails"), {
      set.seed(15)
      x <- some_subjects(c(9, 12, 10, 11), 66)
      walk_failures(function() {
        set.seed(16)
        gpuCorCompare(x[1:2], x[3:4], n_perm = 3, backend = backend)
      }, resource, backend)
    })
  }

  test_that(paste(backend, "adjusts p values by permutation of observations"), {
    set.seed(5)
    x <- differing(60, 10)[[1]]
    y <- some_subjects(50, 10, 6, 0)[[1]] * 3 + 7
    for (method in c("pearson", "spearman")) {
      set.seed(6)
      all <- gpuCorCompare(x, y, n_perm = 30, method = method, backend = backend)
      set.seed(6)
      made <- lapply(list(x, y), function(m) robust_scale(if (method == "spearman") apply(m, 2, rank) else m))
      pool <- do.call(rbind, made)
      largest <- vapply(1:30, function(b) {
        order <- sample.int(110)
        max(abs(reference_difference(list(pool[order[1:60], ]), list(pool[order[-(1:60)], ]), method)$difference))
      }, 0)
      truth <- vapply(abs(as.vector(all$difference)), function(d) (1 + sum(largest >= d - 1e-5)) / 31, 0)
      expect_equal(as.vector(all$p.adjusted), truth)
      expect_equal(min(all$p.adjusted), 1 / 31)
    }
  })

  # From 0.6 to 0.999: approximate values are larger than the range of the polynomials for their Fisher z.
  test_that(paste(backend, "finds the largest differences of columns that share a factor"), {
    set.seed(25)
    sd <- rep_len(c(0.03, 0.1, 0.3, 0.8), 90)
    groups <- lapply(c(30, 45), function(n) rnorm(n) + t(sd * matrix(rnorm(n * 90), 90)))
    set.seed(26)
    found <- suppressWarnings(gpuCorCompare(groups[[1]], groups[[2]], threshold = 3, n_perm = 6, backend = backend))
    set.seed(26)
    pool <- do.call(rbind, lapply(groups, robust_scale))
    truth <- vapply(1:6, FUN.VALUE = 0, function(b) {
      order <- sample.int(75)
      max(abs(reference_difference(list(pool[order[1:30], ]), list(pool[order[31:75], ]), "pearson")$difference))
    })
    expect_equal(found@maxima, tanh(truth), tolerance = 1e-5)
  })

  test_that(paste(backend, "finds the CPU's maxima of permuted observations, wherever they are computed"), {
    set.seed(18)
    x <- differing(30, 150)[[1]]
    y <- some_subjects(25, 150, 6, 0)[[1]]
    y[, 150] <- 1 # no difference
    maxima <- function(..., backend) {
      set.seed(19)
      suppressWarnings(gpuCorCompare(x, y, threshold = 0.3, n_perm = 4, ..., backend = backend))@maxima
    }
    for (precision in c("single", "double")) for (sign in c("absolute", "positive", "negative")) {
      expect_identical(maxima(precision = precision, sign = sign, backend = backend),
                       maxima(precision = precision, sign = sign, backend = "cpu"))
    }
    truth <- maxima(backend = "cpu")
    expect_length(unique(truth), 4)
    expect_identical(maxima(threads = 1, backend = backend), truth)
    expect_identical(maxima(memory = 1e4, backend = backend), truth)
    with_options(list(gpucor.workers_per_device = 3), expect_identical(maxima(backend = backend), truth))
    mask <- pairMask(rep_len(1:3, 150), same = TRUE)
    expect_identical(maxima(pairs = mask, backend = backend), maxima(pairs = mask, backend = "cpu"))
  })

  if (backend != "cpu") test_that(paste(backend, "finds them among many columns, some nearly equal"), {
    set.seed(23)
    x <- some_subjects(14, 1100, 6, 0)[[1]]
    y <- some_subjects(17, 1100, 6, 0)[[1]]
    x[, 2:9] <- x[, 1] + 1e-4 * x[, 2:9]
    y[, 2:9] <- y[, 1] + 1e-3 * y[, 2:9]
    x[, 20] <- 5
    y[, c(20, 1100)] <- 0
    for (method in c("pearson", "spearman")) for (sign in c("absolute", "positive", "negative")) {
      maxima <- lapply(c("cpu", backend), function(own) {
        set.seed(24)
        suppressWarnings(gpuCorCompare(x, y, threshold = 3, n_perm = 3, method = method, sign = sign,
                                       backend = own))@maxima
      })
      expect_identical(maxima[[2]], maxima[[1]])
      expect_length(unique(maxima[[1]]), 3)
    }
  })

  for (resource in resources_of(backend)) {
    test_that(paste(backend, "permutes observations cleanly wherever the", resource, "fails"), {
      set.seed(20)
      x <- some_subjects(c(9, 12), 66)
      walk_failures(function() {
        set.seed(21)
        gpuCorCompare(x[[1]], x[[2]], n_perm = 2, backend = backend)
      }, resource, backend)
    })
  }
}

test_that("columns of both groups are scaled by medians, or without spread by the root mean square", {
  set.seed(22)
  for (n in c(1, 2, 7, 8)) {
    groups <- lapply(1:2, function(i) round(matrix(rnorm(n * 40), n), 1))
    centred <- lapply(groups, function(m) sweep(m, 2, apply(m, 2, median)))
    spreads <- lapply(centred, function(m) apply(abs(m), 2, median))
    pooled <- sqrt(colMeans(do.call(rbind, centred)^2))
    narrow <- pmin(spreads[[1]], spreads[[2]]) == 0
    truth <- lapply(1:2, function(i) {
      sweep(centred[[i]], 2, ifelse(narrow, ifelse(pooled > 0, pooled, 1), spreads[[i]]), "/")
    })
    expect_identical(gpucor:::on_one_scale(groups), truth)
  }
})

# Residuals of each group's regression are exchanged, and regressed again.
test_that("permuted rows are residuals, and weights of 0 leave rows out", {
  set.seed(17)
  x <- differing(30, 7)[[1]]
  y <- some_subjects(25, 7, 6, 0)[[1]]
  z <- list(cbind(rep(0:1, 15), rnorm(30)), matrix(rnorm(50), 25))
  keep <- list(rep(c(TRUE, TRUE, FALSE), 10), rep(TRUE, 25))
  x[!keep[[1]], 2] <- 1e3
  of_z <- function(m, z) residuals(lm(m ~ z))
  for (method in c("pearson", "spearman")) {
    compare <- function(...) {
      set.seed(18)
      gpuCorCompare(x, y, n_perm = 25, method = method, precision = "double", ...)
    }
    all <- compare(covariates = z, weights = keep)
    ranked <- function(m) if (method == "spearman") apply(m, 2, rank) else m
    own <- Map(function(m, z, rows) ranked(m[rows, ]), list(x, y), z, keep)
    beside <- Map(function(z, rows) ranked(z[rows, ]), z, keep)
    rows <- do.call(rbind, lapply(Map(huber_residuals, own, beside), robust_scale))
    set.seed(18)
    largest <- vapply(1:25, FUN.VALUE = 0, function(b) {
      order <- sample.int(45)
      again <- Map(of_z, list(rows[order[1:20], ], rows[order[-(1:20)], ]), beside)
      d <- z_of(cor(again[[1]])) - z_of(cor(again[[2]]))
      max(abs(d[lower.tri(d)]))
    })
    truth <- vapply(abs(as.vector(all$difference)), function(d) (1 + sum(largest >= d - 1e-9)) / 26, 0)
    expect_equal(as.vector(all$p.adjusted), truth, label = method)
    expect_gt(length(unique(truth)), 1)
    expect_identical(compare(weights = keep)$p.adjusted, {
      set.seed(18)
      gpuCorCompare(x[keep[[1]], ], y, n_perm = 25, method = method, precision = "double")$p.adjusted
    })
  }
  expect_error(gpuCorCompare(x, y, n_perm = 9, weights = list(1:30, NULL)), "other than 0 and 1; leave one")
  expect_error(gpuCorCompare(x, y, n_perm = 9, bandpass = c(0, 0.22), tr = 2), "rows of series follow")
  expect_error(gpuCorCompare(x, y, n_perm = 9, surrogate = "phase"), "unused argument 'surrogate'")
})

test_that("permuted rows keep their level with covariates, heavy tails and scales of their own", {
  skip_unless_full()
  batch <- list(rep(0:1, c(14, 6)), rep(0:1, c(6, 14)))
  rejects <- function(seed, draw, scale, ...) {
    set.seed(seed)
    groups <- lapply(batch, function(b) matrix(draw(200), 20) * scale + b %o% (scale * rnorm(10, 0, 3)))
    groups[[2]] <- groups[[2]] %*% diag(rexp(10, 1 / scale))
    min(gpuCorCompare(groups[[1]], groups[[2]], n_perm = 39, ...)$p.adjusted) <= 0.05
  }
  count <- function(...) sum(vapply(1:80, rejects, NA, ...))
  expect_lte(count(rnorm, 1, covariates = batch), qbinom(0.999, 80, 0.05))
  expect_lte(count(function(n) rt(n, 3), 5, weights = list(1 - batch[[1]], batch[[2]])), qbinom(0.999, 80, 0.05))
})

test_that("a column that is often equal is scaled alike in both groups", {
  set.seed(19)
  groups <- list(cbind(rnorm(9), c(rep(0, 6), 1:3), 1), cbind(rnorm(8), c(rep(0, 3), 1:5), 2))
  made <- gpucor:::on_one_scale(groups)
  about <- lapply(groups, function(m) m[, 2] - median(m[, 2]))
  for (g in 1:2) {
    expect_equal(made[[g]][, 1], robust_scale(groups[[g]])[, 1])
    expect_equal(made[[g]][, 2], about[[g]] / sqrt(mean(unlist(about)^2)))
    expect_identical(made[[g]][, 3], numeric(nrow(groups[[g]])))
  }
})

test_that("permutations of labels share one computation of each subject's coefficients", {
  skip_unless_full()
  skip_if_not_installed("DelayedArray")
  set.seed(12)
  x <- lapply(some_subjects(c(20, 33, 25), 8), DelayedArray::DelayedArray)
  reads <- function(n_perm) {
    n <- 0
    reader <- function(x, columns) {
      n <<- n + 1
      as.matrix(x[, columns, drop = FALSE])
    }
    with_values(list(read_run = reader), gpuCorCompare(x[1:2], x[3], n_perm = n_perm, effects = "fixed"))
    n
  }
  expect_identical(reads(9), reads(1))
})

test_that("a pair without a coefficient in one subject has no difference", {
  set.seed(7)
  x <- differing(c(20, 33), 8)
  y <- some_subjects(25, 8)[[1]]
  y[, 8] <- 1
  expect_warning(all <- gpuCorCompare(x, y, effects = "fixed"), "standard deviation is zero")
  d <- as.matrix(all$difference)
  expect_true(all(is.na(d[8, 1:7])) && !anyNA(d[1:7, 1:7]))
  edges <- suppressWarnings(gpuCorCompare(x, y, threshold = 0, output = "edges", effects = "fixed"))
  expect_equal(nrow(edges), 21)
})

test_that("several groups are compared by chi-squared of weighted z", {
  set.seed(26)
  x <- c(differing(c(50, 70), 20), some_subjects(55, 20, 6, 0))
  for (method in c("pearson", "spearman")) {
    compare <- function(...) gpuCorCompare(x, effects = "fixed", method = method, precision = "double", ...)
    z <- vapply(x, function(m) atanh(cor(m, method = method))[lower.tri(diag(20))], numeric(190))
    w <- (c(50, 70, 55) - 3) / c(pearson = 1, spearman = 1.06)[[method]]
    mean <- drop(z %*% w) / sum(w)
    statistic <- drop((z - mean)^2 %*% w)
    p <- pchisq(statistic, 2, lower.tail = FALSE)
    all <- compare()
    expect_equal(as.vector(all$statistic), statistic, tolerance = 1e-9)
    expect_equal(as.vector(all$difference), sqrt(statistic / sum(w)), tolerance = 1e-9)
    expect_equal(as.vector(all$p.value), p, tolerance = 1e-9)
    expect_equal(all$df, 2)
    expect_equal(compare(p.value = 0.01)@edges, sum(p <= 0.01))
    net <- suppressWarnings(compare(fdr = 0.05), classes = "gpuCorNormalRows")
    expect_equal(net@edges, sum(p.adjust(p, "BH") <= 0.05))
    expect_equal(compare(threshold = 0.2)@edges, sum(sqrt(statistic / sum(w)) >= 0.2))
    edges <- suppressWarnings(compare(fdr = 0.05, output = "edges"), classes = "gpuCorNormalRows")
    expect_gt(nrow(edges), 2)
    expect_equal(edges$statistic, sort(statistic, decreasing = TRUE)[seq_len(nrow(edges))], tolerance = 1e-6)
    expect_equal(edges$fdr, sort(p.adjust(p, "BH"))[seq_len(nrow(edges))], tolerance = 1e-6)
    expect_equal(unique(edges$df), 2)
    expect_equal(compare(k = 1, output = "edges")$p.value[1], min(p), tolerance = 1e-6)
    two <- gpuCorCompare(x[1:2], effects = "fixed", method = method, precision = "double")
    expect_equal(as.vector(two$p.value),
                 as.vector(gpuCorCompare(x[[1]], x[[2]], method = method, precision = "double")$p.value))
  }
  expect_output(print(gpuCorCompare(x, effects = "fixed")),
                "standard deviation of z of 3 groups \\(175 observations\\)")
  expect_error(gpuCorCompare(x[1], effects = "fixed"), "at least two groups in 'x', not 1")
  expect_error(gpuCorCompare(x, effects = "fixed", sign = "negative"), "no meaning for several groups")
  expect_error(gpuCorCompare(x, effects = "fixed", classes = 0.1), "'classes' are of two groups")
  x[[2]][, 3] <- 1
  all <- suppressWarnings(gpuCorCompare(x, effects = "fixed"))
  expect_identical(unname(which(is.na(as.matrix(all$p.value)[, 3]))), 1:20)
})

test_that("pairs are chosen by the false discovery rate by permutation of rows, in two groups and in several", {
  set.seed(31)
  x <- c(differing(c(40, 30), 20), some_subjects(50, 20, 6, 0))
  x[[1]][, 5:9] <- x[[1]][, 5:9] + rnorm(40)
  n <- vapply(x, nrow, 0)
  values_of <- function(groups) { # tanh of the difference, or of the standard deviation of z
    z <- vapply(groups, function(m) z_of(cor(m))[lower.tri(cor(m))], numeric(190))
    if (length(groups) == 2) return(tanh(z[, 1] - z[, 2]))
    w <- vapply(groups, nrow, 0) - 3
    tanh(sqrt(drop((z - drop(z %*% w) / sum(w))^2 %*% w) / sum(w)))
  }
  for (groups in list(x[c(1, 3)], x)) for (sign in c("absolute", if (length(groups) == 2) "positive")) {
    rows <- rep(seq_along(groups), vapply(groups, nrow, 0))
    pool <- do.call(rbind, lapply(groups, robust_scale))
    set.seed(32)
    permuted <- replicate(40, {
      order <- sample.int(length(rows))
      values_of(lapply(seq_along(groups), function(g) pool[order[rows == g], ]))
    })
    truth <- permutation_rates(values_of(groups), permuted, sign)
    for (backend in backends()) {
      found <- function(fdr) {
        set.seed(32)
        own <- if (length(groups) == 2) groups else list(groups)
        do.call(gpuCorCompare, c(own, list(fdr = fdr, n_perm = 40, sign = sign, effects = "fixed", output = "edges",
                                           precision = "double", backend = backend)))
      }
      for (fdr in c(0.05, 0.3)) {
        edges <- found(fdr)
        expect_equal(edges$fdr, sort(truth[truth <= fdr]), tolerance = 1e-9)
        expect_gt(nrow(edges), 5)
      }
      expect_equal(names(edges)[1:3], c("from", "to", "difference"))
    }
  }
  all <- gpuCorCompare(x, effects = "fixed", n_perm = 19)
  expect_equal(min(all$p.adjusted), 0.05)
})

test_that("bicor is compared by the difference of z, and by permutation of rows", {
  set.seed(24)
  x <- differing(40, 9)[[1]]
  y <- some_subjects(30, 9, 6, 0)[[1]]
  z <- lapply(list(x, y), function(m) atanh(as.vector(gpuCor(m, method = "bicor", precision = "double"))))
  error <- sqrt(1.1 * (1 / 37 + 1 / 27))
  set.seed(25)
  all <- gpuCorCompare(x, y, method = "bicor", precision = "double", n_perm = 20)
  expect_equal(as.vector(all$difference), z[[1]] - z[[2]], tolerance = 1e-9)
  expect_equal(as.vector(all$p.value), 2 * pnorm(-abs(z[[1]] - z[[2]]) / error), tolerance = 1e-9)
  pool <- do.call(rbind, lapply(list(x, y), robust_scale))
  set.seed(25)
  largest <- vapply(1:20, FUN.VALUE = 0, function(b) {
    order <- sample.int(70)
    own <- lapply(list(order[1:40], order[-(1:40)]), function(rows) {
      atanh(as.vector(gpuCor(pool[rows, ], method = "bicor", precision = "double")))
    })
    max(abs(own[[1]] - own[[2]]))
  })
  truth <- vapply(abs(z[[1]] - z[[2]]), function(d) (1 + sum(largest >= d - 1e-9)) / 21, 0)
  expect_equal(as.vector(all$p.adjusted), truth)
})

class_by_hand <- function(r, p, level) {
  sign <- Map(function(r, p) ifelse(p <= level, ifelse(r > 0, "+", "-"), "0"), r, p)
  paste(sign[[1]], sign[[2]], sep = "/")
}

test_that("classes are by the sign and the p value of each group", {
  set.seed(23)
  x <- differing(40, 12)[[1]]
  y <- some_subjects(30, 12, 6, 0)[[1]] # both signs
  y[, 5] <- y[, 5] - 2 * y[, 6]
  x[, 7] <- x[, 7] + x[, 8]
  lower <- lower.tri(diag(12))
  for (method in c("pearson", "spearman")) {
    r <- lapply(list(x, y), function(m) cor(m, method = method)[lower])
    error <- sqrt(c(pearson = 1, spearman = 1.06)[[method]] / (c(40, 30) - 3))
    p <- Map(function(r, error) 2 * pnorm(-abs(atanh(r) / error)), r, error)
    all <- gpuCorCompare(x, y, classes = 0.05, method = method, precision = "double")
    frame <- as.data.frame(all)
    expect_equal(frame$r.x, r[[1]], tolerance = 1e-9)
    expect_equal(frame$r.y, r[[2]], tolerance = 1e-9)
    expect_identical(frame$class, class_by_hand(r, p, 0.05))
    expect_gt(length(unique(frame$class)), 4)
    for (given in list(list(threshold = 0.3), list(p.value = 0.1), list(fdr = 0.2))) {
      compare <- function(...) {
        all <- list(x, y, method = method, precision = "double", output = "edges", ...)
        suppressWarnings(do.call(gpuCorCompare, c(all, given)), classes = "gpuCorNormalRows")
      }
      edges <- compare()
      own <- compare(classes = 0.05)
      at <- match(paste(own$from, own$to), paste(frame$from, frame$to))
      expect_equal(own[c("r.x", "r.y", "class")], frame[at, c("r.x", "r.y", "class")], ignore_attr = TRUE)
      expect_equal(own[names(edges)], edges, tolerance = 1e-12)
    }
  }
  groups <- list(differing(rep(20, 6), 12), some_subjects(rep(25, 5), 12, 6, 0))
  z <- lapply(groups, function(x) vapply(x, function(m) z_of(cor(m)[lower]), numeric(66)))
  p <- lapply(z, function(z) apply(z, 1, function(v) t.test(v)$p.value))
  for (given in list(list(), list(p.value = 1), list(threshold = 0))) {
    frame <- as.data.frame(do.call(gpuCorCompare, c(groups, list(classes = 0.1, precision = "double"), given)))
    frame <- frame[order(frame$from, frame$to), ]
    expect_equal(frame$r.x, tanh(rowMeans(z[[1]])), tolerance = 1e-9)
    expect_equal(frame$class, class_by_hand(lapply(z, rowMeans), p, 0.1))
  }
  expect_error(gpuCorCompare(groups[[1]], classes = 0.1), "'classes' are of two groups")
  expect_error(gpuCorCompare(groups[[1]], groups[[2]], classes = 0.1, effects = "fixed"), "need two matrices")
  expect_error(gpuCorCompare(x, y, classes = 2), "'classes' must be a number")
  y[, 3] <- 1
  frame <- as.data.frame(suppressWarnings(gpuCorCompare(x, y, classes = 0.05)))
  expect_identical(is.na(frame$class), frame$from == 3 | frame$to == 3)
})

test_that("all pairs of two groups have the coefficients of each", {
  set.seed(9)
  x <- matrix(rnorm(150), 30) + rnorm(30)
  x[, 2] <- x[, 1] + 0.05 * rnorm(30)
  y <- matrix(rnorm(200), 40, dimnames = list(NULL, letters[1:5]))
  colnames(x) <- colnames(y)
  for (method in c("pearson", "spearman")) {
    found <- gpuCorCompare(x, y, method = method, precision = "double")
    expect_equal(as.matrix(found$r.x), cor(x, method = method), tolerance = 1e-6)
    expect_equal(as.matrix(found$r.y), cor(y, method = method), tolerance = 1e-6)
  }
  of_seeds <- gpuCorCompare(x, y, seeds = c("b", "d"), precision = "double")
  expect_equal(of_seeds$r.y[c("a", "c", "e"), ], cor(y)[c("a", "c", "e"), c("b", "d")], tolerance = 1e-6)
  y[, "e"] <- 0 # a pair without a coefficient in one group has that of the other
  found <- suppressWarnings(gpuCorCompare(x, y))
  expect_equal(as.matrix(found$r.x), cor(x), tolerance = 1e-6)
  expect_identical(unname(is.na(as.matrix(found$r.y))[, "e"]), c(TRUE, TRUE, TRUE, TRUE, FALSE))
  expect_null(as.list(suppressWarnings(gpuCorCompare(list(x, y, x[20:1, ]), effects = "fixed")))[["r.x"]])
})

test_that("what is printed says what it is", {
  set.seed(8)
  x <- some_subjects(c(20, 20), 8)
  expect_output(print(gpuCorCompare(x[[1]], x[[2]])),
                "Pearson's correlation, differences of z of 20 observations against 20")
  expect_output(print(gpuCorCompare(x, x[1:2], threshold = 0)),
                "Differences of Fisher.s z: network of 8 .*difference")
  frame <- as.data.frame(gpuCorCompare(x[[1]], x[[2]]))
  expect_named(frame, c("from", "to", "difference", "r.x", "r.y", "statistic", "p.value", "fdr"))
})

test_that("infinite and missing values are warned of where the result does not show them", {
  x <- matrix(rnorm(60), 12)
  x[1, 3] <- -Inf
  x[2, 4] <- NA
  told <- c("infinite values leave no coefficient \\(1 of 5 columns of 'x': 3\\)",
            "missing values leave no coefficient \\(1 of 5 columns of 'x': 4\\)")
  of_network <- warnings_of(gpuCorCompare(x, x[12:1, ], threshold = 0))
  expect_match(of_network[1], told[1])
  expect_match(of_network[2], told[2])
  expect_match(warnings_of(gpuCorCompare(x, x[12:1, ])), told[1])
  for (covariates in list(NULL, 1:12)) {
    permuted <- suppressWarnings(gpuCorCompare(x[, 1:3], x[12:1, 1:3], n_perm = 9, covariates = covariates))
    expect_identical(is.na(as.vector(permuted$p.adjusted)), c(FALSE, TRUE, TRUE))
    expect_error(suppressWarnings(gpuCorCompare(x[, -3], x[, -3], n_perm = 9, covariates = covariates)),
                 "complete.obs")
  }
})

test_that("coefficients of 1 or -1 in one group are counted in a warning", {
  set.seed(10)
  x <- matrix(rnorm(200), 20)
  y <- matrix(rnorm(200), 20)
  expect_no_warning(gpuCorCompare(x, y))
  x[, 2] <- x[, 1]
  told <- "^1 pair has a coefficient of 1 or -1, or nearly, in one group"
  expect_warning(gpuCorCompare(x, y), told)
  expect_warning(gpuCorCompare(x, y, p.value = 0.5), told)
  expect_warning(gpuCorCompare(list(x, x), list(y, -y)), told)
  y[, 2] <- y[, 1]
  expect_no_warning(gpuCorCompare(x, y))
  y[, 2] <- -y[, 1]
  x[, 4] <- -x[, 3]
  expect_warning(gpuCorCompare(x, y), "^2 pairs have a coefficient")
})

test_that("a coefficient of 1 or -1 is told with several groups and with contrasts, too", {
  set.seed(11)
  x <- lapply(c(8, 60, 200), function(n) matrix(rnorm(n * 8), n))
  several <- function(...) gpuCorCompare(x, effects = "fixed", ...)
  told <- "^1 pair has a coefficient of 1 or -1, or nearly, in a group"
  # A difference as large as that of an infinite z in the smallest group, of a pair that has none.
  x[[3]][, 2] <- x[[3]][, 2] + 3 * x[[3]][, 1]
  expect_no_warning(several())
  x[[1]][, 4] <- -x[[1]][, 3]
  expect_warning(several(), told, class = "gpuCorPerfect")
  expect_warning(several(p.value = 0.01), told, class = "gpuCorPerfect")

  subjects <- lapply(1:12, function(i) matrix(rnorm(160), 20))
  design <- cbind(mean = 1, group = rep(0:1, each = 6), age = c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8))
  expect_no_warning(gpuCorCompare(subjects, design = design, contrast = "group"))
  for (i in 1:6) subjects[[i]][, 2] <- subjects[[i]][, 1]
  for (contrast in list(c(0, 1, 0), c(0, -1, 0), c(0, 3, 0))) {
    expect_warning(gpuCorCompare(subjects, design = design, contrast = contrast),
                   "^1 pair has a coefficient of 1 or -1, or nearly, in many subjects", class = "gpuCorPerfect")
  }
})

test_that("a p value of ranks is not below that of the exact distribution of the smaller group", {
  set.seed(12)
  x <- matrix(rnorm(50), 5)
  y <- matrix(rnorm(200), 20)
  x[, 2] <- exp(x[, 1])
  compare <- function(...) suppressWarnings(gpuCorCompare(x, y, method = "spearman", precision = "double", ...))
  min_p <- 2 / factorial(5)
  all <- compare(classes = min_p / 2)
  z <- all$difference / all$error
  expect_equal(as.vector(all$p.value), pmax(2 * pnorm(-abs(as.vector(z))), min_p))
  expect_equal(all$p.value[1], min_p)
  expect_false(any(grepl("^[+-]", all$class)))
  expect_identical(as.data.frame(compare(classes = min_p * 1.01))$class[1], "+/0")
  # By each criterion: edges, their p values, and rates.
  p <- as.vector(all$p.value)
  expect_equal(range(compare(threshold = 3, output = "edges")$p.value), c(min_p, min_p))
  expect_equal(sort(compare(p.value = 0.5, output = "edges")$p.value), sort(p[p <= 0.5]))
  saved <- compare(p.value = 0.5) # by an earlier version, without a min p value
  attr(saved, "min_p") <- NULL
  edges <- as.data.frame(saved)
  expect_equal(edges$p.value, 2 * pnorm(-abs(edges$statistic)))
  expect_identical(compare(p.value = min_p)@edges + 0, sum(p <= min_p * (1 + 1e-9)) + 0)
  expect_identical(compare(p.value = 0.99 * min_p)@edges + 0, 0)
  fdr <- p.adjust(p, "BH")
  expect_equal(sort(compare(fdr = min(fdr) + 0.01, output = "edges")$fdr), sort(fdr[fdr <= min(fdr) + 0.01]))
  expect_identical(compare(fdr = min(fdr) - 0.01)@edges + 0, 0)
  # The smaller of several groups decides, and all rows of a group's subjects count.
  third <- matrix(rnorm(60), 6)
  several <- suppressWarnings(gpuCorCompare(list(y, third, x), effects = "fixed", method = "spearman"))
  expect_equal(min(several$p.value), min_p)
  lists <- suppressWarnings(gpuCorCompare(list(x, third), list(y, y), effects = "fixed", method = "spearman"))
  expect_lt(min(lists$p.value), min_p)
  expect_gte(min(lists$p.value), (2 - 1e-9) / factorial(5) / factorial(6))
  x[, 2] <- 2 * x[, 1]
  expect_lt(min(suppressWarnings(gpuCorCompare(x, y))$p.value), 1e-9) # Pearson's has no exact distribution
})

test_that("rates by the normal distribution are told, and what is printed says by which p values are", {
  set.seed(13)
  x <- some_subjects(c(49, 50, 50), 6)
  told <- "'n_perm' permutes the rows"
  expect_warning(gpuCorCompare(x[[2]], x[[3]], fdr = 0.05), told, class = "gpuCorNormalRows")
  expect_warning(gpuCorCompare(x, effects = "fixed", fdr = 0.05), told, class = "gpuCorNormalRows")
  expect_no_warning(gpuCorCompare(x[[1]], x[[2]], fdr = 0.05, n_perm = 60))
  expect_no_warning(gpuCorCompare(x[[1]], x[[2]], p.value = 0.05))
  expect_no_warning(gpuCorCompare(x[1:2], x[2:3], fdr = 0.05))
  expect_output(print(gpuCorCompare(x[[2]], x[[3]])), "p values by the normal distribution of z")
  by_rates <- suppressWarnings(gpuCorCompare(x[[2]], x[[3]], fdr = 0.05), classes = "gpuCorNormalRows")
  expect_output(print(by_rates), "p values by the normal distribution of z")
  expect_output(print(gpuCorCompare(x, effects = "fixed")), "p values by chi-squared of z")
  expect_output(print(gpuCorCompare(x, x)), "p values by t of the subjects' z")
  permuted <- "p values by t of the subjects' z; adjusted ones by permutation"
  expect_output(print(gpuCorCompare(x, x, n_perm = 9)), permuted)
  expect_output(print(gpuCorCompare(x, x, p.value = 0.5, n_perm = 9)), permuted)
})

test_that("coefficients of distance correlation below 0 are told of one list", {
  set.seed(15)
  x <- lapply(1:4, function(i) matrix(rnorm(60), 12))
  expect_warning(gpuCorCompare(x, method = "distance"), "sign = \"positive\"", class = "gpuCorLowerSide")
  expect_no_warning(gpuCorCompare(x, method = "distance", p.value = 0.05, sign = "positive"))
  expect_no_warning(gpuCorCompare(x[1:2], x[3:4], method = "distance"))
  expect_no_warning(gpuCorCompare(x[1:2], x[3:4], method = "distance", paired = TRUE))
})

test_that("differences of measures that are not negative are edges of both signs", {
  set.seed(14)
  x <- some_subjects(rep(20, 10), 8)
  all <- gpuCorCompare(x[1:5], x[6:10], method = "distance")
  for (of in c("p.value", "fdr")) {
    bound <- sort(all[[of]])[10] + 1e-9
    edges <- do.call(gpuCorCompare, c(list(x[1:5], x[6:10], method = "distance", output = "edges"),
                                      stats::setNames(list(bound), of)))
    is_edge <- all[[of]] <= bound
    expect_equal(sort(edges$difference), sort(all$difference[is_edge]))
    expect_lt(min(edges$difference), 0)
    expect_gt(max(edges$difference), 0)
  }
})

test_that("other columns are told by the names of the arguments", {
  x <- matrix(rnorm(40), 10, dimnames = list(NULL, c("a", "b", "c", "d")))
  expect_identical(tryCatch(gpuCorCompare(x, x[, c(1, 3, 2, 4)]), error = conditionMessage),
                   "column 2 of 'y' is \"c\", and that of 'x' is \"b\"")
})

test_that("errors say what to do", {
  set.seed(9)
  x <- some_subjects(c(20, 20), 8)
  expect_error(gpuCorCompare(x[[1]], x[[2]], method = "kendall"), "not for \"kendall\"; .* use \"spearman\"$")
  expect_error(gpuCorCompare(x, x, method = "kendall", effects = "fixed"), "; effects = \"random\" tests")
  expect_error(gpuCorCompare(x[[1]], x[[2]], covariates = 1:19), "^'x': 'covariates' has 19 rows")
  expect_error(gpuCorCompare(x[[1]], x[[2]], covariates = list(1:20, 1:19)), "^'y': 'covariates' has 19 rows")
  expect_error(gpuCorCompare(x, x, covariates = list(1:20, 1:20, 1:20, 1:19)), "^subject 2 of 'y': 'covariates' has 19")
  ages <- list(data.frame(age = 1:20), data.frame(age = 20:1))
  expect_identical(gpuCorCompare(x[[1]], x[[2]], covariates = ~ age, data = ages)$difference,
                   gpuCorCompare(x[[1]], x[[2]], covariates = list(1:20, 20:1))$difference)
  expect_error(gpuCorCompare(x, x[1], variance = "unequal"), "at least two subjects in each group")
  expect_error(gpuCorCompare(x[[1]], x[[2]], effects = "random"), "at least two subjects in one of the groups")
  expect_error(gpuCorCompare(x, variance = "unequal"), "is for two independent groups")
  expect_error(gpuCorCompare(x, x, variance = "unequal", paired = TRUE), "is for two independent groups")
  expect_error(gpuCorCompare(x, x, variance = "unequal", effects = "fixed"), "is for lists of subjects")
  expect_error(gpuCorCompare(x, x, variance = "welch"), "'variance' must be one of")
  expect_error(gpuCorCompare(x, x, effects = "mixed"), "'effects' must be one of")
  expect_error(gpuCorCompare(x, x, threshold = -1), "difference of z")
  expect_error(gpuCorCompare(x, x, threshold = 0.1, fdr = 0.1), "give only one of")
  expect_error(gpuCorCompare(x, x, combine = "mean"), "unused argument 'combine'")
  expect_error(gpuCorCompare(x[[1]], x[[2]][, 1:7]), "'y' has 7 columns, and 'x' has 8")
  expect_error(gpuCorCompare(x[[1]], x[[2]][1:3, ]), "^'y' has 3 observations; .* at least 4")
  expect_error(gpuCorCompare(x, list(x[[1]], "a")), "^subject 2 of 'y': ")
  expect_error(gpuCorCompare(function(i) x[[i]], x), "say by 'subjects'")
  expect_error(gpuCorCompare(x[[1]], 1:3), "must be a matrix")
  expect_equal(gpuCorCompare(function(i) x[[i]], x, subjects = c(2, 2))$n, list(x = c(20, 20), y = c(20, 20)))
  x[[1]][1] <- NA
  expect_error(gpuCorCompare(x[[1]], x[[2]], use = "pairwise"), "same observations")
  expect_error(gpuCorCompare(x[[1]], x[[2]], n_perm = 2), "complete.obs")
})

test_that("groups of the rows of one matrix are those of matrices that are split by hand", {
  x <- some_subjects(90, 8, 3, 0)[[1]]
  dimnames(x) <- list(paste0("s", 1:90), letters[1:8])
  three <- rep_len(c("c", "a", "b"), 90)
  batch <- data.frame(batch = rep_len(1:4, 90), age = rnorm(90), row.names = rownames(x))
  w <- runif(90)
  of <- function(values, label) values[which(three == label), , drop = FALSE]
  by_hand <- lapply(c("a", "b", "c"), of, values = x)
  same <- function(ours, theirs, ...) expect_equal(as.data.frame(ours), as.data.frame(theirs), ...)
  same(gpuCorCompare(x, group = three), gpuCorCompare(by_hand, effects = "fixed"))
  same(gpuCorCompare(x, group = three, density = 0.5, weights = w, covariates = ~ factor(batch) + age, data = batch),
       gpuCorCompare(by_hand, effects = "fixed", density = 0.5, weights = unname(split(w, three)),
                     covariates = ~ factor(batch) + age, data = lapply(c("a", "b", "c"), of, values = batch)))
  two <- factor(replace(three, three == "b", NA), c("c", "a"))
  ours <- gpuCorCompare(x, group = two, covariates = batch$age, method = "spearman")
  same(ours, gpuCorCompare(by_hand[[3]], by_hand[[1]], method = "spearman",
                           covariates = list(of(batch, "c")$age, of(batch, "a")$age)))
  any_order <- sample(90)
  same(gpuCorCompare(x[any_order, ], group = two[any_order], covariates = batch$age[any_order], method = "spearman"),
       ours, tolerance = 1e-6)
  set.seed(3)
  adjusted <- gpuCorCompare(x, group = two, n_perm = 20, p.value = 0.9, classes = 0.1)
  set.seed(3)
  same(adjusted, gpuCorCompare(by_hand[[3]], by_hand[[1]], n_perm = 20, p.value = 0.9, classes = 0.1))
  same(gpuCorCompare(x, group = two, seeds = cbind(series = w)),
       gpuCorCompare(by_hand[[3]], by_hand[[1]],
                     seeds = list(of(cbind(series = w), "c"), of(cbind(series = w), "a"))))
  same(gpuCorCompare(as.data.frame(x), group = three), gpuCorCompare(x, group = three))
  expect_error(gpuCorCompare(x, group = setNames(three, rev(rownames(x)))), "'group' has the observations of 'x' in")
  skip_if_not_installed("Biobase")
  samples <- Biobase::AnnotatedDataFrame(data.frame(three, row.names = rownames(x)))
  experiment <- Biobase::ExpressionSet(t(x), samples)
  same(gpuCorCompare(experiment, group = "three"), gpuCorCompare(x, group = three))
  expect_error(gpuCorCompare(experiment, group = "four"), "'group' has \"four\", which the samples of 'x' do not have")
})
