# The cases: function, method, data, option, the band of the size, and a function that returns a data set's p values. A
# function that gets a p value gets its cases here, and an entry in the help page gpucor-p-values.

# P values of variables that depend on z by `effect`, adjusted for `terms` of z.
partial <- function(effect, terms = identity, method = "spearman") {
  z <- stats::rnorm(100)
  gpuCorTest(normal(100) + effect(z), normal(100) + effect(z), covariates = terms(z), method = method)$p.value
}
half_square <- function(z) z^2 / 2
with_square <- function(z) cbind(z, z^2)

test_cases <- c(
  # ---- Pearson, normal: valid, however far the tail
  lapply(c(5, 12, 30, 100), function(n) {
    null_case("gpuCorTest", "pearson", paste("normal, n =", n), "", VALID,
              \() gpuCorTest(normal(n), normal(n))$p.value)
  }),
  lapply(c(5, 10, 30, 100), function(n) {
    null_case("gpuCorTest", "pearson", paste("normal, n =", n), "tail", VALID / 50, level = 1e-3,
              \() gpuCorTest(normal(n, 100))$p.value)
  }),
  lapply(c(10, 100), function(n) {
    null_case("gpuCorTest", "pearson", paste("normal, n =", n), "far tail", VALID / 500, level = 1e-4,
              \() gpuCorTest(normal(n, 200))$p.value)
  }),
  list(
    null_case("gpuCorTest", "pearson", "two modules, n = 30", "", VALID,
              \() gpuCorTest(block(30), block(30))$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 15", "alternative = \"less\"", VALID,
              \() gpuCorTest(normal(15), normal(15), alternative = "less")$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 15", "alternative = \"greater\"", VALID,
              \() gpuCorTest(normal(15), normal(15), alternative = "greater")$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 15", "log.p", VALID,
              \() exp(gpuCorTest(normal(15), normal(15), log.p = TRUE)$p.value)),
    null_case("gpuCorTest", "pearson", "normal, n = 15", "precision = \"double\"", VALID,
              \() gpuCorTest(normal(15), normal(15), precision = "double")$p.value),

    # ---- Pearson, not normal: valid at 0.05, not in the tail
    null_case("gpuCorTest", "pearson", "log counts, n = 30", "", VALID,
              \() gpuCorTest(counts(30), counts(30))$p.value),
    null_case("gpuCorTest", "pearson", "few counts, n = 30", "", NEARLY,
              \() gpuCorTest(few_counts(30), few_counts(30))$p.value),
    null_case("gpuCorTest", "pearson", "t3, n = 30", "", NEARLY, \() gpuCorTest(t3(30), t3(30))$p.value),
    null_case("gpuCorTest", "pearson", "lognormal, n = 30", "", NEARLY,
              \() gpuCorTest(lognormal(30), lognormal(30))$p.value),
    null_case("gpuCorTest", "pearson", "lognormal, n = 30", "far tail", c(0.003, 0.005), level = 1e-4,
              \() gpuCorTest(lognormal(30, 100))$p.value),
    null_case("gpuCorTest", "pearson", "lognormal, n = 100", "far tail", c(0.003, 0.005), level = 1e-4,
              \() gpuCorTest(lognormal(100, 100))$p.value),
    null_case("gpuCorTest", "pearson", "log counts, n = 30", "far tail", c(0.8e-4, 1.3e-4), level = 1e-4,
              \() gpuCorTest(counts(30, 150))$p.value),
    null_case("gpuCorTest", "pearson", "few counts, n = 30", "far tail", c(0.0018, 0.003), level = 1e-4,
              \() gpuCorTest(few_counts(30, 100))$p.value),
    null_case("gpuCorTest", "pearson", "t3, n = 30", "far tail", c(0.0006, 0.003), level = 1e-4,
              \() gpuCorTest(t3(30, 100))$p.value),

    # ---- missing values
    null_case("gpuCorTest", "pearson", "normal, n = 30, 30 % missing", "pairwise", VALID,
              \() gpuCorTest(holes(normal(30), 0.3), holes(normal(30), 0.3), use = "pairwise")$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 30, some rows missing", "complete.obs", VALID,
              \() gpuCorTest(holes(normal(30, 10), 0.03), normal(30), use = "complete.obs")$p.value),
    null_case("gpuCorTest", "spearman", "normal, n = 30, 30 % missing", "pairwise", NEARLY,
              \() gpuCorTest(holes(normal(30), 0.3), normal(30), use = "pairwise", method = "spearman")$p.value),
    null_case("gpuCorTest", "spearman", "normal, n = 12, 40 % missing", "pairwise", CONSERVATIVE,
              \() gpuCorTest(holes(normal(12), 0.4), normal(12), use = "pairwise", method = "spearman")$p.value),
    null_case("gpuCorTest", "spearman", "normal, n = 12, 40 % missing", "pairwise, tail", c(0, 1.1e-3), level = 1e-3,
              \() gpuCorTest(holes(normal(12), 0.4), normal(12), use = "pairwise", method = "spearman")$p.value),
    null_case("gpuCorTest", "kendall", "normal, n = 20, 30 % missing", "pairwise", c(0.035, 0.055),
              \() gpuCorTest(holes(normal(20), 0.3), normal(20), use = "pairwise", method = "kendall")$p.value),
    null_case("gpuCorTest", "bicor", "normal, n = 30, 20 % missing", "pairwise", c(0.035, 0.055), sets = 20,
              \() gpuCorTest(holes(normal(30), 0.2), normal(30), use = "pairwise", method = "bicor")$p.value)
  ),

  # ---- columns that are uncorrelated, but not independent
  lapply(list(list("pearson", 30, c(0.19, 0.26)), list("pearson", 100, c(0.28, 0.36)),
              list("spearman", 30, c(0.06, 0.08)), list("kendall", 30, c(0.07, 0.085)),
              list("bicor", 30, c(0.06, 0.08)), list("distance", 30, c(0.08, 0.105))), function(case) {
    null_case("gpuCorTest", case[[1]], paste("random scale of rows, n =", case[[2]]), "", case[[3]], sets = 60,
              \() gpuCorTest(scaled_rows(case[[2]]), method = case[[1]])$p.value)
  }),
  list(
    null_case("gpuCorTest", "pearson", "random scale of rows, n = 30", "maxT", c(0.56, 0.68), sets = 40, time = 2,
              \() min(gpuCorTest(scaled_rows(30), adjust = "maxT", n_perm = 39)$p.adjusted)),
    null_case("conf.level", "pearson", "random scale of rows, n = 30", "", c(0.19, 0.26), sets = 60, \() {
      test <- gpuCorTest(scaled_rows(30), conf.level = 0.95)
      as.numeric(test$conf.low <= 0 & test$conf.high >= 0)
    })
  ),

  # ---- Spearman: exact to 14 observations, and in the tail to 20
  lapply(c(5, 8, 12, 14), function(n) {
    null_case("gpuCorTest", "spearman", paste("normal, n =", n), "", c(if (n == 5) 0 else 0.035, 0.055),
              sets = 25, \() gpuCorTest(normal(n), normal(n), method = "spearman")$p.value)
  }),
  lapply(c(8, 12, 14), function(n) {
    null_case("gpuCorTest", "spearman", paste("normal, n =", n), "tail", c(if (n == 8) 0 else 0.7e-3, 1.1e-3),
              level = 1e-3, sets = 20,
              \() gpuCorTest(normal(n, 100), method = "spearman")$p.value)
  }),
  lapply(c(15, 30, 100), function(n) {
    null_case("gpuCorTest", "spearman", paste("normal, n =", n), "", VALID,
              \() gpuCorTest(normal(n), normal(n), method = "spearman")$p.value)
  }),
  lapply(c(15, 30, 100), function(n) {
    null_case("gpuCorTest", "spearman", paste("lognormal, n =", n), "tail", c(0.7e-3, 1.1e-3), level = 1e-3,
              \() gpuCorTest(lognormal(n, 100), method = "spearman")$p.value)
  }),
  lapply(c(15, 20, 30), function(n) {
    null_case("gpuCorTest", "spearman", paste("lognormal, n =", n), "far tail", c(0, 1.1e-4), level = 1e-4,
              \() gpuCorTest(lognormal(n, 200), method = "spearman")$p.value)
  }),
  lapply(c(9, 12, 15, 30), function(n) {
    null_case("gpuCorTest", "spearman", paste("normal, n =", n), "exact", c(0.04, 0.055),
              \() gpuCorTest(normal(n), normal(n), method = "spearman", exact = TRUE)$p.value)
  }),
  list(
    null_case("gpuCorTest", "spearman", "normal, n = 15", "exact, tail", c(0.7e-3, 1.1e-3), level = 1e-3,
              \() gpuCorTest(normal(15, 100), method = "spearman", exact = TRUE)$p.value),
    null_case("gpuCorTest", "spearman", "few counts, n = 12", "", NEARLY,
              \() gpuCorTest(few_counts(12), few_counts(12), method = "spearman")$p.value),
    null_case("gpuCorTest", "spearman", "few counts, n = 12", "tail", c(0, 1.1e-3), level = 1e-3,
              \() gpuCorTest(few_counts(12, 60), method = "spearman")$p.value),
    null_case("gpuCorTest", "spearman", "few counts, n = 30", "", NEARLY,
              \() gpuCorTest(few_counts(30), few_counts(30), method = "spearman")$p.value)
  ),

  # ---- Kendall: the exact distribution has few values in small data; the normal approximation is conservative or not
  lapply(c(5, 12, 15, 30), function(n) {
    null_case("gpuCorTest", "kendall", paste("normal, n =", n), "", if (n == 5) CONSERVATIVE else c(0.04, 0.055),
              \() gpuCorTest(normal(n), normal(n), method = "kendall")$p.value)
  }),
  lapply(c(5, 8, 12, 30), function(n) {
    null_case("gpuCorTest", "kendall", paste("normal, n =", n), "exact", if (n > 8) c(0.04, 0.055) else CONSERVATIVE,
              \() gpuCorTest(normal(n), normal(n), method = "kendall", exact = TRUE)$p.value)
  }),
  lapply(c(8, 12, 15, 30), function(n) {
    null_case("gpuCorTest", "kendall", paste("normal, n =", n), "tail", c(if (n < 12) 0 else 0.7e-3, 1.1e-3),
              level = 1e-3, \() gpuCorTest(normal(n, 60), method = "kendall")$p.value)
  }),
  list(
    null_case("gpuCorTest", "kendall", "normal, n = 8", "exact = FALSE", c(0.055, 0.07),
              \() gpuCorTest(normal(8), normal(8), method = "kendall", exact = FALSE)$p.value),
    null_case("gpuCorTest", "kendall", "few counts, n = 12", "", CONSERVATIVE,
              \() gpuCorTest(few_counts(12), few_counts(12), method = "kendall")$p.value),
    null_case("gpuCorTest", "kendall", "few counts, n = 30", "", NEARLY,
              \() gpuCorTest(few_counts(30), few_counts(30), method = "kendall")$p.value)
  ),

  # ---- columns that are mostly zeros: not valid, but for Kendall with up to 49 observations
  lapply(c("pearson", "spearman", "kendall"), function(method) {
    null_case("gpuCorTest", method, "mostly zeros, n = 30", "",
              if (method == "kendall") CONSERVATIVE else c(0.055, 0.075),
              \() gpuCorTest(mostly_zeros(30), mostly_zeros(30), method = method)$p.value)
  }),
  list(
    null_case("gpuCorTest", "spearman", "mostly zeros, n = 30", "far tail", c(0.006, 0.01), level = 1e-4,
              \() gpuCorTest(mostly_zeros(30, 100), method = "spearman")$p.value),
    null_case("gpuCorTest", "kendall", "mostly zeros, n = 30", "far tail", c(1.5e-4, 2.5e-4), level = 1e-4,
              \() gpuCorTest(mostly_zeros(30, 100), method = "kendall")$p.value)
  ),

  # ---- distance: valid from 20 observations on, with a conservative tail
  lapply(list(list(10, c(0.06, 0.08)), list(20, c(0.045, 0.06)), list(50, VALID), list(100, c(0.04, 0.055))),
         function(case) {
           null_case("gpuCorTest", "distance", paste("normal, n =", case[[1]]), "", case[[2]],
                     \() gpuCorTest(normal(case[[1]]), normal(case[[1]]), method = "distance")$p.value)
         }),
  lapply(c(20, 50), function(n) {
    null_case("gpuCorTest", "distance", paste("lognormal, n =", n), "", NEARLY,
              \() gpuCorTest(lognormal(n), lognormal(n), method = "distance")$p.value)
  }),
  lapply(c(10, 30, 100), function(n) {
    null_case("gpuCorTest", "distance", paste("lognormal, n =", n), "tail", c(0, 1.1e-3), level = 1e-3,
              \() gpuCorTest(lognormal(n, 60), method = "distance")$p.value)
  }),
  lapply(c(20, 100), function(n) {
    null_case("gpuCorTest", "distance", paste("lognormal, n =", n), "far tail", c(0, 1.1e-4), level = 1e-4,
              \() gpuCorTest(lognormal(n, 200), method = "distance")$p.value)
  }),
  list(
    null_case("gpuCorTest", "distance", "t3, n = 30", "far tail", c(0, 1.1e-4), level = 1e-4,
              \() gpuCorTest(t3(30, 200), method = "distance")$p.value),
    null_case("gpuCorTest", "distance", "few counts, n = 30", "", NEARLY,
              \() gpuCorTest(few_counts(30), few_counts(30), method = "distance")$p.value),
    null_case("gpuCorTest", "distance", "few counts, n = 30", "far tail", c(0, 1.1e-4), level = 1e-4,
              \() gpuCorTest(few_counts(30, 200), method = "distance")$p.value),
    null_case("gpuCorTest", "distance", "normal, n = 30, 20 % missing", "pairwise", NEARLY, sets = 20,
              \() gpuCorTest(holes(normal(30), 0.2), normal(30), use = "pairwise", method = "distance")$p.value),
    null_case("gpuCorTest", "distance", "mostly zeros, n = 30", "", c(0.01, 0.03),
              \() gpuCorTest(mostly_zeros(30), mostly_zeros(30), method = "distance")$p.value),
    null_case("gpuCorTest", "distance", "mostly zeros, n = 30", "far tail", c(0.0015, 0.0027), level = 1e-4,
              \() gpuCorTest(mostly_zeros(30, 100), method = "distance")$p.value)
  ),

  # ---- groups of columns, each with a factor of its own: as distance
  unlist(recursive = FALSE, lapply(c("distance", "rv"), function(method) {
    of <- function(n, make = normal, k = 20) {
      x <- do.call(cbind, lapply(seq_len(k), function(i) make(n, 1)[, 1] + make(n, 15)))
      suppressWarnings(gpuCorTest(x, method = method, groups = rep(seq_len(k), each = 15))$p.value)
    }
    list(null_case("gpuCorTest", method, "groups of 15, normal, n = 30", "groups", NEARLY, \() of(30)),
         null_case("gpuCorTest", method, "groups of 15, normal, n = 100", "groups", NEARLY, \() of(100)),
         null_case("gpuCorTest", method, "groups of 15, t3, n = 30", "groups", NEARLY, \() of(30, t3)),
         null_case("gpuCorTest", method, "groups of 15, lognormal, n = 30", "groups", c(0.03, 0.06),
                   \() of(30, lognormal)),
         null_case("gpuCorTest", method, "groups of 15, t3, n = 100", "groups, tail", c(0, 1.1e-3), level = 1e-3,
                   \() of(100, t3, 40)),
         null_case("gpuCorTest", method, "groups of 15, normal, n = 30", "groups, tail", c(0, 1.1e-3), level = 1e-3,
                   \() of(30, k = 40)))
  })),

  # ---- bicor: from 5 observations on
  lapply(c(5, 6, 8), function(n) {
    null_case("gpuCorTest", "bicor", paste("normal, n =", n), "tail", c(0, 1.5e-3), level = 1e-3,
              \() gpuCorTest(normal(n, 60), method = "bicor")$p.value)
  }),
  lapply(c(5, 6, 8, 12, 30), function(n) {
    null_case("gpuCorTest", "bicor", paste("normal, n =", n), "", CONSERVATIVE,
              \() gpuCorTest(normal(n), normal(n), method = "bicor")$p.value)
  }),
  lapply(c(12, 30), function(n) {
    null_case("gpuCorTest", "bicor", paste("lognormal, n =", n), "tail", c(0, 1.2e-3), level = 1e-3,
              \() gpuCorTest(lognormal(n, 60), method = "bicor")$p.value)
  }),
  list(
    null_case("gpuCorTest", "bicor", "lognormal, n = 30", "", NEARLY,
              \() gpuCorTest(lognormal(30), lognormal(30), method = "bicor")$p.value),
    null_case("gpuCorTest", "bicor", "normal, n = 30", "5 covariates", CONSERVATIVE,
              \() {
                z <- normal(30, 5)
                gpuCorTest(confounded(z, normal(30)), confounded(z, normal(30)), covariates = z,
                           method = "bicor")$p.value
              }),

    # ---- cosine: with df only
    null_case("gpuCorTest", "cosine", "normal of mean 0, n = 30", "df = n - 1", VALID,
              \() gpuCorTest(normal(30), normal(30), method = "cosine", df = 29)$p.value),
    null_case("gpuCorTest", "cosine", "normal of mean 0.5, n = 30", "df = n - 1", c(0.15, 0.3),
              \() gpuCorTest(normal(30) + 0.5, normal(30) + 0.5, method = "cosine", df = 29)$p.value),

    # ---- covariates
    null_case("gpuCorTest", "pearson", "normal, n = 30", "5 covariates", VALID,
              \() {
                z <- normal(30, 5)
                gpuCorTest(confounded(z, normal(30)), confounded(z, normal(30)), covariates = z)$p.value
              }),
    null_case("gpuCorTest", "pearson", "normal, n = 30", "3 covariates, protect", NEARLY,
              \() protected_p(normal(30), normal(30), 1)),
    null_case("gpuCorTest", "pearson", "normal, n = 30", "3 covariates, confounded with protect", c(0.035, 0.055),
              \() protected_p(normal(30), normal(30), 3)),
    null_case("gpuCorTest", "pearson", "normal, n = 30", "3 covariates, confounded with protect, tail", c(0, 0.0015),
              level = 1e-3, \() protected_p(normal(30, 60), normal(30, 60), 3)),
    null_case("gpuCorTest", "spearman", "lognormal, n = 30", "3 covariates, confounded with protect", NEARLY,
              \() protected_p(lognormal(30), lognormal(30), 3, "spearman")),
    null_case("gpuCorTest", "pearson", "normal, n = 30, 30 % missing", "pairwise, 2 covariates", VALID, sets = 20,
              \() {
                z <- normal(30, 2)
                gpuCorTest(holes(confounded(z, normal(30)), 0.3), confounded(z, normal(30)), covariates = z,
                           use = "pairwise")$p.value
              }),
    null_case("gpuCorTest", "spearman", "normal, n = 30", "2 unrelated covariates", NEARLY,
              \() gpuCorTest(normal(30), normal(30), covariates = normal(30, 2), method = "spearman")$p.value),
    null_case("gpuCorTest", "spearman", "normal + z, n = 100", "covariate z", c(0.055, 0.066),
              \() partial(identity)),
    null_case("gpuCorTest", "spearman", "normal + exp(z), n = 100", "covariate z", c(0.14, 0.19),
              \() partial(exp)),
    null_case("gpuCorTest", "spearman", "normal + exp(z), n = 100", "covariates z, z^2", c(0.06, 0.085),
              \() partial(exp, with_square)),
    null_case("gpuCorTest", "pearson", "normal + exp(z), n = 100", "covariate exp(z)", VALID,
              \() partial(exp, exp, "pearson")),
    null_case("gpuCorTest", "spearman", "normal + z^2 / 2, n = 100", "covariate z", c(0.55, 0.8),
              \() partial(half_square)),
    null_case("gpuCorTest", "spearman", "normal + z^2 / 2, n = 100", "covariates z, z^2", c(0.09, 0.13),
              \() partial(half_square, with_square)),

    # ---- related observations: valid with their covariance, far too small p values without it
    null_case("gpuCorTest", "pearson", "normal, families of 5, n = 40", "covariance", VALID,
              \() gpuCorTest(related(families(40), 40), covariance = families(40))$p.value),
    null_case("gpuCorTest", "pearson", "normal, families of 5, n = 40", "covariance, 2 covariates", VALID,
              \() {
                z <- normal(40, 2)
                gpuCorTest(confounded(z, related(families(40), 40)), covariance = families(40), covariates = z)$p.value
              }),
    null_case("gpuCorTest", "pearson", "normal, tree, n = 64", "covariance", VALID,
              \() gpuCorTest(related(tree(64), 40), covariance = tree(64))$p.value),
    null_case("gpuCorTest", "pearson", "normal, tree, n = 64", "covariance, far tail", VALID / 500, level = 1e-4,
              \() gpuCorTest(related(tree(64), 200), covariance = tree(64))$p.value),
    null_case("gpuCorTest", "pearson", "normal, families of 5, n = 40", "", c(0.15, 0.17),
              \() gpuCorTest(related(families(40), 40))$p.value),
    null_case("gpuCorTest", "pearson", "normal, tree, n = 64", "", c(0.31, 0.34),
              \() gpuCorTest(related(tree(64), 40))$p.value),
    null_case("gpuCorTest", "spearman", "normal, tree, n = 64", "covariance", NEARLY,
              \() gpuCorTest(related(tree(64), 40), covariance = tree(64), method = "spearman")$p.value),
    null_case("gpuCorTest", "spearman", "normal, tree, n = 64", "covariance, far tail", c(1.1e-4, 1.6e-4), level = 1e-4,
              \() gpuCorTest(related(tree(64), 200), covariance = tree(64), method = "spearman")$p.value),
    null_case("gpuCorTest", "pearson", "lognormal, tree, n = 64", "covariance", c(0.05, 0.065),
              \() gpuCorTest(exp(related(tree(64), 40)), covariance = tree(64))$p.value),
    null_case("gpuCorTest", "pearson", "normal, twins with correlation 0.5, n = 20", "covariance with 0.99",
              c(0.5, 0.6), \() suppressWarnings(gpuCorTest(related(twins(0.5), 40), covariance = twins(0.99))$p.value)),
    null_case("gpuCorTest", "pearson", "normal, twins with correlation 0.5, n = 20", "covariance with 0.8",
              c(0.045, 0.06), \() gpuCorTest(related(twins(0.5), 40), covariance = twins(0.8))$p.value),
    null_case("gpuCorTest", "pearson", "normal, families of 5 with heritability 0.8, n = 60", "covariance with 0.5",
              c(0.085, 0.12), \() gpuCorTest(related(1.6 * families(60) - diag(0.6, 60), 40),
                                            covariance = families(60))$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 40", "covariance of families", c(0.06, 0.075),
              \() gpuCorTest(normal(40, 40), covariance = families(40))$p.value),
    null_case("gpuCorTest", "pearson", "normal, families of 5, 200 columns, n = 40", "covariance = cov(t(x))",
              c(0.025, 0.035), sets = 6, \() {
                x <- related(families(40), 200)
                gpuCorTest(x, covariance = stats::cov(t(x)))$p.value
              }),
    null_case("gpuCorTest", "pearson", "normal, families of 5, 800 columns, n = 40", "covariance = cov(t(x))",
              c(0.04, 0.05), sets = 3, \() {
                x <- related(families(40), 800)
                gpuCorTest(x, covariance = stats::cov(t(x)))$p.value
              }),

    # ---- weights
    null_case("gpuCorTest", "pearson", "normal, n = 40", "weights 0 and 1", VALID,
              \() gpuCorTest(normal(40), normal(40), weights = rep(0:1, 20))$p.value),
    null_case("gpuCorTest", "spearman", "normal, n = 40", "weights 0 and 1", VALID,
              \() gpuCorTest(normal(40), normal(40), weights = rep(0:1, 20), method = "spearman")$p.value),
    null_case("gpuCorTest", "pearson", "normal of variance 1 / w, n = 30", "weights, precision", VALID,
              \() {
                w <- stats::rexp(30)
                gpuCorTest(normal(30) / sqrt(w), normal(30) / sqrt(w), weights = w, weights_are = "precision")$p.value
              }),
    null_case("gpuCorTest", "pearson", "0 to 2, 60 observations of 9 kinds", "weights, frequency", NEARLY,
              sets = 200,
              \() {
                table <- as.data.frame(table(x = sample(0:2, 60, TRUE), y = sample(0:2, 60, TRUE)))
                gpuCorTest(as.numeric(table$x), as.numeric(table$y), weights = table$Freq,
                           weights_are = "frequency")$p.value
              })
  ),
  list(
    null_case("gpuCorTest", "pearson", "normal, n = 100", "lognormal weights", CONSERVATIVE,
              \() gpuCorTest(normal(100), normal(100), weights = exp(stats::rnorm(100)))$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 30", "exponential weights", CONSERVATIVE,
              \() gpuCorTest(normal(30), normal(30), weights = stats::rexp(30))$p.value),
    null_case("gpuCorTest", "pearson", "normal, n = 30", "uniform weights", CONSERVATIVE,
              \() gpuCorTest(normal(30), normal(30), weights = stats::runif(30))$p.value),
    null_case("gpuCorTest", "spearman", "normal, n = 30", "exponential weights", CONSERVATIVE,
              \() gpuCorTest(normal(30), normal(30), weights = stats::rexp(30), method = "spearman")$p.value)
  )
)

# ---- series; the effective number of n observations of AR(a) is n (1 - a^2) / (1 + a^2)

bartlett_case <- function(data, option, make, regressors = NULL, method = "pearson", ...) {
  null_case("gpuCorTest", method, data, paste0("df = \"bartlett\"", option), ...,
            sets = if (nzchar(option)) 8 else 40,
            p = \() gpuCorTest(make(), make(), df = "bartlett", covariates = if (!is.null(regressors)) regressors(),
                               method = method)$p.value)
}

scrubbed <- function(n, k) diag(n)[, sample.int(n, k)]

series_cases <- list(
  null_case("gpuCorTest", "pearson", "AR(0.6), n = 200", "", c(0.15, 0.21),
            \() gpuCorTest(series(200, 0.6), series(200, 0.6))$p.value),
  null_case("gpuCorTest", "spearman", "AR(0.6), n = 200", "", c(0.13, 0.2),
            \() gpuCorTest(series(200, 0.6), series(200, 0.6), method = "spearman")$p.value),
  null_case("gpuCorTest", "pearson", "AR(0.6), n = 200", "df = 92", NEARLY,
            \() gpuCorTest(series(200, 0.6), series(200, 0.6), df = 92)$p.value),
  null_case("gpuCorTest", "pearson", "white series, n = 200", "bandpass", VALID,
            \() gpuCorTest(normal(200), normal(200), bandpass = c(0.01, 0.1), tr = 2)$p.value),
  bartlett_case("white series, n = 200", "", \() normal(200), band = NEARLY),
  bartlett_case("AR(0.6), n = 100", "", \() series(100, 0.6), band = NEARLY),
  bartlett_case("AR(0.6), n = 200", "", \() series(200, 0.6), band = NEARLY),
  bartlett_case("AR(0.6), n = 200", "", \() series(200, 0.6), method = "spearman", band = NEARLY),
  bartlett_case("AR(0.9), n = 100", "", \() series(100, 0.9), band = c(0.055, 0.07)),
  bartlett_case("AR(0.9), n = 200", "", \() series(200, 0.9), band = NEARLY),
  bartlett_case("1/f noise, n = 200", "", \() pink(200), band = c(0.06, 0.08)),
  bartlett_case("a sine in noise, n = 200", "", \() sines(200), band = c(0.25, 0.29)),
  bartlett_case("normal, n = 30", ", 20 white covariates", \() normal(30), \() normal(30, 20), band = c(0, 0.06)),
  bartlett_case("normal, n = 100", ", 30 dummies", \() normal(100), \() scrubbed(100, 30), band = NEARLY),
  bartlett_case("AR(0.6), n = 100", ", 30 dummies", \() series(100, 0.6), \() scrubbed(100, 30), band = NEARLY),
  bartlett_case("AR(0.6), n = 200", ", 10 white covariates", \() series(200, 0.6), \() normal(200, 10), band = NEARLY),
  bartlett_case("AR(0.6), n = 200", ", 10 AR(0.9) covariates", \() series(200, 0.6), \() series(200, 0.9, 10),
                band = NEARLY),
  bartlett_case("AR(0.9), n = 200", ", 10 AR(0.6) covariates", \() series(200, 0.9), \() series(200, 0.6, 10),
                band = c(0.04, 0.07))
)

# ---- confidence intervals of 0.95: the fraction that does not contain the true coefficient

# Returns p values of 0 for the intervals of pairs i and m + i that do not contain the truth, and of 1 for the others.
misses <- function(x, truth, ...) {
  i <- seq_len(ncol(x) / 2)
  test <- gpuCorTest(x[, i], x[, -i], conf.level = 0.95, ...)
  as.numeric(truth >= diag(test$conf.low) & truth <= diag(test$conf.high))
}

# True coefficient of bivariate normal data.
truth_of <- function(rho, method) switch(method, kendall = 2 / pi * asin(rho), spearman = 6 / pi * asin(rho / 2), rho)

interval_case <- function(method, n, rho, band = NEARLY, df = NULL) {
  null_case("conf.level", method, paste0("normal, n = ", n, ", rho = ", rho), "", band, sets = 60,
            p = \() misses(pairs_of(n, rho), truth_of(rho, method), method = method, df = df))
}

# The true coefficient of counts is that of many observations.
count_interval_case <- function(method, n, rho, band) {
  null_case("conf.level", method, paste0("few counts, n = ", n, ", rho = ", rho), "", band, sets = 60, p = \() {
    many <- count_pairs(10000, rho, 1)
    misses(count_pairs(n, rho), gpuCor(many[, 1], many[, 2], method = method), method = method)
  })
}

interval_cases <- c(
  lapply(c(0, 0.5, 0.9), function(rho) interval_case("pearson", 20, rho, VALID)),
  lapply(c(0, 0.5, 0.9), function(rho) interval_case("spearman", 20, rho, c(0.03, 0.055))),
  lapply(c(0, 0.5, 0.9), function(rho) interval_case("kendall", 20, rho, c(0.03, 0.055))),
  lapply(c(0.8, 0.9, 0.95), function(rho) interval_case("spearman", 10, rho, c(0.03, 0.06))),
  lapply(c(0, 0.5, 0.9), function(rho) interval_case("cosine", 20, rho, VALID, df = 19)),
  lapply(c("pearson", "spearman"), function(method) interval_case(method, 100, 0.9)),
  list(
    interval_case("kendall", 100, 0.9, c(0.03, 0.055)),
    interval_case("kendall", 15, 0.9, c(0.03, 0.06)),
    interval_case("kendall", 10, 0.5, c(0.025, 0.055)),
    interval_case("kendall", 10, 0.9, c(0.025, 0.055)),
    interval_case("kendall", 10, 0.95, c(0.08, 0.11)),
    null_case("conf.level", "pearson", "normal, n = 20, rho = 0.5", "alternative = \"less\"", NEARLY,
              \() misses(pairs_of(20, 0.5), 0.5, alternative = "less")),
    null_case("conf.level", "pearson", "normal, n = 40, rho = 0.5, 30 % missing", "pairwise", VALID,
              \() misses(holes(pairs_of(40, 0.5), 0.3), 0.5, use = "pairwise")),
    null_case("conf.level", "pearson", "normal, n = 30, rho = 0.5", "5 covariates", VALID, \() {
      z <- normal(30, 5)
      misses(confounded(z, pairs_of(30, 0.5)), 0.5, covariates = z)
    }),
    null_case("conf.level", "pearson", "AR(0.6), n = 200, rho = 0.5", "df = \"bartlett\"", c(0.03, 0.06),
              \() misses(pairs_of(200, 0.5, \(n, m) series(n, 0.6, m)), 0.5, df = "bartlett")),
    null_case("conf.level", "pearson", "lognormal, n = 20, rho = 0.38", "", c(0.14, 0.17),
              \() misses(exp(pairs_of(20, 0.5)), (exp(0.5) - 1) / (exp(1) - 1))),
    null_case("conf.level", "spearman", "lognormal, n = 20, rho = 0.48", "", c(0.03, 0.055),
              \() misses(exp(pairs_of(20, 0.5)), truth_of(0.5, "spearman"), method = "spearman")),
    count_interval_case("pearson", 20, 0.9, c(0.2, 0.27)),
    count_interval_case("spearman", 20, 0, c(0.03, 0.05)),
    count_interval_case("spearman", 20, 0.9, c(0.1, 0.14)),
    count_interval_case("kendall", 20, 0, c(0.1, 0.14)),
    count_interval_case("kendall", 20, 0.9, c(0.18, 0.22))
  )
)

# ---- all pairs at once: the fraction of data sets with a false discovery, at 0.05

max_t_case <- function(data, option, x, ..., band = NEARLY, method = "pearson", sets = 80) {
  null_case("gpuCorTest", method, data, paste0("maxT", option), band, time = 2, sets = sets,
            \() min(gpuCorTest(x(), ..., adjust = "maxT", n_perm = 39, method = method)$p.adjusted, na.rm = TRUE))
}

# The smallest p value of an edge, or 1 without edges, whose p values are larger than the criterion.
smallest <- function(edges) min(1, edges$p.adjusted)

# The G test of mutual information, whose statistic is 2 n I. It is not valid, so no function has it.
g_test <- function(n) {
  bins <- round(n^(1 / 3))
  r <- gpuCor(normal(n, 100), method = "mi")
  stats::pchisq(-n * log1p(-as.vector(r)^2), (bins - 1)^2, lower.tail = FALSE)
}

adjusted_max_t_case <- function(data, make, covariates, n = 30, method = "pearson") {
  null_case("gpuCorTest", method, data, paste0("maxT, covariates: ", covariates), c(0.02, 0.07), time = 2, \() {
    z <- normal(n, covariates)
    min(gpuCorTest(confounded(z, make(n)), covariates = z, method = method, adjust = "maxT", n_perm = 39)$p.adjusted)
  })
}

family_cases <- list(
  null_case("gpuCor", "mi", "normal, n = 50", "G test", c(0.09, 0.11), \() g_test(50)),
  null_case("gpuCor", "mi", "normal, n = 500", "G test", c(0.065, 0.075), \() g_test(500)),
  max_t_case("normal, n = 15", "", \() normal(15)),
  max_t_case("lognormal, n = 30", "", \() lognormal(30)),
  max_t_case("few counts, n = 15", "", \() few_counts(15), method = "kendall", band = CONSERVATIVE),
  max_t_case("mostly zeros, n = 30", "", \() mostly_zeros(30), method = "kendall", band = CONSERVATIVE),
  max_t_case("normal, n = 50", "", \() normal(50), method = "mi"),
  max_t_case("lognormal, n = 100", "", \() lognormal(100), method = "mi"),
  max_t_case("few counts, n = 30", "", \() few_counts(30), method = "mi", band = CONSERVATIVE),
  max_t_case("lognormal, n = 30", "", \() lognormal(30), method = "distance"),
  null_case("gpuCorTest", "pearson", "two modules, n = 20", "maxT", NEARLY, time = 2, sets = 100,
            \() min(gpuCorTest(block(20), block(20), adjust = "maxT", n_perm = 39)$p.adjusted)),
  adjusted_max_t_case("normal, n = 30", normal, 5),
  adjusted_max_t_case("t3, n = 30", t3, 5),
  adjusted_max_t_case("lognormal, n = 30", lognormal, 5),
  adjusted_max_t_case("lognormal, n = 30", lognormal, 1),
  adjusted_max_t_case("100 lognormal columns, n = 20", \(n) lognormal(n, 100), 5, n = 20),
  adjusted_max_t_case("100 lognormal columns, n = 30", \(n) lognormal(n, 100), 5, method = "bicor"),
  adjusted_max_t_case("few counts, n = 30", few_counts, 5),
  max_t_case("AR(0.9), n = 100", "", \() series(100, 0.9), band = c(0.9, 1)),
  max_t_case("AR(0.6), n = 200", ", surrogate = \"phase\"", \() series(200, 0.6), surrogate = "phase",
             sets = 15),
  max_t_case("AR(0.9), n = 30", ", surrogate = \"phase\"", \() series(30, 0.9), surrogate = "phase", sets = 60,
             band = c(0.15, 0.25)),
  max_t_case("AR(0.9), n = 60", ", surrogate = \"phase\"", \() series(60, 0.9), surrogate = "phase", sets = 60,
             band = c(0.08, 0.13)),
  max_t_case("AR(0.9), n = 100", ", surrogate = \"phase\"", \() series(100, 0.9), surrogate = "phase", sets = 60,
             band = c(0.05, 0.09)),
  max_t_case("AR(0.9), n = 200", ", surrogate = \"phase\"", \() series(200, 0.9), surrogate = "phase",
             sets = 15, band = c(0.03, 0.08)),
  max_t_case("1/f noise, n = 200", ", surrogate = \"phase\"", \() pink(200), surrogate = "phase", sets = 15,
             band = c(0.02, 0.06)),
  max_t_case("a sine in noise, n = 200", ", surrogate = \"phase\"", \() sines(200), surrogate = "phase", sets = 15,
             band = CONSERVATIVE),
  max_t_case("AR(0.6), n = 200", ", surrogate = \"block\"", \() series(200, 0.6), surrogate = "block",
             sets = 15, band = c(0.03, 0.08)),
  max_t_case("AR(0.6), n = 200", ", surrogate = \"phase\"", \() series(200, 0.6), surrogate = "phase",
             method = "coherence", sets = 15),
  max_t_case("AR(0.9), n = 200", ", surrogate = \"phase\"", \() series(200, 0.9), surrogate = "phase",
             method = "coherence", sets = 15, band = c(0.03, 0.08)),
  max_t_case("lognormal, n = 200", ", surrogate = \"block\"", \() lognormal(200, 10), surrogate = "block",
             method = "coherence", sets = 15, band = c(0.03, 0.08)),
  max_t_case("lognormal, n = 30", "", \() lognormal(30), method = "concordance"),
  max_t_case("normal of different variances, n = 30", ", without means", \() normal(30) * rep(1:20, each = 30),
             method = "concordance", options = list(means = FALSE)),
  null_case("gpuCorNetwork", "pearson", "lognormal, n = 30", "maxT", NEARLY, time = 2, sets = 80,
            \() smallest(gpuCorNetwork(lognormal(30), p.value = 0.1, adjust = "maxT", n_perm = 39, output = "edges"))),
  null_case("gpuCorNetwork", "pearson", "AR(0.6), n = 200", "maxT, surrogate = \"phase\"", NEARLY, time = 2, sets = 40,
            \() smallest(gpuCorNetwork(series(200, 0.6), p.value = 0.1, adjust = "maxT", n_perm = 39,
                                       surrogate = "phase", output = "edges"))),
  null_case("gpuCorNetwork", "pearson", "AR(0.6), n = 200", "maxT, surrogate = \"block\"", c(0.03, 0.08), time = 2,
            sets = 40, \() smallest(gpuCorNetwork(series(200, 0.6), p.value = 0.1, adjust = "maxT", n_perm = 39,
                                                  surrogate = "block", output = "edges"))),
  null_case("gpuAssociation", "pearson", "module and traits, n = 30", "maxT", NEARLY, time = 2, sets = 80,
            \() min(gpuAssociation(block(30), normal(30, 3), adjust = "maxT", n_perm = 39)$p.adjusted)),
  null_case("gpuAssociation", "pearson", "AR(0.6) and AR(0.6), n = 200", "maxT, surrogate = \"phase\"", NEARLY,
            time = 2, sets = 60,
            \() min(gpuAssociation(series(200, 0.6), series(200, 0.6), adjust = "maxT", n_perm = 39,
                                   surrogate = "phase")$p.adjusted)),
  null_case("gpuCorNetwork", "pearson", "lognormal, n = 30", "fdr by permutation", c(0.03, 0.07), sets = 60,
            \() discoveries(gpuCorNetwork(lognormal(30, 60), fdr = 0.05, adjust = "fdr", n_perm = 60,
                                         output = "edges"))),
  null_case("gpuCorNetwork", "pearson", "AR(0.6), n = 200", "fdr by surrogate = \"phase\"", c(0.03, 0.07), time = 2,
            sets = 40, \() discoveries(gpuCorNetwork(series(200, 0.6), fdr = 0.05, adjust = "fdr", n_perm = 60,
                                                     surrogate = "phase", output = "edges"))),
  null_case("gpuAssociation", "pearson", "module and traits, n = 30", "fdr by permutation", c(0.03, 0.07), sets = 60,
            \() discoveries(gpuAssociation(block(30, 100), normal(30, 3), fdr = 0.05, adjust = "fdr", n_perm = 60))),
  null_case("gpuCorPerm", "pearson", "two modules, n = 20", "p.value", VALID,
            \() gpuCorPerm(block(20), block(20), B = 39)$p.value),
  null_case("gpuCorPerm", "spearman", "lognormal, n = 30", "p.adjusted", NEARLY, time = 2, sets = 100,
            \() min(gpuCorPerm(lognormal(30), lognormal(30), B = 39, method = "spearman")$p.adjusted)),
  null_case("gpuCorPerm", "mi", "two modules, n = 50", "p.value", VALID,
            \() gpuCorPerm(block(50), block(50), B = 39, method = "mi")$p.value)
)

# ---- networks

network_cases <- c(
  list(
    null_case("gpuCorNetwork", "pearson", "two modules, n = 30", "p.value", VALID,
              \() of_edges(gpuCorNetwork(block(30), block(30), p.value = 0.05, output = "edges"), 400)),
    null_case("gpuCorNetwork", "pearson", "normal, n = 30, 30 % missing", "p.value, pairwise", VALID,
              \() of_edges(gpuCorNetwork(holes(normal(30), 0.3), normal(30), p.value = 0.05, use = "pairwise",
                                         output = "edges"), 400)),
    null_case("gpuCorNetwork", "kendall", "few counts, n = 30", "p.value", NEARLY,
              \() of_edges(gpuCorNetwork(few_counts(30), few_counts(30), p.value = 0.05, method = "kendall",
                                         output = "edges"), 400)),
    null_case("gpuCorNetwork", "spearman", "normal, n = 12", "p.value", c(0.04, 0.055),
              \() of_edges(gpuCorNetwork(normal(12), normal(12), p.value = 0.05, method = "spearman",
                                         output = "edges"), 400)),
    null_case("gpuCorNetwork", "pearson", "normal, n = 30", "p.value, 5 covariates", VALID,
              \() of_edges(gpuCorNetwork(normal(30), normal(30), p.value = 0.05, covariates = normal(30, 5),
                                         output = "edges"), 400)),
    null_case("gpuCorPairs", "pearson", "normal, n = 30", "test", VALID,
              \() gpuCorPairs(normal(30), normal(30), threshold = 0, test = TRUE)$p.value),
    null_case("gpuCor", "spearman", "normal, n = 30", "test", VALID,
              \() gpuCor(normal(30), normal(30), method = "spearman", test = TRUE)$p.value),
    null_case("gpuTtest", "pearson", "normal, n = 12", "", VALID,
              \() 2 * stats::pt(-abs(gpuTtest(12, gpuCor(normal(12), normal(12)))), 10))
  ),
  lapply(list(list("normal", 10, "pearson", NEARLY), list("normal", 5, "spearman", CONSERVATIVE),
              list("normal", 12, "spearman", CONSERVATIVE),
              list("lognormal", 15, "spearman", CONSERVATIVE),
              list("lognormal", 30, "spearman", CONSERVATIVE),
              list("lognormal", 100, "spearman", CONSERVATIVE),
              list("few_counts", 30, "kendall", CONSERVATIVE), list("mostly_zeros", 30, "spearman", c(0.9, 1)),
              list("lognormal", 30, "bicor", NEARLY), list("lognormal", 30, "distance", CONSERVATIVE),
              list("lognormal", 30, "pearson", c(0.9, 1))),
         function(case) {
           data <- paste0(sub("_", " ", case[[1]]), ", n = ", case[[2]])
           null_case("gpuCorNetwork", case[[3]], data, "fdr", case[[4]],
                     sets = 100,
                     \() discoveries(gpuCorNetwork(match.fun(case[[1]])(case[[2]], 60), fdr = 0.05,
                                                   method = case[[3]], output = "edges")))
         }),
  # False discoveries if a fifth of all pairs is correlated: those of columns with the same label.
  lapply(list(list("pearson", c(0.42, 0.52)), list("spearman", CONSERVATIVE)), function(case) {
    null_case("gpuCorNetwork", case[[1]], "lognormal, n = 30, 20 % edges", "fdr", case[[2]], sets = 100,
              \() {
                x <- exp(do.call(cbind, lapply(1:5, \(i) block(30, 20, rho = 0.2))))
                edges <- gpuCorNetwork(x, fdr = 0.05, method = case[[1]], output = "edges")
                false_discoveries(edges, rep(1:5, each = 20))
              })
  })
)

# ---- variables against traits

association_cases <- list(
  null_case("gpuAssociation", "pearson", "module and traits, n = 30", "2 covariates", VALID,
            \() {
              z <- normal(30, 2)
              gpuAssociation(confounded(z, block(30)), normal(30, 3), covariates = z, output = "matrix")$p.value
            }),
  null_case("gpuAssociation", "pearson", "log counts, two groups of 8", "factor", VALID,
            \() gpuAssociation(counts(16), data.frame(group = gl(2, 8)), output = "matrix")$p.value),
  null_case("gpuAssociation", "pearson", "log counts, four groups of 4 to 9", "factor", VALID,
            \() gpuAssociation(counts(26), rep(factor(1:4), c(4, 5, 8, 9)), output = "matrix")$p.value),
  null_case("gpuAssociation", "pearson", "normal, three groups of 10", "factor, tail", VALID / 50, level = 1e-3,
            \() gpuAssociation(normal(30, 2000), gl(3, 10), output = "matrix")$p.value),
  null_case("gpuAssociation", "pearson", "module and factor, n = 30, 20 % missing", "factor, 2 covariates", VALID,
            sets = 100,
            \() {
              z <- normal(30, 2)
              group <- cut(z[, 1] + stats::rnorm(30), c(-Inf, -0.5, 0.5, Inf))
              gpuAssociation(holes(confounded(z, block(30)), 0.2), group, covariates = z, output = "matrix")$p.value
            }),
  null_case("gpuAssociation", "pearson", "lognormal, three groups of 10", "factor", CONSERVATIVE,
            \() gpuAssociation(lognormal(30), gl(3, 10), output = "matrix")$p.value),
  null_case("gpuAssociation", "pearson", "normal, n = 30", "factor and number, fdr", CONSERVATIVE, sets = 100,
            \() discoveries(gpuAssociation(normal(30, 100), data.frame(gl(3, 10), stats::rnorm(30)), fdr = 0.05))),
  null_case("gpuAssociation", "pearson", "normal, n = 30, 20 % missing", "p.value", VALID,
            \() of_edges(gpuAssociation(holes(normal(30), 0.2), normal(30, 3), p.value = 0.05), 60)),
  null_case("gpuAssociation", "spearman", "lognormal, n = 30", "fdr", CONSERVATIVE, sets = 100,
            \() discoveries(gpuAssociation(lognormal(30, 100), normal(30, 3), fdr = 0.05, method = "spearman"))),
  null_case("gpuAssociation", "distance", "lognormal, two groups of 15", "p.value", NEARLY,
            \() of_edges(gpuAssociation(lognormal(30), data.frame(group = gl(2, 15)), p.value = 0.05,
                                        method = "distance"), 20))
)

# ---- two groups

# Pairs with a correlation of 0.8 in both groups.
compare_case <- function(method, data, option, band, make, ...) {
  null_case("gpuCorCompare", method, data, option, band,
            \() of_pairs(gpuCorCompare(make(50), make(50), method = method, ...)$p.value))
}
at <- function(rho, make = normal) \(n) pairs_of(n, rho, make)

# A batch shifts rows and scales columns of both groups.
batch_of <- function(x, batch) x + outer(batch, stats::rnorm(ncol(x), sd = 2))

permuted_case <- function(method, data, option, band, p) {
  null_case("gpuCorCompare", method, data, paste0("n_perm", option), band, p, time = 3, sets = 20)
}

# Five covariates in each group.
adjusted_rows_case <- function(method, data, make, n = 30, band = c(0.01, 0.07)) {
  permuted_case(method, data, ", five covariates", band, \() {
    z <- list(normal(n, 5), normal(n, 5))
    x <- lapply(z, \(z) confounded(z, make(n)))
    min(gpuCorCompare(x[[1]], x[[2]], covariates = z, method = method, n_perm = 39)$p.adjusted)
  })
}
fdr_case <- function(method, data, band, make, n) {
  null_case("gpuCorCompare", method, data, "fdr", band,
            \() discoveries(gpuCorCompare(make(n), make(n), method = method, fdr = 0.05, output = "edges")))
}
# Rows of a module of 40 columns that share a random scale: each row is from the multivariate t distribution.
elliptic_block <- function(n, df) block(n, 40) / sqrt(stats::rchisq(n, df) / df)

two_groups_cases <- list(
  compare_case("pearson", "normal, rho = 0", "", VALID, at(0)),
  compare_case("pearson", "normal, rho = 0.8", "", VALID, at(0.8)),
  compare_case("spearman", "normal, rho = 0", "", NEARLY, at(0)),
  compare_case("spearman", "normal, rho = 0.8", "", c(0.052, 0.075), at(0.8)),
  compare_case("spearman", "t3, rho = 0.8", "", c(0.09, 0.13), at(0.8, t3)),
  compare_case("spearman", "lognormal, rho = 0.8", "", c(0.1, 0.14), at(0.8, lognormal)),
  compare_case("pearson", "t3, rho = 0.8", "", c(0.25, 0.35), at(0.8, t3)),
  compare_case("pearson", "lognormal, rho = 0.8", "", c(0.42, 0.52), at(0.8, lognormal)),
  compare_case("pearson", "AR(0.6), rho = 0.8", "", c(0.13, 0.2), at(0.8, \(n, m) series(n, 0.6, m))),
  compare_case("pearson", "AR(0.6), rho = 0.8", "df = 21", c(0.035, 0.07), at(0.8, \(n, m) series(n, 0.6, m)), df = 21),
  null_case("gpuCorCompare", "pearson", "4 groups, normal, rho = 0.8", "chi-squared", VALID,
            \() of_pairs(gpuCorCompare(lapply(c(40, 50, 60, 70), at(0.8)), effects = "fixed")$p.value)),
  null_case("gpuCorCompare", "spearman", "3 groups, normal, two modules", "chi-squared", NEARLY,
            \() gpuCorCompare(lapply(c(50, 60, 70), block), effects = "fixed", method = "spearman")$p.value),
  compare_case("bicor", "normal, rho = 0", "", CONSERVATIVE, at(0)),
  compare_case("bicor", "normal, rho = 0.8", "", NEARLY, at(0.8)),
  compare_case("bicor", "t3, rho = 0.8", "", c(0.09, 0.12), at(0.8, t3)),
  compare_case("bicor", "lognormal, rho = 0.8", "", c(0.135, 0.17), at(0.8, lognormal)),
  permuted_case("bicor", "t3", "", NEARLY,
                \() min(gpuCorCompare(t3(30), t3(30), n_perm = 39, method = "bicor")$p.adjusted)),
  permuted_case("bicor", "lognormal, rho = 0.8", "", NEARLY,
                \() min(gpuCorCompare(at(0.8, lognormal)(30), at(0.8, lognormal)(30), n_perm = 39,
                                      method = "bicor")$p.adjusted)),
  null_case("gpuCorCompare", "pearson", "normal, n = 15", "fdr", c(0.08, 0.15),
            \() discoveries(gpuCorCompare(normal(15, 40), normal(15, 40), fdr = 0.05, output = "edges"))),
  null_case("gpuCorCompare", "pearson", "t3, n = 30 and 20", "fdr, n_perm", c(0.03, 0.07), time = 3, sets = 20,
            \() discoveries(gpuCorCompare(t3(30, 40), t3(20, 40), fdr = 0.05, n_perm = 60, output = "edges"))),
  null_case("gpuCorCompare", "pearson", "3 groups, normal, n = 20", "fdr, n_perm", c(0.03, 0.07), time = 3, sets = 20,
            \() discoveries(gpuCorCompare(lapply(c(20, 20, 20), normal, 60), effects = "fixed", fdr = 0.05, n_perm = 60,
                                         output = "edges"))),
  null_case("gpuCorCompare", "pearson", "normal, n = 50", "fdr", c(0.045, 0.075),
            \() discoveries(gpuCorCompare(normal(50, 40), normal(50, 40), fdr = 0.05, output = "edges"))),
  permuted_case("pearson", "normal", "", NEARLY,
                \() min(gpuCorCompare(block(20), block(20), n_perm = 39)$p.adjusted)),
  permuted_case("spearman", "lognormal", "", NEARLY,
                \() min(gpuCorCompare(lognormal(20), lognormal(20), n_perm = 39, method = "spearman")$p.adjusted)),
  permuted_case("pearson", "t3", "", c(0.03, 0.08),
                \() min(gpuCorCompare(t3(30), t3(30), n_perm = 39)$p.adjusted)),
  permuted_case("pearson", "lognormal", "", c(0.03, 0.08),
                \() min(gpuCorCompare(lognormal(30), lognormal(30), n_perm = 39)$p.adjusted)),
  permuted_case("pearson", "normal, batches", ", covariates", c(0.03, 0.08),
                \() {
                  batch <- rep(0:1, 15)
                  min(gpuCorCompare(batch_of(normal(30), batch), batch_of(normal(30), batch), covariates = batch,
                                    n_perm = 39)$p.adjusted)
                }),
  adjusted_rows_case("pearson", "normal, n = 30", normal),
  adjusted_rows_case("pearson", "t3, n = 30", t3),
  adjusted_rows_case("pearson", "lognormal, n = 30", lognormal),
  adjusted_rows_case("pearson", "lognormal, rho = 0.8, n = 30", at(0.8, lognormal), band = c(0.06, 0.1)),
  permuted_case("pearson", "lognormal, rho = 0.8, n = 30", "", c(0.07, 0.1),
                \() min(gpuCorCompare(at(0.8, lognormal)(30), at(0.8, lognormal)(30), n_perm = 39)$p.adjusted)),
  adjusted_rows_case("spearman", "lognormal, n = 30", lognormal),
  adjusted_rows_case("pearson", "100 lognormal columns, n = 20", \(n) lognormal(n, 100), 20),
  adjusted_rows_case("bicor", "100 lognormal columns, n = 30", \(n) lognormal(n, 100)),
  fdr_case("pearson", "normal, two modules, n = 25", c(0.03, 0.1), \(n) block(n, 40), 25),
  fdr_case("pearson", "t10 by rows, two modules, n = 25", c(0.12, 0.23), \(n) elliptic_block(n, 10), 25),
  fdr_case("pearson", "t10 by rows, two modules, n = 100", c(0.14, 0.26), \(n) elliptic_block(n, 10), 100),
  fdr_case("pearson", "t5 by rows, two modules, n = 100", c(0.6, 0.85), \(n) elliptic_block(n, 5), 100),
  null_case("gpuCorCompare", "spearman", "normal, n = 5 and n = 20", "tail", c(0, 1e-9), level = 1e-3,
            \() gpuCorCompare(normal(5), normal(20), method = "spearman")$p.value)
)

# ---- lists of subjects, which differ among themselves

# Groups that differ in age, which the model has.
aged_groups <- function(...) {
  age <- stats::runif(14, rep(c(0, 0.3), each = 7), rep(c(0.7, 1), each = 7))
  design <- cbind(mean = 1, group = rep(0:1, each = 7), age = age)
  gpuCorCompare(aged(age), design = design, contrast = "group", ...)
}
of_age <- function(x, ...) gpuCorCompare(x, design = cbind(1, age = stats::rexp(length(x))), contrast = "age", ...)
of_distances <- function(...) {
  suppressWarnings(gpuCorCompare(lapply(1:16, \(i) normal(60, 12)), method = "distance", ...),
                   classes = "gpuCorLowerSide")
}
sessions <- function(k, ...) {
  x <- sessions_of(k)
  gpuCorCompare(x[[1]], x[[2]], paired = TRUE, ...)
}
# The p value that there is no component at all.
of_components <- function(net) min(1, net@components$table$p.value)
rates <- function(compare, ...) discoveries(compare(..., fdr = 0.05, n_perm = 60, output = "edges"))

group_case <- function(data, option, p, band = VALID, method = "pearson") {
  null_case("gpuCorCompare", method, data, option, band, p, sets = 30)
}
group_permuted_case <- function(data, option, p, band = NEARLY, method = "pearson") {
  null_case("gpuCorCompare", method, data, option, band, p, time = 3, sets = 60)
}

t3_subjects <- function(k) lapply(seq_len(k), \(i) t3(40, 12))
# Two sites with 3 and 7, and 7 and 3 subjects of both groups; subjects of a site have correlations in common.
sites <- data.frame(site = rep(1:2, each = 10), group = rep(c("a", "b", "a", "b"), c(3, 7, 7, 3)))
of_sites <- function(..., n_perm = 39) {
  own <- lapply(1:2, \(site) diag(12) + 0.15 * normal(12, 12))
  x <- lapply(sites$site, \(site) series(100, 0.6, 12) %*% own[[site]])
  gpuCorCompare(x, design = ~ group, data = sites, n_perm = n_perm, ...)
}
# Three sessions of each of ten subjects, five in each group.
of_sessions <- function(...) {
  own <- rep(lapply(1:10, \(subject) diag(12) + 0.15 * normal(12, 12)), each = 3)
  x <- lapply(own, \(own) series(100, 0.6, 12) %*% own)
  gpuCorCompare(x[1:15], x[16:30], n_perm = 39, ...)
}
# Four of 18 subjects miss two columns each.
with_holes <- function(make) {
  lapply(seq_len(18), \(i) {
    x <- make(1)[[1]]
    if (i %% 5 == 0) x[, i %% 7 + 1:2] <- NA
    x
  })
}
missing_case <- function(make, ...) {
  x <- with_holes(make)
  gpuCorCompare(x[1:6], x[7:18], na.rm = TRUE, ...)
}

group_cases <- list(
  group_case("8 subjects that differ, AR(0.6)", "one group", \() gpuCorCompare(subjects_of(8))$p.value),
  group_case("8 subjects of skewed z", "one group", \() of_pairs(gpuCorCompare(skewed_subjects(8))$p.value, 6),
             c(0.12, 0.17)),
  group_case("40 subjects of skewed z", "one group", \() of_pairs(gpuCorCompare(skewed_subjects(40))$p.value, 6),
             c(0.08, 0.12)),
  group_permuted_case("16 subjects of skewed z", "one group, n_perm",
                      \() min(gpuCorCompare(skewed_subjects(16), n_perm = 39)$p.adjusted), c(0.07, 0.15)),
  group_case("16 independent subjects", "one group", \() of_distances()$p.value, c(0.07, 0.1), "distance"),
  group_permuted_case("16 independent subjects", "one group, n_perm",
                      \() min(of_distances(n_perm = 39)$p.adjusted), c(0.25, 0.6), "distance"),
  group_permuted_case("16 independent subjects", "one group, n_perm, positive",
                      \() discoveries(of_distances(n_perm = 39, p.value = 0.05, sign = "positive", output = "edges")),
                      CONSERVATIVE, "distance"),
  group_permuted_case("20 subjects of skewed z", "skewed covariate, n_perm",
                      \() min(of_age(skewed_subjects(20), n_perm = 39)$p.adjusted), c(0, 0.06)),
  group_case("8 subjects, two sessions, AR(0.6)", "paired", \() sessions(8)$p.value),
  group_case("7 and 7 subjects that differ in age, AR(0.6)", "design", \() aged_groups()$p.value),
  group_case("5, 2 and 9 subjects that differ, AR(0.6)", "F",
             \() gpuCorCompare(lapply(c(5, 2, 9), subjects_of))$p.value),
  group_case("4, 4 and 8 subjects of t3", "F", \() gpuCorCompare(lapply(c(4, 4, 8), t3_subjects))$p.value),
  group_permuted_case("5, 4 and 9 subjects that differ, AR(0.6)", "F, n_perm",
                      \() min(gpuCorCompare(lapply(c(5, 4, 9), subjects_of), n_perm = 39)$p.adjusted)),
  group_case("6 and 12 subjects, four of which miss columns", "na.rm", \() missing_case(make = subjects_of)$p.value),
  group_case("6 and 12 subjects of t3, four of which miss columns", "na.rm",
             \() missing_case(make = t3_subjects)$p.value),
  group_permuted_case("6 and 12 subjects of t3, four of which miss columns", "na.rm, n_perm",
                      \() min(missing_case(make = t3_subjects, n_perm = 39)$p.adjusted, na.rm = TRUE)),
  group_permuted_case("10 and 10 subjects of two sites, unbalanced", "blocks",
                      \() min(of_sites(blocks = sites$site)$p.adjusted)),
  group_permuted_case("10 and 10 subjects of two sites, unbalanced", "no blocks", \() min(of_sites()$p.adjusted),
                      c(0.1, 0.8)),
  group_permuted_case("5 and 5 subjects, three sessions", "blocks, whole",
                      \() min(of_sessions(blocks = rep(1:10, each = 3), whole = TRUE)$p.adjusted)),
  group_permuted_case("5 and 5 subjects, three sessions", "no blocks", \() min(of_sessions()$p.adjusted), c(0.1, 1)),
  group_permuted_case("8 subjects that differ, AR(0.6)", "one group, n_perm",
                      \() min(gpuCorCompare(subjects_of(8), n_perm = 39)$p.adjusted)),
  group_permuted_case("8 subjects, two sessions, AR(0.6)", "paired, n_perm",
                      \() min(sessions(8, n_perm = 39)$p.adjusted)),
  group_permuted_case("7 and 7 subjects that differ in age, AR(0.6)", "design, n_perm",
                      \() min(aged_groups(n_perm = 39)$p.adjusted)),
  group_permuted_case("6 and 8 subjects that differ, AR(0.6)", "fdr, n_perm",
                      \() rates(gpuCorCompare, subjects_of(6), subjects_of(8)), c(0.03, 0.07)),
  group_permuted_case("8 subjects, two sessions, AR(0.6)", "paired, fdr, n_perm",
                      \() rates(sessions, 8), c(0.03, 0.07)),
  group_permuted_case("7 and 7 subjects that differ in age, AR(0.6)", "design, fdr, n_perm", \() rates(aged_groups),
                      c(0.03, 0.07)),
  group_permuted_case("5, 4 and 9 subjects that differ, AR(0.6)", "F, fdr, n_perm",
                      \() rates(gpuCorCompare, lapply(c(5, 4, 9), subjects_of)), c(0.03, 0.07)),
  group_permuted_case("10 and 10 subjects of two sites, unbalanced", "blocks, fdr, n_perm",
                      \() rates(of_sites, blocks = sites$site), c(0.03, 0.07)),
  group_permuted_case("6 and 6 subjects that differ, AR(0.6)", "components by size",
                      \() of_components(gpuCorCompare(subjects_of(6), subjects_of(6), threshold = 2, n_perm = 39,
                                                      components = "size"))),
  group_permuted_case("6 and 6 subjects that differ, AR(0.6)", "components of each sign",
                      \() of_components(gpuCorCompare(subjects_of(6), subjects_of(6), threshold = 2, n_perm = 39,
                                                      components = "sum", sign = "each"))),
  group_permuted_case("6 and 6 subjects that differ, AR(0.6)", "components = tfce",
                      \() min(gpuCorCompare(subjects_of(6), subjects_of(6), n_perm = 39,
                                            components = "tfce")$p.adjusted)),
  group_permuted_case("6 and 6 subjects of t3", "components = tfce",
                      \() min(gpuCorCompare(t3_subjects(6), t3_subjects(6), n_perm = 39,
                                            components = "tfce")$p.adjusted)),
  group_permuted_case("8 subjects, two sessions, AR(0.6)", "components by sum",
                      \() of_components(sessions(8, threshold = 2, n_perm = 39, components = "sum"))),
  group_permuted_case("7 and 7 subjects that differ in age, AR(0.6)", "components of a design",
                      \() of_components(aged_groups(threshold = 2, n_perm = 39, components = "size")))
)

# Welch's t of n1 and n2 subjects.
unequal_case <- function(n1, n2, level, band) {
  null_case("gpuCorCompare", "pearson", paste(n1, "and", n2, "subjects that differ"), "variance = unequal", band,
            level = level, \() gpuCorCompare(subjects_of(n1), subjects_of(n2), variance = "unequal")$p.value)
}
# The t of n1 and n2 subjects with one variance. Each subject has columns of its own, normal or with heavy tails.
equal_case <- function(n1, n2, level, band, data = "that differ", make = subjects_of) {
  null_case("gpuCorCompare", "pearson", paste(n1, "and", n2, "subjects", data), "variance = equal", band,
            level = level, \() gpuCorCompare(make(n1), make(n2))$p.value)
}
# The subjects of the smaller group have `rows` rows, those of the other one 100: z varies more with fewer rows.
subjects_with <- function(k, rows) lapply(seq_len(k), \(i) normal(rows, 12))
unequal_perm_case <- function(n1, n2, rows, band, variance = "unequal") {
  null_case("gpuCorCompare", "pearson", paste(n1, "and", n2, "subjects of", rows, "and 100 rows"),
            paste("n_perm, variance =", variance), band, time = 3, sets = 60,
            \() min(gpuCorCompare(subjects_with(n1, rows), subjects_with(n2, 100), n_perm = 39,
                                  variance = variance)$p.adjusted))
}
several_perm_case <- function(rows, band) {
  null_case("gpuCorCompare", "pearson", paste("6, 10 and 14 subjects of", rows, "100 and 100 rows"), "n_perm, F", band,
            time = 3, sets = 60,
            \() min(gpuCorCompare(Map(subjects_with, c(6, 10, 14), c(rows, 100, 100)), n_perm = 39)$p.adjusted))
}

subject_cases <- c(
  lapply(c(5, 12), function(k) {
    null_case("gpuCorNetwork", "pearson", paste(k, "subjects that differ, AR(0.6)"), "p.value", VALID,
              \() of_edges(gpuCorNetwork(subjects_of(k), p.value = 0.05, combine = "fisher", output = "edges"), 66))
  }),
  lapply(c(5, 12), function(k) {
    null_case("gpuCorCompare", "pearson", paste(k, "and", k, "subjects that differ, AR(0.6)"), "", c(0.035, 0.055),
              sets = 20, \() gpuCorCompare(subjects_of(k), subjects_of(k), variance = "unequal")$p.value)
  }),
  list(
    null_case("gpuCorNetwork", "pearson", "8 subjects that differ, AR(0.6)", "fdr", NEARLY,
              sets = 100,
              \() discoveries(gpuCorNetwork(subjects_of(8), fdr = 0.05, combine = "fisher", output = "edges"))),
    null_case("gpuCorCompare", "pearson", "5 and 9 subjects that differ unequally", "", c(0.04, 0.07),
              \() gpuCorCompare(subjects_of(5, spread = 0.25), subjects_of(9, spread = 0.1),
                                variance = "unequal")$p.value),
    null_case("gpuCorCompare", "pearson", "5 and 9 subjects that differ unequally", "variance = equal", c(0.075, 0.11),
              \() gpuCorCompare(subjects_of(5, spread = 0.25), subjects_of(9, spread = 0.1))$p.value),
    unequal_case(2, 10, 0.05, c(0.085, 0.115)),
    unequal_case(2, 10, 0.005, c(0.022, 0.038)),
    unequal_case(3, 20, 0.05, c(0.065, 0.085)),
    unequal_case(3, 20, 0.005, c(0.016, 0.027)),
    unequal_case(4, 16, 0.05, c(0.05, 0.07)),
    unequal_case(4, 16, 0.005, c(0.007, 0.015)),
    unequal_case(6, 10, 0.05, VALID),
    unequal_case(10, 20, 0.05, VALID),
    unequal_case(10, 20, 0.005, c(0.003, 0.007)),
    equal_case(1, 10, 0.05, VALID),
    equal_case(2, 10, 0.05, VALID),
    equal_case(2, 10, 0.005, VALID / 10),
    equal_case(2, 10, 0.05, VALID, "of t3", t3_subjects),
    equal_case(5, 20, 0.05, VALID),
    equal_case(5, 20, 0.005, VALID / 10),
    equal_case(5, 20, 0.05, VALID, "of t3", t3_subjects),
    equal_case(12, 12, 0.05, VALID),
    unequal_perm_case(6, 14, 100, c(0.03, 0.08)),
    unequal_perm_case(6, 14, 50, c(0.07, 0.13)),
    unequal_perm_case(6, 14, 25, c(0.17, 0.3)),
    unequal_perm_case(10, 20, 25, c(0.1, 0.2)),
    unequal_perm_case(6, 14, 100, c(0.03, 0.08), "equal"),
    unequal_perm_case(6, 14, 50, c(0.13, 0.23), "equal"),
    unequal_perm_case(6, 14, 25, c(0.38, 0.52), "equal"),
    unequal_perm_case(10, 20, 25, c(0.38, 0.52), "equal"),
    several_perm_case(50, c(0.07, 0.23)),
    several_perm_case(25, c(0.42, 0.7)),
    null_case("gpuCorCompare", "given", "12 and 12 subjects that differ, heavy tails", "values = \"z\"", NEARLY,
              \() {
                z <- replicate(24, simplify = FALSE, `[<-`(diag(20) * 0, lower.tri(diag(20)), stats::rt(190, 5) / 10))
                z <- lapply(z, function(z) z + t(z))
                gpuCorCompare(z[1:12], z[13:24], method = "given", options = list(values = "z"))$p.value
              }),
    null_case("gpuCorCompare", "pearson", "10 and 14 subjects that differ, AR(0.6)", "seeds, n_perm", NEARLY, time = 3,
              sets = 60, \() min(gpuCorCompare(subjects_of(10), subjects_of(14), seeds = 1:2, n_perm = 39)$p.adjusted,
                                 na.rm = TRUE)),
    null_case("gpuCorCompare", "pearson", "30 and 50 rows, t(3)", "seeds, n_perm", NEARLY, time = 3, sets = 60,
              \() min(gpuCorCompare(t3(30), t3(50), seeds = 1:2, n_perm = 39)$p.adjusted, na.rm = TRUE)),
    null_case("gpuCorCompare", "distance", "8 and 8 subjects, lognormal, n = 40", "", CONSERVATIVE,
              \() {
                subjects <- lapply(1:16, \(i) lognormal(40, 12))
                gpuCorCompare(subjects[1:8], subjects[9:16], method = "distance")$p.value
              }),
    null_case("gpuCorCompare", "pearson", "6 and 6 subjects that differ", "n_perm", NEARLY, time = 3, sets = 40,
              \() min(gpuCorCompare(subjects_of(6), subjects_of(6), n_perm = 39)$p.adjusted)),
    null_case("gpuCorNetwork", "pearson", "5 subjects, one correlation in all", "p.value, fixed effects", VALID,
              \() of_edges(gpuCorNetwork(subjects_of(5, a = 0, spread = 0), p.value = 0.05, combine = "fisher",
                                         effects = "fixed", output = "edges"), 66)),
    null_case("gpuCorCompare", "pearson", "5 and 5 subjects, one correlation in all", "fixed effects", VALID,
              \() gpuCorCompare(subjects_of(5, a = 0, spread = 0), subjects_of(5, a = 0, spread = 0),
                                effects = "fixed")$p.value),
    null_case("gpuCorCompare", "pearson", "5 and 5 subjects, one correlation in all, AR(0.6)", "fixed effects, df = 45",
              NEARLY,
              \() gpuCorCompare(subjects_of(5, spread = 0), subjects_of(5, spread = 0), effects = "fixed",
                                df = 45)$p.value),
    null_case("gpuCorCompare", "pearson", "5 and 5 subjects that differ, AR(0.6)", "fixed effects", c(0.26, 0.37),
              \() gpuCorCompare(subjects_of(5), subjects_of(5), effects = "fixed")$p.value)
  )
)

# ---- partial correlations given all other columns

partial_cases <- c(
  lapply(c(0.05, 1e-3), function(level) {
    null_case("gpuCorTest", "pearson", "chain of 10 columns, n = 50", "partial, shrinkage = 0", VALID / 0.05 * level,
              level = level, \() distant(gpuCorTest(chain(50, 10), partial = TRUE, shrinkage = 0)$p.value))
  }),
  lapply(c(0.05, 1e-4), function(level) {
    null_case("gpuCorTest", "pearson", "200 normal columns, n = 50", "partial", CONSERVATIVE / 0.05 * level,
              level = level, \() gpuCorTest(normal(50, 200), partial = TRUE)$p.value)
  }),
  lapply(c(0.05, 1e-4), function(level) {
    null_case("gpuCorTest", "spearman", "200 lognormal columns, n = 50", "partial",
              CONSERVATIVE / 0.05 * level, level = level,
              \() gpuCorTest(lognormal(50, 200), partial = TRUE, method = "spearman")$p.value)
  }),
  list(
    null_case("gpuCorTest", "pearson", "200 lognormal columns, n = 50", "partial, far tail", c(2e-3, 3e-3),
              level = 1e-4, \() gpuCorTest(lognormal(50, 200), partial = TRUE)$p.value),
    null_case("gpuCorTest", "pearson", "chain of 200 columns, rho = 0.5, n = 50", "partial, far tail",
              CONSERVATIVE / 500, level = 1e-4, \() distant(gpuCorTest(chain(50, 200), partial = TRUE)$p.value)),
    null_case("gpuCorTest", "pearson", "chain of 200 columns, rho = 0.9, n = 50", "partial, far tail", c(5e-3, 2e-2),
              level = 1e-4, \() distant(gpuCorTest(chain(50, 200, 0.9), partial = TRUE)$p.value))
  )
)

# ---- cells of donors, which are the samples

donor_cases <- local({
  donor <- gl(12, CELLS)
  list(
    null_case("gpuCorTest", "pearson", "cells of 12 donors", "", c(0.12, 0.16),
              \() gpuCorTest(log1p(donor_cells(12)))$p.value),
    null_case("gpuCorTest", "pearson", "cells of 12 donors", "covariates = donor", NEARLY,
              \() gpuCorTest(log1p(donor_cells(12)), covariates = donor)$p.value),
    null_case("gpuCorTest", "spearman", "cells of 12 donors", "pseudobulk", NEARLY,
              \() gpuCorTest(donor_cells(12), pseudobulk = donor, method = "spearman")$p.value)
  )
})

# ---- inter-subject correlation: subjects are independent

isc_p <- function(...) gpuISC(listeners(...))$p.value
isc_max <- function(surrogate, ...) min(gpuISC(listeners(...), n_perm = 39, surrogate = surrogate)$p.adjusted)
isfc_max <- function(...) min(attr(gpuISC(listeners(...), output = "isfc", n_perm = 39), "p.adjusted"))
drifting <- function(k) lapply(listeners(k, a = 0), \(x) x + seq(-1, 1, length.out = 100))
sharing <- function(k) {
  common <- listeners(1)[[1]]
  lapply(listeners(k), \(x) sqrt(0.6) * common + sqrt(0.4) * x)
}
isc_group_case <- function(data, option, band, k, ..., contrast = "groups", of = "p.value", level = 0.05, sets = 40) {
  null_case("gpuISC", "pearson", data, paste0("group", option), band, time = 2, sets = sets, level = level, \() {
    found <- suppressWarnings(gpuISC(watching(k, ...), group = rep(1:2, k), n_perm = 99, contrast = contrast),
                              "gpuCorExchange")
    if (of == "p.adjusted") min(found$p.adjusted) else found$p.value
  })
}
ones_of <- function(r) apply(atanh(r), 2, \(z) stats::t.test(z, alternative = "greater")$p.value)

isc_cases <- c(
  lapply(c(3, 5, 10, 20), function(k) {
    null_case("gpuISC", "pearson", paste(k, "subjects, AR(0.6)"), "", c(0.03, 0.055), sets = 60, \() isc_p(k))
  }),
  list(
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6)", "tail", c(0.2e-3, 1.1e-3), level = 1e-3, sets = 60,
              \() isc_p(10)),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6)", "combine = \"mean\"", c(0.03, 0.055), sets = 60,
              \() gpuISC(listeners(10), combine = "mean")$p.value),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.9), n = 200", "", c(0.03, 0.055), sets = 60,
              \() isc_p(10, 200, 0.9)),
    null_case("gpuISC", "pearson", "10 subjects, t3", "", c(0.03, 0.055), sets = 60, \() isc_p(10, a = 0, make = t3)),
    null_case("gpuISC", "pearson", "10 subjects, lognormal", "", CONSERVATIVE, sets = 60,
              \() isc_p(10, a = 0, make = lognormal)),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6), unequal variances", "", CONSERVATIVE, sets = 60,
              \() isc_p(10, scale = exp(stats::rnorm(10)))),
    null_case("gpuISC", "pearson", "3 subjects, AR(0.6), unequal variances", "", c(0.055, 0.075), sets = 60,
              \() isc_p(3, scale = exp(stats::rnorm(3)))),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6), as t.test()", "", c(0.1, 0.14), sets = 60,
              \() ones_of(attr(gpuISC(listeners(10)), "r"))),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6)", "target", VALID, sets = 60,
              \() gpuISC(listeners(10), target = listeners(2)[[1]])$p.value),
    null_case("gpuISC", "pearson", "10 subjects with six tenths in common", "target", c(0.28, 0.42), sets = 60,
              \() suppressWarnings(gpuISC(sharing(10), target = listeners(2)[[1]]), "gpuCorShared")$p.value),
    null_case("gpuISC", "pearson", "10 subjects with a drift of all", "", c(0.9, 1), \() gpuISC(drifting(10))$p.value),
    null_case("gpuISC", "pearson", "10 subjects with a drift of all", "covariates", c(0.03, 0.055), sets = 60,
              \() gpuISC(drifting(10), covariates = 1:100)$p.value)
  ),
  list(
    isc_group_case("10 and 10 subjects", "", NEARLY, c(10, 10)),
    isc_group_case("5 and 15 subjects", "", NEARLY, c(5, 15)),
    isc_group_case("4 and 4 subjects", "", CONSERVATIVE, c(4, 4), c(0, 0)),
    isc_group_case("10 and 10 subjects, lognormal", "", NEARLY, c(10, 10), make = lognormal),
    isc_group_case("10 and 10 subjects, AR(0.9)", "", NEARLY, c(10, 10), make = \(n, m) series(n, 0.9, m)),
    isc_group_case("10 and 10 subjects", ", p.adjusted", NEARLY, c(10, 10), of = "p.adjusted", sets = 100),
    isc_group_case("10 and 10 subjects", ", between", NEARLY, c(10, 10), contrast = "between"),
    isc_group_case("5 and 15 subjects", ", between", NEARLY, c(5, 15), contrast = "between"),
    isc_group_case("10 and 10 subjects, loadings vary in one group", "", c(0.08, 0.12), c(10, 10), c(0.3, 0)),
    isc_group_case("5 and 15 subjects, loadings vary in the smaller group", "", c(0.25, 0.31), c(5, 15), c(0.3, 0)),
    isc_group_case("10 and 10 subjects, loadings vary in one group", ", between", c(0.16, 0.21), c(10, 10), c(0.3, 0),
                   contrast = "between"),
    isc_group_case("5 and 15 subjects, loadings vary in the smaller group", ", between", c(0.18, 0.24), c(5, 15),
                   c(0.3, 0), contrast = "between"),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6)", "isfc", NEARLY, sets = 60, time = 3, \() isfc_max(10)),
    null_case("gpuISC", "pearson", "3 subjects, AR(0.9)", "isfc", NEARLY, sets = 60, time = 3,
              \() isfc_max(3, a = 0.9)),
    null_case("gpuISC", "pearson", "3 subjects, lognormal", "isfc", NEARLY, sets = 60, time = 3,
              \() isfc_max(3, a = 0, make = lognormal))
  ),
  lapply(c(2, 20), function(k) {
    null_case("gpuISC", "pearson", paste(k, "subjects, AR(0.6)"), "n_perm", NEARLY, sets = 60, time = 3,
              \() isc_max("rotation", k))
  }),
  list(
    null_case("gpuISC", "pearson", "10 subjects, AR(0.9)", "n_perm", NEARLY, sets = 60, time = 3,
              \() isc_max("rotation", 10, a = 0.9)),
    null_case("gpuISC", "pearson", "3 subjects, lognormal", "n_perm", NEARLY, sets = 60, time = 3,
              \() isc_max("rotation", 3, a = 0, make = lognormal)),
    null_case("gpuISC", "pearson", "10 subjects, AR(0.6)", "n_perm, phase", NEARLY, sets = 60, time = 3,
              \() isc_max("phase", 10)),
    null_case("gpuISC", "pearson", "3 subjects, AR(0.9)", "n_perm, phase", c(0.05, 0.1), sets = 60, time = 3,
              \() isc_max("phase", 3, a = 0.9)),
    null_case("gpuISC", "pearson", "3 subjects, lognormal", "n_perm, phase", c(0.08, 0.14), sets = 60, time = 3,
              \() isc_max("phase", 3, a = 0, make = lognormal)),
    null_case("gpuISC", "pearson", "10 subjects, lognormal", "n_perm, phase", c(0.06, 0.12), sets = 60, time = 3,
              \() isc_max("phase", 10, a = 0, make = lognormal))
  )
)

# ---- preservation of modules

# P values of all statistics, of modules in the reference whose genes are random ones of the test set.
labels <- rep(0:3, c(40, 20, 20, 20))
random_modules <- function(test = modules_of(25, labels), ...) {
  label <- sample(labels)
  gpuPreservation(modules_of(30, label), test, label, n_perm = 39, gold = 0, ...)$p.value
}
# Random sets of genes of two data sets that share their modules.
shared_modules <- function(statistics, ...) {
  loading <- stats::runif(length(labels), 0.5, 2)
  gpuPreservation(modules_of(30, labels, loading), modules_of(25, labels, loading), sample(labels), n_perm = 39,
                  gold = 0, ...)$p.value[, statistics]
}
# Modules that were found in a data set, of genes that all have one factor, and no module, in the test set.
found_modules <- function(statistics) {
  reference <- modules_of(40, labels)
  found <- stats::cutree(stats::hclust(stats::as.dist(1 - stats::cor(reference)), "average"), 5)
  test <- normal(30, 100) + outer(stats::rnorm(30), stats::runif(100, 0.5, 1.5))
  found[found %in% which(tabulate(found) < 8)] <- 0
  p <- gpuPreservation(reference, test, found, n_perm = 39, gold = 0, null = "random sets")$p.value
  p[rownames(p) != "0", statistics]
}
OF_TEST_SET <- c("propVarExplained", "meanAdj", "meanMAR")
GENE_BY_GENE <- c("meanSignAwareCorDat", "cor.kIM", "cor.kME", "cor.cor", "cor.MAR")
# Modules that are also in the test set, where their genes have other loadings.
other_pattern <- function(statistic) {
  gpuPreservation(modules_of(30, labels), modules_of(25, labels), labels, n_perm = 39, gold = 0)$p.value[, statistic]
}

preservation_cases <- list(
  null_case("gpuPreservation", "pearson", "random labels, genes in modules, n = 25", "", VALID, sets = 100,
            \() random_modules()),
  null_case("gpuPreservation", "pearson", "random labels, independent genes, n = 25", "", VALID, sets = 100,
            \() random_modules(normal(25, 100))),
  null_case("gpuPreservation", "pearson", "random labels, half of the genes in a module, lognormal, n = 12", "", VALID,
            sets = 200, \() random_modules(exp(cbind(block(12, 50), normal(12, 50))), type = "signed")),
  null_case("gpuPreservation", "pearson", "random labels, genes in modules, n = 25", "network = \"overlap\"", VALID,
            sets = 50, \() random_modules(network = "overlap")),
  null_case("gpuPreservation", "pearson", "random labels, modules in both sets, n = 25", "of the test set alone", VALID,
            sets = 100, \() shared_modules(OF_TEST_SET)),
  null_case("gpuPreservation", "pearson", "random labels, modules in both sets, n = 25", "gene by gene", c(0.75, 0.9),
            sets = 50, \() shared_modules(GENE_BY_GENE)),
  null_case("gpuPreservation", "pearson", "random labels, modules in both sets, n = 25", "null = \"random sets\"",
            c(0.035, 0.055), sets = 100, \() shared_modules(c(OF_TEST_SET, GENE_BY_GENE), null = "random sets")),
  null_case("gpuPreservation", "pearson", "modules found in one set, one factor in the other", "null = \"random sets\"",
            c(0.03, 0.06), sets = 60, \() found_modules(c(OF_TEST_SET, GENE_BY_GENE))),
  null_case("gpuPreservation", "pearson", "dense modules of another pattern, n = 25", "cor.cor", c(0.12, 0.2),
            sets = 100, \() other_pattern("cor.cor")),
  null_case("gpuPreservation", "pearson", "dense modules of another pattern, n = 25", "cor.kIM, cor.kME", NEARLY,
            sets = 100, \() other_pattern(c("cor.kIM", "cor.kME")))
)

# ---- random halves of real samples

# Two groups of `set`'s samples, whose batches are covariates if `batches`.
compare_halves <- function(set, ..., batches = FALSE) {
  halves <- halves_of(set)
  covariates <- if (batches) lapply(halves$batch, \(batch) stats::model.matrix(~batch)[, -1])
  gpuCorCompare(halves$x, halves$y, covariates = covariates, ...)
}
real_case <- function(method, set, option, band, batches = FALSE) {
  p <- if (option == "fdr") {
    \() discoveries(compare_halves(set, batches = batches, n_perm = 60, fdr = 0.05, output = "edges"))
  } else {
    \() min(compare_halves(set, batches = batches, n_perm = 39, method = method)$p.adjusted)
  }
  data <- c(ALL = "halves of 64 leukemias", bladderEset = "halves of 20 bladder tumors")[[set]]
  option <- paste0("n_perm", if (option == "fdr") ", fdr", if (batches) ", two covariates of batches")
  c(null_case("gpuCorCompare", method, data, option, band, p, time = 3, sets = 60), set = set)
}
genes_case <- function(method, n, band) {
  c(null_case("gpuCorNetwork", method, paste("permuted genes of leukemias, n =", n), "fdr", band, sets = 150,
              \() discoveries(gpuCorNetwork(permuted_genes("ALL", n), fdr = 0.05, method = method, output = "edges"))),
    set = "ALL")
}
real_cases <- Filter(\(case) !is.null(real_samples(case$set)), list(
  genes_case("pearson", 20, c(0.12, 0.24)),
  genes_case("pearson", 128, c(0.07, 0.13)),
  genes_case("spearman", 20, c(0.03, 0.06)),
  genes_case("bicor", 20, c(0.03, 0.06)),
  real_case("pearson", "ALL", "", NEARLY),
  real_case("spearman", "ALL", "", NEARLY),
  real_case("pearson", "ALL", "fdr", c(0.03, 0.07)),
  real_case("pearson", "bladderEset", "", NEARLY),
  real_case("pearson", "bladderEset", "fdr", c(0.03, 0.07)),
  real_case("pearson", "bladderEset", "", NEARLY, batches = TRUE),
  real_case("pearson", "bladderEset", "fdr", c(0.03, 0.08), batches = TRUE),
  real_case("spearman", "bladderEset", "", NEARLY, batches = TRUE)
))

# Covariates of which one tells a protected group as well as `shift` does.
protected_p <- function(x, y, shift, method = "pearson") {
  group <- rep(0:1, c(12, 18))
  z <- normal(30, 3)
  z[, 1] <- z[, 1] + shift * group
  gpuCorTest(x + z[, 1], y - z[, 2], covariates = z, protect = factor(group), method = method)$p.value
}

null_cases <- c(test_cases, partial_cases, series_cases, interval_cases, family_cases, network_cases, association_cases,
                 two_groups_cases, group_cases, subject_cases, donor_cases, isc_cases, preservation_cases, real_cases)
