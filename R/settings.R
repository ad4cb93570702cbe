# Settings of a run: the argument, else the option, else the environment.

setting <- function(argument, name) {
  if (!is.null(argument)) return(argument)
  value <- getOption(paste0("gpucor.", name))
  if (!is.null(value)) return(value)
  value <- Sys.getenv(paste0("GPUCOR_", toupper(name)))
  if (nzchar(value)) utils::type.convert(value, as.is = TRUE)
}

# Arguments that hold for how a result is computed, in the `...` of every function that computes one.
SETTINGS <- c("threads", "memory", "progress", "devices")

precisions <- c("single", "double")

# takes_data: the function is one that takes x, of which 'assay' may say more.
settings_of <- function(backend, ..., precision = "single", distance = FALSE, takes_data = TRUE) {
  precision <- check_choice(precision, precisions, "precision")
  given <- list(...)
  known <- c(SETTINGS, if (takes_data) "assay")
  names <- if (is.null(names(given))) rep("", length(given)) else names(given)
  unknown <- names[!names %in% known]
  if (length(unknown)) {
    what <- if (nzchar(unknown[1L])) paste0("there is no '", unknown[1L], "'") else "one is unnamed"
    fail("further arguments are ", paste0("'", known, "'", collapse = ", "), "; ", what)
  }
  backend <- choose_backend(setting(backend, "backend"))
  list(
    backend = backend,
    devices = choose_devices(setting(given$devices, "devices"), backend),
    threads = choose_threads(setting(given$threads, "threads")),
    memory = choose_memory(setting(given$memory, "memory")),
    progress = choose_progress(setting(given$progress, "progress")),
    pass = c(0, 1),
    assay = given$assay,
    in_double = precision == "double",
    distance = distance,
    share = c(0, 1), # all pairs, to be returned: see src/r/r.h
    save = character(),
    parts = NULL
  )
}

# For the progress bar: this is pass number `pass` of `passes` that the work is cut into.
at_pass <- function(settings, pass, passes) part_of(settings, (pass - 1) / passes, 1 / passes)

part_of <- function(settings, from, width) {
  settings$pass <- c(settings$pass[1L] + from * settings$pass[2L], width * settings$pass[2L])
  settings
}

# Each back end by its name: the number of its devices, and why it has none; the one to be taken first comes first.
backends <- function() {
  table <- .Call(r_backends)
  stats::setNames(Map(list, devices = table$devices, reason = table$reason), table$name)
}

choose_backend <- function(backend) {
  all <- backends()
  backend <- check_choice(if (is.null(backend)) "auto" else backend, c("auto", names(all)), "backend")
  if (backend == "auto") return(names(all)[Position(function(b) b$devices > 0L, all)])
  if (all[[backend]]$devices == 0L) {
    fail("backend = \"", backend, "\" cannot be used: ", all[[backend]]$reason, "; use backend = \"cpu\" or \"auto\"")
  }
  backend
}

# Numbers of GPUs, from 0; the processor is device 0. Tests have several workers on each, which share out the tiles as
# several devices do.
choose_devices <- function(devices, backend) {
  own <- if (backend == "cpu") 0L else if (is.null(devices)) state$devices else check_devices(devices, "devices")
  rep(own, getOption("gpucor.workers_per_device", 1L))
}

check_devices <- function(devices, name) {
  gpus <- backends()$cuda$devices
  if (identical(devices, "all")) return(seq_len(gpus) - 1L)
  if (is_list_text(devices)) devices <- suppressWarnings(as.numeric(strsplit(devices, "[ ,]+")[[1L]]))
  if (!are_devices(devices, gpus)) {
    range <- if (gpus > 1L) paste("from 0 to", gpus - 1L) else "which is 0 here"
    fail("'", name, "' must be a GPU's number, ", range, ", several of them, or \"all\", not ", show_value(devices),
         "; gpuInfo() lists the GPUs")
  }
  as.integer(devices)
}

are_devices <- function(value, gpus) {
  is.numeric(value) && length(value) > 0L && !anyDuplicated(value) && all(value %in% (seq_len(gpus) - 1L))
}

# As the environment has several numbers: "0,1".
is_list_text <- function(value) is.character(value) && length(value) == 1L && grepl("[0-9][ ,]+[0-9]", value)

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
