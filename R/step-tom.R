# Topological overlap of one data set.

tom_types <- c("signed", "unsigned", "signed Nowick", "unsigned 2", "signed 2", "signed Nowick 2")

tom_denominators <- c("min", "mean")

# Returns the rule that the engine reads, with the arguments as `names`.
overlap_rule <- function(power, type, tom_type, denominator, replaces_missing) {
  if (!is_number(power) || !is.finite(power) || power <= 0) {
    fail("'power' must be a positive number, not ", show_value(power))
  }
  signed <- tom_type == "signed Nowick" || (tom_type == "signed" && type == "unsigned")
  list(similarity = constant(type), power = as.numeric(power), keeps_sign = signed,
       is_absolute = tom_type %in% c("signed", "signed 2"), is_halved = endsWith(tom_type, "2"),
       is_mean = denominator == "mean", replaces_missing = replaces_missing,
       names = list(power = as.numeric(power), type = type, TOMType = tom_type, TOMDenom = denominator))
}

tom_settings <- function(settings, rule, input, method, use) {
  if (length(settings$asked)) settings <- designed_input(settings, input, method, use)
  settings$overlap <- rule
  settings
}

tom_of_all <- function(x, rule, method, use, output, settings, call) {
  use <- check_use(use)
  check_matrix_like(x, COLUMNS)
  input <- check_input(x, NULL, use, method, settings$assay)
  settings <- tom_settings(settings, rule, input, method, use)
  labels <- colnames(input$x)
  check_run_memory(input$x, NULL, method, use, layout_of(NULL, output), settings, "gpuTOM()",
                   "output = \"network\" keeps the largest overlaps only")
  if (output == "matrix") {
    return(run(input$x, NULL, method, use, "square", settings, matrix_attributes(labels, labels)))
  }
  run(input$x, NULL, method, use, "row", settings,
      c(tom_attributes(input$x, method, rule, call), list(adjusted = adjustment_of(settings, input$x))))
}

tom_attributes <- function(x, method, rule, call) {
  attributes <- dist_attributes(x, method, call)
  attributes$class <- NULL
  c(attributes, rule$names, list(class = c("gpuTOM", "allPairs", "dist")))
}
