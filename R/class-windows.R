# What gpuCorWindows() returns, and its methods.

# Values of all windows have their attributes already.
new_windows <- function(result, task, keep, time) {
  if (keep == "dist") return(result$values)
  doing(task$settings, "results of the windows")
  value <- switch(keep,
    network = networks_of(result, task),
    connectivity = degrees_of(result, task),
    moments = if (is.null(task$criterion)) moments_of(result, task) else variable_network(result, task)
  )
  attributes <- window_attributes(task, keep, time)
  n_obs <- unique(result$n_obs)
  attributes$n_obs <- if (length(n_obs) == 1L) n_obs else result$n_obs
  attributes(value) <- c(attributes(value), attributes)
  value
}

# n_obs is known after the run.
window_attributes <- function(task, keep, time) {
  list(windows = window_frame(task$windows, time), keep = keep, width = task$windows$width, step = task$windows$step,
       taper = task$taper, method = task$method, Size = ncol(task$x), Labels = colnames(task$x), n_obs = NULL,
       adjusted = adjustment_of(task$settings, task$x), call = task$call,
       class = c("gpuCorWindows", if (keep == "dist") c("matrix", "array")))
}

# Those of a `dist`.
moment_attributes <- function(task) {
  list(Size = ncol(task$x), Labels = colnames(task$x), Diag = FALSE, Upper = FALSE, method = task$method,
       class = "dist")
}

window_frame <- function(plan, time) {
  start <- 1 + (seq_len(plan$n) - 1) * plan$step
  end <- start + plan$width - 1
  frame <- list(start = start, end = end, centre = (start + end) / 2)
  if (!is.null(time)) frame$time <- time$first + (frame$centre - 1) * time$each
  structure(list2DF(frame), unit = time$unit)
}

# The first one is made, the others are like it: it takes longer to make one than to find its edges.
networks_of <- function(result, task) {
  by_k <- task$criterion$name == "k"
  rows_of <- function(w) {
    edges <- list(store = result$stores[[w]], n_obs = result$n_obs[w])
    least <- result$least[w]
    take_rows(kept_edges(edges, least, if (by_k) NA_real_ else threshold_of(least)), task)
  }
  network <- new_network(rows_of(1L), task)
  c(list(network), lapply(seq_along(result$stores)[-1L], function(w) {
    rows <- rows_of(w)
    own <- c(rows[c("p", "i", "x")], network_details(rows, task)[c("threshold", "edges", "n_obs")])
    for (name in names(own)) attr(network, name) <- own[[name]]
    network
  }))
}

degrees_of <- function(result, task) {
  names <- if (!is.null(colnames(task$x))) list(colnames(task$x), NULL)
  named <- function(values) {
    dimnames(values) <- names
    values
  }
  list(degree = named(result$degree), strength = named(result$strength), threshold = threshold_of(result$least))
}

moments_of <- function(result, task) {
  counts <- if (length(result$count)) c(min(result$count), max(result$count)) else rep(task$windows$n, 2L)
  c(result[moment_names], list(windows = if (counts[1L] == counts[2L]) counts[1L] else result$count))
}

# The engine has half of each standard deviation, which is exact.
variable_network <- function(result, task) {
  least <- result$least
  rows <- take_rows(kept_edges(list(store = result$store), least), task)
  network <- methods::new("dsCMatrix")
  slots <- list(Dim = rep(ncol(task$x), 2L), Dimnames = network_names(task), p = rows$p, i = rows$i, x = 2 * rows$x,
                uplo = "U")
  for (name in names(slots)) methods::slot(network, name) <- slots[[name]]
  list(sd = network, threshold = if (task$criterion$name == "k") NA_real_ else 2 * threshold_of(least))
}

# ---- methods

# Of the pairs at positions, as `dist` has them.
window_pairs <- function(x, at) {
  size <- attr(x, "Size")
  labels <- attr(x, "Labels")
  pairs <- variables_at(at, size)
  if (is.null(labels)) labels <- seq_len(size)
  list(from = labels[pairs[, 1L]], to = labels[pairs[, 2L]])
}

count_windows <- function(x) nrow(attr(x, "windows"))

#' @rdname gpuCorWindows
#' @param i The number of a window; or what else a list can be indexed by, where `keep` is not `"dist"`.
#' @method [[ gpuCorWindows
#' @export
`[[.gpuCorWindows` <- function(x, i, ...) {
  if (attr(x, "keep") != "dist") return(unclass(x)[[i, ...]])
  i <- check_whole(i, "i", 1, count_windows(x), "; it is the number of a window")
  n_obs <- attr(x, "n_obs")
  n_obs <- if (length(n_obs) == 1L) n_obs else n_obs[i]
  values <- unclass(x)[, i]
  attributes(values) <- list(Size = attr(x, "Size"), Labels = attr(x, "Labels"), Diag = FALSE, Upper = FALSE,
                             method = attr(x, "method"), n_obs = n_obs,
                             diagonal = if (n_obs < 2) rep(NA_real_, attr(x, "Size")), call = attr(x, "call"),
                             adjusted = attr(x, "adjusted"),
                             untestable = "the observations of a window may have the weights of a taper",
                             class = c("gpuCor", "dist"))
  values
}

# What arithmetic makes of coefficients, and their transpose: a plain matrix, as what the class says is not true of it.
as_plain_matrix <- function(x) {
  if (inherits(x, "gpuCorWindows") && is.matrix(x)) attributes(x) <- list(dim = dim(x))
  x
}

#' @export
Ops.gpuCorWindows <- function(e1, e2) as_plain_matrix(NextMethod())

#' @export
Math.gpuCorWindows <- function(x, ...) as_plain_matrix(NextMethod())

#' @method t gpuCorWindows
#' @export
t.gpuCorWindows <- function(x) as_plain_matrix(NextMethod())

#' @rdname gpuCorWindows
#' @param object An object of class `gpuCorWindows`.
#' @method summary gpuCorWindows
#' @export
summary.gpuCorWindows <- function(object, ...) {
  structure(frame_of_windows(object), methods = window_sentences(object),
            class = c("summary.gpuCorWindows", "data.frame"))
}

frame_of_windows <- function(object) {
  switch(attr(object, "keep"),
    dist = summary_of_values(object),
    network = summary_of_networks(object),
    connectivity = summary_of_degrees(object),
    moments = summary_of_moments(object)
  )
}

#' @rdname gpuCorWindows
#' @method print summary.gpuCorWindows
#' @export
print.summary.gpuCorWindows <- function(x, digits = 3L, ...) {
  if (!is.null(attr(x, "methods"))) print_methods(list(methods = attr(x, "methods"))) # rows of one have none
  attr(x, "methods") <- NULL
  print.data.frame(x, digits = digits, ...)
}

window_sentences <- function(x) {
  taper <- attr(x, "taper")
  paste0(method_title(attr(x, "method")), " of ", n_of(attr(x, "Size"), "variable"), " was computed ", with_gpucor(),
         " in ", n_of(count_windows(x), "window"), " of ", n_of(attr(x, "width"), "observation"),
         if (taper != "none") paste0(" (with the weights of a ", taper, " taper)"), ", ",
         n_of(attr(x, "step"), "observation"), " apart. ", kept_words(x),
         adjusted_sentence(attr(x, "adjusted"), attr(x, "method")))
}

kept_words <- function(x) {
  all <- n_of(pairs_of(attr(x, "Size")), "pair")
  frame <- if (attr(x, "keep") %in% c("network", "connectivity")) frame_of_windows(x)
  switch(attr(x, "keep"),
    dist = paste0("Each window has a coefficient of each of ", all, "."),
    network = paste0("The edges of a window's network, ", format_range(frame$edges), " of ", all, ", are ",
                     window_edges(unclass(x)[[1L]]), "."),
    connectivity = paste0("Degrees and strengths of a window count its edges, ", format_range(frame$edges), " of ", all,
                          ", those of a weight of at least ", paste(unique(format(range(x$threshold), digits = 4L)),
                                                                    collapse = " to "), "."),
    moments = if (isS4(x$sd)) {
      paste0("Of ", all, " the standard deviation over the windows was taken, and that of the ",
             n_of(length(x$sd@x), "most variable pair"), " kept.")
    } else {
      paste0("Of each of ", all, " the mean, the standard deviation, the minimum and the maximum over the windows ",
             "were taken.")
    }
  )
}

window_edges <- function(net) {
  weight <- weight_names[[net@sign]]
  switch(net@criterion,
    threshold = paste("those with", weight, ">=", format(net@value)),
    density = paste0("the strongest ", percent(net@value), " by ", weight),
    k = neighbour_words(net@value, weight)
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
  shares <- c(0, 0.01, 0.25, 0.5, 0.75, 0.99, 1)
  quantiles <- function(values) stats::quantile(values[!is.na(values)], shares, names = FALSE)
  frame <- if (isS4(object$sd)) list(sd = quantiles(object$sd@x)) else lapply(unclass(object)[moment_names], quantiles)
  as.data.frame(frame, row.names = paste0(100 * shares, "%"))
}

moment_names <- c("mean", "sd", "min", "max")

#' @rdname gpuCorWindows
#' @param row.names,optional Not used.
#' @export
as.data.frame.gpuCorWindows <- function(x, row.names = NULL, optional = FALSE, ...) {
  switch(attr(x, "keep"),
    dist = frame_of_values(x),
    network = frame_of_networks(x),
    connectivity = frame_of_degrees(x),
    moments = frame_of_moments(x)
  )
}

frame_of_values <- function(x) {
  values <- unclass(x)
  pairs <- window_pairs(x, seq_len(nrow(values)))
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
  list2DF(c(window_pairs(x, seq_along(x$mean)), lapply(unclass(x)[moment_names], as.vector),
            list(windows = rep_len(as.vector(x$windows), length(x$mean)))))
}

describe_windows <- function(x) {
  plan <- attr(x, "windows")
  taper <- attr(x, "taper")
  paste0(method_title(attr(x, "method")), " of ", n_of(attr(x, "Size"), "variable"), " in ",
         n_of(nrow(plan), "window"), " of ", n_of(attr(x, "width"), "observation"), ", ",
         if (taper != "none") paste0(taper, " taper, "), "step ", format_count(attr(x, "step")))
}

describe_kept <- function(x) {
  switch(attr(x, "keep"),
    dist = paste0("coefficients of ", n_of(nrow(x), "pair"), "; [[k]] is window k"),
    network = paste0("networks of ", range_of(summary_of_networks(x)$edges, "edge"), "; [[k]] is that of window k"),
    connectivity = "$degree and $strength, variables x windows",
    moments = if (isS4(x$sd)) {
      paste0("$sd of the ", n_of(length(x$sd@x), "most variable pair"), " of ", format_count(pairs_of(attr(x, "Size"))))
    } else {
      paste("$mean, $sd, $min and $max of", n_of(length(x$mean), "pair"))
    }
  )
}

format_range <- function(counts) paste(vapply(unique(range(counts)), format_count, ""), collapse = " to ")

# "12 edges", "3 to 12 edges".
range_of <- function(counts, thing) {
  counts <- counts[!is.na(counts)]
  if (!length(counts)) return(paste0("no ", thing, "s"))
  paste0(format_range(counts), " ", thing, if (!all(counts == 1)) "s")
}

#' @rdname gpuCorWindows
#' @param digits Significant digits to print.
#' @method print gpuCorWindows
#' @export
print.gpuCorWindows <- function(x, digits = 3L, ...) {
  cat(describe_windows(x), "\n", adjusted_line(attr(x, "adjusted"), attr(x, "method")), describe_kept(x), "\n",
      sep = "")
  frame <- frame_of_windows(x)
  print(utils::head(frame, 7L), digits = digits)
  if (nrow(frame) > 7L) cat("... and ", n_of(nrow(frame) - 7L, "more window"), "\n", sep = "")
  invisible(x)
}
