#' Work on many machines
#'
#' A call of [gpuCorNetwork()], [gpuConnectivity()] or [gpuCor()] in shares that processes on any number of machines
#' compute, with whatever starts processes there: an array job of Slurm, PBS, SGE or LSF, packages future, BiocParallel
#' or batchtools, or several terminals. All they need is a folder that all of them see.
#'
#' `gpuCorPlan()` checks the call, and writes the folder: the data once, what is to be computed, and how it is cut into
#' shares of equal work. `gpuCorRun()` computes a share into a file. `gpuCorStatus()` tells how far the shares are.
#' `gpuCorCollect()` puts them together: the result is that of the call on one machine, to the last bit. Shares of GPUs
#' and of processors may be mixed.
#'
#' Nothing is lost or wrong when processes are killed, machines are cut off, a disk is full or a share is computed twice
#' at the same time: what a share found gets its name, which has its checksum, when it is complete and on the disk, and
#' is checked before it is used. `gpuCorRun()` skips what is finished, and computes again what is damaged. So after
#' whatever happened the same line goes on. Work that was begun and not finished is begun anew.
#'
#' Some results take more than one round over the pairs: `fdr`, `density` in [gpuConnectivity()] beside powers, a
#' histogram or with many edges, and any `density` where a sample of the columns misled about the threshold.
#' `gpuCorStatus()` and `gpuCorCollect()` say so; the shares are then to be run again, by the same command as before.
#' `gpuCorRun(path, "free")` goes on with the next round by itself.
#'
#' The folder holds data and results as they are in memory: it should be readable for those only who may see them. It
#' can be removed when the result has been collected, by `unlink(path, recursive = TRUE)`.
#'
#' @order 1
#' @inheritParams gpuCor
#' @param path The name of the folder: for `gpuCorPlan()` one that does not exist, in a folder that does.
#' @param x,y As the function takes them: in memory, or larger than it ([gpuCorFile()]).
#' @param ... `gpuCorPlan()`: further arguments of the function, and of the settings `threads`, `memory`, `progress`,
#'   `devices`, which hold for planning alone. Otherwise these settings: see [gpucor-package].
#' @param verb `"gpuCorNetwork"`, `"gpuConnectivity"` or `"gpuCor"`.
#' @param shards Into how many shares the pairs are cut, 16 where nothing is said. Several for each process that will
#'   be at work even out what some are slower; some minutes each are a good size.
#' @return `gpuCorPlan()`: the folder's full name, invisibly; it prints what to expect: seconds a share by a quick
#'   measurement on this machine, how often data are read, and memory, by the back end and the setting `memory` here.
#'   `gpuCorRun()`: the status, invisibly. `gpuCorStatus()`: a data frame of class `gpuCorStatus`, a share in each row:
#'   `share`, `state` (`"done"`, `"running"`, `"missing"`, `"damaged"`), `seconds` (so far, where it is running),
#'   `host`, `backend`. `gpuCorCollect()`: what the function returns.
#' @section Errors: as the function's own, when the plan is made. A folder that exists, cannot be written to, or is
#'   not seen; a plan by another version; a share that the plan does not have; in `gpuCorCollect()` shares that are
#'   missing or damaged, which are named.
#' @seealso `vignette("scale", "gpucor")`; argument `shards` of [gpuCorNetwork()]
#' @examples
#' path <- tempfile("plan")
#' x <- outer(sin(1:40), 1:200 %% 7) + matrix(rnorm(40 * 200), 40)
#' gpuCorPlan(path, x, density = 0.1, shards = 3)
#' gpuCorRun(path, shard = 2)
#' gpuCorStatus(path)
#' gpuCorRun(path) # all that are left
#' gpuCorCollect(path)
#' unlink(path, recursive = TRUE)
#' @export
gpuCorPlan <- function(path, x, y = NULL, ..., verb = c("gpuCorNetwork", "gpuConnectivity", "gpuCor"), shards = NULL,
                       backend = NULL) {
  verb <- check_choice(verb, c("gpuCorNetwork", "gpuConnectivity", "gpuCor"), "verb")
  make_plan(path, x, y, list(...), verb, shards, backend, verb_call(sys.call(), verb))
}

# The call of the verb that a call of gpuCorPlan() stands for.
verb_call <- function(call, verb) {
  arguments <- as.list(call)[-1L]
  names <- if (is.null(names(arguments))) rep("", length(arguments)) else names(arguments)
  path <- if ("path" %in% names) match("path", names) else match("", names)
  drop <- names %in% c("verb", "shards", "backend", SETTINGS)
  drop[path] <- TRUE
  as.call(c(as.name(verb), arguments[!drop]))
}

make_plan <- function(path, x, y, given, verb, shards, backend, call, quiet = FALSE) {
  path <- check_new_folder(path)
  if ("pairs" %in% names(given)) fail("'pairs' cannot be in a plan; call ", verb, "() on one machine")
  is_setting <- names(given) %in% c(SETTINGS, "assay")
  settings <- do.call(own_settings, c(list(backend), given[is_setting]))
  check_verb_arguments(given[!is_setting], verb)
  check_has_assay(x, y, given$assay)
  x <- plan_data(x, "x", given$assay)
  y <- if (!is.null(y)) plan_data(y, "y", given$assay)
  shards <- check_shards(shards, x, y)
  plan <- list(format = PLAN_FORMAT, version = package_version_text(), verb = verb, arguments = given[!is_setting],
               call = call, shards = shards, pairs = count_pairs(x, y))
  partial <- partial_name(path)
  if (!dir.create(partial, showWarnings = FALSE)) fail("cannot create the folder \"", partial, "\"")
  on.exit(unlink(partial, recursive = TRUE))
  plan$path <- partial
  found <- replay(plan, x, y, settings) # before the data are written: all that can be wrong with the call is wrong here
  if (!is_round(found)) fail("this call of ", verb, "() has no pairs to share out")
  plan$x <- store_data(x, partial, "x")
  plan$y <- store_data(y, partial, "y")
  if (!quiet) {
    settings <- do.call(settings_of, c(list(backend), given[is_setting]))
    settings$in_double <- found$round$in_double
    expected <- c(seconds = share_seconds(found$round, plan, x, y, settings),
                  share_needs(found$round, plan, x, y, settings))
  }
  write_object(plan[setdiff(names(plan), "path")], file.path(partial, "plan.rds"))
  if (!file.rename(partial, path)) fail("cannot rename \"", partial, "\" to \"", path, "\"")
  plan$path <- normalizePath(path)
  if (!quiet) describe_plan(plan, found$round, expected)
  invisible(plan$path)
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
  file.path(normalizePath(folder), basename(path))
}

check_verb_arguments <- function(given, verb) {
  known <- setdiff(names(formals(verb)), c("x", "y", "backend", "...", "file", "compression", "shards"))
  unknown <- setdiff(names(given), known)
  if (is.null(names(given)) && length(given)) unknown <- "an argument without a name"
  if (!length(unknown)) return(invisible())
  fail(verb, "() takes no ", show_value(unknown[1L]), " in a plan; ",
       if (unknown[1L] %in% c("file", "compression")) paste0("gpuCorCollect(", unknown[1L], " = ) does; "),
       "it takes ", toString(known))
}

# A matrix, for the verb and for the file.
plan_data <- function(m, name, assay) as_column(check_variables(m, name, assay))

check_shards <- function(shards, x, y) {
  most <- .Call(r_count_shares, if (is.null(y)) ncol(x) else ncol(y), ncol(x), !is.null(y))
  if (is.null(shards)) return(min(16, most))
  check_whole(shards, "shards", 1, most, paste0("; the pairs are in ", n_of(most, "tile")))
}

# ---- what to expect

# How long a share will take on a machine as this one, by a run on some of the columns; NA: too short to be measured.
share_seconds <- function(round, plan, x, y, settings) {
  size <- 1024
  repeat {
    task <- list(x = some_columns(x, size), y = if (!is.null(y)) some_columns(y, size), method = round$method,
                 use = round$use)
    started <- Sys.time()
    found <- call_engine(round$entry, task, round$arguments, settings)
    seconds <- as.numeric(Sys.time() - started, units = "secs")
    if (!is.null(found$status)) return(NA_real_)
    if (seconds > 0.2 || size >= max(ncol(x), ncol(y))) break
    size <- 4 * size
  }
  pairs <- count_pairs(task$x, task$y)
  if (pairs > 0) seconds * plan$pairs / pairs / plan$shards else NA_real_
}

# Of a share, on average of some of them: how many columns it reads, how many bytes of prepared columns it has at most.
share_needs <- function(round, plan, x, y, settings) {
  some <- unique(round(seq(1, plan$shards, length.out = min(plan$shards, 16))))
  needs <- vapply(some, FUN.VALUE = c(columns = 0, memory = 0), function(share) {
    settings$share <- c(share - 1, plan$shards)
    checked(.Call(r_needs, x, y, method_code(round$method), settings))
  })
  # Which observations count is found in a reading of its own.
  of_all <- if (uses[round$use] == "everything") 0 else sum(ncol(x), ncol(y))
  c(columns = mean(needs["columns", ]) + of_all, memory = max(needs["memory", ]))
}

some_columns <- function(m, size) sample_columns(m, min(size, ncol(m)))

describe_plan <- function(plan, round, expected) {
  seconds <- expected[["seconds"]]
  bytes <- sum(plan$x$bytes, plan$y$bytes)
  cat("Plan of ", plan$verb, "() in ", plan$path, "\n", sep = "")
  cat(n_of(plan$pairs, "pair"), " of ", n_of(plan$x$dim[1L], "observation"), " in ", plan$shards,
      if (plan$shards > 1) " shares of " else " share of ", format_count(ceiling(plan$pairs / plan$shards)),
      "; data of ", format_bytes(bytes), "\n", sep = "")
  if (!is.na(seconds)) {
    cat("a share takes about ", show_seconds(seconds), " on a machine like this one, all of them ",
        show_seconds(seconds * plan$shards), "\n", sep = "")
  }
  all <- sum(plan$x$dim[2L], plan$y$dim[2L])
  cat("a share reads ", n_of(ceiling(expected[["columns"]]), "column"), ", all shares read the data ",
      times_over(expected[["columns"]] * plan$shards / all), "; prepared, the columns of a share take up to ",
      format_bytes(expected[["memory"]]), "\n", sep = "")
  of_results <- 8 * plan$pairs / plan$shards
  if (round$entry == "r_cor") cat("a share holds ", format_bytes(of_results), " of results\n", sep = "")
  if (!round$is_last) cat("there will be more than one round: gpuCorStatus() says when the next one is due\n")
}

times_over <- function(times) {
  shown <- format(times, digits = 2)
  if (shown == "1") "once" else paste(shown, "times over")
}

show_seconds <- function(seconds) {
  if (seconds < 120) return(paste(format(max(seconds, 0.01), digits = 2), "s"))
  if (seconds < 7200) return(paste(round(seconds / 60), "min"))
  paste(format(seconds / 3600, digits = 3), "h")
}
