#' Compare groups of samples
#'
#' The tests of [gpuCorCompare()] for data with a matrix for each group and independent samples in its rows, such as the
#' expression of the same genes in patients and controls.
#'
#' `gpuCorCompare(a, b)` compares two independent correlations. `difference` is `atanh(r_a) - atanh(r_b)`, and
#' `statistic` is this over its standard error, `sqrt(1 / (n_a - 3) + 1 / (n_b - 3))`, whose square is 1.06 times as
#' large for Spearman's rho, and counts as 1.1 times as large for bicor.
#'
#' This is valid for nearly normal data and 50 rows or more in each group. With fewer rows the smallest p values are too
#' small; with heavy tails or outliers those of correlated pairs, also by `"spearman"` or `"bicor"` ([gpucor-p-values]).
#' Then use `n_perm`. For time series give `df`, two numbers.
#'
#' `gpuCorCompare(list(a, b, c), effects = "fixed")` compares more groups, as does `gpuCorCompare(x, group = )` for the
#' rows of one matrix. The statistic is chi-squared, `sum(w * (z - mean)^2)`, where the mean is weighted by `w`, the
#' inverse of the squared standard error of each z. `difference` is the weighted standard deviation of the groups' z.
#'
#' @section Permutation tests:
#' `n_perm` permutes the rows among the groups. Within each group, columns (for Spearman their ranks) are first centered
#' by the median and divided by the median absolute deviation (if that is 0 in a group, by the root mean square of
#' both). A group with heavier tails also counts as different. With `covariates` the residuals of each group's robust
#' regression are permuted and regressed again on the covariates, as in [gpuPermute()]. With `fdr`, cuts whose rate by
#' the normal distribution is more than twice `fdr` are not tried.
#'
#' @return What [gpuCorCompare()] returns.
#' @examples
#' manual <- as.matrix(mtcars[mtcars$am == 1, 1:7])
#' automatic <- as.matrix(mtcars[mtcars$am == 0, 1:7])
#' set.seed(1)
#' gpuCorCompare(manual, automatic, p.value = 0.05, output = "edges", classes = 0.05, n_perm = 99)
#' as.data.frame(gpuCorCompare(mtcars[, 3:7], group = mtcars$cyl))[1:3, ] # three groups
#' @name gpuCorCompare-samples
NULL

#' Compare groups of subjects
#'
#' The tests of [gpuCorCompare()] for data with a matrix for each subject, such as scans. Each subject's coefficient
#' becomes one number, `z = atanh(r)`. The numbers of all subjects are compared as [t.test()] or [lm()] do, pair by
#' pair. Rows within a subject may be autocorrelated, because only the variation among subjects counts.
#'
#' | call | test of each pair |
#' |---|---|
#' | two groups | `t.test(z_x, z_y, var.equal = TRUE)`, as NBS does; one group may be a single subject |
#' | `paired = TRUE` | `t.test(z_x, z_y, paired = TRUE)` |
#' | `x` alone | `t.test(z)` |
#' | `design`, `contrast` of one column | t of this coefficient in `lm(z ~ design)`, adjusted for the others |
#' | three groups or more; `contrast` of several columns, such as of a factor, names or rows | F, as by `anova()` |
#'
#' With two groups, p values are too small if the smaller one varies more. Welch's t, `variance = "unequal"`, allows it
#' if each group has 10 subjects or less than twice as many as the other ([gpucor-p-values]).
#'
#' A pair without a coefficient in one subject, as of a parcel outside of a scan, has no difference. With `na.rm = TRUE`
#' it is tested with the other subjects, as by `lm()`; in permutations its t (F) counts as the one with the degrees of
#' freedom of all subjects whose p value is as large, so that pairs of few subjects hide no others.
#'
#' `effects = "fixed"` tests the mean z of these subjects only, weighted by n - 3, under the assumptions that [subjects]
#' lists. The variance of the difference is `1 / sum(n_x - 3) + 1 / sum(n_y - 3)`, times 1.06 for Spearman's rho and 1.1
#' for bicor. Without `y`, it tests whether the subjects differ at all, by chi-squared ([gpuCorCompare-samples]).
#'
#' @section Permutation tests:
#' `n_perm` permutes the subjects; the statistic is t or F, with fixed effects the standardized difference.
#'
#' * Groups, with three subjects or more: their labels are permuted, which are exchangeable if the subjects of all
#'   groups vary alike. Adjusted p values are at least about 0.1 for 3 against 3 subjects (2 of 20 labelings; swapped
#'   groups are the same), and 0.008 for 5 against 5.
#' * `paired = TRUE`, or `x` alone: the signs of the subjects' differences, or z, are flipped at random, as z is
#'   symmetric about its mean. Adjusted p values of n subjects are at least 2 / 2^n: 0.06 for 5.
#' * `design`: the residuals of the model without the contrast are permuted among subjects, and fitted again (Freedman
#'   and Lane 1983, see [gpuPermute()]). If that model has no intercept, because the contrast tests the mean itself, the
#'   residuals' signs are flipped instead.
#' * `blocks`: only subjects with one label are exchanged, or change their signs, as for sites whose subjects differ.
#'   With `whole = TRUE` blocks of one size change places as a whole, such as families, or a subject's sessions in the
#'   same order. P values without permutation know nothing of blocks: give `~ group + site`.
#'
#' @section Components (network-based statistic, TFCE):
#' With `components`, `threshold` is a t (or F): the pairs whose t is at least `threshold` in size, or by `sign`, form a
#' network, and columns that are connected in it a component (Zalesky and others 2010, *NeuroImage* 53, 1197-1207). The
#' p value of a component is the fraction of the permutations, including the data themselves, that have one at least as
#' large. It controls the family-wise error over components, and says nothing about any one of their pairs. Choose
#' `threshold` before looking at results: t of 3 to 4 is usual. A component may have pairs of both signs. With
#' `sign = "each"` it has those of one, and is compared with the largest of either sign.
#'
#' The size of a component is the number of its pairs (`"size"`), or the sum of their t less `threshold` (`"sum"`). The
#' result is the network, with slot `components`: `$table` has a row for each component, the largest first, with
#' `columns` (how many it has), `size`, `p.value` and, if each sign has its own, `sign`; `$of` is the component of each
#' column, for each sign. `as.data.frame()` has columns `component` and `p.component`, its p value. Memory: 12 bytes for
#' each column and permutation.
#'
#' `components = "tfce"`, threshold-free enhancement (Smith and Nichols 2009, *NeuroImage* 44, 83-98; of networks,
#' Baggio and others 2018, *Human Brain Mapping* 39, 2289-2302), needs no `threshold`. The score of a pair is the exact
#' integral of `size^E * h^H` over heights h from 0 to the size of its t; `size` is the number of pairs of its component
#' among all pairs whose t is at least h. `enhance` are E and H, by default those of Smith and Nichols. Unless `sign` is
#' given, it is `"each"`. The result has all pairs, with `score` and `p.adjusted`, which controls the family-wise error
#' over pairs: the fraction of the permutations, including the data, whose largest score is at least that of the pair.
#'
#' @return What [gpuCorCompare()] returns.
#' @examples
#' subjects <- lapply(1:10, function(i) matrix(rnorm(400), 40))
#' people <- data.frame(group = rep(c("A", "B"), 5), age = c(31, 40, 28, 35, 52, 47, 33, 29, 44, 38))
#' gpuCorCompare(subjects, design = ~ group + age, data = people, contrast = "groupB")
#' gpuCorCompare(subjects[1:5], subjects[6:10], threshold = 3, n_perm = 99, components = "size")
#' gpuCorCompare(subjects[1:5], subjects[6:10], n_perm = 99, components = "tfce")
#' gpuCorCompare(subjects[1:5], subjects[6:10], seeds = c(1, 7))
#' gpuCorCompare(lapply(subjects, cor), method = "given") # connectomes
#' @name gpuCorCompare-subjects
NULL
