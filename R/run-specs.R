# Specs: the arguments that many functions share, in four groups, each with a constructor. Functions take them in `...`,
# one by one or a whole spec; specs_of() (R/run-taken.R) divides them.

#' Weights, covariates and other adjustments of columns
#'
#' These arguments adjust the data before they are correlated. Functions that take data have them in `...`:
#' `gpuCor(x, covariates = z)`. `gpuAdjust()` keeps them for several calls: `gpuCor(x, adjustment = a)`.
#' [gpucor-measures] says which measures take them, [gpucor-together] what does not go together, and [subjects] which
#' may be lists.
#'
#' @param covariates,data Nuisance regressors, such as motion, batch or age: a formula, with a data frame of its
#'   variables; a matrix or a data frame with a row for each observation; or a vector.
#' @param protect As `covariates`: effects of interest that the covariates must not take.
#' @param bandpass,tr,rate Two numbers: the lowest and the highest frequency in Hz to keep (which may be `Inf`); and
#'   the seconds between two observations (`tr`), or the observations a second (`rate`, the sampling rate). Default:
#'   `attr(x, "tr")`, which [voxelMatrix()] and [epochMatrix()] set, or the interval of a time series ([stats::ts()])
#'   whose frequency is not 1.
#' @param runs A label for each observation, such as `rep(1:2, c(200, 180))`, if several runs follow one another in `x`;
#'   with `covariates`, `bandpass` or coherence by default `attr(x, "runs")`, which `rbind()` of [runs] and
#'   [epochMatrix()] set.
#' @param weights,weights_are A number of at least 0 for each observation, and what these mean, see the section on
#'   weights. Weight 0 excludes an observation: to censor (scrub) volumes, give `TRUE` for those to keep.
#' @param df A number, or `"bartlett"`: the degrees of freedom of p values, for autocorrelated series.
#' @param partial,shrinkage `TRUE` for partial correlations given all other columns of `x`, with this shrinkage, a
#'   number from 0 to 1, or `"auto"` to estimate it. For [gpuCor()], [gpuCorTest()], [gpuCorNetwork()],
#'   [gpuConnectivity()] and, of each subject, [gpuCorCompare()].
#' @param options A named list of options of the measure, see [gpucor-measures].
#' @param covariance A symmetric matrix with a row and a column for each observation: the covariance of related
#'   observations, see its section. The name of the argument cannot be abbreviated.
#' @param groups A label for each column of `x` (`NA`: the column is left out), the same for all subjects: coefficients
#'   are of groups of columns, with `method = "distance"` or `"rv"`, see [gpucor-measures]. For the voxels of
#'   [voxelMatrix()] also an atlas, an image or the name of its file, as [parcelMeans()] takes it.
#' @param min_obs An integer of at least 3: pairs with fewer pairwise-complete observations have no coefficient (`NA`)
#'   and no p value, and are no edges. `density` still counts them among the pairs.
#' @return A list of class `gpuAdjust` with the arguments that were given.
#' @section Covariates:
#' Columns are replaced by `residuals(lm(x ~ covariates))`; [gpuClean()] returns them. An intercept is always included,
#' except for `"cosine"`. Factors and columns of text become contrasts; numbers that are labels, as of batches, need
#' `factor()`. Collinear covariates are dropped. A column that they determine is constant (`NA`, with a warning).
#'
#' * `protect = ~ cancer`: columns are regressed on both, and only the covariates' part is subtracted, as by
#'   `limma::removeBatchEffect(design = )`. Degrees of freedom are Satterthwaite's, rounded down.
#' * Spearman: ranks are regressed on the ranks of each covariate, as package ppcor does. An effect that is not linear
#'   in the ranks remains, and p values are then too small ([gpucor-p-values]). Instead, rank the columns of `x` and use
#'   Pearson's correlation: `gpuCorTest(apply(x, 2, rank), covariates = ~ splines::ns(age, 3))`.
#' * Kendall's tau has no adjustment for covariates; use `"spearman"`. Bicor is computed from the residuals.
#'
#' @section Covariance of observations:
#' Kin, species of a tree and cell lines resemble one another, and correlations that take them to be independent are too
#' often large. `covariance = V` takes the covariance of the observations up to a factor: `h * K + (1 - h) * diag(n)`
#' for the relatedness K of kin and a heritability h, `ape::vcv(tree)`, or an estimate from the data, `cov(t(x))`. With
#' V = L L', the coefficient is the correlation of the residuals of generalized least squares, those of
#' `lm(solve(L, x) ~ 0 + solve(L, cbind(1, covariates)))`, without the 1 for `"cosine"`; Spearman's ranks are those of
#' `x`. P values are those of `nlme::gls()` with V. An estimate from the data removes what many columns share.
#'
#' If h is too small, p values are too small ([gpucor-p-values]); take the largest that columns may have. If V makes
#' observations more alike than they are, p values are too small, too, as their small differences are weighted most: a
#' warning tells of correlations above 0.95 and eigenvalues below 5 % of the mean. V must be positive definite. It is
#' not if observations are repeated, or if it was centered: leave one out, or take `h * K + (1 - h) * diag(n)`.
#' Observations of weight 0, and those that `"complete.obs"` drops, are left out of V.
#'
#' @section Band-pass filter and runs:
#' `bandpass = c(0.01, 0.1)` with `tr = 2` keeps frequencies from 0.01 to 0.1 Hz of series with 2 seconds between
#' observations. A discrete cosine basis of the other frequencies is regressed out together with the covariates, as in
#' AFNI's 3dTproject. It costs one degree of freedom per cosine; in this example about a third is left.
#'
#' With `runs` each run is regressed by itself on an intercept (not with `"cosine"`), the covariates and the cosines of
#' its own rows, and degrees of freedom are taken for each run. A filter of all rows would ring at the boundaries, and a
#' covariate `~ run` only shifts the runs; with `bandpass` it is a warning. Spearman's ranks are those of all rows.
#' Windows ([gpuCorWindows()]) must be within runs.
#'
#' @section Weights:
#' Coefficients are those of [stats::cov.wt()] with `cor = TRUE`. For Spearman's rho, a value's rank is the weight of
#' all smaller values plus half the weight of equal ones, as by `Hmisc::wtd.rank()`. `n` counts positive weights.
#'
#' `weights_are` changes p values only, through the effective number of observations (of each pair):
#'
#' * `"importance"` (default): how much an observation counts, such as sampling or propensity weights. The number is
#'   Kish's, `sum(w)^2 / sum(w^2)`. P values are valid, and conservative if weights differ much: with weights exp(N(0,
#'   1)) and independent normal columns 2 to 4 % are below 0.05.
#' * `"precision"`: the inverse of each observation's variance, as in [stats::lm()]. The number is that of the positive
#'   weights. If variances are in fact equal, p values are too small: 9 % are below 0.05 under the null with weights
#'   uniform in (0, 1), and 15 to 20 % with exp(N(0, 1)).
#' * `"frequency"`: how often each observation occurred, integers. The number is their sum.
#'
#' @section Degrees of freedom:
#' P values ([gpuCorTest()]) use n - 2 degrees of freedom, minus the rank of the covariates and cosines.
#'
#' Autocorrelated series have fewer independent observations than rows. A number as `df` holds for all pairs;
#' `df = "bartlett"` estimates the effective number of observations of each pair (Bartlett 1935):
#' \deqn{1 / n_e = 1/n + 2/n \sum_k (n - k)/n \rho_x(k) \rho_y(k)}{1/n_e = 1/n + 2/n sum_k (n - k)/n rho_x(k) rho_y(k)}
#' over lags k up to a quarter of the observations. Autocorrelations are those of [stats::acf()] after ranking,
#' weighting and regression. Excluded observations keep their position in time, and n_e is at most n.
#'
#' Regression also removes autocorrelation, so n_e is interpolated from autoregressive series of first order
#' (coefficients 0 to 0.98) that are regressed on the same covariates. In simulations of independent series, white or
#' AR(0.6) or AR(0.9), with 20 covariates of 100 observations or 6 of 200, censoring and a band, 3 to 6 % of p values
#' were below 0.05. It was 1.5 % with 20 covariates of 30 observations; 8 % for AR(0.9) with 30 observations, and 7 %
#' with 100 observations and 20 equally smooth covariates.
#'
#' P values of `"cosine"` need `df`: its t distribution, with n - 1 degrees of freedom, holds if means are zero.
#'
#' @section Partial correlation given all other columns:
#' `partial = TRUE` adjusts each pair for all other columns of `x`, by Pearson's or Spearman's coefficient, after
#' weights and covariates. With more columns than observations this needs shrunken correlations: `shrinkage = "auto"`
#' estimates the intensity as `corpcor::pcor.shrink()` does (Schaefer and Strimmer 2005), and results print it.
#' `shrinkage = 0` gives `-cov2cor(solve(cor(x)))`, for n above the columns. All pairs must have the same observations.
#'
#' P values have a degree of freedom less for each other column if `shrinkage = 0`. Shrunken coefficients are compared
#' with a null distribution that is fitted to the smallest three quarters of the coefficients of up to 2,000 columns. It
#' takes most pairs to be unrelated; see [gpucor-p-values] for where it holds.
#'
#' @section Names of observations, and missing values:
#' `weights`, `covariates`, `data`, `runs`, `covariance` and `y` must have the observations of `x` in its order. If both
#' have names (row names, names of a vector, column names of an experiment or a covariance), these are compared. The
#' same names in another order are an error, as are the numbers 1 to n in another order if `x` has no names; different
#' names are a warning. Automatic row names of a data frame do not count as names.
#'
#' An observation with a missing covariate is dropped by `use = "complete.obs"` and `"na.or.complete"`, and from every
#' pair by `"pairwise.complete.obs"`. With another `use` it is an error, unless its weight is 0. With
#' `"pairwise.complete.obs"` and missing values, each pair is weighted, ranked and regressed on its own observations.
#' Such pairs are computed on the processor one by one: some microseconds each, and with many covariates milliseconds.
#'
#' @references
#' Bartlett MS (1935). *Journal of the Royal Statistical Society* 98, 536-543.
#'
#' Schaefer J, Strimmer K (2005). *Statistical Applications in Genetics and Molecular Biology* 4, 32.
#' @examples
#' x <- as.matrix(mtcars[, 1:4])
#' a <- gpuAdjust(covariates = ~ wt + factor(gear), data = mtcars) # gear as a batch
#' gpuCor(x, adjustment = a)
#' cor(residuals(lm(x ~ wt + factor(gear), mtcars))) # the same
#' same <- outer(mtcars$cyl, mtcars$cyl, "==") # alike if cylinders are
#' gpuCorTest(x, covariance = diag(0.5, 32) + 0.5 * same)
#'
#' series <- apply(matrix(rnorm(600), 200), 2, cumsum)
#' keep <- !(1:200 %in% 50:53)
#' gpuCorTest(series, weights = keep, bandpass = c(0.01, 0.1), tr = 2, df = "bartlett")$df
#' @export
gpuAdjust <- function(weights = NULL, weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL, tr = NULL,
                      runs = NULL, df = NULL, partial = FALSE, shrinkage = "auto", options = NULL, protect = NULL,
                      covariance = NULL, groups = NULL, min_obs = NULL, rate = NULL) {
  if (!is.null(min_obs)) min_obs <- check_whole(min_obs, "min_obs", MIN_OBS)
  if (!is.null(weights_are)) weights_are <- check_choice(weights_are, WEIGHT_KINDS, "weights_are")
  if (!is.null(rate)) {
    if (!is.null(tr)) fail("'rate' is 1 / tr; give one of them")
    tr <- 1 / check_rate(rate)
  }
  given <- mget(setdiff(names(formals()), "rate"))
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

# The arguments that ask for a regression, each a row of REGRESSORS (R/data-covariates.R), with those that go with them.
REGRESSION <- list(covariates = c("covariates", "data", "protect"), bandpass = c("bandpass", "tr", "rate"),
                   runs = "runs")

#' @rdname subjects
#' @param combine A string: how the subjects' coefficients are combined, see Details.
#' @param subjects A number: how many subjects there are, if `x` is a function; for [gpuCorCompare()] also two.
#' @param subject_weights A positive number for each subject. Default: equal weights for `"mean"`; n - 3 for `"fisher"`,
#'   n being the number of observations, which minimizes the variance.
#' @param probs,above Numbers, of `combine = "quantile"` (in \[0, 1\], default 0.5) and of `combine = "fraction"`.
#' @param na.rm `FALSE`: a pair without a coefficient in one subject has none, with a warning. `TRUE`: the others are
#'   combined.
#' @param effects A string: `"random"` or `"fixed"`, see the section on p values.
#' @export
gpuSubjects <- function(combine = NULL, subjects = NULL, subject_weights = NULL, probs = NULL, above = NULL,
                        na.rm = NULL, effects = NULL) {
  if (!is.null(combine)) combine <- check_choice(combine, c(combinations, summaries), "combine")
  if (!is.null(effects)) effects <- check_choice(effects, effect_names, "effects")
  new_spec(mget(names(formals())), "gpuSubjects")
}

#' Permutation tests of all pairs
#'
#' Arguments of [gpuCorTest()], [gpuCorNetwork()] and [gpuAssociation()] for p values that control the family-wise error
#' over all pairs, or false discovery rates, by permutation or, for time series, by surrogates. They are given in `...`:
#' `gpuCorTest(x, adjust = "maxT")`. `gpuPermute()` keeps them for several calls: `gpuCorTest(x, permutation = p)`.
#' [gpuCorCompare()] has other hypotheses, and takes `blocks` and `whole` only.
#'
#' `adjust = "maxT"`: the adjusted p value of a pair is the fraction of resampled data, including the data themselves,
#' whose largest coefficient of all pairs (by absolute value, or by the sign of `alternative`) is at least the pair's
#' (Westfall and Young 1993, single step). All pairs must have the same observations. [set.seed()] makes it
#' reproducible.
#'
#' `adjust = "fdr"` finds false discovery rates instead: that of a pair is the mean number of pairs with a coefficient
#' as large in a resample, including the data themselves, over that of the data; it is at least `1 / (n_perm + 1)`.
#' [gpuCorNetwork()] and [gpuAssociation()] choose edges by it with `fdr`; in a network, cuts whose rate by the normal
#' distribution is more than twice `fdr` are not tried.
#'
#' The null hypothesis is that columns (without `y`), or `x` and `y`, are independent. Without `y` each column is
#' permuted by itself. With `y` its rows are permuted together, to preserve the dependence within `x` and within `y`.
#'
#' With `covariates` the residuals of each column are permuted, and regressed on the covariates again (Freedman and Lane
#' 1983). They are those of a robust regression, Huber's, so that data need not be normal; coefficients are by least
#' squares.
#'
#' @param adjust,n_perm A string, `"none"`, `"maxT"` or `"fdr"`; and the number of permutations or surrogates.
#' @param surrogate A string: how null data are drawn, `"permutation"`, `"phase"` or `"block"`, see Time series.
#' @param block With `surrogate = "block"`: an integer, the length of a block; `NULL`: series are only rotated.
#' @param blocks,whole For [gpuCorCompare()]: a label for each subject (or pair), those of `x` first, or a formula such
#'   as `~ site` with `data`; and `TRUE` if whole blocks change places.
#' @return A list of class `gpuPermute` with the arguments that were given. Results of the functions have `p.adjusted`.
#' @section Time series:
#' `"permutation"`, the default, needs independent rows. Those of fMRI, EEG and other series are not, and permutation
#' makes their adjusted p values far too small. Two surrogates preserve the autocorrelation of each series:
#'
#' * `"phase"`: random phases of the Fourier coefficients of each column, which preserve its periodogram (Theiler and
#'   others 1992). With `y`, the phases of all columns of `y` are shifted alike (Prichard and Theiler 1994).
#' * `"block"`: each column is rotated to begin at a random row, and cut into blocks of `block` rows, which are
#'   shuffled. With `y`, the rows of `y` are rotated and shuffled, all columns together.
#'
#' The null hypothesis is that series are independent and stationary, and they must be without gaps. Regress out a drift
#' with `covariates`, or use `bandpass`; the surrogates are then those of the residuals.
#'
#' Phase surrogates are nearly normal. For independent series with heavy tails, the family-wise error of Pearson's
#' correlation at 0.05 was 0.1 to 0.2 (innovations of t with 3 degrees of freedom) and 0.5 to 0.7 (lognormal); a warning
#' is given for such data. Use `"spearman"`, `"kendall"` or blocks.
#'
#' Blocks must be many times longer than the autocorrelation. For autoregressive series of coefficient 0.9 and 200 rows,
#' the family-wise error at 0.05 was 0.25 with blocks of 20 rows and 0.08 with 50. Series that are only rotated
#' controlled it, but there are only n rotations of n rows: adjusted p values with `y` are rarely below 1/n, and without
#' `y` strong correlations mask one another, because two columns are rotated alike in one of n surrogates.
#'
#' @references
#' Freedman D, Lane D (1983). *Journal of Business and Economic Statistics* 1, 292-298.
#'
#' Prichard D, Theiler J (1994). *Physical Review Letters* 73, 951-954.
#'
#' Theiler J, Eubank S, Longtin A, Galdrikian B, Farmer JD (1992). *Physica D* 58, 77-94.
#'
#' Westfall PH, Young SS (1993). *Resampling-based multiple testing*. Wiley.
#' @examples
#' p <- gpuPermute("maxT", n_perm = 200)
#' gpuCorTest(as.matrix(mtcars[, 1:4]), permutation = p)$p.adjusted
#'
#' series <- apply(matrix(rnorm(2000), 200), 2, stats::filter, 0.9, "recursive")
#' min(gpuCorTest(series, adjust = "maxT", n_perm = 99, surrogate = "phase")$p.adjusted)
#' @export
gpuPermute <- function(adjust = c("none", "maxT", "fdr"), n_perm = 1000, surrogate = c("permutation", "phase", "block"),
                       block = NULL, blocks = NULL, whole = FALSE) {
  is_default <- missing(n_perm)
  adjust <- check_choice(adjust, c("none", "maxT", "fdr"), "adjust", "; p.adjust() adjusts the p values of a result")
  surrogate <- check_choice(surrogate, c("permutation", "phase", "block"), "surrogate")
  if (!is.null(block) && surrogate != "block") fail("'block' needs surrogate = \"block\"; leave it out, or give both")
  exchange <- list(blocks = blocks, whole = if (check_flag(whole, "whole")) TRUE)
  if (adjust == "none") {
    unused <- c(if (!is_default) "'n_perm'", if (surrogate != "permutation") paste0("surrogate = \"", surrogate, "\""))
    if (length(unused)) fail(unused[1L], " is for adjust = \"maxT\" or \"fdr\"; give both, or leave it out")
    return(new_spec(exchange, "gpuPermute"))
  }
  new_spec(c(exchange, adjust = adjust, n_perm = check_whole(n_perm, "n_perm", 1, 1e9), surrogate = surrogate,
             block = if (!is.null(block)) check_whole(block, "block", 1, 2^31 - 1)), "gpuPermute")
}

#' How a result is computed
#'
#' Settings of a run: device, memory, threads, which do not change results; and the precision. Functions that compute
#' take them in `...`, `gpuCor(x, threads = 2)`. `gpuControl()` keeps them for several calls: `gpuCor(x, control = c)`.
#' Settings that are not given come from options and environment variables, see [gpucor-package].
#'
#' @param backend A string: `"cuda"`, `"cpu"`, or `"auto"` (default), a GPU if there is one.
#' @param threads An integer: threads of the processor. Default: `OMP_THREAD_LIMIT`, `OMP_NUM_THREADS`, the batch
#'   system's number, or all cores that the process may use: those of its affinity, or as many as the quota of its
#'   control groups (containers, `CPUQuota` of systemd) pays for.
#' @param devices Integers from 0, or `"all"`: the GPUs that share the work. Default: those of [chooseGpu()].
#' @param memory A number of bytes for prepared columns, and for the adjacencies of [gpuTOM()]. Default: what the GPU
#'   has free; on the processor 512 MB.
#' @param progress `TRUE` or `FALSE`: whether to show a progress bar (by package cli, whose option
#'   `cli.progress_handlers` can name progressr; without cli lines in the console). Default: in interactive sessions.
#' @param keep_memory `TRUE` (default: a quarter of free memory), `FALSE` or a number of bytes: how much memory of freed
#'   results to reuse for the next result.
#' @param precision A string: `"single"` or `"double"`, see the Details of [gpuCor()]. May be abbreviated.
#' @param assay A string or number: the assay of an experiment, see [gpucor-containers].
#' @param pseudobulk For counts of single cells: a vector or factor with a label for each cell, such as its donor (`NA`:
#'   the cell is left out), or the name of a variable of an experiment's cells. The labels become the observations, see
#'   [gpucor-containers].
#' @param shards For [gpuCorNetwork()]: the number of shards to compute with the workers of [future::plan()], as
#'   [gpuCorPlan()] does, in a temporary folder. The folder is where option `gpucor.folder` says; by default in
#'   [tempdir()], or in the working directory if the workers are on other machines.
#' @param ... Must be empty.
#' @return A list of class `gpuControl` with the arguments that were given.
#' @examples
#' two <- gpuControl(backend = "cpu", threads = 2)
#' gpuCor(mtcars, control = two)
#' @export
gpuControl <- function(backend = NULL, threads = NULL, devices = NULL, memory = NULL, progress = NULL,
                       precision = NULL, assay = NULL, ..., keep_memory = NULL, shards = NULL,
                       pseudobulk = NULL) {
  if (...length()) refuse_unused(if (is.null(...names())) "" else ...names()[1L], names(formals()))
  if (!is.null(precision)) precision <- check_choice(precision, precisions, "precision")
  given <- list(backend = backend, threads = threads, devices = devices, memory = memory, progress = progress,
                precision = precision, assay = assay, keep_memory = keep_memory, shards = shards,
                pseudobulk = pseudobulk)
  control <- new_spec(given, "gpuControl")
  for (name in intersect(names(control), RUN_SETTINGS)) {
    check_setting(name, control[[name]], structure(list(), given = name))
  }
  control
}

# Kinds of weights, in the order of the engine's codes.
WEIGHT_KINDS <- c("importance", "precision", "frequency")

MIN_OBS <- 3 # of a p value, and the least 'min_obs'

# Ways to combine coefficients to a value that may be negative and is at most 1, and to other numbers.
RELIABILITY <- c("icc2", "icc3")
combinations <- c("mean", "fisher", "min", "quantile", "fraction", RELIABILITY)
summaries <- c("t", "sd")
effect_names <- c("random", "fixed")

new_spec <- function(given, class) structure(Filter(Negate(is.null), given), class = c(class, "gpuSpec"))

#' @method print gpuSpec
#' @export
print.gpuSpec <- function(x, ...) {
  title <- switch(class(x)[1L], gpuAdjust = "Adjustment", gpuSubjects = "Subjects", gpuPermute = "Permutations",
                  gpuControl = "Run settings")
  values <- sub("^of class ([^;]*).*", "<\\1>", vapply(x, show_value, ""))
  cat(title, ": ", if (length(x)) toString(paste(names(x), "=", values)) else "defaults", "\n", sep = "")
  invisible(x)
}

# The constructor of each spec, by the argument that takes a whole one.
SPECS <- c(adjustment = "gpuAdjust", subjects = "gpuSubjects", permutation = "gpuPermute", control = "gpuControl")

NO_SPECS <- lapply(SPECS, function(class) new_spec(list(), class))

# `known`: the names of arguments that the function has.
refuse_unused <- function(name, known) {
  if (!nzchar(name)) fail("an unnamed argument is left over")
  known <- setdiff(known, c("...", names(SPECS)))
  meant <- other_name(name, known)
  if (is.na(meant)) meant <- nearest(name, known)
  is_option <- "options" %in% known && name %in% unlist(lapply(engine$rows, function(row) names(row$options[[1L]])))
  fail("unused argument '", name, "'", if (name == OLD_SETTING) {
    "; 'keep_memory' is memory of freed results to reuse, and x[keep, ] takes rows of 'x'"
  } else if (is_option) {
    paste0("; give options = list(", name, " = )")
  } else if (length(meant)) {
    paste0("; did you mean '", meant, "'?")
  })
}
