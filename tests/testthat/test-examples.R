# The help's examples, with everything that R can warn of as an error.

test_that("no example warns, or finds a part of a list by half of its name", {
  skip_without_children()
  pages <- tools::Rd_db("gpucor")
  skip_if(!length(pages), "installed without help")
  failed <- callr::r(function(pages) {
    options(warn = 2, warnPartialMatchDollar = TRUE, warnPartialMatchArgs = TRUE, warnPartialMatchAttr = TRUE,
            gpucor.threads = 2L)
    library(gpucor)
    grDevices::pdf(NULL)
    code <- tempfile(fileext = ".R")
    said <- function(page) {
      unlink(code)
      tools::Rd2ex(page, code)
      if (!file.exists(code)) return("")
      tryCatch({
        utils::capture.output(suppressMessages(source(code, local = new.env())))
        ""
      }, error = conditionMessage)
    }
    Filter(nzchar, vapply(pages, said, ""))
  }, list(pages))
  expect_identical(unname(failed), character(), label = paste(names(failed), failed, collapse = "; "))
})

test_that("?gpucor leads to every page, and has every option and variable that is for users", {
  pages <- tools::Rd_db("gpucor")
  skip_if(!length(pages), "installed without help")
  all <- paste(as.character(pages[["gpucor-package.Rd"]]), collapse = "")
  aliases <- function(page) unlist(Filter(function(part) attr(part, "Rd_tag") == "\\alias", page))
  led_to <- function(page) any(vapply(aliases(page), grepl, NA, all, fixed = TRUE))
  expect_identical(names(Filter(Negate(led_to), pages)), character())
  settings <- c(gpucor:::RUN_SETTINGS, "folder", "spool_bytes")
  names <- c(paste0("gpucor.", settings), paste0("GPUCOR_", toupper(settings)))
  expect_identical(Filter(function(name) !grepl(name, all, fixed = TRUE), names), character())
})
