# Null simulations: how often a test at a level rejects a hypothesis that is true. `make nulls` runs the cases of
# cases.R for a given time; tests/testthat/test-nulls.R runs the same cases with a fixed number of data sets each.
#
# A case is a function, a method, data and an option, as text; the band that the size must lie in; and p(), which makes
# one data set and returns p values of true hypotheses. For a family-wise error p() returns the min of the adjusted p
# values, for a false discovery rate what discoveries() or false_discoveries() make of the result.

# Bands at 0.05. A band that starts at 0 means a conservative test. A band above the level means a test that is not
# valid for these data, and how far off it is; the help page gpucor-p-values has these numbers.
VALID <- c(0.045, 0.055)
NEARLY <- c(0.04, 0.06)
CONSERVATIVE <- c(0, 0.055)

# sets: number of data sets for each seed in the short form; time: relative to other cases in the long form.
null_case <- function(of, method, data, option, band, p, level = 0.05, sets = 40, time = 1) {
  list(of = of, method = method, data = data, option = option, band = band, p = p, level = level, sets = sets,
       time = time)
}

NULL_SEEDS <- 1:2

# The fraction of p values at or below the level, in each data set: at least `sets` data sets for each seed, and for at
# least `seconds` in total.
rejections <- function(case, sets, seconds = 0) {
  each <- lapply(NULL_SEEDS, function(seed) {
    set.seed(seed)
    end <- proc.time()[["elapsed"]] + seconds / length(NULL_SEEDS)
    found <- list()
    while (length(found) < sets || proc.time()[["elapsed"]] < end) {
      p <- as.vector(case$p())
      p <- p[!is.na(p)]
      # Allows a p value at the level to be off by a rounding error.
      found[[length(found) + 1L]] <- c(size = mean(p <= case$level * (1 + 1e-9)), tests = length(p))
    }
    do.call(rbind, found)
  })
  do.call(rbind, each)
}

# Tests of one data set depend on one another, so the standard error is that between data sets; it is at least that of
# as many independent tests, for cases without a rejection.
size_of <- function(found, level) {
  found <- found[found[, "tests"] > 0, , drop = FALSE]
  tests <- sum(found[, "tests"])
  if (tests == 0) stop("no p values at all")
  error <- stats::sd(found[, "size"]) / sqrt(nrow(found))
  list(size = mean(found[, "size"]), error = max(error, sqrt(level * (1 - level) / tests)), tests = tests)
}

verdict_of <- function(size, error, band, level) {
  if (size < band[1L] - 3 * error) return("BELOW ITS BAND")
  if (size > band[2L] + 3 * error) return("ABOVE ITS BAND")
  if (band[1L] > level) "not valid, as known" else if (band[1L] == 0) "conservative" else "valid"
}

run_case <- function(case, sets = case$sets, seconds = 0) {
  row <- data.frame(case = paste(c(case$of, case$method, case$data, case$option), collapse = " | "), level = case$level,
                    size = NA, error = NA, tests = 0, low = case$band[1L], high = case$band[2L],
                    verdict = "")
  tryCatch({
    found <- size_of(rejections(case, sets, seconds), case$level)
    row[names(found)] <- found
    row$verdict <- verdict_of(found$size, found$error, case$band, case$level)
    row
  }, error = function(condition) {
    row$verdict <- paste("ERROR:", conditionMessage(condition))
    row
  })
}

# Returns a row for each case. seconds: in total on each core; NULL: as many data sets as the cases say.
run_cases <- function(cases, seconds = NULL, cores = 1) {
  old <- options(gpucor.threads = 1L, gpucor.backend = "cpu", gpucor.progress = FALSE)
  on.exit(options(old))
  unit <- seconds * cores / sum(vapply(cases, \(case) case$time, 0))
  run <- function(case) if (is.null(seconds)) run_case(case) else run_case(case, sets = 2, seconds = unit * case$time)
  quiet <- function(case) suppressMessages(suppressWarnings(run(case)))
  do.call(rbind, parallel::mclapply(cases, quiet, mc.cores = cores, mc.preschedule = FALSE))
}

is_broken <- function(rows) grepl("BAND|ERROR", rows$verdict)

print_cases <- function(rows) {
  number <- function(x) ifelse(is.na(x), "", formatC(x, digits = 3, format = "fg", flag = "#", width = 1))
  columns <- list(case = rows$case, level = format(rows$level, scientific = FALSE, drop0trailing = TRUE),
                  size = number(rows$size), SE = formatC(rows$error, digits = 2, format = "g"),
                  tests = format(rows$tests, big.mark = ",", scientific = FALSE),
                  band = paste(rows$low, "to", rows$high), verdict = rows$verdict)
  columns <- lapply(names(columns), function(name) format(c(name, columns[[name]])))
  cat(do.call(paste, c(columns, sep = "  ")), sep = "\n")
  cat(sum(!is_broken(rows)), "of", nrow(rows), "cases within their bands\n")
}
