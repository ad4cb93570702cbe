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
  expect_error(gpuCorFile(1, c(2, 2)), "'file' must be the name of a file, not 1", fixed = TRUE)
  expect_error(gpuCorFile(tempdir(), c(2, 2)), "is a folder", fixed = TRUE)
  expect_error(gpuCorFile(tempfile("absent"), c(2, 2)), "does not exist", fixed = TRUE)
  expect_error(gpuCorFile(path, c(40, 40)), fixed = TRUE,
               "has 9600 bytes, but 40 x 40 doubles from byte 0 on make 12800; give the 'dim'")
  expect_error(gpuCorFile(path, dim(x), "float"), "floats", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), offset = 8), "from byte 8 on", fixed = TRUE)
  expect_error(gpuCorFile(path, c(2^31 - 1, 2^31 - 1)), "make 36893488", fixed = TRUE)
  expect_error(gpuCorFile(path, c(2^31, 1)), "use fewer columns", fixed = TRUE)
  for (dim in list(30, c(30, NA), c(-1, 2), c(1.5, 2), "30 x 40")) {
    expect_error(gpuCorFile(path, dim), "'dim' must be two whole numbers", fixed = TRUE)
  }
  expect_error(gpuCorFile(path), "no HDF5 file; for a raw one give 'dim'", fixed = TRUE)
  expect_error(gpuCorFile(path, dataset = "data"), "no HDF5 file", fixed = TRUE)
  expect_error(gpuCorFile(path, dim(x), transpose = TRUE), "'transpose' is TRUE", fixed = TRUE)
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
  cut <- function(i) {
    for (file in list.files(tempdir(), "^gpucor", full.names = TRUE)) file.create(file)
    x
  }
  with_options(list(gpucor.spool_bytes = 1, gpucor.folder = tempdir()), {
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

# ---- what R reads

# Functions that make of a matrix something to be read by blocks.
write_dense <- function(x, chunk = dim(x), level = 0) {
  file <- tempfile(fileext = ".h5")
  rhdf5::h5createFile(file)
  suppressMessages({
    rhdf5::h5createDataset(file, "data", dim(x), storage.mode = storage.mode(x), chunk = chunk, level = level)
  })
  rhdf5::h5write(x, file, "data")
  file
}

outside_kinds <- list(
  hdf5 = list("rhdf5", function(x) gpuCorFile(write_dense(x), dataset = "data", dimnames = dimnames(x))),
  `hdf5, transposed` = list("rhdf5", function(x) {
    gpuCorFile(write_dense(t(x)), dataset = "data", transpose = TRUE, dimnames = dimnames(x))
  }),
  DelayedMatrix = list("DelayedArray", function(x) DelayedArray::DelayedArray(x)),
  `DelayedMatrix, delayed` = list("DelayedArray", function(x) {
    DelayedArray::DelayedArray(rbind(x, x) * 2)[seq_len(nrow(x)), ] / 2
  }),
  HDF5Matrix = list("HDF5Array", function(x) `dimnames<-`(HDF5Array::HDF5Array(write_dense(x), "data"), dimnames(x))),
  big.matrix = list("bigmemory", function(x) bigmemory::as.big.matrix(x, type = storage.mode(x)))
)

# Several workers, however small the work is.
with_workers <- function(code) {
  old <- options(gpucor.workers_per_device = 2L)
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit({
    options(old)
    .Call(gpucor:::r_set_shared_steps, 0)
  })
  force(code)
}

for (kind in names(outside_kinds)) {
  outside <- function(x) {
    skip_if_not_installed(outside_kinds[[kind]][[1]])
    suppressMessages(outside_kinds[[kind]][[2]](x))
  }

  test_that(paste(kind, "gives what the matrix gives"), {
    for (data in names(small_data())) {
      x <- small_data()[[data]]
      expect_same_results(outside(x), x, paste(kind, data))
    }
    x <- small_data()$missing
    for (use in all_uses) {
      expect_identical(outcome(gpuCor(outside(x), outside(x[, 3:9]), use)), outcome(gpuCor(x, x[, 3:9], use)))
      expect_identical(outcome(gpuCor(x, outside(x[, 3:9]), use)), outcome(gpuCor(x, x[, 3:9], use)))
    }
    whole <- round(100 * small_data()$missing)
    whole[is.nan(whole)] <- NA
    storage.mode(whole) <- "integer"
    expect_same_results(outside(whole), whole, paste(kind, "integers"), which = "cor")
  })

  test_that(paste(kind, "works in every verb"), {
    x <- small_data()$complete
    ours <- outside(x)
    expect_identical(gpuCorTest(ours)$p.value, gpuCorTest(x)$p.value, ignore_attr = "call")
    expect_identical(pickPower(ours, 1:3), pickPower(x, 1:3))
    for (method in all_methods) for (criterion in list(list(k = 3), list(p.value = 0.05), list(fdr = 0.9))) {
      network <- function(x) bare(do.call(gpuCorNetwork, c(list(x, method = method), criterion)))
      expect_identical(network(ours), network(x))
    }
    if (grepl("transposed", kind) || kind == "hdf5" || inherits(ours, "DelayedMatrix")) {
      expect_identical(gpuDist(ours), gpuDist(x), ignore_attr = "call")
    } else {
      expect_error(gpuDist(ours), "gpuDist() compares rows", fixed = TRUE)
    }
  })

  test_that(paste(kind, "is read in blocks, for several workers, in several rounds"), {
    x <- rounded(9000, 150) # a block has 58 columns
    x[5, 60] <- NA
    ours <- outside(x)
    for (use in c("everything", "complete.obs")) {
      truth <- gpuCor(x, use = use)
      expect_identical(bare(gpuCor(ours, use = use)), bare(truth))
      expect_identical(bare(gpuCor(ours, use = use, memory = 3e6)), bare(truth))
      with_workers({
        expect_identical(bare(gpuCor(ours, use = use)), bare(truth))
        expect_identical(bare(gpuCor(ours, use = use, memory = 3e6)), bare(truth))
      })
    }
    truth <- gpuCorNetwork(x, density = 0.01, use = "pairwise")
    expect_identical(bare(gpuCorNetwork(ours, density = 0.01, use = "pairwise")), bare(truth))
    expect_nothing_left(kind)
  })
}

test_that("blocks begin where chunks do", {
  skip_if_not_installed("rhdf5")
  x <- rounded(3000, 400) # a block has 174 columns
  for (chunk in list(c(3000, 7), c(100, 100), c(10, 300), c(3000, 400), c(1500, 1))) {
    file <- write_dense(x, chunk)
    read <- list()
    count <- function(x, columns) {
      read[[length(read) + 1]] <<- columns
      rhdf5::h5read(x$file, x$dataset, start = c(1, columns[1]), count = c(nrow(x), length(columns)))
    }
    ours <- gpuCorFile(file, dataset = "data")
    with_values(list(read_dense = count), {
      expect_identical(bare(gpuCor(ours, memory = 3e6)), bare(gpuCor(x)))
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

test_that("what goes wrong in R is an error, and nothing is left", {
  skip_if_not_installed("DelayedArray")
  x <- rounded(9000, 150)
  ours <- DelayedArray::DelayedArray(x)
  run <- function(reader, message) {
    with_values(list(read_run = reader), {
      for (job in jobs[c("cor", "network", "connectivity")]) expect_error(job(ours, use = "complete"), message)
      expect_error(gpuCor(ours), message)
      with_workers(expect_error(gpuCor(ours), message))
      with_workers(expect_error(gpuCor(x[, 1:3], ours), message))
      expect_nothing_left(message)
    })
    expect_identical(bare(gpuCor(ours)), bare(gpuCor(x)))
  }
  later <- function(value) function(x, columns) if (columns[1] > 1) value(columns) else as.matrix(x[, columns])
  run(function(x, columns) stop("the disk is gone"),
      "columns 1 to 58 of DelayedMatrix cannot be read: the disk is gone")
  run(later(function(columns) stop("the disk is gone")), "columns 59 to 116 of .* the disk is gone")
  run(later(function(columns) matrix("a", 9000, length(columns))), "values of type character")
  run(later(function(columns) matrix(0, 9000, 3)), "27000 values came for 9000 x 58")
  run(later(function(columns) numeric(9000 * length(columns))), "values came for")
  run(later(function(columns) as.list(columns)), "values of type list")
  run(later(function(columns) NA_character_), "cannot be read")
  run(later(function(columns) stop(strrep("long ", 1000))), "long long")
})

test_that("an interrupt while R reads ends the run", {
  skip_if_not_installed("DelayedArray")
  x <- rounded(9000, 150)
  ours <- DelayedArray::DelayedArray(x)
  ended <- function(code) tryCatch(code, interrupt = function(condition) "interrupted")
  signal <- function(x, columns) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL)))
  jump <- function(x, columns) invokeRestart("abort")
  for (reader in list(signal, jump)) with_values(list(read_run = reader), {
    expect_identical(ended(gpuCor(ours)), "interrupted")
    with_workers(expect_identical(ended(gpuCor(ours)), "interrupted"))
    expect_nothing_live()
  })
  expect_identical(bare(gpuCor(ours)), bare(gpuCor(x)))

  skip_without_children()
  child <- start_work(function(x, folder) {
    slow <- function(x, columns) {
      file.create(file.path(dirname(folder), paste0(basename(folder), "-reads")))
      Sys.sleep(60)
      stop("nobody interrupted")
    }
    utils::assignInNamespace("read_run", slow, "gpucor")
    gpucor::gpuCor(DelayedArray::DelayedArray(x))
  }, list(n_obs = 9000, n_var = 150), "cpu")
  expect_true(wait_until(function() file.exists(paste0(child$files$folder, "-reads")), 60))
  result <- interrupt_child(child)
  expect_identical(result$ended, "interrupted")
  expect_lt(result$seconds, 5)
  expect_identical(result$live, list(host = 0, device = 0))
})

test_that("what has no numbers is an error", {
  skip_if_not_installed("DelayedArray")
  expect_error(gpuCor(DelayedArray::DelayedArray(matrix(letters[1:4], 2))),
               "must be numeric, not a .* of type character")
  expect_error(gpuCor(DelayedArray::DelayedArray(matrix(0, 3, 2)), 1:4), "'x' has 3 rows (observations), 'y' has 4",
               fixed = TRUE)
  array <- DelayedArray::DelayedArray(array(0, c(2, 2, 2)))
  expect_error(gpuCor(array), "must be numeric, not of class DelayedArray")
})

# ---- Bioconductor's containers

# Its second assay has the columns x.
expect_another_assay <- function(experiment, x) {
  run <- function(...) suppressMessages(bare(...))
  for (assay in list(2, "second")) {
    expect_identical(run(gpuCor(experiment, assay = assay)), run(gpuCor(x)))
    expect_identical(run(gpuCorNetwork(experiment, density = 0.1, assay = assay)), run(gpuCorNetwork(x, density = 0.1)))
    expect_identical(run(gpuConnectivity(experiment, 0.3, assay = assay)), run(gpuConnectivity(x, 0.3)))
    expect_identical(run(gpuCor(x[, 1:3], experiment, assay = assay)), run(gpuCor(x[, 1:3], x)))
    expect_identical(run(gpuCorTriangle(experiment, assay = assay)), run(gpuCorTriangle(x)))
    expect_identical(as.vector(run(gpuDist(experiment, assay = assay))), as.vector(gpuDist(t(x))))
    expect_identical(run(gpuCorTest(experiment, assay = assay))$p.value, run(gpuCorTest(x))$p.value)
  }
  path <- tempfile("plan")
  on.exit(unlink(path, recursive = TRUE))
  suppressMessages(utils::capture.output(gpuCorPlan(path, experiment, density = 0.1, assay = "second"),
                                         gpuCorRun(path)))
  expect_identical(run(gpuCorCollect(path)), run(gpuCorNetwork(x, density = 0.1)))
  expect_error(gpuCorRun(path, assay = 2), "there is no 'assay'")
  for (assay in list("third", 3, 0, NA, 1:2)) {
    expect_error(gpuCor(experiment, assay = assay), "does not have; it has \"first\", \"second\"")
  }
  expect_error(gpuCor(x, assay = 1), "no SummarizedExperiment")
  expect_error(gpuDist(x, assay = 1), "no SummarizedExperiment")
}

test_that("genes are the variables of a SummarizedExperiment", {
  x <- small_data()$complete
  rownames(x) <- paste0("s", seq_len(nrow(x)))
  skip_if_not_installed("SummarizedExperiment")
  assays <- list(plain = t(x), sparse = Matrix::Matrix(t(x), sparse = TRUE),
                 delayed = if (requireNamespace("DelayedArray", quietly = TRUE)) DelayedArray::DelayedArray(t(x)))
  for (assay in Filter(Negate(is.null), assays)) {
    experiment <- SummarizedExperiment::SummarizedExperiment(list(first = assay, second = assay * 0))
    run <- function(...) suppressMessages(bare(...))
    expect_identical(run(gpuCor(experiment)), run(gpuCor(x)))
    expect_identical(run(gpuCorNetwork(experiment, density = 0.1)), run(gpuCorNetwork(x, density = 0.1)))
    expect_identical(run(gpuConnectivity(experiment, 0.3)), run(gpuConnectivity(x, 0.3)))
    expect_identical(run(gpuCor(experiment, x[, 1:3])), run(gpuCor(x, x[, 1:3])))
    expect_identical(as.vector(run(gpuDist(experiment))), as.vector(gpuDist(t(x))))
    expect_another_assay(SummarizedExperiment::SummarizedExperiment(list(first = assay * 0, second = assay)), x)
    if (requireNamespace("SingleCellExperiment", quietly = TRUE)) {
      cells <- SingleCellExperiment::SingleCellExperiment(list(counts = assay))
      expect_identical(run(gpuCor(cells)), run(gpuCor(x)))
    }
  }
  expect_error(gpuCor(SummarizedExperiment::SummarizedExperiment()), "without an assay")
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
  for (layout in names(files)) for (entries in c(7, 2^22)) with_values(list(SPARSE_ENTRIES = entries), {
    file <- gpuCorFile(files[[layout]])
    expect_identical(dim(file), dim(x), label = layout)
    expect_identical(as.matrix(file), x, label = layout)
    expect_identical(file[3:5, c("gene3", "gene1")], x[3:5, c("gene3", "gene1")], label = layout)
    run <- function(...) suppressMessages(suppressWarnings(bare(...)))
    expect_identical(run(gpuCor(file, method = "spearman")), run(gpuCor(x, method = "spearman")), label = layout)
    expect_identical(run(gpuDist(file))[1:9], run(gpuDist(x))[1:9], label = layout)
    expect_identical(run(gpuCorNetwork(file, threshold = 0.1)), run(gpuCorNetwork(x, threshold = 0.1)), label = layout)
    other <- gpuCorFile(files[[layout]], transpose = TRUE)
    expect_identical(as.matrix(other), t(x), label = layout)
    expect_identical(run(gpuCor(other)), run(gpuCor(t(x))), label = layout)
    expect_output(print(file), "40 observations x 30 variables")
  })
  sparse <- suppressMessages(gpucor:::read_sparse(gpuCorFile(files$csr)))
  expect_true(methods::validObject(sparse))
  expect_identical(sparse, methods::as(x, "CsparseMatrix"))
})

test_that("what Python's anndata writes is read", {
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
  for (layout in c("csr", "csc")) for (entries in c(5, 2^22)) with_values(list(SPARSE_ENTRIES = entries), {
    expect_identical(as.matrix(gpuCorFile(shuffled(layout))), x, label = layout)
  })
  damage <- function(part, change, message) {
    for (layout in c("csr", "csc")) {
      file <- write_anndata(x, layout)
      ours <- gpuCorFile(file)
      values <- change(as.vector(rhdf5::h5read(file, part)))
      rhdf5::h5delete(file, part)
      rhdf5::h5write(values, file, part)
      expect_error(suppressMessages(gpuCor(ours)), message, label = paste(layout, part))
    }
  }
  damage("X/indices", function(v) replace(v, 3, 1000L), "an index is outside")
  damage("X/indices", function(v) replace(v, 3, -1L), "an index is outside")
  damage("X/indices", function(v) replace(v, 2, v[1]), "a place has two entries")
  damage("X/indices", function(v) v[-1], "its starts do not fit")
  damage("X/data", function(v) v[-1], "its starts do not fit")
  damage("X/indptr", function(v) v[-1], "its starts do not fit")
  damage("X/indptr", function(v) replace(v, 1, 1L), "its starts do not fit")
  damage("X/indptr", function(v) replace(v, 5, 1000L), "its starts do not fit")
  with_values(list(sparse_limit = function() 100), {
    expect_error(gpuCor(gpuCorFile(write_anndata(x, "csr"))), "a sparse matrix of R can have 100; write it as a dense")
  })
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
  expect_error(gpuCorFile(file, dataset = ""), "does not have")
  expect_error(gpuCorFile(file, dataset = "letters"), "which has 1 dimension ")
  expect_error(gpuCorFile(file, dataset = "words"), "of type character, not numbers")
  expect_error(gpuCorFile(file, dataset = "group"), "no sparse matrix")
  expect_error(gpuCorFile(file, dataset = 1), "'dataset' must be the name of a dataset, not 1")
  expect_error(gpuCorFile(file, dataset = "data", transpose = NA), "'transpose' must be TRUE or FALSE")
  expect_error(gpuCorFile(file, rev(dim(x)), dataset = "data"), "'dim' is 40 x 30, but \"data\" is 30 x 40")
  ours <- gpuCorFile(file, dim(x), dataset = "data")
  again <- unserialize(serialize(ours, NULL))
  expect_identical(bare(gpuCor(again)), bare(gpuCor(unname(x))))
  rhdf5::h5delete(file, "data")
  expect_error(gpuCor(ours), "has no dataset \"data\" any more")
  rhdf5::h5write(x[, -1], file, "data")
  expect_error(gpuCor(ours), "is 30 x 39 by now, and was 30 x 40")
  writeLines("no longer", file)
  expect_error(gpuCor(ours), "has no dataset")
  unlink(file)
  expect_error(gpuCor(ours), "does not exist")
  expect_nothing_live()
})
