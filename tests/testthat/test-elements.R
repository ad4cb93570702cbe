# `$`, head() and tail() of results that are lists.

x <- normal(20, 6)

test_that("a name of no element is an error that lists the elements", {
  test <- gpuCorTest(x)
  expect_error(test$P, "a gpuCorTest has no element 'P'; there are $r, $n, $statistic, $p.value,", fixed = TRUE)
  expect_error(gpuAssociation(x[, 1:4], x[, 5:6], output = "matrix")$padj, "has no element 'padj'", fixed = TRUE)
  expect_error(gpuCorCompare(x, -x)$P, "has no element 'P'", fixed = TRUE)
  expect_error(gpuConnectivity(x, power = 2)$kTotal, "there are $soft", fixed = TRUE)
  expect_error(gpuInfo()$thread_count, "gpuInfo has no element")
  windows <- gpuCorWindows(x, width = 10, output = "network", threshold = 0.5)
  expect_error(windows$quite_other, "elements without names")
})

test_that("elements are found, abbreviated and absent ones too", {
  test <- gpuCorTest(x)
  expect_identical(test$p.value, unclass(test)$p.value)
  expect_identical(test$stat, unclass(test)$statistic)
  expect_null(test$p.adjusted)
  expect_null(test$df)
  expect_null(gpuConnectivity(x, threshold = 0.5)$soft)
  expect_identical(utils::.DollarNames(test, "^p"), "p.value")
  expect_output(utils::str(test), "p.value")
  test$mine <- 1
  expect_identical(test$mine, 1)
})

test_that("elements of pairs are found by names, as coefficients are", {
  colnames(x) <- letters[1:6]
  test <- gpuCorTest(x, conf.level = 0.9)
  for (part in list(test$n, test$statistic, test$p.value, test$conf.low, 1 - test$p.value,
                    gpuCorCompare(x[1:10, ], x[11:20, ])$fdr, gpuCorTest(x, adjust = "maxT", n_perm = 9)$p.adjusted)) {
    square <- as.matrix(part)
    expect_identical(part["b", "e"], square["b", "e"])
    expect_identical(part[c("e", "a"), ], square[c("e", "a"), ])
    expect_identical(part[2:3, 3], square[2:3, 3])
    expect_identical(part[4:7], as.vector(part)[4:7])
    expect_s3_class(part, "dist")
  }
  expect_error(test$p.value["a", "z"], "no variable is named \"z\"")
  expect_identical(p.adjust(test$p.value, "BH")[3], p.adjust(as.vector(test$p.value), "BH")[3])
  expect_identical(sort(test$p.value), sort(as.vector(test$p.value)))
})

test_that("elements of modules are listed", {
  modules <- structure(list(colors = c(a = "blue"), labels = c(a = 1L)), class = c("gpuModules", "gpuCorResult"))
  expect_error(modules$colours, "gpuModules has no element 'colours'; did you mean $colors?", fixed = TRUE)
  expect_error(modules$moduleLabels, "no element 'moduleLabels'; did you mean $labels?", fixed = TRUE) # WGCNA's
  expect_error(modules$MEs, "gpuModules has no element 'MEs'; there are $colors, $labels", fixed = TRUE)
  modules$eigengenes <- 1
  expect_error(modules$MEs, "no element 'MEs'; did you mean $eigengenes?", fixed = TRUE)
})

test_that("head() and tail() are rows of the data frame", {
  colnames(x) <- letters[1:6]
  results <- list(gpuCorTest(x), gpuCorTest(x[, 1:2], x[, 3:5], use = "pairwise"), gpuCorTest(unname(x)),
                  gpuCorCompare(x[1:10, 1:4], x[11:20, 1:4]), gpuAssociation(x[, 2:6], x[, 1], output = "matrix"),
                  gpuConnectivity(x, threshold = 0.1))
  for (result in results) {
    frame <- as.data.frame(result)
    expect_identical(head(result, 3), head(frame, 3))
    expect_identical(tail(result, 2), tail(frame, 2))
    expect_identical(nrow(head(result, -2)), nrow(frame) - 2L)
  }
})
