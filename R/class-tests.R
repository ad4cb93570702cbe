# Class gpuTests: tests of many pairs, from gpuCorTest(), gpuCorCompare() and gpuAssociation(output = "matrix").

# Columns of the data frame; the first is the effect size.
TEST_COLUMNS <- list(gpuCorTest = c("r", "conf.low", "conf.high", "n", "statistic", "p.value", "p.adjusted"),
                     gpuCorCompare = c("difference", "r.x", "r.y", "class", "statistic", "df", "p.value", "fdr",
                                       "score", "p.adjusted"),
                     gpuAssociation = c("r", "statistic", "p.value", "fdr", "p.adjusted"))

effect_of <- function(x) x[[TEST_COLUMNS[[class(x)[1L]]][1L]]]

# Returns the p values; those by permutation if there are no others.
p_values_of <- function(x) as.vector(if (has_own_p(x)) x$p.value else x$p.adjusted)

# Returns FALSE if only permutation gives p values, for lack of a known distribution or of observations.
has_own_p <- function(x) is.null(x$p.adjusted) || !is.null(x$p.value) && !all(is.na(x$p.value))

# Returns the positions of at most n smallest p values; among equal ones the larger effects come first.
smallest_tests <- function(x, n = Inf) {
  effect <- as.vector(effect_of(x))
  utils::head(order(p_values_of(x), -abs(effect), na.last = if (is.finite(n)) NA else TRUE),
              min(n, length(effect)))
}

test_rows <- function(x, at) {
  effect <- effect_of(x)
  if (inherits(effect, "dist")) {
    pairs <- variables_at(at, size_of(effect))
    labels <- list(attr(effect, "Labels"), attr(effect, "Labels"))
  } else {
    pairs <- arrayInd(at, dim(as.matrix(effect)))
    labels <- dimnames(effect)
  }
  name <- function(side) if (is.null(labels[[side]])) pairs[, side] else labels[[side]][pairs[, side]]
  columns <- intersect(TEST_COLUMNS[[class(x)[1L]]], names(x))
  list2DF(c(list(from = name(1L), to = name(2L)), lapply(unclass(x)[columns], function(values) {
    as.vector(if (length(values) > 1L) .subset(values, at) else rep(values, length(at)))
  })))
}

#' @rdname gpuCorTest
#' @usage NULL
#' @export
as.data.frame.gpuTests <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (inherits(x, "gpuAssociation")) {
    return(structure(test_rows(x, smallest_tests(x)), tests = x$tests, adjusted = attr(x, "adjusted")))
  }
  as.data.frame(test_rows(x, seq_along(effect_of(x))), row.names = row.names)
}

describe_tests <- function(x) {
  n <- if (is_numeric(x$n)) x$n
  tests <- if (inherits(x, "gpuAssociation")) x$tests else length(effect_of(x))
  of <- switch(class(x)[1L],
    gpuCorCompare = paste0(", ", compared_words(x)),
    gpuAssociation = paste0(" of ", n_of(nrow(x$r), "variable"), " and ", n_of(ncol(x$r), "trait"))
  )
  paste0(method_title(x$method), of, ", ", n_of(tests, "test"),
         if (inherits(x, "gpuCorTest")) paste0(", alternative ", x$alternative),
         adjusted_line(attr(x, "adjusted"), x$method, n, if (!inherits(x, "gpuCorCompare")) x$df, ", ", ""))
}

# Returns the null distribution of p values of differences. `error`: the standard error of fixed effects; `is_several`:
# TRUE for several groups, or several effects; `permuted`: TRUE if there are adjusted ones.
null_words <- function(error, is_several, permuted) {
  null <- if (!length(error)) {
    paste(if (is_several) "F" else "t", "of the subjects' z")
  } else {
    if (is_several) "chi-squared of z" else "the normal distribution of z"
  }
  paste0(null, if (permuted) "; adjusted ones by permutation")
}

compared_words <- function(x) {
  group <- function(n) {
    if (length(n) == 1L) return(n_of(n, "observation"))
    what <- if (x$compared == "several") "groups" else "subjects"
    paste0(length(n), " ", what, if (!anyNA(n)) paste0(" (", format_count(sum(n)), " observations)"))
  }
  what <- switch(x$compared, groups = "differences", several = "standard deviation", pairs = "paired differences",
                 mean = "mean", contrast = "contrast", effects = "standard deviation of effects")
  paste(what, if (x$compared == "mean") "z of" else "of z of",
        paste(c(group(x$n$x), if (!is.null(x$n$y)) group(x$n$y)), collapse = " against "))
}

#' @method print gpuTests
#' @export
print.gpuTests <- function(x, digits = 4L, ...) {
  cat(describe_tests(x), "; smallest ", if (isTRUE(x[["log.p"]])) "log p" else "p", ":\n", sep = "")
  print(test_rows(x, smallest_tests(x, 10)), digits = digits, row.names = FALSE)
  level <- x[["conf.level"]]
  if (!is.null(level)) cat("conf.low, conf.high: ", format(100 * level), " % confidence interval of r\n", sep = "")
  if (inherits(x, "gpuCorCompare")) {
    cat("p values by ", null_words(x$error, x$compared %in% c("several", "effects"), !is.null(x$p.adjusted)), "\n",
        sep = "")
  }
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuTests
#' @export
summary.gpuTests <- function(object, level = 0.05, n = 6L, ...) {
  level <- check_fraction(level, "level", zero = FALSE)
  n <- check_whole(n, "n", 0, 1e6)
  number <- if (isTRUE(object[["log.p"]])) exp else identity
  sorted <- sort(number(p_values_of(object)))
  tests <- length(sorted)
  significant <- if (has_own_p(object)) {
    c(p.value = sum(sorted <= level), bonferroni = sum(sorted <= level / tests),
      fdr = max(0, which(sorted <= level * seq_len(tests) / tests)))
  }
  if (!is.null(object$p.adjusted)) {
    significant <- c(significant, permutation = sum(number(object$p.adjusted) <= level, na.rm = TRUE))
  }
  pairs <- length(effect_of(object))
  new_summary(list(tests = pairs, missing = pairs - tests, significant = significant, level = level,
                   strongest = test_rows(object, smallest_tests(object, n))),
              describe_tests(object), object)
}

# ---- plots

#' @rdname gpuCorTest
#' @param type For `plot()`: `"p.value"`, a histogram of the p values with the counts expected under the null;
#'   `"volcano"`, p on a logarithmic axis against the effect; or `"auto"`, both. Of many pairs a sample is drawn.
#' @export
plot.gpuTests <- function(x, type = c("auto", "p.value", "volcano"), ...) {
  effect <- as.vector(effect_of(x))
  p <- as.numeric(x$p.value) # of none without a distribution
  log_p <- if (isTRUE(x[["log.p"]])) p else log(p)
  xlab <- method_title(x$method)
  range <- c(-1, 1)
  if (inherits(x, "gpuCorCompare")) {
    if (is.null(x$df)) { # finite even if p underflows to 0
      log_p <- log(2) + stats::pnorm(-abs(as.vector(x$statistic)), log.p = TRUE)
    }
    xlab <- "difference of z"
    range <- range(0, effect, finite = TRUE)
  }
  panels <- list(p.value = function(...) draw_p_values(log_p, ...),
                 volcano = function(...) draw_volcano(effect, log_p, xlab, range, ...))
  type <- check_choice(type, c("auto", names(panels)), "type")
  if (!any(is.finite(effect) & !is.na(log_p))) fail("there is no p value to plot")
  draw_page(panels, type, ...)
  invisible(x)
}

draw_p_values <- function(log_p, ...) {
  at <- drawn_places(length(log_p))
  p <- exp(log_p[at])
  total <- length(log_p) * mean(!is.na(p))
  breaks <- seq(0, 1, 0.05)
  unit <- draw_histogram(p, breaks, "pairs", list(xlab = "p value", main = n_of(length(log_p), "test")), ...,
                         total = total)
  graphics::abline(h = total / (length(breaks) - 1) / unit, lty = 2L, col = warm())
  note("dashed: expected under the null")
}

# Returns the positions of the tests to draw: a sample, and the smallest p values.
volcano_places <- function(log_p, max = 20000, smallest = 1000) {
  n <- length(log_p)
  if (n <= max) return(seq_len(n))
  known <- log_p[!is.na(log_p)]
  if (length(known) <= max) return(which(!is.na(log_p)))
  bound <- sort(known, partial = smallest)[smallest]
  unique(c(drawn_places(n, max), utils::head(which(log_p <= bound), 2 * smallest)))
}

draw_volcano <- function(effect, log_p, xlab, xlim, ...) {
  at <- volcano_places(log_p)
  y <- -log_p[at] / log(10)
  top <- max(y[is.finite(y)], 1)
  parameters <- list(xlab = xlab, ylab = expression(-log[10] * " p"), main = "Volcano", yaxs = "i")
  start_plot(xlim, c(0, 1.04 * top), parameters, ...)
  colors <- grDevices::adjustcolor(c(cold(), warm()), 0.5)
  graphics::points(effect[at], pmin(y, top), pch = 16, cex = if (length(at) > 2000L) 0.4 else 0.7,
                   col = colors[1L + (effect[at] > 0)])
  graphics::abline(v = 0, lty = 3L)
}

# ---- variables against traits as cells, with r and p in each, as WGCNA draws modules and traits

#' @rdname gpuAssociation
#' @param type For `plot()`: `"heatmap"`, a cell for each variable and trait, with r and, in parentheses, p if there is
#'   space for them; `"p.value"` and `"volcano"`, see [gpuCorTest()]; or `"auto"`, the last two.
#' @export
plot.gpuAssociation <- function(x, type = c("auto", "p.value", "volcano", "heatmap"), ...) {
  type <- check_choice(type, c("auto", "p.value", "volcano", "heatmap"), "type")
  if (type != "heatmap") return(NextMethod(type = type))
  draw_page(list(heatmap = function(...) draw_associations(x, ...)), ...)
  invisible(x)
}

# `labels`: names of the rows.
draw_associations <- function(x, max = 1000, ..., labels = rownames(x$r)) {
  check_drawable(max(dim(x$r)), max)
  p <- vapply(x$p.value, format, "", digits = 1L)
  text <- ifelse(is.na(x$r), "", paste0(formatC(round(x$r, 2L) + 0, 2L, format = "f"), "\n(", p, ")")) # + 0: no -0.00
  factors <- if (!is.null(x$num_df)) which(colSums(x$num_df > 1, na.rm = TRUE) > 0)
  draw_matrix(x$r, c(-1, 1), diverging(), "r", ..., names = list(colnames(x$r), labels), unsigned = factors,
              marks = array(text, dim(x$r)), ink = ifelse(abs(x$r) > 0.65, "white", "black"))
}
