# Writes a network to a file: first all edges are found, in memory and on the disk, then written in bands of rows. The
# result is what gpuCorNetwork(file = ) returns.

network_to_file <- function(run, file) {
  names <- network_names(run)
  size <- network_size(run)
  h5 <- open_network_file(file, size[1L], size[2L], names[[1L]], names[[2L]])
  on.exit(discard_network_file(h5))
  run <- with_criterion(run, to_file = TRUE)
  bytes <- spool_bytes()
  if (bytes > 0) { # the rest is beside the file
    run <- with_criterion(run, spool = list(folder = dirname(h5$file), bytes = floor(bytes)))
  }
  edges <- FIND_EDGES[[run$criterion$name]](run)
  doing(run$place, "writing the file")
  if (is.null(edges$store)) write_network(h5, plain_matrix(edges, run)) else write_bands(h5, edges, run)
  warn_without(edges, run)
  details <- network_details(edges, run)
  details$edges <- if (is.null(run$y)) h5$entries / 2 else h5$entries
  details <- Filter(Negate(anyNA), details)
  close_network_file(h5, details[names(details) != "adjusted"])
  structure(c(list(file = h5$file, variables = c(ncol(run$x), ncol(run$y))), details),
            class = c("gpuCorNetworkFile", "gpuCorResult"))
}

# Max number of entries in a band of several rows.
BAND_ENTRIES <- 1e7

# Writes the rows of a store in bands, and frees the store.
write_bands <- function(h5, edges, run) {
  on.exit(store_free(edges))
  entries <- ask_store(edges, run, "entries", edges$min_weight)
  while (h5$rows < h5$n_row) {
    band <- ask_store(edges, run, "band", edges$min_weight, entries, h5$rows, BAND_ENTRIES)
    append_rows(h5, entries[h5$rows + seq_len(band$n)], band$i, band$x)
    rm(band)
    gc(full = FALSE) # otherwise bands accumulate
  }
}

# ---- a matrix in memory

# Min number of entries in a block, and max number of blocks: each block searches all entries.
BLOCK_ENTRIES <- 2e6
BLOCKS <- 16

# Writes a sparse matrix in blocks of rows: a dgCMatrix, or both triangles of a dsCMatrix.
write_network <- function(h5, matrix, block = max(BLOCK_ENTRIES, length(matrix@i) / BLOCKS)) {
  is_symmetric <- is(matrix, "dsCMatrix")
  counts <- as.numeric(tabulate(matrix@i + 1L, nrow(matrix)))
  if (is_symmetric) counts <- counts + diff(matrix@p) # counts the diagonal twice, which is harmless
  symmetric_rows <- function(first, last) { # row r is the stored row r and column r, with their diagonal entry once
    stored <- methods::new("dgCMatrix", i = matrix@i, p = matrix@p, x = matrix@x, Dim = matrix@Dim) # no copy
    along <- Matrix::t(stored[first:last, , drop = FALSE])
    down <- stored[, first:last, drop = FALSE]
    row <- c(row_numbers(along@p), row_numbers(down@p))
    columns <- c(along@i, down@i)
    keep <- c(rep(TRUE, length(along@i)), down@i != row_numbers(down@p) + (first - 2L))
    order <- order(row, columns, method = "radix")
    order <- order[keep[order]]
    values <- c(along@x, down@x)[order]
    list(lengths = tabulate(row[order], last - first + 1L), columns = columns[order], values = values)
  }
  first <- 1
  for (last in c(which(diff(cumsum(counts) %/% block) > 0), if (length(counts)) length(counts))) {
    if (is_symmetric) {
      rows <- symmetric_rows(first, last)
      append_rows(h5, rows$lengths, rows$columns, rows$values)
    } else {
      rows <- Matrix::t(matrix[first:last, , drop = FALSE]) # whose columns are rows of the matrix
      append_rows(h5, diff(rows@p), rows@i, rows@x)
    }
    first <- last + 1
    rm(rows)
    gc(full = FALSE) # otherwise blocks accumulate
  }
}

# ---- the file, from open to close

# Sparse matrices in HDF5 files, written row by row in AnnData's layout (h5ad), which Python's anndata and
# Bioconductor's HDF5Array read. A file can exceed memory and 2^31 entries: counts of entries are doubles.

# Bytes of a chunk: the size of HDF5's cache per dataset when it reads.
CHUNK_BYTES <- 2^20

FLOAT32 <- "H5T_IEEE_F32LE"
FLOAT64 <- "H5T_IEEE_F64LE"
INT64 <- "H5T_STD_I64LE"

# Returns an open file of n_row rows: an environment with the counts of written rows and entries, and the open datasets.
# The caller must set on.exit(discard_network_file(h5)).
open_network_file <- function(file, n_row, n_col, row_names = NULL, col_names = NULL) {
  file <- check_new_file(file)
  need_packages("rhdf5", "to write a file")
  h5 <- list2env(list(file = file, partial = begin_partial(file), n_row = n_row, rows = 0, entries = 0,
                      row_ends = list(), datasets = list()), parent = emptyenv())
  complete <- FALSE
  on.exit(if (!complete) discard_network_file(h5))
  room <- min(2^25, 2^20 + 64 * (n_row + n_col)) # for the first chunks and the names
  why <- why_no_room(h5$partial, room) # HDF5 would give no reason
  if (!is.null(why)) fail_file("'file' is ", show_value(file), ", which cannot be written: ", why)
  writing(h5, {
    h5$id <- h5_done(rhdf5::H5Fcreate(h5$partial, "H5F_ACC_TRUNC"))
    h5$string <- rhdf5::H5Tcopy("H5T_C_S1") # of variable length, in UTF-8
    rhdf5::H5Tset_size(h5$string, NULL)
    rhdf5::H5Tset_cset(h5$string, "UTF-8")
    set_encoding(h5, h5$id, "anndata", "0.1.0")
    with_group(h5, "X", "csr_matrix", "0.1.0", function(group) {
      set_attribute(group, "shape", INT64, c(n_row, n_col))
    })
    sides <- list(obs = list(names = row_names, n = n_row), var = list(names = col_names, n = n_col))
    for (side in names(sides)) {
      with_group(h5, side, "dataframe", "0.2.0", function(id) {
        set_attribute(id, "_index", h5$string, "_index", scalar = TRUE)
        set_attribute(id, "column-order", h5$string, character())
      })
      names <- sides[[side]]$names
      if (is.null(names)) names <- as.character(seq_len(sides[[side]]$n)) # their indices, from 1
      write_dataset(h5, paste0(side, "/_index"), h5$string, names, encoding = "string-array")
    }
    for (name in c("obsm", "varm", "obsp", "varp", "layers", "uns")) with_group(h5, name, "dict", "0.1.0")
    h5$values <- create_growing(h5, "X/data", FLOAT32, 4)
    h5$columns <- create_growing(h5, "X/indices", INT64, 8)
    h5_done(rhdf5::H5Fflush(h5$id))
  })
  complete <- TRUE
  h5
}

# Appends rows. `lengths`: number of entries in each; `columns`: from 0, ascending within a row.
append_rows <- function(h5, lengths, columns, values) {
  stopifnot(sum(as.numeric(lengths)) == length(columns), length(columns) == length(values),
            h5$rows + length(lengths) <= h5$n_row)
  n <- length(columns)
  write_piece <- function(id, piece) { # h5write() would open and close the dataset for each piece
    there <- rhdf5::H5Dget_space(id)
    on.exit(rhdf5::H5Sclose(there))
    here <- rhdf5::H5Screate_simple(n)
    on.exit(rhdf5::H5Sclose(here), add = TRUE)
    rhdf5::H5Sselect_hyperslab(there, start = h5$entries + 1, count = n)
    h5_done(rhdf5::H5Dwrite(id, piece, h5spaceMem = here, h5spaceFile = there))
  }
  writing(h5, {
    for (id in list(h5$columns, h5$values)) h5_done(rhdf5::H5Dset_extent(id, h5$entries + n))
    if (n > 0L) {
      write_piece(h5$columns, columns)
      write_piece(h5$values, values)
    }
  })
  ends <- h5$entries + cumsum(as.numeric(lengths))
  h5$row_ends[[length(h5$row_ends) + 1L]] <- ends
  h5$rows <- h5$rows + length(lengths)
  h5$entries <- max(h5$entries, ends)
  invisible(h5)
}

# Counts that are doubles in R, and integers in the file.
COUNTS <- c("edges", "pairs", "n_obs")

# Completes the file and renames it. `details`: a named list of strings and numbers for `uns`.
close_network_file <- function(h5, details = list()) {
  if (h5$rows != h5$n_row) fail_file("only ", h5$rows, " of ", h5$n_row, " rows came for \"", h5$file, '"')
  writing(h5, {
    write_dataset(h5, "X/indptr", INT64, c(0, unlist(h5$row_ends)))
    for (name in names(details)[lengths(details) > 0L]) {
      value <- details[[name]]
      type <- if (is.character(value)) h5$string else if (is.integer(value) || name %in% COUNTS) INT64 else FLOAT64
      write_dataset(h5, paste0("uns/", name), type, value, scalar = TRUE,
                    encoding = if (is.character(value)) "string" else "numeric-scalar")
    }
    h5_done(rhdf5::H5Fflush(h5$id))
    close_handles(h5, must = TRUE)
  })
  # Another process may have created the file, which a rename would overwrite.
  if (file.exists(h5$file) || !rename_file(h5$partial, h5$file, replace = FALSE)) {
    fail_file("cannot rename \"", h5$partial, "\" to \"", h5$file,
              "\": another file has that name by now, or the folder is gone or not writable")
  }
  discard_partial(h5$partial)
  invisible(h5$file)
}

# Removes an incomplete file; does nothing after close_network_file(). If the disk is full, HDF5 can neither flush its
# buffers nor close the file, and R crashes when it quits. Truncating the file first frees space for the flush.
discard_network_file <- function(h5) {
  is_flushed <- function() tryCatch(rhdf5::H5Fflush(h5$id) >= 0, error = function(condition) FALSE)
  if (!is.null(h5$id)) {
    if (!is_flushed()) {
      if (file.exists(h5$partial)) close(file(h5$partial, "wb"))
      for (time in 1:2) is_flushed() # the first flush after a failed one also fails
    }
    close_handles(h5, must = FALSE)
  }
  discard_partial(h5$partial)
  invisible()
}

# A file can only be closed after its open objects.
close_handles <- function(h5, must) {
  close_one <- function(id, close) {
    if (must) h5_done(close(id)) else try(if (rhdf5::H5Iis_valid(id)) close(id), silent = TRUE)
  }
  for (id in h5$datasets) close_one(id, rhdf5::H5Dclose)
  h5$datasets <- list()
  if (!is.null(h5$id)) close_one(h5$id, rhdf5::H5Fclose)
  h5$id <- NULL
}

# ---- errors of HDF5

# Returns the result of a function of rhdf5, which raises an error or, if another package disabled its errors, returns
# FALSE instead of a handle, or a negative number.
h5_done <- function(result) {
  if (isFALSE(result) || (is.numeric(result) && any(result < 0))) stop("HDF5 cannot write a part of the file")
  result
}

writing <- function(h5, code) {
  tryCatch(code, error = function(condition) cannot_write(h5$file, h5$partial, conditionMessage(condition)))
}

# ---- parts of the file

with_group <- function(h5, name, encoding, version, fill = function(id) NULL) {
  id <- h5_done(rhdf5::H5Gcreate(h5$id, name))
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
  attribute <- h5_done(rhdf5::H5Acreate(id, name, type, space))
  on.exit(rhdf5::H5Aclose(attribute), add = TRUE, after = FALSE)
  if (length(value)) h5_done(rhdf5::H5Awrite(attribute, value))
}

# The dataset stays open as long as the file: closing it could need disk space.
create_dataset <- function(h5, name, type, space, ...) {
  id <- h5_done(rhdf5::H5Dcreate(h5$id, name, type, space, ...))
  h5$datasets <- c(h5$datasets, list(id))
  id
}

write_dataset <- function(h5, name, type, value, scalar = FALSE, encoding = NULL) {
  space <- data_space(value, scalar)
  on.exit(rhdf5::H5Sclose(space))
  id <- create_dataset(h5, name, type, space)
  if (is.character(value)) value <- enc2utf8(value)
  if (length(value)) h5_done(rhdf5::H5Dwrite(id, value))
  if (!is.null(encoding)) set_encoding(h5, id, encoding, "0.2.0")
}

# AnnData distinguishes a scalar from a vector of length one.
data_space <- function(value, scalar) {
  h5_done(if (scalar) rhdf5::H5Screate("H5S_SCALAR") else rhdf5::H5Screate_simple(length(value)))
}

# ---- the entries

# Creates a dataset of unlimited length. Its chunk cache is disabled: cached chunks that do not fit on a full disk would
# keep HDF5 from closing.
create_growing <- function(h5, name, type, bytes) {
  space <- rhdf5::H5Screate_simple(0, rhdf5::H5Sunlimited())
  on.exit(rhdf5::H5Sclose(space))
  layout <- rhdf5::H5Pcreate("H5P_DATASET_CREATE")
  on.exit(rhdf5::H5Pclose(layout), add = TRUE)
  rhdf5::H5Pset_chunk(layout, CHUNK_BYTES / bytes)
  rhdf5::H5Pset_fill_time(layout, "H5D_FILL_TIME_NEVER")
  access <- rhdf5::H5Pcreate("H5P_DATASET_ACCESS")
  on.exit(rhdf5::H5Pclose(access), add = TRUE)
  rhdf5::H5Pset_chunk_cache(access, 0, 0, 0)
  create_dataset(h5, name, type, space, dcpl = layout, dapl = access)
}
