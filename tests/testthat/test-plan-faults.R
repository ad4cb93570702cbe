# What goes wrong with the files and folders of a plan; test-plan-faults-processes.R has its processes. What takes long,
# or a cluster, is in tests/cluster.

small_network <- network_of_small()

# A copy of one that was computed once.
copied_plan <- local({
  made <- NULL
  function() {
    if (is.null(made)) made <<- finished_plan()
    path <- tempfile("plan")
    dir.create(path)
    file.copy(dir(made, full.names = TRUE), path, recursive = TRUE, copy.date = TRUE)
    path
  }
})

# ---- names that are patterns

# Everything in a folder: when each file was changed, and its contents.
state_of_folder <- function(path) {
  files <- dir(path, recursive = TRUE, all.files = TRUE, full.names = TRUE, include.dirs = TRUE)
  data.frame(file = files, changed = file.mtime(files), contents = suppressWarnings(tools::md5sum(files)))
}

test_that("a plan whose name is a pattern leaves the plans alone whose names match it", {
  skip_on_os("windows") # no wildcards in names
  for (name in c("plan*", "plan?", "plan[a-c]")) {
    folder <- tempfile("folder")
    dir.create(folder)
    path <- file.path(folder, name)
    quiet_plan(path, small_x, threshold = 0.5, method = "kendall", shards = 4, backend = "cpu")
    quiet_run(path, "free", "cpu")
    other <- file.path(folder, "plana")
    dir.create(other)
    file.copy(dir(path, full.names = TRUE), other, recursive = TRUE)
    for (shard in 1:4) write_owner(other, shard)
    before <- state_of_folder(other)
    for (file in shard_files(path)[2:3]) change_byte(file, 1)
    quiet_run(path, 2, "cpu")
    quiet_run(path, "free", "cpu")
    expect_length(dir(file.path(path, "claims", 1)), 0)
    expect_length(shard_files(path), 4)
    expect_collected(path, small_network)
    expect_identical(state_of_folder(other), before, label = name)
  }
})

test_that("temporary plans in a folder whose name is a pattern are removed", {
  skip_if_not_installed("future.apply")
  skip_on_os("windows")
  folder <- tempfile("folder[1]")
  dir.create(folder)
  found <- with_options(list(gpucor.folder = folder), {
    gpuCorNetwork(small_x, threshold = 0.5, method = "kendall", backend = "cpu", shards = 2)
  })
  expect_identical(without_call(found), without_call(small_network))
  expect_length(dir(folder, all.files = TRUE, no.. = TRUE), 0)
  with_options(list(gpucor.folder = "~"), expect_identical(gpucor:::setting_folder(""), path.expand("~")))
})

# ---- files of shards

damages <- list(
  `the first byte` = function(file) change_byte(file, 1),
  `a byte of the result` = function(file) change_byte(file, file.size(file) %/% 3),
  `a byte of what is known of the shard` = function(file) change_byte(file, -20),
  `a byte of the length at the end` = function(file) change_byte(file, -1),
  `another byte of the length` = function(file) change_byte(file, -3),
  `a cut in the result` = function(file) cut_off(file, 100),
  `a cut at the end` = function(file) cut_off(file, file.size(file) - 1),
  `an empty file` = function(file) cut_off(file, 0),
  `a byte more` = function(file) cat("x", file = file, append = TRUE)
)

for (name in names(damages)[if (full_tier()) 1:9 else c(2, 4, 7:9)]) {
  test_that(paste("damage is noticed, named and repaired:", name), {
    path <- copied_plan()
    damages[[name]](shard_files(path)[3])
    expect_identical(gpuCorStatus(path)$state, c("done", "done", "damaged", "done"))
    expect_output(print(gpuCorStatus(path)), "damaged: 3")
    expect_error(gpuCorCollect(path), "shard 3 damaged; gpuCorRun")
    # An array job's task, another one, and whoever is free.
    expect_told(gpuCorRun(path, 2, "cpu"), "shard 2 of 4: finished before")
    expect_told(gpuCorRun(path, if (nchar(name) %% 2) 3 else "free", "cpu"), "shard 3 of 4 is damaged, and is comp")
    expect_identical(gpuCorStatus(path)$state, rep("done", 4))
    expect_collected(path, small_network)
    expect_length(unfinished_files(path), 0)
  })
}

test_that("a sound file beside a damaged one of the same shard is enough", {
  path <- copied_plan()
  file <- shard_files(path)[2]
  bytes <- readBin(file, "raw", file.size(file))
  other <- file.path(dirname(file), paste0("00002.", strrep("0", 32)))
  writeBin(bytes[-1], other) # first of the two
  expect_told(gpuCorRun(path, 2, "cpu"), "finished before")
  expect_collected(path, small_network)
})

test_that("a file without an intact seal does not count, even with the right checksum in its name", {
  n_seal <- gpucor:::SEAL_BYTES
  change <- list(`a cut in the result` = function(file) cut_off(file, 40),
                 `no seal` = function(file) cut_off(file, file.size(file) - n_seal),
                 `a cut in the seal` = function(file) cut_off(file, file.size(file) - 1),
                 `a byte of the seal` = function(file) change_byte(file, -30),
                 `a byte of the object` = function(file) change_byte(file, -n_seal - 1),
                 `nothing` = function(file) cut_off(file, 0))
  for (name in names(change)[if (full_tier()) 1:6 else c(1, 4, 6)]) {
    path <- copied_plan()
    file <- shard_files(path)[3]
    change[[name]](file)
    left <- file.path(dirname(file), paste0("00003.", tools::md5sum(file)))
    file.rename(file, left)
    for (check in c(TRUE, FALSE)) {
      expect_identical(gpuCorStatus(path, check)$state, c("done", "done", "damaged", "done"), label = name)
    }
    expect_error(gpuCorCollect(path), "^shard 3 damaged; gpuCorRun")
    expect_told(gpuCorRun(path, "free", "cpu"), "shard 3 of 4 is damaged, and is computed again")
    expect_false(file.exists(left))
    expect_collected(path, small_network, name)
    # One that comes back, as from another process: it is not chosen instead of the shard's file.
    cut_off(shard_files(path)[3], 0)
    expect_identical(gpuCorStatus(path)$state[3], "damaged")
    expect_told(gpuCorRun(path, 3, "cpu"), "is damaged")
    writeBin(raw(), file.path(dirname(file), paste0("00003.", strrep("0", 32)))) # the first of two
    expect_identical(gpuCorStatus(path)$state, rep("done", 4))
    expect_collected(path, small_network, name)
  }
})

test_that("data that are others than when the plan was made are an error", {
  path <- small_plan()
  change_byte(file.path(path, "x.columns"), 1000)
  expect_error(gpuCorRun(path, 1, "cpu"), "x.columns\" was changed since the plan was made")
  cut_off(file.path(path, "x.columns"), 1000)
  expect_error(gpuCorRun(path, 1, "cpu"), "was changed since")
  expect_length(shard_files(path), 0)
})

# ---- files of another plan, and of nobody

# The same call on other data: files of its plan have the same names and shapes.
other_x <- small_x[, 300:1]
other_plan <- function() {
  path <- quiet_plan(tempfile("plan"), other_x, threshold = 0.5, method = "kendall", shards = 4, backend = "cpu")
  quiet_run(path, "free", "cpu")
  path
}

test_that("what a process of an old plan finds does not get into a new one in the same folder", {
  path <- small_plan()
  old <- gpucor:::open_plan(path)
  round <- gpucor:::current_round(old)
  work <- gpucor:::open_work(old, gpuControl(backend = "cpu"))
  unlink(path, recursive = TRUE)
  late <- function() gpucor:::run_shard(old, round, 2, gpucor:::run_of_round(work, round))
  dir.create(path)
  expect_error(late(), "no longer holds the plan")
  unlink(path, recursive = TRUE)
  quiet_plan(path, other_x, threshold = 0.5, method = "kendall", shards = 4, backend = "cpu")
  expect_error(late(), "no longer holds the plan that this process began with; call gpuCorRun\\(\\) again")
  expect_length(c(shard_files(path), unfinished_files(path)), 0)
  # Had it looked just before the new plan was there:
  with_values(list(check_not_replaced = function(plan) NULL), {
    late()
    gpucor:::write_numbered(old, "sample", 1, list("a note"))
    gpucor:::write_numbered(old, "round", 2, round)
  })
  expect_length(shard_files(path), 1)
  expect_identical(gpuCorStatus(path)$state, rep("missing", 4))
  quiet_run(path, c(1, 3, 4), "cpu")
  expect_error(gpuCorCollect(path), "shard 2 of 4 not finished")
  quiet_run(path, "free", "cpu")
  expect_collected(path, gpuCorNetwork(other_x, threshold = 0.5, method = "kendall", backend = "cpu"))
})

test_that("a shard's file counts only in its plan, in its round, under its number", {
  path <- small_plan()
  quiet_run(path, 1:2, "cpu")
  folder <- file.path(path, "rounds/1")
  file.copy(shard_files(other_plan())[3], folder) # of another plan
  copied <- shard_files(path)[2]
  file.copy(copied, file.path(folder, sub("00002", "00004", basename(copied)))) # of another shard
  file.copy(copied, file.path(folder, sub("00002", "00099", basename(copied)))) # of none
  dir.create(file.path(folder, paste0("00003.", strrep("a", 32))))
  expect_identical(gpuCorStatus(path)$state, c("done", "done", "damaged", "missing"))
  expect_error(gpuCorCollect(path), "shard 4 of 4 not finished, shard 3 damaged")
  unlink(dir(folder, strrep("a", 32), full.names = TRUE), recursive = TRUE)
  expect_error(gpuCorCollect(path), "shards 3-4 of 4 not finished")
  quiet_run(path, "free", "cpu")
  expect_collected(path, small_network)

  plan <- gpucor:::open_plan(path)
  round <- gpucor:::read_round(plan, 1)
  expect_identical(gpucor:::shard_states(plan, round)$state, rep("done", 4))
  round$digest <- strrep("0", 16) # the same round, of other settings
  expect_identical(gpucor:::shard_states(plan, round)$state, rep("missing", 4))
})

# Damage to a file other than a shard's.
losses <- list(
  `a changed byte` = function(file) change_byte(file, file.size(file) %/% 2),
  `a changed seal` = function(file) change_byte(file, -40),
  `a cut` = function(file) cut_off(file, file.size(file) - 10),
  `no contents` = function(file) cut_off(file, 0),
  `text` = function(file) writeLines(strrep("no object ", 100), file),
  `an object without a seal` = function(file) saveRDS(list(1), file),
  `no file` = function(file) unlink(file)
)

if (!full_tier()) losses <- losses[c("a changed byte", "a cut", "an object without a seal", "no file")]

# Its sample is a note, and it is asked for a second round.
noted_x <- matrix(stats::rnorm(14 * 3000), 14)
noted_network <- gpuCorNetwork(noted_x, density = 0.001, covariates = 1:14, backend = "cpu")

test_that("rounds, notes and designs that are damaged, cut off or lost are made anew", {
  finished <- quiet_plan(tempfile("plan"), noted_x, density = 0.001, covariates = 1:14, shards = 3, backend = "cpu")
  quiet_run(finished, 1:2, "cpu")
  files <- c("rounds/1.rds", "notes/1.rds", "designs/1.rds")
  expect_true(all(file.exists(file.path(finished, files))))
  old <- options(gpucor.backend = "cpu") # what is lost is made anew by the back end at hand
  on.exit(options(old))
  for (name in names(losses)) {
    path <- tempfile("plan")
    dir.create(path)
    file.copy(dir(finished, full.names = TRUE), path, recursive = TRUE, copy.date = TRUE)
    for (file in file.path(path, files)) losses[[name]](file)
    expect_identical(gpuCorStatus(path)$state, c("done", "done", "missing"), label = name)
    losses[[name]](file.path(path, "designs/1.rds"))
    quiet_run(path, "free", "cpu")
    expect_collected(path, noted_network, name)
    for (file in file.path(path, files)) losses[[name]](file)
    expect_collected(path, noted_network, name)
    unlink(path, recursive = TRUE)
  }
})

test_that("a note that is found to be another one than before takes the rounds after it along", {
  path <- quiet_plan(tempfile("plan"), noted_x, density = 0.001, shards = 3, backend = "cpu")
  plan <- gpucor:::open_plan(path)
  note <- gpucor:::read_numbered(plan, "sample", 1)
  note$counts <- note$counts / 2
  gpucor:::write_numbered(plan, "sample", 1, note)
  expect_error(gpuCorCollect(path), "rounds/1.rds\" was changed since the plan was made")
  unlink(file.path(path, "rounds/1.rds")) # from here on as by a machine that has the other note
  quiet_run(path, "free", "cpu")
  expect_collected(path, gpuCorNetwork(noted_x, density = 0.001, backend = "cpu"))
  unlink(file.path(path, "notes/1.rds"))
  expect_error(gpuCorCollect(path), "shards 1-3 of 3 not finished")
  quiet_run(path, "free", "cpu")
  expect_collected(path, gpuCorNetwork(noted_x, density = 0.001, backend = "cpu"))
})

test_that("claims that are damaged or another plan's hold nobody up", {
  other <- small_plan()
  write_owner(other, 4)
  for (name in names(losses)) {
    path <- small_plan()
    losses[[name]](file.path(write_owner(path, 2), "owner.rds"))
    write_owner(path, 3)
    file.copy(file.path(other, "claims/1/00004"), file.path(path, "claims/1"), recursive = TRUE)
    dir.create(file.path(path, "claims/1/00099"))
    expect_identical(gpuCorStatus(path)$state, c("missing", "missing", "running", "missing"), label = name)
    quiet_run(path, "free", "cpu")
    expect_identical(gpuCorStatus(path)$state, c("done", "done", "running", "done"), label = name)
    unlink(path, recursive = TRUE)
  }
})

# ---- what a plan may hold

test_that("a plan that was edited has no function run and nothing evaluated", {
  path <- copied_plan()
  plan <- gpucor:::open_plan(path)
  mark <- tempfile("mark")
  mine <- bquote(file.create(.(mark)))
  cases <- list(list(verb = "mapply"), list(verb = "system"), list(verb = c("gpuCor", "mapply")), list(verb = 1),
                list(arguments = list(FUN = function(...) file.create(mark))), list(arguments = list(threshold = mine)),
                list(arguments = list(threshold = function() 1)), list(arguments = list(weights = globalenv())),
                list(arguments = list(covariates = ~ a)), list(arguments = list(0.5)),
                list(arguments = list(threshold = structure(0.5, note = quote(z)))),
                list(arguments = list(threshold = 0.5, file = mark)), list(arguments = list(x = 1)),
                list(shards = 1:2), list(shards = 0), list(subjects = "a"), list(call = "gpuCor()"),
                list(x = list(type = "../../etc", dim = c(1, 1))), list(x = 3))
  calls <- list(gpuCorRun, gpuCorStatus, gpuCorCollect)
  for (k in seq_along(cases)) {
    case <- cases[[k]]
    changed <- plan
    changed[names(case)] <- case
    gpucor:::save_plan(changed)
    for (call in if (full_tier()) calls else calls[1 + k %% 3]) {
      expect_error(call(path), "plan.rds\" was changed since the plan", label = paste(deparse(case), collapse = ""))
    }
  }
  expect_false(file.exists(mark))
  gpucor:::save_plan(plan)
  expect_collected(path, small_network)

  round <- gpucor:::read_round(plan, 1)
  for (change in list(list(entry = "r_sync"), list(entry = "system"), list(method = "none"),
                      list(arguments = list(list(spool = mark), 1)), list(arguments = 1))) {
    changed <- round
    changed[names(change)] <- change
    gpucor:::write_round(plan, changed[names(changed) != "digest"])
    for (call in list(gpuCorRun, gpuCorStatus, gpuCorCollect)) {
      expect_error(call(path), "rounds/1.rds\" was changed since the plan was made")
    }
  }
  expect_error(gpucor:::call_engine("system", run_on("cpu", x = diag(3) + 1:3), list()), "no computation \"system\"")
})

# ---- R objects in a plan's files

# What serialize() makes of an object, without its head.
after_head <- function(object) serialize(object, NULL, version = 2)[-(1:14)]

int_bytes <- function(...) writeBin(as.integer(c(...)), raw(), endian = "big")

# A stream of version 2 with these bytes.
stream_of <- function(...) c(serialize(NULL, NULL, version = 2)[1:14], ...)

# A promise of file.create(mark), which R before 4.4 keeps when it reads it: type 5 with an environment, which is the
# global one, without a value.
promise_of <- function(mark) {
  stream_of(int_bytes(5 + 1024, 253, 252), after_head(bquote(file.create(.(mark)))))
}

# Streams that are no pure data, by what they hold.
crafted_streams <- function(mark) {
  run <- function() file.create(mark)
  environment(run) <- list2env(list(mark = mark), parent = baseenv())
  with_binding <- new.env(parent = emptyenv())
  makeActiveBinding("value", run, with_binding)
  promise <- promise_of(mark)
  deep <- NULL
  for (k in 1:101) deep <- list(deep)
  objects <- list(closure = run, `compiled closure` = compiler::cmpfun(run), environment = with_binding,
                  `external pointer` = methods::new("externalptr"), `S4 object` = Matrix::Matrix(0, 2, 2),
                  call = quote(f(x)), symbol = quote(x), expression = expression(x), formula = ~ a, builtin = sum,
                  pairlist = pairlist(1, 2), attribute = structure(1, note = run),
                  `missing argument` = quote(x[])[[3]], namespace = asNamespace("stats"), `deep list` = deep)
  streams <- lapply(objects, serialize, NULL, version = 2)
  wrap <- function(item) stream_of(int_bytes(19, 1), item) # in a list of one element
  c(streams, lapply(streams, function(stream) wrap(stream[-(1:14)])), list(
    promise = promise, `promise in a list` = wrap(promise[-(1:14)]),
    `promise as an attribute` = stream_of(int_bytes(10 + 512, 1, 1, 2 + 1024, 1, 9, 1), charToRaw("a"),
                                          promise[-(1:14)], int_bytes(254)),
    `compact sequence` = serialize(1:10, NULL, version = 3), `version 3` = serialize(list(1), NULL, version = 3),
    `S4 number` = stream_of(int_bytes(10 + 2^16, 1, 1)), text = charToRaw("a text"), nothing = raw(),
    ascii = serialize(list(1), NULL, ascii = TRUE, version = 2),
    `a byte more` = c(serialize(1, NULL, version = 2), raw(1)),
    `unknown reference` = stream_of(int_bytes(10 + 512, 1, 1, 2 + 1024, 255 + 256, 254, 254)),
    `string in a list` = wrap(int_bytes(9, 0)), `NUL in a string` = stream_of(int_bytes(16, 1, 9, 1), raw(1)),
    `negative length` = stream_of(int_bytes(10, -5)),
    `size of another vector` = stream_of(int_bytes(13 + 512, 5), after_head(matrix(1:6, 2))[-(1:12)]),
    `names of another vector` = stream_of(int_bytes(13 + 512, 2, 7), after_head(c(a = 1L))[-(1:8)]),
    `2^31 numbers` = stream_of(int_bytes(14, -1, 0, -2^31 + 1)),
    `2^31 - 1 elements` = stream_of(int_bytes(19, 2^31 - 1)),
    `2^48 strings` = stream_of(int_bytes(16, -1, 65535, 1))
  ))
}

# Writes bytes in the place of an object, with a right seal: as anyone who may write to the folder could.
seal_bytes <- function(file, bytes, seal) {
  line <- charToRaw(sprintf(gpucor:::SEAL, seal$kind, seal$plan, seal$digest, seal$round, seal$shard, length(bytes)))
  writeBin(c(bytes, line, charToRaw(.Call(gpucor:::r_checksum, c(bytes, line)))), file)
}

test_that("data are read from a plan's files, and nothing else is", {
  mark <- tempfile("mark")
  if (getRversion() < "4.4") { # these bytes are an attack
    value <- unserialize(promise_of(mark))
    expect_true(value)
    expect_true(file.exists(mark))
    unlink(mark)
  }
  streams <- crafted_streams(mark)
  for (name in names(streams)) expect_null(gpucor:::read_object(streams[[name]]), label = name)
  expect_false(file.exists(mark))
  expect_false(.Call(gpucor:::r_is_plain, streams[["S4 number"]])) # before R reads it

  frame <- data.frame(a = c(1.5, NA), b = factor(c("x", "\u00e9")), row.names = c("r", "s"))
  data <- list(1:10, NULL, TRUE, 1i, as.raw(1:3), c(a = "b", c = NA), list(), character(), frame, matrix(1:6, 2),
               structure(list(1, list(2)), class = "some", note = structure(3, note = "same")), Sys.time(), -0, NaN)
  for (object in c(data, list(data))) {
    bytes <- serialize(object, NULL, version = 2)
    expect_identical(gpucor:::read_object(bytes), object)
  }
  for (n in seq_along(bytes) - 1L) if (!is.null(gpucor:::read_object(bytes[seq_len(n)]))) fail(paste("cut after", n))
})

test_that("bytes of a plan's file that are changed never end R", {
  object <- list(a = 1:3, b = structure(c("x", NA), names = c("y", "z"), note = list(1, raw(5))))
  bytes <- serialize(object, NULL, version = 2)
  set.seed(4)
  n_read <- 0
  for (time in seq_len(if (full_tier()) 20000 else 2000)) {
    changed <- bytes
    at <- sample(15:length(bytes), sample(3, 1))
    changed[at] <- as.raw(sample(c(0:31, 253:255), length(at), TRUE))
    object <- gpucor:::read_object(changed)
    n_read <- n_read + !is.null(object)
    if (!gpucor:::is_data(object)) fail(toString(changed))
  }
  expect_gt(n_read, 10) # values were changed
})

test_that("a promise with a right seal is not run, whatever file of a plan it is in", {
  mark <- tempfile("mark")
  path <- quiet_plan(tempfile("plan"), noted_x, density = 0.001, covariates = 1:14, shards = 3, backend = "cpu")
  quiet_run(path, 1:2, "cpu")
  plan <- gpucor:::open_plan(path)
  round <- gpucor:::read_round(plan, 1)
  old <- options(gpucor.backend = "cpu")
  on.exit(options(old))
  promise <- promise_of(mark)
  seal <- function(...) gpucor:::seal_of(plan, ...)
  spoil <- function() {
    seal_bytes(gpucor:::numbered_file(plan, "round", 1), promise, seal("round", 1))
    seal_bytes(gpucor:::numbered_file(plan, "sample", 1), promise, seal("sample", 1))
    seal_bytes(gpucor:::numbered_file(plan, "design", 1), promise, seal("design", 1))
    seal_bytes(file.path(write_owner(path, 3), "owner.rds"), promise, seal("claim", 1, 3))
    file <- shard_files(path)[1]
    seal_bytes(file, promise, seal("shard", 1, 1, round$digest))
    file.rename(file, file.path(dirname(file), paste0("00001.", tools::md5sum(file))))
  }
  spoil()
  expect_identical(gpuCorStatus(path)$state, c("damaged", "done", "missing"))
  quiet_run(path, "free", "cpu")
  expect_identical(gpuCorStatus(path)$state, rep("done", 3))
  expect_collected(path, noted_network)
  spoil()
  quiet_run(path, "free", "cpu")
  expect_collected(path, noted_network)
  seal_bytes(file.path(path, "plan.rds"), promise, seal("plan"))
  for (call in list(gpuCorRun, gpuCorStatus, gpuCorCollect)) expect_error(call(path), "plan.rds\" was changed since")
  expect_false(file.exists(mark))
})

test_that("a sparse matrix in a plan is read as numbers, whose indices are checked", {
  x <- methods::as(round(small_x), "CsparseMatrix")
  truth <- gpuCorNetwork(x, threshold = 0.5, method = "kendall", backend = "cpu")
  path <- quiet_plan(tempfile("plan"), x, threshold = 0.5, method = "kendall", shards = 2, backend = "cpu")
  quiet_run(path, "free", "cpu")
  expect_collected(path, truth)
  plan <- gpucor:::open_plan(path)
  file <- file.path(path, "x.sparse")
  bytes <- readBin(file, "raw", file.size(file))
  # As whoever can write to the folder could leave it, with the checksum in the plan: p and i that are out of bounds.
  for (at in c(1, 4 * 150 + 1, 4 * 300 + 1, 4 * 301 + 1)) {
    for (value in c(-1L, 2L^30L)) {
      writeBin(replace(bytes, at + 0:3, writeBin(as.integer(value), raw(), endian = "little")), file)
      edited <- plan
      edited$x[[1]]$checksum <- gpucor:::checksum(file)
      gpucor:::save_plan(edited)
      expect_error(gpuCorRun(path, 1, "cpu"), "x.sparse\" was changed since", label = paste(at, value))
    }
  }
})

test_that("the call of a plan is read back as it was", {
  path <- tempfile("plan")
  x <- small_x
  z <- 1:20
  expect_call <- function(call, truth = call) {
    planning <- as.call(c(quote(gpuCorPlan), path, as.list(call)[-1]))
    utils::capture.output(eval(planning))
    on.exit(unlink(path, recursive = TRUE))
    expect_identical(gpucor:::open_plan(path)$call, truth)
  }
  expect_call(quote(gpuCorNetwork(x, , threshold = 0.1 + 1 / 3, method = c("ken" = "kendall")[["ken"]])))
  expect_call(quote(gpuCorNetwork(x[, 1:20], x[, `if`(TRUE, 21:30)], k = 3L, covariates = ~ z)))
  expect_call(quote(gpuCorNetwork(x, threshold = 0.30000000000000004)))
  expect_call(bquote(gpuCorNetwork(x, threshold = .(1 / 3)))) # a value in the place of an expression
  expect_call(bquote(gpuCorNetwork(.(x), threshold = 0.5)), quote(gpuCorNetwork(`<matrix>`, threshold = 0.5)))
})

test_that("what is more than data is refused when the plan is made", {
  path <- tempfile("plan")
  expect_error(gpuCorPlan(path, small_x, threshold = structure(0.5, note = globalenv())),
               "'threshold' must be numbers, text or TRUE or FALSE in a plan")
  expect_false(file.exists(path))
})

test_that("a plan's folder is its owner's, and later folders have its permissions", {
  old <- Sys.umask("022")
  on.exit(Sys.umask(old))
  path <- finished_plan()
  expect_identical(format(file.mode(path)), "700")
  path <- small_plan()
  Sys.chmod(list.dirs(path), "0770", FALSE)
  suppressMessages(gpuCorRun(path))
  folders <- c(path, file.path(path, c("rounds", "rounds/1", "claims", "claims/1")))
  expect_identical(format(file.mode(folders)), rep("770", 5))
})

test_that("a plan's id is no random number of the user's", {
  set.seed(7)
  before <- .Random.seed
  path <- small_plan()
  expect_identical(.Random.seed, before)
  set.seed(7)
  ids <- c(gpucor:::open_plan(path)$id, gpucor:::open_plan(small_plan())$id)
  expect_match(ids, "^[0-9a-f]{32}$")
  expect_false(ids[1] == ids[2])
})

# ---- the plan, and numbers of shards

test_that("a plan of another version, a damaged one and none are told apart", {
  path <- small_plan()
  edit_plan(gpucor:::open_plan(path), version = "0.0.7")
  for (call in list(gpuCorRun, gpuCorStatus, gpuCorCollect)) {
    expect_error(call(path), "a plan by gpucor 0.0.7; this is gpucor [0-9.]+$")
  }
  saveRDS(list(version = "0.1.0"), file.path(path, "plan.rds"))
  expect_error(gpuCorRun(path), "is damaged, or of another version of gpucor")
  cut_off(file.path(path, "plan.rds"), 50)
  expect_error(gpuCorRun(path), "plan.rds\" is damaged")
  unlink(file.path(path, "plan.rds"))
  expect_error(gpuCorRun(path), "where there is no plan")
  expect_error(gpuCorRun("/no/such/plan"), paste(Sys.info()[["nodename"]], "has no such folder"))
})

test_that("there are at least one shard and at most as many as tiles", {
  for (shards in list(0, -1, 1.5, NA, c(2, 3), "4", 16, Inf)) {
    expect_error(small_plan(shards = shards), "'shards' must be a whole number between 1 and 15.*15 tiles")
  }
  for (shards in c(1, 15)) expect_collected(finished_plan(shards = shards), small_network)
})

task_variables <- c("SLURM_ARRAY_TASK_ID", "PBS_ARRAY_INDEX", "PBS_ARRAYID", "SGE_TASK_ID", "LSB_JOBINDEX")

test_that("a task of an array job does the shard of its number", {
  path <- small_plan()
  for (k in 1:4) {
    with_env(stats::setNames(k, task_variables[k]), expect_told(gpuCorRun(path, backend = "cpu"), paste("shard", k)))
  }
  expect_collected(path, small_network)
  for (name in task_variables) {
    with_env(stats::setNames(5, name), expect_error(gpuCorRun(path), "from 1 to 4, or .*not 5"))
  }
  for (none in list(c(SGE_TASK_ID = "undefined"), c(LSB_JOBINDEX = "0"))) {
    path <- small_plan()
    with_env(none, quiet_run(path, backend = "cpu"))
    expect_collected(path, small_network)
  }
})

test_that("links in a plan's folder are replaced, and not written to", {
  skip_on_os("windows")
  path <- quiet_plan(tempfile("plan"), noted_x, density = 0.001, covariates = 1:14, shards = 3, backend = "cpu")
  mine <- tempfile(rep("mine", 4))
  writeLines("mine", mine[1])
  writeLines("mine", mine[2]) # the others would be made
  shard <- paste0("rounds/1/00002.", strrep("0", 32))
  linked <- file.path(path, c("rounds/1.rds", "notes/1.rds", "designs/1.rds", shard))
  dir.create(dirname(linked[4]))
  unlink(linked)
  file.symlink(mine, linked)
  old <- options(gpucor.backend = "cpu")
  on.exit(options(old))
  quiet_run(path, "free", "cpu")
  expect_collected(path, noted_network)
  expect_identical(Sys.readlink(linked[1:3]), rep("", 3))
  expect_identical(file.exists(mine), c(TRUE, TRUE, FALSE, FALSE))
  expect_identical(c(readLines(mine[1]), readLines(mine[2])), c("mine", "mine"))
  expect_length(unfinished_files(path), 0)
})
