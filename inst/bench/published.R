# Published methods and gpucor, on the same matrices and the same machine.
#
#   Rscript inst/bench/published.R [--quick] [--alone] [--record]
#   Rscript inst/bench/published.R --draw
#
# The methods are the programs of published/, written from their papers. Each row of the table below runs one of them,
# and gpucor's own call on the matrix that the program generates, each in a process of its own, so that a failure
# affects no other row. Takes four minutes on an H200 with 16 cores, and some 60 GB of host memory. --quick: a twentieth
# of the variables, at most 5,000; a minute. --record writes the output to results/published.txt beside this script and,
# if R can, a picture of it to results/published.png. --alone: only networks that no published method has made, such as
# those of 1 and 2 % of the pairs; their record is results/published-alone.txt, without a picture. --draw only makes the
# picture of an existing record, on any machine. Environment variables:
#   GPUCOR_BENCH_LIBS    a folder with the built programs, named like their sources, and random.so, for machines
#                        without compilers; otherwise they are built
#   GPUCOR_BENCH_LIMIT   seconds after which no further row is started
# GPUCOR_BACKEND=cpu, or a package without a GPU, runs gpucor's part on the CPU.
#
# method   seconds as counted by the program: from the matrix in host memory to the results there; the GPU has been
#          used before
# gpucor   seconds from the call to the finished R object: the better of two runs, after a small call
# touched  the results' memory has been used before: the program has written to it; gpucor reuses that of an earlier
#          result, as the option gpucor.keep_memory is TRUE
# fresh    the results' memory comes from the system, in huge pages that are first touched while the clock runs
# off      the largest error among sampled pairs; if the program reports that it is too large, the row has failed
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
part <- Sys.getenv("GPUCOR_BENCH_PART") # in a process started by this script: the call to measure
folder <- Sys.getenv("GPUCOR_BENCH_FOLDER", tempdir()) # where these processes leave their results
limit <- as.numeric(Sys.getenv("GPUCOR_BENCH_LIMIT", "Inf"))
quick <- "--quick" %in% arguments
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R", "published-measure.R", "published-report.R",
               "published-picture.R")) {
  source(file.path(here, file))
}
scale <- 1 # used by gpu-measure.R
DENSITY <- 0.001

# ---- the rows

# label: the method's name in table and picture. program: with the arguments after N, n_obs and steps; "": none. kind:
# gpucor's result, a triangle, distances (1 - r) or a network of that density. published: the paper's seconds, and on
# which hardware; none with --quick, whose sizes are not the paper's.
row <- function(label, program, n_var, n_obs, published = NA, on = "", kind = "triangle", measure = "pearson",
                density = DENSITY) {
  if (quick) {
    n_var <- min(5000, max(500, n_var / 20))
    published <- NA
  }
  program <- strsplit(program, " ")[[1]]
  list(label = label, program = program[1], more = program[-1], n_var = n_var, n_obs = n_obs, published = published,
       on = if (is.na(published)) "" else on, kind = kind, measure = measure, density = density)
}

# Pearson's correlations of one size by all methods. published: seconds in the order of these methods; the paper of
# Fast-GPU-PCC has one for both orders of the triangle.
pearson_rows <- function(n_var, n_obs, published) {
  methods <- c("GPU-PCC" = "gpu-pcc", "GPU-PCC, gemv" = "gpu-pcc-gemv", "Fast-GPU-PCC" = "fast-gpu-pcc row",
               "Fast-GPU-PCC, by column" = "fast-gpu-pcc column", "Wang, GEMM" = "wang-gemm",
               "one CPU core" = "sequential pearson 0.001")
  on <- c(rep("K40c", 5), "one core")
  Map(function(label, program, seconds, on) row(label, program, n_var, n_obs, seconds, on), names(methods), methods,
      published, on)
}
network_row <- function(measure, n_var, published) {
  row("Zhao, network", paste("zhao-network", measure, DENSITY), n_var, 128, published, "TITAN Black", "network",
      measure)
}
# Networks by gpucor alone: of 1 and 2 % of the pairs, for which Zhao's program has not enough memory, and of the sizes
# of real data in the papers.
own_networks <- function(n_var, n_obs, densities, measures = c("pearson", "spearman", "kendall")) {
  cases <- expand.grid(density = densities, measure = measures, stringsAsFactors = FALSE)
  Map(function(measure, density) {
    row(paste("alone,", percent(density)), "", n_var, n_obs, kind = "network", measure = measure, density = density)
  }, cases$measure, cases$density)
}

# Cheap rows first. Published times at n_obs 100 are from the paper of Fast-GPU-PCC, at 300 from that of GPU-PCC.
rows <- unname(c(
  pearson_rows(10000, 100, NA),
  list(row("gputools", "gputools-cor pearson", 10000, 100),
       row("gputools", "gputools-cor kendall", 10000, 128, measure = "kendall"),
       row("Knight, CPU", "sequential kendall 0.001", 10000, 128, measure = "kendall")),
  pearson_rows(20000, 100, c(0.97, NA, 0.44, 0.44, 1.86, 15.65)),
  list(row("Kim", "kim-spearman", 21000, 1000, 11.06, "M2090", "distance", "spearman")),
  pearson_rows(40000, 100, c(3.87, NA, 2.40, 2.40, 6.28, 62.81)),
  pearson_rows(100000, 100, c(24.28, NA, 11.01, 11.01, 36.7, 424)),
  pearson_rows(100000, 300, c(40.88, 54.89, NA, NA, 111.47, 4415)),
  list(network_row("kendall", 300000, 861.64), network_row("pearson", 1e6, 777.21),
       network_row("spearman", 1e6, 782.02)),
  own_networks(90112, 165, c(0.001, 0.01, 0.02)), own_networks(60000, 50, 0.001), own_networks(60000, 500, 0.001),
  own_networks(300000, 128, c(0.01, 0.02))
))

# ---- all rows

call_of_row <- function(row) {
  paste(row$kind, row$measure, format(row$n_var, scientific = FALSE), row$n_obs, row$density)
}
result_file <- function(call) file.path(folder, paste0(gsub(" ", "-", call), ".rds"))

# Measures gpucor's part of a row by this script in another process; once for all rows with the same call.
measured_call <- function(call) {
  if (!file.exists(result_file(call))) {
    Sys.setenv(GPUCOR_BENCH_PART = call)
    on.exit(Sys.unsetenv("GPUCOR_BENCH_PART"))
    log <- tempfile("call")
    status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), if (quick) "--quick"),
                      stdout = log, stderr = log)
    if (status != 0) saveRDS(list(error = failure(status, log)), result_file(call))
  }
  tryCatch(suppressWarnings(readRDS(result_file(call))), error = function(e) list(error = "no result"))
}

run_row <- function(row) {
  if (proc.time()[["elapsed"]] > limit) return(list(row = row, method = list(error = "no time left"), own = list()))
  result <- list(row = row, method = run_both_ways(row), own = measured_call(call_of_row(row)))
  table_line(result)
  result
}

main <- function() {
  unknown <- setdiff(arguments, c("--quick", "--alone", "--record", "--draw"))
  if (length(unknown)) stop("there is no argument ", unknown[1])
  if ("--draw" %in% arguments) return(draw_record())
  is_alone <- "--alone" %in% arguments
  if (is_alone) rows <- Filter(function(row) is.na(row$program), rows)
  open_record(if (is_alone) "published-alone.txt" else "published.txt")
  share_folder(build_programs)
  describe_machine_and_titles()
  results <- lapply(rows, run_row)
  print_notes(results)
  emit("The run took ", number(proc.time()[["elapsed"]]), " s.")
  close_record()
  if ("--record" %in% arguments && !is_alone) draw_record()
}

if (nzchar(part)) call_part(part) else invisible(main())
