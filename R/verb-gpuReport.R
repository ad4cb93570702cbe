#' A result as one page
#'
#' `gpuReport()` writes a result as a page of HTML, which can be mailed or archived: the call, how the result was made
#' (method, observations, what it was adjusted for), its pictures, its summary, the first rows of its table, and the
#' session. The file contains its pictures and needs no connection to the internet. Package rmarkdown and pandoc make
#' it.
#'
#' Most results keep their call, which the page shows. If the call is the argument, `gpuReport(gpuCorTest(x))`, the page
#' also has its warnings.
#'
#' Each `type` of the result's `plot()` is a picture with the code that draws it below. Types that the result does not
#' have, such as a heat map of too many variables, are left out. `...` are passed to every type: `coords` draws maps,
#' `groups` sorts heat maps. The table has the rows with the smallest p values, or else the largest values of its first
#' measure; a table of up to `n` rows keeps its order.
#'
#' @param result A result that has `summary()`, `plot()` and `as.data.frame()`, such as a network of [gpuCorNetwork()],
#'   coefficients of [gpuCor()], tests, a comparison of [gpuCorCompare()], connectivity, or modules.
#' @param file A string: the name of the new file. A file of this name is an error.
#' @param ... Arguments of the result's `plot()`.
#' @param n A number: max. rows of a table.
#' @return The name of the file, invisibly. The file appears when it is complete.
#' @examples
#' net <- gpuCorNetwork(mtcars, density = 0.2)
#' if (requireNamespace("rmarkdown", quietly = TRUE) && rmarkdown::pandoc_available()) {
#'   file <- gpuReport(net, tempfile(fileext = ".html"))
#'   # browseURL(file)
#' }
#' @export
gpuReport <- function(result, file = "study.html", ..., n = 20) {
  warned <- character()
  withCallingHandlers(force(result), warning = function(w) warned <<- c(warned, conditionMessage(w)))
  generics <- c("summary", "plot", "as.data.frame")
  methods <- lapply(stats::setNames(nm = generics), own_method, result)
  check_type(result, "result", !any(vapply(methods, is.null, NA)),
             "a result that has summary(), plot() and as.data.frame(), such as of gpuCorNetwork()")
  file <- check_new_file(file)
  check_that(basename(file), "file", grepl("[.]html?$", file), "the name of a page, which ends in .html")
  n <- check_whole(n, "n", 1, 1e5)
  need_packages(c("rmarkdown", "knitr"), "gpuReport()")
  if (!has_pandoc()) {
    fail("gpuReport() needs pandoc, which is not found; install it (https://pandoc.org), or use RStudio, which has it")
  }
  summary <- summary(result, n = n)
  folder <- withr::local_tempdir()
  report <- list(call = call_of(result, substitute(result)), about = description_of(result, summary),
                 warned = unique(warned),
                 pictures = draw_types(result, methods$plot, folder, substitute(list(...)), ...),
                 summary = summary_tables(summary), rows = first_rows(result, summary, n))
  template <- file.path(folder, "report.Rmd")
  file.copy(system.file("report.Rmd", package = "gpucor", mustWork = TRUE), template)
  made <- withr::with_preserve_seed(
    rmarkdown::render(template, quiet = TRUE, envir = list2env(list(report = report), parent = topenv()))
  )
  write_whole_file(file, function(partial) {
    append_bytes(partial, file.size(made), function(connection) {
      writeBin(readBin(made, "raw", file.size(made)), connection)
    })
  })
}

has_pandoc <- function() rmarkdown::pandoc_available("1.19")

# Returns the package's method of a generic function for an object, or NULL.
own_method <- function(generic, object) {
  found <- lapply(c(class(object), is(object)), function(class) utils::getS3method(generic, class, optional = TRUE))
  Find(function(method) is.function(method) && identical(environment(method), topenv()), found)
}

# Returns the lines of the call that made a result. `expression`: what to show if the result has none.
call_of <- function(result, expression) {
  call <- attr(result, "call")
  if (is.null(call) && is.list(result)) call <- unclass(result)[["call"]]
  lines <- deparse(if (is.null(call)) expression else call, 90L)
  if (length(lines) > 20L) c(lines[1:20], "...") else lines # data may be in the call
}

# Returns the lines that say what a result is.
description_of <- function(result, summary) {
  title <- attr(summary, "title")
  if (is.null(title)) utils::capture.output(print(result)) else strsplit(title, "\n", fixed = TRUE)[[1L]]
}

# Draws the types of the result's plot() to files in `folder`, and returns their names, named by the code that draws
# them. Types that cannot be drawn are left out, but what plot() refuses without a type is an error. `given`: the code
# of `...`.
draw_types <- function(result, method, folder, given, ...) {
  draw <- function(type) {
    file <- paste0("picture-", type, ".png")
    withr::with_png(file.path(folder, file), width = 7, height = 5, units = "in", res = 144, code = {
      if (type == "auto") plot(result, ...) else plot(result, type = type, ...)
    })
    code <- as.call(c(quote(plot), quote(result), if (type != "auto") type, as.list(given)[-1L]))
    stats::setNames(file, paste(deparse(code), collapse = "\n"))
  }
  auto <- draw("auto")
  types <- setdiff(eval(formals(method)$type), "auto")
  drawn <- unlist(lapply(types, function(type) tryCatch(draw(type), gpucor_error_input = function(e) NULL)))
  if (length(drawn) < 2L) drawn <- c(auto, drawn) # otherwise "auto" combines them
  drawn[!duplicated(tools::md5sum(file.path(folder, drawn)))]
}

# ---- tables

# Returns the parts of a summary as HTML tables: its single numbers in one, and further ones with their names.
summary_tables <- function(summary) {
  if (is.data.frame(summary)) return(list(html_table(summary)))
  parts <- Filter(NROW, unclass(summary))
  parts$strongest <- NULL # the rows of the result
  is_one <- vapply(parts, function(part) is.atomic(part) && length(part) == 1L && is.null(names(part)), NA)
  further <- parts[!is_one]
  c(if (any(is_one)) list(html_table(list2DF(parts[is_one]))), Map(html_table, further, names(further)))
}

# Returns the first rows of a result's table as HTML.
first_rows <- function(result, summary, n) {
  rows <- if (is.data.frame(summary)) NULL else summary$strongest
  if (is.null(rows)) {
    rows <- as.data.frame(result)
    p <- intersect(c("p.adjusted", "p.value"), names(rows))
    measures <- names(rows)[vapply(rows, is.double, NA)]
    by <- if (length(p)) rows[[p[1L]]] else if (length(measures)) -abs(rows[[measures[1L]]])
    if (nrow(rows) > n && length(by)) rows <- rows[order(by), ]
  }
  html_table(utils::head(rows, n))
}

# Returns a table, a matrix or a named vector as HTML. Each number has four digits.
html_table <- function(part, caption = NULL) {
  if (!is.data.frame(part)) part <- as.data.frame(if (is.matrix(part)) part else t(part))
  names <- attr(part, "row.names")
  is_number <- vapply(part, is.numeric, NA)
  part[is_number] <- lapply(part[is_number], function(values) vapply(values, format, "", digits = 4L, big.mark = ","))
  knitr::kable(part, "html", caption = caption, align = ifelse(is_number, "r", "l"),
               row.names = is.character(names) && !identical(names, as.character(part[[1L]])))
}
