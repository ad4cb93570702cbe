# Images as users have them (files, arrays, lists of volumes), read in one way. open_image() returns
#   size, times  dimensions of a volume, number of volumes
#   header       fields of NIfTI by name, or NULL
#   whole        true if values are integers
#   in_memory    true if it may be read twice
#   each         function(voxels, times, put): calls put(values, rows, columns) with the values of some times (rows) and
#                voxels (columns), by their positions in `times` and `voxels`

open_image <- function(img) {
  if (is_file_name(img)) {
    return(if (length(img) == 1L) open_file(img) else open_volumes(lapply(img, read_image)))
  }
  if (is.list(img) && !is.object(img)) return(open_volumes(img))
  header <- image_header(img)
  img <- as_image(img, "img")
  if (typeof(img) == "logical") fail("'img' must be a numeric array, not a logical one")
  size <- series_size(dim(img))
  places <- prod(size[1:3])
  # By positions: dim(img) <- would copy the image; .subset() ignores its class.
  volumes <- function(times, voxels) {
    matrix(.subset(img, rep((times - 1) * places, each = length(voxels)) + voxels), length(voxels))
  }
  image_in_memory(size[1:3], size[4L], header, typeof(img) == "integer", volumes)
}

# volumes(times, voxels): a matrix, voxels x times.
image_in_memory <- function(size, times, header, whole, volumes) {
  each <- function(voxels, times, put) {
    for (rows in column_ranges(length(times), length(voxels))) {
      put(t(volumes(times[rows], voxels)), rows, seq_along(voxels))
    }
  }
  list(size = size, times = times, header = header, whole = whole, in_memory = TRUE, each = each)
}

# A list of volumes.
open_volumes <- function(img) {
  if (!length(img)) fail("'img' is an empty list; give a volume for each time point")
  volumes <- lapply(img, as_image, "img")
  sizes <- lapply(volumes, function(volume) as.integer(proper_size(dim(volume), 3L)))
  size <- sizes[[1L]]
  if (length(size) != 3L) {
    fail("'img' is a list, whose elements must have 3 dimensions, x, y and z, not ", length(size), " (",
         show_size(size), ")")
  }
  other <- which(!vapply(sizes, identical, NA, size))[1L]
  if (!is.na(other)) fail("img[[", other, "]] is ", show_size(sizes[[other]]), ", but img[[1]] is ", show_size(size))
  headers <- lapply(img, image_header)
  for (k in seq_along(img)[-1L]) {
    check_same_grid(headers[[k]], headers[[1L]], size, paste0("img[[", k, "]]"), "img[[1]]")
  }
  check_times(length(img), paste("a list of", show_size(size)))
  whole <- all(vapply(volumes, typeof, "") == "integer")
  image_in_memory(size, length(img), headers[[1L]], whole, function(times, voxels) {
    matrix(unlist(lapply(volumes[times], .subset, voxels)), length(voxels))
  })
}

# A series in a file, which is read once.
open_file <- function(file) {
  found <- with_nifti(file)
  if (is.null(found)) return(open_image(read_by_rnifti(file)))
  cifti <- cifti_of(found)
  if (!is.null(cifti)) return(open_cifti(file, found$header, cifti, found$shown))
  size <- series_size(header_dim(found$header))
  places <- prod(size[1:3])
  each <- function(voxels, times, put) {
    blocks <- column_ranges(max(times), places)
    read_blocks(file, places * lengths(blocks), function(values, k) {
      rows <- which(times %in% blocks[[k]])
      if (!length(rows)) return()
      values <- matrix(values, places)[voxels, times[rows] - blocks[[k]][1L] + 1L, drop = FALSE]
      put(t(values), rows, seq_along(voxels))
    })
  }
  list(size = size[1:3], times = size[4L], header = found$header, whole = header_is_integer(found$header, found$shown),
       in_memory = FALSE, each = each)
}

# A dense series of CIFTI has the time points of each column one after the other.
open_cifti <- function(file, header, cifti, shown) {
  size <- header_dim(header)[5:6]
  if (size[2L] != grayordinates(cifti)) {
    fail_file(shown, " has ", n_of(size[2L], "column"), ", but brain models of ", show_models(cifti))
  }
  check_times(size[1L], paste(shown, show_size(size)))
  header$cifti <- cifti
  each <- function(voxels, times, put) {
    blocks <- column_ranges(size[2L], size[1L])
    read_blocks(file, size[1L] * lengths(blocks), function(values, k) {
      columns <- which(voxels %in% blocks[[k]])
      values <- matrix(values, size[1L])[times, voxels[columns] - blocks[[k]][1L] + 1, drop = FALSE]
      put(values, seq_along(times), columns)
    })
  }
  list(size = size[2L], times = size[1L], header = header, whole = FALSE, in_memory = FALSE, each = each)
}

# ---- an image

# RNifti's internal images are strings of a class.
is_file_name <- function(value) is.character(value) && !is.object(value) && is.null(dim(value))

check_file_name <- function(file, name) {
  if (!is.character(file) || length(file) != 1L || is.na(file)) {
    fail("'", name, "' must be one string, the name of a file, not ", show_value(file))
  }
}

# A file as an array with an attribute "header"; CIFTI as a vector or a matrix.
read_image <- function(file) {
  check_file_name(file, "file")
  found <- with_nifti(file)
  if (is.null(found)) return(read_by_rnifti(file))
  cifti <- cifti_of(found)
  if (!is.null(cifti)) return(read_grayordinates(file, found$header, cifti))
  size <- proper_size(c(header_dim(found$header), 1L, 1L), 3L)
  img <- array(if (header_is_integer(found$header, found$shown)) 0L else 0, size)
  blocks <- column_ranges(length(img), 1)
  read_blocks(file, lengths(blocks), function(values, k) img[blocks[[k]]] <<- values)
  attr(img, "header") <- found$header
  class(img) <- image_class(img)
  img
}

# A row for each grayordinate; a single column is a vector.
read_grayordinates <- function(file, header, cifti) {
  size <- header_dim(header)[5:6]
  values <- NULL
  read_blocks(file, prod(size), function(read, k) values <<- read)
  if (size[1L] > 1) values <- t(matrix(values, size[1L]))
  header$cifti <- cifti
  attr(values, "header") <- header
  values
}

read_by_rnifti <- function(file) {
  if (requireNamespace("RNifti", quietly = TRUE)) return(RNifti::readNifti(file))
  fail_file("'", file, "' is not a NIfTI file (.nii or .nii.gz); package RNifti reads other formats")
}

# A numeric array as it is, whatever its class; anything else is converted.
as_image <- function(img, name) {
  if (is.array(img) && typeof(img) %in% c("integer", "double", "logical")) return(img)
  class <- class(img)[1L]
  img <- tryCatch(as.array(img), error = function(condition) NULL)
  if (!is.array(img) || !is_variables(img)) fail("'", name, "' must be a numeric array, not of class ", class)
  img
}

# Without dimensions of 1 beyond the first n.
proper_size <- function(size, n) {
  while (length(size) > n && size[length(size)] == 1L) size <- size[-length(size)]
  size
}

# Four dimensions, or an error.
series_size <- function(size) {
  shown <- show_size(size)
  size <- proper_size(size, 4L)
  if (length(size) != 4L) {
    fail("'img' must have 4 dimensions, x, y, z and time, not ", length(size), " (", shown, ")",
         if (length(size) == 3L) "; several volumes may be a list of images, or the names of their files")
  }
  check_times(size[4L], shown)
  size
}

check_times <- function(times, shown) {
  if (times < 2L) fail("'img' has ", times, " time point (", shown, "); a correlation needs two or more")
}
