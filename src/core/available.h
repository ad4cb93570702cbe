/* How much memory the process may still take. */
#ifndef GPUCOR_AVAILABLE_H
#define GPUCOR_AVAILABLE_H

#include "gpucor.h"

/* Bytes that the process may still take: the least of what the system has without swapping, what the process's control
 * groups leave, and what its address space has room for. Pages that the system may take back on demand are available,
 * and so are those of kept blocks (pool.h), on Linux. INT64_MAX where nothing is known. */
int64_t gcor_available_memory(void);

#endif
