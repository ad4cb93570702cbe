#' Inter-subject correlation
#'
#' `gpuISC()` correlates each column of each subject, such as a voxel or a region, with the mean of the same column over
#' all other subjects (leave-one-out; Hasson and others 2004). Where subjects watched or heard the same stimulus, the
#' result shows which columns follow it. `x` is a list of the subjects' matrices, with the same columns and rows. The
#' result is a data frame with the correlation and p value of each column; with `output = "isfc"`, ISFC of all pairs,
#' see below.
#'
#' | question | write |
#' |---|---|
#' | which columns follow the stimulus? | `gpuISC(x)` |
#' | is ISC larger in one of two groups? | `gpuISC(x, group = labels, n_perm = 1000)` |
#' | are subjects more alike within groups? | the same, with `contrast = "between"` |
#' | which columns follow other series, such as a speaker's? | `gpuISC(x, target = series)` |
#' | which pairs of columns does the stimulus connect? | `gpuISC(x, output = "isfc", n_perm = 1000)` |
#'
#' With `x[[s]]` the matrix of subject s, the coefficients are `cor(x[[s]][, v], rowMeans(others))`, where `others` has
#' column v of the other subjects. The mean is that of the values as they are: `scale()` them if subjects have different
#' units. `isc` is `tanh(mean(atanh(r)))` over the subjects, or with `combine = "mean"` the mean of r.
#'
#' **P values** are one-sided: is the correlation above 0? The null hypothesis is that the subjects' series are
#' independent; each may be autocorrelated, and its columns may depend on one another. A drift that all subjects share
#' is a correlation, too: regress it out by `covariates` or `bandpass`. The coefficients of N subjects depend on each
#' other, because each pair of subjects is in two of them. Under the null hypothesis any two have the correlation 1 / (N
#' - 1), and their mean has twice the variance that independent ones would have. So
#' `t = mean(z) / (sd(z) * sqrt(2 * (N - 1) / (N - 2) / N))` has N - 1 degrees of freedom, z being `atanh(r)`, or r for
#' the mean. Other tests of these coefficients take them as independent, and are not valid: with 10 subjects the size at
#' 0.05 is 0.12 for `t.test(z)` and for permuted signs, 0.15 to 0.2 for the bootstrap of subjects, and 0.004 for that of
#' pairs of subjects (Chen and others 2016).
#'
#' With a `target` the coefficients of independent subjects are independent, and t is that of `t.test(z)`, also
#' one-sided. The null hypothesis is that the subjects' series are independent of one another and of the target.
#' Subjects who share a stimulus are not independent: a tenth of shared variance makes the error rate at 0.05 0.11 with
#' 10 subjects and 0.19 with 30, and six tenths 0.34 and 0.4. A warning tells if they correlate with one another. The
#' target's own noise is not tested: the conclusion is about this one.
#'
#' `n_perm` adds `p.adjusted`, which controls the family-wise error over all columns. It compares the mean of a column
#' with the largest mean of all columns in surrogate data, in which each subject's series change by themselves, all
#' columns of a subject alike. It needs stationary series: if variances change alike in all subjects, such as rows of
#' ten times the standard deviation, the size is up to 0.6. `covariates` and `bandpass` are errors with `n_perm`, as
#' moved residuals would have to be regressed again (0.06 to 0.5 without). With `surrogate = "rotation"` a series is
#' rotated to begin at a random row, which keeps its values. With `"phase"` its Fourier coefficients get random phases
#' (Lerner and others 2011), and it becomes nearly normal, so that p values of few subjects with heavy tails are too
#' small ([gpucor-p-values]). Two subjects of n rows have n rotations only, and p values of about 1 / n or more.
#' [set.seed()] makes the result reproducible. Both tests are valid; t of few subjects has less power, so that
#' `p.adjusted` may be smaller than `p.value`.
#'
#' **Two groups** are compared by pairs of subjects (Chen and others 2016), as leave-one-out coefficients grow with the
#' number of subjects in a group. `difference` is the mean z of the pairs within the first group, the first level of
#' `group` (which a contrast of [gpuCorCompare()] subtracts), less that of the pairs within the second; or with
#' `contrast = "between"` the mean of both, less that of the pairs of a subject of either group.
#' `p.value` compares it, two-sided (`"between"`: above 0), with that of subjects whose labels are permuted, `n_perm`
#' times; `p.adjusted` with the largest of all columns. The null hypothesis is that the series of all subjects have the
#' same distribution, whatever their group. If the subjects of one group differ more, p values are too small: where they
#' follow the stimulus by 0.3 to 0.9 in one group and by 0.6 in the other, 10 to 19 % are below 0.05, and 21 to 28 % if
#' that is the smaller group, of 5 against 15. A warning tells of such groups.
#'
#' **ISFC**, inter-subject functional connectivity (Simony and others 2016), of columns i and j is the correlation of i
#' with the others' mean of j, and of j with that of i, combined over the subjects and both orders: by the mean of z, or
#' with `combine = "mean"` of r. The result is as of [gpuCor()], and its diagonal is the inter-subject correlation.
#' `n_perm` adds the attribute `p.adjusted`, a `dist` of p values that compare the size of a pair's value with the
#' largest of all pairs in surrogates, drawn as above; `as.matrix(r) * (as.matrix(attr(r, "p.adjusted")) <= 0.05)` has
#' the significant ones. For a network, give the others' means as `y`; its edges are from
#' a column to a mean:
#'
#' ```
#' others <- lapply(seq_along(x), function(s) Reduce(`+`, x[-s]) / (length(x) - 1))
#' gpuCorNetwork(x, others, density = 0.01, combine = "fisher")
#' ```
#'
#' @param x A list with a matrix for each subject, at least two (or a file, or anything else that a subject may be), or
#'   a function with `subjects`, the number of subjects, see [subjects]. Data are read in blocks of columns.
#' @param n_perm The number of surrogates, or of permutations of the groups' labels; 0 for none.
#' @param surrogate A string, `"rotation"` or `"phase"`: how surrogates are drawn.
#' @param output A string: `"isc"`, or `"isfc"` for all pairs.
#' @param target `NULL`, or a matrix with the rows and columns of a subject: what each subject's columns are correlated
#'   with in place of the others' mean. It is not adjusted; adjust all by [gpuClean()].
#' @param group `NULL`, or a label for each subject, of two: their groups are compared.
#' @param contrast A string, of two groups: `"groups"` or `"between"`, see above.
#' @param ...,adjustment,subjects,control `r offered_words("gpuISC")`
#'   The adjustment is each subject's own, before the means. `combine` is `"fisher"` (default) or `"mean"`.
#'   `na.rm = TRUE`: a column that misses a value in a subject, or is constant there, has the coefficients of the other
#'   subjects, whose means leave this one out. `precision` is that of `output = "isfc"`, by default `"double"`.
#' @return `output = "isc"`: a data frame of class `gpuISC` with a row for each column: `variable` (its name or number),
#'   `isc`, `subjects` (the number of coefficients), `statistic` (t), `p.value`, `fdr` (Benjamini and Hochberg) and,
#'   with `n_perm`, `p.adjusted`. P values need three subjects. Columns that are constant or miss values in a subject
#'   are `NA`, with a warning. Attribute `r` has the coefficients, subjects x columns, and `adjusted` the adjustment.
#'   `voxelImage(result$isc, x[[1]])` is a map of voxels, and of parcels `voxelImage(result$isc, atlas)`.
#'
#'   With `group`: the same with the columns `difference`, `isc.x`, `isc.y` and `isc.between` (of the pairs within the
#'   first group, within the second, and between them), `p.value`, `fdr` and `p.adjusted`.
#'
#'   `output = "isfc"`: an object of class `gpuCor`, as a `dist`. It needs 32 bytes a pair in both orders.
#' @references
#' Chen G, Shin Y-W, Taylor PA, and others (2016). *NeuroImage* 142, 248-259.
#'
#' Hasson U, Nir Y, Levy I, Fuhrmann G, Malach R (2004). *Science* 303, 1634-1640.
#'
#' Lerner Y, Honey CJ, Silbert LJ, Hasson U (2011). *Journal of Neuroscience* 31, 2906-2915.
#'
#' Simony E, Honey CJ, Chen J, and others (2016). *Nature Communications* 7, 12141.
#' @examples
#' set.seed(1)
#' stimulus <- rnorm(120)
#' driven <- outer(stimulus, c(1, 0.5, 0, 0, 0, 0))
#' subjects <- lapply(1:8, function(s) matrix(rnorm(120 * 6), 120) + driven)
#' gpuISC(subjects, n_perm = 99)
#' gpuISC(subjects, output = "isfc")
#' gpuISC(subjects, group = rep(c("a", "b"), each = 4), n_perm = 99)
#' @export
gpuISC <- function(x, n_perm = 0, surrogate = c("rotation", "phase"), output = c("isc", "isfc"),
                   target = NULL, group = NULL, contrast = c("groups", "between"), ..., adjustment = NULL,
                   subjects = NULL, control = NULL) {
  specs <- specs_of("gpuISC", ...)
  check_type(x, "x", is_subjects(x), "a list of subjects' matrices, or a function with 'subjects'",
             if (is.matrix(x)) "; give both as list(a, b)")
  n_perm <- check_whole(n_perm, "n_perm", 0, 1e9)
  surrogate <- check_choice(surrogate, c("rotation", "phase"), "surrogate")
  output <- check_choice(output, c("isc", "isfc"), "output")
  contrast <- check_choice(contrast, names(ISC_CONTRASTS), "contrast")
  how <- specs$subjects$combine
  specs$subjects$combine <- check_choice(if (is.null(how)) "fisher" else how, c("fisher", "mean"), "combine")
  if (is.null(specs$control$precision)) specs$control$precision <- "double"
  found <- features_of("gpuISC", specs, environment())
  run <- new_run(found, specs, x, NULL, "pearson", "everything", takes = "subjects", call = sys.call())
  if (!is_combined(run$x)) fail("'x' must have at least two subjects, not 1")
  rows <- vapply(run$x$data, nrow, 0)
  other <- which(rows != rows[1L])[1L]
  if (!is.na(other)) {
    fail("subject ", other, " has ", n_of(rows[other], "row"), ", and the first subject ", rows[1L],
         "; all need the times of the same stimulus")
  }
  if (!is.null(target)) target <- check_target(target, run$x$data[[1L]])
  if (!is.null(group)) {
    return(isc_of_groups(run, check_two_groups(group, length(rows)), ISC_CONTRASTS[[contrast]], n_perm))
  }
  if (surrogate == "phase") warn_heavy_tails(run$x$data, "surrogate = \"rotation\"")
  if (n_perm > 0) warn_smooth(run$x$data[[1L]])
  factors <- if (n_perm > 0) surrogate_factors(rows[1L], length(rows), n_perm, surrogate)
  if (output == "isfc") return(isfc_of(run, specs$control, factors))
  found <- subject_coefficients(run, factors, target)
  if (!is.null(target)) warn_shared(found$with_others, run)
  new_isc(found, run, subject_labels(x, run$x$data))
}

# Returns the target centered, with zeros in constant columns.
check_target <- function(target, first) {
  target <- check_variables(target, "target")
  check_that(target, "target", identical(dim(target), dim(first)),
             paste(show_size(dim(first)), "values, as of each subject"), shown = show_size(dim(target)))
  check_same_columns(target, first, "target", FIRST_SUBJECT)
  target <- dense_columns(target, seq_len(ncol(target)))
  centred_columns(target, rep(1, nrow(target)), TRUE)
}

# Warns if the subjects correlate with one another in more columns than by chance: their coefficients with a target then
# depend on one another. `with_others`: from subject_coefficients().
warn_shared <- function(with_others, run) {
  p <- isc_tests(with_others, run, FALSE)$p.value
  n <- sum(p < 0.05, na.rm = TRUE)
  if (n <= stats::qbinom(0.999, sum(!is.na(p)), 0.05)) return(invisible())
  warn("gpuCorShared", "the subjects correlate with one another in ", format_count(n), " of ",
       n_of(length(p), "column"), ", as by a common stimulus, and p values of 'target' are then too small; 'isc' holds")
}

# Returns some columns of subject s, adjusted and centered; those with a value that is not finite are NA, and constant
# ones 0. Few columns begin with a value near their mean.
cleaned_subject <- function(run, s, columns) {
  own <- dense_columns(run$x$data[[s]], columns)
  cleaned <- clean_columns(own, seq_len(nrow(own)), run$x$designs[[s]], run$place)
  some <- which(abs(cleaned[1L, ]) <= 1e-12 * abs(own[1L, ]))
  cleaned[, some] <- without_rounding_errors(cleaned[, some, drop = FALSE], own[, some, drop = FALSE], 1e-14)
  cleaned
}

# Returns list(r, with_others: subjects x columns, coefficients with the target, or without one with the others' mean,
# and with the others' mean; flags: from blocks_of_subjects(); maxima: from r_isc_maxima(), or NULL; is_shared: TRUE if
# all have the same target). `factors`: from surrogate_factors(), or NULL; `target`: from check_target(), or NULL.
subject_coefficients <- function(run, factors, target = NULL) {
  n <- length(run$x$data)
  n_obs <- nrow(run$x$data[[1L]])
  found <- blocks_of_subjects(run, n * n_obs, function(series, missing, size, columns) {
    maxima <- -Inf
    total <- Reduce(`+`, series)
    coefficients_with <- function(partner_of, rounding) { # up to `rounding` a partner's square is rounding errors
      r <- do.call(rbind, lapply(series, function(own) {
        partner <- partner_of(own)
        square <- colSums(partner^2)
        colSums(own * partner) / sqrt(ifelse(square > rounding, square, 0))
      })) / sqrt(size)
      r[!is.finite(r)] <- NA
      if (!run$x$skips) r[, colSums(missing) > 0] <- NA
      r
    }
    r <- with_others <- coefficients_with(function(own) total - own, 1e-28 * colSums(size))
    if (!is.null(target)) r <- coefficients_with(function(own) target[, columns, drop = FALSE], 0)
    some <- which(colSums(!is.na(r)) >= if (run$x$skips) 1 else n)
    if (!is.null(factors) && length(some)) {
      kept <- seq_len(nrow(factors))
      weight <- ifelse(2 * kept == n_obs, sqrt(0.5), 1) # other coefficients stand for two
      spectra <- lapply(series, function(own) {
        weight * stats::mvfft(own[, some, drop = FALSE])[1L + kept, , drop = FALSE]
      })
      is_fisher <- run$x$name == "fisher"
      maxima <- checked(.Call(r_isc_maxima, spectra, factors, is_fisher, run$place))
    }
    list(maxima = maxima, r = r, with_others = with_others)
  })
  of <- function(part) lapply(found, `[[`, part)
  list(r = do.call(cbind, of("r")), with_others = do.call(cbind, of("with_others")), is_shared = !is.null(target),
       flags = unlist(of("flags")), maxima = if (!is.null(factors)) do.call(pmax, c(-Inf, of("maxima"))))
}

# Returns a list of f(series, missing, size, columns) for each block of columns, of `values` values a column, and flags,
# of columns that miss values or are constant in a subject. `series`: of each subject, adjusted and centered, 0 where it
# is missing; `missing`, `size`: subjects x columns, the latter sums of squares.
blocks_of_subjects <- function(run, values, f) {
  lapply(column_ranges(ncol(run$x), values), function(columns) {
    series <- lapply(seq_along(run$x$data), cleaned_subject, run = run, columns = columns)
    missing <- do.call(rbind, lapply(series, function(own) is.na(own[1L, ])))
    for (s in which(rowSums(missing) > 0)) series[[s]][, missing[s, ]] <- 0
    size <- do.call(rbind, lapply(series, function(own) colSums(own^2)))
    found <- f(series, missing, size, columns)
    report_progress(run$place, max(columns) / ncol(run$x))
    flags <- constant("missing") * (colSums(missing) > 0) + constant("constant") * (colSums(size == 0 & !missing) > 0)
    c(found, list(flags = as.raw(flags)))
  })
}

# Returns factors of modulus 1 for the Fourier coefficients of surrogates, those of the mean left out: coefficients x
# (subjects x surrogates). The products of series are those of their coefficients (Parseval), so that no surrogate
# needs to be transformed back.
surrogate_factors <- function(n_obs, n, n_perm, surrogate) {
  kept <- seq_len(n_obs %/% 2)
  check_memory(40 * as.numeric(n_obs) * n * n_perm, "gpuISC(n_perm = )", n_of(n_perm, "surrogate"), "use fewer")
  if (surrogate == "phase") return(DRAWN_FOR$phase(n_obs, n * n_perm)[1L + kept, , drop = FALSE])
  exp(2i * pi * (outer(kept, sample.int(n_obs, n * n_perm, replace = TRUE)) %% n_obs) / n_obs)
}

# ---- two groups

# The weights of the mean z of pairs within the first group, within the second, and between them.
ISC_CONTRASTS <- list(groups = c(1, -1, 0), between = c(0.5, 0.5, -1))

# Returns labels of n subjects as a factor of two levels, each of two subjects or more.
check_two_groups <- function(group, n) {
  check_type(group, "group", is.atomic(group) && is.null(dim(group)),
             "a vector or factor with a label for each subject")
  check_as_many(length(group), "group", "label", n, of = "subject")
  if (anyNA(group)) {
    fail("'group' is missing for subject ", which(is.na(group))[1L], "; leave it out of 'x' and 'group'")
  }
  group <- droplevels(as.factor(group))
  if (nlevels(group) != 2L || any(table(group) < 2L)) {
    fail_value("'group' has ", paste0(table(group), " \"", levels(group), "\"", collapse = ", "),
               "; it needs two labels, of two subjects or more each")
  }
  group
}

# Returns the table of tests of two groups. `contrast`: a row of ISC_CONTRASTS.
isc_of_groups <- function(run, group, contrast, n_perm) {
  n <- length(group)
  pairs <- which(lower.tri(diag(n)), arr.ind = TRUE)
  check_memory(40 * nrow(pairs) * (n_perm + 1), "gpuISC(n_perm = )", n_of(n_perm, "permutation"), "use fewer")
  is_first <- group == levels(group)[1L]
  labels <- cbind(is_first, replicate(n_perm, sample(is_first)))
  one <- labels[pairs[, 1L], , drop = FALSE]
  other <- labels[pairs[, 2L], , drop = FALSE]
  means <- lapply(list(one & other, !one & !other, one != other), function(kind) t(kind) / sum(kind[, 1L]))
  weights <- Reduce(`+`, Map(`*`, contrast, means)) # of the data, and of each permutation
  own_means <- do.call(rbind, lapply(means, `[`, 1L, TRUE))
  size_of <- if (contrast[3L] < 0) identity else abs
  values <- n * nrow(run$x$data[[1L]]) + nrow(pairs) + n_perm
  found <- blocks_of_subjects(run, values, function(series, missing, size, ...) {
    all <- simplify2array(series) # rows x columns x subjects
    r <- vapply(seq_len(ncol(size)), function(v) crossprod(all[, v, ])[pairs], numeric(nrow(pairs)))
    r <- r / sqrt(size[pairs[, 1L], ] * size[pairs[, 2L], ])
    r[!is.finite(r)] <- NA
    r[, colSums(missing) > 0] <- NA
    z <- isc_scores(r, run$x$name)
    statistic <- weights %*% z
    size <- size_of(statistic)
    as_large <- size[-1L, , drop = FALSE] >= rep(size[1L, ] - SAME_COEFFICIENT, each = n_perm)
    list(means = own_means %*% z, ratio = log(variance_ratio(z, pairs, is_first)), difference = statistic[1L, ],
         p = (1 + colSums(as_large)) / (1 + n_perm),
         maxima = apply(size[-1L, , drop = FALSE], 1L, function(of) max(-Inf, of, na.rm = TRUE)))
  })
  of <- function(part, join) do.call(join, lapply(found, `[[`, part))
  ratio <- exp(stats::median(of("ratio", c), na.rm = TRUE))
  if (isTRUE(is_unequal(ratio, table(group) - 1))) {
    warn("gpuCorExchange", "ISC varies ", format(max(ratio, 1 / ratio), digits = 2), " times as much among the ",
         "subjects of \"", levels(group)[if (ratio > 1) 1L else 2L], "\", and permuted labels take both groups to be ",
         "alike: p values may be too small (?gpuISC)")
  }
  new_isc_groups(list(means = of("means", cbind), difference = of("difference", c), p = of("p", c),
                      flags = of("flags", c), maxima = of("maxima", pmax)), run, group, size_of)
}

# Returns TRUE if a ratio of variances with these degrees of freedom, the median of many columns, is above 3 or below
# 1 / 3, and one column's would rarely be.
is_unequal <- function(ratio, df) {
  is_rare <- abs(stats::pf(ratio, df[1L], df[2L]) - 0.5) > 0.495
  abs(log(ratio)) > log(3) && is_rare
}

# Returns for each column the variance among the first group's subjects of their mean z with that group, over that of
# the second group; NA if a group has two subjects, which share their only pair. `z`: pairs x columns.
variance_ratio <- function(z, pairs, is_first) {
  within <- is_first[pairs[, 1L]] == is_first[pairs[, 2L]]
  is_of <- outer(seq_along(is_first), pairs[, 1L], "==") | outer(seq_along(is_first), pairs[, 2L], "==")
  partners <- ifelse(is_first, sum(is_first), sum(!is_first)) - 1
  own <- is_of[, within, drop = FALSE] %*% z[within, , drop = FALSE] / partners
  variances <- lapply(list(is_first, !is_first), function(of) {
    if (sum(of) < 3L) NA_real_ else apply(own[of, , drop = FALSE], 2L, stats::var)
  })
  variances[[1L]] / variances[[2L]]
}

# ---- all pairs of columns

# Returns the coefficients of all pairs. `factors`: from surrogate_factors(), or NULL.
isfc_of <- function(run, control, factors) {
  x <- run$x
  n <- length(x$data)
  bytes <- 32 * as.numeric(ncol(x))^2 + if (is.null(factors)) 0 else 24 * ncol(x) * n * nrow(x$data[[1L]])
  check_memory(bytes, "output = \"isfc\"", n_of(ncol(x), "column"), "use parcels of columns")
  own <- function(s) cleaned_subject(run, s, seq_len(ncol(x)))
  values <- isfc_values(own, run, control)
  about <- dist_attributes(run)
  about[c("n_obs", "diagonal")] <- list(nrow(x$data[[1L]]), unname(diag(values)))
  about[c("untestable", "adjusted")] <- list(why_untestable(run), adjustment_of(run))
  values <- values[lower.tri(values)]
  if (!is.null(factors)) {
    spectra <- lapply(seq_len(n), function(s) stats::mvfft(own(s)))
    n_perm <- ncol(factors) / n
    control$progress <- FALSE # of each surrogate
    maxima <- vapply(seq_len(n_perm), FUN.VALUE = 0, function(b) {
      turned <- lapply(seq_len(n), function(s) turned_series(spectra[[s]], factors[, (b - 1) * n + s]))
      found <- isfc_values(function(s) turned[[s]], run, control)
      report_progress(run$place, b / n_perm)
      max(-Inf, abs(found[lower.tri(found)]), na.rm = TRUE)
    })
    about$p.adjusted <- p_of_maxima(abs(values), maxima)
    attributes(about$p.adjusted) <- plain_dist_attributes(run)
  }
  attributes(values) <- Filter(Negate(is.null), about)
  values
}

# Returns the symmetric matrix of ISFC: the engine combines the coefficients of each subject's columns with the sums of
# the others', of which both orders are averaged. `series`: a function that returns the columns of subject s.
isfc_values <- function(series, run, control) {
  x <- run$x
  known <- function(s) {
    own <- series(s)
    replace(own, is.na(own), 0)
  }
  total <- 0
  for (s in seq_along(x$data)) total <- total + known(s)
  named <- function(s) structure(series(s), dimnames = if (!is.null(x$names)) list(NULL, x$names))
  r <- gpuCor(named, function(s) total - known(s), combine = x$name, subjects = length(x$data), na.rm = x$skips,
              control = control)
  z <- isc_scores(r, x$name)
  z <- (z + t(z)) / 2
  if (x$name == "fisher") tanh(z) else z
}

# Returns the series whose Fourier coefficients are `spectrum`, each multiplied by its factor, see surrogate_factors().
turned_series <- function(spectrum, factors) {
  n <- nrow(spectrum)
  below <- Conj(rev(factors[seq_len(n - 1L - length(factors))]))
  Re(stats::mvfft(spectrum * c(1, factors, below), inverse = TRUE)) / n
}
