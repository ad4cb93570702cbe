# Data that R reads for the engine: the same results as of the matrix, to the last bit.

# Packages, and functions that make of a matrix something to be read by blocks.
outside_kinds <- list(
  hdf5 = list("rhdf5", function(x) gpuCorFile(write_dense(x), dataset = "data", dimnames = dimnames(x))),
  `hdf5, transposed` = list("rhdf5", function(x) {
    gpuCorFile(write_dense(t(x)), dataset = "data", transpose = TRUE, dimnames = dimnames(x))
  }),
  DelayedMatrix = list("DelayedArray", function(x) DelayedArray::DelayedArray(x)),
  `DelayedMatrix, delayed` = list("DelayedArray", function(x) {
    DelayedArray::DelayedArray(rbind(x, x) * 2)[seq_len(nrow(x)), ] / 2
  }),
  HDF5Matrix = list("HDF5Array", function(x) `dimnames<-`(HDF5Array::HDF5Array(write_dense(x), "data"), dimnames(x))),
  big.matrix = list("bigmemory", function(x) bigmemory::as.big.matrix(x, type = storage.mode(x)))
)

for (kind in names(outside_kinds)) {
  made <- new.env() # big.matrix collects R's garbage whenever it makes one
  outside <- function(x) {
    skip_if_not_installed(outside_kinds[[kind]][[1]])
    key <- paste(kind, digest_of(x))
    if (is.null(made[[key]])) made[[key]] <- suppressMessages(outside_kinds[[kind]][[2]](x))
    made[[key]]
  }

  test_that(paste(kind, "gives what the matrix gives"), {
    expect_same_results(outside, if (full_tier() || kind == "hdf5") small_data() else small_data()["missing"], kind)
    x <- small_data()$missing
    ours <- outside(x)
    few <- outside(x[, 3:9])
    for (use in if (full_tier() || kind == "hdf5") all_uses else all_uses[1:2]) {
      truth <- outcome(gpuCor(x, x[, 3:9], use = use))
      expect_identical(outcome(gpuCor(ours, few, use = use)), truth)
      expect_identical(outcome(gpuCor(x, few, use = use)), truth)
    }
    if (!full_tier() && grepl("Matrix", kind)) return() # which DelayedArray makes doubles of, too
    whole <- round(100 * small_data()$missing)
    whole[is.nan(whole)] <- NA
    storage.mode(whole) <- "integer"
    expect_same_results(outside, list(whole), paste(kind, "integers"), which = "cor")
  })

  test_that(paste(kind, "works in every verb"), {
    x <- small_data()$complete
    ours <- outside(x)
    expect_identical(gpuCorTest(ours)$p.value, gpuCorTest(x)$p.value, ignore_attr = "call")
    expect_identical(pickPower(ours, 1:3), pickPower(x, 1:3))
    for (method in all_methods) for (criterion in list(list(k = 3), list(p.value = 0.05), list(fdr = 0.9))) {
      network <- function(x) bare(do.call(gpuCorNetwork, c(list(x, method = method), criterion)))
      expect_identical(network(ours), network(x))
    }
    if (grepl("transposed", kind) || kind == "hdf5" || inherits(ours, "DelayedMatrix")) {
      expect_identical(gpuDist(ours), gpuDist(x), ignore_attr = "call")
    } else {
      expect_error(gpuDist(ours), "gpuDist() compares rows", fixed = TRUE)
    }
  })

  test_that(paste(kind, "is read in blocks, for several workers, in several rounds"), {
    if (!kind %in% c("hdf5", "DelayedMatrix", "big.matrix")) skip_unless_full()
    x <- rounded(9000, 70) # a block has 58 columns
    x[5, 60] <- NA
    ours <- outside(x)
    rows <- covering(use = c("everything", "complete.obs"), memory = c(3e6, 1e9), divided = c(TRUE, FALSE))
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      run <- function() result_of_job(ours, "cor", row$use, memory = row$memory)
      expect_identical(if (row$divided) with_workers(run()) else run(), known_result(x, "cor", row$use),
                       label = paste(c(kind, row), collapse = " "))
    }
    expect_identical(result_of_job(ours, "density", "pairwise"), known_result(x, "density", "pairwise"))
    expect_nothing_left(kind)
  })
}
