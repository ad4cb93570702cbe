# Context likelihood of relatedness (Faith and others 2007): networks of pairs whose information is large compared with
# what both columns have with all others.

NORMALIZATIONS <- c("none", "clr")

# Returns the criterion of a network. A threshold of context likelihoods becomes one of the engine's values, which are
# below 1 (src/sink/information.h).
network_criterion <- function(given, normalize, lioness = NULL) {
  threshold <- given$threshold
  if (!is.null(lioness) && !is.null(threshold)) { # coefficients of a sample are not limited to -1 to 1
    check_that(threshold, "threshold", are_finite(threshold, min = 0), "numbers of at least 0 with 'lioness'")
    check_criterion(replace(given, "threshold", 0)) # stops if there are others
    return(list(name = "threshold", value = as.numeric(threshold)))
  }
  if (normalize == "none") return(check_criterion(given))
  if (!is.null(threshold)) {
    check_that(threshold, "threshold", are_finite(threshold, min = 0), "numbers of at least 0 with normalize = \"clr\"")
    given$threshold <- threshold / (1 + threshold)
  }
  check_criterion(given)
}

# Returns the run whose values are context likelihoods: a pass over all pairs finds each column's mean and standard
# deviation of the information.
clr_run <- function(run) {
  run$settings$information <- list(mean = NULL, unit = NULL)
  rule <- list(side = constant("absolute"), min_weight = 0, similarity = constant("unsigned"), steps = numeric(),
               histogram = FALSE, levels = 1, maps = constant("mean") + constant("icc"))
  sums <- checked(engine_pass("connectivity", at_pass(run, 1, 2, "information of each column"), list(rule)))$maps
  n <- sums[, 1L]
  mean <- sums[, 2L] / n
  deviation <- sqrt(pmax(0, sums[, 3L] - n * mean^2) / (n - 1))
  run$settings$information <- list(mean = mean, unit = as.numeric(ifelse(deviation > 0, 1 / deviation, 0)))
  at_pass(run, 2, 2)
}

# Returns the run with the user's threshold.
clr_criterion <- function(run) {
  if (is.null(run$settings$information) || run$criterion$name != "threshold") return(run)
  run$criterion$value <- run$criterion$value / (1 - run$criterion$value)
  run
}

# Returns rows with context likelihoods in the place of the engine's values, if these are the run's.
clr_rows <- function(rows, run) {
  if (is.null(run$settings$information)) return(rows)
  rows$x <- rows$x / (1 - rows$x)
  rows$threshold <- rows$threshold / (1 - rows$threshold)
  rows
}
