#' Work on many machines
#'
#' A call of [gpuCorNetwork()], [gpuConnectivity()] or [gpuCor()], cut into shards that processes on any number of
#' machines compute. The processes are started by what starts processes there: an array job of Slurm, PBS, SGE or LSF,
#' packages future, BiocParallel or batchtools, or several terminals. They need a folder that all of them see.
#'
#' `gpuCorPlan()` checks the call and writes the folder: the data once, the settings, and how the pairs are cut into
#' shards of equal work. `gpuCorRun()` computes a shard and writes its result to a file. `gpuCorStatus()` tells which
#' shards are done. `gpuCorCollect()` puts the shards together: the result is that of the call on one machine, to the
#' last bit. Some shards may be computed on GPUs and others on processors.
#'
#' A plan takes the function's arguments for the data, too: `weights`, `covariates`, `data`, `bandpass`, `tr`, `df` and
#' the options of measures (see [gpucor-measures]), and lists or functions of many subjects with `combine` and the
#' other arguments of [subjects]. Formulas are evaluated, and functions of the subject's number are called, once, when
#' the plan is made. Not in plans: `pairs`, `maps = "eigenvector"`, the tests of `gpuCor(test = TRUE)`, and the
#' functions [gpuCorWindows()], [gpuTOM()], [gpuModules()] and [gpuCorCompare()].
#'
#' After any failure, rerun the same command. `gpuCorRun()` skips the shards that are done and computes the others,
#' whether a process was killed, a machine was cut off, the disk was full, or a file was damaged. A result gets its name
#' when it is complete and on the disk. Every file of a plan but the data ends in a line that names the plan, its data
#' and settings, the round and the shard, with a checksum. The line is checked before the file is used: a file of
#' another plan, of another shard, or with damage does not count, and what it should hold is computed again. A process
#' that is still at work on an old plan cannot add to a new one in the same folder.
#'
#' Some results take more than one round over the pairs: `fdr`; `density` in [gpuConnectivity()] with powers, a
#' histogram or many edges; and any `density` for which a sample of the columns gave a wrong guess of the threshold.
#' `gpuCorStatus()` and `gpuCorCollect()` say so; then run all shards again, by the same command as before.
#' `gpuCorRun(path, "free")` continues with the next round by itself.
#'
#' @section Security:
#' The folder holds the data and the results as they are in memory. Only its owner may enter it, unless `mode` says
#' otherwise. Open only folders that you trust: R reads the plan's objects from them. What a plan holds is checked when
#' it is opened, one of the three functions and arguments that are data, but reading a file that was made to do harm is
#' a risk by itself. Remove the folder when the result has been collected: `unlink(path, recursive = TRUE)`.
#'
#' @order 1
#' @inheritParams gpuCor
#' @param path The name of the folder. `gpuCorPlan()`: a folder that does not exist, in one that does.
#' @param x,y As the function takes them: in memory, larger than it ([gpuCorFile()]), or of many subjects ([subjects]).
#' @param ... `gpuCorPlan()`: further arguments of the function, and the settings `threads`, `memory`, `progress` and
#'   `devices`, which hold while the plan is made. Otherwise these settings: see [gpucor-package].
#' @param verb The function: `"gpuCorNetwork"`, `"gpuConnectivity"` or `"gpuCor"`.
#' @param shards A number: into how many shards the pairs are cut; by default 16, or fewer where there are few pairs.
#'   Several shards for each process keep all processes busy where some are slower. A good shard takes some minutes.
#' @param mode The permissions of the folder, as [dir.create()] takes them. `"0700"`: its owner's only. `"0770"`: the
#'   owner's group may work on the plan, too, if its members' umask lets the group read their files.
#' @return `gpuCorPlan()`: the folder's full name, invisibly. It prints what to expect: seconds for a shard, measured on
#'   this machine; how often data are read; and memory, for the back end and the setting `memory` here. `gpuCorRun()`:
#'   the status, invisibly. `gpuCorStatus()`: a data frame of class `gpuCorStatus` with a row for each shard: `shard`,
#'   `state` (`"done"`, `"running"`, `"missing"` or `"damaged"`), `seconds` (so far, where it is running), `host`,
#'   `backend`. `gpuCorCollect()`: what the function returns.
#' @section Errors: those of the function, when the plan is made. A folder that exists, cannot be written to, or cannot
#'   be seen; a plan by another version, or one that was changed since it was made; data that were changed; a shard that
#'   the plan does not have; a plan that another one replaced while a shard was computed. `gpuCorCollect()`: shards that
#'   are missing or damaged, by their numbers.
#' @seealso `vignette("scale", "gpucor")`; argument `shards` of [gpuCorNetwork()]
#' @examples
#' path <- tempfile("plan")
#' x <- outer(sin(1:40), 1:200 %% 7) + matrix(rnorm(40 * 200), 40)
#' gpuCorPlan(path, x, density = 0.1, shards = 3)
#' gpuCorRun(path, shard = 2)
#' gpuCorStatus(path)
#' gpuCorRun(path) # the others
#' gpuCorCollect(path)
#' unlink(path, recursive = TRUE)
#'
#' # Two subjects, each adjusted for its own confounds
#' subjects <- list(x[, 1:50], x[, 101:150])
#' motion <- list(rnorm(40), rnorm(40))
#' gpuCorPlan(path, subjects, combine = "fisher", covariates = motion, threshold = 0.2, shards = 1)
#' gpuCorRun(path)
#' gpuCorCollect(path)
#' unlink(path, recursive = TRUE)
#' @export
gpuCorPlan <- function(path, x, y = NULL, ..., verb = c("gpuCorNetwork", "gpuConnectivity", "gpuCor"), shards = NULL,
                       mode = "0700", control = NULL) {
  verb <- check_choice(verb, PLANNABLE, "verb")
  given <- list(...)
  is_run <- names(given) %in% RUN_SETTINGS
  check_control(control, is.null(control), names(given)[is_run])
  if (is.null(control)) control <- do.call(gpuControl, given[is_run])
  make_plan(path, x, y, given[!is_run], verb, shards, control, verb_call(sys.call(), verb), mode = mode)
}

# The call of the verb that a call of gpuCorPlan() stands for.
verb_call <- function(call, verb) {
  arguments <- as.list(call)[-1L]
  names <- if (is.null(names(arguments))) rep("", length(arguments)) else names(arguments)
  path <- if ("path" %in% names) match("path", names) else match("", names)
  drop <- names %in% c("verb", "shards", "mode", "control", RUN_SETTINGS)
  drop[path] <- TRUE
  as.call(c(as.name(verb), arguments[!drop]))
}

make_plan <- function(path, x, y, given, verb, shards, control, call, quiet = FALSE, mode = "0700") {
  path <- check_new_folder(path)
  mode <- check_mode(mode)
  assay <- given$assay
  given$assay <- NULL # the plan has its matrix
  check_verb_arguments(given, verb)
  data <- plan_data(x, y, given$subjects, assay)
  given <- called_for_subjects(given, data$subjects)
  shards <- check_shards(shards, first_of(data, "x"), first_of(data, "y"))
  plan <- list(version = package_version_text(), verb = verb, arguments = given, call = call, shards = shards,
               subjects = data$subjects)
  found <- replay(plan, data$x, data$y, list(control = control)) # what is wrong with the call shows here, before anything is written
  if (!is_round(found)) fail("this call of ", verb, "() has no pairs to share out")
  plan$arguments <- evaluated_arguments(given, data$subjects)
  expected <- if (!quiet) expected_of(found, plan, new_settings(control))
  plan <- write_plan(plan, found, path, mode, data)
  if (!quiet) describe_plan(plan, found$round, expected)
  invisible(plan$path)
}

# The matrix, or that of the first subject.
first_of <- function(data, name) if (is.null(data$subjects)) data[[name]] else data[[name]][[1L]]

# Into a folder of another name, which gets its own when it is complete.
write_plan <- function(plan, found, path, mode, data) {
  plan$path <- partial_name(path)
  if (!make_folder(plan$path, mode)) fail("cannot create the folder \"", plan$path, "\"")
  on.exit(unlink(plan$path, recursive = TRUE))
  plan$x <- store_data(data$x, plan, "x")
  plan$y <- store_data(data$y, plan, "y")
  plan$id <- random_id()
  plan$digest <- .Call(r_checksum, serialize(plan[c("verb", "arguments", "shards", "x", "y")], NULL))
  save_plan(plan)
  for (kind in names(found$notes)) {
    for (k in seq_along(found$notes[[kind]])) write_note(plan, kind, k, found$notes[[kind]][[k]])
  }
  write_round(plan, found$round)
  if (!rename_file(plan$path, path, replace = FALSE)) fail("cannot rename \"", plan$path, "\" to \"", path, "\"")
  on.exit()
  plan$path <- normalizePath(path, "/")
  plan
}

check_new_folder <- function(path) {
  path <- check_plan_path(path)
  shown <- show_value(path)
  if (file.exists(path)) {
    fail("'path' is ", shown, ", which exists", if (file.exists(file.path(path, "plan.rds"))) {
      paste0(" and has a plan in it: gpuCorRun(", shown, ") goes on with it, unlink(", shown,
             ", recursive = TRUE) removes it")
    } else {
      "; choose another name"
    })
  }
  folder <- dirname(path)
  if (!dir.exists(folder)) fail("'path' is ", shown, ": there is no folder \"", folder, "\"; create it first")
  if (file.access(folder, 2L) != 0L) fail("'path' is ", shown, ": \"", folder, "\" is not writable; choose another one")
  file.path(normalizePath(folder, "/"), basename(path))
}

check_mode <- function(mode) {
  ok <- is.character(mode) && length(mode) == 1L && grepl("^[0-7]?7[0-7]{2}$", mode)
  if (!ok) {
    fail("'mode' must be a folder's permissions as dir.create() takes them, all of them for its owner, not ",
         show_value(mode), "; \"0700\" is for its owner only, \"0770\" for their group, too")
  }
  mode
}

check_shards <- function(shards, x, y) {
  most <- .Call(r_count_shards, if (is.null(y)) ncol(x) else ncol(y), ncol(x), !is.null(y))
  if (is.null(shards)) return(min(16, most))
  check_whole(shards, "shards", 1, most, paste0("; the pairs are in ", n_of(most, "tile")))
}

# ---- what to expect

# Of a shard, on a machine like this one: seconds (NA: too short to be measured), columns that it reads and bytes of
# prepared columns. found: what replay() returned.
expected_of <- function(found, plan, settings) {
  settings[c("design", "in_double")] <- found$settings[c("design", "in_double")]
  c(seconds = shard_seconds(found, plan, settings), shard_needs(found, plan, settings))
}

# By a run on some of the columns.
shard_seconds <- function(found, plan, settings) {
  x <- found$task$x
  y <- found$task$y
  size <- 1024
  repeat {
    task <- list(x = some_columns(x, size), y = if (!is.null(y)) some_columns(y, size), method = found$task$method,
                 use = found$task$use)
    started <- Sys.time()
    result <- call_engine(found$round$entry, task, found$round$arguments, settings)
    seconds <- as.numeric(Sys.time() - started, units = "secs")
    if (!is.null(result$status)) return(NA_real_)
    if (seconds > 0.2 || size >= max(ncol(x), ncol(y))) break
    size <- 4 * size
  }
  pairs <- count_pairs(task$x, task$y)
  if (pairs > 0) seconds * count_pairs(x, y) / pairs / plan$shards else NA_real_
}

# On average of some of them, and at most.
shard_needs <- function(found, plan, settings) {
  x <- found$task$x
  y <- found$task$y
  some <- unique(round(seq(1, plan$shards, length.out = min(plan$shards, 16))))
  needs <- vapply(some, FUN.VALUE = c(columns = 0, memory = 0), function(shard) {
    settings$share <- c(shard - 1, plan$shards)
    checked(.Call(r_needs, x, y, method_code(found$task$method), settings)) # of the first subject, where there are many
  })
  # Which observations count is found in a reading of its own.
  of_all <- if (uses[found$task$use] == "everything") 0 else sum(ncol(x), ncol(y))
  subjects <- max(1, plan$subjects)
  c(columns = subjects * (mean(needs["columns", ]) + of_all), memory = subjects * max(needs["memory", ]))
}

some_columns <- function(m, size) sample_columns(m, min(size, ncol(m)))

describe_plan <- function(plan, round, expected) {
  seconds <- expected[["seconds"]]
  x <- descriptions_of(plan, "x")
  y <- descriptions_of(plan, "y")
  size <- function(data, k) sum(vapply(data, function(one) one$dim[k], 0))
  bytes <- sum(vapply(c(x, y), function(one) one$bytes, 0))
  pairs <- count_pairs_of_plan(plan)
  cat("Plan of ", plan$verb, "() in ", plan$path, "\n", sep = "")
  cat(n_of(pairs, "pair"), " of ", n_of(size(x, 1L), "observation"),
      if (!is.null(plan$subjects)) paste(" of", n_of(plan$subjects, "subject")), " in ", plan$shards,
      if (plan$shards > 1) " shards of " else " shard of ", format_count(ceiling(pairs / plan$shards)),
      "; data of ", format_bytes(bytes), "\n", sep = "")
  if (!is.na(seconds)) {
    cat("a shard takes about ", show_seconds(seconds), " on a machine like this one, all of them ",
        show_seconds(seconds * plan$shards), "\n", sep = "")
  }
  cat("a shard reads ", n_of(ceiling(expected[["columns"]]), "column"), ", all shards read the data ",
      times_over(expected[["columns"]] * plan$shards / (size(x, 2L) + size(y, 2L))),
      "; prepared, the columns of a shard take up to ", format_bytes(expected[["memory"]]), "\n", sep = "")
  of_results <- 8 * pairs / plan$shards
  if (round$entry == "r_cor") cat("a shard holds ", format_bytes(of_results), " of results\n", sep = "")
  if (!round$is_last) cat("there will be more than one round: gpuCorStatus() says when the next one is due\n")
}

# What is known of x's or y's files: a list of one for each subject.
descriptions_of <- function(plan, name) if (is.null(plan$subjects)) Filter(length, plan[name]) else plan[[name]]

count_pairs_of_plan <- function(plan) {
  columns <- function(name) descriptions_of(plan, name)[[1L]]$dim[2L]
  if (is.null(plan$y)) pairs_of(columns("x")) else as.numeric(columns("x")) * columns("y")
}

times_over <- function(times) {
  shown <- format(times, digits = 2)
  if (shown == "1") "once" else paste(shown, "times over")
}
