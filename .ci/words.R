# Comments: they begin with a subject, and what they name exists, also after it was renamed. Prints file:line of each
# comment that names a file, a function or a list's element that does not exist, or begins without a subject; fails if
# there is any.
#   Rscript --vanilla .ci/words.R
FOLDERS <- c("R", "src", "tests/unit", "inst/bench")
HEADLESS <- "^(?:Of|That|The same of|What is|As ever|Whether|Those that) "
SYSTEM <- c("pthread.h", "CreateFile", "plot.hclust") # which comments name and the code does not

# list(line, text: its comments, marks removed; code: the rest).
read_source <- function(file) {
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  string <- "\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'"
  comment <- if (endsWith(file, ".R")) "(?m:(?:^[ \t]*#.*(?:\n|\\z))+)|#[^\n]*" else "(?s:/\\*.*?\\*/)|//[^\n]*"
  at <- gregexpr(paste0(comment, "|", string), text, perl = TRUE)
  found <- regmatches(text, at)[[1]]
  line <- findInterval(at[[1]], gregexpr("\n", text, fixed = TRUE)[[1]]) + 1L
  is_comment <- grepl("^\\s*(/[*/]|#)", found)
  plain <- gsub("(^|\n)[ \t]*(/?[*]+|//|#+)(?!')|[*]/", " ", found[is_comment], perl = TRUE)
  regmatches(text, at) <- list(ifelse(is_comment, " ", found))
  list(line = line[is_comment], text = trimws(gsub("\\s+", " ", plain)), code = text)
}

all_of <- function(pattern, text) unique(unlist(regmatches(text, gregexpr(pattern, text, perl = TRUE))))
name_in <- function(file) if (endsWith(file, ".R")) "[A-Za-z_.][\\w.]*" else "[A-Za-z_]\\w*"

# Names in a comment, by kind. Help (#') names functions of other packages, too.
named <- function(text, file) {
  files <- all_of("(?<![\\w./*-])[\\w./-]+[.](?:c|h|cu|cuh|R)\\b(?![.(\\w])", text)
  list(file = sub("^([.]+/)+", "", files),
       `function` = if (!grepl("#'", text)) all_of(paste0("(?<![\\w.:$])", name_in(file), "(?=\\(\\))"), text),
       element = all_of("[a-z_]+", gsub(":[^,)]*", "", all_of("(?<=^rule: list\\()[^)]*", text))))
}

check <- function(file, sources, known) {
  source <- sources[[file]]
  faults <- lapply(source$text, function(text) {
    names <- named(text, file)
    is_file <- vapply(names$file, function(f) any(known$files == f | endsWith(known$files, paste0("/", f))), NA)
    quoted <- vapply(names$element, function(e) grepl(paste0("\"", e, "\""), source$code, fixed = TRUE), NA)
    unknown <- setdiff(names$`function`, known$names)
    c(names$file[!is_file], unknown[!vapply(unknown, exists, NA)], names$element[!quoted], all_of(HEADLESS, text))
  })
  faults <- lapply(faults, setdiff, SYSTEM)
  lines <- rep(source$line, lengths(faults))
  if (length(lines)) cat(paste0(file, ":", lines, ": a comment has '", trimws(unlist(faults)), "'\n"), sep = "")
  length(lines)
}

tracked <- system("git ls-files --cached --others --exclude-standard", intern = TRUE)
files <- list.files(FOLDERS, "[.](c|h|cu|cuh|R)$", recursive = TRUE, full.names = TRUE)
sources <- lapply(setNames(files, files), read_source)
known <- list(files = tracked, names = all_of(name_in(".R"), vapply(sources, `[[`, "", "code")))
known$names <- union(known$names, unlist(strsplit(known$names, ".", fixed = TRUE))) # members, too
quit(status = as.integer(sum(vapply(files, check, 0L, sources, known)) > 0))
