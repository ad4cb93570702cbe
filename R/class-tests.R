# Class gpuTests: tests of many pairs, from gpuCorTest(), gpuCorCompare() and gpuAssociation(output = "matrix").

# Columns of the data frame; the first is the effect size.
TEST_COLUMNS <- list(gpuCorTest = c("r", "conf.low", "conf.high", "n", "statistic", "p.value", "p.adjusted"),
                     gpuCorCompare = c("difference", "r.x", "r.y", "class", "statistic", "df", "p.value", "fdr",
                                       "p.adjusted"),
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
#' @param row.names,optional As in [base::as.data.frame()].
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
         adjusted_phrase(attr(x, "adjusted"), x$method, n, if (!inherits(x, "gpuCorCompare")) x$df))
}

# Returns the null distribution of p values of differences. `error`: the standard error of fixed effects.
null_words <- function(error, is_several) {
  if (!length(error)) return("t of the subjects' z")
  if (is_several) "chi-squared of z" else "the normal distribution of z"
}

describe_groups <- function(n, what) {
  group <- function(n) {
    if (length(n) == 1L) return(n_of(n, "observation"))
    paste0(length(n), " ", what, " (", format_count(sum(n)), " observations)")
  }
  paste(c(group(n$x), if (!is.null(n$y)) group(n$y)), collapse = " against ")
}

compared_words <- function(x) {
  what <- switch(x$compared, groups = "differences", several = "standard deviation", pairs = "paired differences",
                 mean = "mean", contrast = "contrast")
  paste(what, if (x$compared == "mean") "z of" else "of z of",
        describe_groups(x$n, if (x$compared == "several") "groups" else "subjects"))
}

#' @rdname gpuCorTest
#' @param digits A number: significant digits to print.
#' @method print gpuTests
#' @export
print.gpuTests <- function(x, digits = 4L, ...) {
  cat(describe_tests(x), "; smallest ", if (isTRUE(x[["log.p"]])) "log p" else "p", ":\n", sep = "")
  print(test_rows(x, smallest_tests(x, 10)), digits = digits, row.names = FALSE)
  level <- x[["conf.level"]]
  if (!is.null(level)) cat("conf.low, conf.high: ", format(100 * level), " % confidence interval of r\n", sep = "")
  if (inherits(x, "gpuCorCompare")) cat("p values by ", null_words(x$error, x$compared == "several"), "\n", sep = "")
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
