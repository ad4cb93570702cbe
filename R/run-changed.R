# A run, what is computed, is an object of class gpucor_run: a list that data-run.R describes. changed() is the one
# function that changes it: R stops where an element is assigned. The functions here change its place, and those of
# data-changes.R what else it has.

# Returns the run with other elements, a named list; `part`: those of a part.
changed <- function(run, given, part = NULL) {
  run <- unclass(run)
  if (is.null(part)) run[names(given)] <- given else run[[part]][names(given)] <- given
  structure(run, class = "gpucor_run")
}

refuse_change <- function(x, ..., value) stop("changed() and the functions that use it change a run")
`$<-.gpucor_run` <- refuse_change
`[[<-.gpucor_run` <- refuse_change
`[<-.gpucor_run` <- refuse_change

# Returns the run with elements of its place, see new_place().
with_place <- function(run, ...) changed(run, list(...), "place")

# Returns the run as pass `pass` of `passes`, for the progress bar. `what`, `of`: its label, see describe_doing().
at_pass <- function(run, pass, passes, what = NULL, of = NULL) {
  part_of(run, (pass - 1) / passes, 1 / passes, what, of)
}

part_of <- function(run, from, width, what = NULL, of = NULL) {
  before <- run$place$pass
  run <- with_place(run, pass = c(before[1L] + from * before[2L], width * before[2L]))
  if (is.null(what)) run else with_place(run, doing = list(text = what, of = of))
}

on_host <- function(run) with_place(run, backend = "cpu", devices = 0L)

# Multiplications of a run that one thread ends before others are worth waiting for, about a millisecond.
SHORT_WORK <- 2^25

# For loops over short runs: other work of the machine delays every run that waits for several threads.
one_thread_if_short <- function(run, work) {
  if (work < SHORT_WORK && run$place$backend == "cpu") with_place(run, threads = 1L) else run
}

# Multiplications by one CPU thread in the time that a GPU takes to begin and end a run.
SMALL_WORK <- 4e6

# Selects the CPU, whose results are the same, for runs that end before a GPU would start, unless the user requests a
# GPU. `work`: multiplications of a run.
on_host_if_small <- function(run, work) {
  if (run$place$may_move && work < SMALL_WORK * run$place$threads) on_host(run) else run
}
