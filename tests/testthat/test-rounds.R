# Less memory means more rounds, more threads another order: neither changes a result.

# Columns that fill more than two panels of one tile's width, which 1 byte of memory gives.
panel_width <- c(cpu = 2048, cuda = 4096)

for (backend in backends()) {
  test_that(paste(backend, "in rounds"), {
    width <- panel_width[[backend]]
    rows <- covering(shape = c("three panels", "two panels", "by column", "narrow x", "narrow y"), method = all_methods,
                     use = c("everything", "pairwise.complete.obs"), strength = if (full_tier()) 2 else 1)
    for_rows(rows, function(shape, method, use, label) {
      if (shape != "two panels" && method == "pearson") use <- "everything" # pairwise it takes long
      x <- rounded(5, (if (shape == "three panels") 2 * width else width) + 40) # panels of different widths
      if (use != "everything") x <- with_missing(x, 0.05)
      narrow <- x[, 1:70] + 1
      run <- function(f, ...) suppressWarnings(f(..., use = use, method = method, backend = backend))
      by <- function(...) {
        switch(shape, `by column` = run(gpuCorTriangle, x, order = "column", ...),
               `narrow x` = run(gpuCor, narrow, x, ...), `narrow y` = run(gpuCor, x, narrow, ...),
               run(gpuCorTriangle, x, ...))
      }
      at_once <- by()
      expect_identical(by(memory = 1), at_once, label = label)
      if (shape != "three panels") return()
      pairs <- sample_pairs(ncol(x), n_random = 50)
      expect_pairs_like_cor(at_once[trianglePosition(pairs$i, pairs$j, ncol(x))], pairs, x, use = use, method = method)
    })
    expect_nothing_live()
  })

  test_that(paste(backend, "with any number of threads and workers"), {
    rows <- covering(method = all_methods, use = c("everything", "pairwise.complete.obs"), by = c("2", "3", "workers"),
                     shape = c("x", "x, y"))
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    for_rows(rows, function(method, use, by, shape, label) {
      x <- rounded(12, 900)
      if (by == "workers") x <- rounded(5, panel_width[[backend]] + 40) # some for each
      if (use != "everything") x <- with_missing(x, 0.1)
      run <- function(threads) {
        data <- if (shape == "x") list(x) else list(x[, 1:600], x[, 300:900])
        suppressWarnings(do.call(gpuCor, c(data, list(use = use, method = method, output = "matrix", backend = backend,
                                                      threads = threads))))
      }
      other <- if (by != "workers") run(as.numeric(by)) else with_options(list(gpucor.workers_per_device = 3L), run(1))
      expect_identical(other, run(1), label = label)
    })
  })
}

for (backend in backends()) for (method in all_methods) for (use in c("everything", "pairwise.complete.obs")) {
  test_that(paste(backend, method, use, "gives a pair the same value wherever it stands"), {
    x <- if (method == "pearson") normal(12, 400) else rounded(12, 400)
    if (use != "everything") x <- with_missing(x, 0.1)
    run <- function(...) {
      suppressWarnings(gpuCor(..., use = use, method = method, output = "matrix", backend = backend))
    }
    full <- run(x)
    expect_identical(full, t(full))
    # Other blocks, other tiles: the same up to the last digit of a float32 sum.
    expect_equal(run(x[, 300:400]), full[300:400, 300:400], tolerance = tolerance[[method]])
    expect_equal(run(x[, 390:400], x), full[390:400, ], tolerance = tolerance[[method]], ignore_attr = TRUE)
  })
}

test_that("memory for two tiles' width and a half makes panels two tiles wide", {
  x <- normal(4, 5000)
  expect_identical(gpuCorTriangle(x, backend = "cpu", memory = 9000 * 4 * 4), gpuCorTriangle(x, backend = "cpu"))
})
