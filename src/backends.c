/* The back ends of this build, in the order of preference. The file is above all of them, so that none knows another.
 */
#include "gpucor.h"

#include "configured.h"

#include <stdio.h>
#include <string.h>

#ifndef GPUCOR_CUDA
static int count_none(char *reason, size_t size) {
    snprintf(reason, size, "the package was built without CUDA: %s", GPUCOR_WITHOUT_CUDA);
    return 0;
}

/* It has no devices, so nobody calls the functions that are missing. */
static const gcor_backend gcor_cuda = {.name = "cuda", .count = count_none};
#endif

static const gcor_backend *const backends[] = {&gcor_cuda, &gcor_cpu, NULL};

const gcor_backend *gcor_backend_at(int k) {
    int n = (int)(sizeof backends / sizeof *backends);
    return k >= 0 && k < n ? backends[k] : NULL;
}

const gcor_backend *gcor_backend_named(const char *name) {
    int k = 0;
    while (backends[k] && strcmp(backends[k]->name, name) != 0) k++;
    return backends[k];
}
