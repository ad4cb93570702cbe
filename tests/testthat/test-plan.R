# A plan's shards, computed apart and put together, are the call on one machine, to the last byte.

new_path <- function() tempfile("plan-")

# Every other shard by either back end, rounds as they come.
run_shards <- function(path, backends) {
  repeat {
    shards <- gpuCorStatus(path)$shard
    for (k in seq_along(backends)) {
      own <- shards[shards %% length(backends) == k - 1]
      if (length(own)) status <- quiet_run(path, own, backend = backends[k])
    }
    expect_true(all(status$state == "done"))
    if (attr(status, "is_last")) return(invisible(status))
    quiet_run(path, 1) # begins the next round
  }
}

expect_planned <- function(verb, x, y = NULL, ..., shards = 3, mixed = TRUE, backend = backends()[1L]) {
  label <- paste(verb, toString(names(list(...))), toString(list(...)))
  arguments <- c(list(x), if (!is.null(y)) list(y = y), list(...))
  truth <- suppressWarnings(suppressMessages(do.call(verb, c(arguments, backend = backend))))
  path <- new_path()
  on.exit(unlink(path, recursive = TRUE))
  do.call(quiet_plan, c(list(path), arguments, list(verb = verb, shards = shards)))
  run_shards(path, if (mixed) backends() else backend)
  found <- suppressWarnings(suppressMessages(gpuCorCollect(path, backend = backend)))
  expect_identical(without_call(found), without_call(truth), label = label)
}

expect_warned_alike <- function(f, g) {
  warnings_of <- function(f) {
    found <- character()
    withCallingHandlers(f(), warning = function(w) {
      found <<- c(found, conditionMessage(w))
      invokeRestart("muffleWarning")
    })
    found
  }
  expect_identical(warnings_of(f), warnings_of(g))
}

kinds <- list(plain = with_duplicates(normal(20, 300)), ties = with_constants(rounded(20, 300)),
              holes = with_missing(rounded(20, 300), 0.05))
for (kind in names(kinds)) colnames(kinds[[kind]]) <- paste0("v", 1:300)

test_that("networks of shards are those of one machine, whatever computed them", {
  criteria <- list(list(threshold = 0.5), list(density = 0.02), list(k = 3), list(k = 4, mutual = TRUE),
                   list(p.value = 1e-3), list(fdr = 0.05, sign = "negative"))
  rows <- covering(criterion = seq_along(criteria), kind = names(kinds), method = all_methods, with_y = c(TRUE, FALSE))
  rows <- subset(rows, kind != "holes" | criterion < 5) # pairs of as many observations
  for (k in seq_len(nrow(rows))) {
    row <- rows[k, ]
    x <- kinds[[row$kind]]
    data <- if (row$with_y) list(x[, 1:130], y = x[, 131:300], shards = 3) else list(x)
    use <- if (row$kind == "holes") "pairwise" else "everything"
    do.call(expect_planned, c("gpuCorNetwork", data, criteria[[row$criterion]], method = row$method, use = use))
  }
  expect_nothing_left()
})

test_that("masks of pairs are part of a plan", {
  label <- rep(1:3, 100)
  place <- data.frame(chromosome = rep(1:2, 150), at = seq_len(300))
  masks <- list(pairMask(label, same = TRUE), pairMask(place, beyond_distance = 20))
  criteria <- list(list(threshold = 0.5), list(density = 0.02), list(k = 3), list(fdr = 0.3))
  calls <- c(lapply(criteria, function(criterion) c(list("gpuCorNetwork", kinds$ties), criterion)), list(
    list("gpuConnectivity", kinds$ties, threshold = 0.4, power = 3),
    list("gpuConnectivity", kinds$plain, density = 0.01, histogram = TRUE),
    list("gpuCorNetwork", list(kinds$plain, kinds$ties), density = 0.01, combine = "fisher")
  ))
  for (k in seq_along(calls)) for (pairs in masks[if (full_tier()) 1:2 else 1 + k %% 2]) {
    do.call(expect_planned, c(calls[[k]], list(pairs = pairs)))
  }
  expect_planned("gpuCorNetwork", kinds$plain[, 1:130], kinds$plain[, 131:300], threshold = 0.4, shards = 3,
                 pairs = pairMask(label[1:130], label[131:300], different = TRUE))
  path <- new_path()
  expect_error(quiet_plan(path, kinds$plain, threshold = 0.4, pairs = pairMask(label[-1], same = TRUE)), "299 columns")
  expect_output(gpuCorPlan(path, kinds$plain, threshold = 0.4, pairs = masks[[1]]), "14,850 pairs of 20 observations")
  unlink(path, recursive = TRUE)
  expect_nothing_left()
})

test_that("coefficients of all pairs, and sums over them, are those of one machine, too", {
  uses <- list(c("ties", "everything"), c("holes", "pairwise"), c("holes", "na.or.complete"),
               c("plain", "everything"), c("holes", "everything"))
  if (!full_tier()) uses <- uses[1:3]
  # Of most methods a GPU's coefficients differ in the last digits, but not edges.
  calls <- list(
    triangle = function(x, mixed, ...) expect_planned("gpuCor", x, ..., mixed = mixed),
    matrix = function(x, mixed, ...) expect_planned("gpuCor", x, ..., output = "matrix", shards = 7, mixed = mixed),
    rectangle = function(x, mixed, ...) expect_planned("gpuCor", x[, 1:100], y = x[, 101:300], ..., mixed = mixed),
    powers = function(x, mixed, ...) {
      expect_planned("gpuConnectivity", x, ..., threshold = 0.4, power = c(2, 5), mixed = mixed)
    },
    histogram = function(x, mixed, ...) {
      expect_planned("gpuConnectivity", x, ..., density = 0.1, histogram = TRUE, mixed = mixed)
    },
    density = function(x, mixed, ...) expect_planned("gpuConnectivity", x, ..., density = 0.1),
    threshold = function(x, mixed, ...) expect_planned("gpuConnectivity", x, ..., threshold = 0.4)
  )
  rows <- covering(call = names(calls), use = seq_along(uses), method = all_methods,
                   strength = if (full_tier()) 2 else 1)
  for (k in seq_len(nrow(rows))) {
    row <- rows[k, ]
    use <- uses[[row$use]]
    calls[[row$call]](kinds[[use[1]]], row$method == "kendall", method = row$method, use = use[2])
  }
  expect_nothing_left()
})

test_that("sparse, integer and logical data, data frames and vectors are planned as they are computed", {
  x <- rounded(15, 160)
  storage.mode(x) <- "integer"
  expect_planned("gpuCorNetwork", x, threshold = 0.3)
  expect_planned("gpuCor", x > 0, mixed = FALSE)
  expect_planned("gpuCorNetwork", as.data.frame(x), density = 0.1)
  expect_planned("gpuCorNetwork", as(as(as(heavy_ties(15, 160), "dMatrix"), "generalMatrix"), "CsparseMatrix"), k = 2)
  expect_planned("gpuCor", x, y = x[, 3], shards = 2, mixed = FALSE)
})

test_that("data in a file are planned as they are", {
  x <- kinds$ties
  for (type in c("double", "float", "integer")) {
    file <- tempfile()
    on.exit(unlink(file), add = TRUE)
    values <- as.vector(if (type == "integer") matrix(as.integer(x), nrow(x)) else x)
    writeBin(values, file, size = if (type == "double") 8L else 4L, endian = "little")
    outside <- gpuCorFile(file, dim(x), type, list(NULL, colnames(x)))
    expect_planned("gpuCorNetwork", outside, density = 0.05)
    expect_planned("gpuCor", outside, y = x[, 1:9], method = "kendall", shards = 2)
  }
})

test_that("a network is collected into a file as it is written on one machine", {
  skip_if_not_installed("rhdf5")
  x <- kinds$plain
  parts <- c("X/data", "X/indices", "X/indptr", "var/_index")
  read <- function(file) lapply(parts, function(name) rhdf5::h5read(file, name))
  for (given in list(list(threshold = 0.4), list(density = 0.03), list(k = 4), list(fdr = 0.1, y = x[, 1:40]))) {
    files <- tempfile(c("one", "shards"), fileext = ".h5ad")
    path <- do.call(quiet_plan, c(list(new_path(), x, shards = 5), given))
    quiet_run(path)
    found <- gpuCorCollect(path, file = files[2])
    truth <- do.call(gpuCorNetwork, c(list(x, file = files[1]), given))
    expect_identical(read(files[2]), read(files[1]))
    expect_identical(found[names(found) != "file"], truth[names(truth) != "file"])
    unlink(c(files, path), recursive = TRUE)
  }
  path <- quiet_plan(new_path(), x, threshold = 0.4, shards = 5)
  on.exit(unlink(path, recursive = TRUE))
  file <- tempfile()
  expect_error(gpuCorCollect(path, file = file), "shards 1-5 of 5 not finished")
  expect_length(dir(dirname(file), basename(file)), 0)
  dense <- quiet_plan(new_path(), x, verb = "gpuCor", shards = 2)
  on.exit(unlink(dense, recursive = TRUE), add = TRUE)
  expect_error(gpuCorCollect(dense, file = file), "'file' is for networks, and the plan is of gpuCor\\(\\)")
})

test_that("of many shards not all files are open at a time", {
  skip_unless_full()
  skip_if_not_installed("rhdf5")
  x <- normal(12, 2200)
  path <- quiet_plan(new_path(), x, threshold = 0.9, shards = 530)
  on.exit(unlink(c(path, file), recursive = TRUE))
  quiet_run(path)
  file <- tempfile()
  net <- gpuCorNetwork(x, threshold = 0.9)
  expect_identical(without_call(gpuCorCollect(path)), without_call(net))
  expect_equal(gpuCorCollect(path, file = file)$edges, net@edges)
})

test_that("warnings are those of the call", {
  path <- quiet_plan(new_path(), kinds$ties, threshold = 0.5, shards = 3)
  on.exit(unlink(path, recursive = TRUE))
  quiet_run(path)
  expect_warned_alike(function() gpuCorCollect(path), function() gpuCorNetwork(kinds$ties, threshold = 0.5))
})

test_that("the object tells the call that the plan stands for", {
  x <- kinds$plain
  path <- new_path()
  on.exit(unlink(path, recursive = TRUE))
  utils::capture.output(gpuCorPlan(path, x, density = 0.1, shards = 4, threads = 1))
  quiet_run(path)
  expect_identical(gpuCorCollect(path)@call, quote(gpuCorNetwork(x, density = 0.1)))
})

# Columns that the sample takes are alike, the others are not: its bound is far too high.
misleading <- function() {
  x <- normal(12, 6500)
  size <- gpucor:::sample_size(x, 0.001)
  x[, gpucor:::sampled_columns(x, size)] <- x[, 1] + normal(12, size, 3) / 20
  x
}

test_that("where the sample misled, collect asks for further rounds, or runs them itself", {
  skip_unless_full()
  x <- misleading()
  truth <- gpuCorNetwork(x, density = 0.05, backend = "cpu")
  path <- quiet_plan(new_path(), x, density = 0.05, shards = 4)
  on.exit(unlink(path, recursive = TRUE))
  run_shards(path, "cpu")
  with_options(list(gpucor.collect_seconds = -1), {
    expect_error(gpuCorCollect(path), "round 2 of the plan has to be run.*run all shards again")
    expect_error(gpuCorCollect(path), "shards 1-4 of 4 not finished in round 2; gpuCorRun")
    expect_equal(attr(gpuCorStatus(path), "round"), 2)
  })
  quiet_run(path, "free")
  expect_equal(attr(gpuCorStatus(path), "round"), 2) # of all pairs, whatever the sample said
  expect_identical(without_call(gpuCorCollect(path)), without_call(truth))

  again <- quiet_plan(new_path(), x, density = 0.05, shards = 4)
  on.exit(unlink(again, recursive = TRUE), add = TRUE)
  quiet_run(again)
  expect_message(found <- gpuCorCollect(again), "round 2 has to be run, and is run here")
  expect_identical(without_call(found), without_call(truth))
})

test_that("status tells what is done", {
  path <- quiet_plan(new_path(), kinds$plain, threshold = 0.5, shards = 6)
  on.exit(unlink(path, recursive = TRUE))
  expect_equal(gpuCorStatus(path)$state, rep("missing", 6))
  quiet_run(path, c(2, 3))
  status <- gpuCorStatus(path)
  expect_equal(status$state, c("missing", "done", "done", "missing", "missing", "missing"))
  expect_output(print(status), "2 of 6 shards done\n *missing: 1, 4-6\n")
  expect_error(gpuCorCollect(path), "shards 1, 4-6 of 6 not finished; gpuCorRun")
  expect_message(gpuCorRun(path, 2), "shard 2 of 6: finished before")
  write_owner(path, 5)
  expect_equal(gpuCorStatus(path)$state[5], "running")
  quiet_run(path) # leaves it to whom claims it
  expect_equal(gpuCorStatus(path)$state, c("done", "done", "done", "done", "running", "done"))
  quiet_run(path, 5)
  expect_output(print(gpuCorStatus(path)), "6 of 6 shards done\na shard took .*gpuCorCollect")
  expect_s4_class(gpuCorCollect(path), "gpuCorNetwork")
})

test_that("the number of an array job's task is that of the shard", {
  path <- quiet_plan(new_path(), kinds$plain, threshold = 0.5, shards = 4)
  on.exit(unlink(path, recursive = TRUE))
  for (k in 1:4) {
    name <- c("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "SGE_TASK_ID", "LSB_JOBINDEX")[k]
    do.call(Sys.setenv, stats::setNames(list(as.character(k)), name))
    quiet_run(path)
    Sys.unsetenv(name)
    expect_equal(gpuCorStatus(path)$state, rep(c("done", "missing"), c(k, 4 - k)))
  }
})

test_that("a plan says what is wrong with it when it is made", {
  x <- kinds$plain
  path <- new_path()
  plan <- function(...) utils::capture.output(gpuCorPlan(...))
  expect_error(plan(path, x), "which pairs are edges")
  expect_error(plan(path, x, threshold = 2), "'threshold' must be a number")
  expect_error(plan(path, x, threshold = 0.5, densty = 1), "'densty' cannot be in a plan of gpuCorNet.*; it takes thr")
  expect_error(plan(path, x, threshold = 0.5, file = "a.h5"), "'file' cannot be in a plan .*; give it to gpuCorCollect")
  for (given in list(list(test = TRUE), list(output = "list"))) {
    expect_error(do.call(plan, c(list(path, x, verb = "gpuCor"), given)),
                 "^('test'|output = \"list\") cannot be in a plan")
  }
  expect_error(plan(path, x[, 1:9], threshold = 0.5, shards = 9), "the pairs are in 1 tile$")
  expect_error(plan(path, x, threshold = 0.5, shards = 0), "'shards' must be a whole number between 1 and")
  expect_error(plan(path, x, threshold = 0.5, shards = 1e6), "'shards' must be .*tiles")
  expect_error(plan(path, letters, threshold = 0.5), "'x' must be numeric")
  expect_error(plan(file.path(path, "deeper"), x, threshold = 0.5), "whose folder does not exist; create it first")
  expect_error(plan(c("a", "b"), x, threshold = 0.5), "'path' must be one string")
  expect_false(file.exists(path))
  expect_length(dir(dirname(path), basename(path)), 0)
  quiet_plan(path, x, threshold = 0.5, shards = 2)
  on.exit(unlink(path, recursive = TRUE))
  expect_error(plan(path, x, threshold = 0.5), "which exists and has a plan in it; gpuCorRun")
  expect_error(plan(tempdir(), x, threshold = 0.5), "which exists; remove it or choose another name")
  expect_error(gpuCorRun(path, 3), "'shard' must be numbers from 1 to 2")
  expect_error(gpuCorRun(file.path(path, "nowhere"), 1), "which is not a plan: .* has no such folder")
  expect_error(gpuCorStatus(tempdir()), "where there is no plan")
  expect_error(gpuCorCollect(path, file = 3), "'file'|not finished")
})

test_that("a plan says how often its shards read the data, and what they hold", {
  says <- function(...) {
    path <- new_path()
    on.exit(unlink(path, recursive = TRUE))
    grep("reads", utils::capture.output(gpuCorPlan(path, ..., backend = "cpu")), value = TRUE)
  }
  x <- matrix(stats::rnorm(8 * 12000), 8)
  # 8 floats, two doubles, a float and two bytes of each column
  columns <- "a shard reads 12,000 columns, all shards read the data once; .* take up to 648 kB"
  expect_match(says(x, threshold = 0.9, shards = 1), columns)
  expect_match(says(x, threshold = 0.9, shards = 1, use = "complete.obs"), "reads 24,000 columns, .* 2 times over")
  expect_match(says(x, x[, 1:3000], threshold = 0.9, shards = 1), "reads 15,000 columns, .* the data once;")
  more <- says(x, threshold = 0.9, shards = 1, memory = 2e5)
  expect_gt(as.numeric(sub(".*data (.*) times.*", "\\1", more)), 2)
})

test_that("other data or another version under the plan's name are an error", {
  path <- quiet_plan(new_path(), kinds$plain, threshold = 0.5, shards = 2)
  on.exit(unlink(path, recursive = TRUE))
  data <- file.path(path, "x.columns")
  bytes <- readBin(data, "raw", file.size(data))
  bytes[1000] <- xor(bytes[1000], as.raw(1))
  Sys.sleep(0.01)
  writeBin(bytes, data)
  expect_error(gpuCorRun(path, 1), "x.columns\" was changed since the plan was made")
  edit_plan(gpucor:::open_plan(path), version = "0.0.1")
  expect_error(gpuCorRun(path, 1), "a plan by gpucor 0.0.1; this is")
})

# ---- what columns are adjusted for, and many subjects

people <- data.frame(age = stats::rnorm(20), group = gl(2, 10), motion = stats::rnorm(20))
adjustments <- list(
  list(covariates = ~ age + group, data = people),
  list(covariates = people, weights = seq_len(20) / 20, weights_are = "precision"),
  list(bandpass = c(0.01, 0.2), tr = 2, covariates = people$motion),
  list(weights = rep(0:1, c(4, 16)), method = "cosine"),
  list(method = "bicor", options = list(maxPOutliers = 0.1, pearsonFallback = "all")),
  list(covariates = ~ age, data = people, method = "spearman", use = "pairwise")
)

# In the quick tier each function takes another third of them, as what is adjusted is the same for all.
verbs <- c("gpuCorNetwork", "gpuConnectivity", "gpuCor")
third_of <- function(all, verb) if (full_tier()) all else all[seq(match(verb, verbs), length(all), 3)]

for (verb in verbs) {
  test_that(paste("plans of", verb, "take covariates, bands, weights and options of measures"), {
    criterion <- if (verb != "gpuCor") list(threshold = 0.4)
    for (given in third_of(adjustments, verb)) {
      do.call(expect_planned, c(list(verb, kinds$ties, shards = 3, mixed = FALSE), criterion, given))
    }
    expect_nothing_left()
  })

  test_that(paste("plans of", verb, "take many subjects, each with its own covariates"), {
    subjects <- lapply(c(20, 25, 18), function(n) matrix(normal(n, 120), n, dimnames = list(NULL, paste0("v", 1:120))))
    subjects[[3]] <- methods::as(round(subjects[[3]]), "CsparseMatrix")
    confounds <- lapply(subjects, function(x) data.frame(a = seq_len(nrow(x)) %% 5, b = stats::rnorm(nrow(x))))
    criterion <- if (verb != "gpuCor") list(threshold = 0.2)
    planned <- function(...) do.call(expect_planned, c(list(verb, shards = 2, mixed = FALSE), criterion, list(...)))
    if (verb == "gpuCor") planned(subjects, combine = "sd")
    calls <- list(
      list(subjects, combine = "fisher", covariates = confounds),
      list(subjects, covariates = ~ a, data = confounds, subject_weights = 1:3, method = "spearman", combine = "mean"),
      list(subjects, combine = "fraction", above = 0.1),
      list(subjects, combine = "quantile", probs = 0.25, weights = function(i) seq_len(nrow(subjects[[i]])) %% 3),
      list(subjects, y = lapply(subjects, function(x) x[, 1:40]), combine = "min", bandpass = c(0.05, 0.2), tr = 2),
      list(function(i) subjects[[i]], subjects = 3, combine = "fisher", precision = "double"),
      list(subjects[1], covariates = confounds[1])
    )
    for (given in third_of(calls, verb)) do.call(planned, given)
    expect_nothing_left()
  })
}

test_that("edges by p values and density are planned of subjects and with covariates", {
  x <- kinds$plain
  criteria <- list(list(p.value = 0.01, df = "bartlett"), list(fdr = 0.5, df = 12), list(density = 0.02), list(k = 3))
  for (given in criteria) {
    do.call(expect_planned, c(list("gpuCorNetwork", x, covariates = ~ age, data = people, mixed = FALSE), given))
  }
  subjects <- list(x[, 1:150], x[, 151:300])
  colnames(subjects[[2]]) <- NULL
  expect_planned("gpuCorNetwork", subjects, fdr = 0.5, combine = "fisher", covariates = people, mixed = FALSE)
  expect_planned("gpuCorNetwork", subjects, density = 0.02, combine = "fisher", covariates = people, mixed = FALSE)
})

test_that("a function of subjects, weights or covariates is called once for each when the plan is made", {
  calls <- character()
  called <- function(name, value) {
    function(i) {
      calls <<- c(calls, paste(name, i))
      value(i)
    }
  }
  x <- list(kinds$plain[, 1:50], kinds$plain[, 1:50]^3)
  path <- quiet_plan(new_path(), called("x", function(i) x[[i]]), subjects = 2, threshold = 0.3, shards = 1,
                     weights = called("w", function(i) 1:20 + i), covariates = called("z", function(i) people$age))
  on.exit(unlink(path, recursive = TRUE))
  quiet_run(path)
  found <- gpuCorCollect(path)
  expect_setequal(calls, paste(rep(c("x", "w", "z"), each = 2), 1:2))
  expect_length(calls, 6)
  expect_identical(without_call(found), without_call(gpuCorNetwork(x, threshold = 0.3, covariates = people$age,
                                                                   weights = lapply(1:2, function(i) 1:20 + i))))
})

test_that("a design is found when the plan is made, and by no other machine", {
  for (x in list(kinds$plain, list(kinds$plain, kinds$plain^3))) {
    path <- quiet_plan(new_path(), x, threshold = 0.3, bandpass = c(0.01, 0.2), tr = 2, shards = 2)
    truth <- gpuCorNetwork(x, threshold = 0.3, bandpass = c(0.01, 0.2), tr = 2)
    with_values(list(designed = function(...) stop("a second one")), {
      quiet_run(path)
      expect_identical(without_call(gpuCorCollect(path)), without_call(truth))
    })
    unlink(path, recursive = TRUE)
  }
})

test_that("subjects' plans tell what is wrong with them, and what to expect", {
  x <- list(kinds$plain, kinds$ties)
  path <- new_path()
  on.exit(unlink(path, recursive = TRUE))
  plan <- function(...) utils::capture.output(gpuCorPlan(path, ...))
  expect_error(plan(list(x[[1]], x[[2]][, -1]), threshold = 0.5), "subject 2: 'x' has 299 columns")
  expect_error(plan(list(x[[1]], 1:5), threshold = 0.5), "subject 2: it must be a matrix, not a vector")
  expect_error(plan(x, x[1], threshold = 0.5), "'x' has 2 subjects, and 'y' has 1")
  expect_error(plan(x, threshold = 0.5, weights = list(1:20)), "'weights' is a list of 1, and there are 2 subjects")
  expect_error(plan(x[[1]], threshold = 0.5, combine = "fisher"), "'x' is not a list of their matrices")
  expect_error(plan(x[[1]], threshold = 0.5, covariates = 1:3), "'covariates' has 3 rows")
  expect_error(plan(x, verb = "gpuTOM"), "'verb' must be one of \"gpuCorNetwork\", \"gpuConnectivity\", \"gpuCor\"")
  expect_length(dir(dirname(path), basename(path)), 0)
  said <- plan(x, threshold = 0.5, combine = "fisher", shards = 1)
  expect_match(said[2], "44,850 pairs of 40 observations of 2 subjects in 1 shard of 44,850; data of 96 kB")
  expect_match(said[4], "a shard reads 600 columns, all shards read the data once")
  change_byte(file.path(path, "x.2.columns"), 1000)
  expect_error(gpuCorRun(path, 1), "x.2.columns\" was changed")
})

test_that("'shards' of gpuCorNetwork() uses the workers that future has", {
  skip_if_not_installed("future.apply")
  old <- if (full_tier()) future::plan(future::multisession, workers = 2) else future::plan(future::sequential)
  on.exit(future::plan(old))
  x <- kinds$ties
  folder <- tempfile("plans") # where the plans are
  dir.create(folder)
  on.exit(unlink(folder, recursive = TRUE), add = TRUE)
  old_folder <- options(gpucor.folder = folder)
  on.exit(options(old_folder), add = TRUE)
  for (given in list(list(density = 0.05), list(fdr = 0.01, method = "kendall"), list(k = 3, output = "edges"),
                     list(threshold = 0.3, covariates = ~ age, data = people))) {
    truth <- suppressWarnings(do.call(gpuCorNetwork, c(list(x), given)))
    found <- suppressWarnings(do.call(gpuCorNetwork, c(list(x, shards = 5, backend = backends()[1L]), given)))
    expect_identical(without_call(found), without_call(truth))
  }
  subjects <- list(kinds$plain, kinds$plain^3)
  expect_identical(without_call(gpuCorNetwork(subjects, density = 0.05, combine = "fisher", shards = 2)),
                   without_call(gpuCorNetwork(subjects, density = 0.05, combine = "fisher")))
  expect_error(gpuCorNetwork(x, density = 2, shards = 5), "'density' must be")
  expect_identical(dir(folder), character())
})
