# Class gpuCorNetworkFile: a network in a file.

# `found`: from network_to_file().
new_network_file <- function(found) structure(found, class = c("gpuCorNetworkFile", "gpuCorResult"))

# A file omits a missing threshold, which is NA here.
describe_network_file <- function(x) {
  paste0("Network in ", x$file, "\n", describe_network(utils::modifyList(list(threshold = NA_real_), unclass(x))))
}

#' @method print gpuCorNetworkFile
#' @export
print.gpuCorNetworkFile <- function(x, ...) {
  cat(describe_network_file(x))
  invisible(x)
}

#' @method summary gpuCorNetworkFile
#' @export
summary.gpuCorNetworkFile <- function(object, ...) {
  d <- utils::modifyList(list(threshold = NA_real_), unclass(object))
  new_summary(list(variables = d$variables, observations = d$n_obs, pairs = d$pairs, edges = d$edges,
                   density = d$edges / d$pairs, threshold = d$threshold), describe_network_file(object), object)
}
