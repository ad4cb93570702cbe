# The table of measures, and that it is open: a row from elsewhere works everywhere.

test_that("R's names are those of the table", {
  own <- c("kendall", "distance", "mi", "coherence", "concordance", more_methods)
  expect_setequal(setdiff(gpucor:::engine$measures, c("given", gpucor:::GROUP_METHODS)), own)
  for (name in own) {
    measure <- gpucor:::measure_of(name)
    expect_identical(measure$name, name)
    expect_true(nzchar(measure$title))
    expect_output(print(gpuCor(normal(6, 3), method = name)), measure$title, fixed = TRUE)
  }
  expect_error(gpuCor(normal(5, 3), method = "cosines"),
               "'method' must be one of \"pearson\", \"kendall\", \"spearman\"")
})

test_that("the numbers that R and the engine share are R's own names for them", {
  numbers <- gpucor:::engine$constants
  expect_identical(unname(numbers[gpucor:::uses]), as.numeric(seq_along(gpucor:::uses))) # as in stats::cor
  expect_true(all(c(gpucor:::signs, gpucor:::types) %in% names(numbers)))
  expect_identical(anyDuplicated(names(numbers)), 0L)
})

# In a process of its own, as a row stays in the table. Returns what `code(x)` gives there.
with_quadrant <- function(code, x) {
  skip_without_children()
  skip_if(Sys.which("make") == "", "no compiler")
  folder <- tempfile("measure")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file.copy(test_path("measure", "quadrant.c"), folder)
  include <- system.file("include", package = "gpucor")
  log <- callr::rcmd("SHLIB", "quadrant.c", wd = folder, fail_on_status = FALSE,
                     env = c(callr::rcmd_safe_env(), PKG_CPPFLAGS = paste0("-I", include)))
  skip_if(log$status != 0, "no compiler")
  library <- file.path(folder, paste0("quadrant", .Platform$dynlib.ext))
  callr::r(function(library, code, x) {
    library(gpucor)
    options(gpucor.threads = 2L)
    dyn.load(library)
    stopifnot(.Call("add_quadrant") == 0, .Call("add_quadrant") == 1) # the second time the name is taken
    environment(code) <- globalenv()
    code(x)
  }, list(library, code, x), libpath = .libPaths())
}

test_that("a measure that only this test has is used by every function on every back end", {
  x <- normal(31, 70) # odd: one value is the median itself
  x[, 2] <- x[, 1]^3
  x[, 3] <- 7
  found <- with_quadrant(function(x) {
    quiet <- function(code) suppressWarnings(code)
    lapply(stats::setNames(nm = gpuInfo()$backends), function(backend) {
      list(
        all = quiet(gpuCor(x, method = "quadrant", output = "matrix", backend = backend)),
        network = quiet(gpuCorNetwork(x, threshold = 0.3, method = "quad", backend = backend)),
        density = quiet(gpuCorNetwork(x, density = 0.05, method = "quadrant", backend = backend))@edges,
        strongest = quiet(gpuCorNetwork(x, k = 2, method = "quadrant", backend = backend)),
        sums = quiet(gpuConnectivity(x, threshold = 0.3, power = 2, method = "quadrant", backend = backend)),
        p = quiet(gpuCorTest(x, method = "quadrant", output = "matrix", backend = backend))$p.value,
        common = tryCatch(quiet(gpuCor(replace(x, 5, NA), method = "quadrant", use = "pairwise", backend = backend)),
                          error = conditionMessage),
        shown = utils::capture.output(print(quiet(gpuCor(x, method = "quadrant", backend = backend))))
      )
    })
  }, x)
  centred <- sign(sweep(x, 2, apply(x, 2, median)))
  norm <- sqrt(colSums(centred^2))
  truth <- crossprod(centred) / outer(norm, norm)
  truth[3, ] <- truth[, 3] <- NA
  for (one in found) {
    expect_identical(is.na(one$all[upper.tri(truth)]), is.na(truth[upper.tri(truth)]))
    expect_equal(one$all[upper.tri(truth)], truth[upper.tri(truth)], tolerance = 1e-6)
    expect_equal(one$all[1, 2], 1)
    weights <- abs(truth[upper.tri(truth)])
    expect_equal(one$network@edges, sum(weights >= 0.3 - 1e-9, na.rm = TRUE))
    expect_gte(one$density, ceiling(0.05 * choose(70, 2)))
    expect_equal(one$sums$edges, one$network@edges)
    expect_equal(unname(one$sums$soft[5, 1]), sum(truth[5, -5]^2, na.rm = TRUE), tolerance = 1e-6)
    r <- truth[1, 5]
    expect_equal(one$p[1, 5], 2 * pt(-abs(r) * sqrt(29 / (1 - r^2)), 29), tolerance = 1e-5)
    expect_match(one$common, "\"quadrant\" has no pairwise form", fixed = TRUE)
    expect_match(one$shown[1], "Quadrant correlation of 70 variables", fixed = TRUE)
  }
})

test_that("a measure without a form in double says so", {
  found <- with_quadrant(function(x) {
    vapply(gpuInfo()$backends, function(backend) {
      tryCatch(gpuCor(x, method = "quadrant", precision = "double", backend = backend), error = conditionMessage)
    }, "")
  }, normal(9, 4))
  expect_match(found, "method = \"quadrant\" has no precision = \"double\"; use \"single\"", fixed = TRUE, all = TRUE)
})

test_that("a name stands for one number of the engine's", {
  expect_false(anyDuplicated(names(gpucor:::engine$constants)) > 0)
})
