# gpuAssociation() beside lm(), p.adjust() and cor.test().

association_data <- function() {
  set.seed(31)
  n <- 70
  traits <- data.frame(age = round(runif(n, 20, 70)), sex = rep(c("f", "m"), n / 2), treated = runif(n) < 0.4,
                       dose = rnorm(n))
  x <- matrix(rnorm(n * 60), n, dimnames = list(NULL, paste0("g", 1:60)))
  x[, 1:6] <- x[, 1:6] + traits$age / 15
  x[, 5:9] <- x[, 5:9] - (traits$sex == "m")
  list(x = x, traits = traits, covariates = data.frame(batch = factor(rep(1:5, 14)), ph = rnorm(n)))
}

# t and p of a trait, as lm() has them.
by_lm <- function(gene, trait, covariates = NULL) {
  frame <- data.frame(gene = gene, trait = as.numeric(trait))
  if (!is.null(covariates)) frame <- cbind(frame, covariates)
  summary(lm(gene ~ ., frame))$coefficients["trait", 3:4]
}

expect_as_lm <- function(found, data, covariates) {
  numeric_traits <- with(data$traits, cbind(age, sexm = sex == "m", treated, dose))
  for (k in seq_len(nrow(found))) {
    truth <- by_lm(data$x[, found$from[k]], numeric_traits[, found$to[k]], covariates)
    expect_equal(c(found$statistic[k], found$p.value[k]), unname(truth), tolerance = 1e-10)
  }
}

test_that("statistics and p values are those of lm(), with covariates and missing values, too", {
  data <- association_data()
  holes <- data
  holes$x[sample(length(holes$x), 100)] <- NA
  holes$traits$age[3] <- NA
  holes$covariates$ph[8] <- NA
  for (backend in backends()) for (d in list(data, holes)) for (covariates in list(NULL, d$covariates)) {
    all <- gpuAssociation(d$x, d$traits, covariates = covariates, backend = backend)
    expect_equal(nrow(all), 240)
    expect_equal(attr(all, "tests"), 240)
    expect_equal(all$fdr, p.adjust(all$p.value, "BH"))
    expect_false(is.unsorted(all$p.value))
    expect_as_lm(all[c(1:10, sample(240, 8)), ], d, covariates)
    few <- gpuAssociation(d$x, d$traits, covariates = covariates, p.value = 1e-3, backend = backend)
    expect_equal(few[names(few) != "fdr"], all[all$p.value <= 1e-3, names(all) != "fdr"], ignore_attr = "tests",
                 tolerance = 1e-10)
    expect_equal(attr(few, "tests"), 240)
    by_fdr <- gpuAssociation(d$x, d$traits, covariates = covariates, fdr = 0.01, backend = backend)
    expect_equal(by_fdr, all[all$fdr <= 0.01, ], ignore_attr = c("tests", "chosen"), tolerance = 1e-10)
    expect_gt(nrow(by_fdr), 5)
  }
})

test_that("every measure finds by a p value what all tests have, with their statistics", {
  data <- association_data()
  data$x <- round(data$x, 1) # ties
  holes <- data$x
  holes[cbind(1:30, 1:30)] <- NA
  for (method in c("kendall", "spearman", "bicor", "cosine")) {
    for (x in list(data$x, holes)) for (use in c("pairwise.complete.obs", "complete.obs")) {
      df <- if (method == "cosine") 69
      all <- gpuAssociation(x, data$traits["dose"], use = use, method = method, df = df)
      few <- gpuAssociation(x, data$traits["dose"], use = use, method = method, df = df, p.value = 0.2)
      expect_equal(few[1:5], all[all$p.value <= 0.2, 1:5], tolerance = 1e-9)
    }
  }
  test <- cor.test(data$x[, 1], data$traits$age, method = "kendall", exact = FALSE)
  own <- gpuAssociation(data$x[, 1], data$traits$age, method = "kendall", p.value = 1)
  expect_equal(c(own$statistic, own$p.value), c(test$statistic, test$p.value), ignore_attr = TRUE)
})

test_that("constant columns are no tests, and matrices have what data frames have", {
  data <- association_data()
  data$x[, 7] <- 1
  expect_warning(few <- gpuAssociation(data$x, data$traits, p.value = 1), "standard deviation is zero")
  expect_equal(c(nrow(few), attr(few, "tests")), c(236, 236))
  m <- suppressWarnings(gpuAssociation(data$x, data$traits, output = "matrix"))
  expect_s3_class(m, "gpuAssociation")
  expect_equal(dim(m$p.value), c(60L, 4L))
  expect_equal(c(m$n, m$df, m$tests), c(70, 68, 236))
  expect_equal(m$fdr[2, "age"], few$fdr[few$from == "g2" & few$to == "age"])
  expect_equal(nrow(as.data.frame(m)), 240)
  expect_output(print(m), "236 tests")
})

test_that("traits are numbers or have two levels, in the order of the data", {
  data <- association_data()
  expect_setequal(gpuAssociation(data$x, data$traits)$to, c("age", "sexm", "treated", "dose"))
  expect_equal(gpuAssociation(data$x, factor(data$traits$sex))[3:6], gpuAssociation(data$x, data$traits["sex"])[3:6])
  data$traits$stage <- rep_len(c("i", "ii", "iii"), 70)
  data$traits$stage[5] <- NA
  told <- "\"stage\" of 3 levels; give a column for each, sapply(levels(factor(traits$stage)), `==`, traits$stage)"
  expect_error(gpuAssociation(data$x, data$traits), told, fixed = TRUE)
  stages <- sapply(levels(factor(data$traits$stage)), `==`, data$traits$stage) # as it says, with what is missing
  expect_identical(gpuAssociation(data$x, stages, output = "matrix")$n, 69)
  data$traits$stage <- "i"
  expect_error(gpuAssociation(data$x, data$traits), "\"stage\" of 1 level; leave it out")
  data$traits$stage <- Sys.Date()
  expect_error(gpuAssociation(data$x, data$traits), "\"stage\" is of class Date")
  expect_error(gpuAssociation(data$x, data$traits[1:4, ]), "4 rows, and 'x' has 70")
  named <- data$traits["age"]
  rownames(named) <- rownames(data$x) <- paste0("s", 1:70)
  expect_error(gpuAssociation(data$x, named[70:1, , drop = FALSE]), "in another order (number 1 is \"s70\"",
               fixed = TRUE)
  expect_equal(nrow(gpuAssociation(data$x, named, p.value = 1e-6)), 6)
  expect_error(gpuAssociation(data$x, named, p.value = 0.1, fdr = 0.1), "only one of")
  expect_error(gpuAssociation(data$x, named, p.value = 0.1, output = "matrix"), "is for output = \"edges\"")
  expect_error(gpuAssociation(data$x, named, p.value = 0.1, df = "bartlett"), "leave out 'p.value'")
  expect_equal(nrow(gpuAssociation(data$x, named, df = "bartlett")), 60)
})

test_that("numbers that are text, and traits of other kinds, have a way out that works", {
  data <- association_data()
  traits <- as.matrix(data$traits[c("sex", "age")]) # a matrix of text
  expect_error(gpuAssociation(data$x, traits), "if they are numbers, as.numeric(as.character(traits[, 2]));",
               fixed = TRUE)
  age <- as.numeric(as.character(traits[, 2]))
  expect_equal(gpuAssociation(data$x, age)$r, gpuAssociation(data$x, data$traits$age)$r)
  expect_error(gpuAssociation(data$x, list(age, age)), "not of class list; as.data.frame(traits) has", fixed = TRUE)
  expect_error(gpuAssociation(data$x, NULL), "'traits' must be a numeric matrix or vector, .* not of class NULL")
  expect_error(gpuAssociation(list(data$x), age), "'x' must be numeric, not of class list; many subjects' data are for")
  expect_error(gpuAssociation(data$x, matrix(1i, 70, 2)), "'traits' must be numeric, not a matrix of complex values")
})

test_that("arguments of tests that an association has not are errors, and no logarithms are adjusted", {
  data <- association_data()
  for (given in list(list(log.p = TRUE), list(alternative = "less"), list(exact = TRUE))) {
    expect_error(do.call(gpuAssociation, c(list(data$x, data$traits), given)),
                 paste0("unused argument '", names(given), "'"))
  }
})

test_that("messages name the traits", {
  data <- association_data()
  traits <- cbind(none = rep(1, 70), age = data$traits$age)
  for (p.value in list(NULL, 0.1)) {
    expect_warning(gpuAssociation(data$x, traits, p.value = p.value), "1 of 2 columns of 'traits': none")
  }
})

test_that("named traits in another order are an error, and other ones a warning", {
  data <- association_data()
  ids <- paste0("s", 1:70)
  rownames(data$x) <- ids
  age <- setNames(data$traits$age, rev(ids))
  expect_error(gpuAssociation(data$x, age), "(number 1 is \"s70\", and \"s1\" in 'x'); reorder it", fixed = TRUE)
  expect_equal(gpuAssociation(data$x, age[ids])$r, gpuAssociation(unname(data$x), unname(age[ids]))$r)
  expect_error(gpuAssociation(data$x[, 1], age), "in another order")
  some <- data.frame(age = age, row.names = c(names(age)[-70], "other"))
  told <- "give both the same observations, or remove the names"
  expect_warning(gpuAssociation(data$x, some), told, fixed = TRUE)
  both <- intersect(rownames(data$x), rownames(some))
  expect_equal(nrow(gpuAssociation(data$x[both, ], some[both, , drop = FALSE])), 60)
  expect_warning(others <- gpuAssociation(data$x, `rownames<-`(some, paste0("z", 1:70))),
                 told, fixed = TRUE)
  expect_equal(nrow(others), 60)
})
