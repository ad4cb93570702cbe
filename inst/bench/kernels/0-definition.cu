/* Step 0, the reference: the numerator of tau from its definition. It uses signs of differences, no bits, and
 * nothing of the other steps; one pair of variables at a time, on one core of the host. */
#include "stairs.cuh"

static int sign(double difference) {
    return (difference > 0) - (difference < 0);
}

long long sign_product(const double *x, const double *y, int n_obs) {
    long long sum = 0;
    for (int k = 0; k < n_obs; k++)
        for (int q = k + 1; q < n_obs; q++) sum += sign(x[k] - x[q]) * sign(y[k] - y[q]);
    return sum;
}
