# What columns are regressed on: covariates, and functions of time such as the cosines outside a frequency band, of each
# run by itself. data-basis.R makes one basis of all of these; data-design.R has the rest of a design.

# Kinds of regressors, by the argument that asks for them, in the order of REGRESSION (R/run-specs.R), and the
# covariance by which they and the columns are whitened. A row:
#   fewer          what takes fewer degrees of freedom, for messages; only of REGRESSION
#   of_runs(asked, lengths)  if they are functions of time: for each run list(inside: columns to regress on; outside:
#                  NULL, or, if these are orthonormal, an orthonormal basis of what they and the mean leave; rank: of
#                  `inside`, then)
#   is_band        TRUE if these are a band's, which a measure of spectra takes itself
#   told(regressors)  what results tell of them, if not the arguments as they were given
#   words(adjusted)  this in headers of results
REGRESSORS <- list(
  covariates = list(
    fewer = "fewer covariates",
    told = function(regressors) {
      list(covariates = ncol(regressors$covariates), protect = ncol(regressors$protected))
    },
    words = function(adjusted) {
      paste0("adjusted for ", range_of(adjusted$covariates, "covariate"),
             if (!is.null(adjusted$protect)) paste(" beside", range_of(adjusted$protect, "protected one")))
    }
  ),
  bandpass = list(
    fewer = "a wider band",
    of_runs = function(asked, lengths) cosines_of_runs(asked$bandpass, asked$tr, lengths),
    is_band = TRUE,
    words = function(adjusted) {
      ends <- vapply(adjusted$bandpass, format, "")
      band <- if (is.infinite(adjusted$bandpass[2L])) paste("at least", ends[1L]) else paste(ends, collapse = "-")
      paste0(if (is.null(adjusted$spectrum)) "filtered to " else "in the band ", band, " Hz",
             if (!is.null(adjusted$tr)) paste0(" (TR ", format(adjusted$tr), " s)"))
    }
  ),
  runs = list(
    fewer = "fewer runs",
    told = function(regressors) list(runs = max(regressors$codes)),
    words = function(adjusted) paste("within", range_of(adjusted$runs, "run"))
  ),
  covariance = list(told = function(regressors) list(covariance = TRUE),
                    words = function(adjusted) "whitened by the observations' covariance")
)

# Returns NULL or the regressors, a list: `kinds`, names of REGRESSORS; `covariates`, and `protected`, what these must
# not take, and `covariance`, matrices, or NULL; `runs`, a list of each run's rows, and `codes`, NULL or the number of
# each row's run; `series`, NULL or for each run its functions of time (see `of_runs` below).
regressors_of <- function(asked, measure, n_obs) {
  codes <- check_runs(asked$runs, n_obs)
  kinds <- intersect(names(REGRESSORS), names(Filter(Negate(is.null), asked)))
  if (is.null(codes)) kinds <- setdiff(kinds, "runs")
  if (!length(kinds)) return(NULL)
  facts <- c(`any regression` = TRUE, `several runs` = !is.null(codes), `runs alone` = identical(kinds, "runs"),
             `unknown times` = is.null(asked$tr), `df = "bartlett"` = identical(asked$df, "bartlett"),
             `measure without regression` = !measure$takes_covariates, `measure without intercepts` = !measure$centred,
             `measure without whitening` = !measure$takes_weights)
  check_facts(c(kinds, names(which(facts))), words_of(measure$name))
  runs <- if (is.null(codes)) list(seq_len(n_obs)) else unname(split(seq_len(n_obs), codes))
  z <- if ("covariates" %in% kinds) covariates_of(asked, measure, n_obs)
  is_applied <- function(kind) !is.null(kind$of_runs) && !(measure$last_step == "complex" && isTRUE(kind$is_band))
  of_time <- Filter(is_applied, REGRESSORS[kinds])
  of_time <- unname(lapply(of_time, function(kind) kind$of_runs(asked, lengths(runs))))
  if (length(of_time) && is.null(asked$runs)) warn_of_runs(z$covariates)
  if (!length(of_time) && !is.null(asked$bandpass)) check_band(asked$bandpass, asked$tr, TRUE) # of a spectrum
  # Segments of a spectrum are without their means, so that the intercepts of runs change nothing.
  if (measure$last_step == "complex" && is.null(z)) runs <- list(seq_len(n_obs))
  joined <- function(...) list(inside = do.call(cbind, lapply(list(...), `[[`, "inside"))) # those of one run
  series <- if (length(of_time) < 2L) unlist(of_time, FALSE) else do.call(Map, c(list(f = joined), of_time))
  covariance <- if ("covariance" %in% kinds) check_covariance(asked$covariance, n_obs)
  list(kinds = kinds, covariates = z$covariates, protected = z$protected, covariance = covariance, series = series,
       runs = runs, codes = codes, centred = measure$centred, ranked = measure$ranked, df_taken = measure$df_taken,
       n_obs = n_obs)
}

# ---- covariates

# Returns list(covariates, protected: NULL if there are none), as check_covariates() does each. `data` may be for one.
covariates_of <- function(asked, measure, n_obs) {
  is_formula <- vapply(asked[c("covariates", "protect")], inherits, NA, "formula")
  data <- lapply(is_formula, function(own) if (own || !any(is_formula)) asked$data)
  protected <- if (!is.null(asked$protect)) {
    naming(check_covariates(asked$protect, data[[2L]], measure, n_obs), "covariates", "protect")
  }
  list(covariates = check_covariates(asked$covariates, data[[1L]], measure, n_obs), protected = protected)
}

# Returns a numeric matrix with one row per observation, including missing values.
check_covariates <- function(covariates, data, measure, n_obs) {
  is_text <- is.character(covariates) && is.null(dim(covariates)) && length(covariates) > 0L
  if (is_text && length(covariates) != n_obs) { # names of files or of columns
    shown <- show_value(unname(covariates))
    several <- length(covariates) > 1L
    fail("'covariates' is ", if (all(grepl("[.](tsv|csv|txt|1D|par)([.]gz)?$", covariates))) {
      paste0(shown, ", the name", if (several) "s of files" else " of a file",
             "; read the file first, as by readConfounds() or read.delim()",
             if (several) ", one for each subject in a list")
    } else {
      paste0("text, ", shown, ", and there are ", n_of(n_obs, "observation"), "; columns are named by a formula, ",
             "covariates = ~ ", paste(as_code(utils::head(covariates[nzchar(covariates)], 3L)), collapse = " + "),
             if (length(covariates) > 3L) " + ...", ", with data = for the data frame that has them")
    })
  }
  is_square <- is.matrix(covariates) && is_numeric(covariates) && n_obs > 2L && all(dim(covariates) == n_obs)
  if (is_square && isSymmetric(unname(covariates)) && any(covariates[upper.tri(covariates)] != 0, na.rm = TRUE)) {
    fail("'covariates' is a symmetric matrix with a column for each of the ", n_obs, " observations, as their ",
         "covariance is; covariance = takes such a matrix")
  }
  z <- covariate_matrix(covariates, data, measure$centred)
  check_as_many(nrow(z), "covariates", "row", n_obs)
  infinite <- which(is.infinite(z), arr.ind = TRUE)
  if (nrow(infinite)) fail("'covariates' is infinite ", spot_of(z, infinite))
  z
}

spot_of <- function(z, at) {
  column <- if (is.null(colnames(z))) at[1L, 2L] else paste0("\"", colnames(z)[at[1L, 2L]], "\"")
  paste0("in column ", column, ", row ", at[1L, 1L])
}

# Returns names as they are written in R, in backticks where necessary.
as_code <- function(names) {
  vapply(names, function(name) deparse1(as.name(printable(name)), backtick = TRUE), "", USE.NAMES = FALSE)
}

# Returns covariates as a numeric matrix. A formula becomes the model matrix of lm() without the intercept: centering
# replaces it, or the measure does not center.
covariate_matrix <- function(covariates, data, centred) {
  if (!inherits(covariates, "formula")) {
    if (!is.null(data)) fail("'data' are for a formula in 'covariates', which is of class ", class(covariates)[1L])
    if (is.factor(covariates) || is.character(covariates)) covariates <- data.frame(covariates)
    if (is.data.frame(covariates) && ncol(covariates)) {
      data <- covariates
      covariates <- ~ .
    }
  }
  if (inherits(covariates, "formula")) {
    z <- model_matrix(covariates, data, "covariates", "observation", centred)
    return(z[, colnames(z) != "(Intercept)", drop = FALSE])
  }
  covariates <- as_numbers(covariates)
  if (!is_variables(covariates) || length(dim(covariates)) > 2L) {
    fail("'covariates' ", if (is.data.frame(covariates)) {
      "has no columns"
    } else {
      paste("must be a numeric matrix, a data frame or a formula, not of class", class(covariates)[1L])
    })
  }
  z <- as.matrix(covariates) + 0
  tell_few_values(stats::setNames(as.data.frame(unclass(z)), colnames(z)))
  z
}

# Returns the model matrix of the formula in argument `name`, with missing values, and with attribute `term_labels`.
# `has_intercept`: TRUE, FALSE or, as the formula says, NULL.
model_matrix <- function(formula, data, name, of, has_intercept = NULL) {
  prefix <- paste0("'", name, "': ")
  check_that(formula, name, length(formula) == 2L, "a formula without a left side")
  absent <- setdiff(all.vars(formula), c(".", names(data)))
  where <- environment(formula)
  absent <- if (!is.null(where)) absent[!vapply(absent, exists, NA, envir = where)]
  if (length(absent)) {
    fail(prefix, "there is no '", absent[1L], "'", if (!is.null(data)) " in 'data', and none",
         " where the formula was written; data = takes a data frame that has it, with a row for each ", of)
  }
  data <- if (is.null(data)) where else as_numbers(data)
  frame <- with_our_errors(stats::model.frame(formula, data, na.action = stats::na.pass, drop.unused.levels = TRUE),
                           prefix)
  for (variable in names(frame)) check_text(frame[[variable]], variable, name)
  terms <- attr(frame, "terms")
  frame <- as_numbers(frame)
  if (length(attr(terms, "offset"))) {
    fail("'", name, "' has ", names(frame)[attr(terms, "offset")[1L]], ", and columns are regressed without offsets; ",
         "leave it out, or subtract it from 'x'")
  }
  tell_few_values(frame[names(frame) %in% all.vars(terms)]) # not I(batch)
  if (!is.null(has_intercept)) attr(terms, "intercept") <- as.integer(has_intercept)
  structure(with_our_errors(stats::model.matrix(terms, frame), prefix), term_labels = attr(terms, "term.labels"))
}

# Max number of distinct integers of a covariate that may be labels of groups.
FEW_VALUES <- 10

# Shows a message if numbers may be labels, such as batches 1 to 5: as numbers, each step from one to the next has the
# same effect. 0, 1 and 2 are not labels, as they may count alleles. each_subject() shows the message once. `columns`: a
# list.
tell_few_values <- function(columns) {
  are_labels <- vapply(columns, FUN.VALUE = NA, function(column) {
    if (!is_numeric(column) || !is.null(dim(column))) return(FALSE)
    column <- column[!is.na(column)]
    values <- unique(column)
    length(values) > 2L && length(values) <= min(FEW_VALUES, length(column) / 2) && all(values >= 0) &&
      all(values == round(values)) && !setequal(values, 0:2)
  })
  if (!any(are_labels)) return(invisible())
  at <- which(are_labels)[1L]
  name <- names(columns)[at]
  has_name <- isTRUE(nzchar(name))
  text <- paste0("'covariates' has only the values ", toString(sort(unique(columns[[at]]))), " in column ",
                 if (has_name) name else at, ", and columns are adjusted for them along a straight line; if they are ",
                 "labels, such as of batches, give ",
                 if (has_name) paste0("factor(", as_code(name), ")") else "factor() of it", "\n")
  message(structure(list(message = text, call = NULL), class = c("gpuCorFewValues", "message", "condition")))
}

# Text that should be numeric would become a contrast for each of its values.
check_text <- function(column, name, argument = "covariates") {
  if (!is.character(column) && !is.factor(column)) return(invisible())
  values <- as.character(column[!is.na(column)])
  levels <- unique(values)
  missing <- grep(MISSING_WORDS, levels, ignore.case = TRUE, value = TRUE)
  is_misread <- is.character(column) && length(missing) > 0L # levels may be intended
  if (length(levels) <= MANY_LEVELS * length(values) && !is_misread) return(invisible())
  shown <- show_value(c(missing, levels)[1L])
  fail("'", argument, "' has column \"", name, "\" of text, with ", n_of(length(levels), "different value"), " in ",
       n_of(length(values), "observation"), if (length(missing)) {
         paste0("; ", shown, " in it means a missing value: read the file with na.strings = ", shown, ", as in ",
                "read.delim(file, na.strings = ", shown, ")")
       } else if (are_number_texts(levels)) {
         "; they are numbers: as.numeric(as.character()) of the column"
       } else {
         paste0(", such as ", shown, "; leave it out")
       })
}

# Max number of levels of a factor, as a fraction of the observations: paired samples have 1/2.
MANY_LEVELS <- 2 / 3

# Text that means a missing value in files; "n/a" is that of BIDS.
MISSING_WORDS <- "^ *(#?n/a|nan?|null|[.?]|) *$"

are_number_texts <- function(texts) {
  if (!all(validEnc(texts))) return(FALSE)
  numbers <- utils::type.convert(texts, as.is = TRUE)
  is.numeric(numbers) && !anyNA(numbers)
}

# Returns a covariance with row names, which are its columns' if only these have names: files often have no others.
named_by_either <- function(covariance) {
  names <- colnames(covariance)
  is_frame <- is.data.frame(covariance)
  has_rows <- if (is_frame) is.character(attr(covariance, "row.names")) else !is.null(rownames(covariance))
  if (has_rows || is.null(names) || nrow(covariance) != length(names)) return(covariance)
  v <- as.matrix(covariance)
  rownames(v) <- if (!all(grepl("^[VX][0-9]+$", names))) names # those that R gives to columns without a name
  v
}

# Returns the matrix without names.
check_covariance <- function(covariance, n_obs) {
  v <- if (is.data.frame(covariance) || isS4(covariance)) as.matrix(covariance) else covariance
  if (is.matrix(v) && !is_numeric(v)) {
    fail("'covariance' is a matrix of ", typeof(v), " values; it must be of numbers, without columns of names")
  }
  check_that(v, "covariance", is_numeric(v) && length(dim(v)) == 2L,
             "a matrix of numbers, with a row and a column for each observation")
  check_as_many(nrow(v), "covariance", "row", n_obs)
  check_as_many(ncol(v), "covariance", "column", n_obs)
  names <- dimnames(v)
  if (!is.null(names[[1L]]) && !is.null(names[[2L]]) && !identical(names[[1L]], names[[2L]])) {
    fail("'covariance' has other names of rows than of columns; give both the same observations, or remove the names")
  }
  unname(v)
}

# ---- runs

# Returns the number of each row's run, or NULL if there is only one run.
check_runs <- function(runs, n_obs) {
  if (is.null(runs)) return(NULL)
  check_that(runs, "runs", is.atomic(runs) && is.null(dim(runs)), "a vector with the label of each row's run")
  check_as_many(length(runs), "runs", "value", n_obs,
                ", and each needs the label of its run, as in rep(1:2, c(200, 180))")
  if (anyNA(runs)) fail("'runs' is missing at observation ", which(is.na(runs))[1L])
  codes <- match(runs, unique(runs))
  back <- which(diff(codes) < 0)[1L] + 1L
  if (!is.na(back)) {
    fail("'runs' returns to ", show_value(as.character(runs[back])), " at observation ", back, "; the rows of a run ",
         "must follow one another in the order of time")
  }
  if (length(unique(codes)) > 1L) codes
}

# Warns if covariates look like labels of runs, as `~ run` does: a filter of all rows rings at the runs' boundaries.
warn_of_runs <- function(z) {
  is_step <- function(column) {
    blocks <- rle(column[!is.na(column)])
    n <- length(blocks$lengths)
    n > 1L && !anyDuplicated(blocks$values) && min(blocks$lengths) >= max(MIN_RUN, SHORT_RUN * mean(blocks$lengths))
  }
  if (is.null(z) || !any(apply(z, 2L, is_step))) return(invisible())
  warn("gpuCorRuns", "'covariates' seem to tell runs apart, and 'bandpass' filters across the boundaries; give the ",
       "labels of the runs as 'runs', by which each run is regressed and filtered by itself")
}

# Min rows of a run: a covariate that is constant in fewer rows is no label of runs.
MIN_RUN <- 5

# Min rows of the shortest run, as a fraction of the mean: a shorter block, at one end, has bad volumes.
SHORT_RUN <- 0.2

# ---- a band of frequencies

# Returns for each run an environment of `inside` and `outside`, orthonormal columns: the discrete cosines that the
# filter stops, and those in the band, which it passes; each is computed when it is used. `lengths`: of the runs.
cosines_of_runs <- function(bandpass, tr, lengths) {
  check_band(bandpass, tr)
  lapply(lengths, function(n) {
    number <- seq_len(max(n, 1L) - 1L)
    frequency <- number / (2 * n * tr)
    passes <- frequency >= bandpass[1L] & frequency <= bandpass[2L]
    cosines <- function(number) sqrt(2 / n) * cos(outer(seq_len(n) - 0.5, number) * (pi / n))
    spaces <- list2env(list(rank = sum(!passes)))
    delayedAssign("inside", cosines(number[!passes]), assign.env = spaces)
    delayedAssign("outside", cosines(number[passes]), assign.env = spaces)
    spaces
  })
}

# `may_be_one`: TRUE to allow a single frequency.
check_band <- function(bandpass, tr, may_be_one = FALSE) {
  is_band <- is_numeric(bandpass) && length(bandpass) == 2L && isTRUE(bandpass[1L] >= 0) &&
    isTRUE(bandpass[1L] < bandpass[2L] || (may_be_one && bandpass[1L] == bandpass[2L]))
  check_that(bandpass, "bandpass", is_band, "two frequencies in Hz, the lower one first",
             if (is.list(bandpass)) "; of several bands, lapply(bands, function(band) gpuCor(x, bandpass = band, ...))")
  highest <- 1 / (2 * check_tr(tr))
  milliseconds <- if (tr > LONG_TR) paste0("; if 'tr' is in milliseconds, give tr = ", format(tr / 1000))
  if (bandpass[1L] > highest) {
    fail("'bandpass' begins at ", format(bandpass[1L]), " Hz, and observations every ", format(tr),
         " s have no frequencies above 1 / (2 tr) = ", format(highest, digits = 3), " Hz", milliseconds)
  }
  if (!is.null(milliseconds) && bandpass[2L] > highest) {
    warn("gpuCorTime", "'tr' is ", format(tr), " seconds, longer than volumes take", milliseconds)
  }
}

# Max plausible seconds between volumes of an image.
LONG_TR <- 20

# ---- the basis of all regressors

# Returns the design with the basis of its regressors, and with weights 0 for observations that miss regressors.
design_with_regressors <- function(run) {
  asked <- run$asked
  design <- run$design
  regressors <- regressors_of(asked, measure_of(run$method), nrow(run$x))
  if (is.null(regressors)) return(design)
  weights <- if (is.null(design$weights)) rep(1, regressors$n_obs) else design$weights
  counts <- weights > 0
  z <- cbind(regressors$covariates, regressors$protected)
  missing <- if (is.null(z)) FALSE else is.na(z) & counts
  if (any(missing)) { # such observations are dropped, as lm() does
    if (uses[run$use] %in% c("everything", "all.obs")) {
      fail("'covariates' is missing ", spot_of(z, which(missing, arr.ind = TRUE)),
           "; leave such observations out by use = \"complete.obs\" or by 'weights' of 0")
    }
    counts <- counts & rowSums(missing) == 0
  }
  if (drops_observations(run)) {
    counts <- counts & complete_observations(with_made(run, replace(design, "weights", list(weights * counts))))
  }
  if (!all(counts)) design$weights <- weights * counts
  if (any(counts)) { # otherwise no coefficient exists
    is_pairwise <- uses[run$use] == "pairwise.complete.obs"
    mixes <- intersect(c("protect", "covariance"), names(asked))
    if (length(mixes)) {
      misses <- is_pairwise && any(vapply(Filter(Negate(is.null), run[c("x", "y")]), has_missing, NA))
      check_facts(c("covariates", mixes, if (misses) "pairs that miss some", if (is_graded(design)) "graded weights"))
    }
    basis <- basis_of(regressors, design$weights, counts, !is_pairwise)
    design$lost <- basis$lost
    check_left(sum(counts) - regressors$df_taken, basis$lost, intersect(regressors$kinds, names(REGRESSION)))
    design[c("basis", "removed", "keeps")] <- basis[c("basis", "removed", "keeps")]
    design$is_map <- !is.null(regressors$covariance)
    design$runs <- regressors$codes
    if (regressors$ranked && is_pairwise && !basis$keeps) design[c("raw", "ranked")] <- raw_regressors(regressors)
  }
  told <- unlist(lapply(regressors$kinds, function(kind) {
    told <- REGRESSORS[[kind]]$told
    if (is.null(told)) asked[REGRESSION[[kind]]] else told(regressors)
  }), FALSE)
  design$adjusted <- c(design$adjusted, told, if (design$lost > 0) list(lost = design$lost))
  design
}

# Degrees of freedom below which a warning is given: with 9, 5 % of independent pairs have a coefficient above 0.6.
FEW_DF <- 10

# `df`: degrees of freedom without regressors; `taken`: those used by the regressors of these kinds. If none remain,
# every coefficient is 1 or -1.
check_left <- function(df, taken, kinds) {
  left <- df - taken
  if (left >= FEW_DF || taken == 0) return(invisible())
  hint <- paste0("; use ", paste(vapply(REGRESSORS[kinds], `[[`, "", "fewer"), collapse = ", or "))
  of <- paste0(listed(kinds, "and"), ": the regression takes ", format_count(taken), " of ", format_count(df),
               " degrees of freedom")
  if (left < 1) fail(of, " and leaves none", hint)
  if (df <= FEW_DF) hint <- "; there are few observations"
  warn("gpuCorFewLeft", of, " and leaves ", format_count(left), ", with which unrelated columns have large ",
       "coefficients", hint)
}
