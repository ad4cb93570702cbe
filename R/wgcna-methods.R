# Classes gpuModules and gpuPreservation: printed, converted and drawn.

# ---- printing of modules

#' Modules
#'
#' Methods for the result of [gpuModules()], and its conversion to the lists of WGCNA.
#'
#' @param x,modules An object of class `gpuModules`.
#' @param type A string, for `plot()`: `"tree"` or `"stability"`.
#' @param traits,covariates For `plot()`: traits of the samples, and covariates, as in [gpuAssociation()].
#' @param colors For `plot()`: what to show in rows of colors below the modules: a vector with a value for each gene,
#'   names of colors, groups, or numbers, such as correlations with a trait; other modules; or a named list of these.
#' @param numeric `TRUE` to name modules by their numbers, as WGCNA's `numericLabels` does.
#' @param ... For `plot()`: see [summary.gpuCorNetwork]; with `traits` also those of [gpuAssociation()].
#' @return `as.data.frame()`: a row for each gene, with `gene`, `module` (a number), `color`, `kME` with its own
#'   module's eigengene, `kWithin` and, if the call asked for it, `stability`; these are `NA` for a gene in no module.
#'   For several data sets there are columns for each set, such as `kME.control`.
#'
#'   `summary()`: a list of `modules`, a data frame with a row for each module: its number of `genes`, the fraction of
#'   variance `explained` by its eigengene, its genes' mean `stability`, if there is one, and its `hub`; and
#'   `unassigned`, the number of genes in no module. The hub is the gene with the largest `kWithin`; for several data
#'   sets, the gene whose smallest |kME| is the largest.
#'
#'   `plot()`: the tree, and below it the modules' colors and numbers; or the stability of each module's genes as boxes.
#'   With `traits`: a cell for each module and trait, with the correlation of the eigengene and, in parentheses, its p
#'   value, not adjusted for the number of cells, as returned by `gpuAssociation(x, traits, output = "matrix")`, without
#'   grey. R of a factor of more than two levels is gray, as it has no sign.
#'
#'   `as_blockwiseModules()`: the list that `WGCNA::blockwiseModules()` returns for one block, or for several data sets
#'   the list of `WGCNA::blockwiseConsensusModules()`.
#' @examples
#' if (requireNamespace("WGCNA", quietly = TRUE)) {
#'   factors <- matrix(rnorm(50 * 3), 50)
#'   x <- matrix(rnorm(50 * 150), 50) + factors[, rep(1:3, c(60, 50, 40))] * 2
#'   modules <- gpuModules(x, power = 6)
#'   traits <- data.frame(age = 20 * factors[, 1] + rnorm(50, 50), sex = rep(c("f", "m"), 25))
#'   plot(modules, traits = traits)
#'   names(as_blockwiseModules(modules))
#' }
#' @name gpuModules-methods
NULL

describe_modules <- function(x) {
  sizes <- module_sizes(x)
  power <- unique(x$power)
  samples <- vapply(x$n_obs, n_of, "", "sample")
  several <- inherits(x, "gpuConsensusModules")
  if (several) {
    samples <- toString(paste0(names(samples), " (", samples, ")"))
    samples <- paste0(n_of(length(x$n_obs), "data set"), ": ", samples)
  }
  paste0(n_of(length(sizes), if (several) "consensus module" else "module"), " of ", format_count(sum(sizes)),
         " of ", n_of(length(x$labels), "gene"), ", ", samples, "\n", method_title(x$method), ", ", x$type,
         " network, ", ngettext(length(power), "power ", "powers "), toString(power), ", ", x$TOMType,
         " topological overlap\n",
         adjusted_line(attr(x, "adjusted"), x$method))
}

#' @method print gpuModules
#' @export
print.gpuModules <- function(x, ...) {
  cat(describe_modules(x))
  sizes <- module_sizes(x)
  if (length(sizes)) print(sizes)
  invisible(x)
}

# Returns the numbers of genes, named by colors, in the order of module numbers.
module_sizes <- function(x) {
  numbers <- seq_len(max(x$labels))
  stats::setNames(tabulate(x$labels, length(numbers)), x$colors[match(numbers, x$labels)])
}

#' @rdname gpuModules-methods
#' @usage NULL
#' @export
as.data.frame.gpuModules <- function(x, row.names = NULL, optional = FALSE, ...) {
  several <- inherits(x, "gpuConsensusModules")
  kme <- if (several) lapply(x$kME, own_kme, x) else own_kme(x$kME, x)
  by_set <- if (several) c(kME = kme, kWithin = x$kWithin) else list(kME = kme, kWithin = x$kWithin)
  genes <- list(gene = names(x$labels), module = unname(x$labels), color = unname(x$colors))
  list2DF(c(genes, lapply(by_set, unname), if (!is.null(x$stability)) list(stability = unname(x$stability))))
}

# Returns the kME of each gene with its own module; NA for unassigned genes.
own_kme <- function(kme, x) {
  own <- rep(NA_real_, length(x$labels))
  is_in <- which(x$labels > 0)
  own[is_in] <- kme[cbind(is_in, x$labels[is_in])]
  own
}

#' @rdname gpuModules-methods
#' @usage NULL
#' @method summary gpuModules
#' @export
summary.gpuModules <- function(object, ...) {
  sizes <- module_sizes(object)
  modules <- factor(object$labels, seq_along(sizes))
  if (inherits(object, "gpuConsensusModules")) {
    fractions <- c(explained = object$explained)
    strength <- do.call(pmin, c(lapply(unname(object$kME), function(kme) abs(own_kme(kme, object))), na.rm = TRUE))
  } else {
    fractions <- list(explained = object$explained)
    strength <- object$kWithin
  }
  fractions <- lapply(fractions, function(fraction) unname(fraction[names(sizes)]))
  stable <- if (!is.null(object$stability)) list(stability = as.vector(tapply(object$stability, modules, mean)))
  hubs <- vapply(split(seq_along(modules), modules), function(genes) {
    names(object$labels)[genes[which.max(strength[genes])]]
  }, "")
  table <- list2DF(c(list(module = seq_along(sizes), color = names(sizes), genes = unname(sizes)), fractions, stable,
                     list(hub = unname(hubs))))
  new_summary(list(modules = table, unassigned = sum(object$labels == 0)), describe_modules(object), object)
}

# ---- conversion to WGCNA

#' @rdname gpuModules-methods
#' @export
as_blockwiseModules <- function(modules, numeric = FALSE) {
  check_that(modules, "modules", inherits(modules, "gpuModules"), "what gpuModules() returned")
  numeric <- check_flag(numeric, "numeric")
  need_packages("WGCNA", "as_blockwiseModules()")
  unmerged <- modules$unmerged
  if (numeric) {
    known <- WGCNA::standardColors()
    # labels2colors() repeats them as "red.1".
    known <- c(known, outer(known, seq_len(length(unmerged) %/% length(known)), paste, sep = "."))
    unmerged <- stats::setNames(match(unmerged, known, nomatch = 0L), names(unmerged))
  }
  # Returns a set's eigengenes as WGCNA has them before sorting, with its names of samples.
  by_label <- function(own) {
    label <- substring(names(own), 3L)
    if (numeric) label <- match(label, names(module_sizes(modules)), nomatch = 0L)
    names(own) <- paste0("ME", label)
    if (.row_names_info(own) < 0L) rownames(own) <- paste0("Row.", seq_len(nrow(own)))
    own[order(label)]
  }
  grey <- if (numeric) "ME0" else "MEgrey"
  several <- inherits(modules, "gpuConsensusModules")
  eigengenes <- if (several) {
    sets <- lapply(modules$eigengenes, function(own) list(data = by_label(own)))
    list(multiMEs = WGCNA::consensusOrderMEs(sets, greyName = grey))
  } else {
    list(MEs = WGCNA::orderMEs(by_label(modules$eigengenes), greyName = grey))
  }
  c(list(colors = if (numeric) modules$labels else modules$colors, unmergedColors = unmerged), eigengenes,
    list(goodSamples = modules$samples, goodGenes = modules$genes, dendrograms = list(modules$tree), TOMFiles = NULL,
         blockGenes = list(which(modules$genes)), blocks = ifelse(modules$genes, 1, NA)),
    if (!several) list(MEsOK = TRUE))
}

# ---- plots of modules

#' @rdname gpuModules-methods
#' @export
plot.gpuModules <- function(x, type = c("tree", "stability"), traits = NULL, covariates = x$covariates, colors = NULL,
                            ...) {
  type <- check_choice(type, c("tree", "stability"), "type")
  sizes <- module_sizes(x)
  if (!is.null(traits) && !is.null(colors)) fail("give 'colors', rows below the tree, or 'traits', not both")
  if (!length(sizes) && (type == "stability" || !is.null(traits))) {
    fail("there are no modules to plot: all genes are grey, as with too few samples or too low a power")
  }
  if (!is.null(traits)) return(plot_traits(x, sizes, traits, covariates, ...))
  if (type == "tree") {
    rows <- color_rows(x, colors)
    panels <- list(
      tree = function(...) {
        main <- list(...)$main
        graphics::par(mar = c(0.3, names_margin(c("module", names(rows)), 4.6), if (is.null(main)) 0.8 else 3.2, 1))
        overlap <- if (inherits(x, "gpuConsensusModules")) "consensus" else "topological"
        draw_tree(x$tree, paste("1 -", overlap, "overlap"), main)
      },
      rows = function(...) { # of colors of the genes, and the modules' numbers below
        graphics::par(mar = c(3.4, names_margin(c("module", names(rows)), 4.6), 0.2, 1))
        n <- length(x$tree$order)
        graphics::plot.default(c(0.5, n + 0.5), c(-length(rows), 0), type = "n", axes = FALSE, ann = FALSE,
                               xaxs = "i", yaxs = "i")
        for (k in seq_along(rows)) {
          runs <- rle(rows[[k]])
          end <- cumsum(runs$lengths) + 0.5
          graphics::rect(end - runs$lengths, -k, end, 1 - k - 0.06, col = runs$values, border = NA)
        }
        graphics::axis(2L, 0.5 - seq_along(rows), names(rows), tick = FALSE, las = 1, mgp = c(3, 0.3, 0),
                       cex.axis = 0.9)
        number_modules(unname(x$labels[x$genes])[x$tree$order])
        title_at("xlab", paste(format_count(n), "genes in the order of the tree; grey: in no module"), 2.2)
      }
    )
    draw_page(panels, ..., page = matrix(1:2), heights = c(3, 0.7 + 0.3 * length(rows)),
              min_inches = c(2, 1))
    return(invisible(x))
  }
  if (is.null(x$stability)) fail("'x' has no stability; give gpuModules() 'stability', a number of resamples")
  draw_page(list(function(...) {
    fills <- group_colors(names(sizes))
    names <- cell_names(names(sizes))
    graphics::par(mar = replace(graphics::par("mar"), 1L, names_margin(names, 3.8)))
    start_plot(c(0.5, length(sizes) + 0.5), 0:1,
               list(main = "Stability of modules", ylab = "fraction of resamples in its module", xaxt = "n"), ...)
    note("the largest module first")
    is_dark <- colMeans(grDevices::col2rgb(fills)) < 110
    graphics::boxplot(split(unname(x$stability), factor(x$labels, seq_along(sizes))), add = TRUE, axes = FALSE,
                      col = fills, cex = 0.4, medlwd = 3, medcol = ifelse(is_dark, "white", "black"))
    graphics::axis(1L, seq_along(sizes), names, tick = FALSE, las = 2L, mgp = c(3, 0.3, 0), gap.axis = -1,
                   cex.axis = max(0.35, names_size(names, graphics::par("pin")[1L] / length(names))))
  }), ...)
  invisible(x)
}

# Draws modules against traits, and returns their associations. `...`: arguments of gpuAssociation() and of pictures.
plot_traits <- function(x, sizes, traits, covariates, ..., max = 1000, main = "Modules and traits") {
  if (inherits(x, "gpuConsensusModules")) {
    fail("'traits' is for modules of one data set; of several, plot(gpuAssociation(x$eigengenes[[1]], traits, ",
         "output = \"matrix\"), type = \"heatmap\")")
  }
  drawn <- intersect(...names(), c("text", "palette", "size", PAGE_PARAMETERS))
  given <- list(...)
  own <- c(list(x$eigengenes[names(x$eigengenes) != "MEgrey"], traits, covariates = covariates, output = "matrix"),
           given[setdiff(names(given), drawn)])
  found <- do.call(gpuAssociation, own, quote = TRUE)
  modules <- sub("^ME", "", rownames(found$r))
  labels <- paste0(modules, " (", vapply(sizes[modules], format_count, ""), ")")
  groups <- list(NULL, factor(modules, modules))
  panel <- function(...) draw_associations(found, max, ..., rows = labels, groups = groups)
  do.call(draw_page, c(list(list(panel), main = main), given[drawn]), quote = TRUE)
  invisible(found)
}

# Returns a list of factors or colors for each gene of the tree, one for each row below it: the modules, and `colors`.
color_rows <- function(x, colors) {
  if (!is.null(colors) && !(is.list(colors) && !inherits(colors, "gpuModules"))) colors <- list(colors)
  if (length(colors) && is.null(names(colors))) names(colors) <- paste("row", seq_along(colors) + 1L)
  genes <- names(x$labels)
  rows <- lapply(colors, function(row) {
    if (!is.numeric(row)) {
      groups <- group_factor(row, length(genes), genes, "colors")
      return(group_colors(levels(groups))[groups])
    }
    row <- by_name(row, genes, "colors")
    check_that(row, "colors", length(row) == length(genes),
               paste("a value for each of the", n_of(length(genes), "gene")), shown = n_of(length(row), "value"))
    top <- max(abs(row), 1e-300, na.rm = TRUE)
    colors_of(row, c(-top, top), diverging())
  })
  lapply(c(list(module = group_colors(x$colors)), rows), function(row) unname(row[x$genes])[x$tree$order])
}

# Writes the number of each module below its widest run of genes; overlapping numbers are moved apart if they fit.
number_modules <- function(labels) {
  runs <- rle(labels)
  end <- cumsum(runs$lengths)
  widest <- order(-runs$lengths)
  widest <- widest[runs$values[widest] > 0]
  widest <- sort(widest[!duplicated(runs$values[widest])])
  if (!length(widest)) return(invisible())
  middle <- (end - (runs$lengths - 1) / 2)[widest]
  module <- runs$values[widest]
  usr <- graphics::par("usr")
  room <- 1.25 * graphics::strwidth(max(module), cex = 0.8)
  cex <- 0.8 * min(1, diff(usr[1:2]) / (room * length(widest)))
  if (cex < 0.4) return(invisible()) # too small to read
  place <- spread_out(middle, room * cex / 0.8, usr[1:2])
  line <- graphics::yinch(graphics::par("csi"))
  graphics::segments(middle, usr[3L], place, usr[3L] - 0.5 * line, lwd = 0.5, xpd = NA)
  graphics::text(place, usr[3L] - 1.1 * line, module, cex = cex, xpd = NA)
}

# ---- class gpuPreservation

describe_preservation <- function(x) {
  paste0("Preservation of ", n_of(nrow(x$modules), "module"), " of ", n_of(x$genes, "gene"), ": ",
         n_of(x$n_obs[["reference"]], "reference sample"), ", ", n_of(x$n_obs[["test"]], "test sample"), "\n",
         if (x$network == "overlap") "topological overlap of a ", x$type, " network, ", "power ", x$power, ", ",
         n_of(x$n_perm, "permutation"), "\n", adjusted_line(attr(x, "adjusted"), "pearson"))
}

#' @method print gpuPreservation
#' @export
print.gpuPreservation <- function(x, digits = 3L, ...) {
  cat(describe_preservation(x))
  has_z <- x$n_perm > 1
  shown <- c("module", "size", if (has_z) c("Zsummary", "Zdensity", "Zconnectivity"), "medianRank")
  gold <- if (has_z && !is.null(x$gold)) replace(x$gold[shown], "module", "gold (random genes)")
  print(rbind(x$modules[shown], gold), digits = digits, row.names = FALSE)
  if (!is.null(gold)) {
    cat("Random genes have large Z, too, where data sets share correlations: compare with gold.",
        "propVarExplained, meanAdj and meanMAR test whether genes are a module in the test set.", sep = "\n")
  }
  invisible(x)
}

#' @rdname gpuPreservation
#' @usage NULL
#' @export
as.data.frame.gpuPreservation <- function(x, row.names = NULL, optional = FALSE, ...) {
  columns <- function(values, prefix) structure(values, dimnames = list(NULL, paste0(prefix, colnames(values))))
  data.frame(x$modules, columns(x$observed, ""), columns(x$Z, "Z."), columns(x$p.value, "p."))
}

# Limits of Zsummary: some evidence of preservation, and strong evidence.
Z_LIMITS <- c(2, 10)

#' @rdname gpuPreservation
#' @usage NULL
#' @method summary gpuPreservation
#' @export
summary.gpuPreservation <- function(object, ...) {
  z <- object$modules$Zsummary
  count <- function(level) sum(findInterval(z, Z_LIMITS) == level, na.rm = TRUE)
  new_summary(list(strong = count(2), moderate = count(1), none = count(0), modules = object$modules),
              describe_preservation(object), object)
}

# ---- plots of preservation, as in Langfelder and others (2011)

#' @rdname gpuPreservation
#' @param x,y For `plot()`: a result, and the panel to draw, `"Zsummary"` or `"medianRank"`; by default both.
#' @export
plot.gpuPreservation <- function(x, y = "auto", ...) {
  size <- log10(x$modules$size)
  draw <- function(values, limits, title, ..., levels = NULL) {
    name <- x$modules$module
    color <- ifelse(name %in% grDevices::colors(), name, "grey40") # modules may be named by colors
    titles <- list(xlab = "module size", xaxt = "n", ylim = limits, ylab = title, main = paste("Preservation", title))
    draw_points(size, values, titles, ..., color = color, size = 1.4, border = "black",
                named = which(!is.na(values)), names = name[!is.na(values)], below = function() {
                  graphics::abline(h = levels, lty = 2L, col = c(cold(), warm()))
                })
    ticks <- count_ticks(x$modules$size)
    graphics::axis(1L, log10(ticks), format_count(ticks))
  }
  panels <- list(
    medianRank = function(...) { # the best preserved module is at the top
      draw(x$modules$medianRank, rev(range(1, x$modules$medianRank, na.rm = TRUE)), "median rank", ...)
    },
    Zsummary = function(...) {
      draw(x$modules$Zsummary, range(0, Z_LIMITS, x$modules$Zsummary, na.rm = TRUE), "Zsummary", ..., levels = Z_LIMITS)
      note(paste0("dashed: some evidence (", Z_LIMITS[1L], "), strong evidence (", Z_LIMITS[2L], ")"))
    }
  )
  if (x$n_perm < 2) panels$Zsummary <- NULL
  draw_page(panels, check_choice(y, c("auto", names(panels)), "y"), ...)
  invisible(x)
}
