# The kinds of data that a call can have.

is_variables <- function(x) is_numeric(x) || is.logical(x)

is_sparse <- function(x) isS4(x) && is(x, "sparseMatrix")

is_network <- function(x) isS4(x) && is(x, "gpuNetwork")

as_plain_sparse <- function(x) as(x, if (is(x, "dsCMatrix")) "dsCMatrix" else "dgCMatrix")

# Returns x. Stops if it is an object of another package that C code would read or write beyond its end: a matrix of
# package Matrix whose slots, which users may change, do not belong together; or a big.matrix of another session. A
# network is checked as the matrix that it is, as networks of an earlier version have fewer slots.
check_slots <- function(x, name) {
  if (!isS4(x)) return(x)
  if (inherits(x, "big.matrix")) {
    need_packages("bigmemory", paste0("'", name, "' is a ", class(x)[1L], ", which"))
    if (!bigmemory::is.nil(x@address)) return(x)
    fail("'", name, "' is a big.matrix of another session, without its data; attach them by ",
         "bigmemory::attach.big.matrix()") # even dim() would end R
  }
  if (!is(x, "Matrix")) return(x)
  found <- tryCatch(methods::validObject(if (is_network(x)) as_plain_sparse(x) else x, test = TRUE),
                    error = conditionMessage)
  if (isTRUE(found)) return(x)
  fail("'", name, "' is a damaged matrix of class ", class(x)[1L], " (", found[1L], "); make it again")
}

# Returns TRUE for data that are read in blocks, by R (data-outside.R) or by the engine.
is_outside <- function(x) inherits(x, c("gpuCorFile", "DelayedMatrix", "big.matrix"))

is_matrix <- function(x) is.matrix(x) || is_outside(x) || (isS4(x) && is(x, "dgCMatrix"))

# is_subjects() is TRUE for the user's data of several subjects, is_combined() for their form in the engine.
is_subjects <- function(x) is.function(x) || (is.list(x) && !is.object(x))

is_combined <- function(x) inherits(x, "gpuCorSubjects")

is_study <- function(x) inherits(x, "bidsSubjects")

# Returns the list of a study's matrices, of all sessions.
series_of_study <- function(study) if (is.null(dim(study$x[[1L]]))) unlist(study$x, recursive = FALSE) else study$x

# ---- blocks

# Max number of values in a block of several columns.
BLOCK_VALUES <- 2^22

# Returns the range of column indices of each block of up to `values` values.
column_ranges <- function(n_col, n_row, values = BLOCK_VALUES) {
  width <- max(1, values %/% max(1, n_row))
  first <- seq(1, by = width, length.out = ceiling(n_col / width))
  lapply(first, function(from) from:min(from + width - 1, n_col))
}

# Returns the row of each entry in compressed rows that start at p (or the column, in compressed columns).
row_numbers <- function(p) rep.int(seq_len(length(p) - 1L), diff(p))

# ---- observations

# Stops unless argument `name` has as many `things` as there are observations, or others that `of` names.
check_as_many <- function(n, name, things, n_obs, hint = "", of = "observation") {
  if (n != n_obs) fail("'", name, "' has ", n_of(n, things), "; there are ", n_of(n_obs, of), hint)
}

# Returns the indices of the observations to `keep` of a series, ascending. `what`: a word for several of them, and
# whose they are.
kept_times <- function(keep, times, what) {
  if (is.null(keep)) return(seq_len(times))
  are_times <- is_variables(keep) && !anyNA(keep) && if (is.logical(keep)) {
    length(keep) == times
  } else {
    all(keep == floor(keep)) && all(abs(keep) <= times) && (all(keep > 0) || all(keep < 0))
  }
  check_that(keep, "keep", are_times,
             paste0("a logical value for each of the ", times, " ", what, ", or numbers of these"),
             if (is.logical(keep)) paste0(" (", n_of(length(keep), "value"), ")"))
  kept <- sort(unique(seq_len(times)[keep]))
  if (length(kept) < 2L) {
    fail("'keep' leaves ", length(kept), " of ", times, " ", what, "; a correlation needs two or more")
  }
  kept
}

# Returns the seconds from one observation to the next that x itself tells, or NULL. ts() has frequency 1 by default.
interval_of <- function(x) {
  if (stats::is.ts(x) && stats::frequency(x) != 1) stats::deltat(x) else attr(x, "tr", exact = TRUE)
}

check_rate <- function(rate) {
  check_that(rate, "rate", are_finite(rate, 1L) && rate > 0, "the number of observations a second")
}

check_tr <- function(tr) {
  check_that(tr, "tr", are_finite(tr, 1L) && tr > 0, "the seconds from one observation to the next")
}

# ---- files named as in BIDS, such as sub-01_ses-1_task-rest_space-MNI_desc-preproc_bold.nii.gz

# Returns c(sub = "01", ses = "1", ...), or NULL for another name.
file_entities <- function(file) {
  if (!startsWith(basename(file), "sub-")) return(NULL)
  parts <- strsplit(sub("([.][A-Za-z][A-Za-z0-9]*)+$", "", basename(file)), "_", fixed = TRUE)[[1L]]
  parts <- grep("^[a-z]+-.", parts, value = TRUE)
  stats::setNames(sub("^[a-z]+-", "", parts), sub("-.*", "", parts))
}

# Returns "sub-01_ses-1_task-rest" of the entities, without those named `but`.
entity_name <- function(entities, but = "desc") {
  entities <- entities[!names(entities) %in% but]
  paste(names(entities), entities, sep = "-", collapse = "_")
}

# Entities of derivatives, which a subject's name leaves out.
DERIVED_ENTITIES <- c("space", "cohort", "res", "den", "desc")

# Returns the names of subjects: those of the list x, or of the scans that their `data` are of, or NULL.
subject_labels <- function(x, data = x) {
  if (!is.null(names(x)) || !is.list(data)) return(names(x))
  entities <- lapply(data, attr, "entities", exact = TRUE)
  if (all(lengths(entities) > 0L)) vapply(entities, entity_name, "", DERIVED_ENTITIES)
}
