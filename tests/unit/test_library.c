/* Every library that is loaded on demand can be loaded, with all functions of its list, and is not
 * loaded before. */
#include <metis.h>
#include <string.h>
#include <zlib.h>

#include "library/library.h"
#include "tap.h"

#define L(name, title) extern void *library_##name##_slots[];
LIBRARY_LIST(L)
#undef L

static const struct {
    enum library_name number;
    const char *title;
    void **slots;
} libraries[] = {
#define L(name, title) {LIBRARY_##name, title, library_##name##_slots},
    LIBRARY_LIST(L)
#undef L
};

int main(void)
{
    idx_t options[METIS_NOPTIONS] = {0};
    plan_auto();
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++) {
        struct err err = {0};
        void *before = libraries[i].slots[0];
        int rc = library_load(libraries[i].number, &err);
        ok(!before && rc == 0 && libraries[i].slots[0], "%s is loaded when it is needed %s",
           libraries[i].title, err.text);
        ok(library_load(libraries[i].number, &err) == 0, "and may be asked for again");
    }
    ok(compressBound(1000) > 1000, "a function returns its value");
    ok(METIS_SetDefaultOptions(options) == METIS_OK && options[METIS_OPTION_PTYPE] == -1,
       "and writes its result");
    return done_testing();
}
