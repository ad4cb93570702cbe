# That covering() covers.

test_that("covering() has every combination of any two, or any three, levels of different factors", {
  factors <- list(method = all_methods, use = all_uses, kind = 1:7, signed = c(TRUE, FALSE))
  for (strength in 2:3) {
    rows <- do.call(covering, c(factors, strength = strength))
    for (set in combn(names(factors), strength, simplify = FALSE)) {
      expect_identical(nrow(unique(rows[set])), as.integer(prod(lengths(factors[set]))))
    }
    expect_lt(nrow(rows), prod(lengths(factors)))
  }
  expect_identical(nrow(covering(a = 1:3)), 3L)
})

test_that("a file without results has failed, whatever ended its process", {
  skip_on_os("windows") # without forks its process is this one
  source("run-files.R", local = TRUE)
  folder <- withr::local_tempdir(tmpdir = dirname(tempdir()))
  write <- function(name, ...) writeLines(c(...), file.path(folder, paste0("test-", name, ".R")))
  run <- function() {
    output <- capture.output(passed <- report_files(suppressWarnings(run_files(test_files(folder), 2L))))
    list(passed = passed, output = output)
  }
  writeLines("file quick full gpu\nlong 9 9 9\nquits 1 1 1", file.path(folder, "seconds.txt"))
  write("long", "test_that('it passes', expect_true(TRUE))")
  expect_true(run()$passed)
  ends <- c(quits = "quit(status = 0)", halts = "invokeRestart('abort')", dies = "tools::pskill(Sys.getpid(), 9)",
            empty = "1 + 1", fails = "test_that('it fails', expect_true(FALSE))")
  for (name in names(ends)) {
    write(name, ends[[name]])
    found <- run()
    expect_false(found$passed)
    expect_match(found$output, paste0("test-", name, "[.]R"), all = FALSE)
    expect_identical(tail(found$output, 1), "[ FAIL 1 | WARN 0 | SKIP 0 | PASS 1 ]")
    unlink(file.path(folder, paste0("test-", name, ".R")))
  }
})

test_that("files have all threads of the machine", {
  skip_if(parallel::detectCores() < 2)
  withr::local_options(gpucor.threads = NULL)
  expect_gt(gpuInfo()$threads, 1) # one in a fork of a process that has loaded the package
})

test_that("the longest files start first, after new ones", {
  source("run-files.R", local = TRUE)
  folder <- withr::local_tempdir(tmpdir = dirname(tempdir()))
  for (name in c("a", "b", "c", "d")) file.create(file.path(folder, paste0("test-", name, ".R")))
  writeLines("file quick full gpu\na 2 9 1\nb 3 8 3\nc 1 7 2", file.path(folder, "seconds.txt"))
  in_order <- function(tier, runner = "check", filter = "") {
    withr::with_envvar(c(GPUCOR_TESTS = tier, GPUCOR_RUNNER = runner), basename(test_files(folder, filter)))
  }
  expect_identical(in_order(NA), paste0("test-", c("d", "b", "a", "c"), ".R"))
  expect_identical(in_order("full"), paste0("test-", c("d", "a", "b", "c"), ".R"))
  expect_identical(in_order("full", "gpu"), paste0("test-", c("d", "b", "c", "a"), ".R"))
  expect_identical(in_order(NA, filter = "^(a|c)$"), paste0("test-", c("a", "c"), ".R"))
})

test_that("a runner fails for skips that are its own, and tells the reasons of others", {
  source("run-files.R", local = TRUE)
  folder <- withr::local_tempdir(tmpdir = dirname(tempdir()))
  writeLines("file quick full gpu", file.path(folder, "seconds.txt"))
  writeLines(c("test_that('cuda has it', skip('igraph is not installed'))",
               "test_that('all have it', skip('no python'))", "test_that('one', skip('no GPU'))"),
             file.path(folder, "test-skips.R"))
  found <- run_files(test_files(folder), 1L)
  judge <- function(runner) {
    withr::with_envvar(c(GPUCOR_RUNNER = runner), output <- capture.output(passed <- report_files(found)))
    list(passed, grep("^to be run by this runner", output, value = TRUE))
  }
  own <- "to be run by this runner: test-skips.R: "
  expect_identical(judge(NA), list(TRUE, character()))
  expect_identical(judge("check"), list(FALSE, paste0(own, "all have it")))
  expect_identical(judge("gpu"), list(FALSE, paste0(own, c("cuda has it", "one"))))
  expect_identical(judge("releases"), list(TRUE, character()))
})
