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
    expect_error(change("p", p), "slots p, i and x do not belong together")
  }
  expect_error(change("x", net@x[-1]), "do not belong together")
  expect_error(change("i", net@i[-1]), "do not belong together")
  expect_error(change("Dimnames", list(letters[1:2], NULL)), "there is no name")
  change("i", replace(net@i, 1, -5L))
  expect_error({
    net@Dimnames <- list(letters[1:10], NULL)
    change("i", replace(net@i, 1, -5L))
  }, "there is no name -4 of 10")
})

test_that("a list of edges fails cleanly wherever memory fails", {
  net <- gpuCorNetwork(normal(5, 100), threshold = 0.2)
  messages <- walk_failures(function() as.data.frame(net), "host", "edges")
  expect_match(unique(messages), "memory for a list of edges")
})

# ---- columns of names

names_at <- function(numbers, names) .Call(gpucor:::r_names_at, numbers, names)
some_names <- c("b", "a", NA, "\u00e9", "a", "")
some_numbers <- c(1L, 2L, 6L, 5L, 4L, 1L, 1L, 3L, 2L)

# Before and after all elements were in memory: an argument of f(), and the plain vector.
expect_as_plain <- function(f) {
  label <- paste(deparse(substitute(f)), collapse = " ")
  plain <- some_names[some_numbers]
  truth <- f(plain)
  x <- names_at(some_numbers + 0L, some_names)
  expect_output(.Internal(inspect(x)), "compact")
  expect_identical(f(x), truth, label = label)
  expect_identical(x, plain, label = paste(label, "leaves it as it was, which"))
  x <- names_at(some_numbers + 0L, some_names)
  x[2] <- x[2]
  expect_output(.Internal(inspect(x)), "expanded")
  expect_identical(f(x), truth, label = paste(label, "of an expanded one"))
}

test_that("names by their numbers are a character vector to everybody", {
  expect_identical(names_at(some_numbers, some_names), some_names[some_numbers])
  expect_as_plain(length)
  expect_as_plain(function(x) x[c(3, NA, 1, 20)])
  expect_as_plain(function(x) x[-1])
  expect_as_plain(function(x) x[[4]])
  expect_as_plain(function(x) x[x == "a" & !is.na(x)])
  expect_as_plain(order)
  expect_as_plain(function(x) sort(x, decreasing = TRUE, na.last = TRUE))
  expect_as_plain(rev)
  expect_as_plain(function(x) paste(x, x, sep = "-"))
  expect_as_plain(function(x) paste0("g", x, collapse = ""))
  expect_as_plain(nchar)
  expect_as_plain(toupper)
  expect_as_plain(function(x) sub("a", "z", x))
  expect_as_plain(function(x) unlist(strsplit(x, "")))
  expect_as_plain(is.na)
  expect_as_plain(anyNA)
  expect_as_plain(unique)
  expect_as_plain(duplicated)
  expect_as_plain(function(x) table(x, useNA = "always"))
  expect_as_plain(factor)
  expect_as_plain(function(x) factor(x, levels = c("a", "b")))
  expect_as_plain(function(x) match(x, c("a", NA)))
  expect_as_plain(function(x) match(c("a", NA), x))
  expect_as_plain(function(x) x %in% "a")
  expect_as_plain(function(x) split(seq_along(x), x))
  expect_as_plain(function(x) c(x, "z"))
  expect_as_plain(function(x) ifelse(is.na(x), "none", x))
  expect_as_plain(function(x) suppressWarnings(as.numeric(x)))
  expect_as_plain(as.list)
  expect_as_plain(function(x) vapply(x, function(e) paste0(e, "."), ""))
  expect_as_plain(function(x) matrix(x, 3))
  expect_as_plain(function(x) stats::setNames(x, x))
  expect_as_plain(function(x) identical(x, some_names[some_numbers]))
  expect_as_plain(function(x) unserialize(serialize(x, NULL)))
  expect_as_plain(function(x) unserialize(serialize(x, NULL, ascii = TRUE)))
  expect_as_plain(function(x) unserialize(serialize(x, NULL, version = 2)))
  expect_as_plain(function(x) utils::capture.output(print(x), utils::str(x)))
  expect_as_plain(function(x) structure(x, class = "own", about = 1))
  expect_as_plain(function(x) {
    y <- x
    y[2:3] <- c("new", NA) # x stays
    y[12] <- "far"
    y
  })
  expect_as_plain(function(x) {
    y <- x
    y[[1]] <- "one"
    z <- y
    z[[2]] <- "two"
    list(x, y, z)
  })
  expect_identical(names_at(integer(), some_names), character())
  expect_identical(names_at(integer(), character()), character())
  expect_false(anyNA(names_at(1:2, some_names)))
  expect_true(anyNA(names_at(1:3, some_names)))
  for (bad in list(0L, 7L, NA_integer_, -1L)) expect_error(names_at(bad, some_names), "there is no name")
  expect_error(names_at(1, some_names), "chosen by whole numbers")
  expect_error(names_at(1L, 1:3), "chosen by whole numbers")
})

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

test_that("names by their numbers outlive collections at any time", {
  make <- function() names_at(c(2L, 1L, 2L), paste0("n", 1:2))
  swapped <- c(2L, 1L, 3L)
  on.exit(gctorture(FALSE))
  gctorture(TRUE)
  x <- make()
  y <- x
  y[1] <- "z"
  picked <- make()[swapped]
  z <- make()
  z[[3]] <- "last"
  back <- unserialize(serialize(x, NULL))
  gctorture(FALSE)
  expect_identical(x, c("n2", "n1", "n2"))
  expect_identical(y, c("z", "n1", "n2"))
  expect_identical(picked, c("n1", "n2", "n2"))
  expect_identical(z, c("n2", "n1", "last"))
  expect_identical(back, x)
})
