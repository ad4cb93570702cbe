# Files as streams of bytes: what is not a regular file, is damaged, cut off or too long is an error.

write_gzip <- function(bytes, file, mode = "wb") {
  connection <- gzfile(file, mode)
  on.exit(close(connection))
  writeBin(bytes, connection)
}

some_bytes <- function() as.raw((seq_len(5e4)^2 %/% 7) %% 251)

flip <- function(bytes, at) replace(bytes, at, xor(bytes[at], as.raw(4)))

test_that("all bytes of a file are read, compressed or not, of one stream or several", {
  file <- file.path(temporary_folder(), "bytes")
  for (bytes in list(some_bytes(), raw())) {
    writeBin(bytes, file)
    expect_identical(gpucor:::read_whole(file), bytes)
    write_gzip(bytes, file)
    Sys.chmod(file, "444") # the file is copied, but its permissions are not
    expect_identical(gpucor:::read_whole(file), bytes)
    Sys.chmod(file, "644")
    write_gzip(some_bytes(), file, "ab")
    expect_identical(gpucor:::read_whole(file), c(bytes, some_bytes()))
  }
})

test_that("a damaged, truncated or too long stream is an error", {
  file <- file.path(temporary_folder(), "bytes.gz")
  write_gzip(some_bytes(), file)
  bytes <- readBin(file, "raw", 1e6)
  n <- length(bytes)
  expect_error(gpucor:::read_whole(file, limit = 49999), "has more than 50 kB", class = "gpucor_error_file")
  expect_identical(gpucor:::read_whole(file, limit = 50000), some_bytes())
  damaged <- c(lapply(round(seq(11, n - 4, length.out = 40)), flip, bytes = bytes),
               lapply(c(2, 10, 11, 500, n - 9, n - 8, n - 4, n - 1), function(size) bytes[seq_len(size)]))
  for (damage in damaged) {
    writeBin(damage, file)
    expect_error(gpucor:::read_whole(file), "'.*bytes.gz' (is damaged|cannot be read)", class = "gpucor_error_file")
  }
})

test_that("a stream in memory gives as many bytes as are asked for, or an error", {
  bytes <- some_bytes()
  file <- file.path(temporary_folder(), "bytes.gz")
  write_gzip(bytes, file)
  inflate <- function(stream, n) gpucor:::inflate(stream, n, "'x'")
  for (stream in list(memCompress(bytes, "gzip"), readBin(file, "raw", 1e6))) {
    size <- length(stream)
    expect_identical(inflate(stream, length(bytes)), bytes)
    wrong <- c(list(list(stream, 49999), list(stream, 50001), list(stream, 1e12), list(raw(), 1), list(raw(9), 50)),
               lapply(c(1, 2, 7, 50, size - 1, size %/% 2), function(k) list(stream[seq_len(k)], 50000)),
               lapply(round(seq(30, size - 20, length.out = 20)), function(at) list(flip(stream, at), 50000)))
    for (case in wrong) expect_error(inflate(case[[1]], case[[2]]), "x. ", class = "gpucor_error_file")
  }
  expect_identical(inflate(memCompress(as.raw(7), "gzip"), 1), as.raw(7))
})

test_that("folders, pipes and devices are not opened", {
  folder <- temporary_folder()
  fails <- function(file, words) {
    expect_error(gpucor:::with_stream(file, function(read) read(1)), words, class = "gpucor_error_file")
  }
  fails(file.path(folder, "none"), "the file '.*none' does not exist")
  fails(folder, "is a folder; give the name of a file in it")
  skip_on_os("windows")
  pipe <- file.path(folder, "pipe")
  skip_if_not(system2("mkfifo", shQuote(pipe)) == 0L, "mkfifo")
  fails(pipe, "is no regular file")
  fails("/dev/zero", "is no regular file")
  expect_error(gpuCorFile(pipe, c(2, 2)), "'file' is \".*pipe\", which is no regular file")
  expect_error(readConfounds(pipe), "'file' is \".*pipe\", which is no regular file")
})
