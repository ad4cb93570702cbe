#' A network as a graph of igraph
#'
#' All variables become vertices, those without an edge too, and every edge keeps its coefficient.
#' `igraph::graph_from_data_frame(as.data.frame(net))` would lose the variables that have no edge, and the weights.
#'
#' Methods that look for communities take weights that are not negative: Louvain's and Leiden's refuse others, and
#' shortest paths with them have no meaning. So `weight` is the size of the coefficient, whatever its sign, and `r` the
#' coefficient itself. Where only edges of one sign are to join communities, leave out the others:
#' `igraph::delete_edges(g, igraph::E(g)[r < 0])`, or ask for the network with `sign = "positive"`. For paths, which
#' take a weight to be a length, `igraph::E(g)$weight <- 1 - igraph::E(g)$weight`.
#'
#' For tidygraph: `tidygraph::as_tbl_graph(as_igraph(net))`. For ggraph, Cytoscape (`RCy3`) and others that take graphs
#' of igraph: `as_igraph(net)`.
#'
#' igraph's own `graph_from_adjacency_matrix()` takes a network, too, and loses the signs; its
#' `graph_from_incidence_matrix()` does not take a network of `x` against `y`, but `as(net, "dgCMatrix")`.
#'
#' @param net What [gpuCorNetwork()] or [gpuCorCompare()] returns with `output = "matrix"`, or [gpuTOM()] with `output =
#'   "network"`; or a sparse matrix of package Matrix, such as a part of a network, `net[i, i]`, or a power, `net^6`.
#' @return An undirected graph of package igraph. Vertices have the attribute `name` where the columns have names, in
#'   the order of the columns; edges have `weight`, the size of the coefficient, and `r`, with its sign (`difference`
#'   for a network of differences, `overlap` for one of overlaps, `value` for a plain sparse matrix). Of a network of
#'   `x` against `y`, and of a sparse matrix that is not symmetric, the graph is bipartite: the vertex attribute `type`
#'   is `FALSE` for columns of `x` and `TRUE` for those of `y`, which follow; where both have a name, the names are
#'   preceded by `x.` and `y.`. Entries on the diagonal of a symmetric matrix are ignored.
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
         graph_way_out(net))
  }
  need_cran_package("igraph", "as_igraph()")
  graph_of(if (is_network(net)) net else plain_network(net), value_name(net))
}

# A plain sparse matrix in one of the two classes that networks extend, without its diagonal where it is symmetric.
plain_network <- function(net) {
  net <- as(as(net, "dMatrix"), "CsparseMatrix")
  if (!Matrix::isSymmetric(net)) return(Matrix::drop0(as(net, "generalMatrix")))
  net <- Matrix::forceSymmetric(as(net, "generalMatrix"), "U")
  Matrix::diag(net) <- 0
  Matrix::drop0(net)
}

# The function that makes a graph of other things: of edges, of files, and of dense matrices.
graph_way_out <- function(net) {
  if (inherits(net, "gpuCorNetworkFile")) {
    return(paste0("; of a file igraph::graph_from_adjacency_matrix(as(HDF5Array::H5SparseMatrix(net$file, \"X\"), ",
                  "\"dgCMatrix\"), \"undirected\", weighted = TRUE) makes a graph, if it fits into memory"))
  }
  if (is.data.frame(net)) {
    return(paste0("; edges in a data frame become a graph by igraph::graph_from_data_frame(edges, FALSE, vertices = ",
                  "colnames(x))"))
  }
  if (length(dim(net)) != 2L || nrow(net) != ncol(net)) return(NULL)
  paste0("; a symmetric matrix becomes a graph by ",
         "igraph::graph_from_adjacency_matrix(net, \"undirected\", weighted = TRUE, diag = FALSE)")
}
