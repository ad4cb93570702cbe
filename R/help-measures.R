#' Measures, weights, covariates, degrees of freedom
#'
#' This page describes the measures that `method` names, and the arguments that adjust the data before they are
#' correlated. Most functions that take data have these arguments.
#'
#' | `method` | coefficient | `weights` | `covariates`, `bandpass` | `options` |
#' |---|---|---|---|---|
#' | `"pearson"` | Pearson's correlation | yes | yes | |
#' | `"spearman"` | Spearman's rho, with average ranks | yes | yes, on ranks | |
#' | `"kendall"` | Kendall's tau-b | 0 and 1 only | no | |
#' | `"bicor"` | biweight midcorrelation | 0 and 1 only | yes | `maxPOutliers`, `quick`, `pearsonFallback` |
#' | `"cosine"` | cosine of the angle between columns, not centered | yes | yes, without intercept | |
#' | `"distance"` | squared distance correlation, bias-corrected | 0 and 1 only | no | |
#' | `"mi"` | mutual information of binned columns, as a coefficient | 0 and 1 only | no | `bins` |
#'
#' @section Covariates:
#' `covariates` are nuisance regressors, such as motion, batch or age. They are regressed out: every column is replaced
#' by its residuals, `residuals(lm(x ~ covariates))`. Give a formula such as `~ age + batch` with `data =`, a numeric
#' matrix or vector, or a data frame, whose factors become contrasts. An intercept is always included, except for
#' `"cosine"`. Collinear covariates are dropped. [gpuClean()] returns the residuals.
#'
#' * Spearman: ranks are regressed on the ranks of each covariate, as package ppcor does. An effect that is not linear
#'   in the ranks remains, and p values are then too small: see [gpucor-p-values]. Instead, rank the columns of `x` and
#'   use Pearson's correlation: `gpuCorTest(apply(x, 2, rank), covariates = ~ splines::ns(age, 3))`.
#' * Biweight midcorrelation: computed from the residuals. Kendall's tau: not available; use `"spearman"`.
#' * A column of text is a factor. Text that differs in almost every observation is an error: read the confounds of
#'   fMRIPrep, which writes missing values as `"n/a"`, by `read.delim(file, na.strings = "n/a")`.
#' * A column that the covariates determine up to rounding is constant (`NA`, with a warning).
#'
#' @section Band-pass filter:
#' `bandpass = c(0.01, 0.1)` with `tr = 2` keeps frequencies from 0.01 to 0.1 Hz of series with 2 seconds between
#' observations. A discrete cosine basis of the other frequencies is regressed out together with the covariates, as in
#' AFNI's 3dTproject. It costs one degree of freedom per cosine; in this example about a third is left. The upper limit
#' may be `Inf`. The default of `tr` is `attr(x, "tr")`, which [voxelMatrix()] sets; a different value is a warning, and
#' so is one that is probably in milliseconds. Cosines are not ranked.
#'
#' @section Runs:
#' If the rows of several runs follow one another in `x`, as in `rbind(run1, run2)`, give the label of each row's run as
#' `runs`. Each run is then regressed by itself on an intercept (not with `"cosine"`), the covariates and the cosines of
#' its own rows. The residuals are those of [gpuClean()] for each run, and degrees of freedom are taken for each run. A
#' filter of all rows would ring at the boundaries instead. Spearman's ranks are those of all rows.
#'
#' A covariate `~ run` only shifts the runs; with `bandpass` there is a warning. With `lag` the two rows are always of
#' the same run. Windows ([gpuCorWindows()]) must be within runs. Errors are `df = "bartlett"`, `adjust = "maxT"`,
#' `n_perm` of two matrices, and `"pairwise.complete.obs"` with covariates of ranks.
#'
#' @section Partial correlation given all other columns:
#' `partial = TRUE` adjusts each pair for all other columns of `x`, by Pearson's or Spearman's coefficient, after
#' weights and covariates. With more columns than observations this needs shrunken correlations: `shrinkage = "auto"`
#' estimates their shrinkage intensity as `corpcor::pcor.shrink()` does (Schaefer and Strimmer 2005), and a number sets
#' it. `shrinkage = 0` gives `-cov2cor(solve(cor(x)))`, for more observations than columns. It takes as long as the
#' correlation itself, and no matrix of all pairs is stored. Results print the shrinkage. `y`, and different
#' observations for different pairs, are errors.
#'
#' P values have n - 2 degrees of freedom less one for each other column if `shrinkage = 0`. Shrunken coefficients are
#' compared with a null distribution that is fitted to the smallest three quarters of the coefficients of up to 2,000
#' columns. It takes most pairs to be unrelated; see [gpucor-p-values] for where it holds.
#'
#' @section Weights:
#' `weights` has a number of at least 0 for each observation. Weight 0 excludes the observation: to censor (scrub)
#' volumes, give `TRUE` for those to keep. Coefficients are those of [stats::cov.wt()] with `cor = TRUE`. The number of
#' observations, `n_obs` and `n`, counts positive weights.
#'
#' `weights_are` says what the weights mean. Only p values depend on it, through the effective number of observations:
#'
#' * `"importance"` (default): how much an observation counts, such as sampling or propensity weights. The number is
#'   Kish's effective number, `sum(w)^2 / sum(w^2)`. P values are valid, and conservative if weights differ much: with
#'   weights exp(N(0, 1)) and independent normal columns 2 to 4 % of p values are below 0.05.
#' * `"precision"`: the inverse of each observation's variance, as in [stats::lm()]. The number is that of the positive
#'   weights. If variances are in fact equal, p values are too small: 9 % are below 0.05 under the null with weights
#'   uniform in (0, 1), and 15 to 20 % with exp(N(0, 1)).
#' * `"frequency"`: how often each observation occurred, integers. The number is their sum.
#'
#' With `use = "pairwise.complete.obs"` each pair has the effective number of its own observations. The result is
#' element `df` of [gpuCorTest()].
#'
#' Weighted ranks: the rank of a value is the weight of all smaller values plus half the weight of equal values, which
#' is `Hmisc::wtd.rank()` up to a constant. Spearman's rho is the weighted correlation of these ranks.
#'
#' @section Names of observations:
#' `weights`, `covariates`, `data`, `runs` and `y` must have the observations of `x` in its order. If both have names
#' (row names, names of a vector, column names of an experiment), the names are compared. The same names in another
#' order are an error; different names are a warning. Automatic row names of a data frame do not count as names. If `x`
#' has no names, and those of the other argument are 1 to n in another order, that argument's rows were reordered, which
#' is an error. Other numbers that are not ascending are a warning if the names of the other side are no numbers, or if
#' the other side is a data frame with automatic row names.
#'
#' @section Missing values:
#' `use` has its usual meaning. An observation with a missing covariate is dropped by `"complete.obs"` and
#' `"na.or.complete"`, and from every pair by `"pairwise.complete.obs"`. With another `use` it is an error, unless its
#' weight is 0. With `"pairwise.complete.obs"` and missing values, each pair is weighted, ranked and regressed on its
#' own observations. Such pairs, and those of `"distance"` and `"mi"`, are computed on the processor one by one: some
#' microseconds each, and with many covariates milliseconds.
#'
#' @section Degrees of freedom:
#' P values use Student's t with n - 2 degrees of freedom, minus the rank of the covariates and cosines. (For Spearman's
#' rho without these arguments see [gpuCorTest()].) Fewer than 10 degrees of freedom after regression are a warning.
#'
#' `df` sets another number, because autocorrelated series have fewer independent observations than rows. A number holds
#' for all pairs. `df = "bartlett"` estimates the effective number of observations of each pair:
#' \deqn{1 / n_e = 1/n + 2/n \sum_k (n - k)/n \rho_x(k) \rho_y(k)}{1/n_e = 1/n + 2/n sum_k (n - k)/n rho_x(k) rho_y(k)}
#' over lags k up to a quarter of the observations. Autocorrelations are those of [stats::acf()] after ranking,
#' weighting and regression. Excluded observations keep their position in time, and n_e is at most n.
#'
#' Regression also removes autocorrelation, so `"bartlett"` is calibrated: n_e is interpolated from autoregressive
#' series of first order (coefficients 0 to 0.98) that are regressed on the same covariates. In simulations of
#' independent series, white or AR(0.6) or AR(0.9), with 20 covariates of 100 observations or 6 of 200, censoring and a
#' band, 3 to 6 % of p values were below 0.05. With few degrees of freedom the test is conservative (20 covariates of 30
#' observations: 1.5 %). It is anti-conservative for short, strongly autocorrelated series: 8 % for AR(0.9) with 30
#' observations, 7 % with 100 observations and 20 equally smooth covariates.
#'
#' P values of `"cosine"` need `df`: its t distribution, with n - 1 degrees of freedom, holds only if the columns'
#' expected values are zero. Functions without p values do not accept `df`. Pairs with different degrees of freedom have
#' no common threshold (`@threshold` is `NA`).
#'
#' @section Biweight midcorrelation:
#' As `WGCNA::bicor()`: differences from the median, times `(1 - u^2)^2`, where u is the difference divided by nine
#' median absolute deviations; 0 for |u| > 1. `options` is a list of:
#'
#' * `maxPOutliers` (1): the largest fraction of outliers on either side of the median.
#' * `pearsonFallback`: what to do if a median absolute deviation is zero. `"individual"` uses Pearson's correlation for
#'   that column, with a warning; `"all"` for all columns; `"none"` gives `NA`.
#' * `quick`: accepted for compatibility. Pairs with missing values are always exact (`quick = 0`).
#'
#' @section Distance correlation:
#' It detects dependence of any shape, such as `y = x^2`, which Pearson's and rank correlations miss. The coefficient is
#' the squared distance correlation without bias, `energy::bcdcor()`. It is 1 for a linear relation, and near 0,
#' possibly negative, for independent columns. `sign(r) * sqrt(abs(r))` has the scale of a correlation.
#'
#' * Negative coefficients are no evidence of dependence. Networks keep positive ones only, and tests have one side.
#'   `p.value` and `fdr` may be at most 0.31, because larger p values are those of negative coefficients.
#'   With `power`, `type = "signed hybrid"` counts them as 0.
#' * Networks of several subjects have no p values. [gpuCorCompare()] tests differences between two lists of subjects.
#' * It needs at least 4 observations. A column whose values are all equal, except for the smallest and the largest, has
#'   no distance correlation: it is reported like a constant (`NA`, with a warning).
#' * A column of n observations is prepared as its n (n - 1) / 2 distances, `2 * n^2` bytes in single precision. A pair
#'   takes as long as a Pearson correlation of so many observations, and 128 prepared columns should fit in memory: use
#'   up to some thousand observations.
#'
#' @section Mutual information:
#' Columns are divided into bins. The mutual information of two columns is that of their contingency table, with counts
#' c in its cells, row sums a, column sums b and n observations:
#' \deqn{I = \sum \frac{c}{n} \log \frac{c n}{a b}}{I = sum c/n log(c n / (a b))}
#' The result is not I in nats, but Linfoot's (1957) informational coefficient of correlation r, which is in \[0, 1) as
#' thresholds and powers need it; `-log1p(-r^2) / 2` is I:
#' \deqn{r = \sqrt{1 - \exp(-2 I)}}{r = sqrt(1 - exp(-2 I))}
#' It increases with I, so that the strongest edges are those of I. For bivariate normal columns it is about the
#' absolute correlation, less what bins lose.
#'
#' * `options = list(bins = 8)` sets the number of bins, 2 to 16. The default is the cube root of the number of
#'   observations, rounded.
#' * A column of at most `bins` distinct values, such as factor codes, has a bin for each. Other columns have bins of
#'   equal frequency: a value is in bin `floor(bins * (rank(x) - 1/2) / n)`, so that tied values share a bin.
#' * Independent columns have an I of about `(bins - 1)^2 / (2 n)` by chance. Compare coefficients of the same number of
#'   bins and observations only.
#' * Missing values: bins are those of the whole column, and a pair counts the observations that both columns have. With
#'   `"pairwise.complete.obs"`, r is `NA` if a column has a single bin among these.
#' * P values are by permutation: [gpuCorTest()] with `adjust = "maxT"`. Those of the G test are too small in tables
#'   with the default number of bins ([gpucor-p-values]). Other p values, `fdr` and [gpuCorCompare()] are an error.
#' * The diagonal of a matrix is 1, as for other measures, although I of a column with itself is its entropy.
#' * Coefficients are the same in both precisions. Pairwise-complete pairs are computed on the processor, also if there
#'   is a GPU.
#'
#' @references
#' Bartlett MS (1935). Some aspects of the time-correlation problem in regard to tests of significance. *Journal of the
#' Royal Statistical Society* 98, 536-543.
#'
#' Kim S (2015). ppcor: an R package for a fast calculation to semi-partial correlation coefficients. *Communications
#' for Statistical Applications and Methods* 22, 665-674.
#'
#' Kish L (1965). *Survey sampling*. Wiley, section 8.2.
#'
#' Langfelder P, Horvath S (2012). Fast R functions for robust correlations and hierarchical clustering. *Journal of
#' Statistical Software* 46(11).
#'
#' Linfoot EH (1957). An informational measure of correlation. *Information and Control* 1, 85-89.
#'
#' Schaefer J, Strimmer K (2005). A shrinkage approach to large-scale covariance matrix estimation and implications for
#' functional genomics. *Statistical Applications in Genetics and Molecular Biology* 4, 32.
#'
#' Szekely GJ, Rizzo ML (2014). Partial distance correlation with methods for dissimilarities. *Annals of Statistics*
#' 42, 2382-2412.
#'
#' Wilcox RR (2005). *Introduction to robust estimation and hypothesis testing*. Academic Press, 399-400.
#' @return A coefficient is a number in \[-1, 1\], or in \[0, 1) with `"mi"`. Each function's page says in which object
#'   coefficients are returned.
#' @seealso [gpuCor()], [gpuCorNetwork()], [gpuCorTest()]; [gpucor-p-values]
#' @examples
#' x <- as.matrix(mtcars[, 1:4])
#' gpuCor(x, covariates = ~ wt + factor(gear), data = mtcars) # gear as a batch
#' cor(residuals(lm(x ~ wt + factor(gear), mtcars))) # the same
#' gpuCor(x, method = "bicor", options = list(maxPOutliers = 0.1))
#' gpuCor(cbind(x, square = (x[, "mpg"] - 20)^2), method = "mi", options = list(bins = 4))
#' gpuCor(x, partial = TRUE, shrinkage = 0) # of each pair given the other two columns
#' gpuCor(-9:9, (-9:9)^2, method = "distance") # Pearson's correlation is 0
#' gpuCorTest(x, weights = mtcars$wt)$df # Kish's effective number, minus 2
#'
#' series <- apply(matrix(rnorm(600), 200), 2, cumsum)
#' keep <- !(1:200 %in% 50:53)
#' gpuCorTest(series, weights = keep, bandpass = c(0.01, 0.1), tr = 2)$p.value
#' gpuCorTest(series, df = "bartlett")$df
#' @name gpucor-measures
NULL
