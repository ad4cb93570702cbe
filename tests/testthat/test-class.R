# Objects of class gpuCor.

x <- as.matrix(mtcars)
r <- gpuCor(x, method = "kendall")
full <- as.matrix(r)
bare <- gpuCor(unname(x), method = "kendall")

test_that("gpuCor() gives a dist with all it says", {
  expect_s3_class(r, c("gpuCor", "dist"), exact = TRUE)
  expect_type(r, "double")
  expect_length(r, 55)
  expect_identical(attr(r, "Size"), 11L)
  expect_identical(attr(r, "Labels"), colnames(x))
  expect_identical(attr(r, "method"), "kendall")
  expect_equal(attr(r, "n_obs"), 32)
  expect_identical(attr(r, "call"), quote(gpuCor(x, method = "kendall")))
  expect_null(attr(bare, "Labels"))
  missing <- x
  missing[1:3, 2] <- NA
  expect_equal(attr(gpuCor(missing, use = "complete.obs"), "n_obs"), 29)
})

test_that("as.matrix() is cor()", {
  expect_equal(full, cor(x, method = "kendall"), tolerance = 1e-12)
  expect_identical(dimnames(full), dimnames(cor(x)))
  expect_identical(unname(diag(full)), rep(1, 11))
  expect_identical(full, t(full))
  expect_identical(as.matrix(bare), unname(full))
  expect_identical(full, gpuCor(x, method = "kendall", output = "matrix"))
  # More columns than as.matrix() copies at a time.
  wide <- normal(5, 150)
  expect_identical(as.matrix(gpuCor(wide)), gpuCor(wide, output = "matrix"))
  expect_identical(as.matrix(gpuCor(wide[, 1, drop = FALSE])), matrix(1))
  expect_identical(dim(as.matrix(gpuCor(wide[, 0]))), c(0L, 0L))
})

test_that("the diagonal is that of cor()", {
  data <- kinds_of_data(9, 8)
  data$single_row <- normal(1, 3)
  data$no_rows <- normal(0, 3)
  data$one_complete_row <- rbind(normal(1, 4), NA)
  for (backend in backends()) for (method in all_methods) for (use in c(all_uses[c(1, 4, 5)])) {
    for (kind in names(data)) {
      label <- paste(backend, method, use, kind)
      x <- data[[kind]]
      run <- function(...) suppressWarnings(gpuCor(x, use = use, method = method, backend = backend, ...))
      truth <- outcome(reference_cor(x, NULL, use, method))$value
      if (is.null(truth)) next
      r <- run()
      expect_identical(as.matrix(r), run(output = "matrix"), label = label)
      expect_identical(is.na(diag(as.matrix(r))), is.na(diag(truth)), label = label)
      expect_identical(is.nan(diag(as.matrix(r))), is.nan(diag(truth)), label = label)
      expect_identical(r[, ], as.matrix(r), label = label)
      expect_identical(r[c(2, 2), 2:1], as.matrix(r)[c(2, 2), 2:1], label = label)
      if (!anyNA(diag(truth))) expect_null(attr(r, "diagonal"), label = label)
      expect_null(attr(1 - r, "diagonal"), label = label)
    }
  }
})

test_that("the order of the values is that of dist", {
  expect_identical(as.vector(r), full[lower.tri(full)])
  expect_equal(unname(as.matrix(stats::as.dist(1 - full))), unname(as.matrix(1 - r)))
})

test_that("[i, j] picks as from the matrix", {
  expect_identical(r[1, 2], full[[1, 2]])
  expect_identical(r[2, 1], full[[1, 2]])
  expect_identical(r[5, 5], 1)
  expect_identical(r["mpg", "wt"], full[["mpg", "wt"]])
  expect_identical(r[c("mpg", "wt"), ], full[c("mpg", "wt"), ])
  expect_identical(r[, 3], full[, 3])
  expect_identical(r["mpg", c("cyl", "mpg", "hp")], full["mpg", c("cyl", "mpg", "hp")])
  expect_identical(r[, ], full)
  expect_identical(r[-1, -(2:3)], full[-1, -(2:3)])
  expect_identical(r[c(TRUE, FALSE), 4:5], full[c(TRUE, FALSE), 4:5])
  expect_identical(r[rep(TRUE, 11), 1], full[, 1])
  expect_identical(r[c(3, 3, 1), c(1, 3)], full[c(3, 3, 1), c(1, 3)])
  expect_identical(r[2, 4:6, drop = FALSE], full[2, 4:6, drop = FALSE])
  expect_identical(r[2, 3, drop = FALSE], full[2, 3, drop = FALSE])
  expect_identical(r[0, 1:2], full[0, 1:2])
  expect_identical(r[c(0, 2), 1], full[c(0, 2), 1])
  expect_identical(bare[1:3, 4:5], unname(full)[1:3, 4:5])
})

test_that("[k] picks pairs by position", {
  expect_identical(r[3], full[["mpg", "hp"]])
  expect_identical(r[c(1, 55)], as.vector(r)[c(1, 55)])
  expect_identical(r[-(1:50)], as.vector(r)[51:55])
  expect_identical(r[], r)
  expect_identical(r[abs(r) > 0.7], full[lower.tri(full) & abs(full) > 0.7])
  expect_identical(r[[2]], full[["mpg", "disp"]])
})

test_that("indices out of bounds are errors", {
  for (bad in list(12, -1:12, c(1, NA), NA, rep(TRUE, 12))) {
    expect_error(r[bad, 1], "subscript|subscripts")
    expect_error(r[1, bad], "subscript|subscripts")
  }
  expect_error(r["mpg", "none"], "subscript out of bounds: no variable is named \"none\"")
  expect_error(r[12, 1], "'i' must be within 1 to Size = 11")
  expect_error(bare["mpg", 1], "subscript out of bounds")
})

test_that("an object that has been changed is an error, and nothing beyond it is read", {
  uses_of_size <- list(as.matrix, print, summary, function(r) r[1, 2], function(r) r[, ], function(r) r["mpg", ])
  for (size in list(5000L, 12L, 10L, 0L, -10L, 11.5, NA, NULL, "11", c(11L, 11L), Inf, 2^31)) {
    changed <- structure(r, Size = size)
    for (f in uses_of_size) expect_error(f(changed), "attribute \"Size\" is .*; the object has 55 values, and has been")
  }
  changed <- structure(r, Size = 5000L)
  expect_error(as.matrix(changed), "\"Size\" is 5000L, which makes 12,497,500 pairs; the object has 55 values, and has")
  expect_identical(as.matrix(structure(r, Size = 11)), full) # as good as 11L
  # Whatever R says, the engine looks for itself.
  unfold <- function(...) .Call(gpucor:::r_unfold, ..., 1L)
  for (n in list(5000L, 1L, -10L, NA, 2^31)) expect_error(unfold(as.numeric(1:55), n, NULL), "variables need|columns")
  expect_error(unfold(1:55, 11L, NULL), "need 55 doubles, not 55 values of type integer")
  for (diagonal in list(1, as.numeric(1:12), 1:11, "1")) {
    expect_error(unfold(as.numeric(1:55), 11L, diagonal), "the diagonal of 11 variables needs as many doubles")
  }
  changed <- gpuCor(x[1, , drop = FALSE])
  attr(changed, "diagonal") <- 1
  expect_error(as.matrix(changed), "the diagonal of 11 variables needs")
})

test_that("arithmetic gives a plain dist, ready for hclust()", {
  for (d in list(1 - r, -r, abs(r), r^2, sqrt(1 - r), r + r)) {
    expect_s3_class(d, "dist", exact = TRUE)
    expect_identical(attr(d, "Size"), 11L)
    expect_identical(attr(d, "Labels"), colnames(x))
    expect_null(attr(d, "n_obs"))
  }
  expect_identical(as.vector(1 - r), 1 - as.vector(r))
  expect_identical(r > 0.5, as.vector(r) > 0.5)
  expect_equal(hclust(1 - r, "average")$merge, hclust(as.dist(1 - full), "average")$merge)
  expect_equal(cutree(hclust(1 - r), 3), cutree(hclust(as.dist(1 - full)), 3))
  expect_s3_class(r, "gpuCor")
})

test_that("print() says what it is and shows a corner", {
  expect_output(print(r), "Kendall's tau-b of 11 variables: 55 pairs, 32 observations", fixed = TRUE)
  expect_output(print(r), "mpg")
  expect_output(print(r), "-0.795", fixed = TRUE)
  expect_output(print(r), "3 more variables", fixed = TRUE)
  expect_output(print(gpuCor(x)), "Pearson's correlation", fixed = TRUE)
  expect_output(print(gpuCor(x, method = "spearman")), "Spearman's rho", fixed = TRUE)
  expect_output(print(gpuCor(normal(4, 1500))), "1,500 variables: 1,124,250 pairs, 4 observations", fixed = TRUE)
  expect_output(print(bare), "11 variables")
  for (n_var in 0:2) expect_output(print(gpuCor(normal(5, n_var))), paste(n_var, "variable"))
  capture.output(expect_invisible(printed <- print(r)))
  expect_identical(printed, r)
})

test_that("summary() has the numbers and the strongest pairs", {
  s <- summary(r, n = 3)
  expect_s3_class(s, "summary.gpuCor")
  expect_equal(s[c("n_var", "n_obs", "method", "pairs", "missing")],
               list(n_var = 11, n_obs = 32, method = "kendall", pairs = 55, missing = 0))
  expect_equal(s$mean, mean(full[lower.tri(full)]))
  expect_equal(unname(s$quantiles[c("0%", "50%", "100%")]), unname(quantile(as.vector(r), c(0, 0.5, 1))))
  at <- which(lower.tri(full), arr.ind = TRUE)[order(-abs(full[lower.tri(full)]))[1:3], ]
  expect_identical(s$strongest, data.frame(from = colnames(x)[at[, 2]], to = colnames(x)[at[, 1]],
                                           r = unname(full[at])))
  expect_output(print(s), "strongest pairs")
  expect_output(print(s), "cyl *disp *0.81")
  expect_identical(nrow(summary(r, n = 0)$strongest), 0L)
  expect_identical(nrow(summary(r, n = 100)$strongest), 55L)
  expect_error(summary(r, n = -1), "'n' must be a whole number")
  expect_identical(summary(bare)$strongest$from, match(summary(r)$strongest$from, colnames(x)))
})

test_that("summary() copes with NA and with hardly any variables", {
  constant <- suppressWarnings(gpuCor(with_constants(x)))
  s <- summary(constant)
  expect_equal(s$missing, 9 + 10)
  expect_false(anyNA(s$strongest$r))
  expect_false(is.na(s$mean))
  expect_output(print(s), "19 pairs are NA")
  nothing <- suppressWarnings(gpuCor(matrix(1, 5, 3)))
  expect_identical(summary(nothing)$mean, NA_real_)
  expect_identical(nrow(summary(nothing)$strongest), 0L)
  for (n_var in 0:2) {
    few <- gpuCor(normal(5, n_var))
    expect_equal(summary(few)$pairs, n_var * (n_var - 1) / 2)
    expect_output(print(summary(few)))
  }
})

test_that("objects survive being saved", {
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(r, file)
  expect_identical(readRDS(file), r)
})

test_that("printing fits long names and narrow windows", {
  x <- as.matrix(mtcars)
  colnames(x) <- paste0("AFFX-HUMISGF3A/M97935_MA_at_", seq_len(ncol(x)))
  with_options(list(width = 60), {
    text <- utils::capture.output(print(gpuCor(x)))
    expect_true(all(nchar(text) <= 60 | grepl("variables:", text)))
    expect_match(text, "AFFX-...at_2", fixed = TRUE, all = FALSE)
    expect_match(text, "more variables", all = FALSE)
  })
})
