# What R computes of columns goes over them in blocks, and is the same whatever the blocks.

with_blocks_of <- function(values, code) with_values(list(BLOCK_VALUES = values), code)

test_that("blocks hold each column once, in order", {
  for (size in list(c(4, 10), c(0, 3), c(5, 1), c(3, 0), c(7, 7))) for (values in c(1, 9, 28, 1e6)) {
    m <- matrix(seq_len(prod(size)) + 0, size[1], size[2], dimnames = list(NULL, letters[seq_len(size[2])]))
    with_blocks_of(values, {
      columns <- gpucor:::block_columns(m)
      expect_identical(as.numeric(unlist(columns)), as.numeric(seq_len(size[2])))
      expect_true(all(lengths(columns) == 1 | lengths(columns) * size[1] <= values))
      blocks <- gpucor:::column_blocks(m, identity)
      expect_identical(do.call(cbind, c(list(m[, 0]), blocks)), unname(m), ignore_attr = "dimnames")
    })
  }
  m <- matrix(c(1, NA, 3, 4, 5, 6), 3)
  for (m in list(m, m > 2, methods::as(m, "CsparseMatrix"), `storage.mode<-`(m, "integer"))) {
    expect_true(gpucor:::has_missing(m))
    expect_false(gpucor:::has_missing(m[, 2, drop = FALSE]))
  }
})

test_that("no result depends on the blocks", {
  some_rows <- rounded(14, 30)
  some_rows[1:3, ] <- with_missing(some_rows[1:3, ], 0.1)
  data <- list(ties = with_constants(rounded(14, 30)), missing = with_missing(rounded(14, 30), 0.1),
               some_rows = some_rows, sparse = methods::as(some_rows, "CsparseMatrix"))
  jobs <- list(
    test = function(...) gpuCorTest(...)[c("n", "statistic", "p.value")],
    p.value = function(...) gpuCorNetwork(..., p.value = 0.1, output = "edges"),
    fdr = function(...) gpuCorNetwork(..., fdr = 0.8, output = "edges")
  )
  rows <- covering(kind = names(data), method = all_methods, use = all_uses[-(2:3)], job = names(jobs),
                   values = c(1, 50), sides = c("x", "x, y"))
  for_rows(rows, function(kind, method, use, job, values, sides, label) {
    x <- data[[kind]]
    x <- if (sides == "x") list(x) else list(x[, 1:9], x[, 8:30])
    # Where no row is complete, p values are an error.
    run <- function() suppressMessages(outcome(do.call(jobs[[job]], c(x, list(use = use, method = method)))))
    at_once <- run()
    expect_identical(with_blocks_of(values, run()), at_once, label = label)
  })
  expect_error(with_blocks_of(1, pickPower(data$missing, 1:3)), "has missing values")
})

test_that("many columns of Pearson's, which a GPU centres, are the processor's", {
  skip_without_gpu()
  x <- rounded(23, 1040)
  x[3, 1] <- NA
  x[, 2] <- NA
  x[4, 3] <- Inf
  x[5, 4] <- NaN
  x[, 5] <- 7
  x[, 6] <- x[, 6] * 1e300
  x[, 7] <- x[, 7] * 1e-310
  x[, 8] <- x[, 8] + 1e9
  for (rows in list(1:23, 1:2, 1)) for (use in c("everything", "complete.obs")) {
    own <- if (use == "everything") x[rows, , drop = FALSE] else x[rows, -2, drop = FALSE]
    found <- lapply(c("cpu", "cuda"), function(backend) outcome(gpuCor(own, use = use, backend = backend)))
    expect_identical(found[[2]], found[[1]])
  }
  expect_identical(suppressWarnings(gpuCorNetwork(x, threshold = 0.5, backend = "cuda"))@x,
                   suppressWarnings(gpuCorNetwork(x, threshold = 0.5, backend = "cpu"))@x)
})
