# Runs test files, each in a process of its own where the system can fork, and judges them: a file without results has
# failed, whatever ended its process. tests/testthat.R, the record on a GPU and the mutants call it.

MAX_SECONDS <- 10 # of processor that a file of the quick tier may take

# Which runner runs a test that others skip. The first row counts whose regular expression matches the test's name and
# the reason. A runner with a name (GPUCOR_RUNNER) fails if it skips a test of its own, so that no test is skipped
# everywhere: "gpu" is the record on a GPU, "releases" has newer releases of R, "windows" packages of CRAN
# (install.yaml), "nightly" runs the full tier outside of R CMD check (make asan), "check" is .ci/run on Debian 12, with
# CUDA.
SKIPPED <- c(
  "^cuda |needs a GPU|no GPU" = "gpu",
  "R has methods of S3|SeuratObject is version|H5ADMatrix|built with CUDA" = "releases",
  "R CMD check runs the examples" = "nightly",
  "RNifti" = "windows",
  "." = "check"
)

tier <- function() {
  if (Sys.getenv("GPUCOR_TESTS") != "full") return("quick")
  if (Sys.getenv("GPUCOR_RUNNER") == "gpu") "gpu" else "full"
}

name_of <- function(files) sub("^test-(.*)[.]R$", "\\1", basename(files))

# Returns the row of each file in seconds.txt; NA for a new file.
recorded_of <- function(files, folder) {
  recorded <- utils::read.table(file.path(folder, "seconds.txt"), header = TRUE)
  recorded[match(name_of(files), recorded$file), ]
}

# Returns files ordered by the seconds of processor that they took when seconds.txt was recorded, the longest first. A
# new file is the first of all.
test_files <- function(folder = ".", filter = "") {
  files <- list.files(folder, "^test-.*[.]R$", full.names = TRUE)
  seconds <- recorded_of(files, folder)[[tier()]]
  kept <- grepl(filter, name_of(files), perl = TRUE)
  files[kept][order(-seconds[kept], na.last = FALSE)]
}

# Returns a list of an element per file: list(tests: the results of testthat, as a list of tests; seconds: of processor,
# with child processes), or what ended the process instead. A fork starts with the namespaces that are loaded
# now, so that those which one file loads do not slow the collection of garbage in others; not with gpucor's, which uses
# one thread in forks of a process that has loaded it.
run_files <- function(files, processes = as.integer(Sys.getenv("TESTTHAT_CPUS", "2"))) {
  for (package in c("Matrix", "testthat", "withr")) loadNamespace(package)
  limit <- Sys.getenv("_R_CHECK_LIMIT_CORES_", NA) # by which R CMD check refuses more than two
  Sys.unsetenv("_R_CHECK_LIMIT_CORES_")
  on.exit(if (!is.na(limit)) Sys.setenv(`_R_CHECK_LIMIT_CORES_` = limit))
  found <- if (processes < 2L || .Platform$OS.type == "windows") {
    lapply(files, run_file)
  } else {
    unlink(tempdir(), recursive = TRUE) # each fork makes a folder of its own: one that quits removes it
    parallel::mclapply(files, run_in_fork, mc.cores = processes, mc.preschedule = FALSE)
  }
  tempdir(check = TRUE)
  stats::setNames(found, basename(files))
}

run_in_fork <- function(file) {
  tempdir(check = TRUE)
  on.exit(unlink(tempdir(), recursive = TRUE))
  run_file(file)
}

run_file <- function(file) {
  before <- proc.time()
  utils::capture.output(tests <- testthat::test_file(
    file, package = "gpucor", load_package = "installed", reporter = "silent", stop_on_failure = FALSE
  ))
  seconds <- sum((proc.time() - before)[-3L])
  results <- as.data.frame(tests)
  message(sprintf("%s: %d passed, %d failed, %.1f s of processor", basename(file), sum(results$passed),
                  sum(results$failed, results$error), seconds)) # of runs that are cut off, this is what is known
  list(tests = unclass(tests), seconds = seconds)
}

# Returns a data frame of all that tests found: file, test, kind ("success", "failure", "error", "skip" or "warning"),
# text.
expectations_of <- function(found) {
  rows <- lapply(names(found), function(file) {
    if (!is.list(found[[file]]) || !length(found[[file]]$tests)) {
      text <- if (is.list(found[[file]])) "no test was run" else paste("its process ended:", paste(found[[file]]))
      return(data.frame(file, test = "", kind = "error", text))
    }
    do.call(rbind, lapply(found[[file]]$tests, function(test) {
      kind <- vapply(test$results, function(one) sub("^expectation_", "", class(one)[1L]), "")
      text <- vapply(test$results, conditionMessage, "")
      if (length(kind)) data.frame(file, test = test$test, kind, text)
    }))
  })
  do.call(rbind, rows)
}

# Writes the seconds of this run to the column of its tier in seconds.txt, which keeps rows of files that exist.
record_seconds <- function(found, folder) {
  path <- file.path(folder, "seconds.txt")
  recorded <- utils::read.table(path, header = TRUE)
  name <- name_of(names(found))
  all <- merge(recorded, data.frame(file = name), all = TRUE)
  all[match(name, all$file), tier()] <- round(seconds_of(found), 1)
  all <- all[file.exists(file.path(folder, paste0("test-", all$file, ".R"))), ]
  utils::write.table(all[order(all$file), ], path, quote = FALSE, row.names = FALSE)
}

seconds_of <- function(found) vapply(found, function(one) if (is.list(one)) one$seconds else NA_real_, 0)

# Returns the seconds of the files that take too long in the quick tier, on a machine as fast as the one that recorded
# seconds.txt: divided by what the median file takes more here. After a run of the full tier only those can that took
# too long there, even if all that they took more than when it was recorded were of the quick tier; they are run again.
slow_in_quick_tier <- function(seconds, folder) {
  recorded <- recorded_of(names(seconds), folder)
  slowness <- max(1, stats::median(seconds / recorded[[tier()]], na.rm = TRUE))
  seconds <- seconds / slowness
  if (tier() == "quick") return(seconds[which(seconds > MAX_SECONDS)])
  at_most <- recorded$quick + pmax(0, seconds - recorded$full)
  slow <- seconds[which(seconds > MAX_SECONDS & (is.na(at_most) | at_most > MAX_SECONDS))]
  if (!length(slow)) return(slow)
  Sys.setenv(GPUCOR_TESTS = "quick")
  on.exit(Sys.setenv(GPUCOR_TESTS = "full"))
  again <- seconds_of(run_files(file.path(folder, names(slow)))) / slowness
  again[which(again > MAX_SECONDS)]
}

# Prints what is wrong, what was skipped and why, how many files ran, and as the last line the counts as testthat's
# reporters do. Returns TRUE if nothing is wrong. Warnings are wrong in .ci/run; elsewhere, others' packages may warn.
report_files <- function(found, folder = ".") {
  all <- expectations_of(found)
  is <- function(kind) all$kind %in% kind
  wrong <- all[is(c("failure", "error", "warning")), ]
  cat(sprintf("%s: %s: %s: %s\n", wrong$kind, wrong$file, wrong$test, wrong$text), sep = "")
  skips <- all[is("skip"), ]
  skips$text <- sub("^Reason: ", "", skips$text)
  for (why in unique(skips$text)) cat("skipped in", sum(skips$text == why), "tests:", why, "\n")
  runner <- Sys.getenv("GPUCOR_RUNNER")
  said <- paste(skips$test, skips$text)
  own <- vapply(said, function(one) SKIPPED[mapply(grepl, names(SKIPPED), one)][[1L]] == runner, NA)
  cat(sprintf("to be run by this runner: %s: %s\n", skips$file[own], skips$test[own]), sep = "")
  seconds <- seconds_of(found)
  slow <- if (runner %in% c("", "check")) slow_in_quick_tier(seconds, folder)
  cat(sprintf("more than %d s of processor in the quick tier: %s: %.1f s\n", MAX_SECONDS, names(slow), slow), sep = "")
  n_wrong <- sum(is(c("failure", "error")))
  cat(length(found), "files ran, in", round(sum(seconds, na.rm = TRUE)), "s of processor\n")
  cat(sprintf("[ FAIL %d | WARN %d | SKIP %d | PASS %d ]\n", n_wrong, sum(is("warning")), nrow(skips),
              sum(is("success"))))
  length(found) > 0 && n_wrong == 0 && !any(own) && !(runner == "check" && (length(slow) || any(is("warning"))))
}
