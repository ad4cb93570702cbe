# New files have a temporary name, which identifies the writing process, until they are complete.

MAX_PATH <- 4095 # bytes

check_new_file <- function(file) {
  check_string(file, "file", "the name of the file to write")
  refuse <- function(...) fail_file("'file' is ", show_value(file), ...)
  if (nchar(file, "bytes") > MAX_PATH) refuse(", of more than ", MAX_PATH, " bytes")
  path <- path.expand(file)
  folder <- dirname(path)
  if (endsWith(path, "/") || dir.exists(path)) refuse(", a folder; give the name of a file in it")
  if (!dir.exists(folder)) refuse(", whose folder does not exist; create it first")
  if (file.access(folder, 2L) != 0L) refuse(", whose folder is not writable")
  if (file.exists(path)) refuse(", which exists; remove it or choose another name")
  file.path(normalizePath(folder, "/"), basename(path)) # valid after setwd()
}

# ---- temporary names

# Returns the scope of process numbers: this machine and, on Linux, the container.
process_space <- function() {
  namespace <- gsub("[^0-9]", "", Sys.readlink("/proc/self/ns/pid"))
  paste(c(gsub("[^[:alnum:].]", "_", Sys.info()[["nodename"]]), namespace[nzchar(namespace)]), collapse = "-")
}

partial_prefix <- function(file) paste0(file, ".partial-", process_space(), "-")

partial_name <- function(file) paste0(partial_prefix(file), Sys.getpid())

# Stops unless `bytes` can be written to the temporary file, and removes it. Errors of HDF5 would give no reason.
check_room <- function(file, bytes) {
  partial <- partial_name(file)
  why <- why_no_room(partial, bytes)
  if (!is.null(why)) {
    fail_file("'file' is ", show_value(file), ", which cannot be written as \"", basename(partial), "\": ", why)
  }
}

# Returns why `bytes` cannot be written to a new file, which is removed, or NULL if they can.
why_no_room <- function(file, bytes) {
  on.exit(unlink(file))
  opened <- tryCatch(file(file, "wb"), warning = function(w) sub(".*: ", "", conditionMessage(w)))
  if (is.character(opened)) return(opened)
  suppressWarnings({
    for (piece in column_ranges(bytes, 4)) writeBin(raw(length(piece)), opened)
    close(opened)
  })
  if (file.size(file) < bytes) "the disk is full"
}

# Raises the error of a failed write. The reason is looked for while the incomplete file still takes its space.
cannot_write <- function(file, said = NULL) {
  why <- why_no_room(paste0(partial_name(file), "-room"), 2^20)
  fail_file("cannot write \"", file, "\"", if (!is.null(said)) paste0(": ", said), if (!is.null(why)) paste0("; ", why))
}

# Calls write(connection), which appends that many bytes to a file, or creates it. On a full disk R may write less
# without an error.
append_bytes <- function(file, bytes, write) {
  size <- sum(file.size(file), bytes, na.rm = TRUE)
  connection <- file(file, "ab")
  on.exit(close(connection))
  write(connection)
  flush(connection)
  if (file.size(file) != size) stop("it was not written to its end")
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
    if (suppressWarnings(file.rename(from, to))) return(TRUE)
    if (Sys.time() >= until || !file.exists(from) || (!replace && file.exists(to))) return(FALSE)
    Sys.sleep(0.05)
  }
}

# Removes this user's temporary files of killed processes.
remove_abandoned <- function(file) {
  prefix <- basename(partial_prefix(file))
  there <- dir(dirname(file), all.files = TRUE)
  there <- there[startsWith(there, prefix)]
  pid <- substring(there, nchar(prefix) + 1L)
  whole <- grepl("^[0-9]{1,9}$", pid)
  there <- file.path(dirname(file), there[whole])
  abandoned <- !.Call(r_are_running, as.integer(pid[whole])) & are_own(there)
  unlink(there[which(abandoned)], recursive = TRUE)
}

# Windows does not report a file's owner; all files count as own.
are_own <- function(files, owner = file.info(files)$uname) {
  if (is.null(owner)) rep(TRUE, length(files)) else owner == Sys.info()[["effective_user"]]
}
