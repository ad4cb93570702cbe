/* Checks for unit tests. A test is a function; each file has a list of tests, and main.c runs all lists. A failing
 * check reports where and with which values, and the test continues; a check returns 1 if it held, otherwise 0. Any
 * thread. */
#ifndef GPUCOR_UNIT_CHECK_H
#define GPUCOR_UNIT_CHECK_H

#include <stdint.h>
#include <stdio.h>

typedef struct {
    const char *name; /* NULL: the end of a list */
    void (*run)(void);
} unit_test;

/* Counts a failure of the current test and shows the first ones; returns 0. */
int unit_fail(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Marks the current test, or the rest of it, as skipped on this system. The caller returns afterwards. */
void unit_skip(const char *reason);

/* Sets a description of the checks that follow, shown with a failure. */
void unit_about(const char *format, ...) __attribute__((format(printf, 1, 2)));

#define CHECK(condition) ((condition) ? 1 : unit_fail(__FILE__, __LINE__, "not so: %s", #condition))

#define CHECK_INT(actual, expected) unit_check_int(__FILE__, __LINE__, #actual, (int64_t)(actual), (int64_t)(expected))
int unit_check_int(const char *file, int line, const char *what, int64_t actual, int64_t expected);

/* Holds if both differ by at most `most`, or both are NaN. */
#define CHECK_NEAR(actual, expected, max) unit_check_near(__FILE__, __LINE__, #actual, actual, expected, max)
int unit_check_near(const char *file, int line, const char *what, double actual, double expected, double max);

/* Holds if `text` contains `part`. */
#define CHECK_TEXT(text, part) unit_check_text(__FILE__, __LINE__, text, part)
int unit_check_text(const char *file, int line, const char *text, const char *part);

#endif
