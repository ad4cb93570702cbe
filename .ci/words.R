# Words that comments must not use. Prints file:line of each comment that has a banned phrase, or begins without a
# subject; fails if there is any.
#   Rscript --vanilla .ci/words.R [FOLDER or FILE...]
FOLDERS <- c("R", "src", "tests/unit", "inst/bench", "inst/include")
BANNED <- c("keepers?", "landings?", "touchers?", "slivers?", "in turns", "cheap values?", "whole numbers?",
            "made ready", "way out", "one does(?! not)", "to be had", "as ever", "nobody needs", "what is more",
            "freed of", "observations of (?:their|its) own", "common observations", "at the rim", "sets of bits",
            "goes on")
HEADLESS <- c("Of", "That", "The same of", "What is", "As ever", "Whether", "Those that")
PATTERN <- paste0("\\b(?:", paste(BANNED, collapse = "|"), ")\\b|^(?:", paste(HEADLESS, collapse = "|"), ") ")

# One comment a row: its first line, and its text on one line without code.
comments_of <- function(file) {
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  string <- "\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'"
  comment <- if (endsWith(file, ".R")) "(?m:(?:^[ \t]*#.*(?:\n|\\z))+)|#[^\n]*" else "(?s:/\\*.*?\\*/)|//[^\n]*"
  at <- gregexpr(paste0(comment, "|", string), text, perl = TRUE)
  found <- regmatches(text, at)[[1]]
  line <- vapply(at[[1]], function(k) 1L + nchar(gsub("[^\n]", "", substr(text, 1, k))), 0L)
  plain <- gsub("(^|\n)[ \t]*(/?[*]+|//|#+'?)|[*]/|`[^`]*`|\\S*[_/.][[:alnum:]]\\S*|\\S+\\(\\)", " ", found)
  data.frame(line, text = trimws(gsub("\\s+", " ", plain)))[grepl("^\\s*(/[*/]|#)", found), ]
}

check <- function(file) {
  comments <- comments_of(file)
  hits <- regmatches(comments$text, regexpr(PATTERN, comments$text, perl = TRUE))
  lines <- comments$line[grepl(PATTERN, comments$text, perl = TRUE)]
  if (length(hits)) cat(paste0(file, ":", lines, ": a comment has '", trimws(hits), "'\n"), sep = "")
  length(hits)
}

given <- commandArgs(TRUE)
files <- list.files(if (length(given)) given else FOLDERS, "[.](c|h|cu|cuh|R)$", recursive = TRUE, full.names = TRUE)
files <- c(files, given[!dir.exists(given)])
quit(status = as.integer(sum(vapply(files, check, 0L)) > 0))
