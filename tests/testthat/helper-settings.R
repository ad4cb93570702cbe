# The settings of a run, as functions of the package pass them on. ...: of gpuControl(); precision: of the function.
# Returns a run of the engine, as verbs make it. `...`: of gpuControl().
run_on <- function(..., x, y = NULL, method = "pearson", use = "everything", criterion = NULL, sign = "absolute") {
  gpucor:::new_run(NULL, list(control = gpuControl(...)), x, y, method, use, criterion, sign)
}

settings_on <- function(..., precision = "single") {
  gpucor:::new_settings(list(control = gpuControl(...)), precision = precision)
}
