# The functions that change a run: each returns a changed copy, with what depends on what it changes. new_run()
# (R/data-run.R) makes runs.

# ---- the design

# Returns the run with other arguments of gpuAdjust(), of which with_design() makes a design.
with_asked <- function(run, asked) {
  run$settings$asked <- asked
  run
}

# Returns the run with a design, or NULL for none.
with_made <- function(run, design) {
  run$settings["design"] <- list(design)
  if (isTRUE(design$in_double)) with_double(run) else run
}

with_double <- function(run) {
  run$settings$in_double <- TRUE
  run
}

# Returns the run whose names of observations have been compared, when another run of the same data was made.
compared_before <- function(run) {
  run$observations <- list(are_compared = TRUE)
  run
}

# ---- values and columns

# Returns the run with other values of its columns, such as residuals, surrogates, or those of one subject. `design`:
# what of the design is still to be done to them; `method`: what is computed of them, if ranks have been taken.
with_values <- function(run, x, y = NULL, design = run$settings$design, method = run$method) {
  run[c("x", "y", "method")] <- list(x, y, method)
  with_made(run, design)
}

# Returns the run that treats missing values in another way, a position in `uses`.
with_use <- function(run, use) {
  run$use <- use
  run
}

# Returns the run of some columns of x and y; NULL: all. What depends on all columns stays as it is: the design, the
# backgrounds of context likelihoods, and the observations if a missing value in any column drops one. `counted`: from
# count_observations(), which reads the data; `sampled`: the number of columns, if they stand for all.
with_columns <- function(run, x = NULL, y = NULL, counted = if (drops_observations(run)) count_observations(run),
                         sampled = NULL) {
  if (drops_observations(run) && !is.null(counted$observed)) {
    rows <- counted$observed[seq_len(counted$n_obs)] + 1L
    design <- if (is.null(run$settings$design)) NO_DESIGN else run$settings$design
    design$weights <- replace(numeric(nrow(run$x)), rows, if (is.null(design$weights)) 1 else design$weights[rows])
    run <- with_made(run, design)
  }
  pick <- function(m, columns) if (is.null(columns)) m else pick_columns(m, columns)
  run <- with_values(run, pick(run$x, x), pick(run$y, y))
  information <- run$settings$information
  if (!is.null(information) && !is.null(x)) run <- with_information(run, lapply(information, `[`, x))
  run["sampled"] <- list(sampled)
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

# Returns the run whose coefficients are context likelihoods, see clr_run().
with_information <- function(run, information) {
  run$settings["information"] <- list(information)
  run
}

# ---- which pairs are edges

# Returns the run with elements of its criterion, `name` and `value`, and others that say which edges it finds, where
# they go and what is told of them: sign, mutual, spool, to_file, stays, for_user, classes, max_t.
with_criterion <- function(run, ...) {
  given <- list(...)
  is_own <- names(given) %in% c("name", "value")
  run$criterion[names(given)[is_own]] <- given[is_own]
  run[names(given)[!is_own]] <- given[!is_own]
  run
}

# ---- what varies, and where it is computed

# Returns the run with elements that say what varies between runs of the engine: lag, lags, counts, runs, windows,
# taper, seeds, units.
with_over <- function(run, ...) {
  given <- list(...)
  run[names(given)] <- given
  run
}

# Returns the run with elements of its settings that say where and as which part it is computed: shard, save, parts,
# replay, doing; or with those that a plan's round, or the windows' data, have in the place of the call's.
with_place <- function(run, ...) {
  given <- list(...)
  run$settings[names(given)] <- given
  run
}

# Returns the run outside of its plan, whose shards are those of an unchanged run.
at_home <- function(run) with_place(run, replay = NULL)
