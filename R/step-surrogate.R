# Surrogate data: columns or rows are permuted at random so that no correlation remains. Permutation tests compare the
# data with them; ?gpuPermute describes them.

# Returns NULL without adjustment, otherwise list(adjust, n_perm, how, block): what is found from how many null data
# sets, and how these are drawn. `permutation`: from gpuPermute().
max_t_of <- function(permutation) {
  if (length(permutation)) c(permutation[c("adjust", "n_perm")], how = permutation$surrogate, permutation["block"])
}

# ---- data that can be exchanged

# Prepares `data`, a list of matrices with the same rows, as the measure compares them. Returns list(data: ordinary
# matrices of the included rows, ranked if the measure uses ranks, residuals if the design has covariates; design: that
# of these rows; method: a measure that does not rank residuals of ranks again). `permuted`: TRUE if rows will be
# permuted, which needs residuals of a robust regression.
compared_data <- function(data, method, use, design, permuted = FALSE) {
  counts <- if (is.null(design$weights)) rep(TRUE, nrow(data[[1L]])) else design$weights > 0
  if (drops_observations(list(use = use))) {
    complete <- lapply(data, column_blocks, function(block) rowSums(is.na(block)) == 0)
    counts <- Reduce(`&`, unlist(complete, recursive = FALSE), counts)
  }
  if (!is.null(design)) {
    design[c("weights", "raw")] <- list(NULL) # the weights are equal, and no values are missing
    design$ranked <- 0
    if (!is.null(design$basis) && !all(counts)) design$basis <- design$basis[counts, , drop = FALSE]
  }
  measure <- measure_of(method)
  n <- sum(counts)
  residuals <- if (is.null(design$basis) || isTRUE(design$is_map)) {
    identity
  } else if (permuted) {
    basis <- cbind(if (measure$centred) rep(1 / sqrt(n), n), design$basis)
    function(block) robust_residuals(block, basis)
  } else {
    function(block) residual_columns(block, design$basis, design$keeps)
  }
  compared <- lapply(data, function(m) {
    found <- matrix(0, n, ncol(m))
    for (columns in block_columns(m)) {
      block <- dense_columns(m, columns)[counts, , drop = FALSE]
      if (measure$ranked) block[] <- apply(block, 2L, rank, na.last = "keep")
      block[, colSums(is.infinite(block)) > 0] <- 0 # a column with infinite values has no coefficient
      found[, columns] <- residuals(centred_columns(block, rep(1, n), measure$centred))
    }
    found
  })
  list(data = compared, design = design,
       method = if (measure$ranked && !is.null(design$basis)) "pearson" else method)
}

# ---- surrogates of series

# Random draws for surrogates of series of n values, one for each column: factors of modulus 1 for the Fourier
# coefficients, or an order of the rows, which are rotated by a random number and cut into blocks in random order.
DRAWN_FOR <- list(
  phase = function(n, columns, block) {
    half <- n %/% 2
    turns <- matrix(stats::runif(half * columns), half, columns)
    if (n %% 2 == 0) turns[half, ] <- round(turns[half, ]) / 2 # the Nyquist coefficient is real
    up <- exp(2i * pi * turns)
    rbind(1 + 0i, up, Conj(up[rev(seq_len(n - 1 - half)), , drop = FALSE]))
  },
  block = function(n, columns, block) {
    begin <- seq(0, n - 1, by = block)
    vapply(seq_len(columns), FUN.VALUE = numeric(n), function(column) {
      drawn <- begin[sample.int(length(begin))]
      (sequence(pmin(block, n - drawn), drawn) + sample.int(n, 1L)) %% n + 1
    })
  }
)

# Returns a surrogate of m. `together`: TRUE to change all columns in the same way, FALSE for each independently.
surrogate_of <- function(m, rule, together) {
  n <- nrow(m)
  draw <- DRAWN_FOR[[rule$how]]
  of_all <- if (together) draw(n, 1L, rule$block)
  for (columns in block_columns(m)) {
    drawn <- as.vector(if (together) of_all else draw(n, length(columns), rule$block))
    given <- m[, columns, drop = FALSE]
    m[, columns] <- if (rule$how == "phase") {
      Re(stats::mvfft(stats::mvfft(given) * drawn, inverse = TRUE)) / n
    } else {
      given[drawn + rep((seq_along(columns) - 1) * n, each = n)]
    }
  }
  m
}

# ---- maxima

# Returns the largest weights of all pairs of the null data sets of `rule`, from max_t_of(), ascending; or with `min`
# the sum of their counts in bins, where coefficients of smaller size may count as 0, or not. `counted`: from
# perform(run, "observations"). The engine permutes the data, or with covariates the residuals, which are regressed
# again (Freedman and Lane 1983).
null_maxima <- function(run, counted, side, rule, min = NULL) {
  if (counted$common) {
    fail("adjust = \"", rule$adjust, "\" permutes observations that all pairs have; ",
         "with missing values use = \"complete.obs\" leaves these")
  }
  n <- nrow(run$x)
  is_permuted <- rule$how == "permutation"
  if (!is_permuted || !is.null(run$design$basis)) {
    given <- Filter(Negate(is.null), run[c("x", "y")])
    compared <- compared_data(given, run$method, run$use, run$design, is_permuted)
    run <- with_values(run, compared$data$x, compared$data$y, compared$design)
    if (is_permuted) counted <- perform(run, "observations")
  }
  if (!is_permuted) return(surrogate_maxima(run, n, side, rule, min))
  seed <- floor(stats::runif(2) * 2^32)
  found <- perform(run, "maxima", counted, constant(side), rule$n_perm, seed, min)
  if (is.null(min)) sort(found$maxima) else found$counts
}

# Returns those of surrogates: each column of x changes independently, or all columns of y together. `n`: the number of
# rows before those were left out that do not count.
surrogate_maxima <- function(run, n, side, rule, min) {
  x <- run$x
  y <- run$y
  check_facts(c("surrogate", if (nrow(x) < n) "observations left out"),
              list(gaps = paste(n_of(n - nrow(x), "observation"), "of", format_count(n))))
  if (rule$how == "phase" && !measure_of(run$method)$ranked) {
    given <- Filter(Negate(is.null), list(x, y))
    ranks <- if (!is_of_spectra(run$method)) "method = \"spearman\" or "
    warn_heavy_tails(given, paste0(ranks, "surrogate = \"block\""))
  }
  warn_smooth(x)
  if (is.null(rule$block)) rule$block <- n
  run <- one_thread_if_short(run, n * prod(network_size(run)))
  changed <- function(run, b) {
    if (is.null(y)) with_values(run, surrogate_of(x, rule, FALSE)) else with_values(run, x, surrogate_of(y, rule, TRUE))
  }
  surrogates <- list(n = rule$n_perm, label = numbered("permutation", rule$n_perm), change = changed, warns = "all")
  counts <- 0
  maxima <- for_each(surrogates, run, function(run, b) {
    found <- perform(run, "maximum", constant(side), min)
    if (!is.null(min)) counts <<- counts + found$counts
    found$maximum
  })
  if (is.null(min)) sort(unlist(maxima)) else counts
}

# ---- false discovery rates

# Returns the rate of each of weight_bins(): over the cuts at or below it, the min of the mean number of pairs of a
# permutation, of which the data are one, over the number of pairs of the data. `data`, `permuted`: bins, the latter of
# all other permutations; `min`: the weight from which both are counted; `scale`: atanh of a weight is so many times
# that of permutations.
rates_of <- function(data, permuted, n_perm, min, scale = 1) {
  tail <- cumsum(data$counts)
  weights <- 1 - seq_along(tail) * data$width
  cuts <- tanh(atanh(weights) / scale)
  beyond <- cumsum(permuted$counts)[pmin(length(cuts), ceiling((1 - cuts) / data$width - 1e-6))]
  rates <- ifelse(weights >= min & tail > 0, (beyond / tail + 1) / (n_perm + 1), 1)
  rev(cummin(rev(pmin(rates, 1))))
}

# Returns the rates of weights of pairs.
rates_at <- function(weights, rates, sign) {
  width <- (if (sign == "absolute") 1 else 2) / length(rates)
  rates[pmin(length(rates), pmax(1, floor((1 - weights) / width + 1)))]
}

# Returns the min weight that permutations need to count: cuts whose rate by the normal distribution of atanh of a
# weight with this standard error is more than FDR_MARGIN times `fdr` are not tried. A permutation's few larger values
# take no time. `bins`: of the data.
least_cut <- function(bins, sign, pairs, n_perm, fdr, error, groups = NULL) {
  cuts <- 1 - seq_along(bins$counts) * bins$width
  p <- two_sided(atanh(pmax(cuts, 0)) / error, groups) / (if (sign == "absolute") 1 else 2)
  is_tried <- cuts >= 0 & pairs * p <= pmax(FDR_MARGIN * fdr * cumsum(bins$counts), 1 / n_perm)
  min(1 - bins$width, cuts[is_tried])
}

# Returns the rates of rates_of() for the null data sets of `rule`, see null_maxima(); rates above `fdr` need not be
# right.
null_rates <- function(run, counted, sign, rule, fdr = 1) {
  bins_of <- function(counts) weight_bins(list(counts = counts, error = 0), sign)
  data <- bins_of(perform(part_of(run, 0, 0.05), "maximum", constant(sign), 0)$counts)
  min <- -1
  if (fdr < 1 && run$method %in% names(Z_VARIANCES)) {
    error <- sqrt(Z_VARIANCES[run$method] / max(1, counted$n_obs - 3 - sum(run$design$lost)))
    min <- least_cut(data, sign, run$pairs, rule$n_perm, fdr, error)
  }
  rates_of(data, bins_of(null_maxima(part_of(run, 0.05, 0.95), counted, sign, rule, max(0, min))), rule$n_perm, min)
}

# Returns rows of the pairs whose rate by permutation is at most `fdr`, with these rates, which are of t with random
# effects, and with their tests.
rows_by_rates <- function(run, rates, fdr) {
  if (is_random(run$x)) run <- with_t(run)
  width <- (if (run$criterion$sign == "absolute") 1 else 2) / length(rates)
  kept <- sum(rates <= fdr)
  cut <- min(1, max(0, 1 - (kept + 0.01) * width)) # rounding may move a pair to the next bin
  rows <- take_rows(kept_edges(edge_pass(run, cut), cut), run)
  values <- rows$x
  if (is_random(run$x)) {
    rows <- with_difference_tests(rows, run)
    t <- comparable_statistics(rows$tests$statistic, rows$tests$df, comparable_to(run$x))
    values <- if (tested_effects(run$x) > 1) sqrt(t / (t + max_df(run$x))) else t / sqrt(t^2 + max_df(run$x))
  }
  rows$tests$fdr <- rates_at(weights_of(values, run$criterion$sign), rates, run$criterion$sign)
  is_edge <- rows$tests$fdr <= fdr
  rows <- kept_rows(rows, -rows$tests$fdr, -fdr, run)
  own <- intersect(c("p.value", EDGE_COLUMNS), names(rows$tests))
  rows$tests[own] <- lapply(rows$tests[own], `[`, is_edge)
  rows$threshold <- if (is_random(run$x) || kept == 0) NA_real_ else 1 - kept * width
  rows
}

# Median kurtosis above which phase surrogates, which are nearly normal, differ too much from the data.
HEAVY_KURTOSIS <- 4

# `instead`: arguments that suit such columns.
warn_heavy_tails <- function(data, instead) {
  kurtosis_of <- function(m) {
    m <- sweep(m, 2L, colMeans(m))
    m <- sweep(m, 2L, column_sizes(m), "/") # the powers of scaled values do not overflow
    nrow(m) * colSums(m^4) / colSums(m^2)^2
  }
  kurtosis <- unlist(lapply(data, column_blocks, kurtosis_of))
  middle <- stats::median(kurtosis, na.rm = TRUE)
  if (!isTRUE(middle > HEAVY_KURTOSIS)) return(invisible())
  warn("gpuCorTails", "surrogate = \"phase\" is for series that are nearly normal, and the median kurtosis of the ",
       "columns is ", format(middle, digits = 2L), ", not 3; adjusted p values may be too small. Use ",
       instead)
}

# The ends of a series meet in a surrogate. Min number of independent observations as informative as a series, n (1 - r)
# / (1 + r) with its autocorrelation r at lag 1, for which that does not matter.
MIN_INDEPENDENT <- 8

warn_smooth <- function(x) {
  n <- nrow(x)
  r <- autocorrelation_of(x)
  left <- n * (1 - r) / (1 + r)
  if (!isTRUE(left < MIN_INDEPENDENT)) return(invisible())
  warn("gpuCorSmooth", n_of(n, "observation"), " with an autocorrelation of ", format(r, digits = 2L), " tell as much ",
       "as ", format(left, digits = 1L), " independent ones; p values by surrogates may be too small, up to 0.2 at ",
       "0.05 (?\"gpucor-p-values\"). Use longer series, or regress slow drifts out")
}

# ---- networks

# Stops if no pair can be an edge, as the data are one of the permutations.
check_enough <- function(n_perm, criterion) {
  check_that(n_perm, "n_perm", criterion$value * (n_perm + 1) * (1 + ROUNDING) >= 1,
             paste0("at least ", format_count(ceiling(1 / criterion$value) - 1), " for ", criterion$name, " = ",
                    format(criterion$value)))
}

# Returns the min weight of an adjusted p value of at most p.
weight_of_adjusted <- function(p, maxima) {
  n_perm <- length(maxima)
  allowed <- floor(p * (n_perm + 1) * (1 + ROUNDING)) - 1 # maxima that may be as large
  if (allowed < n_perm) sort(maxima)[n_perm - allowed] + SAME_COEFFICIENT else 0
}

# Returns rows of the edges by rates of permutations.
edges_by_rates <- function(run) {
  run <- with_criterion(run, to_file = FALSE)
  fdr <- run$criterion$value
  check_enough(run$criterion$max_t$n_perm, run$criterion)
  counted <- perform(run, "observations")
  rates <- null_rates(part_of(run, 0, 0.95), counted, run$criterion$sign, run$criterion$max_t, fdr)
  rows_by_rates(part_of(run, 0.95, 0.05, "edges"), rates, fdr)
}

# Returns the edges with an adjusted p value of at most the criterion, which makes a min weight, and the maxima that
# edge_tests() needs. P values are two-sided for every sign, as others of networks are.
adjusted_edges <- function(run) {
  rule <- run$criterion$max_t
  check_enough(rule$n_perm, run$criterion)
  counted <- perform(run, "observations")
  side <- tested_sign(run$method)
  maxima <- null_maxima(part_of(run, 0, 0.95), counted, side, rule)
  min_weight <- weight_of_adjusted(run$criterion$value, maxima)
  edges <- edge_pass(part_of(run, 0.95, 0.05, "edges"), min(min_weight, 2))
  edges <- kept_edges(edges, if (min_weight > 1) Inf else min_weight)
  edges$tests <- list(maxima = maxima, side = side)
  edges
}
