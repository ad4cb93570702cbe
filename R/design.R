# Which weight each observation has, what columns are freed of before they are compared, and the options of measures:
# what the engine calls a design. The help of it is gpucor-measures (R/measures.R).

# The arguments, in the `...` of every function that takes x; and those that are options of a measure.
DESIGN <- c("weights", "covariates", "data", "bandpass", "tr", "df")

option_names <- function() unique(unlist(lapply(measures()$options, names)))

# What was given of both.
asked_design <- function(given) {
  given[names(given) %in% c(DESIGN, option_names()) & !vapply(given, is.null, NA)]
}

# The settings with the design of a task of n_obs observations. complete: a function that says which of them have all
# values, given the settings at hand; each_column: one that applies another to all columns. tests: whether there are
# going to be p values.
designed <- function(settings, method, use, n_obs, complete, each_column, tests) {
  asked <- settings$asked
  if (!length(asked)) return(settings)
  measure <- measure_of(method)
  design <- list(weights = check_weights(asked$weights, n_obs), basis = NULL, keeps = FALSE, raw = NULL, ranked = 0,
                 option = check_options(asked, method), df = check_df(asked$df, method, tests), lost = 0)
  settings$design <- design
  regressors <- regressors_of(asked, measure, n_obs)
  if (!is.null(regressors)) settings$design <- regressed(regressors, settings, use, complete)
  if (falls_back_at_once(design)) {
    settings$design$option <- fallback_of_all(settings$design, each_column)
  }
  settings
}

# The same for x and y of the engine's.
designed_input <- function(settings, input, method, use, tests = FALSE) {
  if (!is.null(input$asked)) settings$asked <- input$asked # of one subject in a list
  if (!length(settings$asked) || is_combined(input$x)) return(settings)
  n_obs <- nrow(input$x)
  complete <- function(settings) {
    counted <- count_observations(input$x, input$y, method, use, settings)
    if (is.null(counted$observed)) return(rep(TRUE, n_obs))
    seq_len(n_obs) %in% (counted$observed[seq_len(counted$n_obs)] + 1L)
  }
  each_column <- function(f) {
    unlist(lapply(list(input$x, input$y), function(m) if (!is.null(m)) column_blocks(m, function(b) apply(b, 2L, f))))
  }
  designed(settings, method, use, n_obs, complete, each_column, tests)
}

# The same for variables in rows, or, where they are not by_row, in columns.
designed_rows <- function(settings, x, by_row, method, use) {
  if (!by_row) return(designed_input(settings, list(x = x), method, use))
  designed(settings, method, use, ncol(x), function(settings) colSums(is.na(x)) == 0, function(f) apply(x, 1L, f),
           tests = FALSE)
}

# ---- weights

# NULL: all count alike. Weights that are 0 and some other number are 0 and 1: they only say what counts.
check_weights <- function(weights, n_obs) {
  if (is.null(weights)) return(NULL)
  if (!is_variables(weights) || !is.null(dim(weights))) {
    fail("'weights' must be a vector of numbers, one for each observation, not ", show_value(weights))
  }
  if (length(weights) != n_obs) {
    fail("'weights' has ", n_of(length(weights), "value"), "; there are ", n_of(n_obs, "observation"))
  }
  bad <- which(!is.finite(weights) | weights < 0)
  if (length(bad)) {
    fail("'weights' is ", format(weights[bad[1L]]), " at observation ", bad[1L],
         "; it must be a finite number of at least 0, 0 for an observation that does not count")
  }
  counts <- weights > 0
  if (n_obs > 0L && !any(counts)) fail("'weights' are all 0: no observation counts")
  weights <- weights / max(weights, 1e-300)
  if (all(counts) && length(unique(weights)) < 2L) return(NULL)
  if (length(unique(weights[counts])) < 2L) as.numeric(counts) else as.numeric(weights)
}

# ---- a measure's options

# Their values by number, as the engine has them; NULL: none was given.
check_options <- function(asked, method) {
  known <- measure_of(method)$options[[1L]]
  given <- intersect(names(asked), option_names())
  unknown <- setdiff(given, names(known))
  if (length(unknown)) fail("method = \"", method, "\" takes no '", unknown[1L], "'")
  if (!length(given)) return(NULL)
  vapply(names(known), function(name) check_option(asked[[name]], name, known[[name]]), 0)
}

check_option <- function(value, name, option) {
  if (is.null(value)) return(option$value)
  if (!is.null(option$choices)) return(match(check_choice(value, option$choices, name), option$choices) - 1)
  ok <- is.numeric(value) && length(value) == 1L && is.finite(value) && value >= option$least && value <= option$most
  if (!ok) {
    fail("'", name, "' must be a number between ", option$least, " and ", option$most, ", not ", show_value(value))
  }
  as.numeric(value)
}

# pearsonFallback = "all": whether there is a column without a deviation decides on all.
falls_back_at_once <- function(design) isTRUE(design$option["pearsonFallback"] == 2)

fallback_of_all <- function(design, each_column) {
  counts <- if (is.null(design$weights)) TRUE else design$weights > 0
  has_none <- function(x) isTRUE(stats::mad(x[counts], constant = 1, na.rm = TRUE) == 0)
  option <- design$option
  if (!any(each_column(has_none))) option[["pearsonFallback"]] <- 1
  option
}

# ---- degrees of freedom

# NULL, a number, or "bartlett".
check_df <- function(df, method, tests) {
  if (is.null(df)) return(NULL)
  if (!tests) fail("'df' says what p values are of; gpuCorTest() and gpuCorNetwork() with 'p.value' or 'fdr' have any")
  if (!is_t_distributed(method)) {
    fail("'df' has no meaning for method = \"", method, "\", whose p values follow from a normal distribution")
  }
  if (identical(df, "bartlett")) return(df)
  ok <- is.numeric(df) && length(df) == 1L && is.finite(df) && df >= 1
  if (!ok) fail("'df' must be a number of at least 1, or \"bartlett\", not ", show_value(df))
  as.numeric(df)
}

# ---- covariates

# What columns are to be regressed on: a matrix of covariates and one of cosines, either may be NULL; NULL: neither.
regressors_of <- function(asked, measure, n_obs) {
  if (is.null(asked$covariates) && !is.null(asked$data)) fail("'data' are for a formula in 'covariates'; there is none")
  if (is.null(asked$bandpass) != is.null(asked$tr)) {
    fail("'bandpass' and 'tr' belong together: two frequencies, and the seconds from one observation to the next")
  }
  if (is.null(asked$covariates) && is.null(asked$bandpass)) return(NULL)
  if (!measure$takes_covariates) {
    fail("method = \"", measure$name, "\" takes no 'covariates' and no 'bandpass': ", measure$refusal)
  }
  list(covariates = if (!is.null(asked$covariates)) check_covariates(asked$covariates, asked$data, measure, n_obs),
       cosines = if (!is.null(asked$bandpass)) stopped_cosines(asked$bandpass, asked$tr, n_obs),
       centred = measure$centred, ranked = measure$ranked, n_obs = n_obs)
}

# A numeric matrix of a row for each observation, missing values included.
check_covariates <- function(covariates, data, measure, n_obs) {
  check_not_names(covariates, n_obs)
  z <- covariate_matrix(covariates, data, measure$centred)
  if (nrow(z) != n_obs) {
    fail("'covariates' has ", n_of(nrow(z), "row"), "; there are ", n_of(n_obs, "observation"))
  }
  infinite <- which(is.infinite(z), arr.ind = TRUE)
  if (nrow(infinite)) fail("'covariates' is infinite ", spot_of(z, infinite))
  z
}

# Names of columns in the place of what they name.
check_not_names <- function(covariates, n_obs) {
  is_text <- is.character(covariates) && is.null(dim(covariates)) && length(covariates) > 0L
  if (!is_text || length(covariates) == n_obs) return(invisible())
  names <- utils::head(covariates[nzchar(covariates)], 3L)
  terms <- vapply(names, function(name) deparse1(as.name(name), backtick = TRUE), "")
  fail("'covariates' is text, ", show_value(unname(covariates)), ", and there are ", n_of(n_obs, "observation"),
       "; columns are named by a formula, covariates = ~ ", paste(terms, collapse = " + "),
       if (length(covariates) > 3L) " + ...", ", with data = for the data frame that has them")
}

covariate_matrix <- function(covariates, data, centred) {
  if (inherits(covariates, "formula")) return(formula_matrix(covariates, data, centred))
  if (!is.null(data)) fail("'data' are for a formula in 'covariates', which is of class ", class(covariates)[1L])
  if (is.data.frame(covariates)) {
    if (!ncol(covariates)) fail("'covariates' has no columns")
    return(formula_matrix(~ ., covariates, centred))
  }
  if (is.factor(covariates) || is.character(covariates)) return(formula_matrix(~ ., data.frame(covariates), centred))
  if (!is_variables(covariates) || length(dim(covariates)) > 2L) {
    fail("'covariates' must be a numeric matrix, a data frame or a formula, not of class ", class(covariates)[1L])
  }
  as.matrix(covariates) + 0
}

# As lm() has it. The intercept is left out: columns are centred anyway, or are not to be.
formula_matrix <- function(formula, data, centred) {
  if (length(formula) != 2L) fail("'covariates' must be a formula without a left side, not ", show_value(formula))
  check_there(formula, data)
  if (is.null(data)) data <- environment(formula)
  frame <- tryCatch(stats::model.frame(formula, data, na.action = stats::na.pass, drop.unused.levels = TRUE),
                    error = function(e) fail("'covariates': ", conditionMessage(e)))
  terms <- attr(frame, "terms")
  attr(terms, "intercept") <- as.integer(centred)
  z <- tryCatch(stats::model.matrix(terms, frame), error = function(e) fail("'covariates': ", conditionMessage(e)))
  z[, colnames(z) != "(Intercept)", drop = FALSE]
}

# Whether the variables are in the data, or where the formula was written.
check_there <- function(formula, data) {
  wanted <- setdiff(all.vars(formula), c(".", names(data)))
  where <- environment(formula)
  if (is.null(where)) return(invisible())
  absent <- wanted[!vapply(wanted, exists, NA, envir = where)]
  if (!length(absent)) return(invisible())
  fail("'covariates': there is no '", absent[1L], "'", if (!is.null(data)) " in 'data', and none",
       " where the formula was written; data = takes a data frame that has it, with a row for each observation")
}

spot_of <- function(z, at) {
  column <- if (is.null(colnames(z))) at[1L, 2L] else paste0("\"", colnames(z)[at[1L, 2L]], "\"")
  paste0("in column ", column, ", row ", at[1L, 1L])
}

# ---- a band of frequencies

# The discrete cosines whose frequency is outside of the band: orthogonal columns of length 1.
stopped_cosines <- function(bandpass, tr, n_obs) {
  check_band(bandpass, tr)
  number <- seq_len(max(n_obs, 1L) - 1L)
  frequency <- number / (2 * n_obs * tr)
  list(stopped = cosines_of(number[frequency < bandpass[1L] | frequency > bandpass[2L]], n_obs),
       passed = cosines_of(number[frequency >= bandpass[1L] & frequency <= bandpass[2L]], n_obs))
}

check_band <- function(bandpass, tr) {
  ok <- is.numeric(bandpass) && length(bandpass) == 2L && isTRUE(0 <= bandpass[1L] && bandpass[1L] < bandpass[2L])
  if (!ok) fail("'bandpass' must be two frequencies in Hz, the lower one first, not ", show_value(bandpass))
  if (!(is.numeric(tr) && length(tr) == 1L && is.finite(tr) && tr > 0)) {
    fail("'tr' must be the seconds from one observation to the next, not ", show_value(tr))
  }
}

cosines_of <- function(number, n_obs) {
  sqrt(2 / n_obs) * cos(outer(seq_len(n_obs) - 0.5, number) * (pi / n_obs))
}

# ---- one basis of both

# The design with the basis of the regressors among the observations that count, and those that do not on account of
# them.
regressed <- function(regressors, settings, use, complete) {
  design <- settings$design
  counts <- if (is.null(design$weights)) rep(TRUE, regressors$n_obs) else design$weights > 0
  counts <- with_covariates(regressors$covariates, counts, use)
  if (uses[use] %in% c("complete.obs", "na.or.complete")) {
    settings$design$weights <- if (is.null(design$weights)) as.numeric(counts) else design$weights * counts
    counts <- counts & complete(settings)
  }
  if (!all(counts)) design$weights <- (if (is.null(design$weights)) 1 else design$weights) * counts
  if (!any(counts)) return(design) # and there is no coefficient
  is_pairwise <- uses[use] == "pairwise.complete.obs"
  basis <- basis_of(regressors, design$weights, counts, !is_pairwise)
  design$lost <- basis$rank
  check_left(sum(counts) - regressors$centred - basis$rank, sum(counts), basis$rank)
  design[c("basis", "keeps")] <- basis[c("basis", "keeps")]
  if (regressors$ranked && is_pairwise) design[c("raw", "ranked")] <- raw_regressors(regressors)
  design
}

# An observation that misses a covariate does not count where incomplete ones are left out, as in lm().
with_covariates <- function(z, counts, use) {
  missing <- if (is.null(z)) FALSE else is.na(z) & counts
  if (!any(missing)) return(counts)
  if (uses[use] %in% c("everything", "all.obs")) {
    fail("'covariates' is missing ", spot_of(z, which(missing, arr.ind = TRUE)), "; leave such observations out by ",
         "use = \"complete.obs\" or by 'weights' of 0")
  }
  counts & rowSums(missing) == 0
}

# Of one dimension every coefficient is 1 or -1.
check_left <- function(left, n, rank) {
  if (left >= 2 || rank == 0) return(invisible())
  fail("'covariates' and 'bandpass' take ", format_count(rank), " degrees of freedom, and of ", format_count(n),
       " observations nothing is left to be compared; regress on fewer, or pass a wider band")
}

# list(basis: orthonormal columns, a row for each observation, 0 where it does not count; rank: of what is regressed on;
# keeps: whether the basis is of what is left instead, as that is smaller). may_keep: whether it may.
basis_of <- function(regressors, weights, counts, may_keep) {
  root <- if (is.null(weights)) rep(1, sum(counts)) else sqrt(weights[counts])
  z <- covariates_as_compared(regressors, weights, counts)
  cosines <- regressors$cosines$stopped
  plain <- regressors$centred && all(counts) && all(root == root[1L])
  if (plain && is.null(z)) { # orthogonal as they are
    found <- list(inside = cosines, outside = regressors$cosines$passed)
  } else {
    found <- both_spaces(cbind(z, centred_columns(cosines[counts, , drop = FALSE], root, regressors$centred)) * root,
                         if (regressors$centred) root)
  }
  rank <- ncol(found$inside)
  keeps <- may_keep && ncol(found$outside) < rank
  basis <- matrix(0, length(counts), if (keeps) ncol(found$outside) else rank)
  basis[counts, ] <- if (keeps) found$outside else found$inside
  list(basis = basis, rank = rank, keeps = keeps)
}

# For pairs, which rank covariates among their own observations: as they are, but for those that do not count.
raw_regressors <- function(regressors) {
  z <- regressors$covariates
  z[is.na(z)] <- 0
  list(cbind(z, regressors$cosines$stopped), max(0, ncol(z)))
}

# Ranked where columns are, centred where they are, of a size near 1.
covariates_as_compared <- function(regressors, weights, counts) {
  z <- regressors$covariates[counts, , drop = FALSE]
  if (is.null(z)) return(NULL)
  w <- if (is.null(weights)) rep(1, nrow(z)) else weights[counts]
  if (regressors$ranked) z[] <- apply(z, 2L, weighted_rank, w)
  size <- apply(abs(z), 2L, max, 0)
  z <- sweep(z, 2L, ifelse(size > 0, size, 1), "/")
  centred_columns(z, sqrt(w), regressors$centred)
}

# The weight of all smaller values, and half of that of equal ones.
weighted_rank <- function(x, w) {
  groups <- match(x, sort(unique(x)))
  weight <- as.vector(rowsum(w, groups)) # by group, ascending
  (cumsum(weight) - weight / 2)[groups]
}

# About their weighted mean: twice, as a mean may be large. Columns of nothing but roundings become zero.
centred_columns <- function(z, root, centred) {
  if (is.null(z) || !centred || !ncol(z)) return(z)
  w <- root^2 / sum(root^2)
  size <- apply(abs(z), 2L, max, 0)
  for (twice in 1:2) z <- sweep(z, 2L, colSums(z * w))
  z[, apply(abs(z), 2L, max, 0) <= 1e-14 * size] <- 0
  z
}

# The space of z's columns and the rest, but for the direction `mean` (NULL: none), which is orthogonal to z, by one QR.
# Columns are pivoted by length, so the mean, made longer than all others, comes first.
both_spaces <- function(z, mean) {
  z <- z[, colSums(z^2) > 0, drop = FALSE]
  z <- sweep(z, 2L, sqrt(colSums(z^2)), "/")
  own <- as.integer(!is.null(mean))
  decomposed <- qr(cbind(if (own) 10 * mean / sqrt(sum(mean^2)), z), LAPACK = TRUE)
  rank <- sum(abs(diag(decomposed$qr)) > SAME_SPAN)
  q <- qr.Q(decomposed, complete = TRUE)
  at <- seq_len(ncol(q))
  list(inside = q[, at > own & at <= rank, drop = FALSE], outside = q[, at > rank, drop = FALSE])
}

# Columns of which the others leave no more than this share are theirs, as lm() has it.
SAME_SPAN <- 1e-7
