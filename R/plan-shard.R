# The files of a round's shards: the engine writes a shard's result, and R appends other results and the seal.

shard_name <- function(shard) sprintf("%05.0f", shard)

shard_seal <- function(plan, round, shard) seal_of(plan, "shard", round$number, shard, round$digest)

# Returns the files that are named after a shard: a data frame of shard, file, checksum.
named_files <- function(plan, round, shards = seq_len(plan$shards)) {
  folder <- file.path(plan$path, "rounds", round$number)
  names <- dir(folder, "^[0-9]{5,}[.][0-9a-f]{32}$")
  files <- data.frame(shard = as.numeric(sub("[.].*", "", names)), file = file.path(rep(folder, length(names)), names),
                      checksum = sub(".*[.]", "", names))
  files[files$shard %in% shards, ]
}

# Returns the shards' files without those that have the seal of another plan, round or shard. `is_sealed`: FALSE for a
# file whose own seal is damaged or missing. It does not count, even if the checksum in its name is right, and
# gpuCorStatus() shows it as a damaged file of the shard in its name.
shard_files <- function(plan, round, shards = seq_len(plan$shards)) {
  files <- named_files(plan, round, shards)
  kind_of <- function(file, shard) {
    found <- read_seal(file)
    if (!is.null(found) && !has_seal(found, shard_seal(plan, round, shard))) return("foreign")
    if (is_about(read_object(found$object), plan)) "sealed" else "damaged"
  }
  kind <- as.character(mapply(kind_of, files$file, files$shard))
  files$is_sealed <- kind == "sealed"
  files[kind != "foreign", ]
}

# Returns one file per finished shard: two processes may have finished the same one.
finished_shards <- function(plan, round, files = shard_files(plan, round)) {
  files <- files[files$is_sealed, ]
  files[!duplicated(files$shard), ]
}

# Returns TRUE for each file that is intact.
are_sound <- function(files) files$is_sealed & as.logical(mapply(is_verified, files$file, files$checksum))

# ---- what a file says about its shard

# Returns the value of run_shard() for this file.
read_about <- function(file) read_object(read_seal(file)$object)

# Returns TRUE if run_shard() could have written this.
is_about <- function(about, plan) {
  n_col <- flagged_columns(plan)
  is_one <- function(name, type) is(about[[name]], type) && length(about[[name]]) == 1L
  is.list(about) && is_one("seconds", "numeric") && is_one("host", "character") && is_one("backend", "character") &&
    is_one("n_obs", "numeric") && all(mapply(are_marks, about[names(n_col)], n_col))
}

# Returns how many columns of x and y have a flag in a shard's result.
flagged_columns <- function(plan) {
  n_col <- function(data) if (length(data)) data[[1L]]$dim[2L] else 0
  c(x_flags = n_col(plan$x), y_flags = n_col(plan$y))
}

# Returns the nonzero flags, which are few, with their positions.
marks_of <- function(flags) {
  at <- which(flags != 0)
  list(at = at, flag = flags[at])
}

are_marks <- function(marks, n_col) {
  is.list(marks) && is.integer(marks$at) && is.raw(marks$flag) && length(marks$at) == length(marks$flag) &&
    all(marks$at %in% seq_len(n_col))
}

# Computes a shard and writes its file. `task`: from round_task(). Several processes may do this at the same time.
run_shard <- function(plan, round, shard, task) {
  file <- file.path(plan_folder(plan, "rounds", round$number), shard_name(shard))
  partial <- begin_partial(file)
  on.exit(discard_partial(partial))
  settings <- task$settings
  settings[c("shard", "save", "in_double")] <- list(c(shard - 1, plan$shards), partial, round$in_double)
  settings[c("information", "pairs")] <- list(round$information, round$pairs)
  started <- Sys.time()
  found <- checked(call_engine(round$entry, task, round$arguments, settings))
  seconds <- as.numeric(Sys.time() - started, units = "secs")
  about <- c(list(shard = shard, seconds = seconds, host = Sys.info()[["nodename"]], backend = settings$backend),
             found["n_obs"], lapply(found[c("x_flags", "y_flags")], marks_of))
  tryCatch(append_sealed(partial, about, shard_seal(plan, round, shard)),
           error = function(condition) cannot_write(file, partial, conditionMessage(condition)))
  publish(partial, paste0(file, ".", checksum(partial)), function() check_not_replaced(plan))
  about
}

# Returns what the engine reads instead of computing: the shards' files, numbers of observations, and flags of
# variables.
parts_of <- function(plan, finished) {
  flags <- lapply(flagged_columns(plan), raw)
  for (file in finished$file) {
    about <- read_about(file)
    for (side in names(flags)) {
      at <- about[[side]]$at
      flags[[side]][at] <- flags[[side]][at] | about[[side]]$flag
    }
  }
  c(list(path = finished$file), about["n_obs"], flags)
}
