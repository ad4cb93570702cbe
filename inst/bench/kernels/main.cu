/* Compares every step with the reference, times it, and prints a table. For an H200, in this folder:
 *
 *   nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o /tmp/sign-stairs *.cu
 *   /tmp/sign-stairs [--record FILE]
 *
 * The last two steps need Hopper; the others run on any GPU since Ampere (arch=compute_80,code=sm_80). The exit status
 * is 1 if any result is wrong. The package's own kernel: `Rscript inst/bench/gpu.R rate-sign`. */
#include "data.cuh"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <ctime>

enum { N_STEPS = 6, N_WITHOUT_WGMMA = 4 };
static struct Step {
    const char *name;
    void (*multiply)(const Problem &);
    double predicted; /* 10^12 operations per second of its unit on an H200; an AND and a count are two */
    bool right = true;
} steps[N_STEPS] = {
    {"1 __popc, a thread a pair", multiply_popc, 261},
    {"2 __popc, tiles in shared memory", multiply_popc_tiles, 261},
    {"3 mma, from global memory", multiply_mma, 10150},
    {"4 mma, stages in shared memory", multiply_mma_stages, 10150},
    {"5 wgmma, one group of warps", multiply_wgmma<1>, 15460},
    {"6 wgmma, two groups of warps", multiply_wgmma<2>, 15460},
};

/* Sizes that are not multiples of a tile. 2 observations have one bit, 46 a piece and 11 bits, 100 more pieces than
 * stages. */
static const Size small[] = {{1, 1, 2}, {65, 257, 46}, {201, 333, 100}}, large = {6037, 12203, 512};
enum { SAMPLES = 400, RUNS = 7, SLOW_RUNS = 3 };

static FILE *record = nullptr;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
    for (FILE *out : {stdout, record}) {
        if (!out) continue;
        va_list arguments;
        va_start(arguments, format);
        vfprintf(out, format, arguments);
        va_end(arguments);
        fflush(out);
    }
}

/* True if every stride-th pair's numerator is expected(at), and nothing was written beyond the last pair. */
template <class Expected>
static bool is_right(const char *step, const Case &c, const std::vector<int> &sums, size_t stride, Expected expected) {
    size_t wrong = 0, last = 0, n = c.n_cols;
    for (size_t at = 0; at < c.pairs; at += stride) {
        long long numerator = c.numerator(sums[at], at), wanted = expected(at);
        if (numerator == wanted) continue;
        last = at;
        if (wrong++ == 0)
            say("WRONG: step %s, %zu x %zu variables, %d bits: row %zu, column %zu: numerator %lld instead of %lld%s\n",
                step, c.pairs / n, n, c.bits, at / n, at % n, numerator, wanted,
                sums[at] == POISON ? " (not written)" : "");
    }
    if (wrong) say("  in all %zu pairs, the last at row %zu, column %zu\n", wrong, last / n, last % n);
    ptrdiff_t beyond = GUARD - std::count(sums.begin() + c.pairs, sums.end(), (int)POISON);
    if (beyond) say("WRONG: step %s wrote %td sums beyond the last of %zu x %zu\n", step, beyond, c.pairs / n, n);
    return wrong == 0 && beyond == 0;
}

/* Seconds of a run; the result is in c.common. */
static double run(const Step &step, const Case &c) {
    cudaEvent_t events[2];
    float milliseconds;
    for (cudaEvent_t &event : events) check(cudaEventCreate(&event), step.name);
    check(cudaMemset(c.common.get(), POISON_BYTE, c.common_bytes), step.name);
    check(cudaEventRecord(events[0]), step.name);
    step.multiply(c.problem);
    check(cudaGetLastError(), step.name);
    check(cudaEventRecord(events[1]), step.name);
    check(cudaEventSynchronize(events[1]), step.name);
    check(cudaEventElapsedTime(&milliseconds, events[0], events[1]), step.name);
    for (cudaEvent_t event : events) check(cudaEventDestroy(event), step.name);
    return milliseconds * 1e-3;
}

/* The median of some runs after a first one. */
static double median_seconds(const Step &step, const Case &c) {
    std::vector<double> seconds(run(step, c) > 0.5 ? SLOW_RUNS : RUNS);
    for (double &each : seconds) each = run(step, c);
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

/* Compares all pairs of all steps with the definition; returns the operations per second of the latter. */
static double compare_small(const Size &size, int n_steps) {
    Case c(size);
    std::vector<long long> defined(c.pairs);
    clock_t begin = clock();
    for (size_t at = 0; at < c.pairs; at++) defined[at] = c.defined(at);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    for (int s = 0; s < n_steps; s++) {
        run(steps[s], c);
        steps[s].right &= is_right(steps[s].name, c, c.result(), 1, [&](size_t at) { return defined[at]; });
    }
    return c.operations / seconds;
}

/* Compares some pairs of step 1 with the definition, and all pairs of the other steps with step 1; prints the table. */
static void compare_large(const Size &size, int n_steps) {
    Case c(size);
    std::vector<int> by_first;
    for (int s = 0; s < n_steps; s++) {
        double seconds = median_seconds(steps[s], c), rate = c.operations / seconds * 1e-12;
        std::vector<int> common = c.result();
        steps[s].right &= is_right(steps[s].name, c, common, s == 0 ? c.pairs / SAMPLES : 1,
                                   [&](size_t at) { return s == 0 ? c.defined(at) : c.numerator(by_first[at], at); });
        if (s == 0) by_first = common;
        say("%-34s %10.2f %10.1f %10.0f %8.3f   %s\n", steps[s].name, seconds * 1e3, rate, steps[s].predicted,
            rate / steps[s].predicted, steps[s].right ? "yes" : "NO");
    }
}

static bool compare_all() {
    cudaDeviceProp gpu;
    char date[32];
    time_t now = time(nullptr);
    strftime(date, sizeof date, "%Y-%m-%d", localtime(&now));
    check(cudaGetDeviceProperties(&gpu, 0), "asking for the GPU");
    say("%s, %s: signs of %d x %d variables, %d observations\n", gpu.name, date, large.rows, large.cols, large.n_obs);
    int n_steps = has_wgmma() ? N_STEPS : N_WITHOUT_WGMMA;
    double rate = 0;
    for (const Size &size : small) rate = compare_small(size, n_steps);
    say("T/s: 10^12 operations a second; predicted: what the unit that counts does on an H200\n");
    say("%-34s %10s %10s %10s %8s   %s\n", "step", "ms", "T/s", "predicted", "ratio", "right");
    say("%-34s %10s %10.4f\n", "0 the definition, on one core", "", rate * 1e-12);
    compare_large(large, n_steps);
    if (n_steps < N_STEPS) say("steps 5 and 6: not on this GPU, or not compiled for it (sm_90a)\n");
    return std::all_of(steps, steps + N_STEPS, [](const Step &step) { return step.right; });
}

int main(int n, char **arguments) {
    try {
        if (n == 3 && std::string(arguments[1]) == "--record") record = fopen(arguments[2], "w");
        if (n != 1 && !record) throw std::runtime_error("usage: [--record FILE], a file that can be written");
        bool right = compare_all();
        if (record && fclose(record)) throw std::runtime_error("the record is not complete; is the disk full?");
        return right ? 0 : 1;
    } catch (const std::exception &failure) {
        fprintf(stderr, "sign-stairs: %s\n", failure.what());
        return 1;
    }
}
