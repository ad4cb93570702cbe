/* Rates of a GPU that bound the work of gpu.R, which builds this file with nvcc and calls it through .C(). Each
 * function warms up, then returns the best of some rounds, or -1 if a CUDA call failed. A multiply-add, and an AND
 * with its count, are two operations. */
#include "../../src/cuda/product/hopper.cuh"

#include <cuda_runtime.h>

#define TRY(call) \
    do { \
        if ((call) != cudaSuccess) { \
            cudaGetLastError(); \
            return false; \
        } \
    } while (0)

enum { ROUNDS = 4, THREADS = 256, GROUP = 128, COLUMNS = 256, COLUMN_BYTES = 128 };
enum { STAGES = 4, ROW_COLUMNS = 128, STAGE_COLUMNS = ROW_COLUMNS + COLUMNS, STEPS = COLUMN_BYTES / 32 };
enum { SHARED_BYTES = STAGES * STAGE_COLUMNS * COLUMN_BYTES }; /* 192 KB, of Hopper's 227 */
enum { CHAINS = 16 };
static const double ROUND_SECONDS = 0.1;

/* A kernel's report: the operations of one iteration of its loop by all threads of a block, and whether it was
 * compiled to wgmma instructions. */
struct Told {
    double operations;
    int wgmma;
    unsigned sink; /* prevents the compiler from removing sums */
};

/* ---- data: power, and with it the clock, depends on it ---------------------------------------- */

static __device__ unsigned hash(unsigned x) {
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* Two halves of random sign, 1/16 to 1 in magnitude. */
static __device__ unsigned two_halves(unsigned random) {
    unsigned exponents = (11 + (random >> 10 & 3)) << 10 | (11 + (random >> 26 & 3)) << 26;
    return (random & 0x83FF83FFu) | exponents;
}

template <bool Bits>
static __device__ unsigned random_word(unsigned at) {
    unsigned random = hash(at + blockIdx.x * 0x9e3779b9u);
    return Bits ? random : two_halves(random);
}

/* ---- products ----------------------------------------------------------------------------------- */

#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/* Two groups of four warps, each with its own 64 rows and all 256 columns, over stages that do not change. */
template <bool Bits>
static __device__ unsigned multiply(int turns, Told *told) {
    extern __shared__ __align__(1024) unsigned memory[];
    for (int at = threadIdx.x; at < SHARED_BYTES / 4; at += THREADS) memory[at] = random_word<Bits>(at);
    asm volatile("fence.proxy.async.shared::cta;" ::
                     : "memory"); /* products read shared memory through another proxy than threads write */
    __syncthreads();
    int sums[32][4] = {};
    const unsigned char *all = (const unsigned char *)memory;
    for (int turn = 0; turn < turns; turn++) {
        const unsigned char *stage = all + turn % STAGES * STAGE_COLUMNS * COLUMN_BYTES;
        uint64_t rows = describe_columns(stage + threadIdx.x / GROUP * 64 * COLUMN_BYTES);
        uint64_t cols = describe_columns(stage + ROW_COLUMNS * COLUMN_BYTES);
        product_fence();
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            if (Bits)
                product_bits(sums, rows + step * 2, cols + step * 2, turn + step);
            else
                product_half(sums, rows + step * 2, cols + step * 2, turn + step);
        }
        product_commit();
        product_wait<1>();
    }
    product_wait<0>();
    told->operations = 2.0 * ROW_COLUMNS * COLUMNS * (COLUMN_BYTES * (Bits ? 8 : 1) / (Bits ? 1 : 2));
    told->wgmma = 1;
    unsigned all_sums = 0;
#pragma unroll
    for (int n = 0; n < 32; n++) all_sums ^= sums[n][0] ^ sums[n][1] ^ sums[n][2] ^ sums[n][3];
    return all_sums;
}

#else

template <bool Bits>
static __device__ void multiply_add(int (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    if constexpr (Bits)
        asm volatile("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* Each warp computes 16 products of 16 x 8 with operands in registers. */
template <bool Bits>
static __device__ unsigned multiply(int turns, Told *told) {
    unsigned a[4], b[CHAINS][2];
    int sums[CHAINS][4] = {};
#pragma unroll
    for (int w = 0; w < 4; w++) a[w] = random_word<Bits>(threadIdx.x * 64 + w);
#pragma unroll
    for (int c = 0; c < CHAINS; c++) b[c][0] = random_word<Bits>(threadIdx.x * 64 + 8 + c), b[c][1] = ~b[c][0];
    if (!Bits)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) b[c][1] = random_word<Bits>(threadIdx.x * 64 + 32 + c);
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) multiply_add<Bits>(sums[c], a, b[c]);
    told->operations = 2.0 * (THREADS / 32) * CHAINS * 16 * 8 * (Bits ? 256 : 16);
    told->wgmma = 0;
    unsigned all_sums = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) all_sums ^= sums[c][0] ^ sums[c][1] ^ sums[c][2] ^ sums[c][3];
    return all_sums;
}

#endif

template <bool Bits>
static __global__ void __launch_bounds__(THREADS, 1) products(int turns, Told *told) {
    Told mine;
    mine.sink = multiply<Bits>(turns, &mine);
    if (mine.sink == 0x12345678u) told->sink = mine.sink;
    if (blockIdx.x == 0 && threadIdx.x == 0) told->operations = mine.operations, told->wgmma = mine.wgmma;
}

/* Float32 multiply-adds; each thread has 16 independent ones. */
static __global__ void __launch_bounds__(THREADS) multiply_adds(int turns, Told *told) {
    float sums[CHAINS], factor = 0.5f + (threadIdx.x % 32) * 0x1p-7f;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sums[c] = (float)c;
    for (int turn = 0; turn < turns; turn++)
#pragma unroll
        for (int c = 0; c < CHAINS; c++) sums[c] = fmaf(sums[c], factor, 1.5f);
    float sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) sum += sums[c];
    if (sum == -1) told->sink = 1;
    if (blockIdx.x == 0 && threadIdx.x == 0) told->operations = 2.0 * THREADS * CHAINS, told->wgmma = 0;
}

/* ---- time ---------------------------------------------------------------------------------------- */

struct Events {
    cudaEvent_t start = nullptr, end = nullptr;
    bool create() {
        TRY(cudaEventCreate(&start));
        TRY(cudaEventCreate(&end));
        return true;
    }
    ~Events() {
        if (start) cudaEventDestroy(start);
        if (end) cudaEventDestroy(end);
    }
};

/* Seconds that the GPU needs for work(), which returns false if a call failed. */
template <class Work>
static bool seconds_of(Work work, double *seconds) {
    Events events;
    float milliseconds = 0;
    if (!events.create()) return false;
    TRY(cudaEventRecord(events.start));
    if (!work()) return false;
    TRY(cudaEventRecord(events.end));
    TRY(cudaEventSynchronize(events.end));
    TRY(cudaEventElapsedTime(&milliseconds, events.start, events.end));
    *seconds = milliseconds * 1e-3;
    return *seconds > 0;
}

/* The minimum of some rounds after a first one. */
template <class Work>
static bool min_seconds(Work work, double *min) {
    double seconds;
    if (!seconds_of(work, min)) return false;
    for (int round = 0; round < ROUNDS; round++) {
        if (!seconds_of(work, &seconds)) return false;
        if (round == 0 || seconds < *min) *min = seconds;
    }
    return true;
}

struct DeviceMemory {
    void *data = nullptr;
    bool allocate(size_t bytes) {
        TRY(cudaMalloc(&data, bytes));
        TRY(cudaMemset(data, 1, bytes));
        return true;
    }
    ~DeviceMemory() {
        if (data) cudaFree(data);
    }
};

struct PinnedMemory {
    void *data = nullptr;
    bool allocate(size_t bytes) {
        TRY(cudaMallocHost(&data, bytes));
        return true;
    }
    ~PinnedMemory() {
        if (data) cudaFreeHost(data);
    }
};

/* Operations per second of a kernel(turns, told); first determines the number of iterations of a round. */
template <class Kernel>
static bool kernel_rate(Kernel kernel, int blocks_each, int bytes, double *rate, int *wgmma) {
    int device, processors;
    double seconds, min;
    int turns = 4000;
    Told told{};
    DeviceMemory memory;
    TRY(cudaGetDevice(&device));
    TRY(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device));
    if (bytes > 0) TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    if (!memory.allocate(sizeof(Told))) return false;
    const int blocks = processors * blocks_each;
    auto launch = [&] {
        kernel<<<blocks, THREADS, bytes>>>(turns, (Told *)memory.data);
        TRY(cudaGetLastError());
        return true;
    };
    if (!seconds_of(launch, &seconds) || !seconds_of(launch, &seconds)) return false;
    double wanted = turns * (ROUND_SECONDS / seconds);
    turns = wanted > 1e8 ? (int)1e8 : wanted < 1 ? 1 : (int)wanted;
    if (!min_seconds(launch, &min)) return false;
    TRY(cudaMemcpy(&told, memory.data, sizeof told, cudaMemcpyDeviceToHost));
    *rate = told.operations * turns * blocks / min;
    *wgmma = told.wgmma;
    return true;
}

/* Code for 9.0a may use wgmma, which needs 192 KB of shared memory; other code needs none. */
static int shared_bytes() {
    cudaFuncAttributes attributes;
    if (cudaFuncGetAttributes(&attributes, products<true>) != cudaSuccess) return 0;
    return attributes.binaryVersion == 90 ? SHARED_BYTES : 0;
}

static bool copy_rate(const void *from, void *to, size_t bytes, cudaMemcpyKind kind, double *rate) {
    double min;
    auto copy = [&] {
        TRY(cudaMemcpyAsync(to, from, bytes, kind));
        return true;
    };
    if (!min_seconds(copy, &min)) return false;
    *rate = (double)bytes / min;
    return true;
}

static bool device_copy(double *rate) {
    const size_t bytes = (size_t)2 << 30;
    DeviceMemory from, to;
    if (!from.allocate(bytes) || !to.allocate(bytes)) return false;
    if (!copy_rate(from.data, to.data, bytes, cudaMemcpyDeviceToDevice, rate)) return false;
    *rate *= 2; /* read and written */
    return true;
}

static bool host_copy(double *rate) {
    const size_t bytes = (size_t)512 << 20;
    DeviceMemory from;
    PinnedMemory to;
    if (!from.allocate(bytes) || !to.allocate(bytes)) return false;
    return copy_rate(from.data, to.data, bytes, cudaMemcpyDeviceToHost, rate);
}

/* ---- for R ------------------------------------------------------------------------------------------ */

#pragma GCC visibility push(default)
extern "C" {

/* *wgmma: 1 if measured with m64n256 from shared memory, 0 with mma.sync. */
void rate_bits(double *rate, int *wgmma) {
    if (!kernel_rate(products<true>, 1, shared_bytes(), rate, wgmma)) *rate = -1;
}
void rate_half(double *rate, int *wgmma) {
    if (!kernel_rate(products<false>, 1, shared_bytes(), rate, wgmma)) *rate = -1;
}
void rate_float(double *rate, int *wgmma) {
    if (!kernel_rate(multiply_adds, 8, 0, rate, wgmma)) *rate = -1;
}
/* Bytes per second, read and written, within the GPU's memory; and to pinned host memory. */
void rate_device_copy(double *rate, int *wgmma) {
    *wgmma = 0;
    if (!device_copy(rate)) *rate = -1;
}
void rate_host_copy(double *rate, int *wgmma) {
    *wgmma = 0;
    if (!host_copy(rate)) *rate = -1;
}
}
#pragma GCC visibility pop
