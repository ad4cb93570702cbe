#' P values: for which data they are valid
#'
#' Which test is valid, conservative or not valid for which data, by simulation under the null hypothesis.
#'
#' The *size* of a test is the fraction of true null hypotheses for which p is at most 0.05. A test is *valid* if its
#' size is 0.045 to 0.055, *nearly valid* if it is 0.04 to 0.06, *conservative* if it is less, and not valid if it is
#' more. Every row of these tables is simulated in the sources of the package (`make nulls`, folder `tests/nulls`),
#' which fails where a size is another one than this page says.
#'
#' @section One matrix, or two with the same rows:
#' The same p values are in [gpuCorTest()], `gpuCor(test = TRUE)`, [gpuCorNetwork()] with `p.value` or `fdr`,
#' [gpuAssociation()] and [gpuCorPairs()]. Rows are independent observations unless the table says otherwise.
#'
#' | method, option | data | p values |
#' |---|---|---|
#' | `"pearson"` | normal, any n | valid, in the far tail, too |
#' | `"pearson"` | other, n = 30 | nearly valid at 0.05; the far tail is not valid, see below |
#' | `"spearman"` | any, up to 14 observations without ties | exact: valid, or conservative as there are few values |
#' | `"spearman"` | any, ties, or 15 observations or more | valid, in the far tail valid or conservative |
#' | `"kendall"` | any, `exact = TRUE` | exact: valid, or conservative as there are few values |
#' | `"kendall"` | any, `exact = FALSE` | nearly valid, 0.061 with n = 8; the tail is conservative |
#' | `"bicor"` | normal, lognormal, n = 12 or more | valid or conservative, tail too |
#' | `"cosine"` | mean 0, with `df` | valid |
#' | `"cosine"` | other means, with `df` | not valid: 0.19 where the mean is half a standard deviation |
#' | `use = "pairwise"`, `"complete.obs"` | values missing at random | as with so many complete observations |
#' | `covariates`, Pearson's and `"bicor"` | linear effects, normal | valid |
#' | `covariates`, `"spearman"` | effects of the covariates | not valid, see below |
#' | `weights` of 0 and 1 | any | as without the others |
#' | `weights_are = "precision"` | of variance `1 / weights` | valid |
#' | `weights_are = "frequency"` | copies of observations | as the copies have them |
#' | `weights_are = "importance"` | weights that the data do not depend on | conservative |
#' | `bandpass` | series without autocorrelation | valid |
#' | none | autocorrelated series | not valid: 0.17 for AR(0.6) |
#' | `df = "bartlett"` | AR(0.6) with 100 rows or more | nearly valid, also with covariates |
#' | `df = "bartlett"`, `covariates` | fewer than 10 degrees of freedom left | conservative |
#' | `df = "bartlett"` | AR(0.9) with 200 rows | 0.04 to 0.07 |
#' | `adjust = "maxT"`, [gpuCorPerm()] | any, rows are exchangeable | valid |
#' | `adjust = "maxT"` | autocorrelated series | not valid: near 1 for AR(0.9) |
#' | `adjust = "maxT"`, `surrogate = "phase"` or `"block"` | autocorrelated series | nearly valid |
#'
#' [gpuTtest()] with [stats::pt()] makes Pearson's p values of coefficients. `fdr` is the method of Benjamini and
#' Hochberg. It holds as long as the p values are valid in the far tail.
#'
#' @section Two groups, and lists of subjects:
#'
#' | function, option | data | p values |
#' |---|---|---|
#' | [gpuCorCompare()] of two matrices | both variables normal | valid; with `fdr` 50 rows or more, see below |
#' | [gpuCorCompare()] of two matrices | other, or series | not valid where there is a correlation, see below |
#' | the same, `n_perm` | rows are exchangeable, whatever their distribution | nearly valid |
#' | the same, `n_perm`, `covariates` | residuals are exchangeable | nearly valid |
#' | [gpuCorCompare()] of two lists | subjects are a sample of each group | valid or conservative |
#' | the same, `n_perm` | labels of subjects are exchangeable | valid |
#' | [gpuCorNetwork()] of a list, `combine = "fisher"` | subjects are a sample | valid |
#' | `effects = "fixed"` | all subjects have the same correlation, independent rows | valid |
#' | `effects = "fixed"` | subjects that differ | not valid: 0.31, five against five |
#'
#' Where subjects are a sample, each is one observation, so that their series need no `df`. Welch's test has a size of
#' 0.06 where five subjects vary 2.5 times as much as the nine of the other group.
#'
#' @section Data that are not normal:
#' Pearson's test is nearly valid at 0.05 for all of the data that were simulated, but `fdr` and small p values are
#' about the far tail. The fraction of pairs with p of at most 1e-4, with n = 30, is 0.004 for lognormal data (0.004
#' with n = 100, too), 0.002 for counts most of which are 0, 0.0007 for t with 3 degrees of freedom, and 0.0001, as it
#' should be, for logarithms of large counts. With `fdr = 0.05`, n = 30 and 100 lognormal variables, 20 % of whose
#' pairs are weakly correlated, 0.47 of the edges are false. If no pair is correlated, 0.99 of the data sets have
#' edges.
#'
#' Ranks are recommended for such data (`"spearman"`, `"kendall"`), or `"bicor"`, or logarithms. The p values of ranks
#' do not depend on the distribution, and are valid or conservative in the tail. By Spearman's rho at most 0.05 of the
#' edges are false in the same data.
#'
#' @section Differences between two matrices:
#' The normal approximation of Fisher's z holds for bivariate normal data. Where the correlation is 0.8 in both groups,
#' of 50 rows each, the size is 0.31 for variables of t with 3 degrees of freedom, 0.47 for lognormal ones, and 0.16
#' for AR(0.6) series. Spearman's rho is better but not valid there: 0.064 for normal variables, 0.11 and 0.12 for the
#' former two. Use `n_perm` for data that are not normal, and `df` for series.
#'
#' In the far tail the approximation needs more rows: with 15 in each group `fdr = 0.05` has edges in 0.11 of the data
#' sets without a difference, with 50 in 0.06.
#'
#' @section Partial Spearman correlation:
#' With `covariates` ranks are regressed on ranks of each covariate, as package ppcor does: the adjustment is linear in
#' ranks. An effect of another shape is not removed. With n = 100 and normal z and noise the size is 0.06 for variables
#' `z + noise`, 0.17 for `exp(z) + noise` and 0.67 for `z^2 / 2 + noise`, and it grows with n. A monotone
#' transformation of the covariate has no effect on its ranks; `z^2` as a second covariate brings the latter two to
#' 0.07 and 0.11. Pearson's test is valid where the covariates have the shape of the effect, such as `covariates =
#' exp(z)`.
#'
#' @section Series:
#' The rows of an autocorrelated series are neither independent nor exchangeable. P values need `df`, a number or
#' `"bartlett"`, because there are fewer independent observations than rows. Permutation of rows destroys the
#' autocorrelation, so that `adjust = "maxT"`, [gpuCorPerm()] and `n_perm` of two matrices are not valid; `surrogate =
#' "phase"` and `"block"` keep it.
#'
#' @section Single precision:
#' With `precision = "single"` coefficients are rounded. This changes a p value only where a coefficient is near 1 or
#' -1, so tests compute these pairs in double. [gpuTtest()] takes coefficients as they are given.
#'
#' @seealso [gpucor-measures] for the arguments, [subjects], [gpuCorTest()], [gpuCorNetwork()], [gpuCorCompare()],
#'   [gpuAssociation()]
#' @references
#' Benjamini Y, Hochberg Y (1995). Controlling the false discovery rate. *Journal of the Royal Statistical Society B*
#' 57, 289-300.
#'
#' Kowalski CJ (1972). On the effects of non-normality on the distribution of the sample product-moment correlation
#' coefficient. *Applied Statistics* 21, 1-12.
#' @examples
#' # The tail of Pearson's test of lognormal data, and that of ranks: how many of 4,950 pairs
#' # have a p value of at most 1e-4?
#' set.seed(1)
#' x <- exp(matrix(rnorm(30 * 100), 30))
#' sum(gpuCorTest(x)$p.value <= 1e-4)
#' sum(gpuCorTest(x, method = "spearman")$p.value <= 1e-4)
#' @name gpucor-p-values
NULL
