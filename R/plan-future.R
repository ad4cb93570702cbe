# Computes a verb's shards with the workers of package future, in a temporary plan folder.

# `given`, `specs`: the verb's arguments.
by_shards <- function(verb, x, y, given, specs, shards, file, compression, call) {
  need_packages(c("future", "future.apply"), "'shards'")
  path <- tempfile("gpucor-plan-", shared_folder())
  on.exit(unlink(path, recursive = TRUE))
  control <- run_of(specs$control)
  given <- c(Filter(Negate(is.null), given), arguments_of(specs))
  plan <- make_plan(path, x, y, given, verb, shards, control, call)$plan
  further <- if (!is.null(file)) list(file = file, compression = compression)
  collect_plan(open_work(plan, control), further, function(round) run_by_future(plan, round, control))
}

shared_folder <- function() setting_folder(if (has_local_workers()) tempdir() else getwd())

has_local_workers <- function() inherits(future::plan(), c("sequential", "multisession", "multicore"))

run_by_future <- function(plan, round, control) {
  if (has_local_workers() && is.null(control$threads)) {
    control$threads <- max(1L, choose_threads(setting(NULL, "threads")) %/% future::nbrOfWorkers())
  }
  control$progress <- FALSE
  finished <- finished_shards(plan, round)
  missing <- setdiff(seq_len(plan$shards), finished$shard[are_sound(finished)])
  future.apply::future_lapply(missing, run_by_worker, plan = plan, round = round, control = control, future.seed = TRUE)
}

run_by_worker <- function(shard, plan, round, control) {
  suppressMessages(run_shards(open_work(plan, control), round, shard))
  TRUE
}
