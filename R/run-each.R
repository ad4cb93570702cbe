# The loop over runs of the engine that differ in one thing. What varies from run to run is a list:
#   n               number of runs
#   label(k)        of run k, for the progress bar
#   change(run, k)  returns run k
#   warns           which runs may warn: "all"; "once", each warning once; "first"; or "none", as the user has seen them

# Returns a list of f(run k, k). Where f() only changes what is outside of it, it should return NULL, as the list keeps
# all values.
for_each <- function(over, run, f) {
  once <- new_once(conditionMessage)
  lapply(seq_len(over$n), function(k) {
    own <- at_pass(run, k, over$n, over$label(k))
    report_progress(own$place, 0) # a run may be too short for a report of the engine
    one <- function() f(over$change(own, k), k)
    if (over$warns == "none" || (over$warns == "first" && k > 1L)) return(repeated(one()))
    if (over$warns == "once") once(one()) else one()
  })
}

# Returns a function that runs code, and shows each warning once, also if it is called again: the first one of each
# key(condition), where NULL stands for those that may repeat. Messages of tell_few_values() are shown once, too.
new_once <- function(key) {
  told <- character()
  once <- function(condition, restart) {
    if (isTRUE(key(condition) %in% told)) invokeRestart(restart)
    told <<- c(told, key(condition))
  }
  function(code) {
    withCallingHandlers(code, warning = function(w) once(w, "muffleWarning"),
                        gpuCorFewValues = function(m) once(m, "muffleMessage"))
  }
}

# Returns a function that labels run k, as "window 3 of 10".
numbered <- function(what, n) function(k) paste(what, format_count(k), "of", format_count(n))
