# Which weight each observation has, what columns are freed of before they are compared, and the options of measures:
# what the engine calls a design. The help of it is gpucor-measures (R/measures.R).

# The arguments, in the `...` of every function that takes x; and those that are options of a measure.
DESIGN <- c("weights", "covariates", "data", "bandpass", "tr")

option_names <- function() unique(unlist(lapply(measures()$options, names)))

# What was given of both.
asked_design <- function(given) {
  if (!length(given)) return(NULL)
  given[names(given) %in% c(DESIGN, option_names()) & !vapply(given, is.null, NA)]
}

# The settings with the design of a task; n_obs: how many observations there are, complete: a function that says which
# of them have all values, given the settings at hand.
designed <- function(settings, method, use, n_obs, complete) {
  asked <- settings$asked
  if (!length(asked)) return(settings)
  design <- list(weights = check_weights(asked$weights, n_obs), basis = NULL, option = check_options(asked, method))
  settings$design <- design
  settings
}

# The same for x and y of the engine's.
designed_input <- function(settings, input, method, use) {
  designed(settings, method, use, nrow(input$x), function(settings) {
    counted <- count_observations(input$x, input$y, method, use, settings)
    if (is.null(counted$observed)) return(TRUE)
    seq_len(nrow(input$x)) %in% (counted$observed[seq_len(counted$n_obs)] + 1L)
  })
}

# The same for variables in rows, or, where they are not by_row, in columns.
designed_rows <- function(settings, x, by_row, method, use) {
  if (!by_row) return(designed_input(settings, list(x = x), method, use))
  designed(settings, method, use, ncol(x), function(settings) colSums(is.na(x)) == 0)
}

# ---- weights

# NULL: all count alike. Weights that are 0 and some other number are 0 and 1: they only say what counts.
check_weights <- function(weights, n_obs) {
  if (is.null(weights)) return(NULL)
  if (!is_variables(weights) || !is.null(dim(weights))) {
    fail("'weights' must be a vector of numbers, one for each observation, not ", show_value(weights))
  }
  if (length(weights) != n_obs) {
    fail("'weights' has ", format_count(length(weights)), " values; there are ", format_count(n_obs), " observations")
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
