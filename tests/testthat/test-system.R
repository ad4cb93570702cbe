# What differs between operating systems: processes, renaming, open files, random numbers.

test_that("a process is running until it has ended, and NA and 0 are none", {
  are_running <- function(pid) .Call(gpucor:::r_are_running, as.integer(pid))
  skip_if_not_installed("callr")
  process <- callr::r_bg(function() Sys.sleep(60))
  on.exit(process$kill())
  pid <- process$get_pid()
  expect_identical(are_running(c(pid, Sys.getpid(), 0, NA, -1)), c(TRUE, TRUE, FALSE, FALSE, FALSE))
  process$kill()
  process$wait()
  expect_false(are_running(pid))
})

test_that("processes of other users are running", {
  skip_on_os("windows") # it has no process 1
  expect_true(.Call(gpucor:::r_are_running, 1L)) # for everybody but root kill() refuses
})

# A new folder with a file; the names of that and of another one.
from_and_to <- function() {
  names <- file.path(temporary_folder(), c("from", "to"))
  writeLines("new", names[1])
  names
}

test_that("a file is renamed over another one, unless that must stay", {
  names <- from_and_to()
  on.exit(unlink(dirname(names[1]), recursive = TRUE))
  from <- names[1]
  to <- names[2]
  writeLines("old", to)
  expect_true(gpucor:::rename_file(from, to))
  expect_identical(readLines(to), "new")
  expect_false(file.exists(from))
  expect_silent(expect_false(gpucor:::rename_file(from, to))) # there is none
  expect_false(gpucor:::rename_file(from, to, seconds = 60)) # not waited for
  dir.create(from)
  expect_false(gpucor:::rename_file(from, to, replace = FALSE, seconds = 60))
})

test_that("renaming is tried again while something is in the way", {
  skip_if_not_installed("callr")
  names <- from_and_to()
  on.exit(unlink(dirname(names[1]), recursive = TRUE))
  from <- names[1]
  to <- names[2]
  dir.create(to)
  expect_false(gpucor:::rename_file(from, to, seconds = 0.2))
  remover <- callr::r_bg(function(to) {
    Sys.sleep(0.5)
    unlink(to, recursive = TRUE)
  }, list(to))
  expect_true(gpucor:::rename_file(from, to, seconds = 60))
  remover$wait()
  expect_identical(readLines(to), "new")
})

test_that("what a process that has ended left of a file is removed", {
  skip_if_not_installed("callr")
  process <- callr::r_bg(function() NULL)
  process$wait()
  folder <- tempfile()
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file <- file.path(folder, "net.h5ad")
  prefix <- gpucor:::partial_prefix(file)
  left <- paste0(prefix, process$get_pid(), "-0123abcd")
  stays <- c(paste0(prefix, Sys.getpid(), "-0123abcd"), paste0(left, "-room"), paste0(left, "[0-9]"))
  for (name in c(left, stays)) dir.create(name)
  file.create(file.path(left, "new"))
  gpucor:::remove_abandoned(file)
  expect_setequal(dir(folder), basename(stays))
})

test_that("files without owners are everybody's", {
  expect_identical(gpucor:::are_own(c("a", "b"), NULL), c(TRUE, TRUE))
  own <- Sys.info()[["effective_user"]]
  expect_identical(gpucor:::are_own(c("a", "b", "c"), c(own, paste0(own, "x"), NA)), c(TRUE, FALSE, NA))
})

test_that("random numbers of the system differ, whatever the seed, and leave R's random numbers alone", {
  set.seed(1)
  ids <- paste(.Call(gpucor:::r_random, 16L), collapse = "")
  set.seed(1)
  before <- .Random.seed
  ids <- c(ids, paste(.Call(gpucor:::r_random, 16L), collapse = ""))
  expect_identical(.Random.seed, before)
  expect_match(ids, "^[0-9a-f]{32}$")
  expect_false(ids[1] == ids[2])
})
