# Runs the tests of the folder testthat, or those whose names match the first argument: for the Makefile and R CMD
# check. With a second argument, "--record", it writes their times to testthat/seconds.txt.
source("testthat/run-files.R")
arguments <- commandArgs(TRUE)
found <- run_files(test_files("testthat", c(arguments, "")[1L]))
if (identical(arguments[2L], "--record")) record_seconds(found, "testthat")
if (!report_files(found, "testthat")) quit(status = 1L)
