# Groups of subjects, or of the rows of matrices, whose coefficients are compared.

# Returns the run with the data of groups. `groups`: see group_model(), and seeds.
with_groups <- function(run, x, y, groups) { # nolint: cyclocomp_linter.
  is_of_rows <- !is_subjects(x) || identical(run$combination$effects, "fixed")
  check_facts(c("gpuCorCompare", paste0("method = \"", run$method, "\""), if (is_of_rows) "one z of all rows",
                if (is.null(y)) "one group", if (!is.null(groups$design)) "design",
                if (!has_distribution(run$method)) "measure without distribution",
                if (is_of_spectra(run$method)) "measure of spectra"), list(method = run$method))
  given <- run$combination
  sizes <- group_sizes(x, y, given$subjects)
  n_first <- sizes[1L]
  names <- subject_names(sum(sizes), n_first)
  # Subjects are often read in the order of a table that was sorted, whose row numbers tell nothing then.
  own <- subject_labels(x)
  theirs <- observation_names(groups$design)
  is_of_participants <- !is.null(own) && length(theirs) && all(grepl("^sub-[^_]*$", theirs))
  if (is_of_participants) own <- sub("^(sub-[^_]*)_.*", "\\1", own) # of sub-01_ses-1
  is_comparable <- are_row_numbers(theirs) == are_row_numbers(own)
  if (is_comparable) check_observations(groups$design, "design", list(names = own))
  check_pairing(own, subject_labels(y), groups$paired)
  is_spread <- length(sizes) == 1L && is.null(groups$design) && identical(given$effects, "fixed")
  # With one subject in each of two groups, the observations are the sample.
  are_matrices <- length(sizes) == 2L && all(sizes == 1L) && !groups$paired
  effects <- if (!is.null(given$effects)) given$effects else if (are_matrices) "fixed" else "random"
  if (effects == "fixed" && isTRUE(run$asked$partial)) {
    check_facts(c("partial", "fixed effects"))
  }
  run <- with_over(run, units = units_of(groups$blocks, groups$whole, if (groups$paired) sizes[1L] else sum(sizes)))
  model <- if (effects == "random") group_model(sizes, groups, run$over$units)
  read <- function(x, names) {
    own <- if (is_subjects(x) || is_experiment(x)) run else with_element(run, assay = NULL)
    read_subjects(own, if (is_subjects(x)) x else list(x), NULL, length(names), names)$x
  }
  data <- read(x, names[seq_len(n_first)]) # those of all groups, of x first
  if (!is.null(y)) {
    data <- c(data, read(y, names[-seq_len(n_first)]))
    check_same_columns(data[[n_first + 1L]], data[[1L]], "y", "'x'")
  }
  if (effects == "fixed") warn_series(run, data[[1L]])
  seeds <- seeds_of(groups$seeds, data, names, run$method)
  run <- with_over(run, seeds = seeds$at)
  weigh <- function(counted) {
    if (!is.null(model)) return(model$weights)
    each <- if (effects == "random") rep(1, length(data)) else fisher_weights(counted$n, names)
    if (is_spread) each else difference_weights(each, seq_along(data) <= n_first)
  }
  skips <- check_combination(given["na.rm"])$skips
  how <- if (is_spread) "spread" else if (skips || isTRUE(model$tested > 1)) DIFFERENCE else "fisher"
  rule <- list(how = how, level = 0.5, skips = skips)
  run <- with_combined(run, list(x = data, y = seeds$data), rule, effects, names, weigh,
                       total = if (!is_spread) 1, n_first = n_first, model = model)
  counted <- run$x$counted
  if (is_of_spectra(run$method) && length(unique(counted$n)) > 1L) {
    warn("gpuCorSegments", "subjects have ", paste(range(counted$n), collapse = " to "), " observations: coherence of ",
         "fewer segments is larger by chance, and groups that differ in them differ in it; use as many of each subject")
  }
  are_alone <- length(sizes) == 1L && is.null(groups$design) && is.null(given$effects)
  if (are_alone && length(data) <= FEW_GROUPS && length(unique(counted$n_obs)) > 1L) {
    tell_once("'x' is a list of ", length(data), " matrices of ", range_of(counted$n_obs, "observation"), ", taken as ",
              "subjects whose mean z is compared with 0; effects = \"fixed\" compares them as groups of samples")
  }
  run
}

# Stops if pairs are of subjects in another order, and warns if independent groups share subjects. `x`, `y`: names of
# the groups' subjects, or NULL.
check_pairing <- function(x, y, paired) {
  both <- intersect(x, y)
  if (!paired && length(both)) {
    warn("gpuCorTwice", n_of(length(both), "subject"), " of 'x' (", toString(utils::head(both, 3L)), ") ",
         ngettext(length(both), "is", "are"), " in 'y', too, and both groups count as independent; paired = TRUE ",
         "compares the same subjects")
  }
  at <- if (paired && length(both) && setequal(x, y)) which(x != y)[1L] else NA
  if (is.na(at)) return(invisible())
  fail("paired = TRUE pairs subject \"", x[at], "\" of 'x' with \"", y[at], "\" of 'y', which have the same names in ",
       "another order; give y[names(x)]")
}

# So few matrices of other lengths may be groups of samples, as split() makes them, and not subjects.
FEW_GROUPS <- 5

# Returns the number of subjects in each group: x, and y if it is given.
group_sizes <- function(x, y, counts) {
  n <- if (is.null(y)) 1L else 2L
  if (n == 1L && !is_subjects(x)) {
    fail_value("'y' is missing; one group must be a list of subjects' matrices; labels of the rows of 'x' are given ",
               "as 'group'")
  }
  refuse_labels(y, x, paste0("'y' must be a matrix or a list of matrices, not a vector of ", n_of(length(y), "value")))
  check_that(counts, "subjects", is.null(counts) || (is_numeric(counts) && length(counts) == n),
             if (n == 2L) "two numbers, those of 'x' and of 'y'" else "a number")
  size <- function(x, count, name) if (is_subjects(x)) count_of(x, count, name) else 1L
  c(size(x, counts[1L], "x"), if (n == 2L) size(y, counts[2L], "y"))
}

# Stops if `labels` are a vector, which may tell groups apart. `problem`: the beginning of the message.
refuse_labels <- function(labels, x, problem) {
  if (!is.atomic(labels) || !is.null(dim(labels)) || length(labels) < 2L) return(invisible())
  fail_value(problem, "; labels of ", if (is_subjects(x)) {
    "subjects split their list, gpuCorCompare(split(x, labels))"
  } else {
    "the rows of 'x' are given as 'group'"
  })
}

# Returns list(x: a list of the rows of x in each group; asked, seeds: the arguments, of which those with a value for
# each row have become lists of each group's). Rows without a label are left out.
split_by_group <- function(x, group, asked, seeds) {
  if (is_subjects(x)) refuse_labels(group, x, "'group' is of the rows of one matrix, and 'x' is a list")
  group <- labels_of_observations(group, "group", x)
  if (nlevels(group) < 2L) fail_value("'group' has ", n_of(nlevels(group), "label"), "; at least two are compared")
  rows <- unname(split(seq_along(group), group))
  parts <- function(values, name) {
    is_of_rows <- !is.null(values) && !is.function(values) && !inherits(values, "formula") && !is_subjects(values)
    if (!is_of_rows) return(values)
    n <- if (is_experiment(values)) ncol(values) else NROW(values)
    check_as_many(n, name, if (is.null(dim(values))) "value" else "row", length(group))
    lapply(rows, function(own) {
      if (is.null(dim(values))) return(values[own])
      if (is_experiment(values)) values[, own] else values[own, , drop = FALSE]
    })
  }
  own <- intersect(names(asked), c("weights", "covariates", "data", "protect", "runs"))
  asked[own] <- Map(parts, asked[own], own)
  list(x = parts(x, "x"), asked = asked, seeds = if (is.null(dim(seeds))) seeds else parts(seeds, "seeds"))
}

# Returns the weights that turn z of subjects into the difference of the groups' means.
difference_weights <- function(weights, is_x) {
  ifelse(is_x, weights / sum(weights[is_x]), -weights / sum(weights[!is_x]))
}

# Returns TRUE if the subjects' labels are permuted, FALSE if the rows of all matrices are.
permutes_labels <- function(run) is_random(run$x) || (length(run$x$data) > 2L && is.null(several_groups(run$x)))
