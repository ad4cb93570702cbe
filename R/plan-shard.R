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

# Returns the shards' files without those that have the seal of another plan, round or shard. A file with a damaged seal
# counts as a damaged file of the shard in its name.
shard_files <- function(plan, round, shards = seq_len(plan$shards)) {
  files <- named_files(plan, round, shards)
  is_own <- function(file, shard) {
    found <- read_seal(file)
    is.null(found) || has_seal(found, shard_seal(plan, round, shard))
  }
  files[as.logical(mapply(is_own, files$file, files$shard)), ]
}

# Returns one file per finished shard: two processes may have finished the same one.
finished_shards <- function(plan, round) {
  files <- shard_files(plan, round)
  files[!duplicated(files$shard), ]
}

# Returns TRUE for each file that is intact.
are_sound <- function(files) as.logical(mapply(is_verified, files$file, files$checksum))

# Returns the value of run_shard() for this file.
read_about <- function(file) unserialize(read_seal(file)$object)

# Computes a shard and writes its file. `task`: from round_task(). Several processes may do this at the same time.
run_shard <- function(plan, round, shard, task) {
  file <- file.path(plan_folder(plan, "rounds", round$number), shard_name(shard))
  partial <- begun_name(file)
  on.exit(unlink(partial))
  settings <- task$settings
  settings[c("shard", "save", "in_double")] <- list(c(shard - 1, plan$shards), partial, round$in_double)
  settings[c("information", "pairs")] <- list(round$information, round$pairs)
  started <- Sys.time()
  found <- checked(call_engine(round$entry, task, round$arguments, settings))
  seconds <- as.numeric(Sys.time() - started, units = "secs")
  about <- c(list(shard = shard, seconds = seconds, host = Sys.info()[["nodename"]], backend = settings$backend),
             found["n_obs"], lapply(found[c("x_flags", "y_flags")], memCompress, "gzip")) # mostly zeros
  tryCatch(append_sealed(partial, about, shard_seal(plan, round, shard)),
           error = function(condition) cannot_write(partial, conditionMessage(condition)))
  publish(partial, paste0(file, ".", checksum(partial)), plan)
  about
}

# Returns what the engine reads instead of computing: the shards' files, numbers of observations, and flags of
# variables.
parts_of <- function(finished) {
  parts <- NULL
  for (file in finished$file) {
    about <- read_about(file)
    flags <- lapply(about[c("x_flags", "y_flags")], memDecompress, "gzip")
    if (is.null(parts)) parts <- c(about["n_obs"], flags)
    parts$x_flags <- parts$x_flags | flags$x_flags
    parts$y_flags <- parts$y_flags | flags$y_flags
  }
  c(list(path = finished$file), parts)
}
