/* The state of one GPU in a session: what it keeps between runs, and the current run. One host thread at a time uses
 * a state; several states, of several GPUs or of one, may be used concurrently. All functions throw (try.cuh). */
#ifndef GPUCOR_CUDA_STATE_CUH
#define GPUCOR_CUDA_STATE_CUH

#include "../prepare/prepare.cuh"
#include "../product/blas.cuh"
#include "../product/product.cuh"
#include "../sink/device_sink.cuh"

#include <map>
#include <set>

struct gcor_state {
    /* GPU `number` must be the calling thread's current device. */
    explicit gcor_state(int number) : device(number) {}

    const int device;
    int processors = 0;
    bool has_wgmma = false;                    /* the GPU and the build have Hopper's wgmma instructions */
    int64_t total_memory = 0, free_memory = 0; /* bytes; free_memory as of `asked` */
    double asked = 0;                          /* time of the last ask_memory(), gcor_seconds() */
    Stream compute{false}, copy{true};         /* copy is urgent: kernels that a tile needs before its copy are short */
    Event step;                                /* recorded during long work on `compute`, to wait in steps */
    std::set<const void *> kernels;            /* kernels whose shared memory limit was raised */
    std::map<std::pair<const void *, int>, int> resident_clusters; /* by kernel and cluster size */
    int64_t prepared = 0;                                          /* number of operands so far */
    ColumnBuffers columns;
    ProductBuffers products;
    DeviceSinks sinks;
    std::unique_ptr<Blas> blas; /* NULL until first used */

    /* The current run, from begin() to end(); otherwise NULL. */
    gcor_context *context = nullptr;
    gcor_sink *sink = nullptr;
    DeviceSink *device_sink = nullptr;
    SinkNeeds needs{};
    bool wgmma = false; /* use wgmma instructions in this run */
};

/* Opens a GPU and makes it the calling thread's current device. */
std::unique_ptr<gcor_state> open_state(int device);
/* Updates free_memory and total_memory. */
void ask_memory(gcor_state *state);
/* Begin and end a run; end_run() is also called after errors. */
void begin_run(gcor_state *state);
void end_run(gcor_state *state);

/* product/overlap.cu: gcor_backend's functions of these names. */
int64_t cuda_overlap_side(int64_t n_var);
void cuda_plan_overlap(gcor_state *state, const gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);

/* Waits for an event, asking periodically whether to stop. */
void wait_for(gcor_context *context, const Event &event);
void wait_for(gcor_state *state, const Event &event);
/* Waits for all work on state->compute, asking periodically whether to stop. */
void wait_for_compute(gcor_state *state);

/* Raises a kernel's limit of dynamic shared memory to `bytes`; needed once per kernel above 48 KB. */
void allow_shared(gcor_state *state, const void *kernel, int bytes);

#endif
