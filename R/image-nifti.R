# NIfTI-1 and NIfTI-2: single files (.nii), optionally compressed. RNifti reads other formats, such as pairs of files.

# Fields that are read and written: type, number of values, and for each version the offset and the bytes of a value.
# Other fields are zero.
NIFTI_FIELDS <- utils::read.table(header = TRUE, row.names = 1L, stringsAsFactors = FALSE, text = "
  field       type    n  at1 size1 at2 size2
  sizeof_hdr  integer 1    0  4      0  4
  dim         integer 8   40  2     16  8
  intent_code integer 1   68  2    504  4
  datatype    integer 1   70  2     12  2
  bitpix      integer 1   72  2     14  2
  pixdim      double  8   76  4    104  8
  vox_offset  offset  1  108  4    168  8
  scl_slope   double  1  112  4    176  8
  scl_inter   double  1  116  4    184  8
  xyzt_units  integer 1  123  1    500  4
  descrip     text   80  148  1    240  1
  qform_code  integer 1  252  2    344  4
  sform_code  integer 1  254  2    348  4
  quatern_b   double  1  256  4    352  8
  quatern_c   double  1  260  4    360  8
  quatern_d   double  1  264  4    368  8
  qoffset_x   double  1  268  4    376  8
  qoffset_y   double  1  272  4    384  8
  qoffset_z   double  1  276  4    392  8
  srow_x      double  4  280  4    400  8
  srow_y      double  4  296  4    432  8
  srow_z      double  4  312  4    464  8
  intent_name text   16  328  1    508  1
  magic       text    4  344  1      4  1
")

# Bytes of a header of each version, without the four that say if extensions follow.
NIFTI_SIZES <- c(348L, 540L)

# Types of voxels: NIfTI's code, TRUE for integers that R has, and bytes of a value.
NIFTI_TYPES <- data.frame(
  code = c(2L, 4L, 8L, 16L, 64L, 256L, 512L, 768L, 1024L),
  whole = c(TRUE, TRUE, TRUE, FALSE, FALSE, TRUE, TRUE, FALSE, FALSE),
  size = c(1L, 2L, 4L, 4L, 8L, 1L, 2L, 4L, 8L)
)

# ---- headers

# The fields of each version of NIfTI: type, n, at and size.
NIFTI_VERSIONS <- lapply(1:2, function(version) {
  fields <- data.frame(NIFTI_FIELDS[c("type", "n")], at = NIFTI_FIELDS[[paste0("at", version)]],
                       size = NIFTI_FIELDS[[paste0("size", version)]])
  fields$type[fields$type == "offset"] <- c("double", "integer")[version]
  fields
})

# Reads the header of a stream, see with_stream(): fields by name, `version` and `endian`; NULL for another format.
read_header <- function(read, shown) {
  value_of <- function(field) {
    from <- bytes[field$at + seq_len(field$n * field$size)]
    if (field$type == "text") return(rawToChar(from[cumsum(from == 0) == 0]))
    if (field$type == "double" || field$size < 8L) {
      return(readBin(from, field$type, field$n, field$size, endian = endian))
    }
    words <- as.double(readBin(from, "integer", 2L * field$n, endian = endian)) # exact up to 2^53
    words[is.na(words)] <- -2^31
    words <- matrix(words, 2L)
    if (endian == "big") words <- words[2:1, , drop = FALSE]
    words[1L, ] %% 2^32 + 2^32 * words[2L, ]
  }
  bytes <- read(4)
  if (length(bytes) < 4L) return(NULL)
  sizes <- c(little = readBin(bytes, "integer", endian = "little"), big = readBin(bytes, "integer", endian = "big"))
  endian <- names(sizes)[sizes %in% NIFTI_SIZES]
  if (!length(endian)) return(NULL)
  version <- match(sizes[[endian]], NIFTI_SIZES)
  bytes <- c(bytes, read(NIFTI_SIZES[version] - 4L))
  if (length(bytes) < NIFTI_SIZES[version]) fail_short(shown)
  fields <- NIFTI_VERSIONS[[version]]
  header <- sapply(rownames(fields), function(name) value_of(fields[name, ]), simplify = FALSE)
  if (header$magic != c("n+1", "n+2")[version]) return(NULL)
  is_size <- function(size) !is.na(size) & size > 0 & size <= .Machine$integer.max
  if (!header$dim[1L] %in% 1:7 || !all(is_size(header$dim[1L + seq_len(header$dim[1L])]))) {
    fail_file(shown, " has a damaged header: its dimensions are ", toString(header$dim))
  }
  c(header, list(version = version, endian = endian))
}

fail_short <- function(shown) fail_file(shown, " ends before its last voxel")

# ---- files

# Returns NULL for another format, or list(header; dim; format: how values are stored, as src/r/voxels.c takes it;
# whole: TRUE if scaled values are integers; end: the position after the last voxel; extensions: the bytes between
# header and voxels; shown: the file in messages). header$vox_offset is the checked position of the first voxel, for
# which some programs write 0. use(read, found) may read from there, see with_stream(); its result is returned instead.
with_nifti <- function(file, use = function(read, found) found) {
  shown <- paste0("'", file, "'")
  with_stream(file, shown = shown, function(read) {
    header <- read_header(read, shown)
    if (is.null(header)) return(NULL)
    min <- NIFTI_SIZES[header$version] + 4
    if (identical(header$vox_offset, 0)) header$vox_offset <- min
    offset <- header$vox_offset
    if (!is.finite(offset) || offset < min || offset != floor(offset)) {
      fail_file(shown, " has vox_offset ", format(offset), ", the position of its first voxel; it must be an integer ",
                "of at least ", min, ", or 0 for ", min)
    }
    dim <- header$dim[1L + seq_len(header$dim[1L])]
    type <- NIFTI_TYPES[match(header$datatype, NIFTI_TYPES$code), ]
    if (is.na(type$code)) fail_file(shown, " has voxels of NIfTI's type ", header$datatype, ", which is not read")
    scale <- c(header$scl_slope, header$scl_inter)
    if (!all(is.finite(scale)) || scale[1L] == 0) scale <- c(1, 0)
    format <- list(bytes = NULL, type = type$code, size = type$size, swapped = header$endian != .Platform$endian,
                   slope = scale[1L], inter = scale[2L])
    end <- offset + prod(dim, type$size)
    if (end > file.size(file) * if (is_gzip(file)) DEFLATE_RATIO else 1) fail_short(shown)
    n <- offset - NIFTI_SIZES[header$version]
    extensions <- read(n)
    if (length(extensions) < n) fail_short(shown)
    use(read, list(header = header, dim = dim, format = format, whole = type$whole && all(scale == c(1, 0)), end = end,
                   extensions = extensions, shown = shown))
  })
}

# Calls f(values, k) for each block k of blocks[k] values, which are the file's bytes and their format.
read_blocks <- function(file, blocks, f) {
  with_nifti(file, function(read, found) {
    values <- found$format
    for (k in seq_along(blocks)) {
      values$bytes <- read(blocks[k] * values$size)
      if (length(values$bytes) < blocks[k] * values$size) fail_short(found$shown)
      f(values, k)
    }
    if (is_gzip(file)) {
      n <- found$header$vox_offset + sum(blocks) * values$size
      read_to_end(read, file, n, found$end + 2^20, found$shown) # up to 1 MiB may follow the last voxel
    }
  })
}

# Writes a little-endian file, compressed if its name ends in .gz, which appears when it is complete. `extensions`: the
# bytes between header and values; the first four say if there are extensions.
write_nifti <- function(file, header, version, extensions, values) {
  type <- NIFTI_TYPES[match(header$datatype, NIFTI_TYPES$code), ]
  header$sizeof_hdr <- NIFTI_SIZES[version]
  header$bitpix <- 8L * type$size
  header$magic <- if (version == 1L) charToRaw("n+1") else as.raw(c(0x6e, 0x2b, 0x32, 0, 0x0d, 0x0a, 0x1a, 0x0a))
  header$vox_offset <- NIFTI_SIZES[version] + length(extensions)
  bytes <- raw(NIFTI_SIZES[version])
  fields <- NIFTI_VERSIONS[[version]]
  for (name in intersect(rownames(fields), names(header))) {
    field <- fields[name, ]
    value <- header[[name]]
    piece <- if (is.raw(value)) {
      value
    } else if (field$type == "text") {
      utils::head(charToRaw(value), field$n - 1L)
    } else if (field$type == "double") {
      writeBin(as.double(value), raw(), size = field$size, endian = "little")
    } else if (field$size < 8L) {
      writeBin(as.integer(value), raw(), size = field$size, endian = "little")
    } else {
      writeBin(as.vector(rbind(as.integer(value), 0L)), raw(), endian = "little")
    }
    bytes[field$at + seq_along(piece)] <- piece
  }
  before <- c(bytes, extensions)
  write <- if (endsWith(file, ".gz")) write_gzip else append_bytes
  write_whole_file(file, function(partial) {
    write(partial, length(before) + as.numeric(length(values)) * type$size, function(connection) {
      writeBin(before, connection)
      write_pieces(connection, values, type$size)
    })
  })
}

# ---- positions

# Headers of files, RNifti and oro.nifti use the same field names. The mask of a voxelMatrix has the header as attribute
# "header", which is written to new files.

# Header fields that define the position of voxels.
PLACE_FIELDS <- c("qform_code", "sform_code", "quatern_b", "quatern_c", "quatern_d", "qoffset_x", "qoffset_y",
                  "qoffset_z", "srow_x", "srow_y", "srow_z")

# Returns the header of an image in memory, or NULL.
image_header <- function(img) {
  own <- attr(img, "header", exact = TRUE)
  if (is.list(own)) return(own)
  if (inherits(img, "niftiImage")) return(if (requireNamespace("RNifti", quietly = TRUE)) RNifti::niftiHeader(img))
  if (!isS4(img) || !methods::.hasSlot(img, "srow_x")) return(NULL)
  names <- Filter(function(name) methods::.hasSlot(img, name),
                  c("pixdim", "xyzt_units", "descrip", PLACE_FIELDS, "reoriented"))
  stats::setNames(lapply(names, function(name) methods::slot(img, name)), names)
}

# Returns the 4 x 4 matrix from indices (from 0) to mm: the sform, else the qform, else NULL. One that is not finite, as
# in a damaged header, is no position.
header_affine <- function(header) {
  if (!is.null(header$cifti)) return(header$cifti$affine)
  if (isTRUE(header$sform_code > 0)) {
    affine <- rbind(header$srow_x, header$srow_y, header$srow_z, c(0, 0, 0, 1), deparse.level = 0L)
  } else if (isTRUE(header$qform_code > 0)) { # NIfTI's method 2
    b <- header$quatern_b
    c <- header$quatern_c
    d <- header$quatern_d
    a <- sqrt(max(0, 1 - b^2 - c^2 - d^2))
    rotation <- rbind(c(a^2 + b^2 - c^2 - d^2, 2 * (b * c - a * d), 2 * (b * d + a * c)),
                      c(2 * (b * c + a * d), a^2 + c^2 - b^2 - d^2, 2 * (c * d - a * b)),
                      c(2 * (b * d - a * c), 2 * (c * d + a * b), a^2 + d^2 - b^2 - c^2))
    handed <- if (isTRUE(header$pixdim[1L] < 0)) -1 else 1
    scaled <- rotation %*% diag(header$pixdim[2:4] * c(1, 1, handed))
    affine <- rbind(cbind(scaled, c(header$qoffset_x, header$qoffset_y, header$qoffset_z)), c(0, 0, 0, 1))
  } else {
    return(NULL)
  }
  if (all(is.finite(affine))) affine
}

# Returns the seconds between volumes, or NULL. NIfTI has codes for s, ms and us.
header_tr <- function(header) {
  if (!is.null(header$cifti)) return(header$cifti$tr)
  if (is.null(header$xyzt_units)) return(NULL)
  unit <- switch(as.character(bitwAnd(as.integer(header$xyzt_units), 56L)), `8` = 1, `16` = 1e-3, `24` = 1e-6)
  tr <- header$pixdim[5L] * unit
  if (isTRUE(tr > 0) && is.finite(tr)) tr
}

# Stops unless volumes have the same dimensions and, if both have affines, the same places. `img`, `other`: lists with
# size and header; `name`, `other_name`: how messages call them.
check_same_grid <- function(img, other, name, other_name) {
  if (!identical(as.integer(img$size), as.integer(other$size))) {
    fail("'", name, "' is ", show_size(img$size), ", but a volume of '", other_name, "' is ", show_size(other$size))
  }
  affine <- header_affine(img$header)
  wanted <- header_affine(other$header)
  if (is.null(affine) || is.null(wanted)) return(invisible())
  turned <- isTRUE(img$header$reoriented) != isTRUE(other$header$reoriented)
  corners <- as.matrix(expand.grid(lapply(img$size - 1, function(last) c(0, last))))
  apart <- max(sqrt(rowSums((cbind(corners, 1) %*% t((affine - wanted)[1:3, ]))^2)))
  # Headers are rounded to single precision.
  if (!turned && isTRUE(apart <= 0.01 * min(sqrt(colSums(wanted[1:3, 1:3]^2))))) return(invisible())
  fail("'", name, if (turned) {
    paste0("' or '", other_name, "' was turned by oro.nifti; read both with reorient = FALSE")
  } else {
    paste0("' is not on the grid of '", other_name, "': voxels of the same indices are up to ",
           format(apart, digits = 3), " mm apart (the affine of '", name, "' is ", show_affine(affine), ", that of '",
           other_name, "' ", show_affine(wanted), "); resample one of them")
  })
}

show_affine <- function(affine) {
  rows <- apply(affine[1:3, ], 1, function(row) paste(signif(zapsmall(row), 5), collapse = " "))
  paste0("[", paste(rows, collapse = "; "), "]")
}

# Returns the class of an image with a header, or NULL. The caller sets it: a function that did would copy the image.
# Those of CIFTI and GIFTI are vectors or matrices.
image_class <- function(img) {
  header <- attr(img, "header", exact = TRUE)
  if (!is.null(header) && (length(dim(img)) > 2L || !is.null(header$cifti))) c("voxelImage", class(img))
}
