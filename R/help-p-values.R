#' P values: for which data they are valid
#'
#' These tables show for which data the p values of each test are valid, by simulations under the null hypothesis.
#'
#' In short:
#'
#' * RNA counts: leave out genes that are zero in most samples, and use `"spearman"`, or logarithms.
#' * Expression by microarrays: `"spearman"` or `"bicor"`. Of sets of 150 permuted genes of leukemias 0.15 have edges by
#'   Pearson's correlation of logarithms at `fdr = 0.05` with 20 samples and 0.1 with 128, but 0.05 by these two.
#' * fMRI series: `df = "bartlett"`, or `adjust = "maxT"` with `surrogate = "phase"`. Permuted rows are not valid,
#'   because permutation destroys the autocorrelation; a warning tells of such rows.
#'
#' The *size* of a test is the fraction of true null hypotheses with p <= 0.05. A test is *valid* if its size is 0.045
#' to 0.055, *nearly valid* if it is 0.04 to 0.06, *conservative* if it is less, and not valid if it is more. The *far
#' tail*, which `fdr` depends on, are p values near 1e-4.
#'
#' **Most tests of correlation are tests of independence.** Their p values are those of independent columns, by a
#' formula or by permutation. Uncorrelated columns that depend on one another in another way have small p values, too. A
#' common case is that some rows vary more than others, such as samples of low quality or volumes with motion: the large
#' values of all columns are in the same rows. If uncorrelated columns have rows that are multivariate t with 3 degrees
#' of freedom, the size of Pearson's test is 0.23 with n = 30 and 0.32 with n = 100. With n = 30 it is 0.07 for
#' Spearman's rho and bicor, 0.08 for Kendall's tau, and 0.09 for distance correlation, which is meant to find such
#' dependence. Permutation tests are not valid, either: with `adjust = "maxT"` 0.62 of the data sets of 20 columns have
#' an edge. Normalize the rows, or use ranks or bicor.
#'
#' @section One matrix, or two with the same rows:
#' The tests are those of [gpuCorTest()], `gpuCor(test = TRUE)`, [gpuCorNetwork()] with `p.value` or `fdr`,
#' [gpuAssociation()] and [gpuCorPairs()]. Rows are independent observations unless the table says otherwise.
#'
#' | method, option | data | p values |
#' |---|---|---|
#' | `"pearson"` | normal, any n | valid, also in the far tail |
#' | `"pearson"` | other, n = 30 | nearly valid at 0.05; the far tail is not valid, see below |
#' | `"spearman"`, `"kendall"` | any, n up to 20, for Kendall 49 or `exact = TRUE`, no ties | exact: valid, or conservative (discrete) |
#' | `"spearman"`, `"kendall"` | any, larger n, or ties | valid or conservative, also in the far tail |
#' | these three | mostly zeros | not valid, see below |
#' | all | uncorrelated, not independent | not valid as tests of correlation: 0.07 to 0.32, see above |
#' | `"kendall"`, `exact = FALSE` | any, n = 12 or more | nearly valid, tail conservative; not valid with n = 8: 0.061 |
#' | `"bicor"` | normal, lognormal, n = 12 or more | valid or conservative, also in the tail |
#' | `"bicor"` | normal, n = 5 to 11 | conservative; with n = 3 and 4 there are no p values |
#' | `"distance"` | any, n = 20 or more | nearly valid, tail conservative; not valid with n = 10: 0.072 |
#' | `"distance"` | mostly zeros | conservative at 0.05; the far tail is not valid: 0.002 |
#' | `"distance"`, `"rv"` | groups of 1 to 5 columns, n = 20 or more | nearly valid; lognormal and `"rv"` 0.04; tail conservative |
#' | `"distance"`, `"rv"` | groups of 20 or more columns | conservative: 0.02 to 0.035 |
#' | `"cosine"` | mean 0, with `df` | valid |
#' | `"cosine"` | other means, with `df` | not valid: 0.19 if the mean is half a standard deviation |
#' | `"mi"` | any | by `adjust = "maxT"` only: the G test has 0.10 with n = 50 and 0.07 with n = 500 |
#' | `"coherence"` | AR(0.6), n = 200 | by `adjust = "maxT"` with `surrogate = "phase"`: nearly valid |
#' | `"coherence"` | lognormal, n = 200 | by `surrogate = "phase"` not valid: 0.25; by `"block"` valid |
#' | `"concordance"` | lognormal, n = 30 | by `adjust = "maxT"`: valid |
#' | `use = "pairwise"`, `"complete.obs"` | values missing at random | as for the number of complete observations |
#' | `covariates`, Pearson's and `"bicor"` | linear effects, normal | valid |
#' | `covariates`, `protect` | linear effects, normal | valid; conservative if these share much: 0.04 |
#' | `covariates`, `"spearman"` | effects of the covariates | not valid, see below |
#' | `covariance` | normal, with that covariance | valid, also in the far tail |
#' | `covariance`, `"spearman"` | normal, with that covariance | nearly valid; 1.3e-4 in the far tail |
#' | `covariance = cov(t(x))` | normal, 5 or 20 columns for each row | conservative: 0.03 or 0.045 |
#' | `covariance` of families | independent rows | not valid: 0.07 |
#' | `covariance` with a heritability of 0.2, 0.5 | heritability 0.8, families of 5 | not valid: 0.22, 0.10 |
#' | `covariance` with a correlation of 0.8, 0.99 of two of 20 rows | their correlation is 0.5 | nearly valid; not valid: 0.52 |
#' | without `covariance` | families of 5, correlated by 0.5; 64 species of a tree | not valid: 0.16; 0.33 |
#' | F of a factor ([gpuAssociation()]) | normal, or logarithms of counts; with `covariates` | valid |
#' | F of a factor | lognormal, equal groups | conservative at 0.05 |
#' | `partial`, `shrinkage = 0` | normal | valid |
#' | `partial`, shrunken | independent columns: normal, or `"spearman"` | conservative, also in the far tail |
#' | `partial`, shrunken | neighbors of strong edges, or other data | not valid, see below |
#' | `weights_are = "precision"` | variance `1 / weights` | valid |
#' | `weights_are = "importance"` | weights independent of the data | conservative |
#' | `bandpass` | series without autocorrelation | valid |
#' | none | autocorrelated series | not valid: 0.17 for AR(0.6) |
#' | `df = "bartlett"` | AR(0.6) with 100 rows or more | nearly valid, also with covariates |
#' | `df = "bartlett"`, `covariates` | fewer than 10 degrees of freedom left | conservative |
#' | `df = "bartlett"` | AR(0.9) | nearly valid with 200 rows: 0.056; not valid with 100: 0.063 |
#' | `df = "bartlett"` | 1/f noise, n = 200; a sine in noise | not valid: 0.07; 0.26 |
#' | `adjust = "maxT"`, [gpuCorPerm()] | independent columns, rows are exchangeable | valid |
#' | `adjust = "maxT"`, `covariates` | linear effects, any distribution | 0.01 to 0.06, see below |
#' | `adjust = "maxT"` | autocorrelated series | not valid: near 1 for AR(0.9) |
#' | `adjust = "maxT"`, `surrogate = "phase"` or `"block"` | autocorrelated series | nearly valid |
#' | the same | AR(0.9), n = 30, 60, 100 | not valid: 0.2, 0.1, 0.07; a warning tells |
#' | `adjust = "maxT"`, `surrogate = "phase"` | 1/f noise, n = 200; a sine in noise | nearly valid or conservative |
#'
#' `fdr` is the method of Benjamini and Hochberg. It holds if p values are valid in the far tail.
#'
#' @section Confidence intervals:
#' The table has the fraction of the intervals of [gpuCorTest()] with `conf.level = 0.95` that do not contain the true
#' coefficient, in the words of the size of a test.
#'
#' | method | data | intervals |
#' |---|---|---|
#' | `"pearson"` | normal, any n; `use = "pairwise"`; `covariates` | valid |
#' | `"pearson"`, `df = "bartlett"` | AR(0.6) with 200 rows | nearly valid |
#' | `"cosine"` | mean 0, normal | valid |
#' | `"spearman"` | normal or lognormal, n = 10 or more | nearly valid |
#' | `"kendall"` | normal, n = 10 or more, coefficients up to 0.71 | nearly valid, to 0.033 |
#' | `"kendall"` | normal, n = 10, coefficient 0.8 | not valid: 0.09 |
#' | `"pearson"` | lognormal, coefficient 0.38, n = 20 | not valid: 0.16 |
#' | `"pearson"` | uncorrelated, not independent | not valid: 0.23 with n = 30 |
#' | any | counts with 60 % zeros, n = 20 | not valid for correlated counts: 0.12 to 0.24 |
#' | `"kendall"` | counts with 60 % zeros, n = 20, not correlated | not valid: 0.12 |
#' | any | 60 cells of each of 12 donors, whose genes have other levels | not valid: 0.14 |
#' | any, `covariates` | the same, the donors as a factor | valid |
#' | any, `pseudobulk` | the same, the donors as samples | valid |
#'
#' @section Two groups, and lists of subjects:
#' | function, option | data | p values |
#' |---|---|---|
#' | [gpuCorCompare()] of two matrices, or more | normal, 50 rows or more in each group | valid |
#' | the same | normal, fewer rows | valid at 0.05; the far tail is not valid, so `fdr` is not, see below |
#' | the same | other, or series | not valid for correlated pairs, see below |
#' | the same, `"bicor"` | normal, n = 50 | valid, or conservative without correlation |
#' | [gpuCorCompare()] of two, `n_perm` | rows are exchangeable, any distribution | nearly valid, to 0.08, see below |
#' | the same, `n_perm`, `covariates` | linear effects, any distribution | nearly valid or conservative, see below |
#' | [gpuCorCompare()] of two lists, also of given coefficients | groups of equal size | valid, or conservative with fewer than 6 subjects |
#' | the same | 10 subjects or more in each, or less than twice as many in one | nearly valid, or conservative |
#' | the same | other | not valid: 0.10 with 2 against 10 subjects, see below |
#' | the same, `n_perm` | labels of subjects are exchangeable | valid |
#' | the same, `n_perm` | z varies more in the smaller group | not valid, see below |
#' | [gpuCorCompare()] of one list, or `paired` | subjects are a sample | valid; with `n_perm` nearly valid |
#' | the same | z is skewed | not valid, see below |
#' | [gpuCorCompare()] of one list, `"distance"` | independent columns | 0.06 to 0.09, see below |
#' | [gpuCorCompare()] with `design` | linear effects on z, the same variance in all subjects | valid |
#' | the same, `n_perm` | residuals are exchangeable | nearly valid |
#' | [gpuCorCompare()] with `components` or `seeds` | as for `n_perm` | nearly valid |
#' | [gpuCorNetwork()] of a list, `combine = "fisher"` | subjects are a sample | valid |
#' | `effects = "fixed"` | all subjects have the same correlation, independent rows | valid |
#' | `effects = "fixed"` | subjects differ | not valid: 0.31, five against five |
#' | [gpuISC()] | independent subjects, 4 or more, or 3 of equal variances | valid or conservative: 0.03 to 0.055 |
#' | the same | 3 subjects, standard deviations exp(N(0, 1)) | not valid: 0.063 |
#' | the same, `n_perm` | the same, 2 or more | nearly valid |
#' | the same, `n_perm`, `surrogate = "phase"` | the same, nearly normal series | nearly valid |
#' | the same, `n_perm`, `surrogate = "phase"` | lognormal series, 3 and 10 subjects | not valid: 0.11 |
#' | the same, `output = "isfc"`, `n_perm` | independent subjects | nearly valid |
#' | the same, each | a drift of all subjects, without `covariates` | not valid: 1 |
#' | [gpuISC()] with `group` | labels of subjects are exchangeable | nearly valid |
#' | the same | subjects of one group differ more; the smaller one, 5 against 15 | not valid: 0.10; 0.28 (a warning) |
#' | the same, `contrast = "between"` | the same | not valid: 0.19; 0.21 (a warning) |
#' | [gpuISC()] with `target` | independent subjects | valid |
#' | the same | subjects who share a tenth of their variance; six tenths; 10 of them | not valid: 0.11; 0.34 (a warning) |
#'
#' @section Preservation of modules:
#' The null hypothesis of [gpuPreservation()] is that the genes' identities are unrelated between the two data sets.
#'
#' | statistics | data | p values |
#' |---|---|---|
#' | all, also `network = "overlap"` | genes are correlated in both sets, but in unrelated ways | valid |
#' | `propVarExplained`, `meanAdj`, `meanMAR` | random sets of genes, any data | valid |
#' | all, `null = "random sets"` | random sets of genes of data sets that share their modules | nearly valid |
#' | all, `null = "random sets"` | modules found in `reference`, one factor of all genes in `test` | nearly valid |
#' | all others, `"labels"` | the same | not valid as a test of modules: 0.84 |
#' | `cor.kIM`, `cor.kME` | the genes are a module in both sets, with unrelated loadings | nearly valid |
#' | `cor.cor` | the same | not valid as a test of the pattern: 0.17 |
#'
#' In the last two rows the density is preserved, and its p values are small. `cor.kIM` and `cor.kME` test the pattern.
#'
#' @section Notes to the tables:
#' **Data that are not normal.** Use ranks, `"bicor"` or logarithms. In the far tail of Pearson's test, with n = 30, the
#' fraction of pairs with p <= 1e-4 is 0.004 for lognormal data (also with n = 100), 0.002 for counts with 60 % zeros,
#' 0.0007 for t with 3 degrees of freedom, and 0.0001, as it should be, for logarithms of large counts. With
#' `fdr = 0.05`, n = 30 and 100 lognormal variables, 20 % of whose pairs are weakly correlated, 0.47 of the edges are
#' false; with Spearman's rho at most 0.05 are. If no pair is correlated, 0.99 of the data sets have edges.
#'
#' **Columns that are mostly zeros.** Leave them out, or use `adjust = "maxT"`, which is conservative. With few values
#' other than zero, a few rows in which two columns happen to be positive give a very small p value, by any measure.
#' With n = 30 the fraction of pairs with p <= 1e-4 is 0.0009 for Spearman's rho if 80 % are zeros, 0.008 if 90 % are,
#' and 0.027 if 95 % are. For Kendall's tau, whose p values are not below the probability of the pair's own order up to
#' n = 49, it is 0.0002 with n = 30, and up to 0.001 with n = 49. Among 500 independent columns with 90 % zeros
#' `fdr = 0.05` has 1,200 false edges by Spearman's rho with n = 30, and by Kendall's tau none with n = 30, 35 with n =
#' 49, 200 with n = 60, 40 with n = 128 and at most a few with n = 1,000.
#'
#' **Distance correlation.** The chi-squared test of normal data would have a size of 0.33, 0.16, 0.12 and 0.08 with n =
#' 4, 5, 6 and 8, so there are no p values with n below 10; `adjust = "maxT"` is valid with any number. The size for
#' normal and lognormal data is 0.072 with n = 10, 0.053 to 0.056 with n = 20, and 0.047 to 0.050 with n = 50 and 100.
#' The fraction of pairs with p <= 1e-4 is at most 0.00007.
#'
#' **Partial correlation given all other columns.** Shrunken partial correlations adjust for the other columns only in
#' part. Two columns that both have a strong partial correlation with a third then have a small p value, too. If each of
#' 200 columns depends on the previous one by rho and n = 50, the fraction of the other pairs with p <= 1e-4 is less
#' than 1e-4 if rho is 0.5, but 0.014 if it is 0.9. In random networks of as many edges as columns (n = 100, 2,000
#' columns, `fdr = 0.05`) 0.29 of the edges found were not in the network, nearly all of them between neighbors of one
#' column; of the edges that Pearson's correlation found 0.36 were not. Use Spearman's rho for data that are not normal:
#' of 200 independent lognormal columns (n = 50) a fraction of 0.0026 has p <= 1e-4 by Pearson's correlation.
#'
#' **Partial Spearman correlation.** Effects that are not linear in the ranks remain ([gpuAdjust()]). With n = 100 and
#' normal z and noise the size is 0.06 for `z + noise`, 0.17 for `exp(z) + noise` and 0.67 for `z^2 / 2 + noise`, and it
#' grows with n. A monotone transformation of the covariate has no effect; `z^2` as a second covariate reduces the last
#' two to 0.07 and 0.11. Pearson's test is valid with that shape, `covariates = exp(z)`.
#'
#' **Permuted residuals** ([gpuPermute()]) are those of a robust regression. Least squares spread an outlier over all
#' residuals, with which the family-wise error of 150 lognormal columns was up to 0.84; edges of normal data are found
#' nearly as often. With 20 and 40 rows (in each group), one and five covariates with or without linear effects, and 150
#' columns the family-wise error at 0.05 was:
#'
#' | | normal | t3 | lognormal |
#' |---|---|---|---|
#' | `adjust = "maxT"` | 0.04 to 0.06 | 0.02 to 0.05 | 0.02 to 0.06 |
#' | `n_perm` of two matrices | 0.02 to 0.05 | 0.01 to 0.03 | 0.01 to 0.03 |
#'
#' It was at most 0.06 with 12 and 15 rows, lognormal or binary covariates, and for counts, and at most 0.07 for uniform
#' columns. `n_perm` has 0.08 for lognormal columns correlated by 0.8 in groups of 30 rows, also without covariates.
#'
#' **Differences between two matrices.** Use `n_perm` for data that are not normal, also by ranks or bicor, and for
#' groups of fewer than 50 rows, and `df` for series. If the correlation is 0.8 in both groups of 50 rows, the size is
#' 0.31 for t with 3 degrees of freedom, 0.47 for lognormal variables and 0.16 for AR(0.6) series. Spearman's rho has
#' 0.064 for normal variables, 0.11 for t and 0.12 for lognormal ones; bicor 0.047, 0.105, 0.15.
#'
#' With 15 rows in each group `fdr = 0.05` has edges in 0.11 of the normal data sets without a difference, with 50 in
#' 0.06; `gpuCorCompare()` warns of `fdr` without `n_perm`. More rows do not help data that are not normal. If
#' rows are of a multivariate t distribution (40 columns of one module), 0.2 of the data sets without a difference have
#' edges for 10 degrees of freedom, with 25 and with 100 rows in each group, and 0.75 for 5 degrees with 100. Of 11
#' random splits of real expression data (2,000 genes of 128 leukemias) into halves of 64, 9 have edges by Pearson's
#' correlation, up to 38, and 2 by Spearman's rho. With `n_perm` (40 genes) 0.04 to 0.07 of the random halves have, also
#' of 40 bladder tumors, with covariates of their batches, and with `fdr`.
#'
#' A p value by Spearman's rho is at least 2 / n! for n rows in the smallest group, the exact two-sided p value of a
#' perfect rank correlation: 0.017 for 5 rows and 5e-5 for 8. For lists of subjects with `effects = "fixed"`, the
#' product of a group's n! takes the place of n!.
#'
#' **Groups of subjects.** With `variance = "equal"` the size is 0.05 for groups of any size, such as 1 or 2 against 10
#' or 5 against 20, also of columns with 3 degrees of freedom of Student's t. It is 0.09 if five subjects vary 2.5 times
#' as much as the nine of the other group; Welch's t (`variance = "unequal"`) has 0.06. It has too small p values if one
#' group is small and the other one much larger. The size at 0.05, and the fraction of pairs with p <= 0.005, are 0.10
#' and 0.031 with 2 against 10 subjects, 0.075 and 0.021 with 3 against 20, 0.06 and 0.011 with 4 against 16, 0.053 and
#' 0.007 with 6 against 18, and 0.05 and 0.005 with 10 against 20. `gpuCorCompare()` warns of such groups.
#'
#' `n_perm` permutes labels, which are exchangeable only if subjects vary alike in both groups. If z has 1.4 or 2.1
#' times the standard deviation in the smaller group, the family-wise error at 0.05 of 66 pairs is 0.17 and 0.5 with 6
#' against 14 subjects, and 0.15 and 0.57 of the F of 6, 10 and 14. With `variance = "unequal"` it is 0.10 and 0.22,
#' with 10 against 20 subjects 0.08 and 0.15, with 20 against 40 0.05 and 0.09, and with 6 against 6 0.07 and 0.11. This
#' occurs if the smallest group's subjects have fewer rows, for example. `gpuCorCompare()` warns if z of up to 50
#' columns vary 1.25 times as much as in the largest group or more, and more than by chance: 100 of 100 times for 60
#' columns at 1.4 times with 6 against 14, 95 for 12 columns, and never without a difference.
#'
#' **One list of subjects.** Student's t and flips of signs need z that is distributed symmetrically about its mean. If
#' z is lognormal, with a skewness of 6, the size is 0.14, 0.12 and 0.10 with 8, 16 and 40 subjects, and the family-wise
#' error of `n_perm` about 0.1. If a covariate in `design` is skewed, too, the size is 0.056, and 0.011 of the p values
#' are at most 0.005. The family-wise error of `n_perm` is below 0.05. Distance correlations of independent columns are
#' skewed: the size of one list of 8, 16 and 40 subjects is 0.09, 0.085 and 0.055, and the family-wise error of `n_perm`
#' 0.3 to 0.5, but at most 0.01 with `sign = "positive"`, as its small p values are below 0. P values of two lists are
#' valid.
#'
#' **Rates by permutation** ([gpuPermute()]). Of data sets without any correlation or difference, 0.04 to 0.06 have
#' edges at `fdr = 0.05` with 60 permutations: networks of lognormal columns, associations, two and three matrices of 20
#' normal rows, lists of 6 and 8 subjects, pairs, designs, blocks, and phase surrogates of AR(0.6) series. If a fifth of
#' all pairs of lognormal columns are correlated, 0.06 of the edges are false.
#'
#' @return P values are numbers in \[0, 1\], or `NA` where a pair cannot be tested.
#' @references
#' Benjamini Y, Hochberg Y (1995). *Journal of the Royal Statistical Society B* 57, 289-300.
#'
#' @examples
#' # 4,950 pairs of lognormal columns, none correlated
#' set.seed(1)
#' x <- exp(matrix(rnorm(30 * 100), 30))
#' sum(gpuCorTest(x)$p.value <= 1e-4)
#' sum(gpuCorTest(x, method = "spearman")$p.value <= 1e-4)
#' @name gpucor-p-values
NULL
