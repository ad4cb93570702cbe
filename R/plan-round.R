# The files of notes and rounds. A note is what may differ in the last digit from machine to machine, so that all
# machines take it from the folder: a subject's design, or the histogram of a sample. A round is a run of the engine
# over all pairs.

NOTE_FOLDERS <- c(sample = "notes", design = "designs")

note_file <- function(plan, kind, number) file.path(plan$path, NOTE_FOLDERS[[kind]], paste0(number, ".rds"))

read_note <- function(plan, kind, number) read_plan_file(note_file(plan, kind, number), seal_of(plan, kind, number))

write_note <- function(plan, kind, number, note) {
  plan_folder(plan, NOTE_FOLDERS[[kind]])
  write_plan_file(plan, note_file(plan, kind, number), note, seal_of(plan, kind, number))
}

# ---- rounds

round_file <- function(plan, number) file.path(plan$path, "rounds", paste0(number, ".rds"))

# NULL: there is no such round, or its file is damaged or another plan's.
read_round <- function(plan, number) {
  round <- read_plan_file(round_file(plan, number), seal_of(plan, "round", number))
  if (!is.null(round) && !is_round(round)) fail_changed(round_file(plan, number))
  round
}

# Returns TRUE if new_round() could have made this.
is_round <- function(round) {
  names_file <- function(argument) is.list(argument) && !is.null(argument$spool)
  isTRUE(round$entry %in% ENTRIES) && isTRUE(round$method %in% measures()$name) && is_data(round) &&
    !any(vapply(round$arguments, names_file, NA))
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

# What the shards of a round compute. is_last: no further round is expected.
new_round <- function(number, entry, task, arguments, settings) {
  list(number = number, entry = entry, method = task$method, use = task$use, in_double = settings$in_double,
       arguments = shard_arguments(entry, arguments), is_last = sum(settings$pass) > 1 - 1e-6,
       combination = combination_of(task$x), designs = design_digests(designs_of(task$x, settings)))
}

# Shards do not depend on what becomes of the result.
shard_arguments <- function(entry, arguments) {
  if (entry == "r_cor") arguments[[3L]] <- list() # attributes
  if (entry %in% c("r_edges", "r_neighbours")) {
    arguments[[1L]]["spool"] <- list(NULL)
    arguments[[1L]]$stay <- 0L
    arguments[[length(arguments)]] <- 2^53 # maximum number of edges
  }
  arguments
}

# How subjects' coefficients are combined; NULL: there is one subject.
combination_of <- function(x) {
  if (!is_combined(x)) return(NULL)
  list(rule = list(how = x$name, share = x$share, skips = x$skips), weights = x$weights, total = x$total)
}

designs_of <- function(x, settings) {
  if (is_combined(x)) x$designs else if (!is.null(settings$design)) list(settings$design)
}

design_digests <- function(designs) {
  vapply(designs, FUN.VALUE = "", function(design) {
    numbers <- unlist(design[c("weights", "basis", "keeps", "raw", "ranked", "option", "lost")])
    .Call(r_checksum, writeBin(as.numeric(numbers), raw()))
  })
}

# Returns the round with its digest, which its shards' files carry: they do not count for a round of other settings.
write_round <- function(plan, round) {
  text <- deparse(round, control = c("keepNA", "keepInteger", "hexNumeric"))
  round$digest <- .Call(r_checksum, charToRaw(paste(c(plan$digest, text), collapse = "\n")))
  plan_folder(plan, "rounds")
  write_plan_file(plan, round_file(plan, round$number), round, seal_of(plan, "round", round$number))
  round
}
