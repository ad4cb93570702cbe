# A verb's shards by whatever package future has been told to use: the folder is made, filled, collected and removed.

by_shards <- function(verb, x, y, given, shards, file, compression, control, call) {
  for (package in c("future", "future.apply")) {
    if (!requireNamespace(package, quietly = TRUE)) {
      fail("'shards' takes package ", package, ": install.packages(\"", package, "\"); without it gpuCorPlan() and ",
           "gpuCorRun() do the same by hand")
    }
  }
  compression <- check_compression(compression, file)
  path <- tempfile("gpucor-plan-", shared_folder())
  on.exit(unlink(path, recursive = TRUE))
  make_plan(path, x, y, given, verb, shards, control, call, quiet = TRUE)
  plan <- open_plan(path)
  repeat {
    round <- current_round(plan)
    run_by_future(plan, round, control)
    following <- advance(plan, stored_data(plan, "x"), stored_data(plan, "y"), control)
    if (following$number == round$number) break
  }
  gpuCorCollect(path, file, compression, control = control)
}

# Where all workers see what this process writes.
shared_folder <- function() setting_folder(if (has_local_workers()) tempdir() else getwd())

has_local_workers <- function() inherits(future::plan(), c("sequential", "multisession", "multicore"))

run_by_future <- function(plan, round, control) {
  if (has_local_workers() && is.null(control$threads)) {
    control$threads <- max(1L, choose_threads(setting(NULL, "threads")) %/% future::nbrOfWorkers())
  }
  control$progress <- FALSE
  missing <- setdiff(seq_len(plan$shards), finished_shards(plan, round)$shard)
  run <- function(shard, path, control) {
    suppressMessages(gpucor::gpuCorRun(path, shard, control = control))
    TRUE
  }
  environment(run) <- globalenv() # nothing else is to be sent to the workers
  future.apply::future_lapply(missing, run, path = plan$path, control = control, future.seed = TRUE)
}
