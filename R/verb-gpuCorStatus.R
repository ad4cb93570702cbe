#' @rdname gpuCorPlan
#' @param check Whether what is finished is read and compared with its checksum.
#' @export
gpuCorStatus <- function(path, check = TRUE) {
  check <- check_flag(check, "check")
  plan <- open_plan(path)
  round <- current_round(plan)
  known <- list(seconds = NA_real_, host = NA_character_, backend = NA_character_)
  table <- data.frame(shard = seq_len(plan$shards), state = "missing", known)
  claims <- claims_of(plan, round)
  claims <- claims[!claims$abandoned, ]
  table$state[claims$shard] <- "running"
  table$seconds[claims$shard] <- claims$age
  table$host[claims$shard] <- claims$host
  finished <- finished_shards(plan, round)
  sound <- if (check) are_sound(finished) else rep(TRUE, nrow(finished))
  table$state[finished$shard] <- ifelse(sound, "done", "damaged")
  for (k in which(sound)) {
    about <- tryCatch(read_about(finished$file[k]), error = function(condition) NULL) # not checked, and damaged
    if (!is.null(about)) table[finished$shard[k], names(known)] <- about[names(known)]
  }
  structure(table, class = c("gpuCorStatus", "data.frame"), round = round$number, is_last = round$is_last,
            path = plan$path)
}

#' @method print gpuCorStatus
#' @export
print.gpuCorStatus <- function(x, ...) {
  counts <- table(factor(x$state, c("done", "running", "missing", "damaged")))
  n <- nrow(x)
  width <- 40
  done <- floor(width * counts[["done"]] / n)
  running <- ceiling(width * counts[["running"]] / n)
  running <- min(running, width - done)
  cat("[", strrep("=", done), strrep("-", running), strrep(" ", width - done - running), "] ", counts[["done"]], " of ",
      n, " shards done", if (attr(x, "round") > 1 || !attr(x, "is_last")) paste0(" of round ", attr(x, "round")), "\n",
      sep = "")
  for (what in c("running", "missing", "damaged")) {
    if (counts[[what]] > 0) cat(sprintf("%8s: %s\n", what, show_numbers(x$shard[x$state == what])))
  }
  if (counts[["done"]] > 0) {
    seconds <- x$seconds[x$state == "done"]
    cat("a shard took ", format(stats::median(seconds), digits = 3), " s, ", format(max(seconds), digits = 3),
        " s at the most\n", sep = "")
  }
  if (counts[["done"]] < n) return(invisible(x))
  cat(if (attr(x, "is_last")) "gpuCorCollect() puts them together\n" else "gpuCorRun() begins the next round\n")
  invisible(x)
}

# Numbers as ranges: 1-4, 7, 9-12.
show_numbers <- function(numbers, most = 10L) {
  range <- function(g) if (length(g) > 1L) paste0(g[1L], "-", g[length(g)]) else paste(g)
  ranges <- vapply(split(numbers, cumsum(c(TRUE, diff(numbers) != 1))), range, "")
  paste0(paste(utils::head(ranges, most), collapse = ", "), if (length(ranges) > most) ", ...")
}
