# GIFTI: XML with an array of values of a surface's vertices for each time point or map. It is treated as CIFTI with one
# brain model, of all vertices; header$cifti has no `map`.

is_gifti <- function(file) grepl("[.]gii([.]gz)?$", file, ignore.case = TRUE)

# Intents of arrays that have something else than values of vertices.
NO_VALUES <- c(POINTSET = "coordinates of a surface", TRIANGLE = "triangles of a surface",
               NODE_INDEX = "values of some vertices only")

GIFTI_TYPES <- data.frame(what = c("integer", "integer", "double", "double"), size = c(1L, 4L, 4L, 8L),
                          row.names = paste0("NIFTI_TYPE_", c("UINT8", "INT32", "FLOAT32", "FLOAT64")))

# ---- reading

# Returns vertices x arrays, with the names of the arrays and attribute "header".
read_gifti <- function(file) {
  shown <- paste0("'", file, "'")
  bytes <- read_whole(file)
  xml <- parse_xml(bytes, shown, "GIFTI")
  arrays <- xml2::xml_find_all(xml, "/GIFTI/DataArray")
  if (!length(arrays)) fail_file(shown, " has no data arrays of GIFTI")
  values <- lapply(arrays, gifti_array, shown)
  n <- unique(vapply(values, nrow, 0L))
  if (length(n) > 1L) fail_file(shown, " has arrays of ", format_range(n), " vertices")
  values <- do.call(cbind, values)
  structure <- trimws(xml2::xml_text(xml2::xml_find_first(xml, "//MD[Name='AnatomicalStructurePrimary']/Value")))
  structure <- toupper(gsub("([a-z])([A-Z])", "\\1_\\2", structure)) # CIFTI's name: CORTEX_LEFT for CortexLeft
  if (structure %in% c("", NA)) structure <- UNKNOWN_STRUCTURE
  attr(values, "header") <- list(cifti = surface_brain(n, structure))
  names <- xml2::xml_text(xml2::xml_find_first(arrays, "MetaData/MD[Name='Name']/Value"))
  if (!anyNA(names)) colnames(values) <- names
  values
}

surface_brain <- function(n, structure) {
  list(models = data.frame(structure = structure, kind = "surface", first = 1, count = n, vertices = n,
                           stringsAsFactors = FALSE),
       places = list(seq_len(n) - 1))
}

# Returns one array as a matrix: a row for each vertex.
gifti_array <- function(array, shown) {
  what <- NO_VALUES[sub("^NIFTI_INTENT_", "", xml2::xml_attr(array, "Intent"))]
  if (!is.na(what)) fail_file(shown, " has ", what, "; files of values (.func.gii, .shape.gii, .label.gii) are read")
  type <- GIFTI_TYPES[match(xml2::xml_attr(array, "DataType"), rownames(GIFTI_TYPES)), ]
  if (is.na(type$size)) {
    fail_file(shown, " has values of type ", xml2::xml_attr(array, "DataType"), ", which is not read")
  }
  n_dim <- xml_whole(array, "Dimensionality", shown, 1)
  if (n_dim > 2) fail_file(shown, " has an array of ", n_dim, " dimensions; those of 1 and 2 are read")
  size <- vapply(paste0("Dim", seq_len(n_dim) - 1L), xml_whole, 0, nodes = array, shown = shown, min = 1)
  endian <- gifti_choice(array, "Endian", c("LittleEndian", "BigEndian"), shown)
  order <- gifti_choice(array, "ArrayIndexingOrder", c("RowMajorOrder", "ColumnMajorOrder"), shown)
  values <- gifti_values(xml_content(array, "Data", shown), xml2::xml_attr(array, "Encoding"), type,
                         if (endian == "BigEndian") "big" else "little", prod(size), shown)
  if (length(values) != prod(size)) {
    fail_file(shown, " has an array of ", n_of(length(values), "value"), ", not ", show_size(size))
  }
  matrix(values, size[1L], byrow = order == "RowMajorOrder")
}

# Returns an attribute; the first choice if it is absent.
gifti_choice <- function(array, name, choices, shown) {
  choice <- xml2::xml_attr(array, name, default = choices[1L])
  if (!choice %in% choices) {
    fail_file(shown, " has ", name, " ", show_value(choice), ", which must be ", paste(choices, collapse = " or "))
  }
  choice
}

# n: the number of values that the dimensions say.
gifti_values <- function(text, encoding, type, endian, n, shown) {
  if (identical(encoding, "ASCII")) {
    values <- xml_numbers(text, shown)
    if (type$what != "integer") return(values)
    range <- if (type$size == 1L) c(0, 255) else c(-2^31, 2^31 - 1)
    wrong <- !is.finite(values) | values != floor(values) | values < range[1L] | values > range[2L]
    if (any(wrong)) fail_file(shown, " has the value ", values[wrong][1L], " in an array of integers")
    return(suppressWarnings(as.integer(values))) # -2^31 is NA in R
  }
  if (!encoding %in% c("Base64Binary", "GZipBase64Binary")) {
    fail_file(shown, " has values in encoding ", encoding, ", which is not read; wb_command -gifti-convert changes it")
  }
  bytes <- base64_bytes(text, shown)
  if (encoding == "GZipBase64Binary") bytes <- inflate(bytes, n * type$size, shown)
  if (length(bytes) %% type$size) fail_file(shown, " has a damaged array: its last value is cut off")
  readBin(bytes, type$what, length(bytes) %/% type$size, type$size, signed = type$size > 1L, endian = endian)
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
# where a stream is cut off.
inflate <- function(stream, n, shown) {
  header <- as.integer(stream[1:2])
  is_gzip <- identical(stream[1:2], GZIP[1:2])
  is_zlib <- isTRUE(header[1L] %% 16L == 8L && sum(header * c(256L, 1L)) %% 31L == 0L && bitwAnd(header[2L], 32L) == 0L)
  if ((!is_gzip && !is_zlib) || length(stream) < 8L || n > DEFLATE_RATIO * length(stream)) fail_array(shown)
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(if (is_zlib) c(GZIP, stream[-(1:2)]) else stream, file)
  if (is_zlib) return(read_deflated(file, n, utils::tail(stream, 4L), shown))
  with_stream(file, shown = shown, function(read) {
    bytes <- read(n)
    if (length(bytes) < n) fail_array(shown)
    read_to_end(read, file, n, n, shown)
    bytes
  })
}

fail_array <- function(shown) {
  fail_file(shown, " has a damaged array: its compressed data are not those of as many values as its dimensions say")
}

# gzfile() reads the data of zlib behind a header of gzip, and warns that gzip's checksum is absent; zlib's replaces it.
read_deflated <- function(file, n, checksum, shown) {
  connection <- gzfile(file, "rb")
  on.exit(close(connection))
  bytes <- tryCatch(suppressWarnings(readBin(connection, "raw", n + 1)), error = function(condition) raw())
  if (length(bytes) != n || !identical(adler_32(bytes), checksum)) fail_array(shown)
  bytes
}

# Returns zlib's checksum: the sum of all bytes and the sum of these sums.
adler_32 <- function(bytes) {
  a <- 1
  b <- 0
  for (piece in column_ranges(length(bytes), 1)) {
    values <- as.double(bytes[piece])
    b <- (b + length(piece) * a + sum(rev(seq_along(piece)) * values)) %% 65521
    a <- (a + sum(values)) %% 65521
  }
  as.raw(c(b %/% 256, b %% 256, a %/% 256, a %% 256))
}

# ---- writing

# Writes an array of floats for each column of `values`, which has a row for each vertex.
write_gifti <- function(file, cifti, values, names) {
  need_packages("xml2", "to write GIFTI")
  root <- xml2::xml_new_root("GIFTI", Version = "1.0", NumberOfDataArrays = as.character(ncol(values)))
  structure <- gsub("(^|_)([A-Z])([A-Z]*)", "\\2\\L\\3", cifti$models$structure, perl = TRUE)
  is_known <- cifti$models$structure != UNKNOWN_STRUCTURE
  add_metadata(root, if (is_known) c(AnatomicalStructurePrimary = structure))
  xml2::xml_add_child(root, "LabelTable")
  for (k in seq_len(ncol(values))) {
    array <- xml2::xml_add_child(
      root, "DataArray", Intent = "NIFTI_INTENT_NONE", DataType = "NIFTI_TYPE_FLOAT32",
      ArrayIndexingOrder = "RowMajorOrder", Dimensionality = "1", Dim0 = as.character(nrow(values)),
      Encoding = "GZipBase64Binary", Endian = "LittleEndian", ExternalFileName = "", ExternalFileOffset = "0"
    )
    add_metadata(array, c(Name = names[k]))
    bytes <- writeBin(values[, k], raw(), size = 4L, endian = "little")
    xml2::xml_add_child(array, "Data", base64_text(memCompress(bytes, "gzip")))
  }
  write_whole_file(file, function(partial) {
    xml2::write_xml(root, partial)
    end <- charToRaw("</GIFTI>\n") # libxml2 writes no more after an error
    if (!identical(read_end(partial, length(end)), end)) stop("it was not written to its end")
  })
}

add_metadata <- function(parent, values) {
  metadata <- xml2::xml_add_child(parent, "MetaData")
  for (name in names(values)) {
    pair <- xml2::xml_add_child(metadata, "MD")
    xml2::xml_add_child(pair, "Name", name)
    xml2::xml_add_child(pair, "Value", values[[name]])
  }
}
