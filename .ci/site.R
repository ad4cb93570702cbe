# The site, by pkgdown, into the folder given, without asking the network.
folder <- commandArgs(TRUE)[1]
options(pkgdown.internet = FALSE)
# Where a package that is not installed has its pages: asked of a repository, for a link that may be left out.
utils::assignInNamespace("CRAN_urls", function() data.frame(Package = character(), URL = character()), "downlit")
pkgdown::build_site(install = FALSE, new_process = FALSE, preview = FALSE, devel = FALSE,
                    override = list(destination = folder))

# Changes of a page: a pattern and what stands for it.
change <- function(page, pattern, by) {
  file <- file.path(folder, page)
  writeLines(gsub(pattern, by, readLines(file, warn = FALSE), perl = TRUE), file)
}
# What the README links to in the sources has a page here.
change("index.html", "href=\"vignettes/([a-z]*)[.]Rmd\"", "href=\"articles/\\1.html\"")
# A picture that was copied among a page's own is looked for from the sources' folder.
for (page in file.path("articles", list.files(file.path(folder, "articles"), "[.]html$"))) {
  change(page, "src=\"[^\"]*/articles/([a-z]*_files/)", "src=\"\\1")
}
