# gpuReport(): one page of a result.

skip_without_pandoc <- function() {
  skip_if_not_installed("rmarkdown")
  skip_if_not(rmarkdown::pandoc_available(), "pandoc is not installed")
}

x <- as.matrix(mtcars)

# The page as one string. `...`: of gpuReport().
page_of <- function(...) {
  file <- tempfile(fileext = ".html")
  on.exit(unlink(file))
  expect_identical(basename(gpuReport(..., file = file)), basename(file))
  paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
}

count_of <- function(pattern, page) lengths(regmatches(page, gregexpr(pattern, page)))

# The cells of the last table, row by row.
last_table <- function(page) {
  bodies <- regmatches(page, gregexpr("(?s)<tbody>.*?</tbody>", page, perl = TRUE))[[1L]]
  rows <- regmatches(utils::tail(bodies, 1L), gregexpr("(?s)<tr.*?</tr>", utils::tail(bodies, 1L), perl = TRUE))[[1L]]
  do.call(rbind, lapply(rows, function(row) {
    trimws(gsub("<.*?>", "", regmatches(row, gregexpr("(?s)<td.*?</td>", row, perl = TRUE))[[1L]]))
  }))
}

test_that("every kind of result has a page with its call, pictures and tables, and nothing from elsewhere", {
  skip_without_pandoc()
  results <- alist(
    gpuCor(x), gpuCorNetwork(x, density = 0.2), gpuCorTest(x), gpuCorCompare(x[1:16, ], x[17:32, ]),
    gpuAssociation(x[, 1:4], x[, 5:6]), gpuConnectivity(x, power = 2), pickPower(x, 1:4), gpuCorWindows(x, 20, step = 6)
  )
  if (full_tier()) {
    results <- c(results, alist(
      gpuTOM(x), gpuAssociation(x[, 1:4], x[, 5:6], output = "matrix"), gpuGradients(x, fraction = 0.5),
      gpuISC(list(x, x + 1:2, x[32:1, ])), gpuCorCompare(x[1:16, ], x[17:32, ], density = 0.2),
      gpuCorNetwork(x[, 1:4], x[, 5:11], threshold = 0.5),
      gpuCorWindows(x, 20, step = 6, output = "moments"), gpuPreservation(x[1:16, ], x[17:32, ], rep(1:2, c(5, 6)))
    ))
  }
  for (code in results) {
    label <- deparse1(code)
    page <- suppressWarnings(eval(as.call(list(quote(page_of), code))))
    expect_true(grepl(label, gsub("&quot;", "\"", page, fixed = TRUE), fixed = TRUE), label = label)
    expect_gte(count_of("<img src=\"data:image/png;base64,", page), 1L)
    expect_gte(count_of("<table", page), 2L)
    expect_identical(count_of("(src|href)=\"?(https?:)?//|url\\([\"']?http|@import", page), 0L, label = label)
  }
})

test_that("results in a variable show the call that made them", {
  calls <- alist(
    gpuCor(x), gpuCorNetwork(x, density = 0.2), gpuCorTest(x), gpuCorCompare(x[1:16, ], x[17:32, ]),
    gpuCorCompare(x[1:16, ], x[17:32, ], density = 0.2), gpuConnectivity(x, power = 2), gpuISC(list(x, x + 1:2)),
    gpuCorWindows(x, 20, step = 6)
  )
  for (code in calls) expect_identical(gpucor:::call_of(eval(code), quote(result)), deparse1(code))
})

test_that("a page has a picture of each type that plot() draws, and the strongest rows", {
  skip_without_pandoc()
  page <- page_of(gpuCorNetwork(x, density = 0.2), n = 4)
  drawn <- c("degree", "weight", if (requireNamespace("igraph", quietly = TRUE)) "layout") # no resamples, no lags
  captions <- regmatches(page, gregexpr("(?<=<figcaption><code>).*?(?=</code>)", page, perl = TRUE))[[1L]]
  expect_identical(gsub("&quot;", "\"", captions), paste0("plot(result, \"", drawn, "\")"))
  r <- cor(x)
  r[!lower.tri(r)] <- 0
  best <- order(-abs(r))[1:4]
  rows <- last_table(page)
  expect_identical(rows[, 1:2], cbind(colnames(x)[col(r)[best]], colnames(x)[row(r)[best]]))
  expect_equal(as.numeric(rows[, 3]), r[best], tolerance = 1e-3)
  rows <- last_table(page_of(gpuConnectivity(x, power = 1), n = 3)) # a table in the order of the columns
  sums <- sort(rowSums(abs(cor(x))) - 1, decreasing = TRUE)[1:3]
  expect_identical(rows[, 1], names(sums))
})

test_that("names are text, warnings of the call are shown, and arguments of plot() are passed on", {
  skip_without_pandoc()
  odd <- x[, 1:4]
  colnames(odd) <- c("<i>a</i>", "b|*c*", "$d_1$ e_2_", "&amp;")
  expect_identical(sort(unique(as.vector(last_table(page_of(gpuCor(odd)))[, 1:2]))),
                   sort(c("&lt;i&gt;a&lt;/i&gt;", "b|*c*", "$d_1$ e_2_", "&amp;amp;")))
  expect_warning(page <- page_of(gpuCor(cbind(x, none = 1))), "standard deviation is zero")
  expect_true(grepl("Warnings.*the standard deviation is zero", page))
  expect_false(grepl("Warnings", page_of(gpuCor(x))))
  coords <- cbind(x = cos(1:11), y = sin(1:11))
  expect_true(grepl("&quot;map&quot;", page_of(gpuConnectivity(x, threshold = 0.5), coords = coords)))
})

test_that("errors name the argument, and leave no file", {
  skip_without_pandoc()
  folder <- withr::local_tempdir()
  file <- file.path(folder, "a.html")
  expect_error(gpuReport(mtcars, file), "'result' must be a result that has summary.*not of class data.frame",
               class = "gpucor_error_input")
  expect_error(gpuReport(gpuCor(x), file, nonsense = 1), "unused argument 'nonsense'")
  expect_error(gpuReport(gpuConnectivity(x, threshold = 0.5), file, coords = x), "'coords' must be")
  expect_error(gpuReport(gpuCor(x), file, n = 0), "'n' must be")
  with_values(list(has_pandoc = function() FALSE), {
    expect_error(gpuReport(gpuCor(x), file), "needs pandoc, which is not found; install it")
  })
  expect_identical(dir(folder, all.files = TRUE, no.. = TRUE), character())
  writeLines("mine", file)
  expect_error(gpuReport(gpuCor(x), file), "which exists", class = "gpucor_error_file")
  expect_identical(readLines(file), "mine")
})

test_that("the session is as it was", {
  skip_without_pandoc()
  set.seed(1)
  before <- list(.Random.seed, grDevices::dev.list(), getwd(), knitr::opts_chunk$get())
  page_of(gpuCorNetwork(x, density = 0.2))
  expect_identical(list(.Random.seed, grDevices::dev.list(), getwd(), knitr::opts_chunk$get()), before)
})
