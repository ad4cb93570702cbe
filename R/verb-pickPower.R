#' Choose the power of a co-expression network
#'
#' `pickPower()` shows for each of several powers how close the weighted network is to a scale-free one, and suggests
#' the lowest power that fits. It returns the table of `WGCNA::pickSoftThreshold()`, with the same columns and values.
#'
#' The connectivity of a gene ([gpuConnectivity()]) is the sum of its adjacencies. An adjacency is |r|^power if `type`
#' is `"unsigned"`, ((1 + r) / 2)^power if it is `"signed"`, and max(r, 0)^power if it is `"signed hybrid"`. Pairs
#' without a coefficient are left out. Missing values need `use = "pairwise.complete.obs"`, WGCNA's default.
#'
#' In a scale-free network the fraction of genes with connectivity k falls as a power of k. Connectivities are cut into
#' `breaks` bins of equal width. Each bin is a point: the mean connectivity of its genes, and their fraction of all
#' genes plus 1e-9, both as logarithms. Bins without genes, or with mean connectivity 0, are placed at their middle.
#' `SFT.R.sq` and `slope` are those of the line through the points. `truncated.R.sq` is the adjusted R^2 of an
#' exponentially truncated power law, which has k itself as a second term.
#'
#' Differences from WGCNA: all pairs of genes are used, without blocks, and powers need not be integers. The estimate
#' needs a negative slope, because a network whose line rises is not scale-free; `powerEstimate` of
#' `pickSoftThreshold()` ignores the slope. `plot()` shows the signed R^2, `-sign(slope) * SFT.R.sq`.
#'
#' @inheritParams gpuCor
#' @param x As in [gpuCor()], with at least three genes in columns.
#' @param power Numbers above 0: the powers to try.
#' @param type A string: how a coefficient becomes an adjacency, see Details. May be abbreviated.
#' @param pairs `NULL`, or a mask of the pairs to compute, of [pairMask()].
#' @param r_squared,breaks The estimate is the lowest power with a negative slope and an `SFT.R.sq` above `r_squared`,
#'   from so many bins.
#' @param ...,adjustment,subjects,control `r offered_words("pickPower")`
#'
#' @return A list of class `gpuCorPower`: `powerEstimate`, the lowest power that fits, or `NA`; and `fitIndices`, a data
#'   frame with a row for each power, in increasing order: `Power`, `SFT.R.sq`, `slope`, `truncated.R.sq`, `mean.k.`,
#'   `median.k.`, `max.k.`. If all genes have the same connectivity, within 1e-6, the fit is `NA`, with a warning.
#'
#' @references
#' Zhang B, Horvath S (2005). *Statistical Applications in Genetics and Molecular Biology* 4(1), 17.
#'
#' @examples
#' # 300 genes, each of which follows one of six factors to some degree
#' set.seed(1)
#' factors <- matrix(rnorm(50 * 6), 50)
#' x <- matrix(rnorm(50 * 300), 50) + factors[, rep(1:6, 50)] * rep(rexp(300), each = 50)
#' fit <- pickPower(x, power = c(1:10, 12, 14))
#' fit
#' plot(fit)
#' @order 1
#' @export
pickPower <- function(x, power = 1:20, type = c("unsigned", "signed", "signed hybrid"), method = "pearson",
                      use = "everything", r_squared = 0.85, breaks = 10, pairs = NULL, ...,
                      adjustment = NULL, subjects = NULL, control = NULL) {
  specs <- specs_of("pickPower", ...)
  check_that(power, "power", are_finite(power) && all(power > 0), "finite numbers above 0, such as 1:20")
  power <- sort(unique(as.vector(power)))
  type <- check_choice(type, types, "type")
  method <- check_method(method)
  check_within(r_squared, "r_squared", 0, 1)
  breaks <- check_whole(breaks, "breaks", 2, 1e6)
  check_matrix_like(x, "a gene in each column")
  run <- new_run(NULL, specs, x, NULL, method, use, sign = "absolute", takes = "subjects", pairs = pairs)
  if (ncol(run$x) < 3L) fail("'x' must have at least 3 columns (genes) to fit anything, not ", ncol(run$x))
  # With "everything", columns with missing values would have connectivity 0, and the fit another power.
  if (uses[run$use] == "everything" && !(is_combined(run$x) && run$x$skips)) {
    sets <- if (is_combined(run$x)) run$x$data else list(run$x)
    if (any(vapply(sets, has_missing, NA))) {
      fail("'x' has missing values, and with use = \"everything\" a column with one has no coefficient; ",
           "use = \"pairwise.complete.obs\" leaves out only the missing values")
    }
  }

  parts <- split(power, (seq_along(power) - 1L) %/% constant("max powers")) # of a pass
  over <- list(n = length(parts), label = function(k) "powers", change = function(run, k) run, warns = "all")
  passes <- for_each(over, run, function(run, k) {
    connectivity_pass(run, NULL, list(type = type, power = parts[[k]], histogram = FALSE, maps = NULL))
  })
  warn_constant(passes[[1L]], run)
  warn_infinite(passes[[1L]], run)
  soft <- do.call(cbind, lapply(passes, `[[`, "soft"))
  doing(run$place, "scale-free fits")
  same <- apply(soft, 2L, is_constant)
  if (any(same)) {
    which <- if (all(same)) "every power" else paste("power", paste(power[same], collapse = ", "))
    warning("all columns have the same connectivity with ", which, ": nothing to fit", call. = FALSE)
  }
  fits <- apply(soft, 2L, fit_scale_free, breaks)
  table <- data.frame(Power = power, SFT.R.sq = fits[1L, ], slope = fits[2L, ], truncated.R.sq = fits[3L, ],
                      mean.k. = colMeans(soft), median.k. = apply(soft, 2L, stats::median),
                      max.k. = apply(soft, 2L, max))
  estimate <- power[which(signed_fit(table) > r_squared)[1L]]
  structure(list(powerEstimate = estimate, fitIndices = table), class = c("gpuCorPower", "gpuCorResult"), type = type,
            method = method, r_squared = r_squared, n_var = ncol(run$x), adjusted = adjustment_of(run))
}

# ---- class gpuCorPower

describe_fits <- function(x) {
  cut <- attr(x, "r_squared")
  fit <- signed_fit(x$fitIndices)
  best <- which.max(fit)
  estimate <- if (!is.na(x$powerEstimate)) {
    paste0("lowest power with R^2 above ", cut, ": ", x$powerEstimate)
  } else if (!length(best)) {
    "no power can be fitted"
  } else if (fit[best] <= 0) {
    "no power has a negative slope: none of these networks is scale-free"
  } else {
    paste0("no R^2 above ", cut, " with a negative slope; the highest is ", signif(fit[best], 3L), " of power ",
           x$fitIndices$Power[best])
  }
  paste0("Scale-free fit of ", attr(x, "type"), " networks of ", n_of(attr(x, "n_var"), "variable"), " by ",
         method_words(attr(x, "method")), "\n", adjusted_line(attr(x, "adjusted"), attr(x, "method")), estimate, "\n")
}

#' @method print gpuCorPower
#' @export
print.gpuCorPower <- function(x, digits = 3L, ...) {
  digits <- check_whole(digits, "digits", 1, 15)
  table <- x$fitIndices
  fit <- format(round(table[2:4], digits), nsmall = digits)
  k <- lapply(table[5:7], function(values) vapply(signif(values, digits), format, "", digits = digits))
  cat(describe_fits(x))
  print(data.frame(Power = table$Power, fit, k), row.names = FALSE)
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @usage NULL
#' @method summary gpuCorPower
#' @export
summary.gpuCorPower <- function(object, ...) {
  table <- object$fitIndices
  new_summary(list(estimate = object$powerEstimate, fit = table[match(object$powerEstimate, table$Power), ]),
              describe_fits(object), object)
}

#' @rdname pickPower
#' @usage NULL
#' @export
as.data.frame.gpuCorPower <- function(x, row.names = NULL, optional = FALSE, ...) x$fitIndices

#' @rdname pickPower
#' @export
plot.gpuCorPower <- function(x, ...) {
  fit <- signed_fit(x$fitIndices)
  cut <- attr(x, "r_squared")
  estimate <- x$powerEstimate
  k <- x$fitIndices$mean.k.
  is_log <- all(k > 0)
  powers <- x$fitIndices$Power
  chosen <- powers %in% estimate
  draw <- function(values, ylim, titles, ...) {
    start_plot(range(powers), ylim, c(list(xlab = "power"), titles), ...)
    graphics::lines(powers, values, col = cold())
    graphics::abline(v = powers[chosen], lty = 3L, col = warm())
    graphics::points(powers, values, pch = 19, cex = ifelse(chosen, 1.2, 0.7), col = ifelse(chosen, warm(), cold()))
  }
  panels <- list(fit = function(...) {
    draw(fit, range(0, 1, fit, na.rm = TRUE), list(ylab = expression("signed " * R^2), main = "Scale-free fit"), ...)
    graphics::abline(h = cut, lty = 2L, col = "grey40")
    what <- if (is.na(estimate)) "no power has signed" else paste0("power ", format(estimate), ":")
    note(bquote(.(what) ~ R^2 > .(cut)))
  }, connectivity = function(...) {
    draw(k, range(k), list(ylab = "mean connectivity", main = "Connectivity", log = if (is_log) "y" else "",
                           yaxt = if (is_log) "n" else "s"), ...)
    if (is_log) log_axis(2L, k)
  })
  draw_page(panels, ...)
  invisible(x)
}
