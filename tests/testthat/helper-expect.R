# Expectations that hold are met without testthat's comparison, which takes a millisecond even of what is identical, a
# fifth of the time of all tests. For what does not hold testthat's own say how it differs.

told <- function(value) {
  expect(TRUE, "")
  invisible(value)
}

# Whether all numbers are within half of the tolerance, each by itself: testthat compares means.
all_near <- function(x, y, tolerance) {
  is.double(x) && is.double(y) && length(x) == length(y) && identical(attributes(x), attributes(y)) &&
    length(tolerance) == 1 && isTRUE(all(abs(as.vector(x) - as.vector(y)) <= tolerance / 2 * abs(as.vector(y))))
}

expect_identical <- function(object, expected, ..., label = deparse1(substitute(object))) {
  if (identical(object, expected)) return(told(object))
  testthat::expect_identical(object, expected, ..., label = label)
}

expect_equal <- function(object, expected, ..., tolerance = testthat_tolerance(),
                         label = deparse1(substitute(object))) {
  if (identical(object, expected) || all_near(object, expected, tolerance)) return(told(object))
  testthat::expect_equal(object, expected, ..., tolerance = tolerance, label = label)
}

expect_true <- function(object, ..., label = deparse1(substitute(object))) {
  if (isTRUE(object)) told(object) else testthat::expect_true(object, ..., label = label)
}

expect_false <- function(object, ..., label = deparse1(substitute(object))) {
  if (isFALSE(object)) told(object) else testthat::expect_false(object, ..., label = label)
}

# The class and the text of an error; NA is for none.
expect_error <- function(object, regexp = NULL, class = NULL, ..., info = NULL,
                         label = deparse1(substitute(object))) {
  if (anyNA(regexp)) return(testthat::expect_error(object, NA, info = info, label = label))
  found <- tryCatch({
    object
    NULL
  }, error = identity)
  is_so <- !is.null(found) && (is.null(class) || inherits(found, class)) &&
    (is.null(regexp) || grepl(regexp, conditionMessage(found), ...))
  if (is_so) return(told(found))
  testthat::expect_error(if (!is.null(found)) stop(found), regexp, class, ..., info = info, label = label)
}
