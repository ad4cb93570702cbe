# Names of files to write, disks that are full, and what killed processes leave behind.

x <- normal(8, 12)
write_network <- function(file, ...) gpuCorNetwork(x, threshold = 0, file = file, ...)

new_folder <- function() {
  folder <- tempfile("network")
  dir.create(folder)
  folder
}

# ---- names

test_that("what is no name of a file is an error that says so", {
  for (file in list(1, NULL, NA_character_, "", c("a", "b"))) {
    expect_error(gpucor:::check_new_file(file), "'file' must be one string")
  }
  folder <- new_folder()
  inside <- function(...) file.path(folder, ...)
  expect_error(write_network(inside("none", "net.h5ad")), "no such folder; create it first")
  for (name in c(folder, paste0(folder, c("/", "//")))) {
    expect_error(write_network(name), "'file' is \".*, a folder; give the name of a file in it", label = name)
  }
  for (name in inside(c("net/", "net.h5ad//"))) {
    expect_error(write_network(name), "'file' is \".*, which ends in a slash; give the name of a file", label = name)
  }
  file.create(inside("mine"))
  expect_error(write_network(inside("mine")), "which exists; remove it or choose another name")
  expect_identical(dir(folder, all.files = TRUE, no.. = TRUE), "mine")
})

test_that("a name that is too long is said to be too long", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  # The preliminary name is longer, and this is a limit of the file system, in bytes.
  for (name in c(strrep("a", 250), strrep("a", 300), strrep("\u00e9", 128))) {
    file <- file.path(folder, name)
    message <- tryCatch(write_network(file), error = conditionMessage)
    expect_match(message, "'file' is \".*\\.\\.\\., which cannot be written as \".*\": .+; choose another name")
    expect_no_match(message, "full")
  }
  expect_error(write_network(file.path(folder, strrep("a/", 3000), "net.h5ad")), "bytes; the system takes 4095")
  expect_length(dir(folder, all.files = TRUE, no.. = TRUE), 0)
  expect_identical(write_network(file.path(folder, strrep("a", 200)))$file,
                   file.path(normalizePath(folder), strrep("a", 200)))
})

# ---- no room

# Six networks, one after the other, of a process that has a disk of `size` KiB in `folder`.
write_on_disk <- function(size, folder) {
  code <- c("x <- matrix(sin(1:2000), 5)",
            paste0("file <- file.path(", deparse1(folder), ', "net")'),
            "for (time in 1:6) {",
            "  writeLines(tryCatch(gpuCorNetwork(x, threshold = 0, file = file)$file, error = conditionMessage))",
            "  left <- dir(dirname(file))",
            '  if (any(left != "net")) stop("left behind: ", left)',
            "  unlink(file)",
            "}",
            "stopifnot(length(rhdf5::h5validObjects()) == 0)",
            'writeLines("quits")')
  run_in_shell(code, paste0("mount -t tmpfs -o size=", size, "k none ", shQuote(folder)), mounting_shell)
}

test_that("where the disk is full it is an error, and R quits in order", {
  skip_if_not_installed("rhdf5")
  skip_without_mounts()
  folder <- new_folder()
  # The file has 1,900 KiB for 159,600 entries, next to 1,114 that are reserved: from a full disk, over marks and
  # entries that do not fit, to the last blocks, which are written when the file is closed.
  rooms <- c(8, 1100, 1184, 2000, seq(2960, 3020, 20), 3200)
  said <- vapply(rooms, FUN.VALUE = "", function(size) {
    run <- write_on_disk(size, folder)
    expect_identical(run[c("status", "stderr")], list(status = 0L, stderr = ""), label = paste(size, "KiB"))
    lines <- sub("partial-[^\"]*", "partial", strsplit(run$stdout, "\n")[[1]])
    expect_identical(lines, c(rep(lines[1], 6), "quits"), label = paste(size, "KiB"))
    lines[1]
  })
  expect_match(said[1:2], "'file' is \".*, which cannot be written as \"net.partial\": the disk is full; choose")
  expect_match(said[3], "cannot write \".*/net.partial\": HDF5\\. .*; is the disk full\\?")
  expect_match(said[4], "cannot write \".*/net.partial\": No space left on device; make room there, or choose another")
  expect_match(said, "cannot write \".*/net.partial\": HDF5\\. .*flush.*; is the disk full\\?", all = FALSE)
  expect_identical(said[length(said)], file.path(normalizePath(folder), "net"))
})

# ---- killed processes

# A process that has begun to write `file`, and goes on living.
begin_file <- function(file) {
  skip_without_children()
  skip_if_not_installed("rhdf5")
  ready <- tempfile("ready")
  process <- callr::r_bg(function(file, ready) {
    h5 <- gpucor:::open_network_file(file, 2, 2)
    gpucor:::append_rows(h5, 1, 1L, 0.5)
    file.create(ready)
    Sys.sleep(60)
  }, list(file, ready))
  expect_true(wait_until(function() file.exists(ready), 20))
  process
}

test_that("what a killed process has left is removed by the next one that writes to that name", {
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  killed <- begin_file(file)
  living <- begin_file(file)
  on.exit(living$kill())
  killed$kill() # by SIGKILL
  partial <- function(pid) paste0("net.h5ad.partial-", gpucor:::process_space(), "-", pid)
  expect_setequal(dir(folder), partial(c(killed$get_pid(), living$get_pid())))
  # Of another machine, another file, and no process at all.
  others <- c(paste0("net.h5ad.partial-elsewhere-", killed$get_pid()), sub("net", "ten", partial(killed$get_pid())),
              partial("x"), paste0(partial(killed$get_pid()), ".txt"), partial(""), partial("99999999999"))
  file.create(file.path(folder, others))
  write_network(file.path(folder, "other.h5ad"))
  expect_true(partial(killed$get_pid()) %in% dir(folder)) # another name
  write_network(file)
  expect_setequal(dir(folder), c(others, partial(living$get_pid()), "net.h5ad", "other.h5ad"))
})

test_that("a process is known by its machine, and by its container", {
  space <- gpucor:::process_space()
  expect_match(space, "^[[:alnum:]._-]+$")
  expect_true(startsWith(space, gsub("[^[:alnum:].]", "_", Sys.info()[["nodename"]])))
  skip_if_not(file.exists("/proc/self/ns/pid"))
  expect_match(space, "-[0-9]+$")
})
