/* How much memory the process may still take. */
#ifndef GPUCOR_AVAILABLE_H
#define GPUCOR_AVAILABLE_H

#include "gpucor.h"

/* Bytes that the system has left without swapping, or what the process's control groups leave it where that is less;
 * pages that would be given back on demand count as left. INT64_MAX where nothing is known. */
int64_t gcor_available_memory(void);

#endif
