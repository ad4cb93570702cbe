# How a process works on a plan: it computes shards, or merges them.

# Returns a plan with its data and this process's settings. `control`: from gpuControl(); `check`: TRUE to compare the
# data with their checksums.
open_work <- function(plan, control = NO_SPECS$control, check = FALSE) {
  list(plan = plan, control = control, settings = new_settings(list(control = control)),
       x = stored_data(plan, "x", check), y = stored_data(plan, "y", check))
}

replay_work <- function(work, further = list(), is_planning = TRUE) {
  data <- lapply(work[c("x", "y")], function(m) if (length(m) && is.null(work$plan$subjects)) m[[1L]] else m)
  replay_verb(work$plan, data$x, if (length(data$y)) data$y, c(list(control = work$control), further), is_planning)
}

# ---- rounds

# Returns the last known round. If the file of the first one is damaged, a replay rewrites it.
current_round <- function(plan, work = open_work(plan)) {
  round <- last_round(plan)
  if (!is.null(round)) return(round)
  replay_work(work)
  last_round(plan)
}

# Returns the round to work on: the next one if the current one is complete and another is needed.
next_round <- function(work) {
  round <- current_round(work$plan, work)
  if (round$is_last || nrow(finished_shards(work$plan, round)) < work$plan$shards) return(round)
  result <- replay_work(work)
  if (is_needed(result)) result$round else round
}

# Returns the engine's input in a round, as the verb passes it: data with designs, and the settings.
round_task <- function(work, round) {
  designs <- round_designs(work, round)
  task <- list(x = work$x[[1L]], y = if (length(work$y)) work$y[[1L]], method = round$method, use = round$use,
               settings = work$settings)
  if (is.null(round$combination)) {
    task$settings["design"] <- list(if (length(designs)) designs[[1L]])
  } else {
    how <- round$combination
    task$x <- new_subjects(work$x, how$rule, how$weights, how$total, designs = designs, sessions = how$sessions)
    if (length(work$y)) task$y <- new_subjects(work$y)
  }
  task
}

# Returns the design of each subject, or NULL if the round has none. A plan has a file for each subject, or for each
# resample; digests tell which ones are the round's. If a file is damaged, a replay makes it again.
round_designs <- function(work, round) {
  plan <- work$plan
  if (!length(round$designs)) return(NULL)
  read <- function() {
    known <- list()
    while (!is.null(note <- read_note(plan, "design", length(known) + 1L))) known <- c(known, list(note))
    known[match(round$designs, design_digests(known))]
  }
  is_right <- function(designs) identical(design_digests(designs), round$designs)
  designs <- read()
  if (is_right(designs)) return(designs)
  replay_work(work)
  designs <- read()
  if (!is_right(designs)) {
    fail_file("the plan in \"", plan$path, "\" has other designs than round ", round$number, " began with; call ",
              "gpuCorRun() again")
  }
  designs
}

# ---- shards

tell_shard <- function(plan, shard, ...) message("shard ", shard, " of ", plan$shards, ...)

# Returns TRUE if the shard has an intact file, and removes damaged ones, which their checksums reveal.
is_done <- function(plan, round, shard) {
  files <- shard_files(plan, round, shard)
  sound <- are_sound(files)
  if (nrow(files) && !any(sound)) tell_shard(plan, shard, " is damaged, and is computed again")
  unlink(files$file[!sound])
  any(sound)
}

# Computes a claimed shard, unless another process has finished it meanwhile, and releases the claim. `pass`, `passes`:
# the shard's position among those of this call, for the progress bar.
run_claimed <- function(work, round, shard, pass, passes) {
  plan <- work$plan
  on.exit(release_claim(plan, round$number, shard))
  if (is_done(plan, round, shard)) return(tell_shard(plan, shard, ": finished before"))
  work$settings <- at_pass(work$settings, pass, passes, paste("shard", shard, "of", plan$shards))
  about <- run_shard(plan, round, shard, round_task(work, round))
  tell_shard(plan, shard, ": ", format(about$seconds, digits = 3), " s on ", about$host, " (", about$backend, ")")
}

# Computes these shards unless they are finished, even if another process is computing them.
run_shards <- function(work, round, shards) {
  for (k in seq_along(shards)) {
    if (!claim(work$plan, round$number, shards[k])) sign_claim(work$plan, round$number, shards[k])
    run_claimed(work, round, shards[k], k, length(shards))
  }
}

# Computes free shards of all rounds. If there are none, compares finished shards with their checksums, as the user may
# call again because a shard is damaged.
run_free <- function(work, round) {
  plan <- work$plan
  check <- !length(free_shards(plan, round, check = FALSE))
  repeat {
    refused <- numeric() # shards whose claim failed once; a second failure is not due to another process
    while (length(free <- free_shards(plan, round, check))) {
      for (shard in free) {
        if (!claim(plan, round$number, shard)) {
          if (!shard %in% refused) {
            refused <- c(refused, shard)
            next
          }
          sign_claim(plan, round$number, shard)
        }
        done <- length(unique(named_files(plan, round)$shard))
        run_claimed(work, round, shard, min(done + 1, plan$shards), plan$shards)
      }
    }
    following <- next_round(work)
    if (following$number == round$number) return(invisible())
    round <- following
  }
}

# Returns the shards that are neither finished (with `check`: intact) nor being computed. Removes abandoned claims.
free_shards <- function(plan, round, check) {
  claims <- claims_of(plan, round)
  for (shard in claims$shard[claims$abandoned]) release_claim(plan, round$number, shard)
  finished <- finished_shards(plan, round)
  if (check) finished <- finished[are_sound(finished), ]
  setdiff(seq_len(plan$shards), c(finished$shard, claims$shard[!claims$abandoned]))
}

# ---- the result

# Returns the verb's result. `further`: arguments of the verb; run(round): computes an incomplete round, or stops.
collect_plan <- function(work, further, run) {
  repeat {
    result <- replay_work(work, further, is_planning = FALSE)
    if (!is_needed(result)) return(result)
    run(result$round)
  }
}
