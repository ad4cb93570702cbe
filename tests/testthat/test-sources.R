# Data that are not in memory: the same results as of the matrix, to the last bit.

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

named <- function(x) `colnames<-`(x, paste0("v", seq_len(ncol(x))))

# Where all methods and uses are tried; `few` has some rows without missing values.
small_data <- function() {
  few <- rounded(30, 40)
  few[1:4, ] <- with_missing(few[1:4, ], 0.2)
  list(complete = named(rounded(30, 40)), missing = with_missing(rounded(30, 40), 0.1), few = with_constants(few))
}

# What is to be the same of a network, whatever it was computed from.
bare <- function(value) {
  if (isS4(value)) return(lapply(c(p = "p", i = "i", x = "x", Dimnames = "Dimnames", threshold = "threshold"),
                                 function(name) methods::slot(value, name)))
  if (!is.null(attr(value, "call"))) attr(value, "call") <- NULL
  value
}

jobs <- list(
  cor = function(x, ...) gpuCor(x, ...),
  network = function(x, ...) gpuCorNetwork(x, threshold = 0.3, ...),
  density = function(x, ...) gpuCorNetwork(x, density = 0.05, ...),
  connectivity = function(x, ...) gpuConnectivity(x, threshold = 0.2, power = 2, ...),
  triangle = function(x, ...) gpuCorTriangle(x, ...)
)

# jobs[] of `outside` are those of `x`.
expect_same_results <- function(outside, x, label, methods = all_methods, uses = all_uses, which = names(jobs), ...) {
  for (name in which) for (method in methods) for (use in uses) {
    ours <- outcome(jobs[[name]](outside, method = method, use = use, ...))
    truth <- outcome(jobs[[name]](x, method = method, use = use, ...))
    ours$value <- bare(ours$value)
    truth$value <- bare(truth$value)
    expect_identical(ours, truth, label = paste(label, name, method, use))
  }
  expect_nothing_left(label)
}

# ---- raw files

test_that("a raw file gives what the matrix gives", {
  for (kind in names(small_data())) {
    x <- small_data()[[kind]]
    expect_same_results(raw_file(x), x, kind)
    expect_same_results(raw_file(x, offset = 352), x, paste(kind, "offset"), which = "cor")
    expect_same_results(raw_file(x, offset = 3), x, paste(kind, "odd offset"), which = "cor")
    expect_identical(bare(outcome(gpuCor(raw_file(x), raw_file(x[, 3:9]), "pairwise"))),
                     bare(outcome(gpuCor(x, x[, 3:9], "pairwise"))))
  }
})

test_that("floats and integers are read as what they are", {
  whole <- round(100 * small_data()$missing)
  whole[is.nan(whole)] <- NA
  storage.mode(whole) <- "integer"
  expect_same_results(raw_file(whole, "integer"), whole, "integer")
  expect_identical(raw_file(whole, "integer")[, ], whole)
  large <- `storage.mode<-`(normal(3000, 7) * 1e8, "integer") # no floats, and more than a piece
  expect_same_results(raw_file(large, "integer"), large, "large integers", which = "cor", uses = "everything")

  halves <- round(4 * small_data()$missing) / 4 # are floats
  expect_same_results(raw_file(halves, "float"), halves, "float")
  long <- round(4 * normal(3000, 7)) / 4
  expect_same_results(raw_file(long, "float"), long, "long float", which = "cor", uses = "everything")
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
  skip_if_not(file.exists("/proc/self/status"))
  x <- matrix(rep_len(c(1, 5, 2, 9, 3, 3, 7), 5e6 * 3), ncol = 3) # 120 MB, and a column more than a window
  x[2, 2] <- 100
  file <- raw_file(x)
  truth <- bare(gpuCor(x))
  expect_identical(bare(gpuCor(file)), truth)
  expect_identical(file[, 2], x[, 2, drop = FALSE])
  mapped <- grep("RssFile", readLines("/proc/self/status"), value = TRUE)
  path <- file$file
  rm(x, truth)
  code <- c(paste0("x <- gpuCorFile(", deparse(path), ", c(5e6, 3))"),
            "invisible(gpuCor(x, threads = 1, memory = 1e6))",
            "kb <- grep('^RssFile', readLines('/proc/self/status'), value = TRUE)",
            "writeLines(gsub('[^0-9]', '', kb))")
  expect_lt(as.numeric(run_in_shell(code)$stdout), 1024 * 90)
  unlink(path)
})

test_that("a file that cannot be used is an error that says so", {
  x <- small_data()$complete
  path <- write_raw(x)
  expect_error(gpuCorFile(1, c(2, 2)), "'file' must be the name of a file, not 1", fixed = TRUE)
  expect_error(gpuCorFile(tempdir(), c(2, 2)), "is a folder", fixed = TRUE)
  expect_error(gpuCorFile(tempfile("absent"), c(2, 2)), "does not exist", fixed = TRUE)
  expect_error(gpuCorFile(path, c(40, 40)), "has 9600 bytes, but 40 x 40 doubles from byte 0 on make 12800; give the 'dim'",
               fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), "float"), "floats", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), offset = 8), "from byte 8 on", fixed = TRUE)
  expect_error(gpuCorFile(path, c(2^31 - 1, 2^31 - 1)), "make 36893488", fixed = TRUE)
  expect_error(gpuCorFile(path, c(2^31, 1)), "use fewer columns", fixed = TRUE)
  for (dim in list(30, c(30, NA), c(-1, 2), c(1.5, 2), "30 x 40", NULL)) {
    expect_error(gpuCorFile(path, dim), "'dim' must be two whole numbers", fixed = TRUE)
  }
  expect_error(gpuCorFile(path, dim(x), "half"), "'type' must be one of", fixed = TRUE)
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
  for (name in c("dim", "offset", "type", "pointer")) for (value in list(NULL, c(3, 4), "float", TRUE)) {
    broken <- unclass(file)
    broken[name] <- list(value)
    class(broken) <- "gpuCorFile"
    expect_error(gpuCor(broken), label = paste(name, deparse(value)))
  }
  expect_nothing_live()
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
