# Results that are lists: `$` with the name of an element that there is not is an error, as NULL would be taken for a
# result. Names may be abbreviated, as of any list.

# Elements that a result may lack, depending on the arguments: NULL then.
optional_elements <- function(class) {
  switch(class,
    gpuCorTest = c("df", "p.adjusted"),
    gpuCorCompare = "p.adjusted",
    gpuConnectivity = c("degree", "strength", "threshold", "edges", "soft", map_names, "histogram", "power"),
    gpuModules = c("fit", "scales", "combine", "probs", "calibration", "calibrationQuantile"),
    gpuCorNetworkFile = "threshold",
    summary.gpuCorNetwork = c("positive", "isolated", "degree", "weight", "hubs"),
    summary.gpuConnectivity = c("quantiles", "fit", "hubs")
  )
}

# What other packages call elements: Hmisc, psych, WGCNA, and stats::cor.test().
OTHER_ELEMENTS <- c(P = "p.value", p = "p.value", pvalue = "p.value", pval = "p.value", p.val = "p.value",
                    r = "coefficient", cor = "coefficient", estimate = "coefficient", coefficients = "coefficient",
                    rho = "coefficient", tau = "coefficient", t = "statistic", ts = "statistic", z = "statistic",
                    Z = "statistic", parameter = "df", pairs = "n", nObs = "n", n = "n_obs", qvalue = "fdr",
                    q.value = "fdr", FDR = "fdr", padj = "fdr", colors = "colours", module = "labels",
                    modules = "labels", moduleColors = "colours", moduleLabels = "labels", unmergedColors = "unmerged",
                    MEs = "eigengenes", geneTree = "tree", dendrograms = "tree", varExplained = "explained",
                    kTotal = "soft", connectivity = "soft", k = "degree", degrees = "degree")

element_of <- function(x, name) {
  if (name == "colors" && inherits(x, "gpuModules")) name <- "colours"
  at <- pmatch(name, names(x))
  if (!is.na(at)) return(.subset2(x, at))
  if (name %in% unlist(lapply(class(x), optional_elements))) return(NULL)
  meant <- meant_element(name, x)
  fail("a ", class(x)[1L], " has no element '", name, "'", meant, if (is.null(meant)) "; there" else " There",
       " are ", element_names(x))
}

# In words that end a sentence, which element `name` probably means; NULL if that is not known.
meant_element <- function(name, x) {
  other <- OTHER_ELEMENTS[match(name, names(OTHER_ELEMENTS))]
  if (inherits(x, "gpuCorTest") && "fdr" %in% c(other, name)) return("; p.adjust(test$p.value, \"BH\") adjusts them.")
  near <- if (other %in% names(x)) other else nearest(name, c(names(x), ""))
  if (length(near)) paste0("; did you mean $", near, "?")
}

element_names <- function(x) {
  names <- names(x)
  if (!length(names)) return(paste(n_of(length(x), "element"), "without names"))
  paste0(paste0("$", utils::head(names, 12L), collapse = ", "), if (length(names) > 12L) ", ...")
}

#' @export
`$.gpuCorTest` <- function(x, name) element_of(x, name)

#' @export
`$.gpuCorCompare` <- `$.gpuCorTest`

#' @export
`$.gpuAssociation` <- `$.gpuCorTest`

#' @export
`$.gpuConnectivity` <- `$.gpuCorTest`

#' @export
`$.gpuCorPower` <- `$.gpuCorTest`

#' @export
`$.gpuModules` <- `$.gpuCorTest`

#' @export
`$.gpuCorWindows` <- `$.gpuCorTest`

#' @export
`$.gpuInfo` <- `$.gpuCorTest`

#' @export
`$.gpuCorNetworkFile` <- `$.gpuCorTest`

#' @export
`$.summary.gpuCor` <- `$.gpuCorTest`

#' @export
`$.summary.gpuCorNetwork` <- `$.gpuCorTest`

#' @export
`$.summary.gpuConnectivity` <- `$.gpuCorTest`

#' @export
`$.summary.gpuCorPower` <- `$.gpuCorTest`

#' @export
`$.summary.gpuCorTest` <- `$.gpuCorTest`

#' @export
`$.summary.gpuModules` <- `$.gpuCorTest`
