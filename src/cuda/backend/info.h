/* What GPUs there are. Plain C, so that the glue can ask. */
#ifndef GPUCOR_CUDA_INFO_H
#define GPUCOR_CUDA_INFO_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    char name[256];
    int major, minor; /* compute capability */
    int multiprocessors;
    int64_t memory;      /* bytes */
    int64_t memory_free; /* bytes; -1: not asked, as asking takes some of it */
} cuda_gpu;

/* How many usable GPUs there are; 0 with the reason in reason[size]. No GPU is touched. */
int cuda_count_gpus(char *reason, size_t size);
/* Describe GPU `device`; `ask_free` opens it to ask for its free memory. Returns 0 on success. */
int cuda_describe(int device, int ask_free, cuda_gpu *gpu);
/* Versions as 1000 major + 10 minor; 0: no driver. */
void cuda_versions(int *driver, int *runtime);

#ifdef __cplusplus
}
#endif
#endif
