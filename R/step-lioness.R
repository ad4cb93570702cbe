# Networks of single samples (LIONESS; Kuijjer and others 2019): n times the coefficients of all samples, less n - 1
# times those of all samples but one. The engine combines them like two subjects.

# Returns the run of sample `lioness`, a number or a name. The engine's coefficients are between -1 and 1, so they are
# divided by a power of two, which is exact.
lioness_run <- function(run, lioness) {
  sample <- check_sample(lioness, nrow(run$x), rownames(run$x))
  others <- resampled_run(run, setdiff(resampled_units(run), sample))
  n <- vapply(list(run, others), function(run) count_observations(run)$n_obs, 0)
  if (n[1L] - n[2L] != 1) {
    fail("'lioness' is ", show_value(lioness), ", a sample that does not count, as it has missing values or a weight ",
         "of 0")
  }
  scale <- 2^ceiling(log2(2 * n[1L] - 1))
  rule <- list(how = "mean", fraction = 0.5, skips = FALSE)
  designs <- list(run$settings$design, others$settings$design)
  if (run$criterion$name == "threshold") run$criterion$value <- run$criterion$value / scale
  run$x <- new_subjects(list(run$x, run$x), rule, c(n[1L], -n[2L]), scale, list(n_obs = n, n = n, common = FALSE),
                         designs)
  run$x$lioness <- list(sample = lioness, scale = scale)
  if (!is.null(run$y)) run$y <- new_subjects(list(run$y, run$y))
  run$settings["design"] <- list(NULL)
  run$settings$in_double <- TRUE # differences of coefficients are multiplied by n
  run
}

check_sample <- function(sample, n_obs, names) {
  if (!is.character(sample)) return(check_whole(sample, "lioness", 1, n_obs))
  found <- if (length(sample) == 1L) match(sample, names)
  if (length(found) && !is.na(found)) {
    tell_same_names(names[names %in% sample])
    return(found)
  }
  fail("'lioness' must be the number or the name of a row of 'x', not ", show_value(sample))
}

# Returns rows with the coefficients of the sample in the place of the engine's values, if these are the run's.
lioness_rows <- function(rows, run) {
  if (!is_combined(run$x) || is.null(run$x$lioness)) return(rows)
  parts <- c("x", "threshold")
  rows[parts] <- lapply(rows[parts], `*`, run$x$lioness$scale)
  rows$n_obs <- run$x$counted$n_obs[1L]
  rows
}
