# A difference as R code that shows it, made as small as it goes.

source_of <- function(case) {
  lines <- function(name, value) {
    text <- deparse(value, width.cutoff = 110L, control = "exact")
    c(paste(name, "<-", text[1]), text[-1])
  }
  call <- case$call
  by_rows <- call[[1]] == "gpuDist"
  with_y <- !is.null(case$y)
  c(lines("x", case$x), if (with_y) lines("y", case$y), deparse(call, width.cutoff = 110L),
    sprintf("cor(%s%s, use = \"%s\", method = \"%s\")", if (by_rows) "t(as.matrix(x))" else "as.matrix(x)",
            if (with_y) ", as.matrix(y)" else "", call$use, call$method))
}

# Without some of the rows or columns of x or y.
smaller <- function(case, side, rows, keep) {
  m <- case[[side]]
  if (is.null(dim(m))) {
    case[[side]] <- m[keep]
  } else {
    case[[side]] <- if (rows) m[keep, , drop = FALSE] else m[, keep, drop = FALSE]
  }
  case
}

# The same case with a half, and then each one, of its rows and columns left out, as long as it still is wrong.
shrink <- function(case, is_wrong, seconds = 10) {
  end <- Sys.time() + seconds
  try_without <- function(case, cut, n) {
    size <- n
    while (size >= 1) {
      first <- 1
      while (first <= n && Sys.time() < end) {
        keep <- setdiff(seq_len(n), first:min(first + size - 1, n))
        less <- cut(case, keep)
        if (is_wrong(less)) {
          case <- less
          n <- length(keep)
        } else {
          first <- first + size
        }
      }
      size <- size %/% 2
    }
    case
  }
  sides <- if (is.null(case$y)) "x" else c("x", "y")
  cut_rows <- function(case, keep) {
    for (side in sides) case <- smaller(case, side, TRUE, keep)
    case
  }
  if (case$call[[1]] != "gpuDist") case <- try_without(case, cut_rows, rows_of(case$x))
  for (side in sides) if (!is.null(dim(case[[side]]))) {
    case <- try_without(case, function(case, keep) smaller(case, side, FALSE, keep), ncol(case[[side]]))
  }
  case
}
