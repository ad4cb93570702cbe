# The namespace is unloaded, detached and loaded again while R has objects that need the library's code.

# What a child does with a copy of the package, which can be replaced. Each line of its output is the outcome of a case.
unload_script <- quote({
  .libPaths(c(folder, .libPaths())) # R, too, loads the namespace again, for functions that it had not read yet
  reload <- function() library("gpucor", character.only = TRUE, warn.conflicts = FALSE)
  # Threads of CUDA's driver, which have names of their own, do not end.
  name_of <- function(thread) {
    tryCatch(suppressWarnings(readLines(file.path(thread, "comm"))), error = function(e) NULL) # it has ended
  }
  names_of_threads <- function() unlist(lapply(dir("/proc/self/task", full.names = TRUE), name_of))
  count_threads <- function() sum(names_of_threads() == readLines("/proc/self/comm"))
  during <- after <- integer()
  unload <- function(end = unloadNamespace) {
    gpuCor(x, threads = 3)
    during <<- c(during, count_threads())
    end("gpucor")
    for (k in 1:100) if (count_threads() > before) Sys.sleep(0.01) # the system lists threads a little longer
    after <<- c(after, count_threads())
  }
  is_mapped <- function() any(grepl(file.path(folder, "gpucor"), readLines("/proc/self/maps"), fixed = TRUE))
  in_child <- function(code) parallel::mccollect(parallel::mcparallel(code), timeout = 60)[[1L]]
  say <- function(name, outcome) cat(name, ": ", format(outcome), "\n", sep = "")
  # The contents as a vector of R's own.
  values_of <- function(object) {
    if (is.list(object)) object$file else if (is.character(object)) paste0(object, "") else as.vector(object) + 0
  }

  x <- matrix(sin(1:60000), 100)
  raw <- tempfile()
  writeBin(as.vector(x), raw)
  before <- count_threads()

  unload()
  say("a library that nothing needs is gone", is_cuda || !is_mapped())
  say("then R can fork", in_child("forked") == "forked")
  reload()

  # ---- objects that need the library
  compact <- function() gpuCor(x[, 1:200])
  long_names <- function() as.data.frame(gpuCorNetwork(`colnames<-`(x, 1:600), threshold = 0))$from
  owners <- list(
    compact = compact, distances = function() 1 - compact(),
    expanded = function() {
      r <- compact()
      sort(r) # asks for a pointer to all
      r
    },
    plain = function() gpuCor(matrix(sin(1:4500), 3), output = "matrix"),
    names = long_names, `a copy of names` = function() `attr<-`(long_names(), "more", TRUE),
    `expanded names` = function() {
      names <- long_names()
      names[1] <- "first"
      names
    },
    file = function() gpuCorFile(raw, dim(x))
  )
  for (name in names(owners)) {
    object <- owners[[name]]()
    say(paste(name, "needs the library"), !.Call(gpucor:::r_unload)) # which collects the object before
  }
  rm(object)
  say("without objects nothing does", .Call(gpucor:::r_unload))
  objects <- lapply(owners, function(make) make())
  values <- lapply(objects, values_of)
  are_sound <- function() identical(lapply(objects, values_of), values)
  unload(function(name) detach("package:gpucor", unload = TRUE))
  say("they are sound", are_sound())
  say("and saved", identical(lapply(unserialize(serialize(objects, NULL)), values_of), values))
  say("and printed", length(utils::capture.output(lapply(objects, function(object) print(head(object))))) > 20)
  reload()
  say("sound after reloading", are_sound() && identical(gpuCor(objects$file)[1:9], gpuCor(x)[1:9]))
  rm(objects)
  gc()

  # ---- others close the library
  r <- compact()
  unload()
  own <- vapply(.dynLibs(), `[[`, "", "name") == "gpucor"
  dyn.unload(.dynLibs()[own][[1L]][["path"]])
  .dynLibs(.dynLibs()[!own])
  gc()
  reload()
  say("a library that others close is held", .Call(gpucor:::r_is_compact, r))

  # ---- a child of fork()
  values <- values_of(r)
  gpuCor(x, threads = 3)
  say("a child unloads and reloads", in_child({
    unloadNamespace("gpucor")
    reload()
    s <- gpuCor(x[, 1:200])
    unloadNamespace("gpucor")
    identical(values_of(s), values) && identical(values_of(r), values)
  }))

  # ---- another installation
  library_file <- dir(file.path(folder, "gpucor", "libs"), "^gpucor[.]", full.names = TRUE, recursive = TRUE)
  unload()
  file.copy(library_file, paste0(library_file, ".new"))
  file.rename(paste0(library_file, ".new"), library_file)
  message <- tryCatch(reload(), error = conditionMessage)
  say("another installation is not mixed with this one", grepl("installed again.*restart R", message))
  say("whose objects are sound", identical(values_of(r), values))

  say("there were threads", all(during >= before + 2L))
  say(paste("they have ended:", toString(c(before, after)), "of", toString(names_of_threads())),
      length(after) == 4L && all(after == before))
})

test_that("objects live on when the namespace is unloaded, detached or loaded again, and threads end", {
  skip_on_os(c("windows", "mac", "solaris")) # /proc
  folder <- file.path(temporary_folder(), "library")
  dir.create(folder)
  on.exit(unlink(dirname(folder), recursive = TRUE))
  file.copy(find.package("gpucor"), folder, recursive = TRUE)
  code <- c(paste("is_cuda <-", !grepl("without CUDA", gpuInfo()$reason)), paste("folder <-", deparse1(folder)),
            deparse(unload_script), "cat('the end\\n')")
  run <- run_in_shell(code, "export OPENBLAS_NUM_THREADS=1") # its threads end when R forks
  expect_identical(run[c("status", "stderr")], list(status = 0L, stderr = ""))
  outcomes <- strsplit(run$stdout, "\n")[[1]]
  expect_identical(outcomes[!endsWith(outcomes, ": TRUE")], "the end")
  expect_length(outcomes, 22)
})
