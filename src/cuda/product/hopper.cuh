/* Hopper's instructions, one function each: barriers in shared memory, bulk copies, products of groups of four
 * warps. PTX ISA 8.0, target sm_90a. */
#pragma once

#include "../backend/tune.h"

#include <cstdint>

static __device__ inline unsigned shared_address(const void *at) {
    return (unsigned)__cvta_generic_to_shared(at);
}

/* ---- barriers ----------------------------------------------------------------------------- */

/* A phase ends after `arrivals` arrivals and once all announced bytes have been copied. */
static __device__ inline void barrier_init(uint64_t *barrier, unsigned arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

/* Makes the initialized barriers visible to the other blocks of the cluster and to bulk copies. */
static __device__ inline void barrier_init_done() {
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/* Arrives at the barrier and announces bytes. */
static __device__ inline void barrier_expect(uint64_t *barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/* Arrives at the barrier at the same address in block `block` of the cluster. */
static __device__ inline void barrier_arrive(uint64_t *barrier, unsigned block) {
    asm volatile("{\n.reg .b32 there;\n"
                 "mapa.shared::cluster.u32 there, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(shared_address(barrier)),
                 "r"(block)
                 : "memory");
}

/* Waits until the phase of this parity has ended. */
static __device__ inline void barrier_wait(uint64_t *barrier, unsigned parity) {
    asm volatile("{\n.reg .pred done;\n"
                 "again_%=:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again_%=;\n}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

/* Synchronizes all threads of all blocks of the cluster. */
static __device__ inline void cluster_sync() {
    asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/* Named barriers between two groups of threads, `threads` in total: one group arrives and continues, the other waits
 * for it. */
static __device__ inline void group_arrive(int barrier, int threads) {
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
static __device__ inline void group_wait(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

static __device__ inline unsigned cluster_rank() {
    unsigned rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/* ---- copies --------------------------------------------------------------------------------- */

/* Copies to shared memory of this block; `barrier` counts the bytes. */
static __device__ inline void bulk_copy(void *to, const void *from, unsigned bytes, uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

/* Copies to the same address in every block of the cluster whose bit is set in `blocks`; each block's barrier counts
 * the bytes. */
static __device__ inline void bulk_copy_to_all(void *to, const void *from, unsigned bytes, uint64_t *barrier,
                                               unsigned short blocks) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], "
                 "%2, [%3], %4;" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(blocks)
                 : "memory");
}

/* ---- products of four warps ------------------------------------------------------------------- */

/* Returns the descriptor of columns in pieces from `at` on, as wgmma expects it: groups of 8 columns are 1,024 bytes
 * apart, their chunks swizzled in the 128-byte pattern. */
static __device__ inline uint64_t describe_columns(const void *at) {
    return (uint64_t)((shared_address(at) & 0x3FFFF) >> 4) | (uint64_t)1 << 16 | (uint64_t)(1024 >> 4) << 32 |
           (uint64_t)1 << 62;
}

static __device__ inline void product_fence() {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ inline void product_commit() {
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/* Waits until at most `Pending` committed groups are unfinished. */
template <int Pending>
static __device__ inline void product_wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

/* The sums of 24 or 32 groups of columns as operands of an asm statement, and their names. */
#define GPUCOR_SUMS_8(n) \
    "+r"(d[n][0]), "+r"(d[n][1]), "+r"(d[n][2]), "+r"(d[n][3]), "+r"(d[n + 1][0]), "+r"(d[n + 1][1]), \
        "+r"(d[n + 1][2]), "+r"(d[n + 1][3])
#define GPUCOR_SUMS_192 \
    GPUCOR_SUMS_8(0), GPUCOR_SUMS_8(2), GPUCOR_SUMS_8(4), GPUCOR_SUMS_8(6), GPUCOR_SUMS_8(8), GPUCOR_SUMS_8(10), \
        GPUCOR_SUMS_8(12), GPUCOR_SUMS_8(14), GPUCOR_SUMS_8(16), GPUCOR_SUMS_8(18), GPUCOR_SUMS_8(20), \
        GPUCOR_SUMS_8(22)
#define GPUCOR_SUMS_256 GPUCOR_SUMS_192, GPUCOR_SUMS_8(24), GPUCOR_SUMS_8(26), GPUCOR_SUMS_8(28), GPUCOR_SUMS_8(30)
#define GPUCOR_NAMES_192 \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
    "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
    "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, " \
    "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
    "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define GPUCOR_NAMES_256 \
    GPUCOR_NAMES_192 \
    ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
    "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"

/* The instruction for a shape: the names of the sums, the rows, the columns and `add`, then further immediates. */
#define GPUCOR_PRODUCT(shape, sums, rows, cols, add, more) \
    "{\n.reg .pred p;\nsetp.ne.b32 p, " add ", 0;\n" \
    "wgmma.mma_async.sync.aligned." shape " {" sums "}, " rows ", " cols ", p" more ";\n}"

/* d += the product of 64 rows and 256 columns of 32 bytes each; with add = 0, d = the product. */
static __device__ inline void product_half(int (&d)[32][4], uint64_t rows, uint64_t cols, int add) {
    asm volatile(GPUCOR_PRODUCT("m64n256k16.f32.f16.f16", GPUCOR_NAMES_256, "%128", "%129", "%130", ", 1, 1, 0, 0")
                 : GPUCOR_SUMS_256
                 : "l"(rows), "l"(cols), "r"(add));
}
static __device__ inline void product_bits(int (&d)[32][4], uint64_t rows, uint64_t cols, int add) {
    asm volatile(GPUCOR_PRODUCT("m64n256k256.s32.b1.b1.and.popc", GPUCOR_NAMES_256, "%128", "%129", "%130", "")
                 : GPUCOR_SUMS_256
                 : "l"(rows), "l"(cols), "r"(add));
}
/* The product of 64 rows and 192 columns. */
static __device__ inline void product_bits(int (&d)[24][4], uint64_t rows, uint64_t cols, int add) {
    asm volatile(GPUCOR_PRODUCT("m64n192k256.s32.b1.b1.and.popc", GPUCOR_NAMES_192, "%96", "%97", "%98", "")
                 : GPUCOR_SUMS_192
                 : "l"(rows), "l"(cols), "r"(add));
}
/* The product of 64 rows and 256 columns; the rows are in registers as mma.m16n8k256 holds them, 16 for each warp. */
static __device__ inline void product_bits(int (&d)[32][4], const unsigned (&rows)[4], uint64_t cols, int add) {
    asm volatile(GPUCOR_PRODUCT("m64n256k256.s32.b1.b1.and.popc", GPUCOR_NAMES_256, "{%128, %129, %130, %131}", "%132",
                                "%133", "")
                 : GPUCOR_SUMS_256
                 : "r"(rows[0]), "r"(rows[1]), "r"(rows[2]), "r"(rows[3]), "l"(cols), "r"(add));
}

/* ---- registers ---------------------------------------------------------------------------------- */

template <int Registers>
static __device__ inline void take_registers() {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
static __device__ inline void give_registers() {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
