# Connectivities as sums over cor().

all_types <- c("unsigned", "signed", "signed hybrid")

similarity_of <- function(r, type) {
  switch(type, unsigned = abs(r), signed = (1 + r) / 2, `signed hybrid` = pmax(r, 0))
}

# How far apart sums of n values in [0, 1], each off by 1e-6, may be after raising them.
power_error <- function(n, power) n * max(power, 1) * 1e-6^min(power, 1) + 1e-12

# Flaws of degrees and strengths at a threshold, r being within 1e-6.
edge_flaws <- function(con, r, sign) {
  weight <- weight_of(r, sign)
  sums <- function(within) unname(rowSums(weight >= con$threshold + within, na.rm = TRUE))
  strength <- rowSums(ifelse(weight >= con$threshold, weight, 0), na.rm = TRUE)
  degree <- unname(con$degree)
  sure <- sums(1e-6) == sums(-1e-6)
  c(if (any(degree < sums(1e-6) | degree > sums(-1e-6))) "degree differs",
    if (any(abs(con$strength - strength)[sure] > 1e-6 * degree[sure] + 1e-12)) "strength differs",
    if (con$edges != sum(degree) / 2) "edges are not half of the degrees")
}

soft_flaws <- function(con, r, type) {
  unlist(lapply(seq_along(con$power), function(p) {
    truth <- rowSums(similarity_of(r, type)^con$power[p], na.rm = TRUE)
    n <- rowSums(!is.na(r))
    error <- vapply(n, power_error, 0, con$power[p])
    if (any(abs(con$soft[, p] - truth) > error)) paste("soft differs, power", con$power[p])
  }))
}

# A coefficient near a bin's edge may be on either side.
histogram_flaws <- function(con, r) {
  values <- sort(r[upper.tri(r)])
  bins <- con$histogram
  inner <- bins$breaks[-c(1, length(bins$breaks))]
  below <- function(within) findInterval(inner + within, values, left.open = TRUE)
  ours <- utils::head(cumsum(bins$counts), -1)
  c(if (sum(bins$counts) != length(values)) paste(sum(bins$counts), "coefficients counted, not", length(values)),
    if (any(ours < below(-1e-6) | ours > below(1e-6))) "histogram differs")
}

# How the connectivities `con` differ from those of the coefficients r.
connectivity_flaws <- function(con, r, sign, type) {
  c(if (!is.null(con$degree)) edge_flaws(con, r, sign), if (length(con$power)) soft_flaws(con, r, type),
    if (!is.null(con$histogram)) histogram_flaws(con, r), if (con$pairs != choose(ncol(r), 2)) "pairs")
}
