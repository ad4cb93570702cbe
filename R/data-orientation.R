# Detects data that look transposed, in memory or in a file. If genes, probes or voxels are in rows, each has a similar
# level in all columns: columns rank the rows alike, or have their zeros in the same rows. The same holds for some long
# series and tables, but their rows have no names, and their columns differ, or successive rows are alike.

MIN_ROWS <- 100
LONG_ROWS <- 1000 # such rows, and LONG_RATIO times as many as columns, are enough if they have names
LONG_RATIO <- 10
MIN_COLUMNS <- 10 # min number of columns of data that are not long
SAME_ORDER <- 0.85 # min rank correlation of almost identical columns, such as samples or volumes
COUNT_ORDER <- 0.5 # min rank correlation of samples of counts, which are noisier
MANY_ZEROS <- 0.3 # min fraction of zeros to compare columns by them
UNLIKE_ROWS <- 0.85 # min standard deviation of the logarithms of the rows' means: genes differ more than cells in depth
SUCCESSIVE <- 0.3 # min autocorrelation of a series

# `x`: the user's data; `read`: the result of check_variables(x).
warn_transposed <- function(x, read = x) {
  if (identical(getOption("gpucor.orientation"), "columns") || !looks_transposed(x, read)) return(invisible())
  code <- if (is.data.frame(x)) "t(as.matrix(x))" else if (is_outside(x)) outside_kind(x)$transpose
  if (is.null(code)) code <- if (inherits(x, "Matrix")) "Matrix::t(x)" else "t(x)"
  warn("gpuCorTransposed", "'x' has ", format_count(nrow(x)), " rows and ", format_count(ncol(x)), " columns, and its ",
       "columns are correlated; if its rows are the variables, such as genes or voxels, give ", code,
       " (options(gpucor.orientation = \"columns\") ends this warning)")
}

# Neither a series of class "ts" is looked at, nor epochs, nor an image, whose voxels are known.
looks_transposed <- function(x, read) {
  is_table <- is.matrix(x) || is.data.frame(x) || inherits(x, "Matrix") || is_outside(x)
  are_known <- inherits(x, c("ts", "voxelMatrix", "epochMatrix")) ||
    (is_outside(x) && is.null(outside_kind(x)$transpose))
  if (!is_table || are_known || nrow(x) < MIN_ROWS || ncol(x) < 3L) return(FALSE)
  names <- if (!is.data.frame(x) || .row_names_info(x) >= 0L) rownames(x)[1:10]
  if (are_row_numbers(names)) names <- NULL # as without names
  if (!is.null(names) && are_of_observations(names)) return(FALSE)
  if (are_barcodes(colnames(x))) return(TRUE)
  is_long <- nrow(x) >= max(LONG_ROWS, LONG_RATIO * ncol(x))
  if (is_long && !is.null(names)) return(TRUE)
  (is_long || ncol(x) >= MIN_COLUMNS) && are_alike(read, is_long)
}

# Barcodes of cells, of 10 to 18 bases; longer sequences are names of variables.
are_barcodes <- function(names) {
  length(names) > 2L && all(grepl("(^|[^A-Za-z0-9])[ACGT]{10,18}([^A-Za-z0-9]|$)", utils::head(names, 10L)))
}

# Barcodes, dates, times, and usual names of samples, subjects and cells.
are_of_observations <- function(names) {
  usual <- paste0("^(GSM|[SED]RR|SAM[NED]|TCGA-|sub-|",
                  "(cell|sample|subject|patient|case|donor|spot|time|obs)[-_. ]?[0-9])")
  are_barcodes(names) || all(grepl("^[0-9][-0-9 :./+TZ]*$", names)) || all(grepl(usual, names, ignore.case = TRUE))
}

# Compares up to 500 rows, successive ones unless is_long, and up to 20 columns, fewer if columns are long or outside
# memory, where each is read by itself.
are_alike <- function(x, is_long) {
  columns <- spread_over(ncol(x), if (is_outside(x)) 5 else min(20, max(5, BLOCK_VALUES %/% nrow(x))))
  rows <- if (is_long) spread_over(nrow(x), 500) else seq_len(min(nrow(x), 500))
  values <- if (is(x, "dgCMatrix")) { # x[rows, columns] would look at all entries
    vapply(columns, FUN.VALUE = numeric(length(rows)), function(j) {
      at <- seq.int(x@p[j] + 1, length.out = x@p[j + 1] - x@p[j])
      found <- match(rows - 1L, x@i[at])
      replace(x@x[at][found], is.na(found), 0)
    })
  } else {
    dense_columns(x, columns)[rows, ]
  }
  if (!have_same_zeros(values) && !have_same_order(values[, spread_over(ncol(values), 5)])) return(FALSE)
  if (is_long) return(TRUE)
  level <- rowMeans(values)
  !isTRUE(stats::cor(level[-1L], level[-length(level)], use = "na.or.complete") >= SUCCESSIVE)
}

# Returns TRUE if columns rank rows similarly, and have similar means.
have_same_order <- function(values) {
  are_counts <- isTRUE(all(values >= 0 & values == round(values)) && max(values) >= 100) # unlike scores
  order <- if (are_counts) COUNT_ORDER else SAME_ORDER
  values <- values + 0
  if (!isTRUE(.Call(r_least_rho, values[, 1:2]) >= order)) return(FALSE) # most data end here
  level <- colMeans(values)
  isTRUE(.Call(r_least_rho, values) >= order) &&
    max(level) - min(level) <= mean(apply(values, 2L, stats::sd))
}

# Returns TRUE if there are many zeros, and rows differ more in their fraction than by chance, than columns do, and than
# cells of different depth. The fractions' variances are compared after subtracting those of random zeros; the means are
# those of Poisson counts with such fractions. Binary data and genotypes are left out, as their observations, too,
# differ in their numbers of zeros.
have_same_zeros <- function(values) {
  is_zero <- values == 0
  p <- mean(is_zero)
  if (!isTRUE(p >= MANY_ZEROS && p < 1) || all(values %in% 0:2)) return(FALSE)
  chance <- p * (1 - p) / dim(values)
  fractions <- rowMeans(is_zero)
  rows <- stats::var(fractions)
  columns <- stats::var(colMeans(is_zero)) - chance[1L]
  half <- 0.5 / ncol(values)
  means <- -log(pmin(pmax(fractions, half), 1 - half))
  rows > 2 * chance[2L] && rows - chance[2L] > 4 * columns && stats::sd(log(means)) > UNLIKE_ROWS
}
