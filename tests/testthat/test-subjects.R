# A list of matrices in the place of one: combined coefficients against cor() of each subject, and every verb against
# the coefficients, to the last bit.

expect_combined <- function(x, how, ..., y = NULL, backend = "cpu", within = 1e-6, label = how) {
  arguments <- list(...)
  ours <- suppressWarnings(do.call(gpuCor, c(list(x, y), arguments, list(output = "matrix", backend = backend))))
  same <- arguments[intersect(names(arguments), c("method", "use", "na.rm"))]
  truth <- do.call(reference_subjects, c(list(x, how, y = y), same,
                                         list(weights = arguments$subject_weights, share = arguments$probs)))
  wrong <- differences(ours, truth, within)
  expect(!length(wrong), paste(c(paste(backend, label), wrong), collapse = "\n"))
  invisible(ours)
}

# Sizes one off those of tiles and vectors.
for (backend in backends()) {
  test_that(paste(backend, "combines what cor() gives of each subject"), {
    set.seed(1)
    rows <- covering(how = ways, m = c(2, 65, 129), method = all_methods)
    rows$method[rows$m > 100] <- "pearson"
    for_rows(unique(rows), function(how, m, method, label) {
      x <- some_subjects(c(9, 30, 17, if (method != "kendall" || m == 2) 101), m) # cor() takes long
      do.call(expect_combined, c(list(x, how, method = method, backend = backend, label = label), how_to(how),
                                 within = tolerance[[method]]))
    })
  })

  test_that(paste(backend, "combines coefficients of x and y"), {
    set.seed(2)
    x <- some_subjects(c(12, 20), 63)
    y <- some_subjects(c(12, 20), 7)
    for (how in ways) do.call(expect_combined, c(list(x, how, y = y, backend = backend), how_to(how)))
    r <- gpuCor(x, y, combine = "fisher", backend = backend)
    net <- gpuCorNetwork(x, y, threshold = 0.2, combine = "fisher", backend = backend)
    expect_identical(as.matrix(net), unname(ifelse(abs(r) >= 0.2, r, 0)))
  })

  test_that(paste(backend, "weighs subjects, and takes them in double"), {
    set.seed(3)
    x <- some_subjects(c(12, 20, 9), 40)
    for (how in c("mean", "fisher")) {
      expect_combined(x, how, combine = how, subject_weights = c(1, 0.5, 7), backend = backend)
      expect_combined(x, how, combine = how, precision = "double", backend = backend, within = 1e-13)
    }
  })

  test_that(paste(backend, "a pair without a coefficient in a subject has none, or that of the others"), {
    set.seed(4)
    x <- some_subjects(c(12, 20, 9), 30)
    x[[1]][3, 4] <- NA
    x[[2]][, 5] <- 1
    x[[1]][, 6] <- x[[2]][, 6] <- x[[3]][, 6] <- 2
    skips <- c(FALSE, TRUE)
    for (use in c("everything", "complete.obs", "pairwise.complete.obs")) for (how in ways) for (skip in skips) {
      # By complete observations the first subject has one less, and a weight that says so.
      weights <- if (how == "fisher" && use == "complete.obs") list(subject_weights = c(8, 17, 6))
      label <- paste(how, use, skip)
      do.call(expect_combined, c(list(x, how, use = use, na.rm = skip, backend = backend, label = label),
                                 how_to(how), weights))
    }
    told <- warnings_of(gpuCor(x, backend = backend))
    expect_match(told[1], "standard deviation is zero \\(2 of 30 columns of 'x': 5, 6\\)")
    expect_match(told[2], "^29 pairs have no coefficient, as values are missing in column 4 of 'x' in subject 1; na.rm")
    net <- suppressWarnings(gpuCorNetwork(x, threshold = 0, backend = backend))
    r <- suppressWarnings(gpuCor(x, backend = backend))
    expect_equal(net@edges, sum(!is.na(r)))
  })

  test_that(paste(backend, "coefficients of 1 and -1 have a z of 8.7"), {
    set.seed(5)
    x <- some_subjects(c(8, 8), 4)
    x[[1]][, 2] <- x[[1]][, 1]
    x[[1]][, 3] <- -x[[1]][, 1]
    x[[2]][, 4] <- x[[2]][, 1]
    r <- gpuCor(x, combine = "fisher", precision = "double", backend = backend)
    z <- (atanh(MAX_R) + atanh(cor(x[[2]][, 1], x[[2]][, 2]))) / 2
    expect_equal(r[1, 2], tanh(z), tolerance = 1e-12)
    both <- lapply(x, function(m) cbind(m[, 1], m[, 1], -m[, 1]))
    r <- gpuCor(both, combine = "fisher", backend = backend)
    expect_equal(as.vector(r), c(MAX_R, -MAX_R, -MAX_R), tolerance = 1e-14)
  })

  # What is cheap on a processor must not be seen: strong correlations, of which artanh is steep, few and many
  # observations, all signs.
  test_that(paste(backend, "networks and sums are those of the coefficients, to the last bit"), {
    set.seed(6)
    data <- list(weak = some_subjects(c(40, 31, 22), 200, 6, 0.2), strong = some_subjects(c(40, 31), 120, 6, 3),
                 few = some_subjects(c(4, 5, 6), 90), long = some_subjects(c(2100, 60), 70, 6))
    for (name in names(data)) for (how in setdiff(ways, if (name == "long") "quantile")) {
      if (!full_tier() && (match(name, names(data)) + match(how, ways)) %% 2) next
      x <- data[[name]]
      run <- function(verb, ...) do.call(verb, c(list(x, backend = backend), how_to(how), list(...)))
      r <- run(gpuCor)
      m <- unname(as.matrix(r))
      for (sign in c("absolute", "positive", "negative")) {
        weight <- switch(sign, absolute = abs(m), positive = m, negative = -m)
        diag(weight) <- -2
        least <- quantile(weight[upper.tri(weight)], 0.95, names = FALSE)
        if (least < 0) next
        label <- paste(backend, name, how, sign)
        net <- run(gpuCorNetwork, threshold = least, sign = sign)
        expect_identical(unname(as.matrix(net)), ifelse(weight >= least, m, 0), label = label)
        dense <- run(gpuCorNetwork, density = 0.01, sign = sign)
        k <- ceiling(0.01 * length(r))
        expect_identical(dense@threshold, sort(weight[upper.tri(weight)], decreasing = TRUE)[k], label = label)
        sums <- run(gpuConnectivity, threshold = least, sign = sign)
        expect_identical(sums$degree, as.numeric(rowSums(weight >= least)), label = label)
        expect_equal(run(gpuConnectivity, threshold = least, sign = sign, power = 2)$strength, sums$strength)
      }
      near <- run(gpuCorNetwork, k = 2, mutual = TRUE)
      expect_true(all(near@x %in% r), label = paste(name, how))
    }
    sums <- gpuConnectivity(data$weak, combine = "fisher", power = 3, histogram = TRUE, backend = backend)
    r <- as.matrix(gpuCor(data$weak, combine = "fisher", backend = backend))
    diag(r) <- 0
    expect_equal(as.vector(sums$soft), unname(rowSums(abs(r)^3)), tolerance = 1e-12)
    expect_equal(sum(sums$histogram$counts), 200 * 199 / 2)
  })

  test_that(paste(backend, "has the same bits for any number of threads and workers, and any memory"), {
    set.seed(7)
    x <- some_subjects(c(30, 12, 41), 513, 6, 0.8)
    run <- function(how, ...) {
      arguments <- c(list(x, backend = backend, ...), how_to(how))
      list(as.vector(do.call(gpuCor, arguments)), slots_of(do.call(gpuCorNetwork, c(arguments, density = 0.01))),
           without_call(do.call(gpuConnectivity, c(arguments, threshold = 0.5))))
    }
    .Call(gpucor:::r_set_shared_steps, 1)
    on.exit(.Call(gpucor:::r_set_shared_steps, 0))
    for (how in if (backend == "cpu") ways else c("fisher", "min")) {
      truth <- run(how)
      expect_identical(run(how, threads = 1), truth, label = paste(how, "one thread"))
      expect_identical(run(how, memory = 1e5), truth, label = paste(how, "little memory"))
      expect_identical(run(how, memory = 2e6), truth, label = paste(how, "some memory"))
      with_options(list(gpucor.workers_per_device = 3), {
        expect_identical(run(how), truth, label = paste(how, "three workers"))
      })
    }
  })

  for (resource in resources_of(backend)) {
    test_that(paste(backend, "fails cleanly with many subjects wherever the", resource, "fails"), {
      set.seed(8)
      x <- some_subjects(c(9, 12), 66)
      holes <- lapply(x, with_missing, 0.02)
      runs <- list(
        cheap = function() gpuConnectivity(x, threshold = 0.3, combine = "fisher", backend = backend),
        skipped = function() gpuCor(holes, use = "complete", combine = "mean", na.rm = TRUE, backend = backend)
      )
      for (name in names(runs)) {
        walk_failures(runs[[name]], resource, paste(backend, name))
      }
    })
  }
}

test_that("every instruction set combines to the same bits", {
  set.seed(9)
  x <- some_subjects(c(30, 12, 41), 90, 6, 0.8)
  run <- function() {
    list(gpuCor(x, combine = "fisher", backend = "cpu"), gpuCor(x, backend = "cpu", precision = "double"),
         slots_of(gpuCorNetwork(x, density = 0.05, combine = "fisher", backend = "cpu")))
  }
  truth <- run()
  for (set in c("plain", "avx2", "avx512")) {
    again <- with_env(c(GPUCOR_CPU = set), tryCatch(run(), error = function(condition) NULL))
    if (!is.null(again)) expect_identical(again, truth, label = set)
  }
})

# Which pairs are looked at exactly follows from cheap values and a bound of their error, which is another where |r| is
# small, large and near 1.
test_that("a pair at the threshold is an edge, however cheap its value was", {
  set.seed(13)
  loading <- c(runif(140, -0.8, 0.8), runif(118, -4, 4), 60, -60)
  x <- lapply(c(40, 55, 31), function(n) outer(rnorm(n), loading) + matrix(rnorm(n * 260), n))
  run <- function(verb, how, ...) verb(x, combine = how, backend = "cpu", ...)
  for (how in c("fisher", "mean", "min")) {
    r <- as.vector(run(gpuCor, how))
    for (sign in c("absolute", "positive", "negative")) {
      weight <- sort(switch(sign, absolute = abs(r), positive = r, negative = -r), decreasing = TRUE)
      ranks <- round(c(2, seq(10, 0.9 * sum(weight > 0), length.out = 5)))
      sets <- gpuInfo()$instructions
      for (set in if (how == "fisher" && sign == "absolute") sets else sets[1]) {
        edges <- with_env(c(GPUCOR_CPU = set), vapply(ranks, function(k) {
          run(gpuCorNetwork, how, threshold = weight[k], sign = sign)@edges
        }, 0))
        expected <- vapply(ranks, function(k) sum(weight >= weight[k]) + 0, 0)
        expect_identical(edges, expected, label = paste(how, sign, set))
      }
    }
  }
})

test_that("a subject by itself is the call without a list", {
  set.seed(10)
  x <- some_subjects(20, 70)
  for (how in ways) {
    expect_identical(as.vector(do.call(gpuCor, c(list(x), how_to(how)))), as.vector(gpuCor(x[[1]])))
    expect_identical(do.call(gpuCorNetwork, c(list(x, density = 0.1), how_to(how)))@x,
                     gpuCorNetwork(x[[1]], density = 0.1)@x)
  }
  for (how in c("t", "sd", "fraction")) { # values that are no coefficients
    expect_error(gpuCor(x, combine = how, above = if (how == "fraction") 0.2),
                 paste0("combine = \"", how, "\" has no meaning for one subject; leave it out"), fixed = TRUE)
  }
})

test_that("subjects come from a function, once each and in order, and from files", {
  set.seed(11)
  x <- some_subjects(c(30, 12, 41), 50)
  x[[2]] <- matrix(as.integer(10 * x[[2]]), 12)
  truth <- gpuCorNetwork(x, density = 0.1, combine = "fisher")@x
  asked <- integer()
  read <- function(i) {
    asked <<- c(asked, i)
    x[[i]]
  }
  expect_identical(gpuCorNetwork(read, subjects = 3, density = 0.1, combine = "fisher")@x, truth)
  expect_identical(asked, 1:3)
  folder <- tempfile("spool")
  dir.create(folder)
  with_options(list(gpucor.spool_bytes = 1, gpucor.folder = folder), {
    expect_identical(gpuCorNetwork(read, subjects = 3, density = 0.1, combine = "fisher")@x, truth)
  })
  gc()
  expect_identical(dir(folder), character())
  file <- tempfile()
  on.exit(unlink(c(file, folder), recursive = TRUE))
  writeBin(as.vector(x[[1]]), file, endian = "little")
  mixed <- list(gpuCorFile(file, dim(x[[1]])), as.data.frame(x[[2]]), x[[3]])
  names <- colnames(mixed[[2]])
  expect_identical(gpuCorNetwork(mixed, density = 0.1, combine = "fisher")@x, truth)
  named <- lapply(x, function(m) {
    colnames(m) <- names
    m
  })
  expect_identical(colnames(gpuCor(named, output = "matrix")), names)
})

test_that("p values and false discovery rates of fixed effects are of the mean z", {
  set.seed(12)
  x <- some_subjects(c(30, 12, 41), 60, 6, 0)
  common <- matrix(rnorm(41), 41)
  x <- lapply(x, function(m) {
    m[, 1:6] <- m[, 1:6] + 1.2 * common[seq_len(nrow(m)), 1]
    m
  })
  n <- vapply(x, nrow, 0)
  for (method in c("pearson", "spearman")) for (weights in list(NULL, c(1, 2, 3))) {
    w <- if (is.null(weights)) n - 3 else weights
    error <- sqrt(sum(w^2 * c(pearson = 1, spearman = 1.06)[[method]] / (n - 3))) / sum(w)
    r <- as.vector(gpuCor(x, combine = "fisher", method = method, subject_weights = weights))
    p <- 2 * pnorm(-abs(atanh(r)) / error)
    net <- function(...) {
      gpuCorNetwork(x, combine = "fisher", method = method, subject_weights = weights, effects = "fixed", ...)
    }
    expect_equal(net(p.value = 0.01)@edges, sum(p <= 0.01))
    expect_equal(net(fdr = 0.1)@edges, sum(p.adjust(p, "BH") <= 0.1))
    expect_gt(net(fdr = 0.1)@edges, 5)
    expect_equal(net(fdr = 0.1, sign = "negative")@edges, sum(p.adjust(p, "BH") <= 0.1 & r < 0))
  }
  expect_error(gpuCorNetwork(x, fdr = 0.1), "combine = \"fisher\" only; combine is \"mean\"")
  fixed <- function(...) gpuCorNetwork(x, combine = "fisher", effects = "fixed", ...)
  expect_error(fixed(fdr = 0.1, method = "kendall"), "not for \"kendall\"")
  expect_error(fixed(fdr = 0.1, na.rm = TRUE), "leave out na.rm")
  expect_error(fixed(fdr = 0.1, df = "bartlett"), "a number for each of them")
  expect_identical(fixed(fdr = 0.1, df = n - 2), fixed(fdr = 0.1, df = as.list(n - 2)))
  expect_lt(fixed(fdr = 0.1, df = n / 2)@edges, fixed(fdr = 0.1)@edges)
  x[[1]][1] <- NA
  expect_error(fixed(p.value = 0.1, use = "pairwise"), "the same observations")
})

test_that("without 'combine' a message says that coefficients are averaged, once a call", {
  x <- some_subjects(c(12, 10), 5)
  told <- "'combine' is not given, so the subjects' coefficients are averaged, as by combine = \"mean\""
  for (f in list(gpuCor, function(...) gpuCorNetwork(..., density = 0.2), function(...) gpuConnectivity(..., power = 2),
                 function(...) gpuConnectivity(..., density = 0.5, power = 2))) {
    texts <- testthat::capture_messages(f(x))
    expect_length(texts, 1)
    expect_match(texts, told, fixed = TRUE)
    expect_identical(testthat::capture_messages(f(x, combine = "mean")), character())
    expect_identical(testthat::capture_messages(f(x[1])), character()) # one is not averaged
  }
  expect_identical(testthat::capture_messages(gpuCorCompare(x, x)), character())
})

test_that("a warning of every subject is shown once", {
  x <- some_subjects(c(12, 10), 5)
  told <- warnings_of(gpuCor(x, covariates = list(1:12, 1:10), combine = "fisher"))
  expect_identical(told, paste0("subject 1: 'covariates': the regression takes 1 of 10 degrees of freedom and leaves ",
                                "9, with which unrelated columns have large coefficients; there are few observations"))
})

test_that("errors name the subject, and what is to be done", {
  runs <- list(normal(9, 3), normal(9, 3))
  expect_error(gpuCor(list(runs, runs), combine = "min"), "subject 1: it must be a matrix, not a list; join .* 'runs'",
               class = "gpucor_error_input")
  x <- list(matrix(rnorm(20), 5, dimnames = list(NULL, letters[1:4])), matrix(rnorm(20), 5))
  expect_error(gpuCor(c(x, list(matrix(0, 5, 3)))), "subject 3: 'x' has 3 columns, and the first subject has 4")
  other <- x[[1]]
  colnames(other)[2] <- "z"
  expect_error(gpuCor(c(x, list(other))), "subject 3: column 2 of 'x' is \"z\", and that of the first subject is \"b\"")
  expect_error(gpuCor(list(x[[1]], "a")), "subject 2: it must be a matrix, not \"a\"")
  expect_error(gpuCor(list(x[[1]], 1:5)), "subject 2: it must be a matrix")
  expect_error(gpuCor(list(x[[1]], NULL)), "subject 2: there are no data")
  expect_error(gpuCor(x, x[[1]]), "'y' is none")
  for (given in list(list(test = TRUE), list(output = "list"), list(test = TRUE, combine = "mean"))) {
    expect_error(do.call(gpuCor, c(list(x), given)), "are for one data set, .*; gpuCorNetwork\\(\\) with combine")
  }
  expect_error(gpuCor(x, x[1]), "'x' has 2 subjects, and 'y' has 1")
  expect_error(gpuCor(x, list(x[[1]], x[[1]][1:3, ])), "subject 2: incompatible dimensions")
  expect_error(gpuCor(list()), "no subjects")
  expect_error(gpuCor(function(i) x[[i]]), "subjects' data, say by 'subjects'")
  expect_error(gpuCor(function(i) stop("no file"), subjects = 2), "subject 1: no file")
  expect_error(gpuCor(x, subjects = 3), "'subjects' is 3, and 'x' is a list of 2")
  expect_error(gpuCor(x, combine = "median"), "'combine' must be one of")
  expect_error(gpuCor(x, probs = 0.5), "leave it out")
  expect_error(gpuCor(x, combine = "quantile", probs = 2), "'probs'")
  expect_error(gpuCor(x, subject_weights = 1), "each of the 2 subjects")
  expect_error(gpuCor(x, combine = "min", subject_weights = 1:2), "leave them out")
  expect_error(gpuCor(x, na.rm = NA), "'na.rm' must be TRUE or FALSE")
  expect_error(gpuCor(list(x[[1]], x[[2]][1:3, ]), combine = "fisher"), "subject 2 has 3 observations.*at least 4")
  expect_error(gpuCor(x[[1]], combine = "mean"), "'x' is not a list")
  x[[2]][3] <- NA
  expect_error(gpuCor(x, use = "all.obs"), "subject 2: .*missing")
  expect_error(gpuCorTest(x), "many subjects' data are for")
  expect_error(gpuDist(x), "matrix-like|many subjects")
  folder <- tempfile()
  expect_error(gpuCorPlan(folder, x, use = "all.obs", threshold = 0.5), "subject 2: .*missing")
  expect_false(file.exists(folder))
})

test_that("each subject has its own weights and covariates", {
  x <- list(normal(30, 9), rounded(25, 9), normal(21, 9))
  z <- list(confounds(30), confounds(25)[, 1:2], confounds(21)[, 3, drop = FALSE])
  w <- lapply(x, function(own) rep_len(c(1, 2, 0, 3), nrow(own)))
  left <- Map(function(own, z) stats::residuals(stats::lm(own ~ scale(z, scale = FALSE))), x, z)
  lost <- vapply(z, function(z) qr(scale(z, scale = FALSE))$rank, 0L)
  for (backend in backends()) {
    r <- gpuCor(x, covariates = z, combine = "mean", precision = "double", output = "matrix", backend = backend)
    expect_equal(r, Reduce(`+`, lapply(left, cor)) / 3, tolerance = 1e-8)
    r <- gpuCor(x, weights = function(i) w[[i]], combine = "mean", output = "matrix", backend = backend)
    expect_equal(r, Reduce(`+`, Map(function(x, w) cov.wt(x, w, cor = TRUE)$cor, x, w)) / 3, tolerance = 1e-6)
    r <- gpuCor(x, covariates = z, combine = "fisher", backend = backend)
    n <- vapply(x, nrow, 0L) - lost - 3
    means <- Reduce(`+`, Map(function(r, n) n * z_of(cor(r)), left, n)) / sum(n)
    expect_equal(as.vector(r), tanh(means)[lower.tri(means)], tolerance = 1e-6)
    net <- gpuCorNetwork(x, p.value = 0.2, covariates = z, combine = "fisher", backend = backend, effects = "fixed")
    p <- 2 * stats::pnorm(-abs(means) * sqrt(sum(n)))
    expect_identical(unname(as.matrix(net) != 0), unname(p <= 0.2 & row(p) != col(p)))
    one <- gpuCor(x[1], covariates = z[1], weights = w[1], backend = backend)
    alone <- gpuCor(x[[1]], covariates = z[[1]], weights = w[[1]], backend = backend)
    expect_identical(as.vector(one), as.vector(alone))
    differing <- gpuCorCompare(x[1:2], x[3], covariates = z, backend = backend, precision = "double", effects = "fixed")
    expect_s3_class(differing, "gpuCorCompare")
  }
  expect_error(gpuCor(x, covariates = z[1:2]), "'covariates' is a list of 2, and there are 3 subjects", fixed = TRUE)
  expect_error(gpuCor(x, weights = list(1:30, 1:25, 1:20)), "subject 3: 'weights' has 20 values", fixed = TRUE)
  expect_error(gpuCorNetwork(x, fdr = 0.1, combine = "fisher", df = 3), "'df' is of a subject's observations",
               fixed = TRUE)
  expect_error(gpuConnectivity(x, maps = "eigenvector"), "is of one subject", fixed = TRUE)
})

test_that("subjects whose images have other voxels are an error", {
  image <- function(constant) {
    values <- array(normal(20, 27), c(20, 3, 3, 3))
    values <- aperm(values, c(2, 3, 4, 1))
    values[constant, 1, 1, ] <- 0
    suppressMessages(voxelMatrix(values))
  }
  same <- list(image(1), image(1))
  expect_s4_class(gpuCorNetwork(same, threshold = 0.3, combine = "mean"), "gpuCorNetwork")
  expect_error(gpuCorNetwork(list(image(1), image(2)), threshold = 0.3, combine = "mean"),
               "subject 2: 'x' has voxels of another mask", class = "gpucor_error_input")
})

test_that("pairs without a coefficient in a subject are told of, with the subject", {
  set.seed(1)
  x <- matrix(rnorm(40 * 8), 40, dimnames = list(NULL, letters[1:8]))
  subjects <- list(x, x + sin(x), x + cos(x))
  subjects[[2]][, 3] <- NA
  told <- function(pairs) {
    paste0("^", pairs, " pairs have no coefficient, as values are missing in column 3 \\(c\\) of 'x' in subject 2; ",
           "na.rm = TRUE combines the coefficients of the subjects that have one$")
  }
  for (use in c("everything", "pairwise.complete.obs")) for (combine in c("mean", "fisher", "sd")) {
    for (output in c("dist", "matrix")) {
      warned <- warnings_of(r <- gpuCor(subjects, combine = combine, use = use, output = output))
      expect_length(warned, 1)
      expect_match(warned, told(7))
      expect_identical(sum(is.na(as.matrix(r)["c", -3])), 7L)
    }
    expect_match(warnings_of(gpuCor(subjects, lapply(subjects, `[`, , 1:2), combine = combine, use = use)), told(2))
    expect_identical(warnings_of(gpuCor(subjects, combine = combine, use = use, na.rm = TRUE)), character())
  }
  for (f in list(gpuCorNetwork, gpuConnectivity)) {
    expect_match(warnings_of(f(subjects, combine = "fisher", threshold = 0.1)),
                 "1 of 8 columns of 'x': c.; na.rm = T[^;]*$")
    expect_identical(warnings_of(f(subjects, combine = "fisher", threshold = 0.1, na.rm = TRUE)), character())
  }
  subjects[[3]][4, 1] <- NA
  expect_match(warnings_of(gpuCor(subjects, combine = "mean")),
               "^13 pairs .* in columns 1 \\(a\\), 3 \\(c\\) of 'x' in subjects 2-3;")
  expect_match(warnings_of(gpuCor(subjects, combine = "mean", use = "pairwise")), told(7))
  expect_match(warnings_of(gpuCor(lapply(subjects, function(own) list(own, own)), combine = "icc3")),
               "of 'x' in subjects 2-3$")
})
