# Sparse counts of 2,000 genes in 20,000 cells: all pairs of genes by three measures, time and memory, compared with
# commonly used alternatives.
#
#   Rscript inst/bench/singlecell.R [--record] [genes] [cells]
#
# Takes ten minutes on two cores. --record writes the output to results/singlecell.txt beside this script. The counts
# are those of simulate_cells() (inst/examples/singlecell.R). Uses WGCNA and pcaPP, skipping what is not installed.
#
# Every measurement runs in a process of its own, with one call; gpucor and WGCNA have two threads.
#
# cpu s     CPU seconds of all threads, from the call to the result; on two idle cores the elapsed time of gpucor and
#           WGCNA is half of it
# peak      MB of the process's peak resident memory above what it had with the sparse counts loaded, including a dense
#           copy if one is made
# If all genes would take hours, fewer are used and seconds are scaled by the number of pairs.
suppressPackageStartupMessages(library(gpucor))
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
for (file in c("memory.R", "record.R")) source(file.path(here, file))
source(file.path(dirname(dirname(script)), "examples", "singlecell.R"))
part <- Sys.getenv("GPUCOR_BENCH_PART") # in a process started by this script: what to measure
size <- as.numeric(grep("^[0-9]", arguments, value = TRUE))
n_genes <- if (length(size) > 0L) size[1L] else 2000
n_cells <- if (length(size) > 1L) size[2L] else 20000
options(gpucor.threads = 2, gpucor.backend = "cpu")

# Pearson's correlation of a sparse matrix's columns, written out.
crossprod_cor <- function(x) {
  means <- Matrix::colMeans(x)
  covariance <- (as.matrix(Matrix::crossprod(x)) - nrow(x) * tcrossprod(means)) / (nrow(x) - 1)
  covariance / tcrossprod(sqrt(diag(covariance)))
}

wgcna_cor <- function(x) {
  WGCNA::allowWGCNAThreads(2)
  WGCNA::cor(as.matrix(x))
}

# label, call, number of genes used (NULL: all), package required.
ways <- list(
  list("pearson", "gpucor, sparse", function(x) gpuCor(x)),
  list("pearson", "Matrix::crossprod(), sparse", function(x) crossprod_cor(x)),
  list("pearson", "stats::cor()", function(x) stats::cor(as.matrix(x))),
  list("pearson", "WGCNA::cor()", wgcna_cor, needs = "WGCNA"),
  list("spearman", "gpucor, sparse", function(x) gpuCor(x, method = "spearman")),
  list("spearman", "stats::cor()", function(x) stats::cor(as.matrix(x), method = "spearman")),
  list("kendall", "gpucor, sparse", function(x) gpuCor(x, method = "kendall")),
  list("kendall", "gpucor, strongest 0.5 %", function(x) gpuCorNetwork(x, density = 0.005, method = "kendall")),
  list("kendall", "pcaPP::cor.fk()", function(x) pcaPP::cor.fk(as.matrix(x)), genes = 100, needs = "pcaPP"),
  list("kendall", "stats::cor()", function(x) stats::cor(as.matrix(x), method = "kendall"), genes = 3)
)

measure <- function(way, data) {
  x <- Matrix::t(readRDS(data))
  if (!is.null(way$genes)) x <- x[, seq_len(min(way$genes, ncol(x)))]
  suppressWarnings(suppressMessages(way[[3L]](x[seq_len(min(500, nrow(x))), 1:3]))) # loads what a first call loads
  gc()
  before <- status_mb("VmRSS")
  writeLines("5", "/proc/self/clear_refs") # resets the peak
  time <- system.time(suppressMessages(way[[3L]](x)))
  pairs <- function(n) n * (n - 1) / 2
  c(cpu = sum(time[c("user.self", "sys.self")]), peak = status_mb("VmHWM") - before,
    times = pairs(n_genes) / pairs(ncol(x)))
}

if (nzchar(part)) {
  part <- strsplit(part, "|", fixed = TRUE)[[1L]]
  saveRDS(measure(ways[[as.integer(part[1L])]], part[2L]), part[3L])
  quit()
}

apart <- function(number, data) {
  result <- tempfile()
  on.exit(unlink(result))
  Sys.setenv(GPUCOR_BENCH_PART = paste(number, data, result, sep = "|"))
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), n_genes, n_cells),
                    stdout = FALSE)
  Sys.unsetenv("GPUCOR_BENCH_PART")
  if (status != 0) stop("a measurement failed: ", ways[[number]][[2L]])
  readRDS(result)
}

say <- function(...) emit(sprintf(...))
open_record("singlecell.txt")

cells <- simulate_cells(n_genes, n_cells)
data <- tempfile(fileext = ".rds")
saveRDS(cells$counts, data, compress = FALSE)
say("%s genes x %s cells of simulate_cells(), %.0f %% zeros, largest count %.0f: %.0f MB sparse, %.0f MB dense",
    format(n_genes, big.mark = ","), format(n_cells, big.mark = ","),
    100 * (1 - length(cells$counts@x) / (n_genes * n_cells)), max(cells$counts@x),
    as.numeric(object.size(cells$counts)) / 2^20, 8 * n_genes * n_cells / 2^20)
say("%-10s%-30s%10s%10s", "measure", "by", "cpu s", "peak MB")
for (number in seq_along(ways)) {
  way <- ways[[number]]
  if (!is.null(way$needs) && !requireNamespace(way$needs, quietly = TRUE)) next
  found <- apart(number, data)
  partly <- found[["times"]] > 1
  say("%-10s%-30s%10.1f%10s%s", way[[1L]], way[[2L]], found[["cpu"]] * found[["times"]],
      if (partly) "" else sprintf("%.0f", found[["peak"]]),
      if (partly) sprintf("  from %.0f genes", way$genes) else "")
}
close_record()
