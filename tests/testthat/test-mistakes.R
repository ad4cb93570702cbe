# What users get wrong, and what they are told.

set.seed(1)
x <- matrix(rnorm(200), 20, dimnames = list(NULL, letters[1:10]))

# ---- arguments

test_that("a number in the place of y is taken for a threshold", {
  for (f in list(gpuCorNetwork, gpuCorPairs, gpuConnectivity)) {
    expect_error(f(x, 0.8), "'y' is 0.8, a single number, .* write threshold = 0.8", fixed = FALSE)
    expect_error(f(x, 0.8, threshold = 0.5), "write threshold = 0.8")
  }
  expect_identical(dim(gpuCorNetwork(x[1, , drop = FALSE], 2, threshold = 0.1)), c(10L, 1L)) |>
    suppressWarnings()
})

test_that("an unused argument is named with the one that was probably meant", {
  meant <- list(
    threshold = list(quote(gpuCorNetwork(x, cutoff = 0.8)), quote(gpuCorNetwork(x, treshold = 0.8)),
                     quote(gpuConnectivity(x, cutoff = 0.5))),
    density = list(quote(gpuCorNetwork(x, densty = 0.1, threshold = 0.5))),
    type = list(quote(pickPower(x, networkType = "signed"))),
    power = list(quote(gpuConnectivity(x, softPower = 6)), quote(pickPower(x, powerVector = 1:9))),
    r_squared = list(quote(pickPower(x, RsquaredCut = 0.8))),
    method = list(quote(gpuCor(x, mehtod = "kendall")), quote(gpuModules(x, corType = "bicor")),
                  quote(pickPower(x, corFnc = "bicor"))),
    threads = list(quote(gpuCor(x, nThreads = 2)), quote(gpuCor(x, treads = 2))),
    adjust = list(quote(gpuCorTest(x, adjsut = "maxT"))),
    n_perm = list(quote(gpuCorTest(x, nperm = 9))),
    backend = list(quote(gpuCor(x, gpu = TRUE)))
  )
  for (name in names(meant)) {
    for (call in meant[[name]]) {
      expect_error(eval(call), paste0("unused argument '.*'; did you mean '", name, "'\\?$"), label = deparse1(call),
                   class = "gpucor_error_input")
    }
  }
  expect_error(gpuCor(x, method = "bicor", maxPOutliers = 0.1),
               "unused argument 'maxPOutliers'; give options = list(maxPOutliers = )", fixed = TRUE)
  expect_error(gpuCor(x, zzz = 1), "^unused argument 'zzz'$")
  for (f in list(gpuCor, gpuCorTriangle, gpuDist, gpuCorTest)) expect_error(f(x, zzz = 2), "unused argument 'zzz'")
  expect_error(gpuCor(x, output = "list", foo = 1), "unused argument 'foo'")
  expect_error(lapply(list(x), gpuCorTest, foo = 1), "unused argument 'foo'")
  expect_error(gpuCor(x, control = list(threads = 1)), "'control' must be made by gpuControl")
})

test_that("run settings are checked when they are made, and shown", {
  wrong <- list(backend = "cdua", threads = 0, devices = -1, memory = "all", progress = "no", keep_memory = -1)
  for (name in names(wrong)) expect_error(do.call(gpuControl, wrong[name]), paste0("'", name, "' must be"))
  expect_output(print(gpuControl()), "^Run settings: defaults$")
  expect_output(print(gpuControl(backend = "cpu", threads = 2)), "^Run settings: backend = \"cpu\", threads = 2$")
  expect_s3_class(gpuControl(backend = "cuda", devices = 9), "gpuControl") # another machine may have ten
  expect_error(gpuControl(precision = "half"), "'precision' must be one of")
})

test_that("a value that there is not is named with the one that was probably meant", {
  data <- tempfile()
  file.create(data)
  on.exit(unlink(data))
  told <- list(
    list(quote(gpuCorTest(x, adjust = "BH")), "one of \"none\", \"maxT\", \"fdr\", not \"BH\"; p.adjust()"),
    list(quote(gpuCor(x, method = "Spearman")), "not \"Spearman\"; did you mean \"spearman\"?"),
    list(quote(gpuCor(x, method = "rho_p")),
         "not \"rho_p\"; rho_p is method = \"concordance\" with options = list(means = FALSE)"),
    list(quote(gpuCor(x, method = "tau")), "not \"tau\"; did you mean \"kendall\"?"),
    list(quote(gpuCorNetwork(x, k = 2)$edges), "no element 'edges'; as.data.frame() has its edges"),
    list(quote(gpuCorNetwork(x, k = 2)$threshold), "has its edges, and x@threshold is its slot"),
    list(quote(gpuCor(x, backend = "gpu")), "\"cpu\", not \"gpu\"; did you mean \"cuda\"?"),
    list(quote(gpuCor(list(x, x), combine = "median")), "did you mean \"quantile\"?"),
    list(quote(gpuCorFile(data, 2:3, "float64")), "\"integer\", not \"float64\"; did you mean \"double\"?"),
    list(quote(gpuModules(x, pamstage = FALSE)), "unused argument 'pamstage'; did you mean 'pamStage'?"),
    list(quote(gpuCor(x, use = "complete.cases")), "did you mean \"complete.obs\"?"),
    list(quote(gpuTOM(x, 4, density = 0.1)), "output = \"network\" only; give that, or leave 'density' out"),
    list(quote(gpuCor(x + 1i)), "must be numeric, not a matrix of complex values"),
    list(quote(gpuCor(x, covariates = ~age)), "there is no 'age' where the formula was written; data = takes"),
    list(quote(gpuCor(x, covariates = ~age, data = data.frame(a = 1:20))), "no 'age' in 'data', and none where"),
    list(quote(gpuCor("data.txt")), "not of class character; read the file first")
  )
  for (case in told) expect_error(eval(case[[1L]]), case[[2L]], fixed = TRUE, label = deparse1(case[[1L]]))
  withr::with_options(list(gpucor.backend = "gpu"), {
    expect_error(gpuCor(x), ", as option gpucor.backend says; did you mean \"cuda\"?", fixed = TRUE)
  })
})

test_that("an object is shown by its class", {
  net <- gpuCorNetwork(x, threshold = 0.1)
  given <- list(data.frame = data.frame(a = 1:3), factor = factor(1), matrix = x, gpuCorNetwork = net, list = list(x),
                Date = Sys.Date(), `function` = mean)
  for (name in names(given)) {
    expect_error(gpuCorWindows(x, 9, shape = given[[name]], taper = "gaussian"), paste0("not of class ", name, "$"))
  }
  expect_error(gpuCor(x, lag = ~ a), "not ~a$")
  expect_error(gpuCor(x, lag = list(1)), "not list\\(1\\)$")
})

test_that("an adjacency matrix of a power of a network becomes a graph as the error says", {
  skip_if_not_installed("igraph")
  net <- gpuCorNetwork(x, threshold = 0.3)
  graph <- igraph::graph_from_adjacency_matrix(as.matrix(net^2), "undirected", weighted = TRUE, diag = FALSE)
  expect_equal(igraph::gsize(graph), length(net@x))
})

test_that("a second matrix of gpuConnectivity() is answered about what is missing", {
  expect_error(gpuConnectivity(x, y = x), "what is to be summed")
  expect_error(gpuConnectivity(x, y = "a", threshold = 0.5), "'y' must be numeric")
})

test_that("images and files are pointed to what reads them", {
  image <- array(rnorm(2 * 3 * 4 * 5), c(2, 3, 4, 5))
  for (f in list(gpuCor, function(...) gpuCorNetwork(..., threshold = 0.5), pickPower, gpuCorTriangle, gpuCorTest,
                 function(...) gpuConnectivity(..., threshold = 0.5))) {
    expect_error(f(image), "voxelMatrix\\(x\\)")
  }
  expect_error(gpuCor("bold.nii.gz"), "voxelMatrix\\(\\) reads this file")
  expect_error(gpuCor("cells.h5ad"), "gpuCorFile\\(\\)")
})

test_that("what is no data is told from them, with what to do", {
  net <- gpuCorNetwork(x, threshold = 0.1)
  cross <- gpuCorNetwork(x, x, threshold = 0.1)
  for (f in list(gpuCor, pickPower, gpuCorTest, function(...) gpuConnectivity(..., threshold = 0.2))) {
    expect_error(f(net), "'x' is a network (of class gpuCorNetwork), not data", fixed = TRUE)
    expect_error(f(cross), "'x' is a network (of class gpuCorNetworkXY), not data", fixed = TRUE)
    expect_error(f(gpuCor(x)), "it has values of pairs already: give the data")
    expect_error(f(stats::dist(x)), "it has values of pairs already: give the data")
  }
  expect_error(gpuCor(x, net), "'y' is a network")
  expect_s4_class(gpuTOM(net), "dsCMatrix")
  expect_s3_class(suppressMessages(gpuCor(as(net, "generalMatrix"))), "gpuCor")
  expect_equal(gpuCor(gpuCor(x), gpuCor(x^2)), cor(c(gpuCor(x)), c(gpuCor(x^2))), tolerance = 1e-6)

  sets <- list(a = list(data = x), b = list(data = x + 1))
  expect_error(gpuTOM(sets, combine = "min"), "lapply(x, `[[`, \"data\")", fixed = TRUE)
  expect_error(gpuCorNetwork(sets, threshold = 0.5), "subject 1: .*lapply")
  expect_s3_class(gpuTOM(lapply(sets, `[[`, "data"), combine = "min"), "gpuTOM")
})

test_that("matrices of coefficients are not taken for data", {
  r <- cor(x)
  told <- "'x' is a matrix of coefficients.*; give the data from which they were computed"
  without <- r
  without[2, ] <- without[, 2] <- NA # of a column without variance
  given <- list(r, unname(r), as.data.frame(r), Matrix::Matrix(r), as(Matrix::Matrix(r), "CsparseMatrix"), without,
                gpuCor(x, output = "matrix"), gpuTOM(x, power = 2, output = "matrix"), crossprod(scale(x)) / 19)
  for (values in given) expect_error(gpuCor(values), told)
  threshold <- function(f) function(x) f(x, threshold = 0.2)
  for (f in list(threshold(gpuCorNetwork), threshold(gpuConnectivity), gpuCorTest, pickPower, gpuDist,
                 function(x) gpuTOM(x, power = 2), gpuCorTriangle, function(x) gpuCorCompare(x, r),
                 function(x) gpuCorPairs(x, threshold = 0.2), function(x) gpuAssociation(x, 1:10))) {
    expect_error(f(r), told)
  }
  expect_error(gpuCor(list(x, r), combine = "mean"), paste("subject 2:", told))
  expect_error(gpuCorCompare(lapply(list(x, x + 1, x^2, x^3), cor), list(x, x)), paste("subject 1 of 'x':", told))
  expect_error(gpuCorCompare(x, r), "'y': 'x' is a matrix of coefficients")
  expect_error(gpuCor(x[1:10, ], r), "'y' is a matrix of coefficients.*, or twice the values to correlate")
  expect_error(gpuAssociation(x[1:10, ], r), "'traits' is a matrix of coefficients.*, or twice the values")

  other <- list(2 * r, r[1:9, ], r * 0.99, r[1:2, 1:2], diag(10), replace(r, 11, 0.5), cov(x), round(r))
  for (values in other) expect_equal(unname(as.matrix(suppressWarnings(gpuCor(values)))),
                                     unname(suppressWarnings(cor(values))), tolerance = 1e-5)
  expect_s3_class(gpuCor(1 + outer(1:9, 1:9) * 1e-15), "gpuCor") # ones but for rounding errors
  expect_equal(as.vector(gpuCor(2 * r)), as.vector(as.dist(cor(r))), tolerance = 1e-6) # what the message says
  expect_identical(dim(parcelMeans(r, rep(1:2, 5))), c(10L, 2L))
  expect_s3_class(gpuGradients(abs(r), n = 2, fraction = 1), "gpuGradients") # which takes them
})

test_that("a network of too few observations says that it has no coefficient", {
  one <- x[1, , drop = FALSE]
  for (f in list(gpuCorNetwork, gpuConnectivity)) {
    expect_warning(f(one, threshold = 0.5), "^1 observation leaves no coefficient$")
    expect_warning(f(x[0, ], threshold = 0.5), "^0 observations leave no coefficient$")
    expect_silent(f(x[1:2, ], threshold = 0.5))
    expect_silent(f(x[, 0], threshold = 0.5))
  }
})

test_that("infinite values are told where they leave no coefficient", {
  infinite <- replace(x, c(3, 25), c(-Inf, Inf))
  told <- "infinite values leave no coefficient \\(2 of 10 columns of 'x': a, b\\); .*log2\\(x \\+ 1\\)"
  for (method in c("pearson", "bicor", "cosine")) {
    expect_warning(net <- gpuCorNetwork(infinite, threshold = 0.1, method = method), told)
    expect_identical(sum(net[1:2, ] != 0), 0L)
    expect_warning(gpuConnectivity(infinite, power = 2, method = method), told)
  }
  expect_warning(gpuCorNetwork(infinite, threshold = c(0.1, 0.2)), told)
  expect_warning(gpuCorNetwork(x, infinite, density = 0.5), "2 of 10 columns of 'y': a, b")
  expect_warning(pickPower(infinite), told)
  for (method in c("spearman", "kendall")) {
    expect_silent(gpuCorNetwork(infinite, threshold = 0.1, method = method))
    expect_identical(sum(!is.finite(gpuCor(infinite, method = method))), 0L)
  }
  expect_warning(gpuCorNetwork(replace(x, 3, NA), threshold = c(0.1, 0.2)), "missing values leave no coefficient")
  skip_unless_full() # loads WGCNA
  skip_if_not_installed("WGCNA")
  for (use in c("everything", "pairwise.complete.obs")) {
    expect_error(gpuModules(replace(infinite, 50, if (use == "everything") 0 else NA), power = 2, use = use),
                 "infinite values, in columns 1 \\(a\\), 2 \\(b\\); .*x\\[, colSums")
  }
})

test_that("a switch in the environment may be written as people write them", {
  is_wanted <- function(text) {
    Sys.setenv(GPUCOR_PROGRESS = text)
    on.exit(Sys.unsetenv("GPUCOR_PROGRESS"))
    place_on("cpu")$progress > 0
  }
  for (text in c("TRUE", "true", "True", "yes", "on", "1", "T")) expect_true(is_wanted(text), label = text)
  for (text in c("FALSE", "false", "no", "off", "0", "F")) expect_false(is_wanted(text), label = text)
  expect_error(is_wanted("maybe"), "'progress' must be TRUE or FALSE, not \"maybe\"")
})

test_that("an error carries the call that the user wrote, without data", {
  x <- as.matrix(mtcars)
  call_of <- function(code) conditionCall(tryCatch(code, error = function(e) e))
  own <- function() gpuCorNetwork(x, threshold = 2)
  expect_identical(call_of(own()), quote(gpuCorNetwork(x, threshold = 2)))
  expect_identical(call_of(gpuCor(x, covariates = rep(1:2, 8))), quote(gpuCor(x, covariates = rep(1:2, 8))))
  expect_identical(call_of(gpuCor(x)["q", "z"])[[1]], quote(`[.allPairs`))
  expect_identical(call_of(do.call("gpuCor", list(x, use = "what"))), quote(gpuCor()))
  expect_null(call_of(do.call(gpuCor, list(x, use = "what"))))
  expect_identical(call_of(gpuClean(x, ~ nothing, data = mtcars)), quote(gpuClean(x, ~ nothing, data = mtcars)))
})

# ---- input

# What gpuCor() warns of x; "" for nothing.
orientation_told <- function(x, f = gpuCor, ...) {
  told <- ""
  withCallingHandlers(suppressMessages(f(x, ...)), warning = function(w) {
    told <<- conditionMessage(w)
    invokeRestart("muffleWarning")
  })
  told
}

# What is said of x, without correlating it.
transposed_told <- function(x) orientation_told(x, getFromNamespace("warn_transposed", "gpucor"))

test_that("variables in rows are warned of, and nothing else is", {
  genes <- matrix(rnorm(30000), 2000, dimnames = list(paste0("gene", 1:2000), NULL))
  told <- "2,000 rows and 15 columns, and its columns are correlated; if its rows are the variables.* give t\\(x\\)"
  expect_warning(gpuCor(genes), told)
  expect_warning(gpuCorNetwork(genes, threshold = 0.5), told)
  expect_warning(pickPower(genes, 1:2), told)
  expect_warning(gpuCor(as.data.frame(genes)), "give t\\(as.matrix\\(x\\)\\)")
  expect_warning(gpuCor(data.frame(id = rownames(genes), genes)[-1]), "2,000 rows and 15 columns")
  expect_match(transposed_told(Matrix::Matrix(genes * (genes > 1), sparse = TRUE)), "give Matrix::t\\(x\\)")
  old <- options(gpucor.orientation = "columns")
  expect_no_warning(gpuCor(genes))
  options(old)
  expect_no_warning(gpuCor(unname(genes)))
  expect_no_warning(gpuCor(t(genes)))
  expect_no_warning(gpuCor(genes[1:900, ]))
  expect_no_warning(gpuCor(genes, genes[, 1:2]))
  expect_no_warning(gpuCor(`rownames<-`(genes, 1:2000)))
  expect_no_warning(gpuCor(`rownames<-`(genes, format(as.Date("2020-01-01") + 1:2000))))
  skip_unless_full() # loads DelayedArray
  skip_if_not_installed("DelayedArray")
  expect_match(orientation_told(DelayedArray::DelayedArray(genes)), told)
})

# 57 samples of as many genes as `rows`: counts, each gene of its own level.
counted_genes <- function(rows = 3000, samples = 57, size = 10) {
  counts <- matrix(rnbinom(rows * samples, size = size, mu = rgamma(rows, 0.5, scale = 400)), rows)
  colnames(counts) <- paste0("sample", seq_len(samples))
  counts
}

test_that("genes by samples are warned of without names, too", {
  counts <- counted_genes()
  told <- "3,000 rows and 57 columns, and its columns are correlated.* give %s \\("
  for (x in list(counts, counts + 0, unname(log2(counts + 1)))) {
    expect_match(transposed_told(x), sprintf(told, "t\\(x\\)"))
  }
  expect_match(orientation_told(as.data.frame(counts), gpuConnectivity, threshold = 0.5),
               sprintf(told, "t\\(as.matrix\\(x\\)\\)"))
  expect_match(transposed_told(Matrix::Matrix(counts, sparse = TRUE)), sprintf(told, "Matrix::t\\(x\\)"))
  expect_identical(transposed_told(t(counts)), "")
  few <- unname(counted_genes(2000, 6, size = 1)) # few and noisy
  expect_match(transposed_told(few), "2,000 rows and 6 columns")
  expect_identical(transposed_told(t(few)), "")
})

test_that("few genes, and those of more samples, are warned of", {
  levels <- function(genes, samples) rnorm(genes, 8, 2) + matrix(rnorm(genes * samples, 0, 0.5), genes)
  few <- levels(500, 57)
  others <- list(`rownames<-`(few, paste0("g", 1:500)), levels(2000, 400), levels(300, 400))
  for (x in c(list(few, 2^few, data.frame(few)), others)) {
    expect_match(transposed_told(x), "columns are correlated; if its rows are the variables")
    expect_identical(transposed_told(t(as.matrix(x))), "")
  }
  expect_warning(gpuCor(few), "500 rows and 57 columns.* give t\\(x\\)")
  days <- cumsum(rnorm(365)) + matrix(rnorm(365 * 20, 0, 0.5), 365) # stations of one region
  z <- matrix(rnorm(300 * 20), 300)
  quiet <- list(days = days, shared = rnorm(300) + z, voxels = scale(days) * rep(1:20, each = 365), few = few[, 1:5],
                short = few[1:90, ], rain = days * (days > 0), noise = z,
                markers = log1p(matrix(rpois(2000 * 60, rlnorm(2000, 0, 0.6)), 2000))) # cells differ in depth
  for (name in names(quiet)) expect_identical(transposed_told(quiet[[name]]), "", label = name)
})

# Counts of single cells: genes and cells each have a level of their own.
counted_cells <- function(genes = 600, cells = 400) {
  level <- outer(rgamma(genes, 0.3, scale = 2), rgamma(cells, 10, scale = 0.1))
  methods::as(Matrix::Matrix(matrix(rpois(genes * cells, level), genes), sparse = TRUE), "CsparseMatrix")
}

test_that("genes by cells are warned of, dense, sparse or in a file", {
  cells <- counted_cells()
  normalized <- cells
  normalized@x <- log1p(normalized@x / 3)
  named <- `dimnames<-`(cells, list(paste0("g", 1:600), paste0("cell", 1:400)))
  for (x in list(cells, normalized, named, as.matrix(cells), counted_cells(500, 2000))) {
    expect_match(transposed_told(x), "columns are correlated; if its rows are the variables")
    expect_identical(transposed_told(Matrix::t(x)), "")
  }
  expect_warning(suppressMessages(gpuCorNetwork(cells, density = 0.01)), "600 rows and 400 columns.*Matrix::t\\(x\\)")
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.vector(as.matrix(cells)), file, endian = "little")
  stored <- gpuCorFile(file, dim(cells))
  expect_warning(gpuConnectivity(stored, threshold = 0.5), "600 rows and 400 columns.* a file of the transpose")
  writeBin(as.vector(t(as.matrix(cells))), file, endian = "little")
  expect_identical(transposed_told(gpuCorFile(file, rev(dim(cells)))), "")
  skip_if_not_installed("rhdf5")
  rhdf5::h5createFile(file <- tempfile(fileext = ".h5"))
  rhdf5::h5write(as.matrix(cells), file, "cells")
  expect_match(transposed_told(gpuCorFile(file, dataset = "cells")), "give gpuCorFile\\(transpose = TRUE\\)")
  expect_identical(transposed_told(gpuCorFile(file, dataset = "cells", transpose = TRUE)), "")
  unlink(file)
})

test_that("series, scores, tables and cells are not warned of", {
  noise <- function(rows, columns) matrix(rnorm(rows * columns), rows)
  channels <- apply(noise(6000, 20), 2, function(e) stats::filter(e, 0.9, "recursive"))
  together <- channels + 8 * rowMeans(channels) # one reference
  cells <- t(matrix(rpois(200 * 2500, rgamma(200, 0.5, scale = 10)), 200))
  barcodes <- `rownames<-`(cells, replicate(2500, paste(sample(c("A", "C", "G", "T"), 16, TRUE), collapse = "")))
  counts <- counted_genes(1500, 12)
  sequences <- replicate(40, paste(sample(c("A", "C", "G", "T"), 250, TRUE), collapse = ""))
  quiet <- list(
    eeg = data.frame(noise(5000, 100)), channels = data.frame(together), sensors = data.frame(noise(2000, 10)),
    ramp = data.frame(matrix(1:40000, 2000)), voxels = noise(1200, 100),
    returns = noise(2500, 20) * 0.8 + 0.6 * rnorm(2500),
    scores = data.frame(matrix(sample(5L, 60000, TRUE), 3000)), spikes = matrix(rpois(60000, 2), 3000),
    table = data.frame(a = rnorm(20000, 61), b = rnorm(20000, 57, 2), c = rlnorm(20000, 8), d = runif(20000)),
    cells = cells, sparse = Matrix::Matrix(cells, sparse = TRUE), barcodes = barcodes, constant = matrix(7, 2000, 5),
    missing = matrix(NA_real_, 2000, 5), days = `rownames<-`(counts, format(as.Date("2020-01-01") + 1:1500)),
    subjects = `rownames<-`(counts, paste0("sub-", 1:1500)), ts = ts(counts),
    events = matrix(rpois(30000, 10), 2000),
    visits = matrix(rnbinom(30000, size = 3, mu = rgamma(2000, 3, scale = 9)), 2000),
    numbers = matrix(sample.int(1e6L, 30000, TRUE), 2000),
    random = Matrix::rsparsematrix(2000, 150, 0.05),
    taxa = matrix(rpois(1200 * 40, 0.5), 1200, dimnames = list(paste0("sample", 1:1200), sequences))
  )
  for (name in names(quiet)) expect_identical(transposed_told(quiet[[name]]), "", label = name)
  expect_identical(transposed_told(Matrix::t(counted_cells(200, 1500))), "")
})

test_that("binary data and genotypes are not warned of", {
  drawn <- function(draw, columns, first, second) { # a tenth of 300 rows are of the first kind
    matrix(draw(300 * columns, rep(rep(c(first, second), c(30, 270))[sample(300)], columns)), 300)
  }
  binary <- function(size) function(n, p) rbinom(n, size, p)
  tumors <- matrix(rbinom(300 * 40, 1, rbeta(300, 0.3, 4)), 300)
  quiet <- list(tumors = tumors, hypermutated = drawn(binary(1), 40, 0.4, 0.03),
                genotypes = drawn(binary(2), 60, 0.7, 0.1))
  for (name in names(quiet)) expect_identical(transposed_told(quiet[[name]]), "", label = name)
})

test_that("images with a volume in each column are warned of", {
  smooth <- function(m) apply(m, 2, function(v) stats::filter(v, rep(1 / 9, 9), circular = TRUE))
  anatomy <- 5000 + 2000 * as.vector(smooth(matrix(rnorm(5000), 5000)))
  volumes <- anatomy + 20 * smooth(matrix(rnorm(5000 * 50), 5000))
  for (x in list(volumes, round(volumes), data.frame(volumes))) {
    expect_match(transposed_told(x), "5,000 rows and 50 columns.*voxels")
  }
  expect_identical(transposed_told(t(volumes)), "")
  series <- apply(matrix(rnorm(5000 * 50), 5000), 2, function(e) stats::filter(e, 0.95, "recursive"))
  expect_identical(transposed_told(series), "")
  expect_identical(transposed_told(series + 2 * rowMeans(series)), "")
})

test_that("genes by cells are known by barcodes, whatever the shape", {
  cells <- matrix(rpois(1200 * 1500, 0.1), 1200)
  barcodes <- replicate(1500, paste0(paste(sample(c("A", "C", "G", "T"), 16, TRUE), collapse = ""), "-1"))
  dimnames(cells) <- list(paste0("g", 1:1200), barcodes)
  for (x in list(cells, Matrix::Matrix(cells, sparse = TRUE))) {
    expect_match(transposed_told(x), "1,200 rows and 1,500 columns")
    expect_identical(transposed_told(Matrix::t(x)), "")
  }
})

test_that("columns that are not numeric are an error with the first of them", {
  frame <- data.frame(gene = paste0("g", 1:20), x)
  expect_error(gpuCor(frame), "'x' must be numeric, but column 1 (gene) is of class character", fixed = TRUE)
  expect_error(gpuCor(data.frame(a = x[, 1], b = "b", c = "c")), "but columns 2 (b), 3 (c) are of class", fixed = TRUE)
  expect_error(gpuCor(as.matrix(frame)), "not a matrix of character values; leave columns of text out", fixed = TRUE)
})

# ---- names

test_that("results of columns without names, or with equal ones, are printed and drawn", {
  x[, 2:5] <- x[, 1] + x[, 2:5]
  makes <- list(
    gpuCor, gpuCorTest, function(x) gpuCorNetwork(x, threshold = 0.1), function(x) gpuTOM(x, power = 2), pickPower,
    function(x) gpuConnectivity(x, threshold = 0.1, maps = "mean"), function(x) gpuCor(x, x[, 1:3]),
    function(x) gpuGradients(x, n = 2, fraction = 1), function(x) gpuCorCompare(x, x^3, threshold = 0.01),
    function(x) gpuAssociation(x, x[, 2:3], output = "matrix"), function(x) gpuCorWindows(x, 10)
  )
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  for (names in list(replace(letters[1:10], c(2, 9), NA), c("a", letters[1:9]), replace(letters[1:10], 2:3, ""))) {
    colnames(x) <- names
    for (make in makes) suppressMessages({
      result <- make(x)
      expect_no_error(utils::capture.output(print(result), print(summary(result))))
      if (is.object(result)) expect_no_error(suppressWarnings(plot(result)))
    })
  }
  colnames(x)[c(2, 9)] <- NA
  expect_output(print(gpuCor(x)), "\n<NA> ")
  constant <- `colnames<-`(matrix(1, 20, 1), NA)
  expect_warning(gpuCorNetwork(cbind(x[, 1:3], constant), threshold = 0.1), "columns of 'x': 4")
})

test_that("names that occur twice are told of once where they look up", {
  colnames(x)[2:3] <- "a"
  r <- gpuCor(x)
  told <- '^the name "a" occurs 3 times; looking it up finds the first; make.unique\\(\\) makes names differ'
  uses <- alist(r["a", "d"], as.data.frame(r), gpuCorNetwork(x, threshold = 0.1, output = "edges"),
                gpuCorNetwork(`rownames<-`(x, c("a", "a", "a", 4:20)), lioness = "a", threshold = 0.1))
  for (use in uses) {
    tell_again()
    expect_message(expect_no_warning(eval(use)), told)
    expect_no_message(eval(use))
  }
  tell_again()
  expect_no_message(r["d", "e"])
  expect_no_message(gpuConnectivity(x, threshold = 0.1))
})

# ---- words

test_that("one thing is said in the singular", {
  expect_output(print(gpuCorNetwork(x[, 1:2], threshold = 0)), "1 edge of 1 pair \\(100 %\\)")
  expect_output(print(gpuCorTest(x[, 1:2])), ", 1 test, alternative")
  expect_output(print(gpuCor(x[, 1:2])), "of 2 variables: 1 pair, 20 observations")
  expect_output(print(summary(gpuCor(x[, 1:2]))), "1 pair, 20 observations")
  expect_output(print(gpuConnectivity(x[, 1:2], threshold = 0)), "1 pair, 20 observations\n1 edge, ")
  expect_output(print(gpuCorNetwork(x[, 1:3], k = 1)), "each one's strongest neighbor\n")
  expect_output(print(gpuCorNetwork(x, threshold = 0.1)), "edges of 45 pairs")
})

test_that("the package is cited with its year and version", {
  text <- expect_no_warning(format(citation("gpucor"), style = "text"))
  expect_match(text, "(2026)", fixed = TRUE)
  expect_match(text, as.character(packageVersion("gpucor")), fixed = TRUE)
  expect_no_match(text, "????", fixed = TRUE)
})

test_that("the example says with what it was computed", {
  skip_unless_full()
  skip_if_not_installed("multtest")
  skip_without_children()
  folder <- tempfile("golub")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  told <- callr::r(function() {
    options(warn = 2, warnPartialMatchDollar = TRUE, warnPartialMatchArgs = TRUE, warnPartialMatchAttr = TRUE)
    utils::capture.output(source(system.file("examples", "golub.R", package = "gpucor")))
  }, wd = folder)
  facts <- grep("^  (genes|samples|pairs|seconds|back end) ", told, value = TRUE)
  expect_length(facts, 5L)
  expect_no_match(facts, "[, ]$")
  expect_gt(file.size(file.path(folder, "golub-kendall.png")), 1e4)
})

test_that("an error that the engine finds has the class of its cause", {
  x <- normal(20, 4)
  x[2, 3] <- NA
  expect_error(gpuCor(x, use = "all.obs"), class = "gpucor_error_input")
  fail_at("host", 1)
  on.exit(fail_at("host", 0))
  expect_error(gpuCor(normal(20, 4), backend = "cpu"), class = "gpucor_error_memory")
})

test_that("permutations that would not be made are an error", {
  expect_error(gpuCorTest(normal(20, 4), n_perm = 10), "'n_perm' is for adjust = \"maxT\"")
})

test_that("the time between volumes may be that of 'y'", {
  x <- normal(60, 5)
  timed <- structure(x, tr = 2)
  expect_identical(gpuCor(x[, 1], timed, bandpass = c(0.01, 0.1)), gpuCor(x[, 1], x, bandpass = c(0.01, 0.1), tr = 2))
})

test_that("a column whose name is empty is named by its number", {
  x <- cbind(normal(20, 3), 1)
  colnames(x) <- c("a", "b", "c", "")
  expect_warning(gpuCor(x), "'x': 4)", fixed = TRUE)
})

test_that("names of arguments that other packages use are known where they are passed on, too", {
  img <- structure(array(1:8, c(2, 2, 2)), header = list(), class = c("voxelImage", "array"))
  meant <- list(
    bandpass = list(quote(gpuCor(x, high_pass = 0.01)), quote(gpuClean(x, low_pass = 0.1))),
    tr = list(quote(gpuCor(x, t_r = 2))),
    covariates = list(quote(gpuCor(x, batch = 1:20)), quote(gpuTOM(x, power = 2, batch = 1:20))),
    k = list(quote(gpuCorNetwork(x, top = 5))), p.value = list(quote(gpuCorNetwork(x, alpha = 0.05))),
    method = list(quote(gpuCor(x, corMethod = "spearman")), quote(pickPower(x, cor_method = "spearman"))),
    weights = list(quote(gpuCor(x, censor = 1:3)), quote(gpuCorNetwork(x, sample_mask = 1, threshold = 0))),
    keep = list(quote(gpuClean(x, censor = 1:3)), quote(gpuClean(x, sample_mask = 1:3))),
    n = list(quote(gpuGradients(x, n_components = 2)), quote(gpuGradients(gpuCor(x), n_components = 2))),
    from = list(quote(plot(img, zlim = 0:1)))
  )
  for (name in names(meant)) {
    for (call in meant[[name]]) {
      expect_error(eval(call), paste0("unused argument '.*'; did you mean '", name, "'\\?$"), label = deparse1(call),
                   class = "gpucor_error_input")
    }
  }
})

test_that("labels of groups instead of the second group are answered by the argument that takes them", {
  group <- rep(c("ill", "well"), 10)
  rows <- "labels of the rows of 'x' are given as 'group'"
  expect_error(gpuCorCompare(x, group), rows, fixed = TRUE)
  expect_error(gpuCorCompare(x, factor(group)), rows, fixed = TRUE)
  expect_error(gpuCorCompare(x, groups = factor(group)), paste0("unused argument 'groups'; ", rows), fixed = TRUE)
  expect_error(gpuCorCompare(x), paste0("'y' is missing; .*", rows))
  split <- "labels of subjects split their list, gpuCorCompare(split(x, labels))"
  expect_error(gpuCorCompare(list(x, x, x, x), c(2, 2, 3, 3)), split, fixed = TRUE)
  expect_error(gpuCorCompare(list(x, x), group = 1:2), paste0("and 'x' is a list; ", split), fixed = TRUE)
  expect_error(gpuCorCompare(x, group = group[-1]), "'group' has 19 labels; there are 20 observations")
  expect_error(gpuCorCompare(x, group = rep("ill", 20)), "'group' has 1 label; at least two are compared")
  expect_error(gpuCorCompare(x, group = list(group)), "'group' must be a vector or factor with a label for each")
  expect_error(gpuCorCompare(x, group = group, weights = 1:9), "'weights' has 9 values; there are 20 observations")
  expect_error(gpuCorCompare(x, group = group, effects = "random"), "'group' tells the rows of one matrix apart")
  expect_error(gpuCorCompare(x, group = rep_len(1:3, 20), classes = 0.1), "'classes' are of two groups")
  design <- model.matrix(~group, data.frame(group = group[1:6]))
  expect_error(gpuCorCompare(lapply(1:6, function(i) x + rnorm(200)), design = design, contrast = "group"),
               "the name of one of them (\"(Intercept)\", \"groupwell\"), not \"group\"", fixed = TRUE)
})

test_that("gpuAssociation() takes the eigengenes of modules", {
  eigengenes <- data.frame(MEblue = rnorm(20), MEred = rnorm(20))
  modules <- structure(list(eigengenes = eigengenes), class = c("gpuModules", "gpuCorResult"))
  traits <- data.frame(age = rnorm(20))
  expect_identical(gpuAssociation(modules, traits), gpuAssociation(eigengenes, traits))
  several <- structure(list(eigengenes = list(eigengenes)), class = c("gpuConsensusModules", class(modules)))
  expect_error(gpuAssociation(several, traits), "give the eigengenes of one, x$eigengenes[[1]]", fixed = TRUE)
})

test_that("a row without values, names in a column, a formula and two matrices are understood", {
  x <- normal(20, 5)
  rownames(x) <- paste0("s", 1:20)
  traits <- data.frame(sample = rownames(x), age = 1:20)
  expect_equal(gpuAssociation(x, traits)$p.value, gpuAssociation(x, traits["age"])$p.value)
  expect_error(gpuAssociation(x, traits[20:1, ]), "'traits' has the observations of 'x' in another order")
  expect_error(gpuCor(x, ~ age), "not of class formula; covariates = ~age regresses these out")
  expect_error(gpuISC(x, x), "not of class matrix; give both as list\\(a, b\\)")
  groups <- list(a = x[1:6, ], b = x[7:12, ], c = x[13:20, ])
  expect_told(gpuCorCompare(groups), "a list of 3 matrices of 6 to 8 observations, .* effects = \"fixed\" compares")
  expect_silent(gpuCorCompare(groups[1:2]))
  expect_silent(gpuCorCompare(groups, effects = "fixed"))
  x[3, ] <- NA
  expect_warning(gpuCorNetwork(x, threshold = 0.5), "row 3 (s3) has no value; see 'use'", fixed = TRUE)
  expect_no_match(tryCatch(gpuCorNetwork(replace(x, 4, NA)[-3, ], threshold = 0.5), warning = conditionMessage), "row")
})
