# Checks the documentation's statements of speed and accuracy against the recorded results.
#
#   Rscript inst/bench/claims.R
#
# claims.dcf beside this script has an entry for every such statement:
#   Where   the file: README.md, a vignette, or a file of R/ whose help is meant
#   Says    its words as in the file, except for line breaks, with each number to check in braces: a number, or a word
#           for one, such as {half}
#   Record  the file under results/ that has the numbers
#   Find    regular expressions, one per line; each matches one line of the record or, after a ~, one place in the
#           record joined to one line. Their groups are x[1], x[2] and so on
#   Value   R code that computes the numbers from x; x by default
#   Holds   "=" (default): the statement is the value, rounded to the statement's digits; "<=": the value is at most
#           the number
#   Why     instead of the last four: why there is nothing to compare
# Fails if a statement is not found or its number differs, if the documentation has a number of speed, memory or
# accuracy without an entry, or if a record that it quotes is old.
#
# A record is current if the tree of src/ that its line "src tree:" names is that of one of the last ten commits that
# changed src/, or of one from the seven days before the last of these: records need a GPU and an hour, and in a busy
# week src/ has hundreds of commits, each of which `make regress` compares with the one before. Skipped without git, and
# in a clone without history.

script <- sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))
root <- normalizePath(if (length(script)) file.path(dirname(script), "..", "..") else ".")
results <- file.path(root, "inst", "bench", "results")

# ---- the documentation

one_line <- function(lines) gsub("[[:space:]]+", " ", paste(lines, collapse = " "))

# The words of a file, without its code.
words_of <- function(file) {
  lines <- readLines(file.path(root, file), encoding = "UTF-8")
  if (grepl("[.]R$", file)) return(one_line(sub("^#' ?", "", grep("^#'", lines, value = TRUE))))
  fenced <- cumsum(grepl("^```", lines)) %% 2 == 1 | grepl("^```", lines)
  if (grepl("[.]Rmd$", file)) fenced <- fenced | seq_along(lines) <= which(lines == "---")[2]
  one_line(lines[!fenced])
}

documents <- c("README.md", file.path("vignettes", list.files(file.path(root, "vignettes"), "[.]Rmd$")),
               file.path("R", list.files(file.path(root, "R"), "[.]R$")))

# Patterns of statements of speed, memory or accuracy.
NUMBER <- "[0-9][0-9,]*(?:[.][0-9]+)?(?:e-?[0-9]+)?"
WORD <- paste0("(?:half|twice|third|quarter|tenth|hundredth|thousandth|two|three|four|five|six|seven|eight|nine|ten|",
               "forty|hundred)")
LOOKS <- c(paste0(NUMBER, " (?:s|ms|seconds?|minutes?|min|hours?|microseconds?|milliseconds?|nanoseconds?)\\b"),
           paste0(NUMBER, " (?:KB|MB|GB|TB)\\b"),
           paste0("(?:", NUMBER, "|", WORD, ")(?: times)? as (?:fast|long|much memory)"),
           paste0("\\b", WORD, " (?:of )?the (?:time|memory)\\b"),
           paste0("\\b(?:a|an|some|", WORD, ") (?:minutes?|hours?|microseconds?|milliseconds?)\\b"),
           paste0("\\b(?:some|", WORD, ") seconds\\b"),
           "within 1e-[0-9]+", paste0(NUMBER, " million pairs a second"))

spans <- function(pattern, text, ...) {
  at <- gregexpr(pattern, text, ...)[[1]]
  if (at[1] < 0) return(matrix(0, 0, 2))
  cbind(at, at + attr(at, "match.length") - 1)
}

# In the README: every number from the heading about speed to the next heading.
looked_for <- function(file, text) {
  found <- do.call(rbind, lapply(LOOKS, spans, text, perl = TRUE))
  if (file != "README.md") return(found)
  section <- spans("## Speed and accuracy.*?(?=## )", text, perl = TRUE)
  numbers <- spans(NUMBER, text, perl = TRUE)
  rbind(found, numbers[numbers[, 1] > section[1] & numbers[, 2] < section[2], , drop = FALSE])
}

# ---- the entries

claims <- read.dcf(file.path(root, "inst", "bench", "claims.dcf"), keep.white = "Find")
entry <- function(k, field) if (field %in% colnames(claims) && !is.na(claims[k, field])) claims[k, field]

in_braces <- function(says) regmatches(says, gregexpr("(?<=[{])[^}]*(?=[}])", says, perl = TRUE))[[1]]

WORDS <- c(half = 0.5, twice = 2, third = 1 / 3, quarter = 1 / 4, tenth = 0.1, two = 2, three = 3, four = 4, five = 5,
           six = 6, seven = 7, eight = 8, nine = 9, ten = 10)
as_number <- function(text) if (text %in% names(WORDS)) WORDS[[text]] else as.numeric(gsub(",", "", text))

# True if a value is shown as the number is: with as many decimals or, for 1.2e9, as many digits, or as the word.
shows_as <- function(value, text, number) {
  if (text %in% names(WORDS)) return(abs(value - number) <= if (number < 1) 0.05 else 0.5)
  digits <- gsub("[^0-9.]", "", sub("e.*", "", text))
  exponent <- if (grepl("e", text)) as.numeric(sub(".*e", "", text)) else 0
  abs(value - number) <= 0.5000001 * 10^(exponent - nchar(sub("^[^.]*[.]?", "", digits)))
}

holds <- function(value, text, how) {
  number <- as_number(text)
  switch(how,
    "=" = shows_as(value, text, number),
    "<=" = value <= number * (1 + 1e-9),
    stop("no such way to hold: ", how)
  )
}

# Extracts the numbers of a record by regular expressions; an error if one does not match exactly one line.
found_in <- function(record, patterns) {
  lines <- readLines(file.path(results, record))
  unlist(lapply(patterns, function(pattern) {
    if (startsWith(pattern, "~")) lines <- one_line(lines)
    pattern <- sub("^~", "", pattern)
    fits <- grep(pattern, lines, value = TRUE, perl = TRUE)
    if (length(fits) != 1) stop("'", pattern, "' fits ", length(fits), " lines of ", record)
    as.numeric(gsub(",", "", regmatches(fits, regexec(pattern, fits, perl = TRUE))[[1]][-1]))
  }))
}

# Returns what is wrong with an entry; NULL if nothing is.
fault_of <- function(k) {
  says <- one_line(claims[k, "Says"])
  plain <- gsub("[{}]", "", says)
  where <- claims[k, "Where"]
  whole <- one_line(readLines(file.path(root, where), encoding = "UTF-8")) # a number may be in code
  if (!grepl(plain, texts[[where]], fixed = TRUE) && !grepl(plain, whole, fixed = TRUE)) return("is not there any more")
  if (!is.null(entry(k, "Why"))) return(NULL)
  x <- found_in(entry(k, "Record"), trimws(strsplit(entry(k, "Find"), "\n")[[1]]))
  value <- if (is.null(entry(k, "Value"))) x else eval(parse(text = entry(k, "Value")), list(x = x))
  shown <- in_braces(says)
  if (length(shown) != length(value)) return(paste(length(shown), "numbers, and the record has", length(value)))
  how <- if (is.null(entry(k, "Holds"))) "=" else entry(k, "Holds")
  wrong <- which(!mapply(holds, value, shown, how))
  if (!length(wrong)) return(NULL)
  paste0("says ", shown[wrong[1]], "; ", entry(k, "Record"), " has ", format(value[wrong[1]], digits = 6))
}

texts <- stats::setNames(lapply(documents, words_of), documents)
faults <- character()
for (k in seq_len(nrow(claims))) {
  fault <- tryCatch(fault_of(k), error = conditionMessage)
  if (length(fault)) faults <- c(faults, paste0(claims[k, "Where"], ": \"", one_line(claims[k, "Says"]), "\" ", fault))
}

# ---- numbers without an entry

for (file in documents) {
  text <- texts[[file]]
  own <- which(claims[, "Where"] == file)
  says <- gsub("[{}]", "", vapply(claims[own, "Says"], one_line, ""))
  covered <- do.call(rbind, lapply(says, spans, text, fixed = TRUE))
  found <- looked_for(file, text)
  for (k in seq_len(nrow(found))) {
    if (any(covered[, 1] <= found[k, 1] & covered[, 2] >= found[k, 2])) next
    around <- substr(text, max(1, found[k, 1] - 40), found[k, 2] + 25)
    faults <- c(faults, paste0(file, ": no entry for \"...", around, "...\""))
  }
}

# ---- records that are old

RECENT_COMMITS <- 10
RECENT_DAYS <- 7

git <- function(...) {
  lines <- tryCatch(suppressWarnings(system2("git", c("-C", shQuote(root), ...), stdout = TRUE, stderr = FALSE)),
                    error = function(e) character())
  if (is.null(attr(lines, "status"))) lines else character()
}

# Returns the current trees; NULL if the history is unknown.
current_trees <- function() {
  history <- strsplit(git("log", "--format='%H %ct'", "--", "src"), " ")
  if (!length(history) || !identical(git("rev-parse", "--is-shallow-repository"), "false")) return(NULL)
  seconds <- as.numeric(vapply(history, `[`, "", 2))
  is_recent <- seq_along(history) <= RECENT_COMMITS | max(seconds) - seconds <= RECENT_DAYS * 86400
  git("rev-parse", paste0(vapply(history[is_recent], `[`, "", 1), ":./src"))
}

# Returns the tree that a record names; NA if it names none.
tree_of <- function(record) {
  line <- grep("^src tree: ", readLines(file.path(results, record)), value = TRUE)
  sub("^src tree: ", "", c(line, NA)[1])
}

trees <- current_trees()
if (is.null(trees)) cat("no history of src/ here: whether the records are current is not checked\n")
quoted <- unique(stats::na.omit(claims[is.na(claims[, "Why"]), "Record"]))
for (record in if (!is.null(trees)) quoted) {
  tree <- tree_of(record)
  if (tree %in% trees) next
  where <- unique(claims[claims[, "Record"] %in% record, "Where"])
  faults <- c(faults, paste0("results/", record, ", which ", toString(where), " quote", if (length(where) == 1) "s",
                             ", is old: ", if (is.na(tree)) "it names no tree of src/" else paste("its tree is", tree),
                             "; record it again"))
}

if (length(faults)) writeLines(unique(faults))
cat(nrow(claims), "statements,", length(unique(faults)), "faults\n")
quit(status = as.integer(length(faults) > 0))
