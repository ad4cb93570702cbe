# CIFTI-2 is NIfTI-2 with an XML extension that describes its rows and columns. A dense series has a column for each
# grayordinate, a vertex or a voxel, which brain models identify.

CIFTI_CODE <- 32L

# Codes of NIfTI's intent that only CIFTI has.
CIFTI_INTENTS <- 3000:3099

# Max number of extensions that are searched.
MAX_EXTENSIONS <- 1000L

# Returns the XML, or NULL. Each extension begins with its size and code; the four bytes before say if there are any.
cifti_xml <- function(extensions, endian, shown) {
  at <- 4
  for (k in seq_len(MAX_EXTENSIONS)) {
    if (length(extensions) < at + 8) return(NULL)
    size_and_code <- readBin(extensions[at + 1:8], "integer", 2L, endian = endian)
    if (is.na(size_and_code[1L]) || size_and_code[1L] < 8L) return(NULL)
    if (identical(size_and_code[2L], CIFTI_CODE)) {
      text <- extensions[at + 8 + seq_len(min(size_and_code[1L], length(extensions) - at) - 8)]
      return(parse_xml(text[text != 0], shown, "CIFTI"))
    }
    at <- at + size_and_code[1L]
  }
}

# ---- reading

# `found`: from with_nifti(). Returns list(tr: seconds between rows, or NULL; models, places, affine, map: see
# brain_models(); names: of the maps, which headers do not have), or NULL if the file is not CIFTI.
cifti_of <- function(found) {
  xml <- cifti_xml(found$extensions, found$header$endian, found$shown)
  if (is.null(xml)) {
    if (found$header$intent_code %in% CIFTI_INTENTS) fail_file(found$shown, " has the intent of CIFTI, but no XML")
    return(NULL)
  }
  version <- xml2::xml_attr(xml, "Version")
  if (!version %in% c("2", "2.0")) {
    fail_file(found$shown, " has version ", version, " of CIFTI, not 2; convert it by wb_command -file-convert")
  }
  maps <- xml2::xml_find_all(xml, "//MatrixIndicesMap")
  rows <- map_of(maps, 0, found$shown)
  columns <- map_of(maps, 1, found$shown)
  if (!columns$type %in% "BRAIN_MODELS" || !rows$type %in% c("SERIES", "SCALARS", "LABELS")) {
    fail_file(found$shown, " has ", tolower(rows$type), " x ", tolower(columns$type), "; dense series, dense scalars ",
              "and dense labels are read")
  }
  names <- xml2::xml_text(xml2::xml_find_first(xml2::xml_find_all(rows$xml, "NamedMap"), "MapName"))
  n_row <- if (rows$type == "SERIES") xml_number(rows$xml, "NumberOfSeriesPoints", found$shown) else length(names)
  if (isTRUE(n_row > 0 && n_row != header_dim(found$header)[5L])) {
    fail_file(found$shown, " has ", n_of(header_dim(found$header)[5L], "row"), ", but its XML says ", n_row)
  }
  c(list(tr = if (rows$type == "SERIES") series_step(rows$xml, found$shown)), brain_models(columns$xml, found$shown),
    if (length(names) && !anyNA(names)) list(names = names))
}

# Returns the meaning of a dimension's indices: list(type, xml).
map_of <- function(maps, dimension, shown) {
  for (map in maps) {
    applies_to <- xml2::xml_attr(map, "AppliesToMatrixDimension", default = "")
    if (!dimension %in% xml_numbers(applies_to, shown)) next
    return(list(type = sub("^CIFTI_INDEX_TYPE_", "", xml2::xml_attr(map, "IndicesMapToDataType")), xml = map))
  }
  list(type = "nothing")
}

series_step <- function(map, shown) {
  if (!identical(xml2::xml_attr(map, "SeriesUnit"), "SECOND")) return(NULL)
  step <- xml_number(map, "SeriesStep", shown) * 10^xml_number(map, "SeriesExponent", shown)
  if (isTRUE(step > 0) && is.finite(step)) step
}

# Returns list(models: one row per model, with its grayordinates (first, count) and, for surfaces, the mesh's number of
# vertices; places: for each model vertex numbers, or rows of voxel indices, from 0; volume: dimensions; affine: from
# these indices to mm; map: the XML as text).
brain_models <- function(map, shown) {
  elements <- xml2::xml_find_all(map, "BrainModel")
  if (!length(elements)) fail_file(shown, " has no brain models")
  elements <- elements[order(xml_whole(elements, "IndexOffset", shown))]
  type <- sub("^CIFTI_MODEL_TYPE_", "", xml2::xml_attr(elements, "ModelType"))
  if (!all(type %in% c("SURFACE", "VOXELS"))) fail_file(shown, " has brain models of types ", toString(unique(type)))
  vertices <- rep(NA_real_, length(elements))
  vertices[type == "SURFACE"] <- xml_whole(elements[type == "SURFACE"], "SurfaceNumberOfVertices", shown)
  models <- data.frame(structure = sub("^CIFTI_STRUCTURE_", "", xml2::xml_attr(elements, "BrainStructure")),
                       kind = ifelse(type == "SURFACE", "surface", "voxels"),
                       first = xml_whole(elements, "IndexOffset", shown) + 1,
                       count = xml_whole(elements, "IndexCount", shown), vertices = vertices, stringsAsFactors = FALSE)
  volume <- cifti_volume(xml2::xml_find_first(map, "Volume"), shown)
  if (is.null(volume) && any(models$kind == "voxels")) fail_file(shown, " has voxels, but no Volume")
  places <- Map(model_places, elements, models$kind, models$vertices, list(volume$volume), shown)
  is_whole <- all(models$first == cumsum(c(1, models$count))[seq_along(elements)]) &&
    all(vapply(places, NROW, 0L) == models$count)
  if (!is_whole) fail_file(shown, " has brain models that leave gaps or overlap")
  c(list(models = models, places = unname(places)), volume, list(map = as.character(map)))
}

# Returns the indices of a model, after checking them against the sizes of their dimensions.
model_places <- function(element, kind, vertices, volume, shown) {
  is_surface <- kind == "surface"
  places <- xml_numbers(xml_content(element, if (is_surface) "VertexIndices" else "VoxelIndicesIJK", shown), shown)
  sizes <- vertices
  if (!is_surface) {
    if (length(places) %% 3L) fail_file(shown, " has ", length(places), " indices of voxels, not three for each")
    places <- matrix(places, ncol = 3L, byrow = TRUE)
    sizes <- rep(volume, each = nrow(places))
  }
  wrong <- is.na(places) | places < 0 | places >= sizes | places != floor(places)
  if (any(wrong)) fail_file(shown, " has brain models with the index ", places[wrong][1L], ", which is outside")
  places
}

cifti_volume <- function(volume, shown) {
  if (is.na(volume)) return(NULL)
  size <- xml_numbers(xml2::xml_attr(volume, "VolumeDimensions", default = ""), shown)
  name <- "TransformationMatrixVoxelIndicesIJKtoXYZ"
  affine <- xml_numbers(xml_content(volume, name, shown), shown)
  scale <- 10^(xml_number(xml2::xml_find_first(volume, name), "MeterExponent", shown) + 3) # to mm
  if (length(size) != 3L || length(affine) != 16L || !all(is.finite(c(size, affine * scale)))) {
    fail_file(shown, " has a damaged Volume: its dimensions are ", toString(size), ", its matrix has ",
              n_of(length(affine), "number"))
  }
  affine <- matrix(affine, 4L, byrow = TRUE)
  affine[1:3, ] <- affine[1:3, ] * scale
  list(volume = size, affine = affine)
}

# Returns the numbers of rows (times or maps) and of columns (grayordinates).
cifti_size <- function(header, cifti, shown) {
  size <- header_dim(header)
  if (length(size) < 6L || any(size[-(5:6)] != 1)) {
    fail_file(shown, " has dimensions ", show_size(size), ", not 1 x 1 x 1 x 1 x rows x columns")
  }
  if (size[6L] != grayordinates(cifti)) {
    fail_file(shown, " has ", n_of(size[6L], "column"), ", but brain models of ", show_models(cifti))
  }
  size[5:6]
}

grayordinates <- function(cifti) sum(cifti$models$count)

# Returns one row per grayordinate, NA on surfaces.
cifti_coords <- function(cifti) {
  mm <- lapply(cifti$places, function(place) {
    if (is.matrix(place)) cbind(place, 1) %*% t(cifti$affine[1:3, ]) else matrix(NA_real_, length(place), 3L)
  })
  mm <- do.call(rbind, mm)
  colnames(mm) <- c("x", "y", "z")
  mm
}

# The structure of a surface whose file does not name it.
UNKNOWN_STRUCTURE <- "OTHER"

check_same_brain <- function(cifti, reference, what, other) {
  same <- c("models", "places")
  unknown <- cifti$models$structure == UNKNOWN_STRUCTURE | reference$models$structure == UNKNOWN_STRUCTURE
  if (length(unknown) == nrow(cifti$models)) cifti$models$structure[unknown] <- reference$models$structure[unknown]
  if (identical(cifti[same], reference[same])) return(invisible())
  fail("'", what, "' and '", other, "' have other brain models (", show_models(cifti), "; ", show_models(reference),
       "); wb_command -cifti-create-dense-from-template brings them to the same grayordinates")
}

show_models <- function(cifti) {
  paste0(n_of(grayordinates(cifti), "grayordinate"), " in ", n_of(nrow(cifti$models), "structure"))
}

# ---- writing

# Writes dense scalars; `values`: one row per grayordinate and one column per name.
write_cifti <- function(file, cifti, values, names) {
  need_packages("xml2", "to write CIFTI")
  root <- xml2::xml_new_root("CIFTI", Version = "2")
  parent <- xml2::xml_add_child(root, "Matrix")
  rows <- xml2::xml_add_child(parent, "MatrixIndicesMap", AppliesToMatrixDimension = "0",
                              IndicesMapToDataType = "CIFTI_INDEX_TYPE_SCALARS")
  for (name in names) xml2::xml_add_child(xml2::xml_add_child(rows, "NamedMap"), "MapName", name)
  columns <- xml2::xml_add_child(parent, parse_xml(charToRaw(cifti$map), "'reference'", "CIFTI"))
  xml2::xml_set_attr(columns, "AppliesToMatrixDimension", "1")
  xml <- charToRaw(enc2utf8(as.character(root)))

  size <- 16L * ceiling((8 + length(xml)) / 16)
  extensions <- c(as.raw(c(1, 0, 0, 0)), writeBin(as.integer(c(size, CIFTI_CODE)), raw(), endian = "little"), xml,
                  raw(size - 8 - length(xml)))
  header <- list(dim = c(6, 1, 1, 1, 1, ncol(values), nrow(values), 1), intent_code = 3006L,
                 intent_name = "ConnDenseScalar", datatype = 16L, pixdim = rep(1, 8), scl_slope = 1, xyzt_units = 10L)
  write_nifti(file, header, 2L, extensions, as.vector(t(values)))
}

# ---- XML of CIFTI and GIFTI, from files that may be damaged or hostile

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
