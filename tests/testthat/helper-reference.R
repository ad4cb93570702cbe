# What other packages make of the tests' data, from reference/stored.rds: WGCNA takes minutes for it.
# `Rscript reference/store.R` asks the packages themselves, compares with them, and writes that file.

# The value of `code`, which calls `package`; name: under which it is stored.
by_package <- function(package, name, code) {
  record <- getOption("gpucor.test_record") # set by reference/store.R
  if (is.environment(record)) {
    skip_if_not_installed(package)
    assign(name, code, record)
    return(code)
  }
  stored <- readRDS(test_path("reference", "stored.rds"))
  if (!name %in% names(stored)) stop("reference/stored.rds has no \"", name, "\": run reference/store.R")
  stored[[name]]
}
