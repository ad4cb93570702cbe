# The report of published.R.

# ---- the table: the functions that write its lines, and those that read them for the picture and the vignette

PUBLISHED_COLUMNS <- "%-23s %-17s %9s %5s %6s %-11s %7s %7s %7s %7s %7s %7s %7s %7s"
TITLES <- list(c("", "", "", "", "paper", "", "touched", "", "method/", "fresh", "", "method/", "method", "gpucor"),
               c("method", "result", "N", "n_obs", "s", "on", "method", "gpucor", "gpucor", "method", "gpucor",
                 "gpucor", "off", "off"))
FIELDS <- c("method", "result", "n_var", "n_obs", "published", "on", "seconds", "own", "ratio", "fresh", "own_fresh",
            "fresh_ratio", "off", "own_off")

columns_line <- function(fields) sub(" +$", "", do.call(sprintf, as.list(c(PUBLISHED_COLUMNS, fields))))

# Splits such lines into fields of text.
fields_of <- function(lines) {
  widths <- as.integer(regmatches(PUBLISHED_COLUMNS, gregexpr("[0-9]+", PUBLISHED_COLUMNS))[[1]])
  first <- cumsum(c(1, widths + 1))[seq_along(widths)]
  fields <- Map(function(from, width) trimws(substring(lines, from, from + width - 1)), first, widths)
  as.data.frame(stats::setNames(fields, FIELDS))
}

# Reads a record: the description of the machine before the table, and the table.
read_record <- function(file) {
  lines <- readLines(file)
  titles <- match(columns_line(TITLES[[2]]), lines)
  if (is.na(titles)) stop(file, " has no such table")
  rest <- lines[-seq_len(titles)]
  machine <- gsub("\n +", " ", paste(lines[seq_len(match("", lines) - 1)], collapse = "\n"))
  list(machine = strsplit(machine, "\n")[[1]],
       table = fields_of(rest[seq_len(match("", rest, length(rest) + 1) - 1)]))
}

# Converts fields of the table to numbers; NA for failures and missing values.
as_number <- function(text) suppressWarnings(as.numeric(gsub(",", "", text)))

describe_machine_and_titles <- function() {
  info <- tryCatch(gpucor::gpuInfo(), error = function(e) stop("gpucor is not installed: ", conditionMessage(e)))
  describe_machine(info)
  if (quick) say("A quick look: a twentieth of the variables, 5,000 at most; nothing to compare with the papers.")
  emit("")
  for (titles in TITLES) emit(columns_line(titles))
}

error_text <- function(off) if (length(off) != 1 || is.na(off)) "-" else sprintf("%.1e", off)

table_line <- function(result) {
  row <- result$row
  method <- result$method
  own <- result$own
  paper <- if (quick) "" else number(row$published)
  emit(columns_line(c(row$label, paste(row$measure, row$kind), number(row$n_var, 8), row$n_obs, paper, row$on,
                      both_ways(method, own, "seconds"), both_ways(method, own, "fresh"), error_text(method$off),
                      error_text(own$off))))
}

call_in_words <- function(row) paste0(row$measure, " ", row$kind, ", ", number(row$n_var, 8), " x ", row$n_obs)

# Seconds of the method and of gpucor, and their ratio; "-": not measured.
both_ways <- function(method, own, field) {
  seconds <- function(part) if (is.null(part$error)) number(c(part[[field]], NA)[1]) else "failed"
  c(seconds(method), seconds(own), number(c(method[[field]] / own[[field]], NA)[1]))
}

# Prints notes on rows that were estimated, failed, or have remarks.
print_notes <- function(results) {
  emit("")
  say("Times in seconds, of results in memory that has been in use (touched) and that has not (fresh); networks, ",
      "whose size is not known before, are fresh. On the CPU: of a thousandth of the rows, scaled to all. Networks: ",
      "pairs above the threshold ",
      "for a density of ", percent(DENSITY), "; off is of edges, and 2 where a pair is wrongly an edge or not one.")
  calls <- vapply(results, function(result) call_in_words(result$row), "")
  labels <- vapply(results, function(result) result$row$label, "")
  tell_part(labels, calls, lapply(results, `[[`, "method"))
  once <- !duplicated(calls)
  tell_part(rep("gpucor", sum(once)), calls[once], lapply(results[once], `[[`, "own"))
  emit("")
}

# Prints failures, grouped by kind, and notes.
tell_part <- function(labels, calls, parts) {
  errors <- vapply(parts, function(part) c(part$error, "")[1], "")
  kinds <- paste0(labels, " failed: ", errors)
  for (kind in unique(kinds[nzchar(errors)])) say(kind, " (", paste(calls[kinds == kind], collapse = "; "), ")")
  for (k in which(lengths(lapply(parts, `[[`, "note")) > 0)) {
    say(labels[k], " (", calls[k], "): ", paste(parts[[k]]$note, collapse = " "))
  }
}
