# The statistics of gpuPreservation(): those of the modules' genes in the test set, and of genes drawn at random.

# The engine's statistics in its order (src/cpu/preservation.h). WGCNA takes two of them without their sign.
DRAWN_STATISTICS <- c("propVarExplained", "avg.contrib", "meanSignAwareCorDat", "meanAdj", "meanMAR", "cor.kIM",
                      "cor.contrib", "cor.cor", "cor.MAR")
WITHOUT_SIGN <- c(meanSignAwareKME = "avg.contrib", cor.kME = "cor.contrib")

DENSITY <- c("propVarExplained", "meanSignAwareKME", "meanSignAwareCorDat", "meanAdj")
CONNECTIVITY <- c("cor.kIM", "cor.kME", "cor.cor")
PRESERVATION <- c(DENSITY, "meanMAR", CONNECTIVITY, "cor.MAR", "avg.contrib", "cor.contrib")

# Draws, the first of which is the module itself, that are passed to the engine at a time take up to this many bytes.
DRAWN_BYTES <- 2^26

# Returns list(observed: module x statistic; permuted: permutation x module x statistic). `sets`: list(reference, test),
# each list(columns, overlaps), see standardized_columns(); `members`: a list of each module's columns, as indices.
preservation_statistics <- function(sets, members, rule, n_perm, settings) {
  sizes <- lengths(members)
  member <- unlist(members, use.names = FALSE)
  n_genes <- ncol(sets$test$columns)
  at_once <- max(1, floor(DRAWN_BYTES / (4 * length(member))))
  draws <- split(0:n_perm, (0:n_perm) %/% at_once)
  found <- lapply(seq_along(draws), function(part) {
    genes <- vapply(draws[[part]], function(k) if (k == 0L) member else sample.int(n_genes, length(member)), member)
    checked(.Call(r_preservation, sets$reference, sets$test, c(0L, cumsum(sizes)), member - 1L, genes - 1L, rule,
                  at_pass(settings, part, length(draws), "permutations")))
  })
  values <- array(unlist(found), c(length(DRAWN_STATISTICS), length(members), 1L + n_perm),
                  list(DRAWN_STATISTICS, names(members), NULL))
  values <- aperm(with_sizes_of(values), c(3L, 2L, 1L))[, , PRESERVATION, drop = FALSE]
  list(observed = matrix(values[1L, , ], length(members), dimnames = dimnames(values)[2:3]),
       permuted = values[-1L, , , drop = FALSE])
}

# Adds the statistics without sign, as further rows.
with_sizes_of <- function(values) {
  size <- dim(values)
  flat <- matrix(values, size[1L], dimnames = list(DRAWN_STATISTICS, NULL))
  flat <- rbind(flat, abs(flat[WITHOUT_SIGN, , drop = FALSE]))
  flat[is.nan(flat)] <- NA
  array(flat, c(nrow(flat), size[-1L]), c(list(c(DRAWN_STATISTICS, names(WITHOUT_SIGN))), dimnames(values)[-1L]))
}

# Returns columns of mean 0 and length 1.
standardized_columns <- function(x) {
  x <- sweep(x, 2L, colMeans(x))
  sweep(x, 2L, sqrt(colSums(x^2)), "/")
}

# Returns list(Z, p.value), module x statistic; NA without permutations.
compare_with_permuted <- function(observed, permuted) {
  each <- function(f) array(apply(permuted, 2:3, f), dim(observed), dimnames(observed))
  n_perm <- dim(permuted)[1L]
  none <- observed * NA
  if (n_perm == 0L) return(list(Z = none, p.value = none))
  sd <- each(stats::sd)
  at_least <- colSums(permuted >= rep(observed, each = n_perm))
  list(Z = ifelse(sd > 0, (observed - each(mean)) / sd, NA), p.value = (1 + at_least) / (1 + n_perm))
}

# Returns the summaries of Langfelder and others (2011), one row per module.
preservation_summary <- function(observed, Z) {
  medians <- function(values, columns) apply(values[, columns, drop = FALSE], 1L, stats::median, na.rm = TRUE)
  ranks <- apply(-observed, 2L, rank, na.last = "keep")
  ranks <- matrix(ranks, nrow(observed), dimnames = dimnames(observed))
  z <- cbind(density = medians(Z, DENSITY), connectivity = medians(Z, CONNECTIVITY))
  data.frame(Zsummary = rowMeans(z, na.rm = TRUE), Zdensity = z[, "density"], Zconnectivity = z[, "connectivity"],
             medianRank = medians(ranks, c(DENSITY, CONNECTIVITY)), medianRankDensity = medians(ranks, DENSITY),
             medianRankConnectivity = medians(ranks, CONNECTIVITY), row.names = NULL)
}
