/* A GPU of a session: what it keeps from run to run, and the run at hand. Used by one host thread at a time; several
 * states, of several GPUs or of one, are used at the same time. All functions throw (try.cuh). */
#ifndef GPUCOR_CUDA_STATE_CUH
#define GPUCOR_CUDA_STATE_CUH

#include "../prepare/prepare.cuh"
#include "../product/blas.cuh"
#include "../product/product.cuh"
#include "../sink/device_sink.cuh"

#include <map>
#include <set>

struct gcor_state {
    /* The GPU must be the calling thread's. */
    explicit gcor_state(int number) : device(number) {}

    const int device;
    int processors = 0;
    bool has_wgmma = false;                    /* Hopper's own instructions: the GPU and the build have them */
    int64_t total_memory = 0, free_memory = 0; /* bytes; the latter when it was asked for */
    double asked = 0;                          /* when that was, gcor_seconds() */
    Stream compute{false}, copy{true};         /* what a tile still wants before it is copied is short */
    Event step;                                /* of long work on `compute`, to wait for in steps */
    std::set<const void *> kernels;            /* that are allowed their shared memory */
    std::map<std::pair<const void *, int>, int> resident_clusters; /* of a kernel, of so many blocks */
    int64_t prepared = 0;                                          /* operands so far */
    ColumnBuffers columns;
    ProductBuffers products;
    DeviceSinks sinks;
    std::unique_ptr<Blas> blas; /* when it was first wanted */

    /* The run at hand, from begin() to end(). */
    gcor_context *context = nullptr;
    gcor_sink *sink = nullptr;
    DeviceSink *device_sink = nullptr;
    SinkNeeds needs{};
    bool wgmma = false; /* whether they are to be used */
};

/* Open a GPU, which is the calling thread's afterwards. */
std::unique_ptr<gcor_state> open_state(int device);
/* How much memory is free. */
void ask_memory(gcor_state *state);
/* A run begins or is over, whatever happened in it. */
void begin_run(gcor_state *state);
void end_run(gcor_state *state);

/* product/overlap.cu: gcor_backend's functions of these names. */
int64_t cuda_overlap_side(int64_t n_var);
void cuda_plan_overlap(gcor_state *state, const gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);

/* Wait for an event, asking now and then whether to stop. */
void wait_for(gcor_context *context, const Event &event);
void wait_for(gcor_state *state, const Event &event);
/* Wait for all work on state->compute, likewise. */
void wait_for_compute(gcor_state *state);

/* Let a kernel have so much shared memory: beyond 48 KB it is to be asked for, once. */
void allow_shared(gcor_state *state, const void *kernel, int bytes);

#endif
