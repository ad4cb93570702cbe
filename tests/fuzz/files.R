# Small files of every format that the package reads, most of them damaged at random. A format is a row of the table
# file_formats, which is all that a new one needs; each is a kind of case:
#   ending     the end of the file's name
#   make       function(): list(content: the bytes of a valid file of random values; whatever the others need)
#   readers    functions of the file's name and of what make() returned: values that the package reads
#   reference  function(content, made), which reads the bytes by the format's definition: a list of the values that
#              readers of the same names must return. NULL: only an error is right. A name that is absent is not judged.
#              An error of the reference: only errors are right; untold(): nothing is judged.
#   pack       (optional) function(content): the bytes of a compressed file, of which any change is an error or harmless
#   attack     (optional) function(made): content that is small and would become large
#   write      (optional) function(bytes, path, made), where a file is more than its bytes
#   needs      (optional) the package without which it cannot be read
# An undamaged file has to be read. A damaged one is an error of class gpucor_error, or has the reference's values. All
# readers together take at most MAX_SECONDS and MAX_MEMORY, in a process of its own: see in_child().

MAX_SECONDS <- 10
MAX_MEMORY <- 2e5 # kB beside what the process has at first; the files have a few kB

# ---- a process for a case

memory_of <- function(pid, what) {
  status <- tryCatch(readLines(sprintf("/proc/%d/status", pid)), error = function(e) NULL, warning = function(w) NULL)
  size <- as.numeric(gsub("[^0-9]", "", grep(paste0("^", what, ":"), status, value = TRUE)))
  if (length(size)) size else 0 # not on Linux, or the process has ended
}

# The flaws that f() returns in a fork, and how that ended: a crash, a hang or too much memory ends only the fork.
in_child <- function(f) {
  job <- parallel::mcparallel({
    before <- memory_of(Sys.getpid(), "VmRSS")
    mem.maxVSize(before / 1024 + 10 * MAX_MEMORY / 1024)
    flaws <- f(function() memory_of(Sys.getpid(), "VmHWM") - before)
    list(c(flaws, left_flaws()))
  }, mc.set.seed = FALSE)
  started <- Sys.time()
  before <- memory_of(job$pid, "VmRSS")
  repeat {
    result <- suppressWarnings(parallel::mccollect(job, wait = FALSE, timeout = 0.5))
    seconds <- as.numeric(Sys.time() - started, units = "secs")
    grown <- memory_of(job$pid, "VmRSS") - before
    if (!is.null(result) || seconds > 2 * MAX_SECONDS || grown > 20 * MAX_MEMORY) break
  }
  if (is.null(result)) {
    kill_fork(job)
    return(if (grown > 20 * MAX_MEMORY) "memory without bound" else paste("no end after", 2 * MAX_SECONDS, "s"))
  }
  suppressWarnings(parallel::mccollect(job)) # a child remains until collected
  result <- result[[1]]
  if (inherits(result, "try-error")) return(paste("the check failed:", result))
  if (!is.list(result)) {
    tempdir(check = TRUE) # R removes it after a crash
    return("the process died")
  }
  if (seconds > MAX_SECONDS) c(result[[1]], sprintf("%.0f s", seconds)) else result[[1]]
}

# What evaluating `code` comes to: list(value), list(error) or list(warning), conditions. Messages are not shown.
# Warnings that the package means to give count as none.
reading <- function(code, may_warn = FALSE) {
  tryCatch(
    withCallingHandlers(list(value = suppressMessages(code)), warning = function(condition) {
      if (may_warn || inherits(condition, "gpuCorWarning")) invokeRestart("muffleWarning")
    }),
    error = function(condition) list(error = condition), warning = function(condition) list(warning = condition)
  )
}

condition_flaws <- function(read) {
  condition <- c(read$error, read$warning)
  if (!length(condition) || inherits(read$error, "gpucor_error")) return(NULL)
  paste0(if (is.null(read$error)) "a warning" else "an error that is not the package's", ": ",
         conditionMessage(if (is.null(read$error)) read$warning else read$error))
}

# ---- damage

some_bytes <- function(n) as.raw(sample(0:255, n, TRUE))

one_of <- function(values) values[[sample.int(length(values), 1)]]

# Positions of a random piece of up to `most` bytes.
piece <- function(bytes, most = 40) {
  from <- sample.int(length(bytes), 1)
  from:min(length(bytes), from + sample.int(most, 1) - 1)
}

# Where runs of digits begin and end.
numbers_in <- function(bytes) {
  runs <- rle(bytes >= as.raw(48) & bytes <= as.raw(57))
  ends <- cumsum(runs$lengths)
  cbind(ends - runs$lengths + 1, ends)[runs$values, , drop = FALSE]
}

insert <- function(bytes, more, after) append(bytes, more, after)

# Each takes bytes, at least one, and returns others.
mutations <- list(
  flip = function(bytes) {
    at <- sample.int(length(bytes), sample(min(3, length(bytes)), 1))
    replace(bytes, at, xor(bytes[at], as.raw(2^sample(0:7, length(at), TRUE))))
  },
  overwrite = function(bytes) {
    at <- piece(bytes, 8)
    replace(bytes, at, one_of(list(as.raw(0), as.raw(255), some_bytes(length(at)))))
  },
  truncate = function(bytes) utils::head(bytes, sample.int(length(bytes), 1) - 1),
  extend = function(bytes) c(bytes, one_of(list(some_bytes(sample(40, 1)), raw(sample(5000, 1))))),
  insert = function(bytes) insert(bytes, some_bytes(sample(8, 1)), sample.int(length(bytes), 1)),
  delete = function(bytes) bytes[-piece(bytes)],
  duplicate = function(bytes) {
    at <- piece(bytes, 200)
    insert(bytes, bytes[at], max(at))
  },
  # A number of a header, perhaps: they are aligned, more often than not.
  number = function(bytes) {
    size <- one_of(c(2, 4, 4, 8))
    value <- one_of(list(0L, 1L, -1L, 7L, 32767L, .Machine$integer.max, NA_integer_, NaN, Inf, -1e10, 1e10, 1e18, 0.5))
    new <- writeBin(value, raw(), if (size == 2 && is.double(value)) 4 else size, one_of(c("little", "big")))
    at <- (sample.int(length(bytes), 1) - 1) %/% size * size + seq_along(new)
    replace(bytes, at[at <= length(bytes)], new[at <= length(bytes)])
  },
  # A number of a text.
  digits = function(bytes) {
    at <- numbers_in(bytes)
    if (!nrow(at)) return(mutations$flip(bytes))
    at <- at[sample.int(nrow(at), 1), ]
    new <- one_of(c("", "-1", "0", "-0", "1", "3", "1.5", "1e3", "1e999", "NaN", "abc", "999999999999", "2147483648",
                    "4294967297", "99999999999999999999"))
    insert(bytes[-(at[1]:at[2])], charToRaw(new), at[1] - 1)
  }
)

damage <- function(bytes) {
  for (name in sample(names(mutations), sample(3, 1, prob = c(6, 2, 1)), TRUE)) {
    if (length(bytes)) bytes <- mutations[[name]](bytes)
  }
  bytes
}

# ---- a case

# A case: the format's name, what it was made of, the content (perhaps damaged before it was packed), the file's bytes,
# and what is in its place. `has_value`: anything else than an error may be right.
random_file <- function(name) {
  format <- file_formats[[name]]
  made <- format$make()
  pack <- if (is.null(format$pack)) identity else format$pack
  where <- sample(c("none", "content", "bytes", "attack", "place"), 1,
                  prob = c(10, 40, if (!is.null(format$pack)) 40 else 0, if (!is.null(format$attack)) 2 else 0, 1))
  content <- switch(where, content = damage(made$content), attack = format$attack(made), made$content)
  bytes <- pack(content)
  if (where == "bytes") bytes <- if (one_in(50)) c(bytes, zeros_by_gzip()) else damage(bytes)
  list(format = name, made = made, content = content, bytes = bytes, has_value = !where %in% c("attack", "place"),
       is_damaged = where == "place" || !identical(bytes, pack(made$content)),
       place = if (where == "place") one_of(c("pipe", "folder", "device", "nothing")) else "file")
}

LARGE <- 4e8 # bytes: more than MAX_MEMORY

# Many zeros, compressed.
zeros_by_gzip <- function() {
  if (is.null(large$gz)) large$gz <- gz_bytes(raw(LARGE))
  large$gz
}

zeros_by_zlib <- function() {
  if (is.null(large$zlib)) large$zlib <- base64_of(memCompress(raw(LARGE), "gzip"))
  large$zlib
}

large <- new.env()

# The definition does not tell what these bytes mean.
untold <- function() stop(structure(class = c("untold", "error", "condition"), list(message = "untold", call = NULL)))

write_case <- function(case, path) {
  write <- file_formats[[case$format]]$write
  switch(case$place,
    file = if (is.null(write)) writeBin(case$bytes, path) else write(case$bytes, path, case$made),
    folder = dir.create(path), pipe = system2("mkfifo", path), device = file.symlink("/dev/zero", path)
  )
}

check_file <- function(case) {
  format <- file_formats[[case$format]]
  in_child(function(grown) {
    path <- tempfile("fuzz", fileext = format$ending)
    on.exit(unlink(path, recursive = TRUE))
    write_case(case, path)
    read <- lapply(format$readers, function(reader) reading(reader(path, case$made)))
    memory <- grown()
    none <- stats::setNames(vector("list", length(read)), names(read))
    truth <- tryCatch(if (case$has_value) format$reference(case$content, case$made) else none,
                      untold = function(condition) list(), error = function(condition) none)
    c(unlist(lapply(names(read), function(name) {
      flaws <- reading_flaws(read[[name]], truth, name, !case$is_damaged || (isTRUE(case$made$heals) && case$has_value))
      if (length(flaws)) paste(name, flaws)
    })), if (memory > MAX_MEMORY * extra_memory) sprintf("%.0f MB", memory / 1000))
  })
}

# Memory of AddressSanitizer beside each allocation, and what it keeps of freed ones.
extra_memory <- if (nzchar(Sys.getenv("ASAN_OPTIONS"))) 4 else 1

# `must`: whether an error is wrong where there is a value.
reading_flaws <- function(read, truth, name, must) {
  flaws <- condition_flaws(read)
  if (length(flaws)) return(flaws)
  is_judged <- name %in% names(truth)
  if (!is.null(read$error)) {
    return(if (is_judged && !is.null(truth[[name]]) && must) paste("is an error:", conditionMessage(read$error)))
  }
  if (!is_judged) return(NULL)
  if (is.null(truth[[name]])) return("reads what has no right value")
  if (!identical(plain_values(read$value), plain_values(truth[[name]]))) "reads wrong values"
}

# Numbers with their dimensions, integers as doubles, NaN as NA.
plain_values <- function(value) {
  if (!is.numeric(value) && !is.logical(value)) return(value)
  numbers <- as.double(unclass(value))
  numbers[is.na(numbers)] <- NA
  list(dim = as.integer(dim(value)), numbers = numbers)
}

# What to print of a case; its file is left in `folder`.
show_file <- function(case, name, folder) {
  path <- file.path(folder, paste0(name, file_formats[[case$format]]$ending))
  unlink(path, recursive = TRUE)
  write_case(case, path)
  paste("# the file is", path)
}

# ---- bytes

put <- function(bytes, at, value, size, endian) {
  piece <- writeBin(value, raw(), size, endian)
  replace(bytes, at + seq_along(piece), piece)
}

gz_bytes <- function(content) {
  file <- tempfile()
  on.exit(unlink(file))
  connection <- gzfile(file, "wb")
  writeBin(content, connection)
  close(connection)
  readBin(file, "raw", file.size(file))
}

# The same format within gzip.
gz_of <- function(format) replace(format, c("ending", "pack"), list(paste0(format$ending, ".gz"), gz_bytes))

BYTES_OF <- c(int8 = 1, uint8 = 1, int16 = 2, uint16 = 2, int32 = 4, uint32 = 4, int64 = 8, float = 4, double = 8)

# n numbers of a type, as doubles; an error if the bytes end before.
numbers_at <- function(bytes, at, n, type, endian) {
  size <- BYTES_OF[[type]]
  stopifnot(at >= 0, n >= 0, at + n * size <= length(bytes))
  from <- bytes[at + seq_len(n * size)]
  if (type %in% c("float", "double")) return(readBin(from, "double", n, size, endian = endian))
  if (!type %in% c("uint32", "int64")) {
    return(as.double(readBin(from, "integer", n, size, signed = size > 2 || startsWith(type, "i"), endian = endian)))
  }
  words <- as.double(readBin(from, "integer", n * size / 4, 4, endian = endian))
  words[is.na(words)] <- -2^31
  if (type == "uint32") return(words %% 2^32)
  words <- matrix(words, 2)[if (endian == "little") 1:2 else 2:1, , drop = FALSE]
  words[1, ] %% 2^32 + words[2, ] * 2^32
}

# ---- NIfTI

NIFTI_CODES <- c(uint8 = 2L, int16 = 4L, int32 = 8L, float = 16L, double = 64L, int8 = 256L, uint16 = 512L,
                 uint32 = 768L, int64 = 1024L)

random_nifti <- function(version) {
  endian <- one_of(c("little", "big"))
  type <- one_of(names(NIFTI_CODES))
  size <- sample(5, sample(2:5, 1, prob = c(1, 2, 8, 1)), TRUE)
  scale <- one_of(list(c(0, 0), c(1, 0), c(1, 0), c(0.5, -3), c(2, 10)))
  extension <- if (one_in(3)) c(as.raw(c(1, 0, 0, 0)), writeBin(c(32L, 4L), raw(), endian = endian), some_bytes(24))
  extension <- if (is.null(extension)) raw(4) else extension
  n <- prod(size)
  voxels <- if (type %in% c("float", "double")) {
    writeBin(replace(rnorm(n), runif(n) < 0.05, NaN), raw(), BYTES_OF[[type]], endian)
  } else {
    some_bytes(n * BYTES_OF[[type]])
  }
  if (one_in(3)) voxels[] <- rep_len(voxels[seq_len(prod(utils::head(size, 3)) * BYTES_OF[[type]])], length(voxels))
  list(content = c(nifti_header(version, endian, size, NIFTI_CODES[[type]], scale, length(extension)), extension,
                   voxels))
}

nifti_header <- function(version, endian, size, code, scale, more, intent = 0L) {
  put_at <- function(bytes, at, value, bytes_of) put(bytes, at, value, bytes_of, endian)
  dim <- as.integer(c(length(size), size, rep(1, 7 - length(size))))
  bits <- as.integer(8 * BYTES_OF[[names(NIFTI_CODES)[NIFTI_CODES == code]]])
  if (version == 1) {
    bytes <- put_at(put_at(raw(348), 0, 348L, 4), 40, dim, 2)
    bytes <- put_at(put_at(bytes, 70, c(code, bits), 2), 76, c(1, 3, 3, 3, 2, 1, 1, 1), 4)
    bytes <- put_at(put_at(bytes, 108, 348 + more, 4), 112, scale, 4)
    return(replace(bytes, 345:347, charToRaw("n+1")))
  }
  bytes <- put_at(put_at(put_at(raw(540), 0, 540L, 4), 12, c(code, bits), 2), 16, dim, 8)
  bytes <- put_at(put_at(bytes, 104, c(1, 3, 3, 3, 2, 1, 1, 1), 8), 168, as.integer(540 + more), 8)
  bytes <- put_at(put_at(bytes, 176, scale, 8), 504, intent, 4)
  replace(bytes, 5:12, c(charToRaw("n+2"), as.raw(c(0, 0x0d, 0x0a, 0x1a, 0x0a))))
}

# The scaled voxels of a file, in an array of its dimensions, without those of 1 behind the first `least`.
nifti_array <- function(bytes, least) {
  sizes <- c(little = numbers_at(bytes, 0, 1, "int32", "little"), big = numbers_at(bytes, 0, 1, "int32", "big"))
  endian <- names(sizes)[sizes %in% c(348, 540)]
  is_first <- sizes[[endian]] == 348
  number <- function(one, at_one, two, at_two, n = 1) {
    numbers_at(bytes, if (is_first) at_one else at_two, n, if (is_first) one else two, endian)
  }
  magic <- bytes[(if (is_first) 344 else 4) + 1:4]
  stopifnot(rawToChar(magic[1:2]) == "n+", magic[3] %in% charToRaw("12"), magic[4] == 0)
  dim <- number("int16", 40, "int64", 16, 8)
  size <- dim[1 + seq_len(dim[1])]
  stopifnot(dim[1] %in% 1:7, size >= 0)
  type <- names(NIFTI_CODES)[NIFTI_CODES == number("int16", 70, "int16", 12)]
  first <- number("float", 108, "int64", 168)
  if (first == 0) first <- if (is_first) 352 else 544
  stopifnot(first == floor(first), first >= if (is_first) 352 else 544)
  values <- numbers_at(bytes, first, prod(size), type, endian)
  scale <- number("float", 112, "double", 176, 2)
  if (!all(is.finite(scale)) && !scale[1] %in% 0) untold()
  if (scale[1] != 0) values <- values * scale[1] + scale[2]
  size <- c(size, rep(1, max(0, least - length(size))))
  while (length(size) > least && size[length(size)] == 1) size <- size[-length(size)]
  array(values, size)
}

# The columns of a matrix that have two different finite values; NULL: none, or it is no series.
varying <- function(m) {
  varies <- apply(m, 2, function(v) length(unique(v[is.finite(v)])) > 1)
  if (nrow(m) > 1 && any(varies)) m[, varies, drop = FALSE]
}

nifti_reference <- function(content, made) {
  img <- nifti_array(content, 3)
  series <- nifti_array(content, 4)
  size <- dim(series)
  is_series <- length(size) == 4 && size[4] > 1
  m <- if (is_series) t(matrix(series, prod(size[1:3]), size[4]))
  list(readVoxels = img, voxelMatrix = if (is_series) varying(m), gpuCorFile = m,
       gpuCor = if (is_series) suppressWarnings(as.vector(gpuCor(m, threads = 1))))
}

image_readers <- list(
  readVoxels = function(path, made) as_read(readVoxels(path)),
  voxelMatrix = function(path, made) as_read(voxelMatrix(path))
)
described <- function(path, made) do.call(gpuCorFile, c(list(path), made$how))
file_readers <- list(
  gpuCorFile = function(path, made) described(path, made)[, ],
  gpuCor = function(path, made) suppressWarnings(as.vector(gpuCor(described(path, made), threads = 1)))
)

as_read <- function(value) array(as.vector(unclass(value)), if (is.null(dim(value))) length(value) else dim(value))

nifti_format <- function(version) {
  list(ending = ".nii", make = function() random_nifti(version), readers = c(image_readers, file_readers),
       reference = nifti_reference)
}

nifti_gz_format <- function(version) {
  format <- gz_of(nifti_format(version))
  format$readers <- image_readers
  format
}

# ---- CIFTI: of helper-voxel.R

random_cifti <- function() {
  file <- tempfile()
  on.exit(unlink(file))
  values <- matrix(rnorm(20 * sample(2:6, 1)), ncol = 20)
  if (one_in(3)) values[, sample(20, 5)] <- 1
  write_dtseries(values, file)
  list(content = readBin(file, "raw", file.size(file)))
}

# Without its extension this is an image of six dimensions.
cifti_reference <- function(content, made) {
  img <- nifti_array(content, 6)
  if (length(dim(img)) != 6 || any(dim(img)[1:4] != 1) || !length(img)) untold()
  m <- matrix(img, dim(img)[5])
  list(readVoxels = t(m), voxelMatrix = varying(m), gpuCorFile = m,
       gpuCor = suppressWarnings(as.vector(gpuCor(m, threads = 1))))
}

cifti_readers <- replace(c(image_readers, file_readers), "readVoxels", list(function(path, made) {
  value <- as_read(readVoxels(path))
  if (length(dim(value)) == 6) t(matrix(value, dim(value)[5])) else matrix(value, dim(value)[1])
}))

# ---- GIFTI

BASE64 <- c(LETTERS, letters, 0:9, "+", "/")

base64_of <- function(bytes) {
  bits <- c(matrix(as.integer(rawToBits(bytes)), 8)[8:1, ])
  bits <- matrix(c(bits, integer(-length(bits) %% 6)), 6)
  text <- BASE64[colSums(bits * 2^(5:0)) + 1]
  paste0(c(text, rep("=", -length(text) %% 4)), collapse = "")
}

bytes_of_base64 <- function(text) {
  text <- sub("=+$", "", gsub("[[:space:]]", "", text))
  number <- match(strsplit(text, "")[[1]], BASE64) - 1L
  stopifnot(!anyNA(number))
  bits <- c(matrix(as.integer(intToBits(number)), 32)[6:1, ])
  bits <- bits[seq_len(length(bits) %/% 8 * 8)]
  packBits(as.integer(matrix(bits, 8)[8:1, ]))
}

GIFTI_NAMES <- c(NIFTI_TYPE_UINT8 = "uint8", NIFTI_TYPE_INT32 = "int32", NIFTI_TYPE_FLOAT32 = "float",
                 NIFTI_TYPE_FLOAT64 = "double")

random_gifti <- function(encoding) {
  n <- sample(2:12, 1)
  endian <- one_of(c("little", "big"))
  type <- one_of(names(GIFTI_NAMES))
  at_once <- one_in(4)
  size <- if (at_once) c(n, sample(6, 1)) else n
  raws <- lapply(seq_len(if (at_once) 1 else sample(6, 1)), function(k) {
    values <- if (grepl("INT", type)) sample(0:200, prod(size), TRUE) else round(rnorm(prod(size)), 2)
    writeBin(values, raw(), BYTES_OF[[GIFTI_NAMES[[type]]]], endian)
  })
  order <- one_of(c("RowMajorOrder", "ColumnMajorOrder"))
  arrays <- vapply(raws, FUN.VALUE = "", function(bytes) {
    data <- switch(encoding, Base64Binary = gsub("(.{20})", "\\1\n", base64_of(bytes)),
                   GZipBase64Binary = base64_of(memCompress(bytes, "gzip")),
                   ASCII = paste(format(numbers_at(bytes, 0, prod(size), GIFTI_NAMES[[type]], endian), digits = 17),
                                 collapse = " \n"))
    dims <- paste0("Dim", seq_along(size) - 1, "=\"", size, "\"", collapse = " ")
    sprintf(paste0("<DataArray Intent=\"NIFTI_INTENT_TIME_SERIES\" DataType=\"%s\" ArrayIndexingOrder=\"%s\"\n",
                   "Dimensionality=\"%d\" %s Encoding=\"%s\" Endian=\"%sEndian\" ExternalFileName=\"\" ",
                   "ExternalFileOffset=\"\"><MetaData/><Data>%s</Data></DataArray>"),
            type, order, length(size), dims, encoding, c(little = "Little", big = "Big")[[endian]], data)
  })
  text <- c("<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
            "<!DOCTYPE GIFTI SYSTEM \"http://www.nitrc.org/frs/download.php/1594/gifti.dtd\">",
            sprintf("<GIFTI Version=\"1.0\" NumberOfDataArrays=\"%d\"><MetaData><MD>", length(arrays)),
            "<Name><![CDATA[AnatomicalStructurePrimary]]></Name><Value><![CDATA[CortexLeft]]></Value></MD>",
            "</MetaData><LabelTable/>", arrays, "</GIFTI>")
  list(content = charToRaw(paste(text, collapse = "\n")), raws = raws)
}

# Vertices x arrays. Whatever happened to a compressed array, its bytes are the original ones.
gifti_reference <- function(content, made) {
  arrays <- xml2::xml_find_all(xml2::read_xml(content), "/GIFTI/DataArray")
  packed <- lapply(made$raws, memCompress, "gzip")
  values <- lapply(seq_along(arrays), function(k) {
    gifti_matrix(arrays[[k]], function(bytes) {
      known <- which(vapply(packed, identical, NA, bytes))
      made$raws[[if (length(known)) known[1] else k]]
    })
  })
  stopifnot(length(unique(vapply(values, nrow, 0L))) == 1)
  all <- do.call(cbind, values)
  list(readVoxels = if (ncol(all) > 1) all else array(all, nrow(all)), voxelMatrix = varying(t(all)))
}

gifti_matrix <- function(array, unpack) {
  attribute <- function(name) xml2::xml_attr(array, name)
  count <- function(name) {
    stopifnot(grepl("^ *[0-9]+([.]0*)?([eE][0-9])? *$", attribute(name)))
    as.numeric(attribute(name))
  }
  type <- GIFTI_NAMES[[attribute("DataType")]]
  stopifnot(count("Dimensionality") %in% 1:2)
  size <- vapply(paste0("Dim", seq_len(count("Dimensionality")) - 1), count, 0)
  # What an array is without these is not told, nor how its single dimension is ordered.
  if (anyNA(c(attribute("ArrayIndexingOrder"), attribute("Endian")))) untold()
  stopifnot(length(size) == 1 || attribute("ArrayIndexingOrder") %in% c("RowMajorOrder", "ColumnMajorOrder"),
            attribute("Encoding") == "ASCII" || attribute("Endian") %in% c("LittleEndian", "BigEndian"))
  text <- xml2::xml_text(xml2::xml_find_first(array, "Data"))
  endian <- if (attribute("Endian") == "BigEndian") "big" else "little"
  values <- switch(attribute("Encoding"), ASCII = text_numbers(text, type),
                   Base64Binary = numbers_at(bytes_of_base64(text), 0, prod(size), type, endian),
                   GZipBase64Binary = numbers_at(unpack(bytes_of_base64(text)), 0, prod(size), type, endian))
  stopifnot(length(values) == prod(size))
  matrix(values, size[1], byrow = attribute("ArrayIndexingOrder") == "RowMajorOrder")
}

DECIMAL <- "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"

text_numbers <- function(text, type) {
  words <- strsplit(trimws(text), "[[:space:],]+")[[1]]
  stopifnot(grepl(if (type %in% c("float", "double")) DECIMAL else "^[+-]?[0-9]+$", words))
  numbers <- as.numeric(words)
  most <- switch(type, uint8 = 255, int32 = 2^31 - 1, Inf)
  stopifnot(abs(numbers) <= most, type != "uint8" | numbers >= 0)
  numbers
}

# Entities of entities, or an array of zeros.
gifti_attack <- function(made) {
  text <- rawToChar(made$content)
  if (grepl("GZip", text) && one_in(2)) return(charToRaw(sub("<Data>[^<]*", paste0("<Data>", zeros_by_zlib()), text)))
  entities <- sprintf("<!ENTITY e%d \"%s\">", 0:9, c("many", strrep(sprintf("&e%d;", 0:8), 10)))
  text <- sub("<!DOCTYPE[^>]*>", paste0("<!DOCTYPE GIFTI [", paste(entities, collapse = ""), "]>"), text)
  charToRaw(sub("<Data>", "<Data>&e9;", text))
}

gifti_format <- function(encoding) {
  list(ending = ".func.gii", make = function() random_gifti(encoding), readers = image_readers,
       reference = gifti_reference, attack = gifti_attack, needs = "xml2")
}

# ---- raw files

random_raw <- function() {
  storage <- one_of(c("double", "float", "integer"))
  dim <- c(sample(2:12, 1), sample(8, 1))
  offset <- one_of(c(0, 0, sample(100, 1)))
  values <- if (storage == "integer") sample(c(NA, -99:99), prod(dim), TRUE) else rnorm(prod(dim))
  size <- if (storage == "double") 8 else 4
  list(content = c(some_bytes(offset), writeBin(values, raw(), size, "little")),
       how = list(dim = dim, storage = storage, offset = offset))
}

raw_reference <- function(content, made) {
  how <- made$how
  type <- c(double = "double", float = "float", integer = "int32")[[how$storage]]
  stopifnot(length(content) == how$offset + prod(how$dim) * BYTES_OF[[type]])
  m <- matrix(numbers_at(content, how$offset, prod(how$dim), type, "little"), how$dim[1])
  list(gpuCorFile = m, gpuCor = suppressWarnings(as.vector(gpuCor(m, threads = 1))))
}

# ---- PLINK: a .bed file, whose .bim and .fam are not damaged

random_plink <- function() {
  dim <- c(sample(2:12, 1), sample(8, 1))
  stride <- ceiling(dim[1] / 4)
  list(content = c(as.raw(c(0x6c, 0x1b, 1)), some_bytes(stride * dim[2])), dim = dim, how = list())
}

write_plink_case <- function(bytes, path, made) {
  writeBin(bytes, path)
  writeLines(sprintf("1 rs%d 0 %d A G", seq_len(made$dim[2]), seq_len(made$dim[2])), sub("bed$", "bim", path))
  writeLines(sprintf("1 s%d 0 0 0 -9", seq_len(made$dim[1])), sub("bed$", "fam", path))
}

plink_reference <- function(content, made) {
  stride <- ceiling(made$dim[1] / 4)
  stopifnot(length(content) == 3 + stride * made$dim[2], content[1:3] == as.raw(c(0x6c, 0x1b, 1)))
  bits <- matrix(as.integer(rawToBits(content[-(1:3)])), 2) # the lower bit first
  value <- ifelse(bits[1, ] == 0, 2 - bits[2, ], ifelse(bits[2, ] == 0, NA, 0))
  m <- matrix(value, 4 * stride)[seq_len(made$dim[1]), , drop = FALSE]
  list(gpuCorFile = m, gpuCor = suppressWarnings(as.vector(gpuCor(m, threads = 1))))
}

# ---- HDF5: what rhdf5 says of the same file is right, as bytes of its data are not protected

h5_bytes <- function(write) {
  file <- tempfile()
  on.exit(unlink(file))
  rhdf5::h5createFile(file)
  write(file)
  rhdf5::h5closeAll()
  readBin(file, "raw", file.size(file))
}

sparse_values <- function() {
  size <- sample(2:9, 2, TRUE)
  matrix(sample(0:3, prod(size), TRUE, prob = c(4, 1, 1, 1)) + 0, size[1])
}

random_dense <- function() {
  x <- matrix(rnorm(sample(2:12, 1) * 5), ncol = 5)
  if (one_in(3)) x <- matrix(sample(99L, length(x), TRUE), nrow(x))
  bytes <- h5_bytes(function(file) {
    rhdf5::h5createDataset(file, "data", dim(x), storage.mode = storage.mode(x), chunk = c(nrow(x), sample(5, 1)),
                           level = one_of(c(0, 0, 6)))
    rhdf5::h5write(x, file, "data")
  })
  list(content = bytes, truth = x, how = list(dataset = "data"))
}

# A group of compressed columns.
write_compressed <- function(m, file, group) {
  m <- methods::as(methods::as(m, "CsparseMatrix"), "generalMatrix")
  rhdf5::h5createGroup(file, group)
  for (part in c(data = "x", indices = "i", indptr = "p")) {
    name <- c(x = "data", i = "indices", p = "indptr")[[part]]
    rhdf5::h5write(methods::slot(m, part), file, paste0(group, "/", name))
  }
}

write_h5_attributes <- function(file, name, attributes) {
  h5 <- rhdf5::H5Fopen(file)
  object <- rhdf5::H5Oopen(h5, name)
  for (k in names(attributes)) rhdf5::h5writeAttribute(attributes[[k]], object, k)
  rhdf5::h5closeAll()
}

random_anndata <- function() {
  x <- sparse_values()
  layout <- one_of(c("csr", "csc"))
  bytes <- h5_bytes(function(file) {
    for (frame in c("obs", "var")) {
      rhdf5::h5createGroup(file, frame)
      n <- dim(x)[[match(frame, c("obs", "var"))]]
      rhdf5::h5write(paste0(frame, seq_len(n)), file, paste0(frame, "/_index"))
      write_h5_attributes(file, frame, list(`_index` = "_index"))
    }
    write_compressed(if (layout == "csr") t(x) else x, file, "X")
    write_h5_attributes(file, "X", list(`encoding-type` = paste0(layout, "_matrix"), shape = dim(x)))
  })
  list(content = bytes, truth = x, group = "X", by_rows = layout == "csr", how = list())
}

random_10x <- function() {
  x <- sparse_values()
  bytes <- h5_bytes(function(file) {
    write_compressed(t(x), file, "matrix")
    rhdf5::h5write(rev(dim(x)), file, "matrix/shape")
    rhdf5::h5write(paste0("cell", seq_len(nrow(x))), file, "matrix/barcodes")
    rhdf5::h5createGroup(file, "matrix/features")
    rhdf5::h5write(paste0("gene", seq_len(ncol(x))), file, "matrix/features/id")
  })
  list(content = bytes, truth = x, group = "matrix", by_rows = TRUE, how = list())
}

# Of another shape than the original the value is not judged.
h5_reference <- function(content, made) {
  if (identical(content, made$content)) return(list(gpuCorFile = made$truth))
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(content, file)
  read <- function(name) rhdf5::h5read(file, name, bit64conversion = "double")
  tryCatch({
    x <- if (is.null(made$group)) read(made$how$dataset) else read_compressed(read, made)
    if (is.numeric(x) && identical(dim(x), dim(made$truth))) list(gpuCorFile = x) else list()
  }, error = function(condition) list())
}

# The matrix of a group, by loops.
read_compressed <- function(read, made) {
  parts <- lapply(paste0(made$group, "/", c("data", "indices", "indptr")), read)
  x <- made$truth * 0
  n <- if (made$by_rows) nrow(x) else ncol(x)
  stopifnot(length(parts[[3]]) == n + 1, !is.unsorted(parts[[3]]), parts[[3]][1] == 0)
  for (k in seq_len(n)) for (e in seq_len(parts[[3]][k + 1] - parts[[3]][k]) + parts[[3]][k]) {
    at <- c(k, parts[[2]][e] + 1)
    if (made$by_rows) x[at[1], at[2]] <- parts[[1]][e] else x[at[2], at[1]] <- parts[[1]][e]
  }
  x
}

h5_format <- function(ending, make) {
  list(ending = ending, make = make, readers = file_readers, reference = h5_reference, needs = "rhdf5")
}

# ---- tables of confounds

CHOSEN <- c("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z", "csf")

random_confounds <- function() {
  n <- sample(2:12, 1)
  columns <- c("framewise_displacement", sample(CHOSEN), "note", "motion_outlier00", "non_steady_state_outlier00")
  table <- matrix(format(round(rnorm(n * length(columns)), 3)), n, dimnames = list(NULL, columns))
  table[, 9:11] <- c(sample(c("a", "b c", "n/a"), n, TRUE), sample(0:1, 2 * n, TRUE))
  table[1, 1] <- "n/a"
  if (one_in(2)) table[1, 3] <- "n/a"
  text <- apply(rbind(columns, table), 1, paste, collapse = "\t")
  list(content = charToRaw(paste0(paste(text, collapse = "\n"), if (!one_in(5)) "\n")))
}

# What a table means with quotes, carriage returns, other letters or empty lines is not judged.
confounds_reference <- function(content, made) {
  if (any(content > as.raw(126) | content %in% charToRaw("\"'\r#"))) untold()
  lines <- strsplit(rawToChar(content), "\n", fixed = TRUE)[[1]]
  if (!all(nzchar(trimws(lines)))) untold()
  fields <- lapply(paste0(lines, "\t"), function(line) strsplit(line, "\t", fixed = TRUE)[[1]])
  stopifnot(lengths(fields) == length(fields[[1]]), length(fields) > 2)
  names <- fields[[1]]
  if (anyDuplicated(names) || !all(nzchar(names))) untold()
  table <- do.call(rbind, fields[-1])
  flags <- grep("^(motion_outlier|non_steady_state_outlier)", names)
  chosen <- match(CHOSEN, names)
  stopifnot(!anyNA(chosen))
  words <- trimws(table[, c(chosen, flags), drop = FALSE])
  words[words %in% c("n/a", "NaN", "NA", "")] <- NA
  is_decimal <- is.na(words) | grepl(DECIMAL, words)
  numbers <- suppressWarnings(as.numeric(words))
  is_other <- !is_decimal & (!is.na(numbers) | words %in% c("T", "F", "TRUE", "FALSE", "true", "false"))
  if (any(is_other) || any(is.infinite(numbers)) || !all(is_decimal[, -(1:7)])) untold()
  stopifnot(is_decimal)
  z <- matrix(numbers, nrow(words))
  filled <- which(is.na(z[1, 1:7]))
  z[1, filled] <- z[2, filled]
  stopifnot(!anyNA(z[, 1:7]))
  keep <- rowSums(z[, -(1:7), drop = FALSE] != 0, na.rm = TRUE) == 0
  list(readConfounds = cbind(z[, 1:7], keep))
}

confounds_format <- list(
  ending = ".tsv", make = random_confounds, reference = confounds_reference,
  readers = list(readConfounds = function(path, made) {
    z <- readConfounds(path, c("motion", "csf"))
    cbind(unname(z[, ]), keep = attr(z, "keep"))
  })
)

# ---- plans: a file of a plan's folder

random_plan <- function() {
  x <- matrix(rnorm(20 * sample(3:9, 1)), 20)
  given <- one_of(list(
    list(verb = "gpuCor"), list(verb = "gpuCor", covariates = rnorm(20)), list(threshold = 0.3),
    list(density = 0.5), list(fdr = 0.5), list(threshold = 0.2, weights = runif(20), precision = "double"),
    list(verb = "gpuConnectivity", threshold = 0.2), list(verb = "gpuConnectivity", density = 0.5)
  ))
  verb <- if (is.null(given$verb)) "gpuCorNetwork" else given$verb
  direct <- do.call(verb, c(list(x, threads = 1), given[setdiff(names(given), "verb")]))
  path <- tempfile("plan")
  on.exit(unlink(path, recursive = TRUE))
  do.call(quiet_plan, c(list(path, x, threads = 1), given))
  if (!one_in(3)) quiet_run(path, threads = 1)
  names <- dir(path, recursive = TRUE, all.files = TRUE)
  files <- lapply(stats::setNames(nm = names), function(name) readBin(file.path(path, name), "raw", 1e6))
  chosen <- one_of(names)
  list(content = files[[chosen]], files = files, chosen = chosen, truth = without_call(direct),
       times = file.mtime(file.path(path, names)), heals = grepl("/", chosen), keeps_time = one_in(2),
       is_named_anew = one_in(2))
}

write_plan_case <- function(bytes, path, made) {
  dir.create(path, mode = "0700")
  for (name in unique(dirname(names(made$files)))) {
    dir.create(file.path(path, name), showWarnings = FALSE, recursive = TRUE, mode = "0700")
  }
  made$files[[made$chosen]] <- bytes
  for (k in seq_along(made$files)) {
    file <- file.path(path, names(made$files)[k])
    writeBin(made$files[[k]], file)
    if (made$keeps_time) Sys.setFileTime(file, made$times[k])
  }
  file <- file.path(path, made$chosen)
  if (!made$is_named_anew || !grepl("[.][0-9a-f]{32}$", file)) return(invisible())
  # As if the shard had been written without a seal.
  has_seal <- identical(utils::tail(bytes, 100), utils::tail(made$content, 100))
  if (!has_seal) file.rename(file, sub("[0-9a-f]{32}$", tools::md5sum(file), file))
}

plan_readers <- list(
  gpuCorStatus = function(path, made) gpuCorStatus(path),
  gpuCorCollect = function(path, made) {
    quiet_run(path, threads = 1)
    without_call(gpuCorCollect(path, threads = 1))
  }
)

# ---- the table

file_formats <- list(
  nifti1 = nifti_format(1), nifti2 = nifti_format(2),
  nifti1_gz = nifti_gz_format(1), nifti2_gz = nifti_gz_format(2),
  cifti = list(ending = ".dtseries.nii", make = random_cifti, readers = cifti_readers, reference = cifti_reference,
               needs = "xml2"),
  gifti_ascii = gifti_format("ASCII"), gifti_base64 = gifti_format("Base64Binary"),
  gifti_zlib = gifti_format("GZipBase64Binary"), gifti_gz = gz_of(gifti_format("GZipBase64Binary")),
  raw = list(ending = ".raw", make = random_raw, readers = file_readers, reference = raw_reference),
  plink = list(ending = ".bed", make = random_plink, write = write_plink_case, readers = file_readers,
               reference = plink_reference),
  hdf5 = h5_format(".h5", random_dense), anndata = h5_format(".h5ad", random_anndata),
  `10x` = h5_format(".h5", random_10x),
  confounds = confounds_format, confounds_gz = gz_of(confounds_format),
  plan = list(ending = "", make = random_plan, write = write_plan_case, readers = plan_readers,
              reference = function(content, made) list(gpuCorCollect = made$truth))
)

# A kind of case for each format whose package is there. Packages are loaded here, not in each fork.
file_kinds <- function() {
  is_there <- vapply(file_formats, function(format) {
    is.null(format$needs) || requireNamespace(format$needs, quietly = TRUE)
  }, NA)
  if (!all(is_there)) cat("not tested, as a package is not installed:", names(file_formats)[!is_there], "\n")
  lapply(stats::setNames(nm = names(file_formats)[is_there]), function(name) {
    list(make = function() random_file(name), check = check_file, show = show_file, share = 1)
  })
}
