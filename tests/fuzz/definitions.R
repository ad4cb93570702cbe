# Weights and covariates, many subjects, windows, some of the pairs, overlap, and the p values of edges, each against
# its definition. A case is a list: a call that has all of its data, and what the check needs beside these.

# Values of which a definition in double loses no digits.
tame_values <- function(n_obs, n_var, spoiled = TRUE) {
  kinds <- sample(c("normal", "ties", "few_levels", "zeros", "whole", "permuted", "sorted"), n_var, TRUE)
  x <- matrix(vapply(kinds, function(kind) value_kinds[[kind]](n_obs), numeric(n_obs)), n_obs, n_var)
  if (spoiled && one_in(4)) x[, sample.int(n_var, 1)] <- 3
  if (spoiled && one_in(3)) x[runif(length(x)) < 0.08] <- NA
  if (one_in(3)) colnames(x) <- sprintf("v%d", seq_len(n_var))
  x
}

tame_size <- function(sizes) sample(sizes, 1)

defined_case <- function(f, arguments, ...) {
  list(call = as.call(c(list(as.name(f)), arguments, random_settings())), ...)
}

# What the call of a case comes to, with other arguments.
run_defined <- function(case, ...) {
  call <- as.list(case$call)
  given <- list(...)
  call[names(given)] <- given
  outcome(suppressMessages(eval(as.call(call), globalenv())))
}

# The flaws of values against a function that returns the true ones; an error is a flaw, too.
defined_flaws <- function(case, compare) {
  ours <- run_defined(case)
  if (!is.null(ours$error)) return(paste("there is an error:", ours$error))
  again <- run_defined(case, threads = 1)$value
  without_call <- function(value) {
    if (isS4(value)) value@call <- quote(f()) else attr(value, "call") <- NULL
    if (is.list(value)) lapply(unclass(value), without_call) else value
  }
  c(if (!identical(without_call(again), without_call(ours$value))) "one thread gives another result",
    compare(ours$value))
}

within_of <- function(precision) if (precision == "double") 1e-10 else 1e-6

off_diagonal_flaws <- function(ours, truth, within) differences(no_diagonal(unname(ours)), no_diagonal(truth), within)

# ---- weights and covariates

random_design <- function() {
  n_obs <- tame_size(c(9, 12, 20, 33, 65))
  x <- tame_values(n_obs, tame_size(2:7))
  use <- sample(c("everything", "pairwise.complete.obs"), 1)
  method <- sample(more_methods, 1)
  z <- if (one_in(2)) matrix(rnorm(n_obs * 2), n_obs)[, seq_len(sample(2, 1)), drop = FALSE]
  if (!is.null(z) && use != "everything" && one_in(4)) z[1, 1] <- NA
  weights <- if (is.null(z) || one_in(2)) switch(sample(2, 1), runif(n_obs), sample(0:3, n_obs, TRUE) + 0)
  if (!is.null(weights)) weights[seq_len(2 * n_obs %/% 3)] <- weights[seq_len(2 * n_obs %/% 3)] + 1
  if (!is.null(weights) && method == "bicor") weights <- (weights >= 1) + 0
  given <- list(x = x, use = use, method = method, precision = sample(c("single", "double"), 1), output = "matrix")
  defined_case("gpuCor", c(given, list(weights = weights, covariates = z)))
}

check_design <- function(case) {
  call <- case$call
  truth <- suppressWarnings(designed_cor(unname(call$x), call$method, call$use, call$weights, call$covariates))
  defined_flaws(case, function(ours) off_diagonal_flaws(ours, truth, within_of(call$precision)))
}

# ---- many subjects

random_subjects <- function() {
  n_var <- tame_size(2:8)
  how <- sample(ways, 1)
  spoiled <- how != "fisher" && one_in(2)
  subjects <- lapply(sample(c(6, 9, 20, 33), sample(2:4, 1), TRUE), function(n) unname(tame_values(n, n_var, spoiled)))
  given <- list(x = subjects, method = sample(setdiff(all_methods, if (how == "fisher") "kendall"), 1),
                output = "matrix", combine = how, precision = sample(c("single", "double"), 1))
  defined_case("gpuCor", c(given, if (how == "quantile") list(probs = sample(c(0, 0.5, 0.3, 1), 1)),
                           if (spoiled) list(na.rm = one_in(2), use = "pairwise.complete.obs")))
}

# Fisher's z multiplies what single precision rounds away, near a coefficient of 1 by a lot.
check_subjects <- function(case) {
  call <- case$call
  use <- if (is.null(call$use)) "everything" else call$use
  truth <- reference_subjects(call$x, call$combine, call$method, use = use, share = call$probs,
                              na.rm = isTRUE(call$na.rm))
  steep <- call$combine == "fisher" && any(vapply(call$x, function(x) {
    any(abs(off_diagonal(suppressWarnings(cor(x, method = call$method)))) > 0.99, na.rm = TRUE)
  }, NA))
  defined_flaws(case, function(ours) {
    off_diagonal_flaws(ours, truth, if (steep) 1e-2 else within_of(call$precision))
  })
}

# ---- windows, each of which has to the last bit what a call for its rows has

random_windows <- function() {
  n_obs <- tame_size(c(8, 13, 33, 70))
  width <- sample(3:n_obs, 1)
  given <- list(x = tame_values(n_obs, tame_size(2:9)), width = width, step = sample(c(1, 2, 5), 1),
                use = sample(c("everything", "na.or.complete", "pairwise.complete.obs"), 1),
                method = sample(all_methods, 1), precision = sample(c("single", "double"), 1))
  keep <- sample(c("dist", "moments", "network", "connectivity"), 1)
  criteria <- switch(keep, network = list(list(threshold = 0.4), list(density = 0.2), list(k = 1)),
                     connectivity = list(list(threshold = 0.4), list(density = 0.2)), list(list()))
  defined_case("gpuCorWindows", c(given, list(output = keep), sample(criteria, 1)[[1]]))
}

# A call for the rows of window k.
of_window <- function(case, windows, k, f) {
  given <- as.list(case$call)[-1]
  given$x <- given$x[windows$start[k]:windows$end[k], , drop = FALSE]
  suppressWarnings(do.call(f, given[setdiff(names(given), c("width", "step", "output"))]))
}

check_windows <- function(case) {
  keep <- case$call$output
  defined_flaws(case, function(ours) {
    windows <- attr(ours, "windows")
    each <- function(f) lapply(seq_len(nrow(windows)), function(k) of_window(case, windows, k, f))
    if (keep == "moments") return(moment_flaws(ours, vapply(each("gpuCor"), as.vector, as.vector(ours$mean))))
    truth <- each(switch(keep, dist = "gpuCor", network = "gpuCorNetwork", connectivity = "gpuConnectivity"))
    same <- vapply(seq_along(truth), function(k) {
      switch(keep,
        dist = identical(as.vector(ours[[k]]), as.vector(truth[[k]])),
        network = identical(parts_of(ours[[k]]), parts_of(truth[[k]])),
        connectivity = identical(unname(ours$degree[, k]), unname(truth[[k]]$degree)) &&
          isTRUE(all.equal(unname(ours$strength[, k]), unname(truth[[k]]$strength), tolerance = 1e-12)) &&
          identical(ours$threshold[k], truth[[k]]$threshold)
      )
    }, NA)
    if (!all(same)) paste("window", which(!same)[1], "differs from a call for its rows")
  })
}

# r: a row for each pair, a column for each window. A pair that misses a window counts those that it has.
moment_flaws <- function(ours, r) {
  r <- matrix(r, length(ours$mean))
  by_pair <- function(f) apply(r, 1, function(v) if (all(is.na(v))) NA_real_ else f(v[!is.na(v)]))
  flaws <- function(name, f, within) {
    wrong <- differences(as.vector(unclass(ours[[name]])), as.vector(by_pair(f)), within)
    if (length(wrong)) paste(name, wrong)
  }
  c(flaws("mean", mean, 1e-12), flaws("min", min, 0), flaws("max", max, 0),
    flaws("sd", stats::sd, 1e-6))
}

# ---- networks and sums of some of the pairs

random_masked <- function() {
  n_var <- tame_size(c(2:9, 33, 65))
  labels <- sample(c("a", "b", "c", NA), n_var, TRUE)
  kind <- sample(c("within", "between"), 1)
  given <- list(x = tame_values(tame_size(c(6, 12, 33)), n_var), use = "pairwise.complete.obs",
                method = sample(all_methods, 1),
                pairs = if (kind == "within") pairMask(labels, same = TRUE) else pairMask(labels, different = TRUE))
  f <- sample(c("gpuCorNetwork", "gpuConnectivity"), 1)
  criterion <- sample(list(list(threshold = 0.3), list(density = 0.3), list(density = 1), list(k = 2)),
                      1, prob = c(1, 1, 1, f == "gpuCorNetwork"))[[1]]
  same <- outer(labels, labels, if (kind == "within") "==" else "!=")
  defined_case(f, c(given, list(sign = sample(all_signs, 1)), criterion), mask = !is.na(same) & same)
}

check_masked <- function(case) {
  call <- as.list(case$call)
  all <- c(list(quote(gpuCorNetwork), threshold = 0), call[c("x", "use", "method", "backend")])
  r <- no_diagonal(values_of(suppressWarnings(eval(as.call(all)))))
  r[!case$mask] <- NA
  weight <- weight_of(r, call$sign)
  ranked <- sort(weight[upper.tri(weight) & weight >= 0], decreasing = TRUE)
  border <- call$threshold
  if (!is.null(call$density)) {
    k <- ceiling(call$density * sum(case$mask & upper.tri(case$mask)))
    border <- if (k == 0) Inf else if (k > length(ranked)) 0 else ranked[k]
  }
  keep <- if (is.null(border)) {
    reference_network(r, "k", call$k, call$sign)$keep
  } else {
    !is.na(weight) & weight >= border
  }
  defined_flaws(case, function(ours) {
    if (!isS4(ours)) {
      other <- !identical(unname(ours$degree), unname(rowSums(keep)))
      return(if (other) "degrees are not those of the pairs that count")
    }
    c(if (!identical(unname(edge_places(ours)), unname(keep))) "edges are not those of the pairs that count",
      if (!identical(ours@pairs, sum(case$mask & upper.tri(case$mask)) + 0)) "the number of pairs is another")
  })
}

# ---- topological overlap

random_overlap <- function() {
  given <- list(x = matrix(rnorm(20 * tame_size(c(2:9, 33, 65))), 20), power = sample(c(1, 2, 6, 2.5), 1),
                type = sample(all_types, 1), TOMType = sample(c("unsigned", "signed"), 1),
                TOMDenom = sample(c("min", "mean"), 1), method = sample(all_methods, 1))
  kept <- switch(sample(2, 1), list(output = "matrix"), list(output = "network", threshold = 0.05))
  defined_case("gpuTOM", c(given, kept))
}

check_overlap <- function(case) {
  call <- case$call
  r <- cor(call$x, method = call$method)
  is_signed <- call$TOMType == "signed" && call$type == "unsigned"
  similarity <- if (is_signed) abs(r) else similarity_of(r, call$type)
  a <- no_diagonal(similarity^call$power * if (is_signed) sign(r) else 1)
  diag(a) <- 0
  degree <- colSums(abs(a))
  share <- if (call$TOMDenom == "min") outer(degree, degree, pmin) else outer(degree, degree, `+`) / 2
  truth <- (a + a %*% a) / (share - abs(a) + 1)
  if (call$TOMType == "signed") truth <- abs(truth)
  defined_flaws(case, function(ours) {
    if (!isS4(ours)) return(off_diagonal_flaws(ours, truth, 1e-6))
    diag(truth) <- 0
    network_differences(ours, truth, abs(truth) >= 0.05, 1e-6, abs(abs(truth) - 0.05) < 1e-6, TRUE)
  })
}

# ---- p values of edges

# r: all coefficients of a case of a network by p values; p: their p values.
edge_p_flaws <- function(net, r, p, symmetric) {
  edges <- as.data.frame(`dimnames<-`(net, list(NULL, NULL)))
  at <- cbind(edges$from, edges$to)
  unlike <- function(ours, truth) !isTRUE(all.equal(ours, truth[at], tolerance = 1e-7))
  c(if (unlike(edges$p.value, p)) "p values are not those of the edges",
    if (net@criterion == "fdr" && unlike(edges$fdr, adjusted_p(p, r, symmetric))) "adjusted p values are off")
}
