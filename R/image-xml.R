# XML of CIFTI and GIFTI, from files that may be damaged or hostile, and the encodings of bytes in it.

# Parses bytes: given a string, read_xml() would take a name such as "<a>.gii" for XML. libxml2's limits against hostile
# files stay in force, except that of 10 MB for a text, which arrays and lists of voxels may exceed: without long runs
# of numbers or base 64, which cannot contain markup, the elements must be within the limits.
parse_xml <- function(bytes, shown, what) {
  force(bytes) # a file that is none is said first
  need_packages("xml2", paste("to read", what))
  parse <- function(bytes, ...) xml2::read_xml(bytes, options = c("NOBLANKS", ...))
  has_no_entities <- function() { # in an encoding that extends ASCII
    has <- function(piece) length(grepRaw(piece, bytes, fixed = TRUE)) > 0L
    if (has("<!ENTITY") || has(as.raw(0))) return(FALSE)
    start <- rawToChar(utils::head(bytes, 1000L))
    declaration <- regmatches(start, regexpr("^[^<]{0,3}<[^>]*>", start, useBytes = TRUE))
    if (!length(declaration)) return(FALSE)
    encoding <- sub(".*encoding\\s*=\\s*[\"']([^\"']*).*", "\\1", declaration, useBytes = TRUE)
    encoding == declaration || toupper(encoding) %in% c("UTF-8", "US-ASCII", "ASCII", "ISO-8859-1")
  }
  tryCatch({
    if (length(bytes) <= 1e7 || !has_no_entities()) return(parse(bytes))
    runs <- "[A-Za-z0-9+/=.,\\s][A-Za-z0-9+/=.,\\s-]{99,}(?<!-)"
    parse(charToRaw(gsub(runs, " ", rawToChar(bytes), perl = TRUE, useBytes = TRUE)))
    parse(bytes, "HUGE")
  }, error = function(condition) fail_file(shown, " has broken XML: ", trimws(conditionMessage(condition))))
}

# ---- elements and attributes

# Returns the text of an element, which must exist.
xml_content <- function(node, name, shown) {
  text <- xml2::xml_text(xml2::xml_find_first(node, name))
  if (is.na(text)) fail_file(shown, " has an element ", xml2::xml_name(node), " without ", name)
  text
}

# Returns an attribute; the first choice if it is absent.
xml_choice <- function(node, name, choices, shown) {
  choice <- xml2::xml_attr(node, name, default = choices[1L])
  if (choice %in% choices) return(choice)
  fail_file(shown, " has ", name, " ", show_value(choice), ", which must be ", paste(choices, collapse = " or "))
}

# Returns an attribute of each node, which must be an integer of at least `min`.
xml_whole <- function(nodes, name, shown, min = 0) {
  text <- trimws(xml2::xml_attr(nodes, name))
  value <- as.numeric(ifelse(grepl("^[0-9]+$", text), text, NA))
  wrong <- which(is.na(value) | value < min | value > .Machine$integer.max)
  if (!length(wrong)) return(value)
  fail_file(shown, " has ", name, " ", show_value(text[wrong[1L]]), ", which must be an integer of at least ", min)
}

# Returns an attribute as a number, or NA if it is absent.
xml_number <- function(node, name, shown) {
  text <- xml2::xml_attr(node, name)
  numbers <- if (is.na(text)) NA_real_ else xml_numbers(text, shown)
  if (length(numbers) != 1L) fail_file(shown, " has ", name, " ", show_value(text), ", which must be a number")
  numbers
}

# Returns the numbers in a text, separated by space or commas; anything else is an error.
xml_numbers <- function(text, shown) {
  number <- "^[-+]?(([0-9]+[.]?[0-9]*|[.][0-9]+)(e[-+]?[0-9]*)?|nan|inf|infinity)$"
  words <- strsplit(trimws(text), "[[:space:],]+")[[1L]]
  wrong <- which(!grepl(number, words, ignore.case = TRUE, perl = TRUE))
  if (length(wrong)) fail_file(shown, " has ", show_value(words[wrong[1L]]), " where numbers are expected")
  as.numeric(words)
}

# ---- base 64

BASE64 <- c(LETTERS, letters, 0:9, "+", "/")

# The number of each character by its code.
BASE64_NUMBERS <- match(rawToChar(as.raw(1:127), multiple = TRUE), BASE64) - 1L

base64_bytes <- function(text, shown) {
  text <- gsub("[ \t\r\n]+", "", text)
  if (nchar(text, "bytes") %% 4L != 0L || !grepl("^[A-Za-z0-9+/]*={0,2}$", text)) {
    fail_file(shown, " has a damaged array: its values are not in base 64")
  }
  codes <- charToRaw(sub("=+$", "", text))
  pieces <- lapply(column_ranges(length(codes), 4), function(piece) { # all but the last are a multiple of four
    number <- BASE64_NUMBERS[as.integer(codes[piece])]
    word <- matrix(c(number, integer(-length(number) %% 4L)), 4L)
    bytes <- rbind(word[1L, ] * 4L + word[2L, ] %/% 16L, word[2L, ] %% 16L * 16L + word[3L, ] %/% 4L,
                   word[3L, ] %% 4L * 64L + word[4L, ])
    as.raw(bytes)[seq_len((3 * length(number)) %/% 4)]
  })
  if (length(pieces)) do.call(c, pieces) else raw()
}

base64_text <- function(bytes) {
  missing <- -length(bytes) %% 3L
  word <- matrix(c(as.integer(bytes), integer(missing)), 3L)
  number <- rbind(word[1L, ] %/% 4L, word[1L, ] %% 4L * 16L + word[2L, ] %/% 16L,
                  word[2L, ] %% 16L * 4L + word[3L, ] %/% 64L, word[3L, ] %% 64L)
  text <- BASE64[number + 1L]
  paste(c(text[seq_len(length(text) - missing)], rep("=", missing)), collapse = "")
}

# ---- compressed arrays

# Returns the n bytes to which a stream of zlib or gzip decompresses. memDecompress() has no limit, and in R 4.2 no end
# where a stream is cut off. gzfile() reads the data of zlib behind a header of gzip, and warns that gzip's checksum is
# absent; zlib's replaces it.
inflate <- function(stream, n, shown) {
  damaged <- function() {
    fail_file(shown, " has a damaged array: its compressed data are not those of as many values as its dimensions say")
  }
  header <- as.integer(stream[1:2])
  is_gzip <- identical(stream[1:2], GZIP[1:2])
  is_zlib <- isTRUE(header[1L] %% 16L == 8L && sum(header * c(256L, 1L)) %% 31L == 0L && bitwAnd(header[2L], 32L) == 0L)
  if ((!is_gzip && !is_zlib) || length(stream) < 8L || n > DEFLATE_RATIO * length(stream)) damaged()
  file <- tempfile()
  on.exit(unlink(file, expand = FALSE))
  writeBin(if (is_zlib) c(GZIP, stream[-(1:2)]) else stream, file)
  if (is_gzip) {
    return(with_stream(file, shown = shown, function(read) {
      bytes <- read(n)
      if (length(bytes) < n) damaged()
      read_to_end(read, file, n, n, shown)
      bytes
    }))
  }
  connection <- gzfile(file, "rb")
  on.exit(close(connection), add = TRUE, after = FALSE)
  bytes <- tryCatch(suppressWarnings(readBin(connection, "raw", n + 1)), error = function(condition) raw())
  if (length(bytes) != n) damaged()
  # zlib's checksum: the sum of all bytes and the sum of these sums.
  a <- 1
  b <- 0
  for (piece in column_ranges(length(bytes), 1)) {
    values <- as.double(bytes[piece])
    b <- (b + length(piece) * a + sum(rev(seq_along(piece)) * values)) %% 65521
    a <- (a + sum(values)) %% 65521
  }
  if (!identical(as.raw(c(b %/% 256, b %% 256, a %/% 256, a %% 256)), utils::tail(stream, 4L))) damaged()
  bytes
}
