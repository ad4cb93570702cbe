# Topological overlap, against its definition in double and against WGCNA.

tom_types <- c("unsigned", "signed", "unsigned 2", "signed 2")
network_types <- c("unsigned", "signed", "signed hybrid")

# The overlap that the definition below has by default; gpuTOM()'s own default is "signed".
unsigned <- function(...) gpuTOM(..., TOMType = "unsigned")

expect_overlap <- function(ours, truth, label = "") {
  off <- max(abs(unname(ours) - truth))
  expect(!anyNA(ours) && off < 1e-6, paste(label, "is off by", off))
}

# Groups of columns with something in common, as modules of genes have.
modules <- function(n_obs, n_var, seed = 1) {
  x <- normal(n_obs, n_var, seed)
  group <- seq_len(n_var) %% 7
  x + 2 * normal(n_obs, 7, seed + 1)[, group + 1] * rep(group > 0, each = n_obs)
}

for (backend in backends()) {
  test_that(paste(backend, "has the overlap of each type"), {
    x <- with_duplicates(modules(20, 150))
    r <- cor(x)
    for (type in network_types) for (TOMType in tom_types) for (TOMDenom in c("min", "mean")) {
      power <- c(1, 6, 2.3)[match(type, network_types)]
      ours <- gpuTOM(x, power, type, TOMType, TOMDenom, output = "matrix", backend = backend)
      truth <- overlap_of(adjacency_of(r, power, type, TOMType), TOMType, TOMDenom)
      expect_overlap(ours, truth, paste(backend, type, TOMType, TOMDenom))
    }
  })

  test_that(paste(backend, "has the overlap of every measure, of ties and of missing values"), {
    x <- rounded(30, 60)
    holes <- with_missing(modules(40, 60), 0.05)
    for (method in c(all_methods, "bicor", "cosine")) {
      r <- suppressWarnings(gpuCor(x, method = method, output = "matrix", backend = "cpu", precision = if (
        method == "kendall") "single" else "double"))
      expect_overlap(suppressWarnings(unsigned(x, 3, method = method, output = "matrix", backend = backend)),
                     overlap_of(adjacency_of(r, 3)), method)
    }
    for (method in all_methods) {
      r <- cor(holes, use = "pairwise", method = method)
      expect_overlap(unsigned(holes, 2, method = method, use = "pairwise", output = "matrix", backend = backend),
                     overlap_of(adjacency_of(r, 2)), paste(method, "pairwise"))
    }
    covariates <- normal(40, 2, 5)
    x <- modules(40, 60)
    r <- cor(residuals(lm(x ~ covariates)))
    expect_overlap(unsigned(x, covariates = covariates, output = "matrix", backend = backend),
                   overlap_of(adjacency_of(r)), "covariates")
  })

  test_that(paste(backend, "has the overlap of sizes at the edges of tiles and bands"), {
    for (n in c(1, 2, 3, 8, 31, 33, 127, 129, 255, 257, 513, if (full_tier()) 2047, 2049)) {
      x <- modules(12, n)
      at <- unique(c(1, n %/% 2 + 1, max(1, n - 1), n))
      tom <- unsigned(x, backend = backend)
      ours <- vapply(at, function(j) c(tom[seq_len(n), j]), numeric(n))
      expect_overlap(ours, overlap_of(adjacency_of(cor(x)), at = at), paste(backend, n, "columns"))
      if (n > 2 && n < 300) expect_identical(as.matrix(tom), unsigned(x, output = "matrix", backend = backend))
    }
  })

  test_that(paste(backend, "has the same bits however the work is divided"), {
    x <- modules(15, 300)
    expect_same_divided(function(...) {
      c(gpuTOM(x, TOMType = "signed", backend = backend, ...))
    })
    expect_same_divided(function(...) {
      net <- unsigned(x, type = "signed", output = "network", density = 0.05, backend = backend, ...)
      list(net@p, net@i, net@x)
    })
  })

  # A GPU's squares have 1,024 columns with so many variables.
  test_that(paste(backend, "makes slabs of adjacencies in rounds"), {
    x <- modules(15, 1090)
    expect_same_divided(function(...) c(unsigned(x, 2.5, type = "signed", backend = backend, ...)))
    x[, 1087] <- 1
    expect_error(unsigned(x, backend = backend, memory = 1), "at least [0-9]+ pairs have no .*column 1087 is constant")
    tom <- function(...) {
      suppressWarnings(gpuTOM(x, TOMType = "signed", replaceMissingAdjacencies = TRUE, backend = backend, ...))
    }
    whole <- tom()
    expect_true(all(whole[-1087, 1087] == 0))
    for (memory in c(1, 3e6)) expect_identical(c(tom(memory = memory)), c(whole))
  })

  test_that(paste(backend, "keeps the strong overlaps as a network"), {
    x <- modules(15, 150)
    colnames(x) <- paste0("gene", 1:150)
    tom <- gpuTOM(x, TOMType = "signed", backend = backend)
    full <- as.matrix(tom)
    diag(full) <- 0
    net <- function(...) gpuTOM(x, TOMType = "signed", output = "network", backend = backend, ...)
    least <- function(threshold) {
      full[abs(full) < threshold] <- 0
      full
    }
    by_threshold <- net(threshold = 0.1)
    expect_identical(as.matrix(by_threshold), least(0.1))
    expect_s4_class(by_threshold, "gpuTOMNetwork")
    expect_output(print(by_threshold), "Topological overlap.*overlap")
    expect_named(as.data.frame(by_threshold), c("from", "to", "overlap"))
    of_density <- net(density = 0.03)
    expect_identical(as.matrix(of_density), least(of_density@threshold))
    expect_gte(of_density@edges, ceiling(0.03 * 150 * 149 / 2))
    neighbours <- apply(abs(full), 2, function(v) seq_along(v) %in% order(-v)[1:3])
    expect_identical(unname(as.matrix(net(k = 3)) != 0), unname(neighbours | t(neighbours)))
  })

  test_that(paste(backend, "says which column has no adjacency, or takes it for 0"), {
    x <- with_constants(modules(12, 40))
    expect_error(unsigned(x, backend = backend),
                 "77 pairs have no coefficient.*column 2 is constant.*replaceMissingAdj")
    tom <- suppressWarnings(unsigned(x, type = "signed", replaceMissingAdjacencies = TRUE, output = "matrix",
                                   backend = backend))
    r <- suppressWarnings(cor(x))
    expect_overlap(tom, overlap_of(adjacency_of(r, type = "signed")))
    expect_warning(unsigned(x, replaceMissingAdjacencies = TRUE, backend = backend), "standard deviation is zero")
    x[1, 3] <- NA
    expect_error(unsigned(x[, 3:20], backend = backend), "column 1 has missing values.*see 'use'")
  })

  test_that(paste(backend, "returns what memory it had, whatever fails"), {
    x <- modules(8, 40)
    for (resource in resources_of(backend)) {
      messages <- walk_failures(function() c(unsigned(x, backend = backend)), resource, "gpuTOM()")
      expect_match(messages, ways_out[[resource]], all = TRUE)
    }
  })
}

test_that("overlaps are those of WGCNA", {
  x <- with_duplicates(modules(25, 24))
  wgcna <- function(name, ...) {
    by_package("WGCNA", paste("overlap,", name), {
      WGCNA::TOMsimilarityFromExpr(x, nThreads = 1, verbose = 0, ...)
    })
  }
  for (type in network_types) for (TOMType in tom_types) {
    theirs <- wgcna(paste(type, TOMType), networkType = type, power = 5, TOMType = TOMType, TOMDenom = "mean")
    for (backend in backends()) {
      ours <- gpuTOM(x, 5, type, TOMType, "mean", output = "matrix", backend = backend)
      expect_overlap(ours, theirs, paste(backend, type, TOMType))
    }
  }
  theirs <- wgcna("bicor", corType = "bicor", TOMType = "unsigned")
  expect_overlap(unsigned(x, method = "bicor", output = "matrix"), theirs)
  theirs <- by_package("WGCNA", "overlap, similarity", WGCNA::TOMsimilarity(abs(cor(x))^6, verbose = 0))
  expect_overlap(unsigned(x, output = "matrix"), theirs)
})

test_that("every instruction set has the same overlap", {
  x <- modules(15, 290)
  truth <- gpuTOM(x, TOMType = "signed", backend = "cpu", threads = 1)
  for (set in gpuInfo()$instructions) {
    with_env(c(GPUCOR_CPU = set), expect_identical(gpuTOM(x, TOMType = "signed", backend = "cpu", threads = 1), truth))
  }
})

test_that("the result is a dist of its own class, and one less it a plain one", {
  x <- modules(12, 140)
  colnames(x) <- paste0("g", 1:140)
  tom <- unsigned(x, 4, "signed", TOMDenom = "mean", method = "spearman")
  expect_s3_class(tom, c("gpuTOM", "allPairs", "dist"), exact = TRUE)
  expect_identical(attributes(tom)[c("power", "type", "TOMType", "TOMDenom", "method", "n_obs")],
                   list(power = 4, type = "signed", TOMType = "unsigned", TOMDenom = "mean", method = "spearman",
                        n_obs = 12))
  distance <- 1 - tom
  expect_s3_class(distance, "dist", exact = TRUE)
  expect_identical(as.matrix(distance)[3:4, 1:2], 1 - as.matrix(tom)[3:4, 1:2])
  expect_null(attr(distance, "power"))
  expect_identical(hclust(distance, "average")$labels, colnames(x))
  expect_identical(tom["g5", "g2"], as.matrix(tom)[5, 2])
  expect_output(print(tom), "Topological overlap by .* of 140 variables: 9,730 pairs.*\npower 4, signed; TOMType")
  expect_identical(attr(tom, "call")[[1L]], quote(gpuTOM))
})

test_that("a sparse network has the overlap of its edges", {
  x <- modules(15, 120)
  net <- gpuCorNetwork(x, threshold = 0.6)
  for (TOMType in tom_types) for (type in network_types) {
    r <- as.matrix(net)
    a <- adjacency_of(r, 3, type, TOMType)
    a[r == 0] <- 0
    truth <- overlap_of(a, TOMType)
    ours <- gpuTOM(net, 3, type, TOMType)
    expect_s4_class(ours, "dsCMatrix")
    expect_identical(ours@i, net@i)
    expect_lt(max(abs((as.matrix(ours) - truth)[r != 0])), 1e-12)
  }
  expect_identical(unsigned(net, threads = 1), unsigned(net, threads = 2))
  weights <- methods::as(abs(net), "CsparseMatrix")
  lower <- Matrix::t(Matrix::forceSymmetric(weights, "U"))
  expect_identical(as.matrix(unsigned(weights)), as.matrix(unsigned(net, 1)))
  expect_identical(as.matrix(unsigned(lower)), as.matrix(unsigned(net, 1)))
  expect_error(unsigned(weights, 2), "'power' and 'type' are for coefficients")
  expect_error(unsigned(2 * weights), "adjacencies are numbers from 0 to 1")
})

test_that("several data sets' overlaps are combined pair by pair", {
  sets <- lapply(1:4, function(s) modules(12, 140, s))
  each <- sapply(sets, function(x) c(unsigned(x)))
  expect_equal(c(unsigned(sets, combine = "min")), apply(each, 1, min), tolerance = 1e-7)
  expect_equal(c(unsigned(sets, combine = "mean")), rowMeans(each), tolerance = 1e-7)
  quantiles <- unsigned(sets, combine = "quantile", probs = 0.3)
  expect_equal(c(quantiles), apply(each, 1, quantile, 0.3, names = FALSE), tolerance = 1e-7)
  expect_s3_class(quantiles, c("gpuTOM", "allPairs", "dist"), exact = TRUE)
  expect_identical(attr(quantiles, "n_obs"), 48)
  expect_identical(unsigned(sets, combine = "min", output = "matrix"), as.matrix(unsigned(sets, combine = "min")))
  expect_error(unsigned(sets), "say how to combine")
  expect_error(unsigned(sets[[1]], combine = "min"), "'x' is one")
  expect_error(unsigned(sets, combine = "min", power = 1:2), "one for each of the 4 data sets")
  powers <- unsigned(sets[1:2], power = c(2, 5), combine = "mean")
  expect_equal(c(powers), (c(unsigned(sets[[1]], 2)) + c(unsigned(sets[[2]], 5))) / 2, tolerance = 1e-7)
  expect_identical(attr(powers, "power"), c(2, 5))
  expect_null(attr(1 - powers, "combine"))
  sets[[5]] <- modules(12, 3)
  expect_error(unsigned(sets, combine = "min"), "data set 5 has 3 columns, and the first one 140")
})

test_that("data sets' overlaps are scaled to one quantile", {
  sets <- lapply(1:3, function(s) modules(10 + 5 * s, 230, s)) # more pairs than are looked at
  each <- sapply(sets, function(x) c(unsigned(x)))
  set.seed(3)
  scaled <- unsigned(sets, combine = "min", calibration = "single quantile")
  random <- runif(1)
  set.seed(3)
  expect_identical(random, runif(1))
  scales <- attr(scaled, "scales")
  expect_equal(c(scaled), apply(t(t(each)^scales), 1, min), tolerance = 1e-6)
  high <- apply(each, 2, quantile, 0.95, names = FALSE, type = 8)
  expect_equal(scales, log(high[1]) / log(high), tolerance = 0.01) # of all pairs
  median <- unsigned(sets[c(1, 1)], combine = "mean", calibration = "single quantile", calibrationQuantile = 0.5)
  expect_equal(c(median), each[, 1], tolerance = 1e-7)
  expect_null(attr(median, "scales"))
  expect_error(unsigned(sets[[1]], calibration = "single"), "'calibration' is of several data sets")
  same <- sets[[1]][, c(1, 1)]
  expect_error(unsigned(list(same, same), combine = "min", calibration = "single"), "quantile 0.95 of data set 1 is 1;")
})

test_that("what gpuTOM() cannot do is an error that says so", {
  x <- normal(10, 5)
  expect_error(unsigned(x, power = 0), "'power' must be a positive number, not 0")
  expect_error(gpuTOM(x, TOMType = "none"), "'TOMType' must be one of \"signed\"")
  expect_error(unsigned(x, threshold = 0.1), "'threshold' has a meaning with output = \"network\" only")
  expect_error(unsigned(x, output = "network"), "one of 'threshold', 'density' and 'k'")
  expect_error(unsigned(x, output = "network", k = 1:2), "'k' must be a whole number of at least 1, not 1:2")
  expect_error(unsigned(x, pairs = 1), "unused argument 'pairs'")
})

test_that("slabs of adjacencies that do not fit are an error before anything is computed", {
  total <- grep("^MemTotal:", if (file.exists("/proc/meminfo")) readLines("/proc/meminfo"), value = TRUE)
  skip_if(!length(total) || as.numeric(gsub("[^0-9]", "", total)) > 1.5e8, "there may be memory for them")
  expect_error(unsigned(matrix(runif(1e7), 2), output = "network", threshold = 0.5, backend = "cpu"),
               "81.9 GB wanted, [0-9.]+ GB free; take fewer columns")
})
