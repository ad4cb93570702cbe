/* Peak rates of a CPU's units, for cpu.R, which builds this file with -march=native and calls it through .C(). Each
 * function runs `threads` threads on operands in registers and the L1 cache, and returns the best of some rounds. */
#include <stdint.h>
#include <omp.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum { ROUNDS = 60 }; /* of some 20 ms: shared cores are slow now and then */

/* The widest vectors, and enough independent sums to keep each unit busy. */
#if defined(__AVX512F__)
enum { BYTES = 64, SUMS = 16 };
#elif defined(__AVX__)
enum { BYTES = 32, SUMS = 12 };
#elif defined(__aarch64__)
enum { BYTES = 16, SUMS = 24 };
#else
enum { BYTES = 16, SUMS = 12 };
#endif

/* Makes the compiler assume that a loop's sums are used. */
#define USE(sums) __asm__ volatile("" : : "r"(sums) : "memory")

#define UNROLL _Pragma("GCC unroll 24")

/* Runs `times` rounds of work in each thread; returns rounds per second. */
static double per_second(void (*work)(int64_t), int64_t times, int threads) {
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = omp_get_wtime();
#pragma omp parallel num_threads(threads)
        work(times);
        double rate = (double)(threads * times) / (omp_get_wtime() - start);
        if (rate > best) best = rate;
    }
    return best;
}

/* ---- multiply-adds ------------------------------------------------------------------------------ */

static volatile double factor = 0.5, term = 1; /* not known at compile time */

#define MULTIPLY_ADD(name, type) \
    static void name(int64_t times) { \
        typedef type vector __attribute__((vector_size(BYTES))); \
        const vector a = (type)factor - (vector){0}; \
        const vector b = (type)term - (vector){0}; \
        vector sum[SUMS]; \
        UNROLL for (int k = 0; k < SUMS; k++) sum[k] = b * (type)k; \
        for (int64_t t = 0; t < times; t++) UNROLL for (int k = 0; k < SUMS; k++) sum[k] = sum[k] * a + b; \
        USE(sum); \
    }
MULTIPLY_ADD(add_floats, float)
MULTIPLY_ADD(add_doubles, double)

enum { ADD_TIMES = 10000000 };

void rate_float(const int *threads, double *rate) {
    *rate = per_second(add_floats, ADD_TIMES, *threads) * SUMS * (BYTES / sizeof(float));
}
void rate_double(const int *threads, double *rate) {
    *rate = per_second(add_doubles, ADD_TIMES, *threads) * SUMS * (BYTES / sizeof(double));
}

/* ---- XOR and popcount --------------------------------------------------------------------------- */

/* Words of one variable in the L1 cache; those of ROWS others are in registers. */
enum { WORDS = 496, COUNT_TIMES = 100000 };
static uint64_t bits[WORDS] __attribute__((aligned(64)));
static volatile uint64_t seed = 1;

#if defined(__AVX512VPOPCNTDQ__)
enum { ROWS = 8 };
static void count_vectors(int64_t times) {
    __m512i row[ROWS], sum[ROWS];
    UNROLL for (int r = 0; r < ROWS; r++) {
        row[r] = _mm512_set1_epi64((long long)seed + r);
        sum[r] = _mm512_setzero_si512();
    }
    for (int64_t t = 0; t < times; t++) {
        USE(bits); /* they may have changed, so they must be counted again */
        for (int w = 0; w < WORDS; w += 8) {
            const __m512i word = _mm512_load_si512(bits + w);
            UNROLL for (int r = 0; r < ROWS; r++)
                sum[r] = _mm512_add_epi64(sum[r], _mm512_popcnt_epi64(_mm512_xor_si512(word, row[r])));
        }
    }
    USE(sum);
}
#elif defined(__AVX2__)
/* Looks up the bits of half bytes, and keeps counts in bytes until these could overflow: for 31 vectors. */
enum { ROWS = 4 };
static void count_vectors(int64_t times) {
    const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2,
                                           2, 3, 2, 3, 3, 4);
    const __m256i half = _mm256_set1_epi8(15), zero = _mm256_setzero_si256();
    __m256i row[ROWS], sum[ROWS];
    UNROLL for (int r = 0; r < ROWS; r++) {
        row[r] = _mm256_set1_epi64x((long long)seed + r);
        sum[r] = zero;
    }
    for (int64_t t = 0; t < times; t++) {
        USE(bits);
        for (int from = 0; from < WORDS; from += 31 * 4) {
            __m256i count[ROWS];
            UNROLL for (int r = 0; r < ROWS; r++) count[r] = zero;
            for (int w = from; w < from + 31 * 4; w += 4) {
                const __m256i word = _mm256_load_si256((const __m256i *)(bits + w));
                UNROLL for (int r = 0; r < ROWS; r++) {
                    __m256i x = _mm256_xor_si256(word, row[r]);
                    __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(x, half));
                    __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(x, 4), half));
                    count[r] = _mm256_add_epi8(count[r], _mm256_add_epi8(low, high));
                }
            }
            UNROLL for (int r = 0; r < ROWS; r++) sum[r] = _mm256_add_epi64(sum[r], _mm256_sad_epu8(count[r], zero));
        }
    }
    USE(sum);
}
#endif

/* Counts word by word, or however the compiler vectorizes it. */
enum { WORD_ROWS = 4 };
static void count_words(int64_t times) {
    uint64_t row[WORD_ROWS], sum[WORD_ROWS] = {0};
    UNROLL for (int r = 0; r < WORD_ROWS; r++) row[r] = seed + (uint64_t)r;
    for (int64_t t = 0; t < times; t++) {
        USE(bits);
        for (int w = 0; w < WORDS; w++)
            UNROLL for (int r = 0; r < WORD_ROWS; r++) sum[r] += (uint64_t)__builtin_popcountll(bits[w] ^ row[r]);
    }
    USE(sum);
}

/* Words of 64 bits per second, by the machine's best method. */
void rate_popcount(const int *threads, double *rate) {
    *rate = per_second(count_words, COUNT_TIMES, *threads) * WORDS * WORD_ROWS;
#if defined(__AVX2__)
    double vectors = per_second(count_vectors, COUNT_TIMES, *threads) * WORDS * ROWS;
    if (vectors > *rate) *rate = vectors;
#endif
}
