/*
 * Large zero-filled data (vp/touched.c, and vp/image.c on it): only pages that were used are
 * reported, kept in the base image and put back, and two fibres keep theirs apart.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tap.h"
#include "vp/touched.h"
#include "vp/vp_internal.h"

#define PAGE ((size_t)4096)
#define PAGES ((size_t)1024)

struct pool vp_pool;

struct seen {
    size_t stretches, bytes;
    char *first;
};

static void count(char *from, size_t len, void *arg)
{
    struct seen *s = arg;

    if (!s->stretches++)
        s->first = from;
    s->bytes += len;
}

static struct seen look(char *from, size_t len)
{
    struct seen s = {0};

    vp_touched(from, len, count, &s);
    return s;
}

static void test_stretches(char *area)
{
    struct seen s = look(area, PAGES * PAGE);

    is_int((long long)s.stretches, 0, "untouched at first");
    area[0] = area[5 * PAGE] = area[6 * PAGE + 1] = area[PAGES * PAGE - 1] = 1;
    s = look(area, PAGES * PAGE);
    is_int((long long)s.stretches, 3, "pages side by side are one stretch");
    is_int((long long)s.bytes, (long long)(4 * PAGE), "no more than was touched");
    ok(s.first == area, "from the beginning");
    s = look(area + 5 * PAGE + 100, PAGE);
    ok(s.stretches == 1 && s.bytes == PAGE && s.first == area + 5 * PAGE + 100,
       "parts of pages: no more than was asked for");
    s = look(area + 7 * PAGE, PAGE - 5);
    is_int((long long)s.bytes, 0, "the one behind is not in use");
}

static void test_image(char *area)
{
    struct vp_rank a = {0}, b = {0};

    vp_image_add_zeros(area, PAGES * PAGE);
    area[5 * PAGE] = area[9 * PAGE] = 2;
    vp_image_reset();
    is_int(area[5 * PAGE], 1, "what was there is put back");
    is_int(area[9 * PAGE], 0, "so are zeros");
    is_int((long long)look(area, PAGES * PAGE).bytes, (long long)(5 * PAGE),
           "the base is made and put back without touching the rest");
    vp_image_load(&a);
    memset(area + 100 * PAGE, 3, 50 * PAGE);
    vp_image_save(&a);
    vp_image_load(&b);
    ok(area[0] == 1 && area[100 * PAGE] == 0 && area[120 * PAGE] == 0,
       "another fibre has the base");
    area[0] = 4;
    vp_image_save(&b);
    vp_image_load(&a);
    ok(area[0] == 1 && area[100 * PAGE] == 3 && area[150 * PAGE - 1] == 3 && area[150 * PAGE] == 0,
       "the first finds its own");
    vp_image_drop(&a);
    vp_image_drop(&b);
}

int main(void)
{
    char *area = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);

    plan_auto();
    if (area == MAP_FAILED)
        abort();
    madvise(area, PAGES * PAGE, MADV_NOHUGEPAGE);
    pool_init(&vp_pool, "saved data");
    test_stretches(area);
    test_image(area);
    pool_fini(&vp_pool);
    return done_testing();
}
