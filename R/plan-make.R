# Creates a plan's folder. A replay checks the call before anything is written.

# `given`: the verb's arguments; `call`: its call. Returns the plan, and the first round with its task and settings.
make_plan <- function(path, x, y, given, verb, shards, control, call, mode = "0700") {
  path <- check_new_folder(path)
  mode <- check_mode(mode)
  further <- c(list(control = control), given["assay"[!is.null(given$assay)]])
  given$assay <- NULL # the plan stores the assay's matrix
  check_verb_arguments(given, verb)
  check_not_threshold(x, y)
  n <- if (is_subjects(x)) subjects_of(x, y, given$subjects)
  given <- called_for_subjects(given, n)
  plan <- list(version = package_version_text(), verb = verb, arguments = given, call = call, subjects = n)
  found <- replay_verb(plan, x, y, further)
  if (!is_needed(found)) fail("this call of ", verb, "() has no pairs to distribute")
  plan$shards <- check_shards(shards, found$task$x, found$task$y)
  plan$arguments <- evaluated_arguments(given, n)
  c(found[c("task", "settings", "round")], list(plan = write_plan(plan, found, path, mode)))
}

# Writes a folder under a temporary name, and renames it when it is complete.
write_plan <- function(plan, found, path, mode) {
  partial <- begin_partial(path)
  on.exit(discard_partial(partial))
  plan$path <- partial
  if (!make_folder(plan$path, mode)) fail_file("cannot create the folder \"", plan$path, "\"")
  plan$x <- store_data(matrices_of(found$task$x), plan, "x")
  plan$y <- store_data(matrices_of(found$task$y), plan, "y")
  # The id has 128 random bits from the system, as set.seed() must not make two plans equal.
  plan$id <- paste(.Call(r_random, 16L), collapse = "")
  plan$digest <- .Call(r_checksum, serialize(plan[c("verb", "arguments", "shards", "x", "y")], NULL))
  save_plan(plan)
  for (kind in names(found$notes)) {
    for (k in seq_along(found$notes[[kind]])) write_note(plan, kind, k, found$notes[[kind]][[k]])
  }
  write_round(plan, found$round)
  if (!rename_file(partial, path, replace = FALSE)) fail_file("cannot rename \"", partial, "\" to \"", path, "\"")
  plan$path <- normalizePath(path, "/")
  plan
}

check_new_folder <- function(path) {
  path <- check_plan_path(path)
  shown <- show_value(path)
  folder <- dirname(path)
  if (file.exists(file.path(path, "plan.rds"))) {
    fail_file("'path' is ", shown, ", which exists and has a plan in it; gpuCorRun() continues it")
  }
  if (file.exists(path)) fail_file("'path' is ", shown, ", which exists; choose another name")
  if (!dir.exists(folder)) fail_file("'path' is ", shown, ": there is no folder \"", folder, "\"; create it first")
  if (file.access(folder, 2L) != 0L) {
    fail_file("'path' is ", shown, ": \"", folder, "\" is not writable; choose another one")
  }
  file.path(normalizePath(folder, "/"), basename(path))
}

check_mode <- function(mode) {
  ok <- is.character(mode) && length(mode) == 1L && grepl("^[0-7]?7[0-7]{2}$", mode)
  if (!ok) fail("'mode' must be a folder's permissions, such as \"0700\" or \"0770\", not ", show_value(mode))
  mode
}

check_shards <- function(shards, x, y) {
  max <- .Call(r_count_shards, if (is.null(y)) ncol(x) else ncol(y), ncol(x), !is.null(y))
  if (is.null(shards)) return(min(16, max))
  check_whole(shards, "shards", 1, max, paste0("; the pairs are in ", n_of(max, "tile")))
}
