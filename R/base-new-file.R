# New files are written in a folder of their own, whose name identifies the writing process, and renamed when they are
# complete.

MAX_PATH <- 4094 # bytes

# Returns a name without "~". Stops if it is too long: path.expand() would cut it off at one byte more, with a warning.
expand_path <- function(path, name) {
  full <- suppressWarnings(path.expand(path))
  if (max(nchar(c(path, full), "bytes")) <= MAX_PATH) return(full)
  fail_file("'", name, "' is ", show_value(path), ", of more than ", MAX_PATH, " bytes")
}

# Returns the full name of a new file (or folder), which is valid after setwd().
check_new_file <- function(file, name = "file", may_be_folder = FALSE) {
  path <- expand_path(check_string(file, name, "the name of the file to write"), name)
  refuse <- function(...) fail_file("'", name, "' is ", show_value(path), ...)
  is_folder <- endsWith(path, "/") || dir.exists(path)
  if (is_folder && !may_be_folder) refuse(", a folder; give the name of a file in it")
  folder <- dirname(path)
  if (!dir.exists(folder)) refuse(", whose folder does not exist; create it first")
  if (file.access(folder, 2L) != 0L) refuse(", whose folder is not writable; choose another one")
  if (file.exists(path)) refuse(", which exists; remove it or choose another name")
  file.path(normalizePath(folder, "/"), basename(path))
}

# ---- folders for incomplete files

# Returns the scope of process numbers: this machine and, on Linux, the container.
process_space <- function() {
  namespace <- gsub("[^0-9]", "", Sys.readlink("/proc/self/ns/pid"))
  paste(c(gsub("[^[:alnum:].]", "_", Sys.info()[["nodename"]]), namespace[nzchar(namespace)]), collapse = "-")
}

partial_prefix <- function(file) paste0(file, ".partial-", process_space(), "-")

# Returns the name of a file (or folder) until it is complete, in a new folder beside it, which only this user may enter
# and which the caller must remove by discard_partial(). The name of the folder cannot be guessed, and creating it
# follows no link, so that nobody else can have put a link in the place of the file.
begin_partial <- function(file) {
  remove_abandoned(file)
  random <- paste(.Call(r_random, 4L), collapse = "") # not R's, whose seed is the user's
  folder <- paste0(partial_prefix(file), Sys.getpid(), "-", random)
  why <- tryCatch({
    if (dir.create(folder, mode = "0700")) return(file.path(folder, "new"))
    "the folder cannot be created"
  }, warning = function(w) sub(".*reason '(.*)'$", "\\1", conditionMessage(w)))
  fail_file("cannot write ", show_value(file), " by way of \"", basename(folder), "\": ", why)
}

discard_partial <- function(partial) unlink(dirname(partial), recursive = TRUE, expand = FALSE)

# Removes such folders of this user's processes that were killed.
remove_abandoned <- function(file) {
  prefix <- basename(partial_prefix(file))
  there <- dir(dirname(file), all.files = TRUE)
  there <- there[startsWith(there, prefix)]
  end <- substring(there, nchar(prefix) + 1L)
  is_ours <- grepl("^[0-9]{1,9}-[0-9a-f]{8}$", end)
  there <- file.path(dirname(file), there[is_ours])
  abandoned <- !.Call(r_are_running, as.integer(sub("-.*", "", end[is_ours]))) & are_own(there)
  unlink(there[which(abandoned)], recursive = TRUE, expand = FALSE)
}

# Windows does not report a file's owner; all files count as own.
are_own <- function(files, owner = file.info(files)$uname) {
  if (is.null(owner)) rep(TRUE, length(files)) else owner == Sys.info()[["effective_user"]]
}

# ---- full disks

# Returns why `bytes` cannot be written to a new file, which is removed, or NULL if they can.
why_no_room <- function(file, bytes) {
  on.exit(unlink(file, expand = FALSE))
  why <- function(condition) if (file.exists(file)) "the disk is full" else sub(".*: ", "", conditionMessage(condition))
  write <- function(connection) for (piece in column_ranges(bytes, 4)) writeBin(raw(length(piece)), connection)
  tryCatch(append_bytes(file, bytes, write), warning = why, error = why)
}

# Raises the error of a failed write. The reason is looked for while the incomplete file still takes its space.
cannot_write <- function(file, partial, said = NULL) {
  why <- why_no_room(paste0(partial, "-room"), 2^20)
  fail_file("cannot write \"", file, "\"", if (!is.null(said)) paste0(": ", said), if (!is.null(why)) paste0("; ", why))
}

# ---- writing

# Calls write(partial), which writes a file under a temporary name, and renames it to `file`. `check`: called when the
# file is complete.
write_whole_file <- function(file, write, check = function() NULL) {
  partial <- begin_partial(file)
  on.exit(discard_partial(partial))
  cannot <- function(condition) cannot_write(file, partial, conditionMessage(condition))
  tryCatch(write(partial), error = cannot, warning = cannot)
  publish(partial, file, check)
}

# Renames a complete file once it is on the disk.
publish <- function(partial, file, check = function() NULL) {
  is_on_disk <- .Call(r_sync, partial)
  check()
  if (!is_on_disk) cannot_write(file, partial)
  if (!rename_file(partial, file)) cannot_write(file, partial, "the complete file cannot be renamed")
  .Call(r_sync, dirname(file)) # fails on some file systems
  invisible(file)
}

# Calls write(connection), and closes the connection. On a full disk R may write less without an error.
write_to <- function(connection, write) {
  force(connection) # opens it, or fails, before on.exit()
  on.exit(suppressWarnings(close(connection)))
  write(connection)
}

# Calls write(connection), which appends that many bytes to a file, or creates it.
append_bytes <- function(file, bytes, write) {
  size <- sum(file.size(file), bytes, na.rm = TRUE)
  write_to(file(file, "ab"), write)
  if (file.size(file) != size) stop("it was not written to its end")
}

# The same for a new file, compressed by gzip. Its size is not known before, so it is read again: the last bytes of a
# complete stream are its uncompressed size.
write_gzip <- function(file, bytes, write) {
  write_to(gzfile(file, "wb"), write)
  n_read <- 0
  with_stream(file, function(read) while (length(piece <- read(STREAM_PIECE))) n_read <<- n_read + length(piece))
  size <- writeBin(as.integer(c(bytes %% 2^16, bytes %/% 2^16 %% 2^16)), raw(), size = 2L, endian = "little")
  if (n_read != bytes || !identical(read_end(file, 4), size)) stop("it was not written to its end")
}

# Writes values of `size` bytes each, in pieces: writeBin() takes less than 2 GB.
write_pieces <- function(connection, values, size) {
  for (piece in column_ranges(length(values), 1)) {
    writeBin(values[piece], connection, size = size, endian = "little")
  }
}

# Returns TRUE if the file was renamed. Windows refuses while another process, such as a virus scanner, has the file
# open, so it is retried; but not if `to` exists and must not be replaced.
rename_file <- function(from, to, replace = TRUE, seconds = if (.Platform$OS.type == "windows") 10 else 0) {
  until <- Sys.time() + seconds
  repeat {
    if (tryCatch(file.rename(from, to), warning = function(w) FALSE)) return(TRUE)
    if (Sys.time() >= until || !file.exists(from) || (!replace && file.exists(to))) return(FALSE)
    Sys.sleep(0.05)
  }
}
