# Pictures of results: what they look like, what they refuse, and that they leave the session as it was.

x <- as.matrix(mtcars)
r <- gpuCor(x)
net <- gpuCorNetwork(x, threshold = 0.7)
against <- gpuCorNetwork(x[, 1:4], x[, 5:11], threshold = 0.6)

# Genes that follow three factors more or less.
genes <- local({
  set.seed(4)
  weight <- rep(c(2, 1, 0.5, 0), each = 15)
  m <- normal(30, 60, 5) + normal(30, 3, 6)[, rep(1:3, 20)] * rep(weight, each = 30)
  colnames(m) <- paste0("gene", 1:60)
  m
})
con <- gpuConnectivity(genes, threshold = 0.4, power = c(2, 6), histogram = TRUE)
fit <- pickPower(genes, 1:12)
test <- gpuCorTest(genes)
compared <- gpuCorCompare(genes[1:15, 1:20], genes[16:30, 1:20])
associated <- suppressWarnings(gpuAssociation(genes[, 1:6], data.frame(x[1:30, 1:3], at = rep(1:2, 15), none = 1),
                                              output = "matrix"))
windows <- function(...) gpuCorWindows(genes[, 1:12], 12, step = 2, ...)

overlap <- local({
  a <- abs(as.matrix(gpuCor(genes)))^2
  diag(a) <- 0
  k <- rowSums(a)
  tom <- (a %*% a + a) / (outer(k, k, pmin) + 1 - a)
  structure(tom[lower.tri(tom)], Size = 60L, Labels = colnames(genes), class = c("gpuTOM", "allPairs", "dist"))
})

# `code` draws on a device that keeps nothing; what it leaves of the device's settings.
draw <- function(code, width = 7, height = 5) {
  grDevices::pdf(NULL, width, height)
  on.exit(grDevices::dev.off())
  before <- graphics::par(c("mfrow", "mar", "las", "pty", "mgp"))
  force(code)
  expect_identical(graphics::par(c("mfrow", "mar", "las", "pty", "mgp")), before)
}

plot_returns <- function(x) {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  plot(x)
}

# ---- what they look like

test_that("pictures are as they were looked at", {
  keep_pictures("plot")
  skip_if_not_installed("vdiffr")
  skip_if(getRversion() >= "4.3", "the pictures are those of R 4.2")
  same <- function(title, code) vdiffr::expect_doppelganger(title, code, cran = TRUE)
  same("coefficients", function() plot(r))
  same("network, weights", function() plot(net, "weight"))
  same("x against y, degrees", function() plot(against, "degree"))
  same("connectivity", function() plot(con))
  same("powers", function() plot(fit))
  same("windows", function() plot(gpuCorWindows(genes[, 1:6], 12, step = 3)))
  same("tests", function() plot(gpuCorTest(x)))
  same("overlap", function() plot(overlap))
  same("traits", function() plot(associated, "heatmap", main = "genes and traits"))
})

test_that("every result has a picture, and the device stays as it was", {
  for (type in c("auto", "histogram", "heatmap")) draw(plot(r, type))
  draw(plot(gpuCor(unname(x))))
  draw(plot(suppressWarnings(gpuCor(cbind(x, constant = 1)))))
  draw(plot(gpuCor(x[, 1:2])))
  for (type in c("auto", "degree", "weight")) for (n in list(net, against)) draw(plot(n, type))
  draw(plot(gpuCorNetwork(x, threshold = 1)))
  draw(plot(gpuCorCompare(genes[1:15, ], genes[16:30, ], threshold = 1.2)))
  for (type in c("auto", "fit", "hubs", "histogram")) draw(plot(con, type))
  draw(plot(con, measure = "strength"))
  draw(plot(gpuConnectivity(unname(genes), maps = c("mean", "z")), measure = "z"))
  draw(plot(gpuConnectivity(x, threshold = 0))) # every degree the same: hubs alone
  draw(plot(fit))
  draw(plot(suppressWarnings(pickPower(x, c(1, 30)))))
  for (keep in c("dist", "moments")) draw(plot(windows(output = keep)))
  for (keep in c("network", "connectivity")) draw(plot(windows(output = keep, threshold = 0.5)))
  draw(plot(windows(output = "moments", k = 3)))
  for (tests in list(test, gpuCorTest(x, log.p = TRUE), gpuCorTest(x[, 1:2], x[, 3:5]), compared)) {
    for (type in c("auto", "p.value", "volcano")) draw(plot(tests, type))
  }
  draw(plot(overlap, main = "modules"))
  for (type in c("auto", "p.value", "volcano", "heatmap")) draw(plot(associated, type))
  img <- array(normal(16, 20), c(4, 4, 1, 20))
  draw(plot(voxelMatrix(img)))
  draw(plot(voxelMatrix(img)[1:2, ], max = 5))
  n <- nrow(voxelMatrix(img))
  moved <- cbind(fd = c(NA, seq_len(n - 1)), dvars = 1)
  expect_true(all(c("fd", "dvars") %in% texts_of(plot(voxelMatrix(img), confounds = moved))))
  draw(plot(voxelMatrix(img), confounds = moved[, 1]))
  # Volumes that were left out are gaps.
  keep <- seq_len(n) %% 3 != 0
  gaps <- function(x, ...) mean(pixels_of(plot(x, confounds = structure(moved, ...))) == "#D9D9D9")
  expect_identical(gaps(voxelMatrix(img), keep = keep), gaps(voxelMatrix(img)))
  expect_gt(gaps(voxelMatrix(img, keep = keep), keep = keep), 0.1)
  expect_error(draw(plot(voxelMatrix(img, keep = keep), confounds = moved)), "'confounds' must be of 14 rows")
  expect_error(draw(plot(voxelMatrix(img), confounds = moved[-1, ])), "'confounds' must be of .* and 1 to 8 columns")
  expect_error(draw(plot(voxelMatrix(img), confounds = "a.tsv")), "'confounds' must be a numeric matrix")
  expect_identical(plot_returns(r), r)
})

test_that("cells of variables and traits have r and p, if the text fits", {
  texts <- texts_of(plot(associated, "heatmap"))
  expect_true(all(c(colnames(associated$r), rownames(associated$r)) %in% texts))
  expect_true(all(sub("^-0.00$", "0.00", sprintf("%.2f", associated$r[, 1:4])) %in% texts))
  expect_true(all(paste0("(", vapply(associated$p.value[, 1:4], format, "", digits = 1), ")") %in% texts))
  expect_false("NA" %in% texts)
  small <- texts_of(plot(gpuAssociation(genes, x[1:30, ], output = "matrix"), "heatmap"), 3, 3)
  expect_false(any(grepl("[(]", small))) # nor what numbers in cells would be
  draw(plot(gpuAssociation(unname(genes), unname(x[1:30, 1]), output = "matrix"), "heatmap"))
  expect_error(draw(plot(associated, "heatmap", max = 5)), "a heat map of 6 variables")
  all <- gpuAssociation(genes, normal(30, 3, 9))
  expect_error(draw(plot(all[0, ], "heatmap")), "there is nothing to plot")
  expect_true("r (p value); 3 of 60 variables, the smallest p first" %in% texts_of(plot(all, "heatmap", max = 3)))
})

# ---- tests, comparisons and associations

two <- gpuCorCompare(genes[1:15, 1:20], genes[16:30, 1:20] * rep(c(1, -1), each = 15), classes = 0.05)
hits <- gpuAssociation(genes, genes[, 1:3] + normal(30, 3, 9), p.value = 0.05)
has <- function(texts, pattern) any(grepl(pattern, texts))

test_that("a volcano names the significant pairs with the smallest p values, and says how many there are", {
  texts <- texts_of(plot(two, "volcano", labels = 3))
  rows <- as.data.frame(two)
  rows <- rows[order(rows$p.value), ]
  found <- rows$fdr <= 0.05
  expect_gt(sum(found), 3)
  named <- paste(rows$from, "-", rows$to) # a letter of a text is drawn as it is
  expect_true(named[1] %in% texts)
  expect_lte(sum(named %in% texts), 3)
  expect_true(paste(sum(found), "of 190 tests with fdr <= 0.05") %in% texts)
  texts <- texts_of(plot(two, "volcano", level = 1e-300))
  expect_false(any(named %in% texts))
  expect_true("0 of 190 tests with fdr <= 0" %in% sub("1e-300", "0", texts))
  # Logarithms are the same points; p values of 0 are at the top, the largest coefficient named first.
  logs <- gpuCorTest(genes, log.p = TRUE)
  expect_identical(texts_of(plot(logs, "volcano")), texts_of(plot(test, "volcano")))
  zero <- test
  zero$p.value[1:3] <- 0
  zero$p.value[4] <- NA
  zero$r[1:3] <- c(0.9, -0.99, 0.95)
  texts <- texts_of(plot(zero, "volcano", labels = 1))
  expect_true("gene1 - gene3" %in% texts && has(texts, "; p = 0 at the top$"))
})

test_that("the coefficients of one group are drawn against those of the other", {
  texts <- texts_of(plot(two, "groups", xlab = "r in patients"))
  expect_true(all(c("r in patients", "r in y") %in% texts))
  rows <- as.data.frame(two)
  most <- sort(table(unlist(rows[rows$fdr <= 0.05, c("from", "to")])), decreasing = TRUE)
  expect_true(has(texts, paste0("fdr <= 0.05; most: ", names(most)[1], " [(]", most[[1]], "[)]")))
  expect_true("r in y" %in% texts_of(plot(two))) # by default both groups, where they are known
  expect_true(has(texts_of(plot(two), 4), "of 190 tests with fdr <= 0.05$")) # without what would not be legible
  expect_true("r in y" %in% texts_of(plot(compared))) # z against its own p is the same curve for all data
  subjects <- lapply(1:8, function(i) normal(40, 5, seed = i))
  of_subjects <- gpuCorCompare(subjects[1:4], subjects[5:8])
  expect_true("Volcano" %in% texts_of(plot(of_subjects)))
  expect_error(draw(plot(of_subjects, "groups")), "needs the coefficients of two groups, .*classes = 0.05")
  expect_error(draw(plot(test, "groups")), "needs the coefficients of two groups")
  expect_true(all(c(warm(), cold()) %in% substr(pixels_of(plot(two, "groups", labels = 0)), 1, 7)))
})

test_that("heat maps of tests have stars by adjusted p values, or dots where stars do not fit", {
  few <- gpuCorTest(x[, 1:4])
  texts <- texts_of(plot(few, "heatmap"))
  expect_true("p <= 0.05 *, 0.01 **, 0.001 ***" %in% texts)
  expect_identical(sum(texts == "***"), 2L * sum(few$p.value <= 0.001))
  expect_identical(sum(texts == "*"), 2L * sum(few$p.value <= 0.05 & few$p.value > 0.01))
  expect_true("dots: p <= 0.05" %in% texts_of(plot(test, "heatmap")))
  adjusted <- gpuCorTest(x[, 1:4], adjust = "maxT", n_perm = 19)
  expect_true(has(texts_of(plot(adjusted, "heatmap")), "^adjusted p <="))
  square <- texts_of(plot(gpuCorTest(x[, 1:4], output = "matrix"), "heatmap"))
  expect_identical(table(square[grep("[*]", square)]), table(texts[grep("[*]", texts)]))
  against <- gpuCorTest(x[, 1:4], x[, 5:9])
  expect_true(all(c("mpg", "qsec") %in% texts_of(plot(against, "heatmap"))))
  expect_error(draw(plot(against, "heatmap", groups = 1:4)), "'groups' and 'order' are for all pairs")
  expect_error(draw(plot(test, "heatmap", max = 50)), "a heat map of 60 variables")
  # Differences have colors up to the largest; of two groups x is below the diagonal.
  expect_true("difference of z (x - y)" %in% texts_of(plot(compared, "heatmap")))
  expect_true(has(texts_of(plot(two, "heatmap")), "r in x [(]below the diagonal[)] and in y"))
  draw(plot(two, "heatmap", main = "both", order = "given", groups = rep(1:2, 10)))
  draw(plot(gpuCorCompare(genes[1:15, ], genes[16:30, ], seeds = 1:2, classes = 0.1), "heatmap"))
})

test_that("associations are a data frame with a header, a summary and pictures", {
  expect_s3_class(hits, c("gpuAssociationPairs", "gpuTests", "data.frame"), exact = TRUE)
  expect_identical(class(as.data.frame(hits)), "data.frame")
  expect_output(print(hits), paste(nrow(hits), "of 180 tests\n.*\\.\\.\\. and [0-9]+ more rows"))
  expect_output(print(hits[1:2, ], n = 1), "2 of 180 tests\n.*\\.\\.\\. and 1 more row")
  expect_equal(summary(hits)$significant[["bonferroni"]], sum(hits$p.value <= 0.05 / 180))
  expect_equal(summary(hits)$tests, 180)
  expect_false("p value" %in% texts_of(plot(hits))) # which are below 0.05
  expect_true("p value" %in% texts_of(plot(gpuAssociation(genes, genes[, 1]))))
  expect_true(paste(sum(hits$fdr <= 0.05), "of 180 tests with fdr <= 0.05") %in% texts_of(plot(hits)))
  expect_true(paste(hits$from, "-", hits$to)[1] %in% texts_of(plot(hits)))
  shown <- texts_of(plot(hits, "heatmap", max = 5))
  expect_identical(sum(colnames(genes) %in% shown), 5L + sum(!unique(hits$to) %in% unique(hits$from)[1:5]))
  # Without columns of tests it is summed up as any data frame.
  expect_error(plot(hits[c("r", "statistic")]), "'x' has lost columns of its tests, 'r' or its p values")
  expect_error(draw(plot(hits[c("r", "p.value", "to")], "heatmap")), "'x' has lost column 'from'")
  expect_error(draw(plot(hits, zlim = 0:1)), "are for pairs of columns; cells of traits")
  # A part of the rows, and of the columns, knows how many tests there were.
  part <- hits[hits$p.value < 0.01, c("from", "to", "r", "p.value", "fdr")]
  expect_equal(summary(part)$tests, 180)
  expect_equal(summary(part)$significant[["fdr"]], sum(part$fdr <= 0.05))
  expect_s3_class(summary(hits[c("r", "statistic")]), "table")
  expect_output(print(hits[, c("from", "r")]), "Pearson.s correlation, [0-9]+ of 180 tests")
  expect_identical(class(merge(hits, data.frame(from = colnames(genes), chromosome = 1))), "data.frame")
  expect_identical(nrow(rbind(hits, hits)), 2L * nrow(hits))
  file <- withr::local_tempfile()
  utils::write.csv(hits, file, row.names = FALSE)
  expect_equal(utils::read.csv(file), as.data.frame(hits), ignore_attr = TRUE)
  factor <- gpuAssociation(genes[, 1:5], data.frame(a = gl(3, 10), b = 1:30))
  expect_true(all(c("r", "R") %in% texts_of(plot(factor, "heatmap"))))
})

test_that("inter-subject correlation is drawn as a histogram, a map and tests", {
  isc <- gpuISC(lapply(1:4, function(s) normal(40, 12, s) + outer(sin(1:40), 1:12 / 6)))
  expect_true(all(c("inter-subject correlation", "p value") %in% texts_of(plot(isc))))
  coords <- as.matrix(expand.grid(x = 1:3, y = 1:2, z = 1:2))
  expect_true("Inter-subject correlation" %in% texts_of(plot(isc, coords = coords)))
  for (type in c("isc", "p.value", "volcano")) draw(plot(isc, type))
  expect_true("12" %in% texts_of(plot(isc, "volcano")))
  expect_error(draw(plot(isc, "map")), "needs 'coords'")
  expect_true("Title" %in% texts_of(plot(isc, "map", coords = coords, main = "Title")))
  draw(plot(isc, "volcano", coords = coords))
  expect_error(draw(plot(isc[0, ])), "there is no column to plot")
  expect_error(plot(isc[, c("isc", "statistic")]), "'x' has lost columns of its tests")
  expect_identical(summary(isc)$strongest$variable[1], which.min(isc$p.value))
})

test_that("windows have a heat map of their means, or of one", {
  w <- windows()
  expect_true("Mean of 10 windows" %in% texts_of(plot(w, "heatmap", groups = gl(2, 6))))
  expect_true("Window 3" %in% texts_of(plot(w, "heatmap", window = 3)))
  expect_error(draw(plot(w, "heatmap", window = 99)), "'window' must be a whole number between 1 and 10")
  draw(plot(windows(output = "moments"), "heatmap"))
  expect_error(draw(plot(windows(output = "moments"), window = 1)), "of one window needs all pairs")
  expect_error(draw(plot(windows(output = "moments", k = 3), colour = 1)), "unused argument 'colour'")
  expect_error(draw(plot(gpuCorWindows(genes[, 1, drop = FALSE], 15), "heatmap")), "there is no pair to plot")
  expect_error(draw(plot(windows(output = "network", threshold = 0.5), "heatmap")), "a heat map needs all pairs")
})

test_that("bars add up to the number of known coefficients", {
  some <- suppressWarnings(gpuCor(cbind(x, constant = 1)))
  expect_identical(pixels_of(plot(some, "histogram", main = "")), pixels_of(plot(r, "histogram", main = "")))
})

test_that("a map of hubs takes places in two or three dimensions", {
  places <- as.matrix(expand.grid(x = 1:4, y = 1:5, z = 1:3))
  draw(plot(con, "map", coords = places))
  draw(plot(con, "map", coords = places[, 1:2]))
  expect_error(draw(plot(con, "map", coords = places[1:10, ])), "'coords' must be a matrix with a row for each of")
})

test_that("a layout leaves the session's random numbers alone", {
  skip_if_not_installed("igraph")
  set.seed(3)
  truth <- runif(2)
  set.seed(3)
  first <- runif(1)
  draw(plot(net, "layout"))
  draw(plot(against, "layout", labels = 0))
  draw(plot(gpuCorNetwork(unname(x), threshold = 0.7)))
  expect_identical(c(first, runif(1)), truth)
})

test_that("the key of a layout is on the page, whatever its size", {
  skip_if_not_installed("igraph")
  colors <- c(gpucor:::warm(), gpucor:::cold())
  for (width in if (full_tier()) c(288, 504, 1000, 1152) else c(288, 1152)) {
    drawn <- pixels_of(plot(net, "layout"), width, 0.7 * width)
    key <- drawn[nrow(drawn) - 0:30, ] # below the layout: full colors, edges are transparent
    at <- which(matrix(key %in% colors, nrow(key)), arr.ind = TRUE)
    expect_setequal(unique(key[at]), colors)
    expect_true(all(at[, 2] > 5 & at[, 2] < width - 5 & at[, 1] > 3), label = width)
  }
  expect_true(all(c("r > 0  ", "r < 0  ", "x  ", "y  ") %in% texts_of(plot(against, "layout"), 4, 3)))
  weights <- abs(cor(x))[lower.tri(diag(11))]
  widths <- paste0("|r| = ", signif(range(weights[weights >= 0.7]), 2), "  ") # of the weakest and the strongest edge
  expect_true(all(widths %in% texts_of(plot(net, "layout"))))
})

test_that("dots of layouts have the colors of groups, by name and in any order", {
  skip_if_not_installed("igraph")
  groups <- stats::setNames(rep(c("red", "green3", "blue"), c(4, 4, 3)), colnames(x))
  drawn <- gpucor:::drawn_network(net, gpucor:::group_factor(groups, 11, colnames(x)))
  expect_identical(drawn$fill, unname(groups))
  degree <- rowSums(abs(cor(x)) >= 0.7) - 1
  pixels <- pixels_of(plot(net, "layout", groups = rev(groups), labels = 0))
  shown <- unique(groups[degree > 0]) # dots without edges are not drawn
  for (color in shown) expect_true(rgb(t(col2rgb(color)), maxColorValue = 255) %in% pixels, label = color)
  expect_true(all(paste0(unique(groups), "  ") %in% texts_of(plot(net, "layout", groups = groups))))
  places <- matrix(normal(11, 3, 8), 11)
  expect_true("red  " %in% texts_of(plot(net, "layout", groups = groups, coords = places)))
  expect_error(plot(net, "layout", groups = groups[-1]), "the names of 'groups' lack 'mpg'")
  expect_error(plot(net, groups = 1:3), "'groups' must be .* a value for each of the 11 variables")
})

test_that("a layout gives each component a part of the page, the largest first", {
  boxes <- gpucor:::divide_box(c(60, 20, 10, 5, 5), c(0, 10, 0, 5))
  area <- (boxes[, 2] - boxes[, 1]) * (boxes[, 4] - boxes[, 3])
  expect_equal(area, 50 * c(60, 20, 10, 5, 5) / 100)
  expect_equal(boxes[1, ], c(0, 6, 0, 5))
  for (k in 2:5) expect_false(any(boxes[seq_len(k - 1), 1] < boxes[k, 1] & boxes[k, 1] < boxes[seq_len(k - 1), 2] &
                                    boxes[seq_len(k - 1), 3] < boxes[k, 3] & boxes[k, 3] < boxes[seq_len(k - 1), 4]))
})

test_that("of thousands of variables hubs are named in a layout", {
  skip_if_not_installed("igraph")
  set.seed(5)
  hub <- normal(20, 4, 7)
  many <- normal(20, 2000, 8) + 1.2 * hub[, rep(1:4, 500)]
  colnames(many) <- paste0("gene", 1:2000)
  large <- gpuCorNetwork(many, k = 3)
  hubs <- utils::head(summary(large)$hubs$variable, 3)
  expect_true(all(hubs %in% texts_of(plot(large, "layout"))))
})

test_that("a network is drawn on a brain from three sides", {
  set.seed(8)
  centers <- matrix(rnorm(33, 0, 30), 11, dimnames = list(NULL, c("x.mni", "y.mni", "z.mni")))
  sides <- c("from the right", "from behind", "from above")
  texts <- texts_of(plot(net, "layout", coords = centers), 12, 8)
  expect_identical(sort(texts[texts %in% LETTERS]), sort(c("P", "A", "I", "S", "L", "R", "I", "S", "L", "R", "P", "A")))
  expect_true(all(c(sides, "cyl", "disp", "r > 0  ", "r < 0  ") %in% texts))
  expect_true(all(c(sides, "Degrees") %in% texts_of(plot(net, coords = as.data.frame(centers)))))
  ink <- function(background) pixels_of(plot(net, "layout", coords = centers, background = background), 700, 400)
  expect_gt(mean(ink(NULL) == "#F7F7F7"), 0.1) # the outline
  expect_lt(mean(ink(FALSE) == "#F7F7F7"), 0.01)
  expect_true(gpucor:::warm() %in% ink(NULL)) # the key
  # Rows are found by their names, and those of x are before those of y.
  rownames(centers) <- rev(colnames(x))
  expect_identical(gpucor:::check_coords(centers, 11, colnames(x)), centers[11:1, ])
  expect_true("y over x" %in% texts_of(plot(against, "layout", coords = unname(centers[, 1:2]))))
  centers[c("hp", "am"), 1] <- NA
  expect_true("2 of 11 variables without coordinates" %in% texts_of(plot(net, "layout", coords = centers)))
  expect_error(draw(plot(net, coords = centers[-1, ])), "'coords' has rows with names, but none named 'carb'")
  expect_error(draw(plot(net, coords = unname(centers)[-1, ])),
               "'coords' must be a matrix with a row for each of the 11")
})

# TRUE for points inside a closed line: a ray to the right crosses it an odd number of times.
is_inside <- function(at, line) {
  to <- c(2:length(line$x), 1)
  crossings <- vapply(seq_len(nrow(at)), function(k) {
    is_beside <- (line$y > at[k, 2]) != (line$y[to] > at[k, 2])
    sum(is_beside & at[k, 1] < line$x + (at[k, 2] - line$y) / (line$y[to] - line$y) * (line$x[to] - line$x))
  }, 0)
  crossings %% 2 == 1
}

test_that("places in MNI space are drawn in the outline of that brain", {
  views <- list(2:3, c(1, 3), 1:2)
  # In the atlas of Talairach and Tournoux, moved to MNI: the commissures, the poles, the vertex, the cerebellum.
  inside <- rbind(c(0, 0, 0), c(0, -26, -2), c(8, 66, 0), c(-12, -100, -4), c(44, 16, -36), c(-4, -30, 76),
                  c(-66, -30, 4), c(20, -70, -50))
  outside <- rbind(c(0, 85, 0), c(0, -115, 0), c(-80, -20, 85), c(80, -20, 85), c(0, 60, -60))
  for (v in 1:3) {
    line <- gpucor:::MNI_OUTLINES[[v]]
    expect_true(all(is_inside(inside[, views[[v]]], line)), label = v)
    expect_lte(max(abs(rbind(range(line$x), range(line$y)) - gpucor:::MNI_BOX[views[[v]], ])), 1)
  }
  is_out <- vapply(1:3, function(v) !is_inside(outside[, views[[v]]], gpucor:::MNI_OUTLINES[[v]]), logical(5))
  expect_true(all(rowSums(is_out) >= 1))
  outlines_of <- function(at) lapply(gpucor:::new_map(at)$outlines, `[[`, 1)
  expect_identical(outlines_of(inside), gpucor:::MNI_OUTLINES)
  expect_identical(outlines_of(`colnames<-`(inside, c("x", "y", "z"))), gpucor:::MNI_OUTLINES)
  # Other points have the outline of their own space, or none.
  for (at in list(inside * 3, inside / 10, inside + 60)) {
    map <- gpucor:::new_map(at)
    for (v in 1:3) expect_true(all(is_inside(at[, views[[v]]], map$outlines[[v]][[1]])))
    expect_lt(max(map$high - map$low), 1.2 * max(apply(at, 2, function(own) diff(range(own)))))
  }
  expect_null(gpucor:::new_map(inside, background = FALSE)$outlines)
  expect_null(gpucor:::new_map(`colnames<-`(inside, c("UMAP1", "UMAP2", "UMAP3")))$outlines)
})

test_that("the outline in MNI space is that of its template", {
  file <- "/usr/share/mricron/templates/ch2bet.nii.gz"
  skip_if_not(file.exists(file), "the template is not installed")
  brain <- gpucor:::bright_places(file)
  set.seed(2)
  for (v in 1:3) {
    seen <- brain[, list(2:3, c(1, 3), 1:2)[[v]]]
    seen <- seen[!duplicated(seen[, 1] + 1000 * seen[, 2]), ]
    line <- gpucor:::MNI_OUTLINES[[v]]
    expect_gt(mean(is_inside(seen[sample(nrow(seen), 2000), ], line)), 0.98)
    to <- c(2:length(line$x), 1)
    area <- abs(sum(line$x * line$y[to] - line$x[to] * line$y)) / 2
    expect_lt(abs(area / nrow(seen) - 1), 0.04)
  }
})

test_that("views of a brain fill a page, apart from one another", {
  wide <- c(179, 144, 144)
  high <- c(151, 151, 180)
  pad <- c(0.4, 0.7)
  for (page in list(c(6.4, 4), c(11.4, 6.8), c(11, 3), c(4, 7), c(2.2, 2))) {
    at <- gpucor:::arrange_views(wide, high, page, pad)
    half <- cbind(at$scale * wide + pad[1], at$scale * high + pad[2]) / 2
    expect_true(all(at$scale > 0 & at$x - half[, 1] > -1e-9 & at$x + half[, 1] < page[1] + 1e-9 &
                      at$y - half[, 2] > -1e-9 & at$y + half[, 2] < page[2] + 1e-9))
    for (pair in list(1:2, 2:3, c(1, 3))) {
      apart <- abs(c(diff(at$x[pair]), diff(at$y[pair]))) - colSums(half[pair, ])
      expect_gt(max(apart), -1e-9)
    }
    row <- min((page[1] - 3 * pad[1]) / sum(wide), (page[2] - pad[2]) / max(high))
    expect_gte(sum(at$scale^2 * wide * high), 0.999 * sum(row^2 * wide * high))
  }
  at <- gpucor:::arrange_views(wide, high, c(11.4, 6.8), pad) # a page of 12 x 8 inches
  expect_gt(max(at$scale * high) / 6.8, 0.85)
  one <- gpucor:::arrange_views(100, 50, c(4, 4), pad)
  expect_equal(unlist(one[c("scale", "x", "y")]), c(scale = 0.036, x = 2, y = 2))
})

test_that("the outline of a brain is that of the bright voxels of an image", {
  img <- image_with_affine(c(40, 30, 20))
  img[] <- 1
  img[6:35, 6:25, 5:16] <- 100
  places <- gpucor:::bright_places(img)
  expect_identical(nrow(places), 30L * 20L * 12L)
  map <- gpucor:::new_map(places[1:50, ], background = places)
  expect_length(map$outlines, 3)
  for (v in 1:3) {
    view <- map$views[[v]]
    expect_length(map$outlines[[v]], 1)
    for (axis in 1:2) {
      span <- range(map$outlines[[v]][[1]][[c("x", "y")[axis]]]) # of voxels, whose middles are places
      expect_lt(max(abs(span - range(places[, view[axis]]))), 0.1 * diff(span) + 4)
    }
  }
  atlas <- replace(img, img == 1, 0)
  atlas[6:20, 6:25, 5:16] <- 2 # labels are not brighter or darker
  expect_identical(gpucor:::bright_places(atlas), places)
  draw(plot(net, "layout", coords = places[seq(1, 7200, length.out = 11), ], background = img))
  expect_error(draw(plot(net, "layout", coords = places[1:11, ], background = array(1, c(4, 4, 4)))),
               "'background' has no affine")
})

test_that("components of differences have colors of their own", {
  set.seed(3)
  subject <- function(shared) {
    m <- matrix(rnorm(400), 40)
    m[, 1:4] <- m[, 1:4] + shared * rnorm(40)
    m
  }
  found <- gpuCorCompare(lapply(rep(2, 6), subject), lapply(rep(0, 6), subject), threshold = 4, n_perm = 99,
                         components = "size")
  places <- matrix(rnorm(30), 10)
  expect_lte(found@components$table$p.value[1], 0.05)
  expect_true(any(grepl("^component 1 \\(p = 0.0", texts_of(plot(found, "layout", coords = places)))))
  drawn <- gpucor:::drawn_network(found)
  expect_false(is.unsorted(drawn$group == 1))
  expect_identical(drawn$colors[drawn$group == 1][1], gpucor:::group_colors("1"))
})

test_that("bars of weights begin at the threshold, and end with the data", {
  count <- function(values, threshold) {
    breaks <- gpucor:::weight_breaks(values, threshold)
    expect_lt(max(abs(range(breaks) - range(values, sign(values) * 0.7))), 0.2 * diff(range(values, 0.7)) + 2e-3)
    list(breaks = breaks, counts = graphics::hist(values, breaks, plot = FALSE)$counts) # an error if a value has no bar
  }
  several <- list(c(0.7, 0.71, 0.9), c(-0.7, -0.71, -0.95), c(-0.7, 0.7, 0.8, 0.9), seq(0.7, 5, 0.01), c(0.7, 0.7))
  for (values in several) {
    found <- count(values, 0.7)
    expect_identical(sum(found$counts), length(values))
    between <- found$breaks[-1] > -0.69 & found$breaks[-length(found$breaks)] < 0.69
    expect_true(all(found$counts[between] == 0)) # between the thresholds
    expect_lt(diff(range(Filter(function(width) width < 1, diff(found$breaks)))), 2e-3) # bars of the same width
  }
  expect_length(gpucor:::weight_breaks(c(-1, 1), NA_real_), 21)
})

test_that("medians are marked in histograms of stability", {
  stable <- gpuCorNetwork(x, threshold = 0.7, resample = 20)
  expect_true(paste("median", format(stats::median(stable@stability), digits = 3)) %in%
                texts_of(plot(stable, "stability")))
})

test_that("what cannot be seen is refused, with a way out", {
  expect_error(draw(plot(r, "heatmap", max = 5)), "a heat map of 11 variables .* 'max' is 5: raise it, or draw some")
  draw(plot(r, max = 5)) # the histogram alone
  expect_error(draw(plot(r, "heat map")), "'type' must be one of \"auto\", \"histogram\", \"heatmap\"")
  expect_error(draw(plot(gpuCor(x[, 1, drop = FALSE]))), "there is no pair to plot: 'x' has 1 variable$")
  expect_error(draw(plot(overlap, max = 50)), "a heat map of 60 variables")
  expect_error(draw(plot(overlap, tree = stats::hclust(1 - r))), "a tree of the 60 variables of 'x', not of 11")
  expect_error(draw(plot(overlap, tree = quote(z))), "'tree' must be a tree of hclust\\(\\), not of class name")
  expect_error(draw(plot(con, measure = "degre0")), "'measure' must be one of \"degree\"")
  expect_error(draw(plot(gpuConnectivity(x, threshold = 0.5), "histogram")), "gpuConnectivity\\(histogram = TRUE\\)")
  expect_error(draw(plot(gpuConnectivity(x, maps = "mean"), "fit")), "'mean' is negative somewhere.*\"hubs\" shows")
  none <- gpuConnectivity(x[, 0], threshold = 0.5)
  expect_error(draw(plot(none)), "there is no variable to plot")
  expect_silent(summary(none))
  skip_if_not_installed("igraph")
  expect_error(draw(plot(net, "layout", max = 3)), "a layout of [0-9]+ variables with edges .*'max' is 3")
  expect_error(draw(plot(gpuCorNetwork(x, threshold = 1), "layout")), "the network has no edge, and no layout")
})

# ---- where ink is

test_that("a matrix of more cells than are drawn fills its square", {
  for (n in c(40, 700, 1300)) {
    blocks <- matrix(-1, n, n)
    blocks[row(blocks) > n / 2] <- 1
    ink <- pixels_of({
      graphics::par(mar = rep(0, 4))
      graphics::plot.default(c(0.5, n + 0.5), c(n + 0.5, 0.5), ylim = c(n + 0.5, 0.5), type = "n", xaxs = "i",
                             yaxs = "i", axes = FALSE, ann = FALSE)
      gpucor:::draw_cells(blocks, c(-1, 1), c("#0000FF", "#FF0000"))
    }, 100, 100)
    expect_true(all(ink[2:49, 2:99] == "#0000FF") && all(ink[52:99, 2:99] == "#FF0000"), label = paste(n, "cells"))
  }
})

# The widest run of columns of pixels that have one of these colors in at least a tenth of their height: its first
# column and its last one.
widest_ink <- function(pixels, colors) {
  runs <- rle(colMeans(matrix(pixels %in% colors, nrow(pixels))) > 0.1)
  last <- cumsum(runs$lengths)
  widest <- which.max(runs$lengths * runs$values)
  c(last[widest] - runs$lengths[widest] + 1, last[widest])
}

test_that("heat maps of many variables are as wide as those of few", {
  two_groups <- function(n) normal(12, n, 3) + 2 * normal(12, 2, 4)[, rep_len(1:2, n)]
  coefficients <- function(n) widest_ink(pixels_of(plot(gpuCor(two_groups(n)), "heatmap")), gpucor:::diverging())
  overlaps <- function(n) widest_ink(pixels_of(plot(gpuTOM(two_groups(n)))), gpucor:::sequential())
  for (span in list(coefficients, overlaps)) {
    few <- span(120)
    expect_gt(diff(few), 250)
    expect_lte(max(abs(span(900) - few)), 2)
  }
})

test_that("axes of time have their unit", {
  x <- genes[, 1:6]
  xlab <- function(x) grep("center of the window", texts_of(plot(gpuCorWindows(x, 12, step = 3))), value = TRUE)
  expect_identical(xlab(x), "center of the window: observation")
  expect_identical(xlab(stats::ts(x, 1950)), "center of the window: time")
  expect_identical(xlab(structure(x, tr = 0.72)), "center of the window: time (s)")
  img <- image_with_affine(c(5, 4, 3, 20))
  expect_true("time (s)" %in% texts_of(plot(voxelMatrix(img)[-(1:4), ])))
  expect_true("time point" %in% texts_of(plot(voxelMatrix(img)[-3, ])))
  draw({
    plot(voxelMatrix(img))
    expect_equal(graphics::par("usr")[1:2], c(-1, 39))
  })
})

# ---- maps

# Voxels of 3 x 3 x 4 mm in a box, rotated about two axes; values grow to the right, and the highest is at one corner.
rotated_box <- function(size, angles = c(0.4, 0.3)) {
  index <- as.matrix(expand.grid(lapply(size, seq_len))) - 1
  turn <- function(angle, a, b) {
    m <- diag(3)
    m[c(a, b), c(a, b)] <- c(cos(angle), sin(angle), -sin(angle), cos(angle))
    m
  }
  coords <- index %*% diag(c(3, 3, 4)) %*% t(turn(angles[1], 2, 3) %*% turn(angles[2], 1, 2))
  colnames(coords) <- c("x", "y", "z")
  coords
}

connectivity_of <- function(values) {
  structure(list(mean = values, pairs = 1, n_obs = 10L, method = "pearson"),
            class = c("gpuConnectivity", "gpuCorResult"))
}

test_that("a grid is found, however it is rotated, and nothing else is one", {
  voxels_at <- function(grid, place) {
    index <- round(t(solve(grid$steps, t(place) - grid$origin)))
    match(gpucor:::grid_key(grid, index), grid$key, incomparables = NA)
  }
  for (angles in list(c(0, 0), c(0.4, 0.3), c(1.2, -2))) {
    coords <- rotated_box(c(6, 5, 4), angles)[-(1:17), ]
    grid <- gpucor:::grid_of(coords)
    expect_equal(sort(sqrt(colSums(grid$steps^2))), c(3, 3, 4))
    expect_identical(voxels_at(grid, coords + 0.7), seq_len(nrow(coords)))
    expect_identical(voxels_at(grid, coords[1:3, ] + 100), rep(NA_integer_, 3))
  }
  slice <- rotated_box(c(6, 5, 1))
  expect_identical(voxels_at(gpucor:::grid_of(slice), slice), 1:30)
  expect_identical(voxels_at(gpucor:::grid_of(slice[, 1:2]), slice[, 1:2]), 1:30)
  set.seed(8)
  expect_null(gpucor:::grid_of(matrix(rnorm(300), 100)))
  expect_null(gpucor:::grid_of(matrix(sample(200, 300, TRUE), 100))) # whole millimeters
  expect_null(gpucor:::grid_of(cbind(1:9, 0, 0)))
  expect_null(gpucor:::grid_of(cbind(1, 2, 3)))
})

test_that("a map of an oblique image has no gaps between voxels", {
  coords <- rotated_box(c(20, 18, 15))
  values <- seq_len(nrow(coords))
  middle <- order(rowSums(sweep(coords, 2, colMeans(coords))^2))[1]
  values[middle] <- 2 * length(values)
  drawn <- pixels_of(plot(connectivity_of(values), "map", measure = "mean", coords = coords), 900, 400)
  ink <- drawn != "#FFFFFF" & col(drawn) < 780 # without the key
  # In a row of pixels each of three slices is one run, beside lines and letters. Stripes were dozens.
  runs <- apply(ink, 1, function(row) sum(diff(row) == 1))
  expect_lte(max(runs[rowSums(ink) > 200]), 12)
  map <- gpucor:::new_map(coords, values)
  for (view in map$views) {
    inside <- !is.na(gpucor:::slice_of(map, view)$colors)
    expect_true(all(apply(inside, 1, function(row) sum(diff(c(0, row)) == 1)) <= 1))
  }
  # A good part of the page is map: three slices across its width.
  expect_gt(diff(range(which(colSums(ink) > 60))), 550)
  expect_gt(mean(ink), 0.15)
})

test_that("left is on the left, and what is there has the color of its value", {
  coords <- as.matrix(expand.grid(x = -5:5, y = -6:6, z = -4:4))
  values <- ifelse(coords[, 1] < 0, 1, 2)
  values[rowSums(coords^2) == 0] <- 3
  map <- gpucor:::new_map(coords, values)
  expect_identical(unname(map$peak), c(0L, 0L, 0L))
  color <- gpucor:::colors_of(1:3, c(1, 3), map$colors)
  axial <- gpucor:::slice_of(map, 1:2)
  expect_equal(axial$edges, c(-5.5, 5.5, -6.5, 6.5))
  expect_equal(sort(unique(as.vector(axial$colors))), sort(color))
  left <- axial$colors == color[1]
  expect_equal(max(col(axial$colors)[left]) / ncol(axial$colors), 5 / 11)
  # Values of both signs have colors of both, white at 0.
  expect_identical(gpucor:::new_map(coords, values - 2)[c("limits", "colors")],
                   list(limits = c(-1, 1), colors = gpucor:::diverging()))
  # The front is at the top of an axial slice, the top of the head at that of the others.
  values <- coords[, 2] + 10 * coords[, 3]
  map <- gpucor:::new_map(coords, values)
  rows <- function(view) match(gpucor:::slice_of(map, view)$colors[, 1], map$colors)
  for (view in list(1:2, c(1, 3), 2:3)) expect_true(all(diff(rows(view)) <= 0) && diff(range(rows(view))) > 0)
  texts <- texts_of(plot(connectivity_of(values), "map", measure = "mean", coords = coords))
  expect_identical(sort(texts[texts %in% LETTERS]), sort(c("P", "A", "I", "S", "L", "R", "I", "S", "L", "R", "P", "A")))
  expect_true(all(c("x = -5 mm", "y = 6 mm", "z = 4 mm") %in% texts))
  colnames(coords) <- c("UMAP1", "UMAP2", "UMAP3")
  texts <- texts_of(plot(connectivity_of(values), "map", measure = "mean", coords = coords))
  expect_false(any(texts %in% LETTERS))
})

test_that("beside a map of regions their names stand, and no scale-free fit", {
  set.seed(8)
  centers <- matrix(rnorm(180, 0, 30), 60, dimnames = list(NULL, c("x", "y", "z")))
  texts <- texts_of(plot(con, coords = centers))
  expect_true(all(c("Map of hubs", "from the right", "from behind", "from above", "Coefficients") %in% texts))
  expect_false("Scale-free fit" %in% texts)
  best <- names(sort(-con$soft[, 1]))[1:10]
  expect_true(all(best %in% texts))
  centers[3:4, ] <- NA
  expect_true("2 of 60 variables without coordinates" %in% texts_of(plot(con, "map", coords = centers)))
  expect_error(draw(plot(con, coords = centers * NA)), "'coords' has no row without missing values")
  expect_error(draw(plot(con, coords = quote(z))), "'coords' must be a numeric matrix, not z")
})

test_that("names of hubs are whole beside the histogram", {
  regions <- paste0("L_MidTemporal_", 1:60)
  named <- con
  rownames(named$soft) <- regions
  named$degree <- named$strength <- stats::setNames(con$degree, regions)
  expect_true(all(regions[order(-con$soft[, 1])[1:20]] %in% texts_of(plot(named, hubs = 20))))
  # The margin holds them, whatever the size of letters is with several panels.
  draw(gpucor:::draw_page(list(function() {
    graphics::par(mar = c(3.8, gpucor:::names_margin(regions, 2), 3.2, 1))
    graphics::plot.default(1, 1)
    expect_lt(max(graphics::strwidth(regions, "inches", cex = 0.8)), graphics::par("mai")[2])
  }, function() graphics::plot.default(1, 1)), "auto"))
})

# ---- parts

test_that("labels cover neither one another nor a part of a point", {
  draw({
    graphics::plot.default(0:1, 0:1, type = "n")
    set.seed(1)
    at <- list(x = runif(60), y = runif(60))
    radius <- rep(c(0.02, 0.06), 30) # inches
    placed <- gpucor:::place_labels(seq(60, 1), paste0("variable", 60:1), at$x, at$y, radius, 0.6)
    there <- which(!is.na(placed$x))
    expect_gt(length(there), 10)
    wide <- graphics::strwidth(paste0("variable", 60:1), cex = 0.6) / 2
    high <- graphics::strheight("variable", cex = 0.6) / 2
    across <- radius * diff(graphics::par("usr")[1:2]) / graphics::par("pin")[1]
    up <- radius * diff(graphics::par("usr")[3:4]) / graphics::par("pin")[2]
    for (k in there) {
      others <- setdiff(there, k)
      point <- seq(60, 1)[k]
      part <- seq(0, 1, 0.02) # of the line to its point
      line_x <- placed$x[k] + part * (at$x[point] - placed$x[k])
      line_y <- placed$y[k] + part * (at$y[point] - placed$y[k])
      expect_false(any(abs(outer(placed$x[others], line_x, "-")) < wide[others] &
                         abs(outer(placed$y[others], line_y, "-")) < high))
      expect_false(any(abs(placed$x[others] - placed$x[k]) < wide[others] + wide[k] &
                         abs(placed$y[others] - placed$y[k]) < 2 * high))
      expect_false(any(abs(at$x - placed$x[k]) < wide[k] + across & abs(at$y - placed$y[k]) < high + up))
    }
  })
})

test_that("places are spread out as little as is needed, in their order", {
  spread <- gpucor:::spread_out
  expect_equal(spread(c(10, 20, 30), 5, c(0, 100)), c(10, 20, 30))
  expect_equal(spread(c(10, 11, 50), 5, c(0, 100)), c(8, 13, 50)) # by 2 each: the least squares
  expect_equal(spread(c(1, 99), 10, c(0, 100)), c(5, 95))
  set.seed(6)
  for (n in c(1, 5, 20)) {
    found <- spread(sort(runif(n, 0, 100)), 4, c(0, 100))
    expect_true(all(found >= 2 & found <= 98) && all(diff(found) > 4 - 1e-9))
  }
})

test_that("ticks of counts are whole numbers, with 1", {
  ticks <- gpucor:::count_ticks
  expect_identical(ticks(2:3), c(2, 3))
  expect_identical(ticks(c(1, 8)), c(1, 2, 4, 6, 8))
  expect_identical(ticks(c(0.5, 2)), c(1, 2))
  expect_identical(ticks(c(1, 900)), c(1, 10, 100, 1000))
  bar_ticks <- function(counts) {
    texts <- texts_of(gpucor:::draw_bars(c(10, 20, 30), counts, "pairs", list(xaxt = "n")))
    suppressWarnings(as.numeric(texts))
  }
  expect_setequal(bar_ticks(c(1, 3)), c(0, 1, 2, 3, NA))
  expect_setequal(bar_ticks(c(1, 2000)), c(0, 0.5, 1, 1.5, 2, NA)) # thousands
})

test_that("titles that would be cut off are smaller", {
  width_of <- function(text) {
    found <- NA
    draw({
      graphics::plot.default(0:1, 0:1, type = "n", ann = FALSE)
      found <- gpucor:::title_at("xlab", text, 2) * graphics::strwidth(text, "inches")
    }, 2, 2)
    found
  }
  expect_lt(width_of("a title that has more words than there is room for"), 2)
  expect_equal(width_of("short"), local({
    grDevices::pdf(NULL, 2, 2)
    on.exit(grDevices::dev.off())
    graphics::plot.new()
    graphics::strwidth("short", "inches")
  }))
})

test_that("ticks of a logarithmic axis are even", {
  even <- function(values) {
    steps <- diff(log10(gpucor:::log_ticks(values)))
    expect_lt(max(steps) / min(steps), 1.2)
  }
  even(c(0.02, 600)) # was: 0.05, 0.5, 5.0, 50.0, 500.0 or 0.1, 1, 5, 50
  even(c(1e-9, 300))
  even(c(2, 40))
  expect_true(all(diff(gpucor:::log_ticks(c(300, 900))) > 0))
})

test_that("of many values a sample is drawn, of many rows means", {
  places <- gpucor:::drawn_places(1e9, 1000)
  expect_identical(anyDuplicated(places), 0L)
  expect_true(all(places >= 1 & places <= 1e9) && abs(mean(places) - 5e8) < 1e7)
  expect_identical(gpucor:::drawn_places(7), 1:7)
  m <- matrix(c(1, 3, 5, NA), 4, 2)
  expect_equal(unname(gpucor:::reduce_rows(m, 2)), matrix(c(2, 5), 2, 2))
  log_p <- -(1:50000)
  at <- gpucor:::volcano_places(log_p)
  expect_true(all(49001:50000 %in% at) && length(at) < 22000)
})

test_that("a tree is drawn by its merges", {
  tree <- stats::hclust(1 - r, "average")
  draw(draw_page(list(function(...) draw_tree(tree, "height"))))
  expect_identical(gpucor:::order_by_tree(1 - r)$order, tree$order)
})

test_that("pictures have what their objects have", {
  subjects <- lapply(1:8, function(i) normal(40, 10, seed = i))
  net <- gpuCorCompare(subjects[1:4], subjects[5:8], threshold = 1, n_perm = 1, components = "size")
  key <- texts_of(plot(net, "layout"))
  expect_true(any(startsWith(key, "no component has p <= 0.05")))
  expect_false(any(grepl("(p =", key, fixed = TRUE)))
  coherence <- gpuCor(normal(60, 5), method = "coherence")
  expect_true("coherence" %in% texts_of(plot(coherence, "heatmap")))
  expect_false(any(grepl("-1.0", texts_of(plot(coherence)), fixed = TRUE)))
  traits <- data.frame(dose = 1:40, site = factor(rep(1:4, 10)))
  expect_true("Pearson's correlation; multiple R of factors" %in%
                texts_of(plot(gpuAssociation(subjects[[1]], traits), "volcano")))
})
