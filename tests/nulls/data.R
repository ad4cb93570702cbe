# Data under null hypotheses: n observations of m variables. Two calls are independent, so that all pairs between their
# columns are null.

normal <- function(n, m = 20) matrix(stats::rnorm(n * m), n)

# Genes of one module.
block <- function(n, m = 20, rho = 0.5) sqrt(rho) * stats::rnorm(n) + sqrt(1 - rho) * normal(n, m)

# Genes of the modules with these labels, from 1; 0: of none.
modules_of <- function(n, label, loading = stats::runif(length(label), 0.5, 2)) {
  cbind(0, normal(n, max(label)))[, label + 1] * rep(loading, each = n) + normal(n, length(label))
}

t3 <- function(n, m = 20) matrix(stats::rt(n * m, 3), n)

# Uncorrelated columns that depend on one another: each row has a random scale, so that it is multivariate t with 3
# degrees of freedom.
scaled_rows <- function(n, m = 20) normal(n, m) / sqrt(stats::rchisq(n, 3) / 3)
lognormal <- function(n, m = 20) exp(normal(n, m))

# few_counts: six in ten are zero; mostly_zeros: nine in ten, as in single cells; counts: bulk, logarithms.
few_counts <- function(n, m = 20) matrix(stats::rnbinom(n * m, size = 0.5, mu = 1), n)
mostly_zeros <- function(n, m = 20) matrix(stats::rbinom(n * m, 1, 0.1) * (1 + stats::rgeom(n * m, 0.3)), n)
counts <- function(n, m = 20) log1p(matrix(stats::rnbinom(n * m, size = 2, mu = 20), n))

# Related observations: families of five with a correlation of 0.5, a pair of twins among 20, or the tips of a tree, n a
# power of 2, that branches at equal intervals. `of`: their covariance.
families <- function(n) 0.5 * kronecker(diag(n / 5), matrix(1, 5, 5)) + diag(0.5, n)
twins <- function(r) replace(diag(20), c(2, 21), r)
tree <- function(n) {
  branches <- 2^(0:log2(n))
  Reduce(`+`, lapply(branches, \(b) kronecker(diag(b), matrix(1, n / b, n / b)))) / length(branches)
}
related <- function(of, m = 20) crossprod(chol(of), normal(nrow(of), m))

holes <- function(x, share) replace(x, stats::runif(length(x)) < share, NA)

# Autoregressive series.
series <- function(n, a, m = 20) {
  x <- stats::filter(sqrt(1 - a^2) * normal(n + 50, m), a, "recursive")
  matrix(x[-(1:50), ], n)
}

# 1/f noise, and a sine of any phase in noise.
pink <- function(n, m = 20) {
  f <- pmin(seq_len(n) - 1, n + 1 - seq_len(n))
  Re(stats::mvfft(stats::mvfft(normal(n, m)) * ifelse(f > 0, 1 / sqrt(f), 0), inverse = TRUE)) / n
}
sines <- function(n, m = 20, period = 20) {
  sin(2 * pi * outer(seq_len(n) / period, stats::runif(m), `+`)) + normal(n, m)
}

# A Markov chain of columns: only neighbors have a partial correlation given all others. `distant`: the results of the
# other pairs.
chain <- function(n, m, a = 0.5) t(series(m, a, n))
distant <- function(p) as.vector(p)[as.vector(stats::dist(seq_len(attr(p, "Size")))) > 1]

# Columns i and m + i of make() are correlated by rho.
pairs_of <- function(n, rho, make = normal, m = 20) {
  x <- make(n, m)
  cbind(x, rho * x + sqrt(1 - rho^2) * make(n, m))
}
elliptic_t3 <- function(n, rho, m = 20) {
  pairs_of(n, rho) / sqrt(matrix(stats::rchisq(n * m, 3), n)[, c(seq_len(m), seq_len(m))] / 3)
}
of_pairs <- function(p, m = 20) as.matrix(p)[cbind(seq_len(m), m + seq_len(m))]

# Correlated counts, of the distribution of few_counts().
count_pairs <- function(n, rho, m = 20) stats::qnbinom(stats::pnorm(pairs_of(n, rho, m = m)), size = 0.5, mu = 1)

# Data x confounded by a regressor z.
confounded <- function(z, x) x + z %*% normal(ncol(z), ncol(x))

# Series of k subjects, whose own correlations differ from zero by normal deviations; their mean z is zero.
subjects_of <- function(k, n = 100, a = 0.6, spread = 0.1, m = 12) {
  lapply(seq_len(k), function(i) series(n, a, m) %*% (diag(m) + spread * normal(m, m)))
}

# Independent series of k subjects, whose columns depend on one another; `make`: their innovations, `scale`: of each
# subject.
listeners <- function(k, n = 100, a = 0.6, make = normal, scale = rep(1, k), m = 12) {
  lapply(seq_len(k), function(i) {
    x <- stats::filter(make(n + 50, m) + as.vector(make(n + 50, 1)), a, "recursive")
    scale[i] * matrix(x[-(1:50), ], n)
  })
}

# Counts of 60 cells of each of k donors, whose genes have levels of their own in each donor.
CELLS <- 60
donor_cells <- function(k, m = 20) {
  rate <- exp(matrix(stats::rnorm(k * m, 0, 0.5), k))
  matrix(stats::rpois(k * CELLS * m, 0.5 * rate[rep(seq_len(k), each = CELLS), ]), k * CELLS)
}

# Subjects who follow the same stimulus in each column, by loadings that differ by 2 * spread among those of a group.
# `k`, `spread`: of each of two groups.
watching <- function(k, spread = c(0.3, 0.3), n = 100, m = 40, make = \(n, m) series(n, 0.6, m)) {
  stimulus <- make(n, m)
  lapply(rep(spread, k), function(spread) {
    loading <- rep(0.6 + spread * sample(c(-1, 1), m, TRUE), each = n)
    loading * stimulus + sqrt(1 - loading^2) * make(n, m)
  })
}

# Subjects whose z of columns j and m + j are lognormal about 0.
skewed_subjects <- function(k, n = 100, m = 6) {
  lapply(seq_len(k), function(i) {
    r <- rep(tanh(0.2 * (exp(stats::rnorm(m)) - exp(0.5))), each = n)
    x <- normal(n, m)
    cbind(x, r * x + sqrt(1 - r^2) * normal(n, m))
  })
}

# Two sessions of k subjects, whose own correlations are the same in both.
sessions_of <- function(k, n = 100, a = 0.6, spread = 0.2, m = 12) {
  own <- lapply(seq_len(k), function(i) diag(m) + spread * normal(m, m))
  lapply(1:2, function(session) lapply(own, function(mixed) series(n, a, m) %*% mixed))
}

# Subjects with a signal of all regions that grows with `age`, a number from 0 to 1 for each of them.
aged <- function(age, n = 100, a = 0.6) {
  Map(function(x, age) x + age * as.vector(series(n, a, 1)), subjects_of(length(age), n, a), age)
}

# Expression of real samples, samples x genes: of 128 leukemias, and of 40 bladder tumors that were measured in three
# batches. NULL where the package is absent.
real_samples <- local({
  kept <- list()
  of <- c(ALL = "ALL", bladderEset = "bladderbatch")
  function(set) {
    if (is.null(kept[[set]]) && nzchar(system.file(package = of[[set]]))) {
      inside <- new.env()
      utils::data(list = c(ALL = "ALL", bladderEset = "bladderdata")[[set]], package = of[[set]], envir = inside)
      x <- t(get("exprs", attr(inside[[set]], "assayData")))
      x <- x[, order(-apply(x, 2, stats::var))[1:2000]]
      about <- attr(attr(inside[[set]], "phenoData"), "data")
      if (set == "bladderEset") {
        x <- x[about$cancer == "Cancer", ]
        attr(x, "batch") <- factor(about$batch[about$cancer == "Cancer"])
      }
      kept[[set]] <<- x
    }
    kept[[set]]
  }
})
# m random genes of n random samples, each permuted.
permuted_genes <- function(set, n, m = 150) {
  x <- real_samples(set)
  apply(x[sample.int(nrow(x), n), sample.int(ncol(x), m)], 2, sample)
}
# A random half of the samples and the other one, of m random genes; `batch`: of both.
halves_of <- function(set, m = 40) {
  x <- real_samples(set)
  first <- sort(sample.int(nrow(x), nrow(x) / 2))
  genes <- sample.int(ncol(x), m)
  batch <- attr(x, "batch")
  list(x = x[first, genes], y = x[-first, genes], batch = list(batch[first], batch[-first]))
}

# A data set's p value for the null hypothesis that there is nothing to discover.
discoveries <- function(edges) as.numeric(nrow(edges) == 0)

# For edges between columns with `label`s: p values whose fraction at or below any level is the fraction of false
# discoveries.
false_discoveries <- function(edges, label) {
  if (nrow(edges)) as.numeric(label[edges$from] == label[edges$to]) else 1
}

# p values of edges, filled up with 1 to the number of pairs.
of_edges <- function(edges, pairs) c(edges$p.value, rep(1, pairs - nrow(edges)))
