# The name of a file that is to be written, and the one that it bears until it is complete.

# PATH_MAX, and a zero at the end.
LONGEST_PATH <- 4095

check_new_file <- function(file) {
  if (!is.character(file) || length(file) != 1L || is.na(file) || !nzchar(file)) {
    fail("'file' must be one string, the name of the file to write, not ", show_value(file))
  }
  shown <- show_value(file)
  if (nchar(file, "bytes") > LONGEST_PATH) {
    fail("'file' is ", shown, ", of ", nchar(file, "bytes"), " bytes; the system takes ", LONGEST_PATH,
         "; choose a shorter path")
  }
  file <- path.expand(file)
  if (dir.exists(file)) fail("'file' is ", shown, ", a folder; give the name of a file in it")
  if (endsWith(file, "/")) fail("'file' is ", shown, ", which ends in a slash; give the name of a file in a folder")
  folder <- dirname(file)
  if (!dir.exists(folder)) fail("'file' is ", shown, ": there is no such folder; create it first")
  if (file.access(folder, 2L) != 0L) fail("'file' is ", shown, ": its folder is not writable; choose another one")
  if (file.exists(file)) fail("'file' is ", shown, ", which exists; remove it or choose another name")
  file.path(normalizePath(folder, "/"), basename(file)) # for setwd() meanwhile
}

# ---- until it is complete

# Where process numbers are known: this machine; on Linux each container has numbers of its own.
process_space <- function() {
  namespace <- gsub("[^0-9]", "", Sys.readlink("/proc/self/ns/pid"))
  paste(c(gsub("[^[:alnum:].]", "_", Sys.info()[["nodename"]]), namespace[nzchar(namespace)]), collapse = "-")
}

partial_prefix <- function(file) paste0(file, ".partial-", process_space(), "-")

partial_name <- function(file) paste0(partial_prefix(file), Sys.getpid())

# Bytes beyond a reserve that must be there, so that a file can be begun.
BEGINNING <- 2^16

# The file that holds the room: without a name where the system removes open files, and beside `partial` on Windows,
# until it is closed.
room_name <- function(partial, is_windows = .Platform$OS.type == "windows") {
  if (is_windows) paste0(partial, "-room") else partial
}

# An open connection that holds `bytes` of the disk until it is closed: to the file room_name(partial), which has been
# removed where that is possible. Where there is no such room, or can be no such file, the error says why, which HDF5's
# would not.
reserve_room <- function(file, partial, bytes) {
  cannot <- function(why) {
    fail("'file' is ", show_value(file), ", which cannot be written as \"", basename(partial), "\": ", why,
         "; choose another name or folder")
  }
  room <- room_name(partial)
  reserve <- tryCatch(file(room, "wb"), warning = function(w) cannot(sub(".*: ", "", conditionMessage(w))))
  suppressWarnings(write_zeros(reserve, bytes + BEGINNING))
  written <- file.size(room)
  unlink(room)
  if (written < bytes + BEGINNING) {
    close(reserve)
    unlink(room)
    cannot("the disk is full")
  }
  seek(reserve, bytes, rw = "write")
  truncate(reserve)
  reserve
}

write_zeros <- function(connection, bytes) {
  piece <- raw(min(bytes, 2^20))
  for (k in seq_len(bytes %/% length(piece))) writeBin(piece, connection)
  writeBin(piece[seq_len(bytes %% length(piece))], connection)
  flush(connection)
}

# Whether `from` could be given the name `to`. Windows refuses as long as another process has the file open: one that
# reads what is replaced, or that looks for viruses in what was just written. They are waited for, but not where `to` is
# there and must not be replaced.
rename_file <- function(from, to, replace = TRUE, seconds = if (.Platform$OS.type == "windows") 10 else 0) {
  until <- Sys.time() + seconds
  repeat {
    if (suppressWarnings(file.rename(from, to))) return(TRUE)
    if (Sys.time() >= until || !file.exists(from) || (!replace && file.exists(to))) return(FALSE)
    Sys.sleep(0.05)
  }
}

# A process that was killed has left its incomplete file. Only those of this user are removed, where files have owners.
remove_abandoned <- function(file) {
  prefix <- basename(partial_prefix(file))
  there <- dir(dirname(file), all.files = TRUE)
  there <- there[startsWith(there, prefix)]
  pid <- sub("-room$", "", substring(there, nchar(prefix) + 1L)) # as room_name() adds it
  whole <- grepl("^[0-9]{1,9}$", pid)
  there <- file.path(dirname(file), there[whole])
  abandoned <- !.Call(r_are_running, as.integer(pid[whole])) & are_own(there)
  unlink(there[which(abandoned)], recursive = TRUE)
}

# Whether files are this user's; Windows does not say, and TRUE stands for that.
are_own <- function(files, owner = file.info(files)$uname) {
  if (is.null(owner)) rep(TRUE, length(files)) else owner == Sys.info()[["effective_user"]]
}
