# Consensus modules: each data set is a job, whose overlaps, memberships and eigengene correlations are combined.

# Returns list(sets: a list of data sets; how, consensus: gpuTOM()'s arguments, for several sets only).
module_sets <- function(x, given) {
  if (!is_subjects(x)) given$calibration <- "none"
  how <- check_consensus(x, given)
  if (is.null(how)) return(list(sets = list(x)))
  names <- if (is.null(names(x))) character(length(x)) else names(x)
  names[!nzchar(names)] <- paste0("set", seq_along(x))[!nzchar(names)]
  list(sets = stats::setNames(x, make.unique(names)), how = how,
       consensus = c(list(combine = how$how, calibration = how$calibration, calibrationQuantile = how$quantile),
                     if (how$how == "quantile") list(probs = how$fraction)))
}

# Returns each set's job with its power, and the result of pickPower().
sets_with_powers <- function(sets, power) {
  powers <- if (is.null(power)) list(NULL) else if (length(sets) > 1L) powers_of_sets(power, sets) else list(power)
  Map(function(set, power) c(set, module_power(power, set)), sets, rep_len(powers, length(sets)))
}

# Returns the combined job, with `quantile`: that of the sets' memberships and correlations that is used, as in WGCNA.
consensus_job <- function(job, sets, several) {
  by_set <- function(name) lapply(sets, `[[`, name)
  fits <- by_set("fit")
  c(job, list(sets = sets, x = by_set("x"), samples = by_set("samples"), power = unlist(by_set("power")),
              fit = if (!all(vapply(fits, is.null, NA))) fits, consensus = several$consensus,
              quantile = if (several$how$how == "quantile") several$how$fraction else 0))
}
