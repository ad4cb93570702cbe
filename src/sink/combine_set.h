/* The loops for one instruction set; included by combine_loops.c with SET, the suffix of its functions, SET_NAME,
 * TARGET, their attribute or nothing, and IS_FUSED, whether it multiplies and adds at once. */
TARGET static void NAME(add_mean)(double *sum, const double *value, double w, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] += w * value[k];
}

TARGET static void NAME(add_fisher)(double *sum, const double *value, double w, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] += w * gcor_artanh(value[k]);
}

TARGET static void NAME(add_least)(double *sum, const double *value, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] = value[k] < sum[k] ? value[k] : sum[k];
}

TARGET static void NAME(divide)(double *sum, double total, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] /= total;
}

TARGET static void NAME(end_fisher)(double *sum, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] = gcor_tanh(sum[k]);
}

TARGET static void NAME(add_cheap_mean)(float *sum, const float *value, float w, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] += w * value[k];
}

TARGET static int NAME(add_cheap_fisher)(float *sum, const float *value, float w, int64_t n) {
    const float most = (float)GCOR_CHEAP_MOST;
    int beyond = 0;
#pragma omp simd reduction(| : beyond)
    for (int64_t k = 0; k < n; k++) {
        float r = value[k];
        beyond |= fabsf(r) > most;
        r = r > most ? most : r;
        r = r < -most ? -most : r;
        sum[k] = multiply_add(w, cheap_artanh(r, IS_FUSED), sum[k], IS_FUSED);
    }
    return beyond;
}

TARGET static void NAME(add_cheap_least)(float *sum, const float *value, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] = value[k] >= sum[k] ? sum[k] : value[k] < sum[k] ? value[k] : NAN;
}

TARGET static void NAME(end_cheap_fisher)(float *sum, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] = cheap_tanh(sum[k]);
}

TARGET static int NAME(are_coefficients)(const double *value, int64_t n) {
    int others = 0;
#pragma omp simd reduction(| : others)
    for (int64_t k = 0; k < n; k++) others |= !(value[k] <= 1);
    return !others;
}

static const gcor_combine_loops NAME(loops) = {
    .name = SET_NAME,
    .add_mean = NAME(add_mean),
    .add_fisher = NAME(add_fisher),
    .add_least = NAME(add_least),
    .divide = NAME(divide),
    .end_fisher = NAME(end_fisher),
    .add_cheap_mean = NAME(add_cheap_mean),
    .add_cheap_fisher = NAME(add_cheap_fisher),
    .add_cheap_least = NAME(add_cheap_least),
    .end_cheap_fisher = NAME(end_cheap_fisher),
    .are_coefficients = NAME(are_coefficients),
};

#undef SET
#undef SET_NAME
#undef TARGET
#undef IS_FUSED
