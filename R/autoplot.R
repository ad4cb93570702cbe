# The same pictures by ggplot2, where that is installed: one panel, to which more can be added.

utils::globalVariables(".data")

# nolint start: object_name_linter. The generics are not imported, and so not known.

#' Pictures of results by ggplot2
#'
#' Methods of `ggplot2::autoplot()` that draw what `plot()` draws, as a plot of ggplot2 to which layers, scales and
#' themes can be added; and of `ggplot2::fortify()`, by which `ggplot2::ggplot()` takes the results themselves, as their
#' `as.data.frame()`.
#'
#' @param object,model A result of this package.
#' @param type Which panel, see the `plot()` method of the class.
#' @param most,measure,hubs As in the `plot()` method.
#' @param data,... Not used.
#' @return `autoplot()`: a plot of class `ggplot`. `fortify()`: a data frame; of sums over pairs with a column
#'   `variable`.
#' @examples
#' if (requireNamespace("ggplot2", quietly = TRUE)) {
#'   r <- gpuCor(mtcars)
#'   print(ggplot2::autoplot(r, "heatmap"))
#'   ggplot2::ggplot(r, ggplot2::aes(r)) + ggplot2::geom_density()
#' }
#' @name autoplot.gpuCor
#' @aliases fortify.gpuCor
NULL

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::fortify
fortify.gpuCor <- function(model, data, ...) as.data.frame(model)

#' @exportS3Method ggplot2::fortify
fortify.gpuCorNetwork <- fortify.gpuCor

#' @exportS3Method ggplot2::fortify
fortify.gpuCorNetworkXY <- fortify.gpuCor

#' @exportS3Method ggplot2::fortify
fortify.gpuCorTest <- fortify.gpuCor

#' @exportS3Method ggplot2::fortify
fortify.gpuCorCompare <- fortify.gpuCor

#' @exportS3Method ggplot2::fortify
fortify.gpuCorWindows <- fortify.gpuCor

#' @exportS3Method ggplot2::fortify
fortify.gpuCorPower <- fortify.gpuCor

#' @exportS3Method ggplot2::fortify
fortify.gpuConnectivity <- function(model, data, ...) {
  frame <- as.data.frame(model)
  cbind(variable = row.names(frame), frame)
}

# ---- pictures

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuCor <- function(object, type = c("histogram", "heatmap"), most = 1000, ...) {
  type <- check_choice(type, c("histogram", "heatmap"), "type")
  if (type == "heatmap") return(gg_heatmap(object, most))
  at <- drawn_places(length(object))
  values <- .subset(object, at)
  gg_bars(values[!is.na(values)], seq(-1, 1, 0.02), length(object) / length(at), method_title(attr(object, "method")),
          "pairs")
}

gg_bars <- function(values, breaks, each, xlab, what) {
  found <- graphics::hist(values, breaks, plot = FALSE)
  frame <- data.frame(x = found$mids, count = found$counts * each)
  unit <- count_unit(max(frame$count, 1))
  ggplot2::ggplot(frame, ggplot2::aes(.data$x, .data$count / unit)) +
    ggplot2::geom_col(width = diff(breaks[1:2]), fill = FAINT) +
    ggplot2::labs(x = xlab, y = paste0(what, names(unit))) + ggplot2::theme_classic()
}

gg_heatmap <- function(object, most) {
  check_drawable(size_of(object), check_whole(most, "most", 2, 20000))
  order <- order_by_tree(1 - object)$order
  values <- as.matrix(object)[order, order]
  names <- attr(object, "Labels")[order]
  n <- length(order)
  scale <- function(side) {
    named <- !is.null(names) && n <= 60L
    side(breaks = if (named) seq_len(n), labels = if (named) shorten(names, 14L), expand = c(0, 0))
  }
  ggplot2::ggplot(data.frame(row = as.vector(row(values)), column = as.vector(col(values)), r = as.vector(values)),
                  ggplot2::aes(.data$column, .data$row, fill = .data$r)) +
    ggplot2::geom_raster() + gg_diverging() + ggplot2::coord_fixed() + scale(ggplot2::scale_x_continuous) +
    scale(function(...) ggplot2::scale_y_continuous(trans = "reverse", ...)) +
    ggplot2::labs(x = n_of(n, "variable"), y = "ordered by hierarchical clustering") +
    ggplot2::theme(axis.text.x = ggplot2::element_text(angle = 90, hjust = 1, vjust = 0.5))
}

gg_diverging <- function() {
  ggplot2::scale_fill_gradientn(colours = diverging(), limits = c(-1, 1), na.value = "grey85")
}

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuCorNetwork <- function(object, type = c("degree", "weight"), ...) {
  type <- check_choice(type, c("degree", "weight"), "type")
  if (type == "weight") {
    at <- drawn_places(length(object@x))
    span <- if (is(object, "gpuCorDifference")) max(abs(pretty(range(object@x, 1)))) else 1
    return(gg_bars(object@x[at], seq(-span, span, length.out = 81L), length(object@x) / max(1, length(at)),
                   value_title(object), "edges"))
  }
  degrees <- degrees_of_network(object)
  frame <- do.call(rbind, lapply(seq_along(degrees), function(side) {
    counts <- degree_counts(degrees[[side]])
    cbind(counts, side = rep(c("x", "y")[side], nrow(counts)))
  }))
  of_side <- if (length(degrees) > 1L) ggplot2::aes(colour = .data$side, shape = .data$side)
  ggplot2::ggplot(frame, ggplot2::aes(.data$degree, .data$variables)) +
    (if (is.null(of_side)) ggplot2::geom_point(colour = BLUE) else ggplot2::geom_point(of_side)) +
    ggplot2::scale_x_log10() + ggplot2::scale_y_log10() +
    ggplot2::scale_colour_manual(values = c(x = BLUE, y = VERMILION)) + ggplot2::labs(x = "degree", y = "variables") +
    ggplot2::theme_classic()
}

#' @exportS3Method ggplot2::autoplot
autoplot.gpuCorNetworkXY <- autoplot.gpuCorNetwork

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuConnectivity <- function(object, type = c("fit", "hubs"), measure = NULL, hubs = 20, ...) {
  type <- check_choice(type, c("fit", "hubs"), "type")
  check_has_sums(object, type)
  frame <- fortify.gpuConnectivity(object)
  name <- check_measure(measure, frame[-1L])
  values <- frame[[name]]
  if (type == "hubs") {
    best <- utils::head(order(-values, na.last = NA), check_whole(hubs, "hubs", 1, 200))
    shown <- data.frame(variable = factor(frame$variable[best], rev(unique(frame$variable[best]))), k = values[best])
    return(ggplot2::ggplot(shown, ggplot2::aes(.data$k, .data$variable)) +
             ggplot2::geom_segment(ggplot2::aes(x = 0, xend = .data$k, yend = .data$variable), colour = FAINT) +
             ggplot2::geom_point(colour = BLUE) + ggplot2::labs(x = paste0("connectivity (", name, ")"), y = NULL) +
             ggplot2::theme_classic())
  }
  check_can_fit(values, name)
  fit <- scale_free_points(values)
  there <- fit$share > 0
  ggplot2::ggplot(data.frame(k = fit$k[there], share = fit$share[there]), ggplot2::aes(.data$k, .data$share)) +
    ggplot2::geom_abline(intercept = fit$intercept, slope = fit$slope, colour = VERMILION) +
    ggplot2::geom_point(colour = BLUE) + ggplot2::scale_x_log10() + ggplot2::scale_y_log10() +
    ggplot2::labs(x = paste0("connectivity k (", name, ")"), y = "share of variables p(k)",
                  subtitle = bquote(R^2 == .(round(fit$r_squared, 2)) * ", slope" ~ .(signif(fit$slope, 3)))) +
    ggplot2::theme_classic()
}

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuCorWindows <- function(object, most = 500, ...) {
  if (attr(object, "keep") == "moments") {
    sd <- if (isS4(object$sd)) object$sd@x else as.vector(object$sd)
    values <- sd[drawn_places(length(sd))]
    return(gg_bars(values[!is.na(values)], seq(0, max(values, 1e-6, na.rm = TRUE), length.out = 41L),
                   length(sd) / length(values), "sd over the windows", "pairs"))
  }
  carpet <- carpet_of(object, check_whole(most, "most", 1, 1e4))
  values <- carpet$values
  frame <- data.frame(time = carpet$time[col(values)], row = as.vector(row(values)), value = as.vector(values))
  fill <- if (carpet$title == "r") gg_diverging() else ggplot2::scale_fill_gradientn(colours = carpet$colours)
  ggplot2::ggplot(frame, ggplot2::aes(.data$time, .data$row, fill = .data$value)) + ggplot2::geom_raster() + fill +
    ggplot2::scale_y_continuous(trans = "reverse", breaks = NULL, expand = c(0, 0)) +
    ggplot2::scale_x_continuous(expand = c(0, 0)) +
    ggplot2::labs(x = carpet$xlab, y = carpet$ylab, fill = carpet$title)
}

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuCorPower <- function(object, ...) {
  table <- object$fitIndices
  panels <- c("signed R^2", "log10 mean connectivity")
  frame <- data.frame(power = rep(table$Power, 2L), panel = factor(rep(panels, each = nrow(table)), panels),
                      value = c(signed_fit(table), log10(table$mean.k.)))
  frame$chosen <- frame$power %in% object$powerEstimate
  cut <- data.frame(panel = factor(panels[1L], panels), value = attr(object, "r_squared"))
  ggplot2::ggplot(frame, ggplot2::aes(.data$power, .data$value)) +
    ggplot2::geom_hline(ggplot2::aes(yintercept = .data$value), cut, linetype = 2L) +
    ggplot2::geom_line(colour = BLUE) + ggplot2::geom_point(ggplot2::aes(colour = .data$chosen)) +
    ggplot2::scale_colour_manual(values = c("FALSE" = BLUE, "TRUE" = VERMILION), guide = "none") +
    ggplot2::facet_wrap("panel", scales = "free_y") + ggplot2::labs(x = "power", y = NULL) + ggplot2::theme_bw()
}

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuCorTest <- function(object, type = c("volcano", "p.value"), ...) {
  p <- as.vector(object$p.value)
  gg_tests(type, as.vector(object$coefficient), if (object$log.p) p else log(p), method_title(object$method))
}

#' @rdname autoplot.gpuCor
#' @exportS3Method ggplot2::autoplot
autoplot.gpuCorCompare <- function(object, type = c("volcano", "p.value"), ...) {
  gg_tests(type, as.vector(object$difference), log_p_of_z(object$statistic), "difference of z")
}

gg_tests <- function(type, effect, log_p, xlab) {
  type <- check_choice(type, c("volcano", "p.value"), "type")
  if (type == "p.value") {
    p <- exp(log_p[drawn_places(length(log_p))])
    return(gg_bars(p[!is.na(p)], seq(0, 1, 0.05), length(log_p) / length(p), "p value", "pairs"))
  }
  at <- volcano_places(log_p)
  frame <- data.frame(effect = effect[at], p = -log_p[at] / log(10))
  ggplot2::ggplot(frame[stats::complete.cases(frame), ],
                  ggplot2::aes(.data$effect, .data$p, colour = .data$effect > 0)) +
    ggplot2::geom_point(size = 0.7, alpha = 0.5) +
    ggplot2::scale_colour_manual(values = c("FALSE" = VERMILION, "TRUE" = BLUE), guide = "none") +
    ggplot2::labs(x = xlab, y = expression(-log[10] * " p")) + ggplot2::theme_classic()
}
# nolint end
