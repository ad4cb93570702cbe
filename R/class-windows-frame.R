# Data frames of windows, with one row per window or pair.

#' @rdname gpuCorWindows
#' @param object An object of class `gpuCorWindows`.
#' @method summary gpuCorWindows
#' @export
summary.gpuCorWindows <- function(object, ...) {
  switch(attr(object, "output"),
    dist = summary_of_values(object),
    network = summary_of_networks(object),
    connectivity = summary_of_degrees(object),
    moments = summary_of_moments(object)
  )
}

summary_of_values <- function(object) {
  values <- unclass(object)
  columns <- vapply(seq_len(ncol(values)), function(w) {
    own <- values[, w]
    own <- own[!is.na(own)]
    if (!length(own)) return(rep(NA_real_, 4L))
    c(mean(own), stats::sd(own), min(own), max(own))
  }, numeric(4L))
  cbind(attr(object, "windows"), mean = columns[1L, ], sd = columns[2L, ], min = columns[3L, ], max = columns[4L, ])
}

summary_of_networks <- function(object) {
  slot_of <- function(name) vapply(unclass(object), methods::slot, 0, name)
  cbind(attr(object, "windows"), edges = slot_of("edges"), threshold = slot_of("threshold"))
}

summary_of_degrees <- function(object) {
  degree <- object$degree
  strongest <- if (nrow(degree)) apply(degree, 2L, max) else rep(0, ncol(degree))
  cbind(attr(object, "windows"), edges = colSums(degree) / 2, threshold = object$threshold, max_degree = strongest,
        strength = colSums(object$strength) / 2)
}

summary_of_moments <- function(object) {
  fractions <- c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
  quantiles <- function(values) stats::quantile(values[!is.na(values)], fractions, names = FALSE)
  frame <- if (isS4(object$sd)) list(sd = quantiles(object$sd@x)) else lapply(unclass(object)[moment_names], quantiles)
  as.data.frame(frame, row.names = paste0(100 * fractions, "%"))
}

moment_names <- c("mean", "sd", "min", "max")

#' @rdname gpuCorWindows
#' @param row.names,optional Not used.
#' @export
as.data.frame.gpuCorWindows <- function(x, row.names = NULL, optional = FALSE, ...) {
  switch(attr(x, "output"),
    dist = frame_of_values(x),
    network = frame_of_networks(x),
    connectivity = frame_of_degrees(x),
    moments = frame_of_moments(x)
  )
}

window_pairs <- function(x) lapply(all_pairs(attr(x, "Size")), names_at, attr(x, "Labels"))

frame_of_values <- function(x) {
  values <- unclass(x)
  pairs <- window_pairs(x)
  list2DF(list(window = rep(seq_len(ncol(values)), each = nrow(values)), from = rep(pairs$from, ncol(values)),
               to = rep(pairs$to, ncol(values)), r = as.vector(values)))
}

frame_of_networks <- function(x) {
  frames <- lapply(unclass(x), as.data.frame)
  columns <- lapply(c(from = "from", to = "to", r = "r"), function(name) unlist(lapply(frames, `[[`, name)))
  list2DF(c(list(window = rep(seq_along(frames), vapply(frames, nrow, 0L))), columns))
}

frame_of_degrees <- function(x) {
  size <- nrow(x$degree)
  variable <- if (is.null(attr(x, "Labels"))) seq_len(size) else attr(x, "Labels")
  list2DF(list(window = rep(seq_len(ncol(x$degree)), each = size), variable = rep(variable, ncol(x$degree)),
               degree = as.vector(x$degree), strength = as.vector(x$strength)))
}

frame_of_moments <- function(x) {
  if (isS4(x$sd)) {
    frame <- edge_frame(list(p = x$sd@p, i = x$sd@i, x = x$sd@x), x$sd@Dimnames[[1L]], x$sd@Dimnames[[2L]],
                        choose_threads(setting(NULL, "threads")))
    names(frame)[3L] <- "sd"
    return(frame)
  }
  list2DF(c(window_pairs(x), lapply(unclass(x)[moment_names], as.vector),
            list(windows = rep_len(as.vector(x$windows), length(x$mean)))))
}
