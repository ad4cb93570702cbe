# Files in AnnData's layout, read back by those who have a reader for it.

# Values that are exact in float32; explicit zeros are entries like others.
sparse_values <- function(n) {
  x <- round(rnorm(n) * 64) / 64
  x[seq_len(min(n, 3))] <- 0
  x
}

# Some rows and columns have no entries.
rectangular <- function(n_row = 30, n_col = 20) {
  set.seed(11)
  n <- round(n_row * n_col / 5)
  at <- unique(data.frame(i = sample(2:(n_row - 1), n, TRUE), j = sample(2:n_col, n, TRUE)))
  at <- at[at$i != 5, ]
  Matrix::sparseMatrix(i = at$i, j = at$j, x = sparse_values(nrow(at)), dims = c(n_row, n_col))
}

symmetric <- function(uplo = "U", n = 25) {
  m <- rectangular(n, n)
  m <- m + Matrix::t(m) + Matrix::sparseMatrix(i = c(3, 7), j = c(3, 7), x = 1, dims = c(n, n))
  Matrix::forceSymmetric(m, uplo)
}

method_and_sign <- list(method = "kendall", sign = "both \u00b1", threshold = 0.5, pairs = 2^40 + 1, n_obs = 12L)

write_file <- function(matrix, ..., file = tempfile(fileext = ".h5ad"), details = method_and_sign) {
  h5 <- gpucor:::open_network_file(file, nrow(matrix), ncol(matrix), rownames(matrix), colnames(matrix))
  on.exit(gpucor:::discard_network_file(h5))
  gpucor:::write_network(h5, matrix, ...)
  gpucor:::close_network_file(h5, details)
}

# The rows of a matrix, written by append_rows().
write_pieces <- function(matrix, pieces, file = tempfile(fileext = ".h5ad")) {
  h5 <- gpucor:::open_network_file(file, nrow(matrix), ncol(matrix), rownames(matrix), colnames(matrix))
  on.exit(gpucor:::discard_network_file(h5))
  rows <- Matrix::t(matrix) # its columns
  for (piece in pieces) {
    entries <- unlist(lapply(piece, function(row) seq_len(rows@p[row + 1] - rows@p[row]) + rows@p[row]))
    gpucor:::append_rows(h5, diff(rows@p)[piece], rows@i[entries], rows@x[entries])
  }
  gpucor:::close_network_file(h5, method_and_sign)
}

test_that("a matrix comes row after row, by any pieces", {
  skip_if_not_installed("rhdf5")
  m <- rectangular()
  truth <- expected_content(m)
  expect_gt(sum(diff(truth$`X/indptr`) == 0), 2)
  for (block in c(1, 17, if (full_tier()) 1e6)) expect_identical(content(write_file(m, block = block)), truth)
  expect_identical(content(write_file(m)), truth)
  expect_identical(content(write_pieces(m, as.list(1:30))), truth)
  expect_identical(content(write_pieces(m, list(1, 2:5, integer(), 6:30))), truth)
  wide <- rectangular(4, 5000)
  expect_identical(content(write_file(wide, block = 100)), expected_content(wide))
  expect_nothing_open()
})

test_that("a symmetric matrix is written with both triangles", {
  skip_if_not_installed("rhdf5")
  truth <- expected_content(symmetric())
  expect_true(is(symmetric(), "dsCMatrix"))
  for (uplo in c("U", "L")) for (block in if (full_tier()) c(1, 17, 1e6) else 17) {
    expect_identical(content(write_file(symmetric(uplo), block = block)), truth)
  }
})

test_that("pieces may be larger than a chunk", {
  skip_if_not_installed("rhdf5")
  set.seed(12)
  m <- Matrix::rsparsematrix(300, 4000, 0.5, rand.x = sparse_values)
  expect_identical(content(write_file(m)), expected_content(m))
  expect_identical(content(write_pieces(m, split(1:300, sort(rep(1:7, length.out = 300))))), expected_content(m))
})

test_that("there need be no entries and no rows", {
  skip_if_not_installed("rhdf5")
  for (size in list(c(5, 3), c(0, 7), c(4, 0), c(0, 0))) {
    m <- Matrix::sparseMatrix(i = integer(), j = integer(), x = numeric(), dims = size)
    expect_identical(content(write_file(m)), expected_content(m))
  }
  m <- Matrix::sparseMatrix(i = integer(), j = integer(), x = numeric(), dims = c(6, 6), symmetric = TRUE)
  expect_identical(content(write_file(m))$`X/indptr`, numeric(7))
})

test_that("more than 2^31 entries have their places", {
  skip_if_not_installed("rhdf5")
  h5 <- gpucor:::open_network_file(tempfile(fileext = ".h5ad"), 3, 20)
  on.exit(gpucor:::discard_network_file(h5))
  h5$entries <- 3e9 # as if these had come, all zeros; they take no room
  gpucor:::append_rows(h5, 10, 0:9, 1:10 / 4)
  gpucor:::append_rows(h5, c(0, 3), 10:12, 11:13 / 4)
  file <- gpucor:::close_network_file(h5)
  expect_lt(file.size(file), 1e7)
  expect_identical(as.vector(rhdf5::h5read(file, "X/indptr", bit64conversion = "double")), c(0, 3e9 + c(10, 10, 13)))
  expect_identical(as.vector(rhdf5::h5read(file, "X/data", start = 3e9, count = 14)), 0:13 / 4)
  columns <- rhdf5::h5read(file, "X/indices", start = 3e9 + 1, count = 13, bit64conversion = "double")
  expect_identical(as.vector(columns), as.numeric(0:12))
})

test_that("a file bears its name when it is complete, and not before", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  h5 <- gpucor:::open_network_file(file, 2, 2)
  expect_match(dir(folder), paste0("^net\\.h5ad\\.partial-.*-", Sys.getpid(), "-[0-9a-f]{8}$"))
  gpucor:::append_rows(h5, 1, 1L, 0.5)
  expect_error(gpucor:::close_network_file(h5), "only 1 of 2 rows came")
  expect_error(gpucor:::append_rows(h5, c(1, 1), 0:1, c(1, 1)))
  expect_error(gpucor:::append_rows(h5, 2, 0L, 1))
  expect_false(file.exists(file))
  gpucor:::append_rows(h5, 0, integer(), numeric())
  expect_identical(gpucor:::close_network_file(h5), file.path(normalizePath(folder), "net.h5ad"))
  expect_identical(dir(folder), "net.h5ad")
  gpucor:::discard_network_file(h5) # has nothing to do
  expect_identical(dir(folder), "net.h5ad")
  expect_nothing_open()
})

test_that("nothing is left of a file that is given up", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  h5 <- gpucor:::open_network_file(file, 2, 2)
  gpucor:::append_rows(h5, 1, 1L, 0.5)
  for (time in 1:2) gpucor:::discard_network_file(h5)
  expect_length(dir(folder), 0)
  expect_nothing_open()
  h5 <- gpucor:::open_network_file(file, 2, 2) # the name is free again
  rhdf5::h5closeAll() # by somebody else
  expect_error(gpucor:::append_rows(h5, 1, 1L, 0.5), "cannot write \"[^\"]*net.h5ad\": [^;]*$")
  gpucor:::discard_network_file(h5)
  expect_length(dir(folder), 0)
  expect_error(gpucor:::open_network_file(file, 2, 2, row_names = list(1, mean)), "cannot write")
  expect_length(dir(folder), 0)
  expect_nothing_open()
})

test_that("no other file is overwritten", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  writeLines("mine", file)
  expect_error(gpucor:::open_network_file(file, 2, 2), "which exists; remove it or choose another name")
  expect_identical(dir(folder), "net.h5ad")
  unlink(file)
  h5 <- gpucor:::open_network_file(file, 0, 0)
  writeLines("mine", file) # meanwhile
  expect_error(gpucor:::close_network_file(h5), "cannot rename .*another file has that name by now")
  gpucor:::discard_network_file(h5)
  expect_identical(readLines(file), "mine")
  unlink(file)
  h5 <- gpucor:::open_network_file(file, 0, 0)
  unlink(h5$partial)
  expect_error(gpucor:::close_network_file(h5), "cannot rename")
  gpucor:::discard_network_file(h5)
  expect_length(dir(folder), 0)
  expect_nothing_open()
})

# ---- other readers

test_that("HDF5Array reads it", {
  skip_unless_full()
  skip_if_not_installed("rhdf5")
  skip_if_not_installed("HDF5Array")
  on.exit(rhdf5::h5errorHandling())
  m <- rectangular()
  dimnames(m) <- list(paste0("g\u00e8ne ", 1:30), paste0("c", 1:20))
  for (x in list(m, symmetric())) {
    file <- write_file(x)
    # HDF5Array turns rhdf5's errors off where both share an HDF5 library, and then misses them.
    rhdf5::h5errorHandling()
    back <- HDF5Array::H5SparseMatrix(file, "X") # transposed, as R's matrices go by columns
    expect_identical(as.matrix(as(back, "dgCMatrix")), unname(as.matrix(Matrix::t(x))))
  }
  rhdf5::h5errorHandling()
  named <- tryCatch(suppressMessages(HDF5Array::H5ADMatrix(write_file(m))), error = function(condition) NULL)
  skip_if(is.null(named), "HDF5Array::H5ADMatrix() fails without rhdf5's errors")
  expect_identical(as.matrix(named), as.matrix(Matrix::t(m)))
})

python_with_anndata <- function() {
  for (python in unique(c(Sys.which("python3"), "/usr/bin/python3"))) {
    found <- nzchar(python) && file.exists(python) &&
      system2(python, c("-c", shQuote("import anndata, h5py")), stdout = FALSE, stderr = FALSE) == 0
    if (found) return(python)
  }
  skip("no python3 with anndata and h5py")
}

# Reads the files named and writes what it found of each to FILE.txt, as lines of tab-separated fields. A warning of
# read_h5ad() is an error.
reader <- '
import sys, warnings, anndata, h5py
def tell(file):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        a = anndata.read_h5ad(file)
    with open(file + ".txt", "w", encoding = "utf-8") as out, h5py.File(file, "r") as f:
        def say(*fields): print(*fields, sep = "\\t", file = out)
        say("shape", *a.X.shape)
        say("types", *(f["X/" + name].dtype for name in ("data", "indices", "indptr")))
        say("sorted", a.X.has_sorted_indices, a.X.has_canonical_format)
        say("obs", *a.obs_names)
        say("var", *a.var_names)
        say("columns", a.obs.shape[1], a.var.shape[1])
        say("empty", *(len(x) for x in (a.obsm, a.varm, a.obsp, a.varp, a.layers)))
        for name in a.uns: say("uns", name, type(a.uns[name]).__name__, a.uns[name])
        x = a.X.tocoo()
        for entry in zip(x.row, x.col, x.data): say("entry", *entry)
for file in sys.argv[1:]: tell(file)
'

# A list of what it found in each file, by one Python, which takes a second to start.
read_by_python <- function(files) {
  script <- tempfile(fileext = ".py")
  writeLines(reader, script)
  said <- suppressWarnings(system2(python_with_anndata(), shQuote(c(script, files)), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(said, "status"))) stop(paste(said, collapse = "\n"))
  lapply(files, function(file) {
    lines <- strsplit(readLines(paste0(file, ".txt"), encoding = "UTF-8"), "\t", fixed = TRUE)
    split(lapply(lines, function(fields) fields[-1]), vapply(lines, `[`, "", 1))
  })
}

test_that("AnnData reads it, also without entries, rows or columns, and warns of nothing", {
  skip_unless_full()
  skip_if_not_installed("rhdf5")
  m <- rectangular()
  dimnames(m) <- list(paste0("g\u00e8ne ", 1:30), paste0("\u7ec6\u80de", 1:20))
  written <- list(m, symmetric("L"))
  sizes <- list(c(5, 3), c(0, 7), c(4, 0), c(0, 0))
  empty <- lapply(sizes, function(size) {
    Matrix::sparseMatrix(i = integer(), j = integer(), x = numeric(), dims = size)
  })
  found <- read_by_python(c(vapply(written, write_file, ""), vapply(empty, write_file, "", details = list())))
  for (k in seq_along(written)) {
    x <- written[[k]]
    back <- found[[k]]
    truth <- expected_content(x)
    expect_identical(as.numeric(back$shape[[1]]), as.numeric(dim(x)))
    expect_identical(back$types[[1]], c("float32", "int64", "int64"))
    expect_identical(back$sorted[[1]], c("True", "True"))
    expect_identical(back$obs[[1]], truth$`obs/_index`)
    expect_identical(back$var[[1]], truth$`var/_index`)
    expect_identical(back$columns[[1]], c("0", "0"))
    expect_identical(back$empty[[1]], rep("0", 5))
    entries <- matrix(as.numeric(unlist(back$entry)), ncol = 3, byrow = TRUE)
    expect_identical(entries[, 1], rep(seq_len(nrow(x)) - 1, diff(truth$`X/indptr`)))
    expect_identical(entries[, 2], truth$`X/indices`)
    expect_identical(entries[, 3], truth$`X/data`)
  }
  expect_setequal(back$uns, list(c("method", "str", "kendall"), c("sign", "str", "both \u00b1"),
                                 c("threshold", "float64", "0.5"), c("pairs", "int64", "1099511627777"),
                                 c("n_obs", "int64", "12")))
  for (k in seq_along(sizes)) {
    expect_identical(as.numeric(found[[2 + k]]$shape[[1]]), sizes[[k]])
    expect_null(found[[2 + k]]$entry)
  }
})
