# `$` of results that are lists.

x <- normal(20, 6)

test_that("a name of another package is an error that says the name here", {
  test <- gpuCorTest(x)
  expect_error(test$P, "gpuCorTest has no element 'P'; did you mean $p.value? There are $coefficient,", fixed = TRUE)
  expect_error(test$r, "did you mean $coefficient?", fixed = TRUE)
  expect_error(test$t, "did you mean $statistic?", fixed = TRUE)
  expect_error(test$padj, "p.adjust(test$p.value, \"BH\")", fixed = TRUE)
  expect_error(test$quite_other, "'quite_other'; there are $coefficient", fixed = TRUE)
  expect_error(gpuAssociation(x[, 1:4], x[, 5:6], output = "matrix")$padj, "did you mean $fdr?", fixed = TRUE)
  expect_error(gpuCorCompare(x, -x)$P, "did you mean $p.value?", fixed = TRUE)
  expect_error(gpuConnectivity(x, power = 2)$kTotal, "did you mean $soft?", fixed = TRUE)
  expect_error(gpuInfo()$thread_count, "gpuInfo has no element")
  expect_error(summary(test)$strong, NA)
  expect_error(summary(test)$weakest, "summary.gpuCorTest has no element")
  expect_error(gpuCorWindows(x, width = 10, output = "network", threshold = 0.5)$degree, "11 elements without names")
})

test_that("elements are found as before, abbreviated and absent ones too", {
  test <- gpuCorTest(x)
  expect_identical(test$p.value, unclass(test)$p.value)
  expect_identical(test$coef, unclass(test)$coefficient)
  expect_null(test$p.adjusted)
  expect_null(test$df)
  expect_null(gpuConnectivity(x, threshold = 0.5)$soft)
  expect_identical(utils::.DollarNames(test, "^p"), "p.value")
  expect_output(utils::str(test), "p.value")
  test$mine <- 1
  expect_identical(test$mine, 1)
})

test_that("$colors of modules are $colours", {
  modules <- structure(list(colours = c(a = "blue"), labels = c(a = 1L)), class = "gpuModules")
  expect_identical(modules$colors, c(a = "blue"))
  expect_error(modules$module, "did you mean $labels?", fixed = TRUE)
  expect_error(modules$MEs, "gpuModules has no element 'MEs'; there are $colours, $labels", fixed = TRUE)
})
