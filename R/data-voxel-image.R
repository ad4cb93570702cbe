# Images as users have them, read in one way: list(size: of a volume, times, header or NULL, read).
# read(voxels, times, new) gives a matrix, times x voxels, of those voxels that vary. new(whole, inside) makes one of
# zeros, integers if they are whole, with these voxels as columns and all attributes, for which R would copy it later.

open_image <- function(img) {
  if (is_file_name(img)) {
    return(if (length(img) == 1L) open_file(img) else open_volumes(lapply(img, readVoxels)))
  }
  if (is.list(img) && !is.object(img)) return(open_volumes(img))
  header <- image_header(img)
  img <- as_image(img, "img")
  if (typeof(img) == "logical") fail("'img' must be a numeric array, not a logical one")
  size <- series_size(dim(img))
  places <- prod(size[1:3])
  # By positions, as dim(img) <- would copy the whole image; .subset() is the same for an image of any class.
  volume <- function(time, voxels) .subset(img, voxels + (time - 1) * places)
  list(size = size[1:3], times = size[4L], header = header, read = volume_reader(volume, typeof(img) == "integer"))
}

# RNifti's internal images are strings, too, of a class.
is_file_name <- function(value) is.character(value) && !is.object(value) && is.null(dim(value))

# A numeric array as it came, whatever its class, for it may be large; anything else made one.
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

# Four dimensions of an image, or an error.
series_size <- function(size) {
  shown <- show_size(size)
  size <- proper_size(size, 4L)
  if (length(size) != 4L) {
    fail("'img' must have 4 dimensions, x, y, z and time, not ", length(size), " (", shown, ")",
         if (length(size) == 5L && size[4L] == 1L) {
           "; the fourth has nothing in it: img <- readVoxels(file); dim(img) <- dim(img)[-4]"
         } else if (length(size) == 3L) {
           "; several volumes may be a list of images, or their files' names"
         })
  }
  check_times(size[4L], shown)
  size
}

check_times <- function(times, shown) {
  if (times < 2L) {
    fail("'img' has ", times, " time point (", shown, "); a correlation needs two or more")
  }
}

# ---- in memory

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
  list(size = size, times = length(img), header = headers[[1L]],
       read = volume_reader(function(time, voxels) .subset(volumes[[time]], voxels), whole))
}

# Goes over the volumes twice, so that what does not vary takes no memory.
volume_reader <- function(volume, whole) {
  function(voxels, times, new) {
    inside <- voxels[varies(function(k) volume(times[k], voxels), length(times), length(voxels))]
    x <- new(whole, inside)
    for (k in seq_along(times)) x[k, ] <- volume(times[k], inside)
    x
  }
}

# Which of n voxels have two finite values that differ; volume(k) gives the values of time k.
varies <- function(volume, times, n) {
  first <- rep(NA_real_, n)
  varies <- logical(n)
  for (k in seq_len(times)) {
    values <- volume(k)
    finite <- is.finite(values)
    new <- finite & is.na(first)
    first[new] <- values[new]
    varies <- varies | (finite & values != first)
  }
  varies
}

# ---- in a file, which is gone through once

open_file <- function(file) {
  found <- with_nifti(file)
  if (is.null(found)) return(open_image(read_by_rnifti(file)))
  header <- found$header
  cifti <- cifti_of(found)
  if (!is.null(cifti)) return(open_cifti(file, header, cifti, found$shown))
  size <- series_size(header_dim(header))
  whole <- header_is_integer(header, found$shown)
  list(size = size[1:3], times = size[4L], header = header, read = function(voxels, times, new) {
    x <- new(whole, voxels)
    read_blocks(file, rep(prod(size[1:3]), max(times)), function(values, time) {
      k <- match(time, times)
      if (!is.na(k)) x[k, ] <<- values[voxels]
    })
    varying_columns(x, voxels, new)
  })
}

# Columns of a file are read so many values at a time.
open_cifti <- function(file, header, cifti, shown) {
  size <- header_dim(header)[5:6]
  if (size[2L] != grayordinates(cifti)) {
    fail(shown, " has ", n_of(size[2L], "column"), ", but brain models of ", show_models(cifti))
  }
  check_times(size[1L], paste(shown, show_size(size)))
  header$cifti <- cifti
  width <- max(1, BLOCK_VALUES %/% size[1L])
  first <- seq(1, by = width, length.out = ceiling(size[2L] / width))
  list(size = size[2L], times = size[1L], header = header, read = function(voxels, times, new) {
    x <- new(FALSE, voxels)
    read_blocks(file, size[1L] * (pmin(first + width, size[2L] + 1) - first), function(values, k) {
      values <- matrix(values, size[1L])
      wanted <- which(voxels >= first[k] & voxels < first[k] + width)
      x[, wanted] <<- values[times, voxels[wanted] - first[k] + 1, drop = FALSE]
    })
    varying_columns(x, voxels, new)
  })
}

varying_columns <- function(x, voxels, new) {
  varies <- varies(function(k) x[k, ], nrow(x), ncol(x))
  if (all(varies)) return(x)
  some <- new(is.integer(x), voxels[varies])
  for (k in seq_len(nrow(x))) some[k, ] <- x[k, varies]
  some
}

# What is no NIfTI of one file.
read_by_rnifti <- function(file) {
  if (!requireNamespace("RNifti", quietly = TRUE)) {
    fail("'", file, "' is not a NIfTI file (.nii or .nii.gz); other formats are read where package RNifti is ",
         "installed: install.packages(\"RNifti\")")
  }
  RNifti::readNifti(file)
}
