#' Series without their confounds
#'
#' `gpuClean()` returns the residuals that [gpuCor()] correlates if it is given `covariates`, `bandpass` or `runs`,
#' which [gpuAdjust()] describes. Use it where the series themselves are needed, such as for spectra.
#'
#' `gpuCor(gpuClean(x, z))` equals `gpuCor(x, covariates = z)`. The functions that take `covariates` compute the same
#' residuals without storing them, and count the degrees of freedom that regression takes, as p values need.
#'
#' `keep` drops (scrubs, censors) rows: they are excluded from the regression and from the result. Cosines belong to all
#' rows, so that a gap does not shift them. `gpuCor(gpuClean(x, z, keep = good))` equals
#' `gpuCor(x, covariates = z, weights = good)`, where `good` is a logical vector.
#'
#' Residuals have mean zero. A column with a missing or infinite value in a row that is kept is `NA`. A column that the
#' covariates determine up to rounding is zero.
#'
#' @inheritParams gpuAdjust
#' @param x Data as in [gpuCor()], of one subject (of several `lapply(x, gpuClean, ...)`): observations in rows.
#' @param bandpass,tr Two numbers: the lowest and the highest frequency in Hz to keep (which may be `Inf`); and the
#'   seconds between two rows, by default those that `x` knows, as in [gpuAdjust()], which also takes `rate`.
#' @param keep `NULL` for all rows, a logical vector, or integers: their numbers (negative: dropped).
#' @param file `NULL`, or a string: the name of a new raw file, for residuals that are larger than memory.
#' @param ...,adjustment,control `r offered_words("gpuClean")`
#' @return A matrix of doubles with the columns of `x` and its names, and a row for each row that is kept. A matrix of
#'   [voxelMatrix()], [parcelMeans()] or [epochMatrix()] stays one, with its mask, [runs] and, if no row of a run in
#'   between was dropped, its `tr`; a time series ([stats::ts()]) stays one if all rows are kept. With `file`: a
#'   [gpuCorFile()], invisibly.
#'
#' @examples
#' motion <- matrix(rnorm(200 * 2), 200)
#' x <- outer(motion[, 1], 1:5) + matrix(rnorm(200 * 5), 200)
#' cleaned <- gpuClean(x, motion, bandpass = c(0.01, 0.1), tr = 2)
#' all.equal(cor(cleaned), as.matrix(gpuCor(x, covariates = motion, bandpass = c(0.01, 0.1), tr = 2)),
#'           tolerance = 1e-6)
#' spectrum(cleaned[, 1])
#' @export
gpuClean <- function(x, covariates = NULL, data = NULL, bandpass = NULL, tr = NULL, runs = NULL, keep = NULL,
                     file = NULL, ..., adjustment = NULL, control = NULL) {
  given <- list(covariates = covariates, data = data, bandpass = bandpass, tr = tr, runs = runs)
  specs <- do.call(specs_of, c("gpuClean", Filter(Negate(is.null), given), list(...)), quote = TRUE)
  if (!any(names(REGRESSION) %in% names(specs$adjustment))) {
    fail(listed(names(REGRESSION), "and"), " are missing; give at least one of them")
  }
  check_matrix_like(x, COLUMNS)
  if (!is.null(file)) file <- check_new_file(file)
  run <- with_data(new_run(NULL, specs, NULL, NULL, "pearson", "everything", takes = "later", precision = "double"), x)
  series <- run$x
  rows <- kept_times(keep, nrow(series), "rows of 'x'")
  if (length(rows) < nrow(series)) {
    counts <- as.numeric(seq_len(nrow(series)) %in% rows)
    run <- with_element(run, asked = c(run$asked, list(weights = counts)))
  }
  # Rows are dropped by 'keep' here, and by 'weights' in other functions.
  run <- tryCatch(with_design(run), error = function(e) {
    fail_again(e, sub("use = \"complete.obs\" or by 'weights' of 0", "'keep'", conditionMessage(e), fixed = TRUE))
  })
  values <- as.numeric(length(rows)) * ncol(series)
  block <- max(nrow(series), min(as.numeric(nrow(series)) * ncol(series), BLOCK_VALUES))
  check_memory(8 * (if (is.null(file)) values else 0) + 8 * BLOCK_COPIES * block, "gpuClean()", n_of(values, "value"),
               if (is.null(file)) "'file' writes them to a file" else "close other programs")
  names <- if (!is.null(dimnames(series))) list(rownames(series)[rows], colnames(series))
  if (!is.null(file)) {
    partial <- begin_partial(file)
    connection <- file(partial, "wb")
    on.exit({
      if (!is.null(connection)) close(connection)
      discard_partial(partial)
    }, add = TRUE)
    clean_blocks(run, rows, FALSE, function(columns, left) writeBin(as.vector(left), connection, endian = "little"))
    close(connection)
    connection <- NULL
    if (file.size(partial) < 8 * values) fail_file("'file': the disk is full")
    if (!rename_file(partial, file, replace = FALSE)) {
      fail_file("'file' is ", show_value(file), ", which cannot be made")
    }
    return(invisible(raw_file(file, c(length(rows), ncol(series)), "double", names, 0)))
  }
  cleaned <- NULL
  clean_blocks(run, rows, TRUE, function(columns, left) {
    if (ncol(left) == ncol(series)) {
      cleaned <<- left
    } else {
      if (is.null(cleaned)) cleaned <<- matrix(0, length(rows), ncol(series))
      cleaned[, columns] <<- left
    }
  })
  dimnames(cleaned) <- names
  if (inherits(x, "scanMatrix")) {
    cleaned <- as_scan(cleaned, x, rows)
  } else if (inherits(x, "ts") && length(rows) == nrow(x)) {
    attributes(cleaned)[c("tsp", "class")] <- attributes(x)[c("tsp", "class")]
  }
  cleaned
}

# Copies of a block in memory while its residuals are found: what is read, what a reader or as.matrix() makes of it, and
# the residuals.
BLOCK_COPIES <- 4

# Calls put(columns, residuals) for some columns at a time. `whole`: TRUE to take an ordinary matrix as one block.
clean_blocks <- function(run, rows, whole, put) {
  x <- run$x
  is_plain <- is.matrix(x) && !is.object(x)
  blocks <- if (whole && is_plain) list(seq_len(ncol(x))) else block_columns(x)
  for (b in seq_along(blocks)) {
    columns <- blocks[[b]]
    is_all <- is_plain && length(columns) == ncol(x)
    values <- if (is_all) x else if (is_outside(x)) read_columns(x, columns) else dense_columns(x, columns)
    put(columns, clean_columns(values, rows, run$design, run$place))
    report_progress(run$place, b / length(blocks))
  }
}

# Returns the rows' residuals of the columns of an ordinary matrix.
clean_columns <- function(x, rows, design, place) {
  checked(.Call(r_residuals, x, if (length(rows) < nrow(x)) as.integer(rows) - 1L, design, place))
}
