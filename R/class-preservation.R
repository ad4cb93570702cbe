# Class gpuPreservation: the result of gpuPreservation().

describe_preservation <- function(x) {
  paste0("Preservation of ", n_of(nrow(x$modules), "module"), " of ", n_of(x$genes, "gene"), ": ",
         n_of(x$n_obs[["reference"]], "reference sample"), ", ", n_of(x$n_obs[["test"]], "test sample"), "\n",
         if (x$network == "overlap") "topological overlap of a ", x$type, " network, ", power_words(x$power), ", ",
         n_of(x$n_perm, "permutation"), "\n", adjusted_line(attr(x, "adjusted"), "pearson"))
}

#' @rdname gpuPreservation
#' @param x,object An object of class `gpuPreservation`.
#' @param digits A number: significant digits to print.
#' @method print gpuPreservation
#' @export
print.gpuPreservation <- function(x, digits = 3L, ...) {
  cat(describe_preservation(x))
  has_z <- x$n_perm > 1
  shown <- c("module", "size", if (has_z) c("Zsummary", "Zdensity", "Zconnectivity"), "medianRank")
  gold <- if (has_z && !is.null(x$gold)) replace(x$gold[shown], "module", "gold (random genes)")
  print(rbind(x$modules[shown], gold), digits = digits, row.names = FALSE)
  if (!is.null(gold)) {
    cat("Random genes have large Z, too, where data sets share correlations: compare with gold.",
        "propVarExplained, meanAdj and meanMAR test whether genes are a module in the test set.", sep = "\n")
  }
  invisible(x)
}

#' @rdname gpuPreservation
#' @param row.names,optional Not used.
#' @export
as.data.frame.gpuPreservation <- function(x, row.names = NULL, optional = FALSE, ...) {
  columns <- function(values, prefix) structure(values, dimnames = list(NULL, paste0(prefix, colnames(values))))
  data.frame(x$modules, columns(x$observed, ""), columns(x$Z, "Z."), columns(x$p.value, "p."))
}

# Limits of Zsummary: some evidence of preservation, and strong evidence.
Z_LIMITS <- c(2, 10)

#' @rdname gpuPreservation
#' @method summary gpuPreservation
#' @export
summary.gpuPreservation <- function(object, ...) {
  z <- object$modules$Zsummary
  count <- function(level) sum(findInterval(z, Z_LIMITS) == level, na.rm = TRUE)
  new_summary(list(strong = count(2), moderate = count(1), none = count(0), modules = object$modules),
              describe_preservation(object), object)
}
