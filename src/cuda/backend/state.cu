/* Chooses a GPU, asks what it is like, and waits for it. */
#include "info.h"
#include "state.cuh"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
#include <sched.h>
#include <thread>
#include <unistd.h>

/* ---- the list of GPUs --------------------------------------------------------------------------- */

/* Before a session opens one, and for R. */

static const int OLDEST_MAJOR = 8; /* compute capability of the oldest GPUs that configure builds for */

/* A CUDA driver that was initialized before fork() does not work in the child. */
static bool is_forked() {
    static std::atomic<pid_t> first{0};
    pid_t none = 0, own = getpid();
    first.compare_exchange_strong(none, own);
    return first != own;
}

/* CUDA reports an insufficient driver also where there is no driver. */
static void say_why(cudaError_t error, char *reason, size_t size) {
    int driver = 0, runtime = 0;
    bool known = cudaDriverGetVersion(&driver) == cudaSuccess && cudaRuntimeGetVersion(&runtime) == cudaSuccess;
    (void)cudaGetLastError();
    if (error != cudaErrorInsufficientDriver || !known) {
        snprintf(reason, size, "%s", cudaGetErrorString(error));
    } else if (driver == 0) {
        snprintf(reason, size, "this machine has no NVIDIA driver, which a GPU needs to be used");
    } else {
        snprintf(
            reason, size,
            "the NVIDIA driver is for CUDA %d.%d, and the package was built with CUDA %d.%d; update the driver, or "
            "build with an older CUDA Toolkit: --with-cuda=DIR",
            driver / 1000, driver % 1000 / 10, runtime / 1000, runtime % 1000 / 10);
    }
}

extern "C" int cuda_count_gpus(char *reason, size_t size) {
    int n = 0, major = 0;
    reason[0] = 0;
    if (is_forked()) {
        snprintf(reason, size, "CUDA cannot be used in a forked process");
        return 0;
    }
    cudaError_t error = cudaGetDeviceCount(&n);
    (void)cudaGetLastError();
    if (error != cudaSuccess) {
        say_why(error, reason, size);
        return 0;
    }
    if (n > 0 && cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess &&
        major < OLDEST_MAJOR) {
        snprintf(reason, size, "the GPU has compute capability %d.x, at least %d.0 is needed", major, OLDEST_MAJOR);
        return 0;
    }
    if (n == 0) snprintf(reason, size, "no GPU was found");
    return n;
}

extern "C" int cuda_describe(int device, int ask_free, cuda_gpu *gpu) {
    cudaDeviceProp properties;
    size_t free_bytes = 0, total = 0;
    int before = 0;
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) return 1;
    snprintf(gpu->name, sizeof gpu->name, "%s", properties.name);
    gpu->major = properties.major;
    gpu->minor = properties.minor;
    gpu->multiprocessors = properties.multiProcessorCount;
    gpu->memory = (int64_t)properties.totalGlobalMem;
    gpu->memory_free = -1;
    if (ask_free && cudaGetDevice(&before) == cudaSuccess && cudaSetDevice(device) == cudaSuccess) {
        if (cudaMemGetInfo(&free_bytes, &total) == cudaSuccess) gpu->memory_free = (int64_t)free_bytes;
        (void)cudaSetDevice(before);
    }
    (void)cudaGetLastError();
    return 0;
}

extern "C" void cuda_versions(int *driver, int *runtime) {
    if (cudaDriverGetVersion(driver) != cudaSuccess) *driver = 0;
    if (cudaRuntimeGetVersion(runtime) != cudaSuccess) *runtime = 0;
    (void)cudaGetLastError();
}

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
#if defined(GPUCOR_SM90A) && !defined(GPUCOR_SIGN_BYTES)
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

/* Each GPU's thread mostly waits, and other threads need its processor to fill memory. It polls for the time that tiles
 * take which go to the host, and then sleeps between looks; the system adds some 50 microseconds to each sleep. A
 * thread that slept until the event (cudaEventBlockingSync) would notice no interrupt. */
static const std::chrono::microseconds POLLED{2000}, SLEEP{20};

void wait_for(gcor_context *context, const Event &event) {
    const auto begun = std::chrono::steady_clock::now();
    cudaError_t error;
    while ((error = cudaEventQuery(event.handle)) == cudaErrorNotReady) {
        if (gcor_stop(context)) throw Stopped{context->error.status};
        if (std::chrono::steady_clock::now() - begun < POLLED)
            sched_yield();
        else
            std::this_thread::sleep_for(SLEEP);
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
