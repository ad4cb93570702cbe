# Observations with a covariance: coefficients, tests and networks of the residuals of generalized least squares.

# The covariance of families of four, with variances that differ, and data that have it.
kinship <- function(n_obs) {
  kin <- 0.5 * outer((seq_len(n_obs) - 1) %/% 4, (seq_len(n_obs) - 1) %/% 4, `==`) + diag(0.5, n_obs)
  deviation <- sqrt(1 + seq_len(n_obs) %% 3)
  kin * outer(deviation, deviation)
}
related <- function(n_obs, n_var, seed = 1) crossprod(chol(kinship(n_obs)), normal(n_obs, n_var, seed)) + 10

# The residuals by the definition: `z` includes the intercept, if there is one; NULL: nothing is regressed out.
whitened <- function(x, v, z = rep(1, nrow(x))) {
  lower <- t(chol(v))
  u <- forwardsolve(lower, as.matrix(x))
  if (is.null(z)) u else as.matrix(lm.fit(forwardsolve(lower, as.matrix(z)), u)$residuals)
}
whitened_cor <- function(x, y, ...) {
  x <- whitened(x, ...)
  y <- whitened(y, ...)
  crossprod(x, y) / sqrt(outer(colSums(x^2), colSums(y^2)))
}

test_that("coefficients are those of the residuals of generalized least squares", {
  rows <- covering(n_obs = c(16, 65), method = c("pearson", "spearman", "cosine"), precision = c("single", "double"),
                   covariates = c(FALSE, TRUE), y = c(FALSE, TRUE), use = c("everything", "pairwise.complete.obs"),
                   backend = backends())
  for_rows(rows, function(n_obs, method, precision, covariates, y, use, backend, label) {
    v <- kinship(n_obs)
    x <- related(n_obs, 70)
    z <- if (covariates) normal(n_obs, 2, 5)
    ranked <- function(m) if (method == "spearman") apply(m, 2, rank) else m
    of <- cbind(if (method != "cosine") rep(1, n_obs), if (covariates) ranked(z))
    second <- if (y) x[, 1:9] + related(n_obs, 9, 2)
    truth <- whitened_cor(ranked(x), ranked(if (y) second else x), v, of)
    ours <- gpuCor(x, second, method = method, use = use, covariance = 7 * v, covariates = z, precision = precision,
                   backend = backend, output = "matrix")
    expect_lt(max(abs(ours - truth)), c(single = 1e-6, double = 1e-12)[[precision]], label = label)
  })
})

test_that("observations that do not count are left out of the covariance", {
  x <- related(24, 5)
  v <- kinship(24)
  z <- normal(24, 1)
  own <- function(x, v, ...) gpuCor(x, covariance = v, precision = "double", output = "matrix", ...)
  weights <- rep(1:0, c(20, 4))
  expect_equal(own(x, v, weights = weights), own(x[1:20, ], v[1:20, 1:20]), tolerance = 1e-12)
  x[5, 2] <- z[7] <- NA
  left <- -c(5, 7)
  expect_equal(own(x, v, covariates = z, use = "complete.obs"), own(x[left, ], v[left, left], covariates = z[left]),
               tolerance = 1e-12)
  all <- own(x[-7, ], v[-7, -7], covariates = z[-7])
  expect_identical(which(is.na(all[1, ])), 2L)
  expect_equal(all[-2, -2], own(x[-7, -2], v[-7, -7], covariates = z[-7]), tolerance = 1e-12)
  expect_warning(fixed <- own(cbind(x[, 3:5], 4, 1:24), v, covariates = 1:24), "zero")
  expect_true(all(is.na(fixed[4:5, 1:3])))
  expect_equal(own(x, diag(3, 24), use = "complete.obs"), cor(x[-5, ]), tolerance = 1e-12)
})

test_that("p values are those of lm() of whitened data, and of nlme::gls()", {
  v <- kinship(24)
  x <- related(24, 3)
  z <- normal(24, 2, 3)
  lower <- t(chol(v))
  u <- forwardsolve(lower, cbind(1, z, x))
  truth <- summary(lm(u[, 4] ~ 0 + u[, c(5, 1:3)]))$coefficients[1, 3:4]
  test <- gpuCorTest(x, covariance = v, covariates = z, precision = "double")
  expect_equal(c(test$statistic[1], test$p.value[1]), unname(truth), tolerance = 1e-9)
  expect_identical(test$df, 20)
  expect_output(print(test), "adjusted for 2 covariates, whitened by the observations' covariance: 20 degrees")
  trait <- gpuAssociation(x[, -1], data.frame(trait = x[, 1]), covariance = v, covariates = z, precision = "double")
  expect_equal(as.vector(trait$p.value), as.matrix(test$p.value)[2:3, 1], tolerance = 1e-12, ignore_attr = TRUE)
  interval <- gpuCorTest(x, covariance = v, conf.level = 0.9)
  bounds <- tanh(atanh(interval$r[1]) + c(-1, 1) * qnorm(0.95) / sqrt(21))
  expect_equal(c(interval$conf.low[1], interval$conf.high[1]), bounds, tolerance = 1e-6)
  expect_output(print(interval), "whitened by the observations' covariance")
  skip_if_not_installed("nlme")
  same <- cov2cor(v)
  d <- data.frame(a = x[, 1], b = x[, 2], z = z[, 1])
  fit <- nlme::gls(a ~ b + z, d, nlme::corSymm(same[lower.tri(same)], fixed = TRUE))
  ours <- gpuCorTest(d$a, d$b, covariance = same, covariates = d$z, precision = "double")
  expect_equal(c(ours$statistic, ours$p.value), unname(summary(fit)$tTable["b", 3:4]), tolerance = 1e-8)
})

test_that("every function takes residuals in the place of columns", {
  v <- kinship(40)
  x <- related(40, 60)
  x[, 2] <- x[, 1] + x[, 2] - 10
  colnames(x) <- paste0("v", 1:60)
  left <- whitened(x, v) # their cosine is the coefficient
  values <- function(result) {
    unlist(if (isS4(result)) list(result@p, result@i, result@x) else Filter(is.numeric, as.list(unclass(result))))
  }
  verbs <- list(
    all = \(x, ...) gpuCorNetwork(x, threshold = 0, ...),
    edges = \(x, ...) gpuCorNetwork(x, density = 0.05, ...), nearest = \(x, ...) gpuCorNetwork(x, k = 3, ...),
    clr = \(x, ...) gpuCorNetwork(x, k = 3, normalize = "clr", ...),
    sums = \(x, ...) gpuConnectivity(x, maps = c("mean", "eigenvector"), power = 1:2, ...),
    overlap = \(x, ...) gpuTOM(x, power = 2, output = "matrix", ...), triangle = \(x, ...) gpuCorTriangle(x, ...),
    power = \(x, ...) pickPower(x, power = 1:4, ...)$fitIndices
  )
  for (verb in names(verbs)) {
    truth <- values(verbs[[verb]](left, method = "cosine"))
    ours <- values(verbs[[verb]](x, covariance = v))
    expect_lt(max(abs(ours - truth) / pmax(1, abs(truth)), na.rm = TRUE), 1e-5, label = verb)
  }
})

test_that("files, sparse matrices and plans have the same bytes", {
  v <- kinship(40)
  x <- related(40, 60)
  x[abs(x - 10) > 1] <- 0
  r <- gpuCor(x, covariance = v, output = "matrix")
  expect_identical(gpuCor(Matrix::Matrix(x, sparse = TRUE), covariance = v, output = "matrix"), r)
  file <- tempfile()
  on.exit(unlink(file, recursive = TRUE))
  writeBin(as.vector(x), file)
  expect_identical(gpuCor(gpuCorFile(file, dim(x)), covariance = Matrix::Matrix(v), output = "matrix"), r)
  unlink(file)
  rownames(x) <- rownames(v) <- colnames(v) <- paste0("s", 1:40)
  quiet_plan(file, x, covariance = v, verb = "gpuCor", shards = 1)
  quiet_run(file)
  expect_identical(as.vector(gpuCorCollect(file)), as.vector(gpuCor(x, covariance = v)))
})

test_that("subjects, groups and resamples have their own covariances", {
  v <- list(kinship(40), kinship(24), 2 * kinship(24))
  x <- list(related(40, 6), related(24, 6, 2), related(24, 6, 3))
  r <- Map(function(x, v) whitened_cor(x, x, v), x, v)
  fisher <- function(r) tanh(Reduce(`+`, Map(function(r, n) (n - 3) * atanh(r - diag(6)), r, c(40, 24, 24))) / 79)
  ours <- gpuCor(x, covariance = v, combine = "fisher", output = "matrix", precision = "double")
  expect_equal(ours - diag(6), fisher(r), tolerance = 1e-9)
  expect_output(print(gpuCor(x, covariance = function(i) v[[i]], combine = "fisher")), "each whitened by the obs")
  difference <- gpuCorCompare(x[[1]], x[[2]], covariance = v[1:2], precision = "double")$difference
  expect_equal(as.vector(difference), as.vector(as.dist(atanh(r[[1]] - diag(6)) - atanh(r[[2]] - diag(6)))),
               tolerance = 1e-9)
  set.seed(1)
  stable <- gpuCorNetwork(x[[1]], covariance = v[[1]], threshold = 0.1, resample = 1, fraction = 0.5)
  set.seed(1)
  drawn <- sort(sample.int(40, 20))
  own <- whitened_cor(x[[1]][drawn, ], x[[1]][drawn, ], v[[1]][drawn, drawn])
  edges <- as.data.frame(stable)
  expect_identical(edges$stability, as.numeric(abs(own[cbind(edges$from, edges$to)]) >= 0.1))
})

test_that("what is no covariance of the observations is an error", {
  x <- related(24, 4)
  v <- kinship(24)
  own <- function(v, ...) gpuCor(x, covariance = v, ...)
  expect_error(own("kin"), "'covariance' must be a matrix of numbers, with a row and a column for each observation")
  expect_error(own(1:24), "'covariance' must be a matrix")
  expect_error(own(v[-1, -1]), "'covariance' has 23 rows; there are 24 observations")
  expect_error(own(v[, -1]), "'covariance' has 23 columns; there are 24 observations")
  expect_error(own(replace(v, 3, NA)), "'covariance' is NA in row 3, column 1, and 0.7[0-9]* in row 1, column 3; it")
  expect_error(own(replace(v, 25, 1)), "'covariance' is .* in row 2, column 1, and 1 in row 1, column 2; it must be")
  twin <- v
  twin[2, ] <- twin[, 2] <- twin[1, ]
  twin[2, 2] <- twin[1, 1]
  for (singular in list(twin, tcrossprod(scale(x, scale = FALSE)))) {
    expect_error(own(singular), "'covariance' is not positive definite, .* give h . K .* and a heritability h")
  }
  expect_error(own(twin), "or leave out one of rows 1 and 2$")
  expect_warning(own(twin + diag(0.01, 24)), "rows 1 and 2 have a correlation of 0.9.* in 'covariance'",
                 class = "gpuCorCovariance")
  smooth <- 0.9^abs(outer(1:24, 1:24, `-`)) # the smallest eigenvalue is 0.053
  expect_silent(own(smooth))
  least <- min(eigen(smoother <- 0.92^abs(outer(1:24, 1:24, `-`)))$values)
  expect_warning(own(smoother), paste0("the smallest eigenvalue .* ", format(100 * least, digits = 1), " % of the me"))
  expect_silent(own(0.7 * twin + 0.3 * diag(diag(twin)))) # heritability
  expect_silent(own(twin, weights = rep(c(1, 0, 1), c(1, 1, 22))))
  rownames(x) <- rownames(v) <- letters[1:24]
  expect_silent(own(v))
  expect_error(own(v[24:1, 24:1]), "'covariance' has the observations of 'x' in another order")
  colnames(v) <- letters[24:1]
  expect_error(own(v), "'covariance' has other names of rows than of columns")
})

test_that("what needs the observations as they are is an error", {
  x <- related(24, 4)
  v <- kinship(24)
  expect_error(gpuCor(x, covariance = v, weights = 1:24), "'weights' must be 0 or 1 beside it")
  expect_error(gpuCor(list(x, x), combine = "mean", covariance = v, weights = 1:24), "'weights' must be 0 or 1 beside")
  for (method in setdiff(gpucor:::engine$methods, c("pearson", "spearman", "cosine"))) {
    expect_error(gpuCor(x, covariance = v, method = method), "takes no 'covariance', as its coefficient is not the cos")
  }
  expect_error(gpuCor(replace(x, 3, NA), covariance = v, use = "pairwise"), "'covariance' needs the same observations")
  expect_error(gpuCor(x, covariance = v, lag = 0:1), "into independent ones, and 'lag' needs them as they are")
  expect_error(gpuCor(x, covariance = v, runs = rep(1:2, 12)), "'runs' needs them as they are")
  expect_error(gpuCorTest(x, covariance = v, adjust = "maxT"), "'adjust' needs them as they are")
  expect_error(gpuCorCompare(x, x, covariance = v, n_perm = 9), "are not independent with 'covariance'")
  expect_error(gpuAssociation(x, gl(3, 8), covariance = v), "'covariance' is for traits of numbers, and 'traits' has a")
  expect_error(gpuCorWindows(x, width = 12, covariance = v), "gpuCorWindows\\(\\) does not take it")
  expect_error(gpuClean(x, covariance = v), "gpuClean\\(\\) does not take it")
  expect_error(gpuCor(x, covariance = v, covariates = normal(24, 22)), "'covariates': the regression takes 22 of 22")
})

test_that("a covariance with names of columns only, and other matrices than a covariance, are noticed", {
  x <- matrix(cos(1:96), 24, dimnames = list(paste0("s", 1:24), letters[1:4]))
  v <- diag(24) + 0.5 * exp(-as.matrix(stats::dist(1:24)))
  dimnames(v) <- list(NULL, paste0("s", 24:1))
  expect_error(gpuCor(x, covariance = v), "another order")
  expect_error(gpuCor(x, covariance = as.data.frame(v)), "another order")
  dimnames(v) <- NULL
  expect_silent(gpuCor(x, covariance = as.data.frame(v))) # columns V1, V2, ...
  expect_error(gpuCor(x, covariates = v), "covariance = takes such a matrix")
  expect_error(gpuCor(x, covariance = as.matrix(stats::dist(x))), "where an observation's variance must be")
  expect_error(gpuCor(x, covariance = v > 1), "is a matrix of logical values")
  w <- v
  w[1, ] <- w[, 1] <- NA
  weights <- rep(0:1, c(1, 23))
  of <- function(v) as.vector(gpuCor(x, covariance = v, weights = weights))
  expect_identical(of(w), of(v))
})
