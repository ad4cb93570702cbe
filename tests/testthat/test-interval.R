# Confidence intervals of gpuCorTest(), against stats::cor.test() and their definitions.

set.seed(5)
x <- normal(25, 5) + outer(rnorm(25), c(0, 1, 2, 3, -2))
colnames(x) <- letters[1:5]
holes <- with_missing(x, 0.15)
alternatives <- c("two.sided", "less", "greater")

intervals <- function(..., conf.level = 0.95) gpuCorTest(..., conf.level = conf.level)

# The bounds of coefficients r with the standard error s of z.
bounds_of <- function(r, s, level = 0.95, alternative = "two.sided") {
  width <- s * qnorm(if (alternative == "two.sided") (1 + level) / 2 else level)
  cbind(if (alternative == "less") -1 + 0 * r else tanh(atanh(r) - width),
        if (alternative == "greater") 1 + 0 * r else tanh(atanh(r) + width))
}

bounds <- function(test) cbind(as.vector(test$conf.low), as.vector(test$conf.high))

test_that("Pearson's intervals are those of cor.test()", {
  rows <- covering(alternative = alternatives, level = c(0.05, 0.5, 0.95, 0.999), data = c("x", "holes", "y"),
                   precision = c("single", "double"))
  for (backend in backends()) for_rows(rows, function(alternative, level, data, precision, label) {
    sides <- switch(data, x = list(x, NULL), holes = list(holes, NULL), y = list(x[, 1:2], holes[, 3:5]))
    test <- gpuCorTest(sides[[1]], sides[[2]], use = "pairwise", alternative = alternative, conf.level = level,
                       precision = precision, backend = backend)
    frame <- as.data.frame(test)
    y <- if (is.null(sides[[2]])) sides[[1]] else sides[[2]]
    truth <- t(mapply(function(i, j) {
      cor.test(sides[[1]][, i], y[, j], alternative = alternative, conf.level = level)$conf.int
    }, frame$from, frame$to, USE.NAMES = FALSE))
    expect_lt(max(abs(bounds(test) - truth)), if (precision == "double") 1e-12 else 1e-6, label = label)
  })
  one <- gpuCorTest(mtcars$mpg, mtcars$wt, conf.level = 0.95)
  truth <- as.vector(cor.test(mtcars$mpg, mtcars$wt)$conf.int)
  expect_equal(as.vector(bounds(one)), truth, tolerance = 1e-6)
  one <- gpuCorTest(mtcars$mpg, mtcars$wt, conf.level = 0.95, precision = "double")
  expect_equal(as.vector(bounds(one)), truth, tolerance = 1e-12)
})

test_that("intervals of ranks and cosines are those of their definitions", {
  rows <- covering(method = c("spearman", "kendall", "cosine"), alternative = alternatives,
                   data = c("x", "holes", "ties"), exact = c(TRUE, FALSE))
  for_rows(rows, function(method, alternative, data, exact, label) {
    data <- switch(data, x = x, holes = holes, ties = round(x))
    df <- if (method == "cosine") 17.5
    test <- suppressWarnings(intervals(data, method = method, alternative = alternative, use = "pairwise", df = df,
                                       exact = exact && is.null(df), precision = "double"))
    r <- as.vector(test$r)
    n <- as.vector(test$n)
    s <- sqrt(switch(method, kendall = 0.437 * (1 + 8 * r^2 / n) / (n - 4), spearman = (1 + r^2 / 2) / (n - 3),
                     1 / (df - 1)))
    expect_equal(bounds(test), bounds_of(r, s, alternative = alternative), tolerance = 1e-12, label = label)
  })
})

test_that("intervals have the degrees of freedom of the test", {
  z <- normal(25, 3, seed = 7)
  weights <- rep(c(1, 0.3, 0), c(10, 10, 5))
  settings <- list(list(covariates = z), list(df = 9.5), list(df = "bartlett"), list(weights = weights),
                   list(weights = rep(c(1, 2), c(20, 5)), weights_are = "frequency", covariates = z))
  for (given in settings) for (data in list(x, holes)) for (method in c("pearson", "spearman")) {
    test <- do.call(intervals, c(list(data, use = "pairwise", method = method, precision = "double"), given))
    r <- as.vector(test$r)
    df <- as.vector(test$df)
    expect_true(all(df < as.vector(test$n) - 2 | names(given)[1] != "covariates"))
    s <- sqrt((if (method == "spearman") (1 + r^2 / 2) * ifelse(df + 2 < 10, NA, 1) else 1) / (df - 1))
    expect_equal(bounds(test), bounds_of(r, s), tolerance = 1e-12, label = paste(method, names(given)[1]))
  }
  residuals <- residuals(lm(x ~ z))
  expect_equal(bounds(intervals(x, covariates = z, precision = "double"))[1, ],
               as.vector(bounds_of(cor(residuals)[2, 1], 1 / sqrt(25 - 3 - 3))))
})

test_that("bounds are NA where there is no coefficient, no test or no standard error", {
  few <- c(pearson = 3, spearman = 9, kendall = 9)
  for (method in names(few)) {
    for (n in 3:11) {
      found <- bounds(suppressWarnings(intervals((1:n)^2, c(2, 1, 3:11)[1:n], method = method)))
      expect_identical(anyNA(found), n <= few[[method]], label = paste(method, n))
      expect_identical(all(is.na(found)), anyNA(found))
    }
    test <- suppressWarnings(intervals(cbind(holes, 1), method = method, use = "pairwise", min_obs = 19))
    expect_true(anyNA(test$r) && !all(is.na(test$p.value)))
    expect_identical(is.na(bounds(test)), cbind(1, 1) %x% is.na(as.vector(test$p.value)) == 1)
  }
  expect_identical(anyNA(bounds(intervals(x, df = 1))), TRUE)
  expect_identical(anyNA(bounds(intervals(x, df = 1.01))), FALSE)
})

test_that("perfect correlations have the interval of cor.test()", {
  for (sign in c(-1, 1)) for (alternative in alternatives) {
    test <- intervals(1:7 + 0, sign * 1:7, alternative = alternative, precision = "double")
    truth <- cor.test(1:7, sign * 1:7, alternative = alternative)$conf.int # its coefficient has a rounding error
    expect_identical(as.vector(bounds(test)), round(as.vector(truth), 12))
    next_smaller <- c(spearman = cor(1:12, c(2, 1, 3:12)), kendall = cor(1:12, c(2, 1, 3:12), method = "kendall"))
    for (method in names(next_smaller)) {
      ranks <- bounds(intervals(1:12 + 0, sign * (1:12)^3, alternative = alternative, method = method))
      r <- next_smaller[[method]]
      s <- sqrt(if (method == "kendall") 0.437 * (1 + 8 * r^2 / 12) / 8 else (1 + r^2 / 2) / 9)
      truth <- bounds_of(sign * next_smaller[[method]], s, alternative = alternative)
      expect_equal(ranks, replace(truth, if (sign > 0) 2 else 1, sign), tolerance = 1e-12)
    }
  }
})

test_that("intervals of coefficients near 1 are those of double precision", {
  old <- options(gpucor.orientation = "columns") # variables in columns, though correlated
  on.exit(options(old))
  for (n_obs in c(12, 60, 300)) for (method in c("pearson", "spearman")) {
    m <- normal(n_obs, 1)[, 1] + normal(n_obs, 12, seed = 2) %*% diag(10^seq(-0.5, -5, length.out = 12))
    z <- function(...) atanh(bounds(intervals(m, method = method, ...)))
    own <- z()
    truth <- z(precision = "double")
    expect_identical(is.finite(own), is.finite(truth))
    expect_lt(max(abs(own - truth)[is.finite(truth)]) * sqrt(n_obs - 3), 2e-3, label = paste(method, n_obs))
  }
})

test_that("intervals have the shape of the coefficients, and columns and a line of their own", {
  test <- intervals(x, conf.level = 0.9)
  square <- intervals(x, conf.level = 0.9, output = "matrix")
  rectangle <- intervals(x[, 1:2], x[, 3:5], conf.level = 0.9)
  for (part in c("conf.low", "conf.high")) {
    expect_s3_class(test[[part]], "dist")
    expect_identical(labels(test[[part]]), colnames(x))
    expect_equal(as.vector(test[[part]]), square[[part]][lower.tri(square[[part]])], tolerance = 1e-6)
    expect_equal(rectangle[[part]], square[[part]][1:2, 3:5], tolerance = 1e-6)
  }
  expect_identical(test$conf.level, 0.9)
  frame <- as.data.frame(test)
  expect_identical(names(frame), c("from", "to", "r", "conf.low", "conf.high", "n", "statistic", "p.value"))
  expect_identical(frame$conf.high, as.vector(test$conf.high))
  expect_output(print(test), "conf.low conf.high.*90 % confidence interval of r$")
  expect_named(summary(test)$strongest, names(frame))
  without <- gpuCorTest(x)
  expect_null(without$conf.low)
  expect_no_match(capture.output(print(without)), "conf")
  same <- setdiff(names(without), "r")
  expect_identical(unclass(test)[same], unclass(without)[same])
})

test_that("intervals are the same bytes for any number of threads", {
  m <- with_missing(normal(40, 300), 0.1)
  one <- intervals(m, use = "pairwise", threads = 1)
  for (threads in 2:3) expect_identical(bounds(intervals(m, use = "pairwise", threads = threads)), bounds(one))
})

test_that("'conf.level' is checked", {
  for (wrong in list(95, 0, 1, NA, "0.95", c(0.9, 0.95), -0.5)) {
    expect_error(gpuCorTest(x, conf.level = wrong), "'conf.level' must be NULL or a number above 0 and below 1, not ")
  }
  expect_error(gpuCorTest(x, method = "bicor", conf.level = 0.95),
               "'conf.level' is for method = \"pearson\", .*, not for \"bicor\"; leave it out")
})
