# Files that users name: opened only if they are regular, and unpacked no further than their use allows.

# Stops unless a file can be opened: opening a pipe waits for a writer, and a device may have no end. `shown`: the
# subject of the message.
check_regular <- function(file, shown) {
  switch(.Call(r_file_kind, path.expand(file)),
         absent = fail_file(shown, " does not exist"),
         folder = fail_file(shown, " is a folder; give the name of a file in it"),
         other = fail_file(shown, " is no regular file; write its contents to one"))
  if (file.access(file, 4L) != 0L) fail_file(shown, " cannot be read; check its permissions")
}

is_little_endian <- function() .Platform$endian == "little"

# The engine reads raw files in the order of the machine's bytes.
check_byte_order <- function() {
  if (!is_little_endian()) fail_file("raw files are little-endian, and this machine is not; use HDF5")
}

# The header of a stream of gzip; files of gzip begin with its first two bytes.
GZIP <- as.raw(c(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3))

is_gzip <- function(file) identical(readBin(normalizePath(file), "raw", 2L), GZIP[1:2])

# Deflate compresses at most by this factor.
DEFLATE_RATIO <- 1032

# Bytes that are read at a time: a file may say that it has more than it has.
STREAM_PIECE <- 2^26

# Returns use(read) for a file, compressed by gzip or not; read(n) returns the next n bytes, or fewer at the end. A
# gzip stream that is cut off only has fewer bytes; its checksum is compared where read() reaches the end.
with_stream <- function(file, use, shown = paste0("'", file, "'")) {
  check_regular(file, paste("the file", shown))
  path <- normalizePath(file) # file() gives names such as "stdin" another meaning
  damaged <- function(condition) {
    fail_file(shown, " cannot be read, and may be damaged: ", trimws(conditionMessage(condition)))
  }
  reading <- function(code) tryCatch(code, warning = damaged, error = damaged)
  connection <- reading(if (is_gzip(path)) gzfile(path, "rb") else file(path, "rb", raw = TRUE))
  on.exit(close(connection))
  use(function(n) {
    pieces <- list()
    repeat {
      piece <- reading(readBin(connection, "raw", min(n, STREAM_PIECE)))
      n <- n - length(piece)
      if (!length(pieces) && n <= 0) return(piece)
      pieces[[length(pieces) + 1L]] <- piece
      if (n <= 0 || !length(piece)) return(do.call(c, pieces))
    }
  })
}

# Reads and drops the rest of a gzip stream, of which n bytes were read, so that its checksum is compared. Stops if it
# has more than `max` bytes in all, or is cut off.
read_to_end <- function(read, file, n, max, shown) {
  while (length(piece <- read(min(STREAM_PIECE, max - n + 1)))) {
    n <- n + length(piece)
    if (n > max) fail_file(shown, " has too many bytes after its last value")
  }
  check_complete(file, n, shown)
}

# Returns all bytes of a file, compressed by gzip or not; more than `limit` bytes, or a stream that is cut off, are an
# error. By default text is assumed to be compressed to a 64th at least, and libxml2 takes at most 2^31 - 1 bytes.
read_whole <- function(file, shown = paste0("'", file, "'"),
                       limit = min(2^31 - 1, max(2^28, 64 * file.size(file)))) {
  bytes <- with_stream(file, function(read) read(limit + 1), shown)
  if (length(bytes) > limit) {
    fail_file(shown, " has more than ", format_bytes(limit), " unpacked, which is too much to read")
  }
  if (is_gzip(file)) check_complete(file, length(bytes), shown)
  bytes
}

# Stops if a gzip file, which has n bytes unpacked, is cut off: gzfile() then ends without a word. The last four bytes
# of a file are n modulo 2^32, unless several streams follow each other.
check_complete <- function(file, n, shown) {
  said <- sum(as.integer(read_end(file, 4L)) * 256^(0:3))
  if (said == n %% 2^32) return(invisible())
  # The file may have several streams: another one, added at the end of a copy, is then read, too.
  copy <- tempfile()
  on.exit(unlink(copy, expand = FALSE))
  cannot <- function(condition) fail_file(shown, " cannot be copied to ", tempdir(), ": ", conditionMessage(condition))
  end <- charToRaw("the end")
  tryCatch({
    if (!file.copy(file, copy, copy.mode = FALSE)) stop("check its permissions and the space there")
    connection <- gzfile(copy, "ab")
    tryCatch(writeBin(end, connection), finally = close(connection))
  }, warning = cannot, error = cannot)
  with_stream(copy, shown = shown, function(read) {
    for (left in seq(n, 0, by = -STREAM_PIECE)) read(min(left, STREAM_PIECE))
    if (!identical(read(length(end) + 1L), end)) fail_file(shown, " is damaged: its compressed data are cut off")
  })
}

# Reads `bytes` of the file that precede its last `after` bytes.
read_end <- function(file, bytes, after = 0) {
  from <- file.size(file) - after - bytes
  if (!isTRUE(from >= 0)) stop("the file is too short")
  connection <- file(file, "rb")
  on.exit(close(connection))
  seek(connection, from)
  readBin(connection, "raw", bytes)
}
