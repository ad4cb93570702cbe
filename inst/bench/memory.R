# Shared by the scripts that measure memory.

# MB of a line of /proc/self/status: VmRSS, resident memory, or VmHWM, its peak.
status_mb <- function(field) {
  line <- grep(field, readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}
