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
    expect_match(message, "cannot write \".*\\.\\.\\. by way of \".*\": .+")
    expect_no_match(message, "full")
  }
  # path.expand() cuts them off where R has no readline, also a name that only "~" makes too long.
  for (name in c(file.path(folder, strrep("a/", 3000), "net.h5ad"), paste0("~", strrep("/a", 2047)),
                 paste0("/", strrep("a", 4094)))) {
    expect_no_warning(expect_error(write_network(name), "of more than 4094 bytes"))
    expect_no_warning(expect_error(gpuCorPlan(name, x), "of more than 4094 bytes"))
  }
  expect_error(gpuCorRun(paste0("/", strrep("a", 4094))), "of more than 4094 bytes")
  expect_length(dir(folder, all.files = TRUE, no.. = TRUE), 0)
  expect_identical(write_network(file.path(folder, strrep("a", 200)))$file,
                   file.path(normalizePath(folder), strrep("a", 200)))
})

# ---- links and permissions

# Writes of every kind to a new file in a folder: functions of the folder that return the file's name.
writers <- function() {
  at <- function(folder, name) file.path(folder, name)
  model <- data.frame(structure = "CORTEX_LEFT", kind = "surface", first = 1, count = 9L, vertices = 9L)
  vertices <- structure(cbind(1:9), header = list(cifti = list(models = model, places = list(0:8))))
  c(list(
    image = function(folder) writeVoxels(array(1:8, c(2, 2, 2)), at(folder, "map.nii")),
    `compressed image` = function(folder) writeVoxels(array(1:8, c(2, 2, 2)), at(folder, "map.nii.gz")),
    residuals = function(folder) {
      suppressWarnings(gpuClean(x, 1:8, file = at(folder, "cleaned"))) # few degrees of freedom are left
      at(folder, "cleaned")
    }
  ), if (requireNamespace("xml2", quietly = TRUE)) list(
    surface = function(folder) writeVoxels(vertices, at(folder, "map.func.gii"))
  ), if (requireNamespace("rhdf5", quietly = TRUE)) list(
    network = function(folder) write_network(at(folder, "net.h5ad"))$file
  ))
}

test_that("new files are the user's as the umask says, and nothing else is left", {
  skip_on_os("windows")
  old <- Sys.umask()
  on.exit(Sys.umask(old))
  writers <- writers()
  for (name in names(writers)) for (mask in c("022", "077")) {
    Sys.umask(mask)
    folder <- new_folder()
    file <- writers[[name]](folder)
    expect_identical(format(file.mode(file)), if (mask == "022") "644" else "600", label = paste(name, mask))
    expect_identical(dir(folder, all.files = TRUE, no.. = TRUE), basename(file))
  }
})

test_that("no link is followed, neither in the place of the file nor of the incomplete one", {
  skip_on_os("windows")
  folder <- new_folder()
  mine <- file.path(folder, "mine")
  dir.create(mine)
  writers <- writers()
  for (name in names(writers)) {
    truth <- basename(writers[[name]](new_folder()))
    # A link to nothing that is there: anybody's file would be made.
    of_others <- new_folder()
    file.symlink(file.path(mine, "made"), file.path(of_others, truth))
    file <- writers[[name]](of_others)
    expect_identical(Sys.readlink(file), "", label = name)
    expect_gt(file.size(file), 0)
    # As if the name of the folder had been guessed: it ends in FALSE.
    of_others <- new_folder()
    guessed <- paste0(gpucor:::partial_prefix(file.path(of_others, truth)), Sys.getpid(), "-FALSE")
    with_values(list(r_random = gpucor:::r_is_plain), {
      expect_identical(basename(writers[[name]](of_others)), truth) # nothing is in the way
      unlink(file.path(of_others, truth))
      file.symlink(mine, guessed)
      expect_error(writers[[name]](of_others), "cannot write \".* by way of \".*-FALSE\": .+", label = name)
    })
    expect_identical(Sys.readlink(guessed), mine)
  }
  expect_length(dir(mine), 0)
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
  lines <- strsplit(run$stdout, "\n")[[1]]
  said <- sub("^[0-9]+ ", "", lines[seq(1, by = times, length.out = length(rooms))])
  expect_identical(lines, c(rep(paste(rooms, said), each = times), "quits"))
  expect_match(said[1:2], "'file' is \".*, which cannot be written: the disk is full")
  expect_match(said[3:4], "cannot write \".*/net\": HDF5\\. .*; the disk is full$")
  expect_match(said, "cannot write \".*/net\": HDF5\\. .*flush.*; the disk is full$", all = FALSE)
  expect_identical(said[length(said)], file.path(normalizePath(folder), "net"))
})

test_that("a compressed image without its last bytes is no image", {
  folder <- new_folder()
  file <- file.path(folder, "map.nii.gz")
  read <- gpucor:::with_stream
  for (n in 1:12) {
    cut <- function(file, ...) {
      cut_off(file, file.size(file) - n)
      read(file, ...)
    }
    with_values(list(with_stream = cut), {
      expect_error(writeVoxels(array(1:8, c(2, 2, 2)), file), "cannot write \".*/map.nii.gz\": ", label = n)
    })
  }
  expect_length(dir(folder, all.files = TRUE, no.. = TRUE), 0)
})

test_that("where the disk is full no image is written, whichever byte does not fit", {
  skip_without_mounts()
  skip_if_not_installed("xml2")
  folder <- new_folder()
  code <- c(
    paste0("folder <- ", deparse1(folder)),
    "remount <- function(pages) {",
    "  options <- sprintf('remount,size=%dk', 4 * pages)",
    "  stopifnot(system2('mount', c('-o', options, shQuote(folder))) == 0)",
    "}",
    "set.seed(3)",
    "values <- sample(.Machine$integer.max, 4000)",
    "at <- function(name) file.path(folder, name)",
    "write <- function(name, n) {",
    "  if (name == 'map.func.gii') {",
    "    model <- data.frame(structure = 'CORTEX_LEFT', kind = 'surface', first = 1, count = n, vertices = n)",
    "    cifti <- list(models = model, places = list(seq_len(n) - 1))",
    "    values <- structure(cbind(values[1:n]), header = list(cifti = cifti))",
    "    writeVoxels(values, at(name))",
    "  } else writeVoxels(array(values[1:n], c(n, 1, 1)), at(name))",
    "}",
    "size_of <- function(name, n) {",
    "  write(name, n)",
    "  on.exit(unlink(at(name)))",
    "  file.size(at(name))",
    "}",
    "for (name in c('map.nii', 'map.nii.gz', 'map.func.gii')) {",
    "  n <- 4000L",
    "  size <- size_of(name, n)",
    "  pages <- ceiling(size / 4096)",
    paste0("  for (room in ", if (full_tier()) "c(seq_len(pages), 1000)" else "c(2, pages - 1, 1000)", ") {"),
    "    remount(room)",
    "    said <- character()",
    "    note <- function(condition) said <<- c(said, conditionMessage(condition))",
    "    try(withCallingHandlers(write(name, n), warning = note, gpucor_error_file = note), silent = TRUE)",
    "    writeLines(paste(name, sign(room - pages), length(said), said[1]))",
    "    stopifnot(nrow(showConnections()) == 0)",
    "    stopifnot(identical(dir(folder), if (length(said)) character() else name))",
    "    if (!length(said)) stopifnot(file.size(at(name)) == size)",
    "    unlink(at(name))",
    "  }",
    "}"
  )
  run <- run_in_shell(code, paste("mount -t tmpfs -o size=4000k none", shQuote(folder)), mounting_shell)
  expect_identical(run[c("status", "stderr")], list(status = 0L, stderr = ""))
  lines <- strsplit(run$stdout, "\n")[[1]]
  expect_match(grep(" -1 ", lines, value = TRUE), " -1 1 cannot write \".*/map.*; the disk is full$")
  expect_identical(grep(" 1 0 ", lines, value = TRUE), paste(c("map.nii", "map.nii.gz", "map.func.gii"), "1 0 NA"))
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
  prefix <- paste0("net.h5ad.partial-", gpucor:::process_space(), "-")
  partial <- function(job) dir(folder, paste0("-", job$pid, "-[0-9a-f]{8}$"))
  of_killed <- partial(killed)
  of_living <- partial(living)
  expect_true(all(startsWith(c(of_killed, of_living), prefix)))
  expect_setequal(dir(folder), c(of_killed, of_living))
  expect_identical(dir(file.path(folder, of_killed)), "new")
  # Of another machine, another file, and no process at all.
  others <- c(paste0("net.h5ad.partial-elsewhere-", killed$pid, "-01234567"), sub("net", "ten", of_killed),
              paste0(prefix, c("x-01234567", "-01234567", "99999999999-01234567", killed$pid)),
              paste0(of_killed, ".txt"))
  file.create(file.path(folder, others))
  write_network(file.path(folder, "other.h5ad"))
  expect_true(of_killed %in% dir(folder)) # another name
  write_network(file)
  expect_setequal(dir(folder), c(others, of_living, "net.h5ad", "other.h5ad"))
})

test_that("a process is known by its machine, and by its container", {
  space <- gpucor:::process_space()
  expect_match(space, "^[[:alnum:]._-]+$")
  expect_true(startsWith(space, gsub("[^[:alnum:].]", "_", Sys.info()[["nodename"]])))
  skip_if_not(file.exists("/proc/self/ns/pid"))
  expect_match(space, "-[0-9]+$")
})
