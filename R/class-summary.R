# summary() of results: numbers, and sentences that can stand in a paper's methods.

#' Summaries of results
#'
#' What a result is, in sentences for a paper's methods and in the numbers that are reported with it. Sentences include
#' covariates, filters and weights that the function was given; what was done to the data before is for the author to
#' add.
#'
#' @param object A network ([gpuCorNetwork()]), in memory or in a file, or what [gpuConnectivity()], [pickPower()],
#'   [gpuCorTest()], [gpuCorCompare()] or [gpuAssociation()] returns. For [gpuCor()] and [gpuTOM()] see
#'   [gpuCor-class], for modules [gpuModules-methods], for windows [gpuCorWindows()].
#' @param n How many of the best connected variables, or of the smallest p values, to list.
#' @param level The level of significance.
#' @param x A summary.
#' @param digits Significant digits to print.
#' @param ... Not used.
#' @return `head()` and `tail()` of tests, comparisons and associations are rows of `as.data.frame()`. `summary()`: a
#'   list with `methods`, the sentences, and
#'   * of a network `variables`, `observations`, `pairs`, `edges`, `density` (edges of all pairs), `threshold`,
#'     `positive` (share of the edges), `isolated` (variables without an edge), `degree` and `weight` (quantiles),
#'     `hubs` (a data frame of `variable`, `degree`, `strength`, which is the sum of the sizes of its coefficients);
#'     a network in a file has the first six;
#'   * of connectivity `quantiles`, a column for each of its measures, `fit`, for each power the R^2 and slope of the
#'     scale-free fit in ten bins, and `hubs` by the first measure;
#'   * of powers `estimate` and its row of the table, `fit`;
#'   * of tests, comparisons and associations `tests`, `missing` (without a p value), `significant` (how many p values
#'     are at most `level`: as they are, by Bonferroni, by Benjamini and Hochberg, and adjusted by permutation if that
#'     was asked for; of associations up to a `p.value` or `fdr` these) and `strongest`, the rows of `as.data.frame()`
#'     with the smallest p values.
#' @examples
#' summary(gpuCorNetwork(mtcars, threshold = 0.8))
#' summary(gpuCorTest(mtcars))
#' @name summary.gpuCorNetwork
NULL

with_gpucor <- function() paste0("with gpucor ", package_version_text(), " for R ", getRversion())

# Sentences in the width of the screen.
print_methods <- function(x) cat(strwrap(x$methods, 0.9 * getOption("width")), sep = "\n")

# ---- networks

#' @rdname summary.gpuCorNetwork
#' @method summary gpuCorNetwork
#' @export
summary.gpuCorNetwork <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  degrees <- degrees_of_network(object)
  all <- unlist(degrees)
  found <- list(variables = if (length(degrees) > 1L) lengths(degrees) else length(all), observations = object@n_obs,
                pairs = object@pairs, edges = object@edges, density = object@edges / object@pairs,
                threshold = object@threshold, positive = mean(object@x > 0), isolated = sum(all == 0),
                degree = stats::quantile(all), weight = stats::quantile(object@x), hubs = best_connected(object, n))
  structure(c(list(methods = network_sentences(object, found)), found), class = "summary.gpuCorNetwork")
}

#' @method summary gpuCorNetworkXY
#' @export
summary.gpuCorNetworkXY <- summary.gpuCorNetwork

# Matrix has a method of its own, which lists the entries: where Matrix is attached it would be taken.
#' @rdname summary.gpuCorNetwork
#' @importMethodsFrom Matrix summary
#' @export
setMethod("summary", "gpuCorNetwork", function(object, ...) summary.gpuCorNetwork(object, ...))

#' @rdname summary.gpuCorNetwork
#' @export
setMethod("summary", "gpuCorNetworkXY", function(object, ...) summary.gpuCorNetwork(object, ...))

best_connected <- function(net, n) {
  ends <- network_ends(net)
  size <- dim(net)
  symmetric <- is(net, "gpuCorNetwork")
  sum_by <- function(at, length) as.vector(tapply(abs(net@x), factor(at, seq_len(length)), sum, default = 0))
  strength <- list(sum_by(ends$from, size[1L]), sum_by(ends$to, size[2L]))
  strength <- if (symmetric) strength[[1L]] + strength[[2L]] else unlist(strength)
  degree <- unlist(degrees_of_network(net), use.names = FALSE)
  names <- vertex_names(net@Dimnames, size, symmetric)
  best <- utils::head(order(-degree, -strength), n)
  best <- best[degree[best] > 0]
  data.frame(variable = if (is.null(names)) best else names[best], degree = degree[best], strength = strength[best])
}

# "Pearson correlation was computed with gpucor for 10 pairs of 5 variables from 20 observations". sizes: how many
# variables there are, one number or one for each side; d: pairs, and n_obs unless they are not to be told.
computed_words <- function(what, d, sizes) {
  others <- if (length(sizes) > 1L) paste0(" with ", n_of(sizes[[2L]], "other"))
  observations <- if (!is.null(d$n_obs)) paste(" from", n_of(d$n_obs, "observation"))
  paste0(what, " was computed ", with_gpucor(), " for ", n_of(d$pairs, "pair"), " of ", n_of(sizes[[1L]], "variable"),
         others, observations)
}

network_sentences <- function(net, found) {
  d <- attributes(net)[names(network_slots)]
  if (is(net, "gpuCorDifference")) d$n_obs <- NULL
  what <- if (is(net, "gpuCorDifference")) {
    paste0("The difference of Fisher's z between two groups, of ", method_title(net@method), ",")
  } else {
    method_title(net@method)
  }
  hub <- if (nrow(found$hubs)) paste0(" (", found$hubs$variable[1L], ")")
  connected <- sum(found$variables) - found$isolated
  of_connected <- if (connected > 0) {
    degree <- unlist(degrees_of_network(net))
    paste0(format_count(connected), " of the ", format_count(sum(found$variables)), " variables (",
           percent(connected / sum(found$variables)), ") have an edge; their median degree is ",
           format(stats::median(degree[degree > 0])), ", the highest ", format_count(max(degree)), hub, ". ",
           percent(found$positive), " of the edges are positive.")
  }
  of_overlap <- if (is(net, "gpuTOMNetwork")) {
    what <- "Topological overlap"
    paste0(", in the ", overlap_words(c(net@overlap, list(method = net@method))))
  }
  paste0(computed_words(what, d, found$variables), of_overlap, ". ", edge_sentence(d, weight_words(net)), " ",
         of_connected, adjusted_sentence(net@adjusted, net@method, net@n_obs))
}

# What the threshold of a network is of.
weight_words <- function(net) {
  if (is(net, "gpuTOMNetwork")) return(if (any(net@x < 0)) "|overlap|" else "overlap")
  weight <- weight_names[[net@sign]]
  if (is(net, "gpuCorDifference")) sub("r", "difference", weight) else weight
}

# d: a list named as the slots of a network.
edge_sentence <- function(d, weight) {
  those <- if (d$edges == 1) "the one with" else "those with"
  value <- format(d$value[1L])
  least <- if (is.finite(d$threshold)) paste(weight, ">=", format(d$threshold, digits = 4L))
  by <- switch(d$criterion,
    threshold = paste(those, least),
    density = paste0("the strongest ", percent(d$value[1L]), " of the pairs",
                     if (!is.null(least)) paste0(", ", those, " ", least)),
    k = neighbour_words(d$value[1L], weight),
    p.value = paste0(those, " p <= ", value, if (!is.null(least)) paste0(" (", least, ")")),
    fdr = paste0(if (d$edges == 1) "the one" else "those", " found at a false discovery rate of ", value,
                 " (Benjamini and Hochberg", if (!is.null(least)) paste0("; ", least), ")")
  )
  paste0(n_of(d$edges, "pair"), if (d$pairs > 0) paste0(" (", percent(d$edges / d$pairs), ")"),
         if (d$edges == 1) " is an edge" else " are edges", " of the network: ", by, ".")
}

neighbour_words <- function(k, weight) {
  paste0("of each variable its ", if (k == 1) "strongest neighbour" else n_of(k, "strongest neighbour"), " by ", weight)
}

#' @rdname summary.gpuCorNetwork
#' @method print summary.gpuCorNetwork
#' @export
print.summary.gpuCorNetwork <- function(x, digits = 4L, ...) {
  print_methods(x)
  if (x$edges > 0 && !is.null(x$degree)) {
    print(rbind(degree = x$degree, weight = x$weight), digits = digits)
    if (nrow(x$hubs)) {
      cat("best connected:\n")
      print(x$hubs, digits = digits, row.names = FALSE)
    }
  }
  invisible(x)
}

# ---- connectivity and powers

#' @rdname summary.gpuCorNetwork
#' @method summary gpuConnectivity
#' @export
summary.gpuConnectivity <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  if (!has_sums(object)) {
    return(structure(list(methods = counted_sentence(object)), class = "summary.gpuConnectivity"))
  }
  frame <- as.data.frame(object)
  first <- check_measure(NULL, frame)
  best <- utils::head(order(-frame[[first]], na.last = NA), n)
  names <- if (is.character(attr(frame, "row.names"))) row.names(frame) else seq_len(nrow(frame))
  fit <- lapply(stats::setNames(nm = colnames(object$soft)), function(name) {
    if (!can_fit(frame[[name]])) return(c(r_squared = NA_real_, slope = NA_real_))
    unlist(scale_free_points(frame[[name]])[c("r_squared", "slope")])
  })
  found <- list(quantiles = vapply(frame, stats::quantile, numeric(5L), na.rm = TRUE), fit = do.call(rbind, fit),
                hubs = stats::setNames(data.frame(names[best], frame[[first]][best]), c("variable", first)))
  structure(c(list(methods = connectivity_sentences(object, frame, fit)), found), class = "summary.gpuConnectivity")
}

# Of coefficients that were counted only.
counted_sentence <- function(x) {
  paste0(method_title(x$method), " was computed ", with_gpucor(), " from ", n_of(max(x$n_obs), "observation"), ", and ",
         n_of(x$pairs, "pair"), if (x$pairs == 1) " was" else " were", " counted by coefficient, in ",
         n_of(length(x$histogram$counts), "bin"), ".",
         adjusted_sentence(attr(x, "adjusted"), x$method, max(x$n_obs)))
}

connectivity_sentences <- function(x, frame, fit) {
  level <- function(k) {
    least <- if (!is.na(x$threshold[k])) {
      paste0(" with ", weight_names[[x$sign]], " >= ", format(x$threshold[k], digits = 4L))
    }
    paste0(n_of(x$edges[k], "pair"), least,
           " (median degree ", format(stats::median(as.matrix(x$degree)[, k])), ", highest ",
           format_count(max(0, as.matrix(x$degree)[, k])), ")")
  }
  adjacency <- c(unsigned = "|r|", signed = "(1 + r) / 2", "signed hybrid" = "r where positive")[[x$type]]
  power <- function(k) {
    paste0("power ", format(x$power[k]), if (!anyNA(fit[[k]])) {
      paste0(" (scale-free fit R^2 ", format(round(fit[[k]][["r_squared"]], 2), nsmall = 2), ", slope ",
             signif(fit[[k]][["slope"]], 3), ")")
    })
  }
  maps <- c(mean = "the mean coefficient", z = "the mean of Fisher's z", icc = "the mean squared coefficient",
            eigenvector = "eigenvector centrality")[intersect(map_names, names(x))]
  paste0(method_title(x$method), " of ", n_of(nrow(frame), "variable"), " was computed ", with_gpucor(), " from ",
         n_of(max(x$n_obs), "observation"), ": ", n_of(x$pairs, "pair"), ". ",
         if (length(x$threshold)) {
           paste0("Degree and strength count ", paste(vapply(seq_along(x$threshold), level, ""), collapse = "; "), ". ")
         },
         if (length(x$power)) {
           paste0("Soft connectivity is the sum of adjacencies, ", adjacency, " (", x$type, ") raised to ",
                  paste(vapply(seq_along(x$power), power, ""), collapse = ", "), ". ")
         },
         if (length(maps)) paste0("Of each variable's pairs ", paste(maps, collapse = ", "), " was taken."),
         adjusted_sentence(attr(x, "adjusted"), x$method, max(x$n_obs)))
}

#' @rdname summary.gpuCorNetwork
#' @method print summary.gpuConnectivity
#' @export
print.summary.gpuConnectivity <- function(x, digits = 4L, ...) {
  print_methods(x)
  if (is.null(x$quantiles)) return(invisible(x))
  print(x$quantiles, digits = digits)
  if (nrow(x$hubs)) {
    cat("best connected:\n")
    print(x$hubs, digits = digits, row.names = FALSE)
  }
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuCorPower
#' @export
summary.gpuCorPower <- function(object, ...) {
  table <- object$fitIndices
  row <- table[match(object$powerEstimate, table$Power), ]
  tried <- if (nrow(table) == 1L) {
    paste0("The only power tried, ", format(table$Power), ",")
  } else {
    paste0("Of ", nrow(table), " powers from ", format(min(table$Power)), " to ", format(max(table$Power)), ",")
  }
  cut <- attr(object, "r_squared")
  text <- if (is.na(object$powerEstimate)) {
    paste0(tried, if (nrow(table) == 1L) " did not have" else " none had", " a scale-free fit of R^2 above ", cut,
           " with a negative slope.")
  } else {
    paste0(tried, if (nrow(table) == 1L) " had" else paste0(" ", format(object$powerEstimate), " was the lowest with"),
           " a scale-free fit of R^2 above ", cut, " (R^2 ", format(round(row$SFT.R.sq, 2), nsmall = 2), ", slope ",
           signif(row$slope, 3), "; mean connectivity ", signif(row$mean.k., 3), ").")
  }
  text <- paste0(method_title(attr(object, "method")), " of ", n_of(attr(object, "n_var"), "variable"),
                 " was computed ", with_gpucor(), " for ", attr(object, "type"), " networks. ", text,
                 adjusted_sentence(attr(object, "adjusted"), attr(object, "method")))
  structure(list(methods = text, estimate = object$powerEstimate, fit = row), class = "summary.gpuCorPower")
}

#' @rdname summary.gpuCorNetwork
#' @method print summary.gpuCorPower
#' @export
print.summary.gpuCorPower <- function(x, ...) {
  print_methods(x)
  invisible(x)
}

# ---- tests

# orders: p values of Spearman's rho are not Student's t.
tested_by <- function(method, orders) {
  if (!is_t_distributed(method)) return("the normal distribution")
  if (method != "spearman" || !orders) return("Student's t")
  paste("its distribution over all orders of the observations, exact up to", EXACT_UNTOLD,
        "without ties, otherwise by its moments")
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuCorTest
#' @export
summary.gpuCorTest <- function(object, level = 0.05, n = 6L, ...) {
  p <- as.vector(object$p.value)
  adjusted <- object$p.adjusted
  if (object$log.p) {
    p <- exp(p)
    if (!is.null(adjusted)) adjusted <- exp(adjusted)
  }
  tested <- if (is_t_distributed(object$method)) {
    tested_by(object$method, isTRUE(attr(object, "exact") > 0))
  } else {
    "the normal distribution or exactly"
  }
  what <- paste0(method_title(object$method), " was tested ", with_gpucor(), " by ", tested, " (",
                 switch(object$alternative, two.sided = "two-sided", paste("one-sided,", object$alternative)),
                 if (length(object$n)) paste0("; ", range_of(object$n, "observation")), ")")
  summarise_tests(object, p, adjusted, what, level, n)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuCorCompare
#' @export
summary.gpuCorCompare <- function(object, level = 0.05, n = 6L, ...) {
  by <- if (is.null(object[["df"]])) "the normal distribution" else "Welch's t test of the subjects' z"
  what <- paste0("The difference of Fisher's z between two groups (", describe_groups(object$n), "), of ",
                 method_title(object$method), ", was tested ", with_gpucor(), " by ", by, " (two-sided)")
  summarise_tests(object, as.vector(object$p.value), object$p.adjusted, what, level, n)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuAssociated
#' @export
summary.gpuAssociated <- function(object, level = 0.05, n = 6L, ...) {
  tests <- attr(object, "tests")
  chosen <- attr(object, "chosen")
  if (!identical(chosen$pairs, nrow(object))) return(NextMethod()) # some of its rows
  frame <- as.data.frame(object)
  class(frame) <- "data.frame"
  by <- tested_by(attr(object, "method"), is.null(attr(object, "adjusted")))
  what <- paste0(method_title(attr(object, "method")), " with traits was tested ", with_gpucor(), " by ", by,
                 " (two-sided)")
  tested <- structure(list(coefficient = frame$r, method = attr(object, "method")), adjusted = attr(object, "adjusted"))
  found <- summarise_tests(tested, frame$p.value, NULL, what, level, n)
  found$strongest <- utils::head(frame, n)
  rule <- setdiff(names(chosen), "pairs")
  if (!length(rule)) return(found)
  those <- switch(rule,
    fdr = paste("at a false discovery rate of", format(chosen$fdr), "(Benjamini and Hochberg)"),
    p.value = paste("with p <=", format(chosen$p.value))
  )
  found$methods <- paste0(what, " for ", n_of(tests, "pair"), ". Of these, ", format_count(nrow(frame)), " (",
                          percent(nrow(frame) / max(1, tests)), ") were found ", those, ".",
                          adjusted_sentence(attr(tested, "adjusted"), tested$method))
  found$tests <- tests
  found$significant <- stats::setNames(nrow(frame), rule)
  found
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuAssociation
#' @export
summary.gpuAssociation <- function(object, level = 0.05, n = 6L, ...) {
  by <- if (is_t_distributed(object$method)) {
    paste0("by ", tested_by(object$method, is.null(attr(object, "adjusted"))), " (two-sided; ",
           range_of(pmax(0, object$df), "degree"), " of freedom)")
  } else {
    paste0("by the normal distribution (two-sided; ", range_of(object$n, "observation"), ")")
  }
  what <- paste0(method_title(object$method), " of ", n_of(nrow(object$r), "variable"), " with ",
                 n_of(ncol(object$r), "trait"), " was tested ", with_gpucor(), " ", by)
  test <- c(list(coefficient = object$r), unclass(object)[c("n", "statistic", "p.value", "fdr", "method", "df")])
  attr(test, "adjusted") <- attr(object, "adjusted")
  found <- summarise_tests(test, as.vector(object$p.value), NULL, what, level, n)
  names(found$strongest)[3L] <- "r"
  found
}

summarise_tests <- function(object, p, adjusted, what, level, n) {
  level <- check_share(level, "level", zero = FALSE)
  n <- check_whole(n, "n", 0, 1e6)
  sorted <- sort(p)
  tests <- length(sorted)
  significant <- c(p.value = sum(sorted <= level), bonferroni = sum(sorted <= level / tests),
                   fdr = max(0, which(sorted <= level * seq_len(tests) / tests)))
  if (!is.null(adjusted)) significant[["permutation"]] <- sum(adjusted <= level, na.rm = TRUE)
  share <- function(name) {
    count <- significant[[name]]
    paste0(format_count(count), " (", percent(count / max(1, tests)), ")")
  }
  text <- paste0(what, " for ", n_of(length(p), "pair"), ". Of these, ", share("p.value"), " had p <= ",
                 format(level), ", ", share("bonferroni"), " also after Bonferroni's correction; ", share("fdr"),
                 " had a false discovery rate (Benjamini and Hochberg) of at most ", format(level),
                 if (!is.null(adjusted)) paste0("; ", share("permutation"), " had p <= ", format(level),
                                                " by the maximum over permutations"), ".",
                 adjusted_sentence(attr(object, "adjusted"), object$method, if (is.numeric(object$n)) object$n,
                                   if (!inherits(object, "gpuCorCompare")) object[["df"]]))
  smallest <- utils::head(which(p <= sorted[min(max(n, 1), tests)]), 10 * n + 10)
  smallest <- utils::head(smallest[order(p[smallest])], n)
  structure(list(methods = text, tests = length(p), missing = length(p) - tests, significant = significant,
                 level = level, strongest = test_rows(object, smallest)), class = "summary.gpuCorTest")
}

# Some rows of as.data.frame(), without the others.
test_rows <- function(x, at) {
  effect <- if (inherits(x, "gpuCorCompare")) "difference" else "coefficient"
  r <- x[[effect]]
  columns <- c(effect, if (effect == "coefficient") "n", "statistic", if (effect == "difference") "df", "p.value",
               "fdr", "p.adjusted")
  columns <- intersect(columns, names(x))
  if (inherits(r, "dist")) {
    pairs <- variables_at(at, size_of(r))
    labels <- list(attr(r, "Labels"), attr(r, "Labels"))
  } else {
    r <- as.matrix(r)
    pairs <- arrayInd(at, dim(r))
    labels <- dimnames(r)
  }
  name <- function(side) if (is.null(labels[[side]])) pairs[, side] else labels[[side]][pairs[, side]]
  list2DF(c(list(from = name(1L), to = name(2L)), lapply(unclass(x)[columns], function(values) {
    as.vector(if (length(values) > 1L) .subset(values, at) else rep(values, length(at)))
  })))
}

# The first and the last rows of as.data.frame(), without the others: of a list they would be all of its matrices.

#' @importFrom utils head
#' @export
head.gpuCorTest <- function(x, n = 6L, ...) test_rows(x, utils::head(seq_along(x$coefficient), n))

#' @importFrom utils tail
#' @export
tail.gpuCorTest <- function(x, n = 6L, ...) test_rows(x, utils::tail(seq_along(x$coefficient), n))

#' @export
head.gpuCorCompare <- function(x, n = 6L, ...) test_rows(x, utils::head(seq_along(x$difference), n))

#' @export
tail.gpuCorCompare <- function(x, n = 6L, ...) test_rows(x, utils::tail(seq_along(x$difference), n))

#' @export
head.gpuAssociation <- function(x, n = 6L, ...) utils::head(as.data.frame(x), n)

#' @export
tail.gpuAssociation <- function(x, n = 6L, ...) utils::tail(as.data.frame(x), n)

#' @rdname summary.gpuCorNetwork
#' @method print summary.gpuCorTest
#' @export
print.summary.gpuCorTest <- function(x, digits = 4L, ...) {
  print_methods(x)
  if (x$missing > 0) cat(n_of(x$missing, "test"), "without a p value\n")
  if (nrow(x$strongest)) {
    cat("smallest p:\n")
    print(x$strongest, digits = digits, row.names = FALSE)
  }
  invisible(x)
}
