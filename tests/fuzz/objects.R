# Objects of which a part was changed, as by `@<-`, attr() or a list's element, and calls with integer64 or with a value
# of another kind in the place of a number. A row of object_rows:
#   make   function(): a random valid object
#   jobs   functions of the object; printing it may fail in any way, but not crash
#   parts  (optional) the parts that are damaged: others are text that is printed
#   truth  (optional) function(damaged, object, job): the value that the job must have if it has one
# Each runs in a process of its own, within the bounds of files.R. Errors are of class gpucor_error.

# ---- damage

# Another value in the place of one: of another length, type or range.
spoiled <- function(value) {
  others <- list(NULL, list(), "a", NA, 0, -1L, 1e10, NaN, character(), quote(f(x)), sum, new.env())
  if (!is.atomic(value) || !length(value) || one_in(3)) return(one_of(others))
  at <- sample.int(length(value), 1)
  number <- one_of(list(NA, -1, 1e3, .Machine$integer.max, -.Machine$integer.max, NaN, Inf, 0.5))
  if (is.integer(value) && !one_in(4)) number <- suppressWarnings(as.integer(number))
  switch(sample(7, 1),
    replace(value, at, number), replace(value, at, number), value[-at], c(value, value[at]), rev(value), value[0],
    if (is.numeric(value)) as.character(value) else rep_len(0, length(value))
  )
}

# An object with one damaged part: a slot, an element, an attribute, or a part of these.
damaged_object <- function(object, parts = NULL, whole = FALSE) {
  if (isS4(object)) {
    name <- one_of(if (is.null(parts)) methods::slotNames(object) else intersect(methods::slotNames(object), parts))
    methods::slot(object, name, check = FALSE) <- spoiled(methods::slot(object, name))
    return(object)
  }
  attributes <- setdiff(names(attributes(object)), c("names", "class"))
  elements <- if (is.list(object)) names(object)
  names <- c(attributes, elements)
  if (!length(names) || (whole && one_in(8))) return(spoiled(object))
  name <- one_of(names)
  deeper <- function(value) if (is.list(value) || one_in(4)) damaged_object(value, whole = TRUE) else spoiled(value)
  if (name %in% elements) {
    object[name] <- list(deeper(object[[name]]))
  } else {
    # R itself refuses some values of an attribute.
    suppressWarnings(try(attr(object, name) <- deeper(attr(object, name)), silent = TRUE))
  }
  object
}

# ---- sparse matrices, and others of Matrix

matrix_classes <- list(
  dgC = function(m) methods::as(m, "CsparseMatrix"),
  dgT = function(m) methods::as(m, "TsparseMatrix"),
  dgR = function(m) methods::as(m, "RsparseMatrix"),
  dsC = function(m) Matrix::forceSymmetric(methods::as(square(m), "CsparseMatrix")),
  dsT = function(m) methods::as(matrix_classes$dsC(m), "TsparseMatrix"),
  dtC = function(m) Matrix::triu(methods::as(square(m), "CsparseMatrix")),
  dtT = function(m) methods::as(matrix_classes$dtC(m), "TsparseMatrix"),
  lgC = function(m) methods::as(m > 0, "CsparseMatrix"),
  lgT = function(m) methods::as(m > 0, "TsparseMatrix"),
  ngC = function(m) methods::as(methods::as(m > 0, "CsparseMatrix"), "nMatrix"),
  ngT = function(m) methods::as(matrix_classes$ngC(m), "TsparseMatrix"),
  ddi = function(m) Matrix::Diagonal(x = m[, 1]),
  permutation = function(m) methods::as(sample.int(nrow(m)), "pMatrix"),
  dge = function(m) Matrix::Matrix(m, sparse = FALSE, doDiag = FALSE),
  dsy = function(m) Matrix::forceSymmetric(matrix_classes$dge(square(m))),
  dtr = function(m) Matrix::triu(matrix_classes$dge(square(m)))
)

square <- function(m) m[rep_len(seq_len(nrow(m)), ncol(m)), ]

random_sparse <- function() {
  size <- c(sample(4:12, 1), sample(2:6, 1))
  m <- matrix(sample(0:5, prod(size), TRUE, prob = c(6, 1, 1, 1, 1, 1)) + 0, size[1])
  matrix_classes[[sample(names(matrix_classes), 1)]](m)
}

matrix_jobs <- list(
  cor = function(x) unname(gpuCor(x, output = "matrix", threads = 1)),
  spearman = function(x) as.vector(gpuCorTriangle(x, method = "spearman", threads = 1)),
  kendall = function(x) as.vector(gpuCor(x, method = "kendall", threads = 1)),
  network = function(x) sort(gpuCorNetwork(x, threshold = 0.123, threads = 1)@x),
  connectivity = function(x) unname(gpuConnectivity(x, threshold = 0.123, threads = 1)$degree),
  dist = function(x) as.vector(gpuDist(x, threads = 1))
)

# The job of the same numbers without Matrix: those of the damaged matrix if Matrix itself calls it valid, otherwise
# those that were there.
matrix_truth <- function(damaged, object, job) {
  is_valid <- tryCatch(isTRUE(methods::validObject(damaged, test = TRUE)), error = function(condition) FALSE)
  m <- as.matrix(if (is_valid) damaged else object)
  storage.mode(m) <- "double"
  job(m)
}

# ---- what the package returns

random_result <- function(f, ...) {
  x <- matrix(rnorm(12 * sample(3:9, 1)), 12)
  if (one_in(2)) colnames(x) <- paste0("v", seq_len(ncol(x)))
  suppressMessages(f(x, ..., threads = 1))
}

random_network_object <- function() {
  switch(sample(4, 1), random_result(gpuCorNetwork, threshold = 0.1), random_result(gpuCorNetwork, k = 2),
         random_result(gpuCorNetwork, fdr = 1), random_result(gpuTOM, output = "network", threshold = 0.01))
}

network_jobs <- list(
  print = function(net) utils::capture.output(print(net)), summary = function(net) utils::capture.output(summary(net)),
  frame = as.data.frame, prune = function(net) gpuPrune(net, threads = 1), head = utils::head,
  gradients = function(net) gpuGradients(net, n = 1)
)

random_mask <- function() {
  if (one_in(2)) pairMask(sample(3, 6, TRUE), same = TRUE) else pairMask(matrix(rnorm(18), 6), within_distance = 1)
}

masked_data <- matrix(sin(1:72), 12)
mask_jobs <- list(
  print = function(mask) utils::capture.output(print(mask)),
  network = function(mask) gpuCorNetwork(masked_data, threshold = 0.1, pairs = mask, threads = 1),
  connectivity = function(mask) gpuConnectivity(masked_data, threshold = 0.1, pairs = mask, threads = 1)
)

random_voxels <- function() {
  affine <- some_affine()
  suppressMessages(voxelMatrix(structure(array(rnorm(3 * 4 * 2 * 6), c(3, 4, 2, 6)), header = affine_header(affine))))
}

new_map <- function(write) {
  file <- tempfile(fileext = ".nii")
  on.exit(unlink(file))
  write(file)
  file.size(file)
}

voxel_jobs <- list(
  print = function(x) utils::capture.output(print(x)),
  image = function(x) voxelImage(seq_len(24), x), coordinates = voxelCoords,
  write = function(x) new_map(function(file) writeVoxels(seq_len(24), file, x)),
  parcels = function(x) parcelMeans(x, array(1:2, c(3, 4, 2)))
)

distance_jobs <- list(
  tree = function(d) gpuHclust(d, threads = 1), print = function(d) utils::capture.output(print(d)),
  matrix = as.matrix, gradients = function(d) gpuGradients(d, n = 1)
)

# What gpuCorFile() says of a file that has coefficients.
random_described <- function() {
  format <- file_formats[[one_of(c("raw", "nifti1", "nifti2", if (has_rhdf5) c("hdf5", "anndata", "10x")))]]
  repeat {
    made <- format$make()
    file <- tempfile(fileext = format$ending)
    writeBin(made$content, file)
    x <- tryCatch(do.call(gpuCorFile, c(list(file), made$how)), gpucor_error = function(condition) NULL)
    if (!is.null(x)) return(x)
  }
}

has_rhdf5 <- requireNamespace("rhdf5", quietly = TRUE)

described_jobs <- list(
  all = function(x) dim(x[, ]), one = function(x) dim(x[, 1]), print = function(x) utils::capture.output(print(x)),
  cor = function(x) suppressWarnings(gpuCor(x, threads = 1)),
  network = function(x) suppressWarnings(gpuCorNetwork(x, threshold = 0.1, threads = 1))
)

# ---- the table

object_rows <- list(
  sparse = list(make = random_sparse, jobs = matrix_jobs, truth = matrix_truth),
  networks = list(make = random_network_object, jobs = network_jobs,
                  parts = c("i", "p", "x", "Dim", "Dimnames", "uplo", "factors")),
  masks = list(make = random_mask, jobs = mask_jobs),
  voxels = list(make = random_voxels, jobs = voxel_jobs),
  distances = list(make = function() random_result(gpuCor), jobs = distance_jobs),
  described = list(make = random_described, jobs = described_jobs)
)

random_object <- function(kind) {
  row <- object_rows[[kind]]
  object <- row$make()
  list(kind = kind, object = object, damaged = if (one_in(8)) object else damaged_object(object, row$parts),
       job = one_of(names(row$jobs)))
}

check_object <- function(case) {
  row <- object_rows[[case$kind]]
  job <- row$jobs[[case$job]]
  in_child(function(grown) {
    read <- reading(job(case$damaged), may_warn = TRUE)
    memory <- grown()
    is_same <- identical(case$damaged, case$object)
    truth <- if (!is.null(row$truth)) {
      list(reading(row$truth(case$damaged, case$object, job), may_warn = TRUE)$value)
    } else {
      if (is_same) list(reading(job(case$object), may_warn = TRUE)$value)
    }
    c(if (!case$job %in% c("print", "summary", "matrix")) condition_flaws(read),
      if (is_same && !is.null(read$error) && !is.null(truth[[1]])) paste("an error:", conditionMessage(read$error)),
      if (is.null(read$error) && !is.null(row$truth) && !same_result(read$value, truth[[1]])) "another value",
      if (memory > MAX_MEMORY * extra_memory) sprintf("%.0f MB", memory / 1000))
  })
}

same_result <- function(ours, truth) isTRUE(all.equal(no_calls(ours), no_calls(truth), tolerance = 1e-6))

# A result without the calls in it.
no_calls <- function(value) {
  value <- without_call(value)
  if (is.list(value)) lapply(unclass(value), no_calls) else value
}

show_object <- function(case, name, folder) {
  file <- file.path(folder, paste0(name, ".rds"))
  saveRDS(case$damaged, file)
  sprintf("# object_rows$%s$jobs$%s(readRDS(\"%s\"))", case$kind, case$job, file)
}

# ---- numbers: integer64 is what the double is, or an error; any other value is a value or an error

number_data <- list(x = matrix(sin(1:120), 12), d = stats::dist(matrix(sin(1:24), 8)), w = rep(c(1, 2, 3), 4),
                    z = c(1:6, 6:1) + 0, img = array(round(99 * sin(1:240)), c(3, 4, 2, 10)), maps = seq_len(24) + 0,
                    brain = array(c(0, 1, 2), c(3, 4, 2)), places = matrix(1:30 %% 7 + 0, 10))

number_calls <- alist(
  gpuCor(x, weights = w, threads = 1), gpuCor(x, covariates = z, threads = 1), gpuCor(x, x, lag = 2, threads = 1),
  gpuCor(x, bandpass = c(0, 1), tr = 1, threads = 1), gpuCor(x, runs = z, covariates = w, threads = 2, memory = 1e6),
  gpuCor(list(x, x + w), combine = "quantile", probs = 1, threads = 1), gpuCor(x, df = 9, test = TRUE, threads = 1),
  gpuCor(list(x, x + w), subject_weights = c(1, 2), threads = 1), gpuCor(list(x, x), combine = "above", above = 0),
  gpuCor(x, z, method = "kendall", threads = 1), gpuCor(x, partial = TRUE, shrinkage = 1, threads = 1),
  gpuCorNetwork(x, threshold = 0, threads = 1), gpuCorNetwork(x, density = 1, threads = 1),
  gpuCorNetwork(x, k = 2, threads = 1), gpuCorNetwork(x, p.value = 1, min_obs = 5, threads = 1),
  gpuCorNetwork(x, fdr = 1, threads = 1), gpuCorNetwork(x, threshold = 0, lag = 1, min_overlap = 8, threads = 1),
  gpuConnectivity(x, power = c(1, 6), histogram = TRUE, breaks = 10, threads = 1),
  gpuCorWindows(x, width = 6, step = 2, threads = 1), pickPower(x, power = 1:4 + 0, breaks = 4, threads = 1),
  gpuTOM(x, power = 6, threads = 1), gpuHclust(d, threads = 1), gpuClean(x, covariates = z, keep = 1:9 + 0),
  gpuCorTest(x, conf.level = 0.5, min_obs = 4, threads = 1), gpuCorTest(x, z, threads = 1),
  gpuAssociation(x, z, p.value = 1, threads = 1), gpuDist(x, weights = c(w[1:9], 1), threads = 1),
  gpuPrune(gpuCorNetwork(x, threshold = 0.1, threads = 1), tolerance = 0, threads = 1), gpuGradients(x, n = 2),
  pairMask(w, same = TRUE), pairMask(places, within_distance = 3), pairMask(places, places, beyond_distance = 2),
  voxelMatrix(img, mask = brain, above = 1, keep = 2:9 + 0), voxelMatrix(img, mask = brain), voxelMatrix(img),
  voxelImage(maps, brain + 1, outside = 0), voxelImage(maps, brain * 0 + 1, outside = 7),
  parcelMeans(voxelMatrix(img), brain),
  new_map(function(file) writeVoxels(brain, file, voxel_size = c(2, 2, 2), tr = 2)),
  new_map(function(file) writeVoxels(maps, file, voxelMatrix(img), outside = 0)),
  trianglePosition(2, 1, 5), triangleIndex(3, 5), gpuCorPairs(x, threshold = 0, top = 3),
  gpuCorFile(new_raw(), c(3, 4), offset = 8)[, ]
)

new_raw <- function() {
  file <- tempfile("fuzz", fileext = ".raw")
  writeBin(sin(1:13), file)
  file
}

# Where a call has numbers: the paths of constants, of names of number_data, and of calls of `c` and the like.
places_of <- function(call) {
  is_there <- !vapply(as.list(call), identical, NA, quote(x[])[[3]]) # none of x[, ]
  unlist(lapply(setdiff(which(is_there), 1), function(k) {
    part <- call[[k]]
    is_number <- is.numeric(part) || (is.name(part) && as.character(part) %in% names(number_data)) ||
      (is.call(part) && as.character(part[[1]]) %in% c("c", ":", "+", "*"))
    if (is_number) list(k) else if (is.call(part)) lapply(places_of(part), function(path) c(k, path))
  }), recursive = FALSE)
}

random_numbers <- function() {
  call <- one_of(number_calls)
  path <- one_of(places_of(call))
  with_part <- function(part) `[[<-`(call, path, part)
  if (!has_bit64 || one_in(2)) return(list(call = with_part(one_of(other_values))))
  list(call = with_part(call("as_integer64", call[[path]])), double = with_part(call("round", call[[path]])))
}

has_bit64 <- requireNamespace("bit64", quietly = TRUE)

as_integer64 <- function(value) {
  whole <- bit64::as.integer64(round(as.vector(value)))
  attributes(whole) <- c(attributes(value), attributes(whole))
  whole
}

other_values <- list(NA, NA_real_, NaN, Inf, -Inf, -1, 0.5, 1e300, 2^31, "a", "", TRUE, quote((NULL)), quote(list()),
                     quote(numeric()), quote(character()), quote(c(1, NA)), quote(matrix(1, 1, 1)), quote(as.name("a")),
                     quote(factor("a")), quote(Sys.Date()), quote(1i), quote(raw(3)), quote(sum), quote(data.frame()))

check_numbers <- function(case) {
  run <- function(call) reading(eval(call, number_data, globalenv()), may_warn = TRUE)
  in_child(function(grown) {
    read <- run(case$call)
    memory <- grown()
    truth <- if (!is.null(case$double)) run(case$double)
    is_other <- !is.null(truth) && !same_result(read$value, truth$value)
    c(condition_flaws(read), if (is.null(read$error) && is_other) "another value",
      if (memory > MAX_MEMORY * extra_memory) sprintf("%.0f MB", memory / 1000))
  })
}

object_kinds <- c(
  lapply(stats::setNames(nm = names(object_rows)), function(kind) {
    list(make = function() random_object(kind), check = check_object, show = show_object, share = 1)
  }),
  list(numbers = list(make = random_numbers, check = check_numbers, share = 3))
)
object_kinds$sparse$share <- 3
