# Networks that go to a file, beside those in memory.

details_of <- function(file) {
  listed <- rhdf5::h5ls(file)
  sapply(listed$name[listed$group == "/uns"], simplify = FALSE, function(name) {
    as.vector(rhdf5::h5read(file, paste0("uns/", name), bit64conversion = "double"))
  })
}

# The file has the network's edges, its values as floats, and its slots.
expect_file_of <- function(file, net, label = "") {
  truth <- expected_content(net)
  there <- content(file)
  slots <- c("criterion", "edges", "method", "n_obs", "pairs", "sign", "threshold", "value")
  known <- Filter(Negate(is.na), sapply(slots, function(name) methods::slot(net, name), simplify = FALSE))
  details <- details_of(file)
  same <- vapply(names(truth)[-1], function(part) identical(there[[part]], truth[[part]]), NA)
  data <- all.equal(there$`X/data`, truth$`X/data`, tolerance = 2^-24)
  wrong <- c(if (!isTRUE(data)) paste("data:", data[1]), names(same)[!same],
             if (!identical(details[order(names(details))], known)) "uns")
  expect(length(wrong) == 0, paste(c(label, wrong), collapse = "\n"))
}

# The file of a network has what the network in memory has, and the same warnings.
expect_file_is_network <- function(..., label = "") {
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  here <- warnings_of(net <- gpuCorNetwork(...))
  there <- warnings_of(result <- gpuCorNetwork(..., file = file))
  expect_identical(there, here, label = paste(label, "warnings"))
  expect_identical(list(result$file, result$edges, class(result)[1]),
                   list(file.path(normalizePath(folder), "net.h5ad"), net@edges, "gpuCorNetworkFile"), label = label)
  expect_identical(dir(folder), "net.h5ad")
  expect_file_of(file, net, label)
  unlink(folder, recursive = TRUE)
  invisible(result)
}

asked_of_files <- list(list(threshold = 0.3), list(threshold = 0), list(threshold = 1), list(density = 0.05),
                       list(k = 2), list(k = 2, mutual = TRUE), list(p.value = 0.05), list(fdr = 0.5))

for (backend in backends()) {
  test_that(paste(backend, "writes the network that it would return"), {
    skip_if_not_installed("rhdf5")
    x <- `colnames<-`(rounded(14, 40), paste0("v", 1:40))
    some_rows <- x
    some_rows[1:3, ] <- with_missing(some_rows[1:3, ], 0.3)
    data <- list(constants = with_constants(x), missing_in_some_rows = some_rows, missing = with_missing(x, 0.05),
                 ties = x)
    rows <- covering(criterion = seq_along(asked_of_files), kind = names(data)[if (full_tier()) 1:4 else 1:3],
                     method = all_methods, with_y = c(FALSE, TRUE), strength = if (full_tier()) 2 else 1)
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      x <- data[[row$kind]]
      criterion <- asked_of_files[[row$criterion]]
      use <- switch(row$kind, missing_in_some_rows = "complete.obs", missing = "pairwise.complete.obs", "everything")
      run <- function(...) {
        do.call(expect_file_is_network, c(list(..., use = use, method = row$method, backend = backend), criterion,
                                          label = paste(c(backend, names(criterion)[1], row), collapse = " ")))
      }
      if (row$with_y) run(x[, 1:25], x[, 16:30], sign = "positive") else run(x)
    }
    expect_nothing_left()
    expect_nothing_open()
  })

  # What writes knows edges and no method; Spearman's come from the product that makes Pearson's.
  test_that(paste(backend, "writes the same whatever the bands and the memory"), {
    skip_if_not_installed("rhdf5")
    x <- with_constants(rounded(14, 20))
    holes <- with_missing(x, 0.02)
    given <- list(list(x), list(x[, 1:14], x[, 10:20]), list(holes, use = "na.or.complete", sign = "positive"),
                  list(holes, use = "pairwise", sign = "negative"))
    criteria <- list(list(threshold = 0), list(density = 0.05))
    sizes <- list(c(1, 1), c(200, 1000), c(40, 0))
    rows <- covering(given = 1:4, size = if (full_tier()) 1:3 else 1:2, criterion = 1:2,
                     method = c("pearson", "kendall"))
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      arguments <- c(given[[row$given]], criteria[[row$criterion]], method = row$method, backend = backend,
                     label = paste(c(backend, row), collapse = " "))
      size <- sizes[[row$size]]
      with_bands(size[1], size[2], do.call(expect_file_is_network, arguments))
    }
    expect_nothing_left()
  })

  test_that(paste(backend, "writes networks without variables or edges"), {
    skip_if_not_installed("rhdf5")
    rows <- covering(n_var = 0:2, side = c("alone", "x", "y"), criterion = c(2, 4), method = c("pearson", "kendall"))
    for (k in seq_len(nrow(rows))) {
      row <- rows[k, ]
      few <- normal(12, row$n_var)
      given <- switch(row$side, alone = list(few), x = list(few, normal(12, 3)), y = list(normal(12, 3), few))
      do.call(expect_file_is_network, c(given, asked_of_files[[row$criterion]], method = row$method, backend = backend,
                                        label = paste(row, collapse = " ")))
    }
    for (method in c("pearson", "kendall")) {
      run <- function(...) expect_file_is_network(..., method = method, backend = backend)
      run(normal(12, 5) * NA, threshold = 0)
      run(normal(12, 5) * NA, density = 0.5)
      run(normal(1, 5), threshold = 0)
    }
  })
}

test_that("what x may be for a file, and names of one side", {
  skip_if_not_installed("rhdf5")
  x <- rounded(20, 12)
  named <- `colnames<-`(x, paste0("g\u00e8ne ", 1:12))
  sparse <- Matrix::Matrix(named, sparse = TRUE)
  run <- function(...) suppressMessages(expect_file_is_network(..., threshold = 0.2))
  expect_output(print(run(named, x[, 1:5])), "Network in .*net.h5ad.*[0-9]+ edges")
  both <- summary(run(named, x[, 1:5]))
  expect_identical(both$variables, c(12L, 5L))
  alone <- summary(run(x))
  here <- summary(gpuCorNetwork(x, threshold = 0.2))
  parts <- c("variables", "observations", "pairs", "edges", "density", "threshold")
  expect_identical(unclass(alone)[parts], unclass(here)[parts])
  expect_output(print(alone), "Network in .*net.h5ad")
  run(x, named[, 1:5])
  run(as.data.frame(named))
  run(sparse)
  run(sparse, sparse[, 1:4])
  sparse[3, 4] <- NA
  run(sparse, use = "complete.obs")
  run(x[, 1], x)
})

test_that("a file that exists is an error before any work", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  writeLines("mine", file)
  x <- normal(10, 5)
  x[1, 1] <- NA
  for (criterion in asked_of_files) {
    # The work would fail.
    run <- function(file) do.call(gpuCorNetwork, c(list(x, use = "all.obs", file = file), criterion))
    expect_error(run(file), "which exists; remove it or choose another name")
    expect_error(run(file.path(folder, "none", "net.h5ad")), "whose folder does not exist")
    expect_error(run(file.path(folder, "other.h5ad")), "missing observations")
  }
  expect_error(gpuCorNetwork(x, threshold = 0.5, file = 1), "'file' must be one string")
  expect_identical(dir(folder), "net.h5ad")
  expect_identical(readLines(file), "mine")
})

test_that("nothing is left of a file whose network fails", {
  skip_if_not_installed("rhdf5")
  folder <- new_folder()
  file <- file.path(folder, "net.h5ad")
  x <- with_constants(rounded(12, 40))
  expect_error(gpuCorNetwork(x[1:2, ], p.value = 0.1, file = file), "at least 3 observations")
  expect_length(dir(folder), 0)
  # A warning turned into an error comes after the last row.
  with_options(list(warn = 2), expect_error(gpuCorNetwork(x, threshold = 0.1, file = file), "standard deviation"))
  expect_length(dir(folder), 0)
  for (backend in backends()) for (resource in resources_of(backend)) {
    # While edges are found and go to the disk, and in any of the bands.
    for (criterion in asked_of_files[c(4, 5)]) for (k in c(1, 5, 20, 40, 60, 80, 100)) {
      fail_at(resource, k)
      failed <- with_bands(50, 1, tryCatch({
        do.call(quiet_network, c(list(x, file = file, backend = backend), criterion))
        FALSE
      }, error = function(condition) TRUE))
      fail_at(resource, 0)
      expect_nothing_left(paste(backend, resource, k))
      if (k == 1) expect_true(failed)
      expect_identical(dir(folder), if (failed) character() else "net.h5ad")
      unlink(file)
    }
  }
  expect_nothing_open()
  quiet_network(x, threshold = 0.1, file = file)
  expect_file_of(file, quiet_network(x, threshold = 0.1))
})

test_that("a file has the same bytes of edges wherever these were meanwhile, and compressed", {
  skip_if_not_installed("rhdf5")
  set.seed(13)
  x <- rounded(20, 200)
  write <- function(bytes, ..., entries = 900) {
    file <- file.path(new_folder(), "net.h5ad")
    with_bands(entries, bytes, result <- gpuCorNetwork(x, ..., file = file))
    list(content = content(file), details = details_of(file), size = file.size(file), edges = result$edges)
  }
  for (criterion in if (full_tier()) asked_of_files else asked_of_files[c(1, 6)]) {
    truth <- do.call(write, c(list(0), criterion))
    for (bytes in c(1, 1e4)) {
      expect_identical(do.call(write, c(list(bytes), criterion)), truth, label = paste(names(criterion)[1], bytes))
    }
  }
  truth <- write(0, threshold = 0.1)
  with_options(list(gpucor.spool_bytes = -1), {
    expect_error(gpuCorNetwork(x, threshold = 0.1, file = tempfile()), "'spool_bytes' must be a whole number")
  })
  expect_nothing_left()
})

test_that("a file may have more edges than a sparse matrix", {
  skip_if_not_installed("rhdf5")
  x <- rounded(14, 60)
  ours <- gpucor:::constant
  few <- function(name) if (name == "max edges") 100 else ours(name)
  for (criterion in list(list(threshold = 0), list(density = 0.5), list(density = 1), list(k = 5))) {
    file <- file.path(new_folder(), "net.h5ad")
    net <- do.call(gpuCorNetwork, c(list(x), criterion))
    with_values(list(constant = few), {
      expect_error(do.call(gpuCorNetwork, c(list(x), criterion)), "file =")
      with_bands(500, 1000, do.call(gpuCorNetwork, c(list(x, file = file), criterion)))
    })
    expect_gt(net@edges, 100)
    expect_file_of(file, net)
  }
  expect_nothing_left()
})

test_that("what a file takes of memory is not what it takes of the disk", {
  skip_unless_full()
  skip_if_not_installed("rhdf5")
  skip_without_children()
  skip_if_not(file.exists("/proc/self/status"))
  # 12.5 million edges: 150 MB until they are written, 300 MB of entries in the file. Those of a tile are in memory. The
  # peak of a process never falls, so that the call that may take more comes after the other.
  more <- callr::r(function(file) {
    library(gpucor)
    options(gpucor.threads = 1L)
    utils::assignInNamespace("BAND_ENTRIES", 1e6, "gpucor")
    x <- matrix(rep_len(sample.int(1e6L), 20 * 10000), 20)
    gpuCorNetwork(x[, 1:50], threshold = 0.5, file = paste0(file, "0"), backend = "cpu")
    high <- function() as.numeric(gsub("[^0-9]", "", grep("VmHWM", readLines("/proc/self/status"), value = TRUE)))
    before <- high()
    vapply(c(1e7, 0), function(bytes) {
      options(gpucor.spool_bytes = bytes)
      gpuCorNetwork(x, threshold = 0.27, file = file, backend = "cpu")
      unlink(file)
      (high() - before) / 1024
    }, 0)
  }, list(file.path(new_folder(), "net.h5ad")))
  expect_lt(more[1], 120)
  expect_gt(more[2], 150)
})
