# gpuCorCompare(seeds = ): a few columns, or series, against all columns.

set.seed(2)
some <- function(n, m = 6) matrix(rnorm(n * m), n, dimnames = list(NULL, letters[seq_len(m)]))
subjects <- lapply(c(20, 25, 30, 20, 22, 24, 28), some)

# The definition: z of each subject, columns x seeds; of a seed with itself it may be no number.
seed_z <- function(x, seeds) {
  suppressWarnings(vapply(seq_along(x), function(s) atanh(cor(x[[s]], seeds[[s]])), cor(x[[1]], seeds[[1]])))
}

expect_seeds <- function(found, z, test, own = NULL) {
  each <- apply(z, 1:2, function(z) unlist(test(z)[c("statistic", "p.value")]))
  for (k in seq_along(own)) each[, own[k], k] <- NA
  expect_identical(dim(found$p.value), dim(each)[-1])
  expect_equal(as.vector(found$statistic), as.vector(each[1, , ]), tolerance = 1e-5)
  expect_equal(as.vector(found$p.value), as.vector(each[2, , ]), tolerance = 1e-5)
  expect_equal(as.vector(found$fdr), p.adjust(as.vector(each[2, , ]), "BH"), tolerance = 1e-5)
}

test_that("seed columns of groups of subjects are compared with all columns", {
  columns <- lapply(subjects, function(x) x[, c(5, 2)])
  z <- seed_z(subjects, columns)
  z[!is.finite(z)] <- 99
  student <- function(z) {
    if (any(z == 99)) list(statistic = NA, p.value = NA) else t.test(z[1:3], z[4:7], var.equal = TRUE)
  }
  for (backend in backends()) for (seeds in list(c("e", "b"), c(5, 2))) {
    found <- gpuCorCompare(subjects[1:3], subjects[4:7], seeds = seeds, backend = backend)
    expect_seeds(found, z, student, own = c(5, 2))
    expect_identical(dimnames(found$p.value), list(letters[1:6], c("e", "b")))
  }
  all <- gpuCorCompare(subjects[1:3], subjects[4:7])
  expect_equal(found$p.value["a", "e"], all$p.value["a", "e"], tolerance = 1e-6)
  frame <- as.data.frame(found)
  expect_identical(frame$to, rep(c("e", "b"), each = 6))
  expect_output(print(found), "12 tests")
  classes <- gpuCorCompare(subjects[1:3], subjects[4:7], seeds = 2, classes = 0.2)
  expect_equal(classes$r.x[, "b"][-2], tanh(rowMeans(z[, 2, 1:3]))[-2], tolerance = 1e-5)
  expect_true(is.na(classes$r.x["b", "b"]))
})

test_that("series of each subject, or of all, are seeds", {
  series <- lapply(subjects, function(x) matrix(rnorm(nrow(x)), ncol = 1))
  found <- gpuCorCompare(subjects[1:3], subjects[4:7], seeds = series)
  expect_seeds(found, seed_z(subjects, series), function(z) t.test(z[1:3], z[4:7], var.equal = TRUE))
  expect_identical(without_call(found),
                   without_call(gpuCorCompare(subjects[1:3], subjects[4:7], seeds = lapply(series, drop))))
  equal <- lapply(1:5, function(i) some(30))
  task <- cbind(on = sin(1:30), off = cos(1:30 / 2))
  found <- gpuCorCompare(equal, seeds = task)
  expect_seeds(found, seed_z(equal, rep(list(task), 5)), t.test)
  expect_identical(colnames(found$p.value), c("on", "off"))
  adjusted <- gpuCorCompare(equal, seeds = task, covariates = (1:30)^2)
  residual <- function(m) residuals(lm(m ~ I((1:30)^2)))
  expect_seeds(adjusted, seed_z(lapply(equal, residual), rep(list(residual(task)), 5)), t.test)
})

test_that("two matrices of samples are compared by seeds", {
  x <- some(30)
  y <- some(40)
  for (backend in backends()) {
    found <- gpuCorCompare(x, y, seeds = "c", backend = backend)
    z <- (atanh(cor(x)[-3, 3]) - atanh(cor(y)[-3, 3])) / sqrt(1 / 27 + 1 / 37)
    expect_equal(found$statistic[-3, ], z, tolerance = 1e-5)
    expect_identical(which(is.na(found$p.value)), 3L)
  }
  all <- gpuCorCompare(x, y)
  expect_equal(found$p.value[-3, 1], as.matrix(all$p.value)[-3, 3], tolerance = 1e-6)
  three <- list(x, y, some(20))
  expect_equal(gpuCorCompare(three, effects = "fixed", seeds = 1)$p.value["b", "a"],
               gpuCorCompare(three, effects = "fixed")$p.value["a", "b"], tolerance = 1e-6)
})

test_that("permutations are of the seeds' pairs, without those of a seed with itself", {
  for (backend in backends()) {
    set.seed(4)
    found <- gpuCorCompare(subjects[1:6], seeds = c(1, 4), n_perm = 49, backend = backend)
    set.seed(4)
    z <- seed_z(subjects[1:6], lapply(subjects[1:6], function(x) x[, c(1, 4)] + 0))
    z <- matrix(z, 12)[-c(1, 10), ]
    signs <- replicate(49, sign(gpucor:::exchange(gpucor:::units_of(NULL, FALSE, 6L), 6L, TRUE)))
    maxima <- apply(signs, 2, function(s) max(abs(apply(z, 1, function(z) t.test(s * z)$statistic))))
    t <- abs(as.vector(found$statistic)[-c(1, 10)])
    expect_equal(as.vector(found$p.adjusted)[-c(1, 10)], vapply(t, function(t) mean(c(TRUE, maxima >= t - 1e-6)), 0))
  }
  set.seed(1)
  x <- some(60)
  y <- some(50)
  y[, "d"] <- y[, "a"] + 0.3 * y[, "d"]
  found <- gpuCorCompare(x, y, seeds = "a", n_perm = 99)
  expect_identical(found$p.adjusted["d", "a"], 0.01)
  expect_gt(min(found$p.adjusted[c("b", "c", "e", "f"), "a"]), 0.02)
  # With all columns as seeds the pairs are those of a call without seeds.
  p <- lapply(list(NULL, colnames(x)), function(seeds) {
    set.seed(2)
    as.matrix(gpuCorCompare(x, y, seeds = seeds, n_perm = 49)$p.adjusted)
  })
  expect_identical(p[[2]][row(p[[2]]) != col(p[[2]])], p[[1]][row(p[[1]]) != col(p[[1]])])
})

test_that("given coefficients have seeds, and wrong seeds are refused", {
  r <- lapply(subjects, cor)
  expect_equal(gpuCorCompare(r[1:3], r[4:7], method = "given", seeds = "b")$p.value,
               gpuCorCompare(subjects[1:3], subjects[4:7], seeds = "b")$p.value, tolerance = 1e-5)
  expect_error(gpuCorCompare(r, method = "given", seeds = list(1)), "not series")
  refused <- function(seeds, message, ...) expect_error(gpuCorCompare(subjects, seeds = seeds, ...), message)
  refused("z", "'seeds' must be names or numbers of columns, each once, of 6 columns, not \"z\"; series are a matrix")
  refused(7, "'seeds' must be names or numbers")
  refused(c(1, 1), "each once")
  refused(list(1:20), "'seeds' has 1 element; there are 7 subjects")
  refused(matrix(0, 20), "subject 2: 'seeds' has 20 rows; there are 25 observations")
  for (more in list(list(p.value = 0.1), list(components = "size", threshold = 1, n_perm = 9), list(threshold = 1))) {
    expect_error(do.call(gpuCorCompare, c(list(subjects, seeds = 1), more)), "all tests are returned; leave")
  }
  refused(1, "given all columns, which 'seeds' leave out", partial = TRUE)
})
