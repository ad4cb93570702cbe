# Returns a setting of a run: the argument, else the option, else the environment variable.

setting <- function(argument, name) {
  if (!is.null(argument)) return(argument)
  value <- getOption(paste0("gpucor.", name))
  if (!is.null(value)) return(value)
  value <- Sys.getenv(paste0("GPUCOR_", toupper(name)))
  if (nzchar(value)) from_environment(value, name)
}

# Converts a variable's text to the argument's type. Logical values have many spellings.
from_environment <- function(text, name) {
  if (name %in% c("progress", "keep_memory")) {
    if (tolower(text) %in% c("true", "t", "yes", "on")) return(TRUE)
    if (tolower(text) %in% c("false", "f", "no", "off")) return(FALSE)
    if (name == "progress" && text %in% c("0", "1")) return(text == "1")
  }
  if (name == "folder") return(text)
  utils::type.convert(text, as.is = TRUE)
}

# Returns the folder for temporary data.
setting_folder <- function(default) {
  folder <- setting(NULL, "folder")
  if (is.null(folder)) return(default)
  is_folder <- is.character(folder) && length(folder) == 1L && dir.exists(folder)
  path.expand(check_that(folder, "folder", is_folder, "a folder that exists",
                         where_from("folder", NULL, show_value(default))))
}

# Names of the options and variables of every run, and of variables that limit threads. One call of the engine reads all
# of them, as reading each would take as long as a small run.
RUN_SETTINGS <- c("backend", "threads", "memory", "progress", "devices", "keep_memory")
OLD_SETTING <- "keep" # the former name of keep_memory
THREAD_LIMITS <- c("_R_CHECK_LIMIT_CORES_", "OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK",
                   "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC")
RUN_NAMES <- c(RUN_SETTINGS, OLD_SETTING, THREAD_LIMITS)
RUN_OPTIONS <- c(paste0("gpucor.", c(RUN_SETTINGS, OLD_SETTING)), rep("", length(THREAD_LIMITS)))
RUN_VARIABLES <- c(paste0("GPUCOR_", toupper(c(RUN_SETTINGS, OLD_SETTING))), THREAD_LIMITS)

precisions <- c("single", "double")

# Returns the value of a setting as the engine reads it, or stops. `found`: all settings of a run, or NULL; `backend`:
# unless it is "cpu", devices must exist.
check_setting <- function(name, value, found = NULL, backend = "cpu") {
  from <- function(without) where_from(name, found, without)
  switch(name,
    backend = check_choice(value, c("auto", names(backends())), name, from("\"auto\"")),
    threads = check_whole(value, name, 1, 4096, from("as many as there are cores")),
    memory = check_whole(value, name, 0, 2^60, paste0(" (bytes; 0: by what is free)", from("0"))),
    progress = check_flag(value, name, from("a bar in interactive sessions")),
    devices = check_devices(value, name, backend, from("those of chooseGpu()")),
    keep_memory = if (isTRUE(value) || isFALSE(value)) {
      if (value) -1 else 0 # -1: the engine decides
    } else {
      check_whole(value, name, 0, 2^60, paste0(" (bytes), or TRUE or FALSE", from("TRUE")))
    })
}

# Returns where and as which part a run is computed; src/r/call.h lists what the engine reads of it. `control`: from
# gpuControl().
new_place <- function(control) {
  control <- unclass(control)
  found <- .Call(r_settings, RUN_OPTIONS, RUN_VARIABLES, RUN_NAMES)
  for (k in attr(found, "variables")) {
    if (k <= length(RUN_SETTINGS)) found[[k]] <- from_environment(found[[k]], RUN_SETTINGS[k])
  }
  given <- control[names(control) %in% RUN_SETTINGS] # these override options and variables
  if (length(given)) {
    found[names(given)] <- given
    attr(found, "given") <- names(given)
  }
  if (!is.null(found[[OLD_SETTING]])) {
    fail("setting 'keep' is now 'keep_memory'; use option gpucor.keep_memory in place of gpucor.keep, or environment ",
         "variable GPUCOR_KEEP_MEMORY in place of GPUCOR_KEEP")
  }
  backend <- choose_backend(found$backend, found)
  set <- list(devices = state$devices, memory = 0, progress = interactive(), keep_memory = -1)
  for (name in names(set)) {
    if (!is.null(found[[name]])) set[[name]] <- check_setting(name, found[[name]], found, backend)
  }
  list(
    backend = backend,
    may_move = is.null(found$backend) || found$backend == "auto", # TRUE: short runs may use the CPU
    # GPU indices from 0; the CPU is device 0. Tests run several workers on each device.
    devices = rep(if (backend == "cpu") 0L else set$devices, getOption("gpucor.workers_per_device", 1L)),
    threads = choose_threads(found$threads, found),
    memory = set$memory, # 0: free memory
    progress = if (set$progress) min(REPORT_SECONDS, max(0.001, quiet_seconds())) else 0, # 0: none
    keep = set$keep_memory, # -1: the engine decides
    started = if (set$progress) now(),
    pass = c(0, 1), # this pass as a fraction of the job: its start and its width
    doing = NULL, # label for the progress bar, see describe_doing()
    shard = c(0, 1), # all pairs: see src/r/shard.c
    save = character(),
    parts = NULL,
    replay = control$replay # NULL: not in a plan
  )
}

# Returns for each back end its number of devices and, if 0, the reason; the preferred back end is first.
backends <- function() {
  table <- .Call(r_backends)
  stats::setNames(Map(list, devices = table$devices, reason = table$reason), table$name)
}

choose_backend <- function(backend, found = NULL) {
  all <- .Call(r_backends)
  if (!is.null(backend)) backend <- check_setting("backend", backend, found)
  if (is.null(backend) || backend == "auto") return(all$name[match(TRUE, all$devices > 0L)])
  at <- match(backend, all$name)
  if (all$devices[at] == 0L) {
    fail("backend = \"", backend, "\" cannot be used: ", all$reason[at], "; use backend = \"cpu\" or \"auto\"")
  }
  backend
}

# Returns GPU indices from 0. The CPU accepts any valid indices, so that a call that names GPUs runs without them. Other
# values are errors: a user may have meant the back end.
check_devices <- function(devices, name, backend = "cuda", hint = "") {
  gpus <- if (backend == "cpu") Inf else backends()$cuda$devices
  if (identical(devices, "all")) return(if (is.finite(gpus)) seq_len(gpus) - 1L)
  if (is.character(devices) && length(devices) == 1L && grepl("[0-9][ ,]+[0-9]", devices)) { # a variable's text: "0,1"
    devices <- suppressWarnings(as.numeric(strsplit(devices, "[ ,]+")[[1L]]))
  }
  ok <- are_finite(devices, NULL, 0, min(gpus, 2^31) - 1) && !anyDuplicated(devices) && all(devices == floor(devices))
  range <- if (gpus == 1L) "which is 0 here" else paste0("from 0", if (is.finite(gpus)) paste(" to", gpus - 1L))
  hint <- paste0(hint, "; gpuInfo() lists the GPUs, and backend = \"cuda\" or \"cpu\" says whether they are used")
  as.integer(check_that(devices, name, ok, paste0("a GPU's number, ", range, ", several of them, or \"all\""), hint))
}

# `found`: all settings of a run, or read here.
choose_threads <- function(threads, found = .Call(r_settings, RUN_OPTIONS, RUN_VARIABLES, RUN_NAMES)) {
  if (!is.null(threads)) return(check_setting("threads", threads, found))
  cores <- attr(found, "cores")
  if (is.null(attr(found, "variables"))) return(cores)
  limits <- suppressWarnings(as.integer(unlist(found[THREAD_LIMITS])))
  max(1L, min(cores, limits, if (!is.null(found[[THREAD_LIMITS[1L]]])) 2L, na.rm = TRUE))
}

# A design without parts. src/r/rules.c makes a gcor_design of it; src/measure/design.h says what becomes of that.
# is_map: TRUE if the basis keeps, but is not orthonormal. worth: the index in WEIGHT_KINDS, from 0; 1 is "precision".
NO_DESIGN <- list(weights = NULL, basis = NULL, removed = NULL, keeps = FALSE, is_map = FALSE, blocks = 1L,
                  first = NULL, raw = NULL, ranked = 0, map = NULL, option = NULL, df = NULL, lost = 0, worth = 1L,
                  unit = 1, calibration = NULL)
