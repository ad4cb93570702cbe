# A scanMatrix is an ordinary matrix with a row for each time of a scan, as voxelMatrix(), parcelMeans(),
# readConfounds() and epochMatrix() return it. Its attributes stay when rows or columns are selected, and rbind() joins
# runs:
#   tr, entities        of the scan
#   runs, keep          a value for each row
#   coverage, centers   a value or a row for each column, of parcels
#   mask                the voxels that are its columns, of a voxelMatrix only

# S4 methods, such as those of Matrix, treat these classes as a matrix.
#' @importFrom methods setOldClass
#' @exportClass scanMatrix
setOldClass(c("scanMatrix", "matrix"))

#' @exportClass voxelMatrix
setOldClass(c("voxelMatrix", "scanMatrix", "matrix"))

#' @exportClass epochMatrix
setOldClass(c("epochMatrix", "scanMatrix", "matrix"))

# Returns FALSE if the columns are no longer the mask's voxels, as in a transpose.
knows_voxels <- function(x) {
  mask <- attr(x, "mask", exact = TRUE)
  !is.null(mask) && sum(mask) == ncol(x)
}

# Returns the matrix `picked` with what x knows of these rows and columns, or unchanged if it knows nothing of them.
as_scan <- function(picked, x, rows = seq_len(nrow(x)), columns = seq_len(ncol(x))) {
  mask <- attr(x, "mask", exact = TRUE)
  if (!is.null(mask)) { # which has each voxel once, in order
    if (!knows_voxels(x) || !isFALSE(is.unsorted(columns, strictly = TRUE))) return(picked)
    mask[which(mask)] <- seq_len(ncol(x)) %in% columns
    attr(picked, "mask") <- mask
  }
  for (name in c("runs", "keep")) {
    own <- attr(x, name, exact = TRUE)
    if (length(own) == nrow(x)) attr(picked, name) <- own[rows]
  }
  runs <- attr(picked, "runs", exact = TRUE)
  is_next <- diff(rows) == 1
  if (all(if (is.null(runs)) is_next else is_next | diff(runs) != 0)) attr(picked, "tr") <- attr(x, "tr", exact = TRUE)
  attr(picked, "entities") <- attr(x, "entities", exact = TRUE)
  attr(picked, "coverage") <- attr(x, "coverage", exact = TRUE)[columns]
  attr(picked, "centers") <- attr(x, "centers", exact = TRUE)[columns, , drop = FALSE]
  if (is.matrix(x)) class(picked) <- class(x)
  picked
}

#' @method [ scanMatrix
#' @export
`[.scanMatrix` <- function(x, i, j, ..., drop = TRUE) {
  picked <- NextMethod()
  if (!is.matrix(picked) || nargs() - (!missing(drop)) != 3L) return(picked)
  index_of <- function(n, names, by) unname(stats::setNames(seq_len(n), names)[by])
  as_scan(picked, x, rows = if (missing(i)) seq_len(nrow(x)) else index_of(nrow(x), rownames(x), i),
          columns = if (missing(j)) seq_len(ncol(x)) else index_of(ncol(x), colnames(x), j))
}

#' @method print scanMatrix
#' @export
print.scanMatrix <- function(x, ...) {
  print(matrix(x, nrow(x), dimnames = dimnames(x)), ...)
  invisible(x)
}

# ---- runs

# Names of regressors that each run has of its own, as many as it needs.
OWN_REGRESSORS <- "^(cosine|(motion_|non_steady_state_)?outlier|[a-z]+_comp_cor|edge_comp|aroma_motion)_?[0-9]+$"

#' Join the runs of a scan
#'
#' `rbind()` of matrices of [voxelMatrix()], [parcelMeans()], [readConfounds()] or [epochMatrix()] joins the runs of a
#' subject: the rows of one run after those of another. Attribute `runs` of the result has the number of each row's run.
#'
#' With `covariates` or `bandpass`, [gpuCor()] and others use the attribute `runs` of their data, as they use `tr`: each
#' run is regressed and filtered by itself ([gpuAdjust()]). Give `runs = rep(1, nrow(x))` to regress all rows together.
#' Without `covariates` and `bandpass` the attribute is not used, as a message says: rows of runs with other means are
#' correlated by these. `runs = attr(x, "runs")` removes each run's mean.
#'
#' * **Voxels** that vary in all runs are the columns, with a message if others are dropped. Runs must be on one grid.
#' * **Parcels** must be the same in all runs. Attribute `coverage` has the lowest of the runs.
#' * **Confounds**: cosines, outliers and components (`cosine00`, `motion_outlier00`, `a_comp_cor_05`) that a run does
#'   not have are zero in its rows. Other columns must be in all runs. The number in a column's name of set `"scrub"` is
#'   that of the row of the result. Attribute `keep` is that of all rows.
#'
#' `tr` must be equal. It is kept, as are the entities that all runs share, without `run`. Rows of the result that are
#' selected, `x[good, ]`, keep their runs. Further runs may be joined to a result.
#'
#' @param ... Matrices of one of these functions, the runs in their order; `do.call(rbind, runs)` takes a list. With
#'   another matrix among them, the result is an ordinary matrix.
#' @param deparse.level As in [base::rbind()], of ordinary matrices.
#' @return A matrix of the same kind with the rows of all runs.
#' @examples
#' set.seed(1)
#' runs <- lapply(c(40, 50), function(n) voxelMatrix(array(rnorm(4 * 4 * 3 * n, 100), c(4, 4, 3, n))))
#' x <- do.call(rbind, runs)
#' table(attr(x, "runs"))
#' gpuCor(x, bandpass = c(0.01, 0.1), tr = 2) # within 2 runs
#' @name runs
#' @aliases scanMatrix-class
#' @method rbind scanMatrix
#' @export
rbind.scanMatrix <- function(..., deparse.level = 1) {
  runs <- Filter(Negate(is.null), list(...))
  is_kind <- function(class) all(vapply(runs, inherits, NA, class))
  if (!is_kind("scanMatrix") || (!is_kind("voxelMatrix") && any(vapply(runs, inherits, NA, "voxelMatrix")))) {
    return(do.call(rbind, c(lapply(runs, unclass), deparse.level = deparse.level)))
  }
  if (length(runs) == 1L) return(runs[[1L]])
  names(runs) <- NULL
  parts <- if (is_kind("voxelMatrix")) with_common_voxels(runs) else with_common_columns(runs)
  of_runs <- function(name) lapply(runs, attr, name, exact = TRUE)
  result <- do.call(rbind, lapply(parts, unclass))
  attr(result, "mask") <- attr(parts[[1L]], "mask", exact = TRUE)
  attr(result, "tr") <- common_tr(of_runs("tr"))
  attr(result, "entities") <- common_entities(of_runs("entities"))
  numbers <- lapply(runs, function(run) { # a run may be of several runs that were joined
    own <- attr(run, "runs", exact = TRUE)
    if (is.null(own)) rep(1L, nrow(run)) else match(own, unique(own))
  })
  before <- cumsum(c(0L, vapply(numbers, max, 0L, 0L)))
  attr(result, "runs") <- unlist(Map(`+`, numbers, before[seq_along(runs)]))
  in_all <- function(name) all(lengths(of_runs(name)) > 0L)
  if (in_all("keep")) attr(result, "keep") <- unlist(of_runs("keep"))
  lowest <- function(one, other) pmin(one, other[names(one)])
  if (in_all("coverage")) attr(result, "coverage") <- Reduce(lowest, of_runs("coverage"))
  attr(result, "centers") <- attr(runs[[1L]], "centers", exact = TRUE)
  class(result) <- class(runs[[1L]])
  result
}

# Returns scans of a voxelMatrix with the voxels that all have. `names`: how messages call the scans; `kept`: stores one
# that lost voxels, see new_keeper().
with_common_voxels <- function(runs, names = paste("run", seq_along(runs)), kept = identity) {
  masks <- lapply(runs, columns_mask, "x")
  describe <- function(k) list(size = dim(masks[[k]]), header = attr(masks[[k]], "header"), name = names[k])
  for (k in seq_along(masks)[-1L]) check_mask(describe(k), describe(1L), names[1L])
  known <- vapply(runs, knows_voxels, NA)
  if (!all(known)) fail("the columns of ", names[!known][1L], " are no longer the voxels of its mask")
  common <- Reduce(`&`, lapply(masks, as.vector))
  if (!any(common)) fail("no voxel is in every scan; are their masks the right ones?")
  n_all <- sum(Reduce(`|`, lapply(masks, as.vector)))
  if (n_all > sum(common)) {
    message(format_count(n_all - sum(common)), " of ", n_of(n_all, "voxel"), " dropped: not in every scan")
  }
  Map(runs, masks, f = function(run, mask) {
    if (sum(common) == ncol(run)) return(run)
    columns <- which(common[mask])
    picked <- run[, columns, drop = FALSE]
    kept(if (is.matrix(run)) picked else as_scan(picked, run, columns = columns))
  })
}

# Returns runs of parcels or of confounds with the columns of all. A run's missing regressors of its own are zero.
with_common_columns <- function(runs) {
  start <- cumsum(c(0L, vapply(runs, nrow, 0L)))
  runs <- Map(function(run, start) {
    spike <- grepl("^outlier_[0-9]+$", colnames(run)) # of the row of this number
    colnames(run)[spike] <- sprintf("outlier_%d", as.integer(sub("outlier_", "", colnames(run)[spike])) + start)
    run
  }, runs, start[seq_along(runs)])
  names <- lapply(runs, colnames)
  all <- unique(unlist(names))
  for (k in seq_along(runs)) {
    absent <- grep(OWN_REGRESSORS, setdiff(all, names[[k]]), value = TRUE, invert = TRUE)
    if (length(absent)) {
      fail("run ", k, " has no column \"", absent[1L], "\", which another run has; give all runs the same columns")
    }
  }
  if (is.null(all)) {
    n <- unique(vapply(runs, ncol, 0L))
    if (length(n) > 1L) fail("the runs have ", paste(range(n), collapse = " to "), " columns; all need the same")
    return(runs)
  }
  lapply(runs, function(run) {
    if (identical(colnames(run), all)) return(run)
    filled <- matrix(0, nrow(run), length(all), dimnames = list(rownames(run), all))
    filled[, colnames(run)] <- run
    filled
  })
}

# Returns the seconds between volumes, which are equal in all runs, or NULL if they are unknown in one.
common_tr <- function(trs) {
  known <- unlist(trs)
  if (length(known) && diff(range(known)) > 1e-3 * known[1L]) {
    fail("the runs have 'tr' of ", toString(unique(known)), " s, and runs that are joined have the same")
  }
  if (length(known) == length(trs)) known[1L]
}

# Returns the entities that are equal in all runs, or NULL.
common_entities <- function(entities) {
  same <- Reduce(function(one, other) one[which(one == other[names(one)])], entities)
  same <- same[names(same) != "run"]
  if (length(same)) same
}
