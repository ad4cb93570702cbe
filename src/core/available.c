#include "available.h"

#include "triangle.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Version 1 of control groups writes the largest number of pages for no limit. */
static const int64_t NO_LIMIT = INT64_MAX / 2;

/* The number behind a name at the beginning of a line; -1: there is none. */
static int64_t number_in(const char *path, const char *name) {
    char line[256];
    int64_t value = -1;
    FILE *file = fopen(path, "r");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0 && sscanf(line + strlen(name), "%" SCNd64, &value) != 1) value = -1;
    if (file) fclose(file);
    return value;
}

/* What a group's limit leaves; pages of files that are not in use can be had back. The names of its files differ
 * between the two versions of control groups. */
static int64_t left_of_group(const char *folder, const char *limit, const char *current) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, limit);
    int64_t most = number_in(path, ""); /* "max": no number */
    if (most < 0 || most > NO_LIMIT) return INT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, current);
    int64_t used = number_in(path, "");
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    int64_t idle = number_in(path, "inactive_file ");
    if (used < 0) return INT64_MAX;
    used -= idle > 0 ? idle : 0;
    return most > used ? most - used : 0;
}

/* A group and those that it is in, up to the root, which a container may see as the only one. */
static int64_t left_of_groups(const char *root, const char *group, const char *limit, const char *current) {
    char folder[512];
    int64_t left = INT64_MAX;
    if (snprintf(folder, sizeof folder, "%s%s", root, group) >= (int)sizeof folder) return left;
    while (strlen(folder) >= strlen(root)) {
        left = gcor_smaller(left, left_of_group(folder, limit, current));
        char *last = strrchr(folder, '/');
        if (!last) break;
        *last = 0;
    }
    return left;
}

/* Lines of /proc/self/cgroup: "0::/group", or of version 1 "7:memory:/group". */
static int64_t left_of_line(char *line) {
    char *names = strchr(line, ':'), *group = names ? strchr(names + 1, ':') : NULL;
    line[strcspn(line, "\n")] = 0;
    if (!group) return INT64_MAX;
    if (names + 1 == group) return left_of_groups("/sys/fs/cgroup", group + 1, "memory.max", "memory.current");
    if (!strstr(names, "memory")) return INT64_MAX;
    return left_of_groups("/sys/fs/cgroup/memory", group + 1, "memory.limit_in_bytes", "memory.usage_in_bytes");
}

/* What `ulimit -v`, which batch systems set, leaves of the address space. */
static int64_t left_of_address_space(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return INT64_MAX;
    int64_t pages = number_in("/proc/self/statm", ""), most = (int64_t)limit.rlim_cur;
    return pages < 0 ? most : gcor_larger(0, most - pages * (int64_t)sysconf(_SC_PAGESIZE));
}

int64_t gcor_available_memory(void) {
    char line[512];
    int64_t kilobytes = number_in("/proc/meminfo", "MemAvailable:");
    int64_t left = gcor_smaller(kilobytes >= 0 ? 1024 * kilobytes : INT64_MAX, left_of_address_space());
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof line, file)) left = gcor_smaller(left, left_of_line(line));
    if (file) fclose(file);
    return left;
}
