# The engine's design: weights of observations, regressors for adjustment, and options of measures. Its help page is
# gpuAdjust (R/run-specs.R).

# Returns the run with its design, which the engine reads, if an argument asks for one. `tests`: TRUE if p values will
# be computed. Those of several subjects have been made with their data. run$asked: the arguments of gpuAdjust().
with_design <- function(run, tests = FALSE) {
  asked <- run$asked
  if (tests && !is_combined(run$x)) check_testable(run$method, asked$df)
  if (!length(asked) && !is_of_spectra(run$method)) return(run)
  if (is_combined(run$x)) {
    needs_double <- any(vapply(run$x$designs, function(design) isTRUE(design$in_double), NA)) # for partial correlations
    return(if (needs_double) with_element(run, in_double = TRUE) else run)
  }
  of_data <- function(tells) { # of the scan or the series that x was read from
    own <- tells(run$x)
    if (is.null(own)) tells(run$y) else own
  }
  own <- of_data(interval_of)
  if (!is.null(asked$bandpass) && is_number(own)) {
    if (is.null(asked$tr)) asked$tr <- own
    if (is_numeric(asked$tr) && !isTRUE(all.equal(as.numeric(asked$tr), as.numeric(own), tolerance = 1e-3))) {
      warn("gpuCorTime", "'tr' is ", format(asked$tr), " s, and that of 'x' is ", format(own),
           " s; leave 'tr' out to use that of 'x'")
    }
  }
  by_runs <- any(c("covariates", "bandpass") %in% names(asked)) || is_of_spectra(run$method)
  if (by_runs && is.null(asked$runs)) asked$runs <- of_data(function(x) attr(x, "runs", exact = TRUE))
  run <- with_element(run, asked = asked)
  with_made(run, noted(run$place, "design", function() {
    design <- designed(run, tests)
    if (isTRUE(asked$partial)) design_with_partial(with_made(run, design), tests) else design
  }))
}

# The parts of a design beside partial correlations, in the order in which they are made. A row is a part: the arguments
# of gpuAdjust() that ask for it, or of(method), TRUE if the method does; and add(run, tests), which returns the run's
# design with the part, and with what results tell of it in `adjusted`.
DESIGN_PARTS <- list(
  weights = list(asks = c("weights", "weights_are"), add = function(run, tests) design_with_weights(run)),
  regressors = list(asks = names(REGRESSORS), add = function(run, tests) design_with_regressors(run)),
  options = list(asks = "options", add = function(run, tests) design_with_options(run)),
  df = list(asks = "df", add = function(run, tests) design_with_df(run, tests)),
  spectrum = list(of = is_of_spectra, add = function(run, tests) design_with_spectrum(run))
)

# What results tell of a design, an adjustment: a list of those that apply.
#   what REGRESSORS tell (covariance: TRUE), spectrum (numbers of segments, of their observations, and of frequencies),
#   graded (weights other than 0 and 1), zeros (observations of weight 0), effective (effective number of weighted
#   observations), options (named texts), lost (degrees of freedom used by regression), df (a number or "bartlett").
ADJUSTED <- c("covariance", "spectrum", "graded", "zeros", "effective", "options", "lost", "df")

# Returns the run's design, except for partial correlations.
designed <- function(run, tests) {
  asked <- run$asked
  found <- features_of("adjustment", list(adjustment = asked)) # checked again, as one subject's may not go together
  observations <- if (is.null(run$observations)) observations_of(run$x) else run$observations
  for (name in c("weights", "covariates", "data", "protect", "runs", "covariance")) {
    own <- check_slots(asked[[name]], name)
    check_observations(if (name == "covariance") named_by_either(own) else own, name, observations)
  }
  run <- with_made(run, NO_DESIGN)
  for (part in DESIGN_PARTS) {
    is_asked <- if (is.null(part$of)) any(part$asks %in% names(asked)) else part$of(run$method)
    if (is_asked) run <- with_made(run, part$add(run, tests))
  }
  check_together(found, facts_of(run), words_of(run$method))
  design <- run$design
  told <- design$adjusted
  if (!is_kind(design, "precision")) { # the effective number of observations, as far as all pairs share it
    counts <- if (is.null(design$weights)) rep(TRUE, nrow(run$x)) else design$weights > 0
    if (drops_observations(run)) counts <- counts & complete_observations(run)
    told$effective <- effective_n(design, list(n_obs = sum(counts), observed = which(counts) - 1L))
  }
  design$adjusted <- if (length(told)) told[intersect(c(unlist(REGRESSION), ADJUSTED), names(told))]
  design
}

# ---- weights

# Equal weights are none. Weights of 0 and one other number become 0 and 1, as they only select observations.
design_with_weights <- function(run) {
  given <- run$asked[["weights"]] # `$` could match weights_are
  design <- run$design
  if (!is.null(given)) {
    check_that(given, "weights", is_variables(given) && is.null(dim(given)),
               "a vector of numbers, one for each observation")
    check_as_many(length(given), "weights", "value", nrow(run$x))
    bad <- which(!is.finite(given) | given < 0)
    if (length(bad)) {
      fail("'weights' is ", format(given[bad[1L]]), " at observation ", bad[1L],
           "; it must be a finite number of at least 0, 0 for an observation that does not count")
    }
    counts <- given > 0
    if (length(given) && !any(counts)) fail("'weights' are all 0: no observation counts")
    if (length(given)) design$unit <- as.numeric(max(given))
    scaled <- given / max(given, 1e-300)
    levels <- length(unique(scaled[counts]))
    if (levels > 1L || !all(counts)) design$weights <- as.numeric(if (levels > 1L) scaled else counts)
  }
  design$worth <- kind_code(run$asked, run$method, design$weights)
  if (is_graded(design)) design$adjusted$graded <- TRUE
  if (any(design$weights == 0)) design$adjusted$zeros <- sum(design$weights == 0)
  design
}

# ---- a measure's options

# The design's option has the options' values as numbers, in the engine's order.
design_with_options <- function(run) {
  given <- run$asked$options
  design <- run$design
  if (!length(given) && !is.environment(given)) return(design)
  check_that(given, "options", is.list(given) && !is.null(names(given)), "a named list")
  known <- measure_of(run$method)$options[[1L]]
  unknown <- setdiff(names(given), names(known))
  check_facts(c("options", if (length(unknown)) "options of another measure"),
              list(method = run$method, option = unknown[1L],
                   known = if (length(known)) toString(names(known)) else "none"))
  design$option <- vapply(names(known), function(name) check_option(given[[name]], name, known[[name]]), 0)
  differs <- design$option != vapply(known, `[[`, 0, "value") & names(known) %in% names(given)
  changed <- given[intersect(names(given), names(known)[differs])]
  if (length(changed)) design$adjusted$options <- vapply(changed, format, "")
  # pearsonFallback = "all": any column with a zero deviation decides for all columns.
  if (isTRUE(design$option["pearsonFallback"] == 2) && !any_falls_back(run)) design$option[["pearsonFallback"]] <- 1
  design
}

check_option <- function(value, name, option) {
  if (is.null(value)) return(option$value)
  if (!is.null(option$choices)) return(match(check_choice(value, option$choices, name), option$choices) - 1)
  if (option$is_whole && option$max == 1) return(as.numeric(check_flag(value, name)))
  check <- if (option$is_whole) check_whole else check_within
  check(value, name, option$min, option$max)
}

# Returns TRUE if a column has a zero deviation.
any_falls_back <- function(run) {
  weights <- run$design$weights
  counts <- if (is.null(weights)) TRUE else weights > 0
  has_none <- function(x) isTRUE(stats::mad(x[counts], constant = 1, na.rm = TRUE) == 0)
  of_columns <- function(m) if (!is.null(m)) column_blocks(m, function(block) apply(block, 2L, has_none))
  any(unlist(lapply(run[c("x", "y")], of_columns)))
}

# Returns TRUE if p values depend on more than the included observations.
is_designed <- function(design) {
  is_kind(design, "frequency") || is_graded(design) || !is.null(design$basis) || !is.null(design$df) ||
    !is.null(design$map)
}

# Returns what check_together() has to know of a run's method and data.
facts_of <- function(run) {
  measure <- measure_of(run$method)
  design <- run$design
  names(which(c(`several subjects` = is_combined(run$x), `graded weights` = is_graded(design),
                `regression on covariates` = !is.null(design$basis), `several runs` = !is.null(design$runs),
                `given coefficients` = run$method == "given",
                `tests of adjusted data` = is_designed(design), `numeric df` = is_numeric(run$asked$df),
                `shrunken coefficients` = isTRUE(design$adjusted$shrinkage > 0), # biased towards zero
                `measure of ranks` = measure$ranked, `centred measure` = measure$centred,
                `one-sided measure` = is_one_sided(run$method), `measure of spectra` = is_of_spectra(run$method),
                `measure of agreement` = measure$last_step == "agreement",
                `measure without weights` = !measure$takes_weights, `measure without partial` = !measure$has_partial,
                `measure without products` = !measure$is_product,
                `measure without intervals` = !run$method %in% INTERVAL_METHODS)))
}
