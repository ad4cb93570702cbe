# Class gpuCorWindows: the result of gpuCorWindows().

# `value`: the result without attributes, which the engine has already set for output = "dist"; `n_obs`: number of
# observations of each window.
new_windows <- function(value, n_obs, run, output, time) {
  if (output == "dist") return(value)
  attributes <- window_attributes(run, output, time)
  attributes$n_obs <- if (length(unique(n_obs)) == 1L) n_obs[1L] else n_obs
  attributes(value) <- c(attributes(value), attributes)
  value
}

# `n_obs` is set after the run.
window_attributes <- function(run, output, time) {
  plan <- run$over$windows
  start <- 1 + (seq_len(plan$n) - 1) * plan$step
  end <- start + plan$width - 1
  frame <- list(start = start, end = end, centre = (start + end) / 2)
  if (!is.null(time)) frame$time <- time$first + (frame$centre - 1) * time$each
  list(windows = structure(list2DF(frame), unit = time$unit), output = output, width = plan$width,
       step = plan$step, taper = run$over$taper, method = run$method, pairs = run$pairs,
       Size = ncol(run$x), Labels = colnames(run$x), n_obs = NULL,
       adjusted = adjustment_of(run), call = run$call,
       class = c("gpuCorWindows", if (output == "dist") c("matrix", "array") else "gpuCorResult"))
}

# Returns the time of the first observation and the interval: list(first, each, unit: "s", or NULL for a `ts`), or NULL.
time_of <- function(x, tr) {
  if (inherits(x, "ts")) return(list(first = stats::tsp(x)[1L], each = 1 / stats::tsp(x)[3L]))
  if (is.null(tr)) tr <- attr(x, "tr")
  if (are_finite(tr, 1L)) list(first = 0, each = tr, unit = "s")
}

# Creates the first network and copies it for the others: creating an S4 object takes longer than finding its edges.
networks_of <- function(result, run) {
  by_k <- run$criterion$name == "k"
  rows_of <- function(w) {
    edges <- list(store = result$stores[[w]], n_obs = result$n_obs[w])
    min_weight <- result$min_weight[w]
    take_rows(kept_edges(edges, min_weight, if (by_k) NA_real_ else threshold_of(min_weight)), run)
  }
  network <- new_network(rows_of(1L), run)
  c(list(network), lapply(seq_along(result$stores)[-1L], function(w) {
    rows <- rows_of(w)
    own <- c(rows[c("p", "i", "x")], network_details(rows, run)[c("threshold", "edges", "n_obs")])
    for (name in names(own)) attr(network, name) <- own[[name]]
    network
  }))
}

# The engine stores half of each standard deviation; halving is exact.
variable_network <- function(result, run) {
  min_weight <- result$min_weight
  rows <- take_rows(kept_edges(list(store = result$store), min_weight), run)
  rows$x <- 2 * rows$x
  list(sd = plain_matrix(rows, run),
       threshold = if (run$criterion$name == "k") NA_real_ else 2 * threshold_of(min_weight))
}

# ---- methods

#' @method [[ gpuCorWindows
#' @export
`[[.gpuCorWindows` <- function(x, i, ...) {
  if (attr(x, "output") != "dist") return(unclass(x)[[i, ...]])
  i <- check_whole(i, "i", 1, nrow(attr(x, "windows")), "; it is the number of a window")
  n_obs <- attr(x, "n_obs")
  n_obs <- if (length(n_obs) == 1L) n_obs else n_obs[i]
  values <- unclass(x)[, i]
  attributes(values) <- list(Size = attr(x, "Size"), Labels = attr(x, "Labels"), Diag = FALSE, Upper = FALSE,
                             method = attr(x, "method"), n_obs = n_obs,
                             diagonal = if (n_obs < 2) rep(NA_real_, attr(x, "Size")), call = attr(x, "call"),
                             adjusted = attr(x, "adjusted"),
                             untestable = "the observations of a window may have the weights of a taper",
                             class = c("gpuCor", "allPairs", "dist"))
  values
}

# Returns a plain matrix: results of arithmetic and transposes no longer fit the class.
as_plain_matrix <- function(x) {
  if (inherits(x, "gpuCorWindows") && is.matrix(x)) attributes(x) <- list(dim = dim(x))
  x
}

#' @export
Ops.gpuCorWindows <- function(e1, e2) as_plain_matrix(NextMethod())

#' @export
Math.gpuCorWindows <- function(x, ...) as_plain_matrix(NextMethod())

#' @method t gpuCorWindows
#' @export
t.gpuCorWindows <- function(x) as_plain_matrix(NextMethod())

#' @method print gpuCorWindows
#' @export
print.gpuCorWindows <- function(x, digits = 3L, ...) {
  taper <- attr(x, "taper")
  pairs <- n_of(attr(x, "pairs"), "pair")
  frame <- summary(x)
  content <- switch(attr(x, "output"),
    dist = paste0("coefficients of ", pairs, "; [[k]] is window k"),
    network = paste0("networks of ", range_of(frame$edges, "edge"), " of ", pairs, "; [[k]] is that of window k"),
    connectivity = paste("$degree and $strength, variables x windows, of", pairs),
    moments = if (isS4(x$sd)) {
      paste0("$sd of the ", n_of(length(x$sd@x), "most variable pair"), " of ", format_count(attr(x, "pairs")))
    } else {
      paste("$mean, $sd, $min and $max of", pairs)
    }
  )
  cat(method_title(attr(x, "method")), " of ", n_of(attr(x, "Size"), "variable"), " in ",
      n_of(nrow(attr(x, "windows")), "window"), " of ", n_of(attr(x, "width"), "observation"), ", ",
      if (taper != "none") paste0(taper, " taper, "), "step ", format_count(attr(x, "step")), "\n",
      adjusted_line(attr(x, "adjusted"), attr(x, "method")), content, "\n", sep = "")
  print(utils::head(frame, 7L), digits = digits)
  if (nrow(frame) > 7L) cat("... and ", n_of(nrow(frame) - 7L, "more window"), "\n", sep = "")
  invisible(x)
}

# ---- summaries and data frames, with one row per window or pair

#' @rdname gpuCorWindows
#' @usage NULL
#' @method summary gpuCorWindows
#' @export
summary.gpuCorWindows <- function(object, ...) {
  windows <- attr(object, "windows")
  slot_of <- function(name) vapply(unclass(object), methods::slot, 0, name)
  switch(attr(object, "output"),
    dist = {
      values <- unclass(object)
      cbind(windows, t(vapply(seq_len(ncol(values)), function(w) {
        own <- values[!is.na(values[, w]), w]
        if (length(own)) c(mean(own), stats::sd(own), min(own), max(own)) else rep(NA_real_, 4L)
      }, stats::setNames(numeric(4L), moment_names))))
    },
    network = cbind(windows, edges = slot_of("edges"), threshold = slot_of("threshold")),
    connectivity = {
      degree <- object$degree
      strongest <- if (nrow(degree)) apply(degree, 2L, max) else rep(0, ncol(degree))
      cbind(windows, edges = colSums(degree) / 2, threshold = object$threshold, max_degree = strongest,
            strength = colSums(object$strength) / 2)
    },
    moments = {
      fractions <- c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
      parts <- if (isS4(object$sd)) list(sd = object$sd@x) else unclass(object)[moment_names]
      frame <- lapply(parts, function(values) stats::quantile(values[!is.na(values)], fractions, names = FALSE))
      as.data.frame(frame, row.names = paste0(100 * fractions, "%"))
    }
  )
}

moment_names <- c("mean", "sd", "min", "max")

#' @rdname gpuCorWindows
#' @usage NULL
#' @export
as.data.frame.gpuCorWindows <- function(x, row.names = NULL, optional = FALSE, ...) {
  n <- nrow(attr(x, "windows"))
  values <- unclass(x)
  labels <- attr(x, "Labels")
  switch(attr(x, "output"),
    dist = {
      pairs <- lapply(all_pairs(attr(x, "Size"), labels), rep, n)
      list2DF(c(list(window = rep(seq_len(n), each = nrow(values))), pairs, list(r = as.vector(values))))
    },
    network = {
      frames <- lapply(values, as.data.frame)
      columns <- lapply(c(from = "from", to = "to", r = "r"), function(name) unlist(lapply(frames, `[[`, name)))
      list2DF(c(list(window = rep(seq_along(frames), vapply(frames, nrow, 0L))), columns))
    },
    connectivity = {
      size <- nrow(x$degree)
      list2DF(list(window = rep(seq_len(n), each = size),
                   variable = rep(if (is.null(labels)) seq_len(size) else labels, n),
                   degree = as.vector(x$degree), strength = as.vector(x$strength)))
    },
    moments = if (isS4(x$sd)) {
      rows <- list(p = x$sd@p, i = x$sd@i, x = x$sd@x)
      frame <- edge_frame(rows, x$sd@Dimnames[[1L]], x$sd@Dimnames[[2L]])
      stats::setNames(frame, c("from", "to", "sd"))
    } else {
      list2DF(c(all_pairs(attr(x, "Size"), labels), lapply(values[moment_names], as.vector),
                list(windows = rep_len(as.vector(x$windows), length(x$mean)))))
    }
  )
}

# ---- plots

#' @rdname gpuCorWindows
#' @param max For `plot()`: the max number of rows of a carpet, beyond which rows are averaged in blocks, or of
#'   variables in a heat map. The carpet has a column for each window and a row for each pair (its coefficient) or
#'   variable (its degree), ordered by their means over the windows.
#' @param type,window,groups,order,zlim For `plot()`: `"auto"`, or for all pairs `"heatmap"`, their means over the
#'   windows, or with the number of a `window` its coefficients, as in [gpuCor-class].
#' @export
plot.gpuCorWindows <- function(x, type = c("auto", "heatmap"), max = 500, window = NULL, groups = NULL, order = "auto",
                               zlim = NULL, ...) {
  max <- check_whole(max, "max", 1, 1e4)
  asks <- missing(type) && !all(missing(window), missing(groups), missing(order), missing(zlim))
  if (asks || check_choice(type, c("auto", "heatmap"), "type") == "heatmap") {
    if (!is.null(window)) window <- check_whole(window, "window", 1, nrow(attr(x, "windows")))
    output <- attr(x, "output")
    values <- if (output == "dist" && !is.null(window)) {
      x[[window]]
    } else if (output == "dist") {
      structure(rowMeans(unclass(x), na.rm = TRUE), Size = attr(x, "Size"), Labels = attr(x, "Labels"), class = "dist")
    } else if (output == "moments" && !isS4(x$sd) && is.null(window)) {
      x$mean
    } else {
      fail("a heat map ", if (!is.null(window)) "of one window ", "needs all pairs: gpuCorWindows(output = \"dist\")",
           if (is.null(window)) ", or \"moments\"")
    }
    check_drawable(attr(values, "Size"), max)
    windows <- n_of(nrow(attr(x, "windows")), "window")
    title <- if (is.null(window)) paste("Mean of", windows) else paste("Window", window)
    draw_page(list(function(main = title, ...) {
      draw_pairs(values, "r", main = main, ..., groups = groups, order = order, zlim = zlim)
    }), ...)
  } else if (attr(x, "output") == "moments") {
    sd <- if (isS4(x$sd)) x$sd@x else as.vector(x$sd)
    panels <- list(mean = function(...) {
      draw_histogram(x$mean, seq(-1, 1, length.out = 81L), "pairs",
                     list(xlab = "mean r over the windows", main = n_of(length(x$mean), "pair")), ...)
      graphics::abline(v = 0, lty = 3L)
    }, sd = function(...) {
      breaks <- pretty(range(0, sd[drawn_places(length(sd))], na.rm = TRUE), 40L)
      draw_histogram(sd, breaks, "pairs", list(xlab = "sd of r over the windows", main = n_of(length(sd), "pair")), ...)
    })
    draw_page(if (isS4(x$sd)) panels["sd"] else panels, "auto", ...)
  } else {
    draw_carpet(carpet_of(x, max), ...)
  }
  invisible(x)
}

# Returns list(values: rows x windows, largest mean first; time, xlab, ylab, limits, title).
carpet_of <- function(x, max) {
  of_pairs <- attr(x, "output") == "dist"
  values <- if (of_pairs) {
    unclass(x)[drawn_places(nrow(x), 20000), , drop = FALSE]
  } else if (attr(x, "output") == "connectivity") {
    x$degree
  } else {
    vapply(unclass(x), function(net) as.numeric(unlist(degrees_of_network(net))), numeric(attr(x, "Size")))
  }
  values <- matrix(as.vector(values), ncol = nrow(attr(x, "windows")))
  values <- values[order(-rowMeans(values, na.rm = TRUE)), , drop = FALSE]
  n <- if (of_pairs) nrow(x) else nrow(values)
  values <- reduce_rows(values, max)
  windows <- attr(x, "windows")
  unit <- attr(windows, "unit")
  time <- if (is.null(windows$time)) "observation" else paste0("time", if (!is.null(unit)) paste0(" (", unit, ")"))
  list(values = values, time = if (is.null(windows$time)) windows$centre else windows$time,
       xlab = paste("center of the window:", time),
       ylab = paste0(n_of(n, if (of_pairs) "pair" else "variable"), ", by their mean", if (!of_pairs) " degree"),
       limits = if (of_pairs) c(-1, 1) else c(0, max(values, 1, na.rm = TRUE)), title = if (of_pairs) "r" else "degree")
}

# Draws a carpet. `lines`: NULL, or a matrix with a row for each of its columns, drawn as lines above it.
draw_carpet <- function(carpet, ..., lines = NULL) {
  half <- if (length(carpet$time) > 1L) diff(carpet$time[1:2]) / 2 else 0.5
  span <- range(carpet$time) + c(-half, half)
  n <- NCOL(lines) * !is.null(lines)
  above <- lapply(seq_len(n), function(k) {
    function(...) {
      graphics::par(mar = c(0.4, 3, 1.5, 4.2))
      graphics::plot.default(carpet$time, lines[, k], type = "l", xlim = span, xaxs = "i", axes = FALSE, ann = FALSE,
                             col = cold())
      graphics::axis(2L, pretty(lines[, k], 2L), las = 0) # along the axis: numbers may be long
      graphics::mtext(colnames(lines)[k], 3L, 0.2, adj = 0, cex = 0.8 * graphics::par("cex"))
    }
  })
  draw_page(c(above, function(...) {
    draw_matrix(carpet$values, carpet$limits, carpet$title, ..., names = list(NULL, NULL), span = span,
                titles = carpet[c("xlab", "ylab")])
  }), ..., page = matrix(seq_len(n + 1)), heights = c(rep(1, n), max(4, n)), min_inches = c(2, if (n) 0.6 else 1.8))
}
