# The best of some runs, in elapsed and CPU seconds.
seconds_of <- function(work, times) {
  best <- c(elapsed = Inf, cpu = Inf)
  for (k in seq_len(times)) {
    gc()
    used <- system.time(work())
    best <- pmin(best, c(used[["elapsed"]], sum(used[c("user.self", "sys.self")])))
  }
  best
}
