# What a session remembers: the GPUs that chooseGpu() chose, messages that were shown, the job whose progress is shown.

state <- new.env(parent = emptyenv())
