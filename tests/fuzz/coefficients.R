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
  most <- if (method == "pearson") 130 else if (use == "pairwise.complete.obs") 12 else 40
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
  within <- tolerance_of(x, y, use, method)
  unwarned <- cors$warned && !ours$warned && !warns_at_random(x, y, use)
  symmetric <- is.null(y)
  if (symmetric) y <- x
  r <- as_square(case, ours$value)
  truth <- if (symmetric && case$call[[1]] != "gpuCor") no_diagonal(cors$value) else cors$value
  wrong <- c(differences(r, truth, within), if (unwarned) "cor() warned of a constant column")
  shape <- identical(dim(as.matrix(r)), c(columns_of(x), columns_of(y)))
  if (!shape || (!length(wrong) && judge_steps(x, y, method) > MOST_STEPS)) return(wrong)
  exact <- judge(x, y, use, method)
  ours <- exact_flaws(as.matrix(r), exact, within, symmetric)
  if (length(ours) || !length(wrong)) return(c(ours, wrong))
  without_those_of_cor(wrong, exact_flaws(as.matrix(truth), exact, within, symmetric))
}

# ---- where cor() is not to be followed

# Each is counted, and told at the end. reference_cor() has the rest: a single row of ranks, a single column by pairs.
#   inexact  a number that is further from the exact one than the tolerance, or NA, where there is a coefficient
#   noise    a number where a column is constant: cor() takes the rounding of its mean for variation
forgiven <- new.env()

forgive <- function(what) assign(what, get0(what, forgiven, ifnotfound = 0) + 1, forgiven)

# `wrong`: how the result, which the judge finds right, differs from cor(); of_cor: what the judge finds in that.
without_those_of_cor <- function(wrong, of_cor) {
  if (!length(of_cor) || !all(grepl("^(off by|NA in one only|cor\\(\\) warned)", wrong))) return(wrong)
  forgive(if (any(grepl("constant", of_cor))) "noise" else "inexact")
  NULL
}
