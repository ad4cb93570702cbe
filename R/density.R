# The network of a given density. Its threshold, the k-th largest weight, is found among the edges of a pass
# that keeps some more than k. From which weight on those are, a sample of the columns tells; where it
# cannot be trusted, a histogram of all pairs does.

density_edges <- function(task) {
  k <- edges_of_density(task$criterion$value, task$pairs)
  if (k > most_edges(task)) {
    fail("'density' is ", task$criterion$value, ", which makes ", format_count(k), " edges; a sparse matrix can hold ",
         format_count(constant("most edges")), "; ask for fewer, or write them to a file with file =")
  }
  edges <- sampled_edges(task, k)
  if (is.null(edges)) counted_edges(task, k) else edges
}

# Where the k-th largest weight of all pairs is, by the first of two passes.
counted_range <- function(task, k) {
  rank_range(weight_bins(histogram_pass(task, at_pass(task$settings, 1, 2)), task$sign), k)
}

# Two passes, whatever the data.
counted_edges <- function(task, k) {
  range <- counted_range(task, k)
  pass <- edge_pass(task, range$low, settings = at_pass(task$settings, 2, 2))
  kept_edges(pass, store_rank(pass, k, task))
}

# The threshold alone. Edges are stored for it only where they are few: more take two passes that store next to
# nothing.
density_threshold <- function(task) {
  k <- edges_of_density(task$criterion$value, task$pairs)
  if (k <= MOST_STORED) {
    edges <- density_edges(task)
    store_free(edges)
    return(edges$least)
  }
  range <- counted_range(task, k)
  pass <- edge_pass(task, range$low, range$high, at_pass(task$settings, 2, 2))
  store_rank(pass, k, task)
}

# Edges that whoever wants no network may store: at 12 bytes each, and a few more than are wanted, half a gigabyte.
MOST_STORED <- 2^25

edges_of_density <- function(density, pairs) ceiling(density * pairs)

# ---- a sample of the columns

# Columns to take at most, and of values; at least, where there are as many; and how many of the sample's
# pairs should be edges: of a hundredth of these little can be learnt.
SAMPLE_COLUMNS <- 2^16
SAMPLE_VALUES <- 2^24
SAMPLE_LEAST <- 1024
SAMPLE_EDGES <- 2^17

# How many edges more than k the sampled bound should leave, how many it may seem to leave, and at how many
# the pass is given up.
SAMPLE_MARGIN <- 1.15
SAMPLE_TRUST <- 2
SAMPLE_MOST <- 3

# Share of the work, for the progress bar.
SAMPLE_WORK <- 0.02

# One pass from the sampled bound on; NULL if the sample is of no use. Whatever it says, a result is exact: the
# store has all weights from `least` on, so the k-th largest of all if it has k.
sampled_edges <- function(task, k) {
  least <- sampled_least(task, k)
  if (is.null(least)) return(NULL)
  settings <- part_of(task$settings, SAMPLE_WORK, 1 - SAMPLE_WORK)
  most <- min(most_edges(task), SAMPLE_MOST * k)
  pass <- edge_pass(task, least, settings = settings, most = most, give_up = TRUE)
  if (is.null(pass)) return(NULL)
  threshold <- store_rank(pass, k, task)
  if (threshold >= least) return(kept_edges(pass, threshold))
  store_free(pass)
  NULL
}

# A weight from which on there should be a few more than k pairs, judging by a sample; NULL: there is none, or so
# many pairs tie there that it would leave far too many.
sampled_least <- function(task, k) {
  sample <- sample_task(task, k)
  if (is.null(sample) || SAMPLE_MARGIN * k > most_edges(task)) return(NULL)
  wanted <- k / task$pairs * sample$pairs
  bins <- weight_bins(histogram_pass(sample, part_of(task$settings, 0, SAMPLE_WORK)), task$sign)
  bins$error <- 0 # cheap values err to both sides, and the margin is wider
  least <- rank_range(bins, SAMPLE_MARGIN * wanted)$low
  if (sum(bins$counts[bins$upper > least]) > SAMPLE_TRUST * wanted) NULL else least
}

# The task with some of its columns; NULL if that spares nothing or says too little. Not where the
# observations that count depend on all columns.
sample_task <- function(task, k) {
  if (drops_observations(task) || task$pairs == 0) return(NULL)
  share <- k / task$pairs
  sizes <- vapply(list(task$x, task$y), sample_size, 0, share)
  pairs <- if (is.null(task$y)) pairs_of(sizes[1L]) else prod(sizes)
  if (pairs * 3 > task$pairs || share * pairs < SAMPLE_EDGES / 100) return(NULL)
  task$x <- sample_columns(task$x, sizes[1L])
  if (!is.null(task$y)) task$y <- sample_columns(task$y, sizes[2L])
  task$pairs <- pairs
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
sample_columns <- function(m, size) {
  if (size == ncol(m)) return(m)
  pick_columns(m, floor((seq_len(size) * (sqrt(5) - 1) / 2) %% 1 * ncol(m)) + 1)
}

# ---- histograms of weights

# Counts of weights between `lower` and `upper`, strongest first; a weight is outside its bin by at
# most `error`.
weight_bins <- function(histogram, sign) {
  counts <- histogram$counts
  width <- 2 / length(counts)
  edges <- (seq_along(counts) - 1) * width - 1
  if (sign == "absolute") {
    half <- seq_len(length(counts) / 2)
    counts <- counts[length(counts) / 2 + half] + rev(counts[half])
    edges <- edges[length(edges) / 2 + half]
  } else if (sign == "negative") {
    counts <- rev(counts)
  }
  list(counts = rev(counts), lower = rev(edges), upper = rev(edges) + width, error = histogram$error + 1e-9,
       total = sum(counts))
}

# Where the k-th largest weight is. Without that many, everything from 0 on.
rank_range <- function(bins, k) {
  at <- which(cumsum(bins$counts) >= k)[1L]
  if (is.na(at)) return(list(low = 0, high = 0))
  low <- max(0, bins$lower[at] - bins$error)
  list(low = low, high = max(low, bins$upper[at] + bins$error))
}
