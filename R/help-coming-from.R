#' Coming from another package or tool
#'
#' This table has calls of other packages and tools, and the calls of gpucor that replace them.
#'
#' | from | call | gpucor |
#' |---|---|---|
#' | gputools | `gpuCor(x, use, method, precision)`; `$coefficients`, `$pairs`, `$ts` | the same; `r` itself is a `dist` |
#' | | `gpuCor(x, y)$coefficients` | `gpuCor(x, y)`, a matrix; for the list set `options(gpucor.output = "list")` |
#' | | `gpuCorPairs(x, y, threshold = , top = )` | the same, or [gpuCorNetwork()] |
#' | | `gpuCorPerm(x, y, B = 1000)`, `gpuTtest()`, `chooseGpu()`, `getGpuId()` | the same |
#' | | `gpuDist(x, method)`; `gpuHclust(d, method)`, `gpuDistClust(x)` | [gpuDist()], [gpuHclust()], by correlation |
#' | | `gpuMi(x)` | `gpuCor(x, method = "mi")`, by equally filled bins instead of B-splines |
#' | | `gpuAssoc(x, y, covariates = z, pvalue = 1e-5)` | `gpuAssociation(x, y, covariates = z, p.value = 1e-5)` |
#' | matrixCorr | `pearson_corr(x)`, `spearman_rho(x)`, `kendall_tau(x)` | `gpuCor(x, method = , output = "matrix")` |
#' | | `bicor(x)`, formerly `biweight_mid_corr(x)` | `gpuCor(x, method = "bicor", output = "matrix")` |
#' | | `pearson_corr(x, na_method = "pairwise")` | `gpuCor(x, use = "pairwise", output = "matrix")` |
#' | | `pearson_corr(x, output = "sparse", threshold = 0.5)` | `gpuCorNetwork(x, threshold = 0.5)` |
#' | | `pearson_corr(x, output = "edge_list", threshold = 0.5)` | `gpuCorNetwork(x, threshold = 0.5, output = "edges")` |
#' | | `dcor(x)` | `gpuCor(x, method = "distance")`; `dcor()` replaces negative values by 0 |
#' | | `pcorr(x)`, of shrunken correlations | `gpuCor(x, partial = TRUE)`, shrunken unless `shrinkage = 0` |
#' | | `ccc(x)`, Lin's concordance | `gpuCor(x, method = "concordance")` |
#' | propr | `propr(counts, metric = "rho")` | `gpuCor(logratios, method = "concordance", options = list(means = FALSE))` |
#' | energy, FactoMineR | `bcdcor(x[, 1:3], x[, 4:6])`; `coeffRV()` | `gpuCor(x, groups = , method = "distance")`; `"rv"` |
#' | SciPy, MNE | `scipy.signal.coherence(x, y)`; `spectral_connectivity_epochs(method="coh", faverage=True)` | `gpuCor(x, method = "coherence")`; with `options = list(value = "size")` |
#' | bixverse | `rs_cor(x, spearman = TRUE)` | `gpuCor(x, method = "spearman", output = "matrix")` |
#' | | `rs_differential_cor(x, y, spearman = FALSE)` | `gpuCorCompare(x, y)` |
#' | pynetcor | `corrcoef(x, method="kendall")`, of rows | `gpuCor(t(x), method = "kendall")` |
#' | | `cor_topk(x, k=)`, the k strongest of all pairs | `gpuCorNetwork(t(x), density = k / choose(nrow(x), 2), output = "edges")` |
#' | | `cor_topkdiff()`, by the difference of r | `gpuCorCompare(density = )`, by the difference of z |
#' | WGCNA | `cor(x, use = "p")`, `corFast()` | `gpuCor(x, use = "pairwise")` |
#' | | `bicor(x, maxPOutliers = 0.05)` | `gpuCor(x, method = "bicor", options = list(maxPOutliers = 0.05))` |
#' | | `corAndPvalue(x)` | `gpuCorTest(x, use = "pairwise")` |
#' | | `pickSoftThreshold(x, powerVector = , networkType = , RsquaredCut = , nBreaks = )` | `pickPower(x, power = , type = , r_squared = , breaks = )` |
#' | | `softConnectivity(x, power = 6)` | `gpuConnectivity(x, power = 6)$soft` |
#' | | `signumAdjacencyFunction(abs(cor(x)), 0.8)` | `gpuCorNetwork(x, threshold = 0.8)` |
#' | | `TOMsimilarityFromExpr(x, power = 6)` | `gpuTOM(x, power = 6, output = "matrix")` |
#' | | `1 - TOMsimilarityFromExpr(x)` for a tree | `1 - gpuTOM(x)`, a `dist` |
#' | | `blockwiseModules(x, maxBlockSize = ncol(x))` | `as_blockwiseModules(gpuModules(x))` |
#' | | `sampledBlockwiseModules(nRuns = 50, x)` | `gpuModules(x, stability = 50)$stability` |
#' | | `blockwiseConsensusModules(list(list(data = x1), list(data = x2)))` | `gpuModules(list(x1, x2), combine = "min")` |
#' | | `modulePreservation(list(a = list(data = x), b = list(data = y)), list(a = colors))` | `gpuPreservation(x, y, colors)` |
#' | | `moduleEigengenes(x, colors)` | `gpuModules(x)$eigengenes`; of new samples `predict(modules, newdata)` |
#' | | `corPvalueStudent(cor(x, traits), n)` | [gpuAssociation()] |
#' | | `labeledHeatmap(cor(MEs, traits), textMatrix = )` | `plot(modules, traits = traits)` |
#' | limma | `removeBatchEffect(t(x), batch)` before WGCNA | `gpuModules(x, covariates = factor(batch))` |
#' | Hmisc | `rcorr(x)`; `$r`, `$n`, `$P` | `gpuCorTest(x, use = "pairwise", output = "matrix")`; `$r`, `$n`, `$p.value` |
#' | psych | `corr.test(x, adjust = "none")`; `$r`, `$n`, `$t`, `$p` | `gpuCorTest(x, use = "pairwise", output = "matrix")`; `$r`, `$n`, `$statistic`, `$p.value` |
#' | | `corr.test(x, adjust = "holm")` | `p.adjust(gpuCorTest(x)$p.value, "holm")` |
#' | lionessR | `lioness(t(x), function(x) cor(t(x)))` | `gpuCorNetwork(x, threshold = , lioness = 1:n)` |
#' | minet | `aracne(mim, eps = 0)` | `gpuPrune(net)` |
#' | | `clr(mim)`; regulators against targets | `gpuCorNetwork(x, normalize = "clr", density = )`; `gpuCorNetwork(x, y, normalize = "clr", density = )` |
#' | PLINK 1.9 | `--r2 --ld-window-kb 1000 --ld-window-r2 0.2` (and a large `--ld-window`) | `gpuCorNetwork(x, pairs = pairMask(x$variants[c("chromosome", "bp")], within_distance = 1e6), threshold = sqrt(0.2), use = "pairwise")` with `x <- gpuCorFile("x.bed")` |
#' | AFNI | `3dTcorrMap -Mean`, `-Zmean` | `gpuConnectivity(x, maps = "mean")$mean`, `tanh(gpuConnectivity(x, maps = "z")$z)` |
#' | | `3dDegreeCentrality -thresh 0.3` | `gpuConnectivity(x, threshold = 0.3, sign = "positive")$degree` |
#' | | `3dDegreeCentrality -sparsity 0.1` (percent) | `gpuConnectivity(x, density = 0.001, sign = "positive")$degree` |
#' | | `3dECM` | `gpuConnectivity(x, maps = "eigenvector")$eigenvector` |
#' | | `3dTcorr1D bold.nii seed.1D` | `gpuCor(seed, x)` |
#' | | `3dNetCorr` of regions | `gpuCor()` of the regions' mean series |
#' | | `3dTproject -ort`, `-passband`, `-censor` | `covariates =`, `bandpass =` with `tr =`, `weights =` (0: censored) |
#' | BrainIAK | `isc(data)`, `isfc(data)`; `phaseshift_isc()` | `gpuISC(x)`, its `output = "isfc"`; `n_perm =` with `surrogate = "phase"` |
#' | BrainSpace | `GradientMaps(kernel="cosine").fit(r)` | `gpuGradients(r, n = 10, diagonal = TRUE)` |
#' | nilearn | `NiftiMasker(mask).fit_transform(img)`; `inverse_transform()` | `voxelMatrix(img, mask)`; `voxelImage()`, [writeVoxels()] |
#' | | `NiftiLabelsMasker(atlas).fit_transform(img)` | `parcelMeans(x, atlas)` |
#' | | `load_confounds(img, strategy=("motion", "wm_csf"))` | `readConfounds(tsv, c("motion24", "wm_csf"))` |
#' | | `ConnectivityMeasure(kind="correlation").fit_transform(series)` | `lapply(series, gpuCor, output = "matrix")` |
#' | | its `mean_` | `gpuCor(series, combine = "mean")` |
#' | | `clean(signals, confounds=, high_pass=, low_pass=, t_r=, sample_mask=)` | `gpuClean(x, covariates, bandpass = c(high_pass, low_pass), tr = , keep = )`, or these arguments of any function |
#'
#' For AFNI and nilearn, `x <- voxelMatrix("bold.nii.gz", mask = "mask.nii.gz")`.
#'
#' @section Differences:
#' * *Missing values.* The default is that of [stats::cor()], `use = "everything"`. Hmisc and psych delete pairwise:
#'   `use = "pairwise"`. matrixCorr stops: `use = "all.obs"`.
#' * *gputools.* Coefficients of all pairs are a `dist`, which has each pair once. [gpuAssociation()] returns the
#'   partial correlation `r`, `gpuAssoc()` the slope `beta`; t and p values are the same. gputools also covers other
#'   distances, k-means, Granger causality, t tests of rows, principal components and least squares. If both packages
#'   are attached, write `gpucor::gpuCor()` or `gputools::gpuCor()`.
#' * *matrixCorr* also covers agreement (Bland-Altman, kappa), repeated measures, latent correlations (tetrachoric,
#'   polychoric, polyserial), shrinkage of correlations and other robust measures.
#' * *bixverse* also covers modules by Leiden communities and by CoReMo, gene set enrichment and single cells.
#' * *pynetcor* has variables in rows.
#' * *Hmisc, pynetcor.* Spearman's p values are those of Student's t: `exact = FALSE`.
#' * *AFNI.* Nothing is detrended by default. `covariates = seq_len(nrow(x))` is `-polort 1`.
#' * *nilearn.* `ConnectivityMeasure()` shrinks covariances (Ledoit and Wolf) unless it is given
#'   `cov_estimator=EmpiricalCovariance()`. `bandpass` regresses out cosines; it is not a Butterworth filter.
#'
#' @return The functions return what their own pages say.
#' @name coming-from
#' @examples
#' gpuCor(mtcars, test = TRUE)$p.value[1:3, 1:3]                    # gputools
#' gpuCorTest(mtcars, use = "pairwise", output = "matrix")$n[1, 2]  # Hmisc, psych
#' gpuConnectivity(mtcars, power = 6)$soft[1:3, ]                   # WGCNA
NULL
