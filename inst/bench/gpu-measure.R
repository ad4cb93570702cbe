# The measurements of gpu.R: the machine's rates, the floors that follow from them, and a row's time, memory and
# accuracy.

pairs_of <- function(n) n * (n - 1) / 2

# ---- the machine's rates

load_library <- function(name) {
  path <- file.path(Sys.getenv("GPUCOR_BENCH_LIBS"), paste0(name, .Platform$dynlib.ext))
  tryCatch(!is.null(dyn.load(path)), error = function(e) {
    say("cannot load ", name, ": ", conditionMessage(e))
    FALSE
  })
}

# A rate, and whether it was measured with wgmma; NA if it cannot be measured.
unit_rate <- function(name) {
  found <- tryCatch(.C(name, 0, 0L), error = function(e) list(NA_real_, 0L))
  c(if (isTRUE(found[[1]] > 0)) found[[1]] else NA_real_, found[[2]])
}

measure_rates <- function(threads, gpu) {
  if (gpu) gpu <- load_library("gpu-rates")
  names <- c(bits = "rate_bits", half = "rate_half", float = "rate_float", device = "rate_device_copy",
             wire = "rate_host_copy")
  found <- lapply(names, function(name) if (gpu) unit_rate(name) else c(NA_real_, 0))
  fill <- if (load_library("random")) .Call("fill_rate", threads) else NA_real_
  c(lapply(found, `[`, 1), list(fill = fill, wgmma = found$bits[2] == 1))
}

describe_machine <- function(info) {
  gpu <- info$devices[info$devices$id == info$device, ]
  name <- if (info$default != "cuda") "no GPU in use: back end cpu" else
    paste0(gpu$name, ", compute capability ", gpu$capability, ", ", number(gpu$memory / 1e9), " GB, driver for CUDA ",
           info$driver, ", runtime ", info$runtime)
  say(name, "; ", cpu_name(), ", ", parallel::detectCores(), " cores, ", info$threads, " threads")
  if (scale != 1) say("A quick look: ", percent(scale), " of the variables.")
}

describe_rates <- function(rates) {
  say("Measured here: products of bits ", number(rates$bits / 1e12), " T/s, of halves ", number(rates$half / 1e12),
      " T/s (", if (rates$wgmma) "wgmma from shared memory" else "mma.sync", "; T: 10^12 operations, two for a ",
      "multiply-add or AND and count), float32 ", number(rates$float / 1e12), " T/s; GPU memory ",
      number(rates$device / 1e9), " GB/s read and written, to the host ", number(rates$wire / 1e9),
      " GB/s, fresh host memory ", number(rates$fill / 1e9), " GB/s")
}

rates_part <- function() {
  library(gpucor)
  info <- gpuInfo()
  describe_machine(info)
  rates <- measure_rates(info$threads, info$default == "cuda")
  describe_rates(rates)
  saveRDS(rates, result_file("rates"))
}

# ---- floors

# Permutations' coefficients are computed but not stored.
permutations_of <- function(row) switch(row$kind, maxT = PERMUTATIONS, compare = GROUP_PERMUTATIONS, 0)

operations_of <- function(row, pairs) {
  2 * pairs * (1 + permutations_of(row)) * (if (row$method == "kendall") pairs_of(row$n_obs) else row$n_obs)
}

# Ties take four products of bits instead of one. Coefficients that are stored or summed use products in float32.
product_seconds <- function(row, pairs, rates) {
  operations <- operations_of(row, pairs)
  if (row$kind == "compare") return(operations / rates$float)
  if (row$method == "kendall") return(operations * (if (has_ties(row)) 4 else 1) / rates$bits)
  stored <- if (row$kind %in% c("dist", "test", "maxT", "sums", "maps")) 1 / (1 + permutations_of(row)) else 0
  operations * (stored / rates$float + (1 - stored) / rates$half)
}

# Seconds of each kind of work. A coefficient takes at least 4 bytes on the bus (a float, or Kendall's numerator) and 4
# in R; its statistic, p value and adjusted p value 8 bytes each; an edge 16 with its index, and 12 in a sparse matrix.
floor_terms <- function(row, pairs, edges, rates) {
  sizes <- switch(row$kind, dist = c(4, 4) * pairs, test = c(4, 20) * pairs, maxT = c(4, 28) * pairs,
                  network = c(16, 12) * edges, c(0, 0))
  c(products = product_seconds(row, pairs, rates), wire = sizes[1] / rates$wire, fill = sizes[2] / rates$fill)
}

# Products, transfer and filling memory overlap; but a sparse matrix can only be filled when all edges are known.
floor_seconds <- function(row, terms) {
  switch(row$kind, dist = , test = , maxT = max(terms), network = max(terms[c("products", "wire")]) + terms[["fill"]],
         terms[["products"]])
}

# ---- one run

status_bytes <- function(field) {
  line <- tryCatch(grep(field, readLines("/proc/self/status"), value = TRUE), error = function(e) "")
  as.numeric(gsub("[^0-9]", "", c(line, "")[1])) * 1024
}
# Resets the process's peak memory, if the system allows it.
forget_peak <- function() {
  suppressWarnings(tryCatch(cat("5", file = "/proc/self/clear_refs"), error = function(e) NULL))
}

now <- function() proc.time()[["elapsed"]]
spent <- new.env()

# From now on, adds up the seconds spent in one of the package's functions in `spent`.
# An error if there is no such function any more.
watch <- function(name) {
  original <- utils::getFromNamespace(name, "gpucor")
  watched <- function(...) {
    start <- now()
    on.exit(spent[[name]] <- c(spent[[name]], 0)[1] + now() - start)
    original(...)
  }
  utils::assignInNamespace(name, watched, "gpucor")
}
seconds_in <- function(name) c(spent[[name]], NA)[1]

# The engine's last run: seconds preparing, multiplying, in total; peak bytes of device memory.
engine_stages <- function() {
  stages <- tryCatch(.Call(get("r_stages", asNamespace("gpucor"))), error = function(e) NULL)
  c(as.numeric(stages), rep(NA_real_, 4))[1:4]
}

stage_seconds <- function(kind, seconds, engine) {
  known <- c("sample" = seconds_in("sampled_min"), "preparing" = engine[1], "multiplying and delivering" = engine[2],
             "opening and closing" = engine[3] - engine[1] - engine[2])
  if (kind == "network") {
    known <- c(known, "selection" = seconds_in("store_rank"), "assembly" = seconds_in("take_rows"),
               "object" = seconds_in("new_network"))
  }
  if (kind == "maxT") known[["opening and closing"]] <- NA # only known for the last permutation
  known <- known[!is.na(known)]
  c(known, "the rest" = max(0, seconds - sum(known)))
}

groups_of <- function(x) {
  is_first <- seq_len(nrow(x)) %% 2 == 1
  list(x[is_first, ], x[!is_first, ])
}

call_of <- function(row, x) {
  if (row$kind == "dist") return(function() gpuCor(x, method = row$method))
  if (row$kind == "test") return(function() gpuCorTest(x, method = row$method))
  if (row$kind == "maxT") {
    return(function() gpuCorTest(x, method = row$method, adjust = "maxT", n_perm = PERMUTATIONS))
  }
  if (row$kind == "compare") {
    groups <- groups_of(x)
    return(function() gpuCorCompare(groups[[1]], groups[[2]], density = DENSITY, n_perm = GROUP_PERMUTATIONS))
  }
  if (row$kind == "sums") return(function() gpuConnectivity(x, power = 6, method = row$method))
  if (row$kind == "maps") return(function() gpuConnectivity(x, maps = c("mean", "z", "icc"), method = row$method))
  if (!is.na(row$k)) return(function() gpuCorNetwork(x, k = row$k, method = row$method))
  if (row$kind == "network") return(function() gpuCorNetwork(x, density = DENSITY, method = row$method))
  function() {
    run <- gpucor:::new_run(NULL, gpucor:::NO_SPECS, x, NULL, row$method, "everything", sign = "absolute")
    gpucor:::edge_pass(run, BEYOND)
  }
}

# Makes a small call of the same kind, with as large a sample as the real call uses if there are enough columns.
warm_up <- function(row, x) {
  most <- if (row$kind %in% c("network", "maxT")) min(20000, ncol(x) %/% 4) else min(5000, ncol(x))
  few <- x[, seq_len(most), drop = FALSE]
  invisible(call_of(row, few)())
}

# The best run and its result. For a rate, whose run ends with its products, the run with the fastest products.
best_run <- function(row, x) {
  call <- call_of(row, x)
  best <- NULL
  result <- NULL
  all <- numeric()
  repeat {
    result <- NULL
    gc(full = TRUE)
    rm(list = ls(spent), envir = spent)
    forget_peak()
    before <- status_bytes("VmRSS") - .Call(gpucor:::r_memory, FALSE)$kept # the result will reuse this memory
    total <- system.time(result <- call())[["elapsed"]]
    engine <- engine_stages()
    seconds <- if (row$kind == "rate") engine[2] else total
    run <- list(seconds = seconds, stages = stage_seconds(row$kind, total, engine), before = before,
                host = status_bytes("VmHWM"), device = engine[4])
    all <- c(all, seconds)
    if (is.null(best) || isTRUE(seconds < best$seconds)) best <- run
    if (row$once || total >= 10 || length(all) >= if (row$kind == "rate") 3 else 2) break
  }
  c(best, list(all = all, result = result))
}

# ---- correctness

# stats::cor(method = "kendall") takes 0.2 ms for 128 observations and grows with their square.
samples_of <- function(row) {
  if (row$method != "kendall") return(2000)
  max(200, min(2000, floor(2000 * (128 / row$n_obs)^2)))
}

truth_of <- function(row, x, i, j) mapply(function(i, j) stats::cor(x[, i], x[, j], method = row$method), i, j)

# The sample includes the first and last pair, and those around 2^31 and 2^32.
check_dist <- function(row, x, r) {
  pairs <- pairs_of(ncol(x))
  at <- c(1, pairs, 2^31 + -1:1, 2^32 + -1:1, ceiling(stats::runif(samples_of(row)) * pairs))
  at <- unique(at[at >= 1 & at <= pairs])
  ij <- triangleIndex(at, ncol(x))
  list(off = max(abs(as.numeric(r[at]) - truth_of(row, x, ij[, 1], ij[, 2]))), wrong = NA, checked = length(at))
}

# Compares p values with R's tail probabilities of the same statistics; Spearman's with the symmetric beta distribution
# whose first four moments are those of rho (Olds 1938).
check_test <- function(row, x, test) {
  found <- check_dist(row, x, test$r)
  at <- ceiling(stats::runif(2000) * length(test$p.value))
  r <- test$r[at]
  n <- row$n_obs
  truth <- 2 * if (row$method == "kendall") {
    stats::pnorm(-abs(r) / sqrt((4 * n + 10) / (9 * n * (n - 1))))
  } else if (row$method == "spearman") {
    kurtosis <- 3 * (25 * n^3 - 38 * n^2 - 35 * n + 72) / (25 * n * (n^2 - 1))
    shape <- 1.5 * (kurtosis - 1) / (3 - kurtosis)
    stats::pbeta((1 - abs(r) / sqrt((2 * shape + 1) / (n - 1))) / 2, shape, shape)
  } else {
    stats::pt(-abs(r) * sqrt((n - 2) / (1 - r^2)), n - 2)
  }
  found$wrong <- sum(abs(test$p.value[at] - truth) > 1e-9 * truth)
  found
}

# Compares adjusted p values of a few permutations with those of the CPU back end.
check_max_t <- function(row, x, test) {
  adjusted <- function(backend) {
    set.seed(1)
    gpuCorTest(x, method = row$method, adjust = "maxT", n_perm = 20, backend = backend)$p.adjusted
  }
  found <- check_test(row, x, test)
  found$wrong <- found$wrong + sum(adjusted(NULL) != adjusted("cpu"))
  found
}

# Compares differences of z with R's, and the largest ones of a few permutations with those of the CPU back end.
check_compare <- function(row, x, net) {
  groups <- groups_of(x)
  at <- ceiling(stats::runif(samples_of(row)) * length(net@x))
  i <- net@i[at] + 1L
  j <- findInterval(at - 1, net@p)
  truth <- atanh(truth_of(row, groups[[1]], i, j)) - atanh(truth_of(row, groups[[2]], i, j))
  maxima <- function(backend) {
    set.seed(1)
    gpuCorCompare(groups[[1]], groups[[2]], density = DENSITY, n_perm = 3, backend = backend)@maxima
  }
  list(off = max(abs(net@x[at] - truth)), wrong = sum(maxima(NULL) != maxima("cpu")), checked = length(at))
}

# Which of the pairs i < j are edges.
are_edges <- function(net, i, j) {
  mapply(function(i, j) {
    entries <- net@i[seq.int(net@p[j] + 1, length.out = net@p[j + 1] - net@p[j])]
    at <- findInterval(i - 1, entries)
    at > 0 && entries[at] == i - 1
  }, i, j)
}

count_wrong <- function(net, i, j, r) {
  sum(are_edges(net, i, j) != (abs(r) >= net@threshold) & abs(abs(r) - net@threshold) > 1e-6)
}

# Checks a sample of edges, random pairs, and pairs that share a signal, which are edges or nearly so.
check_network <- function(row, x, net) {
  n <- samples_of(row)
  at <- sort(ceiling(stats::runif(n) * length(net@x)))
  i <- net@i[at] + 1L
  j <- findInterval(at - 1, net@p)
  r <- truth_of(row, x, i, j)
  a <- ceiling(stats::runif(n) * ncol(x))
  b <- (a - 1 + ceiling(stats::runif(n) * (ncol(x) - 1))) %% ncol(x) + 1 # another column
  first <- unique(ceiling(stats::runif(n / 4) * (ncol(x) %/% 40)) - 1) * 40 + 1
  low <- c(pmin(a, b), first)
  high <- c(pmax(a, b), first + 7)
  wrong <- count_wrong(net, i, j, r) + count_wrong(net, low, high, truth_of(row, x, low, high))
  list(off = max(abs(net@x[at] - r)), wrong = wrong, checked = n + length(low))
}

# Compares some columns' means over all pairs; off: of one coefficient, or of its sixth power.
check_sums <- function(row, x, con) {
  at <- ceiling(stats::runif(20) * ncol(x))
  r <- stats::cor(x, x[, at], method = row$method)
  r[cbind(at, seq_along(at))] <- NA
  off <- if (row$kind == "sums") {
    con$soft[at, 1] / (ncol(x) - 1) - colMeans(r^6, na.rm = TRUE)
  } else {
    c(con$mean[at] - colMeans(r, na.rm = TRUE), con$icc[at] - colMeans(r^2, na.rm = TRUE))
  }
  list(off = max(abs(off)), wrong = NA, checked = length(r))
}

# Checks that the strongest neighbours of some variables are edges; of equal ones, the earlier are stronger.
check_neighbours <- function(row, x, net) {
  at <- ceiling(stats::runif(5) * ncol(x))
  r <- gpuCor(x[, at], x, method = row$method, output = "matrix", backend = "cpu")
  off <- wrong <- 0
  for (own in seq_along(at)) {
    weights <- replace(abs(r[own, ]), at[own], -1)
    others <- order(-weights)[seq_len(row$k)]
    wrong <- wrong + sum(!are_edges(net, pmin(at[own], others), pmax(at[own], others)))
    off <- max(off, abs(truth_of(row, x, rep(at[own], row$k), others) - r[own, others]))
  }
  list(off = off, wrong = wrong, checked = row$k * length(at))
}

check <- function(row, x, result) {
  none <- list(off = NA_real_, wrong = NA, checked = 0)
  networks <- if (is.na(row$k)) check_network else check_neighbours
  by_kind <- list(dist = check_dist, test = check_test, maxT = check_max_t, network = networks,
                  compare = check_compare, sums = check_sums, maps = check_sums, rate = function(...) none)
  tryCatch(by_kind[[row$kind]](row, x, result),
           error = function(e) {
             say("cannot be checked: ", conditionMessage(e))
             none
           })
}

# ---- a row

# Measures a row; returns a list.
measure <- function(name, row, x, rates) {
  warm_up(row, x)
  run <- best_run(row, x)
  pairs <- pairs_of(ncol(x))
  edges <- if (row$kind == "network") run$result@edges else 0
  size <- switch(row$kind, dist = 4 * pairs, test = 20 * pairs, maxT = 28 * pairs,
                 network = 12 * edges + 4 * ncol(x), 0)
  terms <- floor_terms(row, pairs, edges, rates)
  list(name = name, seconds = run$seconds, all = run$all, stages = run$stages, host = run$host,
       beyond = run$host - run$before - size, device = run$device, pairs = pairs, edges = edges,
       surplus = if (is.na(row$k)) edges - ceiling(DENSITY * pairs) else 0,
       terms = terms, floor = floor_seconds(row, terms),
       rate = operations_of(row, pairs) / run$seconds / 1e12, found = check(row, x, run$result))
}

tell <- function(row, m) {
  terms <- if (row$kind == "rate") m$terms["products"] else m$terms
  amount <- paste0(number(m$pairs * (1 + permutations_of(row)) / m$seconds / 1e9), " G pairs/s")
  if (row$kind == "network") amount <- paste0(number(m$edges / m$seconds / 1e6), " M edges/s, ", amount)
  if (row$kind == "rate") amount <- paste0(number(m$rate), " T operations/s, ", amount)
  say(m$name, ": ", number(m$seconds), " s of ", paste(vapply(m$all, number, ""), collapse = ", "), "; ", amount,
      "; floor ", number(m$floor), " (", paste(names(terms), vapply(terms, number, ""), collapse = ", "),
      "): ratio ", number(m$seconds / m$floor))
  say(paste(names(m$stages), vapply(m$stages, number, ""), collapse = ", "), "; ", tell_found(row, m),
      "memory: host ", gigabytes(m$host), " GB (", gigabytes(m$beyond), " beyond what was there and the result), GPU ",
      gigabytes(m$device), indent = 2)
}

tell_found <- function(row, m) {
  if (row$kind == "rate") return("")
  off <- paste0("r off by ", format(m$found$off, digits = 2))
  if (row$kind %in% c("dist", "sums", "maps")) return(paste0(off, " at most of ", m$found$checked, " pairs; "))
  if (row$kind != "network") return(paste0(off, " at most, ", m$found$wrong, " p values wrong; "))
  surplus <- if (m$surplus != 0) paste0(", ", number(m$surplus), " ties beyond the density")
  paste0(number(m$edges, 10), " edges", surplus, ", ", off, " at most, ", m$found$wrong, " of ",
         m$found$checked, " pairs wrong; ")
}

# Never raises an error: a failure is the row's result.
measure_row <- function(name, x, rates) {
  row <- rows[[name]]
  set.seed(20)
  measured <- tryCatch({
    m <- measure(name, row, x, rates)
    tell(row, m)
    m
  }, error = function(e) {
    say(name, ": failed: ", conditionMessage(e))
    list(name = name, error = conditionMessage(e))
  })
  saveRDS(measured, result_file(name))
}

# Measures rows that share their data.
rows_part <- function(names) {
  suppressPackageStartupMessages({
    library(gpucor)
    library(Matrix)
  })
  rates <- tryCatch(readRDS(result_file("rates")), error = function(e) NULL)
  if (is.null(rates)) rates <- as.list(c(bits = NA, half = NA, float = NA, device = NA, wire = NA, fill = NA) + 0)
  if (!load_library("random")) return(invisible())
  for (name in c("sampled_min", "store_rank", "take_rows", "new_network")) watch(name)
  row <- rows[[names[1]]]
  x <- .Call("random_matrix", row$n_obs, row$n_var, row$steps)
  for (name in names) {
    measure_row(name, x, rates)
    gc(full = TRUE)
  }
}
