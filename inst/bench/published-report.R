# What published.R says, and its picture.

# ---- the table

PUBLISHED_COLUMNS <- "%-23s %-17s %9s %5s %6s %-11s %7s %7s %7s %7s %7s"

emit_columns <- function(...) emit(sub(" +$", "", sprintf(PUBLISHED_COLUMNS, ...)))

describe_machine_and_titles <- function() {
  info <- tryCatch(gpucor::gpuInfo(), error = function(e) stop("gpucor is not installed: ", conditionMessage(e)))
  describe_machine(info)
  if (quick) say("A quick look: a twentieth of the variables, 5,000 at most; nothing to compare with the papers.")
  emit("")
  emit_columns("", "", "", "", "paper", "", "method", "gpucor", "method/", "method", "gpucor")
  emit_columns("method", "result", "N", "n_obs", "s", "on", "s", "s", "gpucor", "off", "off")
}

error_text <- function(off) if (length(off) != 1 || is.na(off)) "-" else sprintf("%.1e", off)

table_line <- function(result) {
  row <- result$row
  method <- result$method
  own <- result$own
  seconds <- if (is.null(method$error)) number(method$seconds) else "failed"
  ratio <- if (is.null(method$seconds) || is.null(own$seconds)) "-" else number(method$seconds / own$seconds)
  emit_columns(row$label, paste(row$measure, row$kind), number(row$n_var, 8), row$n_obs, number(row$published), row$on,
               seconds, if (is.null(own$error)) number(own$seconds) else "failed", ratio, error_text(method$off),
               error_text(own$off))
}

# What was estimated, failed, or has more to tell.
print_notes <- function(results) {
  emit("")
  say("Times in seconds; on the CPU: of a thousandth of the rows, scaled to all. Networks: pairs above the threshold ",
      "for a density of ", percent(DENSITY), "; off is of edges, and 2 where a pair is wrongly an edge or not one.")
  calls <- vapply(results, function(result) call_of_row(result$row), "")
  labels <- vapply(results, function(result) result$row$label, "")
  tell_part(labels, calls, lapply(results, `[[`, "method"))
  once <- !duplicated(calls)
  tell_part(rep("gpucor", sum(once)), calls[once], lapply(results[once], `[[`, "own"))
  emit("")
}

# Failures, those of the same kind together, and notes.
tell_part <- function(labels, calls, parts) {
  errors <- vapply(parts, function(part) c(part$error, "")[1], "")
  kinds <- paste0(labels, " failed: ", errors)
  for (kind in unique(kinds[nzchar(errors)])) say(kind, " (", paste(calls[kinds == kind], collapse = ", "), ")")
  for (k in which(lengths(lapply(parts, `[[`, "note")) > 0)) {
    say(labels[k], " (", calls[k], "): ", paste(parts[[k]]$note, collapse = " "))
  }
}

# ---- the picture

# Points of one line: N and seconds of Pearson's triangle at n_obs 100.
points_of <- function(results, label) {
  own <- label == "gpucor"
  found <- lapply(results, function(result) {
    row <- result$row
    seconds <- if (own) result$own$seconds else result$method$seconds
    if (row$kind != "triangle" || row$measure != "pearson" || row$n_obs != 100 || is.null(seconds)) return(NULL)
    if (own || row$label == label) data.frame(n = row$n_var, seconds = max(seconds, 1e-3))
  })
  found <- unique(do.call(rbind, found))
  if (is.null(found)) NULL else found[order(found$n), ]
}

# Heights for labels, in the order of `y`, none nearer to the next than `apart`; y and apart in logarithms.
spread <- function(y, apart) {
  order <- order(y)
  at <- y[order]
  for (round in 1:200) { # neighbours that are too near go apart by halves
    near <- pmax(0, apart - diff(at)) / 2
    if (all(near < 1e-6)) break
    at <- at - c(near, 0) + c(0, near)
  }
  y[order] <- at
  y
}

draw_lines <- function(lines, colours) {
  xlim <- range(lapply(lines, `[[`, "n"))
  ylim <- range(lapply(lines, `[[`, "seconds"))
  graphics::par(mar = c(4, 4.2, 2, 14), las = 1, mgp = c(2.8, 0.7, 0), cex = 1.1)
  graphics::plot(NA, xlim = xlim, ylim = ylim, log = "xy", xlab = "variables", ylab = "seconds", axes = FALSE,
                 main = "All Pearson correlations, 100 observations", font.main = 1, cex.main = 1)
  sizes <- sort(unique(unlist(lapply(lines, `[[`, "n"))))
  graphics::axis(1, sizes, vapply(sizes, number, "", digits = 8))
  ticks <- 10^seq(floor(log10(ylim[1])), ceiling(log10(ylim[2])))
  graphics::axis(2, ticks, vapply(ticks, function(tick) format(tick, scientific = FALSE, big.mark = ","), ""))
  graphics::abline(h = ticks, col = "grey90")
  for (name in names(lines)) {
    graphics::lines(lines[[name]], type = "o", pch = 16, col = colours[[name]], lwd = if (name == "gpucor") 4 else 2)
  }
  last <- do.call(rbind, lapply(lines, utils::tail, 1))
  to_edge <- last$n == xlim[2]
  label_edge(last[to_edge, ], names(lines)[to_edge], colours)
  label <- function(k) graphics::text(last[k, ], names(lines)[k], pos = 4, col = colours[[names(lines)[k]]])
  for (k in which(!to_edge)) label(k)
}

# Names beside the last points of lines that reach the right edge.
label_edge <- function(last, names, colours) {
  if (!length(names)) return(invisible())
  limits <- graphics::par("usr") # in logarithms
  apart <- 1.4 * graphics::strheight("M", units = "inches") / graphics::par("pin")[2] * (limits[4] - limits[3])
  at <- 10^spread(log10(last$seconds), apart)
  beside <- 10^(limits[2] + 0.01 * (limits[2] - limits[1]))
  colours <- unlist(colours[names])
  graphics::segments(last$n, last$seconds, beside, at, col = colours, lty = 3, xpd = NA)
  graphics::text(beside, at, paste0(" ", names), adj = c(0, 0.5), xpd = NA, col = colours,
                 font = ifelse(names == "gpucor", 2, 1))
}

draw <- function(results, file) {
  names <- c("gpucor", unique(vapply(results, function(result) result$row$label, "")))
  lines <- Filter(Negate(is.null), stats::setNames(lapply(names, points_of, results = results), names))
  if (!length(lines)) return(say("There is nothing to draw."))
  hues <- c("#000000", "#0072B2", "#56B4E9", "#D55E00", "#E69F00", "#009E73", "#8C6D31", "#7F7F7F", "#CC79A7")
  colours <- stats::setNames(as.list(rep_len(hues, length(lines))), names(lines))
  type <- if (capabilities("cairo")) "cairo" else getOption("bitmapType")
  grDevices::png(file, 1500, 950, res = 150, type = type)
  on.exit(grDevices::dev.off())
  draw_lines(lines, colours)
}
