# The network of a given density. Its threshold is the k-th largest weight of all pairs: the edges of a pass that raises
# the weight from which on it keeps any as it finds more than k. A sample of the columns tells where to begin.

density_edges <- function(task) {
  k <- edges_of_density(task$criterion$value, task$pairs)
  if (k > most_edges(task)) {
    fail("'density' is ", task$criterion$value, ", which makes ", format_count(k), " edges; a sparse matrix can hold ",
         format_count(constant("most edges")), "; ask for fewer, or write them to a file with file =")
  }
  edges <- sampled_edges(task, k)
  if (is.null(edges)) strongest_edges(task, k, 0, task$settings) else edges
}

# One pass from `least` on, where edges begin at first: as they come in, the k-th largest weight of those seen says
# where they begin from then on, so that there are never many more than k. NULL if fewer than k are from `least` on.
strongest_edges <- function(task, k, least, settings) {
  pass <- edge_pass(task, least, settings = settings, most = 2^53, wanted = k)
  threshold <- store_rank(pass, k, task)
  if (threshold >= least) return(kept_edges(pass, threshold))
  store_free(pass)
  NULL
}

# Where the k-th largest weight of all pairs is, by the first of two passes.
counted_range <- function(task, k) {
  settings <- at_pass(task$settings, 1, 2, "histogram of the coefficients")
  rank_range(weight_bins(histogram_pass(task, settings), task$sign), k)
}

# The thresholds alone, one for each density. Edges are stored for them only where they are few: more take two passes
# that store next to nothing, for each density.
density_thresholds <- function(task) {
  task$stays <- "counted"
  values <- task$criterion$value
  if (!are_few(task)) return(vapply(values, function(density) many_threshold(task, density), 0))
  edges <- density_edges(loosest_density(task))
  levels <- density_levels(edges, values, task)
  store_free(edges)
  levels
}

many_threshold <- function(task, density) {
  k <- edges_of_density(density, task$pairs)
  range <- counted_range(task, k)
  pass <- edge_pass(task, range$low, range$high, at_pass(task$settings, 2, 2, "threshold"))
  store_rank(pass, k, task)
}

# Of several densities the largest, which has the edges of all of them.
loosest_density <- function(task) {
  task$criterion$value <- max(task$criterion$value)
  task
}

are_few <- function(task) edges_of_density(max(task$criterion$value), task$pairs) <= MOST_STORED

# Edges that whoever wants no network may store: at 12 bytes each, and a few more than are wanted, half a gigabyte.
MOST_STORED <- 2^25

# ---- a sample of the columns

# Columns to take at most, and of values; at least, where there are as many; and how many of the sample's
# pairs are edges enough.
SAMPLE_COLUMNS <- 2^16
SAMPLE_VALUES <- 2^24
SAMPLE_LEAST <- 128
SAMPLE_EDGES <- 2^17

# The sampled bound should leave more than k edges: by this share where a single column is sampled, which falls with
# the root of their number, as what columns have in common is sampled by columns; and so many more of the sample's own.
# On genes and factor models a bound for k itself leaves 0.78 k to 1.9 k, and the margin is twice what that asks for.
SAMPLE_MARGIN <- 25
SAMPLE_MORE <- 64

# Share of the work, for the progress bar.
SAMPLE_WORK <- 0.02

# From a sampled bound on; NULL if there is none, or the sample was so unlike all the pairs that fewer than k are there.
sampled_edges <- function(task, k) {
  least <- sampled_least(task, k)
  if (is.null(least)) return(NULL)
  strongest_edges(task, k, least, part_of(task$settings, SAMPLE_WORK, 1 - SAMPLE_WORK, "edges"))
}

# A weight from which on there should be some more than k pairs, judging by a sample; NULL: there is none.
sampled_least <- function(task, k) {
  sample <- sample_task(task, k)
  if (is.null(sample)) return(NULL)
  wanted <- k / task$pairs * sample$pairs
  settings <- part_of(task$settings, 0, SAMPLE_WORK, "sample of the columns")
  bins <- weight_bins(histogram_pass(sample, settings), task$sign)
  bins$error <- 0 # cheap values err to both sides, and the margin is wider
  rank_range(bins, (1 + SAMPLE_MARGIN / sqrt(sample$size)) * wanted + SAMPLE_MORE)$low
}

# The task with some of its columns; NULL if that spares nothing. Not where the
# observations that count, or the values, depend on all columns.
sample_task <- function(task, k) {
  if (drops_observations(task) || task$pairs == 0 || !is.null(task$settings$overlap)) return(NULL)
  share <- k / task$pairs
  sizes <- vapply(list(task$x, task$y), sample_size, 0, share)
  pairs <- if (is.null(task$y)) pairs_of(sizes[1L]) else prod(sizes)
  if (pairs * 3 > task$pairs) return(NULL)
  columns <- list(x = sampled_columns(task$x, sizes[1L]), y = sampled_columns(task$y, sizes[2L]))
  for (name in names(columns)) {
    if (!is.null(columns[[name]])) task[[name]] <- pick_columns(task[[name]], columns[[name]])
  }
  task$settings["pairs"] <- list(pick_pairs(task$settings$pairs, columns$x, columns$y))
  task$pairs <- count_pairs_of(task$x, task$y, task$settings)
  task$size <- min(sizes[sizes > 0])
  task$is_sample <- TRUE
  task
}

# All columns where a third of them would not do.
sample_size <- function(m, share) {
  if (is.null(m)) return(0)
  enough <- min(ncol(m) / 8, sqrt(2 * SAMPLE_EDGES / share))
  size <- floor(min(SAMPLE_COLUMNS, SAMPLE_VALUES / max(1, nrow(m)), max(SAMPLE_LEAST, enough)))
  if (3 * size < ncol(m)) size else ncol(m)
}

# Multiples of the golden ratio, modulo 1, are spread evenly over the columns and in step with no pattern of theirs.
# No column comes twice, as their least distance is a third of the mean one.
# NULL: all of them.
sampled_columns <- function(m, size) {
  if (is.null(m) || size == ncol(m)) return(NULL)
  floor((seq_len(size) * (sqrt(5) - 1) / 2) %% 1 * ncol(m)) + 1
}

sample_columns <- function(m, size) {
  columns <- sampled_columns(m, size)
  if (is.null(columns)) m else pick_columns(m, columns)
}

# ---- histograms of weights

# Counts of weights, strongest first: bin b's are at most `error` outside of 1 - b * width to 1 - (b - 1) * width.
weight_bins <- function(histogram, sign) {
  counts <- histogram$counts
  width <- 2 / length(counts)
  if (sign == "absolute") {
    half <- seq_len(length(counts) / 2)
    counts <- counts[half] + counts[length(counts) + 1 - half]
  } else if (sign == "positive") {
    counts <- rev(counts)
  }
  list(counts = counts, width = width, error = histogram$error + 1e-9)
}

# Where the k-th largest weight is. Without that many, everything from 0 on.
rank_range <- function(bins, k) {
  at <- which(cumsum(bins$counts) >= k)[1L]
  if (is.na(at)) return(list(low = 0, high = 0))
  low <- max(0, 1 - at * bins$width - bins$error)
  list(low = low, high = max(low, 1 - (at - 1) * bins$width + bins$error))
}

# The threshold of each density, from the edges of the largest.
density_levels <- function(edges, values, task) {
  vapply(values, function(density) store_rank(edges, edges_of_density(density, task$pairs), task), 0)
}
