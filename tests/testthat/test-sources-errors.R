# Reads of outside data that fail or are interrupted.

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
