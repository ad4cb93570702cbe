# Class gpuGradients: gradients of a connectome.

new_gradients <- function(found, names, settings) {
  dimnames(found$gradients) <- list(names, paste0("gradient", seq_along(found$lambda)))
  names(found$lambda) <- colnames(found$gradients)
  structure(c(found, settings), class = c("gpuGradients", "gpuCorResult"))
}

describe_gradients <- function(x) {
  paste0(n_of(ncol(x$gradients), "gradient"), " of ", n_of(nrow(x$gradients), "variable"), ": diffusion map of the ",
         if (x$kernel == "cosine") "cosine" else "normalized angle", " of rows, the strongest ",
         format(100 * x$fraction, digits = 3L), " % of each; alpha = ", format(x$alpha), ", time = ", format(x$time),
         if (isTRUE(x$diagonal)) ", with the unit diagonal")
}

#' @rdname gpuGradients
#' @method print gpuGradients
#' @export
print.gpuGradients <- function(x, ...) {
  cat(describe_gradients(x), "\nlambda:\n", sep = "")
  print(x$lambda, digits = 4L)
  invisible(x)
}

#' @rdname summary.gpuCorNetwork
#' @method summary gpuGradients
#' @export
summary.gpuGradients <- function(object, ...) {
  known <- stats::complete.cases(object$gradients)
  quantiles <- apply(object$gradients[known, , drop = FALSE], 2L, stats::quantile)
  new_summary(list(variables = length(known), missing = sum(!known), lambda = object$lambda,
                   quantiles = as.data.frame(t(quantiles), optional = TRUE)), describe_gradients(object), object)
}

#' @rdname gpuGradients
#' @param row.names,optional As in [base::as.data.frame()].
#' @export
as.data.frame.gpuGradients <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x$gradients, row.names = row.names, optional = optional)
}
