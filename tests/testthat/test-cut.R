# The cut of gpuModules() beside dynamicTreeCut::cutreeDynamic(method = "hybrid"), its reference.

package_cut <- function(tree, d, cut) {
  arguments <- c(list(dendro = tree, distM = as.matrix(d), method = "hybrid", verbose = 0), cut)
  utils::capture.output(labels <- do.call(dynamicTreeCut::cutreeDynamic, arguments))
  as.integer(labels)
}

engine_cut <- function(tree, d, cut, threads = 1L) {
  .Call(gpucor:::r_cut_tree, as.double(d), FALSE, tree$merge, tree$height, cut_rules(tree$height, cut), threads)
}

# Genes that follow one of four factors, and some that follow none.
genes_by_factor <- function() {
  set.seed(1)
  factors <- cbind(matrix(rnorm(200), 50), 0)
  matrix(rnorm(50 * 240), 50) + factors[, rep(1:5, c(80, 60, 40, 20, 40))] * rep(rexp(240, 0.5), each = 50)
}

one_of <- function(...) list(...)[[sample.int(...length(), 1)]]

# Distances of points about some centers: as they are, with many ties, between 0 and 1, or equal to a few of these.
clustered_distances <- function(n, kind) {
  centers <- matrix(rnorm(24) * one_of(0, 1, 2, 5), 8)
  x <- centers[sample(8, n, TRUE), , drop = FALSE] + matrix(rnorm(3 * n), n) * runif(n) * one_of(0.1, 0.5, 1)
  switch(kind, dist(x), dist(round(x)), dist(round(x, 1), "manhattan"), 1 - exp(-dist(x)),
         round(1 - exp(-dist(round(x)) / 2), 1))
}

random_cut <- function(d, height) {
  maybe <- function(name, value) if (runif(1) < 0.2) stats::setNames(list(value), name)
  c(list(deepSplit = one_of(0, 1, 2, 3, 4, 2.5, runif(1, 0, 4)),
         cutHeight = one_of(NULL, quantile(height, runif(1, 0.3, 1), names = FALSE), 1.1 * max(height)),
         minClusterSize = one_of(1, 2, 2.5, 3, 5, 10, 20, length(height) / 2), pamStage = one_of(TRUE, TRUE, FALSE),
         pamRespectsDendro = one_of(TRUE, FALSE)),
    maybe("maxPamDist", one_of(NULL, 0, max(d) / 2, quantile(d, 0.1, names = FALSE))),
    maybe("respectSmallClusters", FALSE), maybe("minSplitHeight", runif(1)), maybe("minGap", runif(1, 0, 0.3)),
    maybe("maxCoreScatter", runif(1)), maybe("minAbsSplitHeight", one_of(height[1], max(height) / 2)),
    maybe("maxAbsCoreScatter", d[1]), maybe("minAbsGap", d[1] / 10))
}

test_that("the engine cuts trees as dynamicTreeCut does", {
  skip_if_not_installed("dynamicTreeCut")
  clusters <- integer()
  for (seed in seq_len(if (full_tier()) 700 else 100)) {
    set.seed(seed)
    n <- one_of(2, 3, 4, 5, 8, sample(10:60, 1), sample(60:200, 1), sample(60:400, 1))
    d <- clustered_distances(n, 1 + seed %% 5)
    tree <- gpuHclust(d, one_of("average", "complete", "single", "mcquitty"))
    cut <- random_cut(d, tree$height)
    theirs <- package_cut(tree, d, cut)
    expect_identical(engine_cut(tree, d, cut), theirs, label = paste("labels of seed", seed))
    expect_identical(engine_cut(tree, d, cut, 2L), theirs)
    clusters <- c(clusters, max(theirs))
  }
  expect_true(all(c(0:3, 10) %in% pmin(clusters, 10)))
})

test_that("compact overlaps and doubles give the same clusters, and equal means do not depend on rounding", {
  skip_if_not_installed("dynamicTreeCut")
  tom <- gpuTOM(genes_by_factor(), power = 4)
  tree <- gpuHclust(tom)
  cut <- list(deepSplit = 2, cutHeight = 0.995, minClusterSize = 20, pamStage = TRUE, pamRespectsDendro = TRUE)
  labels <- .Call(gpucor:::r_cut_tree, tom, TRUE, tree$merge, tree$height, cut_rules(tree$height, cut), 1L)
  expect_true(.Call(gpucor:::r_is_compact, tom))
  expect_gt(max(labels), 2)
  expect_identical(labels, cut_by_package(tree, tom, cut, 1L))
  expect_identical(labels, engine_cut(tree, 1 - as.double(tom), cut))
  # A leaf as far from each of two clusters, whose sizes differ.
  for (far in seq(0.6, 0.9, 0.01)) {
    square <- matrix(0.97, 12, 12)
    square[1:4, 1:4] <- square[5:11, 5:11] <- 0.1
    square[12, ] <- square[, 12] <- far
    diag(square) <- 0
    tree <- hclust(as.dist(square), "average")
    cut <- list(deepSplit = 4, cutHeight = NULL, minClusterSize = 3, pamStage = TRUE, pamRespectsDendro = FALSE)
    expect_identical(engine_cut(tree, as.dist(square), cut), package_cut(tree, as.dist(square), cut))
  }
})

test_that("a cut leaves nothing behind where memory is missing", {
  d <- dist(matrix(sin(1:300), 100))
  tree <- hclust(d, "average")
  cut <- list(deepSplit = 2, cutHeight = NULL, minClusterSize = 5, pamStage = TRUE, pamRespectsDendro = TRUE)
  walk_failures(function() checked(engine_cut(tree, d, cut)), "host", "a cut")
})
