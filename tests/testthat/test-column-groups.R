# Coefficients of groups of columns: method = "distance" and "rv" with the argument `groups`.

# Curves and lines between groups; column 16 is in none.
set.seed(1)
f <- normal(40, 3, seed = 1)
x <- cbind(f[, 1]^2 + normal(40, 4, seed = 2), f[, 1] + normal(40, 5, seed = 3), f[, 2] + normal(40, 6, seed = 4), 1e6)
labels <- c(rep("late", 4), rep("early", 5), rep("alone", 6), NA)
groups <- c("late", "early", "alone")

# The definitions (Szekely and Rizzo 2014, section 2.3): U-centred distances, or products, of pairs of rows.
u_centred <- function(x, method) {
  n <- nrow(x)
  between <- function(i, j) {
    if (method == "rv") sum((x[i, ] - colMeans(x)) * (x[j, ] - colMeans(x))) else sqrt(sum((x[i, ] - x[j, ])^2))
  }
  a <- outer(1:n, 1:n, Vectorize(function(i, j) if (i == j) 0 else between(i, j)))
  rows <- rowSums(a)
  own <- a - rows[row(a)] / (n - 2) - rows[col(a)] / (n - 2) + sum(a) / ((n - 1) * (n - 2))
  own[row(a) != col(a)]
}

defined <- function(x, labels, method, names) {
  own <- sapply(names, function(name) u_centred(x[, which(labels == name), drop = FALSE], method))
  products <- crossprod(own)
  products / sqrt(outer(diag(products), diag(products)))
}

test_that("coefficients are the definition's, by both precisions and on every back end", {
  for (method in c("distance", "rv")) {
    truth <- defined(x, labels, method, groups)
    for (backend in backends()) {
      r <- gpuCor(x, method = method, groups = labels, output = "matrix", backend = backend)
      expect_identical(dimnames(r), list(groups, groups))
      expect_lt(max(abs(r - truth)), 1e-6)
      r <- gpuCor(x, method = method, groups = labels, output = "matrix", backend = backend, precision = "double")
      expect_lt(max(abs(r - truth)), 1e-13)
    }
    ordered <- gpuCor(x, method = method, groups = factor(labels, c("early", "none", "late", "alone")))
    expect_identical(labels(ordered), c("early", "late", "alone")) # the order of levels; one is empty
    expect_equal(ordered["early", "late"], truth["early", "late"], tolerance = 1e-6)
    expect_identical(attr(ordered, "n_obs"), 40)
  }
  expect_nothing_live()
})

test_that("groups of one column are columns", {
  each <- gpuCor(x[, 1:5], method = "distance", groups = letters[1:5], precision = "double")
  expect_equal(as.vector(each), as.vector(gpuCor(x[, 1:5], method = "distance", precision = "double")),
               tolerance = 1e-12)
  theirs <- gpuCor(x[, 1:5] * 1e-200, method = "distance", groups = letters[1:5], precision = "double")
  expect_equal(as.vector(theirs), as.vector(each), tolerance = 1e-12)
})

test_that("coefficients are those of package energy", {
  skip_if_not_installed("energy")
  r <- gpuCor(x, method = "distance", groups = labels, precision = "double")
  expect_equal(r["late", "early"], energy::bcdcor(x[, 1:4], x[, 5:9])[[1]], tolerance = 1e-12)
})

test_that("tests, networks and sums count observations, not their pairs", {
  for (method in c("distance", "rv")) {
    truth <- defined(x, labels, method, groups)
    test <- gpuCorTest(x, method = method, groups = labels, precision = "double")
    p <- pchisq(pmax(0, 40 * truth[lower.tri(truth)] + 1), 1, lower.tail = FALSE)
    expect_equal(as.vector(test$p.value), p, tolerance = 1e-9)
    expect_true(all(test$n == 40))
    edges <- gpuCorNetwork(x, method = method, groups = labels, p.value = 0.3, output = "edges")
    expect_equal(sort(edges$p.value), sort(p[p <= 0.3]), tolerance = 1e-4)
    sums <- gpuConnectivity(x, method = method, groups = labels, power = 1, maps = "eigenvector")
    expect_equal(sums$soft[, 1], rowSums(abs(truth) - diag(3)), tolerance = 1e-5)
    expect_identical(sums$n_obs, 40)
    vector <- abs(eigen(truth + 1)$vectors[, 1])
    expect_equal(unname(sums$eigenvector), vector / max(vector), tolerance = 1e-5)
  }
  mask <- pairMask(c(1, 1, 2), different = TRUE) # of the groups
  edges <- gpuCorNetwork(x, method = "rv", groups = labels, k = 2, pairs = mask, output = "edges")
  expect_false("late early" %in% paste(edges$from, edges$to))
  expect_warning(test <- gpuCorTest(x[1:9, ], method = "rv", groups = labels), "method = \"rv\" needs at least 10")
  expect_true(all(is.na(test$p.value)))
})

test_that("subjects have groups of the same labels", {
  several <- lapply(1:6, function(i) x[seq_len(40 - i), ] + normal(40 - i, 16, seed = i))
  truth <- lapply(several, defined, labels, "rv", groups)
  r <- gpuCor(several, method = "rv", groups = labels, combine = "mean")
  expect_equal(as.vector(r), Reduce(`+`, truth)[lower.tri(truth[[1]])] / 6, tolerance = 1e-6)
  fisher <- gpuCor(several, method = "rv", groups = labels, combine = "fisher") # weighs them by n - 3
  z <- Reduce(`+`, Map(function(r, n) (n - 3) * atanh(r[lower.tri(r)]), truth, 39:34)) / sum(39:34 - 3)
  expect_equal(as.vector(fisher), tanh(z), tolerance = 1e-6)
  found <- gpuCorCompare(several[1:3], several[4:6], method = "rv", groups = labels, threshold = 0, output = "edges")
  z <- sapply(truth, function(r) atanh(r["late", "early"]))
  own <- found[found$from == "late" & found$to == "early", ]
  expect_equal(own$p.value, t.test(z[1:3], z[4:6], var.equal = TRUE)$p.value, tolerance = 1e-4)
  expect_error(gpuCor(c(several, list(x[, -1])), method = "rv", groups = labels), "subject 7: 'x' has 15 columns")
})

test_that("missing values, infinite ones and constant groups have no coefficients", {
  whole <- gpuCor(x, method = "rv", groups = labels)
  gaps <- x
  gaps[3, 2] <- NA
  gaps[4, 16] <- NA # of no group
  r <- gpuCor(gaps, method = "rv", groups = labels)
  expect_identical(is.na(as.vector(r)), c(TRUE, TRUE, FALSE))
  expect_identical(r["early", "alone"], whole["early", "alone"])
  r <- gpuCor(gaps, method = "rv", groups = labels, use = "complete.obs")
  expect_identical(as.vector(r), as.vector(gpuCor(x[-3, ], method = "rv", groups = labels)))
  expect_identical(attr(r, "n_obs"), 39)
  expect_identical(as.vector(gpuCor(x, method = "rv", groups = labels, use = "pairwise")), as.vector(whole))
  expect_error(gpuCor(gaps, method = "rv", groups = labels, use = "pairwise"), "the same observations for all pairs")
  expect_error(gpuCor(gaps, method = "rv", groups = labels, use = "all.obs"), "missing observations")
  gaps[3, 2] <- Inf
  expect_warning(r <- gpuCor(gaps, method = "distance", groups = labels), "1 of 3 columns of 'x': late", fixed = TRUE)
  expect_identical(is.nan(as.vector(r)), c(TRUE, TRUE, FALSE))
  for (method in c("distance", "rv")) {
    gaps[, 1:4] <- rep(c(0.1, 1e5, 3, 1 / 3), each = 40)
    expect_warning(r <- gpuCor(gaps, method = method, groups = labels), "standard deviation is zero (1 of 3 columns",
                   fixed = TRUE)
    expect_identical(is.na(as.vector(r)), c(TRUE, TRUE, FALSE))
  }
})

test_that("a file and a sparse matrix have the coefficients of their values", {
  truth <- as.vector(gpuCor(x, method = "distance", groups = labels))
  file <- withr::local_tempfile()
  writeBin(as.vector(x), file)
  expect_identical(as.vector(gpuCor(gpuCorFile(file, dim = dim(x)), method = "distance", groups = labels)), truth)
  skip_if_not_installed("Matrix")
  sparse <- suppressMessages(gpuCor(methods::as(x, "CsparseMatrix"), method = "distance", groups = labels))
  expect_identical(as.vector(sparse), truth)
})

test_that("errors say what to do", {
  of <- function(...) gpuCor(x, ...)
  expect_error(of(method = "rv"), "give 'groups', a label for each column")
  expect_error(of(groups = labels), "for method = \"distance\" and \"rv\", not for \"pearson\"")
  expect_error(of(method = "distance of groups", groups = labels), "'method' must be one of")
  expect_error(of(method = "rv", groups = labels[-1]), "'groups' has 15 labels; there are 16 columns")
  expect_error(of(method = "rv", groups = as.list(labels)), "a vector with a label for each column")
  expect_error(of(method = "rv", groups = rep(1, 16)), "'groups' has 1 label; coefficients need at least two")
  expect_error(gpuCor(x[1:3, ], method = "rv", groups = labels), "at least 4 observations; there are 3")
  expect_error(gpuCorNetwork(x, method = "rv", groups = labels, threshold = 0, shards = 2), "not for plans or 'shards'")
  expect_error(gpuCorPlan(tempfile(), x, method = "rv", groups = labels, threshold = 0), "not for plans or 'shards'")
  expect_error(gpuCorWindows(x, method = "rv", groups = labels, width = 20), "does not take it, but gpuCor()",
               fixed = TRUE)
  expect_error(with_values(list(free_memory = function(...) 2^22),
                           gpuCor(x[rep(1:40, 10), ], method = "rv", groups = labels)),
               "'groups' takes .* pairs of observations")
})

test_that("subjects' columns, and names of groups, are those of the first data", {
  x <- matrix(sin(1:144), 24, dimnames = list(NULL, letters[1:6]))
  labels <- rep(c("A", "B", "C"), each = 2)
  expect_error(gpuCor(list(x, x[, 6:1]), method = "rv", groups = labels, combine = "mean"), "column 1 of 'x' is \"f\"")
  expect_error(gpuCor(x, method = "rv", groups = stats::setNames(labels, letters[6:1])), "in another order")
  expect_error(gpuCor(x, method = "rv", groups = stats::setNames(labels, LETTERS[1:6])), "other names than the columns")
  expect_identical(gpuCor(x, method = "rv", groups = stats::setNames(labels, letters[1:6]))[1, 2],
                   gpuCor(x, method = "rv", groups = labels)[1, 2])
  left_out <- gpuCor(x, method = "rv", groups = c(1, 1, 2, 2, NaN, NaN))
  expect_identical(attr(left_out, "Labels"), c("1", "2"))
})

test_that("what is printed is of groups", {
  x <- matrix(rnorm(80), 20)
  groups <- c("a", "b", "c", "a")
  expect_output(print(gpuCor(x, method = "rv", groups = groups)), "RV coefficient of 3 groups: 3 pairs")
  expect_output(print(gpuCorNetwork(x, method = "rv", groups = groups, threshold = 0.9)), "Network of 3 groups")
  expect_output(print(gpuConnectivity(x, method = "rv", groups = groups, threshold = 0.9)),
                "of 3 groups by bias-corrected RV coefficient")
})

test_that("an atlas groups voxels, as labels of its voxels do", {
  set.seed(3)
  img <- image_with_affine()
  atlas <- structure(array(sample(c(0L, 2L, 5L, 17L), 60, TRUE), c(5, 4, 3)), header = affine_header())
  inside <- atlas != 2 | slice.index(atlas, 3) > 1 # of label 2 only some voxels
  inside[1:5] <- FALSE
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  writeVoxels(atlas, at("atlas.nii"))
  writeVoxels(img, at("img.nii"))
  x <- voxelMatrix(img, inside)
  labels <- replace(atlas[inside], atlas[inside] == 0, NA)
  of <- function(groups, x, ...) gpuCor(x, method = "rv", groups = groups, ...)
  truth <- defined(x[, ], labels, "rv", c("2", "5", "17"))
  expect_lt(max(abs(of(atlas, x, output = "matrix") - truth)), 1e-6)
  expected <- of(factor(labels), x)
  same <- function(found, names = c("2", "5", "17")) {
    expect_identical(c(found), c(expected))
    expect_identical(labels(found), names)
  }
  same(of(atlas, x))
  same(of(atlas + 0, x))
  same(of(at("atlas.nii"), x))
  same(of(atlas, gpuCorFile(at("img.nii"), mask = inside + 0)))
  writeLines(c("index\tname", "17\tV1", "2\tV4"), at("atlas.tsv"))
  same(of(at("atlas.nii"), x), c("V4", "5", "V1"))
  subjects <- list(x, x[8:1, ])
  found <- of(atlas, subjects)
  expect_equal(c(found), c(of(factor(labels), subjects)))
  expect_error(of(atlas[1:4, , ], x), "'groups' is 4 x 4 x 3, but a volume of 'x' is 5 x 4 x 3")
  expect_error(of(atlas / 2, x), "'groups' must be labels, integers or text, not 2.5; resample")
  expect_error(of(at("none.nii"), x), "the file '.*none.nii' does not exist")
  expect_error(of(atlas, unclass(x)[, 1:9]), "'x' is a matrix (8 x 9) without the attribute \"mask\"", fixed = TRUE)
  expect_error(of(labels[-1], x), "'groups' has .* labels; there are")
  expect_error(of(atlas * 0, x), "no column of 'x' is in a parcel: 'groups' has 0 labels")
})
