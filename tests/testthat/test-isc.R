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
  found <- gpuISC(subjects, output = "isfc")
  expect_s3_class(found, "gpuCor")
  expect_equal(as.matrix(found), isfc(subjects), tolerance = 1e-12)
  expect_equal(unname(diag(as.matrix(found))), gpuISC(subjects)$isc, tolerance = 1e-12)
  expect_equal(as.matrix(gpuISC(subjects, output = "isfc", combine = "mean")), isfc(subjects, "mean"),
               tolerance = 1e-12)
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
  expect_identical(without_call(gpuISC(subjects, n_perm = 99, threads = 2)), without_call(one))
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

# ---- two groups: pairs of subjects, as permutation_isc() of BrainIAK has them (pairwise, mean)

groups <- local({
  set.seed(8)
  x <- lapply(1:7, function(s) {
    stimulus %*% matrix(c(1, 0, 1, (s > 4) + 0, 0, 0), 2) + matrix(rnorm(n * 3, sd = 1.5), n)
  })
  list(x = x, labels = rep(c("a", "b"), c(4, 3)))
})

test_that("groups are compared by pairs of subjects, whose labels are permuted", {
  x <- groups$x
  means <- means_of_pairs(x, groups$labels)
  every <- combn(7, 4, function(first) ifelse(seq_len(7) %in% first, "a", "b")) # all 35 labels
  contrasts <- list(groups = function(m) m["a", ] - m["b", ],
                    between = function(m) (m["a", ] + m["b", ]) / 2 - m["between", ])
  size_of <- list(groups = abs, between = identity)
  for (contrast in names(contrasts)) {
    found <- gpuISC(x, group = groups$labels, contrast = contrast, n_perm = 2000)
    own <- contrasts[[contrast]](means)
    expect_equal(found$difference, own, tolerance = 1e-12, ignore_attr = TRUE)
    expect_equal(unname(t(as.matrix(found[c("isc.x", "isc.y", "isc.between")]))),
                 unname(tanh(means[c("a", "b", "between"), ])), tolerance = 1e-12)
    permuted <- apply(every, 2, function(labels) contrasts[[contrast]](means_of_pairs(x, labels)))
    size <- size_of[[contrast]](permuted)
    exact <- rowMeans(size >= size_of[[contrast]](own) - 1e-6)
    expect_lt(max(abs(found$p.value - exact)), 4 * sqrt(0.25 / 2000)) # four standard errors
    exact <- colMeans(outer(apply(size, 2, max), size_of[[contrast]](own) - 1e-6, ">="))
    expect_lt(max(abs(found$p.adjusted - exact)), 4 * sqrt(0.25 / 2000))
    expect_equal(found$fdr, p.adjust(found$p.value, "BH"))
  }
  by_mean <- gpuISC(x, group = groups$labels, n_perm = 9, combine = "mean")
  means <- means_of_pairs(x, groups$labels, identity)
  expect_equal(by_mean$difference, means["a", ] - means["b", ], tolerance = 1e-12, ignore_attr = TRUE)
  expect_equal(by_mean$isc.y, means["b", ], tolerance = 1e-12, ignore_attr = TRUE)
  expect_output(print(found), "3 columns: 4 \"a\" against 3 \"b\", 60 observations")
  withr::with_pdf(NULL, expect_silent(plot(found)))
})

test_that("the order of subjects and labels, and further columns do not matter to groups", {
  compare <- function(x, labels, ...) {
    set.seed(9)
    gpuISC(x, group = labels, n_perm = 500, ...)
  }
  first <- compare(groups$x, groups$labels)
  order <- c(5, 1, 7, 2, 6, 4, 3)
  moved <- compare(groups$x[order], factor(groups$labels[order]))
  exact <- c("difference", "isc.x", "isc.y", "isc.between")
  expect_equal(moved[exact], first[exact], tolerance = 1e-12)
  expect_lt(max(abs(moved$p.value - first$p.value)), 0.15)
  swapped <- compare(groups$x, factor(groups$labels, c("b", "a")))
  expect_equal(swapped$difference, -first$difference, tolerance = 1e-12)
  expect_equal(swapped$isc.x, first$isc.y, tolerance = 1e-12)
  wide <- compare(lapply(groups$x, function(x) cbind(x, x[, 3:1])), groups$labels)
  expect_equal(wide$p.value[1:3], first$p.value)
  expect_equal(wide$p.adjusted[6:4], first$p.adjusted)
  scaled <- compare(Map(function(x, s) x * s + s, groups$x, 1:7), groups$labels, threads = 1)
  expect_equal(scaled$p.value, first$p.value)
  z <- lapply(1:7, function(s) sin(1:n / s))
  adjusted <- compare(groups$x, groups$labels, covariates = z)
  expect_equal(adjusted, compare(Map(gpuClean, groups$x, z), groups$labels), ignore_attr = TRUE, tolerance = 1e-10)
})

test_that("groups of which little is known are told", {
  compare <- function(...) gpuISC(groups$x, n_perm = 9, ...)
  expect_error(gpuISC(groups$x, group = groups$labels), "such as n_perm = 1000", class = "gpucor_error_input")
  expect_error(compare(group = c("a", rep("b", 6))), "'group' has 1 \"a\", 6 \"b\"; it needs two labels")
  expect_error(compare(group = 1:7 %% 3), "it needs two labels", class = "gpucor_error_input")
  expect_error(compare(group = 1:2), "'group' has 2 labels; there are 7 subjects", class = "gpucor_error_input")
  expect_error(compare(group = replace(groups$labels, 2, NA)), "'group' is missing for subject 2")
  expect_error(compare(contrast = "between"), "'contrast' is of two groups", class = "gpucor_error_input")
  expect_error(compare(group = groups$labels, output = "isfc"), "'group' is not for output = \"isfc\"")
  x <- groups$x
  x[[2]][3, 1] <- NA
  expect_warning(found <- gpuISC(x, group = groups$labels, n_perm = 9), "missing values leave no coefficient")
  expect_identical(is.na(found$p.value), c(TRUE, FALSE, FALSE))
  expect_identical(is.na(found$p.adjusted), c(TRUE, FALSE, FALSE))
})

test_that("a group whose subjects differ more is told of", {
  set.seed(2)
  follow <- function(loading) outer(stimulus[, 1], rep(loading, 8)) + sqrt(1 - loading^2) * matrix(rnorm(n * 8), n)
  compare <- function(loadings) gpuISC(lapply(loadings, follow), group = rep(1:2, each = 8), n_perm = 9)
  vary <- rep(c(0.1, 0.9), 4)
  equal <- rep(0.6, 8)
  expect_silent(compare(c(equal, equal)))
  expect_silent(compare(c(vary, vary)))
  expect_warning(compare(c(vary, equal)), "times as much among the subjects of \"1\"", class = "gpuCorExchange")
  expect_warning(compare(c(equal, vary)), "times as much among the subjects of \"2\"")
  own <- function(of) {
    sapply(1:2, function(v) {
      var(sapply(of, function(s) {
        mean(z[pairs[, 1] %in% of & pairs[, 2] %in% of & (pairs[, 1] == s | pairs[, 2] == s), v])
      }))
    })
  }
  pairs <- t(combn(6, 2))
  z <- cbind(1:15, (1:15)^2)
  expect_equal(gpucor:::variance_ratio(z, pairs, 1:6 < 4), own(1:3) / own(4:6))
})

test_that("ISFC's p values count the largest of all pairs in surrogates", {
  for (surrogate in c("rotation", "phase")) {
    set.seed(5)
    found <- gpuISC(subjects, output = "isfc", n_perm = 8, surrogate = surrogate)
    set.seed(5)
    factors <- gpucor:::surrogate_factors(n, 5, 8, surrogate)
    maxima <- sapply(1:8, function(b) {
      turned <- Map(function(own, s) {
        all <- c(1, factors[, s], Conj(rev(factors[-n / 2, s])))
        Re(mvfft(mvfft(own) * all, inverse = TRUE)) / n
      }, subjects, (b - 1) * 5 + 1:5)
      r <- isfc(turned)
      max(abs(r[lower.tri(r)]))
    })
    expected <- sapply(abs(as.vector(found)), function(r) (1 + sum(maxima >= r)) / 9)
    expect_equal(as.vector(attr(found, "p.adjusted")), expected)
    expect_identical(attr(found, "p.adjusted")["a", "b"], attr(found, "p.adjusted")[[1]])
  }
  expect_equal(as.vector(found), as.vector(gpuISC(subjects, output = "isfc")), tolerance = 1e-12)
})
