# What a plan computes is said by the verb itself: it is called again, with the plan's data, and wherever it would run
# the engine over all pairs it gets what the shares found (replayed_pass). The first such run whose shares are not all
# there becomes a round, and the call ends there. So a plan's result is that of the call on one machine, whatever the
# verb.

# The verb's result, or the round that has to be run before it can go on. is_planning: the latter is wanted.
replay <- function(plan, x, y, further = list(), is_planning = TRUE) {
  state$replay <- list2env(list(plan = plan, rounds = 0, notes = 0, is_planning = is_planning))
  on.exit(state$replay <- NULL)
  arguments <- c(list(x = x), if (!is.null(y)) list(y = y), plan$arguments, further)
  symbols <- lapply(stats::setNames(nm = names(arguments)), as.name)
  call <- as.call(c(as.name(plan$verb), symbols)) # by names: errors would show all of the data
  tryCatch(eval(call, arguments, environment(replay)), gpuCorRound = function(condition) condition)
}

is_round <- function(result) inherits(result, "gpuCorRound")

# What a verb's result says of how it was called.
call_of <- function(call) if (is.null(state$replay)) call else state$replay$plan$call

replayed_pass <- function(replay, entry, task, arguments, settings) {
  if (isTRUE(task$is_sample) || is_small(entry, task)) {
    replay$notes <- replay$notes + 1
    return(noted(replay$plan, replay$notes, function() call_engine(entry, task, arguments, settings)))
  }
  replay$rounds <- replay$rounds + 1
  round <- round_for(replay$plan, replay$rounds, entry, task, arguments, settings)
  finished <- finished_shares(replay$plan, round$number)
  if (nrow(finished) < replay$plan$shards || !all(are_sound(finished))) stop(round_needed(round))
  settings$parts <- parts_of(finished)
  settings$doing <- list(text = "part", of = nrow(finished), rated = FALSE)
  call_engine(entry, task, arguments, settings)
}

# A histogram that takes a moment is not worth a round.
is_small <- function(entry, task) entry == "r_histogram" && task$pairs <= SMALL_PAIRS

SMALL_PAIRS <- 2^24

# It is taken again from the folder: elsewhere it might differ in the last digit, and with it the round.
noted <- function(plan, number, f) {
  file <- file.path(plan$path, "notes", paste0(number, ".rds"))
  if (!file.exists(file)) {
    plan_folder(plan, "notes")
    write_object(f(), file)
  }
  readRDS(file)
}

# ---- rounds

round_file <- function(plan, number) file.path(plan$path, "rounds", paste0(number, ".rds"))

read_round <- function(plan, number) readRDS(round_file(plan, number))

# The last one asked for; there is at least one.
current_round <- function(plan) {
  number <- 1
  while (file.exists(round_file(plan, number + 1))) number <- number + 1
  read_round(plan, number)
}

# What the shares of a round are to do; written when it is first asked for. is_last: no further one is planned.
round_for <- function(plan, number, entry, task, arguments, settings) {
  round <- list(number = number, entry = entry, method = task$method, use = task$use, in_double = settings$in_double,
                arguments = share_arguments(entry, arguments), is_last = sum(settings$pass) > 1 - 1e-6)
  file <- round_file(plan, number)
  is_new <- !file.exists(file)
  if (is_new) {
    plan_folder(plan, "rounds")
    write_object(round, file)
  } else if (!identical(readRDS(file), round)) {
    fail("round ", number, " of the plan in \"", plan$path, "\" was planned otherwise, by another version or on other ",
         "data; make the plan again, in another folder")
  }
  c(round, is_new = is_new)
}

# A share takes no notice of what is to become of all.
share_arguments <- function(entry, arguments) {
  if (entry == "r_cor") arguments[[3L]] <- list() # attributes
  if (entry %in% c("r_edges", "r_neighbours")) {
    arguments[[1L]]["spool"] <- list(NULL)
    arguments[[1L]]$stay <- 0L
    arguments[[length(arguments)]] <- 2^53 # edges at most
  }
  arguments
}

round_needed <- function(round) {
  structure(class = c("gpuCorRound", "error", "condition"),
            list(message = paste("round", round$number, "is not complete"), call = NULL, round = round))
}

# After a round whose shares are all there, the next one, where one is planned.
advance <- function(plan, x, y, settings) {
  round <- current_round(plan)
  if (round$is_last || nrow(finished_shares(plan, round$number)) < plan$shards) return(round)
  result <- replay(plan, x, y, settings)
  if (is_round(result)) result$round else round
}
