# A process is killed at any moment: the next one continues, and the result is the same. There are many edges, so that
# writing, reading back for the checksum, and publishing take time, too.

x <- some_x(400, 2500)
truth <- without_call(gpuCorNetwork(x, threshold = 0.001, method = "kendall"))
fresh <- quiet_plan(shared("plan"), x, threshold = 0.001, method = "kendall", shards = 2)
code <- "gpucor::gpuCorRun(commandArgs(TRUE))"

start <- function(path) processx::process$new(file.path(R.home("bin"), "Rscript"), c("-e", code, path))

# Results of shards that are being written: the engine makes the file when it has computed them.
begun_results <- function(path) dir(file.path(path, "rounds", 1), "^new$", recursive = TRUE, full.names = TRUE)

# The process's phase when it was killed, deduced from the files of its two shards.
state_of <- function(path) {
  begun <- begun_results(path)
  if (length(begun)) return(if (file.size(begun[1]) == 0) "beginning to write" else "writing or publishing")
  switch(length(shard_files(path)) + 1, if (length(dir(file.path(path, "claims", 1)))) "computing" else "starting",
         "between the shards", "finished")
}

# In every third round waits a random time; otherwise until it is seen computing, or writing.
wait_for_moment <- function(k, path, process, seconds) {
  if (k %% 3 == 0) return(Sys.sleep(stats::runif(1, 0, seconds)))
  seen <- if (k %% 3 == 1) function() length(dir(file.path(path, "claims", 1))) > 0
          else function() length(begun_results(path)) > 0
  while (process$is_alive() && !seen()) Sys.sleep(0.002)
  Sys.sleep(stats::runif(1, 0, if (k %% 3 == 1) 0.3 else 0.1))
}

test_that("a process killed at a random moment, fifty times", {
  set.seed(as.integer(Sys.time()))
  copy <- function() {
    path <- shared("killed")
    system2("cp", c("-r", fresh, path))
    path
  }
  path <- copy()
  seconds <- system.time(start(path)$wait())[["elapsed"]]
  expect_identical(without_call(gpuCorCollect(path)), truth)
  unlink(path, recursive = TRUE)
  states <- character()
  for (k in 1:50) {
    path <- copy()
    process <- start(path)
    wait_for_moment(k, path, process, seconds)
    process$kill()
    process$wait()
    states[k] <- state_of(path)
    quiet_run(path)
    expect_identical(gpuCorStatus(path)$state, c("done", "done"), label = paste("killed", states[k]))
    expect_identical(without_call(gpuCorCollect(path)), truth, label = paste("killed", states[k]))
    expect_length(unfinished_files(path), 0)
    expect_length(dir(file.path(path, "claims", 1), "^[0-9]+$"), 0)
    unlink(path, recursive = TRUE)
  }
  cat("\nkilled when", paste(names(table(states)), table(states), collapse = ", "), "\n")
  expect_true(all(c("computing", "writing or publishing") %in% states))
})
