#' @rdname gpuCorPlan
#' @param check `TRUE` or `FALSE`: whether the files of finished shards are compared with their checksums.
#' @export
gpuCorStatus <- function(path, check = TRUE) {
  check <- check_flag(check, "check")
  plan <- open_plan(path)
  round <- current_round(plan)
  unknown <- list(seconds = NA_real_, host = NA_character_, backend = NA_character_)
  table <- data.frame(shard = seq_len(plan$shards), state = "missing", unknown)
  claims <- claims_of(plan, round)
  claims <- claims[!claims$abandoned, ]
  table$state[claims$shard] <- "running"
  table[claims$shard, c("seconds", "host")] <- claims[c("age", "host")]
  files <- shard_files(plan, round)
  finished <- finished_shards(plan, round, files)
  sound <- if (check) are_sound(finished) else rep(TRUE, nrow(finished))
  table$state[files$shard] <- "damaged"
  table$state[finished$shard] <- ifelse(sound, "done", "damaged")
  for (k in which(sound)) {
    about <- read_about(finished$file[k]) # NULL if the file was removed meanwhile
    if (!is.null(about)) table[finished$shard[k], names(unknown)] <- about[names(unknown)]
  }
  structure(table, class = c("gpuCorStatus", "data.frame"), round = round$number, is_last = round$is_last,
            path = plan$path)
}

#' @method print gpuCorStatus
#' @export
print.gpuCorStatus <- function(x, ...) {
  numbers <- split(x$shard, factor(x$state, c("done", "running", "missing", "damaged")))
  n_done <- length(numbers$done)
  round <- if (attr(x, "round") > 1 || !attr(x, "is_last")) paste0(" of round ", attr(x, "round"))
  cat(n_done, " of ", nrow(x), " shards done", round, "\n", sep = "")
  for (state in c("running", "missing", "damaged")) {
    if (length(numbers[[state]])) cat(sprintf("%8s: %s\n", state, show_numbers(numbers[[state]])))
  }
  if (n_done > 0) {
    seconds <- x$seconds[x$state == "done"]
    cat("a shard took ", format(stats::median(seconds), digits = 3), " s, at most ", format(max(seconds), digits = 3),
        " s\n", sep = "")
  }
  if (n_done == nrow(x)) {
    cat(if (attr(x, "is_last")) "gpuCorCollect() puts them together\n" else "gpuCorRun() begins the next round\n")
  }
  invisible(x)
}
