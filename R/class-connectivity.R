# Class gpuConnectivity: sums over each variable's pairs.

new_connectivity <- function(sums, run, wanted, breaks) {
  labels <- colnames(run$x)
  values <- run$criterion$value
  named <- function(values) if (is.null(labels)) values else stats::setNames(values, labels)
  by_level <- function(m) {
    if (length(values) <= 1L) return(named(as.vector(m)))
    structure(m, dim = c(ncol(run$x), length(values)),
              dimnames = list(labels, vapply(values, format, "", digits = 15)))
  }
  result <- list()
  if (!is.null(sums$threshold)) {
    degree <- by_level(sums$degree)
    result <- list(degree = degree, strength = by_level(sums$strength), threshold = threshold_of(sums$threshold),
                   edges = unname(colSums(as.matrix(degree))) / if (is.null(run$y)) 2 else 1)
  }
  if (length(wanted$power)) {
    dimnames(sums$soft) <- list(labels, paste0("power", wanted$power))
    result$soft <- sums$soft
  }
  for (map in setdiff(wanted$maps, "eigenvector")) result[[map]] <- named(sums[[map]])
  if ("eigenvector" %in% wanted$maps) result$eigenvector <- by_level(sums$eigenvector)
  if (wanted$histogram) result$histogram <- histogram_object(sums$counts, breaks, run$method)
  structure(c(result, list(pairs = run$pairs, n_obs = sums$n_obs, method = run$method, sign = run$sign,
                           type = wanted$type, power = wanted$power)), class = c("gpuConnectivity", "gpuCorResult"),
            adjusted = adjustment_of(run))
}

# Makes a histogram like hist(), but with bins closed on the left.
histogram_object <- function(counts, breaks, method) {
  counts <- colSums(matrix(counts, ncol = breaks))
  edges <- seq(-1, 1, length.out = breaks + 1)
  total <- sum(counts)
  structure(list(breaks = edges, counts = counts, density = if (total > 0) counts / total * breaks / 2 else counts,
                 mids = edges[-1] - 1 / breaks, xname = method_title(method), equidist = TRUE),
            class = "histogram")
}

# Returns a measure, which may be a matrix of several, as a list of columns.
columns_of <- function(values, name) {
  if (!is.matrix(values)) return(stats::setNames(list(unname(values)), name))
  stats::setNames(lapply(seq_len(ncol(values)), function(k) unname(values[, k])), paste0(name, colnames(values)))
}

#' @rdname gpuConnectivity
#' @usage NULL
#' @export
as.data.frame.gpuConnectivity <- function(x, row.names = NULL, optional = FALSE, ...) {
  if (!has_sums(x)) return(data.frame())
  columns <- c(columns_of(x$degree, "degree"), columns_of(x$strength, "strength"), columns_of(x$soft, ""),
               unlist(lapply(map_names, function(map) columns_of(x[[map]], map)), recursive = FALSE))
  any <- sums_of(x)[[1L]]
  names <- if (is.matrix(any)) rownames(any) else names(any)
  if (anyDuplicated(names) || anyNA(names)) names <- NULL # row names must be unique and not NA
  as.data.frame(Filter(Negate(is.null), columns), row.names = if (is.null(row.names)) names else row.names,
                optional = TRUE)
}

# Returns the sums of each variable; an empty list if only the histogram was computed.
sums_of <- function(x) Filter(Negate(is.null), x[c("degree", "soft", map_names)])

has_sums <- function(x) length(sums_of(x)) > 0L

# Returns the column that plots and summaries show: `measure`, or the first power, else the degree, else the first map.
shown_measure <- function(measure, frame) {
  if (!is.null(measure)) return(check_choice(measure, names(frame), "measure"))
  names(frame)[c(grep("^power", names(frame)), grep("^degree", names(frame)), 1L)[1L]]
}

# ---- printing

describe_connectivity <- function(x) {
  sums <- sums_of(x)
  bound <- ifelse(is.na(x$threshold), "", paste0(", ", weight_names[x$sign], " >= ", format(x$threshold, digits = 6)))
  edges <- vapply(x$edges, n_of, "", "edge")
  what <- if (length(sums)) paste("Connectivity of", n_of(NROW(sums[[1L]]), "variable")) else "Coefficients"
  paste0(what, " by ", method_title(x$method), ": ", n_of(x$pairs, "pair"),
         ", ", n_of(max(x$n_obs, 0), "observation"), "\n",
         adjusted_line(attr(x, "adjusted"), x$method, max(x$n_obs, 0)),
         paste0(edges, bound, "\n", collapse = "", recycle0 = TRUE),
         if (length(x$power)) paste0("powers of the ", x$type, " similarity\n"),
         if (!is.null(x$histogram)) {
           paste0("$histogram of the coefficients: ", n_of(length(x$histogram$counts), "bin"), "\n")
         })
}

quantiles_of <- function(frame) vapply(frame, stats::quantile, numeric(5L), na.rm = TRUE)

#' @method print gpuConnectivity
#' @export
print.gpuConnectivity <- function(x, digits = 4L, ...) {
  cat(describe_connectivity(x))
  frame <- as.data.frame(x)
  if (nrow(frame)) print(quantiles_of(frame), digits = digits)
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuConnectivity
#' @export
summary.gpuConnectivity <- function(object, n = 6L, ...) {
  n <- check_whole(n, "n", 0, 1e6)
  if (!has_sums(object)) return(new_summary(list(), describe_connectivity(object), object))
  frame <- as.data.frame(object)
  first <- shown_measure(NULL, frame)
  best <- utils::head(order(-frame[[first]], na.last = NA), n)
  names <- if (is.character(attr(frame, "row.names"))) row.names(frame) else seq_len(nrow(frame))
  fit <- lapply(stats::setNames(nm = colnames(object$soft)), function(name) {
    if (!can_fit(frame[[name]])) return(c(r_squared = NA_real_, slope = NA_real_))
    unlist(scale_free_points(frame[[name]])[c("r_squared", "slope")])
  })
  new_summary(list(quantiles = quantiles_of(frame), fit = do.call(rbind, fit),
                   hubs = stats::setNames(data.frame(names[best], frame[[first]][best]), c("variable", first))),
              describe_connectivity(object), object)
}
