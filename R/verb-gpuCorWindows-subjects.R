# gpuCorWindows() of several subjects: each window of all subjects is one call of a function that combines subjects.

# `run`: list(method, use, pairs, sign, mutual, criterion, options, control, combination, call); `settings`:
# as of one subject, with the arguments for adjustment. `plan`: function of the number of rows that returns the windows
# with their taper; `taper`: its name.
windows_of_subjects <- function(x, keep, plan, taper, run, settings) {
  if (is.null(run$combination$combine)) tell_mean(settings)
  run$combination$combine <- check_combination(run$combination)$how
  n <- count_of(x, run$combination$subjects, "x")
  run$combination$subjects <- NULL
  data <- read_subjects(x, NULL, n, run$use, run$method, settings$assay)$x
  time <- time_of(data[[1L]], settings$asked$tr)
  windows <- plan(nrow(data[[1L]]))
  data <- series_of_subjects(data, windows, run, settings)
  in_window <- function(run, k) {
    rows <- (k - 1) * windows$step + seq_len(windows$width)
    run$data <- lapply(run$data, function(m) m[rows, , drop = FALSE])
    run
  }
  over <- list(n = windows$n, label = numbered("window", windows$n), change = in_window, warns = "once")
  found <- for_each(over, list(data = data, settings = settings), function(run, k) {
    window_of_subjects(run$data, keep, windows$taper, run)
  })
  if (!is.null(run$pairs)) settings$pairs <- check_pairs(run$pairs, data[[1L]], NULL)
  first <- list(x = data[[1L]], windows = windows, taper = taper, method = run$method, settings = settings,
                pairs = count_pairs(data[[1L]], NULL, settings), call = run$call)
  attributes <- window_attributes(first, keep, time)
  attributes[c("adjusted", "n_obs")] <- list(found[[1L]]$adjusted, unique_or_all(vapply(found, `[[`, 0, "n_obs")))
  values <- values_of_windows(lapply(found, `[[`, "value"), keep, colnames(data[[1L]]))
  attributes(values) <- c(attributes(values), attributes)
  values
}

unique_or_all <- function(values) if (length(unique(values)) == 1L) values[1L] else values

# Returns all subjects' series as ordinary matrices, adjusted over all rows.
series_of_subjects <- function(data, windows, run, settings) {
  n <- length(data)
  asked <- settings$asked
  each_subject(n, function(i) {
    if (nrow(data[[i]]) != nrow(data[[1L]])) {
      fail("there are ", n_of(nrow(data[[i]]), "row"), ", and ", nrow(data[[1L]]), " of the first subject; windows ",
           "need the same rows of all")
    }
    settings$asked <- asked_of_subject(asked, i, n)
    own <- list(x = data[[i]], y = NULL, method = run$method, use = run$use)
    own$settings <- designed_input(settings, own["x"], run$method, run$use)
    check_window_runs(own$settings$design$runs, windows)
    plain_series(if (is_adjusted_run(own)) residualized_run(own, "window")$x else own$x)
  })
}

# Returns list(value, n_obs, adjusted) of one window. `slices`: its rows of each subject.
window_of_subjects <- function(slices, keep, weights, run) {
  given <- c(list(slices, method = run$method, use = uses[run$use], weights = weights, options = run$options,
                  control = run$control), run$combination)
  if (keep == "dist") {
    r <- do.call(gpuCor, given, quote = TRUE)
    return(list(value = as.vector(r), n_obs = as.numeric(attr(r, "n_obs")), adjusted = attr(r, "adjusted")))
  }
  given[c(run$criterion$name, "sign")] <- list(run$criterion$value, run$sign)
  given$pairs <- run$pairs
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
