# gpuCorWindows() of several subjects: each window is a run of all subjects, whose coefficients are combined.

# `run`: without data; `x`: the subjects' data; `plan`: function of the number of rows that returns the windows with
# their taper.
windows_of_subjects <- function(run, x, keep, plan) {
  given <- run$settings$combination
  if (is.null(given$combine)) tell_mean(run$settings)
  data <- read_subjects(run, x, NULL, count_of(x, given$subjects, "x"))$x
  time <- time_of(data[[1L]], run$settings$asked$tr)
  run$windows <- plan(nrow(data[[1L]]))
  data <- series_of_subjects(run, data)
  run$settings$combination["subjects"] <- list(NULL)
  run$settings$combination$combine <- check_combination(given)$how # says that the mean is meant
  # The series are adjusted, except for the taper and for options of the measure.
  own <- c(weights = list(run$windows$taper), options = list(run$settings$asked$options))
  run$settings$asked <- own[!vapply(own, is.null, NA)]
  run$settings["assay"] <- list(NULL)
  in_window <- function(run, k) {
    rows <- (k - 1) * run$windows$step + seq_len(run$windows$width)
    with_design(with_pairs(with_data(run, lapply(data, function(m) m[rows, , drop = FALSE]), NULL, "subjects")))
  }
  over <- list(n = run$windows$n, label = numbered("window", run$windows$n), change = in_window, warns = "once")
  found <- for_each(over, run, function(run, k) c(window_of_subjects(run, keep), list(adjusted = adjustment_of(run))))
  first <- with_pairs(replace(run, "x", list(data[[1L]])))
  attributes <- window_attributes(first, keep, time)
  n_obs <- vapply(found, `[[`, 0, "n_obs")
  attributes[c("adjusted", "n_obs")] <- list(found[[1L]]$adjusted, if (all(n_obs == n_obs[1L])) n_obs[1L] else n_obs)
  values <- values_of_windows(lapply(found, `[[`, "value"), keep, colnames(data[[1L]]))
  attributes(values) <- c(attributes(values), attributes)
  values
}

# Returns all subjects' series as ordinary matrices, adjusted over all rows.
series_of_subjects <- function(run, data) {
  n <- length(data)
  asked <- run$settings$asked
  each_subject(n, function(i) {
    if (nrow(data[[i]]) != nrow(data[[1L]])) {
      fail("there are ", n_of(nrow(data[[i]]), "row"), ", and ", nrow(data[[1L]]), " of the first subject; windows ",
           "need the same rows of all")
    }
    run$x <- data[[i]]
    run$settings$asked <- asked_of_subject(asked[names(asked) != "options"], i, n)
    run <- with_design(run)
    check_window_runs(run$settings$design$runs, run$windows)
    plain_series(if (is_adjusted_run(run)) residualized_run(run, "window")$x else run$x)
  })
}

# Returns list(value, n_obs) of one window.
window_of_subjects <- function(run, keep) {
  if (keep == "dist") {
    check_coefficients_memory(run, "dist")
    r <- all_coefficients(run, "dist")
    return(list(value = as.vector(r), n_obs = as.numeric(attr(r, "n_obs"))))
  }
  found <- if (keep == "network") network_rows(run) else connectivity_sums(run, NOTHING_SUMMED)
  warn_without(found, run)
  list(value = if (keep == "network") new_network(found, run) else found[c("degree", "strength", "threshold")],
       n_obs = as.numeric(found$n_obs))
}

values_of_windows <- function(values, keep, names) {
  if (keep == "network") return(values)
  if (keep == "dist") return(do.call(cbind, values))
  joined <- function(name) {
    all <- do.call(cbind, lapply(values, function(one) as.vector(one[[name]])))
    dimnames(all) <- if (!is.null(names)) list(names, NULL)
    all
  }
  list(degree = joined("degree"), strength = joined("strength"),
       threshold = vapply(values, function(one) as.numeric(threshold_of(one$threshold)), 0))
}
