# Networks and sums of some of the pairs: those of all pairs of which the others are left out.

# Coefficients of all pairs by the engine itself, NA where there is none.
engine_cor <- function(x, y = NULL, ...) {
  r <- values_of(quiet_network(x, y, threshold = 0, ...))
  if (is.null(y)) no_diagonal(r) else r
}

same_label <- function(a, b = a) {
  same <- outer(as.character(a), as.character(b), "==")
  !is.na(same) & same
}

other_label <- function(a, b = a) {
  other <- outer(as.character(a), as.character(b), "!=")
  !is.na(other) & other
}

distance_between <- function(a, b = a) {
  a <- as.matrix(a)
  b <- as.matrix(b)
  squares <- 0
  for (d in seq_len(ncol(a))) squares <- squares + outer(a[, d], b[, d], "-")^2
  distance <- sqrt(squares)
  distance[is.na(distance)] <- NA
  distance
}

# A rule, and what it says of each pair: made when it is asked for.
rule_of <- function(pairs, mask) environment()

# Every kind of rule for n columns.
all_rules <- function(n, seed = 1) {
  set.seed(seed)
  scattered <- sample(c("a", "b", "c", "d"), n, TRUE)
  scattered[sample(n, n %/% 10)] <- NA
  runs <- rep(seq_len(max(1, n %/% 50)), each = 50, length.out = n)
  grid <- as.matrix(expand.grid(1:7, 1:7, seq_len(n %/% 49 + 1)))[sample(n), , drop = FALSE] * 3
  grid[sample(n, n %/% 20), 2] <- NA
  gene <- data.frame(chromosome = sample(3, n, TRUE), position = sample(1e6, n))
  near <- function(coords, most) {
    close <- distance_between(coords) <= most
    !is.na(close) & close
  }
  far <- function(coords, most) {
    away <- distance_between(coords) > most
    !is.na(away) & away
  }
  chromosome <- same_label(gene$chromosome)
  list(
    within = rule_of(pairs = pairMask(scattered, same = TRUE), mask = same_label(scattered)),
    within_runs = rule_of(pairs = pairMask(factor(runs), same = TRUE), mask = same_label(runs)),
    within_one = rule_of(pairs = pairMask(rep(TRUE, n), same = TRUE), mask = matrix(TRUE, n, n)),
    between = rule_of(pairs = pairMask(scattered, different = TRUE), mask = other_label(scattered)),
    between_none = rule_of(pairs = pairMask(rep(1, n), different = TRUE), mask = matrix(FALSE, n, n)),
    nearer = rule_of(pairs = pairMask(grid, within_distance = 9), mask = near(grid, 9)),
    farther = rule_of(pairs = pairMask(grid, beyond_distance = 9), mask = far(grid, 9)),
    nearer_on_a_line = rule_of(pairs = pairMask(grid[, 1], within_distance = 3), mask = near(grid[, 1], 3)),
    nearer_genes = rule_of(pairs = pairMask(gene, within_distance = 2e5), mask = near(gene$position, 2e5) & chromosome),
    farther_genes = rule_of(pairs = pairMask(gene, beyond_distance = 2e5),
                            mask = far(gene$position, 2e5) | !chromosome),
    both = rule_of(pairs = pairMask(scattered, same = TRUE) & pairMask(runs, same = TRUE),
                   mask = same_label(scattered) & same_label(runs)),
    nearer_and_within = rule_of(pairs = pairMask(scattered, same = TRUE) & pairMask(grid, within_distance = 9),
                                mask = same_label(scattered) & near(grid, 9)),
    nearer_genes_within = rule_of(pairs = pairMask(gene, within_distance = 2e5) & pairMask(scattered, same = TRUE),
                                  mask = near(gene$position, 2e5) & chromosome & same_label(scattered))
  )
}

# The k-th largest weight of those that count, k a share of them.
masked_threshold <- function(r, mask, density, sign, symmetric = TRUE) {
  if (symmetric) mask <- mask & upper.tri(mask)
  ranked <- sort(weight_of(r[mask], sign), decreasing = TRUE)
  k <- ceiling(density * sum(mask))
  ranked <- ranked[ranked >= 0]
  if (k > length(ranked)) 0 else ranked[k]
}

masked_flaws <- function(net, r, mask, keep, symmetric = is.null(dim(mask)) || nrow(mask) == ncol(mask)) {
  r[!mask] <- NA
  own <- network_differences(net, r, keep & mask & !is.na(r), 0, symmetric = symmetric)
  pairs <- sum(if (symmetric) mask[upper.tri(mask)] else mask)
  c(own[!grepl("^pairs is", own)], if (net@pairs != pairs) paste("pairs is", net@pairs, "not", pairs))
}

expect_masked <- function(net, r, mask, keep, label, ...) {
  wrong <- masked_flaws(net, r, mask, keep, ...)
  expect(length(wrong) == 0, paste(c(label, wrong), collapse = "\n"))
}

# All criteria of one rule.
expect_masked_networks <- function(x, r, rule, label, ..., sign = "absolute") {
  run <- function(...) quiet_network(x, ..., sign = sign, pairs = rule$pairs)
  weight <- weight_of(r, sign)
  expect_masked(run(threshold = 0.2, ...), r, rule$mask, weight >= 0.2, paste(label, "threshold"))
  for (density in c(0.02, 0.4)) {
    net <- run(density = density, ...)
    least <- masked_threshold(r, rule$mask, density, sign)
    if (any(rule$mask)) expect_identical(net@threshold, least, label = paste(label, "threshold of density", density))
    expect_masked(net, r, rule$mask, weight >= least, paste(label, "density", density))
  }
  masked <- replace(r, !rule$mask, NA)
  for (mutual in c(FALSE, TRUE)) {
    truth <- reference_network(masked, "k", 3, sign, mutual)
    expect_masked(run(k = 3, mutual = mutual, ...), r, rule$mask, truth$keep, paste(label, "k", mutual))
  }
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "has a network of the pairs that count"), {
    data <- list(normal = normal(25, 193), ties = heavy_ties(10, 129), constants = with_constants(normal(12, 65)))
    for (name in names(data)) {
      x <- data[[name]]
      r <- engine_cor(x, method = method, backend = backend)
      rules <- all_rules(ncol(x))
      some <- switch(name, normal = c("within", "nearer"), constants = c("between", "farther_genes"),
                     ties = if (method == "kendall") names(rules) else c("nearer_genes", "within_runs"))
      for (rule in some) {
        expect_masked_networks(x, r, rules[[rule]], paste(method, name, rule), method = method, backend = backend,
                               sign = if (name == "normal") "absolute" else "positive")
      }
    }
    x <- with_missing(data$constants, 0.1)
    r <- engine_cor(x, method = method, backend = backend, use = "pairwise")
    for (rule in rules[c("within", "farther")]) {
      expect_masked_networks(x, r, rule, "missing", method = method, backend = backend, use = "pairwise")
    }
    expect_nothing_left()
  })

  test_that(paste(backend, method, "has p values and false discoveries of the pairs that count"), {
    x <- rounded(25, 150)
    x[, 1:40] <- x[, 1:40] + 2 * x[, 1]
    r <- engine_cor(x, method = method, backend = backend)
    p <- reference_p(x, method = method)
    for (rule in all_rules(150)[c("within", "between", "farther")]) {
      masked <- replace(r, !rule$mask, NA)
      for (sign in c("absolute", "negative")) for (criterion in c("p.value", "fdr")) {
        net <- do.call(gpuCorNetwork, c(list(x, sign = sign, method = method, backend = backend, pairs = rule$pairs),
                                        by_criterion(criterion, 0.1)))
        truth <- reference_network(masked, criterion, 0.1, sign, p = replace(p, !rule$mask, NA), within = 1e-6)
        r_near <- replace(masked, truth$near & !edge_places(net), NA)
        expect_masked(net, r_near, rule$mask, truth$keep & !truth$near | edge_places(net) & truth$near,
                      paste(method, sign, criterion))
      }
    }
  })

  test_that(paste(backend, method, "has sums over the pairs that count"), {
    x <- with_constants(normal(20, 130))
    r <- engine_cor(x, method = method, backend = backend)
    for (rule in all_rules(130)[c("within", "nearer", "farther_genes")]) {
      masked <- unname(replace(r, !rule$mask, NA))
      run <- function(...) {
        suppressWarnings(gpuConnectivity(x, ..., method = method, backend = backend, pairs = rule$pairs))
      }
      con <- run(threshold = 0.3)
      expect_identical(con$degree, rowSums(abs(masked) >= 0.3, na.rm = TRUE))
      expect_equal(con$strength, rowSums(abs(masked) * (abs(masked) >= 0.3), na.rm = TRUE), tolerance = 1e-12)
      expect_identical(con$pairs, as.numeric(sum(rule$mask[upper.tri(rule$mask)])))
      all <- run(threshold = 0.3, power = c(1, 6), histogram = TRUE)
      expect_identical(all[c("degree", "strength")], con[c("degree", "strength")])
      expect_identical(soft_flaws(all, masked, "unsigned"), NULL)
      expect_identical(sum(all$histogram$counts), as.numeric(sum(!is.na(masked)) / 2))
      density <- run(density = 0.05)
      expect_identical(density$threshold, masked_threshold(r, rule$mask, 0.05, "absolute"))
    }
  })
}

for (backend in backends()) {
  test_that(paste(backend, "has rectangles of the pairs that count"), {
    x <- normal(20, 140)
    y <- normal(20, 75, seed = 5)
    r <- engine_cor(x, y, backend = backend)
    set.seed(2)
    labels <- list(sample(5, 140, TRUE), sample(4:8, 75, TRUE))
    gene <- lapply(c(140, 75), function(n) data.frame(chr = sample(c("X", "Y"), n, TRUE), at = sample(1000, n)))
    distance <- distance_between(gene[[1]]$at, gene[[2]]$at)
    rules <- list(within = list(pairMask(labels[[1]], labels[[2]], same = TRUE), same_label(labels[[1]], labels[[2]])),
                  between = list(pairMask(labels[[1]], labels[[2]], different = TRUE),
                                 other_label(labels[[1]], labels[[2]])),
                  nearer = list(pairMask(gene[[1]], gene[[2]], within_distance = 99),
                                distance <= 99 & same_label(gene[[1]]$chr, gene[[2]]$chr)),
                  both = list(pairMask(gene[[1]], gene[[2]], within_distance = 99) &
                                pairMask(labels[[1]], labels[[2]], same = TRUE),
                              distance <= 99 & same_label(gene[[1]]$chr, gene[[2]]$chr) &
                                same_label(labels[[1]], labels[[2]])),
                  farther = list(pairMask(gene[[1]]$at, gene[[2]]$at, beyond_distance = 99), distance > 99))
    for (name in names(rules)) {
      mask <- rules[[name]][[2]]
      run <- function(...) gpuCorNetwork(x, y, backend = backend, ..., pairs = rules[[name]][[1]])
      least <- masked_threshold(r, mask, 0.1, "absolute", symmetric = FALSE)
      net <- run(density = 0.1)
      expect_identical(net@threshold, least)
      expect_masked(net, r, mask, abs(r) >= least, name, symmetric = FALSE)
      truth <- reference_network(replace(r, !mask, NA), "k", 2, symmetric = FALSE)
      expect_masked(run(k = 2), r, mask, truth$keep, paste(name, "k"), symmetric = FALSE)
    }
    expect_nothing_left()
  })

  test_that(paste(backend, "has the same pairs whatever the work is divided by"), {
    for (n in c(1, 2, 65, 2049)) {
      x <- normal(6, n)
      rules <- all_rules(n)
      for (rule in rules[if (n > 100) "nearer" else c("within", "between", "farther")]) {
        run <- function(...) {
          list(slots_of(gpuCorNetwork(x, threshold = 0.95, backend = backend, pairs = rule$pairs, ...)),
               if (n < 100) slots_of(gpuCorNetwork(x, k = 2, backend = backend, pairs = rule$pairs, ...)),
               gpuConnectivity(x, threshold = 0.95, backend = backend, pairs = rule$pairs, ...)$strength)
        }
        expect_same_divided(run)
      }
    }
    expect_nothing_left()
  })

  test_that(paste(backend, "finds a density of the pairs that count from a sample, too"), {
    x <- normal(15, 700)
    for (rule in all_rules(700)[c("within", "farther")]) {
      run <- function() quiet_network(x, density = 0.02, backend = backend, pairs = rule$pairs)
      truth <- with_values(list(SAMPLE_COLUMNS = 0), run())
      ours <- with_values(list(MIN_SAMPLE = 100, SAMPLE_EDGES = 100, SAMPLE_MARGIN = 1.5, SAMPLE_MORE = 0), run())
      expect_identical(slots_of(ours), slots_of(truth))
    }
  })
}

for (backend in backends()) {
  test_that(paste(backend, "has the pairs that count of many subjects"), {
    for (how in ways) {
      set.seed(20)
      x <- some_subjects(c(12, 9, 15), 193)
      x[[2]][, 5] <- 1
      run <- function(f, ...) suppressWarnings(do.call(f, c(list(x, ..., backend = backend), how_to(how))))
      r <- no_diagonal(values_of(run(gpuCorNetwork, threshold = 0)))
      for (rule in all_rules(193)[c("within", "within_runs", "farther_genes")]) {
        net <- run(gpuCorNetwork, density = 0.05, pairs = rule$pairs)
        least <- masked_threshold(r, rule$mask, 0.05, "absolute")
        expect_masked(net, r, rule$mask, abs(r) >= least, paste(how, "density"))
        masked <- replace(r, !rule$mask, NA)
        truth <- reference_network(masked, "k", 2)
        expect_masked(run(gpuCorNetwork, k = 2, pairs = rule$pairs), r, rule$mask, truth$keep, paste(how, "k"))
        con <- run(gpuConnectivity, threshold = 0.3, pairs = rule$pairs)
        expect_identical(con$degree, unname(rowSums(abs(masked) >= 0.3, na.rm = TRUE)))
        expect_same_divided(function(...) slots_of(run(gpuCorNetwork, threshold = 0.4, pairs = rule$pairs, ...)))
      }
    }
    expect_nothing_left()
  })

  test_that(paste(backend, "compares the pairs that count"), {
    set.seed(21)
    x <- some_subjects(c(30, 40), 90, 6, 0)
    y <- some_subjects(c(35, 25, 30), 90, 6, 0)
    x <- lapply(x, function(m) replace(m, seq_len(9 * nrow(m)), m[, 1:9] + rnorm(nrow(m))))
    all <- gpuCorCompare(x, y, precision = "double", backend = backend)
    difference <- no_diagonal(unname(as.matrix(all$difference)))
    p <- unname(as.matrix(all$p.value))
    compare <- function(...) gpuCorCompare(x, y, precision = "double", backend = backend, ...)
    for (rule in all_rules(90)[c("within", "between", "nearer_genes")]) {
      run <- function(...) compare(pairs = rule$pairs, ...)
      counted <- rule$mask & upper.tri(rule$mask)
      edges_of <- function(net) unname(as.matrix(net))
      masked <- function(keep) ifelse(rule$mask & keep & !is.na(difference), difference, 0)
      expect_equal(edges_of(run(threshold = 0.2)), masked(abs(difference) >= 0.2), tolerance = 1e-12)
      expect_identical(run(threshold = 0)@edges, as.numeric(sum(counted)))
      adjusted <- replace(p, TRUE, NA)
      adjusted[counted] <- p.adjust(p[counted], "BH")
      expect_equal(run(fdr = 0.2)@edges, sum(adjusted <= 0.2, na.rm = TRUE))
      expect_equal(run(p.value = 0.05)@edges, sum(p[counted] <= 0.05))
      expect_equal(run(density = 0.1)@threshold,
                   sort(abs(difference[counted]), decreasing = TRUE)[ceiling(0.1 * sum(counted))], tolerance = 1e-12)
    }
  })

  test_that(paste(backend, "permutes labels and rows over the pairs that count"), {
    set.seed(22)
    x <- some_subjects(c(20, 25), 75, 6, 0)
    y <- some_subjects(c(30, 35), 75, 6, 0)
    label <- sample(4, 75, TRUE)
    columns <- function(group, own) {
      if (is.list(group)) lapply(group, function(m) m[, own, drop = FALSE]) else group[, own, drop = FALSE]
    }
    for (groups in list(list(x, y), list(x[[1]], y[[1]]))) {
      maxima <- function(own, ...) {
        set.seed(23)
        found <- gpuCorCompare(columns(groups[[1]], own), columns(groups[[2]], own), threshold = 0, n_perm = 6,
                               backend = backend, ...)
        found@maxima
      }
      of_labels <- vapply(1:4, function(l) maxima(which(label == l)), numeric(6))
      expect_equal(maxima(1:75, pairs = pairMask(label, same = TRUE)), apply(of_labels, 1, max), tolerance = 1e-6)
    }
  })

  test_that(paste(backend, "has the pairs that count in each window"), {
    x <- normal(60, 131)
    x[, 1:30] <- x[, 1:30] + x[, 40]
    for (rule in all_rules(131)[c("within", "farther_genes")]) {
      windows <- function(what, ...) {
        gpuCorWindows(x, width = 20, step = 13, output = what, ..., pairs = rule$pairs, backend = backend)
      }
      of_rows <- function(k) x[13 * (k - 1) + 1:20, ]
      for (criterion in list(list(threshold = 0.5), list(density = 0.03), list(k = 2))) {
        found <- do.call(windows, c(list("network"), criterion))
        for (k in 1:4) {
          alone <- do.call(gpuCorNetwork, c(list(of_rows(k), pairs = rule$pairs, backend = backend), criterion))
          expect_identical(slots_of(found[[k]]), slots_of(alone))
          expect_identical(found[[k]]@pairs, alone@pairs)
        }
      }
      for (criterion in list(list(threshold = 0.5), list(density = 0.03))) {
        found <- do.call(windows, c(list("connectivity"), criterion))
        for (k in 1:4) {
          alone <- do.call(gpuConnectivity, c(list(of_rows(k), pairs = rule$pairs, backend = backend), criterion))
          expect_identical(unname(found$degree[, k]), alone$degree)
          expect_equal(unname(found$strength[, k]), alone$strength, tolerance = 1e-12)
        }
      }
      sd <- no_diagonal(as.matrix(gpuCorWindows(x, width = 20, step = 13, output = "moments", backend = backend)$sd))
      masked <- unname(replace(sd, !rule$mask, NA))
      least <- masked_threshold(sd, rule$mask, 0.03, "positive")
      keep <- list(masked >= 0.25, masked >= least, reference_network(masked, "k", 2, "positive")$keep)
      criteria <- list(list(threshold = 0.25), list(density = 0.03), list(k = 2))
      for (k in 1:3) {
        found <- unname(as.matrix(do.call(windows, c(list("moments"), criteria[[k]]))$sd))
        expect_lt(max(abs(found - ifelse(keep[[k]] & !is.na(masked), masked, 0))), 1e-12)
      }
    }
    expect_nothing_left()
  })
}

test_that("tiles without a pair that counts are not computed", {
  x <- normal(500, 8192)
  run <- function(...) {
    gpuCorNetwork(x, threshold = 0.9, threads = 1, backend = "cpu", ...)
    .Call(gpucor:::r_stages)[2]
  }
  all <- run()
  some <- min(replicate(2, run(pairs = pairMask(rep(1:16, 512), same = TRUE))))
  expect_lt(some, all / 3) # a sixteenth of the pairs
})

test_that("other data have the pairs that count, in the order that they are in", {
  x <- rounded(20, 150)
  rule <- all_rules(150)$within
  truth <- slots_of(gpuCorNetwork(x, density = 0.1, pairs = rule$pairs))
  sparse <- as(as(Matrix::Matrix(x, sparse = TRUE), "generalMatrix"), "CsparseMatrix")
  expect_identical(slots_of(suppressMessages(gpuCorNetwork(sparse, density = 0.1, pairs = rule$pairs))), truth)
  file <- tempfile()
  writeBin(as.vector(x), file)
  mapped <- gpuCorFile(file, dim(x))
  expect_identical(slots_of(gpuCorNetwork(mapped, density = 0.1, pairs = rule$pairs)), truth)
  skip_unless_full()
  skip_if_not_installed("DelayedArray")
  delayed <- DelayedArray::DelayedArray(x)
  expect_identical(slots_of(gpuCorNetwork(delayed, density = 0.1, pairs = rule$pairs)), truth)
})

test_that("a file has the network of the pairs that count", {
  skip_if_not_installed("rhdf5")
  x <- normal(12, 300)
  pairs <- all_rules(300)$nearer$pairs
  net <- gpuCorNetwork(x, threshold = 0.1, pairs = pairs)
  for (bytes in c(0, 1)) {
    file <- tempfile(fileext = ".h5ad")
    with_bands(500, bytes, gpuCorNetwork(x, threshold = 0.1, pairs = pairs, file = file))
    both <- as(as(net, "generalMatrix"), "CsparseMatrix")
    expect_identical(as.vector(rhdf5::h5read(file, "X/indices")), both@i)
    expect_equal(as.vector(rhdf5::h5read(file, "X/data")), both@x, tolerance = 1e-7)
    unlink(file)
  }
  expect_nothing_left()
})

test_that("constant columns and powers are told of as without 'pairs'", {
  x <- with_constants(normal(20, 60))
  pairs <- pairMask(rep(1:2, 30), same = TRUE)
  expect_warning(gpuCorNetwork(x, threshold = 0.5, pairs = pairs), "2 of 60 columns of 'x': 2, 60")
  fit <- suppressWarnings(pickPower(x, power = 2, pairs = pairs))
  soft <- suppressWarnings(gpuConnectivity(x, power = 2, pairs = pairs))$soft
  expect_identical(fit$fitIndices$mean.k., mean(soft))
})

test_that("what is wrong with 'pairs' is said", {
  x <- normal(10, 6)
  labels <- c(1, 1, 2, 2, 3, 3)
  expect_output(print(pairMask(labels, same = TRUE)), "Pairs of 6 columns, of the same label")
  expect_output(print(pairMask(labels, 1:3, beyond_distance = 2)), "Pairs of 6 x 3 columns, more than 2 apart")
  expect_error(gpuCorNetwork(x, k = 1, pairs = labels), "'pairs' must be from pairMask\\(\\)")
  mask <- pairMask(cbind(labels, 1), within_distance = 1)
  broken <- list(distance = -1e9, distance = NULL, distance = NaN, dims = "a", relation = integer(), x = sum,
                 x = list(), y = 1)
  for (k in seq_along(broken)) {
    changed <- structure(replace(unclass(mask), names(broken)[k], broken[k]), class = class(mask))
    expect_error(gpuCorNetwork(x, k = 1, pairs = changed), "was changed since pairMask\\(\\) made it",
                 class = "gpucor_error_input", label = deparse1(broken[k]))
  }
  expect_error(gpuCorNetwork(x, k = 1, pairs = pairMask(1:5, same = TRUE)), "'pairs' is of 5 columns, and 'x' has 6")
  expect_error(gpuCorNetwork(x, k = 1, pairs = pairMask(labels, y = 1:5, same = TRUE)), "there is no 'y'")
  expect_error(gpuCorNetwork(x, x, k = 1, pairs = pairMask(labels, same = TRUE)), "says nothing of the columns of 'y'")
  expect_error(gpuCorNetwork(x, x, k = 1, pairs = pairMask(labels, y = 1, same = TRUE)),
               "is of 1 column, and 'y' has 6")
  expect_error(pairMask(labels), "give one of 'same', 'different', 'within_distance', 'beyond_distance'")
  expect_error(pairMask(labels, same = TRUE, beyond_distance = 2), "give one of")
  expect_error(pairMask(x, different = TRUE), "labels must be a vector")
  expect_error(pairMask(x, within_distance = 3), "'x' must be a numeric matrix with a row for each column")
  expect_error(pairMask(diag(5), within_distance = 3), "up to 3 columns, .*, not a matrix of 5 columns$")
  for (bad in list(-1, NA, Inf, "3", 1:2)) {
    expect_error(pairMask(1:6, within_distance = bad), "'within_distance' must be a number of at least 0")
  }
  expect_error(pairMask(1:6, cbind(1, 2), within_distance = 2), "'y' must have as many columns as 'x'")
  expect_error(pairMask(data.frame(a = "x", b = "y", c = 1), within_distance = 2),
               "more than one column of groups: a, b")
  within <- pairMask(labels, same = TRUE)
  expect_error(within & pairMask(1:6, beyond_distance = 2), "not of 'same' with one of 'beyond_distance'")
  expect_error(pairMask(1:6, within_distance = 2) & pairMask(1:6, within_distance = 3), "'&' joins a mask of 'same'")
  expect_error(within & pairMask(1:5, same = TRUE), "the masks are of 5 and 6 columns of 'x'")
  expect_error(within & pairMask(labels, 1:3, same = TRUE), "the masks are of 3 and 0 columns of 'y'")
  expect_error(within & TRUE, "'&' joins a mask of 'same' labels")
  for (f in list(gpuCor, gpuCorTriangle, gpuDist, gpuCorTest)) {
    expect_error(f(x, pairs = pairMask(labels, same = TRUE)), "unused argument 'pairs'")
  }
  expect_error(gpuCorWindows(x, 5, pairs = pairMask(labels, same = TRUE)), "'pairs' needs 'threshold'")
  expect_error(gpuCorWindows(x, 5, output = "moments", pairs = pairMask(labels, same = TRUE)),
               "'pairs' needs 'threshold'")
  expect_error(gpuCorCompare(x, x, pairs = pairMask(labels, same = TRUE)), "'pairs' needs a criterion; threshold = 0")
  expect_error(gpuCorCompare(x, x, k = 1, pairs = pairMask(1:7, same = TRUE)), "'pairs' is of 7 columns, and 'x' has 6")
})

for (backend in backends()) for (resource in resources_of(backend)) {
  test_that(paste(backend, "with 'pairs', maps and several ks fails cleanly wherever the", resource, "fails"), {
    x <- rounded(8, 70)
    pairs <- all_rules(70)$nearer$pairs
    runs <- list(
      network = function() slots_of(gpuCorNetwork(x, density = 0.1, pairs = pairs, backend = backend)),
      neighbours = function() lapply(gpuCorNetwork(x, k = c(3, 1), pairs = pairs, backend = backend), slots_of),
      subjects = function() {
        gpuConnectivity(list(x, x[, 70:1] + 1:8), threshold = 0.3, combine = "mean", pairs = pairs, backend = backend)
      },
      windows = function() {
        own <- gpuCorWindows(x + 1:8, 7, output = "moments", k = 1, pairs = pairs, threads = 1, backend = backend)$sd
        list(own@p, own@i, own@x)
      },
      sums = function() gpuConnectivity(x, x[, 1:9], threshold = c(0.3, 0.5), maps = "z", backend = backend),
      eigenvector = function() gpuConnectivity(x, maps = "eigenvector", backend = backend)
    )
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    rows <- covering(run = names(runs), workers = 1:2, strength = if (full_tier()) 2 else 1)
    for_rows(rows, function(name, workers, label) {
      with_options(list(gpucor.workers_per_device = workers), {
        walk_failures(runs[[name]], resource, paste(backend, name, workers), expect_nothing_left,
                      may_survive = resource != "host")
      })
    })
  })
}
