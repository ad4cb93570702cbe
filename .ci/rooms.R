# The folders of src/ as floors: a file includes what is in its own folder or on a floor below, and the contract,
# gpucor.h; no two files include or, in one folder, call each other, in however many steps. x.c and x.h count as one
# file. The folders of cuda/ are floors of their own; none of them includes cpu/, nor cpu/ them. One function starts
# threads.
floors <- list("base", "measure", "source", "mask", "stats", "sink", "engine", "cpu", "cuda/backend", "cuda/prepare",
               "cuda/product", "cuda/sink", "cuda", "r", ".")
contract <- c("gpucor.h", "configured.h")

source(".ci/circle.R")
setwd("src")
files <- list.files(".", "[.](c|h|cu|cuh)$", recursive = TRUE)
includes <- do.call(rbind, lapply(files, function(file) {
  lines <- grep('^#include "', readLines(file), value = TRUE)
  to <- file.path(dirname(file), sub('^#include "([^"]*)".*', "\\1", lines))
  while (any(grepl("[^/.][^/]*/[.][.]/", to))) to <- sub("[^/.][^/]*/[.][.]/", "", to)
  data.frame(from = rep(file, length(to)), to = sub("^[.]/", "", to))
}))
includes <- includes[!includes$to %in% contract & !startsWith(includes$to, ".."), ]

room <- function(file) ifelse(grepl("/", file), sub("^(cuda/[^/.]*(?=/)|[^/]*)/.*", "\\1", file, perl = TRUE), ".")
floor_of <- function(file) vapply(room(file), function(r) which(vapply(floors, function(f) r %in% f, NA)), 0L)
up <- floor_of(includes$to) > floor_of(includes$from) |
  startsWith(includes$to, "cpu/") & startsWith(includes$from, "cuda/")
for (k in which(up)) cat(includes$from[k], "includes", includes$to[k], "of a floor above or beside\n")

stem <- function(file) sub("[.][a-z]+$", "", file)

# Calls, by the names of functions that are not static, which begin with a prefix.
texts <- lapply(stats::setNames(nm = grep("[.]cu?$", files, value = TRUE)), function(file) {
  gsub('(?s)/[*].*?[*]/|//[^\n]*|"[^"\n]*"', "", paste(readLines(file), collapse = "\n"), perl = TRUE)
})
words <- function(text, pattern) unique(regmatches(text, gregexpr(pattern, text, perl = TRUE))[[1L]])
defined <- lapply(texts, words,
                  "(?m)^(?!static|extern|typedef)\\w[\\w *]*?\\b\\K(gcor|cpu|cuda|r)_\\w+(?=[(][^;{}]*[)] \\{)")
file_of <- stats::setNames(rep(names(defined), lengths(defined)), unlist(defined))
calls <- do.call(rbind, lapply(names(texts), function(file) {
  to <- unname(file_of[intersect(words(texts[[file]], "\\w+(?=[(])"), names(file_of))])
  to <- to[room(to) == room(file)]
  data.frame(from = rep(file, length(to)), to = to)
}))

# Threads of others would handle R's signals.
raw <- Filter(function(file) any(grepl("\\bpthread_create\\b|std::j?thread\\b|\\bthrd_create\\b", texts[[file]])),
              setdiff(names(texts), c("base/os_posix.c", "base/os_windows.c")))
for (file in raw) cat(file, "starts a thread by other means than gcor_os_thread()\n")

circle <- lapply(list(includes, calls), function(uses) {
  arrows <- unique(data.frame(from = stem(uses$from), to = stem(uses$to)))
  show_circle(arrows[arrows$from != arrows$to, ])
})
quit(status = as.integer(any(up) || length(raw) || length(unlist(circle)) > 0))
