# Arguments that functions share, one by one and as specs.

x <- as.matrix(mtcars[, 1:5])

# The same values, whatever the call.
expect_same <- function(one, other) {
  strip <- function(r) {
    attr(r, "call") <- NULL
    r
  }
  expect_identical(strip(one), strip(other))
}

test_that("a spec gives what its arguments give one by one", {
  expect_same(gpuCor(x, adjustment = gpuAdjust(covariates = ~ factor(gear), data = mtcars), precision = "double"),
              gpuCor(x, covariates = ~ factor(gear), data = mtcars, control = gpuControl(precision = "double")))
  test <- function(...) withr::with_seed(1, gpuCorTest(x, ...)$p.adjusted)
  expect_same(test(permutation = gpuPermute("maxT", n_perm = 9)), test(adjust = "maxT", n_perm = 9))
  sets <- list(x[1:16, ], x[17:32, ])
  expect_same(gpuCor(sets, subjects = gpuSubjects(combine = "quantile", probs = 0.2)),
              gpuCor(sets, combine = "quantile", probs = 0.2))
  two <- function(i) sets[[i]]
  expect_same(gpuCor(two, subjects = 2, combine = "min"), gpuCor(sets, combine = "min"))
  expect_same(gpuCor(x, adjustment = NULL, control = NULL), gpuCor(x))
})

test_that("an argument beside a spec replaces that of the spec, and is checked with the others", {
  spec <- gpuAdjust(weights = mtcars$wt, partial = TRUE, shrinkage = 0.5)
  expect_same(gpuCor(x, adjustment = spec, shrinkage = 0.2),
              gpuCor(x, weights = mtcars$wt, partial = TRUE, shrinkage = 0.2))
  expect_error(gpuCor(x, adjustment = spec, partial = FALSE), "'shrinkage' is for partial = TRUE")
  both <- gpucor:::specs_of("gpuCor", threads = 2, control = gpuControl(threads = 1, backend = "cpu"))$control
  expect_identical(both, gpuControl(threads = 2, backend = "cpu"))
})

test_that("a function refuses what it does not take, by its name", {
  expect_error(gpuDist(x, adjustment = gpuAdjust(partial = TRUE)), fixed = TRUE, class = "gpucor_error_input",
               "'adjustment' has 'partial', which gpuDist() does not take")
  expect_error(gpuDist(x, partial = TRUE), "unused argument 'partial'", class = "gpucor_error_input")
  expect_error(gpuCor(x, adjust = "maxT"), fixed = TRUE, paste(
    "unused argument 'adjust'; gpuCor() does not take it,", "but gpuCorTest(), gpuCorNetwork() and gpuAssociation() do"
  ))
  expect_error(gpuModules(x, weights = 1), "'weights'; gpuModules\\(\\) does not take it$") # many others do
  expect_same(gpuCor(x, adjust = gpuAdjust(weights = mtcars$wt)), gpuCor(x, weights = mtcars$wt))
  expect_error(gpuCor(x, control = gpuAdjust()), "'control' must be made by gpuControl(), not", fixed = TRUE)
  expect_error(gpuCor(x, covariates = gpuAdjust()), "'covariates' is what gpuAdjust() made; give it as adjustment =",
               fixed = TRUE)
  expect_error(gpuCor(x, adjustment = ~ wt), "'adjustment' must be made by gpuAdjust(), not ~wt", fixed = TRUE)
  expect_error(gpuCor(x, NULL, "pearson", "everything", NULL, NULL, "dist", FALSE, "gpu"), "'backend' must be one of")
})

test_that("arguments may be abbreviated, and none abbreviates a function's own", {
  expect_same(gpuCor(x, cov = mtcars$wt, prec = "double"), gpuCor(x, covariates = mtcars$wt, precision = "double"))
  expect_error(gpuCor(x, weigh = 1), "unused argument 'weigh'; did you mean 'weights'?", fixed = TRUE)
  verbs <- Filter(function(name) is.function(getExportedValue("gpucor", name)), getNamespaceExports("gpucor"))
  for (verb in setdiff(verbs, "gpuControl")) {
    own <- names(formals(getExportedValue("gpucor", verb)))
    own <- own[seq_len(match("...", own, length(own)))] # those after it cannot be abbreviated
    others <- setdiff(gpucor:::OFFERED[[verb]], own)
    for (name in others) expect_false(any(startsWith(own, name)), label = paste0(verb, "(", name, " = )"))
  }
})

test_that("specs print what they hold", {
  expect_output(print(gpuAdjust(bandpass = c(0.01, 0.1), tr = 2)), "^Adjustment: bandpass = c\\(0.01, 0.1\\), tr = 2$")
  expect_output(print(gpuSubjects()), "^Subjects: defaults$")
  expect_output(print(gpuAdjust(covariates = mtcars["wt"])), "^Adjustment: covariates = <data.frame>$")
  expect_output(print(gpuPermute("maxT", 99)), "^Permutations: adjust = \"maxT\", n_perm = 99, surrogate = ")
})
