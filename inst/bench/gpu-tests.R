# Runs the whole test suite on a machine with a GPU, one process per file, and prints the record.
#   Rscript inst/bench/gpu-tests.R "$(git rev-parse HEAD:src)" > inst/bench/results/gpu-tests.txt
# The tests run both back ends; the tree identifies the sources that were tested.
library(gpucor)
Sys.setenv(GPUCOR_TESTS = "full")

tree <- commandArgs(TRUE)[1]
info <- gpuInfo()
stopifnot("no GPU: nothing to record" = "cuda" %in% info$backends)

files <- list.files("tests/testthat", "^test-.*[.]R$", full.names = TRUE)
run_file <- function(file) {
  started <- Sys.time()
  tell <- function(file) {
    notes <- utils::capture.output({
      tests <- testthat::test_file(file, package = "gpucor", load_package = "installed", reporter = "silent",
                                   stop_on_failure = FALSE)
    })
    results <- as.data.frame(tests)[c("file", "test", "passed", "failed", "error", "skipped")]
    wrong <- function(one) if (inherits(one, c("expectation_failure", "expectation_error"))) conditionMessage(one)
    results$said <- vapply(tests, function(test) paste(unlist(lapply(test$results, wrong)), collapse = "\n"), "")
    list(results = results, notes = notes)
  }
  dead <- function(e) {
    one <- data.frame(file = basename(file), test = conditionMessage(e), passed = 0, failed = 1, error = TRUE,
                      skipped = FALSE, said = "")
    list(results = one, notes = character())
  }
  found <- tryCatch(callr::r(tell, list(file), timeout = 550), error = dead)
  found$seconds <- as.numeric(Sys.time() - started, units = "secs")
  found
}
# Long files run first, so that the last ones are short.
files <- files[order(-file.size(files))]
found <- parallel::mclapply(files, run_file, mc.cores = max(1, info$threads %/% 3), mc.preschedule = FALSE)
results <- do.call(rbind, lapply(found, `[[`, "results"))
failed <- sum(results$failed) + sum(results$error)
bad <- results[results$failed > 0 | results$error, c("file", "test", "said")]
skipped <- results[results$skipped, c("file", "test")]
gpu <- info$devices[1, ]
cat("src tree: ", tree, "\n", sep = "")
cat("GPU: ", nrow(info$devices), " x ", gpu$name, ", compute capability ", gpu$capability, ", CUDA runtime ",
    info$runtime, ", driver for ", info$driver, "\n", sep = "")
cat("date: ", format(Sys.Date()), "\n", sep = "")
cat(sum(results$passed), " passed, ", failed, " failed, ", nrow(skipped), " skipped\n", sep = "")
for (row in seq_len(nrow(bad))) cat("failed: ", bad$file[row], ": ", bad$test[row], "\n", bad$said[row], "\n", sep = "")
for (row in seq_len(nrow(skipped))) cat("skipped: ", skipped$file[row], ": ", skipped$test[row], "\n", sep = "")
writeLines(unlist(lapply(found, `[[`, "notes")))
seconds <- vapply(found, `[[`, 0, "seconds")
message("slowest: ", paste0(basename(files), " ", round(seconds), " s", collapse = ", "))
quit(status = failed > 0)
