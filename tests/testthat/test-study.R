# Subjects of a folder of derivatives, compared with their files, read one by one.

ATLAS <- array(rep(1:4, each = 15), c(5, 4, 3))

# Writes a scan as fMRIPrep names it: its series, brain mask and confounds.
write_scan <- function(folder, name, times = 12, space = "MNI", seed = 1) {
  parts <- strsplit(name, "_")[[1]]
  func <- do.call(file.path, as.list(c(folder, grep("^(sub|ses)-", parts, value = TRUE), "func")))
  dir.create(func, showWarnings = FALSE, recursive = TRUE)
  at <- function(end) file.path(func, paste0(name, "_", end))
  set.seed(seed)
  values <- rnorm(60 * times, 100) + rep(rnorm(times), each = 60)
  img <- structure(array(values, c(5, 4, 3, times)), header = affine_header())
  writeVoxels(img, at(paste0("space-", space, "_desc-preproc_bold.nii.gz")))
  brain <- structure(replace(array(1L, c(5, 4, 3)), 60 - seed %% 5, 0L), header = affine_header())
  writeVoxels(brain, at(paste0("space-", space, "_desc-brain_mask.nii.gz")))
  frame <- data.frame(trans_x = rnorm(times), csf = rnorm(times), framewise_displacement = c("n/a", runif(times - 1)))
  write.table(frame, at("desc-confounds_timeseries.tsv"), sep = "\t", quote = FALSE, row.names = FALSE)
}

# Subject 2 has two runs, subject 3 one session; participants are in another order.
write_study <- function() {
  folder <- file.path(temporary_folder(), "derivatives", "fmriprep")
  names <- c("sub-01_ses-1_task-rest", "sub-01_ses-2_task-rest", "sub-02_ses-1_task-rest_run-1",
             "sub-02_ses-1_task-rest_run-2", "sub-02_ses-2_task-rest", "sub-03_ses-1_task-rest")
  for (k in seq_along(names)) write_scan(folder, names[k], times = 30 + k, seed = k)
  writeLines(c("participant_id\tage\tgroup", "sub-03\t30\ta", "sub-09\t70\tb", "sub-01\t10\tn/a", "sub-02\t20\tb"),
             file.path(dirname(dirname(folder)), "participants.tsv"))
  list(folder = folder, names = names)
}

series_of <- function(study, k) {
  file <- list.files(study$folder, paste0(study$names[k], ".*bold"), recursive = TRUE, full.names = TRUE)
  voxelMatrix(file, sub("preproc_bold", "brain_mask", file))
}
confounds_of_scan <- function(study, k, ...) {
  readConfounds(list.files(study$folder, paste0(study$names[k], ".*tsv"), recursive = TRUE, full.names = TRUE), ...)
}

test_that("each subject has the joined series of its scans, and the confounds", {
  study <- write_study()
  s <- bidsSubjects(study$folder, atlas = ATLAS, confounds = c("trans_x", "csf"), fd = 0.8)
  expect_named(s$x, paste0("sub-0", 1:3))
  scans <- list(1:2, 3:5, 6)
  for (i in 1:3) {
    parcels <- lapply(scans[[i]], function(k) parcelMeans(series_of(study, k), ATLAS))
    expect_equal(s$x[[i]], do.call(rbind, parcels))
    z <- do.call(rbind, lapply(scans[[i]], confounds_of_scan, study = study, c("trans_x", "csf"), fd = 0.8))
    expect_identical(s$covariates[[i]], z)
    expect_identical(s$weights[[i]], attr(z, "keep"))
  }
  expect_identical(attr(s$x[[2]], "runs"), rep(1:3, 33:35))
  expect_identical(s$data$age, c(10L, 20L, 30L))
  expect_identical(rownames(s$data), names(s$x))
  expect_identical(is.na(s$data$group), c(TRUE, FALSE, FALSE))
  net <- gpuCorNetwork(s$x, density = 0.5, combine = "fisher", covariates = s$covariates, weights = s$weights)
  own <- gpuCorNetwork(unname(lapply(s$x, function(x) matrix(x, nrow(x), dimnames = list(NULL, 1:4)))), density = 0.5,
                       combine = "fisher", covariates = unname(s$covariates), weights = s$weights,
                       runs = lapply(s$x, attr, "runs"))
  expect_equal(net@x, own@x, tolerance = 1e-12)
  expect_output(print(s), "^3 subjects: 36 to 102 time points of 4 columns\n2 confounds, .*outliers\nparticipants: ")
})

test_that("sessions are those of each subject", {
  study <- write_study()
  expect_warning(s <- bidsSubjects(study$folder, atlas = ATLAS, confounds = NULL, sessions = TRUE),
                 "^1 subject of 3 left out: sub-03 \\(no session 2\\)$")
  expect_named(s$x, c("sub-01", "sub-02"))
  expect_named(s$x[[2]], c("sub-02_ses-1", "sub-02_ses-2"))
  expect_identical(vapply(unlist(s$x, recursive = FALSE), nrow, 0L, USE.NAMES = FALSE), c(31L, 32L, 67L, 35L))
  expect_null(s$covariates)
  expect_length(gpuCor(s$x, combine = "icc3"), 6)
  expect_output(print(s), "2 subjects with 4 sessions: 31 to 67 time points of 4 columns")
  one <- bidsSubjects(study$folder, ses = "1", atlas = ATLAS, confounds = NULL)
  expect_identical(vapply(one$x, nrow, 0L), c(`sub-01` = 31L, `sub-02` = 67L, `sub-03` = 36L))
})

test_that("without an atlas columns are the voxels that all have", {
  study <- write_study()
  expect_message(s <- bidsSubjects(study$folder, ses = 1, confounds = NULL), "voxels dropped: not in every scan")
  inside <- Reduce(`&`, lapply(c(1, 3, 4, 6), function(k) attr(series_of(study, k), "mask")))
  for (x in s$x) expect_identical(which(attr(x, "mask")), which(inside))
  expect_identical(dim(gpuCor(s$x, combine = "mean", output = "matrix")), rep(sum(inside), 2))
})

test_that("subjects that lack something are left out, with one warning", {
  study <- write_study()
  drop <- function(pattern) unlink(list.files(study$folder, pattern, recursive = TRUE, full.names = TRUE))
  read <- function() bidsSubjects(study$folder, atlas = ATLAS, confounds = "csf")
  drop("sub-02.*run-1.*mask")
  drop("sub-02.*run-2.*tsv")
  dir.create(file.path(study$folder, "sub-04"))
  expect_warning(s <- read(), paste0("^2 subjects of 4 left out: sub-02 \\(no brain mask, no confounds\\), ",
                                     "sub-04 \\(no scan\\)$"))
  expect_named(s$x, c("sub-01", "sub-03"))
  expect_identical(s$data$age, c(10L, 30L))
  participants <- file.path(study$folder, "../..", "participants.tsv")
  writeLines(c("participant_id\tage", "sub-01\t10"), participants)
  expect_warning(s <- read(), "sub-03 \\(no row in participants.tsv\\)")
  expect_identical(rownames(s$data), "sub-01")
  writeLines(c("id\tage", "sub-01\t10"), participants)
  expect_error(read(), "has no column \"participant_id\"")
  unlink(participants)
  expect_null(suppressWarnings(read())$data)
  drop("tsv")
  expect_error(read(), "'folder' has no subject with all files; 4 subjects of 4 left out", class = "gpucor_error_file")
})

test_that("several tasks or spaces must be chosen from", {
  study <- write_study()
  write_scan(study$folder, "sub-01_ses-1_task-movie", space = "T1w")
  read <- function(...) bidsSubjects(study$folder, ..., atlas = ATLAS, confounds = "csf")
  expect_error(read(), "'task' must be given, as scans have \"movie\", \"rest\"")
  expect_error(read(task = c("rest", "movie")), "'space' must be given, as scans have \"T1w\", \"MNI\"")
  expect_error(read(task = "Rest"), "'task' is \"Rest\", and scans have \"movie\", \"rest\"")
  expect_error(read(task = "movie", space = "MNI"), "no scan has task = \"movie\", space = \"MNI\"")
  expect_error(read(res = "2"), "'res' is \"2\", and scans have none")
  expect_error(bidsSubjects(study$folder, "rest", "MNI", "2"), "'...' must be named by entities", fixed = TRUE)
  expect_identical(nrow(read(task = "rest")$x[[1]]), 63L)
  expect_identical(nrow(read(task = c("rest", "movie"), space = c("MNI", "T1w"), ses = "1")$x[[1]]), 43L)
  expect_error(bidsSubjects("nowhere"), "'folder' must be a folder that exists, not \"nowhere\"")
  expect_error(bidsSubjects(tempdir(), confounds = NULL), "without scans sub-", class = "gpucor_error_file")
  expect_error(bidsSubjects(study$folder, "rest", confounds = "none", atlas = ATLAS),
               "'sub-01_ses-1_task-rest_desc-confounds_timeseries.tsv' has no column \"none\"")
})

test_that("grayordinates have no mask", {
  skip_if_not_installed("xml2")
  folder <- temporary_folder()
  func <- file.path(folder, "sub-01", "func")
  dir.create(func, recursive = TRUE)
  write_dtseries(grayordinate_series(), file.path(func, "sub-01_task-rest_space-fsLR_den-91k_bold.dtseries.nii"))
  writeLines(c("csf", 1:12), file.path(func, "sub-01_task-rest_desc-confounds_timeseries.tsv"))
  s <- bidsSubjects(folder, confounds = "csf")
  expect_identical(s$x[[1]], suppressMessages(voxelMatrix(list.files(func, "dtseries", full.names = TRUE))))
  expect_identical(s$covariates[[1]][, "csf"], as.numeric(1:12))
})

test_that("functions take the study, with its confounds and participants", {
  study <- write_study()
  s <- bidsSubjects(study$folder, ses = "1", atlas = array(rep(1:10, each = 6), dim(ATLAS)),
                    confounds = c("trans_x", "csf"), fd = 0.8)
  given <- list(covariates = s$covariates, weights = s$weights)
  expect_false(all(unlist(s$weights)))
  same <- function(verb, ...) {
    own <- verb(s, ..., combine = "fisher")
    others <- do.call(verb, c(list(s$x, ..., combine = "fisher"), given))
    for (name in c("call", "made")) attr(own, name) <- attr(others, name) <- NULL
    expect_equal(unclass(own), unclass(others), tolerance = 1e-12)
  }
  same(gpuCor)
  same(gpuConnectivity, threshold = 0.1)
  same(gpuGradients, n = 1, fraction = 1)
  expect_identical(gpuCorNetwork(s, combine = "fisher", density = 0.5)@x,
                   do.call(gpuCorNetwork, c(list(s$x, combine = "fisher", density = 0.5), given))@x)
  aligned <- gpuGradients(s, n = 1, fraction = 1, align = TRUE)
  expect_identical(aligned, do.call(gpuGradients, c(list(s$x, n = 1, fraction = 1, align = TRUE), given)))
  none <- gpuCor(s, combine = "mean", covariates = NULL, weights = NULL)
  expect_identical(as.vector(none), as.vector(gpuCor(s$x, combine = "mean")))
  one <- gpuCor(s, combine = "mean", adjustment = gpuAdjust(covariates = function(i) s$covariates[[i]][, 1]))
  expect_identical(as.vector(one), as.vector(gpuCor(s$x, combine = "mean", weights = s$weights,
                                                    covariates = lapply(s$covariates, function(z) z[, 1]))))
  path <- file.path(temporary_folder(), "plan")
  capture.output(gpuCorPlan(path, s, combine = "fisher", density = 0.5, shards = 1))
  gpuCorRun(path, 1)
  expect_identical(gpuCorCollect(path)@x, gpuCorNetwork(s, combine = "fisher", density = 0.5)@x)
  expect_error(gpuISC(s), "'x' has weights of its scans, which gpuISC() does not take; give x$x", fixed = TRUE)
})

test_that("runs without confounds are without their means, and groups of studies are studies", {
  study <- write_study()
  s <- bidsSubjects(study$folder, atlas = ATLAS, confounds = NULL)
  shifted <- s
  for (i in 1:3) shifted$x[[i]][attr(s$x[[i]], "runs") %in% 2, 1:2] <- 50 + s$x[[i]][attr(s$x[[i]], "runs") %in% 2, 1:2]
  expect_equal(as.vector(gpuCor(shifted, combine = "fisher")), as.vector(gpuCor(s, combine = "fisher")),
               tolerance = 1e-5)
  r <- lapply(s$x, function(x) {
    runs <- attr(x, "runs")
    cor(if (is.null(runs)) x else residuals(lm(unclass(x) ~ factor(runs))))
  })
  expect_equal(unname(as.matrix(gpuCor(s, combine = "mean"))), unname(Reduce(`+`, r) / 3), tolerance = 1e-6)
  tell_again()
  expect_message(gpuCor(s$x[[2]]), "'x' has 3 runs that were joined, whose means are not removed")

  s <- bidsSubjects(study$folder, ses = "1", atlas = ATLAS, confounds = "csf")
  parts <- split(s, c("b", "a", "b"))
  expect_identical(names(parts$b$x), c("sub-01", "sub-03"))
  expect_equal(as.data.frame(gpuCorCompare(parts)), as.data.frame(gpuCorCompare(s[2], s[-2])))
  expect_error(split(s, 1:2), "'f' has 2 labels; there are 3 subjects")
  expect_error(s[c(TRUE, NA, FALSE)], "which() leaves out those that are NA", fixed = TRUE)
  both <- gpuCor(s, s, combine = "mean") # the confounds are those of the first
  expect_equal(both[1, 2], gpuCor(s, combine = "mean")[1, 2], tolerance = 1e-6)
})

test_that("pairs of subjects have the same names in the same order", {
  study <- write_study()
  s <- bidsSubjects(study$folder, ses = "1", atlas = ATLAS, confounds = NULL)
  expect_error(gpuCorCompare(s, s[3:1], paired = TRUE), "pairs subject \"sub-01\" of 'x' with \"sub-03\" of 'y'")
  expect_s3_class(gpuCorCompare(s, s[1:3], paired = TRUE), "gpuCorCompare")
  expect_warning(gpuCorCompare(s[1:2], s[2:3]), "1 subject of 'x' \\(sub-02\\) is in 'y', too", class = "gpuCorTwice")
})

test_that("subjects are selected with what belongs to them, and groups are studies or columns of the participants", {
  study <- write_study()
  read <- function(...) bidsSubjects(study$folder, ..., atlas = ATLAS, confounds = "csf", fd = 0.8)
  s <- read(ses = "1")
  two <- s[c("sub-03", "sub-01")]
  expect_identical(names(two$x), c("sub-03", "sub-01"))
  expect_identical(two$covariates, s$covariates[c(3, 1)])
  expect_identical(two$weights, s$weights[c(3, 1)])
  expect_identical(two$data$age, c(30L, 10L))
  expect_identical(s[s$data$age > 10], s[-1])
  expect_error(s["sub-04"], "'i' must be names or numbers of the 3 subjects, not \"sub-04\"")
  sessions <- suppressWarnings(read(sessions = TRUE))[2:1]
  expect_identical(names(sessions$covariates), paste0("sub-0", c(2, 2, 1, 1), "_ses-", c(1, 2)))
  icc <- gpuCor(sessions, combine = "icc3")
  expect_equal(as.vector(icc), as.vector(gpuCor(suppressWarnings(read(sessions = TRUE)), combine = "icc3")))

  compare <- function(...) as.data.frame(gpuCorCompare(...))
  both <- compare(s[c(1, 3)], s[2], variance = "equal")
  expect_equal(both, compare(s$x[c(1, 3)], s$x[2], covariates = s$covariates[c(1, 3, 2)],
                             weights = s$weights[c(1, 3, 2)]))
  expect_equal(compare(s, design = ~ age, contrast = "age"),
               compare(s$x, design = ~ age, contrast = "age", data = s$data, covariates = s$covariates,
                       weights = s$weights))
})

test_that("whether series fit into memory does not matter", {
  study <- write_study()
  read <- function(...) suppressMessages(bidsSubjects(study$folder, confounds = "csf", ...))
  for (atlas in list(ATLAS, NULL)) {
    s <- read(atlas = atlas)
    withr::local_options(gpucor.spool_bytes = 1)
    outside <- read(atlas = atlas)
    withr::local_options(gpucor.spool_bytes = NULL)
    for (x in outside$x) expect_s3_class(x, "gpuCorFile")
    expect_identical(lapply(outside$x, function(x) unname(x[, ])), lapply(s$x, function(x) matrix(x, nrow(x))))
    expect_identical(attr(outside$x[[2]], "runs"), attr(s$x[[2]], "runs"))
    group <- function(s) gpuCor(s, combine = "fisher")
    expect_identical(group(outside), group(s))
    expect_output(print(outside), "^3 subjects: 36 to 102 time points")
    if (is.null(atlas)) {
      values <- seq_len(ncol(s$x[[1]]))
      expect_identical(voxelImage(values, outside$x[[1]]), voxelImage(values, s$x[[1]]))
    } else {
      expect_identical(attr(outside$x[[1]], "centers"), attr(s$x[[1]], "centers"))
    }
  }
})
