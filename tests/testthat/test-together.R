# What goes with what: every pair of arguments is given together, to one data set, to two or to several subjects, which
# take turns. The call has the values of the definition, or its error is the sentence of a row of the table.

n_obs <- 24
x <- matrix(sin(seq_len(n_obs * 5)^1.5), n_obs, dimnames = list(paste0("s", seq_len(n_obs)), letters[1:5]))
x[, 2] <- x[, 1] + 0.3 * x[, 2]
inputs <- list(one = list(x), two = list(x, cos(x[, 1:3] * 9)), several = list(lapply(1:6, function(i) x + cos(i * x))))

# The table's sentences as patterns.
sentences <- gsub("\\\\\\{[a-z]+\\\\\\}", ".*", gsub("([][{}()+*^$|\\\\?.])", "\\\\\\1", gpucor:::APART))
sentences <- stats::setNames(paste0("^((subject|data set) [0-9]+[^:]*: |'[xy]': )?", sentences, "$"), names(sentences))

# Names of the values of a result that differ from R's definitions (helper-definition.R); NA without a definition. `a`:
# the call's arguments.
differing <- function(verb, a, data, result) {
  x <- data[[1L]]
  y <- if (length(data) > 1L) data[[2L]]
  half <- function(r) if (is.null(r) || nrow(r) != ncol(r)) as.vector(r) else r[lower.tri(r)]
  of_edges <- function(f, r) if (!is.null(edges <- defined_edges(r, a))) rowSums(f(r) * edges, na.rm = TRUE)
  r_of <- function(...) {
    if (is.list(x)) combined_cor(lapply(x, defined_cor, NULL, a, ...), a) else defined_cor(x, y, a, ...)
  }
  r <- if (!is.null(a$lag)) {
    lagged_cor(x, y, a)
  } else if (!is.null(a$lioness)) {
    lioness_cor(x, y, a)
  } else if (verb == "gpuCorWindows") {
    taper <- if (is.null(a$taper)) 1 else gaussian_taper(12, if (is.null(a$shape)) 0.075 else a$shape)
    lapply(list(1:12, 13:24), r_of, taper = taper)
  } else if (verb == "gpuTOM") {
    defined_overlap(x, a)
  } else if (!verb %in% c("gpuISC", "gpuCorCompare")) {
    r_of()
  }
  p <- if (verb %in% c("gpuCorTest", "gpuCorNetwork")) defined_p(r, x, y, a)
  over_windows <- function(f) apply(simplify2array(r), 1:2, f)
  both <- switch(verb, # got and wanted
    gpuCor = list(r = list(half(as.matrix(if (is.list(result)) result$coefficients else result)), half(r))),
    gpuCorTest = list(r = list(half(as.matrix(result$r)), half(r)),
                      p = list(if (!is.null(result$p.value)) half(as.matrix(result$p.value)), half(p))),
    gpuCorNetwork = {
      likelihoods <- function() {
        found <- clr_by_hand(r, colnames(x), colnames(if (is.null(y)) x else y))
        replace(found, found == 0, NA) # no edge
      }
      list(edges = both_edges(result, if (is.null(a$normalize)) r else likelihoods(), a, p = p))
    },
    gpuConnectivity = list(power = list(result$soft, if (!is.null(a$power)) rowSums(abs(r)^a$power, na.rm = TRUE)),
                           degree = list(result$degree, of_edges(function(r) 1, r)),
                           strength = list(result$strength, of_edges(abs, r)),
                           mean = list(result$mean, rowMeans(r, na.rm = TRUE)),
                           icc = list(result$icc, rowMeans(r^2, na.rm = TRUE)),
                           eigenvector = list(result$eigenvector, leading_vector(r, defined_edges(r, a)))),
    gpuCorWindows = switch(if (is.null(a$output)) "dist" else a$output,
      dist = list(r = list(unclass(result), vapply(r, half, numeric(10)))),
      network = list(first = both_edges(result[[1]], r[[1]], a), second = both_edges(result[[2]], r[[2]], a)),
      connectivity = list(degree = list(result$degree, sapply(r, of_edges, f = function(r) 1)),
                          strength = list(result$strength, sapply(r, of_edges, f = abs))),
      moments = if (is.null(defined_edges(r[[1]], a))) {
        sapply(c("mean", "sd", "min", "max"), function(f) list(result[[f]], half(over_windows(f))), simplify = FALSE)
      } else {
        list(sd = both_edges(result$sd, over_windows(sd), a))
      }),
    gpuISC = {
      own <- lapply(x, function(m) left_of(m, a)$m)
      combine <- if (is.null(a$combine)) "fisher" else a$combine
      of_target <- function(m) diag(stats::cor(m, a$target))
      means <- means_of_pairs(own, rep(1:2, each = 3), if (combine == "mean") identity else atanh)
      if (!is.null(a$output)) {
        list(isfc = list(half(as.matrix(result)), half(isfc(own, combine))))
      } else if (is.null(a$group)) {
        list(r = list(attr(result, "r"), if (is.null(a$target)) loo(own) else t(vapply(own, of_target, numeric(5)))))
      } else {
        between <- means[1, ] / 2 + means[2, ] / 2 - means[3, ]
        list(difference = list(result$difference, if (is.null(a$contrast)) means[1, ] - means[2, ] else between))
      }
    },
    gpuTOM = list(overlap = if (isS4(result)) both_edges(result, r, a) else list(half(as.matrix(result)), half(r))),
    gpuCorCompare = {
      z <- defined_differences(x, y, a)
      a[c("method", if (identical(a$sign, "each")) "sign")] <- NULL # differences have both signs
      pairs <- function(m) if (is.null(m) || is.null(a$seeds)) half(m) else m[, a$seeds]
      if (isS4(result)) {
        list(difference = both_edges(result, z$difference, a, if (is.null(a$components)) z$difference else z$t))
      } else {
        list(difference = list(result$difference, pairs(z$difference)), t = list(result$statistic, pairs(z$t)))
      }
    })
  both <- lapply(Filter(function(two) !any(vapply(two, is.null, NA)), both), lapply, as.vector)
  is_near <- function(a, b) identical(is.na(a), is.na(b)) && all(abs(a - b) <= 5e-6 * pmax(1, abs(b)), na.rm = TRUE)
  if (length(both)) names(both)[!vapply(both, function(two) is_near(two[[1]], two[[2]]), NA)] else NA
}

met <- character() # rows
judged <- list() # for each text of an error: TRUE if it is a sentence of the table
left <- list() # calls
uncompared <- character() # calls of whose values there is no definition

expect_told <- function(verb, arguments, data, label) {
  label <- paste0(verb, "(", label, ")")
  given <- c(data, list(backend = "cpu", threads = 1), arguments)
  quiet <- function(code) suppressMessages(suppressWarnings(code))
  result <- tryCatch(quiet(do.call(verb, given, quote = TRUE)), error = identity)
  if (!inherits(result, "error")) {
    wrong <- quiet(differing(verb, arguments, data, result))
    if (anyNA(wrong)) uncompared <<- c(uncompared, label)
    return(expect(anyNA(wrong) || !length(wrong), paste0(label, ": ", toString(wrong), " differ from the definition")))
  }
  if (inherits(result, "gpucor_error_value")) return(succeed()) # a check of one argument's value
  text <- conditionMessage(result)
  if (is.null(judged[[text]])) { # most texts come again
    is_row <- vapply(sentences, grepl, NA, text)
    met <<- union(met, names(sentences)[is_row])
    judged[[text]] <<- any(is_row)
  }
  expect(inherits(result, "gpucor_error") && judged[[text]], paste0(label, ": ", text))
}

# Every pair of values that the function takes, a part of them in the quick tier; the others are `left`. `always`:
# further arguments, unless a pair has others, or one of `criteria` instead.
expect_pairs <- function(verb, values, always = list(), on = names(inputs)) {
  known <- c(names(formals(verb)), gpucor:::offered_by(verb))
  values <- Filter(function(value) all(names(value) %in% known), values)
  pairs <- expand.grid(i = seq_along(values), j = seq_along(values), input = on, stringsAsFactors = FALSE)
  pairs <- pairs[pairs$j <= pairs$i, ]
  is_turn <- if (full_tier()) {
    (pairs$i + pairs$j + match(pairs$input, on)) %% length(on) == 0
  } else {
    seq_len(nrow(pairs)) %% 29 == 1
  }
  for (k in seq_len(nrow(pairs))) {
    of <- pairs[k, ]
    arguments <- c(values[[of$i]], values[[of$j]])
    if (!any(names(always) %in% names(criteria)) || !any(names(arguments) %in% names(criteria))) {
      arguments <- c(arguments, always)
    }
    label <- paste0(of$input, ", ", paste(names(values)[c(of$i, of$j)], collapse = " and "))
    call <- list(verb, arguments[!duplicated(names(arguments))], inputs[[of$input]], label)
    if (is_turn[k]) do.call(expect_told, call, quote = TRUE) else left[[length(left) + 1L]] <<- call
  }
}

adjustments <- list(
  weights = list(weights = rep(1:0, c(20, 4))), graded = list(weights = 1:24 / 24),
  frequency = list(weights = rep(1:2, 12), weights_are = "frequency"), kind = list(weights_are = "precision"),
  covariates = list(covariates = (1:24)^2), covariance = list(covariance = diag(24) + 0.5),
  bandpass = list(bandpass = c(0.02, 0.2), tr = 2), runs = list(runs = rep(1:2, each = 12)), df = list(df = 15),
  bartlett = list(df = "bartlett"), partial = list(partial = TRUE, shrinkage = 0.2),
  fallback = list(method = "bicor", options = list(pearsonFallback = "all")),
  pairwise = list(use = "pairwise.complete.obs"), double = list(precision = "double"),
  protect = list(covariates = (1:24)^2, protect = rep(0:1, 12)), alone = list(protect = rep(0:1, 12)),
  few = list(min_obs = 4), bulk = list(pseudobulk = rep(1:12, 2)), groups = list(groups = letters[5:1], method = "rv")
)
methods <- list(kendall = list(method = "kendall"), spearman = list(method = "spearman"), rv = list(method = "rv"),
                distance = list(method = "distance"), mi = list(method = "mi"), cosine = list(method = "cosine"),
                concordance = list(method = "concordance"),
                coherence = list(method = "coherence", options = list(segment = 12)))
subjects <- list(mean = list(combine = "mean"), fisher = list(combine = "fisher"), icc = list(combine = "icc2"),
                 quantile = list(combine = "quantile", probs = 0.3), fraction = list(combine = "fraction", above = 0.2),
                 above = list(above = 0.2), no_bound = list(combine = "fraction"), skips = list(na.rm = TRUE),
                 weighted = list(subject_weights = 1:6), fixed = list(effects = "fixed"))

permutations <- list(maxT = list(adjust = "maxT", n_perm = 9),
                     phase = list(adjust = "maxT", n_perm = 9, surrogate = "phase"),
                     rates = list(adjust = "fdr", n_perm = 9))
criteria <- list(threshold = list(threshold = 0.2), density = list(density = 0.5), k = list(k = 2),
                 p.value = list(p.value = 0.3), fdr = list(fdr = 0.3), several = list(threshold = c(0.1, 0.3)))
pair_mask <- list(pairs = list(pairs = pairMask(c(1, 1, 2, 2, 2), same = TRUE)),
                  pairs_of_two = list(pairs = pairMask(c(1, 1, 2, 2, 2), c(1, 2, 2), same = TRUE)))

test_that("networks have edges, or say what does not go together", {
  edges <- c(pair_mask, permutations, list(
    positive = list(sign = "positive"), clr = list(normalize = "clr"), lag = list(lag = -1:1),
    min_overlap = list(min_overlap = 5), mutual = list(mutual = TRUE),
    resample = list(resample = 2), fraction = list(fraction = 0.7),
    resampled_p = list(resample = 2, p.value = 0.3), lioness = list(lioness = 3)))
  expect_pairs("gpuCorNetwork", c(edges, adjustments, methods, subjects, criteria), criteria$threshold)
})

test_that("coefficients, tests and sums are there, or say what does not go together", {
  common <- c(adjustments, methods)
  expect_pairs("gpuCor", c(common, subjects, list(lag = list(lag = -1:1), test = list(test = TRUE),
                                                  list = list(output = "list"), min_overlap = list(min_overlap = 4))))
  expect_pairs("gpuCorTest", c(common, permutations, list(
    less = list(alternative = "less"), exact = list(exact = TRUE), intervals = list(conf.level = 0.9))),
    on = c("one", "two"))
  expect_pairs("gpuConnectivity", c(common, subjects, pair_mask, criteria[c("threshold", "density")], list(
    power = list(power = 2), maps = list(maps = c("mean", "icc")), eigenvector = list(maps = "eigenvector"),
    histogram = list(histogram = TRUE))), list(power = 1))
  expect_pairs("gpuCorWindows", c(common, subjects, pair_mask, criteria[c("threshold", "density", "k")], list(
    network = list(output = "network"), sums = list(output = "connectivity"), moments = list(output = "moments"),
    mutual = list(mutual = TRUE), taper = list(taper = "gaussian"), shape = list(shape = 0.1),
    sign = list(sign = "positive"))), list(width = 12, step = 12), on = c("one", "several"))
  expect_pairs("gpuISC", c(common, subjects[c("mean", "fisher", "skips")], list(
    n_perm = list(n_perm = 9), phase = list(n_perm = 9, surrogate = "phase"), alone = list(surrogate = "phase"),
    isfc = list(output = "isfc"), group = list(group = rep(1:2, each = 3), n_perm = 9),
    between = list(group = rep(1:2, each = 3), contrast = "between", n_perm = 9),
    target = list(target = cos(9 * x)))), on = "several")
  expect_pairs("gpuTOM", c(common, criteria[c("threshold", "density", "k")], list(
    network = list(output = "network"), matrix = list(output = "matrix"), combined = list(combine = "min"),
    quantile = list(combine = "quantile", probs = 0.3), calibrated = list(calibration = "single quantile"),
    unsigned = list(TOMType = "unsigned"))), list(power = 2), on = c("one", "several"))
})

test_that("groups are compared, or say what does not go together", {
  inputs$two <<- list(x, x[, 5:1] + sin(x))
  inputs$lists <<- list(inputs$several[[1]], lapply(1:6, function(i) x[, 5:1] + cos(i * x)))
  colnames(inputs$two[[2]]) <<- colnames(x)
  for (i in 1:6) colnames(inputs$lists[[2]][[i]]) <<- colnames(x)
  expect_pairs("gpuCorCompare", c(adjustments[c(1:9, length(adjustments))], methods, pair_mask, criteria[-6], list(
    n_perm = list(n_perm = 9), paired = list(paired = TRUE), design = list(design = cbind(1, 1:6), contrast = c(0, 1)),
    contrast = list(contrast = 1), components = list(components = "size"),
    other_components = list(components = "size", density = 0.5, n_perm = 9),
    with_components = list(components = "size", threshold = 0.5, n_perm = 9), each = list(sign = "each"),
    enhanced = list(components = "tfce", n_perm = 9), powers = list(enhance = c(1, 1)), classes = list(classes = 0.1),
    group = list(group = rep(1:2, 12)), fixed = list(effects = "fixed"), negative = list(sign = "negative"),
    seeds = list(seeds = 1:2), partial = list(partial = TRUE, shrinkage = 0.2))), on = c("two", "several", "lists"))
})

test_that("few results have values without a definition", {
  expect_identical(uncompared, character())
})

test_that("every row of the table is met", {
  skip_if_not(full_tier(), "all pairs are in the full tier")
  # rows of plans, files, shards, factors, modules and group models, and of three features, have tests elsewhere
  elsewhere <- grepl(paste0("plan|file|shards|gpuAssociation|gpuModules|several levels|shrunken|tr & |data & |",
                            " & .* & |unknown times|one subject|before parts|p values by fixed effects|",
                            "given coefficients|several effects|unequal|blocks|protect & |miss some"),
                     names(sentences))
  likely_for <- function(row) { # calls with most of the row's words first
    words <- vapply(left, function(call) sum(vapply(c(call[[1]], names(call[[2]])), grepl, NA, row, fixed = TRUE)), 0)
    left[order(-words)[seq_len(sum(words > 0))]]
  }
  for (row in setdiff(names(sentences)[!elsewhere], met)) {
    for (call in likely_for(row)) {
      if (row %in% met) break
      do.call(expect_told, call, quote = TRUE)
    }
  }
  expect_identical(setdiff(names(sentences)[!elsewhere], met), character())
})
