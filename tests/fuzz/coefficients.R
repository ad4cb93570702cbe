# gpuCor(), gpuCorTriangle() and gpuDist() against cor(), and against the judge.

random_settings <- function() {
  c(list(backend = sample(gpuInfo()$backends, 1), threads = sample(4, 1)),
    if (one_in(3)) list(memory = sample(c(1, 1e5), 1)))
}

# A case is a list: x, y, and the call of which they are the arguments.
new_case <- function(f, x, y, ...) {
  list(x = x, y = y, call = as.call(c(list(as.name(f), quote(x)), if (!is.null(y)) list(y = quote(y)), list(...))))
}

random_coefficients <- function() {
  method <- sample(all_methods, 1)
  use <- sample(all_uses, 1)
  n_obs <- random_size(0)
  # cor() takes long for ranks by pairs, and for Kendall.
  most <- if (method == "pearson") 257 else if (use == "pairwise.complete.obs") 12 else 40
  x <- random_matrix(n_obs, min(random_size(0), most), "x")
  y <- if (one_in(2) || is.null(dim(x))) random_matrix(n_obs, min(random_size(0), most), "y")
  f <- if (is.null(y)) sample(c("gpuCor", "gpuCorTriangle", "gpuDist"), 1, prob = c(4, 2, 1)) else "gpuCor"
  if (f == "gpuDist") x <- if (is(x, "Matrix")) Matrix::t(x) else t(x)
  extra <- switch(f, gpuCor = list(output = sample(c("dist", "matrix"), 1)),
                  gpuCorTriangle = list(order = sample(c("row", "column"), 1)))
  do.call(new_case, c(list(f, x, y, use = use, method = method), extra, random_settings()))
}

# The value of a case's call, with other settings, in silence.
run_case <- function(case, ...) {
  call <- utils::modifyList(as.list(case$call), list(...))
  outcome(suppressMessages(eval(as.call(call), case[c("x", "y")], globalenv())))
}

# ---- what the result comes to as a matrix

# NA on the diagonal where the result has none.
as_square <- function(case, r) {
  switch(as.character(case$call[[1]]),
    gpuCor = if (inherits(r, "gpuCor")) as.matrix(r) else r,
    gpuCorTriangle = unfold(r, case$call$order == "row", columns_of(case$x), colnames(case$x)),
    gpuDist = unfold(1 - as.vector(r), TRUE, attr(r, "Size"), attr(r, "Labels"))
  )
}

unfold <- function(values, by_row, n, names) {
  r <- matrix(NA_real_, n, n, dimnames = if (!is.null(names)) list(names, names))
  if (by_row) r[lower.tri(r)] <- values else r[upper.tri(r)] <- values
  r[is.na(r) & !is.nan(r)] <- t(r)[is.na(r) & !is.nan(r)]
  r
}

# What cor() is given.
case_x <- function(case) if (case$call[[1]] == "gpuDist") t(as.matrix(plain(case$x))) else plain(case$x)

# ---- what is wrong with it

check_coefficients <- function(case) {
  use <- case$call$use
  method <- case$call$method
  ours <- run_case(case)
  x <- case_x(case)
  y <- if (!is.null(case$y)) plain(case$y)
  truth <- outcome(reference_cor(x, y, use, method))
  if (is.null(ours$error) != is.null(truth$error)) {
    return(paste0("the error is ", deparse1(ours$error), ", that of cor() ", deparse1(truth$error)))
  }
  if (!is.null(ours$error)) return(NULL)
  again <- run_case(case, threads = 1)$value
  c(if (!identical(as.vector(again), as.vector(ours$value))) "one thread gives another result",
    value_flaws(case, x, y, ours, truth))
}

# Common rows are computed in double throughout.
tolerance_of <- function(x, y, use, method) {
  paired <- use == "pairwise.complete.obs" && (anyNA(x) || anyNA(y))
  if (paired) 1e-12 else tolerance[[method]]
}

value_flaws <- function(case, x, y, ours, cors) {
  use <- case$call$use
  method <- case$call$method
  r <- as_square(case, ours$value)
  truth <- if (is.null(y) && case$call[[1]] != "gpuCor") no_diagonal(cors$value) else cors$value
  unwarned <- cors$warned && !ours$warned && !warns_at_random(x, y, use)
  wrong <- c(differences(r, truth, tolerance_of(x, y, use, method)), if (unwarned) "cor() warned of a constant column")
  judged_flaws(wrong, r, truth, x, y, use, method)
}

# `wrong`: how r differs from the coefficients `truth` of cor(). The judge has the last word, and is asked if anything
# is wrong, or where that is quick. nan: whether r tells NaN from NA.
judged_flaws <- function(wrong, r, truth, x, y, use, method, nan = TRUE) {
  same_shape <- identical(dim(r), dim(truth)) && identical(dimnames(r), dimnames(truth))
  if (!same_shape || (!length(wrong) && judge_steps(x, y, method) > MAX_STEPS)) return(wrong)
  exact <- exact_truth(truth, x, y, use, method)
  if (!nan) exact[is.nan(exact)] <- NA
  flaws <- differences(r, exact, tolerance_of(x, y, use, method))
  if (length(flaws)) return(paste("not exact:", flaws))
  if (length(wrong)) forgive()
  NULL
}

# ---- where cor() is not to be followed

# Here its numbers are further from the exact ones than the tolerance, or are NA as the squares of small values vanish,
# or are no NA where a column is constant, as it takes the rounding of a mean for variation. Each case is counted, and
# told at the end. reference_cor() has the rest: a single row of ranks, a single column by pairs.
forgiven <- new.env()
forgiven$inexact <- 0

forgive <- function() forgiven$inexact <- forgiven$inexact + 1

# What cor() should have said: NaN for infinite values, and on the diagonal what it says of the same columns in another
# unit.
exact_truth <- function(truth, x, y, use, method) {
  said <- outcome(reference_cor(unit_scale(x), if (!is.null(y)) unit_scale(y), use, method))$value
  exact <- judge(x, if (is.null(y)) x else y, use, method)
  if (is.null(y)) diag(exact) <- "diagonal"
  numbers <- ifelse(exact == "infinite", NaN, suppressWarnings(as.numeric(exact)))
  said[] <- ifelse(exact == "diagonal", said, numbers)
  has_diagonal <- !is.null(y) || !length(truth) || !all(is.na(diag(truth)) & !is.nan(diag(truth)))
  if (has_diagonal) said else no_diagonal(said)
}

# Columns times powers of two that make their largest values about 1.
unit_scale <- function(m) {
  scale_one <- function(v) {
    largest <- max(0, abs(v[is.finite(v)]))
    power <- if (largest > 0) -floor(log2(largest)) else 0
    v * 2^(power %/% 2) * 2^(power - power %/% 2)
  }
  if (is.null(dim(m))) return(scale_one(m))
  m <- as.matrix(m) + 0
  m[] <- vapply(seq_len(ncol(m)), function(j) scale_one(m[, j]), numeric(nrow(m)))
  m
}
