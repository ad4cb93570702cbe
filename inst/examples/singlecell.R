# Simulates counts of single cells with known co-expression. Counts are negative binomial:
#
#   depth of a cell      d ~ lognormal(0, 0.35)
#   activity             a ~ gamma(0.4) for each program in each cell: low in most cells, high in some
#   level of a gene      b ~ normal(-2, 1.1)
#   response of a gene   r ~ exponential(0.7), or 0 if the gene follows no program
#   count                x ~ negative binomial with mean d exp(b) (1 + r a) and variance mean + mean^2 / 2
#
# Four of twelve genes follow no program; the others follow one of `programs`, in rotation.
#
# Returns list(counts: dgCMatrix, genes x cells, as in experiments; program: of each gene, or 0 for none).
simulate_cells <- function(n_genes, n_cells, programs = 8, seed = 1) {
  set.seed(seed)
  depth <- rlnorm(n_cells, 0, 0.35)
  activity <- matrix(rgamma(n_cells * programs, 0.4), n_cells)
  level <- exp(rnorm(n_genes, -2, 1.1))
  program <- rep_len(c(rep(0, 4), seq_len(programs)), n_genes)
  response <- rexp(n_genes, 0.7)
  columns <- lapply(seq_len(n_genes), function(gene) {
    mean <- depth * level[gene]
    if (program[gene] > 0) mean <- mean * (1 + response[gene] * activity[, program[gene]])
    counts <- rnbinom(n_cells, mu = mean, size = 2)
    at <- which(counts > 0)
    list(i = at, x = as.numeric(counts[at]))
  })
  i <- lapply(columns, `[[`, "i")
  counts <- Matrix::sparseMatrix(i = unlist(i), p = c(0, cumsum(lengths(i))), x = unlist(lapply(columns, `[[`, "x")),
                                 dims = c(n_cells, n_genes))
  dimnames(counts) <- list(paste0("cell", seq_len(n_cells)), paste0("gene", seq_len(n_genes)))
  list(counts = Matrix::t(counts), program = program)
}
