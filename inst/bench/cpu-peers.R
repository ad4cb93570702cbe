# gpucor's CPU back end against other R packages on this machine, in one run of three minutes.
#
#   Rscript inst/bench/cpu-peers.R [--record] [--threads=2]
#
# --record writes the output to results/cpu-peers.txt beside this script. All use the same BLAS,
# on as many threads; stats::cor and pcaPP::cor.fk have one thread only. A method that would take
# too long on all variables runs on the first so many, and its line says on how many.
arguments <- commandArgs(TRUE)
threads <- as.integer(sub("--threads=", "", c(grep("^--threads=", arguments, value = TRUE), "2")[1]))
here <- dirname(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))

# A BLAS reads its number of threads when it is loaded: start again with that number.
if (Sys.getenv("GPUCOR_BENCH") == "") {
  limits <- paste0(c("OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS=", "MKL_NUM_THREADS="), threads)
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", file.path(here, "cpu-peers.R"), arguments),
                    env = c("GPUCOR_BENCH=1", limits))
  quit(status = status)
}

library(gpucor)
# Some packages greet when they are loaded.
quietly <- function(code) {
  utils::capture.output(value <- suppressMessages(code))
  value
}
has <- function(package) quietly(requireNamespace(package, quietly = TRUE))
if (has("WGCNA")) invisible(quietly(WGCNA::enableWGCNAThreads(threads)))
if ("--record" %in% arguments) {
  dir.create(file.path(here, "results"), showWarnings = FALSE)
  sink(file.path(here, "results", "cpu-peers.txt"), split = TRUE)
}

# ---- what the machine allows, measured by rates.c

load_rates <- function() {
  folder <- tempfile("rates")
  dir.create(folder)
  file.copy(file.path(here, "rates.c"), folder)
  old <- setwd(folder)
  on.exit(setwd(old))
  Sys.setenv(PKG_CFLAGS = "-O3 -march=native -fopenmp", PKG_LIBS = "-fopenmp -lblas")
  system2(file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "rates.c"), stdout = FALSE)
  dyn.load(file.path(folder, paste0("rates", .Platform$dynlib.ext)))
}
load_rates()
rate_sgemm <- function(n_obs) .C("rate_sgemm", as.integer(n_obs), 0)[[2]]
rate_popcount <- .C("rate_popcount", threads, 0, 0)[[2]]
rate_fill <- .C("rate_fill", threads, 0)[[2]]

# The least seconds for some pairs: their products alone, or writing them alone. A tie costs
# Kendall's tau a second product.
floor_seconds <- function(method, n_obs, pairs, ties) {
  words <- n_obs * (n_obs - 1) / 2 / 64
  products <- if (method == "kendall") pairs * words * (1 + ties) / rate_popcount else pairs * n_obs / rate_sgemm(n_obs)
  max(products, pairs / rate_fill)
}

# ---- who computes what

ranks <- function(x) apply(x, 2, rank)
peers <- list(
  "stats::cor" = function(x, method) stats::cor(x, method = method),
  "WGCNA::cor" = if (has("WGCNA")) function(x, method) {
    WGCNA::cor(if (method == "spearman") ranks(x) else x, nThreads = threads)
  },
  "pcaPP::cor.fk" = if (has("pcaPP")) function(x, method) pcaPP::cor.fk(x)
)
absent <- setdiff(c("stats::cor", "WGCNA::cor", "pcaPP::cor.fk"), names(Filter(Negate(is.null), peers)))

# The best of five calls, each after the garbage of the last has gone; of fewer if they are long.
seconds_of <- function(f, x, method) {
  best <- Inf
  until <- proc.time()[["elapsed"]] + 5
  for (call in 1:5) {
    gc(full = TRUE)
    best <- min(best, system.time(f(x, method))[["elapsed"]])
    if (proc.time()[["elapsed"]] > until) break
  }
  best
}
pairs_of <- function(n) n * (n - 1) / 2

row_text <- function(...) cat(sprintf("%-38s %7s %6s %10s %10s %9s\n", ...))

# A block of lines: ours, the floor, each peer on its number of variables.
compare <- function(title, x, method, at, ties = FALSE) {
  ours <- function(x, method) gpuCor(x, method = method, backend = "cpu", threads = threads)
  line <- function(who, n, seconds, note) {
    row_text(paste0("  ", who), format(n, big.mark = ","), nrow(x), format(seconds, digits = 3, nsmall = 3),
             format(signif(pairs_of(n) / seconds / 1e6, 3)), note)
  }
  cat(title, "\n", sep = "")
  n <- ncol(x)
  seconds <- seconds_of(ours, x, method)
  rate <- pairs_of(n) / seconds
  line("gpucor", n, seconds, "")
  least <- floor_seconds(method, nrow(x), pairs_of(n), ties)
  line("floor of this machine", n, least, sprintf("%.2f", least * rate / pairs_of(n)))
  for (who in intersect(names(at), names(Filter(Negate(is.null), peers)))) {
    few <- x[, seq_len(min(n, at[[who]])), drop = FALSE]
    peer <- seconds_of(peers[[who]], few, method)
    line(if (who == "WGCNA::cor" && method == "spearman") "rank() and WGCNA::cor" else who, ncol(few), peer,
         format(signif(rate * peer / pairs_of(ncol(few)), 3)))
  }
  few <- x[, seq_len(min(n, at[["difference"]])), drop = FALSE]
  cat(sprintf("  largest difference from stats::cor on %s variables: %.1e\n\n", format(ncol(few), big.mark = ","),
              max(abs(as.matrix(ours(few, method)) - stats::cor(few, method = method)))))
}

# ---- the run

set.seed(20)
normal <- function(n) matrix(stats::rnorm(128 * n), 128)
tied <- function(n) round(normal(n), 0) # about seven different values a column
started <- Sys.time()

cpu <- grep("model name", readLines("/proc/cpuinfo"), value = TRUE)[1]
cat("gpucor ", format(utils::packageVersion("gpucor")), " on the CPU against other R packages, ",
    format(Sys.Date()), "\n", sep = "")
cat(sub(".*: ", "", cpu), ", ", threads, " threads, ", gpuInfo()$popcount, "; ", R.version.string, "; BLAS ",
    basename(extSoftVersion()[["BLAS"]]), " (", gpuInfo()$blas, ")\n", sep = "")
cat(sprintf("Measured here: float32 products %.0f G multiply-adds/s at 128 observations, AND-popcount %.1f G words/s,\n",
            rate_sgemm(128) / 1e9, rate_popcount / 1e9))
cat(sprintf("writing fresh memory %.2f G doubles/s. The floor is the slower of products and writing.\n", rate_fill / 1e9))
cat("ratio: gpucor's pairs a second over the line's; for the floor, the share of it that gpucor reaches.\n")
cat("Each time is the best of up to five. stats::cor and pcaPP::cor.fk have one thread; where n_var is smaller, the\n",
    "method ran on the first variables only.\n", sep = "")
if (length(absent)) cat("not installed, left out: ", paste(absent, collapse = ", "), "\n", sep = "")
cat("\n")
row_text("", "n_var", "n_obs", "seconds", "M pairs/s", "ratio")

every <- 1e9
compare("Pearson", normal(4000), "pearson", list("stats::cor" = every, "WGCNA::cor" = every, difference = 4000))
compare("Pearson, more variables", normal(10000), "pearson",
        list("stats::cor" = 4000, "WGCNA::cor" = every, difference = 4000))
compare("Spearman", normal(4000), "spearman", list("stats::cor" = every, "WGCNA::cor" = every, difference = 4000))
compare("Kendall, no ties", normal(4000), "kendall",
        list("stats::cor" = 200, "pcaPP::cor.fk" = 600, difference = 200))
compare("Kendall, heavy ties", tied(4000), "kendall",
        list("stats::cor" = 200, "pcaPP::cor.fk" = 600, difference = 200), ties = TRUE)

if (has("multtest")) {
  utils::data("golub", package = "multtest")
  genes <- t(golub)
  compare("golub's gene expression: Pearson", genes, "pearson",
          list("stats::cor" = every, "WGCNA::cor" = every, difference = every))
  compare("golub's gene expression: Spearman", genes, "spearman",
          list("stats::cor" = every, "WGCNA::cor" = every, difference = every))
  compare("golub's gene expression: Kendall", genes, "kendall",
          list("stats::cor" = 600, "pcaPP::cor.fk" = every, difference = 600), ties = anyDuplicated(genes[, 1]) > 0)
} else {
  cat("golub's gene expression: package multtest is not installed, left out\n")
}
cat("The run took ", format(round(difftime(Sys.time(), started))), ".\n", sep = "")
