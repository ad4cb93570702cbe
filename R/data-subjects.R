#' Many subjects, combined pair by pair
#'
#' Where `x` of [gpuCor()], [gpuCorNetwork()] and [gpuConnectivity()] is a list of matrices, a matrix for each subject
#' (or run, session, study), each pair of columns has a coefficient in each of them, and what these functions return is
#' made of the pair's combined coefficient: a group's connectome from one call. Subjects may have different numbers of
#' rows, and have the same columns. No subject's coefficients are stored: they are combined tile by tile, so that memory
#' is that of one subject's result.
#'
#' These arguments are given to the function in the place of `...`:
#'
#' * `combine = "mean"`: the mean of the subjects' coefficients, weighted where `subject_weights` are given. It is the
#'   default, and a message says so;
#'   `"fisher"`: the mean by Fisher's z, tanh of the weighted mean of their artanh, with the weights n - 3 of n
#'   observations unless `subject_weights` says otherwise, which has the least variance; `"min"`: the smallest, so that
#'   with `sign = "positive"` the edges are those that every subject has; `"quantile"`: their quantile, as
#'   [stats::quantile()] has it by default.
#' * `probs`: a number in \[0, 1\], with `"quantile"`; the median, unless it is given.
#' * `subject_weights`: a positive number for each subject.
#' * `effects`: `"random"` or `"fixed"`, see the section on p values.
#' * `na.rm`: what becomes of a pair that has no coefficient in one of the subjects, because a column is constant or has
#'   missing values there. `FALSE`: it has none. `TRUE`: those of the other subjects are combined, with their own
#'   weights.
#' * `subjects`: how many there are, where `x` is a function.
#' * `weights`, `covariates`, `data`: as in [gpucor-measures], one for each subject: a list, or a function of the
#'   subject's number. A value that is not a list applies to every subject.
#'
#' `x` may be a function: `x(i)` returns the matrix of subject i, of `subjects`. It is called once for each, in order,
#' by R's own thread, before the first pair is computed. What it returns is kept until the call ends: in memory, up to a
#' quarter of what is free, and beyond that in temporary files, in the folder that the option `gpucor.folder` or the
#' variable `GPUCOR_FOLDER` names or in [tempdir()], which all threads read. So it is never called
#' again, however many passes over the data follow, and however little of the subjects' columns fits the memory at a
#' time. Matrices in the list are left where they are, and may be anything that a single `x` may be: files, for example.
#'
#' With `y` there is a list (or a function) of as many subjects for that, too.
#'
#' Accuracy: a subject's coefficient is that of [gpuCor()], in single or in double precision as `precision` says, also
#' in networks. They are combined in double, in the order of the subjects, so that the result is the same on every back
#' end and for any number of threads. Fisher's z of a coefficient that is closer than 2^-24 (6e-8) to 1 or -1 is taken
#' of that one, and is 8.7: without that a pair of equal columns in one subject would be infinitely strong in all. The
#' result of a single subject is that of the call without a list, whatever `combine` says.
#'
#' `density`, `threshold` and `k` are of combined coefficients.
#' @section P values: `p.value` and `fdr` of [gpuCorNetwork()] need `combine = "fisher"`. `effects` says what they are
#'   of:
#'
#'   * `"random"` (default): subjects are the sample. A pair's p value is that of Student's t test of its subjects' z,
#'     `t.test(atanh(r))`, with as many degrees of freedom as there are subjects less one. Each subject counts once, and
#'     the edge's coefficient is tanh of the mean z. Any method and any `use`; with `na.rm = TRUE` a pair is tested with
#'     the subjects that have a coefficient, two at least. Observations within a subject may depend on each other.
#'   * `"fixed"`: the conclusion is about these subjects only, and their observations are independent. The weighted mean
#'     z has the standard error `sqrt(sum(w^2 / (n - 3))) / sum(w)`, which is `1 / sqrt(sum(n - 3))` with the default
#'     weights; n is less by the degrees of freedom that covariates take; the variance of the z of Spearman's rho is
#'     1.06 / (n - 3) (Fieller and others 1957). `df`, a number for each subject, replaces its n - 2: the effective
#'     degrees of freedom of a series. Kendall's tau-b, pairwise-complete observations and `na.rm = TRUE` have no
#'     standard error that is the same for all pairs, and are errors.
#'
#'   Subjects differ among themselves, and volumes of a scan depend on each other: with `"fixed"` the p values of such
#'   data are far too small. See [gpucor-p-values].
#' @section Memory and time: prepared columns of all subjects stay where they are used: on the GPU, at some 6 bytes a
#'   value, or on the processor, at 8, in up to a quarter of the memory that is free, if `memory` does not say how much
#'   it may be. Where they do not fit they are prepared again for each band of tiles, from the matrices. P values of
#'   random effects take one more pass over the data, for the tests of the edges.
#'
#' @section Errors: a subject's number is part of the message: other columns, or other names of them, than the first
#'   one; other rows than its `y`; everything that is an error for a single matrix.
#' @references
#' Fieller EC, Hartley HO, Pearson ES (1957). Tests for rank correlation coefficients. I. *Biometrika* 44, 470-481.
#'
#' Fisher RA (1921). On the "probable error" of a coefficient of correlation deduced from a small sample. *Metron* 1,
#' 3-32.
#' @seealso [gpuCorCompare()] for the difference between two groups of subjects; [gpucor-p-values] for which data
#'   p values are valid
#' @examples
#' set.seed(1)
#' shared <- matrix(rnorm(200), 50) %*% matrix(rnorm(120), 4)
#' subjects <- lapply(c(50, 40, 30), function(n) shared[1:n, ] + matrix(rnorm(n * 30), n))
#' gpuCorNetwork(subjects, density = 0.02, combine = "fisher")
#' gpuCorNetwork(subjects, p.value = 0.01, combine = "fisher")
#' r <- gpuCor(subjects, combine = "quantile", probs = 0.5)
#' all.equal(r[1, 2], median(sapply(subjects, function(x) cor(x[, 1], x[, 2]))))
#' gpuCorNetwork(function(i) subjects[[i]], subjects = 3, threshold = 0.3, combine = "mean")
#' @name subjects
NULL

combinations <- c("mean", "fisher", "min", "quantile")

# As check_input(), of one subject or many. tests: whether p values will be computed.
check_data <- function(x, y, use, method, settings, tests = FALSE) {
  given <- settings$combination
  if (is_subjects(x)) return(check_subjects(x, y, use, method, settings, given, tests))
  if (length(given)) {
    fail("'", names(given)[1L], "' says how subjects are combined, and 'x' is not a list of their matrices",
         "; leave it out")
  }
  check_input(x, y, use, method, settings$assay)
}

# The input with subjects' data in the place of matrices; of one subject, its own.
check_subjects <- function(x, y, use, method, settings, given, tests) {
  rule <- check_combination(given)
  effects <- check_effects(given, tests)
  n <- subjects_of(x, y, given$subjects)
  data <- read_subjects(x, y, n, use, method, settings$assay)
  if (n == 1L) {
    return(list(x = data$x[[1L]], y = data$y[[1L]], scalar = FALSE, asked = asked_of_subject(settings$asked, 1L, 1L)))
  }
  designs <- subject_designs(settings, data, method, use, effects)
  counted <- count_subjects(data, designs, method, use, settings)
  weights <- if (effects == "random") rep(1, n) else check_subject_weights(given$subject_weights, rule$how, counted$n)
  if (is.null(given$combine)) tell_mean(settings)
  list(x = new_subjects(data$x, rule, weights, sum(weights), counted, designs, effects),
       y = if (!is.null(y)) new_subjects(data$y), scalar = FALSE)
}

# Not in a plan, which calls the function several times.
tell_mean <- function(settings) {
  if (!is.null(settings$replay)) return(invisible())
  message("'combine' is not given, so the subjects' coefficients are averaged, as by combine = \"mean\"; ?subjects ",
          "has the other ways")
}

# effects: of the tests, "random" or "fixed"; "none": there are none. n_first: the first subjects are one group, the
# others another.
new_subjects <- function(data, rule = NULL, weights = NULL, total = 1, counted = NULL, designs = NULL,
                         effects = "none", n_first = length(data)) {
  code <- if (!is.null(rule)) constant(paste("combine", rule$how))
  structure(list(data = data, names = colnames(data[[1L]]), name = rule$how, how = code,
                 share = rule$share, skips = rule$skips, weights = weights, total = total, counted = counted,
                 designs = designs, effects = effects, n_first = n_first),
            class = "gpuCorSubjects")
}

# ---- adjustment of each subject's columns for covariates, and its complete observations

# What was asked for, for subject i of n: of lists the i-th, of functions what they return.
asked_of_subject <- function(asked, i, n) {
  if (is.numeric(asked$df) && length(asked$df) > 1L) asked$df <- as.list(asked$df)
  for (name in intersect(names(asked), c("weights", "covariates", "data", "df"))) {
    given <- asked[[name]]
    if (is.function(given)) given <- given(i)
    if (is.list(given) && !is.object(given)) {
      if (length(given) != n) fail("'", name, "' is a list of ", length(given), ", and there are ", n, " subjects")
      given <- given[[i]]
    }
    asked[name] <- list(given)
  }
  asked[!vapply(asked, is.null, NA)]
}

# A list of each subject's design, or NULL if no argument asks for any.
subject_designs <- function(settings, data, method, use, effects) {
  asked <- settings$asked
  n <- length(data$x)
  if (!length(asked)) return(NULL)
  check_subject_df(asked$df, effects)
  each_subject(n, function(i) {
    settings$asked <- asked_of_subject(asked, i, n)
    designed_input(settings, list(x = data$x[[i]], y = data$y[[i]]), method, use, tests = effects == "fixed")$design
  })
}

check_subject_df <- function(df, effects) {
  if (is.null(df)) return(invisible())
  if (effects == "random") {
    fail("'df' is of a subject's observations, and with effects = \"random\" subjects are the sample; leave it out")
  }
  if (identical(df, "bartlett")) {
    fail("df = \"bartlett\" has degrees of freedom for each pair; several subjects take a number for each of them")
  }
}

#' @export
dim.gpuCorSubjects <- function(x) c(sum(vapply(x$data, nrow, 0L)), ncol(x$data[[1L]]))

#' @export
dimnames.gpuCorSubjects <- function(x) if (!is.null(x$names)) list(NULL, x$names)

check_combination <- function(given) {
  how <- check_choice(if (is.null(given$combine)) "mean" else given$combine, combinations, "combine")
  if (!is.null(given$probs) && how != "quantile") {
    fail("'probs' has a meaning with combine = \"quantile\" only; leave it out")
  }
  share <- if (is.null(given$probs)) 0.5 else check_share(given$probs, "probs", zero = TRUE)
  skips <- if (is.null(given$na.rm)) FALSE else check_flag(given$na.rm, "na.rm")
  list(how = how, share = share, skips = skips)
}

# How many subjects x has, and y, if there is any. n: argument 'subjects'.
subjects_of <- function(x, y, n) {
  of_x <- count_of(x, n, "x")
  if (is.null(y)) return(of_x)
  if (!is_subjects(y)) fail("'x' is a list of subjects, and 'y' is none; give a list of as many")
  of_y <- count_of(y, n, "y")
  if (of_y != of_x) fail("'x' has ", n_of(of_x, "subject"), ", and 'y' has ", of_y)
  of_x
}

count_of <- function(x, n, name) {
  if (is.function(x)) {
    if (is.null(n)) {
      fail("'", name, "' must be numeric, not of class function; if it returns subjects' data, say by 'subjects' of ",
           "how many")
    }
    return(check_whole(n, "subjects", 1, 1e6))
  }
  if (!is.null(n) && !identical(as.numeric(n), as.numeric(length(x)))) {
    fail("'subjects' is ", show_value(n), ", and '", name, "' is a list of ", length(x), "; leave it out")
  }
  if (!length(x)) fail("'", name, "' is a list of no subjects; it needs a matrix for each of them")
  length(x)
}

# All subjects' matrices, each checked when it is there.
read_subjects <- function(x, y, n, use, method, assay) {
  data <- list(x = vector("list", n), y = if (!is.null(y)) vector("list", n))
  keeper <- new_keeper()
  each_subject(n, function(i) {
    own <- check_input(as_subject(x, i), if (!is.null(y)) as_subject(y, i), use, method, assay)
    check_same_columns(own$x, data$x[[1L]], "x", FIRST_SUBJECT)
    if (!is.null(y)) check_same_columns(own$y, data$y[[1L]], "y", FIRST_SUBJECT)
    data$x[[i]] <<- if (is.function(x)) keep_data(keeper, own$x) else own$x
    if (!is.null(y)) data$y[[i]] <<- if (is.function(y)) keep_data(keeper, own$y) else own$y
  })
  data
}

# f of each subject's number, in a list. An error tells the subject's number, and so does the first warning of each
# class; later ones are not shown.
each_subject <- function(n, f) {
  warned <- character()
  warn_once <- function(i, condition) {
    class <- class(condition)[1L]
    if (!class %in% warned) {
      warned <<- c(warned, class)
      warn(class, "subject ", i, ": ", conditionMessage(condition))
    }
    invokeRestart("muffleWarning")
  }
  lapply(seq_len(n), function(i) {
    withCallingHandlers(in_subject(i, f(i)), gpuCorWarning = function(condition) warn_once(i, condition))
  })
}

in_subject <- function(i, code) {
  tryCatch(code, error = function(condition) {
    fail_again(condition, paste0("subject ", i, ": ", conditionMessage(condition)))
  })
}

# A matrix: of a vector it is not known what its columns are.
as_subject <- function(x, i) {
  own <- if (is.function(x)) x(i) else x[[i]]
  if (is.null(own)) fail("there are no data")
  if (is_variables(own) && is.null(dim(own))) {
    fail("it must be a matrix, not a vector", if (is.list(x) && all(lengths(x) == length(own))) {
      "; a list stands for many subjects. If it holds one's variables, as.data.frame() has them as columns"
    })
  }
  own
}

FIRST_SUBJECT <- "that of the first subject"

# The columns of m, called `name`, against those of `first`, called `other`.
check_same_columns <- function(m, first, name, other) {
  if (is.null(first)) return(invisible())
  if (ncol(m) != ncol(first)) {
    fail("'", name, "' has ", n_of(ncol(m), "column"), ", and ", other, " ", ncol(first))
  }
  if (have_other_voxels(m, first)) {
    fail("'", name, "' has voxels of another mask than ", other, "; read all subjects with one mask, ",
         "voxelMatrix(img, mask)")
  }
  own <- colnames(m)
  names <- colnames(first)
  if (is.null(own) || is.null(names) || identical(own, names)) return(invisible())
  at <- which(own != names | is.na(own) != is.na(names))[1L]
  fail("column ", at, " of '", name, "' is \"", own[at], "\", and ", other, " \"", names[at], "\"")
}

# True for two voxel matrices whose columns are different voxels. Constant voxels are dropped from each image.
have_other_voxels <- function(m, first) {
  masks <- lapply(list(m, first), attr, "mask", exact = TRUE)
  if (is.null(masks[[1L]]) || is.null(masks[[2L]])) return(FALSE)
  !identical(which(as.vector(masks[[1L]]) != 0), which(as.vector(masks[[2L]]) != 0))
}

# What a function returns stays in memory as long as that is no more than a part of what was free, and goes to files
# then, which are removed when nobody has them any more.
new_keeper <- function() {
  keeper <- new.env(parent = emptyenv())
  keeper$left <- spool_bytes()
  if (keeper$left == 0) keeper$left <- Inf
  keeper
}

keep_data <- function(keeper, m) {
  if (is_outside(m)) return(m)
  bytes <- as.numeric(utils::object.size(m))
  keeper$left <- keeper$left - bytes
  if (keeper$left >= 0 || !is.matrix(m) || .Platform$endian != "little") return(m)
  file <- tempfile("gpucor", setting_folder(tempdir()))
  writeBin(as.vector(m), file, endian = "little")
  kept <- raw_file(file, dim(m), if (is.double(m)) "double" else "integer", list(rownames(m), colnames(m)), 0)
  attr(kept, "tr") <- attr(m, "tr")
  remove_with(kept$pointer, file)
  kept
}

# A file is removed when nothing refers to it any more, or R ends. Not in a child of this process.
remove_with <- function(pointer, file) {
  process <- Sys.getpid()
  reg.finalizer(pointer, function(pointer) if (Sys.getpid() == process) unlink(file), onexit = TRUE)
}

# n: how many observations each subject has that count, or what weights leave of these, less those lost to regression;
# or as many as its 'df' says; lost: how many fewer that is than count;
# common: whether pairs have their own in any of them.
count_subjects <- function(data, designs, method, use, settings) {
  counts <- lapply(seq_along(data$x), function(i) {
    settings["design"] <- list(designs[[i]])
    in_subject(i, count_observations(data$x[[i]], data$y[[i]], method, use, settings))
  })
  lost <- vapply(seq_along(counts), function(i) if (is.null(designs[[i]])) 0 else as.numeric(designs[[i]]$lost), 0)
  taken <- measure_of(method)$df_taken
  n <- vapply(seq_along(counts), FUN.VALUE = 0, function(i) {
    if (is.null(designs[[i]]$df)) effective_n(designs[[i]], counts[[i]]) - lost[i] else designs[[i]]$df + taken
  })
  list(n = n, lost = vapply(counts, function(count) as.numeric(count$n_obs), 0) - n,
       common = any(vapply(counts, `[[`, NA, "common")))
}

check_subject_weights <- function(weights, how, n) {
  if (is.null(weights)) return(if (how == "fisher") fisher_weights(n) else rep(1, length(n)))
  if (how %in% c("min", "quantile")) {
    fail("'subject_weights' do not matter with combine = \"", how, "\"; leave them out")
  }
  ok <- is.numeric(weights) && length(weights) == length(n) && all(is.finite(weights)) && all(weights > 0)
  if (!ok) {
    fail("'subject_weights' must be a positive number for each of the ", length(n), " subjects, not ",
         show_value(weights))
  }
  as.numeric(weights)
}

fisher_weights <- function(n) {
  few <- which(n < 4)
  if (length(few)) {
    fail("subject ", few[1L], " has ", n_of(n[few[1L]], "observation"), "; Fisher's z weighs n of them by n - 3, and ",
         "needs at least 4")
  }
  n - 3
}

# ---- p values

effect_names <- c("random", "fixed")

# Returns "random" (subjects are a sample), "fixed" (they are the only ones of interest) or "none" (no tests).
check_effects <- function(given, tests) {
  if (!tests && !is.null(given$effects)) fail("'effects' says what p values are of, and there are none; leave it out")
  if (!tests) return("none")
  effects <- if (is.null(given$effects)) "random" else check_choice(given$effects, effect_names, "effects")
  if (effects == "random" && !is.null(given$subject_weights)) {
    fail("'subject_weights' have no meaning with effects = \"random\", where each subject counts once; leave them ",
         "out, or give effects = \"fixed\"")
  }
  effects
}

is_random <- function(x) is_combined(x) && x$effects == "random"

check_tested_combination <- function(x) {
  if (x$name == "fisher") return(invisible())
  fail("p values of subjects' coefficients follow from combine = \"fisher\" only; combine is \"", x$name, "\"")
}

# significance_of() for subjects. With subjects left out the degrees of freedom differ from pair to pair.
combined_significance <- function(task) {
  if (!is.null(task$min_obs)) fail("'min_obs' is for one subject's data; leave it out")
  if (is_random(task$x)) return(random_significance(task))
  list(n = sum(task$x$counted$n), one_by_one = FALSE, single = TRUE, quotients = NULL,
       distribution = list(error = combined_error(task$x, task$method)))
}

# ---- random effects: Student's t of each subject's z

random_significance <- function(task) {
  x <- task$x
  check_tested_combination(x)
  check_group_sizes(x)
  n <- length(x$data)
  list(n = sum(x$counted$n), one_by_one = TRUE, single = FALSE, quotients = NULL, score = function(p) -log(p),
       p_of_score = function(score) exp(-score), distribution = list(df = n - if (x$n_first < n) 2 else 1))
}

check_group_sizes <- function(x) {
  sizes <- c(x$n_first, length(x$data) - x$n_first)
  if (all(sizes != 1)) return(invisible())
  fail("effects = \"random\" needs at least two subjects", if (all(sizes > 0)) " in each group",
       ", whose z vary; effects = \"fixed\" takes one")
}

# The task whose coefficients are those of Student's t, t / sqrt(t^2 + df).
with_t <- function(task) {
  task$x$name <- "t"
  task$x$how <- constant("combine t")
  task
}

# Columns of tables with tests of groups.
GROUP_COLUMNS <- c("statistic", "df")

# Tests the entries of rows, or all pairs without rows. Returns difference (the mean z, or the difference of the groups'
# means), statistic and df.
group_tests <- function(task, rows = NULL, settings = task$settings) {
  settings["pairs"] <- list(NULL) # rows say which pairs are tested
  found <- checked(.Call(r_group_tests, task$x, task$y, method_code(task$method), task$use, rows, settings))
  found$statistic <- ifelse(found$difference == 0, 0, found$difference / found$error) # no difference, no deviation: 0
  found
}

# -log(p), two-sided.
t_scores <- function(tests) -log(2) - stats::pt(-abs(tests$statistic), tests$df, log.p = TRUE)

p_of_tests <- function(tests) exp(-t_scores(tests))

# Rows whose entries are r of t become rows of combined coefficients, with the tests of the entries.
with_group_tests <- function(rows, task) {
  rows$group_tests <- group_tests(task, rows, part_of(task$settings, 1, 0, "tests of the edges"))
  rows$x <- tanh(rows$group_tests$difference)
  rows
}

# ---- fixed effects: the z of each subject has the variance that its number of observations gives

# The variance of a z of n observations, times n - 3.
Z_VARIANCES <- c(pearson = 1, spearman = 1.06)

# The standard error of the sum of weighted z, over the total: the same for all pairs, or an error.
combined_error <- function(x, method) {
  check_tested_combination(x)
  variance <- Z_VARIANCES[method]
  hint <- "; effects = \"random\" tests the subjects' coefficients themselves"
  if (is.na(variance)) {
    known <- paste0('"', names(Z_VARIANCES), '"', collapse = " and ")
    fail("p values by effects = \"fixed\" are known for methods ", known, ", not for \"", method, "\"", hint)
  }
  if (x$skips) fail("p values by effects = \"fixed\" need all subjects for each pair; leave out na.rm = TRUE")
  if (x$counted$common) {
    fail("p values by effects = \"fixed\" need the same observations for all pairs of a subject; ",
         "with missing values use = \"complete.obs\" leaves these")
  }
  few <- which(x$counted$n < 4)
  if (length(few)) {
    fail("p values need at least 4 observations of each subject; subject ", few[1L], " has ", x$counted$n[few[1L]])
  }
  sqrt(sum(x$weights^2 * variance / (x$counted$n - 3))) / abs(x$total)
}
