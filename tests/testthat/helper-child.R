# Jobs in a child process, which can be interrupted and whose output can be read.

# Without this, children of processx and forks of parallel in one session hide their ends from each other.
options(processx.notify_old_sigchld = TRUE)

skip_without_children <- function() {
  skip_on_os("windows") # no SIGINT
  skip_if_not_installed("callr")
  skip_if_not_installed("gpucor") # a source tree that is only loaded has nothing for the child
}

# Large enough to keep a back end busy for half a minute.
long_jobs <- list(
  cpu = list(
    kendall = list(n_obs = 2000, n_var = 3000, method = "kendall"),
    `kendall, long columns` = list(n_obs = 60000, n_var = 300, method = "kendall"),
    `spearman, pairwise` = list(n_obs = 2000, n_var = 6000, method = "spearman", missing = TRUE),
    `topological overlap` = list(n_obs = 50, n_var = 14000, method = "pearson", overlap = TRUE)
  ),
  cuda = list(
    kendall = list(n_obs = 20000, n_var = 10000, method = "kendall"),
    `kendall, pairwise` = list(n_obs = 10000, n_var = 10000, method = "kendall", missing = TRUE),
    `topological overlap` = list(n_obs = 50, n_var = 60000, method = "pearson", overlap = TRUE)
  )
)

# Start `job` in a child. After an interrupt it says how it ended, what is left and whether the
# next call is right; $get_result() of the process returned has it.
start_child <- function(job, backend, progress = NULL) {
  files <- list(ready = tempfile("ready"), stdout = tempfile("stdout"), stderr = tempfile("stderr"))
  process <- callr::r_bg(function(job, backend, progress, ready) {
    library(gpucor)
    options(gpucor.threads = 2L, gpucor.backend = backend, gpucor.progress_display = "bar") # its stderr is a file
    values <- rep_len(sample.int(1e6L), as.numeric(job$n_obs) * job$n_var)
    x <- matrix(values, job$n_obs, job$n_var)
    if (isTRUE(job$missing)) x[1, ] <- NA
    small <- x[2:40, 1:20]
    gpuCor(small)
    file.create(ready)
    ended <- tryCatch({
      f <- if (isTRUE(job$overlap)) gpuTOM else gpuCor
      f(x, method = job$method, use = if (isTRUE(job$missing)) "pairwise" else "everything", progress = progress)
      "finished"
    }, interrupt = function(condition) "interrupted")
    time <- as.numeric(Sys.time())
    list(ended = ended, time = time, live = .Call(gpucor:::r_live),
         error = max(abs(gpuCor(small, output = "matrix") - cor(small))))
  }, list(job, backend, progress, files$ready), stdout = files$stdout, stderr = files$stderr)
  list(process = process, files = files)
}

stderr_of <- function(child) readChar(child$files$stderr, file.size(child$files$stderr), useBytes = TRUE)

wait_until <- function(condition, seconds) {
  end <- Sys.time() + seconds
  while (Sys.time() < end && !condition()) Sys.sleep(0.02)
  condition()
}

# Waits until a process of callr has computed for so many seconds more.
wait_for_work <- function(process, seconds) {
  used <- function() sum(process$get_cpu_times()[c("user", "system")])
  end <- used() + seconds
  wait_until(function() !process$is_alive() || used() >= end, 60)
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

# Ends a job of parallel::mcparallel() by SIGKILL; its number is then that of no process.
kill_fork <- function(job) {
  tools::pskill(job$pid, tools::SIGKILL)
  suppressWarnings(parallel::mccollect(job))
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
