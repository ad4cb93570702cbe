# Class allPairs: a value for each pair in the order of a dist. gpuCor (coefficients) and gpuTOM (overlaps) are its
# subclasses. The values can take many gigabytes: functions avoid copying them.

#' Coefficients of all pairs
#'
#' [gpuCor()] returns an object of class `gpuCor`, and [gpuTOM()] one of class `gpuTOM`. Both hold the value of each
#' pair once, as a `dist` does, and answer most questions as the N x N matrix would.
#'
#' @order 1
#' @param x,object An object of class `gpuCor` or `gpuTOM`.
#' @param i,j With both: variables, by number, name or logical vector. With one index: positions among the pairs, or an
#'   index of the N x N matrix, such as `lower.tri(x)` or a matrix with the two variables of a pair in each row.
#' @param drop,value `TRUE` to drop dimensions of length one; numbers for the pairs at positions `i`.
#' @param n A number: how many of the strongest pairs to list.
#' @param ... For `plot()`: graphical parameters. Otherwise not used.
#' @return `x[i, j]`, `as.matrix()`: coefficients, as from the N x N matrix. Its diagonal is that of [stats::cor()]: 1,
#'   but `NA` with fewer than two observations, and with pairwise-complete observations also for a constant column.
#'
#'   `as.data.frame()`: a row for each pair, with `from`, `to`, `r` (`overlap` for overlaps) and, with `lag`, `lag`;
#'   with `test = TRUE` also `n`, `statistic` and `p.value`.
#'
#'   `summary()`: a list with `n_var`, `n_obs`, `method`, `pairs`, `missing`, `mean`, `quantiles`, `strongest`, a data
#'   frame, and with `lag` the quantiles of the lags.
#'
#'   `x$coefficients`, `x$pairs` (numbers of observations), `x$ts` (Student's t) and `x$p.value` (two-sided): N x N
#'   matrices with the names of package gputools. They are computed on request, if they follow from the coefficients.
#'   Otherwise an error says so, and `gpuCor(test = TRUE)` computes them with the coefficients.
#'
#'   `dim()`, `dimnames()`, `diag()`, `t()`, `rowSums()`, `colSums()`, `rowMeans()`, `colMeans()`, `crossprod()` and
#'   `tcrossprod()`: those of the N x N matrix. `length()` is the number of pairs. `x %*% y` needs R 4.3; in earlier
#'   versions write `as.matrix(x) %*% y`. Arithmetic such as `1 - x` gives a plain `dist`, as [stats::hclust()] takes
#'   it, or a matrix if the other operand is an N x N matrix. `dimnames(x) <- ` takes the same names twice, or `NULL`.
#' @examples
#' r <- gpuCor(as.matrix(mtcars))
#' r[c("mpg", "wt"), ]
#' r$p.value["mpg", "wt"]
#' summary(r)
#' plot(r)
#' @aliases gpuTOM-class allPairs-class
#' @exportClass gpuCor gpuTOM allPairs
#' @name gpuCor-class
NULL

is_all_pairs <- function(x) inherits(x, "allPairs")

# Attributes that describe coefficients or overlaps, which arithmetic drops.
PAIR_ATTRIBUTES <- c("n_obs", "diagonal", "untestable", "tests", "adjusted", "power", "type", "TOMType", "TOMDenom",
                     "combine", "probs", "scales", "lag")

# Returns the number of variables; stops if it does not match the number of values.
size_of <- function(x) {
  n <- attr(x, "Size")
  whole <- is_number_within(n, 0, Inf) && n == floor(n)
  if (!whole || pairs_of(n) != length(x)) {
    made <- if (whole) paste0(", which makes ", format_count(pairs_of(n)), " pairs")
    fail("attribute \"Size\" is ", show_value(n), made, "; the object has ", format_count(length(x)),
         " values, and has been changed since gpuCor() returned it")
  }
  n
}

# ---- indices of the pairs of n columns, in the order of a dist

# Returns a matrix with the two variables of each pair at positions `at`.
variables_at <- function(at, n) {
  if (!length(at)) return(matrix(numeric(), 0L, 2L))
  .Call(r_triangle_index, as.double(at), as.double(n), FALSE)
}

# Returns list(from, to): the variables of all pairs by name, or by number without `names`.
all_pairs <- function(n, names) {
  others <- as.integer(n) - seq_len(max(n - 1, 0))
  from <- rep.int(seq_along(others), others)
  to <- sequence(others, from = seq_along(others) + 1L)
  list(from = names_at(from, names), to = names_at(to, names))
}

# ---- conversion

#' @rdname gpuCor-class
#' @export
as.matrix.allPairs <- function(x, ...) {
  check_memory(8 * as.numeric(size_of(x))^2, "the matrix", n_of(size_of(x), "variable"), "r[i, j] reads a part of it")
  threads <- choose_threads(setting(NULL, "threads"))
  values <- checked(.Call(r_unfold, x, size_of(x), attr(x, "diagonal"), FALSE, threads))
  dimnames(values) <- dimnames(x)
  values
}

#' @rdname gpuCor-class
#' @usage NULL
#' @export
as.data.frame.allPairs <- function(x, row.names = NULL, optional = FALSE, ...) {
  check_memory(8 * length(x), "the data frame", n_of(length(x), "pair"),
               "gpuCorNetwork(output = \"edges\") has the strongest pairs only")
  values <- stats::setNames(list(as.vector(x)), pair_value(x))
  frame <- list2DF(c(all_pairs(size_of(x), attr(x, "Labels")), values))
  lag <- attr(x, "lag")
  if (!is.null(lag)) frame$lag <- as.vector(lag)
  tests <- attr(x, "tests")
  frame[c("n", "statistic", "p.value")[seq_along(tests)]] <- lapply(tests, function(m) m[lower.tri(m)])
  frame
}

pair_value <- function(x) if (inherits(x, "gpuTOM")) "overlap" else "r"

# ---- printing

describe_pairs <- function(x) {
  n <- size_of(x)
  overlap <- inherits(x, "gpuTOM")
  method <- attr(x, "method")
  paste0(if (overlap) paste("Topological overlap by", method_words(method)) else method_title(method), " of ",
         n_of(n, column_word(method)), ": ", n_of(pairs_of(n), "pair"), ", ", n_of(attr(x, "n_obs"), "observation"),
         "\n", if (overlap) paste0(describe_rule(attributes(x)), "\n"),
         adjusted_line(attr(x, "adjusted"), method, attr(x, "n_obs")))
}

# Describes the settings of topological overlap. `d`: attributes of overlaps, or slot `overlap` of a network.
describe_rule <- function(d) {
  paste0(ngettext(length(d$power), "power ", "powers "), toString(d$power), ", ", d$type, "; TOMType \"", d$TOMType,
         "\", TOMDenom \"", d$TOMDenom, "\"", if (!is.null(d$combine)) paste0("; combine \"", d$combine, "\""))
}

#' @method print allPairs
#' @export
print.allPairs <- function(x, digits = 3L, ...) {
  cat(describe_pairs(x))
  n <- size_of(x)
  labels <- attr(x, "Labels")
  labels <- if (is.null(labels)) as.character(seq_len(min(n, 8L))) else shorten(utils::head(labels, 8L), 12L)
  column <- max(nchar(labels, "width"), digits + 3L, 0L) + 1L
  shown <- seq_len(min(n, max(2L, min(8L, getOption("width") %/% column)))) # number of variables that fit on a line
  if (length(shown) > 1L) {
    lag <- attr(x, "lag")
    for (part in c(list(x), if (!is.null(lag)) list(structure(lag, class = "pairValues")))) {
      if (!is_all_pairs(part)) cat("lags, by which the variable of a row follows that of a column:\n")
      corner <- format(round(part[shown, shown, drop = FALSE], digits))
      dimnames(corner) <- list(labels[shown], labels[shown])
      corner[upper.tri(corner, diag = TRUE)] <- ""
      print(corner[-1L, -ncol(corner), drop = FALSE], quote = FALSE, right = TRUE)
    }
  }
  if (n > length(shown)) cat("... and ", n_of(n - length(shown), "more variable"), "\n", sep = "")
  invisible(x)
}

#' @rdname gpuCor-class
#' @method summary allPairs
#' @export
summary.allPairs <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  n_var <- size_of(object)
  fractions <- c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
  found <- checked(.Call(r_summary, object, fractions, n, choose_threads(setting(NULL, "threads"))))
  if (found$missing == length(object)) found$mean <- found$quantiles[] <- NA_real_
  pairs <- variables_at(found$strongest, n_var)
  labels <- attr(object, "Labels")
  if (is.null(labels)) labels <- seq_len(n_var)
  strongest <- data.frame(labels[pairs[, 1L]], labels[pairs[, 2L]], .subset(object, found$strongest))
  names(strongest) <- c("from", "to", pair_value(object))
  lag <- attr(object, "lag")
  strongest$lag <- .subset(lag, found$strongest)
  new_summary(
    c(list(n_var = n_var, n_obs = attr(object, "n_obs"), method = attr(object, "method"), pairs = length(object),
           missing = found$missing, mean = found$mean,
           quantiles = stats::setNames(found$quantiles, paste0(100 * fractions, "%"))),
      if (!is.null(lag)) list(lag = stats::quantile(lag, na.rm = TRUE)),
      list(strongest = strongest)),
    describe_pairs(object), object)
}

# ---- numbers of observations, t scores and p values of coefficients, with the names of package gputools

# Returns why t and p do not follow from the coefficients, or NULL if they do.
why_untestable <- function(run) {
  x <- run$x
  if (is_combined(x)) return("these are coefficients of many subjects combined")
  if (is_designed(run$design)) {
    asked <- setdiff(names(run$asked), "data") # 'data' belongs to 'covariates'
    return(paste("with", paste0("'", asked, "'", collapse = ", "), "the number of observations does not tell"))
  }
  if (uses[run$use] != "pairwise.complete.obs") return(NULL)
  absent <- if (is_outside(x)) has_missing(x) else anyNA(if (is_sparse(x)) x@x else x)
  if (absent) "pairs may have different observations"
}

GPUTOOLS_PARTS <- c("coefficients", "pairs", "ts", "p.value")

#' @rdname gpuCor-class
#' @param name `"coefficients"`, `"pairs"`, `"ts"` or `"p.value"`. May be abbreviated.
#' @export
`$.gpuCor` <- function(x, name) {
  part <- GPUTOOLS_PARTS[pmatch(name, GPUTOOLS_PARTS)]
  if (is.na(part)) {
    fail("coefficients have no '", name, "'; there are ", paste0("$", GPUTOOLS_PARTS, collapse = ", "))
  }
  if (part == "coefficients") return(as.matrix(x))
  tests <- attr(x, "tests")
  if (!is.null(tests)) return(tests[[part]])
  # Without tests it follows from the coefficients and the number of observations: this number of each pair, NA for
  # pairs without coefficients, t scores, or two-sided p values.
  need_tests <- function(why) {
    fail("there is no $", part, " of these coefficients: ", why, "; gpuCor(..., test = TRUE) finds it with them")
  }
  method <- attr(x, "method")
  n_obs <- attr(x, "n_obs")
  if (part != "pairs") {
    need_distribution(method)
    if (depends_on_ties(method)) need_tests("they follow from the ties of the data, too")
    if (!is_t_distributed(method)) need_tests("they do not follow from Student's t")
    if (part == "p.value") check_testable(method, NULL)
  }
  if (!is.null(attr(x, "untestable"))) need_tests(attr(x, "untestable"))
  r <- as.matrix(x)
  n <- r
  n[!is.na(n)] <- n_obs
  if (part == "pairs") return(n)
  df <- n - measure_of(method)$df_taken
  ts <- r * sqrt(df / (1 - r^2))
  ts[n < MIN_OBS] <- NA
  if (part == "ts") return(ts)
  if (method == "spearman") {
    if (n_obs < MIN_OBS) return(r * NA)
    if (n_obs <= EXACT_UNTOLD[[method]]) {
      need_tests("with so few observations they follow from the ties of the data, too")
    }
    ts[] <- p_of_r(r, .Call(r_distribution, "spearman", n_obs, FALSE, NA_real_), 1L)
  } else {
    ts[] <- 2 * stats::pt(-abs(ts), df)
    ts[n < min_tested(method)] <- NA
  }
  `diag<-`(ts, NA)
}

#' @importFrom utils .DollarNames
#' @rawNamespace S3method(.DollarNames, gpuCor)
.DollarNames.gpuCor <- function(x, pattern = "") { # nolint: object_name_linter.
  grep(pattern, GPUTOOLS_PARTS, value = TRUE)
}

all_coefficients <- function(run, output) {
  layout <- layout_of(run$y, output)
  values <- values_of_pairs(run, layout, if (layout == "row") {
    c(dist_attributes(run), list(untestable = why_untestable(run), adjusted = adjustment_of(run)))
  } else {
    matrix_attributes(colnames(run$x), colnames(if (is.null(run$y)) run$x else run$y))
  })
  if (layout == "rectangle" && run$scalar) values <- as.vector(values)
  if (!is_combined(run$x) || !anyNA(values) || isTRUE(run$x$skips)) return(values)
  # Pairs have no coefficient as a column has no values in a subject, or with "everything" misses some.
  # values_of_pairs() has warned about constant columns.
  is_missing <- function(m) {
    do.call(cbind, lapply(m$data, function(own) {
      unlist(column_blocks(own, function(block) {
        if (uses[run$use] == "everything") colSums(is.na(block)) > 0 else colSums(!is.na(block)) < 2
      }))
    }))
  }
  found <- lapply(Filter(Negate(is.null), run[c("x", "y")]), is_missing)
  texts <- unlist(Map(found, names(found), f = function(is_missing, name) {
    subjects <- unique((which(colSums(is_missing) > 0) - 1) %/% run$x$sessions + 1)
    columns <- which(rowSums(is_missing) > 0)
    if (length(columns)) {
      paste0(column_names(columns, colnames(run[[name]])), " of '", name, "' in ",
             ngettext(length(subjects), "subject ", "subjects "), show_numbers(subjects))
    }
  }))
  if (!length(texts)) return(values)
  left <- vapply(found, function(is_missing) sum(rowSums(is_missing) == 0), 0)
  pairs <- run$pairs - if (is.null(run$y)) pairs_of(left) else prod(left)
  warning(n_of(pairs, "pair"), if (pairs == 1) " has" else " have", " no coefficient, as values are missing in ",
          paste(texts, collapse = " and in "), na_rm_hint(run$x), call. = FALSE)
  values
}
