# Many subjects: what a combination of cor() of each of them is.

ways <- c("mean", "fisher", "min", "quantile")

# Fisher's z of a coefficient closer to 1 or -1 than this is taken of this one.
MAX_R <- 1 - 2^-24

z_of <- function(r) atanh(pmin(pmax(r, -MAX_R), MAX_R))

# Subjects of n observations and m variables that have something in common, with ties.
some_subjects <- function(n, m, digits = 1, shared = 0.5) {
  lapply(n, function(n) round(matrix(rnorm(n * m), n) + shared * rnorm(n), digits))
}

# values: coefficients of each subject, subject in the last dimension.
combined <- function(values, how, weights, share = 0.5, na.rm = FALSE) {
  one <- function(r) {
    w <- weights
    if (na.rm) {
      w <- w[!is.na(r)]
      r <- r[!is.na(r)]
      if (!length(r)) return(NA_real_)
    }
    if (anyNA(r)) return(NA_real_)
    switch(how,
      mean = sum(w * r) / sum(w),
      fisher = tanh(sum(w * z_of(r)) / sum(w)),
      min = min(r),
      quantile = quantile(r, share, names = FALSE)
    )
  }
  apply(values, 1:2, one)
}

reference_subjects <- function(x, how, method = "pearson", y = NULL, use = "everything", weights = NULL, share = 0.5,
                               na.rm = FALSE) {
  one <- function(i) suppressWarnings(cor(x[[i]], if (!is.null(y)) y[[i]], use, method))
  values <- vapply(seq_along(x), one, one(1))
  if (is.null(weights)) weights <- if (how == "fisher") vapply(x, nrow, 0) - 3 else rep(1, length(x))
  result <- combined(values, how, weights, share, na.rm)
  if (is.null(y)) diag(result) <- 1
  result
}

# As arguments of a call.
how_to <- function(how, share = 0.3) c(list(combine = how), if (how == "quantile") list(probs = share))

# Scores of threshold-free enhancement of n columns whose pairs have weights: the integral of size^powers[1] h^powers[2]
# from one weight to the next, or, with dh, in steps of dh.
tfce_by_hand <- function(weight, n, powers = c(0.5, 2), dh = NULL) {
  heights <- if (is.null(dh)) sort(unique(weight[weight > 0])) else seq(dh / 2, max(weight, 0), dh)
  power <- powers[2] + 1
  slices <- if (is.null(dh)) diff(c(0, heights)^power) / power else heights^powers[2] * dh
  first <- which(lower.tri(diag(n)), arr.ind = TRUE)[, 1]
  scores <- 0 * weight
  for (k in seq_along(heights)) {
    found <- components_by_hand(weight, n, heights[k], "positive", "size")
    is_in <- weight >= heights[k]
    scores[is_in] <- scores[is_in] + found$size[found$of[first[is_in]]]^powers[1] * slices[k]
  }
  scores
}

# The components of n columns whose pairs have a t of at least `min`, the largest first: list(size: the number of pairs,
# or the sum of t less `min`; columns: their numbers; of: the component of each column, or NA).
components_by_hand <- function(t, n, min, sign, size) {
  weight <- unname(switch(sign, absolute = abs(t), positive = t, negative = -t))
  pairs <- which(lower.tri(diag(n)), arr.ind = TRUE)[weight >= min, , drop = FALSE]
  worth <- if (size == "size") rep(1, nrow(pairs)) else weight[weight >= min] - min
  label <- seq_len(n)
  repeat { # the smallest number in reach
    before <- label
    for (k in seq_len(nrow(pairs))) label[pairs[k, ]] <- min(label[pairs[k, ]])
    if (identical(before, label)) break
  }
  of_pair <- label[pairs[, 1]]
  own <- sort(unique(of_pair))
  sizes <- vapply(own, function(one) sum(worth[of_pair == one]), 0)
  order <- own[order(-sizes, own)]
  list(size = sort(sizes, decreasing = TRUE), columns = tabulate(match(label, order), length(order)),
       of = match(label, order))
}
