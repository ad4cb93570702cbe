/* Lists the GPUs, before a session opens one (state.cu), and for R. */
#include "info.h"

#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <unistd.h>

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
