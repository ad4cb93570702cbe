# Rscript store.R, in this folder, with gpucor and WGCNA installed, takes ten minutes: the tests named here call WGCNA
# itself, and stored.rds is written, a list of what by_package() of ../helper-reference.R returned. If one fails, the
# file stays as it was.

Sys.setenv(GPUCOR_TESTS = "full")
record <- new.env()
options(gpucor.test_record = record)
for (name in c("power", "tom", "bicor", "preservation")) {
  testthat::test_file(file.path("..", paste0("test-", name, ".R")), package = "gpucor", load_package = "installed",
                      reporter = c("summary", "fail"))
}
stored <- mget(sort(ls(record)), record)
stored$`made with` <- paste("WGCNA", utils::packageVersion("WGCNA"))
saveRDS(stored, "stored.rds", version = 2, compress = "xz")
