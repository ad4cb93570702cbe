#' Measures of correlation and their options
#'
#' `method` names the measure. Most functions that take data have it, with `options` and the arguments that adjust the
#' data ([gpuAdjust()]; `covariance` is for `"pearson"`, `"spearman"` and `"cosine"`):
#'
#' | `method` | coefficient | `weights` | `covariates`, `bandpass` | `options` |
#' |---|---|---|---|---|
#' | `"pearson"` | Pearson's correlation | yes | yes | |
#' | `"spearman"` | Spearman's rho, with average ranks | yes | yes, on ranks | |
#' | `"kendall"` | Kendall's tau-b | 0 and 1 only | no | |
#' | `"bicor"` | biweight midcorrelation | 0 and 1 only | yes | `maxPOutliers`, `quick`, `pearsonFallback` |
#' | `"cosine"` | cosine of the angle between columns, not centered | yes | yes, without intercept | |
#' | `"distance"` | squared distance correlation, bias-corrected | 0 and 1 only | no | |
#' | `"rv"` | RV coefficient of groups of columns, bias-corrected | no | no | |
#' | `"mi"` | mutual information of binned columns, as a coefficient | 0 and 1 only | no | `bins` |
#' | `"coherence"` | coherence of series in a band of frequencies | no | yes; `bandpass` is the band | `segment`, `overlap`, `value`, `band` |
#' | `"concordance"` | Lin's concordance of values, or proportionality of log-ratios | no | no | `means` |
#' | `"given"` | the coefficients in `x` itself | no | no | `values` |
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
#' the squared distance correlation without bias, `energy::bcdcor()` (Szekely and Rizzo 2014). It is 1 for a linear
#' relation, and near 0 for independent columns. `sign(r) * sqrt(abs(r))` has the scale of a correlation.
#'
#' * Negative coefficients are no evidence of dependence. Networks keep positive ones only, and tests have one side.
#'   `p.value` and `fdr` may be at most 0.31, as larger p values are those of negative coefficients.
#' * It needs at least 4 observations. A column whose values but the smallest and largest are equal counts as constant.
#' * Columns of up to 3,072 observations n are prepared as n (n - 1) / 2 distances of 4 bytes. Pairs of longer ones, on
#'   the CPU, and with `"pairwise.complete.obs"` take n log n steps (Huo and Szekely 2016, *Technometrics* 58, 435-447).
#'
#' @section Groups of columns:
#' With `groups`, a label for each column, the coefficients are those of whole groups, such as parcels of voxels or
#' pathways of genes; for voxels `groups` may be an atlas. `"distance"` has the squared distance correlation of Euclidean
#' distances between rows (Geerligs and others 2016). `"rv"` has the products of centered rows instead: it is the RV
#' coefficient without bias, or debiased linear CKA, and finds linear dependence only (Robert and Escoufier 1976). With
#' P and Q the distances or products of the two groups, U-centered (row sums are 0 without the diagonal):
#' \deqn{r = \sum_{i \ne j} P_{ij} Q_{ij} / \sqrt{\sum_{i \ne j} P_{ij}^2 \sum_{i \ne j} Q_{ij}^2}}{r = sum(P * Q) /
#' sqrt(sum(P^2) * sum(Q^2)), off the diagonal}
#'
#' * Columns with large variances count more; `scale(x)` makes them equal.
#' * [gpuCor()], [gpuCorTest()], [gpuCorNetwork()], [gpuConnectivity()] and, of lists of subjects, [gpuCorCompare()]
#'   take `groups`. The results' columns are the groups, in the order of labels or factor levels.
#' * Sets that share columns: `x[, unlist(sets)]` with `groups = rep(names(sets), lengths(sets))`. These columns add to
#'   coefficients.
#' * P values count all observations, also if columns were adjusted before, as by [gpuClean()].
#' * A group with a missing value is `NA`. `"complete.obs"` drops rows with one in any group;
#'   `"pairwise.complete.obs"` is an error if values are missing.
#' * It needs at least 4 observations n, and takes 8 n (n - 1) / 2 bytes for each group.
#'
#' @section Mutual information:
#' Columns are divided into bins. The mutual information of two columns is that of their contingency table, with counts
#' c in its cells, row sums a, column sums b and n observations. The result is not I in nats, but Linfoot's (1957)
#' informational coefficient of correlation r, which is in \[0, 1) as thresholds and powers need it; `-log1p(-r^2) / 2`
#' is I:
#' \deqn{I = \sum \frac{c}{n} \log \frac{c n}{a b}, \quad r = \sqrt{1 - \exp(-2 I)}}{I = sum c/n log(c n / (a b)),
#' r = sqrt(1 - exp(-2 I))} r increases with I, so that the strongest edges are those of I. For bivariate normal columns
#' it is about the absolute correlation.
#'
#' * `options = list(bins = 8)` sets the number of bins, 2 to 16. The default is the cube root of n, rounded.
#' * A column of at most `bins` distinct values, such as factor codes, has a bin for each. Other columns have bins of
#'   equal frequency: a value is in bin `floor(bins * (rank(x) - 1/2) / n)`, so that tied values share a bin.
#' * Independent columns have an I of about `(bins - 1)^2 / (2 n)` by chance. Compare those of the same n and bins only.
#' * Missing values: bins are those of the whole column, and a pair counts the observations that both columns have. With
#'   `"pairwise.complete.obs"`, r is `NA` if a column has a single bin among these, and the processor computes pairs.
#' * P values are by permutation only, `adjust` ([gpuPermute()]).
#'
#' @section Coherence:
#' For M/EEG, rows are samples in time, and columns are channels or sources: `bandpass = c(8, 12), rate = 250` is the
#' alpha band at 250 samples a second. [epochMatrix()] makes such a matrix of epochs. For several bands, call `lapply()`
#' over a list of them, as its example does. A list of subjects' matrices is combined ([subjects]) or compared
#' ([gpuCorCompare()]).
#'
#' Series are cut into segments that overlap. Each segment, less its mean and weighted by Hann's window, has a Fourier
#' coefficient at each frequency, as by Welch's method. With S the products of two columns' coefficients, averaged over
#' all segments, coherency is complex, \eqn{S_{xy} / \sqrt{S_{xx} S_{yy}}}{S_xy / sqrt(S_xx S_yy)}. The coefficient is
#' the mean over the frequencies of `bandpass` (with `tr` or `rate`; without it all but 0). `options` is a list of:
#'
#' * `value`: `"squared"` (default), the squared size of coherency, magnitude-squared coherence; `"size"`, its size;
#'   `"phase"`, its size if all Fourier coefficients have size 1, the phase-locking value (Lachaux and others 1999);
#'   `"imaginary"`, the size of its imaginary part, which a mixture of sources leaves 0 (Nolte and others 2004).
#' * `segment`: the number of observations of a segment, at least 4. By default 8 segments fit that overlap by half:
#'   each is two ninths of a series, or the whole of the shortest run, such as an epoch, if there are at least 8 runs.
#'   Frequencies are multiples of the rate divided by it.
#' * `overlap` (0.5): the fraction of a segment, up to 0.95, that the next one has, too.
#' * `band`: `"mean"` (default); or `"sum"`, which averages S over the frequencies, too, before its size is taken, so
#'   that only what has the same phase in the whole band is coherent, not a series that follows. The highest frequency
#'   of an even segment then counts half, as it has one sign.
#'
#' The mean is that of Python's `scipy.signal.coherence(x, y, nperseg = segment)` over the band, and that of `"size"`
#' `coh` of MNE's `spectral_connectivity_epochs()`, whose `"phase"` is `plv` and `"imaginary"` the size of `imcoh`.
#' Coefficients are at least 0. Those of independent series are not 0: with K segments that do not overlap, squared
#' coherence is 1 / K on average. Compare coefficients of the same number of segments and frequencies only;
#' results print it. P values are by `adjust` with `surrogate = "phase"` or, for heavy tails, `"block"`
#' ([gpuPermute()]), without `runs`; epochs of one subject have none, and those of many are tested by
#' [gpuCorCompare()]. Series may have no gaps. With `runs` each segment is of one run. Subjects must have the same
#' frequencies. [gpuCorCompare()] compares artanh of the coefficients, which is usual for `value = "size"`.
#'
#' @section Concordance and proportionality:
#' Both tell how far columns have equal values, where a correlation allows any scale and origin. Of variances v, with
#' the number of observations as divisor, and means m:
#' \deqn{r_c = \frac{2 cov(x, y)}{v_x + v_y + (m_x - m_y)^2}, \quad
#' \rho_p = \frac{2 cov(x, y)}{v_x + v_y}}{r_c = 2 cov(x, y) / (v_x + v_y + (m_x - m_y)^2), rho_p = 2 cov(x, y) / (v_x +
#' v_y)}
#'
#' * r_c is Lin's, `DescTools::CCC()`: agreement of two methods or raters.
#' * `options = list(means = FALSE)` gives rho_p, that of package propr, if `x` has log-ratios, as
#'   `x <- log(counts + 0.5); x <- x - rowMeans(x)`: correlations of relative abundances appear by their common total,
#'   and proportionality does not. propr's phi_s is `(1 - r) / (1 + r)`.
#' * All pairs must have the same observations. P values, by `adjust`, are those of independence, not of agreement. A
#'   constant column has no coefficients (`NA`, with a warning).
#'
#' @section Given coefficients:
#' With `method = "given"`, `x` has the coefficients: a symmetric matrix or a `dist`, or a list of them, one for each
#' subject. [gpuCor()], [gpuCorNetwork()], [gpuConnectivity()], [gpuTOM()], [pickPower()] and [gpuCorCompare()] take it,
#' without what needs observations. The diagonal does not count, and `NA` is a pair without a coefficient.
#'
#' Values are between -1 and 1. `options = list(values = "z")` takes Fisher's z, or other numbers up to 8 in size, as z:
#' [gpuCorCompare()] compares their means, and coefficients are their tanh. Divide larger ones, all by one number.
#' P values of one matrix need `df`; subjects have equal weights, or `subject_weights`.
#'
#' @references
#' Geerligs L, Cam-CAN, Henson RN (2016). *NeuroImage* 135, 16-31.
#'
#' Lachaux J-P, Rodriguez E, Martinerie J, Varela FJ (1999). *Human Brain Mapping* 8, 194-208.
#'
#' Linfoot EH (1957). *Information and Control* 1, 85-89.
#'
#' Nolte G and others (2004). *Clinical Neurophysiology* 115, 2292-2307.
#'
#' Robert P, Escoufier Y (1976). *Applied Statistics* 25, 257-265.
#'
#' Szekely GJ, Rizzo ML (2014). *Annals of Statistics* 42, 2382-2412.
#'
#' @return A coefficient is a number in \[-1, 1\], or in \[0, 1\] with `"mi"` and `"coherence"`. Each function's page
#'   says in which object coefficients are returned.
#' @examples
#' x <- as.matrix(mtcars[, 1:4])
#' gpuCor(x, method = "bicor", options = list(maxPOutliers = 0.1))
#' gpuCor(cbind(x, square = (x[, "mpg"] - 20)^2), method = "mi", options = list(bins = 4))
#' time <- 1:99
#' gpuCor(sin(time), cos(time) + sin(2 * time), method = "coherence", bandpass = c(0.1, 0.2), tr = 1)
#' gpuCor(-9:9, (-9:9)^2, method = "distance") # Pearson's correlation is 0
#' gpuCor(scale(mtcars), method = "rv", groups = rep(c("engine", "speed", "gears"), c(6, 1, 4)))
#' @name gpucor-measures
NULL
