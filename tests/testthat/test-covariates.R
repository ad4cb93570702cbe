# What columns are freed of: residuals of lm(), of ranks, and of what is outside of a band of frequencies.

# Some of a regressor in every column, a large mean, ties, a constant, and a column of nothing but regressors.
confounded <- function(n_obs, n_var, z = confounds(n_obs)) {
  x <- normal(n_obs, n_var) + z[, "drift"] %o% (seq_len(n_var) / n_obs)
  x[, 1] <- x[, 1] + 1e8
  x[, 2] <- 7
  x[, 3] <- round(x[, 3])
  x[, 4] <- 3 * z[, "drift"] - 2 * z[, "motion"] + 5
  x
}

# Of residuals, with what is nothing but roundings missing.
residual_cor <- function(residuals, weights = 1, none = NULL) {
  residuals <- residuals * sqrt(weights)
  r <- crossprod(residuals) / sqrt(outer(colSums(residuals^2), colSums(residuals^2)))
  r[none, ] <- r[, none] <- NA
  r
}

expect_residual <- function(x, of_residuals, label, ..., within = 1e-6) {
  ours <- suppressWarnings(gpuCor(x, ..., output = "matrix"))
  wrong <- differences(unname(off_diagonal(ours)), unname(off_diagonal(of_residuals)), within)
  expect(length(wrong) == 0, paste(c(label, wrong), collapse = " "))
}

test_that("coefficients are those of lm()'s residuals", {
  for (backend in backends()) for (n_obs in c(12, 63, 65, 200)) for (precision in c("single", "double")) {
    z <- confounds(n_obs)
    x <- confounded(n_obs, 9)
    w <- seq_len(n_obs) %% 4
    about <- sweep(z, 2, colMeans(z)) # lm() drops what is nearly the intercept
    within <- c(single = 1e-6, double = 1e-7)[[precision]] # lm() of a mean of 1e8
    say <- paste(backend, n_obs, precision)
    expect_residual(x, residual_cor(residuals(lm(x ~ about)), none = c(2, 4)), say, covariates = z, backend = backend,
                    precision = precision, within = within)
    fit <- lm(x ~ about, weights = w)
    expect_residual(x, residual_cor(residuals(fit), w, c(2, 4)), paste(say, "weights"), covariates = z, weights = w,
                    backend = backend, precision = precision, within = within)
  }
})

test_that("and of any number of columns, one off a block and a tile", {
  z <- confounds(20)[, c("drift", "motion")]
  for (backend in backends()) for (n_var in c(1, 2, 63, 65, 257, if (full_tier()) 2049)) {
    x <- normal(20, n_var)
    truth <- cor(as.matrix(residuals(lm(x ~ z))))
    expect_residual(x, truth, paste(backend, n_var), covariates = z, backend = backend)
  }
})

test_that("a matrix, a vector, a data frame with factors and a formula are what lm() makes of them", {
  x <- normal(30, 6)
  d <- data.frame(age = rexp(30), batch = gl(3, 10, labels = c("a", "b", "c")), site = rep(c("u", "v"), 15))
  d$site[30] <- "v"
  own <- function(...) gpuCor(x, ..., output = "matrix", precision = "double")
  truth <- function(formula) unname(cor(residuals(lm(formula, d))))
  expect_equal(own(covariates = d$age), truth(x ~ age))
  expect_equal(own(covariates = d$batch), truth(x ~ batch))
  expect_equal(own(covariates = d), truth(x ~ age + batch + site))
  expect_equal(own(covariates = ~ log(age) * batch, data = d), truth(x ~ log(age) * batch))
  expect_equal(own(covariates = ~ age - 1, data = d), truth(x ~ age)) # an intercept there is
  age <- d$age
  expect_equal(own(covariates = ~ age), truth(x ~ age))
  expect_equal(own(covariates = cbind(d$age, 2 * d$age, 1, 0)), truth(x ~ age))
  expect_equal(own(covariates = rep(1, 30)), unname(cor(x)))
  expect_equal(own(covariates = d$age > 1), truth(x ~ I(age > 1)))
  cosine <- residuals(lm(x ~ age + batch - 1, d))
  expect_equal(own(method = "cosine", covariates = ~ age + batch, data = d), residual_cor(unname(cosine)))
})

test_that("every method that takes them, every kind of data and rule for missing values: by the definition", {
  data <- kinds_of_data(24, 7)[c("normal", "heavy_ties", "constants", "infinite", "missing_in_some_rows", "missing",
                                 "mostly_missing", "empty_column")]
  z <- confounds(24)[, c("motion", "ties")]
  z[5, 1] <- NA
  w <- rep(c(1, 2, 0.5), 8)
  rows <- covering(name = names(data), method = more_methods,
                   use = c("complete.obs", "pairwise.complete.obs", "everything"))
  for_rows(rows, function(name, method, use, label) {
    if (use == "everything") {
      weights <- replace(rep(1, 24), 5, 0)
      return(expect_designed(data[[name]], method, use, backends()[1], weights = weights, z = z))
    }
    # Pairs of few observations have one dimension left, or none, of which the definition knows nothing.
    if (name == "mostly_missing") return()
    if (anyNA(data[[name]][-5, ]) && name != "missing_in_some_rows") use <- "pairwise.complete.obs"
    expect_designed(data[[name]], method, use, "cpu", weights = if (method != "bicor") w, z = z)
  })
  z <- cbind(z[, "motion"], sqrt(seq_len(24)))
  few <- suppressWarnings(gpuCor(data$mostly_missing, covariates = z, use = "pairwise", output = "matrix"))
  known <- !is.na(data$mostly_missing) & !is.na(z[, 1])
  expect_true(all(is.na(off_diagonal(few)[off_diagonal(crossprod(known)) < 5])))
  expect_nothing_live()
})

test_that("Spearman's partial rho is of ranks regressed on ranks", {
  x <- rounded(40, 8)
  z <- confounds(40)[, c("motion", "ties")]
  ranks <- apply(x, 2, rank)
  truth <- cor(residuals(lm(ranks ~ apply(z, 2, rank))))
  for (backend in backends()) {
    expect_residual(x, truth, backend, method = "spearman", covariates = z, backend = backend)
  }
  all <- solve(cor(apply(cbind(x[, 1:2], z), 2, rank))) # by the inverse, as packages for partial correlations have it
  expect_equal(truth[1, 2], -all[1, 2] / sqrt(all[1, 1] * all[2, 2]))
})

test_that("regression on many columns keeps what is small of what is large", {
  set.seed(8)
  z <- matrix(rnorm(300 * 30), 300)
  small <- normal(300, 5)
  x <- 1e5 * z %*% matrix(rnorm(150), 30) + small
  expect_residual(x, cor(residuals(lm(small ~ z))), "small", covariates = z, precision = "double", within = 1e-9)
})

test_that("bandpass regresses on the cosines outside of the band, together with what else there is", {
  n <- 60
  x <- apply(normal(n, 6), 2, cumsum)
  z <- confounds(n)[, "motion"]
  cosines <- cos(outer(seq_len(n) - 0.5, seq_len(n - 1)) * pi / n)
  frequency <- seq_len(n - 1) / (2 * n * 2)
  for (backend in backends()) for (band in list(c(0.01, 0.1), c(0, 0.05), c(0.03, Inf), c(0.005, 0.24))) {
    out <- cosines[, frequency < band[1] | frequency > band[2], drop = FALSE]
    say <- paste(backend, band[1], band[2])
    expect_residual(x, cor(residuals(lm(x ~ out))), say, bandpass = band, tr = 2, backend = backend)
    expect_residual(x, cor(residuals(lm(x ~ out + z))), paste(say, "covariate"), bandpass = band, tr = 2,
                    covariates = z, backend = backend, precision = "double", within = 1e-10)
    keep <- seq_len(n) %% 9 > 0
    censored <- lm(x ~ out, subset = keep)
    if (ncol(out) < sum(keep) - 3) {
      expect_residual(x, cor(residuals(censored)), paste(say, "censored"), bandpass = band, tr = 2, weights = keep,
                      backend = backend)
    }
  }
  expect_identical(off_diagonal(gpuCor(x, bandpass = c(0, 1), tr = 2, output = "matrix", precision = "double")) -
                     off_diagonal(cor(x)) < 1e-13, rep(TRUE, 15)) # nothing is outside
})

test_that("columns are as good by their coefficients on a basis of the few dimensions that a band leaves", {
  n <- 150
  cosines <- cos(outer(seq_len(n) - 0.5, seq_len(n - 1)) * pi / n)
  frequency <- seq_len(n - 1) / (2 * n * 2)
  out <- cosines[, frequency < 0.05 | frequency > 0.1]
  x <- normal(n, 19) # an incomplete group of columns
  x[, 1] <- 1e6 * out[, 3] + 5 # nothing is left
  x[, 2] <- 7
  x[9, 3] <- NA
  x[, 4] <- 1e200 * x[, 4]
  x[, 5] <- 1e-200 * x[, 5]
  x[, 6] <- x[, 6] + 1e3 * out[, 5]
  x[7, 7] <- Inf
  x[, 8] <- round(x[, 8])
  expected <- function(values, gone) {
    complete <- setdiff(1:19, c(gone, 3))
    values[, complete] <- residuals(lm(values[, complete] ~ out))
    r <- suppressWarnings(cor(values))
    r[gone, ] <- r[, gone] <- NA
    r
  }
  scaled <- x
  scaled[, 4:5] <- x[, 4:5] * rep(c(1e-200, 1e200), each = n)
  truth <- list(pearson = expected(scaled, c(1, 2, 7)), spearman = expected(apply(x, 2, rank, na.last = "keep"), 2))
  for (backend in backends()) for (method in names(truth)) for (precision in c("single", "double")) {
    own <- function(...) {
      suppressWarnings(gpuCor(x, method = method, bandpass = c(0.05, 0.1), tr = 2, backend = backend,
                              precision = precision, output = "matrix", ...))
    }
    found <- own(threads = 2)
    values <- replace(found, is.nan(found), NA)
    wrong <- differences(unname(off_diagonal(values)), unname(off_diagonal(truth[[method]])),
                         c(single = 1e-6, double = 1e-10)[[precision]]) # lm() of 1e3
    expect(length(wrong) == 0, paste(c(backend, method, precision, wrong), collapse = " "))
    expect_identical(own(threads = 1), found)
  }
  test <- gpuCorTest(x[, 10:19], bandpass = c(0.05, 0.1), tr = 2, precision = "double")
  r <- cor(residuals(lm(x[, 10:19] ~ out)))[2, 1]
  df <- n - 2 - ncol(out)
  expect_equal(as.data.frame(test)$p.value[1], 2 * pt(-abs(r) * sqrt(df / (1 - r^2)), df), tolerance = 1e-9)
})

test_that("results are the same to the last bit on every back end, by any threads, in all functions", {
  z <- confounds(50)
  x <- confounded(50, 90)
  for (method in more_methods) {
    quiet <- function(f, ...) suppressWarnings(f(..., method = method, covariates = z[, -3]))
    truth <- quiet(gpuCor, x, output = "matrix", backend = "cpu", threads = 1)
    for (backend in backends()) {
      expect_identical(quiet(gpuCor, x, output = "matrix", backend = backend, memory = 1), truth)
      expect_identical(quiet(gpuCor, x[, 1:30], x[, 31:90], backend = backend), truth[1:30, 31:90])
      expect_identical(as.vector(quiet(gpuDist, t(x), backend = backend)), 1 - t(truth)[lower.tri(truth)])
      expect_equal(quiet(gpuCorNetwork, x, threshold = 0.3, backend = backend)@edges,
                   sum(abs(off_diagonal(truth)) >= 0.3, na.rm = TRUE))
    }
  }
  holes <- replace(x, 3, NA)
  distances <- suppressWarnings(gpuDist(t(holes), use = "complete", covariates = z))
  r <- suppressWarnings(gpuCor(holes, use = "complete", covariates = z, method = "spearman"))
  expect_identical(as.vector(distances), as.vector(1 - r))
})

test_that("what is nothing but regressors is constant, with the warning", {
  x <- confounded(40, 6)
  expect_warning(r <- gpuCor(x, covariates = confounds(40), output = "matrix"), "2 of 6 columns of 'x': 2, 4",
                 fixed = TRUE)
  expect_true(all(is.na(r[c(2, 4), -c(2, 4)])))
  expect_false(anyNA(r[-c(2, 4), -c(2, 4)]))
})

test_that("without an observation that counts there are no coefficients", {
  x <- normal(9, 3)
  x[cbind(1:9, rep(1:3, 3))] <- NA
  expect_true(all(is.na(gpuCorTriangle(x, use = "na.or.complete", covariates = 1:9))))
  expect_error(gpuCorTriangle(x, use = "complete.obs", covariates = 1:9), "no complete element pairs", fixed = TRUE)
  expect_true(all(is.na(gpuCorTriangle(x, use = "pairwise", covariates = rep(NA_real_, 9)))))
  expect_equal(dim(gpuCor(x[0, ], covariates = matrix(0, 0, 2), output = "matrix")), c(3, 3))
})

test_that("what is wrong with covariates is said", {
  x <- normal(9, 3)
  z <- confounds(9)
  expect_error(gpuCor(x, covariates = z[1:8, ]), "'covariates' has 8 rows; there are 9 observations", fixed = TRUE)
  expect_error(gpuCor(x, covariates = replace(z, 12, NA)), "'covariates' is missing in column \"motion\", row 3",
               fixed = TRUE)
  expect_error(gpuCor(x, covariates = replace(z, 12, Inf)), "'covariates' is infinite in column \"motion\", row 3",
               fixed = TRUE)
  expect_error(gpuCor(x, covariates = z, method = "kendall"), "use method = \"spearman\"", fixed = TRUE)
  expect_error(gpuCor(x, covariates = y ~ z), "without a left side", fixed = TRUE)
  expect_error(gpuCor(x, covariates = ~ nowhere), "'covariates': .*nowhere")
  expect_error(gpuCor(x, covariates = list(1)), "must be a numeric matrix, a data frame or a formula", fixed = TRUE)
  told <- "'covariates' is text, \"age\", and there are 9 observations; columns are named by a formula, covariates ="
  expect_error(gpuCor(x, covariates = "age"), told, fixed = TRUE)
  expect_error(gpuCor(x, covariates = "confounds.tsv"), "\"confounds.tsv\", the name of a file; read the file first")
  expect_error(gpuCor(x, covariates = c("a.tsv", "b.tsv.gz")), "the names of files; .* one for each subject in a list")
  expect_error(gpuCor(x, covariates = c("age", "the batch")), "~ age + `the batch`, with data =", fixed = TRUE)
  expect_error(gpuCor(x, data = data.frame(z)), "'data' needs a formula in 'covariates'", fixed = TRUE)
  expect_error(gpuCor(x, covariates = z, data = data.frame(z)), "'data' are for a formula", fixed = TRUE)
  expect_error(gpuCor(x[1:6, ], covariates = z[1:6, ]),
               "'covariates': the regression takes 4 of 4 degrees of freedom and leaves none", fixed = TRUE)
  expect_error(gpuCor(x[1:6, ], covariates = normal(6, 5)),
               "'covariates': the regression takes 5 of 4 degrees of freedom and leaves none; use fewer covariates",
               fixed = TRUE)
  expect_error(gpuCor(x, runs = seq_len(nrow(x))), "'runs': .*; use fewer runs$")
  expect_error(gpuCor(x, bandpass = c(0.1, 0.2)), "'bandpass' needs 'tr'", fixed = TRUE)
  expect_error(gpuCor(x, tr = 2), "'tr' needs 'bandpass'", fixed = TRUE)
  expect_error(gpuCor(x, bandpass = c(0.2, 0.1), tr = 2), "'bandpass' must be two frequencies", fixed = TRUE)
  expect_error(gpuCor(x, bandpass = c(0.1, 0.2), tr = 0), "'tr' must be the seconds", fixed = TRUE)
  expect_error(gpuCor(x, bandpass = c(0.2, 0.201), tr = 2), "; use a wider band", fixed = TRUE)
  expect_error(gpuCor(x, bandpass = c(0.2, 0.201), tr = 2, covariates = z), "; use fewer covariates, or a wider band",
               fixed = TRUE)
})

test_that("few degrees of freedom are warned of", {
  x <- normal(60, 4)
  z <- normal(60, 57, seed = 2)
  told <- warnings_of(r <- gpuCor(x, covariates = z))
  expect_identical(told, paste0("'covariates': the regression takes 57 of 58 degrees of freedom and leaves 1, with ",
                                "which unrelated columns have large coefficients; use fewer covariates"))
  expect_gt(mean(abs(r) > 0.99), 0) # which is why
  left <- function(...) sub(".* leaves ([0-9]+),.*", "\\1", warnings_of(gpuCor(x, ...)))
  expect_identical(left(covariates = z[, 1:49]), "9")
  expect_identical(left(covariates = z[, 1:48]), character())
  expect_identical(left(covariates = z[, 1:48], weights = rep(c(0, 1), c(1, 59))), "9")
  expect_match(warnings_of(gpuCorTest(x, bandpass = c(0.01, 0.03), tr = 2)), "^'bandpass': the regression takes 5")
  expect_match(warnings_of(gpuCor(x, covariates = z[, 1:2], bandpass = c(0.01, 0.05), tr = 2)),
               "^'covariates' and 'bandpass': the regression takes")
  expect_identical(warnings_of(gpuCor(x[1:8, ])), character()) # nothing is regressed
})

test_that("tr is that of the image, in seconds", {
  x <- normal(80, 5)
  image <- structure(x, tr = 0.72)
  by <- function(x, ...) as.vector(gpuCor(x, bandpass = c(0.05, 0.3), ...))
  expect_identical(by(image), by(x, tr = 0.72))
  expect_identical(as.vector(gpuCor(list(image, image[1:70, ]), bandpass = c(0.05, 0.3), tr = 0.72, combine = "min")),
                   as.vector(gpuCor(list(image, structure(image[1:70, ], tr = 0.72)), bandpass = c(0.05, 0.3),
                                    combine = "min")))
  expect_error(by(x), "'bandpass' needs 'tr', the seconds from one observation to the next", fixed = TRUE)
  expect_identical(by(x, rate = 1 / 0.72), by(image))
  expect_identical(by(stats::ts(x, deltat = 0.72)), by(image))
  expect_error(by(stats::ts(x)), "'bandpass' needs 'tr'") # 1 is what ts() takes if nothing is said
  expect_error(by(x, tr = 0.72, rate = 1), "'rate' is 1 / tr; give one of them", class = "gpucor_error_input")
  expect_error(by(x, rate = 0), "'rate' must be the number of observations a second, not 0")
  expect_error(by(x, sfreq = 250), "did you mean 'rate'")
  expect_error(gpuCor(x, bandpass = list(a = 1:2), tr = 0.1), "of several bands, lapply(bands, ", fixed = TRUE)
  expect_identical(gpuClean(x, bandpass = c(0.05, 0.3), rate = 2), gpuClean(x, bandpass = c(0.05, 0.3), tr = 0.5))
  expect_identical(warnings_of(by(image, tr = 0.7200001)), character())
  expect_identical(warnings_of(by(image, tr = 1)),
                   "'tr' is 1 s, and that of 'x' is 0.72 s; leave 'tr' out to use that of 'x'")
  expect_identical(warnings_of(gpuCor(x, bandpass = c(0, 0.1), tr = 720)),
                   "'tr' is 720 seconds, longer than volumes take; if 'tr' is in milliseconds, give tr = 0.72")
  expect_error(gpuCor(x, bandpass = c(0.01, 0.1), tr = 720),
               paste0("'bandpass' begins at 0.01 Hz, and observations every 720 s have no frequencies above ",
                      "1 / (2 tr) = 0.000694 Hz; if 'tr' is in milliseconds, give tr = 0.72"), fixed = TRUE)
  hours <- warnings_of(gpuCor(x, bandpass = c(1e-5, 1e-4), tr = 3600)) # a band that fits
  expect_identical(grep("milliseconds", hours), integer())
})

test_that("text in the place of numbers names its column, and how to read it", {
  x <- normal(40, 4)
  confounds <- data.frame(trans_x = rnorm(40), fd = c("n/a", format(runif(39))), site = rep(c("a", "b"), 20))
  told <- paste0("'covariates' has column \"fd\" of text, with 40 different values in 40 observations; \"n/a\" in ",
                 "it means a missing value: read the file with na.strings = \"n/a\", as in ",
                 "read.delim(file, na.strings = \"n/a\")")
  expect_error(gpuCor(x, covariates = confounds), told, fixed = TRUE)
  expect_error(gpuCor(x, covariates = ~ trans_x + fd, data = confounds), told, fixed = TRUE)
  expect_error(gpuCor(x, covariates = transform(confounds, fd = factor(fd))), told, fixed = TRUE)
  expect_no_error(gpuCor(x, covariates = ~ trans_x + site, data = confounds))
  file <- tempfile(fileext = ".tsv")
  on.exit(unlink(file))
  write.table(confounds, file, sep = "\t", row.names = FALSE, quote = FALSE)
  expect_error(gpuCor(x, covariates = read.delim(file)), told, fixed = TRUE)
  expect_no_error(gpuCor(x, covariates = read.delim(file, na.strings = "n/a"), use = "complete.obs")) # as it says
  few <- data.frame(batch = rep(c("1", "2", "n/a", "1"), 10))
  expect_error(gpuCor(x, covariates = few), "\"batch\" of text, with 3 different values in 40 obs.*; \"n/a\" in it")
  sex <- data.frame(sex = rep(c("m", "f", "n/a", "f"), 10)) # of a BIDS participants.tsv
  expect_error(gpuCor(x, covariates = sex), "; \"n/a\" in it means a missing value: read the file with na.strings")
  expect_no_error(gpuCor(x, covariates = ~ factor(sex), data = sex))
  few$batch <- factor(few$batch)
  expect_no_error(gpuCor(x, covariates = few)) # levels that are meant
  expect_error(gpuCor(x, covariates = data.frame(id = paste0("sub-", 1:40))), "such as \"sub-1\"; leave it out")
  expect_error(gpuCor(x, covariates = format(rnorm(40))), "they are numbers: as.numeric(as.character())", fixed = TRUE)
  pairs <- data.frame(subject = paste0("s", rep(1:20, 2)))
  expect_identical(attr(gpuCor(x, covariates = pairs), "n_obs"), 40)
  expect_no_error(suppressWarnings(gpuCor(x, covariates = data.frame(subject = paste0("s", c(1:25, 1:15))))))
})

test_that("many observations take no memory that grows with their square", {
  x <- normal(6000, 3)
  z <- cbind(sin(1:6000), seq_len(6000))
  before <- sum(gc(reset = TRUE)[, 2L])
  r <- gpuCor(x, covariates = z, precision = "double")
  expect_lt(sum(gc()[, 6L]) - before, 6000^2 * 8 / 2^20 / 4) # MiB
  expect_equal(as.vector(r), as.dist(cor(residuals(lm(x ~ z)))), tolerance = 1e-12, ignore_attr = TRUE)
})

test_that("whatever fails, nothing is left behind", {
  x <- rounded(14, 12)
  holes <- with_missing(x, 0.1)
  z <- confounds(14)[, 1:2]
  for (backend in backends()) for (resource in resources_of(backend)) {
    runs <- list(
      regressed = function() gpuCorTriangle(x, method = "spearman", covariates = z, weights = 1:14, backend = backend),
      pairwise = function() gpuCorTriangle(holes[, 1:5], use = "pairwise", covariates = z, backend = backend),
      estimated = function() gpuCorTest(x, covariates = z, df = "bartlett", backend = backend)$p.value
    )
    if (resource != "host") runs$pairwise <- NULL # is the processor's
    for (name in names(runs)) {
      messages <- walk_failures(function() suppressWarnings(runs[[name]]()), resource, paste(backend, name))
      expect_match(unique(messages), ways_out[[resource]])
    }
  }
})

test_that("columns that are only rounding errors about their mean become zero, and no others", {
  wobble <- rep_len(c(0, 1, 1), 8)
  z <- cbind(1 + 2^-52 * wobble, 1e300 * (1 + 2^-51 * wobble), 1 + 1e-12 * wobble, wobble, 5, NA, c(NA, wobble[-1]))
  for (root in list(rep(1, 8), sqrt(1:8))) {
    found <- gpucor:::centred_columns(z, root, TRUE)
    expect_identical(unname(found[, c(1, 2, 5)]), matrix(0, 8, 3))
    for (j in 3:4) expect_equal(found[, j], z[, j] - sum(z[, j] * root^2) / sum(root^2), tolerance = 1e-3)
    expect_true(all(is.na(found[, 6:7])))
  }
  expect_identical(gpucor:::centred_columns(z[0, ], numeric(), TRUE), z[0, ])
})

test_that("labels of groups that are numbers are told of once a call, and offsets are an error", {
  set.seed(1)
  x <- matrix(rnorm(40 * 6), 40)
  samples <- data.frame(batch = rep(1:5, 8), age = round(rexp(40), 3), dose = rep(0:2, c(10, 10, 20)), sex = 0:1)
  told <- function(code) {
    texts <- character()
    withCallingHandlers(suppressWarnings(code), message = function(m) {
      texts <<- c(texts, conditionMessage(m))
      invokeRestart("muffleMessage")
    })
    texts
  }
  told_once <- "^'covariates' has only the values 1, 2, 3, 4, 5 in column batch, .*give factor\\(batch\\)\n$"
  both <- ~ age + batch
  sets <- list(x, x + sin(x), x + cos(x))
  of_two <- list(samples, samples)
  calls <- alist(
    gpuCor(x, covariates = both, data = samples), gpuCor(x, covariates = samples), gpuClean(x, samples),
    gpuCor(x, covariates = as.matrix(samples)), gpuCor(x, covariates = samples, test = TRUE),
    gpuCor(x, covariates = samples, lag = -1:1), gpuCorNetwork(x, covariates = samples, fdr = 0.5),
    gpuCorNetwork(x, covariates = samples, threshold = 0.1, resample = 3), pickPower(x, covariates = samples),
    gpuAssociation(x, factor(rep(1:4, 10)), covariates = samples), gpuCorCompare(x, sets[[2]], covariates = of_two),
    gpuCorPairs(x, threshold = 0.1, covariates = samples, test = TRUE), gpuCorWindows(x, 20, covariates = samples),
    gpuCor(sets, covariates = samples, combine = "fisher"),
    gpuTOM(sets, power = 2, covariates = samples, combine = "min")
  )
  for (call in calls) {
    texts <- told(eval(call))
    expect_length(texts, 1)
    expect_match(texts, told_once, label = deparse1(call))
  }
  expect_match(told(gpuCor(x, covariates = samples$batch)), "in column 1, .*give factor\\(\\) of it")
  quiet <- list(~ factor(batch), ~ I(batch), ~ age, ~ dose + sex, ~ poly(batch, 2), ~ factor(batch):age)
  for (formula in quiet) expect_identical(told(gpuCor(x, covariates = formula, data = samples)), character())
  expect_identical(told(gpuCor(x[1:8, ], covariates = c(1:5, 1:3))), character()) # too few of each

  expect_error(gpuCor(x, covariates = ~ age + offset(batch), data = samples),
               "'covariates' has offset(batch), and columns are regressed without offsets; leave it out", fixed = TRUE)
  expect_error(gpuClean(x, ~ offset(batch), samples), "'covariates' has offset(batch)", fixed = TRUE)
})

# ---- runs

# Residuals of each run by itself, from regressions that are written out, for runs of 60 and 45 rows.
two_runs <- rep(c("b", "a"), c(60, 45))
by_run <- function(x, z = NULL, band = NULL, tr = 2, weights = rep(1, 105), intercept = TRUE) {
  for (label in two_runs[c(1, 105)]) {
    rows <- which(two_runs == label)
    n <- length(rows)
    frequency <- seq_len(n - 1) / (2 * n * tr)
    stopped <- if (!is.null(band)) which(frequency < band[1] | frequency > band[2])
    cosines <- if (length(stopped)) cos(outer(seq_len(n) - 0.5, stopped) * pi / n)
    design <- cbind(if (intercept) rep(1, n), z[rows, , drop = FALSE], cosines)
    x[rows, ] <- lm.wfit(design, x[rows, ], weights[rows])$residuals
  }
  x
}

test_that("each run is regressed and filtered by itself, and all residuals are correlated", {
  set.seed(21)
  z <- matrix(rnorm(105 * 2), 105)
  x <- apply(matrix(rnorm(105 * 6), 105), 2, cumsum) + 50 * (two_runs == "a")
  w <- replace(rep(1, 105), c(3, 20:24, 61), 0)
  band <- c(0.02, 0.15)
  for (given in list(list(), list(z = z), list(band = band), list(z = z, band = band), list(band = c(0.02, 0.06)),
                     list(z = z, band = band, weights = w), list(z = z, weights = w + (1:105 %% 3) * w))) {
    truth <- do.call(by_run, c(list(x), given))
    weights <- if (is.null(given$weights)) rep(1, 105) else given$weights
    own <- list(x, covariates = given$z, bandpass = given$band, tr = if (!is.null(given$band)) 2, runs = two_runs,
                weights = given$weights, precision = "double")
    counts <- weights > 0
    expected <- cov.wt(truth[counts, ], weights[counts], cor = TRUE)$cor
    for (backend in backends()) {
      expect_equal(do.call(gpuCor, c(own, list(output = "matrix", backend = backend))), expected, tolerance = 1e-9)
    }
  }
  n_stopped <- sum(vapply(c(60, 45), function(n) {
    frequency <- seq_len(n - 1) / (4 * n)
    sum(frequency < band[1] | frequency > band[2])
  }, 0L))
  expect_warning(test <- gpuCorTest(x, covariates = z, bandpass = band, tr = 2, runs = two_runs, precision = "double"),
                 class = "gpuCorSeries")
  expect_equal(test$df[1], 105 - 1 - (2 * 3 + n_stopped)) # each run's rank, with its intercept
  r <- cor(by_run(x, z, band))[2, 1]
  expect_equal(test$p.value[1], 2 * pt(-abs(r) * sqrt(test$df[1] / (1 - r^2)), test$df[1]))
  expect_output(print(test), "filtered to 0.02-0.15 Hz (TR 2 s), within 2 runs", fixed = TRUE)
})

test_that("runs go with other measures, precisions, subjects, windows, files and plans", {
  set.seed(22)
  z <- matrix(rnorm(105 * 2), 105)
  x <- apply(matrix(rnorm(105 * 6), 105), 2, cumsum)
  own <- function(...) gpuCor(..., covariates = z, runs = two_runs, precision = "double")
  expect_equal(gpuClean(x, z, runs = two_runs), by_run(x, z), tolerance = 1e-9)
  expect_equal(gpuClean(x, runs = two_runs), by_run(x), tolerance = 1e-9)
  ranked <- by_run(apply(x, 2, rank), apply(z, 2, rank))
  expect_equal(own(x, method = "spearman", output = "matrix"), cor(ranked), tolerance = 1e-9)
  plain <- by_run(x, z, intercept = FALSE)
  expect_equal(own(x, method = "cosine", output = "matrix"), cov2cor(crossprod(plain)), tolerance = 1e-9)
  holes <- x
  holes[c(2, 70), 1] <- NA
  all <- own(holes, use = "pairwise.complete.obs", output = "matrix")
  there <- !is.na(holes[, 1])
  expect_equal(all[1, 2], cor(by_run(x, z, weights = there + 0)[there, 1:2])[1, 2])
  expect_equal(all[3, 2], cor(by_run(x, z))[3, 2])
  all <- gpuCor(holes, use = "pairwise", method = "spearman", runs = two_runs, bandpass = c(0, 0.1), tr = 2,
                precision = "double", output = "matrix")
  ranks <- replace(holes[, 1:2], !there, 0)
  ranks[there, ] <- apply(holes[there, 1:2], 2, rank)
  ranked <- by_run(ranks, band = c(0, 0.1), weights = there + 0)
  expect_equal(all[1, 2], cor(ranked[there, ])[1, 2])
  expect_equal(as.vector(own(list(x, x[105:1, ]), combine = "mean", output = "matrix")[2, 1]),
               mean(c(cor(by_run(x, z))[2, 1], cor(by_run(x[105:1, ], z))[2, 1])))
  short <- gpuCor(list(x, x[1:90, ]), runs = list(two_runs, two_runs[1:90]), combine = "mean", precision = "double")
  alone <- gpuCor(x[1:90, ], runs = two_runs[1:90], precision = "double")
  expect_equal(as.vector(short), (as.vector(cor(by_run(x))[lower.tri(diag(6))]) + as.vector(alone)) / 2)
  windows <- gpuCorWindows(x, width = 15, step = 15, covariates = z, runs = two_runs, precision = "double")
  expect_equal(windows[1, 5], cor(by_run(x, z)[61:75, 1:2])[1, 2], ignore_attr = TRUE)
  expect_identical(as.vector(gpuCor(x, covariates = z, runs = rep(1, 105))), as.vector(gpuCor(x, covariates = z)))
  path <- tempfile("plan")
  gpuCorPlan(path, x, covariates = z, runs = two_runs, verb = "gpuCor", shards = 1, precision = "double")
  gpuCorRun(path, 1)
  expect_equal(as.vector(gpuCorCollect(path)), as.vector(own(x)), tolerance = 0)
  unlink(path, recursive = TRUE)
})

test_that("labels that name no runs, and what runs do not take, are errors", {
  x <- normal(105, 4)
  own <- function(...) gpuCor(x, ...)
  expect_error(own(runs = c(60, 45)), "'runs' has 2 values; there are 105 observations, .* rep\\(1:2, c\\(200, 180")
  expect_error(own(runs = list(1)), "'runs' must be a vector with the label of each row's run")
  expect_error(own(runs = replace(two_runs, 7, NA)), "'runs' is missing at observation 7")
  expect_error(own(runs = replace(two_runs, 7, "a")), "'runs' returns to \"b\" at observation 8; the rows")
  expect_error(own(runs = two_runs, method = "cosine"), "so 'runs' has no effect without 'covariates' or 'bandp")
  expect_error(own(runs = two_runs, method = "kendall"),
               "or 'runs': it compares pairs of observations, which have neither residuals nor weights; use method")
  expect_error(gpuCorTest(x, runs = two_runs, df = "bartlett"), "df = \"bartlett\" has no meaning with 'runs'")
  for (how in c("permutation", "phase")) {
    expect_error(gpuCorTest(x, runs = two_runs, adjust = "maxT", surrogate = how), "boundaries of 'runs'")
  }
  expect_error(gpuCorCompare(x, x, runs = two_runs, n_perm = 9), "'runs', as rows of series")
  expect_error(gpuCorWindows(x, width = 20, runs = two_runs), "windows of 20 rows, 1 apart, have rows of two runs")
  expect_error(gpuCorWindows(list(x, x), width = 20, runs = two_runs), "have rows of two runs")
  expect_error(own(covariates = 1:105, runs = two_runs, method = "spearman", use = "pairwise"), "of ranks")
})

test_that("a covariate that tells runs apart is a warning with a filter", {
  x <- normal(105, 4)
  own <- function(...) gpuCor(x, bandpass = c(0.01, 0.1), tr = 2, ...)
  for (z in list(two_runs, rep(1:3, each = 35), cbind(motion = rnorm(105), two_runs == "a"))) {
    expect_warning(own(covariates = z), "give the labels of the runs as 'runs'")
    expect_no_warning(suppressMessages(gpuCor(x, covariates = z)))
  }
  expect_warning(own(covariates = ~ run, data = data.frame(run = two_runs)), "'runs'")
  bad_end <- rep(0:1, c(95, 10)) # a block of bad volumes
  for (z in list(1:105, (1:105 == 105) + 0, rep(1:7, 15), rep(1, 105), bad_end)) {
    expect_no_warning(suppressMessages(own(covariates = z)))
  }
  expect_silent(own(covariates = two_runs, runs = two_runs))
})

# ---- protected effects

# limma::removeBatchEffect(design = ): lm() of both, of which the covariates' part is subtracted.
without_covariates <- function(x, covariates, protect, data, weights = NULL) {
  z <- model.matrix(covariates, data)[, -1, drop = FALSE]
  own <- cbind(model.matrix(protect, data), z)
  fit <- if (is.null(weights)) lm.fit(own, x) else lm.wfit(own, x, weights)
  effects <- fit$coefficients[-seq_len(ncol(own) - ncol(z)), , drop = FALSE]
  effects[is.na(effects)] <- 0
  x - z %*% effects
}

protected_data <- function(n_obs = 40) {
  set.seed(3)
  cancer <- rep(0:1, c(18, n_obs - 18))
  batch <- factor(ifelse(runif(n_obs) < 0.3 + 0.4 * cancer, "a", ifelse(runif(n_obs) < 0.5, "b", "c")))
  data <- data.frame(cancer, batch, age = rnorm(n_obs) + cancer)
  x <- normal(n_obs, 12) + cancer %o% rnorm(12) + as.integer(batch) %o% rnorm(12) + data$age %o% rnorm(12)
  list(x = x, data = data)
}

test_that("covariates do not take what is protected", {
  own <- protected_data()
  x <- own$x
  truth <- without_covariates(x, ~ batch + age, ~ cancer, own$data)
  for (backend in backends()) for (precision in c("single", "double")) {
    r <- function(...) {
      gpuCor(x, data = own$data, protect = ~ cancer, backend = backend, precision = precision, output = "matrix", ...)
    }
    within <- c(single = 1e-6, double = 1e-12)[[precision]]
    expect_equal(unname(r(covariates = ~ batch + age)), cor(truth), tolerance = within)
    w <- rep(c(1, 2, 0, 5), 10)
    weighted <- without_covariates(x, ~ batch + age, ~ cancer, own$data, w)
    expect_equal(unname(r(covariates = ~ batch + age, weights = w)), cov.wt(weighted, w, cor = TRUE)$cor,
                 tolerance = within)
    ranks <- apply(x, 2, rank)
    ranked <- without_covariates(ranks, ~ rank(age), ~ cancer, own$data)
    expect_equal(unname(r(covariates = ~ age, method = "spearman")), cor(ranked), tolerance = within)
  }
  expect_gt(max(abs(cor(truth) - gpuCor(x, covariates = ~ batch + age, data = own$data, output = "matrix"))), 0.1)
  protected <- list(covariates = ~ batch + age, data = own$data, protect = own$data$cancer)
  cleaned <- do.call(gpuClean, c(list(x), protected))
  expect_equal(cleaned, scale(truth, scale = FALSE), tolerance = 1e-12, ignore_attr = TRUE)
  genes <- do.call(gpucor:::residuals_of, list(x, protected, NULL))$x
  expect_equal(genes, cleaned, tolerance = 1e-12, ignore_attr = TRUE)
  windows <- do.call(gpuCorWindows, c(list(x, width = 20, step = 20), protected))
  expect_equal(unname(windows[, 1]), cor(truth[1:20, ])[lower.tri(diag(12))], tolerance = 1e-6)
  two <- gpuCor(list(x, x[40:1, ]), combine = "mean", output = "matrix", covariates = ~ batch + age, protect = ~ cancer,
                data = list(own$data, `rownames<-`(own$data[40:1, ], NULL)))
  expect_equal(unname(two), cor(truth), tolerance = 1e-6)
  expect_output(print(do.call(gpuCor, c(list(x), protected))), "for 3 covariates beside 1 protected one: 33 degrees")
  lioness <- do.call(gpuCorNetwork, c(list(x, threshold = 0, lioness = 2:3), protected))
  single <- do.call(gpuCorNetwork, c(list(x, threshold = 0, lioness = 3), protected))
  edges <- attr(lioness, "edges")
  expect_equal(unname(lioness[, 2]), as.matrix(single)[cbind(edges$from, edges$to)], tolerance = 1e-11)
})

test_that("degrees of freedom are those of the variance that is left", {
  own <- protected_data()
  z <- model.matrix(~ batch + age, own$data)[, -1]
  p <- model.matrix(~ cancer, own$data)
  b <- solve(crossprod(cbind(p, z)), t(cbind(p, z)))[-(1:2), ]
  left <- (diag(40) - 1 / 40) %*% (diag(40) - z %*% b)
  squares <- svd(left)$d^2
  df <- floor(sum(squares)^2 / sum(squares^2)) - 1
  test <- gpuCorTest(own$x, covariates = z, protect = ~ cancer, data = own$data)
  expect_identical(test$df, df)
  expect_equal(test$p.value[1], 2 * pt(-abs(test$statistic[1]), df), tolerance = 1e-6)
  apart <- normal(40, 2) # covariates that share nothing with the protected take one each
  apart <- residuals(lm(apart ~ p))
  expect_identical(gpuCorTest(own$x, covariates = apart, protect = p[, 2])$df, 36)
})

test_that("what cannot be protected is an error or a warning", {
  own <- protected_data()
  x <- own$x
  r <- function(...) gpuCor(x, data = own$data, ...)
  expect_error(gpuCor(x, protect = own$data$cancer), "must not take, and there are none")
  expect_error(gpuCor(x, covariates = own$data$age, protect = 1:3), "'protect' has 3 rows")
  expect_error(r(covariates = ~ age, protect = ~ tumor), "'protect': there is no 'tumor'")
  expect_error(r(covariates = ~ age, protect = ~ cancer, runs = rep(1:2, 20)), "for which 'runs' has no form")
  expect_error(gpuCorTest(x, covariates = own$data$age, protect = own$data$cancer, adjust = "maxT"), "has no form")
  expect_error(gpuAssociation(x, own$data["age"], covariates = own$data$cancer, protect = 1), "does not take it")
  expect_error(r(covariates = ~ age, protect = ~ cancer, method = "kendall"), "takes no")
  holes <- replace(x, 5, NA)
  expect_error(gpuCor(holes, covariates = ~ age, protect = ~ cancer, data = own$data, use = "pairwise"),
               "'protect' needs the same observations for all pairs")
  expect_silent(pairwise <- r(covariates = ~ age, protect = ~ cancer, use = "pairwise"))
  expect_equal(pairwise, r(covariates = ~ age, protect = ~ cancer), tolerance = 1e-6, ignore_attr = TRUE)
  expect_warning(same <- r(covariates = ~ batch + I(1 - cancer), protect = ~ cancer), "'protect' determines 'cov")
  expect_equal(as.vector(same), as.vector(r(covariates = ~ batch, protect = ~ cancer)), tolerance = 1e-6)
  # Nothing is subtracted where all covariates are determined, as limma's removeBatchEffect() does.
  own$data$copy <- factor(own$data$cancer)
  values <- list(function(...) as.vector(gpuCor(x, ...)), function(...) gpuCorTest(x, ...)$p.value,
                 function(...) gpuConnectivity(x, power = 2, ...)$soft, function(...) as.vector(gpuTOM(x, ...)))
  for (of in values) {
    expect_warning(same <- of(covariates = ~ copy, protect = ~ cancer, data = own$data), "'protect' determines 'cov")
    expect_equal(same, of(), tolerance = 1e-6)
  }
  expect_warning(clean <- gpuClean(x, covariates = ~ copy, protect = ~ cancer, data = own$data), "'protect' determines")
  expect_equal(clean, scale(x, scale = FALSE), ignore_attr = TRUE)
  own$data$cancer[3] <- NA
  expect_error(gpuCor(x, covariates = ~ age, protect = ~ cancer, data = own$data), "is missing in column \"cancer\"")
  complete <- gpuCor(x, covariates = ~ age, protect = ~ cancer, data = own$data, use = "complete.obs")
  expect_equal(as.vector(complete), as.vector(gpuCor(x[-3, ], covariates = ~ age, protect = ~ cancer,
                                                     data = own$data[-3, ])), tolerance = 1e-6)
})
