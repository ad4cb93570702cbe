# Writes a network to a file: first all edges are found, in memory and on the disk, then written in bands of rows.

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

# Writes edges that were tested one by one in memory.
write_whole <- function(h5, rows, task) {
  warn_constant(rows, colnames(task$x), colnames(task$y))
  warn_without(rows, task)
  write_network(h5, plain_matrix(rows, task))
  network_details(rows, task)
}

# Max number of entries in a band of several rows.
BAND_ENTRIES <- 1e7

# Writes the rows of a store in bands, and frees the store.
write_bands <- function(h5, edges, task) {
  on.exit(store_free(edges))
  entries <- checked(.Call(r_store_entries, edges$store, edges$min_weight, task$settings))
  while (h5$rows < h5$n_row) {
    band <- checked(.Call(r_store_band, edges$store, edges$min_weight, entries, h5$rows, BAND_ENTRIES, task$settings))
    append_rows(h5, entries[h5$rows + seq_len(band$n)], band$i, band$x)
    rm(band)
    gc(full = FALSE) # otherwise bands accumulate
  }
  warn_constant(edges, colnames(task$x), colnames(task$y))
  warn_without(edges, task)
  details <- network_details(edges, task)
  details$edges <- if (is.null(task$y)) h5$entries / 2 else h5$entries
  details
}

# ---- memory

# Returns element `spool` of store_rule(): the file's folder and max bytes of edges in memory, or NULL for no limit.
spool_beside <- function(file) {
  bytes <- spool_bytes()
  if (bytes > 0) list(folder = dirname(file), bytes = floor(bytes))
}
