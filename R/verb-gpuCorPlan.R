#' Work on many machines
#'
#' These functions divide a call of [gpuCorNetwork()], [gpuConnectivity()] or [gpuCor()] into shards that processes on
#' any number of machines compute. The result equals that of the call on one machine, to the last bit.
#'
#' ```r
#' gpuCorPlan("/shared/plan", x, density = 0.001, shards = 100)  # once
#' gpuCorRun("/shared/plan")                                     # in every process
#' gpuCorCollect("/shared/plan")                                 # once
#' ```
#'
#' `gpuCorPlan()` checks the call and writes the data and settings to a folder. `gpuCorRun()` computes shards and writes
#' each result to a file. `gpuCorStatus()` shows which shards are done. `gpuCorCollect()` merges the results.
#'
#' Start the processes as your cluster does: by an array job of Slurm, PBS, SGE or LSF, by packages future, BiocParallel
#' or batchtools, or in several terminals. All of them must see the folder; some may use GPUs and others processors.
#'
#' A plan takes the function's arguments but for some that [gpucor-together] lists. Formulas and functions of a
#' subject's number are evaluated once, when the plan is made.
#'
#' After any failure, rerun the same command. `gpuCorRun()` skips the shards that are done and computes the others.
#' Files of results have checksums: one that is damaged or incomplete, or belongs to another plan, is computed again.
#'
#' Some results take several rounds over the pairs, such as `fdr` of 17 million pairs or more. `gpuCorStatus()` and
#' `gpuCorCollect()` say so; then rerun the same command, or use `gpuCorRun(path, "free")`, which continues by itself.
#'
#' @section Security:
#' The folder contains the data and the results. Only its owner may enter it. For the owner's group write
#' `Sys.chmod(list.dirs(path), "0770", FALSE)`; its members can work on the plan if their umask lets the group read
#' their files. Opening a plan runs no code from its folder, in any version of R: the bytes of R objects in its files
#' are checked before R reads them, and only vectors and lists are read. Checksums detect accidents, not forgery:
#' whoever may write to the folder can change data and settings, and thus results, or make R stop. Admit only people
#' whom you trust to it. Remove the folder when the result is collected: `unlink(path, recursive = TRUE)`, with
#' `expand = FALSE`.
#'
#' @order 1
#' @param path A string: the name of the folder. `gpuCorPlan()` makes it; the folder around it must exist.
#' @param verb,x,y,... The function, `"gpuCorNetwork"`, `"gpuConnectivity"` or `"gpuCor"`, and its arguments. In all
#'   functions: settings of this process ([gpuControl()]).
#' @param shards A number: how many shards to make; by default 16, or fewer if there are few pairs. Use several shards
#'   for each process, of some minutes each, so that slow processes do not delay the others.
#' @return `gpuCorPlan()`: the folder's full name, invisibly. It prints estimates for this machine: seconds for a shard,
#'   how often the shards read the data, and memory. `gpuCorRun()`: the status, invisibly. `gpuCorStatus()`: a data
#'   frame of class `gpuCorStatus` with a row for each shard: `shard`, `state` (`"done"`, `"running"`, `"missing"` or
#'   `"damaged"`), `seconds` (so far, if it is running), `host`, `backend`. `gpuCorCollect()`: the function's result.
#' @seealso `vignette("scale", "gpucor")`; argument `shards` of [gpuControl()]
#' @examples
#' path <- tempfile("plan")
#' x <- outer(sin(1:40), 1:200 %% 7) + matrix(rnorm(40 * 200), 40)
#' gpuCorPlan(path, x, density = 0.1, shards = 3)
#' gpuCorRun(path, shard = 2)
#' gpuCorStatus(path)
#' gpuCorRun(path) # the others
#' gpuCorCollect(path)
#' unlink(path, recursive = TRUE)
#' @export
gpuCorPlan <- function(path, x, y = NULL, ..., verb = c("gpuCorNetwork", "gpuConnectivity", "gpuCor"), shards = NULL) {
  verb <- check_choice(verb, PLANNABLE, "verb")
  path <- expand_path(check_string(path, "path", "the name of a plan's folder"), "path")
  if (file.exists(file.path(path, "plan.rds"))) {
    fail_file("'path' is ", show_value(path), ", which exists and has a plan in it; gpuCorRun() continues it")
  }
  path <- check_new_file(path, "path", may_be_folder = TRUE)
  given <- list(...)
  of_specs <- seq_along(given) %in% which(names(given) %in% c(offered_by(verb), names(SPECS), OLD_SETTING))
  specs <- do.call(specs_of, c(list(verb), given[of_specs]), quote = TRUE)
  control <- run_of(specs$control)
  given <- c(given[!of_specs], arguments_of(specs))
  known <- plan_arguments(verb)
  unknown <- setdiff(if (length(given) && is.null(names(given))) "" else names(given), known)
  if (length(unknown)) {
    what <- if (nzchar(unknown[1L])) paste0("'", unknown[1L], "'") else "an argument without a name"
    fail(what, " cannot be in a plan of ", verb, "(); ",
         if (unknown[1L] == "file") "give it to gpuCorCollect()" else paste("it takes", toString(known)))
  }
  own <- as.list(sys.call())[-1L] # arguments, of which the verb's call has those of the verb
  names <- if (is.null(names(own))) rep("", length(own)) else names(own)
  drop <- names %in% c("verb", "shards", "control", RUN_SETTINGS)
  drop[match(if ("path" %in% names) "path" else "", names)] <- TRUE
  made <- make_plan(path, x, y, given, verb, shards, control, as.call(c(as.name(verb), own[!drop])))
  describe_plan(made, new_place(control))
  invisible(made$plan$path)
}

# ---- summary of a plan

# Prints the plan's size, and the cost of a shard on this machine. `made`: from make_plan().
describe_plan <- function(made, place) {
  plan <- made$plan
  run <- at_home(made$run, place)
  pairs <- run$pairs
  stored <- c(plan$x, plan$y)
  bytes <- sum(vapply(stored, function(one) one$bytes, 0))
  n_col <- sum(vapply(stored, function(one) one$dim[2L], 0))
  n_obs <- sum(vapply(plan$x, function(one) one$dim[1L], 0))
  some <- unique(round(seq(1, plan$shards, length.out = min(plan$shards, 16)))) # shards, whose mean stands for all
  needs <- vapply(some, FUN.VALUE = c(columns = 0, memory = 0), function(shard) {
    own <- with_place(with_element(run, use = 0L), shard = c(shard - 1, plan$shards)) # as if no value were missing
    unlist(perform(own, "needs")) # for the first subject
  })
  # Finding missing values takes an additional pass.
  of_all <- if (uses[run$use] == "everything") 0 else sum(ncol(run$x), ncol(run$y))
  subjects <- max(1, plan$subjects)
  columns <- subjects * (mean(needs["columns", ]) + of_all) # that a shard reads
  memory <- subjects * max(needs["memory", ])
  seconds <- shard_seconds(run, made)
  cat("Plan of ", plan$verb, "() in ", plan$path, "\n", n_of(pairs, "pair"), " of ", n_of(n_obs, "observation"),
      if (!is.null(plan$subjects)) paste(" of", n_of(plan$subjects, "subject")), " in ", n_of(plan$shards, "shard"),
      " of ", format_count(ceiling(pairs / plan$shards)), "; data of ", format_bytes(bytes), "\n", sep = "")
  if (!is.na(seconds)) {
    cat("a shard takes about ", show_seconds(seconds), " on a machine like this one, all of them ",
        show_seconds(seconds * plan$shards), "\n", sep = "")
  }
  times <- format(columns * plan$shards / n_col, digits = 2)
  cat("a shard reads ", n_of(ceiling(columns), "column"), ", all shards read the data ",
      if (times == "1") "once" else paste(times, "times over"), "; prepared, the columns of a shard take up to ",
      format_bytes(memory), "\n", sep = "")
  if (made$round$entry == "cor") cat("a shard has ", format_bytes(8 * pairs / plan$shards), " of results\n", sep = "")
  if (!made$round$is_last) cat("there will be more than one round: gpuCorStatus() says when the next one is due\n")
}

# Returns the seconds of a shard, estimated by a run on some columns; NA if that is too short to measure.
shard_seconds <- function(run, made) {
  size <- 1024
  some <- function(m) if (!is.null(m)) sampled_columns(m, min(size, ncol(m)))
  repeat {
    sample <- with_columns(run, some(run$x), some(run$y), counted = NULL)
    started <- Sys.time()
    result <- call_engine(made$round$entry, sample, made$round$arguments)
    seconds <- as.numeric(Sys.time() - started, units = "secs")
    if (!is.null(result$status)) return(NA_real_)
    if (seconds > 0.2 || size >= max(ncol(run$x), ncol(run$y))) break
    size <- 4 * size
  }
  if (sample$pairs > 0) seconds * run$pairs / sample$pairs / made$plan$shards else NA_real_
}

#' @rdname gpuCorPlan
#' @param shard Numbers of shards, from 1; or `"free"`: one shard after another that is neither done nor being computed,
#'   until there is none. `NULL`: the number of an array job's task (`SLURM_ARRAY_TASK_ID`, `PBS_ARRAY_INDEX`,
#'   `SGE_TASK_ID`, `LSB_JOBINDEX`), otherwise `"free"`.
#' @export
gpuCorRun <- function(path, shard = NULL, ...) {
  specs <- specs_of("gpuCorRun", ...)
  plan <- open_plan(path)
  if (is.null(shard)) { # outside array jobs these variables are missing, "undefined" or 0
    task <- Sys.getenv(c("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID", "LSB_JOBINDEX"))
    if (task[[1L]] == "0") {
      fail("SLURM_ARRAY_TASK_ID is 0, and shards have numbers from 1; begin the array at 1")
    }
    task <- grep("^[1-9][0-9]*$", task, value = TRUE)
    shard <- if (length(task)) as.numeric(task[[1L]]) else "free"
  }
  is_free <- identical(shard, "free")
  is_shard <- is_free || (is_numeric(shard) && length(shard) > 0L && all(shard %in% seq_len(plan$shards)))
  check_that(shard, "shard", is_shard, paste0("numbers from 1 to ", plan$shards, ", or \"free\""))
  work <- open_work(plan, specs$control)
  round <- next_round(work)
  if (is_free) run_free(work, round) else run_shards(work, round, as.numeric(shard))
  invisible(gpuCorStatus(path, check = FALSE))
}

#' @rdname gpuCorPlan
#' @param check `TRUE` to compare the files of finished shards with their checksums.
#' @export
gpuCorStatus <- function(path, check = TRUE) {
  check <- check_flag(check, "check")
  plan <- open_plan(path)
  round <- current_round(plan)
  claims <- claims_of(plan, round) # before the files, as a shard may become finished meanwhile
  claims <- claims[!claims$abandoned, ]
  found <- shard_states(plan, round, check)
  unknown <- list(seconds = NA_real_, host = NA_character_, backend = NA_character_)
  table <- data.frame(found[c("shard", "state")], unknown)
  table$state[found$state == "missing" & found$shard %in% claims$shard] <- "running"
  table[claims$shard, c("seconds", "host")] <- claims[c("age", "host")]
  for (k in which(found$state == "done")) {
    about <- read_about(found$file[k]) # NULL if the file was removed meanwhile
    if (!is.null(about)) table[k, names(unknown)] <- about[names(unknown)]
  }
  structure(table, class = c("gpuCorStatus", "data.frame"), round = round$number, is_last = round$is_last,
            path = plan$path)
}

#' @method print gpuCorStatus
#' @export
print.gpuCorStatus <- function(x, ...) {
  numbers <- split(x$shard, factor(x$state, c("done", "running", "missing", "damaged")))
  n_done <- length(numbers$done)
  round <- if (attr(x, "round") > 1 || !attr(x, "is_last")) paste0(" of round ", attr(x, "round"))
  cat(n_done, " of ", nrow(x), " shards done", round, "\n", sep = "")
  for (state in c("running", "missing", "damaged")) {
    if (length(numbers[[state]])) cat(sprintf("%8s: %s\n", state, show_numbers(numbers[[state]])))
  }
  if (n_done > 0) {
    seconds <- x$seconds[x$state == "done"]
    cat("a shard took ", format(stats::median(seconds), digits = 3), " s, at most ", format(max(seconds), digits = 3),
        " s\n", sep = "")
  }
  if (n_done == nrow(x)) {
    cat(if (attr(x, "is_last")) "gpuCorCollect() puts them together\n" else "gpuCorRun() begins the next round\n")
  }
  invisible(x)
}

#' @rdname gpuCorPlan
#' @param file As in [gpuCorNetwork()]: the network goes to this HDF5 file.
#' @export
gpuCorCollect <- function(path, file = NULL, ...) {
  specs <- specs_of("gpuCorCollect", ...)
  plan <- open_plan(path)
  if (!is.null(file) && plan$verb != "gpuCorNetwork") {
    fail("'file' is for networks, and the plan is of ", plan$verb, "(); leave it out")
  }
  work <- open_work(plan, specs$control, check = TRUE)
  collect_plan(work, if (!is.null(file)) list(file = file), function(round) {
    if (!round$is_new) {
      states <- shard_states(plan, round)
      shards <- function(state, text) {
        numbers <- states$shard[states$state == state]
        if (length(numbers)) paste(ngettext(length(numbers), "shard", "shards"), show_numbers(numbers), text)
      }
      unfinished <- c(shards("missing", paste("of", plan$shards, "not finished")), shards("damaged", "damaged"))
      fail_file(paste(unfinished, collapse = ", "), if (round$number > 1) paste(" in round", round$number),
                "; gpuCorRun(\"", plan$path, "\") computes them")
    }
    # After a round of at most a minute in total, the next one is not worth another submission.
    files <- shard_states(plan, read_round(plan, round$number - 1), check = FALSE)$file
    took <- sum(vapply(files, function(file) read_about(file)$seconds, 0))
    if (took > getOption("gpucor.collect_seconds", 60)) {
      fail_file("round ", round$number, " of the plan has to be run before the result is known; ",
                "run all shards again, as before, and then collect")
    }
    message("round ", round$number, " has to be run, and is run here")
    run_free(work, round)
  })
}
