# lintr on every file of R, each by the nearest .lintr.
found <- unlist(lapply(c("R", "tests", "inst/bench", "inst/examples", "vignettes"), function(folder) {
  lints <- lintr::lint_dir(folder)
  print(lints)
  length(lints)
}))
quit(status = as.integer(any(found > 0)))
