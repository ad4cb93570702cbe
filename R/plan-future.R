# A verb's shards by whatever package future has been told to use: the folder is made, filled, collected and removed.

by_shards <- function(verb, x, y, given, shards, file, compression, backend, call, ...) {
  for (package in c("future", "future.apply")) {
    if (!requireNamespace(package, quietly = TRUE)) {
      fail("'shards' takes package ", package, ": install.packages(\"", package, "\"); without it gpuCorPlan() and ",
           "gpuCorRun() do the same by hand")
    }
  }
  compression <- check_compression(compression, file)
  path <- tempfile("gpucor-plan-", shared_folder())
  on.exit(unlink(path, recursive = TRUE))
  make_plan(path, x, y, c(given, list(...)), verb, shards, backend, call, quiet = TRUE)
  given_settings <- list(...)
  own <- do.call(own_settings, c(list(backend), given_settings[names(given_settings) %in% SETTINGS]))
  plan <- open_plan(path)
  repeat {
    round <- current_round(plan)
    run_by_future(plan, round, own)
    following <- advance(plan, stored_data(plan, "x"), stored_data(plan, "y"), own)
    if (following$number == round$number) break
  }
  do.call(gpuCorCollect, c(list(path, file), own, compression = compression))
}

# Where all workers see what this process writes.
shared_folder <- function() setting_folder(if (has_local_workers()) tempdir() else getwd())

has_local_workers <- function() inherits(future::plan(), c("sequential", "multisession", "multicore"))

run_by_future <- function(plan, round, own) {
  if (has_local_workers() && is.null(own$threads)) {
    own$threads <- max(1L, choose_threads(setting(NULL, "threads")) %/% future::nbrOfWorkers())
  }
  own$progress <- FALSE
  missing <- setdiff(seq_len(plan$shards), finished_shards(plan, round)$shard)
  run <- function(shard, path, own) {
    suppressMessages(do.call(gpucor::gpuCorRun, c(list(path, shard), own)))
    TRUE
  }
  environment(run) <- globalenv() # nothing else is to be sent to the workers
  future.apply::future_lapply(missing, run, path = plan$path, own = own, future.seed = TRUE)
}
