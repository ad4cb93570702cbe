# How a process works on a plan: it computes shards, or merges them.

# Returns a plan with its data and this process's place. `control`: from gpuControl(); `check`: TRUE to compare the
# data with their checksums.
open_work <- function(plan, control = NO_SPECS$control, check = FALSE) {
  list(plan = plan, control = control, place = new_place(control),
       x = stored_data(plan, "x", check), y = stored_data(plan, "y", check))
}

replay_work <- function(work, further = list(), is_planning = TRUE) {
  data <- lapply(work[c("x", "y")], function(m) if (length(m) && is.null(work$plan$subjects)) m[[1L]] else m)
  replay_verb(work$plan, data$x, if (length(data$y)) data$y, c(list(control = work$control), further), is_planning)
}

# ---- rounds

# Returns the last known round. If the file of the first one is damaged, a replay rewrites it.
current_round <- function(plan, work = open_work(plan)) {
  number <- 1
  if (is.null(read_round(plan, 1))) replay_work(work)
  round <- read_round(plan, 1)
  while (!is.null(following <- read_round(plan, number + 1))) {
    round <- following
    number <- number + 1
  }
  round
}

# Returns the round to work on: the next one if the current one is complete and another is needed.
next_round <- function(work) {
  round <- current_round(work$plan, work)
  if (round$is_last || any(shard_states(work$plan, round, check = FALSE)$state != "done")) return(round)
  result <- replay_work(work)
  if (inherits(result, "gpuCorRound")) result$round else round
}

# Returns the run of a round: data with the design of each subject, if the round has designs. A plan has a file for each
# subject, or for each resample; digests tell which ones are the round's. If a file is damaged, a replay makes it again.
run_of_round <- function(work, round) {
  plan <- work$plan
  read_designs <- function() {
    known <- list()
    while (!is.null(note <- read_numbered(plan, "design", length(known) + 1L))) known <- c(known, list(note))
    known[match(round$designs, design_digests(known))]
  }
  is_right <- function(designs) identical(design_digests(designs), round$designs)
  designs <- if (length(round$designs)) read_designs()
  if (!is.null(designs) && !is_right(designs)) {
    replay_work(work)
    designs <- read_designs()
    if (!is_right(designs)) {
      fail_file("the plan in \"", plan$path, "\" has other designs than round ", round$number, " began with; call ",
                "gpuCorRun() again")
    }
  }
  run <- bare_run(round$method, round$use, work$place, in_double = round$in_double, min_obs = round$min_obs,
                  information = round$information, mask = round$mask)
  how <- round$combination
  if (is.null(how)) {
    return(with_values(run, work$x[[1L]], if (length(work$y)) work$y[[1L]], if (length(designs)) designs[[1L]]))
  }
  with_values(run, new_subjects(work$x, how$rule, how$weights, how$total, designs = designs, sessions = how$sessions),
              if (length(work$y)) new_subjects(work$y))
}

# ---- shards

# Computes a claimed shard, unless another process has finished it meanwhile, and releases the claim. Removes damaged
# files of the shard, which their checksums reveal. `pass`, `passes`: the shard's position among those of this call, for
# the progress bar.
run_claimed <- function(work, round, shard, pass, passes) {
  plan <- work$plan
  on.exit(release_claim(plan, round$number, shard))
  shown <- paste("shard", shard, "of", plan$shards)
  files <- shard_files(plan, round, shard)
  unlink(files$file[!files$is_sound], expand = FALSE)
  if (any(files$is_sound)) return(message(shown, ": finished before"))
  if (nrow(files)) message(shown, " is damaged, and is computed again")
  about <- run_shard(plan, round, shard, at_pass(run_of_round(work, round), pass, passes, shown))
  message(shown, ": ", format(about$seconds, digits = 3), " s on ", about$host, " (", about$backend, ")")
}

# Computes a shard and writes its file. `run`: from run_of_round(). Several processes may do this at the same time.
run_shard <- function(plan, round, shard, run) {
  file <- file.path(plan_folder(plan, "rounds", round$number), sprintf("%05.0f", shard))
  partial <- begin_partial(file)
  on.exit(discard_partial(partial))
  run <- with_place(run, shard = c(shard - 1, plan$shards), save = partial)
  started <- Sys.time()
  found <- checked(call_engine(round$entry, run, round$arguments))
  seconds <- as.numeric(Sys.time() - started, units = "secs")
  marks <- function(flags) list(at = which(flags != 0), flag = flags[flags != 0]) # few are nonzero
  about <- c(list(shard = shard, seconds = seconds, host = Sys.info()[["nodename"]], backend = run$place$backend),
             found["n_obs"], lapply(found[c("x_flags", "y_flags")], marks))
  tryCatch(append_sealed(partial, about, seal_of(plan, "shard", round$number, shard, round$digest)),
           error = function(condition) cannot_write(file, partial, conditionMessage(condition)))
  publish(partial, paste0(file, ".", checksum(partial)), function() check_not_replaced(plan))
  about
}

# Computes these shards unless they are finished, even if another process is computing them.
run_shards <- function(work, round, shards) {
  for (k in seq_along(shards)) {
    claim(work$plan, round$number, shards[k], take = TRUE)
    run_claimed(work, round, shards[k], k, length(shards))
  }
}

# Computes free shards of all rounds. If there are none, compares finished shards with their checksums, as the user may
# call again because a shard is damaged.
run_free <- function(work, round) {
  plan <- work$plan
  # Returns the shards that are neither finished (with `check`: intact) nor being computed. Removes abandoned claims.
  free_shards <- function(check) {
    claims <- claims_of(plan, round)
    for (shard in claims$shard[claims$abandoned]) release_claim(plan, round$number, shard)
    states <- shard_states(plan, round, check)
    setdiff(states$shard[states$state != "done"], claims$shard[!claims$abandoned])
  }
  check <- !length(free_shards(check = FALSE))
  repeat {
    refused <- numeric() # shards whose claim failed once; a second failure is not due to another process
    while (length(free <- free_shards(check))) {
      for (shard in free) {
        if (!claim(plan, round$number, shard, take = shard %in% refused)) {
          refused <- c(refused, shard)
          next
        }
        done <- length(unique(named_files(plan, round)$shard))
        run_claimed(work, round, shard, min(done + 1, plan$shards), plan$shards)
      }
    }
    following <- next_round(work)
    if (following$number == round$number) return(invisible())
    round <- following
  }
}

# ---- the result

# Returns the verb's result. `further`: arguments of the verb; run(round): computes an incomplete round, or stops.
collect_plan <- function(work, further, run) {
  repeat {
    result <- replay_work(work, further, is_planning = FALSE)
    if (!inherits(result, "gpuCorRound")) return(result)
    run(result$round)
  }
}

# ---- claims

# A claim is a folder that says which process computes a shard. It is only a hint: computing a shard twice is harmless.

# Returns TRUE to one of the processes that try to claim a free shard, and with `take` also to others, which take it
# from that process. The folder is created elsewhere with its owner, then renamed, which only succeeds over an empty
# folder. (On Windows it fails over any folder: an empty one is an abandoned claim, which is released first.)
claim <- function(plan, number, shard, take = FALSE) {
  owner <- list(space = process_space(), host = Sys.info()[["nodename"]], pid = Sys.getpid())
  sign <- function(folder) {
    file <- file.path(folder, "owner.rds")
    try(write_plan_file(plan, file, owner, seal_of(plan, "claim", number, shard)), silent = TRUE)
  }
  folder <- file.path(plan_folder(plan, "claims", number), sprintf("%05.0f", shard))
  partial <- begin_partial(folder)
  on.exit(discard_partial(partial))
  make_folder(partial, file.mode(plan$path))
  sign(partial)
  is_claimed <- rename_file(partial, folder, replace = FALSE)
  if (!is_claimed && take) sign(folder)
  is_claimed || take
}

release_claim <- function(plan, number, shard) {
  folder <- file.path(plan$path, "claims", number, sprintf("%05.0f", shard))
  unlink(folder, recursive = TRUE, expand = FALSE)
}

# Returns the claims of a round: shard, host, age in seconds, and abandoned, which is TRUE if the process has ended, or
# probably has. A process on another machine counts as ended after 600 seconds, or five times the longest shard,
# or if its claim is as far in the future because a clock was set.
claims_of <- function(plan, round) {
  folders <- dir(file.path(plan$path, "claims", round$number), "^[0-9]{5,}$", full.names = TRUE)
  folders <- folders[as.numeric(basename(folders)) %in% seq_len(plan$shards)]
  shards <- as.numeric(basename(folders))
  read_owner <- function(folder, shard) {
    owner <- read_plan_file(file.path(folder, "owner.rds"), seal_of(plan, "claim", round$number, shard))
    is_owner <- is.list(owner) && is.character(owner$space) && is_one_string(owner$host) && is.integer(owner$pid) &&
      length(owner$pid) == 1L
    # A process that releases a claim removes the owner's file first; the file may also be damaged, or another plan's.
    if (!is_owner) return(list(host = "?", has_ended = TRUE))
    list(host = owner$host, has_ended = identical(owner$space, process_space()) &&
           (owner$pid == Sys.getpid() || !.Call(r_are_running, owner$pid))) # one of this process: an interrupt left it
  }
  owners <- Map(read_owner, folders, shards)
  age <- numeric()
  if (length(folders)) {
    # The time of the file system with the folder, as this machine's clock may differ; this machine's time if the folder
    # is not writable.
    partial <- tryCatch(begin_partial(file.path(plan$path, "claims", "clock")), gpucor_error = function(e) NULL)
    if (!is.null(partial)) on.exit(discard_partial(partial))
    clock <- if (is.null(partial)) Sys.time() else file.mtime(dirname(partial))
    age <- as.numeric(clock - file.mtime(folders), units = "secs")
  }
  has_ended <- vapply(owners, `[[`, NA, "has_ended")
  took <- function(file) tryCatch(as.numeric(read_about(file)$seconds)[1L], error = function(e) 0) # it may be damaged
  seconds <- vapply(utils::head(named_files(plan, round)$file, 16L), took, 0)
  data.frame(shard = shards, host = vapply(owners, `[[`, "", "host"), age = age, row.names = NULL,
             abandoned = has_ended | is.na(age) | abs(age) > max(600, 5 * seconds, na.rm = TRUE))
}

# ---- package future

# Computes a verb's shards with the workers of package future, in a temporary plan folder. `of`: has its arguments.
by_shards <- function(verb, of) {
  need_packages(c("future", "future.apply"), "'shards'")
  are_local <- inherits(future::plan(), c("sequential", "multisession", "multicore"))
  path <- tempfile("gpucor-plan-", setting_folder(if (are_local) tempdir() else getwd()))
  on.exit(unlink(path, recursive = TRUE, expand = FALSE))
  control <- run_of(of$specs$control)
  own <- setdiff(formals_of(verb)$names, c("x", "y", "file", "...", names(SPECS)))
  given <- c(Filter(Negate(is.null), mget(own, of)), arguments_of(of$specs))
  plan <- make_plan(path, of$x, of$y, given, verb, of$specs$control$shards, control, of$call)$plan
  further <- if (!is.null(of$file)) list(file = of$file)
  collect_plan(open_work(plan, control), further, function(round) run_by_future(plan, round, control, are_local))
}

# Not within by_shards(): the workers get this function's frame, and would get the data of that one.
run_by_future <- function(plan, round, control, are_local) {
  if (are_local && is.null(control$threads)) {
    control$threads <- max(1L, choose_threads(setting(NULL, "threads")) %/% future::nbrOfWorkers())
  }
  control$progress <- FALSE
  states <- shard_states(plan, round)
  missing <- states$shard[states$state != "done"]
  # Shards draw no random numbers, and seeds for them would be drawn from the user's.
  future.apply::future_lapply(missing, future.seed = FALSE, function(shard) {
    suppressMessages(run_shards(open_work(plan, control), round, shard))
    TRUE
  })
}
