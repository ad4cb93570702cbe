# Sparse matrices in HDF5 files, row after row, in the layout of AnnData (h5ad),
# that Python's anndata and Bioconductor's HDF5Array read. Such a file can be larger
# than memory and have more than 2^31 entries: counts of entries are doubles.

# Chunks of 1 MiB, which is as much as HDF5 keeps in memory of a dataset. They are
# not compressed: the values are float noise, and whoever writes has to keep up
# with a GPU.
CHUNK_BYTES <- 2^20

FLOAT32 <- "H5T_IEEE_F32LE"
FLOAT64 <- "H5T_IEEE_F64LE"
INT64 <- "H5T_STD_I64LE"

# ---- the file, from open to close

# An open file for n_row rows. It bears its own name when it is complete; until
# then it is called file.partial-<pid>. Whoever opens it promises
# on.exit(discard_network_file(h5)).
open_network_file <- function(file, n_row, n_col, row_names = NULL, col_names = NULL) {
  file <- check_new_file(file)
  need_rhdf5()
  h5 <- new.env(parent = emptyenv())
  h5$file <- file
  h5$partial <- paste0(file, ".partial-", Sys.getpid())
  h5$n_row <- n_row
  h5$rows <- 0 # so far
  h5$entries <- 0 # so far
  h5$row_ends <- list() # where each row ends among the entries, piece by piece
  complete <- FALSE
  on.exit(if (!complete) discard_network_file(h5))
  writing(h5, {
    h5$id <- h5_opened(rhdf5::H5Fcreate(h5$partial, "H5F_ACC_TRUNC"))
    h5$string <- variable_string()
    write_frame(h5, n_row, n_col, row_names, col_names)
    h5$values <- create_growing(h5, "X/data", FLOAT32, 4)
    h5$columns <- create_growing(h5, "X/indices", INT64, 8)
  })
  complete <- TRUE
  h5
}

# The next rows: `lengths` entries in each, with their columns, counted from 0 and
# ascending within a row, and values.
append_rows <- function(h5, lengths, columns, values) {
  stopifnot(sum(as.numeric(lengths)) == length(columns), length(columns) == length(values),
            h5$rows + length(lengths) <= h5$n_row)
  writing(h5, {
    append_entries(h5$columns, h5$entries, columns)
    append_entries(h5$values, h5$entries, values)
  })
  h5$row_ends[[length(h5$row_ends) + 1L]] <- h5$entries + cumsum(as.numeric(lengths))
  h5$rows <- h5$rows + length(lengths)
  h5$entries <- h5$entries + length(columns)
  invisible(h5)
}

# Finish the file and give it its name. `details`: a named list of strings and
# numbers, for `uns`.
close_network_file <- function(h5, details = list()) {
  if (h5$rows != h5$n_row) fail("only ", h5$rows, " of ", h5$n_row, " rows came for \"", h5$file, '"')
  writing(h5, {
    write_dataset(h5, "X/indptr", INT64, c(0, unlist(h5$row_ends)))
    write_details(h5, details)
    h5_done(rhdf5::H5Fflush(h5$id)) # a full disk is noticed while the handles still are in order
    close_handles(h5, must = TRUE)
  })
  # A file of that name can have come up meanwhile, and a rename would overwrite it.
  if (file.exists(h5$file) || !suppressWarnings(file.rename(h5$partial, h5$file))) {
    fail("cannot rename \"", h5$partial, "\" to \"", h5$file,
         "\": another file has that name by now, or the folder is gone or not writable")
  }
  invisible(h5$file)
}

# Leave nothing of an incomplete file. Does nothing after close_network_file().
discard_network_file <- function(h5) {
  if (isTRUE(h5$failed)) make_room(h5)
  close_handles(h5, must = FALSE)
  unlink(h5$partial)
  invisible()
}

# Where the disk is full, HDF5 cannot write what it has in memory, nor then close the
# file, and R crashes when it quits. So give it the room that the file takes up; the
# first flush after one that failed fails, too.
make_room <- function(h5) {
  if (file.exists(h5$partial)) close(file(h5$partial, "wb"))
  for (time in 1:2) try(rhdf5::H5Fflush(h5$id), silent = TRUE)
}

# A file is closed only with all that is open in it.
close_handles <- function(h5, must) {
  close <- c(columns = rhdf5::H5Dclose, values = rhdf5::H5Dclose, id = rhdf5::H5Fclose)
  for (name in intersect(names(close), names(h5))) {
    if (must) {
      h5_done(close[[name]](h5[[name]]))
    } else {
      try(if (rhdf5::H5Iis_valid(h5[[name]])) close[[name]](h5[[name]]), silent = TRUE)
    }
    rm(list = name, envir = h5)
  }
}

# ---- checks

check_new_file <- function(file) {
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    fail("'file' must be one string, the name of the file to write, not ", show_value(file))
  }
  file <- path.expand(file)
  folder <- dirname(file)
  if (!dir.exists(folder)) fail("'file' is ", show_value(file), ": there is no such folder; create it first")
  if (file.access(folder, 2L) != 0L) {
    fail("'file' is ", show_value(file), ": its folder is not writable; choose another one")
  }
  if (file.exists(file)) fail("'file' is ", show_value(file), ", which exists; remove it or choose another name")
  file.path(normalizePath(folder), basename(file)) # for setwd() meanwhile
}

need_rhdf5 <- function() {
  if (!requireNamespace("rhdf5", quietly = TRUE)) {
    fail("to write a file takes the Bioconductor package rhdf5: BiocManager::install(\"rhdf5\")")
  }
}

# What HDF5 cannot do, rhdf5 says by an error or, where another package has turned
# its errors off, by FALSE for a handle and a negative number otherwise.
h5_opened <- function(handle) {
  if (!is(handle, "H5IdComponent")) stop("HDF5 cannot create a part of the file")
  handle
}

h5_done <- function(status) {
  if (is.numeric(status) && any(status < 0)) stop("HDF5 cannot write or close a part of the file")
}

writing <- function(h5, code) {
  tryCatch(code, error = function(condition) {
    h5$failed <- TRUE
    fail("cannot write \"", h5$partial, "\": ", conditionMessage(condition), "; is the disk full?")
  })
}

# ---- parts of the file

# All but the entries and what is known in the end only.
write_frame <- function(h5, n_row, n_col, row_names, col_names) {
  set_encoding(h5, h5$id, "anndata", "0.1.0")
  with_group(h5, "X", "csr_matrix", "0.1.0", function(group) {
    set_attribute(group, "shape", INT64, c(n_row, n_col))
  })
  write_names(h5, "obs", row_names, n_row)
  write_names(h5, "var", col_names, n_col)
  for (name in c("obsm", "varm", "obsp", "varp", "layers", "uns")) with_group(h5, name, "dict", "0.1.0")
}

# Without names rows and columns are called by their numbers, counted as R does.
write_names <- function(h5, group, names, n) {
  if (is.null(names)) names <- as.character(seq_len(n))
  with_group(h5, group, "dataframe", "0.2.0", function(id) {
    set_attribute(id, "_index", h5$string, "_index", scalar = TRUE)
    set_attribute(id, "column-order", h5$string, character())
  })
  write_dataset(h5, paste0(group, "/_index"), h5$string, names, encoding = "string-array")
}

# Those of `details` that are counts, and so integers in the file, though they are
# doubles in R.
COUNTS <- c("edges", "pairs", "n_obs")

write_details <- function(h5, details) {
  for (name in names(details)[lengths(details) > 0L]) {
    value <- details[[name]]
    text <- is.character(value)
    type <- if (text) h5$string else if (is.integer(value) || name %in% COUNTS) INT64 else FLOAT64
    write_dataset(h5, paste0("uns/", name), type, value, scalar = TRUE,
                  encoding = if (text) "string" else "numeric-scalar")
  }
}

with_group <- function(h5, name, encoding, version, fill = function(id) NULL) {
  id <- h5_opened(rhdf5::H5Gcreate(h5$id, name))
  on.exit(rhdf5::H5Gclose(id))
  set_encoding(h5, id, encoding, version)
  fill(id)
  invisible()
}

set_encoding <- function(h5, id, encoding, version) {
  set_attribute(id, "encoding-type", h5$string, encoding, scalar = TRUE)
  set_attribute(id, "encoding-version", h5$string, version, scalar = TRUE)
}

set_attribute <- function(id, name, type, value, scalar = FALSE) {
  space <- data_space(value, scalar)
  on.exit(rhdf5::H5Sclose(space))
  attribute <- h5_opened(rhdf5::H5Acreate(id, name, type, space))
  on.exit(rhdf5::H5Aclose(attribute), add = TRUE, after = FALSE)
  if (length(value)) h5_done(rhdf5::H5Awrite(attribute, value))
}

# A dataset that is known as a whole.
write_dataset <- function(h5, name, type, value, scalar = FALSE, encoding = NULL) {
  space <- data_space(value, scalar)
  on.exit(rhdf5::H5Sclose(space))
  id <- h5_opened(rhdf5::H5Dcreate(h5$id, name, type, space))
  on.exit(rhdf5::H5Dclose(id), add = TRUE, after = FALSE)
  if (is.character(value)) value <- enc2utf8(value)
  if (length(value)) h5_done(rhdf5::H5Dwrite(id, value))
  if (!is.null(encoding)) set_encoding(h5, id, encoding, "0.2.0")
}

# AnnData tells a scalar from a vector of length one.
data_space <- function(value, scalar) {
  h5_opened(if (scalar) rhdf5::H5Screate("H5S_SCALAR") else rhdf5::H5Screate_simple(length(value)))
}

# Strings of any length in UTF-8. rhdf5 has them from 2.38 on, and R 4.2 came with 2.40.
variable_string <- function() {
  type <- rhdf5::H5Tcopy("H5T_C_S1")
  rhdf5::H5Tset_size(type, NULL)
  rhdf5::H5Tset_cset(type, "UTF-8")
  type
}

# ---- the entries

create_growing <- function(h5, name, type, bytes) {
  rhdf5::h5createDataset(h5$id, name, dims = 0, maxdims = rhdf5::H5Sunlimited(), H5type = type,
                         chunk = CHUNK_BYTES / bytes, level = 0, filter = "NONE", shuffle = FALSE)
  h5_opened(rhdf5::H5Dopen(h5$id, name))
}

# h5write() would open and close the dataset for every piece.
append_entries <- function(id, from, piece) {
  n <- length(piece)
  if (n == 0L) return(invisible())
  h5_done(rhdf5::H5Dset_extent(id, from + n))
  there <- rhdf5::H5Dget_space(id)
  on.exit(rhdf5::H5Sclose(there))
  here <- rhdf5::H5Screate_simple(n)
  on.exit(rhdf5::H5Sclose(here), add = TRUE)
  rhdf5::H5Sselect_hyperslab(there, start = from + 1, count = n)
  h5_done(rhdf5::H5Dwrite(id, piece, here, there))
}

# ---- a matrix that is in memory

# A block of rows has 1/16 of a matrix's entries or these, whichever are more: to
# find a block's entries, all of the matrix are looked through.
BLOCK_ENTRIES <- 2e6
BLOCKS <- 16

# All rows of a dgCMatrix or dsCMatrix, the symmetric one with both triangles.
write_network <- function(h5, matrix, block = max(BLOCK_ENTRIES, length(matrix@i) / BLOCKS)) {
  read <- if (is(matrix, "dsCMatrix")) symmetric_rows else general_rows
  last <- 0
  for (end in block_ends(entries_by_row(matrix), block)) {
    rows <- read(matrix, last + 1, end)
    append_rows(h5, rows$lengths, rows$columns, rows$values)
    last <- end
    rm(rows)
    gc(full = FALSE) # or blocks pile up until R sees fit
  }
  invisible(h5)
}

# Entries in each row; in those of a symmetric matrix the diagonal's is counted twice.
entries_by_row <- function(matrix) {
  n_row <- nrow(matrix)
  counts <- numeric(n_row)
  from <- 0
  while (from < length(matrix@i)) { # by pieces: i + 1 is a copy
    to <- min(from + BLOCK_ENTRIES, length(matrix@i))
    counts <- counts + tabulate(matrix@i[(from + 1):to] + 1L, n_row)
    from <- to
    gc(full = FALSE)
  }
  if (is(matrix, "dsCMatrix")) counts + diff(matrix@p) else counts
}

# The last rows of blocks of about that many entries.
block_ends <- function(counts, block) {
  if (!length(counts)) return(integer())
  number <- cumsum(counts) %/% block
  c(which(diff(number) > 0), length(counts))
}

# Rows first to last; the columns of the transpose are the rows.
general_rows <- function(matrix, first, last) {
  rows <- Matrix::t(matrix[first:last, , drop = FALSE])
  list(lengths = diff(rows@p), columns = rows@i, values = rows@x)
}

# The same of both triangles. Row r is what is stored in column r, and what is
# stored in row r: with the upper triangle in this order, else the other way round.
# The diagonal is in both.
symmetric_rows <- function(matrix, first, last) {
  stored <- methods::new("dgCMatrix", i = matrix@i, p = matrix@p, x = matrix@x, Dim = matrix@Dim) # no copy
  along <- general_rows(stored, first, last)
  down <- off_diagonal(stored, first, last)
  if (matrix@uplo == "U") interleave(down, along) else interleave(along, down)
}

# Columns first to last without the diagonal.
off_diagonal <- function(matrix, first, last) {
  ends <- matrix@p[first:(last + 1)]
  entries <- seq.int(ends[1L] + 1, length.out = ends[length(ends)] - ends[1L])
  rows <- matrix@i[entries]
  column <- row_numbers(ends)
  keep <- which(rows != column + (first - 2L))
  list(lengths = tabulate(column[keep], length(ends) - 1L), columns = rows[keep], values = matrix@x[entries[keep]])
}

# Rows that have the entries of a, then those of b.
interleave <- function(a, b) {
  at_a <- seq_along(a$columns) + rep(cumsum(b$lengths) - b$lengths, a$lengths)
  at_b <- seq_along(b$columns) + rep(cumsum(a$lengths), b$lengths)
  columns <- integer(length(at_a) + length(at_b))
  values <- numeric(length(columns))
  columns[at_a] <- a$columns
  columns[at_b] <- b$columns
  values[at_a] <- a$values
  values[at_b] <- b$values
  list(lengths = a$lengths + b$lengths, columns = columns, values = values)
}
