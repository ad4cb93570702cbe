/* Hierarchical clustering on a GPU. */
#ifndef GPUCOR_CUDA_HCLUST_CUH
#define GPUCOR_CUDA_HCLUST_CUH

#include "backend/state.cuh"
#include "../stats/hclust.h"

/* gcor_backend's cluster(). */
void cuda_cluster(gcor_state *state, const gcor_hclust &job);

#endif
