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

test_that("pairs of few observations without ties have the p values of cor.test(), also where all columns drop some", {
  set.seed(13)
  x <- matrix(rnorm(12 * 20), 12, dimnames = list(NULL, paste0("g", 1:20)))
  dose <- rnorm(12)
  gaps <- replace(x, cbind(1, 20), NA)
  for (method in c("kendall", "spearman", "pearson")) for (data in list(x, gaps)) {
    rows <- stats::complete.cases(data)
    found <- gpuAssociation(data, data.frame(dose), p.value = 1, method = method, use = "complete.obs")
    truth <- apply(data[rows, found$from], 2L, function(v) cor.test(v, dose[rows], method = method)$p.value)
    within <- if (method == "spearman") 0.04 else 1e-6 # R's is Edgeworth's
    expect_equal(found$p.value, unname(truth), tolerance = within)
  }
})

test_that("many pairs are in the order of p values, coefficients, traits and variables", {
  set.seed(12)
  x <- matrix(sample(6, 12 * 300, TRUE), 12, dimnames = list(NULL, paste0("g", 1:300))) # many equal coefficients
  traits <- matrix(sample(6, 12 * 40, TRUE), 12, dimnames = list(NULL, paste0("t", 1:40)))
  for (method in c("pearson", "distance", "kendall")) for (threads in 1:2) {
    found <- gpuAssociation(x, traits, p.value = if (method == "distance") 0.3 else 1, method = method,
                            threads = threads)
    numbers <- cbind(match(found$from, colnames(x)), match(found$to, colnames(traits)))
    expect_identical(order(found$p.value, -abs(found$r), numbers[, 2], numbers[, 1]), seq_len(nrow(found)))
    if (method != "distance") expect_identical(c(nrow(found), anyDuplicated(numbers)), c(12000L, 0L))
    expect_equal(found$r, gpuCor(x, traits, method = method, precision = "double")[numbers], tolerance = 1e-12)
    if (method == "pearson") {
      t <- found$r * sqrt(10 / (1 - found$r^2))
      expect_equal(found$statistic, t, tolerance = 1e-9)
      expect_equal(found$p.value, 2 * pt(-abs(t), 10), tolerance = 1e-9)
      expect_identical(found$fdr, p.adjust(found$p.value, "BH"))
    }
  }
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

test_that("traits are numbers or have levels, in the order of the data", {
  data <- association_data()
  expect_setequal(gpuAssociation(data$x, data$traits)$to, c("age", "sexm", "treated", "dose"))
  expect_equal(gpuAssociation(data$x, factor(data$traits$sex))[3:6], gpuAssociation(data$x, data$traits["sex"])[3:6])
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
  expect_error(gpuAssociation(data$x, traits), "\"age\" of numbers as text; give as.numeric(traits[, 2]), or factor(",
               fixed = TRUE)
  age <- as.numeric(traits[, 2])
  expect_equal(gpuAssociation(data$x, age)$r, gpuAssociation(data$x, data$traits$age)$r)
  expect_error(gpuAssociation(data$x, list(age, age)), "not of class list; as.data.frame(traits) has", fixed = TRUE)
  expect_error(gpuAssociation(data$x, NULL), "'traits' must be a numeric matrix or vector, .* not of class NULL")
  expect_error(gpuAssociation(list(data$x), age), "'x' must be numeric, not of class list; many subjects' data are for")
  expect_error(gpuAssociation(data$x, matrix(1i, 70, 2)), "'traits' must be numeric, not a matrix of complex values")
})

# F, p and degrees of freedom of a factor, and R^2, as lm() has them.
by_anova <- function(gene, factor, covariates = NULL, weights = rep(1, length(gene))) {
  frame <- data.frame(gene, w = weights)
  if (!is.null(covariates)) frame <- cbind(frame, covariates)
  is_known <- complete.cases(frame, factor)
  frame <- frame[is_known, ]
  frame$factor <- factor[is_known]
  less <- lm(gene ~ . - w - factor, frame, weights = w)
  more <- lm(gene ~ . - w, frame, weights = w)
  table <- anova(less, more)
  c(sqrt(1 - deviance(more) / deviance(less)), table$F[2], table$`Pr(>F)`[2], table$Df[2], table$Res.Df[2])
}

expect_as_anova <- function(found, column, truth) {
  rows <- match(colnames(truth), rownames(found$r))
  parts <- lapply(found[c("r", "statistic", "p.value", "num_df", "df")], function(part) {
    if (length(part) == 1) rep(part, length(rows)) else part[rows, column]
  })
  expect_equal(do.call(rbind, parts), truth, tolerance = 1e-9, ignore_attr = TRUE)
}

with_stage <- function() {
  data <- association_data()
  data$traits$stage <- factor(rep_len(c("i", "ii", "ii", "iii", "iv", "iii"), 70),
                              levels = c("i", "ii", "iii", "iv", "none"))
  data$x[, 1:4] <- data$x[, 1:4] + (data$traits$stage == "ii") # shifts and scales of genes do not matter
  data$x[, 2] <- 1e6 + data$x[, 2]
  data
}

test_that("a factor of several levels has the F test of anova() and oneway.test()", {
  data <- with_stage()
  stage <- data$traits$stage
  genes <- c("g1", "g2", "g7", "g60")
  for (backend in backends()) {
    all <- gpuAssociation(data$x, data$traits, output = "matrix", backend = backend)
    expect_as_anova(all, "stage", sapply(genes, function(gene) by_anova(data$x[, gene], stage)))
    test <- oneway.test(data$x[, "g1"] ~ stage, var.equal = TRUE)
    expect_equal(c(all$statistic["g1", "stage"], all$p.value["g1", "stage"]), c(test$statistic, test$p.value),
                 ignore_attr = TRUE)
    others <- gpuAssociation(data$x, data$traits[names(data$traits) != "stage"], output = "matrix", backend = backend)
    for (part in c("r", "statistic", "p.value")) expect_identical(all[[part]][, 1:4], others[[part]])
    expect_equal(all$num_df[3, ], c(age = 1, sexm = 1, treated = 1, dose = 1, stage = 3))
    expect_equal(all$df[3, ], c(age = 68, sexm = 68, treated = 68, dose = 68, stage = 66))
    expect_equal(all$fdr, p.adjust(all$p.value, "BH"), ignore_attr = TRUE)
    adjusted <- gpuAssociation(data$x, stage, covariates = data$covariates, output = "matrix", backend = backend)
    expect_as_anova(adjusted, 1, sapply(genes, function(gene) by_anova(data$x[, gene], stage, data$covariates)))
    expect_equal(c(adjusted$n, adjusted$df), c(70, 61))
  }
  text <- gpuAssociation(data$x, as.character(stage))
  expect_equal(text[3:6], gpuAssociation(data$x, stage)[3:6])
  expect_equal(gpuAssociation(data$x, factor(stage, ordered = TRUE))$r, text$r)
  suppressMessages(sparse <- gpuAssociation(Matrix::Matrix(data$x, sparse = TRUE), stage))
  expect_equal(sparse[3:6], text[3:6])
  draw <- function(type) plot(all, type)
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  expect_silent(for (type in c("auto", "heatmap")) draw(type))
})

test_that("F tests leave out missing values as lm() does, and weigh observations", {
  data <- with_stage()
  data$x[sample(length(data$x), 200)] <- NA
  data$x[data$traits$stage == "iv", "g3"] <- NA # a gene without a level
  data$x[-(1:3), "g4"] <- NA
  data$traits$stage[5] <- NA
  data$covariates$ph[8] <- NA
  stage <- data$traits$stage
  w <- runif(70)
  genes <- c("g1", "g2", "g3", "g60")
  expect_warning(found <- gpuAssociation(data$x, stage, covariates = data$covariates, weights = w,
                                         weights_are = "precision", output = "matrix"),
                 "standard deviation is zero (1 of 60 columns of 'x': g4)", fixed = TRUE)
  expect_as_anova(found, 1, sapply(genes, function(gene) by_anova(data$x[, gene], stage, data$covariates, w)))
  expect_equal(found$num_df["g3", ], 2)
  expect_true(is.na(found$p.value["g4", ]))
  whole <- data$x[, genes]
  ok <- complete.cases(whole, stage, data$covariates)
  for (use in c("complete.obs", "na.or.complete")) {
    found <- gpuAssociation(whole, stage, covariates = data$covariates, use = use, output = "matrix")
    expect_as_anova(found, 1, sapply(genes, function(gene) by_anova(whole[ok, gene], stage[ok], data$covariates[ok, ])))
    expect_equal(found$n, sum(ok))
  }
  some <- cbind(whole[, 1:2], complete = rnorm(70))
  stage[5] <- "i"
  found <- gpuAssociation(some, stage, use = "everything", output = "matrix")
  expect_equal(unname(is.na(found$p.value[, 1])), c(TRUE, TRUE, FALSE))
  expect_as_anova(found, 1, sapply("complete", function(gene) by_anova(some[, gene], stage)))
  twice <- rep(c(1, 2), 35)
  copies <- rep(1:70, twice)
  found <- gpuAssociation(some, stage, weights = twice, weights_are = "frequency", use = "everything",
                          output = "matrix")
  expect_as_anova(found, 1, sapply("complete", function(gene) by_anova(some[copies, gene], stage[copies])))
})

test_that("factors are chosen by p value and false discovery rate among all tests", {
  data <- with_stage()
  traits <- data$traits[c("stage", "age")]
  all <- gpuAssociation(data$x, traits)
  expect_equal(nrow(all), 120)
  expect_equal(gpuAssociation(data$x, traits, p.value = 0.1), all[all$p.value <= 0.1, ])
  expect_equal(gpuAssociation(data$x, traits, fdr = 0.05), all[all$fdr <= 0.05, ])
  expect_setequal(gpuAssociation(data$x, traits, fdr = 0.05)$to, c("stage", "age"))
})

test_that("a factor that covariates explain has no test, and what F tests do not take is an error", {
  data <- with_stage()
  stage <- data$traits$stage
  expect_warning(none <- gpuAssociation(data$x, stage, covariates = model.matrix(~ stage), output = "matrix"),
                 "standard deviation is zero")
  expect_true(all(is.na(none$r)) && all(is.na(none$p.value)))
  expect_equal(none$tests, 0)
  score <- data.frame(score = as.numeric(stage)) # the remaining two degrees of freedom
  found <- gpuAssociation(data$x, stage, covariates = score, output = "matrix")
  expect_as_anova(found, 1, sapply("g1", function(gene) by_anova(data$x[, gene], stage, score)))
  expect_equal(found$num_df[1], 2)
  expect_error(gpuAssociation(data$x, data$traits, method = "kendall"),
               "\"stage\" of 4 levels, whose F test is for .*pearson.*, not \"kendall\"; .*`==`, traits\\$stage")
  levels <- sapply(levels(factor(stage)), `==`, stage) # as it says
  expect_equal(dim(gpuAssociation(data$x, levels, method = "kendall", output = "matrix")$r), c(60L, 4L))
  expect_error(gpuAssociation(data$x, stage, df = "bartlett"), "'traits' has a factor of several levels")
  expect_error(gpuAssociation(data$x, paste0("sample", 1:70)), "column \"trait\" of text, with 70 different values")
  given <- gpuAssociation(data$x, stage, df = 30, output = "matrix")
  expect_equal(given$df, 28)
  free <- gpuAssociation(data$x, stage, output = "matrix")
  expect_equal(given$statistic / 28, free$statistic / free$df)
})

test_that("arguments of tests that an association has not are errors, and no logarithms are adjusted", {
  data <- association_data()
  for (given in list(list(log.p = TRUE), list(alternative = "less"), list(exact = TRUE))) {
    expect_error(do.call(gpuAssociation, c(list(data$x, data$traits), given)),
                 paste0("unused argument '", names(given), "'"))
  }
  expect_error(gpuAssociation(data$x, data$traits, p.value = 0.1, fdr = 0.1), "^give only one of 'p.value' and 'fdr'$")
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
