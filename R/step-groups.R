# Differences of groups of subjects: tests of all pairs and of edges, each group's own coefficients, components.

# Returns two runs, which divide the progress bar: permutations come first, and p values and rates take three times as
# long as the differences. Each permutation of rows takes as long as the differences; permutations of labels share one
# run.
compare_work <- function(run, n_perm) {
  one_run <- permutes_labels(run)
  permuting <- if (one_run && n_perm > 0) 1 + n_perm / 25 else n_perm
  units <- 4 + permuting
  what <- if (one_run) n_of(n_perm, "permutation") else "permutation"
  list(permutations = part_of(run, 0, permuting / units, what, if (!one_run) n_perm),
       coefficients = part_of(run, permuting / units, 4 / units, "differences"))
}

# `scores`: those of all pairs, whose maxima permutations have; NULL: `maxima` are of the statistic.
compare_all <- function(run, error, maxima, scores = NULL) {
  own_missing <- function(values) { # pairs of seeds with themselves, in a matrix of columns x seeds
    seeds <- run$over$seeds
    if (length(seeds)) replace(values, (seq_along(seeds) - 1) * ncol(run$x) + seeds, NA) else values
  }
  coefficients <- part_of(run, 0, 0.25)
  tests <- part_of(run, 0.25, 0.25)$place
  if (is_random(run$x)) {
    found <- group_tests(coefficients)
    warn_without(found, run)
    doing(tests, "p values")
    found <- c(found[c("difference", "statistic", "df")], list(p.value = exp(-t_scores(found))))
  } else {
    layout <- if (is.null(run$y)) "row" else "rectangle"
    difference <- atanh(as.vector(values_of_pairs(coefficients, layout)))
    doing(tests, "p values")
    min_p <- min_rank_p(run$method, compared_groups(run$x))
    found <- c(list(difference = difference), z_tests(difference / error, several_groups(run$x), min_p))
    if (is.null(several_groups(run$x)) && is.null(run$criterion$classes)) {
      of <- function(at) repeated(as.vector(values_of_pairs(of_group(run, at), layout)))
      first <- seq_len(run$x$n_first)
      found <- c(found, list(r.x = of(first), r.y = -of(seq_along(run$x$data)[-first]))) # weights of y are negative
    }
  }
  found <- lapply(found, own_missing)
  warn_perfect(found$difference, run)
  shape <- if (is.null(run$y)) plain_dist_attributes(run)
  own <- c(p.value = NA, fdr = NA, p.adjusted = NA, score = NA, r.x = 1, r.y = 1)
  shaped <- function(values, name) {
    if (is.null(shape)) return(matrix(values, ncol(run$x), dimnames = list(colnames(run$x), colnames(run$y))))
    attributes(values) <- c(shape, if (name %in% names(own)) list(diagonal = rep(own[[name]], shape$Size)))
    values
  }
  doing(part_of(run, 0.5, 0.5)$place, "false discovery rates")
  found$fdr <- false_discovery_rates(found$p.value, threads = run$place$threads)
  if (!is.null(scores)) { # logarithms, as scores of any size are the same except for rounding
    found$score <- scores
    found$p.adjusted <- adjusted_by_maxima(log(maxima), found$p.value, log(scores), "positive", run$place$threads)
  } else if (!is.null(maxima)) {
    values <- permuted_values(found, is_random(run$x), attr(maxima, "to"))
    found$p.adjusted <- adjusted_by_maxima(maxima, found$p.value, values, run$criterion$sign, run$place$threads)
  }
  of_groups <- if (!is.null(run$criterion$classes)) lapply(group_classes(run), own_missing)
  pairs <- c(found, of_groups[c("r.x", "r.y")])
  structure(
    c(Map(shaped, pairs, names(pairs)), of_groups["class"],
      if (!is.null(several_groups(run$x))) list(df = several_groups(run$x) - 1),
      if (tested_effects(run$x) > 1) list(tested = tested_effects(run$x)),
      list(error = error,
           n = if (is.null(several_groups(run$x))) compared_groups(run$x) else list(x = run$x$counted$n_obs),
           compared = what_is_compared(run$x), method = run$method, use = uses[run$use])),
    class = c("gpuCorCompare", "gpuTests", "gpuCorResult"), adjusted = adjustment_of(run), call = run$call
  )
}

# ---- gain and loss: each group's own coefficients

# Returns list(r.x, r.y, class) of the entries of rows, or of all pairs without rows: each group's coefficient, tanh of
# its mean z, and for both groups its sign, or 0 if its p value is above the level.
group_classes <- function(run, rows = NULL) {
  first <- seq_along(run$x$data) <= run$x$n_first
  found <- lapply(list(x = first, y = !first), function(is_in) group_test(run, which(is_in), rows))
  signs <- lapply(found, function(group) {
    c("-", "0", "+")[2L + ifelse(group$p.value <= run$criterion$classes, sign(group$z), 0)]
  })
  class <- ifelse(is.na(signs$x) | is.na(signs$y), NA, paste(signs$x, signs$y, sep = "/"))
  list(r.x = tanh(found$x$z), r.y = tanh(found$y$z), class = class)
}

# Returns the mean z of the subjects `at`, and its p value. A single matrix is given twice, as t needs two subjects; its
# p value is that of Fisher's z.
group_test <- function(run, at, rows) {
  x <- run$x
  n <- x$counted$n[at]
  min_p <- min_rank_p(run$method, list(x$counted$n_obs[at]))
  tests <- one_group_tests(run, if (length(at) == 1L) c(at, at) else at, rows)
  z <- tests$difference
  list(z = z, p.value = if (is_random(x)) {
    exp(-t_scores(tests))
  } else {
    two_sided(z * sqrt((n - 3) / Z_VARIANCES[[run$method]]), min_p = min_p)
  })
}

# Returns the run of the subjects `at`.
of_group <- function(run, at) {
  x <- run$x
  x[c("data", "designs", "weights")] <- list(x$data[at], x$designs[at], x$weights[at])
  x[c("n_first", "model")] <- list(length(at), NULL)
  y <- run$y
  if (!is.null(y)) y$data <- y$data[at]
  part_of(with_values(run, x, y), 1, 0, "coefficients of the groups")
}

one_group_tests <- function(run, at, rows = NULL) group_tests(of_group(run, at), rows)

# ---- what is told

# Warns of pairs with a coefficient of 1 or -1, which counts as 1 - 2^-24, with z = 8.66. The subjects' coefficients are
# not stored. A pair is therefore recognized by its difference: more than half of the difference that this z would make
# in all subjects whose weights have one sign. With several groups it is more than half of what this z would make in one
# group, and the groups' own z are checked, too.
warn_perfect <- function(difference, run, rows = NULL) {
  x <- run$x
  infinite <- atanh(1 - 2^-24)
  is_several <- !is.null(several_groups(x))
  weights <- x$weights / if (is_several) sum(x$weights) else 1
  whole <- if (is_several) min(sqrt(weights * (1 - weights))) else max(sum(pmax(weights, 0)), sum(pmax(-weights, 0)))
  revealed <- abs(difference) > infinite * whole / 2
  if (is_several && any(revealed, na.rm = TRUE)) {
    is_infinite <- FALSE
    for (i in seq_along(x$data)) is_infinite <- is_infinite | abs(group_test(run, i, rows)$z) > infinite - 0.5
    revealed <- revealed & is_infinite
  }
  n <- sum(revealed, na.rm = TRUE)
  if (n == 0) return(invisible())
  one <- what_is_compared(x) %in% c("groups", "pairs")
  warn("gpuCorPerfect", n_of(n, "pair"), if (n == 1) " has" else " have", " a coefficient of 1 or -1, or nearly, in ",
       if (one) "one group" else if (is_several) "a group" else "many subjects",
       ", whose z is infinite and counts as 8.66; look for equal columns and for few observations")
}

# The ratio of standard deviations above which permuted labels have a family-wise error of about 0.1, and the columns
# whose pairs tell it, by the simulations of ?"gpucor-p-values".
MAX_SPREAD <- 1.25
SPREAD_COLUMNS <- 50

# Warns if labels are not exchangeable, as z varies more among the subjects of the smallest group. Pairs of few columns
# can differ by chance; columns have about as many degrees of freedom as independent pairs.
warn_unequal_spread <- function(run) {
  x <- run$x
  if (!is_random(x)) return(invisible())
  group <- if (is.null(x$model)) 1L + (seq_along(x$data) > x$n_first) else x$model$alike
  sizes <- tabulate(group)
  if (min(sizes) == max(sizes) || min(sizes) < 2) return(invisible())
  ends <- c(which.min(sizes), which.max(sizes))
  run <- with_values(run, pick_columns(x, spread_over(ncol(x), min(ncol(x), SPREAD_COLUMNS))))
  variances <- vapply(ends, FUN.VALUE = 0, function(end) {
    tests <- one_group_tests(run, which(group == end))
    mean(tests$error^2 * (tests$df + 1), trim = 0.1, na.rm = TRUE) # without infinite z
  })
  df <- (sizes[ends] - 1) * (ncol(run$x) - 1)
  spread <- sqrt(variances[1L] / variances[2L])
  if (!isTRUE(spread > max(MAX_SPREAD, sqrt(stats::qf(0.95, df[1L], df[2L]))))) return(invisible())
  warn("gpuCorUnequalSpread", "z varies ", format(spread, digits = 2L), " times as much among the ", sizes[ends[1L]],
       " subjects of the smallest group as among the ", sizes[ends[2L]], " of the largest one",
       ", and 'n_perm' takes them to vary alike, so that its p values are too small (?\"gpucor-p-values\")",
       if (identical(x$model$compared, "groups")) "; those of variance = \"unequal\" are less so")
}

# Returns "groups", "several" (groups), "pairs", "mean", "contrast" or "effects" (several contrasts).
what_is_compared <- function(x) {
  if (!is.null(several_groups(x))) return("several")
  if (is.null(x$model)) "groups" else x$model$compared
}

# ---- permutations: of the subjects' labels, or of the rows of matrices

# Returns the max of each permutation, see permuted_values(). Differences are scaled to the data's standard error.
permuted_differences <- function(run, n_perm, error) {
  if (length(run$over$seeds)) { # without the pairs of seeds with themselves
    run <- with_pairs(run, pairMask(seq_len(ncol(run$x)), run$over$seeds, different = TRUE))
  }
  is_t <- is_random(run$x)
  if (permutes_labels(run)) {
    made <- label_weights(run, seq_len(n_perm))
    maxima <- pmin(perform(run, "label_maxima", constant(run$criterion$sign), made$weights, is_t, NULL)$maxima, MAX_T)
    if (is_t) return(structure(maxima, to = comparable_to(run$x)))
    found <- list(maxima = maxima, errors = made$errors)
  } else {
    made <- permuted_rows(run)
    found <- list(maxima = made$perform(seq_len(n_perm), NULL)$maxima, errors = made$error)
  }
  tanh(atanh(pmax(found$maxima, 0)) * error / found$errors)
}

# Returns rates_of() bins: of tanh of the difference, scaled as in permuted_differences(), or of t / sqrt(t^2 +
# max_df()).
permuted_rates <- function(run, n_perm, error) {
  check_enough(n_perm, run$criterion)
  numbers <- seq_len(n_perm)
  bins_of <- function(found) weight_bins(c(found["counts"], error = 0), run$criterion$sign)
  if (permutes_labels(run)) {
    count_labels <- function(run, numbers) {
      is_t <- is_random(run$x)
      made <- label_weights(run, numbers)
      if (!is_t) made$weights <- made$weights * rep(error / made$errors, each = nrow(made$weights))
      bins_of(perform(run, "label_maxima", constant(run$criterion$sign), made$weights, is_t, max_df(run$x)))
    }
    scale <- 1
    min <- 0
    data <- count_labels(part_of(run, 0, 1 / (1 + n_perm)), 0)
    permuted <- count_labels(run, numbers)
  } else {
    made <- permuted_rows(run)
    scale <- error / made$error
    count_rows <- function(numbers, min) bins_of(made$perform(numbers, tanh(atanh(min) / scale)))
    # no cut below `min` is tried, even if it has all pairs
    fdr <- run$criterion$value
    sign <- run$criterion$sign
    p <- max(FDR_MARGIN * fdr, 1 / (n_perm * run$pairs)) * (if (sign == "absolute") 1 else 2)
    min <- tanh(min_z(min(1, p), several_groups(run$x)) * error)
    data <- count_rows(0, min)
    min <- max(min, least_cut(data, sign, run$pairs, n_perm, fdr, error, several_groups(run$x)))
    permuted <- count_rows(numbers, min)
  }
  rates_of(data, permuted, n_perm, min, scale)
}

# Returns list(weights, a column for each permutation, of which 0 are the data as they are; errors: with fixed effects,
# the standard errors of their differences). Those of a model are of permutations of its residuals (Freedman and Lane
# 1983), or of their signs: the terms' rows change their places. Otherwise subjects are permuted among the groups, which
# keep their sizes; the data are unchanged.
label_weights <- function(run, numbers) {
  x <- run$x
  units <- run$over$units
  terms <- x$model$terms
  if (!is.null(terms)) {
    return(list(weights = vapply(numbers, FUN.VALUE = as.vector(terms), function(b) {
      if (b == 0) return(as.vector(terms))
      at <- exchange(units, nrow(terms), x$model$flips)
      as.vector(terms[abs(at), ] * sign(at))
    })))
  }
  is_x <- seq_along(x$data) <= x$n_first
  check_exchange(is_x, units)
  are_x <- vapply(numbers, FUN.VALUE = is_x, function(b) if (b == 0) is_x else is_x[exchange(units, length(is_x))])
  if (is_random(x)) return(list(weights = are_x + 0))
  own <- x$counted$n - 3
  weights <- apply(are_x, 2L, difference_weights, weights = own)
  list(weights = weights, errors = sqrt(colSums(weights^2 / own) * Z_VARIANCES[run$method]))
}

# Permutes residuals of the rows of all groups (Freedman and Lane 1983), see robust_residuals(): each group is regressed
# on its own covariates, the rows are permuted across the groups, and regressed again on the covariates, which are not
# permuted. Returns list(perform: a function of the permutations' numbers, of which 0 are the data as they are, and the
# min that is counted, or NULL; error: the standard error).
permuted_rows <- function(run) {
  x <- run$x
  compared <- lapply(seq_along(x$data), function(i) {
    compared_data(c(x$data[i], run$y$data[i]), run$method, run$use, x$designs[[i]], permuted = TRUE)
  })
  x$data <- lapply(compared, function(group) group$data[[1L]]) # the engine reads `all`; these say how many rows
  all <- do.call(rbind, on_one_scale(x$data))
  y <- run$y
  if (!is.null(y)) y$data <- lapply(compared, function(group) group$data[[2L]])
  seeds <- if (!is.null(y)) do.call(rbind, on_one_scale(y$data))
  if (anyNA(all) || anyNA(seeds)) {
    fail("'n_perm' permutes observations that all pairs have; ",
         "with missing values use = \"complete.obs\" leaves these")
  }
  if (!is.null(x$designs)) x$designs <- lapply(compared, `[[`, "design")
  own <- with_values(run, x, y, method = compared[[1L]]$method)
  side <- constant(run$criterion$sign)
  in_order <- seq_len(nrow(all))
  permute <- function(numbers, min) {
    orders <- vapply(numbers, FUN.VALUE = in_order, function(b) (if (b == 0) in_order else sample(in_order)) - 1L)
    perform(own, "row_maxima", side, all, seeds, orders, min)
  }
  list(perform = permute, error = combined_error(x, run$method))
}

# Scales all groups' columns to median 0 and median absolute deviation 1; a column with deviation 0 in a group is scaled
# by the root mean square of all. A group's standard deviation depends on the largest of few values; with these
# scales, the tails of permuted rows are as heavy as those of the data.
on_one_scale <- function(groups) {
  groups <- lapply(groups, function(m) m - rep(column_medians(m), each = nrow(m)))
  spreads <- lapply(groups, function(m) column_medians(abs(m)))
  narrow <- which(Reduce(pmin, spreads) <= 0)
  pooled <- sqrt(colMeans(do.call(rbind, groups)[, narrow, drop = FALSE]^2))
  Map(groups, spreads, f = function(m, spread) {
    spread[narrow] <- ifelse(pooled > 0, pooled, 1)
    m / rep(spread, each = nrow(m))
  })
}
