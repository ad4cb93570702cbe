#' Correlation of all pairs of columns
#'
#' The coefficient of every pair of columns of `x`, or of every column of `x`
#' with every column of `y`: what [stats::cor()] computes, on a GPU or on all
#' cores of the processor.
#'
#' Missing values: `use` means what it means in [stats::cor()], for every
#' method. `"everything"`: a pair with a missing value is `NA`. `"all.obs"`: a
#' missing value is an error. `"complete.obs"`: only rows without any missing
#' value count, and it is an error if there are none; `"na.or.complete"`: then
#' all is `NA`. `"pairwise.complete.obs"`: each pair is computed from the rows
#' that both columns have; for Spearman and Kendall they are ranked within these
#' rows.
#'
#' Ties are decided on the values as they are in R. Spearman uses average ranks,
#' Kendall is tau-b. A constant column has the coefficient `NA` with every other
#' one, with a warning.
#'
#' Accuracy: Kendall's numerator and denominator are exact integers; Pearson and
#' Spearman are within 1e-6 of double precision, and with `precision = "double"` within 1e-13 of [stats::cor()]. In
#' `"single"` precision columns are centred, scaled and
#' ranked in double and then rounded to single precision, which leaves the ranks
#' of up to 1,183 observations exact. Products of twelve observations are summed in
#' single precision, these sums in double, and the coefficient is rounded to single
#' precision: to the same bits on a processor and on a GPU. In `"double"` columns, products and coefficients are in
#' double, to the same bits on every back end; they take twice the memory, and on a processor two to
#' three times as long; a GPU has no tensor cores in use then, and some have little double precision. Pairwise
#' ones are throughout in double, and Kendall's are exact, whatever `precision` says.
#'
#' Memory: the coefficients of more than 8,000 pairs take 4 bytes each, but for those in `"double"` precision, as long
#' as nobody needs all of them as R's doubles. Elements, `r[i, j]`, `summary()`,
#' [gpuCorTest()], `as.matrix()`, `min()`, `sum()` and `1 - r` read them as they are;
#' what needs a vector of doubles, such as other arithmetic or [stats::hclust()],
#' gets one, made once by all threads, in their place. Nothing else is different: a
#' copy, or what `saveRDS()` writes, is like that of any vector. The memory is not
#' R's own, and some of it stays for the next result when nobody has these
#' coefficients any more: see option `gpucor.keep` in [gpucor-package].
#'
#' Before it computes anything, every function compares the memory that its result takes with the memory that is free.
#' A result that does not fit is an error at once: see the section Errors.
#'
#' @param x A numeric, integer or logical matrix or data frame, observations in
#'   rows and variables in columns; or a vector, with `y`. A sparse matrix of
#'   package Matrix is taken too and made dense by blocks of columns. Data larger than memory: a file
#'   ([gpuCorFile()]), a `DelayedMatrix` or a `big.matrix`, which are read by blocks of columns. Of a
#'   `SummarizedExperiment`, `ExpressionSet` or Seurat object the genes, in its rows, are the variables, see
#'   [gpucor-containers].
#'   Many subjects' data: a list of these, or a function, see [subjects].
#' @param y `NULL`, or a second matrix, data frame or vector with as many rows, or another of these.
#' @param use What to do with missing values, see the Details of [gpuCor()]. May be abbreviated.
#' @param method `"pearson"`, `"kendall"`, `"spearman"`, `"bicor"` (biweight midcorrelation) or `"cosine"`: see
#'   [gpucor-measures]. May be abbreviated.
#' @param output `"dist"`: an object of class `gpuCor`, which holds each pair
#'   once; `"matrix"`: the matrix that `cor()` gives. With `y` a matrix, too. `"list"`: the list of matrices
#'   `coefficients`, `pairs` and `ts` that package gputools returns; option `gpucor.output` makes it the default: see
#'   [coming-from].
#' @param precision `"single"` or `"double"`, see the Details of [gpuCor()]. May be abbreviated.
#' @param test `TRUE`: the tests of [gpuCorTest()] are found, too: `r$ts`, `r$p.value` and `r$pairs` of any measure and
#'   `use`, three matrices that are kept with the coefficients. With `y` or `output = "matrix"` the result is the list
#'   of `output = "list"` with `p.value`.
#'
#' @param weights A numeric vector, one weight for each observation; 0 leaves an observation out. See [gpucor-measures].
#' @param weights_are `"importance"`, `"precision"` or `"frequency"`: what weights mean for p values.
#' @param covariates Nuisance regressors: a numeric matrix or data frame with a row for each observation, or a formula.
#'   Every column is replaced by its residuals from a regression on these.
#' @param data A data frame: where the variables of a formula in `covariates` are looked for first.
#' @param bandpass Two numbers: the lowest and the highest frequency in Hz that are kept.
#' @param tr A number: seconds between two observations. Default: that of the image that `x` was made of.
#' @param df A number, or `"bartlett"`: the degrees of freedom of tests. They change p values only.
#' @param options A named list of options of the measure, such as `list(maxPOutliers = 0.05)` of `"bicor"`.
#' @param assay A string or number: the assay of an experiment, see [gpucor-containers].
#' @param combine,subjects,subject_weights,probs,na.rm How many subjects' coefficients are combined, see [subjects].
#' @param ... Settings of the run, passed to [gpuControl()]: `backend`, `threads`, `devices`, `memory`, `progress`,
#'   `keep`.
#' @param control The same settings as one object, the result of [gpuControl()].
#'
#' @return With `y = NULL` and `output = "dist"` an object of class
#'   [gpuCor][gpuCor-class], a `dist`: the `N (N - 1) / 2` coefficients of N columns in the
#'   order of [stats::dist()], with attributes `Size`, `Labels`, `method`,
#'   `n_obs` and `call`, `diagonal` where not every column has the coefficient
#'   1 with itself, and `adjusted` where covariates, weights, options or subjects changed the
#'   coefficients (the header prints it). `as.matrix()` gives the N x N matrix, `r[i, j]` picks by number
#'   or name, and arithmetic such as `1 - r` gives a plain `dist`, ready for
#'   [stats::hclust()]. Otherwise a matrix,
#'   `ncol(x)` x `ncol(x)` or `ncol(x)` x `ncol(y)`; of two vectors a number.
#'
#' @section Errors: as [stats::cor()] has them: `x` not numeric, different
#'   numbers of rows, missing values where `use` forbids them. A result that is larger than the free memory: the error
#'   says how much the result takes, how much is free, and which function does without all pairs, such as
#'   [gpuCorNetwork()]. Free memory is what the system has without swapping, or less where a control group (of a
#'   container or a batch system) or `ulimit -v` allows less. When memory runs out later, on the GPU or elsewhere, the
#'   error says how much was wanted and what to do. After an error everything is freed. Ctrl-C stops the work at any
#'   time.
#'
#' @section Warnings: a constant column; infinite values, such as `log2(0)`, which leave no coefficient unless values
#'   are ranked; other names of observations in `y` than in `x` (see [gpucor-measures]). And data
#'   that look transposed: at least 1,000 rows, ten times as many as columns, whose rows have names (other than numbers,
#'   dates or samples) or whose columns are almost the same, as samples of genes or volumes of an image are; or columns
#'   that have barcodes of cells as names. If columns are meant, `options(gpucor.orientation = "columns")` ends this
#'   warning.
#'
#' @references
#' Eslami T, Saeed F (2018). Fast-GPU-PCC: a GPU-based technique to compute
#' pairwise Pearson's correlation coefficients for time series data.
#' *High-Throughput* 7(2), 11.
#'
#' Kendall MG (1945). The treatment of ties in ranking problems. *Biometrika*
#' 33, 239-251.
#'
#' @seealso [gpuCorTriangle()], [gpuDist()], [gpuCorTest()]
#' @examples
#' x <- as.matrix(mtcars)
#' r <- gpuCor(x, method = "kendall")
#' r
#' r["mpg", "wt"]
#' r["mpg", c("cyl", "hp")]
#' all.equal(as.matrix(r), cor(x, method = "kendall"))
#' plot(hclust(1 - r, method = "average"))
#'
#' gpuCor(x[, 1:3], x[, 4:7], method = "spearman")
#' @export
gpuCor <- function(x, y = NULL, method = c("pearson", "kendall", "spearman", "bicor", "cosine"), use = "everything",
                   output = c("dist", "matrix", "list"), test = FALSE, precision = c("single", "double"),
                   weights = NULL, weights_are = NULL, covariates = NULL, data = NULL, bandpass = NULL, tr = NULL,
                   df = NULL, options = NULL, assay = NULL, combine = NULL, subjects = NULL, subject_weights = NULL,
                   probs = NULL, na.rm = NULL, ..., control = gpuControl(...)) {
  check_control(control, missing(control), ...names())
  output <- check_output(output)
  test <- check_flag(test, "test")
  if (test || output == "list") {
    given <- c(list(x, y, method, use, precision = precision, assay = assay, control = control), mget(ADJUSTMENT))
    return(cor_with_tests(given, output, test, sys.call()))
  }
  method <- check_method(method)
  use <- check_use(use)
  settings <- new_settings(control, mget(ADJUSTMENT), precision, mget(setdiff(COMBINATION, "effects")), assay = assay)
  input <- check_data(x, y, use, method, settings)
  if (length(settings$asked)) settings <- designed_input(settings, input, method, use)
  check_coefficients_memory(input, method, use, output, settings)
  all_coefficients(input, method, use, output, settings, call_of(sys.call(), settings))
}

# The option is for code that expects what gputools' function of this name returns.
check_output <- function(output) {
  kinds <- c("dist", "matrix", "list")
  is_default <- identical(output, kinds)
  if (is_default) output <- getOption("gpucor.output", "dist")
  check_choice(output, kinds, "output", output_way_out(output, is_default)) # which is made where it is wanted
}

output_way_out <- function(output, is_default) {
  if (is_default) return(where_from("output", NULL, "\"dist\""))
  if (is.character(output) && length(output) == 1L && output %in% precisions) {
    paste0("; for the precision write precision = \"", output, "\"")
  }
}

# What gpuCor() returns where tests are asked for, or the list. given: arguments, x and y first; call: of the user.
cor_with_tests <- function(given, output, test, call) {
  found <- do.call(gpuCorTest, c(given, list(output = "matrix")), quote = TRUE)
  if (output != "dist" || !is.null(given[[2L]])) return(listed_matrices(found, test))
  r <- suppressWarnings(do.call(gpuCor, given, quote = TRUE)) # gpuCorTest() has given them
  attr(r, "tests") <- listed_matrices(found, TRUE)[-1L]
  attr(r, "call") <- call
  r
}

# The list of matrices that gputools' gpuCor() returns. found: of gpuCorTest().
listed_matrices <- function(found, test) {
  parts <- lapply(unclass(found)[c("r", "n", "statistic", "p.value")], as.matrix)
  names(parts) <- c("coefficients", "pairs", "ts", "p.value")
  if (test) parts else parts[c("coefficients", "pairs", "ts")]
}
