# Which weight each observation has, what columns are freed of before they are compared, and the options of measures:
# what the engine calls a design. The help of it is gpucor-measures (R/help-measures.R).

# The arguments, in the `...` of every function that takes x; and those that are options of a measure.
DESIGN <- c("weights", "weights_are", "covariates", "data", "bandpass", "tr", "df")

option_names <- function() unique(unlist(lapply(measures()$options, names)))

# What was given of both.
asked_design <- function(given) {
  given[names(given) %in% c(DESIGN, option_names()) & !vapply(given, is.null, NA)]
}

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
                 option = check_options(asked, method), df = check_df(asked$df, method, tests), lost = 0,
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
check_options <- function(asked, method) {
  known <- measure_of(method)$options[[1L]]
  given <- intersect(names(asked), option_names())
  unknown <- setdiff(given, names(known))
  if (length(unknown)) fail("method = \"", method, "\" takes no '", unknown[1L], "'")
  if (!length(given)) return(NULL)
  vapply(names(known), function(name) check_option(asked[[name]], name, known[[name]]), 0)
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
