# The judge: exact coefficients by judge.py, for when cor() and the package differ, and wherever that is quick.

# Steps that the judge needs, about; more takes too long.
judge_steps <- function(x, y, method) {
  n <- rows_of(x)
  columns_of(x) * columns_of(if (is.null(y)) x else y) * if (method == "kendall") n^2 else 3 * n
}

MAX_STEPS <- 1e5

# A matrix for the judge: doubles, and only the rows that count.
judged_matrices <- function(x, y, use) {
  both <- lapply(list(x, y), function(m) {
    m <- as.matrix(plain(m))
    storage.mode(m) <- "double"
    m
  })
  if (!use %in% c("complete.obs", "na.or.complete")) return(both)
  complete <- rowSums(is.na(do.call(cbind, both))) == 0
  lapply(both, function(m) m[complete, , drop = FALSE])
}

# Words for the pairs of columns: numbers, or why there is none.
judge <- function(x, y, use, method) {
  both <- judged_matrices(x, y, use)
  answer <- matrix("few", ncol(both[[1]]), ncol(both[[2]]))
  if (nrow(both[[1]]) < 2 || !length(answer)) return(answer)
  lines <- function(m) apply(m, 2, function(v) paste(ifelse(is.na(v), "NA", sprintf("%a", v)), collapse = " "))
  strict <- if (use == "pairwise.complete.obs") 0 else 1
  said <- system2("python3", c("-I", "-S", shQuote(file.path(fuzz_folder, "judge.py"))), stdout = TRUE,
                  env = "LD_PRELOAD=", # it has no use for the sanitizers that R may run with
                  input = c(paste(method, strict), lines(both[[1]]), "", lines(both[[2]])))
  answer[] <- matrix(unlist(strsplit(said, " ")), nrow(answer), byrow = TRUE)
  answer
}
