/* P values by AVX2. */
#if defined(__x86_64__)
#define ALL_P gcor_all_p_avx2
#define WIDTH 4
#define TARGET "avx2"
#include "tail_vectors.h"
#endif
