# Specs: the arguments that many functions share, in four groups, each with a constructor. Functions take them in `...`,
# one by one or a whole spec.

#' How columns are adjusted before they are compared
#'
#' These arguments adjust the data before they are correlated. Functions that take data have them in `...`, so that
#' `gpuCor(x, covariates = z)` is enough; `gpuAdjust()` keeps them for several calls: `gpuCor(x, adjustment = a)`. An
#' argument that is given beside `adjustment` replaces that of the object. What they do is described in
#' [gpucor-measures].
#'
#' @param weights A numeric vector: one weight for each observation; 0 excludes it.
#' @param weights_are A string: `"importance"`, `"precision"` or `"frequency"`, which changes p values only.
#' @param covariates Nuisance regressors: a numeric matrix or data frame with a row for each observation, or a formula.
#'   Every column is replaced by its residuals from a regression on these. Numbers that are labels, as of batches, need
#'   `factor()`, as in `~ factor(batch)`.
#' @param data A data frame with the variables of a formula in `covariates`.
#' @param bandpass Two numbers: the lowest and the highest frequency in Hz to keep.
#' @param tr A number: seconds between two observations. Default: `attr(x, "tr")`, which [voxelMatrix()] sets.
#' @param runs A vector with a label for each observation, such as `rep(1:2, c(200, 180))`, if several runs (scans,
#'   sessions) follow one another in `x`: each is regressed and filtered by itself.
#' @param df A number, or `"bartlett"`: the degrees of freedom of tests, for autocorrelated series. Changes p values
#'   only.
#' @param partial `TRUE` for partial correlations given all other columns of `x`. For [gpuCor()], [gpuCorTest()],
#'   [gpuCorNetwork()] and [gpuConnectivity()].
#' @param shrinkage With `partial`: a number from 0 to 1, or `"auto"` to estimate it.
#' @param options A named list of options of the measure, such as `list(maxPOutliers = 0.05)` for `"bicor"`.
#' @return A list of class `gpuAdjust` with the arguments that were given.
#' @section Several subjects: Each of `weights`, `covariates`, `data`, `runs` and `df` may be a list with an element for
#'   each subject, or a function of the subject's number, see [subjects].
#' @seealso [gpucor-measures]
#' @examples
#' x <- as.matrix(mtcars[, 1:4])
#' a <- gpuAdjust(covariates = ~ factor(gear), data = mtcars)
#' a
#' gpuCor(x, adjustment = a)
#' gpuCorTest(x, adjustment = a)$p.value
#' @export
gpuAdjust <- function(weights = NULL, weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL, tr = NULL,
                      runs = NULL, df = NULL, partial = FALSE, shrinkage = "auto", options = NULL) {
  if (!is.null(weights_are)) weights_are <- check_choice(weights_are, WEIGHT_KINDS, "weights_are")
  given <- mget(names(formals()))
  if (check_flag(partial, "partial")) {
    if (!identical(shrinkage, "auto")) {
      check_that(shrinkage, "shrinkage", are_finite(shrinkage, 1L, 0, 1), "a number from 0 to 1, or \"auto\"")
      given$shrinkage <- as.numeric(shrinkage)
    }
  } else {
    if (!identical(shrinkage, "auto")) fail("'shrinkage' is for partial = TRUE; give both, or leave it out")
    given[c("partial", "shrinkage")] <- NULL
  }
  new_spec(given, "gpuAdjust")
}

#' How subjects' coefficients are combined
#'
#' Arguments of functions that take the data of several subjects as `x`, see [subjects]. They are given one by one in
#' `...` of these functions, or as one object: `gpuCor(x, subjects = s)`.
#'
#' @param combine A string: how the subjects' coefficients are combined, such as `"mean"` or `"fisher"`.
#' @param subjects A number: how many subjects there are, if `x` is a function. [gpuCorCompare()] of two functions takes
#'   two numbers.
#' @param subject_weights A positive number for each subject.
#' @param probs A number in \[0, 1\], with `combine = "quantile"`. Default: the median.
#' @param above A number between -1 and 1, with `combine = "fraction"`.
#' @param na.rm `TRUE` to combine the other subjects' coefficients if one has none.
#' @param effects A string: `"random"` or `"fixed"`, which hypothesis is tested; for functions that test.
#' @return A list of class `gpuSubjects` with the arguments that were given.
#' @seealso [subjects]
#' @examples
#' sets <- list(as.matrix(mtcars[1:16, 1:4]), as.matrix(mtcars[17:32, 1:4]))
#' s <- gpuSubjects(combine = "fisher")
#' gpuCor(sets, subjects = s)
#' @export
gpuSubjects <- function(combine = NULL, subjects = NULL, subject_weights = NULL, probs = NULL, above = NULL,
                        na.rm = NULL, effects = NULL) {
  if (!is.null(combine)) combine <- check_choice(combine, c(combinations, summaries), "combine")
  if (!is.null(effects)) effects <- check_choice(effects, effect_names, "effects")
  new_spec(mget(names(formals())), "gpuSubjects")
}

#' Permutation tests of all pairs
#'
#' Arguments of [gpuCorTest()], [gpuCorNetwork()] and [gpuAssociation()], which adjust p values for all pairs by the
#' largest coefficients of permuted or surrogate data; [gpuCorTest()] describes them. They are given one by one in `...`
#' of these functions, or as one object: `gpuCorTest(x, permutation = p)`.
#'
#' @param adjust A string: `"none"` or `"maxT"`.
#' @param n_perm An integer: the number of permutations.
#' @param surrogate A string: what is compared with the data. `"permutation"`: permuted observations. `"phase"`: series
#'   with the same spectra and random phases. `"block"`: permuted blocks of consecutive observations.
#' @param block An integer: the length of these blocks.
#' @return A list of class `gpuPermute` with the arguments that were given.
#' @seealso [gpuCorTest()]
#' @examples
#' p <- gpuPermute("maxT", n_perm = 200)
#' gpuCorTest(as.matrix(mtcars[, 1:4]), permutation = p)$p.adjusted
#' @export
gpuPermute <- function(adjust = c("none", "maxT"), n_perm = 1000, surrogate = c("permutation", "phase", "block"),
                       block = NULL) {
  is_default <- missing(n_perm)
  adjust <- check_choice(adjust, c("none", "maxT"), "adjust", "; p.adjust() adjusts the p values of a result")
  surrogate <- check_choice(surrogate, c("permutation", "phase", "block"), "surrogate")
  if (!is.null(block) && surrogate != "block") fail("'block' needs surrogate = \"block\"; leave it out, or give both")
  if (adjust == "none") {
    if (!is_default) fail("'n_perm' is for adjust = \"maxT\"; give both, or leave it out")
    if (surrogate != "permutation") {
      fail("surrogate = \"", surrogate, "\" is for adjust = \"maxT\"; leave it out, or adjust")
    }
    return(new_spec(list(), "gpuPermute"))
  }
  new_spec(list(adjust = adjust, n_perm = check_whole(n_perm, "n_perm", 1, 1e9), surrogate = surrogate,
                block = if (!is.null(block)) check_whole(block, "block", 1, 2^31 - 1)), "gpuPermute")
}

#' How a result is computed
#'
#' Settings of a run: device, memory, threads, which do not change results; and the precision. Functions that compute
#' take them in `...`, one by one, `gpuCor(x, threads = 2)`, or as `control = gpuControl(threads = 2)`, for several
#' calls. An argument that is given beside `control` replaces that of the object.
#'
#' Settings that are not given come from options, such as `options(gpucor.threads = 4)`, then from environment
#' variables, such as `GPUCOR_THREADS`: see [gpucor-package].
#'
#' @param backend A string: `"cuda"`, `"cpu"`, or `"auto"` (default), a GPU if there is one.
#' @param threads An integer: threads of the processor. Default: the number of cores, or fewer if the batch system or
#'   `OMP_THREAD_LIMIT` says so.
#' @param devices Integers from 0, or `"all"`: the GPUs to use, see [gpuInfo()]. Default: those of [chooseGpu()].
#' @param memory A number of bytes: memory for prepared columns, see [gpucor-package].
#' @param progress `TRUE` or `FALSE`: whether to show a progress bar. Default: in interactive sessions.
#' @param precision A string: `"single"` or `"double"`, see the Details of [gpuCor()]. May be abbreviated.
#' @param assay A string or number: the assay of an experiment, see [gpucor-containers].
#' @param keep_memory `TRUE`, `FALSE` or a number of bytes: how much memory of freed results to reuse for the next
#'   result. Default: a quarter of free memory. The name of the argument cannot be abbreviated.
#' @param shards For [gpuCorNetwork()]: the number of shards to compute with the workers of [future::plan()], as
#'   [gpuCorPlan()] does, in a temporary folder. The folder is where option `gpucor.folder` says; by default in
#'   [tempdir()], or in the working directory if the workers are on other machines.
#' @param ... Must be empty; an unknown argument is an error.
#' @return A list of class `gpuControl` with the arguments that were given.
#' @examples
#' x <- as.matrix(mtcars)
#' gpuCor(x, threads = 2)
#'
#' two <- gpuControl(backend = "cpu", threads = 2)
#' gpuCor(x, control = two)
#' @export
gpuControl <- function(backend = NULL, threads = NULL, devices = NULL, memory = NULL, progress = NULL,
                       precision = NULL, assay = NULL, ..., keep_memory = NULL, shards = NULL) {
  if (...length()) refuse_unused(if (is.null(...names())) "" else ...names()[1L], names(formals()))
  if (!is.null(precision)) precision <- check_choice(precision, precisions, "precision")
  given <- list(backend = backend, threads = threads, devices = devices, memory = memory, progress = progress,
                precision = precision, assay = assay, keep_memory = keep_memory, shards = shards)
  control <- new_spec(given, "gpuControl")
  check_run_settings(control[names(control) %in% RUN_SETTINGS])
  control
}

# Kinds of weights, in the order of the engine's codes.
WEIGHT_KINDS <- c("importance", "precision", "frequency")

# Ways to combine coefficients to a value that may be negative and is at most 1, and to other numbers.
RELIABILITY <- c("icc2", "icc3")
combinations <- c("mean", "fisher", "min", "quantile", "fraction", RELIABILITY)
summaries <- c("t", "sd", "argmax")
effect_names <- c("random", "fixed")

# ---- specs

new_spec <- function(given, class) structure(Filter(Negate(is.null), given), class = c(class, "gpuSpec"))

#' @method print gpuSpec
#' @export
print.gpuSpec <- function(x, ...) {
  title <- switch(class(x)[1L], gpuAdjust = "Adjustment", gpuSubjects = "Subjects", gpuPermute = "Permutations",
                  gpuControl = "Run settings")
  cat(title, ": ", if (length(x)) toString(paste(names(x), "=", vapply(x, show_value, ""))) else "defaults", "\n",
      sep = "")
  invisible(x)
}

# The constructor of each spec, by the argument that takes a whole one.
SPECS <- c(adjustment = "gpuAdjust", subjects = "gpuSubjects", permutation = "gpuPermute", control = "gpuControl")

NO_SPECS <- lapply(SPECS, function(class) new_spec(list(), class))

# The spec of each argument.
SPEC_OF <- unlist(lapply(names(SPECS), function(spec) {
  arguments <- names(formals(SPECS[[spec]]))
  stats::setNames(rep(spec, length(arguments)), arguments)
}))

PARTIAL <- names(formals(gpuAdjust))
ADJUSTMENT <- setdiff(PARTIAL, c("partial", "shrinkage"))
COMBINATION <- setdiff(names(formals(gpuSubjects)), "effects")
PERMUTATION <- names(formals(gpuPermute))

# The arguments of specs that functions take; others take those of a run.
OFFERED <- list(
  gpuCor = c(PARTIAL, COMBINATION, "precision", "assay"),
  gpuCorTest = c(PARTIAL, PERMUTATION, "precision", "assay"),
  gpuCorNetwork = c(PARTIAL, COMBINATION, "effects", PERMUTATION, "precision", "assay", "shards"),
  gpuConnectivity = c(PARTIAL, COMBINATION, "precision", "assay"),
  gpuAssociation = c(ADJUSTMENT, PERMUTATION, "precision", "assay"),
  gpuCorCompare = c(ADJUSTMENT, "subjects", "effects", "precision", "assay"),
  gpuCorTriangle = c(ADJUSTMENT, "assay"),
  gpuCorWindows = c(ADJUSTMENT, COMBINATION, "precision", "assay"),
  gpuDist = c(ADJUSTMENT, "assay"),
  gpuTOM = c(ADJUSTMENT, "assay"),
  pickPower = c(ADJUSTMENT, COMBINATION, "assay"),
  gpuModules = c("covariates", "data", "options", "assay"),
  gpuPreservation = c("covariates", "data", "assay"),
  gpuClean = "assay",
  gpuCorPerm = c("options", "assay")
)

offered_by <- function(verb) c(OFFERED[[verb]], RUN_SETTINGS)

# Divides the `...` of a function: returns list(adjustment, subjects, permutation, control), a spec each.
specs_of <- function(verb, ...) {
  if (!...length()) return(NO_SPECS)
  given <- list(...)
  names(given) <- full_names(if (is.null(names(given))) "" else names(given), verb)
  is_own <- names(given) %in% names(SPEC_OF) & !vapply(given, inherits, NA, "gpuSpec")
  of <- names(given)
  of[is_own] <- SPEC_OF[of[is_own]]
  specs <- NO_SPECS
  for (name in unique(of)) {
    own <- given[is_own & of == name]
    whole <- given[!is_own][[name]]
    if (!is.null(whole)) specs[[name]] <- check_whole_spec(whole, name, verb)
    if (!length(own)) next
    if (length(whole)) own <- c(unclass(whole)[setdiff(names(whole), c(names(own), "replay"))], own)
    specs[[name]] <- do.call(SPECS[[name]], own, quote = TRUE) # checks all of them together
    specs[[name]]$replay <- whole$replay
  }
  if (any(lengths(specs[names(specs) != "control"]))) features_of(verb, specs) # stops if they do not go together
  specs
}

# Returns the arguments of specs one by one, without those of a run.
arguments_of <- function(specs) {
  all <- c(unclass(specs$adjustment), unclass(specs$subjects), unclass(specs$permutation), unclass(specs$control))
  all[!names(all) %in% c(RUN_SETTINGS, "replay", "shards")]
}

# The arguments that say which pairs are edges.
CRITERIA <- c("threshold", "density", "k", "p.value", "fdr")

# Values of arguments with which they count as not given, beside NULL, FALSE and "none".
NOT_GIVEN <- list(resample = 0, n_perm = 0, compression = 0, stability = 0, fraction = 0.63)

# Returns list(features, words: texts to fill in) of a call, after checking that they go together. `...`: arguments as
# they were checked.
features_of <- function(verb, specs, ...) {
  given <- list(...)
  if (!identical(specs, NO_SPECS)) given <- c(given, arguments_of(specs), list(shards = specs$control$shards))
  given <- given[!vapply(given, is_default, NA)]
  given <- given[!vapply(names(given), function(name) identical(given[[name]], NOT_GIVEN[[name]]), NA)]
  if (all(names(given) == "y")) return(NULL)
  given <- c(given, given$options)
  criterion <- CRITERIA[CRITERIA %in% names(given)]
  texts <- given[vapply(given, function(value) is.character(value) && length(value) == 1L, NA)]
  facts <- c(edges = length(criterion) > 0L, tests = any(c("p.value", "fdr") %in% criterion),
             `several values` = any(lengths(given[criterion]) > 1L), plan = !is.null(specs$control$replay))
  found <- list(features = c(verb, names(given), if (length(texts)) paste0(names(texts), " = \"", texts, "\""),
                             names(facts)[facts]),
                words = c(texts, list(criterion = criterion[1L], values = length(given[[criterion[1L]]]))))
  check_together(found)
  found
}

is_default <- function(value) is.null(value) || identical(value, FALSE) || identical(value, "none")

# Returns the settings of a run alone.
run_of <- function(control) structure(control[names(control) %in% RUN_SETTINGS], class = class(control))

check_whole_spec <- function(spec, name, verb) {
  if (!inherits(spec, SPECS[[name]])) {
    fail("'", name, "' must come from ", SPECS[[name]], "(), not be ", show_value(spec))
  }
  others <- setdiff(names(spec), c(offered_by(verb), "replay"))
  if (length(others)) fail("'", name, "' has '", others[1L], "', which ", verb, "() does not take")
  spec
}

# Returns the names of arguments, which may be abbreviated. Those without a name are gpuControl()'s.
full_names <- function(names, verb) {
  known <- offered_by(verb)
  if (all(names %in% known)) return(names)
  known <- union(known, names(SPECS))
  unnamed <- !nzchar(names)
  names[unnamed] <- setdiff(names(formals(gpuControl)), names)[seq_len(sum(unnamed))]
  full <- known[match(names, known)]
  short <- setdiff(known, "keep_memory")
  full[is.na(full)] <- short[pmatch(names[is.na(full)], short, duplicates.ok = TRUE)]
  unknown <- which(is.na(full))
  if (length(unknown)) refuse_unused(names[unknown[1L]], c(names(formals(verb)), known))
  full
}

# `known`: the names of arguments that the function has.
refuse_unused <- function(name, known) {
  if (!nzchar(name)) fail("an unnamed argument is left over")
  if (name == OLD_SETTING) {
    fail("unused argument 'keep'; 'keep_memory' is memory of freed results to reuse, and x[keep, ] takes rows of 'x'")
  }
  known <- setdiff(known, c("...", names(SPECS)))
  is_option <- "options" %in% known && name %in% unlist(lapply(measures()$options, names))
  if (is_option) fail("unused argument '", name, "'; give options = list(", name, " = )")
  meant <- other_name(name, known)
  if (is.na(meant)) meant <- nearest(name, known)
  fail("unused argument '", name, "'", if (length(meant)) paste0("; did you mean '", meant, "'?"))
}

# Returns the help's words for the `...` of a function.
offered_words <- function(verb) {
  of <- lapply(SPECS, function(maker) intersect(names(formals(maker)), offered_by(verb)))
  of <- of[lengths(of) > 0L]
  each <- Map(of, SPECS[names(of)], names(of), f = function(names, maker, argument) {
    paste0(paste0("`", names, "`", collapse = ", "), " ([", maker, "()], or a whole one as `", argument, "`)")
  })
  paste0("Further arguments, by name: ", paste(each, collapse = "; "), ".")
}
