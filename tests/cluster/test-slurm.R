# Array jobs of one line on three nodes, and failures of nodes meanwhile.

x <- some_x(40, 700)
large <- many_pairs()
calls <- list(
  threshold = list(x, threshold = 0.3, method = "spearman"),
  density = list(x, density = 0.01, method = "kendall"),
  k = list(x, k = 4, method = "pearson"),
  fdr = list(large, fdr = 0.1, method = "kendall"),
  `two matrices` = list(x[, 1:300], x[, 301:700], threshold = 0.3),
  connectivity = list(x, power = 6, verb = "gpuConnectivity"),
  `connectivity by density` = list(large, density = 0.05, method = "kendall", verb = "gpuConnectivity"),
  dist = list(x, method = "pearson", verb = "gpuCor"),
  `rectangle` = list(x[, 1:300], x[, 301:700], method = "kendall", verb = "gpuCor")
)

one_machine <- function(call) {
  verb <- if (is.null(call$verb)) "gpuCorNetwork" else call$verb
  do.call(verb, call[names(call) != "verb"])
}

test_that("an array job over three nodes gives what one machine gives", {
  paths <- vapply(calls, function(call) do.call(quiet_plan, c(shared("plan"), call, shards = 6)), "")
  is_complete <- function(path) {
    status <- gpuCorStatus(path)
    attr(status, "is_last") && all(status$state == "done")
  }
  for (round in 1:3) {
    wait_for_jobs(vapply(paths[!vapply(paths, is_complete, NA)], sbatch, "", 6, "-c", 1), 300)
  }
  hosts <- unlist(lapply(paths, function(path) gpuCorStatus(path)$host))
  expect_setequal(hosts, paste0("node", 1:3))
  rounds <- vapply(paths, function(path) attr(gpuCorStatus(path), "round"), 0)
  expect_identical(rounds[c("fdr", "connectivity by density", "k")], c(fdr = 2, `connectivity by density` = 1, k = 1))
  for (name in names(calls)) {
    expect_identical(gpuCorStatus(paths[[name]])$state, rep("done", 6), label = name)
    expect_collected(paths[[name]], one_machine(calls[[name]]), name)
    expect_length(unfinished_files(paths[[name]]), 0)
  }
})

test_that("a task beyond the shards says so, and Slurm knows", {
  path <- quiet_plan(shared("plan"), x, threshold = 0.5, shards = 2)
  job <- sbatch(path, 3, "-c", 1)
  wait_for_jobs(job)
  expect_match(paste(logs_of(path), collapse = " "), "'shard' must be numbers from 1 to 2, or .*not 3")
  expect_identical(gpuCorStatus(path)$state, c("done", "done"))
})

test_that("a folder that the nodes do not see is an error that names the node", {
  hidden <- tempfile("plan") # under /tmp, which each node has for itself
  path <- quiet_plan(hidden, x, threshold = 0.5, shards = 2)
  log <- shared("log")
  wait_for_jobs(sbatch(log, 1, line = run_line(path)))
  expect_match(paste(logs_of(log), collapse = " "), "node[1-3] has no such folder; give the full name")
})

test_that("a full shared disk ends the tasks with a message, and the same line goes on", {
  path <- quiet_plan(file.path(lab, "small", "plan"), x, threshold = 0.1, shards = 4)
  log <- shared("log")
  again <- function() wait_for_jobs(sbatch(log, 4, "-c", 1, line = run_line(path)))
  fill <- file.path(lab, "small", "fill")
  system2("dd", c("if=/dev/zero", paste0("of=", fill), "bs=4096"), stderr = FALSE)
  again()
  expect_identical(gpuCorStatus(path)$state, rep("missing", 4))
  expect_length(grep("No space left|disk full", logs_of(log)), 4)
  unlink(fill)
  again()
  expect_collected(path, gpuCorNetwork(x, threshold = 0.1))
})

# One task on a node at a time: it has three processors.
long_plan <- function(shards) quiet_plan(shared("plan"), long_x, threshold = 0.08, method = "kendall", shards = shards)
long_network <- gpuCorNetwork(long_x, threshold = 0.08, method = "kendall")

at_work <- function(path, k) {
  status <- gpuCorStatus(path)
  which(status$state == "running" & status$host == paste0("node", k))
}

# Waits until node k computes a shard while `also` holds, and stops its processes there, so that the shard does not end.
# Returns the shard's number.
stop_at_work <- function(path, k, also = function() TRUE) {
  wait_for(function() {
    processes <- process_of(k, path)
    signal(processes, tools::SIGSTOP)
    if (length(at_work(path, k)) == 1L && also()) return(TRUE)
    signal(processes, tools::SIGCONT)
    FALSE
  }, what = paste("node", k, "to compute a shard"))
  at_work(path, k)
}

for (requeue in c("--no-requeue", "--requeue")) {
  test_that(paste("a node loses its power mid-way,", requeue), {
    path <- long_plan(8)
    job <- sbatch(path, 8, "-c", 2, requeue)
    lost <- stop_at_work(path, 2, function() any(gpuCorStatus(path)$state == "done"))
    node("off", 2)
    wait_for_jobs(job, 200)
    states <- gpuCorStatus(path)$state
    if (requeue == "--requeue") {
      expect_identical(states, rep("done", 8))
    } else {
      expect_false("done" %in% states[lost])
      expect_error(gpuCorCollect(path), paste("shard", lost, "of 8 not finished"))
      wait_for_jobs(sbatch(path, 8, "-c", 2)) # two nodes are left
      said <- logs_of(path)
      expect_length(grep("finished before", said), sum(states == "done"))
    }
    expect_collected(path, long_network)
    node("on", 2)
    wait_for_nodes()
  })
}

test_that("a node without network goes on writing, while another one does its shard, too", {
  path <- long_plan(3)
  job <- sbatch(path, 3, "-c", 2, "--requeue")
  shard <- stop_at_work(path, 3)
  copy <- process_of(3, path)
  node("cut", 3)
  wait_for_jobs(job, 200)
  expect_identical(gpuCorStatus(path)$state, rep("done", 3))
  expect_collected(path, long_network)
  expect_length(shard_files(path), 3)
  signal(copy, tools::SIGCONT)
  wait_for(function() length(shard_files(path)) == 4)
  wait_for(function() length(process_of(3, path)) == 0)
  expect_length(grep(sprintf("/%05d[.]", shard), shard_files(path)), 2)
  expect_identical(gpuCorStatus(path)$state, rep("done", 3))
  expect_collected(path, long_network)
  expect_length(unfinished_files(path), 0)
  node("heal", 3)
  wait_for_nodes()
})

test_that("a task that Slurm ends, by scancel or by time, can be submitted again", {
  path <- long_plan(3)
  job <- sbatch(path, 3, "-c", 2)
  wait_for(function() length(at_work(path, 1)) > 0)
  system2("scancel", job)
  wait_for_jobs(job)
  expect_false(all(gpuCorStatus(path)$state == "done"))
  wait_for_jobs(sbatch(path, 3, "-c", 2))
  expect_collected(path, long_network)
})
