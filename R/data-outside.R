# Data that are not in memory, and access to columns of any kind of data. R itself computes in blocks of columns: x is
# never copied as a whole.

# Kinds of data that are read in blocks of columns, by R or by the engine (src/r/source.c). Those of a gpuCorFile are
# its element `kind`, others are classes of other packages, recognized by name, so that a package is loaded only if
# needed.
#   read(x, columns)   (required) successive columns, by index, as a matrix without names; only read_run() calls it
#   any_order          (optional; NULL: FALSE) TRUE if read() also takes columns in any order
#   open(x, name)      (optional; NULL: x) argument `name` in the form that is read, or an error
#   is_sound(x)        (required for a gpuCorFile) FALSE unless x is as it was made, as users may change any object
#   describe(x)        (required for a gpuCorFile) its format, as print() shows it
#   grain(x)           (optional; NULL: 1) called at the start of a run: blocks of columns start at multiples of this
#                      number. Stops if the data have changed.
#   transposed(x)      (optional; NULL: an error) x with observations and variables exchanged
#   transpose          (optional; NULL: columns are known to be variables) what a user gives whose variables are in rows
OUTSIDE <- list(
  raw = list(
    read = function(x, columns) .Call(r_file_columns, x, as.integer(columns)),
    any_order = TRUE,
    open = function(x, name) {
      check_byte_order() # x may come from another machine
      x
    },
    is_sound = function(x) TRUE, # the engine checks it
    describe = function(x) {
      paste0("raw, ", x$storage, if (x$offset > 0) paste(", from byte", format(x$offset, scientific = FALSE), "on"))
    },
    transpose = "a file of the transpose"
  ),
  hdf5 = list(
    read = function(x, columns) read_dense(x, columns),
    is_sound = function(x) is_of_dataset(x) && are_finite(x$chunk, 2L),
    describe = function(x) paste0("HDF5, ", x$dataset),
    grain = function(x) dataset_grain(x),
    transposed = function(x) transposed_file(x),
    transpose = "gpuCorFile(transpose = TRUE)"
  ),
  sparse = list(
    open = function(x, name) read_sparse(x), # as a whole, into memory
    is_sound = function(x) is_of_dataset(x),
    describe = function(x) paste0("HDF5, ", x$dataset, ", sparse"),
    transpose = "gpuCorFile(transpose = TRUE)"
  ),
  image = list(
    read = function(x, columns) read_image_columns(x, columns),
    is_sound = function(x) {
      sizes <- list(x$offset, x$size, x$step[1L], x$step[2L])
      is_one_string(x$file) && all(vapply(sizes, is_number_within, NA, 0, 2^53)) && is_numeric(x$voxels) &&
        length(x$voxels) == x$dim[2L] && all(is.finite(x$voxels) & x$voxels >= 1)
    },
    describe = function(x) {
      paste0("NIfTI, ", show_size(dim(attr(x, "mask"))),
             if (length(dim(attr(x, "mask"))) == 3L) " voxels")
    },
    grain = function(x) {
      check_image_file(x)
      1
    }
  ),
  plink = list(
    read = function(x, columns) read_plink_columns(x, columns),
    is_sound = function(x) is_one_string(x$file) && identical(x$storage, "integer"),
    describe = function(x) "PLINK",
    grain = function(x) {
      check_plink_file(x)
      1
    }
  ),
  big.matrix = list( # of package bigmemory; element `data` of a gpuCorFile
    read = function(x, columns) {
      unname(with_our_errors(x$data[, columns, drop = FALSE], "the big.matrix cannot be read: "))
    },
    open = function(x, name) {
      if (inherits(x, "gpuCorFile")) return(x)
      need_packages("bigmemory", paste0("'", name, "' is a ", class(x)[1L], ", which"))
      new_file(NULL, "big.matrix", dim(x), dimnames(x), data = x)
    },
    is_sound = function(x) TRUE,
    describe = function(x) "big.matrix",
    transpose = "t(x)"
  ),
  DelayedMatrix = list(
    read = function(x, columns) {
      unname(with_our_errors(DelayedArray::extract_array(x, list(NULL, as.integer(columns))),
                             "the DelayedMatrix cannot be read: "))
    },
    open = function(x, name) {
      need_packages("DelayedArray", paste0("'", name, "' is a ", class(x)[1L], ", which"))
      type <- DelayedArray::type(x)
      if (type %in% c("double", "integer", "logical")) return(x)
      fail("'", name, "' must be numeric, not a ", class(x)[1L], " of type ", type)
    },
    grain = function(x) DelayedArray::chunkdim(x)[2L],
    transposed = function(x) Matrix::t(x),
    transpose = "t(x)"
  )
)

# Returns x's row of the table.
outside_kind <- function(x) {
  OUTSIDE[[if (inherits(x, "gpuCorFile")) x$kind else Find(function(class) inherits(x, class), names(OUTSIDE))]]
}

is_of_dataset <- function(x) {
  is_one_string(x$file) && is_one_string(x$dataset) && (isTRUE(x$by_rows) || isFALSE(x$by_rows))
}

# Returns the gpuCorFile x. Stops unless it is as gpuCorFile() made it.
check_file <- function(x, name) {
  kind <- if (is.list(x) && is.character(x$kind) && length(x$kind) == 1L) OUTSIDE[[x$kind]]
  is_sound <- !is.null(kind$is_sound) && is.integer(x$dim) && length(x$dim) == 2L && !anyNA(x$dim) &&
    all(x$dim >= 0) && are_names(x$dimnames, x$dim) && kind$is_sound(x)
  if (!is_sound) fail("'", name, "' is a gpuCorFile that was changed since gpuCorFile() made it; make it again")
  x
}

# Returns x in the form that is read, or stops.
check_outside <- function(x, name) {
  if (inherits(x, "gpuCorFile")) check_file(x, name)
  open <- outside_kind(x)$open
  if (is.null(open)) x else with_our_errors(open(x, name), paste0("'", name, "' cannot be read: "))
}

# Exchanges observations and variables, if rows can be read.
transposed_outside <- function(x) {
  transposed <- outside_kind(x)$transposed
  if (!is.null(transposed)) return(transposed(x))
  what <- if (inherits(x, "gpuCorFile")) paste(x$kind, "gpuCorFile") else class(x)[1L]
  fail("'x' is a ", what, ", which is read by columns, and gpuDist() compares rows; give the transposed data to ",
       "1 - gpuCor(x)")
}

# ---- reading

# All reads pass through ask_columns(), also those of R: errors name the columns, and no interrupt ends R. Raw files are
# read by the engine itself.

# Reads columns by index, in any order, as an ordinary matrix without names.
read_columns <- function(x, columns) {
  kind <- outside_kind(x)
  if (isTRUE(kind$any_order)) return(read_run(x, columns))
  all <- sort(unique(columns)) # read in ranges of about a block at most
  is_first <- c(TRUE, diff(all) > MAX_GAP)
  first <- all[which(is_first)][cumsum(is_first)]
  width <- max(1, BLOCK_VALUES %/% max(1, nrow(x)))
  ranges <- split(all, list(cumsum(is_first), (all - first) %/% width), drop = TRUE)
  ranges <- unname(lapply(ranges, function(range) range[1L]:range[length(range)]))
  read <- function(range) .Call(r_ask_columns, x, nrow(x), range[1L], length(range))
  if (length(ranges) == 1L && identical(as.numeric(columns), as.numeric(ranges[[1L]]))) return(read(columns))
  values <- matrix(0, nrow(x), length(columns))
  for (range in ranges) {
    at <- which(columns >= range[1L] & columns <= range[length(range)])
    values[, at] <- read(range)[, columns[at] - range[1L] + 1]
  }
  values
}

# Max gap between columns that are read together: a chunk of a file often contains parts of several columns.
MAX_GAP <- 8

read_run <- function(x, columns) if (length(columns)) outside_kind(x)$read(x, columns) else matrix(0, nrow(x), 0L)

# Called by the engine: returns the number of observations, of variables, and the grain.
ask_size <- function(x) {
  kind <- outside_kind(x)
  grain <- if (!is.null(kind$grain)) kind$grain(x)
  as.numeric(c(dim(x), if (is.null(grain)) 1 else grain))
}

# Called by the engine: returns columns first, ..., first + n - 1; the text of an error; or NULL after an interrupt.
# Errors must not jump over C code.
ask_columns <- function(x, first, n) {
  tryCatch(read_run(x, seq(first, length.out = n)), error = conditionMessage, interrupt = function(condition) NULL)
}

# ---- columns of any kind of data

pick_columns <- function(m, columns) {
  if (is_combined(m)) {
    m$data <- lapply(m$data, pick_columns, columns)
    m$names <- m$names[columns]
    return(m)
  }
  if (is_outside(m)) read_columns(m, columns) else m[, columns, drop = FALSE]
}

# Returns some columns as an ordinary matrix without names.
dense_columns <- function(m, columns) unname(as.matrix(pick_columns(m, columns)))

# Returns a list of the column indices of each block.
block_columns <- function(m) column_ranges(ncol(m), nrow(m))

# Returns a list of f(block) for each block.
column_blocks <- function(m, f) lapply(block_columns(m), function(columns) f(dense_columns(m, columns)))

has_missing <- function(m) any(unlist(column_blocks(m, anyNA)))

# ---- a sample of the columns

# Returns `count` of the indices 1, ..., n at equal distances, or all.
spread_over <- function(n, count) unique(round(seq.int(1, n, length.out = count)))

# Returns column indices, or NULL for all. Multiples of the golden ratio, modulo 1, are spread evenly and follow no
# pattern of the columns. No column appears twice, as their min distance is a third of the mean.
sampled_columns <- function(m, size) {
  if (is.null(m) || size == ncol(m)) return(NULL)
  floor((seq_len(size) * (sqrt(5) - 1) / 2) %% 1 * ncol(m)) + 1
}
