# What x and y may be, and what errors say.

x <- rounded(20, 8)
colnames(x) <- paste0("v", 1:8)
matrix_of <- function(...) suppressMessages(gpuCor(..., output = "matrix"))

# ---- kinds of matrices

test_that("integer and logical matrices and data frames are taken", {
  integers <- x
  storage.mode(integers) <- "integer"
  missing <- integers
  missing[3, 2] <- NA
  flags <- x > 0
  flags[5, 1] <- NA
  frame <- data.frame(real = normal(20, 1), whole = 1:20, flag = flags[, 2])
  for (backend in backends()) for (method in all_methods) {
    expect_like_cor(integers, NULL, "everything", method, backend, "integer")
    expect_like_cor(missing, NULL, "everything", method, backend, "integer, NA")
    expect_like_cor(missing, NULL, "pairwise.complete.obs", method, backend, "integer, NA")
    expect_like_cor(missing, normal(20, 3), "complete.obs", method, backend, "integer and double")
    expect_like_cor(flags, NULL, "pairwise.complete.obs", method, backend, "logical")
    expect_like_cor(frame, NULL, "everything", method, backend, "data frame")
    expect_like_cor(frame, as.data.frame(x), "everything", method, backend, "two data frames")
    expect_like_cor(cbind(2147483647L, c(-2147483647L, 1:19)), 1:20, "everything", method, backend, "large integers")
  }
})

test_that("vectors are taken with a y, and two of them give a number", {
  for (backend in backends()) for (method in all_methods) for (use in c("everything", "pairwise.complete.obs")) {
    expect_like_cor(x[, 1], x[, 2], use, method, backend, "two vectors")
    expect_like_cor(x[, 1], x, use, method, backend, "vector and matrix")
    expect_like_cor(x, x[, 2], use, method, backend, "matrix and vector")
    expect_like_cor(x[, 1, drop = FALSE], x[, 2, drop = FALSE], use, method, backend, "single columns")
    expect_like_cor(x[, 1] > 0, as.integer(x[, 2]), use, method, backend, "logical and integer vectors")
  }
  expect_true(is.numeric(gpuCor(x[, 1], x[, 2])) && is.null(dim(gpuCor(x[, 1], x[, 2]))))
})

test_that("an S4 object that is a matrix is taken as one", {
  where <- new.env()
  contains <- function(class, type) methods::setClass(class, contains = type, where = where)
  integers <- x
  storage.mode(integers) <- "integer"
  labelled <- methods::setClass("labelled", contains = "matrix", slots = c(label = "character"), where = where)
  s4 <- list(matrix = contains("own_matrix", "matrix")(x), slots = labelled(x, label = "mine"), bit = asS4(x),
             integers = asS4(integers), logical = asS4(x > 0),
             frame = contains("own_frame", "data.frame")(as.data.frame(x)))
  plain <- list(x, x, x, integers, x > 0, as.data.frame(x))
  for (k in seq_along(s4)) for (backend in backends()) for (method in all_methods) {
    expect_true(isS4(s4[[k]]))
    run <- function(f, ...) f(..., method = method, backend = backend)
    same <- function(f, ...) {
      label <- paste(names(s4)[k], method)
      ours <- run(f, s4[[k]], ...)
      expect_identical(as.vector(ours), as.vector(run(f, plain[[k]], ...)), label = label)
      expect_identical(dimnames(ours), dimnames(run(f, plain[[k]], ...)), label = label)
    }
    same(gpuCor)
    same(gpuCor, use = "pairwise")
    same(gpuCor, y = x[, 1:3])
    same(function(m, ...) gpuCor(x[, 1:3], m, ...))
    same(gpuDist)
    same(function(...) as.matrix(gpuCorNetwork(..., density = 0.3)))
    same(function(...) gpuConnectivity(..., threshold = 0.3)$degree)
    same(function(...) gpuCorTest(...)$p.value)
  }
  expect_identical(gpuCor(contains("own_vector", "numeric")(x[, 1]), x[, 2]), gpuCor(x[, 1], x[, 2]))
  methods::setClass("own_sparse", contains = "dgCMatrix", where = where)
  sparse <- methods::as(methods::as(x, "CsparseMatrix"), "own_sparse")
  expect_identical(as.vector(suppressMessages(gpuCor(sparse))), as.vector(gpuCor(x)))
  expect_error(gpuCor(contains("own_letters", "matrix")(matrix(letters, 13))), "'x' must be numeric")
})

test_that("x is not changed", {
  before <- x + 0
  for (method in all_methods) gpuCor(x, method = method)
  expect_identical(x, before)
})

# ---- package Matrix

sparse <- x
sparse[abs(sparse) < 1] <- 0
names_of_x <- colnames(x)

test_that("a sparse matrix is taken with a message, once a session, and is as good as a dense one", {
  stored <- Matrix::Matrix(sparse, sparse = TRUE)
  expect_s4_class(stored, "dgCMatrix")
  tell_again()
  expect_message(gpuCor(stored), "a sparse matrix is made dense, a block of columns at a time")
  expect_no_message(gpuCor(stored))
  expect_no_message(gpuCor(x, stored))
  for (backend in backends()) for (method in all_methods) {
    dense <- gpuCor(sparse, method = method, backend = backend)
    again <- suppressMessages(gpuCor(stored, method = method, backend = backend))
    expect_identical(as.vector(again), as.vector(dense))
    expect_identical(labels(again), names_of_x)
    expect_identical(matrix_of(stored, x, method = method, backend = backend),
                     gpuCor(sparse, x, method = method, backend = backend))
    expect_identical(matrix_of(x, stored, method = method, backend = backend),
                     gpuCor(x, sparse, method = method, backend = backend))
  }
})

test_that("every class of package Matrix is taken", {
  square <- crossprod(sparse[, 1:6])
  square[1, 3] <- square[3, 1] <- 0
  triangular <- square * upper.tri(square, diag = TRUE)
  columns <- methods::as(sparse, "CsparseMatrix")
  flags <- Matrix::Matrix(sparse != 0, sparse = TRUE)
  cases <- list(
    list(columns, sparse),
    list(methods::as(columns, "TsparseMatrix"), sparse),
    list(methods::as(columns, "RsparseMatrix"), sparse),
    list(flags, sparse != 0),
    list(methods::as(flags, "nMatrix"), sparse != 0),
    list(Matrix::forceSymmetric(methods::as(square, "CsparseMatrix")), square),
    list(methods::as(triangular, "CsparseMatrix"), triangular),
    list(Matrix::Diagonal(5), diag(5)),
    list(Matrix::Matrix(x, sparse = FALSE), x)
  )
  for (case in cases) {
    expect_s4_class(case[[1]], "Matrix")
    expect_identical(as.vector(suppressMessages(gpuCor(case[[1]], method = "kendall"))),
                     as.vector(gpuCor(case[[2]], method = "kendall")), label = class(case[[1]]))
  }
  # Entries may be stored although they are zero, and none need be.
  zeros <- Matrix::sparseMatrix(i = 1:4, j = c(1, 1, 2, 3), x = c(0, 2, 3, 1), dims = c(5, 3))
  expect_equal(matrix_of(zeros), cor(as.matrix(zeros)), tolerance = 1e-6)
  expect_warning(nothing <- matrix_of(methods::as(matrix(0, 5, 3), "CsparseMatrix")), "standard deviation is zero")
  expect_identical(is.na(nothing), diag(3) == 0)
})

test_that("missing values in a sparse matrix count as in a dense one", {
  sparse[4, 2] <- NA
  sparse[6:7, 5] <- NA
  sparse[6, 1] <- 0
  stored <- methods::as(sparse, "CsparseMatrix")
  for (backend in backends()) for (method in all_methods) for (use in all_uses[-2]) {
    expect_identical(suppressWarnings(matrix_of(stored, use = use, method = method, backend = backend)),
                     suppressWarnings(matrix_of(sparse, use = use, method = method, backend = backend)))
    expect_identical(suppressWarnings(matrix_of(stored, x, use = use, method = method, backend = backend)),
                     suppressWarnings(matrix_of(sparse, x, use = use, method = method, backend = backend)))
  }
  expect_error(suppressMessages(gpuCor(stored, use = "all.obs")), "missing observations in cov/cor")
})

test_that("integers of package bit64 are the numbers that they stand for", {
  skip_if_not_installed("bit64")
  numbers <- matrix(c(-2e15, -1, 0, 3, 2e15, 5, 4, -3e12, 1, 2), 5, dimnames = list(NULL, c("a", "b")))
  long <- bit64::as.integer64(numbers)
  truth <- cor(numbers)[2, 1]
  expect_equal(gpuCor(long[1:5], long[6:10]), truth, tolerance = 1e-6)
  expect_equal(gpuCor(`dim<-`(long, c(5, 2)))[1], truth, tolerance = 1e-6)
  frame <- data.frame(a = long[1:5], b = numbers[, 2])
  expect_equal(gpuCor(frame), gpuCor(numbers), ignore_attr = "call")
  expect_equal(gpuAssociation(numbers, frame["a"])$r[2], truth)
})

# ---- infinite values

test_that("the logarithm of zero is warned of, wherever coefficients are", {
  counts <- matrix(rpois(30 * 50, 2), 30, dimnames = list(NULL, paste0("g", 1:50)))
  logs <- log2(counts)
  bad <- which(colSums(counts == 0) > 0)
  told <- paste0("infinite values leave no coefficient (", length(bad), " of 50 columns of 'x': g1, g2, g3, ...); ",
                 "log2(0) is -Inf, and log2(x + 1) of counts is finite")
  for (backend in backends()) for (method in c("pearson", "bicor", "cosine")) {
    for (use in c("everything", "pairwise.complete.obs")) {
      by <- function(f, ...) {
        texts <- warnings_of(f(logs, use = use, method = method, backend = backend, ...))
        grep("infinite", texts, value = TRUE)
      }
      expect_identical(by(gpuCor), told)
      expect_identical(by(gpuCor, output = "matrix"), told)
      expect_identical(by(gpuCorTest, df = if (method == "cosine") 9), told)
      expect_identical(by(gpuCorTriangle), told)
      expect_identical(by(gpuCor, y = counts), told)
    }
  }
  r <- suppressWarnings(gpuCor(logs))
  expect_identical(sum(is.na(r)), sum(is.na(suppressWarnings(cor(logs))[lower.tri(diag(50))])))
  expect_match(warnings_of(gpuCor(counts[, 1:4], logs)), " of 50 columns of 'y': g1")
  expect_match(warnings_of(gpuDist(t(logs), method = "pearson")), " of 50 rows of 'x': g1")
  expect_identical(warnings_of(gpuCor(logs, method = "spearman")), character())
  expect_identical(warnings_of(gpuCor(logs, method = "kendall")), character())
  expect_identical(warnings_of(gpuCor(log2(counts + 1))), character())
  expect_identical(warnings_of(gpuCorTest(logs[, 1:9], adjust = "maxT", n_perm = 9)),
                   warnings_of(gpuCor(logs[, 1:9])))
})

# ---- names

test_that("dimnames are those of cor()", {
  named <- x
  rownames(named) <- paste0("o", 1:20)
  bare <- unname(x)
  for (pair in list(list(named, bare[, 1:3]), list(bare, named[, 1:3]), list(named, named[, 1:3]),
                    list(bare, bare[, 1:3]), list(named, x[, 1]), list(named[, 1], named))) {
    expect_identical(dimnames(gpuCor(pair[[1]], pair[[2]])), dimnames(cor(pair[[1]], pair[[2]])))
  }
  for (m in list(named, bare)) {
    expect_identical(dimnames(gpuCor(m, output = "matrix")), dimnames(cor(m)))
    expect_identical(dimnames(as.matrix(gpuCor(m))), dimnames(cor(m)))
  }
})

# ---- errors

test_that("what is not numeric is refused by name", {
  expect_error(gpuCor(matrix(letters, 13)), "'x' must be numeric, not a matrix of character values")
  expect_error(gpuCor(matrix(1i, 3, 3)), "'x' must be numeric, not a matrix of complex values")
  expect_error(gpuCor(list(1:3, 4:6)), "not a vector; a list has a matrix for each subject, and as.data.frame\\(x\\)")
  expect_error(gpuCor(list(1, 2), x[, 1]), "'x' is a list of subjects, and 'y' is none")
  expect_error(gpuCor(x, letters[1:20]), "'y' must be numeric, not of class character")
  expect_error(gpuCor(factor(letters), 1:26), "'x' must be numeric, not of class factor")
  expect_error(gpuCor(iris), "'x' must be numeric, but column 5 (Species) is of class factor", fixed = TRUE)
  expect_error(gpuCor(x, data.frame(a = 1:20, b = letters[1:20])), "'y' must be numeric, but column 2 \\(b\\)")
  expect_error(gpuCor(NULL), "supply both 'x' and 'y' or a matrix-like 'x'|'x' must be numeric")
  expect_error(gpuCor(sum, x), "'x' must be numeric")
})

test_that("shapes that do not fit are refused with the numbers", {
  expect_error(gpuCor(1:5), "supply both 'x' and 'y' or a matrix-like 'x'", fixed = TRUE)
  expect_error(gpuCor(x, x[-1, ]), "incompatible dimensions: 'x' has 20 rows (observations), 'y' has 19", fixed = TRUE)
  expect_error(gpuCor(1:5, 1:4), "incompatible dimensions")
  expect_error(gpuCor(x, numeric()), "incompatible dimensions")
})

test_that("errors about missing and absent values are those of cor()", {
  x[1, ] <- NA
  empty <- matrix(0, 0, 3)
  error_of <- function(code) tryCatch(code, error = conditionMessage)
  for (method in all_methods) {
    expect_error(gpuCor(x, use = "all.obs", method = method), error_of(cor(x, use = "all.obs")), fixed = TRUE)
    expect_error(gpuCor(x * NA, use = "complete.obs", method = method), error_of(cor(x * NA, use = "complete.obs")),
                 fixed = TRUE)
    expect_error(gpuCor(empty, use = "all.obs", method = method), error_of(cor(empty, use = "all.obs")), fixed = TRUE)
    expect_error(gpuCor(empty, use = "complete.obs", method = method), "no complete element pairs", fixed = TRUE)
  }
  expect_error(gpuCor(empty, use = "pairwise"), "'x' is empty", fixed = TRUE)
  expect_identical(gpuCor(numeric(), numeric()), cor(numeric(), numeric()))
  expect_length(gpuCor(matrix(0, 5, 0)), 0)
})

test_that("empty input is answered, or refused, as by cor()", {
  for (backend in backends()) for (n_obs in 0:1) {
    inputs <- small_inputs(n_obs, letters)
    others <- c(list("none"), small_inputs(n_obs, LETTERS))
    rows <- covering(x = seq_along(inputs), y = seq_along(others), method = all_methods, use = all_uses)
    # A pair that lacks its only row has a test of its own.
    rows <- subset(rows, !(n_obs == 1 & method == "kendall" & use == "pairwise.complete.obs"))
    for (k in seq_len(nrow(rows))) {
      method <- rows$method[k]
      use <- rows$use[k]
      x <- inputs[[rows$x[k]]]
      y <- others[[rows$y[k]]]
      label <- paste(backend, method, use, deparse1(x))
      run <- function(...) gpuCor(..., use = use, method = method, backend = backend)
      if (!identical(y, "none")) {
        expect_same_answer(run(x, y), reference_cor(x, y, use, method), paste(label, "with y", deparse1(y)))
      } else if (is.matrix(x)) {
        expect_same_answer(run(x, output = "matrix"), reference_cor(x, NULL, use, method), label)
        expect_same_answer(as.matrix(run(x)), reference_cor(x, NULL, use, method), paste(label, "as.matrix()"))
      }
    }
  }
  expect_nothing_live()
})

test_that("y without columns gives no coefficients, whatever `use` is", {
  nothing <- x[, 0]
  for (backend in backends()) for (method in all_methods) for (use in all_uses) {
    expect_like_cor(x, nothing, use, method, backend, "y without columns")
    expect_like_cor(with_missing(x, 0.3), nothing, use, method, backend, "missing values, y without columns")
    expect_like_cor(x * NA, nothing, use, method, backend, "all missing, y without columns")
    expect_like_cor(nothing, x, use, method, backend, "x without columns")
    truth <- outcome(reference_cor(x, nothing, use, method))
    for (f in list(function(...) gpuCorNetwork(..., threshold = 0.5), gpuCorTest)) {
      ours <- outcome(f(x, nothing, use = use, method = method, backend = backend))
      expect_identical(ours$error, truth$error, label = paste(method, use))
    }
  }
})

test_that("choices may be abbreviated as in R, and others are listed", {
  expect_identical(matrix_of(x, method = "k"), matrix_of(x, method = "kendall"))
  expect_identical(matrix_of(x, use = "pair"), matrix_of(x, use = "pairwise.complete.obs"))
  expect_identical(gpuCor(x, out = "m"), gpuCor(x, output = "matrix"))
  expect_identical(matrix_of(x, backend = "cp"), matrix_of(x, backend = "cpu"))
  expect_identical(gpuCorTriangle(x, order = "c"), gpuCorTriangle(x, order = "column"))

  expect_error(gpuCor(x, method = "tau"), fixed = TRUE,
               paste("'method' must be one of \"pearson\", \"kendall\", \"spearman\", \"bicor\", \"cosine\",",
                     "\"distance\", \"mi\", \"coherence\", \"concordance\", \"given\", \"rv\", not \"tau\""))
  expect_error(gpuCor(x, method = c("kendall", "pearson")), "'method' must be one of")
  expect_error(gpuCor(x, method = NA), "'method' must be one of .*, not NA")
  expect_error(gpuCor(x, method = 2), "'method' must be one of .*, not 2")
  expect_error(gpuCor(x, use = "none"), "invalid 'use' argument: it must be one of .*, not \"none\"")
  expect_error(gpuCor(x, use = ""), "invalid 'use' argument")
  expect_error(gpuCor(x, use = NULL), "invalid 'use' argument")
  expect_error(gpuCor(x, output = "vector"), "'output' must be one of")
  expect_error(gpuCor(x, backend = "opencl"), "'backend' must be one of \"auto\", \"cuda\", \"cpu\", not \"opencl\"")
  expect_error(gpuCorTriangle(x, order = "diagonal"), "'order' must be one of")
})

test_that("settings are checked", {
  for (bad in list(0, -1, 1.5, NA, "2", c(1, 2), Inf, 1e6)) {
    expect_error(gpuCor(x, threads = bad), "'threads' must be a whole number between 1 and 4096, not")
  }
  for (bad in list(-1, 0.5, NA_real_, "1 GB", Inf)) {
    expect_error(gpuCor(x, memory = bad), "'memory' must be a whole number .*bytes")
  }
  for (bad in list(NA, 1, "yes", c(TRUE, FALSE))) {
    expect_error(gpuCor(x, progress = bad), "'progress' must be TRUE or FALSE, not")
  }
  expect_error(gpuCor(x, treads = 2), "unused argument 'treads'; did you mean 'threads'?", fixed = TRUE)
  for (f in list(gpuCor, gpuCorTriangle, gpuDist, gpuCorTest)) expect_error(f(x, cores = 2), "unused argument 'cores'")
})
