/* Errors and ownership in CUDA code; all of src/cuda builds on it. Failures are exceptions and every resource has an
 * owning object; guarded() converts exceptions to a status at the boundary. */
#pragma once

#include "tune.h"
#include "../../base/alloc.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <new>

struct Failure {
    gcor_status status;
    char message[400];

    Failure(gcor_status failed, const char *format, ...) : status(failed) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(message, sizeof message, format, arguments);
        va_end(arguments);
    }
};

/* Thrown when the context already holds the reason. */
struct Stopped {
    gcor_status status;
};

/* For requests that no caller may make; an explicit error prevents silently missing results. */
[[noreturn]] inline void fail_impossible(const char *what) {
    throw Failure(GCOR_DEVICE_ERROR, "CUDA has no way for %s, an error of gpucor's own; use backend = \"cpu\"", what);
}

inline void fail_call(cudaError_t error, const char *what) {
    (void)cudaGetLastError(); /* otherwise the next call would report it again */
    bool broken = error == cudaErrorIllegalAddress || error == cudaErrorLaunchFailure ||
                  error == cudaErrorHardwareStackError || error == cudaErrorMisalignedAddress;
    throw Failure(GCOR_DEVICE_ERROR, "the GPU reported an error while %s: %s (%s); %s", what, cudaGetErrorString(error),
                  cudaGetErrorName(error),
                  broken ? "restart R before using it again, or use backend = \"cpu\""
                         : "try again, or use backend = \"cpu\"");
}

/* Every CUDA call is checked here. */
inline void check(cudaError_t error, const char *what) {
    if (error == cudaSuccess && gcor_fault(GCOR_DEVICE_CALL)) error = cudaErrorUnknown;
    if (error != cudaSuccess) fail_call(error, what);
}

inline void check_launch(const char *what) {
    check(cudaGetLastError(), what);
}

template <class Body>
gcor_status guarded(gcor_context *context, Body body) {
    try {
        body();
        return GCOR_OK;
    } catch (const Failure &failure) {
        return gcor_fail(context, failure.status, "%s", failure.message);
    } catch (const Stopped &stopped) {
        return stopped.status;
    } catch (const std::bad_alloc &) {
        return gcor_fail(context, GCOR_NO_MEMORY, "cannot allocate memory for the CUDA back end; close other programs");
    }
}

/* Pinned memory. cudaMallocHost() takes 0.4 ms per megabyte; registering huge pages that were touched before takes a
 * tenth of that. */
static const size_t PAGE = (size_t)2 << 20;

inline bool in_large_pages(size_t bytes) {
    return bytes >= 2 * PAGE;
}

inline cudaError_t pin_memory(void **memory, size_t bytes) {
    if (!in_large_pages(bytes)) return cudaMallocHost(memory, bytes);
    size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
    char *pages = (char *)aligned_alloc(PAGE, whole);
    if (!pages) return cudaErrorMemoryAllocation;
    gcor_huge_pages(pages, whole);
    for (size_t at = 0; at < whole; at += 4096) pages[at] = 0;
    cudaError_t error = cudaHostRegister(pages, whole, cudaHostRegisterDefault);
    if (error == cudaSuccess)
        *memory = pages;
    else
        free(pages);
    return error;
}

inline void unpin_memory(void *memory, size_t bytes) {
    if (!in_large_pages(bytes)) {
        (void)cudaFreeHost(memory);
        return;
    }
    (void)cudaHostUnregister(memory);
    free(memory);
}

/* An array that grows on demand and frees its memory; growing loses the contents. */
template <class T, gcor_resource Where>
class Array {
  public:
    T *data = nullptr;
    int64_t capacity = 0;

    Array() = default;
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    ~Array() { free(); }

    size_t bytes() const { return (size_t)capacity * sizeof(T); }

    void reserve(int64_t count, const char *what) {
        if (count <= capacity) return;
        count = std::max(count, (int64_t)(MIN_BYTES / sizeof(T)));
        free();
        size_t wanted = (size_t)count * sizeof(T);
        void *memory = nullptr;
        cudaError_t error = cudaErrorMemoryAllocation;
        if (!gcor_fault(Where))
            error = Where == GCOR_DEVICE_MEMORY ? cudaMalloc(&memory, wanted) : pin_memory(&memory, wanted);
        if (error == cudaErrorMemoryAllocation) fail_memory((double)wanted, what);
        if (error == cudaSuccess) { /* owned before anything else can fail */
            gcor_count_live(Where, 1);
            data = (T *)memory;
            capacity = count;
            count_bytes(1);
        }
        check(error, what);
    }

    void free() {
        if (!data) return;
        if (Where == GCOR_DEVICE_MEMORY)
            (void)cudaFree(data);
        else
            unpin_memory(data, bytes());
        gcor_count_live(Where, -1);
        count_bytes(-1);
        data = nullptr;
        capacity = 0;
    }

    /* Frees memory that is too large to keep until the next run. Nothing may be using it. */
    void trim() {
        if (bytes() > KEPT_BYTES) free();
    }

  private:
    void count_bytes(int sign) {
        if (Where == GCOR_DEVICE_MEMORY) gcor_count_device_bytes(sign * (int64_t)bytes());
    }

    static void fail_memory(double wanted, const char *what) {
        size_t free_bytes = 0, total = 0;
        (void)cudaGetLastError();
        if (Where == GCOR_HOST_MEMORY)
            throw Failure(
                GCOR_NO_MEMORY,
                "cannot allocate %.1f MB of pinned memory for %s; close other programs, or use backend = \"cpu\"",
                wanted / 1e6, what);
        (void)cudaMemGetInfo(&free_bytes, &total);
        throw Failure(GCOR_NO_DEVICE_MEMORY,
                      "not enough GPU memory: %.1f MB wanted for %s, %.1f MB of %.1f MB free; free some, work in "
                      "smaller rounds with options(gpucor.memory = <bytes>), or use backend = \"cpu\"",
                      wanted / 1e6, what, (double)free_bytes / 1e6, (double)total / 1e6);
    }
};

template <class T>
using DeviceArray = Array<T, GCOR_DEVICE_MEMORY>;
template <class T>
using PinnedArray = Array<T, GCOR_HOST_MEMORY>;

/* Trims each of the arrays, or of the structs of arrays. */
template <class... Arrays>
void trim_all(Arrays &...arrays) {
    (arrays.trim(), ...);
}

class Stream {
  public:
    cudaStream_t handle = nullptr;
    /* urgent: kernels of this stream are scheduled before those of other streams. */
    explicit Stream(bool urgent) {
        int min = 0, greatest = 0;
        check(cudaDeviceGetStreamPriorityRange(&min, &greatest), "creating a stream");
        check(cudaStreamCreateWithPriority(&handle, cudaStreamNonBlocking, urgent ? greatest : min),
              "creating a stream");
    }
    ~Stream() { (void)cudaStreamDestroy(handle); }
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
};

/* Sets n elements to `byte` in each byte; copies n elements between device and host memory. On the stream. */
template <class T>
void clear(T *data, int64_t n, const Stream &stream, const char *what, int byte = 0) {
    if (n > 0) check(cudaMemsetAsync(data, byte, (size_t)n * sizeof(T), stream.handle), what);
}
template <class T>
void copy_to_device(T *to, const T *from, int64_t n, const Stream &stream, const char *what) {
    check(cudaMemcpyAsync(to, from, (size_t)n * sizeof(T), cudaMemcpyHostToDevice, stream.handle), what);
}
template <class T>
void copy_to_host(T *to, const T *from, int64_t n, const Stream &stream, const char *what) {
    check(cudaMemcpyAsync(to, from, (size_t)n * sizeof(T), cudaMemcpyDeviceToHost, stream.handle), what);
}

class Event {
  public:
    cudaEvent_t handle = nullptr;
    Event() { check(cudaEventCreateWithFlags(&handle, cudaEventDisableTiming), "creating an event"); }
    ~Event() { (void)cudaEventDestroy(handle); }
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    void record(const Stream &stream) { check(cudaEventRecord(handle, stream.handle), "recording an event"); }
};
