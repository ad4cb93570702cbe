#' Gradients of a connectome
#'
#' `gpuGradients()` finds the main axes along which the connections of regions change: the diffusion map of Margulies
#' and others (2016), with `diagonal = TRUE` as BrainSpace computes it. Regions with similar connections get similar
#' values; see `vignette("connectome", "gpucor")`.
#'
#' For each row of the network only its strongest positive weights are kept, `fraction` of all columns. The affinity A
#' of two rows is their cosine, or with `kernel = "normalized_angle"` 1 - acos(cosine) / pi. It is normalized to L =
#' D^-alpha A D^-alpha, where D has the row sums of A, and to P, which is L with rows of sum 1, the probabilities of a
#' random walk. P has the eigenvalues 1 > lambda_1 >= lambda_2 >= ... The k-th gradient is the k-th right eigenvector of
#' P with mean square 1, times lambda_k / (1 - lambda_k) for `time = 0`, or else times lambda_k^time. Its element of
#' largest size is positive; an eigenvector has no sign of its own.
#'
#' **BrainSpace.** By default a column is not its own neighbor. `GradientMaps(kernel="cosine")` keeps the diagonal of a
#' correlation matrix, as `diagonal = TRUE` does, and `int(n * (1 - sparsity))` of the n weights of a row, by rounding
#' 39 of 400 for `sparsity=0.9`. `sparsity = 0.9` does both. BrainSpace's `lambdas_` are `lambda / (1 - lambda)`.
#'
#' **Several subjects.** `align = TRUE` computes the gradients of each matrix of a list and rotates (or reflects) them
#' to their mean, repeatedly, as BrainSpace's `ProcrustesAlignment` does by default; a template begins with itself as
#' the mean. Gradients keep their scale, so that subjects' scales can be compared.
#'
#' Cosines are never stored, so that tens of thousands of voxels are possible; normalized angles of all pairs are, in
#' double precision. Columns without a positive weight have no gradient: `NA`, with a warning. A network that is not
#' connected is an error. More than `r gpucor:::MAX_EIGEN` variables need RSpectra.
#'
#' @param x A network of [gpuCorNetwork()], a sparse matrix of package Matrix, or all coefficients, as [gpuCor()]
#'   returns them or as a symmetric matrix. Or data, as [gpuCorNetwork()] takes them, with a variable in each column:
#'   the correlations are then computed, and of each column only those kept. Also a list of subjects.
#' @param n An integer: the number of gradients.
#' @param fraction,kernel A number up to 1: how much of each row is kept; and `"cosine"` or `"normalized_angle"`.
#' @param alpha,time Numbers in \[0, 1\], how much the density of regions is corrected for, 0: not at all; and of at
#'   least 0, steps of the random walk, 0 sums over all numbers of steps.
#' @param diagonal `TRUE` if each column is its own neighbor, with weight 1, as in BrainSpace.
#' @param sparsity `NULL`, or a number between 0 and 1 in the place of `fraction`: how much is left out.
#' @param align `TRUE` to align several subjects' gradients, or a template: a result of `gpuGradients()`, or a matrix.
#' @param ... For data: arguments of [gpuCorNetwork()] such as `method`, `covariates`, `combine` and `threads`.
#' @return A list of class `gpuGradients`: `gradients`, a matrix with a row for each variable and a column for each
#'   gradient; `lambda`, the eigenvalues; and the settings `fraction`, `kernel`, `alpha`, `time` and, if `TRUE`,
#'   `diagonal`. With `align` these are the mean of the subjects, whose aligned matrices and eigenvalues are `subjects`
#'   and `lambdas`. `as.data.frame()` has `variable` and the gradients. [voxelImage()] makes an image of a column.
#' @references
#'
#' Margulies DS and others (2016). *PNAS* 113, 12574-12579.
#'
#' @examples
#' # Regions on a line: neighbors share signals
#' set.seed(1)
#' signals <- matrix(rnorm(200 * 60), 200)
#' mixing <- exp(-outer(seq(0, 1, length.out = 40), seq(-0.2, 1.2, length.out = 60), "-")^2 / 0.02)
#' x <- signals %*% t(mixing) + matrix(rnorm(200 * 40, 0, 0.3), 200)
#' g <- gpuGradients(x, n = 3)
#' abs(cor(g$gradients[, 1], 1:40)) # the first gradient is the order on the line
#' plot(g)
#' @order 1
#' @export
gpuGradients <- function(x, n = 5, fraction = 0.1, kernel = c("cosine", "normalized_angle"), alpha = 0.5, time = 0,
                         ..., diagonal = FALSE, sparsity = NULL, align = FALSE) {
  refuse_other_names(...names(), names(formals()))
  if (!is.null(sparsity) && !missing(fraction)) fail("'sparsity' is in the place of 'fraction'; give one of them")
  if (is_study(x)) {
    own <- adjustment_of_studies(list(x), ...names(), "gpuCorNetwork")
    further <- c(mget(setdiff(names(formals()), c("x", "..."))), list(...), own)
    return(do.call(gpuGradients, c(list(x$x), further), quote = TRUE))
  }
  n <- check_whole(n, "n", 1, 1000)
  fraction <- check_fraction(fraction, "fraction", FALSE)
  kernel <- check_choice(kernel, c("cosine", "normalized_angle"), "kernel")
  alpha <- check_within(alpha, "alpha", 0, 1)
  time <- check_within(time, "time", 0, Inf)
  diagonal <- check_flag(diagonal, "diagonal")
  if (!is.null(sparsity)) {
    ok <- is_number_within(sparsity, 0, 1) && !sparsity %in% 0:1
    fraction <- 1 - check_that(sparsity, "sparsity", ok, "a number above 0 and below 1")
    diagonal <- TRUE
  }
  rule <- list(n = n, fraction = fraction, kernel = kernel, alpha = alpha, time = time, diagonal = diagonal,
               slack = if (is.null(sparsity)) SLACK else 0)
  found <- if (isFALSE(align)) gradients_of(x, rule, ...) else aligned_gradients(x, rule, align, ...)
  structure(c(found, list(fraction = fraction, kernel = kernel, alpha = alpha, time = time),
              if (diagonal) list(diagonal = TRUE)), class = c("gpuGradients", "gpuCorResult"))
}

# Returns list(gradients, lambda) of one network, or of the data of one. `rule`: the arguments of gpuGradients().
gradients_of <- function(x, rule, ...) {
  weights <- weights_by_row(x, rule$fraction, rule$slack, ...)
  rows <- weights
  if (rule$diagonal) { # columns without a weight stay without one
    rows <- as(rows + Matrix::Diagonal(x = as.numeric(diff(rows@p) > 0)), "CsparseMatrix")
  }
  rows <- strongest_of_rows(rows, rule$fraction, rule$slack)
  size <- sqrt(Matrix::colSums(rows^2))
  rows@x <- rows@x / size[row_numbers(rows@p)] # columns without entries stay zero
  found <- diffusion_map(rows, rule$n, rule$kernel, rule$alpha, rule$time)
  dimnames(found$gradients) <- list(colnames(weights), paste0("gradient", seq_len(rule$n)))
  names(found$lambda) <- colnames(found$gradients)
  found
}

# ---- several subjects

# Returns list(gradients and lambda: means; subjects: a list of matrices; lambdas: a row for each subject).
aligned_gradients <- function(x, rule, align, ...) {
  given <- list(...)
  has_template <- !isTRUE(align)
  if (!is.list(x) || is.object(x) || length(x) < 2 - has_template) {
    fail("'align' is for a list of subjects, and 'x' is ", if (is.list(x)) "a list of one" else of_class(x))
  }
  if (!is.null(given$combine)) {
    fail("'combine' makes one network of all subjects, and 'align' one of each; leave one out")
  }
  each <- each_subject(length(x), function(i) {
    do.call(gradients_of, c(list(x[[i]], rule), asked_of_subject(given, i, length(x))), quote = TRUE)
  })
  maps <- stats::setNames(lapply(each, `[[`, "gradients"), subject_labels(x))
  for (i in seq_along(maps)) {
    same <- identical(dim(maps[[i]]), dim(maps[[1L]])) && identical(rownames(maps[[i]]), rownames(maps[[1L]]))
    if (!same) fail("subject ", i, " has other variables, or names of them, than the first subject")
  }
  template <- if (has_template) {
    own <- if (inherits(align, "gpuGradients")) align$gradients else align
    ok <- is.matrix(own) && is_numeric(own) && identical(dim(own), dim(maps[[1L]]))
    check_that(own, "align", ok, paste("TRUE, or gradients of", show_size(dim(maps[[1L]]))), "",
               if (is.matrix(own)) paste("a matrix of", show_size(dim(own))) else show_value(align))
  }
  lambdas <- do.call(rbind, lapply(each, `[[`, "lambda"))
  rownames(lambdas) <- names(maps)
  found <- mean_alignment(maps, template)
  list(gradients = found$mean, lambda = colMeans(lambdas), subjects = found$aligned, lambdas = lambdas)
}

# Max number of iterations, and the change from one to the next of the squared distance between successive means at
# which they end: those of BrainSpace.
MAX_ALIGNED <- 10
SAME_ALIGNMENT <- 1e-5

# Aligns matrices to their mean, which begins as the template, or as the mean after alignment to the first. Rows with
# missing values in any of them are NA.
mean_alignment <- function(maps, template) {
  known <- stats::complete.cases(do.call(cbind, c(maps, list(template))))
  own <- lapply(maps, function(map) map[known, , drop = FALSE])
  rotated <- function(map, to) { # or reflected, to the smallest squared distance (Schoenemann 1966)
    found <- svd(crossprod(map, to))
    map %*% tcrossprod(found$u, found$v)
  }
  mean_of <- function(all) Reduce(`+`, all) / length(all)
  mean <- if (is.null(template)) {
    mean_of(c(own[1L], lapply(own[-1L], rotated, own[[1L]])))
  } else {
    template[known, , drop = FALSE]
  }
  before <- Inf
  for (k in seq_len(MAX_ALIGNED)) {
    aligned <- lapply(own, rotated, mean)
    distance <- sum((mean - mean_of(aligned))^2)
    mean <- mean_of(aligned)
    if (abs(distance - before) < SAME_ALIGNMENT) break
    before <- distance
  }
  in_all_rows <- function(map) {
    all <- replace(maps[[1L]], TRUE, NA_real_)
    all[known, ] <- map
    all
  }
  list(mean = in_all_rows(mean), aligned = lapply(aligned, in_all_rows))
}

# Returns a dgCMatrix that has the weights of row i in column i, without the diagonal.
weights_by_row <- function(x, fraction, slack, ...) {
  values <- if (inherits(x, "dist") || is.data.frame(x) && nrow(x) == ncol(x)) as.matrix(x) else x
  if (is.matrix(values) && is_variables(values) && isSymmetric(unname(unclass(values)))) {
    if (!is.null(colnames(values))) rownames(values) <- colnames(values) # read.csv() changes these
    x <- replace(values, is.na(values), 0)
    x <- methods::as(Matrix::Matrix(x, sparse = TRUE), "generalMatrix")
  }
  if (is_network(x) || is_sparse(x)) {
    check_slots(x, "x")
    if (...length()) fail("argument '", ...names()[1L], "' is for data, and 'x' is a network")
    net <- if (is(x, "gpuCorNetwork")) x else plain_network(x)
    if (!is(net, "dsCMatrix")) fail("'x' must be symmetric or data, not a matrix of ", show_size(dim(x)))
    return(as(as(net, "dsCMatrix"), "generalMatrix"))
  }
  first <- if (is_subjects(x) && is.list(x)) x[[1L]] else x
  check_slots(first, "x")
  size <- dim(first)
  if (length(size) != 2L) check_matrix_like(first, COLUMNS)
  n_var <- if (is_experiment(first)) size[1L] else size[2L]
  net <- gpuCorNetwork(x, k = kept_in_row(n_var, fraction, slack), sign = "positive", ...)
  as(as(net, "dsCMatrix"), "generalMatrix")
}

# ---- diffusion maps

# Diffusion maps of networks. The rows of a network are the columns of a sparse matrix: with columns of length 1, U, the
# cosines of all pairs are U'U, which multiplies a vector without being stored.

# Returns the number of weights to keep in each of n rows. `slack`: allows for rounding errors of the product.
kept_in_row <- function(n, fraction, slack = SLACK) max(1, floor(fraction * n + slack))
SLACK <- 1e-9

# Keeps the largest positive entries of each column; of equal ones the first.
strongest_of_rows <- function(rows, fraction, slack = SLACK) {
  column <- row_numbers(rows@p)
  order <- order(column, -rows@x, method = "radix")
  rank <- seq_along(order) - rows@p[column[order]]
  kept <- logical(length(order))
  kept[order] <- rank <= kept_in_row(nrow(rows), fraction, slack)
  kept <- kept & rows@x > 0
  with_slots(rows, kept_entries(rows, kept))
}

# Max number of variables for which all eigenvectors are computed, by LAPACK; and from which on RSpectra is used if it
# is installed.
MAX_EIGEN <- 3000
MIN_SPECTRA <- 500

# Returns list(gradients: NA for columns of zeros, lambda). `units`: sparse columns of length 1, or of zeros.
diffusion_map <- function(units, n, kernel, alpha, time) {
  has_some <- diff(units@p) > 0
  if (!any(has_some)) fail("'x' has no positive weight")
  if (!all(has_some)) {
    warn("gpuCorGradients", format_count(sum(!has_some)), " of ", n_of(length(has_some), "variable"), " without a ",
         "positive weight, thus without a gradient")
  }
  n_var <- sum(has_some)
  if (n >= n_var) fail("'n' is ", n, ", but only ", n_of(n_var, "variable"), " can have gradients, at most one fewer")
  affinity <- affinity_of(units[, has_some], kernel)
  degree <- affinity$product(rep(1, n_var))
  weight <- degree^-alpha
  root <- sqrt(weight * affinity$product(weight)) # of the row sums of L
  found <- leading_eigen(affinity, weight / root, n + 1)
  if (found$values[2L] > 1 - 1e-9) {
    fail("the network is not connected: some variables have no neighbor in common with the others, directly or over ",
         "others; raise 'fraction', or leave small groups out")
  }
  lambda <- found$values[-1L]
  vectors <- found$vectors[, -1L, drop = FALSE] / root
  vectors <- sweep(vectors, 2L, sqrt(colMeans(vectors^2)), "/")
  signs <- apply(vectors, 2L, function(v) sign(v[which.max(abs(v))]))
  vectors <- sweep(vectors, 2L, signs * if (time == 0) lambda / (1 - lambda) else lambda^time, "*")
  gradients <- matrix(NA_real_, length(has_some), n)
  gradients[has_some, ] <- vectors
  list(gradients = gradients, lambda = lambda)
}

# Returns list(product: the affinity times a vector; dense: returns the affinity).
affinity_of <- function(units, kernel) {
  dense <- function() unname(as.matrix(Matrix::crossprod(units)))
  if (kernel == "cosine") {
    return(list(product = function(v) as.vector(Matrix::crossprod(units, units %*% v)), dense = dense))
  }
  angles <- 1 - acos(pmin(dense(), 1)) / pi
  diag(angles) <- 1
  list(product = function(v) as.vector(angles %*% v), dense = function() angles)
}

# Returns the largest eigenvalues, and eigenvectors, of the affinity with rows and columns multiplied by `scale`.
leading_eigen <- function(affinity, scale, n) {
  n_var <- length(scale)
  spectra <- n_var >= MIN_SPECTRA && n < n_var / 2 && requireNamespace("RSpectra", quietly = TRUE)
  if (!spectra) {
    if (n_var > MAX_EIGEN) need_packages("RSpectra", paste("gradients of", n_of(n_var, "variable")))
    found <- eigen(affinity$dense() * outer(scale, scale), symmetric = TRUE)
    return(list(values = found$values[seq_len(n)], vectors = found$vectors[, seq_len(n), drop = FALSE]))
  }
  product <- function(v, unused) scale * affinity$product(scale * v)
  found <- RSpectra::eigs_sym(product, n, "LA", n = n_var, opts = list(tol = 1e-12, ncv = min(n_var, 4 * n + 20)))
  if (length(found$values) < n) fail_as("run", "RSpectra found ", length(found$values), " of ", n, " eigenvectors")
  found
}

# ---- class gpuGradients

describe_gradients <- function(x) {
  paste0(n_of(ncol(x$gradients), "gradient"), " of ", n_of(nrow(x$gradients), "variable"), ": diffusion map of the ",
         if (x$kernel == "cosine") "cosine" else "normalized angle", " of rows, the strongest ",
         format(100 * x$fraction, digits = 3L), " % of each; alpha = ", format(x$alpha), ", time = ", format(x$time),
         if (isTRUE(x$diagonal)) ", with the unit diagonal",
         if (!is.null(x$subjects)) paste("; the mean of", n_of(length(x$subjects), "aligned subject")))
}

#' @method print gpuGradients
#' @export
print.gpuGradients <- function(x, ...) {
  cat(describe_gradients(x), "\nlambda:\n", sep = "")
  print(x$lambda, digits = 4L)
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @usage NULL
#' @method summary gpuGradients
#' @export
summary.gpuGradients <- function(object, ...) {
  known <- stats::complete.cases(object$gradients)
  quantiles <- apply(object$gradients[known, , drop = FALSE], 2L, stats::quantile)
  new_summary(list(variables = length(known), missing = sum(!known), lambda = object$lambda,
                   quantiles = as.data.frame(t(quantiles), optional = TRUE)), describe_gradients(object), object)
}

#' @rdname gpuGradients
#' @usage NULL
#' @export
as.data.frame.gpuGradients <- function(x, row.names = NULL, optional = FALSE, ...) {
  variable_frame(rownames(x$gradients), asplit(x$gradients, 2L), row.names)
}

#' @rdname gpuGradients
#' @param type,gradient,coords,labels For `plot()`: `"scatter"` draws the second gradient over the first, with the names
#'   of up to `labels` variables, `"lambda"` the eigenvalues, `"map"` a gradient in space, the number `gradient`, at the
#'   positions `coords`, which are as in [gpuConnectivity()], and `"auto"` what there is.
#' @export
plot.gpuGradients <- function(x, type = c("auto", "scatter", "lambda", "map"), gradient = 1, coords = NULL,
                              labels = 10, ...) {
  labels <- check_whole(labels, "labels", 0, 1000)
  type <- check_choice(type, c("auto", "scatter", "lambda", "map"), "type")
  gradient <- check_whole(gradient, "gradient", 1, ncol(x$gradients))
  panels <- list(
    map = map_panel(x$gradients[, gradient], "gradient", paste("Gradient", gradient), coords, type,
                    rownames(x$gradients)),
    scatter = function(...) { # the variables farthest from the middle are named
      names <- colnames(x$gradients)
      is_single <- length(names) == 1L # drawn over the variables' order
      across <- if (is_single) seq_len(nrow(x$gradients)) else x$gradients[, 1L]
      up <- x$gradients[, if (is_single) 1L else 2L]
      size <- function(values) abs(values - mean(values, na.rm = TRUE)) / stats::sd(values, na.rm = TRUE)
      far <- order(-pmax(if (is_single) 0 else size(across), size(up)), na.last = NA)
      names_of <- rownames(x$gradients)
      named <- if (!is.null(names_of)) utils::head(far, labels)
      titles <- list(xlab = if (is_single) "variable" else names[1L], ylab = names[if (is_single) 1L else 2L],
                     main = "Gradients")
      draw_points(across, up, titles, ..., named = named, names = names_of[named])
    },
    lambda = function(...) {
      at <- seq_along(x$lambda)
      start_plot(range(at), c(0, max(x$lambda)),
                 list(xlab = "gradient", ylab = "lambda", main = "Eigenvalues", xaxt = "n"), ...)
      graphics::axis(1L, at)
      graphics::lines(at, x$lambda, type = "o", pch = 19, col = cold())
    }
  )
  draw_below(panels, type, !is.null(coords), ...)
  invisible(x)
}
