# predict() of modules: eigengenes and kME of new samples, beside prcomp() and lm().

# Samples of genes that follow one of three factors, and of genes that follow none.
samples_of_factors <- function(n_obs, seed = 1) {
  set.seed(seed)
  factors <- cbind(matrix(rnorm(n_obs * 3), n_obs), 0)
  x <- matrix(rnorm(n_obs * 150, 5), n_obs) + factors[, rep(1:4, c(50, 40, 30, 30))] * 2
  dimnames(x) <- list(paste0("s", seq_len(n_obs)), paste0("g", 1:150))
  x
}

old <- samples_of_factors(40)
new <- samples_of_factors(15, 2)

# The modules of `old`, made once.
modules <- local({
  made <- NULL
  function() {
    for (package in c("WGCNA", "fastcluster", "dynamicTreeCut")) skip_if_not_installed(package)
    if (is.null(made)) made <<- gpuModules(old, power = 6)
    made
  }
})

# The principal component of a module's genes in `old`, with length 1 and the sign of their mean, and what it says of
# rows of new data.
component_of <- function(module, data = new) {
  genes <- names(which(modules()$colors == module))
  fit <- prcomp(old[, genes], scale. = TRUE)
  size <- fit$sdev[1] * sqrt(nrow(old) - 1) * sign(sum(fit$x[, 1] * rowMeans(scale(old[, genes]))))
  list(genes = genes, fit = fit, size = size, values = predict(fit, data)[, 1] / size)
}

test_that("the samples of the modules have their own eigengenes and kME again", {
  m <- modules()
  expect_gt(max(m$labels), 2)
  expect_equal(predict(m, old), m$eigengenes)
  expect_equal(predict(m, old, type = "kME"), m$kME)
  expect_identical(predict(m), m$eigengenes)
  expect_identical(predict(m, type = "kME"), m$kME)
  batch <- factor(rep_len(1:3, 40))
  robust <- gpuModules(old, power = 6, method = "bicor", covariates = batch, options = list(maxPOutliers = 0.05))
  expect_equal(predict(robust, old, covariates = batch), robust$eigengenes)
  expect_equal(predict(robust, old, "kME", covariates = ~ batch), robust$kME)
  expect_warning(predict(robust, old), "made with covariates, and 'newdata' is not", class = "gpuCorUnadjusted")
  skip_unless_full()
  sets <- list(first = old, second = samples_of_factors(30, 3))
  several <- gpuModules(sets, power = 6, combine = "min")
  expect_equal(predict(several, old)$first, several$eigengenes$first)
  expect_equal(predict(several, sets$second)$second, several$eigengenes$second)
  expect_equal(predict(several, sets$second, "kME")$second, several$kME$second)
})

test_that("new samples have the values of prcomp()'s first component, and genes WGCNA's kME", {
  predicted <- predict(modules(), new)
  expect_named(predicted, names(modules()$eigengenes))
  for (name in names(predicted)) {
    expect_equal(predicted[[name]], unname(component_of(sub("^ME", "", name))$values))
  }
  own <- predicted[names(predicted) != "MEgrey"]
  expect_equal(unname(predict(modules(), new, "kME")), unname(as.matrix(WGCNA::signedKME(new, own))))
})

test_that("the order of genes, further genes, other samples and the class of the data do not matter", {
  m <- modules()
  all <- predict(m, new)
  kme <- predict(m, new, "kME")
  shuffled <- cbind(other = rnorm(15), new[, sample(150)])
  expect_equal(predict(m, shuffled), all)
  more <- predict(m, shuffled, "kME")
  expect_equal(more[colnames(new), ], kme)
  expect_equal(more["other", "MEblue"], cor(shuffled[, 1], all$MEblue))
  expect_equal(predict(m, new[7, , drop = FALSE]), all[7, ])
  expect_equal(predict(m, unname(new)), all, ignore_attr = "row.names")
  expect_equal(predict(m, as.data.frame(new)), all)
  counts <- round(pmax(new - 4, 0))
  expect_equal(predict(m, Matrix::Matrix(counts, sparse = TRUE)), predict(m, counts))
  cells <- rep(1:5, 3)
  bulk <- rowsum(counts, cells)
  expect_equal(predict(m, counts, pseudobulk = cells), predict(m, log2(1e6 * bulk / rowSums(bulk) + 1)))
  skip_if_not_installed("Biobase")
  expect_equal(predict(m, Biobase::ExpressionSet(t(new))), all)
})

test_that("without some genes or values an eigengene is the least squares fit of the others", {
  blue <- component_of("blue")
  gaps <- new
  gaps[4, blue$genes[c(1, 5:20)]] <- NA
  predicted <- predict(modules(), gaps)
  expect_equal(predicted[-4, ], predict(modules(), new)[-4, ])
  weight <- blue$fit$rotation[, 1] * blue$size
  z <- scale(new, colMeans(old), apply(old, 2, sd))
  by_lm <- function(row, genes) coef(lm(z[row, genes] ~ 0 + weight[genes]))[[1]]
  expect_equal(predicted$MEblue[4], by_lm(4, setdiff(blue$genes, blue$genes[c(1, 5:20)])))
  expect_warning(few <- predict(modules(), new[, -match(blue$genes[1:9], colnames(new))]), class = "gpuCorAbsentGenes",
                 paste("lacks 9 of the", sum(modules()$labels > 0), "genes in modules, such as", blue$genes[1]))
  expect_equal(few$MEblue, vapply(1:15, by_lm, 0, blue$genes[-(1:9)]))
  expect_equal(few$MEturquoise, predict(modules(), new)$MEturquoise)
  none <- suppressWarnings(predict(modules(), new[, setdiff(colnames(new), blue$genes)]))
  expect_true(all(is.na(none$MEblue)))
  expect_false(anyNA(none$MEturquoise))
})

test_that("data that have not the modules' genes are errors that say so", {
  m <- modules()
  expect_error(predict(m, unname(new[, -1])), "'newdata' has 149 columns without names, and 'object' 150 genes")
  expect_error(predict(m, cbind(new, g1 = 1)), "'newdata' has several columns g1; keep one of them")
  expect_error(predict(m, t(new)), "has none of the genes of 'object': its columns are such as \"s1\", and the genes")
  expect_error(predict(m, letters), "'newdata' must be", class = "gpucor_error")
  expect_error(predict(m, new, type = "pc"), "'type' must be one of \"eigengenes\", \"kME\", not \"pc\"")
  expect_error(predict(m, new, weights = 1), "unused argument 'weights'")
})
