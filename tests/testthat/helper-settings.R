# The settings of a run, as functions of the package pass them on. ...: of gpuControl(); precision: of the function.
settings_on <- function(..., precision = "single") gpucor:::new_settings(list(control = gpuControl(...)), precision = precision)
