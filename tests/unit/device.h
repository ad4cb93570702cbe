/* The processor in the guise of a device: its tiles are small and of another shape for each device, it delivers late,
 * and it fails on demand. Like a GPU it may have nothing left to hold on to when a run fails. */
#ifndef GPUCOR_UNIT_DEVICE_H
#define GPUCOR_UNIT_DEVICE_H

#include "../../src/gpucor.h"

extern const gcor_backend unit_device;

typedef enum { UNIT_OPEN, UNIT_BEGIN, UNIT_PREPARE, UNIT_MULTIPLY, UNIT_FINISH, UNIT_FUNCTIONS } unit_function;

/* The k-th call of a function by a device fails; if that is an error of the device, so does all it is asked then. */
typedef struct {
    unit_function function;
    int k; /* from 1; 0: none */
    gcor_status status;
} unit_fault;

enum { UNIT_DEVICES = 8 };
typedef struct {
    unit_fault faults[UNIT_DEVICES]; /* by the device's number */
    int pause;                       /* microseconds that a tile takes longer */
    int together;                    /* so many open before any goes on */
    int calls[UNIT_DEVICES][UNIT_FUNCTIONS];
    int failed; /* how many devices have */
    int open;   /* how many are */
} unit_devices;
extern unit_devices unit_devices_now; /* set before a run, read after it */

/* As a fresh process has them: no fault, no pause, nothing counted. */
void unit_devices_reset(void);

#endif
