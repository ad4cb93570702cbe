# Lists that say the same in several files: the packages that DESCRIPTION imports, which recipes, images, workflows and
# the Makefile install; its version, title and address, which recipes and CITATION.cff have; the targets that
# CONTRIBUTING.md says run every night, which the nightly workflow runs. Prints what a list lacks, and fails if there is
# any.
#   Rscript --vanilla .ci/lists.R

# The lines of a file; an item of a YAML list, a dependency on R's packages, and what follows a backslash, continues a
# line.
lines_of <- function(file) {
  text <- paste(readLines(file, encoding = "UTF-8"), collapse = "\n")
  text <- gsub("(\n +#[^\n]*)+(?=\n +- )", "", text, perl = TRUE)
  strsplit(gsub("\n +- |\n +(?=depends_on[(]\"r)|\\\\\n", " ", text, perl = TRUE), "\n", fixed = TRUE)[[1L]]
}

imports <- strsplit(read.dcf("DESCRIPTION", "Imports")[[1L]], "[, \n]+")[[1L]]
imports <- setdiff(imports, rownames(installed.packages(priority = "base")))
debian <- paste0("r-cran-", tolower(imports))
conda <- paste0("r-", tolower(imports))
quoted <- paste0('"', imports, '"')

# Where they are installed: a file, which of its lines, how many there are at least, and how a package is called there.
places <- list(
  list("Dockerfile", "apt-get install", 2, debian),
  list("Makefile", "^(DEMO|CLUSTER|LINT)_NEEDS", 3, debian),
  list("tests/ports/arm64", "--include=r-base-core", 1, debian),
  list(".github/workflows/install.yaml", "r-base-dev", 4, debian),
  list(".github/workflows/install.yaml", "install[.]packages", 3, quoted),
  list("tools/conda/meta.yaml", "^  (host|run):", 2, conda),
  list("vignettes/scale.Rmd", "default_args", 1, conda)
)
faults <- unlist(lapply(places, function(place) {
  lines <- grep(place[[2L]], lines_of(place[[1L]]), value = TRUE)
  if (length(lines) < place[[3L]]) return(paste0(place[[1L]], ": fewer lines than expected have '", place[[2L]], "'"))
  lacks <- vapply(lines, function(line) {
    paste(place[[4L]][!vapply(place[[4L]], grepl, NA, line, fixed = TRUE)], collapse = ", ")
  }, "")
  if (any(nzchar(lacks))) paste0(place[[1L]], ": no ", lacks, " in '", trimws(lines), "'")[nzchar(lacks)]
}))

is_in <- function(file, text) any(grepl(text, readLines(file, encoding = "UTF-8"), fixed = TRUE))
said <- read.dcf("DESCRIPTION", c("Version", "Title", "URL"))[1L, ]
copies <- list(
  list("CITATION.cff", c(paste("version:", said[["Version"]]), said[["Title"]], said[["URL"]])),
  list("tools/conda/meta.yaml", paste0('version = "', said[["Version"]], '"')),
  list("vignettes/scale.Rmd", paste0(c("gpucor_", "version(\"", "'gpucor', '"), said[["Version"]]))
)
faults <- c(faults, unlist(lapply(copies, function(copy) {
  lacks <- copy[[2L]][!vapply(copy[[2L]], is_in, NA, file = copy[[1L]])]
  sprintf("%s: no '%s', as DESCRIPTION has it", copy[[1L]], lacks)
})))

# Targets, without their settings.
run <- grep("^ +target: ", lines_of(".github/workflows/nightly.yaml"), value = TRUE)
run <- grep("^[a-z-]+$", strsplit(run, " ", fixed = TRUE)[[1L]], value = TRUE)
told <- sub(".*\nThese run every night[^`]*```sh\n(.*?)```.*", "\\1",
            paste(readLines("CONTRIBUTING.md", encoding = "UTF-8"), collapse = "\n"))
told <- sub("make ([a-z-]+).*", "\\1", grep("^make ", strsplit(told, "\n", fixed = TRUE)[[1L]], value = TRUE))
faults <- c(faults, sprintf("nightly.yaml does not run %s, as CONTRIBUTING.md says", setdiff(told, run)),
            sprintf("CONTRIBUTING.md does not say that %s runs every night", setdiff(run, told)))

writeLines(as.character(faults))
quit(status = as.integer(length(faults) > 0 || !length(run)))
