# Networks of single samples, by their definition with cor().

sample_data <- function(n_obs = 30, n_var = 40, seed = 1) {
  set.seed(seed)
  x <- matrix(rnorm(n_obs * 3), n_obs) %*% matrix(rnorm(3 * n_var), 3) + 2 * matrix(rnorm(n_obs * n_var), n_obs)
  rownames(x) <- paste0("s", seq_len(n_obs))
  x
}

# n (r - s) + s, where s is without sample i.
lioness_by_cor <- function(x, i, y = x[, 0], method = "pearson", r = cor) {
  n <- nrow(x)
  all <- if (ncol(y)) r(y, x, method = method) else r(x, method = method)
  others <- if (ncol(y)) r(y[-i, ], x[-i, ], method = method) else r(x[-i, ], method = method)
  n * (all - others) + others
}

test_that("coefficients are those of the definition, for every sample and method", {
  x <- sample_data()
  x[, 3] <- round(x[, 3]) # ties
  for (method in c("pearson", "spearman", "kendall")) {
    for (i in c(1, 17, 30)) {
      net <- gpuCorNetwork(x, threshold = 0, lioness = i, method = method)
      expect_equal(unname(as.matrix(net)), `diag<-`(lioness_by_cor(x, i, method = method), 0), tolerance = 1e-12)
    }
  }
  expect_gt(max(abs(net@x)), 1)
  named <- gpuCorNetwork(x, density = 0.1, lioness = "s17")
  expect_identical(as.data.frame(named), as.data.frame(gpuCorNetwork(x, density = 0.1, lioness = 17)))
})

test_that("threshold, density and k select by a sample's coefficients", {
  x <- sample_data()
  r <- lioness_by_cor(x, 4)
  weights <- abs(r[upper.tri(r)])
  several <- gpuCorNetwork(x, threshold = c(0.9, 1.7), lioness = 4)
  for (v in 1:2) {
    net <- several[[v]]
    expect_identical(c(net@edges, net@threshold, net@value), c(sum(weights >= net@value), net@value, net@value))
  }
  expect_identical(as.numeric(names(several)), c(0.9, 1.7))
  net <- gpuCorNetwork(x, density = 0.05, lioness = 4)
  expect_equal(sort(abs(net@x)), sort(weights)[length(weights) - 38:0], tolerance = 1e-12)
  expect_equal(net@threshold, min(abs(net@x)))
  expect_identical(net@n_obs, 30)
  strongest <- apply(abs(`diag<-`(r, 0)), 2, which.max)
  net <- gpuCorNetwork(x, k = 1, lioness = 4)
  expect_true(all(as.matrix(net)[cbind(strongest, 1:40)] != 0))
  expect_identical(sum(as.matrix(net) != 0), nrow(unique(rbind(cbind(strongest, 1:40), cbind(1:40, strongest)))))
  expect_true(all(gpuCorNetwork(x, threshold = 0.5, sign = "negative", lioness = 4)@x <= -0.5))
})

test_that("single-sample networks of x and y, with covariates, and without incomplete samples", {
  x <- sample_data()
  net <- gpuCorNetwork(x[, 1:10], x[, 11:40], threshold = 0, lioness = 2)
  expect_equal(unname(as.matrix(net)), t(lioness_by_cor(x[, 1:10], 2, x[, 11:40])), tolerance = 1e-12)
  age <- rnorm(30)
  adjusted <- function(x, method) cor(residuals(lm(x ~ age[match(rownames(x), rownames(sample_data()))])))
  net <- gpuCorNetwork(x, threshold = 0, lioness = 2, covariates = age)
  expect_equal(unname(as.matrix(net)), `diag<-`(lioness_by_cor(x, 2, r = adjusted), 0), tolerance = 1e-11)
  expect_output(print(net), "adjusted for 1 covariate, network of sample 2 (LIONESS)", fixed = TRUE)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(plot(net, "weight"))
  y <- x
  y[5, 1] <- NA
  net <- gpuCorNetwork(y, density = 0.1, use = "complete.obs", lioness = "s9")
  expect_identical(net@x, gpuCorNetwork(x[-5, ], density = 0.1, lioness = "s9")@x)
  expect_error(gpuCorNetwork(y, k = 1, use = "complete.obs", lioness = 5),
               "a sample that counts, not 5, which has missing")
})

# The matrix of several samples has the values of all samples' networks for the edges of one.
expect_values <- function(values, x, samples, r_of, y = x) {
  edges <- attr(values, "edges")
  at <- cbind(match(edges$from, colnames(x)), match(edges$to, colnames(y)))
  names <- unlist(list(rownames(x)))[samples]
  expect_identical(dimnames(values), list(paste(edges$from, edges$to, sep = "~"), names))
  all <- r_of(seq_len(nrow(x)))[at]
  truth <- vapply(samples, function(s) nrow(x) * all - (nrow(x) - 1) * r_of(-s)[at], all)
  expect_equal(unname(values), truth, tolerance = 1e-10, ignore_attr = TRUE)
}

test_that("several samples are a matrix of the edges of one network, whatever the measure", {
  x <- sample_data()
  colnames(x) <- paste0("g", 1:40)
  for (method in c("pearson", "spearman", "kendall", "bicor", "cosine")) {
    net <- gpuCorNetwork(x, density = 0.1, method = method, precision = "double")
    values <- gpuCorNetwork(x, density = 0.1, method = method, lioness = c(2, 30, 17))
    expect_equal(attr(values, "edges"), as.data.frame(net), tolerance = 1e-12)
    for (k in 1:3) {
      own <- gpuCorNetwork(x, threshold = 0, method = method, lioness = c(2, 30, 17)[k])
      edges <- attr(values, "edges")
      expect_equal(unname(values[, k]), as.matrix(own)[cbind(edges$from, edges$to)], tolerance = 1e-11)
    }
  }
  expect_values(gpuCorNetwork(x, fdr = 0.05, lioness = rownames(x)), x, 1:30, function(rows) cor(x[rows, ]))
  expect_values(gpuCorNetwork(x[, 1:9], x[, 10:40], k = 2, lioness = 3:1), x[, 1:9], 3:1, y = x[, 10:40],
                r_of = function(rows) cor(x[rows, 1:9], x[rows, 10:40]))
  several <- gpuCorNetwork(x, threshold = c(0.4, 0.5), lioness = 1:2)
  expect_identical(names(several), c("0.4", "0.5"))
  expect_identical(several[[2]][, ], several[[1]][rownames(several[[2]]), ])
  none <- gpuCorNetwork(unname(x), threshold = 1, lioness = 1:2)
  expect_identical(dim(none), c(0L, 2L))
})

test_that("several samples have the values of adjusted and incomplete data, and of outliers", {
  x <- sample_data()
  colnames(x) <- paste0("g", 1:40)
  age <- rnorm(30)
  batch <- factor(c("only one", rep(1:2, 15)[-30])) # the first sample has a level, and a leverage of 1, of its own
  adjusted <- function(rows) cor(residuals(lm(x[rows, ] ~ age[rows] + droplevels(batch[rows]))))
  expect_values(gpuCorNetwork(x, density = 0.2, lioness = 1:4, covariates = ~ age + batch), x, 1:4, adjusted)
  many <- matrix(rnorm(30 * 20), 30) # the basis is that of the residuals
  expect_values(suppressWarnings(gpuCorNetwork(x, density = 0.2, lioness = 1:3, covariates = many)), x, 1:3,
                function(rows) cor(residuals(lm(x[rows, ] ~ many[rows, ]))))
  outliers <- x
  outliers[5, 1:10] <- 1e6
  expect_values(gpuCorNetwork(outliers, density = 0.2, lioness = 4:6), outliers, 4:6,
                function(rows) cor(outliers[rows, ]))
  holes <- x
  holes[9, 3] <- NA
  values <- gpuCorNetwork(holes, density = 0.2, lioness = 28:30, use = "complete.obs")
  expect_identical(unname(values[, ]), unname(gpuCorNetwork(x[-9, ], density = 0.2, lioness = 27:29)[, ]))
  expect_error(gpuCorNetwork(holes, density = 0.2, lioness = 8:10, use = "complete.obs"), "that counts, not 9")
  alone <- x
  alone[, 1:2] <- 0
  alone[7, 1:2] <- 1 # without it both are constant
  expect_warning(values <- gpuCorNetwork(alone, density = 0.01, lioness = 6:7), "standard deviation is zero")
  expect_identical(is.na(values["g1~g2", ]), c(s6 = FALSE, s7 = TRUE))
})

test_that("names of many edges are joined when they are read", {
  x <- sample_data(20, 160)
  colnames(x) <- sprintf("gene %d \u00e9", 1:160)
  values <- gpuCorNetwork(x, threshold = 0, lioness = 2:3)
  edges <- attr(values, "edges")
  names <- paste(edges$from, edges$to, sep = "~")
  expect_gte(length(names), 10000)
  expect_identical(unserialize(serialize(values, NULL)), values)
  expect_identical(rownames(values[5:7, ]), names[5:7])
  expect_identical(rownames(values), names)
  changed <- rownames(values)
  changed[2] <- "a"
  expect_identical(rownames(values)[1:3], names[1:3])
  expect_identical(changed[1:3], replace(names[1:3], 2, "a"))
  expect_equal(values[names[9], "s3"], gpuCorNetwork(x, threshold = 0, lioness = 3)[edges$from[9], edges$to[9]])
})

test_that("the bytes do not depend on threads or memory", {
  x <- sample_data(12, 2500)
  slots <- function(...) slots_of(gpuCorNetwork(x, density = 0.0005, lioness = 3, ...))
  expect_identical(slots(threads = 1), slots(threads = 2, memory = 2^20))
})

test_that("what is no single-sample network is an error", {
  x <- sample_data()
  expect_error(gpuCorNetwork(x, k = 1, lioness = "s31"), "the number or the name of a row of 'x', not \"s31\"")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 31), "'lioness' must be a whole number between 1 and 30")
  expect_error(gpuCorNetwork(x, fdr = 0.1, lioness = 1), "'lioness' of one sample has no p values")
  expect_error(gpuCorNetwork(x, threshold = -1, lioness = 1), "'threshold' must be numbers of at least 0")
  expect_error(gpuCorNetwork(x, threshold = 1, k = 1, lioness = 1), "give only one of")
  expect_error(gpuCorNetwork(x, k = 1, lioness = c(1, 31)), "whole number between 1 and 30, not 31")
  expect_error(gpuCorNetwork(x, k = 1, lioness = character()), "of a row of 'x', or several")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 1:2, file = "a"), "several samples makes a matrix of their values")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 1:2, output = "edges"), "leave output = \"edges\" out")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 1, use = "pairwise"), "the same samples for all pairs")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 1, weights = 1:30), "'weights' must be 0 or 1")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 1, resample = 5), "'lioness' is without 'resample'")
  expect_error(gpuCorNetwork(x, k = 1, lioness = 1, normalize = "clr"), "'lioness' is without 'normalize'")
  expect_error(gpuCorNetwork(list(x, x), k = 1, lioness = 1, combine = "mean"), "'lioness' is for one data set")
  expect_error(gpuPrune(gpuCorNetwork(x, k = 3, lioness = 1)), "entries from -1 to 1")
})

test_that("the axis of weights does not call them correlations", {
  x <- sample_data()
  drawn <- texts_of(plot(gpuCorNetwork(x, threshold = 1, lioness = 3), "weight"))
  expect_true("weight of a sample (LIONESS), Pearson's correlation" %in% drawn)
  expect_false("Pearson's correlation" %in% drawn)
})
