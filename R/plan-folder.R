# The folder of a plan, which every process that works on it sees:
#   plan.rds                   the function, its arguments but the data, how many shards
#   x.columns, y.columns       the data, once; x.rds, y.rds where they are sparse; of many subjects x.1.columns, ...
#   designs/1.rds              weights and the basis of covariates as the engine takes them, one for each subject
#   rounds/1.rds               a run of the engine over all pairs, for the shards to do
#   rounds/1/00007.<md5>       what shard 7 found; its name, which is given last, has its checksum
#   claims/1/00007/owner.rds   which process is at work on shard 7
#   notes/1.rds                what a sample of the columns said
# A file gets its name when it is complete and on the disk. All but the data end in a seal (R/plan-seal.R).

# ---- files

# f(partial) writes a file of another name, which becomes `file`. plan: the one that the folder must still hold; NULL:
# any.
write_whole_file <- function(file, f, plan = NULL) {
  partial <- partial_name(file)
  on.exit(unlink(partial))
  cannot <- function(condition) {
    fail("cannot write \"", file, "\": ", conditionMessage(condition), "; is the disk full?")
  }
  tryCatch(f(partial), error = cannot, warning = cannot)
  publish(partial, file, plan)
}

publish <- function(partial, file, plan = NULL) {
  synced <- .Call(r_sync, partial)
  if (!is.null(plan)) check_not_replaced(plan)
  if (!synced || !rename_file(partial, file)) {
    fail("cannot write \"", file, "\"; is the disk full, or its folder gone or not writable?")
  }
  .Call(r_sync, dirname(file)) # some file systems have no such thing
  invisible(file)
}

# The plan's id and digest go into the seal; where it is no file says.
save_plan <- function(plan) {
  write_plan_file(plan, plan_file(plan), plan[setdiff(names(plan), c("path", "id", "digest"))], seal_of(plan, "plan"))
}

# A process that began with another plan in the same folder must not add to this one. The folder may change between this
# look and the renaming: what decides is the seal, which is looked at again when the file is read.
check_not_replaced <- function(plan) {
  found <- read_seal_line(plan_file(plan))
  if (has_seal(found, seal_of(plan, "plan"))) return(invisible())
  holds <- if (is.null(found)) "no longer holds the plan" else "now holds another plan than the one"
  fail("\"", plan$path, "\" ", holds, " that this process began with; nothing was ",
       "written. Call gpuCorRun() again if there is a new plan")
}

plan_file <- function(plan) file.path(plan$path, "plan.rds")

checksum <- function(file) unname(suppressWarnings(tools::md5sum(file))) # NA: unreadable

# ---- a plan that is there

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
  if (!dir.exists(path)) {
    fail("'path' is ", shown, ", a folder that ", host, " does not see; it must be on a disk that all machines share, ",
         "and be given by its whole name")
  }
  file <- file.path(path, "plan.rds")
  if (file.access(path, 5L) != 0L || (file.exists(file) && file.access(file, 4L) != 0L)) {
    fail("'path' is ", shown, ", which ", Sys.info()[["user"]], " may not read on ", host)
  }
  if (!file.exists(file)) fail("'path' is ", shown, ", where there is no plan; gpuCorPlan() makes one")
  plan <- read_plan(file)
  if (!identical(plan$version, package_version_text())) {
    fail("'path' is ", shown, ", a plan by gpucor ", plan$version, "; this is gpucor ", package_version_text(),
         ": use that version, or make the plan again")
  }
  check_contents(plan, file)
  plan$path <- normalizePath(path, "/")
  plan
}

read_plan <- function(file) {
  found <- read_seal(file)
  if (!identical(found$kind, "plan")) {
    fail("\"", file, "\" is damaged, or was written by another version of gpucor; make the plan again, in another ",
         "folder")
  }
  plan <- unserialize(found$object)
  c(if (is.list(plan)) plan, id = found$plan, digest = found$digest)
}

package_version_text <- function() as.character(utils::packageVersion("gpucor"))

# A folder in the plan, there afterwards, with the permissions of the plan's own.
plan_folder <- function(plan, ...) {
  folder <- plan$path
  for (name in c(...)) {
    folder <- file.path(folder, name)
    make_folder(folder, file.mode(plan$path))
  }
  if (file.access(folder, 2L) != 0L) {
    fail("\"", folder, "\" is not writable for ", Sys.info()[["user"]], " on ", Sys.info()[["nodename"]])
  }
  folder
}

# Whether it could be made. `mode` holds whatever the umask is.
make_folder <- function(folder, mode) {
  made <- dir.create(folder, showWarnings = FALSE, mode = as.character(mode))
  if (made) Sys.chmod(folder, mode, use_umask = FALSE)
  made
}
