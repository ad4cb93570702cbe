# What must not matter, over verbs, measures and arguments: the order of columns and rows, further columns, a constant,
# the class of the data, shards and threads. Values are compared by the names of their columns.

set.seed(31)
x <- normal(40, 12) + outer(rnorm(40), rep(0:3, 3))
dimnames(x) <- list(paste0("s", 1:40), paste0("g", 1:12))
gaps <- replace(x, cbind(c(3, 20), c(12, 5)), NA) # 5, as 1 and 9, is uncorrelated
holes <- replace(x, seq(2, 480, by = 3), NA) # pairs share 27 rows, or 13
flat <- replace(x, cbind(rep(1:30, 2), rep(c(1, 5), each = 30)), 1) # two columns without a deviation
about <- data.frame(age = rnorm(40), site = gl(2, 20, labels = c("a", "b")), row.names = rownames(x))
traits <- data.frame(dose = rnorm(40), score = x[, 1] + rnorm(40), row.names = rownames(x))

# ---- verbs: a named vector of values

of_pairs <- function(m) {
  m <- as.matrix(m)
  order <- order(rownames(m))
  m <- m[order, order]
  stats::setNames(m[lower.tri(m)], outer(rownames(m), colnames(m), paste)[lower.tri(m)])
}
of_edges <- function(edges, value) {
  ends <- rbind(pmin(edges$from, edges$to), pmax(edges$from, edges$to))
  found <- stats::setNames(edges[[value]], paste(ends[1, ], ends[2, ]))
  found[order(names(found))]
}
by_name <- function(values, names) stats::setNames(values, names)[order(names)]
verbs <- list(
  gpuCor = function(x, ...) of_pairs(gpuCor(x, ...)),
  threshold = function(x, ...) of_edges(gpuCorNetwork(x, ..., threshold = 0.2, output = "edges"), "r"),
  density = function(x, ...) of_edges(gpuCorNetwork(x, ..., density = 0.3, output = "edges"), "r"),
  k = function(x, ...) of_edges(gpuCorNetwork(x, ..., k = 2, output = "edges"), "r"),
  p.value = function(x, ...) of_edges(gpuCorNetwork(x, ..., p.value = 0.2, output = "edges"), "p.value"),
  fdr = function(x, ...) of_edges(gpuCorNetwork(x, ..., fdr = 0.5, output = "edges"), "fdr"),
  lioness = function(x, ...) {
    values <- gpuCorNetwork(x, ..., density = 0.3, lioness = c("s8", "s30"))
    edges <- attr(values, "edges")
    edges$value <- values[, "s8"] + 1000 * values[, "s30"]
    of_edges(edges, "value")
  },
  gpuCorTest = function(x, ...) of_pairs(gpuCorTest(x, ...)$p.value),
  gpuConnectivity = function(x, ...) {
    found <- gpuConnectivity(x, ..., power = 2)
    by_name(found$soft[, 1], rownames(found$soft))
  },
  gpuTOM = function(x, ...) of_pairs(gpuTOM(x, ..., power = 2)),
  gpuAssociation = function(x, ..., rows = seq_len(nrow(traits))) {
    found <- gpuAssociation(x, traits[rows, ], ..., p.value = 1)
    by_name(found$p.value, paste(found$from, found$to))
  }
)
of_own_pair <- c("gpuCor", "threshold", "p.value", "gpuCorTest", "gpuAssociation") # values do not depend on other pairs

# ---- arguments: `x`, `shift`: FALSE if a constant matters, `time`: TRUE if the order of rows does, `all`: TRUE if
# further columns do

settings <- list(
  pearson = list(x), double = list(x, precision = "double"), kendall = list(x, method = "kendall"),
  spearman = list(gaps, method = "spearman", use = "pairwise"), pairwise = list(gaps, use = "pairwise"),
  complete = list(gaps, method = "kendall", use = "complete.obs"),
  min_obs = list(holes, use = "pairwise", min_obs = 20),
  bicor = list(gaps, method = "bicor", use = "complete.obs"),
  fallback = list(flat, method = "bicor", options = list(pearsonFallback = "all")),
  distance = list(x, method = "distance"), mi = list(x, method = "mi"),
  cosine = list(x, method = "cosine", shift = FALSE), concordance = list(x, method = "concordance", shift = FALSE),
  coherence = list(x, method = "coherence", time = TRUE),
  partial = list(x, partial = TRUE, shrinkage = 0.3, all = TRUE),
  partial_gaps = list(gaps, partial = TRUE, use = "complete.obs", all = TRUE),
  covariates = list(x, covariates = ~ age + site, data = about),
  protect = list(gaps, covariates = ~ age, protect = ~ site, data = about, use = "complete.obs"),
  copied = list(x, covariates = ~ site, protect = ~ copy, data = transform(about, copy = site)),
  weights = list(x, weights = rep(c(1, 0, 1), c(4, 3, 33))),
  graded = list(x, weights = 1:40 / 40, method = "spearman"),
  bandpass = list(x, bandpass = c(0.05, 0.2), tr = 2, time = TRUE)
)

arguments_of <- function(given) given[setdiff(names(given), c("", "shift", "time", "all"))]

# ---- what must not matter: a function of the data and the arguments that returns both, changed

drawn_columns <- c(7, 2, 12, 1, 5, 11, 3, 10, 4, 9, 8, 6)
drawn_rows <- rev(seq_len(40))
same_rows <- function(arguments) { # arguments that have a value for each row
  for (name in intersect(c("weights", "data"), names(arguments))) {
    values <- arguments[[name]]
    arguments[[name]] <- if (is.data.frame(values)) values[drawn_rows, ] else values[drawn_rows]
  }
  arguments$rows <- drawn_rows # of traits
  arguments
}
file_of <- function(x) {
  file <- tempfile()
  writeBin(as.vector(x), file)
  gpuCorFile(file, dim(x), dimnames = dimnames(x))
}
changes <- list(
  columns = function(x, arguments) list(x[, drawn_columns], arguments),
  more = function(x, arguments) {
    list(cbind(x, matrix(sin((1:120)^2), 40, dimnames = list(NULL, c("a", "b", "z")))), arguments)
  },
  rows = function(x, arguments) list(x[drawn_rows, ], same_rows(arguments)),
  constant = function(x, arguments) list(x + rep(2^(0:3), each = 40), arguments),
  ts = function(x, arguments) list(stats::ts(x), arguments),
  frame = function(x, arguments) list(as.data.frame(x), arguments),
  sparse = function(x, arguments) list(Matrix::Matrix(x, sparse = TRUE), arguments),
  file = function(x, arguments) list(file_of(x), arguments),
  list = function(x, arguments) list(list(x), c(arguments, combine = "mean")),
  threads = function(x, arguments) list(x, c(arguments, threads = 3)),
  shards = function(x, arguments) list(x, c(arguments, shards = 1))
)
if (!requireNamespace("future.apply", quietly = TRUE)) changes$shards <- NULL

# A matrix of class "ts" has no row names; these verbs take one data set.
refused <- c("lioness, ts", "lioness, list", "gpuCorTest, list", "gpuAssociation, list",
             paste0(setdiff(names(verbs), c("threshold", "density", "k", "p.value", "fdr")), ", shards"))

test_that("values do not depend on order, further columns, a constant, the class of the data, threads and shards", {
  rows <- covering(verb = names(verbs), setting = names(settings), change = names(changes))
  compared <- 0
  for_rows(rows, function(verb, setting, change, label) {
    given <- settings[[setting]]
    matters <- c(more = isTRUE(given$all) || !verb %in% of_own_pair, rows = isTRUE(given$time),
                 constant = isFALSE(given$shift))
    without_shards <- change == "shards" && !is.null(given$protect)
    if (isTRUE(matters[change]) || without_shards || paste0(verb, ", ", change) %in% refused) return()
    own <- arguments_of(given)
    call <- function(x, arguments) {
      if (verb != "gpuAssociation") arguments$rows <- NULL
      suppressWarnings(suppressMessages(do.call(verbs[[verb]], c(list(x), arguments))))
    }
    values <- tryCatch(call(given[[1]], own), gpucor_error_input = function(e) NULL) # they do not go together
    if (is.null(values)) return()
    changed <- do.call(call, changes[[change]](given[[1]], own))
    if (change == "more") changed <- changed[names(values)]
    compared <<- compared + 1
    expect_equal(changed, values, tolerance = 2e-6, label = label)
  })
  expect_gt(compared, 150)
})

test_that("p values of shrunken partial correlations do not depend on the order of many columns", {
  set.seed(5)
  x <- matrix(rnorm(60 * 2300), 60, dimnames = list(NULL, 1:2300))
  x[1:25, 3] <- NA # 2,000 columns are a sample of all
  count <- function(x) {
    gpuCorNetwork(x, p.value = 0.01, partial = TRUE, shrinkage = 0.5, use = "complete.obs")@edges / choose(2300, 2)
  }
  expect_equal(count(x[, c(1:2, 4, 3, 5:2300)]), count(x), tolerance = 0.02) # another sample
  expect_lt(count(x), 0.012)
})

# ---- several are one by one

test_that("networks of several values, and subjects, are those of one by one", {
  for (setting in setdiff(names(settings), "kendall")) {
    given <- settings[[setting]]
    own <- arguments_of(given)
    call <- function(verb, ...) suppressWarnings(do.call(verb, c(given[1], own, list(...))))
    for (values in list(list(threshold = c(0.3, 0.1)), list(density = c(0.1, 0.4)), list(k = c(1, 3)))) {
      several <- do.call(call, c(list(gpuCorNetwork), values))
      for (i in 1:2) {
        one <- do.call(call, c(list(gpuCorNetwork), lapply(values, `[`, i)))
        expect_equal(as.matrix(several[[i]]), as.matrix(one), tolerance = 1e-6, label = paste(setting, names(values)))
      }
    }
    others <- lapply(1:3, function(i) given[[1]] + 3 * normal(40, 12, seed = i))
    each <- lapply(others, function(x) {
      suppressWarnings(as.matrix(do.call(gpuCor, c(list(x), replace(own, "precision", "double")))))
    })
    arguments <- own
    arguments[["data"]] <- if (!is.null(own$data)) list(own$data, own$data, own$data)
    together <- suppressWarnings(do.call(gpuCor, c(list(others, combine = "mean", precision = "double"),
                                                   arguments[names(arguments) != "precision"])))
    expect_equal(as.matrix(together), Reduce(`+`, each) / 3, tolerance = 1e-6, label = setting)
  }
})

test_that("networks of several samples have the values of each alone", {
  compared <- 0
  for (setting in names(settings)) {
    given <- settings[[setting]]
    own <- arguments_of(given)
    network <- function(...) suppressWarnings(suppressMessages(do.call(gpuCorNetwork, c(given[1], own, list(...)))))
    values <- tryCatch(network(density = 0.05, lioness = c(12, 30)), gpucor_error_input = function(e) NULL)
    if (is.null(values)) next
    edges <- attr(values, "edges") # few columns have one
    for (k in 1:2) {
      one <- as.matrix(network(threshold = 0, sign = "absolute", lioness = c(12, 30)[k]))[cbind(edges$from, edges$to)]
      kept <- one != 0 # a measure of one sign has no others
      expect_equal(unname(values[kept, k]), one[kept], tolerance = 1e-6, label = setting)
    }
    compared <- compared + 1
  }
  expect_gt(compared, 12)
})

test_that("modules are tested as their eigengenes are, with their covariates", {
  skip_if_not_installed("WGCNA")
  set.seed(32)
  batch <- gl(2, 20)
  dose <- rnorm(40) + as.numeric(batch)
  genes <- matrix(rnorm(40 * 60), 40) + outer(as.numeric(batch), rnorm(60)) + outer(rnorm(40), rep(0:2, 20))
  modules <- suppressWarnings(gpuModules(genes, power = 4, minModuleSize = 10, covariates = ~ batch, protect = ~ dose,
                                         data = data.frame(batch, dose)))
  skip_if(ncol(modules$eigengenes) < 2)
  own <- suppressMessages(gpuAssociation(modules, data.frame(dose)))
  truth <- vapply(modules$eigengenes, function(e) summary(lm(e ~ dose + batch))$coefficients["dose", 4], 0)
  expect_equal(unname(as.vector(own$p.value)), unname(truth), tolerance = 1e-5)
})

# ---- a changed run is what a run of the changed data is (R/data-changes.R)

made_run <- function(given, ..., rows = NULL) {
  own <- c(arguments_of(given), list(...))
  data <- if (is.null(rows)) given[[1]] else given[[1]][rows, ]
  for (name in intersect(c("weights", "data"), names(own))) {
    if (!is.null(rows)) own[[name]] <- if (is.data.frame(own[[name]])) own[[name]][rows, ] else own[[name]][rows]
  }
  method <- if (is.null(own$method)) "pearson" else own$method
  use <- if (is.null(own$use)) "everything" else own$use
  specs <- do.call(gpucor:::specs_of, c("gpuCor", own[!names(own) %in% c("method", "use")]))
  suppressWarnings(gpucor:::new_run(NULL, specs, data, NULL, method, use, takes = "summaries"))
}
values_in <- function(run) {
  n <- ncol(run$x)
  suppressWarnings(matrix(gpucor:::values_of_pairs(run, "square"), n))
}

test_that("a run of some columns has that block of the values of all", {
  picked <- c(11, 2, 5, 9, 12)
  for (setting in names(settings)) {
    given <- settings[[setting]]
    run <- made_run(given)
    block <- values_in(gpucor:::with_columns(run, picked))
    expect_equal(block, values_in(run)[picked, picked], tolerance = 1e-6, label = setting)
  }
  several <- made_run(list(list(x, `colnames<-`(x[, 12:1], colnames(x)), x + flat), combine = "mean"))
  expect_equal(values_in(gpucor:::with_columns(several, picked)), values_in(several)[picked, picked], tolerance = 1e-6)
  masked <- gpucor:::with_pairs(made_run(list(x)), pairMask(rep(1:3, 4), different = TRUE))
  few <- gpucor:::with_columns(masked, picked)
  expect_identical(few$pairs, sum(dist(rep(1:3, 4)[picked]) > 0) + 0)
  expect_identical(few$mask$x$label, masked$mask$x$label[picked])
})

test_that("some columns of context likelihoods keep their backgrounds", {
  made <- function(y) {
    gpucor:::clr_run(gpucor:::new_run(NULL, gpucor:::specs_of("gpuCor"), x, y, "pearson", "everything",
                                      list(name = "threshold", value = 0), "absolute", takes = "subjects"))
  }
  likelihoods <- function(run) as.matrix(gpucor:::plain_matrix(gpucor:::network_rows(run), run))
  one <- made(NULL)
  expect_equal(likelihoods(gpucor:::with_columns(one, c(9, 2, 5))), likelihoods(one)[c(9, 2, 5), c(9, 2, 5)])
  two <- made(x[, 12:6])
  all <- likelihoods(two)
  expect_equal(likelihoods(gpucor:::with_columns(two, c(5, 2), c(4, 1, 7))), all[c(5, 2), c(4, 1, 7)])
  expect_equal(likelihoods(gpucor:::with_columns(two, c(5, 2))), all[c(5, 2), ])
  expect_equal(likelihoods(gpucor:::with_columns(two, y = c(4, 1, 7))), all[, c(4, 1, 7)])
})

test_that("a run of some rows has the values of these rows alone", {
  drawn <- c(1:2, 8:30, 33, 36:40)
  for (setting in setdiff(names(settings), c("coherence", "bandpass"))) { # series have a time
    given <- settings[[setting]]
    all <- gpucor:::with_criterion(made_run(given), name = "threshold", value = 0)
    some <- suppressWarnings(gpucor:::resampled_run(all, intersect(drawn, gpucor:::resampled_units(all))))
    expect_equal(values_in(some), values_in(made_run(given, rows = drawn)), tolerance = 1e-6, label = setting)
  }
})

test_that("values to which a design has been applied give what the design gives", {
  for (setting in c("covariates", "protect", "bandpass", "weights")) {
    run <- made_run(settings[[setting]])
    applied <- if (gpucor:::is_adjusted_run(run)) gpucor:::residualized_run(run, "part") else run
    expect_null(applied$design$basis)
    expect_equal(values_in(applied), values_in(run), tolerance = 1e-6, label = setting)
  }
})

test_that("components, their p values and enhanced ones do not depend on the order of columns", {
  subject <- function(i, shared) normal(30, 12, seed = i) + outer(normal(30, 1, seed = i + 100)[, 1], shared)
  named <- function(m) `colnames<-`(m, colnames(x))
  ones <- lapply(1:9, function(i) named(subject(i, rep(c(0, 0.9, 0), c(2, 6, 4)))))
  others <- lapply(11:19, function(i) named(subject(i, rep(0, 12))))
  compared <- function(columns, ...) {
    set.seed(8)
    pick <- function(m) m[, columns]
    gpuCorCompare(lapply(ones, pick), lapply(others, pick), ..., n_perm = 49)
  }
  p_of <- function(columns, kind) {
    of_edges(as.data.frame(compared(columns, components = kind, threshold = 2)), "p.component")
  }
  found <- list(
    size = function(columns) p_of(columns, "size"), sum = function(columns) p_of(columns, "sum"),
    tfce = function(columns) of_pairs(compared(columns, components = "tfce")$p.adjusted)
  )
  for (name in names(found)) {
    values <- found[[name]](1:12)
    expect_true(any(values < 0.05) && any(values > 0.05), label = name)
    expect_equal(found[[name]](drawn_columns), values, label = name)
  }
})
