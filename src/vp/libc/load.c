/*
 * Libraries that a rank loads while it runs. For ranks that share a process, their data is made
 * private (vp/late.h).
 *
 * The dynamic linker finds a library in the folders that its caller names (DT_RUNPATH), and knows
 * the caller by the return address. So ranks with a process of their own call it as if this file
 * did not exist, by a jump; for others, those folders are searched here.
 */
#include "vp/libc/libc.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vp/late.h"
#include "vp/object.h"

/* Declared by no header. */
void __gmon_start__(void);

/* Called by the `_init` of each object, before its constructors. */
VP_EXPORT void __gmon_start__(void)
{
    if (vp_private.current)
        vp_late_starting(__builtin_return_address(0));
}

/* ---- where a library is ---- */

/* The folders that are searched for a library which that object loads; NULL if unknown. */
static Dl_serinfo *folders_of(const void *address)
{
    struct link_map *map = NULL;
    Dl_serinfo room, *found;
    Dl_info info;

    if (!dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) || !map ||
        dlinfo(map, RTLD_DI_SERINFOSIZE, &room) != 0)
        return NULL;
    found = malloc(room.dls_size);
    if (!found)
        return NULL;
    found->dls_size = room.dls_size;
    found->dls_cnt = room.dls_cnt;
    if (dlinfo(map, RTLD_DI_SERINFO, found) == 0)
        return found;
    free(found);
    return NULL;
}

/* How many come before those that both have in the end, which are searched for everybody. */
static unsigned own_folders(const Dl_serinfo *own, const Dl_serinfo *others)
{
    unsigned a = own->dls_cnt, b = others->dls_cnt;

    while (a && b &&
           strcmp(own->dls_serpath[a - 1].dls_name, others->dls_serpath[b - 1].dls_name) == 0)
        a--, b--;
    return a;
}

static int visit_loaded(struct dl_phdr_info *info, size_t size, void *name)
{
    struct vp_object o = vp_object_read(info);

    (void)size;
    return strcmp(o.name, name) == 0 || (o.soname && strcmp(o.soname, name) == 0);
}

/* The path of the library in one of the caller's own folders; allocated, or NULL. */
static char *search(const char *file, const void *caller)
{
    Dl_serinfo *own, *others;
    char *path = NULL;

    if (strchr(file, '/') || dl_iterate_phdr(visit_loaded, (void *)file))
        return NULL;
    own = folders_of(caller);
    others = folders_of((void *)vp_real("dlopen"));
    for (unsigned i = 0; own && others && i < own_folders(own, others) && !path; i++) {
        if (asprintf(&path, "%s/%s", own->dls_serpath[i].dls_name, file) < 0)
            path = NULL;
        if (path && access(path, R_OK) != 0) {
            free(path);
            path = NULL;
        }
    }
    free(own);
    free(others);
    return path;
}

/* ---- loading ---- */

static void *refuse(const char *call, const char *file, const char *why)
{
    char text[512];

    snprintf(text, sizeof text, "'%s': %s; run it with --host process", file, why);
    vp_refuse(call, text);
    REAL(dlopen)(text, RTLD_LAZY); /* there is none: an error that dlerror() tells */
    return NULL;
}

static void *load(const char *file, int mode, const void *caller)
{
    char *path = search(file, caller);
    int token = vp_late_begin(), hidden = 0;
    struct link_map *map = REAL(dlopen)(path ? path : file, mode & ~RTLD_GLOBAL);
    const char *why;

    vp_late_end(token);
    free(path);
    if (!map)
        return NULL;
    why = vp_late_open(map, mode, &hidden);
    if (why)
        return refuse("dlopen()", file, why);
    if (mode & RTLD_GLOBAL)
        REAL(dlopen)(map->l_name, mode);
    return hidden ? NULL : map;
}

VP_EXPORT void *dlopen(const char *file, int mode)
{
    if (!vp_current_sharing() || !file || !*file)
        return REAL(dlopen)(file, mode);
    return load(file, mode, __builtin_return_address(0));
}

VP_EXPORT void *dlmopen(Lmid_t namespace, const char *file, int mode)
{
    if (!vp_current_sharing())
        return REAL(dlmopen)(namespace, file, mode);
    return refuse("dlmopen()", file ? file : "", "ranks share the namespaces of libraries");
}

static int is_loaded(const struct link_map *map)
{
    const struct link_map *m = _r_debug.r_map;

    while (m && m != map)
        m = m->l_next;
    return m != NULL;
}

VP_EXPORT int dlclose(void *library)
{
    if (!vp_current_sharing() || !is_loaded(library))
        return REAL(dlclose)(library);
    return vp_late_close(library);
}
