/*
 * Set-up of the libc shims, in two steps: in the first constructor, and at takeover.
 *
 * A variable of libc that programs see may be in libc or, by a copy relocation, in the program's
 * data. It is looked up by name, because only the dynamic linker knows which. Registering a
 * variable again at takeover updates its base content, since libc sets some of them after our
 * constructor has run.
 */
#include "vp/libc/libc.h"

#include <dlfcn.h>
#include <time.h>

static const struct {
    const char *name;
    size_t size;
} variables[] = {
    {"optind", sizeof(int)},
    {"opterr", sizeof(int)},
    {"optopt", sizeof(int)},
    {"optarg", sizeof(char *)},
    {"environ", sizeof(char **)},
    {"program_invocation_name", sizeof(char *)},
    {"program_invocation_short_name", sizeof(char *)},
    {"tzname", 2 * sizeof(char *)},
    {"timezone", sizeof(long)},
    {"daylight", sizeof(int)},
};

/* Before any other constructor: libstdc++ and libgfortran read the streams from the variables. */
void vp_libc_early(void)
{
    libc_stdio_early();
}

void vp_libc_init(void)
{
    tzset(); /* libc does this once per process, and every rank must see the result */
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++) {
        void *address = dlsym(RTLD_DEFAULT, variables[i].name);
        if (address)
            vp_image_add(address, variables[i].size);
    }
    libc_stdio_init();
    libc_descriptor_init();
    libc_cxx_init();
    vp_image_add(&errno, sizeof errno);
}
