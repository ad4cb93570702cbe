# Sparse matrices with so few nonzeros that only these are multiplied.

few_nonzeros <- function(n_obs, n_var, fraction = 0.05, seed = 1) {
  set.seed(seed)
  x <- matrix(0, n_obs, n_var)
  at <- sample(length(x), fraction * length(x))
  x[at] <- round(rexp(length(at), 0.3)) - 1 # some are zero or negative
  x
}

# Columns of every kind: no entries, explicit zeros, constant, with entries in half of the rows and in all of them, far
# from zero, huge, tiny, and equal up to a factor.
special <- few_nonzeros(200, 300, 0.035)
special[cbind(rep_len(1:200, 300), 1:300)] <- 2 # no column is empty by chance
special[, 2] <- 0
special[, 3] <- 7
special[1:100, 4] <- rnorm(100)
special[1:101, 5] <- rnorm(101)
special[, 6] <- 1e6 + rnorm(200)
special[, 7:8] <- 0
special[1:4, 7] <- c(1e200, -3e200, 2e200, 1e199)
special[1:4, 8] <- c(1e-200, -3e-200, 2e-200, 1e-201)
special[, 10] <- special[, 9]
special[, 11] <- -3 * special[, 9]
special[5, 12] <- 1

as_sparse <- function(x, zeros = NULL) {
  entries <- x != 0 | is.na(x)
  entries[zeros] <- TRUE
  at <- which(entries, arr.ind = TRUE)
  Matrix::sparseMatrix(i = at[, 1], j = at[, 2], x = x[entries], dims = dim(x), dimnames = dimnames(x))
}

is_multiplied_by_entries <- function(m) length(m@x) <= gpucor:::constant("max sparse") * length(m)

matrix_of <- function(...) gpuCor(..., output = "matrix")
quietly <- function(expr) suppressMessages(suppressWarnings(expr))
cosine_of <- function(x) {
  r <- crossprod(x) / tcrossprod(sqrt(colSums(x^2)))
  diag(r) <- 1
  r[is.nan(r)] <- NA
  r
}

test_that("coefficients of a sparse matrix are those of cor() and of the dense matrix, for all columns and methods", {
  stored <- as_sparse(special, zeros = sample(length(special), 20))
  expect_true(is_multiplied_by_entries(stored))
  expect_true(any(stored@x == 0))
  scaled <- special # cor() overflows
  scaled[, 7] <- special[, 7] * 1e-200
  scaled[, 8] <- special[, 8] * 1e200
  truths <- list(pearson = quietly(cor(scaled)), spearman = quietly(cor(scaled, method = "spearman")),
                 cosine = cosine_of(scaled))
  for (backend in backends()) {
    for (method in all_methods) {
      run <- function(...) quietly(matrix_of(..., method = method, backend = backend))
      found <- run(stored)
      expect_equal(found, run(special), tolerance = 1e-6, label = method)
      expect_identical(is.na(found), is.na(run(special)), label = method)
      expect_equal(run(stored, stored[, 4:9]), run(special, special[, 4:9]), tolerance = 1e-6, label = method)
      expect_equal(run(stored, special[, 4:9]), run(special, special[, 4:9]), tolerance = 1e-6, label = method)
    }
    for (method in names(truths)) {
      found <- quietly(matrix_of(stored, method = method, precision = "double", backend = backend))
      expect_lt(max(abs(found - truths[[method]]), na.rm = TRUE), 1e-10) # cor() loses digits of 1e6 + rnorm(200)
      expect_lt(max(abs(found - truths[[method]])[-6, -6], na.rm = TRUE), 1e-13)
    }
    expect_identical(quietly(matrix_of(stored, backend = backend))[9, 10:11], c(1, -1))
    expect_warning(gpuCor(stored, backend = backend), "standard deviation is zero (2 of 300 columns of 'x': 2, 3)",
                   fixed = TRUE)
  }
})

test_that("missing and infinite values in few nonzeros count as in a dense matrix", {
  x <- few_nonzeros(120, 30)
  x[4, 2] <- NA
  x[6:7, 5] <- NaN
  x[8, 9] <- Inf
  x[9, 10] <- -Inf
  stored <- as_sparse(x)
  expect_true(is_multiplied_by_entries(stored))
  for (method in all_methods) for (use in all_uses[-2]) {
    found <- quietly(matrix_of(stored, use = use, method = method))
    dense <- quietly(matrix_of(x, use = use, method = method))
    expect_equal(found, dense, tolerance = 1e-6, label = paste(method, use))
    expect_identical(is.nan(found), is.nan(dense), label = paste(method, use))
  }
})

# More than two tiles, and more observations than a thread orders at a time.
wide <- as_sparse(few_nonzeros(60, 2300))
long <- as_sparse(few_nonzeros(9000, 40, 0.02))

test_that("results of few nonzeros depend neither on threads nor on the order of columns nor on the instructions", {
  own <- Sys.getenv("GPUCOR_CPU", NA)
  on.exit(if (is.na(own)) Sys.unsetenv("GPUCOR_CPU") else Sys.setenv(GPUCOR_CPU = own))
  for (x in list(wide, long)) for (method in c("pearson", "spearman")) {
    run <- function(...) quietly(gpuCorTriangle(x, method = method, ...))
    one <- run(threads = 1)
    expect_lt(max(abs(one - quietly(gpuCorTriangle(as.matrix(x), method = method))), na.rm = TRUE), 1e-6)
    expect_true(identical(run(threads = 3), one))
    square <- quietly(matrix_of(x, method = method))
    back <- rev(seq_len(ncol(x)))
    expect_true(identical(quietly(matrix_of(x[, back], method = method))[back, back], square))
    expect_true(identical(quietly(gpuCor(x, x[, 5:9], method = method))[-(5:9), ], square[-(5:9), 5:9]))
    Sys.setenv(GPUCOR_CPU = "plain")
    expect_true(identical(run(), one))
    Sys.unsetenv("GPUCOR_CPU")
  }
})

test_that("networks, connectivity and plans of few nonzeros have the coefficients of the matrix", {
  r <- quietly(matrix_of(wide, precision = "double"))
  above <- which(upper.tri(r) & abs(r) >= 0.6, arr.ind = TRUE)
  expect_gt(nrow(above), 100)
  network <- quietly(gpuCorNetwork(wide, threshold = 0.6))
  edges <- as.data.frame(network)
  expect_setequal(paste(edges$from, edges$to), paste(above[, 1], above[, 2]))
  expect_equal(edges$r, r[cbind(edges$from, edges$to)], tolerance = 1e-7)
  diag(r) <- 0
  expect_equal(quietly(gpuConnectivity(wide, power = 2))$soft[, 1], rowSums(r^2, na.rm = TRUE), tolerance = 1e-6)

  for (verb in c("gpuCorNetwork", "gpuCor")) {
    path <- tempfile("plan-")
    arguments <- if (verb == "gpuCorNetwork") list(threshold = 0.6)
    truth <- quietly(do.call(verb, c(list(wide), arguments)))
    do.call(quiet_plan, c(list(path, wide), arguments, list(verb = verb, shards = 4)))
    suppressWarnings(quiet_run(path))
    found <- quietly(gpuCorCollect(path))
    expect_true(identical(without_call(found), without_call(truth)), label = verb)
    unlink(path, recursive = TRUE)
  }
})

test_that("no message says that few nonzeros are made dense, nor that Kendall's are", {
  tell_again()
  expect_no_message(gpuCor(wide[, 1:5]))
  expect_no_message(gpuCor(as_sparse(few_nonzeros(100, 10, 0.2, 5)), method = "kendall"))
  expect_no_message(gpuDist(as_sparse(few_nonzeros(10, 100, 0.2, 5)), method = "kendall"))
  expect_message(gpuCor(as_sparse(few_nonzeros(100, 10, 0.2, 5))),
                 "made dense.*at a time, except for Kendall's tau \\(")
  tell_again()
  expect_message(gpuCor(as_sparse(few_nonzeros(100, 10, 0.6, 5))), "made dense, a block of columns at a time \\(")
})

test_that("Kendall's tau of entries is that of dense columns, to the last bit", {
  is_compared_by_entries <- function(m) length(m@x) <= 0.3 * length(m)
  tau <- function(...) quietly(gpuCor(..., method = "kendall", output = "matrix"))
  few_levels <- few_nonzeros(1000, 40, 0.08, 2)
  counts <- abs(few_nonzeros(1000, 40, 0.28, 5)) # counted in tables
  positive <- abs(few_nonzeros(1000, 40, 0.08, 3))
  many <- few_nonzeros(900, 60, 0.01, 4) # two columns have more entries than are compared one by one
  many[, 1] <- rexp(900) * (runif(900) < 0.9)
  many[, 2] <- many[, 1] + rexp(900) * (runif(900) < 0.5)
  many[, 3] <- rnorm(900)
  missing <- special
  missing[7, 20] <- NA
  missing[8, 21] <- Inf
  for (x in list(few_levels, counts, positive, many, special, missing)) {
    m <- as_sparse(x, zeros = 1:50)
    expect_true(is_compared_by_entries(m))
    expect_identical(tau(m), tau(x))
    expect_identical(tau(m[, 1:20], m[, 21:40]), tau(x[, 1:20], x[, 21:40]))
    expect_identical(tau(m, threads = 3), tau(m, threads = 1))
  }
  m <- as_sparse(few_levels)
  expect_identical(as.vector(gpuCor(m, method = "kendall")), as.vector(gpuCor(few_levels, method = "kendall")))
  expect_identical(gpuCorNetwork(m, density = 0.1, method = "kendall")@x,
                   gpuCorNetwork(few_levels, density = 0.1, method = "kendall")@x)
  expect_identical(gpuCorTest(m, method = "kendall")$p.value, gpuCorTest(few_levels, method = "kendall")$p.value)
})
