# Class gpuCorResult, results that are lists, and class gpuCorSummary, their summaries.

# Elements that are NULL in some results, depending on the arguments.
OPTIONAL_ELEMENTS <- c("df", "statistic", "p.value", "conf.low", "conf.high", "conf.level", "p.adjusted", "degree",
                       "strength", "threshold", "edges", "soft", "histogram", "power", map_names, "fit", "scales",
                       "combine", "probs", "calibration", "calibrationQuantile", "covariates", "num_df", "stability",
                       "diagonal", "gold")

# Works as for any list, but an unknown name is an error: NULL could be mistaken for a result.
#' @export
`$.gpuCorResult` <- function(x, name) {
  at <- pmatch(name, names(x))
  if (!is.na(at)) return(.subset2(x, at))
  if (name %in% OPTIONAL_ELEMENTS) return(NULL)
  meant <- if (OTHER_ELEMENTS[name] %in% names(x)) OTHER_ELEMENTS[[name]] else nearest(name, names(x))
  fail("a ", class(x)[1L], " has no element '", name, "'; ", if (length(meant)) {
    paste0("did you mean $", meant, "?")
  } else {
    paste("there are", if (is.null(names(x))) "elements without names" else paste0("$", names(x), collapse = ", "))
  })
}

# Names of these elements in the results of WGCNA.
OTHER_ELEMENTS <- c(MEs = "eigengenes", multiMEs = "eigengenes", dendrograms = "tree", moduleLabels = "labels",
                    moduleColors = "colors", unmergedColors = "unmerged", goodGenes = "genes", goodSamples = "samples",
                    networkType = "type", powerEstimate = "power")

#' @importFrom utils head
#' @method head gpuCorResult
#' @export
head.gpuCorResult <- function(x, n = 6L, ...) utils::head(as.data.frame(x), n)

#' @importFrom utils tail
#' @method tail gpuCorResult
#' @export
tail.gpuCorResult <- function(x, n = 6L, ...) utils::tail(as.data.frame(x), n)

# ---- summaries

#' Summaries of results
#'
#' `summary()` returns the numbers that are reported with a result, as a list.
#'
#' @param object A network ([gpuCorNetwork()]), or what [gpuConnectivity()], [pickPower()], [gpuGradients()],
#'   [gpuCorTest()], [gpuCorCompare()] or [gpuAssociation()] with `output = "matrix"` returns. For [gpuCor()] and
#'   [gpuTOM()] see [gpuCor-class], for modules [gpuModules-methods], for windows [gpuCorWindows()].
#' @param n A number: how many of the best connected variables, or of the smallest p values, to list.
#' @param level A number between 0 and 1: the level of significance.
#' @param x A summary.
#' @param digits A number: significant digits to print.
#' @param ... Not used.
#' @return A list:
#'   * of a network: `variables`, `observations`, `pairs`, `edges`, `density` (edges per pair), `threshold`, `positive`
#'     (fraction of the edges), `isolated` (variables without an edge); the quantiles `degree`, `weight`, `stability`
#'     with `resample`, and `lag` with `lag`; and `hubs`, a data frame of `variable`, `degree` and `strength` (the sum
#'     of absolute coefficients);
#'   * of connectivity: `quantiles` of each measure, `fit` (R^2 and slope of the scale-free fit for each power), and
#'     `hubs` by the first measure;
#'   * of powers: `estimate`, and `fit`, its row of the table;
#'   * of gradients: `variables`, `missing` (variables without one), `lambda`, and `quantiles` of each;
#'   * of tests, comparisons and associations: `tests`, `missing` (tests without a p value), `significant` (how many p
#'     values are at most `level`: unadjusted, by Bonferroni, by Benjamini and Hochberg, and by permutation), `level`
#'     and `strongest`, the rows of `as.data.frame()` with the smallest p values.
#'
#'   `head()` and `tail()` of such results return rows of `as.data.frame()`. Those of a network are its strongest and
#'   its weakest edges.
#' @examples
#' summary(gpuCorNetwork(mtcars, threshold = 0.8))
#' summary(gpuCorTest(mtcars))$significant
#' @name summary.gpuCorNetwork
NULL

# `numbers`: a named list; `title`: the first lines that print() shows.
new_summary <- function(numbers, title, object) {
  structure(numbers, title = title, class = c(paste0("summary.", class(object)[1L]), "gpuCorSummary"))
}

#' @rdname summary.gpuCorNetwork
#' @method print gpuCorSummary
#' @export
print.gpuCorSummary <- function(x, digits = 4L, ...) {
  cat(sub("\n$", "", attr(x, "title")), "\n", sep = "")
  is_number <- vapply(x, function(part) is_numeric(part) && length(part) == 1L && is.null(names(part)), NA)
  numbers <- vapply(x[is_number], format, "", digits = digits, big.mark = ",")
  numbers <- paste(names(numbers), numbers, collapse = ", ")
  if (nzchar(numbers)) cat(strwrap(numbers, 0.9 * getOption("width")), sep = "\n")
  for (name in names(x)[!is_number]) show_part(x[[name]], name, digits)
  invisible(x)
}

# Prints vectors of numbers and tables, unless they are empty.
show_part <- function(part, name, digits) {
  if (!NROW(part) || is.character(part)) return(invisible())
  cat(name, ":\n", sep = "")
  if (is.data.frame(part)) print(part, digits = digits, row.names = FALSE) else print(part, digits = digits)
}
