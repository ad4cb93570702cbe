# The measurements of cpu.R, each in a process of its own.

# ---- tasks in other processes

# BLAS libraries read their number of threads when loaded; gpucor reads the instruction set at each run.
environment_of <- function(task) {
  limits <- if (!is.na(task$threads)) {
    paste0(c("OMP_NUM_THREADS=", "OPENBLAS_NUM_THREADS=", "MKL_NUM_THREADS="), task$threads)
  }
  c(limits, "GPUCOR_BACKEND=cpu", if (isTRUE(nzchar(task$instructions))) paste0("GPUCOR_CPU=", task$instructions),
    if (isTRUE(nzchar(task$blas))) paste0("LD_PRELOAD=", task$blas))
}

# Returns the task's result, or a list with an error.
measure_apart <- function(task) {
  file <- tempfile("task", folder)
  log <- tempfile("log", folder)
  saveRDS(task, file)
  status <- system2(file.path(R.home("bin"), "Rscript"), c("--vanilla", shQuote(script), if (quick) "--quick"),
                    stdout = log, stderr = log, env = c(environment_of(task), paste0("GPUCOR_BENCH_PART=", file)))
  result <- paste0(file, ".rds")
  if (file.exists(result)) readRDS(result) else list(error = failure(status, log))
}

apart <- function(file) {
  task <- readRDS(file)
  result <- tryCatch(switch(task$who, machine = the_machine(), rates = cpu_rates(task$threads),
                            work = measure_work(task), measure_call(task)),
                     error = function(e) list(error = conditionMessage(e)))
  saveRDS(result, paste0(file, ".rds"))
}

# ---- the machine

the_machine <- function() {
  info <- gpucor::gpuInfo()
  list(threads = info$threads, instructions = info$instructions)
}

build_cpu_rates <- function() {
  file.copy(file.path(here, "cpu-rates.c"), folder, overwrite = TRUE)
  wide <- if (R.version$arch == "x86_64") "-mprefer-vector-width=512"
  flags <- paste(c("-O3 -march=native", wide, "-fopenmp"), collapse = " ")
  build("cpu-rates", paste0("PKG_CFLAGS='", flags, "' PKG_LIBS=-fopenmp ", r_command(), " CMD SHLIB cpu-rates.c"))
}

# Words, multiply-adds and bytes per second; NA without the library that measures them.
cpu_rates <- function(threads) {
  unit <- function(name) if (units) .C(name, as.integer(threads), 0)[[2]] else NA_real_
  units <- load_library("cpu-rates")
  fill <- if (load_library("random")) .Call("fill_rate", as.integer(threads)) else NA_real_
  list(popcount = unit("rate_popcount"), float = unit("rate_float"), double = unit("rate_double"), fill = fill)
}

available_memory <- function() {
  line <- tryCatch(grep("MemAvailable", readLines("/proc/meminfo"), value = TRUE), error = function(e) "")
  found <- as.numeric(gsub("[^0-9]", "", c(line, "")[1])) * 1024
  if (is.na(found)) 0 else found
}

# ---- packages

packages <- c("WGCNA::cor" = "WGCNA", "WGCNA::pickSoftThreshold" = "WGCNA", "pcaPP::cor.fk" = "pcaPP",
              "stats::cor" = "stats")
has <- function(package) nzchar(system.file(package = package))

same_file <- function(a, b) identical(normalizePath(a, mustWork = FALSE), normalizePath(b, mustWork = FALSE))

# The reference BLAS in Debian's folder, and in R's.
reference_blas <- function() {
  found <- c(Sys.glob("/usr/lib/*/blas/libblas.so.3"), file.path(R.home("lib"), "libRblas.so"))
  c(found[file.exists(found)], NA)[1]
}

# Some packages print a message when loaded.
quietly <- function(code) {
  utils::capture.output(value <- suppressMessages(code))
  value
}

# Returns a function that computes from a matrix what the task requests.
caller <- function(task) {
  if (task$who == "gpucor") return(own_caller(task))
  if (task$who == "stats::cor") return(function(x) stats::cor(x, method = task$method))
  if (task$who == "pcaPP::cor.fk") return(function(x) pcaPP::cor.fk(x))
  quietly(WGCNA::enableWGCNAThreads(task$threads))
  if (task$kind == "powers") return(function(x) quietly(WGCNA::pickSoftThreshold(x, powerVector = POWERS)))
  if (task$method == "spearman") return(function(x) WGCNA::cor(apply(x, 2, rank), nThreads = task$threads))
  function(x) WGCNA::cor(x, nThreads = task$threads)
}

own_caller <- function(task) {
  method <- task$method
  threads <- task$threads
  quietly(library(gpucor))
  network <- function(...) gpuCorNetwork(..., method = method, backend = "cpu", threads = threads)
  switch(task$kind,
         dist = function(x) gpuCor(x, method = method, backend = "cpu", threads = threads),
         network = function(x) network(x, threshold = task$threshold),
         degrees = function(x) gpuConnectivity(x, task$threshold, method = method, backend = "cpu", threads = threads),
         density = function(x) network(x, density = DENSITY),
         powers = function(x) pickPower(x, POWERS, method = method, backend = "cpu", threads = threads))
}

# ---- a measurement

# The first columns are the same for any number of columns.
data_of <- function(task) {
  if (task$data == "golub") {
    found <- new.env()
    utils::data("golub", package = "multtest", envir = found) # loads the data, not the package
    return(t(found$golub)[, seq_len(task$n_var)])
  }
  set.seed(20)
  x <- stats::rnorm(task$n_obs * task$n_var)
  if (task$data == "ties") x <- round(x) # about seven distinct values per column
  dim(x) <- c(task$n_obs, task$n_var) # matrix() would copy them
  if (task$data == "factors") x <- x + x[, 1:3] %*% matrix(stats::rnorm(3 * task$n_var), 3)
  x
}

seconds_now <- function() as.numeric(Sys.time()) # to microseconds

one_call <- function(call, x) {
  gc(full = TRUE)
  collecting <- gc.time()[[3]]
  start <- seconds_now()
  result <- call(x)
  seconds <- seconds_now() - start
  list(seconds = seconds, collecting = gc.time()[[3]] - collecting, result = result)
}

# Enough are seven calls in `limit` seconds, or five in five times that: large results are often in memory that the
# system has to supply first, which takes several times as long.
enough <- function(task, calls, spent) {
  limit <- if (quick) 0.7 else 3
  task$kind == "density" || calls >= 7 || spent > 5 * limit || calls >= 5 && spent > limit
}

# The best call, with the stages of gpucor's run: seconds preparing, multiplying, in total.
best_call <- function(task, call, x) {
  start <- seconds_now()
  best <- NULL
  all <- numeric()
  while (!length(all) || !enough(task, length(all), seconds_now() - start)) {
    now <- one_call(call, x)
    now$stages <- if (task$who == "gpucor") engine_stages()[1:3] else rep(NA_real_, 3)
    all <- c(all, if (task$by == "run") now$stages[3] else now$seconds)
    if (all[length(all)] == min(all)) best <- now
    now <- NULL # frees memory for the next call
  }
  c(best, list(slowest = max(all)))
}

measure_call <- function(task) {
  gc.time(TRUE)
  x <- data_of(task)
  call <- caller(task)
  invisible(call(x[, 1:20]))
  best <- best_call(task, call, x)
  peak <- status_bytes("VmHWM")
  own <- task$who == "gpucor"
  found <- if (own && task$by == "seconds") check_own(task, x, best$result)
  edges <- if (own) switch(task$kind, network = , density = best$result@edges, degrees = best$result$edges)
  if (is.null(edges)) edges <- NA
  size <- as.numeric(utils::object.size(best$result))
  best$result <- NULL
  c(best, list(n_var = task$n_var, peak = peak, size = size, edges = edges, found = found,
               blas = extSoftVersion()[["BLAS"]]))
}

# Compares with stats::cor on a sample of the pairs.
check_own <- function(task, x, result) {
  if (task$kind %in% c("powers", "degrees")) return(NULL) # sums over all pairs are checked by the tests
  set.seed(21)
  task$kind <- if (task$kind == "dist") "dist" else "network"
  check(task, x, result)
}
