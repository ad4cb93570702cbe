# The report of gpu.R; other benchmarks use its text functions, too.
source(file.path(here, "record.R"))

# ---- text

# Prints a text of any length in lines of at most 120 characters.
say <- function(..., indent = 0) {
  for (line in strwrap(paste0(...), 119, indent = indent, exdent = indent + 4)) emit(line)
}
number <- function(x, digits = 3) {
  if (length(x) != 1 || !is.finite(x)) return("-")
  if (x > 0 && x < 1e-3) return(format(x, digits = 2, scientific = TRUE))
  format(signif(x, digits), big.mark = ",", scientific = FALSE)
}
gigabytes <- function(bytes) if (is.finite(bytes)) sprintf("%.1f", bytes / 1e9) else "-"
percent <- function(share) paste0(number(100 * share, 2), " %")

# ---- the table

# Names the stage that takes longest; for the products, also the fraction of that time that each kind of work takes at
# the rates above.
bound_of <- function(m) {
  if (!is.null(m$error)) return(m$error)
  at <- which.max(m$stages)
  text <- paste0(names(at), ", ", number(m$stages[[at]]), " of ", number(sum(m$stages)), " s")
  if (names(at) != "multiplying and delivering") return(text)
  terms <- if (m$edges > 0) m$terms[c("products", "wire")] else m$terms # a sparse matrix is filled later
  shares <- terms[terms > 0 & !is.na(terms)] / m$stages[[at]]
  if (!length(shares)) return(text)
  shares <- paste(names(shares), vapply(shares, percent, ""), collapse = ", ")
  paste0(text, "; of that, at the rates above: ", shares)
}

verdict <- function(row, m) {
  if (is.na(row$must) || scale != 1 || !is.null(m$error)) return("")
  reached <- if (row$kind == "rate") m$rate >= row$must else m$seconds <= row$must
  if (isTRUE(reached)) "yes" else "no"
}

COLUMNS <- "%-19s %9s %5s %8s %8s %6s %9s %10s %6s %4s %8s %5s %6s %6s"

table_line <- function(name) {
  row <- rows[[name]]
  m <- read_result(name)
  size <- c(name, number(row$n_var, 8), row$n_obs)
  fields <- if (!is.null(m$error)) c("failed", rep("", 3)) else
    c(number(m$floor), number(m$seconds), number(m$seconds / m$floor),
      if (row$kind == "rate") paste(number(m$rate), "T") else
        number((if (row$kind == "network") m$edges else m$pairs * (1 + permutations_of(row))) / m$seconds / 1e6))
  aims <- c(row$published, if (is.na(row$must)) "" else number(row$must, 4), verdict(row, m))
  rest <- if (!is.null(m$error)) rep("", 4) else
    c(if (is.na(m$found$off)) "" else sprintf("%.1e", m$found$off), if (is.na(m$found$wrong)) "" else m$found$wrong,
      gigabytes(m$host), gigabytes(m$device))
  emit(do.call(sprintf, as.list(c(COLUMNS, size, fields, aims, rest))))
}

print_table <- function(names) {
  emit("")
  titles <- c("", "N", "n_obs", "floor", "ours", "ratio", "M/s", "published", "must", "met", "r off", "wrong", "host",
              "GPU")
  emit(do.call(sprintf, as.list(c(COLUMNS, titles))))
  for (name in names) tryCatch(table_line(name), error = function(e) emit(name, ": ", conditionMessage(e)))
  say("Times in seconds; M/s: millions of pairs, of every permutation (of a network: edges), a second, or 10^12 ",
      "operations a second (T), the measure of the rates' \"must\", too; memory at the peak in GB; wrong: of a ",
      "network, pairs, of tests, p values. Also published: dist-pearson by Fast-GPU-PCC 2.9 s on an H200, in float32 ",
      "only; that of dist-kendall is an average over 128 to 1,024 observations.")
  emit("")
  emit("What bounds it:")
  for (name in names) tryCatch(say(name, ": ", bound_of(read_result(name)), indent = 2), error = function(e) NULL)
}

# ---- processes

# Why a process failed: its last output.
failure <- function(status, log) {
  said <- tryCatch(readLines(log, warn = FALSE), error = function(e) character())
  said <- said[nzchar(trimws(said)) & !grepl("^(Calls:|Execution halted)", said)]
  paste0("status ", status, if (length(said)) paste0(": ", trimws(utils::tail(said, 1))))
}
