# Records of benchmarks: the output of a script, which --record also writes to results/. It begins with the tree of the
# sources, the machine and the date. Scripts source this file, directly or by gpu-report.R, after they have set `here`,
# the folder of the scripts, and `arguments`.

# Returns the environment variable GPUCOR_SRC_TREE, for a package that was built elsewhere; or the tree of src/ that is
# checked out, with "-dirty" if a file there is changed. claims.R asks whether the tree is current.
src_tree <- function() {
  tree <- Sys.getenv("GPUCOR_SRC_TREE")
  if (nzchar(tree)) return(tree)
  git <- function(...) suppressWarnings(system2("git", c("-C", shQuote(here), ...), stdout = TRUE, stderr = FALSE))
  tree <- tryCatch(git("rev-parse", "HEAD:./../../src"), error = function(e) character())
  if (length(tree) == 1 && is.null(attr(tree, "status"))) {
    return(paste0(tree, if (length(git("status", "--porcelain", "--", "../../src"))) "-dirty"))
  }
  stop("a record names the sources that it is of, and this is no git checkout: set GPUCOR_SRC_TREE to the output of ",
       "`git rev-parse HEAD:src` where the package was built")
}

cpu_name <- function() {
  found <- tryCatch(grep("model name", readLines("/proc/cpuinfo"), value = TRUE), error = function(e) character())
  sub(".*: ", "", c(found, "unknown CPU")[1])
}

# Three lines; an error if the tree is unknown and `must_know`.
record_header <- function(must_know = TRUE) {
  info <- gpucor::gpuInfo()
  gpus <- info$devices$name
  c(paste0("src tree: ", tryCatch(src_tree(), error = function(e) if (must_know) stop(e) else "unknown")),
    paste0("machine: ", cpu_name(), ", ", parallel::detectCores(), " cores, ", info$threads, " threads",
           if (length(gpus)) paste0("; ", length(gpus), " x ", gpus[1], ", CUDA ", info$runtime, ", driver for ",
                                    info$driver)),
    paste0("date: ", format(Sys.Date()), "; gpucor ", format(utils::packageVersion("gpucor")), "; ",
           R.version.string))
}

record <- NULL
# Begins the output; with --record, it is also written to a file in results/.
open_record <- function(name) {
  is_recorded <- "--record" %in% arguments
  header <- record_header(must_know = is_recorded)
  if (is_recorded) {
    dir.create(file.path(here, "results"), showWarnings = FALSE)
    record <<- file(file.path(here, "results", name), "w")
  }
  for (line in header) emit(line)
}
close_record <- function() {
  if (!is.null(record)) close(record)
  record <<- NULL
}
emit <- function(...) {
  text <- paste0(...)
  cat(text, "\n", sep = "")
  if (!is.null(record)) {
    cat(text, "\n", sep = "", file = record)
    flush(record)
  }
}
