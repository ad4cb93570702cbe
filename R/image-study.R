# A study: all subjects of a folder that fMRIPrep wrote.

#' Read the subjects of a study
#'
#' `bidsSubjects()` finds the scans of a folder of derivatives as fMRIPrep writes it, and reads those of each subject:
#' the series, the confounds and the participants. [gpuCor()] and others take the result as they take a list of
#' [subjects], with its confounds: `gpuCorNetwork(s, combine = "fisher", density = 0.1)`.
#'
#' The scans are the files `sub-*/func/*_desc-preproc_bold.nii.gz` and `*_bold.dtseries.nii`, with `ses-*` in between if
#' there are sessions. Their voxels are those of the brain mask, `*_desc-brain_mask.nii.gz`, and their confounds are in
#' `*_desc-confounds_timeseries.tsv` ([readConfounds()]). Several runs of a subject are joined ([runs]), so that each is
#' regressed by itself. All scans are read when the function is called; series that do not fit into a quarter of free
#' memory are kept in temporary files, as [subjects] describes.
#'
#' Scans are chosen by the entities of their names: `task = "rest"`, and in `...` any other, such as `res = "2"` or
#' `ses = c("1", "2")`. If scans differ in an entity other than `sub`, `ses` and `run`, it must be given; if several
#' values of it are given, their scans are joined as runs.
#'
#' The participants are those of `participants.tsv` in the folder or one of the two above it, where BIDS has it. A
#' subject without one of the files, or without a row in that table, is left out, with one warning for all.
#'
#' A function to which the study is given as `x` takes its `covariates` and `weights` as its arguments of these names,
#' unless they are given, and [gpuCorCompare()] its `data`, for formulas. Without confounds the means of joined runs are
#' removed (argument `runs`). `s[which(s$data$age > 30)]` selects subjects; `gpuCorCompare(s[patients], s[!patients])`
#' or `gpuCorCompare(split(s, s$data$group))` compares them. Functions that take no weights, such as [gpuISC()], stop
#' if there are outliers: give `s$x` and `s$covariates`, with set `"scrub"` among the confounds.
#'
#' @param folder A string: the name of the folder that has the folders `sub-...`.
#' @param task,space,... Strings, by the name of an entity: which scans to read.
#' @param atlas `NULL`: the columns are voxels, those that vary in all scans; or an atlas as [parcelMeans()] takes it.
#' @param confounds,fd Arguments `columns` and `fd` of [readConfounds()]: by default sets `"motion24"` and `"wm_csf"`.
#'   `confounds = NULL` reads none.
#' @param sessions `FALSE`: a subject's sessions are joined, as runs are. `TRUE`: they are separate, for
#'   `combine = "icc3"`, and a subject without all of the sessions is left out.
#' @return A list of class `bidsSubjects`:
#'   * `x`: a list with the matrix of each subject (or its [gpuCorFile()]), by its name, such as `"sub-01"`; with
#'     `sessions = TRUE` with a list of the sessions' matrices. Those of parcels know their centers, for pictures of
#'     networks on a brain: `plot(net, "layout", coords = attr(s$x[[1]], "centers"))`.
#'   * `covariates`, `weights`: lists of the confounds and of their attribute `keep`, with an element for each matrix of
#'     `x`; `NULL` without confounds.
#'   * `data`: the data frame of participants, with a row for each subject of `x`; `NULL` without such a file.
#' @examples
#' # Two subjects with a run of 40 volumes
#' folder <- tempfile("derivatives")
#' set.seed(1)
#' for (sub in c("sub-01", "sub-02")) {
#'   func <- file.path(folder, sub, "func")
#'   dir.create(func, recursive = TRUE)
#'   name <- function(end) file.path(func, paste0(sub, "_task-rest_", end))
#'   img <- array(rnorm(5 * 5 * 4 * 40, 100), c(5, 5, 4, 40))
#'   writeVoxels(img, name("space-MNI_desc-preproc_bold.nii.gz"), tr = 2)
#'   writeVoxels(array(1L, c(5, 5, 4)), name("space-MNI_desc-brain_mask.nii.gz"))
#'   write.table(data.frame(trans_x = rnorm(40)), name("desc-confounds_timeseries.tsv"), quote = FALSE,
#'               row.names = FALSE)
#' }
#'
#' s <- bidsSubjects(folder, atlas = array(rep(1:4, each = 25), c(5, 5, 4)), confounds = "trans_x")
#' s
#' gpuCorNetwork(s, combine = "fisher", density = 0.5)
#' unlink(folder, recursive = TRUE)
#' @export
bidsSubjects <- function(folder, task = NULL, space = NULL, ..., atlas = NULL, confounds = c("motion24", "wm_csf"),
                         fd = NULL, sessions = FALSE) {
  check_string(folder, "folder", "the name of a folder")
  check_that(folder, "folder", dir.exists(folder), "a folder that exists")
  sessions <- check_flag(sessions, "sessions")
  found <- find_scans(folder, Filter(Negate(is.null), list(task = task, space = space, ...)))
  participants <- read_participants(folder)
  if (is.null(confounds)) found$scans$confounds <- NA_character_
  scans <- complete_scans(found, participants, sessions)

  units <- scans$subject # whose scans are joined
  if (sessions) units <- paste0(units, "_ses-", scans$session)
  units <- split(seq_len(nrow(scans)), factor(units, unique(units)))
  joined <- function(read, kept = identity) lapply(units, function(rows) kept(do.call(rbind, lapply(rows, read))))
  x <- joined(kept = new_keeper(), function(k) {
    x <- suppressMessages(voxelMatrix(scans$file[k], if (!is.na(scans$mask[k])) scans$mask[k]))
    if (is.null(atlas)) x else parcelMeans(x, atlas)
  })
  if (is.null(atlas)) x <- with_common_voxels(x, names(x), new_keeper())
  z <- if (!is.null(confounds)) joined(function(k) {
    file <- scans$confounds[k]
    naming(readConfounds(file, confounds, fd), "file", basename(file))
  })
  subjects <- unique(scans$subject)
  if (sessions) x <- unname(split(x, factor(scans$subject[vapply(units, `[`, 0L, 1L)], subjects)))
  names(x) <- subjects
  data <- participants[match(subjects, participants$participant_id), , drop = FALSE]
  if (!is.null(data)) rownames(data) <- subjects
  structure(list(x = x, covariates = z, weights = if (!is.null(z)) lapply(z, attr, "keep"), data = data),
            class = "bidsSubjects")
}

# Returns list(subjects: names of all; scans: a data frame of file, mask, confounds (names of files, NA if none is
# needed), subject and session). `chosen`: a list of entities' values.
find_scans <- function(folder, chosen) {
  check_that(chosen, "...", all(nzchar(names(chosen))) && length(names(chosen)) == length(chosen),
             "named by entities, such as ses = \"1\"", shown = "without a name")
  folders <- list.files(folder, "^sub-[A-Za-z0-9]+$", full.names = TRUE)
  folders <- folders[dir.exists(folders)]
  files <- list.files(file.path(c(folders, list.files(folders, "^ses-", full.names = TRUE)), "func"),
                      "^sub-.*(_desc-preproc_bold[.]nii([.]gz)?|_bold[.]dtseries[.]nii)$", full.names = TRUE)
  if (!length(files)) fail_file("'folder' is ", show_value(folder), ", without scans sub-*/func/*_desc-preproc_bold.*")
  entities <- lapply(files, file_entities)
  values_of <- function(name) vapply(entities, function(own) if (name %in% names(own)) own[[name]] else "", "")
  is_chosen <- rep(TRUE, length(files))
  for (name in names(chosen)) {
    own <- values_of(name)
    found <- own %in% chosen[[name]]
    if (!any(found)) fail("'", name, "' is ", show_value(chosen[[name]]), ", and scans have ", show_entities(own))
    is_chosen <- is_chosen & found
  }
  if (!any(is_chosen)) fail("no scan has ", paste(names(chosen), "=", lapply(chosen, show_value), collapse = ", "))
  files <- files[is_chosen]
  entities <- entities[is_chosen]
  for (name in setdiff(unlist(lapply(entities, names)), c("sub", "ses", "run", "desc", names(chosen)))) {
    own <- values_of(name)
    if (length(unique(own)) > 1L) fail("'", name, "' must be given, as scans have ", show_entities(own))
  }
  named <- function(but, end) file.path(dirname(files), paste0(vapply(entities, entity_name, "", but), end))
  is_volume <- !endsWith(files, ".dtseries.nii")
  mask <- named("desc", ifelse(endsWith(files, ".gz"), "_desc-brain_mask.nii.gz", "_desc-brain_mask.nii"))
  list(subjects = basename(folders),
       scans = data.frame(file = files, mask = ifelse(is_volume, mask, NA_character_),
                          subject = paste0("sub-", values_of("sub")),
                          confounds = named(DERIVED_ENTITIES, "_desc-confounds_timeseries.tsv"),
                          session = values_of("ses"), stringsAsFactors = FALSE))
}

show_entities <- function(values) {
  toString(ifelse(nzchar(unique(values)), paste0('"', unique(values), '"'), "none"))
}

# Returns the table of participants, or NULL if there is none.
read_participants <- function(folder) {
  file <- Find(file.exists, file.path(folder, c(".", "..", "../.."), "participants.tsv"))
  if (is.null(file)) return(NULL)
  data <- with_our_errors(utils::read.delim(file, quote = "", na.strings = "n/a", check.names = FALSE),
                          paste0("'", file, "' cannot be read: "), fail_file)
  if (is.null(data$participant_id)) fail_file("'", file, "' has no column \"participant_id\"")
  data$participant_id <- sub("^(sub-)?", "sub-", data$participant_id)
  data
}

# Returns the scans of subjects that lack nothing. Warns of the others. `found`: from find_scans().
complete_scans <- function(found, participants, sessions) {
  scans <- found$scans
  is_absent <- function(files) !is.na(files) & !file.exists(files)
  lacks <- function(thing, subjects) if (length(subjects)) data.frame(subject = unique(subjects), thing)
  absent <- do.call(rbind, c(
    list(lacks("scan", setdiff(found$subjects, scans$subject)),
         lacks("brain mask", scans$subject[is_absent(scans$mask)]),
         lacks("confounds", scans$subject[is_absent(scans$confounds)])),
    if (!is.null(participants)) list(lacks("row in participants.tsv",
                                           setdiff(scans$subject, participants$participant_id))),
    if (sessions) lapply(unique(scans$session), function(session) {
      lacks(paste("session", session), setdiff(scans$subject, scans$subject[scans$session == session]))
    })
  ))
  if (is.null(absent)) return(scans)
  things <- vapply(split(absent$thing, absent$subject), paste, "", collapse = ", no ")
  words <- paste0(n_of(length(things), "subject"), " of ", length(found$subjects), " left out: ",
                  paste0(names(things), " (no ", things, ")", collapse = ", "))
  scans <- scans[!scans$subject %in% absent$subject, ]
  if (!nrow(scans)) fail_file("'folder' has no subject with all files; ", words)
  warn("gpuCorStudy", words)
  scans
}

#' @method print bidsSubjects
#' @export
print.bidsSubjects <- function(x, ...) {
  series <- series_of_study(x)
  cat(n_of(length(x$x), "subject"), if (length(series) > length(x$x)) paste(" with", length(series), "sessions"), ": ",
      range_of(vapply(series, nrow, 0L), "time point"), " of ", n_of(ncol(series[[1L]]), "column"), "\n", sep = "")
  if (!is.null(x$covariates)) {
    cat(range_of(vapply(x$covariates, ncol, 0L), "confound"), ", ",
        range_of(vapply(x$weights, function(keep) sum(!keep), 0L), "outlier"), "\n", sep = "")
  }
  if (!is.null(x$data)) cat("participants: ", toString(names(x$data)), "\n", sep = "")
  invisible(x)
}

#' @rdname bidsSubjects
#' @param x A list of class `bidsSubjects`.
#' @param i Subjects to keep: their names or numbers, or a logical value for each.
#' @method [ bidsSubjects
#' @export
`[.bidsSubjects` <- function(x, i) {
  kept <- stats::setNames(seq_along(x$x), names(x$x))[i]
  check_that(i, "i", length(kept) && !anyNA(kept), paste("names or numbers of the", n_of(length(x$x), "subject")),
             if (is.logical(i) && anyNA(i)) "; which() leaves out those that are NA")
  subject_of <- rep(seq_along(x$x), each = length(series_of_study(x)) / length(x$x))
  series <- unlist(lapply(kept, function(k) which(subject_of == k)))
  x$x <- x$x[kept]
  for (part in c("covariates", "weights")) x[part] <- list(x[[part]][series])
  if (!is.null(x$data)) x$data <- x$data[kept, , drop = FALSE]
  x
}

#' @rdname bidsSubjects
#' @param f A label for each subject, as in [base::split()].
#' @param drop As in [base::split()].
#' @method split bidsSubjects
#' @export
split.bidsSubjects <- function(x, f, drop = FALSE, ...) {
  check_as_many(length(f), "f", "label", length(x$x), of = "subject")
  lapply(split(seq_along(x$x), f, drop = drop), function(i) x[i])
}
