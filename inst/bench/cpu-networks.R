# Rows of cpu.R about computations on pairs: networks, sums, tests, and plots. Each runs in a process of its own, and is
# compared with a simpler call there, or measured in seconds.

# A unit of work: its data, objects prepared beforehand, the call, and the call that it is compared with (NULL: none);
# both calls get the data and the prepared objects. must: the required ratio or, without comparison, the required
# seconds. method: of the pairs, if the call computes them all.
work <- function(data, call, against = NULL, made = function(x) NULL, must = NA, method = "pearson", computes = TRUE) {
  list(data = data, call = call, against = against, made = made, must = must, method = method, computes = computes)
}

network <- function(x, ...) gpuCorNetwork(x, ..., backend = "cpu", threads = all_threads)
sums <- function(x, ...) gpuConnectivity(x, ..., backend = "cpu", threads = all_threads)
# The smallest |r| that a given fraction of the pairs of independent columns reaches.
reached_by <- function(share, n_obs) {
  t <- stats::qt(share / 2, n_obs - 2, lower.tail = FALSE)
  t / sqrt(n_obs - 2 + t^2)
}

# A description of columns of kind `kind`; fewer columns with --quick.
genes <- function(n_var, n_obs, kind = "genes") {
  list(kind = kind, n_var = if (quick) n_var %/% 4 else n_var, n_obs = n_obs)
}

# Genes share a few programs, with different loadings.
work_data <- function(data) {
  if (data$kind %in% c("ALL", "golub")) {
    found <- new.env()
    package <- if (data$kind == "ALL") "ALL" else "multtest"
    utils::data(list = data$kind, package = package, envir = found)
    return(t(if (data$kind == "ALL") Biobase::exprs(found$ALL) else found$golub))
  }
  set.seed(22)
  x <- matrix(stats::rnorm(data$n_obs * data$n_var), data$n_obs)
  if (data$kind == "normal") return(x)
  programs <- matrix(stats::rnorm(data$n_obs * 10), data$n_obs)
  x <- x + programs %*% matrix(stats::rnorm(10 * data$n_var, sd = 0.3), 10)
  if (data$kind == "ties") round(2 * x) / 2 else x
}

dense <- function(share, must) {
  data <- genes(12001, 57, "normal")
  work(data, function(x, made) network(x, threshold = reached_by(share, 57)), must = must)
}
strongest <- function(data, method) {
  work(data, function(x, made) network(x, density = 0.001, method = method),
       function(x, made) network(x, threshold = made, method = method),
       function(x) network(x, density = 0.001, method = method)@threshold, must = 1.2, method = method)
}
sums_of_edges <- function(n_var, n_obs) {
  least <- reached_by(0.001, n_obs)
  work(genes(n_var, n_obs), function(x, made) sums(x, threshold = least),
       function(x, made) network(x, threshold = least), must = 1.2)
}

# Work on an existing result.
shown <- function(n_var, call, must, made) {
  work(genes(n_var, 57, "normal"), call, made = made, must = must, computes = FALSE)
}

works <- function() {
  list(
    "sums over edges, 22,283 x 57" = sums_of_edges(22283, 57),
    "sums over edges, 40,000 x 200" = sums_of_edges(40000, 200),
    "sums over the strongest 1 %" = work(genes(22283, 57), function(x, made) sums(x, density = 0.01),
                                         function(x, made) network(x, density = 0.01), must = 1.2),
    "strongest 0.1 %, 22,283 x 57" = strongest(genes(22283, 57), "pearson"),
    "strongest 0.1 %, ALL" = strongest(list(kind = "ALL"), "pearson"),
    "strongest 0.1 %, ALL, Spearman" = strongest(list(kind = "ALL"), "spearman"),
    "strongest 0.1 %, ALL, Kendall" = strongest(list(kind = "ALL"), "kendall"),
    "strongest 0.1 %, golub" = strongest(list(kind = "golub"), "pearson"),
    "16 of 72 million are edges" = dense(16 / 72, 0.3),
    "35 of 72 million are edges" = dense(35 / 72, 0.5),
    "59 of 72 million are edges" = dense(59 / 72, 0.7),
    "fdr = 0.01, Kendall with ties" = work(genes(22283, 57, "ties"), method = "kendall", must = 3,
                                           function(x, made) network(x, fdr = 0.01, method = "kendall")),
    "print() of 35 million edges" = shown(12001, function(x, made) quietly(print(made)), 0.05,
                                          function(x) network(x, threshold = reached_by(35 / 72, 57))),
    "as.data.frame() of 20 million" = shown(12001, function(x, made) as.data.frame(made), 0.6,
                                            function(x) network(x, threshold = reached_by(20 / 72, 57))),
    "summary() of 248 million pairs" = shown(22283, function(x, made) summary(made), 1, function(x) {
      gpuCor(x, backend = "cpu", threads = all_threads)
    }),
    "32 half powers, 6,000 x 100" = work(genes(6000, 100), must = 4, function(x, made) {
      pickPower(x, seq(0.5, 16, 0.5), backend = "cpu", threads = all_threads)
    }),
    "tests of 4,000 x 128" = work(genes(4000, 128), must = 0.5, function(x, made) {
      gpuCorTest(x, backend = "cpu", threads = all_threads)
    }),
    "60 x 94, default threads" = work(list(kind = "normal", n_var = 94, n_obs = 60), must = 0.0005,
                                      function(x, made) gpuCor(x, backend = "cpu"), function(x, made) stats::cor(x))
  )
}

# ---- a measurement

# The best and the slowest of some calls: up to a hundred short ones, or one long one.
best_seconds <- function(call) {
  all <- numeric()
  size <- 0
  while (length(all) < 3 || length(all) < 100 && sum(all) < (if (quick) 0.5 else 3)) {
    now <- one_call(call)
    size <- as.numeric(utils::object.size(now$result))
    all <- c(all, now$seconds)
    now <- NULL
    if (sum(all) > 30) break
  }
  list(seconds = min(all), slowest = max(all), size = size)
}

measure_work <- function(task) {
  quietly(library(gpucor))
  all_threads <<- task$work_threads
  own <- works()[[task$name]]
  x <- work_data(own$data)
  made <- own$made(x)
  found <- best_seconds(function(...) own$call(x, made))
  against <- if (!is.null(own$against)) best_seconds(function(...) own$against(x, made))$seconds
  c(found, list(against = c(against, NA)[1], n_var = ncol(x), n_obs = nrow(x)))
}

# ---- the report

# The floor: products, if there are any, as floats or counts of bits, and fresh memory for the result.
work_floor <- function(own, found) {
  data <- if (identical(own$data$kind, "ties")) "ties" else "normal"
  task <- list(kind = "network", method = own$method, n_var = found$n_var, n_obs = found$n_obs, data = data)
  (if (own$computes) unit_seconds(task)[[1]] else 0) + found$size / rates$fill
}

WORK_COLUMNS <- "  %-32s %9s %9s %9s %9s %7s %9s %4s"
work_line <- function(name, own, found) {
  if (!is.null(found$error)) return(say(name, ": ", found$error, indent = 2))
  ratio <- found$seconds / found$against
  compared <- !is.na(found$against) && own$must > 1
  reached <- if (compared) ratio <= own$must else found$seconds <= own$must
  fields(WORK_COLUMNS, name, number(found$seconds), number(found$slowest), number(work_floor(own, found)),
         number(found$against), number(ratio), judge(name, own$must, if (compared) "x" else "s", reached))
}

networks_part <- function() {
  heading("Networks, sums and tests, and what is shown of them: seconds")
  fields(WORK_COLUMNS, "", "seconds", "slowest", "floor", "against", "ratio", "must", "met")
  all <- works()
  for (name in names(all)) {
    package <- c(ALL = "ALL", golub = "multtest")[all[[name]]$data$kind]
    if (!is.na(package) && !has(package)) {
      say(name, ": package ", package, " is not installed", indent = 2)
      next
    }
    work_line(name, all[[name]], measure_apart(list(who = "work", name = name, work_threads = all_threads,
                                                    threads = NA)))
  }
  say("Sums are against the network of the same edges, the strongest against the network by the threshold that is ",
      "found, 60 x 94 against stats::cor. Simulated genes but for ALL and golub.")
  emit("")
}
