# gpuCorNetwork() and gpuConnectivity() against all coefficients.

random_criterion <- function() {
  switch(sample(5, 1),
    list(threshold = sample(c(0, 0.3, 0.5, 0.9, 1, runif(1)), 1)),
    list(density = sample(c(1, 0.5, 0.1, 0.01, runif(1)), 1)),
    list(k = sample(c(1:4, 20, 1000), 1), mutual = one_in(2)),
    list(p.value = sample(c(1, 0.5, 0.05, 1e-3), 1)),
    list(fdr = sample(c(1, 0.5, 0.2, 0.05), 1))
  )
}

random_sides <- function(method, use) {
  n_obs <- random_size(0)
  most <- if (method == "pearson") 65 else if (use == "pairwise.complete.obs") 10 else 33
  side <- function(least, letter) random_matrix(n_obs, min(random_size(least), most), letter)
  list(x = side(2, "x"), y = side(0, "y"))
}

random_network <- function() {
  method <- sample(all_methods, 1)
  use <- sample(all_uses, 1)
  sides <- random_sides(method, use)
  do.call(new_case, c(list("gpuCorNetwork", sides$x, if (one_in(2)) sides$y), random_criterion(),
                      list(sign = sample(all_signs, 1), use = use, method = method), random_settings()))
}

random_connectivity <- function() {
  method <- sample(all_methods, 1)
  use <- sample(all_uses, 1)
  criterion <- switch(sample(3, 1), list(threshold = runif(1)), list(density = runif(1)), NULL)
  power <- if (is.null(criterion) || one_in(2)) list(power = sample(c(1:12, 0.5, 2.5), sample(3, 1)))
  histogram <- if (one_in(3)) list(histogram = TRUE)
  do.call(new_case, c(list("gpuConnectivity", random_sides(method, use)$x, NULL), criterion, power, histogram,
                      list(type = sample(all_types, 1), sign = sample(all_signs, 1), use = use, method = method),
                      random_settings()))
}

# ---- networks

check_network <- function(case) {
  ours <- run_case(case)
  all <- all_coefficients(case)
  if (!is.null(ours$error) || !is.null(all$error)) return(error_flaws(case, ours$error, all$error))
  if (length(all$wrong)) return(all$wrong)
  again <- run_case(case, threads = 1)$value
  c(if (!identical(parts_of(again), parts_of(ours$value))) "one thread gives another network",
    criterion_flaws(case, ours$value, all$r))
}

parts_of <- function(net) list(net@i, net@p, net@x, net@threshold, net@edges, net@n_obs)

# All coefficients as the network of threshold 0 has them: which of them are edges of another is decided on these.
# wrong: how they differ from those of cor(); error: that of cor().
all_coefficients <- function(case) {
  x <- plain(case$x)
  y <- if (!is.null(case$y)) plain(case$y)
  use <- case$call$use
  method <- case$call$method
  truth <- outcome(pair_cor(x, y, use, method))
  if (!is.null(truth$error)) return(list(error = truth$error))
  truth$value[is.nan(truth$value)] <- NA # of infinite values: no edge
  all <- as.list(case$call)[intersect(names(case$call), c("backend", "threads", "memory"))]
  all <- c(list("gpuCorNetwork", case$x, case$y, threshold = 0, use = use, method = method), all)
  net <- run_case(do.call(new_case, all))$value
  r <- values_of(net)
  wrong <- differences(r, truth$value, tolerance_of(x, y, use, method))
  wrong <- c(network_flaws(net, truth$value, is.null(y)), judged_flaws(wrong, r, truth$value, x, y, use, method, FALSE))
  list(r = r, wrong = wrong)
}

by_p <- function(case) intersect(names(case$call), c("p.value", "fdr"))

# With too few observations p values are an error that cor() does not know.
error_flaws <- function(case, ours, truth) {
  few <- length(by_p(case)) && isTRUE(grepl("^p values need at least 3 observations", ours))
  if (few && counted_observations(case) < 3) return(NULL)
  if (is.null(ours) || is.null(truth)) paste0("the error is ", deparse1(ours), ", that of cor() ", deparse1(truth))
}

counted_observations <- function(case) {
  both <- judged_matrices(case$x, if (is.null(case$y)) case$x else case$y, case$call$use)
  nrow(both[[1]])
}

criterion_flaws <- function(case, net, r) {
  call <- case$call
  criterion <- intersect(names(call), c("threshold", "density", "k", "p.value", "fdr"))
  symmetric <- is.null(case$y)
  p <- if (length(by_p(case))) pair_p_values(case, r)
  # p values are of coefficients, which are off by this much.
  within <- if (is.null(p)) 0 else tolerance[[call$method]]
  truth <- reference_network(r, criterion, call[[criterion]], call$sign, isTRUE(call$mutual), p, within, symmetric)
  border <- if (criterion == "density") reference_density(r, call$density, call$sign, symmetric)
  c(network_differences(net, r, truth$keep, 0, truth$near, symmetric),
    if (!is.null(p)) edge_p_flaws(net, r, p, symmetric),
    if (!is.null(border) && !identical(net@threshold, border)) {
      sprintf("the threshold is %.17g, not %.17g", net@threshold, border)
    })
}

# Two-sided: Student's t of the coefficient, or those of ranks. Not by cor.test() itself, which takes values for ties
# that agree in 15 digits.
pair_p_values <- function(case, r) {
  both <- judged_matrices(case$x, if (is.null(case$y)) case$x else case$y, case$call$use)
  p <- matrix(NA_real_, nrow(r), ncol(r))
  for (i in seq_len(nrow(r))) for (j in which(!is.na(r[i, ]))) {
    common <- !is.na(both[[1]][, i]) & !is.na(both[[2]][, j])
    n <- sum(common)
    if (n < 3) next
    p[i, j] <- if (case$call$method %in% c("kendall", "spearman")) {
      rank_p(both[[1]][common, i], both[[2]][common, j], r[i, j], case$call$method)
    } else {
      t_p(r[i, j], n - 2)
    }
  }
  p
}

t_p <- function(r, df) 2 * stats::pt(-abs(r) * sqrt(df / (1 - r^2)), df)

# Exact up to 14 observations without ties; with ties at least that of the orders that look the same.
rank_p <- function(x, y, r, method) {
  n <- length(x)
  same <- vapply(list(x, y), function(v) prod(factorial(tabulate(match(v, unique(v))))), 0)
  if (n <= 14 && all(same == 1)) {
    counts <- order_counts(n, method)
    steps <- length(counts) - 1
    return(min(1, 2 * sum(counts[seq_len(1 + round((1 - abs(r)) / 2 * steps))]) / factorial(n)))
  }
  p <- if (method == "kendall") 2 * stats::pnorm(-abs(kendall_z(x, y))) else moments_p(r, n)
  if (n <= 14) max(p, min(1, 2 * max(same) / factorial(n))) else p
}

# A symmetric beta distribution with the second and fourth moments of Spearman's rho.
moments_p <- function(r, n) {
  fourth <- 3 * (25 * n^3 - 38 * n^2 - 35 * n + 72) / (25 * n * (n + 1) * (n - 1)^3)
  df <- -6 / (fourth * (n - 1)^2 - 3) - 3
  t_p(r * sqrt((n - 1) / (df + 1)), df)
}

# How many orders of n ranks have each coefficient, the largest first. Spearman: by the sets of ranks that the first
# observations have, sums of products of ranks being the powers of a polynomial.
order_counts <- function(n, method) {
  key <- paste(method, n)
  if (is.null(counted_orders[[key]])) {
    counted_orders[[key]] <- if (method == "kendall") inversions(n) else squares(n)
  }
  counted_orders[[key]]
}
counted_orders <- new.env()

inversions <- function(n) {
  Reduce(function(counts, k) {
    moved <- function(q) c(numeric(q), counts, numeric(k - 1 - q))
    rowSums(vapply(seq_len(k) - 1, moved, numeric(length(counts) + k - 1)))
  }, seq_len(n)[-1], 1)
}

squares <- function(n) {
  least <- n * (n + 1) * (n + 2) / 6 # of sums of products, with ranks in opposite orders
  width <- n * (2 * n + 1) * (n + 1) / 6 + 1
  sets <- vector("list", 2^n)
  sets[[1]] <- c(1, numeric(width - 1))
  for (set in seq_len(2^n) - 1) {
    has <- bitwAnd(set, 2^(seq_len(n) - 1)) > 0
    at <- sum(has) + 1
    for (rank in which(!has)) {
      to <- set + 2^(rank - 1) + 1
      moved <- c(numeric(at * rank), sets[[set + 1]])[seq_len(width)]
      sets[[to]] <- if (is.null(sets[[to]])) moved else sets[[to]] + moved
    }
    if (set < 2^n - 1) sets[set + 1] <- list(NULL)
  }
  rev(sets[[2^n]][-seq_len(least)])
}

kendall_z <- function(x, y) {
  n <- length(x)
  signs <- function(v) outer(v, v, ">") - outer(v, v, "<")
  ties <- function(v) tabulate(match(v, unique(v))) + 0
  t <- ties(x)
  u <- ties(y)
  variance <- (n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5)) - sum(u * (u - 1) * (2 * u + 5))) / 18 +
    sum(t * (t - 1) * (t - 2)) * sum(u * (u - 1) * (u - 2)) / (9 * n * (n - 1) * (n - 2)) +
    sum(t * (t - 1)) * sum(u * (u - 1)) / (2 * n * (n - 1))
  sum(signs(x) * signs(y)) / 2 / sqrt(variance)
}

# ---- connectivities

check_connectivity <- function(case) {
  ours <- run_case(case)
  all <- all_coefficients(case)
  if (!is.null(ours$error) || !is.null(all$error)) return(error_flaws(case, ours$error, all$error))
  if (length(all$wrong)) return(all$wrong)
  con <- ours$value
  again <- run_case(case, threads = 1)$value
  c(if (!identical(con[names(con) != "call"], again[names(again) != "call"])) "one thread gives other sums",
    connectivity_flaws(con, all$r, case$call$sign, case$call$type),
    if (!is.null(con$degree)) degree_flaws(con, all$r, case$call))
}

# Degrees are exact, being decided on the network's own coefficients.
degree_flaws <- function(con, r, call) {
  weight <- weight_of(r, call$sign)
  border <- if (is.null(call$density)) call$threshold else reference_density(r, call$density, call$sign, TRUE)
  c(if (!identical(con$threshold, border)) sprintf("the threshold is %.17g, not %.17g", con$threshold, border),
    if (any(con$degree != rowSums(weight >= border, na.rm = TRUE))) "degrees are not those of the network")
}
