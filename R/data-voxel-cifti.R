# CIFTI-2 is NIfTI-2 with an XML extension that describes its rows and columns. A dense series has a column for each
# grayordinate, a vertex or a voxel, which brain models identify.

CIFTI_CODE <- 32L

# Returns the XML, or NULL. Each extension begins with its size and code; the four bytes before say if there are any.
cifti_xml <- function(extensions, endian, shown) {
  at <- 4L
  while (length(extensions) >= at + 8L) {
    size_and_code <- readBin(extensions[at + 1:8], "integer", 2L, endian = endian)
    if (size_and_code[1L] < 8L) return(NULL)
    if (size_and_code[2L] == CIFTI_CODE) {
      text <- extensions[at + 8L + seq_len(min(size_and_code[1L], length(extensions) - at) - 8L)]
      need_packages("xml2", "to read CIFTI")
      return(tryCatch(xml2::read_xml(text[text != 0], options = c("NOBLANKS", "HUGE")), error = function(condition) {
        fail_file(shown, " has broken XML: ", conditionMessage(condition))
      }))
    }
    at <- at + size_and_code[1L]
  }
}

xml_number <- function(node, name) suppressWarnings(as.numeric(xml2::xml_attr(node, name)))

xml_numbers <- function(text) as.numeric(strsplit(trimws(text), "[[:space:],]+")[[1L]])

# ---- reading

# `found`: from with_nifti(). Returns list(tr: seconds between rows, or NULL; models, places, affine, map: see
# brain_models(); names: of the maps, which headers do not have), or NULL if the file is not CIFTI.
cifti_of <- function(found) {
  xml <- cifti_xml(found$extensions, found$header$endian, found$shown)
  if (is.null(xml)) return(NULL)
  version <- xml2::xml_attr(xml, "Version")
  if (!version %in% c("2", "2.0")) {
    fail_file(found$shown, " has version ", version, " of CIFTI, not 2; convert it by wb_command -file-convert")
  }
  maps <- xml2::xml_find_all(xml, "//MatrixIndicesMap")
  rows <- map_of(maps, 0)
  columns <- map_of(maps, 1)
  if (columns$type != "BRAIN_MODELS" || !rows$type %in% c("SERIES", "SCALARS", "LABELS")) {
    fail_file(found$shown, " has ", tolower(rows$type), " x ", tolower(columns$type), "; dense series, dense scalars ",
              "and dense labels are read")
  }
  names <- xml2::xml_text(xml2::xml_find_first(xml2::xml_find_all(rows$xml, "NamedMap"), "MapName"))
  c(list(tr = if (rows$type == "SERIES") series_step(rows$xml)), brain_models(columns$xml, found$shown),
    if (length(names) && !anyNA(names)) list(names = names))
}

# Returns the meaning of a dimension's indices: list(type, xml).
map_of <- function(maps, dimension) {
  for (map in maps) {
    if (!dimension %in% xml_numbers(xml2::xml_attr(map, "AppliesToMatrixDimension"))) next
    return(list(type = sub("^CIFTI_INDEX_TYPE_", "", xml2::xml_attr(map, "IndicesMapToDataType")), xml = map))
  }
  list(type = "nothing")
}

series_step <- function(map) {
  if (!identical(xml2::xml_attr(map, "SeriesUnit"), "SECOND")) return(NULL)
  step <- xml_number(map, "SeriesStep") * 10^xml_number(map, "SeriesExponent")
  if (isTRUE(step > 0)) step
}

# Returns list(models: one row per model, with its grayordinates (first, count) and, for surfaces, the mesh's number of
# vertices; places: for each model vertex numbers, or rows of voxel indices, from 0; volume: dimensions; affine: from
# these indices to mm; map: the XML as text).
brain_models <- function(map, shown) {
  elements <- xml2::xml_find_all(map, "BrainModel")
  elements <- elements[order(xml_number(elements, "IndexOffset"))]
  models <- data.frame(structure = sub("^CIFTI_STRUCTURE_", "", xml2::xml_attr(elements, "BrainStructure")),
                       kind = ifelse(xml2::xml_attr(elements, "ModelType") == "CIFTI_MODEL_TYPE_SURFACE", "surface",
                                     "voxels"),
                       first = xml_number(elements, "IndexOffset") + 1, count = xml_number(elements, "IndexCount"),
                       vertices = xml_number(elements, "SurfaceNumberOfVertices"), stringsAsFactors = FALSE)
  places <- Map(model_places, elements, models$kind)
  is_whole <- all(models$first == cumsum(c(1, models$count))[seq_along(elements)]) &&
    all(vapply(places, NROW, 0L) == models$count)
  if (!isTRUE(is_whole)) fail_file(shown, " has brain models that leave gaps or overlap")
  c(list(models = models, places = unname(places)), cifti_volume(xml2::xml_find_first(map, "Volume")),
    list(map = as.character(map)))
}

model_places <- function(element, kind) {
  if (kind == "surface") return(xml_numbers(xml2::xml_text(xml2::xml_find_first(element, "VertexIndices"))))
  matrix(xml_numbers(xml2::xml_text(xml2::xml_find_first(element, "VoxelIndicesIJK"))), ncol = 3L, byrow = TRUE)
}

cifti_volume <- function(volume) {
  if (is.na(volume)) return(NULL)
  transform <- xml2::xml_find_first(volume, "TransformationMatrixVoxelIndicesIJKtoXYZ")
  affine <- matrix(xml_numbers(xml2::xml_text(transform)), 4L, byrow = TRUE)
  affine[1:3, ] <- affine[1:3, ] * 10^(xml_number(transform, "MeterExponent") + 3) # to mm
  list(volume = xml_numbers(xml2::xml_attr(volume, "VolumeDimensions")), affine = affine)
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
  xml <- charToRaw(scalars_xml(cifti, names))
  size <- 16L * ceiling((8 + length(xml)) / 16)
  extensions <- c(as.raw(c(1, 0, 0, 0)), writeBin(as.integer(c(size, CIFTI_CODE)), raw(), endian = "little"), xml,
                  raw(size - 8 - length(xml)))
  header <- list(dim = c(6, 1, 1, 1, 1, ncol(values), nrow(values), 1), intent_code = 3006L,
                 intent_name = "ConnDenseScalar", datatype = 16L, pixdim = rep(1, 8), scl_slope = 1, xyzt_units = 10L)
  write_nifti(file, header, 2L, extensions, as.vector(t(values)))
}

scalars_xml <- function(cifti, names) {
  need_packages("xml2", "to write CIFTI")
  root <- xml2::xml_new_root("CIFTI", Version = "2")
  parent <- xml2::xml_add_child(root, "Matrix")
  rows <- xml2::xml_add_child(parent, "MatrixIndicesMap", AppliesToMatrixDimension = "0",
                              IndicesMapToDataType = "CIFTI_INDEX_TYPE_SCALARS")
  for (name in names) xml2::xml_add_child(xml2::xml_add_child(rows, "NamedMap"), "MapName", name)
  columns <- xml2::xml_add_child(parent, xml2::read_xml(cifti$map, options = "HUGE"))
  xml2::xml_set_attr(columns, "AppliesToMatrixDimension", "1")
  enc2utf8(as.character(root))
}
