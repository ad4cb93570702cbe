# Topological overlap of the edges of a sparse network, which only visits neighbors of neighbors.

is_sparse_network <- function(x) isS4(x) && is(x, "sparseMatrix") && is(x, "symmetricMatrix")

# Returns the entries as adjacencies; `is_plain`: TRUE if neither power nor type was given.
network_adjacencies <- function(x, rule, is_plain) {
  if (is(x, "gpuCorNetwork")) {
    base <- if (rule$keeps_sign) abs(x@x) else switch(rule$names$type, unsigned = abs(x@x), signed = (1 + x@x) / 2,
                                                      `signed hybrid` = pmax(x@x, 0))
    return(base^rule$power * if (rule$keeps_sign) sign(x@x) else 1)
  }
  if (!is_plain) {
    fail("'power' and 'type' are for coefficients, and 'x' is a ", class(x)[1L],
         ", whose entries are adjacencies; leave them out")
  }
  lowest <- if (rule$keeps_sign) -1 else 0
  bad <- which(is.na(x@x) | x@x > 1 | x@x < lowest)
  if (length(bad)) {
    fail("adjacencies are numbers from ", lowest, " to 1 with TOMType = \"", rule$names$TOMType, "\"; 'x' has ",
         format(x@x[bad[1L]]))
  }
  x@x
}

overlap_of_network <- function(x, rule, is_plain, threads) {
  check_slots(x, "x")
  if (!is(x, "gpuCorNetwork")) x <- as(as(x, "dMatrix"), "CsparseMatrix")
  values <- network_adjacencies(x, rule, is_plain)
  edges <- methods::new("dsCMatrix", Dim = x@Dim, Dimnames = x@Dimnames, uplo = x@uplo, p = x@p, i = x@i,
                        x = as.numeric(values))
  if (edges@uplo == "L") edges <- Matrix::t(edges)
  all <- as(edges, "generalMatrix")
  edges@x <- checked(.Call(r_sparse_overlap, edges@p, edges@i, all@p, all@i, all@x, rule, threads))
  edges
}
