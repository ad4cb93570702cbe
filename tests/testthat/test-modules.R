# gpuModules() beside WGCNA::blockwiseModules() and blockwiseConsensusModules().

skip_without_wgcna <- function() {
  for (package in c("WGCNA", "fastcluster", "dynamicTreeCut")) skip_if_not_installed(package)
}

# WGCNA's function with all genes in a block, but for the collecting of garbage that it spends seconds on. It looks for
# its correlation where packages are attached.
blockwise <- function(x, ...) {
  if (!"package:WGCNA" %in% search()) {
    utils::capture.output(suppressPackageStartupMessages(attachNamespace("WGCNA")))
    on.exit(detach("package:WGCNA"))
  }
  own <- list(collectGarbage = WGCNA::collectGarbage, consensusTOM = WGCNA::consensusTOM)
  on.exit(for (name in names(own)) utils::assignInNamespace(name, own[[name]], "WGCNA"), add = TRUE)
  quick <- own$consensusTOM
  environment(quick) <- list2env(list(gc = function() NULL), parent = asNamespace("WGCNA"))
  utils::assignInNamespace("collectGarbage", function() NULL, "WGCNA")
  utils::assignInNamespace("consensusTOM", quick, "WGCNA")
  several <- is.list(x)
  utils::capture.output(found <- if (several) {
    WGCNA::blockwiseConsensusModules(lapply(x, function(set) list(data = set)), maxBlockSize = ncol(x[[1]]),
                                     useDiskCache = FALSE, saveIndividualTOMs = FALSE, ...)
  } else {
    WGCNA::blockwiseModules(x, maxBlockSize = ncol(x), ...)
  })
  found
}

# Genes that follow one of some factors, and genes that follow none.
genes_of_factors <- function(n_obs = 50, sizes = c(80, 60, 40, 20, 40), seed = 1) {
  set.seed(seed)
  factors <- cbind(matrix(rnorm(n_obs * (length(sizes) - 1)), n_obs), 0)
  follows <- rexp(sum(sizes), 0.5)
  x <- matrix(rnorm(n_obs * sum(sizes)), n_obs) +
    factors[, rep(seq_along(sizes), sizes)] * rep(follows, each = n_obs)
  dimnames(x) <- list(paste0("s", seq_len(n_obs)), paste0("g", seq_len(sum(sizes))))
  x
}

# Two data sets of the genes above, each with modules of its own besides.
two_sets <- function() {
  sizes <- c(80, 60, 40, 20, 40)
  list(first = genes_of_factors(40, sizes), second = genes_of_factors(30, sizes, seed = 2))
}

expect_same_modules <- function(ours, theirs) {
  expect_identical(ours$colors, theirs$colors)
  expect_identical(ours$unmerged, theirs$unmergedColors)
  list <- as_blockwiseModules(ours)
  expect_named(list, names(theirs))
  same <- c("MEs", "goodSamples", "goodGenes", "TOMFiles", "blockGenes", "blocks", "MEsOK")
  expect_equal(list[same], theirs[same])
  expect_equal(list$dendrograms[[1]]$order, theirs$dendrograms[[1]]$order)
}

test_that("modules, eigengenes and the tree are those of blockwiseModules()", {
  skip_without_wgcna()
  x <- genes_of_factors()
  expect_same_modules(gpuModules(x, power = 6), blockwise(x, power = 6))
  expect_same_modules(gpuModules(x, power = 6, pamS = FALSE, pamRespectsDendro = FALSE, threads = 1),
                      blockwise(x, power = 6, pamStage = FALSE, pamRespectsDendro = FALSE))
  skip_unless_full()
  expect_same_modules(
    gpuModules(x, power = 10, type = "signed", method = "bicor", TOMType = "unsigned", TOMDenom = "mean",
               deepSplit = 4, minModuleSize = 8, mergeCutHeight = 0.4),
    blockwise(x, power = 10, networkType = "signed", corType = "bicor", TOMType = "unsigned", TOMDenom = "mean",
              deepSplit = 4, minModuleSize = 8, mergeCutHeight = 0.4))
})

test_that("genes and samples with too many missing values take no part, as in WGCNA", {
  skip_without_wgcna()
  skip_if_not_installed("impute")
  x <- genes_of_factors()
  x[sample(length(x), 200)] <- NA
  x[, 5] <- 3
  x[1:40, 9] <- NA
  x[7, 1:200] <- NA
  set.seed(8)
  utils::capture.output(ours <- gpuModules(x, power = 5, use = "pairwise.complete.obs"))
  random <- runif(1)
  set.seed(8)
  expect_identical(random, runif(1)) # imputation leaves the state of random numbers alone
  expect_same_modules(ours, blockwise(x, power = 5))
  expect_equal(which(!ours$genes), c(5L, 9L))
  expect_equal(which(!ours$samples), 7L)
  expect_true(all(is.na(ours$kME[c(5, 9), ])))
  expect_error(gpuModules(x, power = 5), "\"pairwise.complete.obs\" leaves them out")
  expect_error(gpuModules(x, power = 5, use = "complete.obs"), "leave incomplete samples out yourself")
})

test_that("eigengenes, kME and kWithin are those of WGCNA's functions", {
  skip_without_wgcna()
  x <- genes_of_factors()
  for (backend in backends()) {
    m <- gpuModules(x, power = 7, type = "signed hybrid", backend = backend)
    theirs <- WGCNA::moduleEigengenes(x, m$colors)
    expect_equal(m$eigengenes, theirs$eigengenes[names(m$eigengenes)])
    expect_equal(unname(m$explained), unname(unlist(theirs$varExplained))[match(names(m$eigengenes),
                                                                               names(theirs$eigengenes))])
    own <- m$eigengenes[seq_len(ncol(m$kME))]
    expect_equal(unname(m$kME), unname(as.matrix(WGCNA::signedKME(x, own))))
    expect_identical(colnames(m$kME), names(own))
    adjacency <- WGCNA::adjacency(x, type = "signed hybrid", power = 7)
    within <- WGCNA::intramodularConnectivity(adjacency, m$colors)$kWithin
    expect_equal(m$kWithin[m$labels > 0], setNames(within, colnames(x))[m$labels > 0], tolerance = 1e-5)
    expect_true(all(is.na(m$kWithin[m$labels == 0])))
    sizes <- tabulate(m$labels)
    expect_false(is.unsorted(rev(sizes)))
  }
})

test_that("a gene moves to the module that it goes with", {
  skip_without_wgcna()
  x <- genes_of_factors(sizes = c(30, 30, 10), seed = 4)
  set <- list(x = x, samples = rep(TRUE, nrow(x)))
  job <- list(use = "everything", method = "pearson", type = "unsigned", minModuleSize = 5, reassignThreshold = 1e-6)
  eigengenes <- eigengenes_of(rep(c(3, 5, 0), c(30, 30, 10)), c(3, 5), x)$values
  labels <- rep(c(3L, 5L, 0L), c(30, 30, 10)) # modules of other numbers are gone
  strong <- which.max(abs(cor(x[, 1:30], eigengenes[, "3"])))
  labels[strong] <- 5L
  moved <- reassigned(list(labels = labels, eigengenes = eigengenes), set, job)
  expect_equal(moved[strong], 3L)
  expect_equal(moved[-strong], labels[-strong])
  job$minModuleSize <- 31
  gone <- reassigned(list(labels = labels, eigengenes = eigengenes), set, job)
  expect_equal(unique(gone[labels == 5L & seq_along(labels) != strong]), 0L) # too few are left
})

test_that("members are the genes of each module, by decreasing kME", {
  skip_without_wgcna()
  x <- genes_of_factors()
  for (type in c("unsigned", "signed")) {
    m <- gpuModules(x, power = 8, type = type)
    frame <- as.data.frame(m)
    expect_named(m$members, names(module_sizes(m)))
    expect_equal(lengths(m$members), module_sizes(m))
    by_module <- unlist(lapply(seq_along(m$members), function(module) {
      own <- frame[frame$module == module, ]
      own$gene[order(-if (type == "unsigned") abs(own$kME) else own$kME)]
    }))
    expect_identical(unlist(m$members, use.names = FALSE), by_module)
  }
  m <- gpuModules(two_sets(), power = 6, combine = "min")
  own <- subset(as.data.frame(m), module == 2)
  expect_identical(m$members[[2]], own$gene[order(-pmin(abs(own$kME.first), abs(own$kME.second)))])
  none <- gpuModules(unname(normal(30, 60)), power = 12)
  expect_identical(none$members, setNames(list(), character()))
})

test_that("the power is the lowest that fits and falls, or the usual one", {
  usual <- function(n, type) { # of genes with the same connectivity, to which no power fits
    job <- list(type = type, method = "pearson", use = "everything")
    suppressWarnings(module_power(NULL, diag(n), job)$power)
  }
  expect_equal(vapply(c(10, 25, 35, 50), usual, 0, "unsigned"), c(9, 8, 7, 6))
  expect_equal(usual(50, "signed"), 12)
  skip_without_wgcna()
  m <- gpuModules(genes_of_factors())
  fits <- m$fit$fitIndices
  expect_equal(m$power, fits$Power[fits$SFT.R.sq > 0.85 & fits$slope < 0][1])
  expect_warning(m <- gpuModules(genes_of_factors(sizes = c(30, 0)), type = "signed"), "12 is taken, which is usual")
  expect_equal(m$power, 12)
})

test_that("sparse data, experiments and files have the modules of the matrix", {
  skip_without_wgcna()
  x <- round(pmax(genes_of_factors(), 0), 1)
  dense <- gpuModules(x, power = 4)
  parts <- c("colors", "eigengenes", "kME", "kWithin")
  suppressMessages(sparse <- gpuModules(Matrix::Matrix(x, sparse = TRUE), power = 4))
  expect_equal(sparse[parts], dense[parts])
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.vector(x), file)
  mapped <- gpuModules(gpuCorFile(file, dim(x), dimnames = dimnames(x)), power = 4)
  expect_equal(mapped[parts], dense[parts])
  skip_unless_full()
  skip_if_not_installed("SummarizedExperiment")
  se <- SummarizedExperiment::SummarizedExperiment(list(other = t(x) * 0, log = t(x)))
  m <- gpuModules(se, power = 4, assay = "log")
  expect_equal(m[parts], dense[parts])
  SummarizedExperiment::rowData(se)[c("module", "kME")] <- as.data.frame(m)[c("color", "kME")]
  expect_identical(SummarizedExperiment::rowData(se)$module, unname(m$colors))
})

# Compares with the modules of residuals made by hand.
expect_modules_of <- function(ours, residuals, ...) {
  by_hand <- gpuModules(residuals, power = 6, ...)
  expect_gt(max(by_hand$labels), 2)
  parts <- setdiff(names(by_hand), "call")
  expect_equal(unclass(ours)[parts], unclass(by_hand)[parts])
}

test_that("modules adjusted for covariates are those of residuals, eigengenes included", {
  skip_without_wgcna()
  x <- genes_of_factors()
  batch <- factor(rep_len(c("a", "b", "c"), 50))
  year <- seq(2001, 2010, length.out = 50)
  x <- x + outer(3 * (batch == "b"), runif(240)) + outer(year, rnorm(240))
  frame <- data.frame(batch, year)
  ours <- gpuModules(x, power = 6, covariates = ~ batch + year, data = frame)
  expect_modules_of(ours, residuals(lm(x ~ batch + year)))
  expect_equal(ours$covariates, model.matrix(~ batch + year)[, -1], ignore_attr = TRUE)
  expect_output(print(ours), "adjusted for 3 covariates")
  tom <- gpuTOM(x, power = 6, covariates = frame)
  expect_equal(ours$tree$height, gpuHclust(tom)$height, tolerance = 1e-5)
  constant <- cbind(x, none = batch == "c", year)
  adjusted <- gpuModules(constant, power = 6, covariates = frame)
  expect_equal(unname(which(!adjusted$genes)), 241:242) # genes that the covariates explain
  sets <- split(seq_len(50), rep(1:2, c(20, 30)))
  ours <- gpuModules(lapply(unname(sets), function(at) x[at, ]), power = 6, combine = "min",
                     covariates = lapply(sets, function(at) frame[at, ]))
  expect_modules_of(ours, lapply(unname(sets), function(at) residuals(lm(x[at, ] ~ batch[at] + year[at]))),
                    combine = "min")
  expect_equal(lapply(ours$covariates, dim), list(set1 = c(20L, 3L), set2 = c(30L, 3L)))
})

test_that("genes with missing values are adjusted with their own samples, as by lm()", {
  skip_without_wgcna()
  skip_if_not_installed("impute")
  x <- genes_of_factors()
  x[sample(length(x), 200)] <- NA
  ph <- replace(rnorm(50), 4, NA)
  by_hand <- apply(x, 2, function(gene) residuals(lm(gene ~ ph, na.action = na.exclude)))
  utils::capture.output({
    ours <- gpuModules(x, power = 6, use = "pairwise.complete.obs", covariates = ph)
    expect_modules_of(ours, by_hand, use = "pairwise.complete.obs")
  })
  expect_equal(which(!ours$samples), 4L)
  expect_error(gpuModules(genes_of_factors(), power = 6, covariates = ph),
               "'covariates' is missing in column 1, row 4; leave such samples out, or use =", fixed = TRUE)
  expect_error(gpuModules(x, power = 6, data = data.frame(ph)), "'data' needs a formula in 'covariates'")
  expect_error(gpuModules(x, power = 6, covariates = ph[-1]), "49 rows; there are 50 observations")
  expect_error(gpuModules(unname(two_sets()), power = 6, combine = "min", covariates = list(1:40, 1:9)),
               "data set 2: 'covariates' has 9 rows")
  few <- two_sets()$second[1:4, ]
  expect_error(gpuModules(few, power = 6, covariates = diag(4)), "takes 3 of 3 degrees of freedom and leaves none")
})

expect_same_consensus <- function(ours, theirs) {
  expect_identical(ours$colors, theirs$colors)
  expect_identical(ours$unmerged, theirs$unmergedColors)
  expect_equal(ours$tree[c("merge", "height", "order")], theirs$dendrograms[[1]][c("merge", "height", "order")],
               tolerance = 1e-5)
  list <- as_blockwiseModules(ours)
  same <- c("multiMEs", "goodSamples", "goodGenes", "TOMFiles", "blockGenes", "blocks")
  expect_equal(list[same], theirs[same])
}

test_that("consensus modules are those of blockwiseConsensusModules()", {
  skip_without_wgcna()
  sets <- two_sets()
  ours <- gpuModules(sets, power = c(6, 5), combine = "min")
  expect_gt(max(ours$labels), 2)
  expect_same_consensus(ours, blockwise(sets, power = c(6, 5)))
  expect_equal(ours$scales[1], 1)
  skip_unless_full()
  sets$third <- sets$first[1:20, ] + sets$second[1:20, ]
  expect_same_consensus(
    gpuModules(sets, power = 8, type = "signed", combine = "quantile", probs = 0.5, calibration = "none",
               TOMType = "signed", method = "bicor", mergeCutHeight = 0.4, minKMEtoStay = 0.4, minModuleSize = 9),
    blockwise(sets, power = 8, networkType = "signed", consensusQuantile = 0.5, networkCalibration = "none",
              TOMType = "signed", corType = "bicor", mergeCutHeight = 0.4, minKMEtoStay = 0.4, minModuleSize = 9))
  expect_same_consensus(gpuModules(sets, power = 7, combine = "mean", calibrationQuantile = 0.8),
                        blockwise(sets, power = 7, useMean = TRUE, calibrationQuantile = 0.8))
})

test_that("consensus modules leave out what one data set does not have", {
  skip_without_wgcna()
  skip_if_not_installed("impute")
  sets <- unname(two_sets())
  sets[[1]][sample(length(sets[[1]]), 200)] <- NA
  sets[[1]][, 5] <- 3
  sets[[2]][1:25, 9] <- NA
  sets[[2]][7, 1:200] <- NA
  set.seed(8)
  ours <- gpuModules(sets, power = 5, use = "pairwise.complete.obs", combine = "min")
  random <- runif(1)
  set.seed(8)
  expect_identical(random, runif(1))
  expect_equal(which(!ours$genes), c(5L, 9L))
  expect_equal(which(!ours$samples[[2]]), 7L)
  expect_equal(names(ours$eigengenes), c("set1", "set2"))
  names(ours$eigengenes) <- names(ours$samples) <- NULL # WGCNA makes none
  expect_same_consensus(ours, blockwise(sets, power = 5))
})

test_that("consensus modules have eigengenes, kME and kWithin of each set, and are shown", {
  skip_without_wgcna()
  sets <- two_sets()
  m <- gpuModules(sets, power = c(6, 5), combine = "min")
  for (s in 1:2) {
    theirs <- WGCNA::moduleEigengenes(sets[[s]], m$colors)$eigengenes
    expect_equal(m$eigengenes[[s]], theirs[names(m$eigengenes[[s]])])
    own <- m$eigengenes[[s]][seq_len(ncol(m$kME[[s]]))]
    expect_equal(unname(m$kME[[s]]), unname(as.matrix(WGCNA::signedKME(sets[[s]], own))))
    expect_identical(colnames(m$kME[[s]]), names(own))
    adjacency <- WGCNA::adjacency(sets[[s]], power = c(6, 5)[s])
    within <- WGCNA::intramodularConnectivity(adjacency, m$colors)$kWithin
    expect_equal(unname(m$kWithin[[s]])[m$labels > 0], within[m$labels > 0], tolerance = 1e-5)
  }
  frame <- as.data.frame(m)
  expect_named(frame, c("gene", "module", "color", "kME.first", "kME.second", "kWithin.first", "kWithin.second"))
  expect_equal(frame$kME.second[3], m$kME$second[3, m$labels[3]])
  expect_output(print(m), "consensus modules of .* 2 data sets: first .40 samples., second .30 samples.*powers 6, 5")
  summary <- summary(m)
  expect_named(summary$modules, c("module", "color", "genes", "explained.first", "explained.second", "hub"))
  first <- frame[frame$module == 1, ]
  expect_equal(first$gene[which.max(pmin(abs(first$kME.first), abs(first$kME.second)))], summary$modules$hub[1])
  expect_output(print(summary), "first (40 samples), second (30 samples)", fixed = TRUE)
  expect_output(print(summary), "unsigned network, powers 6, 5", fixed = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(m))
  expect_warning(own <- gpuModules(sets, combine = "min"), "7 is taken, which is usual for 30 samples")
  expect_equal(own$power, c(first = gpuModules(sets$first)$power, second = 7))
  expect_error(gpuModules(sets, power = 6), "say how to combine")
  expect_error(gpuModules(sets, power = 1:3, combine = "min"), "one for each of the 2 data sets")
  expect_error(gpuModules(sets, combine = "min", reassignThreshold = 0.1), "no gene moves to another module")
  expect_error(gpuModules(sets[[1]], power = 6, combine = "min"), "'x' is one")
  expect_error(gpuModules(list(sets$first, letters), combine = "min"), "data set 2: 'x' must be numeric, not of class")
  colnames(sets$second)[3] <- "other"
  expect_error(gpuModules(sets, power = 6, combine = "min"), "data set 2 has other column names")
})

test_that("modules are printed, summed up, drawn, and made a data frame of", {
  skip_without_wgcna()
  m <- gpuModules(genes_of_factors(), power = 6)
  expect_output(print(m), "of 240 genes, 50 samples")
  frame <- as.data.frame(m)
  expect_named(frame, c("gene", "module", "color", "kME", "kWithin"))
  expect_equal(frame$kME[3], m$kME[3, m$labels[3]])
  summary <- summary(m)
  expect_equal(summary$modules$genes, as.vector(table(m$labels[m$labels > 0])))
  expect_equal(frame$gene[frame$module == 1][which.max(frame$kWithin[frame$module == 1])], summary$modules$hub[1])
  expect_output(print(summary), "3 modules of 160 of 240 genes, 50 samples.*unassigned 80\nmodules:\n module")
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  before <- graphics::par("mar")
  expect_silent(plot(m, main = "modules"))
  expect_equal(graphics::par("mar"), before)
  by_number <- as_blockwiseModules(m, numeric = TRUE)
  expect_equal(by_number$colors, m$labels)
  expect_equal(by_number$MEs$ME1, m$eigengenes$MEturquoise)
  m$unmerged[1:3] <- WGCNA::labels2colors(c(5, 9, 0)) # of modules whose numbers are not in a row
  expect_equal(unname(as_blockwiseModules(m, numeric = TRUE)$unmergedColors[1:3]), c(5, 9, 0))
})

test_that("modules and traits are drawn from tests of eigengenes, adjusted as the modules are", {
  skip_without_wgcna()
  x <- genes_of_factors()
  batch <- rep_len(1:3, 50)
  m <- gpuModules(x, power = 6, covariates = factor(batch))
  traits <- data.frame(age = x[, 1] + rnorm(50), sex = rep(c("f", "m"), 25))
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  found <- plot(m, traits = traits)
  expect_equal(rownames(found$r), paste0("ME", names(module_sizes(m))))
  by_hand <- summary(lm(m$eigengenes[[2]] ~ age + factor(batch), traits))$coefficients["age", ]
  expect_equal(c(found$statistic["MEblue", "age"], found$p.value["MEblue", "age"]), by_hand[3:4], ignore_attr = TRUE)
  expect_equal(found$df, 46)
  expect_equal(plot(m, traits = traits, method = "spearman", covariates = NULL)$r[2, 1],
               cor(m$eigengenes[[2]], traits$age, method = "spearman"))
  expect_true(all(c(paste0("blue (", module_sizes(m)[["blue"]], ")"), "age", "sexm", "Modules and traits") %in%
                    texts_of(plot(m, traits = traits))))
  expect_error(plot(gpuModules(two_sets(), power = 6, combine = "min"), traits = traits), "is for modules of one data")
  expect_error(plot(gpuModules(normal(50, 60), power = 12), traits = traits), "all genes are grey")
})

test_that("the tree with its modules looks as it did", {
  keep_pictures("modules")
  skip_if_not_installed("vdiffr")
  skip_if(getRversion() >= "4.3", "the picture is that of R 4.2")
  place <- c(seq(0, 1, length.out = 12)^2, 3 + seq(0, 1, length.out = 9)^2, 5, 8, 11.5)
  colors <- rep(c("turquoise", "blue", "grey"), c(12, 9, 3))
  m <- structure(list(tree = hclust(dist(place), "average"), genes = rep(TRUE, 24), colors = colors,
                      labels = rep(c(1L, 2L, 0L), c(12, 9, 3))), class = "gpuModules")
  vdiffr::expect_doppelganger("tree of two modules", function() plot(m, main = "two modules"), cran = TRUE)
})

test_that("numbers of narrow modules are drawn side by side, about their middle", {
  narrow <- structure(list(tree = hclust(dist(1:400)), genes = rep(TRUE, 400), colors = rep("grey", 400),
                           labels = integer(400)), class = "gpuModules")
  places_of <- function(of_genes) { # of the numbers, in points
    narrow$labels[narrow$tree$order[of_genes]] <- rep(1:2, each = 2)
    file <- tempfile(fileext = ".pdf")
    on.exit(unlink(file))
    grDevices::pdf(file, compress = FALSE, useKerning = FALSE)
    tryCatch(plot(narrow), finally = grDevices::dev.off())
    drawn <- regmatches(lines <- readLines(file), regexpr("[0-9.]+ [0-9.]+ Tm \\([12]\\) Tj", lines))
    as.numeric(sub(" .*", "", drawn))
  }
  apart <- places_of(c(100, 101, 300, 301))
  side_by_side <- places_of(c(199, 200, 201, 202))
  expect_equal(mean(side_by_side), mean(apart), tolerance = 1e-3)
  expect_gt(diff(side_by_side), 5)
  expect_gt(diff(apart), 200)
})

test_that("genes that nothing joins are in no module", {
  skip_without_wgcna()
  m <- gpuModules(normal(30, 60), power = 12)
  expect_equal(unname(m$labels), rep(0L, 60))
  expect_equal(ncol(m$kME), 0)
  expect_named(m$eigengenes, "MEgrey")
  expect_output(print(m), "0 modules of 0 of 60 genes")
  expect_equal(nrow(summary(m)$modules), 0)
  expect_output(print(summary(m)), "0 modules of 0 of 60 genes.*unassigned 60")
  two <- gpuModules(list(normal(30, 60), normal(25, 60, 2)), power = 12, combine = "min")
  expect_equal(unname(two$labels), rep(0L, 60))
  expect_named(as.data.frame(two)[0, ], c("gene", "module", "color", "kME.set1", "kME.set2", "kWithin.set1",
                                          "kWithin.set2"))
})

test_that("what is not installed or makes no sense is an error that says so", {
  expect_error(need_packages(c("stats", "no.such", "nor.this"), "gpuModules()"),
               "packages no.such and nor.this, not installed here: BiocManager::install(c(\"no.such\", \"nor.this\"))",
               fixed = TRUE)
  skip_without_wgcna()
  x <- genes_of_factors()
  expect_error(gpuModules(x, power = 40), "'power' must be a number between 1 and 30")
  expect_error(gpuModules(x, power = 4, cut = list(depth = 3)),
               "'cut' must be a named list of some of maxCoreScatter.*not list")
  expect_error(gpuModules(x, power = 4, pamStage = 2), "'pamStage' must be TRUE or FALSE, not 2")
  expect_error(gpuModules(x, power = 4, mergeCutHeight = "low"), "'mergeCutHeight' must be a number")
  for (n in 0:2) expect_error(gpuModules(x[, seq_len(n), drop = FALSE], power = 4), "at least 3 genes")
  for (n in 1:3) {
    expect_error(gpuModules(x[seq_len(n), , drop = FALSE], power = 4),
                 paste(n, "rows? \\(samples\\); modules need at least 4"))
  }
  expect_error(gpuModules(list(x, x[1:3, ]), power = 4, combine = "min"), "data set 2: 'x' has 3 rows")
  expect_error(gpuModules(x, power = 4, depth = 1), "unused argument 'depth'")
  for (bad in list(9, -1, "a", NA, 1:2)) {
    expect_error(gpuModules(x, power = 4, deepSplit = bad), "'deepSplit' must be a number between 0 and 4, not")
  }
  genes_in_rows <- t(genes_of_factors(20, c(300, 300, 200, 100, 100)))
  expect_length(grep("1,000 rows", warnings_of(gpuModules(genes_in_rows))), 1)
  expect_error(as_blockwiseModules(1), "must be what gpuModules\\(\\) returned")
})
