# What R takes from the engine when the package is loaded: the table of measures, and the numbers that both sides know.

engine <- new.env(parent = emptyenv())

.onLoad <- function(libname, pkgname) {
  engine$constants <- .Call(r_constants)
  engine$methods <- measures()$name
}

# A number by the engine's name for it.
constant <- function(name) engine$constants[[name]]

# The measures, as columns of a table. Asked for anew each time: another package may have added one.
measures <- function() .Call(r_measures)

# A method's properties: name, title, ranked, common, distribution, df_taken, and what a design asks: centred, options,
# takes_covariates, refusal.
measure_of <- function(method) lapply(measures(), `[`, method_code(method) + 1L)

# An argument 'method', whose default is the names of the package's own measures, `first` before the others.
check_method <- function(method, first = "pearson", way_out = "") {
  if (identical(method, engine$default)) return(method[1L])
  if (is.character(method) && length(method) == 1L && method %in% engine$methods) return(method)
  if (length(method) == length(engine$methods) && all(engine$methods %in% method)) {
    engine$default <- method # for the next call
    return(method[1L])
  }
  check_choice(method, union(first, measures()$name), "method", way_out)
}

# The number by which the engine knows a method.
method_code <- function(method) {
  own <- match(method, engine$methods)
  (if (is.na(own)) match(method, measures()$name) else own) - 1L
}

method_title <- function(method) measure_of(method)$title

# Whether the method's p values follow from its coefficient and the number of observations by Student's t; otherwise
# they depend on ties, too.
is_t_distributed <- function(method) measure_of(method)$distribution == "t"

# Centrality measures: the argument `maps`, and elements of a result.
map_names <- c("mean", "z", "icc", "eigenvector")
