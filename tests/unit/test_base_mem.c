/* Allocation: zeroing, refusal, mappings, and what happens when memory is out. */
#include "base/mem.h"

#include <stdint.h>

#include "log_caught.h"
#include "tests/tap.h"

/* Under AddressSanitizer an allocation that is too large must fail, not end the test. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_alloc(void)
{
    char *p = mem_zalloc(100);
    int zero = 1;
    for (int i = 0; i < 100; i++)
        zero &= p[i] == 0;
    ok(zero, "zalloc is zeroed");
    memset(p, 7, 100);
    p = mem_realloc(p, 10000);
    ok(p[99] == 7, "realloc keeps the content");
    mem_free(p);
    p = mem_alloc(0);
    ok(p != NULL, "size 0 is not NULL");
    mem_free(p);
    p = mem_strdup("abc");
    is_str(p, "abc", "strdup");
    mem_free(p);
    mem_free(NULL);
}

static void test_try_alloc(void)
{
    char *p = mem_try_alloc(10, 10);
    ok(p != NULL, "a small checked allocation succeeds");
    mem_free(p);
    ok(mem_try_alloc(SIZE_MAX / 2, 3) == NULL, "an overflowing product is refused");
    ok(mem_try_alloc(SIZE_MAX, 1) == NULL, "more than an object can be is refused");
    p = mem_try_alloc(0, 8);
    ok(p != NULL, "zero elements are not NULL");
    mem_free(p);
}

static void test_out_of_memory(void)
{
    volatile size_t huge = PTRDIFF_MAX - 4096;
    LOG_CATCH(mem_free(mem_alloc(huge)));
    ok(strstr(log_caught, "out of memory") != NULL, "a failed allocation ends with a message");
}

static void test_map(void)
{
    char *p = mem_map(10000, 0);
    ok(p && p[0] == 0 && p[9999] == 0, "a mapping is zeroed");
    mem_unmap(p, 10000);
    size_t bytes = 5 * MEM_HUGE_PAGE + 12345;
    p = mem_map(bytes, 1);
    ok(p && (uintptr_t)p % MEM_HUGE_PAGE == 0, "a huge mapping is aligned");
    p[0] = p[bytes - 1] = 1;
    ok(p[0] == 1 && p[bytes - 1] == 1, "both ends are usable");
    mem_unmap(p, bytes);
    ok(mem_map(SIZE_MAX, 0) == NULL, "an impossible mapping is refused");
    ok(mem_map(SIZE_MAX, 1) == NULL, "an impossible huge mapping is refused");
    ok(mem_map(SIZE_MAX - MEM_HUGE_PAGE, 1) == NULL, "and one that overflows when aligned");
    mem_unmap(NULL, 10);
}

int main(void)
{
    plan_auto();
    test_alloc();
    test_try_alloc();
    test_out_of_memory();
    test_map();
    return done_testing();
}
