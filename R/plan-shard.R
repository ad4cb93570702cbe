# A shard of a round: the engine writes its result to a file, and R appends what else is known of it, and the seal.

shard_folder <- function(plan, number) file.path(plan$path, "rounds", number)

# The files whose names are those of a round's shards: shard, file, checksum.
named_files <- function(plan, round) {
  names <- dir(shard_folder(plan, round$number), "^[0-9]{5,}[.][0-9a-f]{32}$")
  files <- data.frame(shard = as.numeric(sub("[.].*", "", names)),
                      file = file.path(rep(shard_folder(plan, round$number), length(names)), names),
                      checksum = sub(".*[.]", "", names))
  files[files$shard %in% seq_len(plan$shards), ]
}

# The files of some shards. A file with another seal, of another plan, round or shard, is none of them; one whose seal
# is damaged is a damaged file of the shard that its name says.
shard_files <- function(plan, round, shards = seq_len(plan$shards)) {
  files <- named_files(plan, round)
  files <- files[files$shard %in% shards, ]
  is_own <- function(file, shard) {
    found <- read_seal(file)
    is.null(found) || has_seal(found, shard_seal(plan, round, shard))
  }
  files[as.logical(mapply(is_own, files$file, files$shard)), ]
}

shard_seal <- function(plan, round, shard) seal_of(plan, "shard", round$number, shard, round$digest)

# One file of each shard that has any: two processes may both have finished it.
finished_shards <- function(plan, round) {
  files <- shard_files(plan, round)
  files[!duplicated(files$shard), ]
}

# Which of these files are as they were written.
are_sound <- function(finished) as.logical(mapply(is_verified, finished$file, finished$checksum))

# ---- one shard

# Its file, from the run that is `round`. Any number of processes may do that at the same time.
run_shard <- function(plan, round, shard, x, y, settings) {
  folder <- plan_folder(plan, "rounds", round$number)
  remove_abandoned(file.path(folder, sprintf("%05.0f", shard)))
  partial <- partial_name(file.path(folder, sprintf("%05.0f", shard)))
  on.exit(unlink(partial))
  settings$share <- c(shard - 1, plan$shards)
  settings$save <- partial
  settings$in_double <- round$in_double
  given <- shard_input(plan, round, x, y, settings)
  task <- list(x = given$x, y = given$y, method = round$method, use = round$use)
  started <- Sys.time()
  found <- checked(call_engine(round$entry, task, round$arguments, given$settings))
  seconds <- as.numeric(Sys.time() - started, units = "secs")
  about <- c(list(shard = shard, seconds = seconds, host = Sys.info()[["nodename"]], backend = settings$backend),
             found["n_obs"], lapply(found[c("x_flags", "y_flags")], memCompress, "gzip")) # mostly zeros
  write_result(partial, about, shard_seal(plan, round, shard))
  publish(partial, file.path(folder, sprintf("%05.0f.%s", shard, checksum(partial))), plan)
  about
}

# Appended to what the engine has written.
write_result <- function(file, about, seal) {
  tryCatch(append_sealed(file, about, seal), error = function(condition) {
    fail("cannot write \"", file, "\": ", conditionMessage(condition), "; is the disk full?")
  })
}

# What the engine takes for a shard: x, y, and the settings with the design, as the verb hands them to it.
shard_input <- function(plan, round, x, y, settings) {
  designs <- round_designs(plan, round, x, y)
  if (!is.null(round$combination)) {
    of <- round$combination
    x <- new_subjects(x, of$rule, of$weights, of$total, designs = designs)
    return(list(x = x, y = if (!is.null(y)) new_subjects(y), settings = settings))
  }
  settings["design"] <- list(if (length(designs)) designs[[1L]])
  is_list <- !is.null(plan$subjects) # of one subject
  list(x = if (is_list) x[[1L]] else x, y = if (is_list) y[[1L]] else y, settings = settings)
}

# The design of each subject; NULL: the round has none. Where a file is damaged, the verb makes the design again.
round_designs <- function(plan, round, x, y) {
  if (!length(round$designs)) return(NULL)
  read <- function() lapply(seq_along(round$designs), function(k) read_note(plan, "design", k))
  is_right <- function(designs) identical(vapply(designs, design_digest, ""), round$designs)
  designs <- read()
  if (is_right(designs)) return(designs)
  replay(plan, x, y)
  designs <- read()
  if (!is_right(designs)) {
    fail("the plan in \"", plan$path, "\" has other designs now than its round ", round$number, " was begun with; ",
         "call gpuCorRun() again")
  }
  designs
}

# What run_shard() returned for this file, whose seal is right.
read_about <- function(file) unserialize(read_seal(file)$object)

# For the engine, in the place of a run: where the shards' results are, and what they knew of the variables.
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

# ---- who is at work

claim_folder <- function(plan, number, shard) file.path(plan$path, "claims", number, sprintf("%05.0f", shard))

# Whether the shard was free: of several that try, one is told so. Only a hint: doing it twice costs time, no more. The
# folder comes with its owner in it, and takes no other's place but that of an empty one (on Windows not even that: an
# empty one is an abandoned claim, which is released first).
claim <- function(plan, number, shard) {
  plan_folder(plan, "claims", number)
  folder <- claim_folder(plan, number, shard)
  begun <- partial_name(folder)
  on.exit(unlink(begun, recursive = TRUE))
  make_folder(begun, file.mode(plan$path))
  sign_claim(plan, number, shard, begun)
  rename_file(begun, folder, replace = FALSE)
}

sign_claim <- function(plan, number, shard, folder = claim_folder(plan, number, shard)) {
  owner <- list(space = process_space(), host = Sys.info()[["nodename"]], pid = Sys.getpid())
  try(write_plan_file(plan, owner_file(folder), owner, seal_of(plan, "claim", number, shard)), silent = TRUE)
}

owner_file <- function(folder) file.path(folder, "owner.rds")

release_claim <- function(plan, number, shard) unlink(claim_folder(plan, number, shard), recursive = TRUE)

# Claims of a round: shard, host, age in seconds, abandoned: whether nobody is at work on it any more, so far as can be
# seen from here. A process of another machine is taken for gone after LONG_CLAIM, or five times the longest shard; so
# is one that claimed its shard in what is now the future: somebody set the clock.
claims_of <- function(plan, round) {
  folders <- dir(file.path(plan$path, "claims", round$number), "^[0-9]{5,}$", full.names = TRUE)
  shard <- as.numeric(basename(folders))
  is_shard <- shard %in% seq_len(plan$shards)
  folders <- folders[is_shard]
  shard <- shard[is_shard]
  owners <- Map(function(folder, shard) {
    read_plan_file(owner_file(folder), seal_of(plan, "claim", round$number, shard))
  }, folders, shard)
  host <- vapply(owners, function(owner) if (is.null(owner)) "?" else owner$host, "")
  # Whoever gives up a claim removes the owner's file first; it may also be damaged, or another plan's.
  gone <- vapply(owners, is.null, NA)
  dead <- vapply(owners, function(owner) identical(owner$space, process_space()) && !is_at_work(owner$pid), NA)
  age <- if (length(folders)) as.numeric(clock_of(plan) - file.mtime(folders), units = "secs") else numeric()
  data.frame(shard = shard, host = host, age = age,
             abandoned = gone | dead | is.na(age) | abs(age) > longest_claim(plan, round), row.names = NULL)
}

# Whoever asks is not at work: a claim of its own was left by an interrupt.
is_at_work <- function(pid) pid != Sys.getpid() && .Call(r_are_running, as.integer(pid))

LONG_CLAIM <- 600

longest_claim <- function(plan, round) {
  files <- utils::head(named_files(plan, round)$file, 16L) # which may be damaged
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
