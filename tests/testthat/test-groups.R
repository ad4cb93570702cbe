# Groups of subjects: t of each subject's z by lm() and t.test(), permutations, and components.

z_matrix <- function(x, method = "pearson") {
  vapply(x, FUN.VALUE = numeric(pairs_of(ncol(x[[1]]))), function(m) z_of(cor(m, method = method))[lower.tri(cor(m))])
}
pairs_of <- function(n) n * (n - 1) / 2

# Subjects of m regions; the first four are connected by `strength`, a number for each subject.
connected <- function(strength, m = 9, n = 60) {
  lapply(strength, function(s) {
    x <- matrix(rnorm(n * m), n)
    x[, 1:4] <- x[, 1:4] + s * rnorm(n)
    x
  })
}

# Rows: pairs; columns: estimate, t, p. test(z): a list of these of one pair.
tests_of <- function(z, test) t(apply(z, 1, function(v) unlist(test(v))))
paired_t <- function(v) t.test(v[1:6], v[7:12], paired = TRUE)[c("estimate", "statistic", "p.value")]
one_t <- function(v) t.test(v)[c("estimate", "statistic", "p.value")]
contrast_t <- function(design, contrast) {
  unscaled <- drop(contrast %*% solve(crossprod(design)) %*% contrast)
  function(v) {
    fit <- lm(v ~ design - 1)
    estimate <- sum(contrast * coef(fit))
    t <- estimate / sqrt(unscaled * sum(resid(fit)^2) / df.residual(fit))
    list(estimate, t, 2 * pt(-abs(t), df.residual(fit)))
  }
}

design <- cbind(mean = 1, group = rep(0:1, each = 6), age = c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8))
contrast <- c(0, 1, -0.5)
kinds <- list(
  paired = list(args = function(x) list(x[1:6], x[7:12], paired = TRUE), test = paired_t, df = 5),
  one = list(args = function(x) list(x), test = one_t, df = 11),
  design = list(args = function(x) list(x, design = design, contrast = contrast),
                test = contrast_t(design, contrast), df = 9)
)

# The statistics of all rows of z at once, for permutations: the test of these definitions compares them with t.test()
# and anova(). Values may be missing.
moments <- function(z) {
  n <- rowSums(!is.na(z))
  mean <- rowMeans(z, na.rm = TRUE)
  list(n = n, mean = mean, squares = rowSums((z - mean)^2, na.rm = TRUE))
}
t_of_one <- function(z) with(moments(z), mean / sqrt(squares / (n - 1) / n))
t_of_two <- function(z, in_x, equal = TRUE) {
  x <- moments(z[, in_x, drop = FALSE])
  y <- moments(z[, !in_x, drop = FALSE])
  pooled <- (x$squares + y$squares) / (x$n + y$n - 2) * (1 / x$n + 1 / y$n)
  own <- x$squares / (x$n - 1) / x$n + y$squares / (y$n - 1) / y$n
  (x$mean - y$mean) / sqrt(if (equal) pooled else own)
}
f_of_models <- function(z, full, reduced) {
  squares <- function(model) colSums(qr.resid(qr(model), t(z))^2)
  tested <- ncol(full) - ncol(reduced)
  (squares(reduced) - squares(full)) / tested / (squares(full) / (ncol(z) - ncol(full)))
}

test_that("the statistics of all rows are those of t.test() and anova()", {
  set.seed(43)
  z <- matrix(rnorm(60), 5)
  groups <- gl(3, 4)
  age <- design[, "age"]
  expect_equal(f_of_models(z, model.matrix(~ groups + age), model.matrix(~age)),
               apply(z, 1, function(v) anova(lm(v ~ age), lm(v ~ groups + age))$F[2]))
  expect_equal(f_of_models(z, model.matrix(~groups), cbind(rep(1, 12))),
               apply(z, 1, function(v) anova(lm(v ~ groups))$F[1]))
  z[cbind(1:3, c(2, 7, 12))] <- NA
  expect_equal(t_of_one(z), apply(z, 1, function(v) t.test(v)$statistic))
  in_x <- 1:12 %in% c(1, 2, 5, 7, 11)
  for (equal in c(TRUE, FALSE)) {
    expect_equal(t_of_two(z, in_x, equal),
                 apply(z, 1, function(v) t.test(v[in_x], v[!in_x], var.equal = equal)$statistic))
  }
})

# Returns a function that compares subjects x by a kind of test.
comparing <- function(kind, x, ...) {
  function(...) do.call(gpuCorCompare, c(kind$args(x), list(...)))
}

test_that("a contrast by name, and special cases of designs, are the same tests", {
  set.seed(1)
  x <- connected(rep(0:1, each = 6))
  expect_identical(gpuCorCompare(x, design = design, contrast = "group")$statistic,
                   gpuCorCompare(x, design = design, contrast = c(0, 1, 0))$statistic)
  expect_equal(gpuCorCompare(x, design = matrix(1, 12), contrast = 1)$p.value, gpuCorCompare(x)$p.value)
  pairs <- cbind(rep(1:0, each = 6), diag(6)[c(1:6, 1:6), ])
  expect_equal(gpuCorCompare(x, design = pairs, contrast = c(1, rep(0, 6)), precision = "double")$p.value,
               gpuCorCompare(x[1:6], x[7:12], paired = TRUE, precision = "double")$p.value)
  groups <- cbind(first = rep(1:0, each = 6), second = rep(0:1, each = 6))
  pooled <- apply(z_matrix(x), 1, function(v) t.test(v[1:6], v[7:12], var.equal = TRUE)$p.value)
  expect_equal(as.vector(gpuCorCompare(x, design = groups, contrast = c(1, -1), precision = "double")$p.value), pooled)
})

for (backend in backends()) {
  test_that(paste(backend, "tests pairs of subjects, one group and a contrast as t.test() and lm() do"), {
    set.seed(2)
    x <- connected(seq(0, 1.5, length.out = 12), 20)
    for (method in c("pearson", "spearman")) for (kind in kinds) {
      compare <- comparing(kind, x)
      all <- compare(method = method, backend = backend, precision = "double")
      truth <- tests_of(z_matrix(x, method), kind$test)
      expect_equal(as.vector(all$difference), unname(truth[, 1]), tolerance = 1e-9)
      expect_equal(as.vector(all$statistic), unname(truth[, 2]), tolerance = 1e-9)
      expect_equal(as.vector(all$p.value), unname(truth[, 3]), tolerance = 1e-9)
      expect_equal(unique(as.vector(all$df)), kind$df)
      expect_equal(as.vector(all$fdr), p.adjust(truth[, 3], "BH"), tolerance = 1e-9)
      for (precision in c("single", "double")) {
        network <- function(...) compare(method = method, backend = backend, precision = precision, ...)
        expect_equal(network(p.value = 0.003)@edges, sum(truth[, 3] <= 0.003))
        expect_equal(network(fdr = 0.3)@edges, sum(p.adjust(truth[, 3], "BH") <= 0.3))
        expect_equal(network(threshold = 0.2)@edges, sum(abs(truth[, 1]) >= 0.2))
      }
      edges <- compare(p.value = 0.003, output = "edges", method = method, backend = backend)
      expect_equal(edges$statistic, unname(truth[truth[, 3] <= 0.003, 2])[order(-abs(truth[truth[, 3] <= 0.003, 1]))],
                   tolerance = 1e-4)
    }
  })

  test_that(paste(backend, "flips the signs of one group and of pairs"), {
    set.seed(3)
    x <- connected(rep(c(1.5, 0.2), each = 6))
    z <- z_matrix(x)
    for (name in c("one", "paired")) for (sign in c("absolute", "positive", "negative")) {
      own <- if (name == "one") z else z[, 1:6] - z[, 7:12]
      set.seed(4)
      all <- comparing(kinds[[name]], x)(n_perm = 60, sign = sign, backend = backend, precision = "double")
      side <- switch(sign, absolute = abs, positive = identity, negative = function(t) -t)
      set.seed(4)
      largest <- replicate(60, max(side(t_of_one(own %*% diag(sample(c(-1, 1), ncol(own), replace = TRUE))))))
      truth <- vapply(side(t_of_one(own)), function(t) (1 + sum(largest >= t - 1e-9)) / 61, 0)
      expect_equal(as.vector(all$p.adjusted), truth)
      expect_gt(length(unique(truth)), 3)
    }
  })

  test_that(paste(backend, "finds false discovery rates by permutation of t, F and fixed effects"), {
    set.seed(51)
    x <- connected(rep(c(2, 0.3), each = 6))
    z <- z_matrix(x)
    first <- rep(c(TRUE, FALSE), each = 6)
    groups <- gl(3, 4)
    of_t <- function(t, df) t / sqrt(t^2 + df)
    f_of <- function(z) f_of_models(z, model.matrix(~groups), cbind(rep(1, 12)))
    labels <- function() first[sample.int(12)]
    two <- list(x[1:6], x[7:12])
    cases <- list(
      list(c(two, effects = "fixed"), function(in_x) tanh(rowMeans(z[, in_x]) - rowMeans(z[, !in_x])), first, labels),
      list(c(two, variance = "unequal"), function(in_x) of_t(t_of_two(z, in_x, equal = FALSE), 10), first, labels),
      list(list(x), function(sign) of_t(t_of_one(z %*% diag(sign)), 11), rep(1, 12),
           function() sample(c(-1, 1), 12, replace = TRUE)),
      list(list(split(x, groups)), function(at) sqrt(f_of(z[, at]) / (f_of(z[, at]) + 9)), 1:12,
           function() order(sample.int(12)))
    )
    for (case in cases) for (sign in c("absolute", "positive", "negative")) {
      if (sign != "absolute" && length(case[[1]][[1]]) == 3) next # F
      set.seed(52)
      permuted <- replicate(40, case[[2]](case[[4]]()))
      truth <- permutation_rates(case[[2]](case[[3]]), permuted, sign)
      for (fdr in c(0.1, 0.5)) {
        set.seed(52)
        edges <- suppressWarnings(do.call(gpuCorCompare, c(case[[1]], list(
          fdr = fdr, n_perm = 40, sign = sign, backend = backend, output = "edges", precision = "double"
        ))))
        expect_equal(sort(edges$fdr), sort(truth[truth <= fdr]), tolerance = 1e-9)
      }
      expect_true(nrow(edges) > 0 || sign == "negative")
    }
  })

  test_that(paste(backend, "permutes the residuals of a design, or flips their signs"), {
    set.seed(5)
    x <- connected(seq(0, 1.5, length.out = 12))
    z <- z_matrix(x)
    permute <- function(e) {
      order <- sample.int(12)
      e[, order(order)]
    }
    flip <- function(e) e %*% diag(sample(c(-1, 1), 12, replace = TRUE))
    cases <- list(list(c(0, 1, 0), permute), list(contrast, permute), list(c(1, 0, 0), flip))
    for (case in cases) {
      set.seed(6)
      all <- gpuCorCompare(x, design = design, contrast = case[[1]], n_perm = 25, backend = backend,
                           precision = "double")
      unscaled <- drop(case[[1]] %*% solve(crossprod(design)) %*% case[[1]])
      t_of <- function(z) {
        fit <- lm.fit(design, t(z))
        drop(case[[1]] %*% coef(fit)) / sqrt(unscaled * colSums(resid(fit)^2) / fit$df.residual)
      }
      expect_equal(t_of(z), tests_of(z, contrast_t(design, case[[1]]))[, 2])
      null <- qr.Q(qr(cbind(case[[1]], diag(3))))[, 2:3] # terms without the contrast
      reduced <- design %*% null
      fitted <- t(fitted(lm(t(z) ~ reduced - 1)))
      set.seed(6)
      largest <- replicate(25, max(abs(t_of(fitted + case[[2]](z - fitted)))))
      truth <- vapply(abs(t_of(z)), function(t) (1 + sum(largest >= t - 1e-9)) / 26, 0)
      expect_equal(as.vector(all$p.adjusted), unname(truth))
      expect_gt(length(unique(truth)), 2)
    }
  })

  test_that(paste(backend, "finds the components of the pairs with a large t, and their sizes when labels change"), {
    set.seed(7)
    x <- connected(rep(0:1, 6), 14)
    x <- lapply(x, function(m) cbind(m, m[, 1:2] + rnorm(nrow(m))))
    z <- z_matrix(x)
    t_of <- list(
      groups = t_of_two,
      paired = function(z, signs) t_of_one((z[, 1:6] - z[, 7:12]) %*% diag(signs))
    )
    draw <- list(groups = function() sample.int(12) <= 6, paired = function() sample(c(-1, 1), 6, replace = TRUE))
    same <- list(groups = 1:12 <= 6, paired = rep(1, 6))
    for (name in names(draw)) for (size in c("size", "sum")) for (sign in c("absolute", "negative")) {
      set.seed(8)
      net <- gpuCorCompare(x[1:6], x[7:12], paired = name == "paired", threshold = 1.6, n_perm = 20, components = size,
                           sign = sign, backend = backend, precision = "double")
      truth <- function(how) components_by_hand(t_of[[name]](z, how), 16, 1.6, sign, size)
      set.seed(8)
      largest <- replicate(20, max(0, truth(draw[[name]]())$size))
      own <- truth(same[[name]])
      table <- net@components$table
      expect_equal(table$size, own$size, tolerance = 1e-6)
      expect_equal(table$p.value, vapply(own$size, function(s) (1 + sum(largest >= s - 1e-5)) / 21, 0))
      expect_equal(table$columns, own$columns)
      expect_equal(net@components$of, own$of)
      frame <- as.data.frame(net)
      expect_equal(frame$component, own$of[frame$from])
      weight <- if (sign == "absolute") abs else function(t) -t
      t <- t_of[[name]](z, same[[name]])
      expect_equal(sort(weight(frame$statistic)), sort(unname(weight(t)[weight(t) >= 1.6])))
    }
  })

  test_that(paste(backend, "adds the largest weights of many pairs"), {
    set.seed(3)
    x <- replicate(2, matrix(rnorm(4 * 1060), 4), simplify = FALSE)
    net <- suppressWarnings(gpuCorCompare(x[c(1, 1, 1)], x[c(2, 2, 2)], threshold = 3, n_perm = 1, components = "sum",
                                          backend = backend))
    expect_equal(net@components$table$columns, 1060)
    expect_equal(net@components$table$size, choose(1060, 2) * 1e6, tolerance = 1e-6) # 1e6: an infinite t
  })

  test_that(paste(backend, "joins pairs of one sign, and takes the largest component of both signs"), {
    set.seed(7)
    x <- connected(rep(0:1, 6), 14)
    z <- z_matrix(x)
    for (size in c("size", "sum")) {
      truth <- function(in_x) {
        t <- t_of_two(z, in_x)
        lapply(c(positive = "positive", negative = "negative"), function(sign) {
          components_by_hand(t, 14, 1.2, sign, size)
        })
      }
      sizes_of <- function(found) c(found$positive$size, found$negative$size)
      set.seed(8)
      largest <- replicate(20, max(0, sizes_of(truth(sample.int(12) <= 6))))
      own <- truth(1:12 <= 6)
      set.seed(8)
      net <- gpuCorCompare(x[1:6], x[7:12], threshold = 1.2, n_perm = 20, components = size, sign = "each",
                           backend = backend, precision = "double")
      table <- net@components$table
      expect_equal(table$size, sort(sizes_of(own), decreasing = TRUE), tolerance = 1e-6)
      expect_equal(table$p.value, vapply(table$size, function(s) (1 + sum(largest >= s - 1e-5)) / 21, 0))
      for (sign in names(own)) {
        of <- net@components$of[, sign]
        expect_equal(table$size[of], own[[sign]]$size[own[[sign]]$of], tolerance = 1e-6)
        expect_equal(table$sign[of], ifelse(is.na(of), NA, sign))
      }
      edges <- as.data.frame(net)
      expect_equal(table$sign[edges$component], ifelse(edges$statistic > 0, "positive", "negative"))
      expect_identical(net@components$of[cbind(edges$from, 1 + (edges$statistic < 0))], edges$component)
      expect_equal(nrow(edges), sum(abs(edges$statistic) >= 1.2))
      expect_identical(edges$p.component, table$p.value[edges$component])
    }
  })

  test_that(paste(backend, "enhances t without a threshold, as the definition does"), {
    set.seed(7)
    x <- connected(seq(0, 1.5, length.out = 12))
    z <- z_matrix(x)
    t_of <- function(in_x) t_of_two(z, in_x)
    weights <- list(absolute = abs, positive = identity, negative = function(t) -t)
    for (case in list(list(sign = "each"), list(sign = "absolute", enhance = c(1, 0)), list(sign = "positive"),
                      list(sign = "negative", enhance = c(0.4, 3)))) {
      powers <- if (is.null(case$enhance)) c(0.5, 2) else case$enhance
      scores_of <- function(t, ...) {
        each <- weights[if (case$sign == "each") c("positive", "negative") else case$sign]
        Reduce(`+`, lapply(each, function(weight) tfce_by_hand(weight(t), 9, powers, ...)))
      }
      set.seed(8)
      largest <- replicate(20, max(scores_of(t_of(sample.int(12) <= 6))))
      truth <- unname(scores_of(t_of(1:12 <= 6)))
      set.seed(8)
      found <- do.call(gpuCorCompare, c(list(x[1:6], x[7:12], n_perm = 20, components = "tfce", backend = backend,
                                             precision = "double"), case))
      expect_equal(as.vector(found$score), truth, tolerance = 1e-6)
      expect_equal(as.vector(found$p.adjusted), vapply(truth, function(s) (1 + sum(largest >= s * (1 - 1e-5))) / 21, 0))
      expect_equal(truth[truth > 1], unname(scores_of(t_of(1:12 <= 6), dh = 0.01))[truth > 1], tolerance = 0.01)
    }
    expect_identical(names(as.data.frame(found))[7:9], c("fdr", "score", "p.adjusted"))
    of_f <- gpuCorCompare(list(x[1:4], x[5:8], x[9:12]), n_perm = 5, components = "tfce", backend = backend)
    expect_equal(as.vector(of_f$score), tfce_by_hand(as.vector(of_f$statistic), 9), tolerance = 1e-6)
    agreeing <- lapply(seq_along(x), function(i) { # t of one pair is infinite, and counts as 1e6
      r <- cor(x[[i]])
      r[1, 2] <- r[2, 1] <- if (i <= 6) 0.5 else 0.1
      r
    })
    found <- gpuCorCompare(agreeing[1:6], agreeing[7:12], n_perm = 2, components = "tfce", method = "given")
    t <- pmin(as.vector(found$statistic), 1e6)
    expect_equal(as.vector(found$score) / (tfce_by_hand(t, 9) + tfce_by_hand(-t, 9)), rep(1, 36), tolerance = 1e-6)
    x[[3]][, 2] <- NA
    with_missing <- suppressWarnings(gpuCorCompare(x, n_perm = 3, components = "tfce", backend = backend))
    expect_true(all(is.na(as.matrix(with_missing$score)[2, ])))
    t <- as.vector(with_missing$statistic)
    t[is.na(t)] <- 0
    truth <- tfce_by_hand(t, 9) + tfce_by_hand(-t, 9)
    expect_equal(as.vector(with_missing$score)[t != 0], truth[t != 0], tolerance = 1e-6)
  })

  test_that(paste(backend, "permutes models and finds components alike with any threads, memory and workers"), {
    set.seed(9)
    x <- connected(rep(0:1, 6), 300, 30)
    for (args in list(list(x, n_perm = 7), list(x, design = design, contrast = contrast, n_perm = 7),
                      list(x[1:6], x[7:12], n_perm = 7, threshold = 2.2, components = "sum"),
                      list(x[1:6], x[7:12], n_perm = 7, threshold = 2.2, components = "size", sign = "each"),
                      list(x[1:6], x[7:12], n_perm = 7, components = "tfce"))) {
      compare <- function(...) {
        set.seed(10)
        found <- do.call(gpuCorCompare, c(args, list(backend = backend, ...)))
        if (isS4(found)) list(found@x, found@components) else as.data.frame(found)
      }
      once <- compare()
      expect_identical(compare(threads = 1), once)
      expect_identical(compare(memory = 1e6), once)
      with_options(list(gpucor.workers_per_device = 3), expect_identical(compare(), once))
    }
  })

  for (resource in resources_of(backend)) {
    test_that(paste(backend, "finds components cleanly wherever the", resource, "fails"), {
      set.seed(11)
      x <- some_subjects(c(9, 12, 10, 11), 66)
      walk_failures(function() {
        set.seed(12)
        gpuCorCompare(x[1:2], x[3:4], n_perm = 3, threshold = 3, components = "size", backend = backend)
      }, resource, backend)
    })
    test_that(paste(backend, "enhances t cleanly wherever the", resource, "fails"), {
      set.seed(11)
      x <- some_subjects(c(9, 12, 10, 11), 66)
      walk_failures(function() {
        set.seed(12)
        gpuCorCompare(x[1:2], x[3:4], n_perm = 3, components = "tfce", backend = backend)
      }, resource, backend)
    })
  }
}

# Rows: pairs; columns: the standard deviation of the effects of `of`, F, its degrees of freedom, p.
f_tests <- function(z, full, reduced, data) {
  t(apply(z, 1, function(v) {
    data$v <- v
    fit <- lm(update(full, v ~ .), data)
    test <- anova(lm(update(reduced, v ~ .), data), fit)
    c(sqrt(test$`Sum of Sq`[2] / sum(!is.na(v))), test$F[2], test$Res.Df[2], test$`Pr(>F)`[2])
  }))
}
people <- data.frame(group = gl(3, 4, labels = c("a", "b", "c")), age = c(3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8),
                     sex = rep(c("f", "m"), 6))

for (backend in backends()) {
  test_that(paste(backend, "tests the terms of a formula as anova() does, and finds their networks"), {
    set.seed(32)
    x <- connected(seq(0, 1.5, length.out = 12), 20)
    z <- z_matrix(x)
    truth <- f_tests(z, ~ group + age, ~ age, people)
    compare <- function(..., contrast = "group") {
      gpuCorCompare(x, design = ~ group + age, data = people, contrast = contrast, precision = "double",
                    backend = backend, ...)
    }
    all <- compare()
    expect_equal(as.vector(all$difference), truth[, 1], tolerance = 1e-9)
    expect_equal(as.vector(all$statistic), truth[, 2], tolerance = 1e-9)
    expect_equal(as.vector(all$df), truth[, 3])
    expect_equal(as.vector(all$p.value), truth[, 4], tolerance = 1e-9)
    expect_identical(compare(contrast = c("groupb", "groupc"))$p.value, all$p.value)
    expect_equal(compare(contrast = rbind(c(0, 1, 0, 0), c(0, -1, 2, 0)))$p.value, all$p.value)
    expect_equal(compare(contrast = "age")$p.value, compare(contrast = c(0, 0, 0, 1))$p.value)
    expect_output(print(all), "standard deviation of effects of z of 12 subjects.*p values by F of the subjects' z")
    rates <- p.adjust(truth[, 4], "BH")
    expect_equal(compare(p.value = 0.05)@edges, sum(truth[, 4] <= 0.05))
    expect_equal(compare(p.value = 0.9)@edges, sum(truth[, 4] <= 0.9))
    expect_equal(compare(fdr = 0.5)@edges, sum(rates <= 0.5))
    edges <- compare(density = 0.05, output = "edges")
    first <- order(-truth[, 1])[seq_len(nrow(edges))]
    expect_gt(nrow(edges), 5)
    expect_equal(edges$difference, truth[first, 1], tolerance = 1e-9)
    expect_equal(edges$statistic, truth[first, 2], tolerance = 1e-9)
    expect_equal(edges$p.value, truth[first, 4], tolerance = 1e-9)
    expect_equal(compare(threshold = 0.2)@edges, sum(truth[, 1] >= 0.2))
  })

  test_that(paste(backend, "finds the largest F of permuted residuals, and components of F"), {
    set.seed(33)
    x <- connected(seq(0, 1.5, length.out = 12))
    z <- z_matrix(x)
    f_of <- function(z) f_of_models(z, model.matrix(~ group + age, people), model.matrix(~age, people))
    fitted <- t(fitted(lm(t(z) ~ age, people)))
    permuted <- function() {
      order <- sample.int(12)
      f_of(fitted + (z - fitted)[, order(order)])
    }
    compare <- function(...) {
      set.seed(34)
      gpuCorCompare(x, design = ~ group + age, data = people, contrast = "group", n_perm = 19, backend = backend,
                    precision = "double", ...)
    }
    set.seed(34)
    largest <- replicate(19, max(permuted()))
    expect_equal(as.vector(compare()$p.adjusted), vapply(f_of(z), function(f) (1 + sum(largest >= f - 1e-9)) / 20, 0))
    for (size in c("size", "sum")) {
      net <- compare(threshold = 1.5, components = size)
      truth <- function(f) components_by_hand(f, 9, 1.5, "absolute", size)
      set.seed(34)
      largest <- replicate(19, max(0, truth(permuted())$size))
      own <- truth(f_of(z))
      expect_equal(net@components$table$size, own$size, tolerance = 1e-6)
      expect_equal(net@components$table$p.value, vapply(own$size, function(s) (1 + sum(largest >= s - 1e-5)) / 20, 0))
      expect_equal(sort(as.data.frame(net)$statistic), sort(f_of(z)[f_of(z) >= 1.5]), tolerance = 1e-6)
    }
  })
}

# Returns p values by the largest value of 15 permutations.
adjusted <- function(values, largest) vapply(values, function(t) (1 + sum(largest >= t - 1e-9)) / 16, 0)

# Returns the order of a permutation within blocks, or of whole blocks of one size, as the package draws it.
draw_blocks <- function(blocks, whole, n = length(blocks)) {
  order <- seq_len(n)
  members <- split(seq_len(n), blocks)
  if (!whole) {
    for (at in members) order[at] <- at[sample.int(length(at))]
    return(order)
  }
  for (alike in split(members, lengths(members))) order[unlist(alike)] <- unlist(alike[sample.int(length(alike))])
  order
}

for (backend in backends()) {
  test_that(paste(backend, "exchanges subjects within blocks, or whole blocks"), {
    set.seed(36)
    x <- connected(seq(0, 1.5, length.out = 12), 5)
    z <- z_matrix(x)
    cases <- list(list(rep(1:2, c(7, 5)), FALSE, c("a", "b")[c(1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2)]),
                  list(rep(c("q", "p", "s"), 4), FALSE, rep(c("a", "b"), each = 6)),
                  list(rep(1:6, each = 2), TRUE, rep(c("a", "b"), each = 6)),
                  list(c(1, 1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 5), TRUE, rep(c("a", "b", "a", "b"), c(4, 2, 3, 3))))
    for (case in cases) for (variance in c("equal", "unequal", "formula")) {
      in_x <- case[[3]] == "a"
      order <- c(which(in_x), which(!in_x)) # the place of each in the two lists
      data <- data.frame(group = case[[3]], block = case[[1]])
      set.seed(37)
      all <- if (variance == "formula") {
        gpuCorCompare(x, design = ~ group, blocks = ~ block, data = data, whole = case[[2]], n_perm = 15,
                      precision = "double", backend = backend)
      } else {
        gpuCorCompare(x[in_x], x[!in_x], blocks = case[[1]][order], whole = case[[2]], n_perm = 15,
                      variance = variance, precision = "double", backend = backend)
      }
      if (variance == "formula") order <- 1:12
      own <- z[, order]
      group <- case[[3]][order]
      t_of <- function(group) t_of_two(own, group == "a", variance != "unequal")
      set.seed(37)
      largest <- replicate(15, max(abs(t_of(group[draw_blocks(case[[1]][order], case[[2]])]))))
      expect_equal(as.vector(all$p.adjusted), adjusted(abs(t_of(group)), largest))
    }
    set.seed(38)
    flipped <- gpuCorCompare(x, blocks = rep(1:4, each = 3), whole = TRUE, n_perm = 15, precision = "double",
                             backend = backend)
    set.seed(38)
    largest <- replicate(15, max(abs(t_of_one(z %*% diag(rep(sample(c(-1, 1), 4, replace = TRUE), each = 3))))))
    expect_equal(as.vector(flipped$p.adjusted), adjusted(abs(t_of_one(z)), largest))
  })

  test_that(paste(backend, "leaves a subject out of the pairs that it misses, as na.omit does"), {
    set.seed(39)
    x <- connected(seq(0, 1.5, length.out = 12), 12)
    for (s in 1:4) x[[s]][, c(2, 5, 5, 9)[s]] <- NA
    x[[6]][, 5] <- NA
    people$age[2] <- 2.5
    z <- vapply(x, FUN.VALUE = numeric(66), function(m) z_of(cor(m))[lower.tri(diag(12))])
    near <- function(found, truth) {
      for (i in 1:4) {
        part <- as.vector(found[[c("difference", "statistic", "df", "p.value")[i]]])
        expect_equal(part, unname(truth[, i]), tolerance = 1e-8)
      }
    }
    compare <- function(...) suppressWarnings(gpuCorCompare(..., na.rm = TRUE, precision = "double", backend = backend))
    of_t <- function(test, sign = 1) c(sign * test$estimate[1], sign * test$statistic, test$parameter, test$p.value)
    groups <- function(equal) {
      t(apply(z, 1, function(v) {
        test <- t.test(v[1:5], v[6:12], var.equal = equal)
        c(-diff(test$estimate), test$statistic, test$parameter, test$p.value)
      }))
    }
    near(compare(x[1:5], x[6:12]), groups(TRUE))
    near(compare(x[1:5], x[6:12], variance = "unequal"), groups(FALSE))
    near(compare(x), t(apply(z, 1, function(v) of_t(t.test(v)))))
    near(compare(x[1:6], x[7:12], paired = TRUE), t(apply(z, 1, function(v) of_t(t.test(v[1:6] - v[7:12])))))
    near(compare(x, design = ~ group + age, data = people, contrast = "age"), t(apply(z, 1, function(v) {
      fit <- lm(v ~ group + age, people)
      own <- coef(summary(fit))["age", ]
      c(own[1], own[3], df.residual(fit), own[4])
    })))
    people$v <- 0
    truth <- t(apply(z, 1, function(v) {
      data <- people[!is.na(v), ]
      data$v <- v[!is.na(v)]
      fit <- lm(v ~ group + age, data)
      test <- anova(lm(v ~ age, data), fit)
      c(sqrt(test$`Sum of Sq`[2] / nrow(data)), test$F[2], test$Res.Df[2], test$`Pr(>F)`[2])
    }))
    terms <- function(...) compare(x, design = ~ group + age, data = people, contrast = "group", ...)
    near(terms(), truth)
    expect_equal(terms(p.value = 0.1)@edges, sum(truth[, 4] <= 0.1))
    expect_equal(terms(fdr = 0.5)@edges, sum(p.adjust(truth[, 4], "BH") <= 0.5))
    edges <- terms(density = 0.2, output = "edges")
    expect_equal(edges$p.value, truth[order(-truth[, 1])[seq_len(nrow(edges))], 4], tolerance = 1e-8)
    expect_equal(compare(x[1:5], x[6:12], threshold = 0.2)@edges, sum(abs(groups(TRUE)[, 1]) >= 0.2))
  })

  test_that(paste(backend, "permutes the rows of the model of the subjects that a pair has"), {
    set.seed(40)
    x <- connected(seq(0, 1.5, length.out = 12), 8)
    for (s in 1:4) x[[s]][, c(2, 5, 5, 7)[s]] <- NA
    z <- vapply(x, FUN.VALUE = numeric(28), function(m) z_of(cor(m))[lower.tri(diag(8))])
    compare <- function(...) {
      set.seed(41)
      suppressWarnings(gpuCorCompare(..., na.rm = TRUE, n_perm = 15, precision = "double", backend = backend))
    }
    n <- rowSums(!is.na(z))
    # what pairs of all subjects would have with as large a p value
    t_of <- function(in_x) {
      stats::qt(stats::pt(abs(t_of_two(z, in_x, TRUE)), n - 2, lower.tail = FALSE), 10, lower.tail = FALSE)
    }
    set.seed(41)
    largest <- replicate(15, max(t_of(sample.int(12) <= 6)))
    found <- compare(x[1:6], x[7:12])
    expect_equal(as.vector(found$p.adjusted), adjusted(t_of(1:12 <= 6), largest))
    expect_error(compare(x[1:6], x[7:12], variance = "unequal"), "compares pairs of different numbers of subjects")
    f_of_some <- function(order) {
      vapply(seq_len(nrow(z)), FUN.VALUE = 0, function(pair) {
        has <- !is.na(z[pair, ])
        left <- qr.resid(qr(cbind(1, people$age[has])), z[pair, has])
        own <- people[order, ][has, ]
        f_of_models(t(left), model.matrix(~ group + age, own), cbind(1, own$age))
      })
    }
    terms <- ncol(model.matrix(~ group + age, people))
    tested <- terms - 2
    f_of <- function(order) {
      p <- stats::pf(f_of_some(order), tested, n - terms, lower.tail = FALSE)
      stats::qf(p, tested, 12 - terms, lower.tail = FALSE)
    }
    set.seed(41)
    largest <- replicate(15, max(f_of(sample.int(12))))
    found <- compare(x, design = ~ group + age, data = people, contrast = "group")
    expect_equal(as.vector(found$p.adjusted), adjusted(f_of(1:12), largest))
    net <- compare(x, design = ~ group + age, data = people, contrast = "group", threshold = 1.5, components = "size")
    set.seed(41)
    sizes <- replicate(15, max(0, components_by_hand(f_of(sample.int(12)), 8, 1.5, "absolute", "size")$size))
    expect_equal(net@components$table$p.value,
                 adjusted(components_by_hand(f_of(1:12), 8, 1.5, "absolute", "size")$size, sizes))
  })
}

test_that("a column that few subjects have hides no difference of others", {
  set.seed(44)
  x <- connected(rep(c(1.5, 0), each = 10), 8)
  differ <- as.dist(outer(1:8 <= 4, 1:8 <= 4)) == 1
  for (s in c(2:10, 13:20)) x[[s]][, 8] <- NA
  set.seed(45)
  compare <- function(...) suppressWarnings(gpuCorCompare(x[1:10], x[11:20], na.rm = TRUE, n_perm = 199, ...))
  found <- compare()
  expect_true(all(found$p.adjusted[differ] <= 0.01) && all(found$p.adjusted[!differ] > 0.05, na.rm = TRUE))
  expect_true(all(compare(components = "tfce")$p.adjusted[differ] <= 0.01))
  for (edges in list(compare(p.value = 0.05, output = "edges"), compare(fdr = 0.05, output = "edges"))) {
    expect_true(nrow(edges) >= sum(differ) && all(edges[seq_len(sum(differ)), c("from", "to")] <= 4))
  }
  net <- compare(threshold = 4, components = "size")
  found <- as.data.frame(net)
  like_all <- stats::qt(found$p.value / 2, 18, lower.tail = FALSE)
  expect_true(all(like_all > 3.9)) # Bartlett's approximation
})

test_that("pairs that too few subjects have are not tested", {
  set.seed(42)
  x <- connected(rep(0, 6), 5)
  for (s in 1:3) x[[s]][, 1] <- NA
  x[[4]][, 2] <- NA
  found <- suppressWarnings(gpuCorCompare(x[1:3], x[4:6], na.rm = TRUE, n_perm = 3))
  has_none <- c(rep(TRUE, 4), rep(FALSE, 6))
  for (part in c("difference", "p.value", "p.adjusted")) expect_identical(is.na(as.vector(found[[part]])), has_none)
  expect_warning(gpuCorCompare(x[1:3], x[4:6]), "na.rm = TRUE")
  expect_error(gpuCorCompare(x[1:3], x[4:6], na.rm = TRUE, effects = "fixed"), "leave out na.rm = TRUE")
})

test_that("lists of groups are tested as a factor, and two of them as x and y", {
  set.seed(35)
  x <- connected(seq(0, 1, length.out = 12))
  groups <- unname(split(x, people$group))
  of_lists <- gpuCorCompare(groups, precision = "double", n_perm = 3)
  of_factor <- gpuCorCompare(x, design = ~ group, data = people, precision = "double")
  for (part in c("difference", "statistic", "p.value")) expect_equal(of_lists[[part]], of_factor[[part]])
  expect_equal(gpuCorCompare(split(x, people$group), contrast = c(0, 1, -1), precision = "double")$p.value,
               gpuCorCompare(x, design = ~ 0 + group, data = people, contrast = c(0, 1, -1),
                             precision = "double")$p.value)
  expect_equal(gpuCorCompare(groups[1:2])$p.value, gpuCorCompare(groups[[1]], groups[[2]])$p.value)
  expect_error(gpuCorCompare(groups, effects = "fixed"), "leave it out for pairs and 'design'")
})

test_that("subjects that agree have no variance, and pairs without a coefficient no test", {
  set.seed(13)
  x <- connected(0:1)
  same <- gpuCorCompare(x, x, paired = TRUE, n_perm = 5)
  expect_true(all(same$difference == 0 & same$statistic == 0 & same$p.value == 1 & same$p.adjusted == 1))
  same <- gpuCorCompare(x[rep(1, 12)], design = design, contrast = "group", n_perm = 5)
  expect_true(all(same$difference == 0 & same$statistic == 0 & same$p.value == 1 & same$p.adjusted == 1))
  all <- suppressWarnings(gpuCorCompare(x[c(1, 1, 1)], n_perm = 7))
  expect_true(all(is.infinite(all$statistic)))
  expect_true(all(all$p.value == 0))
  x[[1]][, 3] <- 1
  for (kind in kinds) {
    found <- suppressWarnings(comparing(kind, rep(x, 6))(n_perm = 5))
    has_none <- as.vector(as.matrix(dist(1:9)) > -1 & (row(diag(9)) == 3 | col(diag(9)) == 3))[lower.tri(diag(9))]
    for (part in c("difference", "statistic", "df", "p.value", "fdr", "p.adjusted")) {
      expect_identical(is.na(as.vector(found[[part]])), has_none)
    }
  }
})

test_that("no component is found where no pair is", {
  set.seed(14)
  x <- connected(rep(0, 8), 5)
  net <- gpuCorCompare(x[1:4], x[5:8], threshold = 1e6, n_perm = 5, components = "size")
  expect_equal(nrow(net@components$table), 0)
  expect_equal(nrow(as.data.frame(net)), 0)
  expect_true(all(is.na(net@components$of)))
  expect_output(print(net), "0 components")
})

test_that("what is printed says what was compared", {
  set.seed(15)
  x <- connected(rep(0:1, 6), 6)
  colnames(x[[1]]) <- letters[1:6]
  expect_output(print(comparing(kinds$paired, x)()),
                "paired differences of z of 6 subjects \\(360 observations\\) against")
  expect_output(print(comparing(kinds$one, x)()), "mean z of 12 subjects \\(720 observations\\), 15 tests")
  expect_output(print(comparing(kinds$design, x)()), "contrast of z of 12 subjects")
  net <- gpuCorCompare(x[1:6], x[7:12], threshold = 0.5, n_perm = 5, components = "size")
  expect_output(print(net), "the largest:\n component columns size p.value")
  expect_named(net@components$of, letters[1:6])
})

test_that("errors of groups say what to do", {
  set.seed(16)
  x <- connected(rep(0, 6), 5, 10)
  expect_error(gpuCorCompare(x[[1]]), "'y' is missing; one group must be a list")
  expect_error(gpuCorCompare(x[1]), "one group needs at least two subjects")
  expect_error(gpuCorCompare(x, paired = TRUE), "needs two lists of subjects")
  expect_error(gpuCorCompare(x, design = cbind(1, 1:6), contrast = 0:1, paired = TRUE), "needs two lists of subjects")
  expect_error(gpuCorCompare(x[1:2], x[3:6], paired = TRUE), "which are 2 and 4")
  expect_error(gpuCorCompare(x[1], x[2], paired = TRUE), "at least two pairs")
  expect_error(gpuCorCompare(x[1:3], x[4:6], design = diag(6)), "leave 'y' out")
  expect_error(gpuCorCompare(x, contrast = 1), "is a contrast of 'design'")
  expect_error(gpuCorCompare(x, design = 1:6, contrast = 1), "must be a numeric matrix with a row for each subject")
  expect_error(gpuCorCompare(x, design = ~ absent), "'design': there is no 'absent' where the formula was written")
  people <- data.frame(group = gl(3, 2, labels = c("a", "b", "c")), age = c(3, 1, 4, 1, 5, 9))
  expect_error(gpuCorCompare(x, design = ~ group + age, data = people, contrast = "groupd"), fixed = TRUE,
               "(\"(Intercept)\", \"groupb\", \"groupc\", \"age\") or of a term (\"group\", \"age\"), not \"groupd\"")
  expect_error(gpuCorCompare(x, design = ~ group + age, data = people), "'contrast' must be a number for each of the 4")
  expect_error(gpuCorCompare(x, design = ~ group + age, data = people, contrast = rbind(1:4, 2 * 1:4)),
               "matrix of such")
  expect_error(gpuCorCompare(x, design = ~ age, data = replace(people, "age", c(NA, 1:5))),
               "no value of column 2 (age) for subject 1", fixed = TRUE)
  expect_error(gpuCorCompare(x, design = ~ age, data = people[-1, ]), "'design' has 5 rows; there are 6 subjects")
  expect_error(gpuCorCompare(x, design = ~ group, data = people, sign = "negative"), "has no sign; leave 'sign' out")
  expect_error(gpuCorCompare(x, design = diag(5), contrast = 1), "'design' has 5 rows; there are 6 subjects")
  expect_error(gpuCorCompare(x, design = matrix(1, 6, 2), contrast = c(0, 1)), "2 columns of rank 1")
  expect_error(gpuCorCompare(x, design = diag(6), contrast = c(1, rep(0, 5))), "6 terms for 6 subjects")
  expect_error(gpuCorCompare(x, design = cbind(1, c(NA, 1:5)), contrast = 1:2), "no value of column 2 for subject 1")
  expect_error(gpuCorCompare(x, design = cbind(a = 1, b = 1:6), contrast = "c"),
               "the name of one of them (\"a\", \"b\"), not \"c\"", fixed = TRUE)
  expect_error(gpuCorCompare(x, design = cbind(a = 1, b = 1:6)), "a number for each of the 2 columns")
  expect_error(gpuCorCompare(x[1:3], x[4:6], blocks = 1:5, n_perm = 3), "a label for each of the 6 subjects")
  expect_error(gpuCorCompare(x[1:3], x[4:6], blocks = 1:6), "give both, or leave them out")
  expect_error(gpuCorCompare(x[1:3], x[4:6], blocks = rep(1:3, 2)), "'blocks' say what 'n_perm' may exchange")
  expect_error(gpuCorCompare(x[1:3], x[4:6], whole = TRUE), "'whole' says how 'blocks' are exchanged")
  expect_error(gpuCorCompare(x[1:3], x[4:6], blocks = rep(1:2, each = 3), n_perm = 3), "whole = TRUE exchanges blocks")
  expect_error(gpuCorCompare(x[1:3], x[4:6], blocks = c(1, 1, 1, 2, 2, 3), n_perm = 3, whole = TRUE), "of equal size")
  alike <- function(...) {
    set.seed(1)
    gpuCorCompare(x[1:3], x[4:6], n_perm = 9, ...)$p.adjusted
  }
  expect_identical(alike(permutation = gpuPermute(blocks = 1:6 %% 2)), alike(blocks = 1:6 %% 2))
  expect_error(gpuCorCompare(x[[1]], x[[2]], blocks = 1:2, n_perm = 3), "'blocks' are of subjects")
  expect_error(gpuCorCompare(x[1:3], x[4:6], effects = "fixed", paired = TRUE), "leave it out for pairs and 'design'")
  expect_error(gpuCorCompare(x, components = "size", n_perm = 9), "needs 'threshold'")
  expect_error(gpuCorCompare(x, components = "size", threshold = 3), "needs 'n_perm'")
  expect_error(gpuCorCompare(x, components = "size", threshold = 0, n_perm = 9),
               "must be a t or F, a number above 0, not 0")
  expect_error(gpuCorCompare(x[1:3], x[4:6], components = "size", threshold = 2, n_perm = 9, effects = "fixed"),
               "'components' are of t")
  expect_error(gpuCorCompare(x, n_perm = 9, components = "tfce", threshold = 3), "tests all pairs, .* 'threshold' out")
  expect_error(gpuCorCompare(x, n_perm = 9, components = "tfce", enhance = -1), "two numbers from 0 to 10, E and H")
  expect_error(gpuCorCompare(x, n_perm = 9, enhance = c(1, 2)), "'enhance' has the powers of components")
  expect_error(gpuCorCompare(x, components = "tfce"), "needs 'n_perm'")
  expect_error(gpuCorCompare(x, sign = "each"), "sign = \"each\" is for 'components'")
  expect_error(gpuCorCompare(function(i) x[[i]], subjects = c(3, 3)), "'subjects' must be a number")
  expect_equal(gpuCorCompare(function(i) x[[i]], subjects = 6)$p.value, gpuCorCompare(x)$p.value)
})

test_that("Welch's t of a small group and one twice as large is told", {
  set.seed(31)
  x <- lapply(1:40, function(i) matrix(rnorm(80), 20))
  compare <- function(...) gpuCorCompare(..., variance = "unequal")
  told <- "^groups of 9 and 18 subjects: .*; variance = \"equal\" tests with one variance for all subjects$"
  expect_warning(compare(x[1:9], x[10:27]), told, class = "gpuCorUnequalGroups")
  expect_warning(compare(x[10:27], x[1:9], fdr = 0.5), "18 and 9 subjects", class = "gpuCorUnequalGroups")
  expect_warning(compare(x[1:9], x[10:27], n_perm = 9), "'n_perm' if the smaller group varies more",
                 class = "gpuCorUnequalGroups")
  expect_warning(compare(x[1:9], x[10:27], threshold = 1, n_perm = 9, components = "size"),
                 class = "gpuCorUnequalGroups")
  expect_no_warning(compare(x[1:9], x[10:26]))
  expect_no_warning(compare(x[1:10], x[11:40]))
  expect_no_warning(gpuCorCompare(x[1:9], x[10:27]))
  expect_no_warning(gpuCorCompare(x[1:3], x[4:20], effects = "fixed"))
  expect_no_warning(gpuCorCompare(x[1:5]))
  expect_equal(gpuCorCompare(x[1], x[2:8], precision = "double")$p.value[1, 2],
               summary(lm(v ~ g, list(v = z_matrix(x[1:8])[1, ], g = rep(1:2, c(1, 7)))))$coefficients["g", 4])
  expect_no_warning(gpuCorCompare(x[1:12], design = cbind(1, rep(0:1, c(2, 10))), contrast = c(0, 1)))
})

test_that("permuted labels of a small group that varies more are told", {
  set.seed(32)
  short <- lapply(1:5, function(i) matrix(rnorm(160), 16))
  long <- lapply(1:12, function(i) matrix(rnorm(600), 60))
  told <- paste0("^z varies .* among the 5 subjects .* as among the 12 of the largest one, .*; ",
                 "those of variance = \"unequal\" are less so$")
  expect_warning(gpuCorCompare(short, long, n_perm = 9), told, class = "gpuCorUnequalSpread")
  expect_warning(gpuCorCompare(long[1:9], short, n_perm = 9, fdr = 0.5, variance = "unequal"), "p-values\"\\)$",
                 class = "gpuCorUnequalSpread")
  expect_warning(gpuCorCompare(long, short, n_perm = 9, seeds = 1), class = "gpuCorUnequalSpread")
  several <- "among the 5 subjects of the smallest group as among the 7 of the largest one, .*p-values\"\\)$"
  expect_warning(gpuCorCompare(list(long[1:6], short, long[6:12]), n_perm = 9), several, class = "gpuCorUnequalSpread")
  people <- data.frame(group = rep(c("a", "b"), c(5, 7)), age = 1:12)
  expect_warning(gpuCorCompare(c(short, long[1:7]), design = ~group, data = people, n_perm = 9), several,
                 class = "gpuCorUnequalSpread")
  expect_no_warning(gpuCorCompare(c(short, long[1:7]), design = ~ group + age, data = people, contrast = "groupb",
                                  n_perm = 9))
  expect_no_warning(gpuCorCompare(short, long))
  expect_no_warning(gpuCorCompare(short, long[1:5], n_perm = 9))
  expect_no_warning(gpuCorCompare(c(short, long[1:7]), long[8:12], n_perm = 9))
  expect_no_warning(gpuCorCompare(short[1:4], short[[5]], n_perm = 9))
  two <- function(x) lapply(x, function(m) m[, 1:2]) # one pair may differ as much by chance
  expect_no_warning(gpuCorCompare(two(long[1:3]), two(long[4:12]), n_perm = 9))
  long[[6]][, 2] <- long[[6]][, 1] # an infinite z
  expect_no_warning(gpuCorCompare(long[6:9], long[c(1:5, 10:12)], n_perm = 9))
})

test_that("edges by p.value with permutations are those with such an adjusted p value", {
  set.seed(21)
  subjects <- function(n, shared = 0) {
    lapply(seq_len(n), function(i) {
      x <- matrix(rnorm(60 * 8), 60)
      x[, 1:4] <- x[, 1:4] + shared * rnorm(60)
      x
    })
  }
  cases <- list(list(subjects(7, 2), subjects(7)), list(subjects(7, 1)), list(subjects(1, 2)[[1]], subjects(1)[[1]]),
                list(list(subjects(4, 2), subjects(5), subjects(4))))
  for (case in cases) for (sign in c("absolute", if (!is.list(case[[1]][[1]])) "positive")) { # F has no sign
    compare <- function(...) {
      set.seed(22)
      do.call(gpuCorCompare, c(case, list(n_perm = 39, sign = sign), list(...)))
    }
    all <- compare()
    edges <- compare(p.value = 0.1, output = "edges")
    expect_equal(sort(edges$p.adjusted), sort(all$p.adjusted[all$p.adjusted <= 0.1]))
    expect_gt(nrow(edges), 2)
  }
  expect_error(compare(p.value = 0.02), "'n_perm' must be at least 49 for p.value = 0.02, not 39")
  expect_output(print(compare(fdr = 0.1)), "rates by 39 permutations")
})
