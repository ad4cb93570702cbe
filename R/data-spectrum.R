# Coherence: a column's Fourier coefficients in a band, of windowed segments, are its products with a basis that is made
# here. The engine multiplies these complex numbers (src/measure/design.h).

# Min number of segments by default, with fewer of which chance alone makes coherence large.
MIN_SEGMENTS <- 8

# Returns the design with that basis, orthogonal to its regressors.
design_with_spectrum <- function(run) {
  asked <- run$asked
  design <- run$design
  n <- nrow(run$x)
  gaps <- sum(design$weights == 0)
  if (gaps == 0 && drops_observations(run)) gaps <- sum(!complete_observations(run))
  check_facts(c("measure of spectra", if (gaps > 0) "observations left out"),
              list(method = run$method, gaps = paste(n_of(gaps, "observation"), if (gaps > 1) "are" else "is")))
  option <- design$option
  if (is.null(option)) option <- vapply(measure_of(run$method)$options[[1L]], `[[`, 0, "value")
  runs <- if (is.null(design$runs)) list(seq_len(n)) else unname(split(seq_len(n), design$runs))
  shortest <- min(lengths(runs))
  each <- ceiling(MIN_SEGMENTS / length(runs)) # segments of a run, half of which overlaps with the next
  size <- if (isTRUE(option[["segment"]] > 0)) option[["segment"]] else max(4, 2 * shortest %/% (each + 1))
  if (shortest < 4) {
    fail_value("method = \"", run$method, "\" needs at least 4 observations in a row; there are ", shortest)
  }
  if (size < 4 || size > shortest) {
    fail("'segment' is ", format(size), ", and must be a number of observations from 4 to ", shortest, ", those of ",
         if (length(runs) > 1L) "the shortest run" else "the series")
  }
  number <- seq_len(size %/% 2)
  if (!is.null(asked$bandpass)) {
    frequency <- number / (size * asked$tr)
    within <- asked$bandpass * c(1 - 1e-9, 1 + 1e-9)
    number <- number[frequency >= within[1L] & frequency <= within[2L]]
    if (!length(number)) {
      fail("'bandpass' has none of the frequencies of segments of ", size, " observations, multiples of ",
           format(frequency[1L], digits = 3L), " Hz; use longer ones, options = list(segment = )")
    }
  }
  apart <- option[["band"]] == 0 # coherence of each frequency, averaged
  step <- size - floor(size * option[["overlap"]])
  first <- unlist(lapply(runs, function(rows) rows[seq(1, length(rows) - size + 1, by = step)]))
  if (length(first) < 2L && (apart || length(number) < 2L)) {
    fail_value("method = \"", run$method, "\" has one segment of ", size, " observations, in which each frequency ",
               "is always coherent; use shorter segments, options = list(segment = )")
  }
  # The engine repeats the same columns for each segment, unless each differs by the regressors.
  is_repeated <- is.null(design$basis) || !ncol(design$basis)
  in_segments <- function(part) {
    if (is_repeated) return(part)
    in_blocks(rep(list(part), length(first)), lapply(first, function(from) from - 1 + seq_len(size)), seq_len(n))
  }
  bands <- if (apart) as.list(number) else list(number)
  has_phases <- option[["value"]] == 1
  time <- seq_len(size) - 1
  # The complex columns whose products with a segment, less its mean, are its Fourier coefficients at these multiples of
  # the lowest frequency, with Hann's window. The powers of both signs of a frequency count, and the highest one of an
  # even size has no other sign: all others have the root of two, or, with phases, whose size is lost, are there twice.
  basis <- do.call(cbind, lapply(bands, function(number) {
    has_both <- 2 * number < size
    if (has_phases && !all(has_both)) number <- c(number, number[has_both])
    waves <- (1 - cos(2 * pi * time / size)) / 2 * exp(-2i * pi * outer(time, number) / size)
    waves <- waves - rep(colMeans(waves), each = size)
    waves <- waves * rep(ifelse(2 * number < size, sqrt(2), 1), each = size)
    cbind(in_segments(Re(waves)), in_segments(Im(waves)))
  }))
  if (!is_repeated) { # the residuals' products with a basis are a column's with this one
    removed <- if (is.null(design$removed)) design$basis else design$removed
    fitted <- design$basis %*% crossprod(removed, basis)
    basis <- if (design$keeps) fitted else basis - fitted
  }
  design[c("basis", "removed", "keeps", "is_map", "blocks")] <- list(basis, NULL, TRUE, TRUE, length(bands))
  if (is_repeated) design$first <- as.numeric(first) - 1
  design$adjusted$spectrum <- c(length(first), size, length(number))
  design
}
