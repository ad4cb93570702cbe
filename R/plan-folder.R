# The folder of a plan, which every process that works on it sees:
#   plan.rds               the verb, its arguments but the data, how many shares
#   x.columns, y.columns   the data, once; x.rds, y.rds where they are sparse
#   rounds/1.rds           a run of the engine over all pairs, for the shares to do
#   rounds/1/00007.<md5>   what share 7 found: complete, as its name is given last, and checked by its name
#   claims/1/00007/        who is at work on share 7
#   notes/1.rds            what a sample of the columns said
# Whatever is written gets its name when it is complete and on the disk.

PLAN_FORMAT <- 1

# ---- files

# f(partial) writes a file of another name, which becomes `file`.
write_whole_file <- function(file, f) {
  partial <- partial_name(file)
  on.exit(unlink(partial))
  cannot <- function(condition) {
    fail("cannot write \"", file, "\": ", conditionMessage(condition), "; is the disk full?")
  }
  tryCatch(f(partial), error = cannot, warning = cannot)
  publish(partial, file)
}

publish <- function(partial, file) {
  if (!.Call(r_sync, partial) || !suppressWarnings(file.rename(partial, file))) {
    fail("cannot write \"", file, "\"; is the disk full, or its folder gone or not writable?")
  }
  .Call(r_sync, dirname(file)) # some file systems have no such thing
  invisible(file)
}

write_object <- function(object, file) write_whole_file(file, function(partial) save_object(object, partial))

# On a full disk saveRDS() may leave a part of the file without a word.
save_object <- function(object, file, ...) {
  saveRDS(object, file, ...)
  tryCatch(readRDS(file), error = function(condition) stop("it was not written to its end"))
  invisible(file)
}

checksum <- function(file) unname(tools::md5sum(file))

# ---- data

# Columns as they are in R or in a file of their own, block by block; sparse ones as R has them.
store_data <- function(m, folder, name) {
  if (is.null(m)) return(NULL)
  type <- stored_type(m)
  file <- file.path(folder, paste0(name, if (type == "sparse") ".rds" else ".columns"))
  write_whole_file(file, function(partial) {
    if (type == "sparse") save_object(m, partial, compress = FALSE) else write_columns(m, partial, type)
  })
  list(file = basename(file), type = type, dim = dim(m), names = colnames(m), bytes = file.size(file),
       time = as.numeric(file.mtime(file)), checksum = checksum(file))
}

stored_type <- function(m) {
  if (isS4(m) && is(m, "dgCMatrix")) return("sparse")
  if (inherits(m, "gpuCorFile") && m$kind == "raw") return(m$type)
  if (!is_outside(m) && !is.double(m)) "integer" else "double" # logical ones are integers to the engine, too
}

write_columns <- function(m, file, type) {
  size <- if (type == "double") 8L else 4L
  connection <- file(file, "wb")
  on.exit(close(connection))
  for (columns in block_columns(m)) {
    block <- dense_columns(m, columns)
    storage.mode(block) <- if (type == "integer") "integer" else "double"
    writeBin(as.vector(block), connection, size = size, endian = "little")
  }
  flush(connection)
  wanted <- prod(dim(m)) * size
  if (file.size(file) != wanted) stop("it has ", file.size(file), " of ", wanted, " bytes")
}

# As it was when the plan was made, or an error; not in memory, but where it is sparse. Lest every process read all of
# it just to see that it is the same, its checksum is taken only where the file was touched since, or with `check`.
stored_data <- function(plan, name, check = FALSE) {
  data <- plan[[name]]
  if (is.null(data)) return(NULL)
  file <- file.path(plan$path, data$file)
  touched <- !identical(as.numeric(file.mtime(file)), data$time)
  if (!identical(file.size(file), data$bytes) || ((check || touched) && !is_verified(file, data$checksum))) {
    fail("\"", file, "\" has other data than when the plan was made; make the plan again, in another folder")
  }
  if (data$type == "sparse") return(readRDS(file))
  gpuCorFile(file, data$dim, data$type, if (!is.null(data$names)) list(NULL, data$names))
}

# Whether the file has that checksum: read again where it seems to have changed since it was last found to.
is_verified <- function(file, wanted) {
  info <- file.info(file, extra_cols = FALSE)
  known <- paste(wanted, info$size, as.numeric(info$mtime))
  if (identical(state$verified[[file]], known)) return(TRUE)
  if (!identical(checksum(file), wanted)) return(FALSE)
  state$verified[[file]] <- known
  TRUE
}

# ---- a plan that is there

check_plan_path <- function(path) {
  if (!is.character(path) || length(path) != 1L || is.na(path) || !nzchar(path)) {
    fail("'path' must be one string, the name of a plan's folder, not ", show_value(path))
  }
  path.expand(path)
}

open_plan <- function(path) {
  path <- check_plan_path(path)
  shown <- show_value(path)
  host <- Sys.info()[["nodename"]]
  if (!dir.exists(path)) {
    fail("'path' is ", shown, ", a folder that ", host, " does not see; it must be on a disk that all machines share, ",
         "and be given by its whole name")
  }
  file <- file.path(path, "plan.rds")
  if (file.access(path, 5L) != 0L || (file.exists(file) && file.access(file, 4L) != 0L)) {
    fail("'path' is ", shown, ", which ", Sys.info()[["user"]], " may not read on ", host)
  }
  if (!file.exists(file)) fail("'path' is ", shown, ", where there is no plan; gpuCorPlan() makes one")
  damaged <- function(condition) fail("\"", file, "\" is damaged: ", conditionMessage(condition))
  plan <- tryCatch(readRDS(file), error = damaged)
  if (!identical(plan$format, PLAN_FORMAT) || !identical(plan$version, package_version_text())) {
    fail("'path' is ", shown, ", a plan by gpucor ", plan$version, "; this is gpucor ", package_version_text(),
         ": use that version, or make the plan again")
  }
  plan$path <- normalizePath(path)
  plan
}

package_version_text <- function() as.character(utils::packageVersion("gpucor"))

# A folder in the plan, there afterwards.
plan_folder <- function(plan, ...) {
  folder <- file.path(plan$path, ...)
  if (!dir.exists(folder)) dir.create(folder, recursive = TRUE, showWarnings = FALSE)
  if (file.access(folder, 2L) != 0L) {
    fail("\"", folder, "\" is not writable for ", Sys.info()[["user"]], " on ", Sys.info()[["nodename"]])
  }
  folder
}
