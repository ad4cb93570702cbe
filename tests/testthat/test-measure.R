# The table of measures.

test_that("R's names are those of the table", {
  own <- c("kendall", "distance", "mi", "coherence", "concordance", more_methods)
  expect_setequal(setdiff(gpucor:::engine$measures, c("given", gpucor:::GROUP_METHODS)), own)
  for (name in own) {
    measure <- gpucor:::measure_of(name)
    expect_identical(measure$name, name)
    expect_true(nzchar(measure$title))
    expect_output(print(gpuCor(normal(6, 3), method = name)), measure$title, fixed = TRUE)
  }
  expect_error(gpuCor(normal(5, 3), method = "cosines"),
               "'method' must be one of \"pearson\", \"kendall\", \"spearman\"")
})

test_that("the numbers that R and the engine share are R's own names for them", {
  numbers <- gpucor:::engine$constants
  expect_identical(unname(numbers[gpucor:::uses]), as.numeric(seq_along(gpucor:::uses))) # as in stats::cor
  expect_true(all(c(gpucor:::signs, gpucor:::types) %in% names(numbers)))
  expect_identical(anyDuplicated(names(numbers)), 0L)
})
