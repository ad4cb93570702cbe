#' Connectivity of every column
#'
#' Sums over all pairs that a column is in, without storing all of them: degree-centrality
#' maps of voxels, the connectivity that a soft threshold gives genes. If asked for, the
#' histogram of all coefficients.
#'
#' Maps: each is a number for each column, from one pass in which no pair is stored.
#'
#' * `"mean"`: the mean of its coefficients.
#' * `"z"`: the mean of their Fisher's z, `atanh(r)`; a coefficient beyond 0.9999997 has a z of 8. Its `tanh()` is the
#'   mean correlation that AFNI's `3dTcorrMap -Zmean` has.
#' * `"icc"`: the mean of their squares, the intrinsic connectivity contrast (Martuzzi et al. 2011).
#' * `"eigenvector"`: eigenvector centrality, the largest being 1, as [igraph::eigen_centrality()] has it. Without a
#'   threshold or density it is that of `r + 1` (Lohmann et al. 2010), whose products with vectors need no coefficient
#'   (Wink et al. 2012) but those of columns: it takes Pearson's or Spearman's, and the same observations for all pairs.
#'   With a threshold or density it is that of the network with its weights, whose edges are in memory meanwhile.
#'   It is computed on the processor.
#'
#' With `y` all sums and means of a column of `x` are over the columns of `y`, such as the mean series of regions.
#'
#' @inheritParams gpuCorNetwork
#' @param y `NULL`, or a second matrix or data frame with as many rows. A single number in its place is `threshold`.
#' @param threshold A number in \[0, 1\], or several: count the pairs whose weight (`|r|`, `r` or
#'   `-r`, as `sign` says) is at least this.
#' @param density In the place of `threshold`: a number in (0, 1\], or several, the share of all
#'   pairs to count, as in [gpuCorNetwork()]. Up to 2^25 edges are stored meanwhile, 12 bytes each; for more, two
#'   passes over all pairs find the threshold.
#' @param power Up to 32 positive numbers; may be given with or without a threshold.
#' @param type What is raised to a power: `"unsigned"`: `|r|`; `"signed"`: `(1 + r) / 2`;
#'   `"signed hybrid"`: `max(r, 0)`. Of `plot()`: `"fit"`, the share of variables with a connectivity against it, both
#'   logarithmic, in ten bins with the line of [pickPower()] and its R^2; `"hubs"`, the variables of the highest
#'   connectivity, or with `coords` a map of all in space; `"histogram"`, of all coefficients, if they have been
#'   counted. `"auto"`: all of them, but with `coords` the map, the names of the highest and the histogram.
#' @param histogram Whether the coefficients of all pairs are counted by size, too. Without it, and without
#'   `power` and `maps`, the pairs that are no edges cost no more than in [gpuCorNetwork()].
#' @param breaks With `histogram`: the number of its bins, one of those by which 10,000 can be divided.
#' @param maps `NULL`, or which maps, see Details.
#'
#' @return A list of class `gpuConnectivity`:
#' \item{degree}{with a threshold: for each column, how many others it has an edge with; with several a matrix,
#'   column x threshold}
#' \item{strength}{with a threshold: the sum of the weights of these edges, in the same shape}
#' \item{soft}{with `power`: matrix, column x power, of `sum(similarity^power)` over all others}
#' \item{mean, z, icc, eigenvector}{with `maps`: for each column; `NA` for one without coefficients. Of several
#'   thresholds `eigenvector` is a matrix}
#' \item{threshold, edges}{the thresholds and the numbers of edges}
#' \item{histogram}{with `histogram`: of all coefficients, an object of class [graphics::hist], to be plotted}
#' \item{pairs, n_obs, method, sign, type, power}{}
#' `as.data.frame()` gives `degree`, `strength`, the powers and the maps as columns.
#'
#' Pairs without a coefficient (see [gpuCor()]) count nowhere. `degree`, `edges` and `strength` are those of the
#' edges of [gpuCorNetwork()]. The sums of powers, the means and the histogram are of the coefficients that [gpuCor()]
#' returns: within 1e-6, or 1e-13 with `precision = "double"`.
#'
#' @section Errors: as [gpuCorNetwork()]. None of `threshold`, `density`, `power`, `maps` and `histogram`.
#' @references
#' Zhang B, Horvath S (2005). A general framework for weighted gene co-expression
#' network analysis. *Statistical Applications in Genetics and Molecular Biology* 4, 17.
#'
#' Martuzzi R et al. (2011). A whole-brain voxel based measure of intrinsic connectivity contrast reveals local changes
#' in tissue connectivity with anesthetic without a priori assumptions on thresholds or regions of interest.
#' *NeuroImage* 58, 1044-1050.
#'
#' Lohmann G et al. (2010). Eigenvector centrality mapping for analyzing connectivity patterns in fMRI data of the human
#' brain. *PLoS ONE* 5, e10232.
#'
#' Wink AM et al. (2012). Fast eigenvector centrality mapping of voxel-wise connectivity in functional magnetic
#' resonance imaging. *Brain Connectivity* 2, 265-274.
#' @seealso [pickPower()], [voxelImage()]
#' @examples
#' con <- gpuConnectivity(as.matrix(mtcars), threshold = 0.7, power = c(6, 8), histogram = TRUE)
#' con
#' con$degree
#' con$soft
#' plot(con$histogram)
#' plot(con, "hubs")
#'
#' maps <- gpuConnectivity(mtcars, threshold = c(0.5, 0.7), maps = c("mean", "z", "icc"))
#' as.data.frame(maps)
#' gpuConnectivity(mtcars, maps = "eigenvector")$eigenvector
#' gpuConnectivity(mtcars[, 1:4], mtcars[, 5:11], maps = "mean")$mean
#' @order 1
#' @export
gpuConnectivity <- function(x, y = NULL, threshold = NULL, density = NULL, power = NULL,
                            maps = NULL, method = c("pearson", "kendall", "spearman", "bicor", "cosine"),
                            use = "everything", sign = c("absolute", "positive", "negative"),
                            type = c("unsigned", "signed", "signed hybrid"), histogram = FALSE, breaks = 200,
                            pairs = NULL, precision = c("single", "double"), weights = NULL, weights_are = NULL,
                            covariates = NULL, data = NULL, bandpass = NULL, tr = NULL, df = NULL, options = NULL,
                            assay = NULL, combine = NULL, subjects = NULL, subject_weights = NULL, probs = NULL,
                            na.rm = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  check_not_threshold(x, y)
  if (!is.null(threshold) && !is.null(density)) fail("give only one of 'threshold' and 'density'")
  wanted <- list(type = check_choice(type, types, "type"), power = check_powers(power),
                 histogram = check_flag(histogram, "histogram"), maps = check_maps(maps))
  if (is.null(threshold) && is.null(density) && !is_any_pair_wanted(wanted) && !length(wanted$maps)) {
    fail("what is to be summed? give 'threshold', 'density', 'power', 'maps' or histogram = TRUE")
  }
  breaks <- check_breaks(breaks)
  criterion <- check_levels(threshold, density)
  check_matrix_like(x, COLUMNS)
  settings <- new_settings(control, mget(ADJUSTMENT), precision, mget(setdiff(COMBINATION, "effects")), pairs, assay)
  task <- network_task(x, y, criterion, sign, use, method, settings)
  check_eigenvector(task, wanted)
  sums <- connectivity_sums(task, wanted)
  warn_constant(sums, colnames(task$x), colnames(task$y))
  warn_without(sums, task)
  new_connectivity(sums, task, wanted, breaks)
}

# ---- what is wanted

check_maps <- function(maps) {
  wrong <- if (is.character(maps)) !all(maps %in% map_names) else !is.null(maps)
  if (wrong) fail("'maps' must be some of ", paste0('"', map_names, '"', collapse = ", "), ", not ", show_value(maps))
  intersect(map_names, maps)
}

# Maps that are sums, as the eigenvector is none.
summed_maps <- function(wanted) setdiff(wanted$maps, "eigenvector")

# Whether pairs count that are no edges.
is_any_pair_wanted <- function(wanted) {
  length(wanted$power) > 0L || wanted$histogram || length(summed_maps(wanted)) > 0L
}

check_levels <- function(threshold, density) {
  given <- Filter(Negate(is.null), list(threshold = threshold, density = density))
  if (!length(given)) return(NULL)
  most <- constant("most levels")
  if (length(given[[1L]]) > most) {
    fail("'", names(given), "' has ", length(given[[1L]]), " values; ask for at most ", most)
  }
  check_criterion(given)
}

check_eigenvector <- function(task, wanted) {
  if (!"eigenvector" %in% wanted$maps) return(invisible())
  if (!is.null(task$y)) fail("maps = \"eigenvector\" is of the columns of 'x' with one another; leave out 'y'")
  refuse_plan(task$settings, "maps = \"eigenvector\"")
  if (is_combined(task$x) && is.null(task$criterion)) {
    fail("maps = \"eigenvector\" is of one subject; of several give a threshold or a density, and it is the network's")
  }
  if (is.null(task$criterion) && !is.null(task$settings$pairs)) {
    fail("maps = \"eigenvector\" is of all pairs; with 'pairs' give a threshold or a density, and it is the network's")
  }
}

types <- c("unsigned", "signed", "signed hybrid")

check_powers <- function(power) {
  if (is.null(power)) return(numeric())
  ok <- is.numeric(power) && length(power) > 0L && all(is.finite(power)) && all(power > 0)
  if (!ok) fail("'power' must be positive numbers, not ", show_value(power))
  if (length(power) > constant("most powers")) {
    fail("'power' has ", length(power), " values; ask for at most ", constant("most powers"), " at a time")
  }
  as.numeric(power)
}

check_breaks <- function(breaks) {
  bins <- constant("bins")
  breaks <- check_whole(breaks, "breaks", 1, bins)
  if (bins %% breaks != 0) fail("'breaks' is ", breaks, "; it must divide ", bins, ", as 100, 200 or 1000 do")
  breaks
}

# ---- passes

# Everything that is wanted: sums by threshold or density, and the eigenvector beside them.
connectivity_sums <- function(task, wanted) {
  is_density <- identical(task$criterion$name, "density")
  sums <- if (is_density) {
    density_sums(task, wanted)
  } else if (!is.null(task$criterion) || is_any_pair_wanted(wanted)) {
    connectivity_passes(task, task$criterion$value, wanted)
  }
  if (!"eigenvector" %in% wanted$maps) return(sums)
  if (is.null(sums)) return(eigenvector_of_all(task))
  sums$eigenvector <- if (is.null(task$criterion)) {
    eigenvector_of_all(task)$eigenvector
  } else {
    eigenvectors_of_networks(task, sums$threshold)
  }
  sums
}

# Edges are found by screening, and sums over all pairs take every coefficient, so each is a pass of its own.
# thresholds: NULL for no edges; wanted: list(type, power, histogram, maps).
connectivity_passes <- function(task, thresholds, wanted, settings = task$settings) {
  if (is.null(thresholds) || !is_any_pair_wanted(wanted)) {
    return(connectivity_pass(task, thresholds, wanted, settings))
  }
  edges <- connectivity_pass(task, thresholds, without_pairs(wanted), at_pass(settings, 1, 2, "edges"))
  sums <- connectivity_pass(task, NULL, wanted, at_pass(settings, 2, 2, "sums"))
  with_edges(sums, edges)
}

without_pairs <- function(wanted) replace(wanted, c("power", "histogram", "maps"), list(numeric(), FALSE, character()))

# The sums over all pairs, and those over edges beside them.
with_edges <- function(sums, edges) {
  of_edges <- c("degree", "strength", "threshold")
  sums[of_edges] <- edges[of_edges]
  sums
}

# One pass over all pairs: sums over edges, or over all pairs.
connectivity_pass <- function(task, least, wanted, settings = task$settings) {
  ascending <- order(wanted$power)
  levels <- sort(unique(least))
  maps <- summed_maps(wanted)
  rule <- list(side = constant(task$sign), least = if (is.null(least)) 2 else levels[1L],
               similarity = constant(wanted$type), steps = even_steps(diff(c(0, wanted$power[ascending]))),
               histogram = wanted$histogram, levels = as.numeric(levels), maps = sum(vapply(maps, constant, 0)))
  sums <- checked(engine_pass("r_connectivity", task, list(rule), settings))
  sums$soft[, ascending] <- sums$soft
  for (name in c("degree", "strength")) sums[[name]] <- sums[[name]][, match(least, levels), drop = FALSE]
  sums$threshold <- least
  sums[maps] <- mean_maps(sums$maps, maps)
  sums
}

# Means of what was summed: how many coefficients there are, and each map's sums.
mean_maps <- function(sums, maps) {
  if (!length(maps)) return(list())
  unit <- c(mean = 1, z = constant("most z"), icc = 1)
  count <- sums[, 1L]
  count[count == 0] <- NA_real_
  lapply(stats::setNames(seq_along(maps), maps), function(m) unit[[maps[m]]] * sums[, m + 1L] / count)
}

# Steps that are equal but for rounding, as those of seq(0.1, 3, 0.1) are, become equal, and the engine raises to them
# once. Their mean: the powers that they lead to differ from those asked for by roundings of these.
even_steps <- function(steps) {
  rounding <- 4 * .Machine$double.eps * sum(steps)
  run <- cumsum(c(TRUE, abs(diff(steps)) > rounding)[seq_along(steps)])
  stats::ave(steps, run)
}

# By density: the edges of the pass that finds the thresholds are summed where they are kept.
density_sums <- function(task, wanted) {
  settings <- task$settings
  keeps_edges <- are_few(task) && is.null(task$y)
  if (keeps_edges && !is_any_pair_wanted(wanted)) return(edge_sums(task))
  task$settings <- at_pass(settings, 1, 2, "threshold of the density")
  second <- at_pass(settings, 2, 2, "sums")
  if (!keeps_edges) return(connectivity_passes(task, density_thresholds(task), wanted, second))
  edges <- edge_sums(task)
  with_edges(connectivity_pass(task, NULL, wanted, second), edges)
}

edge_sums <- function(task) {
  task$stays <- "counted"
  edges <- density_edges(loosest_density(task))
  levels <- density_levels(edges, task$criterion$value, task)
  by_level <- lapply(levels, function(level) store_degrees(edges, level, task))
  store_free(edges)
  c(list(degree = vapply(by_level, `[[`, numeric(ncol(task$x)), "degree"),
         strength = vapply(by_level, `[[`, numeric(ncol(task$x)), "strength"), threshold = levels),
    edges[c("n_obs", "x_flags", "y_flags")])
}

