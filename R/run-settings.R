# Settings of a run: the argument, else the option, else the environment.

setting <- function(argument, name) {
  if (!is.null(argument)) return(argument)
  value <- getOption(paste0("gpucor.", name))
  if (!is.null(value)) return(value)
  value <- Sys.getenv(paste0("GPUCOR_", toupper(name)))
  if (nzchar(value)) from_environment(value, name)
}

# A variable's text as the argument that it stands for. What is on or off is written in many ways.
from_environment <- function(text, name) {
  if (name %in% c("progress", "keep")) {
    if (tolower(text) %in% c("true", "t", "yes", "on")) return(TRUE)
    if (tolower(text) %in% c("false", "f", "no", "off")) return(FALSE)
    if (name == "progress" && text %in% c("0", "1")) return(text == "1")
  }
  if (name == "folder") return(text)
  utils::type.convert(text, as.is = TRUE)
}

# Where what a call needs for a while is on a disk.
setting_folder <- function(default) {
  folder <- setting(NULL, "folder")
  if (is.null(folder)) return(default)
  if (!is.character(folder) || length(folder) != 1L || !dir.exists(folder)) {
    fail("'folder' must name a folder that there is, not ", show_value(folder),
         where_from("folder", NULL, show_value(default)))
  }
  folder
}

# Settings of every run, by the names of their options and variables, and what the environment may say of threads: asked
# for all at once, as a small run takes no longer than asking for each.
RUN_SETTINGS <- c("backend", "threads", "memory", "progress", "devices", "keep")
THREAD_LIMITS <- c("_R_CHECK_LIMIT_CORES_", "OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK",
                   "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC")
RUN_NAMES <- c(RUN_SETTINGS, THREAD_LIMITS)
RUN_OPTIONS <- c(paste0("gpucor.", RUN_SETTINGS), rep("", length(THREAD_LIMITS)))
RUN_VARIABLES <- c(paste0("GPUCOR_", toupper(RUN_SETTINGS)), THREAD_LIMITS)

# given: a list of arguments, which come before options and variables; attribute "given": which these are.
run_settings <- function(given) {
  found <- .Call(r_settings, RUN_OPTIONS, RUN_VARIABLES, RUN_NAMES)
  for (k in attr(found, "variables")) {
    if (k <= length(RUN_SETTINGS)) found[[k]] <- from_environment(found[[k]], RUN_SETTINGS[k])
  }
  if (length(given)) {
    given <- given[!vapply(given, is.null, NA)]
    found[names(given)] <- given
    attr(found, "given") <- names(given)
  }
  found
}

precisions <- c("single", "double")

# The formals of functions that adjust columns before they are compared; such a function collects them by
# mget(ADJUSTMENT). See ?"gpucor-measures".
ADJUSTMENT <- c("weights", "weights_are", "covariates", "data", "bandpass", "tr", "df", "options")

# The formals of functions that combine many subjects' coefficients, see ?subjects.
COMBINATION <- c("combine", "subjects", "subject_weights", "probs", "na.rm", "effects")

# What gpuControl() returns, of its arguments.
new_control <- function(...) structure(Filter(Negate(is.null), list(...)), class = "gpuControl")

# An explicit 'control' leaves nothing for `...`, which would otherwise be ignored without a word.
check_control <- function(control, is_default, further) {
  if (!is_default && length(further)) fail("'", further[1L], "' is given beside 'control'; give it to gpuControl()")
  if (is.null(control) || inherits(control, "gpuControl")) return(invisible())
  fail("'control' must come from gpuControl(), not be ", show_value(control))
}

given_of <- function(arguments) Filter(Negate(is.null), arguments)

# Everything that the engine and the passes over the data need to know beside the data: the run (of gpuControl()), and
# what the call says of adjustment, subjects and pairs, as given. The design, the overlap and shards come later.
new_settings <- function(control, adjustment = NULL, precision = "single", combination = NULL, pairs = NULL,
                         assay = NULL, distance = FALSE) {
  precision <- check_choice(precision, precisions, "precision")
  found <- run_settings(unclass(control))
  backend <- choose_backend(found$backend, found)
  progress <- choose_progress(found$progress, found)
  list(
    backend = backend,
    devices = choose_devices(found$devices, backend, found),
    threads = choose_threads(found$threads, found),
    memory = if (is.null(found$memory)) 0 else check_memory_limit(found$memory, found), # 0: what is free
    progress = progress,
    keep = if (is.null(found$keep)) -1 else check_keep(found$keep, found), # -1: as the engine decides
    started = if (progress > 0) now(),
    pass = c(0, 1), # the part of the job that this pass is: where it begins, and its width
    doing = NULL, # what the pass does, for the progress bar
    assay = assay,
    asked = Filter(Negate(is.null), adjustment), # see designed()
    design = NULL,
    combination = Filter(Negate(is.null), combination),
    pairs = pairs,
    in_double = precision == "double",
    overlap = NULL, # see overlap_rule()
    distance = distance,
    share = c(0, 1), # all pairs: see src/r/shard.c
    save = character(),
    parts = NULL,
    replay = control$replay # NULL: not in a plan
  )
}

# For the progress bar: this is pass number `pass` of `passes` that the work is cut into. what: a label, see
# describe_doing(); of: how many things like it the pass goes through.
at_pass <- function(settings, pass, passes, what = NULL, of = NULL) {
  part_of(settings, (pass - 1) / passes, 1 / passes, what, of)
}

part_of <- function(settings, from, width, what = NULL, of = NULL) {
  settings$pass <- c(settings$pass[1L] + from * settings$pass[2L], width * settings$pass[2L])
  if (!is.null(what)) settings$doing <- list(text = what, of = of)
  settings
}

# Each back end by its name: the number of its devices, and why it has none; the one to be taken first comes first.
backends <- function() {
  table <- .Call(r_backends)
  stats::setNames(Map(list, devices = table$devices, reason = table$reason), table$name)
}

choose_backend <- function(backend, found = NULL) {
  all <- .Call(r_backends)
  if (!is.null(backend)) {
    backend <- check_choice(backend, c("auto", all$name), "backend", where_from("backend", found, "\"auto\""))
  }
  if (is.null(backend) || backend == "auto") return(all$name[match(TRUE, all$devices > 0L)])
  at <- match(backend, all$name)
  if (all$devices[at] == 0L) {
    fail("backend = \"", backend, "\" cannot be used: ", all$reason[at], "; use backend = \"cpu\" or \"auto\"")
  }
  backend
}

# Numbers of GPUs, from 0; the processor is device 0. Tests have several workers on each, which share out the tiles as
# several devices do.
choose_devices <- function(devices, backend, found = NULL) {
  known <- if (!is.null(devices)) {
    check_devices(devices, "devices", backend, where_from("devices", found, "those of chooseGpu()"))
  }
  own <- if (backend == "cpu") 0L else if (is.null(devices)) state$devices else known
  workers <- getOption("gpucor.workers_per_device")
  if (is.null(workers)) own else rep(own, workers)
}

# The processor takes any numbers, as a call that names GPUs is to run where there are none, and nothing that could
# not be such numbers: somebody believes then to have chosen the back end.
check_devices <- function(devices, name, backend = "cuda", way_out = "") {
  gpus <- if (backend == "cpu") Inf else backends()$cuda$devices
  if (identical(devices, "all")) return(if (is.finite(gpus)) seq_len(gpus) - 1L)
  if (is_list_text(devices)) devices <- suppressWarnings(as.numeric(strsplit(devices, "[ ,]+")[[1L]]))
  if (!are_devices(devices, gpus)) {
    range <- if (gpus == 1L) "which is 0 here" else paste0("from 0", if (is.finite(gpus)) paste(" to", gpus - 1L))
    fail("'", name, "' must be a GPU's number, ", range, ", several of them, or \"all\", not ", show_value(devices),
         way_out, "; gpuInfo() lists the GPUs, and backend = \"cuda\" or \"cpu\" says whether they are used")
  }
  as.integer(devices)
}

are_devices <- function(value, gpus) {
  is.numeric(value) && length(value) > 0L && !anyNA(value) && !anyDuplicated(value) && all(value == floor(value)) &&
    all(value >= 0 & value < min(gpus, 2^31))
}

# As the environment has several numbers: "0,1".
is_list_text <- function(value) is.character(value) && length(value) == 1L && grepl("[0-9][ ,]+[0-9]", value)

# found: what the environment says, if that has been asked for.
choose_threads <- function(threads, found = .Call(r_settings, RUN_OPTIONS, RUN_VARIABLES, RUN_NAMES)) {
  if (!is.null(threads)) {
    return(check_whole(threads, "threads", 1, 4096, where_from("threads", found, "as many as there are cores")))
  }
  cores <- .Call(r_cores)
  if (is.null(attr(found, "variables"))) return(cores)
  limits <- suppressWarnings(as.integer(unlist(found[THREAD_LIMITS])))
  max(1L, min(cores, limits, if (!is.null(found[[THREAD_LIMITS[1L]]])) 2L, na.rm = TRUE))
}

check_memory_limit <- function(memory, found) {
  check_whole(memory, "memory", 0, 2^60, paste0(" (bytes; 0: by what is free)", where_from("memory", found, "0")))
}

# Bytes of results' memory that stay for the next result.
check_keep <- function(keep, found) {
  if (is.logical(keep) && length(keep) == 1L && !is.na(keep)) return(if (keep) -1 else 0)
  check_whole(keep, "keep", 0, 2^60, paste0(" (bytes), or TRUE or FALSE", where_from("keep", found, "TRUE")))
}
