# Methods of class c("gpuTOM", "dist"): those of gpuCor(), whose values lie in the same order; and of its networks.

#' @rdname gpuCor-class
#' @export
`[.gpuTOM` <- `[.gpuCor`

#' @rdname gpuCor-class
#' @export
as.matrix.gpuTOM <- as.matrix.gpuCor

#' @export
Ops.gpuTOM <- Ops.gpuCor

#' @export
Math.gpuTOM <- Math.gpuCor

# What arithmetic takes away.
TOM_ATTRIBUTES <- c("power", "type", "TOMType", "TOMDenom", "combine", "scales")

describe_tom <- function(d) {
  paste0("of ", method_title(d$method), ", ", n_of(d$n_obs, "observation"), "; ",
         if (length(d$power) > 1L) "powers " else "power ", toString(d$power), ", ", d$type, "; TOMType \"", d$TOMType,
         "\", TOMDenom \"", d$TOMDenom, "\"", if (!is.null(d$combine)) paste0("; combine \"", d$combine, "\""))
}

#' @rdname gpuCor-class
#' @method print gpuTOM
#' @export
print.gpuTOM <- function(x, digits = 3L, ...) {
  n <- size_of(x)
  cat("Topological overlap of ", format_count(n), " variables: ", format_count(pairs_of(n)), " pairs\n",
      describe_tom(attributes(x)), "\n", sep = "")
  print_corner(x, digits)
}

#' @exportClass gpuTOMNetwork
setClass("gpuTOMNetwork", contains = "gpuCorNetwork")

show_tom_network <- function(object) {
  cat("Topological overlap, in the place of r\n")
  show_edges(object, "overlap")
}

#' @rdname gpuCorNetwork-class
#' @export
setMethod("show", "gpuTOMNetwork", show_tom_network)

#' @rdname gpuCorNetwork-class
#' @export
setMethod("print", "gpuTOMNetwork", function(x, ...) show_tom_network(x))
