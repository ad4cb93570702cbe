# gpuPrune(), against the data processing inequality as written out.

# The entries that the definition keeps, as a matrix. m: symmetric, 0 where there is no edge.
pruned <- function(m, tolerance = 0) {
  m <- as.matrix(m)
  diag(m) <- 0
  information <- -log1p(-m^2) / 2
  marked <- matrix(FALSE, nrow(m), nrow(m))
  for (i in seq_len(nrow(m))) for (j in seq_len(nrow(m))) for (k in seq_len(nrow(m))) {
    if (m[i, j] == 0 || m[i, k] == 0 || m[j, k] == 0) next
    bound <- (1 - tolerance) * min(information[i, k], information[j, k])
    marked[i, j] <- marked[i, j] || information[i, j] < bound
  }
  replace(m, marked, 0)
}

# A network with positive and negative coefficients of a few sizes, so that there are ties.
random_network <- function(n, density, seed, sizes = seq(0.1, 0.9, 0.1)) {
  set.seed(seed)
  m <- matrix(0, n, n, dimnames = list(paste0("g", 1:n), paste0("g", 1:n)))
  upper <- which(upper.tri(m))
  at <- upper[runif(length(upper)) < density]
  m[at] <- sizes[sample.int(length(sizes), length(at), replace = TRUE)] * sample(c(-1, 1), length(at), replace = TRUE)
  m + t(m)
}

as_sparse <- function(m) methods::as(m, "CsparseMatrix")

test_that("the weakest edges of triangles are removed, by the definition", {
  rows <- covering(n = c(2, 3, 10, 40), density = c(0, 0.1, 0.5, 1), tolerance = c(0, 0.1, 0.5, 1),
                   ties = c(TRUE, FALSE), seed = 1:3)
  for_rows(rows, function(n, density, tolerance, ties, seed, label) {
    m <- random_network(n, density, seed, if (ties) 1:4 / 5 else runif(1000))
    found <- gpuPrune(as_sparse(m), tolerance)
    expect_s4_class(found, "dsCMatrix")
    expect_identical(as.matrix(found), pruned(m, tolerance), label = label)
  })
})

# The same of regulators (rows) and targets: every triplet is looked at, and only a regulator stands between two others.
pruned_targets <- function(m, tolerance = 0) {
  regulators <- rownames(m)
  genes <- union(regulators, colnames(m))
  information <- matrix(0, length(genes), length(genes), dimnames = list(genes, genes))
  for (i in regulators) for (j in colnames(m)) {
    information[i, j] <- information[j, i] <- max(information[i, j], -log1p(-m[i, j]^2) / 2)
  }
  removed <- m != m
  for (i in regulators) for (j in colnames(m)) for (k in setdiff(regulators, c(i, j))) {
    bound <- (1 - tolerance) * min(information[i, k], information[k, j])
    removed[i, j] <- removed[i, j] || (i != j && information[i, j] < bound)
  }
  replace(m, removed, 0)
}

test_that("of regulators and targets the weakest edges of triangles with two regulators are removed", {
  rows <- covering(regulators = c(1, 2, 5, 12), targets = c(1, 4, 30), among = c(1, 0.5), density = c(0.2, 0.6, 1),
                   tolerance = c(0, 0.15, 1), seed = 1:3)
  removed <- 0
  for_rows(rows, function(regulators, targets, among, density, tolerance, seed, label) {
    n <- regulators + targets
    named <- random_network(n, density, seed)
    y <- c(seq_len(ceiling(among * regulators)), regulators + seq_len(targets)) # some regulators are targets, too
    y <- y[order(sin(seq_along(y)))]
    m <- named[seq_len(regulators), y, drop = FALSE]
    found <- gpuPrune(as_sparse(m), tolerance)
    expect_identical(as.matrix(found), pruned_targets(m, tolerance), label = label)
    removed <<- removed + sum(m != 0) - sum(as.matrix(found) != 0)
    m[m != 0] <- seq(0.05, 0.95, length.out = sum(m != 0)) # both entries of two regulators differ
    expect_identical(as.matrix(gpuPrune(as_sparse(m), tolerance)), pruned_targets(m, tolerance), label = label)
  })
  expect_gt(removed, 100)
})

test_that("regulators of one target keep their edge, and what is no common gene changes nothing", {
  genes <- c("a", "b", "t")
  m <- matrix(c(0, 0.3, 0.9, 0.3, 0, 0.9), 2, byrow = TRUE, dimnames = list(c("a", "b"), genes))
  expect_equal(as.matrix(gpuPrune(as_sparse(m))), m) # t is no regulator
  chain <- m
  chain["a", ] <- c(0, 0.9, 0.3)
  chain["b", "a"] <- 0.9
  expect_equal(as.matrix(gpuPrune(as_sparse(chain)))["a", ], c(a = 0, b = 0.9, t = 0)) # a acts on t by b
  chain["b", "a"] <- 0 # an edge of two regulators is one if either has it
  expect_equal(as.matrix(gpuPrune(as_sparse(chain)))["a", ], c(a = 0, b = 0.9, t = 0))
  x <- normal(30, 40) + normal(30, 1, seed = 2)[, 1]
  colnames(x) <- paste0("g", 1:40)
  for (method in all_methods) for (among in list(1:40, 4:40, c(40:21, 3))) {
    net <- gpuCorNetwork(x[, 1:8], x[, among], density = 0.4, method = method)
    found <- gpuPrune(net, 0.1)
    expect_s4_class(found, "gpuCorNetworkXY")
    expect_true(methods::validObject(found))
    expect_identical(as.matrix(methods::as(found, "dgCMatrix")),
                     pruned_targets(as.matrix(methods::as(net, "dgCMatrix")), 0.1))
    expect_identical(found@adjusted, list(pruned = 0.1))
    expect_equal(found@edges, length(found@x))
    expect_lt(found@edges, net@edges)
    backwards <- gpuPrune(gpuCorNetwork(x[, 8:1], x[, rev(among)], density = 0.4, method = method), 0.1)
    expect_identical(as.matrix(backwards)[8:1, colnames(found)], as.matrix(found))
    further <- gpuPrune(gpuCorNetwork(x[, 1:8], cbind(x[, among], normal(30, 5, seed = 9)), threshold = net@threshold,
                                      method = method), 0.1)
    expect_identical(as.matrix(further)[, seq_along(among)], as.matrix(found))
  }
  tested <- gpuCorNetwork(x[, 1:8], x, p.value = 0.01)
  before <- as.data.frame(tested)
  after <- as.data.frame(gpuPrune(tested))
  at <- match(paste(after$from, after$to), paste(before$from, before$to))
  expect_true(nrow(after) > 10 && nrow(after) < nrow(before))
  expect_equal(after, before[at, ], tolerance = 1e-14, ignore_attr = "row.names")
})

test_that("a hub and its neighbours lose what they should", {
  m <- random_network(60, 0.05, 4)
  m[1, -1] <- m[-1, 1] <- seq(0.2, 0.95, length.out = 59)
  for (tolerance in c(0, 0.1)) {
    expect_identical(as.matrix(gpuPrune(as_sparse(m), tolerance)), pruned(m, tolerance))
    backwards <- rev(seq_len(60)) # the order of the variables has no influence
    expect_identical(as.matrix(gpuPrune(as_sparse(m[backwards, backwards]), tolerance)),
                     pruned(m, tolerance)[backwards, backwards])
  }
})

test_that("coefficients of 1 have unlimited information, and 0 has none", {
  m <- diag(3)
  m[1, 2] <- m[2, 1] <- m[1, 3] <- m[3, 1] <- 1
  m[2, 3] <- m[3, 2] <- 0.999
  expect_equal(Matrix::nnzero(gpuPrune(as_sparse(m))), 4)
  expect_equal(Matrix::nnzero(gpuPrune(as_sparse(m), 0.99)), 4)
  expect_equal(Matrix::nnzero(gpuPrune(as_sparse(m), 1)), 6)
  m[2, 3] <- m[3, 2] <- 1
  expect_equal(Matrix::nnzero(gpuPrune(as_sparse(m))), 6)
  # A network has an edge for every pair with this criterion; one of them has the coefficient 0.
  x <- cbind(a = c(1, 1, -1, -1), b = c(1, -1, 1, -1), c = c(2, 0, 0, -2))
  net <- gpuCorNetwork(x, threshold = 0)
  expect_equal(net@edges, 3)
  expect_identical(as.data.frame(gpuPrune(net))[c("from", "to")], data.frame(from = c("a", "b"), to = "c"))
})

test_that("a network stays what it was", {
  x <- normal(30, 40) + normal(30, 1, seed = 2)[, 1]
  colnames(x) <- paste0("g", 1:40)
  for (method in all_methods) {
    net <- gpuCorNetwork(x, density = 0.4, method = method)
    for (tolerance in c(0, 0.1)) {
      found <- gpuPrune(net, tolerance)
      expect_true(methods::validObject(found))
      expect_identical(as.matrix(methods::as(found, "dsCMatrix")), pruned(methods::as(net, "dsCMatrix"), tolerance))
      expect_lt(found@edges, net@edges)
      expect_equal(found@edges, length(found@x))
      expect_identical(found@adjusted, list(pruned = tolerance))
      for (slot in c("method", "sign", "criterion", "value", "threshold", "pairs", "n_obs", "call", "Dim", "Dimnames",
                     "uplo")) {
        expect_identical(methods::slot(found, slot), methods::slot(net, slot))
      }
      expect_output(print(found), paste("edges of 780 pairs .* after pruning, tolerance", tolerance))
    }
    expect_identical(gpuPrune(net, 1)@x, net@x)
  }
  tom <- gpuTOM(x, power = 2, output = "network", density = 0.3)
  expect_s4_class(gpuPrune(tom), "gpuTOMNetwork")
  expect_identical(gpuPrune(tom)@overlap, tom@overlap)
  expect_identical(gpuPrune(gpuPrune(net, 0.1), 0.2)@adjusted, list(pruned = 0.2))
})

test_that("p values are those of the edges before, adjusted over the same pairs", {
  x <- normal(30, 20) + normal(30, 1, seed = 2)[, 1]
  colnames(x) <- letters[1:20]
  x[, 20] <- x[, 19] + 1e-4 * x[, 20] # near 1, where p needs double precision
  holes <- with_missing(x, 0.1)
  tied <- round(rbind(x, x + normal(30, 20, seed = 3)), 1) # p values of tau depend on ties
  for (data in list(x, holes, tied)) for (method in c("pearson", "kendall")) for (sign in c("absolute", "positive")) {
    networks <- list(gpuCorNetwork(data, fdr = 0.5, use = "pairwise", method = method, sign = sign),
                     gpuCorNetwork(data, p.value = 0.5, use = "pairwise", method = method, sign = sign))
    for (net in networks) {
      before <- as.data.frame(net)
      found <- gpuPrune(net)
      after <- as.data.frame(found)
      expect_true(nrow(after) > 10 && nrow(after) < nrow(before))
      at <- match(paste(after$from, after$to), paste(before$from, before$to))
      expect_equal(after, before[at, ], tolerance = 1e-14, ignore_attr = "row.names")
      expect_identical(after$p.value, before$p.value[at])
      expect_identical(as.data.frame(gpuPrune(found)), after) # no triangle is left with a weakest edge to remove
    }
  }
})

test_that("the same edges are kept with any number of threads", {
  net <- gpuCorNetwork(normal(40, 500), density = 0.1)
  one <- gpuPrune(net, 0.05, threads = 1)
  expect_lt(one@edges, net@edges)
  for (threads in 2:4) expect_identical(gpuPrune(net, 0.05, threads = threads), one)
})

test_that("an indirect edge of a chain is removed, and those of a triangle with tolerance are kept", {
  x <- normal(500, 3)
  x[, 2] <- x[, 1] + x[, 2]
  x[, 3] <- x[, 2] + x[, 3]
  net <- gpuCorNetwork(x, threshold = 0.3)
  expect_equal(net@edges, 3)
  expect_identical(as.data.frame(gpuPrune(net))[c("from", "to")], data.frame(from = 2:1, to = 3:2))
  expect_equal(gpuPrune(net, 0.9)@edges, 3)
})

test_that("other objects and values are errors", {
  x <- normal(20, 6)
  net <- gpuCorNetwork(x, threshold = 0.1)
  for (wrong in list(-0.1, 1.5, NA, "0", c(0, 0.1))) {
    expect_error(gpuPrune(net, wrong), "'tolerance' must be a number between 0 and 1, not ")
  }
  expect_error(gpuPrune(as.data.frame(net)), "'net' must be a network of gpuCorNetwork(output = \"matrix\"), not",
               fixed = TRUE)
  expect_error(gpuPrune(cor(x)), "not of class matrix")
  expect_error(gpuPrune(gpuCorNetwork(x[, 1:3], x[, 4:6], threshold = 0.1)), "no column has the name of a row")
  expect_error(gpuPrune(as_sparse(matrix(c(0, 0.5, 0, 0), 2))), "no column has the name of a row")
  unnamed <- matrix(c(0, 0.5, 0, 0), 2, dimnames = list(c("", "a"), c("", "b")))
  expect_error(gpuPrune(as_sparse(unnamed)), "no column has the name of a row")
  expect_error(gpuPrune(gpuCorCompare(x[1:10, ], x[11:20, ], threshold = 0.1)), "differences of coefficients")
  for (value in c(NA, 1.5)) {
    net@x[3] <- value
    expect_error(gpuPrune(net), paste("'net' must have entries from -1 to 1, not", value))
  }
  net@i[1] <- 99L
  expect_error(gpuPrune(net), "is a damaged matrix of class gpuCorNetwork")
  expect_error(gpuPrune(gpuCorNetwork(x, threshold = 0.1), trheads = 1), "unused argument")
})

test_that("insufficient memory is an error that leaves nothing", {
  net <- gpuCorNetwork(normal(20, 30), threshold = 0.2)
  messages <- walk_failures(function() gpuPrune(net), "host", "gpuPrune()")
  expect_match(unique(messages), ways_out[["host"]])
})
