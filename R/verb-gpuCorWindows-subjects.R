# gpuCorWindows() of several subjects: each window of all subjects is one call of a function that combines subjects.

# `run`: without data, with the arguments for adjustment over all rows; `given`: list(pairs, options, control,
# combination), further arguments for each window. `plan`: function of the number of rows that returns the windows with
# their taper; `taper`: its name.
windows_of_subjects <- function(run, x, keep, plan, taper, given) {
  if (is.null(given$combination$combine)) tell_mean(run$settings)
  given$combination$combine <- check_combination(given$combination)$how
  n <- count_of(x, given$combination$subjects, "x")
  given$combination$subjects <- NULL
  data <- read_subjects(run, x, NULL, n)$x
  time <- time_of(data[[1L]], run$settings$asked$tr)
  run$windows <- plan(nrow(data[[1L]]))
  run$taper <- taper
  data <- series_of_subjects(run, data)
  in_window <- function(run, k) {
    rows <- (k - 1) * run$windows$step + seq_len(run$windows$width)
    run$x <- lapply(data, function(m) m[rows, , drop = FALSE])
    run
  }
  over <- list(n = run$windows$n, label = numbered("window", run$windows$n), change = in_window, warns = "once")
  found <- for_each(over, run, function(run, k) window_of_subjects(run, keep, given))
  first <- run
  first$x <- data[[1L]]
  first$settings["pairs"] <- list(given$pairs)
  attributes <- window_attributes(with_pairs(first), keep, time)
  attributes[c("adjusted", "n_obs")] <- list(found[[1L]]$adjusted, unique_or_all(vapply(found, `[[`, 0, "n_obs")))
  values <- values_of_windows(lapply(found, `[[`, "value"), keep, colnames(data[[1L]]))
  attributes(values) <- c(attributes(values), attributes)
  values
}

unique_or_all <- function(values) if (length(unique(values)) == 1L) values[1L] else values

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
    run$settings$asked <- asked_of_subject(asked, i, n)
    run <- with_design(run)
    check_window_runs(run$settings$design$runs, run$windows)
    plain_series(if (is_adjusted_run(run)) residualized_run(run, "window")$x else run$x)
  })
}

# Returns list(value, n_obs, adjusted) of one window. `given`: as of windows_of_subjects().
window_of_subjects <- function(run, keep, given) {
  pairs <- given$pairs
  given <- c(list(run$x, method = run$method, use = uses[run$use], weights = run$windows$taper, options = given$options,
                  control = given$control), given$combination)
  if (keep == "dist") {
    r <- do.call(gpuCor, given, quote = TRUE)
    return(list(value = as.vector(r), n_obs = as.numeric(attr(r, "n_obs")), adjusted = attr(r, "adjusted")))
  }
  given[c(run$criterion$name, "sign")] <- list(run$criterion$value, run$sign)
  given$pairs <- pairs
  if (keep == "network") {
    net <- do.call(gpuCorNetwork, c(given, list(mutual = run$mutual)), quote = TRUE)
    net@call <- run$call
    return(list(value = net, n_obs = net@n_obs, adjusted = net@adjusted))
  }
  sums <- do.call(gpuConnectivity, given, quote = TRUE)
  list(value = sums[c("degree", "strength", "threshold")], n_obs = as.numeric(sums$n_obs),
       adjusted = attr(sums, "adjusted"))
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
       threshold = vapply(values, function(one) as.numeric(one$threshold), 0))
}
