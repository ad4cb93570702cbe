# The list of a network's edges: its order, and its columns of names.

# As it is documented, by R alone.
listed <- function(net) {
  from <- net@i + 1L
  to <- rep.int(seq_len(length(net@p) - 1L), diff(net@p))
  order <- order(-abs(net@x), from, to, method = "radix")
  name <- function(at, names) if (is.null(names)) at else names[at]
  data.frame(from = name(from[order], net@Dimnames[[1]]), to = name(to[order], net@Dimnames[[2]]), r = net@x[order])
}

# The network of r's pairs with these values, as if it had been computed.
network_with <- function(values, n_var, names = NULL) {
  net <- gpuCorNetwork(normal(5, n_var), threshold = 0)
  stopifnot(length(net@x) == length(values))
  net@x <- values
  net@Dimnames <- list(names, names)
  net
}

test_that("edges are listed strongest first, then by from and to, by any number of threads", {
  n_var <- 300
  pairs <- choose(n_var, 2)
  set.seed(1)
  spread <- tanh(rnorm(pairs) / 3)
  values <- list(spread = spread, levels = round(spread, 1), equal = rep(-0.5, pairs),
                 both_signs = rep_len(c(0.5, -0.5, 0.25), pairs), zeros = rep_len(c(0, -0, 1, -1), pairs),
                 alike = 0.5 + 1e-14 * round(100 * spread), tiny = spread * 1e-300, huge = spread * 1e300,
                 beyond = replace(spread, c(5, 500, 5000), c(NaN, Inf, -Inf)),
                 missing = ifelse(spread > 0.2, NA, ifelse(spread < -0.2, NaN, spread)), all_missing = rep(NaN, pairs))
  for (kind in names(values)) {
    net <- network_with(values[[kind]], n_var)
    truth <- listed(net)
    for (threads in c(1, 2, 5)) {
      edges <- with_options(list(gpucor.threads = threads), as.data.frame(net))
      expect_identical(edges, truth, label = paste(kind, threads))
      expect_identical(is.na(edges$r) & !is.nan(edges$r), is.na(truth$r) & !is.nan(truth$r))
    }
  }
})

test_that("edges are listed as R would, for real networks of every shape", {
  x <- `colnames<-`(rounded(7, 60), paste0("g", 1:60))
  for (method in all_methods) for (sign in all_signs) {
    net <- gpuCorNetwork(x, threshold = 0.4, method = method, sign = sign)
    expect_identical(as.data.frame(net), listed(net))
    expect_identical(gpuCorNetwork(x, threshold = 0.4, method = method, sign = sign, output = "edges"), listed(net))
    net <- gpuCorNetwork(x[, 1:20], x[, 11:60], threshold = 0.4, method = method, sign = sign)
    expect_identical(as.data.frame(net), listed(net))
  }
  half <- gpuCorNetwork(x[, 1:20], unname(x[, 21:60]), threshold = 0.2)
  expect_identical(as.data.frame(half), listed(half))
  expect_type(as.data.frame(half)$from, "character")
  expect_type(as.data.frame(half)$to, "integer")
  none <- gpuCorNetwork(x[, 1:3], threshold = 1)
  expect_identical(as.data.frame(none), data.frame(from = character(), to = character(), r = numeric()))
  one <- gpuCorNetwork(x[, 1:2], threshold = 0)
  expect_identical(as.data.frame(one), data.frame(from = "g1", to = "g2", r = one@x))
})

test_that("a network that was changed is an error, and nothing beyond it is read", {
  net <- gpuCorNetwork(normal(5, 10), threshold = 0)
  change <- function(slot, value) {
    methods::slot(net, slot, check = FALSE) <- value
    as.data.frame(net)
  }
  for (p in list(integer(), c(0L, 1e6L), replace(net@p, 11, 1e6L), replace(net@p, 3, 50L), replace(net@p, 1, 1L),
                 replace(net@p, 5, NA), as.numeric(net@p))) {
    expect_error(change("p", p), "'x' is a damaged matrix of class gpuCorNetwork")
  }
  expect_error(change("x", net@x[-1]), "is a damaged matrix")
  expect_error(change("i", net@i[-1]), "is a damaged matrix")
  expect_error(change("i", replace(net@i, 1, -5L)), "is a damaged matrix")
  expect_error(change("Dimnames", list(letters[1:2], NULL)), "is a damaged matrix")
})

test_that("a list of edges fails cleanly wherever memory fails", {
  net <- gpuCorNetwork(normal(5, 100), threshold = 0.2)
  messages <- walk_failures(function() as.data.frame(net), "host", "edges")
  expect_match(unique(messages), "memory for a list of edges")
})

# ---- columns of names

test_that("a list of edges with names does what a data frame does", {
  x <- `colnames<-`(normal(6, 12), letters[1:12])
  net <- gpuCorNetwork(x, threshold = 0.5)
  edges <- function() as.data.frame(net)
  truth <- listed(net)
  file <- tempfile()
  on.exit(unlink(file))
  saveRDS(edges(), file)
  expect_identical(readRDS(file), truth)
  expect_identical(edges()[edges()$r > 0.6, ], truth[truth$r > 0.6, ])
  expect_identical(subset(edges(), from == "a"), truth[truth$from == "a", ])
  expect_identical(edges()[order(edges()$to, edges()$from), ], truth[order(truth$to, truth$from), ])
  expect_identical(rbind(edges(), edges()), rbind(truth, truth))
  numbers <- data.frame(from = letters, n = 1:26)
  expect_identical(merge(edges(), numbers), merge(truth, numbers))
  expect_identical(aggregate(r ~ from, edges(), mean), aggregate(r ~ from, truth, mean))
  expect_identical(table(edges()$from, edges()$to), table(truth$from, truth$to))
  changed <- edges()
  changed$from[2] <- "new"
  expect_identical(changed$from, replace(truth$from, 2, "new"))
  expect_identical(colnames(x), letters[1:12])
  expect_identical(edges(), truth)
  expect_identical(utils::capture.output(print(edges())), utils::capture.output(print(truth)))
})

test_that("names are picked by their numbers, which must be there", {
  names <- c("b", "a", NA, "\u00e9", "a", "")
  numbers <- c(1L, 2L, 6L, 5L, 4L, 1L, 1L, 3L, 2L)
  expect_identical(names_at(numbers, names), names[numbers])
  expect_identical(names_at(numbers, NULL), numbers)
  expect_identical(names_at(integer(), names), character())
  expect_identical(names_at(integer(), character()), character())
  for (bad in list(0L, 7L, NA_integer_, -1L)) expect_error(names_at(c(1L, bad), names), "there is no name")
})

test_that("names of many rows, which are looked up when they are read, are what R picks", {
  names <- c("b", "a", NA, "\u00e9", "a", "")
  numbers <- rep_len(c(1L, 2L, 6L, 5L, 4L, 1L, 3L), 10000)
  truth <- names[numbers]
  many <- function() names_at(numbers, names)
  expect_identical(many(), truth)
  expect_identical(many()[c(10000, NA, 3, 10001)], truth[c(10000, NA, 3, 10001)])
  expect_identical(unserialize(serialize(many(), NULL)), truth)
  copy <- whole <- many()
  copy[7] <- "new"
  expect_identical(copy, replace(truth, 7, "new"))
  expect_identical(whole, truth)
  expect_identical(order(whole), order(truth)) # R asks for a pointer
  expect_identical(whole, truth)
  other <- whole
  other[[10000]] <- "last"
  expect_identical(other, replace(truth, 10000, "last"))
  gc()
  expect_identical(whole, truth)
  expect_identical(names, c("b", "a", NA, "\u00e9", "a", ""))
  for (bad in list(0L, 7L, NA_integer_)) expect_error(names_at(c(numbers, bad), names), "there is no name")
})
