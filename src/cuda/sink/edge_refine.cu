/* Decides which candidates of an approximate product (edges.cu) are edges, by their exact coefficients. */
#include "device_edges.cuh"

/* Eight lanes compute the product of two columns, so a warp has four candidates at a time. Each lane has four of the 32
 * running sums of gcor_dot(), and they are added in the same order. */
enum { DOT_LANES = 8, DOT_OWN = GCOR_LANES / DOT_LANES };

/* Returns x[k] .. x[k + 3], with 0 beyond n_obs. If n_obs is a multiple of four, columns are aligned to 16 bytes. */
static __device__ float4 load_four(const float *x, int64_t k, int64_t n_obs) {
    if (n_obs % 4 == 0) return *(const float4 *)(x + k);
    return {x[k], k + 1 < n_obs ? x[k + 1] : 0, k + 2 < n_obs ? x[k + 2] : 0, k + 3 < n_obs ? x[k + 3] : 0};
}

static __device__ double lanes_dot(const float *x, const float *y, int64_t n_obs) {
    double sum[DOT_OWN] = {};
#pragma unroll 4
    for (int64_t k = threadIdx.x % DOT_LANES * DOT_OWN; k < n_obs; k += GCOR_LANES) {
        float4 a = load_four(x, k, n_obs), b = load_four(y, k, n_obs);
        sum[0] += (double)a.x * b.x;
        sum[1] += (double)a.y * b.y;
        sum[2] += (double)a.z * b.z;
        sum[3] += (double)a.w * b.w;
    }
    for (int step = DOT_LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < DOT_OWN; l++) sum[l] += __shfl_xor_sync(ALL_LANES, sum[l], step);
    for (int step = DOT_OWN / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) sum[l] += sum[l + step];
    return sum[0];
}

/* A warp takes 32 candidates. It computes four at a time, then each lane decides on one. */
static __global__ void compute_candidates(ProductSide rows, ProductSide cols, int64_t n_obs, EdgeOutput out) {
    int64_t count = (int64_t)out.counts[N_CANDIDATES];
    if (count > (int64_t)out.capacity) return; /* some were lost: the tile is computed again */
    int64_t warp = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32,
            warps = gridDim.x * (int64_t)(blockDim.x / 32);
    int lane = threadIdx.x % 32;
    for (int64_t begin = warp * 32; begin < count; begin += warps * 32) {
        unsigned own = out.candidates[begin + lane < count ? begin + lane : begin];
        double r = 0;
        for (int round = 0; round < DOT_LANES; round++) {
            unsigned position = __shfl_sync(ALL_LANES, own, round * (32 / DOT_LANES) + lane / DOT_LANES);
            int64_t i = position_row(position), j = position_col(position);
            double dot = lanes_dot(rows.columns + i * n_obs, cols.columns + j * n_obs, n_obs);
            double product = __shfl_sync(ALL_LANES, dot, lane % (32 / DOT_LANES) * DOT_LANES);
            if (lane / (32 / DOT_LANES) == round)
                r = gcor_coefficient(product, rows.norm[position_row(own)], cols.norm[position_col(own)]);
        }
        int64_t i = position_row(own), j = position_col(own);
        put_edge(out, begin + lane < count ? gcor_judge(&out.rule, i, j, r) : GCOR_NOTHING, i, j, r);
    }
}

void decide_candidates(gcor_state *state, const Product &p, const EdgeOutput &out) {
    compute_candidates<<<CANDIDATE_BLOCKS * state->processors, 256, 0, state->compute.handle>>>(p.rows, p.cols, p.n_obs,
                                                                                                out);
    check_launch("computing candidates");
}
