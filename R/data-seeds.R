# Seeds: columns, or series, that are compared with all columns instead of all pairs of these.

# Returns list(data: for each subject a matrix with a column for each seed; at: the numbers of the data's columns that
# these are, or NULL for series), or NULL without seeds. `data`: a list of the subjects' matrices; `names`: theirs.
seeds_of <- function(seeds, data, names, method) {
  if (is.null(seeds)) return(NULL)
  if (is.atomic(seeds) && is.null(dim(seeds))) {
    columns <- colnames(data[[1L]])
    at <- if (is.character(seeds)) match(seeds, columns) else seeds
    check_that(seeds, "seeds", are_finite(at, NULL, 1, ncol(data[[1L]])) && all(at == floor(at)) && !anyDuplicated(at),
               paste("names or numbers of columns, each once, of", n_of(ncol(data[[1L]]), "column")),
               "; series are a matrix, or a list of one for each subject")
    own <- if (is.null(columns)) as.character(at) else columns[at]
    return(list(at = at, data = lapply(data, function(m) {
      m <- dense_columns(m, at)
      dimnames(m) <- list(NULL, own)
      m
    })))
  }
  if (method == "given") fail("'seeds' are names or numbers of columns with method = \"given\", not series")
  if (!is_subjects(seeds)) seeds <- rep(list(seeds), length(data))
  check_as_many(length(seeds), "seeds", "element", length(data), of = "subject")
  series <- each_subject(length(data), names = names, function(i) {
    own <- if (is.null(dim(seeds[[i]]))) matrix(seeds[[i]], ncol = 1L) else seeds[[i]]
    own <- check_variables(own, "seeds", method = method)
    check_as_many(nrow(own), "seeds", "row", nrow(data[[i]]))
    check_same_columns(own, if (i > 1L) as.matrix(seeds[[1L]]), "seeds", FIRST_SUBJECT)
    own
  })
  list(at = NULL, data = series)
}
