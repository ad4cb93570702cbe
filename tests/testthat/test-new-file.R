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
  expect_error(write_network(inside("none", "net.h5ad")), "whose folder does not exist; create it first")
  for (name in c(folder, paste0(folder, c("/", "//")))) {
    expect_error(write_network(name), "'file' is \".*, a folder; give the name of a file in it", label = name)
  }
  for (name in inside(c("net/", "net.h5ad//"))) {
    expect_error(write_network(name), "'file' is \".*, a folder; give the name of a file in it", label = name)
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
    expect_match(message, "'file' is \".*\\.\\.\\., which cannot be written as \".*\": .+")
    expect_no_match(message, "full")
  }
  expect_error(write_network(file.path(folder, strrep("a/", 3000), "net.h5ad")), "of more than 4095 bytes")
  expect_length(dir(folder, all.files = TRUE, no.. = TRUE), 0)
  expect_identical(write_network(file.path(folder, strrep("a", 200)))$file,
                   file.path(normalizePath(folder), strrep("a", 200)))
})

# ---- no room

# What networks written one after the other, `times` for each size, come to in one process that has a disk in `folder`
# of each of `sizes`, in KiB, in turn: a list with a line for each, and how the process ended.
write_on_disks <- function(sizes, times, folder) {
  code <- c("x <- matrix(sin(1:2000), 5)",
            paste0("folder <- ", deparse1(folder)),
            "file <- file.path(folder, 'net')",
            paste0("for (size in ", deparse1(sizes), ") {"),
            "  options <- sprintf('remount,size=%gk', size)",
            "  stopifnot(system2('mount', c('-o', options, shQuote(folder))) == 0)",
            paste0("  for (time in seq_len(", times, ")) {"),
            "    said <- tryCatch(gpuCorNetwork(x, threshold = 0, file = file)$file, error = conditionMessage)",
            "    writeLines(paste(size, said))",
            "    if (!all(dir(folder) == 'net')) stop('left behind: ', dir(folder))",
            "    unlink(file)",
            "  }",
            "}",
            "stopifnot(length(rhdf5::h5validObjects()) == 0)",
            "writeLines('quits')")
  run_in_shell(code, paste("mount -t tmpfs -o size=8k none", shQuote(folder)), mounting_shell)
}

test_that("where the disk is full it is an error, and R quits in order", {
  skip_if_not_installed("rhdf5")
  skip_without_mounts()
  folder <- new_folder()
  # The file has 1,900 KiB for 159,600 entries, and 1,074 must be free when it is begun: from a full disk, over
  # entries that do not fit, to the last blocks, which are written when the file is closed.
  rooms <- c(8, 1060, 1184, 1700, seq(1900, 1940, 8), 3200)
  times <- if (full_tier()) 6 else 2
  run <- write_on_disks(rooms, times, folder)
  expect_identical(run[c("status", "stderr")], list(status = 0L, stderr = ""))
  lines <- sub("partial-[^\"]*", "partial", strsplit(run$stdout, "\n")[[1]])
  said <- sub("^[0-9]+ ", "", lines[seq(1, by = times, length.out = length(rooms))])
  expect_identical(lines, c(rep(paste(rooms, said), each = times), "quits"))
  expect_match(said[1:2], "'file' is \".*, which cannot be written as \"net.partial\": the disk is full")
  expect_match(said[3:4], "cannot write \".*/net.partial\": HDF5\\. .*; the disk is full$")
  expect_match(said, "cannot write \".*/net.partial\": HDF5\\. .*flush.*; the disk is full$", all = FALSE)
  expect_identical(said[length(said)], file.path(normalizePath(folder), "net"))
})

# ---- killed processes

# A process that has begun to write `file`, and goes on living.
begin_file <- function(file) {
  ready <- tempfile("ready")
  job <- parallel::mcparallel({
    h5 <- gpucor:::open_network_file(file, 2, 2)
    gpucor:::append_rows(h5, 1, 1L, 0.5)
    file.create(ready)
    Sys.sleep(60)
  })
  expect_true(wait_until(function() file.exists(ready), 20))
  job
}

test_that("what a killed process has left is removed by the next one that writes to that name", {
  skip_on_os("windows")
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  killed <- begin_file(file)
  living <- begin_file(file)
  on.exit(kill_fork(living))
  kill_fork(killed)
  partial <- function(job) paste0("net.h5ad.partial-", gpucor:::process_space(), "-", job$pid)
  expect_setequal(dir(folder), c(partial(killed), partial(living)))
  # Of another machine, another file, and no process at all.
  others <- c(paste0("net.h5ad.partial-elsewhere-", killed$pid), sub("net", "ten", partial(killed)),
              partial(list(pid = "x")), paste0(partial(killed), ".txt"), partial(list(pid = "")),
              partial(list(pid = "99999999999")))
  file.create(file.path(folder, others))
  write_network(file.path(folder, "other.h5ad"))
  expect_true(partial(killed) %in% dir(folder)) # another name
  write_network(file)
  expect_setequal(dir(folder), c(others, partial(living), "net.h5ad", "other.h5ad"))
})

test_that("a process is known by its machine, and by its container", {
  space <- gpucor:::process_space()
  expect_match(space, "^[[:alnum:]._-]+$")
  expect_true(startsWith(space, gsub("[^[:alnum:].]", "_", Sys.info()[["nodename"]])))
  skip_if_not(file.exists("/proc/self/ns/pid"))
  expect_match(space, "-[0-9]+$")
})
