# Runs the whole test suite on a machine with a GPU and prints the record of it.
#   Rscript inst/bench/gpu-tests.R "$(git rev-parse HEAD:src)" > inst/bench/results/gpu-tests.txt
# The tests run CPU and CUDA back end alike; the tree names the sources that were tested.
library(gpucor)

tree <- commandArgs(TRUE)[1]
info <- gpuInfo()
stopifnot("no GPU: nothing to record" = "cuda" %in% info$backends)

notes <- utils::capture.output({
  results <- as.data.frame(testthat::test_dir("tests/testthat", package = "gpucor", load_package = "installed",
                                              reporter = "silent", stop_on_failure = FALSE))
})
failed <- sum(results$failed) + sum(results$error)
bad <- results[results$failed > 0 | results$error, c("file", "test")]
skipped <- results[results$skipped, c("file", "test")]
gpu <- info$devices[info$device + 1, ]
cat("src tree: ", tree, "\n", sep = "")
cat("GPU: ", gpu$name, ", compute capability ", gpu$capability, ", CUDA runtime ", info$runtime, ", driver for ",
    info$driver, "\n", sep = "")
cat("date: ", format(Sys.Date()), "\n", sep = "")
cat(sum(results$passed), " passed, ", failed, " failed, ", nrow(skipped), " skipped\n", sep = "")
for (row in seq_len(nrow(bad))) cat("failed: ", bad$file[row], ": ", bad$test[row], "\n", sep = "")
for (row in seq_len(nrow(skipped))) cat("skipped: ", skipped$file[row], ": ", skipped$test[row], "\n", sep = "")
writeLines(notes)
quit(status = failed > 0)
