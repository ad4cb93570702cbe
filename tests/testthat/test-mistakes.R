# What users get wrong, and what they are told.

set.seed(1)
x <- matrix(rnorm(200), 20, dimnames = list(NULL, letters[1:10]))

# ---- arguments

test_that("a number in the place of y is taken for what it was meant", {
  for (f in list(gpuCorNetwork, gpuCorPairs)) {
    expect_error(f(x, 0.8), "'y' is 0.8, a single number, .* write threshold = 0.8", fixed = FALSE)
    expect_error(f(x, 0.8, threshold = 0.5), "write threshold = 0.8")
  }
  expect_identical(gpuConnectivity(x, 0.3)$degree, gpuConnectivity(x, threshold = 0.3)$degree)
  expect_error(gpuConnectivity(x, 0.3, threshold = 0.5), "write threshold = 0.3")
  expect_identical(dim(gpuCorNetwork(x[1, , drop = FALSE], 2, threshold = 0.1)), c(10L, 1L)) |>
    suppressWarnings()
})

test_that("arguments that there are not are named with the one that was meant", {
  told <- list(
    list(quote(gpuCorNetwork(x, cutoff = 0.8)), "there is no 'cutoff', which is 'threshold' here"),
    list(quote(gpuCorNetwork(x, treshold = 0.8)), "there is no 'treshold'; did you mean 'threshold'?"),
    list(quote(gpuCorNetwork(x, densty = 0.1, threshold = 0.5)), "did you mean 'density'?"),
    list(quote(gpuCorNetwork(x, powerVector = 1:10)), "there is no 'powerVector'"),
    list(quote(pickPower(x, powerVector = 1:10)), "there is no 'powerVector', which is 'powers' here"),
    list(quote(pickPower(x, networkType = "signed")), "which is 'type' here"),
    list(quote(pickPower(x, RsquaredCut = 0.8)), "which is 'r_squared' here"),
    list(quote(gpuConnectivity(x, cutoff = 0.5)), "which is 'threshold' here"),
    list(quote(gpuConnectivity(x, softPower = 6)), "which is 'power' here"),
    list(quote(gpuCor(x, type = "spearman")), "there is no 'type', which is 'method' here"),
    list(quote(gpuCor(x, mehtod = "kendall")), "did you mean 'method'?"),
    list(quote(gpuCor(x, nThreads = 2)), "which is 'threads' here"),
    list(quote(gpuCor(x, threshold = 0.5)), "there is no 'threshold', which gpuCorNetwork(), gpuConnectivity()"),
    list(quote(gpuCorTest(x, adjsut = "maxT")), "did you mean 'adjust'?"),
    list(quote(gpuCorTest(x, nperm = 9)), "which is 'n_perm' here"),
    list(quote(gpuCor(x, zzz = 1)), "there is no 'zzz'; further arguments of gpuCor() are 'threads'")
  )
  for (case in told) expect_error(eval(case[[1L]]), case[[2L]], fixed = TRUE, label = deparse1(case[[1L]]))
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

test_that("a switch in the environment may be written as people write them", {
  is_wanted <- function(text) {
    Sys.setenv(GPUCOR_PROGRESS = text)
    on.exit(Sys.unsetenv("GPUCOR_PROGRESS"))
    gpucor:::settings_of("cpu")$progress > 0
  }
  for (text in c("TRUE", "true", "True", "yes", "on", "1", "T")) expect_true(is_wanted(text), label = text)
  for (text in c("FALSE", "false", "no", "off", "0", "F")) expect_false(is_wanted(text), label = text)
  expect_error(is_wanted("maybe"), "'progress' must be TRUE or FALSE, not \"maybe\"")
})

# ---- input

test_that("variables in rows are warned of, and nothing else is", {
  genes <- matrix(rnorm(30000), 2000, dimnames = list(paste0("gene", 1:2000), NULL))
  frame <- data.frame(id = rownames(genes), genes)
  told <- "2,000 rows and 15 columns, and the columns are correlated; rows are named, as \"gene1\" is.*give t\\(x\\)"
  expect_warning(gpuCor(genes), told)
  expect_warning(gpuCorNetwork(genes, threshold = 0.5), told)
  expect_warning(pickPower(genes, 1:2), told)
  expect_warning(gpuCor(as.data.frame(genes)), "give t\\(as.matrix\\(x\\)\\)")
  expect_warning(gpuCor(frame[-1]), "2,000 rows and 15 columns")
  expect_error(gpuCor(frame), "its first column \\(id\\) is names, .* If they are the variables', then t\\(x\\)")
  expect_identical(dim(t(frame[-1])), c(15L, 2000L))
  old <- options(gpucor.orientation = "columns")
  expect_no_warning(gpuCor(genes))
  options(old)
  expect_no_warning(gpuCor(unname(genes)))
  expect_no_warning(gpuCor(t(genes)))
  expect_no_warning(gpuCor(genes[1:900, ]))
  expect_warning(gpuCor(data.frame(matrix(rnorm(40000), 2000))), "2,000 rows and 20 columns, and the columns are")
  expect_no_warning(gpuCor(data.frame(matrix(rnorm(20000), 2000)))) # what ten sensors have measured
  expect_no_warning(gpuCor(data.frame(matrix(1:40000, 2000)))) # counts or scores of observations
  expect_no_warning(gpuCor(genes, genes[, 1:2]))
  expect_no_warning(gpuCor(`rownames<-`(genes, 1:2000)))
  expect_no_warning(gpuCor(`rownames<-`(genes, format(as.Date("2020-01-01") + 1:2000))))
})

# ---- words

test_that("one thing is said in the singular", {
  expect_output(print(gpuCorNetwork(x[, 1:2], threshold = 0)), "1 edge of 1 pair \\(100 %\\)")
  expect_output(print(gpuCorTest(x[, 1:2])), ", 1 test, alternative")
  expect_output(print(gpuCor(x[, 1:2])), "of 2 variables: 1 pair, 20 observations")
  expect_output(print(summary(gpuCor(x[, 1:2]))), "1 pair, 20 observations")
  expect_output(print(gpuConnectivity(x[, 1:2], threshold = 0)), "1 pair, 20 observations\n1 edge, ")
  expect_output(print(gpuCorNetwork(x[, 1:3], k = 1)), "each one's strongest neighbour\n")
  expect_output(print(gpuCorNetwork(x, threshold = 0.1)), "edges of 45 pairs")
})

test_that("the package is cited with its year and version", {
  text <- expect_no_warning(format(citation("gpucor"), style = "text"))
  expect_match(text, "(2026)", fixed = TRUE)
  expect_match(text, as.character(packageVersion("gpucor")), fixed = TRUE)
  expect_no_match(text, "????", fixed = TRUE)
})

test_that("the example says with what it was computed", {
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
