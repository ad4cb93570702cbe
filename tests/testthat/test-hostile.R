# Objects that were changed, and arguments of the wrong kind, are errors of the package: never a wrong value or a crash.

expect_ours <- function(code, message = NULL, label = NULL, kind = "input") {
  expect_error(suppressMessages(suppressWarnings(code)), message, class = paste0("gpucor_error_", kind), label = label)
}

# Sets a slot or an element without R's checks.
with_part <- function(x, part, value) {
  attr(x, part) <- value
  x
}

sparse <- as(as(round(matrix(rnorm(60), 20), 1), "CsparseMatrix"), "generalMatrix")
sparse[3:9, 2] <- 0

# What damages the slots of a compressed sparse matrix.
damages <- list(
  `index too large` = function(m) with_part(m, "i", replace(m@i, 1, 1000L)),
  `index below 0` = function(m) with_part(m, "i", replace(m@i, 1, -1L)),
  `missing index` = function(m) with_part(m, "i", replace(m@i, 1, NA)),
  `fractional indices` = function(m) with_part(m, "i", m@i + 0.5),
  `same index twice` = function(m) {
    first <- m@p[which.max(diff(m@p))] + 1
    with_part(m, "i", replace(m@i, first, m@i[first + 1]))
  },
  `start too large` = function(m) with_part(m, "p", replace(m@p, 2, 1000L)),
  `first start` = function(m) with_part(m, "p", replace(m@p, 1, 1L)),
  `last start` = function(m) with_part(m, "p", replace(m@p, length(m@p), 10000L)),
  `few starts` = function(m) with_part(m, "p", m@p[-1]),
  `few values` = function(m) with_part(m, "x", m@x[1:2]),
  `values of text` = function(m) with_part(m, "x", as.character(m@x)),
  `more columns` = function(m) with_part(m, "Dim", c(20L, 300L)),
  `fewer rows` = function(m) with_part(m, "Dim", c(2L, m@Dim[2])),
  `negative rows` = function(m) with_part(m, "Dim", c(-20L, m@Dim[2])),
  `one dimension` = function(m) with_part(m, "Dim", 20L)
)

test_that("a sparse matrix whose slots were changed is an error before anybody reads it", {
  plain <- matrix(rnorm(60), 20)
  for (name in names(damages)) {
    m <- damages[[name]](sparse)
    expect_ours(gpuCor(m), "'x' is a damaged matrix of class dgCMatrix", name)
    expect_ours(gpuCorNetwork(plain, m, threshold = 0.1), "'y' is a damaged matrix", name)
    expect_ours(gpuConnectivity(list(plain, m), power = 2), "damaged", name)
    expect_ours(gpuGradients(m), "damaged", name)
    expect_ours(as_igraph(m), "damaged", name)
    expect_ours(voxelMatrix(m), "damaged", name)
  }
  short <- list(as(sparse, "TsparseMatrix"), as(sparse, "RsparseMatrix"), sparse != 0, as(sparse != 0, "nMatrix"))
  for (m in short) {
    part <- if (is(m, "RsparseMatrix")) "j" else "i"
    expect_ours(gpuCor(with_part(m, part, replace(methods::slot(m, part), 1, 1000L))), "damaged", class(m))
  }
  expect_ours(gpuCor(with_part(as(c(2L, 3L, 1L), "pMatrix"), "perm", c(1L, 2L, 300L))), "damaged")
  expect_ours(gpuCor(with_part(Matrix::Diagonal(5, 1:5), "Dim", c(300L, 300L))), "damaged")
  expect_ours(gpuCor(with_part(Matrix::Matrix(plain), "Dim", c(2000L, 3L))), "damaged")
})

test_that("a network whose slots were changed is an error, whatever is asked of it", {
  net <- gpuCorNetwork(mtcars, threshold = 0.5)
  questions <- list(print = print, data.frame = as.data.frame, summary = summary, t = t, mean = mean,
                    symmetric = isSymmetric, prune = gpuPrune, tom = gpuTOM, gradients = gpuGradients,
                    arithmetic = function(x) x^2, plot = function(x) plot(x, "degree"))
  if (requireNamespace("igraph", quietly = TRUE)) questions$igraph <- as_igraph
  for (k in seq_len(max(length(damages), length(questions)))) { # every damage, and every question
    broken <- damages[[(k - 1) %% length(damages) + 1]](net)
    question <- (k - 1) %% length(questions) + 1
    expect_ours(questions[[question]](broken), "damaged", paste(names(questions)[question], k))
  }
  expect_ours(gpuPrune(with_part(as(net, "dsCMatrix"), "i", net@i + 1000L)), "damaged")
})

test_that("a big.matrix of another session is an error, not the end of R", {
  skip_if_not_installed("bigmemory")
  x <- matrix(rnorm(60), 20)
  lost <- unserialize(serialize(bigmemory::as.big.matrix(x), NULL))
  uses <- list(x = gpuCor, subject = function(v) gpuCor(list(x, v)), rows = gpuDist, gradients = gpuGradients,
               y = function(v) gpuCor(x, v), traits = function(v) gpuAssociation(x, v), image = voxelMatrix,
               clean = function(v) gpuClean(v, runs = 1), covariates = function(v) gpuCor(x, covariates = v),
               mask = function(v) voxelImage(1:3, v), design = function(v) gpuCorCompare(list(x, x, x), design = v))
  for (name in names(uses)) expect_ours(uses[[name]](lost), "is a big.matrix of another session", name)
})

test_that("the engine checks what indexes memory, too", {
  entry <- function(name, ...) do.call(.Call, list(getFromNamespace(name, "gpucor"), ...))
  for (name in setdiff(names(damages), c("same index twice", "more columns"))) {
    m <- damages[[name]](sparse)
    expect_error(entry("r_permute", m, c(1, 2), 0, FALSE), class = "error", label = name)
  }
  expect_ours(entry("r_permute", damages[["index too large"]](sparse), c(1, 2), 0, FALSE), "do not belong together")
  expect_ours(entry("r_permute", damages[["more columns"]](sparse), c(1, 2), 0, FALSE), "does not fit its slot p")
  expect_ours(entry("r_prune", c(0L, 1L), 5L, 0.5, 0, 1L), "do not belong together")
  expect_ours(entry("r_sorted_edges", c(0L, 3L), 0L, 0.5, FALSE, 1L), "do not belong together")
  expect_ours(entry("r_run", "none", list(), list()), "no computation \"none\"")
  expect_ours(entry("r_run", "cor", list(), list(1)), "must be 2 arguments, not 1")
  expect_ours(entry("r_store", "none", NULL, list(), list()), "does not answer \"none\"")
})

test_that("a pair mask that was changed is an error", {
  x <- matrix(rnorm(200), 20)
  masks <- list(labels = pairMask(rep(1:5, 2), same = TRUE),
                coordinates = pairMask(cbind(1:10, 1), within_distance = 3))
  changes <- list(
    function(m) replace(m, "dims", list(3L)), function(m) replace(m, "dims", list(100L)),
    function(m) replace(m, "relation", list(7L)), function(m) replace(m, "relation", list(NA)),
    function(m) replace(m, "x", list(list(label = 1:10, place = rnorm(10)))),
    function(m) replace(m, "x", list(list(label = as.numeric(1:10), place = matrix(1, 1, 10)))),
    function(m) replace(m, "x", list(list(label = 1:3, place = matrix(1, 1, 10))))
  )
  for (mask in names(masks)) for (k in seq_along(changes)) {
    expect_ours(gpuCor(x, pairs = changes[[k]](masks[[mask]])), "pair", paste(mask, k))
  }
})

test_that("a gpuCorFile that was changed is an error", {
  x <- matrix(rnorm(60), 20, dimnames = list(NULL, c("a", "b", "c")))
  raw <- tempfile()
  writeBin(as.vector(x), raw)
  image <- tempfile(fileext = ".nii")
  writeVoxels(array(rnorm(3 * 2 * 2 * 5), c(3, 2, 2, 5)), image)
  files <- list(raw = gpuCorFile(raw, dim(x)), image = gpuCorFile(image),
                plink = gpuCorFile(write_plink(matrix(0:2, 9, 3, dimnames = list(1:9, 1:3)))))
  if (requireNamespace("rhdf5", quietly = TRUE)) {
    h5 <- tempfile(fileext = ".h5")
    rhdf5::h5createFile(h5)
    rhdf5::h5write(x, h5, "data")
    files$hdf5 <- gpuCorFile(h5, dataset = "data")
  }
  changes <- list(kind = c("raw", "raw"), kind = NULL, kind = "other", dim = c(1e6L, 1e6L), dim = c(-1L, 3L),
                  dim = NULL, dimnames = 3, by_rows = NA, chunk = "a", dataset = NULL, voxels = 1:100,
                  voxels = -(1:12), step = 1e6, offset = -8, size = NA, file = NULL,
                  storage = c("double", "float"), pointer = 1)
  for (kind in names(files)) for (k in seq_along(changes)) {
    part <- names(changes)[k]
    if (!part %in% c(names(files[[kind]]), "dim", "dimnames")) next
    changed <- unclass(files[[kind]])
    changed[part] <- changes[k]
    class(changed) <- "gpuCorFile"
    label <- paste(kind, part, k)
    expect_error(suppressMessages(gpuCor(changed)), class = "gpucor_error", label = label)
    expect_error(changed[, 1], class = "gpucor_error", label = label)
  }
})

test_that("integer64 are numbers where data are, and an error where settings are", {
  skip_if_not_installed("bit64")
  long <- function(...) bit64::as.integer64(...)
  x <- matrix(rnorm(200), 20)
  places <- cbind(c(1:5, 1:5), rep(1:2, each = 5))
  by <- function(coords) gpuCorNetwork(x, threshold = 0.1, pairs = pairMask(coords, within_distance = 2))@x
  expect_identical(by(`dim<-`(long(places), dim(places))), by(places))
  expect_identical(by(data.frame(a = long(places[, 1]), b = long(places[, 2]))), by(places))
  z <- sample(1:1000, 20)
  expect_identical(as.vector(gpuCor(x, covariates = long(z))), as.vector(gpuCor(x, covariates = z)))
  for (covariates in list(~ z, ~ z + I(z^2), ~ log(z))) {
    expect_equal(as.vector(gpuCor(x, covariates = covariates, data = data.frame(z = long(z)))),
                 as.vector(gpuCor(x, covariates = covariates, data = data.frame(z = z))))
  }
  r <- gpuCor(x)
  expect_identical(r[long(2), long(5)], r[2, 5])
  refused <- list(
    threshold = function(v) gpuCorNetwork(x, threshold = v), k = function(v) gpuCorNetwork(x, k = v),
    density = function(v) gpuCorNetwork(x, density = v), power = function(v) gpuConnectivity(x, power = v),
    bandpass = function(v) gpuCor(x, bandpass = c(v, v), tr = 2), tr = function(v) gpuCor(x, bandpass = 1:2, tr = v),
    threads = function(v) gpuCor(x, threads = v), lag = function(v) gpuCor(x, lag = v),
    width = function(v) gpuCorWindows(x, width = v), weights = function(v) gpuCor(x, weights = rep(v, 20)),
    df = function(v) gpuCorTest(x, df = v), keep = function(v) gpuClean(x, covariates = z, keep = rep(v, 5)),
    d = function(v) gpuHclust(structure(rep(v, 3), class = c("integer64", "dist"), Size = 3L)),
    within_distance = function(v) pairMask(places, within_distance = v), n = function(v) triangleIndex(1, v),
    coeffs = function(v) gpuTtest(20, v)
  )
  for (name in names(refused)) expect_ours(refused[[name]](long(1)), "integer64", name)
})

test_that("dates, times and durations are no data", {
  days <- Sys.Date() + 1:20
  for (x in list(days, as.POSIXct(days), days - days[1], factor(days))) {
    expect_ours(gpuCor(x, 1:20), "'x' must be numeric, not of class")
    expect_ours(gpuCor(data.frame(a = 1:20, b = x)), "column 2 .b. is of class")
  }
})

test_that("names with bytes of another encoding are printed", {
  x <- matrix(rnorm(80), 20)
  bad <- "caf\xe9" # not in a label, which testthat would deparse
  colnames(x) <- paste0(bad, " of a name too long to be printed", 1:4)
  for (value in list(gpuCor(x), gpuCorNetwork(x, k = 1), gpuTOM(x), gpuCorTest(x))) {
    expect_output(print(value), "caf")
  }
  expect_output(print(gpuCor(x)), "caf<e...ted1", fixed = TRUE)
  expect_ours(gpuCor(x)[bad, 1], "no variable is named \"caf<e9>\"")
  expect_ours(gpuCor(x, method = bad), "'method' must be one of")
  expect_ours(gpuCor(x, covariates = bad), "'covariates' is text")
  colnames(x)[4] <- bad
  x[, 4] <- 1
  expect_warning(gpuCor(x), "caf<e9>", fixed = TRUE)
})

test_that("too little for a result is an error or a result of the package", {
  x <- matrix(rnorm(60), 20)
  for (few in list(x[, 1:2], x[, 1, drop = FALSE], x * NA, 0 * x + 1)) {
    for (criterion in list(list(threshold = 0.1), list(k = 1), list(density = 0.5))) {
      net <- suppressWarnings(do.call(gpuCorNetwork, c(list(few, normalize = "clr"), criterion)))
      expect_true(all(net@x == 0)) # no column varies from pair to pair
    }
  }
  expect_ours(gpuCor(x[0, ], partial = TRUE), "no row without missing values")
  expect_warning(gpuCor(x[, 0], partial = TRUE), "shrinkage")
  expect_equal(gpuClean(x, runs = rep(1, 20)), scale(x, TRUE, FALSE), ignore_attr = TRUE)
  expect_ours(gpuCor(list(x, x), subjects = data.frame(a = 1)), "'subjects' is")
  expect_ours(gpuCor(x, options = new.env()), "'options' must be a named list")
})
