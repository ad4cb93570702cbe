# What gpuModules() does with several data sets: each is a job of its own, of which the overlaps, memberships and
# eigengenes' correlations are combined.

# list(sets: a list of data, of one or more; consensus: NULL for one, else gpuTOM()'s arguments).
module_sets <- function(x, given) {
  if (!is_subjects(x)) given$calibration <- "none"
  how <- check_consensus(x, given)
  if (is.null(how)) return(list(sets = list(x)))
  names <- if (is.null(names(x))) character(length(x)) else names(x)
  names[!nzchar(names)] <- paste0("set", seq_along(x))[!nzchar(names)]
  list(sets = stats::setNames(x, make.unique(names)), how = how,
       consensus = c(list(combine = how$how, calibration = how$calibration, calibrationQuantile = how$quantile),
                     if (how$how == "quantile") list(probs = how$share)))
}

# Each set's job with its power, and what pickPower() found.
sets_with_powers <- function(sets, power) {
  powers <- if (is.null(power)) list(NULL) else if (length(sets) > 1L) powers_of_sets(power, sets) else list(power)
  Map(function(set, power) c(set, module_power(power, set)), sets, rep_len(powers, length(sets)))
}

# The job of all; least: the quantile of the sets' memberships and correlations that counts, as in WGCNA.
consensus_job <- function(job, sets, several) {
  by_set <- function(name) lapply(sets, `[[`, name)
  fits <- by_set("fit")
  c(job, list(sets = sets, x = by_set("x"), samples = by_set("samples"), power = unlist(by_set("power")),
              fit = if (!all(vapply(fits, is.null, NA))) fits, consensus = several$consensus,
              least = if (several$how$how == "quantile") several$how$share else 0))
}
