# Epochs of M/EEG: arrays and lists in the order of each program, and coherence within epochs.

set.seed(4)
epochs <- array(rnorm(12 * 3 * 40), c(12, 3, 40), list(NULL, c("Fz", "Cz", "Pz"), NULL)) # as MNE has them
epochs[, 2, ] <- epochs[, 1, ] + epochs[, 2, ] / 2
epochs[, 3, -1] <- epochs[, 1, -40] + epochs[, 3, -1]
x <- epochMatrix(epochs, c("epochs", "channels", "times"), rate = 100)
coherence <- function(x, ...) gpuCor(x, method = "coherence", ...)
values <- function(r) `attributes<-`(r, NULL)

test_that("rows are the times of one epoch after another, from any order of dimensions", {
  expect_identical(dim(x), c(480L, 3L))
  expect_identical(colnames(x), c("Fz", "Cz", "Pz"))
  expect_identical(attr(x, "runs"), rep(1:12, each = 40))
  expect_identical(unclass(x)[41:80, "Cz"], epochs[2, 2, ])
  expect_identical(epochMatrix(aperm(epochs, c(2, 3, 1)), c("channels", "times", "epochs"), 100), x)
  expect_identical(epochMatrix(aperm(epochs, 3:1), c("times", "channels", "epochs"), 100), x)
  trials <- lapply(1:12, function(k) epochs[k, , ])
  expect_identical(epochMatrix(trials, c("channels", "times"), 100), x)
  expect_identical(epochMatrix(lapply(trials, t), c("times", "channels"), 100), x)
  expect_output(print(x), "^12 epochs of 40 times, 3 channels, 100 Hz$")
  expect_output(print(epochMatrix(list(trials[[1]], trials[[2]][, 1:9]), c("channels", "times"))),
                "^2 epochs of 9 to 40 times, 3 channels$")
})

test_that("coherence of epochs is scipy's, whose segments are the epochs", {
  at <- withr::local_tempfile()
  write.table(unclass(x), at, row.names = FALSE, col.names = FALSE)
  said <- run_python("numpy, scipy.signal", c(
    "import sys, numpy, scipy.signal", "x = numpy.loadtxt(sys.argv[1])",
    "for i, j in ((0, 1), (0, 2), (1, 2)):",
    "    f, c = scipy.signal.coherence(x[:, i], x[:, j], 100, nperseg=40, noverlap=0)",
    "    print(repr(float(c[(f >= 8) & (f <= 13)].mean())))"), at)
  expect_equal(values(coherence(x, bandpass = c(8, 13))), as.numeric(said), tolerance = 1e-6)
  band <- list(bandpass = c(8, 13), rate = 100, runs = rep(1:12, each = 40))
  plain <- matrix(x, 480)
  expect_equal(values(do.call(coherence, c(list(plain), band))), as.numeric(said), tolerance = 1e-6)
})

test_that("the order of epochs does not matter, nor do further channels, nor the mean of an epoch", {
  r <- coherence(x, bandpass = c(8, 30))
  expect_equal(values(coherence(epochMatrix(epochs[12:1, , ], c("epochs", "channels", "times"), 100),
                                bandpass = c(8, 30))), values(r), tolerance = 1e-6)
  expect_equal(coherence(x[, 2:3], bandpass = c(8, 30))[1, 2], r[2, 3], tolerance = 1e-6)
  expect_equal(values(coherence(x + attr(x, "runs"), bandpass = c(8, 30))), values(r), tolerance = 1e-6)
  expect_output(print(r), "within 12 runs, 12 segments of 40 observations, 9 frequencies")
  subjects <- list(x, x[attr(x, "runs") > 4, ])
  expect_equal(values(coherence(subjects, bandpass = c(8, 30), combine = "mean")),
               rowMeans(sapply(subjects, coherence, bandpass = c(8, 30))), tolerance = 1e-6)
})

test_that("threads, back ends, shards and where the data are do not matter", {
  set.seed(5)
  wide <- epochMatrix(array(rnorm(9 * 2100 * 8), c(9, 2100, 8)), c("epochs", "channels", "times"), 100)
  network <- function(x, ...) {
    as.data.frame(gpuCorNetwork(x, method = "coherence", bandpass = c(8, 30), density = 1e-3, ...))
  }
  edges <- network(wide, backend = "cpu", threads = 1)
  for (backend in backends()) {
    expect_identical(network(wide, backend = backend, threads = 2), edges, label = backend)
  }
  path <- quiet_plan(withr::local_tempfile(), wide, method = "coherence", bandpass = c(8, 30), density = 1e-3,
                     shards = 3)
  quiet_run(path)
  expect_identical(as.data.frame(gpuCorCollect(path)), edges)
  file <- withr::local_tempfile()
  writeBin(as.vector(unclass(wide)), file)
  expect_identical(network(gpuCorFile(file, dim(wide)), rate = 100, runs = attr(wide, "runs")), edges)
})

test_that("a filter is of each epoch by itself, and other measures take all rows", {
  band <- c(5, 30)
  cleaned <- do.call(rbind, lapply(1:12, function(k) gpuClean(t(epochs[k, , ]), bandpass = band, rate = 100)))
  expect_equal(values(gpuCor(x, bandpass = band)), values(as.dist(cor(cleaned))), tolerance = 1e-6)
  kept <- gpuClean(x, bandpass = band)
  expect_identical(attributes(kept)[c("runs", "tr", "class")], attributes(x)[c("runs", "tr", "class")])
  expect_equal(matrix(kept, 480), unname(cleaned), tolerance = 1e-10)
  expect_identical(attr(gpuClean(x, bandpass = band, keep = -(1:40)), "runs"), rep(2:12, each = 40))
  expect_equal(values(gpuCor(x)), values(as.dist(cor(unclass(x)))), tolerance = 1e-6)
})

test_that("selected rows keep their epochs, and tr unless there are gaps", {
  some <- x[attr(x, "runs") %in% c(3, 7), ]
  expect_identical(attributes(some)[c("tr", "runs")], list(tr = 0.01, runs = rep(c(3L, 7L), each = 40)))
  expect_null(attr(x[-5, ], "tr"))
  expect_identical(attr(x[-5, 1:2], "runs"), attr(x, "runs")[-5])
  expect_identical(rbind(x[attr(x, "runs") <= 3, ], x[attr(x, "runs") > 3, ]), x)
  expect_identical(x[3, 2], epochs[1, 2, 3])
  expect_identical(x[epochs[1, 1, ] > 9], numeric())
})

test_that("what is no epochs is told", {
  of <- c("epochs", "channels", "times")
  expect_error(epochMatrix(epochs), "'dims' must be the names of the dimensions of 'x' in their order",
               class = "gpucor_error_input")
  expect_error(epochMatrix(epochs, c("epochs", "times")), "'dims' must be the names")
  expect_error(epochMatrix(list(epochs[1, , ]), of), "of a matrix of 'x' in their order")
  expect_error(epochMatrix(epochs[1, , ], of), "numeric array of three dimensions")
  expect_error(epochMatrix(epochs, of, rate = -1), "'rate' must be the number of observations a second, not -1")
  expect_error(epochMatrix(list(epochs[1, , ], epochs[1, -1, ]), of[-1]), "epoch 2.* has 2 columns")
  expect_error(epochMatrix(list(), of[-1]), "a list of no epochs")
  expect_error(gpuCor(epochs), "epochMatrix\\(\\) times x channels of epochs")
})
