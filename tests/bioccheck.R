# BiocCheck without a network: Rscript bioccheck.R TARBALL. Fails on an error or a warning, except for those about
# Bioconductor's repositories, which cannot be asked.

# What BiocManager would read from bioconductor.org: the installed release, the one before and the next, with this R.
config <- tempfile(fileext = ".yaml")
installed <- packageVersion("BiocVersion")[[1L]]
releases <- sprintf("%d.%d", installed[[1L, 1L]], installed[[1L, 2L]] + -1:1)
r <- paste(R.version$major, sub("[.].*", "", R.version$minor), sep = ".")
writeLines(c(sprintf('%s: "%s"', c("release_version", "devel_version"), releases[2:3]),
             "release_dates:", sprintf('  "%s": "%s"', releases[1:2], format(Sys.Date(), "%m/%d/%Y")),
             "r_ver_for_bioc_ver:", sprintf('  "%s": "%s"', releases, r)), config)
Sys.setenv(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))
options(BIOCONDUCTOR_CONFIG_FILE = paste0("file://", config))
offline <- paste0("no-check-", c("bioc-help", "CRAN", "deprecated", "remotes", "R-ver", "version-num"))
found <- do.call(BiocCheck::BiocCheck, c(list(commandArgs(TRUE)), stats::setNames(rep(list(TRUE), 6), offline)))
said <- c(unlist(found$error), unlist(found$warning))
said <- grep("No Bioconductor dependencies detected|^Maintainer|maintainer", said, value = TRUE, invert = TRUE)
writeLines(c("errors and warnings:", if (length(said)) said else "none"))
quit(status = length(said) > 0)
