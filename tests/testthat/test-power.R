# pickPower() gives the table of WGCNA::pickSoftThreshold(), genes in columns.

# Genes that follow one of a few factors more or less: nearly scale-free.
modular <- function(n_obs, n_var, seed = 1) {
  factors <- normal(n_obs, 6, seed)
  set.seed(seed + 1)
  weight <- rexp(n_var)
  x <- normal(n_obs, n_var, seed + 2) + sweep(factors[, rep_len(1:6, n_var)], 2, weight, "*")
  colnames(x) <- paste0("gene", seq_len(n_var))
  x
}

# WGCNA's table, stored by the case's name.
wgcna <- function(name, x, powers, type, ...) {
  by_package("WGCNA", paste("power,", name, type), {
    utils::capture.output(suppressWarnings(
      table <- WGCNA::pickSoftThreshold(x, powerVector = powers, networkType = type, ...)
    ))
    table
  })
}

connectivities <- c("mean.k.", "median.k.", "max.k.")

# The lowest power above the cut in the signed R^2 that WGCNA's tutorials plot; its powerEstimate ignores the slope.
falling_estimate <- function(table, cut) {
  table$Power[which(-sign(table$slope) * table$SFT.R.sq > cut)[1L]]
}

# Connectivities, small ones too, are compared relatively; R^2 as it is.
expect_same_table <- function(ours, theirs, label = "", tolerance = 1e-5) {
  theirs$powerEstimate <- falling_estimate(theirs$fitIndices, attr(ours, "r_squared"))
  expect_s3_class(ours$fitIndices, "data.frame", exact = TRUE)
  expect_identical(names(ours), names(theirs), label = label)
  expect_identical(names(ours$fitIndices), names(theirs$fitIndices), label = label)
  expect_equal(ours$fitIndices$Power, theirs$fitIndices$Power, label = label)
  expect_equal(ours$powerEstimate, theirs$powerEstimate, label = label)
  for (name in names(ours$fitIndices)[-1]) {
    a <- ours$fitIndices[[name]]
    b <- theirs$fitIndices[[name]]
    off <- max(abs(a - b) / if (name %in% connectivities) b else pmax(1, abs(b)))
    expect(isTRUE(off < tolerance), paste(label, name, "is off by", off))
  }
}

test_that("the table is that of WGCNA: golub's first 600 genes", {
  x <- t(package_data("golub", "multtest"))[, 1:600]
  for (type in all_types) {
    theirs <- wgcna("golub", x, 1:20, type)
    for (backend in backends()) {
      expect_same_table(pickPower(x, type = type, backend = backend), theirs, paste(backend, type))
    }
  }
})

test_that("the table is that of WGCNA: ALL's first 600 genes, WGCNA's own powers", {
  set <- package_data("ALL", "ALL")
  x <- t(get("exprs", attr(set, "assayData"))[1:600, ])
  powers <- c(1:10, seq(12, 20, 2))
  for (type in all_types) {
    theirs <- wgcna("ALL", x, powers, type)
    for (backend in backends()) {
      expect_same_table(pickPower(x, powers, type, backend = backend), theirs, paste(backend, type))
    }
  }
})

test_that("the table is that of WGCNA: pairs of complete observations", {
  x <- with_missing(modular(40, 150), 0.1)
  for (type in all_types) {
    theirs <- wgcna("pairwise", x, 1:20, type)
    for (backend in backends()) {
      ours <- pickPower(x, type = type, use = "pairwise.complete.obs", backend = backend)
      expect_same_table(ours, theirs, paste(backend, type))
    }
  }
})

test_that("the table is that of WGCNA: its arguments", {
  x <- modular(30, 120)
  powers <- c(3, 1.5, 6, 0.5)
  theirs <- wgcna("spearman", x, powers, "unsigned", RsquaredCut = 0.6, nBreaks = 7, corFnc = stats::cor,
                  corOptions = list(method = "spearman"))
  expect_same_table(pickPower(x, powers, r_squared = 0.6, breaks = 7, method = "spearman"), theirs, "spearman")
  theirs <- wgcna("kendall", x, 1:6, "signed", nBreaks = 20, corFnc = stats::cor,
                  corOptions = list(method = "kendall"))
  expect_same_table(pickPower(x, 1:6, "signed", breaks = 20, method = "kendall"), theirs, "kendall")
})

# The definition, with the functions of R that have one for each step.
defined_fit <- function(k, breaks) {
  bin <- cut(k, breaks)
  middle <- hist(k, seq(min(k), max(k), length.out = breaks + 1), plot = FALSE)$mids
  mean_k <- tapply(k, bin, mean)
  mean_k <- as.vector(ifelse(is.na(mean_k) | mean_k == 0, middle, mean_k))
  log_share <- log10(as.vector(table(bin)) / length(k) + 1e-9)
  line <- summary(lm(log_share ~ log10(mean_k)))
  c(line$r.squared, line$coefficients[2, 1], summary(lm(log_share ~ log10(mean_k) + mean_k))$adj.r.squared)
}

test_that("the fit is its definition: empty bins, genes without connectivity, few genes", {
  set.seed(4)
  cases <- list(few = c(1, 2, 3), zeros = c(0, 0, 0, 1, 2, 3, 5, 9), two = c(0, 1), even = 1:30,
                tiny = c(0, 0, 0, 1e-300), skewed = rexp(200)^3, on_edges = rep(0:10, 3))
  for (name in names(cases)) for (breaks in c(4, 10, 17)) {
    expect_equal(gpucor:::fit_scale_free(cases[[name]], breaks), suppressWarnings(defined_fit(cases[[name]], breaks)),
                 tolerance = 1e-10, label = paste(name, breaks))
  }
})

test_that("too few bins for a truncated power law", {
  k <- c(1, 1, 1, 1, 2, 3)
  fit <- gpucor:::fit_scale_free(k, 3)
  expect_equal(fit[1:2], defined_fit(k, 3)[1:2])
  expect_identical(fit[3], NA_real_)
  expect_equal(gpucor:::fit_scale_free(k, 2)[1], 1)
})

test_that("connectivities are sums over the other columns", {
  x <- modular(20, 30)
  r <- cor(x)
  diag(r) <- 0
  for (type in all_types) {
    adjacency <- switch(type, unsigned = abs(r), signed = (1 + r) / 2, `signed hybrid` = pmax(r, 0))
    diag(adjacency) <- 0
    k <- colSums(adjacency^2.5)
    expected <- c(mean(k), median(k), max(k))
    expect_equal(unlist(pickPower(x, 2.5, type)$fitIndices[connectivities], use.names = FALSE), expected,
                 tolerance = 1e-6, label = type)
  }
})

test_that("powers are sorted and taken once; an estimate that is not there is NA", {
  x <- modular(20, 30)
  fit <- pickPower(x, c(b = 4, a = 2, 4), r_squared = 1)
  expect_identical(fit$fitIndices$Power, c(2, 4))
  expect_identical(fit$powerEstimate, NA_real_)
  expect_identical(rownames(fit$fitIndices), c("1", "2"))
  best <- max(fit$fitIndices$SFT.R.sq)
  expect_identical(pickPower(x, c(2, 4), r_squared = best - 1e-9)$powerEstimate,
                   c(2, 4)[which.max(fit$fitIndices$SFT.R.sq)])
})

# Genes that follow one common factor besides their own: with low powers of a signed network most have a high
# connectivity, and WGCNA's estimate is power 1, whose line rises.
test_that("a power whose line rises is no estimate", {
  x <- modular(40, 400) + normal(40, 1, 11)[, 1] * 1.5
  powers <- c(1:10, 30)
  theirs <- wgcna("rising line", x, powers, "signed", RsquaredCut = 0.85)
  expect_identical(theirs$powerEstimate, 1)
  expect_gt(theirs$fitIndices$slope[1], 5)
  fit <- pickPower(x, powers, "signed")
  expect_same_table(fit, theirs)
  expect_identical(fit$powerEstimate, 30)
  none <- pickPower(x, 1:4, "signed")
  expect_true(is.na(none$powerEstimate))
  expect_output(print(none), "no power has a negative slope: none of these networks is scale-free", fixed = TRUE)
  expect_output(print(summary(none)), "no power has a negative slope")
})

# Red stands for the estimate.
test_that("the picture marks the estimate, and nothing where there is none", {
  x <- modular(40, 400) + normal(40, 1, 11)[, 1] * 1.5
  found <- pickPower(x, c(1:10, 30), "signed")
  expect_true(any(pixels_of(plot(found)) == warm()))
  found$powerEstimate <- NA_real_
  expect_false(any(pixels_of(plot(found)) == warm()))
})

test_that("a data frame and a constant column are taken", {
  x <- modular(20, 30)
  expect_equal(pickPower(as.data.frame(x)), pickPower(x))
  x[, 5] <- 1
  suppressWarnings(fit <- pickPower(x, 1:3))
  expect_false(anyNA(fit$fitIndices))
})

test_that("missing values are an error where they cost whole columns", {
  x <- modular(20, 30)
  x[3, 5] <- NA
  for (missing in list(x, as.data.frame(x), list(x, x[20:1, ]))) {
    expect_error(suppressMessages(pickPower(missing, 1:3)), "'x' has missing values.*use = \"pairwise.complete.obs\"")
  }
  expect_no_warning(pickPower(list(x, modular(20, 30)), 1:3, combine = "mean", na.rm = TRUE))
  expect_no_warning(pickPower(x, 1:3, use = "pairwise"))
  expect_no_warning(pickPower(x, 1:3, use = "complete.obs"))
})

test_that("any number of powers", {
  x <- modular(20, 30)
  powers <- seq(0.25, 12, 0.25)
  table <- pickPower(x, powers)$fitIndices
  expect_identical(table$Power, powers)
  expect_equal(table[powers %in% c(1, 8, 12), ], pickPower(x, c(1, 8, 12))$fitIndices, tolerance = 1e-9,
               ignore_attr = TRUE)
})

test_that("what is to be said of x is said once, however many powers there are", {
  x <- modular(20, 30)
  x[, 5] <- 1
  expect_identical(warnings_of(pickPower(x, 1:40)), "the standard deviation is zero (1 of 30 columns of 'x': gene5)")
  tell_again() # another test may have shown the message of this session
  messages <- testthat::capture_messages(pickPower(methods::as(modular(20, 30), "CsparseMatrix"), 1:40))
  expect_length(messages, 1)
})

test_that("equal connectivities cannot be fitted", {
  expect_warning(fit <- pickPower(diag(5), 1:3), "same connectivity with every power")
  expect_true(all(is.na(fit$fitIndices[2:4])))
  expect_equal(fit$fitIndices$mean.k., 4 * 0.25^(1:3), tolerance = 1e-6)
  expect_identical(fit$powerEstimate, NA_integer_)
  expect_output(print(fit), "no power can be fitted")
})

test_that("errors name the argument", {
  x <- modular(10, 8)
  for (bad in list(numeric(), "6", c(1, 0), c(1, 2, NA), Inf)) {
    expect_error(pickPower(x, bad), paste("'power' must be finite numbers above 0, such as 1:20, not", deparse(bad)),
                 fixed = TRUE)
  }
  expect_error(pickPower(x, type = "weighted"), "'type' must be one of", fixed = TRUE)
  expect_error(pickPower(x, method = "cosines"), "'method' must be one of", fixed = TRUE)
  expect_error(pickPower(x, r_squared = 2), "'r_squared' must be a number between 0 and 1, not 2", fixed = TRUE)
  expect_error(pickPower(x, r_squared = NA), "'r_squared' must be", fixed = TRUE)
  expect_error(pickPower(x, breaks = 1), "'breaks' must be a whole number", fixed = TRUE)
  expect_error(pickPower(x, breaks = 2.5), "'breaks' must be a whole number", fixed = TRUE)
  expect_error(pickPower(x[, 1:2]), "'x' must have at least 3 columns (genes)", fixed = TRUE)
  expect_error(pickPower(letters), "'x' must be numeric, not of class character", fixed = TRUE)
  expect_error(pickPower(mean), "'x' must be numeric, not of class function", fixed = TRUE)
  expect_error(pickPower(list(letters)), "subject 1: it must be a matrix, not a vector", fixed = TRUE)
  expect_error(pickPower(NULL), "'x' must be numeric, not of class NULL", fixed = TRUE)
  expect_error(pickPower(x[, 1]), "'x' must be matrix-like, with a gene in each column; it is a vector", fixed = TRUE)
  expect_error(pickPower(x, wrong = 1), "unused argument 'wrong'", fixed = TRUE)
})

test_that("print says what was found", {
  x <- modular(40, 150)
  fit <- pickPower(x, 1:6, r_squared = 0)
  expect_output(shown <- withVisible(print(fit)), "Scale-free fit of unsigned networks of 150 variables", fixed = TRUE)
  expect_false(shown$visible)
  expect_output(print(fit), "SFT.R.sq", fixed = TRUE)
  expect_output(print(fit), "lowest power with R^2 above 0: 2", fixed = TRUE)
  expect_output(print(pickPower(x, 1:6, r_squared = 1)), "no R^2 above 1 with a negative slope; the highest is",
                fixed = TRUE)
})

test_that("plot runs, and leaves the settings of the device", {
  file <- tempfile(fileext = ".pdf")
  grDevices::pdf(file)
  before <- graphics::par(c("mfrow", "mar"))
  fit <- pickPower(modular(40, 150), 1:6)
  expect_identical(plot(fit), fit)
  expect_silent(plot(pickPower(modular(40, 150), 3)))
  expect_silent(plot(suppressWarnings(pickPower(diag(5), 1:3))))
  expect_identical(graphics::par(c("mfrow", "mar")), before)
  grDevices::dev.off()
  expect_gt(file.size(file), 1000)
  unlink(file)
})
