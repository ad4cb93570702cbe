# Helpers of the tests: commands for Slurm, and for the power switch.

here <- normalizePath(".")
lab <- Sys.getenv("LAB")
source(file.path(here, "../testthat/helper-plan.R"), local = TRUE) # before functions of the package
options(gpucor.threads = 1L, gpucor.backend = "cpu")

# A new name in the folder that all nodes see.
shared <- function(name) {
  count <<- count + 1
  file.path(lab, "work", paste(name, Sys.getpid(), count, sep = "-")) # files of tests run side by side
}
count <- 0

node <- function(what, k) {
  if (system2(file.path(here, "node"), c(what, k)) != 0) stop("node ", k, " cannot be switched ", what)
}

run_line <- function(path) sprintf("Rscript -e 'gpucor::gpuCorRun(\"%s\")'", path)

# Submits a job array; returns the job's number.
sbatch <- function(path, tasks, ..., line = run_line(path)) {
  arguments <- c("--parsable", paste0("--array=1-", tasks), "--export=ALL", paste0("--output=", path, ".%a.log"),
                 "--open-mode=append", ..., "--wrap", shQuote(line))
  system2("sbatch", arguments, stdout = TRUE)
}

is_over <- function(job) length(system2("squeue", c("-h", "-j", job), stdout = TRUE, stderr = FALSE)) == 0

wait_for <- function(condition, seconds = 120, what = deparse1(substitute(condition))) {
  end <- Sys.time() + seconds
  while (!condition()) {
    if (Sys.time() > end) stop("waited ", seconds, " s for ", what)
    Sys.sleep(0.05)
  }
}

wait_for_jobs <- function(jobs, seconds = 120) for (job in jobs) wait_for(function() is_over(job), seconds, "a job")

wait_for_nodes <- function() {
  idle <- function() length(system2("sinfo", c("-h", "-N", "-t", "idle"), stdout = TRUE)) == 3
  wait_for(idle, 60, "all nodes")
}

# The output of the tasks.
logs_of <- function(path) {
  unlist(lapply(dir(dirname(path), paste0("^", basename(path), "[.][0-9]+[.]log$"), full.names = TRUE), readLines))
}

# A process of node k that works on the plan, by the login node's process number.
process_of <- function(k, path) {
  pids <- suppressWarnings(system2("pgrep", c("-f", shQuote(path)), stdout = TRUE))
  space <- function(pid) Sys.readlink(file.path("/proc", pid, "ns/uts"))
  pids[which(space(pids) == space(readLines(sprintf("/run/node%d.pid", k))))]
}

signal <- function(pids, number) tools::pskill(as.integer(pids), number)

some_x <- function(n_obs, n_var) {
  set.seed(n_obs + n_var)
  matrix(stats::rnorm(n_obs * n_var), n_obs)
}

# So many pairs that the histogram of the coefficients is a round of its own; some are strong.
many_pairs <- function() {
  x <- some_x(20, 6000)
  x[, 1:200] <- x[, 1:200] + 2 * stats::rnorm(20)
  x
}

# Some seconds of work for a shard of ten.
long_x <- some_x(1200, 4000)
