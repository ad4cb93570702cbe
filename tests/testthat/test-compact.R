# Results of many pairs are not vectors of R's own; but for time and memory nobody sees the difference.

N <- 140L # some more pairs than an ordinary vector has

data_of <- function(method) {
  x <- if (method == "kendall") rounded(40, N) else normal(40, N)
  x[, 7] <- 1
  x[3, 9] <- NA
  if (method == "pearson") x[2, 11] <- Inf
  cbind(x[, 1:20], x[, 1], -x[, 2], x[, 21:N])
}

is_compact <- function(x) any(grepl("compact:", utils::capture.output(.Internal(inspect(x))), fixed = TRUE))
is_plain <- function(x) !any(grepl("coefficients (", utils::capture.output(.Internal(inspect(x))), fixed = TRUE))

quiet <- function(code) suppressWarnings(code)

# Pairs from independent to all but equal.
graded_columns <- function(n_obs, n_var) {
  normal(n_obs, n_var) * rep(10^seq(-3, 0.5, length.out = n_var), each = n_obs) + normal(n_obs, 1, seed = 2)[, 1]
}

# The same values in an ordinary vector, from a matrix, which is one.
triangle_of <- function(x, order = "row", ...) {
  full <- unname(quiet(gpuCor(x, ..., output = "matrix")))
  if (order == "row") full[lower.tri(full)] else t(full)[upper.tri(full)]
}

for (backend in backends()) for (method in all_methods) {
  test_that(paste(backend, method, "compact coefficients are those of an ordinary vector"), {
    x <- data_of(method)
    for (order in c("row", "column")) for (threads in 1:2) {
      run <- function() quiet(gpuCorTriangle(x, method = method, order = order, backend = backend, threads = threads))
      truth <- triangle_of(x, order, method = method, backend = backend)
      r <- run()
      expect_true(is_compact(r))
      n <- length(truth)
      expect_length(r, n)
      # Element by element, and in pieces.
      at <- c(1, 2, N - 1, N, n - 1, n, seq(3, n, by = 97))
      expect_identical(vapply(at, function(k) r[[k]], 0), truth[at])
      expect_identical(r[as.integer(at)], truth[at])
      odd <- c(0, 2.9, NA, n, n + 0.5, n + 1, 1e15, Inf)
      expect_identical(r[odd], truth[odd])
      expect_identical(r[c(NA, 3L, 0L, n + 1L)], truth[c(NA, 3L, 0L, n + 1L)])
      expect_identical(r[-(3:n)], truth[1:2])
      expect_identical(r[c(TRUE, FALSE, NA)], truth[c(TRUE, FALSE, NA)])
      expect_identical(sum(r), sum(truth))
      expect_identical(sum(r, na.rm = TRUE), sum(truth, na.rm = TRUE))
      for (f in list(min, max)) {
        expect_identical(f(r), f(truth))
        expect_identical(f(r, na.rm = TRUE), f(truth, na.rm = TRUE))
      }
      expect_identical(is.na(r), is.na(truth))
      expect_identical(is.nan(r), is.nan(truth))
      expect_identical(anyNA(r), anyNA(truth))
      expect_identical(as.integer(r), as.integer(truth))
      expect_true(is_compact(r))
      # A pointer: all of them at once, and no further time.
      expect_identical(r, truth)
      expect_false(is_compact(r))
      expect_identical(r[at], truth[at])
      expect_identical(c(sum(r), min(r), max(r)), c(sum(truth), min(truth), max(truth)))
      expect_identical(run() + 1, truth + 1)
      expect_true(is_plain(run() + 1))
    }
    expect_nothing_live()
  })

  test_that(paste(backend, method, "coefficients without a missing one"), {
    x <- if (method == "kendall") rounded(30, N) else normal(30, N)
    r <- gpuCorTriangle(x, method = method, backend = backend)
    truth <- triangle_of(x, method = method, backend = backend)
    expect_false(anyNA(r))
    expect_identical(c(min(r), max(r)), range(truth))
    expect_true(is_compact(r))
    expect_identical(r, truth)
  })

  test_that(paste(backend, method, "distances are 1 less the coefficient, and share its memory"), {
    x <- data_of(method)
    truth <- triangle_of(x, method = method, backend = backend)
    d <- quiet(gpuDist(t(x), method, backend = backend))
    expect_true(is_compact(d))
    expect_identical(c(min(d, na.rm = TRUE), max(d, na.rm = TRUE)), 1 - range(truth, na.rm = TRUE)[2:1])
    expect_identical(d[1:500], 1 - truth[1:500])
    expect_identical(as.vector(d), 1 - truth)
    r <- quiet(gpuCor(x, method = method, backend = backend))
    used <- .Call(gpucor:::r_memory, FALSE)$used
    less <- 1 - r
    expect_identical(.Call(gpucor:::r_memory, FALSE)$used, used)
    expect_true(is_compact(less) && is_compact(r))
    expect_s3_class(less, "dist", exact = TRUE)
    expect_identical(attr(less, "Size"), ncol(x))
    expect_null(attr(less, "n_obs"))
    expect_identical(as.vector(less), 1 - truth)
    expect_identical(as.vector(r), truth)
    expect_identical(as.vector(1 - less), 1 - (1 - truth))
    expect_identical(as.vector(-r), -truth)
    expect_identical(as.vector(2 - r), 2 - truth)
    expect_identical(as.vector(r - 1), truth - 1)
  })
}

test_that("copies are copies", {
  r <- gpuCor(normal(20, N))
  truth <- triangle_of(normal(20, N))
  other <- r
  attr(other, "note") <- "changed"
  expect_true(is_compact(other) && is_compact(r))
  expect_null(attr(r, "note"))
  other[3] <- 5
  expect_false(is_compact(other))
  expect_true(is_compact(r))
  expect_identical(as.vector(other), replace(truth, 3, 5))
  expect_identical(r[1:4], truth[1:4])
  again <- other
  again[4] <- 6
  expect_identical(other[1:4], replace(truth, 3, 5)[1:4])
  names(r) <- seq_along(r)
  expect_identical(r[["2"]], truth[2])
  expect_identical(unclass(unname(as.vector(r)))[1:9], truth[1:9])
})

test_that("what is saved is an ordinary vector", {
  r <- gpuCor(normal(20, N), method = "kendall")
  truth <- triangle_of(normal(20, N), method = "kendall")
  for (xdr in c(TRUE, FALSE)) for (version in 2:3) {
    again <- unserialize(serialize(gpuCor(normal(20, N), method = "kendall"), NULL, xdr = xdr, version = version))
    expect_true(is_plain(again))
    expect_identical(as.vector(again), truth)
    expect_identical(attributes(again)[c("Size", "class", "method")], attributes(r)[c("Size", "class", "method")])
  }
  skip_on_os("windows")
  file <- tempfile(fileext = ".rds")
  saveRDS(r, file)
  code <- sprintf("r <- unclass(readRDS('%s')); cat(loadedNamespaces()[loadedNamespaces() == 'gpucor'], sum(r))", file)
  said <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", "-e", shQuote(code)), stdout = TRUE)
  expect_equal(as.numeric(said), sum(truth), tolerance = 1e-6)
})

test_that("what a class does with them needs no pointer, or gets one", {
  x <- normal(30, N)
  colnames(x) <- paste0("v", seq_len(N))
  r <- gpuCor(x, method = "spearman")
  full <- gpuCor(x, method = "spearman", output = "matrix")
  expect_identical(as.matrix(r), full)
  expect_identical(r["v3", c("v9", "v140")], full["v3", c("v9", "v140")])
  expect_output(print(r), "Spearman")
  of_plain <- summary(structure(full[lower.tri(full)], class = c("gpuCor", "allPairs"), Size = N, method = "spearman",
                               n_obs = 30))
  expect_identical(summary(r)[c("quantiles", "mean", "missing")], of_plain[c("quantiles", "mean", "missing")])
  expect_true(is_compact(r))
  tested <- gpuCorTest(x, method = "spearman")
  expect_true(is_compact(tested$r))
  by_matrix <- gpuCorTest(x, method = "spearman", output = "matrix")
  expect_identical(as.vector(tested$p.value), by_matrix$p.value[lower.tri(full)])
  expect_identical(as.vector(tested$statistic), by_matrix$statistic[lower.tri(full)])
  expect_true(is_compact(1 - r))
  tree <- hclust(1 - r, method = "average")
  expect_identical(tree$height, hclust(stats::as.dist(1 - full), method = "average")$height)
  expect_identical(as.vector(cutree(tree, 3)), as.vector(cutree(hclust(stats::as.dist(1 - full), "average"), 3)))
})

test_that("a forked child reads and widens them", {
  skip_on_os("windows")
  r <- gpuCor(normal(20, N), threads = 2)
  truth <- triangle_of(normal(20, N))
  job <- parallel::mcparallel(list(sum(r), max(r), as.vector(r + 0), r[5:7]))
  expect_identical(parallel::mccollect(job)[[1]], list(sum(truth), max(truth), truth, truth[5:7]))
  expect_true(is_compact(r))
})

# In a process of its own, in which a collection takes milliseconds: with many packages loaded it takes far longer. Only
# C code is tortured; everything was run once before, so that R loads nothing meanwhile.
test_that("collections of garbage at every allocation do no harm", {
  result <- run_in_shell(c(
    "invisible(compiler::enableJIT(0))", # which would be tortured, too
    "torture <- function(code) {",
    "  gctorture(TRUE)",
    "  on.exit(gctorture(FALSE))",
    "  code",
    "}",
    "row <- gpucor:::engine$constants[['row']]",
    "given <- list(Size = 140L, Labels = as.character(1:140))",
    "control <- list(control = gpuControl(backend = 'cpu', threads = 1))",
    "set.seed(1)",
    "x <- round(matrix(rnorm(12 * 140), 12))",
    "x[, 5] <- 2",
    "look <- function(method, torture) {",
    "  of <- gpucor:::new_run(NULL, control, x, NULL, method, 'everything')",
    "  run <- function() gpucor:::perform(of, 'cor', row, given)",
    "  r <- torture(run()$values)",
    "  copy <- r",
    "  torture(attr(copy, 'note') <- 1)",
    "  d <- torture(.Call(gpucor:::r_distances, r, attributes(r)))",
    "  read <- torture(list(r[c(3, 9)], r[[4]], max(r, na.rm = TRUE), min(d, na.rm = TRUE), d[1:2], sum(copy[2:9])))",
    "  torture(copy[2] <- 0)",
    "  list(read, torture(as.vector(d) + 0), copy, r + 0)",
    "}",
    sprintf("for (method in c(%s'pearson')) {", if (full_tier()) "'kendall', " else ""), # allocations are the same
    "  truth <- look(method, identity)",
    "  stopifnot(is.list(truth[[1]]), length(truth[[2]]) == 140 * 139 / 2)",
    "  cat(identical(look(method, torture), truth), '')",
    "}"
  ))
  expect_identical(result, list(status = 0L, stdout = strrep("TRUE ", 1 + full_tier()), stderr = ""))
})

# ---- memory

pool <- function() {
  gc()
  .Call(gpucor:::r_memory, FALSE)[c("used", "kept")]
}

test_that("memory comes back when nobody has the coefficients any more, and stays for the next ones", {
  x <- normal(10, 1700) # 5.8 MB
  before <- pool()$used
  with_options(list(gpucor.keep_memory = FALSE), {
    r <- gpuCor(x)
    expect_gt(.Call(gpucor:::r_memory, FALSE)$used, before + 5.7e6)
    expect_identical(.Call(gpucor:::r_memory, FALSE)$kept, 0)
    rm(r)
    expect_identical(pool(), list(used = before, kept = 0))
  })
  with_options(list(gpucor.keep_memory = TRUE), {
    r <- gpuCor(x)
    first <- r[1:10]
    rm(r)
    kept <- pool()$kept
    expect_gt(kept, 5.7e6)
    r <- gpuCor(x[, 1:1600]) # a smaller one in its place
    expect_lt(.Call(gpucor:::r_memory, FALSE)$kept, 5e6)
    expect_identical(r[1:10], first)
    rm(r)
    expect_identical(pool()$used, before)
  })
  with_options(list(gpucor.keep_memory = 6e6), {
    r <- gpuCor(x)
    rm(r)
    expect_lte(pool()$kept, 7e6)
    r <- gpuCor(normal(10, 2000)) # 8 MB, more than may stay
    rm(r)
    expect_lte(pool()$kept, 7e6)
  })
  with_env(c(GPUCOR_KEEP_MEMORY = "FALSE"), with_options(list(gpucor.keep_memory = NULL), gpuCor(x[, 1:5])))
  expect_identical(pool(), list(used = before, kept = 0))
  for (bad in list("much", -1, c(1, 2), NA)) {
    with_options(list(gpucor.keep_memory = bad), expect_error(gpuCor(x[, 1:5]), "'keep_memory' must be", fixed = TRUE))
  }
})

test_that("one pointer gives the memory back at once, but not what others still read", {
  x <- normal(10, 1700)
  with_options(list(gpucor.keep_memory = FALSE), {
    r <- gpuCor(x)
    d <- 1 - r
    used <- pool()$used
    invisible(d + 0)
    expect_identical(.Call(gpucor:::r_memory, FALSE)$used, used)
    invisible(r + 0)
    expect_lt(.Call(gpucor:::r_memory, FALSE)$used, used - 5.7e6)
    expect_identical(d[2:9], 1 - r[2:9])
  })
})

test_that("a large network's memory stays for the next one, and both are right", {
  x <- normal(10, 3000)
  scaled <- scale(x) / 3
  expect_whole <- function(net, n) {
    expect_gt(length(net@x), 2^22)
    expect_gt(length(net@x), choose(n, 2) - 10)
    at <- sample(length(net@x), 5000)
    r <- colSums(scaled[, net@i[at] + 1] * scaled[, findInterval(at - 1, net@p)])
    expect_lt(max(abs(net@x[at] - r)), 1e-6)
  }
  for (keep in c(TRUE, if (full_tier()) FALSE)) {
    with_options(list(gpucor.keep_memory = keep), {
      before <- pool()
      net <- gpuCorNetwork(x, threshold = 1e-9, backend = "cpu")
      expect_gte(.Call(gpucor:::r_memory, FALSE)$used, before$used + 12 * length(net@x))
      expect_whole(net, 3000)
      bytes <- 12 * length(net@x)
      other <- net@x
      other[1] <- 7 # a vector of its own
      expect_false(net@x[1] == 7)
      rm(net, other)
      after <- pool()
      expect_identical(after$used, before$used)
      expect_true(if (keep) after$kept >= bytes else after$kept == 0)
      net <- gpuCorNetwork(x[, 1:2950], threshold = 1e-9, backend = "cpu")
      expect_whole(net, 2950)
      rm(net)
    })
  }
})

test_that("large tests are in such memory, too", {
  x <- normal(10, 2100)
  with_options(list(gpucor.keep_memory = TRUE), {
    before <- pool()
    t <- gpuCorTest(x, backend = "cpu")
    expect_gte(.Call(gpucor:::r_memory, FALSE)$used, before$used + 20 * length(t$r))
    expect_identical(t$p.value[[2100]], gpuCorTest(x[, 1:60], backend = "cpu")$p.value[[60]]) # columns 2 and 3
    other <- t$p.value
    other[1] <- 7
    expect_false(t$p.value[1] == 7)
    rm(t, other)
    expect_identical(pool()$used, before$used)
  })
})

for (backend in backends()) for (resource in resources_of(backend)) {
  test_that(paste(backend, resource, "failures leave no memory with results that there are not"), {
    x <- normal(30, N)
    used <- pool()$used
    for (method in c("pearson", "kendall")) {
      run <- function() as.vector(gpuCor(x, method = method, backend = backend)) + 0
      messages <- walk_failures(run, resource, paste("compact", method))
      expect_match(messages, ways_out[[resource]], all = TRUE)
    }
    expect_identical(pool()$used, used)
  })
}

test_that("the processor and a GPU find the same bits", {
  skip_without_gpu()
  for (n_obs in c(5, 12, 13, 100, 513, 1190, 2100)) for (method in all_methods) {
    x <- graded_columns(n_obs, 150)
    run <- function(backend) as.vector(gpuCorTriangle(x, method = method, backend = backend)) + 0
    expect_identical(run("cuda"), run("cpu"), label = paste(method, n_obs))
  }
})
