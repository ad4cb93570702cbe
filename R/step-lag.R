# Lagged coefficients. Each lag is a run of x against rows of y that are some rows later, over the rows that overlap. Of
# each pair the coefficient of largest weight is kept, with its lag.

# Returns the rows t of x whose rows t + lag of y are in the same run, where both have weights above 0.
overlapping <- function(run, lag) {
  at <- seq_len(max(0, nrow(run$x) - abs(lag))) + max(0, -lag)
  if (!is.null(run$over$runs)) at <- at[run$over$runs[at] == run$over$runs[at + lag]]
  if (!is.null(run$over$counts)) at <- at[run$over$counts[at] & run$over$counts[at + lag]]
  at
}

# Returns the run with ordinary matrices of residuals, element `lags`, `counts`, which is TRUE for rows that count, and
# `runs`, the number of each row's run; both may be NULL. Without y, runs with lags of at least 0 have the others, too.
lagged_run <- function(run, lag, min_overlap) {
  weights <- run$design$weights
  run <- with_over(run, counts = if (!is.null(weights)) weights > 0, runs = run$design$runs)
  check_that(lag, "lag", are_finite(lag) && all(lag == floor(lag)), "integers, such as -10:10")
  lag <- unique(lag)
  overlap <- function(lag) length(overlapping(run, lag))
  counted <- overlap(0)
  if (is.null(min_overlap)) min_overlap <- max(MIN_OBS, min(10, ceiling(counted / 2)))
  min <- check_whole(min_overlap, "min_overlap", MIN_OBS, max(counted, MIN_OBS),
                     paste0("; there are ", n_of(counted, "row")))
  worst <- lag[which.min(vapply(lag, overlap, 0L))]
  possible <- function() Find(function(size) overlap(size) >= min, rev(seq_len(nrow(run$x)) - 1))
  check_that(as.numeric(worst), "lag", overlap(worst) >= min,
             if (is.null(possible())) "left out" else paste("from", -possible(), "to", possible()),
             paste0(", at which ", n_of(overlap(worst), "row"), " of ", counted, " overlap, and 'min_overlap' is ",
                    min))
  check_that(lag, "lag", !is.null(run$y) || setequal(lag, -lag), "given with both signs",
             ", as a pair of columns of 'x' has no order; or give 'x' also as 'y'")
  lags <- as.integer(lag)[order(abs(lag), lag < 0)] # those near 0 first, of both signs the positive one
  run <- with_over(run, lag = range(lags), lags = if (is.null(run$y)) lags[lags >= 0] else lags)
  if (is_adjusted_run(run)) run <- residualized_run(run, "lag")
  design <- run$design
  if (!is.null(design)) design["weights"] <- list(NULL)
  run <- with_values(run, plain_series(run$x), if (!is.null(run$y)) plain_series(run$y), design)
  work <- nrow(run$x) * prod(network_size(run))
  one_thread_if_short(on_host_if_small(run, work), work)
}

# Classes of matrices have methods for `[`, which take longer.
plain_series <- function(m) {
  m <- dense_series(m)
  attributes(m) <- attributes(m)[c("dim", "dimnames")]
  m
}

# Runs of rows t of x and t + lag of y; with lag 0 and without y a run has no y either. Only the first lag, which has
# most rows, warns of columns without coefficients: with other lags they are skipped.
over_lags <- function(run) {
  change <- function(run, k) {
    lag <- run$over$lags[k]
    at <- overlapping(run, lag)
    y <- if (!is.null(run$y)) run$y else if (lag != 0) run$x
    with_values(run, run$x[at, , drop = FALSE], if (!is.null(y)) y[at + lag, , drop = FALSE])
  }
  list(n = length(run$over$lags), label = function(k) paste("lag", run$over$lags[k]), change = change, warns = "first")
}

# ---- all pairs

# Returns list(r, lag), both matrices, with the largest coefficients of each column of x and each column of y. Without y
# also `pairs`, list(r, lag) for pairs i < j, in the order of a dist: element [j, i] of the matrices has the lags of i
# behind j.
largest_lags <- function(run) {
  sign <- tested_sign(run$method)
  size <- network_size(run)
  best <- matrix(NA_real_, size[1L], size[2L])
  lags <- matrix(NA_integer_, size[1L], size[2L])
  for_each(over_lags(run), run, function(own, k) {
    layout <- if (is.null(own$y)) "square" else "rectangle"
    r <- values_of_pairs(own, layout)
    for (columns in column_ranges(ncol(r), nrow(r))) {
      weight <- weights_of(r[, columns], sign)
      before <- weights_of(best[, columns], sign)
      larger <- which(weight > before | is.na(before)) + (columns[1L] - 1) * nrow(r)
      best[larger] <<- r[larger]
      lags[larger] <<- run$over$lags[k]
    }
  })
  lags[is.na(best)] <- NA
  found <- list(r = best, lag = lags)
  if (!is.null(run$y)) return(found)
  lower <- lower.tri(best)
  back <- lapply(found, `[`, lower)
  pairs <- lapply(found, function(m) t(m)[lower])
  weight <- weights_of(pairs$r, sign)
  other <- weights_of(back$r, sign)
  turned <- which(other > weight | is.na(weight) | (other == weight & back$lag < pairs$lag))
  pairs$r[turned] <- back$r[turned]
  pairs$lag[turned] <- -back$lag[turned]
  c(found, list(pairs = pairs))
}

# Returns gpuCor()'s result, with attribute `lag` of the same shape.
lagged_coefficients <- function(run, lag, min_overlap, output) {
  run <- lagged_run(run, lag, min_overlap)
  values <- prod(network_size(run))
  check_memory(LAG_BYTES * values, "'lag'", n_of(values, "value"), "gpuCorNetwork() does without a value for each pair")
  found <- largest_lags(run)
  if (is.null(run$y)) {
    pairs <- found$pairs
    if (output != "matrix") {
      attributes(pairs$lag) <- plain_dist_attributes(run)
      own <- dist_attributes(run)
      own$n_obs <- if (is.null(run$over$counts)) nrow(run$x) else sum(run$over$counts)
      own$diagonal <- diag(found$r)
      attributes(pairs$r) <- c(own, list(untestable = "they are the largest of several lags", lag = pairs$lag,
                                         adjusted = adjustment_of(run)))
      return(pairs$r)
    }
    # Both triangles have the same coefficient and opposite lags.
    lower <- lower.tri(found$r)
    found$r[lower] <- pairs$r
    found$lag[lower] <- pairs$lag
    found <- lapply(found[c("r", "lag")], t)
    found$r[lower] <- pairs$r
    found$lag[lower] <- -pairs$lag
  }
  if (run$scalar) return(structure(as.vector(found$r), lag = as.vector(found$lag)))
  names <- network_names(run)
  named <- matrix_attributes(names[[1L]], names[[2L]])
  found <- lapply(found, structure, dimnames = named$dimnames)
  structure(found$r, lag = found$lag)
}

# Bytes for each value: two results, a lag's coefficients and their comparison.
LAG_BYTES <- 44

# ---- networks

# Returns the compressed rows of the network of the largest coefficients. An edge of the network is one of its own lag,
# so that the runs need only find edges of a network with the same criterion.
lagged_rows <- function(run) {
  symmetric <- is.null(run$y)
  wanted <- if (run$criterion$name == "density") check_density(run)
  min_weight <- if (run$criterion$name == "threshold") run$criterion$value
  found <- list(from = integer(), to = integer(), r = numeric(), lag = integer())
  first <- NULL
  for_each(over_lags(run), run, function(own, k) {
    # All edges of the lag. As long as no bound is known, a run of x against itself, which has each pair twice and each
    # column with itself, asks for as many more edges.
    is_twice <- symmetric && !is.null(own$y)
    mask <- own$mask
    if (is_twice && !is.null(mask)) mask$y <- mask$x
    finding <- with_criterion(with_mask(own, mask), mutual = FALSE)
    if (!is.null(min_weight)) {
      finding <- with_criterion(finding, name = "threshold", value = min_weight)
    } else if (is_twice) {
      more <- if (is.null(wanted)) own$criterion$value + 1 else min(1, (2 * wanted + ncol(own$x)) / finding$pairs)
      finding <- with_criterion(finding, value = more)
    }
    rows <- network_rows(finding)
    if (k == 1L) first <<- with_shared(rows, own) # tells
    edges <- list(from = rows$i + 1L, to = row_numbers(rows$p), r = rows$x, lag = rep(run$over$lags[k], length(rows$x)))
    if (symmetric) { # a pair has from < to
      ends <- edges[c("from", "to")]
      turned <- ends$from > ends$to
      kept <- ends$from < ends$to
      edges[c("from", "to")] <- list(pmin(ends$from, ends$to), pmax(ends$from, ends$to))
      edges$lag[turned] <- -edges$lag[turned]
      edges <- lapply(edges, function(part) c(part[kept], part[turned]))
    }
    all <- Map(c, found, edges)
    all <- lapply(all, `[`, order(all$to, all$from, -weights_of(all$r, run$criterion$sign), method = "radix"))
    found <<- lapply(all, `[`, !duplicated(list2DF(all[c("from", "to")]))) # the strongest, of equal ones the first
    if (!is.null(wanted) && length(found$r) >= wanted) {
      weight <- weights_of(found$r, run$criterion$sign)
      min_weight <<- sort(weight, decreasing = TRUE)[wanted]
      found <<- lapply(found, `[`, weight >= min_weight)
    }
    NULL
  })
  if (run$criterion$name == "k") { # edges to one of the k nearest neighbors of a column, or of both columns
    ends <- c(found$from, found$to + if (symmetric) 0L else ncol(run$x))
    order <- order(ends, -rep(weights_of(found$r, run$criterion$sign), 2L), c(found$to, found$from), method = "radix")
    is_near <- logical(length(ends))
    is_near[order] <- sequence(rle(ends[order])$lengths) <= run$criterion$value
    near <- matrix(is_near, ncol = 2L)
    found <- lapply(found, `[`, if (run$criterion$mutual) near[, 1L] & near[, 2L] else near[, 1L] | near[, 2L])
  }
  list(p = c(0L, cumsum(tabulate(found$to, network_size(run)[2L]))), i = found$from - 1L, x = found$r,
       tests = list(lag = found$lag), n_obs = first$n_obs, x_flags = first$x_flags,
       y_flags = if (symmetric) raw() else first$y_flags,
       threshold = if (is.null(min_weight)) NA_real_ else min_weight)
}
