# Raw files: the same results as of the matrix, to the last bit.

# A matrix in a raw file.
write_raw <- function(x, type = "double", offset = 0, file = tempfile("raw")) {
  values <- as.vector(x)
  if (type == "integer") values <- as.integer(values)
  connection <- file(file, "wb")
  on.exit(close(connection))
  writeBin(raw(offset), connection)
  writeBin(values, connection, size = if (type == "double") 8L else 4L, endian = "little")
  file
}

raw_file <- function(x, type = "double", offset = 0) {
  gpuCorFile(write_raw(x, type, offset), dim(x), type, dimnames(x), offset)
}

test_that("a raw file gives what the matrix gives", {
  expect_same_results(raw_file, small_data(), "raw")
  expect_same_results(function(x) raw_file(x, offset = 352), small_data(), "offset", which = "cor")
  expect_same_results(function(x) raw_file(x, offset = 3), small_data(), "odd offset", which = "cor")
  for (x in small_data()) {
    expect_identical(bare(outcome(gpuCor(raw_file(x), raw_file(x[, 3:9]), use = "pairwise"))),
                     bare(outcome(gpuCor(x, x[, 3:9], use = "pairwise"))))
  }
})

test_that("raw files are refused where bytes have another order, also those that another machine described", {
  x <- small_data()$complete
  ours <- raw_file(x)
  with_values(list(is_little_endian = function() FALSE), {
    message <- "raw files are little-endian, and this machine is not; use HDF5"
    expect_error(raw_file(x), message, class = "gpucor_error_file")
    for (use in list(gpuCor, gpuCorTest, function(x) gpuClean(x, 1:30), function(x) x[, 2])) {
      expect_error(use(ours), message, class = "gpucor_error_file")
    }
    one <- gpuCor(function(i) x, subjects = 2, combine = "fisher") # kept in memory
    expect_identical(bare(one), bare(gpuCor(list(x, x), combine = "fisher")))
  })
})

test_that("subjects that do not fit memory are in files that only the user may read", {
  skip_on_os("windows")
  folder <- tempfile("kept")
  dir.create(folder)
  old <- Sys.umask("000")
  on.exit(Sys.umask(old))
  kept <- with_options(list(gpucor.spool_bytes = 1, gpucor.folder = folder), {
    gpucor:::new_keeper()(small_data()$complete)
  })
  expect_identical(dirname(dirname(kept$file)), normalizePath(folder))
  expect_identical(format(file.mode(dirname(kept$file))), "700")
})

test_that("floats and integers are read as what they are", {
  whole <- round(100 * small_data()$missing)
  whole[is.nan(whole)] <- NA
  storage.mode(whole) <- "integer"
  expect_same_results(function(x) raw_file(x, "integer"), list(whole), "integer")
  expect_identical(raw_file(whole, "integer")[, ], whole)
  large <- `storage.mode<-`(normal(3000, 7) * 1e8, "integer") # no floats, and more than a piece
  expect_same_results(function(x) raw_file(x, "integer"), list(large), "large integers", which = "cor",
                      uses = "everything")

  halves <- round(4 * small_data()$missing) / 4 # are floats
  expect_same_results(function(x) raw_file(x, "float"), list(halves), "float")
  long <- round(4 * normal(3000, 7)) / 4
  expect_same_results(function(x) raw_file(x, "float"), list(long), "long float", which = "cor", uses = "everything")
})

test_that("a file is a matrix to look at", {
  x <- small_data()$complete
  file <- raw_file(x)
  expect_identical(dim(file), dim(x))
  expect_identical(c(nrow(file), ncol(file)), dim(x))
  expect_identical(colnames(file), colnames(x))
  expect_identical(as.matrix(file), x)
  expect_identical(file[, 3], x[, 3, drop = FALSE])
  expect_identical(file[, 3, drop = TRUE], x[, 3])
  expect_identical(file[, c("v7", "v2", "v7")], x[, c("v7", "v2", "v7")])
  expect_identical(file[2:3, -1], x[2:3, -1])
  expect_identical(file[, rep(c(TRUE, FALSE), 20)], x[, rep(c(TRUE, FALSE), 20)])
  expect_identical(file[, 0], x[, 0])
  expect_error(file[3], "x[, j]", fixed = TRUE)
  expect_error(file[, 41], "there is no column 41; there are 40", fixed = TRUE)
  expect_error(file[, "w"], "there is no column \"w\"", fixed = TRUE)
  expect_output(print(file), "30 observations x 40 variables in .*raw, double")
  empty <- gpuCorFile(write_raw(numeric()), c(0, 5))
  expect_identical(bare(gpuCor(empty)), bare(gpuCor(matrix(0, 0, 5))))
})

test_that("a file of many windows is given up as it is read", {
  skip_unless_full() # 120 MB
  skip_if_not(file.exists("/proc/self/status"))
  x <- matrix(rep_len(c(1, 5, 2, 9, 3, 3, 7), 3e6 * 5), ncol = 5) # 120 MB, and a column more than a window
  x[2, 2] <- 100
  file <- raw_file(x)
  expect_identical(file[, c(5, 2)], x[, c(5, 2)])
  path <- file$file
  rm(x)
  code <- c(paste0("x <- gpuCorFile(", deparse(path), ", c(3e6, 5))"),
            "kb <- function() grep('^RssFile', readLines('/proc/self/status'), value = TRUE)",
            "resident <- function() as.numeric(gsub('[^0-9]', '', kb()))",
            "invisible(gpuCor(x[1:100, ]))", # what is mapped for a GPU
            "before <- resident()",
            "invisible(gpuCor(x))",
            "writeLines(format(resident() - before))")
  expect_lt(as.numeric(run_in_shell(code)$stdout), 1024 * 60)
  unlink(path)
})

test_that("a file that cannot be used is an error that says so", {
  x <- small_data()$complete
  path <- write_raw(x)
  expect_error(gpuCorFile(1, c(2, 2)), "'file' must be one string, the name of a file, not 1", fixed = TRUE)
  expect_error(gpuCorFile(tempdir(), c(2, 2)), "is a folder", fixed = TRUE)
  expect_error(gpuCorFile(tempfile("absent"), c(2, 2)), "does not exist", fixed = TRUE)
  expect_error(gpuCorFile(path, c(40, 40)), fixed = TRUE,
               "has 9600 bytes, but 40 x 40 doubles from byte 0 on make 12800; give the 'dim'")
  expect_error(gpuCorFile(path, dim(x), "float"), "floats", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), offset = 8), "from byte 8 on", fixed = TRUE)
  expect_error(gpuCorFile(path, c(2^31 - 1, 2^31 - 1)), "make 36893488", fixed = TRUE)
  expect_error(gpuCorFile(path, c(2^31, 1)), "must be two integers up to 2^31 - 1, of obs", fixed = TRUE)
  for (dim in list(30, c(30, NA), c(-1, 2), c(1.5, 2), "30 x 40")) {
    expect_error(gpuCorFile(path, dim), "'dim' must be two integers", fixed = TRUE)
  }
  expect_error(gpuCorFile(path), "no HDF5 file; for a raw one give 'dim'", fixed = TRUE)
  expect_error(gpuCorFile(path, dataset = "data"), "no HDF5 file", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), transpose = TRUE), "'transpose' must be FALSE for a raw file", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), "half"), "'storage' must be one of", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), offset = -1), "'offset' must be a whole number", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), dimnames = list(NULL, "a")), "40 of variables", fixed = TRUE)
  expect_error(gpuDist(gpuCorFile(path, dim(x))), "gpuDist() compares rows", fixed = TRUE)
  expect_error(gpuCor(gpuCorFile(path, dim(x)), 1:3), "'x' has 30 rows (observations), 'y' has 3", fixed = TRUE)
  if (nzchar(Sys.which("mkfifo")) && system2("mkfifo", shQuote(fifo <- tempfile("fifo"))) == 0) {
    expect_error(gpuCorFile(fifo, c(2, 2)), "no regular file", fixed = TRUE)
  }
  Sys.chmod(path, "000")
  if (file.access(path, 4) != 0) expect_error(gpuCorFile(path, dim(x)), "cannot be read", fixed = TRUE)
})

test_that("a file that has changed is an error at the next run", {
  x <- small_data()$complete
  path <- write_raw(x)
  file <- gpuCorFile(path, dim(x))
  write_raw(x[, 1:3], file = path)
  for (job in jobs) expect_error(job(file), "has 720 bytes, but 30 x 40 doubles", fixed = TRUE)
  expect_error(file[, 1], "has 720 bytes", fixed = TRUE)
  write_raw(x, file = path)
  expect_identical(bare(gpuCor(file)), bare(gpuCor(unname(x))))
  for (name in c("dim", "offset", "storage", "pointer")) for (value in list(NULL, c(3, 4), "float", TRUE)) {
    broken <- unclass(file)
    broken[name] <- list(value)
    class(broken) <- "gpuCorFile"
    expect_error(gpuCor(broken), label = paste(name, deparse(value)))
  }
  expect_nothing_live()
})

# A second matrix that R reads. Before it does, it leaves so many bytes of a file.
cutting <- function(path, bytes, code) {
  with_values(list(read_run = function(x, columns) {
    connection <- file(path, "r+b")
    on.exit(close(connection))
    seek(connection, bytes, rw = "write")
    truncate(connection)
    x$data[, columns, drop = FALSE]
  }), code)
}

test_that("a file that is cut off while it is in use is an error, not the end of R", {
  x <- small_data()$complete
  asked <- gpucor:::new_file(NULL, "big.matrix", c(30L, 3L), NULL, data = x[, 1:3])
  for (type in c("double", "float", "integer")) for (bytes in c(0, 100)) {
    path <- write_raw(x, type)
    file <- gpuCorFile(path, dim(x), type)
    size <- if (type == "double") 9600 else 4800
    message <- paste0(basename(path), "\" has ", bytes, " bytes, but 30 x 40 ", type, "s from byte 0 on make ", size)
    cutting(path, bytes, expect_error(gpuCor(file, asked), message, fixed = TRUE))
    expect_error(file[, 40], message, fixed = TRUE)
  }
  expect_nothing_live()
})

test_that("subjects' data that are kept in a file which is cut off are an error", {
  x <- small_data()$complete
  folder <- tempfile("spool")
  dir.create(folder)
  cut <- function(i) {
    for (file in dir(dir(folder, "^gpucor", full.names = TRUE), full.names = TRUE)) file.create(file)
    x
  }
  with_options(list(gpucor.spool_bytes = 1, gpucor.folder = folder), {
    expect_error(gpuCor(cut, subjects = 2), "gpucor.*\" has 0 bytes, but 30 x 40 doubles")
  })
})

test_that("a saved file is opened again, and checked", {
  x <- small_data()$complete
  path <- write_raw(x)
  saved <- tempfile()
  saveRDS(gpuCorFile(path, dim(x), dimnames = dimnames(x)), saved)
  again <- readRDS(saved)
  expect_identical(again[, 2:3], x[, 2:3])
  expect_identical(bare(gpuCor(readRDS(saved))), bare(gpuCor(x)))
  write_raw(x[, 1:39], file = path)
  expect_error(gpuCor(readRDS(saved)), "has 9360 bytes", fixed = TRUE)
  unlink(path)
  expect_error(gpuCor(readRDS(saved)), "cannot be read", fixed = TRUE)
  expect_identical(dim(readRDS(saved)), dim(x))
})

test_that("a file works in a forked child", {
  skip_on_os("windows")
  x <- small_data()$complete
  file <- raw_file(x)
  truth <- gpuCor(x, output = "matrix")
  results <- parallel::mclapply(1:2, function(k) gpuCor(file, output = "matrix"), mc.cores = 2)
  for (result in results) expect_equal(result, truth, tolerance = 1e-6)
  expect_identical(gpuCor(file, output = "matrix"), truth)
})
