# Degrees of freedom of p values: given ones, those from weights, and from Bartlett's formula after regression. Their
# help page is gpuAdjust (R/run-specs.R). Tests of pairs count by df_of() (src/stats/test.c), to which
# src/r/rules.c passes what a design says of them.

design_with_df <- function(run, tests) {
  df <- run$asked$df
  if (is.null(df)) return(run$design)
  measure <- measure_of(run$method)
  facts <- c("df", if (!tests) "call without p values", if (!is_t_distributed(run$method)) "measure without t")
  check_facts(facts, list(method = run$method, distribution = measure$distribution))
  check_that(df, "df", identical(df, "bartlett") || are_finite(df, 1L, 1), "a number of at least 1, or \"bartlett\"")
  design <- run$design
  design$df <- if (identical(df, "bartlett")) df else as.numeric(df)
  design["calibration"] <- list(calibration_of(design, measure$centred))
  design$adjusted$df <- df
  design
}

need_distribution <- function(method) {
  if (!has_distribution(method)) check_facts(c("p values", "measure without distribution"), list(method = method))
}

# The t distribution of an uncentered measure requires columns with mean zero, which the user states by giving 'df'.
check_testable <- function(method, df) {
  need_distribution(method)
  if (measure_of(method)$centred || !is.null(df)) return(invisible())
  kind <- if (method == "given") "given coefficients" else "uncentred measure"
  check_facts(c("p values", kind), list(method = method))
}

# ---- weights

# Returns the code of the weights' kind, which only affects p values. `scaled`: the weights, by design_with_weights().
kind_code <- function(asked, method, scaled) {
  kind <- if (is.null(asked$weights_are)) WEIGHT_KINDS[1L] else asked$weights_are
  weights <- asked[["weights"]]
  if (kind == "frequency" && !is.null(weights)) {
    bad <- which(is.finite(weights) & weights != floor(weights))
    if (length(bad)) {
      fail("'weights' is ", format(weights[bad[1L]]), " at observation ", bad[1L], "; weights_are = \"frequency\" ",
           "needs integers, numbers of copies")
    }
    facts <- c("weights_are = \"frequency\"", if (!is_t_distributed(method)) "measure without t")
    check_facts(facts, list(method = method))
  }
  # Importance weights of 0 and 1 have the effective number of precision weights.
  if (kind == "importance" && !is_graded(list(weights = scaled))) kind <- "precision"
  match(kind, WEIGHT_KINDS) - 1L
}

is_kind <- function(design, kind) identical(design$worth, match(kind, WEIGHT_KINDS) - 1L)

# Returns TRUE if positive weights differ.
is_graded <- function(design) any(design$weights > 0 & design$weights < 1)

# Returns the effective number of the observations that were counted. design$unit: the given weight that
# design_with_weights() made 1.
effective_n <- function(design, counted) {
  weights <- design$weights
  n <- counted$n_obs
  if (!is.null(counted$observed)) weights <- weights[counted$observed[seq_len(n)] + 1L]
  if (is_kind(design, "frequency")) return(design$unit * if (is.null(weights)) n else sum(weights))
  if (is_kind(design, "importance")) sum(weights)^2 / sum(weights^2) else n
}

# Min autocorrelation at lag 1, of data that are known to be series or of others, above which p values of independent
# rows are too small. Few rows or columns of others are alike by chance, or as they were sorted.
MIN_SERIES <- 0.3
MIN_LIKE_SERIES <- 0.6
MIN_LIKE_ROWS <- 20
MIN_LIKE_COLUMNS <- 5

# Warns if p values take the rows of a series to be independent. `x`: the user's data, of which run$x was made. Data
# frames and experiments mostly have samples as rows; data outside memory are not read for this.
warn_series <- function(run, x) {
  asked <- run$asked
  if (!is.null(asked$df) || !is.matrix(x) || !is.numeric(x)) return(invisible())
  is_known <- inherits(x, "ts") || is_number(attr(x, "tr")) || !is.null(asked$bandpass)
  if (!is_known) {
    others <- c(run["y"], asked[c("covariates", "covariance")])
    if (nrow(x) < MIN_LIKE_ROWS || ncol(x) < MIN_LIKE_COLUMNS || !all(vapply(others, is.null, NA))) return(invisible())
  }
  r <- autocorrelation_of(x)
  if (is.matrix(run$y)) r <- min(r, autocorrelation_of(run$y)) # of both, or p values hold
  if (!isTRUE(r > if (is_known) MIN_SERIES else MIN_LIKE_SERIES)) return(invisible())
  warn("gpuCorSeries", "p values take rows to be independent, and those of 'x' are ", if (!is_known) "like ",
       "a series, with an autocorrelation of ", format(r, digits = 2L), " from row to row; df = \"bartlett\" counts ",
       "the independent ones, and adjust = \"maxT\" with surrogate = \"phase\" compares with surrogates")
}

# Returns the median autocorrelation at lag 1 of up to 50 columns.
autocorrelation_of <- function(x) {
  n <- nrow(x)
  some <- dense_columns(x, spread_over(ncol(x), min(ncol(x), 50)))
  some <- sweep(some, 2L, colMeans(some))
  stats::median(colSums(some[-1L, , drop = FALSE] * some[-n, , drop = FALSE]) / colSums(some^2), na.rm = TRUE)
}

# Returns list(max: max degrees of freedom of a pair, or the given ones; estimated: TRUE if they differ among pairs).
degrees_of_freedom <- function(run, counted, min_obs = MIN_OBS) {
  design <- run$design
  estimated <- identical(design$df, "bartlett")
  taken <- measure_of(run$method)$df_taken + if (estimated || is.null(design)) 0 else design$lost
  n <- counted$n_obs # max effective number of observations of a pair
  if (estimated) {
    if (!is.null(design$calibration)) n <- max(design$calibration$counts)
  } else if (!counted$common || !is_kind(design, "importance")) {
    n <- effective_n(design, counted)
  }
  max <- if (is_numeric(design$df)) design$df else n - taken
  if (counted$n_obs < min_obs || max < 1) {
    of <- if (run$method %in% names(MIN_TESTED)) paste0(" of method = \"", run$method, "\"")
    fail("p values", of, " need at least ", max(min_obs, taken + 1), " observations; there ",
         if (n == 1) "is " else "are ", format(n, digits = 3L), if (n != counted$n_obs) " effective ones")
  }
  list(max = max, estimated = estimated)
}

# ---- Bartlett's formula

# Coefficients of the first-order autoregressive series that calibrate the formula.
AUTOREGRESSION <- c(seq(0, 0.9, 0.1), 0.95, 0.98)

# Returns the effect of weights and regression on the formula: list(n, sums, counts), for n included observations. For
# these series, the formula's sum over lags has the expected values `sums` (ascending); the variances of their
# coefficients, after the same weighting and regression, give the effective numbers of observations `counts`. With R the
# diagonal of the roots of the weights, T the correlations of a series and M the projection on the residuals, both are
# functions of A = M R T R M: the sums of its diagonals, and tr(A)^2 / tr(A A). Counts never increase with smoothness.
calibration_of <- function(design, centred) {
  if (!identical(design$df, "bartlett") || (is.null(design$basis) && !is_graded(design))) return(NULL)
  n <- if (is.null(design$weights)) nrow(design$basis) else length(design$weights)
  root <- if (is.null(design$weights)) rep(1, n) else sqrt(design$weights)
  mean <- if (centred && !design$keeps) root / sqrt(sum(root^2))
  # `scale`: R; `basis`: orthonormal columns q; M is I - qq', or qq' if `keeps`.
  space <- list(n = n, scale = if (is_kind(design, "precision")) as.numeric(root > 0) else root,
                basis = cbind(mean, design$basis), keeps = design$keeps)
  # The engine's weights (series.c) of squared autocorrelations at lags 1, 2, ...
  counts <- space$scale > 0
  lags <- seq_len(length(counts) %/% 4)
  products <- round(lag_sums(counts, counts)[lags + 1L])
  weight <- ifelse(products > 0, (1 - lags / length(counts))^2 * sum(counts) / products, 0)
  points <- vapply(AUTOREGRESSION, FUN.VALUE = numeric(2L), function(phi) {
    moments <- series_moments(space, phi)
    c(sum(weight * (moments$lags[1L + lags] / moments$lags[1L])^2),
      moments$lags[1L]^2 / moments$squares + centred)
  })
  points <- points[, order(points[1L, ]), drop = FALSE]
  list(n = sum(counts), sums = points[1L, ], counts = cummin(points[2L, ]))
}

# Returns list(lags: sums of the diagonals of A, from the main one on; squares: tr(A A)).
series_moments <- function(space, phi) {
  q <- space$basis
  # The product of the series' correlation matrix and x, by a filter in both directions.
  smoothed <- function(x) {
    if (phi == 0) return(x)
    filtered <- function(m) matrix(stats::filter(m, phi, "recursive"), nrow(m))
    back <- rev(seq_len(nrow(x)))
    filtered(x) + filtered(x[back, , drop = FALSE])[back, , drop = FALSE] - x
  }
  tq <- if (is.null(q)) matrix(0, space$n, 0L) else space$scale * smoothed(space$scale * q)
  if (is.null(q)) q <- tq
  within <- crossprod(q, tq)
  if (space$keeps) return(list(lags = lag_sums(q, q %*% within), squares = sum(within^2)))
  powers <- phi^(seq_len(space$n) - 1)
  twice <- c(1, rep(2, space$n - 1))
  list(lags = powers * lag_sums(space$scale, space$scale) - 2 * lag_sums(q, tq - q %*% within / 2),
       squares = sum(twice * powers^2 * lag_sums(space$scale^2, space$scale^2)) - 2 * sum(tq^2) + sum(within^2))
}

# Returns for each lag from 0 the mean of sum(x[t] * y[t + lag]) and sum(y[t] * x[t + lag]), summed over all columns.
lag_sums <- function(x, y) {
  x <- as.matrix(x)
  if (!ncol(x)) return(numeric(nrow(x)))
  length <- stats::nextn(2 * nrow(x))
  spectrum <- function(m) stats::mvfft(rbind(as.matrix(m), matrix(0, length - nrow(x), ncol(x))))
  Re(stats::fft(Re(rowSums(Conj(spectrum(x)) * spectrum(y))) + 0i, inverse = TRUE))[seq_len(nrow(x))] / length
}

# Min number of observations of a valid p value. In 1 % of the pairs of three observations bicor is 1 or -1. With 4 to 8
# observations distance correlation has a size of 0.33 to 0.08 at a level of 0.05.
MIN_TESTED <- c(bicor = 5, distance = 10, `distance of groups` = 10, rv = 10)
