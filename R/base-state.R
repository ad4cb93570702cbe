# What the package remembers for a session: the GPUs from chooseGpu(), messages shown once, the job with a progress bar.

state <- new.env(parent = emptyenv())
