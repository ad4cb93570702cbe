#' What goes with what
#'
#' Arguments, methods and data go together in all ways but these. Each line has what a call may not have at once, and
#' what it says then: `a & b` stands for both, `a|b` for one of them, which *this* is, `no a` for a call without it.
#' What single methods do not take is in [gpucor-measures].
#'
#' `r apart_words()`
#'
#' @return A call whose arguments do not go together returns nothing: it stops with the sentence of the line.
#'
#' @name gpucor-together
NULL
