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

# rhdf5 cannot read a dataset of length 0.
content <- function(file) {
  listed <- rhdf5::h5ls(file)
  empty <- paste(listed$group, listed$name, sep = "/")[listed$dim == "0"]
  sapply(c("X/data", "X/indices", "X/indptr", "obs/_index", "var/_index"), simplify = FALSE, function(name) {
    if (paste0("/", name) %in% empty) return(if (startsWith(name, "X")) numeric() else character())
    as.vector(rhdf5::h5read(file, name, bit64conversion = "double"))
  })
}

# What the file has to say of a matrix.
expected_content <- function(matrix) {
  rows <- Matrix::t(as(matrix, "generalMatrix"))
  names_or_numbers <- function(names, n) if (is.null(names)) as.character(seq_len(n)) else names
  list(`X/data` = rows@x, `X/indices` = as.numeric(rows@i), `X/indptr` = as.numeric(rows@p),
       `obs/_index` = names_or_numbers(rownames(matrix), nrow(matrix)),
       `var/_index` = names_or_numbers(colnames(matrix), ncol(matrix)))
}

expect_nothing_open <- function() expect_length(rhdf5::h5validObjects(), 0)

# A new folder, so that all that is in it is known.
new_folder <- function() {
  folder <- tempfile("network")
  dir.create(folder)
  folder
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

# ---- networks that go to a file

details_of <- function(file) {
  listed <- rhdf5::h5ls(file)
  sapply(listed$name[listed$group == "/uns"], simplify = FALSE, function(name) {
    as.vector(rhdf5::h5read(file, paste0("uns/", name), bit64conversion = "double"))
  })
}

# The file has the network's edges, its values as floats, and its slots.
expect_file_of <- function(file, net, label = "") {
  truth <- expected_content(net)
  there <- content(file)
  slots <- c("criterion", "edges", "method", "n_obs", "pairs", "sign", "threshold", "value")
  known <- Filter(Negate(is.na), sapply(slots, function(name) methods::slot(net, name), simplify = FALSE))
  details <- details_of(file)
  same <- vapply(names(truth)[-1], function(part) identical(there[[part]], truth[[part]]), NA)
  data <- all.equal(there$`X/data`, truth$`X/data`, tolerance = 2^-24)
  wrong <- c(if (!isTRUE(data)) paste("data:", data[1]), names(same)[!same],
             if (!identical(details[order(names(details))], known)) "uns")
  expect(length(wrong) == 0, paste(c(label, wrong), collapse = "\n"))
}

# The file of a network has what the network in memory has, and the same warnings.
expect_file_is_network <- function(..., label = "") {
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  here <- warnings_of(net <- gpuCorNetwork(...))
  there <- warnings_of(result <- gpuCorNetwork(..., file = file))
  expect_identical(there, here, label = paste(label, "warnings"))
  expect_identical(list(result$file, result$edges, class(result)[1]),
                   list(file.path(normalizePath(folder), "net.h5ad"), net@edges, "gpuCorNetworkFile"), label = label)
  expect_identical(dir(folder), "net.h5ad")
  expect_file_of(file, net, label)
  unlink(folder, recursive = TRUE)
  invisible(result)
}

asked_of_files <- list(list(threshold = 0.3), list(threshold = 0), list(threshold = 1), list(density = 0.05),
                       list(k = 2), list(k = 2, mutual = TRUE), list(p.value = 0.05), list(fdr = 0.5))

for (backend in backends()) {
  test_that(paste(backend, "writes the network that it would return"), {
    skip_if_not_installed("rhdf5")
    x <- `colnames<-`(rounded(14, 40), paste0("v", 1:40))
    some_rows <- x
    some_rows[1:3, ] <- with_missing(some_rows[1:3, ], 0.3)
    data <- list(constants = with_constants(x), missing_in_some_rows = some_rows, missing = with_missing(x, 0.05),
                 ties = x)
    rows <- covering(criterion = seq_along(asked_of_files), kind = names(data)[if (full_tier()) 1:4 else 1:3],
                     method = all_methods, with_y = c(FALSE, TRUE), strength = if (full_tier()) 2 else 1)
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      x <- data[[row$kind]]
      criterion <- asked_of_files[[row$criterion]]
      use <- switch(row$kind, missing_in_some_rows = "complete.obs", missing = "pairwise.complete.obs", "everything")
      run <- function(...) {
        do.call(expect_file_is_network, c(list(..., use = use, method = row$method, backend = backend), criterion,
                                          label = paste(c(backend, names(criterion)[1], row), collapse = " ")))
      }
      if (row$with_y) run(x[, 1:25], x[, 16:30], sign = "positive") else run(x)
    }
    expect_nothing_left()
    expect_nothing_open()
  })

  # What writes knows edges and no method; Spearman's come from the product that makes Pearson's.
  test_that(paste(backend, "writes the same whatever the bands and the memory"), {
    skip_if_not_installed("rhdf5")
    x <- with_constants(rounded(14, 20))
    holes <- with_missing(x, 0.02)
    given <- list(list(x), list(x[, 1:14], x[, 10:20]), list(holes, use = "na.or.complete", sign = "positive"),
                  list(holes, use = "pairwise", sign = "negative"))
    criteria <- list(list(threshold = 0), list(density = 0.05))
    sizes <- list(c(1, 1), c(200, 1000), c(40, 0))
    rows <- covering(given = 1:4, size = if (full_tier()) 1:3 else 1:2, criterion = 1:2,
                     method = c("pearson", "kendall"))
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      arguments <- c(given[[row$given]], criteria[[row$criterion]], method = row$method, backend = backend,
                     label = paste(c(backend, row), collapse = " "))
      size <- sizes[[row$size]]
      with_bands(size[1], size[2], do.call(expect_file_is_network, arguments))
    }
    expect_nothing_left()
  })

  test_that(paste(backend, "writes networks without variables or edges"), {
    skip_if_not_installed("rhdf5")
    rows <- covering(n_var = 0:2, side = c("alone", "x", "y"), criterion = c(2, 4), method = c("pearson", "kendall"))
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      few <- normal(12, row$n_var)
      given <- switch(row$side, alone = list(few), x = list(few, normal(12, 3)), y = list(normal(12, 3), few))
      do.call(expect_file_is_network, c(given, asked_of_files[[row$criterion]], method = row$method, backend = backend,
                                        label = paste(row, collapse = " ")))
    }
    for (method in c("pearson", "kendall")) {
      run <- function(...) expect_file_is_network(..., method = method, backend = backend)
      run(normal(12, 5) * NA, threshold = 0)
      run(normal(12, 5) * NA, density = 0.5)
      run(normal(1, 5), threshold = 0)
    }
  })
}

test_that("what x may be for a file, and names of one side", {
  skip_if_not_installed("rhdf5")
  x <- rounded(20, 12)
  named <- `colnames<-`(x, paste0("g\u00e8ne ", 1:12))
  sparse <- Matrix::Matrix(named, sparse = TRUE)
  run <- function(...) suppressMessages(expect_file_is_network(..., threshold = 0.2))
  expect_output(print(run(named, x[, 1:5])), "Network in .*net.h5ad.*[0-9]+ edges")
  both <- summary(run(named, x[, 1:5]))
  expect_identical(both$variables, c(12L, 5L))
  alone <- summary(run(x))
  here <- summary(gpuCorNetwork(x, threshold = 0.2))
  parts <- c("variables", "observations", "pairs", "edges", "density", "threshold")
  expect_identical(unclass(alone)[parts], unclass(here)[parts])
  expect_output(print(alone), "Network in .*net.h5ad")
  run(x, named[, 1:5])
  run(as.data.frame(named))
  run(sparse)
  run(sparse, sparse[, 1:4])
  sparse[3, 4] <- NA
  run(sparse, use = "complete.obs")
  run(x[, 1], x)
})

test_that("a file that exists is an error before any work", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  writeLines("mine", file)
  x <- normal(10, 5)
  x[1, 1] <- NA
  for (criterion in asked_of_files) {
    # The work would fail.
    run <- function(file) do.call(gpuCorNetwork, c(list(x, use = "all.obs", file = file), criterion))
    expect_error(run(file), "which exists; remove it or choose another name")
    expect_error(run(file.path(folder, "none", "net.h5ad")), "whose folder does not exist")
    expect_error(run(file.path(folder, "other.h5ad")), "missing observations")
  }
  expect_error(gpuCorNetwork(x, threshold = 0.5, file = 1), "'file' must be one string")
  expect_identical(dir(folder), "net.h5ad")
  expect_identical(readLines(file), "mine")
})

test_that("nothing is left of a file whose network fails", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  x <- with_constants(rounded(12, 40))
  expect_error(gpuCorNetwork(x[1:2, ], p.value = 0.1, file = file), "at least 3 observations")
  expect_length(dir(folder), 0)
  # A warning turned into an error comes after the last row.
  with_options(list(warn = 2), expect_error(gpuCorNetwork(x, threshold = 0.1, file = file), "standard deviation"))
  expect_length(dir(folder), 0)
  for (backend in backends()) for (resource in resources_of(backend)) {
    # While edges are found and go to the disk, and in any of the bands.
    for (criterion in asked_of_files[c(4, 5)]) for (k in c(1, 5, 20, 40, 60, 80, 100)) {
      fail_at(resource, k)
      failed <- with_bands(50, 1, tryCatch({
        do.call(quiet_network, c(list(x, file = file, backend = backend), criterion))
        FALSE
      }, error = function(condition) TRUE))
      fail_at(resource, 0)
      expect_nothing_left(paste(backend, resource, k))
      if (k == 1) expect_true(failed)
      expect_identical(dir(folder), if (failed) character() else "net.h5ad")
      unlink(file)
    }
  }
  expect_nothing_open()
  quiet_network(x, threshold = 0.1, file = file)
  expect_file_of(file, quiet_network(x, threshold = 0.1))
})

test_that("a file has the same bytes of edges wherever these were meanwhile, and compressed", {
  skip_if_not_installed("rhdf5")
  set.seed(13)
  x <- rounded(20, 200)
  write <- function(bytes, ..., entries = 900) {
    file <- file.path(new_folder(), "net.h5ad")
    with_bands(entries, bytes, result <- gpuCorNetwork(x, ..., file = file))
    list(content = content(file), details = details_of(file), size = file.size(file), edges = result$edges)
  }
  for (criterion in if (full_tier()) asked_of_files else asked_of_files[c(1, 6)]) {
    truth <- do.call(write, c(list(0), criterion))
    for (bytes in c(1, 1e4)) {
      expect_identical(do.call(write, c(list(bytes), criterion)), truth, label = paste(names(criterion)[1], bytes))
    }
  }
  truth <- write(0, threshold = 0.1)
  # Bands of which some begin within what HDF5 compresses as one, which costs as much again each time.
  for (compression in c(1, 9)) for (entries in if (full_tier()) c(3000, 1e7) else 3000) {
    smaller <- write(1, threshold = 0.1, compression = compression, entries = entries)
    expect_identical(smaller[-3], truth[-3])
    expect_lt(smaller$size, 0.8 * truth$size)
  }
  expect_error(gpuCorNetwork(x, threshold = 0.1, compression = 1), "'compression' has a meaning with 'file' only")
  expect_error(gpuCorNetwork(x, threshold = 0.1, compression = 10, file = tempfile()),
               "'compression' must be a whole number between 0 and 9, not 10")
  with_options(list(gpucor.spool_bytes = -1), {
    expect_error(gpuCorNetwork(x, threshold = 0.1, file = tempfile()), "'spool_bytes' must be a whole number")
  })
  expect_nothing_left()
})

test_that("a file may have more edges than a sparse matrix", {
  skip_if_not_installed("rhdf5")
  x <- rounded(14, 60)
  ours <- gpucor:::constant
  few <- function(name) if (name == "max edges") 100 else ours(name)
  for (criterion in list(list(threshold = 0), list(density = 0.5), list(density = 1), list(k = 5))) {
    file <- file.path(new_folder(), "net.h5ad")
    net <- do.call(gpuCorNetwork, c(list(x), criterion))
    with_values(list(constant = few), {
      expect_error(do.call(gpuCorNetwork, c(list(x), criterion)), "file =")
      with_bands(500, 1000, do.call(gpuCorNetwork, c(list(x, file = file), criterion)))
    })
    expect_gt(net@edges, 100)
    expect_file_of(file, net)
  }
  expect_nothing_left()
})

test_that("what a file takes of memory is not what it takes of the disk", {
  skip_unless_full()
  skip_if_not_installed("rhdf5")
  skip_without_children()
  skip_if_not(file.exists("/proc/self/status"))
  # 12.5 million edges: 150 MB until they are written, 300 MB of entries in the file. Those of a tile are in memory. The
  # peak of a process never falls, so that the call that may take more comes after the other.
  more <- callr::r(function(file) {
    library(gpucor)
    options(gpucor.threads = 1L)
    utils::assignInNamespace("BAND_ENTRIES", 1e6, "gpucor")
    x <- matrix(rep_len(sample.int(1e6L), 20 * 10000), 20)
    gpuCorNetwork(x[, 1:50], threshold = 0.5, file = paste0(file, "0"), backend = "cpu")
    high <- function() as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE)))
    before <- high()
    vapply(c(1e7, 0), function(bytes) {
      options(gpucor.spool_bytes = bytes)
      gpuCorNetwork(x, threshold = 0.27, file = file, backend = "cpu")
      unlink(file)
      (high() - before) / 1024
    }, 0)
  }, list(file.path(new_folder(), "net.h5ad")))
  expect_lt(more[1], 120)
  expect_gt(more[2], 150)
})
