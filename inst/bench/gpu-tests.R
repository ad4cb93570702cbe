# Runs the whole test suite on a machine with a GPU, and prints the record.
#   Rscript inst/bench/gpu-tests.R "$(git rev-parse HEAD:src)" > inst/bench/results/gpu-tests.txt
# The tests run both back ends; the tree identifies the sources that were tested.
Sys.setenv(GPUCOR_TESTS = "full", GPUCOR_RUNNER = "gpu")
source("tests/testthat/run-files.R")

# Files run in forks of this process, which must not have called CUDA before.
found <- run_files(test_files("tests/testthat"), max(1L, parallel::detectCores() %/% 3L))
info <- gpucor::gpuInfo()
stopifnot("no GPU: nothing to record" = "cuda" %in% info$backends)
gpu <- info$devices[1, ]
cat("src tree: ", commandArgs(TRUE)[1], "\n", sep = "")
cat("GPU: ", nrow(info$devices), " x ", gpu$name, ", compute capability ", gpu$capability, ", CUDA runtime ",
    info$runtime, ", driver for ", info$driver, "\n", sep = "")
cat("date: ", format(Sys.Date()), "\n", sep = "")
passed <- report_files(found, "tests/testthat")
seconds <- sort(seconds_of(found), decreasing = TRUE)
message("slowest: ", paste0(names(seconds), " ", round(seconds), " s", collapse = ", "))
quit(status = !passed)
