# The pictures of the gallery: a title, and code that draws. Data: leukemia samples (Chiaretti and others 2004, package
# ALL), the parcels of the AAL atlas and a brain (package mricron-data of Debian), and an image of fMRI.

suppressMessages({
  data("ALL", package = "ALL", envir = environment())
  expression <- t(Biobase::exprs(ALL))
  about <- Biobase::pData(ALL)
})
varied <- function(m, n) m[, order(-apply(m, 2, var))[seq_len(n)]]
genes <- varied(expression, 2000)
few <- genes[, 1:40]
is_t <- grepl("^T", about$BT)
lineage <- ifelse(is_t, "T cells", "B cells")
traits <- data.frame(age = about$age, sex = about$sex, stage = factor(substr(about$BT, 1, 2)), relapse = about$relapse,
                     lineage = factor(lineage), row.names = rownames(genes))
set.seed(1)
modules <- gpuModules(genes, power = 6, stability = 10)
network <- gpuCorNetwork(genes, density = 0.002)
compared <- gpuCorCompare(genes[is_t, 1:300], genes[!is_t, 1:300])
associated <- gpuAssociation(genes, traits["age"], covariates = ~ sex, data = traits)

templates <- "/usr/share/mricron/templates"
atlas <- readVoxels(file.path(templates, "aal.nii.gz"))
brain <- file.path(templates, "ch2bet.nii.gz")
parcels <- local({
  lines <- strsplit(readLines(file.path(templates, "aal.nii.txt")), "[ \t]+")
  number <- as.integer(vapply(lines, `[`, "", 1L))
  at <- voxelCoords(file.path(templates, "aal.nii.gz"))
  centre <- t(parcelMeans(t(at), atlas[atlas > 0]))
  rownames(centre) <- vapply(lines, `[`, "", 2L)[match(rownames(centre), number)]
  centre[1:90, ] # the cerebrum
})
# Simulated: series are more alike the nearer regions are, and in both hemispheres.
regions <- function(n, seed, extra = 0) {
  set.seed(seed)
  mirrored <- cbind(abs(parcels[, 1]), parcels[, -1])
  like <- exp(-as.matrix(dist(mirrored)) / 25)
  x <- matrix(rnorm(n * nrow(parcels)), n) %*% chol(like + diag(0.3, nrow(parcels)))
  x[, 1:12] <- x[, 1:12] + extra * rnorm(n)
  colnames(x) <- rownames(parcels)
  x
}
subjects <- lapply(1:24, function(s) regions(120, s, if (s > 12) 0.8 else 0))
names(subjects) <- sprintf("sub-%02d", 1:24)
systems <- sub("_.*", "", rownames(parcels))
lobe <- c(Precentral = "frontal", Frontal = "frontal", Rolandic = "frontal", Supp = "frontal", Olfactory = "frontal",
          Rectus = "frontal", Insula = "insula", Cingulum = "limbic", Hippocampus = "limbic",
          ParaHippocampal = "limbic", Amygdala = "limbic", Calcarine = "occipital", Cuneus = "occipital",
          Lingual = "occipital", Occipital = "occipital", Fusiform = "occipital", Postcentral = "parietal",
          Parietal = "parietal", SupraMarginal = "parietal", Angular = "parietal", Precuneus = "parietal",
          Paracentral = "parietal", Caudate = "subcortical", Putamen = "subcortical", Pallidum = "subcortical",
          Thalamus = "subcortical", Heschl = "temporal", Temporal = "temporal")[systems]
one <- regions(200, 99)
bold <- image_file # an image of fMRI, 4-D
volumes <- readVoxels(bold)
average <- rowMeans(volumes, dims = 3)
bright <- average > quantile(average[average > 0], 0.5)
voxels <- voxelMatrix(bold, mask = bright)
places <- tryCatch(voxelCoords(voxels), error = function(e) which(attr(voxels, "mask") > 0, arr.ind = TRUE))
kept <- !seq_len(nrow(voxels)) %in% 8:9
seed_map <- voxelImage(as.vector(gpuCor(voxels[, ncol(voxels) %/% 2, drop = FALSE], voxels)), voxels)

pictures <- list(
  "Coefficients" = quote(plot(gpuCor(few))),
  "Heat map by modules" = quote(plot(gpuCor(genes[, 1:300]), groups = modules)),
  "Regions by lobe" = quote(plot(gpuCor(one), groups = lobe, main = "One subject")),
  "Samples with an annotation" = quote(plot(gpuCor(t(genes)), "heatmap", groups = lineage, order = "tree")),
  "Two groups as triangles" = quote(plot(gpuCor(few[is_t, ]), upper = gpuCor(few[!is_t, ]), main = "T and B cells")),
  "Lags" = quote(plot(gpuCor(one[, 1:30], lag = -8:8))),
  "Topological overlap" = quote(plot(gpuTOM(genes[, 1:500], power = 6), groups = modules)),
  "Network" = quote(plot(gpuCorNetwork(few, threshold = 0.7))),
  "Network of 2,000 genes" = quote(plot(network, "layout")),
  "Network, resampled" = quote(plot(gpuCorNetwork(few, threshold = 0.6, resample = 50))),
  "Variables against variables" = quote(plot(gpuCorNetwork(genes[, 1:20], genes[, 21:60], threshold = 0.4))),
  "Network on a brain" = quote(plot(gpuCorNetwork(one, density = 0.05), "layout", coords = parcels)),
  "Network on a brain, by lobe" = quote(plot(gpuCorNetwork(one, density = 0.05), "layout", coords = parcels,
                                             groups = lobe)),
  "Network by modules" = quote(plot(network, "layout", groups = modules)),
  "Network on a brain, with an image" = quote(plot(gpuCorNetwork(one, density = 0.05), "layout",
                                                   coords = parcels, background = brain)),
  "Difference network on a brain" = quote(plot(gpuCorCompare(subjects[13:24], subjects[1:12], fdr = 0.05), "layout",
                                               coords = parcels)),
  "Components (NBS) on a brain" = quote(plot(
    gpuCorCompare(subjects[13:24], subjects[1:12], threshold = 3.5, components = "size", n_perm = 200), "layout",
    coords = parcels
  )),
  "Connectivity" = quote(plot(gpuConnectivity(genes, power = 6, histogram = TRUE))),
  "Hubs in space" = quote(plot(gpuConnectivity(one, threshold = 0.4), coords = parcels)),
  "Map of voxels" = quote(plot(gpuConnectivity(voxels, density = 0.05), coords = places)),
  "Tests" = quote(plot(gpuCorTest(few))),
  "Tests with stars" = quote(plot(gpuCorTest(genes[is_t, 1:25]), "heatmap")),
  "Comparison" = quote(plot(compared)),
  "One group against the other" = quote(plot(compared, "groups")),
  "Differences" = quote(plot(gpuCorCompare(few[is_t, ], few[!is_t, ]), "heatmap")),
  "Differences as triangles" = quote(plot(gpuCorCompare(few[is_t, 1:25], few[!is_t, 1:25], classes = 0.05), "heatmap")),
  "Association" = quote(plot(associated)),
  "Association, all traits" = quote(plot(gpuAssociation(few[, 1:12], traits, output = "matrix"), "heatmap")),
  "Modules" = quote(plot(modules)),
  "Modules with rows of colors" = quote(plot(
    modules, colors = list(age = as.vector(cor(genes, traits$age, use = "p")), lineage = as.vector(cor(genes, is_t)))
  )),
  "Stability of modules" = quote(plot(modules, "stability")),
  "Modules and traits" = quote(plot(modules, traits = traits)),
  "Power" = quote(plot(pickPower(genes, 1:12))),
  "Preservation" = quote(plot(gpuPreservation(genes[is_t, ], genes[!is_t, ], modules, power = 6, n_perm = 20))),
  "Windows" = quote(plot(gpuCorWindows(one[, 1:30], 40, step = 5))),
  "Moments of windows" = quote(plot(gpuCorWindows(one, 40, step = 5, output = "moments"))),
  "Degrees over windows" = quote(plot(gpuCorWindows(one, 40, step = 5, output = "connectivity", threshold = 0.5))),
  "Mean of windows" = quote(plot(gpuCorWindows(one, 40, step = 5), "heatmap", groups = lobe)),
  "Gradients" = quote(plot(gpuGradients(one))),
  "Gradients in space" = quote(plot(gpuGradients(one), coords = parcels)),
  "Slices of a brain" = quote(plot(readVoxels(brain), palette = c("black", "black", "white"))),
  "Slices of a map" = quote(plot(seed_map, bold, from = 0.3, label = "r")),
  "Slices with outlines" = quote(plot(seed_map, bold, from = 0.1, above = 0.4, label = "r")),
  "Carpet" = quote(plot(voxels)),
  "Carpet with confounds" = quote(plot(voxels[kept, ], confounds = structure(cbind(
    framewise_displacement = abs(sin(seq_along(kept))), dvars = c(NA, rowMeans(abs(voxels))[-1])
  ), keep = kept))),
  "Inter-subject correlation" = quote(plot(gpuISC(subjects)))
)
