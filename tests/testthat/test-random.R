# The user's random numbers: only what documents set.seed() draws from them.

x <- matrix(sin(seq_len(20 * 300)^2), 20, dimnames = list(NULL, paste0("v", 1:300)))
subjects <- lapply(1:6, function(s) matrix(sin(s + seq_len(30 * 5)^2), 30))

# The generator's state, or NULL if there is none; with `set` that state.
generator <- function(set) {
  if (!missing(set)) {
    if (is.null(set)) suppressWarnings(rm(".Random.seed", envir = globalenv())) else .GlobalEnv$.Random.seed <- set
  }
  get0(".Random.seed", globalenv(), inherits = FALSE)
}

# Calls code() from both states, and returns the states after it, and their values.
states_after <- function(code, states = list(NULL, some_state)) {
  old <- generator()
  on.exit(generator(set = old))
  lapply(states, function(state) {
    generator(set = state)
    utils::capture.output(value <- suppressMessages(suppressWarnings(code())))
    list(value = value, state = generator())
  })
}
set.seed(3)
some_state <- generator()

in_plan <- function(verb, ...) {
  path <- tempfile("plan")
  quiet_plan(path, ..., verb = verb, shards = 2)
  quiet_run(path, "free")
  gpuCorCollect(path)
}

undrawn <- list(
  coefficients = function() print(gpuCor(x)),
  tests = function() as.data.frame(gpuCorTest(x)),
  network = function() gpuCorNetwork(x, threshold = 0.6),
  density = function() gpuCorNetwork(x, density = 0.05),
  fdr = function() summary(gpuCorNetwork(x, fdr = 0.5)),
  shards = function() gpuCorNetwork(x, density = 0.05, shards = 3),
  `subjects in shards` = function() gpuCorNetwork(list(x, x^3), k = 2, combine = "fisher", shards = 2),
  plan = function() in_plan("gpuCorNetwork", x, density = 0.05),
  `plan of degrees` = function() in_plan("gpuConnectivity", x, threshold = 0.6),
  degrees = function() gpuConnectivity(x, threshold = 0.6, maps = "eigenvector"),
  partial = function() gpuCorNetwork(x, threshold = 0.6, partial = TRUE),
  lioness = function() gpuCorNetwork(x, threshold = 0.6, lioness = 2),
  windows = function() gpuCorWindows(x[, 1:9], 10),
  compared = function() gpuCorCompare(subjects[1:3], subjects[4:6]),
  subjects = function() gpuISC(subjects),
  distances = function() gpuHclust(gpuCor(x[, 1:30])),
  gradients = function() gpuGradients(x[, 1:50]),
  overlap = function() gpuTOM(list(x, x^3), combine = "min", calibration = "single quantile", power = 2),
  power = function() pickPower(x, 1:4),
  modules = function() gpuModules(x[, 1:60], power = 2, minModuleSize = 5),
  residuals = function() gpuClean(x, 1:20),
  files = function() gpuCorNetwork(x, threshold = 0.6, file = tempfile(fileext = ".h5ad")),
  picture = function() texts_of(plot(gpuCorNetwork(x[, 1:9], threshold = 0.3), type = "layout"))
)

for (name in names(undrawn)) test_that(paste("random numbers are the user's after", name), {
  if (grepl("shards", name)) skip_if_not_installed("future.apply")
  if (name == "files") skip_if_not_installed("rhdf5")
  if (name == "modules") {
    skip_unless_full()
    skip_if(!nzchar(system.file(package = "WGCNA")), "WGCNA is not installed") # the call is to load it
  }
  if (name == "picture") skip_if_not_installed("igraph")
  after <- states_after(undrawn[[name]])
  expect_null(after[[1]]$state)
  expect_identical(after[[2]]$state, some_state)
})

test_that("what draws random numbers draws the same in shards", {
  skip_if_not_installed("future.apply")
  network <- function(...) function() gpuCorNetwork(x, threshold = 0.6, resample = 5, ...)
  one <- states_after(network(), list(some_state))[[1]]
  shards <- states_after(network(shards = 3), list(some_state))[[1]]
  expect_identical(without_call(shards$value), without_call(one$value))
  expect_identical(shards$state, one$state)
  expect_false(identical(one$state, some_state))
})
