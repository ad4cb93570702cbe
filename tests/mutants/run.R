# Rscript tests/mutants/run.R FOLDER [NAME...]: applies each wrong change of mutants.R, or those named, to a copy of the
# sources, and reports which test finds it: the engine's tests without R, otherwise the quick tier, otherwise the full
# one. Prints a line for each, and how many survived; fails if any survives the full tier, or more than MAX_QUICK the
# quick one. FOLDER/1, 2, ..., one for two processor cores, hold a copy, its builds and the logs each; without FOLDER,
# only tells which changes have no place.

MAX_QUICK <- 2L # of 40
SECONDS <- 1200 # a test that takes longer is assumed to hang
N_CORES <- 2L # of a copy

folder <- commandArgs(TRUE)[1L]
chosen <- commandArgs(TRUE)[-1L]
if (!is.na(folder)) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  folder <- normalizePath(folder)
}
has_gpu <- nzchar(Sys.which("nvidia-smi")) && nzchar(Sys.which("nvcc"))
Sys.setenv(TESTTHAT_CPUS = N_CORES, MAKEFLAGS = paste0("-j", N_CORES))

mutant <- function(name, of, from, to, tests) list(name = name, of = of, from = from, to = to, tests = tests)
r_mutant <- function(name, from, to, tests) {
  list(name = name, from = substitute(from), to = substitute(to), tests = tests)
}
source("tests/mutants/mutants.R")

# ---- runs a command; returns TRUE if it succeeds

succeeds <- function(log, command, ..., variables = character()) {
  log <- file.path(folder, log)
  status <- suppressWarnings(
    system2(command, shQuote(c(...)), stdout = log, stderr = log, env = variables, timeout = SECONDS)
  )
  status == 0L
}

# ---- the copy

copy_sources <- function() {
  unlink(tree, recursive = TRUE)
  dir.create(tree)
  files <- system2("git", c("ls-files", "--cached", "--others", "--exclude-standard"), stdout = TRUE)
  files <- files[file.exists(files)]
  for (into in unique(dirname(file.path(tree, files)))) dir.create(into, showWarnings = FALSE, recursive = TRUE)
  stopifnot(file.copy(files, file.path(tree, files)))
}

# R's make rules do not track headers, so a changed header recompiles everything.
write_source <- function(file, text) {
  cat(text, file = file.path(tree, file))
  if (endsWith(file, ".h")) unlink(list.files(file.path(tree, "src"), "[.]o$", recursive = TRUE, full.names = TRUE))
}

build_units <- function() {
  succeeds("unit-build.log", "make", "-s", "-C", file.path(tree, "tests/unit"), "BUILDS=plain",
           paste0("OUT=", file.path(folder, "unit")), file.path(folder, "unit/plain/unit"))
}

run_units <- function() succeeds("unit.log", file.path(folder, "unit/plain/unit"))

install <- function() {
  dir.create(library_of_tree, showWarnings = FALSE)
  succeeds("install.log", "R", "CMD", "INSTALL", "--no-docs", "--no-byte-compile", "--no-test-load",
           paste0("--library=", library_of_tree), if (!has_gpu) "--configure-args=--without-cuda", tree)
}

# ---- tests

# Name of the first test that fails in the matching files; character() if all pass.
failing_test <- function(pattern, tier) {
  found <- file.path(folder, "failed")
  unlink(found)
  code <- sprintf("setwd('%s'); source('run-files.R')
    files <- test_files('.', '%s')
    all <- if (length(files)) expectations_of(run_files(files))
    failed <- all[all$kind %%in%% c('failure', 'error'), ]
    writeLines(if (NROW(failed)) paste0(failed$file, ': ', failed$test)[1] else character(), '%s')",
                  file.path(tree, "tests/testthat"), pattern, found)
  lives <- succeeds("tests.log", "Rscript", "--vanilla", "-e", code,
                    variables = c(paste0("R_LIBS=", library_of_tree), paste0("GPUCOR_TESTS=", tier)))
  if (!lives) return("R did not survive the tests, or they did not end")
  readLines(found)
}

# Runs the likely files first, then the others.
first_failure <- function(tests, tier) {
  likely <- failing_test(sprintf("^(.*-)?(%s)", tests), tier)
  if (length(likely)) likely else failing_test(sprintf("^(?!(.*-)?(%s))", tests), tier)
}

# Returns list(tier, test) of the test that finds the change in a file of the copy.
find_killer <- function(mutant, file) {
  if (!grepl("^(R|src/r|src/cuda)/", file)) {
    if (!build_units()) return(list(tier = "unit", test = "the compiler"))
    if (!run_units()) return(list(tier = "unit", test = failed_unit()))
  }
  if (!install()) return(list(tier = "quick", test = "installation"))
  for (tier in c("quick", "full")) {
    found <- first_failure(mutant$tests, tier)
    if (length(found)) return(list(tier = tier, test = found))
  }
  list(tier = "survived", test = "")
}

failed_unit <- function() {
  lines <- readLines(file.path(folder, "unit.log"))
  c(grep("^failed", lines, value = TRUE), "the tests ended early")[1L]
}

# Returns the changed file: list(file, before, after), texts; or NULL if the code is not there once.
changed_file <- function(mutant) {
  if (is.null(mutant$of)) return(changed_code(mutant))
  code <- gsub("\\s+", "\\\\s+", gsub("([][(){}.*+?^$|\\\\])", "\\\\\\1", mutant$from))
  changed <- lapply(names(parts_of_files), function(file) {
    parts <- parts_of_files[[file]]
    at <- which(grepl(paste0("\\b", mutant$of, "\\b"), parts, perl = TRUE) & grepl(code, parts, perl = TRUE))
    if (!length(at)) return(NULL)
    pieces <- strsplit(paste0(parts[at], collapse = ""), code, perl = TRUE)[[1L]]
    if (length(at) > 1L || length(pieces) != 2L) return(list(file = file))
    before <- paste0(parts, collapse = "")
    parts[at] <- paste0(pieces[1L], mutant$to, pieces[2L])
    list(file = file, before = before, after = paste0(parts, collapse = ""))
  })
  changed <- Filter(Negate(is.null), changed)
  if (length(changed) == 1L && !is.null(changed[[1L]]$after)) changed[[1L]]
}

text_of <- function(file) paste0(paste(readLines(file), collapse = "\n"), "\n")

# All files, divided after each function.
files_of_code <- list.files(c("src", "R"), "[.](c|h|cu|cuh|R)$", recursive = TRUE, full.names = TRUE)
parts_of_files <- sapply(files_of_code, function(file) {
  strsplit(text_of(file), "(?<=\n})", perl = TRUE)[[1L]]
}, simplify = FALSE)

code_of_files <- sapply(Sys.glob("R/*.R"), parse, keep.source = FALSE, simplify = FALSE)
names_of_files <- lapply(code_of_files, all.names, unique = TRUE)

# Looks for the expression in all definitions of R/. A changed file loses its comments.
changed_code <- function(mutant) {
  names <- all.names(mutant$from)
  changed <- lapply(names(code_of_files), function(file) {
    if (!all(names %in% names_of_files[[file]])) return(NULL)
    after <- replaced(code_of_files[[file]], mutant$from, mutant$to)
    if (attr(after, "times") > 0) list(file = file, before = text_of(file), after = after)
  })
  changed <- Filter(Negate(is.null), changed)
  if (length(changed) != 1L || attr(changed[[1L]]$after, "times") != 1L) return(NULL)
  changed[[1L]]$after <- paste0(paste(vapply(changed[[1L]]$after, function(one) {
    paste(deparse(one, control = c("keepInteger", "keepNA", "digits17")), collapse = "\n")
  }, ""), collapse = "\n\n"), "\n")
  changed[[1L]]
}

# Returns the code with `to` in place of each `from`, and how many there were as attribute "times".
replaced <- function(code, from, to) {
  times <- 0
  walk <- function(part) {
    if (identical(part, from)) {
      times <<- times + 1
      return(if (is.null(to)) call("{") else to) # NULL would leave the part as it was
    }
    if (!is.call(part) && !is.expression(part) && !is.pairlist(part)) return(part)
    for (k in seq_along(part)) {
      if (identical(part[[k]], quote(x[])[[3]])) next # an empty argument
      changed <- walk(part[[k]])
      if (!is.null(changed)) part[[k]] <- changed # NULL would remove it
    }
    part
  }
  code <- walk(code)
  attr(code, "times") <- times
  code
}

try_mutant <- function(mutant) {
  changed <- changed_file(mutant)
  if (is.null(changed)) return(list(tier = "ERROR", test = "this code is no longer there once"))
  if (startsWith(changed$file, "src/cuda/") && !has_gpu) return(list(tier = "not run", test = "needs a GPU"))
  write_source(changed$file, changed$after)
  on.exit(write_source(changed$file, changed$before))
  find_killer(mutant, changed$file)
}

# ---- all

lost <- Filter(function(mutant) is.null(changed_file(mutant)), mutants)
for (mutant in lost) cat("mutant without a place: ", mutant$name, "\n", sep = "")
if (is.na(folder)) quit(status = length(lost) > 0L)

if (length(chosen)) mutants <- Filter(function(mutant) mutant$name %in% chosen, mutants)
n_copies <- min(max(1L, parallel::detectCores() %/% N_CORES), length(mutants))

# Makes a copy and tries the mutants that are its share. Returns the tiers that found them.
work_in_copy <- function(copy) {
  folder <<- file.path(folder, copy)
  tree <<- file.path(folder, "tree")
  library_of_tree <<- file.path(folder, "library")
  dir.create(folder, showWarnings = FALSE)
  copy_sources()
  stopifnot("the unit tests fail without a mutant" = build_units() && run_units(),
            "the package cannot be installed" = install(),
            "the quick tier fails without a mutant" = copy > 1L || !length(failing_test("", "quick")))
  vapply(mutants[seq(copy, length(mutants), by = n_copies)], function(mutant) {
    seconds <- system.time(found <- try_mutant(mutant))[["elapsed"]]
    cat(sprintf("%-30s %-9s %4.0f s  %s\n", mutant$name, found$tier, seconds, found$test))
    found$tier
  }, "")
}

tiers <- parallel::mclapply(seq_len(n_copies), work_in_copy, mc.cores = n_copies)
for (failed in Filter(function(of_copy) inherits(of_copy, "try-error"), tiers)) stop(failed, call. = FALSE)
tiers <- unlist(tiers)
n_run <- sum(tiers != "not run")
n_quick <- sum(tiers %in% c("full", "survived"))
cat(n_run, " mutants: ", sum(tiers == "unit"), " found by unit tests, ", sum(tiers == "quick"), " by the quick tier, ",
    sum(tiers == "full"), " by the full tier only; ", sum(tiers == "survived"), " survived; ",
    sum(tiers == "not run"), " not run\n", sep = "")
quit(status = as.integer(any(tiers %in% c("survived", "ERROR")) || n_quick > MAX_QUICK * n_run / 40))
