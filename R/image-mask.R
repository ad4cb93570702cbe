# Masks: which voxels of an image are columns, and where they are.

# Reads any mask: list(size, header or NULL, values, name: the argument). `flat`: TRUE to allow a vector, as in CIFTI;
# check_mask() must follow.
read_mask <- function(mask, name, flat = FALSE) {
  mask <- if (is_file_name(mask)) readVoxels(mask) else check_slots(mask, name)
  header <- image_header(mask)
  if (is_outside(mask) || (is.matrix(mask) && is.null(header$cifti))) {
    mask <- columns_mask(mask, name)
    header <- image_header(mask)
  }
  check_that(mask, name, !is.matrix(mask) || ncol(mask) < 2L, "one map", "; choose a column of it", ncol(mask))
  mask <- as_image(mask, name)
  size <- if (is.null(header$cifti)) proper_size(dim(mask), 3L) else length(mask)
  if (is.null(header$cifti) && length(size) != 3L && !flat) {
    hint <- if (name == "reference") "; of a series give the matrix that voxelMatrix() makes of it"
    fail_dimensions(name, size, hint = hint)
  }
  list(size = size, header = header, values = unname(.subset(mask, seq_len(prod(size)))), name = name)
}

# Returns the mask of a volume's voxels that are columns, with the header.
new_mask <- function(img, mask_header, voxels) {
  kept <- array(FALSE, img$size)
  kept[voxels] <- TRUE
  attr(kept, "header") <- if (is.null(img$header)) mask_header else img$header
  class(kept) <- image_class(kept)
  kept
}

# Returns the mask that voxelMatrix() attached to its matrix, or gpuCorFile() to an image. `needs_one`: FALSE to return
# NULL if there is none.
columns_mask <- function(x, name, needs_one = TRUE) {
  mask <- attr(x, "mask", exact = TRUE)
  if (is_variables(mask) || (is.null(mask) && !needs_one)) return(mask)
  fail("'", name, "' is a matrix (", show_size(dim(x)), ") without the attribute \"mask\"; give ",
       if (is.null(attr(x, "coverage"))) "the matrix that voxelMatrix() returned" else "the atlas, as it has parcels")
}

# `img`: list(size, header, ...) of the image, which messages call `name`.
check_mask <- function(mask, img, name = "img") {
  cifti <- img$header$cifti
  if (is.null(cifti)) {
    if (length(mask$size) != 3L) fail_dimensions(mask$name, mask$size)
    check_same_grid(mask, img, mask$name, name)
    return(mask)
  }
  if (!identical(as.integer(mask$size), as.integer(img$size))) {
    fail("'", mask$name, "' has ", show_size(mask$size), " values, but '", name, "' has ", show_models(cifti))
  }
  own <- mask$header$cifti
  if (is.null(own)) return(mask)
  if (nrow(own$models) == nrow(cifti$models)) { # the structure of a single surface may be unknown
    unknown <- own$models$structure == UNKNOWN_STRUCTURE | cifti$models$structure == UNKNOWN_STRUCTURE
    own$models$structure[unknown] <- cifti$models$structure[unknown]
  }
  if (identical(own[c("models", "places")], cifti[c("models", "places")])) return(mask)
  if (!is.null(image_parcels(img$header))) fail("'", mask$name, "' and '", name, "' have other parcels")
  fail("'", mask$name, "' and '", name, "' have other brain models (", show_models(own), "; ", show_models(cifti),
       "); wb_command -cifti-create-dense-from-template brings them to the same grayordinates")
}

# Returns the positions where the mask is neither zero nor NA, or is above a number.
inside_mask <- function(mask, above = NULL) {
  if (!is.null(above)) check_that(above, "above", are_finite(above, 1L), "a number")
  inside <- which(if (is.null(above)) mask$values != 0 else mask$values > above)
  if (length(inside)) return(inside)
  fail("'", mask$name, "' is empty: each of its ", format_count(length(mask$values)), " voxels is ",
       if (is.null(above)) "0 or NA" else paste("at most", format(above), "or NA"))
}

#' @rdname voxelMatrix
#' @export
voxelCoords <- function(x) {
  mask <- read_mask(x, "x")
  voxel_places(mask, inside_mask(mask))
}

# Returns the positions in mm of the voxels of `inside`.
voxel_places <- function(mask, inside) {
  affine <- header_affine(mask$header)
  turned <- isTRUE(mask$header$reoriented)
  if (turned || (is.null(affine) && is.null(mask$header$cifti))) {
    fail("'", mask$name, "' ", if (turned) {
      "was turned by oro.nifti; read it with reorient = FALSE"
    } else {
      "has no affine; make it of an image that has one, such as of readVoxels()"
    })
  }
  in_mm <- function(indices) cbind(indices, 1) %*% t(affine[1:3, ]) # from 0
  if (is.null(mask$header$cifti)) {
    mm <- in_mm(arrayInd(inside, mask$size) - 1)
  } else {
    mm <- do.call(rbind, lapply(mask$header$cifti$places, function(place) {
      if (is.matrix(place)) in_mm(place) else matrix(NA_real_, length(place), 3L)
    }))[inside, , drop = FALSE]
  }
  colnames(mm) <- c("x", "y", "z")
  mm
}

# Returns a background as read_mask() does; of a series its mean.
read_background <- function(background) {
  if (is_file_name(background)) background <- readVoxels(background)
  header <- image_header(background)
  if (length(dim(background)) > 3L) {
    background <- structure(rowMeans(as_image(background, "background"), na.rm = TRUE, dims = 3L), header = header)
  }
  read_mask(background, "background")
}

# Returns the positions of an image's bright voxels, above a tenth of the highest value, which leaves out the space
# around a head; for an atlas or a mask, where most neighbors are equal and the background is 0, of all nonzero voxels.
bright_places <- function(background) {
  mask <- read_background(background)
  n <- length(mask$values)
  are_equal <- (mask$values[-1L] == mask$values[-n])[mask$values[-n] != 0]
  are_labels <- isTRUE(mean(are_equal, na.rm = TRUE) > 0.5) && any(mask$values == 0, na.rm = TRUE)
  top <- if (are_labels) NA else stats::quantile(mask$values[mask$values > 0], 0.98, na.rm = TRUE, names = FALSE)
  places <- voxel_places(mask, inside_mask(mask, if (is.na(top)) 0 else top / 10))
  places[!is.na(places[, 1L]), , drop = FALSE]
}

# ---- atlases

#' Mean series of parcels
#'
#' `parcelMeans()` averages the columns of each parcel of an atlas: from time points x voxels it makes time points x
#' parcels, which [gpuCor()] and others take. `vignette("connectome", "gpucor")` has an example.
#'
#' An atlas image has a label for each voxel, an integer; 0 and `NA` are background. A value within 0.0001 of an
#' integer is that label. The atlas must be on the grid of `x`, as a mask of [voxelMatrix()]: resample it with
#' nearest neighbors if it is not. For grayordinates it is a file of dense labels (`.dlabel.nii`).
#'
#' All parcels of the atlas are columns of the result, so that subjects with the same atlas have the same columns. The
#' coverage of a parcel is the fraction of its voxels that are columns of `x`; the others are outside the mask or do not
#' vary. A parcel without coverage, or with less than `min_coverage`, is a column of `NA`, with a warning.
#'
#' @param x A matrix from [voxelMatrix()], or any matrix with a variable in each column.
#' @param atlas An image, an array or a file with the dimensions of a volume; or a vector or factor with a label for
#'   each column of `x`, where 0, `NA` and `""` are background.
#' @param na.rm `FALSE` or `TRUE`, as in [rowMeans()]: whether to average the values that are not missing. With `FALSE`
#'   a mean is `NA` where any of its voxels is. `TRUE` suits voxels of similar level: a mean jumps where one is missing.
#' @param min_coverage A number from 0 to 1, the minimum coverage of a parcel of an atlas image, such as 0.5.
#' @return A matrix with a row for each row of `x` and a column for each parcel, with the row names of `x`. Column names
#'   are the labels: integers ascending, text in alphabetical order, or the levels of a factor. Labels of a file have
#'   the names of its label table (CIFTI, GIFTI), or of columns `index` and `name` of the table beside it, such as
#'   `atlas-X_dseg.tsv` beside `atlas-X_dseg.nii.gz`. With an atlas image, attribute `coverage` has each parcel's, by
#'   name, and `centers` the mean position of its voxels in mm (RAS), a row for each parcel, if the atlas has an affine:
#'   `plot(net, "layout", coords = attr(means, "centers"))`. [voxelImage()] puts values of parcels back into an image.
#'   Attributes `tr`, `entities` and `runs` of `x` are kept.
#'   `rbind()` joins [runs].
#' @examples
#' set.seed(1)
#' img <- array(rnorm(6 * 6 * 4 * 50, 100), c(6, 6, 4, 50))
#' header <- list(sform_code = 1, srow_x = c(3, 0, 0, -8), srow_y = c(0, 3, 0, -8),
#'                srow_z = c(0, 0, 3, -5))
#' atlas <- structure(array(rep(1:3, each = 48), c(6, 6, 4)), header = header)
#' x <- voxelMatrix(img)
#' means <- parcelMeans(x, atlas)
#' gpuCor(means)
#' plot(gpuCorNetwork(means, threshold = 0), "layout", coords = attr(means, "centers"))
#' gpuCor(x, method = "rv", groups = atlas) # of all voxels of parcels, not of their means
#' @export
parcelMeans <- function(x, atlas, na.rm = FALSE, min_coverage = 0) {
  na.rm <- check_flag(na.rm, "na.rm")
  min_coverage <- check_fraction(min_coverage, "min_coverage", zero = TRUE)
  check_matrix_like(x, "a variable in each column")
  x <- as_variables(x, "x")
  has_labels <- is.atomic(atlas) && length(atlas) == ncol(x) && !is_atlas(atlas, x)
  parcel <- if (has_labels) as_parcels(atlas) else parcels_of_columns(x, atlas, "atlas")
  coverage <- attr(parcel, "coverage")
  left_out <- union(setdiff(levels(parcel), parcel), names(which(coverage < min_coverage)))
  if (length(left_out)) {
    why <- if (min_coverage > 0) paste0("less than ", 100 * min_coverage, " % of its voxels") else "no column"
    warn("gpuCorParcels", length(left_out), " of ", n_of(nlevels(parcel), "parcel"), " with ", why,
         " in 'x', thus NA: ", toString(utils::head(left_out, 6L)), if (length(left_out) > 6L) ", ...")
  }
  sums <- counts <- matrix(0, nrow(x), nlevels(parcel), dimnames = list(rownames(x), levels(parcel)))
  for (columns in column_ranges(ncol(x), nrow(x))) { # data outside memory are read once
    block <- dense_columns(x, columns)
    parts <- split(seq_along(columns), parcel[columns], drop = TRUE)
    for (name in names(parts)) {
      part <- block[, parts[[name]], drop = FALSE]
      sums[, name] <- sums[, name] + rowSums(part, na.rm = na.rm)
      counts[, name] <- counts[, name] + if (na.rm) rowSums(!is.na(part)) else ncol(part)
    }
  }
  means <- replace(sums / counts, counts == 0, NA)
  means[, left_out] <- NA
  attr(means, "coverage") <- coverage
  attr(means, "centers") <- attr(parcel, "centers")
  for (name in c("tr", "entities", "runs")) attr(means, name) <- attr(x, name, exact = TRUE)
  is_image <- inherits(x, "gpuCorFile") && x$kind == "image"
  if (inherits(x, "scanMatrix") || is_image) class(means) <- c("scanMatrix", class(means))
  means
}

# Returns TRUE for an image, or for the name of a file, rather than labels of the columns of x.
is_atlas <- function(atlas, x) {
  !is.null(dim(atlas)) || !is.null(image_header(atlas)) || (is_file_name(atlas) && length(atlas) == 1L && ncol(x) != 1L)
}

# Returns the parcel of each column of x in an atlas, as a factor with attributes "coverage" and "centers". `name`: that
# of the atlas's argument.
parcels_of_columns <- function(x, atlas, name) {
  mask <- columns_mask(x, "x", needs_one = is_atlas(atlas, x))
  check_that(atlas, name, !is.null(mask), paste("a label for each of the", n_of(ncol(x), "column"), "of 'x'"),
             shown = length(atlas))
  if (sum(mask) != ncol(x)) fail("the columns of 'x' are no longer the voxels of its mask; give a label for each")
  file <- if (is_file_name(atlas)) atlas
  atlas <- check_mask(read_mask(atlas, name, flat = TRUE), list(size = dim(mask), header = attr(mask, "header")), "x")
  labels <- as_parcels(atlas$values, name = name)
  parcel <- as_parcels(atlas$values, which(mask), name)
  names <- parcel_names(levels(parcel), label_table(file, atlas))
  attr(parcel, "centers") <- parcel_centers(labels, atlas, names)
  names(attr(parcel, "coverage")) <- levels(parcel) <- names
  parcel
}

# Returns the table of an atlas's labels, a data frame of index and name, or NULL: that in a file of CIFTI or GIFTI, or
# that in the file beside it, as in BIDS, which may be of all resolutions. `file`: NULL for an atlas in memory.
label_table <- function(file, atlas) {
  if (!is.null(atlas$header$cifti) || is.null(file)) return(atlas$header$cifti$labels)
  tables <- sub("[.]nii([.]gz)?$", ".tsv", file)
  table <- Find(file.exists, setdiff(c(tables, sub("_res-[^_]+", "", tables)), file))
  if (is.null(table)) return(NULL)
  labels <- with_our_errors(utils::read.delim(table, quote = "", check.names = FALSE, na.strings = "n/a"),
                            paste0("'", table, "' cannot be read: "), fail_file)
  if (all(c("index", "name") %in% names(labels))) return(labels)
  tell_once("'", table, "' has no columns \"index\" and \"name\", so that parcels are named by their labels")
  NULL
}

# Returns the names of labels, which are themselves without a name. Names differ, as each is a column.
parcel_names <- function(labels, table) {
  found <- as.character(table$name)[match(labels, trimws(format(table$index, scientific = FALSE)))]
  make.unique(ifelse(is.na(found) | !nzchar(found), labels, found))
}

# Returns the mean position of each parcel's voxels, a row for each, or NULL if it is unknown.
parcel_centers <- function(labels, atlas, names) {
  header <- atlas$header
  if (is.null(header_affine(header)) || isTRUE(header$reoriented) || !is.null(header$cifti)) return(NULL)
  inside <- which(!is.na(labels))
  centers <- rowsum(voxel_places(atlas, inside), as.integer(labels[inside])) / tabulate(labels, nlevels(labels))
  rownames(centers) <- names
  centers
}

# Returns the parcel of the labels at `columns`, NULL for all, as a factor whose levels are those of all labels. With
# `columns` its attribute "coverage" has the fraction of each level's labels that are there, by name. `name`: that of
# the labels' argument.
as_parcels <- function(labels, columns = NULL, name = "atlas") {
  if (is.factor(labels)) {
    all <- factor(as.character(labels), setdiff(levels(labels), ""))
  } else if (is.character(labels)) {
    all <- factor(labels, setdiff(sort(unique(labels), method = "radix"), ""))
  } else {
    check_type(labels, name, is_variables(labels), "labels, integers or text")
    if (is.double(labels)) {
      near <- which(abs(labels - round(labels)) <= 1e-4) # integers, but for scaling and single precision
      labels[near] <- round(labels[near])
    }
    levels <- setdiff(sort(unique(as.vector(labels))), 0)
    broken <- levels[levels != floor(levels)]
    check_that(broken, name, !length(broken), "labels, integers or text",
               "; resample an atlas with nearest neighbors", format(broken[1L]))
    all <- factor(labels, levels, format(levels, scientific = FALSE, trim = TRUE))
  }
  parcel <- if (is.null(columns)) all else structure(all[columns], coverage = c(table(all[columns]) / table(all)))
  if (any(!is.na(parcel))) return(parcel)
  fail("no column of 'x' is in a parcel: '", name, "' has ", n_of(nlevels(parcel), "label"), ", none of them there")
}
