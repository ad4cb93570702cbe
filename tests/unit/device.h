/* The CPU disguised as a device: its tiles are small, with another shape for each device; it delivers late and fails
 * on request. As with a GPU, its operands may be gone when a run fails. */
#ifndef GPUCOR_UNIT_DEVICE_H
#define GPUCOR_UNIT_DEVICE_H

#include "../../src/gpucor.h"

extern const gcor_backend unit_device;

typedef enum { UNIT_OPEN, UNIT_BEGIN, UNIT_PREPARE, UNIT_MULTIPLY, UNIT_FINISH, UNIT_FUNCTIONS } unit_function;

/* Makes a device's k-th call of a function fail. If the error is one of the device, all of its later calls fail,
 * too. */
typedef struct {
    unit_function function;
    int k; /* from 1; 0: none */
    gcor_status status;
} unit_fault;

enum { UNIT_DEVICES = 8 };
typedef struct {
    unit_fault faults[UNIT_DEVICES]; /* indexed by device */
    int pause;                       /* microseconds added to each tile */
    int together;                    /* number of devices that must be at a function before any continues */
    unit_function at;                /* that function */
    void (*watch)(void);             /* called by each function; NULL: nothing is */
    int calls[UNIT_DEVICES][UNIT_FUNCTIONS];
    int failed; /* number of devices that have failed */
    int open;   /* number of open devices */
} unit_devices;
extern unit_devices unit_devices_now; /* set before a run, read after it */

/* Resets everything to the state of a fresh process. */
void unit_devices_reset(void);

#endif
