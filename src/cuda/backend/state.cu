/* Chooses a GPU, asks what it is like, and waits for it. */
#include "info.h"
#include "state.cuh"

#include <sched.h>

/* ---- opening ------------------------------------------------------------------------------ */

/* A kernel that exists for every GPU that the package was built for. */
static __global__ void probe_kernel() {}

void choose_device(int device) {
    char reason[512];
    int gpus = cuda_count_gpus(reason, sizeof reason);
    if (gpus == 0) throw Failure(GCOR_NO_BACKEND, "CUDA cannot be used: %s; use backend = \"cpu\"", reason);
    if (device < 0 || device >= gpus)
        throw Failure(GCOR_NO_BACKEND, "there is no GPU %d, only 0 to %d; see gpuInfo()", device, gpus - 1);
    check(cudaSetDevice(device), "choosing the GPU");
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, probe_kernel) == cudaSuccess) return;
    (void)cudaGetLastError();
    cuda_gpu gpu{};
    (void)cuda_describe(device, 0, &gpu);
    throw Failure(GCOR_NO_BACKEND,
                  "the package holds no code for GPU %d (%s, compute capability %d.%d); install it again with "
                  "GPUCOR_CUDA_ARCH=%d%d, or use backend = \"cpu\"",
                  device, gpu.name, gpu.major, gpu.minor, gpu.major, gpu.minor);
}

static int ask(const gcor_state *state, cudaDeviceAttr attribute) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, attribute, state->device), "asking the GPU");
    return value;
}

static bool find_wgmma(const gcor_state *state) {
#ifdef GPUCOR_SM90A
    return ask(state, cudaDevAttrComputeCapabilityMajor) == 9 && ask(state, cudaDevAttrComputeCapabilityMinor) == 0;
#else
    (void)state;
    return false;
#endif
}

void ask_memory(gcor_state *state) {
    size_t free_bytes = 0, total = 0;
    check(cudaMemGetInfo(&free_bytes, &total), "asking the GPU");
    state->free_memory = (int64_t)free_bytes;
    state->total_memory = (int64_t)total;
    state->asked = gcor_seconds();
}

void ask_gpu(gcor_state *state) {
    state->processors = ask(state, cudaDevAttrMultiProcessorCount);
    state->has_wgmma = find_wgmma(state);
    ask_memory(state);
}

/* ---- waiting ------------------------------------------------------------------------------- */

void wait_for(gcor_context *context, const Event &event) {
    cudaError_t error;
    while ((error = cudaEventQuery(event.handle)) == cudaErrorNotReady) {
        if (gcor_stop(context)) throw Stopped{context->error.status};
        sched_yield();
    }
    check(error, "computing");
}

void wait_for(gcor_state *state, const Event &event) {
    wait_for(state->context, event);
}

void wait_for_compute(gcor_state *state) {
    state->step.record(state->compute);
    wait_for(state, state->step);
}

void allow_shared(gcor_state *state, const void *kernel, int bytes) {
    if (state->kernels.count(kernel)) return;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "asking for shared memory");
    state->kernels.insert(kernel);
}
