# Which observation is which: names of rows, where both sides have them.

set.seed(1)
samples <- paste0("S", 1:57)
x <- matrix(rnorm(57 * 8), 57, dimnames = list(samples, letters[1:8]))
phenotypes <- data.frame(outcome = rnorm(57), age = rexp(57), row.names = samples)
weight <- setNames(phenotypes$age, samples)
order <- sample(57)

expect_other_order <- function(code, name) {
  expect_error(code, paste0("'", name, "' has the observations of 'x' in another order (number 1 is \"",
                            samples[order[1]], "\", and \"S1\" in 'x'); reorder it by name"), fixed = TRUE)
}

test_that("names in another order are an error", {
  shuffled <- phenotypes[order, ]
  expect_other_order(gpuCor(x, covariates = ~ outcome, data = shuffled), "data")
  expect_other_order(gpuCor(x, covariates = shuffled), "covariates")
  expect_other_order(gpuCor(x, covariates = as.matrix(shuffled)), "covariates")
  expect_other_order(gpuCor(x, covariates = ~ outcome, data = shuffled["outcome"]), "data")
  expect_other_order(gpuCor(x, weights = weight[order]), "weights")
  expect_other_order(gpuCor(x, x[order, 1:3]), "y")
  expect_other_order(gpuCor(data.frame(x), data.frame(x)[order, 1:3]), "y")
  expect_other_order(gpuCor(x[, 1], x[order, 2]), "y")
  expect_other_order(gpuCor(x[, 1], x[order, 2:3]), "y")
  expect_other_order(gpuAssociation(x, shuffled), "traits")
  expect_other_order(gpuAssociation(x, phenotypes, covariates = ~ age, data = shuffled), "data")
  aligned <- gpuCor(x, covariates = ~ outcome, data = shuffled[rownames(x), ]) # what the message says
  expect_identical(as.vector(aligned), as.vector(gpuCor(x, covariates = phenotypes$outcome)))
  expect_identical(unname(gpuCor(x, unname(x[order, 1:3]))[3, 1]), gpuCor(x[, 3], unname(x[order, 1])))
})

test_that("every function compares them", {
  calls <- list(
    function(...) gpuCorTest(x, ...), function(...) gpuCorTriangle(x, ...), function(...) gpuDist(t(x), ...),
    function(...) gpuCorNetwork(x, threshold = 0.3, ...), function(...) gpuConnectivity(x, threshold = 0.3, ...),
    function(...) gpuCorWindows(x, 20, ...), function(...) gpuTOM(x, power = 2, ...),
    function(...) gpuCorPairs(x, threshold = 0.3, ...), function(...) gpuCorCompare(x, x[1:40, ], ...)
  )
  for (call in calls[1:8]) expect_error(call(weights = weight[order]), "'weights' has the observations of 'x' in ano")
  expect_error(calls[[9]](weights = list(weight[order], weight[1:40])), "^'x': 'weights' has the observations")
  for (f in list(gpuCorTest, function(x, y) gpuCorNetwork(x, y, threshold = 0.3), function(x, y) gpuCorPerm(x, y, 9),
                 function(x, y) gpuCorPairs(x, y, top = 1), function(x, y) gpuConnectivity(x, y, maps = "mean"))) {
    expect_other_order(f(x, x[order, 1:3]), "y")
  }
  expect_no_error(gpuCorPerm(x[, 1:3], x[, 4:5], 3)) # which permutes them itself
  expect_error(gpuDist(t(x), weights = weight[order]), "'weights' has the observations of 'x' in another order")
})

test_that("experiments have their observations in columns", {
  skip_unless_full()
  skip_if_not_installed("SummarizedExperiment")
  experiment <- SummarizedExperiment::SummarizedExperiment(list(a = t(x)))
  expect_other_order(gpuCor(experiment, experiment[1:3, order]), "y")
  expect_other_order(gpuCor(experiment, x[order, 1:3]), "y")
  expect_other_order(gpuCor(experiment, covariates = ~ age, data = phenotypes[order, ]), "data")
  expect_warning(gpuCor(experiment[, -3], covariates = ~ age, data = phenotypes[-5, ]),
                 "give both the same observations", fixed = TRUE)
})

test_that("other names are a warning with the first difference", {
  told <- warnings_of(gpuCor(x[-3, ], covariates = phenotypes[-5, ]))
  expect_identical(told, paste0("'covariates' has other names of observations than 'x' (number 3 is \"S3\", and ",
                                "\"S4\" in 'x'); give both the same observations, or remove the names"))
  renamed <- `rownames<-`(x[, 1:3], paste0("T", 1:57))
  expect_match(warnings_of(gpuCor(x, renamed)), "'y' has other names of observations than 'x'")
  expect_length(warnings_of(gpuAssociation(x, renamed)), 1)
  expect_length(warnings_of(gpuCorPairs(x, renamed, threshold = 0.2, test = TRUE)), 1)
  expect_length(warnings_of(gpuCor(x, renamed, test = TRUE)), 1)
})

test_that("without names, or with the same ones, nothing is said", {
  plain <- phenotypes
  rownames(plain) <- NULL
  quiet <- list(
    list(x, covariates = phenotypes), list(x, weights = weight), list(x, x[, 1:3]), list(unname(x), x[order, 1:3]),
    list(x, unname(x[order, 1:3])), list(x, covariates = unname(as.matrix(phenotypes))), list(x, covariates = plain),
    list(x, covariates = ~ age, data = plain), list(x, x[, 1]),
    list(x, weights = unname(weight)), list(`rownames<-`(x, 1:57), covariates = plain), list(x, plain),
    list(`rownames<-`(x, rep("", 57)), x[order, 1:2])
  )
  for (arguments in quiet) expect_identical(warnings_of(do.call(gpuCor, arguments)), character())
  age <- weight[order]
  expect_no_warning(gpuCor(x, covariates = ~ age)) # found where the formula was written
  expect_error(gpuCor(x, covariates = phenotypes[1:5, ]), "'covariates' has 5 rows; there are 57 observations")
})

test_that("numbers of rows are names among themselves only", {
  numbered <- `rownames<-`(x, 1:57)
  plain <- `rownames<-`(phenotypes, NULL)
  expect_error(gpuCor(numbered, covariates = plain[order, ]), "in another order", fixed = TRUE)
  expect_error(gpuCor(plain[57:1, ], plain[order, ]), "in another order", fixed = TRUE)
  expect_warning(gpuCor(numbered[-3, ], covariates = plain[-5, ]), "number 3 is \"3\", and \"4\" in 'x'")
})

test_that("moved rows are an error where 'x' has no names", {
  plain <- `rownames<-`(phenotypes, NULL)
  moved <- plain[order, ]
  told <- function(name) {
    at <- which(diff(order) < 0)[1]
    paste0("'", name, "' has rows in another order than their numbers (\"", order[at], "\" is before \"",
           order[at + 1], "\"), and 'x' has no names of observations to compare")
  }
  for (unnamed in list(unname(x), data.frame(x, row.names = NULL))) {
    expect_error(gpuAssociation(unnamed, moved), told("traits"), fixed = TRUE)
    expect_error(gpuCor(unnamed, covariates = moved), told("covariates"), fixed = TRUE)
    expect_error(gpuCor(unnamed, covariates = as.matrix(moved)), told("covariates"), fixed = TRUE)
    expect_error(gpuCorNetwork(unnamed, threshold = 0.3, covariates = ~ age, data = moved), told("data"), fixed = TRUE)
    expect_error(gpuConnectivity(unnamed, moved, maps = "mean"), told("y"), fixed = TRUE)
    expect_error(gpuCor(unnamed, weights = setNames(plain$age, 1:57)[order]), told("weights"), fixed = TRUE)
    expect_error(gpuClean(unnamed, covariates = moved), told("covariates"), fixed = TRUE)
    expect_error(gpuCor(list(x, unnamed), covariates = list(phenotypes, moved), combine = "mean"),
                 paste0("subject 2: ", told("covariates")), fixed = TRUE)
    expect_no_error(gpuCor(unnamed, `rownames<-`(moved, NULL))) # what the message says
    expect_error(gpuCor(`rownames<-`(unnamed, 1:57), covariates = moved), "in another order", fixed = TRUE)
    for (same in list(plain, plain[1:57, ], `rownames<-`(plain, 57 + 1:57), rbind(plain[1:56, ], plain[1, ]))) {
      expect_no_warning(gpuCor(unnamed, covariates = same))
    }
    expect_warning(gpuCor(unnamed, covariates = `rownames<-`(plain, 57 + order)), "rows in another order than their n")
  }
  own <- `rownames<-`(x, order) # both were moved
  net <- gpuCorNetwork(own, threshold = 0.3, covariates = ~ age, data = `rownames<-`(phenotypes, order), resample = 3)
  expect_s4_class(net, "gpuCorNetwork")
  subjects <- lapply(1:8, function(k) x + k * sin(x))
  groups <- data.frame(group = rep(0:1, 4), age = c(5, 3, 8, 6, 2, 1, 7, 4))
  design <- model.matrix(~ group, groups[order(groups$age), ])
  for (read in list(subjects, setNames(subjects, letters[1:8]))) { # in the order of the table
    expect_no_warning(gpuCorCompare(read, design = design, contrast = "group"))
  }
  expect_error(gpuCorCompare(setNames(subjects, 1:8), design = design, contrast = "group"), "'design' has the observ")
})

test_that("moved rows are a warning where the other side has other names", {
  plain <- `rownames<-`(phenotypes, NULL)
  told <- function(code, name, other) {
    said <- warnings_of(code)
    expect_match(said, paste0("^'", name, "' has rows in another order than their numbers .*, and '", other, "' has ",
                              "no n.* if '", other, "' has this order$"))
    expect_length(said, 1)
  }
  told(gpuAssociation(x, plain[order, ]), "traits", "x")
  told(gpuCor(x, covariates = ~ age, data = plain[order, ]), "data", "x")
  told(gpuCor(data.frame(x), weights = setNames(plain$age, 1:57)[order]), "weights", "x")
  frame <- data.frame(x, row.names = NULL)
  told(gpuAssociation(frame[order, ], plain), "x", "traits")
  told(gpuAssociation(frame[order, ], phenotypes), "x", "traits")
  told(gpuCor(as.matrix(frame[order, ]), covariates = plain), "x", "covariates")
  left <- plain[-1, ]
  told(gpuAssociation(unname(x[-1, ]), left[order(left$age), ]), "traits", "x")
  expect_no_warning(gpuCor(frame[order, ], weights = plain$age[order])) # moved with x
  expect_no_warning(gpuCor(frame[order, ], unname(as.matrix(plain[order, ]))))
  expect_no_warning(gpuAssociation(x[-1, ], left))
})

test_that("subjects' observations are compared with their own, and warned of once", {
  subjects <- list(x, x)
  expect_error(gpuCor(subjects, list(x[, 1:3], x[order, 1:3]), combine = "mean"), "subject 2: 'y' has the observations")
  expect_error(gpuCor(subjects, covariates = list(phenotypes, phenotypes[order, ]), combine = "mean"),
               "subject 2: 'covariates' has the observations")
  renamed <- `rownames<-`(x[, 1:3], paste0("T", 1:57))
  told <- warnings_of(gpuCor(subjects, list(renamed, renamed), combine = "mean"))
  expect_match(told, "^subject 1: 'y' has other names of observations")
  with_options(list(gpucor.spool_bytes = 1), {
    made <- function(i) subjects[[i]] # in files by then
    expect_error(gpuCor(made, subjects = 2, covariates = list(phenotypes, phenotypes[order, ]), combine = "mean"),
                 "subject 2: 'covariates' has the observations")
  })
})

test_that("a file's observations are compared", {
  file <- tempfile()
  on.exit(unlink(file))
  writeBin(as.vector(x), file)
  stored <- gpuCorFile(file, dim(x), dimnames = dimnames(x))
  expect_other_order(gpuCor(stored, covariates = phenotypes[order, ]), "covariates")
})
