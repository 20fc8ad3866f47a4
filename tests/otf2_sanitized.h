/*
 * otf2_sanitized.h - damaged archives under sanitizers: the library of OTF2 does not free an
 * archive that it cannot open, and allocates as much memory as a file states.
 *
 * One test program is one translation unit that includes this header.
 */
#ifndef OTF2_SANITIZED_H
#define OTF2_SANITIZED_H

__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2\n";
}

__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

#endif
