# Kendall's tau of all pairs of 3,051 genes in 38 samples of acute leukemia (Golub et al. 1999, Bioconductor's package
# multtest). Prints a summary and writes golub-kendall.png to the working directory.
library(gpucor)
if (!requireNamespace("multtest", quietly = TRUE)) {
  stop("the data come with package multtest: apt-get install r-bioc-multtest, or BiocManager::install(\"multtest\")")
}
data("golub", package = "multtest", envir = environment())

# golub: genes in rows; golub.gnames: their index, description and probe set.
genes <- t(golub)
shorten <- function(text) ifelse(nchar(text) > 44, sub(",? [^ ]*$", " ...", substr(text, 1, 41)), text)
colnames(genes) <- make.unique(shorten(sub("^GB DEF = ", "", golub.gnames[, 2])), " #")

info <- gpuInfo()
gpu <- info$devices[info$devices$id == getGpuId(), ]
if (info$default == "cuda") {
  where <- paste0("CUDA, ", gpu$name)
  opening <- system.time(gpuCor(genes[, 1:2]))[["elapsed"]] # once per session
} else {
  where <- paste0("CPU, ", info$threads, " threads, ", info$instructions[1])
}
seconds <- system.time(tau <- gpuCor(genes, method = "kendall"))[["elapsed"]]

# ---- genes above the detection floor
#
# Values were truncated at a floor that differs between samples. Genes that are at this floor in many samples correlate
# only because of the floors.
lowest <- apply(genes, 1, min)
at_floor <- colMeans(genes - lowest < 1e-3)
measured <- which(at_floor < 0.1)
tau_measured <- as.matrix(tau)[measured, measured]

strongest <- function(n, sign) {
  values <- sign * tau_measured[lower.tri(tau_measured)]
  top <- order(values, decreasing = TRUE)[1:n]
  pair <- triangleIndex(top, length(measured))
  names <- colnames(tau_measured)
  cat(sprintf("  %6.3f  %-45s  %s\n", sign * values[top], names[pair[, 1]], names[pair[, 2]]), sep = "")
}
number <- function(n) format(n, big.mark = ",")

cat("Kendall's tau-b of all pairs of genes, acute leukemia (Golub et al. 1999)\n\n")
fact <- function(name, ...) cat(sprintf("  %-9s ", name), ..., "\n", sep = "")
fact("genes", number(ncol(genes)))
fact("samples", nrow(genes))
fact("pairs", number(length(tau)))
fact("seconds", format(seconds, digits = 2))
fact("back end", where)
if (info$default == "cuda") fact("", "opening the GPU took ", format(opening, digits = 2), " s more, once")
cat("\n", number(ncol(genes) - length(measured)), " genes are at the detection floor in at least a tenth of the ",
    "samples.\nAmong the other ", number(length(measured)), ", the strongest pairs are\n\n", sep = "")
strongest(8, +1)
cat("\nand the most negative\n\n")
strongest(8, -1)

# ---- the picture

limit <- 0.5
partners <- rowSums(abs(tau_measured) >= limit) - 1
top <- order(partners, decreasing = TRUE)[1:40]

open_png <- function(file) {
  type <- if (capabilities("cairo")) "cairo" else "Xlib"
  if (type == "cairo" || capabilities("X11")) {
    png(file, width = 1040, height = 1300, res = 99, type = type)
  } else {
    bitmap(file, type = "png16m", width = 10.5, height = 13.1, res = 99) # by Ghostscript
  }
}

file <- file.path(getwd(), "golub-kendall.png")
open_png(file)
layout(matrix(1:2), heights = c(1, 2.2))
plot(tau, "histogram", main = paste("All", number(length(tau)), "pairs of", number(ncol(genes)), "genes"))
plot(gpuCor(genes[, measured[top]], method = "kendall"), "heatmap",
     main = paste0("The ", length(top), " genes with the most partners at |tau| of ", limit, " or more"))
invisible(dev.off())
cat("\npicture: ", file, "\n", sep = "")
