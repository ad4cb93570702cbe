# Less memory means more rounds, more threads another order: neither changes a result.

# Columns that fill more than two panels of one tile's width, which 1 byte of memory gives.
panel_width <- c(cpu = 2048, cuda = 4096)

for (backend in backends()) for (method in all_methods) for (use in c("everything", "pairwise.complete.obs")) {
  test_that(paste(backend, method, use, "in rounds"), {
    width <- panel_width[[backend]]
    x <- rounded(5, 2 * width + 40)
    if (use != "everything") x <- with_missing(x, 0.05)
    run <- function(f, ...) {
      suppressWarnings(f(..., use = use, method = method, backend = backend))
    }
    at_once <- run(gpuCorTriangle, x)
    expect_identical(run(gpuCorTriangle, x, memory = 1), at_once)
    # Two panels, of different widths.
    expect_identical(run(gpuCorTriangle, x[, 1:(width + 30)], memory = 1),
                     run(gpuCorTriangle, x[, 1:(width + 30)]))
    expect_identical(run(gpuCorTriangle, x[, 1:(width + 30)], order = "column", memory = 1),
                     run(gpuCorTriangle, x[, 1:(width + 30)], order = "column"))

    wide <- x[, 1:(width + 30)]
    narrow <- x[, 1:70] + 1
    expect_identical(run(gpuCor, wide, narrow, memory = 1), run(gpuCor, wide, narrow))
    expect_identical(run(gpuCor, narrow, wide, memory = 1), run(gpuCor, narrow, wide))
    expect_nothing_live()

    pairs <- sample_pairs(ncol(x), n_random = 50)
    expect_pairs_like_cor(at_once[trianglePosition(pairs$i, pairs$j, ncol(x))], pairs, x, use = use, method = method)
  })

  test_that(paste(backend, method, use, "with any number of threads"), {
    x <- rounded(12, 900)
    if (use != "everything") x <- with_missing(x, 0.1)
    run <- function(threads, ...) {
      suppressWarnings(gpuCor(..., use = use, method = method, output = "matrix", backend = backend, threads = threads))
    }
    for (threads in 2:3) {
      expect_identical(run(threads, x), run(1, x))
      expect_identical(run(threads, x[, 1:600], x[, 300:900]), run(1, x[, 1:600], x[, 300:900]))
    }
  })

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
