# Jobs in a child process, which can be interrupted and whose output can be read.

# Without this, children of processx and forks of parallel in one session hide their ends from each other.
Sys.setenv(PROCESSX_NOTIFY_OLD_SIGCHLD = "true")

skip_without_children <- function() {
  skip_on_os("windows") # no SIGINT
  status <- if (file.exists("/proc/self/status")) readLines("/proc/self/status")
  ignored <- grep("^SigIgn:", status, value = TRUE) # by nohup, for example; children inherit it
  skip_if(any(bitwAnd(strtoi(sub(".*(.)$", "\\1", ignored), 16L), 2L) > 0), "SIGINT is ignored")
  skip_if_not_installed("callr")
  skip_if_not_installed("gpucor") # a source tree that is only loaded has nothing for the child
}

# Large enough to keep a back end busy for half a minute.
long_jobs <- list(
  cpu = list(
    kendall = list(n_obs = 2000, n_var = 3000, method = "kendall"),
    `kendall, long columns` = list(n_obs = 60000, n_var = 300, method = "kendall"),
    `spearman, pairwise` = list(n_obs = 2000, n_var = 6000, method = "spearman", missing = TRUE),
    `topological overlap` = list(n_obs = 50, n_var = 14000, method = "pearson", overlap = TRUE),
    tree = list(n_obs = 50, n_var = 16000, method = "pearson", tree = TRUE)
  ),
  cuda = list(
    kendall = list(n_obs = 20000, n_var = 10000, method = "kendall"),
    `kendall, pairwise` = list(n_obs = 10000, n_var = 10000, method = "kendall", missing = TRUE),
    `topological overlap` = list(n_obs = 50, n_var = 60000, method = "pearson", overlap = TRUE),
    tree = list(n_obs = 50, n_var = 60000, method = "pearson", tree = TRUE)
  )
)

# Start `jobs`, one after the other, in a child: as soon as one is interrupted, the next begins. When job k begins there
# is a file ready[k]; when it has ended, results[k] says how, what is left, and whether the next call is right.
start_child <- function(jobs, backend) {
  file_of <- function(name) paste0(tempfile(name), seq_along(jobs))
  files <- list(ready = file_of("ready"), results = file_of("results"), stderr = tempfile("stderr"))
  process <- callr::r_bg(function(jobs, backend, files) {
    library(gpucor)
    options(gpucor.threads = 2L, gpucor.backend = backend, gpucor.progress_log = 0)
    for (k in seq_along(jobs)) {
      job <- jobs[[k]]
      values <- rep_len(sample.int(1e6L), as.numeric(job$n_obs) * job$n_var)
      x <- matrix(values, job$n_obs, job$n_var)
      if (isTRUE(job$missing)) x[1, ] <- NA
      small <- x[2:40, 1:20]
      gpuCor(small)
      r <- if (isTRUE(job$tree)) gpuCor(x)
      ended <- tryCatch({
        file.create(files$ready[k])
        f <- if (isTRUE(job$overlap)) gpuTOM else gpuCor
        use <- if (isTRUE(job$missing)) "pairwise" else "everything"
        if (is.null(r)) {
          f(x, method = job$method, use = use, progress = job$progress)
        } else {
          gpuHclust(r, progress = job$progress)
        }
        "finished"
      }, interrupt = function(condition) "interrupted")
      time <- as.numeric(Sys.time())
      result <- list(ended = ended, time = time, live = .Call(gpucor:::r_live),
                     error = max(abs(gpuCor(small, output = "matrix") - cor(small))))
      saveRDS(result, paste0(files$results[k], "."))
      file.rename(paste0(files$results[k], "."), files$results[k])
    }
  }, list(jobs, backend, files), stderr = files$stderr)
  list(process = process, files = files)
}

# Waits until job k of the child has begun and computed for some seconds, and interrupts it: its result, with the
# seconds that it took to stop. meanwhile: what is done before.
interrupt_job <- function(child, k, after = 0.4, meanwhile = function() NULL) {
  expect_true(wait_until(function() file.exists(child$files$ready[k]), 60))
  wait_for_work(child$process, after)
  meanwhile()
  sent <- as.numeric(Sys.time())
  child$process$interrupt()
  if (!wait_until(function() file.exists(child$files$results[k]), 20)) child$process$kill()
  result <- readRDS(child$files$results[k])
  result$seconds <- result$time - sent
  result
}

stderr_of <- function(child) readChar(child$files$stderr, file.size(child$files$stderr), useBytes = TRUE)

wait_until <- function(condition, seconds) {
  end <- Sys.time() + seconds
  while (Sys.time() < end && !condition()) Sys.sleep(0.02)
  condition()
}

# Waits until a process of callr has computed for so many seconds more, or five seconds: it may wait for a GPU.
wait_for_work <- function(process, seconds) {
  used <- function() sum(process$get_cpu_times()[c("user", "system")])
  end <- used() + seconds
  wait_until(function() !process$is_alive() || used() >= end, 5)
}

# Interrupt the child; its result, with the seconds that it took to stop.
interrupt_child <- function(child) {
  sent <- as.numeric(Sys.time())
  child$process$interrupt()
  child$process$wait(20000)
  if (child$process$is_alive()) child$process$kill()
  result <- child$process$get_result()
  result$seconds <- result$time - sent
  result
}

# Interrupts the child of start_work() in the middle of its work: it stops, leaves nothing, and the next call is right.
# Returns its result.
expect_stops_at_once <- function(child) {
  on.exit(child$process$kill())
  expect_true(wait_until(function() file.exists(child$files$ready), 60))
  Sys.sleep(0.5)
  result <- interrupt_child(child)
  expect_identical(result$ended, "interrupted")
  expect_lt(result$seconds, 2)
  expect_identical(result$live, list(host = 0, device = 0))
  expect_lt(result$error, 1e-6)
  result
}

# Ends a job of parallel::mcparallel() by SIGKILL; its number is then that of no process.
kill_fork <- function(job) {
  tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job))
  # Its pipe is closed before its number is free.
  wait_until(function() !.Call(gpucor:::r_are_running, job$pid), 20)
}

# The number of a process that is no more.
dead_process <- function() as.integer(system2("sh", c("-c", shQuote("echo $$")), stdout = TRUE))

# Run R code, a vector of lines, in a process of its own after `setup`, lines of shell that set limits: its exit
# status and its output. What it leaves behind when it quits can be seen only so.
run_in_shell <- function(code, setup = character(), shell = "sh") {
  skip_without_children()
  script <- tempfile(fileext = ".R")
  files <- tempfile(c("stdout", "stderr"))
  on.exit(unlink(c(script, files)))
  libraries <- paste0(".libPaths(", deparse1(.libPaths()), ")")
  writeLines(c(libraries, "library(gpucor)", "options(gpucor.threads = 2L)", code), script)
  run <- paste("exec", shQuote(file.path(R.home("bin"), "R")), "--vanilla --no-echo -f", shQuote(script))
  arguments <- c(shell[-1], "-c", shQuote(paste(c(setup, run), collapse = "\n")))
  status <- system2(shell[1], arguments, stdout = files[1], stderr = files[2])
  output <- lapply(files, function(file) paste(readLines(file, warn = FALSE), collapse = "\n"))
  list(status = status, stdout = output[[1]], stderr = output[[2]])
}

# A shell that may mount, in a namespace that ends with it; where the system allows it.
mounting_shell <- c("unshare", "--user", "--map-root-user", "--mount", "sh")

skip_without_mounts <- function() {
  skip_on_os(c("windows", "mac", "solaris"))
  mount <- shQuote(paste("mount -t tmpfs none", shQuote(tempdir())))
  try_out <- function() system2(mounting_shell[1], c(mounting_shell[-1], "-c", mount), stdout = FALSE, stderr = FALSE)
  skip_if(!nzchar(Sys.which("unshare")) || try_out() != 0, "no disk can be made to be full")
}
