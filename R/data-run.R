# The run: what is computed. new_run() makes it and checks it, once; a changed run is a changed copy. It is an object of
# class gpucor_run, a list:
#   x, y          what the engine reads: matrices, data that are read in blocks, or several subjects; y may be NULL
#   method, use   the measure's name, and the position of 'use' in `uses`
#   settings      how it is computed, with the design and the pair mask: new_settings(), which src/r/job.c reads
#   pairs         number of pairs, considering the pair mask
#   scalar        TRUE if x and y were vectors
#   observations  names of the observations, as in observations_of(), if x does not have them as row names
#   call          the user's call, which results show; in a plan that from which it was made
# Verbs that choose pairs:
#   criterion     list(name, value): which pairs are edges, or NULL for none
#   sign          of their coefficients
#   mutual        as the argument of gpuCorNetwork()
#   spool, to_file   where edges go beyond memory, and TRUE if they end there
#   stays         see edge_pass()
#   sampled       the number of columns of a sample of all (step-density.R)
# Elements that some verbs add:
#   lags          of a run with `lag`: the lags, as lagged_run() orders them
#   counts, runs  of such a run, for each row: TRUE if it has a weight above 0, and the number of its run; or NULL
#   windows       of gpuCorWindows(): list(width, step, n: their number, taper: weights or NULL)
#   taper         of gpuCorWindows(): the taper's name
#   seeds         of gpuCorCompare(): the numbers of x's columns that are y's, or NULL
#   classes       of gpuCorCompare(): the argument, up to which p value a group's coefficient has a sign
#   units         of gpuCorCompare(): what is exchanged, see units_of()
#   lag           of a run with `lag`: the range that was given
#   max_t         of p values by permutation: from max_t_of(), or NULL
#   for_user      of networks of single samples and context likelihoods: function of compressed rows that returns them
#                 with the user's values in place of the engine's

# Returns a run without data. `pairs`: from pairMask().
empty_run <- function(specs, method, use, pairs = NULL, precision = "single", call = NULL, observations = NULL, ...) {
  method <- method_of_groups(check_method(method), specs$adjustment$groups)
  use <- check_use(if (method == "given") "everything" else use) # a missing value is that pair's alone
  settings <- new_settings(specs, pairs, precision, ...)
  if (!is.null(settings$replay)) call <- settings$replay$call
  if (method == "given" && !is.null(settings$replay)) {
    fail("method = \"given\" cannot be in a plan; call the function on one machine")
  }
  bare_run(method, use, settings, call, observations)
}

# Returns a run without data, of arguments that have been checked.
bare_run <- function(method, use, settings, call = NULL, observations = NULL) {
  run <- list(x = NULL, y = NULL, method = method, use = use, settings = settings, pairs = NULL, scalar = FALSE,
              observations = observations, call = call, criterion = NULL, sign = NULL, mutual = FALSE, spool = NULL,
              to_file = FALSE, stays = NULL, sampled = NULL)
  class(run) <- "gpucor_run"
  run
}

# Returns a run. `found`: from features_of(); `takes`: "one" data set; "pairs", the same if observations do not matter;
# "subjects", or "summaries" for values of subjects that may be other numbers than coefficients; `tests`: TRUE if p
# values will be computed; `max_t`: from max_t_of(); `...`: of empty_run().
new_run <- function(found, specs, x, y, method, use, criterion = NULL, sign = NULL, takes = "one",
                    tests = isTRUE(criterion$name %in% c("p.value", "fdr")) && is.null(max_t), max_t = NULL, ...) {
  run <- empty_run(specs, method, use, ...)
  run[c("max_t", "criterion")] <- list(if (!is.null(criterion)) max_t, criterion)
  if (!is.null(sign)) run$sign <- check_sign(sign, run$method)
  run <- with_pairs(with_data(run, x, y, takes, tests))
  if (!is.null(sign) && is_combined(run$x) && run$x$name %in% RELIABILITY) {
    what <- paste0("combine = \"", run$x$name, "\"")
    run$sign <- positive_sign(run$sign, what, "whose negative values are not reliable")
  }
  run <- with_design(run, tests)
  if (tests && (is.null(max_t) || max_t$how == "permutation")) warn_series(run, x)
  check_together(found, facts_of(run), list(method = run$method))
  if (!is.null(max_t) && (max_t$how != "permutation" || !is.null(run$settings$design$basis))) { # R exchanges values
    values <- sum(vapply(run[c("x", "y")], function(m) if (is.null(m)) 0 else prod(dim(m)), 0))
    check_memory(16 * values, paste0("adjust = \"", max_t$adjust, "\""), n_of(values, "value"),
                 "use fewer columns, or leave 'adjust' out")
  }
  run
}

# Returns the run with data. Verbs that take one data set refuse several subjects'.
with_data <- function(run, x, y, takes = "one", tests = FALSE) {
  if (!takes %in% c("one", "pairs") && is_subjects(x)) return(with_subjects(run, x, y, takes, tests))
  given <- names(run$settings$combination)
  if (length(given)) {
    fail("'", given[1L], "' says how subjects are combined, and 'x' is not a list of their matrices; leave it out")
  }
  if (takes == "one" && run$method == "given") refuse_given()
  input <- grouped(check_input(x, y, run$use, run$method, run$settings$assay, run$settings$asked$options), run)
  run[names(input)] <- input
  run
}

# ---- what changed the coefficients

# The adjustment that affects a result's coefficients: covariates, a band, weights, options, subjects. It is the
# attribute or slot "adjusted" of results, and their headers print it.

# Returns the adjustment of a run: its design's (see ADJUSTED), with further elements. Those of several
# subjects are lioness (the sample of a single-sample network); or ranges over all subjects, and subjects (their
# number), combined (how, unless groups are compared), left (degrees of freedom of a subject, if not n - 2).
adjustment_of <- function(run) {
  settings <- run$settings
  x <- run$x
  if (!is_combined(x)) {
    return(c(settings$design$adjusted, if (!is.null(settings$information)) list(normalize = "clr"),
             if (!is.null(run$lag)) list(lag = run$lag),
             if (!is.null(run$max_t)) list(max_t = run$max_t)))
  }
  if (!is.null(x$lioness)) return(c(x$designs[[1L]]$adjusted, list(lioness = x$lioness$sample)))
  own <- Filter(Negate(is.null), lapply(x$designs, `[[`, "adjusted"))
  found <- if (length(own)) own[[1L]] else list()
  for (name in c("covariates", "protect", "runs", "zeros", "lost", "effective", "shrinkage")) {
    found[[name]] <- range_if_any(unlist(lapply(own, `[[`, name)))
  }
  if (length(c(found$lost, found$effective)) && !is_random(x)) found$left <- range_if_any(x$counted$n - 2)
  c(found, list(subjects = length(x$data) / x$sessions, combined = if (!are_compared(x)) combined_words(x)),
    if (!is.null(run$max_t)) list(max_t = run$max_t))
}

range_if_any <- function(values) if (length(values)) unique(range(values))

combined_words <- function(x) {
  switch(x$name, mean = "by the mean", fisher = "by Fisher's z", min = "by the minimum",
         quantile = paste("by the", format(x$level), "quantile"),
         fraction = paste("by the fraction above", format(x$level)), icc2 = "by ICC(2,1) of their sessions",
         icc3 = "by ICC(3,1) of their sessions", t = "by Student's t", sd = "by the standard deviation",
         argmax = "by which is the largest")
}
