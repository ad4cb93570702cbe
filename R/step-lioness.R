# Networks of single samples (LIONESS; Kuijjer and others 2019): n times the coefficients of all samples, less n - 1
# times those of all samples but one. The engine combines them like two subjects.

# Works like check_criterion(); coefficients of a sample are not limited to -1 to 1.
check_lioness_criterion <- function(given) {
  threshold <- given$threshold
  ok <- is_numeric(threshold) && length(threshold) > 0L && all(is.finite(threshold) & threshold >= 0)
  if (!is.null(threshold) && !ok) {
    fail("'threshold' must be numbers of at least 0 with 'lioness', not ", show_value(threshold))
  }
  if (!is.null(threshold)) given$threshold <- 0
  criterion <- check_criterion(given)
  if (!is.null(threshold)) criterion$value <- as.numeric(threshold)
  criterion
}

# Returns the task of sample `lioness`, a number or a name. The engine's coefficients are between -1 and 1, so they are
# divided by a power of two, which is exact.
lioness_task <- function(task, lioness) {
  sample <- check_sample(lioness, nrow(task$x), rownames(task$x))
  others <- resampled_task(task, setdiff(resampled_units(task), sample))
  n <- vapply(list(task, others), FUN.VALUE = 0, function(task) {
    count_observations(task$x, task$y, task$method, task$use, task$settings)$n_obs
  })
  if (n[1L] - n[2L] != 1) {
    fail("'lioness' is ", show_value(lioness), ", a sample that does not count, as it has missing values or a weight ",
         "of 0")
  }
  scale <- 2^ceiling(log2(2 * n[1L] - 1))
  rule <- list(how = "mean", fraction = 0.5, skips = FALSE)
  designs <- list(task$settings$design, others$settings$design)
  if (task$criterion$name == "threshold") task$criterion$value <- task$criterion$value / scale
  task$x <- new_subjects(list(task$x, task$x), rule, c(n[1L], -n[2L]), scale, list(n_obs = n, n = n, common = FALSE),
                         designs)
  task$x$lioness <- list(sample = lioness, scale = scale)
  if (!is.null(task$y)) task$y <- new_subjects(list(task$y, task$y))
  task$settings["design"] <- list(NULL)
  task$settings$in_double <- TRUE # differences of coefficients are multiplied by n
  task
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

# Returns rows with the coefficients of the sample in the place of the engine's values, if these are the task's.
lioness_rows <- function(rows, task) {
  if (!is_lioness(task$x)) return(rows)
  parts <- c("x", "threshold")
  rows[parts] <- lapply(rows[parts], `*`, task$x$lioness$scale)
  rows$n_obs <- task$x$counted$n_obs[1L]
  rows
}
