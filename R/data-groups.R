# Groups of columns, the argument `groups`. The engine multiplies columns; that of a group has a value for each pair of
# observations: their distance or product, U-centred (Szekely and Rizzo 2014).

# Returns check_input()'s list with a column for each of the run's groups, if there are groups. A group with a missing
# or infinite value is a column of these, which has no coefficients.
grouped <- function(input, run) {
  groups <- run$asked$groups
  if (is.null(groups)) return(input)
  x <- input$x
  if (is_atlas(groups, x)) groups <- parcels_of_columns(x, groups, "groups")
  check_that(groups, "groups", is.atomic(groups) && is.null(dim(groups)), "a vector with a label for each column")
  check_as_many(length(groups), "groups", "label", ncol(x), of = "column")
  if (!is.null(names(groups)) && !is.null(colnames(x)) && !identical(names(groups), colnames(x))) {
    is_permuted <- setequal(names(groups), colnames(x))
    fail("'groups' has ", if (is_permuted) "the names of the columns of 'x' in another order",
         if (!is_permuted) "other names than the columns of 'x'", "; give groups[colnames(x)], or unname() it")
  }
  groups[is.na(groups)] <- NA # NaN, too
  groups <- droplevels(if (is.factor(groups)) groups else factor(groups, unique(groups)))
  if (nlevels(groups) < 2L) fail("'groups' has ", n_of(nlevels(groups), "label"), "; coefficients need at least two")
  columns <- split(seq_along(groups), groups)
  complete_rows <- function(at) stats::complete.cases(dense_columns(x, at))
  kept <- if (!uses[run$use] %in% c("everything", "all.obs")) Reduce(`&`, lapply(columns, complete_rows))
  if (uses[run$use] == "pairwise.complete.obs" && !all(kept)) {
    fail("'groups' need the same observations for all pairs, and values are missing; use = \"complete.obs\" leaves ",
         "these")
  }
  n <- if (is.null(kept)) nrow(x) else sum(kept)
  if (n < 4) fail("'groups' need at least 4 observations; there ", if (n == 1) "is " else "are ", n)
  check_memory(8 * (pairs_of(n) * length(columns) + 6 * n^2), "'groups'",
               paste(n_of(pairs_of(n), "pair"), "of observations"), "use fewer observations or groups")
  # The U-centred distances of the rows, or their products without those of a row with itself; zeros if nothing but
  # rounding is left.
  values <- vapply(columns, FUN.VALUE = numeric(pairs_of(n)), function(at) {
    own <- dense_columns(x, at)
    if (!is.null(kept)) own <- own[kept, , drop = FALSE]
    if (!all(is.finite(own))) return(rep(if (anyNA(own)) NA_real_ else Inf, pairs_of(n)))
    own <- own / max(abs(own), .Machine$double.xmin)
    is_product <- run$method == "rv"
    between <- if (is_product) `diag<-`(tcrossprod(sweep(own, 2L, colMeans(own))), 0) else as.matrix(stats::dist(own))
    sums <- rowSums(between)
    centred <- between - outer(sums, sums, "+") / (n - 2) + sum(sums) / ((n - 1) * (n - 2))
    left <- centred[lower.tri(centred)]
    if (sum(left^2) > 2^-80 * sum(between^2)) left else 0 * left
  })
  list(x = values, y = NULL, scalar = FALSE, observations = NULL)
}
