# Settings of a run: the argument, else the option, else the environment.

setting <- function(argument, name) {
  if (!is.null(argument)) return(argument)
  value <- getOption(paste0("gpucor.", name))
  if (!is.null(value)) return(value)
  value <- Sys.getenv(paste0("GPUCOR_", toupper(name)))
  if (nzchar(value)) utils::type.convert(value, as.is = TRUE)
}

settings_of <- function(backend, ..., distance = FALSE) {
  given <- list(...)
  known <- c("threads", "memory", "progress")
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  unknown <- names[!names %in% known]
  if (length(unknown)) {
    what <- if (nzchar(unknown[1L])) paste0("there is no '", unknown[1L], "'") else "one is unnamed"
    fail("further arguments are ", paste0("'", known, "'", collapse = ", "), "; ", what)
  }
  list(
    backend = choose_backend(setting(backend, "backend")),
    threads = choose_threads(setting(given$threads, "threads")),
    memory = choose_memory(setting(given$memory, "memory")),
    progress = choose_progress(setting(given$progress, "progress")),
    pass = c(0, 1),
    device = state$device,
    distance = distance
  )
}

# For the progress bar: this is pass number `pass` of `passes`.
at_pass <- function(settings, pass, passes) {
  settings$pass <- c(pass - 1, 1) / passes
  settings
}

choose_backend <- function(backend) {
  backend <- check_choice(if (is.null(backend)) "auto" else backend, c("auto", "cuda", "cpu"), "backend")
  if (backend == "cpu") return("cpu")
  cuda <- .Call(r_cuda_state)
  if (cuda$gpus > 0L) return("cuda")
  if (backend == "cuda") {
    fail("backend = \"cuda\" cannot be used: ", cuda$reason, "; use backend = \"cpu\" or \"auto\"")
  }
  "cpu"
}

choose_threads <- function(threads) {
  if (!is.null(threads)) {
    return(check_whole(threads, "threads", 1, 4096, "; leave it out for as many as there are cores"))
  }
  limits <- Sys.getenv(c("OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK", "PBS_NUM_PPN",
                         "NSLOTS", "LSB_DJOB_NUMPROC"))
  limits <- suppressWarnings(as.integer(limits))
  if (nzchar(Sys.getenv("_R_CHECK_LIMIT_CORES_"))) limits <- c(limits, 2L)
  max(1L, min(.Call(r_cores), limits, na.rm = TRUE))
}

choose_memory <- function(memory) {
  if (is.null(memory)) return(0)
  check_whole(memory, "memory", 0, 2^60, " (bytes; 0 or nothing: decide by what is free)")
}

choose_progress <- function(progress) {
  if (is.null(progress)) interactive() else check_flag(progress, "progress")
}
