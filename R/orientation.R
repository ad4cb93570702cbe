# Data that are probably not what the user takes them for: variables in rows, images, names of files.

# So many more rows than columns as expression data have that are not transposed, of more genes than there would be
# samples.
TALL_ROWS <- 1000
TALL_RATIO <- 10
# Of a data frame without names, which may be what sensors have measured: as many columns as there are samples.
SAMPLES_LEAST <- 20

is_tall <- function(x) {
  size <- if (is.matrix(x) || is.data.frame(x)) dim(x)
  length(size) == 2L && size[1L] >= TALL_ROWS && size[1L] >= TALL_RATIO * size[2L] && size[2L] > 2L
}

# Observations seldom have names but for dates and numbers, and genes always do: in the row names, or in a column that
# had to be left out, after which a data frame of measurements is left. A matrix without names of rows is taken as it
# is.
warn_transposed <- function(x) {
  if (identical(getOption("gpucor.orientation"), "columns")) return(invisible())
  named <- !is.null(rownames(x)) && !(is.data.frame(x) && .row_names_info(x) < 0L) && !are_moments(rownames(x)[1:10])
  measured <- is.data.frame(x) && ncol(x) >= SAMPLES_LEAST && all(vapply(x, is.double, NA))
  if (!named && !measured) return(invisible())
  warning("'x' has ", format_count(nrow(x)), " rows and ", format_count(ncol(x)), " columns, and the columns are ",
          "correlated", if (named) paste0("; rows are named, as \"", rownames(x)[1L], "\" is"),
          ". If the rows are the variables, such as genes, give t(", if (is.data.frame(x)) "as.matrix(x)" else "x",
          "); options(gpucor.orientation = \"columns\") ends this warning", call. = FALSE)
}

# Numbers, dates, times.
are_moments <- function(text) all(grepl("^[0-9][-0-9 :./+TZ]*$", text))

# After the message that a column of a data frame is no variable.
transposed_way_out <- function(name, bad) {
  paste0("; or if the rows are the variables, such as genes, t(", name, "[-", bad[1L],
         "]) has them in columns as gpucor wants them")
}

# After the message that x is none of what is taken: the function that makes it one of these.
other_way_in <- function(x, name) {
  if (length(dim(x)) > 2L || inherits(x, c("niftiImage", "internalImage", "nifti"))) {
    return(paste0("; voxelMatrix(", name, ") makes time x voxels of an image"))
  }
  if (!is.character(x) || length(x) != 1L) return(NULL)
  if (grepl("[.]nii([.]gz)?$", x)) return("; voxelMatrix() reads this file")
  if (grepl("[.](h5|h5ad|hdf5|loom|bin|raw)$", x, ignore.case = TRUE)) "; gpuCorFile() stands for a file of data"
}
