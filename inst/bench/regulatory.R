# Edges of a simulated regulatory network that each measure finds: the area under the curve of precision and recall.
#
#   Rscript inst/bench/regulatory.R [--record] [genes]
#
# 1,000 genes, of which 100 regulate others: a few of them many, most of them few. A gene's expression is a sum of its
# regulators' effects and noise: half of the effects rise with the regulator, a quarter fall, and a quarter are largest
# at a middle level. The area is that of a random order, the fraction of pairs that are edges, if a measure finds
# nothing. Networks have 200 samples and, with heavy tails, the exponential of each gene. --record writes the output to
# results/regulatory.txt beside this script.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(here, "gpu-report.R"))
sizes <- suppressWarnings(as.numeric(arguments))
genes <- c(sizes[!is.na(sizes)], 1000)[1]

regulation_of <- function(genes, regulators = genes / 10) {
  of_gene <- function(gene) {
    candidates <- seq_len(min(regulators, gene - 1))
    number <- min(length(candidates), 1 + rbinom(1, 2, 0.4))
    data.frame(from = sample.int(length(candidates), number, prob = 1 / candidates), to = gene)
  }
  edges <- do.call(rbind, lapply(2:genes, of_gene))
  edges$effect <- sample(c("rises", "falls", "peaks"), nrow(edges), TRUE, c(0.5, 0.25, 0.25))
  edges
}

effects <- list(rises = function(z) 2 * plogis(2 * z) - 1, falls = function(z) 1 - 2 * plogis(2 * z),
                peaks = function(z) 1.5 * exp(-1.5 * z^2) - 0.75)

expression_of <- function(edges, genes, samples) {
  x <- matrix(0, samples, genes)
  regulators <- split(edges, factor(edges$to, seq_len(genes)))
  for (gene in seq_len(genes)) {
    own <- regulators[[gene]]
    level <- rnorm(samples, sd = if (nrow(own)) 0.5 else 1)
    for (k in seq_len(nrow(own))) level <- level + effects[[own$effect[k]]](x[, own$from[k]])
    x[, gene] <- (level - mean(level)) / sd(level)
  }
  x
}

# The mean of the precision at each true edge, in descending order of the scores.
area_of <- function(score, is_edge) {
  found <- is_edge[order(-score)]
  mean((cumsum(found) / seq_along(found))[found])
}

weights_of <- function(net) {
  m <- abs(as.matrix(net))
  m[lower.tri(m)]
}

scores <- list(
  pearson = function(x) abs(as.vector(gpuCor(x))),
  spearman = function(x) abs(as.vector(gpuCor(x, method = "spearman"))),
  "distance correlation" = function(x) as.vector(gpuCor(x, method = "distance")),
  "mutual information" = function(x) as.vector(gpuCor(x, method = "mi")),
  "mutual information, CLR" = function(x) {
    weights_of(gpuCorNetwork(x, density = 1, method = "mi", normalize = "clr"))
  },
  "mutual information, ARACNE" = function(x) {
    weights_of(gpuPrune(gpuCorNetwork(x, density = 0.1, method = "mi"), tolerance = 0.1))
  },
  "spearman, CLR" = function(x) weights_of(gpuCorNetwork(x, density = 1, method = "spearman", normalize = "clr")),
  "spearman, ARACNE" = function(x) {
    weights_of(gpuPrune(gpuCorNetwork(x, density = 0.1, method = "spearman"), tolerance = 0.1))
  },
  "pearson, partial" = function(x) abs(as.vector(gpuCor(x, partial = TRUE))),
  "spearman, partial" = function(x) abs(as.vector(gpuCor(x, partial = TRUE, method = "spearman")))
)

say <- function(...) emit(sprintf(...))

open_record("regulatory.txt")
set.seed(1)
edges <- regulation_of(genes)
is_edge <- matrix(FALSE, genes, genes)
is_edge[cbind(edges$to, edges$from)] <- TRUE
is_edge <- is_edge[lower.tri(is_edge)]
x <- expression_of(edges, genes, 200)
say("%d genes, %d edges, 200 samples", genes, nrow(edges))
say("%-28s %8s %12s %8s", "", "normal", "heavy tails", "seconds")
say("%-28s %8.3f %12.3f", "random order", mean(is_edge), mean(is_edge))
for (name in names(scores)) {
  seconds <- system.time(normal <- scores[[name]](x))[["elapsed"]]
  say("%-28s %8.3f %12.3f %8.2f", name, area_of(normal, is_edge), area_of(scores[[name]](exp(x)), is_edge), seconds)
}
close_record()
