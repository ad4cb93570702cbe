# Returns a run of the engine, as verbs make it. `...`: of gpuControl().
run_on <- function(..., x, y = NULL, method = "pearson", use = "everything", criterion = NULL, sign = "absolute") {
  gpucor:::new_run(NULL, list(control = gpuControl(...)), x, y, method, use, criterion, sign)
}

# Returns where a run is computed.
place_on <- function(...) gpucor:::new_place(gpuControl(...))
