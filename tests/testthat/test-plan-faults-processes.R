# Processes that work on a plan at the same time, or did, and what they may read and write.

small_network <- network_of_small()

# Seconds of work: for processes that are to meet one another.
long_x <- matrix(stats::rnorm((if (full_tier()) 600 else 400) * 1500), ncol = 1500)

# ---- claims

# As if another process, of this machine or not, were at work on a shard.
claim_for <- function(path, shard, owner, age = 0) {
  folder <- do.call(write_owner, utils::modifyList(list(path, shard, space = gpucor:::process_space()), owner))
  Sys.setFileTime(folder, Sys.time() - age)
  folder
}

test_that("what another process is at work on is left to it, unless it is gone or its clock jumped", {
  day <- 24 * 3600
  for (age in c(if (full_tier()) 0, 500, -500)) {
    path <- small_plan()
    claim_for(path, 2, list(space = "elsewhere"), age)
    quiet_run(path, "free", "cpu")
    expect_identical(gpuCorStatus(path)$state, c("done", "running", "done", "done"))
    expect_identical(gpuCorStatus(path)$host[2], "there")
    expect_error(gpuCorCollect(path), "shard 2 of 4 not finished")
    quiet_run(path, 2, "cpu") # who asks for it gets it
    expect_collected(path, small_network)
  }
  for (age in c(1000, -1000, if (full_tier()) c(day, -day), 20000 * day, -4000 * day)) {
    path <- small_plan()
    claim_for(path, 2, list(space = "elsewhere"), age)
    expect_identical(gpuCorStatus(path)$state[2], "missing", label = paste("claimed", age, "s ago:"))
    quiet_run(path, "free", "cpu")
    expect_collected(path, small_network)
    expect_length(dir(file.path(path, "claims", 1)), 0)
  }
})

test_that("claims of the dead, and one's own from before an interrupt, hold nobody up", {
  skip_on_os("windows")
  dead <- dead_process()
  for (pid in c(dead, Sys.getpid())) {
    path <- small_plan()
    claim_for(path, 1, list(pid = pid))
    dir.create(file.path(path, "claims", 1, "00003")) # killed while it was removed
    quiet_run(path, "free", "cpu")
    expect_collected(path, small_network)
  }
})

test_that("a claim that is given up while it is looked at is none", {
  path <- small_plan()
  dir.create(file.path(path, "claims", 1), recursive = TRUE)
  file.symlink("/no/such/folder", file.path(path, "claims", 1, "00002")) # listed, and not there
  expect_identical(gpuCorStatus(path)$state, rep("missing", 4))
  quiet_run(path, "free", "cpu")
  expect_collected(path, small_network)
})

test_that("of several that claim a shard one gets it", {
  path <- small_plan()
  plan <- gpucor:::open_plan(path)
  expect_identical(c(gpucor:::claim(plan, 1, 2), gpucor:::claim(plan, 1, 2)), c(TRUE, FALSE))
  gpucor:::release_claim(plan, 1, 2)
  expect_true(gpucor:::claim(plan, 1, 2))
  expect_identical(dir(file.path(path, "claims", 1)), "00002")
})

test_that("a process that is there is at work, whoever's it is", {
  skip_if_not(dir.exists("/proc/1"), "there is no /proc")
  path <- small_plan()
  claim_for(path, 1, list(pid = 1L)) # not ours, but where root runs the tests
  expect_identical(gpuCorStatus(path)$state[1], "running")
})

test_that("what a killed process had begun to write is removed by the next one", {
  skip_on_os("windows")
  dead <- dead_process()
  path <- small_plan()
  dir.create(file.path(path, "rounds", 1))
  names <- c("rounds/1/00002", "claims/1/00002")
  begun <- file.path(path, paste0(names, ".partial-", gpucor:::process_space(), "-", dead, "-89abcdef"))
  for (folder in c(begun[1], file.path(begun[2], "new"))) dir.create(folder, recursive = TRUE)
  for (file in c(file.path(begun[1], "new"), file.path(begun[2], "new/owner.rds"))) writeBin(raw(1000), file)
  quiet_run(path, "free", "cpu")
  expect_false(any(file.exists(begun)))
  expect_collected(path, small_network)
})

# ---- processes at the same time

test_that("two processes that do the same shard do not disturb one another", {
  skip_unless_full()
  skip_on_os("windows")
  path <- quiet_plan(tempfile("plan"), long_x, threshold = 0.05, method = "kendall", shards = 2, backend = "cpu")
  messages <- messages_of_runs(2, path, 1:2)
  expect_true(all(grepl("^shard [12] of 2: ", unlist(messages))))
  expect_setequal(unlist(lapply(messages, computed_shards)), 1:2)
  expect_identical(gpuCorStatus(path)$state, c("done", "done"))
  expect_collected(path, gpuCorNetwork(long_x, threshold = 0.05, method = "kendall", backend = "cpu"))
  expect_length(unfinished_files(path), 0)
})

test_that("several processes that are free share out the work, none of it twice", {
  skip_on_os("windows")
  path <- quiet_plan(tempfile("plan"), long_x, k = 5, method = "kendall", shards = 12, backend = "cpu")
  messages <- messages_of_runs(3, path, "free")
  by <- lapply(messages, computed_shards)
  expect_identical(sort(unlist(by)), as.numeric(1:12))
  expect_gt(sum(lengths(by) > 0), 1)
  expect_collected(path, gpuCorNetwork(long_x, k = 5, method = "kendall", backend = "cpu"))
})

test_that("after Ctrl-C the same line goes on", {
  skip_unless_full()
  skip_without_children()
  path <- quiet_plan(tempfile("plan"), long_x, threshold = 0.05, method = "kendall", shards = 3, backend = "cpu")
  child <- callr::r_bg(function(path) {
    library(gpucor)
    options(gpucor.threads = 1L, gpucor.backend = "cpu")
    run <- function() tryCatch(gpuCorRun(path)$state, interrupt = function(condition) "interrupted")
    first <- run()
    gc() # what was found, and not yet taken, goes with the next collection
    list(first, live = .Call(gpucor:::r_live), state = gpuCorStatus(path)$state, run())
  }, list(path))
  on.exit(child$kill())
  expect_true(wait_until(function() length(dir(file.path(path, "claims", 1))) > 0, 60))
  wait_for_work(child, 0.1)
  child$interrupt()
  child$wait(120000)
  result <- child$get_result()
  expect_identical(result[[1]], "interrupted")
  expect_identical(result$live, list(host = 0, device = 0))
  expect_false("running" %in% result$state)
  expect_identical(result[[4]], rep("done", 3))
  expect_collected(path, gpuCorNetwork(long_x, threshold = 0.05, method = "kendall", backend = "cpu"))
  expect_length(unfinished_files(path), 0)
})

# A round of the histogram, too, although the pairs are few.
with_rounds <- function(code) with_values(list(SMALL_PAIRS = 0), code)

test_that("processors of several kinds may share the work, in all rounds", {
  sets <- gpuInfo()$instructions
  x <- small_x[1:15, ]
  n <- max(2, length(sets))
  run_all <- function(path) for (k in 1:n) with_env(c(GPUCOR_CPU = rep_len(sets, n)[k]), quiet_run(path, k, "cpu"))
  criteria <- list(list(threshold = 0.4), list(density = 0.1), list(k = 3))
  for (k in if (full_tier()) 1:9 else c(1, 5, 9)) { # of all pairs of a method and a criterion
    method <- all_methods[1 + (k - 1) %% 3]
    by <- criteria[[1 + (k - 1) %/% 3]]
    path <- do.call(quiet_plan, c(list(tempfile("plan"), x), by, method = method, shards = n, backend = "cpu"))
    run_all(path)
    truth <- do.call(gpuCorNetwork, c(list(x), by, method = method, backend = "cpu"))
    expect_collected(path, truth, paste(method, names(by)))
  }
  with_rounds({
    path <- quiet_plan(tempfile("plan"), x, fdr = 0.5, method = "kendall", shards = n, backend = "cpu")
    run_all(path)
    run_all(path)
    expect_identical(attr(gpuCorStatus(path), "round"), 2)
    expect_collected(path, gpuCorNetwork(x, fdr = 0.5, method = "kendall", backend = "cpu"))
  })
  r <- gpuCor(small_x, method = "pearson", backend = "cpu")
  path <- quiet_plan(tempfile("plan"), small_x, method = "pearson", verb = "gpuCor", shards = n, backend = "cpu")
  run_all(path)
  expect_collected(path, r)
})

# ---- disks and rights

# R code of a process of its own: `attempt` ends in "done" or in an error's text.
attempt_lines <- c(
  "attempt <- function(code) tryCatch({suppressMessages(code); 'done'}, error = conditionMessage)",
  "plan <- function(...) invisible(capture.output(gpuCorPlan(...)))",
  "plain <- function(net) { net@call <- quote(none()); net }",
  "set.seed(2); x <- matrix(rnorm(20 * 300), 20)"
)

test_that("on a full disk a message says so, and when there is room the same line goes on", {
  skip_unless_full()
  skip_without_mounts()
  folder <- tempfile("disk")
  dir.create(folder)
  mount <- paste("mount -t tmpfs -o size=2m none", shQuote(folder))
  result <- run_in_shell(shell = mounting_shell, setup = mount, c(
    attempt_lines, paste0("setwd(\"", folder, "\")"),
    "fill <- function(leave) {",
    "  unlink('fill')",
    "  free <- as.numeric(strsplit(system('df -B1 --output=avail . | tail -1', intern = TRUE), ' +')[[1]])",
    "  try(writeBin(raw(max(0, free[length(free)] - leave)), 'fill'), silent = TRUE)",
    "}",
    "utils::assignInNamespace('SMALL_PAIRS', 0, 'gpucor')", # a round of the histogram
    "for (by in list(list(threshold = 0.05), list(fdr = 0.5))) {",
    "  truth <- plain(do.call(gpuCorNetwork, c(list(x), by)))",
    "  do.call(plan, c(list('p', x, shards = 4), by))",
    "  leave <- -4096",
    "  repeat {", # a page more at each try: the disk is full at every step
    "    fill(leave <- leave + 4096)",
    "    said <- attempt(gpuCorRun('p', 'free'))",
    "    if (said == 'done') break",
    "    full <- grepl('rounds/|notes/|claims/', said) && grepl('the disk is full|No space left', said)",
    "    if (!full) cat('WRONG', leave, said, '\\n')",
    "    states <- gpuCorStatus('p')$state",
    "    if (!all(states %in% c('done', 'missing'))) cat('STATE', states, '\\n')",
    "  }",
    "  if (leave < 8192) cat('it was never full')",
    "  unlink('fill')",
    "  if (!identical(plain(gpuCorCollect('p')), truth)) cat('DIFFERS', leave, '\\n')",
    "  left <- dir('.', 'partial', recursive = TRUE); if (length(left)) cat('LEFT', left, '\\n')",
    "  unlink('p', recursive = TRUE)",
    "}",
    "fill(8192)",
    "cat('plan:', attempt(plan('p', x, threshold = 0.5, shards = 4)), file.exists('p'), dir(), '\\n')"
  ))
  expect_identical(result$status, 0L)
  expect_match(result$stdout, "^plan: cannot write \".*x.columns\".*; the disk is full FALSE fill *$")
})

# Root may do all; without this it is as any owner of a file.
owner_shell <- function() {
  if (Sys.info()[["effective_user"]] != "root") return("sh")
  shell <- c("setpriv", "--bounding-set=-dac_override,-dac_read_search", "sh")
  refused <- suppressWarnings(system2(shell[1], c(shell[-1], "-c", "true"), stdout = FALSE, stderr = FALSE)) != 0
  skip_if(refused, "root's rights cannot be laid down")
  shell
}

test_that("folders that may not be read or written are named; a claim that nobody can remove holds nobody up", {
  path <- finished_plan()
  claimed <- small_plan()
  claim_for(claimed, 2, list(space = "elsewhere"), 5000)
  on.exit(system2("chmod", c("-R", "u+rwx", shQuote(c(path, claimed)))))
  result <- run_in_shell(shell = owner_shell(), c(
    attempt_lines, paste0("path <- \"", path, "\""), paste0("claimed <- \"", claimed, "\""),
    "Sys.chmod(file.path(path, c('rounds/1', 'rounds', '.')), '500')",
    "unlink(file.path(path, 'claims'), recursive = TRUE)",
    "cat(attempt(gpuCorStatus(path)), '\\n')",
    "cat(attempt(gpuCorCollect(path)), '\\n')",
    "cat(attempt(gpuCorRun(path)), '\\n')",
    "Sys.chmod(file.path(path, 'rounds/1'), '700')",
    "unlink(dir(file.path(path, 'rounds/1'), '^00002', full.names = TRUE))",
    "Sys.chmod(file.path(path, 'rounds/1'), '500')",
    "cat(attempt(gpuCorRun(path)), '\\n')",
    "Sys.chmod(path, '300')",
    "cat(attempt(gpuCorRun(path)), '\\n')",
    "cat(attempt(plan(file.path(path, 'rounds/1/p'), x, threshold = 0.5, shards = 4)), '\\n')",
    "Sys.chmod(file.path(claimed, 'claims/1/00002'), '500')",
    "Sys.setFileTime(file.path(claimed, 'claims/1/00002'), Sys.time() - 5000)",
    "setTimeLimit(elapsed = 20)",
    "cat(attempt(gpuCorRun(claimed, 'free')), '\\n')"
  ))
  lines <- strsplit(result$stdout, " *\n")[[1]]
  expect_identical(lines[1:3], rep("done", 3))
  expect_match(lines[4], "\"/.*\" is not writable for .* on ")
  expect_match(lines[5], "may not read on ")
  expect_match(lines[6], "not writable; choose another|whose folder does not exist")
  expect_identical(trimws(lines[7]), "done")
  expect_identical(result$stderr, "")
  expect_collected(claimed, small_network)
})
