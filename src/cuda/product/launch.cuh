/* Chooses the kernel for a product and a sink. A file that launches a sink includes this file and the sink's header,
 * and compiles the kernels of the products that the sink accepts. */
#ifndef GPUCOR_CUDA_LAUNCH_CUH
#define GPUCOR_CUDA_LAUNCH_CUH

#include "float.cuh"
#include "mma.cuh"
#ifdef GPUCOR_SM90A
#include "wgmma.cuh"
#endif

template <ProductMode Mode, class Sink>
static void launch_mode(gcor_state *state, Product &product, const Sink &sink) {
    if constexpr ((Sink::modes & modes_of(Mode)) == 0) {
        (void)state, (void)product, (void)sink;
        fail_impossible("this product into this sink");
    } else if constexpr (Mode == FLOAT) {
        floats::launch(state, product, sink);
    } else {
#ifdef GPUCOR_SM90A
        if constexpr (Sink::hopper)
            if (state->wgmma) return wgmma::launch<Mode>(state, product, sink);
#endif
        mma::launch<Mode>(state, product, sink);
    }
}

/* Runs the product on state->compute. */
template <class Sink>
static void launch_sink(gcor_state *state, Product &product, const Sink &sink) {
    switch (product.mode) {
    case HALF: launch_mode<HALF>(state, product, sink); break;
    case UNTIED: launch_mode<UNTIED>(state, product, sink); break;
    case TIED: launch_mode<TIED>(state, product, sink); break;
    case COMMON: launch_mode<COMMON>(state, product, sink); break;
    case FLOAT: launch_mode<FLOAT>(state, product, sink); break;
    default: fail_impossible("a product of no kind");
    }
    check_launch("multiplying columns");
}

#endif
