# Confounds of fMRIPrep.

test_that("sets are the columns that their names say", {
  written <- write_confounds()
  frame <- written$frame
  read <- function(...) readConfounds(written$file, ...)
  expect_identical(colnames(read("motion")), c("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z"))
  expect_equal(read("motion")[, ], as.matrix(frame[colnames(read("motion"))]), ignore_attr = TRUE, tolerance = 1e-12)
  sizes <- c(motion = 6, motion12 = 12, motion24 = 24, wm_csf = 2, wm_csf8 = 8, global = 1, global4 = 4)
  for (set in names(sizes)) expect_identical(ncol(read(set)), as.integer(sizes[[set]]), label = set)
  expect_identical(ncol(read(c("motion24", "wm_csf8", "global4"))), 36L) # the 36 parameters of Ciric et al. (2017)
  expect_setequal(colnames(read("global4")), c("global_signal", "global_signal_derivative1", "global_signal_power2",
                                               "global_signal_derivative1_power2"))
  expect_identical(colnames(read(c("wm_csf", "cosine*", "csf"))), c("white_matter", "csf", "cosine00", "cosine01",
                                                                    "cosine02"))
  expect_identical(ncol(read(sprintf("a_comp_cor_%02d", 0:4))), 5L)
  expect_identical(colnames(read("a_comp_cor_0?")), sprintf("a_comp_cor_%02d", 0:6))
  expect_type(read("motion"), "double")
  packed <- paste0(written$file, ".gz")
  connection <- gzfile(packed, "w")
  writeLines(readLines(written$file), connection)
  close(connection)
  expect_identical(readConfounds(packed), read())
})

test_that("n/a in the first row is the second row's value, elsewhere an error", {
  written <- write_confounds()
  z <- readConfounds(written$file, "motion24")
  expect_false(anyNA(z))
  derivative <- written$frame$rot_y_derivative1
  expect_equal(z[, "rot_y_derivative1"], c(derivative[2], derivative[-1]), tolerance = 1e-12)
  expect_equal(z[1, "rot_y_derivative1_power2"], derivative[2]^2, ignore_attr = TRUE, tolerance = 1e-12)
  expect_equal(z[1, "rot_y"], written$frame$rot_y[1], ignore_attr = TRUE, tolerance = 1e-12)
  holed <- write_confounds(change = function(frame) {
    frame$csf[5] <- NA
    frame
  })
  expect_error(readConfounds(holed$file, "wm_csf"), "'file' has n/a in column \"csf\", row 5; choose other columns")
  expect_identical(ncol(readConfounds(holed$file, "motion")), 6L)
})

test_that("outliers are kept out by weights or by a column for each, with the same coefficients", {
  written <- write_confounds()
  z <- readConfounds(written$file, "motion")
  expect_identical(which(!attr(z, "keep")), c(1L, 7L, 12L))
  scrubbed <- readConfounds(written$file, c("motion", "scrub"))
  expect_identical(colnames(scrubbed)[7:9], c("outlier_1", "outlier_7", "outlier_12"))
  expect_identical(scrubbed[, 1:6], z[, ])
  expect_identical(which(scrubbed[, 7:9] == 1), c(1L, 40L + 7L, 80L + 12L))
  x <- normal(40, 5)
  left_out <- residuals(lm(x ~ z, subset = attr(z, "keep")))
  for (r in list(gpuCor(x, covariates = z, weights = attr(z, "keep"), output = "matrix"),
                 gpuCor(x, covariates = scrubbed, output = "matrix"))) {
    expect_equal(r[, ], cor(left_out), ignore_attr = TRUE, tolerance = 1e-6)
  }
  # A threshold of one's own; the first volume has no displacement, but it is not in steady state.
  strict <- readConfounds(written$file, "motion", fd = 0.9)
  expect_identical(which(!attr(strict, "keep")), c(1L, 38L, 39L, 40L))
  none <- write_confounds(drop = c("motion_outlier00", "motion_outlier01", "non_steady_state_outlier00"))
  expect_true(all(attr(readConfounds(none$file), "keep")))
  expect_identical(ncol(readConfounds(none$file, c("motion", "scrub"))), 6L)
  expect_identical(ncol(readConfounds(written$file, "scrub")), 3L)
})

test_that("what is no file of confounds is an error that says so", {
  written <- write_confounds(drop = c("csf", "framewise_displacement"))
  read <- function(...) readConfounds(written$file, ...)
  expect_error(read("wm_csf"), "'file' has no column \"csf\" of set \"wm_csf\"; it has 49 other columns$")
  expect_error(read("moton"), "no column \"moton\"; did you mean \"motion\"")
  expect_error(read("cosin00"), "did you mean \"cosine00\"")
  expect_error(read("edge*"), "no column \"edge*\"; it has", fixed = TRUE)
  expect_error(read(character()), "'columns' must be names of sets or of columns")
  expect_error(read(1:3), "not 1:3")
  expect_error(read(fd = 0.5), "'fd' needs column \"framewise_displacement\"")
  expect_error(readConfounds(write_confounds()$file, fd = "a"), "'fd' must be a number")
  expect_error(readConfounds("none.tsv"), "'file' is \"none.tsv\", which does not exist")
  text <- write_confounds(change = function(frame) transform(frame, rot_x = "b"))
  expect_error(readConfounds(text$file), "column \"rot_x\" of 'file' has text in row 1, \"b\"")
  file <- tempfile()
  writeLines("trans_x", file)
  expect_error(readConfounds(file), "'file' has 0 rows")
  file.create(file)
  expect_error(readConfounds(file), "'file' has 0 rows")
})

# A table of these lines.
confounds_of <- function(..., end = "\n") {
  file <- tempfile(fileext = ".tsv")
  writeBin(charToRaw(paste0(c(...), end, collapse = "")), file)
  file
}

test_that("every row has as many fields as the header", {
  read <- function(..., columns = "a") readConfounds(confounds_of(...), columns)
  same <- read("a\tb", "1\t2", "3\t4", "5\tn/a")
  expect_identical(same[, "a"], c(1, 3, 5))
  expect_error(read("a\tb", "1\t2\t", "3\t4\t"), "'file' has 3 fields in row 1 and 2 in its header, .*; every row n")
  expect_error(read("a\tb", "1\t2", "3\t4\t5", "6\t7"), "3 fields in row 2 and 2 in its header")
  expect_error(read("a\tb", "1\t2", "3\t4", "5"), "1 field in row 3 and 2 in its header")
  expect_error(read("a\tb", "1\t2", "", "3\t4"), "1 field in row 2 and 2 in its header")
  # A column without a name, empty lines at the end, other ends of lines, a byte-order mark, spaces.
  expect_identical(read("a\tb\t", "1\t2\t", "3\t4\t", "5\tn/a\t"), same)
  expect_identical(read("a\tb", "1\t2", "3\t4", "5\tn/a", "", ""), same)
  for (end in c("\r\n", "\r")) expect_identical(read("a\tb", "1\t2", "3\t4", "5\tn/a", end = end), same)
  expect_identical(read("\ufeffa\tb", "1\t2", "3\t4", "5\tn/a"), same)
  expect_identical(read("a\tb", " 1\t2", "3 \t4", "5\tn/a "), same)
  expect_identical(read("b\ta", "2\t1", "4\t3", "n/a\t5"), same)
  expect_identical(colnames(read("a\t\u00e9", "1\t2", "3\t4", columns = "\u00e9")), "\u00e9")
})

test_that("quotes and number signs are text, and text has no number", {
  read <- function(..., columns = "a") readConfounds(confounds_of(...), columns)
  table <- read("a\tit's\t#\t\"q\"", "1\tx\"\t#\t2", "3\t'y\t\"\t4", columns = c("a", "\"q\""))
  expect_identical(unclass(table)[, ], cbind(a = c(1, 3), "\"q\"" = c(2, 4)))
  expect_error(read("a\tb", "1\t2", "3\t4", "abc\t6"), "column \"a\" of 'file' has text in row 3, \"abc\"")
  expect_identical(read("a\tb", "1\t2", "3\tabc")[, 1], c(1, 3)) # of a column that is not chosen
  expect_error(read("a\tmotion_outlier00", "1\t0", "2\tyes"), "\"motion_outlier00\" of 'file' has text in row 2")
  fd <- function(...) readConfounds(confounds_of("a\tframewise_displacement", ...), "a", fd = 0.5)
  expect_identical(attr(fd("1\tn/a", "2\t0.7"), "keep"), c(TRUE, FALSE))
  expect_error(fd("1\tn/a", "2\tfar"), "\"framewise_displacement\" of 'file' has text in row 2, \"far\"")
  expect_error(fd("1\tn/a", "2\tn/a"), "'fd' needs column \"framewise_displacement\", which has no numbers in 'file'")
})

test_that("a name that several columns have is an error if it is chosen", {
  read <- function(columns) readConfounds(confounds_of("a\tb\tb", "1\t2\t3", "4\t5\t6"), columns)
  expect_identical(read("a")[, 1], c(1, 4))
  for (columns in c("b", "b*", "?")) expect_error(read(columns), "'file' has 2 columns \"b\"; rename those to leave")
})

test_that("a file that is cut off, damaged, or no text is an error", {
  file <- write_confounds(400)$file
  packed <- paste0(file, ".gz")
  connection <- gzfile(packed, "w")
  writeLines(readLines(file), connection)
  close(connection)
  bytes <- readBin(packed, "raw", 1e7)
  expect_identical(readConfounds(packed), readConfounds(file))
  for (n in c(length(bytes) - c(1, 8, 100), length(bytes) %/% 2, 20)) {
    writeBin(bytes[seq_len(n)], packed)
    expect_error(readConfounds(packed), class = "gpucor_error_file", label = n)
  }
  for (at in round(seq(30, length(bytes) - 20, length.out = 20))) {
    writeBin(replace(bytes, at, xor(bytes[at], as.raw(8))), packed)
    expect_error(readConfounds(packed), class = "gpucor_error", label = at)
  }
  for (text in list(charToRaw("a\tb\n1\t\xe9\n2\t3\n"), writeBin("a", raw()), as.raw(c(0xff, 0xfe, 0x61, 0)))) {
    writeBin(text, file)
    expect_error(readConfounds(file, "a"), "'file' is no text in UTF-8")
  }
})

test_that("a folder and a pipe are errors, not waited for", {
  expect_error(readConfounds(tempdir()), "'file' is .* a folder")
  skip_on_os("windows")
  pipe <- tempfile()
  skip_if(system2("mkfifo", shQuote(pipe), stderr = FALSE) != 0, "no pipe can be made")
  on.exit(unlink(pipe))
  expect_error(readConfounds(pipe), "'file' is .* is no regular file")
})
