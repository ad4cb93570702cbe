# Parcels of CIFTI: series, scalars and values of pairs, read and written.

skip_if_not_installed("xml2")

# Floats, so that files have them exactly.
parcel_series <- function() {
  set.seed(7)
  matrix(round(rnorm(48) * 64) / 64, 12, 4)
}

# A file of parcels, at rows that `rows` describes.
write_parcels <- function(values, file, rows = series_map(nrow(values)), parcels = parcel_map()) {
  write_dtseries(unname(values), file, c(rows, parcels))
}

scalar_map <- function(names) {
  maps <- paste0("<NamedMap><MapName>", names, "</MapName></NamedMap>", collapse = "")
  paste0("<MatrixIndicesMap AppliesToMatrixDimension=\"0\" IndicesMapToDataType=\"CIFTI_INDEX_TYPE_SCALARS\">", maps,
         "</MatrixIndicesMap>")
}

pair_map <- function() sub("Dimension=\"1\"", "Dimension=\"0,1\"", parcel_map())

# Positions of parcels without vertices: the means of their voxels' positions.
parcel_places <- function() {
  mm <- function(indices) colMeans((cbind(indices, 1) %*% t(some_affine()))[, 1:3, drop = FALSE])
  rbind(NA, mm(rbind(c(1, 1, 1), c(1, 2, 1), c(2, 1, 1))), NA, mm(cbind(0, 0, 0)))
}

test_that("a parcellated series is time x parcels, with their names", {
  file <- file.path(temporary_folder(), "rest.ptseries.nii")
  values <- parcel_series()
  write_parcels(values, file)
  x <- voxelMatrix(file)
  expect_identical(unclass(x)[, ], `colnames<-`(values, NAMES_OF_PARCELS))
  expect_identical(attr(x, "tr"), 0.72)
  expect_output(print(x), "^12 time points 0.72 s apart of 4 of 4 parcels$")
  expect_output(print(attr(x, "mask")), "^Image of 4 parcels: logical, 4 of 4 TRUE$")
  expect_equal(unname(voxelCoords(x)), parcel_places())
  expect_equal(as.matrix(gpuCor(x, precision = "double")), cor(`colnames<-`(values, NAMES_OF_PARCELS)),
               tolerance = 1e-12)
  outside <- gpuCorFile(file)
  expect_identical(dimnames(outside), list(NULL, NAMES_OF_PARCELS))
  expect_identical(c(gpuCor(outside)), c(gpuCor(x)))
  expect_identical(colnames(gpuCorFile(file, mask = c(0, 1, 0, 1))), NAMES_OF_PARCELS[c(2, 4)])

  some <- voxelMatrix(file, mask = c(0, 1, 0, 1), keep = 3:9)
  expect_identical(unclass(some)[, ], `colnames<-`(values, NAMES_OF_PARCELS)[3:9, c(2, 4)])
  expect_equal(unname(voxelCoords(some)), parcel_places()[c(2, 4), ])
  expect_identical(colnames(rbind(x, some)), NAMES_OF_PARCELS[c(2, 4)])
  values[, 3] <- 1
  write_parcels(values, sub("rest", "constant", file))
  expect_message(x <- voxelMatrix(sub("rest", "constant", file)), "^1 of 4 voxels dropped")
  expect_identical(colnames(x), NAMES_OF_PARCELS[-3])
})

test_that("scalars and values of pairs are read with the parcels' names", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  values <- parcel_series()
  write_parcels(values[1:2, ], at("two.pscalar.nii"), scalar_map(c("thickness", "myelin")))
  two <- readVoxels(at("two.pscalar.nii"))
  expect_identical(unclass(two)[, ], `dimnames<-`(t(values[1:2, ]), list(NAMES_OF_PARCELS, c("thickness", "myelin"))))
  expect_output(print(two), "^Image of 4 parcels, 2 volumes: double$")
  write_parcels(values[1, , drop = FALSE], at("one.pscalar.nii"), scalar_map("thickness"))
  one <- readVoxels(at("one.pscalar.nii"))
  expect_identical(one["both"], c(both = values[1, 3]))
  expect_identical(attr(one, "map"), "thickness")
  write_parcels(values, at("rest.ptseries.nii"))
  expect_identical(colnames(voxelMatrix(at("rest.ptseries.nii"), at("one.pscalar.nii"), above = 0)),
                   NAMES_OF_PARCELS[values[1, ] > 0])

  r <- round(cor(values) * 64) / 64
  write_parcels(r, at("r.pconn.nii"), pair_map(), NULL)
  read <- readVoxels(at("r.pconn.nii"))
  expect_identical(unclass(read)[, ], `dimnames<-`(r, list(NAMES_OF_PARCELS, NAMES_OF_PARCELS)))
  given <- gpuCor(read, method = "given")
  expect_identical(labels(given), NAMES_OF_PARCELS)
  expect_identical(c(given), r[lower.tri(r)])
  # The same map twice.
  write_parcels(r, at("twice.pconn.nii"), sub("Dimension=\"1\"", "Dimension=\"0\"", parcel_map()))
  expect_identical(unclass(readVoxels(at("twice.pconn.nii")))[, ], unclass(read)[, ])
})

test_that("maps of parcels are written with the reference's parcels, and read as they were", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  write_parcels(parcel_series(), at("rest.ptseries.nii"))
  x <- voxelMatrix(at("rest.ptseries.nii"))
  maps <- `rownames<-`(cbind(degree = 0:3, "a < b" = (1:4) / 4), NAMES_OF_PARCELS)
  references <- list(x, attr(x, "mask"), at("rest.ptseries.nii"), readVoxels(at("rest.ptseries.nii")),
                     voxelImage(0:3, x))
  for (k in seq_along(references)) {
    file <- at(paste0(k, ".pscalar.nii"))
    writeVoxels(maps, file, references[[k]])
    read <- readVoxels(file)
    expect_identical(unclass(read)[, ], maps)
    expect_identical(attr(read, "header")$cifti[c("models", "places", "volume", "affine")],
                     attr(attr(x, "mask"), "header")$cifti[c("models", "places", "volume", "affine")])
  }
  writeVoxels(read * 2, at("double.pscalar.nii"))
  expect_identical(unclass(readVoxels(at("double.pscalar.nii")))[, ], maps * 2)

  some <- x[, c(1, 2, 4)]
  writeVoxels(1:3, at("some.pscalar.nii"), some, outside = NA)
  expect_identical(c(readVoxels(at("some.pscalar.nii"))), setNames(c(1, 2, NaN, 3), NAMES_OF_PARCELS))

  fails <- function(words, values, file, reference = x) expect_error(writeVoxels(values, at(file), reference), words)
  for (name in c("new.nii.gz", "new.nii", "new.dscalar.nii", "new.ptseries.nii")) {
    fails("must be the name of parcels' maps, which ends in .pscalar.nii, or in .pconn.nii", maps, name)
  }
  fails("has the parcels of 'reference' in another order", maps[4:1, ], "new.pscalar.nii")
  fails("for each of the 4 voxels inside 'reference', not 3", 1:3, "new.pscalar.nii")
  fails("'reference' is a volume, and parcels of CIFTI are of grayordinates", diag(2), "new.pconn.nii",
        structure(array(1, c(2, 2, 2)), header = list(dim = c(3, 2, 2, 2, 1, 1, 1, 1))))
  fails("which ends in .nii or .nii.gz", array(1, c(2, 2, 2)), "new.pscalar.nii", array(1, c(2, 2, 2)))
  expect_length(list.files(folder, "new"), 0)
})

test_that("values of pairs are written as a matrix of parcels x parcels", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  write_parcels(parcel_series(), at("rest.ptseries.nii"))
  x <- voxelMatrix(at("rest.ptseries.nii"))
  r <- gpuCor(x)
  truth <- `dimnames<-`(cor(unclass(x)[, ]), list(NAMES_OF_PARCELS, NAMES_OF_PARCELS))
  written <- function(values, reference = x, ...) {
    file <- tempfile(tmpdir = folder, fileext = ".pconn.nii")
    writeVoxels(values, file, reference, ...)
    readVoxels(file)
  }
  read <- written(r)
  expect_equal(unclass(read)[, ], truth, tolerance = 1e-6)
  for (values in list(as.matrix(r), unname(as.matrix(r)))) expect_identical(written(values), read)
  expect_identical(written(as.dist(1 - truth))["one", "both"], written(1 - truth)["one", "both"])
  expect_identical(written(r, at("rest.ptseries.nii")), read)
  expect_identical(written(unclass(read)[, ], read), read)
  expect_identical(written(read, NULL), read)
  net <- written(gpuCorNetwork(x, threshold = 0))
  expect_equal(net[lower.tri(net)], read[lower.tri(read)], tolerance = 1e-6)
  expect_identical(unname(diag(net)), numeric(4)) # no edges
  some <- x[, c(1, 2, 4)]
  expected <- read[, ]
  expected[3, ] <- expected[, 3] <- 9
  expect_identical(written(gpuCor(some), some, outside = 9)[, ], expected)

  for (values in list(1:4, cbind(1:4, 2:5))) {
    expect_error(writeVoxels(values, at("new.pconn.nii"), x), "must be a value for each pair of parcels, not 4 x")
  }
  expect_error(writeVoxels(diag(3), at("new.pconn.nii"), x), "for each of the 4 voxels inside 'reference'")
  expect_error(writeVoxels(truth[, 4:1], at("new.pconn.nii"), x), "in another order")
})

# Labels of the 20 grayordinates of brain_map(); 0 is background. Label 7 has both surfaces' vertices and a voxel.
ATLAS <- c(7, 7, 2, 2, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 2, 2, 7, 3, 3, 0)

write_atlas <- function(file) {
  labels <- paste0("<Label Key=\"", c(0, 2, 3, 7), "\" Red=\"0\" Green=\"0\" Blue=\"0\" Alpha=\"1\">",
                   c("???", "two", "three &amp; c", "seven"), "</Label>", collapse = "")
  map <- paste0("<NamedMap><MapName>a</MapName><LabelTable>", labels, "</LabelTable></NamedMap></MatrixIndicesMap>")
  rows <- sub(" />", paste0(">", map), sub("TYPE_SERIES", "TYPE_LABELS", series_map(1)))
  write_dtseries(t(ATLAS), file, c(rows, brain_map()))
}

test_that("parcels of an atlas of grayordinates are written as parcels", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  write_atlas(at("atlas.dlabel.nii"))
  values <- grayordinate_series()
  write_dtseries(values, at("rest.dtseries.nii"))
  means <- parcelMeans(suppressMessages(voxelMatrix(at("rest.dtseries.nii"))), at("atlas.dlabel.nii"))
  expect_identical(colnames(means), c("two", "three & c", "seven"))
  writeVoxels(t(unclass(means)[, ]), at("means.pscalar.nii"), at("atlas.dlabel.nii"))
  read <- readVoxels(at("means.pscalar.nii"))
  expect_equal(unclass(read)[, ], t(unclass(means)[, ]), tolerance = 1e-6, ignore_attr = TRUE)
  expect_identical(rownames(read), colnames(means))
  mm <- voxelCoords(suppressMessages(voxelMatrix(at("means.pscalar.nii"))))
  expect_true(all(is.na(mm[c(1, 3), ])))
  voxels <- cbind(c(1, 2), c(2, 1), 1, 1) # of label 3
  expect_equal(unname(mm[2, ]), colMeans(voxels %*% t(some_affine()))[1:3])
  xml <- attr(read, "header")$cifti$map
  expect_match(xml, "<Parcel Name=\"seven\">\\s*<VoxelIndicesIJK>1 1 1</VoxelIndicesIJK>")
  expect_match(xml, "CORTEX_LEFT\">0 1</Vertices>\\s*<Vertices BrainStructure=\"CIFTI_STRUCTURE_CORTEX_RIGHT\">1</Vert")
  writeVoxels(gpuCor(means), at("r.pconn.nii"), readVoxels(at("atlas.dlabel.nii")))
  expect_equal(readVoxels(at("r.pconn.nii"))[, ], cor(unclass(means)[, ]), tolerance = 1e-6)
  expect_error(writeVoxels(1:20, at("new.pscalar.nii"), at("rest.dtseries.nii")), "'reference' must be one map, not 12")
  x <- suppressMessages(voxelMatrix(at("rest.dtseries.nii")))
  expect_error(writeVoxels(1:19, at("new.pscalar.nii"), x), "dense scalars, which ends in .dscalar.nii")
})

test_that("damaged parcels are errors", {
  file <- file.path(temporary_folder(), "rest.ptseries.nii")
  fails <- function(from, to, words) {
    stopifnot(grepl(from, parcel_map()))
    write_parcels(parcel_series(), file, parcels = sub(from, to, parcel_map()))
    for (read in c(readVoxels, voxelMatrix, gpuCorFile)) expect_error(read(file), words, class = "gpucor_error_file")
  }
  fails("<Parcel .*</Parcel>", "", "has no parcels")
  fails("<Parcel Name=\"one\">", "<Parcel>", "has a parcel without Name")
  fails("<Parcel Name=\"one\">.*</Parcel>", "", "has 4 columns, but its XML says 3 parcels")
  fails("RIGHT\">5", "THIRD\">5", "has a parcel with vertices of \"CIFTI_STRUCTURE_CORTEX_THIRD\", but no such Surface")
  fails("RIGHT\">5", "RIGHT\">10", "with the index 10, which is outside")
  fails("RIGHT\">5", "RIGHT\">x", "has \"x\" where numbers are expected")
  fails("<VoxelIndicesIJK>4 3 2", "<VoxelIndicesIJK>4 3 3", "with the index 3, which is outside")
  fails("<VoxelIndicesIJK>4 3 2", "<VoxelIndicesIJK>4 3", "has 2 indices of voxels, not three for each")
  fails("<Volume .*</Volume>", "", "has voxels, but no Volume")
  fails("SurfaceNumberOfVertices=\"10\"", "", "has SurfaceNumberOfVertices NA")
  write_parcels(parcel_series(), file)
  other <- sub("rest", "other", file)
  write_parcels(parcel_series(), other, parcels = sub("Name=\"one\"", "Name=\"two\"", parcel_map()))
  expect_error(voxelMatrix(file, mask = voxelMatrix(other)), "'mask' and 'img' have other parcels")
  expect_error(rbind(voxelMatrix(file), voxelMatrix(other)), "have other parcels")
  write_parcels(parcel_series()[, 1:3], file, parcels = sub("<Parcel Name=\"one\">.*</Parcel>", "", parcel_map()))
  expect_error(rbind(voxelMatrix(file), voxelMatrix(other)), "'run 2' has 4 values, but 'run 1' has 3 parcels")
})

test_that("nibabel reads the files that are written, and writes files that are read", {
  folder <- temporary_folder()
  at <- function(name) file.path(folder, name)
  write_parcels(parcel_series(), at("rest.ptseries.nii"))
  x <- voxelMatrix(at("rest.ptseries.nii"))
  writeVoxels(cbind(degree = 1:4, "a < b" = 4:1), at("maps.pscalar.nii"), x)
  writeVoxels(gpuCor(x), at("r.pconn.nii"), x)
  write_atlas(at("atlas.dlabel.nii"))
  writeVoxels(diag(3), at("atlas.pconn.nii"), at("atlas.dlabel.nii"))
  said <- run_python("nibabel, numpy", c(
    "import sys, numpy as np, nibabel as nb",
    "at = sys.argv[1] + '/'",
    "load = lambda name: nb.load(at + name)",
    "axes = lambda i: [i.header.get_axis(k) for k in (0, 1)]",
    "series, parcels = axes(load('rest.ptseries.nii'))",
    "maps, r, atlas = load('maps.pscalar.nii'), load('r.pconn.nii'), load('atlas.pconn.nii')",
    "print(*(i.nifti_header.get_intent()[0] for i in (maps, r)), maps.shape, r.shape, *maps.get_fdata()[1])",
    "print(*axes(maps)[0].name, axes(maps)[1] == parcels, axes(r)[0] == parcels, axes(r)[1] == parcels)",
    "print(np.abs(np.corrcoef(load('rest.ptseries.nii').get_fdata().T) - r.get_fdata()).max() < 1e-6)",
    "labels = load('atlas.dlabel.nii')",
    "brain, of = axes(labels)[1], labels.get_fdata()[0]",
    "names = (('two', 2), ('three & c', 3), ('seven', 7))",
    "theirs = nb.cifti2.ParcelsAxis.from_brain_models([(name, brain[of == k]) for name, k in names])",
    "print(axes(atlas)[0] == theirs, axes(atlas)[1] == theirs)",
    "values = np.arange(6, dtype='float32').reshape(2, 3)",
    "save = lambda values, rows, name: nb.save(nb.Cifti2Image(values, header=(rows, theirs)), at + 'theirs.' + name)",
    "save(values, nb.cifti2.SeriesAxis(0, 0.5, 2), 'ptseries.nii')",
    "save(values, nb.cifti2.ScalarAxis(['u', 'v & w']), 'pscalar.nii')",
    "save(np.array([[1, .5, .25], [.5, 1, 0], [.25, 0, 1]], 'float32'), theirs, 'pconn.nii')"
  ), folder)
  expect_identical(said, c("ConnParcelScalr ConnParcels (2, 4) (4, 4) 4.0 3.0 2.0 1.0",
                           "degree a < b True True True", "True", "True True"))
  names <- c("two", "three & c", "seven")
  theirs <- voxelMatrix(at("theirs.ptseries.nii"))
  expect_identical(unclass(theirs)[, ], matrix(c(0, 3, 1, 4, 2, 5), 2, dimnames = list(NULL, names)))
  expect_identical(attr(theirs, "tr"), 0.5)
  expect_identical(readVoxels(at("theirs.pscalar.nii"))[, ],
                   matrix(0:5 + 0, 3, dimnames = list(names, c("u", "v & w"))))
  expect_identical(readVoxels(at("theirs.pconn.nii"))[, ],
                   matrix(c(1, 0.5, 0.25, 0.5, 1, 0, 0.25, 0, 1), 3, dimnames = list(names, names)))
  writeVoxels(1:3, at("atlas.pscalar.nii"), at("atlas.dlabel.nii"))
  expect_equal(voxelCoords(theirs), voxelCoords(at("atlas.pscalar.nii")))
})
