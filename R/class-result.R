# Class gpuCorResult, results that are lists, and class gpuCorSummary, their summaries.

# Elements that are NULL in some results, depending on the arguments.
OPTIONAL_ELEMENTS <- c("df", "statistic", "p.value", "conf.low", "conf.high", "conf.level", "p.adjusted", "degree",
                       "strength", "threshold", "edges", "soft", "histogram", "power", map_names, "fit", "scales",
                       "combine", "probs", "calibration", "calibrationQuantile", "covariates", "num_df", "stability",
                       "diagonal", "gold", "subjects", "lambdas", "options")

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

# ---- data frames: the first columns say what a row is, see the help below

# Returns a data frame with a row for each variable. `names`: NULL if there are none; `columns`: a list of vectors.
# Names that differ are also those of the rows.
variable_frame <- function(names, columns, row.names = NULL) {
  if (is.null(row.names) && !anyDuplicated(names) && !anyNA(names)) row.names <- names
  variable <- if (is.null(names)) seq_along(columns[[1L]]) else names
  frame <- list2DF(c(list(variable = variable), lapply(columns, as.vector)))
  if (!is.null(row.names)) row.names(frame) <- row.names
  frame
}

# ---- summaries

#' Summaries, rows and pictures of results
#'
#' `as.data.frame()` returns a result's table, in which names are columns: `variable`, `gene` or `module`, or `from` and
#' `to`. They are numbers of columns if these have no names. So
#' `merge(as.data.frame(x), genes, by.x = "from", by.y = "id")` joins an annotation, and
#' `write.csv(as.data.frame(x), file, row.names = FALSE)` loses nothing. For a matrix of coefficients
#' `as.data.frame(as.table(r))` makes such a table, for a list of networks `lapply(x, as.data.frame)`.
#'
#' `summary()` returns the numbers that are reported with a result, as a list. `head()` and `tail()` return rows of
#' `as.data.frame()`. Most methods of `print()` have an argument `digits`.
#'
#' @section Pictures:
#' Methods of `plot()` use package graphics. With `type = "auto"` there may be several panels; with another `type` there
#' is one, which may be part of a page of [graphics::layout()]. `...` are graphical parameters such as `main`, and:
#'   * `text`, a factor of the size of text and margins, such as 1.3;
#'   * `palette`, the colors of numbers from negative to positive: the name of one of `hcl.pals("diverging")`, or three
#'     colors or more. Numbers without a sign have its upper half. Readers with red-green blindness can tell the ends of
#'     `"Blue-Red 3"`, the default; missing coefficients are light gray;
#'   * `size`, the width and height in inches of a new device. Without it, the current one is used: to write a file,
#'     `pdf("figure.pdf", 7, 5); plot(x); dev.off()`.
#'
#' For ggplot2, use `as.data.frame()`.
#'
#' @param object A result. For [gpuCor()] and [gpuTOM()] see [gpuCor-class], for modules [gpuModules-methods].
#' @param n A number: how many of the best connected variables, or of the smallest p values, to list.
#' @param level A number between 0 and 1: the level of significance.
#' @param ... Not used.
#' @return A list:
#'   * of a network: `variables`, `observations`, `pairs`, `edges`, `density` (edges per pair), `threshold`, `positive`
#'     (fraction of the edges), `isolated` (variables without an edge); the quantiles `degree`, `weight`, `stability`
#'     with `resample`, and `lag` with `lag`; and `hubs`, a data frame of `variable`, `degree` and `strength`;
#'   * of connectivity: `quantiles` of each measure, `fit` (R^2 and slope), and `hubs` by the first measure;
#'   * of powers: `estimate`, and `fit`, its row of the table;
#'   * of gradients: `variables`, `missing` (variables without one), `lambda`, and `quantiles` of each;
#'   * of tests, comparisons and associations: `tests`, `missing` (tests without a p value), `significant` (how many p
#'     values are at most `level`: unadjusted, by Bonferroni, by Benjamini and Hochberg, and by permutation), `level`
#'     and `strongest`, the rows of `as.data.frame()` with the smallest p values.
#' @examples
#' summary(gpuCorNetwork(mtcars, threshold = 0.8))
#' summary(gpuCorTest(mtcars))$significant
#' @name summary.gpuCorNetwork
NULL

# `numbers`: a named list; `title`: the first lines that print() shows.
new_summary <- function(numbers, title, object) {
  structure(numbers, title = title, class = c(paste0("summary.", class(object)[1L]), "gpuCorSummary"))
}

#' @method print gpuCorSummary
#' @export
print.gpuCorSummary <- function(x, digits = 4L, ...) {
  cat(sub("\n$", "", attr(x, "title")), "\n", sep = "")
  is_number <- vapply(x, function(part) is_numeric(part) && length(part) == 1L && is.null(names(part)), NA)
  numbers <- vapply(x[is_number], format, "", digits = digits, big.mark = ",")
  numbers <- paste(names(numbers), numbers, collapse = ", ")
  if (nzchar(numbers)) cat(strwrap(numbers, 0.9 * getOption("width")), sep = "\n")
  for (name in names(x)[!is_number]) {
    part <- x[[name]]
    if (!NROW(part) || is.character(part)) next # vectors of numbers and tables, unless they are empty
    cat(name, ":\n", sep = "")
    if (is.data.frame(part)) print(part, digits = digits, row.names = FALSE) else print(part, digits = digits)
  }
  invisible(x)
}

# ---- how headers of results describe the adjustment; see adjustment_of()

# Returns "adjusted for 6 covariates, filtered to 0.01-0.1 Hz (TR 2 s): 12 degrees of freedom\n", or NULL if nothing
# applies. `n_obs`: number of observations, of all pairs or of each; `left`: degrees of freedom, if known; `start`,
# `end`: text around.
adjusted_line <- function(adjusted, method, n_obs = NULL, left = NULL, start = "", end = "\n") {
  design <- c(
    unlist(lapply(intersect(names(REGRESSORS), names(adjusted)), function(kind) REGRESSORS[[kind]]$words(adjusted))),
    if (!is.null(adjusted$spectrum)) {
      paste0(n_of(adjusted$spectrum[1L], "segment"), " of ", n_of(adjusted$spectrum[2L], "observation"), ", ",
             adjusted$spectrum[3L], if (adjusted$spectrum[3L] == 1) " frequency" else " frequencies")
    },
    if (!is.null(adjusted$effective)) {
      paste0("weighted (effective n ", number_words(adjusted$effective), ")")
    } else if (isTRUE(adjusted$graded)) {
      "weighted"
    },
    if (length(adjusted$shrinkage)) {
      paste0("partial given all other columns (shrinkage ",
             paste(format(adjusted$shrinkage, digits = 3L), collapse = " to "), ")")
    },
    if (!is.null(adjusted$lioness)) paste("network of sample", adjusted$lioness, "(LIONESS)"),
    if (!is.null(adjusted$normalize)) "context likelihood (CLR)",
    if (!is.null(adjusted$lag)) paste("largest over lags", paste(adjusted$lag, collapse = " to ")),
    if (!is.null(adjusted$shared)) paste("edges of", range_of(adjusted$shared, "pairwise-complete observation")),
    if (!is.null(adjusted$zeros)) paste("without", range_of(adjusted$zeros, "observation"), "of weight 0")
  )
  if (length(design) && !is.null(adjusted$subjects)) design[1L] <- paste("each", design[1L])
  max_t <- adjusted$max_t
  options <- adjusted$options
  what <- c(
    if (!is.null(adjusted$combined)) paste0(n_of(adjusted$subjects, "subject"), " combined ", adjusted$combined),
    design,
    if (!is.null(max_t)) {
      kind <- if (max_t$how == "permutation") "permutation" else paste(max_t$how, "surrogate")
      paste(if (max_t$adjust == "fdr") "rates" else "p values adjusted", "by", n_of(max_t$n_perm, kind))
    },
    if (length(options)) paste0(names(options), " = ", options)
  )
  parts <- c(if (length(what)) paste(what, collapse = ", "), freedom_words(adjusted, method, n_obs, left))
  if (length(parts)) paste0(start, paste(parts, collapse = ": "), end)
}

number_words <- function(values) paste(format(values, digits = 4L, trim = TRUE, big.mark = ","), collapse = " to ")

# Returns the degrees of freedom as text, or NULL if they are n - 2. Those of a fitted null distribution are not shown,
# as they do not count observations and may exceed their number.
freedom_words <- function(adjusted, method, n_obs, left) {
  if (!is_t_distributed(method)) return(NULL)
  if (isTRUE(adjusted$is_null_fitted)) return("p values by a null distribution fitted to the coefficients")
  if (identical(adjusted$df, "bartlett")) return("degrees of freedom of each pair by Bartlett's formula")
  if (is.null(left)) {
    n <- if (is.null(n_obs) || is.null(adjusted$effective)) n_obs else adjusted$effective
    left <- if (!is.null(adjusted$subjects)) {
      adjusted$left
    } else if (is_numeric(adjusted$df)) {
      adjusted$df
    } else {
      n - measure_of(method)$df_taken - if (is.null(adjusted$lost)) 0 else adjusted$lost
    }
  }
  left <- range_if_any(left[is.finite(left) & left > 0])
  if (!length(left) || identical(as.numeric(left), as.numeric(range_if_any(n_obs - 2)))) return(NULL)
  paste0(number_words(left), " degree", if (!identical(as.numeric(left), 1)) "s", " of freedom")
}
