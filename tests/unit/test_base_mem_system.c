/* What the system says about memory. */
#include "base/mem.h"

#include <unistd.h>

#include "tests/tap.h"

int main(void)
{
    plan_auto();
    uint64_t total = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t available = mem_available();
    ok(available > 0, "some memory is available");
    ok(available <= total, "not more than the machine has");
    uint64_t before = mem_peak_rss();
    ok(before > 0, "the peak is known");
    size_t bytes = (size_t)before + ((size_t)16 << 20);
    char *p = mem_map(bytes, 0);
    for (size_t i = 0; p && i < bytes; i += 4096)
        p[i] = 1;
    ok(p && mem_peak_rss() >= bytes, "touching pages raises the peak");
    mem_unmap(p, bytes);
    ok(mem_peak_rss() >= bytes, "and it stays up");
    return done_testing();
}
