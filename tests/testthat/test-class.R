# Objects of class gpuCor.

x <- as.matrix(mtcars)
r <- gpuCor(x, method = "kendall")
full <- as.matrix(r)
bare <- gpuCor(unname(x), method = "kendall")

test_that("gpuCor() gives a dist with all it says", {
  expect_s3_class(r, c("gpuCor", "allPairs", "dist"), exact = TRUE)
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
  rows <- covering(kind = names(data), method = all_methods, use = all_uses[c(1, 4, 5)])
  for (backend in backends()) for (k in seq_len(nrow(rows))) {
    row <- rows[k, ]
    label <- paste(c(backend, row), collapse = " ")
    run <- function(...) {
      suppressWarnings(gpuCor(data[[row$kind]], use = row$use, method = row$method, backend = backend, ...))
    }
    truth <- outcome(reference_cor(data[[row$kind]], NULL, row$use, row$method))$value
    if (is.null(truth)) next
    r <- run()
    full <- as.matrix(r)
    expect_identical(full, run(output = "matrix"), label = label)
    expect_identical(is.na(diag(full)), is.na(diag(truth)), label = label)
    expect_identical(is.nan(diag(full)), is.nan(diag(truth)), label = label)
    expect_identical(r[, ], full, label = label)
    expect_identical(r[c(2, 2), 2:1], full[c(2, 2), 2:1], label = label)
    if (!anyNA(diag(truth))) expect_null(attr(r, "diagonal"), label = label)
    expect_null(attr(1 - r, "diagonal"), label = label)
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

test_that("[k] picks as from the matrix by what picks from no vector", {
  expect_identical(r[lower.tri(r)], full[lower.tri(full)])
  expect_identical(r[upper.tri(r, diag = TRUE)], full[upper.tri(full, diag = TRUE)])
  expect_identical(r[cbind(c(1, 3, 3), c(2, 3, 1))], full[cbind(c(1, 3, 3), c(2, 3, 1))])
  expect_identical(r[cbind("mpg", c("wt", "mpg"))], full[cbind("mpg", c("wt", "mpg"))])
  some <- replace(full > 0.5, 3, NA)
  expect_identical(r[some], full[some])
  few <- gpuCor(x[1, , drop = FALSE])
  expect_identical(few[cbind(1:2, 1:2)], c(NA_real_, NA_real_))
  expect_error(r["mpg"], 'pairs have no names: x["mpg", ] has all coefficients', fixed = TRUE)
  for (bad in list(cbind(1, 12), cbind(0, 1), cbind("mpg", "none"))) expect_error(r[bad], "subscript out of bounds")
  expect_identical(r[[2, 3]], full[[2, 3]])
  expect_identical(r[["coefficients"]], full)
  overlap <- gpuTOM(x, 4)
  expect_identical(overlap[upper.tri(overlap[, ])], as.matrix(overlap)[upper.tri(full)])
})

test_that("pairs are changed at their positions, and nothing else is", {
  changed <- r
  changed[r < 0] <- 0
  expect_identical(unname(as.matrix(changed)), unname(pmax(full, 0)))
  changed[] <- 1:55 / 55
  expect_identical(changed[11, 10], 1)
  expect_error(diag(changed) <- NA, "only pairs at positions can be changed: x[trianglePosition(i, j, 11)] <- value",
               fixed = TRUE)
  expect_error(changed[1, 2] <- 0, "m <- as.matrix(x)", fixed = TRUE)
  expect_error(changed["mpg", ] <- 0, "m <- as.matrix(x)", fixed = TRUE)
  expect_error(changed["mpg"] <- 0, "m <- as.matrix(x)", fixed = TRUE)
  expect_error(changed[lower.tri(full)] <- 0, "m <- as.matrix(x)", fixed = TRUE)
  expect_error(changed[cbind(1, 2)] <- 0, "m <- as.matrix(x)", fixed = TRUE)
  expect_error(changed[56] <- 0, "'i' is 56, and there are 55 pairs")
  expect_error(changed[rep(TRUE, 56)] <- 0, "'i' is 56, and there are 55 pairs")
  expect_identical(as.vector(changed), 1:55 / 55)
})

test_that("a pair is set by its position, and an object that something was appended to is an error", {
  r <- gpuCor(x)
  for (other in list(r, gpuTOM(x, 4))) {
    changed <- other
    changed[[3]] <- 0.5
    expect_identical(changed, replace(other, 3, 0.5))
    changed[[length(other) + 1]] <- 1
    expect_error(as.matrix(changed), "has been changed since")
  }
  expect_error(r[[c("mpg", "wt")]], "coefficients have no 'mpg'; there are")
})

test_that("variables are named and renamed", {
  named <- r
  colnames(named) <- paste0("v", 1:11)
  expect_identical(dimnames(named), rep(list(paste0("v", 1:11)), 2))
  rownames(named) <- 1:11
  expect_identical(named["2", "3"], full[[2, 3]])
  expect_identical(as.matrix(`dimnames<-`(named, NULL)), unname(full))
  expect_error(colnames(named) <- 1:3, "there are 11 variables and 3 names")
  expect_error(dimnames(named) <- list(1:11, 11:1), "rows and columns are the same variables")
})

test_that("arithmetic with a matrix is that of matrices, and with values of variables an error", {
  expect_identical(r - full, full - full)
  expect_identical(2 * full / r, 2 * full / full)
  expect_identical(full == r, full == full)
  expect_identical(sweep(r, 1, 1:11), sweep(full, 1, 1:11))
  expect_error(r * 1:11, "the other side of '*' has 11 values; there are 55 pairs of 11 variables: give", fixed = TRUE)
  expect_error(1:5 + r, "the other side of '+' has 5 values", fixed = TRUE)
  expect_error(full[1:3, 1:3] * r, "or an N x N matrix", fixed = TRUE)
  expect_identical(as.vector(r * 1:55), as.vector(r) * 1:55)
  overlap <- gpuTOM(x, 4)
  expect_identical(overlap - full, as.matrix(overlap) - full)
})

test_that("sums and means are those of the matrix", {
  holes <- suppressWarnings(gpuCor(cbind(x, 1)))
  for (f in c("rowSums", "colSums", "rowMeans", "colMeans")) {
    expect_identical(getExportedValue("gpucor", f)(r), get(f, baseenv())(full))
    expect_identical(getExportedValue("gpucor", f)(holes, na.rm = TRUE),
                     get(f, baseenv())(as.matrix(holes), na.rm = TRUE))
  }
})

test_that("products are those of the matrix, for users, who see exported methods only", {
  y <- matrix(1:22, 11)
  expect_identical(product("crossprod", r), base::crossprod(full))
  expect_identical(product("tcrossprod", r), base::tcrossprod(full))
  expect_identical(product("crossprod", r, y), base::crossprod(full, y))
  expect_identical(product("crossprod", y, r), base::crossprod(y, full))
  expect_identical(product("tcrossprod", r, r), base::tcrossprod(full, full))
  expect_identical(product("tcrossprod", t(y), r), base::tcrossprod(t(y), full))
  sparse <- Matrix::Matrix(y, sparse = TRUE)
  expect_equal(as.matrix(product("crossprod", r, sparse)), crossprod(full, y))
  skip_if(getRversion() < "4.3", "R has methods of S3 for %*% since 4.3")
  expect_identical(do.call(`%*%`, list(r, y), envir = globalenv()), full %*% y)
  expect_identical(do.call(`%*%`, list(t(y), r), envir = globalenv()), t(y) %*% full)
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

test_that("a formula with coefficients has a way out that works", {
  distance <- as.dist(full)
  expect_error(lm(r ~ distance), "is longer than Size = 11; as.vector(x) has a value for each pair",
               fixed = TRUE)
  expect_equal(unname(coef(lm(as.vector(r) ~ distance))), c(0, 1))
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
  unfold <- function(...) .Call(gpucor:::r_unfold, ..., FALSE, 1L)
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
  expect_output(print(s), "strongest:")
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
  expect_output(print(s), "missing 19")
  nothing <- suppressWarnings(gpuCor(matrix(1, 5, 3)))
  expect_identical(summary(nothing)$mean, NA_real_)
  expect_identical(nrow(summary(nothing)$strongest), 0L)
  for (n_var in 0:2) {
    few <- gpuCor(normal(5, n_var))
    expect_equal(summary(few)$pairs, n_var * (n_var - 1) / 2)
    expect_output(print(summary(few)))
  }
})

# R's own mean is off by some 1e-19 of the values' size.
is_mean <- function(mean, values) {
  truth <- mean(values, na.rm = TRUE)
  mean == truth || abs(mean - truth) <= 1e-16 * mean(abs(values), na.rm = TRUE)
}

# Values as if gpuCor() had returned them, of so many variables.
as_coefficients <- function(values, n_var) {
  structure(values, Size = n_var, class = c("gpuCor", "allPairs", "dist"), method = "pearson", n_obs = 10)
}

test_that("summary() has the quantiles, the mean and the strongest of all pairs, by any number of threads", {
  n_var <- 900 # more pairs than are looked at at a time
  pairs <- choose(n_var, 2)
  set.seed(4)
  spread <- tanh(rnorm(pairs) / 3)
  kinds <- list(spread = spread, few_levels = round(spread, 1), equal = rep(0.25, pairs),
                two = rep(c(-1, 1), pairs / 2), tiny = spread * 1e-9, alike = 0.5 + spread * 1e-12,
                zeros = replace(spread, c(TRUE, FALSE), -0), missing = replace(spread, sample(pairs, pairs / 3), NA),
                rising = sort(spread), nearly_none = replace(rep(NaN, pairs), c(7, 70, 700), c(0.5, NA, -0.5)),
                beyond = replace(spread, 1:4, c(Inf, -7, 3, 1 / 3)))
  shares <- c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
  for (kind in names(kinds)) {
    values <- kinds[[kind]]
    r <- as_coefficients(values, n_var)
    first <- utils::head(order(-abs(values), na.last = NA), 50)
    summarize <- function(threads) with_options(list(gpucor.threads = threads), summary(r, n = 50))
    s <- summarize(1)
    expect_identical(s$quantiles, quantile(values, shares, na.rm = TRUE), label = paste(kind, "quantiles"))
    expect_true(is_mean(s$mean, values), label = paste(kind, "mean"))
    expect_identical(s$missing, as.numeric(sum(is.na(values))), label = paste(kind, "missing"))
    expect_identical(s$strongest$r, values[first], label = paste(kind, "strongest"))
    expect_identical(trianglePosition(s$strongest$from, s$strongest$to, n_var), as.numeric(first), label = kind)
    for (threads in 2:3) expect_identical(summarize(threads), s, label = paste(kind, threads))
  }
  expect_identical(summary(as_coefficients(c(1e16, 1, -1e16), 3))$mean, 1 / 3)
  expect_identical(nrow(summary(as_coefficients(spread, n_var), n = 1e6)$strongest), as.integer(pairs))
  expect_error(summary(as_coefficients(1:3, 3L)), "values must be doubles, not of type integer")
})

test_that("summary() looks into bins that have too many values to take them out", {
  n_var <- 1100
  pairs <- choose(n_var, 2)
  set.seed(5)
  values <- 0.1 + 1e-6 * rnorm(pairs) # all of them in one bin
  values[sample(pairs, 1e4)] <- NA
  s <- summary(as_coefficients(values, n_var))
  expect_identical(s$quantiles, quantile(values, c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1), na.rm = TRUE))
})

test_that("summary() fails cleanly wherever memory fails", {
  set.seed(6)
  r <- as_coefficients(tanh(rnorm(choose(300, 2))), 300)
  messages <- walk_failures(function() summary(r), "host", "summary")
  expect_match(unique(messages), "a summary|the strongest pairs|values to choose among")
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

test_that("a column with itself has no p value, in any matrix of any result", {
  set.seed(3)
  m <- matrix(rnorm(120), 30, dimnames = list(NULL, letters[1:4]))
  gaps <- replace(m, 3, NA)
  subjects <- lapply(1:6, function(i) m + rnorm(120))
  lists <- list(gpuCorTest(m), gpuCorTest(m, output = "matrix"), gpuCorTest(gaps, use = "pairwise"),
                gpuCorTest(gaps, use = "pairwise", output = "matrix"), gpuCorTest(m, log.p = TRUE, output = "matrix"),
                gpuCorTest(m, method = "kendall", output = "matrix"), gpuCorTest(m, adjust = "maxT", n_perm = 9),
                gpuCorTest(m, adjust = "maxT", n_perm = 9, output = "matrix"),
                gpuCorTest(m, method = "mi", adjust = "maxT", n_perm = 9, output = "matrix"),
                list(p.value = gpuCor(m)$p.value), list(p.value = gpuCor(m, method = "spearman")$p.value),
                list(p.value = gpuCor(gaps, use = "pairwise", test = TRUE)$p.value),
                gpuCor(m, output = "list", test = TRUE), gpuCor(m, output = "matrix", test = TRUE),
                gpuCorCompare(m, m[30:1, ] + subjects[[1]], n_perm = 5, classes = 0.05),
                gpuCorCompare(subjects[1:3], subjects[4:6], n_perm = 5), gpuCorCompare(subjects))
  for (found in lists) {
    p <- intersect(names(found), c("p.value", "p.adjusted", "fdr"))
    expect_gt(length(p), 0)
    for (name in p) {
      values <- as.matrix(found[[name]])
      expect_identical(which(is.na(values)), c(1L, 6L, 11L, 16L))
      expect_identical(c(found[[name]][2:3, 2:3]), c(values[2:3, 2:3]))
      expect_identical(dimnames(values), list(letters[1:4], letters[1:4]))
    }
    for (name in intersect(names(found), c("r", "coefficients", "r.x", "r.y"))) {
      expect_identical(unname(diag(as.matrix(found[[name]]))), rep(1, 4))
    }
  }
  expect_identical(unname(diag(as.matrix(lists[[16]]$difference))), rep(0, 4))
  expect_identical(diag(as.matrix(attr(gpuCor(m, lag = -1:1), "lag"))), c(a = 0, b = 0, c = 0, d = 0))
  p <- gpuCorTest(m)$p.value
  expect_equal(p.adjust(as.matrix(p), "BH")[2:4], p.adjust(p, "BH")[1:3]) # each p value twice
  expect_equal(p.adjust(as.matrix(p), "holm")[2:4], pmin(1, 2 * p.adjust(p, "holm"))[1:3])
  adjusted <- p
  adjusted[] <- p.adjust(p, "holm")
  expect_identical(attributes(adjusted), attributes(p))
  expect_identical(adjusted["c", "b"], p.adjust(c(p), "holm")[4])
  moments <- gpuCorWindows(m, width = 10, output = "moments")
  expect_identical(vapply(moments[c("mean", "sd", "min", "max")], function(v) as.matrix(v)[2, 2], 0),
                   c(mean = 1, sd = 0, min = 1, max = 1))
  rows <- summary(gpuCorTest(m, output = "matrix"))
  expect_identical(c(rows$tests, rows$missing), c(6L, 0L)) # each pair once
})
