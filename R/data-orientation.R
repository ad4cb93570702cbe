# Detects data that look transposed. Genes, probes or voxels in rows far outnumber the columns. The same holds for long
# series and large tables, but their rows have no names, and their columns differ.

MIN_ROWS <- 1000
MIN_RATIO <- 10
SAME_ORDER <- 0.85 # min rank correlation of almost identical columns, such as samples or volumes
COUNT_ORDER <- 0.5 # the same of samples of counts, which are noisier

warn_transposed <- function(x) {
  if (identical(getOption("gpucor.orientation"), "columns") || !looks_transposed(x)) return(invisible())
  code <- if (is.data.frame(x)) "t(as.matrix(x))" else if (isS4(x) && is(x, "Matrix")) "Matrix::t(x)" else "t(x)"
  warn("gpuCorTransposed", "'x' has ", format_count(nrow(x)), " rows and ", format_count(ncol(x)), " columns, and its ",
       "columns are correlated; if its rows are the variables, such as genes or voxels, give ", code,
       " (options(gpucor.orientation = \"columns\") ends this warning)")
}

looks_transposed <- function(x) {
  if (!may_be_transposed(x) || nrow(x) < MIN_ROWS || ncol(x) < 3L) return(FALSE)
  names <- names_of_rows(x)
  if (!is.null(names) && are_observations(names)) return(FALSE)
  are_barcodes(colnames(x)) || (nrow(x) >= MIN_RATIO * ncol(x) && (!is.null(names) || are_alike(x)))
}

# Returns FALSE for a series of class "ts", or a file whose orientation the user has given.
may_be_transposed <- function(x) {
  is_table <- is.matrix(x) || is.data.frame(x) || inherits(x, c("Matrix", "DelayedMatrix", "big.matrix"))
  is_table && !inherits(x, "ts")
}

# Returns the first ten names, or NULL if there are none, or only numbers.
names_of_rows <- function(x) {
  if (is.data.frame(x) && .row_names_info(x) < 0L) return(NULL)
  names <- rownames(x)[1:10]
  if (!is.null(names) && !are_numbers(names)) names
}

are_numbers <- function(names) all(grepl("^[0-9]*$", names))

# Returns TRUE for dates, times, barcodes, and usual names of samples, subjects and cells.
are_observations <- function(names) {
  are_barcodes(names) || all(grepl("^[0-9][-0-9 :./+TZ]*$", names)) ||
    all(grepl("^(GSM|[SED]RR|SAM[NED]|TCGA-|sub-|(cell|sample|subject|patient|case|donor|spot|time|obs)[-_. ]?[0-9])",
              names, ignore.case = TRUE))
}

# Returns TRUE for barcodes of cells, which have 10 to 18 bases; longer sequences are names of variables.
are_barcodes <- function(names) {
  length(names) > 2L && all(grepl("(^|[^A-Za-z0-9])[ACGT]{10,18}([^A-Za-z0-9]|$)", utils::head(names, 10L)))
}

# Returns TRUE if columns rank rows similarly, and have similar means. It compares up to 200 rows of five columns.
are_alike <- function(x) {
  if (is_outside(x)) return(FALSE)
  columns <- unique(round(seq(1, ncol(x), length.out = 5)))
  rows <- unique(round(seq(1, nrow(x), length.out = 200)))
  values <- as.matrix(x[, columns, drop = FALSE][rows, , drop = FALSE])
  order <- if (are_counts(values)) COUNT_ORDER else SAME_ORDER
  if (suppressWarnings(!isTRUE(stats::cor(values[, 1:2], method = "spearman")[2L] >= order))) return(FALSE)
  level <- colMeans(values)
  isTRUE(min(stats::cor(values, method = "spearman")) >= order) &&
    max(level) - min(level) <= mean(apply(values, 2L, stats::sd))
}

# Returns TRUE for integers of which some are large, unlike scores.
are_counts <- function(values) isTRUE(all(values >= 0 & values == round(values)) && max(values) >= 100)
