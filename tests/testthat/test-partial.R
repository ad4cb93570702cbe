# Partial correlations given all other columns (argument partial).

off_diagonal <- function(r) r[row(r) != col(r)]
partial_by_hand <- function(r) {
  p <- -stats::cov2cor(solve(r))
  diag(p) <- 1
  dimnames(p) <- dimnames(r)
  p
}
modules_of <- function(n_obs, n_var, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n_obs * 10), n_obs) %*% matrix(rnorm(10 * n_var, sd = 0.4), 10) + rnorm(n_obs * n_var)
  colnames(x) <- paste0("g", seq_len(n_var))
  x
}

test_that("shrunken partial correlations are corpcor's", {
  skip_if_not_installed("corpcor")
  x <- modules_of(40, 150)
  theirs <- corpcor::pcor.shrink(x, verbose = FALSE)
  for (precision in c("single", "double")) {
    ours <- gpuCor(x, partial = TRUE, precision = precision, output = "matrix")
    expect_lt(max(abs(off_diagonal(ours - theirs))), if (precision == "double") 1e-12 else 1e-6)
  }
  expect_equal(attr(gpuCor(x, partial = TRUE), "adjusted")$shrinkage, attr(theirs, "lambda"), tolerance = 1e-12)
  for (shrinkage in c(0.01, 0.3, 0.5, 0.9, 1)) {
    theirs <- corpcor::pcor.shrink(x, shrinkage, verbose = FALSE)
    ours <- gpuCor(x, partial = TRUE, shrinkage = shrinkage, output = "matrix")
    expect_lt(max(abs(off_diagonal(ours - theirs))), 1e-6)
  }
})

test_that("weights enter as in corpcor", {
  skip_if_not_installed("corpcor")
  x <- modules_of(40, 60)
  w <- seq(0.1, 2, length.out = 40)
  theirs <- corpcor::pcor.shrink(x, w = w, verbose = FALSE)
  ours <- gpuCor(x, partial = TRUE, weights = w, output = "matrix")
  expect_lt(max(abs(off_diagonal(ours - theirs))), 1e-6)
  expect_equal(attr(gpuCor(x, partial = TRUE, weights = w), "adjusted")$shrinkage, attr(theirs, "lambda"),
               tolerance = 1e-12)
})

test_that("without shrinkage they follow from the inverse of the correlations, also of ranks and of residuals", {
  x <- modules_of(60, 12)
  expect_equal(gpuCor(x, partial = TRUE, shrinkage = 0, output = "matrix"), partial_by_hand(cor(x)), tolerance = 1e-12)
  expect_equal(gpuCor(x, partial = TRUE, shrinkage = 0, method = "spearman", output = "matrix"),
               partial_by_hand(cor(x, method = "spearman")), tolerance = 1e-12)
  z <- seq_len(60)
  expect_equal(gpuCor(x, partial = TRUE, shrinkage = 0, covariates = z, output = "matrix"),
               partial_by_hand(cor(residuals(lm(x ~ z)))), tolerance = 1e-10)
})

test_that("small shrinkage with more observations than columns approaches none", {
  x <- modules_of(60, 12)
  expect_equal(gpuCor(x, partial = TRUE, shrinkage = 1e-9, output = "matrix"), partial_by_hand(cor(x)),
               tolerance = 1e-6)
})

test_that("networks, sums and tests have these coefficients", {
  x <- modules_of(30, 200)
  r <- gpuCor(x, partial = TRUE)
  values <- as.vector(r)
  net <- gpuCorNetwork(x, partial = TRUE, density = 0.05, output = "edges")
  expect_equal(sort(abs(net$r), TRUE), sort(abs(values), TRUE)[seq_len(nrow(net))], tolerance = 1e-6)
  level <- mean(sort(abs(values), TRUE)[500:501])
  sums <- gpuConnectivity(x, partial = TRUE, threshold = level)
  expect_equal(sum(sums$degree), 2 * 500)
  test <- gpuCorTest(x, partial = TRUE)
  expect_equal(as.vector(test$r), values, tolerance = 1e-6)
  expect_equal(as.vector(test$p.value), 2 * pt(-abs(as.vector(test$statistic)), test$df), tolerance = 1e-10)
  edges <- gpuCorNetwork(x, partial = TRUE, p.value = 1e-3, output = "edges")
  expect_equal(nrow(edges), sum(test$p.value <= 1e-3))
})

test_that("the result does not depend on threads, memory or a plan", {
  x <- modules_of(30, 300)
  one <- gpuCor(x, partial = TRUE, threads = 1)
  expect_identical(as.vector(gpuCor(x, partial = TRUE, threads = 3)), as.vector(one))
  expect_identical(as.vector(gpuCor(x, partial = TRUE, memory = 50000)), as.vector(one))
})

test_that("each subject of a list has partial correlations of its own", {
  subjects <- list(modules_of(40, 30), modules_of(60, 30, 2))
  by_subject <- lapply(subjects, gpuCor, partial = TRUE, precision = "double", output = "matrix")
  found <- gpuCor(subjects, partial = TRUE, precision = "double", combine = "mean", output = "matrix")
  expect_equal(off_diagonal(found), off_diagonal(Reduce(`+`, by_subject) / 2), tolerance = 1e-12)
  expect_identical(gpuCor(subjects, partial = TRUE, combine = "mean", output = "matrix"), found) # chosen
  net <- gpuCorNetwork(subjects, partial = TRUE, combine = "mean", threshold = 0)
  expect_identical(net[2, 1], found[2, 1])
})

test_that("a plan gives the same network", {
  x <- modules_of(40, 300)
  for (criterion in list(list(density = 0.01), list(p.value = 1e-4))) {
    path <- tempfile()
    suppressMessages(utils::capture.output({
      do.call(gpuCorPlan, c(list(path, x, partial = TRUE, shards = 2), criterion))
      for (round in 1:4) for (shard in 1:2) try(gpuCorRun(path, shard), silent = TRUE)
    }))
    whole <- do.call(gpuCorNetwork, c(list(x, partial = TRUE), criterion))
    expect_identical(gpuCorCollect(path)@x, whole@x)
    unlink(path, recursive = TRUE)
  }
})

test_that("degrees of freedom are one less for each other column, or those of the fitted null distribution", {
  x <- modules_of(60, 12)
  test <- gpuCorTest(x, partial = TRUE, shrinkage = 0)
  expect_equal(test$df, 60 - 12)
  by_lm <- summary(lm(x[, 1] ~ x[, 2] + x[, -(1:2)]))$coefficients[2, 4]
  expect_equal(test$p.value[1], by_lm, tolerance = 1e-9)
  interval <- gpuCorTest(x, partial = TRUE, shrinkage = 0, conf.level = 0.95)
  expect_equal(c(interval$conf.low[1], interval$conf.high[1]),
               tanh(atanh(test$r[1]) + c(-1, 1) * qnorm(0.975) / sqrt(60 - 10 - 3)), tolerance = 1e-9)
  set.seed(2)
  for (df in c(10, 500)) {
    t <- rt(5e5, df)
    expect_equal(gpucor:::null_freedom(t / sqrt(df + t^2)), df, tolerance = 0.05)
  }
  expect_equal(gpuCorTest(x, partial = TRUE, df = 7)$df, 7)
})

test_that("columns without coefficients and incomplete observations are left out", {
  x <- modules_of(40, 30)
  flat <- cbind(x, flat = 1)
  expect_warning(r <- gpuCor(flat, partial = TRUE, output = "matrix"), "standard deviation is zero")
  expect_equal(r[1:30, 1:30], gpuCor(x, partial = TRUE, output = "matrix"), tolerance = 1e-6)
  expect_true(all(is.na(r["flat", 1:30])))
  x[3:5, 2] <- NA
  expect_equal(gpuCor(x, partial = TRUE, use = "complete.obs", output = "matrix"),
               gpuCor(x[-(3:5), ], partial = TRUE, output = "matrix"), tolerance = 1e-6)
  expect_error(gpuCor(x, partial = TRUE, use = "pairwise"), "same observations")
  expect_true(all(is.na(gpuCor(x, partial = TRUE, output = "matrix")["g2", -2])))
})

test_that("nothing but zeros is a warning", {
  set.seed(7) # independent columns, by chance less correlated than expected
  x <- matrix(rnorm(40 * 60), 40)
  expect_warning(r <- gpuCor(x, partial = TRUE), "the estimated shrinkage is 1")
  expect_true(all(as.vector(r) == 0))
  expect_silent(gpuCor(x, partial = TRUE, shrinkage = 0.9))
  warnings <- capture_warnings(gpuCor(list(modules_of(40, 60), x, x), partial = TRUE, combine = "mean"))
  expect_match(warnings, "^subject 2: the estimated shrinkage is 1")
  expect_length(warnings, 1)
})

test_that("wrong arguments are errors that say what to do", {
  x <- modules_of(20, 30)
  expect_error(gpuCor(x, shrinkage = 0.1), "'shrinkage' is for partial = TRUE")
  expect_error(gpuCor(x, partial = TRUE, shrinkage = 2), "from 0 to 1")
  expect_error(gpuCor(x, partial = NA), "'partial'")
  expect_error(gpuCor(x, x, partial = TRUE), "cbind\\(x, y\\)")
  expect_error(gpuCor(x, partial = TRUE, shrinkage = 0), "shrinkage = \"auto\"")
  for (method in c("kendall", "bicor", "cosine", "distance", "mi")) {
    expect_error(gpuCor(x, partial = TRUE, method = method), "\"pearson\" or \"spearman\"")
  }
  expect_error(gpuConnectivity(x, partial = TRUE, maps = "eigenvector"), "with a threshold")
  expect_error(gpuCorTest(x, partial = TRUE, df = "bartlett"), "no meaning")
  expect_error(gpuCorTest(x, partial = TRUE, conf.level = 0.95), "no confidence intervals")
  expect_error(gpuCorTest(x, partial = TRUE, adjust = "maxT"), "leave one out")
})

test_that("the strongest of very small coefficients are found, with a sample", {
  x <- normal(12, 1500) # coefficients are about 1e-3, a fifth of what a histogram's bins resolve well
  for (backend in backends()) {
    net <- gpuCorNetwork(x, partial = TRUE, shrinkage = 0.2, density = 0.001, backend = backend)
    r <- gpuCor(x, partial = TRUE, shrinkage = 0.2, backend = backend)
    k <- ceiling(0.001 * length(r))
    expect_gt(min(abs(net@x)), 0)
    expect_lt(max(abs(r)), 0.03)
    expect_equal(sort(abs(net@x)), sort(abs(r), decreasing = TRUE)[k:1], tolerance = 1e-5)
  }
})

test_that("p values of the pairs in a mask are those of all pairs", {
  x <- modules_of(40, 60)
  parts <- rep(1:2, 30)
  all <- gpuCorNetwork(x, p.value = 0.3, partial = TRUE, output = "edges")
  same <- gpuCorNetwork(x, p.value = 0.3, partial = TRUE, output = "edges", pairs = pairMask(parts, same = TRUE))
  kept <- parts[match(all$from, colnames(x))] == parts[match(all$to, colnames(x))]
  expect_gt(nrow(same), 0)
  expect_equal(as.list(same), as.list(all[kept, ]), tolerance = 1e-6)
})

test_that("tests of shrunken coefficients take the observations that all columns have, not those of a sample", {
  set.seed(5)
  x <- matrix(rnorm(40 * 2100), 40)
  x[1:15, 3] <- NA # a column that the sample leaves out
  expect_false(3 %in% gpucor:::sampled_columns(x, gpucor:::PARTIAL_SAMPLE))
  network <- function(x, ...) gpuCorNetwork(x, p.value = 0.001, partial = TRUE, shrinkage = 0.5, backend = "cpu", ...)
  found <- network(x, use = "complete.obs")
  wanted <- network(x[16:40, ])
  expect_identical(slots_of(found), slots_of(wanted))
  expect_equal(found@threshold, wanted@threshold)
  expect_gt(found@edges, 0)
})
