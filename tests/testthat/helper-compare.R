# Comparing with stats::cor().

options(gpucor.threads = 1L) # two files are tested at a time, and checks may use two cores

backends <- function() gpuInfo()$backends

skip_without_gpu <- function() skip_if_not("cuda" %in% backends(), "needs a GPU")

all_methods <- c("pearson", "kendall", "spearman")
alternatives <- c("two.sided", "less", "greater")
all_uses <- c("everything", "all.obs", "complete.obs", "na.or.complete", "pairwise.complete.obs")

# Kendall is a ratio of integers; the others are products of columns that were rounded to single precision, of which
# twelve at a time are summed in single precision.
tolerance <- c(pearson = 1e-6, kendall = 1e-12, spearman = 1e-6)

# What evaluating `code` comes to: a value or an error's text, and whether a constant column
# was warned of.
outcome <- function(code) {
  warned <- FALSE
  error <- NULL
  value <- withCallingHandlers(
    tryCatch(code, error = function(condition) {
      error <<- conditionMessage(condition)
      NULL
    }),
    warning = function(condition) {
      warned <<- warned || grepl("standard deviation is zero", conditionMessage(condition))
      invokeRestart("muffleWarning")
    }
  )
  list(value = value, error = error, warned = warned)
}

# How many rows there are for cor() to rank.
ranked_rows <- function(x, y, use) {
  both <- if (is.null(y)) x else cbind(x, y)
  if (use %in% c("complete.obs", "na.or.complete")) sum(rowSums(is.na(both)) == 0) else nrow(both)
}

# stats::cor() where it is consistent. A single row it ranks by row(), which loses names and missing values, so
# that "all.obs" is no longer an error; the values are NA by any method. And by pairs it ranks no single column that
# has missing values or no rows: the error is of diag(), which takes the coefficient for a size.
reference_cor <- function(x, y = NULL, use = "everything", method = "pearson") {
  if (use == "pairwise.complete.obs") {
    if (is.null(y) && ncol(x) == 1) return(cor(cbind(x, x), NULL, use, method)[1, 1, drop = FALSE])
  } else if (ranked_rows(x, y, use) == 1) {
    method <- "pearson"
  }
  cor(x, y, use, method)
}

# Whether cor() looks at memory it has not set when it decides to warn.
warns_at_random <- function(x, y, use) use == "everything" && is.null(y) && anyNA(x)

first_place <- function(which) {
  at <- if (is.matrix(which)) which(which, arr.ind = TRUE)[1, ] else which(which)[1]
  paste0("[", paste(at, collapse = ", "), "]")
}

differences <- function(ours, truth, tolerance) {
  if (!identical(dim(ours), dim(truth))) {
    return(paste("dim is", paste(dim(ours), collapse = " x "), "not", paste(dim(truth), collapse = " x ")))
  }
  if (!identical(dimnames(ours), dimnames(truth))) return("dimnames differ")
  na <- is.na(ours) != is.na(truth)
  nan <- is.nan(ours) != is.nan(truth)
  off <- !na & !is.na(truth) & !(abs(ours - truth) <= tolerance)
  c(if (any(na)) paste("NA in one only at", first_place(na)),
    if (any(nan & !na)) paste("NaN against NA at", first_place(nan & !na)),
    if (any(off)) paste("off by", max(abs(ours - truth)[off]), "at", first_place(off)))
}

# All coefficients of x (with y), the NA pattern, errors and warnings are those of cor().
expect_like_cor <- function(x, y = NULL, use = "everything", method = "pearson", backend = "cpu", label = "", ...,
                            within = tolerance[[method]]) {
  truth <- outcome(reference_cor(x, y, use, method))
  ours <- outcome(gpuCor(x, y, method, use, output = "matrix", backend = backend, ...))
  wrong <- if (is.null(truth$error) != is.null(ours$error)) {
    paste0("ours: ", ours$error, "; cor(): ", truth$error)
  } else {
    c(differences(ours$value, truth$value, within),
      if (truth$warned && !ours$warned && !warns_at_random(x, y, use)) "cor() warned of a constant column")
  }
  expect(length(wrong) == 0, paste(c(paste(backend, method, use, label), wrong), collapse = "\n"))
  invisible(ours$value)
}

# The value, its shape and names, or the error's text.
expect_same_answer <- function(ours, truth, label) {
  ours <- outcome(ours)
  truth <- outcome(truth)
  same <- identical(ours$error, truth$error) && identical(dim(ours$value), dim(truth$value)) &&
    identical(dimnames(ours$value), dimnames(truth$value)) && isTRUE(all.equal(ours$value, truth$value))
  expect(same, paste0(label, ": ", deparse1(ours[1:2]), "; cor(): ", deparse1(truth[1:2])))
}

# The method's definition, fast where there are few observations and many variables.
quick_cor <- function(x, method) {
  if (method == "pearson") return(suppressWarnings(cor(x)))
  if (method == "spearman") return(suppressWarnings(cor(apply(x, 2, rank))))
  k <- utils::combn(nrow(x), 2)
  products <- crossprod(sign(x[k[1, ], , drop = FALSE] - x[k[2, ], , drop = FALSE]))
  norm <- ifelse(diag(products) > 0, sqrt(diag(products)), NA)
  r <- products / norm / rep(norm, each = ncol(x))
  diag(r) <- 1
  r
}

expect_no_difference <- function(ours, truth, method, label = "") {
  wrong <- differences(ours, truth, tolerance[[method]])
  expect(length(wrong) == 0, paste(c(paste(method, label), wrong), collapse = "\n"))
}

# values[k] is the coefficient of x[, pairs$i[k]] and y[, pairs$j[k]].
expect_pairs_like_cor <- function(values, pairs, x, y = x, use = "everything", method = "pearson", label = "") {
  one <- function(i, j) suppressWarnings(cor(x[, i], y[, j], use, method))
  expect_no_difference(values, mapply(one, pairs$i, pairs$j), method, paste(use, label))
}

# ---- settings

# f of each row of combinations, as covering() makes them: of its values, in the order of its columns, and of a label.
for_rows <- function(rows, f) {
  for (k in seq_len(nrow(rows))) {
    row <- lapply(rows, `[[`, k)
    do.call(f, c(unname(row), label = paste(vapply(row, toString, ""), collapse = ", ")))
  }
}

with_options <- function(new, code) {
  old <- options(new)
  on.exit(options(old))
  force(code)
}

# The same to the last bit however the work of run(...) is divided: between threads, rounds and workers.
expect_same_divided <- function(run) {
  truth <- run(threads = 1)
  expect_identical(run(threads = 2), truth)
  expect_identical(run(memory = 1), truth)
  .Call(gpucor:::r_set_shared_steps, 1)
  on.exit(.Call(gpucor:::r_set_shared_steps, 0))
  with_options(list(gpucor.workers_per_device = 3L), expect_identical(run(), truth))
}

# NA unsets a variable.
with_env <- function(new, code) {
  old <- Sys.getenv(names(new), unset = NA, names = TRUE)
  set <- function(values) {
    Sys.unsetenv(names(values)[is.na(values)])
    if (!all(is.na(values))) do.call(Sys.setenv, as.list(values[!is.na(values)]))
  }
  on.exit(set(old))
  set(new)
  force(code)
}

live <- function() .Call(gpucor:::r_live)

# What earlier results own, R frees when it collects them.
expect_nothing_live <- function(label = "") {
  if (live()$host > 0) gc()
  left <- live()
  expect(left$host == 0 && left$device == 0,
         paste(label, "left", left$host, "host and", left$device, "device allocations"))
}

# crossprod() and tcrossprod() as users call them, who see exported methods only: functions of base since R 4.4.
product <- function(f, ...) {
  generic <- if (getRversion() < "4.4") getExportedValue("gpucor", f) else getExportedValue("base", f)
  do.call(generic, list(...), envir = globalenv())
}

# The false discovery rate of each pair by permutation: over the cuts at and below its own, the least mean number of
# values beyond it, of permutations of which the data are one, over the number of the data's. permuted: a column for
# each other permutation. Cuts are 1e-4 * 2 apart.
permutation_rates <- function(values, permuted, sign) {
  side <- switch(sign, absolute = abs, positive = identity, negative = function(v) -v)
  cuts <- seq(if (sign == "absolute") 0 else -1, 1 - 2e-4, by = 2e-4)
  n_from <- function(values) length(values) - findInterval(cuts, sort(side(values)), left.open = TRUE) # >= each cut
  rates <- n_from(cbind(values, permuted)) / (ncol(permuted) + 1) / pmax(1, n_from(values))
  pmin(1, cummin(rates))[findInterval(side(values), cuts)]
}

# ---- tables

# Columns that say what a row is.
KEYS <- list(variable = "variable", pair = c("from", "to"), gene = "gene", module = "module", power = "Power")

# A result's table can be written, read and joined by names, or numbers.
expect_table <- function(result, kind, named) {
  frame <- as.data.frame(result)
  expect_identical(class(frame), "data.frame", info = kind)
  keys <- Find(function(key) all(key %in% names(frame)), KEYS)
  expect_gt(nrow(frame), 0)
  for (key in if (named || !kind %in% c("modules", "preserved")) setdiff(keys, c("module", "Power"))) {
    side <- if (key == "to" && kind %in% c("against", "test_against")) "t" else "g"
    side <- if (key == "to" && startsWith(kind, "associat")) "age|sexm" else paste0("^", side, "[0-9]+$")
    expect_true(if (named || grepl("age", side)) all(grepl(side, frame[[key]])) else is.numeric(frame[[key]]),
                info = paste(kind, key))
  }

  file <- tempfile()
  write.csv(frame, file, row.names = FALSE)
  row.names(frame) <- NULL
  expect_equal(read.csv(file, colClasses = vapply(frame, typeof, "")), frame, ignore_attr = TRUE, info = kind)
  unlink(file)
  ids <- unique(frame[[keys[1]]])
  joined <- merge(frame, data.frame(id = ids, chromosome = seq_along(ids)), by.x = keys[1], by.y = "id")
  expect_identical(nrow(joined), nrow(frame), info = kind)
}
