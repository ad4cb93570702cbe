# The network of many subjects' mean z, compared with as many networks of single subjects.
#
#   Rscript inst/bench/subjects.R [backend] [N] [n_obs] [subjects] [density] [--list] [--record]
#
# Default: 7 subjects of 12,000 variables x 200 on a CPU, and 100 of 91,282 x 300 on a GPU, at 0.1 %. An R function
# generates one subject at a time, as if read from files; --list: subjects are a list in memory.
#
# made     seconds that generating all subjects' data takes alone
# floor    seconds of as many networks of one subject each: of all subjects on a CPU, of the first one times their
#          number on a GPU
# seconds  of the network of all subjects minus the time for generating them; ratio: to the floor
# CPU      the same in CPU time, user and system, which is meaningful on a shared machine
# --record writes the output to results/subjects-BACKEND.txt beside this script.
# Each is the best of eight runs, interleaved; on a GPU of two, as its first run starts the driver.
arguments <- commandArgs(TRUE)
suppressPackageStartupMessages(library(gpucor))
here <- dirname(normalizePath(sub("^--file=", "", grep("^--file=", commandArgs(), value = TRUE))))
for (file in c("record.R", "seconds.R")) source(file.path(here, file))

of_list <- "--list" %in% arguments
positional <- grep("^--", arguments, value = TRUE, invert = TRUE)
given <- function(k, default) if (length(positional) >= k) as.numeric(positional[k]) else default
backend <- if (length(positional)) positional[1L] else gpuInfo()$backends[1L]
on_gpu <- backend == "cuda"
n_var <- given(2L, if (on_gpu) 91282 else 12000)
n_obs <- given(3L, if (on_gpu) 300 else 200)
n <- given(4L, if (on_gpu) 100 else 7)
density <- given(5L, 0.001)
times <- if (on_gpu) 2L else 8L

# Each subject has other noise, made by shifting columns, and signals common to all.
set.seed(1)
noise <- matrix(rnorm(n_obs * n_var), n_obs)
loading <- matrix(rnorm(5 * n_var, sd = 0.3), 5)
make_subject <- function(i) {
  moved <- (seq_len(n_var) + 997 * i - 1) %% n_var + 1
  noise[, moved] + matrix(rnorm(5 * n_obs), n_obs) %*% loading
}

network <- function(x, ...) gpuCorNetwork(x, density = density, backend = backend, ...)

subjects <- if (of_list || !on_gpu) lapply(seq_len(n), make_subject)
invisible(network(make_subject(1)[, seq_len(min(n_var, 5000))]))
one <- if (on_gpu) make_subject(1)
floor_work <- function() if (on_gpu) network(one) else for (x in subjects) network(x)
net <- NULL
our_work <- function() {
  net <<- if (of_list) {
    network(subjects, combine = "fisher")
  } else {
    network(make_subject, combine = "fisher", subjects = n)
  }
}
# Interleaved, as the machine may be slower for a while.
floor <- ours <- c(elapsed = Inf, cpu = Inf)
for (k in seq_len(times)) {
  floor <- pmin(floor, seconds_of(floor_work, 1L))
  ours <- pmin(ours, seconds_of(our_work, 1L))
}
if (on_gpu) floor <- n * floor
made <- if (of_list) c(elapsed = 0, cpu = 0) else seconds_of(function() for (i in seq_len(n)) make_subject(i), times)
stages <- .Call(gpucor:::r_stages)

open_record(paste0("subjects-", backend, ".txt"))
emit(n, " subjects of ", n_var, " variables x ", n_obs, ", ", backend, ": mean z, density ", density, ": ", net@edges,
     " edges, |r| >= ", format(net@threshold, digits = 6))
line <- function(...) emit(sprintf("%-8s %9.2f %9.2f %9.2f %7.2f", ...))
emit(sprintf("%-8s %9s %9s %9s %7s", "", "made", "floor", "seconds", "ratio"))
line("elapsed", made[["elapsed"]], floor[["elapsed"]], ours[["elapsed"]] - made[["elapsed"]],
     (ours[["elapsed"]] - made[["elapsed"]]) / floor[["elapsed"]])
own <- ours[["cpu"]] - made[["cpu"]]
line("CPU", made[["cpu"]], floor[["cpu"]], own, own / floor[["cpu"]])
emit(sprintf("last pass: %.2f s preparing, %.2f s multiplying and delivering, %.2f s in all; %.1f GB on the device",
            stages[1L], stages[2L], stages[3L], stages[4L] / 1e9))
close_record()
