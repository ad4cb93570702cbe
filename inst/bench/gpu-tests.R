# Runs the whole test suite on a machine with a GPU, and prints the record.
#   Rscript inst/bench/gpu-tests.R [--record]
# The tests run both back ends. --record writes the output to results/gpu-tests.txt beside this script, and times
# to tests/testthat/seconds.txt.
Sys.setenv(GPUCOR_TESTS = "full", GPUCOR_RUNNER = "gpu")
arguments <- commandArgs(TRUE)
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
source(file.path(here, "record.R"))
source("tests/testthat/run-files.R")

# Files run in forks of this process, which must not have called CUDA before, nor loaded the package.
has_gpu <- system2("Rscript", c("-e", shQuote("quit(status = !'cuda' %in% gpucor::gpuInfo()$backends)"))) == 0
stopifnot("no GPU: nothing to record" = has_gpu)
found <- run_files(test_files("tests/testthat"), max(1L, parallel::detectCores() %/% 2L))
open_record("gpu-tests.txt")
for (line in utils::capture.output(passed <- report_files(found, "tests/testthat"))) emit(line)
close_record()
if ("--record" %in% arguments) record_seconds(found, "tests/testthat")
quit(status = !passed)
