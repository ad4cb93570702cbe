# Class gpuTests: many tests. Lists, from gpuCorTest(), gpuCorCompare() and gpuAssociation(output = "matrix"), or data
# frames, of classes gpuAssociationPairs (from gpuAssociation()) and gpuISC.

# Columns of the data frame; the first is the effect size.
TEST_COLUMNS <- list(gpuCorTest = c("r", "conf.low", "conf.high", "n", "statistic", "p.value", "p.adjusted"),
                     gpuCorCompare = c("difference", "r.x", "r.y", "class", "statistic", "df", "p.value", "fdr",
                                       "score", "p.adjusted"),
                     gpuAssociation = c("r", "statistic", "p.value", "fdr", "p.adjusted"),
                     gpuAssociationPairs = "r", gpuISC = "isc", gpuISCGroups = "difference")

# Makes data frames of associations a class. `factors`: the traits of several levels, whose r has no sign.
new_association_pairs <- function(frame, method, factors = NULL) {
  attr(frame, "method") <- method
  attr(frame, "factors") <- factors
  class(frame) <- c("gpuAssociationPairs", "gpuTests", "data.frame")
  frame
}

#' @export
`[.gpuAssociationPairs` <- function(x, ...) { # of columns, too, what tells how many tests there were is kept
  found <- NextMethod()
  about <- c("tests", "method", "factors", "adjusted")
  if (is.data.frame(found)) attributes(found)[about] <- attributes(x)[about]
  found
}

# Returns TRUE unless x is a data frame that has lost columns of its tests.
has_tests <- function(x) {
  !is.data.frame(x) || !is.null(effect_of(x)) && length(intersect(c("p.value", "p.adjusted"), names(x)))
}

# Returns tests of all pairs of one matrix, as matrices, in the form of those of a dist, once each.
once_each <- function(x) {
  effect <- if (!is.data.frame(x)) effect_of(x)
  if (!is.matrix(effect) || !isSymmetric(effect)) return(x)
  below <- lower.tri(effect)
  is_of_pairs <- vapply(x, function(part) identical(dim(part), dim(effect)), NA)
  x[is_of_pairs] <- lapply(unclass(x)[is_of_pairs], function(part) {
    structure(part[below], Size = nrow(part), Labels = rownames(part), class = "dist")
  })
  x
}

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
  if (is.data.frame(x)) return(as.data.frame(x)[at, , drop = FALSE])
  effect <- effect_of(x)
  if (inherits(effect, "dist")) {
    pairs <- variables_at(at, size_of(effect))
    labels <- list(attr(effect, "Labels"), attr(effect, "Labels"))
  } else {
    pairs <- arrayInd(at, dim(as.matrix(effect)))
    labels <- dimnames(effect)
  }
  columns <- intersect(TEST_COLUMNS[[class(x)[1L]]], names(x))
  ends <- list(from = names_at(pairs[, 1L], labels[[1L]]), to = names_at(pairs[, 2L], labels[[2L]]))
  list2DF(c(ends, lapply(unclass(x)[columns], function(values) {
    as.vector(if (length(values) > 1L) .subset(values, at) else rep(values, length(at)))
  })))
}

#' @rdname gpuCorTest
#' @usage NULL
#' @export
as.data.frame.gpuTests <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (is.data.frame(x)) return(NextMethod())
  if (inherits(x, "gpuAssociation")) {
    return(structure(test_rows(x, smallest_tests(x)), tests = x$tests, adjusted = attr(x, "adjusted")))
  }
  as.data.frame(test_rows(x, seq_along(effect_of(x))), row.names = row.names)
}

describe_tests <- function(x) {
  about <- attributes(x) # of a data frame they may be lost, as those of some columns are
  if (inherits(x, "gpuISC")) {
    adjusted <- about$adjusted
    adjusted[c("lost", "left")] <- NULL # t counts subjects
    return(paste0("Inter-subject correlation of ", n_of(nrow(x), "column"), if (!is.null(about[["r"]])) {
      paste0(": ", n_of(nrow(about[["r"]]), "subject"), ", ", n_of(about$n_obs, "observation"))
    } else if (!is.null(about$groups)) {
      paste0(": ", paste0(about$groups, " \"", names(about$groups), "\"", collapse = " against "), ", ",
             n_of(about$n_obs, "observation"))
    }, adjusted_line(adjusted, "pearson", start = "\n", end = "")))
  }
  if (is.data.frame(x)) {
    tests <- paste0(if (isTRUE(about$tests > nrow(x))) paste(format_count(nrow(x)), "of "),
                    n_of(max(nrow(x), about$tests), "test"))
    if (is.null(about$method)) return(paste0("Associations, ", tests))
    return(paste0(method_title(about$method), ", ", tests,
                  adjusted_line(about$adjusted, about$method, start = ", ", end = "")))
  }
  n <- if (is_numeric(x$n)) x$n
  tests <- if (inherits(x, "gpuAssociation")) x$tests else length(effect_of(x))
  group <- function(n) {
    if (length(n) == 1L) return(n_of(n, "observation"))
    what <- if (x$compared == "several") "groups" else "subjects"
    paste0(length(n), " ", what, if (!anyNA(n)) paste0(" (", format_count(sum(n)), " observations)"))
  }
  of <- switch(class(x)[1L],
    gpuCorCompare = {
      what <- switch(x$compared, groups = "differences", several = "standard deviation", pairs = "paired differences",
                     mean = "mean", contrast = "contrast", effects = "standard deviation of effects")
      paste0(", ", what, if (x$compared == "mean") " z of " else " of z of ",
             paste(c(group(x$n$x), if (!is.null(x$n$y)) group(x$n$y)), collapse = " against "))
    },
    gpuAssociation = paste0(" of ", n_of(nrow(x$r), "variable"), " and ", n_of(ncol(x$r), "trait"))
  )
  paste0(method_title(x$method), of, ", ", n_of(tests, "test"),
         if (inherits(x, "gpuCorTest")) paste0(", alternative ", x$alternative),
         adjusted_line(about$adjusted, x$method, n, if (!inherits(x, "gpuCorCompare")) x$df, ", ", ""))
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

#' @method print gpuTests
#' @export
print.gpuTests <- function(x, digits = 4L, ..., n = 10L) {
  is_frame <- is.data.frame(x)
  n <- check_whole(n, "n", 0, 1e6)
  x <- once_each(x)
  cat(describe_tests(x), if (!is_frame) c("; smallest ", if (isTRUE(x[["log.p"]])) "log ", "p:"), "\n", sep = "")
  rows <- if (is_frame) utils::head(as.data.frame(x), n) else test_rows(x, smallest_tests(x, n))
  print(rows, digits = digits, row.names = FALSE)
  if (is_frame && nrow(x) > n) cat("... and ", n_of(nrow(x) - n, "more row"), "; print() takes 'n'\n", sep = "")
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
  if (!has_tests(object)) return(NextMethod())
  object <- once_each(object)
  level <- check_fraction(level, "level", zero = FALSE)
  n <- check_whole(n, "n", 0, 1e6)
  number <- if (isTRUE(object[["log.p"]])) exp else identity
  sorted <- sort(number(p_values_of(object)))
  known <- length(sorted)
  tests <- max(known, attr(object, "tests")) # a data frame may have the smallest p values only
  significant <- if (has_own_p(object)) {
    c(p.value = sum(sorted <= level), bonferroni = sum(sorted <= level / tests),
      fdr = if (is.null(object[["fdr"]])) {
        max(0, which(sorted <= level * seq_len(known) / tests))
      } else {
        sum(object[["fdr"]] <= level, na.rm = TRUE)
      })
  }
  if (!is.null(object$p.adjusted)) {
    significant <- c(significant, permutation = sum(number(object$p.adjusted) <= level, na.rm = TRUE))
  }
  pairs <- length(effect_of(object))
  new_summary(list(tests = max(pairs, attr(object, "tests")), missing = pairs - known, significant = significant,
                   level = level, strongest = test_rows(object, smallest_tests(object, n))),
              describe_tests(object), object)
}

# ---- plots

#' @rdname gpuCorTest
#' @param type For `plot()`: `"p.value"`, a histogram of the p values with the counts expected under the null;
#'   `"volcano"`, p on a logarithmic axis against the effect; `"heatmap"`, coefficients or differences, with stars by p
#'   values; or `"auto"`, the first two. For [gpuCorCompare()] of two matrices, or with `classes`, `"groups"`, in place
#'   of the volcano, draws the coefficients in `x` against those in `y`; with `classes` a heat map has the former below
#'   the diagonal and the latter above it. Of many pairs it draws a sample.
#' @param labels,level For `plot()`: how many significant pairs to name, those with the smallest p values, if there is
#'   space; and the level of significance, of `p.adjusted` if there is one, else of `fdr`, else of the p value.
#' @param max,groups,order,zlim For heat maps: see [gpuCor-class].
#' @export
plot.gpuTests <- function(x, type = c("auto", "p.value", "volcano", "heatmap", "groups"), labels = 10,
                          level = 0.05, max = 1000, groups = NULL, order = "auto", zlim = NULL, ...) {
  if (!has_tests(x)) {
    fail("'x' has lost columns of its tests, '", TEST_COLUMNS[[class(x)[1L]]][1L], "' or its p values; plot() of ",
         "as.data.frame(x) draws what is left")
  }
  asks <- missing(type) && !all(missing(groups), missing(order), missing(zlim))
  type <- if (asks) "heatmap" else check_choice(type, c("auto", "p.value", "volcano", "heatmap", "groups"), "type")
  x <- once_each(x)
  if (type == "groups" && is.null(x[["r.x"]])) {
    fail("type = \"groups\" needs the coefficients of two groups, which gpuCorCompare(classes = 0.05) adds")
  }
  labels <- check_whole(labels, "labels", 0, 1000)
  shown <- shown_tests(x, check_fraction(level, "level", zero = FALSE))
  if (type != "heatmap" && !any(is.finite(shown$effect) & !is.na(shown$log_p))) {
    fail("there is no p value to plot; type = \"heatmap\" draws coefficients")
  }
  is_of_traits <- inherits(x, c("gpuAssociation", "gpuAssociationPairs"))
  if (type == "heatmap" && is_of_traits && is.data.frame(x)) x <- association_cells(x, if (missing(max)) 40 else max)
  pairs <- list(groups = groups, order = order, zlim = zlim)
  if (is_of_traits && (length(c(groups, zlim)) || !identical(order, "auto"))) {
    fail("'groups', 'order' and 'zlim' are for pairs of columns; cells of traits are drawn in the order of 'x'")
  }
  panels <- list(
    p.value = function(...) draw_p_values(shown$log_p, attr(x, "tests"), ...),
    volcano = function(...) draw_volcano(x, shown, labels, ...),
    heatmap = function(...) if (is_of_traits) draw_associations(x, max, ...) else draw_tests(x, shown, pairs, max, ...),
    groups = function(...) draw_two_groups(x, shown, labels, ...)
  )
  has_all <- !is.data.frame(x) || !isTRUE(attr(x, "tests") > nrow(x)) # otherwise only small p values
  effects <- if (is.null(x[["r.x"]])) "volcano" else "groups" # a difference against its own p shows no data
  draw_page(if (type == "auto") panels[c(if (has_all) "p.value", effects)] else panels, type, ...)
  invisible(x)
}

# Returns list(effect; title: its name; log_p: logarithms of p values; p: adjusted ones, if there are any; what: which
# these are; found: TRUE for significant ones).
shown_tests <- function(x, level) {
  is_log <- isTRUE(x[["log.p"]])
  log_p <- as.numeric(p_values_of(x))
  if (!is_log) log_p <- log(log_p)
  title <- if (is.data.frame(x)) attr(x, "method") else x$method
  title <- if (is.null(title)) "r" else method_title(title)
  if (inherits(x, "gpuISC")) title <- paste0(if (is.null(x$isc)) "difference of ", "inter-subject correlation")
  if (!is.null(x[["num_df"]]) || length(attr(x, "factors"))) title <- paste0(title, "; multiple R of factors")
  if (inherits(x, "gpuCorCompare")) {
    if (is.null(x$df)) { # finite even if p underflows to 0
      log_p <- log(2) + stats::pnorm(-abs(as.vector(x$statistic)), log.p = TRUE)
    }
    title <- switch(x$compared, several = "sd of the groups' z", effects = "sd of effects on z", mean = "mean z",
                    contrast = "contrast of z", "difference of z (x - y)")
  }
  name <- intersect(c("p.adjusted", "fdr", "p.value"), names(x))[1L]
  p <- as.vector(x[[name]])
  if (is_log) p <- exp(p)
  found <- replace(p <= level, is.na(p), FALSE)
  tests <- max(sum(!is.na(p)), if (is.data.frame(x)) attr(x, "tests"))
  what <- c(p.adjusted = "adjusted p", fdr = "fdr", p.value = "p")[[name]]
  list(effect = as.vector(effect_of(x)), title = title, log_p = log_p, p = p, what = what, found = found,
       cut = if (name == "p.value") -log10(level), # of the volcano, if p values are not adjusted
       note = paste(format_count(sum(found)), "of", n_of(tests, "test"), "with", what, "<=", format(level)))
}

# Draws a histogram of p values. `tests`: NULL, or the number of tests if only the smallest p values are there.
draw_p_values <- function(log_p, tests, ...) {
  total <- sum(!is.na(log_p))
  breaks <- seq(0, 1, 0.05)
  unit <- draw_histogram(exp(log_p), breaks, "tests",
                         list(xlab = "p value", main = n_of(length(log_p), "test")), ...)
  graphics::abline(h = max(total, tests) / (length(breaks) - 1) / unit, lty = 2L, col = warm())
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

# Draws a point for each of the tests `at`, significant ones in colors of their signs, and names the first of them.
draw_tested <- function(x, shown, at, across, up, titles, labels, ...) {
  found <- shown$found[at]
  effect <- shown$effect[at]
  named <- utils::head(which(found)[order(shown$log_p[at][found], -abs(effect[found]))], labels)
  rows <- test_rows(x, at[named])
  names <- if (is.null(rows$from)) rows$variable else paste(rows$from, "-", rows$to)
  draw_points(across, up, titles, ..., named = named, names = names,
              color = ifelse(found, ifelse(effect > 0, warm(), cold()), FAINT))
}

draw_volcano <- function(x, shown, labels, ...) {
  at <- volcano_places(shown$log_p)
  up <- -shown$log_p[at] / log(10)
  top <- max(up[is.finite(up)], 1)
  cut <- shown$cut
  found <- shown$found[at]
  between <- c(max(up[!found], 0, na.rm = TRUE), min(up[found], Inf))
  if (is.null(cut) && any(found) && between[1L] < between[2L]) cut <- mean(between)
  titles <- list(xlab = shown$title, ylab = expression(-log[10] * " p"), main = "Volcano", yaxs = "i",
                 xlim = range(0, shown$effect[at], finite = TRUE), ylim = c(0, 1.08 * top))
  draw_tested(x, shown, at, shown$effect[at], pmin(up, top), titles, labels, ..., below = function() {
    graphics::abline(v = 0, lty = 3L)
    graphics::abline(h = cut, lty = 2L)
  })
  note(paste0(shown$note, if (any(up > top, na.rm = TRUE)) "; p = 0 at the top"))
}

draw_two_groups <- function(x, shown, labels, ...) {
  graphics::par(pty = "s")
  at <- volcano_places(shown$log_p)
  ends <- c(-1, 1)
  titles <- list(xlab = "r in x", ylab = "r in y", main = "Correlations of two groups", xlim = ends, ylim = ends)
  draw_tested(x, shown, at, as.vector(x$r.x)[at], as.vector(x$r.y)[at], titles, labels, ..., below = function() {
    graphics::abline(h = 0, v = 0, lty = 3L)
    graphics::abline(0, 1, lty = 2L)
  })
  hubs <- sort(table(unlist(test_rows(x, which(shown$found))[c("from", "to")])), decreasing = TRUE)
  hubs <- utils::head(hubs[hubs > 1], 3L)
  if (length(hubs)) hubs <- paste0("; most: ", toString(paste0(distinct_names(names(hubs), 16L), " (", hubs, ")")))
  note(shown$note, hubs)
}

# Draws effects, or the coefficients of both groups, as a heat map with stars. `pairs`: the user's arguments of
# draw_pairs().
draw_tests <- function(x, shown, pairs, max, ..., main = NULL) {
  is_pairs <- inherits(effect_of(x), "dist")
  upper <- if (is_pairs && !is.null(x[["class"]])) x[["r.y"]]
  if (is.null(main) && !is.null(upper)) main <- "r in x (below the diagonal) and in y (above)"
  values <- if (is.null(upper)) effect_of(x) else x$r.x
  if (!is_pairs) values <- as.matrix(values) # of a single pair
  check_drawable(if (is_pairs) attr(values, "Size") else max(dim(values)), max)
  is_r <- !is.null(upper) || !inherits(x, "gpuCorCompare")
  if (!is_r && is.null(pairs$zlim)) pairs$zlim <- span_of(values)
  key <- if (is_r) "r" else shown$title
  if (is_pairs) {
    pairs <- c(list(values, key, ..., upper = upper, p = shown$p, stars = shown$what, main = main), pairs)
    return(do.call(draw_pairs, pairs))
  }
  if (!is.null(pairs$groups) || !identical(pairs$order, "auto")) {
    fail("'groups' and 'order' are for all pairs of the columns of one matrix")
  }
  limits <- check_zlim(if (is.null(pairs$zlim)) c(-1, 1) else pairs$zlim)
  draw_matrix(values, limits, key, ..., main = main,
              marks = array(stars_of(shown$p), dim(values)), stars = shown$what)
}

# ---- variables against traits as cells, with r and p in each, as WGCNA draws modules and traits

# Returns list(r, p.value: matrices of up to n variables with the smallest p values and all traits; factors; of: NULL,
# or words if there are more variables) of a data frame, NA for pairs that it does not have.
association_cells <- function(x, n) {
  for (side in c("from", "to")) {
    if (is.null(x[[side]])) fail("'x' has lost column '", side, "', which names the cells")
  }
  p <- p_values_of(x)
  x <- as.data.frame(x)[order(p), ]
  x$p.value <- sort(p, na.last = TRUE)
  names <- list(as.character(utils::head(unique(x$from), n)), as.character(unique(x$to)))
  at <- cbind(match(x$from, names[[1L]]), match(x$to, names[[2L]]))
  cells <- function(values) {
    m <- matrix(NA_real_, length(names[[1L]]), length(names[[2L]]), dimnames = names)
    m[at[!is.na(at[, 1L]), ]] <- values[!is.na(at[, 1L])]
    m
  }
  n_rows <- length(unique(x$from))
  list(r = cells(x$r), p.value = cells(x$p.value), factors = match(attr(x, "factors"), names[[2L]]),
       of = if (n_rows > n) paste0(format_count(n), " of ", n_of(n_rows, "variable"), ", the smallest p first"))
}

# `rows`: names of the rows.
draw_associations <- function(x, max = 1000, ..., rows = rownames(x$r)) {
  check_drawable(max(dim(x$r)), max)
  p <- vapply(x$p.value, format, "", digits = 1L)
  text <- ifelse(is.na(x$r), "", paste0(formatC(round(x$r, 2L) + 0, 2L, format = "f"), "\n(", p, ")")) # 0.00, not -0.00
  factors <- if (is.null(x[["num_df"]])) x[["factors"]] else which(colSums(x$num_df > 1, na.rm = TRUE) > 0)
  draw_matrix(x$r, c(-1, 1), "r", ..., names = list(colnames(x$r), rows), unsigned = factors[!is.na(factors)],
              marks = array(text, dim(x$r)), titles = list(marks = "r (p value)", note = x[["of"]]))
}
