/* The loops for one instruction set. combine_loops.c includes it with SET, the suffix of the functions; TARGET,
 * their attribute or nothing; BYTES, those of its vectors; IS_FUSED, 1 if the set has fused multiply-add; and
 * NAME(some_beyond)(), which returns non-zero if one of GCOR_APPROX_SOME values is larger than `max` in magnitude. */
TARGET static void NAME(add_mean)(double *sum, const double *value, double w, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] += w * value[k];
}

TARGET static void NAME(add_fisher)(double *sum, const double *value, double w, int64_t n) {
    enum { RUN = 64 };
    double s[RUN], tail[RUN], log_part[RUN];
    for (int64_t from = 0; from < n; from += RUN, sum += RUN, value += RUN) {
        const int64_t run = n - from < RUN ? n - from : RUN;
        for (int64_t k = 0; k < run; k++) s[k] = gcor_artanh_reduce(value[k], &log_part[k]);
        for (int64_t k = 0; k < run; k++) tail[k] = gcor_artanh_tail(s[k] * s[k]);
        for (int64_t k = 0; k < run; k++) sum[k] += w * gcor_artanh_end(value[k], s[k], tail[k], log_part[k]);
    }
}

TARGET static void NAME(add_min)(double *sum, const double *value, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = value[k] < sum[k] ? value[k] : sum[k];
}

TARGET static gcor_int128 NAME(add_exactly)(const double *terms, int64_t n, double *high, double *low) {
    enum { LANES = BYTES / sizeof(double) };
    typedef double lanes __attribute__((vector_size(BYTES), aligned(sizeof(double)), may_alias));
    lanes all_high = {0}, all_low = {0};
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        const lanes term = *(const lanes *)(terms + k), high_part = GCOR_HIGH_PART(term);
        const lanes low_part = GCOR_LOW_PART(term, high_part);
        *(lanes *)(high + k) += high_part;
        *(lanes *)(low + k) += low_part;
        all_high += high_part; /* sums are exact, in whatever order */
        all_low += low_part;
    }
    for (; k < n; k++) {
        const double high_part = gcor_high_part(terms[k]), low_part = gcor_low_part(terms[k], high_part);
        high[k] += high_part;
        low[k] += low_part;
        all_high[0] += high_part;
        all_low[0] += low_part;
    }
    for (int l = 1; l < LANES; l++) all_high[0] += all_high[l], all_low[0] += all_low[l];
    return gcor_fixed(all_high[0], all_low[0]);
}

TARGET static void NAME(weighted_sums)(const double *z, const double *w, int64_t subjects, int64_t n, double *sum) {
    for (int64_t k = 0; k < n; k++) sum[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += GCOR_SUM_BLOCK) {
        for (int64_t k = 0; k < n; k++) sum[k] += w[s] * z[k];
    }
}

TARGET static void NAME(welch)(const double *z, const double *totals, const double *is_first, int64_t subjects,
                               int64_t n, double *t) {
    const double *all = totals, *all_squares = totals + GCOR_SUM_BLOCK;
    double n_first = 0, sum[GCOR_SUM_BLOCK], squares[GCOR_SUM_BLOCK];
    for (int64_t k = 0; k < n; k++) sum[k] = squares[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += GCOR_SUM_BLOCK) {
        if (is_first[s] == 0) continue;
        n_first++;
        for (int64_t k = 0; k < n; k++) {
            sum[k] += z[k];
            squares[k] += z[k] * z[k];
        }
    }
    const double n_second = (double)subjects - n_first, a = 1 / n_first, b = 1 / n_second;
    const double of_first = a / (n_first - 1), of_second = b / (n_second - 1);
    for (int64_t k = 0; k < n; k++) {
        double second = all[k] - sum[k], difference = sum[k] * a - second * b;
        double variance = (squares[k] - sum[k] * sum[k] * a) * of_first +
                          (all_squares[k] - squares[k] - second * second * b) * of_second;
        t[k] = difference * fabs(difference) / (variance > GCOR_NO_VARIANCE ? variance : GCOR_NO_VARIANCE);
    }
}

TARGET static void NAME(linear_t)(const double *y, const double *squares, const double *w, int64_t terms,
                                  int64_t tested, int64_t rows, double df, int64_t n, double *t) {
    double effects[GCOR_SUM_BLOCK], rest[GCOR_SUM_BLOCK], sum[GCOR_SUM_BLOCK];
    for (int64_t k = 0; k < n; k++) effects[k] = 0, rest[k] = squares[k];
    for (int64_t i = 0; i < terms; i++) {
        NAME(weighted_sums)(y, w + i * rows, rows, n, sum);
        for (int64_t k = 0; k < n; k++) rest[k] -= sum[k] * sum[k];
        for (int64_t k = 0; i >= terms - tested && k < n; k++) effects[k] += sum[k] * sum[k];
    }
    for (int64_t k = 0; k < n; k++) {
        double f = df * effects[k] / ((double)tested * (rest[k] > GCOR_NO_VARIANCE ? rest[k] : GCOR_NO_VARIANCE));
        t[k] = tested > 1 ? f * f : sum[k] < 0 ? -f : f;
    }
}

GCOR_MAX_WEIGHT(TARGET, NAME(max_weight), double, fabs)

TARGET static double NAME(largest)(const double *value, gcor_side side, int64_t n) {
    return NAME(max_weight)(gcor_weigh(side), value, n, -INFINITY);
}

TARGET static void NAME(divide)(double *sum, double total, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] /= total;
}

TARGET static void NAME(end_fisher)(double *sum, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = gcor_tanh(sum[k]);
}

TARGET static void NAME(add_approx_mean)(float *sum, const float *value, float w, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] += w * value[k];
}

/* For values up to GCOR_APPROX_LOW. */
APPROX TARGET void NAME(add_low)(float *sum, const float *value, float w, int64_t n) {
    const float a = w * LOW[2], b = w * LOW[1], c = w * LOW[0];
    for (int64_t k = 0; k < n; k++) {
        const float r = value[k], t = r * r;
        sum[k] = multiply_add(multiply_add(multiply_add(a, t, b, IS_FUSED), t, c, IS_FUSED), r, sum[k], IS_FUSED);
    }
}

/* has_beyond: non-zero to skip values beyond max. */
APPROX TARGET void NAME(add_high)(float *sum, const float *value, float w, int64_t n, float max, int has_beyond) {
    for (int64_t k = 0; k < n; k++) {
        const float r = has_beyond && fabsf(value[k]) > max ? 0 : value[k];
        sum[k] = multiply_add(w, approx_artanh(r, IS_FUSED), sum[k], IS_FUSED);
    }
}

/* Most correlations are weak: blocks of values up to GCOR_APPROX_LOW use fewer terms. */
TARGET static int NAME(add_approx_fisher)(float *sum, const float *value, float w, float max, int64_t n) {
    int64_t k = 0;
    int beyond = 0;
    for (; k + GCOR_APPROX_SOME <= n; k += GCOR_APPROX_SOME) {
        if (!NAME(some_beyond)(value + k, (float)GCOR_APPROX_LOW)) {
            NAME(add_low)(sum + k, value + k, w, GCOR_APPROX_SOME);
        } else if (!NAME(some_beyond)(value + k, max)) {
            NAME(add_high)(sum + k, value + k, w, GCOR_APPROX_SOME, max, 0);
        } else {
            NAME(add_high)(sum + k, value + k, w, GCOR_APPROX_SOME, max, 1);
            beyond = 1;
        }
    }
    NAME(add_high)(sum + k, value + k, w, n - k, max, 1);
    for (; k < n; k++) beyond |= fabsf(value[k]) > max;
    return beyond;
}

TARGET static void NAME(add_approx_min)(float *sum, const float *value, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = value[k] >= sum[k] ? sum[k] : value[k] < sum[k] ? value[k] : NAN;
}

TARGET static void NAME(end_approx_fisher)(float *sum, int64_t n) {
    for (int64_t k = 0; k < n; k++) sum[k] = approx_tanh(sum[k]);
}

TARGET static int NAME(are_beyond)(const float *value, float max, int64_t n) {
    int beyond = 0;
    if (n == GCOR_APPROX_SOME) return NAME(some_beyond)(value, max);
    for (int64_t k = 0; k < n; k++) beyond |= fabsf(value[k]) > max;
    return beyond;
}

SOME_REACH(NAME(some_reach), double)
SOME_REACH(NAME(some_floats_reach), float)

TARGET static int NAME(are_coefficients)(const double *value, int64_t n) {
    int others = 0;
    for (int64_t k = 0; k < n; k++) others |= !(value[k] <= 1);
    return !others;
}

static const gcor_combine_loops NAME(loops) = {
    .add_mean = NAME(add_mean),
    .add_fisher = NAME(add_fisher),
    .add_min = NAME(add_min),
    .add_exactly = NAME(add_exactly),
    .weighted_sums = NAME(weighted_sums),
    .welch = NAME(welch),
    .linear_t = NAME(linear_t),
    .largest = NAME(largest),
    .divide = NAME(divide),
    .end_fisher = NAME(end_fisher),
    .add_approx_mean = NAME(add_approx_mean),
    .add_approx_fisher = NAME(add_approx_fisher),
    .add_approx_min = NAME(add_approx_min),
    .end_approx_fisher = NAME(end_approx_fisher),
    .are_beyond = NAME(are_beyond),
    .some_reach = NAME(some_reach),
    .some_floats_reach = NAME(some_floats_reach),
    .are_coefficients = NAME(are_coefficients),
};

#undef SET
#undef BYTES
#undef TARGET
#undef IS_FUSED
