#' @rdname gpuCorPlan
#' @param shard Which share, or several, from 1. `NULL`: in an array job its task's number (`SLURM_ARRAY_TASK_ID`,
#'   `PBS_ARRAY_INDEX`, `SGE_TASK_ID`, `LSB_JOBINDEX`), otherwise `"free"`: one after the other that is neither finished
#'   nor being computed by another process, until there is none.
#' @export
gpuCorRun <- function(path, shard = NULL, backend = NULL, ...) {
  settings <- settings_of(backend, ..., takes_data = FALSE)
  plan <- open_plan(path)
  wanted <- check_shard(if (is.null(shard)) array_task() else shard, plan)
  x <- stored_data(plan, "x")
  y <- stored_data(plan, "y")
  round <- advance(plan, x, y, own_settings(backend, ...))
  if (!is.null(wanted)) {
    for (k in seq_along(wanted)) {
      label <- paste("share", wanted[k], "of", plan$shards)
      run_once(plan, round, wanted[k], x, y, at_pass(settings, k, length(wanted), label))
    }
  } else {
    run_free(plan, round, x, y, settings, own_settings(backend, ...))
  }
  invisible(gpuCorStatus(path, check = FALSE))
}

# What was given of a call's own settings, to be given to another call, whose data are not an experiment.
own_settings <- function(backend, ...) {
  own <- c(if (!is.null(backend)) list(backend = backend), list(...))
  own[names(own) != "assay"]
}

# Task numbers of array jobs; what is not one of them says so by nothing, "undefined" or 0.
array_task <- function() {
  for (name in c("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID", "LSB_JOBINDEX")) {
    value <- Sys.getenv(name)
    if (grepl("^[1-9][0-9]*$", value)) return(as.numeric(value))
  }
  "free"
}

check_shard <- function(shard, plan) {
  if (identical(shard, "free")) return(NULL)
  ok <- is.numeric(shard) && length(shard) > 0L && all(shard %in% seq_len(plan$shards))
  if (!ok) {
    fail("'shard' must be numbers from 1 to ", plan$shards, ", as the plan has ", plan$shards,
         if (plan$shards > 1) " shares" else " share", ", or \"free\", not ", show_value(shard))
  }
  as.numeric(shard)
}

# One that is asked for by its number, whoever else is at work on it, unless it is finished.
run_once <- function(plan, round, share, x, y, settings) {
  if (is_finished(plan, round, share)) return(say_finished(plan, share))
  if (!claim(plan, round$number, share)) sign_claim(claim_folder(plan, round$number, share))
  run_claimed(plan, round, share, x, y, settings)
}

say_finished <- function(plan, share) message("share ", share, " of ", plan$shards, ": finished before")

# One that this process has claimed, unless another has finished it before; the claim ends.
run_claimed <- function(plan, round, share, x, y, settings) {
  on.exit(release_claim(plan, round$number, share))
  if (is_finished(plan, round, share)) return(say_finished(plan, share))
  about <- run_share(plan, round, share, x, y, settings)
  message("share ", share, " of ", plan$shards, ": ", format(about$seconds, digits = 3), " s on ", about$host, " (",
          about$backend, ")")
}

# A damaged file is removed; its name says what it should have been.
is_finished <- function(plan, round, share) {
  finished <- finished_shares(plan, round$number)
  finished <- finished[finished$share == share, ]
  if (!nrow(finished)) return(FALSE)
  if (are_sound(finished)) return(TRUE)
  message("share ", share, " of ", plan$shards, " is damaged, and is computed again")
  unlink(finished$file)
  is_finished(plan, round, share) # there may be another
}

# Where there is nothing left to compute, what was is checked: who calls then has heard of something damaged.
run_free <- function(plan, round, x, y, settings, own) {
  check <- !length(free_shares(plan, round$number, FALSE))
  repeat {
    refused <- numeric() # shares whose claim could not be had: at the second time that is not for another process
    while (length(free <- free_shares(plan, round$number, check))) {
      for (share in free) {
        if (!claim(plan, round$number, share)) {
          if (!share %in% refused) {
            refused <- c(refused, share)
            next
          }
          sign_claim(claim_folder(plan, round$number, share))
        }
        done <- nrow(finished_shares(plan, round$number))
        run_claimed(plan, round, share, x, y, at_pass(settings, min(done + 1, plan$shards), plan$shards,
                                                      paste("share", share, "of", plan$shards)))
      }
    }
    following <- advance(plan, x, y, own)
    if (following$number == round$number) break
    round <- following
  }
}

# Those that nobody has finished, or with `check` not as it should be, and nobody is at work on. Claims of the dead are
# removed.
free_shares <- function(plan, number, check) {
  claims <- claims_of(plan, number)
  for (share in claims$share[claims$abandoned]) release_claim(plan, number, share)
  finished <- finished_shares(plan, number)
  finished <- finished$share[if (check) are_sound(finished) else TRUE]
  setdiff(seq_len(plan$shards), c(finished, claims$share[!claims$abandoned]))
}
