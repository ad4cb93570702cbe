# Class gpuConnectivity: sums over each variable's pairs.

new_connectivity <- function(sums, run, wanted, breaks) {
  labels <- colnames(run$x)
  values <- run$criterion$value
  named <- function(values) if (is.null(labels)) values else stats::setNames(values, labels)
  by_level <- function(m) {
    if (length(values) <= 1L) return(named(as.vector(m)))
    structure(m, dim = c(ncol(run$x), length(values)),
              dimnames = list(labels, vapply(values, format, "", digits = 15)))
  }
  result <- list()
  if (!is.null(sums$threshold)) {
    degree <- by_level(sums$degree)
    result <- list(degree = degree, strength = by_level(sums$strength), threshold = threshold_of(sums$threshold),
                   edges = unname(colSums(as.matrix(degree))) / if (is.null(run$y)) 2 else 1)
  }
  if (length(wanted$power)) {
    dimnames(sums$soft) <- list(labels, paste0("power", wanted$power))
    result$soft <- sums$soft
  }
  for (map in setdiff(wanted$maps, "eigenvector")) result[[map]] <- named(sums[[map]])
  if ("eigenvector" %in% wanted$maps) result$eigenvector <- by_level(sums$eigenvector)
  if (wanted$histogram) { # as hist() makes one, but with bins closed on the left
    counts <- colSums(matrix(sums$counts, ncol = breaks))
    edges <- seq(-1, 1, length.out = breaks + 1)
    density <- if (sum(counts) > 0) counts / sum(counts) * breaks / 2 else counts
    result$histogram <- structure(list(breaks = edges, counts = counts, density = density,
                                       mids = edges[-1] - 1 / breaks, xname = method_title(run$method),
                                       equidist = TRUE), class = "histogram")
  }
  structure(c(result, list(pairs = run$pairs, n_obs = sums$n_obs, method = run$method, sign = run$criterion$sign,
                           type = wanted$type, power = wanted$power)), class = c("gpuConnectivity", "gpuCorResult"),
            adjusted = adjustment_of(run), call = run$call)
}

#' @rdname gpuConnectivity
#' @usage NULL
#' @export
as.data.frame.gpuConnectivity <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (!length(sums_of(x))) return(list2DF(unclass(x$histogram)[c("mids", "counts")]))
  variable_frame(rownames(as.matrix(sums_of(x)[[1L]])), measures_of(x), row.names)
}

# Returns a data frame with a column for each measure, threshold or power.
measures_of <- function(x) {
  sums <- sums_of(x)
  columns <- lapply(names(sums), function(name) {
    values <- as.matrix(sums[[name]])
    columns <- lapply(seq_len(ncol(values)), function(k) unname(values[, k]))
    stats::setNames(columns, paste0(if (name != "soft") name, colnames(values)))
  })
  list2DF(unlist(columns, recursive = FALSE))
}

# Returns the sums of each variable: vectors, or matrices with a column for each threshold or power. The list is empty
# if only the histogram was computed.
sums_of <- function(x) Filter(Negate(is.null), x[c("degree", "strength", "soft", map_names)])

# Returns the column that plots and summaries show: `measure`, or the first power, else the degree, else the first map.
shown_measure <- function(measure, frame) {
  if (!is.null(measure)) return(check_choice(measure, names(frame), "measure"))
  names(frame)[c(grep("^power", names(frame)), grep("^degree", names(frame)), 1L)[1L]]
}

# ---- printing

describe_connectivity <- function(x) {
  sums <- sums_of(x)
  bound <- ifelse(is.na(x$threshold), "", paste0(", ", weight_names[x$sign], " >= ", format(x$threshold, digits = 6)))
  edges <- vapply(x$edges, n_of, "", "edge")
  what <- if (length(sums)) paste("Connectivity of", n_of(NROW(sums[[1L]]), column_word(x$method))) else "Coefficients"
  paste0(what, " by ", method_words(x$method), ": ", n_of(x$pairs, "pair"),
         ", ", n_of(max(x$n_obs, 0), "observation"), "\n",
         adjusted_line(attr(x, "adjusted"), x$method, max(x$n_obs, 0)),
         paste0(edges, bound, "\n", collapse = "", recycle0 = TRUE),
         if (length(x$power)) paste0("powers of the ", x$type, " similarity\n"),
         if (!is.null(x$histogram)) {
           paste0("$histogram of the coefficients: ", n_of(length(x$histogram$counts), "bin"), "\n")
         })
}

#' @method print gpuConnectivity
#' @export
print.gpuConnectivity <- function(x, digits = 4L, ...) {
  cat(describe_connectivity(x))
  if (length(sums_of(x))) print(vapply(measures_of(x), stats::quantile, numeric(5L), na.rm = TRUE), digits = digits)
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuConnectivity
#' @export
summary.gpuConnectivity <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  if (!length(sums_of(object))) return(new_summary(list(), describe_connectivity(object), object))
  frame <- measures_of(object)
  first <- shown_measure(NULL, frame)
  hubs <- as.data.frame(object)[utils::head(order(-frame[[first]], na.last = NA), n), c("variable", first)]
  row.names(hubs) <- NULL
  fit <- lapply(stats::setNames(nm = colnames(object$soft)), function(name) {
    if (!can_fit(frame[[name]])) return(c(r_squared = NA_real_, slope = NA_real_))
    unlist(scale_free_points(frame[[name]])[c("r_squared", "slope")])
  })
  quantiles <- vapply(frame, stats::quantile, numeric(5L), na.rm = TRUE)
  new_summary(list(quantiles = quantiles, fit = do.call(rbind, fit), hubs = hubs),
              describe_connectivity(object), object)
}

# ---- plots

#' @rdname gpuConnectivity
#' @param measure,hubs For `plot()`: a column of `as.data.frame()`, or `NULL` for the first power's connectivity, else
#'   the degree, else the first map; and how many hubs to show.
#' @param coords For `plot()`: `NULL`, or a numeric matrix of 2 or 3 columns with the position of each variable, such as
#'   [voxelCoords()] returns, to draw a map. Positions on a grid are voxels: the map shows three slices through the
#'   voxel with the highest value. Other positions, such as centers of parcels (`attr(x, "centers")` of
#'   [parcelMeans()]), are dots, seen from three sides. Columns named `x`, `y` and `z`, or without names, are
#'   millimeters (RAS). If they may be places in MNI space, the outline of that brain is drawn. Rows with `NA` are left
#'   out.
#' @export
plot.gpuConnectivity <- function(x, type = c("auto", "map", "fit", "hubs", "histogram"), measure = NULL,
                                 coords = NULL, hubs = 20, ...) {
  type <- check_choice(type, c("auto", "map", "fit", "hubs", "histogram"), "type")
  draw_counts <- function(...) {
    counted <- x$histogram
    if (is.null(counted)) {
      fail("type = \"histogram\": 'x' has none; gpuConnectivity(histogram = TRUE) counts coefficients")
    }
    draw_bars(counted$breaks, counted$counts, "pairs", list(xlab = counted$xname, main = "Coefficients"), ...)
    graphics::abline(v = 0, lty = 3L)
  }
  if (!length(sums_of(x))) {
    if (type %in% c("map", "fit", "hubs")) {
      fail("type = \"", type, "\": 'x' has no sums of variables' pairs, only a histogram, which plot(x) draws; ",
           "gpuConnectivity(power = ), or threshold =, density =, sums")
    }
    draw_page(list(draw_counts), ...)
    return(invisible(x))
  }
  frame <- measures_of(x)
  if (!nrow(frame)) fail("there is no variable to plot: 'x' has no columns")
  name <- shown_measure(measure, frame)
  hubs <- check_whole(hubs, "hubs", 1, 200)
  values <- stats::setNames(frame[[name]], rownames(as.matrix(sums_of(x)[[1L]])))
  map <- map_panel(values, name, "Map of hubs", coords, type, names(values))
  if (type == "auto" && !is.null(map)) hubs <- if (is.null(names(values))) 0 else min(hubs, 10)
  panels <- list( # beside a map there is no fit, as voxels and regions are no scale-free network
    map = map,
    fit = if (type == "fit" || is.null(map) && can_fit(values)) function(...) draw_fit(values, name, ...),
    hubs = if (hubs > 0) function(...) draw_hubs(values, name, hubs, ...),
    histogram = if (type == "histogram" || !is.null(x$histogram)) draw_counts
  )
  draw_below(panels, type, !is.null(map), ...)
  invisible(x)
}

draw_fit <- function(values, name, ...) {
  if (!can_fit(values)) {
    fail("type = \"fit\": '", name, "' is negative somewhere, or the same everywhere; type = \"hubs\" shows the ",
         "highest")
  }
  fit <- scale_free_points(values)
  there <- fit$fraction > 0 # the fit counts empty bins as 1e-9
  titles <- list(xlab = paste0("connectivity k (", sub("^power", "power ", name), ")"),
                 ylab = "fraction of variables p(k)", main = "Scale-free fit")
  start_log_plot(fit$k[there], fit$fraction[there], titles, ...)
  at <- 10^seq(log10(min(fit$k[there])), log10(max(fit$k[there])), length.out = 50L)
  graphics::lines(at, 10^(fit$intercept + fit$slope * log10(at)), col = warm(), lwd = 2)
  graphics::points(fit$k[there], fit$fraction[there], pch = 19, col = cold())
  empty <- if (!all(there)) paste0("; ", sum(!there), " of ", length(there), " bins empty")
  note(bquote(R^2 == .(format(round(fit$r_squared, 2), nsmall = 2)) * ", slope" ~ .(signif(fit$slope, 3)) * .(empty)))
}

draw_hubs <- function(values, name, hubs, ...) {
  names <- names(values)
  if (is.null(names)) names <- as.character(seq_along(values))
  graphics::plot.new() # par("pin") is then that of this figure
  graphics::par(new = TRUE)
  fitting <- floor(graphics::par("pin")[2L] / graphics::strheight("M", "inches", cex = 1.1))
  best <- utils::head(order(-values, na.last = NA), min(hubs, max(3, fitting)))
  place <- rev(seq_along(best))
  names <- cell_names(names[best], 0.4 * graphics::par("fin")[1L])
  graphics::par(mar = c(3.8, names_margin(names, 2), 3.2, 1))
  main <- if (length(best) == 1) "The strongest hub" else paste("The", length(best), "strongest hubs")
  start_plot(range(0, values[best]), range(place) + c(-0.5, 0.5),
             list(xlab = paste0("connectivity (", sub("^power", "power ", name), ")"), main = main, yaxt = "n"), ...)
  size <- max(0.35, names_size(names, graphics::par("pin")[2L] / length(names)))
  graphics::axis(2L, place, names, las = 1, cex.axis = size, tick = FALSE, mgp = c(3, 0.3, 0), gap.axis = -1)
  graphics::segments(0, place, values[best], place, col = FAINT)
  graphics::points(values[best], place, pch = 19, col = cold())
}

# ---- the scale-free fit: the distribution of connectivity on logarithmic scales

# R^2 of each power, negative if the slope is positive: such a network is not scale-free.
signed_fit <- function(table) -sign(table$slope) * table$SFT.R.sq

# Smaller differences are within the accuracy of coefficients.
is_constant <- function(k) max(k) - min(k) <= 1e-6 * max(k)

# Returns R^2 and slope of the line through the bins, and adjusted R^2 of the truncated power law.
fit_scale_free <- function(k, breaks) {
  if (is_constant(k)) return(rep(NA_real_, 3L))
  found <- scale_free_points(k, breaks)
  truncated <- fit_fractions(found, found$k)
  freedom <- truncated$df.residual
  adjusted <- if (freedom > 0L) 1 - (1 - truncated$r_squared) * (length(found$k) - 1) / freedom else NA_real_
  c(found$r_squared, found$slope, adjusted)
}

# Returns the points and the line that pickPower() fits. A bin excludes its lower edge and includes its upper one; the
# first includes both.
scale_free_points <- function(values, breaks = 10) {
  k <- values[is.finite(values)]
  edges <- seq(min(k), max(k), length.out = breaks + 1)
  bin <- findInterval(k, edges[2:breaks], left.open = TRUE) + 1
  middle <- (edges[-1L] + edges[-(breaks + 1)]) / 2
  mean_k <- as.vector(tapply(k, factor(bin, seq_len(breaks)), mean))
  at_middle <- is.na(mean_k) | mean_k == 0 # an empty bin, or a mean without a logarithm
  mean_k[at_middle] <- middle[at_middle]
  points <- list(k = mean_k, fraction = tabulate(bin, breaks) / length(k))
  line <- fit_fractions(points)
  c(points, list(intercept = line$coefficients[[1L]], slope = line$coefficients[[2L]], r_squared = line$r_squared))
}

# Regresses log fractions on log connectivities and on `...`; an empty bin counts as 1e-9.
fit_fractions <- function(bins, ...) {
  fit <- stats::lm.fit(cbind(1, log10(bins$k), ...), log10(bins$fraction + 1e-9))
  explained <- sum((fit$fitted.values - mean(fit$fitted.values))^2)
  c(fit, list(r_squared = explained / (explained + sum(fit$residuals^2))))
}

can_fit <- function(values) {
  values <- values[is.finite(values)]
  length(values) > 2L && all(values >= 0) && !is_constant(values)
}
