# A network into a file: all of its edges are found first, in memory and on the disk, and then written a band of rows at
# a time.

network_to_file <- function(task, file, compression) {
  names <- network_names(task)
  h5 <- open_network_file(file, ncol(task$x), if (is.null(task$y)) ncol(task$x) else ncol(task$y), names[[1L]],
                          names[[2L]], compression)
  on.exit(discard_network_file(h5))
  task$to_file <- TRUE
  task$spool <- spool_beside(h5$file)
  edges <- network_edges(task)
  doing(task$settings, "writing the file")
  details <- if (is.null(edges$store)) write_whole(h5, edges, task) else write_bands(h5, edges, task)
  details <- Filter(Negate(anyNA), details)
  close_network_file(h5, details[names(details) != "adjusted"])
  c(list(file = h5$file, variables = c(ncol(task$x), ncol(task$y))), details)
}

# Edges that had to be looked at in memory.
write_whole <- function(h5, rows, task) {
  warn_constant(rows, colnames(task$x), colnames(task$y))
  warn_without(rows, task)
  write_network(h5, plain_matrix(rows, task))
  network_details(rows, task)
}

# Entries that a band of rows has at most, or it is a single row.
BAND_ENTRIES <- 1e7

# The rows of a store, which ends, a band at a time.
write_bands <- function(h5, edges, task) {
  on.exit(store_free(edges))
  entries <- checked(.Call(r_store_entries, edges$store, edges$least, task$settings))
  while (h5$rows < h5$n_row) {
    band <- checked(.Call(r_store_band, edges$store, edges$least, entries, h5$rows, BAND_ENTRIES, task$settings))
    append_rows(h5, entries[h5$rows + seq_len(band$n)], band$i, band$x)
    rm(band)
    gc(full = FALSE) # or bands pile up until R sees fit
  }
  warn_constant(edges, colnames(task$x), colnames(task$y))
  warn_without(edges, task)
  details <- network_details(edges, task)
  details$edges <- if (is.null(task$y)) h5$entries / 2 else h5$entries
  details
}

# ---- how much of it is in memory

# What r_edges() is told: the file's folder, and how many bytes of edges may be in memory; NULL: any.
spool_beside <- function(file) {
  bytes <- spool_bytes()
  if (bytes > 0) list(folder = dirname(file), bytes = floor(bytes))
}
