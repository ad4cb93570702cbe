#include "threads.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    pthread_mutex_t mutex;
    pthread_cond_t over;
    int is_over;
} gathering;

/* Stay until all that can come are there. */
static void *attend(void *argument) {
    gathering *g = argument;
    pthread_mutex_lock(&g->mutex);
    while (!g->is_over) pthread_cond_wait(&g->over, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
    return NULL;
}

/* How many more threads can be there at a time. */
static int count_creatable(int most) {
    gathering g = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
    pthread_t *threads = malloc((size_t)most * sizeof *threads);
    int n = 0;
    if (!threads) return 0;
    while (n < most && pthread_create(&threads[n], NULL, attend, &g) == 0) n++;
    pthread_mutex_lock(&g.mutex);
    g.is_over = 1;
    pthread_cond_broadcast(&g.over);
    pthread_mutex_unlock(&g.mutex);
    for (int k = 0; k < n; k++) pthread_join(threads[k], NULL);
    free(threads);
    return n;
}

/* Where there is a limit, room for one more is left to others. */
int gcor_spare_threads(int wanted) {
    int can = count_creatable(wanted);
    return can < wanted && can > 0 ? can - 1 : can;
}

int gcor_usable_threads(int wanted) {
    static int known = 1; /* so many were there before, and OpenMP keeps those it has had */
    if (wanted <= known) return wanted;
    int can = 1 + gcor_spare_threads(wanted - 1);
    if (can > known) known = can;
    return can;
}
