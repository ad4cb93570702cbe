# gpuConnectivity() against sums over cor().

quiet_connectivity <- function(...) suppressWarnings(gpuConnectivity(...))

# Whole, fractional, not in order, twice, and beyond what is multiplied out.
powers <- c(6, 0.5, 1, 12, 2.5, 40, 6)

expect_connectivity <- function(con, r, sign = "absolute", type = "unsigned", label = "") {
  wrong <- connectivity_flaws(con, r, sign, type)
  expect(length(wrong) == 0, paste(c(label, wrong), collapse = "\n"))
}

for (backend in backends()) {
  test_that(paste(backend, "sums over each column's pairs"), {
    data <- kinds_of_data(23, 30)
    rows <- covering(kind = names(data), use = all_uses, method = all_methods)
    rows$sign <- rep_len(all_signs, nrow(rows))
    rows$type <- rep_len(rep(all_types, each = 3), nrow(rows))
    for_rows(rows, function(kind, use, method, sign, type, label) {
      x <- data[[kind]]
      run <- function(...) quiet_connectivity(x, ..., sign = sign, use = use, method = method, backend = backend)
      truth <- outcome(pair_cor(x, NULL, use, method))
      if (!is.null(truth$error)) {
        expect_error(run(threshold = 0.3))
        use <- "pairwise.complete.obs" # so that the other settings meet all the same
        truth <- outcome(pair_cor(x, NULL, use, method))
      }
      label <- paste(backend, label)
      con <- run(threshold = 0.3, power = powers, type = type, histogram = TRUE)
      expect_s3_class(con$histogram, "histogram")
      expect_connectivity(con, truth$value, sign, type, label)
      if (!full_tier() && sign != "absolute") return()
      # The network's own edges.
      net <- quiet_network(x, threshold = 0.3, sign = sign, use = use, method = method, backend = backend)
      expect_identical(con$degree, unname(Matrix::rowSums(net != 0)) + 0, label = label)
      net <- quiet_network(x, density = 0.1, sign = sign, use = use, method = method, backend = backend)
      con <- run(density = 0.1)
      expect_null(con$histogram)
      expect_equal(con$strength, unname(Matrix::rowSums(abs(net))), tolerance = 1e-14, label = label)
      expect_identical(con$threshold, net@threshold, label = label)
      expect_identical(con$degree, rowSums(edge_places(net)), label = label)
      expect_identical(con$edges, net@edges, label = label)
    })
    expect_nothing_left()
  })

  test_that(paste(backend, "has every sign and type, with and without edges"), {
    x <- rounded(15, 40)
    for_rows(covering(method = all_methods, sign = all_signs, type = all_types), function(method, sign, type, label) {
      run <- function(...) gpuConnectivity(x, ..., sign = sign, type = type, method = method, backend = backend)
      both <- run(threshold = 0.25, power = powers)
      expect_connectivity(both, pair_cor(x, method = method), sign, type, label)
      only <- run(threshold = 0.25)
      expect_identical(only[c("degree", "strength", "edges")], both[c("degree", "strength", "edges")])
      expect_null(only$soft)
      soft <- run(power = powers)
      expect_identical(soft$soft, both$soft)
      expect_false(any(c("degree", "strength", "edges", "threshold") %in% names(soft)))
      for (p in c(1, 3, 6)) expect_equal(run(power = powers[p])$soft[, 1], both$soft[, p], tolerance = 1e-13)
      expect_identical(both$soft[, 1], both$soft[, 7])
    })
    for (method in all_methods) {
      r <- pair_cor(x, method = method)
      expect_connectivity(gpuConnectivity(x, threshold = 0, power = 1:32, method = method, backend = backend), r)
      expect_connectivity(gpuConnectivity(x, threshold = 1, method = method, backend = backend), r)
      all <- gpuConnectivity(x, density = 1, method = method, backend = backend)
      expect_identical(all$degree, rep(39, 40))
      expect_equal(all$strength, rowSums(abs(r), na.rm = TRUE), tolerance = 1e-6)
    }
  })

  test_that(paste(backend, "over blocks' and tiles' edges"), {
    wide <- c(cpu = 2049, cuda = 4097)[[backend]]
    rows <- covering(n_var = c(63:65, 255:257, wide), method = all_methods, strength = if (full_tier()) 2 else 1)
    rows <- rows[rows$n_var < wide | !duplicated(rows$n_var), ] # the widest by one method
    for_rows(rows, function(n_var, method, label) {
      x <- if (method == "kendall") rounded(6, n_var) else normal(6, n_var)
      run <- function(...) quiet_connectivity(x, threshold = 0.8, ..., method = method, backend = backend)
      r <- no_diagonal(quick_cor(x, method))
      if (n_var == wide && !full_tier()) {
        return(expect_equal(run(power = 1)$soft[, 1], rowSums(abs(r), na.rm = TRUE), tolerance = 1e-6))
      }
      con <- run(power = 4, histogram = TRUE)
      expect_connectivity(con, r, label = label)
      edges <- c("degree", "strength", "edges")
      expect_identical(run()[edges], con[edges], label = label)
    })
  })
}

# ---- edges alone

# What is a number of edges or a sum over them.
of_edges <- c("degree", "strength", "threshold", "edges")

for (backend in backends()) {
  test_that(paste(backend, "sums the network's edges, whatever else is asked for"), {
    data <- list(plain = normal(17, 130), ties = rounded(9, 129), holes = with_missing(rounded(15, 127), 0.1),
                 constants = with_constants(with_duplicates(normal(12, 128))))
    more <- list(nothing = list(), power = list(power = 3), histogram = list(histogram = TRUE),
                 both = list(power = c(1, 0.5), histogram = TRUE))
    rows <- covering(kind = names(data), more = names(more), method = all_methods, sign = all_signs,
                     by = c("density", "threshold"), threads = c(1, 3))
    for_rows(rows, function(kind, also, method, sign, by, threads, label) {
      x <- data[[kind]]
      use <- if (kind == "holes") "pairwise" else "everything"
      given <- list(x, sign = sign, use = use, method = method, backend = backend)
      net <- do.call(quiet_network, c(given, density = 0.07))
      r <- abs(unname(as.matrix(net)))
      run <- function(...) do.call(quiet_connectivity, c(given, list(...)))
      con <- run(density = 0.07)
      expect_identical(con$threshold, net@threshold, label = label)
      expect_identical(con$degree, rowSums(r > 0), label = label)
      # Exact coefficients: single precision would be off by 1e-8.
      expect_equal(con$strength, rowSums(r), tolerance = 1e-14, label = label)
      value <- if (by == "density") 0.07 else net@threshold
      again <- do.call(run, c(by_criterion(by, value), more[[also]], threads = threads))
      expect_identical(again[of_edges], con[of_edges], label = label)
    })
    expect_nothing_left()
  })
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "has a density's threshold from stored edges, a sample and counts alike"), {
    x <- normal(25, 500)
    for (more in list(list(), list(power = 2))) for (density in c(0.03, 1)) {
      given <- c(list(x, density = density, method = method, backend = backend), more)
      run <- function() do.call(gpuConnectivity, given)
      truth <- run()
      expect_identical(with_values(list(MAX_STORED = 0), run()), truth)
      limits <- list(MIN_SAMPLE = 100, SAMPLE_EDGES = 100)
      expect_identical(with_values(limits, run()), truth)
      few <- with_values(list(MAX_STORED = ceiling(density * choose(500, 2))), run())
      expect_identical(few, truth)
    }
    expect_nothing_left()
  })
}

test_that("only as many passes are made as there have to be, and no edge is stored beyond the limit", {
  x <- normal(20, 400)
  entries <- function(..., values = list()) {
    seen <- NULL
    call_engine <- gpucor:::call_engine
    spy <- function(entry, run, ...) {
      seen <<- c(seen, entry)
      call_engine(entry, run, ...)
    }
    with_values(c(list(call_engine = spy, MIN_SAMPLE = 60, SAMPLE_EDGES = 100), values), gpuConnectivity(x, ...))
    sub("r_", "", seen)
  }
  expect_identical(entries(threshold = 0.3), "connectivity")
  expect_identical(entries(density = 0.1), c("histogram", "edges")) # of the sample
  expect_identical(entries(density = 0.1, power = 2), c("histogram", "edges", "connectivity"))
  expect_identical(entries(density = 0.1, histogram = TRUE), c("histogram", "edges", "connectivity"))
  counted <- entries(density = 0.1, values = list(MAX_STORED = 7979))
  expect_identical(counted, c("histogram", "edges", "connectivity"))
  expect_identical(entries(density = 0.1, values = list(MAX_STORED = 7980)), c("histogram", "edges"))
})

# ---- powers

# Fractions, halves, steps that are equal but for rounding, some only, and what is not multiplied out.
sets_of_powers <- list(halves = (1:32) / 2, tenths = (1:32) / 10, thirds = c(1:10 / 3, 7, 7.5, 8), whole = 1:20,
                       some = c(0.3, 1.3, 1.3, 2.3, 31.5, 64, 96.25), once = 2.5, signed = c(0.5, 0.5, 33))

for (backend in backends()) {
  test_that(paste(backend, "sums every set of powers to the last digits, by any number of threads"), {
    x <- rounded(11, 131) # Kendall's coefficients are exact
    x[, 7] <- 1
    r <- pair_cor(x, method = "kendall")
    for (name in names(sets_of_powers)) for (type in all_types) {
      run <- function(...) {
        quiet_connectivity(x, ..., type = type, method = "kendall", backend = backend)$soft
      }
      powers <- sets_of_powers[[name]]
      soft <- run(power = powers)
      for (p in seq_along(powers)) {
        truth <- rowSums(similarity_of(r, type)^powers[p], na.rm = TRUE)
        expect_lt(max(abs(soft[, p] - truth) / pmax(truth, 1e-9)), 1e-12, label = paste(name, type, powers[p]))
      }
      for (threads in 1:3) expect_identical(run(power = powers, threads = threads), soft, label = paste(name, threads))
      turned <- order(-seq_along(powers))
      expect_identical(run(power = powers[turned])[, turned, drop = FALSE], soft, label = paste(name, "turned"))
    }
    expect_nothing_left()
  })
}

test_that("only steps that are equal but for rounding become equal", {
  steps <- function(powers) gpucor:::even_steps(diff(c(0, powers)))
  expect_identical(steps(numeric()), numeric())
  expect_identical(steps(6), 6)
  expect_identical(steps(1:20), rep(1, 20))
  expect_identical(steps(c(0.5, 1, 2.5, 6, 6, 12)), c(0.5, 0.5, 1.5, 3.5, 0, 6))
  expect_length(unique(steps((1:32) / 10)), 1)
  expect_length(unique(steps(c(1:9 / 10, 1.5, 2.2))), 3)
  expect_length(unique(steps(c(1, 2 + 1e-12))), 2)
  expect_lt(max(abs(cumsum(steps((1:32) / 10)) - (1:32) / 10)), 1e-14)
})

# ---- the same however it is computed

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "sums the coefficients that gpuCor() returns"), {
    x <- normal(61, 130)
    r <- abs(gpuCor(x, method = method, output = "matrix", backend = backend))
    diag(r) <- 0
    con <- gpuConnectivity(x, power = c(1, 6, 20), maps = "mean", threshold = 0.3, method = method, backend = backend)
    for (p in 1:3) expect_equal(con$soft[, p], rowSums(r^con$power[p]), tolerance = 1e-14)
    expect_identical(gpuConnectivity(x, power = c(1, 6, 20), method = method, backend = backend)$soft, con$soft)
  })
}

for (backend in backends()) {
  test_that(paste(backend, "does not depend on threads, workers, memory or the back end"), {
    given <- list(threshold = list(threshold = 0.5), density = list(density = 0.05),
                  `edges by threshold` = list(threshold = 0.5, power = NULL),
                  `edges by density` = list(density = 0.05, power = NULL),
                  histogram = list(threshold = 0.5, histogram = TRUE),
                  all = list(density = 0.05, power = c(1:20, 2.5), histogram = TRUE, maps = c("mean", "z", "icc")))
    ways <- c("2 threads", "3 threads", "workers", "memory", if (backend != "cpu") "cpu")
    rows <- covering(given = names(given), by = ways, method = all_methods,
                     use = c("everything", "pairwise.complete.obs"))
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    for_rows(rows, function(which, by, method, use, label) {
      x <- rounded(6, if (full_tier()) 700 else 300)
      # Of more than one panel, by cheap coefficients.
      if (by %in% c("memory", "workers")) {
        if (!full_tier() && method == "pearson") use <- "everything"
        if (which == "all") which <- "threshold" # of thousands of columns 21 powers take long
        x <- normal(5, c(cpu = 2048, cuda = 4096)[[backend]] + 40)
      }
      if (use != "everything") x <- with_missing(x, 0.1)
      run <- function(..., at = backend) {
        arguments <- utils::modifyList(list(power = if (ncol(x) > 1000) 2 else c(6, 2.5)), given[[which]])
        do.call(quiet_connectivity, c(list(x, use = use, method = method, backend = at, ...), arguments))
      }
      other <- switch(by, `2 threads` = run(threads = 2), `3 threads` = run(threads = 3), memory = run(memory = 1),
                      cpu = run(at = "cpu"), workers = with_options(list(gpucor.workers_per_device = 3L), run()))
      expect_identical(other, run(threads = 1), label = paste(backend, label))
    })
    expect_nothing_left()
  })
}

# ---- the histogram

test_that("the histogram has as many bins as asked for, closed to the left", {
  for (backend in backends()) for (method in all_methods) {
    x <- normal(20, 60)
    r <- pair_cor(x, method = method)
    for (breaks in c(1, 2, 20, 200, 10000)) {
      con <- gpuConnectivity(x, power = 1, histogram = TRUE, breaks = breaks, method = method, backend = backend)
      bins <- con$histogram
      expect_s3_class(bins, "histogram", exact = TRUE)
      expect_length(bins$counts, breaks)
      expect_equal(bins$breaks, seq(-1, 1, length.out = breaks + 1))
      expect_equal(bins$mids, utils::head(bins$breaks, -1) + 1 / breaks)
      expect_equal(sum(bins$density) * 2 / breaks, 1)
      expect_connectivity(con, r, label = paste(method, breaks))
      # What base R counts; no coefficient is this close to an edge.
      if (method == "pearson" && breaks < 10000) {
        truth <- graphics::hist(r[upper.tri(r)], seq(-1, 1, length.out = breaks + 1), right = FALSE, plot = FALSE)
        expect_equal(bins$counts, truth$counts)
        expect_equal(bins$density, truth$density)
      }
    }
    # The ends of the scale.
    ends <- cbind(x[, 1], x[, 1], -x[, 1])
    counts <- gpuConnectivity(ends, threshold = 1, histogram = TRUE, method = method,
                              backend = backend)$histogram$counts
    expect_identical(counts[c(1, 200)], c(2, 1))
    expect_identical(sum(counts), 3)
  }
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  con <- gpuConnectivity(normal(20, 30), histogram = TRUE)
  expect_silent(plot(con$histogram))

  # It has no sums of variables.
  expect_output(print(con), "Coefficients .*435 pairs.*20 observations\n[$]histogram of the coefficients: 200 bins")
  expect_output(print(summary(con)), "435 pairs")
  for (type in c("auto", "histogram")) expect_silent(plot(con, type))
  told <- "'x' has no sums of variables' pairs, only a histogram"
  expect_identical(as.data.frame(con), as.data.frame(unclass(con$histogram)[c("mids", "counts")]))
  expect_error(plot(con, "hubs"), told, fixed = TRUE)
})

# ---- special data

# One power of Pearson's or Spearman's coefficients is summed by the kernel that multiplies, several are summed later.
for (backend in backends()) test_that(paste(backend, "one power has the sums that it has among several"), {
  x <- with_constants(normal(20, 300))
  x[3, 5] <- NA
  x[, 9] <- x[, 8]
  y <- normal(20, 130, seed = 5)
  for (method in c("pearson", "spearman")) for (type in c("unsigned", "signed", "signed hybrid")) {
    for (other in list(NULL, y)) {
      soft <- function(power, backend) {
        suppressWarnings(gpuConnectivity(x, y = other, power = power, type = type, method = method,
                                         backend = backend))$soft
      }
      all <- soft(c(0.5, 2.5, 6), backend)
      for (k in 1:3) {
        one <- soft(c(0.5, 2.5, 6)[k], backend)
        expect_equal(one[, 1], all[, k], tolerance = 1e-13)
        expect_identical(one, soft(c(0.5, 2.5, 6)[k], "cpu"))
      }
    }
  }
})

test_that("constants and missing values count nowhere", {
  for (backend in backends()) for (method in all_methods) {
    x <- with_constants(normal(20, 12))
    run <- function(...) gpuConnectivity(..., power = c(2, 0.5), method = method, backend = backend)
    for (given in list(list(threshold = 0), list(density = 0.5), list())) {
      expect_identical(warnings_of(con <- do.call(run, c(list(x), given))),
                       "the standard deviation is zero (2 of 12 columns of 'x': 2, 12)")
      expect_true(all(con$soft[c(2, 12), ] == 0))
    }
    con <- suppressWarnings(run(x, threshold = 0, type = "signed"))
    expect_identical(con$degree, replace(rep(9, 12), c(2, 12), 0))
    expect_identical(con$edges, 45)
    expect_true(all(con$soft[c(2, 12), ] == 0))
    x <- normal(20, 12)
    x[3, 5] <- NA
    for (given in list(list(threshold = 0), list(density = 0.5), list())) {
      expect_identical(warnings_of(con <- do.call(run, c(list(x), given))),
                       "missing values leave no coefficient (1 of 12 columns of 'x': 5); see 'use'")
    }
    con <- suppressWarnings(run(x, threshold = 0))
    expect_identical(con$degree, replace(rep(10, 12), 5, 0))
    expect_identical(con$n_obs, 20)
    expect_identical(run(x, threshold = 0, use = "complete")$n_obs, 19)
    expect_identical(run(x, threshold = 0, use = "pairwise")$degree, rep(11, 12))
    x[-1, 7] <- NA
    expect_identical(warnings_of(con <- run(x, threshold = 0, use = "pairwise")),
                     "fewer than two values leave no coefficient (1 of 12 columns of 'x': 7)")
    expect_identical(con$degree, replace(rep(10, 12), 7, 0))
    for (use in c("everything", "na.or.complete", "pairwise")) {
      expect_match(warnings_of(con <- run(x * NA, threshold = 0, use = use, histogram = TRUE)),
                   "leave no coefficient \\(12 of 12 columns of 'x': 1, 2, 3, \\.\\.\\.\\)")
      expect_identical(con$degree, rep(0, 12))
      expect_identical(sum(con$histogram$counts), 0)
      expect_output(print(con), "0 edges")
    }
    expect_error(run(x * NA, threshold = 0, use = "complete.obs"), "no complete element pairs")
    expect_error(run(x, threshold = 0, use = "all.obs"), "missing observations")
  }
})

test_that("few variables and observations", {
  for (backend in backends()) for (method in all_methods) {
    run <- function(...) gpuConnectivity(..., method = method, backend = backend)
    for (n_var in 0:2) for (given in list(list(threshold = 0), list(density = 1))) {
      x <- normal(12, n_var)
      con <- do.call(run, c(list(x, power = c(3, 1), histogram = TRUE), given))
      expect_identical(con$degree, rep(n_var - 1, n_var) * (n_var > 0))
      expect_identical(dim(con$soft), c(n_var, 2L))
      expect_identical(sum(con$histogram$counts), choose(n_var, 2))
      expect_output(print(con), if (choose(n_var, 2) == 1) "1 edge," else "0 edges")
      expect_identical(dim(as.data.frame(con)), c(n_var, 5L))
      expect_identical(do.call(run, c(list(x), given))[of_edges], con[of_edges])
      if (n_var == 2) expect_equal(con$strength, rep(abs(cor(x, method = method)[2]), 2), tolerance = 1e-6)
    }
    for (n_obs in 0:1) {
      expect_warning(con <- run(normal(n_obs, 4), threshold = 0), "leaves? no coefficient")
      expect_identical(con$degree, rep(0, 4))
    }
    expect_identical(run(normal(2, 4), threshold = 1)$degree, rep(3, 4))
    expect_equal(run(normal(3, 4), threshold = 0)$strength,
                 rowSums(abs(pair_cor(normal(3, 4), method = method)), na.rm = TRUE), tolerance = 1e-6)
  }
})

# ---- arguments and the result

test_that("what x may be, and names", {
  x <- rounded(25, 12)
  named <- `colnames<-`(x, letters[1:12])
  integers <- named
  storage.mode(integers) <- "integer"
  for (backend in backends()) for (method in all_methods) {
    run <- function(x) {
      suppressMessages(gpuConnectivity(x, threshold = 0.2, power = c(6, 2), method = method, backend = backend))
    }
    truth <- run(named)
    expect_identical(run(integers), truth)
    expect_identical(run(as.data.frame(named)), truth)
    expect_identical(run(Matrix::Matrix(named, sparse = TRUE)), truth)
    expect_identical(names(truth$degree), letters[1:12])
    expect_identical(names(truth$strength), letters[1:12])
    expect_identical(dimnames(truth$soft), list(letters[1:12], c("power6", "power2")))
    plain <- run(x)
    expect_null(names(plain$degree))
    expect_identical(dimnames(plain$soft), list(NULL, c("power6", "power2")))
    expect_identical(plain$degree, unname(truth$degree))
  }
})

test_that("as.data.frame() has a row for each column", {
  x <- `colnames<-`(normal(20, 12), paste0("v", 1:12))
  con <- gpuConnectivity(x, threshold = 0.2, power = c(6, 0.5))
  frame <- as.data.frame(con)
  expect_identical(names(frame), c("variable", "degree", "strength", "power6", "power0.5"))
  expect_identical(row.names(frame), colnames(x))
  expect_identical(frame$degree, unname(con$degree))
  expect_identical(frame$strength, unname(con$strength))
  expect_identical(frame$power0.5, unname(con$soft[, 2]))
  expect_identical(as.data.frame(gpuConnectivity(x, threshold = 0.2)), frame[1:3])
  expect_identical(as.data.frame(gpuConnectivity(x, power = c(6, 0.5))), frame[c(1, 4:5)])
  expect_identical(row.names(as.data.frame(con, row.names = LETTERS[1:12])), LETTERS[1:12])
  expect_identical(row.names(as.data.frame(gpuConnectivity(unname(x), power = 2))), as.character(1:12))
  # Names that are no row names.
  for (names in list(rep("v", 12), c(NA, paste0("v", 2:12)))) {
    con <- gpuConnectivity(`colnames<-`(x, names), threshold = 0.2)
    expect_identical(as.data.frame(con)$variable, names)
    expect_output(print(con), "Connectivity of 12 variables")
  }
})

test_that("no column has a summary, too", {
  none <- expect_no_warning(summary(gpuConnectivity(normal(20, 2)[, 0], threshold = 0.1)))
  expect_output(print(none), "of 0 variables")
})

test_that("it prints in a few lines", {
  x <- normal(20, 30)
  con <- gpuConnectivity(x, threshold = 0.3, sign = "negative", power = 6, type = "signed", method = "spearman")
  lines <- capture.output(expect_identical(print(con), con))
  expect_lte(length(lines), 10)
  text <- paste(lines, collapse = " ")
  for (part in c("Connectivity of 30 variables", "Spearman's rho", "435 pairs", "20 observations", "edges", "-r >= 0.3",
                 "signed similarity", "degree", "strength", "power6", "50%")) {
    expect_match(text, part, fixed = TRUE)
  }
  expect_identical(con[c("pairs", "n_obs", "method", "sign", "type", "power")],
                   list(pairs = 435, n_obs = 20, method = "spearman", sign = "negative", type = "signed", power = 6))
  expect_false(any(grepl("edges", capture.output(print(gpuConnectivity(x, power = 6))))))
})

test_that("wrong arguments are errors that say what is right", {
  x <- normal(10, 5)
  expect_error(gpuConnectivity(x),
               "what is to be summed\\? give 'threshold', 'density', 'power', 'maps' or histogram = TRUE")
  expect_error(gpuConnectivity(x, threshold = 0.1, density = 0.1), "give only one of 'threshold' and 'density'")
  for (bad in list(-0.1, 1.1, NA, "0.5", c(0.1, 1.2))) {
    expect_error(gpuConnectivity(x, threshold = bad), "'threshold' must be a number in \\[0, 1\\], not ")
    expect_error(gpuConnectivity(x, density = bad), "'density' must be a number above 0 and up to 1, not ")
  }
  for (bad in list(0, -1, NA, Inf, "6", numeric(), c(1, 0), list(6))) {
    expect_error(gpuConnectivity(x, power = bad), "'power' must be positive numbers, not ")
  }
  expect_error(gpuConnectivity(x, power = 1:33), "'power' has 33 values; ask for at most 32 at a time")
  for (bad in list(0, -200, 1.5, NA, "200", 10001, c(100, 200))) {
    expect_error(gpuConnectivity(x, histogram = TRUE, breaks = bad),
                 "'breaks' must be a whole number between 1 and 10000, ")
  }
  for (bad in list(NA, 1, "yes", c(TRUE, FALSE), NULL)) {
    expect_error(gpuConnectivity(x, power = 1, histogram = bad), "'histogram' must be TRUE or FALSE")
  }
  expect_error(gpuConnectivity(x, histogram = TRUE, breaks = 300), "'breaks' is 300; it must divide 10000")
  expect_error(gpuConnectivity(x, power = 1, type = "hybrid"), "'type' must be one of")
  expect_error(gpuConnectivity(x, power = 1, sign = "both"), "'sign' must be one of")
  expect_error(gpuConnectivity(x, power = 1, method = "tau"), "'method' must be one of")
  expect_error(gpuConnectivity(x, power = 1, use = "some"), "invalid 'use' argument")
  expect_error(gpuConnectivity(x[, 1], power = 1), "'x' must be matrix-like, with a variable in each column")
  expect_error(gpuConnectivity(mean, power = 1), "'x' must be numeric, not of class function")
  expect_error(gpuConnectivity(letters, power = 1), "'x' must be numeric")
  expect_error(gpuConnectivity(x, power = 1, cores = 2), "unused argument 'cores'")
  expect_nothing_left()
})
