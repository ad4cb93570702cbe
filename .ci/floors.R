# The files of R/ by floor: a function calls functions of its own file, of files of its floor that do not call back, and
# of floors below. Shows each call upwards and each circle of files, and fails if there is any.
#   Rscript --vanilla .ci/floors.R
source(".ci/circle.R")
floors <- c("base", "run", "data", "step", "class", "plot", "plan", "verb", "help")

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
up <- calls[floor_of(calls$to) > floor_of(calls$from), ]
cat(sprintf("%s: %s() uses %s of %s, a floor above\n", up$from, up$by, up$name, up$to), sep = "")

circle <- show_circle(calls[floor_of(calls$to) == floor_of(calls$from), c("from", "to")])
quit(status = as.integer(nrow(up) > 0L || length(circle) > 0L))
