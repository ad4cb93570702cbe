# gpuISC(): each subject's columns with the mean of the others'.

set.seed(3)
n <- 60
stimulus <- matrix(rnorm(n * 2), n)
subjects <- lapply(1:5, function(s) {
  x <- stimulus %*% matrix(c(1, 0, 0.5, 0.5, 0, 1, 0, 0), 2) + matrix(rnorm(n * 4, sd = s / 2), n) + 10
  colnames(x) <- letters[1:4]
  x
})

test_that("coefficients, their mean and the test are those of the definition", {
  found <- gpuISC(subjects)
  r <- loo(subjects)
  expect_equal(unname(attr(found, "r")), r, tolerance = 1e-12)
  expect_equal(found$isc, tanh(colMeans(atanh(r))), tolerance = 1e-12)
  expect_equal(gpuISC(subjects, combine = "mean")$isc, colMeans(r), tolerance = 1e-12)
  z <- atanh(r)
  t <- colMeans(z) / (apply(z, 2, sd) / sqrt(5) * sqrt(2 * 4 / 3))
  expect_equal(found$statistic, t, tolerance = 1e-10)
  expect_equal(found$p.value, pt(t, 4, lower.tail = FALSE), tolerance = 1e-10)
  expect_equal(found$fdr, p.adjust(found$p.value, "BH"))
  expect_identical(rownames(found), letters[1:4])
  called <- integer()
  read <- function(i) {
    called <<- c(called, i)
    subjects[[i]]
  }
  expect_identical(gpuISC(read, subjects = 5)$isc, found$isc)
  expect_identical(called, 1:5)
  expect_identical(gpuISC(lapply(subjects, as.data.frame))$isc, found$isc)
  expect_identical(gpuISC(lapply(subjects, function(x) x[, 2, drop = FALSE]))$isc, found$isc[2])
  expect_output(print(found), "4 columns: 5 subjects, 60 observations\n5 subjects combined by Fisher's z")
  expect_output(print(found, n = 1), "3 more rows")
  expect_identical(dim(found[1:2, ]), c(2L, 6L))
  expect_true(all(is.na(gpuISC(subjects[1:2])$p.value)))
})

test_that("each subject is adjusted before the mean", {
  drift <- lapply(1:5, function(s) cbind(sin(1:n / s), (1:n)^2))
  cleaned <- Map(gpuClean, subjects, drift)
  expect_equal(gpuISC(subjects, covariates = drift)$isc, gpuISC(cleaned)$isc, tolerance = 1e-12)
  expect_output(print(gpuISC(subjects, covariates = drift)), "covariates")
  band <- gpuISC(subjects, bandpass = c(0.02, 0.2), tr = 2, output = "isfc")
  cleaned <- lapply(subjects, gpuClean, bandpass = c(0.02, 0.2), tr = 2)
  expect_equal(as.vector(band), as.vector(gpuISC(cleaned, output = "isfc")), tolerance = 1e-12)
})

test_that("ISFC is that of the definition, with the ISC as its diagonal", {
  others <- lapply(1:5, function(s) Reduce(`+`, subjects[-s]) / 4)
  each <- Map(cor, subjects, others)
  r <- Reduce(`+`, lapply(each, atanh)) / 5
  found <- gpuISC(subjects, output = "isfc")
  expect_s3_class(found, "gpuCor")
  expect_equal(as.matrix(found), tanh((r + t(r)) / 2), tolerance = 1e-12)
  expect_equal(unname(diag(as.matrix(found))), gpuISC(subjects)$isc, tolerance = 1e-12)
  r <- Reduce(`+`, each) / 5
  expect_equal(as.matrix(gpuISC(subjects, output = "isfc", combine = "mean")), (r + t(r)) / 2, tolerance = 1e-12)
  expect_output(print(found), "5 subjects combined by Fisher's z")
  expect_error(found$p.value, "many subjects combined")
})

test_that("columns that miss values or are constant have no coefficient, or that of the other subjects", {
  x <- subjects
  x[[2]][3, 1] <- NA
  x[[3]][, 2] <- 0.1
  told <- capture_warnings(found <- gpuISC(x))
  expect_match(told, "standard deviation is zero .*: b\\)", all = FALSE)
  expect_match(told, "missing values leave no coefficient .*: a\\); na.rm = TRUE", all = FALSE)
  expect_length(told, 2)
  expect_identical(is.na(found$isc), c(TRUE, TRUE, FALSE, FALSE))
  expect_equal(unname(attr(found, "r")[-3, 2]), loo(x[-3])[, 2], tolerance = 1e-12)
  suppressWarnings({
    some <- gpuISC(x, na.rm = TRUE, n_perm = 19)
    expect_equal(some$isc[1], gpuISC(subjects[-2])$isc[1], tolerance = 1e-12)
    expect_equal(some$p.value[2], gpuISC(subjects[-3])$p.value[2], tolerance = 1e-10)
    expect_identical(some$subjects, c(4, 4, 5, 5))
    expect_false(anyNA(some$p.adjusted))
    expect_identical(is.na(gpuISC(x, n_perm = 19)$p.adjusted), is.na(found$isc))
    isfc <- as.matrix(gpuISC(x, na.rm = TRUE, output = "isfc"))
    expect_equal(unname(diag(isfc)), some$isc, tolerance = 1e-12)
    expect_identical(is.na(gpuISC(x, output = "isfc")["c", ]), c(a = TRUE, b = TRUE, c = FALSE, d = FALSE))
  })
})

# The largest mean of all columns, where subject s is turned by factors of its Fourier coefficients, by transforming
# back.
max_of_turned <- function(x, factors, mean) {
  half <- nrow(factors)
  turned <- Map(function(own, s) {
    n <- nrow(own)
    up <- factors[, s]
    all <- c(1, up, Conj(rev(up[seq_len(n - 1 - half)])))
    Re(mvfft(mvfft(own) * all, inverse = TRUE)) / n
  }, x, seq_along(x))
  max(mean(loo(turned)))
}

test_that("surrogates are those of the series, with even and odd numbers of rows", {
  for (rows in list(1:n, 2:n)) {
    x <- lapply(subjects, function(own) own[rows, ])
    run <- gpucor:::new_run(NULL, gpucor:::specs_of("gpuISC", combine = "fisher", threads = 2), x, NULL, "pearson",
                            "everything", takes = "subjects")
    for (surrogate in c("rotation", "phase")) {
      set.seed(5)
      factors <- gpucor:::surrogate_factors(length(rows), 5, 6, surrogate)
      expect_equal(Mod(factors), array(1, dim(factors)))
      found <- gpucor:::subject_coefficients(run, factors)$maxima
      expected <- sapply(1:6, function(b) {
        max_of_turned(x, factors[, (b - 1) * 5 + 1:5], function(r) colMeans(atanh(r)))
      })
      expect_equal(found, expected, tolerance = 1e-5)
    }
  }
  # A rotation takes the rows in turn.
  k <- Arg(gpucor:::surrogate_factors(7, 1, 1, "rotation")[1]) * 7 / (2 * pi)
  expect_equal(k, round(k))
})

test_that("adjusted p values count the maxima of all columns, in any number of threads", {
  set.seed(6)
  one <- gpuISC(subjects, n_perm = 99, threads = 1)
  set.seed(6)
  expect_identical(gpuISC(subjects, n_perm = 99, threads = 2), one)
  expect_identical(one$p.adjusted[1], 0.01)
  expect_equal(one$p.adjusted * 100, round(one$p.adjusted * 100))
  wide <- lapply(subjects, function(x) x[, rep(1:4, 5)][, 1:19]) # the last group of columns is not full
  set.seed(6)
  expect_identical(gpuISC(wide, n_perm = 99)$p.adjusted[1:4], one$p.adjusted)
})

test_that("subjects who share a signal are told of, as p values of a target are then too small", {
  set.seed(3)
  alone <- lapply(1:8, function(i) matrix(rnorm(80 * 30), 80))
  target <- matrix(rnorm(80 * 30), 80)
  expect_silent(gpuISC(alone, target = target))
  common <- lapply(alone, `+`, matrix(rnorm(80 * 30), 80))
  expect_warning(gpuISC(common, target = target), "the subjects correlate with one another in 30 of 30 columns",
                 class = "gpuCorShared")
})

test_that("with a target, coefficients and tests are those of cor() and t.test()", {
  isc_of <- function(...) suppressWarnings(gpuISC(...), "gpuCorShared") # the subjects share a stimulus
  target <- stimulus %*% matrix(c(1, 0, 0, 1, 1, 1, -1, 0), 2) * 1e3 + matrix(rnorm(n * 4), n)
  colnames(target) <- letters[1:4]
  found <- isc_of(subjects, target = target)
  r <- t(sapply(subjects, function(x) diag(cor(x, target))))
  expect_equal(unname(attr(found, "r")), unname(r), tolerance = 1e-12)
  tests <- apply(atanh(r), 2, t.test, alternative = "greater")
  expect_equal(found$statistic, vapply(tests, `[[`, 0, "statistic"), tolerance = 1e-10, ignore_attr = TRUE)
  expect_equal(found$p.value, vapply(tests, `[[`, 0, "p.value"), tolerance = 1e-10, ignore_attr = TRUE)
  two <- isc_of(subjects[c(3, 1)], target = target)
  expect_equal(two$isc, tanh(unname(colMeans(atanh(r[c(3, 1), ])))), tolerance = 1e-12)
  expect_equal(isc_of(subjects, target = -5 * target + 3)$isc, -found$isc, tolerance = 1e-10)
  some <- isc_of(lapply(rev(subjects), function(x) x[, 3:2]), target = target[, 3:2])
  expect_equal(some$p.value, found$p.value[3:2], tolerance = 1e-10)
  target[, 2] <- 0.1
  expect_identical(is.na(isc_of(subjects, target = target)$isc), c(FALSE, TRUE, FALSE, FALSE))
  expect_error(isc_of(subjects, target = target[-1, ]), "'target' must be 60 x 4 values, .*, not 59 x 4")
  expect_error(isc_of(subjects, target = target[, 4:1]), "column 1 of 'target' is \"d\"")
  expect_error(isc_of(subjects, target = target, n_perm = 9), "'target' is not for 'n_perm'")
  expect_error(isc_of(subjects, target = target, covariates = 1:n), "'target' is not adjusted")
})

test_that("memory that cannot be had is an error, and all is freed", {
  factors <- exp(2i * matrix(1:120, 30, 4))
  spectra <- lapply(1:2, function(s) matrix(complex(modulus = 1, argument = s * 1:150), 30))
  place <- gpucor:::new_place(gpuControl(threads = 2))
  walk_failures(function() gpucor:::checked(.Call(gpucor:::r_isc_maxima, spectra, factors, TRUE, place)), "host",
                "maxima of surrogates")
})

test_that("what is no stimulus of all subjects is told", {
  expect_error(gpuISC(subjects[[1]]), "must be a list of subjects' matrices", class = "gpucor_error_input")
  expect_error(gpuISC(subjects[1]), "at least two subjects", class = "gpucor_error_input")
  short <- c(subjects[1:2], list(subjects[[3]][-1, ]))
  expect_error(gpuISC(short), "subject 3 has 59 rows, and the first subject 60", class = "gpucor_error_input")
  expect_error(gpuISC(subjects, combine = "min"), "'combine' must be", class = "gpucor_error_input")
  expect_error(gpuISC(subjects, surrogate = "phase"), "'surrogate' says how", class = "gpucor_error_input")
  expect_error(gpuISC(subjects, n_perm = 9, output = "isfc"), "'n_perm' is for output", class = "gpucor_error_input")
  expect_error(gpuISC(subjects, weights = 1:n), "does not take it", class = "gpucor_error_input")
  heavy <- lapply(1:3, function(s) matrix(exp(2 * rnorm(400)), 100))
  expect_warning(gpuISC(heavy, n_perm = 9, surrogate = "phase"), "surrogate = \"rotation\"", class = "gpuCorTails")
  expect_silent(gpuISC(heavy, n_perm = 9))
})

test_that("surrogates of residuals are refused, and a mean of nothing has no correlation", {
  x <- lapply(1:3, function(i) matrix(sin(i * (1:120)^1.2), 40))
  expect_error(gpuISC(x, n_perm = 9, covariates = 1:40), "residuals that are not regressed again on 'covariates'")
  r <- suppressWarnings(attr(gpuISC(list(x[[1]], x[[2]], -x[[2]])), "r"))
  expect_true(all(is.na(r[1, ])))
  expect_output(print(gpuISC(x)[, c("isc", "p.value")]), "Inter-subject")
})
