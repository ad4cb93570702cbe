#' The network of strongly correlated columns
#'
#' The pairs of columns of `x`, or of columns of `x` and of `y`, whose
#' correlation is large, as a sparse matrix, an edge list or a file. All pairs are
#' computed, none is stored but the edges: memory grows with the columns and the
#' edges.
#'
#' Exactly one of these says which pairs are edges; of the first three several values make several networks:
#'
#' * `threshold`: the size of the coefficient.
#' * `density`: the share of all pairs. The threshold is the k-th largest
#'   coefficient, k = `ceiling(density * pairs)`, exactly; ties with it are kept, too.
#' * `k`: each column's k strongest neighbours, ties going to the earlier
#'   column. An edge is there if either of its two columns has the other among
#'   its own, with `mutual = TRUE` if both have.
#' * `p.value`: the two-sided p value of [gpuCorTest()], not adjusted; with weights, covariates or `df` too
#'   ([gpucor-measures]).
#' * `fdr`: the same, adjusted by Benjamini and Hochberg over all pairs that have
#'   a coefficient.
#'
#' Several thresholds, densities or `k`s take one run: the network that has the most edges is computed, and the others
#' are its strongest edges, the same to the last bit as in calls of their own.
#'
#' `sign` says what large means: `|r|`, `r` or `-r`; pairs of the other sign are
#' never edges. P values are two-sided whatever `sign` is, and `fdr` counts the
#' pairs of both signs.
#'
#' Missing values and ties: as in [gpuCor()]. A pair without a coefficient is no
#' edge; columns that have none, being constant or with missing or infinite values, are counted in a warning.
#'
#' Accuracy: which pairs are edges is decided on coefficients that differ from
#' double precision only by the rounding of each column to single precision (some
#' 1e-8), and that are the same on every back end. Kendall's are exact. With `precision = "double"` columns are not
#' rounded: edges are decided on coefficients within 1e-13 of [stats::cor()], the same on every back end, and have
#' these as values.
#'
#' P values of Kendall's tau-b with ties, of Spearman's rho with ties and up to `r gpucor:::EXACT_UNTOLD` observations,
#' and of pairs of which each has its own complete observations or degrees of freedom, do not follow from the
#' coefficient alone: they are computed for all pairs that may be edges, which are kept in memory meanwhile. Those of
#' coefficients near 1 are computed in double precision, as those of [gpuCorTest()].
#'
#' `file`: the edges go to an HDF5 file as they are found, in the layout of
#' AnnData: `X` is the matrix in compressed rows (`data` in single precision,
#' `indices`, `indptr`), with both halves of a symmetric one, the names in `obs`
#' and `var`, and what `show()` tells of a network in `uns`. It is what
#' `anndata.read_h5ad()` and `HDF5Array::H5SparseMatrix(file, "X")` read, the latter as its
#' transpose, as R's matrices go by columns. It needs package rhdf5, and has no limit
#' of 2^31 edges, but where p values do not follow from the coefficient alone. It appears under its name when it is
#' complete; a file that exists
#' is an error. What a process that was killed has left of it is removed by the next one that
#' writes to that name.
#'
#' Edges are buffered in memory (12 bytes each, up to a quarter of free memory), then spilled to an unlinked temporary
#' file beside `file`. Option `gpucor.spool_bytes`, or variable `GPUCOR_SPOOL_BYTES`, sets how many bytes may be in
#' memory; with 0 all of them are. HDF5 then writes `file` with one thread, which can take longer than a GPU takes to
#' find the edges.
#'
#' @inheritParams gpuCor
#' @param pairs `NULL`, or a mask of the pairs to compute, of [pairMask()].
#' @param effects Of many subjects: `"random"` or `"fixed"`, what p values are of. See [subjects].
#' @param threshold A number in \[0, 1\], or several.
#' @param density A number in (0, 1\], or several.
#' @param k A whole number of at least 1, or several.
#' @param p.value,fdr A number in (0, 1\].
#' @param sign `"absolute"`, `"positive"` or `"negative"`. May be abbreviated.
#' @param min_obs With `p.value` or `fdr`: a whole number of at least 3, or `NULL` for 3. Pairs with fewer common
#'   observations have no p value and are no edges. An `fdr` counts them among the tests if they have a coefficient,
#'   which is conservative.
#' @param mutual With `k`: both columns must be among the other's neighbours.
#' @param output `"matrix"`, or `"edges"`, the data frame that `as.data.frame()`
#'   makes of the matrix. `"edges"` spares the memory of the matrix.
#' @param file `NULL`, or the name of a file to write.
#' @param compression With `file`: how hard to compress it, from 0, not at all, to 9. Coefficients hardly
#'   shrink, their places do: level 1 makes a file of less than half the size.
#' @param shards `NULL`, or into how many shards the pairs are cut, for the workers that [future::plan()] has been
#'   given: [gpuCorPlan()], [gpuCorRun()] and [gpuCorCollect()] in a temporary folder. It lies in the one that the
#'   option `gpucor.folder` or the variable `GPUCOR_FOLDER` names, by default in [tempdir()] where the workers are on
#'   this machine, otherwise in the working directory.
#'
#' @return `output = "matrix"`: with `y = NULL` a symmetric sparse matrix with zero
#'   diagonal, of class [gpuCorNetwork-class], which is a `dsCMatrix`; with `y` one of class
#'   `gpuCorNetworkXY`, which is a `dgCMatrix`, `ncol(x)` x `ncol(y)`. Values are the
#'   coefficients, names those of the columns. `output = "edges"`: a data frame `from`, `to`,
#'   `r`, an edge in each row, strongest first; by `p.value` and `fdr` also p values, see [gpuCorNetwork-class].
#'   `file`: a list of class `gpuCorNetworkFile`, invisibly. Of several thresholds, densities or `k`s: a list of such
#'   networks or data frames, in their order and named by them.
#'
#' @section Errors: as [gpuCor()]. None or more than one of `threshold`, `density`,
#'   `k`, `p.value`, `fdr`. More than 2^31 - 1 edges, which a sparse matrix
#'   cannot hold: as soon as it is known. More edges than fit into the free memory: at once where `density` or `k` says
#'   how many there are, otherwise when memory becomes short; `file` keeps them on the disk.
#'
#' @references
#' Zhao K, Du Y, Wang H. A GPU-based framework for building dense and sparse
#' networks of large data by correlation.
#'
#' Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate. *Journal
#' of the Royal Statistical Society B* 57, 289-300.
#'
#' @seealso [gpucor-p-values] for which data p values are valid; [gpuConnectivity()] for sums over edges without the
#'   edges, [pickPower()], [gpuCorNetwork-class]
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
                          method = c("pearson", "kendall", "spearman", "bicor", "cosine"), use = "everything",
                          sign = c("absolute", "positive", "negative"), mutual = FALSE, pairs = NULL, min_obs = NULL,
                          output = c("matrix", "edges"), file = NULL, compression = 0, shards = NULL,
                          precision = c("single", "double"), weights = NULL, weights_are = NULL, covariates = NULL,
                          data = NULL, bandpass = NULL, tr = NULL, df = NULL, options = NULL, assay = NULL,
                          combine = NULL, subjects = NULL, subject_weights = NULL, probs = NULL, na.rm = NULL,
                          effects = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  if (!is.null(y)) check_not_threshold(x, y)
  if (!is.null(shards)) {
    given <- c(list(threshold = threshold, density = density, k = k, p.value = p.value, fdr = fdr, sign = sign,
                    mutual = mutual, use = use, method = method, output = output, precision = precision, pairs = pairs,
                    min_obs = min_obs, assay = assay), mget(c(ADJUSTMENT, COMBINATION)))
    compression <- check_compression(compression, file)
    return(by_shards("gpuCorNetwork", x, y, given_of(given), shards, file, compression, control, sys.call()))
  }
  criterion <- check_criterion(list(threshold = threshold, density = density, k = k, p.value = p.value, fdr = fdr))
  output <- check_choice(output, c("matrix", "edges"), "output")
  mutual <- check_flag(mutual, "mutual")
  if (mutual && is.null(k)) fail("'mutual' is TRUE, which has a meaning with 'k' only; leave it out")
  if (!is.null(min_obs)) check_min_obs_for(criterion$name)
  if (!is.null(file) || !identical(compression, 0)) compression <- check_compression(compression, file)
  settings <- new_settings(control, mget(ADJUSTMENT), precision, mget(COMBINATION), pairs, assay)
  task <- network_task(x, y, criterion, sign, use, method, settings)
  task[c("mutual", "min_obs", "call")] <- list(mutual, min_obs, call_of(sys.call(), task$settings))
  if (!is.null(file)) check_one_file(criterion)
  if (!is.null(file)) return(invisible(new_network_file(network_to_file(task, file, compression))))
  if (length(criterion$value) > 1L) return(several_networks(task, output))
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), colnames(task$y))
  warn_without(rows, task)
  network_output(rows, task, output)
}

network_output <- function(rows, task, output) {
  if (output == "matrix") return(new_network(rows, task))
  names <- network_names(task)
  doing(task$settings, "sorting the edges")
  edge_frame(rows, names[[1L]], names[[2L]], task$settings$threads)
}

check_min_obs_for <- function(criterion) {
  if (criterion %in% c("p.value", "fdr")) return(invisible())
  fail("'min_obs' is for 'p.value' and 'fdr', not for '", criterion, "'; leave it out")
}

# A file's level of compression, 0 to 9.
check_compression <- function(compression, file) {
  compression <- check_whole(compression, "compression", 0, 9)
  if (compression > 0 && is.null(file)) fail("'compression' has a meaning with 'file' only; leave it out")
  compression
}

# ---- passes over the data

# A list of networks, one for each of the criterion's values.
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
