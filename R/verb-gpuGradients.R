#' Gradients of a connectome
#'
#' `gpuGradients()` finds the main axes along which the connections of regions change: the diffusion map of Margulies
#' and others (2016), with `diagonal = TRUE` as BrainSpace computes it. Regions with similar connections get similar
#' values. The first gradient of the human cortex runs from sensory regions to the default mode network.
#'
#' For each row of the network only its strongest positive weights are kept, `fraction` of all columns. The affinity A
#' of two rows is their cosine, or with `kernel = "normalized_angle"` 1 - acos(cosine) / pi. It is normalized to L =
#' D^-alpha A D^-alpha, where D has the row sums of A, and to P, which is L with rows of sum 1, the probabilities of a
#' random walk. P has the eigenvalues 1 > lambda_1 >= lambda_2 >= ... The k-th gradient is the k-th right eigenvector of
#' P with mean square 1, times lambda_k / (1 - lambda_k) for `time = 0`, or else times lambda_k^time. Its element of
#' largest size is positive; an eigenvector has no sign of its own.
#'
#' **The diagonal.** By default a column is not its own neighbor. With `diagonal = TRUE` it is, with weight 1, as in
#' BrainSpace: `GradientMaps(kernel="cosine")` keeps the diagonal of a correlation matrix as the largest weight of each
#' row, and therefore one other weight fewer.
#'
#' **BrainSpace** keeps `int(n * (1 - sparsity))` of the n weights of a row. By rounding, that is 39 of 400 for
#' `sparsity=0.9`, where `fraction = 0.1` keeps 40; `fraction = 39 / 400` keeps as many as BrainSpace. BrainSpace's
#' `lambdas_` are `lambda / (1 - lambda)`.
#'
#' The cosines of a sparse matrix are never stored, so that tens of thousands of voxels are possible. The normalized
#' angles of all pairs are stored, in double precision.
#'
#' Columns without a positive weight have no gradient: they are `NA`, with a warning.
#'
#' @param x A network of [gpuCorNetwork()], a sparse matrix of package Matrix, or all coefficients, as [gpuCor()]
#'   returns them or as a symmetric matrix. Or data, as [gpuCorNetwork()] takes them, with a variable in each column:
#'   the correlations are then computed, and of each column only those kept. Also a list of subjects' data, with
#'   `combine`.
#' @param n An integer: the number of gradients.
#' @param fraction A number above 0 and up to 1: how much of each row is kept.
#' @param kernel A string: `"cosine"` or `"normalized_angle"`.
#' @param alpha A number in \[0, 1\]: how much the density of regions is corrected for; 0: not at all.
#' @param time A number of at least 0: steps of the random walk; 0 sums over all numbers of steps.
#' @param diagonal `TRUE` if each column is its own neighbor, with weight 1, as in BrainSpace.
#' @param ... For data: arguments of [gpuCorNetwork()] such as `method`, `covariates`, `combine` and `threads`.
#' @return A list of class `gpuGradients`: `gradients`, a matrix with a row for each variable and a column for each
#'   gradient; `lambda`, the eigenvalues; and the settings `fraction`, `kernel`, `alpha`, `time` and, if `TRUE`,
#'   `diagonal`. `as.data.frame()` returns the gradients. [voxelImage()] makes an image of a column.
#' @section Errors: a network that is not symmetric or not connected, in which gradients would only tell the parts
#'   apart; more gradients than variables. More than `r gpucor:::MAX_EIGEN` variables need package RSpectra.
#' @references
#' Margulies DS and others (2016). Situating the default-mode network along a principal gradient of macroscale cortical
#' organization. *PNAS* 113, 12574-12579.
#'
#' Coifman RR, Lafon S (2006). Diffusion maps. *Applied and Computational Harmonic Analysis* 21, 5-30.
#'
#' Vos de Wael R and others (2020). BrainSpace: a toolbox for the analysis of macroscale gradients in neuroimaging and
#' connectomics datasets. *Communications Biology* 3, 103.
#' @seealso [parcelMeans()], [gpuCorNetwork()]; `vignette("connectome", "gpucor")`
#' @examples
#' # Regions on a line: neighbors share signals
#' set.seed(1)
#' signals <- matrix(rnorm(200 * 60), 200)
#' mixing <- exp(-outer(seq(0, 1, length.out = 40), seq(-0.2, 1.2, length.out = 60), "-")^2 / 0.02)
#' x <- signals %*% t(mixing) + matrix(rnorm(200 * 40, 0, 0.3), 200)
#' g <- gpuGradients(x, n = 3)
#' g
#' abs(cor(g$gradients[, 1], 1:40)) # the first gradient is the order on the line
#' plot(g)
#' @order 1
#' @export
gpuGradients <- function(x, n = 5, fraction = 0.1, kernel = c("cosine", "normalized_angle"), alpha = 0.5, time = 0,
                         ..., diagonal = FALSE) {
  refuse_other_names(...names(), names(formals()))
  n <- check_whole(n, "n", 1, 1000)
  fraction <- check_fraction(fraction, "fraction", FALSE)
  kernel <- check_choice(kernel, c("cosine", "normalized_angle"), "kernel")
  alpha <- check_within(alpha, "alpha", 0, 1)
  time <- check_within(time, "time", 0, Inf)
  diagonal <- check_flag(diagonal, "diagonal")
  weights <- weights_by_row(x, fraction, ...)
  rows <- strongest_of_rows(if (diagonal) with_unit_diagonal(weights) else weights, fraction)
  found <- diffusion_map(unit_columns(rows), n, kernel, alpha, time)
  new_gradients(found, colnames(weights), c(list(fraction = fraction, kernel = kernel, alpha = alpha, time = time),
                                            if (diagonal) list(diagonal = TRUE)))
}

# Columns without a weight stay without one.
with_unit_diagonal <- function(rows) {
  as(rows + Matrix::Diagonal(x = as.numeric(diff(rows@p) > 0)), "CsparseMatrix")
}

# Returns a dgCMatrix that has the weights of row i in column i, without the diagonal.
weights_by_row <- function(x, fraction, ...) {
  values <- if (inherits(x, "dist") || is.data.frame(x) && nrow(x) == ncol(x)) as.matrix(x) else x
  if (is.matrix(values) && is_variables(values) && isSymmetric(unname(unclass(values)))) {
    if (!is.null(colnames(values))) rownames(values) <- colnames(values) # read.csv() changes these
    x <- replace(values, is.na(values), 0)
    x <- methods::as(Matrix::Matrix(x, sparse = TRUE), "generalMatrix")
  }
  if (is_network(x) || is_sparse(x)) {
    check_slots(x, "x")
    if (...length()) fail("argument '", ...names()[1L], "' is for data, and 'x' is a network")
    net <- if (is(x, "gpuCorNetwork")) x else plain_network(x)
    if (!is(net, "dsCMatrix")) fail("'x' must be symmetric or data, not a matrix of ", show_size(dim(x)))
    return(as(as(net, "dsCMatrix"), "generalMatrix"))
  }
  first <- if (is_subjects(x) && is.list(x)) x[[1L]] else x
  check_slots(first, "x")
  size <- dim(first)
  if (length(size) != 2L) check_matrix_like(first, COLUMNS)
  n_var <- if (is_experiment(first)) size[1L] else size[2L]
  net <- gpuCorNetwork(x, k = kept_in_row(n_var, fraction), sign = "positive", ...)
  as(as(net, "dsCMatrix"), "generalMatrix")
}
