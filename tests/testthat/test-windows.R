# gpuCorWindows(): a window has what gpuCor(), gpuCorNetwork() and gpuConnectivity() have of its rows, to the last bit.

series <- function(n_obs = 50, n_var = 13, seed = 4) {
  set.seed(seed)
  x <- apply(matrix(rnorm(n_obs * n_var), n_obs) + sin(seq_len(n_obs) / 5), 2, stats::filter, 0.5, "recursive")
  colnames(x) <- paste0("v", seq_len(n_var))
  x
}

rows_of <- function(w, k) with(attr(w, "windows")[k, ], start:end)

# The first window, the last, and one between them.
some_windows <- function(w) {
  n <- nrow(attr(w, "windows"))
  unique(c(1, ceiling(n / 2), n))
}

without_own_call <- function(w) structure(w, call = NULL)

# Each of some windows against the coefficients of its rows.
expect_windows_like_rows <- function(w, x, label, ...) {
  for (k in some_windows(w)) {
    truth <- suppressWarnings(gpuCor(x[rows_of(w, k), ], ...))
    expect_identical(as.vector(w[[k]]), as.vector(truth), label = paste(label, "window", k))
    expect_identical(attr(w[[k]], "n_obs"), attr(truth, "n_obs"), label = paste(label, "observations of window", k))
  }
}

for (backend in backends()) {
  test_that(paste(backend, "has each window's coefficients to the last bit"), {
    x <- series()
    for (method in c(all_methods, "bicor", "cosine")) for (precision in c("single", "double")) {
      w <- gpuCorWindows(x, 20, step = 3, method = method, backend = backend, precision = precision)
      expect_identical(dim(w), c(78L, 11L))
      expect_windows_like_rows(w, x, paste(method, precision), method = method, backend = backend,
                               precision = precision)
    }
    w <- gpuCorWindows(x, 20, step = 3, backend = backend)
    at <- 0:10 * 3
    expect_identical(attr(w, "windows"), data.frame(start = 1 + at, end = 20 + at, centre = 10.5 + at))
    expect_identical(labels(w[[2]]), colnames(x))
    integers <- matrix(as.integer(round(3 * x)), nrow(x))
    expect_windows_like_rows(gpuCorWindows(integers, 25, backend = backend), integers, "integers", backend = backend)
  })

  test_that(paste(backend, "has the same whoever does the windows"), {
    wide <- series(24, 200)
    by <- function(width, step, keep, threads) {
      without_own_call(gpuCorWindows(wide, width, step, output = keep, backend = backend, threads = threads))
    }
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    for (keep in c("dist", "moments")) {
      expect_identical(by(12, 1, keep, 2), by(12, 1, keep, 1))
      truth <- by(20, 4, keep, 1)
      expect_identical(by(20, 4, keep, 8), truth) # two windows and more threads: these are within a window
      with_options(list(gpucor.workers_per_device = 2), expect_identical(by(20, 4, keep, 2), truth))
    }
  })

  test_that(paste(backend, "treats missing values in each window as of its rows"), {
    x <- series()
    x[3, 2] <- x[30:33, 5] <- NA
    x[16, 4] <- Inf
    for (use in setdiff(all_uses, "all.obs")) for (method in all_methods) {
      w <- suppressWarnings(gpuCorWindows(x, 12, step = 2, use = use, method = method, backend = backend))
      expect_windows_like_rows(w, x, paste(use, method), use = use, method = method, backend = backend)
    }
    expect_error(gpuCorWindows(x, 12, use = "all.obs", backend = backend), "missing observations in cov/cor")
    known <- suppressWarnings(gpuCorWindows(x[4:29, ], 12, use = "all.obs", backend = backend))
    expect_s3_class(known, "gpuCorWindows")
    x[20:31, 1] <- NA
    expect_error(gpuCorWindows(x, 12, use = "complete.obs", backend = backend),
                 "no complete element pairs: window 2[01], which begins at observation 2[01]")
    none <- suppressWarnings(gpuCorWindows(x, 12, use = "na.or.complete", backend = backend))
    expect_true(all(is.na(none[[20]])))
    expect_identical(attr(none, "n_obs")[20], 0)
  })

  test_that(paste(backend, "warns once of windows with missing or infinite values"), {
    x <- series()
    colnames(x) <- paste0("v", seq_len(ncol(x)))
    x[2, 3] <- NA
    x[c(1, 5), 4] <- -Inf
    by <- function(...) warnings_of(gpuCorWindows(x, 12, step = 6, ..., backend = backend))
    infinite <- paste0("infinite values leave no coefficient in 1 of 7 windows (1 of 13 columns of 'x': v4 in 1); ",
                       "log2(0) is -Inf, and log2(x + 1) of counts is finite")
    missing <- "missing values leave no coefficient in 1 of 7 windows (1 of 13 columns of 'x': v3 in 1); see 'use'"
    expect_identical(by(output = "network", density = 0.3), c(infinite, missing))
    expect_identical(by(output = "connectivity", threshold = 0.3), c(infinite, missing))
    expect_identical(by(output = "connectivity", density = 0.3, method = "spearman"), missing)
    expect_identical(by(output = "connectivity", threshold = 0.3, use = "complete.obs"), infinite)
    expect_identical(by(output = "network", k = 1, use = "pairwise.complete.obs"), infinite)
    expect_identical(by(output = "moments"), c(infinite, missing))
    expect_identical(by(), infinite) # the coefficients show what is missing
    without_both <- as.numeric(seq_len(nrow(x)) > 5)
    expect_identical(by(output = "network", k = 1, weights = without_both), character())
    x[1:12, 3] <- NA
    few <- "fewer than two values leave no coefficient in 1 of 7 windows (1 of 13 columns of 'x': v3 in 1)"
    expect_identical(by(output = "network", k = 1, use = "pairwise.complete.obs"), c(infinite, few))
  })

  test_that(paste(backend, "warns once of windows with constant columns"), {
    x <- series()
    x[5:25, 3] <- 2
    x[, 7] <- 1
    warned <- warnings_of(w <- gpuCorWindows(x, 15, backend = backend))
    expect_identical(warned, paste("the standard deviation is zero in 36 of 36 windows",
                                   "(2 of 13 columns of 'x': v3 in 7, v7 in 36)"))
    expect_windows_like_rows(w, x, "constants", backend = backend)
    expect_match(warnings_of(gpuCorWindows(x[, -7], 15, backend = backend)), "in 7 of 36 windows .*: v3 in 7)$")
    expect_match(warnings_of(m <- gpuCorWindows(x, 15, output = "moments", backend = backend)), "in 36 of 36 windows")
    values <- unclass(w)
    expect_identical(as.vector(m$windows), as.integer(rowSums(!is.na(values))))
    expect_equal(as.vector(m$mean), ifelse(m$windows > 0, rowMeans(values, na.rm = TRUE), NA), tolerance = 1e-14)
    expect_equal(as.vector(m$sd), apply(values, 1, sd, na.rm = TRUE), tolerance = 1e-12)
    expect_identical(as.vector(m$min), apply(values, 1, function(r) if (all(is.na(r))) NA else min(r, na.rm = TRUE)))
    holes <- x[, -7]
    holes[5, 3] <- NA
    holes[4, 3] <- 2
    expect_match(warnings_of(gpuCorWindows(holes, 15, use = "pairwise", backend = backend)),
                 "standard deviation is zero in 8 of")
  })

  test_that(paste(backend, "has each window's network"), {
    x <- series()
    criteria <- list(list(threshold = 0.3), list(density = 0.2), list(k = 2), list(k = 3, mutual = TRUE),
                     list(density = 0.1, sign = "negative"))
    for (method in c("pearson", "kendall")) for (criterion in criteria) {
      arguments <- c(list(method = method, backend = backend), criterion)
      w <- do.call(gpuCorWindows, c(list(x, 20, step = 5, output = "network"), arguments))
      for (k in some_windows(w)) {
        truth <- do.call(gpuCorNetwork, c(list(x[rows_of(w, k), ]), arguments))
        expect_same_network(w[[k]], truth, paste(method, names(criterion)[1], k))
        expect_identical(w[[k]]@Dimnames, truth@Dimnames)
      }
    }
    # Thresholds that jump from one window to the next.
    noise <- function() matrix(rnorm(30 * 13), 30)
    jumps <- rbind(noise(), 1:30 + 0.1 * noise(), noise())
    w <- gpuCorWindows(jumps, 15, step = 5, output = "network", density = 0.3, backend = backend, threads = 1)
    for (k in seq_along(w)) {
      truth <- gpuCorNetwork(jumps[rows_of(w, k), ], density = 0.3, backend = backend)
      expect_same_network(w[[k]], truth, paste("jump", k))
    }
    # So many variables that a sample says where to look; of those in it all go together, so that it is wrong.
    n <- 1600
    many <- matrix(rnorm(24 * n), 24)
    sampled <- floor((seq_len(512) * (sqrt(5) - 1) / 2) %% 1 * n) + 1
    many[1:12, sampled] <- many[1:12, sampled] + 2 * rnorm(12)
    w <- gpuCorWindows(many, 12, step = 12, output = "network", density = 0.2, backend = backend)
    for (k in seq_along(w)) {
      truth <- gpuCorNetwork(many[rows_of(w, k), ], density = 0.2, backend = backend)
      expect_same_network(w[[k]], truth, paste("sample", k))
    }
    expect_nothing_left("networks")
  })

  test_that(paste(backend, "has each window's degrees and strengths"), {
    x <- series()
    for (criterion in list(list(threshold = 0.3), list(density = 0.2), list(threshold = 0.2, sign = "positive"))) {
      w <- do.call(gpuCorWindows, c(list(x, 20, step = 5, output = "connectivity", backend = backend), criterion))
      for (k in some_windows(w)) {
        truth <- do.call(gpuConnectivity, c(list(x[rows_of(w, k), ], backend = backend), criterion))
        expect_identical(w$degree[, k], truth$degree)
        expect_identical(w$strength[, k], truth$strength)
        expect_identical(w$threshold[k], truth$threshold)
      }
    }
    expect_nothing_left("degrees")
  })

  test_that(paste(backend, "has moments of the windows' coefficients"), {
    x <- series(40, 40)
    for (method in all_methods) for (precision in c("single", "double")) {
      values <- unclass(gpuCorWindows(x, 10, step = 2, method = method, backend = backend, precision = precision))
      m <- gpuCorWindows(x, 10, step = 2, output = "moments", method = method, backend = backend, precision = precision)
      expect_equal(as.vector(m$mean), rowMeans(values), tolerance = 1e-14)
      expect_equal(as.vector(m$sd), apply(values, 1, sd), tolerance = 1e-12)
      expect_identical(as.vector(m$min), apply(values, 1, min))
      expect_identical(as.vector(m$max), apply(values, 1, max))
      expect_identical(m$windows, 16L)
    }
    expect_s3_class(m$sd, "dist")
    expect_identical(m$sd[2, 1], as.matrix(m$sd)[2, 1])
    expect_identical(labels(m$sd), colnames(x))

    sd <- as.matrix(m$sd)
    pairs <- sd[upper.tri(sd)]
    by <- function(...) {
      gpuCorWindows(x, 10, step = 2, output = "moments", method = method, backend = backend, precision = precision, ...)
    }
    least <- sort(pairs, decreasing = TRUE)[39]
    top <- by(density = 0.05)
    expect_s4_class(top$sd, "dsCMatrix")
    expect_true(methods::validObject(top$sd))
    expect_identical(as.matrix(top$sd), ifelse(sd >= least, sd, 0))
    expect_identical(top$threshold, least)
    expect_identical(as.matrix(by(threshold = 0.3)$sd), ifelse(sd >= 0.3, sd, 0))
    own <- apply(sd, 2, function(s) rank(-s, ties.method = "first") <= 2)
    expect_identical(as.matrix(by(k = 2)$sd), ifelse(own | t(own), sd, 0))
    expect_identical(as.matrix(by(k = 2, mutual = TRUE)$sd), ifelse(own & t(own), sd, 0))
    two <- gpuCorWindows(rbind(x[1:3, ], -x[1:3, ] * rep(c(1, -1), each = 3)), 3, step = 3, output = "moments",
                         threshold = 1.2, backend = backend)
    expect_true(max(two$sd@x) > 1.2) # above 1: of two windows of opposite sign
    expect_nothing_left("moments")
  })

  test_that(paste(backend, "has the same moments as the CPU, to the last bit"), {
    x <- series(40, 150)
    x[, 9] <- round(x[, 9])
    x[5:30, 3] <- 2
    x[1:20, 7] <- 1
    holes <- x
    holes[5, 4] <- holes[18:22, 8] <- NA
    holes[30, 3] <- NA
    moments <- function(x, backend, ...) {
      warned <- warnings_of(m <- gpuCorWindows(x, 12, step = 2, output = "moments", backend = backend, ...))
      list(without_own_call(m), warned)
    }
    for (method in c(all_methods, "bicor")) for (precision in c("single", "double")) {
      expect_identical(moments(x, backend, method = method, precision = precision),
                       moments(x, "cpu", method = method, precision = precision))
      for (use in if (precision == "single") c("everything", "complete.obs", "pairwise.complete.obs")) {
        expect_identical(moments(holes, backend, method = method, use = use),
                         moments(holes, "cpu", method = method, use = use), label = paste(method, use))
      }
    }
    expect_nothing_left("moments")
  })

  test_that(paste(backend, "weighs the observations of a window"), {
    x <- series(30, 8)
    gaussian <- function(..., shape = 0.1) {
      gpuCorWindows(x, 12, taper = "gaussian", shape = shape, backend = backend, ...)
    }
    weights <- gaussian_taper(12, 0.1)
    for (method in c("pearson", "cosine", "spearman")) {
      w <- gaussian(step = 3, method = method)
      for (k in some_windows(w)) {
        truth <- gpuCor(x[rows_of(w, k), ], method = method, backend = backend, weights = weights)
        expect_equal(as.vector(w[[k]]), as.vector(truth), tolerance = 1e-6)
      }
    }
    expect_equal(as.matrix(gaussian(precision = "double")[[9]]), stats::cov.wt(x[9:20, ], weights, cor = TRUE)$cor,
                 tolerance = 1e-7)
    x[5, 2] <- NA
    w <- gaussian(use = "complete.obs")
    expect_equal(as.matrix(w[[1]]), stats::cov.wt(x[c(1:4, 6:12), ], weights[-5], cor = TRUE)$cor, tolerance = 1e-6)
    pairwise <- gaussian(use = "pairwise")
    expect_equal(pairwise[[1]]["v2", "v3"], w[[1]]["v2", "v3"], tolerance = 1e-6)
    expect_error(gaussian(method = "kendall"),
                 "method = \"kendall\" takes no 'taper'")

    own <- rep(c(1, 0, 2, 0.5), length.out = 30)
    w <- gpuCorWindows(x[, -2], 12, weights = own, taper = "gaussian", backend = backend, precision = "double")
    both <- own[4:15] * gpucor:::taper_weights("gaussian", NULL, 12)
    expect_equal(as.matrix(w[[4]]), stats::cov.wt(x[4:15, -2], both, cor = TRUE)$cor, tolerance = 1e-12)
    censored <- rep(c(1, 0, 1), 10)
    w <- gpuCorWindows(x, 12, weights = censored, use = "all.obs", backend = backend, method = "kendall")
    expect_identical(w[[4]]["v1", "v3"],
                     gpuCor(x[4:15, ][censored[4:15] > 0, -2], method = "kendall", backend = backend)["v1", "v3"])
  })

  test_that(paste(backend, "regresses on covariates before there are windows"), {
    x <- series(40, 6)
    z <- cbind(1:40, rnorm(40))
    own <- rep(c(1, 0, 2, 0.5, 1), 8)
    ours <- function(...) {
      as.matrix(gpuCorWindows(x, 15, step = 5, covariates = z, ..., backend = backend, precision = "double")[[3]])
    }
    expect_equal(ours(), cor(residuals(lm(x ~ z))[11:25, ]), tolerance = 1e-11)
    expect_equal(ours(weights = own), tolerance = 1e-11,
                 stats::cov.wt(residuals(lm(x ~ z, weights = own))[11:25, ], own[11:25], cor = TRUE)$cor)
    cosine <- residuals(lm(x ~ z - 1))[11:25, ]
    expect_equal(ours(method = "cosine"), crossprod(cosine) / sqrt(outer(colSums(cosine^2), colSums(cosine^2))),
                 tolerance = 1e-11)
    for (band in list(c(0.02, 0.1), c(0.05, 0.45))) { # little, or most, of the series is left
      w <- suppressWarnings( # of few degrees of freedom
        gpuCorWindows(x, 15, step = 5, bandpass = band, tr = 1, backend = backend, precision = "double")
      )
      frequency <- 1:39 / 80
      stopped <- cos(pi / 40 * outer(1:40 - 0.5, (1:39)[frequency < band[1] | frequency > band[2]]))
      expect_equal(as.matrix(w[[3]]), cor(residuals(lm(x ~ stopped))[11:25, ]), tolerance = 1e-9)
      expect_identical(attr(w, "windows")$time[1], 7)
    }
    x[12, 2] <- NA
    left <- residuals(lm(x ~ z, na.action = na.exclude))
    expect_equal(ours(use = "complete.obs"), cor(left[11:25, ], use = "complete.obs"), tolerance = 1e-11)
    expect_error(ours(use = "pairwise"), "of pairs that miss some there are no windows")
    expect_error(ours(method = "spearman", use = "complete.obs"), "makes ranks in each window")
  })

  test_that(paste(backend, "warns once of windows in which a column has no deviation"), {
    x <- series()
    x[8:20, 4] <- 1
    expect_identical(warnings_of(w <- gpuCorWindows(x, 18, method = "bicor", backend = backend)),
                     paste("Pearson's correlation stands in for a median absolute deviation of zero in 11 of 33",
                           "windows (1 of 13 columns of 'x': v4 in 11)"))
    expect_windows_like_rows(w, x, "bicor", method = "bicor", backend = backend)
    expect_error(gpuCorWindows(x, 18, method = "bicor", options = list(pearsonFallback = "all")),
                 "would be decided in each window")
  })

  for (resource in resources_of(backend)) {
    test_that(paste(backend, "leaves nothing behind wherever the", resource, "fails"), {
      x <- series(14, 6)
      x[2, 3] <- NA
      by <- function(...) suppressWarnings(gpuCorWindows(x, 8, step = 6, ..., backend = backend))
      runs <- list(
        dist = function() unclass(by(use = "complete.obs", taper = "gaussian")),
        network = function() lapply(by(output = "network", density = 0.3), slots_of),
        k = function() lapply(by(output = "network", k = 1, use = "complete"), slots_of),
        degrees = function() unclass(by(output = "connectivity", threshold = 0.3)),
        sums = function() unclass(by(output = "connectivity", density = 0.3)),
        moments = function() unclass(by(output = "moments")),
        variable = function() unclass(by(output = "moments", k = 1))
      )
      if (backend == "cuda") runs <- runs[c("dist", "sums", "variable")] # what windows do is done by the same runs
      for (name in names(runs)) {
        messages <- walk_failures(runs[[name]], resource, paste(backend, "windows", name), expect_nothing_left)
        expect_match(unique(messages), ways_out[[resource]])
      }
    })
  }

  test_that(paste(backend, "windows stop at once when interrupted"), {
    skip_unless_full()
    skip_without_children()
    n_var <- if (backend == "cpu") list(dist = 120, moments = 1500) else list(dist = 8000, moments = 6000)
    for (keep in c("dist", "moments")) {
      work <- if (keep == "dist" && backend == "cpu") function(x, folder) gpuCorWindows(x, 300, method = "kendall")
      else if (keep == "dist") function(x, folder) {
        gpuCorWindows(x, 300, method = "kendall", output = "connectivity", threshold = 0.5)
      } else function(x, folder) gpuCorWindows(x, 300, method = "kendall", output = "moments", density = 0.01)
      expect_stops_at_once(start_work(work, list(n_obs = 1200, n_var = n_var[[keep]]), backend))
    }
  })
}

test_that("tiles of moments are put together", {
  x <- series(16, 1100)
  m <- gpuCorWindows(x, 8, step = 4, output = "moments", backend = "cpu")
  values <- unclass(gpuCorWindows(x, 8, step = 4, backend = "cpu"))
  expect_lt(max(abs(as.vector(m$mean) - rowMeans(values))), 1e-14)
  expect_identical(as.vector(m$max), do.call(pmax, lapply(1:3, function(k) values[, k])))
  top <- gpuCorWindows(x, 8, step = 4, output = "moments", density = 0.001, backend = "cpu")
  expect_identical(length(top$sd@x), 605L)
  expect_identical(sort(top$sd@x, decreasing = TRUE), sort(as.vector(m$sd), decreasing = TRUE)[1:605])
  at <- cbind(top$sd@i + 1L, rep(1:1100, diff(top$sd@p)))
  expect_identical(top$sd@x, as.matrix(m$sd)[at])
})

test_that("what is not in memory is read once", {
  x <- series()
  sparse <- Matrix::Matrix(ifelse(abs(x) < 1, 0, x), sparse = TRUE)
  w <- suppressMessages(gpuCorWindows(sparse, 20, step = 10))
  expect_identical(as.vector(w), as.vector(gpuCorWindows(as.matrix(sparse), 20, step = 10)))
  expect_identical(attr(w, "Labels"), colnames(x))
  frame <- gpuCorWindows(as.data.frame(x), 20, step = 10)
  expect_identical(as.vector(frame), as.vector(gpuCorWindows(x, 20, step = 10)))
})

test_that("centres have a time where observations have one", {
  x <- series(20, 4)
  expect_identical(attr(gpuCorWindows(ts(x, start = 3, frequency = 2), 5, step = 5), "windows")$time, 4 + 0:3 * 2.5)
  attr(x, "tr") <- 0.5
  expect_identical(attr(gpuCorWindows(x, 5, step = 5), "windows")$time, 1 + 0:3 * 2.5)
})

test_that("arguments that cannot be are named", {
  x <- series(20, 4)
  expect_error(gpuCorWindows(x, 21), "'width' must be a whole number between 3 and 20")
  expect_error(gpuCorWindows(x, 2), "'width' must be a whole number")
  expect_error(gpuCorWindows(x, 5, step = 0), "'step' must be a whole number of at least 1")
  expect_error(gpuCorWindows(x[1:2, ], 2), "'x' has 2 observations; windows need at least 3")
  expect_error(gpuCorWindows(x, 5, output = "all"), "'output' must be one of")
  expect_error(gpuCorWindows(x, 5, taper = "hann"), "'taper' must be one of")
  expect_error(gpuCorWindows(x, 5, shape = 0.5), "'shape' has no meaning with taper = \"none\"")
  expect_error(gpuCorWindows(x, 5, taper = "gaussian", shape = 0.5), "'shape' must be a number above 0 and up to 1/6")
  expect_error(gpuCorWindows(x, 5, threshold = 0.5), "'threshold' has no meaning with output = \"dist\"")
  expect_error(gpuCorWindows(x, 5, output = "connectivity", k = 2), "'k' has no meaning with output = \"connectivity\"")
  expect_error(gpuCorWindows(x, 5, output = "network"), "which pairs of a window are edges\\? give one of 'threshold'")
  expect_error(gpuCorWindows(x, 5, output = "network", k = 2, density = 0.1), "give only one of")
  expect_error(gpuCorWindows(x, 5, output = "moments", threshold = 2), "'threshold' must be a standard deviation")
  expect_error(gpuCorWindows(x, 5, sign = "positive"), "'sign' has no meaning with output = \"dist\"")
  expect_error(gpuCorWindows(x, 5, output = "network", density = 0.1, mutual = TRUE), "'mutual' is TRUE")
  expect_error(gpuCorWindows(x, 5, weights = 1), "'weights' has 1 value;")
  expect_error(gpuCorWindows(x[, 1], 5), "'x' must be matrix-like")
})

test_that("what does not fit into memory is refused, with what does", {
  x <- series(60, 500)
  with_values(list(free_memory = function(...) 20e6), {
    expect_error(gpuCorWindows(x, 10),
                 paste("takes 50.9 MB, for 124,750 pairs and 51 windows; 20 MB of memory are free;",
                       "step = 3 makes windows that fit"))
    expect_identical(ncol(gpuCorWindows(x, 10, step = 3)), 17L)
    expect_identical(length(gpuCorWindows(x, 10, output = "moments")$sd), 124750L)
  })
  with_values(list(free_memory = function(...) 2e6), {
    expect_error(gpuCorWindows(x, 10, output = "network", density = 0.1),
                 "output = \"network\" takes 15.3 MB, .* fewer windows")
    expect_error(gpuCorWindows(x, 10, output = "network", k = 40),
                 "output = \"network\" takes 12.2 MB, .* fewer windows")
    expect_error(gpuCorWindows(x, 10, output = "moments"), "output = \"moments\" with 'density'")
    expect_s4_class(gpuCorWindows(x, 10, output = "moments", density = 0.001)$sd, "dsCMatrix")
  })
})

test_that("what a few variables or windows have is right, too", {
  x <- series(10, 3)
  expect_identical(dim(gpuCorWindows(x[, 1, drop = FALSE], 5)), c(0L, 6L))
  expect_identical(dim(gpuCorWindows(x, 10)), c(3L, 1L))
  expect_identical(length(gpuCorWindows(x[, 0], 5, output = "moments")$sd), 0L)
  one <- gpuCorWindows(x, 10, output = "moments")
  expect_true(all(is.na(one$sd)))
  expect_identical(as.vector(one$mean), as.vector(gpuCor(x)))
  expect_identical(length(gpuCorWindows(x, 10, output = "moments", threshold = 0)$sd@x), 0L)
})

test_that("methods show, sum up and convert", {
  x <- series(20, 4)
  for (names in list(colnames(x), NULL)) {
    colnames(x) <- names
    w <- gpuCorWindows(x, 10, step = 5)
    expect_output(print(w), paste0("Pearson's correlation of 4 variables in 3 windows of 10 observations, step 5\n",
                                   "coefficients of 6"))
    expect_identical(summary(w)$mean, colMeans(unclass(w)))
    frame <- as.data.frame(w)
    labels <- if (is.null(names)) 1:4 else names
    expect_identical(frame$r[frame$window == 2 & frame$from == labels[2] & frame$to == labels[4]], w[[2]][2, 4])
    net <- gpuCorWindows(x, 10, step = 5, output = "network", k = 1)
    expect_output(print(net), "networks of [0-9]")
    expect_identical(nrow(as.data.frame(net)), as.integer(sum(summary(net)$edges)))
    degrees <- gpuCorWindows(x, 10, step = 5, output = "connectivity", threshold = 0.2)
    expect_output(print(degrees), "[$]degree and [$]strength")
    expect_identical(tapply(as.data.frame(degrees)$degree, rep(1:3, each = 4), sum) / 2,
                     structure(summary(degrees)$edges, dim = 3L, dimnames = list(c("1", "2", "3"))))
    m <- gpuCorWindows(x, 10, step = 5, output = "moments")
    expect_output(print(m), "[$]mean, [$]sd, [$]min and [$]max of 6 pairs")
    expect_identical(as.data.frame(m)$sd, as.vector(m$sd))
    expect_identical(summary(m)["50%", "sd"], median(m$sd))
    top <- gpuCorWindows(x, 10, step = 5, output = "moments", k = 1)
    expect_output(print(top), "[$]sd of the [0-9] most variable pairs of 6")
    expect_identical(sort(as.data.frame(top)$sd), sort(top$sd@x))
    masked <- function(...) {
      gpuCorWindows(x, 10, step = 5, threshold = 0.1, pairs = pairMask(c(1, 1, 2, 2), same = TRUE), ...)
    }
    expect_output(print(masked(output = "network")), "networks of .* of 2 pairs; ")
    expect_output(print(masked(output = "connectivity")), "variables x windows, of 2 pairs")
    expect_output(print(masked(output = "moments")), "most variable pairs? of 2\n")
  }
  expect_error(w[[4]], "'i' must be a whole number between 1 and 3")
})

test_that("arithmetic and the transpose of windows' coefficients are plain matrices", {
  w <- gpuCorWindows(series(20, 4), 10, step = 5)
  plain <- matrix(w, nrow(w))
  expect_identical(t(w), t(plain))
  expect_identical(list(atanh(w), 1 - w, w * w, -w, w > 0),
                   list(atanh(plain), 1 - plain, plain * plain, -plain, plain > 0))
  expect_output(print(t(w)), "[,1]", fixed = TRUE)
})

test_that("windows combine subjects only, and 'pairs' needs a criterion", {
  x <- normal(20, 5)
  expect_error(gpuCorWindows(x, 10, combine = "mean"), "'x' is not a list of their matrices")
  expect_error(gpuCorWindows(x, 10, pairs = pairMask(1:5, same = TRUE)), "'pairs'", fixed = TRUE)
})
