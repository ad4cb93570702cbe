#' Measures, weights, covariates, degrees of freedom
#'
#' What is correlated, and with which weight: arguments that all functions that take data share, in their `...`.
#'
#' | `method` | coefficient | `weights` | `covariates`, `bandpass` | options |
#' |---|---|---|---|---|
#' | `"pearson"` | Pearson's correlation | yes | yes | |
#' | `"spearman"` | Spearman's rho, of average ranks | yes | yes, of ranks | |
#' | `"kendall"` | Kendall's tau-b | 0 and 1 only | no | |
#' | `"bicor"` | biweight midcorrelation | 0 and 1 only | yes | `maxPOutliers`, `quick`, `pearsonFallback` |
#' | `"cosine"` | cosine of the angle between columns that are not centred | yes | yes, without intercept | |
#'
#' @section Weights:
#' `weights`: a number of at least 0 for each observation. An observation of weight 0 does not count, and what it has
#' or misses is not looked at: for censored (scrubbed) volumes a logical vector of those to keep will do. The
#' coefficients are those of [stats::cov.wt()] with `cor = TRUE`; weights twice as large have the same. The number of
#' observations, `n_obs` and `n`, is that of the positive weights.
#'
#' Weighted ranks: of a value, the weight of all smaller ones and half of that of equal ones, those of `wtd.rank()` of
#' package Hmisc but for a constant. A whole weight is thus the same as so many copies of the observation.
#' Spearman's rho is the weighted correlation of these ranks.
#'
#' @section Observations:
#' `weights`, `covariates`, `data` and `y` must have the observations of `x`, in its order. Where `x` and one of these
#' have names of observations (row names, names of a vector, column names of an experiment), the names are compared.
#' The same names in another order are an error that says how to align them. Other names are a warning with the first
#' difference. Automatic row names of a data frame are no names, and numbers are compared with numbers only.
#'
#' @section Covariates:
#' `covariates`: what every column is freed of before anything else is done to it, as `residuals(lm(x ~ covariates))`
#' frees it, with the weights if there are any: motion, drift, batch, age. A numeric matrix or vector; a data frame,
#' whose factors become contrasts; or a formula without a left side, with `data =` or variables that are found where
#' it was written. There is always an intercept, but for `"cosine"`, where there is none. One QR of the covariates, in
#' double, is for all columns; covariates that others determine take nothing (less than 1e-7 of their length left).
#'
#' Spearman: ranks are regressed on ranks of each covariate, which is the partial rank correlation of package ppcor.
#' The biweight midcorrelation is of the residuals. Kendall's tau has no residuals: use `method = "spearman"`.
#'
#' A column of which regression leaves less than 1e-10 of its length about the mean, or no more than the roundings of
#' its values, is constant: `NA` with the warning.
#'
#' A column of text is a factor. Text with a different value in almost every observation is an error, and so are numbers
#' that are text because a missing value is written as `"n/a"` (as fMRIPrep writes it): read such files with
#' `read.delim(file, na.strings = "n/a")`.
#'
#' `bandpass = c(low, high)`, `tr =`: columns are series with `tr` seconds between observations, and are freed of the
#' discrete cosines with frequencies below `low` or above `high` (in Hz; `Inf` is allowed), in the same regression as
#' the covariates, so that neither brings back what the other has removed. Observations of weight 0 do not count in
#' it. Cosines are not ranked. Without `tr` it is `attr(x, "tr")`, which [voxelMatrix()] sets; another `tr` than that is
#' a warning, and so is one that is probably in milliseconds.
#'
#' @section Missing values:
#' `use` means what it means without these arguments. An observation that misses a covariate is left out where
#' incomplete ones are (`"complete.obs"`, `"na.or.complete"`), as [stats::lm()] leaves it out, and from every pair
#' with `"pairwise.complete.obs"`; otherwise it is an error, unless its weight is 0. With `"pairwise.complete.obs"`
#' and missing values each pair is weighted, ranked, and regressed on its own observations. Such pairs, and those of
#' `"bicor"` and `"cosine"`, are computed on the processor, one by one: some microseconds each, and with many
#' covariates milliseconds.
#'
#' @section Degrees of freedom:
#' The p values of [gpuCorTest()] and of [gpuCorNetwork()] by `p.value` or `fdr` are those of Student's t with n - 2
#' degrees of freedom (`"cosine"`: n - 1), less what the covariates and the band take: the rank of these regressors. n
#' is how many observations count. Fewer than 10 degrees of freedom after regression are a warning, whether p values are
#' computed or not: coefficients of unrelated columns are large then.
#'
#' `df`: another number, for all pairs: the effective degrees of freedom of autocorrelated series. Or `"bartlett"`:
#' the number of effective observations of each pair, less what the measure takes, with
#' \deqn{1 / n_e = 1/n + 2/n \sum_k (n - k)/n \rho_x(k) \rho_y(k)}{1/n_e = 1/n + 2/n sum_k (n - k)/n rho_x(k) rho_y(k)}
#' over the lags k up to a quarter of the observations. The autocorrelations are those of [stats::acf()] of the
#' columns as they are compared: ranked, weighted, regressed, filtered; an observation that does not count keeps its
#' place in time. They know of what regression has taken, so it is not subtracted again. n_e is n at the most. Without
#' p values `df` is an error: a threshold, a density or neighbours have none, and pairs with degrees of freedom of
#' their own have no common threshold (`@threshold` is `NA`).
#'
#' @section Biweight midcorrelation:
#' As `bicor()` of package WGCNA has it: differences from the median, times `(1 - u^2)^2` where u is the difference
#' over nine median absolute deviations, and 0 beyond. `maxPOutliers` (1): the largest share of outliers on either
#' side of the median; more make that side wider. `pearsonFallback`: of columns whose median absolute deviation is
#' zero, `"individual"` takes Pearson's correlation, with a warning, `"none"` has `NA`, and with `"all"` one such
#' column makes Pearson's correlation of all. `quick`: taken for the sake of calls that have it; pairs with missing
#' values are exact, as with `quick = 0`.
#'
#' @section Accuracy: that of Pearson's correlation in [gpuCor()]: columns are weighted, regressed and scaled in double
#'   before they are rounded to single precision, or with `precision = "double"` are not.
#'
#' @section Errors: what a measure does not take, with what to use instead; weights, covariates or a band that are not
#'   as said above; names of observations in another order; covariates and bands that leave no degrees of freedom, so
#'   that every coefficient would be 1 or -1. Permutations (`adjust = "maxT"`) and exact p values are not to be had with
#'   weights other than 0 and 1, covariates or `df`.
#'
#' @references
#' Wilcox RR (2005). *Introduction to robust estimation and hypothesis testing*. Academic Press, 399-400.
#'
#' Langfelder P, Horvath S (2012). Fast R functions for robust correlations and hierarchical clustering. *Journal of
#' Statistical Software* 46(11).
#'
#' Harrell FE. Hmisc, `wtd.rank()`.
#'
#' Kim S (2015). ppcor: an R package for a fast calculation to semi-partial correlation coefficients. *Communications
#' for Statistical Applications and Methods* 22, 665-674.
#'
#' Bartlett MS (1935). Some aspects of the time-correlation problem in regard to tests of significance. *Journal of
#' the Royal Statistical Society* 98, 536-543.
#'
#' @seealso [gpuCor()], [gpuCorNetwork()], [gpuCorTest()]
#' @examples
#' x <- as.matrix(mtcars[, 1:4])
#' gpuCor(x, method = "bicor", maxPOutliers = 0.1)
#' gpuCor(x, weights = mtcars$wt)
#' gpuCor(x, covariates = ~ wt + factor(gear), data = mtcars)
#' cor(residuals(lm(x ~ wt + factor(gear), mtcars))) # the same
#'
#' series <- apply(matrix(rnorm(600), 200), 2, cumsum)
#' keep <- rep(TRUE, 200)
#' keep[50:53] <- FALSE
#' gpuCorTest(series, weights = keep, bandpass = c(0.01, 0.1), tr = 2)$p.value
#' gpuCorTest(series, df = "bartlett")$df
#' @name gpucor-measures
NULL
