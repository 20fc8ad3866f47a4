/*
 * Private data (vp/image.c) against a naive full copy per fibre: random writes, switches, ends and
 * new fibres, over ranges of odd sizes and alignments. Seeded.
 */
#include <stdlib.h>

#include "base/rng.h"
#include "pool_live.h"
#include "tap.h"
#include "vp/vp_internal.h"

enum { FIBRES = 12, AREA = 6000, RANGES = 9 };

struct pool vp_pool;

static _Alignas(64) unsigned char area[AREA];
static unsigned char base[AREA], shadow[FIBRES][AREA];
static struct vp_rank fibres[FIBRES];
static struct {
    size_t at, len;
} ranges[RANGES] = {
    {0, 4},      {8, 8},       {64, 64},  {130, 1},     {200, 1000},
    {1203, 517}, {2048, 2048}, {4100, 3}, {4200, 1700},
};
static int faults;

static int is_private(size_t i)
{
    if (i >= 2500 && i < 2600) /* taken out again */
        return 0;
    for (int r = 0; r < RANGES; r++)
        if (i >= ranges[r].at && i < ranges[r].at + ranges[r].len)
            return 1;
    return 0;
}

static void compare(int f, const char *what)
{
    for (size_t i = 0; i < AREA; i++)
        if (is_private(i) && area[i] != shadow[f][i]) {
            if (faults++ < 5)
                diag("%s: fibre %d, byte %zu is %d, not %d", what, f, i, area[i], shadow[f][i]);
            return;
        }
}

/* Changes some bytes; sometimes puts the base content back, so that saved runs are trimmed. */
static void scribble(struct rng *r, int f)
{
    size_t range = rng_below(r, RANGES), from = ranges[range].at, len = ranges[range].len;
    size_t at = from + rng_below(r, len), n = 1 + rng_below(r, rng_below(r, 4) ? 8 : 300);
    int undo = rng_below(r, 3) == 0;

    if (rng_below(r, 40) == 0) {
        at = 0;
        n = AREA;
        undo = 1;
    }
    for (size_t i = at; i < at + n && i < AREA; i++)
        if (is_private(i))
            area[i] = shadow[f][i] = undo ? base[i] : (unsigned char)rng_next(r);
}

static void fresh(int f)
{
    memset(&fibres[f], 0, sizeof fibres[f]);
    memcpy(shadow[f], base, AREA);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
    struct vp_stats stats = {0};
    size_t private_bytes = 0;
    struct rng r;
    int now = -1;

    plan_auto();
    diag("seed %llu", (unsigned long long)seed);
    rng_seed(&r, seed);
    pool_init(&vp_pool, "saved data");
    for (size_t i = 0; i < AREA; i++)
        area[i] = base[i] = (unsigned char)(i * 7);
    for (int i = 0; i < RANGES; i++)
        vp_image_add(area + ranges[i].at, ranges[i].len);
    vp_image_add(area + 250, 100); /* twice: still counted once */
    vp_image_exclude(area + 2500, 100);
    for (size_t i = 0; i < AREA; i++)
        private_bytes += (size_t)is_private(i);
    vp_image_stats(&stats);
    is_int((long long)stats.image_bytes, (long long)private_bytes, "private bytes");
    is_int((long long)stats.hot_bytes, 0, "nothing is hot at first");
    memset(area, 1, 64);
    vp_image_reset();
    ok(area[2] == base[2] && area[5] == 1, "reset puts private bytes back, others not");
    for (int f = 0; f < FIBRES; f++)
        fresh(f);
    for (int step = 0; step < 30000 && !faults; step++) {
        int next = (int)rng_below(&r, FIBRES);
        if (next != now) {
            if (now >= 0 && rng_below(&r, 60) == 0) { /* ends; another takes its place */
                vp_image_note();
                vp_image_drop(&fibres[now]);
                fresh(now);
            } else if (now >= 0) {
                vp_image_save(&fibres[now]);
            }
            vp_image_load(&fibres[next]);
            now = next;
            compare(now, "after a switch");
        }
        for (uint64_t n = rng_below(&r, 3); n > 0; n--)
            scribble(&r, now);
        area[60] = area[2550] = (unsigned char)step; /* not private: stays */
    }
    is_int(faults, 0, "every fibre finds its data");
    is_int(area[2550], area[60], "shared bytes are left alone");
    vp_image_stats(&stats);
    is_int((long long)stats.image_bytes, (long long)private_bytes, "no byte was lost");
    ok(stats.hot_bytes > 0 && stats.hot_bytes <= private_bytes, "some of it is hot: %llu",
       (unsigned long long)stats.hot_bytes);
    vp_image_save(&fibres[now]);
    for (int f = 0; f < FIBRES; f++)
        vp_image_drop(&fibres[f]);
    is_int((long long)pool_live(&vp_pool), 0, "dropped fibres hold no memory");
    {
        struct vp_rank clean = {0};
        vp_image_load(&clean);
        vp_image_save(&clean);
        ok(clean.saved == NULL, "one that changes nothing keeps nothing");
    }
    pool_fini(&vp_pool);
    return done_testing();
}
