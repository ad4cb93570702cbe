# Data that R reads for the engine: the same results as of the matrix, to the last bit.

# Packages, and functions that make of a matrix something to be read by blocks.
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
  made <- new.env() # big.matrix collects R's garbage whenever it makes one
  outside <- function(x) {
    skip_if_not_installed(outside_kinds[[kind]][[1]])
    key <- paste(kind, digest_of(x))
    if (is.null(made[[key]])) made[[key]] <- suppressMessages(outside_kinds[[kind]][[2]](x))
    made[[key]]
  }

  test_that(paste(kind, "gives what the matrix gives"), {
    expect_same_results(outside, if (full_tier() || kind == "hdf5") small_data() else small_data()["missing"], kind)
    x <- small_data()$missing
    ours <- outside(x)
    few <- outside(x[, 3:9])
    for (use in if (full_tier() || kind == "hdf5") all_uses else all_uses[1:2]) {
      truth <- outcome(gpuCor(x, x[, 3:9], use = use))
      expect_identical(outcome(gpuCor(ours, few, use = use)), truth)
      expect_identical(outcome(gpuCor(x, few, use = use)), truth)
    }
    if (!full_tier() && grepl("Matrix", kind)) return() # which DelayedArray makes doubles of, too
    whole <- round(100 * small_data()$missing)
    whole[is.nan(whole)] <- NA
    storage.mode(whole) <- "integer"
    expect_same_results(outside, list(whole), paste(kind, "integers"), which = "cor")
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
    if (!kind %in% c("hdf5", "DelayedMatrix", "big.matrix")) skip_unless_full()
    x <- rounded(9000, 70) # a block has 58 columns
    x[5, 60] <- NA
    ours <- outside(x)
    rows <- covering(use = c("everything", "complete.obs"), memory = c(3e6, 1e9), divided = c(TRUE, FALSE))
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      run <- function() result_of_job(ours, "cor", row$use, memory = row$memory)
      expect_identical(if (row$divided) with_workers(run()) else run(), known_result(x, "cor", row$use),
                       label = paste(c(kind, row), collapse = " "))
    }
    expect_identical(result_of_job(ours, "density", "pairwise"), known_result(x, "density", "pairwise"))
    expect_nothing_left(kind)
  })
}

# With the orientation of the data known, no column is read before the engine reads it.
known_columns <- function(code) with_options(list(gpucor.orientation = "columns"), code)

test_that("what goes wrong in R is an error, and nothing is left", {
  skip_if_not_installed("DelayedArray")
  x <- rounded(9000, 150)
  ours <- DelayedArray::DelayedArray(x)
  run <- function(reader, message) {
    with_values(list(read_run = reader), known_columns({
      for (job in jobs[c("cor", "network", "connectivity")]) expect_error(job(ours, use = "complete"), message)
      expect_error(gpuCor(ours), message)
      with_workers(expect_error(gpuCor(ours), message))
      with_workers(expect_error(gpuCor(x[, 1:3], ours), message))
      expect_nothing_left(message)
    }))
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

# Readers that an interrupt ends: it is signaled, or jumps to the top level of R, which ends Rscript.
interrupted_readers <- list(
  function(x, columns) stop(structure(class = c("interrupt", "condition"), list(message = "", call = NULL))),
  function(x, columns) invokeRestart("abort")
)

ended <- function(code) tryCatch(code, interrupt = function(condition) "interrupted")

test_that("what R itself reads fails, and is interrupted, as the engine's reads", {
  x <- rounded(2000, 12)
  ours <- gpucor:::new_file(NULL, "big.matrix", dim(x), NULL, data = x) # whose package need not be loaded
  reads <- list(
    orientation = function() gpuCor(ours),
    missing = function() known_columns(as.data.frame(gpuCorTest(ours, use = "pairwise"))),
    residuals = function() known_columns(gpuClean(ours, seq_len(nrow(x)))),
    seeds = function() known_columns(gpuCorCompare(list(ours, ours, ours), seeds = 1:2)),
    power = function() known_columns(pickPower(ours, 1:3)),
    part = function() ours[, c(3, 4)],
    parts = function() ours[, c(12, 1)]
  )
  for (name in names(reads)) {
    with_values(list(read_run = function(x, columns) stop("the disk is gone")), {
      expect_error(reads[[name]](), "columns? [0-9]+( to [0-9]+)? of gpuCorFile cannot be read: the disk is gone",
                   class = "gpucor_error_file", label = name)
    })
    for (reader in interrupted_readers) with_values(list(read_run = reader), {
      expect_identical(ended(reads[[name]]()), "interrupted", label = name)
    })
    expect_nothing_live()
  }
  expect_identical(ours[, c(12, 1)], x[, c(12, 1)])
})

test_that("an interrupt while R reads ends the run", {
  skip_if_not_installed("DelayedArray")
  x <- rounded(9000, 150)
  ours <- DelayedArray::DelayedArray(x)
  for (reader in interrupted_readers) with_values(list(read_run = reader), known_columns({
    expect_identical(ended(gpuCor(ours)), "interrupted")
    with_workers(expect_identical(ended(gpuCor(ours)), "interrupted"))
    expect_nothing_live()
  }))
  expect_identical(bare(gpuCor(ours)), bare(gpuCor(x)))

  skip_unless_full()
  skip_without_children()
  child <- start_work(function(x, folder) { # of a class whose package need not be loaded
    slow <- function(x, columns) {
      file.create(file.path(dirname(folder), paste0(basename(folder), "-reads")))
      Sys.sleep(60)
      stop("nobody interrupted")
    }
    utils::assignInNamespace("read_run", slow, "gpucor")
    gpucor::gpuCor(gpucor:::new_file(NULL, "big.matrix", dim(x), NULL, data = x))
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
