# Kendall of long columns, of few levels and of both: pairs are then computed one by one, by sorting, by tables of
# levels or by sums, where that is cheaper than to compare all pairs of observations.

n <- if (full_tier()) 1800 else 1300
long <- cbind(normal(n, 3), matrix(rpois(3 * n, 0.3), n), matrix(rbinom(2 * n, 1, 0.3), n),
              round(normal(n, 1, 5), 1), 5, rounded(n, 1, 6))
colnames(long) <- letters[1:11]
holes <- with_missing(long, 0.1)
holes[, 2] <- NA
holes[-(1:2), 3] <- NA # two observations

# tau-b by its definition, over all pairs of rows, each row against those after it: cor() takes long. A pair of columns
# has the pairs of rows that miss none of their values.
tau_b <- function(x, use) {
  if (use == "everything") x[, colSums(is.na(x)) > 0] <- NA
  signs <- lapply(seq_len(nrow(x) - 1), function(k) {
    after <- x[-seq_len(k), , drop = FALSE]
    row <- rep(x[k, ], each = nrow(after))
    s <- (after > row) - (after < row) # infinite values tie
    known <- !is.na(s)
    s[!known] <- 0
    list(products = crossprod(s), squares = crossprod(abs(s), known))
  })
  squares <- Reduce(`+`, lapply(signs, `[[`, "squares"))
  r <- Reduce(`+`, lapply(signs, `[[`, "products")) / sqrt(squares * t(squares))
  r[squares == 0 | t(squares) == 0] <- NA
  if (use == "everything") diag(r) <- 1 # as in cor()
  r
}

# In the full tier cor() itself.
long_cor <- function(x, y = NULL, use = "everything") {
  if (full_tier()) return(suppressWarnings(cor(x, y, use, "kendall")))
  r <- tau_b(cbind(x, y), use)
  if (is.null(y)) return(r)
  r[seq_len(ncol(x)), -seq_len(ncol(x))]
}

test_that("what stands in for cor() is cor()", {
  expect_as_cor <- function(x, use) expect_equal(tau_b(x, use), suppressWarnings(cor(x, NULL, use, "kendall")))
  some <- 1:200
  expect_as_cor(long[some, ], "everything")
  expect_as_cor(holes[some, ], "everything")
  expect_as_cor(holes[some, ], "pairwise")
  expect_as_cor(with_infinite(long)[some, ], "everything")
})

expect_as_cor <- function(x, y = NULL, use = "everything", backend) {
  truth <- long_cor(x, y, use)
  found <- suppressWarnings(gpuCor(x, y, "kendall", use, output = "matrix", backend = backend))
  expect_identical(is.na(found), is.na(truth))
  expect_equal(found, truth, tolerance = 1e-12)
}

for (backend in backends()) {
  test_that(paste(backend, "long columns have the coefficients of cor()"), {
    expect_as_cor(long, backend = backend)
    expect_as_cor(long[, 1:4], long[, 5:11], backend = backend)
    expect_as_cor(long[, c(4, 7)], backend = backend)
    expect_as_cor(holes, use = "pairwise", backend = backend)
    expect_as_cor(holes[, 4:6], holes[, 7:11], "pairwise", backend = backend)
    expect_as_cor(holes[, 3:11], backend = backend)
    expect_as_cor(with_infinite(long), backend = backend)
    expect_nothing_live()
  })

  test_that(paste(backend, "networks, sums and neighbours of long columns follow from their coefficients"), {
    r <- suppressWarnings(gpuCor(long, method = "kendall", output = "matrix", backend = backend))
    r[is.na(r)] <- 0
    diag(r) <- 0
    net <- suppressWarnings(gpuCorNetwork(long, threshold = 0.02, method = "kendall", backend = backend))
    expect_equal(as.matrix(net), ifelse(abs(r) >= 0.02, r, 0))
    sums <- suppressWarnings(gpuConnectivity(long, threshold = 0.02, power = 2, method = "kendall", backend = backend))
    expect_equal(sums$degree, rowSums(abs(r) >= 0.02))
    expect_equal(unname(sums$soft[, 1]), unname(rowSums(r^2)))
  })

  test_that(paste(backend, "is the same by any number of threads, of workers and of levels about it"), {
    truth <- suppressWarnings(gpuCor(long, method = "kendall", backend = backend))
    expect_identical(suppressWarnings(gpuCor(long, method = "kendall", backend = backend, threads = 3))[1:55],
                     truth[1:55])
    few <- gpuCor(long[, 4:8], method = "kendall", backend = backend)
    expect_identical(few[1:10], as.vector(as.dist(as.matrix(truth)[4:8, 4:8])))
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    with_options(list(gpucor.workers_per_device = 2), {
      expect_identical(suppressWarnings(gpuCor(long, method = "kendall", backend = backend))[1:55], truth[1:55])
    })
  })
}

# On a GPU few columns are sorted and many are products of sets of bits, with a tile's bits opened for it up to 1,770
# observations, or in a network 4,096. A block of a sort has 4,096 observations, one of bits 256.
lengths <- c(1025, 1279, 1280, 1281, 1800, 2303, 2305, 4096, 4097, 8193)

test_that("columns of many lengths, few and many, have the processor's coefficients on a GPU", {
  skip_without_gpu()
  run <- function(f, x, backend) {
    r <- suppressWarnings(f(x, method = "kendall", backend = backend))
    if (isS4(r)) list(r@p, r@i, r@x) else as.vector(r)
  }
  network <- function(...) gpuCorNetwork(..., threshold = 0.02)
  for (n in lengths) {
    x <- cbind(normal(n, 37, n), round(normal(n, 2, 1), 1), rexp(n) * rbinom(n, 1, 0.2), matrix(rpois(3 * n, 0.3), n),
               rbinom(n, 1, 0.3), 5)
    for (columns in list(1:3, c(1, 38:40), 38:45, 1:37, 1:45)) {
      what <- paste(n, "x", length(columns))
      expect_identical(run(gpuCor, x[, columns], "cuda"), run(gpuCor, x[, columns], "cpu"), label = what)
      expect_identical(run(network, x[, columns], "cuda"), run(network, x[, columns], "cpu"), label = what)
    }
    against <- function(...) gpuCor(..., y = x[, 30:45])
    expect_identical(run(against, x[, 1:20], "cuda"), run(against, x[, 1:20], "cpu"), label = paste("rectangle", n))
  }
  expect_nothing_live()
})

test_that("the rows of a sorted column come in the order of the ranks, whatever ties and missing values", {
  n <- if (full_tier()) 2000 else 1500
  x <- cbind(normal(n, 2), round(normal(n, 1), 1), rexp(n) * rbinom(n, 1, 0.1), -n:-1)
  x[, 5] <- x[sample(n), 5]
  truth <- long_cor(x)
  expect_equal(gpuCor(x, method = "kendall", output = "matrix", backend = "cpu"), truth, tolerance = 1e-12)
  expect_equal(gpuCor(x, method = "spearman", output = "matrix", backend = "cpu"), cor(x, method = "spearman"),
               tolerance = 1e-7)
  holes <- with_missing(x, 0.2)
  expect_equal(gpuCor(holes, use = "pairwise", method = "kendall", output = "matrix", backend = "cpu"),
               long_cor(holes, use = "pairwise"), tolerance = 1e-12)
})

test_that("values of every size are sorted as R sorts them", {
  set.seed(9)
  extremes <- c(.Machine$double.xmin, 5e-324, -5e-324, 0, -0, Inf, -Inf, 1, -1, 1e308)
  x <- c(stats::rnorm(500) * 10^stats::runif(500, -300, 300), extremes)
  x <- cbind(x, sample(x), rev(x))
  ranks <- apply(x, 2, rank)
  expect_equal(gpuCor(x, method = "spearman", output = "matrix", backend = "cpu"), cor(ranks), tolerance = 1e-7,
               ignore_attr = TRUE)
})

test_that("long columns fail cleanly wherever memory fails", {
  run <- function() suppressWarnings(gpuCorTriangle(long, method = "kendall", backend = "cpu"))
  messages <- walk_failures(run, "host", "long columns")
  expect_match(unique(messages), ways_out[["host"]])
})
