# A simulated scan: two networks in a head that moves.
# It needs library(gpucor).
#
#   simulate_study(folder)   writes bold.nii.gz, brain.nii.gz, atlas.nii.gz and confounds.tsv
#   simulate_scan(volumes)   returns a 4-D array of integers

# Smooths an image with a Gaussian along x, y and z; aperm() brings the next axis to the front.
smooth3 <- function(img, sd) {
  for (axis in 1:3) {
    n <- dim(img)[1]
    kernel <- exp(-outer(1:n, 1:n, "-")^2 / (2 * sd^2))
    img <- array((kernel / rowSums(kernel)) %*% matrix(img, n), dim(img))
    img <- aperm(img, c(2, 3, 1, 4))
  }
  img
}

noise <- function(size, sd) {
  img <- smooth3(array(rnorm(prod(size)), size), sd)
  img / sd(img)
}

# Returns the distance of every voxel from a point, in units of the semi-axes.
ellipsoid <- function(size, center, axes) {
  at <- t(arrayInd(seq_len(prod(size)), size))
  array(sqrt(colSums(((at - center) / axes)^2)), size)
}

# Returns a signal of about 0.01 to 0.1 Hz, at two seconds per volume.
slow_signal <- function(n) {
  averaged <- stats::filter(rnorm(n + 5), rep(1, 6), sides = 1)[-(1:5)]
  as.vector(scale(averaged))
}

SIZE <- c(30, 36, 16)
BRAIN <- ellipsoid(SIZE, c(15.5, 18.5, 7.5), c(12.5, 16, 8))

# Intensity of cortex, white matter and ventricles.
simulate_tissue <- function() {
  tissue <- (BRAIN < 1) * ifelse(BRAIN > 0.75, 1, 0.8)
  for (x in c(13.5, 17.5)) {
    tissue <- tissue + 0.4 * (ellipsoid(SIZE, c(x, 19, 8), c(1.5, 5, 3)) < 1)
  }
  tissue <- as.vector(tissue) * (1 + 0.15 * noise(c(SIZE, 1), 0.6))
  as.vector(smooth3(tissue, 0.5))
}

# Two networks, of four regions and of two. Regions with small x, on the right of the head, are larger.
NETWORKS <- list(
  list(c(8, 26, 10), c(23, 26, 10), c(7, 11, 10), c(24, 11, 10)),
  list(c(11, 6, 6), c(20, 6, 6))
)

simulate_networks <- function(volumes, strength) {
  fluctuation <- noise(c(SIZE, volumes), 0.8) # smooth, as after preprocessing
  for (k in seq_along(NETWORKS)) {
    signal <- strength[k] * slow_signal(volumes)
    for (center in NETWORKS[[k]]) {
      axes <- if (center[1] < 15) c(3, 3.5, 3) else c(2.2, 2.6, 2.2)
      fluctuation <- fluctuation + exp(-ellipsoid(SIZE, center, axes)^2) %o% signal
    }
  }
  fluctuation
}

# Six motion parameters, in mm, of a head that drifts and sometimes jerks. The signal at the brain's edge follows them.
simulate_motion <- function(volumes, jerks) {
  motion <- apply(matrix(rnorm(6 * volumes, 0, 0.02), volumes), 2, cumsum)
  for (at in jerks) motion[at, ] <- motion[at, ] + rnorm(6, 0, 0.5)
  colnames(motion) <- c("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z")
  motion
}

motion_artefact <- function(motion) {
  edge <- as.vector(exp(-((BRAIN - 0.9) / 0.15)^2))
  artefact <- 0
  for (k in 1:6) artefact <- artefact + (edge * as.vector(noise(c(SIZE, 1), 2.5))) %o% (6 * motion[, k])
  array(artefact, c(SIZE, nrow(motion)))
}

simulate_scan <- function(volumes, strength = c(1.8, 1.8), motion = NULL) {
  change <- simulate_networks(volumes, strength)
  if (!is.null(motion)) change <- change + as.vector(motion_artefact(motion))
  change <- change + rep(seq(-2, 2, length.out = volumes), each = prod(SIZE)) # scanner drift
  img <- 9000 * simulate_tissue() * (1 + 0.01 * change)
  img <- img + as.vector(BRAIN < 1.15) * abs(rnorm(length(img), 0, 30)) # zero outside the head
  array(as.integer(round(img)), c(SIZE, volumes))
}

# Voxels of 6 mm, stored from right to left as by many scanners; two seconds per volume.
HEADER <- list(pixdim = c(1, 6, 6, 6, 2, 0, 0, 0), xyzt_units = 10, sform_code = 1,
               srow_x = c(-6, 0, 0, 87), srow_y = c(0, 6, 0, -111), srow_z = c(0, 0, 6, -42))

# Returns an atlas: cubes of 4 x 4 x 4 voxels, without those that are mostly outside the brain.
simulate_atlas <- function() {
  cube <- (arrayInd(seq_len(prod(SIZE)), SIZE) - 1) %/% 4
  cube <- cube[, 1] + 10 * cube[, 2] + 100 * cube[, 3]
  inside <- as.vector(BRAIN < 1)
  large <- which(tapply(inside, cube, sum) >= 32)
  array(ifelse(inside, match(cube, names(large), nomatch = 0L), 0L), SIZE)
}

# Writes motion as fMRIPrep does: rotations in radians (of a sphere of 50 mm), derivatives that begin with n/a, and the
# framewise displacement.
write_confounds <- function(motion, file) {
  change <- rbind(NA, diff(motion))
  radians <- rep(c(1, 1, 1, 1 / 50, 1 / 50, 1 / 50), each = nrow(motion))
  derivative <- change * radians
  colnames(derivative) <- paste0(colnames(motion), "_derivative1")
  table <- data.frame(motion * radians, derivative, framewise_displacement = rowSums(abs(change)))
  write.table(table, file, sep = "\t", na = "n/a", quote = FALSE, row.names = FALSE)
}

# Writes the files of one participant: the scan, a brain probability map, an atlas, and the confounds.
simulate_study <- function(folder, volumes = 150, jerks = c(23, 40, 61, 102, 130)) {
  set.seed(2)
  motion <- simulate_motion(volumes, jerks)
  img <- structure(simulate_scan(volumes, motion = motion), header = HEADER)
  probability <- structure(1 / (1 + exp(20 * (BRAIN - 1))), header = HEADER)
  writeVoxels(img, file.path(folder, "bold.nii.gz"))
  writeVoxels(probability, file.path(folder, "brain.nii.gz"))
  writeVoxels(structure(simulate_atlas(), header = HEADER), file.path(folder, "atlas.nii.gz"))
  write_confounds(motion, file.path(folder, "confounds.tsv"))
}
