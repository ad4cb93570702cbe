# Networks as cor() has them, and what is expected of ours.

# What a network is, without the call that made it.
slots_of <- function(net) list(net@p, net@i, net@x, net@threshold)

all_signs <- c("absolute", "positive", "negative")

weight_of <- function(r, sign) switch(sign, absolute = abs(r), positive = r, negative = -r)

# A symmetric matrix without its diagonal, which is no pair.
no_diagonal <- function(r) {
  diag(r) <- NA
  r
}

# Coefficients of all pairs, NA where there is none; between x's own columns the diagonal is NA.
pair_cor <- function(x, y = NULL, use = "everything", method = "pearson") {
  r <- suppressWarnings(reference_cor(x, y, use, method))
  if (is.null(y)) no_diagonal(r) else r
}

quick_pair_cor <- function(x, method) no_diagonal(quick_cor(x, method))

# Ratios of whole numbers, so that what ties here ties in the engine: ranks or pairs of
# observations of complete columns.
exact_cor <- function(x, y = NULL, method) {
  scores <- function(m) {
    m <- as.matrix(m)
    if (method == "spearman") return(2 * apply(m, 2, rank) - nrow(m) - 1)
    k <- utils::combn(nrow(m), 2)
    sign(m[k[1, ], , drop = FALSE] - m[k[2, ], , drop = FALSE])
  }
  a <- scores(x)
  b <- if (is.null(y)) a else scores(y)
  norm <- outer(colSums(a^2), colSums(b^2))
  r <- crossprod(a, b) / sqrt(norm)
  r[norm == 0] <- NA
  if (is.null(y)) no_diagonal(r) else r
}

# Two-sided p values of all pairs, as a matrix.
reference_p <- function(x, y = NULL, use = "everything", method = "pearson") {
  p <- suppressWarnings(gpuCorTest(x, y, method, use, output = "matrix", backend = "cpu"))$p.value
  p <- matrix(as.vector(p), nrow(p))
  if (is.null(y)) no_diagonal(p) else p
}

# P(|r| of a symmetric beta distribution with rho's second and fourth moments is at least that).
moments_p <- function(r, n) {
  fourth <- 3 * (25 * n^3 - 38 * n^2 - 35 * n + 72) / (25 * n * (n + 1) * (n - 1)^3)
  df <- -6 / (fourth * (n - 1)^2 - 3) - 3
  r <- r / sqrt((df + 1) / (n - 1))
  2 * pt(-abs(r) * sqrt(df / (1 - r^2)), df)
}

# The weights, strongest first, each pair once.
ranked_weights <- function(r, sign, symmetric) {
  weights <- weight_of(if (symmetric) r[upper.tri(r)] else r, sign)
  sort(weights[!is.na(weights) & weights >= 0], decreasing = TRUE)
}

reference_density <- function(r, density, sign, symmetric) {
  ranked <- ranked_weights(r, sign, symmetric)
  k <- ceiling(density * if (symmetric) choose(ncol(r), 2) else length(r))
  if (k > length(ranked)) 0 else ranked[k]
}

# Which are among each column's k strongest, ties going to the earlier; `least`: their weakest.
strongest <- function(weight, k) {
  among <- matrix(FALSE, nrow(weight), ncol(weight))
  for (j in seq_len(ncol(weight))) among[utils::head(order(-weight[, j]), k), j] <- TRUE
  among <- among & weight >= 0
  least <- vapply(seq_len(ncol(weight)), function(j) {
    if (sum(among[, j]) < k) 0 else min(weight[among[, j], j])
  }, 0)
  list(among = among, least = least)
}

# The network of the coefficients r: `keep`, and `near`: so close to where edges begin, by `within`,
# that rounding may decide. symmetric: r is of x's own columns.
reference_network <- function(r, criterion, value, sign = "absolute", mutual = FALSE, p = NULL, within = 0,
                              symmetric = TRUE) {
  weight <- unname(weight_of(r, sign))
  weight[is.na(weight)] <- -2
  close_to <- function(border) if (within > 0) abs(weight - border) <= within else FALSE
  if (criterion %in% c("threshold", "density")) {
    border <- if (criterion == "threshold") value else reference_density(r, value, sign, symmetric)
    return(list(keep = weight >= border, near = close_to(border)))
  }
  if (criterion == "k") {
    own <- strongest(weight, value)
    others <- if (symmetric) own else strongest(t(weight), value)
    keep <- if (mutual) own$among & t(others$among) else own$among | t(others$among)
    near <- close_to(col_values(own$least, r)) | close_to(row_values(others$least, r))
  } else {
    p <- unname(if (criterion == "fdr") adjusted_p(p, r, symmetric) else p)
    keep <- weight >= 0 & !is.na(p) & p <= value
    near <- !is.na(p) & abs(p - value) <= 1000 * within * value # p changes by more than r does
  }
  list(keep = keep, near = near | close_to(0))
}

row_values <- function(values, r) matrix(values, nrow(r), ncol(r))
col_values <- function(values, r) matrix(values, nrow(r), ncol(r), byrow = TRUE)

# Benjamini and Hochberg over all pairs that have a coefficient; some of two observations have no p.
adjusted_p <- function(p, r, symmetric) {
  once <- if (symmetric) upper.tri(p) & !is.na(p) else !is.na(p)
  tests <- sum(!is.na(r)) / if (symmetric) 2 else 1
  p[once] <- stats::p.adjust(p[once], "BH", tests)
  if (symmetric) p[lower.tri(p)] <- t(p)[lower.tri(p)]
  p
}

# ---- ours

# Where a network has edges, in both halves of a symmetric one.
edge_places <- function(net) {
  at <- cbind(net@i + 1L, rep(seq_len(ncol(net)), diff(net@p)))
  places <- matrix(FALSE, nrow(net), ncol(net))
  places[at] <- TRUE
  if (is(net, "dsCMatrix")) places[at[, 2:1, drop = FALSE]] <- TRUE
  places
}

# All coefficients, NA where there are none.
values_of <- function(net) {
  r <- as.matrix(net)
  r[!edge_places(net)] <- NA
  r
}

network_flaws <- function(net, r, symmetric) {
  column <- rep(seq_len(ncol(net)), diff(net@p))
  names <- if (symmetric) list(colnames(r), colnames(r)) else list(rownames(r), colnames(r))
  valid <- tryCatch(methods::validObject(net), error = conditionMessage)
  c(if (!isTRUE(valid)) valid,
    if (!is(net, if (symmetric) "gpuCorNetwork" else "gpuCorNetworkXY")) paste("class is", class(net)),
    if (!identical(unname(dim(net)), dim(r))) paste("dim is", paste(dim(net), collapse = " x ")),
    if (!identical(net@Dimnames, names)) "dimnames differ",
    if (symmetric && any(net@i + 1L >= column)) "entries on or below the diagonal",
    if (any(diff(column * (nrow(net) + 1) + net@i) <= 0)) "rows of a column do not ascend",
    if (net@edges != length(net@x)) paste("edges is", net@edges),
    if (net@pairs != if (symmetric) choose(nrow(r), 2) else length(r)) paste("pairs is", net@pairs))
}

# How a network differs from the one that has the edges of `keep`, but where `near` is TRUE, and the coefficients r.
network_differences <- function(net, r, keep, tolerance, near = FALSE, symmetric = is(net, "dsCMatrix")) {
  wrong <- network_flaws(net, r, symmetric)
  if (!identical(unname(dim(net)), dim(r))) return(wrong)
  ours <- edge_places(net)
  other <- ours != keep & !near
  truth <- r[cbind(net@i + 1L, rep(seq_len(ncol(net)), diff(net@p)))]
  off <- which(!(abs(net@x - truth) <= tolerance))
  c(wrong,
    if (any(other)) paste(sum(other), "edges differ, first at", first_place(unname(other)),
                          if (ours[other][1]) "which is none" else "which is missing"),
    if (length(off)) paste("off by", max(abs(net@x - truth)[off]), "at edge", off[1]))
}

expect_network <- function(net, r, keep, tolerance, near = FALSE, symmetric = is(net, "dsCMatrix"), label = "") {
  wrong <- network_differences(net, r, keep, tolerance, near, symmetric)
  expect(length(wrong) == 0, paste(c(label, wrong), collapse = "\n"))
  invisible(net)
}

# gpuCorNetwork() without the warning of constants.
quiet_network <- function(...) suppressWarnings(gpuCorNetwork(...))

by_criterion <- function(criterion, value) stats::setNames(list(value), criterion)

# The same edges in every bit.
expect_same_network <- function(ours, other, label = "") {
  parts <- c("p", "i", "x", "threshold", "n_obs", "edges", "Dim")
  same <- vapply(parts, function(part) identical(methods::slot(ours, part), methods::slot(other, part)), NA)
  expect(all(same), paste(c(label, "differs in", parts[!same]), collapse = " "))
}

# All warnings of `code`.
warnings_of <- function(code) {
  texts <- character()
  withCallingHandlers(code, warning = function(condition) {
    texts <<- c(texts, conditionMessage(condition))
    invokeRestart("muffleWarning")
  })
  texts
}

# Stores that nobody took rows from go with R's next collection; one of all of R's memory takes long.
expect_nothing_left <- function(label = "") {
  for (full in c(FALSE, TRUE)) if (live()$host > 0 || live()$device > 0) gc(full = full)
  expect_nothing_live(label)
}

# ---- a child that can be interrupted

# As start_child(), for any work: a function of the job's x and of a folder of its own.
start_work <- function(work, job, backend) {
  files <- list(ready = tempfile("ready"), folder = tempfile("folder"))
  dir.create(files$folder)
  process <- callr::r_bg(function(work, job, backend, files) {
    library(gpucor)
    options(gpucor.threads = 2L, gpucor.backend = backend)
    x <- matrix(rep_len(sample.int(1e6L), as.numeric(job$n_obs) * job$n_var), job$n_obs, job$n_var)
    small <- x[1:40, 1:20]
    gpuCorNetwork(small, threshold = 0)
    environment(work) <- globalenv()
    file.create(files$ready)
    ended <- tryCatch({
      work(x, files$folder)
      "finished"
    }, interrupt = function(condition) "interrupted")
    time <- as.numeric(Sys.time())
    net <- gpuCorNetwork(small, threshold = 0)
    gc()
    list(ended = ended, time = time, live = .Call(gpucor:::r_live), left = dir(files$folder),
         error = max(abs(as.matrix(net) + diag(20) - cor(small))))
  }, list(work, job, backend, files), stdout = NULL, stderr = NULL)
  list(process = process, files = files)
}

# With other values of the package's own constants, or functions.
with_values <- function(values, code) {
  set <- function(values) for (name in names(values)) utils::assignInNamespace(name, values[[name]], "gpucor")
  old <- mget(names(values), asNamespace("gpucor"))
  on.exit(set(old))
  set(values)
  force(code)
}

# ---- networks in files

# Bands of at most so many entries, of edges of which so many bytes are in memory and the others in a file.
with_bands <- function(entries, bytes, code) {
  with_options(list(gpucor.spool_bytes = bytes), with_values(list(BAND_ENTRIES = entries), code))
}

# ---- files of networks

# rhdf5 cannot read a dataset of length 0.
content <- function(file) {
  listed <- rhdf5::h5ls(file)
  empty <- paste(listed$group, listed$name, sep = "/")[listed$dim == "0"]
  sapply(c("X/data", "X/indices", "X/indptr", "obs/_index", "var/_index"), simplify = FALSE, function(name) {
    if (paste0("/", name) %in% empty) return(if (startsWith(name, "X")) numeric() else character())
    as.vector(rhdf5::h5read(file, name, bit64conversion = "double"))
  })
}

# What the file has to say of a matrix.
expected_content <- function(matrix) {
  rows <- Matrix::t(as(matrix, "generalMatrix"))
  names_or_numbers <- function(names, n) if (is.null(names)) as.character(seq_len(n)) else names
  list(`X/data` = rows@x, `X/indices` = as.numeric(rows@i), `X/indptr` = as.numeric(rows@p),
       `obs/_index` = names_or_numbers(rownames(matrix), nrow(matrix)),
       `var/_index` = names_or_numbers(colnames(matrix), ncol(matrix)))
}

expect_nothing_open <- function() expect_length(rhdf5::h5validObjects(), 0)

# A new folder, so that all that is in it is known.
new_folder <- function() {
  folder <- tempfile("network")
  dir.create(folder)
  folder
}
