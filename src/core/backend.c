/* The back ends of this build. */
#include "gpucor.h"

#include <string.h>

static const gcor_backend *const backends[] = {
#ifdef GPUCOR_CUDA
    &gcor_cuda,
#endif
    &gcor_cpu,
    NULL,
};

const gcor_backend *gcor_backend_named(const char *name) {
    int k = 0;
    while (backends[k] && strcmp(backends[k]->name, name) != 0) k++;
    return backends[k];
}
