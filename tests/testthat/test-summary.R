# summary(): sentences for a paper's methods, and numbers that agree with the result.

x <- as.matrix(mtcars)
net <- gpuCorNetwork(x, threshold = 0.8)

methods_of <- function(...) gsub("\n", " ", paste(utils::capture.output(print(summary(...))), collapse = " "))

test_that("a network's summary has its degrees, weights and hubs", {
  s <- summary(net)
  full <- as.matrix(net)
  degree <- rowSums(full != 0)
  expect_s3_class(s, "summary.gpuCorNetwork")
  expect_identical(s$edges, net@edges)
  expect_equal(s$density, net@edges / 55)
  expect_identical(s$isolated, sum(degree == 0))
  expect_equal(s$degree, quantile(degree))
  expect_equal(s$weight, quantile(full[upper.tri(full) & full != 0]))
  expect_equal(s$positive, mean(full[full != 0] > 0))
  expect_identical(s$hubs$variable[1], "cyl")
  expect_equal(s$hubs$degree, unname(degree[s$hubs$variable]))
  expect_equal(s$hubs$strength, unname(rowSums(abs(full))[s$hubs$variable]))
  text <- methods_of(net)
  expect_match(text, "Pearson's correlation was computed with gpucor .* for 55 pairs of 11 variables from 32 observ")
  expect_match(text, "7 pairs (12.7 %) are edges of the network: those with |r| >= 0.8", fixed = TRUE)
  expect_false(grepl("Length|Class", text))
  expect_identical(nrow(summary(net, n = 0)$hubs), 0L)
})

test_that("every way to choose edges, and a network without any, has its sentence", {
  says <- function(text, ...) expect_match(summary(gpuCorNetwork(x, ...))$methods, text, fixed = TRUE)
  says("the strongest 10 % of the pairs, those with |r| >=", density = 0.1)
  says("its 2 strongest neighbours by -r", k = 2, sign = "negative")
  says("those with p <= 0.01 (|r| >=", p.value = 0.01)
  says("at a false discovery rate of 0.01", fdr = 0.01)
  expect_match(summary(gpuCorNetwork(x[, 1:4], x[, 5:11], threshold = 0.5))$methods, "4 variables with 7 others")
  none <- summary(gpuCorNetwork(x, threshold = 1))
  expect_identical(c(none$isolated, nrow(none$hubs)), c(11L, 0L))
  expect_match(methods_of(gpuCorNetwork(x, threshold = 1)), "0 pairs \\(0 %\\) are edges")
  one <- summary(gpuCorNetwork(x, threshold = 0.9))$methods
  expect_match(one, "1 pair (1.82 %) is an edge", fixed = TRUE)
})

test_that("Matrix, when it is attached, does not take the summary away", {
  expect_s3_class(Matrix::summary(net), "summary.gpuCorNetwork")
  expect_s3_class(Matrix::summary(gpuCorNetwork(x[, 1:4], x[, 5:11], threshold = 0.5)), "summary.gpuCorNetwork")
})

test_that("connectivity and powers are summed up", {
  con <- gpuConnectivity(x, threshold = c(0.5, 0.8), power = c(2, 6), maps = "mean")
  s <- summary(con)
  expect_identical(colnames(s$quantiles), names(as.data.frame(con)))
  expect_identical(rownames(s$fit), c("power2", "power6"))
  expect_match(s$methods, "7 pairs with |r| >= 0.8 (median degree 1, highest 4)", fixed = TRUE)
  expect_match(s$methods, "raised to power 2 (scale-free fit R^2", fixed = TRUE)
  expect_equal(s$hubs$power2, unname(sort(con$soft[, 1], decreasing = TRUE)[1:6]))
  fit <- suppressWarnings(pickPower(x, 1:8))
  expect_equal(s$fit["power2", "r_squared"], gpucor:::fit_scale_free(con$soft[, 1], 10)[[1]])
  expect_match(summary(fit)$methods, if (is.na(fit$powerEstimate)) "none had" else "was the lowest")
  expect_identical(as.data.frame(fit), fit$fitIndices)
})

test_that("tests and comparisons count what is significant", {
  test <- gpuCorTest(x)
  s <- summary(test, level = 0.01)
  p <- as.vector(test$p.value)
  truth <- c(p.value = sum(p <= 0.01), bonferroni = sum(p.adjust(p, "bonferroni") <= 0.01),
             fdr = sum(p.adjust(p, "BH") <= 0.01))
  expect_equal(s$significant, truth)
  frame <- as.data.frame(test)
  expect_equal(s$strongest, frame[order(frame$p.value), ][1:6, ], ignore_attr = TRUE)
  expect_equal(summary(gpuCorTest(x, log.p = TRUE), level = 0.01)$significant, truth)
  expect_match(s$methods, "Student's t (two-sided; 32 observations) for 55 pairs. Of these, ", fixed = TRUE)
  against <- gpuCorTest(x[, 1:3], x[, 4:6], method = "kendall", adjust = "maxT", n_perm = 19)
  expect_identical(names(summary(against)$significant), c("p.value", "bonferroni", "fdr", "permutation"))
  expect_equal(summary(against)$strongest$p.value, sort(as.vector(against$p.value))[1:6])
  with_constant <- suppressWarnings(gpuCorTest(cbind(x, constant = 1)))
  expect_identical(summary(with_constant)$missing, 11L)
  compared <- gpuCorCompare(x[x[, "am"] == 0, 1:6], x[x[, "am"] == 1, 1:6])
  expect_equal(summary(compared)$significant[["fdr"]], sum(compared$fdr <= 0.05))
  expect_match(summary(compared)$methods, "19 observations against 13 observations")
  expect_error(summary(test, level = 2), "'level' must be a number")
})

test_that("coefficients have a sentence of their own", {
  expect_match(methods_of(gpuCor(x, method = "kendall")), "Kendall's tau-b was computed with gpucor .* from 32 observ")
})

test_that("topological overlap and associations are summed up as what they are", {
  tom <- gpuTOM(x, power = 3, type = "signed")
  s <- summary(tom)
  expect_equal(s$mean, mean(c(tom)))
  expect_equal(s$strongest$overlap, sort(c(tom), decreasing = TRUE)[1:6])
  text <- methods_of(tom)
  expect_match(text, "^Topological overlap by Pearson's correlation of 11 variables: 55 pairs, 32 observations")
  expect_match(text, "in the signed network of Pearson's correlation raised to the power 3 (TOMType \"unsigned\",",
               fixed = TRUE)
  sets <- gpuTOM(list(x[1:16, ], x[17:32, ]), power = 2:3, combine = "mean", calibration = "single quantile")
  expect_match(summary(sets)$methods, "raised to the powers 2, 3 .* combined by the mean, after .* to the powers 1, ")
  sets <- gpuTOM(list(x[1:16, ], x[17:32, ]), power = 2, combine = "quantile", probs = 0.3)
  expect_match(summary(sets)$methods, "to the power 2 .* combined by the 0.3 quantile.\\.$")
  strong <- gpuTOM(x, power = 3, output = "network", threshold = 0.5)
  expect_output(print(strong), "in the place of r: power 3, unsigned; TOMType.*threshold = 0.5: overlap >= 0.5")
  expect_match(summary(strong)$methods, "^Topological overlap was computed with .* raised to the power 3 .*overlap >= ")
  found <- gpuAssociation(x[, 2:11], x[, 1], output = "matrix")
  s <- summary(found, level = 0.01)
  expect_equal(s$significant[["bonferroni"]], sum(p.adjust(found$p.value, "bonferroni") <= 0.01))
  columns <- c("from", "r", "p.value", "fdr")
  expect_equal(s$strongest[columns], as.data.frame(found)[1:6, columns], ignore_attr = TRUE)
  expect_match(s$methods, "of 10 variables with 1 trait was tested with .* Student's t .two-sided; 30 degrees of free")
})

test_that("one of a thing is called one", {
  shown <- function(x) paste(utils::capture.output(print(x)), collapse = "\n")
  expect_match(shown(gpuTOM(x[, 1:2])), "of 2 variables: 1 pair\n", fixed = TRUE)
  two <- gpuCorCompare(x[1:16, 1:2], x[17:32, 1:2])
  expect_match(shown(two), "; 1 pair, smallest p:", fixed = TRUE)
  expect_match(summary(gpuCorNetwork(x, k = 1))$methods, "of each variable its strongest neighbour by [|]r[|][.]")
  against <- gpuCorNetwork(x[, 1, drop = FALSE], x[, 2, drop = FALSE], threshold = 0)
  expect_match(summary(against)$methods, "of 1 variable with 1 other from", fixed = TRUE)
  one_power <- suppressWarnings(pickPower(x, 6))
  expect_match(summary(one_power)$methods, "The only power tried, 6, (had|did not have) a scale")
  found <- gpuAssociation(x[, 1, drop = FALSE], x[, 2], output = "matrix")
  expect_match(shown(found), "of 1 variable and 1 trait, 1 test; smallest p:", fixed = TRUE)
  of_networks <- gpuCorWindows(x[, 1:2], 30, step = 5, keep = "network", threshold = 0)
  expect_match(shown(of_networks), "networks of 1 edge;", fixed = TRUE)
  expect_match(shown(gpuCorWindows(x[, 1:2], 30, keep = "moments")), "$max of 1 pair\n", fixed = TRUE)
  expect_match(shown(gpuInfo()), "CPU:  ([0-9]+ threads|1 thread), ")
  expect_error(gpuAssociation(x, x[1, , drop = FALSE]), "'traits' has 1 row, and 'x' has 32 observations")
})

test_that("windows and voxels' series have sentences, and no quantiles of each voxel", {
  says <- function(text, ...) expect_match(attr(summary(gpuCorWindows(x, 12, step = 10, ...)), "methods"), text)
  says("of 11 variables .* in 3 windows of 12 observations, 10 observations apart. Each .* of each of 55 pairs.$",
       use = "pairwise")
  says("with the weights of a tukey taper.*are the strongest 10 % by \\|r\\|.$", taper = "tukey", keep = "network",
       density = 0.1)
  says("are of each variable its strongest neighbour by -r.$", keep = "network", k = 1, sign = "negative")
  says("count its edges, [0-9]+ to [0-9]+ of 55 pairs, those of a weight of at least 0.5.$", keep = "connectivity",
       threshold = 0.5)
  says("that of the 5 most variable pairs kept", keep = "moments", density = 5 / 55)
  says("the maximum over the windows were taken", keep = "moments")
  w <- gpuCorWindows(x, 12, step = 10, keep = "connectivity", threshold = 0.5)
  expect_output(print(summary(w)), "^Pearson.*start end centre edges")
  expect_output(print(head(summary(w), 1)), "start end centre edges")
  img <- array(normal(16, 20), c(4, 4, 1, 20))
  img[1, 1, 1, 3] <- NA
  voxels <- voxelMatrix(img)
  s <- summary(voxels)
  expect_output(print(s), "^20 time points of 16 of 16 voxels \\(4 x 4 x 1\\)\nvalues from .*, 1 missing$")
  expect_identical(s$range, range(img, na.rm = TRUE))
  expect_equal(s$mean, mean(img, na.rm = TRUE))
  expect_s3_class(summary(t(voxels)), "table")
})

test_that("head() and tail() of tests are rows of their data frame", {
  for (test in list(gpuCorTest(x), gpuCorTest(x[, 1:2], x[, 3:5], use = "pairwise"), gpuCorTest(unname(x)),
                    gpuCorCompare(x[1:16, 1:4], x[17:32, 1:4]))) {
    frame <- as.data.frame(test)
    expect_equal(head(test, 3), head(frame, 3), ignore_attr = TRUE)
    expect_equal(tail(test, 2), tail(frame, 2), ignore_attr = TRUE)
    expect_identical(nrow(head(test, -2)), nrow(frame) - 2L)
    expect_identical(names(head(test)), names(frame))
  }
  found <- gpuAssociation(x[, 2:11], x[, 1], output = "matrix")
  expect_identical(head(found, 3), head(as.data.frame(found), 3))
})
