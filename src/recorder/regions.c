/*
 * regions.c - records where regions begin and end (see regions.h).
 */
#include "recorder/regions.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Whether there is readable and printable text. A system call that takes a path looks first, so
 * that a bad pointer does no harm. */
static int is_text(const char *at, char name[RECORDER_NAME_MOST])
{
    size_t length = 0;
    if (!at || (syscall(SYS_faccessat, AT_FDCWD, at, F_OK) != 0 &&
                (errno == EFAULT || errno == ENAMETOOLONG)))
        return 0;
    while (length < RECORDER_NAME_MOST && isprint((unsigned char)at[length]))
        length++;
    if (!length || length == RECORDER_NAME_MOST || at[length])
        return 0;
    memcpy(name, at, length + 1);
    return 1;
}

int recorder_pcontrol(int level, const void *more, char name[RECORDER_NAME_MOST])
{
    if (level == 1 || level == -1)
        return is_text(more, name) ? level : 0;
    if (level > -3 && level < 3)
        return 0;
    snprintf(name, RECORDER_NAME_MOST, "phase %d", abs(level));
    return level > 0 ? 1 : -1;
}

int recorder_address(const void *address, char *out, size_t size)
{
    const struct link_map *map = NULL;
    Dl_info where;
    size_t used;
    if (!dladdr1(address, &where, (void **)&map, RTLD_DL_LINKMAP) || !map || size < 32)
        return 0;
    if (map->l_name && *map->l_name) {
        used = (size_t)snprintf(out, size, "@%s", map->l_name);
    } else { /* the program itself */
        ssize_t n = readlink("/proc/self/exe", out + 1, size - 1);
        out[0] = '@';
        used = n < 0 ? 1 : (size_t)n + 1;
    }
    if (used + 24 > size)
        return 0;
    snprintf(out + used, size - used, "+0x%llx",
             (unsigned long long)((uintptr_t)address - map->l_addr));
    return 1;
}
