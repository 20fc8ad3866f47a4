/*
 * caller.c - finds where in the program a call into the library was made.
 */
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "vp/vp.h"

#define IN " in "
#define FRAMES 24 /* frames inside the library, and one of the program */

/* Our library and the MPI bindings of other languages, which call it. */
static int is_between(const char *file)
{
    return strstr(file, "liborrery") || strstr(file, "libmpichfort") || strstr(file, "libmpichcxx");
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The simulator may have another file of that name, if it has another program. */
static const char *name_of(const char *file, const struct link_map *map)
{
    if (!vp_private.is_other)
        return base_name(file);
    return map && *map->l_name ? map->l_name : (const char *)getauxval(AT_EXECFN);
}

int vp_frame(const void *address, char *out, size_t n)
{
    const struct link_map *map = NULL;
    Dl_info where;

    if (!dladdr1(address, &where, (void **)&map, RTLD_DL_LINKMAP) || !where.dli_fname)
        return 0;
    snprintf(out, n, "0x%llx" IN "%s",
             (unsigned long long)((uintptr_t)address - (map ? map->l_addr : 0)),
             name_of(where.dli_fname, map));
    return 1;
}

int vp_caller(char *out, size_t n)
{
    void *frames[FRAMES];
    int count = backtrace(frames, FRAMES);

    for (int i = 0; i < count; i++)
        if (vp_frame((const char *)frames[i] - 1, out, n) && !is_between(out))
            return 1;
    return 0;
}

/* An object that is looked for by its name, and where it is. */
struct wanted {
    const char *name;
    uintptr_t base;
};

/* Names are those of dladdr, as above. */
static int is_wanted(struct dl_phdr_info *info, size_t size, void *wanted)
{
    struct wanted *w = wanted;
    Dl_info where;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type != PT_LOAD || !(p->p_flags & PF_X))
            continue;
        if (!dladdr((void *)(info->dlpi_addr + p->p_vaddr), &where) || !where.dli_fname ||
            strcmp(base_name(where.dli_fname), w->name) != 0)
            return 0;
        w->base = info->dlpi_addr;
        return 1;
    }
    return 0;
}

uintptr_t vp_caller_address(const char *text)
{
    struct wanted w = {.name = strstr(text, IN)};
    unsigned long long offset = strtoull(text, NULL, 16);

    if (!w.name)
        return 0;
    w.name += sizeof IN - 1;
    return dl_iterate_phdr(is_wanted, &w) ? w.base + (uintptr_t)offset : 0;
}
