#' Coming from another package or tool
#'
#' The calls of other packages and tools for all pairs of columns, those of gpucor in their place, and what differs in the
#' result.
#'
#' @section gputools (2.1):
#' | gputools | gpucor |
#' |---|---|
#' | `gpuCor(x, use, method, precision)`, its `$coefficients`, `$pairs`, `$ts` | the same call and the same names; `r` itself is a `dist` |
#' | `gpuCor(x, test = TRUE)$p.value` | the same |
#' | `gpuCor(x, y)$coefficients` | `gpuCor(x, y)`, a matrix; or the same, after `options(gpucor.output = "list")` |
#' | `gpuCorPairs(x, y, threshold, top, method, absolute, test, limit)` | the same, or [gpuCorNetwork()] |
#' | `gpuCorPerm(x, y, B, method)` | the same, or [gpuCorTest()] with `adjust = "maxT"` |
#' | `gpuTtest(goodPairs, coeffs)`, `chooseGpu()`, `getGpuId()` | the same |
#' | `gpuDist(x, method)` | [gpuDist()] for distances by correlation; of others [stats::dist()] and gputools have more |
#' | `gpuAssoc(x, y, covariates, pvalue = 1e-5)` | `gpuAssociation(x, y, covariates, p.value = 1e-5)` |
#' | `gpuRowTtest()`, `gpuHclust()`, `gpuKmeans()`, `gpuGranger()`, `gpuMi()` | not here |
#'
#' *With both attached* the package that was attached last answers to the common names (`gpuCor`, `gpuCorPairs`,
#' `gpuCorPerm`, `gpuDist`, `gpuTtest`, `chooseGpu`, `getGpuId`). Say which is meant: `gpucor::gpuCor(x)`,
#' `gputools::gpuDist(x)`; or attach one without them, `library(gputools, exclude = c("gpuCor", "gpuCorPairs",
#' "gpuCorPerm"))`. Each chooses its own GPU.
#'
#' *What differs.* Here coefficients of all pairs are a `dist`, each pair once, and may be more than 2^31; every `use` goes
#' with every measure, `"bicor"` and `"cosine"` among them, and with weights and covariates; networks hold more than 1e7
#' pairs, by Kendall's tau, too, and where values are missing; without a GPU the same calls compute on the processor.
#' `top` without `y` gives a pair once that each of its columns has among its own. [gpuAssociation()] has the partial
#' correlation `r` where `gpuAssoc()` has the slope `beta`; t and the p value are the same, the false discovery rate
#' stands beside them. It takes missing values, text and factors of two levels, a file and every measure, has neither
#' `top` nor `limit`, and keeps all pairs unless `p.value` or `fdr` says which. gputools has tests, clusterings and models
#' that are not correlations.
#'
#' @section WGCNA:
#' | WGCNA | gpucor |
#' |---|---|
#' | `cor(x, use = "p")`, `corFast()` | `gpuCor(x, use = "pairwise")` |
#' | `bicor(x, maxPOutliers =)` | `gpuCor(x, method = "bicor", maxPOutliers =)` |
#' | `corAndPvalue(x)` | `gpuCorTest(x, use = "pairwise")` |
#' | `pickSoftThreshold(x, powerVector, networkType, RsquaredCut, nBreaks)` | `pickPower(x, powers, type, r_squared, breaks)` |
#' | `softConnectivity(x, power = 6)` | `gpuConnectivity(x, power = 6)$soft` |
#' | `signumAdjacencyFunction(abs(cor(x)), 0.8)` | `gpuCorNetwork(x, threshold = 0.8)` |
#' | `TOMsimilarityFromExpr(x, power, TOMType, TOMDenom)` | `gpuTOM(x, power, TOMType =, TOMDenom =, output = "matrix")` |
#' | `1 - TOMsimilarityFromExpr(x)` for a tree | `1 - gpuTOM(x, TOMType = "signed")`, a `dist` |
#' | `blockwiseModules(x, maxBlockSize = ncol(x))` | [gpuModules()], and `as_blockwiseModules()` of it |
#' | `blockwiseConsensusModules(list(list(data = x1), list(data = x2)))` | `gpuModules(list(x1, x2), combine = "min")` |
#' | `moduleEigengenes(x, colors)` | `gpuModules(x)$eigengenes` |
#' | `corPvalueStudent(cor(x, traits), n)` | [gpuAssociation()] |
#'
#' *What differs.* Missing values count as in [stats::cor()], `use = "everything"`, unless said otherwise. Every gene is
#' taken with every other one, without blocks. [gpuTOM()] begins with `TOMType = "unsigned"`, as
#' `WGCNA::TOMsimilarity()`, where `TOMsimilarityFromExpr()` begins with `"signed"`.
#'
#' @section Hmisc and psych:
#' | `Hmisc::rcorr()`, `psych::corr.test()` | gpucor, with `test <- gpuCorTest(x, use = "pairwise", output = "matrix")` |
#' |---|---|
#' | `rcorr(x, type = "spearman")` | `gpuCorTest(x, method = "spearman", ...)` |
#' | `$r`, `$n`, `$P` of `rcorr()` | `test$r`, `test$n`, `test$p.value` |
#' | `$r`, `$n`, `$t`, `$p` of `corr.test(adjust = "none")` | `test$r`, `test$n`, `test$statistic`, `test$p.value` |
#' | `corr.test(adjust = "holm")` | `p.adjust(gpuCorTest(x)$p.value, "holm")`, of each pair once |
#'
#' *What differs.* Both leave out missing values by pairs, so `use = "pairwise"` has to be said here. `rcorr()` has `NA` on
#' the diagonal of `$P`. Kendall's p values are those of the normal approximation with ties, with few observations
#' exact ones. Spearman's of `rcorr()` are Student's t, which is `exact = FALSE` here. There are no confidence intervals.
#'
#' @section AFNI:
#' | AFNI | gpucor, with `x <- voxelMatrix("bold.nii.gz", mask = "mask.nii.gz")` |
#' |---|---|
#' | `3dTcorrMap -Mean`, `-Zmean` | `gpuConnectivity(x, maps = "mean")$mean`, `tanh(gpuConnectivity(x, maps = "z")$z)` |
#' | `3dDegreeCentrality -thresh 0.3` | `gpuConnectivity(x, threshold = 0.3, sign = "positive")$degree` |
#' | `3dDegreeCentrality -sparsity 0.1` | `gpuConnectivity(x, density = 0.001, sign = "positive")`; there in percent |
#' | `3dECM` | `gpuConnectivity(x, maps = "eigenvector")$eigenvector` |
#' | `3dTcorr1D bold.nii seed.1D` | `gpuCor(seed, x)` |
#' | `3dNetCorr` of regions | `gpuCor()` of the regions' mean series |
#' | `3dTproject -ort`, `-passband`, `-censor` | `covariates =`, `bandpass =` with `tr =`, `weights =` (0: censored), in one regression |
#'
#' *What differs.* Nothing is detrended unless asked for: `covariates = seq_len(nrow(x))` is `-polort 1`. What is written
#' is a map, by [writeVoxels()].
#'
#' @section nilearn:
#' | nilearn | gpucor |
#' |---|---|
#' | `NiftiMasker(mask).fit_transform(img)`, `inverse_transform()` | `voxelMatrix(img, mask)`, `voxelImage()` or [writeVoxels()] |
#' | `ConnectivityMeasure(kind="correlation").fit_transform(series)` | `lapply(series, gpuCor, output = "matrix")` |
#' | its `mean_` | `gpuCor(series, combine = "mean")` |
#' | `clean(signals, confounds=, high_pass=, low_pass=, t_r=)` | `covariates =`, `bandpass = c(high_pass, low_pass)`, `tr =` |
#'
#' *What differs.* `ConnectivityMeasure()` shrinks covariances (Ledoit and Wolf) unless it is given
#' `cov_estimator=EmpiricalCovariance()`; here coefficients are those of the data. The band is regressed out with the
#' confounds in one step, and is not a Butterworth filter.
#'
#' @name coming-from
#' @seealso [gpucor-package] for all functions
#' @examples
#' r <- gpuCor(mtcars, test = TRUE)
#' r$p.value[1:3, 1:3]                                        # gputools
#' gpuCorTest(mtcars, use = "pairwise", output = "matrix")$n[1, 2] # Hmisc, psych
#' gpuConnectivity(mtcars, power = 6)$soft[1:3, ]             # WGCNA
NULL
