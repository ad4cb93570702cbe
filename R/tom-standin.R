# Stands in for gpuTOM() on this branch only, by WGCNA.
gpuTOM <- function(x, power = 6, type = c("unsigned", "signed", "signed hybrid"),
                   TOMType = c("unsigned", "signed", "signed Nowick", "unsigned 2", "signed 2", "signed Nowick 2"),
                   TOMDenom = c("min", "mean"), method = "pearson", use = "everything",
                   output = c("dist", "matrix", "network"), ..., backend = NULL) {
  x <- as.matrix(check_variables(x, "x", list(...)$assay))
  stats::as.dist(WGCNA::TOMsimilarityFromExpr(x, corType = method, networkType = match.arg(type), power = power,
                                              TOMType = match.arg(TOMType), TOMDenom = match.arg(TOMDenom),
                                              verbose = 0))
}
