# A claim is a folder that says which process computes a shard. It is only a hint: computing a shard twice is harmless.

claim_folder <- function(plan, number, shard) file.path(plan$path, "claims", number, shard_name(shard))

owner_file <- function(folder) file.path(folder, "owner.rds")

# Returns TRUE to one of the processes that try to claim a free shard. The folder is created elsewhere with its owner,
# then renamed, which only succeeds over an empty folder. (On Windows it fails over any folder: an empty one is an
# abandoned claim, which is released first.)
claim <- function(plan, number, shard) {
  plan_folder(plan, "claims", number)
  folder <- claim_folder(plan, number, shard)
  partial <- begin_partial(folder)
  on.exit(discard_partial(partial))
  make_folder(partial, file.mode(plan$path))
  sign_claim(plan, number, shard, partial)
  rename_file(partial, folder, replace = FALSE)
}

sign_claim <- function(plan, number, shard, folder = claim_folder(plan, number, shard)) {
  owner <- list(space = process_space(), host = Sys.info()[["nodename"]], pid = Sys.getpid())
  try(write_plan_file(plan, owner_file(folder), owner, seal_of(plan, "claim", number, shard)), silent = TRUE)
}

release_claim <- function(plan, number, shard) unlink(claim_folder(plan, number, shard), recursive = TRUE)

# Returns the claims of a round: shard, host, age in seconds, and abandoned, which is TRUE if the process has ended, or
# probably has. A process on another machine counts as ended after LONG_CLAIM seconds, or five times the longest shard,
# or if its claim is as far in the future because a clock was set.
claims_of <- function(plan, round) {
  folders <- dir(file.path(plan$path, "claims", round$number), "^[0-9]{5,}$", full.names = TRUE)
  folders <- folders[as.numeric(basename(folders)) %in% seq_len(plan$shards)]
  shards <- as.numeric(basename(folders))
  owners <- Map(function(folder, shard) {
    owner <- read_plan_file(owner_file(folder), seal_of(plan, "claim", round$number, shard))
    if (is_owner(owner)) owner
  }, folders, shards)
  # A process that releases a claim removes the owner's file first; the file may also be damaged, or another plan's.
  has_ended <- function(owner) {
    is.null(owner) || (identical(owner$space, process_space()) && !is_at_work(owner$pid))
  }
  host <- vapply(owners, function(owner) if (is.null(owner)) "?" else owner$host, "")
  age <- if (length(folders)) as.numeric(clock_of(plan) - file.mtime(folders), units = "secs") else numeric()
  abandoned <- vapply(owners, has_ended, NA) | is.na(age) | abs(age) > longest_claim(plan, round)
  data.frame(shard = shards, host = host, age = age, abandoned = abandoned, row.names = NULL)
}

# Returns TRUE if sign_claim() could have written this.
is_owner <- function(owner) {
  is.list(owner) && is.character(owner$space) && is.character(owner$host) && length(owner$host) == 1L &&
    is.integer(owner$pid) && length(owner$pid) == 1L
}

# A claim of this process itself is not active: an interrupt left it.
is_at_work <- function(pid) pid != Sys.getpid() && .Call(r_are_running, as.integer(pid))

LONG_CLAIM <- 600

longest_claim <- function(plan, round) {
  files <- utils::head(named_files(plan, round)$file, 16L) # files may be damaged
  seconds <- vapply(files, function(file) tryCatch(as.numeric(read_about(file)$seconds)[1L], error = function(e) 0), 0)
  max(LONG_CLAIM, 5 * seconds, na.rm = TRUE)
}

# Returns the time of the file system with the folder, as this machine's clock may differ; this machine's time if the
# folder is not writable.
clock_of <- function(plan) {
  partial <- tryCatch(begin_partial(file.path(plan$path, "claims", "clock")), gpucor_error = function(e) NULL)
  if (is.null(partial)) return(Sys.time())
  on.exit(discard_partial(partial))
  file.mtime(dirname(partial))
}
