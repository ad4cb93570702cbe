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
#' @section Errors: without package igraph; anything but a network or a sparse matrix.
#' @seealso [gpuCorNetwork-class]
#' @examples
#' net <- gpuCorNetwork(mtcars, threshold = 0.8)
#' if (requireNamespace("igraph", quietly = TRUE)) {
#'   g <- as_igraph(net)
#'   print(igraph::degree(g))
#'   igraph::membership(igraph::cluster_louvain(g))
#'   as_igraph(net[1:5, 1:5])
#' }
#' @export
as_igraph <- function(net) {
  if (!is_network(net) && !is_sparse(net)) {
    fail("'net' must be a network of gpuCorNetwork(output = \"matrix\"), not of class ", class(net)[1L],
         if (is.data.frame(net)) "; igraph::graph_from_data_frame(net, FALSE, vertices = colnames(x)) takes edges")
  }
  check_slots(net, "net")
  need_packages("igraph", "as_igraph()")
  if (is_network(net)) graph_of(net, value_name(net), edge_columns(net)) else graph_of(plain_network(net), "value")
}

# Returns the columns that as.data.frame() has beside the edges and their values, in the order of slot x.
edge_columns <- function(net) {
  if (is(net, "gpuCorDifference")) return(NULL)
  c(edge_tests(net@x, net@tests, seq_along(net@x), choose_threads(setting(NULL, "threads"))),
    if (length(net@stability)) list(stability = net@stability))
}

# Returns a plain sparse matrix of a class that networks extend, without its diagonal if it is symmetric.
plain_network <- function(net) {
  net <- as(as(net, "dMatrix"), "CsparseMatrix")
  if (!Matrix::isSymmetric(net)) return(Matrix::drop0(as(net, "generalMatrix")))
  net <- Matrix::forceSymmetric(as(net, "generalMatrix"), "U")
  Matrix::diag(net) <- 0
  Matrix::drop0(net)
}
