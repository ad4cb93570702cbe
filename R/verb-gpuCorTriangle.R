#' All coefficients as a plain vector, in either order
#'
#' `gpuCorTriangle()` returns the coefficients of [gpuCor()] as a vector without attributes. `triangleIndex()` and
#' `trianglePosition()` convert between positions in this vector and pairs of columns.
#'
#' With `order = "row"` the pairs are 1-2, 1-3, ..., 1-N, 2-3, ..., as in [stats::dist()]. With `order = "column"` they
#' are 1-2, 1-3, 2-3, 1-4, 2-4, 3-4, ..., so that further columns of `x` only append pairs.
#'
#' Positions are exact integers for n up to 2^31. Positions above 2^53 (n above 134 million) are returned as
#' `integer64` of package bit64, and `k` may have this class.
#'
#' @inheritParams gpuCor
#' @inheritParams gpuControl
#' @param x As in [gpuCor()].
#' @param order A string: `"row"` or `"column"`. May be abbreviated.
#' @param ...,adjustment,control `r offered_words("gpuCorTriangle")`
#' @return `gpuCorTriangle()`: a numeric vector of N (N - 1) / 2 coefficients. `triangleIndex()`: a matrix with a row
#'   for each position and columns `i` < `j`. `trianglePosition()`: a vector of positions.
#' @examples
#' x <- as.matrix(mtcars)
#' r <- gpuCorTriangle(x, method = "spearman", order = "column")
#' strongest <- which.max(abs(r))
#' colnames(x)[triangleIndex(strongest, ncol(x), "column")]
#' r[trianglePosition(1, 2:5, ncol(x), "column")]
#' @export
gpuCorTriangle <- function(x, method = "pearson", use = "everything", order = c("row", "column"),
                           precision = c("single", "double"), ..., adjustment = NULL, control = NULL) {
  specs <- specs_of("gpuCorTriangle", ...)
  order <- check_choice(order, c("row", "column"), "order")
  check_matrix_like(x, COLUMNS)
  run <- new_run(NULL, specs, x, NULL, method, use, precision = precision)
  check_run_memory(run, order, "gpuCorTriangle()", WITHOUT_ALL_PAIRS)
  values_of_pairs(run, order)
}

#' @rdname gpuCorTriangle
#' @param k,n Positions from 1 to `n (n - 1) / 2`, a numeric or `integer64` vector; how many variables, 2 to 2^31.
#' @export
triangleIndex <- function(k, n, order = c("row", "column")) {
  order <- check_choice(order, c("row", "column"), "order")
  n <- check_whole(n, "n", 2, 2^31)
  if (!inherits(k, "integer64") || !is.double(k)) {
    k <- whole_numbers(k, "k", 1, min(pairs_of(n), 2^53),
                       if (pairs_of(n) > 2^53) "; beyond, give it as integer64 of package bit64")
  }
  pairs <- .Call(r_triangle_index, k, n, order == "column")
  colnames(pairs) <- c("i", "j")
  pairs
}

#' @rdname gpuCorTriangle
#' @param i,j Numeric vectors: variables from 1 to `n`, not equal. The shorter vector is recycled.
#' @export
trianglePosition <- function(i, j, n, order = c("row", "column")) {
  order <- check_choice(order, c("row", "column"), "order")
  n <- check_whole(n, "n", 2, 2^31)
  i <- whole_numbers(i, "i", 1, n)
  j <- whole_numbers(j, "j", 1, n)
  if (!length(i) || !length(j)) return(numeric())
  if (max(length(i), length(j)) %% min(length(i), length(j)) != 0) {
    fail("'i' has ", n_of(length(i), "value"), " and 'j' has ", length(j), "; give as many of both, or one for all")
  }
  i <- rep_len(i, max(length(i), length(j)))
  j <- rep_len(j, length(i))
  same <- which(i == j)
  if (length(same)) {
    fail("'i' and 'j' are both ", format(i[same[1L]]), " at element ", same[1L],
         "; a triangle has no pair of a variable with itself")
  }
  .Call(r_triangle_position, i, j, n, order == "column")
}

whole_numbers <- function(value, name, min, max, hint = "") {
  value <- as.double(check_type(value, name, is_numeric(value), "numeric"))
  bad <- which(is.na(value) | value != floor(value) | value < min | value > max)
  if (length(bad)) {
    fail("'", name, "' is ", format(value[bad[1L]], digits = 17), " at element ", bad[1L],
         "; it must be a whole number from ", min, " to ", format(max, scientific = FALSE), hint)
  }
  value
}
