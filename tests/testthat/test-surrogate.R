# Surrogates of series: what stays of each column, what goes, and p values by them.

surrogate_of <- function(...) gpucor:::surrogate_of(...)
phase <- list(how = "phase")
autoregressive <- function(n, p, phi = 0.9) {
  as.matrix(stats::filter(matrix(rnorm((n + 50) * p), n + 50), phi, "recursive"))[-(1:50), , drop = FALSE]
}
periodogram <- function(m) Mod(mvfft(m))
cross <- function(m) {
  f <- mvfft(m)
  f * Conj(f[, 1])
}

test_that("phase surrogates keep each column's periodogram and mean", {
  set.seed(1)
  for (n in c(1, 2, 3, 4, 50, 51)) for (p in c(0, 1, 5)) for (together in c(FALSE, TRUE)) {
    m <- matrix(rnorm(n * p), n) + 7
    made <- surrogate_of(m, phase, together)
    expect_identical(dim(made), dim(m))
    expect_equal(periodogram(made), periodogram(m), tolerance = 1e-10)
    if (p > 0 && n > 4) expect_gt(min(colSums((made - m)^2)), 0)
    if (together && p > 0) expect_equal(cross(made), cross(m), tolerance = 1e-10)
    if (!together && p > 1 && n > 4) expect_gt(max(Mod(cross(made) - cross(m))), 1)
  }
})

test_that("block surrogates are blocks of the column, which may begin anywhere", {
  set.seed(2)
  for (n in c(1, 7, 20)) for (block in c(1, 3, 5, 20, 50)) for (together in c(FALSE, TRUE)) {
    m <- matrix(seq_len(4 * n) + 0, n)
    made <- surrogate_of(m, list(how = "block", block = block), together)
    expect_identical(apply(made, 2, sort), apply(m, 2, sort))
    steps <- apply(made, 2, function(v) sum(diff(v) %% n != 1 %% n)) # seams between blocks that were apart
    expect_lte(max(steps), ceiling(n / block) - 1)
    if (together) expect_identical(made - made[, 1], m - m[, 1])
  }
  set.seed(3)
  starts <- replicate(200, surrogate_of(matrix(1:7 + 0), list(how = "block", block = 50), FALSE)[1])
  expect_setequal(starts, 1:7)
  m <- matrix(1:40 + 0, 20)
  made <- surrogate_of(m, list(how = "block", block = 4), FALSE)
  expect_false(identical(made[, 1] + 20, made[, 2]))
})

test_that("surrogates do not depend on how many columns a block of work has, but for their random numbers", {
  m <- matrix(rnorm(60), 10)
  made <- function(values, rule, together) {
    set.seed(4)
    with_values(list(BLOCK_VALUES = values), surrogate_of(m, rule, together))
  }
  for (rule in list(phase, list(how = "block", block = 3))) for (together in c(TRUE, FALSE)) {
    expect_equal(made(20, rule, together), made(2^22, rule, together), tolerance = 1e-12)
  }
})

test_that("p values are those of the largest coefficients of surrogates", {
  set.seed(5)
  m <- autoregressive(41, 9, 0.5)
  m[, 2] <- m[, 2] + 2 * m[, 1]
  z <- cbind(seq_len(41), rnorm(41))
  share <- function(r, maxima) vapply(as.vector(r), function(v) (1 + sum(maxima >= v - 1e-9)) / 31, 0)
  as_compared <- function(m, method, z) {
    if (method == "spearman") m <- apply(m, 2, rank)
    if (is.null(z)) m else residuals(lm(m ~ z))
  }
  for (method in c("pearson", "spearman")) for (rule in list(phase, list(how = "block", block = 6))) {
    for (own in if (method == "pearson") list(NULL, z) else list(NULL)) {
      test <- function(...) {
        set.seed(6)
        gpuCorTest(..., method = method, adjust = "maxT", n_perm = 30, surrogate = rule$how, block = rule$block,
                   covariates = own, precision = "double")
      }
      x <- as_compared(m, method, own)
      set.seed(6)
      maxima <- replicate(30, max(abs(cor(as_compared(surrogate_of(x, rule, FALSE), method, own))[lower.tri(diag(9))])))
      found <- test(m)
      expect_equal(as.vector(found$p.adjusted), share(abs(found$r), maxima))
      expect_lt(min(found$p.adjusted), 1)
      set.seed(6)
      maxima <- replicate(30, max(abs(cor(x[, 1:4], as_compared(surrogate_of(x[, 5:9], rule, TRUE), method, own)))))
      against <- test(m[, 1:4], m[, 5:9])
      expect_equal(as.vector(against$p.adjusted), share(abs(against$r), maxima))
      expect_identical(test(m), found)
    }
  }
})

test_that("the sign, data that are not in memory, and all measures are taken", {
  set.seed(7)
  m <- autoregressive(40, 5, 0.3)
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.vector(m), file, endian = "little")
  test <- function(x, ...) {
    set.seed(8)
    gpuCorTest(x, adjust = "maxT", n_perm = 20, surrogate = "phase", ...)$p.adjusted
  }
  expect_equal(as.vector(test(gpuCorFile(file, dim(m)))), as.vector(test(m)))
  sparse <- Matrix::Matrix(replace(m, abs(m) < 1, 0), sparse = TRUE)
  quiet <- function(code) as.vector(suppressWarnings(suppressMessages(code))) # heavy tails
  expect_equal(quiet(test(sparse)), quiet(test(as.matrix(sparse))))
  constant <- suppressWarnings(test(cbind(m, 3)))
  expect_identical(as.vector(constant)[c(5, 9, 12, 14, 15)], rep(NA_real_, 5))
  for (method in all_methods) {
    less <- test(m, method = method, alternative = "less")
    expect_true(all(less >= 1 / 21 & less <= 1))
    expect_equal(test(m, method = method, alternative = "less", log.p = TRUE), log(less))
  }
  expect_length(test(m, df = "bartlett"), 10)
  expect_length(test(m, bandpass = c(0.01, 0.25), tr = 2), 10)
})

test_that("independent series keep the level that permuted rows exceed", {
  skip_unless_full()
  rejects <- function(seed, ...) {
    set.seed(seed)
    x <- autoregressive(100, 8) # warned of
    min(suppressWarnings(gpuCorTest(x, adjust = "maxT", n_perm = 39, ...))$p.adjusted) <= 0.05
  }
  count <- function(seeds, ...) sum(vapply(seeds, rejects, NA, ...))
  expect_gte(count(1:20), 15)
  expect_lte(count(1:60, surrogate = "phase"), qbinom(0.999, 60, 0.06))
  expect_lte(count(1:60, surrogate = "block"), qbinom(0.999, 60, 0.08))
})

test_that("a pair of series that are correlated is found", {
  set.seed(9)
  x <- autoregressive(200, 8, 0.6)
  x[, 2] <- x[, 1] + x[, 2]
  for (surrogate in c("phase", "block")) {
    found <- gpuCorTest(x, adjust = "maxT", n_perm = 99, surrogate = surrogate)$p.adjusted
    expect_equal(found[1], 0.01)
    expect_gt(min(found[-1]), 0.05)
  }
})

test_that("phase surrogates of data with heavy tails are warned of, unless it is their ranks that are compared", {
  set.seed(10)
  x <- autoregressive(100, 6, 0.6)
  test <- function(x, ...) gpuCorTest(x, adjust = "maxT", n_perm = 3, ...)
  heavy <- exp(x)
  expect_warning(test(heavy, surrogate = "phase"), "median kurtosis of the columns is .* surrogate = \"block\"")
  expect_warning(test(heavy[, 1:3], 1e200 * heavy[, 4:6], surrogate = "phase"), "median kurtosis")
  expect_silent(test(x, surrogate = "phase"))
  expect_silent(test(heavy, surrogate = "phase", method = "spearman"))
  expect_silent(test(heavy, surrogate = "block"))
})

for (backend in backends()) for (resource in resources_of(backend)) {
  test_that(paste(backend, "finds the largest coefficients cleanly wherever the", resource, "fails"), {
    set.seed(11)
    x <- autoregressive(40, 70, 0)
    for (columns in list(NULL, 66:70)) walk_failures(function() {
      set.seed(12)
      gpuCorTest(x, if (!is.null(columns)) x[, columns], adjust = "maxT", n_perm = 2, surrogate = "phase",
                 backend = backend)$p.adjusted
    }, resource, backend)
  })
}

test_that("errors say what to do", {
  x <- matrix(rnorm(60), 20)
  expect_error(gpuCorTest(x, surrogate = "phase"), "is for adjust = \"maxT\"", fixed = TRUE)
  expect_error(gpuCorTest(x, adjust = "maxT", surrogate = "fourier"), "must be one of \"permutation\"")
  expect_error(gpuCorTest(x, adjust = "maxT", surrogate = "phase", block = 3), "'block' needs surrogate")
  expect_error(gpuCorTest(x, adjust = "maxT", surrogate = "block", block = 0), "'block' must be a whole number")
  expect_error(gpuCorTest(x, adjust = "maxT", surrogate = "phase", weights = rep(0:1, 10)), "10 observations of 20")
  x[3, 1] <- NA
  expect_error(gpuCorTest(x, adjust = "maxT", surrogate = "block", use = "complete"), "series without gaps")
  expect_error(gpuCorTest(x, adjust = "maxT", surrogate = "phase", use = "pairwise"), "complete.obs")
  expect_error(gpuCorTest(x, adjust = "maxT", bandpass = c(0, 0.2), tr = 2), "use surrogate = \"phase\"", fixed = TRUE)
})

# ---- networks and associations

adjusted <- function(f, ...) {
  set.seed(8)
  f(..., adjust = "maxT", n_perm = 39)
}

test_that("a network has the pairs with small adjusted p values of gpuCorTest()", {
  m <- apply(matrix(rnorm(100 * 12), 100), 2, filter, 0.5, "recursive")
  m[, 2] <- m[, 1] + rnorm(100, sd = 0.3)
  m[, 4] <- rnorm(100, sd = 0.3) - m[, 3]
  for (given in list(list(), list(surrogate = "phase"), list(surrogate = "block", block = 25),
                     list(method = "spearman"), list(method = "mi"))) {
    for (y in list(NULL, m[, c(2, 4, 7)])) {
      test <- as.data.frame(do.call(adjusted, c(list(gpuCorTest, m, y), given)))
      net <- do.call(adjusted, c(list(gpuCorNetwork, m, y, p.value = 0.3), given))
      edges <- as.data.frame(net)
      expected <- test[test$p.adjusted <= 0.3, ]
      expected <- expected[order(-abs(expected$r)), ]
      expect_equal(edges[c("from", "to", "p.adjusted")], expected[c("from", "to", "p.adjusted")], ignore_attr = TRUE)
      expect_equal(edges$r, expected$r, tolerance = 1e-6)
      expect_gt(nrow(edges), 1)
      expect_output(print(net), paste("p values adjusted by 39", c(given$surrogate, "permutation")[1]))
    }
  }
  for (sign in c("positive", "negative")) {
    expect_identical(nrow(adjusted(gpuCorNetwork, m, p.value = 0.05, sign = sign, output = "edges")), 1L)
  }
})

test_that("a mask has maxima of its own pairs, and a network may have no edge", {
  m <- matrix(rnorm(30 * 40), 30)
  m[, 21:40] <- m[, 1:20] + rnorm(600, sd = 0.2)
  half <- rep(1:2, each = 20)
  net <- adjusted(gpuCorNetwork, m, p.value = 0.1, pairs = pairMask(half, same = TRUE))
  expect_gt(adjusted(gpuCorNetwork, m, p.value = 0.1)@threshold, net@threshold)
  on_cpu <- adjusted(gpuCorNetwork, m, p.value = 0.1, pairs = pairMask(half, same = TRUE), backend = "cpu")
  expect_identical(on_cpu@threshold, net@threshold)
  independent <- matrix(rnorm(30 * 5), 30)
  none <- adjusted(gpuCorNetwork, independent, p.value = 1 / 40)
  test <- adjusted(gpuCorTest, independent)$p.adjusted
  expect_identical(none@edges, as.numeric(sum(test <= 1 / 40)))
  expect_identical(nrow(as.data.frame(none)), sum(test <= 1 / 40))
})

test_that("associations have the adjusted p values of gpuCorTest()", {
  m <- matrix(rnorm(40 * 8), 40)
  traits <- cbind(a = m[, 1] + rnorm(40, sd = 0.5), b = rnorm(40))
  for (surrogate in c("permutation", "phase")) {
    test <- adjusted(gpuCorTest, m, traits, surrogate = surrogate, precision = "double")
    found <- adjusted(gpuAssociation, m, traits, surrogate = surrogate, output = "matrix")
    expect_identical(found$p.adjusted, test$p.adjusted)
    all <- adjusted(gpuAssociation, m, traits, surrogate = surrogate)
    expect_identical(all$p.adjusted, found$p.adjusted[cbind(all$from, match(all$to, c("a", "b")))])
    some <- adjusted(gpuAssociation, m, traits, surrogate = surrogate, p.value = 0.1)
    expect_identical(some$from, all$from[all$p.adjusted <= 0.1])
    expect_identical(attr(some, "tests"), 16L)
  }
  expect_false(is.null(adjusted(gpuAssociation, m, traits, method = "mi")$p.adjusted))
})

test_that("adjustment that a network or an association does not have is an error", {
  m <- matrix(rnorm(200), 20)
  expect_error(gpuCorNetwork(m, density = 0.1, adjust = "maxT"), "is for 'p.value', not for 'density'")
  expect_error(gpuCorNetwork(m, p.value = 0.01, adjust = "maxT", n_perm = 9),
               "'n_perm' must be at least 99 for p.value = 0.01, not 9")
  expect_error(gpuCorNetwork(m, p.value = 0.1, n_perm = 9), "'n_perm' is for adjust")
  expect_error(gpuCorNetwork(m, p.value = 0.1, surrogate = "phase"), "is for adjust")
  expect_error(gpuCorNetwork(m, p.value = 0.1, adjust = "maxT", shards = 2), "'shards'")
  expect_error(gpuCorNetwork(list(m, m), p.value = 0.1, adjust = "maxT", combine = "fisher"), "one data set")
  expect_error(gpuCorNetwork(m, p.value = 0.1, adjust = "maxT", min_obs = 4), "'min_obs'")
  expect_error(gpuCorNetwork(replace(m, 3, NA), p.value = 0.1, adjust = "maxT", use = "pairwise"), "complete.obs")
  expect_error(gpuAssociation(m, 1:20, fdr = 0.1, adjust = "maxT"), "not for 'fdr'")
  path <- tempfile("plan")
  expect_error(gpuCorPlan(path, m, p.value = 0.1, adjust = "maxT", shards = 2), "cannot be in a plan")
  unlink(path, recursive = TRUE)
})

test_that("rates are mean numbers of pairs of permutations, the data among them, over those of the data", {
  set.seed(12)
  x <- matrix(rnorm(1200), 40)
  x[, 1:6] <- x[, 1:6] + 2 * rnorm(40)
  set.seed(5)
  seed <- floor(runif(2) * 2^32)
  below <- function(m) abs(cor(m))[lower.tri(diag(30))]
  null <- unlist(lapply(0:29, function(number) below(.Call(gpucor:::r_permute, x, seed, number, FALSE))))
  cuts <- 1 - 1:5000 / 5000
  rates <- vapply(cuts, function(cut) sum(c(null, below(x)) >= cut) / 31 / max(1, sum(below(x) >= cut)), 0)
  rates <- pmin(1, rev(cummin(rev(rates))))[floor((1 - below(x)) * 5000 + 1)]
  for (method in c("pearson", "kendall")) {
    set.seed(5)
    tested <- gpuCorTest(x, adjust = "fdr", n_perm = 30, method = method, backend = "cpu")$p.adjusted
    if (method == "pearson") expect_equal(as.vector(tested), rates, tolerance = 1e-12)
    set.seed(5)
    edges <- gpuCorNetwork(x, fdr = 0.1, adjust = "fdr", n_perm = 30, method = method, output = "edges")
    expect_equal(sort(edges$fdr), sort(tested[tested <= 0.1]))
  }
  expect_gt(nrow(edges), 3)
  expect_error(gpuCorNetwork(x, fdr = 0.05, adjust = "fdr", n_perm = 18),
               "'n_perm' must be at least 19 for fdr = 0.05, not 18")
  expect_gte(min(gpuCorTest(x, adjust = "fdr", n_perm = 4)$p.adjusted), 0.2)
})

test_that("rates are those of the edges' sign, of surrogates and of traits", {
  set.seed(13)
  x <- matrix(rnorm(1200), 40)
  y <- -x[, 1:3] + matrix(rnorm(120), 40)
  network <- function(...) {
    set.seed(6)
    gpuCorNetwork(x, y, fdr = 0.1, adjust = "fdr", n_perm = 40, output = "edges", ...)
  }
  set.seed(6)
  chosen <- gpuAssociation(x, y, fdr = 0.1, adjust = "fdr", n_perm = 40)
  expect_equal(chosen$p.adjusted, network()$fdr)
  expect_equal(chosen[c("from", "to")], network()[c("from", "to")], ignore_attr = TRUE)
  expect_identical(nrow(network(sign = "positive")), 0L)
  expect_true(all(1:3 %in% network(sign = "negative", surrogate = "phase")$from))
  expect_true(all(1:3 %in% network(precision = "double", method = "distance")$from))
  set.seed(6)
  expect_output(print(gpuCorNetwork(x, y, fdr = 0.1, adjust = "fdr", n_perm = 40)), "rates by 40 permutations")
  set.seed(6)
  logs <- gpuCorTest(x, y, adjust = "fdr", n_perm = 19, alternative = "less", log.p = TRUE)$p.adjusted
  expect_lt(max(logs[cbind(1:3, 1:3)]), log(0.1))
  skip_if_not_installed("rhdf5")
  set.seed(6)
  file <- gpuCorNetwork(x, y, fdr = 0.1, adjust = "fdr", n_perm = 40, file = tempfile(fileext = ".h5ad"))
  expect_equal(file$edges, nrow(network()))
})

test_that("short, smooth series have a warning", {
  set.seed(14)
  smooth <- function(n, a) replicate(6, as.vector(stats::filter(rnorm(n), a, "recursive")))
  for (surrogate in c("phase", "block")) {
    test <- function(x) gpuCorTest(x, adjust = "maxT", n_perm = 9, surrogate = surrogate)
    expect_warning(test(smooth(40, 0.95)), "40 observations with an autocorrelation of 0.* tell as much as [2-7] ",
                   class = "gpuCorSmooth")
    expect_silent(test(smooth(200, 0.6)))
    expect_silent(test(smooth(30, 0)))
  }
  expect_warning(gpuISC(list(smooth(30, 0.95), smooth(30, 0.95)), n_perm = 9), class = "gpuCorSmooth")
})
