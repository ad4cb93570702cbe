# Class gpuCorNetworkFile: a network in a file.

# found: as network_to_file() returns it.
new_network_file <- function(found) structure(found, class = c("gpuCorNetworkFile", "gpuCorResult"))

#' @method print gpuCorNetworkFile
#' @export
print.gpuCorNetworkFile <- function(x, ...) {
  d <- utils::modifyList(list(threshold = NA_real_), unclass(x)) # a file has no missing threshold
  cat("Network in ", x$file, "\n", describe_network(d), sep = "")
  invisible(x)
}
