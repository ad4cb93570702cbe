#' @rdname gpuCorPlan
#' @param shard Which shard, or several, from 1. `NULL`: in an array job its task's number (`SLURM_ARRAY_TASK_ID`,
#'   `PBS_ARRAY_INDEX`, `SGE_TASK_ID`, `LSB_JOBINDEX`), otherwise `"free"`: one after the other that is neither finished
#'   nor being computed by another process, until there is none.
#' @export
gpuCorRun <- function(path, shard = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  settings <- new_settings(control)
  plan <- open_plan(path)
  wanted <- check_shard(if (is.null(shard)) array_task() else shard, plan)
  x <- stored_data(plan, "x")
  y <- stored_data(plan, "y")
  round <- advance(plan, x, y, control)
  if (!is.null(wanted)) {
    for (k in seq_along(wanted)) {
      label <- paste("shard", wanted[k], "of", plan$shards)
      run_once(plan, round, wanted[k], x, y, at_pass(settings, k, length(wanted), label))
    }
  } else {
    run_free(plan, round, x, y, settings, control)
  }
  invisible(gpuCorStatus(path, check = FALSE))
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
         if (plan$shards > 1) " shards" else " shard", ", or \"free\", not ", show_value(shard))
  }
  as.numeric(shard)
}

# One that is asked for by its number, whoever else is at work on it, unless it is finished.
run_once <- function(plan, round, shard, x, y, settings) {
  if (is_finished(plan, round, shard)) return(say_finished(plan, shard))
  if (!claim(plan, round$number, shard)) sign_claim(plan, round$number, shard)
  run_claimed(plan, round, shard, x, y, settings)
}

say_finished <- function(plan, shard) message("shard ", shard, " of ", plan$shards, ": finished before")

# One that this process has claimed, unless another has finished it before; the claim ends.
run_claimed <- function(plan, round, shard, x, y, settings) {
  on.exit(release_claim(plan, round$number, shard))
  if (is_finished(plan, round, shard)) return(say_finished(plan, shard))
  about <- run_shard(plan, round, shard, x, y, settings)
  message("shard ", shard, " of ", plan$shards, ": ", format(about$seconds, digits = 3), " s on ", about$host, " (",
          about$backend, ")")
}

# Damaged files are removed; their names say what they should have been.
is_finished <- function(plan, round, shard) {
  files <- shard_files(plan, round, shard)
  sound <- are_sound(files)
  if (nrow(files) && !any(sound)) message("shard ", shard, " of ", plan$shards, " is damaged, and is computed again")
  unlink(files$file[!sound])
  any(sound)
}

# Where there is nothing left to compute, what was is checked: who calls then has heard of something damaged.
run_free <- function(plan, round, x, y, settings, control) {
  check <- !length(free_shards(plan, round, FALSE))
  repeat {
    refused <- numeric() # shards whose claim could not be had: at the second time that is not for another process
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
        run_claimed(plan, round, shard, x, y, at_pass(settings, min(done + 1, plan$shards), plan$shards,
                                                      paste("shard", shard, "of", plan$shards)))
      }
    }
    following <- advance(plan, x, y, control)
    if (following$number == round$number) break
    round <- following
  }
}

# Those that nobody has finished, or with `check` not as it should be, and nobody is at work on. Claims of the dead are
# removed.
free_shards <- function(plan, round, check) {
  claims <- claims_of(plan, round)
  for (shard in claims$shard[claims$abandoned]) release_claim(plan, round$number, shard)
  finished <- finished_shards(plan, round)
  finished <- finished$shard[if (check) are_sound(finished) else TRUE]
  setdiff(seq_len(plan$shards), c(finished, claims$shard[!claims$abandoned]))
}
