# The class of a network of differences: after that of networks, which it is one of.

#' @rdname gpuCorCompare
#' @exportClass gpuCorDifference
setClass("gpuCorDifference", contains = "gpuCorNetwork", slots = c(error = "numeric", maxima = "numeric"))

new_difference <- function(rows, task, value, error, maxima) {
  rows$x <- atanh(rows$x)
  rows$threshold <- atanh(rows$threshold)
  if (length(rows$tests) && !is.null(error)) rows$tests$distribution <- list(deviation = error) # of the difference
  network <- new_network(rows, task)
  result <- methods::new("gpuCorDifference", error = as.numeric(error))
  for (name in methods::slotNames(network)) methods::slot(result, name) <- methods::slot(network, name)
  result@value <- as.numeric(value)
  if (!is.null(maxima)) result@maxima <- maxima
  result
}

#' @rdname gpuCorCompare
#' @export
as.data.frame.gpuCorDifference <- function(x, row.names = NULL, optional = FALSE, ...) {
  edges <- as.data.frame.gpuCorNetwork(x)
  if (length(x@error)) { # the same for all pairs
    edges$statistic <- edges$difference / x@error
    edges$p.value <- two_sided(edges$statistic)
  }
  if (length(x@maxima)) {
    task <- list(sign = x@sign, settings = list(threads = 1L))
    edges$p.adjusted <- adjusted_differences(x@maxima, edges$p.value, permuted_values(edges, !length(x@error)), task)
  }
  edges[intersect(c("from", "to", "difference", "statistic", "df", "p.value", "fdr", "p.adjusted"), names(edges))]
}

show_difference <- function(object) {
  cat("Differences of z between two groups: ")
  text <- utils::capture.output(show_network(object))
  cat(gsub("\\|r\\|", "|difference|", sub("-?r >=", "difference >=", text)), sep = "\n")
  invisible(object)
}

#' @rdname gpuCorCompare
#' @export
setMethod("show", "gpuCorDifference", show_difference)

#' @rdname gpuCorCompare
#' @export
setMethod("print", "gpuCorDifference", function(x, ...) show_difference(x))
