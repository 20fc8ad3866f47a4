/*
 * C++: state of libstdc++ that is per rank.
 *
 * The standard stream objects hold formatting state and are private; exceptions in flight hang off
 * __cxa_get_globals. libstdc++ initialises the stream objects when the first object of the program
 * asks for it, and counts these requests. This must happen once for the process, before the base
 * image is taken, or all ranks but the first would find the streams empty.
 *
 * The streams stay synchronised with stdio, which keeps no buffer, so output of a rank never stays
 * in memory that all ranks share.
 */
#include "vp/libc/libc.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

static const char *const streams[] = {
    "_ZSt3cin",  "_ZSt4cout",  "_ZSt4cerr",  "_ZSt4clog",
    "_ZSt4wcin", "_ZSt5wcout", "_ZSt5wcerr", "_ZSt5wclog",
};

/* Size of the object at address according to its symbol, 0 if unknown. */
static size_t size_of(void *address)
{
    Dl_info info;
    ElfW(Sym) *symbol = NULL;

    if (!dladdr1(address, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        return 0;
    return symbol->st_size;
}

/* std::ios_base::Init, never destroyed: the count stays above 0. */
static void construct_streams(void *library)
{
    static char init_object[16];
    union {
        void *address;
        void (*call)(void *);
    } constructor = {dlsym(library, "_ZNSt8ios_base4InitC1Ev")};

    if (constructor.address)
        constructor.call(init_object);
}

static int is_set_up; /* once for the process */

static void set_up(void *library)
{
    union {
        void *address;
        void *(*call)(void);
    } globals = {dlsym(library, "__cxa_get_globals")};

    construct_streams(library);
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        void *stream = dlsym(library, streams[i]);
        size_t size = stream ? size_of(stream) : 0;
        if (size > 0)
            vp_image_add(stream, size);
    }
    if (globals.address)
        vp_image_add(globals.call(), 2 * sizeof(void *));
    is_set_up = globals.address != NULL;
}

void libc_cxx_init(void)
{
    set_up(RTLD_DEFAULT);
}

void libc_cxx_late(const char *name)
{
    void *library = is_set_up ? NULL : REAL(dlopen)(name, RTLD_LAZY | RTLD_NOLOAD);

    if (library)
        set_up(library);
}

/* std::ios_base::sync_with_stdio(bool); returns whether it was on. */
_Bool _ZNSt8ios_base15sync_with_stdioEb(_Bool);
VP_EXPORT _Bool _ZNSt8ios_base15sync_with_stdioEb(_Bool sync)
{
    if (!vp_current())
        return REAL(_ZNSt8ios_base15sync_with_stdioEb)(sync);
    return 1;
}

/* ---- where a call comes from ---- */

struct range {
    uintptr_t start, end;
};
static VP_OWN struct range runtimes[4];
static VP_OWN int runtime_count, runtimes_known;

static int note_runtime(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    if (!strstr(info->dlpi_name, "libgfortran") && !strstr(info->dlpi_name, "libstdc++"))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && runtime_count < 4) {
            uintptr_t start = info->dlpi_addr + p->p_vaddr;
            runtimes[runtime_count++] = (struct range){start, start + p->p_memsz};
        }
    }
    return 0;
}

void libc_runtimes_changed(void)
{
    runtimes_known = 0;
}

int libc_from_runtime(const void *pc)
{
    if (!runtimes_known) {
        runtime_count = 0;
        dl_iterate_phdr(note_runtime, NULL);
        runtimes_known = 1;
    }
    for (int i = 0; i < runtime_count; i++)
        if ((uintptr_t)pc >= runtimes[i].start && (uintptr_t)pc < runtimes[i].end)
            return 1;
    return 0;
}
