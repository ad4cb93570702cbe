/* P values by AVX-512. */
#if defined(__x86_64__)
#define ALL_P gcor_all_p_avx512
#define WIDTH 8
#define TARGET "avx512f,avx512dq"
#include "tail_vectors.h"
#endif
