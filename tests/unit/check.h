/* What a test says. A test is a function; each file has a list of them, and main.c runs all. A check that fails tells
 * where and with which values, and the test goes on; the value of a check is whether it held. Any thread. */
#ifndef GPUCOR_UNIT_CHECK_H
#define GPUCOR_UNIT_CHECK_H

#include <stdint.h>
#include <stdio.h>

typedef struct {
    const char *name; /* NULL: the end of a list */
    void (*run)(void);
} unit_test;

/* Counts a failure of the test at hand, and shows it if it is one of the first; returns 0. */
int unit_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The test at hand, or the rest of it, cannot be run on this system; it says why. The caller returns. */
void unit_skip(const char *reason);

/* What the checks that follow are about; shown with a failure. */
void unit_about(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(condition) ((condition) ? 1 : unit_fail(__FILE__, __LINE__, "not so: %s", #condition))

#define CHECK_INT(actual, expected) unit_check_int(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
int unit_check_int(const char *file, int line, const char *what, int64_t actual, int64_t expected);

/* Within `most` of each other, or both not a number. */
#define CHECK_NEAR(actual, expected, max) unit_check_near(__FILE__, __LINE__, #actual, actual, expected, max)
int unit_check_near(const char *file, int line, const char *what, double actual, double expected, double max);

/* That a message has a part. */
#define CHECK_TEXT(text, part) unit_check_text(__FILE__, __LINE__, text, part)
int unit_check_text(const char *file, int line, const char *text, const char *part);

#endif
