# Coefficients of complete columns, and what is made of them, by definition.

# What regression over all rows leaves of the columns of m, for the arguments `a` of a call: list(m; w: weights; method
# of what is left; rank of the regressors); NULL for methods without a definition here.
left_of <- function(m, a) {
  method <- if (is.null(a$method)) "pearson" else a$method
  if (!method %in% c("pearson", "kendall", "spearman", "bicor", "cosine")) return(NULL)
  w <- if (is.null(a$weights)) rep(1, nrow(m)) else as.numeric(a$weights)
  left <- list(m = m, w = w, method = method, rank = as.numeric(method != "cosine"))
  if (!any(c("covariates", "bandpass", "runs", "covariance") %in% names(a))) return(left)
  ranked <- function(v) if (method == "spearman" && !is.null(v)) weighted_midrank(v, w) else v
  run <- if (is.null(a$runs)) rep(1, nrow(m)) else a$runs
  z <- do.call(cbind, lapply(unique(run), function(one) {
    n <- sum(run == one)
    hz <- seq_len(n - 1) / (2 * n * a$tr)
    cosines <- cos(pi * outer(seq_len(n) - 0.5, seq_len(n - 1)) / n)[, hz < a$bandpass[1] | hz > a$bandpass[2]]
    own <- cbind(matrix(1, n, method != "cosine"), ranked(a$covariates)[run == one], if (!is.null(a$bandpass)) cosines)
    z <- matrix(0, nrow(m), ncol(own))
    z[run == one, ] <- own
    z
  }))
  if (method == "spearman") m <- apply(m, 2, ranked)
  rows <- w > 0
  v <- a$covariance[rows, rows]
  root <- if (is.null(v)) diag(sqrt(w[rows])) else backsolve(chol(v), diag(nrow(v)), transpose = TRUE)
  both <- qr(root %*% cbind(z, a$protect)[rows, ])
  b <- qr.coef(both, root %*% m[rows, ])[seq_len(ncol(z)), , drop = FALSE]
  b[is.na(b)] <- 0
  left$m[rows, ] <- m[rows, ] - z[rows, ] %*% b
  left$rank <- both$rank
  if (method == "spearman") left$method <- "pearson"
  if (is.null(v)) return(left)
  list(m = root %*% left$m[rows, ], w = rep(1, sum(rows)), method = "cosine", rank = both$rank)
}

# Coefficients of these columns.
weighted_cor <- function(m, w, method) {
  m <- m[w > 0, , drop = FALSE]
  w <- w[w > 0]
  if (method == "kendall") return(cor(m, method = method))
  if (method == "spearman") m <- apply(m, 2, weighted_midrank, w)
  if (method != "cosine") m <- sweep(m, 2, colSums(w * m) / sum(w))
  if (method == "bicor") m <- apply(m, 2, biweight)
  products <- crossprod(sqrt(w) * m)
  products / sqrt(outer(diag(products), diag(products)))
}

# Coefficients of the pairs of x, or of x and y, by definition, or by gpuCor() where there is none; NA outside the pair
# mask. `rows`, `taper`: those of a window, and their weights.
defined_cor <- function(x, y, a, rows = seq_len(nrow(x)), taper = 1) {
  left <- left_of(cbind(x, y), a)
  r <- if (is.null(left)) {
    taken <- c("method", "use", "options", "groups", "weights", "covariates", "protect", "bandpass", "tr", "runs")
    own <- a[intersect(names(a), taken)]
    if (!is.null(own$weights)) own$weights <- own$weights[rows]
    unname(do.call(gpuCor, c(list(x[rows, ], y[rows, ], output = "matrix", backend = "cpu"), own)))
  } else {
    if (is.null(a$covariance)) left[c("m", "w")] <- list(left$m[rows, ], taper * left$w[rows])
    unname(weighted_cor(left$m, left$w, left$method))
  }
  if (isTRUE(a$partial)) {
    r <- -cov2cor(solve((1 - a$shrinkage) * r + diag(a$shrinkage, ncol(r))))
    r <- (r + t(r)) / 2
  }
  if (is.null(y)) r <- no_diagonal(r) else if (!is.null(left)) r <- r[seq_len(ncol(x)), -seq_len(ncol(x))]
  labels <- a$pairs[if (is.null(y)) c("x", "x") else c("x", "y")]
  if (!is.null(a$pairs)) r[!outer(labels[[1]]$label, labels[[2]]$label, `==`)] <- NA
  r
}

# The coefficients of rows t of x and rows t + lag of y, or x: of lags 0, 1 and -1 those of the first largest weight.
lagged_cor <- function(x, y, a) {
  left <- left_of(cbind(x, y), a)
  if (is.null(left)) left <- list(m = cbind(x, y), method = a$method)
  w <- if (is.null(a$weights)) rep(1, nrow(x)) else a$weights
  run <- if (is.null(a$runs)) 0 * w else a$runs
  columns <- seq_len(ncol(x))
  if (is.null(y) && !is.null(a$pairs)) a$pairs$y <- a$pairs$x
  each <- lapply(c(0, 1, -1), function(lag) {
    t <- intersect(seq_along(w), seq_along(w) - lag)
    t <- t[w[t] > 0 & w[t + lag] > 0 & run[t] == run[t + lag]]
    others <- left$m[t + lag, if (is.null(y)) columns else -columns]
    r <- defined_cor(left$m[t, columns], others, c(left["method"], a["pairs"]))
    if (is.null(y)) no_diagonal(r) else r
  })
  weight <- if (left$method == "distance") identity else abs
  largest <- Reduce(function(best, r) ifelse(weight(r) > weight(best), r, best), each)
  if (is.null(y)) largest[lower.tri(largest)] <- t(largest)[lower.tri(largest)]
  largest
}

# The coefficients of the network of one sample.
lioness_cor <- function(x, y, a) {
  w <- if (is.null(a$weights)) rep(1, nrow(x)) else a$weights
  others <- replace(a, "weights", list(replace(w, a$lioness, 0)))
  sum(w) * defined_cor(x, y, a) - (sum(w) - 1) * defined_cor(x, y, others)
}

# The combination of all subjects' coefficients.
combined_cor <- function(each, a) {
  if (identical(a$combine, "fraction")) return(Reduce(`+`, lapply(each, `>`, a$above)) / length(each))
  combined(simplify2array(each), if (is.null(a$combine)) "mean" else a$combine,
           if (is.null(a$subject_weights)) rep(1, length(each)) else a$subject_weights,
           if (is.null(a$probs)) 0.5 else a$probs)
}

# TRUE for the pairs that are edges by the criterion of the arguments `a`, whose k-th value counts; NULL if that is of p
# values, and `p` is NULL.
defined_edges <- function(r, a, k = 1L, p = NULL) {
  symmetric <- isSymmetric(r)
  criterion <- intersect(c("threshold", "density", "k", if (!is.null(p)) c("p.value", "fdr")), names(a))
  if (!length(criterion)) return(NULL)
  value <- a[[criterion]][k]
  if (criterion == "density") value <- value * sum(!is.na(r)) / (length(r) - if (symmetric) nrow(r) else 0)
  sign <- if (any(a$method %in% c("distance", "rv"))) "positive" else if (is.null(a$sign)) "absolute" else a$sign
  reference_network(r, criterion, value, sign, isTRUE(a$mutual), p, symmetric = symmetric)$keep
}

# list(the values of the edges of a network, or of several; those by definition). If definitions do not say which these
# are, they are those of the network. `by`: the values by which edges are chosen; `p`: NULL, or p values.
both_edges <- function(networks, r, a, by = r, p = NULL) {
  got <- lapply(if (is.list(networks)) networks else list(networks), values_of)
  want <- lapply(seq_along(got), function(k) {
    is_edge <- defined_edges(by, a, k, p)
    replace(r, if (is.null(is_edge)) is.na(got[[k]]) else !is_edge, NA)
  })
  list(unlist(got), unlist(want))
}

# The eigenvector centrality of all pairs, or of edges.
leading_vector <- function(r, is_edge) {
  weight <- if (is.null(is_edge)) r + 1 else abs(r) * is_edge
  if (nrow(weight) != ncol(weight)) return(NULL)
  vector <- abs(eigen(replace(weight, is.na(weight), 0), symmetric = TRUE)$vectors[, 1])
  vector / max(vector)
}

# P values of coefficients by Student's t, or of subjects' z; NULL where its degrees of freedom are not known here.
defined_p <- function(r, x, y, a) {
  if (!is.null(a$adjust)) return(NULL)
  if (is.list(x)) {
    t <- defined_differences(x, NULL, a)$t
    return(if (!is.null(t)) 2 * pt(-abs(t), length(x) - 1))
  }
  left <- left_of(cbind(x, y), a)
  if (is.null(left)) return(NULL)
  is_known <- any(left$method %in% c("pearson", "cosine")) && !any(c("protect", "partial") %in% names(a))
  if (!is_known || identical(a$df, "bartlett")) return(NULL)
  kind <- if (is.null(a$weights_are)) "importance" else a$weights_are
  n <- switch(kind, frequency = sum(left$w), precision = sum(left$w > 0), sum(left$w)^2 / sum(left$w^2))
  df <- if (is.null(a$df)) n - left$rank - 1 else a$df
  t <- r * sqrt(df / (1 - r^2))
  if (is.null(a$alternative)) 2 * pt(-abs(t), df) else pt(t, df)
}

# Of groups of matrices x and y, list(difference, t) of the z of all pairs; t is NULL for matrices, and z of others.
defined_differences <- function(x, y, a) {
  of_rows <- !is.list(x)
  all <- c(if (of_rows) list(x) else x, if (of_rows) list(y) else y)
  z <- vapply(all, function(m) atanh(defined_cor(m, NULL, a)), diag(ncol(all[[1]])))
  if (isTRUE(a$paired)) {
    z <- z[, , seq_along(x)] - z[, , -seq_along(x)]
    all <- x
  }
  first <- seq_along(all) <= if (of_rows) 1 else length(x)
  size <- dim(z)[1:2]
  z <- matrix(z, prod(size))
  if (of_rows) return(list(difference = matrix(z[, 1] - z[, 2], size[1])))
  if (identical(a$effects, "fixed") && all(first)) {
    return(list(difference = matrix(apply(z, 1, sd) * sqrt(1 - 1 / ncol(z)), size[1])))
  }
  model <- if (!is.null(a$design)) a$design else if (all(first)) cbind(1 * first) else cbind(1, first)
  contrast <- if (is.null(a$contrast)) c(numeric(ncol(model) - 1), 1) else a$contrast
  b <- solve(crossprod(model), crossprod(model, t(z)))
  unit <- drop(contrast %*% solve(crossprod(model)) %*% contrast)
  error <- sqrt(unit * colSums((t(z) - model %*% b)^2) / (ncol(z) - ncol(model)))
  difference <- colSums(contrast * b)
  list(difference = matrix(difference, size[1]),
       t = if (!identical(a$effects, "fixed")) matrix(difference / error, size[1]))
}

# The overlap of the pairs of x, or the combination of those of several data sets.
defined_overlap <- function(x, a) {
  if (!is.list(x)) {
    type <- if (is.null(a$TOMType)) "signed" else a$TOMType
    return(no_diagonal(overlap_of(adjacency_of(defined_cor(x, NULL, a), a$power, TOMType = type), type)))
  }
  each <- lapply(x, defined_overlap, a)
  high <- vapply(each, function(overlap) quantile(overlap, 0.95, na.rm = TRUE, type = 8), 0)
  if (!is.null(a$calibration)) each <- Map(`^`, each, log(high[1]) / log(high))
  combined_cor(each, a)
}

# The context likelihoods of coefficients. A column and another of its name are a pair, but in no background.
clr_by_hand <- function(r, names_x = seq_len(nrow(r)), names_y = names_x) {
  information <- -log1p(-r^2) / 2
  if (identical(names_x, names_y)) diag(information) <- NA
  background <- replace(information, outer(names_x, names_y, "=="), NA)
  above <- function(side) { # how far, in standard deviations
    means <- apply(background, side, mean, na.rm = TRUE)
    pmax(sweep(sweep(information, side, means), side, apply(background, side, sd, na.rm = TRUE), "/"), 0)
  }
  sqrt(above(1)^2 + above(2)^2)
}

# The adjacencies that TOMType asks for, of a matrix of coefficients; those that are missing are 0.
adjacency_of <- function(r, power = 6, type = "unsigned", TOMType = "unsigned") {
  signed <- TOMType == "signed" && type == "unsigned"
  a <- if (signed) sign(r) * abs(r)^power else switch(type, unsigned = abs(r), signed = (1 + r) / 2, pmax(r, 0))^power
  a[is.na(a)] <- 0
  diag(a) <- 0
  unname(a)
}

# Columns `at` of the overlap of all with all; all of them by default.
overlap_of <- function(a, TOMType = "unsigned", TOMDenom = "min", at = seq_len(ncol(a))) {
  k <- colSums(abs(a))
  f <- if (TOMDenom == "min") outer(k, k[at], pmin) else outer(k, k[at], `+`) / 2
  own <- a[, at, drop = FALSE]
  shared <- crossprod(a, own)
  others <- f - abs(own)
  halved <- endsWith(TOMType, "2")
  value <- if (halved) (own + ifelse(others > 0, shared / others, 0)) / 2 else (own + shared) / (others + 1)
  if (TOMType %in% c("signed", "signed 2")) value <- abs(value)
  value[cbind(at, seq_along(at))] <- 1
  value
}

# Each subject's columns with the mean of the others' columns: subjects x columns.
loo <- function(x) {
  t(sapply(seq_along(x), function(s) {
    sapply(seq_len(ncol(x[[s]])), function(v) cor(x[[s]][, v], rowMeans(sapply(x[-s], function(own) own[, v]))))
  }))
}

# The same for all pairs of columns: the mean over subjects and both orders.
isfc <- function(x, combine = "fisher") {
  scores <- if (combine == "mean") identity else atanh
  r <- Reduce(`+`, lapply(seq_along(x), function(s) scores(cor(x[[s]], Reduce(`+`, x[-s]))))) / length(x)
  r <- (r + t(r)) / 2
  if (combine == "mean") r else tanh(r)
}

# The mean z of pairs of subjects within groups and between them, for each column.
means_of_pairs <- function(x, labels, scores = atanh) {
  sapply(seq_len(ncol(x[[1]])), function(v) {
    z <- scores(cor(sapply(x, function(own) own[, v])))
    kind <- outer(labels, labels, function(one, other) ifelse(one != other, "between", one))
    tapply(z[lower.tri(z)], kind[lower.tri(kind)], mean)
  })
}

# A window's weights: a Gaussian's convolution with the rectangle that leaves three standard deviations at both ends.
gaussian_taper <- function(width, shape) {
  sigma <- shape * width
  half <- width / 2 - 3 * sigma
  convolved <- function(at) stats::integrate(function(u) stats::dnorm((at - u) / sigma), -half, half)$value
  weights <- vapply(seq_len(width) - (width + 1) / 2, convolved, 0)
  weights / max(weights)
}
