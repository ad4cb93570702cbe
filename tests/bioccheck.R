# BiocCheck without a network: Rscript bioccheck.R TARBALL. Fails on an error or a warning, except for those about
# Bioconductor's repositories, which cannot be asked.

# What BiocManager would read from bioconductor.org: this R goes with the installed release, and with the next one.
config <- tempfile(fileext = ".yaml")
release <- as.character(packageVersion("BiocVersion")[, 1:2])
following <- sub("[0-9]+$", as.integer(sub(".*[.]", "", release)) + 1L, release)
r <- paste(R.version$major, sub("[.].*", "", R.version$minor), sep = ".")
writeLines(c(sprintf('%s: "%s"', c("release_version", "devel_version"), c(release, following)),
             "release_dates:", sprintf('  "%s": "%s"', release, format(Sys.Date(), "%m/%d/%Y")),
             "r_ver_for_bioc_ver:", sprintf('  "%s": "%s"', c(release, following), r)), config)
Sys.setenv(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))
options(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))
offline <- paste0("no-check-", c("bioc-help", "CRAN", "deprecated", "remotes", "R-ver", "version-num"))
found <- do.call(BiocCheck::BiocCheck, c(list(commandArgs(TRUE)), stats::setNames(rep(list(TRUE), 6), offline)))
said <- c(unlist(found$error), unlist(found$warning))
said <- grep("No Bioconductor dependencies detected|^Maintainer|maintainer", said, value = TRUE, invert = TRUE)
writeLines(c("errors and warnings:", if (length(said)) said else "none"))
quit(status = length(said) > 0)
