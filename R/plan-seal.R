# The seal is the last line of a plan's file. It contains the plan's random id, a digest of the data and settings that
# the file depends on, the kind of file, its round and shard, and a checksum of itself and the R object before it. A
# file with any other seal counts as missing, and its contents are computed again. A seal detects accidents, not
# forgery: read_object() decides whether an object may be read.

# Incremented whenever the format of a plan's files changes.
PLAN_FORMAT <- 4

SEAL <- paste("gpucor-plan", PLAN_FORMAT, "%-6s %s %s %010.0f %010.0f %015.0f ")
SEAL_PATTERN <- paste("^gpucor-plan", PLAN_FORMAT, paste("([a-z]+) +([0-9a-f]{32}) ([0-9a-f]{16}) ([0-9]{10})",
                                                         "([0-9]{10}) ([0-9]{15}) ([0-9a-f]{16})$"))
SEAL_BYTES <- nchar(sprintf(SEAL, "", strrep("0", 32), strrep("0", 16), 0, 0, 0)) + 16

# Returns the expected seal of a file. `kind`: "plan", "round", "sample", "design", "claim" or "shard"; `round`,
# `shard`: 0 if the file belongs to none.
seal_of <- function(plan, kind, round = 0, shard = 0, digest = plan$digest) {
  list(kind = kind, plan = plan$id, digest = digest, round = as.numeric(round), shard = as.numeric(shard))
}

has_seal <- function(found, seal) identical(found[names(seal)], seal)

# Appends the object and its seal to a file, or creates it. Version 2 of R's format has no ALTREP objects.
append_sealed <- function(file, object, seal) {
  object <- serialize(object, NULL, version = 2)
  line <- charToRaw(sprintf(SEAL, seal$kind, seal$plan, seal$digest, seal$round, seal$shard, length(object)))
  sealed <- c(object, line, charToRaw(.Call(r_checksum, c(object, line))))
  append_bytes(file, length(sealed), function(connection) writeBin(sealed, connection))
}

# Returns the seal of a file with the serialized object after comparing the checksum, or the seal alone; NULL if the
# file is missing, unreadable or damaged.
read_seal <- function(file, with_object = TRUE) {
  none <- function(condition) NULL
  tryCatch({
    line <- read_end(file, SEAL_BYTES)
    seal <- parse_seal(rawToChar(line))
    if (!with_object) return(seal)
    seal$object <- read_end(file, seal$length, SEAL_BYTES)
    if (.Call(r_checksum, c(seal$object, line[seq_len(SEAL_BYTES - 16)])) == seal$checksum) seal
  }, error = none, warning = none)
}

parse_seal <- function(line) {
  fields <- regmatches(line, regexec(SEAL_PATTERN, line, useBytes = TRUE))[[1L]]
  if (!length(fields)) stop("no seal")
  list(kind = fields[2L], plan = fields[3L], digest = fields[4L], round = as.numeric(fields[5L]),
       shard = as.numeric(fields[6L]), length = as.numeric(fields[7L]), checksum = fields[8L])
}

checksum <- function(file) unname(suppressWarnings(tools::md5sum(file))) # NA: unreadable
