# Connectomes, compared with the tools of the field: Connectome Workbench (Debian's connectome-workbench) and numpy
# (python3-numpy), on the same data and with as many threads.
#   Rscript inst/bench/connectome.R [N] [n_obs] [threads] [--record]
# The data are N grayordinates of noise, float32. Times are the best of some calls, in CPU seconds (all threads
# together) and in elapsed seconds:
#   coefficients  all pairs: gpuCor(), numpy's product of standardized columns, wb_command -cifti-correlation
#   degrees       number of pairs per column above a threshold that one pair in a thousand reaches:
#                 gpuConnectivity(), numpy in blocks of rows, wb_command -cifti-correlation, -cifti-math and
#                 -cifti-reduce
# wb_command reads and writes files in the temporary folder; TMPDIR can place it in memory. The floor is one
# multiply-add per value of each pair, at the measured rate of this CPU (cpu-rates.c). With --record the output is also
# written to results/connectome.txt.
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
folder <- tempdir()
quick <- FALSE
script <- ""
for (file in c("gpu-report.R", "gpu-build.R", "gpu-measure.R", "cpu-measure.R")) source(file.path(here, file))
suppressPackageStartupMessages(library(gpucor))

numbers <- as.numeric(setdiff(arguments, "--record"))
given <- function(k, default) if (length(numbers) >= k) numbers[k] else default
n_var <- 100 * ceiling(given(1, 8000) / 100)
n_obs <- given(2, 300)
threads <- given(3, gpuInfo()$threads)
options(gpucor.threads = threads, gpucor.backend = "cpu")
threshold <- signif(qnorm(0.999) / sqrt(n_obs), 3)
TIMES <- 3
at <- function(name) file.path(folder, name)

# ---- the data, in a file for each tool

x <- matrix(rnorm(n_obs * n_var), n_obs)
x[] <- readBin(writeBin(as.vector(x), raw(), size = 4), "double", length(x), size = 4)
writeBin(as.vector(x), at("x.f4"), size = 4)

# Runs a shell command; returns its times including child processes, or NA if it fails.
command_time <- function(...) {
  time <- system.time(status <- system(paste(...), ignore.stdout = TRUE, ignore.stderr = TRUE))
  if (status != 0) return(c(clock = NA, cpu = NA))
  c(clock = time[["elapsed"]], cpu = time[["user.child"]] + time[["sys.child"]])
}

workbench <- function(...) command_time(paste0("OMP_NUM_THREADS=", threads), "wb_command", ...)
has_workbench <- nzchar(Sys.which("wb_command"))

# Writes a dense series, which wb_command makes from an image.
write_series <- function() {
  size <- c(n_var / 100, 10, 10)
  header <- list(pixdim = c(1, 2, 2, 2, 1, 0, 0, 0), xyzt_units = 10, sform_code = 1, srow_x = c(2, 0, 0, 0),
                 srow_y = c(0, 2, 0, 0), srow_z = c(0, 0, 2, 0))
  writeVoxels(structure(array(t(x), c(size, n_obs)), header = header), at("x.nii"))
  writeVoxels(structure(array(1L, size), header = header), at("label.nii"))
  writeLines(c("OTHER", "1 255 255 255 255"), at("labels.txt"))
  workbench("-volume-label-import", at("label.nii"), at("labels.txt"), at("structure.nii"))
  workbench("-cifti-create-dense-timeseries", at("x.dtseries.nii"), "-volume", at("x.nii"), at("structure.nii"))
  unlink(at("x.nii"))
}

# ---- the tools: for each, a function that returns c(clock, cpu) of each task

of_gpucor <- function(work) {
  time <- system.time(work())
  c(clock = time[["elapsed"]], cpu = time[["user.self"]] + time[["sys.self"]])
}

numpy_script <- '
import sys, time, numpy as np
file, n_obs, task, threshold = sys.argv[1], int(sys.argv[2]), sys.argv[3], np.float32(sys.argv[4])
x = np.fromfile(file, "<f4").reshape(-1, n_obs)
clock, cpu = time.perf_counter(), time.process_time()
z = x.astype(np.float64)
z -= z.mean(1, keepdims=True)
z /= np.sqrt((z * z).sum(1, keepdims=True))
z = z.astype(np.float32)
if task == "coefficients":
    r = z @ z.T
    total = 0
else:
    total = -len(z)
    for first in range(0, len(z), 1024):
        total += np.count_nonzero(z[first:first + 1024] @ z.T >= threshold)
print(time.perf_counter() - clock, time.process_time() - cpu, total)
'
writeLines(numpy_script, at("measure.py"))

of_numpy <- function(task) {
  limits <- paste0(c("OPENBLAS_NUM_THREADS=", "OMP_NUM_THREADS=", "MKL_NUM_THREADS="), threads, collapse = " ")
  said <- tryCatch(system(paste(limits, python, at("measure.py"), at("x.f4"), n_obs, task, threshold), intern = TRUE),
                   warning = function(w) "NA NA NA")
  found <- as.numeric(strsplit(said[1], " ")[[1]])
  if (task == "degrees" && !is.na(found[3])) edges$numpy <<- found[3] / 2
  c(clock = found[1], cpu = found[2])
}

of_workbench <- function(task) {
  time <- workbench("-cifti-correlation", at("x.dtseries.nii"), at("r.dconn.nii"))
  if (task == "degrees") {
    time <- time + workbench("-cifti-math", shQuote(paste("r >=", threshold)), at("edge.dconn.nii"), "-var r",
                             at("r.dconn.nii"))
    time <- time + workbench("-cifti-reduce", at("edge.dconn.nii"), "SUM", at("degree.dscalar.nii"))
    if (!anyNA(time)) edges$workbench <<- sum(readVoxels(at("degree.dscalar.nii")) - 1) / 2
  }
  unlink(at(c("r.dconn.nii", "edge.dconn.nii", "degree.dscalar.nii")))
  time
}

best <- function(measure) {
  found <- vapply(seq_len(TIMES), function(k) measure(), c(clock = 0, cpu = 0))
  apply(found, 1, min)
}

python <- Filter(function(path) nzchar(path) && system2(path, c("-c", "'import numpy'"), stderr = FALSE) == 0,
                 unique(c("/usr/bin/python3", Sys.which("python3"))))[1]
edges <- list()
degrees <- function() edges$gpucor <<- gpuConnectivity(x, threshold = threshold, sign = "positive")$edges
coefficients <- function() gpuCor(x)
ours <- list(coefficients = best(function() of_gpucor(coefficients)), degrees = best(function() of_gpucor(degrees)))
peers <- list()
if (!is.na(python)) peers$numpy <- sapply(names(ours), function(task) best(function() of_numpy(task)), simplify = FALSE)
if (has_workbench) {
  write_series()
  peers$wb_command <- sapply(names(ours), function(task) best(function() of_workbench(task)), simplify = FALSE)
}

# ---- the report

share_folder(build_cpu_rates)
rate <- if (load_library("cpu-rates")) .C("rate_float", as.integer(threads), 0)[[2]] else NA
floor <- n_var * (n_var - 1) / 2 * n_obs / rate # in elapsed seconds; multiplied by the threads in CPU seconds

open_record("connectome.txt")
say("Connectomes of ", number(n_var, 8), " grayordinates x ", n_obs, ", ", threads, " threads of ", cpu_name())
version <- function(command) tryCatch(trimws(system(command, intern = TRUE)), error = function(e) "")
say("gpucor ", format(utils::packageVersion("gpucor")),
    if (!is.na(python)) paste0("; numpy ", version(paste(python, "-c 'import numpy; print(numpy.__version__)'"))),
    if (has_workbench) paste0("; wb_command ", sub("Version: *", "", grep("^Version", version("wb_command -version"),
                                                                          value = TRUE))))
say("floor: the multiply-adds at ", number(rate / 1e9), " G/s. CPU: seconds of all processors; best of ", TIMES)
emit("")
LINE <- "%-14s %-12s %9s %9s %9s %12s %12s"
emit(sprintf(LINE, "", "", "floor CPU", "CPU s", "clock s", "x ours, CPU", "ours x floor"))
row <- function(task, who, time) {
  emit(sprintf(LINE, task, who, number(floor * threads), number(time[["cpu"]]), number(time[["clock"]]),
               number(time[["cpu"]] / ours[[task]][["cpu"]]),
               if (who == "gpucor") number(time[["cpu"]] / (floor * threads)) else ""))
}
for (task in names(ours)) {
  row(task, "gpucor", ours[[task]])
  for (who in names(peers)) row(task, who, peers[[who]][[task]])
}
emit("")
say("Edges, r >= ", threshold, ": ", paste(names(edges), vapply(edges, number, "", digits = 9), collapse = ", "),
    "; numpy and wb_command decide in single precision.")
if (!has_workbench) say("wb_command is not installed, left out.")
if (is.na(python)) say("python3 with numpy is not installed, left out.")
close_record()
unlink(at(c("x.f4", "x.dtseries.nii", "label.nii", "structure.nii")))
