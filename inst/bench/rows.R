# The table of rows that regress.R times, and functions.R some of: every exported function that computes, every measure
# and every path through the engine has one, so a new one adds a row. A row has
#
#   data     function(n_obs, n_var) that makes what the call takes; a list, if the call takes several objects
#   cpu, gpu c(n_obs, n_var): the size for a processor and for a GPU; NULL: the row is not for it
#   call     function(x) to time
#   needs    packages that the call needs besides gpucor
#
# A call of a processor's row takes about a tenth of a second on two cores, as all rows are to take minutes; one of a
# GPU's row between a tenth of a second and two. Only exported functions are called.

row <- function(data, cpu, gpu, call, needs = character()) {
  list(data = data, cpu = cpu, gpu = gpu, call = call, needs = needs)
}

# ---- data

normal <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * n_var), n_obs)
}
# Gene expression: every column is a mixture of 20 common factors and noise of its own.
mixture <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * 20), n_obs) %*% matrix(rnorm(20 * n_var, sd = 0.3), 20) + rnorm(n_obs * n_var)
}
# Strong correlations: all columns share three factors.
three_factors <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rnorm(n_obs * 3), n_obs) %*% matrix(rnorm(3 * n_var), 3) + rnorm(n_obs * n_var, sd = 0.5)
}
# Ranks of genes in up to 128 patients.
gene_ranks <- function(n_obs, n_var) {
  found <- new.env()
  utils::data("ALL", package = "ALL", envir = found)
  apply(t(Biobase::exprs(found$ALL))[seq_len(n_obs), seq_len(n_var)], 2, rank)
}
missing_of <- function(fraction) {
  function(n_obs, n_var) {
    x <- mixture(n_obs, n_var)
    x[sample.int(length(x), fraction * length(x))] <- NA
    x
  }
}
rounded <- function(n_obs, n_var) round(mixture(n_obs, n_var), 1)
counts <- function(n_obs, n_var) {
  set.seed(1)
  matrix(rpois(n_obs * n_var, 0.3), n_obs)
}
cells <- function(n_obs, n_var) {
  set.seed(1)
  Matrix::rsparsematrix(n_obs, n_var, 0.02, rand.x = function(n) log1p(rgeom(n, 0.3) + 1))
}
# Genes in modules: columns of one of twelve factors, or of none.
modular <- function(n_obs, n_var) {
  set.seed(1)
  factors <- cbind(matrix(rnorm(n_obs * 12), n_obs), 0)
  x <- factors[, sample.int(13, n_var, replace = TRUE)] + rnorm(n_obs * n_var)
  dimnames(x) <- list(NULL, paste0("g", seq_len(n_var)))
  x
}
# Volumes of a scan: autocorrelated series of 20 networks.
series <- function(n_obs, n_var) {
  set.seed(1)
  common <- apply(matrix(rnorm(n_obs * 20), n_obs), 2, stats::filter, 0.6, "recursive")
  matrix(rnorm(n_obs * n_var), n_obs) + common[, rep_len(1:20, n_var)]
}
scans <- function(n_subject) {
  function(n_obs, n_var) {
    x <- series(n_obs, n_var)
    lapply(seq_len(n_subject), function(i) x + rnorm(length(x)))
  }
}
# Data that make() returns from modular columns.
of_modular <- function(make) function(n_obs, n_var) make(modular(n_obs, n_var))
raw_file <- function(n_obs, n_var) {
  path <- tempfile("columns")
  writeBin(as.vector(mixture(n_obs, n_var)), path)
  gpuCorFile(path, c(n_obs, n_var))
}
# A brain of n_var voxels and its atlas of 50 parcels.
brain <- function(n_obs, n_var) {
  side <- round(n_var^(1 / 3))
  path <- paste0(tempfile("brain"), ".nii")
  x <- array(t(series(n_obs, side^3)), c(side, side, side, n_obs))
  writeVoxels(x, path, voxel_size = c(2, 2, 2), tr = 2)
  list(path = path, atlas = array(rep_len(1:50, side^3), rep(side, 3)), voxels = voxelMatrix(x))
}
as_hdf5 <- function(n_obs, n_var) {
  path <- paste0(tempfile("columns"), ".h5")
  rhdf5::h5createFile(path)
  rhdf5::h5createDataset(path, "x", c(n_obs, n_var), chunk = c(n_obs, 32), level = 0)
  rhdf5::h5write(mixture(n_obs, n_var), path, "x")
  gpuCorFile(path, dataset = "x")
}
# Genotypes 10 kb apart, of random bytes.
plink_file <- function(n_obs, n_var) {
  path <- tempfile("genotypes", fileext = ".bed")
  set.seed(1)
  bytes <- sample(0:255, ceiling(n_obs / 4) * n_var, TRUE)
  writeBin(as.raw(c(0x6c, 0x1b, 1, bytes)), path)
  writeLines(sprintf("1 rs%d 0 %d A G", seq_len(n_var), seq_len(n_var) * 10000L), sub("bed$", "bim", path))
  writeLines(sprintf("1 s%d 0 0 0 -9", seq_len(n_obs)), sub("bed$", "fam", path))
  gpuCorFile(path)
}

# ---- calls

network <- function(...) function(x) gpuCorNetwork(x, ...)
dense <- function(...) function(x) gpuCor(x, ...)
connectivity <- function(...) function(x) gpuConnectivity(x, ...)
halves <- function(x) list(x[seq_len(nrow(x) / 2), ], x[-seq_len(nrow(x) / 2), ])
# The number of permutations: n for a GPU's size, a tenth of it for a processor's.
draws <- function(x, n) if (ncol(x) < 5000) n / 10 else n
# The last fifth of the columns.
traits <- function(x) ncol(x) * 0.8 + seq_len(ncol(x) * 0.2)
band <- list(segment = 44)

# ---- rows

ROWS <- list(
  # Results, of Pearson's coefficients.
  "dist" = row(normal, c(100, 6000), c(100, 40000), dense()),
  "matrix" = row(normal, c(100, 3000), c(100, 20000), dense(output = "matrix")),
  "x and y" = row(normal, c(100, 6000), c(100, 40000), function(x) gpuCor(x[, traits(x)], x[, -traits(x)])),
  "double" = row(normal, c(100, 4000), c(100, 20000), network(threshold = 0.5, precision = "double")),
  "threshold" = row(normal, c(128, 10000), c(128, 3e5), network(threshold = 0.5)),
  "density" = row(mixture, c(128, 8000), c(128, 3e5), network(density = 0.01)),
  "k-10" = row(mixture, c(128, 5000), c(128, 3e5), network(k = 10)),
  "p.value" = row(normal, c(100, 8000), c(100, 1e5), network(p.value = 1e-6)),
  "fdr" = row(mixture, c(105, 6000), c(105, 22283), network(fdr = 1e-6)),
  "clr" = row(mixture, c(105, 6000), c(105, 22283), network(normalize = "clr", density = 0.005)),
  "edge list" = row(mixture, c(100, 6000), c(100, 1e5), network(density = 0.01, output = "edges")),
  "file" = row(mixture, c(100, 6000), c(100, 1e5), function(x) {
    file <- tempfile(fileext = ".h5ad")
    on.exit(unlink(file))
    gpuCorNetwork(x, density = 0.01, file = file)
  }),
  "pair mask" = row(mixture, c(100, 6000), c(100, 60000), function(x) {
    gpuCorNetwork(x, threshold = 0.5, pairs = pairMask(rep_len(1:100, ncol(x)), different = TRUE))
  }),
  "plan" = row(mixture, c(100, 6000), c(100, 1e5), function(x) {
    path <- tempfile("plan")
    on.exit(unlink(path, recursive = TRUE))
    gpuCorPlan(path, x, density = 0.001, shards = 4)
    gpuCorRun(path)
    gpuCorCollect(path)
  }),

  # Measures.
  "spearman" = row(normal, c(100, 6000), c(100, 40000), dense(method = "spearman")),
  "kendall" = row(normal, c(100, 4000), c(128, 1e5), network(method = "kendall", density = 0.01)),
  "kendall, dist" = row(normal, c(100, 3000), c(100, 40000), dense(method = "kendall")),
  "k-50-kendall" = row(mixture, c(128, 3000), c(128, 3e5), network(k = 50, method = "kendall")),
  "kendall, ties" = row(rounded, c(57, 4000), c(57, 40000), dense(method = "kendall")),
  "kendall, long" = row(normal, c(1e4, 30), c(3e4, 500), dense(method = "kendall")),
  "kendall, counts" = row(counts, c(2e4, 100), c(1e5, 500), dense(method = "kendall")),
  "bicor" = row(mixture, c(100, 5000), c(100, 40000), dense(method = "bicor")),
  "cosine" = row(mixture, c(100, 6000), c(100, 40000), dense(method = "cosine")),
  "distance" = row(mixture, c(100, 1500), c(100, 20000), network(method = "distance", density = 0.001)),
  "distance, long" = row(normal, c(1000, 100), c(5000, 500), dense(method = "distance")),
  "mi" = row(mixture, c(500, 2000), c(1000, 20000),
             network(method = "mi", options = list(bins = 10), density = 0.001)),
  "coherence" = row(series, c(200, 3000), c(200, 50000),
                    network(method = "coherence", bandpass = c(0.02, 0.24), tr = 1, options = band, density = 0.001)),
  "concordance" = row(mixture, c(100, 8000), c(100, 50000), network(method = "concordance", density = 0.001)),
  "partial" = row(mixture, c(57, 8000), c(128, 3e5), network(density = 0.001, partial = TRUE)),

  # Columns changed or chosen before the products: weights, covariates, filters, missing values.
  "weights" = row(mixture, c(100, 6000), c(100, 1e5),
                  function(x) gpuCorNetwork(x, density = 0.001, weights = seq_len(nrow(x)))),
  "covariates" = row(mixture, c(100, 6000), c(100, 1e5),
                     function(x) gpuCorNetwork(x, density = 0.001, covariates = x[, 1:5])),
  "covariance" = row(mixture, c(300, 5000), c(1000, 18000), function(x) {
    kind <- seq_len(nrow(x)) %% 50
    gpuCorNetwork(x, density = 0.001, covariance = diag(0.5, nrow(x)) + 0.5 * outer(kind, kind, "=="))
  }),
  "band-pass" = row(normal, c(1200, 3000), c(1200, 60000),
                    connectivity(threshold = 0.3, bandpass = c(0.01, 0.1), tr = 0.72)),
  "clean" = row(normal, c(1200, 500), c(1200, 2000), function(x) gpuClean(x, covariates = x[, 1:24])),
  "pairs, dist" = row(missing_of(0.02), c(128, 3000), c(200, 20000), dense(use = "pairwise")),
  "pairwise" = row(missing_of(0.05), c(128, 3000), c(200, 20000), network(threshold = 0.6, use = "pairwise")),
  "pairwise-cosine" = row(missing_of(0.05), c(128, 3000), c(200, 20000),
                          network(threshold = 0.6, use = "pairwise", method = "cosine")),
  "pairs, spearman" = row(missing_of(0.02), c(128, 1500), c(128, 10000), dense(use = "pairwise", method = "spearman")),
  "pairs, kendall" = row(missing_of(0.02), c(128, 1000), c(128, 10000), dense(use = "pairwise", method = "kendall")),
  "pairwise-bicor" = row(missing_of(0.05), c(128, 600), c(200, 20000),
                         network(threshold = 0.6, use = "pairwise", method = "bicor")),
  "pairs, distance" = row(missing_of(0.02), c(102, 500), c(102, 3000), dense(use = "pairwise", method = "distance")),

  # Where columns come from.
  "sparse" = row(cells, c(20000, 1000), c(1e5, 2000), dense()),
  "sparse, spearman" = row(cells, c(20000, 1000), c(1e5, 2000), dense(method = "spearman")),
  "sparse, kendall" = row(cells, c(20000, 500), c(1e5, 2000), dense(method = "kendall")),
  "raw file" = row(raw_file, c(500, 5000), c(1000, 40000), network(threshold = 0.5)),
  "HDF5 file" = row(as_hdf5, c(500, 3000), c(1000, 40000), network(threshold = 0.5), needs = "rhdf5"),
  "PLINK file" = row(plink_file, c(500, 2000), c(5000, 40000), function(x) {
    window <- pairMask(x$variants[c("chromosome", "bp")], within_distance = 1e6)
    gpuCorNetwork(x, threshold = sqrt(0.2), use = "pairwise", pairs = window)
  }),
  "image" = row(brain, c(100, 8000), c(100, 27000), function(x) voxelMatrix(readVoxels(x$path))),
  "parcels" = row(brain, c(100, 8000), c(100, 27000), function(x) parcelMeans(x$voxels, x$atlas)),

  # Tests.
  "test" = row(normal, c(100, 3000), c(100, 20000), function(x) gpuCorTest(x)),
  "test-kendall" = row(normal, c(100, 2000), c(100, 20000), function(x) gpuCorTest(x, method = "kendall")),
  "pairs, tests" = row(missing_of(0.02), c(128, 1500), c(128, 10000), function(x) gpuCorTest(x, use = "pairwise")),
  "maxT" = row(mixture, c(100, 600), c(100, 5000), function(x) {
    set.seed(1)
    gpuCorTest(x, adjust = "maxT", n_perm = draws(x, 1000))
  }),
  "association" = row(mixture, c(100, 10000), c(100, 25000),
                      function(x) gpuAssociation(x[, -traits(x)], x[, traits(x)], p.value = 1e-6)),
  "compare" = row(mixture, c(100, 2000), c(100, 10000), function(x) {
    set.seed(1)
    half <- halves(x)
    gpuCorCompare(half[[1]], half[[2]], density = 0.001, n_perm = draws(x, 200))
  }),
  "groups" = row(scans(10), c(200, 60), c(200, 94), function(x) {
    set.seed(1)
    gpuCorCompare(x[1:5], x[6:10], n_perm = 999)
  }),
  "surrogates" = row(series, c(600, 60), c(1200, 94), function(x) {
    set.seed(1)
    gpuCorNetwork(x, p.value = 0.05, adjust = "maxT", n_perm = 49, surrogate = "phase")
  }),
  "resample" = row(mixture, c(57, 3000), c(57, 22283), function(x) {
    set.seed(1)
    gpuCorNetwork(x, density = 0.001, resample = 10)
  }),
  "lioness" = row(mixture, c(57, 4000), c(57, 22283), network(density = 0.001, lioness = 1)),

  # Sums over each column's pairs.
  "degree" = row(mixture, c(128, 8000), c(128, 3e5), connectivity(threshold = 0.5)),
  "power-6" = row(mixture, c(128, 6000), c(128, 3e5), connectivity(power = 6)),
  "powers" = row(mixture, c(165, 3000), c(165, 90112), connectivity(power = 1:20)),
  "maps" = row(mixture, c(165, 5000), c(165, 90112), connectivity(maps = c("mean", "z"), density = 0.001)),
  "eigenvector" = row(mixture, c(32, 40000), c(128, 3e5), connectivity(maps = "eigenvector", density = 0.001)),
  "eigenvector, all" = row(mixture, c(128, 30000), c(128, 3e5), connectivity(maps = "eigenvector")),
  "pick power" = row(modular, c(60, 3000), c(60, 20000), function(x) pickPower(x)),

  # Modules.
  "overlap" = row(modular, c(60, 2000), c(60, 20000), function(x) gpuTOM(x)),
  "overlap, network" = row(modular, c(60, 2000), c(60, 20000),
                           function(x) gpuTOM(x, density = 0.01, output = "network")),
  "tree" = row(of_modular(function(x) gpuCor(x)), c(60, 4000), c(60, 20000), function(x) gpuHclust(x)),
  "modules" = row(modular, c(60, 1500), c(60, 10000), function(x) gpuModules(x, power = 6), needs = "dynamicTreeCut"),
  "preservation" = row(modular, c(60, 1500), c(60, 5000), function(x) {
    half <- halves(x)
    set.seed(1)
    # Builds without `gold` compute no negative control.
    control <- if ("gold" %in% names(formals(gpuPreservation))) list(gold = 0)
    do.call(gpuPreservation, c(list(half[[1]], half[[2]], rep_len(0:12, ncol(x)), n_perm = 50, power = 6), control))
  }),
  "prune" = row(of_modular(function(x) gpuCorNetwork(x, density = 0.02)), c(60, 1500), c(60, 10000),
                function(x) gpuPrune(x)),
  "gradients" = row(series, c(200, 1000), c(200, 10000), function(x) gpuGradients(x), needs = "RSpectra"),

  # Series and subjects.
  "lags" = row(series, c(600, 94), c(1200, 94), dense(lag = -20:20)),
  "windows" = row(series, c(600, 94), c(1200, 94), function(x) gpuCorWindows(x, 60)),
  "windows-moments" = row(series, c(165, 500), c(165, 20000),
                           function(x) gpuCorWindows(x, 30, output = "moments", density = 0.001)),
  "windows, degree" = row(series, c(165, 1500), c(165, 40000),
                          function(x) gpuCorWindows(x, 30, step = 5, output = "connectivity", threshold = 0.8)),
  "subjects" = row(scans(5), c(200, 3000), c(300, 30000), network(density = 0.001, combine = "fisher")),
  "isc" = row(scans(10), c(200, 2000), c(300, 30000), function(x) gpuISC(x)),

  # Earlier names, and classes.
  "gpuDist" = row(normal, c(100, 4000), c(100, 20000), function(x) gpuDist(x)),
  "triangle" = row(normal, c(100, 4000), c(100, 20000), function(x) gpuCorTriangle(x)),
  "gpuCorPairs" = row(normal, c(100, 4000), c(100, 20000), function(x) gpuCorPairs(x, threshold = 0.4)),
  "gpuTtest" = row(of_modular(function(x) gpuCor(x)), c(60, 2000), c(60, 10000),
                   function(x) gpuTtest(60, as.vector(x))),
  "gpuCorPerm" = row(normal, c(60, 200), c(60, 1000), function(x) {
    set.seed(1)
    gpuCorPerm(x, B = 100L)
  }),
  "as a matrix" = row(of_modular(function(x) gpuCor(x)), c(60, 3000), c(60, 10000), function(x) as.matrix(x)),
  "as a data frame" = row(of_modular(function(x) gpuCorNetwork(x, density = 0.1)), c(60, 3000), c(60, 10000),
                          function(x) as.data.frame(x))
)

# Permutation tests skip pairs by bounds, which rule out fewer pairs of other columns: rows for these.
TWINS <- list(correlated = list(data = three_factors), tied = list(data = rounded),
              ranks = list(data = gene_ranks, needs = c("ALL", "Biobase")))
for (name in c("maxT", "compare", "gpuCorPerm")) for (twin in names(TWINS)) {
  ROWS[[paste0(name, ", ", twin)]] <- utils::modifyList(ROWS[[name]], TWINS[[twin]])
}
