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
#' `weights_are` says what weights are. Only p values depend on it, through the number of observations from which
#' degrees of freedom are counted:
#'
#' * `"importance"`, the default: how much an observation is to count (propensity, sampling or similarity weights). All
#'   observations have the same variance, so a coefficient by unequal weights varies more than one by equal weights. The
#'   number is Kish's effective number, `sum(w)^2 / sum(w^2)`. Such p values are valid, and somewhat conservative if
#'   weights differ much: with weights exp(N(0, 1)) and independent normal columns 2 to 4 % of p values are below 0.05.
#' * `"precision"`: the inverse of each observation's variance, as `weights` of [stats::lm()] are. The number is that of
#'   the positive weights. If the observations have equal variances instead, p values are too small: with weights
#'   uniform in (0, 1) 9 %, and with exp(N(0, 1)) 15 to 20 % of p values are below 0.05 where there is no correlation.
#' * `"frequency"`: how often each observation was seen, integers. The number is their sum, and p values are those of
#'   data that hold as many copies.
#'
#' Weights that are 0 and one other number have the same p values by `"importance"` and `"precision"`. With
#' `"pairwise.complete.obs"` each pair has the effective number of its own observations. Element `df` of [gpuCorTest()]
#' is what results, and headers tell the effective number.
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
#' The adjustment of ranks is linear in the covariate's ranks. A covariate whose effect on the ranks of columns is not
#' linear leaves them dependent, and p values too small. In a simulation with columns exp(z) + noise, 100 observations
#' and covariate z, 17 % of p values were below 0.05; with z^2 + noise, 65 %. Spline columns would be ranked as other
#' covariates are, so for such effects rank the columns of `x` first, and adjust the ranks by Pearson's correlation:
#' `gpuCorTest(apply(x, 2, rank), covariates = ~ splines::ns(age, 3))` had 5 to 7 % in these simulations.
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
#' degrees of freedom, less what the covariates and the band take: the rank of these regressors. (Spearman's rho has
#' other p values where none of these arguments is given, see [gpuCorTest()].) n is how many observations count, or what
#' weights leave of them (see `weights_are`). Fewer than 10 degrees of freedom after regression are a warning, whether p
#' values are computed or not: coefficients of unrelated columns are large then.
#'
#' `df`: another number, for all pairs: the effective degrees of freedom of autocorrelated series. Or `"bartlett"`:
#' the number of effective observations of each pair, less what the measure takes, with
#' \deqn{1 / n_e = 1/n + 2/n \sum_k (n - k)/n \rho_x(k) \rho_y(k)}{1/n_e = 1/n + 2/n sum_k (n - k)/n rho_x(k) rho_y(k)}
#' over the lags k up to a quarter of the observations. The autocorrelations are those of [stats::acf()] of the
#' columns as they are compared: ranked, weighted, regressed, filtered. An observation that does not count keeps its
#' place in time, and a lag's sum of products is scaled by how many products the gaps leave. n_e is at most n.
#'
#' Regression (and weights other than 0 and 1) takes degrees of freedom, and some of the autocorrelation, too. The
#' formula is therefore calibrated. For autoregressive series of first order, with coefficients from 0 to 0.98, two
#' numbers follow from the regressors alone: the sum over lags that their residuals are expected to have, and the number
#' of independent observations that the variance of a coefficient of these residuals is worth. n_e is this number at the
#' pair's own sum, by linear interpolation; n less the rank of the regressors at the most. Simulations with independent
#' normal series (white, or autoregressive with 0.6 or 0.9), 20 regressors of 100 observations or 6 of 200, scrubbed
#' volumes, and a band had 3 to 6 % of p values below 0.05. Where regression leaves few degrees of freedom the test is
#' conservative (20 regressors of 30 observations: 1.5 %). It is anti-conservative for short series of strong
#' autocorrelation: 30 observations and a coefficient of 0.9 without covariates have 8 %, 100 observations with 20
#' regressors that are as smooth 7 %.
#'
#' The t distribution of `"cosine"`, with n - 1 degrees of freedom, holds for columns whose expected value is zero. For
#' others p values can be too small by any factor, so they are an error. Giving `df` says that the expected values are
#' zero: `df = nrow(x) - 1`, or `"bartlett"`. Coefficients are unaffected.
#'
#' Without p values `df` is an error: a threshold, a density or neighbours have none, and pairs with degrees of freedom
#' of their own have no common threshold (`@threshold` is `NA`).
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
#'   that every coefficient would be 1 or -1; p values of weights that leave less than one degree of freedom;
#'   `weights_are = "frequency"` with fractions, with `df = "bartlett"` or with Kendall's tau; p values of `"cosine"`
#'   without `df`; exact p values with weights other than 0 and 1, covariates or `df`; permutations
#'   (`adjust = "maxT"`) with such weights.
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
#' Kish L (1965). *Survey sampling*. Wiley, section 8.2.
#'
#' Bartlett MS (1935). Some aspects of the time-correlation problem in regard to tests of significance. *Journal of
#' the Royal Statistical Society* 98, 536-543.
#'
#' @seealso [gpuCor()], [gpuCorNetwork()], [gpuCorTest()]; [gpucor-p-values] for which data p values are valid
#' @examples
#' x <- as.matrix(mtcars[, 1:4])
#' gpuCor(x, method = "bicor", maxPOutliers = 0.1)
#' gpuCor(x, weights = mtcars$wt)
#' gpuCorTest(x, weights = mtcars$wt)$df # Kish's effective number, less 2
#' gpuCorTest(x, weights = mtcars$carb, weights_are = "frequency")$df # as many copies
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
