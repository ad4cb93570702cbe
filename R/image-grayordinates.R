# CIFTI-2 is NIfTI-2 with an XML extension that describes its rows and columns. A dense series has a column for each
# grayordinate, a vertex or a voxel, which brain models identify; a parcellated series, for each parcel.

CIFTI_CODE <- 32L

# ---- reading

# Adds to what with_nifti() found, if the file is CIFTI: header$cifti, list(tr: seconds between rows, or NULL; models,
# places, volume, affine, map: see brain_models()); size, the numbers of rows (times, maps or parcels) and of columns
# (grayordinates or parcels); names, those of maps or of the rows' parcels, which headers do not have.
add_cifti <- function(found) {
  shown <- found$shown
  xml <- cifti_xml(found)
  if (is.null(xml)) {
    if (found$header$intent_code %in% 3000:3099) fail_file(shown, " has the intent of CIFTI, but no XML")
    return(found)
  }
  version <- xml2::xml_attr(xml, "Version")
  if (!version %in% c("2", "2.0")) {
    fail_file(shown, " has version ", version, " of CIFTI, not 2; convert it by wb_command -file-convert")
  }
  meaning_of <- function(dimension) { # of its indices
    for (map in xml2::xml_find_all(xml, "//MatrixIndicesMap")) {
      applies_to <- xml2::xml_attr(map, "AppliesToMatrixDimension", default = "")
      if (!dimension %in% xml_numbers(applies_to, shown)) next
      return(list(type = sub("^CIFTI_INDEX_TYPE_", "", xml2::xml_attr(map, "IndicesMapToDataType")), xml = map))
    }
    list(type = "nothing")
  }
  rows <- meaning_of(0)
  columns <- meaning_of(1)
  are_parcels <- columns$type %in% "PARCELS"
  is_read <- rows$type %in% c("SERIES", "SCALARS", "LABELS", if (are_parcels) "PARCELS")
  if (!is_read || (!are_parcels && !columns$type %in% "BRAIN_MODELS")) {
    fail_file(shown, " has ", tolower(rows$type), " x ", tolower(columns$type), "; series, scalars and labels of ",
              "grayordinates or parcels, and parcels x parcels are read")
  }
  is_series <- rows$type == "SERIES"
  tr <- if (is_series && identical(xml2::xml_attr(rows$xml, "SeriesUnit"), "SECOND")) {
    xml_number(rows$xml, "SeriesStep", shown) * 10^xml_number(rows$xml, "SeriesExponent", shown)
  }
  names <- if (rows$type == "PARCELS") {
    parcels_of_map(rows$xml)
  } else {
    xml2::xml_text(xml2::xml_find_first(xml2::xml_find_all(rows$xml, "NamedMap"), "MapName"))
  }
  n_row <- if (is_series) xml_number(rows$xml, "NumberOfSeriesPoints", shown) else length(names)
  models_of <- if (are_parcels) parcel_models else brain_models
  cifti <- c(list(tr = if (isTRUE(tr > 0) && is.finite(tr)) tr), models_of(columns$xml, shown))
  found$header$cifti <- c(cifti, xml_labels(rows$xml))
  size <- found$dim
  if (length(size) < 6L || any(size[-(5:6)] != 1)) {
    fail_file(shown, " has dimensions ", show_size(size), ", not 1 x 1 x 1 x 1 x rows x columns")
  }
  if (isTRUE(n_row > 0 && n_row != size[5L])) { # 0 or NA: the XML does not say it
    fail_file(shown, " has ", n_of(size[5L], "row"), ", but its XML says ", n_row)
  }
  if (size[6L] != sum(cifti$models$count)) {
    fail_file(shown, " has ", n_of(size[6L], "column"), ", but its XML says ", show_models(cifti))
  }
  found$size <- size[5:6]
  if (length(names) && !anyNA(names)) found$names <- names
  found
}

# Returns the XML of what with_nifti() found, or NULL. Each extension begins with its size and code; the four bytes
# before say if there are any.
cifti_xml <- function(found) {
  at <- 4
  for (k in seq_len(1000L)) { # no file has as many
    left <- length(found$extensions) - at
    if (left < 8) return(NULL)
    size_and_code <- readBin(found$extensions[at + 1:8], "integer", 2L, endian = found$header$endian)
    if (is.na(size_and_code[1L]) || size_and_code[1L] < 8L) return(NULL)
    if (identical(size_and_code[2L], CIFTI_CODE)) {
      text <- found$extensions[at + 8 + seq_len(min(size_and_code[1L], left) - 8)]
      return(parse_xml(text[text != 0], found$shown, "CIFTI"))
    }
    at <- at + size_and_code[1L]
  }
}

# Returns list(labels: a data frame of index and name) of the only label table, or NULL.
xml_labels <- function(xml) {
  tables <- xml2::xml_find_all(xml, ".//LabelTable")
  labels <- xml2::xml_find_all(tables, "Label")
  if (length(tables) != 1L || !length(labels)) return(NULL)
  list(labels = data.frame(index = xml2::xml_attr(labels, "Key"), name = trimws(xml2::xml_text(labels))))
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
  volume <- cifti_volume(map, shown)
  places <- Map(elements, models$kind, models$vertices, f = function(element, kind, vertices) {
    if (kind == "voxels") return(voxels_of(xml_content(element, "VoxelIndicesIJK", shown), volume, shown))
    vertices_of(xml_content(element, "VertexIndices", shown), vertices, shown)
  })
  is_whole <- all(models$first == cumsum(c(1, models$count))[seq_along(elements)]) &&
    all(vapply(places, NROW, 0L) == models$count)
  if (!is_whole) fail_file(shown, " has brain models that leave gaps or overlap")
  c(list(models = models, places = unname(places)), volume, list(map = as.character(map)))
}

# Returns list(volume: dimensions; affine: from indices to mm), or NULL if a map has no volume.
cifti_volume <- function(map, shown) {
  volume <- xml2::xml_find_first(map, "Volume")
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

# Returns the vertex numbers in a text, or rows of voxel indices, from 0, which are within their dimensions.
vertices_of <- function(text, n, shown) check_places(xml_numbers(text, shown), n, shown)
voxels_of <- function(text, volume, shown) {
  if (is.null(volume)) fail_file(shown, " has voxels, but no Volume")
  places <- xml_numbers(text, shown)
  if (length(places) %% 3L) fail_file(shown, " has ", length(places), " indices of voxels, not three for each")
  check_places(matrix(places, ncol = 3L, byrow = TRUE), rep(volume$volume, each = length(places) / 3), shown)
}
check_places <- function(places, sizes, shown) {
  wrong <- is.na(places) | places < 0 | places >= sizes | places != floor(places)
  if (any(wrong)) fail_file(shown, " has brain models with the index ", places[wrong][1L], ", which is outside")
  places
}

# Returns what brain_models() does: a parcel is a model of one element, whose place is the mean of its voxels, or NA if
# it has vertices.
parcel_models <- function(map, shown) {
  elements <- xml2::xml_find_all(map, "Parcel")
  names <- parcels_of_map(map)
  if (!length(names)) fail_file(shown, " has no parcels")
  if (anyNA(names)) fail_file(shown, " has a parcel without Name")
  surfaces <- xml2::xml_find_all(map, "Surface")
  sizes <- xml_whole(surfaces, "SurfaceNumberOfVertices", shown)
  names(sizes) <- xml2::xml_attr(surfaces, "BrainStructure")
  volume <- cifti_volume(map, shown)
  places <- lapply(elements, function(element) {
    vertices <- xml2::xml_find_all(element, "Vertices")
    for (own in vertices) {
      on <- xml2::xml_attr(own, "BrainStructure", default = "")
      if (!on %in% names(sizes)) fail_file(shown, " has a parcel with vertices of \"", on, "\", but no such Surface")
      vertices_of(xml2::xml_text(own), sizes[[on]], shown)
    }
    voxels <- lapply(xml2::xml_text(xml2::xml_find_all(element, "VoxelIndicesIJK")), voxels_of, volume, shown)
    if (length(vertices) || !sum(lengths(voxels))) NA_real_ else t(colMeans(do.call(rbind, voxels)))
  })
  models <- data.frame(structure = names, kind = "parcel", first = seq_along(names), count = 1, vertices = NA_real_,
                       stringsAsFactors = FALSE)
  c(list(models = models, places = places), volume, list(map = as.character(map)))
}

parcels_of_map <- function(map) trimws(xml2::xml_attr(xml2::xml_find_all(map, "Parcel"), "Name"))

# Returns the names of an image's parcels, or NULL if it has voxels or grayordinates.
image_parcels <- function(header) {
  models <- header$cifti$models
  if (identical(models$kind[1L], "parcel")) models$structure
}

# Returns "voxel", "grayordinate" or "parcel".
element_word <- function(header) {
  if (is.null(header$cifti)) "voxel" else if (is.null(image_parcels(header))) "grayordinate" else "parcel"
}

# The structure of a surface whose file does not name it.
UNKNOWN_STRUCTURE <- "OTHER"

show_models <- function(cifti) {
  word <- element_word(list(cifti = cifti))
  in_structures <- if (word != "parcel") paste(" in", n_of(nrow(cifti$models), "structure"))
  paste0(n_of(sum(cifti$models$count), word), in_structures)
}

# ---- writing

# Writes scalars, or values of pairs of parcels; `values`: one row per grayordinate or parcel and one column per name.
# `names`: NULL for values of pairs; `intent`: NIfTI's, see MAP_FORMATS.
write_cifti <- function(file, cifti, values, names, intent) {
  need_packages("xml2", "to write CIFTI")
  root <- xml2::xml_new_root("CIFTI", Version = "2")
  parent <- xml2::xml_add_child(root, "Matrix")
  if (!is.null(names)) {
    rows <- xml2::xml_add_child(parent, "MatrixIndicesMap", AppliesToMatrixDimension = "0",
                                IndicesMapToDataType = "CIFTI_INDEX_TYPE_SCALARS")
    for (name in names) xml2::xml_add_child(xml2::xml_add_child(rows, "NamedMap"), "MapName", name)
  }
  columns <- xml2::xml_add_child(parent, parse_xml(charToRaw(cifti$map), "'reference'", "CIFTI"))
  xml2::xml_set_attr(columns, "AppliesToMatrixDimension", if (is.null(names)) "0,1" else "1")
  xml <- charToRaw(enc2utf8(as.character(root)))

  size <- 16L * ceiling((8 + length(xml)) / 16)
  extensions <- c(as.raw(c(1, 0, 0, 0)), writeBin(as.integer(c(size, CIFTI_CODE)), raw(), endian = "little"), xml,
                  raw(size - 8 - length(xml)))
  header <- list(dim = c(6, 1, 1, 1, 1, ncol(values), nrow(values), 1), intent_code = intent$code,
                 intent_name = intent$name, datatype = 16L, pixdim = rep(1, 8), scl_slope = 1, xyzt_units = 10L)
  write_nifti(file, header, 2L, extensions, as.vector(t(values)))
}

# ---- GIFTI

# GIFTI is XML with an array of values of a surface's vertices for each time point or map. It is treated as CIFTI with
# one brain model, of all vertices; header$cifti has no `map`.

GIFTI_TYPES <- data.frame(what = c("integer", "integer", "double", "double"), size = c(1L, 4L, 4L, 8L),
                          row.names = paste0("NIFTI_TYPE_", c("UINT8", "INT32", "FLOAT32", "FLOAT64")))

# Returns vertices x arrays, with the names of the arrays and attribute "header".
read_gifti <- function(file) {
  shown <- paste0("'", file, "'")
  xml <- parse_xml(read_whole(file), shown, "GIFTI")
  arrays <- xml2::xml_find_all(xml, "/GIFTI/DataArray")
  if (!length(arrays)) fail_file(shown, " has no data arrays of GIFTI")
  values <- lapply(arrays, gifti_array, shown)
  n <- unique(vapply(values, nrow, 0L))
  if (length(n) > 1L) fail_file(shown, " has arrays of ", paste(vapply(range(n), format_count, ""), collapse = " to "),
                                " vertices")
  values <- do.call(cbind, values)
  structure <- trimws(xml2::xml_text(xml2::xml_find_first(xml, "//MD[Name='AnatomicalStructurePrimary']/Value")))
  structure <- toupper(gsub("([a-z])([A-Z])", "\\1_\\2", structure)) # CIFTI's name: CORTEX_LEFT for CortexLeft
  if (structure %in% c("", NA)) structure <- UNKNOWN_STRUCTURE
  models <- data.frame(structure, kind = "surface", first = 1, count = n, vertices = n, stringsAsFactors = FALSE)
  cifti <- c(list(models = models, places = list(seq_len(n) - 1)), xml_labels(xml))
  attr(values, "header") <- list(cifti = cifti)
  names <- xml2::xml_text(xml2::xml_find_first(arrays, "MetaData/MD[Name='Name']/Value"))
  if (!anyNA(names)) colnames(values) <- names
  values
}

# Returns one array as a matrix: a row for each vertex.
gifti_array <- function(array, shown) {
  what <- switch(sub("^NIFTI_INTENT_", "", xml2::xml_attr(array, "Intent")), POINTSET = "coordinates of a surface",
                 TRIANGLE = "triangles of a surface", NODE_INDEX = "values of some vertices only")
  if (!is.null(what)) fail_file(shown, " has ", what, "; files of values (.func.gii, .shape.gii, .label.gii) are read")
  type <- GIFTI_TYPES[match(xml2::xml_attr(array, "DataType"), rownames(GIFTI_TYPES)), ]
  if (is.na(type$size)) {
    fail_file(shown, " has values of type ", xml2::xml_attr(array, "DataType"), ", which is not read")
  }
  n_dim <- xml_whole(array, "Dimensionality", shown, 1)
  if (n_dim > 2) fail_file(shown, " has an array of ", n_dim, " dimensions; those of 1 and 2 are read")
  size <- vapply(paste0("Dim", seq_len(n_dim) - 1L), xml_whole, 0, nodes = array, shown = shown, min = 1)
  order <- xml_choice(array, "ArrayIndexingOrder", c("RowMajorOrder", "ColumnMajorOrder"), shown)
  endian <- xml_choice(array, "Endian", c("LittleEndian", "BigEndian"), shown)
  text <- xml_content(array, "Data", shown)
  encoding <- xml2::xml_attr(array, "Encoding")
  if (identical(encoding, "ASCII")) {
    values <- xml_numbers(text, shown)
    if (type$what == "integer") {
      range <- if (type$size == 1L) c(0, 255) else c(-2^31, 2^31 - 1)
      wrong <- !is.finite(values) | values != floor(values) | values < range[1L] | values > range[2L]
      if (any(wrong)) fail_file(shown, " has the value ", values[wrong][1L], " in an array of integers")
      values <- as.integer(replace(values, values == -2^31, NA)) # R has no such integer
    }
  } else if (encoding %in% c("Base64Binary", "GZipBase64Binary")) {
    bytes <- base64_bytes(text, shown)
    if (encoding == "GZipBase64Binary") bytes <- inflate(bytes, prod(size) * type$size, shown)
    if (length(bytes) %% type$size) fail_file(shown, " has a damaged array: its last value is cut off")
    values <- readBin(bytes, type$what, length(bytes) %/% type$size, type$size, signed = type$size > 1L,
                      endian = if (endian == "BigEndian") "big" else "little")
  } else {
    fail_file(shown, " has values in encoding ", encoding, ", which is not read; wb_command -gifti-convert changes it")
  }
  if (length(values) != prod(size)) {
    fail_file(shown, " has an array of ", n_of(length(values), "value"), ", not ", show_size(size))
  }
  matrix(values, size[1L], byrow = order == "RowMajorOrder")
}

# Writes an array of floats for each column of `values`, which has a row for each vertex.
write_gifti <- function(file, cifti, values, names) {
  need_packages("xml2", "to write GIFTI")
  root <- xml2::xml_new_root("GIFTI", Version = "1.0", NumberOfDataArrays = as.character(ncol(values)))
  add_metadata <- function(parent, name, value) {
    metadata <- xml2::xml_add_child(parent, "MetaData")
    if (is.null(value)) return(invisible())
    pair <- xml2::xml_add_child(metadata, "MD")
    xml2::xml_add_child(pair, "Name", name)
    xml2::xml_add_child(pair, "Value", value)
  }
  structure <- cifti$models$structure
  add_metadata(root, "AnatomicalStructurePrimary", if (structure != UNKNOWN_STRUCTURE) {
    gsub("(^|_)([A-Z])([A-Z]*)", "\\2\\L\\3", structure, perl = TRUE)
  })
  xml2::xml_add_child(root, "LabelTable")
  for (k in seq_len(ncol(values))) {
    array <- xml2::xml_add_child(
      root, "DataArray", Intent = "NIFTI_INTENT_NONE", DataType = "NIFTI_TYPE_FLOAT32",
      ArrayIndexingOrder = "RowMajorOrder", Dimensionality = "1", Dim0 = as.character(nrow(values)),
      Encoding = "GZipBase64Binary", Endian = "LittleEndian", ExternalFileName = "", ExternalFileOffset = "0"
    )
    add_metadata(array, "Name", names[k])
    bytes <- writeBin(values[, k], raw(), size = 4L, endian = "little")
    xml2::xml_add_child(array, "Data", base64_text(memCompress(bytes, "gzip")))
  }
  write_whole_file(file, function(partial) {
    xml2::write_xml(root, partial)
    end <- charToRaw("</GIFTI>\n") # libxml2 writes no more after an error
    if (!identical(read_end(partial, length(end)), end)) stop("it was not written to its end")
  })
}
