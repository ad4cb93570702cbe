#' Correlation of all pairs of columns
#'
#' `gpuCor()` computes what [stats::cor()] computes, on a GPU or on all cores of the processor: the correlation of every
#' pair of columns of `x`, or of every column of `x` with every column of `y`. If all coefficients do not fit in memory,
#' use [gpuCorNetwork()] or [gpuConnectivity()]; for p values [gpuCorTest()], for a plain vector [gpuCorTriangle()].
#'
#' **Missing values.** `use` means the same as in [stats::cor()], for every method:
#'
#' * `"everything"`: a pair with a missing value is `NA`.
#' * `"all.obs"`: a missing value is an error.
#' * `"complete.obs"`: rows with a missing value are dropped; an error if no row is left.
#' * `"na.or.complete"`: the same, but all coefficients are `NA` if no row is left.
#' * `"pairwise.complete.obs"`: each pair is computed from, and ranked within, the rows that both columns have.
#'
#' **Ties.** Spearman's rho uses average ranks, and Kendall's tau is tau-b. Those of a constant column are `NA`, with a
#' warning.
#'
#' **Accuracy.** Pearson and Spearman are within 1e-6 of double precision, and with `precision = "double"` within 1e-13
#' of [stats::cor()]. Double precision takes twice the memory and, on a processor, two to three times as long; on a GPU
#' it does not use tensor cores. Kendall and pairwise-complete coefficients are always computed in full precision. The
#' bits of a coefficient do not depend on the back end.
#'
#' **Memory.** A result of more than 8,000 pairs takes 4 bytes a pair, or 8 in double precision. `r[i, j]`, `summary()`,
#' [gpuCorTest()], `as.matrix()`, `min()`, `sum()` and `1 - r` read it as it is. Functions that need a vector of
#' doubles, such as [stats::hclust()], convert it once, to 8 bytes a pair.
#'
#' @param x A numeric, integer or logical matrix or data frame, observations in rows and variables in columns; or a
#'   vector, with `y`. Also a sparse matrix of package Matrix, data larger than memory ([gpuCorFile()]), experiments,
#'   whose genes are the variables ([gpucor-containers]), and lists of many subjects' data ([subjects]).
#' @param method,use Strings: the measure, `r measures_in_words()`, see [gpucor-measures]; what to do with missing
#'   values, see [gpuCor()]. May be abbreviated.
#' @param y `NULL`, or data like `x` with as many rows.
#' @param output A string: `"dist"` for an object of class [gpuCor][gpuCor-class], which has each pair once; `"matrix"`
#'   for the matrix that `cor()` returns, which is also the result with `y`; `"list"` for the list of matrices
#'   `coefficients`, `pairs` and `ts` of package gputools ([coming-from]).
#' @param lag `NULL`, or integers such as `-10:10`: find for each pair the coefficient of largest size over these lags.
#' @param min_overlap An integer of at least 3: with `lag`, the min number of rows that must overlap. A lag that leaves
#'   fewer is an error, as few rows have large coefficients by chance. Default: 10, or half of the rows if less.
#' @param test `TRUE` adds the tests of [gpuCorTest()], as the N x N matrices `r$ts`, `r$p.value` and `r$pairs`. With
#'   `y` or `output = "matrix"` the result is the list of `output = "list"` with `p.value`.
#' @param ...,adjustment,subjects,control `r offered_words("gpuCor")`
#'
#' @return With `y = NULL` and `output = "dist"`: an object of class [gpuCor][gpuCor-class], which is a `dist` of the
#'   `N (N - 1) / 2` coefficients. Its attributes include `Size`, `Labels`, `method`, `n_obs` and `call`, and with `lag`
#'   the lags, which are a column of `as.data.frame()`. Otherwise: a matrix, `ncol(x)` x `ncol(x)` or `ncol(x)` x
#'   `ncol(y)`; for two vectors a number.
#'
#' @section Lags:
#' `lag` is for time series with equally spaced rows. The coefficient of a pair at lag l is that of row t of the column
#' of `x` and row t + l of the column of `y`: with a positive lag, `y` follows `x`. The `n - abs(l)` rows that overlap
#' are used, and centered and scaled (or ranked) anew, so that the coefficient equals that of
#' `gpuCor(x[1:(n - l), ], y[(1 + l):n, ])`. (The autocovariances of [stats::ccf()] are divided by those of all rows
#' instead.) With `runs`, both rows are of one run.
#'
#' The result is the coefficient of largest size, with its sign, and has the lags as attribute `lag`, in the same shape.
#' Of equal coefficients the one with the lag nearest to zero is taken, and of two opposite lags the positive one. For
#' `"distance"` and `"mi"` the largest coefficient is taken.
#'
#' Without `y` the lags must be symmetric, as in `-10:10`. A pair's lag says by how many rows the second column follows
#' the first. In the order of [stats::dist()] that is the later column; `output = "matrix"` has both.
#'
#' A lag at which a pair has no coefficient is skipped. `covariates` and `bandpass` are regressed out once, over all
#' rows (not for ranks); rows with a weight of 0 are left out from both sides. There are no tests, because the largest
#' of several coefficients is larger than one by chance.
#'
#' @section Errors and warnings: What does not go together is an error ([gpucor-together]), and so is a matrix of
#'   coefficients in the place of data without `method = "given"`. A result that does not fit in free memory, within the
#'   limits of a container, a batch system or `ulimit -v`, is an error at once. Ctrl-C stops the computation.
#'
#'   Warnings: constant columns; infinite values, such as `log2(0)`, which have no coefficient unless they are ranked;
#'   data that look transposed, such as genes in rows, see [gpucor-package] for how to turn it off.
#'
#' @examples
#' x <- as.matrix(mtcars)
#' r <- gpuCor(x, method = "kendall")
#' sort(r["mpg", ], decreasing = TRUE) # all partners of one column
#' all.equal(as.matrix(r), cor(x, method = "kendall"))
#' plot(hclust(1 - r, method = "average"))
#'
#' gpuCor(x[, 1:3], x[, 4:7], method = "spearman")
#'
#' series <- cbind(a = sin(1:100 / 5), b = sin((1:100 - 4) / 5)) + matrix(rnorm(200, sd = 0.1), 100)
#' r <- gpuCor(series, lag = -10:10)
#' as.data.frame(r) # b follows a by 4 rows
#' @export
gpuCor <- function(x, y = NULL, method = "pearson", use = "everything", lag = NULL, min_overlap = NULL,
                   output = c("dist", "matrix", "list"), test = FALSE, ...,
                   adjustment = NULL, subjects = NULL, control = NULL) {
  specs <- specs_of("gpuCor", ...)
  kinds <- c("dist", "matrix", "list")
  is_default <- identical(output, kinds)
  if (is_default) output <- getOption("gpucor.output", "dist") # for code that expects the list of gputools' gpuCor()
  output <- check_choice(output, kinds, "output", if (is_default) { # evaluated only in an error
    where_from("output", NULL, "\"dist\"")
  } else if (is.character(output) && length(output) == 1L && output %in% precisions) {
    paste0("; for the precision write precision = \"", output, "\"")
  })
  test <- check_flag(test, "test")
  found <- features_of("gpuCor", specs, environment(), `list of subjects` = is_subjects(x))
  call <- sys.call()
  run <- function() { # nolint: object_usage_linter. COR_RESULTS calls it.
    new_run(found, specs, x, y, method, use, takes = "subjects", call = call)
  }
  what <- if (test || output == "list") "tests" else if (is.null(lag)) "pairs" else "lag"
  COR_RESULTS[[what]](environment())
}

# What gpuCor() returns. `of`: its arguments, and run(), which makes the run.
COR_RESULTS <- list(
  pairs = function(of) {
    run <- of$run()
    check_coefficients_memory(run, of$output)
    all_coefficients(run, of$output)
  },
  lag = function(of) lagged_coefficients(of$run(), of$lag, of$min_overlap, of$output),
  tests = function(of) { # gpuCorTest() makes a run of its own
    given <- c(list(of$x, of$y, of$method, of$use), of$specs[c("adjustment", "control")])
    found <- do.call(gpuCorTest, c(given, list(output = "matrix")), quote = TRUE)
    parts <- lapply(unclass(found)[c("r", "n", "statistic", "p.value")], as.matrix)
    names(parts) <- c("coefficients", "pairs", "ts", "p.value") # as in the list of gputools' gpuCor()
    if (of$output != "dist" || !is.null(of$y)) return(if (of$test) parts else parts[c("coefficients", "pairs", "ts")])
    given$adjustment$df <- NULL # only tests take it
    r <- repeated(do.call(gpuCor, given, quote = TRUE)) # gpuCorTest() has already warned
    attr(r, "tests") <- parts[-1L]
    attr(r, "call") <- of$call
    r
  }
)
