# Lags: of each pair the coefficient of largest size, by runs of stats::cor() over the rows that overlap.

set.seed(5)
x <- apply(matrix(rnorm(80 * 6), 80), 2, filter, 0.5, "recursive")
x[5:80, 2] <- x[5:80, 2] + 2 * x[1:76, 1]
x[, 5] <- x[, 5] - 3 * c(x[3:80, 4], 0, 0)
dimnames(x) <- list(NULL, letters[1:6])
y <- x[, c(3, 1)] + rnorm(160)

at_lag <- function(x, y, l, counts = rep(TRUE, nrow(x)), ...) {
  n <- nrow(x)
  at <- Filter(function(t) t + l >= 1 && t + l <= n && counts[t] && counts[t + l], seq_len(n))
  cor(x[at, , drop = FALSE], y[at + l, , drop = FALSE], ...)
}

# A list of matrices r and lag, pair by pair.
by_hand <- function(x, y, lags, weight = abs, ...) {
  lags <- as.integer(lags[order(abs(lags), lags < 0)])
  all <- simplify2array(lapply(lags, function(l) suppressWarnings(at_lag(x, y, l, ...))))
  which <- apply(all, 1:2, function(r) if (all(is.na(r))) NA else which.max(weight(r)))
  r <- array(all[cbind(c(row(which)), c(col(which)), c(which))], dim(which), dimnames(all)[1:2])
  list(r = r, lag = array(lags[which], dim(which), dimnames(all)[1:2]))
}

expect_lags <- function(found, expected) {
  expect_equal(found, expected$r, tolerance = 1e-12, ignore_attr = TRUE)
  expect_identical(dimnames(found), dimnames(expected$r))
  expect_identical(attr(found, "lag"), expected$lag)
}

exact <- function(...) gpuCor(..., precision = "double")

test_that("coefficients of two matrices are the largest of all lags", {
  for (lags in list(-6:6, 0, 2:5, c(-1, -4, 3))) expect_lags(exact(x, y, lag = lags), by_hand(x, y, lags))
  for (method in c("spearman", "kendall")) {
    expect_lags(exact(x, y, lag = -3:3, method = method), by_hand(x, y, -3:3, method = method))
  }
  expect_identical(attr(exact(x, y, lag = c(3, -3, 0, 3)), "lag"), attr(exact(x, y, lag = c(0, 3, -3)), "lag"))
  vectors <- exact(x[, 1], x[, 2], lag = 0:6)
  expect_equal(vectors, at_lag(x[, 1, drop = FALSE], x[, 2, drop = FALSE], 4)[1], ignore_attr = TRUE)
  expect_identical(attr(vectors, "lag"), 4L)
})

test_that("a positive lag says that the second column follows the first", {
  found <- exact(x, lag = -8:8)
  lag <- as.matrix(attr(found, "lag"))
  expect_equal(lag["a", "b"], 4)
  expect_equal(lag["d", "e"], -2)
  expect_identical(attr(exact(x[, "a"], x[, "b"], lag = -8:8), "lag"), 4L)
})

test_that("pairs of one matrix have the lags of the matrix with itself", {
  for (lags in list(-7:7, 0, c(-3, -1, 1, 3))) {
    expected <- by_hand(x, x, lags)
    found <- exact(x, lag = lags)
    expect_s3_class(found, "gpuCor")
    lower <- lower.tri(expected$r)
    expect_equal(as.vector(found), t(expected$r)[lower], tolerance = 1e-12)
    expect_identical(as.vector(attr(found, "lag")), t(expected$lag)[lower])
    square <- exact(x, lag = lags, output = "matrix")
    expect_equal(square[lower], as.vector(found))
    expect_equal(t(square)[lower], as.vector(found))
    expect_identical(attr(square, "lag")[lower], -as.vector(attr(found, "lag")))
    expect_identical(t(attr(square, "lag"))[lower], as.vector(attr(found, "lag")))
    expect_equal(diag(square), diag(expected$r), tolerance = 1e-12)
  }
  expect_identical(as.data.frame(exact(x, lag = -7:7))$lag, as.vector(attr(exact(x, lag = -7:7), "lag")))
  expect_null(attr(1 - exact(x, lag = -1:1), "lag"))
  expect_output(print(exact(x, lag = -7:7)), "largest over lags -7 to 7")
  expect_error(exact(x, lag = -1:1)$p.value, "the largest of several lags")
})

test_that("of equal coefficients the lag nearest to zero is taken, and the positive one", {
  wave <- cbind(a = rep(c(1, -1, 0, 0), 10), b = rep(c(0, 0, 1, -1), 10), c = rep(c(1, -1, 0, 0), 10))
  expect_identical(as.vector(attr(exact(wave, lag = -4:4), "lag")), c(2L, 0L, 2L))
  expect_identical(attr(exact(wave[, c(2, 1)], lag = -2:2), "lag")[1], 2L)
})

test_that("missing values are treated as by cor() at each lag, and lags without a coefficient are skipped", {
  holes <- x
  holes[c(1, 40), 2] <- NA
  holes[80, 3] <- NA
  expect_lags(exact(holes, y, lag = -4:4), by_hand(holes, y, -4:4))
  found <- exact(holes, y, lag = c(-1, 1))
  expect_true(all(is.na(found["b", ]), is.na(attr(found, "lag")["b", ])))
  expect_identical(unname(attr(found, "lag")["c", ]), c(1L, 1L))
  for (use in c("pairwise.complete.obs", "complete.obs")) {
    expect_lags(exact(holes, y, lag = -4:4, use = use), by_hand(holes, y, -4:4, use = use))
  }
  steps <- cbind(a = c(rep(0, 77), 1, 2, 3), x)
  expect_silent(found <- exact(steps, x, lag = -4:4))
  expect_lags(found, by_hand(steps, x, -4:4))
  expect_warning(exact(cbind(x, g = 1), lag = -1:1), "deviation is zero \\(1 of 7 columns of 'x': g\\)$")
})

test_that("covariates are regressed out once, and rows of weight 0 are left out from both sides", {
  z <- cbind(1:80, rnorm(80))
  counts <- !(1:80 %in% c(3, 30:33))
  expect_lags(exact(x, y, lag = -4:4, covariates = z),
              by_hand(residuals(lm(x ~ z)), residuals(lm(y ~ z)), -4:4))
  expect_lags(exact(x, y, lag = -4:4, weights = counts), by_hand(x, y, -4:4, counts = counts))
  clean <- function(m) {
    m[counts, ] <- gpuClean(m, bandpass = c(0, 0.2), tr = 2, keep = counts)
    m
  }
  expect_lags(exact(x, y, lag = -4:4, weights = counts, bandpass = c(0, 0.2), tr = 2),
              by_hand(clean(x), clean(y), -4:4, counts = counts))
  expect_error(exact(x, lag = -1:1, covariates = z, method = "spearman"), "makes ranks in each lag")
})

test_that("data may be a file, a data frame, sparse or a series", {
  file <- tempfile()
  writeBin(as.vector(x), file, endian = "little")
  expected <- exact(x, y, lag = -3:3)
  expect_identical(exact(gpuCorFile(file, dim(x), dimnames = dimnames(x)), y, lag = -3:3), expected)
  expect_identical(exact(as.data.frame(x), y, lag = -3:3), expected)
  expect_identical(exact(ts(x), ts(y), lag = -3:3), expected)
  unlink(file)
})

# ---- networks

# The pairs of a data frame of edges, by criterion, from the largest coefficients of all pairs.
edges_by_hand <- function(r, lag, keep) {
  at <- which(keep, arr.ind = TRUE)
  frame <- data.frame(from = rownames(r)[at[, 1]], to = colnames(r)[at[, 2]], r = r[at], lag = lag[at])
  frame[order(-abs(frame$r)), ]
}

expect_edges <- function(found, expected) expect_equal(found, expected, tolerance = 1e-12, ignore_attr = TRUE)

# TRUE for the k largest weights of each column, considering all others.
nearest <- function(weight, k) {
  t(apply(weight, 1, function(w) seq_along(w) %in% order(-w)[seq_len(k)] & w > -Inf))
}

test_that("networks are those of the largest coefficients", {
  for (sign in c("absolute", "positive", "negative")) {
    weight <- switch(sign, absolute = abs, positive = identity, negative = `-`)
    full <- by_hand(x, x, -5:5, weight)
    upper <- upper.tri(full$r)
    w <- weight(full$r)
    network <- function(...) {
      gpuCorNetwork(x, ..., lag = -5:5, sign = sign, output = "edges", precision = "double")
    }
    expect_edges(network(threshold = 0.25), edges_by_hand(full$r, full$lag, upper & w >= 0.25))
    cut <- sort(w[upper], decreasing = TRUE)[4]
    expect_edges(network(density = 4 / 15), edges_by_hand(full$r, full$lag, upper & w >= cut & w > 0))
    near <- nearest(replace(w, diag(6) == 1 | w <= 0, -Inf), 2)
    expect_edges(network(k = 2), edges_by_hand(full$r, full$lag, upper & (near | t(near))))
    expect_edges(network(k = 2, mutual = TRUE), edges_by_hand(full$r, full$lag, upper & near & t(near)))
  }
})

test_that("networks of two matrices are, too, and without lag 0", {
  for (lags in list(-5:5, c(2, 4))) {
    full <- by_hand(x, y, lags)
    network <- function(...) gpuCorNetwork(x, y, ..., lag = lags, output = "edges", precision = "double")
    w <- abs(full$r)
    expect_edges(network(threshold = 0.2), edges_by_hand(full$r, full$lag, w >= 0.2))
    expect_edges(network(density = 0.3), edges_by_hand(full$r, full$lag, w >= sort(w, decreasing = TRUE)[4]))
    expect_edges(network(k = 1), edges_by_hand(full$r, full$lag, nearest(w, 1) | t(nearest(t(w), 1))))
  }
  full <- by_hand(x, x, c(-3, -1, 1, 3))
  w <- replace(abs(full$r), diag(6) == 1, 0)
  network <- function(...) gpuCorNetwork(x, ..., lag = c(1, -1, 3, -3), output = "edges", precision = "double")
  expect_edges(network(density = 0.2),
               edges_by_hand(full$r, full$lag, upper.tri(w) & w >= sort(w, decreasing = TRUE)[6]))
  near <- nearest(replace(w, diag(6) == 1, -Inf), 1)
  expect_edges(network(k = 1), edges_by_hand(full$r, full$lag, upper.tri(w) & (near | t(near))))
})

test_that("larger networks with masks agree with all pairs", {
  wide <- apply(matrix(rnorm(60 * 90), 60), 2, filter, 0.7, "recursive")
  r <- gpuCor(wide, lag = -4:4, precision = "double")
  m <- as.matrix(r)
  label <- rep(1:3, 30)
  same <- outer(label, label, "==") & upper.tri(m)
  for (pairs in list(NULL, pairMask(label, same = TRUE))) {
    counted <- if (is.null(pairs)) upper.tri(m) else same
    net <- gpuCorNetwork(wide, density = 0.05, lag = -4:4, pairs = pairs, precision = "double")
    cut <- sort(abs(m[counted]), decreasing = TRUE)[ceiling(0.05 * sum(counted))]
    expect_identical(which(as.matrix(net) != 0 & upper.tri(m)), which(counted & abs(m) >= cut))
    expect_equal(net@threshold, cut, tolerance = 1e-12)
    methods::validObject(net)
  }
  frame <- as.data.frame(net)
  expect_identical(frame$lag, attr(r, "lag")[trianglePosition(frame$from, frame$to, 90)])
  pruned <- as.data.frame(gpuPrune(net))
  expect_identical(pruned$lag, frame$lag[match(paste(pruned$from, pruned$to), paste(frame$from, frame$to))])
})

test_that("what is printed, summarized and drawn of lagged results shows the lags", {
  r <- exact(x, lag = -8:8)
  lag <- as.vector(attr(r, "lag"))
  shown <- capture.output(print(r))
  at <- grep("^lags, by which the variable of a row follows that of a column:$", shown)
  expect_length(at, 1)
  expect_match(shown[at + 2:3], "^[bc] +[-0-9]", all = TRUE)
  expect_match(shown[at + 2], "^b +4 *$")
  expect_match(shown[at + 5], "^e .* -2 *$")
  expect_false(any(grepl("^lags", capture.output(print(exact(x))))))
  found <- summary(r)
  expect_identical(found$lag, quantile(lag))
  best <- order(-abs(as.vector(r)))[1:6]
  expect_identical(found$strongest$lag, lag[best])
  expect_null(summary(exact(x))$lag)
  net <- gpuCorNetwork(x, threshold = 0.3, lag = -8:8, precision = "double")
  edges <- as.data.frame(net)
  expect_identical(capture.output(print(head(edges), digits = 4L, row.names = FALSE)),
                   tail(capture.output(print(net)), nrow(head(edges)) + 1))
  expect_equal(summary(net)$lag, quantile(edges$lag))
  for (drawn in list(r, net)) {
    expect_true("lag (rows)" %in% texts_of(plot(drawn, "lag")))
    expect_true("lag (rows)" %in% texts_of(plot(drawn)))
  }
  many <- texts_of(gpucor:::draw_lags(c(-300:300, NA), "pairs"))
  expect_true(all(c("-300", "300") %in% many))
  expect_error(plot(exact(x), "lag"), "'x' has no lags; give gpuCor() 'lag'", fixed = TRUE)
  expect_error(plot(gpuCorNetwork(x, threshold = 0.3), "lag"), "'x' has no lags; give gpuCorNetwork() 'lag'",
               fixed = TRUE)
})

test_that("what lags do not take is an error", {
  expect_error(gpuCor(x, lag = 0:3), "'lag' must be given with both signs, not 0:3")
  for (lag in list("1", 1.5, NA, numeric())) {
    expect_error(gpuCor(x, y, lag = lag), "'lag' must be integers, such as -10:10, not")
  }
  expect_error(gpuCor(x, lag = -1:1, test = TRUE), "no tests")
  expect_error(gpuCor(x, lag = -1:1, weights = 1:80), "'weights' other than 0 and 1")
  expect_error(gpuCor(x, lag = -1:1, partial = TRUE), "partial = TRUE")
  expect_error(gpuCor(list(x, x), lag = -1:1, combine = "mean"), "one subject's series")
  network <- function(...) gpuCorNetwork(x, lag = -1:1, ...)
  expect_error(network(p.value = 0.05), "'p.value' is of one coefficient")
  expect_error(network(threshold = c(0.1, 0.2)), "must be one number with 'lag'")
  expect_error(network(threshold = 0.1, normalize = "clr"), "normalize")
  expect_error(network(threshold = 0.1, shards = 2), "'shards'")
  expect_error(network(threshold = 0.1, file = tempfile()), "leave out 'file'")
  path <- tempfile("plan")
  expect_error(gpuCorPlan(path, x, lag = -1:1, verb = "gpuCor", shards = 2), "cannot be in a plan")
  unlink(path, recursive = TRUE)
})

test_that("ten rows overlap, or half of few, or 'min_overlap'", {
  few <- x[1:12, ]
  expect_error(gpuCor(few, lag = -10:10), "from -6 to 6, not -10, at which 2 rows of 12 overlap, and .* is 6$")
  expect_error(gpuCorNetwork(few, few, density = 0.1, lag = 7), "from -6 to 6, not 7, at which 5 rows of 12 .* is 6$")
  expect_silent(exact(few, lag = -6:6))
  expect_error(gpuCor(x, y, lag = -71), "'lag' must be from -70 to 70, not -71, at which 9 rows of 80 overlap.* 10$")
  expect_silent(exact(x, y, lag = -70))
  expect_lags(exact(few, y[1:12, ], lag = -9:9, min_overlap = 3), by_hand(few, y[1:12, ], -9:9))
  for (of in list(gpuCor, function(...) gpuCorNetwork(..., density = 0.1))) {
    expect_error(of(few, few, lag = 10, min_overlap = 3), "from -9 to 9, not 10, at which 2 rows .* is 3")
    expect_error(of(few, lag = 0, min_overlap = 2),
                 "'min_overlap' must be a whole number between 3 and 12, not 2; there are 12 rows")
    expect_error(of(few, min_overlap = 5), "'min_overlap' is for 'lag'")
  }
  expect_error(gpuCor(x[1:2, ], lag = 0), "must be left out, not 0, at which 2 rows of 2 overlap, .* is 3")
  counts <- rep(c(TRUE, FALSE), c(20, 60))
  expect_error(gpuCor(x, y, lag = 11, weights = counts), "from -10 to 10, not 11, at which 9 rows of 20 overlap")
})

test_that("with runs both rows of a lag are of one run", {
  runs <- rep(c("one", "two"), c(50, 30))
  clean <- function(m) rbind(residuals(lm(m[1:50, ] ~ 1)), residuals(lm(m[51:80, ] ~ 1)))
  within <- function(l) {
    at <- Filter(function(t) t + l >= 1 && t + l <= 80 && runs[t] == runs[t + l], 1:80)
    cor(clean(x)[at, ], clean(y)[at + l, ])
  }
  for (l in c(-7, 0, 25)) expect_equal(exact(x, y, lag = l, runs = runs), within(l), ignore_attr = TRUE)
  expect_error(gpuCor(x, y, lag = 45, runs = runs),
               "'lag' must be from -40 to 40, not 45, at which 5 rows of 80 overlap")
})
