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

is_gzip <- function(file) identical(readBin(normalizePath(file), "raw", 2L), as.raw(c(0x1f, 0x8b)))

# Returns the max number of bytes that a file can have when unpacked: deflate's ratio is at most 1032.
max_bytes <- function(file) file.size(file) * if (is_gzip(file)) 1032 else 1

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
  use(function(n) reading(readBin(connection, "raw", n)))
}

# Bytes that are read at a time where the end is unknown.
STREAM_PIECE <- 2^22

# Reads and drops the rest of a stream, for its checksum.
read_to_end <- function(read, max, shown) {
  while (length(piece <- read(STREAM_PIECE))) {
    max <- max - length(piece)
    if (max < 0) fail_file(shown, " has too many bytes after its last value; unpack it by gunzip -k")
  }
}

# Returns all bytes of a file, compressed by gzip or not; more than `limit` bytes, or a stream that is cut off, are an
# error.
read_whole <- function(file, shown = paste0("'", file, "'"), limit = unpacked_limit(file)) {
  check_regular(file, paste("the file", shown))
  if (!is_gzip(file)) return(read_limited(file, shown, limit))
  copy <- tempfile()
  on.exit(unlink(copy))
  add_end(file, copy, shown)
  bytes <- read_limited(copy, shown, limit + length(STREAM_END))
  before <- length(bytes) - length(STREAM_END)
  if (before < 0 || !identical(bytes[before + seq_along(STREAM_END)], STREAM_END)) {
    fail_file(shown, " is damaged: its compressed data are cut off")
  }
  utils::head(bytes, before)
}

# Returns the default limit: text is rarely compressed to less than a 64th, and R's vectors of bytes for libxml2 end
# at 2^31 - 1.
unpacked_limit <- function(file) min(2^31 - 1, max(2^28, 64 * file.size(file)))

read_limited <- function(file, shown, limit) {
  with_stream(file, function(read) {
    pieces <- list()
    left <- limit
    while (length(piece <- read(STREAM_PIECE))) {
      left <- left - length(piece)
      if (left < 0) fail_file(shown, " has more than ", format_bytes(limit), " unpacked; unpack it by gunzip -k")
      pieces[[length(pieces) + 1L]] <- piece
    }
    if (length(pieces)) do.call(c, pieces) else raw()
  }, shown)
}

# gzfile() ends without a word where a stream is cut off. A copy with another stream after it, of this content, tells:
# the content is the end of what is read only if the first stream is complete.
STREAM_END <- charToRaw("the end of a stream of gpucor")

add_end <- function(file, copy, shown) {
  cannot <- function(condition) fail_file(shown, " cannot be copied to ", tempdir(), ": ", conditionMessage(condition))
  tryCatch({
    if (!file.copy(file, copy, copy.mode = FALSE)) stop("check its permissions and the space there")
    connection <- gzfile(copy, "ab")
    on.exit(close(connection))
    writeBin(STREAM_END, connection)
  }, warning = cannot, error = cannot)
}
