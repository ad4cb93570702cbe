# NIfTI-1, NIfTI-2 and, of their extensions, CIFTI's: files of one image, plain or compressed. What has another format
# (pairs of files, Analyze) is RNifti's to read.

# The fields that are read and written: type, number, and for each version where it stands and the bytes of a value. All
# others are zero.
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

# Bytes of a header of either version, without the four that say whether extensions follow.
NIFTI_SIZES <- c(348L, 540L)

# What a voxel may be: the number of the type, what R reads it as, and bytes of a value.
NIFTI_TYPES <- data.frame(
  code = c(2L, 4L, 8L, 16L, 64L, 256L, 512L, 768L, 1024L),
  what = c("integer", "integer", "integer", "double", "double", "integer", "integer", "unsigned", "long"),
  size = c(1L, 2L, 4L, 4L, 8L, 1L, 2L, 4L, 8L),
  signed = c(FALSE, TRUE, TRUE, TRUE, TRUE, TRUE, FALSE, FALSE, TRUE)
)

# ---- numbers of types that R lacks

# Unsigned, 32 bits, as doubles. R takes the one that it knows as NA for what it is, too.
read_unsigned <- function(from, n, endian) {
  low <- readBin(from, "integer", 2 * n, size = 2L, signed = FALSE, endian = endian)
  even <- seq_len(length(low) %/% 2L) * 2L
  if (endian == "little") low[even - 1L] + 2^16 * low[even] else low[even] + 2^16 * low[even - 1L]
}

# Signed, 64 bits, as doubles: exact up to 2^53.
read_long <- function(from, n, endian) {
  half <- read_unsigned(from, 2 * n, endian)
  even <- seq_len(length(half) %/% 2L) * 2L
  low <- half[even - (endian == "little")]
  high <- half[even - (endian == "big")]
  low + 2^32 * (high - 2^32 * (high >= 2^31))
}

# Little endian; whole numbers of at most 2^53, not below zero.
long_bytes <- function(values) {
  halves <- rbind(values %% 2^32, values %/% 2^32)
  quarters <- rbind(as.vector(halves) %% 2^16, as.vector(halves) %/% 2^16)
  writeBin(as.integer(quarters), raw(), size = 2L, endian = "little") # of unsigned values the low 16 bits
}

read_values <- function(from, n, type, endian) {
  switch(type$what,
         unsigned = read_unsigned(from, n, endian),
         long = read_long(from, n, endian),
         readBin(from, type$what, n, size = type$size, signed = type$signed, endian = endian))
}

# ---- headers

read_field <- function(bytes, field, version, endian) {
  at <- field[[paste0("at", version)]]
  size <- field[[paste0("size", version)]]
  from <- bytes[at + seq_len(field$n * size)]
  if (field$type == "text") return(rawToChar(from[cumsum(from == 0) == 0]))
  if (field$type == "integer" && size == 8L) return(read_long(from, field$n, endian))
  if (field$type == "offset" && size == 8L) return(read_long(from, field$n, endian))
  what <- if (field$type == "offset") "double" else field$type
  readBin(from, what, field$n, size = size, endian = endian)
}

# The header of an open file, of which as many bytes have been read: its fields by their names, and `version`, `endian`.
read_header <- function(connection, shown) {
  bytes <- readBin(connection, "raw", 4L)
  sizes <- vapply(c("little", "big"), FUN.VALUE = 0L, function(endian) {
    if (length(bytes) == 4L) readBin(bytes, "integer", 1L, endian = endian) else 0L
  })
  version <- match(sizes, NIFTI_SIZES)
  if (all(is.na(version))) return(NULL)
  endian <- names(sizes)[!is.na(version)]
  version <- version[!is.na(version)]
  bytes <- c(bytes, readBin(connection, "raw", NIFTI_SIZES[version] - 4L))
  if (length(bytes) < NIFTI_SIZES[version]) fail_short(shown)
  header <- lapply(split(NIFTI_FIELDS, seq_len(nrow(NIFTI_FIELDS))), read_field, bytes = bytes, version = version,
                   endian = endian)
  names(header) <- rownames(NIFTI_FIELDS)
  if (!header$magic %in% c("n+1", "n+2")) return(NULL) # a pair of files, or none of NIfTI
  c(header, list(version = version, endian = endian))
}

fail_short <- function(shown) fail(shown, " ends before its last voxel: it is not complete")

# Dimensions as the header has them, without those that it does not use.
header_dim <- function(header) header$dim[1L + seq_len(header$dim[1L])]

header_type <- function(header, shown) {
  type <- NIFTI_TYPES[match(header$datatype, NIFTI_TYPES$code), ]
  if (is.na(type$code)) {
    fail(shown, " has voxels of NIfTI's type ", header$datatype, "; whole and real numbers of up to 64 bits are read")
  }
  type
}

# Values as they are meant: scaled where the header says so.
scale_values <- function(values, header) {
  slope <- header$scl_slope
  inter <- header$scl_inter
  if (!is.finite(slope) || !is.finite(inter) || slope == 0 || (slope == 1 && inter == 0)) return(values)
  values * slope + inter
}

# The bytes of a header: fields that are not given are zero.
header_bytes <- function(header, version) {
  bytes <- raw(NIFTI_SIZES[version])
  for (name in intersect(rownames(NIFTI_FIELDS), names(header))) {
    field <- NIFTI_FIELDS[name, ]
    at <- field[[paste0("at", version)]]
    piece <- field_bytes(header[[name]], field, field[[paste0("size", version)]])
    bytes[at + seq_along(piece)] <- piece
  }
  bytes
}

field_bytes <- function(value, field, size) {
  if (is.raw(value)) return(value)
  if (field$type == "text") return(utils::head(charToRaw(value), field$n - 1L))
  whole <- field$type == "integer" || (field$type == "offset" && size == 8L)
  if (whole && size == 8L) return(long_bytes(value))
  writeBin(if (whole) as.integer(value) else as.double(value), raw(), size = size, endian = "little")
}

# ---- files

# What the file says before its first voxel, or NULL of one that is not read here: list(header, between: the bytes after
# the header, shown: its name in messages). use(connection, found) may go on to read; what it returns is returned.
with_nifti <- function(file, use = function(connection, found) found) {
  shown <- paste0("'", file, "'")
  if (!file.exists(file) || dir.exists(file)) fail("there is no file ", shown)
  connection <- gzfile(file, "rb") # reads plain ones, too
  on.exit(close(connection))
  header <- read_header(connection, shown)
  if (is.null(header)) return(NULL)
  between <- readBin(connection, "raw", max(0, header$vox_offset - NIFTI_SIZES[header$version]))
  use(connection, list(header = header, between = between, shown = shown))
}

# f(values, k) of block k, each of so many values.
read_blocks <- function(file, blocks, f) {
  with_nifti(file, function(connection, found) {
    type <- header_type(found$header, found$shown)
    for (k in seq_along(blocks)) {
      values <- read_values(connection, blocks[k], type, found$header$endian)
      if (length(values) < blocks[k]) fail_short(found$shown)
      f(scale_values(values, found$header), k)
    }
  })
}

# Whether values are whole numbers that R has a type for, as they are meant.
header_is_integer <- function(header, shown) {
  header_type(header, shown)$what == "integer" && is.integer(scale_values(0L, header))
}

# A new file of a header, what stands between it and the voxels (beginning with the four bytes that say whether that is
# anything), and values: little endian, compressed if its name ends in .gz. It appears when it is complete.
write_nifti <- function(file, header, version, between, values) {
  type <- NIFTI_TYPES[match(header$datatype, NIFTI_TYPES$code), ]
  header$sizeof_hdr <- NIFTI_SIZES[version]
  header$bitpix <- 8L * type$size
  header$magic <- c(list(charToRaw("n+1")), list(as.raw(c(0x6e, 0x2b, 0x32, 0, 0x0d, 0x0a, 0x1a, 0x0a))))[[version]]
  header$vox_offset <- NIFTI_SIZES[version] + length(between)
  partial <- partial_name(file)
  on.exit(unlink(partial))
  cannot <- function(condition) {
    fail("'file' is ", show_value(file), ", which cannot be written: ", conditionMessage(condition))
  }
  tryCatch({
    write_pieces(partial, endsWith(file, ".gz"), c(header_bytes(header, version), between), values, type$size)
    rename_file(partial, file) || file.rename(partial, file) # says why not
  }, warning = cannot, error = cannot)
}

# Values that are written at a time.
WRITTEN_VALUES <- 2^22

write_pieces <- function(file, compressed, before, values, size) {
  connection <- if (compressed) gzfile(file, "wb") else file(file, "wb")
  on.exit(close(connection))
  writeBin(before, connection)
  for (from in seq(1, by = WRITTEN_VALUES, length.out = ceiling(length(values) / WRITTEN_VALUES))) {
    piece <- values[from:min(from + WRITTEN_VALUES - 1, length(values))]
    writeBin(piece, connection, size = size, endian = "little")
  }
}
