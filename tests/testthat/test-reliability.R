# Subjects summarized pair by pair: t, standard deviation, fraction, and intraclass correlations.

# Two-way analysis of variance of z: sessions in rows, subjects in columns.
icc_of <- function(z, type) {
  n <- ncol(z)
  k <- nrow(z)
  d <- data.frame(z = c(z), subject = factor(col(z)), session = factor(row(z)))
  ms <- suppressWarnings(anova(lm(z ~ subject + session, d)))[["Mean Sq"]]
  whole <- ms[1] + (k - 1) * ms[3] + if (type == "icc2") k * (ms[2] - ms[3]) / n else 0
  (ms[1] - ms[3]) / whole
}

summaries <- list(
  t = function(r) unname(t.test(z_of(r))$statistic),
  sd = sd,
  fraction = function(r) mean(r > 0.1234)
)
arguments_of <- function(how) c(list(combine = how), if (how == "fraction") list(above = 0.1234))

# Subjects with several sessions, whose correlations are their own.
in_sessions <- function(subjects, sessions, m, n = 25) {
  lapply(seq_len(subjects), function(i) {
    own <- diag(m) + 0.4 * matrix(rnorm(m^2), m)
    lapply(seq_len(sessions), function(j) matrix(rnorm(n * m), n) %*% own + 0.2 * j * rnorm(n))
  })
}

# Coefficients of all data sets, in the last dimension.
all_r <- function(x, y = NULL, method = "pearson") {
  vapply(seq_along(x), function(i) cor(x[[i]], y[[i]], method = method), cor(x[[1]], y[[1]]))
}

test_that("pairs with negative intraclass correlations are no edges, whatever the criterion", {
  set.seed(3)
  x <- lapply(1:5, function(i) lapply(1:2, function(j) matrix(rnorm(30 * 12), 30))) # nothing is reliable
  for (how in c("icc2", "icc3")) {
    values <- gpuCor(x, combine = how, output = "matrix")
    values <- values[lower.tri(values)]
    expect_lt(min(values), -0.6)
    strong <- gpuCorNetwork(x, combine = how, threshold = 0.3)
    expect_equal(sort(strong@x), sort(values[values >= 0.3]), tolerance = 1e-6)
    dense <- gpuCorNetwork(x, combine = how, density = 0.2)
    expect_equal(sort(dense@x, TRUE), sort(values, TRUE)[1:14], tolerance = 1e-6)
    expect_gt(min(gpuCorNetwork(x, combine = how, k = 2)@x), 0)
    expect_equal(sum(gpuConnectivity(x, combine = how, threshold = 0.3)$degree), 2 * sum(values >= 0.3))
    expect_error(gpuCorNetwork(x, combine = how, threshold = 0.3, sign = "negative"),
                 paste0("sign = \"negative\" has no meaning for combine = \"", how, "\""), fixed = TRUE)
  }
})

for (backend in backends()) {
  test_that(paste(backend, "summarizes coefficients of subjects as R does"), {
    set.seed(1)
    x <- some_subjects(c(20, 33, 25, 40), 70, 6)
    y <- some_subjects(c(20, 33, 25, 40), 3, 6)
    for (how in names(summaries)) for (method in c("pearson", "kendall")) {
      values <- function(...) {
        do.call(gpuCor, c(list(x, method = method, precision = "double", backend = backend, ...), arguments_of(how)))
      }
      truth <- apply(all_r(x, method = method), 1:2, function(r) if (all(r == 1)) NA else summaries[[how]](r))
      tolerance <- if (how == "t") 1e-9 else 1e-12
      expect_equal(as.vector(values()), truth[lower.tri(truth)], tolerance = tolerance)
      expect_equal(values(output = "matrix")[2:70, 1], truth[2:70, 1], tolerance = tolerance)
      across <- apply(all_r(x, y, method), 1:2, summaries[[how]])
      expect_equal(values(y = y), across, tolerance = tolerance)
    }
    for (how in names(summaries)) {
      once <- do.call(gpuCor, c(list(x, backend = backend), arguments_of(how)))
      again <- do.call(gpuCor, c(list(x, backend = backend, threads = 1, memory = 1e5), arguments_of(how)))
      expect_identical(as.vector(again), as.vector(once))
    }
  })

  test_that(paste(backend, "has the intraclass correlations of the two-way analysis of variance"), {
    set.seed(2)
    for (sizes in list(c(6, 2), c(4, 3))) {
      x <- in_sessions(sizes[1], sizes[2], 12)
      r <- all_r(unlist(x, recursive = FALSE))
      z <- z_of(r)
      for (how in c("icc2", "icc3")) {
        truth <- apply(z, 1:2, function(z) icc_of(matrix(z, sizes[2]), how))
        diag(truth) <- NA
        found <- gpuCor(x, combine = how, precision = "double", backend = backend, output = "matrix")
        expect_equal(found, truth, tolerance = 1e-9)
        net <- gpuCorNetwork(x, combine = how, threshold = 0.4, sign = "positive", backend = backend)
        expect_equal(net@edges, sum(truth[lower.tri(truth)] >= 0.4))
        maps <- gpuConnectivity(x, combine = how, maps = "mean", backend = backend)
        expect_equal(maps$mean, rowMeans(truth, na.rm = TRUE), tolerance = 1e-5)
        across <- gpuCor(lapply(x, lapply, function(m) m[, 1:2]), lapply(x, lapply, function(m) m[, 3:5]),
                         combine = how, precision = "double", backend = backend)
        expect_equal(across, truth[1:2, 3:5], tolerance = 1e-9)
      }
    }
  })
}

test_that("a known analysis of variance has its published coefficients", {
  # Shrout and Fleiss (1979), table 2: ICC(2,1) = 0.29, ICC(3,1) = 0.71.
  ratings <- rbind(c(9, 2, 5, 8), c(6, 1, 3, 2), c(8, 4, 6, 8), c(7, 1, 2, 6), c(10, 5, 6, 9), c(6, 2, 4, 7))
  expect_equal(round(icc_of(t(ratings), "icc2"), 2), 0.29)
  expect_equal(round(icc_of(t(ratings), "icc3"), 2), 0.71)
  pair_of <- function(z) { # two columns with that Fisher z
    a <- scale(rnorm(30))
    b <- scale(residuals(lm(rnorm(30) ~ a)))
    cbind(a, tanh(z) * a + sqrt(1 - tanh(z)^2) * b)
  }
  set.seed(3)
  x <- apply(ratings / 10, 1, lapply, pair_of)
  expect_equal(gpuCor(x, combine = "icc2", precision = "double")[1, 2], icc_of(t(ratings), "icc2"), tolerance = 1e-9)
  expect_equal(gpuCor(x, combine = "icc3", precision = "double")[1, 2], icc_of(t(ratings), "icc3"), tolerance = 1e-9)
})

test_that("pairs without a coefficient have no summary, and na.rm leaves subjects out", {
  set.seed(4)
  x <- some_subjects(c(20, 33, 25), 5, 6)
  x[[2]][, 4] <- 1
  for (how in names(summaries)) {
    summarize <- function(...) {
      suppressWarnings(do.call(gpuCor, c(list(x, precision = "double", ...), arguments_of(how))))
    }
    expect_identical(is.na(as.vector(summarize())), c(FALSE, FALSE, TRUE, FALSE, FALSE, TRUE, FALSE, TRUE, FALSE, TRUE))
    rest <- all_r(x[c(1, 3)])[4, 1, ]
    expect_equal(summarize(na.rm = TRUE)[4, 1], summaries[[how]](rest), tolerance = 1e-9)
  }
  same <- x[c(1, 1, 1)]
  expect_true(all(is.na(as.vector(gpuCor(same, combine = "t")))))
  expect_true(all(as.vector(gpuCor(same, combine = "sd")) == 0))
  expect_true(all(is.na(as.vector(gpuCor(list(same, same), combine = "icc2")))))
  x[[3]][, 4] <- 1
  for (how in c("t", "sd")) {
    expect_true(is.na(suppressWarnings(gpuCor(x, combine = how, na.rm = TRUE))[4, 1])) # one subject
  }
})

test_that("the diagonal is that of a variable with itself", {
  set.seed(5)
  x <- some_subjects(c(20, 33), 3)
  diagonal <- function(...) unique(diag(as.matrix(gpuCor(x, ...))))
  expect_identical(diagonal(combine = "sd"), 0)
  expect_identical(diagonal(combine = "t"), NA_real_)
  expect_identical(diagonal(combine = "fraction", above = 0.9), 1)
  expect_identical(unique(diag(gpuCor(list(x, x), combine = "icc3", output = "matrix"))), NA_real_)
})

test_that("a small sample cannot have an intraclass correlation below -1", {
  set.seed(6)
  x <- in_sessions(2, 2, 30)
  r <- as.vector(gpuCor(x, combine = "icc2"))
  expect_true(all(r >= -1 & r <= 1))
  expect_gt(sum(r == -1), 0)
})

test_that("errors of summaries say what to do", {
  set.seed(7)
  x <- some_subjects(c(20, 20), 4)
  expect_error(gpuCor(x, combine = "icc2"), "a list of subjects, each a list of its sessions' matrices")
  expect_error(gpuCor(list(x, x[1]), combine = "icc2"), "same number of sessions, at least two, not 1, 2")
  expect_error(gpuCor(list(x), combine = "icc2"), "at least two subjects, not 1")
  expect_error(gpuCor(function(i) x, subjects = 2, combine = "icc2"), "a list of subjects, each a list")
  expect_error(gpuCor(list(x, list(x[[1]], 1)), combine = "icc3"), "^subject 2, session 2: ")
  expect_error(gpuCor(x, combine = "fraction"), "above 'above'; give both")
  expect_error(gpuCor(x, combine = "sd", above = 0.1), "above 'above'; give both")
  expect_error(gpuCor(x, combine = "fraction", above = 2), "'above' must be a number between -1 and 1, not 2")
  expect_error(gpuCor(list(x, x), combine = "icc2", na.rm = TRUE), "leave na.rm = TRUE out")
  expect_error(gpuCor(x, combine = "sd", subject_weights = 1:2), "'subject_weights' do not matter")
  expect_error(gpuCorNetwork(x, combine = "t", threshold = 0.1), "gives no coefficients; only gpuCor\\(\\) has it")
  expect_error(gpuCorNetwork(list(x, x), combine = "icc2", p.value = 0.1), "combine = \"fisher\" only")
  expect_output(print(gpuCor(list(x, x, x), combine = "icc2")), "3 subjects combined by ICC\\(2,1\\) of their sessions")
})
