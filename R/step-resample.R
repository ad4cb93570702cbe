# Stability of networks: the fraction of resamples, each a part of the observations or of the subjects, whose network
# has an edge.

# Min number of observations that a resample needs.
MIN_RESAMPLE <- 3

# Returns a list of `resample` draws: the numbers of the observations, or of the subjects, that a resample has.
draw_resamples <- function(run, resample, fraction) {
  if (resample == 0) return(list())
  from <- resampled_units(run)
  what <- if (is_combined(run$x)) "subject" else "observation"
  tests <- run$criterion$name %in% c("p.value", "fdr") && is.null(run$settings$max_t)
  min <- if (what == "subject") 1 else if (tests) min_tested(run$method, run$min_obs) else MIN_RESAMPLE
  noted(run$settings, "sample", function() draw_units(from, resample, fraction, min, what))
}

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
  weights <- run$settings$design$weights
  if (is.null(weights)) seq_len(nrow(run$x)) else which(weights > 0)
}

# Returns the run of a resample: its subjects, or weights of 0 for the other observations, so that no data are copied.
resampled_run <- function(run, drawn) {
  if (is_combined(run$x)) {
    run[c("x", "y")] <- lapply(run[c("x", "y")], function(x) {
      if (is.null(x)) return(NULL)
      x$counted[c("n_obs", "n")] <- lapply(x$counted[c("n_obs", "n")], `[`, drawn)
      for (name in c("data", "weights", "designs")) x[name] <- list(x[[name]][drawn])
      x[c("total", "n_first")] <- list(sum(x$weights), length(drawn))
      x
    })
    return(run)
  }
  n_obs <- nrow(run$x)
  weights <- run$settings$asked[["weights"]] # $ could find weights_are
  if (is.null(weights)) weights <- rep(1, n_obs)
  run$settings$asked$weights <- replace(weights, setdiff(seq_len(n_obs), drawn), 0)
  run$observations <- list(are_compared = TRUE) # when the first run was made
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

# Returns the run of sample `lioness`, a number or a name. The engine's coefficients are between -1 and 1, so they are
# divided by a power of two, which is exact.
lioness_run <- function(run, lioness) {
  names <- rownames(run$x)
  sample <- if (is.character(lioness)) match(lioness, names) else check_whole(lioness, "lioness", 1, nrow(run$x))
  check_that(lioness, "lioness", length(sample) == 1L && !is.na(sample), "the number or the name of a row of 'x'")
  if (is.character(lioness)) tell_same_names(names[names %in% lioness])
  others <- resampled_run(run, setdiff(resampled_units(run), sample))
  n <- vapply(list(run, others), function(run) count_observations(run)$n_obs, 0)
  check_that(lioness, "lioness", n[1L] - n[2L] == 1, "a sample that counts",
             ", which has missing values or a weight of 0")
  scale <- 2^ceiling(log2(2 * n[1L] - 1))
  rule <- list(how = "mean", fraction = 0.5, skips = FALSE)
  designs <- list(run$settings$design, others$settings$design)
  if (run$criterion$name == "threshold") run$criterion$value <- run$criterion$value / scale
  run$x <- new_subjects(list(run$x, run$x), rule, c(n[1L], -n[2L]), scale, list(n_obs = n, n = n, common = FALSE),
                         designs)
  run$x$lioness <- list(sample = lioness)
  if (!is.null(run$y)) run$y <- new_subjects(list(run$y, run$y))
  run$settings["design"] <- list(NULL)
  run$for_user <- function(rows) {
    rows[c("x", "threshold")] <- lapply(rows[c("x", "threshold")], `*`, scale)
    rows$n_obs <- n[1L]
    rows
  }
  run$settings$in_double <- TRUE # differences of coefficients are multiplied by n
  run
}
