# Compares memory needs with free memory before a computation. The system overcommits, and would kill R later.

# Bytes below which a request is not checked: asking the system takes longer than most such requests.
SMALL_REQUEST <- 2^22

# Stops if `bytes` exceed free memory. `what`: the code that needs them; `of`: what they store; `hint`: the end of the
# message, or a function of the free bytes that returns it.
check_memory <- function(bytes, what, of, hint) {
  if (bytes <= SMALL_REQUEST || bytes <= free_memory()) return(invisible())
  free <- free_memory(reclaim = TRUE)
  if (bytes <= free) return(invisible())
  fail_as("memory", what, " takes ", format_bytes(bytes), ", for ", of, "; ", format_bytes(free),
          " of memory are free; ", if (is.function(hint)) hint(free) else hint)
}

# Returns the bytes that the system, control groups and limits leave to the process, or Inf if the system does not say.
# `reclaim`: TRUE if the memory of garbage and of results that are gone is given back before.
free_memory <- function(reclaim = FALSE) {
  free <- .Call(r_memory, reclaim)$available
  if (free < 2^60) max(1, free) else Inf
}

# ---- values of all pairs

# Returns the bytes of a values_of_pairs(): its values, and what else it holds until it ends.
run_bytes <- function(run, layout) perform(run, "cor_bytes", engine$constants[[layout]])$bytes

# Stops if the values of all pairs do not fit, with `more` extra bytes per value. Planning computes nothing.
check_run_memory <- function(run, layout, what, hint, more = 0) {
  n_var <- as.numeric(ncol(run$x))
  n <- switch(layout, square = n_var^2, rectangle = n_var * ncol(run$y), pairs_of(n_var))
  replay <- run$place$replay
  if ((MAX_BYTES_OF_VALUE + more) * n <= SMALL_REQUEST || isTRUE(replay$is_planning)) return(invisible())
  bytes <- if (is.null(replay)) sum(run_bytes(run, layout)) else 8 * n
  check_memory(bytes + more * n, what, n_of(n, if (layout %in% c("square", "rectangle")) "value" else "pair"), hint)
}

# Max bytes per value: a double, and twice a single-precision adjacency with the scratch of its product.
MAX_BYTES_OF_VALUE <- 24

# Max number of columns for which all pairs are a small request in every layout.
SMALL_COLUMNS <- floor(sqrt(SMALL_REQUEST / MAX_BYTES_OF_VALUE))

layout_of <- function(y, output) if (!is.null(y)) "rectangle" else if (output == "matrix") "square" else "row"

WITHOUT_ALL_PAIRS <- "gpuCorNetwork(), gpuCorPairs() and gpuConnectivity() do without a value for each pair"

check_coefficients_memory <- function(run, output) {
  if (is.null(run$y) && ncol(run$x) <= SMALL_COLUMNS) return(invisible())
  layout <- layout_of(run$y, output)
  is_square <- layout == "square"
  hint <- function(free) {
    fits <- is_square && sum(run_bytes(run, "row")) <= free
    if (fits) "output = \"dist\" takes less" else WITHOUT_ALL_PAIRS
  }
  check_run_memory(run, layout, if (is_square) "gpuCor(output = \"matrix\")" else "gpuCor()", hint)
}

# Stops if the result of arithmetic on coefficients does not fit: doubles, or logicals for comparisons. Compact
# coefficients are first expanded to doubles.
check_arithmetic_memory <- function(operands, operator) {
  is_whole <- vapply(operands, function(x) inherits(x, c("gpuCor", "gpuTOM")), NA)
  n <- max(lengths(operands[is_whole]))
  each <- if (operator %in% c("==", "!=", "<", ">", "<=", ">=", "!", "&", "|")) 4 else 8
  if ((each + 8 * sum(is_whole)) * n <= SMALL_REQUEST) return(invisible())
  widened <- sum(vapply(operands[is_whole], function(x) .Call(r_is_compact, x), NA))
  check_memory((each + 8 * widened) * n, paste0("'", operator, "'"), n_of(n, "pair"),
               "1 - r takes none; r[i, j] reads a part")
}

# ---- data

# Stops if data do not fit as an ordinary matrix of doubles.
check_copy_memory <- function(x, name) {
  values <- as.numeric(nrow(x)) * ncol(x)
  check_memory(8 * values, paste0("'", name, "' as a matrix"), n_of(values, "value"),
               "gpuCorFile() reads data of this size from a file")
}

# ---- edges and data in memory before they go to the disk

SPOOL_FRACTION <- 1 / 4

# Bytes assumed where the system does not say how much memory is free: what most machines have.
USUAL_MEMORY <- 2^32

# Returns the setting, which has no argument, or a fraction of the free memory.
spool_bytes <- function() {
  bytes <- setting(NULL, "spool_bytes")
  if (!is.null(bytes)) {
    return(check_whole(bytes, "spool_bytes", 0, 2^60,
                       paste0(" (bytes)", where_from("spool_bytes", NULL, "a fraction of what is free"))))
  }
  free <- free_memory()
  SPOOL_FRACTION * (if (is.finite(free)) free else USUAL_MEMORY)
}
