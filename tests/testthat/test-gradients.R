# Gradients: diffusion maps, against the formula written out.

# Regions on a line share signals with their neighbors.
line_of_regions <- function(n_var, n_obs = 150, seed = 2) {
  set.seed(seed)
  sources <- n_var + 20
  at <- function(n, low, high) seq(low, high, length.out = n)
  mixing <- exp(-outer(at(n_var, 0, 1), at(sources, -0.2, 1.2), "-")^2 / 0.02)
  x <- matrix(rnorm(n_obs * sources), n_obs) %*% t(mixing) + matrix(rnorm(n_obs * n_var, 0, 0.5), n_obs)
  colnames(x) <- paste0("r", seq_len(n_var))
  x
}

# The definition, of a matrix of weights with zero diagonal: the random walk's matrix is not symmetric.
gradients_by_hand <- function(w, n, fraction, kernel, alpha, time) {
  keep <- floor(fraction * nrow(w) + 1e-9)
  kept <- t(apply(w, 1, function(row) replace(row, -order(-row)[seq_len(keep)], 0)))
  kept[kept < 0] <- 0
  size <- sqrt(rowSums(kept^2))
  cosine <- kept %*% t(kept) / outer(size, size)
  affinity <- if (kernel == "cosine") cosine else 1 - acos(pmin(cosine, 1)) / pi
  d <- rowSums(affinity)
  l <- affinity * d^-alpha * rep(d^-alpha, each = nrow(w))
  p <- l / rowSums(l)
  found <- eigen(p)
  lambda <- Re(found$values[2:(n + 1)])
  v <- Re(found$vectors[, 2:(n + 1), drop = FALSE]) / Re(found$vectors[1, 1]) # the first is constant
  list(gradients = v %*% diag(if (time == 0) lambda / (1 - lambda) else lambda^time, n), lambda = lambda)
}

expect_gradients <- function(found, hand, tolerance, label) {
  expect_equal(unname(found$lambda), hand$lambda, tolerance = tolerance, label = paste(label, "lambda"))
  for (k in seq_along(hand$lambda)) {
    ours <- unname(found$gradients[, k])
    sign <- sign(sum(ours * hand$gradients[, k]))
    expect_equal(ours, sign * hand$gradients[, k], tolerance = tolerance, label = paste(label, "gradient", k))
    expect_gt(ours[which.max(abs(ours))], 0)
  }
}

no_diagonal <- function(r) replace(r, seq(1, length(r), nrow(r) + 1), 0)

test_that("gradients are those of the formula", {
  x <- line_of_regions(60)
  w <- no_diagonal(cor(x))
  rows <- covering(kernel = c("cosine", "normalized_angle"), alpha = c(0, 0.5, 1), time = c(0, 1, 3),
                   fraction = c(0.1, 0.25, 1))
  for (k in seq_len(nrow(rows))) {
    row <- rows[k, ]
    found <- gpuGradients(w, 4, row$fraction, row$kernel, row$alpha, row$time)
    hand <- gradients_by_hand(w, 4, row$fraction, row$kernel, row$alpha, row$time)
    expect_gradients(found, hand, 1e-7, paste(unlist(row), collapse = " "))
  }
  # The first gradient is the order on the line.
  first <- gpuGradients(x, 1)$gradients[, 1]
  expect_gt(abs(cor(first, 1:60, method = "spearman")), 0.97)
})

test_that("with the unit diagonal gradients are those of BrainSpace", {
  x <- line_of_regions(60)
  r <- cor(x) # BrainSpace thresholds the rows of this matrix, with its diagonal
  for (fraction in c(0.1, 0.3)) {
    for (kernel in c("cosine", "normalized_angle")) {
      hand <- gradients_by_hand(r, 3, fraction, kernel, 0.5, 0)
      for (data in list(r, x)) {
        found <- gpuGradients(data, 3, fraction, kernel, diagonal = TRUE)
        expect_gradients(found, hand, 1e-6, paste(kernel, fraction))
      }
    }
  }
  expect_true(found$diagonal)
  expect_output(print(found), "time = 0, with the unit diagonal\n")
  expect_identical(dimnames(found$gradients), dimnames(gpuGradients(x, 3, 0.3)$gradients))
  expect_gt(max(abs(found$lambda - gpuGradients(x, 3, 0.3, "normalized_angle")$lambda)), 1e-3)
  flat <- cbind(x, flat = 1)
  expect_warning(found <- gpuGradients(flat, 2, diagonal = TRUE), "deviation is zero|without a positive weight") |>
    suppressWarnings()
  expect_identical(unname(which(is.na(found$gradients[, 1]))), 61L)
  expect_error(gpuGradients(x, diagonal = 1), "'diagonal' must be TRUE or FALSE")
})

test_that("'sparsity' is BrainSpace's, with its rounding", {
  x <- line_of_regions(60)
  r <- cor(x)
  for (sparsity in c(0.9, 0.7)) for (kernel in c("cosine", "normalized_angle")) {
    hand <- gradients_by_hand(r, 3, trunc(60 * (1 - sparsity)) / 60, kernel, 0.5, 0)
    for (data in list(r, x)) {
      expect_gradients(gpuGradients(data, 3, kernel = kernel, sparsity = sparsity), hand, 1e-6, paste(kernel, sparsity))
    }
  }
  expect_identical(trunc(60 * (1 - 0.9)), 5) # one fewer than a tenth
  expect_true(gpuGradients(x, 3, sparsity = 0.9)$diagonal)
  expect_error(gpuGradients(x, fraction = 0.1, sparsity = 0.9), "give one of them")
  for (wrong in list(0, 1, "a", c(0.1, 0.2))) {
    expect_error(gpuGradients(x, sparsity = wrong), "'sparsity' must be a number above 0 and below 1")
  }
})

# Expects the rotation or reflection of `map` that is nearest to `to`: its cross product with `to` is symmetric and has
# no negative eigenvalue (Schoenemann 1966, Psychometrika 31, 1-10).
expect_nearest <- function(aligned, map, to, tolerance = 1e-8) {
  q <- qr.solve(map, aligned)
  expect_equal(crossprod(q), diag(ncol(q)), tolerance = tolerance, ignore_attr = TRUE)
  expect_equal(map %*% q, aligned, tolerance = tolerance, ignore_attr = TRUE)
  cross <- crossprod(aligned, to)
  expect_equal(cross, t(cross), tolerance = tolerance, ignore_attr = TRUE)
  expect_gt(min(eigen((cross + t(cross)) / 2, symmetric = TRUE)$values), 0)
}

# Generalized Procrustes analysis (Gower 1975, Psychometrika 40, 33-51) without scales: when it has converged, each map
# is nearest to the mean, which is the mean of all. BrainSpace ends it after 10 iterations.
expect_aligned <- function(found, maps, tolerance) {
  all <- found$subjects
  expect_equal(found$gradients, Reduce(`+`, all) / length(all), tolerance = 1e-12, ignore_attr = TRUE)
  for (k in seq_along(maps)) expect_nearest(all[[k]], maps[[k]], found$gradients, tolerance)
}

test_that("subjects are aligned to their mean, or to a template", {
  subjects <- lapply(c(a = 3, b = 4, c = 5), function(seed) line_of_regions(40, seed = seed))
  own <- lapply(subjects, gpuGradients, n = 3, precision = "double")
  maps <- lapply(own, function(each) unname(each$gradients))
  found <- gpuGradients(subjects, 3, align = TRUE, precision = "double")
  expect_aligned(found, maps, 1e-3)
  expect_identical(names(found$subjects), c("a", "b", "c"))
  expect_identical(dimnames(found$subjects$b), dimnames(own$b$gradients))
  expect_equal(found$lambdas["c", ], own$c$lambda)
  expect_equal(found$lambda, colMeans(found$lambdas))
  expect_output(print(found), "; the mean of 3 aligned subjects")
  # Alignment undoes a change of order and sign of the axes.
  distance <- function(maps) sum((maps[[1]] - maps[[2]])^2)
  expect_lt(distance(found$subjects), distance(maps))
  template <- own$c
  with_template <- gpuGradients(subjects[1:2], 3, align = template, precision = "double")
  expect_aligned(with_template, maps[1:2], 1e-3)
  one <- gpuGradients(subjects["a"], 3, align = template$gradients, precision = "double")
  expect_nearest(one$subjects$a, maps$a, template$gradients)
  networks <- lapply(subjects, gpuCorNetwork, density = 1, precision = "double")
  expect_equal(gpuGradients(networks, 3, align = TRUE)$gradients, found$gradients, tolerance = 1e-6)
  # Each has its own covariates; a column without gradients in one has none.
  z <- list(rnorm(150), rnorm(150), rnorm(150))
  adjusted <- gpuGradients(subjects, 3, align = TRUE, covariates = z, precision = "double")
  by_hand <- Map(subjects, z, f = function(x, z) gpuGradients(x, 3, covariates = z, precision = "double")$gradients)
  expect_aligned(adjusted, by_hand, 1e-3)
  flat <- subjects
  flat$b[, 7] <- 1
  holes <- suppressWarnings(gpuGradients(flat, 3, align = TRUE))
  expect_identical(unname(which(is.na(holes$subjects$a[, 1]))), 7L)
  holes[c("gradients", "subjects")] <- list(holes$gradients[-7, ], lapply(holes$subjects, function(map) map[-7, ]))
  expect_aligned(holes, lapply(flat, function(x) suppressWarnings(gpuGradients(x, 3))$gradients[-7, ]), 1e-3)
  expect_error(gpuGradients(subjects$a, align = TRUE), "'align' is for a list of subjects, and 'x' is of class matrix")
  expect_error(gpuGradients(subjects[1], align = TRUE), "'x' is a list of one")
  expect_error(gpuGradients(subjects, align = TRUE, combine = "mean"), "leave one out")
  expect_error(gpuGradients(subjects, 3, align = diag(3)), "gradients of 40 x 3, not a matrix of 3 x 3")
  expect_error(gpuGradients(list(subjects$a, subjects$b[, 1:39]), align = TRUE), "subject 2 has other variables")
})

test_that("data, networks and matrices give the same gradients", {
  x <- line_of_regions(60)
  found <- gpuGradients(x, 3, precision = "double")
  expect_identical(dimnames(found$gradients), list(colnames(x), paste0("gradient", 1:3)))
  expect_gradients(found, gradients_by_hand(no_diagonal(cor(x)), 3, 0.1, "cosine", 0.5, 0), 1e-7, "data")
  for (same in list(cor(x), Matrix::Matrix(cor(x), sparse = TRUE), gpuCorNetwork(x, density = 1),
                    gpuCor(x), gpuCor(x, output = "matrix"))) {
    expect_equal(gpuGradients(same, 3)$gradients, found$gradients, tolerance = 1e-4, label = class(same)[1])
    expect_identical(rownames(gpuGradients(same, 3)$gradients), colnames(x))
  }
  # Arguments of the network are passed on.
  expect_gradients(gpuGradients(x, 3, method = "spearman", precision = "double"),
                   gradients_by_hand(no_diagonal(cor(x, method = "spearman")), 3, 0.1, "cosine", 0.5, 0), 1e-7, "rho")
  subjects <- list(line_of_regions(60, seed = 3), line_of_regions(60, seed = 4))
  z <- tanh(no_diagonal((atanh(no_diagonal(cor(subjects[[1]]))) + atanh(no_diagonal(cor(subjects[[2]])))) / 2))
  expect_gradients(gpuGradients(subjects, 2, combine = "fisher"), gradients_by_hand(z, 2, 0.1, "cosine", 0.5, 0),
                   1e-4, "subjects")
})

test_that("only the strongest of each row are kept, of equal ones the first", {
  w <- methods::as(Matrix::Matrix(rbind(c(0, 3, 1, 2), c(3, 0, 0.5, -4), c(1, 0.5, 0, 0.5), c(2, -4, 0.5, 0)),
                                  sparse = TRUE), "generalMatrix")
  kept <- as.matrix(gpucor:::strongest_of_rows(w, 0.5))
  expect_identical(t(kept), rbind(c(0, 3, 0, 2), c(3, 0, 0.5, 0), c(1, 0.5, 0, 0), c(2, 0, 0.5, 0)))
  expect_identical(colSums(as.matrix(gpucor:::strongest_of_rows(w, 0.1)) != 0), c(1, 1, 1, 1))
  expect_identical(gpucor:::kept_in_row(200, 1 - 0.9), 20) # 1 - 0.9 is less than 0.1
})

test_that("RSpectra finds what LAPACK finds", {
  skip_if_not_installed("RSpectra")
  x <- line_of_regions(gpucor:::MIN_SPECTRA)
  w <- no_diagonal(cor(x))
  for (kernel in c("cosine", "normalized_angle")) {
    rows <- gpucor:::strongest_of_rows(gpucor:::weights_by_row(w, 0.1), 0.1)
    units <- rows %*% Matrix::Diagonal(x = 1 / sqrt(Matrix::colSums(rows^2)))
    affinity <- gpucor:::affinity_of(units, kernel)
    scale <- 1 / sqrt(affinity$product(rep(1, nrow(w))))
    found <- gpucor:::leading_eigen(affinity, scale, 4)
    truth <- eigen(affinity$dense() * outer(scale, scale), symmetric = TRUE)
    expect_equal(found$values, truth$values[1:4], tolerance = 1e-10)
    expect_equal(abs(colSums(found$vectors * truth$vectors[, 1:4])), rep(1, 4), tolerance = 1e-10)
  }
})

test_that("variables without a positive weight have no gradient", {
  x <- line_of_regions(40)
  w <- no_diagonal(cor(x))
  w[7, ] <- w[, 7] <- -abs(w[7, ])
  w[9, ] <- w[, 9] <- NA
  expect_warning(found <- gpuGradients(w, 3, 0.25), "^2 of 40 variables without a positive weight, thus without")
  expect_identical(unname(which(is.na(found$gradients[, 2]))), c(7L, 9L))
  kept <- w[-c(7, 9), -c(7, 9)]
  expect_gradients(list(gradients = found$gradients[-c(7, 9), ], lambda = found$lambda),
                   gradients_by_hand(kept, 3, 10 / 38, "cosine", 0.5, 0), 1e-7, "isolated")
  expect_identical(summary(found)$missing, 2L)
})

test_that("gradients of real regions are those of the formula", {
  img <- readVoxels(real_image())
  average <- rowMeans(img, dims = 3)
  blocks <- (slice.index(average, 1) - 1) %/% 3 + 6 * ((slice.index(average, 2) - 1) %/% 3) +
    42 * (slice.index(average, 3) - 1) + 1
  x <- voxelMatrix(img, average > 2500)
  atlas <- voxelImage(blocks[attr(x, "mask")], x)
  regions <- parcelMeans(x, atlas)
  large <- table(atlas[atlas > 0]) >= 5
  regions <- regions[, large[colnames(regions)]]
  expect_gt(ncol(regions), 100)
  w <- no_diagonal(cor(regions))
  for (kernel in c("cosine", "normalized_angle")) {
    found <- gpuGradients(regions, 5, kernel = kernel, precision = "double")
    expect_gradients(found, gradients_by_hand(w, 5, 0.1, kernel, 0.5, 0), 1e-6, kernel)
  }
})

test_that("gradients are printed, summed up, drawn and made a data frame", {
  x <- line_of_regions(40)
  g <- gpuGradients(x, 3)
  expect_output(print(g), "3 gradients of 40 variables: diffusion map of the cosine of rows, the strongest 10 %")
  expect_output(print(g), "gradient1 +gradient2 +gradient3")
  expect_identical(as.data.frame(g)["r3", "gradient2"], g$gradients[3, 2])
  expect_identical(summary(g)$lambda, g$lambda)
  expect_output(print(summary(g)), "quantiles:")
  texts <- texts_of(plot(g))
  for (text in c("gradient1", "gradient2", "lambda")) expect_true(text %in% texts)
  coords <- cbind(1:40, rep(1:2, 20), 0)
  expect_true("Gradient 2" %in% texts_of(plot(g, "map", gradient = 2, coords = coords)))
  expect_true(all(c("Gradient 1", "Eigenvalues") %in% texts_of(plot(g, coords = coords))))
  expect_true("variable" %in% texts_of(plot(gpuGradients(x, 1), "scatter")))
  expect_error(plot(g, "map"), "type = \"map\" needs 'coords'")
})

test_that("weights may be in a data frame", {
  r <- cor(line_of_regions(40))
  expected <- gpuGradients(r, 3)$gradients
  expect_identical(gpuGradients(as.data.frame(r), 3)$gradients, expected)
  read <- data.frame(unname(r)) # as read.csv() names it
  expect_identical(unname(gpuGradients(read, 3)$gradients), unname(expected))
  rownames(read) <- rownames(read)
  expect_identical(unname(gpuGradients(read, 3)$gradients), unname(expected))
})

test_that("what has no gradients is an error that says so", {
  x <- line_of_regions(20)
  two <- as.matrix(Matrix::bdiag(no_diagonal(cor(x)), no_diagonal(cor(x))))
  expect_error(gpuGradients(two, 2), "the network is not connected")
  expect_error(gpuGradients(x, 20), "'n' is 20, but only 20 variables can have gradients, at most one fewer")
  expect_error(gpuGradients(x, 0), "'n' must be a whole number")
  expect_error(gpuGradients(x, fraction = 0), "'fraction' must be a number above 0")
  expect_error(gpuGradients(x, kernel = "cosinus"), "'kernel' must be one of")
  expect_error(gpuGradients(x, alpha = 2), "'alpha' must be a number between 0 and 1")
  expect_error(gpuGradients(cor(x), method = "spearman"), "argument 'method' is for data, and 'x' is a network")
  expect_error(gpuGradients(gpuCorNetwork(x[, 1:9], x[, 10:20], k = 2)), "'x' must be symmetric or data")
  expect_error(gpuGradients(-abs(cor(x))), "'x' has no positive weight")
  expect_error(gpuGradients("a"), "'x' must be")
})
