# CIFTI-2: a file of NIfTI-2 whose extension says in XML what rows and columns are. A dense series has the time points
# of each grayordinate one after the other, as a matrix has them; its brain models say what a grayordinate is.

CIFTI_CODE <- 32

# The XML among the extensions, as raw, or NULL.
cifti_xml <- function(between, endian) {
  at <- 4L # the first four say whether there is any
  while (length(between) >= at + 8L) {
    size_and_code <- readBin(between[at + 1:8], "integer", 2L, endian = endian)
    if (size_and_code[1L] < 8L) return(NULL)
    if (size_and_code[2L] == CIFTI_CODE) {
      text <- between[at + 8L + seq_len(min(size_and_code[1L], length(between) - at) - 8L)]
      return(text[text != 0])
    }
    at <- at + size_and_code[1L]
  }
}

# ---- the little of XML that is needed: elements that have none of their own kind inside

xml_elements <- function(text, name) {
  from <- grepRaw(paste0("<", name, "[[:space:]/>]"), text, all = TRUE)
  to <- vapply(from, function(at) grepRaw(">", text, at, fixed = TRUE), 0L) # of the tag
  open <- text[to - 1L] != charToRaw("/")
  ends <- grepRaw(paste0("</", name, ">"), text, all = TRUE, fixed = TRUE)
  if (sum(open) == length(ends)) to[open] <- ends + nchar(name) + 2L
  if (sum(open) != length(ends) || any(to <= from)) fail("the XML of the CIFTI file has a broken element ", name)
  Map(function(from, to) text[from:to], from, to)
}

# The one element of this name, or NULL.
xml_element <- function(text, name) {
  found <- xml_elements(text, name)
  if (length(found)) found[[1L]]
}

xml_tag <- function(element) rawToChar(element[seq_len(grepRaw(">", element, fixed = TRUE))])

xml_attribute <- function(element, name) {
  found <- regmatches(xml_tag(element), regexec(paste0("\\s", name, "\\s*=\\s*[\"']([^\"']*)[\"']"), xml_tag(element)))
  if (length(found[[1L]])) found[[1L]][2L] else ""
}

xml_numbers <- function(text) as.numeric(strsplit(trimws(text), "[[:space:],]+")[[1L]])

# What stands in an element that has no further ones.
xml_content <- function(element) sub("<.*", "", sub("^<[^>]*>", "", rawToChar(element)))

xml_escape <- function(text) {
  gsub(">", "&gt;", gsub("<", "&lt;", gsub("&", "&amp;", text, fixed = TRUE), fixed = TRUE), fixed = TRUE)
}

# ---- what a file has

# Of a file that with_nifti() found: list(tr: seconds between rows, if they are a series; models, places, affine, map:
# see brain_models()), or NULL.
cifti_of <- function(found) {
  xml <- cifti_xml(found$between, found$header$endian)
  if (is.null(xml)) return(NULL)
  root <- xml_element(xml, "CIFTI")
  version <- if (is.null(root)) "" else xml_attribute(root, "Version")
  if (!version %in% c("2", "2.0")) {
    fail(found$shown, " has version '", version, "' of CIFTI; version 2 is read, which ",
         "wb_command -file-convert -cifti-version-convert makes of it")
  }
  maps <- xml_elements(root, "MatrixIndicesMap")
  rows <- map_of(maps, 0)
  columns <- map_of(maps, 1)
  if (columns$type != "BRAIN_MODELS" || !rows$type %in% c("SERIES", "SCALARS", "LABELS")) {
    fail(found$shown, " has ", tolower(rows$type), " x ", tolower(columns$type), "; what is read of CIFTI are dense ",
         "series (.dtseries.nii) and dense scalars and labels")
  }
  c(list(tr = if (rows$type == "SERIES") series_step(rows$xml)), brain_models(columns$xml, found$shown))
}

# What the indices along a dimension are: list(type, xml).
map_of <- function(maps, dimension) {
  applies <- vapply(maps, FUN.VALUE = NA, function(map) {
    dimension %in% xml_numbers(xml_attribute(map, "AppliesToMatrixDimension"))
  })
  if (!any(applies)) return(list(type = "nothing"))
  xml <- maps[applies][[1L]]
  list(type = sub("^CIFTI_INDEX_TYPE_", "", xml_attribute(xml, "IndicesMapToDataType")), xml = xml)
}

# In seconds, or NULL.
series_step <- function(map) {
  if (xml_attribute(map, "SeriesUnit") != "SECOND") return(NULL)
  number <- function(name) suppressWarnings(as.numeric(xml_attribute(map, name)))
  step <- number("SeriesStep") * 10^number("SeriesExponent")
  if (isTRUE(step > 0)) step
}

# models: a row for each, with its grayordinates first, first + 1, ..., and of a surface the mesh's vertices; places:
# numbers of vertices (from 0), or rows of indices (from 0); affine: from these to mm; map: the XML, to be written.
brain_models <- function(map, shown) {
  elements <- xml_elements(map, "BrainModel")
  models <- do.call(rbind, lapply(elements, brain_model))
  places <- Map(model_places, elements, models$kind)
  order <- order(models$first)
  models <- models[order, ]
  rownames(models) <- NULL
  if (any(models$first != cumsum(c(1, models$count))[seq_along(order)]) || any(lengths(places[order]) !=
          models$count * ifelse(models$kind == "voxels", 3L, 1L))) {
    fail(shown, " has brain models that leave gaps or overlap")
  }
  c(list(models = models, places = places[order]), cifti_volume(xml_element(map, "Volume")), list(map = map))
}

brain_model <- function(element) {
  number <- function(name) suppressWarnings(as.numeric(xml_attribute(element, name)))
  data.frame(structure = sub("^CIFTI_STRUCTURE_", "", xml_attribute(element, "BrainStructure")),
             kind = if (xml_attribute(element, "ModelType") == "CIFTI_MODEL_TYPE_SURFACE") "surface" else "voxels",
             first = number("IndexOffset") + 1, count = number("IndexCount"),
             vertices = number("SurfaceNumberOfVertices"), stringsAsFactors = FALSE)
}

model_places <- function(element, kind) {
  if (kind == "surface") return(xml_numbers(xml_content(xml_element(element, "VertexIndices"))))
  matrix(xml_numbers(xml_content(xml_element(element, "VoxelIndicesIJK"))), ncol = 3L, byrow = TRUE)
}

cifti_volume <- function(volume) {
  if (is.null(volume)) return(NULL)
  transform <- xml_element(volume, "TransformationMatrixVoxelIndicesIJKtoXYZ")
  affine <- matrix(xml_numbers(xml_content(transform)), 4L, byrow = TRUE)
  to_mm <- 10^(as.numeric(xml_attribute(transform, "MeterExponent")) + 3)
  affine[1:3, ] <- affine[1:3, ] * to_mm
  list(volume = xml_numbers(xml_attribute(volume, "VolumeDimensions")), affine = affine)
}

grayordinates <- function(cifti) sum(cifti$models$count)

# A row for each grayordinate, NA on surfaces.
cifti_coords <- function(cifti) {
  mm <- lapply(cifti$places, function(place) {
    if (!is.matrix(place)) return(matrix(NA_real_, length(place), 3L))
    cbind(place, 1) %*% t(cifti$affine[1:3, ])
  })
  mm <- do.call(rbind, mm)
  colnames(mm) <- c("x", "y", "z")
  mm
}

check_same_brain <- function(cifti, reference, what, other) {
  same <- c("models", "places")
  if (identical(cifti[same], reference[same])) return(invisible())
  fail("'", what, "' and '", other, "' have other brain models (", show_models(cifti), "; ", show_models(reference),
       "); bring them to the same grayordinates first (wb_command -cifti-create-dense-from-template)")
}

show_models <- function(cifti) {
  paste0(n_of(grayordinates(cifti), "grayordinate"), " in ", n_of(nrow(cifti$models), "structure"))
}

# ---- what is written

# A file of dense scalars: a name for each column of values, a row for each grayordinate.
write_cifti <- function(file, cifti, values, names) {
  xml <- charToRaw(paste0(
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<CIFTI Version=\"2\"><Matrix>",
    "<MatrixIndicesMap AppliesToMatrixDimension=\"0\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_SCALARS\">",
    paste0("<NamedMap><MapName>", xml_escape(enc2utf8(names)), "</MapName></NamedMap>", collapse = ""),
    "</MatrixIndicesMap>", applies_to_columns(cifti$map), "</Matrix></CIFTI>\n"
  ))
  size <- 16L * ceiling((8 + length(xml)) / 16)
  between <- c(as.raw(c(1, 0, 0, 0)), writeBin(as.integer(c(size, CIFTI_CODE)), raw(), endian = "little"), xml,
               raw(size - 8 - length(xml)))
  header <- list(dim = c(6, 1, 1, 1, 1, ncol(values), nrow(values), 1), intent_code = 3006L,
                 intent_name = "ConnDenseScalar", datatype = 16L, pixdim = rep(1, 8), scl_slope = 1, xyzt_units = 10L)
  write_nifti(file, header, 2L, between, as.vector(t(values)))
}

applies_to_columns <- function(map) {
  sub("(AppliesToMatrixDimension\\s*=\\s*)[\"'][^\"']*[\"']", "\\1\"1\"", rawToChar(map))
}
