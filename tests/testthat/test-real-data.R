# Real expression and fMRI data, where installed.

expect_subset_like_cor <- function(x, columns, label) {
  for (backend in backends()) for (method in all_methods) {
    r <- suppressWarnings(gpuCor(x, method = method, backend = backend))
    if (method == "kendall" && !full_tier()) columns <- columns[1:40] # cor() takes long
    truth <- suppressWarnings(cor(x[, columns], method = method))
    expect_no_difference(r[columns, columns], truth, method, paste(backend, label))
  }
}

test_that("golub: genes of 38 patients", {
  x <- t(package_data("golub", "multtest"))
  if (!full_tier()) x <- x[, 1:800]
  colnames(x) <- NULL
  set.seed(9)
  expect_subset_like_cor(x, sort(sample(ncol(x), 250)), "golub")
})

test_that("ALL: probe sets of 128 patients", {
  set <- package_data("ALL", "ALL")
  x <- t(get("exprs", attr(set, "assayData"))[seq_len(if (full_tier()) 4000 else 800), ])
  set.seed(10)
  expect_subset_like_cor(x, sample(colnames(x), 120), "ALL")
})

test_that("fMRI in integers, heavily tied, with constant voxels", {
  x <- coarse_voxels()
  constant <- which(apply(x, 2, function(v) all(v == v[1])))
  expect_gt(length(constant), 5)
  set.seed(11)
  columns <- sort(unique(c(constant[1:5], sample(ncol(x), 100))))
  expect_subset_like_cor(x, columns, "fMRI")
})
