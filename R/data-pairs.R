# Pair masks, and the form of them that the engine reads.

#' Compute some of the pairs only
#'
#' A pair mask selects the pairs of columns to compute: pairs of the same group or of different groups, pairs that are
#' near each other or far apart. Argument `pairs` of [gpuCorNetwork()], [gpuConnectivity()] and [pickPower()] takes it,
#' and, with a criterion such as `threshold`, that of [gpuCorWindows()] and [gpuCorCompare()]. Functions whose result
#' has a value for every pair, such as [gpuCor()], take no mask.
#'
#' Other pairs are ignored: a density, a false discovery rate and nearest neighbors refer to the pairs of the mask.
#' Their coefficients are those of a run without a mask. A mask saves time, as the run groups the columns. (Data that
#' are read by blocks of columns keep their order: store columns of a group next to each other.)
#'
#' Distances are those of [stats::dist()]. A data frame of coordinates may have one column of groups, such as
#' chromosomes: it is called `chromosome`, `chr`, `chrom` or `seqnames`, or is not numeric. Pairs of different groups
#' are farther than any distance. A column whose label or coordinates are `NA` is in no pair.
#'
#' `a & b` selects the pairs that both masks select, if one is of `same` labels and the other too, or `within_distance`.
#'
#' @param x For `same` and `different`, a vector or factor: the label of each column of the data. For distances, a
#'   matrix of up to three columns such as that of [voxelCoords()], a vector, or a data frame (see Details): the
#'   coordinates, one row for each column of the data.
#' @param y As `x`, for the columns of a second data matrix; `NULL` if there is none.
#' @param same,different `TRUE` to compute the pairs with the same label, or those with different labels.
#' @param within_distance,beyond_distance A number in the units of the coordinates: the max distance of a pair; or pairs
#'   must be farther apart than this, for example than the smoothness of an image.
#' @return An object of class `gpuCorPairs`. Give one of the last four arguments.
#' @examples
#' x <- matrix(rnorm(20 * 60), 20)
#' gpuCorNetwork(x, density = 0.1, pairs = pairMask(rep(c("a", "b", "c"), 20), same = TRUE))
#' gene <- data.frame(chromosome = rep(1:2, 30), position = cumsum(1:60))
#' near <- pairMask(gene, within_distance = 200)
#' gpuCorNetwork(x, k = 2, pairs = near)
#' strand <- pairMask(rep(c("plus", "minus"), 30), same = TRUE)
#' gpuCorNetwork(x, k = 2, pairs = near & strand)
#' grid <- as.matrix(expand.grid(1:5, 1:4, 1:3))
#' gpuCorNetwork(x, fdr = 0.5, pairs = pairMask(grid, beyond_distance = 2))
#' @export
pairMask <- function(x, y = NULL, same = FALSE, different = FALSE, within_distance = NULL, beyond_distance = NULL) {
  is_asked <- c(same = check_flag(same, "same"), different = check_flag(different, "different"),
                within_distance = !is.null(within_distance), beyond_distance = !is.null(beyond_distance))
  if (sum(is_asked) != 1L) fail("give one of ", paste0("'", names(is_asked), "'", collapse = ", "))
  relation <- names(is_asked)[is_asked]
  distance <- if (same || different) 0 else if (is.null(within_distance)) beyond_distance else within_distance
  check_that(distance, relation, are_finite(distance, 1L, 0), "a number of at least 0")
  traits_of <- function(given, name) { # list(label, place), either of which may be NULL
    if (!same && !different) return(place_of(given, name))
    if (is.null(given) || is.atomic(given) && is.null(dim(given))) return(list(label = given, place = NULL))
    fail("labels must be a vector, a label for each column, not of class ", class(given)[1L])
  }
  x <- traits_of(x, "x")
  y <- if (!is.null(y)) traits_of(y, "y")
  if (!is.null(y) && (!identical(nrow(x$place), nrow(y$place)) || is.null(x$label) != is.null(y$label))) {
    fail("'y' must have as many columns as 'x'")
  }
  labels <- setdiff(c(as.character(x$label), as.character(y$label)), NA_character_)
  coded <- function(traits) { # numbers from 0, in order of first appearance
    if (is.null(traits$label)) return(traits)
    traits$label <- match(as.character(traits$label), labels, nomatch = 0L) - 1L
    traits
  }
  structure(list(relation = match(relation, relations) - 1L, dims = if (is.null(x$place)) 0L else nrow(x$place),
                 distance = as.numeric(distance), x = coded(x), y = coded(y)), class = "gpuCorPairs")
}

# Returns list(label, place), with a column of `place` for each column of the data. `label` may be NULL.
place_of <- function(coords, name) {
  label <- NULL
  if (is.data.frame(coords)) {
    coords <- as_numbers(coords)
    is_group <- !vapply(coords, is_numeric, NA) | tolower(names(coords)) %in% GROUP_NAMES
    if (sum(is_group) > 1L) fail("'", name, "' has more than one column of groups: ", toString(names(coords)[is_group]))
    if (any(is_group)) label <- coords[[which(is_group)]]
    coords <- as.matrix(coords[!is_group])
  }
  coords <- as_numbers(coords)
  if (is_numeric(coords) && is.null(dim(coords))) coords <- matrix(coords, ncol = 1L)
  if (!is.matrix(coords) || !is_numeric(coords) || !ncol(coords) %in% 1:3) {
    fail("'", name, "' must be a numeric matrix with a row for each column of the data and up to 3 columns, or a data ",
         "frame, such as of chromosome and position, not ",
         if (inherits(coords, "voxelMatrix")) {
           "voxels' values; voxelCoords() has their places"
         } else if (is.matrix(coords) && is_numeric(coords)) {
           paste("a matrix of", n_of(ncol(coords), "column"))
         } else {
           show_value(coords)
         })
  }
  if (nrow(coords) && !any(stats::complete.cases(coords))) {
    fail("'", name, "' has no column of the data with all coordinates: each has NA")
  }
  place <- t(coords)
  storage.mode(place) <- "double"
  list(label = label, place = unname(place))
}

GROUP_NAMES <- c("chromosome", "chr", "chrom", "seqnames")

# A label of two masks is a pair of their labels. Of pairs beyond a distance, those of different labels are part.
#' @method & gpuCorPairs
#' @export
`&.gpuCorPairs` <- function(e1, e2) {
  are_masks <- inherits(e1, "gpuCorPairs") && inherits(e2, "gpuCorPairs")
  relation <- if (are_masks) relations[c(e1$relation, e2$relation) + 1L] else ""
  if (!"same" %in% relation || !all(relation %in% c("same", "within_distance"))) {
    fail("'&' joins a mask of 'same' labels with another, or with one of 'within_distance'",
         if (are_masks) paste0(", not of '", relation[1L], "' with one of '", relation[2L], "'"))
  }
  given <- if (relation[1L] == "same") list(e2, e1) else list(e1, e2) # the second is of labels
  labels <- lapply(c(x = "x", y = "y"), function(side) {
    of <- lapply(given, `[[`, side)
    n <- vapply(of, function(traits) max(0L, length(traits$label), ncol(traits$place)), 0L)
    if (n[1L] != n[2L]) fail("the masks are of ", paste(n, collapse = " and "), " columns of '", side, "'")
    if (is.null(of[[1L]]$label)) return(of[[2L]]$label)
    ifelse(of[[1L]]$label < 0L | of[[2L]]$label < 0L, NA, paste(of[[1L]]$label, of[[2L]]$label))
  })
  known <- setdiff(unlist(labels), c(NA, -1L))
  both <- given[[1L]]
  for (side in names(Filter(length, labels))) both[[side]]$label <- match(labels[[side]], known, nomatch = 0L) - 1L
  both
}

#' @method print gpuCorPairs
#' @export
print.gpuCorPairs <- function(x, ...) {
  sides <- Filter(Negate(is.null), x[c("x", "y")])
  sizes <- vapply(sides, function(traits) max(length(traits$label), ncol(traits$place)), 0)
  cat("Pairs of ", paste(vapply(sizes, format_count, ""), collapse = " x "), " columns, ",
      switch(relations[x$relation + 1L], same = "of the same label", different = "of different labels",
             within_distance = paste("at most", format(x$distance), "apart"),
             beyond_distance = paste("more than", format(x$distance), "apart")), "\n", sep = "")
  invisible(x)
}

# ---- the engine's form

# Relations, in the order of the engine's codes.
relations <- c("same", "different", "within_distance", "beyond_distance")

# A pair mask is a list: `relation`, a code; `dims`, of the places; `distance`; and for x and y `label`, numbers from 0
# (NA: -1), and `place`, a column for each variable.

# Returns the run with its pair mask for the engine and its number of pairs, or stops if the mask does not fit the
# columns of x and y. The engine checks lengths. `pairs`: from pairMask(), or NULL.
with_pairs <- function(run, pairs = run$mask) {
  if (!is.null(pairs)) {
    check_that(pairs, "pairs", inherits(pairs, "gpuCorPairs"), "from pairMask()")
    are_traits <- function(traits) {
      is.list(traits) && (is.null(traits$label) || is.integer(traits$label)) &&
        if (pairs$relation < 2L) {
          !is.null(traits$label) && is.null(traits$place)
        } else {
          is.matrix(traits$place) && is.double(traits$place)
        }
    }
    is_whole <- is.list(pairs) && is_number_within(pairs$relation, 0, 3) && is_number_within(pairs$dims, 0, 3) &&
      is_number_within(pairs$distance, 0, .Machine$double.xmax) && are_traits(pairs$x) &&
      (is.null(pairs$y) || are_traits(pairs$y))
    if (!is_whole) fail("'pairs' was changed since pairMask() made it; make it again")
    check_facts(c(if (!is.null(run$y)) "y", paste("pairs of", if (is.null(pairs$y)) "one data set" else "'x' and 'y'")))
    for (name in c("x", if (!is.null(run$y)) "y")) {
      n <- max(length(pairs[[name]]$label), ncol(pairs[[name]]$place)) # one of them
      columns <- ncol(run[[name]])
      if (n != columns) fail("'pairs' is of ", n_of(n, "column"), ", and '", name, "' has ", format_count(columns))
    }
  }
  with_mask(run, if (!is.null(pairs)) unclass(pairs))
}
