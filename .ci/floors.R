# The files of R/ by floor: a function calls functions of its own file, of files of its floor that do not call back, and
# of floors below. Shows each call upwards and each circle of files, and fails if there is any.
# Some floors are bound, as each could be a package of its own: between one of them and the others only what is listed
# here is called, and exported functions and those of the base floor.
#   Rscript --vanilla .ci/floors.R
source(".ci/circle.R")
floors <- c("base", "run", "data", "step", "class", "plot", "image", "plan", "verb", "wgcna", "gputools", "help")

# Of each bound floor what other floors call of it, from below, too (give), and what it calls of others (take).
bounds <- list(
  # gpuCorFile() of an image, the mask of gpuClean()'s result, what is behind a network, and an atlas as groups
  image = list(give = c("image_file", "is_image_name", "check_image_file", "read_image_columns", "as_scan",
                        "bright_places", "is_atlas", "parcels_of_columns"),
               take = c("check_data_file", # files
                        "new_file", "check_matrix_like", "as_variables", "dense_columns", # x
                        "new_keeper", # subjects
                        "draw_carpet")), # pictures
  wgcna = list(take = c("specs_of", "features_of", "refuse_given", "powers_of_sets", "check_consensus", # arguments
                        "genes_of", "taking_part", "differing", "check_same_variables", "pick_columns", # data
                        "column_names",
                        "new_run", "new_place", "part_of", "checked", "each_subject", "check_memory", # runs
                        "draw_units", "MIN_RESAMPLE", # resamples
                        "new_summary", "adjusted_line", "draw_associations")), # results
  gputools = list(take = c("specs_of", "check_not_threshold", # arguments
                           "check_input", "without_observation_names", "check_copy_memory", "check_memory", # data
                           "new_run", "check_testable", "significance_of", "p_of_r", "SAME_COEFFICIENT")) # tests
)

files <- list.files("R", "[.]R$", full.names = TRUE)
parsed <- lapply(stats::setNames(files, basename(files)), parse, keep.source = FALSE)
is_definition <- function(e) is.call(e) && identical(e[[1L]], as.name("<-")) && is.name(e[[2L]])
name_of <- function(e) if (is_definition(e)) as.character(e[[2L]]) else ""
is_function <- function(e) is_definition(e) && is.call(e[[3L]]) && identical(e[[3L]][[1L]], as.name("function"))
globals_of <- function(e) {
  if (is_function(e)) codetools::findGlobals(eval(e[[3L]], baseenv())) else all.names(e, unique = TRUE)
}

defined <- lapply(parsed, function(file) setdiff(vapply(as.list(file), name_of, ""), ""))
file_of <- stats::setNames(rep(names(defined), lengths(defined)), unlist(defined))
calls <- do.call(rbind, lapply(names(parsed), function(file) {
  do.call(rbind, lapply(as.list(parsed[[file]]), function(e) {
    used <- intersect(globals_of(e), names(file_of))
    used <- used[file_of[used] != file]
    data.frame(from = rep(file, length(used)), by = rep(name_of(e), length(used)), to = unname(file_of[used]),
               name = used)
  }))
}))

floor_of <- function(file) match(sub("-.*", "", file), floors)
for (file in basename(files)[is.na(floor_of(basename(files)))]) {
  if (file != "gpucor-package.R") cat(file, "has no floor's name in front\n")
}
calls <- calls[!is.na(floor_of(calls$from)) & !is.na(floor_of(calls$to)), ]
up <- calls[floor_of(calls$to) > floor_of(calls$from) & !calls$name %in% unlist(lapply(bounds, `[[`, "give")), ]
cat(sprintf("%s: %s() uses %s of %s, a floor above\n", up$from, up$by, up$name, up$to), sep = "")

exported <- sub("^export[(](.*)[)]$", "\\1", readLines("NAMESPACE"))
crossings <- unlist(lapply(names(bounds), function(floor) {
  is_of <- function(files) startsWith(files, paste0(floor, "-"))
  over <- calls[is_of(calls$from) != is_of(calls$to), ]
  over <- over[!startsWith(over$to, "base-") & !over$name %in% exported, ]
  listed <- unlist(bounds[[floor]])
  stray <- over[!over$name %in% listed, ]
  idle <- setdiff(listed, over$name)
  c(sprintf("%s: %s() uses %s of %s, which floor %s neither gives nor takes\n", stray$from, stray$by, stray$name,
            stray$to, floor), sprintf("%s is no longer used between floor %s and others\n", idle, floor))
}))
cat(crossings, sep = "")

# Data outside memory are read by ask_columns(), whose errors name the columns and from which no interrupt ends R: only
# read_run() takes a kind's read(), and it serves ask_columns(), and read_columns() for raw files, which the engine
# reads.
texts <- unlist(lapply(unname(parsed), function(file) {
  stats::setNames(vapply(as.list(file), function(e) paste(deparse(e), collapse = " "), ""),
                  vapply(as.list(file), name_of, ""))
}))
mentions <- function(pattern) setdiff(names(texts)[grepl(pattern, texts)], "read_run")
unguarded <- c(mentions("[$]read\\b"), setdiff(mentions("\\bread_run\\b"), c("ask_columns", "read_columns")))
cat(sprintf("%s() reads data outside memory without ask_columns()\n", unguarded), sep = "")

# unlink() takes the wildcards of a user's folder for a pattern, which matches other files.
unlinks <- function(e) {
  inner <- lapply(Filter(function(k) is.call(e[[k]]), seq_along(e)), function(k) unlinks(e[[k]]))
  c(if (identical(e[[1L]], as.name("unlink"))) list(e), unlist(inner))
}
patterns <- Filter(function(e) !isFALSE(e$expand), unlist(lapply(unlist(unname(parsed)), unlinks)))
cat(sprintf("%s expands wildcards; add expand = FALSE\n", vapply(patterns, deparse1, "")), sep = "")

# A run is changed by changed() alone, as R stops where an element is assigned. Those who call it say what else depends on
# a change: they stand in run-changed.R and data-changes.R, and data-run.R makes and fills runs.
may_change <- c("run-changed.R", "data-changes.R", "data-run.R")
opened <- calls[calls$name == "changed" & !calls$from %in% may_change, ]
cat(sprintf("%s: %s() changes a run by hand\n", opened$from, opened$by), sep = "")
unsealed <- setdiff(names(texts)[grepl("unclass(run)", texts, fixed = TRUE)], "changed")
cat(sprintf("%s() takes the class from a run\n", unsealed), sep = "")

# perform() is the engine's one door; behind it are plans, whose shards and rounds are calls of their own.
passed_by <- calls[calls$name == "call_engine" & !startsWith(calls$from, "plan-") & calls$by != "shard_seconds", ]
cat(sprintf("%s: %s() calls the engine past perform()\n", passed_by$from, passed_by$by), sep = "")

circle <- show_circle(calls[floor_of(calls$to) == floor_of(calls$from), c("from", "to")])
found <- c(crossings, unguarded, patterns, unsealed, circle)
is_wrong <- c(nrow(up), nrow(passed_by), nrow(opened), length(found)) > 0L
quit(status = as.integer(any(is_wrong)))
