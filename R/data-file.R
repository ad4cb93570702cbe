# Files instead of matrices, as gpuCorFile() describes them.

raw_file <- function(file, dim, storage, dimnames, offset) {
  if (.Platform$endian != "little") fail_file("raw files are little-endian, and this machine is not; use HDF5")
  dim <- check_file_dim(dim)
  x <- new_file(file, "raw", dim, check_dimnames(dimnames, dim), storage = storage, pointer = .Call(r_new_pointer),
                offset = check_whole(offset, "offset", 0, 2^53))
  .Call(r_file_open, x)
  x
}

# `kind`: "raw", "hdf5" (dense), "sparse" or "big.matrix"; `...`: whatever else is needed to read the file.
new_file <- function(file, kind, dim, dimnames, ...) {
  structure(list(file = file, kind = kind, dim = as.integer(dim), dimnames = dimnames, ...), class = "gpuCorFile")
}

# Returns x. Stops if it is not as gpuCorFile() made it, as users may change any object. The engine checks the elements
# of raw files.
check_file <- function(x, name) {
  of_hdf5 <- function() {
    is_one_string(x$file) && is_one_string(x$dataset) && (isTRUE(x$by_rows) || isFALSE(x$by_rows))
  }
  is_sound <- is.list(x) && is.character(x$kind) && length(x$kind) == 1L && is.integer(x$dim) &&
    length(x$dim) == 2L && !anyNA(x$dim) && all(x$dim >= 0) && are_names(x$dimnames, x$dim) && switch(x$kind,
      raw = , big.matrix = TRUE,
      sparse = of_hdf5(),
      hdf5 = of_hdf5() && is_numeric(x$chunk) && length(x$chunk) == 2L && all(is.finite(x$chunk)),
      image = is_of_image(x),
      FALSE
    )
  if (!is_sound) fail("'", name, "' is a gpuCorFile that was changed since gpuCorFile() made it; make it again")
  x
}

is_one_string <- function(value) is.character(value) && length(value) == 1L && !is.na(value)

is_of_image <- function(x) {
  sizes <- list(x$offset, x$size, x$step[1L], x$step[2L])
  is_one_string(x$file) && all(vapply(sizes, is_number_within, NA, 0, 2^53)) && is_numeric(x$voxels) &&
    length(x$voxels) == x$dim[2L] && all(is.finite(x$voxels) & x$voxels >= 1)
}

# Returns TRUE for dimnames of a matrix of that size.
are_names <- function(dimnames, dim) {
  fits <- function(k) is.null(dimnames[[k]]) || (is.character(dimnames[[k]]) && length(dimnames[[k]]) == dim[k])
  is.null(dimnames) || (is.list(dimnames) && length(dimnames) == 2L && fits(1L) && fits(2L))
}

check_data_file <- function(file) {
  check_string(file, "file", "the name of a file")
  check_regular(file, paste0("'file' is \"", file, "\", which"))
  normalizePath(file, "/")
}

check_file_dim <- function(dim) {
  ok <- is_numeric(dim) && length(dim) == 2L && all(is.finite(dim)) && all(dim == floor(dim)) && all(dim >= 0)
  if (!ok) fail("'dim' must be two integers, of observations and of variables, not ", show_value(dim))
  if (any(dim > .Machine$integer.max)) {
    fail("'dim' is ", show_size(format(dim, scientific = FALSE)), ", beyond 2^31 - 1")
  }
  dim
}

check_dimnames <- function(dimnames, dim) {
  if (!are_names(dimnames, dim)) {
    fail("'dimnames' must be a list of ", n_of(dim[1L], "name"), " of observations and ", dim[2L], " of variables, ",
         "either of them possibly NULL, not ", show_value(dimnames))
  }
  dimnames
}

picked <- function(index, n, names, what) {
  index <- as_numbers(index)
  if (is.character(index)) tell_same_names(names[names %in% index])
  at <- if (is.character(index)) match(index, names) else seq_len(n)[index]
  if (anyNA(at)) fail("there is no ", what, " ", show_value(index[is.na(at)][1L]), "; there are ", format_count(n))
  at
}
