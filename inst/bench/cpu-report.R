# The report of cpu.R.

heading <- function(...) {
  emit("== ", ...)
  emit("")
}
# Formats a line of a table; columns at the end may be omitted.
fields <- function(format, ...) {
  values <- c(...)
  columns <- lengths(regmatches(format, gregexpr("%", format)))
  values <- c(values, rep("", columns - length(values)))
  emit(sub(" +$", "", do.call(sprintf, as.list(c(format, values)))))
}
seconds_text <- function(x) if (length(x) == 1 && is.finite(x)) sprintf("%.3f", x) else "-"
rate_of <- function(n_var, seconds) pairs_of(n_var) / seconds / 1e6

# ---- the machine

describe_cpu <- function() {
  say(cpu_name(), ", ", parallel::detectCores(), " cores, ", all_threads,
      " threads, instructions ", paste(machine$instructions, collapse = ", "), "; ", R.version.string)
  giga <- function(rate) paste(number(rate / 1e9), "G")
  say("Measured here, all threads: XOR and popcount ", giga(rates$popcount), " words/s, multiply-adds ",
      giga(rates$float), " floats/s or ", giga(rates$double), " doubles/s, writing fresh memory ", giga(rates$fill),
      "B/s. ", if (anyNA(rates)) "Where there is none (-), shares of the peak are left out.")
  if (quick) say("A quick look: smaller problems, for which nothing is asked of gpucor.")
  emit("")
}

describe_peers <- function() {
  found <- vapply(packages, has, TRUE)
  if (!all(found)) say("Not installed, left out: ", paste(names(packages)[!found], collapse = ", "))
  packages <<- packages[found]
  blas <- extSoftVersion()[["BLAS"]]
  core <- Sys.getenv("OPENBLAS_CORETYPE")
  names <- unique(packages)
  say("Peers: ", paste(names, vapply(names, function(p) format(utils::packageVersion(p)), ""), collapse = ", "),
      "; BLAS: ", blas, if (nzchar(core)) paste0(" (OPENBLAS_CORETYPE=", core, ")"), ". WGCNA and gpucor use ",
      all_threads, " threads, the others have one. Spearman by WGCNA::cor: of apply(x, 2, rank). ",
      "N is less where all variables would take minutes. Networks: the peers compute the matrix only.")
  emit("")
}

# ---- requirements for gpucor

musts <- list()
# Two fields of a line: the requirement and whether it is met, which is recorded under a name.
judge <- function(name, must, unit, reached) {
  if (quick || is.na(must)) return(c("", ""))
  met <- if (isTRUE(reached)) "yes" else "no"
  musts[[paste0(name, ", ", number(must, 4), " ", unit)]] <<- met
  c(paste(number(must, 4), unit), met)
}
print_musts <- function() {
  if (!length(musts)) return(invisible())
  failed <- names(musts)[musts == "no"]
  say("Of ", length(musts), " musts ", length(musts) - length(failed), " are met",
      if (length(failed)) paste0("; not: ", paste(failed, collapse = "; ")), ".")
}

# ---- against other packages

PEER_COLUMNS <- "  %-16s %7s %9s %9s %9s %10s %9s %9s %4s"
peer_titles <- function() {
  fields(PEER_COLUMNS, "", "N", "seconds", "of it gc", "slowest", "M pairs/s", "ratio", "must", "met")
}

compare_title <- function(title, n_var, n_obs, own) {
  edges <- if (isTRUE(own$edges > 0)) paste0(", ", number(own$edges, 10), " edges")
  emit(title, ": ", number(n_var, 6), " variables, ", number(n_obs, 4), " observations", edges)
}

# The minimum seconds of a unit's work, by the measured rates. Ties take a second count of each word; sums over pairs
# use products in double.
unit_seconds <- function(task) {
  pairs <- pairs_of(task$n_var)
  unit <- if (task$method == "kendall") "popcount" else if (task$kind == "powers") "double" else "float"
  ties <- task$data != "normal"
  work <- if (unit == "popcount") ceiling(pairs_of(task$n_obs) / 64) * (1 + ties) else task$n_obs
  seconds <- pairs * work / rates[[unit]]
  names(seconds) <- c(popcount = "popcount", double = "multiply-add (double)", float = "multiply-add (float)")[[unit]]
  if (task$kind == "dist") c(seconds, "fresh memory" = 4 * pairs / rates$fill) else seconds
}

shares_text <- function(task, run) {
  shares <- unit_seconds(task) / run
  shares <- shares[is.finite(shares)]
  if (!length(shares)) return("")
  paste0("; share of the peak: ", paste(names(shares), sprintf("%.2f", shares), collapse = ", "))
}

found_text <- function(found) {
  if (is.null(found) || is.na(found$off)) return("")
  wrong <- if (!is.na(found$wrong)) paste0(", ", found$wrong, " wrongly an edge or not")
  paste0("; off from stats::cor by ", sprintf("%.1e", found$off), " at most of ", number(found$checked, 5), " pairs",
         wrong)
}

own_lines <- function(task, own, rate, title) {
  if (!is.null(own$error)) return(say("gpucor: ", own$error, indent = 2))
  reached <- rate_of(task$n_var, own$seconds)
  fields(PEER_COLUMNS, "gpucor", number(task$n_var, 6), seconds_text(own$seconds), seconds_text(own$collecting),
         seconds_text(own$slowest), number(reached), "", judge(title, rate, "M/s", reached >= rate))
  say("in the run ", number(own$stages[3]), " s: preparing ", number(own$stages[1]), ", multiplying and delivering ",
      number(own$stages[2]), shares_text(task, own$stages[3]), found_text(own$found), indent = 4)
}

peer_line <- function(task, peer, own, must, title) {
  name <- if (task$method == "spearman" && task$who == "WGCNA::cor") "ranks, WGCNA" else task$who
  if (task$kind == "powers") name <- "WGCNA, the fit"
  if (!is.null(peer$error)) return(say(name, ": ", peer$error, indent = 2))
  rate <- rate_of(task$n_var, peer$seconds)
  # Rates are compared: all pairs of the peer's variables, and all pairs of gpucor's own.
  ratio <- if (is.null(own$error)) rate_of(own$n_var, own$seconds) / rate else NA
  fields(PEER_COLUMNS, name, number(task$n_var, 6), seconds_text(peer$seconds), seconds_text(peer$collecting),
         seconds_text(peer$slowest), number(rate), number(ratio),
         judge(paste0(title, " against ", name), must, "x", ratio >= must))
}

# ---- large networks

LARGE_COLUMNS <- "  %-10s %9s %9s %9s %9s %12s %9s %6s %4s"
large_titles <- function() {
  fields(LARGE_COLUMNS, "", "seconds", "M pairs/s", "peak MB", "result", "edges", "r off", "must", "met")
}
large_line <- function(method, own, must) {
  if (!is.null(own$error)) return(say(method, ": ", own$error, indent = 2))
  fields(LARGE_COLUMNS, method, number(own$seconds), number(rate_of(own$n_var, own$seconds)),
         number(own$peak / 1e6, 4), number(own$size / 1e6, 4), number(own$edges, 10), sprintf("%.1e", own$found$off),
         judge(paste0("large network, ", method), must, "s", own$seconds < must))
  if (isTRUE(own$found$wrong > 0)) say(own$found$wrong, " of ", own$found$checked, " pairs are wrong", indent = 4)
}

# ---- scaling

SIZE_COLUMNS <- "  %7s %18s %18s %18s %18s"
size_titles <- function(names) fields(SIZE_COLUMNS, "N", names)
size_cell <- function(n_var, own) {
  if (is.null(own)) return("no memory")
  if (!is.null(own$error)) return("failed")
  each <- 1e9 * c(own$stages[3], own$slowest) / pairs_of(n_var)
  paste(number(each[1]), "to", number(each[2]))
}
size_line <- function(n_var, results) {
  fields(SIZE_COLUMNS, number(n_var, 6), vapply(results, function(own) size_cell(n_var, own), ""))
}

thread_columns <- function(counts) paste0("  %-30s", strrep(" %10s", counts))
threads_titles <- function(counts) {
  fields(thread_columns(length(counts)), "threads", counts)
}
threads_lines <- function(name, results) {
  run <- vapply(results, function(own) if (is.null(own$error)) own$stages[3] else NA_real_, 0)
  fields(thread_columns(length(run)), name, vapply(run[1] / run, number, ""))
  fields(thread_columns(length(run)), "  seconds", vapply(run, seconds_text, ""))
}

# ---- instruction sets

SET_COLUMNS <- "  %-10s %12s %14s %14s %16s"
set_titles <- function(names) fields(SET_COLUMNS, "", names)
set_line <- function(set, results) {
  fields(SET_COLUMNS, set, vapply(results, function(own) {
    if (is.null(own$error)) number(rate_of(own$n_var, own$stages[3])) else "failed"
  }, ""))
}
