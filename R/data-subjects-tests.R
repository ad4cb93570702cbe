# P values of subjects' combined coefficients, and of groups of subjects.

is_random <- function(x) is_combined(x) && x$effects == "random"

# Returns TRUE if groups of subjects are compared, FALSE if the subjects' coefficients are combined into one value.
are_compared <- function(x) x$n_first < length(x$data) || !is.null(x$model)

# Returns the sign of the coefficients with small p values. Those of t or F of the subjects' z need no distribution of
# the method.
sign_of_tests <- function(run) {
  if (is_random(run$x) && are_compared(run$x)) "absolute" else tested_sign(run$method)
}

# Works like significance_of() for subjects. If subjects are dropped, degrees of freedom differ among pairs.
combined_significance <- function(run) {
  x <- run$x
  facts <- c("p values of subjects", if (sign_of_tests(run) == "positive") "one-sided measure",
             if (!x$name %in% c("fisher", "spread", DIFFERENCE)) "another combination")
  check_facts(facts, list(method = run$method, combine = x$name))
  if (is_random(x)) {
    check_group_sizes(x)
    return(list(n = sum(x$counted$n), one_by_one = TRUE, single = FALSE, quotients = NULL,
                score = function(p) -log(p), p_of_score = function(score) exp(-score),
                distribution = list(df = max_df(x), tested = x$model$tested)))
  }
  list(n = sum(x$counted$n), one_by_one = FALSE, single = TRUE, quotients = NULL,
       distribution = c(list(error = combined_error(x, run$method), groups = several_groups(x)),
                        min_p = min_rank_p(run$method, compared_groups(x))))
}

# Returns the number of groups whose equality is tested by chi-squared, or NULL.
several_groups <- function(x) if (is_combined(x) && x$name == "spread") length(x$data)

# Returns a list of the numbers of observations of each group's subjects; several groups have one matrix each.
compared_groups <- function(x) {
  if (!is.null(several_groups(x))) return(as.list(x$counted$n_obs))
  first <- seq_len(x$n_first)
  Filter(length, list(x = x$counted$n_obs[first], y = x$counted$n_obs[-first]))
}

# ---- random effects: Student's t of each subject's z

# Returns the max degrees of freedom of a pair's t.
max_df <- function(x) {
  n <- length(x$data)
  if (is.null(x$model)) n - (if (x$n_first < n) 2 else 1) else x$model$df
}

# If pairs may miss subjects, returns list(df: of pairs that miss none, tested: number of effects); otherwise NULL.
comparable_to <- function(x) if (x$skips) list(df = max_df(x), tested = max(1, tested_effects(x)))

# Returns the t or F with the degrees of freedom of pairs that miss no subject whose p values are as large, see
# src/sink/groups/permuted_tests.c. `to`: from comparable_to().
comparable_statistics <- function(statistic, df, to) {
  if (is.null(to)) return(statistic)
  square <- if (to$tested > 1) statistic else statistic^2
  shift <- to$tested / 2 - 1
  square <- to$df / to$tested * expm1((df + shift) * log1p(to$tested * square / df) / (to$df + shift))
  ifelse(df < to$df, if (to$tested > 1) square else sign(statistic) * sqrt(square), statistic)
}

check_group_sizes <- function(x) {
  is_enough <- if (is.null(x$model)) !has_single(x) else x$model$df > 0
  if (is_enough) return(invisible())
  fail_value("effects = \"random\" needs at least two subjects",
             if (length(x$data) > x$n_first) if (is.null(x$model)) " in each group" else " in one of the groups",
             ", whose z vary; effects = \"fixed\" takes one")
}

has_single <- function(x) any(c(x$n_first, length(x$data) - x$n_first) == 1)

# Returns the run whose coefficients are t / sqrt(t^2 + df), from Student's t or the root of F.
with_t <- function(run) {
  x <- run$x
  x[c("name", "how")] <- list("t as coefficient", constant("combine t as coefficient"))
  with_values(run, x, run$y)
}

# Columns of tables with tests of groups.
GROUP_COLUMNS <- c("component", "r.x", "r.y", "class", "statistic", "df")

# Tests the entries of rows, or all pairs without rows. Returns difference (the mean z, or the difference of the groups'
# means, or the standard deviation of several effects), statistic (t or F), df and tested, the number of effects.
group_tests <- function(run, rows = NULL) {
  found <- perform(with_mask(run, NULL), "group_tests", rows) # rows determine the tested pairs
  found$statistic <- ifelse(found$difference == 0, 0, found$difference / found$error) # 0 / 0 counts as 0
  found$tested <- tested_effects(run$x)
  if (found$tested > 1) found$statistic <- found$statistic^2
  found
}

# Returns the number of effects that are tested together, by F if it is above 1.
tested_effects <- function(x) max(1, x$model$tested)

# How groups are combined if the difference of a pair is no weighted sum of z.
DIFFERENCE <- "difference as coefficient"

# Returns -log(p), two-sided for t.
t_scores <- function(tests) {
  if (tests$tested > 1) return(-stats::pf(tests$statistic, tests$tested, tests$df, lower.tail = FALSE, log.p = TRUE))
  -log(2) - stats::pt(-abs(tests$statistic), tests$df, log.p = TRUE)
}

# ---- fixed effects: the variance of each subject's z follows from its number of observations

# Returns the min p value of a rank correlation, or NULL for other measures: Fisher's z of n rows counts as no more
# evidence than the exact distribution has, 2 / n!. The smallest group decides. `groups`: each group's n.
min_rank_p <- function(method, groups) {
  if (measure_of(method)$ranked) max(vapply(groups, function(n) 2 * exp(-sum(lfactorial(n))), 0))
}

# Returns the standard error of the weighted mean of z, or stops if it is not the same for all pairs.
combined_error <- function(x, method) {
  variance <- Z_VARIANCES[method]
  check_facts(c("p values by fixed effects", if (is.na(variance)) "measure without variance of z",
                if (has_single(x)) "single subjects", if (x$skips) "na.rm",
                if (x$counted$common) "pairwise-complete observations"), list(method = method))
  few <- which(x$counted$n < 4)
  if (length(few)) {
    fail("p values need at least 4 observations of each subject; ", subject_names(length(x$data), x$n_first)[few[1L]],
         " has ", x$counted$n[few[1L]])
  }
  sqrt(sum(x$weights^2 * variance / (x$counted$n - 3))) / abs(x$total)
}
