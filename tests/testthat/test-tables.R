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
  list( # modules are in test-modules-options.R
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
  )
}

test_that("tables of all results are written, read and joined by names, or numbers", {
  for (named in c(TRUE, FALSE)) {
    found <- suppressMessages(suppressWarnings(results(named)))
    for (kind in names(found)) {
      expect_table(found[[kind]], kind, named)
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

# ---- BIDS

test_that("subjects, maps and participants are named by the entities of files", {
  set.seed(1)
  folder <- tempfile("bids")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  scans <- sprintf("sub-%02d_ses-1_task-rest_space-MNI_desc-preproc_bold.nii", 1:6)
  header <- list(sform_code = 1, srow_x = c(2, 0, 0, 0), srow_y = c(0, 2, 0, 0), srow_z = c(0, 0, 2, 0))
  series <- sin(1:40)
  for (name in scans) {
    img <- array(rep(series, each = 24) + rnorm(24 * 40), c(4, 3, 2, 40))
    writeVoxels(structure(img, header = header), file.path(folder, name))
  }
  x <- lapply(file.path(folder, scans), voxelMatrix)
  expect_identical(attr(x[[2]], "entities"), c(sub = "02", ses = "1", task = "rest", space = "MNI", desc = "preproc"))
  expect_output(print(x[[1]]), "^sub-01_ses-1_task-rest_space-MNI: 40 time points")
  expect_identical(file_entities("sub-1_res-1.5_desc-x_bold.dtseries.nii"), c(sub = "1", res = "1.5", desc = "x"))
  labels <- sprintf("sub-%02d_ses-1_task-rest", 1:6)
  expect_identical(rownames(attr(gpuISC(x), "r")), labels)
  expect_identical(rownames(attr(gpuISC(function(i) x[[i]], subjects = 6), "r")), labels)
  expect_identical(rownames(attr(gpuISC(stats::setNames(x, letters[1:6])), "r")), letters[1:6])

  # Parts, residuals, regions and files keep them.
  regions <- lapply(x, parcelMeans, rep(1:6, 4))
  cleaned <- lapply(x, function(x) gpuClean(x[-1, ], covariates = 1:39))
  files <- lapply(file.path(folder, scans), gpuCorFile)
  for (own in list(regions, cleaned, files)) expect_identical(rownames(attr(gpuISC(own), "r")), labels)
  expect_identical(names(gpuGradients(regions, 1, fraction = 1, align = TRUE)$subjects), labels)

  map <- writeVoxels(seq_len(24), file.path(folder, "_stat-rank_boldmap.nii.gz"), x[[3]])
  expect_identical(basename(map), "sub-03_ses-1_task-rest_space-MNI_stat-rank_boldmap.nii.gz")
  expect_identical(as.vector(readVoxels(map)), seq_len(24))
  expect_null(attr(voxelMatrix(map <- array(rnorm(240), c(4, 3, 2, 10))), "entities"))
  expect_identical(basename(writeVoxels(seq_len(24), file.path(folder, "_a.nii"), voxelMatrix(map))), "_a.nii")

  people <- data.frame(participant_id = sprintf("sub-%02d", 1:6), age = c(20, 31, 42, 23, 34, 45))
  compare <- function(x, data) gpuCorCompare(x, design = ~ age, data = data)$p.value
  expect_identical(compare(regions, people), compare(lapply(regions, `attr<-`, "entities", NULL), people["age"]))
  named <- stats::setNames(regions, labels)
  expect_silent(compare(named, people))
  expect_silent(compare(named, data.frame(age = people$age, row.names = labels)))
  expect_error(compare(named, data.frame(age = people$age, row.names = rev(labels))), "in another order")
  expect_error(compare(regions, people[6:1, ]), "has the observations of 'x' in another order",
               class = "gpucor_error_input")
})
