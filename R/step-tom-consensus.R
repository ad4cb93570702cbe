# Topological overlap of several data sets, combined pair by pair.

# `given`: combine, probs, calibration and calibrationQuantile. Returns list(how, fraction, calibration, quantile), or
# NULL for one data set.
check_consensus <- function(x, given) {
  calibration <- check_choice(given$calibration, calibrations, "calibration")
  if (!is_subjects(x)) {
    if (!is.null(given$combine)) fail("'combine' says how several data sets are combined, and 'x' is one; leave it out")
    if (calibration != "none") fail("'calibration' is of several data sets, and 'x' is one; leave it out")
    return(NULL)
  }
  if (is.function(x)) fail("'x' must be a list of data sets, not a function")
  if (!length(x)) fail("'x' is a list without data sets")
  if (is.null(given$combine)) {
    fail("'x' is a list of ", length(x), "; say how to combine: \"min\", \"mean\" or \"quantile\"")
  }
  combine <- check_choice(given$combine, c("min", "mean", "quantile"), "combine")
  probs <- given$probs
  if (combine != "quantile" && !is.null(probs)) fail("'probs' has a meaning with combine = \"quantile\" only")
  if (combine == "quantile" && is.null(probs)) fail("combine = \"quantile\" takes 'probs', a number in [0, 1]")
  if (combine == "quantile") probs <- check_fraction(probs, "probs", zero = TRUE)
  list(how = combine, fraction = if (combine == "min") 0 else probs, calibration = calibration,
       quantile = check_within(given$calibrationQuantile, "calibrationQuantile", 0, 1))
}

calibrations <- c("none", "single quantile")

# Returns a list with one power, or one per data set.
powers_of_sets <- function(power, x) {
  if (!is_subjects(x) || length(power) == 1L) return(list(power))
  if (length(power) != length(x)) {
    fail("'power' must be one number, or one for each of the ", length(x), " data sets, not ", show_value(power))
  }
  as.list(power)
}

check_same_variables <- function(sets) {
  first <- sets[[1L]]
  for (s in seq_along(sets)[-1L]) {
    if (ncol(sets[[s]]) != ncol(first)) {
      fail("data set ", s, " has ", n_of(ncol(sets[[s]]), "column"), ", and the first one ", ncol(first))
    }
    if (!identical(colnames(sets[[s]]), colnames(first))) {
      fail("data set ", s, " has other column names than the first one; bring the columns into the same order")
    }
  }
}

# `rules`: a list of one rule, or one per data set.
consensus_overlap <- function(x, how, rules, method, use, output, settings, call) {
  if (output == "network") fail("output = \"network\" is of one data set; with 'combine' take \"dist\" or \"matrix\"")
  if (how$calibration != "none" && rules[[1L]]$keeps_sign && !rules[[1L]]$is_absolute) {
    fail("calibration = \"single quantile\" takes overlaps without a sign, and TOMType = \"", rules[[1L]]$names$TOMType,
         "\" has one; take \"signed\", its size, or calibration = \"none\"")
  }
  sets <- lapply(x, function(set) check_input(set, NULL, check_use(use), method, settings$assay)$x)
  check_same_variables(sets)
  rules <- rep_len(rules, length(sets))
  check_consensus_memory(sets, rules[[1L]], method, use, output, settings)
  overlaps <- each_subject(length(sets), function(s) {
    tom_of_all(sets[[s]], rules[[s]], method, use, "dist", at_pass(settings, s, length(sets)), call)
  }, paste("data set", seq_along(sets)))
  scales <- scaling_powers(overlaps, how)
  tom <- checked(.Call(r_combine_overlaps, overlaps, scales, how$fraction, attr(overlaps[[1L]], "Size"),
                       consensus_attributes(overlaps, rules, how, scales), settings$threads))
  if (output == "matrix") as.matrix(tom) else tom
}

# All overlaps are in memory at once, first with the adjacencies of one data set, then with the result.
check_consensus_memory <- function(sets, rule, method, use, output, settings) {
  pairs <- pairs_of(ncol(sets[[1L]]))
  settings$overlap <- rule
  bytes <- run_bytes(sets[[1L]], NULL, method, check_use(use), "row", settings)
  square <- if (output == "matrix") 8 * as.numeric(ncol(sets[[1L]]))^2 else 0
  check_memory(length(sets) * bytes[1L] + max(bytes[2L], bytes[1L] + square), "gpuTOM()",
               paste(n_of(pairs, "pair"), "and", n_of(length(sets), "data set")),
               "gpuCorNetwork(combine = ) keeps the strongest pairs only")
}

consensus_attributes <- function(overlaps, rules, how, scales) {
  attributes <- attributes(overlaps[[1L]])
  attributes$n_obs <- sum(vapply(overlaps, attr, 0, "n_obs"))
  powers <- vapply(rules, `[[`, 0, "power")
  attributes$power <- if (all(powers == powers[1L])) powers[1L] else powers
  if (!is.null(attributes$adjusted)) attributes$adjusted[c("lost", "effective")] <- NULL # these belong to one data set
  attributes$combine <- how$how
  attributes$probs <- if (how$how == "quantile") how$fraction
  attributes$scales <- if (any(scales != 1)) scales
  attributes
}

# WGCNA's number of sampled pairs and random seed.
CALIBRATION_PAIRS <- 1000
CALIBRATION_SEED <- 54321

# Returns the powers that give all overlaps the first one's quantile, from the same sample of pairs in each call, as
# WGCNA.
scaling_powers <- function(overlaps, how) {
  if (how$calibration == "none") return(rep(1, length(overlaps)))
  n <- length(overlaps[[1L]])
  at <- withr::with_seed(CALIBRATION_SEED, .rng_kind = "Mersenne-Twister", .rng_sample_kind = "Rejection", {
    sample.int(n, min(CALIBRATION_PAIRS / min(how$quantile, 1 - how$quantile), n))
  })
  high <- vapply(overlaps, function(tom) {
    stats::quantile(.subset(tom, at), how$quantile, names = FALSE, type = 8)
  }, 0)
  bad <- which(!(high > 0 & high < 1))
  if (length(bad)) {
    fail("calibration = \"single quantile\" takes overlaps between 0 and 1, and quantile ", how$quantile, " of data ",
         "set ", bad[1L], " is ", format(high[bad[1L]]), "; choose another 'calibrationQuantile', or \"none\"")
  }
  log(high[1L]) / log(high)
}
