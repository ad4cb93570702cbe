# HDF5 files: chunks, and the layouts of AnnData and of 10x.

test_that("blocks begin where chunks do", {
  skip_if_not_installed("rhdf5")
  old <- options(gpucor.orientation = "columns") # else some columns are read to see whether they are variables
  on.exit(options(old))
  x <- rounded(3000, 400) # a block has 174 columns, and a panel all of them
  for (chunk in list(c(3000, 7), c(100, 100), c(10, 300), c(3000, 400), c(1500, 1))) {
    file <- write_dense(x, chunk)
    read <- list()
    count <- function(x, columns) {
      read[[length(read) + 1]] <<- columns
      rhdf5::h5read(x$file, x$dataset, start = c(1, columns[1]), count = c(nrow(x), length(columns)))
    }
    ours <- gpuCorFile(file, dataset = "data")
    with_values(list(read_dense = count), {
      expect_identical(bare(gpuCor(ours, memory = 1.3e7)), bare(gpuCor(x)))
    })
    first <- vapply(read, `[`, 0, 1)
    ends <- vapply(read, max, 0)
    expect_true(all((first - 1) %% chunk[2] == 0 | (first - 1) %in% ends | first == 1))
    expect_true(any(lengths(read) >= chunk[2]))
    expect_identical(bare(gpuCor(gpuCorFile(write_dense(t(x), rev(chunk)), dataset = "data", transpose = TRUE))),
                     bare(gpuCor(x)))
  }
})

test_that("columns are picked in any order", {
  x <- rounded(50, 300)
  skip_if_not_installed("rhdf5")
  file <- gpuCorFile(write_dense(x), dataset = "data")
  for (columns in list(1:300, 300:1, c(5, 5, 5), integer(), c(1, 300), c(200, 3:20, 7), sample(300), 4)) {
    for (values in c(700, 2^22)) with_values(list(BLOCK_VALUES = values), {
      expect_identical(gpucor:::read_columns(file, columns), x[, columns, drop = FALSE])
      expect_identical(file[, columns], x[, columns, drop = FALSE])
    })
  }
})

# ---- files of a known layout

# An m x n sparse matrix with names, in the layouts of Python: write_anndata() has the rows of x as cells.
sparse_data <- function(n_obs = 40, n_var = 30) {
  x <- heavy_ties(n_obs, n_var)
  x[, 4] <- 0
  x[7, ] <- 0
  dimnames(x) <- list(paste0("cell", seq_len(n_obs)), paste0("gene", seq_len(n_var)))
  x
}

# A group of compressed columns of m (by rows, of its transpose), at `group`.
write_group <- function(file, group, m, attributes = list()) {
  rhdf5::h5createGroup(file, group)
  rhdf5::h5write(m@x, file, paste0(group, "/data"))
  rhdf5::h5write(m@i, file, paste0(group, "/indices"))
  rhdf5::h5write(m@p, file, paste0(group, "/indptr"))
  write_attributes(file, group, attributes)
}

write_attributes <- function(file, name, attributes) {
  h5 <- rhdf5::H5Fopen(file)
  on.exit(rhdf5::h5closeAll())
  object <- rhdf5::H5Oopen(h5, name)
  for (k in names(attributes)) rhdf5::h5writeAttribute(attributes[[k]], object, k)
}

write_anndata <- function(x, layout, index = "_index") {
  file <- tempfile(fileext = ".h5ad")
  rhdf5::h5createFile(file)
  for (frame in c("obs", "var")) {
    rhdf5::h5createGroup(file, frame)
    rhdf5::h5write(dimnames(x)[[if (frame == "obs") 1L else 2L]], file, paste0(frame, "/", index))
    write_attributes(file, frame, list(`_index` = index))
  }
  shape <- list(`encoding-type` = paste0(layout, "_matrix"), shape = dim(x))
  if (layout == "dense") rhdf5::h5write(t(unname(x)), file, "X")
  if (layout == "csr") write_group(file, "X", methods::as(t(unname(x)), "CsparseMatrix"), shape)
  if (layout == "csc") write_group(file, "X", methods::as(unname(x), "CsparseMatrix"), shape)
  file
}

write_10x <- function(x) {
  file <- tempfile(fileext = ".h5")
  rhdf5::h5createFile(file)
  write_group(file, "matrix", methods::as(t(unname(x)), "CsparseMatrix"))
  rhdf5::h5write(rev(dim(x)), file, "matrix/shape")
  rhdf5::h5write(rownames(x), file, "matrix/barcodes")
  rhdf5::h5createGroup(file, "matrix/features")
  rhdf5::h5write(colnames(x), file, "matrix/features/id")
  file
}

test_that("files of AnnData and of 10x are cells x genes, dense or sparse", {
  skip_if_not_installed("rhdf5")
  x <- sparse_data()
  files <- list(dense = write_anndata(x, "dense"), csr = write_anndata(x, "csr", "names"),
                csc = write_anndata(x, "csc"), `10x` = write_10x(x))
  results_of <- function(x, other) {
    run <- function(...) suppressMessages(suppressWarnings(bare(...)))
    list(run(gpuCor(x, method = "spearman")), run(gpuDist(x))[1:9], run(gpuCorNetwork(x, threshold = 0.1)),
         run(gpuCor(other)))
  }
  truth <- results_of(x, t(x))
  for (layout in names(files)) {
    file <- gpuCorFile(files[[layout]])
    expect_identical(dim(file), dim(x), label = layout)
    expect_identical(as.matrix(file), x, label = layout)
    expect_identical(file[3:5, c("gene3", "gene1")], x[3:5, c("gene3", "gene1")], label = layout)
    other <- gpuCorFile(files[[layout]], transpose = TRUE)
    expect_identical(as.matrix(other), t(x), label = layout)
    expect_identical(results_of(file, other), truth, label = layout)
    expect_output(print(file), "40 observations x 30 variables")
  }
  sparse <- suppressMessages(gpucor:::read_sparse(gpuCorFile(files$csr)))
  expect_true(methods::validObject(sparse))
  expect_identical(sparse, methods::as(x, "CsparseMatrix"))
})

test_that("what Python's anndata writes is read", {
  skip_unless_full()
  skip_if_not_installed("rhdf5")
  can_write <- function(python) {
    file.exists(python) && system2(python, c("-c", shQuote("import anndata")), stdout = FALSE, stderr = FALSE) == 0
  }
  python <- Find(can_write, unique(c(Sys.which("python3"), "/usr/bin/python3")))
  skip_if(is.null(python), "Python has no anndata")
  files <- tempfile(c("csr", "csc", "dense"), fileext = ".h5ad")
  code <- c("import anndata, numpy as np, scipy.sparse as sp, pandas as pd",
            "x = np.round(np.sin(np.arange(600.0)).reshape(30, 20), 1)",
            "obs = pd.DataFrame(index=['c%d' % i for i in range(30)])",
            "var = pd.DataFrame(index=['g%d' % i for i in range(20)])",
            sprintf("anndata.AnnData(%s, obs=obs, var=var, layers={'l': x}).write_h5ad('%s')",
                    c("sp.csr_matrix(x)", "sp.csc_matrix(x)", "x"), files))
  script <- tempfile(fileext = ".py")
  writeLines(code, script)
  skip_if(system2(python, script, stdout = FALSE, stderr = FALSE) != 0, "Python cannot write")
  x <- matrix(round(sin(0:599), 1), 30, byrow = TRUE, dimnames = list(paste0("c", 0:29), paste0("g", 0:19)))
  for (file in files) {
    expect_equal(as.matrix(gpuCorFile(file)), x, tolerance = 1e-6) # anndata may store floats
    expect_equal(as.matrix(gpuCorFile(file, dataset = "layers/l")), x, tolerance = 1e-6)
  }
})

test_that("entries in any order are read; a damaged group is an error", {
  skip_if_not_installed("rhdf5")
  x <- sparse_data()
  shuffled <- function(layout) {
    file <- write_anndata(x, layout)
    starts <- rhdf5::h5read(file, "X/indptr")
    order <- unlist(lapply(seq_along(starts[-1]), function(k) rev(seq_len(starts[k + 1] - starts[k])) + starts[k]))
    for (part in c("X/data", "X/indices")) rhdf5::h5write(as.vector(rhdf5::h5read(file, part))[order], file, part)
    file
  }
  for (layout in c("csr", "csc")) expect_identical(as.matrix(gpuCorFile(shuffled(layout))), x, label = layout)
  damage <- function(part, change, message) {
    for (layout in c("csr", if (full_tier()) "csc")) {
      file <- write_anndata(x, layout)
      ours <- gpuCorFile(file)
      values <- change(as.vector(rhdf5::h5read(file, part)))
      rhdf5::h5delete(file, part)
      rhdf5::h5write(values, file, part)
      expect_error(suppressMessages(gpuCor(ours)), message, label = paste(layout, part))
    }
  }
  damage("X/indices", function(v) replace(v, 3, 1000L), "an index is not in 0 to")
  damage("X/indices", function(v) replace(v, 3, -1L), "an index is not in 0 to")
  damage("X/indices", function(v) replace(v, 3, v[3] + 0.5), "or no whole number")
  damage("X/indices", function(v) replace(as.numeric(v), 3, NaN), "or no whole number")
  damage("X/indices", as.character, "its indices are of type character")
  damage("X/data", as.character, "its data are of type character")
  damage("X/indptr", function(v) c(v[1:3], v[4] + 0.5, v[-(1:4)]), "its starts do not fit")
  damage("X/indices", function(v) replace(v, 2, v[1]), "two entries have the same indices")
  damage("X/indices", function(v) v[-1], "its starts do not fit")
  damage("X/data", function(v) v[-1], "its starts do not fit")
  damage("X/indptr", function(v) v[-1], "its starts do not fit")
  damage("X/indptr", function(v) replace(v, 1, 1L), "its starts do not fit")
  damage("X/indptr", function(v) replace(v, 5, 1000L), "its starts do not fit")
  with_values(list(SPARSE_LIMIT = 100), {
    expect_error(gpuCor(gpuCorFile(write_anndata(x, "csr"))), "a sparse matrix of R can have 100; write it as a dense")
  })
})

test_that("a damaged HDF5 file is an error of the package, before and after it was opened", {
  skip_if_not_installed("rhdf5")
  x <- rounded(40, 30)
  file <- write_dense(x, c(20, 15), level = 6)
  bytes <- readBin(file, "raw", file.size(file))
  ours <- gpuCorFile(file, dataset = "data")
  n <- length(bytes)
  damages <- c(lapply(c(20, 100, 600, n - 100), function(size) bytes[seq_len(size)]),
               lapply(c(9, 100, 300, 800, 1000), function(at) replace(bytes, at + 0:40, as.raw(255))))
  ended <- vapply(damages, FUN.VALUE = "", function(damaged) {
    writeBin(damaged, file)
    for (run in list(function() gpuCor(ours), function() gpuCor(gpuCorFile(file, dataset = "data")))) {
      error <- tryCatch(run(), error = identity)
      if (!inherits(error, "gpuCor")) expect_s3_class(error, "gpucor_error_file")
    }
    class(error)[1]
  })
  expect_true(sum(ended == "gpucor_error_file") >= 5)
  writeBin(bytes, file)
  expect_identical(bare(gpuCor(ours)), bare(gpuCor(x)))
})

test_that("an HDF5 file that cannot be used is an error that says so", {
  skip_if_not_installed("rhdf5")
  x <- small_data()$complete
  file <- write_dense(x)
  rhdf5::h5write(letters, file, "letters")
  rhdf5::h5write(matrix(letters[1:4], 2), file, "words")
  rhdf5::h5createGroup(file, "group")
  expect_error(gpuCorFile(file), "neither of AnnData's nor of 10x's layout.*\"data\", \"letters\", \"words\"")
  expect_error(gpuCorFile(file, dataset = "absent/data"), "does not have; it has \"data\"")
  expect_error(gpuCorFile(file, dataset = "data/more"), "does not have")
  expect_error(gpuCorFile(file, dataset = ""), "must be one string")
  expect_error(gpuCorFile(file, dataset = "letters"), "which has 1 dimension ")
  expect_error(gpuCorFile(file, dataset = "words"), "of type character, not numbers")
  expect_error(gpuCorFile(file, dataset = "group"), "no sparse matrix")
  expect_error(gpuCorFile(file, dataset = 1), "'dataset' must be one string, the name of a dataset, not 1")
  expect_error(gpuCorFile(file, dataset = "data", transpose = NA), "'transpose' must be TRUE or FALSE")
  expect_error(gpuCorFile(file, rev(dim(x)), dataset = "data"), "'dim' is 40 x 30, but \"data\" is 30 x 40")
  ours <- gpuCorFile(file, dim(x), dataset = "data")
  again <- unserialize(serialize(ours, NULL))
  expect_identical(bare(gpuCor(again)), bare(gpuCor(unname(x))))
  rhdf5::h5delete(file, "data")
  expect_error(gpuCor(ours), "has no dataset \"data\" any more")
  rhdf5::h5write(x[, -1], file, "data")
  expect_error(gpuCor(ours), "is 30 x 39 now, and was 30 x 40")
  writeLines("no longer", file)
  expect_error(gpuCor(ours), "has no dataset")
  unlink(file)
  expect_error(gpuCor(ours), "does not exist")
  expect_nothing_live()
})
