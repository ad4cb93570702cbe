# What a plan computes is said by the verb itself: it is called again, with the plan's data, and wherever it would run
# the engine over all pairs it gets what the shards found (replayed_pass). The first such run whose shards are not all
# there becomes a round, and the call ends there. So a plan's result is that of the call on one machine, whatever the
# verb.

# The verb's result, or the round that has to be run before it can go on. is_planning: the latter is wanted. While a
# plan is being made nothing is written, and the round comes with the notes.
replay <- function(plan, x, y, further = list(), is_planning = TRUE) {
  state$replay <- list2env(list(plan = plan, rounds = 0, notes = list(), is_renewed = FALSE, is_planning = is_planning))
  on.exit(state$replay <- NULL)
  arguments <- c(list(x = x), if (!is.null(y)) list(y = y), plan$arguments, further)
  symbols <- lapply(stats::setNames(nm = names(arguments)), as.name)
  verb <- as.name(check_choice(plan$verb, PLANNABLE, "verb"))
  call <- as.call(c(verb, symbols)) # by names: errors would show all of the data
  tryCatch(eval(call, arguments, environment(replay)), gpuCorRound = function(condition) condition)
}

is_round <- function(result) inherits(result, "gpuCorRound")

# What a verb's result says of how it was called.
call_of <- function(call) if (is.null(state$replay)) call else state$replay$plan$call

replayed_pass <- function(replay, entry, task, arguments, settings) {
  if (isTRUE(task$is_sample) || is_small(entry, task)) {
    return(noted(replay, "sample", function() checked(call_engine(entry, task, arguments, settings))))
  }
  replay$rounds <- replay$rounds + 1
  round <- round_for(replay, replay$rounds, entry, task, arguments, settings)
  finished <- if (is_written(replay$plan)) finished_shards(replay$plan, round)
  if (is.null(finished) || nrow(finished) < replay$plan$shards || !all(are_sound(finished))) {
    stop(round_needed(round, replay$notes, task, settings))
  }
  settings$parts <- parts_of(finished)
  settings$doing <- list(text = "part", of = nrow(finished), rated = FALSE)
  call_engine(entry, task, arguments, settings)
}

# Whether the plan has its folder: its digest is known when its data are written.
is_written <- function(plan) !is.null(plan$digest)

# A histogram that takes a moment is not worth a round.
is_small <- function(entry, task) entry == "r_histogram" && task$pairs <= SMALL_PAIRS

SMALL_PAIRS <- 2^24

# ---- notes: what may differ in the last digit from machine to machine

# The weights and covariates of a subject as the engine takes them: in a plan a note, as bases of the same covariates by
# another LAPACK differ.
kept_design <- function(f) if (is.null(state$replay)) f() else noted(state$replay, "design", f)

# What f() returns: found once, when the plan is made, and from then on taken from the folder. Notes of a kind are
# numbered in the order in which the verb asks for them.
noted <- function(replay, kind, f) {
  number <- length(replay$notes[[kind]]) + 1L
  note <- if (is_written(replay$plan)) read_note(replay$plan, kind, number)
  if (is.null(note)) {
    note <- f()
    if (is_written(replay$plan)) note <- renewed_note(replay, kind, number, note)
  }
  replay$notes[[kind]][[number]] <- note
  note
}

# A note whose file was lost or damaged is found anew. It may differ from the one before, and then the rounds that
# follow from it are written anew, too.
renewed_note <- function(replay, kind, number, note) {
  write_note(replay$plan, kind, number, note)
  replay$is_renewed <- TRUE
  read_note(replay$plan, kind, number)
}

NOTE_FOLDERS <- c(sample = "notes", design = "designs")

note_file <- function(plan, kind, number) file.path(plan$path, NOTE_FOLDERS[[kind]], paste0(number, ".rds"))

read_note <- function(plan, kind, number) read_plan_file(note_file(plan, kind, number), seal_of(plan, kind, number))

write_note <- function(plan, kind, number, note) {
  plan_folder(plan, NOTE_FOLDERS[[kind]])
  write_plan_file(plan, note_file(plan, kind, number), note, seal_of(plan, kind, number))
}

# ---- rounds

round_file <- function(plan, number) file.path(plan$path, "rounds", paste0(number, ".rds"))

# NULL: there is no such round, or its file is damaged or another plan's.
read_round <- function(plan, number) {
  round <- read_plan_file(round_file(plan, number), seal_of(plan, "round", number))
  if (!is.null(round)) check_round(plan, round)
}

# The engine's functions that run over all pairs, and a round may name.
ENTRIES <- c("r_cor", "r_edges", "r_neighbours", "r_histogram", "r_connectivity")

check_round <- function(plan, round) {
  names_file <- function(argument) is.list(argument) && !is.null(argument$spool)
  ok <- isTRUE(round$entry %in% ENTRIES) && isTRUE(round$method %in% measures()$name) && is_data(round) &&
    !any(vapply(round$arguments, names_file, NA))
  if (!ok) {
    fail("\"", round_file(plan, round$number), "\" has what no round has; it was changed since it was made. Make the ",
         "plan again, in another folder")
  }
  round
}

# The last round that was asked for. Where the first one's file is damaged, the verb asks for it again.
current_round <- function(plan) {
  round <- last_round(plan)
  if (!is.null(round)) return(round)
  replay(plan, stored_data(plan, "x"), stored_data(plan, "y"))
  last_round(plan)
}

last_round <- function(plan) {
  round <- NULL
  number <- 1
  while (!is.null(following <- read_round(plan, number))) {
    round <- following
    number <- number + 1
  }
  round
}

# What the shards of a round do; written when the round is first asked for. is_last: no further round is planned;
# is_new: it is a further round, which was not known before.
round_for <- function(replay, number, entry, task, arguments, settings) {
  plan <- replay$plan
  designs <- if (is_combined(task$x)) task$x$designs else if (!is.null(settings$design)) list(settings$design)
  round <- list(number = number, entry = entry, method = task$method, use = task$use, in_double = settings$in_double,
                arguments = shard_arguments(entry, arguments), is_last = sum(settings$pass) > 1 - 1e-6,
                combination = combination_of(task$x), designs = vapply(designs, design_digest, ""))
  if (!is_written(plan)) return(round)
  known <- read_round(plan, number)
  if (identical(known[names(round)], round)) return(c(known, is_new = FALSE))
  if (!is.null(known) && !replay$is_renewed) {
    fail("round ", number, " of the plan in \"", plan$path, "\" was planned otherwise, by another version or on other ",
         "data; make the plan again, in another folder")
  }
  c(write_round(plan, round), is_new = is.null(known) && number > 1)
}

# The round with its digest, which its shards' files carry: they do not count for a round of other settings.
write_round <- function(plan, round) {
  text <- deparse(round, control = c("keepNA", "keepInteger", "hexNumeric"))
  round$digest <- .Call(r_checksum, charToRaw(paste(c(plan$digest, text), collapse = "\n")))
  plan_folder(plan, "rounds")
  write_plan_file(plan, round_file(plan, round$number), round, seal_of(plan, "round", round$number))
  round
}

# How subjects' coefficients become one; NULL: there is one subject.
combination_of <- function(x) {
  if (!is_combined(x)) return(NULL)
  list(rule = list(how = x$name, share = x$share, skips = x$skips), weights = x$weights, total = x$total)
}

design_digest <- function(design) {
  numbers <- unlist(design[c("weights", "basis", "keeps", "raw", "ranked", "option", "lost")])
  .Call(r_checksum, writeBin(as.numeric(numbers), raw()))
}

# A shard takes no notice of what is to become of all.
shard_arguments <- function(entry, arguments) {
  if (entry == "r_cor") arguments[[3L]] <- list() # attributes
  if (entry %in% c("r_edges", "r_neighbours")) {
    arguments[[1L]]["spool"] <- list(NULL)
    arguments[[1L]]$stay <- 0L
    arguments[[length(arguments)]] <- 2^53 # edges at most
  }
  arguments
}

round_needed <- function(round, notes, task, settings) {
  structure(class = c("gpuCorRound", "error", "condition"),
            list(message = paste("round", round$number, "is not complete"), call = NULL, round = round, notes = notes,
                 task = task, settings = settings))
}

# After a round whose shards are all there, the next one, where one is planned.
advance <- function(plan, x, y, control) {
  round <- current_round(plan)
  if (round$is_last || nrow(finished_shards(plan, round)) < plan$shards) return(round)
  result <- replay(plan, x, y, list(control = control))
  if (is_round(result)) result$round else round
}
