# Stability of networks: the fraction of resamples, each a part of the observations or of the subjects, whose network
# has an edge.

# Min number of observations that a resample needs.
MIN_RESAMPLE <- 3

# Returns a list of `resample` draws: the numbers of the observations, or of the subjects, that a resample has.
draw_resamples <- function(task, resample, fraction) {
  if (resample == 0) return(list())
  from <- resampled_units(task)
  what <- if (is_combined(task$x)) "subject" else "observation"
  tests <- task$criterion$name %in% c("p.value", "fdr") && is.null(task$settings$max_t)
  min <- if (what == "subject") 1 else if (tests) min_tested(task$method, task$min_obs) else MIN_RESAMPLE
  noted(task$settings, "sample", function() draw_units(from, resample, fraction, min, what))
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
resampled_units <- function(task) {
  if (is_combined(task$x)) return(seq_along(task$x$data))
  weights <- task$settings$design$weights
  if (is.null(weights)) seq_len(nrow(task$x)) else which(weights > 0)
}

# Returns the task of a resample: its subjects, or weights of 0 for the other observations, so that no data are copied.
resampled_task <- function(task, drawn) {
  if (is_combined(task$x)) {
    task[c("x", "y")] <- lapply(task[c("x", "y")], drawn_subjects, drawn)
    return(task)
  }
  n_obs <- nrow(task$x)
  settings <- task$settings
  weights <- settings$asked$weights
  if (is.null(weights)) weights <- rep(1, n_obs)
  settings$asked$weights <- replace(weights, setdiff(seq_len(n_obs), drawn), 0)
  input <- list(x = task$x, y = task$y, observations = list(are_compared = TRUE)) # when the first task was made
  task$settings <- designed_input(settings, input, task$method, task$use, task$criterion$name %in% c("p.value", "fdr"))
  task
}

drawn_subjects <- function(x, which) {
  if (is.null(x)) return(NULL)
  x$counted[c("n_obs", "n")] <- lapply(x$counted[c("n_obs", "n")], `[`, which)
  for (name in c("data", "weights", "designs")) x[name] <- list(x[[name]][which])
  x$total <- sum(x$weights)
  x$n_first <- length(which)
  x
}

# Adds element `stability` to the networks that networks_of(task) returns. Warnings would repeat those of all data.
with_stability <- function(found, task, drawn, networks_of) {
  n <- length(drawn)
  if (n == 0L) return(found)
  counts <- lapply(found, function(rows) integer(length(rows$x)))
  resamples <- list(n = n, label = numbered("resample", n), warns = "none",
                    change = function(task, b) resampled_task(task, drawn[[b]]))
  task$settings <- part_of(task$settings, 1 / (n + 1), n / (n + 1)) # the first pass was that of all data
  for_each(resamples, task, function(task, b) {
    counts <<- Map(counts, found, networks_of(task), f = function(count, rows, own) {
      .Call(r_count_edges, count, rows$p, rows$i, own$p, own$i)
    })
    NULL
  })
  Map(found, counts, f = function(rows, count) c(rows, list(stability = count / n)))
}
