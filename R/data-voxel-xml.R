# XML of CIFTI and GIFTI, from files that may be damaged or hostile.

# Bytes of a text up to which libxml2's limits do not matter.
SMALL_XML <- 1e7

# Parses bytes: given a string, read_xml() would take a name such as "<a>.gii" for XML. libxml2's limits against hostile
# files stay in force, except that of 10 MB for a text, which arrays and lists of voxels may exceed.
parse_xml <- function(bytes, shown, what) {
  need_packages("xml2", paste("to read", what))
  parse <- function(bytes, ...) xml2::read_xml(bytes, options = c("NOBLANKS", ...))
  is_huge <- length(bytes) > SMALL_XML && declares_nothing(bytes)
  tryCatch({
    if (is_huge) parse(without_long_text(bytes)) # the same elements, within the limits
    parse(bytes, if (is_huge) "HUGE")
  }, error = function(condition) fail_file(shown, " has broken XML: ", trimws(conditionMessage(condition))))
}

# Returns TRUE if the bytes of XML, in an encoding that extends ASCII, declare no entities.
declares_nothing <- function(bytes) {
  if (length(grepRaw("<!ENTITY", bytes, fixed = TRUE)) || length(grepRaw(as.raw(0), bytes, fixed = TRUE))) return(FALSE)
  start <- rawToChar(utils::head(bytes, 1000L))
  declaration <- regmatches(start, regexpr("^[^<]{0,3}<[^>]*>", start, useBytes = TRUE))
  if (!length(declaration)) return(FALSE)
  encoding <- sub(".*encoding\\s*=\\s*[\"']([^\"']*).*", "\\1", declaration, useBytes = TRUE)
  encoding == declaration || toupper(encoding) %in% c("UTF-8", "US-ASCII", "ASCII", "ISO-8859-1")
}

# Replaces long runs of numbers or base 64, which cannot contain markup, by a space.
without_long_text <- function(bytes) {
  runs <- "[A-Za-z0-9+/=.,\\s][A-Za-z0-9+/=.,\\s-]{99,}(?<!-)"
  charToRaw(gsub(runs, " ", rawToChar(bytes), perl = TRUE, useBytes = TRUE))
}

# Returns the text of an element, which must exist.
xml_content <- function(node, name, shown) {
  text <- xml2::xml_text(xml2::xml_find_first(node, name))
  if (is.na(text)) fail_file(shown, " has an element ", xml2::xml_name(node), " without ", name)
  text
}

# Returns an attribute of each node, which must be an integer of at least `min`.
xml_whole <- function(nodes, name, shown, min = 0) {
  text <- trimws(xml2::xml_attr(nodes, name))
  value <- ifelse(grepl("^[0-9]+$", text), suppressWarnings(as.numeric(text)), NA)
  wrong <- which(is.na(value) | value < min | value > .Machine$integer.max)
  if (length(wrong)) {
    fail_file(shown, " has ", name, " ", show_value(text[wrong[1L]]), ", which must be an integer of at least ", min)
  }
  value
}

# Returns an attribute as a number, or NA if it is absent.
xml_number <- function(node, name, shown) {
  text <- xml2::xml_attr(node, name)
  if (is.na(text)) return(NA_real_)
  numbers <- xml_numbers(text, shown)
  if (length(numbers) != 1L) fail_file(shown, " has ", name, " ", show_value(text), ", which must be a number")
  numbers
}

# Returns the numbers in a text, separated by space or commas; anything else is an error.
xml_numbers <- function(text, shown) {
  words <- strsplit(trimws(text), "[[:space:],]+")[[1L]]
  numbers <- suppressWarnings(as.numeric(words))
  wrong <- is.na(numbers) & !is.nan(numbers)
  if (grepl("[^-+.,0-9eE[:space:]]", text)) {
    wrong <- wrong | !grepl("^[-+]?([0-9.]+([eE][-+]?[0-9]+)?|nan|inf|infinity)$", words, ignore.case = TRUE)
  }
  if (any(wrong)) fail_file(shown, " has ", show_value(words[wrong][1L]), " where numbers are expected")
  numbers
}
