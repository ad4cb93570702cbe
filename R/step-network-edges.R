# Edges of sparse matrices and of compressed rows: as data frames, and degrees.

# Returns the slots of a sparse matrix. `rows`: compressed rows of the lower triangle, which are columns of the upper
# one; with y, rows of y.
matrix_slots <- function(rows, run) {
  c(list(Dim = network_size(run), Dimnames = network_names(run)), rows[c("p", "i", "x")],
    if (is.null(run$y)) list(uplo = "U"))
}

# Sets slots one by one, as new() would check every entry, which takes longer than making them.
with_slots <- function(object, slots) {
  for (name in names(slots)) methods::slot(object, name) <- slots[[name]]
  object
}

# Returns the slots of a sparse matrix with some of its entries.
kept_entries <- function(m, is_kept) {
  list(p = c(0L, cumsum(is_kept))[m@p + 1L], i = m@i[is_kept], x = m@x[is_kept], factors = list())
}

plain_matrix <- function(rows, run) {
  with_slots(methods::new(if (is.null(run$y)) "dsCMatrix" else "dgCMatrix"), matrix_slots(rows, run))
}

# Returns the slots of a network that are also written to a file.
network_details <- function(rows, run) {
  list(method = run$method, sign = run$criterion$sign, criterion = run$criterion$name, value = run$criterion$value,
       threshold = rows$threshold, edges = as.numeric(length(rows$x)), pairs = run$pairs, n_obs = rows$n_obs,
       adjusted = c(as.list(adjustment_of(run)), if (!is.null(rows$shared)) list(shared = rows$shared)))
}

# ---- data frames

# Returns the edges of compressed rows as a data frame, strongest first, with p values if rows$tests has them, and
# column stability if rows$stability has values.
edge_frame <- function(rows, names_x, names_y, threads = choose_threads(setting(NULL, "threads"))) {
  edges <- checked(.Call(r_sorted_edges, rows$p, rows$i, rows$x, FALSE, threads))
  is_stable <- length(rows$stability) > 0L
  is_stored <- any(c("p.value", "z", "near", "lag", "class", "fdr") %in% names(rows$tests))
  at <- if (is_stable || is_stored) { # positions among the rows' entries, which ascend
    key <- function(from, to) to * (max(rows$i, 0) + 2) + from
    findInterval(key(edges$from, edges$to), key(rows$i + 1, row_numbers(rows$p)))
  }
  frame <- name_edges(edges$from, edges$to, edges$r, names_x, names_y)
  list2DF(c(frame, edge_tests(edges$r, rows$tests, at, threads), if (is_stable) list(stability = rows$stability[at])))
}

name_edges <- function(from, to, r, names_x, names_y) {
  list2DF(list(from = names_at(from, names_x), to = names_at(to, names_y), r = r))
}

# Checks the indices, as users may change a network's names. Many names are looked up when they are read (edges.c).
names_at <- function(numbers, names) {
  if (is.null(names)) return(numbers)
  if (length(numbers) == 0L) return(character())
  tell_same_names(names)
  if (!isTRUE(min(numbers) >= 1L && max(numbers) <= length(names))) {
    first <- numbers[is.na(numbers) | numbers < 1L | numbers > length(names)][1L]
    fail("there is no name ", first, " of ", length(names))
  }
  if (length(numbers) >= 10000L) .Call(r_names_at, numbers, names) else names[numbers]
}

# ---- vertices

network_ends <- function(net) list(from = net@i + 1L, to = row_numbers(net@p))

# Returns the number of edges of each variable: a list of one vector, or of those of x and of y.
degrees_of_network <- function(net) {
  check_slots(net, "x")
  ends <- network_ends(net)
  rows <- tabulate(ends$from, nrow(net))
  columns <- tabulate(ends$to, ncol(net))
  if (is(net, "gpuCorNetwork")) list(rows + columns) else list(x = rows, y = columns)
}

vertex_names <- function(names, size, symmetric) {
  if (symmetric) return(names[[1L]])
  if (is.null(names[[1L]]) && is.null(names[[2L]])) return(NULL)
  for (side in 1:2) if (is.null(names[[side]])) names[[side]] <- as.character(seq_len(size[side]))
  if (anyDuplicated(unlist(names))) names <- Map(paste0, c("x.", "y."), names)
  unlist(names, use.names = FALSE)
}
