# Hierarchical clustering, beside stats::hclust() and fastcluster::hclust() of the same distances.

linkages <- c("average", "complete", "single", "mcquitty", "ward.D", "ward.D2")

# Distances as the engine has them.
in_single_precision <- function(d) {
  d[] <- readBin(writeBin(as.vector(d), raw(), size = 4), "numeric", length(d), size = 4)
  d
}

random_distances <- function(n, seed = n) in_single_precision(dist(normal(n, 3, seed)))

# Integers, most of them many times, and copies of items.
tied_distances <- function(n, seed = n) {
  x <- rounded(n, 2, seed)
  if (n > 2) x[n, ] <- x[1, ]
  dist(x, "manhattan")
}

expect_same_tree <- function(ours, theirs, label = "") {
  expect_identical(ours$merge, theirs$merge, label = paste(label, "merges"))
  expect_identical(ours$order, theirs$order, label = paste(label, "order"))
  finite <- is.finite(theirs$height)
  expect_identical(ours$height[!finite], theirs$height[!finite])
  off <- max(0, abs(ours$height - theirs$height)[finite]) / max(theirs$height[finite], 1e-300)
  expect(off < 1e-6, paste(label, "heights are off by", off))
}

# The definition, in double precision: each merge has its height and is one of the smallest distances of the time, and
# the new distances follow from the old ones.
expect_valid_tree <- function(tree, d, method, label = "") {
  n <- attr(d, "Size")
  square <- as.matrix(d)^(if (method == "ward.D2") 2 else 1)
  diag(square) <- Inf
  size <- rep(1, n)
  cluster <- integer(n - 1) # the row that has the cluster of each merge
  slack <- 1e-6 * max(d)^(if (method == "ward.D2") 2 else 1)
  for (k in seq_len(n - 1)) {
    at <- ifelse(tree$merge[k, ] < 0, -tree$merge[k, ], cluster[abs(tree$merge[k, ])])
    i <- at[1]
    j <- at[2]
    own <- square[i, j]
    expect(own - min(square) < slack, paste(label, "merge", k, "is not of the nearest clusters"))
    expect(abs(tree$height[k]^(if (method == "ward.D2") 2 else 1) - own) < slack, paste(label, "height", k))
    a <- square[i, ]
    b <- square[j, ]
    new <- switch(method, single = pmin(a, b), complete = pmax(a, b), mcquitty = (a + b) / 2,
                  average = (size[i] * a + size[j] * b) / (size[i] + size[j]),
                  ((size[i] + size) * a + (size[j] + size) * b - size * own) / (size[i] + size[j] + size))
    new[c(i, j)] <- Inf
    square[i, ] <- square[, i] <- Inf
    square[j, ] <- square[, j] <- replace(new, is.infinite(square[j, ]), Inf)
    size[j] <- size[i] + size[j]
    cluster[k] <- j
  }
}

for (backend in backends()) {
  test_that(paste(backend, "has the trees of stats::hclust() and fastcluster"), {
    for (n in c(2, 3, 4, 17, 300, if (full_tier()) 1500)) for (method in linkages) {
      d <- random_distances(n)
      ours <- gpuHclust(d, method, backend = backend)
      expect_same_tree(ours, hclust(d, method), paste(backend, n, method))
      if (requireNamespace("fastcluster", quietly = TRUE)) {
        expect_same_tree(ours, fastcluster::hclust(d, method), paste(backend, n, method, "fastcluster"))
      }
    }
  })

  test_that(paste(backend, "has a valid tree of equal distances, and fastcluster's where none is rounded"), {
    for (n in c(3, 8, 30, 60)) for (method in linkages) {
      d <- tied_distances(n)
      label <- paste(backend, n, method)
      ours <- gpuHclust(d, method, backend = backend)
      expect_valid_tree(ours, d, method, label)
      if (method %in% c("complete", "single", "mcquitty") && requireNamespace("fastcluster", quietly = TRUE)) {
        expect_same_tree(ours, fastcluster::hclust(d, method), label)
      }
    }
    n <- 1100 # more than are searched at a time
    same <- structure(rep(2, n * (n - 1) / 2), Size = n, class = "dist")
    for (method in linkages[1:4]) {
      tree <- gpuHclust(same, method, backend = backend)
      expect_identical(tree$height, rep(2, n - 1))
      expect_identical(tree$order, c(n:3, 1:2)) # as fastcluster's: the first two, and one after the other
    }
  })

  test_that(paste(backend, "follows chains through all items"), {
    for (gaps in list((1:200)^1.5, (200:1)^1.5)) {
      d <- in_single_precision(dist(cumsum(gaps)))
      for (method in linkages) {
        expect_same_tree(gpuHclust(d, method, backend = backend), hclust(d, method), paste(backend, method))
      }
    }
  })

  test_that(paste(backend, "takes coefficients and overlaps as similarities, without a copy"), {
    x <- normal(30, 200)
    r <- gpuCor(x, backend = backend) # more than 8,192 pairs: in single precision
    tom <- gpuTOM(x, backend = backend)
    for (values in list(r, tom, gpuCor(x[, 1:20], backend = backend))) {
      ours <- gpuHclust(values, backend = backend)
      distances <- 1 - values
      of_distances <- gpuHclust(distances, backend = backend)
      expect_identical(.Call(gpucor:::r_is_compact, distances), length(values) > 8192)
      expect_identical(.Call(gpucor:::r_is_compact, values), length(values) > 8192)
      if (length(values) > 8192) {
        expect_identical(ours[c("merge", "height", "order")], of_distances[c("merge", "height", "order")])
      }
      expect_same_tree(ours, of_distances)
      expect_identical(ours$labels, of_distances$labels)
      expect_same_tree(ours, hclust(as.dist(1 - as.matrix(values)), "average")) # overlaps would be equal as 1 - float
      expect_same_tree(gpuHclust(values, "ward.D", backend = backend), hclust(as.dist(1 - as.matrix(values)), "ward.D"))
      expect_same_tree(gpuHclust(values, "ward.D2", backend = backend),
                       hclust(in_single_precision(as.dist(1 - as.matrix(values))), "ward.D2"))
    }
    ranks <- gpuCor(x[, 1:140], method = "kendall", backend = backend) # integers, many of them equal
    expect_valid_tree(gpuHclust(ranks, backend = backend), as.dist(1 - as.matrix(ranks)), "average")
  })

  test_that(paste(backend, "takes infinite and negative distances"), {
    skip_if_not_installed("fastcluster")
    d <- random_distances(40)
    d[sample(length(d), 200)] <- Inf
    for (method in linkages[1:4]) {
      expect_same_tree(gpuHclust(d, method, backend = backend), fastcluster::hclust(d, method), paste(backend, method))
    }
    for (method in linkages[5:6]) {
      expect_error(gpuHclust(d, method, backend = backend), "Ward's method needs finite distances")
    }
    for (method in linkages[1:4]) {
      d <- in_single_precision(dist(normal(40, 3)) - 1)
      expect_same_tree(gpuHclust(d, method, backend = backend), fastcluster::hclust(d, method), paste(backend, method))
    }
  })

  test_that(paste(backend, "says which distance is missing"), {
    d <- random_distances(20)
    d[trianglePosition(5, 9, 20)] <- NA
    expect_error(gpuHclust(d, backend = backend), "'d' has no distance between items 5 and 9; leave out", fixed = TRUE)
    x <- normal(20, 200)
    x[, 200] <- 1
    r <- suppressWarnings(gpuCor(x, backend = backend))
    expect_error(gpuHclust(r, "single", threads = 1, backend = backend), "items 1 and 200")
  })

  test_that(paste(backend, "has the same bytes for any number of threads, and as the CPU"), {
    d <- dist(normal(700, 4))
    ties <- tied_distances(300)
    for (method in linkages) {
      parts <- c("merge", "height", "order")
      truth <- gpuHclust(d, method, backend = "cpu", threads = 1)[parts]
      expect_same_divided(function(...) {
        expect_identical(gpuHclust(d, method, backend = backend, ...)[parts], truth)
        TRUE
      })
      expect_identical(gpuHclust(ties, method, backend = backend)[parts],
                       gpuHclust(ties, method, backend = "cpu")[parts])
    }
  })

  test_that(paste(backend, "frees everything after failures"), {
    d <- random_distances(300)
    for (resource in resources_of(backend)) for (method in c("average", "single")) {
      messages <- walk_failures(function() gpuHclust(d, method, backend = backend)$height, resource, "gpuHclust()")
      expect_match(messages, ways_out[[resource]])
    }
  })
}

test_that("the tree is an hclust object with labels", {
  d <- random_distances(30)
  attr(d, "Labels") <- paste0("item", 1:30)
  ours <- gpuHclust(d, "complete", backend = "cpu")
  theirs <- hclust(d, "complete")
  expect_s3_class(ours, "hclust", exact = TRUE)
  expect_named(ours, names(theirs))
  expect_identical(ours[c("merge", "order", "labels", "method", "dist.method")],
                   theirs[c("merge", "order", "labels", "method", "dist.method")])
  expect_identical(ours$call, quote(gpuHclust(d, "complete", backend = "cpu")))
  expect_identical(cutree(ours, 4), cutree(theirs, 4))
  expect_identical(gpuHclust(d)$method, "average")
  r <- gpuCor(as.matrix(mtcars))
  expect_identical(gpuHclust(r)$labels, names(mtcars))
  expect_identical(gpuHclust(r)$dist.method, "pearson")
  integers <- structure(c(1L, 2L, 4L), Size = 3L, class = "dist")
  expect_identical(gpuHclust(integers, "single")$height, c(1, 2))
})

test_that("arguments that are no distances are errors", {
  expect_error(gpuHclust(as.matrix(dist(1:3))), "not of class matrix; as.dist(d) makes a dist", fixed = TRUE)
  expect_error(gpuHclust(1:3), "'d' must be a dist, or a result of gpuCor() or gpuTOM(), not of class integer",
               fixed = TRUE)
  expect_error(gpuHclust(dist(1)), "'d' must have at least 2 items, not 1")
  expect_error(gpuHclust(structure(1:4, Size = 3L, class = "dist")), "\"Size\" of 'd' is 3L, and 'd' has 4 distances")
  expect_error(gpuHclust(dist(1:3), "centroid"), "'method' must be one of \"average\", .*, not \"centroid\"")
  expect_error(gpuHclust(dist(1:3), members = 1), "unused argument 'members'")
})
