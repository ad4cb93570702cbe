# Class gpuCor: numbers of observations, t scores and p values of coefficients, with the names of package gputools.

methods::setOldClass(c("gpuCor", "allPairs", "dist"))
methods::setOldClass(c("gpuTOM", "allPairs", "dist"))

# Returns why t and p do not follow from the coefficients, or NULL if they do.
why_untestable <- function(x, use, settings) {
  if (is_combined(x)) return("these are coefficients of many subjects combined")
  if (is_designed(settings$design)) {
    asked <- setdiff(names(settings$asked), "data") # 'data' belongs to 'covariates'
    return(paste("with", paste0("'", asked, "'", collapse = ", "), "the number of observations does not tell"))
  }
  if (uses[use] != "pairwise.complete.obs") return(NULL)
  absent <- if (is_outside(x)) has_missing(x) else anyNA(if (isS4(x)) x@x else x)
  if (absent) "pairs may have different observations"
}

GPUTOOLS_PARTS <- c("coefficients", "pairs", "ts", "p.value")

#' @rdname gpuCor-class
#' @param name `"coefficients"`, `"pairs"`, `"ts"` or `"p.value"`. May be abbreviated.
#' @export
`$.gpuCor` <- function(x, name) {
  part <- GPUTOOLS_PARTS[pmatch(name, GPUTOOLS_PARTS)]
  if (is.na(part)) {
    fail("coefficients have no '", name, "'; there are ", paste0("$", GPUTOOLS_PARTS, collapse = ", "))
  }
  if (part == "coefficients") return(as.matrix(x))
  tests <- attr(x, "tests")
  if (!is.null(tests)) return(tests[[part]])
  if (part == "pairs") observed_pairs(x, part) else scored_pairs(x, part)
}

#' @importFrom utils .DollarNames
#' @rawNamespace S3method(.DollarNames, gpuCor)
.DollarNames.gpuCor <- function(x, pattern = "") { # nolint: object_name_linter.
  grep(pattern, GPUTOOLS_PARTS, value = TRUE)
}

need_tests <- function(why, part) {
  fail("there is no $", part, " of these coefficients: ", why, "; gpuCor(..., test = TRUE) finds it with them")
}

# Returns the number of observations of each pair; NA for pairs without coefficients.
observed_pairs <- function(x, part) {
  if (!is.null(attr(x, "untestable"))) need_tests(attr(x, "untestable"), part)
  n <- as.matrix(x)
  n[!is.na(n)] <- attr(x, "n_obs")
  n
}

# Returns t scores or two-sided p values from the coefficients and the numbers of observations.
scored_pairs <- function(x, part) {
  method <- attr(x, "method")
  need_distribution(method)
  if (depends_on_ties(method)) need_tests("they follow from the ties of the data, too", part)
  if (!is_t_distributed(method)) need_tests("they do not follow from Student's t", part)
  if (part == "p.value") check_testable(method, NULL)
  n <- observed_pairs(x, part)
  df <- n - measure_of(method)$df_taken
  r <- as.matrix(x)
  ts <- r * sqrt(df / (1 - r^2))
  ts[n < MIN_OBS] <- NA
  if (part == "ts") return(ts)
  if (method == "spearman") return(rank_p(r, attr(x, "n_obs"), part))
  ts[] <- 2 * stats::pt(-abs(ts), df)
  ts[n < min_tested(method)] <- NA
  `diag<-`(ts, NA)
}

rank_p <- function(r, n, part) {
  if (n < MIN_OBS) return(r * NA)
  if (n <= EXACT_UNTOLD) need_tests("with so few observations they follow from the ties of the data, too", part)
  r[] <- p_of_r(r, t_distribution(NULL, n, TRUE), 1L)
  `diag<-`(r, NA)
}

# Computes coefficients from checked arguments; `call`: the call that the result shows.
all_coefficients <- function(input, method, use, output, settings, call) {
  values <- coefficients_as(input, method, use, output, settings, call)
  if (is_combined(input$x)) warn_missing_subjects(values, input, use)
  values
}

coefficients_as <- function(input, method, use, output, settings, call) {
  if (!is.null(input$y)) return(cor_rectangle(input, method, use, settings))
  labels <- colnames(input$x)
  if (output == "matrix") {
    return(run(input$x, NULL, method, use, "square", settings, matrix_attributes(labels, labels)))
  }
  run(input$x, NULL, method, use, "row", settings,
      c(dist_attributes(input$x, method, call), list(untestable = why_untestable(input$x, use, settings),
                                                     adjusted = adjustment_of(settings, input$x))))
}

cor_rectangle <- function(input, method, use, settings) {
  attributes <- matrix_attributes(colnames(input$x), colnames(input$y))
  values <- run(input$x, input$y, method, use, "rectangle", settings, attributes)
  if (input$scalar) as.vector(values) else values
}

# Warns about pairs without a coefficient because a column has no values in a subject, or with "everything" misses some.
# run() has warned about constant columns.
warn_missing_subjects <- function(values, input, use) {
  if (!anyNA(values) || isTRUE(input$x$skips)) return(invisible())
  is_missing <- function(m) {
    do.call(cbind, lapply(m$data, function(own) {
      unlist(column_blocks(own, function(block) {
        if (uses[use] == "everything") colSums(is.na(block)) > 0 else colSums(!is.na(block)) < 2
      }))
    }))
  }
  found <- lapply(Filter(Negate(is.null), input[c("x", "y")]), is_missing)
  texts <- unlist(Map(found, names(found), f = function(is_missing, name) {
    subjects <- unique((which(colSums(is_missing) > 0) - 1) %/% input$x$sessions + 1)
    columns <- which(rowSums(is_missing) > 0)
    if (length(columns)) {
      paste0(column_names(columns, colnames(input[[name]])), " of '", name, "' in ",
             ngettext(length(subjects), "subject ", "subjects "), show_numbers(subjects))
    }
  }))
  if (!length(texts)) return(invisible())
  left <- vapply(found, function(is_missing) sum(rowSums(is_missing) == 0), 0)
  pairs <- count_pairs(input$x, input$y) - if (is.null(input$y)) pairs_of(left) else prod(left)
  warning(n_of(pairs, "pair"), if (pairs == 1) " has" else " have", " no coefficient, as values are missing in ",
          paste(texts, collapse = " and in "), na_rm_hint(input$x), call. = FALSE)
}
