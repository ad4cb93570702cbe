# Class gpuCorNetworkFile: a network in a file.

# found: as network_to_file() returns it.
new_network_file <- function(found) structure(found, class = c("gpuCorNetworkFile", "gpuCorResult"))

# A file has no missing threshold.
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
