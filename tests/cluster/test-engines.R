# Every way to start processes that vignette("scale") shows.

x <- some_x(40, 500)
truth <- gpuCorNetwork(x, density = 0.02, method = "kendall")
new_plan <- function() quiet_plan(shared("plan"), x, density = 0.02, method = "kendall", shards = 6)
template <- file.path(here, "slurm.tmpl")

expect_done <- function(path, hosts = "login") {
  status <- gpuCorStatus(path)
  expect_identical(status$state, rep("done", 6))
  expect_true(all(grepl(hosts, status$host)), label = paste("hosts", toString(status$host)))
  expect_collected(path, truth)
}

test_that("xargs -P", {
  path <- new_plan()
  line <- sprintf("seq 6 | xargs -P 2 -I{} Rscript -e 'gpucor::gpuCorRun(\"%s\", {})'", path)
  expect_identical(system(line, ignore.stderr = TRUE), 0L)
  expect_done(path)
})

test_that("future.apply on one machine", {
  path <- new_plan()
  old <- future::plan(future::multisession, workers = 2)
  on.exit(future::plan(old))
  future.apply::future_lapply(1:6, function(k) gpucor::gpuCorRun(path, k))
  expect_done(path)
})

test_that("future.apply by future.batchtools on Slurm", {
  path <- new_plan()
  folder <- setwd(file.path(lab, "work")) # where .future will be created
  old <- future::plan(future.batchtools::batchtools_slurm, template = template, resources = list(minutes = 10))
  on.exit({
    future::plan(old)
    setwd(folder)
  })
  future.apply::future_lapply(1:6, function(k) gpucor::gpuCorRun(path, k), future.chunk.size = 2)
  expect_done(path, "^node[1-3]$")
})

test_that("BiocParallel on one machine", {
  path <- new_plan()
  BiocParallel::bplapply(1:6, function(k, path) gpucor::gpuCorRun(path, k), path,
                         BPPARAM = BiocParallel::SnowParam(2))
  expect_done(path)
})

test_that("BiocParallel by BatchtoolsParam on Slurm", {
  path <- new_plan()
  param <- BiocParallel::BatchtoolsParam(3, cluster = "slurm", template = template, registryargs =
                                           BiocParallel::batchtoolsRegistryargs(file.dir = shared("registry")),
                                         resources = list(minutes = 10))
  suppressMessages(BiocParallel::bplapply(1:6, function(k, path) gpucor::gpuCorRun(path, k), path, BPPARAM = param))
  expect_done(path, "^node[1-3]$")
})

test_that("batchtools with chunks.as.arrayjobs", {
  path <- new_plan()
  old <- options(batchtools.progress = FALSE, batchtools.verbose = FALSE)
  on.exit(options(old))
  registry <- batchtools::makeRegistry(shared("registry"))
  registry$cluster.functions <- batchtools::makeClusterFunctionsSlurm(template)
  ids <- batchtools::batchMap(function(k, path) gpucor::gpuCorRun(path, k), 1:6, more.args = list(path = path))
  ids$chunk <- 1
  batchtools::submitJobs(ids, resources = list(chunks.as.arrayjobs = TRUE, minutes = 10))
  expect_true(batchtools::waitForJobs(sleep = 1))
  expect_done(path, "^node[1-3]$")
})

test_that("sbatch with free processes, which go on with the next round", {
  large <- many_pairs()
  path <- quiet_plan(shared("plan"), large, fdr = 0.1, method = "kendall", shards = 6)
  line <- sprintf("Rscript -e 'gpucor::gpuCorRun(\"%s\", \"free\")'", path)
  wait_for_jobs(sbatch(path, 3, "-c", 2, line = line))
  wait_for_jobs(sbatch(path, 3, "-c", 2, line = line)) # no shard is left for them, or the remaining ones are
  expect_identical(attr(gpuCorStatus(path), "round"), 2)
  expect_collected(path, gpuCorNetwork(large, fdr = 0.1, method = "kendall"))
})
