# A call that takes more memory than there is: an error before anything is computed, not the end of R. What is free is
# what the tests say, so that nothing large is allocated.

# Nor is memory reclaimed, which takes longer than all else.
with_free <- function(bytes, code) {
  with_values(list(free_memory = function(...) bytes), code)
}

# The engine is not asked for a run.
without_runs <- function(code) {
  call_engine <- gpucor:::call_engine
  asked <- function(entry, ...) if (entry %in% gpucor:::ENTRIES) stop("computed") else call_engine(entry, ...)
  with_values(list(call_engine = asked), code)
}

# A matrix of so many columns, of next to no memory.
few_rows <- function(n, seed = 1) normal(3, n, seed)

# Exactly `bytes` are enough, and not one less; a call that fits is allowed to be as slow as it likes.
expect_limit <- function(bytes, call, message, label = message) {
  with_free(bytes - 1, without_runs(expect_error(call(), message, label = label)))
  with_free(bytes, without_runs(expect_error(call(), "^(data set 1: )?computed$", label = paste(label, "fits"))))
}

test_that("a result of 320 GB is refused at once, and R goes on", {
  free <- gpucor:::free_memory()
  skip_if_not(is.finite(free) && free < 3e11)
  x <- few_rows(4e5)
  used <- system.time({
    expect_error(gpuCor(x), paste0("^gpuCor\\(\\) takes 320 GB, for 79,999,800,000 pairs; [0-9.,]+ [MG]B of ",
                                   "memory are free; gpuCorNetwork\\(\\), gpuCorPairs\\(\\) and gpuConnectivity\\(\\)"))
    expect_error(gpuTOM(x), "^gpuTOM\\(\\) takes 32[0-9] GB, .* free; output = \"network\"")
  })
  expect_lt(sum(used[c("user.self", "sys.self")]), 5) # of processor, whatever else the machine does
  expect_identical(gpuCor(x[, 1:2])[1], cor(x[, 1:2])[2], tolerance = 1e-6)
})

# Pairs of 2,000 columns, and bytes of their coefficients.
n <- 2000
pairs <- n * (n - 1) / 2
compact <- 64 * ceiling(4 * pairs / 64) + 8 * n

test_that("coefficients are refused when they do not fit, and only then", {
  x <- few_rows(n)
  expect_limit(compact, function() gpuCor(x), "^gpuCor\\(\\) takes 8.01 MB, for 1,999,000 pairs; .* gpuCorNetwork")
  expect_limit(8 * pairs, function() gpuCor(x, precision = "double"), "^gpuCor\\(\\) takes 16 MB")
  expect_limit(8 * pairs, function() gpuCor(x, use = "pairwise"), "takes 16 MB")
  expect_limit(compact, function() gpuCor(x, method = "kendall"), "takes 8.01 MB")
  expect_limit(8 * n^2, function() gpuCor(x, output = "matrix"), "^gpuCor\\(output = \"matrix\"\\) takes 32 MB")
  with_free(1e7, expect_error(gpuCor(x, output = "matrix"), "output = \"dist\" takes less"))
  with_free(5e6, expect_error(gpuCor(x, output = "matrix"), "gpuCorNetwork\\(\\), gpuCorPairs"))
  expect_limit(8 * n * 500, function() gpuCor(x, x[, 1:500]), "^gpuCor\\(\\) takes 8 MB, for 1,000,000 values")
  expect_limit(compact, function() gpuCorTriangle(x), "^gpuCorTriangle\\(\\) takes 8.01 MB")
  expect_limit(compact, function() gpuDist(t(x)), "^gpuDist\\(\\) takes 8.01 MB, .* gpuCorNetwork\\(t\\(x\\)\\)")
  expect_limit(8 * pairs, function() gpuCor(list(x, x), combine = "mean"), "^gpuCor\\(\\) takes 16 MB")
  sparse <- methods::as(Matrix::rsparsematrix(3, n, 0.5), "CsparseMatrix")
  suppressMessages(expect_limit(compact, function() gpuCor(sparse), "^gpuCor\\(\\) takes 8.01 MB"))
})

test_that("tests of pairs take what is allocated for them", {
  x <- few_rows(n)
  expect_limit(compact + 16 * pairs, function() gpuCorTest(x), "^gpuCorTest\\(\\) takes 40 MB, .*p.value = ")
  expect_limit(compact + 32 * pairs, function() gpuCorTest(x, adjust = "maxT"), "takes 72 MB")
  expect_limit(compact + 32 * pairs, function() gpuCorTest(x, conf.level = 0.95), "takes 72 MB")
  tall <- matrix(rnorm(6e5), 2e5)
  expect_limit(16 * 6e5, function() gpuCorTest(tall, adjust = "maxT", surrogate = "phase"),
               "^adjust = \"maxT\" takes 9.6 MB, for 600,000 values")
  expect_limit(24 * n^2, function() gpuCorTest(x, output = "matrix"), "^gpuCorTest\\(\\) takes 96 MB")
  expect_limit(24 * n^2, function() gpuCor(x, output = "list"), "^gpuCorTest\\(\\) takes 96 MB")
  x[1, 1] <- NA
  expect_limit(compact + 24 * pairs, function() gpuCorTest(x), "takes 56 MB")
  expect_limit(93 * pairs, function() gpuCorCompare(few_rows(n)[c(1:3, 1:3), ], few_rows(n, 2)[c(1:3, 1:3), ]),
               "^gpuCorCompare\\(\\) takes 186 MB, .* says which pairs to keep")
  with_free(1e7, {
    expect_error(gpuTtest(5, numeric(2e6)), "^gpuTtest\\(\\) takes 16 MB, for 2,000,000 coefficients")
    expect_error(gpuCorPerm(few_rows(500)), "^gpuCorPerm\\(\\) takes 18 MB, for 250,000 values")
  })
})

test_that("topological overlap takes the result and two slabs of adjacencies at least", {
  skip_if("cuda" %in% gpuInfo()$backends, "on a GPU adjacencies are in its memory")
  x <- few_rows(n)
  side <- 64
  slabs <- 4 * n * 2 * side
  more <- slabs + floor(slabs / 7) + 1
  expect_limit(compact + more, function() gpuTOM(x), "^gpuTOM\\(\\) takes 9.18 MB, .* output = \"network\"")
  expect_limit(8 * n^2 + more, function() gpuTOM(x, output = "matrix"), "^gpuTOM\\(\\) takes 33.2 MB")
  expect_limit(3 * compact, function() gpuTOM(list(x, x), combine = "min"),
               "^gpuTOM\\(\\) takes 24 MB, for 1,999,000 pairs and 2 data sets")
})

test_that("what is made of coefficients is refused, too", {
  r <- gpuCor(few_rows(n))
  with_free(8 * n^2 - 1, expect_error(as.matrix(r), "^the matrix takes 32 MB, for 2,000 variables; .* r\\[i, j\\]"))
  with_free(16 * pairs - 1, {
    expect_error(r + 1, "^'\\+' takes 32 MB, for 1,999,000 pairs; .* 1 - r takes none")
    expect_error(r * r, "^'\\*' takes 48 MB")
    expect_error(sqrt(r), "^'sqrt' takes 32 MB")
    expect_s3_class(1 - r, "dist")
    expect_length(r > 0.5, pairs) # a logical vector, and doubles
  })
  with_free(8 * pairs - 1, expect_error(as.data.frame(r), "^the data frame takes 16 MB"))
})

test_that("networks whose criterion says how many edges there are, are refused", {
  x <- few_rows(n)
  expect_limit(24 * ceiling(pairs / 2), function() gpuCorNetwork(x, density = 0.5),
               "^density = 0.5 takes 24 MB, for 999,500 edges; .* keeps a network on the disk")
  expect_limit(24 * n * 200 / 2, function() gpuCorNetwork(x, k = 200), "^k = 200 takes 4.8 MB, for 200,000 edges")
  expect_limit(24 * ceiling(pairs / 2), function() gpuCorNetwork(x, density = c(0.1, 0.5)), "^density = 0.5 takes")
  for (fits in list(quote(gpuCorNetwork(x, density = 0.5, sign = "positive")),
                    quote(gpuCorNetwork(x, k = 200, mutual = TRUE)), quote(gpuCorNetwork(x, threshold = 0.5)))) {
    with_free(1e6, without_runs(expect_error(eval(fits), "^computed$")))
  }
})

test_that("copies of data are refused", {
  x <- matrix(rnorm(6e5), 6000)
  with_free(3e6, {
    expect_error(gpuCorNetwork(as.data.frame(x), threshold = 0.5),
                 "^'x' as a matrix takes 4.8 MB, for 600,000 values; .* gpuCorFile")
    expect_error(gpuCorNetwork(Matrix::Matrix(x, sparse = FALSE), threshold = 0.5), "^'x' as a matrix takes")
  })
})

test_that("small requests ask for nothing, and what is free is found again", {
  x <- few_rows(300)
  with_values(list(free_memory = function(...) stop("asked")), {
    expect_s3_class(gpuCor(x), "gpuCor")
    expect_length(as.matrix(gpuCor(x)), 9e4)
    expect_s3_class(gpuTOM(x), "gpuTOM")
  })
  free <- c(1e6, 1e9) # what is not used any more is given back before an error
  with_values(list(free_memory = function(...) {
    now <- free[1]
    free <<- free[-1]
    now
  }), expect_s3_class(gpuCor(few_rows(n)), "gpuCor"))
  with_values(list(free_memory = function(...) Inf), {
    expect_silent(gpucor:::check_memory(1e30, "this", "everything", "nothing"))
    expect_identical(gpucor:::spool_bytes(), 2^30)
  })
})

test_that("gpuClean() counts what R copies of a block", {
  x <- few_rows(1e5)
  values <- 8 * length(x)
  clean <- function(...) gpuClean(x, runs = rep(1, nrow(x)), ...)
  of_block <- 8 * gpucor:::BLOCK_COPIES * length(x)
  file <- tempfile()
  with_free(of_block + values - 1, expect_error(clean(), "^gpuClean\\(\\) takes .*'file' writes them to a file$",
                                                class = "gpucor_error_memory"))
  with_free(of_block - 1, expect_error(clean(file = file), "^gpuClean\\(\\) takes .*; close other programs$",
                                       class = "gpucor_error_memory"))
  with_free(of_block + values, expect_identical(dim(clean()), dim(x)))
  with_free(of_block, expect_s3_class(clean(file = file), "gpuCorFile"))
})
