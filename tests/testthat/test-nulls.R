# The null simulations of tests/nulls, in their short form, and the harness that runs them.

nulls <- test_path("..", "nulls")
skip_if_not(dir.exists(nulls), "no null simulations beside the tests")
for (file in c("nulls.R", "data.R", "cases.R")) source(file.path(nulls, file), local = TRUE)

# One case of each function and method, with a quarter of the data sets; `make nulls` runs all.
short_cases <- function() {
  some <- null_cases[!duplicated(lapply(null_cases, `[`, c("of", "method")))]
  lapply(some, function(case) replace(case, "sets", ceiling(case$sets / 4)))
}

test_that("every function that reports p values has a size in the band that its case declares", {
  rows <- run_cases(short_cases())
  for (i in seq_len(nrow(rows))) {
    row <- rows[i, ]
    expect(!is_broken(row), paste0(row$case, ": size ", format(row$size), ", ", row$verdict))
  }
})

test_that("a case outside its band is found, on both sides", {
  verdict <- function(p, band = VALID) run_case(null_case("f", "m", "d", "", band, p))$verdict
  expect_identical(verdict(\() runif(400)), "valid")
  expect_identical(verdict(\() runif(400)^1.5), "ABOVE ITS BAND")
  expect_identical(verdict(\() sqrt(runif(400))), "BELOW ITS BAND")
  expect_identical(verdict(\() sqrt(runif(400)), CONSERVATIVE), "conservative")
  # The size of a test that is known not to be valid is documented, so it must not become another one unseen.
  expect_identical(verdict(\() runif(400)^1.5, c(0.12, 0.15)), "not valid, as known")
  expect_identical(verdict(\() runif(400), c(0.12, 0.15)), "BELOW ITS BAND")
  expect_identical(verdict(\() stop("no p values")), "ERROR: no p values")
  expect_identical(verdict(\() c(NA, runif(400))), "valid")
  expect_identical(verdict(\() NA_real_), "ERROR: no p values at all")
  verdicts <- c("valid", "conservative", "not valid, as known", "ABOVE ITS BAND", "BELOW ITS BAND", "ERROR: x")
  expect_identical(is_broken(data.frame(verdict = verdicts)), rep(c(FALSE, TRUE), each = 3))
})

test_that("the standard error is that between data sets, whose tests depend on one another", {
  case <- null_case("f", "m", "d", "", VALID, \() rep(runif(1), 100), sets = 200)
  row <- run_case(case)
  expect_equal(row$tests, 2 * 200 * 100)
  expect_gt(row$error, 0.8 * sqrt(0.05 * 0.95 / 400))
  expect_gt(row$error, 5 * sqrt(0.05 * 0.95 / row$tests))
  expect_identical(run_case(case), row) # by its seeds
  # Without a rejection it is that of independent tests.
  expect_equal(size_of(cbind(size = c(0, 0), tests = c(50, 50)), 0.05)$error, sqrt(0.05 * 0.95 / 100))
})

test_that("with a time, cases run until it is over", {
  case <- null_case("f", "m", "d", "", VALID, \() runif(100))
  taken <- system.time(row <- run_cases(list(case), seconds = 0.2))[["elapsed"]]
  expect_gt(taken, 0.15)
  expect_gt(row$tests, 2 * 40 * 100)
  expect_output(print_cases(row), "f \\| m \\| d \\| .* valid *\n1 of 1 cases within their bands")
})
