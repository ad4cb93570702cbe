# A network straight into a file: a block of variables against all others at a time, whose edges are
# the file's next rows. No more than a block's edges are in memory.

network_to_file <- function(task, file) {
  names <- network_names(task)
  h5 <- open_network_file(file, ncol(task$x), if (is.null(task$y)) ncol(task$x) else ncol(task$y), names[[1L]],
                          names[[2L]])
  on.exit(discard_network_file(h5))
  threshold <- known_threshold(task)
  details <- if (is.null(threshold)) write_whole(h5, task) else stream_network(h5, task, threshold)
  details <- Filter(Negate(anyNA), details)
  close_network_file(h5, details)
  structure(c(list(file = h5$file), details), class = "gpuCorNetworkFile")
}

# The threshold for all pairs, if there is one that can be known before the edges are.
known_threshold <- function(task) {
  value <- task$criterion$value
  switch(task$criterion$name,
    threshold = value,
    density = density_threshold(task, 3),
    p.value = {
      significance <- significance_of(task)
      if (significance$single) significance$least(value)
    }
  )
}

# The network needs all of its edges to be known.
write_whole <- function(h5, task) {
  rows <- network_rows(task)
  warn_constant(rows, colnames(task$x), colnames(task$y))
  write_network(h5, new_network(rows, task))
  network_details(rows, task)
}

# Entries that a block should have, and variables that it has at least and at most.
STREAM_ENTRIES <- 2e7
STREAM_LEAST <- 1024
STREAM_MOST <- 2^16

stream_network <- function(h5, task, threshold) {
  settings <- if (task$criterion$name == "density") at_pass(task$settings, 3, 3) else task$settings
  blocks <- block_task(task)
  found <- list(n_obs = blocks$n_obs, x_flags = raw(ncol(blocks$rows)), y_flags = raw(ncol(blocks$cols)))
  first <- 1
  size <- STREAM_LEAST
  while (first <= ncol(blocks$rows)) {
    last <- min(first + size - 1, ncol(blocks$rows))
    rows <- block_rows(blocks, first, last, threshold, settings)
    append_rows(h5, diff(rows$p), rows$i, rows$x)
    found$x_flags[first:last] <- rows$y_flags
    found$y_flags <- rows$x_flags
    size <- next_size(last - first + 1, length(rows$x))
    first <- last + 1
  }
  if (is.null(task$y)) found$y_flags <- raw() # the same as x's
  warn_constant(found, colnames(task$x), colnames(task$y))
  rows <- list(threshold = if (is.finite(threshold)) threshold else NA_real_, n_obs = found$n_obs, x = NULL)
  details <- network_details(rows, task)
  details$edges <- if (is.null(task$y)) h5$entries / 2 else h5$entries
  details
}

# The engine makes rows of its y: the file's rows are the variables of `rows`. Which observations count does not
# depend on the block: `dropped` are those that do not.
block_task <- function(task) {
  matrices <- task_matrices(task)
  counted <- complete_observations(task)
  n_obs <- nrow(task$x)
  dropped <- if (!is.null(counted)) setdiff(seq_len(n_obs), counted)
  c(task, list(rows = matrices[[1L]], cols = matrices[[length(matrices)]], dropped = dropped,
               n_obs = n_obs - length(dropped)))
}

# Rows first to last of the file.
block_rows <- function(blocks, first, last, threshold, settings) {
  n <- ncol(blocks$rows)
  own <- blocks
  own$x <- blocks$cols
  own$y <- pick_columns(blocks$rows, first:last)
  if (length(blocks$dropped)) own$y[blocks$dropped, 1L] <- NA # enough for the engine to drop them
  pass <- edge_pass(own, threshold, settings = part_of(settings, (first - 1) / n, (last - first + 1) / n))
  rows <- take_rows(pass, own, threshold)
  if (is.null(blocks$y)) without_diagonal(rows, first) else rows
}

part_of <- function(settings, from, width) {
  settings$pass <- c(settings$pass[1L] + from * settings$pass[2L], width * settings$pass[2L])
  settings
}

next_size <- function(size, entries) {
  wanted <- floor(size * STREAM_ENTRIES / max(1, entries))
  max(STREAM_LEAST, min(STREAM_MOST, 4 * size, wanted))
}

# Row k of the block is variable first + k - 1, and has an entry for itself.
without_diagonal <- function(rows, first) {
  row <- row_numbers(rows$p)
  keep_entries(rows, row, which(rows$i != row + (first - 2)))
}

#' @method print gpuCorNetworkFile
#' @export
print.gpuCorNetworkFile <- function(x, ...) {
  x$threshold <- c(x$threshold, NA_real_)[1L]
  cat("Network in ", x$file, "\n", describe_network(x), "\n", sep = "")
  invisible(x)
}
