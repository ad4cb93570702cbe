#' Connectivity of every column
#'
#' Sums over all pairs that a column is in, without storing all of them: degree-centrality
#' maps of voxels, the connectivity that a soft threshold gives genes. If asked for, the
#' histogram of all coefficients.
#'
#' @inheritParams gpuCorNetwork
#' @param threshold A number in \[0, 1\]: count the pairs whose weight (`|r|`, `r` or
#'   `-r`, as `sign` says) is at least this.
#' @param density In the place of `threshold`: a number in (0, 1\], the share of all
#'   pairs to count, as in [gpuCorNetwork()]. Up to 2^25 edges are stored meanwhile, 12 bytes each; for more, two
#'   passes over all pairs find the threshold.
#' @param power Up to 32 positive numbers; may be given with or without a threshold.
#' @param type What is raised to a power: `"unsigned"`: `|r|`; `"signed"`: `(1 + r) / 2`;
#'   `"signed hybrid"`: `max(r, 0)`.
#' @param histogram Whether the coefficients of all pairs are counted by size, too. Without it, and without
#'   `power`, the pairs that are no edges cost no more than in [gpuCorNetwork()].
#' @param breaks With `histogram`: the number of its bins, one of those by which 10,000 can be divided.
#'
#' @return A list of class `gpuConnectivity`:
#' \item{degree}{with a threshold: for each column, how many others it has an edge with}
#' \item{strength}{with a threshold: the sum of the weights of these edges}
#' \item{soft}{with `power`: matrix, column x power, of `sum(similarity^power)` over all others}
#' \item{threshold, edges}{the threshold and the number of edges}
#' \item{histogram}{with `histogram`: of all coefficients, an object of class [graphics::hist], to be plotted}
#' \item{pairs, n_obs, method, sign, type, power}{}
#' `as.data.frame()` gives `degree`, `strength` and the powers as columns.
#'
#' Pairs without a coefficient (see [gpuCor()]) count nowhere. `degree`, `edges` and `strength` are those of the
#' edges of [gpuCorNetwork()], the sums of powers are of coefficients within 1e-6, or 1e-13 with `precision = "double"`.
#'
#' @section Errors: as [gpuCorNetwork()]. None of `threshold`, `density`, `power` and `histogram`.
#' @references
#' Zhang B, Horvath S (2005). A general framework for weighted gene co-expression
#' network analysis. *Statistical Applications in Genetics and Molecular Biology* 4, 17.
#' @seealso [pickPower()], [voxelImage()]
#' @examples
#' con <- gpuConnectivity(as.matrix(mtcars), threshold = 0.7, power = c(6, 8), histogram = TRUE)
#' con
#' con$degree
#' con$soft
#' plot(con$histogram)
#' @export
gpuConnectivity <- function(x, threshold = NULL, density = NULL, power = NULL,
                            sign = c("absolute", "positive", "negative"),
                            type = c("unsigned", "signed", "signed hybrid"), use = "everything",
                            method = c("pearson", "kendall", "spearman", "bicor", "cosine"), histogram = FALSE,
                            breaks = 200, backend = NULL, ..., precision = c("single", "double")) {
  if (!is.null(threshold) && !is.null(density)) fail("give only one of 'threshold' and 'density'")
  type <- check_choice(type, types, "type")
  power <- check_powers(power)
  histogram <- check_flag(histogram, "histogram")
  if (is.null(threshold) && is.null(density) && !length(power) && !histogram) {
    fail("what is to be summed? give 'threshold', 'density', 'power' or histogram = TRUE")
  }
  breaks <- check_breaks(breaks)
  criterion <- if (!is.null(threshold)) check_criterion(list(threshold = threshold))
  if (!is.null(density)) criterion <- check_criterion(list(density = density))
  check_matrix_like(x, COLUMNS)
  task <- network_task(x, NULL, criterion, sign, use, method, backend, ..., precision = precision)
  wanted <- list(type = type, power = power, histogram = histogram)
  sums <- if (is.null(density)) connectivity_pass(task, criterion$value, wanted) else density_sums(task, wanted)
  warn_constant(sums, colnames(task$x), NULL)
  new_connectivity(sums, task, wanted, breaks)
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

# One pass over all pairs. least: NULL for no edges; wanted: list(type, power, histogram).
connectivity_pass <- function(task, least, wanted, settings = task$settings) {
  ascending <- order(wanted$power)
  rule <- list(side = constant(task$sign), least = if (is.null(least)) 2 else least,
               similarity = constant(wanted$type), steps = even_steps(diff(c(0, wanted$power[ascending]))),
               histogram = wanted$histogram)
  sums <- checked(engine_pass("r_connectivity", task, list(rule), settings))
  sums$soft[, ascending] <- sums$soft
  sums$threshold <- least
  sums
}

# Steps that are equal but for rounding, as those of seq(0.1, 3, 0.1) are, become equal, and the engine raises to them
# once. Their mean: the powers that they lead to differ from those asked for by roundings of these.
even_steps <- function(steps) {
  rounding <- 4 * .Machine$double.eps * sum(steps)
  run <- cumsum(c(TRUE, abs(diff(steps)) > rounding)[seq_along(steps)])
  stats::ave(steps, run)
}

# By density: from the edges of the one pass that finds the threshold, if they are few and all that is wanted.
density_sums <- function(task, wanted) {
  few <- edges_of_density(task$criterion$value, task$pairs) <= MOST_STORED
  if (few && !length(wanted$power) && !wanted$histogram) return(edge_sums(density_edges(task), task))
  settings <- task$settings
  task$settings <- at_pass(settings, 1, 2)
  connectivity_pass(task, density_threshold(task), wanted, at_pass(settings, 2, 2))
}

edge_sums <- function(edges, task) {
  sums <- store_degrees(edges, edges$least, task)
  store_free(edges)
  c(sums, edges[c("n_obs", "x_flags", "y_flags")], threshold = edges$least)
}

new_connectivity <- function(sums, task, wanted, breaks) {
  labels <- colnames(task$x)
  named <- function(values) if (is.null(labels)) values else stats::setNames(values, labels)
  result <- list()
  if (!is.null(sums$threshold)) {
    result <- list(degree = named(sums$degree), strength = named(sums$strength), threshold = sums$threshold,
                   edges = sum(sums$degree) / 2)
  }
  if (length(wanted$power)) {
    dimnames(sums$soft) <- list(labels, paste0("power", wanted$power))
    result$soft <- sums$soft
  }
  if (wanted$histogram) result$histogram <- histogram_object(sums$counts, breaks, task$method)
  structure(c(result, list(pairs = task$pairs, n_obs = sums$n_obs, method = task$method, sign = task$sign,
                           type = wanted$type, power = wanted$power)), class = "gpuConnectivity")
}

# As hist() makes it, but for bins closed to the left.
histogram_object <- function(counts, breaks, method) {
  counts <- colSums(matrix(counts, ncol = breaks))
  edges <- seq(-1, 1, length.out = breaks + 1)
  total <- sum(counts)
  structure(list(breaks = edges, counts = counts, density = if (total > 0) counts / total * breaks / 2 else counts,
                 mids = edges[-1] - 1 / breaks, xname = method_title(method), equidist = TRUE),
            class = "histogram")
}

#' @export
as.data.frame.gpuConnectivity <- function(x, row.names = NULL, optional = FALSE, ...) {
  powers <- lapply(seq_along(x$power), function(p) unname(x$soft[, p]))
  columns <- c(list(degree = unname(x$degree), strength = unname(x$strength)),
               stats::setNames(powers, colnames(x$soft)))
  names <- if (is.null(x$soft)) names(x$degree) else rownames(x$soft)
  if (anyDuplicated(names) || anyNA(names)) names <- NULL # columns may be called so, rows may not
  as.data.frame(Filter(Negate(is.null), columns), row.names = if (is.null(row.names)) names else row.names,
                optional = TRUE)
}

#' @method print gpuConnectivity
#' @export
print.gpuConnectivity <- function(x, digits = 4L, ...) {
  frame <- as.data.frame(x)
  cat("Connectivity of ", format_count(nrow(frame)), " variables by ", method_title(x$method), ": ",
      format_count(x$pairs), " pairs, ", format_count(x$n_obs), " observations\n", sep = "")
  if (!is.null(x$degree)) {
    cat(format_count(x$edges), " edges, ", weight_names[[x$sign]], " >= ", format(x$threshold, digits = 6), "\n",
        sep = "")
  }
  if (length(x$power)) cat("powers of the ", x$type, " similarity\n", sep = "")
  if (nrow(frame)) print(vapply(frame, stats::quantile, numeric(5L)), digits = digits)
  invisible(x)
}
