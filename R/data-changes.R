# The functions that change a run: each returns a changed copy, with what depends on what it changes. new_run()
# (R/data-run.R) makes runs.

# ---- the design

# Returns the run with a design, or NULL for none.
with_made <- function(run, design) {
  run$settings["design"] <- list(design)
  within_double(run, list(design))
}

# Returns the run in double precision if the partial correlations of any design need it.
within_double <- function(run, designs) {
  if (any(vapply(designs, function(design) isTRUE(design$in_double), NA))) run$settings$in_double <- TRUE
  run
}

# ---- columns

# Returns the run of some columns of x and y; NULL: all. What depends on all columns stays as it is: the design, and the
# observations if a missing value in any column drops one. `counted`: from count_observations(), which reads the data.
with_columns <- function(run, x = NULL, y = NULL, counted = if (drops_observations(run)) count_observations(run)) {
  if (drops_observations(run) && !is.null(counted$observed)) {
    rows <- counted$observed[seq_len(counted$n_obs)] + 1L
    if (is.null(run$settings$design)) run$settings$design <- NO_DESIGN
    weights <- run$settings$design$weights
    run$settings$design$weights <- replace(numeric(nrow(run$x)), rows, if (is.null(weights)) 1 else weights[rows])
  }
  if (!is.null(x)) run$x <- pick_columns(run$x, x)
  if (!is.null(y)) run$y <- pick_columns(run$y, y)
  run
}

# ---- which pairs are edges

# Returns the run with elements of its criterion, `name` and `value`, and others that say which edges it finds and where
# they go: sign, mutual, spool, to_file, stays.
with_criterion <- function(run, ...) {
  given <- list(...)
  is_own <- names(given) %in% c("name", "value")
  run$criterion[names(given)[is_own]] <- given[is_own]
  run[names(given)[!is_own]] <- given[!is_own]
  run
}
