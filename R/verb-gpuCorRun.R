#' @rdname gpuCorPlan
#' @param shard Numbers of shards, from 1; or `"free"`: one shard after another that is neither done nor being computed,
#'   until there is none. `NULL`: the number of an array job's task (`SLURM_ARRAY_TASK_ID`, `PBS_ARRAY_INDEX`,
#'   `SGE_TASK_ID`, `LSB_JOBINDEX`), otherwise `"free"`.
#' @export
gpuCorRun <- function(path, shard = NULL, ...) {
  specs <- specs_of("gpuCorRun", ...)
  plan <- open_plan(path)
  shards <- check_shard(if (is.null(shard)) array_task() else shard, plan)
  work <- open_work(plan, specs$control)
  round <- next_round(work)
  if (is.null(shards)) run_free(work, round) else run_shards(work, round, shards)
  invisible(gpuCorStatus(path, check = FALSE))
}

# Returns the task's index in an array job, or "free". Outside array jobs such variables are missing, "undefined" or 0.
array_task <- function() {
  for (name in c("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID", "LSB_JOBINDEX")) {
    value <- Sys.getenv(name)
    if (grepl("^[1-9][0-9]*$", value)) return(as.numeric(value))
    if (name == "SLURM_ARRAY_TASK_ID" && value == "0") {
      fail(name, " is 0, and shards have numbers from 1; begin the array at 1")
    }
  }
  "free"
}

check_shard <- function(shard, plan) {
  if (identical(shard, "free")) return(NULL)
  ok <- is_numeric(shard) && length(shard) > 0L && all(shard %in% seq_len(plan$shards))
  if (!ok) {
    fail("'shard' must be numbers from 1 to ", plan$shards, ", or \"free\", not ", show_value(shard))
  }
  as.numeric(shard)
}
