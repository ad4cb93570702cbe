#' Many subjects, combined pair by pair
#'
#' Give a list of matrices as `x`, one for each subject (or run, session, study), to [gpuCor()], [gpuCorNetwork()],
#' [gpuConnectivity()], [pickPower()] or [gpuCorWindows()]. Each pair of columns has a coefficient in each subject, and
#' the function returns its usual result for the combined coefficients, for example a group connectome. No subject's
#' coefficients are stored. [gpuCorCompare()] compares groups of subjects. These arguments are given in `...`,
#' `gpuCor(x, combine = "fisher")`; `gpuSubjects()` keeps them for several calls: `gpuCor(x, subjects = s)`.
#'
#' Subjects must have the same columns, and may have different numbers of rows. With `y`, give a list of as many
#' subjects for `y`. `density`, `threshold` and `k` refer to combined coefficients. `combine` is one of:
#'
#' * `"mean"`: the weighted mean (the default, with a message).
#' * `"fisher"`: the tanh of the weighted mean of Fisher's z, `atanh(r)`.
#' * `"min"`: the smallest coefficient, so that with `sign = "positive"` edges are those that every subject has.
#' * `"quantile"`: a quantile as [stats::quantile()] defines it.
#' * `"fraction"`: the fraction of the subjects whose coefficient is above the number `above`.
#' * `"icc2"`, `"icc3"`: see the section on reliability.
#' * for [gpuCor()] also `"sd"`, the standard deviation of the coefficients, and `"t"`, the statistic of
#'   `t.test(atanh(r))`.
#'
#' `weights`, `covariates`, `data`, `protect`, `runs`, `covariance` and `df` ([gpuAdjust()]) may be a list with an
#' element for each subject, or a function of the subject's number. Another value applies to every subject.
#'
#' `x` may also be a function: `x(i)` returns the matrix of subject i. It is called once for each subject, in order,
#' before the first pair is computed. The matrices are kept until the call ends: in memory, up to a quarter of free
#' memory, then in temporary files, each in a folder that only you may enter (option `gpucor.folder`, by default
#' [tempdir()]). Elements of a list may be files ([gpuCorFile()]) or anything else that `x` may be. [bidsSubjects()]
#' reads a study, which is given as `x`, with its confounds.
#'
#' **Memory.** Prepared columns of all subjects are kept on the GPU (about 6 bytes a value) or on the processor (8
#' bytes), up to `memory` or a quarter of free memory. If they do not fit, they are prepared again when needed. Random
#' effects need one more pass over the data.
#'
#' Coefficients of a subject are those of [gpuCor()] with the same `precision`. Fisher's z of a coefficient of 1 or -1
#' is 8.7 or -8.7, so that equal columns in one subject do not make the mean infinite.
#'
#' @section P values:
#' `p.value` and `fdr` of [gpuCorNetwork()] need `combine = "fisher"`. `effects` says which hypothesis is tested:
#'
#' * `"random"` (default): subjects are a sample of a population. The p value of a pair is that of `t.test(atanh(r))`
#'   over the subjects' coefficients r. The edge's coefficient is tanh of the mean z. Observations within a subject may
#'   be autocorrelated. With `na.rm = TRUE` a pair is tested with the subjects that have a coefficient, at least two.
#' * `"fixed"`: the conclusion is about these subjects only. If they differ, or their observations are not independent,
#'   p values are far too small ([gpucor-p-values]). The weighted mean z has the standard error
#'   `sqrt(sum(w^2 / (n - 3))) / sum(w)`, where n is reduced by the rank of the covariates. The variance is 1.06 times
#'   as large for Spearman's rho ([gpuCorTest()]), and counts as 1.1 times as large for bicor (0.95 to 1.2 times in
#'   simulated normal data). `df`, a number for each subject, replaces n - 2, for example by the effective degrees of
#'   freedom of a series. Not available for Kendall's tau-b, pairwise-complete observations and `na.rm = TRUE`.
#'
#' @section Reliability:
#' Does a pair's correlation tell subjects apart, and does it come out again in another session? Intraclass correlations
#' compare the variation among subjects with that among their sessions (Shrout and Fleiss 1979). Give `x` as a list of
#' subjects, each a list of its sessions' matrices, as many for each subject. Each pair has a Fisher z in each session
#' of each subject, with the mean squares of a two-way analysis of variance; `"icc2"` is ICC(2,1), absolute agreement,
#' which counts a shift between sessions as error, and `"icc3"` is ICC(3,1), consistency, which does not. Values below
#' -1, which ICC(2,1) of very few subjects can have, count as -1.
#'
#' `gpuConnectivity(maps = "mean")` returns the mean over each column's pairs. In a network, pairs with negative values,
#' where sessions of one subject differ more than subjects do, are never edges. Lists in `weights`, `covariates`, `data`
#' and `runs` have an element for each session: first those of the first subject, then those of the next.
#'
#' @return `gpuSubjects()`: a list of class `gpuSubjects` with the arguments that were given.
#' @references
#'
#' Shrout PE, Fleiss JL (1979). *Psychological Bulletin* 86, 420-428.
#' @examples
#' set.seed(1)
#' shared <- matrix(rnorm(200), 50) %*% matrix(rnorm(120), 4)
#' subjects <- lapply(c(50, 40, 30), function(n) shared[1:n, ] + matrix(rnorm(n * 30), n))
#' s <- gpuSubjects(combine = "fisher")
#' gpuCorNetwork(subjects, p.value = 0.01, subjects = s)
#' r <- gpuCor(subjects, combine = "quantile", probs = 0.5)
#' all.equal(r[1, 2], median(sapply(subjects, function(x) cor(x[, 1], x[, 2]))))
#' sessions <- lapply(subjects, function(x) list(x[c(TRUE, FALSE), ], x[c(FALSE, TRUE), ])) # halves
#' gpuCor(sessions, combine = "icc3")
#' @name subjects
NULL

# Returns the run with subjects' data instead of matrices; a single subject's data are matrices. `tests`: as in
# new_run().
with_subjects <- function(run, x, y, tests) {
  given <- run$combination
  rule <- check_combination(given)
  # "random": subjects are a sample; "fixed": they are the only ones of interest.
  effects <- if (!tests) "none" else if (is.null(given$effects)) "random" else given$effects
  n <- subjects_of(x, y, given$subjects)
  sessions <- if (rule$how %in% RELIABILITY) sessions_of(x, y, n) else 1L
  if (n == 1L) check_facts(c("one subject", paste0("combine = \"", rule$how, "\"")))
  names <- subject_names(n)
  n <- n * sessions
  if (sessions > 1L) {
    names <- paste0(rep(names, each = sessions), ", session ", seq_len(sessions))
    x <- unlist(x, recursive = FALSE)
    if (!is.null(y)) y <- unlist(y, recursive = FALSE)
  }
  data <- read_subjects(run, x, y, n, names)
  if (n == 1L) {
    return(with_element(with_values(run, data$x[[1L]], data$y[[1L]]), asked = asked_of_subject(run$asked, 1L, 1L)))
  }
  own <- given$subject_weights
  if (!is.null(own)) {
    check_that(own, "subject_weights", are_finite(own, n) && all(own > 0),
               paste("a positive number for each of the", length(data$x), "subjects"))
  }
  weigh <- function(counted) {
    if (effects == "random" || (is.null(own) && (rule$how != "fisher" || run$method == "given"))) return(rep(1, n))
    if (is.null(own)) fisher_weights(counted$n) else as.numeric(own)
  }
  run <- with_combined(run, data, rule, effects, names, weigh, sessions = sessions)
  if (is.null(given$combine)) tell_mean(run$place)
  run
}

# Returns the run of subjects' data, each with its design, whose coefficients are combined. `data`: from
# read_subjects(); `weigh`: a function of their numbers of observations, from count_subjects(), that returns their
# weights; `total`: by what the weighted sum is divided; `...`: of new_subjects().
with_combined <- function(run, data, rule, effects, names, weigh, total = NULL, ...) {
  designs <- if (length(run$asked) || is_of_spectra(run$method)) {
    df <- run$asked$df
    check_facts(c("several subjects", paste(effects, "effects"), if (!is.null(df)) "df",
                  if (identical(df, "bartlett")) "df = \"bartlett\""))
    n <- length(data$x)
    each_subject(n, function(i) {
      own <- with_mask(with_values(run, data$x[[i]], data$y[[i]]), NULL) # the mask is checked later
      own <- with_element(own, asked = asked_of_subject(run$asked, i, n))
      with_design(own, tests = effects == "fixed")$design
    }, names)
  }
  counted <- count_subjects(run, data, designs, names)
  weights <- weigh(counted)
  if (is.null(total)) total <- sum(weights)
  with_values(run, new_subjects(data$x, rule, weights, total, counted, designs, effects, ...),
              if (!is.null(data$y)) new_subjects(data$y))
}

# Returns the number of sessions of each subject: x is a list of subjects, each a list of its sessions' matrices.
sessions_of <- function(x, y, n) {
  counts <- lapply(list(x = x, y = y), function(data) if (is.list(data)) unique(lengths(data)))
  are_lists <- is.list(x) && all(vapply(x, function(subject) is.list(subject) && !is.object(subject), NA))
  if (!are_lists) check_facts(c("reliability", "subjects without sessions"))
  if (n < 2L) fail_value("an intraclass correlation needs at least two subjects, not ", n)
  if (length(counts$x) > 1L || counts$x < 2L || (!is.null(y) && !identical(counts$x, counts$y))) {
    fail("all subjects must have the same number of sessions, at least two, not ",
         paste(sort(unique(unlist(counts))), collapse = ", "))
  }
  counts$x
}

# A plan shows no message, as it calls the function several times.
tell_mean <- function(place) {
  if (!is.null(place$replay)) return(invisible())
  message("'combine' is not given, so the subjects' coefficients are averaged, as by combine = \"mean\"; ?subjects ",
          "has the other ways")
}

# `effects`: "random", "fixed", or "none" without tests; `n_first`: number of subjects in the first of two groups;
# `model`: see data-group-model.R; `sessions`: number of successive elements of data that belong to one subject.
new_subjects <- function(data, rule = NULL, weights = NULL, total = 1, counted = NULL, designs = NULL,
                         effects = "none", n_first = length(data), model = NULL, sessions = 1) {
  code <- if (!is.null(rule)) constant(paste("combine", rule$how))
  structure(list(data = data, names = colnames(data[[1L]]), name = rule$how, how = code,
                 level = rule$level, sessions = sessions, skips = rule$skips, weights = weights, total = total,
                 counted = counted, designs = designs, effects = effects, n_first = n_first, model = model),
            class = "gpuCorSubjects")
}

# ---- each subject's adjustment and complete observations

# Returns the arguments for subject i of n: the i-th element of a list, or the value of a function.
asked_of_subject <- function(asked, i, n) {
  if (is_numeric(asked$df) && length(asked$df) > 1L) asked$df <- as.list(asked$df)
  for (name in intersect(names(asked), c("weights", "covariates", "data", "protect", "runs", "df", "covariance"))) {
    given <- asked[[name]]
    if (is.function(given)) given <- given(i)
    if (is.list(given) && !is.object(given)) {
      if (length(given) != n) fail("'", name, "' is a list of ", length(given), ", and there are ", n, " subjects")
      given <- given[[i]]
    }
    asked[name] <- list(given)
  }
  asked[!vapply(asked, is.null, NA)]
}

#' @export
dim.gpuCorSubjects <- function(x) c(sum(vapply(x$data, nrow, 0L)), ncol(x$data[[1L]]))

#' @export
dimnames.gpuCorSubjects <- function(x) if (!is.null(x$names)) list(NULL, x$names)

# Returns list(how, level, skips).
check_combination <- function(given) {
  how <- if (is.null(given$combine)) "mean" else given$combine
  above <- given$above
  level <- if (how == "fraction") { # the number that a combination has beside its name
    check_that(above, "above", is_number_within(above, -1, 1), "a number between -1 and 1")
  } else if (is.null(given$probs)) {
    0.5
  } else {
    check_fraction(given$probs, "probs", zero = TRUE)
  }
  skips <- if (is.null(given$na.rm)) FALSE else check_flag(given$na.rm, "na.rm")
  list(how = how, level = level, skips = skips)
}

# Returns the number of subjects in x, which y must match. `n`: argument 'subjects'.
subjects_of <- function(x, y, n) {
  of_x <- count_of(x, n, "x")
  if (is.null(y)) return(of_x)
  of_y <- if (is_subjects(y)) count_of(y, n, "y")
  if (identical(as.numeric(of_y), as.numeric(of_x))) return(of_x)
  fail_value("'x' ", if (is.null(of_y)) "is a list of subjects, and 'y' is none; give a list of as many",
             if (!is.null(of_y)) paste0("has ", n_of(of_x, "subject"), ", and 'y' has ", of_y))
}

count_of <- function(x, n, name) {
  if (is.function(x) && !is.null(n)) return(check_whole(n, "subjects", 1, 1e6))
  if (is.function(x) || (is.null(n) && !length(x))) {
    fail("'", name, "' ", if (is.function(x)) {
      "must be numeric, not of class function; if it returns subjects' data, say by 'subjects' of how many"
    } else {
      "is a list of no subjects; it needs a matrix for each of them"
    })
  }
  if (!is.null(n) && !(is_number(n) && length(x) && isTRUE(n == length(x)))) {
    fail("'subjects' is ", show_value(n), ", and '", name, "' is a list of ", length(x), "; leave it out")
  }
  length(x)
}

# Returns all subjects' matrices, each checked when it is read.
read_subjects <- function(run, x, y, n, names = subject_names(n)) {
  data <- list(x = vector("list", n), y = if (!is.null(y)) vector("list", n))
  kept <- new_keeper()
  first <- NULL
  matrix_of <- function(x, i) { # a vector is an error, as it could be an observation or a variable
    own <- if (is.function(x)) x(i) else x[[i]]
    if (is.null(own)) fail("there are no data")
    if (is.list(own) && !is.object(own) && is.null(own[["data"]])) {
      fail("it must be a matrix, not a list; join a subject's runs by do.call(rbind, ), and give their labels as ",
           "'runs'")
    }
    if (is.atomic(own) && is.null(dim(own)) && !inherits(own, "dist")) {
      are_variables <- is.list(x) && length(x) > 1L && all(lengths(x) == length(own))
      fail("it must be a matrix, not ", if (length(own) == 1L) show_value(own) else "a vector", input_hint(own, "x"),
           if (are_variables) "; a list has a matrix for each subject, and as.data.frame(x) the variables of one")
    }
    own
  }
  each_subject(n, function(i) {
    own <- check_input(matrix_of(x, i), if (!is.null(y)) matrix_of(y, i), run$use, run$method,
                       run$assay, run$asked$options)
    if (run$method != "given") check_not_coefficients(own$x, "x", of_subjects = TRUE)
    if (is.null(first)) first <<- own
    check_same_columns(own$x, first$x, "x", FIRST_SUBJECT)
    if (!is.null(y)) check_same_columns(own$y, first$y, "y", FIRST_SUBJECT)
    own <- grouped(own, run)
    data$x[[i]] <<- if (is.function(x)) kept(own$x) else own$x
    if (!is.null(y)) data$y[[i]] <<- if (is.function(y)) kept(own$y) else own$y
  }, names)
  data
}

# Returns a list of f(i) for each subject. An error and the first warning of each class name the subject; later warnings
# are not shown, nor are later messages of tell_few_values(). `names`: those of the subjects.
each_subject <- function(n, f, names = subject_names(n)) {
  once <- new_once(function(condition) {
    if (inherits(condition, c("gpuCorWarning", "gpuCorFewValues"))) class(condition)[1L]
  })
  lapply(seq_len(n), function(i) once(prefixed(names[i], f(i))))
}

# Returns names of n subjects for messages; with two groups they include the argument.
subject_names <- function(n, n_first = n) {
  if (n_first == n) return(paste("subject", seq_len(n)))
  if (n == 2L) return(c("'x'", "'y'"))
  paste0("subject ", c(seq_len(n_first), seq_len(n - n_first)), " of '", rep(c("x", "y"), c(n_first, n - n_first)), "'")
}

# Errors and our warnings of `code` begin with `name`.
prefixed <- function(name, code) {
  words <- function(condition) paste0(name, ": ", conditionMessage(condition))
  withCallingHandlers(gpuCorWarning = function(condition) {
    warn(class(condition)[1L], words(condition))
    invokeRestart("muffleWarning")
  }, tryCatch(code, error = function(condition) fail_again(condition, words(condition))))
}

FIRST_SUBJECT <- "the first subject"

# Compares the columns of m, called `name`, with those of `first`, called `other`.
check_same_columns <- function(m, first, name, other) {
  if (is.null(first)) return(invisible())
  if (ncol(m) != ncol(first)) {
    fail("'", name, "' has ", n_of(ncol(m), "column"), ", and ", other, " has ", ncol(first))
  }
  included <- lapply(list(m, first), function(m) { # constant voxels are dropped from each image
    mask <- attr(m, "mask", exact = TRUE)
    if (!is.null(mask)) which(as.vector(mask) != 0)
  })
  if (!is.null(included[[1L]]) && !is.null(included[[2L]]) && !identical(included[[1L]], included[[2L]])) {
    fail("'", name, "' has voxels of another mask than ", other, "; read all subjects with one mask, ",
         "voxelMatrix(img, mask)")
  }
  own <- colnames(m)
  names <- colnames(first)
  if (is.null(own) || is.null(names) || identical(own, names)) return(invisible())
  at <- which(own != names | is.na(own) != is.na(names))[1L]
  fail("column ", at, " of '", name, "' is \"", own[at], "\", and that of ", other, " is \"", names[at], "\"")
}

# Returns a function that stores a matrix: in memory up to a fraction of the free memory, then in a file that is removed
# when nothing refers to it.
new_keeper <- function() {
  left <- spool_bytes()
  if (left == 0) left <- Inf
  function(m) {
    if (!is.matrix(m) || !is_little_endian()) return(m)
    left <<- left - as.numeric(utils::object.size(m))
    if (left >= 0) return(m)
    file <- begin_partial(tempfile("gpucor", setting_folder(tempdir()))) # in a folder that only this user may enter
    writeBin(as.vector(m), file, endian = "little")
    kept <- raw_file(file, dim(m), if (is.double(m)) "double" else "integer", list(rownames(m), colnames(m)), 0)
    for (name in c("tr", "runs", "entities", "mask", "centers")) attr(kept, name) <- attr(m, name, exact = TRUE)
    remove_with(kept$pointer, file)
    kept
  }
}

# Removes such a file when nothing refers to it, or when R ends, but not in a forked process. A finalizer made in
# new_keeper() would keep the matrix in memory.
remove_with <- function(pointer, file) {
  process <- Sys.getpid()
  reg.finalizer(pointer, function(pointer) if (Sys.getpid() == process) discard_partial(file), onexit = TRUE)
}

# Returns list(n_obs: number of included observations of each subject; n: the effective number after weights and
# regression, or as given by 'df', both NA if unknown; common: TRUE if any subject has pairwise-complete observations).
count_subjects <- function(run, data, designs, names = subject_names(length(data$x))) {
  taken <- measure_of(run$method)$df_taken
  counts <- lapply(seq_along(data$x), function(i) {
    design <- designs[[i]]
    own <- with_mask(with_values(run, data$x[[i]], data$y[[i]], design), NULL)
    counted <- prefixed(names[i], perform(own, "observations"))
    left <- if (is.null(design$df)) effective_n(design, counted) - sum(design$lost) else design$df + taken
    if (run$method == "given") left <- counted$n_obs <- NA_real_
    c(n_obs = counted$n_obs, n = left, common = counted$common)
  })
  counts <- do.call(rbind, counts)
  list(n_obs = counts[, "n_obs"], n = counts[, "n"], common = any(counts[, "common"] > 0))
}

fisher_weights <- function(n, names = subject_names(length(n))) {
  few <- which(n < 4)
  if (length(few)) {
    fail(names[few[1L]], " has ", n_of(n[few[1L]], "observation"), "; Fisher's z weighs n of them by n - 3, and ",
         "needs at least 4")
  }
  n - 3
}
