# The functions that change a run: each returns a changed copy, with what depends on what it changes. new_run()
# (R/data-run.R) makes runs.

# Returns the run with elements on which no other depends. Arguments of gpuAdjust() become a design by with_design().
with_element <- function(run, ...) {
  given <- list(...)
  stopifnot(names(given) %in% c("asked", "use", "in_double", "information", "combination", "assay", "observations"))
  changed(run, given)
}

# ---- the design

# Returns the run with a design, or NULL for none.
with_made <- function(run, design) {
  run <- changed(run, list(design = design))
  if (isTRUE(design$in_double)) with_element(run, in_double = TRUE) else run
}

# ---- values and columns

# Returns the run with other values of its columns, such as residuals, surrogates, or those of one subject. `design`:
# what of the design is still to be done to them; `method`: what is computed of them, if ranks have been taken.
with_values <- function(run, x, y = NULL, design = run$design, method = run$method) {
  with_made(changed(run, list(x = x, y = y, method = method)), design)
}

# Returns the run of some columns of x and y; NULL: all. What depends on all columns stays as it is: the design, the
# backgrounds of context likelihoods, and the observations if a missing value in any column drops one. `counted`: from
# perform(run, "observations"), which reads the data; `sampled`: the number of columns, if they stand for all.
with_columns <- function(run, x = NULL, y = NULL, counted = if (drops_observations(run)) perform(run, "observations"),
                         sampled = NULL) {
  if (drops_observations(run) && !is.null(counted$observed)) {
    rows <- counted$observed[seq_len(counted$n_obs)] + 1L
    design <- if (is.null(run$design)) NO_DESIGN else run$design
    design$weights <- replace(numeric(nrow(run$x)), rows, if (is.null(design$weights)) 1 else design$weights[rows])
    run <- with_made(run, design)
  }
  pick <- function(m, columns) if (is.null(columns)) m else pick_columns(m, columns)
  kept <- function(m, columns) if (is.null(columns)) seq_len(max(0L, ncol(m))) else columns
  both <- c(kept(run$x, x), ncol(run$x) + kept(run$y, y)) # as the backgrounds are
  if (!is.null(run$information)) run <- with_element(run, information = lapply(run$information, `[`, both))
  run <- with_values(run, pick(run$x, x), pick(run$y, y))
  of_side <- function(side, columns) {
    if (is.null(side) || is.null(columns)) return(side)
    list(label = side$label[columns], place = if (!is.null(side$place)) side$place[, columns, drop = FALSE])
  }
  mask <- run$mask
  if (!is.null(mask)) mask[c("x", "y")] <- list(of_side(mask$x, x), of_side(mask$y, y))
  with_mask(with_over(run, sampled = sampled), mask)
}

# Returns the run with a pair mask, or NULL for none, and its number of pairs.
with_mask <- function(run, mask) {
  run <- changed(run, list(mask = mask))
  changed(run, list(pairs = count_pairs(run)$pairs))
}

# Returns list(pairs: their number, or of those in the pair mask; shards: the max number that they can be divided into).
count_pairs <- function(run) {
  rows <- ncol(if (is.null(run$y)) run$x else run$y)
  checked(.Call(r_count_pairs, rows, ncol(run$x), !is.null(run$y), run$mask, run$place))
}

# ---- which pairs are edges, and what varies

# Returns the run with elements of its criterion.
with_criterion <- function(run, ...) changed(run, list(...), "criterion")

# Returns the run with elements of what varies between runs of the engine.
with_over <- function(run, ...) changed(run, list(...), "over")

# Returns the run outside of its plan, whose shards are those of an unchanged run. `place`: from new_place().
at_home <- function(run, place = replace(run$place, "replay", list(NULL))) changed(run, list(place = place))
