/* Queries about GPUs. Plain C, so that the R interface can call them. */
#pragma once

#include "../../gpucor.h"

GCOR_BEGIN_C

typedef struct {
    char name[256];
    int major, minor; /* compute capability */
    int multiprocessors;
    int64_t memory;      /* bytes */
    int64_t memory_free; /* bytes; -1 if not asked, because asking takes some of it */
} cuda_gpu;

/* Number of usable GPUs; if 0, the reason is in reason[size]. Does not open a GPU. */
int cuda_count_gpus(char *reason, size_t size);
/* Describes GPU `device`; ask_free: also asks for its free memory, which opens it. Returns 0 on success. */
int cuda_describe(int device, int ask_free, cuda_gpu *gpu);
/* Versions as 1000 major + 10 minor; 0 without a driver. */
void cuda_versions(int *driver, int *runtime);

GCOR_END_C
