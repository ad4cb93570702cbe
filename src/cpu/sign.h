/* Bit planes of signs and their products. */
#ifndef GPUCOR_CPU_SIGN_H
#define GPUCOR_CPU_SIGN_H

#include "cpu.h"

/* A slice of the sign bits of some variables: `words` words of each, variable by variable. */
typedef struct {
    int64_t words, bits;      /* bits: how many of the words' bits are pairs of observations */
    uint64_t *greater, *less; /* x[k] > x[q], x[k] < x[q] */
    uint64_t *present;        /* SIGN_COMMON: both are there; otherwise NULL */
    int64_t *ones;            /* bits set in `greater`, per variable */
} cpu_planes;

typedef enum { CPU_SIGN_UNTIED, CPU_SIGN_TIED, CPU_SIGN_COMMON } cpu_sign_mode;

/* Sums over slices, for consecutive columns of one row. */
typedef struct {
    int64_t *sign;                    /* sum of sign * sign */
    int64_t *row_untied, *col_untied; /* SIGN_COMMON: common pairs untied in the row's, the column's variable */
} cpu_sign_sums;

/* sign_kernel.c: add row r against columns c .. c+n-1 to the sums; the fastest of this machine. */
typedef void (*cpu_sign_count)(const cpu_planes *rows, int64_t r, const cpu_planes *cols, int64_t c, int64_t n,
                               cpu_sign_mode mode, cpu_sign_sums *sums);
cpu_sign_count cpu_sign_counter(void);

#endif
