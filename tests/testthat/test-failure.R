# Memory that cannot be had and a driver that answers with an error, at every point of a run:
# an R error that says what to do, nothing left behind, and the next run as if nothing had been.

complete <- rounded(12, 70)
holes <- with_missing(complete, 0.1)
sparse <- methods::as(complete * (complete > 1.9), "CsparseMatrix") # few nonzeros: these are multiplied

for (backend in backends()) for (resource in resources_of(backend)) {
  for (method in all_methods) {
    test_that(paste(backend, method, "fails cleanly wherever the", resource, "fails"), {
      runs <- list(
        triangle = function(...) gpuCorTriangle(complete, ...),
        sparse = function(...) suppressMessages(gpuCorTriangle(sparse, ...)),
        rectangle = function(...) gpuCor(complete[, 1:30], complete[, 31:70], ...),
        complete = function(...) gpuCor(holes[, 1:3], use = "complete.obs", output = "matrix", ...),
        `triangle, pairwise` = function(...) gpuCorTriangle(holes, use = "pairwise", order = "column", ...),
        `rectangle, pairwise` = function(...) gpuCor(holes[, 1:30], holes[, 31:70], use = "pairwise", ...)
      )
      messages <- character()
      for (name in names(runs)) {
        run <- function() suppressWarnings(runs[[name]](method = method, backend = backend))
        messages <- c(messages, walk_failures(run, resource, paste(backend, method, name)))
      }
      expect_match(unique(messages), ways_out[[resource]])
    })
  }

  test_that(paste(backend, "fails cleanly in the middle of rounds when the", resource, "fails"), {
    width <- c(cpu = 2048, cuda = 4096)[[backend]]
    wide <- rounded(3, width + 5)
    for (x in list(wide, with_missing(wide, 0.01))) {
      run <- function() {
        suppressWarnings(gpuCor(x, x[, 1:10], use = "pairwise", method = "kendall", backend = backend, memory = 1))
      }
      walk_failures(run, resource, paste(backend, "rounds"))
    }
  })
}

# Two workers, on one GPU if there is no second one: what one loses the other does, with one warning. A job that is too
# small to be shared (`steps` of 0: as the package decides) goes to the next one.
for (backend in backends()) for (resource in resources_of(backend)) for (steps in 0:1) {
  what <- if (steps > 0) "several workers survive" else "a small job survives"
  test_that(paste0(backend, ": ", what, ", or fails cleanly, wherever the ", resource, " fails"), {
    .Call(gpucor:::r_set_shared_steps, steps)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    runs <- list(
      dense = function() gpuCorTriangle(complete, method = "kendall", backend = backend),
      network = function() slots_of(gpuCorNetwork(complete, threshold = 0.3, backend = backend)),
      degrees = function() gpuConnectivity(complete, threshold = 0.3, backend = backend),
      sums = function() gpuConnectivity(complete, threshold = 0.3, power = 2, method = "spearman", backend = backend)
    )
    lost <- 0
    count_lost <- function(run) {
      warnings <- 0
      value <- withCallingHandlers(run(), warning = function(condition) {
        warnings <<- warnings + grepl("a GPU failed, and others did its work", conditionMessage(condition))
        invokeRestart("muffleWarning")
      })
      expect_lte(warnings, 1)
      lost <<- lost + warnings
      value
    }
    with_options(list(gpucor.workers_per_device = 2), {
      for (name in names(runs)) {
        walk_failures(function() count_lost(runs[[name]]), resource, paste(backend, "two workers", name),
                      expect_nothing_left, may_survive = resource != "host")
      }
    })
    if (resource == "host") expect_equal(lost, 0) else expect_gt(lost, 0)
  })
}

test_that("errors of R itself and warnings turned into errors leave nothing behind", {
  # A warning that becomes an error jumps out of gpuCor() after the run.
  with_options(list(warn = 2), expect_error(gpuCor(with_constants(normal(10, 5))), "standard deviation"))
  expect_nothing_live()
  expect_error(gpuCor(holes, use = "all.obs"), "missing observations")
  expect_nothing_live()
  expect_error(gpuCor(holes * NA, use = "complete.obs"), "no complete element pairs")
  expect_nothing_live()
})
