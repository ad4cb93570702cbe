# The help: its examples, with everything that R can warn of as an error; its index; and what it says of arguments.

test_that("no example warns, or finds a part of a list by half of its name", {
  skip_unless_full()
  # It ran them just before, and `make check` looks at what it printed; at night they run here.
  skip_if(nzchar(Sys.getenv("_R_CHECK_PACKAGE_NAME_")), "R CMD check runs the examples")
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
  of_measures <- paste(as.character(pages[["gpucor-measures.Rd"]]), collapse = "")
  for (name in setdiff(gpucor:::engine$measures, gpucor:::GROUP_METHODS[["distance"]])) {
    expect_match(of_measures, paste0("\"", name, "\""), fixed = TRUE)
  }
  aliases <- function(page) unlist(Filter(function(part) attr(part, "Rd_tag") == "\\alias", page))
  led_to <- function(page) any(vapply(aliases(page), grepl, NA, all, fixed = TRUE))
  expect_identical(names(Filter(Negate(led_to), pages)), character())
  settings <- c(gpucor:::RUN_SETTINGS, "folder", "spool_bytes")
  names <- c(paste0("gpucor.", settings), paste0("GPUCOR_", toupper(settings)))
  expect_identical(Filter(function(name) !grepl(name, all, fixed = TRUE), names), character())
})

# Of a page's arguments, by what an item of them is about: names, and its text.
items_of <- function(page) {
  part <- function(parts, tag) Filter(function(part) identical(attr(part, "Rd_tag"), tag), parts)
  text <- function(part) paste(unlist(part), collapse = "")
  lapply(part(unlist(part(page, "\\arguments"), recursive = FALSE), "\\item"),
         function(item) list(names = strsplit(text(item[[1]]), "[, ]+")[[1]], text = text(item[[2]])))
}

# What an argument may be, by what the functions of a page list as its default.
choices_of <- function(functions, argument) {
  defaults <- lapply(functions, function(f) formals(f)[argument][[1]])
  lists <- Filter(function(default) is.call(default) && identical(default[[1]], quote(c)), defaults)
  unique(Filter(is.character, unlist(lapply(lists, as.list), use.names = FALSE)))
}

# Values that an item names and the functions do not take, or the other way round; what stands elsewhere counts.
wrong_in <- function(item, functions, details) {
  choices <- unlist(lapply(item$names, choices_of, functions = functions))
  own <- gsub("[A-Za-z.]+ = \"[^\"]+\"", "", item$text) # without what other arguments are to be
  named <- gsub("\"", "", regmatches(own, gregexpr("\"[^\"]+\"", own))[[1]])
  if (!grepl("see details", tolower(item$text))) details <- ""
  is_named <- function(value) value %in% named || grepl(value, details, fixed = TRUE)
  if (grepl("gpuTOM\\(\\)|plot\\(\\) method", item$text)) is_named <- function(value) TRUE # there
  if (length(choices)) c(setdiff(named, choices), Filter(Negate(is_named), choices))
}

test_that("the values that an argument takes are those that its help has", {
  pages <- tools::Rd_db("gpucor")
  skip_if(!length(pages), "installed without help")
  wrong <- unlist(lapply(pages, function(page) {
    with_tag <- function(tag) unlist(Filter(function(part) attr(part, "Rd_tag") == tag, page))
    functions <- Filter(is.function, mget(with_tag("\\alias"), asNamespace("gpucor"), ifnotfound = list(NULL)))
    details <- paste(with_tag("\\details"), collapse = "")
    items <- items_of(page)
    names(items) <- vapply(items, function(item) item$names[1], "")
    lapply(items, wrong_in, functions, details)
  }))
  expect_identical(paste(names(wrong), wrong, recycle0 = TRUE), character())
})
