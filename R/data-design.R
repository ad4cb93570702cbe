# The engine's design: weights of observations, regressors for adjustment, and options of measures. Its help page is
# gpucor-measures (R/help-measures.R).

# Returns the settings with the design of a run of n_obs observations. `observations`: those of x, by name; complete():
# returns TRUE for observations without missing values, given the settings; each_column(): applies a function to all
# columns; `tests`: TRUE if p values will be computed.
designed <- function(settings, method, use, n_obs, observations, complete, each_column, tests) {
  asked <- settings$asked
  if (!length(asked)) return(settings)
  features_of("adjustment", list(adjustment = asked)) # stops if they do not go together, as one subject's may not
  measure <- measure_of(method)
  for (name in c("weights", "covariates", "data", "runs")) {
    check_observations(check_slots(asked[[name]], name), name, observations)
  }
  weights <- asked[["weights"]] # `$` could match weights_are
  scaled <- check_weights(weights, n_obs)
  design <- list(weights = scaled, basis = NULL, keeps = FALSE, raw = NULL, ranked = 0, map = NULL,
                 option = check_options(asked$options, method), df = check_df(asked$df, method, tests), lost = 0,
                 worth = kind_code(check_weights_are(asked, method), scaled), unit = weight_unit(weights),
                 calibration = NULL)
  settings$design <- design
  regressors <- regressors_of(asked, measure, n_obs)
  if (!is.null(regressors)) settings$design <- regressed(regressors, settings, use, complete)
  if (falls_back_at_once(design)) {
    settings$design$option <- fallback_of_all(settings$design, each_column)
  }
  settings$design["calibration"] <- list(calibration_of(settings$design, measure$centred))
  settings$design$adjusted <- adjustment_of_design(asked, method, regressors, design$weights, settings$design$lost,
                                                   told_worth(settings, use, n_obs, complete))
  settings
}

# Applies designed() to the engine's x and y.
designed_input <- function(settings, input, method, use, tests = FALSE) {
  if (!is.null(input$asked)) settings$asked <- input$asked # one subject in a list
  if (tests && !is_combined(input$x)) check_testable(method, settings$asked$df)
  if (!length(settings$asked)) return(settings)
  if (is_combined(input$x)) return(within_double(settings, input$x$designs))
  tr <- attr(input$x, "tr")
  settings$asked <- with_own_tr(settings$asked, if (is.null(tr)) attr(input$y, "tr") else tr)
  n_obs <- nrow(input$x)
  complete <- function(settings) {
    counted <- count_observations(input$x, input$y, method, use, settings)
    if (is.null(counted$observed)) return(rep(TRUE, n_obs))
    seq_len(n_obs) %in% (counted$observed[seq_len(counted$n_obs)] + 1L)
  }
  each_column <- function(f) {
    unlist(lapply(list(input$x, input$y), function(m) if (!is.null(m)) column_blocks(m, function(b) apply(b, 2L, f))))
  }
  observations <- if (is.null(input$observations)) observations_of(input$x) else input$observations
  settings["design"] <- list(noted(settings, "design", function() {
    settings <- designed(settings, method, use, n_obs, observations, complete, each_column, tests)
    (if (isTRUE(settings$asked$partial)) with_partial(settings, input, method, use, tests) else settings)$design
  }))
  within_double(settings)
}

# Applies designed() to variables in rows, or in columns unless by_row.
designed_rows <- function(settings, x, by_row, method, use) {
  observations <- list(names = if (by_row) colnames(x) else rownames(x), side = "col")
  if (!by_row) return(designed_input(settings, list(x = x, observations = observations), method, use))
  designed(settings, method, use, ncol(x), observations, function(settings) colSums(is.na(x)) == 0,
           function(f) apply(x, 1L, f), tests = FALSE)
}

# ---- weights

# Returns NULL for equal weights. Weights of 0 and one other number become 0 and 1, as they only select observations.
check_weights <- function(weights, n_obs) {
  if (is.null(weights)) return(NULL)
  if (!is_variables(weights) || !is.null(dim(weights))) {
    fail("'weights' must be a vector of numbers, one for each observation, not ", show_value(weights))
  }
  if (length(weights) != n_obs) {
    fail("'weights' has ", n_of(length(weights), "value"), "; there are ", n_of(n_obs, "observation"))
  }
  bad <- which(!is.finite(weights) | weights < 0)
  if (length(bad)) {
    fail("'weights' is ", format(weights[bad[1L]]), " at observation ", bad[1L],
         "; it must be a finite number of at least 0, 0 for an observation that does not count")
  }
  counts <- weights > 0
  if (n_obs > 0L && !any(counts)) fail("'weights' are all 0: no observation counts")
  weights <- weights / max(weights, 1e-300)
  if (all(counts) && length(unique(weights)) < 2L) return(NULL)
  if (length(unique(weights[counts])) < 2L) as.numeric(counts) else as.numeric(weights)
}

# ---- a measure's options

# Returns the options' values as numbers in the engine's order, or NULL if none is given.
check_options <- function(options, method) {
  if (!length(options) && !is.environment(options)) return(NULL)
  if (!is.list(options) || is.null(names(options))) fail("'options' must be a named list, not ", show_value(options))
  known <- measure_of(method)$options[[1L]]
  unknown <- setdiff(names(options), names(known))
  if (length(unknown)) {
    fail("'options' has \"", unknown[1L], "\"; method = \"", method, "\" takes ",
         if (length(known)) toString(names(known)) else "none")
  }
  vapply(names(known), function(name) check_option(options[[name]], name, known[[name]]), 0)
}

check_option <- function(value, name, option) {
  if (is.null(value)) return(option$value)
  if (!is.null(option$choices)) return(match(check_choice(value, option$choices, name), option$choices) - 1)
  check <- if (option$is_whole) check_whole else check_within
  check(value, name, option$min, option$max)
}

# pearsonFallback = "all": any column with a zero deviation decides for all columns.
falls_back_at_once <- function(design) isTRUE(design$option["pearsonFallback"] == 2)

fallback_of_all <- function(design, each_column) {
  counts <- if (is.null(design$weights)) TRUE else design$weights > 0
  has_none <- function(x) isTRUE(stats::mad(x[counts], constant = 1, na.rm = TRUE) == 0)
  option <- design$option
  if (!any(each_column(has_none))) option[["pearsonFallback"]] <- 1
  option
}

# Returns the adjustment of one design: NULL if nothing changed the coefficients, otherwise a list of those that apply:
#   covariates (number of regressors), bandpass and tr, runs (their number), graded (weights other than 0 and 1), zeros
#   (observations of weight 0), effective (effective number of weighted observations), options (named texts), lost
#   (degrees of freedom used by regression), df (a number or "bartlett").
# `weights`: from check_weights(); `regressors`: from regressors_of().
adjustment_of_design <- function(asked, method, regressors, weights, lost, effective) {
  options <- changed_options(asked$options, method)
  found <- list(covariates = ncol(regressors$covariates), bandpass = asked$bandpass, tr = asked$tr,
                runs = if (!is.null(regressors$codes)) length(regressors$runs),
                graded = if (any(weights > 0 & weights < 1)) TRUE, zeros = if (any(weights == 0)) sum(weights == 0),
                effective = effective, options = if (length(options)) options, lost = if (lost > 0) lost, df = asked$df)
  found <- Filter(Negate(is.null), found)
  if (length(found)) found
}

# Returns the measure's options that differ from the default, as texts.
changed_options <- function(options, method) {
  known <- measure_of(method)$options[[1L]]
  given <- options[intersect(names(options), names(known))]
  changed <- vapply(names(given), FUN.VALUE = NA, function(name) {
    check_option(given[[name]], name, known[[name]]) != known[[name]]$value
  })
  vapply(given[changed], format, "")
}

# Returns TRUE if p values depend on more than the included observations.
is_designed <- function(design) {
  is_kind(design, "frequency") || is_graded(design) || !is.null(design$basis) || !is.null(design$df) ||
    !is.null(design$map)
}

# Returns what check_together() has to know of a method and of data x with their design.
facts_of <- function(x, method, settings) {
  measure <- measure_of(method)
  design <- settings$design
  names(which(c(`several subjects` = is_combined(x), `graded weights` = is_graded(design),
                `regression on covariates` = !is.null(design$basis), `several runs` = !is.null(design$runs),
                `tests of adjusted data` = is_designed(design), `numeric df` = is_numeric(settings$asked$df),
                `shrunken coefficients` = isTRUE(design$adjusted$shrinkage > 0), # biased towards zero
                `measure of ranks` = measure$ranked, `centred measure` = measure$centred,
                `one-sided measure` = is_one_sided(method),
                `measure without intervals` = !method %in% INTERVAL_METHODS)))
}
