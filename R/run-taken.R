# What functions take in `...`, divided among the specs, and what of a call check_together() has to know.

# The spec of each argument.
SPEC_OF <- unlist(lapply(names(SPECS), function(spec) {
  arguments <- names(formals(SPECS[[spec]]))
  stats::setNames(rep(spec, length(arguments)), arguments)
}))

PARTIAL <- names(formals(gpuAdjust))
ADJUSTMENT <- setdiff(PARTIAL, c("partial", "shrinkage", "groups"))
COMBINATION <- setdiff(names(formals(gpuSubjects)), "effects")
EXCHANGE <- c("blocks", "whole")
PERMUTATION <- setdiff(names(formals(gpuPermute)), EXCHANGE)

# The arguments of specs that functions take; others take those of a run.
OFFERED <- list(
  gpuCor = c(PARTIAL, COMBINATION, "precision", "assay"),
  gpuCorTest = c(PARTIAL, PERMUTATION, "precision", "assay"),
  gpuCorNetwork = c(PARTIAL, COMBINATION, "effects", PERMUTATION, "precision", "assay", "shards"),
  gpuConnectivity = c(PARTIAL, COMBINATION, "precision", "assay"),
  gpuAssociation = c(setdiff(ADJUSTMENT, "protect"), PERMUTATION, "precision", "assay"),
  gpuCorCompare = c(PARTIAL, "subjects", "effects", "na.rm", EXCHANGE, "precision", "assay"),
  gpuCorTriangle = c(ADJUSTMENT, "assay"),
  gpuCorWindows = c(setdiff(ADJUSTMENT, c("covariance", "min_obs")), COMBINATION, "precision", "assay"),
  gpuDist = c(ADJUSTMENT, "assay"),
  gpuTOM = c(ADJUSTMENT, "assay"),
  pickPower = c(ADJUSTMENT, COMBINATION, "assay"),
  gpuModules = c("covariates", "data", "protect", "options", "assay"),
  gpuPreservation = c("covariates", "data", "protect", "assay"),
  gpuClean = c(unlist(REGRESSION), "assay"),
  gpuISC = c(unlist(REGRESSION), "combine", "subjects", "na.rm", "precision", "assay"),
  gpuCorPerm = c("options", "assay")
)

# Arguments that functions themselves take in `...`.
FURTHER <- list(gpuModules = c("pamStage", "pamRespectsDendro"))

offered_by <- function(verb) c(OFFERED[[verb]], RUN_SETTINGS)

# Divides the `...` of a function: returns list(adjustment, subjects, permutation, control), a spec each.
specs_of <- function(verb, ...) {
  if (!...length()) return(NO_SPECS)
  given <- list(...)
  is_whole <- vapply(given, inherits, NA, "gpuSpec")
  names(given) <- full_names(if (is.null(names(given))) "" else names(given), verb, is_whole)
  is_own <- names(given) %in% names(SPEC_OF) & !is_whole
  of <- names(given)
  of[is_own] <- SPEC_OF[of[is_own]]
  specs <- NO_SPECS
  for (name in unique(of)) {
    own <- given[is_own & of == name]
    whole <- given[!is_own][[name]]
    if (!name %in% names(SPECS)) {
      maker <- class(whole)[1L]
      fail("'", name, "' is what ", maker, "() made; give it as ", names(SPECS)[match(maker, unlist(SPECS))], " =")
    }
    check_that(whole, name, is.null(whole) || inherits(whole, SPECS[[name]]), paste0("made by ", SPECS[[name]], "()"))
    others <- setdiff(names(whole), c(offered_by(verb), "replay"))
    if (length(others)) fail("'", name, "' has '", others[1L], "', which ", verb, "() does not take")
    if (!is.null(whole)) specs[[name]] <- whole
    if (!length(own)) next
    if (length(whole)) own <- c(unclass(whole)[setdiff(names(whole), c(names(own), "replay"))], own)
    specs[[name]] <- do.call(SPECS[[name]], own, quote = TRUE) # checks all of them together
    specs[[name]]$replay <- whole$replay
  }
  if (any(lengths(specs[names(specs) != "control"]))) features_of(verb, specs) # stops if they do not go together
  specs
}

# Returns the arguments of specs one by one, without those of a run.
arguments_of <- function(specs) {
  all <- c(unclass(specs$adjustment), unclass(specs$subjects), unclass(specs$permutation), unclass(specs$control))
  all[!names(all) %in% c(RUN_SETTINGS, "replay", "shards")]
}

# The arguments that say which pairs are edges.
CRITERIA <- c("threshold", "density", "k", "p.value", "fdr")

# Values of arguments with which they count as not given, beside NULL, FALSE and "none".
NOT_GIVEN <- list(resample = 0, n_perm = 0, compression = 0, stability = 0, fraction = 0.63,
                  enhance = c(E = 0.5, H = 2), surrogate = "rotation")

# Returns list(features, words: texts to fill in) of a call, after checking that they go together. `...`: arguments as
# they were checked.
features_of <- function(verb, specs, ...) {
  given <- list(...)
  if (!identical(specs, NO_SPECS)) given <- c(given, arguments_of(specs), list(shards = specs$control$shards))
  is_default <- function(value) is.null(value) || identical(value, FALSE) || identical(value, "none")
  given <- given[!vapply(given, is_default, NA)]
  given <- given[!vapply(names(given), function(name) identical(given[[name]], NOT_GIVEN[[name]]), NA)]
  if (all(names(given) == "y")) return(NULL)
  given <- c(given, given$options)
  criterion <- CRITERIA[CRITERIA %in% names(given)]
  texts <- given[vapply(given, function(value) is.character(value) && length(value) == 1L, NA)]
  facts <- c(edges = length(criterion) > 0L, tests = any(c("p.value", "fdr") %in% criterion),
             `several values` = any(lengths(given[criterion]) > 1L), plan = !is.null(specs$control$replay))
  found <- list(features = c(verb, names(given), if (length(texts)) paste0(names(texts), " = \"", texts, "\""),
                             names(facts)[facts]),
                words = c(texts, list(criterion = criterion[1L], values = length(given[[criterion[1L]]]))))
  check_together(found)
  found
}

# Returns the settings of a run alone.
run_of <- function(control) structure(control[names(control) %in% RUN_SETTINGS], class = class(control))

# Returns the names of arguments, which may be abbreviated. Those without a name are gpuControl()'s. `is_whole`: specs.
# 'adjust' abbreviates 'adjustment' only of these, as it is an argument of other functions.
full_names <- function(names, verb, is_whole) {
  known <- offered_by(verb)
  if (all(names %in% known)) return(names)
  known <- union(known, names(SPECS))
  unnamed <- !nzchar(names)
  names[unnamed] <- setdiff(names(formals(gpuControl)), names)[seq_len(sum(unnamed))]
  full <- known[match(names, known)]
  short <- setdiff(known, c("keep_memory", "covariance")) # 'cov' abbreviates 'covariates'
  is_short <- is.na(full) & (is_whole | !names %in% names(SPEC_OF))
  full[is_short] <- short[pmatch(names[is_short], short, duplicates.ok = TRUE)]
  if (!anyNA(full)) return(full)
  name <- names[is.na(full)][1L]
  if (!name %in% names(SPEC_OF)) refuse_unused(name, c(names(formals(verb)), FURTHER[[verb]], known))
  others <- paste0(names(Filter(function(taken) name %in% taken, OFFERED)), "()")
  fail("unused argument '", name, "'; ", verb, "() does not take it", if (length(others) < 6L) {
    paste0(", but ", listed(others, "and", quote = ""), ngettext(length(others), " does", " do"))
  })
}

# Returns the help's words for the `...` of a function.
offered_words <- function(verb) {
  further <- setdiff(offered_by(verb), names(formals(verb)))
  of <- lapply(SPECS, function(maker) intersect(names(formals(maker)), further))
  of <- of[lengths(of) > 0L]
  each <- Map(of, SPECS[names(of)], names(of), f = function(names, maker, argument) {
    paste0(paste0("`", names, "`", collapse = ", "), " ([", maker, "()], or a whole one as `", argument, "`)")
  })
  paste0("Further arguments, by name: ", paste(each, collapse = "; "), ".")
}
