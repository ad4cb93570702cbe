#' @rdname gpuCorPlan
#' @param file,compression As in [gpuCorNetwork()]: the network goes to this HDF5 file, in memory for the variables and
#'   some of their edges.
#' @export
gpuCorCollect <- function(path, file = NULL, compression = 0, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  settings <- new_settings(control)
  plan <- open_plan(path)
  compression <- check_compression(compression, file)
  if (!is.null(file) && plan$verb != "gpuCorNetwork") {
    fail("'file' is ", show_value(file), ", and the plan is of ", plan$verb, "(); only networks go to a file")
  }
  x <- stored_data(plan, "x", check = TRUE)
  y <- stored_data(plan, "y", check = TRUE)
  repeat {
    result <- replay(plan, x, y, c(list(control = control), if (!is.null(file)) list(file = file, compression = compression)), FALSE)
    if (!is_round(result)) return(result)
    round <- result$round
    if (!round$is_new || is_long(plan, read_round(plan, round$number - 1))) stop_collecting(plan, round)
    message("round ", round$number, " has to be run, and is run here")
    run_free(plan, round, x, y, settings, control)
  }
}

# A further round is run here where the one before took no more than a minute in all: that is not worth a submission.
is_long <- function(plan, round) {
  seconds <- vapply(finished_shards(plan, round)$file, function(file) read_about(file)$seconds, 0)
  sum(seconds) > getOption("gpucor.collect_seconds", 60)
}

stop_collecting <- function(plan, round) {
  finished <- finished_shards(plan, round)
  sound <- are_sound(finished)
  missing <- setdiff(seq_len(plan$shards), finished$shard)
  damaged <- finished$shard[!sound]
  shards <- function(numbers) paste0(if (length(numbers) > 1L) "shards " else "shard ", show_numbers(numbers))
  if (round$is_new) {
    fail("round ", round$number, " of the plan has to be run before the result is known", why_again(round),
         ": run all shards again, as before, and then collect")
  }
  fail(paste(c(if (length(missing)) paste(shards(missing), "of", plan$shards, "not finished"),
               if (length(damaged)) paste(shards(damaged), "damaged")), collapse = ", "),
       if (round$number > 1) paste(" in round", round$number), "; gpuCorRun(\"", plan$path,
       "\") computes what is missing, gpuCorStatus() shows who is at work")
}

why_again <- function(round) {
  if (round$entry != "r_edges") return("")
  rule <- round$arguments[[1L]]
  if (rule$wanted > 0) return(", as the sample of the columns misled")
  paste0(", which has edges from the weight ", format(rule$least, digits = 6), " on")
}
