# Planted edges among sparse counts of single cells that each measure finds.
#
#   Rscript inst/bench/cells.R [--record] [genes] [cells]
#
# 2,000 genes in 10,000 cells of eight donors. A tenth of the genes are regulators, each of five targets: these are the
# planted edges, three of four positive. A cell's counts are negative binomial, with a mean that is the product of
#
#   the cell's depth           lognormal(0, 0.4), times that of its donor, lognormal(0, 0.3)
#   the gene's level           lognormal(-2.1, 1.2)
#   the donor's own level      lognormal(0, 0.4) for each gene and donor
#   the regulator's activity   exp(0.8 z) for the regulator and exp(effect z) for a target, with z ~ normal(0, 1) in
#                              each cell and |effect| from 0.4 to 1
#
# and variance mean + mean^2 / 2. Every way takes as many strongest pairs, of any sign, as there are planted edges. They
# are planted; or siblings, two targets of one regulator, which are related, but not by an edge; or of unrelated genes,
# which have only depth and donor in common. The pruned network begins with five times as many pairs. Metacells are 20
# similar cells of a donor.
#
# cpu s: CPU seconds of all threads. Takes two minutes on two cores. --record writes the output to results/cells.txt
# beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(here, "record.R"))
size <- as.numeric(grep("^[0-9]", arguments, value = TRUE))
genes <- c(size, 2000)[1L]
cells <- c(size[-1L], 10000)[1L]
options(gpucor.threads = 2, gpucor.backend = "cpu")

# Returns list(counts: dgCMatrix, cells x genes; donor: of each cell; regulator: of each gene its number, that of itself
# for a regulator, or NA; is_target: of each gene).
simulate <- function(genes, cells, donors = 8, targets = 5, seed = 1) {
  set.seed(seed)
  donor <- rep_len(seq_len(donors), cells)
  depth <- rlnorm(cells, 0, 0.4) * rlnorm(donors, 0, 0.3)[donor]
  regulators <- genes / 10
  regulator <- rep_len(NA_integer_, genes)
  regulator[sample.int(genes, regulators * (1 + targets))] <- rep(seq_len(regulators), each = 1 + targets)
  is_target <- duplicated(regulator) & !is.na(regulator)
  effect <- ifelse(is_target, runif(genes, 0.4, 1) * sample(c(1, 1, 1, -1), genes, TRUE), 0.8)
  activity <- matrix(rnorm(cells * regulators), cells)
  level <- rnorm(genes, -2.1, 1.2)
  columns <- lapply(seq_len(genes), function(gene) {
    log_mean <- level[gene] + rnorm(donors, 0, 0.4)[donor]
    if (!is.na(regulator[gene])) log_mean <- log_mean + effect[gene] * activity[, regulator[gene]]
    counts <- rnbinom(cells, mu = depth * exp(log_mean), size = 2)
    at <- which(counts > 0)
    list(i = at, x = as.numeric(counts[at]))
  })
  i <- lapply(columns, `[[`, "i")
  counts <- Matrix::sparseMatrix(i = unlist(i), p = c(0, cumsum(lengths(i))), x = unlist(lapply(columns, `[[`, "x")),
                                 dims = c(cells, genes))
  list(counts = counts, donor = donor, regulator = regulator, is_target = is_target)
}

# Sums the rows of each group.
sums_of <- function(counts, group) {
  Matrix::sparseMatrix(match(group, unique(group)), seq_along(group), x = 1) %*% counts
}

# Returns logarithms of counts of equal depth, in the unit of the mean depth.
logs_of <- function(counts) {
  depth <- Matrix::rowSums(counts)
  log1p(counts / (depth / mean(depth)))
}

# Groups of `size` similar cells of a donor: neighbors along a tree of the first ten principal components.
metacells_of <- function(logs, donor, size = 20) {
  group <- integer(nrow(logs))
  for (of in unique(donor)) {
    at <- which(donor == of)
    own <- scale(as.matrix(logs[at, ]), scale = FALSE)
    axes <- own %*% eigen(crossprod(own), symmetric = TRUE)$vectors[, 1:10]
    group[at[hclust(dist(axes), method = "ward.D2")$order]] <- max(group) + ceiling(seq_along(at) / size)
  }
  group
}

data <- simulate(genes, cells)
n_edges <- sum(data$is_target)
strongest <- function(x, ..., times = 1) gpuCorNetwork(x, density = times * n_edges / choose(genes, 2), ...)
relative <- local({
  depth <- Matrix::rowSums(data$counts)
  data$counts / (depth / mean(depth))
})
logs <- logs_of(data$counts)
donor <- factor(data$donor)
by_donor <- lapply(split(seq_len(cells), donor), function(at) logs[at, ])
metacell <- metacells_of(logs, data$donor)
donor_of_metacell <- donor[match(unique(metacell), metacell)]
in_metacells <- logs_of(sums_of(data$counts, metacell))

ways <- list(
  "pearson, counts" = function() strongest(data$counts),
  "pearson, logs" = function() strongest(logs),
  "pearson, logs, donors as covariates" = function() strongest(logs, covariates = donor),
  "pearson, logs, mean over donors" = function() strongest(by_donor, combine = "fisher"),
  "cosine, logs" = function() strongest(logs, method = "cosine"),
  "concordance, logs" = function() strongest(logs, method = "concordance"),
  "bicor, logs" = function() strongest(logs, method = "bicor"),
  "spearman, counts" = function() strongest(data$counts, method = "spearman"),
  "spearman, relative counts" = function() strongest(relative, method = "spearman"),
  "spearman, mean over donors" = function() strongest(by_donor, combine = "fisher", method = "spearman"),
  "kendall, counts" = function() strongest(data$counts, method = "kendall"),
  "kendall, relative counts" = function() strongest(relative, method = "kendall"),
  "mutual information, counts" = function() strongest(data$counts, method = "mi"),
  "mutual information, relative counts" = function() strongest(relative, method = "mi"),
  "CLR of pearson, logs, donors as covariates" = function() strongest(logs, covariates = donor, normalize = "clr"),
  "CLR of spearman, relative counts" = function() strongest(relative, method = "spearman", normalize = "clr"),
  "CLR of mutual information, counts" = function() strongest(data$counts, method = "mi", normalize = "clr"),
  "spearman, mean over donors, pruned" = function() {
    gpuPrune(strongest(by_donor, combine = "fisher", method = "spearman", times = 5))
  },
  "metacells, pearson, logs" = function() strongest(in_metacells),
  "metacells, pearson, logs, donors as covariates" = function() strongest(in_metacells, covariates = donor_of_metacell),
  "pseudobulk of donors, pearson, logs" = function() strongest(logs_of(sums_of(data$counts, data$donor)))
)

say <- function(...) emit(sprintf(...))
open_record("cells.txt")
say("%s genes, %s cells of 8 donors, %.0f %% zeros, %s planted edges, as many strongest pairs by each way",
    format(genes, big.mark = ","), format(cells, big.mark = ","),
    100 * (1 - length(data$counts@x) / (genes * cells)), format(n_edges, big.mark = ","))
say("%-47s%8s%10s%11s%9s", "", "planted", "siblings", "unrelated", "cpu s")
found <- list()
for (name in names(ways)) {
  seconds <- sum(system.time(net <- suppressWarnings(suppressMessages(ways[[name]]())))[c("user.self", "sys.self")])
  edges <- head(as.data.frame(net), n_edges) # the strongest first; without names, `from` and `to` are numbers
  is_related <- (data$regulator[edges$from] == data$regulator[edges$to]) %in% TRUE # NA: none
  is_planted <- is_related & data$is_target[edges$from] != data$is_target[edges$to]
  found[[name]] <- paste(edges$from, edges$to)
  say("%-47s%8d%10d%11d%9.1f", name, sum(is_planted), sum(is_related) - sum(is_planted), sum(!is_related), seconds)
}
means <- Matrix::colMeans(data$counts)
target <- which(data$is_target)
regulator <- match(data$regulator[target], replace(data$regulator, data$is_target, NA))
rarer <- cut(pmin(means[target], means[regulator]), c(0, 0.03, 0.1, 0.3, Inf),
             c("below 0.03", "0.03 to 0.1", "0.1 to 0.3", "0.3 and more"))
is_found <- paste(pmin(target, regulator), pmax(target, regulator)) %in% found[["spearman, mean over donors"]]
say("\nspearman, mean over donors, by the mean count of the rarer gene of an edge")
say("%-47s%8s%10s", "", "planted", "found")
for (level in levels(rarer)) say("%-47s%8d%10d", level, sum(rarer == level), sum(is_found[rarer == level]))
close_record()
