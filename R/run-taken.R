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
  gpuCor = c(PARTIAL, COMBINATION, "precision", "assay", "pseudobulk"),
  gpuCorTest = c(PARTIAL, PERMUTATION, "precision", "assay", "pseudobulk"),
  gpuCorNetwork = c(PARTIAL, COMBINATION, "effects", PERMUTATION, "precision", "assay", "pseudobulk", "shards"),
  gpuConnectivity = c(PARTIAL, COMBINATION, "precision", "assay", "pseudobulk"),
  gpuAssociation = c(setdiff(ADJUSTMENT, "protect"), PERMUTATION, "precision", "assay"),
  gpuCorCompare = c(PARTIAL, "subjects", "effects", "na.rm", EXCHANGE, "precision", "assay"),
  gpuCorTriangle = c(ADJUSTMENT, "assay"),
  gpuCorWindows = c(setdiff(ADJUSTMENT, c("covariance", "min_obs")), COMBINATION, "precision", "assay"),
  gpuDist = c(ADJUSTMENT, "assay"),
  gpuTOM = c(ADJUSTMENT, "assay"),
  pickPower = c(ADJUSTMENT, COMBINATION, "assay", "pseudobulk"),
  gpuModules = c("covariates", "data", "protect", "options", "assay", "pseudobulk"),
  predict.gpuModules = c("covariates", "data", "protect", "assay", "pseudobulk"),
  gpuPreservation = c("covariates", "data", "protect", "assay", "pseudobulk"),
  gpuClean = c(unlist(REGRESSION), "assay"),
  gpuISC = c(unlist(REGRESSION), "combine", "subjects", "na.rm", "precision", "assay"),
  gpuCorPerm = c("options", "assay")
)

# Arguments that functions themselves take in `...`.
FURTHER <- list(gpuModules = c("pamStage", "pamRespectsDendro"))

offered_by <- function(verb) c(OFFERED[[verb]], RUN_SETTINGS)

# Divides the `...` of a function and its formals of these names: returns list(adjustment, subjects, permutation,
# control), a spec each. `frame`: the function's. The confounds of a study there are arguments, unless others are given.
specs_of <- function(verb, ..., frame = parent.frame()) {
  whole <- mget(intersect(names(SPECS), formals_of(verb)$names), frame, ifnotfound = list(NULL))
  whole <- whole[!vapply(whole, is.null, NA)]
  studies <- take_studies(frame)
  if (!...length() && !length(whole) && !length(studies)) return(NO_SPECS)
  given <- c(list(...), whole)
  is_whole <- vapply(given, inherits, NA, "gpuSpec")
  if (length(given)) names(given) <- full_names(if (is.null(names(given))) "" else names(given), verb, is_whole)
  if (length(studies)) {
    given <- c(given, adjustment_of_studies(studies, c(names(given), names(whole$adjustment)), verb))
    is_whole <- vapply(given, inherits, NA, "gpuSpec")
  }
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

# Returns the studies among `x` and `y` of a function, or in a list of groups, as of split(), as its `x`. The lists of
# their series take their place in `frame`.
take_studies <- function(frame) {
  studies <- Filter(is_study, mget(c("x", "y"), frame, ifnotfound = list(NULL)))
  for (name in names(studies)) frame[[name]] <- studies[[name]]$x
  are_groups <- !length(studies) && is.list(frame$x) && length(frame$x) && all(vapply(frame$x, is_study, NA))
  if (!are_groups) return(studies)
  studies <- frame$x
  frame$x <- lapply(studies, `[[`, "x")
  studies
}

# Returns list(covariates, weights, runs) of all studies if their groups are compared, or of the first, without what is
# `known` or what no study has.
adjustment_of_studies <- function(studies, known, verb) {
  if (verb != "gpuCorCompare") studies <- studies[1L]
  parts <- lapply(stats::setNames(nm = c("covariates", "weights")), function(part) {
    unlist(lapply(unname(studies), `[[`, part), recursive = FALSE)
  })
  if (all(unlist(parts$weights))) parts$weights <- NULL
  if (is.null(parts$covariates)) { # otherwise those of the data are taken
    series <- unlist(lapply(unname(studies), series_of_study), recursive = FALSE)
    parts$runs <- lapply(series, attr, "runs", exact = TRUE)
    if (all(lengths(parts$runs) == 0L)) parts$runs <- NULL
  }
  parts <- parts[setdiff(names(Filter(Negate(is.null), parts)), known)]
  refused <- setdiff(names(parts), offered_by(verb))
  if (length(refused)) {
    fail_value("'x' has ", refused[1L], " of its scans, which ", verb, "() does not take; give x$x",
               if (!is.null(parts$covariates)) " with covariates = x$covariates",
               if (refused[1L] == "weights") ", read with the set \"scrub\" among the confounds")
  }
  parts
}

# Returns the arguments of specs one by one, without those of a run.
arguments_of <- function(specs) {
  all <- c(unclass(specs$adjustment), unclass(specs$subjects), unclass(specs$permutation), unclass(specs$control))
  all[!names(all) %in% c(RUN_SETTINGS, "replay", "shards")]
}

# The arguments that say which pairs are edges.
CRITERIA <- c("threshold", "density", "k", "p.value", "fdr")

# Returns list(names: those of a function's formals; defaults: the values of those that features_of() looks at).
formals_of <- function(verb) {
  known <- state$formals[[verb]]
  if (!is.null(known)) return(known)
  all <- formals(verb, envir = asNamespace("gpucor"))
  is_required <- vapply(all, function(default) is.name(default) && !nzchar(default), NA)
  looked_at <- setdiff(names(all)[!is_required], c("method", "use", names(SPECS)))
  state$formals[[verb]] <- list(names = names(all), defaults = lapply(all[looked_at], eval, asNamespace("gpucor")))
  state$formals[[verb]]
}

# Returns list(features, words: texts to fill in) of a call, after checking that they go together. An argument is a
# feature unless it has its default, or the first of several; every string is one, as `output = "dist"`. `frame`: where
# the function's arguments are, as they were checked; `...`: further ones.
features_of <- function(verb, specs, frame = NULL, ...) {
  defaults <- if (!is.null(frame)) formals_of(verb)$defaults
  values <- c(if (!is.null(frame)) mget(names(defaults), frame), list(...))
  if (!identical(specs, NO_SPECS)) values <- c(values, arguments_of(specs), list(shards = specs$control$shards))
  values <- c(values, values$options)
  is_given <- vapply(names(values), FUN.VALUE = NA, function(name) {
    value <- values[[name]]
    default <- defaults[[name]]
    is_first <- is.character(value) && length(default) > 1L && identical(value, default[[1L]])
    !(is.null(value) || isFALSE(value) || is_first || identical(value, default))
  })
  given <- values[is_given]
  if (!length(given)) return(NULL)
  criterion <- CRITERIA[CRITERIA %in% names(given)]
  is_text <- vapply(values, is.character, NA)
  texts <- values[is_text]
  texts <- lapply(texts[!is_given[is_text] | lengths(texts) == 1L], `[`, 1L)
  facts <- c(edges = length(criterion) > 0L, tests = any(c("p.value", "fdr") %in% criterion),
             `several criteria` = length(criterion) > 1L, `several values` = any(lengths(given[criterion]) > 1L),
             plan = !is.null(specs$control$replay))
  found <- list(features = c(verb, names(given), if (length(texts)) paste0(names(texts), " = \"", texts, "\""),
                             names(facts)[facts]),
                words = c(texts, list(criterion = criterion[1L], criteria = listed(criterion, "and"),
                                      values = length(given[[criterion[1L]]]))))
  check_together(found)
  found
}

# Returns which values of data are read: the assay of an experiment, or pseudobulk samples, see read_pseudobulk().
assay_of <- function(control) {
  if (is.null(control$pseudobulk)) return(control$assay)
  structure(list(assay = control$assay, labels = control$pseudobulk), class = "gpuPseudobulk")
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
  each <- Map(of, SPECS[names(of)], f = function(names, maker) {
    paste0(paste0("`", names, "`", collapse = ", "), " of [", maker, "()]")
  })
  paste0("Arguments by name: ", paste(each, collapse = "; "), ". ", listed(names(of), "and", quote = "`"),
         ngettext(length(of), " takes what this function returns.", " take what these functions return."))
}
