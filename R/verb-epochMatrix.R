#' Epochs of M/EEG, one after another
#'
#' `epochMatrix()` makes a matrix of epochs (trials) as [gpuCor()] takes it: a row for each time of each epoch, and a
#' column for each channel or source. Coherence, phase locking and whatever has a `bandpass` are then within epochs, as
#' no segment or filter crosses the boundary of two.
#'
#' The dimensions of an array differ from program to program, so that `dims` names them:
#'
#' | program | `x` | `dims` |
#' |---|---|---|
#' | MNE | `epochs.get_data()`, an array | `c("epochs", "channels", "times")` |
#' | FieldTrip | `trial` of `ft_timelockanalysis()` with `keeptrials`, an array | `c("epochs", "channels", "times")` |
#' | FieldTrip | `data.trial`, a list of matrices | `c("channels", "times")` |
#' | EEGLAB | `EEG.data`, an array | `c("channels", "times", "epochs")` |
#'
#' The rows of an epoch are one run: `method = "coherence"` and `bandpass` take `attr(x, "runs")` as `runs`
#' ([gpuAdjust()]) and `attr(x, "tr")` as `tr`. A segment of coherence is by default a whole epoch if there are at least
#' 8 (of an even number of times), see [gpucor-measures]. Other measures take all rows alike; to subtract each epoch's
#' mean, give `runs = attr(x, "runs")`. A list of such matrices is a list of subjects ([subjects]).
#'
#' Selected channels or rows keep the epochs (`x[, 1:10]`, `x[attr(x, "runs") %in% good, ]`), and `rbind()` joins those
#' of several matrices ([runs]). If rows within an epoch are left out, its times are unknown, and `tr` is dropped.
#'
#' @param x A numeric array of three dimensions, or a list with a matrix for each epoch, of any number of times.
#' @param dims Strings that name the dimensions of `x`, or of its matrices, in their order: `"times"`, `"channels"` and,
#'   of an array, `"epochs"`.
#' @param rate A number: the sampling rate, samples a second. `NULL`: unknown; give `rate` with `bandpass`, then.
#' @return A matrix of class `epochMatrix`, times of all epochs x channels, with the channels' names. Its attributes are
#'   `runs`, for each row the number of its epoch, and `tr`, 1 / rate.
#' @examples
#' set.seed(1)
#' data <- array(rnorm(20 * 6 * 250), c(20, 6, 250)) # 20 epochs, 6 channels, one second
#' data[, 2, ] <- data[, 1, ] + data[, 2, ]
#' x <- epochMatrix(data, c("epochs", "channels", "times"), rate = 250)
#' x
#' gpuCor(x, method = "coherence", bandpass = c(8, 12))
#' gpuCor(x, method = "coherence", bandpass = c(8, 12), options = list(value = "phase")) # locking
#' bands <- list(alpha = c(8, 12), beta = c(13, 30))
#' lapply(bands, function(band) gpuCor(x, method = "coherence", bandpass = band))
#' @aliases epochMatrix-class
#' @export
epochMatrix <- function(x, dims, rate = NULL) {
  are_listed <- is.list(x) && !is.data.frame(x)
  known <- c(if (!are_listed) "epochs", "channels", "times")
  if (missing(dims)) dims <- NULL
  check_that(dims, "dims", is.character(dims) && identical(sort(dims), known[order(known)]),
             paste0("the names of the dimensions of ", if (are_listed) "a matrix of ", "'x' in their order, such as ",
                    show_value(known)))
  if (!is.null(rate)) check_rate(rate)
  if (!are_listed) {
    check_type(x, "x", is_numeric(x) && length(dim(x)) == 3L,
               "a numeric array of three dimensions, or a list of matrices")
    x <- aperm(x, match(c("times", "epochs", "channels"), dims))
    lengths <- rep(nrow(x), ncol(x))
    x <- matrix(x, ncol = dim(x)[3L], dimnames = if (!is.null(dimnames(x)[[3L]])) list(NULL, dimnames(x)[[3L]]))
  } else {
    if (!length(x)) fail("'x' is a list of no epochs; it needs a matrix for each of them")
    x <- lapply(x, function(own) if (dims[1L] == "channels") t(as.matrix(own)) else as.matrix(own))
    for (k in seq_along(x)) {
      name <- paste("epoch", k)
      check_type(x[[k]], name, is_numeric(x[[k]]), "a numeric matrix")
      check_same_columns(x[[k]], x[[1L]], name, "the first epoch")
    }
    lengths <- vapply(x, nrow, 0L)
    x <- do.call(rbind, unname(x))
  }
  structure(x, tr = if (!is.null(rate)) 1 / rate, runs = rep(seq_along(lengths), lengths),
            class = c("epochMatrix", "scanMatrix", "matrix", "array"))
}

#' @method print epochMatrix
#' @export
print.epochMatrix <- function(x, ...) {
  lengths <- table(attr(x, "runs", exact = TRUE))
  tr <- attr(x, "tr", exact = TRUE)
  cat(n_of(length(lengths), "epoch"), " of ", range_of(unique(range(lengths)), "time"), ", ", n_of(ncol(x), "channel"),
      if (!is.null(tr)) paste0(", ", format(1 / tr), " Hz"), "\n", sep = "")
  invisible(x)
}
