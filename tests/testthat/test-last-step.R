# Measures with a last step after the product: coherence, concordance and proportionality, beside their definitions.

# Fourier coefficients of the segments of each column, in rows with the name of their frequency: less the mean, by
# Hann's window, at frequencies of the band, of which all but the highest one of an even size count twice in a sum.
fourier_rows <- function(x, size, step, band = c(0, Inf), tr = 1) {
  window <- (1 - cos(2 * pi * (seq_len(size) - 1) / size)) / 2
  k <- seq_len(size %/% 2)
  k <- k[k / (size * tr) >= band[1] - 1e-12 & k / (size * tr) <= band[2] + 1e-12]
  do.call(rbind, lapply(seq(1, nrow(x) - size + 1, by = step), function(from) {
    segment <- sweep(x[from - 1 + seq_len(size), , drop = FALSE], 2, colMeans(x[from - 1 + seq_len(size), ]))
    z <- mvfft(segment * window)[k + 1, , drop = FALSE] * sqrt(ifelse(2 * k == size, 1, 2))
    `rownames<-`(z, k / size)
  }))
}

all_of <- function(x, f) outer(seq_len(ncol(x)), seq_len(ncol(x)), Vectorize(function(i, j) f(x[, i], x[, j])))

coherences <- function(z, value = "squared", band = "mean") {
  if (value == "phase") z <- ifelse(Mod(z) > 1e-9, z / Mod(z), 0) * ifelse(rownames(z) == "0.5", 1, sqrt(2))
  found <- lapply(split(seq_len(nrow(z)), if (band == "mean") rownames(z) else rep(1, nrow(z))), function(rows) {
    s <- t(z[rows, , drop = FALSE]) %*% Conj(z[rows, , drop = FALSE])
    s <- s / sqrt(outer(Re(diag(s)), Re(diag(s))))
    switch(value, squared = Mod(s)^2, phase = , size = Mod(s), imaginary = abs(Im(s)))
  })
  Reduce(`+`, found) / length(found)
}

# Series with shared parts, one of them shifted.
shifted <- function(n, n_var = 6) {
  x <- normal(n, n_var, seed = 9)
  x[, 2] <- x[, 1] + x[, 2] / 2
  x[, 3] <- c(x[-(1:2), 1], 0, 0) + x[, 3] / 2
  x
}

expect_same_pairs <- function(r, truth, within) {
  expect_lt(max(abs(no_diagonal(as.matrix(r)) - no_diagonal(truth)), na.rm = TRUE), within)
}

coherence <- function(x, ..., options = list(segment = 20)) gpuCor(x, method = "coherence", ..., options = options)

file_of <- function(x) {
  file <- withr::local_tempfile(.local_envir = parent.frame())
  writeBin(as.vector(x), file)
  gpuCorFile(file, dim(x))
}

test_that("coherence is that of segments' Fourier coefficients", {
  x <- shifted(101)
  for (value in c("squared", "phase", "imaginary", "size")) for (band in c("mean", "sum")) {
    options <- list(segment = 20, value = value, band = band)
    truth <- coherences(fourier_rows(x, 20, 10), value, band)
    expect_same_pairs(coherence(x, options = options), truth, 1e-6)
    expect_same_pairs(coherence(x, options = options, precision = "double"), truth, 1e-12)
    truth <- coherences(fourier_rows(x, 20, 10, c(0.1, 0.15), 2), value, band)
    expect_same_pairs(coherence(x, options = options, bandpass = c(0.1, 0.15), tr = 2), truth, 1e-6)
    truth <- coherences(fourier_rows(x, 8, 4), value, band) # the highest frequency is one of four
    expect_same_pairs(coherence(x, options = replace(options, "segment", 8)), truth, 1e-6)
  }
  expect_same_pairs(coherence(x, options = list(segment = 15, overlap = 0.8)), coherences(fourier_rows(x, 15, 3)), 1e-6)
  expect_same_pairs(coherence(x, options = NULL), coherences(fourier_rows(x, 22, 11)), 1e-6) # two ninths of 101
  expect_equal(coherence(x[, 1:2], x[, 3:6]), as.matrix(coherence(x))[1:2, 3:6], tolerance = 1e-6)
  expect_equal(coherence(x[, 1], x[, 1]), 1)
})

test_that("series are coherent, whichever follows", {
  follower <- function(lag) {
    x <- normal(2000, 1, seed = 4)
    c(coherence(x, c(x[-seq_len(lag)], numeric(lag)), bandpass = c(0.02, 0.1), tr = 2, options = list(segment = 64)),
      coherence(x, c(x[-seq_len(lag)], numeric(lag)), bandpass = c(0.02, 0.1), tr = 2,
                options = list(segment = 64, band = "sum")))
  }
  expect_gt(follower(4)[1], 0.8)
  expect_lt(follower(4)[2], 0.3) # products of several frequencies cancel
})

test_that("coherence of frequencies is the mean of scipy.signal.coherence()", {
  x <- outer(0:63, 1:2, function(t, k) sin(0.7 * t * k) + cos(0.3 * t^1.5 * k) / k)
  # scipy.signal.coherence(x, y, nperseg = 16), SciPy 1.10.1, has these at 1 and 2 of 16
  expect_equal(coherence(x[, 1], x[, 2], bandpass = c(1, 1.01) / 16, tr = 1, options = list(segment = 16)),
               0.029233403217144772, tolerance = 1e-6)
  expect_equal(coherence(x[, 1], x[, 2], bandpass = c(2, 2.01) / 16, tr = 1, options = list(segment = 16)),
               0.10744020476322562, tolerance = 1e-6)
  expect_equal(coherence(x[, 1], x[, 2], bandpass = 1:2 / 16, tr = 1, options = list(segment = 16)),
               mean(c(0.029233403217144772, 0.10744020476322562)), tolerance = 1e-6)
})

test_that("segments are of one run, and covariates are regressed out", {
  x <- shifted(90)
  z <- cbind(seq_len(90), cos(seq_len(90)))
  runs <- rep(1:2, c(50, 40))
  truth <- coherences(rbind(fourier_rows(x[1:50, ], 20, 10), fourier_rows(x[51:90, ], 20, 10)))
  expect_same_pairs(coherence(x, runs = runs), truth, 1e-6)
  truth <- coherences(fourier_rows(residuals(lm(x ~ z)), 20, 10))
  expect_same_pairs(coherence(x, covariates = z), truth, 1e-6)
  many <- normal(90, 60) # fewer residuals than regressors
  expect_same_pairs(coherence(x, covariates = many), coherences(fourier_rows(residuals(lm(x ~ many)), 20, 10)), 1e-6)
  left <- gpuClean(x, z, protect = runs)
  expect_same_pairs(coherence(x, covariates = z, protect = runs), coherences(fourier_rows(left, 20, 10)), 1e-6)
})

test_that("series need their length, their band and no gaps", {
  x <- shifted(90)
  expect_error(coherence(x, options = list(segment = 3)), "'segment' is 3, and must be a number .* from 4 to 90")
  expect_error(coherence(x, options = list(segment = 50), runs = rep(1:2, each = 45)), "to 45, those of the shortest")
  expect_error(coherence(x, bandpass = c(0.11, 0.12), tr = 1), "multiples of 0.05 Hz; use longer ones")
  expect_error(coherence(x, bandpass = c(0.1, 0.2)), "'bandpass' needs 'tr'")
  expect_error(coherence(x, weights = rep(1:0, c(89, 1))), "1 observation is left out; fill them in")
  x[5, 2] <- NA
  expect_identical(is.na(as.matrix(coherence(x))[, 2]), rep(c(TRUE, FALSE, TRUE), c(1, 1, 4)))
  expect_error(coherence(x, use = "complete.obs"), "without gaps, and 1 observation is left out")
  expect_error(coherence(x, use = "pairwise.complete.obs"), "has no pairwise form")
  expect_error(coherence(x[, -2], bandpass = c(0.1, 0.1), tr = 1, options = list(segment = 90)), "is always coherent")
  expect_error(coherence(x[1:3, -2]), "needs at least 4 observations in a row; there are 3")
  x[, 2] <- 7
  phase <- list(segment = 20, value = "phase")
  expect_warning(r <- coherence(x, options = phase), "deviation is zero (1 of 6", fixed = TRUE)
  expect_true(all(is.na(r[2, -2])))
  x[5, 2] <- Inf
  expect_warning(r <- coherence(x), "infinite values leave no coefficient")
  expect_true(all(is.na(r[2, -2])))
})

test_that("segments without signal have no phases", {
  x <- normal(200, 2)
  x[41:200, ] <- 0
  for (band in c("mean", "sum")) {
    expect_equal(coherence(x[, 1], x[, 2], options = list(segment = 20, value = "phase", band = band)),
                 coherences(fourier_rows(x, 20, 10), "phase", band)[1, 2], tolerance = 1e-6)
  }
})

test_that("odd segments begin as in SciPy, and results tell of segments and frequencies", {
  x <- shifted(101)
  expect_same_pairs(coherence(x, options = list(segment = 21)), coherences(fourier_rows(x, 21, 11)), 1e-6)
  expect_output(print(coherence(x, bandpass = c(0.1, 0.1), tr = 1)),
                "in the band 0.1-0.1 Hz (TR 1 s), 9 segments of 20 observations, 1 frequency", fixed = TRUE)
})

test_that("groups are compared by coherence if their mean says something", {
  of <- function(rows, n = 4) lapply(seq_len(n), function(i) normal(rows, 3, seed = i))
  compare <- function(...) gpuCorCompare(..., method = "coherence", options = list(segment = 20))
  expect_error(compare(of(60)), "is never negative, so that its mean over one list")
  expect_warning(compare(of(60), of(80)), "60 to 80 observations", class = "gpuCorSegments")
  all <- compare(of(60), lapply(of(60), `*`, -1:58))
  some <- compare(of(60), lapply(of(60), `*`, -1:58), p.value = 0.5, output = "edges")
  expect_equal(sort(some$p.value), sort(all$p.value[all$p.value <= 0.5]), tolerance = 1e-6)
})

proportionality <- function(...) gpuCor(..., method = "concordance", options = list(means = FALSE))

test_that("concordance and proportionality are 2 cov / (var + var), with and without the means", {
  x <- shifted(40) * rep(1:6 / 2, each = 40) + rep(c(0, 0.1, 0, 1, 1e6, 1e6), each = 40)
  lin <- all_of(x, function(a, b) {
    2 * mean((a - mean(a)) * (b - mean(b))) /
      (mean((a - mean(a))^2) + mean((b - mean(b))^2) + (mean(a) - mean(b))^2)
  })
  rho_p <- all_of(x, function(a, b) 1 - var(a - b) / (var(a) + var(b)))
  for (precision in c("single", "double")) {
    within <- if (precision == "single") 1e-6 else 1e-9 # of values about 1e6
    expect_same_pairs(gpuCor(x, method = "concordance", precision = precision), lin, within)
    expect_same_pairs(proportionality(x, precision = precision), rho_p, within)
  }
  expect_equal(proportionality(x[, 1:2], x[, 3:6]), rho_p[1:2, 3:6], tolerance = 1e-6)
  expect_identical(gpuCor(x[, 1], x[, 1], method = "concordance"), 1)
  expect_error(gpuCor(x, method = "concordance", options = list(means = 2)), "'means' must be TRUE or FALSE, not 2")
  expect_output(print(proportionality(x)), "means = FALSE")
  x[3, 1] <- NA
  some <- all_of(x[-3, ], function(a, b) 1 - var(a - b) / (var(a) + var(b)))
  expect_same_pairs(proportionality(x, use = "complete.obs"), some, 1e-6)
  expect_error(proportionality(x, covariates = 1:40), "it compares values, and weighted or adjusted ones")
  expect_error(proportionality(x, partial = TRUE), "has no partial correlation")
})

test_that("networks of every back end have these coefficients, also where each pair is an edge", {
  x <- shifted(30, 400)
  for (method in c("coherence", "concordance")) {
    network <- function(data, ...) as.data.frame(gpuCorNetwork(data, ..., method = method))
    known <- function(...) network(..., backend = "cpu")
    r <- as.matrix(gpuCor(x, method = method, backend = "cpu"))
    for (backend in backends()) {
      all <- network(x, threshold = 0, backend = backend)
      expect_identical(nrow(all), as.integer(choose(400, 2)))
      expect_equal(all$r, r[cbind(all$from, all$to)], tolerance = 1e-6)
      expect_identical(network(x, density = 0.05, backend = backend), known(x, density = 0.05))
      expect_identical(network(x, k = 3, backend = backend), known(x, k = 3))
      expect_identical(network(x[, 1:200], x[, 201:400], threshold = 0.2, backend = backend),
                       known(x[, 1:200], x[, 201:400], threshold = 0.2))
      both <- list(x, x[30:1, ]^3)
      expect_identical(network(both, combine = "mean", density = 0.05, backend = backend),
                       known(both, combine = "mean", density = 0.05))
    }
  }
})

test_that("every result has these coefficients, on any number of threads, of subjects, and in parts", {
  x <- shifted(60, 150) * rep(1 + seq_len(150) / 100, each = 60)
  y <- x[60:1, ]^3
  cases <- list(list("coherence"), list("coherence", list(value = "size")), list("coherence", list(band = "sum")),
                list("concordance"), list("concordance", list(means = FALSE)))
  for (case in cases) {
    of <- function(f, ...) f(..., method = case[[1]], options = unlist(case[-1], FALSE), backend = "cpu")
    r <- as.matrix(of(gpuCor, x, threads = 1))
    expect_identical(as.matrix(of(gpuCor, x, threads = 3)), r)
    expect_identical(as.matrix(of(gpuCor, file_of(x))), r)
    net <- of(gpuCorNetwork, x, density = 0.03)
    edges <- as.data.frame(net)
    expect_equal(edges$r, r[cbind(edges$from, edges$to)], tolerance = 1e-6)
    expect_gte(min(abs(edges$r)), sort(abs(r[lower.tri(r)]), decreasing = TRUE)[nrow(edges)] - 1e-6)
    each <- lapply(list(x, y), function(m) as.matrix(of(gpuCor, m)))
    expect_equal(as.matrix(of(gpuCor, list(x, y), combine = "mean")), (each[[1]] + each[[2]]) / 2, tolerance = 1e-7)
    least <- of(gpuCor, list(x, y), combine = "min", output = "matrix")
    expect_equal(least, pmin(each[[1]], each[[2]]), tolerance = 1e-7)
    groups <- suppressWarnings(of(gpuCorCompare, list(x, y, x), list(y, y, x / 2)))
    expect_identical(dim(as.matrix(groups$p.value)), c(150L, 150L))
    strength <- of(gpuConnectivity, x, power = 1)
    expect_equal(unname(strength$soft[, 1]), colSums(abs(r)) - 1, tolerance = 1e-6)
    mask <- pairMask(rep(1:2, 75), same = TRUE)
    within <- as.data.frame(of(gpuCorNetwork, x, threshold = 0.3, pairs = mask))
    all <- as.data.frame(of(gpuCorNetwork, x, threshold = 0.3))
    expect_equal(nrow(within), sum(all$from %% 2 == all$to %% 2))
  }
  expect_error(gpuCor(list(x, x[1:40, ]), method = "coherence", combine = "mean"),
               "subject 2 has other frequencies than the first one; give all segments the same size, .*segment")
  expect_error(gpuCorCompare(x, y, method = "coherence"), "but of lists of subjects")
})
