# gpuCorNetwork() against networks made of all coefficients.

criteria <- list(threshold = 0.3, density = 0.05, k = 3, p.value = 0.05, fdr = 0.2)

# All coefficients, those of cor(), as the matrix that has them, or NULL where cor() fails.
expect_coefficients <- function(x, y, use, method, backend, label) {
  truth <- outcome(pair_cor(x, y, use, method))
  if (!is.null(truth$error)) {
    expect_error(gpuCorNetwork(x, y, threshold = 0, use = use, method = method, backend = backend))
    return(NULL)
  }
  net <- quiet_network(x, y, threshold = 0, use = use, method = method, backend = backend)
  expect_network(net, truth$value, !is.na(truth$value), tolerance[[method]], FALSE, is.null(y), label)
  values_of(net)
}

# The network by one criterion, against that of `ours`, the engine's own coefficients: exactly the same edges, but for
# rounding of p.
expect_criterion <- function(x, y, use, method, backend, ours, criterion, sign, mutual, label) {
  symmetric <- is.null(y)
  value <- criteria[[criterion]]
  run <- function() {
    do.call(quiet_network, c(list(x, y, sign = sign, mutual = mutual, use = use, method = method, backend = backend),
                             by_criterion(criterion, value)))
  }
  by_p <- criterion %in% c("p.value", "fdr")
  n <- if (use %in% c("complete.obs", "na.or.complete")) sum(complete.cases(cbind(x, y))) else nrow(x)
  if (by_p && n < 3) return(expect_error(run(), "p values need at least 3 observations"))
  net <- run()
  p <- if (by_p) reference_p(x, y, use, method)
  truth <- reference_network(ours, criterion, value, sign, mutual, p, if (by_p) tolerance[[method]] else 0, symmetric)
  expect_network(net, ours, truth$keep, 0, truth$near, symmetric, label)
  if (criterion == "density") {
    expect(identical(net@threshold, reference_density(ours, value, sign, symmetric)), paste(label, "threshold"))
  }
}

for (backend in backends()) {
  test_that(paste(backend, "has the edges of every criterion"), {
    data <- kinds_of_data(23, 24)
    rows <- covering(kind = names(data), use = all_uses, method = all_methods, sides = c("x", "wide x", "wide y"),
                     criterion = names(criteria), sign = all_signs)
    if (full_tier()) { # every kind with every use and method
      more <- covering(kind = names(data), use = all_uses, method = all_methods)
      others <- unique(rows[c("sides", "criterion", "sign")])
      rows <- rbind(rows, cbind(more, others[rep_len(seq_len(nrow(others)), nrow(more)), ]))
    }
    rows$mutual <- rows$criterion == "k" & cumsum(rows$criterion == "k") %% 2 == 0 # every second one by k
    for_rows(rows, function(kind, use, method, sides, criterion, sign, mutual, label) {
      label <- paste(backend, label)
      x <- data[[kind]]
      sides <- switch(sides, x = list(x, NULL), `wide x` = list(x[, 6:24], x[, 1:9]),
                      `wide y` = list(x[, 1:9], x[, 6:24]))
      ours <- expect_coefficients(sides[[1]], sides[[2]], use, method, backend, label)
      if (is.null(ours)) { # so that the other settings meet all the same
        use <- "pairwise.complete.obs"
        ours <- expect_coefficients(sides[[1]], sides[[2]], use, method, backend, label)
      }
      expect_criterion(sides[[1]], sides[[2]], use, method, backend, ours, criterion, sign, mutual, label)
    })
    expect_nothing_left()
  })
}

# ---- ties, as they are in double: ratios of whole numbers

for (backend in backends()) {
  test_that(paste(backend, "keeps ties at the border and gives neighbours to the earlier column"), {
    data <- list(rounded(9, 40), heavy_ties(12, 33), with_duplicates(rounded(5, 60)))
    rows <- covering(data = 1:3, sign = all_signs, method = c("kendall", "spearman"),
                     asked = c("1 edge", "2 edges", "10 edges", "a third", "k = 1", "k = 4", "k = 12"),
                     mutual = c(FALSE, TRUE))
    for_rows(rows, function(data_at, sign, method, asked, mutual, label) {
      x <- data[[data_at]]
      r <- exact_cor(x, method = method)
      run <- function(...) quiet_network(..., sign = sign, method = method, backend = backend)
      if (!startsWith(asked, "k")) {
        weights <- ranked_weights(r, sign, TRUE)
        k <- if (asked == "a third") length(weights) %/% 3 else as.numeric(sub(" .*", "", asked))
        net <- run(x, density = (k - 0.5) / choose(ncol(x), 2))
        expect_network(net, r, !is.na(r) & weight_of(r, sign) >= weights[k], 0, label = label)
        expect_equal(net@threshold, weights[k], tolerance = 0, label = label)
        return()
      }
      k <- as.numeric(sub("k = ", "", asked))
      net <- run(x, k = k, mutual = mutual)
      expect_network(net, r, reference_network(r, "k", k, sign, mutual)$keep, 0, label = label)
      y <- x[, 3:20]
      square <- exact_cor(x, y, method)
      truth <- reference_network(square, "k", k, sign, mutual, symmetric = FALSE)
      expect_network(run(x, y, k = k, mutual = mutual), square, truth$keep, 0, label = paste(label, "with y"))
    })
  })
}

test_that("an edge has the threshold exactly", {
  for (backend in backends()) for (method in all_methods) for (x in list(normal(20, 30), rounded(8, 30))) {
    all <- gpuCorNetwork(x, threshold = 0, method = method, backend = backend)
    for (r in sort(abs(all@x))[c(1, 100, 300, 435)]) {
      net <- gpuCorNetwork(x, threshold = r, method = method, backend = backend)
      expect_identical(net@edges, sum(abs(all@x) >= r) + 0)
      if (r > 0 && r < 1) {
        above <- gpuCorNetwork(x, threshold = min(1, r * (1 + 1e-15)), method = method, backend = backend)
        expect_identical(above@edges, sum(abs(all@x) > r) + 0)
      }
    }
  }
})

# ---- sizes about the edges of blocks and tiles

for (backend in backends()) {
  test_that(paste(backend, "over blocks' and tiles' edges"), {
    wide <- c(cpu = 2049, cuda = 4097)[[backend]]
    rows <- covering(n_var = c(63:65, 255:257, wide), method = all_methods, criterion = c("threshold", "density", "k"))
    few <- rows$criterion == "threshold" | (full_tier() & rows$method == "kendall")
    rows <- rows[rows$n_var < wide | few, ]
    known <- "" # r is of
    for_rows(rows[order(rows$n_var, rows$method), ], function(n_var, method, criterion, label) {
      large <- n_var == wide
      if (large && method != "kendall" && criterion == "k") criterion <- "density"
      x <- if (method == "pearson") normal(11, n_var) else rounded(7, n_var)
      if (large) x[, n_var] <- x[, 1] # an edge in the last tile
      if (known != paste(n_var, method)) {
        r <<- if (method == "pearson") quick_pair_cor(x, method) else exact_cor(x, method = method)
        known <<- paste(n_var, method)
      }
      within <- if (method == "pearson") 1e-6 else 0
      run <- function(...) quiet_network(..., method = method, backend = backend)
      value <- list(threshold = 0.6, density = if (large) 0.002 else 0.02, k = 5)[[criterion]]
      truth <- reference_network(r, criterion, value, within = within)
      net <- do.call(run, c(list(x), by_criterion(criterion, value)))
      expect_network(net, r, truth$keep, tolerance[[method]], truth$near, label = label)
      if (!large || criterion != "threshold") return()
      narrow <- c(1:257, n_var)
      square <- run(x[, narrow], x, threshold = 0.7)
      r[cbind(narrow, narrow)] <- 1
      truth <- reference_network(r[narrow, ], "threshold", 0.7, within = within, symmetric = FALSE)
      expect_network(square, r[narrow, ], truth$keep, tolerance[[method]], truth$near, label = paste(label, "with y"))
    })
    expect_nothing_left()
  })
}

# ---- neighbours on a GPU: first a sample of columns, then records of edges

test_that("a GPU has the neighbours of the CPU, whatever memory it may take", {
  skip_without_gpu()
  x <- rounded(9, 3000) # many ties
  x[, 7] <- 1 # constant
  y <- with_duplicates(rounded(9, 500))
  rows <- covering(method = all_methods, sign = all_signs, k = c(1, 4, 40), mutual = c(FALSE, TRUE),
                   sides = c("x", "x, y", "y, x"), memory = c("all", "pruned often", "by the host"))
  for_rows(rows, function(method, sign, k, mutual, sides, memory, label) {
    sides <- switch(sides, x = list(x, NULL), `x, y` = list(x, y), `y, x` = list(y, x))
    final <- 2 * 48 * k * (ncol(sides[[1]]) + NCOL(sides[[2]]) * !is.null(sides[[2]])) # bytes of the records kept
    bytes <- switch(memory, all = NULL, `pruned often` = ceiling(4.1 * final),
                    `by the host` = floor(3.9 * final))
    run <- function(...) {
      quiet_network(sides[[1]], sides[[2]], k = k, mutual = mutual, sign = sign, method = method, ...)
    }
    expect_identical(slots_of(run(backend = "cuda", memory = bytes)), slots_of(run(backend = "cpu")), label = label)
  })
  expect_nothing_left()
})

test_that("a GPU has the CPU's neighbours if the sample has some of the columns", {
  skip_without_gpu()
  x <- normal(10, 34000)
  x[, 20001:24000] <- x[, 1:4000] + x[, 20001:24000] / 4 # near one another, and far from the sample
  for (method in all_methods) {
    run <- function(...) slots_of(gpuCorNetwork(..., k = 5, method = method))
    expect_identical(run(x, backend = "cuda"), run(x, backend = "cpu"), label = method)
    expect_identical(run(x, x[, 1:2000], backend = "cuda"), run(x, x[, 1:2000], backend = "cpu"), label = method)
  }
})

# ---- the same network however it is computed

for (backend in backends()) {
  test_that(paste(backend, "does not depend on threads, workers or the back end"), {
    given <- list(threshold = list(threshold = 0.8), density = list(density = 0.01), k = list(k = 4),
                  mutual = list(k = 4, mutual = TRUE), fdr = list(fdr = 0.9, sign = "positive"))
    rows <- covering(given = names(given), use = c("everything", "pairwise.complete.obs"), method = all_methods,
                     by = c("2 threads", "3 threads", "workers", if (backend != "cpu") "cpu"), sides = c("x", "x, y"))
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    for_rows(rows, function(which, use, method, by, sides, label) {
      if (which == "fdr") use <- "everything"
      n_var <- if (by == "workers" && use == "everything") c(cpu = 2088, cuda = 4136)[[backend]] else 600
      x <- if (method == "pearson") normal(6, n_var) else rounded(6, n_var)
      if (use != "everything") x <- with_missing(x, 0.1)
      run <- function(..., at = backend) {
        data <- if (sides == "x") list(x) else list(x[, 1:250], x[, 200:600])
        do.call(quiet_network, c(data, given[[which]], list(use = use, method = method, backend = at, ...)))
      }
      other <- switch(by, `2 threads` = run(threads = 2), `3 threads` = run(threads = 3), cpu = run(at = "cpu"),
                      workers = with_options(list(gpucor.workers_per_device = 3L), run()))
      expect_same_network(other, run(threads = 1), paste(backend, label))
    })
    expect_nothing_left()
  })

  test_that(paste(backend, "does not depend on rounds"), {
    width <- c(cpu = 2048, cuda = 4096)[[backend]]
    rows <- covering(given = c("threshold", "density", "k", "k, y"), use = c("everything", "pairwise.complete.obs"),
                     method = all_methods, strength = if (full_tier()) 2 else 1)
    for_rows(rows, function(given, use, method, label) {
      x <- normal(6, width + 40)
      if (method == "pearson" && use == "everything") x <- normal(6, 2 * width + 40)
      if (use != "everything") x <- with_missing(x, 0.05)
      run <- function(...) {
        asked <- switch(given, threshold = list(threshold = 0.995), density = list(density = 0.001), list(k = 2))
        do.call(quiet_network, c(list(x, if (given == "k, y") x[, 1:70]), asked,
                                 list(use = use, method = method, backend = backend, ...)))
      }
      expect_same_network(run(memory = 1), run(), paste(backend, label))
    })
    expect_nothing_left()
  })
}

# ---- special data

test_that("copies have coefficients of exactly 1", {
  for (backend in backends()) for (method in all_methods) {
    x <- normal(20, 30)
    x <- cbind(x, x, -x[, 1:5])
    net <- gpuCorNetwork(x, threshold = 1, method = method, backend = backend)
    expect_identical(as.data.frame(net)$r, net@x[order(-abs(net@x), net@i)])
    expect_setequal(net@x, c(1, -1))
    edges <- as.data.frame(net)
    expect_true(all(paste(1:30, 31:60) %in% paste(edges$from, edges$to)))
    expect_identical(net@edges, 30 + 10)
    positive <- gpuCorNetwork(x, density = 30 / choose(65, 2), sign = "positive", method = method, backend = backend)
    expect_identical(positive@edges, 30)
    expect_identical(positive@threshold, 1)
  }
})

test_that("few observations", {
  for (backend in backends()) for (method in all_methods) {
    for (n_obs in 0:1) {
      net <- quiet_network(normal(n_obs, 5), threshold = 0, method = method, backend = backend)
      expect_identical(net@edges, 0)
      expect_identical(quiet_network(normal(n_obs, 5), k = 2, method = method, backend = backend)@edges, 0)
      expect_identical(quiet_network(normal(n_obs, 5), density = 0.5, method = method, backend = backend)@edges, 0)
    }
    x <- normal(2, 8)
    r <- pair_cor(x, method = method)
    expect_network(gpuCorNetwork(x, threshold = 1, method = method, backend = backend), r, !is.na(r), 1e-15)
    expect_network(gpuCorNetwork(x, threshold = 0.5, sign = "negative", method = method, backend = backend), r,
                   !is.na(r) & r < 0, 1e-15)
    for (n_obs in 0:2) for (criterion in c("p.value", "fdr")) {
      expect_error(do.call(gpuCorNetwork, c(list(normal(n_obs, 5), method = method, backend = backend),
                                            by_criterion(criterion, 0.5))), "p values need at least 3 observations")
    }
    x <- normal(3, 8)
    r <- pair_cor(x, method = method)
    expect_network(gpuCorNetwork(x, threshold = 0, method = method, backend = backend), r, !is.na(r), 1e-6)
    p <- reference_p(x, method = method)
    truth <- reference_network(r, "p.value", 0.3, p = p, within = 1e-6)
    expect_network(gpuCorNetwork(x, p.value = 0.3, method = method, backend = backend), r, truth$keep, 1e-6, truth$near)
    # Squares of t that no double holds.
    if (method == "pearson") expect_identical(gpuCorNetwork(x, p.value = 1e-200, backend = backend)@edges, 0)
  }
})

test_that("few variables", {
  sizes <- list(0, 1, 2, c(0, 3), c(3, 0), c(0, 0)) # of x, or of x and y
  rows <- covering(size = sizes, criterion = names(criteria), method = all_methods)
  for (backend in backends()) for_rows(rows, function(size, criterion, method, label) {
    run <- function(...) {
      do.call(gpuCorNetwork, c(list(..., method = method, backend = backend), by_criterion(criterion, 1)))
    }
    if (length(size) == 2) {
      net <- run(normal(12, size[1]), normal(12, size[2]))
      expect_identical(dim(net), as.integer(size))
      expect_identical(net@edges, 0)
      return(expect_true(validObject(net)))
    }
    x <- normal(12, size)
    if (size == 2) x[, 2] <- x[, 1]
    net <- run(x)
    expect_network(net, no_diagonal(matrix(1, size, size)), diag(size) == 0, 0, label = label)
    expect_identical(nrow(as.data.frame(net)), as.integer(size == 2))
    expect_output(show(net), if (sum(net != 0) == 0) "0 edges" else "1 edge ")
  })
})

test_that("no edges and all edges", {
  for (backend in backends()) for (method in all_methods) {
    x <- normal(20, 70)
    r <- pair_cor(x, method = method)
    run <- function(...) gpuCorNetwork(..., method = method, backend = backend)
    all <- run(x, threshold = 0)
    expect_network(all, r, !is.na(r), tolerance[[method]])
    for (net in list(run(x, density = 1), run(x, k = 69), run(x, k = 1e9), run(x, k = 70, mutual = TRUE),
                     run(x, p.value = 1), run(x, fdr = 1))) {
      for (part in c("p", "i", "x")) expect_identical(methods::slot(net, part), methods::slot(all, part))
    }
    expect_identical(run(x, density = 1)@threshold, min(abs(all@x)))
    none <- r & FALSE
    for (net in list(run(x, threshold = 1), run(x, p.value = 1e-300), run(x, fdr = 1e-300))) {
      expect_network(net, r, !is.na(none) & none, 0)
      expect_identical(names(as.data.frame(net))[1:3], c("from", "to", "r"))
      expect_identical(dim(run(x, threshold = 1, output = "edges")), c(0L, 3L))
      expect_output(show(net), "\\b0 edges of 2,415 pairs \\(0 %\\)")
    }
    # A sign that no pair has.
    same <- abs(normal(20, 1)[, 1]) %o% 1:10 + normal(20, 10) / 100
    expect_identical(run(same, threshold = 0, sign = "negative")@edges, 0)
    expect_identical(run(same, k = 3, sign = "negative")@edges, 0)
    expect_identical(run(same, density = 0.5, sign = "negative")@edges, 0)
    expect_identical(run(same, fdr = 0.5, sign = "negative")@edges, 0)
    expect_identical(run(same, p.value = 1, sign = "positive")@edges, 45)
  }
})

test_that("constant columns have no edges and are counted in one warning", {
  rows <- covering(criterion = names(criteria), use = c("everything", "complete.obs", "pairwise"),
                   method = all_methods)
  for (backend in backends()) for_rows(rows, function(criterion, use, method, label) {
    x <- with_constants(normal(20, 12))
    if (use != "everything") x[3, 5] <- NA
    run <- function(..., value = criteria[[criterion]]) {
      do.call(gpuCorNetwork, c(list(..., use = use, method = method, backend = backend),
                               by_criterion(criterion, value)))
    }
    expect_identical(warnings_of(net <- run(x)), "the standard deviation is zero (2 of 12 columns of 'x': 2, 12)",
                     label = label)
    expect_true(all(Matrix::rowSums(net != 0)[c(2, 12)] == 0))
    expect_identical(warnings_of(run(x[, 1:3], x[, 4:12], output = "edges")), label = label,
                     "the standard deviation is zero (1 of 3 columns of 'x': 2; 1 of 9 columns of 'y': 9)")
    colnames(x) <- paste0("v", 1:12)
    expect_identical(warnings_of(run(x)), "the standard deviation is zero (2 of 12 columns of 'x': v2, v12)",
                     label = label)
    x[] <- 5
    said <- warnings_of(net <- run(x, value = 1))
    expect_identical(said, "the standard deviation is zero (12 of 12 columns of 'x': v1, v2, v3, ...)", label = label)
    expect_identical(net@edges, 0)
  })
})

test_that("columns without coefficients for missing values are counted in a warning", {
  x <- normal(20, 12)
  x[3, c(5, 12)] <- NA
  x[, 7] <- NA
  colnames(x) <- paste0("v", 1:12)
  rows <- covering(criterion = names(criteria), method = all_methods, strength = if (full_tier()) 2 else 1)
  for (backend in backends()) for_rows(rows, function(criterion, method, label) {
    run <- function(...) {
      do.call(gpuCorNetwork, c(list(..., method = method, backend = backend),
                               by_criterion(criterion, criteria[[criterion]])))
    }
    expect_identical(warnings_of(run(x)),
                     "missing values leave no coefficient (3 of 12 columns of 'x': v5, v7, v12); see 'use'")
    expect_identical(warnings_of(run(x, use = "pairwise")),
                     "fewer than two values leave no coefficient (1 of 12 columns of 'x': v7)")
    expect_identical(warnings_of(run(x[, 1:4], x[, 5:12])),
                     "missing values leave no coefficient (3 of 8 columns of 'y': v5, v7, v12); see 'use'")
    expect_identical(warnings_of(run(x[, -7], use = "complete.obs")), character())
  })
})

test_that("constants are no tests", {
  # With them among the tests, Benjamini and Hochberg's rule would have fewer edges.
  x <- normal(20, 15)
  x[, 2:6] <- x[, 1] + normal(20, 5, seed = 3) / 2
  for (backend in backends()) for (method in all_methods) {
    y <- cbind(x, matrix(1, 20, 40))
    run <- function(x) quiet_network(x, fdr = 0.05, method = method, backend = backend)
    expect_gt(run(x)@edges, 5)
    expect_identical(run(y)@x, run(x)@x)
    expect_identical(run(y)@threshold, run(x)@threshold)
    y[2, 20] <- NA
    expect_identical(run(y)@x, run(x)@x)
  }
})

# ---- arguments and the result

test_that("what x may be", {
  x <- rounded(25, 12)
  colnames(x) <- letters[1:12]
  integers <- x
  storage.mode(integers) <- "integer"
  sparse <- Matrix::Matrix(x, sparse = TRUE)
  holes <- x
  holes[2, 3] <- NA
  rows <- covering(criterion = names(criteria), method = all_methods, strength = if (full_tier()) 2 else 1)
  for (backend in backends()) for_rows(rows, function(criterion, method, label) {
    run <- function(...) {
      suppressMessages(do.call(gpuCorNetwork, c(list(..., method = method, backend = backend),
                                                by_criterion(criterion, criteria[[criterion]]))))
    }
    truth <- run(x)
    expect_same_network(run(integers), truth, "integer")
    expect_same_network(run(as.data.frame(x)), truth, "data frame")
    expect_same_network(run(sparse), truth, "sparse")
    expect_identical(run(as.data.frame(x))@Dimnames, truth@Dimnames)
    expect_identical(run(sparse)@Dimnames, truth@Dimnames)
    truth <- run(holes, use = "pairwise")
    expect_same_network(run(Matrix::Matrix(holes, sparse = TRUE), use = "pairwise"), truth, "sparse, pairwise")
    truth <- run(holes, use = "complete")
    expect_same_network(run(Matrix::Matrix(holes, sparse = TRUE), use = "complete"), truth, "sparse, complete")
    expect_same_network(run(x[, 1], x), run(x[, 1, drop = FALSE], x), "vector")
    expect_same_network(run(x, x[, 2]), run(x, x[, 2, drop = FALSE]), "vector as y")
    expect_same_network(run(x > 0), run((x > 0) + 0), "logical")
  })
})

test_that("names stay with their columns", {
  x <- normal(25, 12)
  named <- `colnames<-`(x, paste0("gene ", 1:12))
  expect_identical(gpuCorNetwork(named, threshold = 0.2)@Dimnames, list(colnames(named), colnames(named)))
  expect_identical(gpuCorNetwork(x, threshold = 0.2)@Dimnames, list(NULL, NULL))
  for (x_named in c(TRUE, FALSE)) for (y_named in c(TRUE, FALSE)) {
    a <- (if (x_named) named else x)[, 1:5]
    b <- (if (y_named) named else x)[, 6:12]
    net <- gpuCorNetwork(a, b, threshold = 0.2)
    expect_identical(net@Dimnames, list(colnames(a), colnames(b)))
    edges <- gpuCorNetwork(a, b, threshold = 0.2, output = "edges")
    expect_identical(edges, as.data.frame(net))
    expect_type(edges$from, if (x_named) "character" else "integer")
    expect_type(edges$to, if (y_named) "character" else "integer")
    from <- match(edges$from, if (x_named) colnames(a) else 1:5)
    to <- match(edges$to, if (y_named) colnames(b) else 1:7)
    expect_equal(edges$r, cor(a, b)[cbind(from, to)], tolerance = 1e-6)
  }
  colnames(named)[1:4] <- "twice"
  expect_identical(nrow(as.data.frame(gpuCorNetwork(named, threshold = 0))), 66L)
})

test_that("output = \"edges\" is the data frame of the matrix, strongest first", {
  data <- list(normal = normal(15, 40), ties = rounded(6, 40))
  rows <- covering(criterion = names(criteria), method = all_methods, kind = names(data),
                   strength = if (full_tier()) 3 else 1)
  for (backend in backends()) for_rows(rows, function(criterion, method, kind, label) {
    x <- data[[kind]]
    run <- function(...) {
      do.call(quiet_network, c(list(..., method = method, backend = backend),
                               by_criterion(criterion, criteria[[criterion]])))
    }
    edges <- run(x, output = "edges")
    expect_identical(edges, as.data.frame(run(x)))
    expect_identical(row.names(edges), as.character(seq_len(nrow(edges))))
    expect_true(all(edges$from < edges$to))
    expect_identical(order(-abs(edges$r), edges$from, edges$to), seq_len(nrow(edges)))
    edges <- run(x[, 1:15], x[, 11:40], output = "edges")
    expect_identical(edges, as.data.frame(run(x[, 1:15], x[, 11:40])))
    expect_identical(order(-abs(edges$r), edges$from, edges$to), seq_len(nrow(edges)))
  })
})

test_that("the slots tell how the network came about", {
  x <- normal(20, 12)
  x[4, 3] <- NA
  for (backend in backends()) {
    net <- gpuCorNetwork(x, density = 0.1, sign = "pos", use = "complete", method = "spearman", backend = backend)
    expect_identical(net@call[[1]], quote(gpuCorNetwork))
    expect_identical(net@call$density, 0.1)
    expect_identical(list(net@method, net@sign, net@criterion, net@value), list("spearman", "positive", "density", 0.1))
    expect_identical(c(net@edges, net@pairs, net@n_obs), c(7, 66, 19))
    expect_identical(net@threshold, min(net@x))
    expect_identical(quiet_network(x, k = 2L, backend = backend)@value, 2)
    expect_identical(quiet_network(x, k = 2, backend = backend)@threshold, NA_real_)
    expect_identical(gpuCorNetwork(x, threshold = 0.25, use = "pairwise", backend = backend)@n_obs, 20)
    expect_identical(quiet_network(x, x[, 1:5], threshold = 0.25, backend = backend)@pairs, 60)
    expect_identical(gpuCorNetwork(x, p.value = 0.1, use = "pairwise", backend = backend)@threshold, NA_real_)
    # The border of p: weights on it and beyond are edges.
    for (method in all_methods) for (n_obs in c(11, 12, 17, 20)) {
      y <- normal(n_obs, 12)
      net <- gpuCorNetwork(y, p.value = 0.3, method = method, backend = backend)
      expect_true(is.finite(net@threshold), label = paste(method, n_obs, "a finite threshold"))
      expect_identical(gpuCorNetwork(y, threshold = min(1, net@threshold), method = method, backend = backend)@x, net@x)
      fdr <- gpuCorNetwork(y, fdr = 0.9, method = method, backend = backend)
      if (fdr@edges == 0) next
      expect_lte(fdr@threshold, min(abs(fdr@x)))
      expect_identical(gpuCorNetwork(y, threshold = fdr@threshold, method = method, backend = backend)@x, fdr@x)
    }
  }
})

test_that("wrong arguments are errors that say what is right", {
  x <- normal(10, 5)
  one <- "'threshold', 'density', 'k', 'p.value' or 'fdr'"
  expect_error(gpuCorNetwork(x), paste("which pairs are edges? give one of", one), fixed = TRUE)
  expect_error(gpuCorNetwork(x, k = 1, threshold = 0.5),
               "give only one of 'threshold' and 'k'", fixed = TRUE)
  expect_error(gpuCorNetwork(x, fdr = 0.1, p.value = 0.5), "give only one of 'p.value' and 'fdr'")
  for (bad in list(-0.1, 1.1, NA, NA_real_, NaN, Inf, "0.5", c(0.1, 1.2), c(0.1, NA), numeric(), TRUE, list(0.5))) {
    expect_error(gpuCorNetwork(x, threshold = bad), "'threshold' must be a number in \\[0, 1\\], not ")
    for (criterion in c("density", "p.value", "fdr")) {
      expect_error(do.call(gpuCorNetwork, c(list(x), by_criterion(criterion, bad))),
                   paste0("'", criterion, "' must be a number above 0 and up to 1, not "))
    }
  }
  for (criterion in c("density", "p.value", "fdr")) {
    expect_error(do.call(gpuCorNetwork, c(list(x), by_criterion(criterion, 0))), "above 0 and up to 1, not 0")
  }
  for (bad in list(0, -1, 1.5, NA, Inf, "3", 0:2, TRUE)) {
    expect_error(gpuCorNetwork(x, k = bad), "'k' must be a whole number of at least 1, not ")
  }
  expect_error(gpuCorNetwork(x, threshold = 0.5, mutual = TRUE), "'mutual' is TRUE, which has a meaning with 'k' only")
  expect_error(gpuCorNetwork(x, k = 1, mutual = NA), "'mutual' must be TRUE or FALSE, not NA")
  expect_error(gpuCorNetwork(x, k = 1, sign = "both"), "'sign' must be one of \"absolute\", \"positive\", \"negative\"")
  expect_error(gpuCorNetwork(x, k = 1, output = "dist"), "'output' must be one of \"matrix\", \"edges\", not \"dist\"")
  expect_error(gpuCorNetwork(x, k = 1, method = "tau"), "'method' must be one of")
  expect_error(gpuCorNetwork(x, k = 1, use = "some"), "invalid 'use' argument")
  expect_error(gpuCorNetwork(x, k = 1, backend = "tpu"), "'backend' must be one of")
  expect_error(gpuCorNetwork(x, k = 1, treads = 1), "unused argument 'treads'")
  expect_error(gpuCorNetwork(x, x[1:9, ], k = 1), "incompatible dimensions")
  expect_error(gpuCorNetwork(x[, 1], k = 1), "supply both 'x' and 'y' or a matrix-like 'x'")
  expect_error(gpuCorNetwork(letters, k = 1), "'x' must be numeric")
  expect_error(gpuCorNetwork(data.frame(a = 1:3, b = letters[1:3]), k = 1), "column 2 \\(b\\)")
  x[2, 2] <- NA
  expect_error(gpuCorNetwork(x, k = 1, use = "all.obs"), "missing observations")
  expect_error(gpuCorNetwork(x * NA, k = 1, use = "complete.obs"), "no complete element pairs")
  expect_nothing_left()
})

test_that("more edges than a sparse matrix can hold are an error as soon as they are known", {
  wide <- matrix(0, 2, 70000)
  time <- system.time(expect_error(gpuCorNetwork(wide, density = 1),
                                   "2,449,965,000 edges; a sparse matrix can hold 2,147,483,647; ask for fewer, or"))
  expect_lt(time[["elapsed"]], 2)
  x <- normal(20, 300)
  for (backend in backends()) for (use in c("everything", "pairwise")) for (method in all_methods) {
    if (use == "pairwise") x[1, 1:30] <- NA
    run <- run_on(backend, x = x, method = method, use = use, criterion = list(name = "threshold", value = 0))
    for (least in c(0, 0.5)) {
      expect_error(gpucor:::edge_pass(run, least, max = 10), "more than 10 edges, .*ask for fewer, or .* file =")
      expect_nothing_left()
    }
    fits <- gpucor:::edge_pass(run, 0, max = choose(300, 2))
    rm(fits)
    expect_nothing_left()
  }
})

test_that("a network is a matrix of package Matrix", {
  x <- normal(20, 30)
  colnames(x) <- paste0("v", 1:30)
  net <- gpuCorNetwork(x, threshold = 0.3)
  square <- gpuCorNetwork(x[, 1:10], x[, 11:30], threshold = 0.3)
  for (m in list(net, square)) {
    dense <- as.matrix(m)
    expect_identical(dimnames(dense), m@Dimnames)
    expect_equal(Matrix::rowSums(m), rowSums(dense), tolerance = 1e-14)
    expect_equal(Matrix::colSums(m != 0), colSums(dense != 0), tolerance = 0)
    expect_identical(as.matrix(m != 0), dense != 0)
    expect_identical(as.matrix(m > 0.4), dense > 0.4)
    expect_identical(as.matrix(m[2:5, 3:9]), dense[2:5, 3:9])
    expect_identical(as.matrix(m[2:5, 2:5]), dense[2:5, 2:5])
    expect_identical(m[3, ], dense[3, ])
    expect_identical(m["v2", ], dense["v2", ])
    expect_identical(m[2, 4], dense[2, 4])
    expect_equal(as.matrix(m %*% Matrix::t(m)), dense %*% t(dense), tolerance = 1e-14)
    expect_equal(as.matrix(m %*% dense[1, seq_len(ncol(m)), drop = TRUE]), dense %*% dense[1, ], tolerance = 1e-14)
    expect_equal(as.matrix(Matrix::crossprod(m)), crossprod(dense), tolerance = 1e-14)
    expect_identical(as.matrix(Matrix::t(m)), t(dense))
    expect_identical(as.matrix(abs(m)), abs(dense))
    expect_identical(as.matrix(m * 2), dense * 2)
    expect_identical(as.matrix(m + m), dense + dense)
    expect_s4_class(as(m, "generalMatrix"), "dgCMatrix")
    expect_identical(as.matrix(as(m, "generalMatrix")), dense)
    expect_s4_class(as(m, "TsparseMatrix"), "TsparseMatrix")
  }
  expect_s4_class(net, "dsCMatrix")
  expect_s4_class(square, "dgCMatrix")
  expect_s4_class(net[1:4, 1:4], "dsCMatrix")
  expect_true(Matrix::isSymmetric(net))
  expect_true(all(Matrix::diag(net) == 0))
  file <- tempfile()
  saveRDS(net, file)
  expect_identical(readRDS(file), net)
})

test_that("a network shows itself in a few lines", {
  x <- normal(20, 30)
  colnames(x) <- paste0("v", 1:30)
  net <- gpuCorNetwork(x, density = 0.1)
  lines <- capture.output(show(net))
  expect_lte(length(lines), 12)
  expect_identical(lines[1], "Network of 30 variables")
  text <- paste(lines, collapse = " ")
  for (part in c("Pearson's correlation", "20 observations", "density = 0.1", "|r| >= 0.", "44 edges of 435 pairs")) {
    expect_match(text, part, fixed = TRUE)
  }
  strongest <- as.data.frame(net)[1, ]
  expect_match(text, paste0(" ", strongest$from, " +", strongest$to, " +", "-?0\\.[0-9]{4} "))
  square <- gpuCorNetwork(x[, 1:10], x[, 11:30], k = 2, sign = "negative", method = "kendall")
  expect_output(show(square), "Network of 10 x 20 variables")
  expect_output(show(square), "Kendall's tau-b.*each one's 2 strongest neighbors.*[0-9]+ edges of 200 pairs")
  expect_output(show(gpuCorNetwork(x, threshold = 0.2, sign = "negative")), "-r >= 0.2")
  # print() as the prompt does. Where Matrix is attached it is Matrix's own, with a method for sparse matrices.
  for (m in list(net, square)) for (print in list(base::print, Matrix::print)) {
    expect_identical(capture.output(print(m)), capture.output(show(m)))
  }
})

test_that("igraph takes the matrix and the edges", {
  skip_if_not_installed("igraph")
  x <- normal(20, 30)
  named <- `colnames<-`(x, paste0("v", 1:30))
  for (x in list(x, named)) {
    net <- gpuCorNetwork(x, threshold = 0.4)
    vertices <- if (is.null(colnames(x))) 1:30 else colnames(x)
    graphs <- list(igraph::graph_from_adjacency_matrix(net, mode = "undirected", weighted = TRUE),
                   igraph::graph_from_data_frame(as.data.frame(net), directed = FALSE, vertices = vertices))
    for (graph in graphs) {
      expect_equal(igraph::ecount(graph), net@edges)
      expect_equal(igraph::vcount(graph), 30)
      expect_equal(unname(igraph::degree(graph)), unname(Matrix::rowSums(net != 0)))
      weights <- c(igraph::E(graph)$weight, igraph::E(graph)$r)
      expect_equal(sort(weights), sort(net@x))
    }
  }
})

test_that("edges of pairs that share very few observations are told", {
  x <- normal(30, 400)
  set.seed(3)
  x[runif(length(x)) < 0.85] <- NA
  shared <- crossprod(!is.na(x))[upper.tri(diag(400))]
  r <- suppressWarnings(cor(x, use = "pairwise"))[upper.tri(diag(400))]
  few <- sum(shared <= 5 & abs(r) > 1 - 1e-6, na.rm = TRUE)
  for (criterion in list(list(threshold = 0.95), list(density = 0.001), list(k = 2))) {
    network <- function(...) do.call(gpuCorNetwork, c(list(...), use = "pairwise", criterion))
    told <- capture_warnings(network(x))
    expect_match(told, "edges have abs.r. = 1 from 5 observations or fewer", all = FALSE)
    number <- if (names(criterion) == "threshold") format(few, big.mark = ",") else "[0-9,]+"
    expect_match(told, paste0("^", number, " of"), all = FALSE)
    expect_silent(network(replace(normal(30, 40), 1, NA)))
    net <- suppressWarnings(network(x))
    of_edges <- crossprod(!is.na(x))[as.matrix(net != 0)]
    expect_identical(net@adjusted$shared, as.numeric(range(of_edges)))
    expect_output(print(net), paste("edges of", paste(unique(range(of_edges)), collapse = " to "), "pairwise-"))
  }
  several <- capture_warnings(nets <- gpuCorNetwork(x, use = "pairwise", threshold = c(0.95, 0.999)))
  expect_length(grep("edges have abs.r. = 1 from 5 observations or fewer", several), 2L)
  expect_identical(nets[[2]]@adjusted$shared[1], 2)
  expect_null(gpuCorNetwork(normal(30, 40), use = "pairwise", k = 2)@adjusted$shared)
})
