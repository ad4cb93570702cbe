# Columns p.value and fdr of networks that were chosen by them.

# Every pair's p values of gpuCorTest(), and these adjusted over all pairs.
all_tests <- function(x, y = NULL, ...) {
  frame <- as.data.frame(suppressWarnings(gpuCorTest(x, y, ..., precision = "double")))
  frame$fdr <- stats::p.adjust(frame$p.value, "BH", n = sum(!is.na(frame$r)))
  frame
}

# Edges, in another order, are those of the pairs that have at most `value` in the column, with the same p values.
expect_tests <- function(edges, all, column, value, sign, label) {
  own <- !is.na(all$p.value) & all[[column]] <= value & all$r * sign >= 0
  expect_gt(sum(own), 0, label = label)
  key <- function(frame) paste(frame$from, frame$to)
  expect_setequal(key(edges), key(all)[own])
  truth <- all[match(key(edges), key(all)), ]
  expect_equal(edges$p.value, truth$p.value, tolerance = 1e-9, info = label)
  if (column == "fdr") expect_equal(edges$fdr, truth$fdr, tolerance = 1e-9, info = label)
  expect_identical(names(edges), c("from", "to", "r", "p.value", if (column == "fdr") "fdr"))
  expect_true(all(edges[[column]] <= value), label = label)
}

# Columns that share one of four factors, by both signs.
related <- function(n_obs, n_var) {
  loadings <- matrix(0, 4, n_var)
  loadings[cbind(rep_len(1:4, n_var), seq_len(n_var))] <- rep_len(c(1, -1, 0.5), n_var)
  normal(n_obs, n_var) + normal(n_obs, 4, seed = 2) %*% loadings
}

datasets <- list(
  complete = related(25, 14),
  ties = round(related(25, 14)),
  missing = with_missing(related(25, 14), 0.1),
  few = related(12, 14),
  few_ties = cbind(related(12, 12), round(related(12, 2))),
  few_missing = with_missing(related(18, 14), 0.07)
)

test_that("edges have the p values of all pairs", {
  rows <- covering(kind = names(datasets), method = all_methods, sign = all_signs, column = c("p.value", "fdr"),
                   sides = c("x", "x, y"))
  for_rows(rows, function(kind, method, sign, column, sides, label) {
    x <- datasets[[kind]]
    use <- if (anyNA(x)) "pairwise" else "everything"
    y <- if (sides == "x, y") x[, 10:14]
    if (sides == "x, y") x <- x[, 1:9]
    all <- all_tests(x, y, use = use, method = method)
    value <- 0.2
    given <- c(list(x, y, sign = sign, use = use, method = method, precision = "double"), by_criterion(column, value))
    net <- do.call(gpuCorNetwork, given)
    side <- c(absolute = 0, positive = 1, negative = -1)[[sign]]
    expect_tests(as.data.frame(net), all, column, value, side, label)
    expect_identical(do.call(gpuCorNetwork, c(given, output = "edges")), as.data.frame(net))
  })
})

test_that("degrees of freedom of covariates, given ones and estimated ones are those of the edges", {
  x <- related(40, 16)
  z <- normal(40, 2, seed = 3)
  for (given in list(list(covariates = z), list(df = 20), list(df = "bartlett"), list(weights = rep(1:4, 10)))) {
    all <- do.call(all_tests, c(list(x), given))
    for (sign in all_signs) {
      edges <- do.call(gpuCorNetwork, c(list(x, fdr = 0.1, sign = sign, output = "edges", precision = "double"), given))
      expect_tests(edges, all, "fdr", 0.1, c(absolute = 0, positive = 1, negative = -1)[[sign]],
                   paste(names(given), sign))
    }
  }
})

test_that("thousands of edges, by single precision, have the p values of their coefficients", {
  x <- related(50, 100)
  edges <- gpuCorNetwork(x, fdr = 0.5, output = "edges")
  expect_gt(nrow(edges), 1000)
  expect_equal(edges$p.value, 2 * stats::pt(-abs(gpuTtest(50, edges$r)), 48), tolerance = 1e-12)
  expect_equal(edges$fdr, stats::p.adjust(edges$p.value, "BH", choose(100, 2)), tolerance = 1e-15)
})

test_that("pairs of a coefficient of zero count once among the ranks of both signs", {
  x <- heavy_ties(12, 30)[, -15]
  for (method in c("kendall", "spearman")) for (sign in all_signs) {
    edges <- gpuCorNetwork(x, fdr = 1, sign = sign, method = method, output = "edges", precision = "double")
    expect_tests(edges, all_tests(x, method = method), "fdr", 1, c(absolute = 0, positive = 1, negative = -1)[[sign]],
                 paste(method, sign))
  }
})

test_that("edges of combined subjects and of differences have adjusted p values", {
  subjects <- lapply(1:4, function(s) related(30, 12) + normal(30, 12, seed = s))
  all <- as.data.frame(gpuCor(subjects, combine = "fisher"))
  all$p <- 2 * stats::pnorm(-abs(atanh(all$r)) * sqrt(sum(rep(30 - 3, 4))))
  all$fdr <- stats::p.adjust(all$p, "BH")
  edges <- gpuCorNetwork(subjects, combine = "fisher", fdr = 0.05, output = "edges", effects = "fixed")
  expect_identical(nrow(edges), sum(all$fdr <= 0.05))
  expect_equal(edges$p.value, sort(all$p)[seq_len(nrow(edges))], tolerance = 1e-6)
  expect_equal(edges$fdr, sort(all$fdr)[seq_len(nrow(edges))], tolerance = 1e-6)

  x <- normal(60, 12)
  y <- related(60, 12)
  all <- as.data.frame(gpuCorCompare(x, y))
  for (sign in all_signs) {
    expect_warning(edges <- gpuCorCompare(x, y, fdr = 0.3, sign = sign, output = "edges"), "normal distribution")
    expect_gt(nrow(edges), 0)
    truth <- all[match(paste(edges$from, edges$to), paste(all$from, all$to)), ]
    expect_equal(edges$fdr, truth$fdr, tolerance = 1e-6)
    expect_equal(edges$p.value, truth$p.value, tolerance = 1e-6)
  }
  expect_false("fdr" %in% names(gpuCorCompare(x, y, p.value = 0.1, output = "edges")))
})

test_that("the threshold of exact p values lies between two coefficients", {
  x <- related(12, 60)
  all <- gpuCorTest(x, method = "spearman")
  step <- 2 * 6 / (12^3 - 12)
  for (value in c(0.5, 0.05, 1e-3, 1e-4)) {
    net <- gpuCorNetwork(x, p.value = value, method = "spearman")
    least <- min(abs(all$r[all$p.value <= value]))
    expect_equal(net@threshold, least - step / 2, tolerance = 1e-6)
    expect_identical(net@edges, sum(abs(all$r) >= net@threshold) + 0)
  }
  none <- gpuCorNetwork(x, p.value = 1 / factorial(12), method = "spearman")
  expect_identical(none@edges, 0)
  expect_identical(none@threshold, NA_real_)
  # Of at most 1 / 360: those of the same order, whose p value is 2 / 6!.
  same <- cbind(1:6, 1:6, 6:1, c(2, 1, 3:6))
  expect_identical(gpuCorNetwork(same, p.value = 1 / 360, method = "spearman")@edges, 3)
  expect_identical(gpuCorNetwork(same, fdr = 2 / 360, method = "spearman")@edges, 3)
})

# Of so many columns a sample tells which pairs one pass stores. Its margin can be too small, so that a second pass
# follows; and a store may hold too few edges for it.
test_that("one pass over all pairs finds the edges of two, whatever the sample told", {
  for (is_tied in c(FALSE, TRUE)) for (loading in c(0, 0.3, 1)) {
    x <- normal(30, 500) + normal(30, 1)[, 1] %o% (loading * (1:500 > 300))
    if (is_tied) x <- round(x)
    x[, 1] <- 1
    for (method in c("pearson", "kendall")) {
      network <- function(fdr = 0.05) {
        net <- suppressWarnings(gpuCorNetwork(x, fdr = fdr, method = method, backend = "cpu"))
        list(net@p, net@i, net@x, net@threshold, as.data.frame(net))
      }
      two <- with_values(list(MAX_STORED = -1), network())
      expect_identical(network(), two)
      expect_identical(with_values(list(FDR_MARGIN = 1e-9, FDR_EDGES = 1e-9), network()), two)
      r <- quick_cor(x, method)
      expect_identical(order(-abs(two[[5]]$r)), seq_along(two[[5]]$r))
      expect_equal(two[[5]]$r, r[as.matrix(two[[5]][c("from", "to")])], tolerance = 1e-6)
    }
  }
})

test_that("networks without edges have the same columns, and others than by p values none", {
  x <- normal(20, 10)
  expect_named(gpuCorNetwork(x, fdr = 1e-300, output = "edges"), c("from", "to", "r", "p.value", "fdr"))
  expect_named(gpuCorNetwork(x, p.value = 1e-300, output = "edges"), c("from", "to", "r", "p.value"))
  expect_named(gpuCorNetwork(round(x), fdr = 1e-9, method = "kendall", output = "edges"),
               c("from", "to", "r", "p.value", "fdr"))
  for (given in list(list(threshold = 0.1), list(density = 0.1), list(k = 1))) {
    expect_named(do.call(gpuCorNetwork, c(list(x, output = "edges"), given)), c("from", "to", "r"))
  }
})

test_that("the threshold and the network's own coefficients tell edges; with double precision those of gpuCor() do", {
  x <- related(25, 60)
  for (given in list(list(density = 0.1), list(fdr = 0.1), list(p.value = 0.01))) for (method in all_methods) {
    all <- suppressWarnings(gpuCor(x, method = method, precision = "double"))
    net <- do.call(gpuCorNetwork, c(list(x, method = method, precision = "double"), given))
    expect_identical(sum(abs(all) >= net@threshold) + 0, net@edges)
  }
})

test_that("false discovery rates are those of p.adjust(), to the byte", {
  set.seed(4)
  for (p in list(runif(500)^3, round(runif(500), 2), c(NA, runif(20), NA, 1, 0), sort(runif(500)^2),
                 sort(round(runif(500), 1)), c(NA, round(runif(12000)^4, 5), 0, NaN, 1e-310), 0.3, NA_real_,
                 numeric())) {
    expect_identical(gpucor:::false_discovery_rates(p), p.adjust(p, "BH"))
    if (length(p) > 1) expect_identical(gpucor:::false_discovery_rates(p, 2e4, 2L), p.adjust(p, "BH", 2e4))
  }
})
