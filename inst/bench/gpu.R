# gpucor on a GPU: seconds, memory and accuracy of large problems, against what the machine allows and against what
# others have published.
#
#   Rscript inst/bench/gpu.R [--record] [row ...]
#
# Without rows: all of them. The largest want some 60 GB of host memory.
# --record writes the output to results/gpu.txt beside this script. Each row runs in a process of its own (those of
# the voxels share one with their data), so that one that fails costs no other. In the environment:
#   GPUCOR_BENCH_LIBS    a folder with random.so and gpu-rates.so, for machines without compilers
#   GPUCOR_BENCH_SCALE   such as 0.01: so many of the variables, for a quick look
#   GPUCOR_BENCH_LIMIT   seconds after which no further row is started
# A package without a GPU, or GPUCOR_BACKEND=cpu, runs the same on the CPU; GPU rates and floors are then missing.
#
# ours     seconds from the call to the finished R object, the input being an R matrix: the better of two where they
#          take less than 10 s; after a small call, so that the start of the driver is not in it
# floor    seconds that no program could go below on this machine, from rates measured in the same run
arguments <- commandArgs(TRUE)
script <- normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE)))
here <- dirname(script)
part <- strsplit(Sys.getenv("GPUCOR_BENCH_PART"), ",")[[1]] # of a process started by this script: what it is for
folder <- Sys.getenv("GPUCOR_BENCH_FOLDER", tempdir()) # where such processes leave their results
scale <- as.numeric(Sys.getenv("GPUCOR_BENCH_SCALE", "1"))
limit <- as.numeric(Sys.getenv("GPUCOR_BENCH_LIMIT", "Inf"))

# ---- the rows

# must: seconds, or of a sustained rate 10^12 operations a second. published: seconds, by whom and on what.
# steps: values are rounded to multiples of 1 / steps.
row <- function(kind, method, n_var, n_obs, published = "", must = NA, steps = 0, once = FALSE, data = "") {
  list(kind = kind, method = method, n_var = max(1000, round(n_var * scale)), n_obs = n_obs, published = published,
       must = must, steps = steps, once = once, data = data)
}
rows <- list(
  "dist-pearson" = row("dist", "pearson", 100000, 100, "11.0 (K40)", 1.6),
  "dist-kendall" = row("dist", "kendall", 58523, 1024, "340", 1.0),
  "dist-kendall-ties" = row("dist", "kendall", 58523, 1024, "340", steps = 10),
  "net-pearson" = row("network", "pearson", 1e6, 128, "777", 2.5),
  "net-spearman" = row("network", "spearman", 1e6, 128, "782", 2.5),
  "net-kendall-300k" = row("network", "kendall", 3e5, 128, "862", 0.8),
  "net-kendall" = row("network", "kendall", 1e6, 128, "never", 3.5),
  "net-kendall-ties" = row("network", "kendall", 1e6, 128, "never", steps = 10),
  "net-pearson-voxels" = row("network", "pearson", 1561152, 1200, "an hour", 25, data = "voxels"),
  "net-kendall-voxels" = row("network", "kendall", 1561152, 1200, "never", NA, once = TRUE, data = "voxels"),
  "rate-sign" = row("rate", "kendall", 65536, 512, must = 8000),
  "rate-sign-ties" = row("rate", "kendall", 65536, 512, must = NA, steps = 10),
  "rate-half" = row("rate", "pearson", 131072, 1024, must = 450)
)
DENSITY <- 0.001
BEYOND <- 0.6 # a threshold that next to no pair of the data reaches

pairs_of <- function(n) n * (n - 1) / 2
has_ties <- function(row) row$steps > 0

# ---- text

record <- NULL
emit <- function(...) {
  text <- paste0(...)
  cat(text, "\n", sep = "")
  if (!is.null(record)) {
    cat(text, "\n", sep = "", file = record)
    flush(record)
  }
}
# A text of any length, in lines of at most 120 characters.
say <- function(..., indent = 0) {
  for (line in strwrap(paste0(...), 119, indent = indent, exdent = indent + 4)) emit(line)
}
number <- function(x, digits = 3) {
  if (length(x) != 1 || !is.finite(x)) return("-")
  if (x > 0 && x < 1e-3) return(format(x, digits = 2, scientific = TRUE))
  format(signif(x, digits), big.mark = ",", scientific = FALSE)
}
gigabytes <- function(bytes) if (is.finite(bytes)) sprintf("%.1f", bytes / 1e9) else "-"
percent <- function(share) paste0(number(100 * share, 2), " %")

# ---- what the machine allows

load_library <- function(name) {
  path <- file.path(Sys.getenv("GPUCOR_BENCH_LIBS"), paste0(name, .Platform$dynlib.ext))
  tryCatch(!is.null(dyn.load(path)), error = function(e) {
    say("cannot load ", name, ": ", conditionMessage(e))
    FALSE
  })
}

# A rate and whether it is by wgmma; NA where it cannot be measured.
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
  say("gpucor ", format(utils::packageVersion("gpucor")), " on a GPU, ", format(Sys.Date()), "; ", R.version.string)
  gpu <- info$devices[info$devices$id == info$device, ]
  name <- if (info$default != "cuda") "no GPU in use: back end cpu" else
    paste0(gpu$name, ", compute capability ", gpu$capability, ", ", number(gpu$memory / 1e9), " GB, driver for CUDA ",
           info$driver, ", runtime ", info$runtime)
  cpu <- sub(".*: ", "", c(grep("model name", readLines("/proc/cpuinfo"), value = TRUE), "unknown CPU")[1])
  say(name, "; ", cpu, ", ", parallel::detectCores(), " cores, ", info$threads, " threads")
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

operations_of <- function(row, pairs) 2 * pairs * (if (row$method == "kendall") pairs_of(row$n_obs) else row$n_obs)

# Ties take four products of bits instead of one. Coefficients that are stored are of products in float32.
product_seconds <- function(row, pairs, rates) {
  operations <- operations_of(row, pairs)
  if (row$method == "kendall") return(operations * (if (has_ties(row)) 4 else 1) / rates$bits)
  operations / (if (row$kind == "dist") rates$float else rates$half)
}

# Seconds of each work that must be done: a coefficient is at least 4 bytes on the wire (a float, or Kendall's
# numerator) and 8 in R; an edge 16 with its place, and 12 in a sparse matrix.
floor_terms <- function(row, pairs, edges, rates) {
  sizes <- switch(row$kind, dist = c(4, 8) * pairs, network = c(16, 12) * edges, rate = c(0, 0))
  c(products = product_seconds(row, pairs, rates), wire = sizes[1] / rates$wire, fill = sizes[2] / rates$fill)
}

# Products, wire and fill go on at the same time; but a sparse matrix can be filled when all edges are known only.
floor_seconds <- function(row, terms) {
  switch(row$kind, dist = max(terms), network = max(terms[c("products", "wire")]) + terms[["fill"]],
         rate = terms[["products"]])
}

# ---- one run

status_bytes <- function(field) {
  line <- tryCatch(grep(field, readLines("/proc/self/status"), value = TRUE), error = function(e) "")
  as.numeric(gsub("[^0-9]", "", c(line, "")[1])) * 1024
}
# Forget the peak so far, if that is allowed.
forget_peak <- function() {
  suppressWarnings(tryCatch(cat("5", file = "/proc/self/clear_refs"), error = function(e) NULL))
}

now <- function() proc.time()[["elapsed"]]
spent <- new.env()

# From now on the seconds in one of the package's own functions are added up in `spent`.
watch <- function(name) {
  tryCatch({
    original <- utils::getFromNamespace(name, "gpucor")
    watched <- function(...) {
      start <- now()
      on.exit(spent[[name]] <- c(spent[[name]], 0)[1] + now() - start)
      original(...)
    }
    utils::assignInNamespace(name, watched, "gpucor")
  }, error = function(e) NULL)
}
seconds_in <- function(name) c(spent[[name]], NA)[1]

# Of the engine's last run: seconds preparing, multiplying, altogether; bytes of device memory at the peak.
engine_stages <- function() {
  stages <- tryCatch(.Call(get("r_stages", asNamespace("gpucor"))), error = function(e) NULL)
  c(as.numeric(stages), rep(NA_real_, 4))[1:4]
}

stage_seconds <- function(kind, seconds, engine) {
  known <- c("sample" = seconds_in("sampled_least"), "preparing" = engine[1], "multiplying and delivering" = engine[2],
             "opening and closing" = engine[3] - engine[1] - engine[2])
  if (kind == "network") {
    known <- c(known, "selection" = seconds_in("store_rank"), "assembly" = seconds_in("take_rows"),
               "object" = seconds_in("new_network"))
  }
  known <- known[!is.na(known)]
  c(known, "the rest" = max(0, seconds - sum(known)))
}

call_of <- function(row, x) {
  if (row$kind == "dist") return(function() gpuCor(x, method = row$method))
  if (row$kind == "network") return(function() gpuCorNetwork(x, density = DENSITY, method = row$method))
  function() {
    task <- gpucor:::network_task(x, NULL, list(name = "threshold", value = BEYOND), "absolute", "everything",
                                  row$method, NULL)
    gpucor:::edge_pass(task, BEYOND)
  }
}

# With a sample of columns as the real call has it, where there are enough.
warm_up <- function(row, x) {
  few <- x[, seq_len(if (row$kind == "network") min(20000, ncol(x) %/% 4) else min(5000, ncol(x))), drop = FALSE]
  invisible(call_of(row, few)())
}

# The best run and its result. Of a rate, whose run ends with its products, the one that multiplied fastest.
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
    before <- status_bytes("VmRSS")
    total <- system.time(result <- call())[["elapsed"]]
    engine <- engine_stages()
    seconds <- if (row$kind == "rate") engine[2] else total
    run <- list(seconds = seconds, stages = stage_seconds(row$kind, total, engine), before = before,
                host = status_bytes("VmHWM"), device = engine[4], counted = is.finite(seconds_in("counted_rows")))
    all <- c(all, seconds)
    if (is.null(best) || isTRUE(seconds < best$seconds)) best <- run
    if (row$once || total >= 10 || length(all) >= if (row$kind == "rate") 3 else 2) break
  }
  c(best, list(all = all, result = result))
}

# ---- whether it is right

# cor(method = "kendall") takes 0.2 ms for 128 observations, and grows with their square.
samples_of <- function(row) {
  if (row$method != "kendall") return(2000)
  max(200, min(2000, floor(2000 * (128 / row$n_obs)^2)))
}

truth_of <- function(row, x, i, j) mapply(function(i, j) stats::cor(x[, i], x[, j], method = row$method), i, j)

# Among the pairs are the first, the last, and those around 2^31 and 2^32.
check_dist <- function(row, x, r) {
  pairs <- pairs_of(ncol(x))
  at <- c(1, pairs, 2^31 + -1:1, 2^32 + -1:1, ceiling(stats::runif(samples_of(row)) * pairs))
  at <- unique(at[at >= 1 & at <= pairs])
  ij <- triangleIndex(at, ncol(x))
  list(off = max(abs(as.numeric(r[at]) - truth_of(row, x, ij[, 1], ij[, 2]))), wrong = NA, checked = length(at))
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

# Sampled edges, pairs anywhere, and pairs that share a signal, which are edges or nearly so.
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

check <- function(row, x, result) {
  none <- list(off = NA_real_, wrong = NA, checked = 0)
  tryCatch(switch(row$kind, dist = check_dist(row, x, result), network = check_network(row, x, result), rate = none),
           error = function(e) {
             say("cannot be checked: ", conditionMessage(e))
             none
           })
}

# ---- a row

# What the row has to tell, as a list.
measure <- function(name, row, x, rates) {
  warm_up(row, x)
  run <- best_run(row, x)
  pairs <- pairs_of(ncol(x))
  edges <- if (row$kind == "network") run$result@edges else 0
  size <- switch(row$kind, dist = 8 * pairs, network = 12 * edges + 4 * ncol(x), rate = 0)
  terms <- floor_terms(row, pairs, edges, rates)
  list(name = name, seconds = run$seconds, all = run$all, stages = run$stages, host = run$host,
       beyond = run$host - run$before - size, device = run$device, counted = run$counted, pairs = pairs, edges = edges,
       surplus = edges - ceiling(DENSITY * pairs), terms = terms, floor = floor_seconds(row, terms),
       rate = operations_of(row, pairs) / run$seconds / 1e12, found = check(row, x, run$result))
}

tell <- function(row, m) {
  terms <- if (row$kind == "rate") m$terms["products"] else m$terms
  amount <- paste0(number(m$pairs / m$seconds / 1e9), " G pairs/s")
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
  if (row$kind == "dist") return(paste0(off, " at most of ", m$found$checked, " pairs; "))
  surplus <- if (m$surplus != 0) paste0(", ", number(m$surplus), " ties beyond the density")
  counted <- if (m$counted) ", by a histogram of all pairs" # as no sample would do
  paste0(number(m$edges, 10), " edges", surplus, counted, ", ", off, " at most, ", m$found$wrong, " of ",
         m$found$checked, " pairs wrong; ")
}

# Never an error: whatever fails is the row's result.
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

# Rows of the same data.
rows_part <- function(names) {
  suppressPackageStartupMessages({
    library(gpucor)
    library(Matrix)
  })
  rates <- tryCatch(readRDS(result_file("rates")), error = function(e) NULL)
  if (is.null(rates)) rates <- as.list(c(bits = NA, half = NA, float = NA, device = NA, wire = NA, fill = NA) + 0)
  if (!load_library("random")) return(invisible())
  for (name in c("sampled_least", "store_rank", "take_rows", "new_network", "counted_rows")) watch(name)
  row <- rows[[names[1]]]
  x <- .Call("random_matrix", row$n_obs, row$n_var, row$steps)
  for (name in names) {
    measure_row(name, x, rates)
    gc(full = TRUE)
  }
}

# ---- building what measures

# Runs a command in the folder; what it says is shown where it fails.
build <- function(name, command, arguments) {
  log <- suppressWarnings(system2(command, arguments, stdout = TRUE, stderr = TRUE))
  built <- is.null(attr(log, "status")) && file.exists(paste0(name, .Platform$dynlib.ext))
  if (!built) say("cannot build ", name, ": ", paste(utils::tail(log, 5), collapse = " "))
}

# nvcc's flag for the GPU here. Hopper's own instructions are in code for 9.0a only.
architecture <- function() {
  found <- tryCatch(suppressWarnings(system2("nvidia-smi", c("--query-gpu=compute_cap", "--format=csv,noheader"),
                                             stdout = TRUE, stderr = FALSE)), error = function(e) character())
  found <- sub(".", "", grep("^[0-9]+[.][0-9]+$", trimws(found), value = TRUE), fixed = TRUE)
  if (!length(found)) return(NULL)
  own <- if (found[1] == "90") "90a" else found[1]
  paste0("-gencode=arch=compute_", own, ",code=sm_", own)
}

nvcc <- function() {
  candidates <- c(file.path(Sys.getenv("CUDA_HOME"), "bin", "nvcc"), Sys.which("nvcc"), "/usr/local/cuda/bin/nvcc")
  c(candidates[nzchar(candidates) & file.exists(candidates)], "nvcc")[1]
}

build_libraries <- function() {
  old <- setwd(folder)
  on.exit(setwd(old))
  file.copy(file.path(here, c("random.c", "columns.h")), folder, overwrite = TRUE)
  Sys.setenv(PKG_CFLAGS = "-O3 -fopenmp", PKG_LIBS = "-fopenmp")
  build("random", file.path(R.home("bin"), "R"), c("CMD", "SHLIB", "random.c"))
  flag <- architecture()
  if (is.null(flag)) return(invisible())
  build("gpu-rates", nvcc(), c("-std=c++17", "-O3", flag, "-Xcompiler", "-fPIC", "-shared", "-o", "gpu-rates.so",
                               shQuote(file.path(here, "gpu-rates.cu"))))
}

# ---- the whole

result_file <- function(name) file.path(folder, paste0(name, ".rds"))

# This script again, for one part of the work; what it says is said here.
run_part <- function(part) {
  Sys.setenv(GPUCOR_BENCH_PART = paste(part, collapse = ","))
  on.exit(Sys.unsetenv("GPUCOR_BENCH_PART"))
  command <- paste(shQuote(file.path(R.home("bin"), "Rscript")), "--vanilla", shQuote(script), "2>&1")
  child <- pipe(command, "r")
  while (length(line <- readLines(child, 1, warn = FALSE))) emit(line)
  status <- close(child)
  if (isTRUE(status != 0)) {
    say(paste(part, collapse = ", "), ": ended with status ", if (status > 255) status %/% 256 else status)
  }
}

# A process that dies takes the rows after it with it: they get another.
run_rows <- function(names) {
  if (proc.time()[["elapsed"]] > limit) return(say("no time left for ", paste(names, collapse = ", ")))
  run_part(names)
  left <- names[!file.exists(result_file(names))]
  if (length(left) > 1) run_rows(left[-1])
}

read_result <- function(name) {
  tryCatch(suppressWarnings(readRDS(result_file(name))), error = function(e) list(name = name, error = "no result"))
}

# What takes longest; of the products, the share of that time which each of their works takes at the rates above.
bound_of <- function(m) {
  if (!is.null(m$error)) return(m$error)
  at <- which.max(m$stages)
  text <- paste0(names(at), ", ", number(m$stages[[at]]), " of ", number(sum(m$stages)), " s")
  if (names(at) != "multiplying and delivering") return(text)
  terms <- if (m$edges > 0) m$terms[c("products", "wire")] else m$terms # a sparse matrix is filled later
  shares <- terms[terms > 0 & !is.na(terms)] / m$stages[[at]]
  if (!length(shares)) return(text)
  shares <- paste(names(shares), vapply(shares, percent, ""), collapse = ", ")
  paste0(text, "; of that, at the rates above: ", shares)
}

verdict <- function(row, m) {
  if (is.na(row$must) || scale != 1 || !is.null(m$error)) return("")
  reached <- if (row$kind == "rate") m$rate >= row$must else m$seconds <= row$must
  if (isTRUE(reached)) "yes" else "no"
}

COLUMNS <- "%-19s %9s %5s %8s %8s %6s %9s %10s %6s %4s %8s %5s %6s %6s"

table_line <- function(name) {
  row <- rows[[name]]
  m <- read_result(name)
  size <- c(name, number(row$n_var, 8), row$n_obs)
  fields <- if (!is.null(m$error)) c("failed", rep("", 3)) else
    c(number(m$floor), number(m$seconds), number(m$seconds / m$floor),
      if (row$kind == "rate") paste(number(m$rate), "T") else
        number((if (row$kind == "network") m$edges else m$pairs) / m$seconds / 1e6))
  aims <- c(row$published, if (is.na(row$must)) "" else number(row$must, 4), verdict(row, m))
  rest <- if (!is.null(m$error)) rep("", 4) else
    c(if (is.na(m$found$off)) "" else sprintf("%.1e", m$found$off), if (is.na(m$found$wrong)) "" else m$found$wrong,
      gigabytes(m$host), gigabytes(m$device))
  emit(do.call(sprintf, as.list(c(COLUMNS, size, fields, aims, rest))))
}

print_table <- function(names) {
  emit("")
  titles <- c("", "N", "n_obs", "floor", "ours", "ratio", "M/s", "published", "must", "met", "r off", "wrong", "host",
              "GPU")
  emit(do.call(sprintf, as.list(c(COLUMNS, titles))))
  for (name in names) tryCatch(table_line(name), error = function(e) emit(name, ": ", conditionMessage(e)))
  say("Times in seconds; M/s: millions of edges (of a dist: pairs) a second, or 10^12 operations a second (T), the ",
      "measure of the rates' \"must\", too; memory at the peak in GB. Also published: dist-pearson by Fast-GPU-PCC ",
      "2.9 s on an H200, in float32 only; that of dist-kendall is an average over 128 to 1,024 observations.")
  emit("")
  emit("What bounds it:")
  for (name in names) tryCatch(say(name, ": ", bound_of(read_result(name)), indent = 2), error = function(e) NULL)
}

main <- function() {
  asked <- setdiff(arguments, "--record")
  unknown <- setdiff(asked, names(rows))
  if (length(unknown)) stop("there is no row ", unknown[1], "; rows are ", paste(names(rows), collapse = ", "))
  wanted <- if (length(asked)) intersect(names(rows), asked) else names(rows)
  if ("--record" %in% arguments) {
    dir.create(file.path(here, "results"), showWarnings = FALSE)
    record <<- file(file.path(here, "results", "gpu.txt"), "w")
  }
  Sys.setenv(GPUCOR_BENCH_FOLDER = folder, R_LIBS = paste(.libPaths(), collapse = .Platform$path.sep))
  if (Sys.getenv("GPUCOR_BENCH_LIBS") == "") {
    build_libraries()
    Sys.setenv(GPUCOR_BENCH_LIBS = folder)
  }
  run_part("rates")
  emit("")
  data <- vapply(wanted, function(name) if (nzchar(rows[[name]]$data)) rows[[name]]$data else name, "")
  for (group in split(wanted, factor(data, unique(data)))) run_rows(group)
  print_table(wanted)
  emit("")
  emit("The run took ", number(proc.time()[["elapsed"]]), " s.")
}

if (!length(part)) {
  main()
} else if (identical(part, "rates")) {
  rates_part()
} else {
  rows_part(part)
}
