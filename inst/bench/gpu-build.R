# What gpu.R builds, where there are compilers: random.so and gpu-rates.so.

# Runs a command in the folder; what it says is shown where it fails.
build <- function(name, command, arguments) {
  log <- suppressWarnings(system2(command, arguments, stdout = TRUE, stderr = TRUE))
  built <- is.null(attr(log, "status")) && file.exists(paste0(name, .Platform$dynlib.ext))
  if (!built) say("cannot build ", name, ": ", paste(utils::tail(log, 5), collapse = " "))
}

# nvcc's flag for the GPU here. Hopper's own instructions are in code for 9.0a only.
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

build_libraries <- function() {
  old <- setwd(folder)
  on.exit(setwd(old))
  file.copy(file.path(here, c("random.c", "columns.h")), folder, overwrite = TRUE)
  Sys.setenv(PKG_CFLAGS = "-O3 -fopenmp", PKG_LIBS = "-fopenmp")
  build("random", file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "random.c"))
  flag <- architecture()
  if (is.null(flag)) return(invisible())
  build("gpu-rates", nvcc(), c("-std=c++17", "-O3", flag, "-Xcompiler", "-fPIC", "-shared", "-o", "gpu-rates.so",
                               shQuote(file.path(here, "gpu-rates.cu"))))
}
