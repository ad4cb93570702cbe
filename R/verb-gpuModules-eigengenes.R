# Eigengenes: one value per sample that summarizes a module's genes.

# Returns list(values: matrix, samples x modules; explained: fraction of variance of each module). `labels`: module of
# each gene, in the same terms as `modules`.
eigengenes_of <- function(labels, modules, job) {
  found <- lapply(modules, function(module) eigengene(as.matrix(pick_columns(job$x, which(labels == module)))))
  values <- vapply(found, `[[`, numeric(nrow(job$x)), "values")
  list(values = matrix(values, nrow(job$x), dimnames = list(rownames(job$x), modules)),
       explained = stats::setNames(vapply(found, `[[`, 0, "explained"), modules))
}

# Returns the first principal component of scaled columns, with length 1 and the sign of their mean.
eigengene <- function(values) {
  scaled <- scale(if (anyNA(values)) imputed(values) else values)
  first <- svd(scaled, nu = 1L, nv = 0L)
  component <- first$u[, 1L]
  along <- sum(component * rowMeans(scaled))
  list(values = if (along < 0) -component else component, explained = first$d[1L]^2 / sum(first$d^2))
}

# Imputes missing values like WGCNA, but restores the random number generator.
imputed <- function(values) {
  if (ncol(values) < 2L) return(values)
  need_packages("impute", "'x' has missing values, and an eigengene of them")
  withr::with_preserve_seed(t(impute::impute.knn(t(values), k = min(10, ncol(values) - 1))$data))
}
