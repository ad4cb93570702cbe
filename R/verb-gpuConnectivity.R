#' Connectivity of every column
#'
#' `gpuConnectivity()` computes degree, strength, soft connectivity and centrality of every column from all pairs,
#' without storing a pair: degree maps of voxels, or the connectivity of genes. `x` is a matrix, or a list of subjects'
#' matrices, whose coefficients are combined pair by pair ([subjects]). The result is a list with a number for each
#' column, or a matrix if there are several thresholds or powers; `as.data.frame()` makes a table of it.
#'
#' A `threshold` is the minimum size of a coefficient, of either sign unless `sign` is given; degree counts a column's
#' edges, and strength sums the sizes of their coefficients. The subjects of a list are one group. To compare two groups
#' pair by pair use [gpuCorCompare()]; to compare maps, compute each subject's, `lapply(x, gpuConnectivity, density =
#' 0.1)`, and test the values of each column.
#'
#' Ask for at least one of:
#'
#' * `threshold` or `density`: degree and strength in the network that [gpuCorNetwork()] makes of the same criterion.
#' * `power`: soft connectivity, the sum of the powers of all similarities of a column (WGCNA's `softConnectivity()`).
#' * `histogram`: of all coefficients.
#' * `maps`: centrality measures of each column:
#'   * `"mean"`: the mean of its coefficients.
#'   * `"z"`: the mean of their Fisher's z, each at most 8.
#'   * `"icc"`: the mean of their squares, the intrinsic connectivity contrast (Martuzzi et al. 2011).
#'   * `"eigenvector"`: eigenvector centrality, the largest value being 1, as [igraph::eigen_centrality()]. With a
#'     threshold or density it is that of the weighted network, whose edges are stored. Otherwise it is that of `1 + r`
#'     (Lohmann et al. 2010), for Pearson or Spearman without pairwise deletion.
#'
#' With `y` sums and means are over the columns of `y`, such as regions. Pairs without a coefficient are left out.
#'
#' @inheritParams gpuCorNetwork
#' @param x,y Data as in [gpuCor()]. A single number in the place of `y` is `threshold`.
#' @param threshold,density A number in \[0, 1\], or several: the criterion, as in [gpuCorNetwork()].
#' @param power Up to 32 positive numbers.
#' @param type A string: the similarity that is raised to a power, `"unsigned"`, `"signed"` or `"signed hybrid"`, as in
#'   [pickPower()]. For `plot()`: `"fit"`, the distribution of connectivity with the scale-free fit of [pickPower()];
#'   `"hubs"`, the variables with the highest connectivity; `"histogram"`; `"map"`, at the positions `coords`; or
#'   `"auto"`, all that there are.
#' @param histogram,breaks `TRUE` to count all coefficients by size, and the number of bins, a divisor of 10,000.
#' @param maps `NULL`, or strings: centrality measures, see Details.
#' @param ...,adjustment,subjects,control `r offered_words("gpuConnectivity")`
#'
#' @return A list of class `gpuConnectivity`:
#' \item{degree, strength}{with a threshold: the number of edges of each column, and the sum of their weights; with
#'   several thresholds matrices, column x threshold}
#' \item{soft}{with `power`: a matrix, column x power}
#' \item{mean, z, icc, eigenvector}{with `maps`: a number for each column, `NA` if it has none; for several thresholds
#'   `eigenvector` is a matrix}
#' \item{threshold, edges}{the thresholds and the numbers of edges}
#' \item{histogram}{with `histogram`: an object of class [graphics::hist]}
#' \item{pairs, n_obs, method, sign, type, power}{the number of pairs and of observations, and arguments}
#'
#' Powers, means and the histogram are those of the coefficients that [gpuCor()] returns: within 1e-6, or 1e-13 with
#' `precision = "double"`. [voxelImage()] makes an image of a column.
#'
#' @references
#' Lohmann G et al. (2010). *PLoS ONE* 5, e10232.
#'
#' Martuzzi R et al. (2011). *NeuroImage* 58, 1044-1050.
#'
#' @examples
#' con <- gpuConnectivity(as.matrix(mtcars), threshold = 0.7, power = c(6, 8), histogram = TRUE)
#' con$degree
#' plot(con, "hubs")
#'
#' gpuConnectivity(mtcars[, 1:4], mtcars[, 5:11], maps = "mean")$mean
#' halves <- list(mtcars[1:16, ], mtcars[17:32, ])
#' as.data.frame(gpuConnectivity(halves, threshold = 0.7, combine = "fisher"))
#' @order 1
#' @export
gpuConnectivity <- function(x, y = NULL, threshold = NULL, density = NULL, power = NULL, maps = NULL,
                            method = "pearson", use = "everything", sign = c("absolute", "positive", "negative"),
                            type = c("unsigned", "signed", "signed hybrid"), histogram = FALSE, breaks = 200,
                            pairs = NULL, ..., adjustment = NULL, subjects = NULL, control = NULL) {
  specs <- specs_of("gpuConnectivity", ...)
  check_not_threshold(x, y)
  if (!is.null(power)) check_that(power, "power", are_finite(power) && all(power > 0), "positive numbers")
  if (!is.null(maps)) {
    check_that(maps, "maps", is.character(maps) && all(maps %in% map_names),
               paste("some of", toString(paste0('"', map_names, '"'))))
  }
  wanted <- list(type = check_choice(type, types, "type"), power = as.numeric(power),
                 histogram = check_flag(histogram, "histogram"), maps = intersect(map_names, maps))
  if (is.null(threshold) && is.null(density) && !is_any_pair_wanted(wanted) && !length(wanted$maps)) {
    fail("what is to be summed? give 'threshold', 'density', 'power', 'maps' or histogram = TRUE")
  }
  found <- features_of("gpuConnectivity", specs, environment(), `list of subjects` = is_subjects(x),
                       `maps = "eigenvector"` = "eigenvector" %in% maps)
  breaks <- check_whole(breaks, "breaks", 1, constant("bins"))
  if (constant("bins") %% breaks != 0) {
    fail("'breaks' is ", breaks, "; it must divide ", constant("bins"), ", as 100, 200 or 1000 do")
  }
  max <- c(threshold = constant("max levels"), density = constant("max levels"), power = constant("max powers"))
  given <- lengths(list(threshold = threshold, density = density, power = power))
  many <- names(which(given > max))[1L]
  if (!is.na(many)) {
    fail("'", many, "' has ", given[[many]], " values; ask for at most ", max[[many]],
         if (many == "power") " at a time")
  }
  criterion <- check_criterion(list(threshold = threshold, density = density), required = FALSE)
  check_matrix_like(x, COLUMNS)
  run <- new_run(found, specs, x, y, method, use, criterion, sign, takes = "subjects", pairs = pairs, call = sys.call())
  sums <- connectivity_sums(run, wanted)
  warn_without(sums, run)
  new_connectivity(sums, run, wanted, breaks)
}

# ---- what is wanted

# Returns TRUE if sums include pairs that are no edges. The eigenvector is no sum over pairs.
is_any_pair_wanted <- function(wanted) {
  length(wanted$power) > 0L || wanted$histogram || !all(wanted$maps == "eigenvector")
}

types <- c("unsigned", "signed", "signed hybrid")

# ---- passes

# Returns the sums by threshold or density, and the eigenvector. The pass that finds the thresholds of densities also
# sums the edges if it stores them; the eigenvector needs them.
connectivity_sums <- function(run, wanted) {
  has_eigenvector <- "eigenvector" %in% wanted$maps
  sums <- NULL
  if (identical(run$criterion$name, "density")) {
    first <- at_pass(run, 1, 2, "threshold of the density")
    second <- at_pass(run, 2, 2, "sums")
    has_few_edges <- edges_of_density(max(run$criterion$value), run$pairs) <= MAX_STORED
    if (!is.null(run$y) || !(has_few_edges || has_eigenvector)) {
      sums <- connectivity_passes(second, density_thresholds(first), wanted)
    } else {
      is_any <- is_any_pair_wanted(wanted)
      run_of_edges <- with_criterion(if (is_any) first else run, stays = if (has_eigenvector) "rows" else "counted")
      edges <- density_edges(run_of_edges)
      levels <- density_levels(edges, run$criterion$value, run_of_edges)
      by_level <- lapply(levels, function(level) ask_store(edges, run_of_edges, "degrees", level))
      sums <- list(degree = vapply(by_level, `[[`, numeric(ncol(run$x)), "degree"),
                   strength = vapply(by_level, `[[`, numeric(ncol(run$x)), "strength"), threshold = levels)
      if (has_eigenvector) {
        sums$eigenvector <- eigenvectors_of_rows(take_rows(edges, run_of_edges), levels, run_of_edges)
      } else {
        store_free(edges) # take_rows() frees it
      }
      sums <- c(sums, edges[c("n_obs", "x_flags", "y_flags")])
      if (is_any) sums <- with_edges(connectivity_pass(second, NULL, wanted), sums)
    }
  } else if (!is.null(run$criterion$name) || is_any_pair_wanted(wanted)) {
    sums <- connectivity_passes(run, run$criterion$value, wanted)
  }
  if (!has_eigenvector || !is.null(sums$eigenvector)) return(sums)
  if (is.null(run$criterion$name)) { # of the matrix r + 1 of all pairs; NA for columns without coefficients
    doing(run$place, "eigenvector")
    found <- perform(run, "centrality")
    warn_unconverged(found)
    if (is.null(sums)) sums <- found[c("n_obs", "x_flags", "y_flags")]
    sums$eigenvector <- found$eigenvector
    return(sums)
  }
  min_weight <- min(sums$threshold)
  run <- with_criterion(run, stays = "rows")
  rows <- take_rows(kept_edges(edge_pass(run, min_weight), min_weight), run)
  sums$eigenvector <- eigenvectors_of_rows(rows, sums$threshold, run)
  sums
}

# Edges are found by screening, but sums over all pairs need every coefficient, so each is a separate pass.
# `thresholds`: NULL for no edges; `wanted`: list(type, power, histogram, maps).
connectivity_passes <- function(run, thresholds, wanted) {
  if (is.null(thresholds) || !is_any_pair_wanted(wanted)) return(connectivity_pass(run, thresholds, wanted))
  edges <- connectivity_pass(at_pass(run, 1, 2, "edges"), thresholds, c(wanted["type"], NOTHING_SUMMED[-1L]))
  sums <- connectivity_pass(at_pass(run, 2, 2, "sums"), NULL, wanted)
  with_edges(sums, edges)
}

# The sums of a network alone.
NOTHING_SUMMED <- list(type = types[1L], power = numeric(), histogram = FALSE, maps = character())

# Adds the sums over edges to those over all pairs.
with_edges <- function(sums, edges) {
  of_edges <- intersect(c("degree", "strength", "threshold", "eigenvector"), names(edges))
  sums[of_edges] <- edges[of_edges]
  sums
}

# One pass that sums over edges or over all pairs.
connectivity_pass <- function(run, min_weight, wanted) {
  ascending <- order(wanted$power)
  levels <- sort(unique(min_weight))
  maps <- setdiff(wanted$maps, "eigenvector")
  rule <- list(side = constant(run$criterion$sign), min_weight = if (is.null(min_weight)) 2 else levels[1L],
               similarity = constant(wanted$type), steps = even_steps(diff(c(0, wanted$power[ascending]))),
               histogram = wanted$histogram, levels = as.numeric(levels), maps = sum(vapply(maps, constant, 0)))
  sums <- perform(run, "connectivity", rule)
  sums$soft[, ascending] <- sums$soft
  for (name in c("degree", "strength")) sums[[name]] <- sums[[name]][, match(min_weight, levels), drop = FALSE]
  sums$threshold <- min_weight
  of_x <- seq_len(ncol(run$x)) # y's columns follow
  for (m in seq_along(maps)) { # the means: the first column has the numbers of coefficients, the others the sums
    count <- sums$maps[of_x, 1L]
    unit <- if (maps[m] == "z") constant("max z") else 1
    sums[[maps[m]]] <- unit * sums$maps[of_x, m + 1L] / replace(count, count == 0, NA)
  }
  sums
}

# Replaces steps that are equal except for rounding, such as those of seq(0.1, 3, 0.1), by their mean, so that the
# engine raises to each step once. The resulting powers differ from the requested ones by rounding errors only.
even_steps <- function(steps) {
  rounding <- 4 * .Machine$double.eps * sum(steps)
  run <- cumsum(c(TRUE, abs(diff(steps)) > rounding)[seq_along(steps)])
  stats::ave(steps, run)
}

# ---- eigenvectors

# Eigenvector centrality: the leading eigenvector of a nonnegative matrix, which is only multiplied by vectors. For all
# pairs the matrix is r + 1, which is a product of columns (src/stats/centrality.c); for a network it has the edges'
# weights.

# Warns if the iteration has not converged; `found`: list(eigenvector, error).
warn_unconverged <- function(found) {
  if (found$error <= 1e-6) return(invisible())
  warning("eigenvector centrality has not converged: its error is ", format(found$error, digits = 2), call. = FALSE)
}

# Centrality in the network of each threshold, one column per threshold. rows: compressed rows of the network of the
# lowest threshold.
eigenvectors_of_rows <- function(rows, levels, run) {
  doing(run$place, "eigenvector")
  vapply(levels, FUN.VALUE = numeric(ncol(run$x)), function(level) {
    own <- stronger_rows(rows, level, run)
    found <- checked(.Call(r_network_centrality, own$p, own$i, own$x, run$place))
    warn_unconverged(found)
    found$eigenvector
  })
}
