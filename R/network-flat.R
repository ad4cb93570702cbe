# Entries in one piece of the file, which all threads can write to: HDF5 itself converts and writes with one, at half
# the pace of a disk. HDF5 makes the room; where it is, is seen from some values that it writes there.

# So few entries, or fewer, are sooner written by HDF5.
FLAT_ENTRIES <- 2^14

# How many values tell a place; what of the file's end is not the dataset's.
MARK <- 16
BEHIND <- 2^20

# Datasets of n entries: where they lie, as r_store_write() wants it; NULL where HDF5 has to write them, compressed,
# few, or not where they were looked for.
open_flat <- function(h5, n) {
  if (h5$compression > 0 || n <= FLAT_ENTRIES || .Platform$endian != "little") return(NULL)
  h5$grows <- FALSE
  writing(h5, {
    r <- create_flat(h5, "X/data", FLOAT32, n, 4)
    h5$values <- r$id
    col <- create_flat(h5, "X/indices", INT64, n, 8)
    h5$columns <- col$id
  })
  if (is.null(r$place) || is.null(col$place)) return(NULL)
  list(path = h5$partial, r = r$place, col = col$place)
}

# A dataset that is in the file as a whole from the first value on, and where.
create_flat <- function(h5, name, type, n, bytes) {
  space <- rhdf5::H5Screate_simple(n, n)
  on.exit(rhdf5::H5Sclose(space))
  layout <- rhdf5::H5Pcreate("H5P_DATASET_CREATE")
  on.exit(rhdf5::H5Pclose(layout), add = TRUE)
  rhdf5::H5Pset_layout(layout, "H5D_CONTIGUOUS")
  rhdf5::H5Pset_fill_time(layout, "H5D_FILL_TIME_NEVER")
  id <- create_dataset(h5, name, type, space, dcpl = layout)
  list(id = id, place = find_place(h5, id, n, bytes))
}

# Bytes from the file's beginning to a dataset of n numbers, the last that was made: the marks at both of its ends are
# there. NULL: they are not.
find_place <- function(h5, id, n, bytes) {
  mark <- 1e6 + seq_len(MARK)^2
  write_entries(id, 0, mark)
  write_entries(id, n - MARK, mark)
  h5_done(rhdf5::H5Fflush(h5$id))
  pattern <- if (bytes == 4) writeBin(mark, raw(), 4L) else writeBin(as.integer(rbind(mark, 0)), raw())
  size <- n * bytes
  from <- max(0, file.size(h5$partial) - size - BEHIND)
  connection <- file(h5$partial, "rb")
  on.exit(close(connection))
  seek(connection, from)
  at <- grepRaw(pattern, readBin(connection, raw(), BEHIND + length(pattern)), fixed = TRUE)
  if (!length(at)) return(NULL)
  place <- from + at - 1
  seek(connection, place + size - length(pattern))
  if (identical(readBin(connection, raw(), length(pattern)), pattern)) place
}
