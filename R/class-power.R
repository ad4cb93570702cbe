# Class gpuCorPower: the table of pickPower().

describe_fits <- function(x) {
  paste0("Scale-free fit of ", attr(x, "type"), " networks of ", n_of(attr(x, "n_var"), "variable"), " by ",
         method_title(attr(x, "method")), "\n", adjusted_line(attr(x, "adjusted"), attr(x, "method")),
         describe_estimate(x), "\n")
}

describe_estimate <- function(x) {
  cut <- attr(x, "r_squared")
  if (!is.na(x$powerEstimate)) return(paste0("lowest power with R^2 above ", cut, ": ", x$powerEstimate))
  table <- x$fitIndices
  fit <- signed_fit(table)
  best <- which.max(fit)
  if (!length(best)) return("no power can be fitted")
  if (fit[best] <= 0) return("no power has a negative slope: none of these networks is scale-free")
  paste0("no R^2 above ", cut, " with a negative slope; the highest is ", signif(fit[best], 3L), " of power ",
         table$Power[best])
}

#' @rdname pickPower
#' @param digits A number: decimal digits of the fit and significant digits of the connectivity to print.
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
#' @method summary gpuCorPower
#' @export
summary.gpuCorPower <- function(object, ...) {
  table <- object$fitIndices
  new_summary(list(estimate = object$powerEstimate, fit = table[match(object$powerEstimate, table$Power), ]),
              describe_fits(object), object)
}

#' @rdname pickPower
#' @param row.names,optional Not used.
#' @export
as.data.frame.gpuCorPower <- function(x, row.names = NULL, optional = FALSE, ...) x$fitIndices
