# Mutual information of binned columns, beside contingency tables written out in R.

# The number of bins without options.
default_bins <- function(n) min(16, max(2, round(n^(1 / 3))))

bins_of <- function(x, bins) {
  levels <- sort(unique(x))
  if (length(levels) <= bins) return(match(x, levels) - 1)
  floor(bins * (rank(x, na.last = "keep") - 0.5) / sum(!is.na(x)))
}

# In nats, of two columns' bins from 0; NA if one has a single bin in the rows that both have.
information <- function(a, b) {
  both <- !is.na(a) & !is.na(b)
  cells <- matrix(tabulate(1 + a[both] + 20 * b[both], 400), 20)
  cells <- cells[rowSums(cells) > 0, colSums(cells) > 0, drop = FALSE]
  if (min(dim(cells)) < 2) return(NA_real_)
  p <- cells / sum(cells)
  sum((p * log(p / outer(rowSums(p), colSums(p))))[cells > 0])
}

nats <- function(r) -log1p(-r^2) / 2

# use "everything": columns with missing values have no coefficient.
reference_mi <- function(x, bins, pairwise) {
  binned <- apply(x, 2, bins_of, bins)
  if (!pairwise) binned[, colSums(is.na(x)) > 0] <- NA
  pairs <- utils::combn(ncol(x), 2)
  mapply(function(i, j) information(binned[, i], binned[, j]), pairs[1, ], pairs[2, ])
}

mi <- function(x, y = x, bins = default_bins(nrow(x)), pairwise = FALSE) {
  one <- Vectorize(function(i, j) {
    if (!pairwise && (anyNA(x[, i]) || anyNA(y[, j]))) NA else information(x[, i], y[, j], bins)
  })
  outer(seq_len(ncol(x)), seq_len(ncol(y)), one)
}

mi <- function(...) suppressWarnings(gpuCor(..., method = "mi"))

expect_mi <- function(x, label = "", use = "everything", bins = default_bins(nrow(x)), options = NULL,
                      backend = "cpu") {
  found <- as.vector(mi(x, use = use, options = options, backend = backend))
  truth <- reference_mi(x, bins, pairwise = use == "pairwise.complete.obs")
  expect_identical(is.na(found), is.na(truth), label = label)
  expect_lt(max(0, abs(nats(found) - truth), na.rm = TRUE), 1e-12, label = label)
}

test_that("coefficients are those of contingency tables, for every kind of data", {
  for (backend in backends()) for (n_obs in c(9, 64, 65, 501)) {
    data <- kinds_of_data(n_obs, 17)
    for (name in names(data)) for (use in c("everything", "pairwise.complete.obs")) {
      expect_mi(data[[name]], paste(name, n_obs, use), use, backend = backend)
    }
  }
  expect_nothing_live()
})

test_that("the number of bins is an option, and columns of few values keep them", {
  x <- normal(200, 12)
  x[, 2] <- x[, 1]^2
  x[, 3] <- rep_len(c(2, 5, 5, 9), 200) + (x[, 1] > 1)
  for (bins in c(2, 3, 10, 16)) expect_mi(x, bins, bins = bins, options = list(bins = bins))
  expect_identical(mi(x, options = list(bins = NULL)), mi(x))
  groups <- cbind(a = rep(1:4, 50), b = rep(c(7, 7, 1, 1), 50), c = rep(1:5, each = 40))
  expect_equal(nats(mi(groups)[1:3]), c(log(2), 0, 0), tolerance = 1e-14)
  expect_identical(mi(groups)[2:3], c(0, 0)) # exactly
})

test_that("ties share a bin, and bins do not depend on a monotone transformation", {
  x <- rounded(101, 10)
  expect_identical(as.vector(mi(exp(x))), as.vector(mi(x)))
  distinct <- normal(96, 10) # without values on a boundary, the other end is as good
  expect_identical(as.vector(mi(-distinct, options = list(bins = 4))),
                   as.vector(mi(distinct, options = list(bins = 4))))
})

test_that("bivariate normal data have about the absolute correlation", {
  x <- normal(20000, 2)
  x[, 2] <- -0.8 * x[, 1] + 0.6 * x[, 2]
  expect_equal(mi(x)[1], 0.8, tolerance = 0.02)
})

test_that("a constant column has no coefficient, with the usual warning", {
  x <- cbind(normal(20, 3), 7)
  expect_warning(r <- gpuCor(x, method = "mi", output = "matrix"),
                 "the standard deviation is zero (1 of 4 columns of 'x': 4)", fixed = TRUE)
  expect_identical(is.na(r[4, ]), c(TRUE, TRUE, TRUE, FALSE))
  expect_identical(unname(diag(r)), rep(1, 4))
  x[, 4] <- c(NA, rep(1, 10), rep(2, 9))
  x[12:20, 1] <- NA # the fourth is constant where the first has values
  expect_warning(r <- gpuCor(x, method = "mi", use = "pairwise", output = "matrix"), "a column is constant")
  expect_identical(is.na(r[4, ]), c(TRUE, FALSE, FALSE, FALSE))
})

test_that("x and y, and the other functions of coefficients, have the same numbers", {
  x <- with_duplicates(rounded(60, 40))
  r <- mi(x, output = "matrix")
  rectangle <- mi(x[, 1:15], x[, 16:40])
  expect_identical(rectangle, r[1:15, 16:40])
  expect_identical(as.vector(gpuCorTriangle(x, method = "mi")), as.vector(mi(x)))
  expect_equal(as.vector(gpuDist(t(x), method = "mi")), 1 - as.vector(mi(x)))
  expect_identical(mi(x, use = "complete.obs", output = "matrix"), r)
  weights <- rep(c(1, 0, 1), 20)
  expect_identical(as.vector(mi(x, weights = weights)), as.vector(mi(x[weights > 0, ])))
  subjects <- gpuCor(list(x, x[1:30, ]), combine = "mean", method = "mi")
  expect_equal(as.vector(subjects), (as.vector(mi(x)) + as.vector(mi(x[1:30, ]))) / 2, tolerance = 1e-6)
  windows <- gpuCorWindows(x, width = 30, step = 30, method = "mi", output = "dist")
  expect_equal(as.vector(windows[[2]]), as.vector(mi(x[31:60, ])))
})

test_that("networks are those of the coefficients", {
  x <- normal(100, 80)
  x[, 2:9] <- x[, 1]^2 + x[, 2:9] / 2
  r <- no_diagonal(mi(x, output = "matrix"))
  for (criterion in list(list("threshold", 0.4), list("density", 0.05), list("k", 3))) {
    net <- do.call(gpuCorNetwork, c(list(x, method = "mi"), by_criterion(criterion[[1]], criterion[[2]])))
    expect_network(net, r, reference_network(r, criterion[[1]], criterion[[2]])$keep, 1e-12, label = criterion[[1]])
  }
  found <- gpuConnectivity(x, method = "mi", power = 2)$soft
  expect_equal(as.vector(found), rowSums(r^2, na.rm = TRUE), tolerance = 1e-6, ignore_attr = TRUE)
})

test_that("plans, pair masks and sparse matrices have the same numbers", {
  x <- normal(60, 150)
  net <- gpuCorNetwork(x, k = 3, method = "mi")
  path <- tempfile("plan-")
  on.exit(unlink(path, recursive = TRUE))
  quiet_plan(path, x, k = 3, method = "mi", verb = "gpuCorNetwork", shards = 4)
  quiet_run(path)
  expect_collected(path, net)
  group <- rep(1:3, 50)
  masked <- gpuCorNetwork(x, threshold = 0, method = "mi", pairs = pairMask(group, different = TRUE))
  others <- replace(mi(x, output = "matrix"), outer(group, group, "=="), NA)
  expect_equal(values_of(masked), others, tolerance = 1e-12, ignore_attr = TRUE)
  sparse <- Matrix::Matrix(round(x), sparse = TRUE)
  expect_identical(as.vector(suppressMessages(mi(sparse))), as.vector(mi(round(x))))
})

test_that("results do not depend on precision, threads, memory, panels or instructions", {
  x <- with_constants(rounded(70, 600))
  gaps <- with_missing(x, 0.05)
  for (run in list(function(...) mi(x, ...), function(...) mi(gaps, use = "pairwise", ...),
                   function(...) suppressWarnings(gpuCorNetwork(x, density = 0.02, method = "mi", ...)))) {
    first <- run(threads = 1L)
    expect_same <- function(...) expect_equal(run(...), first, tolerance = 0, ignore_attr = TRUE)
    expect_same(threads = 3L)
    expect_same(threads = 1L, memory = 1e5)
    expect_same(threads = 1L, precision = "double")
    for (set in gpuInfo()$instructions) with_env(c(GPUCOR_CPU = set), expect_same(threads = 2L))
  }
  expect_nothing_live()
})

test_that("p values are those of permutation, and an error otherwise", {
  x <- normal(80, 8)
  x[, 2] <- x[, 1]^2 + x[, 2] / 10
  set.seed(1)
  test <- gpuCorTest(x, method = "mi", adjust = "maxT", n_perm = 99)
  expect_identical(as.vector(test$r), as.vector(mi(x)))
  expect_null(test$p.value)
  expect_null(test$statistic)
  expect_identical(as.vector(test$n), rep(80, 28))
  expect_identical(test$p.adjusted[1], 0.01)
  expect_gt(min(test$p.adjusted[-1]), 0.05)
  expect_named(as.data.frame(test), c("from", "to", "r", "n", "p.adjusted"))
  expect_output(print(test), "smallest p:\n +from +to +r +n p.adjusted\n +1 +2 ")
  expect_identical(summary(test)$significant, c(permutation = 1L))
  none <- "p values of method = \"mi\" have no known distribution; adjust = \"maxT\" finds them by permutation"
  expect_error(gpuCorTest(x, method = "mi"), none, fixed = TRUE)
  expect_error(gpuCor(x, method = "mi", test = TRUE), none, fixed = TRUE)
  expect_error(mi(x)$p.value, none, fixed = TRUE)
  for (p in list(list(p.value = 0.01), list(fdr = 0.05))) {
    expect_error(do.call(gpuCorNetwork, c(list(x, method = "mi"), p)), fixed = TRUE,
                 paste0(none, ", in gpuCorTest(), gpuAssociation(), and gpuCorNetwork() with 'p.value'"))
    expect_error(do.call(gpuCorNetwork, c(list(list(x, x), method = "mi", combine = "fisher"), p)), none, fixed = TRUE)
  }
  expect_error(gpuAssociation(x, data.frame(a = x[, 1]), method = "mi"), none, fixed = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(test)) # the adjusted ones
  expect_error(gpuCorCompare(x, x, method = "mi"), "method = \"mi\" has no Fisher's z to compare")
})

test_that("what the measure does not take is refused", {
  x <- normal(30, 4)
  expect_error(mi(x, weights = 1:30), "method = \"mi\" takes no 'weights' other than 0 and 1: it counts observations",
               fixed = TRUE)
  expect_error(mi(x, covariates = 1:30), "takes no 'covariates', 'bandpass' or 'runs'", fixed = TRUE)
  expect_error(mi(x, options = list(bins = 2.5)), "'bins' must be a whole number between 2 and 16, not 2.5")
  expect_error(mi(x, options = list(bins = 17)), "'bins' must be a whole number between 2 and 16, not 17")
  expect_error(gpuConnectivity(x, method = "mi", maps = "eigenvector"), "eigenvector of all coefficients by method")
})

test_that("after any failure nothing is left, and the message says what to do", {
  x <- normal(40, 20)
  gaps <- with_missing(x, 0.05)
  for (run in list(function() as.vector(mi(x)), function() as.vector(mi(gaps, use = "pairwise")))) {
    messages <- walk_failures(run, "host", "mi")
    expect_match(messages, ways_out[["host"]], all = TRUE)
  }
})
