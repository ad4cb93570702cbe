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
  if (any(vapply(designs, function(design) isTRUE(design$in_double), NA))) with_double(run) else run
}

with_double <- function(run) {
  run$settings$in_double <- TRUE
  run
}

# ---- values and columns

# Returns the run with other values of its columns, such as residuals, surrogates, or those of one subject. `design`:
# what of the design is still to be done to them.
with_values <- function(run, x, y = NULL, design = run$settings$design) {
  run[c("x", "y")] <- list(x, y)
  with_made(run, design)
}

# Returns the run of some columns of x and y; NULL: all. What depends on all columns stays as it is: the design, the
# backgrounds of context likelihoods, and the observations if a missing value in any column drops one. `counted`: from
# count_observations(), which reads the data.
with_columns <- function(run, x = NULL, y = NULL, counted = if (drops_observations(run)) count_observations(run)) {
  if (drops_observations(run) && !is.null(counted$observed)) {
    rows <- counted$observed[seq_len(counted$n_obs)] + 1L
    design <- if (is.null(run$settings$design)) NO_DESIGN else run$settings$design
    design$weights <- replace(numeric(nrow(run$x)), rows, if (is.null(design$weights)) 1 else design$weights[rows])
    run <- with_made(run, design)
  }
  pick <- function(m, columns) if (is.null(columns)) m else pick_columns(m, columns)
  run <- with_values(run, pick(run$x, x), pick(run$y, y))
  information <- run$settings$information
  if (!is.null(information) && !is.null(x)) run$settings$information <- lapply(information, `[`, x)
  with_mask(run, pick_pairs(run$settings$pairs, x, y))
}

# Returns the run with a pair mask, or NULL for none, and its number of pairs.
with_mask <- function(run, mask) {
  run$settings["pairs"] <- list(mask)
  run$pairs <- count_pairs(run$x, run$y, run$settings)
  run
}

# Returns the number of pairs, or of those in the pair mask.
count_pairs <- function(x, y, settings = NULL) {
  if (is.null(settings$pairs)) return(if (is.null(y)) pairs_of(ncol(x)) else as.numeric(ncol(x)) * ncol(y))
  checked(.Call(r_count_pairs, ncol(if (is.null(y)) x else y), ncol(x), !is.null(y), settings))
}

pick_pairs <- function(pairs, of_x, of_y) {
  if (is.null(pairs)) return(NULL)
  pick <- function(side, columns) {
    if (is.null(side) || is.null(columns)) return(side)
    list(label = side$label[columns], place = if (!is.null(side$place)) side$place[, columns, drop = FALSE])
  }
  pairs["x"] <- list(pick(pairs$x, of_x))
  pairs["y"] <- list(pick(pairs$y, of_y))
  pairs
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
