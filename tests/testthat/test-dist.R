# gpuDist(): entities in rows.

x <- rounded(9, 14)
rownames(x) <- LETTERS[1:9]

reference_dist <- function(x, method, use = "everything") as.dist(1 - cor(t(x), use = use, method = method))

test_that("gpuDist() is a plain dist of 1 - cor() between rows", {
  for (backend in backends()) for (method in all_methods) {
    d <- gpuDist(x, method, backend = backend)
    expect_s3_class(d, "dist", exact = TRUE)
    expect_equal(as.matrix(d), as.matrix(reference_dist(x, method)), tolerance = tolerance[[method]])
    expect_identical(labels(d), LETTERS[1:9])
    expect_identical(attr(d, "Size"), 9L)
  }
  expect_identical(attr(gpuDist(x), "method"), "spearman")
  expect_null(labels(gpuDist(unname(x))))
  expect_output(print(gpuDist(x[1:3, ])), "B")
  expect_equal(hclust(gpuDist(x, "kendall"))$merge, hclust(reference_dist(x, "kendall"))$merge)
})

test_that("rows may be missing values, constant, few or many", {
  missing <- with_missing(x, 0.1)
  for (backend in backends()) for (method in all_methods) {
    for (use in c("everything", "pairwise.complete.obs")) {
      d <- suppressWarnings(gpuDist(missing, method, use, backend = backend))
      expect_equal(as.vector(d), as.vector(suppressWarnings(reference_dist(missing, method, use))),
                   tolerance = tolerance[[method]])
    }
    many <- normal(300, 5)
    expect_equal(as.vector(gpuDist(many, method, backend = backend)), as.vector(reference_dist(many, method)),
                 tolerance = tolerance[[method]])
  }
  x[2, ] <- 1
  expect_warning(d <- gpuDist(x), "1 of 9 rows of 'x': B", fixed = TRUE)
  expect_identical(is.na(as.matrix(d)["B", ]), LETTERS[1:9] != "B", ignore_attr = TRUE)
  expect_error(gpuDist(missing, use = "all.obs"), "missing observations")
  expect_length(gpuDist(x[1, , drop = FALSE]), 0)
  expect_length(gpuDist(x[0, ]), 0)
  # Without measurements, as cor() without observations.
  for (method in all_methods) for (use in all_uses) {
    truth <- outcome(as.vector(reference_dist(x[, 0], method, use)))
    expect_identical(outcome(as.vector(gpuDist(x[, 0], method, use))), truth, label = paste(method, use))
  }
})

test_that("data frames, integers and sparse matrices are taken by rows as well", {
  truth <- gpuDist(x)
  whole <- x
  storage.mode(whole) <- "integer"
  expect_identical(as.vector(gpuDist(whole)), as.vector(truth))
  expect_identical(as.vector(gpuDist(as.data.frame(x))), as.vector(truth))
  sparse <- suppressMessages(gpuDist(methods::as(x, "CsparseMatrix")))
  expect_identical(as.vector(sparse), as.vector(truth))
  expect_identical(labels(sparse), LETTERS[1:9])
  expect_error(gpuDist(1:5), "'x' must be matrix-like, with an entity in each row", fixed = TRUE)
  expect_error(gpuDist(iris), "column 5 (Species)", fixed = TRUE)
  expect_error(gpuDist(x, "euclidean"),
               "'method' must be one of \"spearman\", \"pearson\", \"kendall\".*are those of stats::dist\\(\\)")
})
