# BiocCheck without a network: Rscript bioccheck.R TARBALL. Fails on an error or a warning, except for those about
# Bioconductor's repositories, which cannot be asked.

config <- tempfile(fileext = ".yaml") # what BiocManager would read from bioconductor.org
r <- paste(R.version$major, sub("[.].*", "", R.version$minor), sep = ".")
writeLines(c('release_version: "3.23"', 'devel_version: "3.24"', "release_dates:", '  "3.22": "10/30/2025"',
             '  "3.23": "04/29/2026"', "r_ver_for_bioc_ver:", '  "3.22": "4.5"', sprintf('  "%s": "%s"', c("3.23", "3.24"), r)),
           config)
Sys.setenv(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))
options(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))
offline <- paste0("no-check-", c("bioc-help", "CRAN", "deprecated", "remotes", "R-ver", "version-num"))
found <- do.call(BiocCheck::BiocCheck, c(list(commandArgs(TRUE)), stats::setNames(rep(list(TRUE), 6), offline)))
said <- c(unlist(found$error), unlist(found$warning))
said <- grep("No Bioconductor dependencies detected|^Maintainer|maintainer", said, value = TRUE, invert = TRUE)
writeLines(c("errors and warnings:", if (length(said)) said else "none"))
quit(status = length(said) > 0)
