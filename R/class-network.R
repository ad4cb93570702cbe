# Printing, summaries and data frames of networks.

# Returns the name of entries in data frames and graphs.
value_name <- function(net) {
  if (!is_network(net)) return("value")
  if (is(net, "gpuCorDifference")) return("difference")
  if (is(net, "gpuTOMNetwork")) return("overlap")
  if (is.null(net@adjusted$normalize)) "r" else net@adjusted$normalize
}

# Names of a pair's weight, by `sign`.
weight_names <- c(absolute = "|r|", positive = "r", negative = "-r")

weight_words <- function(net) {
  if (is(net, "gpuTOMNetwork")) return(if (any(net@x < 0)) "|overlap|" else "overlap")
  if (value_name(net) == "clr") "clr" else sub("r", value_name(net), weight_names[[net@sign]])
}

# `d`: a list named like a network's slots; `weight`: the name of the thresholded value.
describe_network <- function(d, weight = weight_names[[d$sign]]) {
  chosen <- switch(d$criterion,
    k = if (d$value == 1) "each one's strongest neighbour" else paste0("each one's ", d$value, " strongest neighbours"),
    paste0(d$criterion, " = ", format(d$value))
  )
  fraction <- if (d$pairs > 0) paste0(" of ", n_of(d$pairs, "pair"), " (", signif(100 * d$edges / d$pairs, 3), " %)")
  bound <- if (is.finite(d$threshold)) paste0(": ", weight, " >= ", format(d$threshold, digits = 6))
  paste0(method_title(d$method), " of ", n_of(d$n_obs, "observation"), ", ", chosen, bound, "\n",
         adjusted_line(d$adjusted, d$method, d$n_obs), n_of(d$edges, "edge"), fraction,
         if (!is.null(d$adjusted$pruned)) paste(" after pruning, tolerance", format(d$adjusted$pruned)), "\n",
         if (length(d$stability)) {
           paste0("stability in resamples: median ", format(stats::median(d$stability), digits = 3L), "\n")
         })
}

network_title <- function(net) {
  what <- switch(value_name(net),
    difference = "Differences of Fisher's z: network",
    overlap = paste0("Topological overlap, in the place of r: ", describe_rule(net@overlap), "\nNetwork"),
    "Network"
  )
  size <- paste(unique(vapply(dim(net), format_count, "")), collapse = " x ")
  paste0(what, " of ", size, if (size == "1") " variable\n" else " variables\n",
         describe_network(attributes(net), weight_words(net)),
         if (is(net, "gpuCorDifference")) paste0("p values by ", null_words(net@error, length(net@groups)), "\n"))
}

show_network <- function(object) {
  check_slots(object, "x")
  cat(network_title(object))
  if (is(object, "gpuCorDifference")) show_components(object@components$table)
  top <- checked(.Call(r_strongest, object@x, 6L, choose_threads(setting(NULL, "threads"))))
  if (!length(top)) return(invisible(object))
  edges <- name_edges(object@i[top] + 1L, findInterval(top - 1, object@p), object@x[top], object@Dimnames[[1L]],
                      object@Dimnames[[2L]])
  names(edges)[3L] <- value_name(object)
  edges$lag <- object@tests$lag[top]
  cat("strongest:\n")
  print(edges, digits = 4L, row.names = FALSE)
  invisible(object)
}

show_components <- function(table) {
  if (is.null(table)) return(invisible())
  cat(n_of(nrow(table), "component"), if (nrow(table)) ", the largest:", "\n", sep = "")
  if (nrow(table)) print(utils::head(table), digits = 4L, row.names = FALSE)
}

#' @rdname gpuCorNetwork-class
#' @export
setMethod("show", "gpuNetwork", show_network)

# Overrides the print() of Matrix, which prints all entries.
#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix print
setMethod("print", "gpuNetwork", function(x, ...) show_network(x))

#' @rdname gpuCorNetwork-class
#' @param n A number: how many edges to return; if negative, how many to leave out.
#' @method head gpuNetwork
#' @export
head.gpuNetwork <- function(x, n = 6L, ...) utils::head(as.data.frame(x), n)

#' @rdname gpuCorNetwork-class
#' @method tail gpuNetwork
#' @export
tail.gpuNetwork <- function(x, n = 6L, ...) utils::tail(as.data.frame(x), n)

# Override head() and tail() of Matrix, which return rows.
setMethod("head", "gpuNetwork", function(x, ...) head.gpuNetwork(x, ...))
setMethod("tail", "gpuNetwork", function(x, ...) tail.gpuNetwork(x, ...))

# ---- conversion

#' @rdname gpuCorNetwork-class
#' @export
as.data.frame.gpuNetwork <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_slots(x, "x")
  rows <- list(p = x@p, i = x@i, x = x@x, tests = x@tests, stability = x@stability)
  frame <- edge_frame(rows, x@Dimnames[[1L]], x@Dimnames[[2L]], choose_threads(setting(NULL, "threads")))
  names(frame)[3L] <- value_name(x)
  if (is(x, "gpuCorDifference")) with_tests_of_difference(frame, x) else frame
}

with_tests_of_difference <- function(edges, x) {
  if (length(x@error)) { # one standard error for all pairs
    min_p <- attr(x, "min_p") # networks that an earlier version saved have no slot
    tests <- z_tests(edges$difference / x@error, if (length(x@groups)) x@groups, if (length(min_p)) min_p)
    edges[names(tests)] <- tests
    if (length(x@groups)) edges$df <- rep(x@groups - 1, nrow(edges))
  }
  if (length(x@maxima)) {
    edges$p.adjusted <- adjusted_differences(x@maxima, edges$p.value, permuted_values(edges, !length(x@error)), x@sign)
  }
  edges[intersect(c("from", "to", "component", "r.x", "r.y", "class", "difference", "statistic", "df", "p.value", "fdr",
                    "p.adjusted"), names(edges))]
}

# ---- summary

#' @rdname summary.gpuCorNetwork
#' @method summary gpuNetwork
#' @export
summary.gpuNetwork <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  degrees <- degrees_of_network(object)
  all <- unlist(degrees)
  new_summary(
    c(list(variables = if (length(degrees) > 1L) lengths(degrees) else length(all), observations = object@n_obs,
           pairs = object@pairs, edges = object@edges, density = object@edges / object@pairs,
           threshold = object@threshold, positive = mean(object@x > 0), isolated = sum(all == 0),
           degree = stats::quantile(all), weight = stats::quantile(object@x)),
      if (length(object@stability)) list(stability = stats::quantile(object@stability)),
      if (!is.null(object@tests$lag)) list(lag = stats::quantile(object@tests$lag)),
      list(hubs = best_connected(object, n))),
    network_title(object), object)
}

# Overrides the method of Matrix, which lists the entries.
#' @rdname summary.gpuCorNetwork
#' @importMethodsFrom Matrix summary
setMethod("summary", "gpuNetwork", function(object, ...) summary.gpuNetwork(object, ...))

best_connected <- function(net, n) {
  ends <- network_ends(net)
  size <- dim(net)
  symmetric <- is(net, "gpuCorNetwork")
  sum_by <- function(at, length) as.vector(tapply(abs(net@x), factor(at, seq_len(length)), sum, default = 0))
  strength <- list(sum_by(ends$from, size[1L]), sum_by(ends$to, size[2L]))
  strength <- if (symmetric) strength[[1L]] + strength[[2L]] else unlist(strength)
  degree <- unlist(degrees_of_network(net), use.names = FALSE)
  names <- vertex_names(net@Dimnames, size, symmetric)
  best <- utils::head(order(-degree, -strength), n)
  best <- best[degree[best] > 0]
  data.frame(variable = if (is.null(names)) best else names[best], degree = degree[best], strength = strength[best])
}
