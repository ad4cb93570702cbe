# The folder of a plan, which all processes that work on it share:
#   plan.rds                   the function, its arguments but the data, how many shards
#   x.columns, y.columns       the data, once; x.rds, y.rds if they are sparse; of several subjects x.1.columns, ...
#   designs/1.rds              weights and the basis of covariates as the engine takes them, one for each subject
#   rounds/1.rds               a run of the engine over all pairs, which the shards do
#   rounds/1/00007.<md5>       the result of shard 7; its name, which is given last, has its checksum
#   claims/1/00007/owner.rds   the process that computes shard 7
#   notes/1.rds                what a sample of the columns said
# A file gets its name when it is complete and on the disk. All but the data end in a seal (R/plan-seal.R).

# ---- writing

# The name that a file or folder has until it is complete. What a killed process left under such a name is removed.
begun_name <- function(file) {
  remove_abandoned(file)
  partial_name(file)
}

# f(partial) writes a file of another name, which becomes `file`. plan: the one that the folder must still hold, or NULL
# for any.
write_whole_file <- function(file, f, plan = NULL) {
  partial <- begun_name(file)
  on.exit(unlink(partial))
  cannot <- function(condition) cannot_write(file, conditionMessage(condition))
  tryCatch(f(partial), error = cannot, warning = cannot)
  publish(partial, file, plan)
}

publish <- function(partial, file, plan = NULL) {
  synced <- .Call(r_sync, partial)
  if (!is.null(plan)) check_not_replaced(plan)
  if (!synced || !rename_file(partial, file)) cannot_write(file)
  .Call(r_sync, dirname(file)) # some file systems cannot do this
  invisible(file)
}

cannot_write <- function(file, why = NULL) {
  fail_file("cannot write \"", file, "\"", if (!is.null(why)) paste0(": ", why), "; is the disk full?")
}

# A process that began with another plan in the same folder must not add to this one. The folder may change between this
# check and the renaming; the seal decides, which is checked again when the file is read.
check_not_replaced <- function(plan) {
  found <- read_seal(plan_file(plan), with_object = FALSE)
  if (has_seal(found, seal_of(plan, "plan"))) return(invisible())
  fail_file("\"", plan$path, "\" no longer holds the plan that this process began with; call gpuCorRun() again if it ",
            "has a new one")
}

write_plan_file <- function(plan, file, object, seal) {
  write_whole_file(file, function(partial) append_sealed(partial, object, seal), if (seal$kind != "plan") plan)
}

# The object of a file that has this seal, otherwise NULL.
read_plan_file <- function(file, seal) {
  found <- read_seal(file)
  if (has_seal(found, seal)) unserialize(found$object)
}

fail_changed <- function(file) {
  fail_file("\"", file, "\" was changed since the plan was made; make the plan again, in another folder")
}

# Returns TRUE if the file has that checksum. It is read again if it seems to have changed since it was last compared.
is_verified <- function(file, expected) {
  info <- file.info(file, extra_cols = FALSE)
  known <- paste(expected, info$size, as.numeric(info$mtime))
  if (identical(state$verified[[file]], known)) return(TRUE)
  if (!identical(checksum(file), expected)) return(FALSE)
  state$verified[[file]] <- known
  TRUE
}

# ---- folders

# A folder in the plan's own, made if necessary, with the same permissions.
plan_folder <- function(plan, ...) {
  folder <- plan$path
  for (name in c(...)) {
    folder <- file.path(folder, name)
    make_folder(folder, file.mode(plan$path))
  }
  if (file.access(folder, 2L) != 0L) {
    fail_file("\"", folder, "\" is not writable for ", Sys.info()[["user"]], " on ", Sys.info()[["nodename"]])
  }
  folder
}

# Returns TRUE if the folder could be made. Its permissions are `mode`, whatever the umask is.
make_folder <- function(folder, mode) {
  made <- dir.create(folder, showWarnings = FALSE, mode = as.character(mode))
  if (made) Sys.chmod(folder, mode, use_umask = FALSE)
  made
}

# ---- the plan

plan_file <- function(plan) file.path(plan$path, "plan.rds")

# The plan's id and digest go into the seal; its path is not stored.
save_plan <- function(plan) {
  write_plan_file(plan, plan_file(plan), plan[setdiff(names(plan), c("path", "id", "digest"))], seal_of(plan, "plan"))
}

check_plan_path <- function(path) {
  if (!is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path)) {
    fail("'path' must be one string, the name of a plan's folder, not ", show_value(path))
  }
  path.expand(path)
}

# The plan in a folder, its contents checked.
open_plan <- function(path) {
  path <- check_plan_path(path)
  shown <- show_value(path)
  host <- Sys.info()[["nodename"]]
  file <- file.path(path, "plan.rds")
  if (!dir.exists(path)) {
    fail_file("'path' is ", shown, ", a folder that ", host, " does not see; give the full name of a folder that all ",
              "machines share")
  }
  if (file.access(path, 5L) != 0L || (file.exists(file) && file.access(file, 4L) != 0L)) {
    fail_file("'path' is ", shown, ", which ", Sys.info()[["user"]], " may not read on ", host)
  }
  if (!file.exists(file)) fail_file("'path' is ", shown, ", where there is no plan; gpuCorPlan() makes one")
  found <- read_seal(file)
  if (!identical(found$kind, "plan")) {
    fail_file("\"", file, "\" is damaged, or of another version of gpucor; make the plan again, in another folder")
  }
  plan <- unserialize(found$object)
  plan <- c(if (is.list(plan)) plan, list(id = found$plan, digest = found$digest))
  if (!identical(plan$version, package_version_text())) {
    fail_file("'path' is ", shown, ", a plan by gpucor ", plan$version, "; this is gpucor ", package_version_text())
  }
  if (!is_plan(plan)) fail_changed(file)
  plan$path <- normalizePath(path, "/")
  plan
}
