/* Threshold-free enhancement (Smith and Nichols 2009) of the networks of permuted subjects. The score of a pair is the
 * integral, over heights h from 0 to the size of its t, of size^extent h^height, where size is the number of pairs in
 * its component of the network of all pairs whose t has at least the size h. It is computed exactly, as the component
 * is the same between two neighboring t. */
#pragma once

#include "../weight.h"

/* The largest number of variables, of which a key has two in 32 bits. */
enum { GCOR_TFCE_VARIABLES = 32767 };

typedef struct {
    gcor_side side; /* pairs of the other sign have the score 0 */
    int signs;      /* 2: a component has pairs of one sign, with GCOR_ABSOLUTE; 1: of any sign */
    double extent, height;
} gcor_tfce_rule;

/* Bytes of scratch for each pair and thread. */
enum { GCOR_TFCE_BYTES = 24 };

/* Stores the largest score of each of n permutations, whose t are those of gcor_label_maxima, and unless `score` is
 * NULL, those of all pairs of the first one: NaN without t. Results do not depend on `threads`. */
gcor_status gcor_tfce(gcor_context *context, int threads, int64_t n_var, const gcor_tfce_rule *rule, const float *t,
                      int64_t n, double *largest, double *score);
