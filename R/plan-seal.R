# The seal of a plan's file: its last line. It names the plan (a random id), a digest of the data and settings that the
# file depends on, the kind of file, its round and its shard, and it has a checksum of itself and of the R object before
# it. An object is unserialized only where the seal is intact and says what the reader expects; a file with any other
# seal counts as missing, and what it should hold is computed anew.

# Raised whenever a plan's files change.
PLAN_FORMAT <- 2

SEAL <- paste("gpucor-plan", PLAN_FORMAT, "%-6s %s %s %010.0f %010.0f %015.0f ")
SEAL_PATTERN <- paste("^gpucor-plan", PLAN_FORMAT, paste("([a-z]+) +([0-9a-f]{32}) ([0-9a-f]{16}) ([0-9]{10})",
                                                         "([0-9]{10}) ([0-9]{15}) ([0-9a-f]{16})$"))
SEAL_BYTES <- nchar(sprintf(SEAL, "", strrep("0", 32), strrep("0", 16), 0, 0, 0)) + 16

# What the seal of a plan's file says. kind: "plan", "round", "sample", "design", "claim" or "shard"; round, shard: 0
# where the file belongs to none.
seal_of <- function(plan, kind, round = 0, shard = 0, digest = plan$digest) {
  list(kind = kind, plan = plan$id, digest = digest, round = as.numeric(round), shard = as.numeric(shard))
}

write_plan_file <- function(plan, file, object, seal) {
  write_whole_file(file, function(partial) append_sealed(partial, object, seal), if (seal$kind != "plan") plan)
}

# The object of the file if it has this seal, otherwise NULL.
read_plan_file <- function(file, seal) {
  found <- read_seal(file)
  if (has_seal(found, seal)) unserialize(found$object)
}

has_seal <- function(found, seal) identical(found[names(seal)], seal)

# The object and its seal go to the end of a file, or to a new one. On a full disk writing may stop without an error.
append_sealed <- function(file, object, seal) {
  object <- serialize(object, NULL)
  line <- charToRaw(sprintf(SEAL, seal$kind, seal$plan, seal$digest, seal$round, seal$shard, length(object)))
  sealed <- c(object, line, charToRaw(.Call(r_checksum, c(object, line))))
  wanted <- sum(file.size(file), length(sealed), na.rm = TRUE)
  connection <- file(file, "ab")
  on.exit(close(connection))
  writeBin(sealed, connection)
  flush(connection)
  if (file.size(file) != wanted) stop("it was not written to its end")
}

# The seal with the serialized object; NULL: the file is missing, unreadable or damaged.
read_seal <- function(file) {
  none <- function(condition) NULL
  tryCatch(read_intact_seal(file), error = none, warning = none)
}

read_intact_seal <- function(file) {
  line <- read_end(file, SEAL_BYTES, 0)
  seal <- parse_seal(rawToChar(line))
  seal$object <- read_end(file, seal$length, SEAL_BYTES)
  if (.Call(r_checksum, c(seal$object, line[seq_len(SEAL_BYTES - 16)])) == seal$checksum) seal
}

# The line alone, for a look at whose file it is.
read_seal_line <- function(file) {
  none <- function(condition) NULL
  tryCatch(parse_seal(rawToChar(read_end(file, SEAL_BYTES, 0))), error = none, warning = none)
}

# So many bytes of the file before its last `after` ones.
read_end <- function(file, bytes, after) {
  from <- file.size(file) - after - bytes
  if (!isTRUE(from >= 0)) stop("the file is too short")
  connection <- file(file, "rb")
  on.exit(close(connection))
  seek(connection, from)
  readBin(connection, "raw", bytes)
}

parse_seal <- function(line) {
  fields <- regmatches(line, regexec(SEAL_PATTERN, line, useBytes = TRUE))[[1L]]
  if (!length(fields)) stop("no seal")
  list(kind = fields[2L], plan = fields[3L], digest = fields[4L], round = as.numeric(fields[5L]),
       shard = as.numeric(fields[6L]), length = as.numeric(fields[7L]), checksum = fields[8L])
}

# 128 random bits of the system's: R's own random numbers belong to the user, and set.seed() must not make two plans
# equal.
random_id <- function() paste(.Call(r_random, 16L), collapse = "")
