# Networks of real expression and fMRI data, where installed.

expression <- NULL # of all probe sets, once they are read
all_genes <- function(n) {
  if (is.null(expression)) expression <<- get("exprs", attr(package_data("ALL", "ALL"), "assayData"))
  t(expression[seq_len(n), ])
}

# Two-sided.
double_p <- function(x, r, method) {
  if (method == "kendall") return(reference_p(x, method = method))
  p <- 0 * r
  once <- r[upper.tri(r)]
  p[upper.tri(p)] <- if (method == "spearman") {
    moments_p(once, nrow(x))
  } else {
    2 * stats::pt(-abs(once) * sqrt((nrow(x) - 2) / ((1 - once) * (1 + once))), nrow(x) - 2)
  }
  p + t(p)
}

# The rules of criteria, on coefficients in double.
expect_real_networks <- function(x, method, asked, r, within, label) {
  for (backend in backends()) for (criterion in names(asked)) {
    p <- if (criterion == "fdr") double_p(x, r, method)
    truth <- reference_network(r, criterion, asked[[criterion]], p = p, within = within)
    net <- do.call(quiet_network, c(list(x, method = method, backend = backend),
                                    by_criterion(criterion, asked[[criterion]])))
    expect_network(net, r, truth$keep, tolerance[[method]], truth$near,
                   label = paste(backend, label, method, criterion))
    expect_gt(net@edges, 100)
    if (criterion == "density") {
      k <- ceiling(asked$density * net@pairs)
      expect_gte(net@edges, k)
      expect_lt(sum(abs(net@x) > net@threshold), k)
      expect_identical(min(abs(net@x)), net@threshold)
    }
  }
  expect_nothing_left()
}

asked <- list(threshold = 0.5, density = 0.001, k = 10, fdr = 0.001)

n_genes <- if (full_tier()) 1200 else 400

test_that("ALL: probe sets of 128 patients, Pearson and Spearman", {
  x <- all_genes(n_genes)
  asked$density <- 1000 / choose(n_genes, 2)
  expect_real_networks(x, "pearson", asked, pair_cor(x), 1e-6, "ALL")
  x <- x[, seq_len(if (full_tier()) 800 else 300)]
  asked$density <- 0.01
  expect_real_networks(x, "spearman", asked, quick_pair_cor(x, "spearman"), 1e-6, "ALL")
})

test_that("ALL: probe sets, Kendall", {
  x <- all_genes(if (full_tier()) 400 else 200)
  asked$threshold <- 0.3
  asked$density <- 0.01
  expect_real_networks(x, "kendall", asked, exact_cor(x, method = "kendall"), 1e-12, "ALL")
})

test_that("ALL: connectivity of probe sets", {
  x <- all_genes(n_genes)
  r <- pair_cor(x)
  for (backend in backends()) {
    con <- gpuConnectivity(x, density = 0.001, power = c(6, 1), histogram = TRUE, backend = backend)
    net <- gpuCorNetwork(x, density = 0.001, backend = backend)
    expect_identical(con$threshold, net@threshold)
    expect_identical(con$degree, Matrix::rowSums(net != 0) + 0)
    expect_identical(names(con$degree), colnames(x))
    expect_equal(con$soft[, 1], rowSums(r^6, na.rm = TRUE), tolerance = 1e-5)
    expect_equal(con$soft[, 2], rowSums(abs(r), na.rm = TRUE), tolerance = 1e-6)
    expect_identical(sum(con$histogram$counts), choose(n_genes, 2))
  }
})

test_that("fMRI with ties and constant voxels", {
  x <- coarse_voxels()
  constant <- sum(apply(x, 2, function(v) all(v == v[1])))
  expect_gt(constant, 0)
  for (backend in backends()) {
    said <- warnings_of(gpuCorNetwork(x, density = 0.01, backend = backend))
    expect_length(said, 1)
    expect_match(said, paste0("zero (", constant, " of 1071 columns of 'x': "), fixed = TRUE)
  }
  expect_real_networks(x, "pearson", list(density = 0.01, k = 5, threshold = 0.6), pair_cor(x), 1e-6, "fMRI")
  # Whole numbers with many ties: scores that are the same for thousands of pairs.
  few <- x[1:12, 301:1000]
  for (method in c("kendall", "spearman")) {
    r <- exact_cor(few, method = method)
    truth <- reference_network(r, "density", 0.01)
    for (backend in backends()) {
      net <- quiet_network(few, density = 0.01, method = method, backend = backend)
      expect_network(net, r, truth$keep, 0, label = paste(backend, "few scans", method))
    }
  }
})

test_that("the ranks of fMRI with ties and constant voxels", {
  x <- coarse_voxels()
  constant <- sum(apply(x, 2, function(v) all(v == v[1])))
  for (backend in backends()) {
    expect_warning(net <- gpuCorNetwork(x, density = 0.01, method = "spearman", backend = backend),
                   paste0("zero (", constant, " of 1071 columns of 'x': "), fixed = TRUE)
    k <- ceiling(0.01 * choose(ncol(x), 2))
    expect_gte(net@edges, k)
    expect_lt(sum(abs(net@x) > net@threshold), k)
    expect_identical(min(abs(net@x)), net@threshold)
    pairs <- as.data.frame(net)[round(seq(1, net@edges, length.out = 300)), ]
    names <- if (is.null(colnames(x))) seq_len(ncol(x)) else colnames(x)
    pairs <- list(i = match(pairs$from, names), j = match(pairs$to, names), r = pairs$r)
    expect_pairs_like_cor(pairs$r, pairs, x, method = "spearman")
  }
})
