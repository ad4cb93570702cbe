# Random calls against cor(), exact fractions and definitions; damaged files and objects: `make fuzz`. Prints the seed,
# and for every difference what is different and the R code that shows it, or where the file is; with one, the process
# ends with status 1.

library(gpucor)

fuzz_folder <- normalizePath(if (file.exists("tests/fuzz")) "tests/fuzz" else ".")
for (file in c(dir(file.path(fuzz_folder, "../testthat"), "^helper-.*R$", full.names = TRUE),
               file.path(fuzz_folder, c("inputs.R", "judge.R", "coefficients.R", "networks.R", "definitions.R",
                                        "report.R", "files.R", "objects.R")))) {
  source(file)
}

# `share`: those with a larger one come more often, as they have more that is special, or take less time. `show`: lines
# that show a case, if it is not a call.
fuzz_kinds <- c(
  list(
    coefficients = list(make = random_coefficients, check = check_coefficients, share = 12),
    network = list(make = random_network, check = check_network, share = 8),
    connectivity = list(make = random_connectivity, check = check_connectivity, share = 2),
    design = list(make = random_design, check = check_design, share = 2),
    subjects = list(make = random_subjects, check = check_subjects, share = 2),
    windows = list(make = random_windows, check = check_windows, share = 2),
    masked = list(make = random_masked, check = check_masked, share = 2),
    overlap = list(make = random_overlap, check = check_overlap, share = 2)
  ),
  file_kinds(), object_kinds
)

# After so many differences there is more to be gained from looking at them than from another.
MAX_DIFFERENCES <- 10

# Longer code is not worth printing.
MAX_LINES <- 60

# What is wrong with a case; an error of the check itself, too.
flaws_of <- function(kind, case) {
  flaws <- tryCatch(fuzz_kinds[[kind]]$check(case), error = function(condition) {
    paste("the check failed:", conditionMessage(condition))
  })
  c(flaws, left_flaws())
}

left_flaws <- function() {
  # Stores that nobody took rows from go with R's next collection.
  for (full in c(FALSE, TRUE)) if (live()$host > 0 || live()$device > 0) gc(full = full)
  left <- live()
  if (left$host > 0 || left$device > 0) paste(left$host, "host and", left$device, "device allocations are left")
}

# Case `number` of a seed is the same whatever came before it.
make_case <- function(seed, number) {
  set.seed(seed)
  set.seed(sample.int(.Machine$integer.max, 1) %/% 2 + number)
  kind <- sample(names(fuzz_kinds), 1, prob = vapply(fuzz_kinds, `[[`, 0, "share"))
  list(kind = kind, case = fuzz_kinds[[kind]]$make())
}

# The first words of flaws, without the numbers.
kinds_of <- function(flaws) sub("^[^a-z]*([a-z()' ]+).*", "\\1", flaws)

report <- function(kind, case, flaws, seed, number, folder) {
  has_x <- "x" %in% names(case) # a call with all of its data stays as it is
  if (has_x) case <- shrink(case, function(less) any(kinds_of(flaws_of(kind, less)) %in% kinds_of(flaws)))
  cat("\n# seed ", seed, ", case ", number, ": ", paste(flaws, collapse = "; "), "\n", sep = "")
  cat(sprintf("# source(\"tests/fuzz/fuzz.R\"); fuzz(seed = %d, only = %d)", seed, number), sep = "\n")
  show <- fuzz_kinds[[kind]]$show
  lines <- if (!is.null(show)) {
    show(case, sprintf("%s-%d-%d", kind, seed, number), folder)
  } else {
    if (has_x) source_of(case) else deparse(case$call, width.cutoff = 110L, control = "exact")
  }
  if (length(lines) > MAX_LINES) return(invisible())
  cat(lines, sep = "\n")
  if (!has_x) return(invisible())
  exact <- judge(case_x(case), if (is.null(case$y)) case_x(case) else case$y, case$call$use, case$call$method)
  cat("# exactly:", utils::head(exact, 9), "\n")
}

# `file` names the case at hand, should the process not survive it, and damaged files are left beside it; `only` is the
# number of the one case to run.
fuzz <- function(seconds = 60, seed = 1, file = NULL, only = NULL) {
  cat("seed ", seed, ", ", seconds, " s, back ends: ", paste(gpuInfo()$backends, collapse = ", "), "\n", sep = "")
  end <- Sys.time() + seconds
  number <- if (is.null(only)) 0 else only - 1
  differences <- 0
  folder <- if (is.null(file)) "." else dirname(file)
  counts <- table(factor(character(), names(fuzz_kinds)))
  repeat {
    number <- number + 1
    if (!is.null(file)) writeLines(sprintf("fuzz(seed = %d, only = %d)", seed, number), file)
    one <- make_case(seed, number)
    flaws <- flaws_of(one$kind, one$case)
    if (length(flaws)) report(one$kind, one$case, flaws, seed, number, folder)
    counts[[one$kind]] <- counts[[one$kind]] + 1
    differences <- differences + (length(flaws) > 0)
    if (!is.null(only) || Sys.time() > end || differences == MAX_DIFFERENCES) break
  }
  cat("\nseed ", seed, ": ", if (is.null(only)) number else 1, " calls, ", differences, " differences", sep = "")
  cat("; ", forgiven$inexact, " where cor() itself is off\n", sep = "")
  writeLines(strwrap(toString(paste(names(counts), counts)), 100))
  invisible(differences)
}
