# Pictures: their style, and matrices that are ordered, grouped and marked.

x <- as.matrix(mtcars)
r <- gpuCor(x)
kinds <- rep(c("size", "power", "gears"), c(4, 4, 3))

# Positions of texts on a page, the first of each.
places_of <- function(code, texts) {
  file <- withr::local_tempfile(fileext = ".pdf")
  grDevices::pdf(file, 7, 7, compress = FALSE, useKerning = FALSE)
  tryCatch(code, finally = grDevices::dev.off())
  lines <- readLines(file, warn = FALSE)
  found <- vapply(texts, function(text) {
    line <- grep(paste0("(", text, ") Tj"), lines, fixed = TRUE, useBytes = TRUE, value = TRUE)[1L]
    as.numeric(strsplit(sub(".* Tf (.*) Tm .*", "\\1", line), " ")[[1L]])[c(1, 5, 6)]
  }, numeric(3))
  data.frame(size = found[1, ], x = found[2, ], y = found[3, ])
}

test_that("every picture takes a size of text, a palette and a size, and leaves the style as it was", {
  small <- places_of(plot(r, "histogram"), "55 pairs")
  large <- places_of(plot(r, "histogram", text = 1.5), "55 pairs")
  expect_equal(large$size, 1.5 * small$size, tolerance = 0.05) # of whole points
  expect_true("#00FF00" %in% pixels_of(plot(r, "heatmap", palette = c("#0000FF", "#FFFFFF", "#00FF00"))))
  expect_false("#00FF00" %in% pixels_of(plot(r, "heatmap")))
  expect_identical(diverging(), hcl.colors(101, "Blue-Red 3"))
  expect_error(plot(r, palette = "jet"), "'palette' must be the name of one of hcl.pals")
  expect_error(plot(r, palette = c("red", "blurple", "blue")), "three colors or more")
  expect_error(plot(r, text = 5), "'text' = 5 is too large for a device of")
  expect_silent(plot(r)) # and the device is as it was
  expect_error(plot(r, ordr = 1), "unused argument 'ordr'")
  expect_error(plot(r, text = 0), "'text' must be a number between 0.1 and 10")
  expect_error(plot(r, palette = "Tropic", size = 7), "'size' must be width and height in inches")
  expect_identical(diverging(), hcl.colors(101, "Blue-Red 3")) # after an error, too
  withr::local_options(device = function(width, height) grDevices::pdf(NULL, width, height))
  plot(r, "heatmap", size = c(6, 3))
  expect_equal(grDevices::dev.size(), c(6, 3))
  grDevices::dev.off()
})

test_that("graphical parameters work in every picture, or are refused", {
  net <- gpuCorNetwork(x, density = 0.5)
  places <- matrix(seq_len(33), 11, dimnames = list(colnames(x), c("x", "y", "z")))
  map <- function(...) plot(gpuConnectivity(x, power = 2), "map", coords = places, ...)
  pictures <- list(function(...) plot(r, "histogram", ...), function(...) plot(r, "heatmap", ...),
                   function(...) plot(net, "layout", coords = places, ...), map)
  for (draw in pictures) {
    expect_true("#FF8800" %in% pixels_of(draw(main = "Title", col.main = "#FF8800", cex.main = 3)))
    expect_no_error(pixels_of(draw(main = NULL, axes = FALSE, asp = 1, ylim = c(0, 30))))
    expect_error(draw(col = "red"), "unused argument 'col'")
    expect_error(draw(ann = FALSE), "unused argument 'ann'")
  }
  expect_equal(graphics::par("col.main"), "black")
  grDevices::dev.off()
})

test_that("a panel takes part in a page of layout()", {
  grDevices::pdf(NULL)
  on.exit(grDevices::dev.off())
  graphics::layout(matrix(1:2, 1))
  plot(r, "heatmap")
  plot(r, "histogram", text = 2)
  expect_equal(graphics::par("fig")[1:2], c(0.5, 1))
  expect_equal(graphics::par("cex"), 1)
})

test_that("heat maps are ordered by groups, and within them by a tree", {
  of_first <- colnames(x)[kinds == "size"]
  at <- places_of(plot(r, groups = factor(kinds, c("size", "power", "gears"))), c(colnames(x), unique(kinds)))
  expect_lt(max(at[of_first, "x"]), min(at[colnames(x)[kinds != "size"], "x"]))
  expect_true(all(diff(at[c("size", "power", "gears"), "y"]) < 0)) # in the key
  # By name, in another order; modules' own colors.
  by_name <- rev(stats::setNames(kinds, colnames(x)))
  expect_equal(places_of(plot(r, groups = by_name), colnames(x)), places_of(plot(r, groups = kinds), colnames(x)))
  expect_true("#FFA500" %in% pixels_of(plot(r, groups = ifelse(kinds == "size", "orange", "grey"))))
  expect_equal(order(places_of(plot(r, order = "given"), colnames(x))$x), 1:11)
  expect_equal(order(places_of(plot(r, order = rev(colnames(x))), colnames(x))$x), 11:1)
  expect_equal(ordered_by(as.dist(1 - cor(x)), "tree", kinds)$order, hclust(as.dist(1 - cor(x)), "average")$order)
  expect_error(plot(r, groups = 1:3), "or a vector with a value for each of the 11 variables, not 3 values")
  expect_error(plot(r, order = c(1:10, 1)), "all 11 variables by number or name")
  expect_error(plot(r, order = "size"), "'order' must be one of")
  expect_error(plot(r, order = c(colnames(x)[-1], "zz")), "'order' has 'zz', which is no variable")
  expect_error(plot(r, groups = stats::setNames(kinds, letters[1:11])),
               "the names of 'groups' lack 'mpg' and 10 others")
})

test_that("names of groups are beside their rows, if these have none, or else in a key", {
  many <- gpuCor(normal(20, 120, 3))
  sizes <- c(50, 2, 2, 2, 40, 24)
  groups <- rep(paste("group", 1:6), sizes)
  at <- places_of(plot(many, groups = groups), unique(groups))
  expect_true(all(diff(at$y) < -9)) # points, from the top; of letters 8 high
  middle <- (cumsum(sizes) - sizes / 2) / 120
  fraction <- (at$y[1] - at$y) / (at$y[1] - at$y[6]) # from the first name to the last
  expect_lt(max(abs(fraction - (middle - middle[1]) / (middle[6] - middle[1]))), 0.06)
  expect_lt(max(at$x), 100)
  expect_true(all(diff(places_of(plot(many, groups = groups, order = 120:1), unique(groups))$y) > 9))
  mixed <- places_of(plot(many, groups = rep_len(unique(groups), 120), order = "given"), unique(groups))
  expect_gt(min(mixed$x), 400)
})

test_that("a heat map has limits that span the data, and a second matrix above its diagonal", {
  alike <- gpuCor(t(x))
  ticks_of <- function(...) as.numeric(grep("^ *[-0-9.]+$", texts_of(plot(...)), value = TRUE))
  expect_gt(min(alike), 0.5)
  expect_gt(min(ticks_of(alike, "heatmap")), 0.5)
  expect_equal(range(ticks_of(r, "heatmap")), c(-1, 1))
  expect_equal(range(ticks_of(r, zlim = c(-0.2, 0.2))), c(-0.2, 0.2))
  expect_error(plot(r, zlim = c(1, 0)), "'zlim' must be two numbers, the smaller one first")
  zero <- gpuCor(normal(2000, 11, 3))
  attr(zero, "Labels") <- attr(r, "Labels")
  colors <- pixels_of(plot(r, order = "given", upper = zero))
  is_dark <- colors %in% diverging()[c(1:15, 87:101)]
  expect_gt(sum(is_dark[lower.tri(colors)]), 5 * sum(is_dark[upper.tri(colors)]))
  expect_error(plot(r, upper = alike), "'upper' must be of the same variables as 'x', in the same order")
  expect_error(plot(r, upper = x), "'upper' must be coefficients of the same variables")
  one <- gpuCor(cbind(a = 1:9, b = 2 * 1:9, c = 3 * 1:9))
  expect_equal(range(ticks_of(one, "heatmap")), c(0.95, 1))
})

test_that("rows of colors are below the tree of modules, and factors of several levels have no sign", {
  tree <- hclust(dist(1:24), "average")
  m <- structure(list(tree = tree, genes = stats::setNames(rep(TRUE, 24), paste0("g", 1:24)),
                      colors = stats::setNames(rep(c("turquoise", "blue", "grey"), c(12, 9, 3)), paste0("g", 1:24)),
                      labels = stats::setNames(rep(c(1L, 2L, 0L), c(12, 9, 3)), paste0("g", 1:24))),
                 class = "gpuModules")
  rows <- list(red = rep(c("red", "green"), 12), signed = seq(-1, 1, length.out = 24))
  expect_true(all(c("module", "red", "signed") %in% texts_of(plot(m, colors = rows))))
  expect_true(all(c("#FF0000", "#00FF00", diverging()[c(1, 101)]) %in% pixels_of(plot(m, colors = rows), 600, 600)))
  expect_true("row 2" %in% texts_of(plot(m, colors = m)))
  expect_error(plot(m, colors = 1:3), "'colors' must be a value for each of the 24 genes, not 3 values")
  traits <- data.frame(cyl = factor(mtcars$cyl), wt = mtcars$wt)
  found <- gpuAssociation(x[, c("mpg", "hp")], traits, output = "matrix")
  grays <- hcl.colors(51, "Grays", rev = TRUE)
  expect_true(grays[1 + round(50 * found$r["hp", "cyl"])] %in% pixels_of(plot(found, "heatmap")))
  expect_true("R" %in% texts_of(plot(found, "heatmap")))
})
