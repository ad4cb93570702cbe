# Builds the libraries of the GPU benchmarks, if there are compilers.

# Runs a shell command in the folder; its output is shown if it fails.
build <- function(name, command) {
  log <- tempfile("build")
  status <- system(paste("cd", shQuote(folder), "&&", command, ">", shQuote(log), "2>&1"))
  if (status != 0) say("cannot build ", name, ": ", paste(utils::tail(readLines(log, warn = FALSE), 5), collapse = " "))
}

# The command to start R, quoted for the shell.
r_command <- function() shQuote(file.path(R.home("bin"), "R"))

# nvcc's flag for this GPU. Hopper's wgmma instructions require code for 9.0a.
architecture <- function() {
  found <- tryCatch(suppressWarnings(system2("nvidia-smi", c("--query-gpu=compute_cap", "--format=csv,noheader"),
                                             stdout = TRUE, stderr = FALSE)), error = function(e) character())
  found <- sub(".", "", grep("^[0-9]+[.][0-9]+$", trimws(found), value = TRUE), fixed = TRUE)
  if (!length(found)) return(NULL)
  own <- if (found[1] == "90") "90a" else found[1]
  paste0("-gencode=arch=compute_", own, ",code=sm_", own)
}

nvcc <- function() {
  candidates <- c(file.path(Sys.getenv("CUDA_HOME"), "bin", "nvcc"), Sys.which("nvcc"), "/usr/local/cuda/bin/nvcc")
  c(candidates[nzchar(candidates) & file.exists(candidates)], "nvcc")[1]
}

# Builds the data generator.
build_random <- function() {
  file.copy(file.path(here, c("random.c", "columns.h")), folder, overwrite = TRUE)
  build("random", paste("PKG_CFLAGS='-O3 -fopenmp' PKG_LIBS=-fopenmp", r_command(), "CMD SHLIB random.c"))
}

build_rates <- function() {
  flag <- architecture()
  if (is.null(flag)) return(invisible())
  build("gpu-rates", paste(nvcc(), "-std=c++17 -O3", flag, "-Xcompiler -fPIC -shared -o gpu-rates.so",
                           shQuote(file.path(here, "gpu-rates.cu"))))
}

# Sets the environment of the processes that a benchmark starts: the folder for results, and the libraries, which
# build_all() builds unless a folder with them is given.
share_folder <- function(build_all) {
  Sys.setenv(GPUCOR_BENCH_FOLDER = folder, R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  if (Sys.getenv("GPUCOR_BENCH_LIBS") != "") return(invisible())
  build_all()
  Sys.setenv(GPUCOR_BENCH_LIBS = folder)
}
