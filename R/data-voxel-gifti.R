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
  if (!file.exists(file) || dir.exists(file)) fail_file("there is no file ", shown)
  need_packages("xml2", "to read GIFTI")
  xml <- tryCatch(xml2::read_xml(file, options = c("NOBLANKS", "HUGE")), error = function(condition) {
    fail_file(shown, " has broken XML: ", conditionMessage(condition))
  })
  arrays <- xml2::xml_find_all(xml, "/GIFTI/DataArray")
  if (!length(arrays)) fail_file(shown, " has no data arrays of GIFTI")
  values <- lapply(arrays, gifti_array, shown)
  n <- unique(vapply(values, nrow, 0L))
  if (length(n) > 1L) fail_file(shown, " has arrays of ", format_range(n), " vertices")
  values <- do.call(cbind, values)
  structure_name <- xml2::xml_find_first(xml, "//MD[Name='AnatomicalStructurePrimary']/Value")
  attr(values, "header") <- list(cifti = surface_brain(n, cifti_structure(xml2::xml_text(structure_name))))
  names <- xml2::xml_text(xml2::xml_find_first(arrays, "MetaData/MD[Name='Name']/Value"))
  if (!anyNA(names)) colnames(values) <- names
  values
}

# Returns CIFTI's name of a structure, as "CORTEX_LEFT" for "CortexLeft".
cifti_structure <- function(name) {
  name <- trimws(name)
  if (is.na(name) || !nzchar(name)) UNKNOWN_STRUCTURE else toupper(gsub("([a-z])([A-Z])", "\\1_\\2", name))
}

surface_brain <- function(n, structure) {
  list(models = data.frame(structure = structure, kind = "surface", first = 1, count = n, vertices = n,
                           stringsAsFactors = FALSE),
       places = list(seq_len(n) - 1))
}

# Returns one array as a matrix: a row for each vertex.
gifti_array <- function(array, shown) {
  attribute <- function(name) xml2::xml_attr(array, name)
  what <- NO_VALUES[sub("^NIFTI_INTENT_", "", attribute("Intent"))]
  if (!is.na(what)) fail_file(shown, " has ", what, "; files of values (.func.gii, .shape.gii, .label.gii) are read")
  type <- GIFTI_TYPES[attribute("DataType"), ]
  if (is.na(type$size)) fail_file(shown, " has values of type ", attribute("DataType"), ", which is not read")
  size <- vapply(paste0("Dim", seq_len(xml_number(array, "Dimensionality")) - 1L), xml_number, 0, node = array)
  values <- gifti_values(xml2::xml_text(xml2::xml_find_first(array, "Data")), attribute("Encoding"), type,
                         if (identical(attribute("Endian"), "BigEndian")) "big" else "little", shown)
  if (length(size) > 2L || length(values) != prod(size)) {
    fail_file(shown, " has an array of ", n_of(length(values), "value"), ", not ", show_size(size))
  }
  matrix(values, size[1L], byrow = !identical(attribute("ArrayIndexingOrder"), "ColumnMajorOrder"))
}

gifti_values <- function(text, encoding, type, endian, shown) {
  if (identical(encoding, "ASCII")) {
    values <- suppressWarnings(xml_numbers(text))
    return(if (type$what == "integer") as.integer(values) else values)
  }
  if (!encoding %in% c("Base64Binary", "GZipBase64Binary")) {
    fail_file(shown, " has values in encoding ", encoding, ", which is not read; wb_command -gifti-convert changes it")
  }
  bytes <- base64_bytes(text)
  if (encoding == "GZipBase64Binary") {
    bytes <- tryCatch(memDecompress(bytes, "gzip"), error = function(condition) {
      fail_file(shown, " has a damaged array: ", conditionMessage(condition))
    })
  }
  readBin(bytes, type$what, length(bytes) %/% type$size, type$size, signed = type$size > 1L, endian = endian)
}

# ---- base 64

BASE64 <- c(LETTERS, letters, 0:9, "+", "/")

# The number of each character by its code; NA for line breaks and padding.
BASE64_NUMBERS <- match(rawToChar(as.raw(1:127), multiple = TRUE), BASE64) - 1L

base64_bytes <- function(text) {
  number <- BASE64_NUMBERS[as.integer(charToRaw(text))]
  number <- number[!is.na(number)]
  word <- matrix(c(number, integer(-length(number) %% 4L)), 4L)
  bytes <- rbind(word[1L, ] * 4L + word[2L, ] %/% 16L, word[2L, ] %% 16L * 16L + word[3L, ] %/% 4L,
                 word[3L, ] %% 4L * 64L + word[4L, ])
  as.raw(bytes)[seq_len((3 * length(number)) %/% 4)]
}

base64_text <- function(bytes) {
  missing <- -length(bytes) %% 3L
  word <- matrix(c(as.integer(bytes), integer(missing)), 3L)
  number <- rbind(word[1L, ] %/% 4L, word[1L, ] %% 4L * 16L + word[2L, ] %/% 16L,
                  word[2L, ] %% 16L * 4L + word[3L, ] %/% 64L, word[3L, ] %% 64L)
  text <- BASE64[number + 1L]
  paste(c(text[seq_len(length(text) - missing)], rep("=", missing)), collapse = "")
}

# ---- writing

# Writes an array of floats for each column of `values`, which has a row for each vertex.
write_gifti <- function(file, cifti, values, names) {
  need_packages("xml2", "to write GIFTI")
  root <- xml2::xml_new_root("GIFTI", Version = "1.0", NumberOfDataArrays = as.character(ncol(values)))
  structure <- cifti$models$structure
  add_metadata(root, if (structure != UNKNOWN_STRUCTURE) c(AnatomicalStructurePrimary = gifti_structure(structure)))
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

gifti_structure <- function(structure) {
  gsub("(^|_)([A-Z])([A-Z]*)", "\\2\\L\\3", structure, perl = TRUE)
}

add_metadata <- function(parent, values) {
  metadata <- xml2::xml_add_child(parent, "MetaData")
  for (name in names(values)) {
    pair <- xml2::xml_add_child(metadata, "MD")
    xml2::xml_add_child(pair, "Name", name)
    xml2::xml_add_child(pair, "Value", values[[name]])
  }
}
