#' The network of strongly correlated columns
#'
#' `gpuCorNetwork()` computes the correlation of every pair of columns and returns the strong ones as edges: a sparse
#' matrix, an edge list or a file. Only the edges are stored, so memory grows with the number of columns and edges, not
#' with the number of pairs. [gpuPrune()] removes indirect edges.
#'
#' Give one criterion:
#'
#' * `threshold`: the minimum weight of an edge. The weight is `|r|`, `r` or `-r`, as `sign` says; always `r` with
#'   `method = "distance"` and with `combine = "icc2"` or `combine = "icc3"`.
#' * `density`: the fraction of all pairs to keep. Exactly `ceiling(density * pairs)` edges are kept, and ties.
#' * `k`: the k nearest neighbors of each column; of equal ones the earlier column. An edge needs one of its two columns
#'   to have the other as a neighbor, or both with `mutual = TRUE`.
#' * `p.value`: the maximum two-sided p value of [gpuCorTest()], not adjusted, or with `adjust = "maxT"` adjusted by
#'   permutation or, for time series, by surrogates ([gpuPermute()]): the probability of any edge between unrelated
#'   columns is then at most `p.value`. See [gpucor-p-values] for which data p values are valid.
#' * `fdr`: the maximum false discovery rate, by Benjamini and Hochberg over all pairs that have a coefficient, of both
#'   signs; or with `adjust = "fdr"` by permutation or surrogates, among the pairs of `sign`.
#'
#' Several values of `threshold`, `density` or `k` give several networks from one computation. Missing values and ties
#' are treated as in [gpuCor()]. A pair without a coefficient is no edge.
#'
#' Edges are selected by coefficients of columns in single precision (an error of about 1e-8; none for Kendall), which
#' are the same on every back end. With `precision = "double"` edges are selected, and returned, by coefficients within
#' 1e-13 of [stats::cor()].
#'
#' P values of pairs with ties (Kendall; Spearman with up to `r gpucor:::EXACT_UNTOLD[["spearman"]]` observations), with
#' different observations or with different degrees of freedom need more memory, because equal coefficients can have
#' different p values: all candidate edges are stored until they are tested.
#'
#' `normalize = "clr"` compares each pair with its background (Faith and others 2007): I = -log(1 - r^2) / 2 is the
#' information in nats that a normal distribution with this coefficient has, z_i is how many standard deviations it is
#' above the mean of all pairs of column i, or 0, and the edge's value, `clr`, is sqrt(z_i^2 + z_j^2). With
#' `method = "mi"` I is the mutual information. It takes two passes, and `threshold` is one of `clr`. Pairs whose `clr`
#' is 0 are no edges, even if `density` or `k` ask for more. With `y`, such as
#' regulators in `x` and their targets in `y`, the background of a column of `x` is its pairs with all columns of `y`,
#' and that of a column of `y` its pairs with all columns of `x`. A regulator that is among the targets, by its name,
#' has a pair with itself, which is an edge as without `normalize`, but is in no background. Drop these edges by
#' `subset(as.data.frame(net), from != to)`.
#'
#' `lag = -10:10` makes the network of each pair's coefficient of largest size over these lags, as in the section on
#' lags of [gpuCor()]. The weight that is compared is that of `sign`. `threshold`, `density` or `k`, one value, refer to
#' the largest coefficients, and no matrix of all pairs is stored.
#'
#' @section Stability:
#' `resample = 100` draws 100 resamples, each a `fraction` of the observations without replacement, and finds the
#' network of each by the same criterion. The `stability` of an edge is the fraction of these networks that have it.
#' Only edges of the network of all observations are counted; a looser criterion includes others.
#'
#' With `p.value` and `fdr`, resamples have less power, and stability is low for edges that are barely significant. Of a
#' list of subjects, resamples have a fraction of the subjects. Stability of series is too optimistic.
#'
#' [set.seed()] makes the resamples reproducible. They take about as long as so many networks.
#'
#' @section Single samples:
#' `lioness = i` returns the network of sample i (LIONESS, Kuijjer and others 2019). Its coefficients are
#' `n * r - (n - 1) * s`, where r is the coefficient of all n samples and s that of all but sample i, both in double
#' precision. They are not limited to -1 to 1, and `threshold` may be larger than 1, too. There are no p values. With
#' `use = "complete.obs"` n counts complete samples.
#'
#' `lioness = 1:57` returns a matrix of these samples' values (columns) for the edges (rows, named `from~to`) of the
#' network of all samples, by any criterion, with the data frame of edges as attribute `"edges"`. It is what limma
#' takes: `lmFit(gpuCorNetwork(x, fdr = 0.01, lioness = rownames(x)), design)`.
#'
#' @section Files:
#' `file` writes the edges to an HDF5 file in the layout of AnnData, which `anndata.read_h5ad()` reads in Python and
#' `HDF5Array::H5SparseMatrix(file, "X")` in R (transposed). `X` is the matrix in compressed sparse rows, with both
#' triangles if it is symmetric; `obs` and `var` have the names, and `uns` the settings. There may be more than 2^31
#' edges, which are an error without `file`. It must be new, and gets its name when it is complete. Package rhdf5 is
#' needed.
#'
#' Edges are buffered in memory (12 bytes each, up to a quarter of free memory), then spilled to an unlinked temporary
#' file beside `file`. Option `gpucor.spool_bytes` sets the size of the buffer; 0 is no limit.
#'
#' @inheritParams gpuCor
#' @param x,y,lag,min_overlap As in [gpuCor()].
#' @param pairs `NULL`, or a mask of the pairs to compute, from [pairMask()].
#' @param threshold,density,k,p.value,fdr The criterion, see Details: a number in \[0, 1\], above 0 but for `threshold`;
#'   for `k` an integer of at least 1. Of the first three also several.
#' @param sign A string: `"absolute"`, `"positive"` or `"negative"`, the sign of edges. May be abbreviated.
#' @param normalize,mutual `"none"`, or `"clr"` for the context likelihood of each pair; with `k`, `TRUE` for mutual
#'   neighbors.
#' @param output A string: `"matrix"`, or `"edges"` for its data frame.
#' @param file `NULL`, or the name of a file to write, see the section on files.
#' @param resample,fraction The number of resamples for the stability of edges, 0 for none, and the fraction of the
#'   observations, or of the subjects, in a resample, a number between 0 and 1.
#' @param lioness `NULL`, or the number or name of a row of `x`: a sample whose network is wanted. Several: a matrix.
#' @param ...,adjustment,subjects,permutation,control `r offered_words("gpuCorNetwork")`
#'
#' @return `output = "matrix"`: a symmetric sparse matrix of class [gpuCorNetwork-class] (a `dsCMatrix`) with zero
#'   diagonal, or with `y` an `ncol(x)` x `ncol(y)` matrix of class `gpuCorNetworkXY` (a `dgCMatrix`). Values are the
#'   coefficients, names those of the columns. `output = "edges"`: the data frame of that class. With `file`: a list of
#'   class `gpuCorNetworkFile`, invisibly, of which `as.data.frame()` reads `from`, `to` and `r`. For several values of
#'   the criterion: a list of networks or data frames, named by the values.
#'
#' @references
#' Faith JJ and others (2007). *PLoS Biology* 5, e8.
#'
#' Kuijjer ML, Tung MG, Yuan G, Quackenbush J, Glass K (2019). *iScience* 14, 226-240.
#'
#' @examples
#' x <- as.matrix(mtcars)
#' gpuCorNetwork(x, threshold = 0.8)
#'
#' gpuCorNetwork(x, density = 0.1, method = "kendall", output = "edges")
#' gpuCorNetwork(x[, 1:4], x[, 5:11], k = 1)
#' gpuCorNetwork(x[, 1:4], x[, 5:11], density = 0.1, normalize = "clr")
#' set.seed(1)
#' gpuCorNetwork(x, fdr = 0.01, resample = 50, output = "edges")
#' @export
gpuCorNetwork <- function(x, y = NULL, threshold = NULL, density = NULL, k = NULL, p.value = NULL, fdr = NULL,
                          method = "pearson", use = "everything", sign = c("absolute", "positive", "negative"),
                          normalize = c("none", "clr"), lag = NULL, min_overlap = NULL, mutual = FALSE, pairs = NULL,
                          output = c("matrix", "edges"), file = NULL, resample = 0, fraction = 0.63, lioness = NULL,
                          ..., adjustment = NULL, subjects = NULL, permutation = NULL, control = NULL) {
  # `...` becomes specs (R/run-taken.R). new_run() makes the design of weights and covariates by with_design()
  # (R/data-design.R).
  specs <- specs_of("gpuCorNetwork", ...)
  if (!is.null(y)) check_not_threshold(x, y)
  max_t <- max_t_of(specs$permutation)
  normalize <- check_choice(normalize, c("none", "clr"), "normalize")
  mutual <- check_flag(mutual, "mutual")
  sign <- check_choice(sign, signs, "sign")
  if ("r" %in% names(sys.call())) {
    fail("'r' abbreviates 'resample'; give that, or threshold = for the smallest coefficient of an edge")
  }
  resample <- check_whole(resample, "resample", 0, 1e6)
  output <- check_choice(output, c("matrix", "edges"), "output")
  several <- !is.null(lioness) && length(lioness) != 1L
  use <- uses[check_use(use)]
  criteria <- mget(CRITERIA, environment())
  found <- features_of("gpuCorNetwork", specs, environment(), `list of subjects` = is_subjects(x), use = use,
                       `several samples` = several)
  what <- if (several) {
    "samples"
  } else if (!is.null(specs$control$shards)) {
    "shards"
  } else if (!is.null(file)) {
    "file"
  } else {
    output
  }
  call <- sys.call()
  run <- function() { # nolint: object_usage_linter. NETWORK_RESULTS calls it, and valued().
    # Context likelihoods and coefficients of a single sample are not limited to 1.
    unlimited <- if (!is.null(lioness) && !several) {
      "'lioness'"
    } else if (normalize != "none") {
      paste0("normalize = \"", normalize, "\"")
    }
    criterion <- if (is.null(threshold) || is.null(unlimited)) {
      check_criterion(criteria)
    } else {
      check_that(threshold, "threshold", are_finite(threshold, min = 0), paste("numbers of at least 0 with", unlimited))
      list(name = "threshold", value = as.numeric(threshold))
    }
    run <- new_run(found, specs, x, y, method, use, criterion, sign, takes = "subjects", max_t = max_t, pairs = pairs,
                   call = call)
    with_criterion(run, mutual = mutual)
  }
  values <- if (!is.null(lag)) "lag" else if (!is.null(lioness) && !several) "lioness" else normalize
  valued <- function(run) { # nolint: object_usage_linter.
    EDGE_VALUES[[values]](run, lag, min_overlap, lioness)
  }
  NETWORK_RESULTS[[what]](environment())
}

# What gpuCorNetwork() returns. `of`: its arguments, run(), which makes the run, and valued(run), which gives its edges
# their values.
NETWORK_RESULTS <- list(
  matrix = function(of) all_networks(of$run(), of, new_network),
  edges = function(of) {
    all_networks(of$run(), of, function(rows, run) {
      names <- network_names(run)
      doing(run$place, "sorting the edges")
      frame <- edge_frame(rows, names[[1L]], names[[2L]], run$place$threads)
      if (!is.null(run$information)) names(frame)[3L] <- "clr"
      frame
    })
  },
  samples = function(of) { # in double precision as lioness_run()
    run <- with_element(of$run(), in_double = TRUE)
    all_networks(run, of, function(rows, run) values_of_samples(rows, run, of$lioness))
  },
  file = function(of) invisible(network_to_file(of$valued(of$run()), of$file)),
  shards = function(of) by_shards("gpuCorNetwork", of)
)

# The values of edges: `none` are the coefficients of all observations, and each other function returns the run whose
# edges have its values. No call has two of them (R/run-together.R). FIND_EDGES finds the edges.
EDGE_VALUES <- list(
  none = function(run, ...) run,
  clr = function(run, ...) clr_run(run),
  lag = function(run, lag, min_overlap, ...) lagged_run(run, lag, min_overlap),
  lioness = function(run, lag, min_overlap, lioness) lioness_run(run, lioness)
)

# Returns the network, or for several values of the criterion a list of networks. `of`: see NETWORK_RESULTS;
# `as_result`: a function of a network's compressed rows and of the run.
all_networks <- function(run, of, as_result) {
  drawn <- list() # the numbers of the observations, or of the subjects, that each resample has
  if (of$resample > 0) {
    what <- if (is_combined(run$x)) "subject" else "observation"
    tests <- run$criterion$name %in% c("p.value", "fdr") && is.null(run$criterion$max_t)
    min <- if (what == "subject") 1 else if (tests) max(run$min_obs, min_tested(run$method)) else MIN_RESAMPLE
    draw <- function() draw_units(resampled_units(run), of$resample, of$fraction, min, what)
    drawn <- noted(run$place, "sample", draw)
  }
  all <- of$valued(at_pass(run, 1, 1 + length(drawn)))
  find <- function(run) { # a list of compressed rows, one for each value of the criterion
    if (!is.null(run$over$lags)) return(list(lagged_rows(run)))
    if (length(run$criterion$value) < 2L) return(list(network_rows(run)))
    run <- with_criterion(run, stays = "rows")
    check_edge_memory(run)
    FIND_SEVERAL[[run$criterion$name]](run)
  }
  found <- find(all)
  warn_without(found[[1L]], all)
  found <- with_stability(found, run, drawn, function(run) find(of$valued(run)))
  networks <- Map(found, run$criterion$value, f = function(rows, value) {
    all <- with_criterion(all, value = value)
    if (is.null(all$over$lags)) rows <- with_shared(rows, all) # with lags it depends on the lag
    as_result(if (is.null(all$criterion$for_user)) rows else all$criterion$for_user(rows), all)
  })
  if (length(networks) == 1L) return(networks[[1L]])
  stats::setNames(networks, vapply(run$criterion$value, format, "", digits = 15))
}
