#' Read the confounds of fMRIPrep
#'
#' `readConfounds()` reads the confounds that fMRIPrep wrote for a scan (`..._desc-confounds_timeseries.tsv`), as a
#' matrix for the argument `covariates` of [gpuCor()] and others.
#'
#' | set | columns |
#' |---|---|
#' | `"motion"` | 6: three translations, three rotations |
#' | `"motion12"` | these and their derivatives |
#' | `"motion24"` | these 12 and their squares |
#' | `"wm_csf"`, `"wm_csf8"` | mean signal of white matter and of CSF; with derivatives and squares |
#' | `"global"`, `"global4"` | mean signal of the brain; with derivative and squares |
#' | `"scrub"` | for each outlier volume a column that is 1 there and 0 elsewhere |
#'
#' Other columns are chosen by name or pattern: `"cosine*"` are fMRIPrep's high-pass filters (leave them out with
#' `bandpass`), and `sprintf("a_comp_cor_%02d", 0:4)` the first five components of aCompCor.
#'
#' **Outliers.** A volume is an outlier if fMRIPrep says so, in a column `motion_outlier...` (by default a framewise
#' displacement above 0.5 mm or a standardized DVARS above 1.5) or `non_steady_state_outlier...`. With `fd`, the
#' framewise displacement alone replaces the former. To leave outliers out of a run give `weights = attr(z, "keep")`,
#' where `z` is the result, or choose set `"scrub"`: Pearson's coefficients are the same.
#'
#' **Missing values.** In its first row fMRIPrep writes `n/a` for derivatives. They are replaced by the values of the
#' second row, as nilearn's `load_confounds()` does. In another row of a chosen column `n/a` is an error.
#'
#' @param file A string: the name of the file (`.tsv`, possibly compressed as `.tsv.gz`).
#' @param columns Strings: sets of columns, see Details, names of columns, or patterns with `*` and `?`.
#' @param fd A number: framewise displacement in mm above which a volume is an outlier. `NULL`: fMRIPrep's outliers.
#' @return A matrix of doubles with a row for each volume and a named column for each confound. Its attribute `keep` is
#'   a logical vector, `FALSE` for outliers; [voxelMatrix()] takes it, too. `rbind()` joins [runs].
#' @examples
#' file <- tempfile(fileext = ".tsv")
#' set.seed(1)
#' motion <- apply(matrix(rnorm(60 * 6, 0, 0.02), 60), 2, cumsum)
#' colnames(motion) <- c("trans_x", "trans_y", "trans_z", "rot_x", "rot_y", "rot_z")
#' displacement <- c("n/a", rowSums(abs(diff(motion))))
#' table <- data.frame(motion, framewise_displacement = displacement)
#' write.table(table, file, sep = "\t", quote = FALSE, row.names = FALSE)
#'
#' z <- readConfounds(file, "motion", fd = 0.15)
#' x <- matrix(rnorm(60 * 4), 60)
#' gpuCor(x, covariates = z, weights = attr(z, "keep"))
#' unlink(file)
#' @export
readConfounds <- function(file, columns = c("motion24", "wm_csf"), fd = NULL) {
  file <- check_data_file(file)
  ok <- is.character(columns) && length(columns) > 0L && all(!is.na(columns) & nzchar(columns))
  check_that(columns, "columns", ok, "names of sets or of columns, such as \"motion\"")
  frame <- read_confounds(file)
  matrix_of <- function(columns) { # names, each of one column, or a logical value for each column
    twice <- if (is.character(columns)) intersect(columns, names(frame)[duplicated(names(frame))])
    if (length(twice)) {
      fail_file("'file' has ", sum(names(frame) == twice[1L]), " columns \"", twice[1L],
                "\"; rename those to leave out")
    }
    z <- frame[columns]
    for (name in names(z)[!vapply(z, is_variables, NA)]) {
      text <- as.character(z[[name]])
      is_number <- vapply(text, function(value) {
        is.na(value) || is_numeric(utils::type.convert(value, as.is = TRUE))
      }, NA)
      row <- which(!is_number)[1L]
      fail_file("column \"", name, "\" of 'file' has text in row ", row, ", ", show_value(text[row]))
    }
    matrix(as.double(unlist(z)), nrow(frame), length(z), dimnames = list(NULL, names(z)))
  }
  is_flagged <- function(prefix) rowSums(matrix_of(startsWith(names(frame), prefix)) != 0, na.rm = TRUE) > 0
  outlier <- if (is.null(fd)) {
    is_flagged("motion_outlier")
  } else {
    fd <- check_within(fd, "fd", 0, Inf)
    name <- "framewise_displacement"
    moved <- if (name %in% names(frame)) matrix_of(name)[, 1L]
    if (all(is.na(moved))) {
      fail("'fd' needs column \"", name, "\", which ",
           if (is.null(moved)) "'file' does not have" else "has no numbers in 'file'")
    }
    !is.na(moved) & moved > fd # the first volume has no displacement
  }
  outlier <- unname(outlier | is_flagged("non_steady_state_outlier"))
  available <- names(frame)
  names <- unlist(lapply(setdiff(columns, "scrub"), function(column) {
    set <- CONFOUND_SETS[[column]]
    chosen <- if (!is.null(set)) set else grep(utils::glob2rx(column), available, value = TRUE)
    absent <- if (length(chosen)) setdiff(chosen, available) else column
    if (!length(absent)) return(chosen)
    meant <- if (is.null(set)) meant_value(column, c(names(CONFOUND_SETS), available))
    fail("'file' has no column \"", absent[1L], "\"", if (!is.null(set)) paste0(" of set \"", column, "\""),
         if (is.null(meant)) paste("; it has", n_of(length(available), "other column")) else meant)
  }))
  z <- matrix_of(unique(names))
  missing <- is.na(z[1L, ])
  z[1L, missing] <- z[2L, missing]
  absent <- which(is.na(z), arr.ind = TRUE)
  if (length(absent)) {
    fail_file("'file' has n/a in column \"", colnames(z)[absent[1L, 2L]], "\", row ", absent[1L, 1L],
              "; choose other columns")
  }
  if ("scrub" %in% columns) {
    spikes <- outer(seq_along(outlier), which(outlier), "==") + 0
    colnames(spikes) <- sprintf("outlier_%d", which(outlier))
    z <- cbind(z, spikes)
  }
  structure(z, keep = !outlier, class = c("scanMatrix", class(z)))
}

read_confounds <- function(file) {
  bytes <- read_whole(file)
  if (identical(bytes[1:3], as.raw(c(0xef, 0xbb, 0xbf)))) bytes <- bytes[-(1:3)] # a byte-order mark
  if (any(bytes == 0) || !validUTF8(rawToChar(bytes))) {
    fail_file("'file' is no text in UTF-8, \"", file, "\"; give fMRIPrep's table of confounds (.tsv)")
  }
  connection <- rawConnection(bytes)
  on.exit(close(connection))
  lines <- readLines(connection, warn = FALSE, encoding = "UTF-8") # which end in LF, CRLF or CR
  lines <- lines[seq_len(max(0L, which(nzchar(lines))))] # without empty ones at the end
  if (length(lines) < 3L) {
    fail_file("'file' has ", n_of(max(0L, length(lines) - 1L), "row"), ", \"", file, "\"; a series has more")
  }
  n_fields <- nchar(gsub("[^\t]+", "", lines, useBytes = TRUE), "bytes") + 1L
  odd <- which(n_fields != n_fields[1L])[1L]
  if (!is.na(odd)) {
    fail_file("'file' has ", n_of(n_fields[odd], "field"), " in row ", odd - 1L, " and ", n_fields[1L],
              " in its header, \"", file, "\"; every row needs a number or n/a for each column")
  }
  # A table of BIDS has neither quotes nor comments.
  utils::read.table(text = lines, header = TRUE, sep = "\t", quote = "", comment.char = "", row.names = NULL,
                    na.strings = c("n/a", "NaN", "NA", ""), check.names = FALSE, fill = FALSE, strip.white = TRUE,
                    blank.lines.skip = FALSE)
}

CONFOUND_SETS <- local({
  variants <- c("", "_derivative1", "_power2", "_derivative1_power2")
  with_variants <- function(names, n) as.vector(outer(names, variants[seq_len(n)], paste0))
  motion <- paste0(rep(c("trans", "rot"), each = 3L), "_", c("x", "y", "z"))
  list(motion = motion, motion12 = with_variants(motion, 2), motion24 = with_variants(motion, 4),
       wm_csf = c("white_matter", "csf"), wm_csf8 = with_variants(c("white_matter", "csf"), 4),
       global = "global_signal", global4 = with_variants("global_signal", 4))
})
