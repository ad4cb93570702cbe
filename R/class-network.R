# Classes of networks: sparse matrices with slots that record how they were made.

#' @exportClass gpuNetwork
setClass("gpuNetwork", contains = "VIRTUAL",
         slots = c(method = "character", sign = "character", criterion = "character", value = "numeric",
                   threshold = "numeric", edges = "numeric", pairs = "numeric", n_obs = "numeric", tests = "list",
                   adjusted = "list", stability = "numeric", call = "call"))

#' Networks
#'
#' [gpuCorNetwork()] returns a sparse matrix of package Matrix, whose slots say how it was made. Use it as any sparse
#' matrix: attach Matrix for its functions.
#'
#' Class `gpuCorNetwork` is a symmetric `dsCMatrix`. Class `gpuCorNetworkXY` (variables of `x` against those of `y`) is
#' a `dgCMatrix`. Arithmetic such as `net^2` or `atanh(net)` gives a plain sparse matrix. `t()`, `diag()`, `rowSums()`
#' and the like, `crossprod()` and `isSymmetric()` work without attaching Matrix.
#'
#' @slot method,sign,criterion,value,call The arguments, the one that chose the edges and its value, and the call.
#' @slot threshold A number: the smallest weight (`|r|`, `r` or `-r`) that makes an edge. `NA` if there is no single
#'   one: for `k`, and if equal coefficients can have different p values. With exact p values of Spearman's rho or
#'   Kendall's tau it lies halfway between that coefficient and the next smaller possible one. Coefficients of
#'   [gpuCor()] differ by up to 1e-6, unless both have `precision = "double"`.
#' @slot edges,pairs,n_obs The numbers of edges, of pairs and of observations.
#' @slot tests A list from which `as.data.frame()` makes p values; empty unless `p.value` or `fdr` chose the edges.
#' @slot adjusted A list of what changed the coefficients, such as covariates, or the edges: `pruned`, the tolerance of
#'   [gpuPrune()]; and `shared`, the minimum and maximum number of observations of an edge, if pairs differ in that.
#' @slot stability With `resample`, that of each element of slot `x`.
#' @param x A network.
#' @param ... Graphical parameters such as `main`, if `type` is not `"auto"`.
#' @return `as.data.frame()`: a data frame with an edge in each row, the strongest first: `from`, `to` and `r`. Edges
#'   chosen by `p.value` or `fdr` also have `p.value` (two-sided), and those chosen by `fdr` have `fdr`, the p value
#'   adjusted by Benjamini and Hochberg over all pairs that have a coefficient; with `adjust` it is `p.adjusted`. With
#'   `resample` there is a column `stability`, and with `lag` a column `lag`. [as_igraph()] has variables without an
#'   edge, too.
#' @examples
#' net <- gpuCorNetwork(as.matrix(mtcars), density = 0.1)
#' net@threshold
#' head(as.data.frame(net))
#' plot(net, "weight")
#' @aliases gpuNetwork-class gpuCorNetworkXY-class gpuTOMNetwork-class
#' @exportClass gpuCorNetwork
setClass("gpuCorNetwork", contains = c("gpuNetwork", "dsCMatrix"))

#' @exportClass gpuCorNetworkXY
setClass("gpuCorNetworkXY", contains = c("gpuNetwork", "dgCMatrix"))

#' @exportClass gpuTOMNetwork
setClass("gpuTOMNetwork", contains = "gpuCorNetwork", slots = c(overlap = "list"))

#' @rdname gpuCorCompare
#' @exportClass gpuCorDifference
setClass("gpuCorDifference", contains = "gpuCorNetwork", slots = c(error = "numeric", maxima = "numeric",
                                                                   components = "list", groups = "numeric",
                                                                   min_p = "numeric"))

# `rows`: compressed rows of the lower triangle, or of y.
new_network <- function(rows, run, class = if (is.null(run$y)) "gpuCorNetwork" else "gpuCorNetworkXY") {
  with_slots(methods::new(class), c(matrix_slots(rows, run), network_details(rows, run),
                                    list(tests = rows$tests, stability = as.numeric(rows$stability),
                                         call = run$call)))
}

# ---- printing

# Returns the name of entries in data frames and graphs.
value_name <- function(net) {
  if (!is_network(net)) return("value")
  if (is(net, "gpuCorDifference")) return("difference")
  if (is(net, "gpuTOMNetwork")) return("overlap")
  if (is.null(net@adjusted$normalize)) "r" else net@adjusted$normalize
}

# Names of a pair's weight, by `sign`.
weight_names <- c(absolute = "|r|", positive = "r", negative = "-r")

# `d`: a list named like a network's slots, without a threshold if a file has none; `weight`: the name of the
# thresholded value.
describe_network <- function(d, weight = weight_names[[d$sign]]) {
  chosen <- switch(d$criterion,
    k = if (d$value == 1) "each one's strongest neighbor" else paste0("each one's ", d$value, " strongest neighbors"),
    paste0(d$criterion, " = ", format(d$value))
  )
  fraction <- if (d$pairs > 0) paste0(" of ", n_of(d$pairs, "pair"), " (", signif(100 * d$edges / d$pairs, 3), " %)")
  bound <- if (isTRUE(is.finite(d$threshold))) paste0(": ", weight, " >= ", format(d$threshold, digits = 6))
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
  weight <- if (is(net, "gpuTOMNetwork")) {
    if (any(net@x < 0)) "|overlap|" else "overlap"
  } else if (value_name(net) == "clr") {
    "clr"
  } else {
    sub("r", value_name(net), weight_names[[net@sign]])
  }
  size <- paste(unique(vapply(dim(net), format_count, "")), collapse = " x ")
  paste0(what, " of ", size, " ", column_word(net@method), if (size != "1") "s", "\n",
         describe_network(attributes(net), weight),
         if (is(net, "gpuCorDifference")) {
           paste0("p values by ", null_words(net@error, length(net@groups), length(net@maxima) > 0), "\n")
         })
}

show_network <- function(object) {
  check_slots(object, "x")
  cat(network_title(object))
  components <- if (is(object, "gpuCorDifference")) object@components$table
  if (!is.null(components)) {
    cat(n_of(nrow(components), "component"), if (nrow(components)) ", the largest:", "\n", sep = "")
    if (nrow(components)) print(utils::head(components), digits = 4L, row.names = FALSE)
  }
  top <- checked(.Call(r_summary, object@x, numeric(), 6L, choose_threads(setting(NULL, "threads"))))$strongest
  if (!length(top)) return(invisible(object))
  edges <- name_edges(object@i[top] + 1L, findInterval(top - 1, object@p), object@x[top], object@Dimnames[[1L]],
                      object@Dimnames[[2L]])
  names(edges)[3L] <- value_name(object)
  edges$lag <- object@tests$lag[top]
  cat("strongest:\n")
  print(edges, digits = 4L, row.names = FALSE)
  invisible(object)
}

#' @rdname gpuCorNetwork-class
#' @usage NULL
#' @export
setMethod("show", "gpuNetwork", show_network)

# Overrides the print() of Matrix, which prints all entries.
#' @rdname gpuCorNetwork-class
#' @usage NULL
#' @importMethodsFrom Matrix print
setMethod("print", "gpuNetwork", function(x, ...) show_network(x))

#' @method head gpuNetwork
#' @export
head.gpuNetwork <- function(x, n = 6L, ...) utils::head(as.data.frame(x), n)

#' @method tail gpuNetwork
#' @export
tail.gpuNetwork <- function(x, n = 6L, ...) utils::tail(as.data.frame(x), n)

# Override head() and tail() of Matrix, which return rows.
setMethod("head", "gpuNetwork", head.gpuNetwork)
setMethod("tail", "gpuNetwork", tail.gpuNetwork)

# Names the slot or the edges, as a network is a matrix and not a list.
#' @export
`$.gpuNetwork` <- function(x, name) {
  fail("a network has no element '", name, "'; as.data.frame() has its edges",
       if (name %in% methods::slotNames(x)) paste0(", and x@", name, " is its slot"))
}

# ---- conversion

#' @rdname gpuCorNetwork-class
#' @usage NULL
#' @export
as.data.frame.gpuNetwork <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_slots(x, "x")
  rows <- list(p = x@p, i = x@i, x = x@x, tests = x@tests, stability = x@stability)
  frame <- edge_frame(rows, x@Dimnames[[1L]], x@Dimnames[[2L]])
  names(frame)[3L] <- value_name(x)
  if (!is(x, "gpuCorDifference")) return(frame)
  if (length(x@error)) { # one standard error for all pairs
    min_p <- attr(x, "min_p") # networks that an earlier version saved have no slot
    tests <- z_tests(frame$difference / x@error, if (length(x@groups)) x@groups, if (length(min_p)) min_p)
    frame[names(tests)] <- tests
    if (length(x@groups)) frame$df <- rep(x@groups - 1, nrow(frame))
  }
  if (length(x@maxima)) {
    values <- permuted_values(frame, !length(x@error), attr(x@maxima, "to"))
    frame$p.adjusted <- adjusted_by_maxima(x@maxima, frame$p.value, values, x@sign)
  }
  if (length(x@components)) frame$p.component <- x@components$table$p.value[frame$component]
  frame[intersect(c("from", "to", "component", "p.component", "r.x", "r.y", "class", "difference", "statistic", "df",
                    "p.value", "fdr", "p.adjusted"), names(frame))]
}

# ---- summary

#' @rdname summary.gpuCorNetwork
#' @method summary gpuNetwork
#' @export
summary.gpuNetwork <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  degrees <- degrees_of_network(object)
  all <- unlist(degrees, use.names = FALSE)
  size <- dim(object)
  ends <- network_ends(object)
  sum_by <- function(at, length) as.vector(tapply(abs(object@x), factor(at, seq_len(length)), sum, default = 0))
  strength <- list(sum_by(ends$from, size[1L]), sum_by(ends$to, size[2L]))
  symmetric <- is(object, "gpuCorNetwork")
  strength <- if (symmetric) strength[[1L]] + strength[[2L]] else unlist(strength)
  names <- vertex_names(object@Dimnames, size, symmetric)
  best <- utils::head(order(-all, -strength), n)
  best <- best[all[best] > 0]
  hubs <- data.frame(variable = if (is.null(names)) best else names[best], degree = all[best],
                     strength = strength[best])
  new_summary(
    c(list(variables = if (length(degrees) > 1L) lengths(degrees) else length(all), observations = object@n_obs,
           pairs = object@pairs, edges = object@edges, density = object@edges / object@pairs,
           threshold = object@threshold, positive = mean(object@x > 0), isolated = sum(all == 0),
           degree = stats::quantile(all), weight = stats::quantile(object@x)),
      if (length(object@stability)) list(stability = stats::quantile(object@stability)),
      if (!is.null(object@tests$lag)) list(lag = stats::quantile(object@tests$lag)),
      list(hubs = hubs)),
    network_title(object), object)
}

# Overrides the method of Matrix, which lists the entries.
#' @rdname summary.gpuCorNetwork
#' @usage NULL
#' @importMethodsFrom Matrix summary
setMethod("summary", "gpuNetwork", function(object, ...) summary.gpuNetwork(object, ...))

# ---- networks in files

describe_network_file <- function(x) paste0("Network in ", x$file, "\n", describe_network(unclass(x)))

#' @method print gpuCorNetworkFile
#' @export
print.gpuCorNetworkFile <- function(x, ...) {
  cat(describe_network_file(x))
  invisible(x)
}

#' @method summary gpuCorNetworkFile
#' @export
summary.gpuCorNetworkFile <- function(object, ...) {
  new_summary(list(variables = object$variables, observations = object$n_obs, pairs = object$pairs,
                   edges = object$edges, density = object$edges / object$pairs,
                   threshold = if (is.null(object$threshold)) NA_real_ else object$threshold),
              describe_network_file(object), object)
}

# The order of edges is that of a network in memory: equal ones by `from`, then by `to`.
#' @export
as.data.frame.gpuCorNetworkFile <- function(x, row.names = NULL, optional = FALSE, ...) {
  need_packages("rhdf5", "to read a network's file")
  check_memory(100 * x$edges, "the data frame", n_of(x$edges, "edge"), "HDF5Array::H5SparseMatrix() reads a part")
  read <- function(name) as.vector(reading_hdf5(x$file, rhdf5::h5read(x$file, name, bit64conversion = "double")))
  names <- lapply(c("obs/_index", "var/_index"), function(of) {
    names <- read(of)
    if (!identical(names, as.character(seq_along(names)))) names # else numbers that stand for names
  })
  from <- row_numbers(read("X/indptr"))
  to <- if (x$edges > 0) as.integer(read("X/indices")) + 1L else integer() # rhdf5 reads no empty vector
  r <- if (x$edges > 0) read("X/data") else numeric()
  kept <- if (length(x$variables) == 1L) which(from < to) else seq_along(r) # of both triangles one
  kept <- kept[order(-abs(r[kept]), from[kept], to[kept])]
  name_edges(from[kept], to[kept], r[kept], names[[1L]], names[[2L]])
}

# ---- matrices: methods that work without attaching Matrix, and arithmetic, which returns plain matrices

# Not called within an S4 generic's argument, whose dispatch would wrap the error.
checked_sparse <- function(x) as_plain_sparse(check_slots(x, "x"))

# S3 methods work without Matrix, S4 methods if it is attached. The S4 methods are not exported, like those of print()
# and summary(): an exported generic would mask base's, and change the class of errors in its argument.
#' @rdname gpuCorNetwork-class
#' @usage NULL
#' @importMethodsFrom Matrix t
setMethod("t", "gpuNetwork", function(x) t.gpuNetwork(x))

#' @method t gpuNetwork
#' @export
t.gpuNetwork <- function(x) {
  x <- checked_sparse(x)
  Matrix::t(x)
}

#' @method isSymmetric gpuNetwork
#' @export
isSymmetric.gpuNetwork <- function(object, ...) {
  object <- checked_sparse(object)
  Matrix::isSymmetric(object, ...)
}

# The mean includes entries that are 0.
#' @method mean gpuNetwork
#' @export
mean.gpuNetwork <- function(x, ...) {
  x <- checked_sparse(x)
  mean(Matrix::colMeans(x))
}

# ---- arithmetic

# Matrix keeps the class if the sparsity pattern is unchanged.

#' @importMethodsFrom Matrix Arith Math Math2
#' @exportMethod Arith
#' @exportMethod Math
#' @exportMethod Math2
#' @aliases Arith,gpuCorNetwork,numeric-method Arith,numeric,gpuCorNetwork-method
#' @aliases Arith,gpuCorNetwork,logical-method Arith,logical,gpuCorNetwork-method
#' @aliases Arith,gpuCorNetwork,missing-method Math,gpuCorNetwork-method
#' @aliases Math2,gpuCorNetwork-method Arith,gpuCorNetworkXY,numeric-method
#' @aliases Arith,numeric,gpuCorNetworkXY-method Arith,gpuCorNetworkXY,logical-method
#' @aliases Arith,logical,gpuCorNetworkXY-method Arith,gpuCorNetworkXY,missing-method
#' @aliases Math,gpuCorNetworkXY-method Math2,gpuCorNetworkXY-method
#' @name gpuCorNetwork-class
NULL

for (class in c("gpuCorNetwork", "gpuCorNetworkXY")) {
  for (other in c("numeric", "logical")) {
    setMethod("Arith", c(class, other), function(e1, e2) {
      e1 <- checked_sparse(e1)
      methods::callGeneric()
    })
    setMethod("Arith", c(other, class), function(e1, e2) {
      e2 <- checked_sparse(e2)
      methods::callGeneric()
    })
  }
  setMethod("Arith", c(class, "missing"), function(e1, e2) {
    e1 <- checked_sparse(e1)
    methods::callGeneric(e1)
  })
  setMethod("Math", class, function(x) {
    x <- checked_sparse(x)
    methods::callGeneric(x)
  })
  setMethod("Math2", c(class, "ANY"), function(x, digits) {
    x <- checked_sparse(x)
    if (missing(digits)) methods::callGeneric(x) else methods::callGeneric(x, digits)
  })
}
rm(class, other)
