#' @rdname readVoxels
#' @export
writeVoxels <- function(values, file, reference = NULL, outside = 0, voxel_size = NULL, tr = NULL,
                        datatype = c("auto", "float32")) {
  datatype <- check_choice(datatype, c("auto", "float32"), "datatype")
  format <- if (is_file_name(file)) names(Filter(function(one) all(grepl(one$ends, file, perl = TRUE)), MAP_FORMATS))
  of_pairs <- identical(format, "pconn")
  if (of_pairs) {
    values <- as.matrix(values)
    check_that(values, "values", nrow(values) == ncol(values), "a value for each pair of parcels",
               "; give a square matrix or a dist", show_size(dim(values)))
  }
  if (!is.null(reference) && any(format %in% OF_PARCELS)) reference <- parcels_inside(reference, of_pairs)
  img <- values
  is_image <- length(dim(values)) > 2L || !is.null(attr(values, "header", exact = TRUE)) ||
    inherits(values, "niftiImage")
  if (!is_image) {
    check_that(reference, "reference", !is.null(reference), paste("what says where the voxels of 'values' are, such",
                                                                  "as the matrix that voxelMatrix() returned"))
    img <- image_of_values(values, reference, outside, "reference")
    if (of_pairs) img <- image_of_values(t(img), reference, outside, "reference")
  }
  header <- image_header(img)
  if (!is.null(reference)) { # its header says where the voxels are, if it has one
    is_matrix <- is.matrix(reference) && is.null(image_header(reference))
    like <- if (is_matrix || is_outside(reference)) columns_mask(reference, "reference") else reference
    if (is_file_name(like)) like <- readVoxels(like)
    given <- image_header(like)
    size <- dim(as_image(like, "reference"))
    if (is.null(given$cifti)) check_same_grid(list(size = dim(img)[1:3]), list(size = size[1:3]), "values", "reference")
    if (!is.null(given)) header <- given
  }
  on_surface <- !is.null(header$cifti)
  if (on_surface && (!is.null(voxel_size) || !is.null(tr))) {
    fail("'voxel_size' and 'tr' are for NIfTI, not for maps on surfaces")
  }
  takes <- switch(element_word(header), voxel = "nifti", parcel = OF_PARCELS,
                  grayordinate = if (is.null(header$cifti$map)) "gifti" else "dscalar")
  entities <- attr(reference, "entities", exact = TRUE)
  if (!is.null(entities) && is_file_name(file) && any(startsWith(basename(file), "_"))) {
    file <- file.path(dirname(file), paste0(entity_name(entities), basename(file)))
  }
  file <- check_new_file(file)
  check_that(basename(file), "file", any(format %in% takes), MAP_FORMATS[[takes[1L]]]$words)
  if (on_surface) {
    write_maps(img, file, header$cifti, format)
  } else {
    if (!is.null(reference) || length(dim(img)) < 4L) header <- without_time(header)
    write_image(as_image(img, "values"), file, header, voxel_size, tr, datatype == "float32")
  }
  invisible(file)
}

# Writes an image of CIFTI or GIFTI; `format`: a name of MAP_FORMATS.
write_maps <- function(img, file, cifti, format) {
  maps <- if (is.matrix(img)) img else matrix(img, ncol = 1L)
  there <- list(size = sum(cifti$models$count), header = list(cifti = cifti))
  check_mask(list(size = nrow(maps), name = "values"), there, "reference")
  own <- attr(img, "map")
  names <- colnames(maps)
  if (is.null(names) && length(own) == ncol(maps)) names <- own
  if (is.null(names)) names <- paste("map", seq_len(ncol(maps)))
  storage.mode(maps) <- "double"
  if (format == "gifti") return(write_gifti(file, cifti, unname(maps), names))
  write_cifti(file, cifti, unname(maps), if (format != "pconn") names, MAP_FORMATS[[format]])
}

# Formats of maps: how names end, how messages say it, and the intent of CIFTI, NIfTI's code and name. A name of NIfTI
# must not look like one of CIFTI.
MAP_FORMATS <- list(
  nifti = list(ends = "^(?!.*\\.(d[a-z]+|p(scalar|conn|tseries))\\.nii$).*\\.nii(\\.gz)?$",
               words = "the name of an image of NIfTI, which ends in .nii or .nii.gz"),
  dscalar = list(ends = "\\.dscalar\\.nii$", words = "the name of CIFTI's dense scalars, which ends in .dscalar.nii",
                 code = 3006L, name = "ConnDenseScalar"),
  pscalar = list(ends = "\\.pscalar\\.nii$",
                 words = "the name of parcels' maps, which ends in .pscalar.nii, or in .pconn.nii for values of pairs",
                 code = 3008L, name = "ConnParcelScalr"),
  pconn = list(ends = "\\.pconn\\.nii$", code = 3003L, name = "ConnParcels"),
  gifti = list(ends = "\\.(func|shape)\\.gii$",
               words = "the name of GIFTI's maps, which ends in .func.gii or .shape.gii")
)

OF_PARCELS <- c("pscalar", "pconn")

# Returns a mask of all parcels, if `reference` is an image or a file of parcels, or of grayordinates' labels, an atlas;
# otherwise `reference` itself.
parcels_inside <- function(reference, of_pairs) {
  if (is_file_name(reference)) reference <- readVoxels(reference)
  header <- image_header(reference)
  if (of_pairs && length(dim(reference)) > 2L && is.null(header$cifti)) {
    fail("'reference' is a volume, and parcels of CIFTI are of grayordinates; give dense labels (.dlabel.nii)")
  }
  if (is.null(header$cifti$map) || is.logical(reference)) return(reference)
  if (is.null(image_parcels(header))) header <- list(cifti = parcels_of_atlas(read_mask(reference, "reference")))
  structure(rep(TRUE, nrow(header$cifti$models)), header = header)
}

# Returns header$cifti of the parcels that an atlas of grayordinates has labels of; `atlas`: from read_mask().
parcels_of_atlas <- function(atlas) {
  cifti <- atlas$header$cifti
  labels <- as_parcels(atlas$values, name = atlas$name)
  models <- cifti$models
  map <- parse_xml(charToRaw(cifti$map), "'reference'", "CIFTI")
  xml2::xml_set_attr(map, "IndicesMapToDataType", "CIFTI_INDEX_TYPE_PARCELS")
  xml2::xml_remove(xml2::xml_find_all(map, "BrainModel")) # the Volume stays
  is_surface <- models$kind == "surface"
  for (k in which(is_surface)) {
    xml2::xml_add_child(map, "Surface", BrainStructure = paste0("CIFTI_STRUCTURE_", models$structure[k]),
                        SurfaceNumberOfVertices = show_whole(models$vertices[k]))
  }
  names <- parcel_names(levels(labels), label_table(NULL, atlas))
  texts <- Map(cifti$places, models$first, models$count, f = function(places, first, count) { # of each model's labels
    vapply(split(seq_len(count), labels[first - 1 + seq_len(count)]), FUN.VALUE = "", function(at) {
      show_whole(if (is.matrix(places)) t(places[at, ]) else places[at])
    })
  })
  for (label in seq_along(names)) {
    parcel <- xml2::xml_add_child(map, "Parcel", Name = names[label])
    inside <- vapply(texts, `[[`, "", label)
    voxels <- unlist(inside[!is_surface])
    if (any(nzchar(voxels))) xml2::xml_add_child(parcel, "VoxelIndicesIJK", paste(voxels, collapse = " "))
    for (k in which(is_surface & nzchar(inside))) {
      xml2::xml_add_child(parcel, "Vertices", inside[[k]],
                          BrainStructure = paste0("CIFTI_STRUCTURE_", models$structure[k]))
    }
  }
  parcel_models(map, "'reference'")
}

# Returns integers as text, separated by blanks.
show_whole <- function(values) paste(format(values, scientific = FALSE, trim = TRUE), collapse = " ")

# Writes an image with the header's positions, and with the size of voxels and the time between volumes that the user
# gives.
write_image <- function(img, file, header, voxel_size, tr, in_single) {
  pixdim <- if (is.null(header$pixdim)) rep(1, 8) else as.numeric(header$pixdim)
  units <- if (is.null(header$xyzt_units)) 0L else as.integer(header$xyzt_units)
  if (!is.null(voxel_size)) {
    ok <- are_finite(voxel_size, 3L) && all(voxel_size > 0)
    check_that(voxel_size, "voxel_size", ok, "three lengths in mm")
    check_that(voxel_size, "voxel_size", is.null(header_affine(header)), "left out, as the reference has an affine")
    pixdim <- c(1, voxel_size, pixdim[5:8])
    units <- 2L + bitwAnd(units, 56L) # millimeters; a header has the sum of a code of length and one of time
  }
  if (!is.null(tr)) {
    pixdim[5L] <- check_tr(tr)
    units <- bitwAnd(units, 7L) + 8L # seconds
  }
  if (isTRUE(header$reoriented)) {
    fail("'values' or 'reference' was turned by oro.nifti; read it with reorient = FALSE")
  }
  values <- as.vector(unclass(img))
  if (in_single || anyNA(values)) values <- as.double(values)
  if (is.logical(values)) values <- as.integer(values)
  code <- if (in_single) 16L else if (is.double(values)) 64L else if (typeof(img) == "logical") 2L else 8L
  size <- dim(img)
  pixdim[pixdim == 0] <- 1
  fields <- list(dim = c(length(size), size, rep(1L, 7L - length(size))), datatype = code, pixdim = pixdim,
                 scl_slope = 1, xyzt_units = units, descrip = "gpucor")
  fields <- c(fields, header[intersect(PLACE_FIELDS, names(header))])
  write_nifti(file, fields, if (max(size) > 32767L) 2L else 1L, raw(4L), values)
}

# ---- values of voxels as an image

#' @rdname voxelMatrix
#' @export
voxelImage <- function(values, mask, outside = 0) image_of_values(values, mask, outside, "mask")

# `name`: the name of the mask's argument.
image_of_values <- function(values, mask, outside, name) {
  hint <- if (inherits(values, c("gpuConnectivity", "data.frame"))) {
    "; as.matrix(as.data.frame(values)[-1]) has a column for each map"
  }
  check_type(values, "values", is_variables(values), "numeric or logical", hint)
  check_that(outside, "outside", length(outside) == 1L && is_variables(outside), "one number or NA")
  file <- if (is_file_name(mask)) mask
  mask <- read_mask(mask, name)
  inside <- inside_mask(mask)
  n <- length(inside)
  labels <- sort(unique(round(mask$values[inside])))
  values <- values_of_parcels(values, mask$values[inside], labels,
                             parcel_names(format(labels, scientific = FALSE, trim = TRUE), label_table(file, mask)))
  volumes <- if (is.matrix(values) && nrow(values) == n) ncol(values)
  check_that(values, "values", !is.null(volumes) || length(values) == n,
             paste0("one value, or one row, for each of the ", format_count(n), " voxels inside '", name, "'"),
             if (is.matrix(values) && ncol(values) == n) {
               "; give t(values)"
             } else if (length(labels) > 1L) {
               paste0(", or for each of its ", n_of(length(labels), "label"))
             } else {
               paste0("; give as '", name, "' the matrix of voxelMatrix()")
             }, if (is.matrix(values)) show_size(dim(values)) else format_count(length(values)))
  parcels <- image_parcels(mask$header)
  own <- if (is.null(volumes)) names(values) else rownames(values)
  if (!is.null(own) && !identical(own, parcels[inside]) && setequal(own, parcels[inside])) {
    fail("'values' has the parcels of '", name, "' in another order; bring them into that order, or unname() them")
  }
  like <- .subset(values, 0L)
  if (is.na(outside) || outside == floor(outside)) storage.mode(outside) <- typeof(like)
  img <- array(c(outside, like), c(mask$size, volumes))
  places <- prod(mask$size)
  for (k in seq_len(if (is.null(volumes)) 1L else volumes)) {
    img[inside + (k - 1) * places] <- .subset(values, seq_len(n) + (k - 1) * n)
  }
  header <- if (is.null(volumes) || inherits(mask$header, "niftiHeader")) mask$header else without_time(mask$header)
  if (inherits(header, "niftiHeader")) return(RNifti::asNifti(img, header))
  if (!is.null(header$cifti)) {
    if (is.null(volumes)) img <- stats::setNames(as.vector(img), parcels)
    if (!is.null(volumes)) dimnames(img) <- list(parcels, colnames(values))
  }
  attr(img, "header") <- header
  class(img) <- image_class(img)
  img
}

# Returns values, or, if there is one (or a row) for each of several parcels of an atlas, that of each voxel's parcel.
# `labels`: of voxels; `parcels`: the labels, ascending; `names`: theirs, by which named values are found.
values_of_parcels <- function(values, labels, parcels, names) {
  has_rows <- is.matrix(values) && nrow(values) > 1L
  n <- if (has_rows) nrow(values) else length(values)
  if (n == length(labels) || n != length(parcels) || n < 2L) return(values)
  rows <- match(round(labels), parcels)
  own <- if (has_rows) rownames(values) else names(values)
  known <- match(names, own)
  if (anyNA(known) && !all(is.na(known))) {
    fail("'values' has no parcel \"", names[is.na(known)][1L], "\" of the atlas, but others of its names; unname() ",
         "them to give values in the order of its labels")
  }
  if (!anyNA(known)) rows <- known[rows]
  if (has_rows) values[rows, , drop = FALSE] else unname(values[rows])
}

# Returns the header of an image whose volumes are maps, not times.
without_time <- function(header) {
  if (!is.null(header$pixdim)) header$pixdim[-(1:4)] <- 1
  if (!is.null(header$xyzt_units)) header$xyzt_units <- bitwAnd(as.integer(header$xyzt_units), 7L)
  header
}
