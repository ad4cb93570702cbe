/* Memory of large results, which comes from the system in large pages. What is given back stays for the next result:
 * its pages are there, and having them costs more than filling them. The system may take such pages away when memory is
 * short. Any thread may call. */
#ifndef GPUCOR_POOL_H
#define GPUCOR_POOL_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    void *at;                  /* NULL: nothing */
    size_t capacity;           /* bytes */
    int is_mapped, is_touched; /* is_touched: it has been in use before */
} gcor_block;

/* Room for so many bytes, whose contents are undefined; at least 64-byte aligned, and to a large page where it is
 * large. at is NULL after an error. A large block that is larger than the available memory is an error, because the
 * system would give the address space and end the process when it is written to. `what` names it in the message. The
 * caller gives it back with gcor_pool_give(). */
gcor_block gcor_pool_take(gcor_context *context, int64_t bytes, const char *what);
void gcor_pool_give(gcor_block *block);

/* Address space for so many bytes at most, whose pages come as they are touched; at is NULL where the system does not
 * give it. It is to be cut to the bytes that are used, 0 for none, and is then a block like any other. */
gcor_block gcor_pool_open(int64_t max);
void gcor_pool_cut(gcor_block *block, int64_t bytes);
/* As gcor_pool_give(), but that no page stays: for sizes that nothing else will have. */
void gcor_pool_return(gcor_block *block);

/* Give all kept blocks back to the system. */
void gcor_pool_drop(void);

/* Bytes that may stay from now on, -1: a quarter of what is available; what is more goes back. */
void gcor_pool_keep(int64_t bytes);

/* Bytes that were taken and not given back; bytes that stay. */
int64_t gcor_pool_used(void);
int64_t gcor_pool_kept(void);
/* Whether so much could be had of what stays. */
int gcor_pool_has(int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
