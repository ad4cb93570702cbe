# Class gpuCorWindows: the result of gpuCorWindows().

# The engine has already set the attributes for output = "dist".
new_windows <- function(result, task, output, time) {
  if (output == "dist") return(result$values)
  doing(task$settings, "results of the windows")
  value <- switch(output,
    network = networks_of(result, task),
    connectivity = degrees_of(result, task),
    moments = if (is.null(task$criterion)) moments_of(result, task) else variable_network(result, task)
  )
  attributes <- window_attributes(task, output, time)
  n_obs <- unique(result$n_obs)
  attributes$n_obs <- if (length(n_obs) == 1L) n_obs else result$n_obs
  attributes(value) <- c(attributes(value), attributes)
  value
}

# `n_obs` is set after the run.
window_attributes <- function(task, output, time) {
  list(windows = window_frame(task$windows, time), output = output, width = task$windows$width,
       step = task$windows$step, taper = task$taper, method = task$method, pairs = task$pairs,
       Size = ncol(task$x), Labels = colnames(task$x), n_obs = NULL,
       adjusted = adjustment_of(task$settings, task$x), call = task$call,
       class = c("gpuCorWindows", if (output == "dist") c("matrix", "array") else "gpuCorResult"))
}

# Returns the time of the first observation and the interval: list(first, each, unit: "s", or NULL for a `ts`), or NULL.
time_of <- function(x, tr) {
  if (inherits(x, "ts")) return(list(first = stats::tsp(x)[1L], each = 1 / stats::tsp(x)[3L]))
  if (is.null(tr)) tr <- attr(x, "tr")
  if (is_numeric(tr) && length(tr) == 1L && is.finite(tr)) list(first = 0, each = tr, unit = "s")
}

window_frame <- function(plan, time) {
  start <- 1 + (seq_len(plan$n) - 1) * plan$step
  end <- start + plan$width - 1
  frame <- list(start = start, end = end, centre = (start + end) / 2)
  if (!is.null(time)) frame$time <- time$first + (frame$centre - 1) * time$each
  structure(list2DF(frame), unit = time$unit)
}

# Creates the first network and copies it for the others: creating an S4 object takes longer than finding its edges.
networks_of <- function(result, task) {
  by_k <- task$criterion$name == "k"
  rows_of <- function(w) {
    edges <- list(store = result$stores[[w]], n_obs = result$n_obs[w])
    min_weight <- result$min_weight[w]
    take_rows(kept_edges(edges, min_weight, if (by_k) NA_real_ else threshold_of(min_weight)), task)
  }
  network <- new_network(rows_of(1L), task)
  c(list(network), lapply(seq_along(result$stores)[-1L], function(w) {
    rows <- rows_of(w)
    own <- c(rows[c("p", "i", "x")], network_details(rows, task)[c("threshold", "edges", "n_obs")])
    for (name in names(own)) attr(network, name) <- own[[name]]
    network
  }))
}

degrees_of <- function(result, task) {
  names <- if (!is.null(colnames(task$x))) list(colnames(task$x), NULL)
  named <- function(values) {
    dimnames(values) <- names
    values
  }
  list(degree = named(result$degree), strength = named(result$strength), threshold = threshold_of(result$min_weight))
}

moments_of <- function(result, task) {
  for (name in c("mean", "min", "max")) attr(result[[name]], "diagonal") <- rep(1, attr(result[[name]], "Size"))
  counts <- if (length(result$count)) c(min(result$count), max(result$count)) else rep(task$windows$n, 2L)
  c(result[moment_names], list(windows = if (counts[1L] == counts[2L]) counts[1L] else result$count))
}

# The engine stores half of each standard deviation; halving is exact.
variable_network <- function(result, task) {
  min_weight <- result$min_weight
  rows <- take_rows(kept_edges(list(store = result$store), min_weight), task)
  rows$x <- 2 * rows$x
  list(sd = plain_matrix(rows, task),
       threshold = if (task$criterion$name == "k") NA_real_ else 2 * threshold_of(min_weight))
}

# ---- methods

count_windows <- function(x) nrow(attr(x, "windows"))

#' @rdname gpuCorWindows
#' @param i A number: which window; any index of a list unless `output` is `"dist"`.
#' @method [[ gpuCorWindows
#' @export
`[[.gpuCorWindows` <- function(x, i, ...) {
  if (attr(x, "output") != "dist") return(unclass(x)[[i, ...]])
  i <- check_whole(i, "i", 1, count_windows(x), "; it is the number of a window")
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

#' @rdname gpuCorWindows
#' @param digits A number: significant digits to print.
#' @method print gpuCorWindows
#' @export
print.gpuCorWindows <- function(x, digits = 3L, ...) {
  taper <- attr(x, "taper")
  cat(method_title(attr(x, "method")), " of ", n_of(attr(x, "Size"), "variable"), " in ",
      n_of(count_windows(x), "window"), " of ", n_of(attr(x, "width"), "observation"), ", ",
      if (taper != "none") paste0(taper, " taper, "), "step ", format_count(attr(x, "step")), "\n",
      adjusted_line(attr(x, "adjusted"), attr(x, "method")), describe_content(x), "\n", sep = "")
  frame <- summary(x)
  print(utils::head(frame, 7L), digits = digits)
  if (nrow(frame) > 7L) cat("... and ", n_of(nrow(frame) - 7L, "more window"), "\n", sep = "")
  invisible(x)
}

describe_content <- function(x) {
  pairs <- n_of(attr(x, "pairs"), "pair")
  switch(attr(x, "output"),
    dist = paste0("coefficients of ", pairs, "; [[k]] is window k"),
    network = paste0("networks of ", range_of(summary(x)$edges, "edge"), " of ", pairs, "; [[k]] is that of window k"),
    connectivity = paste("$degree and $strength, variables x windows, of", pairs),
    moments = if (isS4(x$sd)) {
      paste0("$sd of the ", n_of(length(x$sd@x), "most variable pair"), " of ", format_count(attr(x, "pairs")))
    } else {
      paste("$mean, $sd, $min and $max of", pairs)
    }
  )
}
