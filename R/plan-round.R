# The files of notes and rounds. A note is a value whose last digits may differ among machines, so that all machines
# read it from the folder: a subject's design, or the histogram of a sample. A round is a run of the engine over all
# pairs.

NOTE_FOLDERS <- c(sample = "notes", design = "designs")

note_file <- function(plan, kind, number) file.path(plan$path, NOTE_FOLDERS[[kind]], paste0(number, ".rds"))

read_note <- function(plan, kind, number) read_plan_file(note_file(plan, kind, number), seal_of(plan, kind, number))

write_note <- function(plan, kind, number, note) {
  plan_folder(plan, NOTE_FOLDERS[[kind]])
  write_plan_file(plan, note_file(plan, kind, number), note, seal_of(plan, kind, number))
}

# ---- rounds

round_file <- function(plan, number) file.path(plan$path, "rounds", paste0(number, ".rds"))

# Returns NULL if there is no such round, or its file is damaged or another plan's.
read_round <- function(plan, number) {
  round <- read_plan_file(round_file(plan, number), seal_of(plan, "round", number))
  if (!is.null(round) && !is_round(round)) fail_changed(round_file(plan, number))
  round
}

# Returns TRUE if new_round() could have made this.
is_round <- function(round) {
  names_file <- function(argument) is.list(argument) && !is.null(argument$spool)
  is.list(round) && isTRUE(round$entry %in% ENTRIES) && isTRUE(round$method %in% measures()$name) &&
    is.list(round$arguments) && !any(vapply(round$arguments, names_file, NA))
}

last_round <- function(plan) {
  round <- NULL
  number <- 1
  while (!is.null(following <- read_round(plan, number))) {
    round <- following
    number <- number + 1
  }
  round
}

# Returns what the shards of a round compute. `is_last`: TRUE if no further round is expected.
new_round <- function(number, entry, task, arguments, settings) {
  list(number = number, entry = entry, method = task$method, use = task$use, in_double = settings$in_double,
       arguments = shard_arguments(entry, arguments), is_last = sum(settings$pass) > 1 - 1e-6,
       information = settings$information, pairs = settings$pairs, combination = combination_of(task$x),
       designs = design_digests(designs_of(task$x, settings)))
}

# Replaces arguments that concern only the final result, on which shards must not depend.
shard_arguments <- function(entry, arguments) {
  if (entry == "r_cor") arguments[[3L]] <- list() # attributes
  if (entry %in% c("r_edges", "r_neighbours")) {
    arguments[[1L]]["spool"] <- list(NULL)
    arguments[[1L]]$stay <- 0L
    arguments[[length(arguments)]] <- 2^53 # maximum number of edges
  }
  arguments
}

# Returns how subjects' coefficients are combined, or NULL for one data set.
combination_of <- function(x) {
  if (!is_combined(x)) return(NULL)
  list(rule = list(how = x$name, level = x$level, skips = x$skips), weights = x$weights, total = x$total,
       sessions = x$sessions)
}

designs_of <- function(x, settings) {
  if (is_combined(x)) x$designs else if (!is.null(settings$design)) list(settings$design)
}

design_digests <- function(designs) {
  vapply(designs, FUN.VALUE = "", function(design) {
    numbers <- unlist(design[c("weights", "basis", "keeps", "raw", "ranked", "map", "option", "lost")])
    .Call(r_checksum, writeBin(as.numeric(numbers), raw()))
  })
}

# Returns the round with its digest. The files of its shards contain it, so that they do not count for other settings.
write_round <- function(plan, round) {
  text <- deparse(round, control = c("keepNA", "keepInteger", "hexNumeric"))
  round$digest <- .Call(r_checksum, charToRaw(paste(c(plan$digest, text), collapse = "\n")))
  plan_folder(plan, "rounds")
  write_plan_file(plan, round_file(plan, round$number), round, seal_of(plan, "round", round$number))
  round
}
