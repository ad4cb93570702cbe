# gpuPreservation(), compared with definitions written out and with WGCNA's modulePreservation().

labels <- rep(c("grey", "blue", "red", "green", "brown"), c(60, 70, 45, 30, 15))

# `keeps`: the modules that the set has.
set_of <- function(n, keeps, seed) {
  set.seed(seed)
  loading <- seq(-0.4, 1.6, length.out = length(labels))[order(sin(seq_along(labels)))]
  loading[!labels %in% keeps] <- 0
  factors <- matrix(rnorm(n * 5), n)[, match(labels, unique(labels))]
  structure(factors * rep(loading, each = n) + rnorm(length(factors)),
            dimnames = list(NULL, paste0("g", seq_along(labels))))
}
reference <- set_of(40, c("blue", "red", "green", "brown"), 1)
test <- set_of(30, c("blue", "red", "brown"), 2)

# The statistics of columns a of x and b of y by their definitions.
defined <- function(x, y, a, b = a, type = "unsigned", power = 6) {
  kme <- function(x) {
    k <- drop(cor(x, svd(scale(x), nu = 1L)$u))
    if (sum(k) < 0) -k else k
  }
  adjacency <- function(r) {
    base <- switch(type, unsigned = abs(r), signed = (1 + r) / 2, "signed hybrid" = pmax(r, 0))
    `diag<-`(base^power, 0)
  }
  upper <- upper.tri(diag(length(a)))
  r <- list(cor(x[, a]), cor(y[, b]))
  adjacencies <- lapply(r, adjacency)
  kim <- lapply(adjacencies, colSums)
  ratio <- Map(function(a, k) ifelse(k > 0, colSums(a^2) / k, 0), adjacencies, kim)
  contribution <- list(kme(x[, a]), kme(y[, b]))
  contrib <- mean(sign(contribution[[1]]) * contribution[[2]])
  of_contrib <- cor(contribution[[1]], contribution[[2]])
  c(propVarExplained = mean(contribution[[2]]^2), meanSignAwareKME = abs(contrib),
    meanSignAwareCorDat = mean(sign(r[[1]][upper]) * r[[2]][upper]), meanAdj = mean(adjacencies[[2]][upper]),
    meanMAR = mean(ratio[[2]]), cor.kIM = cor(kim[[1]], kim[[2]]), cor.kME = abs(of_contrib),
    cor.cor = cor(r[[1]][upper], r[[2]][upper]), cor.MAR = cor(ratio[[1]], ratio[[2]]), avg.contrib = contrib,
    cor.contrib = of_contrib)
}

test_that("observed statistics are those of their definitions, for every network and power", {
  for_rows(covering(type = c("unsigned", "signed", "signed hybrid"), power = c(6, 1, 12, 2.5, 33.3), n = c(7, 30, 90)),
           function(type, power, n, label) {
    y <- set_of(n, c("blue", "red"), 3)
    found <- gpuPreservation(reference, y, labels, n_perm = 0, type = type, power = power)
    for (module in rownames(found$observed)) {
      wanted <- defined(reference, y, which(labels == module), type = type, power = power)
      expect_equal(found$observed[module, ], wanted, tolerance = 1e-7, label = label)
    }
  })
})

test_that("permutations in which a statistic has no value do not count", {
  set.seed(6)
  data <- function(n) {
    matrix(rnorm(n * 20), n, dimnames = list(NULL, letters[1:20])) + outer(rnorm(n), rep(1:0, c(3, 17)))
  }
  found <- gpuPreservation(data(40), data(30), rep(1:2, c(3, 17)), n_perm = 99, type = "signed hybrid")
  own <- found$permuted[, "1", ]
  lacks <- colSums(is.na(own))
  expect_gt(lacks[["cor.kIM"]], 0)
  expect_lt(max(lacks), 90)
  observed <- found$observed["1", ]
  expect_false(anyNA(observed))
  expect_equal(found$Z["1", ], (observed - colMeans(own, na.rm = TRUE)) / apply(own, 2, sd, na.rm = TRUE))
  larger <- colSums(own >= rep(observed, each = 99), na.rm = TRUE)
  expect_equal(found$p.value["1", ], (1 + larger) / (100 - lacks))
})

test_that("random sets have the same genes in both data sets", {
  set.seed(4)
  found <- gpuPreservation(reference, test, labels, n_perm = 5, null = "random sets")
  set.seed(4)
  members <- split(seq_along(labels), labels)[found$modules$module]
  for (k in 1:5) {
    drawn <- split(sample.int(220, 160), rep(seq_along(members), lengths(members)))
    for (m in seq_along(members)) {
      expect_equal(found$permuted[k, m, ], defined(reference, test, drawn[[m]]), tolerance = 1e-7)
    }
  }
  expect_identical(found$observed, gpuPreservation(reference, test, labels, n_perm = 0)$observed)
  set.seed(4)
  usual <- gpuPreservation(reference, test, labels, n_perm = 5)
  alone <- c("propVarExplained", "meanAdj", "meanMAR")
  expect_identical(found$p.value[, alone], usual$p.value[, alone])
  expect_error(gpuPreservation(reference, test, labels, null = "genes"),
               "'null' must be one of \"labels\", \"random sets\"")
})

test_that("a module is compared with both kinds of draws, and the larger p value counts", {
  set.seed(4)
  found <- gpuPreservation(reference, test, labels, n_perm = 19, null = "random sets")
  set.seed(4)
  for (k in 1:19) sample.int(220, 160) # random sets are drawn first
  own <- gpuPreservation(reference, test, labels, n_perm = 19)
  at_least <- colSums(found$permuted >= rep(found$observed, each = 19))
  p <- (1 + at_least) / 20
  mean <- colMeans(found$permuted)
  sd <- apply(found$permuted, 2:3, sd)
  signed <- setdiff(colnames(p), c("propVarExplained", "meanAdj", "meanMAR"))
  expect_true(any(p[, signed] > own$p.value[, signed]) && any(p[, signed] < own$p.value[, signed]))
  expect_equal(found$p.value[, signed], pmax(p, own$p.value)[, signed])
  expect_equal(found$Z[, signed], pmin((found$observed - mean) / sd, own$Z)[, signed])
})

test_that("permutations draw genes from all matched ones, the modules' labels in turn", {
  set.seed(4)
  found <- gpuPreservation(reference, test, labels, n_perm = 5)
  set.seed(4)
  members <- split(seq_along(labels), labels)[found$modules$module]
  for (k in 1:5) {
    drawn <- split(sample.int(220, 160), rep(seq_along(members), lengths(members)))
    for (m in seq_along(members)) {
      expect_equal(found$permuted[k, m, ], defined(reference, test, members[[m]], drawn[[m]]), tolerance = 1e-7)
    }
  }
  permuted <- found$permuted[, , "cor.kIM"]
  expect_equal(found$Z[, "cor.kIM"], (found$observed[, "cor.kIM"] - colMeans(permuted)) / apply(permuted, 2, sd))
  above <- colSums(sweep(permuted, 2, found$observed[, "cor.kIM"]) >= 0)
  expect_equal(found$p.value[, "cor.kIM"], (1 + above) / 6)
})

# The observed statistics, Z, and means and standard deviations of permuted ones, of WGCNA; the latter for "unsigned".
wgcna_preservation <- function(type) {
  capture.output(found <- WGCNA::modulePreservation(
    list(reference = list(data = reference), test = list(data = test)), list(reference = labels), networkType = type,
    nPermutations = if (type == "unsigned") 40 else 2, maxModuleSize = 1e4, verbose = 0, savePermutedStatistics = FALSE
  ))
  modules <- c("blue", "red", "green", "brown")
  tables <- lapply(found$preservation[c("observed", "Z")], function(table) as.matrix(table[[1]][[2]][modules, ]))
  permuted <- found$permutationDetails$permutedStatistics[[1]][[2]]$regStats[modules, , ]
  c(tables, if (type == "unsigned") list(mean = apply(permuted, 1:2, mean), sd = apply(permuted, 1:2, sd)))
}

test_that("observed statistics are WGCNA's, and permuted ones within the error of their number", {
  for (type in c("unsigned", "signed", "signed hybrid")) {
    wgcna <- by_package("WGCNA", paste("preservation", type), wgcna_preservation(type))
    set.seed(5)
    found <- gpuPreservation(reference, test, labels, n_perm = 500, type = type)
    names <- setdiff(colnames(found$observed), c("avg.contrib", "cor.contrib"))
    theirs <- ifelse(names %in% colnames(wgcna$observed), names, paste0(names, ".pres"))
    modules <- rownames(found$observed)
    expect_setequal(modules, c("blue", "red", "green", "brown"))
    expect_equal(found$observed[, names], wgcna$observed[modules, theirs], tolerance = 1e-6, ignore_attr = TRUE)
    if (type != "unsigned") next
    permuted <- found$permuted[, , names]
    mean <- apply(permuted, 2:3, mean)
    sd <- apply(permuted, 2:3, sd)
    their_sd <- wgcna$sd[modules, theirs]
    expect_lt(max(abs(mean - wgcna$mean[modules, theirs]) / sqrt(sd^2 / 500 + their_sd^2 / 40)), 4.5)
    expect_lt(max(abs(log(sd / their_sd))), log(1.7))
    # Z and its summaries follow from these as in WGCNA.
    z <- (wgcna$observed[modules, theirs] - wgcna$mean[modules, theirs]) / their_sd
    expect_equal(z, wgcna$Z[modules, paste0("Z.", theirs)], ignore_attr = TRUE)
    summary <- preservation_summary(found$observed, `colnames<-`(z, names))
    for (name in c("Zsummary", "Zdensity", "Zconnectivity")) {
      expect_equal(summary[[name]], unname(wgcna$Z[modules, paste0(name, ".pres")]))
    }
  }
})

test_that("summaries are medians over statistics, without other modules' rows in the ranks", {
  set.seed(6)
  found <- gpuPreservation(reference, test, labels, n_perm = 20)
  density <- c("propVarExplained", "meanSignAwareKME", "meanSignAwareCorDat", "meanAdj")
  connectivity <- c("cor.kIM", "cor.kME", "cor.cor")
  ranks <- apply(-found$observed, 2, rank)
  expect_equal(found$modules$medianRank, unname(apply(ranks[, c(density, connectivity)], 1, median)))
  expect_equal(found$modules$medianRankDensity, unname(apply(ranks[, density], 1, median)))
  expect_equal(found$modules$medianRankConnectivity, unname(apply(ranks[, connectivity], 1, median)))
  z <- cbind(apply(found$Z[, density], 1, median), apply(found$Z[, connectivity], 1, median))
  expect_equal(found$modules$Zdensity, unname(z[, 1]))
  expect_equal(found$modules$Zsummary, unname(rowMeans(z)))
})

test_that("overlaps replace the adjacencies", {
  found <- gpuPreservation(reference, test, labels, n_perm = 3, network = "overlap", power = 4)
  plain <- gpuPreservation(reference, test, labels, n_perm = 0, power = 4)
  overlaps <- lapply(list(reference, test), function(x) as.matrix(gpuTOM(x, power = 4)))
  for (module in rownames(found$observed)) {
    own <- lapply(overlaps, function(o) `diag<-`(o[labels == module, labels == module], 0))
    expect_equal(found$observed[module, "meanAdj"], sum(own[[2]]) / prod(dim(own[[2]]) - 0:1), tolerance = 1e-6)
    expect_equal(found$observed[module, "cor.kIM"], cor(colSums(own[[1]]), colSums(own[[2]])), tolerance = 1e-6)
  }
  same <- c("propVarExplained", "cor.cor", "cor.contrib")
  expect_identical(found$observed[, same], plain$observed[, same])
})

test_that("the result does not depend on threads or on how many permutations are drawn at a time", {
  draw <- function(...) {
    set.seed(7)
    found <- gpuPreservation(reference, test, labels, n_perm = 23, ...)
    found$call <- NULL
    found
  }
  expect_identical(draw(threads = 1), draw(threads = 3))
  whole <- draw()
  bytes <- DRAWN_BYTES
  on.exit(utils::assignInNamespace("DRAWN_BYTES", bytes, "gpucor"))
  utils::assignInNamespace("DRAWN_BYTES", 4 * 160 * 4, "gpucor") # four permutations
  expect_identical(draw(), whole)
})

test_that("a random set of genes is tested beside the modules, which do not depend on it", {
  with_gold <- function(...) {
    set.seed(11)
    found <- gpuPreservation(reference, test, labels, n_perm = 19, ...)
    found$call <- NULL
    list(found = found, after = runif(1))
  }
  plain <- with_gold(gold = 0)
  default <- with_gold()
  expect_null(plain$found$gold)
  parts <- setdiff(names(default$found), "gold")
  expect_identical(default$found[parts], plain$found[parts])
  expect_identical(default$after, plain$after)
  expect_identical(default$found$gold[c("module", "size")], data.frame(module = "gold", size = 110L))
  few <- with_gold(gold = 30)$found$gold
  expect_identical(names(few), names(as.data.frame(plain$found)))
  # its genes and permutations are the draws after those of the modules
  set.seed(11)
  for (k in 1:19) sample.int(220, 160)
  own <- sample.int(220, 30)
  drawn <- t(vapply(1:19, function(k) defined(reference, test, own, sample.int(220, 30)), numeric(11)))
  observed <- defined(reference, test, own)
  for (name in names(observed)) {
    expect_equal(few[[name]], observed[[name]], tolerance = 1e-7)
    expect_equal(few[[paste0("Z.", name)]], (observed[[name]] - mean(drawn[, name])) / sd(drawn[, name]),
                 tolerance = 1e-5)
    expect_equal(few[[paste0("p.", name)]], (1 + sum(drawn[, name] >= observed[[name]])) / 20)
  }
  expect_true(is.na(few$medianRank))
  expect_output(print(default$found), "gold \\(random genes\\).*propVarExplained, meanAdj and meanMAR")
  expect_null(gpuPreservation(reference, test, labels, n_perm = 0)$gold)
  once <- utils::capture.output(print(gpuPreservation(reference, test, labels, n_perm = 1))) # no Z
  expect_false(any(grepl("gold|Random genes", once)))
  expect_error(with_gold(gold = -1), "'gold' must be a whole number")
})

test_that("both data sets are adjusted for their covariates", {
  age <- list(reference = rnorm(40), test = rnorm(30))
  x <- reference + age$reference
  y <- test + age$test
  adjusted <- Map(function(x, z) residuals(lm(x ~ z)), list(x, y), age)
  wanted <- gpuPreservation(adjusted[[1]], adjusted[[2]], labels, n_perm = 0)$observed
  found <- gpuPreservation(x, y, labels, n_perm = 0, covariates = age)
  expect_equal(found$observed, wanted, tolerance = 1e-7)
  expect_output(print(found), "adjusted for 1 covariate")
  by_formula <- gpuPreservation(x, y, labels, n_perm = 0, covariates = ~age,
                                data = lapply(age, function(z) data.frame(age = z)))
  expect_equal(by_formula$observed, wanted, tolerance = 1e-7)
  expect_equal(gpuPreservation(x, y, labels, n_perm = 0, covariates = rev(age))$observed, wanted, tolerance = 1e-7)
  expect_error(gpuPreservation(x, y, labels, n_perm = 0, data = age), "'data' needs a formula in 'covariates'")
  expect_error(gpuPreservation(x, y, labels, n_perm = 0, covariates = replace(age, "test", list(c(NA, age$test[-1])))),
               "'covariates' is missing")
})

test_that("missing values are imputed, and samples and genes with too many left out", {
  skip_if_not_installed("impute")
  x <- reference
  y <- test
  x[3, 65:70] <- NA
  y[7, 1:111] <- NA # more than half of a sample
  y[1:16, 80] <- NA # and of a gene, without that sample
  expect_error(gpuPreservation(x, y, labels, n_perm = 0), "'reference' has missing or infinite.*pairwise.complete.obs")
  expect_warning(found <- gpuPreservation(x, y, labels, n_perm = 0, use = "pairwise"), "more than half.*80 .g80.")
  filled <- t(impute::impute.knn(t(x[, -80]), k = 10)$data)
  wanted <- gpuPreservation(filled, y[-7, -80], labels[-80], n_perm = 0)
  expect_equal(found$observed, wanted$observed, tolerance = 1e-12)
  expect_identical(found$n_obs, c(reference = 40L, test = 29L))
  expect_error(gpuPreservation(replace(x, 65, Inf), y, labels, use = "pairwise"), "'reference' has infinite values")
  expect_error(gpuPreservation(x, y, labels, use = "complete.obs"), "'use' must be one of .* leave incomplete")
  z <- list(replace(rnorm(40), 5, NA), rnorm(30)) # a sample without a covariate is left out
  found <- gpuPreservation(reference, test, labels, n_perm = 0, use = "pairwise", covariates = z)
  wanted <- gpuPreservation(reference[-5, ], test, labels, n_perm = 0, covariates = list(z[[1]][-5], z[[2]]))
  expect_equal(found$observed, wanted$observed, tolerance = 1e-12)
})

test_that("genes are matched by name, and labels may have names", {
  set.seed(8)
  shuffled <- test[, sample(ncol(test))][, -(1:20)]
  absent <- setdiff(colnames(test), colnames(shuffled))
  found <- gpuPreservation(cbind(reference, other = rnorm(40)), cbind(shuffled, more = 1:30),
                           c(other = "blue", setNames(labels, colnames(reference))), n_perm = 0)
  keeps <- !colnames(reference) %in% absent
  wanted <- gpuPreservation(unname(reference[, keeps]), unname(test[, keeps]), labels[keeps], n_perm = 0)
  expect_equal(found$observed, wanted$observed, tolerance = 1e-12)
  expect_identical(found$genes, 200L)
  of_factor <- gpuPreservation(reference, test, factor(labels), n_perm = 0)
  expect_identical(of_factor$observed, gpuPreservation(reference, test, labels, n_perm = 0)$observed)
  numbers <- gpuPreservation(reference, test, match(labels, unique(labels)) - 1, n_perm = 0)
  expect_equal(unname(numbers$observed), unname(gpuPreservation(reference, test, labels, n_perm = 0)$observed))
  expect_identical(numbers$modules$module, c("1", "2", "3", "4"))
})

test_that("genes without variance and small modules are left out with a warning", {
  y <- test
  y[, c("g61", "g62")] <- 3
  expect_warning(found <- gpuPreservation(reference, y, labels, n_perm = 0), "without variance.*61 .g61., 62 .g62.")
  expect_identical(found$modules$size[found$modules$module == "blue"], 68L)
  few <- replace(labels, labels == "brown", c("brown", "brown", rep("grey", 13)))
  expect_warning(found <- gpuPreservation(reference, test, few, n_perm = 0), "fewer than 3 genes.*: brown")
  expect_setequal(found$modules$module, c("blue", "red", "green"))
})

test_that("methods have the numbers", {
  set.seed(9)
  found <- gpuPreservation(reference, test, labels, n_perm = 30)
  expect_output(print(found), paste0("4 modules of 220 genes: 40 reference samples, 30 test samples\n",
                                     "unsigned network, power 6, 30 p"))
  counts <- summary(found)
  expect_identical(c(counts$strong, counts$moderate, counts$none),
                   c(sum(found$modules$Zsummary >= 10), sum(abs(found$modules$Zsummary - 6) < 4),
                     sum(found$modules$Zsummary < 2)))
  frame <- as.data.frame(found)
  expect_identical(frame$Z.cor.kIM, unname(found$Z[, "cor.kIM"]))
  expect_identical(frame$p.meanAdj, unname(found$p.value[, "meanAdj"]))
  expect_identical(frame$meanAdj, unname(found$observed[, "meanAdj"]))
  none <- gpuPreservation(reference, test, labels, n_perm = 0)
  expect_true(all(is.na(none$Z)) && all(is.na(none$p.value)) && all(is.na(none$modules$Zsummary)))
  expect_output(print(none), "medianRank")
  with_device <- function(code) {
    grDevices::pdf(NULL)
    on.exit(grDevices::dev.off())
    code
  }
  expect_identical(with_device(plot(found)), found)
  expect_identical(with_device(plot(found, "medianRank")), found)
  expect_error(with_device(plot(none, "Zsummary")), "'y' must be one of \"auto\", \"medianRank\"")
})

test_that("any failed allocation is an error, and nothing is left", {
  draw <- function() {
    set.seed(10)
    gpuPreservation(reference, test, labels, n_perm = 2, threads = 2)$permuted
  }
  expect_match(walk_failures(draw, "host", "preservation"), "memory for (the reference's modules|a module's columns)")
})

test_that("modules of equal size are in the order of their numbers", {
  label <- rep(c(10, 2, 1, 0), each = 55)
  expect_identical(gpuPreservation(reference, test, label, n_perm = 0)$modules$module, c("1", "2", "10"))
})

test_that("bad input is an error that says what to do", {
  p <- function(...) gpuPreservation(..., n_perm = 0)
  expect_error(p(reference[, 0], test[, 0], character()), "must have at least 3 genes in common, not 0")
  expect_error(p(reference, test, labels[-1]), "a label for each of the 220 columns of 'reference', not 219")
  expect_error(p(reference, test, setNames(labels, paste0("h", 1:220))), "no label for 220 columns.*such as g1")
  expect_error(p(reference, test, list(labels)), "'modules' must be the result of gpuModules\\(\\), or a vector")
  expect_error(p(reference, test, rep(0, 220)), "no module with at least 3 genes")
  expect_error(p(reference, unname(test), labels), "'test' has no column names")
  expect_error(p(unname(reference), unname(test)[, -1], labels), "'reference' has 220 columns, and 'test' 219")
  expect_error(p(reference, test[, c(1, 1:219)], labels), "'test' has several columns g1")
  expect_error(p(reference, replace(test, 65, NA), labels), "'test' has missing or infinite values, in column 3 .g3.")
  expect_error(p(list(1), test, labels), "'reference' must be")
  expect_error(p(reference, "x.csv", labels), "'test' must be numeric")
  expect_error(p(reference[, 1:2], test, labels[1:2]), "at least 3 genes in common, not 2")
  expect_error(p(reference, test, labels, power = -1), "'power' must be a positive number, not -1")
  expect_error(p(reference, test, labels, network = "none"), "'network' must be one of")
  expect_error(gpuPreservation(reference, test, labels, n_perm = 1.5), "'n_perm' must be a whole number")
})
