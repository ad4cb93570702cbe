# Methods of class c("gpuTOM", "dist"): those of gpuCor(), whose values lie in the same order; and of its networks.

#' @rdname gpuCor-class
#' @export
`[.gpuTOM` <- `[.gpuCor`

#' @rdname gpuCor-class
#' @export
`[<-.gpuTOM` <- `[<-.gpuCor`

#' @rdname gpuCor-class
#' @export
`[[<-.gpuTOM` <- `[[<-.gpuCor`

#' @rdname gpuCor-class
#' @export
as.matrix.gpuTOM <- as.matrix.gpuCor

#' @rdname gpuCor-class
#' @export
`[[.gpuTOM` <- function(x, i, j) if (missing(j)) .subset2(x, i) else x[i, j]

# ---- what a matrix has

#' @rdname gpuCor-class
#' @export
dim.gpuTOM <- dim.gpuCor

#' @rdname gpuCor-class
#' @export
dimnames.gpuTOM <- dimnames.gpuCor

#' @rdname gpuCor-class
#' @export
`dimnames<-.gpuTOM` <- `dimnames<-.gpuCor`

#' @rdname gpuCor-class
#' @method t gpuTOM
#' @export
t.gpuTOM <- t.gpuCor

#' @rdname gpuCor-class
#' @export
as.data.frame.gpuTOM <- function(x, row.names = NULL, optional = FALSE, ...) {
  frame <- as.data.frame.gpuCor(x)
  names(frame)[3L] <- "overlap"
  frame
}

#' @rdname gpuCor-class
#' @method isSymmetric gpuTOM
#' @export
isSymmetric.gpuTOM <- isSymmetric.gpuCor

# ---- arithmetic

#' @export
Ops.gpuTOM <- Ops.gpuCor

#' @export
Math.gpuTOM <- Math.gpuCor

# What arithmetic takes away.
TOM_ATTRIBUTES <- c("power", "type", "TOMType", "TOMDenom", "combine", "probs", "scales")

power_words <- function(power) paste(if (length(power) > 1L) "powers" else "power", toString(power))

describe_rule <- function(d) {
  paste0(power_words(d$power), ", ", d$type, "; TOMType \"", d$TOMType,
         "\", TOMDenom \"", d$TOMDenom, "\"", if (!is.null(d$combine)) paste0("; combine \"", d$combine, "\""))
}

#' @rdname gpuCor-class
#' @method print gpuTOM
#' @export
print.gpuTOM <- function(x, digits = 3L, ...) {
  n <- size_of(x)
  cat("Topological overlap of ", n_of(n, "variable"), ": ", n_of(pairs_of(n), "pair"), "\n",
      "of ", method_title(attr(x, "method")), ", ", n_of(attr(x, "n_obs"), "observation"), "; ",
      describe_rule(attributes(x)), "\n",
      adjusted_line(attr(x, "adjusted"), attr(x, "method"), attr(x, "n_obs")), sep = "")
  print_corner(x, digits)
}

#' @rdname gpuCor-class
#' @method summary gpuTOM
#' @export
summary.gpuTOM <- function(object, n = 6L, ...) {
  found <- summary.gpuCor(object, n)
  names(found$strongest)[3L] <- "overlap"
  found$methods <- paste0(
    "Topological overlap was computed ", with_gpucor(), " for ", n_of(length(object), "pair"), " of ",
    n_of(size_of(object), "variable"), " from ", n_of(attr(object, "n_obs"), "observation"), ", in the ",
    overlap_words(attributes(object)), ".",
    adjusted_sentence(attr(object, "adjusted"), attr(object, "method"), attr(object, "n_obs")))
  class(found) <- c("summary.gpuTOM", "summary.gpuCor")
  found
}

combination_words <- function(d) {
  if (d$combine == "min") "the minimum" else paste(c("the", d$probs, d$combine), collapse = " ")
}

# What a sentence says of the network that overlaps are of; d: their attributes, or a network's slots.
overlap_words <- function(d) {
  combined <- if (!is.null(d$combine)) paste0("; several data sets, pair by pair combined by ", combination_words(d))
  scaled <- if (!is.null(d$scales)) {
    paste0(", after their overlaps were raised to the powers ", toString(signif(d$scales, 3)))
  }
  paste0(d$type, " network of ", method_title(d$method), " raised to the ", power_words(d$power), " (TOMType \"",
         d$TOMType, "\", denominator \"", d$TOMDenom, "\"", combined, scaled, ")")
}

#' @exportClass gpuTOMNetwork
setClass("gpuTOMNetwork", contains = "gpuCorNetwork", slots = c(overlap = "list"))

show_tom_network <- function(object) {
  cat("Topological overlap, in the place of r: ", describe_rule(object@overlap), "\n", sep = "")
  show_network(object)
}

#' @rdname gpuCorNetwork-class
#' @export
setMethod("show", "gpuTOMNetwork", show_tom_network)

#' @rdname gpuCorNetwork-class
#' @export
setMethod("print", "gpuTOMNetwork", function(x, ...) show_tom_network(x))
