# Maps of gpuConnectivity(): means of r, z and r^2, several thresholds, towards y, and eigenvector centrality.

quiet_maps <- function(...) suppressWarnings(gpuConnectivity(...))

# Means over the pairs that have a coefficient, NA where there is none.
mean_of <- function(r, f = identity) {
  mean <- rowMeans(f(r), na.rm = TRUE)
  replace(mean, is.nan(mean), NA)
}

limited_z <- function(r) pmax(pmin(atanh(r), 8), -8)

map_flaws <- function(con, r) {
  # Near +-1 the z of a coefficient that is off by 1e-6 may be anything beyond.
  z_error <- pmax(1e-5, rowMeans(abs(r) > 0.99, na.rm = TRUE))
  truth <- list(mean = mean_of(r), z = mean_of(r, limited_z), icc = mean_of(r, function(r) r^2))
  within <- list(mean = 2e-6, z = 4 * z_error, icc = 4e-6)
  unlist(lapply(names(truth), function(map) {
    ours <- unname(con[[map]])
    off <- abs(ours - unname(truth[[map]])) > within[[map]]
    if (!identical(is.na(ours), unname(is.na(truth[[map]]))) || any(off, na.rm = TRUE)) paste(map, "differs")
  }))
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "has the means of all coefficients"), {
    maps <- c("mean", "z", "icc")
    data <- list(normal = normal(25, 257), ties = heavy_ties(12, 65), constants = with_constants(normal(20, 64)),
                 duplicates = with_duplicates(normal(20, 40)), missing = with_missing(normal(20, 40), 0.05),
                 one = normal(9, 1))
    for (name in names(data)) {
      x <- data[[name]]
      use <- if (name == "missing") "pairwise.complete.obs" else "everything"
      con <- quiet_maps(x, maps = maps, method = method, use = use, backend = backend)
      r <- if (name == "one") matrix(NA_real_) else pair_cor(x, use = use, method = method)
      expect_identical(map_flaws(con, r), NULL, label = paste(method, name))
    }
    x <- data$missing # columns without any coefficient
    con <- quiet_maps(x, maps = "mean", method = method, backend = backend)
    expect_identical(is.na(con$mean), colSums(is.na(x)) > 0 | sum(colSums(is.na(x)) == 0) < 2)
  })

  test_that(paste(backend, method, "has the sums of several thresholds and densities in one pass"), {
    x <- with_constants(rounded(14, 130))
    y <- normal(14, 20, seed = 3)
    for (sign in all_signs) for (other in list(NULL, y)) {
      run <- function(...) quiet_maps(x, other, ..., sign = sign, method = method, backend = backend)
      levels <- c(0.5, 0, 0.2, 0.9)
      several <- run(threshold = levels)
      more <- run(threshold = levels, power = 2, histogram = TRUE, maps = c("icc", "mean"))
      for (k in seq_along(levels)) {
        one <- run(threshold = levels[k])
        expect_identical(several$degree[, k], one$degree)
        expect_identical(several$strength[, k], one$strength)
        expect_identical(several$edges[k], one$edges)
      }
      same <- c("degree", "strength", "edges", "threshold")
      expect_identical(more[same], several[same])
      densities <- run(density = c(0.01, 0.2))
      for (k in 1:2) {
        one <- run(density = c(0.01, 0.2)[k])
        expect_identical(densities$degree[, k], one$degree)
        expect_identical(densities$threshold[k], one$threshold)
      }
      many <- with_values(list(MAX_STORED = 0), run(density = c(0.01, 0.2)))
      expect_identical(many[same], densities[same])
    }
    expect_nothing_left()
  })

  test_that(paste(backend, method, "has maps towards y"), {
    x <- with_constants(normal(20, 130))
    y <- normal(20, 70, seed = 3)
    colnames(x) <- paste0("v", 1:130)
    r <- pair_cor(x, y, method = method)
    con <- quiet_maps(x, y, threshold = 0.3, power = c(1, 3), maps = c("mean", "z", "icc"), histogram = TRUE,
                      method = method, backend = backend)
    expect_identical(map_flaws(con, r), NULL)
    expect_identical(con$degree, rowSums(abs(r) >= 0.3, na.rm = TRUE))
    expect_equal(con$strength, rowSums(abs(r) * (abs(r) >= 0.3), na.rm = TRUE), tolerance = 1e-5)
    expect_equal(unname(con$soft), unname(cbind(rowSums(abs(r), na.rm = TRUE), rowSums(abs(r)^3, na.rm = TRUE))),
                 tolerance = 1e-5)
    expect_identical(con$edges, sum(con$degree))
    expect_identical(con$pairs, 130 * 70)
    expect_identical(sum(con$histogram$counts), as.numeric(sum(!is.na(r))))
    expect_identical(rownames(as.data.frame(con)), colnames(x))
    expect_output(print(con), "9,100 pairs")
  })
}

for (backend in backends()) {
  test_that(paste(backend, "has the same maps however the work is divided"), {
    x <- normal(15, 2100)
    run <- function(...) {
      gpuConnectivity(x, threshold = c(0.3, 0.6), maps = c("mean", "z", "icc"), backend = backend, ...)
    }
    expect_same_divided(run)
  })

  test_that(paste(backend, "has maps of the pairs that count, and of plans"), {
    x <- normal(15, 300)
    y <- normal(15, 90, seed = 2)
    labels <- list(sample(3, 300, TRUE), sample(3, 90, TRUE))
    same <- outer(labels[[1]], labels[[2]], "==")
    con <- gpuConnectivity(x, y, threshold = c(0.4, 0.1), maps = "mean", backend = backend,
                           pairs = pairMask(labels[[1]], y = labels[[2]], same = TRUE))
    r <- replace(cor(x, y), !same, NA)
    expect_equal(con$mean, rowMeans(r, na.rm = TRUE), tolerance = 1e-5)
    expect_identical(unname(con$degree[, 1]), rowSums(abs(r) >= 0.4, na.rm = TRUE))
    path <- tempfile("plan")
    quiet_plan(path, x, y, threshold = c(0.4, 0.1), maps = c("mean", "z"), verb = "gpuConnectivity", shards = 3)
    quiet_run(path, backend = backend)
    expect_collected(path, gpuConnectivity(x, y, threshold = c(0.4, 0.1), maps = c("mean", "z"), backend = backend))
    unlink(path, recursive = TRUE)
  })
}

test_that("a GPU's sums over all pairs have the processor's bytes", {
  skip_without_gpu()
  same <- function(x, y = NULL, method, ...) {
    run <- function(backend) {
      quiet_maps(x, y, power = c(6, 0.5, 1, 2.5), maps = c("z", "mean", "icc"), histogram = TRUE, method = method,
                 backend = backend, ...)
    }
    expect_identical(run("cuda"), run("cpu"))
  }
  # Tiles of 1,024 x 4,096 columns, cells of 8 x 32; 2,100 observations of Kendall's are not multiplied by one kernel.
  for (method in all_methods) {
    for (n_var in c(1, 2, 9, 33, 1100)) same(normal(12, n_var), method = method)
    same(normal(5, 5000), method = method, pairs = pairMask(rep_len(1:3, 5000), same = TRUE))
    same(normal(5, 5000), method = method, type = "signed")
    same(rounded(20, 1030), normal(20, 70, seed = 2), method = method, type = "signed hybrid")
    same(normal(20, 70, seed = 2), rounded(20, 1030), method = method)
    same(with_constants(heavy_ties(30, 130)), method = method, precision = "double")
    same(with_missing(rounded(30, 130), 0.1), normal(30, 40), method = method, use = "pairwise.complete.obs")
    same(with_missing(normal(30, 130), 0.1), method = method, use = "pairwise.complete.obs")
    same(with_infinite(rounded(30, 60)), method = method)
  }
  same(rounded(2100, 40), method = "kendall")
  expect_nothing_left()
})

# ---- eigenvectors

# By igraph, of a matrix of weights.
centrality <- function(weights) {
  weights[is.na(weights)] <- 0
  diag(weights) <- 0
  graph <- igraph::graph_from_adjacency_matrix(unname(weights), mode = "undirected", weighted = TRUE)
  igraph::eigen_centrality(graph)$vector
}

groups <- function(n_obs, n_var) {
  strength <- rep(c(2, 0.5), each = n_var %/% 2, length.out = n_var)
  normal(n_obs, n_var) + normal(n_obs, 4, seed = 4)[, rep(1:4, length.out = n_var)] * strength
}

test_that("eigenvector centrality of all pairs is igraph's", {
  skip_if_not_installed("igraph")
  for (method in c("pearson", "spearman")) for (precision in c("single", "double")) {
    for (x in list(groups(30, 80), with_constants(normal(12, 41)), -groups(9, 5))) {
      con <- quiet_maps(x, maps = "eigenvector", method = method, precision = precision)
      r <- pair_cor(x, method = method)
      known <- !is.na(con$eigenvector)
      expect_identical(known, rowSums(!is.na(r)) > 0)
      expect_equal(con$eigenvector[known], centrality((r + 1)[known, known]), tolerance = 1e-6)
    }
  }
  x <- groups(30, 80)
  x[2, 5] <- NA
  con <- gpuConnectivity(x, maps = c("mean", "eigenvector"), use = "complete.obs")
  expect_equal(con$eigenvector, centrality(pair_cor(x, use = "complete.obs") + 1), tolerance = 1e-6)
  expect_identical(con$n_obs, 29)
  expect_identical(gpuConnectivity(x, maps = "eigenvector", use = "complete.obs", threads = 1)$eigenvector,
                   con$eigenvector)
  expect_nothing_left()
})

test_that("eigenvector centrality of all pairs is the leading eigenvector of r + 1", {
  map <- function(x, ...) quiet_maps(x, maps = "eigenvector", precision = "double", ...)$eigenvector
  opposite <- normal(30, 1) %*% t(rep(c(1, -1), each = 4)) # r + 1 has two components
  data <- list(more_observations = groups(300, 7), few_observations = groups(4, 60), many = groups(20, 2500),
               constants = with_constants(groups(12, 41)), missing = with_missing(normal(30, 41), 0.02),
               small_gap = opposite + 1e-3 * normal(30, 8), pair = normal(9, 2), one = normal(9, 1))
  for (name in names(data)) {
    x <- data[[name]]
    known <- unname(apply(x, 2, stats::sd) > 0) %in% TRUE
    e <- eigen(stats::cor(x[, known, drop = FALSE]) + 1, symmetric = TRUE)
    gap <- if (name == "one") 1 else 1 - e$values[2L] / e$values[1L]
    if (name == "small_gap") expect_lt(gap, 1e-4)
    first <- e$vectors[, 1L] / e$vectors[which.max(abs(e$vectors[, 1L])), 1L]
    found <- map(x)
    expect_identical(is.na(found), !known, label = name)
    expect_lt(max(abs(found[known] - first)), 2e-12 / gap, label = name)
    expect_identical(map(x, threads = 1), found)
    expect_lt(max(abs(map(x[, rev(seq_along(found)), drop = FALSE]) - rev(found)), na.rm = TRUE), 4e-12 / gap)
  }
  expect_equal(map(opposite), rep(1, 8), tolerance = 1e-12) # the components have equal eigenvalues
  expect_identical(map(matrix(1, 5, 3)), rep(NA_real_, 3))
})

for (backend in backends()) {
  test_that(paste(backend, "has the eigenvector centrality of networks as igraph has it"), {
    skip_if_not_installed("igraph")
    x <- groups(20, 90)
    colnames(x) <- paste0("v", 1:90)
    for (method in all_methods) for (sign in c("absolute", "positive")) {
      con <- gpuConnectivity(x, threshold = c(0.3, 0.1), maps = "eigenvector", method = method, sign = sign,
                             backend = backend)
      for (k in 1:2) {
        net <- gpuCorNetwork(x, threshold = c(0.3, 0.1)[k], method = method, sign = sign, backend = backend)
        expect_equal(unname(con$eigenvector[, k]), centrality(abs(as.matrix(net))), tolerance = 1e-6)
      }
      density <- gpuConnectivity(x, density = 0.2, maps = c("eigenvector", "icc"), method = method, sign = sign,
                                 backend = backend)
      net <- gpuCorNetwork(x, density = 0.2, method = method, sign = sign, backend = backend)
      expect_equal(unname(density$eigenvector), centrality(abs(as.matrix(net))), tolerance = 1e-6)
      expect_named(density$eigenvector, colnames(x))
    }
    pairs <- pairMask(rep(1:3, 30), same = TRUE)
    con <- gpuConnectivity(x, threshold = 0.2, maps = "eigenvector", pairs = pairs, backend = backend)
    net <- gpuCorNetwork(x, threshold = 0.2, pairs = pairs, backend = backend)
    expect_equal(unname(con$eigenvector), centrality(abs(as.matrix(net))), tolerance = 1e-6)
    expect_identical(gpuConnectivity(x, threshold = 1, maps = "eigenvector", backend = backend)$eigenvector,
                     stats::setNames(numeric(90), colnames(x)))
  })
}

test_that("what maps there are not is said", {
  x <- normal(10, 6)
  for (bad in list("max", c("mean", "max"), 1, TRUE, NA, quote(z), sum)) {
    expect_error(gpuConnectivity(x, maps = bad), "'maps' must be some of \"mean\", \"z\", \"icc\", \"eigenvector\"")
  }
  expect_error(gpuConnectivity(x, x, maps = "eigenvector"), "leave out 'y'")
  expect_error(gpuConnectivity(x, maps = "eigenvector", pairs = pairMask(rep(1:2, 3), same = TRUE)),
               "is of all pairs; with 'pairs'")
  expect_error(gpuConnectivity(x, maps = "eigenvector", method = "kendall"), "by method = \"kendall\" would take all")
  for (method in c("coherence", "concordance")) { # no products of columns
    expect_error(gpuConnectivity(normal(40, 6), maps = "eigenvector", method = method), "would take all of them")
  }
  x[1, 1] <- NA
  expect_error(gpuConnectivity(x, maps = "eigenvector", use = "pairwise"), "observations of its own")
  expect_error(gpuCorPlan(tempfile(), x, maps = "eigenvector", verb = "gpuConnectivity"), "cannot be in a plan")
  expect_error(gpuConnectivity(x, threshold = 1:33 / 33), "'threshold' has 33 values; ask for at most 32")
  expect_error(gpuConnectivity(x, x[1:4, ], threshold = 0.5), "incompatible dimensions")
  expect_nothing_left()
})
