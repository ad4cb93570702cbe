# A share of a round: computed into a file, which in the end tells what else is known of it.

share_folder <- function(plan, number) file.path(plan$path, "rounds", number)

# The shares of a round that have a file: share, file, checksum.
finished_shares <- function(plan, number) {
  names <- dir(share_folder(plan, number), "^[0-9]{5,}[.][0-9a-f]{32}$")
  share <- as.numeric(sub("[.].*", "", names))
  first <- !duplicated(share) # two processes may both have finished it
  data.frame(share = share[first], file = file.path(share_folder(plan, number), names[first]),
             checksum = sub(".*[.]", "", names[first]))
}

# Which of these files are as they were written.
are_sound <- function(finished) as.logical(mapply(is_verified, finished$file, finished$checksum))

# ---- one share

# Its file, from the run that is `round`. Any number of processes may do that at the same time.
run_share <- function(plan, round, share, x, y, settings) {
  folder <- plan_folder(plan, "rounds", round$number)
  remove_abandoned(file.path(folder, sprintf("%05.0f", share)))
  partial <- partial_name(file.path(folder, sprintf("%05.0f", share)))
  on.exit(unlink(partial))
  settings$share <- c(share - 1, plan$shards)
  settings$save <- partial
  settings$in_double <- round$in_double
  task <- list(x = x, y = y, method = round$method, use = round$use)
  started <- Sys.time()
  found <- checked(call_engine(round$entry, task, round$arguments, settings))
  seconds <- as.numeric(Sys.time() - started, units = "secs")
  about <- c(list(share = share, seconds = seconds, host = Sys.info()[["nodename"]], backend = settings$backend),
             found[c("n_obs", "x_flags", "y_flags")])
  append_about(partial, about)
  publish(partial, file.path(folder, sprintf("%05.0f.%s", share, checksum(partial))))
  about
}

# An object at the end of a file, and its length behind it.
append_about <- function(file, about) {
  bytes <- memCompress(serialize(about, NULL), "gzip") # mostly zeros
  wanted <- file.size(file) + length(bytes) + 8
  connection <- file(file, "ab")
  on.exit(close(connection))
  writeBin(bytes, connection)
  writeBin(as.numeric(length(bytes)), connection)
  flush(connection)
  if (file.size(file) != wanted) fail("cannot write \"", file, "\"; is the disk full?")
}

read_about <- function(file) {
  connection <- file(file, "rb")
  on.exit(close(connection))
  size <- file.size(file)
  seek(connection, size - 8)
  length <- readBin(connection, "double")
  seek(connection, size - 8 - length)
  unserialize(memDecompress(readBin(connection, "raw", length), "gzip"))
}

# For the engine, in the place of a run: where the shares' results are, and what they knew of the variables.
parts_of <- function(finished) {
  parts <- NULL
  for (file in finished$file) {
    about <- read_about(file)
    if (is.null(parts)) parts <- about[c("n_obs", "x_flags", "y_flags")]
    parts$x_flags <- parts$x_flags | about$x_flags
    parts$y_flags <- parts$y_flags | about$y_flags
  }
  c(list(path = finished$file), parts)
}

# ---- who is at work

claim_folder <- function(plan, number, share) file.path(plan$path, "claims", number, sprintf("%05.0f", share))

# Whether the share was free: of several that try, one is told so. Only a hint: doing it twice costs time, no more. The
# folder comes with its owner in it, and takes no other's place but that of an empty one.
claim <- function(plan, number, share) {
  plan_folder(plan, "claims", number)
  folder <- claim_folder(plan, number, share)
  begun <- partial_name(folder)
  on.exit(unlink(begun, recursive = TRUE))
  dir.create(begun, showWarnings = FALSE)
  sign_claim(begun)
  suppressWarnings(file.rename(begun, folder))
}

sign_claim <- function(folder) {
  owner <- list(space = process_space(), host = Sys.info()[["nodename"]], pid = Sys.getpid())
  try(suppressWarnings(saveRDS(owner, file.path(folder, "owner.rds"))), silent = TRUE)
}

release_claim <- function(plan, number, share) unlink(claim_folder(plan, number, share), recursive = TRUE)

# Claims of a round: share, host, age in seconds, abandoned: whether nobody is at work on it any more, so far as can be
# seen from here. A process of another machine is taken for gone after LONG_CLAIM, or five times the longest share; so
# is one that claimed its share in what is now the future: somebody set the clock.
claims_of <- function(plan, number) {
  folders <- dir(file.path(plan$path, "claims", number), "^[0-9]{5,}$", full.names = TRUE)
  none <- function(condition) NULL
  read_owner <- function(folder) tryCatch(readRDS(file.path(folder, "owner.rds")), error = none, warning = none)
  owners <- lapply(folders, read_owner)
  host <- vapply(owners, function(owner) if (is.null(owner)) "?" else owner$host, "")
  gone <- vapply(owners, is.null, NA) # or going: who gives up a claim removes the owner first
  dead <- vapply(owners, function(owner) identical(owner$space, process_space()) && !is_at_work(owner$pid), NA)
  age <- if (length(folders)) as.numeric(clock_of(plan) - file.mtime(folders), units = "secs") else numeric()
  data.frame(share = as.numeric(basename(folders)), host = host, age = age,
             abandoned = gone | dead | is.na(age) | abs(age) > longest_claim(plan, number))
}

# Whoever asks is not at work: a claim of its own was left by an interrupt. To processes of others kill() says no.
is_at_work <- function(pid) pid != Sys.getpid() && (tools::pskill(pid, 0L) || dir.exists(file.path("/proc", pid)))

LONG_CLAIM <- 600

longest_claim <- function(plan, number) {
  files <- utils::head(finished_shares(plan, number)$file, 16L) # which may be damaged
  seconds <- vapply(files, function(file) tryCatch(as.numeric(read_about(file)$seconds)[1L], error = function(e) 0), 0)
  max(LONG_CLAIM, 5 * seconds, na.rm = TRUE)
}

# What time it is where the folder is: this machine's clock may be another, or be set. That is its own where nothing can
# be written.
clock_of <- function(plan) {
  file <- partial_name(file.path(plan$path, "claims", "clock"))
  on.exit(unlink(file))
  if (suppressWarnings(file.create(file))) file.mtime(file) else Sys.time()
}
