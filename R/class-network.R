# Classes of networks: sparse matrices that know how they came about.

network_slots <- c(method = "character", sign = "character", criterion = "character", value = "numeric",
                   threshold = "numeric", edges = "numeric", pairs = "numeric", n_obs = "numeric", tests = "list",
                   adjusted = "list",
                   call = "call")

#' Networks
#'
#' What [gpuCorNetwork()] returns: a sparse matrix of package Matrix, to be used as
#' such, with slots that tell how it came about. `gpuCorNetwork` is a symmetric
#' `dsCMatrix`, `gpuCorNetworkXY` (variables of `x` against those of `y`) a
#' `dgCMatrix`. Arithmetic such as `net^2` or `atanh(net)` makes other values of the coefficients and gives a plain
#' sparse matrix of these classes, as it gives a plain `dist` of coefficients of all pairs. `t()`, `diag()`,
#' `rowSums()`, `colSums()` and the means, `crossprod()` and `isSymmetric()` work whether Matrix is attached or
#' not; for all else, attach it.
#'
#' @slot method,sign,call The arguments, and the call.
#' @slot criterion,value Which argument chose the edges, and its value.
#' @slot threshold The weight (`|r|`, `r` or `-r`) of the weakest coefficient that would have been
#'   an edge; `NA` where there is no single one: for `k`, and for p values that do not follow
#'   from the coefficient alone. By exact p values of Spearman's rho or Kendall's tau it lies halfway between that
#'   coefficient and the next smaller one that there can be. The network's own coefficients are at least this large,
#'   exactly. Coefficients of another program, or of [gpuCor()], differ in the last digits: by up to 1e-6, or by 1e-13
#'   with `precision = "double"`. Compared with the threshold, pairs so near to it, and those that tie with it, may fall
#'   on either side. Give `precision = "double"` to both functions, and the same pairs are found; for another program
#'   subtract 1e-12 from that threshold.
#' @slot edges,pairs How many edges there are, of how many pairs.
#' @slot n_obs Observations used.
#' @slot tests A list from which `as.data.frame()` makes p values; empty unless edges were chosen by `p.value` or `fdr`.
#' @slot adjusted What changed the coefficients, such as covariates, as the header prints it; an empty list: nothing.
#' @param x,object A network.
#' @param na.rm,dims As in [Matrix::rowSums()].
#' @param row.names,optional,... Not used.
#' @return `as.data.frame()`: a data frame `from`, `to`, `r`, an edge in each row,
#'   strongest first, then by `from` and `to` in the order of the columns; names where the
#'   columns have names, otherwise numbers. Edges that were chosen by `p.value` or `fdr` also have `p.value`, the
#'   two-sided p value. Those chosen by `fdr` also have `fdr`, the p value adjusted by Benjamini and Hochberg over all
#'   pairs that have a coefficient, as `p.adjust(p, "BH")` of all their p values has it. Edges chosen by `p.value` have
#'   no such column, as adjusted values depend on pairs with larger p values, too. A column of names takes 4 bytes an
#'   edge until it is changed or sorted. Variables without an edge are not in it: for a graph with all of them see
#'   [as_igraph()].
#' @examples
#' net <- gpuCorNetwork(as.matrix(mtcars), density = 0.1)
#' net@edges
#' net@threshold
#' head(as.data.frame(net))
#' plot(net, "weight")
#' @aliases gpuCorNetworkXY-class gpuTOMNetwork-class
#' @exportClass gpuCorNetwork
setClass("gpuCorNetwork", contains = "dsCMatrix", slots = network_slots)

#' @exportClass gpuCorNetworkXY
setClass("gpuCorNetworkXY", contains = "dgCMatrix", slots = network_slots)

# rows: compressed rows of the lower triangle, which are the columns of the upper one; or of y. The slots are set
# one by one: new() would have the validity of every entry checked, which takes longer than to make them.
new_network <- function(rows, task, class = if (is.null(task$y)) "gpuCorNetwork" else "gpuCorNetworkXY") {
  symmetric <- is.null(task$y)
  network <- methods::new(class)
  slots <- c(list(Dim = c(ncol(task$x), ncol(if (symmetric) task$x else task$y)), Dimnames = network_names(task)),
             rows[c("p", "i", "x")], if (symmetric) list(uplo = "U"), network_details(rows, task),
             list(tests = rows$tests, call = task$call))
  for (name in names(slots)) methods::slot(network, name) <- slots[[name]]
  network
}

network_names <- function(task) list(colnames(task$x), colnames(if (is.null(task$y)) task$x else task$y))

network_details <- function(rows, task) {
  list(method = task$method, sign = task$sign, criterion = task$criterion$name, value = task$criterion$value,
       threshold = rows$threshold, edges = as.numeric(length(rows$x)), pairs = task$pairs, n_obs = rows$n_obs,
       adjusted = as.list(adjustment_of(task$settings, task$x)))
}

# Edges of compressed rows as a data frame, strongest first; with p values if rows$tests has any.
edge_frame <- function(rows, names_x, names_y, threads) {
  edges <- checked(.Call(r_sorted_edges, rows$p, rows$i, rows$x, threads))
  at <- if (!is.null(rows$tests$p.value) || !is.null(rows$tests$near)) entries_at(rows, edges)
  frame <- name_edges(edges$from, edges$to, edges$r, names_x, names_y)
  list2DF(c(frame, edge_tests(edges$r, rows$tests, at, threads)))
}

# Positions of edges, given by their variables' numbers, among the entries of compressed rows, which ascend.
entries_at <- function(rows, edges) {
  key <- function(from, to) to * (max(rows$i, 0) + 2) + from
  findInterval(key(edges$from, edges$to), key(rows$i + 1, row_numbers(rows$p)))
}

name_edges <- function(from, to, r, names_x, names_y) {
  list2DF(list(from = names_at(from, names_x), to = names_at(to, names_y), r = r))
}

# Users may change a network's names.
names_at <- function(numbers, names) {
  if (is.null(names)) return(numbers)
  if (length(numbers) == 0L) return(character())
  if (!isTRUE(min(numbers) >= 1L && max(numbers) <= length(names))) {
    first <- numbers[is.na(numbers) | numbers < 1L | numbers > length(names)][1L]
    fail("there is no name ", first, " of ", length(names))
  }
  names[numbers]
}

#' @rdname gpuCorNetwork-class
#' @export
as.data.frame.gpuCorNetwork <- function(x, row.names = NULL, optional = FALSE, ...) {
  rows <- list(p = x@p, i = x@i, x = x@x, tests = attr(x, "tests")) # networks saved by version 0.1.0 lack the slot
  frame <- edge_frame(rows, x@Dimnames[[1L]], x@Dimnames[[2L]], choose_threads(setting(NULL, "threads")))
  names(frame)[3L] <- value_name(x)
  frame
}

#' @rdname gpuCorNetwork-class
#' @export
as.data.frame.gpuCorNetworkXY <- as.data.frame.gpuCorNetwork

# What the weight of a pair is, by `sign`.
weight_names <- c(absolute = "|r|", positive = "r", negative = "-r")

# weight: what the threshold is of.
describe_network <- function(d, weight = weight_names[[d$sign]]) {
  chosen <- switch(d$criterion,
    k = if (d$value == 1) "each one's strongest neighbour" else paste0("each one's ", d$value, " strongest neighbours"),
    paste0(d$criterion, " = ", format(d$value))
  )
  share <- if (d$pairs > 0) paste0(" of ", n_of(d$pairs, "pair"), " (", signif(100 * d$edges / d$pairs, 3), " %)")
  least <- if (is.finite(d$threshold)) paste0(": ", weight, " >= ", format(d$threshold, digits = 6))
  paste0(method_title(d$method), " of ", n_of(d$n_obs, "observation"), ", ", chosen, least, "\n",
         adjusted_line(d$adjusted, d$method, d$n_obs), n_of(d$edges, "edge"), share)
}

show_network <- function(object) {
  value <- value_name(object)
  d <- attributes(object)[names(network_slots)]
  cat("Network of ", paste(unique(vapply(dim(object), format_count, "")), collapse = " x "),
      if (identical(unique(dim(object)), 1L)) " variable\n" else " variables\n",
      describe_network(d, if (value == "overlap") value else weight_names[[d$sign]]), "\n", sep = "")
  top <- checked(.Call(r_strongest, object@x, 6L, choose_threads(setting(NULL, "threads"))))
  if (!length(top)) return(invisible(object))
  edges <- name_edges(object@i[top] + 1L, findInterval(top - 1, object@p), object@x[top], object@Dimnames[[1L]],
                      object@Dimnames[[2L]])
  names(edges)[3L] <- value
  cat("strongest:\n")
  print(edges, digits = 4L, row.names = FALSE)
  invisible(object)
}

#' @rdname gpuCorNetwork-class
#' @export
setMethod("show", "gpuCorNetwork", show_network)

#' @rdname gpuCorNetwork-class
#' @export
setMethod("show", "gpuCorNetworkXY", show_network)

# Matrix has a print() of its own, which prints all.
#' @rdname gpuCorNetwork-class
#' @importMethodsFrom Matrix print
#' @export
setMethod("print", "gpuCorNetwork", function(x, ...) show_network(x))

#' @rdname gpuCorNetwork-class
#' @export
setMethod("print", "gpuCorNetworkXY", function(x, ...) show_network(x))

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
