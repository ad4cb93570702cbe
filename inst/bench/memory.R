# What the scripts about memory have in common.

# MB of a line of /proc/self/status: VmRSS, what is resident, or VmHWM, the most so far.
status_mb <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
