# The design of the engine: weights of observations, the regressors that columns are adjusted for, and the options of
# measures. The help page is gpucor-measures (R/help-measures.R).

# The settings with the design of a task of n_obs observations. observations: those of x, by their names. complete: a
# function that says which of them have all values, given the settings at hand; each_column: one that applies another to
# all columns. tests: whether there are going to be p values.
designed <- function(settings, method, use, n_obs, observations, complete, each_column, tests) {
  asked <- settings$asked
  if (!length(asked)) return(settings)
  measure <- measure_of(method)
  for (name in c("weights", "covariates", "data")) check_observations(asked[[name]], name, observations)
  weights <- asked[["weights"]] # by `$` it could be weights_are
  scaled <- check_weights(weights, n_obs)
  design <- list(weights = scaled, basis = NULL, keeps = FALSE, raw = NULL, ranked = 0,
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

# The same for x and y of the engine's.
designed_input <- function(settings, input, method, use, tests = FALSE) {
  if (!is.null(input$asked)) settings$asked <- input$asked # of one subject in a list
  if (tests && !is_combined(input$x)) check_testable(method, settings$asked$df)
  if (!length(settings$asked) || is_combined(input$x)) return(settings)
  settings$asked <- with_own_tr(settings$asked, attr(input$x, "tr"))
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
    designed(settings, method, use, n_obs, observations, complete, each_column, tests)$design
  }))
  settings
}

# The same for variables in rows, or, where they are not by_row, in columns.
designed_rows <- function(settings, x, by_row, method, use) {
  observations <- list(names = if (by_row) colnames(x) else rownames(x), side = "col")
  if (!by_row) return(designed_input(settings, list(x = x, observations = observations), method, use))
  designed(settings, method, use, ncol(x), observations, function(settings) colSums(is.na(x)) == 0,
           function(f) apply(x, 1L, f), tests = FALSE)
}

# ---- weights

# NULL: all count alike. Weights that are 0 and some other number are 0 and 1: they only say what counts.
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

# Their values by number, as the engine has them; NULL: none was given.
check_options <- function(options, method) {
  if (!length(options)) return(NULL)
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
  ok <- is.numeric(value) && length(value) == 1L && is.finite(value) && value >= option$least && value <= option$most
  if (!ok) {
    fail("'", name, "' must be a number between ", option$least, " and ", option$most, ", not ", show_value(value))
  }
  as.numeric(value)
}

# pearsonFallback = "all": whether there is a column without a deviation decides on all.
falls_back_at_once <- function(design) isTRUE(design$option["pearsonFallback"] == 2)

fallback_of_all <- function(design, each_column) {
  counts <- if (is.null(design$weights)) TRUE else design$weights > 0
  has_none <- function(x) isTRUE(stats::mad(x[counts], constant = 1, na.rm = TRUE) == 0)
  option <- design$option
  if (!any(each_column(has_none))) option[["pearsonFallback"]] <- 1
  option
}

# Returns the adjustment of one design: NULL if nothing changed the coefficients, otherwise a list of those that apply:
#   covariates (number of regressors), bandpass and tr, graded (weights other than 0 and 1), zeros (observations of
#   weight 0), effective (how many observations the weighted ones are worth), options (named texts), lost (degrees of
#   freedom that regression takes), df (a number or "bartlett").
# weights: as check_weights() returns them; regressors: as regressors_of() does.
adjustment_of_design <- function(asked, method, regressors, weights, lost, effective) {
  options <- changed_options(asked$options, method)
  found <- list(covariates = ncol(regressors$covariates), bandpass = asked$bandpass, tr = asked$tr,
                graded = if (any(weights > 0 & weights < 1)) TRUE, zeros = if (any(weights == 0)) sum(weights == 0),
                effective = effective, options = if (length(options)) options, lost = if (lost > 0) lost, df = asked$df)
  found <- Filter(Negate(is.null), found)
  if (length(found)) found
}

# Options of the measure with another value than the default, as texts.
changed_options <- function(options, method) {
  known <- measure_of(method)$options[[1L]]
  given <- options[intersect(names(options), names(known))]
  changed <- vapply(names(given), FUN.VALUE = NA, function(name) {
    check_option(given[[name]], name, known[[name]]) != known[[name]]$value
  })
  vapply(given[changed], format, "")
}

# Whether p values are not those of the observations that count, in any order.
is_designed <- function(design) {
  is_kind(design, "frequency") || is_graded(design) || !is.null(design$basis) || !is.null(design$df)
}
