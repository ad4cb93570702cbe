# Results as matrices, data frames and graphs: what a matrix of all coefficients would answer.

x <- as.matrix(mtcars)
r <- gpuCor(x)
net <- gpuCorNetwork(x, threshold = 0.6)
against <- gpuCorNetwork(x[, 1:4], x[, 5:11], threshold = 0.6)

# Code of a user's, in an R where nothing but gpucor is attached.
in_plain_session <- function(code) {
  file <- tempfile(fileext = ".R")
  on.exit(unlink(file))
  writeLines(c("library(gpucor)", "x <- as.matrix(mtcars)", code), file)
  library <- paste(.libPaths(), collapse = ":")
  suppressWarnings(system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file), stdout = TRUE, stderr = TRUE,
                           env = paste0("R_LIBS=", library)))
}

test_that("coefficients have the matrix's dimensions, transpose, diagonal and corner", {
  full <- as.matrix(r)
  expect_identical(dim(r), c(11L, 11L))
  expect_identical(c(nrow(r), ncol(r)), c(11L, 11L))
  expect_identical(dimnames(r), dimnames(full))
  expect_null(dimnames(gpuCor(unname(x))))
  expect_length(r, 55)
  expect_identical(t(r), r)
  expect_identical(diag(r), diag(full))
  expect_identical(diag(r, names = FALSE), rep(1, 11))
  few <- gpuCor(x[1, , drop = FALSE])
  expect_identical(diag(few), diag(as.matrix(few)))
  expect_identical(utils::head(r, 3), full[1:3, ])
  expect_identical(apply(r, 1, max), apply(full, 1, max))
})

test_that("a dimension leaves what is made of a dist as it was", {
  expect_identical(stats::hclust(1 - r)$merge, stats::hclust(stats::as.dist(1 - as.matrix(r)))$merge)
  expect_s3_class(1 - r, "dist", exact = TRUE)
  expect_false(is.matrix(r))
  expect_equal(stats::cmdscale(sqrt(1 - r^2)), stats::cmdscale(sqrt(1 - as.matrix(r)^2)))
  expect_identical(sort(r), sort(as.vector(r)))
  expect_output(utils::str(r), "gpuCor")
})

test_that("as.data.frame() of coefficients has all pairs in their order", {
  frame <- as.data.frame(r)
  expect_identical(names(frame), c("from", "to", "r"))
  expect_identical(frame$r, as.vector(r))
  expect_identical(frame$r, as.matrix(r)[cbind(frame$from, frame$to)])
  pairs <- triangleIndex(1:55, 11)
  expect_identical(match(frame$from, colnames(x)), as.integer(pairs[, "i"]))
  bare <- as.data.frame(gpuCor(unname(x)))
  expect_identical(bare$to, as.integer(pairs[, "j"]))
  for (n in 0:2) expect_identical(nrow(as.data.frame(gpuCor(x[, seq_len(n), drop = FALSE]))), as.integer(n == 2))
})

test_that("sums, products and symmetry of networks need no other package, and attaching masks nothing of R's", {
  plain <- in_plain_session(c(
    "net <- gpuCorNetwork(x, threshold = 0.6)",
    "against <- gpuCorNetwork(x[, 1:4], x[, 5:11], threshold = 0.6)",
    "for (n in list(net, against)) {",
    "  full <- as.matrix(n)",
    "  cat(all.equal(rowSums(n), rowSums(full)), all.equal(colSums(n), colSums(full)),",
    "      all.equal(rowMeans(n), rowMeans(full)), all.equal(colMeans(n), colMeans(full)),",
    "      all.equal(as.matrix(t(n)), t(full)), all.equal(as.matrix(base::t(n)), t(full)), '\\n')",
    "  cat(all.equal(as.matrix(crossprod(n)), crossprod(full)), all.equal(as.matrix(tcrossprod(n)), tcrossprod(full)),",
    "      all.equal(as.matrix(crossprod(n, full[, 1:2])), crossprod(full, full[, 1:2])),",
    "      all.equal(mean(n), mean(full)), identical(isSymmetric(n), isSymmetric(full)), '\\n')",
    "}",
    "cat(diag(net), '\\n')",
    "cat(dim(rowsum(mtcars, mtcars$cyl)), sum(diag(3)), rowSums(matrix(1:4, 2)), '\\n')", # others are as they were
    "cat(crossprod(1:3), isSymmetric(diag(2)), mean(1:3), '\\n')",
    "detach('package:gpucor'); library(gpucor)"
  ))
  true <- function(n) strrep("TRUE ", n)
  # Nothing else is said, on attaching the package once or twice.
  expect_identical(plain, c(true(6), true(5), true(6), true(5), strrep("0 ", 11), "3 11 3 4 6 ", "14 TRUE 2 "))
})

test_that("arithmetic makes a plain sparse matrix of a network", {
  full <- as.matrix(net)
  of_full <- list(net^2, net * 2, 2 * net, -net, atanh(net), abs(net), round(net, 1), signif(net, 2),
                  net * TRUE, sign(net))
  truth <- list(full^2, full * 2, 2 * full, -full, atanh(full), abs(full), round(full, 1), signif(full, 2), full,
                sign(full))
  for (k in seq_along(truth)) {
    expect_s4_class(of_full[[k]], "dsCMatrix")
    expect_false(is(of_full[[k]], "gpuCorNetwork"))
    expect_equal(as.matrix(of_full[[k]]), truth[[k]])
  }
  expect_identical(class(against^2)[1], "dgCMatrix")
  expect_identical(class(round(abs(against)))[1], "dgCMatrix")
  expect_equal(as.matrix(2 * against), 2 * as.matrix(against))
  expect_false(any(grepl("threshold|Pearson", suppressMessages(utils::capture.output(net^2)))))
  difference <- gpuCorCompare(x[x[, "am"] == 0, 1:6], x[x[, "am"] == 1, 1:6], threshold = 0.5)
  expect_identical(class(difference / 2)[1], "dsCMatrix")
})

test_that("overlaps have the matrix's dimensions, names, diagonal and sums, and a row for each pair", {
  overlap <- gpuTOM(x, 4)
  full <- as.matrix(overlap)
  expect_identical(dim(overlap), c(11L, 11L))
  expect_identical(dimnames(overlap), dimnames(full))
  expect_identical(t(overlap), overlap)
  expect_identical(diag(overlap), diag(full))
  expect_identical(utils::head(overlap, 2), full[1:2, ])
  expect_identical(overlap[[2, 3]], full[[2, 3]])
  expect_identical(overlap[[2]], overlap[2])
  for (f in c("rowSums", "colSums", "rowMeans", "colMeans")) {
    expect_identical(getExportedValue("gpucor", f)(overlap), get(f, baseenv())(full))
  }
  frame <- as.data.frame(overlap)
  expect_identical(names(frame), c("from", "to", "overlap"))
  expect_identical(frame$overlap, full[cbind(frame$from, frame$to)])
  renamed <- overlap
  colnames(renamed) <- 1:11
  expect_identical(renamed["2", "3"], full[[2, 3]])
  expect_identical(overlap[lower.tri(overlap)], full[lower.tri(full)])
  expect_error(diag(overlap) <- 0, "only pairs at positions can be changed")
  expect_identical(stats::hclust(1 - overlap)$merge, stats::hclust(stats::as.dist(1 - full))$merge)
  expect_true(isSymmetric(overlap))
})

# ---- igraph

test_that("as_igraph() keeps all variables, weights and signs", {
  skip_if_not_installed("igraph")
  net <- gpuCorNetwork(x, threshold = 0.82)
  g <- as_igraph(net)
  expect_identical(igraph::V(g)$name, colnames(x))
  expect_true(any(igraph::degree(g) == 0))
  expect_false(igraph::is_directed(g))
  expect_equal(igraph::degree(g), rowSums(net != 0))
  expect_equal(igraph::as_adjacency_matrix(g, attr = "r", sparse = FALSE), as.matrix(net))
  expect_identical(igraph::E(g)$weight, abs(igraph::E(g)$r))
  expect_true(any(igraph::E(g)$r < 0))
  expect_silent(igraph::cluster_louvain(g))
  bare <- as_igraph(gpuCorNetwork(unname(x), threshold = 0.6))
  expect_null(igraph::V(bare)$name)
  expect_equal(igraph::vcount(bare), 11)
  difference <- gpuCorCompare(x[x[, "am"] == 0, 1:6], x[x[, "am"] == 1, 1:6], threshold = 0.5)
  expect_identical(abs(igraph::E(as_igraph(difference))$difference), igraph::E(as_igraph(difference))$weight)
})

test_that("graphs, GraphML and tables for Cytoscape and Gephi have the edges with p values and stability", {
  skip_if_not_installed("igraph")
  set.seed(1)
  net <- gpuCorNetwork(x, fdr = 0.001, resample = 5)
  e <- as.data.frame(net)
  by_name <- function(frame) frame[order(frame$from, frame$to), ]
  expected <- by_name(cbind(e, weight = abs(e$r)))
  columns <- c("from", "to", "weight", "r", "p.value", "fdr", "stability")
  of_graph <- function(g) by_name(igraph::as_data_frame(g))[columns]
  expect_equal(of_graph(as_igraph(net)), expected[columns], ignore_attr = "row.names")

  folder <- tempfile("edges")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  old <- setwd(folder)
  on.exit(setwd(old), add = TRUE, after = FALSE)
  igraph::write_graph(as_igraph(net), "net.graphml", "graphml")
  expect_equal(of_graph(igraph::read_graph("net.graphml", "graphml")), expected[columns], ignore_attr = "row.names")
  write.csv(as.data.frame(net), "edges.csv", row.names = FALSE)
  expect_equal(read.csv("edges.csv"), e)
  write.csv(data.frame(Source = e$from, Target = e$to, Type = "Undirected", Weight = abs(e$r)), "edges.csv",
            row.names = FALSE)
  gephi <- read.csv("edges.csv")
  expect_named(gephi, c("Source", "Target", "Type", "Weight"))
  expect_true(all(gephi$Weight > 0))
  expect_equal(as.matrix(net)[cbind(gephi$Source, gephi$Target)]^2, gephi$Weight^2)
})

test_that("as_igraph() of x against y is bipartite", {
  skip_if_not_installed("igraph")
  g <- as_igraph(against)
  expect_identical(igraph::V(g)$name, colnames(x))
  expect_identical(igraph::V(g)$type, rep(c(FALSE, TRUE), c(4, 7)))
  full <- igraph::as_adjacency_matrix(g, attr = "r", sparse = FALSE)
  expect_equal(full[1:4, 5:11], as.matrix(against))
  expect_equal(sum(full[1:4, 1:4]^2), 0)
  same <- igraph::V(as_igraph(gpuCorNetwork(x[, 1:2], x[, 2:3], threshold = 0)))$name
  expect_identical(same, c("x.mpg", "x.cyl", "y.cyl", "y.disp"))
})

# Vertices, edges and all their attributes, each edge from the lower vertex to the higher one, in a fixed order.
graph_parts <- function(graph) {
  ends <- igraph::as_edgelist(graph, names = FALSE)
  edges <- cbind(pmin(ends[, 1], ends[, 2]), pmax(ends[, 1], ends[, 2]), as.data.frame(igraph::edge_attr(graph)))
  list(vertices = igraph::vertex_attr(graph), edges = unname(edges[order(edges[[1]], edges[[2]]), ]))
}

test_that("as_igraph() takes parts and powers of networks", {
  skip_if_not_installed("igraph")
  some <- c(11, 1:3, 7)
  expected <- igraph::induced_subgraph(as_igraph(net), some)
  expected <- igraph::permute(expected, match(igraph::V(expected)$name, colnames(x)[some]))
  for (i in list(some, colnames(x)[some])) expect_equal(graph_parts(as_igraph(net[i, i])), graph_parts(expected))
  expect_named(igraph::edge_attr(as_igraph(net[some, some])), c("weight", "value"))
  expect_equal(igraph::E(as_igraph(net^2))$weight, net@x^2)
  # The diagonal is not an edge, nor is a stored zero; patterns have weights of 1.
  with_diagonal <- net * 1
  Matrix::diag(with_diagonal) <- 1
  expect_equal(graph_parts(as_igraph(with_diagonal)), graph_parts(as_igraph(net * 1)))
  expect_equal(igraph::gsize(as_igraph(net * 0)), 0)
  expect_equal(igraph::E(as_igraph(net != 0))$weight, rep(1, net@edges))
  # Rows and columns that are not the same variables.
  part <- as_igraph(net[1:3, 4:9])
  expect_identical(igraph::V(part)$type, rep(c(FALSE, TRUE), c(3, 6)))
  expect_equal(igraph::E(part)$value, methods::as(net[1:3, 4:9], "dgCMatrix")@x)
  expect_identical(igraph::V(as_igraph(against[1:2, 3:5]))$name, colnames(x)[c(1:2, 7:9)])
})

test_that("igraph's own functions take networks, as the help says", {
  skip_if_not_installed("igraph")
  theirs <- igraph::graph_from_adjacency_matrix(net, "undirected", weighted = TRUE)
  expect_equal(igraph::as_adjacency_matrix(theirs, attr = "weight"),
               igraph::as_adjacency_matrix(as_igraph(net), attr = "r"))
  name <- if (utils::packageVersion("igraph") < "1.6.0") "incidence" else "biadjacency"
  from_matrix <- getExportedValue("igraph", paste0("graph_from_", name, "_matrix"))
  as_matrix <- getExportedValue("igraph", paste0("as_", name, "_matrix"))
  theirs <- from_matrix(methods::as(against, "dgCMatrix"), weighted = TRUE)
  expect_equal(as_matrix(theirs, attr = "weight"), as_matrix(as_igraph(against), attr = "r"))
})

test_that("an overlap network becomes a graph of overlaps", {
  skip_if_not_installed("igraph")
  g <- as_igraph(gpuTOM(x, 4, output = "network", threshold = 0.2))
  expect_identical(igraph::E(g)$overlap, igraph::E(g)$weight)
})

test_that("as_igraph() says what it takes", {
  expect_error(as_igraph(as.data.frame(net)), "'net' must be a network .*vertices = colnames")
  expect_error(as_igraph(r), "not of class gpuCor")
})

test_that("head() and tail() of a network are its strongest and its weakest edges, with and without Matrix", {
  x <- matrix(rnorm(600), 20, dimnames = list(NULL, paste0("v", 1:30)))
  nets <- list(gpuCorNetwork(x, density = 0.2), gpuCorNetwork(x, x[, 1:5] + 1, density = 0.2),
               gpuCorNetwork(x, fdr = 0.99))
  of_matrix <- function(name) if (name %in% getNamespaceExports("Matrix")) list(getExportedValue("Matrix", name))
  for (net in nets) {
    edges <- as.data.frame(net)
    for (generic in c(utils::head, of_matrix("head"))) {
      expect_identical(generic(net), head(edges))
      expect_identical(generic(net, 3), head(edges, 3))
      expect_identical(generic(net, -2), head(edges, -2))
    }
    for (generic in c(utils::tail, of_matrix("tail"))) expect_identical(generic(net, n = 3), tail(edges, 3))
  }
})
