# as.data.frame() of every result: names are columns, so that a table can be written, read and joined to an annotation.

# A result of each class, of variables with names, or without.
results <- function(named) {
  set.seed(1)
  name <- function(x, prefix = "g") {
    dimnames(x) <- if (named) list(NULL, paste0(prefix, seq_len(ncol(x))))
    x
  }
  x <- name(matrix(rnorm(40 * 12), 40) + rnorm(40))
  y <- name(x[, 1:3] + rnorm(120), "t")
  subjects <- lapply(1:5, function(s) name(matrix(rnorm(40 * 6), 40) + sin(1:40)))
  blocks <- name(matrix(rnorm(60 * 80), 60) + 2 * matrix(rnorm(120), 60)[, rep(1:2, each = 40)])
  traits <- data.frame(age = rnorm(40), sex = rep(c("f", "m"), 20))
  c(list(
    coefficients = gpuCor(x), tested = gpuCor(x, test = TRUE), lags = gpuCor(x, lag = -2:2),
    overlap = gpuTOM(x, power = 2), overlaps = gpuTOM(x, power = 2, output = "network", threshold = 0.1),
    network = gpuCorNetwork(x, threshold = 0.3), against = gpuCorNetwork(x, y, threshold = 0.3),
    chosen = gpuCorNetwork(x, fdr = 0.01, resample = 3), pruned = gpuPrune(gpuCorNetwork(x, threshold = 0.3)),
    test = gpuCorTest(x, adjust = "maxT", n_perm = 19), test_against = gpuCorTest(x, y),
    compared = gpuCorCompare(x[1:20, ], x[21:40, ]), different = gpuCorCompare(x[1:20, ], x[21:40, ], p.value = 0.5),
    associated = gpuAssociation(x, traits), association = gpuAssociation(x, traits, output = "matrix"),
    windows = gpuCorWindows(x, width = 20, step = 10),
    window_networks = gpuCorWindows(x, width = 20, step = 10, density = 0.1, output = "network"),
    window_degrees = gpuCorWindows(x, width = 20, step = 10, density = 0.1, output = "connectivity"),
    moments = gpuCorWindows(x, width = 20, step = 10, output = "moments"),
    connectivity = gpuConnectivity(x, threshold = c(0.2, 0.3), power = 2, maps = "mean"),
    isc = gpuISC(subjects, n_perm = 19), isfc = gpuISC(subjects, output = "isfc"),
    gradients = gpuGradients(x, 2, fraction = 0.5), pairs = gpuCorPairs(x, threshold = 0.3, test = TRUE),
    power = pickPower(x), preserved = gpuPreservation(blocks[1:30, ], blocks[31:60, ], rep(c("a", "b"), 40), n_perm = 2)
  ), if (requireNamespace("WGCNA", quietly = TRUE)) list(
    modules = gpuModules(blocks, power = 4, minModuleSize = 10)
  ))
}

# Columns that say what a row is.
KEYS <- list(variable = "variable", pair = c("from", "to"), gene = "gene", module = "module", power = "Power")

test_that("tables of all results are written, read and joined by names, or numbers", {
  for (named in c(TRUE, FALSE)) {
    found <- suppressMessages(suppressWarnings(results(named)))
    for (kind in names(found)) {
      frame <- as.data.frame(found[[kind]])
      expect_identical(class(frame), "data.frame", info = kind)
      keys <- Find(function(key) all(key %in% names(frame)), KEYS)
      expect_gt(nrow(frame), 0)
      for (key in if (named || !kind %in% c("modules", "preserved")) setdiff(keys, c("module", "Power"))) {
        side <- if (key == "to" && kind %in% c("against", "test_against")) "t" else "g"
        side <- if (key == "to" && startsWith(kind, "associat")) "age|sexm" else paste0("^", side, "[0-9]+$")
        expect_true(if (named || grepl("age", side)) all(grepl(side, frame[[key]])) else is.numeric(frame[[key]]),
                    info = paste(kind, key))
      }

      file <- tempfile()
      write.csv(frame, file, row.names = FALSE)
      row.names(frame) <- NULL
      expect_equal(read.csv(file, colClasses = vapply(frame, typeof, "")), frame, ignore_attr = TRUE, info = kind)
      unlink(file)
      ids <- unique(frame[[keys[1]]])
      joined <- merge(frame, data.frame(id = ids, chromosome = seq_along(ids)), by.x = keys[1], by.y = "id")
      expect_identical(nrow(joined), nrow(frame), info = kind)
    }
  }
})

test_that("tables have the p values and numbers of observations of the result", {
  x <- matrix(c(NA, rnorm(99)), 20, dimnames = list(NULL, letters[1:5]))
  use <- "pairwise.complete.obs"
  frame <- as.data.frame(gpuCor(x, use = use, test = TRUE, precision = "double"))
  tested <- as.data.frame(gpuCorTest(x, use = use, precision = "double"))
  expect_identical(names(frame), c("from", "to", "r", "n", "statistic", "p.value"))
  expect_equal(frame, tested[names(frame)])
  expect_identical(frame$n, rep(c(19, 20), c(4, 6)))
  expect_identical(names(as.data.frame(gpuCor(x, use = use))), c("from", "to", "r"))
})

test_that("a network in a file is the table of a network in memory", {
  skip_if_not_installed("rhdf5")
  x <- as.matrix(mtcars)
  for (given in list(list(x), list(unname(x)), list(x, x[, 1:3]), list(x[1:20, ]))) {
    file <- tempfile(fileext = ".h5ad")
    find <- function(...) do.call(gpuCorNetwork, c(given, list(threshold = 0.5, ...)))
    in_file <- find(file = file)
    expect_equal(as.data.frame(in_file), as.data.frame(find()), tolerance = 1e-7)
    expect_identical(head(in_file, 3), head(as.data.frame(in_file), 3))
    unlink(file)
    expect_error(as.data.frame(in_file), "cannot be read", class = "gpucor_error_file")
  }
})
