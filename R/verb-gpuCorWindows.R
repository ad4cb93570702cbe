#' Correlations in sliding windows
#'
#' `gpuCorWindows()` computes the correlations of all pairs of columns in each window of consecutive observations, for
#' studies of dynamic functional connectivity. The coefficients of a window equal those of `gpuCor(x[rows, ])`.
#'
#' `output` says what is returned:
#'
#' * `"dist"`: all coefficients. `w[[k]]` is window k as [gpuCor()] returns it.
#' * `"network"`: the network of each window, as [gpuCorNetwork()] returns it, by `threshold`, `density` or `k`.
#' * `"connectivity"`: degree and strength of every variable in each window, by `threshold` or `density`.
#' * `"moments"`: mean, standard deviation, minimum and maximum of each pair's coefficients over the windows in which it
#'   has one. With `threshold`, `density` or `k`: a sparse network of the largest standard deviations only.
#'
#' Windows begin at observations 1, `1 + step`, `1 + 2 step` and so on, as long as they end within `x`. `covariates` and
#' `bandpass` are regressed out once, over all observations, before windows are cut. With `runs`, a window that has rows
#' of two runs is an error. `weights` of all observations apply in each window.
#'
#' `x` may be a list of subjects, or a function of a subject's number ([subjects]), with the same rows, as of a film
#' that all have seen: each window has the coefficients that `combine` makes of all subjects' coefficients in these
#' rows, as `gpuCor(lapply(x, function(x) x[rows, ]), combine = )` has them. Each subject is regressed on its own
#' `covariates` over all rows. It takes a run of all pairs for each window and subject.
#'
#' @order 1
#' @inheritParams gpuCorNetwork
#' @param x As in [gpuCor()], observations in the order of time. Data in files are read into memory, 8 bytes a value. A
#'   time series ([stats::ts()]) or attribute `tr` (seconds between observations) adds times to the result.
#' @param width,step Integers: observations in a window, at least 3, and from the start of one window to the next.
#' @param taper A string: the weights of a window's observations. `"none"`: equal weights. `"gaussian"`: a rectangle
#'   convolved with a Gaussian, as Allen et al. (2014) and the toolbox GIFT use it, such that the rectangle ends three
#'   standard deviations before the window (their rectangle of 22 volumes with a standard deviation of 3 is
#'   `width = 40, shape = 0.075`).
#' @param shape A number: the Gaussian's standard deviation as a fraction of the width, up to 1/6; default 0.075.
#' @param output A string: `"dist"`, `"network"`, `"connectivity"` or `"moments"`, see Details. May be abbreviated.
#' @param threshold,density,k,mutual The criterion, as in [gpuCorNetwork()], for each window; with
#'   `output = "moments"`, for the standard deviations of pairs.
#' @param ...,adjustment,subjects,control `r offered_words("gpuCorWindows")`
#'
#' @return An object of class `gpuCorWindows`; `w[[k]]` is window k:
#' * `"dist"`: a matrix of pairs, in the order of [stats::dist()], by windows.
#' * `"network"`: a list of networks ([gpuCorNetwork-class]).
#' * `"connectivity"`: a list of matrices `degree` and `strength`, variables by windows, and each `threshold`.
#' * `"moments"`: a list of `mean`, `sd`, `min` and `max`, each a `dist`, and `windows`, the number of windows in which
#'   a pair has a coefficient; with a criterion, a list of `sd`, a sparse symmetric matrix, and its `threshold`.
#'
#' Attribute `windows` is a data frame with the `start`, `end`, `centre` and, if known, `time` of each window.
#' `summary()` has a row for each window, or for moments for each quantile. `as.data.frame()`: for each pair, edge or
#' variable of each window.
#'
#' @references
#' Allen EA, Damaraju E, Plis SM, Erhardt EB, Eichele T, Calhoun VD (2014). *Cerebral Cortex* 24, 663-676.
#'
#' @examples
#' x <- outer(sin(1:120 / 9), 1:6 / 6) + matrix(rnorm(120 * 6), 120)
#' w <- gpuCorWindows(x, width = 30)
#' w[[1]]
#' w[trianglePosition(1, 3, ncol(x)), ] # the pair of columns 1 and 3 in each window
#' head(summary(w))
#' gpuCorWindows(x, width = 30, step = 10, output = "connectivity", threshold = 0.4)$degree
#' @export
gpuCorWindows <- function(x, width, step = 1, taper = c("none", "gaussian"), shape = NULL, threshold = NULL,
                          density = NULL, k = NULL, method = "pearson", use = "everything",
                          sign = c("absolute", "positive", "negative"), mutual = FALSE, pairs = NULL,
                          output = c("dist", "network", "connectivity", "moments"), ...,
                          adjustment = NULL, subjects = NULL, control = NULL) {
  specs <- specs_of("gpuCorWindows", ...)
  output <- check_choice(output, c("dist", "network", "connectivity", "moments"), "output")
  mutual <- check_flag(mutual, "mutual")
  taper <- check_choice(taper, c("none", "gaussian"), "taper")
  check_matrix_like(x, COLUMNS)
  sign <- check_choice(sign, signs, "sign")
  found <- features_of("gpuCorWindows", specs, environment(), `list of subjects` = is_subjects(x))
  criterion <- if (output == "moments" && !is.null(threshold)) {
    # Coefficients in [-1, 1] have a standard deviation of at most sqrt(2), for two windows.
    check_that(threshold, "threshold", is_number_within(threshold, 0, sqrt(2)),
               "a standard deviation, a number from 0 to sqrt(2)")
    list(name = "threshold", value = as.numeric(threshold))
  } else {
    check_criterion(list(threshold = threshold, density = density, k = k), several = FALSE, required = FALSE)
  }
  kept <- WINDOW_RESULTS[[if (output == "moments" && !is.null(criterion)) "varying" else output]]
  plan <- function(n_obs) {
    if (n_obs < 3) fail("'x' has ", n_of(n_obs, "observation"), "; windows need at least 3")
    width <- check_whole(width, "width", 3, n_obs, paste0("; 'x' has ", n_of(n_obs, "observation")))
    step <- check_whole(step, "step", 1)
    list(width = width, step = step, n = floor((n_obs - width) / step) + 1, taper = taper_weights(taper, shape, width))
  }
  run <- new_run(NULL, specs, NULL, NULL, method, use, criterion, sign, "later", pairs = pairs, call = sys.call())
  check_together(found, facts_of(run), words_of(run$method))
  run <- with_criterion(with_over(run, taper = taper), mutual = mutual)
  if (is_subjects(x)) windows_of_subjects(run, x, output, kept, plan) else windows_of_one(run, x, output, kept, plan)
}

# `run`: without data; `kept`: of WINDOW_RESULTS; `plan`: function of the number of rows that returns the windows with
# their taper.
windows_of_one <- function(run, x, keep, kept, plan) {
  run <- with_design(with_data(run, x))
  time <- time_of(x, run$asked$tr)
  run <- with_over(run, windows = plan(nrow(run$x)))
  design <- run$design
  if (!is.null(design)) design$adjusted$effective <- NULL # counts all observations
  run <- with_made(run, design)
  # The engine computes weighted pairwise-complete data on the CPU, and small runs.
  is_pairwise <- uses[run$use] == "pairwise.complete.obs"
  if (is_pairwise && !is.null(run$over$windows$taper)) run <- on_host(run)
  if (!is_pairwise) run <- on_host_if_small(run, run$pairs * run$over$windows$width)
  ways_out <- function(free) {
    fewer <- "a larger 'step' makes fewer windows"
    if (keep == "connectivity") return(fewer)
    if (keep == "network") return(paste0(fewer, ", and output = \"connectivity\" keeps no edge of them"))
    max <- floor(free / (8 * run$pairs)) # windows that fit
    step <- floor((nrow(run$x) - run$over$windows$width) / max) + 1
    paste0(if (keep == "dist" && max >= 1) paste0("step = ", step, " makes windows that fit, "),
           if (keep == "dist" && 36 * run$pairs <= free) "output = \"moments\" does, ",
           "output = \"moments\" with 'density', \"network\" and \"connectivity\" keep nothing of most pairs")
  }
  if (keep == "dist" && run$pairs > constant("max edges")) {
    fail("output = \"dist\" makes a matrix with a row for each of ", format_count(run$pairs), " pairs, and R has ",
         "at most ", format_count(constant("max edges")), " in one; ", ways_out(0))
  }
  data <- if (is.matrix(run$x) && !is_adjusted_run(run)) 0 else 8 * as.numeric(nrow(run$x)) * ncol(run$x)
  check_memory(data + kept$bytes(run), paste0("output = \"", keep, "\""),
               paste(n_of(run$pairs, "pair"), "and", n_of(run$over$windows$n, "window")), ways_out)
  run <- window_series(run)
  run <- with_values(run, dense_series(run$x))
  run <- with_place(run, doing = list(text = "window", of = run$over$windows$n, rated = FALSE))
  result <- kept$all(run, window_attributes(run, keep, time))
  warn_of_windows(result$notes, run, keep)
  if (keep != "dist") doing(run$place, "results of the windows")
  new_windows(kept$value(result, run), result$n_obs, run, keep, time)
}

# Results of windows, for each output:
#   bytes(run)            memory that the results take
#   all(run, attributes)  the engine's run over all windows
#   value(result, run)    the result without attributes
#   one(run)              of several subjects: what is kept of one window
#   joined(values, names) of these in one
WINDOW_RESULTS <- list(
  dist = list(
    bytes = function(run) 8 * run$pairs * run$over$windows$n,
    all = function(run, attributes) perform(run, "windows", run$over$windows, attributes),
    value = function(result, run) result$values,
    one = function(run) {
      check_coefficients_memory(run, "dist")
      r <- all_coefficients(run, "dist")
      list(value = as.vector(r), n_obs = attr(r, "n_obs"))
    },
    joined = function(values, names) do.call(cbind, values)
  ),
  network = list(
    bytes = function(run) EDGE_BYTES * run$over$windows$n * edges_of_run(run),
    all = function(run, attributes) perform(run, "window_networks", run$over$windows, window_rule(run)),
    value = function(result, run) networks_of(result, run),
    one = function(run) {
      found <- network_rows(run)
      warn_without(found, run)
      list(value = new_network(found, run), n_obs = found$n_obs)
    },
    joined = function(values, names) values
  ),
  connectivity = list(
    bytes = function(run) 16 * ncol(run$x) * run$over$windows$n,
    all = function(run, attributes) perform(run, "window_degrees", run$over$windows, window_rule(run, FALSE)),
    value = function(result, run) {
      names <- if (!is.null(colnames(run$x))) list(colnames(run$x), NULL)
      list(degree = `dimnames<-`(result$degree, names), strength = `dimnames<-`(result$strength, names),
           threshold = threshold_of(result$min_weight))
    },
    one = function(run) {
      found <- connectivity_sums(run, NOTHING_SUMMED)
      warn_without(found, run)
      list(value = found[c("degree", "strength", "threshold")], n_obs = found$n_obs)
    },
    joined = function(values, names) {
      joined <- function(name) {
        all <- do.call(cbind, lapply(values, function(one) as.vector(one[[name]])))
        dimnames(all) <- if (!is.null(names)) list(names, NULL)
        all
      }
      list(degree = joined("degree"), strength = joined("strength"),
           threshold = vapply(values, function(one) as.numeric(threshold_of(one$threshold)), 0))
    }
  ),
  moments = list(
    bytes = function(run) 36 * run$pairs,
    all = function(run, attributes) {
      plain <- plain_dist_attributes(run)
      with_ones <- c(plain, list(diagonal = rep(1, ncol(run$x))))
      perform(run, "window_moments", run$over$windows, list(with_ones, plain, with_ones, with_ones, plain))
    },
    value = function(result, run) {
      counts <- if (length(result$count)) result$count else run$over$windows$n
      c(result[moment_names], list(windows = if (min(counts) == max(counts)) counts[1L] else counts))
    }
  ),
  varying = list( # moments of the pairs that vary most
    bytes = function(run) 0,
    all = function(run, attributes) perform(run, "moment_network", run$over$windows, window_rule(run)),
    value = function(result, run) variable_network(result, run)
  )
)

# ---- tapers

# Returns the weights of a window's observations, with max 1, or NULL for none: those of a Gaussian's convolution with a
# rectangle that ends three standard deviations inside the window. `shape`: one of these as a fraction of the width.
taper_weights <- function(taper, shape, width) {
  if (taper == "none") return(NULL)
  if (is.null(shape)) shape <- 0.075
  check_that(shape, "shape", are_finite(shape, 1L) && shape > 0 && shape <= 1 / 6, "a number above 0 and up to 1/6")
  sigma <- shape * width
  half <- width / 2 - 3 * sigma
  at <- seq_len(width) - (width + 1) / 2
  weights <- if (half <= 0) {
    stats::dnorm(at / sigma)
  } else {
    stats::pnorm((at + half) / sigma) - stats::pnorm((at - half) / sigma)
  }
  weights / max(weights)
}

# ---- runs

# Returns which pairs of a window are edges, as the engine reads it, or NULL for all. `are_stored`: FALSE if edges are
# only counted.
window_rule <- function(run, are_stored = TRUE) {
  name <- run$criterion$name
  if (is.null(name)) return(NULL)
  value <- run$criterion$value
  list(criterion = match(name, c("threshold", "density", "k")) - 1L,
       value = switch(name, threshold = value,
                      density = if (are_stored) check_density(run) else edges_of_density(value, run$pairs),
                      k = min(value, max(1, ncol(run$x)))),
       side = constant(run$criterion$sign), mutual = run$criterion$mutual)
}

# Warns once about all windows that have the same problem.
warn_of_windows <- function(notes, run, keep) {
  warn_of <- function(note, what, hint = "") {
    n <- sum(note$of_window != 0)
    if (n == 0) return(invisible())
    columns <- which(note$of_variable > 0)
    first <- utils::head(columns, 3L)
    names <- if (is.null(colnames(run$x))) first else colnames(run$x)[first]
    which <- if (length(columns)) {
      paste0(length(columns), " of ", n_of(length(note$of_variable), "column"), " of 'x': ",
             paste(printable(names), "in", vapply(note$of_variable[first], format_count, ""), collapse = ", "),
             if (length(columns) > 3L) ", ...")
    } else {
      "of pairs, in the rows that both columns have"
    }
    warning(what, " in ", format_count(n), " of ", n_of(length(note$of_window), "window"), " (", which, ")", hint,
            call. = FALSE)
  }
  warn_of(notes$constant, "the standard deviation is zero")
  warn_of(notes$fell_back, "Pearson's correlation stands in for a median absolute deviation of zero")
  if (!measure_of(run$method)$ranked) {
    warn_of(notes$infinite, "infinite values leave no coefficient", paste0("; ", INFINITE_WAY_OUT))
  }
  if (keep == "dist") return(invisible()) # shows missing coefficients
  if (uses[run$use] == "everything") {
    warn_of(notes$missing, "missing values leave no coefficient", "; see 'use'")
  } else {
    warn_of(notes$few, paste(few_words(run$method), "leave no coefficient"))
  }
}

# ---- several subjects: each window is a run of all subjects, whose coefficients are combined

windows_of_subjects <- function(run, x, keep, kept, plan) {
  given <- run$combination
  if (is.null(given$combine)) tell_mean(run$place)
  data <- read_subjects(run, x, NULL, count_of(x, given$subjects, "x"))$x
  time <- time_of(data[[1L]], run$asked$tr)
  run <- with_over(run, windows = plan(nrow(data[[1L]])))
  of_series <- run$asked[names(run$asked) != "options"]
  # All subjects' series as ordinary matrices, adjusted over all rows.
  data <- each_subject(length(data), function(i) {
    if (nrow(data[[i]]) != nrow(data[[1L]])) {
      fail("there are ", n_of(nrow(data[[i]]), "row"), ", and ", nrow(data[[1L]]), " of the first subject; windows ",
           "need the same rows of all")
    }
    own <- with_element(with_values(run, data[[i]]), asked = asked_of_subject(of_series, i, length(data)))
    plain_series(window_series(with_design(own))$x)
  })
  given["subjects"] <- list(NULL)
  given$combine <- check_combination(given)$how # says that the mean is meant
  # The series are adjusted, except for the taper and for options of the measure.
  own <- c(weights = list(run$over$windows$taper), options = list(run$asked$options))
  run <- with_element(run, asked = own[!vapply(own, is.null, NA)], combination = given, assay = NULL) # read already
  in_window <- function(run, k) {
    rows <- (k - 1) * run$over$windows$step + seq_len(run$over$windows$width)
    with_design(with_data(run, lapply(data, function(m) m[rows, , drop = FALSE]), takes = "subjects"))
  }
  n <- run$over$windows$n
  over <- list(n = n, label = numbered("window", n), change = in_window, warns = "once")
  found <- for_each(over, run, function(run, k) c(kept$one(run), list(adjusted = adjustment_of(run))))
  first <- with_pairs(with_values(run, data[[1L]]))
  attributes <- window_attributes(first, keep, time)
  n_obs <- vapply(found, function(one) as.numeric(one$n_obs), 0)
  attributes[c("adjusted", "n_obs")] <- list(found[[1L]]$adjusted, if (all(n_obs == n_obs[1L])) n_obs[1L] else n_obs)
  values <- kept$joined(lapply(found, `[[`, "value"), colnames(data[[1L]]))
  attributes(values) <- c(attributes(values), attributes)
  values
}
