# Numbers, sizes and times as messages show them.

# Returns "1 edge" or "2 edges".
n_of <- function(n, thing) {
  if (is.na(n)) paste0("an unknown number of ", thing, "s") else paste0(format_count(n), " ", thing, if (n != 1) "s")
}

format_count <- function(n) format(n, big.mark = ",", scientific = FALSE)

# Returns "12 kB" or "1.5 GB".
format_bytes <- function(bytes) {
  unit <- max(1, min(4, floor(log(max(bytes, 1), 1000))))
  paste(format(signif(bytes / 1000^unit, 3), big.mark = ",", scientific = FALSE), c("kB", "MB", "GB", "TB")[unit])
}

show_seconds <- function(seconds) {
  if (seconds < 120) return(paste(format(max(seconds, 0.01), digits = 2), "s"))
  if (seconds < 7200) return(paste(round(seconds / 60), "min"))
  paste(format(seconds / 3600, digits = 3), "h")
}

# Shortens names in the middle: they differ at their ends, and long names would wrap the printed matrix. A missing name
# becomes "<NA>".
shorten <- function(text, width) {
  text <- printable(text)
  text[is.na(text)] <- "<NA>"
  n <- nchar(text)
  long <- n > width
  tail <- (width - 3L) %/% 2L
  text[long] <- paste0(substr(text[long], 1L, width - 3L - tail), "...", substring(text[long], n[long] - tail + 1L))
  text
}

# Works like shorten() with a width at which different names stay different.
distinct_names <- function(names, width) {
  while (width < max(nchar(names), 0) && anyDuplicated(shorten(unique(names), width))) width <- width + 2L
  shorten(names, width)
}

# Returns "12 edges" or "3 to 12 edges".
range_of <- function(counts, thing) {
  counts <- counts[!is.na(counts)]
  if (!length(counts)) return(paste0("no ", thing, "s"))
  ends <- vapply(unique(range(counts)), format_count, "")
  paste0(paste(ends, collapse = " to "), " ", thing, if (!all(counts == 1)) "s")
}

# Returns "'a', 'b' and 'c'", where `last` is "and".
listed <- function(names, last, quote = "'") {
  sub("(.*), ", paste0("\\1 ", last, " "), toString(paste0(quote, names, quote)))
}

# Returns "3 x 4".
show_size <- function(size) paste(size, collapse = " x ")

# Returns integers as ranges: "1-4, 7, 9-12".
show_numbers <- function(numbers, max = 10L) {
  range <- function(g) if (length(g) > 1L) paste0(g[1L], "-", g[length(g)]) else paste(g)
  ranges <- vapply(split(numbers, cumsum(c(TRUE, diff(numbers) != 1))), range, "")
  paste0(paste(utils::head(ranges, max), collapse = ", "), if (length(ranges) > max) ", ...")
}
