#' Association of variables with traits
#'
#' `gpuAssociation()` tests every column of `x` against every trait, adjusted for covariates: genes or module eigengenes
#' against clinical traits, or transcripts against genotypes as in Matrix eQTL. For Pearson's correlation, t and p value
#' are those of the trait in `lm(gene ~ trait + covariates)`.
#'
#' For Spearman's rho with covariates they are those of the regression of ranks on ranks; for the others see
#' [gpuCorTest()]. [gpucor-p-values] says for which data p values are valid.
#'
#' With `p.value` or `fdr` only the pairs that meet it are stored. All pairs take 40 bytes each.
#'
#' **Factors.** A factor or a column of text with two levels becomes 0 and 1, named by the level that is 1, as in
#' [stats::lm()]. One with more levels is tested as a whole, by Pearson's correlation only: the statistic is F of the
#' analysis of variance, `anova(lm(gene ~ covariates), lm(gene ~ covariates + trait))`, without covariates that of
#' `oneway.test(gene ~ trait, var.equal = TRUE)`. Its `r` is R (eta without covariates), which has no sign: R^2 is the
#' fraction of the variance, after adjustment, that the factor explains. `x <- apply(x, 2, rank)` tests ranks. To test
#' each level, make indicator variables: `sapply(levels(trait), "==", trait)`.
#'
#' @order 1
#' @param x Variables in columns, observations in rows, as in [gpuCor()] for one subject; or modules of [gpuModules()],
#'   whose eigengenes are taken, with the modules' covariates unless others are given.
#' @param traits A matrix, vector, factor or data frame with as many rows as `x`, or anything else that `x` may be, such
#'   as genotypes in a file. For an experiment ([gpucor-containers]): also names of its sample variables.
#' @param p.value,fdr A number in (0, 1\]: the maximum p value, or false discovery rate (Benjamini and Hochberg).
#' @param output A string: `"edges"`, a data frame of pairs; `"matrix"`, all pairs as matrices.
#' @param method,use Strings: the measure, `r measures_in_words()`, see [gpucor-measures]; what to do with missing
#'   values, see [gpuCor()]. By default each pair uses its complete observations, as [stats::lm()] does.
#' @param tr A number: seconds between observations, see [gpuAdjust()].
#' @param ...,adjustment,permutation,control `r offered_words("gpuAssociation")`
#'   Both `x` and `traits` are adjusted. `precision` is `"double"` by default; `"single"` is faster and has p values
#'   with a relative error of up to a thousandth. `adjust` permutes the rows of `traits`, or takes surrogates of
#'   their series: `p.value` (`"maxT"`) or `fdr` (`"fdr"`) is then the maximum of `p.adjusted`.
#' @return `output = "edges"`: a data frame of class `gpuAssociationPairs`, the smallest p value first: `from` (column
#'   of `x`), `to` (trait), `r`, `statistic` (t; Kendall: z; of a factor with more than two levels F), `p.value`,
#'   `fdr`, and `p.adjusted` with `adjust`. Attribute `tests` is the number of pairs that have a coefficient; `fdr` is
#'   the p value adjusted for all of these. With `p.value` it is computed from the pairs that were kept, as in Matrix
#'   eQTL, so that the last ones can be larger than among all pairs.
#'
#'   `output = "matrix"`: a list of class `gpuAssociation` with matrices `ncol(x)` x traits: `r`, `statistic`,
#'   `p.value`, `fdr`, `p.adjusted`; and `n`, `df` (single numbers if all pairs have the same), `tests`, `method`. With
#'   a factor of more than two levels also `num_df`, F's first degrees of freedom; `df` has the second ones.
#'   `as.data.frame()` makes the data frame of it.
#'
#'   `plot()` of both: `type` is `"p.value"`, `"volcano"` or `"heatmap"`, a cell with r and p for each variable and
#'   trait (of a data frame, the `max = 40` variables with the smallest p values), see [gpuCorTest()].
#' @examples
#' set.seed(1)
#' traits <- data.frame(age = round(runif(60, 20, 70)), sex = rep(c("f", "m"), 30))
#' genes <- matrix(rnorm(60 * 200), 60, dimnames = list(NULL, paste0("gene", 1:200)))
#' genes[, 1:5] <- genes[, 1:5] + traits$age / 20
#' gpuAssociation(genes, traits, fdr = 0.05)
#' gpuAssociation(genes, traits["age"], covariates = ~ sex, data = traits, output = "matrix")
#' summary(lm(genes[, "gene1"] ~ age + sex, traits))$coefficients["age", ] # the same t and p
#' gpuAssociation(genes, data.frame(stage = rep(c("I", "II", "III"), 20)), p.value = 0.01)
#' @export
gpuAssociation <- function(x, traits, p.value = NULL, fdr = NULL, method = "pearson", use = "pairwise.complete.obs",
                           output = c("edges", "matrix"), tr = NULL, ...,
                           adjustment = NULL, permutation = NULL, control = NULL) {
  specs <- specs_of("gpuAssociation", tr = tr, ...) # a formal, as "tr" would abbreviate 'traits'
  output <- check_choice(output, c("edges", "matrix"), "output")
  method <- check_method(method)
  if (inherits(x, "gpuModules")) {
    if (inherits(x, "gpuConsensusModules")) {
      fail("'x' has modules of several data sets; give the eigengenes of one, x$eigengenes[[1]]")
    }
    if (is.null(specs$adjustment$covariates) && !"covariates" %in% ...names()) {
      specs <- specs_of("gpuAssociation", tr = tr, covariates = x$covariates, ...) # those of their genes
    }
    x <- x$eigengenes
  }
  if (is.null(specs$control$precision)) specs$control$precision <- "double"
  check_one(x, "x")
  is_vector <- is_variables(x) && is.null(dim(x))
  if (!is_vector) check_matrix_like(x, COLUMNS)
  traits <- trait_columns(traits, x, method)
  if (is_vector) x <- as.matrix(x)
  has_factors <- length(traits$factors) > 0L
  found <- features_of("gpuAssociation", specs, environment())
  check_together(found, if (has_factors) "several levels")
  criterion <- check_criterion(list(p.value = p.value, fdr = fdr), required = FALSE)
  max_t <- max_t_of(specs$permutation)
  # The functions that are called name the traits 'y'.
  if (is.null(criterion) || has_factors || !is.null(max_t)) {
    own <- c(list(x, traits$values, method, use), specs[c("adjustment", "permutation", "control")])
    test <- naming(do.call(gpuCorTest, own, quote = TRUE), "y", "traits")
    if (has_factors) {
      run <- repeated(new_run(NULL, specs, x, traits$values, method, "pairwise.complete.obs", tests = TRUE))
      test <- with_factors(test, traits$factors, run)
    }
    p <- test$p.value
    n <- test$n
    df <- df_of_pairs(test)
    tests <- sum(!is.na(test$r))
    fdr <- if (!is.null(p)) structure(false_discovery_rates(p, tests), dim = dim(p), dimnames = dimnames(p))
    tested <- list(r = test$r, statistic = test$statistic, p.value = p, fdr = fdr, p.adjusted = test$p.adjusted)
    tested <- c(Filter(Negate(is.null), tested),
                list(n = if (length(n) > 0L && all(n == n[1L])) n[1L] else n,
                     df = if (length(df) > 1L && all(df == df[1L])) df[1L] else df),
                if (!is.null(test$num_df)) list(num_df = test$num_df), list(tests = tests, method = test$method))
    tested <- structure(tested, class = c("gpuAssociation", "gpuTests", "gpuCorResult"),
                        adjusted = attr(test, "adjusted"))
    if (output == "matrix") return(tested)
    factors <- if (has_factors) colnames(test$r)[as.integer(names(traits$factors))]
    frame <- as.data.frame(tested)
    if (!is.null(criterion)) { # of adjusted p values, if there are any
      p <- if (is.null(frame$p.adjusted)) frame[[criterion$name]] else frame$p.adjusted
      frame <- frame[which(p <= criterion$value), ]
      frame <- structure(frame, row.names = seq_len(nrow(frame)), tests = tested$tests,
                         adjusted = attr(tested, "adjusted"))
    }
    return(new_association_pairs(frame, method, factors))
  }
  naming({
    run <- new_run(NULL, specs, x, traits$values, method, use, criterion, "absolute")
    significant_pairs(run)
  }, "y", "traits")
}

# ---- traits

# Returns list(values: a numeric matrix with one named column per trait, or data that are read in blocks; factors: those
# of several levels, named by their columns' numbers).
trait_columns <- function(traits, x, method) {
  are_names <- is.character(traits) && is.null(dim(traits)) && is_experiment(x)
  if (are_names) traits <- sample_columns(x, traits, "traits")
  check_type(traits, "traits", !is.null(traits) && !is_subjects(traits),
             "a numeric matrix or vector, a factor or a data frame",
             if (is.list(traits)) "; as.data.frame(traits) has its elements as columns")
  check_slots(traits, "traits")
  n_obs <- if (is_experiment(x)) ncol(x) else NROW(x)
  n <- if (is_experiment(traits)) ncol(traits) else NROW(traits)
  if (n != n_obs) fail("'traits' has ", n_of(n, "row"), ", and 'x' has ", n_of(n_obs, "observation"))
  observations <- observations_of(x)
  if (is.data.frame(traits) && !is.null(observations$names)) { # a column of these names is no trait
    is_id <- vapply(traits, function(values) {
      (is.character(values) || is.factor(values)) && !anyDuplicated(values) && setequal(values, observations$names)
    }, NA)
    if (any(is_id)) {
      row.names(traits) <- as.character(traits[[which(is_id)[1L]]])
      traits <- traits[!is_id]
    }
  }
  check_observations(traits, "traits", observations)
  codes <- if (are_names) "x" else "traits" # R expressions of the traits, for messages
  if (is.matrix(traits)) {
    codes <- paste0(codes, "[, ", seq_len(ncol(traits)), "]")
  } else if (!is.null(dim(traits))) {
    codes <- paste0(codes, "$", as_code(colnames(traits))) # also of an experiment
  }
  if (is.character(traits) && !is.null(dim(traits))) {
    traits <- as.data.frame(traits)
  } else if (is.factor(traits) || is.character(traits)) {
    traits <- list2DF(list(trait = traits))
  } else if (isS4(traits) && inherits(traits, "DataFrame")) {
    traits <- as.data.frame(traits, optional = TRUE)
  }
  if (!is.data.frame(traits)) return(list(values = without_observation_names(traits)))
  numbers <- Map(as_trait, traits, names(traits), codes, method)
  values <- do.call(cbind, lapply(numbers, `[[`, "values"))
  if (is.null(values)) fail("'traits' has no columns")
  colnames(values) <- vapply(unname(numbers), `[[`, "", "name")
  factors <- stats::setNames(lapply(numbers, `[[`, "factor"), seq_along(numbers))
  list(values = values, factors = Filter(Negate(is.null), factors))
}

# Returns list(values, name) of a column, and `factor` if it has several levels. These have irregular codes, which no
# covariate explains unless it explains the factor. `code`: an R expression for the column.
as_trait <- function(trait, name, code, method) {
  trait <- as_ordinary(trait, "traits")
  if (is_variables(trait) && is.null(dim(trait))) return(list(values = as.numeric(trait), name = name))
  if (!is.factor(trait) && !is.character(trait)) {
    fail("'traits' must be numbers, text or factors; column \"", name, "\" is of class ", class(trait)[1L])
  }
  factor <- droplevels(as.factor(trait))
  levels <- levels(factor)
  if (length(levels) == 2L) return(list(values = as.numeric(factor) - 1, name = paste0(name, levels[2L])))
  problem <- if (length(levels) < 2L) {
    paste0(n_of(length(levels), "level"), "; leave it out")
  } else if (is.character(trait) && are_number_texts(levels)) {
    paste0("numbers as text; give as.numeric(", code, "), or factor(", code, ") if they are levels")
  } else {
    check_text(trait, name, "traits")
    if (method != "pearson") { # the code keeps missing values, which model.matrix() would drop
      paste0(n_of(length(levels), "level"), ", whose F test is for method = \"pearson\", not \"", method,
             "\"; give a column for each, sapply(levels(factor(", code, ")), `==`, ", code, ")")
    }
  }
  if (!is.null(problem)) fail("'traits' has column \"", name, "\" of ", problem)
  list(values = (as.numeric(factor) * (sqrt(5) - 1) / 2) %% 1, name = name, factor = factor)
}

# ---- factors with several levels: one-way analysis of variance, adjusted for covariates as coefficients are

# Returns the result of gpuCorTest() with the columns of `factors` replaced by their F tests, and with df and num_df of
# all pairs. `factors`: a list of factors, named by their columns' numbers; run$y has their codes.
with_factors <- function(test, factors, run) {
  design <- run$design
  weights <- if (is.null(design$weights)) rep(1, nrow(run$x)) else design$weights
  if (test$use %in% c("complete.obs", "na.or.complete")) {
    both <- c(column_blocks(run$x, function(values) rowSums(is.na(values))), list(rowSums(is.na(run$y))))
    weights[Reduce(`+`, both) > 0] <- 0
  }
  test$num_df <- replace(test$r, TRUE, 1)
  test$df <- replace(test$r, TRUE, df_of_pairs(test))
  for (name in names(factors)) {
    k <- as.integer(name)
    fit <- factor_fits(run$x, factors[[name]], weights, design$basis)
    df <- test$df[, k] + 1 - fit$rank
    statistic <- (fit$explained / fit$rank) / ((1 - fit$explained) / df)
    none <- is.na(test$r[, k]) | fit$rank == 0
    untested <- none | is.na(test$p.value[, k]) | df < 1
    test$r[, k] <- replace(sqrt(fit$explained), none, NA)
    test$statistic[, k] <- replace(statistic, untested, NA)
    test$p.value[, k] <- replace(stats::pf(statistic, fit$rank, df, lower.tail = FALSE), untested, NA)
    test$num_df[, k] <- fit$rank
    test$df[, k] <- df
  }
  test
}

# Returns the degrees of freedom of each pair, or one number.
df_of_pairs <- function(test) {
  if (is.null(test$df) && is_t_distributed(test$method)) test$n - measure_of(test$method)$df_taken else test$df
}

# Returns for each column of x the fraction of its variance that a factor explains, after regression on the basis, and
# the factor's degrees of freedom: list(explained, rank). The basis has been multiplied by the roots of the weights. The
# squared effects of a QR decomposition are the sums of squares of lm().
factor_fits <- function(x, factor, weights, basis) {
  found <- lapply(column_blocks(x, function(values) {
    values[is.infinite(values)] <- NA # such columns have no coefficient
    fits <- matrix(0, 2L, ncol(values))
    for (set in sets_of_rows(values)) {
      rows <- set$rows[weights[set$rows] > 0 & !is.na(factor[set$rows])]
      if (!length(rows)) next
      root <- sqrt(weights[rows])
      levels <- outer(as.integer(factor[rows]), unique(as.integer(factor[rows])), `==`)
      regressors <- cbind(root, basis[rows, , drop = FALSE])
      whole <- qr(cbind(regressors, levels * root), tol = SAME_SPAN)
      taken <- qr(regressors, tol = SAME_SPAN)$rank
      effects <- qr.qty(whole, values[rows, set$columns, drop = FALSE] * root)^2
      sum_of <- function(at) colSums(effects[at, , drop = FALSE])
      at <- seq_along(root)
      of_factor <- sum_of(at > taken & at <= whole$rank)
      fits[, set$columns] <- rbind(of_factor / (of_factor + sum_of(at > whole$rank)), whole$rank - taken)
    }
    fits
  }), t)
  found <- do.call(rbind, found)
  list(explained = found[, 1L], rank = found[, 2L])
}

# ---- pairs below a p value

# Returns the network's edges with their statistics and p values.
significant_pairs <- function(run) {
  rows <- network_rows(run)
  warn_without(rows, run)
  found <- pair_tests(rows, run)
  tests <- if (found$one_by_one) { # number of pairs with coefficients; otherwise it follows from the columns' flags
    sum(perform(run, "histogram")$counts)
  } else {
    none <- as.raw(constant("constant")) | as.raw(constant("few"))
    if (uses[run$use] == "everything") none <- none | as.raw(constant("missing"))
    prod(vapply(rows[c("x_flags", "y_flags")], function(flags) sum((flags & none) == 0), 0L))
  }
  names <- network_names(run)
  edges <- name_edges(found$from, found$to, found$r, names[[1L]], names[[2L]])
  frame <- list2DF(c(edges, found[c("statistic", "p.value")]))
  frame$fdr <- false_discovery_rates(frame$p.value, max(tests, nrow(frame)))
  # structure() would write and compare all numbers of rows.
  attr(frame, "tests") <- tests
  attr(frame, "adjusted") <- adjustment_of(run)
  new_association_pairs(frame, run$method)
}

# Returns list(from, to, r, statistic, p.value, one_by_one) of the entries of rows, the smallest p value first, among
# equal ones the larger coefficients. P values that follow from coefficients are computed in that order.
pair_tests <- function(rows, run) {
  if (!length(rows$x)) {
    none <- numeric()
    return(list(from = integer(), to = integer(), r = none, statistic = none, p.value = none, one_by_one = FALSE))
  }
  significance <- significance_of(run)
  is_t <- is_t_distributed(run$method)
  threads <- run$place$threads
  if ((is_t || is_one_sided(run$method)) && !significance$one_by_one && is.null(rows$tests$near)) {
    found <- checked(.Call(r_sorted_edges, rows$p, rows$i, rows$x, TRUE, threads))
    found$statistic <- if (is_t) {
      checked(.Call(r_t_scores, found$r, significance$df, threads))
    } else {
      significance$n * found$r + 1
    }
    found$p.value <- p_of_r(found$r, significance$distribution, threads)
    first <- if (is.unsorted(found$p.value)) order(found$p.value) # as their last bits may be
  } else {
    to <- row_numbers(rows$p)
    found <- list(from = rows$i + 1L, to = to, r = rows$x)
    if (significance$one_by_one) { # each trait with the columns of x to which it has an edge
      found$statistic <- found$p.value <- numeric(length(to))
      counted <- perform(run, "observations") # of all columns
      rule <- significance$rule
      rule[c("alternative", "log", "quantile", "triangle")] <- list(0L, FALSE, NA_real_, FALSE)
      for (at in split(seq_along(to), to)) {
        own <- with_columns(run, found$from[at], to[at[1L]], counted)
        tested <- tested_pairs(matrix(found$r[at], ncol = 1L), own, counted, rule)
        found$statistic[at] <- tested$statistic
        found$p.value[at] <- tested$p.value
      }
    } else if (is_t) {
      r <- nearest_r(found$r, rows$tests$near)
      found$statistic <- checked(.Call(r_t_scores, r, significance$df, 1L))
      found$p.value <- p_of_r(r, significance$distribution, threads)
    } else {
      z <- edge_scores(rows, run, significance)$scores
      found$statistic <- sign(found$r) * z
      found$p.value <- if (significance$single) p_of_r(found$r, significance$distribution, threads) else two_sided(z)
    }
    first <- order(found$p.value, -abs(found$r))
  }
  c(if (is.null(first)) found else lapply(found, `[`, first), one_by_one = significance$one_by_one)
}
