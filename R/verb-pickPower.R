#' Choose the power of a co-expression network
#'
#' A weighted co-expression network joins every two genes by a power of their
#' coefficient. `pickPower()` shows, for each of several powers, how well the
#' network that it makes is scale-free: the table of `pickSoftThreshold()` of
#' package WGCNA, with the same columns and the same values.
#'
#' The connectivity of a gene is the sum of its adjacencies with all others:
#' |r|^power if `type` is `"unsigned"`, ((1 + r) / 2)^power if it is `"signed"`,
#' and r^power, 0 where r is negative, if it is `"signed hybrid"`. Pairs without
#' a coefficient are left out, so a column that has none with any other has
#' connectivity 0; with `use = "everything"` and missing values there is a warning.
#'
#' In a scale-free network the share of genes with connectivity k falls as a
#' power of k, so that its logarithm is a line over log k. The range of the
#' connectivities is cut into `breaks` bins of equal width. Each bin is a point:
#' the mean connectivity of its genes, and their share of all genes plus 1e-9. An
#' empty bin, or one whose genes have no connectivity at all, stands at its
#' middle. `SFT.R.sq` and `slope` are those of the line through these points,
#' `truncated.R.sq` is the adjusted R^2 of an exponentially truncated power law,
#' which has k itself as a second term.
#'
#' What differs from WGCNA: every gene is taken with every other one at once,
#' without blocks and without a matrix of all pairs; powers need not be whole
#' numbers, and one that is given twice is taken once; `use` is `"everything"`
#' unless said otherwise, where WGCNA leaves out missing values by pairs
#' (`"pairwise.complete.obs"`); there are no weights of observations; nothing is
#' printed on the way.
#'
#' A line that rises may fit as well as one that falls, but its network is not
#' scale-free. So the estimate needs a negative slope, too: it uses the signed
#' R^2, `-sign(slope) * SFT.R.sq`, which `plot()` shows. WGCNA's tutorials plot the
#' same, but the `powerEstimate` of `pickSoftThreshold()` ignores the slope, and can
#' be a power, often 1 of a signed network, whose line rises.
#'
#' @inheritParams gpuCor
#' @param x A numeric, integer or logical matrix or data frame, or a sparse
#'   matrix of package Matrix: observations in rows and at least three genes in
#'   columns; or data that are not in memory, see [gpuCorFile()]; or those of many [subjects].
#' @param powers Powers to try, each above 0.
#' @param type How a coefficient becomes an adjacency, see Details. May be
#'   abbreviated.
#' @param r_squared The estimate is the lowest power with a negative slope whose
#'   `SFT.R.sq` is above this.
#' @param breaks Number of bins.
#' @param method `"pearson"`, `"kendall"`, `"spearman"`, `"bicor"` or `"cosine"`: see [gpucor-measures]. May be
#'   abbreviated.
#' @param ... For `pickPower()` as for [gpuConnectivity()]. Not used by the methods.
#'
#' @return A list of class `gpuCorPower` with `powerEstimate`, the lowest power
#'   that fits and has a negative slope, `NA` if none does, and `fitIndices`, a data frame with one row for
#'   each power, in increasing order: `Power`, `SFT.R.sq`, `slope`,
#'   `truncated.R.sq`, `mean.k.`, `median.k.`, `max.k.`. Where all genes have the
#'   same connectivity, within 1e-6, there is nothing to fit: `SFT.R.sq`, `slope`
#'   and `truncated.R.sq` are `NA`, with a warning.
#'
#' @references
#' Zhang B, Horvath S (2005). A general framework for weighted gene co-expression
#' network analysis. *Statistical Applications in Genetics and Molecular Biology*
#' 4(1), 17.
#'
#' Langfelder P, Horvath S (2008). WGCNA: an R package for weighted correlation
#' network analysis. *BMC Bioinformatics* 9, 559.
#'
#' @seealso [gpuConnectivity()], which sums the adjacencies; [gpuCorNetwork()].
#' @examples
#' # 300 genes, each of which follows one of six factors more or less
#' set.seed(1)
#' factors <- matrix(rnorm(50 * 6), 50)
#' follows <- rexp(300)
#' x <- matrix(rnorm(50 * 300), 50) + factors[, rep(1:6, 50)] * rep(follows, each = 50)
#' fit <- pickPower(x, power = c(1:10, 12, 14))
#' fit
#' fit$fitIndices$mean.k.
#' plot(fit)
#' @export
pickPower <- function(x, power = 1:20, type = c("unsigned", "signed", "signed hybrid"),
                      method = c("pearson", "kendall", "spearman", "bicor", "cosine"), use = "everything",
                      r_squared = 0.85, breaks = 10, pairs = NULL, weights = NULL, weights_are = NULL, covariates = NULL, data = NULL,
                      bandpass = NULL, tr = NULL, df = NULL, options = NULL, assay = NULL, combine = NULL,
                      subjects = NULL, subject_weights = NULL, probs = NULL, na.rm = NULL, ...,
                      control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  power <- check_fit_powers(power)
  type <- check_choice(type, types, "type")
  method <- check_method(method)
  r_squared <- check_r_squared(r_squared)
  breaks <- check_whole(breaks, "breaks", 2, 1e6)
  check_matrix_like(x, "a gene in each column")
  settings <- new_settings(control, mget(ADJUSTMENT), combination = mget(setdiff(COMBINATION, "effects")),
                           pairs = pairs, assay = assay)
  task <- network_task(x, NULL, NULL, "absolute", use, method, settings)
  if (ncol(task$x) < 3L) fail("'x' must have at least 3 columns (genes) to fit anything, not ", ncol(task$x))
  warn_missing(task)

  soft <- soft_connectivity(task, type, power)
  doing(task$settings, "scale-free fits")
  table <- fit_table(soft, power, breaks)
  fits <- which(signed_fit(table) > r_squared)
  structure(
    list(powerEstimate = if (length(fits)) power[fits[1L]] else power[NA_integer_], fitIndices = table),
    class = c("gpuCorPower", "gpuCorResult"), type = type, method = method, r_squared = r_squared,
    n_var = ncol(task$x),
    adjusted = adjustment_of(task$settings, task$x)
  )
}

# Left as they are, columns with missing values have connectivity 0 and bend the fit.
warn_missing <- function(task) {
  if (uses[task$use] != "everything" || !has_missing(task$x)) return(invisible())
  warning("'x' has missing values, and with use = \"everything\" a column with one has no coefficient, thus ",
          "connectivity 0; use = \"pairwise.complete.obs\" leaves out only the missing values", call. = FALSE)
}

# A column for each power; one pass takes a limited number of them.
soft_connectivity <- function(task, type, powers) {
  parts <- split(powers, (seq_along(powers) - 1L) %/% constant("most powers"))
  passes <- lapply(seq_along(parts), function(p) {
    wanted <- list(type = type, power = parts[[p]], histogram = FALSE, maps = NULL)
    connectivity_pass(task, NULL, wanted, at_pass(task$settings, p, length(parts), "powers"))
  })
  warn_constant(passes[[1L]], colnames(task$x), NULL)
  warn_infinite(passes[[1L]], colnames(task$x), NULL, task$method)
  do.call(cbind, lapply(passes, `[[`, "soft"))
}

check_fit_powers <- function(powers) {
  if (!is.numeric(powers) || length(powers) == 0L) {
    fail("'power' must be numbers above 0, such as 1:20, not ", show_value(powers))
  }
  bad <- !is.finite(powers) | powers <= 0
  if (any(bad)) {
    fail("'power' must be finite and above 0; number ", which(bad)[1L], " is ", powers[bad][1L], ", leave it out")
  }
  sort(unique(as.vector(powers)))
}

check_r_squared <- function(r_squared) {
  if (!is.numeric(r_squared) || length(r_squared) != 1L || is.na(r_squared) || r_squared < 0 || r_squared > 1) {
    fail("'r_squared' must be a number between 0 and 1, not ", show_value(r_squared))
  }
  r_squared
}

# One row for each column of `soft`, the connectivities with one power.
fit_table <- function(soft, powers, breaks) {
  constant <- apply(soft, 2L, is_constant)
  if (any(constant)) {
    which <- if (all(constant)) "every power" else paste("power", paste(powers[constant], collapse = ", "))
    warning("all columns have the same connectivity with ", which, ": nothing to fit", call. = FALSE)
  }
  fits <- apply(soft, 2L, fit_scale_free, breaks)
  data.frame(Power = powers, SFT.R.sq = fits[1L, ], slope = fits[2L, ], truncated.R.sq = fits[3L, ],
             mean.k. = colMeans(soft), median.k. = apply(soft, 2L, stats::median), max.k. = apply(soft, 2L, max))
}
