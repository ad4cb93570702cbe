# The scale-free fit: the distribution of connectivity on logarithmic scales.

# R^2 of each power, negative if the slope is positive: such a network is not scale-free.
signed_fit <- function(table) -sign(table$slope) * table$SFT.R.sq

# Smaller differences are within the accuracy of coefficients.
is_constant <- function(k) max(k) - min(k) <= 1e-6 * max(k)

# Returns R^2 and slope of the line through the bins, and adjusted R^2 of the truncated power law.
fit_scale_free <- function(k, breaks) {
  if (is_constant(k)) return(rep(NA_real_, 3L))
  bins <- bin_connectivity(k, breaks)
  line <- fit_fractions(bins)
  truncated <- fit_fractions(bins, bins$k)
  freedom <- truncated$df.residual
  adjusted <- if (freedom > 0L) 1 - (1 - fit_r_squared(truncated)) * (length(bins$k) - 1) / freedom else NA_real_
  c(fit_r_squared(line), line$coefficients[[2L]], adjusted)
}

# Regresses log fractions on log connectivities and on `...`; an empty bin counts as 1e-9.
fit_fractions <- function(bins, ...) stats::lm.fit(cbind(1, log10(bins$k), ...), log10(bins$fraction + 1e-9))

# A bin excludes its lower edge and includes its upper one; the first includes both.
bin_connectivity <- function(k, breaks) {
  edges <- seq(min(k), max(k), length.out = breaks + 1)
  bin <- findInterval(k, edges[2:breaks], left.open = TRUE) + 1
  middle <- (edges[-1L] + edges[-(breaks + 1)]) / 2
  mean_k <- as.vector(tapply(k, factor(bin, seq_len(breaks)), mean))
  at_middle <- is.na(mean_k) | mean_k == 0 # an empty bin, or a mean without a logarithm
  mean_k[at_middle] <- middle[at_middle]
  list(k = mean_k, fraction = tabulate(bin, breaks) / length(k))
}

fit_r_squared <- function(fit) {
  explained <- sum((fit$fitted.values - mean(fit$fitted.values))^2)
  explained / (explained + sum(fit$residuals^2))
}

can_fit <- function(values) {
  values <- values[is.finite(values)]
  length(values) > 2L && all(values >= 0) && !is_constant(values)
}

# Returns the points and the line that pickPower() fits.
scale_free_points <- function(values, breaks = 10) {
  values <- values[is.finite(values)]
  bins <- bin_connectivity(values, breaks)
  line <- fit_fractions(bins)
  list(k = bins$k, fraction = bins$fraction, intercept = line$coefficients[[1L]], slope = line$coefficients[[2L]],
       r_squared = fit_r_squared(line))
}
