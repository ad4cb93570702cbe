# Data that are probably not what the user takes them for: variables in rows, images, names of files.

# So many more rows than columns as expression data have that are not transposed, of more genes than there would be
# samples.
TALL_ROWS <- 1000
TALL_RATIO <- 10

# What may have variables in its rows; of a file the user has said which side is which.
has_sides <- function(x) {
  is.matrix(x) || is.data.frame(x) || (isS4(x) && is(x, "Matrix")) || inherits(x, c("DelayedMatrix", "big.matrix"))
}

has_many_rows <- function(x) {
  size <- if (has_sides(x)) dim(x)
  length(size) == 2L && size[1L] >= TALL_ROWS && size[2L] > 2L
}

is_tall <- function(x) has_many_rows(x) && nrow(x) >= TALL_RATIO * ncol(x)

# A shape alone says nothing: time series by channels or voxels are as tall as genes by samples, and so is any table of
# many cases. What tells them apart is looked at in this order.
#
# Names of rows. Genes always have them, observations seldom, but for numbers, dates, cells and samples. Genes by cells
# need not be tall: there names of rows tell if they are known as names of genes, or if columns are named as cells are,
# and in a sparse matrix also if columns have no names.
#
# What the values are. In genes by samples each column is the same assay of another sample: columns are of one level
# (where variables of a table have units of their own, and genes levels of their own), and rows do not follow from one
# another, where those of a series do. Such columns are transposed data
# * if they are counts, that is whole numbers, none negative, that go further than scores of a few steps do, and have
#   somewhat the same order of rows;
# * or if they have the same order of rows, as a gene that is strong in one sample is strong in all of them;
# * or, in a data frame, if there are as many rows as genes and few columns: in frames without names of rows the names
#   were a column, and expression centred by gene has no order of rows. A matrix may be a long series that is filtered
#   to white noise;
# * or, in a sparse matrix of any shape, if columns have somewhat the same order of rows and the levels of rows are much
#   farther apart than those of columns, as those of genes are.
# Rows of an image follow from one another as a series does. Its columns are transposed data if they are almost the
# same, as volumes are, or if each row is scaled. Images that are centred, and not scaled, look like series.
# A first column of whole numbers without repetition, unlike the next one, is of identifiers, and is not looked at.
warn_transposed <- function(x) {
  if (!has_many_rows(x) || inherits(x, "ts") || identical(getOption("gpucor.orientation"), "columns")) {
    return(invisible())
  }
  found <- look_of_names(x)
  if (is.null(found$reason)) return(invisible())
  warn("gpuCorTransposed", "'x' has ", format_count(nrow(x)), " rows and ", format_count(ncol(x)), " columns, and the ",
       "columns are correlated; ", found$reason, ". If the rows are the variables, such as genes or voxels, give ",
       transposed(x, isTRUE(found$ids)), "; options(gpucor.orientation = \"columns\") ends this warning")
}

# list(reason, ids); no reason: nothing tells that rows are variables.
look_of_names <- function(x) {
  rows <- names_of_rows(x)
  if (!is.null(rows) && are_observations(rows)) return(NULL)
  if (are_cells(colnames(x))) {
    return(list(reason = paste0("columns are named as cells are, such as \"", colnames(x)[1L], "\"")))
  }
  if (is.null(rows)) return(look_of_values(x))
  is_known <- is_tall(x) || are_genes(rows) || (is_sparse(x) && is.null(colnames(x))) || has_known_genes(x)
  if (is_known) return(list(reason = paste0("rows are named, as \"", rows[1L], "\" is")))
  if (is_sparse(x)) look_of_sparse(x)
}

look_of_values <- function(x) {
  found <- if (is_tall(x)) look_of_columns(x)
  if (is.null(found$reason) && is_sparse(x)) look_of_sparse(x) else found
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

# Barcodes: so many bases between other marks, and no more, as longer sequences are names of variables.
are_cells <- function(names) {
  names <- utils::head(names, 10L)
  length(names) > 2L && (all(grepl("(^|[^A-Za-z0-9])[ACGT]{10,18}([^A-Za-z0-9]|$)", names)) ||
                           all(grepl("^cell[-_. ]?[0-9]", names, ignore.case = TRUE)))
}

# Identifiers of Ensembl and of other annotations, and of probes.
are_genes <- function(names) {
  all(grepl("^(ENS[A-Z]*[GT][0-9]{11}|FBgn[0-9]{7}|WBGene[0-9]{8}|AT[1-5CM]G[0-9]{5}|ILMN_[0-9]+|cg[0-9]{8})|_[as]t$",
            names))
}

# Genes that hardly any data are without, of people and of mice.
has_known_genes <- function(x) {
  known <- c("ACTB", "GAPDH", "B2M", "MALAT1", "Actb", "Gapdh", "B2m", "Malat1")
  any(known %in% rownames(x)) && !any(known %in% colnames(x))
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
SAME_IMAGE <- 0.95 # least correlation of columns' ranks, of volumes
COUNTS_ORDER <- 0.2 # mean correlation of columns' ranks, of counts, of which many are 0
FOLLOWING <- 0.25 # correlation of a column with itself, a row later
GENES_LEAST <- 10000
GENES_RATIO <- 100

# As look_of_names(). Data that are not in memory are not read.
look_of_columns <- function(x) {
  if (is_outside(x)) return(NULL)
  if (has_scaled_rows(x)) return(list(reason = "each row has mean 0 and standard deviation 1"))
  if (is.matrix(x) && differ_at_once(x)) return(NULL)
  at <- unique(round(seq(1, nrow(x) - 1, length.out = LOOK_ROWS)))
  ids <- ncol(x) > 3L && are_identifiers(values_at(x, at, 1L)) && !are_identifiers(values_at(x, at, 2L))
  columns <- unique(round(seq(1 + ids, ncol(x), length.out = LOOK_COLUMNS)))
  list(reason = reason_in(values_at(x, at, columns), values_at(x, at + 1, columns), is_long_frame(x)), ids = ids)
}

# values: some rows of some columns; next_values: the rows after these. NULL: none.
reason_in <- function(values, next_values, is_long) {
  ranks <- ranked(values)
  if (follow(ranks, ranked(next_values))) {
    return(if (are_volumes(ranks) && same_level(values, FALSE)) "they are almost the same, as volumes of an image are")
  }
  alike <- order_in_common(ranks)
  counted <- are_counts(values, alike)
  if (!same_level(values, counted)) return(NULL)
  if (counted) return("they are whole numbers, as counts of genes are")
  if (alike >= SAME_ORDER) return("they are as similar as samples are")
  if (is_long) "there are as many rows as genes"
}

# Whether every column has almost the same order of rows as every other one.
are_volumes <- function(ranks) {
  r <- suppressWarnings(stats::cor(ranks))
  isTRUE(ncol(ranks) == LOOK_COLUMNS && min(r) >= SAME_IMAGE)
}

# Some rows tell, and mostly the first of these. A row of zeros, or without values, tells nothing.
has_scaled_rows <- function(x) {
  if (!is.matrix(x) || !is.double(x) || ncol(x) < 10L) return(FALSE)
  told <- 0L
  for (row in round(seq(1, nrow(x), length.out = 40L))) {
    values <- x[row, ]
    values <- values[is.finite(values)]
    if (all(values == 0)) next
    if (!is_scaled(values)) return(FALSE)
    told <- told + 1L
  }
  told >= 20L
}

# The standard deviation is that of the sample or that of the population.
is_scaled <- function(values) {
  n <- length(values)
  abs(mean(values)) < 1e-5 && min(abs(sum(values^2) / c(n - 1, n) - 1)) < 1e-4
}

# Of a sparse matrix: columns of about one level and somewhat the same order of rows, whose levels are far apart. Those
# of genes are, and those of cells are not.
look_of_sparse <- function(x) {
  columns <- unique(round(seq(1, ncol(x), length.out = 2 * LOOK_COLUMNS)))
  rows <- unique(round(seq(1, nrow(x), length.out = min(nrow(x), SPARSE_ROWS))))
  values <- values_at(x, rows, columns)
  if (anyNA(values) || min(values) < 0) return(NULL)
  spread <- function(level) if (all(level > 0)) stats::sd(log(level)) else Inf
  level <- rowMeans(values)
  is_apart <- mean(level > 0) > 0.1 && spread(level[level > 0]) >= 2 * spread(colMeans(values))
  if (is_apart && order_in_common(ranked(values)) >= COUNTS_ORDER) list(reason = "they are as similar as cells are")
}

SPARSE_ROWS <- 10000

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
