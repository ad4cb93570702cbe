#' Remove the weakest edge of each triangle of a network
#'
#' `gpuPrune()` applies the data processing inequality of ARACNE (Margolin and others 2006, *BMC Bioinformatics* 7, S7).
#' If two genes interact only through a third one, their edge is the weakest of the triangle. Such edges are removed.
#'
#' The information of an edge with the coefficient r is `-log(1 - r^2) / 2`, the mutual information of bivariate normal
#' variables. An edge is removed if there is a triangle in which its information is less than `1 - tolerance` times that
#' of each of the other two edges. All triangles are those of `net`, so the result does not depend on an order. The same
#' rule applies to every method. It takes 32 bytes per edge.
#'
#' With `tolerance = 0` every triangle loses its weakest edge, unless two edges are equally weak. A tolerance of 0.1 to
#' 0.2 keeps edges that are nearly as strong as the others, whose order may be due to errors of estimation.
#'
#' @section Regulators and targets:
#' In a network of `x` against `y`, the columns of `x` are regulators, such as transcription factors, and those of `y`
#' their targets. Columns of the same name are one gene: name the regulators that are among the targets as they are
#' named there, because without edges between regulators there are no triangles. As in ARACNE with a list of
#' transcription factors (Margolin and others 2006, *Nature Protocols* 1, 662-671), only a regulator can stand between
#' two others: an edge is removed if it is the weakest of a triangle whose third gene is a regulator. Two regulators of
#' one target keep their own edge, however weak, if the target regulates neither. Of both edges of two regulators, that
#' of `x` with `y` and that of `y` with `x`, the stronger one counts, and both are kept or removed together.
#'
#' @param net A network of [gpuCorNetwork()], without `normalize`, or of [gpuTOM()], or a sparse matrix with entries in
#'   \[-1, 1\], symmetric or with regulators in rows and targets in columns.
#' @param tolerance A number in \[0, 1\].
#' @param ...,control `r offered_words("gpuPrune")`
#' @return `net` without the removed edges: slot `edges` has their number, and slot `adjusted` the tolerance, as
#'   `pruned`; the other slots say how `net` was made. P values are those of `net`, adjusted over the same pairs. For a
#'   plain sparse matrix: a `dsCMatrix` without diagonal, or if it is not symmetric a `dgCMatrix`.
#' @examples
#' # A chain of genes, each of which drives the next one
#' set.seed(1)
#' x <- matrix(rnorm(200 * 6), 200, dimnames = list(NULL, letters[1:6]))
#' for (j in 2:6) x[, j] <- x[, j - 1] + 0.5 * x[, j]
#' as.data.frame(gpuPrune(gpuCorNetwork(x, threshold = 0.3)))
#'
#' # The first three of them regulate the others, and one another
#' as.data.frame(gpuPrune(gpuCorNetwork(x[, 1:3], x, threshold = 0.3)))
#' @export
gpuPrune <- function(net, tolerance = 0, ..., control = NULL) {
  specs <- specs_of("gpuPrune", ...)
  tolerance <- check_within(tolerance, "tolerance", 0, 1)
  check_type(net, "net", is_network(net) || is_sparse(net), A_NETWORK)
  check_slots(net, "net")
  if (is_network(net) && value_name(net) %in% names(NOT_PRUNED)) fail("'net' has ", NOT_PRUNED[[value_name(net)]])
  if (!is_network(net)) net <- plain_network(net)
  bad <- which(is.na(net@x) | abs(net@x) > 1)
  if (length(bad)) fail("'net' must have entries from -1 to 1, not ", format(net@x[bad[1L]]))
  threads <- new_place(specs$control)$threads
  prune <- function(p, i, x) checked(.Call(r_prune, p, i, x, tolerance, threads))
  is_kept <- if (is(net, "dsCMatrix")) prune(net@p, net@i, net@x) else kept_of_regulators(net, prune)
  slots <- kept_entries(net, is_kept)
  if (!is_network(net)) return(with_slots(net, slots))
  tests <- net@tests
  if (!is.null(tests$pairs)) { # Benjamini and Hochberg's ranks include the removed edges
    removed <- which(!is_kept)
    tests$others <- c(tests$others, edge_tests(net@x[removed], net@tests, removed, threads)$p.value)
  }
  own <- intersect(c("p.value", "z", EDGE_COLUMNS), names(tests))
  tests[own] <- lapply(tests[own], `[`, is_kept)
  near <- is_kept[tests$near$at]
  if (length(near)) tests$near <- list(at = cumsum(is_kept)[tests$near$at[near]], r = tests$near$r[near])
  adjusted <- c(net@adjusted[!names(net@adjusted) %in% c("pruned", "shared")], list(pruned = tolerance))
  with_slots(net, c(slots, list(edges = as.numeric(sum(is_kept)), tests = tests, adjusted = adjusted,
                                stability = net@stability[is_kept[seq_along(net@stability)]])))
}

# Returns which entries of a network of regulators (rows) against targets are kept. `prune`: a function of the upper
# triangle of a symmetric network in compressed columns. Regulators are its first vertices, and targets without a
# regulator's name follow. Every triangle has two regulators, so that the third gene of a target's edge is always one.
# The third gene of an edge of two regulators may be a target, but not in the regulators' own network.
kept_of_regulators <- function(net, prune) {
  size <- dim(net)
  regulator <- match(net@Dimnames[[2L]], net@Dimnames[[1L]], 0L, c("", NA))
  if (!any(regulator > 0L)) {
    fail("'net' is not symmetric, and no column has the name of a row, so that it has no triangles; in a network of ",
         "'x' against 'y', 'y' must have the columns of 'x', too, with the same names")
  }
  ends <- network_ends(net)
  to <- ifelse(regulator > 0L, regulator, size[1L] + seq_along(regulator))[ends$to]
  row <- pmin(ends$from, to)
  column <- pmax(ends$from, to)
  edge <- row + as.numeric(column) * size[1L] # the same for both entries of two regulators
  sorted <- order(column, row, -abs(net@x))
  first <- sorted[!duplicated(edge[sorted])]
  prune_some <- function(e) prune(c(0L, cumsum(tabulate(column[e], sum(size)))), row[e] - 1L, net@x[e])
  is_kept <- prune_some(first)
  of_two <- column[first] <= size[1L]
  is_kept[of_two] <- prune_some(first[of_two])
  is_kept[match(edge, edge[first])]
}

A_NETWORK <- "a network of gpuCorNetwork(output = \"matrix\")"

# Values of networks that no information follows from, see value_name().
NOT_PRUNED <- c(
  clr = paste("context likelihoods, which are no coefficients; prune a network without normalize = \"clr\", and keep",
              "the edges that are in both"),
  difference = "differences of coefficients; gpuPrune() is for coefficients"
)

#' A network as a graph of igraph
#'
#' `as_igraph()` converts a network to a graph. All variables become vertices, also those without an edge.
#'
#' Edges have two attributes. `weight` is the absolute coefficient, because methods that find communities, such as
#' Louvain's and Leiden's, need weights that are not negative. `r` is the coefficient itself. To drop edges of one sign,
#' use `igraph::delete_edges(g, igraph::E(g)[r < 0])`, or ask for a network with `sign = "positive"`. Shortest paths
#' take a weight as a length: set `igraph::E(g)$weight <- 1 - igraph::E(g)$weight` first.
#'
#' For tidygraph use `tidygraph::as_tbl_graph(as_igraph(net))`. ggraph takes graphs of igraph.
#'
#' @section Other programs:
#' * GraphML, for Gephi, Cytoscape, yEd and networkx: `igraph::write_graph(as_igraph(net), "net.graphml", "graphml")`.
#' * Cytoscape, as a table whose columns are attributes of edges, with `from` as source and `to` as target:
#'   `write.csv(as.data.frame(net), "edges.csv", row.names = FALSE)`; or at once, by package RCy3:
#'   `RCy3::createNetworkFromIgraph(as_igraph(net))`.
#'   An attribute of nodes: `igraph::V(g)$module <- modules$colors[igraph::V(g)$name]`.
#' * Gephi, as a table: `e <- as.data.frame(net)`, then `write.csv(data.frame(Source = e$from, Target = e$to, Type =
#'   "Undirected", Weight = abs(e$r)), "edges.csv", row.names = FALSE)`.
#'
#' @param net A network of [gpuCorNetwork()], [gpuCorCompare()] or [gpuTOM()], or a sparse matrix of package Matrix,
#'   such as a part of a network, `net[i, i]`, or a power, `net^6`.
#' @return An undirected graph of package igraph. Vertices have the attribute `name` if the columns have names. Edges
#'   have `weight` and `r` (`difference` for a network of differences, `overlap` for a network of overlaps, `value` for
#'   a plain sparse matrix). A network of [gpuCorNetwork()] also passes on `p.value`, `fdr` and `stability`. A network
#'   of `x` against `y`, or a sparse matrix that is not symmetric, gives a bipartite graph: the vertex attribute `type`
#'   is `FALSE` for columns of `x` and `TRUE` for columns of `y`. If both sides share names, names begin with `x.` and
#'   `y.`. The diagonal of a symmetric matrix is ignored.
#' @examples
#' net <- gpuCorNetwork(mtcars, threshold = 0.8)
#' if (requireNamespace("igraph", quietly = TRUE)) {
#'   g <- as_igraph(net)
#'   igraph::membership(igraph::cluster_louvain(g))
#' }
#' @export
as_igraph <- function(net) {
  check_type(net, "net", is_network(net) || is_sparse(net), A_NETWORK, if (is.data.frame(net)) {
    "; igraph::graph_from_data_frame(net, FALSE, vertices = colnames(x)) takes edges"
  })
  check_slots(net, "net")
  need_packages("igraph", "as_igraph()")
  value <- if (is_network(net)) value_name(net) else "value"
  # The columns that as.data.frame() has beside the edges and their values, in the order of slot x.
  further <- if (is_network(net) && !is(net, "gpuCorDifference")) {
    c(edge_tests(net@x, net@tests, seq_along(net@x), choose_threads(setting(NULL, "threads"))),
      if (length(net@stability)) list(stability = net@stability))
  }
  if (!is_network(net)) net <- plain_network(net)
  symmetric <- is(net, "dsCMatrix")
  size <- dim(net)
  graph <- igraph::make_empty_graph(if (symmetric) size[1L] else sum(size), directed = FALSE)
  names <- vertex_names(net@Dimnames, size, symmetric)
  tell_same_names(names)
  if (!is.null(names)) graph <- igraph::set_vertex_attr(graph, "name", value = names)
  if (!symmetric) graph <- igraph::set_vertex_attr(graph, "type", value = rep(c(FALSE, TRUE), size))
  ends <- network_ends(net)
  edges <- rbind(ends$from, ends$to + if (symmetric) 0 else size[1L])
  # Attributes are passed with the edges, as setting one later copies all of them.
  igraph::add_edges(graph, edges, attr = c(stats::setNames(list(abs(net@x), net@x), c("weight", value)), further))
}

# Returns a plain sparse matrix of a class that networks extend, without its diagonal if it is symmetric.
plain_network <- function(net) {
  net <- as(as(net, "dMatrix"), "CsparseMatrix")
  if (!Matrix::isSymmetric(net)) return(Matrix::drop0(as(net, "generalMatrix")))
  net <- Matrix::forceSymmetric(as(net, "generalMatrix"), "U")
  Matrix::diag(net) <- 0
  Matrix::drop0(net)
}
