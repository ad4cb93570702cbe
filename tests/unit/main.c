/* Runs all tests, or those of the files named as arguments. The last line counts them. */
#include "check.h"
#include "system.h"

#include "../../src/base/alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

extern const unit_test threads_tests[], triangle_tests[], shard_tests[], queue_tests[], fixed_tests[],
    definition_tests[], sinks_tests[], files_tests[], source_tests[], workers_tests[], memory_tests[], measure_tests[],
    kendall_tests[], bands_tests[], needs_tests[], compact_tests[], prefault_tests[], products_tests[], design_tests[],
    windows_tests[], pairs_tests[], combine_tests[], rounding_tests[], degrees_tests[], exact_tests[],
    elementary_tests[], os_tests[], mutual_tests[], tail_tests[], centrality_tests[], distance_tests[],
    permuted_tests[], merge_tests[];

/* threads tests first: after a parallel region, forked children cannot have any. */
static const struct {
    const char *name;
    const unit_test *tests;
} files[] = {
    {"threads", threads_tests},
    {"triangle", triangle_tests},
    {"shard", shard_tests},
    {"queue", queue_tests},
    {"fixed", fixed_tests},
    {"definition", definition_tests},
    {"sinks", sinks_tests},
    {"files", files_tests},
    {"source", source_tests},
    {"workers", workers_tests},
    {"memory", memory_tests},
    {"measure", measure_tests},
    {"kendall", kendall_tests},
    {"bands", bands_tests},
    {"needs", needs_tests},
    {"compact", compact_tests},
    {"prefault", prefault_tests},
    {"products", products_tests},
    {"design", design_tests},
    {"windows", windows_tests},
    {"pairs", pairs_tests},
    {"combine", combine_tests},
    {"rounding", rounding_tests},
    {"degrees", degrees_tests},
    {"exact", exact_tests},
    {"elementary", elementary_tests},
    {"os", os_tests},
    {"mutual", mutual_tests},
    {"tail", tail_tests},
    {"centrality", centrality_tests},
    {"distance", distance_tests},
    {"permuted", permuted_tests},
    {"merge", merge_tests},
};

enum { SHOWN = 5, SECONDS = 300 };

static int failures; /* of the current test */
static char about[256];
static const char *skipped; /* why the current test is skipped; NULL: it is not */

int unit_fail(const char *file, int line, const char *format, ...) {
    if (__atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED) > SHOWN) return 0;
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    printf("%s:%d: %s%s%s\n", file, line, message, *about ? "; " : "", about);
    return 0;
}

void unit_about(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(about, sizeof about, format, arguments);
    va_end(arguments);
}

void unit_skip(const char *reason) {
    skipped = reason;
}

int unit_check_int(const char *file, int line, const char *what, int64_t actual, int64_t expected) {
    return actual == expected ||
           unit_fail(file, line, "%s is %lld, not %lld", what, (long long)actual, (long long)expected);
}

int unit_check_near(const char *file, int line, const char *what, double actual, double expected, double max) {
    if (fabs(actual - expected) <= max || (isnan(actual) && isnan(expected))) return 1;
    return unit_fail(file, line, "%s is %.17g, not %.17g within %g", what, actual, expected, max);
}

int unit_check_text(const char *file, int line, const char *text, const char *part) {
    return strstr(text, part) || unit_fail(file, line, "\"%s\" says nothing of \"%s\"", text, part);
}

typedef enum { FAILED, PASSED, SKIPPED } outcome;

/* Seconds of processor time after which a test ends the process. UNIT_SECONDS overrides it, for emulated processors.
 */
static int max_seconds(void) {
    const char *text = getenv("UNIT_SECONDS");
    int seconds = text ? atoi(text) : 0;
    return seconds > 0 ? seconds : SECONDS;
}

static outcome run(const char *file, const unit_test *test) {
    failures = 0;
    *about = 0;
    skipped = NULL;
    unit_limit_seconds(file, test->name, max_seconds());
    test->run();
    unit_limit_seconds(file, test->name, 0);
    gcor_set_fault(GCOR_HOST_MEMORY, 0);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0);
    if (failures) printf("failed, %d checks: %s, %s\n", failures, file, test->name);
    if (!failures && skipped) printf("skipped: %s, %s: %s\n", file, test->name, skipped);
    return failures ? FAILED : skipped ? SKIPPED : PASSED;
}

static int is_wanted(const char *name, int n, char **names) {
    int wanted = n == 0;
    for (int k = 0; k < n; k++) wanted |= strcmp(names[k], name) == 0;
    return wanted;
}

int main(int argc, char **argv) {
    int n[3] = {0};
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ); /* so that forked children do not print buffered output twice */
    for (size_t f = 0; f < sizeof files / sizeof *files; f++)
        for (const unit_test *test = files[f].tests; test->name && is_wanted(files[f].name, argc - 1, argv + 1); test++)
            n[run(files[f].name, test)]++;
    printf("%d passed, %d failed", n[PASSED], n[FAILED]);
    if (n[SKIPPED]) printf(", %d skipped", n[SKIPPED]);
    printf("\n");
    return n[FAILED] > 0 || n[PASSED] == 0;
}
