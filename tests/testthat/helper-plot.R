# testthat deletes stored pictures that a run does not compare, such as those of other releases of R.
keep_pictures <- function(folder) {
  for (file in dir(testthat::test_path("_snaps", folder))) testthat::announce_snapshot_file(name = file)
}

# A picture that no test looks at leaves no file.
options(device = function(...) grDevices::pdf(NULL, ...))

# What is drawn, read back from a bitmap: the colors of pixels as a matrix, the top row first.

pixels_of <- function(code, width = 420, height = 420) {
  skip_if_not(capabilities("cairo"), "R draws no bitmap")
  file <- tempfile(fileext = ".bmp")
  on.exit(unlink(file))
  # capabilities() may promise one without the library: a warning tells
  is_open <- tryCatch(is.null(grDevices::bmp(file, width, height, type = "cairo", antialias = "none")),
                      warning = function(w) FALSE)
  skip_if_not(is_open, "R draws no bitmap")
  tryCatch(code, finally = grDevices::dev.off())
  read_bitmap(file)
}

# An uncompressed bitmap, last row first, of blue, green and red bytes; of 8 bits a pixel these are in a palette.
read_bitmap <- function(file) {
  bytes <- as.integer(readBin(file, "raw", file.size(file)))
  number <- function(at) sum(bytes[at + 1:4] * 256^(0:3))
  width <- number(18)
  height <- number(22)
  stride <- bytes[29] / 8
  row <- 4 * ceiling(width * stride / 4)
  at <- number(10) + outer(seq(height - 1, 0) * row, (seq_len(width) - 1) * stride, "+")
  if (stride == 1) at <- 54 + 4 * matrix(bytes[at + 1], height)
  matrix(sprintf("#%02X%02X%02X", bytes[at + 3], bytes[at + 2], bytes[at + 1]), height)
}

# The texts that are drawn.
texts_of <- function(code, width = 7, height = 5) {
  file <- tempfile(fileext = ".pdf")
  on.exit(unlink(file))
  grDevices::pdf(file, width, height, compress = FALSE, useKerning = FALSE)
  tryCatch(code, finally = grDevices::dev.off())
  drawn <- regmatches(lines <- readLines(file, warn = FALSE), regexpr("\\(.*\\) Tj", lines, useBytes = TRUE))
  gsub("\\\\([()])", "\\1", sub("^\\((.*)\\) Tj$", "\\1", drawn))
}
