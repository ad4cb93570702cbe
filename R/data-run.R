# The run: what is computed. new_run() makes it and checks it, once; a changed run is a changed copy. It is an object of
# class gpucor_run, a list:
#   x, y          what the engine reads: matrices, data that are read in blocks, or several subjects; y may be NULL
#   method, use   the measure's name, and the position of 'use' in `uses`
#   settings      how it is computed, with the design and the pair mask: new_settings(), which src/r/job.h reads
#   pairs         number of pairs, considering the pair mask
#   scalar        TRUE if x and y were vectors
#   observations  names of the observations, as in observations_of(), if x does not have them as row names
#   call          the user's call, which results show; in a plan that from which it was made
# Verbs that choose pairs:
#   criterion     list(name, value): which pairs are edges, or NULL for none
#   sign          of their coefficients
#   mutual, min_obs  as arguments of gpuCorNetwork()
#   spool, to_file   where edges go beyond memory, and TRUE if they end there
#   stays         see edge_pass()
#   is_sample, size  see step-density.R

# Returns a run without data. `pairs`: from pairMask().
empty_run <- function(specs, method, use, pairs = NULL, precision = "single", call = NULL) {
  method <- check_method(method)
  use <- check_use(use)
  settings <- new_settings(specs, pairs, precision)
  if (!is.null(settings$replay)) call <- settings$replay$call
  structure(list(x = NULL, y = NULL, method = method, use = use, settings = settings, pairs = NULL, scalar = FALSE,
                 observations = NULL, call = call, criterion = NULL, sign = NULL, mutual = FALSE, min_obs = NULL,
                 spool = NULL, to_file = FALSE, stays = NULL, is_sample = FALSE, size = NULL), class = "gpucor_run")
}

# Returns a run. `found`: from features_of(); `takes`: "one" data set, "subjects", or "summaries" for values of subjects
# that may be other numbers than coefficients; `tests`: TRUE if p values will be computed; `max_t`: from max_t_of();
# `...`: of empty_run().
new_run <- function(found, specs, x, y, method, use, criterion = NULL, sign = NULL, takes = "one",
                    tests = isTRUE(criterion$name %in% c("p.value", "fdr")) && is.null(max_t), max_t = NULL, ...) {
  run <- empty_run(specs, method, use, ...)
  run$settings["max_t"] <- list(max_t)
  run["criterion"] <- list(criterion)
  if (!is.null(sign)) run$sign <- check_sign(sign, run$method)
  run <- with_pairs(with_data(run, x, y, takes, tests))
  if (!is.null(sign) && is_combined(run$x) && run$x$name %in% RELIABILITY) {
    what <- paste0("combine = \"", run$x$name, "\"")
    run$sign <- positive_sign(run$sign, what, "whose negative values are not reliable")
  }
  run <- with_design(run, tests)
  check_together(found, facts_of(run), list(method = run$method))
  run
}

# Returns the run with data.
with_data <- function(run, x, y, takes = "one", tests = FALSE) {
  if (takes != "one" && is_subjects(x)) return(with_subjects(run, x, y, tests, takes == "summaries"))
  given <- names(run$settings$combination)
  if (length(given)) {
    fail("'", given[1L], "' says how subjects are combined, and 'x' is not a list of their matrices; leave it out")
  }
  input <- check_input(x, y, run$use, run$method, run$settings$assay)
  run[names(input)] <- input
  run
}

# Returns the run with its pair mask and its number of pairs.
with_pairs <- function(run) {
  pairs <- run$settings$pairs
  if (!is.null(pairs)) run$settings$pairs <- check_pairs(pairs, run$x, run$y)
  run$pairs <- count_pairs(run$x, run$y, run$settings)
  run
}
