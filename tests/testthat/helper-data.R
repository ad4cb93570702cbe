# Data makers: n_obs observations (rows) of n_var variables (columns), the same at every call.

normal <- function(n_obs, n_var, seed = 1) {
  set.seed(seed)
  matrix(rnorm(n_obs * n_var), n_obs, n_var)
}

rounded <- function(n_obs, n_var, seed = 1) round(normal(n_obs, n_var, seed))

# As in sparse expression data: 57 % of the pairs of observations are ties at zero.
heavy_ties <- function(n_obs, n_var, seed = 1) {
  x <- normal(n_obs, n_var, seed)
  x[runif(length(x)) < sqrt(0.57)] <- 0
  x
}

# NA and NaN mean the same to cor().
with_missing <- function(x, share, seed = 2) {
  set.seed(seed)
  x[runif(length(x)) < share] <- NA
  x[is.na(x) & runif(length(x)) < 0.3] <- NaN
  x
}

with_constants <- function(x) {
  x[, 2] <- 7
  x[, ncol(x)] <- 0.1 # its mean, computed as sum / n, is not 0.1
  x
}

with_duplicates <- function(x) {
  half <- seq_len(ncol(x) %/% 2)
  x[, max(half) + half] <- x[, half]
  x[, ncol(x)] <- -x[, 1]
  x
}

with_infinite <- function(x) {
  x[3, 1] <- Inf
  x[5, 4] <- -Inf
  x[c(2, 6), 7] <- c(Inf, -Inf)
  x
}

# Every kind of data that cor() treats in a way of its own; at least 8 x 8.
kinds_of_data <- function(n_obs, n_var) {
  x <- normal(n_obs, n_var)
  ties <- rounded(n_obs, n_var)
  some_rows <- ties
  some_rows[1:3, ] <- with_missing(some_rows[1:3, ], 0.3)
  empty_column <- x
  empty_column[, 3] <- NA
  list(
    normal = x,
    ties = ties,
    heavy_ties = heavy_ties(n_obs, n_var),
    offset = 1e6 + x,
    constants = with_constants(x),
    duplicates = with_duplicates(ties),
    infinite = with_infinite(x),
    infinite_and_constants = with_constants(with_infinite(ties)),
    missing_in_some_rows = some_rows,
    missing = with_missing(x, 0.1),
    missing_and_ties = with_missing(ties, 0.1),
    missing_and_offset = with_missing(1e6 + x, 0.1),
    missing_and_constants = with_missing(with_constants(ties), 0.1),
    mostly_missing = with_missing(ties, 0.85), # pairs with no, one or two common rows
    missing_and_infinite = with_missing(with_infinite(x), 0.5),
    empty_column = empty_column,
    all_missing = x + NA
  )
}

# Pairs worth looking at among many: about the edges of blocks and tiles (64 x 256 and
# 256 x 2048 or 2048 x 2048 on the CPU, 1024 x 4096 with CUDA), and some anywhere.
sample_pairs <- function(n_row, n_col = n_row, n_random = 150, triangle = TRUE) {
  edges <- c(1, 64, 65, 256, 257, 1024, 1025, 2048, 2049, 4096, 4097)
  near <- function(n) unique(c(edges[edges <= n], n))
  set.seed(3)
  pairs <- rbind(expand.grid(i = near(n_row), j = near(n_col)),
                 data.frame(i = sample(n_row, n_random, TRUE), j = sample(n_col, n_random, TRUE)))
  if (triangle) pairs[pairs$i < pairs$j, ] else pairs
}

# A data set of an installed package, which is not loaded; without it the test is skipped.
package_data <- function(name, package) {
  skip_if(system.file(package = package) == "", paste(package, "is not installed"))
  where <- new.env()
  suppressWarnings(utils::data(list = name, package = package, envir = where))
  skip_if_not(exists(name, where), paste("data", name))
  where[[name]]
}

# The file of a real image that Debian's python3-nibabel has: fMRI of 17 x 21 x 3 voxels by 20 volumes, in integers of
# 16 bits with a scale.
real_image <- function() {
  file <- Sys.glob("/usr/lib/python3*/dist-packages/nibabel/tests/data/functional.nii")
  skip_if_not(length(file) == 1L, "python3-nibabel is not installed")
  file
}

# Its voxels as columns, in units so coarse that values are heavily tied and some voxels are constant.
coarse_voxels <- function() {
  img <- readVoxels(real_image())
  round(t(matrix(img, ncol = dim(img)[4L])) / 100)
}

# Vectors (n_var NULL) and matrices of all small sizes, with and without names and a missing value.
small_inputs <- function(n_obs, letters) {
  sizes <- list(NULL, 0, 1, 2)
  plain <- lapply(sizes, function(n_var) {
    values <- seq_len(n_obs * max(n_var, if (is.null(n_var)) 1)) + 0
    if (is.null(n_var)) values else matrix(values, n_obs, n_var)
  })
  named <- lapply(plain[-1], function(m) `colnames<-`(m, letters[seq_len(ncol(m))]))
  holes <- lapply(Filter(length, c(plain, named)), replace, 1, NA)
  c(plain, named, holes)
}

# Messages that a session shows once are shown again.
tell_again <- function() {
  state <- getFromNamespace("state", "gpucor")
  state$told <- NULL
}

# Five columns whose p values spread over many orders of magnitude; with ties.
spread_pairs <- function() {
  set.seed(8)
  x <- round(normal(25, 5) + outer(rnorm(25), c(0, 1, 2, 3, -2)), 1)
  `colnames<-`(x, letters[1:5])
}

# Columns whose correlation with the first one goes from none to nearly 1.
graded <- function(n_obs, n_var) {
  m <- normal(n_obs, n_var)
  m[, 1] + m %*% diag(10^seq(2, -2, length.out = n_var))
}
