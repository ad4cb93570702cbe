# What other packages make of the tests' data: in the full tier by the package itself, in the quick one from
# reference/stored.rds. `Rscript reference/store.R` writes that file, from what the full tier's calls return.

# The value of `code`, which calls `package`; name: under which it is stored.
by_package <- function(package, name, code) {
  if (!full_tier()) {
    stored <- readRDS(test_path("reference", "stored.rds"))
    if (!name %in% names(stored)) stop("reference/stored.rds has no \"", name, "\": run reference/store.R")
    return(stored[[name]])
  }
  skip_if_not_installed(package)
  record <- getOption("gpucor.test_record") # set by reference/store.R
  if (is.environment(record)) assign(name, code, record)
  code
}
