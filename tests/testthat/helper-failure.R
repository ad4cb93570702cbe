# Memory that cannot be had and a driver that answers with an error.

fail_at <- function(resource, k) .Call(gpucor:::r_set_fault, resource, k)

# What can fail on a back end.
resources_of <- function(backend) if (backend == "cuda") c("host", "device", "call") else "host"

# Let the k-th use of `resource` fail for k = 1, 2, ..., 30, and then every third, as loops repeat theirs, until runs no
# longer use it so often. Some failures may be got round, so a single success is not the end. expect_clean: that nothing
# is left. may_survive: all may be got round, of which a warning tells. Returns the messages.
walk_failures <- function(run, resource, label, expect_clean = expect_nothing_live, may_survive = FALSE) {
  on.exit(fail_at(resource, 0))
  muffle <- function(w) {
    if (grepl("^a GPU failed, and others did", conditionMessage(w))) tryInvokeRestart("muffleWarning")
  }
  run_quietly <- function() if (may_survive) withCallingHandlers(run(), warning = muffle) else run()
  truth <- run()
  expect_clean(label)
  k <- successes <- 0
  messages <- character()
  while (successes < 4) {
    k <- k + if (k < 30) 1 else 3
    fail_at(resource, k)
    result <- tryCatch(run_quietly(), error = conditionMessage)
    fail_at(resource, 0)
    expect_clean(paste(label, resource, k))
    if (is.character(result)) {
      messages <- c(messages, result)
      successes <- 0
    } else {
      successes <- successes + 1
      expect_identical(result, truth, label = paste(label, resource, k, "got round, the result"))
    }
    if (k > 5000) stop("there is no end to ", label)
  }
  expect_identical(run(), truth, label = paste(label, "afterwards"))
  if (!may_survive) expect_gt(length(messages), 0, label = paste(label, resource, "failures"))
  messages
}

ways_out <- c(
  host = "memory for .*(memory =|threads =|fewer columns|close)",
  device = "memory.*(memory =|backend = \"cpu\"|other programs)",
  call = "(CUDA|cuBLAS|GPU|device|driver).*(backend = \"cpu\"|restart|gpuInfo|report)"
)
