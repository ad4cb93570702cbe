# The settings of a run by a back end, as functions of the package pass them on.
settings_on <- function(backend = NULL, ..., threads = NULL) {
  gpucor:::new_settings(gpuControl(backend = backend, threads = threads), ...)
}
