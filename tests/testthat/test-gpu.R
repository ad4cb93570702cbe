# What the machine has, which back end and how many threads are taken, and CUDA that is not there.

no_gpu <- !("cuda" %in% backends())

# Nothing of the caller's settings, so that each test has its own.
settings_cleared <- function(env = character(), options = list(), code) {
  names <- c("GPUCOR_BACKEND", "GPUCOR_THREADS", "GPUCOR_MEMORY", "GPUCOR_PROGRESS", "OMP_THREAD_LIMIT",
             "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK", "PBS_NUM_PPN", "NSLOTS", "LSB_DJOB_NUMPROC",
             "_R_CHECK_LIMIT_CORES_")
  cleared <- c(env, stats::setNames(rep(NA_character_, length(names)), names)[setdiff(names, names(env))])
  none <- list(gpucor.backend = NULL, gpucor.threads = NULL, gpucor.memory = NULL, gpucor.progress = NULL)
  none[names(options)] <- options
  with_env(cleared, with_options(none, code))
}

threads_with <- function(env = character(), options = list()) settings_cleared(env, options, gpuInfo()$threads)

test_that("gpuInfo() says what there is", {
  info <- gpuInfo()
  expect_s3_class(info, "gpuInfo")
  expect_named(info, c("backends", "default", "devices", "device", "driver", "runtime", "reason",
                       "configured", "threads", "instructions"))
  expect_true("cpu" %in% info$backends)
  expect_true(info$default %in% info$backends)
  expect_s3_class(info$devices, "data.frame")
  expect_named(info$devices, c("id", "name", "capability", "multiprocessors", "memory", "memory_free"))
  expect_gte(info$threads, 1)
  expect_true(all(info$instructions %in% c("avx512", "avx2", "neon", "plain")) && "plain" %in% info$instructions)
  expect_identical("cuda" %in% info$backends, nrow(info$devices) > 0)
  expect_identical(nzchar(info$reason), nrow(info$devices) == 0)
  expect_output(print(info), "gpucor back ends: .*cpu; in use: ")
  expect_output(print(info), paste0("CPU: +", info$threads, " thread"))
  capture.output(expect_invisible(print(info)))
  expect_nothing_live()
})

test_that("a build without CUDA repeats why", {
  skip_if_not(grepl("built without CUDA", gpuInfo()$reason), "built with CUDA")
  expect_match(gpuInfo()$reason, "^the package was built without CUDA: .{10}")
  expect_output(print(gpuInfo()), gpuInfo()$reason, fixed = TRUE)
  expect_identical(sub("^the package was built without CUDA: (.*)$", " and no CUDA (\\1)", gpuInfo()$reason),
                   sub("^CPU back end.*?(?= and no CUDA)", "", gpuInfo()$configured, perl = TRUE))
})

test_that("the number of threads is printed", {
  info <- gpuInfo()
  info$threads <- 1L
  expect_output(print(info), "CPU:  1 thread, instructions: ", fixed = TRUE)
  info$threads <- 2L
  expect_output(print(info), "CPU:  2 threads, instructions: ", fixed = TRUE)
})

test_that("a GPU's generation is described", {
  info <- gpuInfo()
  print_of <- function(capability) {
    info$devices <- data.frame(id = 0L, name = "GPU", capability = capability, multiprocessors = 100L, memory = 2^35,
                               memory_free = NA_real_)
    paste(capture.output(print(info)), collapse = "\n")
  }
  expect_match(print_of("9.0"), "compute capability 9.0, .*\n +Kendall multiplies bits; doubles at 1/2 of the rate")
  expect_match(print_of("8.9"), "multiplies bits; doubles at 1/64")
  expect_match(print_of("10.0"), "multiplies bytes; doubles at 1/2")
  expect_match(print_of("12.0"), "multiplies bytes; doubles at 1/64")
})

test_that("without a GPU, CUDA is refused with the reason and auto takes the CPU", {
  skip_if_not(no_gpu, "a machine without a GPU")
  reason <- gpuInfo()$reason
  x <- normal(10, 4)
  expect_error(chooseGpu(0), paste0("there is no GPU to choose: ", reason), fixed = TRUE)
  expect_identical(getGpuId(), integer())
  expect_identical(gpuInfo()$device, integer())
  message <- paste0("backend = \"cuda\" cannot be used: ", reason, "; use backend = \"cpu\" or \"auto\"")
  for (f in list(gpuCor, gpuCorTriangle, gpuDist, gpuCorTest)) {
    expect_error(f(x, backend = "cuda"), message, fixed = TRUE)
  }
  expect_identical(gpuCor(x, backend = "auto", output = "matrix"), gpuCor(x, backend = "cpu", output = "matrix"))
  expect_output(print(gpuInfo()), paste("CUDA: none,", reason), fixed = TRUE)
})

test_that("with a GPU, it is the one chosen", {
  skip_if(no_gpu, "no GPU")
  devices <- gpuInfo()$devices
  expect_identical(settings_cleared(code = gpuInfo()$default), "cuda")
  expect_true(all(devices$memory > 0))
  expect_identical(chooseGpu(0), 0L)
  expect_identical(getGpuId(), 0L)
  last <- nrow(devices) - 1L
  chooseGpu(last)
  expect_identical(getGpuId(), last)
  expect_true(devices$memory[last + 1] >= gpuInfo()$devices$memory_free[last + 1])
  expect_like_cor(normal(10, 5), backend = "cuda")
  chooseGpu(0)
  for (bad in list(-1, last + 1, 0.5, "0", NA)) {
    expect_error(chooseGpu(bad), "'deviceId' must be a GPU's number.*gpuInfo\\(\\) lists the GPUs")
  }
  expect_identical(getGpuId(), 0L)
  expect_output(print(gpuInfo()), devices$name[1], fixed = TRUE)
})

test_that("the back end is that of the argument, else the option, else the environment", {
  x <- normal(10, 4)
  refused <- function(env, options, ...) {
    text <- tryCatch(settings_cleared(env, options, {
      gpuCor(x, ...)
      "fine"
    }), error = conditionMessage)
    grepl("must be one of", text)
  }
  # A name that no back end has tells which setting was read.
  expect_true(refused(c(GPUCOR_BACKEND = "wrong"), list()))
  expect_true(refused(c(GPUCOR_BACKEND = "cpu"), list(gpucor.backend = "wrong")))
  expect_true(refused(c(GPUCOR_BACKEND = "cpu"), list(gpucor.backend = "cpu"), backend = "wrong"))
  expect_false(refused(c(GPUCOR_BACKEND = "wrong"), list(gpucor.backend = "cpu")))
  expect_false(refused(c(GPUCOR_BACKEND = "wrong"), list(gpucor.backend = "wrong"), backend = "cpu"))
  expect_identical(settings_cleared(c(GPUCOR_BACKEND = "cpu"), code = gpuInfo()$default), "cpu")
  expect_identical(settings_cleared(code = gpuInfo()$default), gpuInfo()$backends[1])
})

test_that("threads are those of the option, else the environment, else the batch system's limit", {
  cores <- threads_with()
  expect_gte(cores, 1)
  expect_equal(threads_with(c(GPUCOR_THREADS = "3")), 3)
  expect_equal(threads_with(c(GPUCOR_THREADS = "3"), list(gpucor.threads = 5)), 5)
  expect_equal(threads_with(c(GPUCOR_THREADS = "3", OMP_THREAD_LIMIT = "1")), 3)
  for (variable in c("OMP_THREAD_LIMIT", "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK", "PBS_NUM_PPN", "NSLOTS",
                     "LSB_DJOB_NUMPROC")) {
    expect_equal(threads_with(stats::setNames("1", variable)), 1, label = variable)
    # A limit is not a wish for more than there is, and nonsense is none.
    expect_equal(threads_with(stats::setNames("100000", variable)), cores, label = variable)
    expect_equal(threads_with(stats::setNames("some", variable)), cores, label = variable)
  }
  expect_lte(threads_with(c("_R_CHECK_LIMIT_CORES_" = "true")), 2)
  x <- normal(10, 4)
  expect_error(settings_cleared(c(GPUCOR_THREADS = "two"), code = gpuCor(x)), "'threads' must be a whole number")
  expect_error(settings_cleared(c(GPUCOR_THREADS = "0"), code = gpuCor(x)), "'threads' must be a whole number")
  expect_identical(settings_cleared(c(GPUCOR_THREADS = "two"), code = as.vector(gpuCor(x, threads = 1))),
                   as.vector(gpuCor(x)))
})

test_that("'keep' is an error that names what it may mean", {
  x <- normal(10, 4)
  hint <- "unused argument 'keep'; 'keep_memory' is memory of freed results .* x\\[keep, \\] takes rows"
  for (keep in list(TRUE, 6e6, 1:10 > 2)) {
    expect_error(gpuControl(keep = keep), hint)
    expect_error(gpuCor(x, keep = keep), hint)
    expect_error(gpuConnectivity(x, power = 1, keep = keep), hint)
    expect_error(gpuCorPlan(tempfile(), x, threshold = 0.5, keep = keep), hint)
  }
  expect_identical(gpuControl(keep_memory = 6e6)$keep_memory, 6e6)
  expect_identical(as.vector(gpuCor(x, keep_memory = FALSE)), as.vector(gpuCor(x)))
  expect_error(gpuCor(x, keep_memory = "some"), "'keep_memory' must be .*; leave it out for TRUE")
  for (of in list(function(code) with_options(list(gpucor.keep = FALSE), code),
                  function(code) with_env(c(GPUCOR_KEEP = "FALSE"), code))) {
    expect_error(of(gpuCor(x)), "'keep' is now 'keep_memory'; use option gpucor.keep_memory in place of gpucor.keep")
  }
})

test_that("a setting that is wrong is told with where it is made", {
  x <- normal(10, 4)
  error_with <- function(env, options, ...) {
    settings_cleared(env, options, code = tryCatch({
      gpuCor(x, ...)
      ""
    }, error = conditionMessage))
  }
  bad <- list(threads = "many", memory = "1GB", progress = "maybe", backend = "opencl", devices = "cuda",
              keep_memory = "some")
  for (name in names(bad)) {
    option <- stats::setNames(bad[name], paste0("gpucor.", name))
    variable <- stats::setNames(bad[[name]], paste0("GPUCOR_", toupper(name)))
    expect_identical(error_with(character(), list()), "")
    expect_match(error_with(variable, list()),
                 paste0("^'", name, "' must be .*as environment variable ", names(variable), " says; Sys.unsetenv"))
    expect_match(error_with(variable, option), fixed = TRUE,
                 paste0("as option ", names(option), " says; options(", names(option), " = NULL)"))
    own <- do.call(error_with, c(list(variable, option), bad[name]))
    expect_match(own, "; leave it out for ")
    expect_no_match(own, paste(names(option), "says"))
  }
  with_options(list(gpucor.output = "vector"), expect_error(gpuCor(x), "as option gpucor.output says"))
  many <- function() gpuCor(function(i) x, subjects = 2)
  with_options(list(gpucor.spool_bytes = 0), {
    expect_error(settings_cleared(c(GPUCOR_FOLDER = "2026/gone"), list(gpucor.spool_bytes = 1), many()),
                 "'folder' must be a folder .*2026/gone.* as environment variable GPUCOR_FOLDER says")
    expect_error(settings_cleared(options = list(gpucor.spool_bytes = 1, gpucor.folder = 7), code = many()),
                 "'folder' must be a folder .* not 7, as option gpucor.folder says")
  })
  with_options(list(gpucor.spool_bytes = "much"), {
    expect_error(gpuCor(function(i) x, subjects = 2), "'spool_bytes' must be .* as option gpucor.spool_bytes says")
  })
})

test_that("memory and progress follow the same order", {
  x <- normal(10, 4)
  error_with <- function(env, options = list(), ...) {
    settings_cleared(env, options, tryCatch({
      gpuCor(x, ...)
      ""
    }, error = conditionMessage))
  }
  expect_match(error_with(c(GPUCOR_MEMORY = "much")), "'memory' must be a whole number")
  expect_match(error_with(character(), list(gpucor.memory = -1)), "'memory' must be a whole number")
  expect_identical(error_with(c(GPUCOR_MEMORY = "much"), list(gpucor.memory = 1e6)), "")
  expect_identical(error_with(c(GPUCOR_MEMORY = "1e6")), "")
  expect_match(error_with(c(GPUCOR_PROGRESS = "maybe")), "'progress' must be TRUE or FALSE")
  expect_identical(error_with(c(GPUCOR_PROGRESS = "FALSE")), "")
  expect_identical(error_with(c(GPUCOR_PROGRESS = "maybe"), progress = FALSE), "")
})

# The library that the CUDA Toolkit has for linking on machines without a driver: it has all of
# the driver's functions, and each answers with an error.
driver_stub <- function() {
  homes <- c(Sys.getenv("CUDA_HOME"), "/usr/local/cuda")
  files <- file.path(homes[nzchar(homes)], "lib64", "stubs", "libcuda.so")
  files[file.exists(files)][1]
}

test_that("a driver that answers with errors is not used", {
  skip_if(!no_gpu, "a machine with a GPU")
  skip_if(grepl("built without CUDA", gpuInfo()$reason), "built without CUDA")
  skip_if(is.na(driver_stub()), "no driver stub")
  skip_without_children()
  folder <- tempfile("driver")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  file.symlink(driver_stub(), file.path(folder, "libcuda.so.1"))
  path <- paste(c(folder, Sys.getenv("LD_LIBRARY_PATH")), collapse = ":")
  child <- callr::r(function(x) {
    library(gpucor)
    options(gpucor.threads = 2L)
    list(info = gpuInfo(),
         auto = gpuCor(x, output = "matrix"),
         error = tryCatch(gpuCor(x, backend = "cuda"), error = conditionMessage),
         live = .Call(gpucor:::r_live))
  }, list(normal(10, 4)), env = c(callr::rcmd_safe_env(), LD_LIBRARY_PATH = path))
  expect_match(child$info$reason, "stub") # or this tests nothing
  expect_identical(child$info$backends, "cpu")
  expect_true(nzchar(child$info$reason))
  expect_equal(child$auto, cor(normal(10, 4)), tolerance = 1e-6)
  expect_match(child$error, paste0("backend = \"cuda\" cannot be used: ", child$info$reason), fixed = TRUE)
  expect_identical(child$live, list(host = 0, device = 0))
})

# The reason that there is no GPU, in a process whose driver is the library of this code; without any, none is found.
reason_with_driver <- function(code = NULL) {
  folder <- tempfile("driver")
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE))
  if (!is.null(code)) {
    writeLines(code, file.path(folder, "driver.c"))
    compiler <- strsplit(callr::rcmd("config", "CC")$stdout, "[ \n]+")[[1]]
    system2(compiler[1], c(compiler[-1], "-shared", "-fPIC", "-o", file.path(folder, "libcuda.so.1"),
                           file.path(folder, "driver.c")))
  }
  callr::r(function() gpucor::gpuInfo()$reason, env = c(callr::rcmd_safe_env(), LD_LIBRARY_PATH = folder))
}

test_that("a driver that is missing or too old is said to be", {
  skip_if(!no_gpu, "a machine with a GPU")
  skip_if(grepl("built without CUDA", gpuInfo()$reason), "built without CUDA")
  skip_without_children()
  skip_if(file.exists("/proc/driver/nvidia"), "a machine with a driver")
  expect_identical(reason_with_driver(), "this machine has no NVIDIA driver, which a GPU needs to be used")
  old <- c("int cuDriverGetVersion(int *version) { *version = 11040; return 0; }",
           "int cuInit(unsigned flags) { (void)flags; return 0; }")
  expect_match(reason_with_driver(old), "the NVIDIA driver is for CUDA 11.4, and .* update the driver")
})
