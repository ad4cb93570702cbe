# Plans, and what has to be so whatever happened to the processes that worked on them.

# gpuCorPlan() without what it prints; the folder's name.
quiet_plan <- function(...) {
  path <- NULL
  utils::capture.output(suppressMessages(path <- gpuCorPlan(...)))
  path
}

quiet_run <- function(...) suppressMessages(gpuCorRun(...))

shard_files <- function(path, round = 1) {
  dir(file.path(path, "rounds", round), "^[0-9]{5}[.][0-9a-f]{32}$", full.names = TRUE)
}

# What was begun and not finished.
unfinished_files <- function(path) dir(path, "partial", recursive = TRUE, full.names = TRUE, include.dirs = TRUE)

# The plan with other contents, under a right seal: as whoever may write to its folder could leave it.
edit_plan <- function(plan, ...) gpucor:::save_plan(utils::modifyList(plan, list(...)))

# As if a process of another machine, or this one, were at work on a shard.
write_owner <- function(path, shard, space = "elsewhere", host = "there", pid = Sys.getpid()) {
  plan <- gpucor:::open_plan(path)
  folder <- gpucor:::plan_folder(plan, "claims", 1, sprintf("%05d", shard))
  gpucor:::write_plan_file(plan, file.path(folder, "owner.rds"), list(space = space, host = host, pid = pid),
                           gpucor:::seal_of(plan, "claim", 1, shard))
  folder
}

# A result without the call, which is the verb's own where it was called on one machine.
without_call <- function(result) {
  if (isS4(result)) result@call <- quote(none()) else attr(result, "call") <- NULL
  if (is.list(result)) result$call <- NULL
  result
}

# The collected result is that of the call on one machine.
expect_collected <- function(path, truth, label = "") {
  expect_identical(without_call(gpuCorCollect(path)), without_call(truth), label = paste(label, "what was collected"))
}

# Change one byte of a file, at a place that counts from the end if it is negative.
change_byte <- function(file, at) {
  bytes <- readBin(file, "raw", file.size(file))
  at <- if (at < 0) length(bytes) + 1 + at else at
  bytes[at] <- xor(bytes[at], as.raw(16))
  writeBin(bytes, file)
}

cut_off <- function(file, bytes) writeBin(readBin(file, "raw", file.size(file))[seq_len(bytes)], file)

# What n other processes say that call gpuCorRun(path, shard) at the same time: the messages of each. They are forks,
# which take no time to start.
messages_of_runs <- function(n, path, shard) {
  go <- tempfile("go")
  run <- function() {
    messages <- character()
    file.create(paste0(go, Sys.getpid()))
    while (!file.exists(go)) Sys.sleep(0.005)
    withCallingHandlers(gpuCorRun(path, shard, "cpu", threads = 1), message = function(condition) {
      messages <<- c(messages, conditionMessage(condition))
      invokeRestart("muffleMessage")
    })
    messages
  }
  jobs <- lapply(seq_len(n), function(k) parallel::mcparallel(run()))
  ready <- paste0(go, vapply(jobs, `[[`, 0L, "pid"))
  wait_until(function() all(file.exists(ready)), 20)
  file.create(go)
  unname(parallel::mccollect(jobs))
}

# Which shards these messages say were computed, and not found finished.
computed_shards <- function(messages) {
  done <- grep(" s on ", messages, value = TRUE)
  as.numeric(sub("shard ([0-9]+) of .*", "\\1", done))
}

# ---- a small plan

small_x <- matrix(sin(seq_len(20 * 300)^2), 20)
network_of_small <- function() gpuCorNetwork(small_x, threshold = 0.5, method = "kendall", backend = "cpu")
small_plan <- function(shards = 4, ..., threshold = 0.5) {
  quiet_plan(tempfile("plan"), small_x, threshold = threshold, method = "kendall", shards = shards, backend = "cpu",
             ...)
}
finished_plan <- function(...) {
  path <- small_plan(...)
  quiet_run(path, "free", "cpu")
  path
}

# A message, among others that are not shown.
expect_told <- function(call, text) suppressMessages(expect_message(call, text))
