# gpucor without a GPU: compared with other R packages and with the CPU's peaks, and scaling with problem size and
# threads.
#
#   Rscript inst/bench/cpu.R [--quick] [--record] [--threads=N] [part ...]
#
# Parts (default: all):
#   peers         million pairs per second, for gpucor, stats::cor, WGCNA::cor, WGCNA::pickSoftThreshold and
#                 pcaPP::cor.fk
#   networks      computations on pairs: sums, dense networks, p values, tests, and plots
#   dense         networks and degrees in which a large fraction of the pairs are edges
#   large         networks of 100,000 variables, and the memory that they take
#   scaling       seconds per pair from 2,000 to 50,000 variables; from one thread to all
#   instructions  each instruction set that has kernels and that the machine supports
# Takes a quarter of an hour on two cores; --quick: fewer and smaller problems, about a minute. --record writes the
# output to results/cpu.txt beside this script, that of selected parts to results/cpu-PART.txt. --threads: default is
# the number that gpucor uses by default. Packages that are not installed are skipped and named. Environment variables:
#   GPUCOR_BENCH_LIBS    a folder with cpu-rates.so and random.so, for machines without compilers; otherwise they are
#                        built, and if that fails, fractions of the peaks are omitted
#
# Every measurement runs in a process of its own that loads only the package measured: each call with a large result
# triggers R's garbage collection, which takes longer the more is loaded.
#
# seconds   from the call to the finished R object: the best of five to seven calls, after a small one; fewer calls if
#           they take long
# of it gc  seconds of these in R's garbage collection
# slowest   seconds of the slowest of these calls
# ratio     gpucor's pairs per second over the line's, by these total seconds
# in the run: seconds in gpucor's own engine, without R code before and after. Fractions of a peak refer to these.
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
part <- Sys.getenv("GPUCOR_BENCH_PART") # in a process started by this script: what to measure
folder <- Sys.getenv("GPUCOR_BENCH_FOLDER", tempdir()) # where these processes read and write tasks and results
quick <- "--quick" %in% arguments
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R", "cpu-measure.R", "cpu-report.R",
               "cpu-networks.R")) {
  source(file.path(here, file))
}
DENSITY <- 0.001
POWERS <- 1:20
# Thresholds that about one in a thousand pairs of independent columns of 128 values reaches.
THRESHOLDS <- c(pearson = 0.29, spearman = 0.29, kendall = 0.2)

# ---- one measurement

# who: gpucor or a peer. kind: dist, network (by threshold), density (a network), degrees (by threshold) or powers
# (pickPower). data: normal, ties, factors (columns that follow three common factors) or golub. instructions: "" for the
# best set; blas: a library to load instead of R's. by: how gpucor's best call is chosen: by its total seconds, or by
# those in the run.
task <- function(who, kind, method, n_var, n_obs = 128, data = "normal", threads = all_threads, instructions = "",
                 blas = "", by = "seconds", threshold = THRESHOLDS[[method]]) {
  list(who = who, kind = kind, method = method, n_var = n_var, n_obs = n_obs, data = data, threads = threads,
       instructions = instructions, blas = blas, by = by, threshold = threshold)
}

measured <- list()
# Measures a task in another process; only once if several lines need it.
measure_once <- function(task) {
  key <- paste(unlist(task), collapse = " ")
  if (is.null(measured[[key]])) measured[[key]] <<- measure_apart(task)
  measured[[key]]
}

# ---- against other packages

# Number of variables for peers that would take too long on all. Their pairs per second hardly depend on it.
peer_size <- function(who, method, n_var, n_obs) {
  if (packages[[who]] == "WGCNA") return(n_var)
  most <- if (method != "kendall") c(4000, 4000) else if (who == "pcaPP::cor.fk") c(600, 200) else c(100, 20)
  min(n_var, most[1 + (n_obs > 500)] / (if (quick) 2 else 1))
}

# must: required ratios to peers; rate: required million pairs per second of gpucor.
compare <- function(title, kind, method, n_var, n_obs = 128, data = "normal", must = c(), rate = NA, blas = "",
                    among = names(packages)) {
  peers <- if (method == "kendall") c("pcaPP::cor.fk", "stats::cor") else c("WGCNA::cor", "stats::cor")
  if (kind == "powers") peers <- "WGCNA::pickSoftThreshold"
  peers <- intersect(peers, among)
  own <- measure_once(task("gpucor", kind, method, n_var, n_obs, data))
  compare_title(title, n_var, n_obs, own)
  own_lines(task("gpucor", kind, method, n_var, n_obs, data), own, rate, title)
  for (who in peers) {
    peer <- task(who, if (kind == "powers") kind else "dist", method, peer_size(who, method, n_var, n_obs), n_obs,
                 data, blas = blas)
    peer_line(peer, measure_once(peer), own, if (who %in% names(must)) must[[who]] else NA, title)
  }
  emit("")
}

peers_part <- function() {
  large <- if (quick) 4000 else 10000
  heading("Against other packages")
  describe_peers()
  peer_titles()
  compare("Pearson, all pairs", "dist", "pearson", large, must = c("WGCNA::cor" = 9))
  compare("Kendall, all pairs, no ties", "dist", "kendall", large, must = c("pcaPP::cor.fk" = 1000), rate = 93)
  compare("Kendall, all pairs, ties", "dist", "kendall", large, data = "ties", must = c("pcaPP::cor.fk" = 350))
  compare("Pearson, network by threshold", "network", "pearson", large, must = c("WGCNA::cor" = 10))
  compare("Pearson, 20 powers for a scale-free fit", "powers", "pearson", large / 2)
  if (quick) return(invisible())
  compare("Spearman, all pairs", "dist", "spearman", large, must = c("WGCNA::cor" = 5))
  compare("Spearman, network by threshold", "network", "spearman", large, must = c("WGCNA::cor" = 10))
  compare("Kendall, network by threshold", "network", "kendall", large)
  compare("Kendall, network by threshold, ties", "network", "kendall", large, data = "ties")
  compare("Pearson, all pairs", "dist", "pearson", 4000)
  compare("Spearman, all pairs", "dist", "spearman", 4000)
  compare("Kendall, all pairs, no ties", "dist", "kendall", 4000)
  compare("Kendall, all pairs, ties", "dist", "kendall", 4000, data = "ties")
  compare("Kendall, long columns, no ties", "dist", "kendall", 2000, 1000, must = c("pcaPP::cor.fk" = 1))
  compare("Kendall, long columns, ties", "dist", "kendall", 2000, 1000, "ties", must = c("pcaPP::cor.fk" = 1))
  reference_rows()
  golub_rows()
}

# Peers with R's reference BLAS; gpucor uses no BLAS.
reference_rows <- function() {
  if (!"WGCNA::cor" %in% names(packages)) return(invisible())
  blas <- reference_blas()
  if (is.na(blas)) return(say("The reference BLAS is not installed: no rows with it."))
  probe <- measure_once(task("WGCNA::cor", "dist", "pearson", 4000, blas = blas))
  if (!is.null(probe$error)) return(say("With the reference BLAS: ", probe$error))
  if (!same_file(probe$blas, blas)) return(say("R cannot be made to use the reference BLAS: no rows with it."))
  say("The peers with the reference BLAS, ", probe$blas, ":")
  compare("Pearson, peers with the reference BLAS", "dist", "pearson", 4000, must = c("WGCNA::cor" = 5), blas = blas,
          among = "WGCNA::cor")
  compare("Spearman, peers with the reference BLAS", "dist", "spearman", 4000, must = c("WGCNA::cor" = 5), blas = blas,
          among = "WGCNA::cor")
}

golub_rows <- function() {
  if (!has("multtest")) return(say("Package multtest is not installed: golub's genes are left out."))
  for (method in c("pearson", "spearman", "kendall")) {
    name <- paste0(toupper(substr(method, 1, 1)), substring(method, 2))
    compare(paste0("golub's genes, ", name), "dist", method, 3051, 38, "golub")
  }
}

# ---- dense networks

# In 12,000 columns that follow three factors, 22, 49 and 82 % of the pairs reach these thresholds. rate: see compare().
dense_part <- function() {
  heading("Where a large part of the pairs are edges")
  peer_titles()
  rates <- c("0.51" = 240, "0.32" = 144, "0.11" = 103)
  for (threshold in names(rates)) {
    dense_line("network", as.numeric(threshold), if (all_threads == 2) rates[[threshold]] else NA)
  }
  dense_line("degrees", 0.32, NA)
}

dense_line <- function(kind, threshold, rate) {
  work <- task("gpucor", kind, "pearson", if (quick) 4000 else 12000, data = "factors", threshold = threshold)
  title <- paste0("Pearson, ", kind, " by threshold ", threshold)
  own <- measure_once(work)
  compare_title(title, work$n_var, work$n_obs, own)
  own_lines(work, own, rate, title)
  emit("")
}

# ---- large networks

large_part <- function() {
  n_var <- if (quick) 20000 else 1e5
  heading("Networks of ", number(n_var, 6), " variables, 128 observations: the strongest 0.1 % of the pairs")
  large_titles()
  for (method in c("pearson", if (!quick) "spearman", "kendall")) {
    large_line(method, measure_once(task("gpucor", "density", method, n_var)),
               c(pearson = 60, spearman = NA, kendall = 150)[[method]])
  }
  say("Peak: all that R has in memory at its most, the data and every package included.")
  emit("")
}

# ---- scaling

# True if all pairs fit in memory with half as much to spare.
fits <- function(kind, n_var) kind != "dist" || 1.5 * 8 * pairs_of(n_var) < available_memory()

scaling_part <- function() {
  sizes <- if (quick) c(2000, 10000) else c(2000, 5000, 10000, 20000, 50000)
  works <- list("Pearson" = c("dist", "pearson"), "Kendall" = c("dist", "kendall"),
                "Pearson network" = c("network", "pearson"), "Kendall network" = c("network", "kendall"))
  if (quick) works <- works[2:3]
  heading("Nanoseconds per pair as variables grow: in the run, the best to the slowest, ", all_threads, " threads")
  size_titles(names(works))
  for (n_var in sizes) {
    size_line(n_var, lapply(unname(works), function(work) {
      if (fits(work[1], n_var)) measure_once(task("gpucor", work[1], work[2], n_var, by = "run"))
    }))
  }
  say("Of 128 observations. All pairs go to memory fresh from the system, gigabytes from 20,000 variables on; which ",
      "takes several times as long where the system, or a virtual machine's host, must fetch it first.")
  emit("")
  threads_table()
}

threads_table <- function() {
  counts <- unique(c(2^seq(0, log2(all_threads)), all_threads))
  n_var <- if (quick) 4000 else if (all_threads > 4) 20000 else 10000
  heading("Speed-up over one thread: in the run, ", number(n_var, 6), " variables, 128 observations")
  works <- list("Pearson, all pairs" = c("dist", "pearson"), "Pearson, network by threshold" = c("network", "pearson"),
                "Kendall, all pairs" = c("dist", "kendall"))
  if (quick) works <- works[2:3]
  threads_titles(counts)
  for (name in names(works)) {
    results <- lapply(counts, function(threads) {
      measure_once(task("gpucor", works[[name]][1], works[[name]][2], n_var, threads = threads, by = "run"))
    })
    threads_lines(name, results)
  }
  emit("")
}

# ---- instruction sets

instructions_part <- function() {
  heading("Instruction sets: million pairs a second in the run, 4,000 variables, 128 observations")
  works <- list("Kendall" = c("dist", "kendall", "normal"), "Kendall, ties" = c("dist", "kendall", "ties"),
                "Pearson" = c("dist", "pearson", "normal"), "Pearson network" = c("network", "pearson", "normal"))
  if (quick) works <- works[1]
  set_titles(names(works))
  for (set in machine$instructions) {
    set_line(set, lapply(unname(works), function(work) {
      measure_once(task("gpucor", work[1], work[2], 4000, data = work[3], instructions = set, by = "run"))
    }))
  }
  emit("")
}

# ---- all parts

parts <- list(peers = peers_part, networks = networks_part, dense = dense_part, large = large_part,
              scaling = scaling_part,
              instructions = instructions_part)
is_option <- grepl("^--", arguments)
machine <- NULL
all_threads <- NULL
rates <- NULL

record_name <- function(asked) paste0(paste(c("cpu", if (length(asked)) sort(asked)), collapse = "-"), ".txt")

main <- function() {
  asked <- unique(arguments[!is_option])
  given <- sub("^--threads=", "", grep("^--threads=", arguments, value = TRUE))
  unknown <- c(setdiff(asked, names(parts)), grep("^--(quick|record|threads=[0-9]+)$", arguments[is_option],
                                                  value = TRUE, invert = TRUE))
  if (length(unknown)) stop("there is no argument ", unknown[1], "; parts are ", paste(names(parts), collapse = ", "))
  open_record(record_name(asked))
  share_folder(function() {
    build_random()
    build_cpu_rates()
  })
  machine <<- measure_apart(list(who = "machine", threads = NA))
  if (!is.null(machine$error)) stop("gpucor is not to be had: ", machine$error)
  all_threads <<- if (length(given)) as.integer(given[1]) else machine$threads
  rates <<- measure_apart(list(who = "rates", threads = all_threads))
  describe_cpu()
  for (name in names(parts)) if (!length(asked) || name %in% asked) parts[[name]]()
  print_musts()
  emit("The run took ", number(proc.time()[["elapsed"]]), " s.")
  close_record()
}

if (nzchar(part)) apart(part) else invisible(main())
