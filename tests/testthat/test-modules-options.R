# What gpuModules() takes besides data and a power, and who takes its modules. All are here, as the packages that it
# needs take seconds to load.

skip_without_packages <- function() for (package in c("WGCNA", "dynamicTreeCut")) skip_if_not_installed(package)

# ---- resamples

# Three modules of genes that follow a factor, ever less, and some that follow none.
module_data <- function(n_obs = 30, seed = 1) {
  skip_without_packages()
  set.seed(seed)
  factors <- cbind(matrix(rnorm(n_obs * 3), n_obs), 0)
  follows <- rep(runif(150, 0.3, 2), each = n_obs)
  x <- matrix(rnorm(n_obs * 150), n_obs) + factors[, rep(1:4, c(50, 40, 30, 30))] * follows
  colnames(x) <- paste0("g", 1:150)
  x
}

# Returns TRUE for genes that are in the module matched with their own: of all matchings of modules one to one, the one
# that matches the two with most common genes, then of the rest.
stay_by_hand <- function(own, other) {
  stays <- logical(length(own))
  repeat {
    left <- own > 0 & other > 0
    if (!any(left)) return(stays)
    shared <- aggregate(list(n = rep(1, sum(left))), list(own = own[left], other = other[left]), sum)
    best <- shared[which.max(shared$n), ]
    stays[own == best$own & other == best$other] <- TRUE
    own[own == best$own] <- 0
    other[other == best$other] <- 0
  }
}

test_that("a gene's stability is the fraction of resamples whose modules keep it", {
  x <- module_data()
  x <- cbind(constant = 1, x[, 1:60], rare = c(1, rep(0, 29)), x[, 61:150]) # `rare` is constant in some resamples
  of_rows <- function(rows) gpuModules(x[rows, ], power = 5, minModuleSize = 10)$labels
  all <- of_rows(1:30)
  set.seed(2)
  drawn <- lapply(1:5, function(b) sort(sample.int(30, 19)))
  expected <- Reduce(`+`, lapply(drawn, function(rows) stay_by_hand(all, of_rows(rows)))) / 5
  set.seed(2)
  found <- gpuModules(x, power = 5, minModuleSize = 10, stability = 5)
  expect_identical(found$labels, all)
  expect_equal(unname(found$stability), ifelse(all == 0, NA, expected), ignore_attr = TRUE)
  expect_identical(as.data.frame(found)$stability, unname(found$stability))
  expect_gt(length(unique(found$stability)), 3)
  expect_equal(summary(found)$modules$stability, as.vector(tapply(found$stability, found$labels, mean))[-1])
  expect_true(is.na(found$stability[["constant"]]))
})

test_that("modules that split or merge lose the genes of the smaller part", {
  own <- rep(c("turquoise", "blue", "grey"), c(6, 4, 2))
  stays <- gpucor:::stays_with_module
  expect_identical(stays(own, rep(c("red", "grey"), c(10, 2))), rep(c(TRUE, FALSE), c(6, 6)))
  expect_identical(stays(own, rep(c("red", "blue", "pink"), c(2, 4, 6))), rep(c(FALSE, TRUE, FALSE), c(2, 8, 2)))
  expect_identical(stays(own, rep("grey", 12)), rep(FALSE, 12))
})

test_that("consensus modules draw samples of each set, and a picture shows the stability", {
  sets <- list(module_data(seed = 1), module_data(24, seed = 2))
  set.seed(3)
  drawn <- lapply(sets, function(x) lapply(1:2, function(b) sort(sample.int(nrow(x), round(0.7 * nrow(x))))))
  modules <- function(x, ...) gpuModules(x, power = 5, minModuleSize = 10, combine = "min", ...)
  all <- modules(sets)
  expected <- lapply(1:2, function(b) {
    own <- Map(function(x, rows) x[rows[[b]], ], sets, drawn)
    stay_by_hand(all$labels, modules(own)$labels)
  })
  set.seed(3)
  found <- modules(sets, stability = 2, fraction = 0.7)
  expect_equal(unname(found$stability), ifelse(all$labels == 0, NA, Reduce(`+`, expected) / 2), ignore_attr = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_identical(plot(found, "stability"), found)
  expect_true(all(setdiff(found$colors, "grey") %in% texts_of(plot(found, "stability"))))
  expect_error(plot(all, "stability"), "give gpuModules() 'stability'", fixed = TRUE)
  expect_error(modules(sets, stability = 2, fraction = 1), "30 of 30 samples; they need fewer than all")
})

# ---- the cut

test_that("'cut' has what the engine takes, and what dynamicTreeCut does", {
  skip_without_packages()
  x <- module_data()
  modules_of <- function(...) gpuModules(x, power = 6, cut = list(...))$unmerged
  for (cut in list(list(), list(minGap = 0.3), list(maxCoreScatter = 0.5, respectSmallClusters = FALSE),
                   list(maxPamDist = 0), list(minAbsSplitHeight = 0.98), list(maxPamDist = NULL))) {
    expect_identical(do.call(modules_of, cut), do.call(modules_of, c(cut, verbose = 0)))
  }
  expect_false(identical(modules_of(), modules_of(maxCoreScatter = 0.1)))
  expect_true(engine_cuts(list(minGap = 0.1, pamStage = TRUE, cutHeight = NULL)))
  for (other in list(list(verbose = 0), list(minGap = 1:2), list(minGap = "a"), list(minGap = NA))) {
    expect_false(engine_cuts(other))
  }
  expect_type(modules_of(useMedoids = TRUE), "character")
  expect_error(modules_of(minGap = "a"), "does not take 'cut'")
  formals <- names(formals(dynamicTreeCut::cutreeDynamic))
  own <- c("dendro", "distM", "method", "indent", "deepSplit", "cutHeight", "minClusterSize", "pamStage",
           "pamRespectsDendro")
  expect_setequal(c(ENGINE_CUT, OTHER_CUT), setdiff(formals, own))
})

# ---- traits, the table, memory, and preservation

test_that("eigengenes are tested with the covariates of their genes", {
  x <- module_data()
  batch <- rep(0:1, 15)
  trait <- batch + rnorm(30)
  modules <- gpuModules(x + 3 * batch, power = 5, minModuleSize = 10, covariates = batch)
  p_of <- function(eigengene) summary(lm(eigengene ~ batch + trait))$coefficients["trait", 4]
  wanted <- vapply(modules$eigengenes, p_of, 0)
  tested <- function(x, ...) gpuAssociation(x, trait, output = "matrix", ...)
  expect_equal(tested(modules)$p.value[, 1], wanted)
  expect_equal(tested(modules, adjustment = gpuAdjust(weights = rep(1, 30)))$p.value[, 1], wanted)
  expect_equal(as.data.frame(tested(modules)), gpuAssociation(modules, trait, p.value = 1)[1:6], ignore_attr = TRUE)
  expect_identical(tested(modules, covariates = NULL)$p.value, tested(modules$eigengenes)$p.value)
  other <- rnorm(30)
  expect_identical(tested(modules, covariates = other)$p.value, tested(modules$eigengenes, covariates = other)$p.value)
  expect_output(print(tested(modules)), "adjusted for 1 covariate")
})

test_that("the table of modules is written, read and joined by names, or numbers", {
  for (named in c(TRUE, FALSE)) {
    x <- module_data()
    if (!named) colnames(x) <- NULL
    expect_table(gpuModules(x, power = 5, minModuleSize = 10), "modules", named)
  }
})

test_that("modules are refused whose matrices do not fit", {
  skip_without_packages()
  genes <- matrix(rnorm(12000), 4)
  with_values(list(free_memory = function(...) 4e7), {
    expect_error(gpuModules(genes, power = 6), "^gpuModules\\(\\) takes 54 MB, for 3,000 genes")
  })
})

test_that("modules bring their power and type to gpuPreservation(), and a warning without their covariates", {
  x <- module_data(40)
  y <- module_data(30)
  modules <- gpuModules(x, power = 8, type = "signed", minModuleSize = 10)
  found <- gpuPreservation(x, y, modules, n_perm = 0)
  expect_identical(c(found$power, found$type), c("8", "signed"))
  wanted <- gpuPreservation(x, y, modules$labels, n_perm = 0, power = 8, type = "signed")
  expect_equal(unname(found$observed), unname(wanted$observed))
  expect_gt(nrow(found$modules), 1)
  expect_true(all(found$modules$module %in% modules$colors))
  expect_identical(gpuPreservation(x, y, modules$labels, n_perm = 0, type = "signed")$power, 12)
  age <- list(rnorm(40), rnorm(30))
  modules <- gpuModules(x, power = 6, covariates = age[[1]], minModuleSize = 10)
  expect_warning(gpuPreservation(x, y, modules, n_perm = 0), "'modules' were made with covariates")
  expect_silent(gpuPreservation(x, y, modules, n_perm = 0, covariates = list(modules$covariates, age[[2]])))
})
