# The network of a given density. Its threshold is the k-th largest weight of all pairs, where k is the number of edges.
# One pass stores edges and raises its min weight when it has more than k; a sample of the columns provides the initial
# min weight.

# Returns the edges of the largest density, which include those of all others.
density_edges <- function(run) {
  k <- check_density(run, ", or write them to a file with file =")
  edges <- sampled_edges(run, k)
  if (is.null(edges)) strongest_edges(run, k, 0) else edges
}

# Returns the number of edges of the largest density, or stops if the result cannot hold them.
check_density <- function(run, hint = "") {
  density <- max(run$criterion$value)
  k <- edges_of_density(density, run$pairs)
  if (k <= max_edges(run)) return(k)
  fail("'density' is ", density, ", which makes ", format_count(k), " edges; a sparse matrix can hold ",
       format_count(constant("max edges")), "; ask for fewer", hint)
}

# Finds the k strongest edges in one pass with min weight `min_weight`, which the pass raises to the k-th largest weight
# seen, so that it never stores many more than k. Returns NULL if fewer than k pairs reach `min_weight`.
strongest_edges <- function(run, k, min_weight) {
  pass <- edge_pass(run, min_weight, max = 2^53, wanted = k)
  threshold <- store_rank(pass, k, run)
  if (threshold >= min_weight) return(kept_edges(pass, threshold))
  store_free(pass)
  NULL
}

# Returns the threshold of each density, without networks. Edges are stored only if they are few; otherwise each density
# takes two passes that store almost nothing: one finds the range of the threshold, the other ranks the weights in it.
density_thresholds <- function(run) {
  run <- with_criterion(run, stays = "counted")
  values <- run$criterion$value
  if (edges_of_density(max(values), run$pairs) <= MAX_STORED) {
    edges <- density_edges(run)
    levels <- density_levels(edges, values, run)
    store_free(edges)
    return(levels)
  }
  vapply(values, FUN.VALUE = 0, function(density) {
    k <- edges_of_density(density, run$pairs)
    histogram <- perform(at_pass(run, 1, 2, "histogram of the coefficients"), "histogram")
    range <- rank_range(weight_bins(histogram, run$criterion$sign), k)
    pass <- edge_pass(at_pass(run, 2, 2, "threshold"), range$low, range$high)
    store_rank(pass, k, run)
  })
}

density_levels <- function(edges, values, run) {
  vapply(values, function(density) store_rank(edges, edges_of_density(density, run$pairs), run), 0)
}

# Max number of edges to store for thresholds alone: at 12 bytes and with some surplus, half a gigabyte.
MAX_STORED <- 2^25

# ---- a sample of the columns

# Max number of columns and of values in a sample, min number of columns if there are as many, and number of the
# sample's pairs that suffice as edges.
SAMPLE_COLUMNS <- 2^16
SAMPLE_VALUES <- 2^24
MIN_SAMPLE <- 128
SAMPLE_EDGES <- 2^17

# The sampled bound should leave more than k edges. The margin is this fraction divided by the root of the number of
# sampled columns, as dependence among columns is sampled by columns, plus a number of sampled edges. On genes and
# factor models a bound for k itself leaves 0.78 k to 1.9 k edges; the margin is twice what that requires.
SAMPLE_MARGIN <- 25
SAMPLE_MORE <- 64

# Fraction of the work, for the progress bar.
SAMPLE_WORK <- 0.02

# Finds the k strongest edges from a sampled bound. Returns NULL if there is no bound, or it leaves fewer than k edges.
sampled_edges <- function(run, k) {
  min_weight <- sampled_min(run, k)
  if (is.null(min_weight)) return(NULL)
  strongest_edges(part_of(run, SAMPLE_WORK, 1 - SAMPLE_WORK, "edges"), k, min_weight)
}

# Returns a weight that slightly more than k pairs should reach according to a sample, or NULL. Where weights are so
# small that the histogram has few bins for them, those of the sample are ranked; a bound for these comes from all
# weights of a smaller sample.
sampled_min <- function(run, k) {
  sample <- sample_run(run, k)
  if (is.null(sample)) return(NULL)
  fraction <- k / run$pairs
  # the rank in the sample of the weight that should leave that fraction of all pairs
  rank_in <- function(sample) (1 + SAMPLE_MARGIN / sqrt(sample$over$sampled)) * fraction * sample$pairs + SAMPLE_MORE
  sample <- part_of(sample, 0, SAMPLE_WORK, "sample of the columns")
  bins <- weight_bins(perform(sample, "histogram"), run$criterion$sign)
  bins$error <- 0 # approximate values err to both sides, by less than the margin
  min_weight <- rank_range(bins, rank_in(sample))$low
  if (min_weight >= MIN_BINS * bins$width || !is.null(run$mask)) return(min_weight)
  small <- sample_run(run, k, MAX_RANKED)
  if (is.null(small)) return(min_weight)
  bound <- 0
  for (ranked in list(part_of(small, 0, SAMPLE_WORK, "sample of the columns"), sample)) {
    edges <- strongest_edges(at_home(ranked), ceiling(rank_in(ranked)), bound) # a plan computes samples again
    if (is.null(edges)) next # fewer of the sample's pairs reach the bound
    store_free(edges)
    bound <- edges$threshold
  }
  bound
}

# Min number of bins, and max number of columns of the smaller sample.
MIN_BINS <- 100
MAX_RANKED <- 500

# Returns the run with some of its columns, or NULL if that saves nothing, or observations or values depend on all
# columns.
sample_run <- function(run, k, limit = SAMPLE_COLUMNS) {
  if (drops_observations(run) || run$pairs == 0 || !is.null(run$overlap)) return(NULL)
  fraction <- k / run$pairs
  sizes <- vapply(list(run$x, run$y), sample_size, 0, fraction, limit)
  pairs <- if (is.null(run$y)) pairs_of(sizes[1L]) else prod(sizes)
  if (pairs * 3 > run$pairs) return(NULL)
  with_columns(run, sampled_columns(run$x, sizes[1L]), sampled_columns(run$y, sizes[2L]),
               sampled = min(sizes[sizes > 0]))
}

# Returns the number of columns to sample, or all of them if a third is not enough.
sample_size <- function(m, fraction, limit = SAMPLE_COLUMNS) {
  if (is.null(m)) return(0)
  enough <- min(ncol(m) / 8, sqrt(2 * SAMPLE_EDGES / fraction))
  size <- floor(min(limit, SAMPLE_VALUES / max(1, nrow(m)), max(MIN_SAMPLE, enough)))
  if (3 * size < ncol(m)) size else ncol(m)
}

# ---- histograms of weights

# Returns counts of weights, strongest first. Bin b covers 1 - b * width to 1 - (b - 1) * width, plus or minus `error`.
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

# Returns the range of the k-th largest weight, or list(low = 0, high = 0) if there are fewer than k.
rank_range <- function(bins, k) {
  at <- which(cumsum(bins$counts) >= k)[1L]
  if (is.na(at)) return(list(low = 0, high = 0))
  low <- max(0, 1 - at * bins$width - bins$error)
  list(low = low, high = max(low, 1 - (at - 1) * bins$width + bins$error))
}
