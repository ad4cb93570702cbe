# The run: what is computed. new_run() makes it and checks it, once; a changed run is a changed copy, see changed(). It
# is an object of class gpucor_run, a list of eight parts, of which data, design and measure lie open:
#   data          x, y          what the engine reads: matrices, data that are read in blocks, or several subjects;
#                               y may be NULL
#                 mask, pairs   the pair mask or NULL, and the number of pairs that it leaves
#                 scalar        TRUE if x and y were vectors
#                 observations  names of the observations, as in observations_of(), if x does not have them as row names
#                 assay         the argument
#   design        asked         arguments of gpuAdjust()
#                 design        NULL, or what with_design() made of them; once applied, what is left to be done
#   measure       method, use   the measure's name, and the position of 'use' in `uses`
#                 in_double     TRUE for coefficients in double precision
#                 min_obs       of a coefficient; 0: the measure's own
#                 information   of context likelihoods, see clr_run(), or NULL
#                 overlap       of topological overlap, see overlap_rule(), or NULL
#                 distance      TRUE: 1 - r, of the rows of the user's x
#   combination   arguments of gpuSubjects()
#   criterion     which pairs are kept, and where they go:
#                 name, value   as given; NULL for all pairs
#                 sign, mutual  as the arguments of gpuCorNetwork()
#                 max_t         of p values by permutation: from max_t_of(), or NULL
#                 classes       of gpuCorCompare(): up to which p value a group's coefficient has a sign
#                 stays         see edge_pass()
#                 spool, to_file   where edges go beyond memory, and TRUE if they end there
#                 for_user      of networks of single samples and context likelihoods: function of compressed rows that
#                               returns them with the user's values in place of the engine's
#   over          what varies between runs of the engine:
#                 lag, lags, counts, runs   the range that was given; the lags, as lagged_run() orders them; for each
#                               row TRUE if it has a weight above 0, and the number of its run; or NULL
#                 windows, taper   list(width, step, n: their number, taper: weights or NULL), and the taper's name
#                 seeds, units  of gpuCorCompare(): the numbers of x's columns that are y's; and see units_of()
#                 sampled       the number of columns of a sample of all (step-density.R)
#   place         where it is computed, see new_place()
#   call          the user's call, which results show; in a plan that from which it was made

# Returns a run. `found`: from features_of(); `takes`: "one" data set; "pairs", the same if observations do not matter;
# "subjects"; a function of the run, x and y that reads other data; or "later", if with_data() will be called; `tests`:
# TRUE if p values will be computed; `max_t`: from max_t_of(); `...`: of bare_run().
new_run <- function(found, specs, x, y, method, use, criterion = NULL, sign = NULL, takes = "one",
                    tests = isTRUE(criterion$name %in% c("p.value", "fdr")) && is.null(max_t), max_t = NULL,
                    pairs = NULL, precision = "single", call = NULL, ...) {
  method <- check_method(method)
  if (!is.null(specs$adjustment$groups) || method == "rv") { # the engine's measure of groups
    check_facts(c(if (!is.null(specs$adjustment$groups)) "groups",
                  if (method %in% names(GROUP_METHODS)) "measure of groups" else "measure without groups"),
                list(method = method))
    method <- GROUP_METHODS[[method]]
  }
  if (!is.null(specs$control$precision)) precision <- specs$control$precision
  in_double <- check_choice(precision, precisions, "precision") == "double"
  use <- check_use(if (method == "given") "everything" else use) # a missing value is that pair's alone
  place <- new_place(specs$control)
  if (method == "given") check_facts(c("given coefficients", if (!is.null(place$replay)) "plan"))
  run <- bare_run(method, use, place, mask = pairs, assay = assay_of(specs$control), asked = unclass(specs$adjustment),
                  in_double = in_double, min_obs = max(0L, specs$adjustment$min_obs),
                  combination = unclass(specs$subjects),
                  call = if (is.null(place$replay)) call else place$replay$call, ...)
  run <- with_criterion(run, name = criterion$name, value = criterion$value, max_t = if (!is.null(criterion)) max_t)
  run <- with_sign(run, sign)
  if (identical(takes, "later")) return(run)
  run <- with_sign(with_data(run, x, y, takes, tests), sign)
  tell_joined(run)
  run <- with_design(run, tests)
  if (tests && (is.null(max_t) || max_t$how == "permutation")) warn_series(run, x)
  check_together(found, facts_of(run), words_of(run$method))
  if (!is.null(max_t) && (max_t$how != "permutation" || !is.null(run$design$basis))) { # R exchanges values
    values <- sum(vapply(run[c("x", "y")], function(m) if (is.null(m)) 0 else prod(dim(m)), 0))
    check_memory(16 * values, paste0("adjust = \"", max_t$adjust, "\""), n_of(values, "value"),
                 "use fewer columns, or leave 'adjust' out")
  }
  run
}

# Tells that the means of joined runs, which make columns correlated, are not removed. Epochs usually keep theirs.
tell_joined <- function(run) {
  first <- if (is_combined(run$x)) run$x$data[[1L]] else run$x
  n <- length(unique(attr(first, "runs", exact = TRUE)))
  is_removed <- any(names(REGRESSION) %in% names(run$asked)) || is_of_spectra(run$method)
  if (n < 2L || is_removed || inherits(first, "epochMatrix")) return(invisible())
  tell_once("'x' has ", n, " runs that were joined, whose means are not removed; runs = attr(x, \"runs\") removes them")
}

# Returns the run with the sign of its edges, if it has one. Some measures and combinations have a single one.
with_sign <- function(run, sign) {
  if (is.null(sign)) return(run)
  sign <- check_choice(sign, signs, "sign")
  positive <- if (is_one_sided(run$method)) {
    c("method", run$method, "coefficients are no evidence of dependence")
  } else if (is_combined(run$x) && run$x$name %in% RELIABILITY) {
    c("combine", run$x$name, "values are not reliable")
  }
  if (!is.null(positive) && sign == "negative") {
    fail("sign = \"negative\" has no meaning for ", positive[1L], " = \"", positive[2L], "\", whose negative ",
         positive[3L], "; leave it out")
  }
  with_criterion(run, sign = if (is.null(positive)) sign else "positive")
}

# Returns a run without data, of arguments that have been checked. `...`: its other elements.
bare_run <- function(method, use, place, ...) {
  run <- list(x = NULL, y = NULL, mask = NULL, pairs = NULL, scalar = FALSE, observations = NULL, assay = NULL,
              asked = NULL, design = NULL, method = method, use = use, in_double = FALSE, min_obs = 0L,
              information = NULL, overlap = NULL, distance = FALSE, combination = NULL,
              criterion = list(mutual = FALSE), over = list(), place = place, call = NULL)
  changed(run, list(...))
}

# Returns the run with data, and its pairs. Verbs that take one data set refuse several subjects'.
with_data <- function(run, x, y = NULL, takes = "one", tests = FALSE) {
  if (is.function(takes)) return(with_pairs(takes(run, x, y)))
  if (!takes %in% c("one", "pairs") && is_subjects(x)) return(with_pairs(with_subjects(run, x, y, tests)))
  given <- names(run$combination)
  if (length(given)) check_facts(c("one data set", given))
  if (takes == "one" && run$method == "given") refuse_given()
  input <- check_input(x, y, run$use, run$method, run$assay, run$asked$options)
  with_pairs(changed(run, grouped(input, run)))
}

# ---- what changed the coefficients

# The adjustment that affects a result's coefficients: covariates, a band, weights, options, subjects. It is the
# attribute or slot "adjusted" of results, and their headers print it.

# Returns the adjustment of a run: its design's (see ADJUSTED), with further elements. Those of several
# subjects are lioness (the sample of a single-sample network); or ranges over all subjects, and subjects (their
# number), combined (how, unless groups are compared), left (degrees of freedom of a subject, if not n - 2).
adjustment_of <- function(run) {
  x <- run$x
  if (!is_combined(x)) {
    return(c(run$design$adjusted, if (!is.null(run$information)) list(normalize = "clr"),
             if (!is.null(run$over$lag)) list(lag = run$over$lag),
             if (!is.null(run$criterion$max_t)) list(max_t = run$criterion$max_t)))
  }
  if (!is.null(x$lioness)) return(c(x$designs[[1L]]$adjusted, list(lioness = x$lioness$sample)))
  own <- Filter(Negate(is.null), lapply(x$designs, `[[`, "adjusted"))
  found <- if (length(own)) own[[1L]] else list()
  for (name in c("covariates", "protect", "runs", "zeros", "lost", "effective", "shrinkage")) {
    found[[name]] <- range_if_any(unlist(lapply(own, `[[`, name)))
  }
  if (length(c(found$lost, found$effective)) && !is_random(x)) found$left <- range_if_any(x$counted$n - 2)
  c(found, list(subjects = length(x$data) / x$sessions, combined = if (!are_compared(x)) combined_words(x)),
    if (!is.null(run$criterion$max_t)) list(max_t = run$criterion$max_t))
}

range_if_any <- function(values) if (length(values)) unique(range(values))

combined_words <- function(x) {
  switch(x$name, mean = "by the mean", fisher = "by Fisher's z", min = "by the minimum",
         quantile = paste("by the", format(x$level), "quantile"),
         fraction = paste("by the fraction above", format(x$level)), icc2 = "by ICC(2,1) of their sessions",
         icc3 = "by ICC(3,1) of their sessions", t = "by Student's t", sd = "by the standard deviation")
}
