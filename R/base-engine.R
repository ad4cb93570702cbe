# What R reads from the engine when the package is loaded: the table of measures, and constants that both sides use.

engine <- new.env(parent = emptyenv())

# What the package remembers for a session: the GPUs from chooseGpu(), messages shown once, the job with a progress bar,
# and files of plans whose checksums were right.
state <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  tables <- .Call(r_tables)
  if (is.null(tables)) {
    stop("gpucor was installed again, but this session still has the library of the earlier installation in memory; ",
         "restart R", call. = FALSE)
  }
  engine$constants <- tables$constants
  table <- tables$measures
  engine$measures <- table$name
  engine$rows <- lapply(stats::setNames(seq_along(table$name), table$name), function(k) lapply(table, `[`, k))
}

constant <- function(name) engine$constants[[name]]

# Returns a method's row of the table of measures: name, title, ranked, common, distribution, df_taken, and for a design
# centred, options, takes_covariates, takes_weights (also whitens), has_partial, refusal; is_product; min_obs;
# last_step.
measure_of <- function(method) engine$rows[[method]]

# Checks an argument 'method'; an error lists `first` before the others.
check_method <- function(method, first = "pearson", hint = "") {
  own <- GROUP_METHODS[["distance"]] # the engine's name
  if (is.character(method) && length(method) == 1L && method %in% engine$measures && method != own) return(method)
  if (is_one_string(method) && method %in% c("rho_p", "proportionality", "propr")) {
    hint <- paste0("; rho_p is method = \"concordance\" with options = list(means = FALSE), of log-ratios, see ",
                   "?\"gpucor-measures\"")
  }
  check_choice(method, setdiff(union(first, engine$measures), own), "method", hint)
}

# Returns the help's words for the measures of any two columns.
measures_in_words <- function() {
  listed(setdiff(engine$measures, c("given", GROUP_METHODS)), "or", quote = "\"")
}

method_title <- function(method) measure_of(method)$title

# Returns the title within a sentence.
method_words <- function(method) sub("^(\\w)(?!\\w*'s)", "\\L\\1", method_title(method), perl = TRUE)

# Returns what has coefficients with others.
column_word <- function(method) if (method %in% GROUP_METHODS) "group" else "variable"

# Returns words for too few values for a coefficient.
few_words <- function(method) {
  min <- measure_of(method)$min_obs
  paste("fewer than", if (min == 2L) "two" else min, "values")
}

# Returns TRUE if the method's p values follow from Student's t, the coefficient and the number of observations.
is_t_distributed <- function(method) measure_of(method)$distribution == "t"

# Returns TRUE if the method has p values without permutation.
has_distribution <- function(method) measure_of(method)$distribution != "none"

# Returns TRUE if the method's p values also depend on ties.
depends_on_ties <- function(method) measure_of(method)$distribution == "normal"

# Returns TRUE if only large coefficients are evidence of dependence, and negative ones are none.
is_one_sided <- function(method) measure_of(method)$distribution == "chi-squared"

# Returns TRUE if coefficients are of Fourier coefficients of series, which R makes the basis of.
is_of_spectra <- function(method) measure_of(method)$last_step == "complex"

# Returns TRUE if coefficients are from 0 to 1.
is_never_negative <- function(method) is_of_spectra(method) || method == "mi"

# Centrality measures: the values of the argument `maps`, and the names of a result's elements.
map_names <- c("mean", "z", "icc", "eigenvector")

# The engine's measures of groups of columns, by the user's `method`; see data-groups.R.
GROUP_METHODS <- c(distance = "distance of groups", rv = "rv")

# Methods whose confidence intervals have the level that they claim for normal data. Those of bicor do not: at a level
# of 0.95 and a correlation of 0.9, 0.92 to 0.93 of them contain it, for any number of observations.
INTERVAL_METHODS <- c("pearson", "kendall", "spearman", "cosine")

# The variance of a z of n observations, times n - 3. That of bicor is 0.95 to 1.0 without a correlation, and 1.1 to 1.2
# if it is 0.9.
Z_VARIANCES <- c(pearson = 1, spearman = 1.06, bicor = 1.1)

# Returns the number of pairs of n columns.
pairs_of <- function(n) n * (n - 1) / 2

# ---- the sign of coefficients that count

signs <- c("absolute", "positive", "negative")

# Returns the weights by which coefficients are compared.
weights_of <- function(values, sign) switch(sign, absolute = abs(values), positive = values, negative = -values)

# Returns the sign of the coefficients with small p values.
tested_sign <- function(method) if (is_one_sided(method)) "positive" else "absolute"
