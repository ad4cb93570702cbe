# The folder of a plan, which all of its processes share:
#   plan.rds                   the function, its arguments except the data, the number of shards
#   x.columns, y.columns       the data, once; x.sparse, y.sparse if sparse; x.1.columns, ... for several subjects
#   designs/1.rds              weights and the basis of covariates as the engine reads them, one file per subject
#   rounds/1.rds               a run of the engine over all pairs, which is divided into shards
#   rounds/1/00007.<md5>       the result of shard 7; its final name includes its checksum
#   claims/1/00007/owner.rds   the process that computes shard 7
#   notes/1.rds                the result of a sample of the columns
# A file gets its name when it is complete and on the disk. All but the data end in a seal, and contain R objects
# that are vectors and lists only.

# ---- writing

# Stops if the folder contains another plan than at the start of this process. The folder may change after this check;
# the seal, which readers check, is decisive.
check_not_replaced <- function(plan) {
  found <- read_seal(file.path(plan$path, "plan.rds"), with_object = FALSE)
  seal <- seal_of(plan, "plan")
  if (identical(found[names(seal)], seal)) return(invisible())
  fail_file("\"", plan$path, "\" no longer holds the plan that this process began with; call gpuCorRun() again if it ",
            "has a new one")
}

write_plan_file <- function(plan, file, object, seal) {
  check <- function() if (seal$kind != "plan") check_not_replaced(plan)
  write_whole_file(file, function(partial) append_sealed(partial, object, seal), check)
}

# Returns the object in a file with this seal, otherwise NULL.
read_plan_file <- function(file, seal) {
  found <- read_seal(file)
  if (identical(found[names(seal)], seal)) read_object(found$object)
}

fail_changed <- function(file) {
  fail_file("\"", file, "\" was changed since the plan was made; make the plan again, in another folder")
}

# Returns TRUE if the file has the expected checksum. It is read again only if its size or time has changed.
is_verified <- function(file, expected) {
  info <- file.info(file, extra_cols = FALSE)
  known <- paste(expected, info$size, as.numeric(info$mtime))
  if (identical(state$verified[[file]], known)) return(TRUE)
  if (!identical(checksum(file), expected)) return(FALSE)
  state$verified[[file]] <- known
  TRUE
}

# ---- folders

# Returns a folder within the plan's, which is created if necessary, with the same permissions.
plan_folder <- function(plan, ...) {
  folder <- plan$path
  for (name in c(...)) {
    folder <- file.path(folder, name)
    make_folder(folder, file.mode(plan$path))
  }
  if (file.access(folder, 2L) != 0L) {
    fail_file("\"", folder, "\" is not writable for ", Sys.info()[["user"]], " on ", Sys.info()[["nodename"]])
  }
  folder
}

# Returns TRUE if the folder was created. Its permissions are `mode`, regardless of the umask.
make_folder <- function(folder, mode) {
  made <- dir.create(folder, showWarnings = FALSE, mode = as.character(mode))
  if (made) Sys.chmod(folder, mode, use_umask = FALSE)
  made
}

# ---- seals

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
    fields <- regmatches(rawToChar(line), regexec(SEAL_PATTERN, rawToChar(line), useBytes = TRUE))[[1L]]
    if (!length(fields)) return(NULL)
    seal <- list(kind = fields[2L], plan = fields[3L], digest = fields[4L], round = as.numeric(fields[5L]),
                 shard = as.numeric(fields[6L]), length = as.numeric(fields[7L]), checksum = fields[8L])
    if (!with_object) return(seal)
    seal$object <- read_end(file, seal$length, SEAL_BYTES)
    if (.Call(r_checksum, c(seal$object, line[seq_len(SEAL_BYTES - 16)])) == seal$checksum) seal
  }, error = none, warning = none)
}

# Returns NA if the file is unreadable.
checksum <- function(file) tryCatch(unname(tools::md5sum(file)), warning = function(w) NA_character_)

# ---- contents

# Besides its data, a plan may contain the name of a function, and arguments that are pure data. Both are checked when
# the plan is made and whenever it is opened: otherwise anyone who can write to the folder could run code in the
# processes that open it. For the same reason the bytes of every R object in the folder are checked before R reads it.

PLANNABLE <- c("gpuCorNetwork", "gpuConnectivity", "gpuCor")

# Returns names of arguments without those of data, of settings of a process, and of the destination of the result.
plan_arguments <- function(verb) {
  setdiff(c(names(formals(get(verb, topenv()))), OFFERED[[verb]]), c("x", "y", "...", "file", "shards"))
}

# Types of data; the only ones that src/r/plain.c lets R read from a file.
DATA_TYPES <- c("NULL", "logical", "integer", "double", "complex", "character", "raw", "list")

# Returns TRUE if a value is pure data: a vector, or a list of vectors, whose attributes are data, too. Functions,
# expressions, environments, pointers and S4 objects are not. A vector's dimensions and names must have its length,
# which unserialize() does not check.
is_data <- function(value) {
  if (isS4(value) || !typeof(value) %in% DATA_TYPES) return(FALSE)
  n <- length(unclass(value))
  size <- attr(value, "dim", exact = TRUE)
  names <- attr(value, "names", exact = TRUE)
  has_own_size <- (is.null(size) || (is.integer(size) && isTRUE(all(size >= 0L) && prod(size) == n))) &&
    (is.null(names) || length(names) == n)
  parts <- c(if (is.list(value)) unclass(value), attributes(value))
  has_own_size && all(vapply(unname(parts), is_data, NA))
}

# Returns the object in bytes from a file of a plan, or NULL unless it is pure data. R before 4.4 runs code that other
# objects contain while it reads them.
read_object <- function(bytes) {
  if (!.Call(r_is_plain, bytes)) return(NULL)
  object <- tryCatch(unserialize(bytes), error = function(condition) NULL)
  if (is_data(object)) object
}

# Returns TRUE if gpuCorPlan() could have written this. The call is part of the result, and never evaluated.
is_plan <- function(plan) { # nolint: cyclocomp_linter.
  is_count <- function(value) is_number_within(value, 1, Inf) && value == floor(value)
  is_description <- function(one) {
    is.list(one) && isTRUE(one$type %in% c("double", "float", "integer", "sparse")) && is_numeric(one$dim) &&
      length(one$dim) == 2L && isTRUE(all(one$dim >= 0 & one$dim == floor(one$dim))) &&
      (is.null(one$names) || (is.character(one$names) && length(one$names) == one$dim[2L]))
  }
  are_descriptions <- function(data) { # one matrix per subject, as from store_data()
    is.list(data) && length(data) == max(1, plan$subjects) && all(vapply(data, is_description, NA))
  }
  names <- names(plan$arguments)
  is.character(plan$verb) && isTRUE(plan$verb %in% PLANNABLE) && is.list(plan$arguments) &&
    length(names) == length(plan$arguments) && all(names %in% plan_arguments(plan$verb)) && !anyDuplicated(names) &&
    is.call(plan$call) && is_count(plan$shards) && (is.null(plan$subjects) || is_count(plan$subjects)) &&
    are_descriptions(plan$x) && (!length(plan$y) || are_descriptions(plan$y))
}

# ---- the plan

# The seal contains the plan's id and digest; the path is not stored. The call is stored as text, as a file of a plan
# has only data. Values in it that are too large, or cannot be read back, are replaced by their class.
save_plan <- function(plan) {
  stored <- plan[setdiff(names(plan), c("path", "id", "digest"))]
  exactly <- c("keepNA", "keepInteger", "niceNames", "showAttributes", "digits17")
  as_text <- function(call) paste(deparse(call, control = exactly), collapse = "\n")
  is_readable <- function(text) tryCatch(is.call(str2lang(text)), error = function(condition) FALSE)
  call <- plan$call
  for (k in seq_along(call)[-1L]) { # an element may be empty
    is_kept <- is.language(call[[k]]) ||
      (utils::object.size(call[[k]]) <= 10000 && is_readable(as_text(call[c(1L, k)])))
    if (!is_kept) call[[k]] <- as.name(paste0("<", class(call[[k]])[1L], ">"))
  }
  stored$call <- as_text(call)
  write_plan_file(plan, file.path(plan$path, "plan.rds"), stored, seal_of(plan, "plan"))
}

open_plan <- function(path) {
  path <- expand_path(check_string(path, "path", "the name of a plan's folder"), "path")
  shown <- show_value(path)
  host <- Sys.info()[["nodename"]]
  file <- file.path(path, "plan.rds")
  if (!dir.exists(path)) {
    fail_file("'path' is ", shown, ", which is not a plan: ", host, " has no such folder; give the full name of a ",
              "folder that all machines share")
  }
  if (file.access(path, 5L) != 0L || (file.exists(file) && file.access(file, 4L) != 0L)) {
    fail_file("'path' is ", shown, ", which ", Sys.info()[["user"]], " may not read on ", host)
  }
  if (!file.exists(file)) fail_file("'path' is ", shown, ", where there is no plan; gpuCorPlan() makes one")
  found <- read_seal(file)
  if (!identical(found$kind, "plan")) {
    fail_file("\"", file, "\" is damaged, or of another version of gpucor; make the plan again, in another folder")
  }
  plan <- read_object(found$object)
  if (!is.list(plan)) fail_changed(file)
  plan <- c(plan, list(id = found$plan, digest = found$digest))
  version <- as.character(utils::packageVersion("gpucor"))
  if (!identical(plan$version, version)) {
    fail_file("'path' is ", shown, ", a plan by gpucor ", plan$version, "; this is gpucor ", version)
  }
  plan$call <- tryCatch(str2lang(plan$call), error = function(condition) NULL) # evaluates nothing
  if (!is_plan(plan)) fail_changed(file)
  plan$path <- normalizePath(path, "/")
  plan
}
