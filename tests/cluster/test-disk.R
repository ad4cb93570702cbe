# A full disk whose folders need blocks, too: ext4 in a file. (tests/testthat tests tmpfs.)

x <- some_x(20, 400)

test_that("on a full ext4 the line ends with a message, and goes on when there is room", {
  image <- shared("image")
  disk <- shared("disk")
  dir.create(disk)
  system2("truncate", c("-s", "8M", image))
  made <- system2("mkfs.ext4", c("-q", "-m", "0", "-N", "200", image)) == 0
  if (!made || system2("mount", c("-o", "loop", image, disk)) != 0) skip("no loop device can be mounted here")
  on.exit(system2("umount", disk))
  path <- quiet_plan(file.path(disk, "plan"), x, threshold = 0.05, shards = 4)
  fill <- file.path(disk, "fill")
  free <- function() as.numeric(tail(strsplit(system2("df", c("-B1", "--output=avail", disk), TRUE)[2], " +")[[1]], 1))
  said <- character()
  for (leave in 1024 * c(0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 200)) {
    unlink(fill)
    system2("sync")
    system2("fallocate", c("-l", max(0, free() - leave), fill), stderr = FALSE)
    setTimeLimit(elapsed = 30)
    said <- c(said, tryCatch({
      quiet_run(path, "free")
      "done"
    }, error = conditionMessage))
    setTimeLimit()
    states <- gpuCorStatus(path)$state
    expect_true(all(states %in% c("done", "missing")), label = toString(states))
  }
  failed <- said[said != "done"]
  expect_gt(length(failed), 2)
  expect_match(failed, "No space left|disk full|not writable")
  unlink(fill)
  quiet_run(path, "free")
  expect_collected(path, gpuCorNetwork(x, threshold = 0.05))
})
