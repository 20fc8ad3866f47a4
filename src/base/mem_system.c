/*
 * mem_system.c - reads what the system says about memory: /proc/meminfo, /proc/self/status and the
 * memory cgroups.
 *
 * A process in cgroup /a/b is bound by the limits of /a/b, of /a and of the root (which, inside a
 * container, is the container's own group), so all of them are read. What a group has left is its
 * limit less its usage, where file pages that the kernel would drop first (inactive_file) do not
 * count as used.
 */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/sys.h"

#define GROUP_PATH_MAX 512

/* Where a cgroup version keeps its numbers. */
struct group_layout {
    const char *root, *limit, *usage, *reclaimable;
};

static const struct group_layout layout_v2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                              "\ninactive_file "};
static const struct group_layout layout_v1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                              "memory.usage_in_bytes", "\ntotal_inactive_file "};

/* The number after `label` in a text file; -1 if the file or the label is missing. */
static int read_labelled(const char *path, const char *label, uint64_t *out)
{
    char text[1800];
    const char *at;
    if (sys_read_text(path, text, sizeof text) < 0 || !(at = strstr(text, label)))
        return -1;
    *out = strtoull(at + strlen(label), NULL, 10);
    return 0;
}

static int read_group_number(const struct group_layout *layout, const char *group, const char *file,
                             uint64_t *out)
{
    char path[GROUP_PATH_MAX + 64], text[64];
    snprintf(path, sizeof path, "%s%s/%s", layout->root, group, file);
    if (sys_read_text(path, text, sizeof text) < 0 || text[0] < '0' || text[0] > '9')
        return -1; /* absent, or "max" */
    *out = strtoull(text, NULL, 10);
    return 0;
}

/* The label is at the line's start; memory.stat never begins with it, so "\n" always precedes. */
static uint64_t read_reclaimable(const struct group_layout *layout, const char *group)
{
    char path[GROUP_PATH_MAX + 64];
    uint64_t bytes = 0;
    snprintf(path, sizeof path, "%s%s/memory.stat", layout->root, group);
    (void)read_labelled(path, layout->reclaimable, &bytes);
    return bytes;
}

/* What one group has left, or UINT64_MAX if it sets no limit. */
static uint64_t group_available(const struct group_layout *layout, const char *group)
{
    uint64_t limit, usage;
    if (read_group_number(layout, group, layout->limit, &limit) < 0 ||
        read_group_number(layout, group, layout->usage, &usage) < 0)
        return UINT64_MAX;
    uint64_t reclaimable = read_reclaimable(layout, group);
    uint64_t used = usage > reclaimable ? usage - reclaimable : 0;
    return limit > used ? limit - used : 0;
}

/* The least that `group` and its ancestors have left; shortens `group` to "" on the way. */
static uint64_t chain_available(const struct group_layout *layout, char *group)
{
    uint64_t least = UINT64_MAX;
    for (;;) {
        char *slash = strrchr(group, '/');
        if (slash && !slash[1])
            *slash = '\0';
        uint64_t here = group_available(layout, group);
        if (here < least)
            least = here;
        if (!*group || !(slash = strrchr(group, '/')))
            return least;
        *slash = '\0';
    }
}

/* Copies the path of a line of /proc/self/cgroup ("id:controllers:/path") that holds `mark`. */
static int group_path(const char *lines, const char *mark, char *group)
{
    const char *at = strstr(lines, mark);
    if (!at)
        return -1;
    at += strlen(mark);
    size_t length = strcspn(at, "\n");
    if (length >= GROUP_PATH_MAX)
        length = 0; /* only the root's limit then */
    memcpy(group, at, length);
    group[length] = '\0';
    return 0;
}

static uint64_t cgroup_available(void)
{
    char lines[1024], group[GROUP_PATH_MAX];
    uint64_t least = UINT64_MAX, other;
    if (sys_read_text("/proc/self/cgroup", lines, sizeof lines) < 0)
        return least;
    if (group_path(lines, "0::", group) == 0)
        least = chain_available(&layout_v2, group);
    if (group_path(lines, ":memory:", group) == 0) {
        other = chain_available(&layout_v1, group);
        least = other < least ? other : least;
    }
    return least;
}

uint64_t mem_available(void)
{
    uint64_t kib;
    if (read_labelled("/proc/meminfo", "MemAvailable:", &kib) < 0)
        return 0;
    uint64_t groups = cgroup_available();
    return kib * 1024 < groups ? kib * 1024 : groups;
}

int mem_use_of(int32_t pid, struct mem_use *out)
{
    char path[64], text[128];
    unsigned long long mapped, resident, shared, data;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

    snprintf(path, sizeof path, pid ? "/proc/%d/statm" : "/proc/self/statm", (int)pid);
    if (sys_read_text(path, text, sizeof text) < 0 ||
        sscanf(text, "%llu %llu %llu %*u %*u %llu", &mapped, &resident, &shared, &data) != 4)
        return -1;
    *out = (struct mem_use){mapped * page, resident * page, shared * page, data * page};
    return 0;
}

static uint64_t left_of(const struct mem_limit *l)
{
    return l->limit > l->used ? l->limit - l->used : 0;
}

int mem_limit_find(struct mem_limit *out)
{
    struct mem_use use;
    struct rlimit addresses, data;
    int found = 0;

    if (mem_use_of(0, &use) != 0 || getrlimit(RLIMIT_AS, &addresses) != 0 ||
        getrlimit(RLIMIT_DATA, &data) != 0)
        return 0;
    if (addresses.rlim_cur != RLIM_INFINITY) {
        *out = (struct mem_limit){"ulimit -v", addresses.rlim_cur, use.mapped};
        found = 1;
    }
    if (data.rlim_cur != RLIM_INFINITY) {
        struct mem_limit other = {"ulimit -d", data.rlim_cur, use.data};

        if (!found || left_of(&other) < left_of(out))
            *out = other;
        found = 1;
    }
    return found;
}

uint64_t mem_peak_rss(void)
{
    uint64_t kib;
    return read_labelled("/proc/self/status", "VmHWM:", &kib) < 0 ? 0 : kib * 1024;
}

uint64_t mem_own(void)
{
    uint64_t kib;
    return read_labelled("/proc/self/smaps_rollup", "Pss_Anon:", &kib) < 0 ? 0 : kib * 1024;
}
