# What once went wrong and is not seen by comparing ordinary data with cor().

# ---- threads

test_that("threads that have no step of a loop change nothing", {
  # What they would have counted must not be whatever was in memory before.
  code <- c("set.seed(1)",
            "x <- matrix(rnorm(9000), 30)",
            "used <- lapply(1:200, function(k) rnorm(20000))",
            "rm(used)",
            "invisible(gc())",
            "jobs <- list(",
            "  density = function(...) gpuCorNetwork(x, density = 0.01, ...),",
            "  k = function(...) gpuCorNetwork(x, k = 3, ...),",
            "  fdr = function(...) gpuCorNetwork(x, fdr = 0.1, ...),",
            "  connectivity = function(...) gpuConnectivity(x, density = 0.01, power = 2, ...),",
            "  cor = function(...) gpuCor(x, output = 'matrix', ...),",
            "  pairwise = function(...) gpuCorTriangle(replace(x, 5, NA), 'kendall', 'pairwise', ...)",
            ")",
            "edges <- function(net) if (isS4(net)) list(net@i, net@p, net@x, net@threshold) else unclass(net)",
            "same <- vapply(jobs, function(job) identical(edges(job(threads = 64)), edges(job(threads = 1))), NA)",
            "writeLines(names(jobs)[!same])")
  expect_identical(run_in_shell(code), list(status = 0L, stdout = "", stderr = ""))
})

# A GPU's driver takes address space of its own, and not always the same.
on_processors <- "options(gpucor.backend = 'cpu')"

# KiB of address space that R takes with the package and one thread; NA where the system does not tell.
address_space <- function() {
  code <- c(on_processors, "invisible(gpuCor(matrix(sin(1:18000), 30), threads = 1))",
            "status <- '/proc/self/status'",
            "if (file.exists(status)) writeLines(grep('^VmPeak', readLines(status), value = TRUE))")
  as.numeric(gsub("[^0-9]", "", run_in_shell(code)$stdout))
}

test_that("threads that cannot be created are done without", {
  skip_unless_full() # tests/unit/test_threads.c has it without R
  skip_if(grepl("asan", Sys.getenv("LD_PRELOAD")), "the sanitizer takes all address space")
  least <- address_space()
  skip_if(is.na(least), "the address space in use is not known")
  code <- c(on_processors, "x <- matrix(sin(1:18000), 30)",
            "one <- gpuCor(x, output = 'matrix', threads = 1)",
            "stopifnot(identical(gpuCor(x, output = 'matrix', threads = 64), one))",
            "stopifnot(identical(gpuCor(x, output = 'matrix', threads = 2), one))",
            "net <- gpuCorNetwork(x, density = 0.01, threads = 64)",
            "stopifnot(net@edges == gpuCorNetwork(x, density = 0.01, threads = 1)@edges)",
            "writeLines('done')")
  for (more in c(60, 150)) {
    run <- run_in_shell(code, paste("ulimit -v", least + more * 1024))
    expect_identical(run, list(status = 0L, stdout = "done", stderr = ""), label = paste(more, "MiB more"))
  }
})

# ---- whole numbers that are no floats

test_that("integers count with all their digits", {
  for (backend in backends()) for (method in all_methods) for (use in all_uses) {
    for (first in c(2^24, 99999999, 2^30, 2^31 - 20, -2^31 + 1)) {
      x <- cbind(as.integer(first + c(0, 1, 3, 2, 5, 4, 9, 7)), as.integer(first + c(4, 3, 0, 1, 2, 9, 8, 8)), 1:8)
      label <- format(first, digits = 10)
      expect_like_cor(x, NULL, use, method, backend, label)
      if (use != "all.obs") expect_like_cor(replace(x, 4, NA), 8:1, use, method, backend, paste(label, "one NA"))
    }
  }
})

# ---- nothing to add up

test_that("a pair that lacks its only row has no coefficient", {
  for (backend in backends()) for (method in all_methods) {
    # Memory that is not cleared holds anything: after other work, and more than once.
    gpuCor(with_missing(rounded(40, 60), 0.1), use = "pairwise", method = method, backend = backend)
    for (x in small_inputs(1, letters)) {
      run <- function(...) gpuCor(..., use = "pairwise", method = method, backend = backend)
      truth <- function(...) reference_cor(..., use = "pairwise.complete.obs", method = method)
      label <- paste(backend, method, deparse1(x))
      if (is.matrix(x)) expect_same_answer(run(x, output = "matrix"), truth(x, NULL), label)
      for (y in small_inputs(1, LETTERS)) expect_same_answer(run(x, y), truth(x, y), paste(label, deparse1(y)))
    }
    for (n_obs in 1:3) {
      x <- with_missing(rounded(n_obs, 70), 0.5)
      label <- paste(n_obs, "rows, half missing")
      expect_like_cor(x, NULL, "pairwise.complete.obs", method, backend, label)
      expect_like_cor(x[, 1:9], x, "pairwise.complete.obs", method, backend, paste(label, "with y"))
    }
  }
})

# ---- huge values

# A value that is huge beside the others is as good as infinite: (0, 0, 0, 1) stands for its column, within its inverse.
test_that("values whose squares overflow are no others' business, and count as what they are", {
  expect_exactly <- function(x, y, truth, label) {
    for (backend in backends()) {
      r <- suppressWarnings(gpuCor(x, y, use = "pairwise.complete.obs", backend = backend))
      expect(isTRUE(abs(r - truth) <= 1e-12),
             paste0(backend, ", ", label, ": ", format(r, digits = 15), ", not ", format(truth, digits = 15)))
    }
  }
  huge <- c(10^c(100, 150, 152, 154, 155, 158, 160, 161, 162, 165, 170, 200, 250, 300, 305), .Machine$double.xmax)
  small <- c(1, 2, 3, 5)
  other <- c(2, 1, 4, 4)
  for (v in c(huge, -huge)) {
    expect_exactly(c(small, v), c(other, NA), cor(small, other), paste(v, "in a row that the pair lacks"))
    expect_exactly(c(other, NA), c(small, v), cor(small, other), paste(v, "in y, in a row that the pair lacks"))
    outlier <- sign(v) * cor(c(0, 0, 0, 1), c(2, 1, 4, 3))
    expect_exactly(c(1, 2, 3, v, 7), c(2, 1, 4, 3, NA), outlier, paste(v, "in a row that the pair has"))
    expect_exactly(c(1, 2, 3, v, -v), c(2, 1, 4, 3, NA), outlier, paste(v, "in either kind of row"))
    expect_exactly(c(small / 8 * v, 1), c(other, NA), sign(v) * cor(small, other), paste(v, "as a scale"))
    expect_exactly(c(small / 8 * v, 1), c(other / 8 * v, NA), cor(small, other), paste(v, "as the scale of both"))
    # cor() itself loses these, as their squares vanish
    expect_exactly(c(small / v, 1), c(other / v, NA), cor(small, other), paste(v, "as the divisor of both"))
  }
})
