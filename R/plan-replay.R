# A replay calls the verb again with the plan's data. Wherever the verb would run the engine over all pairs, it gets the
# shards' results. The first run with missing shards becomes a round, and ends the call. The result of a plan is
# therefore that of the call on one machine, for any verb.
#
# The verb's settings contain an object of class gpuCorReplay (settings$replay; NULL outside plans):
#   call                                       the call that results show
#   is_planning                                TRUE to find the next round, not the result
#   run_pass(entry, task, arguments, settings) the result of a run of the engine over all pairs
#   take_note(kind, f)                         the value of f() when the plan was made

# `x`, `y`: the verb's data; `further`: arguments that are not in the plan. Returns the verb's result, or the round to
# compute first, as a condition of class gpuCorRound. While a plan is being made, nothing is written, and the condition
# contains the round's notes, task and settings.
replay_verb <- function(plan, x, y, further, is_planning = TRUE) {
  arguments <- c(list(x = x), if (!is.null(y)) list(y = y), plan$arguments, further)
  arguments <- with_replay(arguments, new_replay(plan, is_planning))
  symbols <- lapply(stats::setNames(nm = names(arguments)), as.name)
  verb <- as.name(check_choice(plan$verb, PLANNABLE, "verb"))
  call <- as.call(c(verb, symbols)) # symbols, as errors would otherwise show all data
  tryCatch(eval(call, arguments, environment(replay_verb)), gpuCorRound = function(condition) condition)
}

# Adds the replay to the verb's arguments, as part of its control.
with_replay <- function(arguments, replay) {
  arguments$control <- replace(arguments$control, "replay", list(replay))
  arguments
}

new_replay <- function(plan, is_planning) {
  recording <- list2env(list(plan = plan, rounds = 0, notes = list(), is_renewed = FALSE))
  structure(class = "gpuCorReplay", list(
    call = plan$call, is_planning = is_planning,
    run_pass = function(entry, task, arguments, settings) replayed_pass(recording, entry, task, arguments, settings),
    take_note = function(kind, f) replayed_note(recording, kind, f)
  ))
}

is_needed <- function(result) inherits(result, "gpuCorRound")

# Returns TRUE if the plan's folder exists: its digest is computed when its data are written.
is_written <- function(plan) !is.null(plan$digest)

# ---- passes

replayed_pass <- function(recording, entry, task, arguments, settings) {
  if (isTRUE(task$is_sample) || is_brief(entry, task)) {
    return(replayed_note(recording, "sample", function() checked(call_engine(entry, task, arguments, settings))))
  }
  plan <- recording$plan
  recording$rounds <- recording$rounds + 1
  round <- needed_round(recording, new_round(recording$rounds, entry, task, arguments, settings))
  finished <- if (is_written(plan)) finished_shards(plan, round)
  if (is.null(finished) || nrow(finished) < plan$shards || !all(are_sound(finished))) {
    stop(structure(class = c("gpuCorRound", "error", "condition"),
                   list(message = paste("round", round$number, "is not complete"), call = NULL, round = round,
                        notes = recording$notes, task = task, settings = settings)))
  }
  settings$parts <- parts_of(plan, finished)
  settings$doing <- list(text = "part", of = nrow(finished), rated = FALSE)
  call_engine(entry, task, arguments, settings)
}

# Short histograms are computed without a round.
is_brief <- function(entry, task) entry == "r_histogram" && task$pairs <= SMALL_PAIRS

SMALL_PAIRS <- 2^24

# Returns the round from the folder, where it is written if missing. `is_new`: TRUE for a later round that was unknown.
needed_round <- function(recording, round) {
  plan <- recording$plan
  if (!is_written(plan)) return(round)
  known <- read_round(plan, round$number)
  if (identical(known[names(round)], round)) return(c(known, is_new = FALSE))
  if (!is.null(known) && !recording$is_renewed) fail_changed(round_file(plan, round$number))
  c(write_round(plan, round), is_new = is.null(known) && round$number > 1)
}

# ---- notes

# Calls f() once, when the plan is made; later calls return the stored value. Notes of a kind are numbered in the order
# in which the verb requests them. If a note's file is missing or damaged, f() is called again; if its value differs,
# the rounds that depend on it are rewritten.
replayed_note <- function(recording, kind, f) {
  plan <- recording$plan
  number <- length(recording$notes[[kind]]) + 1L
  note <- if (is_written(plan)) read_note(plan, kind, number)
  if (is.null(note)) {
    note <- f()
    if (is_written(plan)) {
      write_note(plan, kind, number, note)
      recording$is_renewed <- TRUE
      note <- read_note(plan, kind, number)
    }
  }
  recording$notes[[kind]][[number]] <- note
  note
}
