# How headers of results describe the adjustment; see data-adjusted.R.

# Returns "adjusted for 6 covariates, filtered to 0.01-0.1 Hz (TR 2 s): 12 degrees of freedom", or NULL if nothing
# applies. `n_obs`: number of observations, of all pairs or of each; `left`: degrees of freedom, if known.
describe_adjusted <- function(adjusted, method, n_obs = NULL, left = NULL) {
  what <- c(if (!is.null(adjusted$combined)) {
    paste0(n_of(adjusted$subjects, "subject"), " combined ", adjusted$combined)
  }, design_words(adjusted), option_words(adjusted$options))
  freedom <- freedom_words(adjusted, method, n_obs, left)
  if (!length(what)) return(freedom)
  paste(c(paste(what, collapse = ", "), freedom), collapse = ": ")
}

adjusted_line <- function(...) {
  text <- describe_adjusted(...)
  if (!is.null(text)) paste0(text, "\n")
}

adjusted_phrase <- function(...) {
  text <- describe_adjusted(...)
  if (!is.null(text)) paste0(", ", text)
}

design_words <- function(adjusted) {
  words <- c(
    if (!is.null(adjusted$covariates)) paste("adjusted for", range_of(adjusted$covariates, "covariate")),
    if (!is.null(adjusted$bandpass)) paste("filtered to", band_words(adjusted$bandpass, adjusted$tr)),
    if (!is.null(adjusted$runs)) paste("within", range_of(adjusted$runs, "run")),
    weighted_words(adjusted),
    partial_words(adjusted$shrinkage),
    if (!is.null(adjusted$lioness)) paste("network of sample", adjusted$lioness, "(LIONESS)"),
    if (!is.null(adjusted$normalize)) "context likelihood (CLR)",
    if (!is.null(adjusted$max_t)) max_t_words(adjusted$max_t),
    if (!is.null(adjusted$lag)) paste("largest over lags", paste(adjusted$lag, collapse = " to ")),
    if (!is.null(adjusted$zeros)) paste("without", range_of(adjusted$zeros, "observation"), "of weight 0")
  )
  if (length(words) && !is.null(adjusted$subjects)) words[1L] <- paste("each", words[1L])
  words
}

max_t_words <- function(rule) {
  kind <- if (rule$how == "permutation") "permutation" else paste(rule$how, "surrogate")
  paste("p values adjusted by", n_of(rule$n_perm, kind))
}

partial_words <- function(shrinkage) {
  if (!length(shrinkage)) return(NULL)
  paste0("partial given all other columns (shrinkage ", paste(format(shrinkage, digits = 3L), collapse = " to "), ")")
}

weighted_words <- function(adjusted) {
  if (is.null(adjusted$effective)) return(if (isTRUE(adjusted$graded)) "weighted")
  numbers <- format(adjusted$effective, digits = 4L, trim = TRUE, big.mark = ",")
  paste0("weighted (effective n ", paste(numbers, collapse = " to "), ")")
}

band_words <- function(band, tr) {
  ends <- vapply(band, format, "")
  range <- if (is.infinite(band[2L])) paste("at least", ends[1L]) else paste(ends, collapse = "-")
  paste0(range, " Hz", if (!is.null(tr)) paste0(" (TR ", format(tr), " s)"))
}

option_words <- function(options) if (length(options)) paste0(names(options), " = ", options)

# Returns the degrees of freedom as text, or NULL if they are n - 2. Those of a fitted null distribution are not shown,
# as they do not count observations and may exceed their number.
freedom_words <- function(adjusted, method, n_obs, left) {
  if (!is_t_distributed(method)) return(NULL)
  if (isTRUE(adjusted$is_null_fitted)) return("p values by a null distribution fitted to the coefficients")
  if (identical(adjusted$df, "bartlett")) return("degrees of freedom of each pair by Bartlett's formula")
  if (is.null(left)) left <- degrees_left(adjusted, method, n_obs)
  left <- range_if_any(left[is.finite(left) & left > 0])
  if (!length(left) || identical(as.numeric(left), as.numeric(range_if_any(n_obs - 2)))) return(NULL)
  paste0(paste(format(left, digits = 4L, trim = TRUE, big.mark = ","), collapse = " to "), " degree",
         if (!identical(as.numeric(left), 1)) "s", " of freedom")
}

degrees_left <- function(adjusted, method, n_obs) {
  if (!is.null(adjusted$subjects)) return(adjusted$left)
  if (is_numeric(adjusted$df)) return(adjusted$df)
  n <- if (is.null(n_obs) || is.null(adjusted$effective)) n_obs else adjusted$effective
  n - measure_of(method)$df_taken - if (is.null(adjusted$lost)) 0 else adjusted$lost
}
