# Stability of networks: the fraction of resamples, each a part of the observations or of the subjects, whose network
# has an edge.

# Min number of observations that a resample needs.
MIN_RESAMPLE <- 3

# Returns a list of `draws` parts of `from`, each with a fraction of it, but at least `min` units and not all.
draw_units <- function(from, draws, fraction, min, what) {
  fraction <- check_fraction(fraction, "fraction", zero = FALSE)
  n <- length(from)
  size <- round(fraction * n)
  if (size >= min && size < n) return(lapply(seq_len(draws), function(b) from[sort(sample.int(n, size))]))
  fail("'fraction' is ", format(fraction), ", which makes resamples of ", size, " of ", n_of(n, what), "; they need ",
       if (size < n) paste("at least", min) else "fewer than all")
}

# Observations of weight 0 are not drawn.
resampled_units <- function(run) {
  if (is_combined(run$x)) return(seq_along(run$x$data))
  weights <- run$design$weights
  if (is.null(weights)) seq_len(nrow(run$x)) else which(weights > 0)
}

# Returns the run of a resample: its subjects, or weights of 0 for the other observations, so that no data are copied.
resampled_run <- function(run, drawn) {
  if (is_combined(run$x)) {
    own <- lapply(run[c("x", "y")], function(x) {
      if (is.null(x)) return(NULL)
      x$counted[c("n_obs", "n")] <- lapply(x$counted[c("n_obs", "n")], `[`, drawn)
      for (name in c("data", "weights", "designs")) x[name] <- list(x[[name]][drawn])
      x[c("total", "n_first")] <- list(sum(x$weights), length(drawn))
      x
    })
    return(with_values(run, own$x, own$y))
  }
  n_obs <- nrow(run$x)
  weights <- run$asked[["weights"]] # $ could find weights_are
  if (is.null(weights)) weights <- rep(1, n_obs)
  asked <- run$asked
  asked$weights <- replace(weights, setdiff(seq_len(n_obs), drawn), 0)
  run <- with_element(run, asked = asked, observations = list(are_compared = TRUE))
  with_design(run, run$criterion$name %in% c("p.value", "fdr"))
}

# Adds element `stability` to the networks that networks_of(run) returns. Warnings would repeat those of all data.
with_stability <- function(found, run, drawn, networks_of) {
  n <- length(drawn)
  if (n == 0L) return(found)
  counts <- lapply(found, function(rows) integer(length(rows$x)))
  resamples <- list(n = n, label = numbered("resample", n), warns = "none",
                    change = function(run, b) resampled_run(run, drawn[[b]]))
  others <- part_of(run, 1 / (n + 1), n / (n + 1)) # the first pass was that of all data
  for_each(resamples, others, function(run, b) {
    counts <<- Map(counts, found, networks_of(run), f = function(count, rows, own) {
      .Call(r_count_edges, count, rows$p, rows$i, own$p, own$i)
    })
    NULL
  })
  Map(found, counts, f = function(rows, count) c(rows, list(stability = count / n)))
}

# ---- networks of single samples (LIONESS; Kuijjer and others 2019)

# Their coefficients are n times those of all samples, less n - 1 times those of all samples but one. The engine
# combines them like two subjects.

# Returns the rows of samples, which are given by numbers or names.
rows_of_samples <- function(lioness, names, n) {
  if (is.character(lioness)) tell_same_names(names[names %in% lioness])
  row_of <- function(sample) {
    row <- if (is.character(sample)) match(sample, names) else check_whole(sample, "lioness", 1, n)
    check_that(sample, "lioness", !is.na(row), "the number or the name of a row of 'x'")
    as.numeric(row)
  }
  rows <- vapply(lioness, row_of, 0, USE.NAMES = FALSE)
  check_that(lioness, "lioness", length(rows) > 0L, "the number or the name of a row of 'x', or several")
  rows
}

# Returns the run of sample `lioness`, a number or a name. The engine's coefficients are between -1 and 1, so they are
# divided by a power of two, which is exact.
lioness_run <- function(run, lioness) {
  sample <- rows_of_samples(lioness, rownames(run$x), nrow(run$x))
  others <- resampled_run(run, setdiff(resampled_units(run), sample))
  n <- vapply(list(run, others), function(run) perform(run, "observations")$n_obs, 0)
  check_sample(lioness, n[1L] - n[2L] == 1)
  scale <- 2^ceiling(log2(2 * n[1L] - 1))
  rule <- list(how = "mean", fraction = 0.5, skips = FALSE)
  designs <- list(run$design, others$design)
  if (run$criterion$name == "threshold") run <- with_criterion(run, value = run$criterion$value / scale)
  x <- new_subjects(list(run$x, run$x), rule, c(n[1L], -n[2L]), scale, list(n_obs = n, n = n, common = FALSE), designs)
  x$lioness <- list(sample = lioness)
  run <- with_values(run, x, if (!is.null(run$y)) new_subjects(list(run$y, run$y)), NULL)
  for_user <- function(rows) {
    rows[c("x", "threshold")] <- lapply(rows[c("x", "threshold")], `*`, scale)
    rows$n_obs <- n[1L]
    rows
  }
  run <- with_criterion(run, for_user = for_user)
  with_element(run, in_double = TRUE) # differences of coefficients are multiplied by n
}

check_sample <- function(lioness, counts) {
  check_that(lioness, "lioness", counts, "a sample that counts", ", which has missing values or a weight of 0")
}

# Returns the values of the network's edges for several samples: a matrix with an edge in each row, the strongest first,
# and the data frame of edges as attribute "edges".
values_of_samples <- function(rows, run, lioness) {
  samples <- rows_of_samples(lioness, rownames(run$x), nrow(run$x))
  counted <- perform(run, "observations")
  observed <- if (is.null(counted$observed)) seq_len(nrow(run$x)) else counted$observed[seq_len(counted$n_obs)] + 1L
  outside <- which(!samples %in% observed)
  if (length(outside)) check_sample(lioness[[outside[1L]]], FALSE)
  check_memory(8 * length(rows$x) * length(samples), paste("'lioness' of", n_of(length(samples), "sample")),
               n_of(length(rows$x), "edge"), "a stronger criterion leaves fewer edges")
  edges <- edge_frame(rows, NULL, NULL, run$place$threads)
  has_closed_form <- run$method %in% c("pearson", "cosine") && is.null(run$design$map) &&
    is.null(run$design$removed) && nrow(edges) > 0L
  found <- if (has_closed_form) {
    closed_form(run, edges, counted$n_obs, observed, samples)
  } else {
    list(values = numeric(nrow(edges) * length(samples)), left = function(k) seq_len(nrow(edges)))
  }
  values <- found$values
  found$values <- NULL # a second reference would make R copy them
  dim(values) <- c(nrow(edges), length(samples))
  over <- list(n = length(samples), label = numbered("sample", length(samples)), warns = "once",
               change = function(run, k) run)
  for_each(over, run, function(run, k) {
    at <- found$left(k)
    if (!length(at)) return(NULL)
    others <- resampled_run(run, setdiff(resampled_units(run), samples[k]))
    own <- run_of_pairs(others, edges$from[at], edges$to[at])
    without <- values_of_pairs(own$run, if (is.null(run$y)) "square" else "rectangle")[cbind(own$from, own$to)]
    values[at, k] <<- counted$n_obs * edges$r[at] - (counted$n_obs - 1) * without
    NULL
  })
  names <- network_names(run)
  edges[c("from", "to")] <- list(names_at(edges$from, names[[1L]]), names_at(edges$to, names[[2L]]))
  dimnames(values) <- list(paste(edges$from, edges$to, sep = "~"), names_at(samples, rownames(run$x)))
  attr(values, "edges") <- edges
  values
}

# Returns the run of the columns that are in pairs: list(run, from, to), with the pairs' indices among them.
run_of_pairs <- function(run, from, to) {
  sides <- if (is.null(run$y)) list(x = c(from, to)) else list(x = from, y = to)
  sides <- lapply(sides, function(columns) sort(unique(columns)))
  run <- with_columns(run, sides$x, sides$y)
  list(run = with_mask(run, NULL), # the mask was that of the network
        from = match(from, sides$x), to = match(to, sides[[length(sides)]]))
}

# Returns list(values: of all edges for each sample; left: a function of a sample's number that returns the edges whose
# values must be computed anew). Without sample s the product of residuals e and f of two columns falls by
# e[s] f[s] / (1 - h), where h is the sample's leverage. Where that leaves next to nothing of a column's squares, digits
# cancel.
closed_form <- function(run, edges, n, observed, samples) {
  own <- run_of_pairs(run, edges$from, edges$to)
  design <- run$design
  basis <- design$basis[observed, , drop = FALSE]
  centred <- measure_of(run$method)$centred
  spanned <- if (is.null(basis)) 0 else rowSums(basis^2)
  left_over <- if (isTRUE(design$keeps)) spanned else 1 - centred / length(observed) - spanned
  factor <- rep_len(ifelse(left_over > SAME_SPAN, 1 / left_over, 0), length(observed))
  at <- match(samples, observed)
  # For each column and sample: what the sample takes from products, and the factor to the size of the rest.
  sides <- lapply(Filter(Negate(is.null), own$run[c("x", "y")]), function(x) {
    left <- dense_columns(x, seq_len(ncol(x)))[observed, , drop = FALSE]
    if (centred) left <- left - rep(colMeans(left), each = nrow(left))
    left <- residual_columns(left, basis, isTRUE(design$keeps))
    size <- sqrt(colSums(left^2))
    taken <- t(left[at, , drop = FALSE] * sqrt(factor[at])) / size
    array(rbind(as.vector(taken), as.vector(1 / sqrt(pmax(1 - taken^2, 0)))), c(2L, dim(taken)))
  })
  x <- sides[[1L]]
  y <- sides[[length(sides)]]
  max <- 1 / sqrt(CANCELS)
  left <- function(k) {
    if (isTRUE(max(x[2L, , k]) * max(y[2L, , k]) < max)) return(integer())
    which(!(x[2L, own$from, k] * y[2L, own$to, k] < max))
  }
  list(values = checked(.Call(r_sample_values, own$from, own$to, edges$r, n, x, y, run$place$threads)), left = left)
}

# Fraction of the squares of two columns, multiplied, below which a sample has nearly all of one.
CANCELS <- 1e-4
