#' Topological overlap of all pairs of columns
#'
#' `gpuTOM()` computes how strongly two genes share neighbors in the weighted network of their correlations. It returns
#' the values of `WGCNA::TOMsimilarityFromExpr()` to 1e-6, under the same argument names.
#'
#' The adjacency a of two columns follows from their coefficient r by `type`, `"unsigned"`, `"signed"` or
#' `"signed hybrid"`, see [pickPower()]. Let `k_i` be the connectivity of i, the sum of its absolute adjacencies; `s`
#' the sum over all others u of `a_iu a_uj`; and `f` the smaller of `k_i` and `k_j` (`TOMDenom = "min"`) or their mean
#' (`"mean"`). The overlap of i and j is:
#'
#' | `TOMType` | overlap |
#' |---|---|
#' | `"unsigned"` | `(s + a_ij) / (f + 1 - a_ij)` |
#' | `"signed"` | if `type` is `"unsigned"`, `abs(s + a_ij) / (f + 1 - abs(a_ij))` of `a_ij = sign(r) abs(r)^power` |
#' | `"unsigned 2"`, `"signed 2"` | `(a_ij + s / (f - a_ij)) / 2`; the second term is 0 if none has another neighbor |
#'
#' With another `type`, `"signed"` is equal to `"unsigned"`.
#'
#' `"signed"` is the default of `TOMsimilarityFromExpr()` and `blockwiseModules()`, `"unsigned"` that of
#' `TOMsimilarity()`.
#'
#' **Missing values.** WGCNA's `use` is `"pairwise.complete.obs"`. A pair without a coefficient, such as of a constant
#' column, is an error, because every overlap depends on all adjacencies.
#'
#' **Memory.** The result takes 4 bytes a pair. The adjacencies take 4 bytes for each pair in both orders in main
#' memory, or 8 bytes on the GPU: 40,000 columns take 6.4 GB, or 12.8 GB on the GPU. If that exceeds free memory or
#' `memory`, they are computed again for each part of the result.
#'
#' **Accuracy.** Unlike coefficients, overlaps differ in their last bits between back ends, by less than 1e-6: the
#' processor multiplies adjacencies in single precision, a GPU in double precision.
#'
#' **Plot.** `plot()` draws the matrix of overlaps below its tree, as WGCNA's `TOMplot()` does. Modules are dark squares
#' on the diagonal. Colors follow square roots, as most overlaps are small; the key shows the overlaps themselves.
#'
#' **Sparse networks.** `x` may be a network of [gpuCorNetwork()], or a symmetric sparse matrix of adjacencies, without
#' `power` and `type`. Pairs without an edge have adjacency 0. The result has the overlap of each edge.
#'
#' **Several data sets.** A list with `combine` gives the consensus overlap of `WGCNA::consensusTOM()`: the minimum,
#' mean or quantile of each pair's overlaps. [gpuModules()] finds consensus modules. With
#' `calibration = "single quantile"` the overlaps of each set but the first are first raised to a power, so that their
#' quantile `calibrationQuantile` equals that of the first set, in the sample of pairs that WGCNA draws.
#'
#' @order 1
#' @inheritParams gpuCor
#' @param x As in [gpuCor()], with genes in columns; a list of these, with `combine`; or a sparse network. For `plot()`:
#'   a result.
#' @param power,type,TOMType,TOMDenom See Details: a positive number (for several data sets one for all or one for
#'   each), and strings, which may be abbreviated; `type` is WGCNA's `networkType`.
#' @param output A string: `"dist"`, `"matrix"`, or `"network"` for the pairs with large overlap. May be abbreviated.
#' @param threshold,density,k With `output = "network"`: one of these, as in [gpuCorNetwork()], applied to overlaps.
#' @param combine,probs With a list: `"min"`, `"mean"` or `"quantile"`, and the quantile, a number in \[0, 1\].
#' @param calibration,calibrationQuantile With a list: `"none"`, or `"single quantile"` to scale overlaps before they
#'   are combined (WGCNA's `networkCalibration`), and the quantile.
#' @param replaceMissingAdjacencies `TRUE`: pairs without a coefficient have adjacency 0; `FALSE`: they are an error.
#' @param ...,adjustment,control `r offered_words("gpuTOM")`
#'
#' @return `output = "dist"`: an object of class [gpuTOM][gpuCor-class] with the overlap of each pair, in the order of
#'   [stats::dist()]; [gpuHclust()] makes a tree of it. Attributes are the arguments, and for several data sets the
#'   powers that scaled them, `scales`. `"matrix"`: the N x N matrix with ones in its diagonal. `"network"`: a symmetric
#'   sparse matrix of class `gpuTOMNetwork`, a [gpuCorNetwork-class] whose slot `overlap` has the arguments. Of a sparse
#'   network: a `dsCMatrix`.
#' @examples
#' x <- as.matrix(mtcars)
#' tom <- gpuTOM(x, power = 3)
#' tom
#' plot(tom)
#'
#' gpuTOM(x, type = "signed", power = 12, output = "network", density = 0.2)
#' sets <- list(x[1:16, ], x[17:32, ])
#' gpuTOM(sets, power = c(3, 4), combine = "min", calibration = "single quantile")
#' @export
gpuTOM <- function(x, power = 6, type = c("unsigned", "signed", "signed hybrid"),
                   TOMType = c("signed", "unsigned", "unsigned 2", "signed 2"),
                   TOMDenom = c("min", "mean"), replaceMissingAdjacencies = FALSE, threshold = NULL, density = NULL,
                   k = NULL, method = "pearson", use = "everything", combine = NULL, probs = NULL,
                   calibration = c("none", "single quantile"), calibrationQuantile = 0.95,
                   output = c("dist", "matrix", "network"), ..., adjustment = NULL, control = NULL) {
  specs <- specs_of("gpuTOM", ...)
  rules <- lapply(powers_of_sets(power, x), overlap_rule, check_choice(type, types, "type"),
                  check_choice(TOMType, tom_types, "TOMType"), check_choice(TOMDenom, c("min", "mean"), "TOMDenom"),
                  check_flag(replaceMissingAdjacencies, "replaceMissingAdjacencies"))
  rule <- rules[[1L]]
  output <- check_choice(output, c("dist", "matrix", "network"), "output")
  calibration <- check_choice(calibration, c("none", "single quantile"), "calibration")
  TOMType <- rule$names$TOMType
  features_of("gpuTOM", specs, environment(), `list of subjects` = is_subjects(x))
  criterion <- check_criterion(list(threshold = threshold, density = density, k = k), FALSE, required = FALSE)
  how <- check_consensus(x, combine, probs, calibration, calibrationQuantile)
  if (isS4(x) && is(x, "sparseMatrix") && is(x, "symmetricMatrix")) {
    if (!is.null(criterion)) fail("'", criterion$name, "' is for data; of a network all edges' overlaps are returned")
    return(overlap_of_network(x, rule, missing(power) && missing(type), new_place(specs$control)$threads))
  }
  if (!is.null(how)) return(consensus_overlap(x, how, rules, output, specs, method, use, sys.call()))
  check_matrix_like(x, COLUMNS)
  run <- new_run(NULL, specs, x, NULL, method, use, criterion, "absolute", "pairs", call = sys.call(), overlap = rule)
  if (output != "network") return(tom_of_all(run, output))
  rows <- network_rows(run)
  warn_constant(rows, run)
  network <- new_network(rows, run, class = "gpuTOMNetwork")
  network@overlap <- rule$names
  network
}

# ---- one data set

tom_types <- c("signed", "unsigned", "unsigned 2", "signed 2")

# Returns the rule that the engine reads, with the arguments as `names`.
overlap_rule <- function(power, type, tom_type, denominator, replaces_missing) {
  power <- as.numeric(check_that(power, "power", are_finite(power, 1L) && power > 0, "a positive number"))
  list(similarity = constant(type), power = power, keeps_sign = tom_type == "signed" && type == "unsigned",
       is_halved = endsWith(tom_type, "2"),
       is_mean = denominator == "mean", replaces_missing = replaces_missing,
       names = list(power = power, type = type, TOMType = tom_type, TOMDenom = denominator))
}

tom_of_all <- function(run, output) {
  check_run_memory(run, layout_of(NULL, output), "gpuTOM()", "output = \"network\" keeps the largest overlaps only")
  names <- colnames(run$x)
  if (output == "matrix") return(values_of_pairs(run, "square", matrix_attributes(names, names)))
  attributes <- dist_attributes(run)
  attributes$class <- NULL
  values_of_pairs(run, "row", c(attributes, run$overlap$names, list(class = c("gpuTOM", "allPairs", "dist"),
                                                                             adjusted = adjustment_of(run))))
}

# ---- the edges of a sparse network: only neighbors of neighbors are visited

# `is_plain`: TRUE if neither power nor type was given.
overlap_of_network <- function(x, rule, is_plain, threads) {
  check_slots(x, "x")
  if (!is(x, "gpuCorNetwork")) x <- as(as(x, "dMatrix"), "CsparseMatrix")
  if (is(x, "gpuCorNetwork")) {
    unsigned <- abs(x@x)^rule$power
    values <- if (rule$keeps_sign) {
      unsigned * sign(x@x)
    } else {
      switch(rule$names$type, unsigned = unsigned, signed = ((1 + x@x) / 2)^rule$power,
             `signed hybrid` = pmax(x@x, 0)^rule$power)
    }
  } else {
    if (!is_plain) {
      fail("'power' and 'type' are for coefficients, and 'x' is a ", class(x)[1L],
           ", whose entries are adjacencies; leave them out")
    }
    lowest <- if (rule$keeps_sign) -1 else 0
    values <- x@x
    bad <- which(is.na(values) | values > 1 | values < lowest)
    if (length(bad)) {
      fail("adjacencies are numbers from ", lowest, " to 1 with TOMType = \"", rule$names$TOMType, "\"; 'x' has ",
           format(values[bad[1L]]))
    }
  }
  edges <- methods::new("dsCMatrix", Dim = x@Dim, Dimnames = x@Dimnames, uplo = x@uplo, p = x@p, i = x@i,
                        x = as.numeric(values))
  if (edges@uplo == "L") edges <- Matrix::t(edges)
  all <- as(edges, "generalMatrix")
  edges@x <- checked(.Call(r_sparse_overlap, edges@p, edges@i, all@p, all@i, all@x, rule, threads))
  edges
}

# ---- several data sets, combined pair by pair

# Returns these arguments of gpuTOM(), checked, or NULL for one data set.
check_consensus <- function(x, combine, probs, calibration, calibrationQuantile) {
  if (is.function(x)) fail("'x' must be a list of data sets, not a function")
  if (is_subjects(x) && !length(x)) fail("'x' is a list without data sets")
  if (!is.null(combine)) combine <- check_choice(combine, c("min", "mean", "quantile"), "combine")
  features_of("overlaps", NO_SPECS, `list of subjects` = is_subjects(x), combine = combine, probs = probs,
              calibration = if (calibration != "none") calibration) # stops if they do not go together
  if (!is_subjects(x)) return(NULL)
  calibrationQuantile <- check_within(calibrationQuantile, "calibrationQuantile", 0, 1)
  how <- list(combine = combine, calibration = calibration, calibrationQuantile = calibrationQuantile)
  if (combine == "quantile") how$probs <- check_fraction(probs, "probs", zero = TRUE)
  how
}

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
consensus_overlap <- function(x, how, rules, output, specs, method, use, call) {
  rules <- rep_len(rules, length(x))
  runs <- each_subject(length(x), names = paste("data set", seq_along(x)), function(s) {
    check_matrix_like(x[[s]], COLUMNS)
    new_run(NULL, specs, x[[s]], NULL, method, use, takes = "pairs", call = call, overlap = rules[[s]])
  })
  sets <- lapply(runs, `[[`, "x")
  check_same_variables(sets)
  # All overlaps are in memory at once, first with the adjacencies of one data set, then with the result.
  n <- ncol(sets[[1L]])
  bytes <- run_bytes(runs[[1L]], "row")
  square <- if (output == "matrix") 8 * as.numeric(n)^2 else 0
  check_memory(length(sets) * bytes[1L] + max(bytes[2L], bytes[1L] + square), "gpuTOM()",
               paste(n_of(pairs_of(n), "pair"), "and", n_of(length(sets), "data set")),
               "gpuCorNetwork(combine = ) keeps the strongest pairs only")
  overlaps <- each_subject(length(sets), names = paste("data set", seq_along(sets)), function(s) {
    tom_of_all(at_pass(runs[[s]], s, length(sets)), "dist")
  })
  scales <- rep(1, length(sets))
  if (how$calibration != "none") { # the powers that give all overlaps the first one's quantile
    # As WGCNA, which uses these numbers of pairs and seed, every call draws the same sample of pairs.
    probs <- how$calibrationQuantile
    n_pairs <- length(overlaps[[1L]])
    at <- withr::with_seed(54321, .rng_kind = "Mersenne-Twister", .rng_sample_kind = "Rejection", {
      sample.int(n_pairs, min(1000 / min(probs, 1 - probs), n_pairs))
    })
    high <- vapply(overlaps, function(tom) stats::quantile(.subset(tom, at), probs, names = FALSE, type = 8), 0)
    bad <- which(!(high > 0 & high < 1))
    if (length(bad)) {
      fail("calibration = \"single quantile\" takes overlaps between 0 and 1, and quantile ", probs, " of data ",
           "set ", bad[1L], " is ", format(high[bad[1L]]), "; choose another 'calibrationQuantile', or \"none\"")
    }
    scales <- log(high[1L]) / log(high)
  }
  fraction <- if (how$combine == "min") 0 else how$probs
  attributes <- attributes(overlaps[[1L]])
  attributes$n_obs <- sum(vapply(overlaps, attr, 0, "n_obs"))
  powers <- vapply(rules, `[[`, 0, "power")
  attributes$power <- if (all(powers == powers[1L])) powers[1L] else powers
  if (!is.null(attributes$adjusted)) attributes$adjusted[c("lost", "effective")] <- NULL # these belong to one data set
  attributes$combine <- how$combine
  attributes$probs <- how$probs
  attributes$scales <- if (any(scales != 1)) scales
  tom <- checked(.Call(r_combine_overlaps, overlaps, scales, fraction, attributes$Size, attributes,
                       runs[[1L]]$place$threads))
  if (output == "matrix") as.matrix(tom) else tom
}
