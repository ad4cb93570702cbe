# Rscript tests/nulls/run.R SECONDS CORES: runs every case for that time; fails if one is outside of its band.

library(gpucor)
folder <- if (file.exists("tests/nulls")) "tests/nulls" else "."
for (file in c("nulls.R", "data.R", "cases.R")) source(file.path(folder, file))
asked <- as.numeric(commandArgs(TRUE))
rows <- run_cases(null_cases, asked[1L], asked[2L])
print_cases(rows)
quit(status = as.integer(any(is_broken(rows))))
