# Sparse matrices in HDF5 files: groups of values, indices and starts. They are read into a dgCMatrix, a block of
# entries at a time, and never made dense as a whole.

# Entries to read at a time, and that a dgCMatrix can have.
SPARSE_ENTRIES <- 2^22
sparse_limit <- function() .Machine$integer.max

# A group as AnnData writes it, or 10x: by_rows: entries are ordered by observations, otherwise by variables.
sparse_file <- function(file, dataset) {
  parts <- paste0(dataset, "/", c("data", "indices", "indptr"))
  absent <- !vapply(parts, function(name) h5_kind(file, name) == "dataset", NA)
  if (any(absent)) {
    fail("'dataset' is \"", dataset, "\", a group without \"", parts[absent][1L], "\", and so no sparse matrix; the ",
         "file has ", h5_contents(file))
  }
  layout <- sparse_layout(file, dataset)
  check_file_dim(layout$dim)
  new_file(file, "sparse", layout$dim, NULL, dataset = dataset, by_rows = layout$by_rows)
}

# AnnData says how it is ordered and how large it is, today by the first names; 10x has a column for each barcode, which
# is an observation, and `shape` for it as a dataset.
sparse_layout <- function(file, dataset) {
  attributes <- rhdf5::h5readAttributes(file, dataset)
  first_of <- function(names) Find(Negate(is.null), attributes[names])
  encoding <- first_of(c("encoding-type", "h5sparse_format"))
  shape <- as.numeric(first_of(c("shape", "h5sparse_shape")))
  if (is.null(encoding) && has_object(file, paste0(dataset, "/shape"))) {
    shape <- as.numeric(rhdf5::h5read(file, paste0(dataset, "/shape"), bit64conversion = "double"))
    return(list(dim = rev(shape), by_rows = TRUE))
  }
  if (length(shape) != 2L || !grepl("^cs[rc]", encoding)) {
    fail("'dataset' is \"", dataset, "\", a group of unknown layout: it has neither the attributes of AnnData's ",
         "sparse matrices nor the shape of 10x's")
  }
  list(dim = shape, by_rows = grepl("^csr", encoding))
}

# A part of one of the group's datasets, from 1.
sparse_part <- function(x, part, from, n) {
  name <- paste0(x$dataset, "/", part)
  as.vector(rhdf5::h5read(x$file, name, start = from, count = n, bit64conversion = "double"))
}

# Starts of rows (or columns), from 0, and the end of the last; whatever they are, nothing else is read than there is.
sparse_starts <- function(x) {
  n <- if (x$by_rows) nrow(x) else ncol(x)
  lengths <- vapply(c("data", "indices", "indptr"), function(part) {
    as.numeric(prod(dataset_size(x$file, paste0(x$dataset, "/", part))$dim))
  }, 0)
  starts <- as.numeric(rhdf5::h5read(x$file, paste0(x$dataset, "/indptr"), bit64conversion = "double"))
  if (length(starts) != n + 1 || !are_starts(starts, lengths[["data"]]) || lengths[["data"]] != lengths[["indices"]]) {
    damaged(x, "its starts do not fit its entries")
  }
  if (starts[n + 1] > sparse_limit()) {
    fail("\"", x$dataset, "\" of \"", x$file, "\" has ", format_count(starts[n + 1]), " entries, and a sparse matrix ",
         "of R can have ", format_count(sparse_limit()), "; write it as a dense dataset, or take fewer variables")
  }
  starts
}

are_starts <- function(starts, entries) {
  !anyNA(starts) && starts[1L] == 0 && !is.unsorted(starts) && starts[length(starts)] == entries
}

damaged <- function(x, why) fail("\"", x$dataset, "\" of \"", x$file, "\" is no sparse matrix: ", why)

# The whole of it, observations x variables.
read_sparse <- function(x) {
  need_package("rhdf5", "to read HDF5")
  check_data_file(x$file)
  starts <- sparse_starts(x)
  tell_sparse()
  parts <- if (x$by_rows) columns_of_rows(x, starts) else columns_of_columns(x, starts)
  repeated <- unlist(sparse_blocks(length(parts$i), function(from, n) {
    at <- seq(from, length.out = min(n + 1, length(parts$i) - from + 1))
    any(diff(parts$i[at]) == 0 & !at[-1L] %in% (parts$p + 1))
  }))
  if (any(repeated)) damaged(x, "a place has two entries")
  methods::new("dgCMatrix", i = parts$i, p = parts$p, x = parts$x, Dim = x$dim,
               Dimnames = if (is.null(x$dimnames)) list(NULL, NULL) else x$dimnames)
}

# Some columns of it as an ordinary matrix.
sparse_columns <- function(x, columns) unname(as.matrix(read_sparse(x)[, columns, drop = FALSE]))

# f of each block of entries: its first, from 1, and their number.
sparse_blocks <- function(entries, f) {
  from <- seq(1, by = SPARSE_ENTRIES, length.out = ceiling(entries / SPARSE_ENTRIES))
  lapply(from, function(first) f(first, min(SPARSE_ENTRIES, entries - first + 1)))
}

# Indices of a block, below n, from 0.
sparse_indices <- function(x, from, n_entries, n) {
  indices <- sparse_part(x, "indices", from, n_entries)
  if (anyNA(indices) || any(indices < 0 | indices >= n)) damaged(x, paste("an index is outside 0 to", n - 1))
  as.integer(indices)
}

# What number, from 1, each entry of a block has its row (or column).
sparse_owner <- function(starts, from, n) {
  owners <- findInterval(c(from - 1, from + n - 2), starts) # the last row that has begun
  own <- owners[1L]:owners[2L]
  lengths <- pmin(starts[own + 1L], from - 1 + n) - pmax(starts[own], from - 1)
  rep(own, lengths)
}

# Entries ordered by variables: they are there as they are wanted, but for their order within one.
columns_of_columns <- function(x, starts) {
  i <- integer(starts[length(starts)])
  values <- numeric(length(i))
  sparse_blocks(length(i), function(from, n) {
    at <- seq(from, length.out = n)
    i[at] <<- sparse_indices(x, from, n, nrow(x))
    values[at] <<- sparse_part(x, "data", from, n)
    NULL
  })
  if (!ascend(i, starts)) {
    order <- order(rep(seq_len(ncol(x)), diff(starts)), i, method = "radix")
    i <- i[order]
    values <- values[order]
  }
  list(p = as.integer(starts), i = i, x = values)
}

# Whether indices ascend within each column.
ascend <- function(i, starts) {
  all(unlist(sparse_blocks(length(i), function(from, n) {
    at <- seq(from, length.out = min(n + 1, length(i) - from + 1))
    falls <- at[-1L][diff(i[at]) < 0]
    all((falls - 1) %in% starts)
  })))
}

# Entries ordered by observations: counted by variable in one pass, put where they belong in a second one. Observations
# come in ascending order, and so they stand in each column.
columns_of_rows <- function(x, starts) {
  n_var <- ncol(x)
  entries <- starts[length(starts)]
  counts <- numeric(n_var)
  sparse_blocks(entries, function(from, n) {
    counts <<- counts + tabulate(sparse_indices(x, from, n, n_var) + 1L, n_var)
    NULL
  })
  ends <- c(0, cumsum(counts))
  free <- ends[-length(ends)] + 1 # the next place of each column
  i <- integer(entries)
  values <- numeric(entries)
  sparse_blocks(entries, function(from, n) {
    column <- sparse_indices(x, from, n, n_var) + 1L
    order <- order(column, method = "radix")
    own <- tabulate(column, n_var)
    at <- sequence(own[own > 0], free[own > 0])
    i[at] <<- (sparse_owner(starts, from, n) - 1L)[order]
    values[at] <<- sparse_part(x, "data", from, n)[order]
    free <<- free + own
    NULL
  })
  list(p = as.integer(ends), i = i, x = values)
}
