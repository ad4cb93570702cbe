#' The network of strongly correlated columns
#'
#' `gpuCorNetwork()` computes the correlation of every pair of columns and returns the strong ones as edges: a sparse
#' matrix, an edge list or a file. Only the edges are stored, so memory grows with the number of columns and edges, not
#' with the number of pairs.
#'
#' Give one criterion:
#'
#' * `threshold`: the minimum weight of an edge. The weight is `|r|`, `r` or `-r`, as `sign` says.
#' * `density`: the fraction of all pairs to keep. Exactly `ceiling(density * pairs)` edges are kept, and ties with the
#'   weakest of them.
#' * `k`: the k nearest neighbors of each column; of equal ones the earlier column. An edge needs one of its two columns
#'   to have the other as a neighbor, or both with `mutual = TRUE`.
#' * `p.value`: the maximum two-sided p value of [gpuCorTest()], not adjusted.
#' * `fdr`: the maximum false discovery rate, by Benjamini and Hochberg over all pairs that have a coefficient. Pairs of
#'   both signs are counted.
#'
#' Several values of `threshold`, `density` or `k` give several networks from one computation.
#'
#' Missing values and ties are treated as in [gpuCor()]. A pair without a coefficient is no edge. Columns without
#' coefficients, because they are constant or have missing or infinite values, are counted in a warning.
#'
#' Edges are selected by coefficients of columns in single precision (an error of about 1e-8; none for Kendall), which
#' are the same on every back end. With `precision = "double"` edges are selected, and returned, by coefficients within
#' 1e-13 of [stats::cor()].
#'
#' P values of pairs with ties (Kendall; Spearman with up to `r gpucor:::EXACT_UNTOLD` observations), with different
#' observations or with different degrees of freedom need more memory, because equal coefficients can have different p
#' values: all candidate edges are stored until they are tested.
#'
#' `normalize = "clr"` compares each pair with its background (Faith and others 2007): I = -log(1 - r^2) / 2 is the
#' information in nats that a normal distribution with this coefficient has, z_i is how many standard deviations it is
#' above the mean of all pairs of column i, or 0, and the edge's value, `clr`, is sqrt(z_i^2 + z_j^2). With
#' `method = "mi"` I is the mutual information. It takes two passes, and `threshold` is one of `clr`.
#'
#' @section Files:
#' `file` writes the edges to an HDF5 file in the layout of AnnData, which `anndata.read_h5ad()` reads in Python and
#' `HDF5Array::H5SparseMatrix(file, "X")` in R (transposed). `X` is the matrix in compressed sparse rows, with both
#' triangles if it is symmetric; `obs` and `var` have the names, and `uns` the settings. There may be more than 2^31
#' edges. The file gets its name when it is complete, and must not exist before. It needs package rhdf5.
#'
#' Edges are buffered in memory (12 bytes each, up to a quarter of free memory), then spilled to an unlinked temporary
#' file beside `file`. Option `gpucor.spool_bytes` sets the size of the buffer; 0 is no limit.
#'
#' @inheritParams gpuCor
#' @param pairs `NULL`, or a mask of the pairs to compute, from [pairMask()].
#' @param effects A string, for many subjects: `"random"` or `"fixed"`, see [subjects].
#' @param threshold A number in \[0, 1\], or several.
#' @param density A number in (0, 1\], or several.
#' @param k An integer of at least 1, or several.
#' @param p.value,fdr A number in (0, 1\].
#' @param sign A string: `"absolute"`, `"positive"` or `"negative"`. Pairs of the other sign are never edges. With
#'   `method = "distance"` always `"positive"`. May be abbreviated.
#' @param min_obs With `p.value` or `fdr`: an integer of at least 3, or `NULL` for 3. Pairs with fewer pairwise-complete
#'   observations have no p value and are no edges. An `fdr` still counts them among the tests, which is conservative.
#' @param normalize A string: `"none"`, or `"clr"` for the context likelihood of each pair, see Details.
#' @param mutual With `k`: `TRUE` if both columns must be neighbors of each other.
#' @param output A string: `"matrix"`, or `"edges"` for the data frame that `as.data.frame()` makes of the matrix.
#' @param file `NULL`, or a string: the name of a file to write.
#' @param compression With `file`: an integer from 0 (none) to 9. Level 1 makes a file of less than half the size.
#' @param shards `NULL`, or an integer: the number of shards to compute with the workers of [future::plan()], as
#'   [gpuCorPlan()] does, in a temporary folder. The folder is where option `gpucor.folder` says; by default in
#'   [tempdir()], or in the working directory if the workers are on other machines.
#'
#' @return `output = "matrix"`: a symmetric sparse matrix of class [gpuCorNetwork-class] (a `dsCMatrix`) with zero
#'   diagonal, or with `y` an `ncol(x)` x `ncol(y)` matrix of class `gpuCorNetworkXY` (a `dgCMatrix`). Values are the
#'   coefficients, names those of the columns. `output = "edges"`: a data frame with an edge in each row, the strongest
#'   first: `from`, `to`, `r`, and p values if they were the criterion. With `file`: a list of class
#'   `gpuCorNetworkFile`, invisibly. For several values of the criterion: a list of networks or data frames, named by
#'   the values.
#'
#' @section Errors: As [gpuCor()]; none or several criteria; more than 2^31 - 1 edges without `file`; more edges than
#'   fit in free memory, before anything is computed if `density` or `k` determines their number, otherwise when memory
#'   runs out.
#'
#' @references
#' Faith JJ and others (2007). Large-scale mapping and validation of *Escherichia coli* transcriptional regulation from
#' a compendium of expression profiles. *PLoS Biology* 5, e8.
#'
#' Zhao K, Du Y, Wang H. A GPU-based framework for building dense and sparse networks of large data by correlation.
#'
#' Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate. *Journal of the Royal Statistical Society B*
#' 57, 289-300.
#'
#' @seealso [gpucor-p-values] for which data p values are valid; [gpuConnectivity()] for degrees without the edges;
#'   [pickPower()]; [gpuPrune()] to remove indirect edges; [gpuCorNetwork-class]
#' @examples
#' x <- as.matrix(mtcars)
#' net <- gpuCorNetwork(x, threshold = 0.8)
#' net
#' as.data.frame(net)
#' Matrix::rowSums(net != 0) # degrees
#'
#' gpuCorNetwork(x, density = 0.1, method = "kendall", output = "edges")
#' gpuCorNetwork(x, fdr = 0.01)@threshold
#' gpuCorNetwork(x[, 1:4], x[, 5:11], k = 1)
#' @export
gpuCorNetwork <- function(x, y = NULL, threshold = NULL, density = NULL, k = NULL, p.value = NULL, fdr = NULL,
                          method = c("pearson", "kendall", "spearman", "bicor", "cosine", "distance", "mi"),
                          use = "everything", sign = c("absolute", "positive", "negative"),
                          normalize = c("none", "clr"), mutual = FALSE, pairs = NULL, min_obs = NULL,
                          output = c("matrix", "edges"), file = NULL, compression = 0, shards = NULL,
                          precision = c("single", "double"), weights = NULL, weights_are = NULL, covariates = NULL,
                          data = NULL, bandpass = NULL, tr = NULL, df = NULL, partial = FALSE, shrinkage = "auto",
                          options = NULL, assay = NULL, combine = NULL, subjects = NULL, subject_weights = NULL,
                          probs = NULL, above = NULL, na.rm = NULL, effects = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  if (!is.null(y)) check_not_threshold(x, y)
  if (!is.null(shards)) {
    given <- c(list(threshold = threshold, density = density, k = k, p.value = p.value, fdr = fdr, sign = sign,
                    normalize = normalize, mutual = mutual, use = use, method = method, output = output,
                    precision = precision, pairs = pairs, min_obs = min_obs, assay = assay),
               mget(c(ADJUSTMENT, PARTIAL, COMBINATION, "effects")))
    compression <- check_compression(compression, file)
    return(by_shards("gpuCorNetwork", x, y, Filter(Negate(is.null), given), shards, file, compression, control,
                     sys.call()))
  }
  chosen <- check_normalize(normalize, list(threshold = threshold, density = density, k = k, p.value = p.value,
                                            fdr = fdr))
  criterion <- chosen$criterion
  output <- check_choice(output, c("matrix", "edges"), "output")
  mutual <- check_flag(mutual, "mutual")
  if (mutual && is.null(k)) fail("'mutual' is TRUE, which has a meaning with 'k' only; leave it out")
  if (!is.null(min_obs)) check_min_obs_for(criterion$name)
  if (!is.null(file) || !identical(compression, 0)) compression <- check_compression(compression, file)
  settings <- new_settings(control, asked_of(mget(c(ADJUSTMENT, PARTIAL))), precision,
                           mget(c(COMBINATION, "effects")), pairs, assay)
  task <- network_task(x, y, criterion, sign, use, method, settings)
  if (chosen$normalize == "clr") task <- clr_task(task, file)
  task[c("mutual", "min_obs", "call")] <- list(mutual, min_obs, call_of(sys.call(), task$settings))
  if (!is.null(file)) {
    check_one_file(criterion)
    return(invisible(new_network_file(network_to_file(task, file, compression))))
  }
  if (length(criterion$value) > 1L) return(several_networks(task, output))
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), colnames(task$y))
  warn_without(rows, task)
  network_output(rows, task, output)
}

network_output <- function(rows, task, output) {
  rows <- clr_rows(rows, task)
  task <- clr_criterion(task)
  if (output == "matrix") return(new_network(rows, task))
  names <- network_names(task)
  doing(task$settings, "sorting the edges")
  frame <- edge_frame(rows, names[[1L]], names[[2L]], task$settings$threads)
  if (!is.null(task$settings$information)) names(frame)[3L] <- "clr"
  frame
}

check_min_obs_for <- function(criterion) {
  if (criterion %in% c("p.value", "fdr")) return(invisible())
  fail("'min_obs' is for 'p.value' and 'fdr', not for '", criterion, "'; leave it out")
}

check_compression <- function(compression, file) {
  compression <- check_whole(compression, "compression", 0, 9)
  if (compression > 0 && is.null(file)) fail("'compression' has a meaning with 'file' only; leave it out")
  compression
}

# ---- passes over the data

# Returns a list of networks, one for each value of the criterion.
several_networks <- function(task, output) {
  values <- task$criterion$value
  task$stays <- "rows"
  check_edge_memory(task)
  found <- if (task$criterion$name == "k") several_neighbours(task) else several_levels(task)
  warn_constant(found[[1L]], colnames(task$x), colnames(task$y))
  warn_without(found[[1L]], task)
  networks <- lapply(seq_along(values), function(v) {
    task$criterion$value <- values[v]
    network_output(found[[v]], task, output)
  })
  stats::setNames(networks, vapply(values, format, "", digits = 15))
}
