#' @rdname gpuCorPlan
#' @param file,compression As in [gpuCorNetwork()]: the network goes to this HDF5 file.
#' @export
gpuCorCollect <- function(path, file = NULL, compression = 0, ...) {
  specs <- specs_of("gpuCorCollect", ...)
  plan <- open_plan(path)
  compression <- check_whole(compression, "compression", 0, 9)
  features_of("gpuCorCollect", NO_SPECS, file = file, compression = compression)
  if (!is.null(file) && plan$verb != "gpuCorNetwork") {
    fail("'file' is for networks, and the plan is of ", plan$verb, "(); leave it out")
  }
  work <- open_work(plan, specs$control, check = TRUE)
  further <- if (!is.null(file)) list(file = file, compression = compression)
  collect_plan(work, further, function(round) {
    if (!round$is_new || took_long(plan, round$number - 1)) stop_collecting(plan, round)
    message("round ", round$number, " has to be run, and is run here")
    run_free(work, round)
  })
}

# Returns TRUE if a round took more than a minute in total. After a shorter one, the next round is computed here, as it
# is not worth another submission.
took_long <- function(plan, number) {
  seconds <- vapply(finished_shards(plan, read_round(plan, number))$file, function(file) read_about(file)$seconds, 0)
  sum(seconds) > getOption("gpucor.collect_seconds", 60)
}

stop_collecting <- function(plan, round) {
  if (round$is_new) {
    fail_file("round ", round$number, " of the plan has to be run before the result is known; ",
              "run all shards again, as before, and then collect")
  }
  files <- shard_files(plan, round)
  finished <- finished_shards(plan, round, files)
  shards <- function(numbers, text) {
    if (length(numbers)) paste(ngettext(length(numbers), "shard", "shards"), show_numbers(numbers), text)
  }
  fail_file(paste(c(shards(setdiff(seq_len(plan$shards), files$shard), paste("of", plan$shards, "not finished")),
                    shards(setdiff(files$shard, finished$shard[are_sound(finished)]), "damaged")), collapse = ", "),
            if (round$number > 1) paste(" in round", round$number), "; gpuCorRun(\"", plan$path, "\") computes them")
}
