# Lagged coefficients. Each lag is a run of x against rows of y that are some rows later, over the rows that overlap. Of
# each pair the coefficient of largest weight is kept, with its lag.

# Returns distinct lags: those near 0 first, of both signs the positive one. `symmetric`: TRUE if there is no y.
check_lag <- function(lag, task, symmetric) {
  ok <- is_numeric(lag) && length(lag) > 0L && all(is.finite(lag)) && all(lag == floor(lag))
  if (!ok) fail("'lag' must be integers, such as -10:10, not ", show_value(lag))
  lag <- unique(lag)
  check_overlap(lag, task)
  if (symmetric && !setequal(lag, -lag)) {
    fail("'lag' is ", show_value(lag), ", and a pair of columns of 'x' has no order: give each lag with both signs, ",
         "or 'x' also as 'y'")
  }
  lag <- as.integer(lag)
  lag[order(abs(lag), lag < 0)]
}

# Stops if fewer rows overlap at a lag than min_overlap, by default 10 or half of the rows.
check_overlap <- function(lag, task) {
  counted <- length(overlapping(task, 0))
  min <- task$min_overlap
  if (is.null(min)) min <- max(MIN_OBS, min(10, ceiling(counted / 2)))
  min <- check_whole(min, "min_overlap", MIN_OBS, max(counted, MIN_OBS), paste0("; there are ", n_of(counted, "row")))
  overlap <- function(lag) length(overlapping(task, lag))
  worst <- lag[which.min(vapply(lag, overlap, 0L))]
  if (overlap(worst) >= min) return(invisible())
  possible <- Find(function(size) overlap(size) >= min, rev(seq_len(nrow(task$x)) - 1))
  fail("'lag' is ", worst, ", at which ", n_of(overlap(worst), "row"), " of ", counted, " overlap, and 'min_overlap' ",
       "is ", min, "; ",
       if (is.null(possible)) "no lag has enough rows" else paste("the largest lag possible is", possible))
}

# Returns the rows t of x whose rows t + lag of y are in the same run, where both have weights above 0.
overlapping <- function(task, lag) {
  at <- seq_len(max(0, nrow(task$x) - abs(lag))) + max(0, -lag)
  if (!is.null(task$runs)) at <- at[task$runs[at] == task$runs[at + lag]]
  if (!is.null(task$counts)) at <- at[task$counts[at] & task$counts[at + lag]]
  at
}

# Returns the task with ordinary matrices of residuals, element `lags`, `counts`, which is TRUE for rows that count, and
# `runs`, the number of each row's run; both may be NULL. Without y, runs with lags of at least 0 have the others, too.
# `backend`: the argument.
lagged_task <- function(task, lag, backend) {
  if (!is.null(task$settings$design$weights)) task$counts <- task$settings$design$weights > 0
  task$runs <- task$settings$design$runs
  lags <- check_lag(lag, task, is.null(task$y))
  task$settings$lag <- range(lags)
  task$lags <- if (is.null(task$y)) lags[lags >= 0] else lags
  if (is_adjusted_task(task)) task <- residualized_task(task, "lag")
  if (!is.null(task$settings$design)) task$settings$design["weights"] <- list(NULL)
  task["x"] <- list(plain_series(task$x))
  task["y"] <- list(if (!is.null(task$y)) plain_series(task$y))
  work <- as.numeric(nrow(task$x)) * ncol(task$x) * ncol(if (is.null(task$y)) task$x else task$y)
  task$settings <- one_thread_if_short(on_host_if_small(task$settings, work, backend), work)
  task
}

# Classes of matrices have methods for `[`, which take longer.
plain_series <- function(m) {
  m <- dense_series(m)
  attributes(m) <- attributes(m)[c("dim", "dimnames")]
  m
}

# Returns the task of one lag: rows t of x and t + lag of y. With lag 0 and without y it has no y either.
task_at_lag <- function(task, k) {
  lag <- task$lags[k]
  at <- overlapping(task, lag)
  y <- if (!is.null(task$y)) task$y else if (lag != 0) task$x
  task["y"] <- list(if (!is.null(y)) y[at + lag, , drop = FALSE])
  task$x <- task$x[at, , drop = FALSE]
  task
}

# Only the first lag, which has most rows, warns of columns without coefficients: with other lags they are skipped.
over_lags <- function(task) {
  list(n = length(task$lags), label = function(k) paste("lag", task$lags[k]), change = task_at_lag, warns = "first")
}

# Returns the weight by which coefficients are compared.
lag_weight <- function(r, sign) switch(sign, absolute = abs(r), positive = r, negative = -r)

# ---- all pairs

# Returns list(r, lag), both matrices, with the largest coefficients of each column of x and each column of y.
largest_lags <- function(task) {
  sign <- tested_sign(task$method)
  best <- NULL
  lags <- NULL
  for_each(over_lags(task), task, function(own, k) {
    layout <- if (is.null(own$y)) "square" else "rectangle"
    r <- run(own$x, own$y, own$method, own$use, layout, own$settings)
    if (is.null(best)) {
      best <<- r
      lags <<- matrix(task$lags[k], nrow(r), ncol(r))
      return()
    }
    for (columns in column_ranges(ncol(r), nrow(r))) {
      weight <- lag_weight(r[, columns], sign)
      before <- lag_weight(best[, columns], sign)
      larger <- which(weight > before | is.na(before)) + (columns[1L] - 1) * nrow(r)
      best[larger] <<- r[larger]
      lags[larger] <<- task$lags[k]
    }
  })
  lags[is.na(best)] <- NA
  list(r = best, lag = lags)
}

# Returns list(r, lag) for pairs i < j, in the order of a dist, of largest_lags() of x with itself, where element [j, i]
# has the lags of i behind j.
lags_of_pairs <- function(found, sign) {
  lower <- lower.tri(found$r)
  back <- lapply(found, `[`, lower)
  pairs <- lapply(found, function(m) t(m)[lower])
  weight <- lag_weight(pairs$r, sign)
  other <- lag_weight(back$r, sign)
  turned <- which(other > weight | is.na(weight) | (other == weight & back$lag < pairs$lag))
  pairs$r[turned] <- back$r[turned]
  pairs$lag[turned] <- -back$lag[turned]
  pairs
}

# Returns gpuCor()'s result, with attribute `lag` of the same shape.
lagged_coefficients <- function(task, lag, output, scalar, backend, call) {
  task <- lagged_task(task, lag, backend)
  values <- as.numeric(ncol(task$x)) * ncol(if (is.null(task$y)) task$x else task$y)
  check_memory(LAG_BYTES * values, "'lag'", n_of(values, "value"), "gpuCorNetwork() does without a value for each pair")
  found <- largest_lags(task)
  if (!is.null(task$y)) {
    names <- matrix_attributes(colnames(task$x), colnames(task$y))
    return(with_lags(found, function(m) if (scalar) as.vector(m) else structure(m, dimnames = names$dimnames)))
  }
  pairs <- lags_of_pairs(found, tested_sign(task$method))
  if (output == "matrix") return(square_lags(found, pairs, colnames(task$x)))
  attributes(pairs$lag) <- plain_dist_attributes(task$x, task$method)
  own <- dist_attributes(task$x, task$method, call)
  own$n_obs <- if (is.null(task$counts)) nrow(task$x) else sum(task$counts)
  own$diagonal <- diag(found$r)
  attributes(pairs$r) <- c(own, list(untestable = "they are the largest of several lags", lag = pairs$lag,
                                     adjusted = adjustment_of(task$settings, task$x)))
  pairs$r
}

# Bytes for each value: two results, a lag's coefficients and their comparison.
LAG_BYTES <- 44

with_lags <- function(found, shape) structure(shape(found$r), lag = shape(found$lag))

# Both triangles have the same coefficient and opposite lags.
square_lags <- function(found, pairs, names) {
  lower <- lower.tri(found$r)
  for (part in names(found)) {
    upper <- t(found[[part]])
    upper[lower] <- pairs[[part]]
    upper <- t(upper)
    upper[lower] <- if (part == "lag") -pairs$lag else pairs$r
    if (!is.null(names)) dimnames(upper) <- list(names, names)
    found[[part]] <- upper
  }
  with_lags(found, identity)
}

# ---- networks

# Returns the compressed rows of the network of the largest coefficients. An edge of the network is one of its own lag,
# so that the runs need only find edges of a network with the same criterion.
lagged_rows <- function(task, lag, backend) {
  task <- lagged_task(task, lag, backend)
  found <- list(from = integer(), to = integer(), r = numeric(), lag = integer())
  first <- NULL
  wanted <- if (task$criterion$name == "density") check_density(task)
  min_weight <- if (task$criterion$name == "threshold") task$criterion$value
  for_each(over_lags(task), task, function(own, k) {
    rows <- network_rows(lag_network_task(own, is.null(task$y), wanted, min_weight))
    if (k == 1L) first <<- rows
    found <<- stronger_lags(found, edges_at_lag(rows, task, k), task$sign)
    if (!is.null(wanted) && length(found$r) >= wanted) {
      weight <- lag_weight(found$r, task$sign)
      min_weight <<- sort(weight, decreasing = TRUE)[wanted]
      found <<- lapply(found, `[`, weight >= min_weight)
    }
    NULL
  })
  if (task$criterion$name == "k") found <- nearest_lags(found, task)
  rows <- rows_of_edges(found, ncol(if (is.null(task$y)) task$x else task$y))
  flags <- if (is.null(task$y)) raw() else first$y_flags
  rows <- c(rows, list(n_obs = first$n_obs, x_flags = first$x_flags, y_flags = flags,
                       threshold = if (is.null(min_weight)) NA_real_ else min_weight))
  list(rows = rows, task = task)
}

# Returns the task that finds all edges of a lag. As long as no bound is known, a run of x against itself, which has
# each pair twice and each column with itself, asks for as many more edges. `symmetric`: TRUE if there is no y.
lag_network_task <- function(own, symmetric, wanted, min_weight) {
  is_twice <- symmetric && !is.null(own$y)
  if (is_twice && !is.null(own$settings$pairs)) own$settings$pairs$y <- own$settings$pairs$x
  own$pairs <- count_pairs(own$x, own$y, own$settings)
  if (!is.null(min_weight)) {
    own$criterion <- list(name = "threshold", value = min_weight)
  } else if (is_twice) {
    more <- if (is.null(wanted)) own$criterion$value + 1 else min(1, (2 * wanted + ncol(own$x)) / own$pairs)
    own$criterion$value <- more
  }
  own$mutual <- FALSE
  own
}

# Returns list(from, to, r, lag) of compressed rows; without y each pair has from < to.
edges_at_lag <- function(rows, task, k) {
  edges <- list(from = rows$i + 1L, to = row_numbers(rows$p), r = rows$x, lag = rep(task$lags[k], length(rows$x)))
  if (!is.null(task$y)) return(edges)
  turned <- edges$from > edges$to
  edges[c("from", "to")] <- list(pmin(edges$from, edges$to), pmax(rows$i + 1L, edges$to))
  edges$lag[turned] <- -edges$lag[turned]
  lapply(edges, function(part) c(part[!turned & edges$from < edges$to], part[turned]))
}

# Returns each pair's stronger edge, of equal ones the first, sorted by `to` and `from`.
stronger_lags <- function(found, more, sign) {
  all <- Map(c, found, more)
  order <- order(all$to, all$from, -lag_weight(all$r, sign), method = "radix")
  all <- lapply(all, `[`, order)
  lapply(all, `[`, !duplicated(list2DF(all[c("from", "to")])))
}

# Keeps the edges to one of the k nearest neighbors of a column, or of both columns.
nearest_lags <- function(found, task) {
  symmetric <- is.null(task$y)
  ends <- c(found$from, found$to + if (symmetric) 0L else ncol(task$x))
  order <- order(ends, -rep(lag_weight(found$r, task$sign), 2L), c(found$to, found$from), method = "radix")
  is_near <- logical(length(ends))
  is_near[order] <- sequence(rle(ends[order])$lengths) <= task$criterion$value
  near <- matrix(is_near, ncol = 2L)
  lapply(found, `[`, if (task$mutual) near[, 1L] & near[, 2L] else near[, 1L] | near[, 2L])
}

rows_of_edges <- function(edges, n_row) {
  list(p = c(0L, cumsum(tabulate(edges$to, n_row))), i = edges$from - 1L, x = edges$r,
       tests = list(lag = edges$lag))
}
