# The files of notes and rounds. A note is a value whose last digits may differ among machines, so that all machines
# read it from the folder: a subject's design, or the histogram of a sample. A round is a run of the engine over all
# pairs. Files of each kind are numbered.

FOLDERS <- c(sample = "notes", design = "designs", round = "rounds")

numbered_file <- function(plan, kind, number) file.path(plan$path, FOLDERS[[kind]], paste0(number, ".rds"))

# Returns NULL if there is no such file, or it is damaged or another plan's.
read_numbered <- function(plan, kind, number) {
  read_plan_file(numbered_file(plan, kind, number), seal_of(plan, kind, number))
}

write_numbered <- function(plan, kind, number, object) {
  plan_folder(plan, FOLDERS[[kind]])
  write_plan_file(plan, numbered_file(plan, kind, number), object, seal_of(plan, kind, number))
}

# ---- rounds

# Returns a round or NULL. Stops unless new_round() could have made it.
read_round <- function(plan, number) {
  round <- read_numbered(plan, "round", number)
  if (is.null(round)) return(NULL)
  names_file <- function(argument) is.list(argument) && !is.null(argument$spool)
  is_round <- is.list(round) && isTRUE(round$entry %in% ENTRIES) && isTRUE(round$method %in% engine$measures) &&
    is.list(round$arguments) && !any(vapply(round$arguments, names_file, NA))
  if (!is_round) fail_changed(numbered_file(plan, "round", number))
  round
}

# Returns what the shards of a round compute. `is_last`: TRUE if no further round is expected; `combination`: how
# subjects' coefficients are combined, or NULL for one data set.
new_round <- function(number, entry, run, arguments) {
  x <- run$x
  if (is_combined(x)) {
    designs <- x$designs
    combination <- list(rule = list(how = x$name, level = x$level, skips = x$skips), weights = x$weights,
                        total = x$total, sessions = x$sessions)
  } else {
    designs <- if (!is.null(run$design)) list(run$design)
    combination <- NULL
  }
  # Shards must not depend on arguments that concern only the final result.
  if (entry == "cor") arguments[[2L]] <- list() # attributes
  if (entry %in% c("edges", "neighbours")) {
    arguments[[1L]][c("spool", "stay")] <- list(NULL, 0L)
    arguments[[length(arguments)]] <- 2^53 # maximum number of edges
  }
  list(number = number, entry = entry, method = run$method, use = run$use, in_double = run$in_double,
       min_obs = run$min_obs, arguments = arguments, is_last = sum(run$place$pass) > 1 - 1e-6,
       information = run$information, mask = run$mask, combination = combination,
       designs = design_digests(designs))
}

design_digests <- function(designs) {
  vapply(designs, FUN.VALUE = "", function(design) {
    numbers <- unlist(design[c("weights", "basis", "removed", "keeps", "raw", "ranked", "map", "option", "lost")])
    .Call(r_checksum, writeBin(as.numeric(numbers), raw()))
  })
}

# Returns the round with its digest. The files of its shards contain it, so that they do not count for other settings.
write_round <- function(plan, round) {
  text <- deparse(round, control = c("keepNA", "keepInteger", "hexNumeric"))
  round$digest <- .Call(r_checksum, charToRaw(paste(c(plan$digest, text), collapse = "\n")))
  write_numbered(plan, "round", round$number, round)
  round
}

# ---- shards

# The files of a round's shards: the engine writes a shard's result, and R appends other results and the seal.

# Returns the files that are named after a shard: a data frame of shard, file, checksum.
named_files <- function(plan, round, shards = seq_len(plan$shards)) {
  folder <- file.path(plan$path, "rounds", round$number)
  names <- dir(folder, "^[0-9]{5,}[.][0-9a-f]{32}$")
  files <- data.frame(shard = as.numeric(sub("[.].*", "", names)), file = file.path(rep(folder, length(names)), names),
                      checksum = sub(".*[.]", "", names))
  files[files$shard %in% shards, ]
}

# Returns the shards' files without those that have the seal of another plan, round or shard. `is_sound`: FALSE for a
# file that is damaged, also one whose own seal is damaged or missing, even if the checksum in its name is right.
# `check`: TRUE to compare the files with their checksums.
shard_files <- function(plan, round, shards = seq_len(plan$shards), check = TRUE) {
  files <- named_files(plan, round, shards)
  n_col <- flagged_columns(plan)
  is_about <- function(about) { # TRUE if run_shard() could have written it
    is_one <- function(name, type) is(about[[name]], type) && length(about[[name]]) == 1L
    are_marks <- function(marks, n_col) {
      is.list(marks) && is.integer(marks$at) && is.raw(marks$flag) && length(marks$at) == length(marks$flag) &&
        all(marks$at %in% seq_len(n_col))
    }
    is.list(about) && is_one("seconds", "numeric") && is_one("host", "character") && is_one("backend", "character") &&
      is_one("n_obs", "numeric") && all(mapply(are_marks, about[names(n_col)], n_col))
  }
  is_sound <- function(file, shard, expected) {
    found <- read_seal(file)
    seal <- seal_of(plan, "shard", round$number, shard, round$digest)
    if (!is.null(found) && !identical(found[names(seal)], seal)) return(NA)
    is_about(read_object(found$object)) && (!check || is_verified(file, expected))
  }
  files$is_sound <- as.logical(mapply(is_sound, files$file, files$shard, files$checksum))
  files[!is.na(files$is_sound), ]
}

# Returns a data frame of all shards: shard, state ("done", "damaged" or "missing"), file (of one that is done, or NA).
# Two processes may have finished the same shard.
shard_states <- function(plan, round, check = TRUE) {
  files <- shard_files(plan, round, check = check)
  sound <- files[files$is_sound, ]
  shard <- seq_len(plan$shards)
  file <- sound$file[match(shard, sound$shard)]
  state <- ifelse(!is.na(file), "done", ifelse(shard %in% files$shard, "damaged", "missing"))
  data.frame(shard, state, file)
}

# ---- what a file says about its shard

# Returns the value of run_shard() for this file.
read_about <- function(file) read_object(read_seal(file)$object)

# Returns how many columns of x and y have a flag in a shard's result.
flagged_columns <- function(plan) {
  n_col <- function(data) if (length(data)) data[[1L]]$dim[2L] else 0
  c(x_flags = n_col(plan$x), y_flags = n_col(plan$y))
}

# ---- replay

# A replay calls the verb again with the plan's data. Wherever the verb would run the engine over all pairs, it gets the
# shards' results. The first run with missing shards becomes a round, and ends the call. The result of a plan is
# therefore that of the call on one machine, for any verb.
#
# The run's place has an object of class gpuCorReplay (run$place$replay; NULL outside plans):
#   call                                       the call that results show
#   is_planning                                TRUE to find the next round, not the result
#   run_pass(entry, run, arguments)            the result of a run of the engine over all pairs
#   take_note(kind, f)                         the value of f() when the plan was made

# `x`, `y`: the verb's data; `further`: arguments that are not in the plan. Returns the verb's result, or the round to
# compute first, as a condition of class gpuCorRound. While a plan is being made, nothing is written, and the condition
# contains the round's notes and run.
replay_verb <- function(plan, x, y, further, is_planning = TRUE) {
  recording <- list2env(list(plan = plan, rounds = 0, notes = list(), is_renewed = FALSE))
  replay <- structure(class = "gpuCorReplay", list(
    call = plan$call, is_planning = is_planning,
    run_pass = function(entry, run, arguments) replayed_pass(recording, entry, run, arguments),
    take_note = function(kind, f) replayed_note(recording, kind, f)
  ))
  arguments <- c(list(x = x), if (!is.null(y)) list(y = y), plan$arguments, further)
  arguments$control <- replace(arguments$control, "replay", list(replay))
  symbols <- lapply(stats::setNames(nm = names(arguments)), as.name)
  verb <- as.name(check_choice(plan$verb, PLANNABLE, "verb"))
  call <- as.call(c(verb, symbols)) # symbols, as errors would otherwise show all data
  tryCatch(eval(call, arguments, environment(replay_verb)), gpuCorRound = function(condition) condition)
}

# ---- passes

# Returns the result of a run of the engine over all pairs, from the files of its round. The round is written if its
# file is missing; `is_new` of the condition's round is TRUE for a later one that was unknown.
replayed_pass <- function(recording, entry, run, arguments) {
  is_brief <- entry == "histogram" && run$pairs <= SMALL_PAIRS # computed without a round
  if (!is.null(run$over$sampled) || is_brief) {
    return(replayed_note(recording, "sample", function() checked(call_engine(entry, run, arguments))))
  }
  plan <- recording$plan
  recording$rounds <- recording$rounds + 1
  round <- new_round(recording$rounds, entry, run, arguments)
  states <- NULL
  if (!is.null(plan$digest)) { # the folder exists, with its data
    known <- read_round(plan, round$number)
    if (identical(known[names(round)], round)) {
      round <- c(known, is_new = FALSE)
    } else {
      if (!is.null(known) && !recording$is_renewed) fail_changed(numbered_file(plan, "round", round$number))
      round <- c(write_round(plan, round), is_new = is.null(known) && round$number > 1)
    }
    states <- shard_states(plan, round)
  }
  if (is.null(states) || !all(states$state == "done")) {
    stop(structure(class = c("gpuCorRound", "error", "condition"),
                   list(message = paste("round", round$number, "is not complete"), call = NULL, round = round,
                        notes = recording$notes, run = run)))
  }
  # What the engine reads instead of computing.
  flags <- lapply(flagged_columns(plan), raw)
  for (file in states$file) {
    about <- read_about(file)
    for (side in names(flags)) {
      at <- about[[side]]$at
      flags[[side]][at] <- flags[[side]][at] | about[[side]]$flag
    }
  }
  run <- with_place(run, parts = c(list(path = states$file), about["n_obs"], flags),
                    doing = list(text = "part", of = plan$shards, rated = FALSE))
  call_engine(entry, run, arguments)
}

SMALL_PAIRS <- 2^24

# ---- notes

# Calls f() once, when the plan is made; later calls return the stored value. Notes of a kind are numbered in the order
# in which the verb requests them. If a note's file is missing or damaged, f() is called again; if its value differs,
# the rounds that depend on it are rewritten.
replayed_note <- function(recording, kind, f) {
  plan <- recording$plan
  number <- length(recording$notes[[kind]]) + 1L
  is_written <- !is.null(plan$digest) # the folder exists, with its data
  note <- if (is_written) read_numbered(plan, kind, number)
  if (is.null(note)) {
    note <- f()
    if (is_written) {
      write_numbered(plan, kind, number, note)
      recording$is_renewed <- TRUE
      note <- read_numbered(plan, kind, number)
    }
  }
  recording$notes[[kind]][[number]] <- note
  note
}
