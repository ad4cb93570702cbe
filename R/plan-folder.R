# The folder of a plan, which all of its processes share:
#   plan.rds                   the function, its arguments except the data, the number of shards
#   x.columns, y.columns       the data, once; x.sparse, y.sparse if sparse; x.1.columns, ... for several subjects
#   designs/1.rds              weights and the basis of covariates as the engine reads them, one file per subject
#   rounds/1.rds               a run of the engine over all pairs, which is divided into shards
#   rounds/1/00007.<md5>       the result of shard 7; its final name includes its checksum
#   claims/1/00007/owner.rds   the process that computes shard 7
#   notes/1.rds                the result of a sample of the columns
# A file gets its name when it is complete and on the disk. All but the data end in a seal (R/plan-seal.R), and contain
# R objects that are vectors and lists only (R/plan-contents.R).

# ---- writing

# Stops if the folder contains another plan than at the start of this process. The folder may change after this check;
# the seal, which readers check, is decisive.
check_not_replaced <- function(plan) {
  found <- read_seal(plan_file(plan), with_object = FALSE)
  if (has_seal(found, seal_of(plan, "plan"))) return(invisible())
  fail_file("\"", plan$path, "\" no longer holds the plan that this process began with; call gpuCorRun() again if it ",
            "has a new one")
}

write_plan_file <- function(plan, file, object, seal) {
  check <- function() if (seal$kind != "plan") check_not_replaced(plan)
  write_whole_file(file, function(partial) append_sealed(partial, object, seal), check)
}

# Returns the object in a file with this seal, otherwise NULL.
read_plan_file <- function(file, seal) {
  found <- read_seal(file)
  if (has_seal(found, seal)) read_object(found$object)
}

fail_changed <- function(file) {
  fail_file("\"", file, "\" was changed since the plan was made; make the plan again, in another folder")
}

# Returns TRUE if the file has the expected checksum. It is read again only if its size or time has changed.
is_verified <- function(file, expected) {
  info <- file.info(file, extra_cols = FALSE)
  known <- paste(expected, info$size, as.numeric(info$mtime))
  if (identical(state$verified[[file]], known)) return(TRUE)
  if (!identical(checksum(file), expected)) return(FALSE)
  state$verified[[file]] <- known
  TRUE
}

# ---- folders

# Returns a folder within the plan's, which is created if necessary, with the same permissions.
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

# Returns TRUE if the folder was created. Its permissions are `mode`, regardless of the umask.
make_folder <- function(folder, mode) {
  made <- dir.create(folder, showWarnings = FALSE, mode = as.character(mode))
  if (made) Sys.chmod(folder, mode, use_umask = FALSE)
  made
}

# ---- the plan

plan_file <- function(plan) file.path(plan$path, "plan.rds")

# The seal contains the plan's id and digest; the path is not stored.
save_plan <- function(plan) {
  stored <- plan[setdiff(names(plan), c("path", "id", "digest"))]
  stored$call <- call_text(plan$call)
  write_plan_file(plan, plan_file(plan), stored, seal_of(plan, "plan"))
}

check_plan_path <- function(path) path.expand(check_string(path, "path", "the name of a plan's folder"))

open_plan <- function(path) {
  path <- check_plan_path(path)
  shown <- show_value(path)
  host <- Sys.info()[["nodename"]]
  file <- file.path(path, "plan.rds")
  if (!dir.exists(path)) {
    fail_file("'path' is ", shown, ", which is not a plan: ", host, " has no such folder; give the full name of a ",
              "folder that all machines share")
  }
  if (file.access(path, 5L) != 0L || (file.exists(file) && file.access(file, 4L) != 0L)) {
    fail_file("'path' is ", shown, ", which ", Sys.info()[["user"]], " may not read on ", host)
  }
  if (!file.exists(file)) fail_file("'path' is ", shown, ", where there is no plan; gpuCorPlan() makes one")
  found <- read_seal(file)
  if (!identical(found$kind, "plan")) {
    fail_file("\"", file, "\" is damaged, or of another version of gpucor; make the plan again, in another folder")
  }
  plan <- read_object(found$object)
  if (!is.list(plan)) fail_changed(file)
  plan <- c(plan, list(id = found$plan, digest = found$digest))
  if (!identical(plan$version, package_version_text())) {
    fail_file("'path' is ", shown, ", a plan by gpucor ", plan$version, "; this is gpucor ", package_version_text())
  }
  plan$call <- call_of_text(plan$call)
  if (!is_plan(plan)) fail_changed(file)
  plan$path <- normalizePath(path, "/")
  plan
}
