# Data that are probably not what the user takes them for: variables in rows, images, names of files.

# So many more rows than columns as expression data have that are not transposed, of more genes than there would be
# samples.
TALL_ROWS <- 1000
TALL_RATIO <- 10

# What may have variables in its rows; of a file the user has said which side is which.
has_sides <- function(x) {
  is.matrix(x) || is.data.frame(x) || (isS4(x) && is(x, "Matrix")) || inherits(x, c("DelayedMatrix", "big.matrix"))
}

is_tall <- function(x) {
  size <- if (has_sides(x)) dim(x)
  length(size) == 2L && size[1L] >= TALL_ROWS && size[1L] >= TALL_RATIO * size[2L] && size[2L] > 2L
}

# A shape alone says nothing: time series by channels or voxels are as tall as genes by samples, and so is any table of
# many cases. What tells them apart is looked at in this order.
#
# Names of rows. Genes always have them, observations seldom, but for numbers, dates, cells and samples.
#
# What the values are. In genes by samples each column is the same assay of another sample: columns are of one level
# (where variables of a table have units of their own, and genes levels of their own), and rows do not follow from one
# another, where those of a series do. Such columns are transposed data
# * if they are counts, that is whole numbers, none negative, that go further than scores of a few steps do, and have
#   somewhat the same order of rows;
# * or if they have the same order of rows, as a gene that is strong in one sample is strong in all of them;
# * or, in a data frame, if there are as many rows as genes and few columns: in frames without names of rows the names
#   were a column, and expression centred by gene has no order of rows. A matrix may be a long series that is filtered
#   to white noise.
# A first column of whole numbers without repetition, unlike the next one, is of identifiers, and is not looked at.
warn_transposed <- function(x) {
  if (!is_tall(x) || inherits(x, "ts") || identical(getOption("gpucor.orientation"), "columns")) return(invisible())
  names <- names_of_rows(x)
  if (is.null(names)) {
    found <- look_of_columns(x)
    reason <- found$reason
    ids <- found$ids
  } else {
    reason <- if (!are_observations(names)) paste0("rows are named, as \"", names[1L], "\" is")
    ids <- FALSE
  }
  if (is.null(reason)) return(invisible())
  warning("'x' has ", format_count(nrow(x)), " rows and ", format_count(ncol(x)), " columns, and the columns are ",
          "correlated; ", reason, ". If the rows are the variables, such as genes, give ", transposed(x, ids),
          "; options(gpucor.orientation = \"columns\") ends this warning", call. = FALSE)
}

# Of ten rows, which are enough to know them; NULL: rows have none, or none but numbers.
names_of_rows <- function(x) {
  if (is.data.frame(x) && .row_names_info(x) < 0L) return(NULL)
  names <- rownames(x)[1:10]
  if (is.null(names) || all(grepl("^[0-9]*$", names))) NULL else names
}

# Dates and times, barcodes of cells, and what samples, subjects and cells are called.
are_observations <- function(names) {
  all(grepl("^[0-9][-0-9 :./+TZ]*$", names)) || all(grepl("[ACGT]{10}", names)) ||
    all(grepl("^(GSM|[SED]RR|SAM[NED]|TCGA-|sub-|(cell|sample|subject|patient|case|donor|spot|time|obs)[-_. ]?[0-9])",
              names, ignore.case = TRUE))
}

transposed <- function(x, ids) {
  name <- if (!ids) "x" else if (is.data.frame(x)) without_columns(x, 1L, "x") else "x[, -1]"
  if (is.data.frame(x)) name <- paste0("as.matrix(", name, ")")
  paste0(if (isS4(x) && is(x, "Matrix")) "Matrix::t(" else "t(", name, ")",
         if (ids) ", as the first column looks like identifiers")
}

# ---- what the values are

# Of how many rows, each with the one after it, and how many columns.
LOOK_ROWS <- 200
LOOK_COLUMNS <- 8

COUNTS_BEYOND <- 20 # scores and levels end before
SAME_LEVEL <- 10 # largest mean over smallest one, of counts
SAME_ORDER <- 0.7 # mean correlation of columns' ranks
COUNTS_ORDER <- 0.2 # the same of counts, of which many are 0
FOLLOWING <- 0.25 # correlation of a column with itself, a row later
GENES_LEAST <- 10000
GENES_RATIO <- 100

# list(reason, ids); no reason: nothing tells that rows are variables. Data that are not in memory are not read.
look_of_columns <- function(x) {
  if (is_outside(x) || (is.matrix(x) && differ_at_once(x))) return(NULL)
  at <- unique(round(seq(1, nrow(x) - 1, length.out = LOOK_ROWS)))
  ids <- ncol(x) > 3L && are_identifiers(values_at(x, at, 1L)) && !are_identifiers(values_at(x, at, 2L))
  columns <- unique(round(seq(1 + ids, ncol(x), length.out = LOOK_COLUMNS)))
  values <- values_at(x, at, columns)
  ranks <- ranked(values)
  alike <- order_in_common(ranks)
  counted <- are_counts(values, alike)
  reason <- if (counted) {
    "they are whole numbers, as counts of genes are"
  } else if (alike >= SAME_ORDER) {
    "they are as similar as samples are"
  } else if (is_long_frame(x)) {
    "there are as many rows as genes"
  }
  if (is.null(reason) || !same_level(values, counted) || follow(ranks, ranked(values_at(x, at + 1, columns)))) {
    return(NULL)
  }
  list(reason = reason, ids = ids)
}

is_long_frame <- function(x) is.data.frame(x) && nrow(x) >= GENES_LEAST && nrow(x) >= GENES_RATIO * ncol(x)

# Of a matrix, as a small run takes no longer than the whole look: fractions that do not rise and fall together in the
# last two columns. Columns of the same order of rows do so in three of four steps.
differ_at_once <- function(x) {
  at <- seq.int(1L, nrow(x), length.out = 129L)
  one <- x[at, ncol(x)]
  if (is.integer(one)) return(FALSE)
  other <- x[at, ncol(x) - 1L]
  together <- (one[-1L] > one[-129L]) == (other[-1L] > other[-129L])
  !anyNA(together) && sum(together) < 80L && any(one != floor(one))
}

# Some rows of some columns, as an ordinary matrix of doubles. Columns first: rows of a sparse matrix cost all of it.
values_at <- function(x, rows, columns) {
  if (is.data.frame(x)) return(vapply(columns, function(k) as.double(x[[k]][rows]), numeric(length(rows))))
  picked <- x[, columns, drop = FALSE][rows, , drop = FALSE]
  matrix(as.double(as.matrix(picked)), length(rows))
}

are_whole <- function(values) all(values == floor(values), na.rm = TRUE) && !all(is.na(values))

are_identifiers <- function(values) !anyNA(values) && are_whole(values) && !anyDuplicated(values)

are_counts <- function(values, alike) {
  least <- suppressWarnings(min(values, na.rm = TRUE))
  is.finite(least) && least >= 0 && max(values, na.rm = TRUE) > COUNTS_BEYOND && are_whole(values) &&
    alike >= COUNTS_ORDER
}

# Of counts levels are compared by quotients, as samples are counted to different depths; otherwise within the spread.
same_level <- function(values, counted) {
  level <- colMeans(values, na.rm = TRUE)
  if (anyNA(level)) return(FALSE)
  if (counted) return(min(level) > 0 && max(level) <= SAME_LEVEL * min(level))
  spread <- apply(values, 2L, stats::sd, na.rm = TRUE)
  isTRUE(min(spread) > 0) && max(spread) <= 3 * min(spread) && max(level) - min(level) <= mean(spread)
}

# Mean correlation of the columns' ranks; 0 where there is none.
order_in_common <- function(ranks) {
  r <- suppressWarnings(stats::cor(ranks))
  found <- mean(r[upper.tri(r)])
  if (is.na(found)) 0 else found
}

follow <- function(ranks, next_ranks) {
  r <- suppressWarnings(stats::cor(ranks, next_ranks))
  isTRUE(mean(diag(r), na.rm = TRUE) > FOLLOWING)
}

# Missing values in the middle of their column.
ranked <- function(values) {
  ranks <- apply(values, 2L, rank, na.last = "keep")
  middle <- matrix(colMeans(ranks, na.rm = TRUE), nrow(ranks), ncol(ranks), byrow = TRUE)
  ifelse(is.na(ranks), middle, ranks)
}

# ---- after other messages

# After the message that a column of a data frame is no variable; without: R's words for the frame without such.
transposed_way_out <- function(without) {
  paste0("; or if the rows are the variables, such as genes, t(", without, ") has them in columns as gpucor wants them")
}

# After the message that x is none of what is taken: the function that makes it one of these.
other_way_in <- function(x, name) {
  if (length(dim(x)) > 2L || inherits(x, c("niftiImage", "internalImage", "nifti"))) {
    return(paste0("; voxelMatrix(", name, ") makes time x voxels of an image"))
  }
  if (inherits(x, "dist")) {
    return(paste0("; it has ", if (inherits(x, "gpuCor")) "coefficients" else "values", " of pairs already: give the ",
                  "data that they are of"))
  }
  if (!is.character(x) || length(x) != 1L) return(NULL)
  if (grepl("[.]nii([.]gz)?$", x)) return("; voxelMatrix() reads this file")
  ends_in <- function(ends) grepl(paste0("[.](", ends, ")$"), x, ignore.case = TRUE)
  if (ends_in("h5|h5ad|hdf5|loom|bin|raw")) return("; gpuCorFile() stands for a file of data")
  if (ends_in("rds")) return(paste0("; ", name, " <- readRDS(\"", x, "\") reads this file"))
  table_way_in(x, name)
}

# A file of text.
table_way_in <- function(x, name) {
  if (!grepl("[.](csv|tsv|txt|tab|dat)([.](gz|bz2|xz))?$", x, ignore.case = TRUE)) return(NULL)
  reader <- if (grepl("[.]csv", x, ignore.case = TRUE)) "read.csv" else "read.delim"
  paste0("; read the file: ", name, " <- data.matrix(", reader, "(\"", x, "\", row.names = 1)), where its first ",
         "column is names, otherwise without row.names",
         if (reader == "read.delim") "; read.csv() where commas separate values")
}
