# Creates a plan's folder. A replay checks the call before anything is written.

# `given`: the verb's arguments; `call`: its call. Returns the plan, and the first round with its run.
make_plan <- function(path, x, y, given, verb, shards, control, call) {
  further <- c(list(control = control), given["assay"[!is.null(given$assay)]])
  given$assay <- NULL # the plan stores the assay's matrix
  check_not_threshold(x, y)
  n <- if (is_subjects(x)) subjects_of(x, y, given$subjects)
  for (name in if (!is.null(n)) intersect(names(given), c("weights", "covariates", "data", "runs", "covariance"))) {
    if (is.function(given[[name]])) given[[name]] <- lapply(seq_len(n), given[[name]]) # called once
  }
  plan <- list(version = as.character(utils::packageVersion("gpucor")), verb = verb, arguments = given, call = call,
               subjects = n)
  found <- replay_verb(plan, x, y, further)
  if (!inherits(found, "gpuCorRound")) fail("this call of ", verb, "() has no pairs to distribute")
  x <- found$run$x
  y <- found$run$y
  max <- count_pairs(found$run)$shards
  tiles <- paste0("; the pairs are in ", n_of(max, "tile"))
  plan$shards <- if (is.null(shards)) min(16, max) else check_whole(shards, "shards", 1, max, tiles)
  plan$arguments <- evaluated_arguments(given, n)
  # The folder is written under a temporary name, and renamed when it is complete.
  partial <- begin_partial(path)
  on.exit(discard_partial(partial))
  plan$path <- partial
  if (!make_folder(plan$path, "0700")) fail_file("cannot create the folder \"", plan$path, "\"")
  plan$x <- store_data(x, plan, "x")
  plan$y <- store_data(y, plan, "y")
  # The id has 128 random bits from the system, as set.seed() must not make two plans equal.
  plan$id <- paste(.Call(r_random, 16L), collapse = "")
  plan$digest <- .Call(r_checksum, serialize(plan[c("verb", "arguments", "shards", "x", "y")], NULL))
  save_plan(plan)
  for (kind in names(found$notes)) {
    for (k in seq_along(found$notes[[kind]])) write_numbered(plan, kind, k, found$notes[[kind]][[k]])
  }
  write_round(plan, found$round)
  if (!rename_file(partial, path, replace = FALSE)) fail_file("cannot rename \"", partial, "\" to \"", path, "\"")
  plan$path <- normalizePath(path, "/")
  c(found[c("run", "round")], list(plan = plan))
}

# ---- arguments

# Returns the arguments that the plan stores. Covariates become numbers, so that no process evaluates a formula.
evaluated_arguments <- function(given, n) {
  if (!is.null(given$covariates)) {
    centred <- measure_of(check_method(if (is.null(given$method)) "pearson" else given$method))$centred
    numbers_of <- function(asked) {
      if (is.null(asked$covariates)) return(NULL)
      numbers <- covariate_matrix(asked$covariates, asked$data, centred)
      rownames(numbers) <- NULL
      numbers
    }
    asked <- given[names(given) %in% c("covariates", "data")]
    given$covariates <- if (is.null(n)) {
      numbers_of(asked)
    } else {
      lapply(seq_len(n), function(i) numbers_of(asked_of_subject(asked, i, n)))
    }
  }
  given <- given[setdiff(names(given), c("data", if (!is.null(n)) "subjects"))]
  for (name in names(given)) {
    check_that(given[[name]], name, is_data(given[[name]]), "numbers, text or TRUE or FALSE in a plan")
  }
  given
}

# ---- data

# The data of a plan, which are written into its folder once and read by every process. x and y are lists of one matrix
# per subject, or of one matrix; y is an empty list if there is none.

# Writes matrices and returns a list of their descriptions; the first has the column names. Columns keep their storage
# type and are written in blocks; a sparse matrix is written as its slots p, i and x.
store_data <- function(m, plan, name) {
  m <- if (is_combined(m)) m$data else if (!is.null(m)) list(m)
  lapply(seq_along(m), function(k) {
    own <- m[[k]]
    type <- if (isS4(own) && is(own, "dgCMatrix")) {
      "sparse"
    } else if (inherits(own, "gpuCorFile") && !is.null(own$storage)) {
      own$storage
    } else {
      if (is_outside(own) || is.double(own)) "double" else "integer" # the engine reads logicals as integers
    }
    file <- data_file(plan, name, k, type)
    size <- if (type == "double") 8L else 4L
    bytes <- if (type == "sparse") 4 * length(own@p) + 12 * length(own@x) else prod(dim(own)) * size
    write <- function(connection) {
      if (type == "sparse") {
        write_pieces(connection, own@p, 4L)
        write_pieces(connection, own@i, 4L)
        write_pieces(connection, own@x, 8L)
        return(invisible())
      }
      for (columns in block_columns(own)) {
        block <- dense_columns(own, columns)
        storage.mode(block) <- if (type == "integer") "integer" else "double"
        write_pieces(connection, as.vector(block), size)
      }
    }
    write_whole_file(file, function(partial) append_bytes(partial, bytes, write))
    list(type = type, dim = dim(own), names = if (k == 1L) colnames(own), bytes = file.size(file),
         time = as.numeric(file.mtime(file)), checksum = checksum(file))
  })
}

# The plan does not store file names, so that none can point outside its folder.
data_file <- function(plan, name, k, type) {
  number <- if (!is.null(plan$subjects)) paste0(".", k)
  file.path(plan$path, paste0(name, number, if (type == "sparse") ".sparse" else ".columns"))
}

# Returns the matrices of x or y, or stops if they have changed since the plan was made. Only sparse ones are loaded.
# The checksum requires reading all data, so it is only compared with `check`, or if the file's time has changed.
stored_data <- function(plan, name, check = FALSE) {
  lapply(seq_along(plan[[name]]), function(k) {
    data <- plan[[name]][[k]]
    file <- data_file(plan, name, k, data$type)
    check <- check || !identical(as.numeric(file.mtime(file)), data$time)
    is_same <- identical(file.size(file), data$bytes) && (!check || is_verified(file, data$checksum))
    if (!is_same) fail_changed(file)
    if (data$type != "sparse") {
      return(raw_file(file, data$dim, data$type, if (!is.null(data$names)) list(NULL, data$names), 0))
    }
    n_entries <- (data$bytes - 4 * (data$dim[2L] + 1)) / 12
    if (n_entries < 0) fail_changed(file)
    connection <- file(file, "rb")
    on.exit(close(connection))
    read <- function(type, n, size) readBin(connection, type, n, size, endian = "little")
    no_matrix <- function(condition) fail_changed(file)
    tryCatch(error = no_matrix, warning = no_matrix, {
      methods::new("dgCMatrix", p = read("integer", data$dim[2L] + 1, 4L), i = read("integer", n_entries, 4L),
                   x = read("double", n_entries, 8L), Dim = as.integer(data$dim), Dimnames = list(NULL, data$names))
    })
  })
}
