# Random input: what gpuCor() and its relatives may be given, odd shapes and values included.

# Values of which many pairs have something special: ties, cancellation, squares that overflow or vanish.
value_kinds <- list(
  normal = function(n) rnorm(n),
  ties = function(n) round(rnorm(n)),
  few_levels = function(n) sample(0:2, n, TRUE) + 0,
  zeros = function(n) rnorm(n) * (runif(n) < 0.25),
  whole = function(n) sample(-60:60, n, TRUE) + 0,
  permuted = function(n) sample.int(n) + 0,
  sorted = function(n) sort(rnorm(n)),
  skewed = function(n) exp(3 * rnorm(n)),
  offset = function(n) 10^sample(3:12, 1) + rnorm(n),
  last_bits = function(n) 1 + sample(0:3, n, TRUE) * 2^-52,
  scaled = function(n) rnorm(n) * 10^runif(1, -300, 300),
  near_overflow = function(n) rnorm(n) * 10^runif(1, 148, 165),
  near_underflow = function(n) rnorm(n) * 10^runif(1, -165, -148),
  subnormal = function(n) round(rnorm(n) * 5) * 2^-1074,
  outlier = function(n) replace(rnorm(n), sample.int(max(n, 1), min(n, 1)), sample(c(-1, 1), 1) * 10^runif(1, 5, 300)),
  all_scales = function(n) rnorm(n) * 10^runif(n, -200, 200)
)

# Small sizes more often than others: blocks, words of bits and slices have their edges there.
random_size <- function(least) {
  sizes <- c(0, 1, 2, 3, 4:13, 16:17, 20, 32:33, 40, 64:65, 130, 257)
  sizes <- sizes[sizes >= least]
  sample(sizes, 1, prob = ifelse(sizes < 2, 0.4, ifelse(sizes < 20, 1, ifelse(sizes < 130, 0.6, 0.2))))
}

# n_obs x n_var doubles; `kinds`: of values, one for all columns or any for each.
random_values <- function(n_obs, n_var) {
  kinds <- sample(names(value_kinds), n_var, TRUE)
  if (runif(1) < 0.6) kinds[] <- sample(names(value_kinds), 1)
  values <- vapply(kinds, function(kind) value_kinds[[kind]](n_obs), numeric(n_obs))
  spoil(matrix(values, n_obs, n_var))
}

one_in <- function(n) runif(1) < 1 / n

# Constants, copies, infinite and missing values here and there.
spoil <- function(x) {
  column <- function() sample.int(ncol(x), 1)
  cell <- function(n) sample.int(length(x), min(n, length(x)))
  if (ncol(x) && one_in(6)) x[, column()] <- sample(c(0, 1, 7, 0.1, -1 / 3, 1e200, 1e-300), 1)
  if (ncol(x) > 1 && one_in(6)) x[, column()] <- sample(c(1, -1, 3), 1) * x[, column()]
  if (length(x) && one_in(12)) x[cell(sample(3, 1))] <- sample(c(Inf, -Inf), 1)
  if (length(x) && one_in(2)) x <- lose(x, column, cell)
  x
}

lose <- function(x, column, cell) {
  switch(sample(6, 1),
    x[cell(1)] <- NA,
    x[runif(length(x)) < 0.1] <- NA,
    x[runif(length(x)) < 0.5] <- NaN,
    x[runif(length(x)) < 0.9] <- NA,
    x[, column()] <- NA,
    x[sample.int(nrow(x), 1), ] <- NA
  )
  x
}

# The same values, or what is left of them, as something else that holds numbers.
storages <- list(
  double = identity,
  integer = function(x) {
    x[!is.finite(x) | abs(x) > 2^31 - 1] <- NA
    `storage.mode<-`(x, "integer")
  },
  logical = function(x) x > 0,
  frame = function(x) as.data.frame(x),
  sparse = function(x) methods::as(x, "CsparseMatrix"),
  triplets = function(x) methods::as(methods::as(x, "CsparseMatrix"), "TsparseMatrix"),
  s4 = function(x) asS4(x)
)

random_matrix <- function(n_obs, n_var, letter) {
  x <- random_values(n_obs, n_var)
  named <- one_in(2)
  if (named) colnames(x) <- sprintf("%s%d", letter, seq_len(n_var))
  if (named && n_var > 1 && one_in(4)) colnames(x)[2] <- colnames(x)[1]
  if (one_in(4)) rownames(x) <- sprintf("row%d", seq_len(n_obs))
  storage <- sample(names(storages), 1, prob = c(12, 3, 1, 1, 2, 1, 1))
  if (n_var == 0 || n_obs == 0 || anyDuplicated(colnames(x))) storage <- "double"
  if (n_var == 1 && one_in(2)) return(x[, 1])
  storages[[storage]](x)
}

# As cor() takes it.
plain <- function(x) if (is(x, "sparseMatrix")) as.matrix(x) else x

columns_of <- function(x) if (is.null(dim(x))) 1L else ncol(x)
rows_of <- function(x) if (is.null(dim(x))) length(x) else nrow(x)
