# Runs all tests of this folder on the login node. The last line counts them and says why any was skipped.
here <- commandArgs(TRUE)[1]
filter <- Sys.getenv("FILTER")
library(testthat)
started <- Sys.time()
results <- test_dir(here, package = "gpucor", load_package = "installed", reporter = "minimal", stop_on_failure = FALSE,
                    stop_on_warning = FALSE, filter = if (nzchar(filter)) filter)
is_one <- function(result, what) inherits(result, paste0("expectation_", what))
of_tests <- function(what) {
  unlist(lapply(results, function(test) {
    found <- Filter(function(result) is_one(result, what), test$results)
    if (length(found)) paste0(test$test, ": ", conditionMessage(found[[1]]))
  }))
}
bad <- c(of_tests("failure"), of_tests("error"), of_tests("warning"))
skipped <- of_tests("skip")
for (test in results) cat(sprintf("%6.1f s  %s\n", test$real, test$test))
for (text in bad) cat("FAILED ", text, "\n", sep = "")
passed <- length(results) - length(bad) - length(skipped)
cat(sprintf("The tests took %.0f s.\n", as.numeric(Sys.time() - started, units = "secs")))
cat(passed, " passed, ", length(bad), " failed, ", length(skipped), " skipped",
    if (length(skipped)) paste0(" (", gsub("\n", " ", toString(skipped)), ")"), "\n", sep = "")
quit(status = as.integer(length(bad) > 0 || passed == 0))
