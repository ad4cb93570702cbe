# Genotypes of PLINK: the same results as of their matrix, and pairs in a window.

# Neighboring variants are correlated.
genotypes <- function(n_obs, n_var, missing = 0.05) {
  haplotype <- function() {
    score <- matrix(rnorm(n_obs * n_var), n_obs)
    for (j in seq_len(n_var)[-1]) score[, j] <- 0.8 * score[, j - 1] + 0.6 * score[, j]
    score < rep(rnorm(n_var, 0, 0.5), each = n_obs)
  }
  x <- haplotype() + haplotype()
  x[runif(length(x)) < missing] <- NA
  dimnames(x) <- list(paste0("s", seq_len(n_obs)), paste0("rs", seq_len(n_var)))
  x
}

test_that("the example of the format's definition is read", {
  # https://www.cog-genomics.org/plink/1.9/formats#bed: six samples of three variants
  file <- tempfile(fileext = ".bed")
  writeBin(as.raw(c(0x6c, 0x1b, 0x01, 0xdc, 0x0f, 0xe7, 0x0f, 0x6b, 0x01)), file)
  writeLines(c("1\tsnp1\t0\t1\tG\tA", "1\tsnp2\t0\t2\t1\t2", "1\tsnp3\t0\t3\tA\tC"), sub("bed$", "bim", file))
  writeLines(c("1 1 0 0 1 0", "1 2 0 0 1 0", "1 3 1 2 1 2", "2 1 0 0 1 0", "2 2 0 0 1 2", "2 3 1 2 1 2"),
             sub("bed$", "fam", file))
  alleles <- cbind(snp1 = c("GG", "AA", "00", "AA", "AA", "AA"), snp2 = c("22", "00", "12", "22", "22", "22"),
                   snp3 = c("CC", "AC", "AC", "00", "00", "AA"))
  counts <- alleles
  for (j in 1:3) counts[, j] <- nchar(gsub(paste0("[^", c("G", "1", "A")[j], "]"), "", alleles[, j]))
  counts[alleles == "00"] <- NA
  storage.mode(counts) <- "integer"
  x <- gpuCorFile(file)
  expect_identical(unname(x[, ]), unname(counts))
  expect_identical(dimnames(x), list(c("1", "2", "3", "1", "2", "3"), colnames(alleles)))
  expect_identical(x$variants$a1, c("G", "1", "A"))
  expect_output(print(x), "6 observations x 3 variables in .*[(]PLINK[)]")
})

test_that("any number of samples and any columns are read", {
  for (n in 1:9) {
    x <- genotypes(n, 7, 0.2)
    y <- gpuCorFile(write_plink(x))
    for (j in list(1:7, 7:1, c(2, 2, 5), 4, -1)) expect_equal(y[, j], x[, j, drop = FALSE], tolerance = 0, label = n)
  }
})

test_that("a file gives what its matrix gives", {
  set.seed(2)
  data <- list(missing = genotypes(30, 40), complete = genotypes(30, 40, 0), few = genotypes(30, 40, 0.002))
  expect_same_results(function(x) gpuCorFile(write_plink(x)), data, "PLINK")
  file <- gpuCorFile(write_plink(data$missing))
  expect_equal(as.matrix(gpuCor(file, use = "pairwise")), cor(data$missing, use = "pairwise"), tolerance = 1e-6)
  plan <- tempfile("plan")
  quiet_plan(plan, file, threshold = 0.1, use = "pairwise", threads = 1)
  quiet_run(plan, threads = 1)
  expect_identical(bare(gpuCorCollect(plan)), bare(gpuCorNetwork(data$missing, threshold = 0.1, use = "pairwise")))
  expect_identical(sum(file.size(dir(plan, "^x", full.names = TRUE))), 4 * 30 * 40) # integers
  expect_identical(unserialize(serialize(file, NULL))[, 3:1], file[, 3:1])
})

test_that("further and empty variants change no other coefficient", {
  x <- genotypes(50, 60)
  alone <- gpuCorNetwork(gpuCorFile(write_plink(x[, 1:20])), threshold = 0.2, use = "pairwise", output = "edges")
  x[, 40] <- NA
  all <- suppressWarnings(gpuCor(gpuCorFile(write_plink(x)), use = "pairwise", output = "matrix"))
  expect_true(all(is.na(all[40, -40])))
  expect_identical(alone$r, all[cbind(alone$from, alone$to)])
})

# ---- windows

test_that("a window has the pairs of a chromosome up to a distance apart, in any order of the variants", {
  set.seed(3)
  x <- genotypes(80, 300)
  place <- data.frame(chromosome = rep(c("1", "X", "2"), c(120, 100, 80)), cm = round(cumsum(runif(300)), 2),
                      bp = cumsum(sample(1e5, 300)))
  r <- cor(x, use = "pairwise")
  edges_of <- function(order, by, distance) {
    file <- do.call(write_plink, c(list(x[, order]), place[order, ]))
    y <- gpuCorFile(file)
    expect_equal(y$variants[names(place)], place[order, ], ignore_attr = "row.names")
    window <- pairMask(y$variants[c("chromosome", by)], within_distance = distance)
    net <- gpuCorNetwork(y, pairs = window, threshold = sqrt(0.05), use = "pairwise")
    edges <- as.data.frame(net)
    near <- outer(place[[by]], place[[by]], function(a, b) abs(a - b) <= distance) &
      outer(place$chromosome, place$chromosome, "==")
    right <- which(near & lower.tri(r) & r^2 >= 0.05, arr.ind = TRUE)
    expect_setequal(paste(pmin(match(edges$from, colnames(x)), match(edges$to, colnames(x))),
                          pmax(match(edges$from, colnames(x)), match(edges$to, colnames(x)))),
                    paste(right[, 2], right[, 1]))
    expect_equal(edges$r, r[cbind(edges$from, edges$to)], tolerance = 1e-6)
    expect_identical(net@pairs, as.numeric(sum(near[lower.tri(near)])))
    list(file = y, window = window, net = net)
  }
  found <- edges_of(1:300, "bp", 5e5)
  edges_of(sample(300), "bp", 5e5)
  edges_of(1:300, "cm", 2)
  skip_if_not_installed("rhdf5")
  to <- tempfile(fileext = ".h5ad")
  gpuCorNetwork(found$file, pairs = found$window, threshold = sqrt(0.05), use = "pairwise", file = to)
  expect_equal(sort(as.vector(rhdf5::h5read(to, "X/data"))), sort(rep(as.data.frame(found$net)$r, 2)),
               tolerance = 1e-6)
})

test_that("variants without a place are in no window", {
  x <- genotypes(20, 5)
  colnames(x)[4:5] <- "."
  y <- gpuCorFile(write_plink(x, chromosome = c(1, 1, 0, 1, 1), bp = c(100000L, 5L, 6L, 0L, 200000L)))
  expect_identical(y$variants$chromosome, c("1", "1", NA, "1", "1"))
  expect_identical(y$variants$bp, c(100000L, 5L, 6L, NA, 200000L))
  expect_identical(colnames(y), c("rs1", "rs2", "rs3", "1:0", "1:200000"))
  edges <- gpuCorNetwork(y, pairs = pairMask(y$variants[c("chromosome", "bp")], within_distance = 1e9), threshold = 0,
                         use = "pairwise")
  expect_identical(edges@pairs, 3)
  expect_error(pairMask(y$variants[c("chromosome", "cm")], within_distance = 1),
               "'x' has no column of the data with all coordinates", fixed = TRUE)
})

# ---- errors

test_that("a file that cannot be used is an error that says so", {
  x <- genotypes(6, 3)
  file <- write_plink(x)
  good <- readBin(file, "raw", 100)
  y <- gpuCorFile(file)
  expect_file_error <- function(bytes, message) {
    writeBin(bytes, file)
    expect_error(gpuCorFile(file), message, class = "gpucor_error_file")
    expect_error(gpuCor(y), message, class = "gpucor_error_file")
    expect_error(y[, 1], message, class = "gpucor_error_file")
  }
  expect_file_error(charToRaw("chr1\t100\t200\n"), "is no .bed file of PLINK; for a raw file give 'dim'")
  expect_file_error(raw(0), "is no .bed file of PLINK")
  expect_file_error(replace(good, 3, as.raw(0)), "does not have one variant after the other, as plink --make-bed")
  expect_file_error(good[-9], "has 8 bytes, and 6 samples \\(.fam\\) and 3 variants \\(.bim\\) take 9")
  expect_file_error(c(good, raw(1)), "has 10 bytes")
  writeBin(good, file)
  expect_error(gpuCorFile(file, transpose = TRUE), "'transpose' must be FALSE", fixed = TRUE)
  expect_error(gpuCorFile(file, dimnames = list(NULL, "a")), "3 of variables", fixed = TRUE)
  expect_error(gpuDist(y), "gpuDist() compares rows", fixed = TRUE)
  expect_error(gpuCor(file), "gpuCorFile() takes this file", fixed = TRUE)
  bim <- sub("bed$", "bim", file)
  lines <- readLines(bim)
  expect_bim_error <- function(lines, message) {
    writeLines(lines, bim)
    expect_error(gpuCorFile(file), message, class = "gpucor_error_file")
  }
  expect_bim_error(lines[-1], "2 variants \\(.bim\\) take 7")
  expect_bim_error(replace(lines, 2, "1 rs2 0"), "bim\" cannot be read: .*line 2 did not have 6 elements")
  expect_bim_error(sub(" 2 A", " two A", lines), "bim\" cannot be read: .*'two'")
  unlink(bim)
  expect_error(gpuCorFile(file), "bim\", which does not exist", class = "gpucor_error_file")
})

test_that("the files beside a link are read", {
  skip_on_os("windows")
  x <- genotypes(6, 3)
  file <- write_plink(x)
  target <- tempfile() # with another name
  file.rename(file, target)
  file.symlink(target, file)
  expect_identical(gpuCorFile(file)[, ], x)
})
