/* move.c - executes plans (plan.h): pack, unpack, ranges of both, and copies between typed buffers.
 * 
 * Memory addresses are integers here: a buffer may be MPI_BOTTOM, and displacements may lead out of
 * the object that a pointer was made for. The direction is a parameter; the loops over runs are
 * instantiated for each direction and for the common run lengths, everything above them is not
 * hot. */
#include <string.h>

#include "base/mem.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/plan.h"

#define COPY_CHUNK ((uint64_t)65536)

enum direction { PACK, UNPACK };

static inline __attribute__((always_inline)) void move_bytes(enum direction dir, uintptr_t mem,
                                                             unsigned char *stream, uint64_t n)
{
    if (dir == PACK)
        memcpy(stream, (const void *)mem, n);
    else
        memcpy((void *)mem, stream, n);
}

static inline __attribute__((always_inline)) void move_strided(enum direction dir, uintptr_t mem,
                                                               uint64_t stride,
                                                               unsigned char *stream, uint64_t unit,
                                                               uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        move_bytes(dir, mem, stream, unit);
        mem += stride;
        stream += unit;
    }
}

/* `unit` as a constant lets the compiler turn each move into loads and stores. */
static inline __attribute__((always_inline)) void move_runs(enum direction dir, uintptr_t mem,
                                                            uint64_t stride, unsigned char *stream,
                                                            uint64_t unit, uint64_t n)
{
    switch (unit) {
    case 1:
        move_strided(dir, mem, stride, stream, 1, n);
        break;
    case 2:
        move_strided(dir, mem, stride, stream, 2, n);
        break;
    case 4:
        move_strided(dir, mem, stride, stream, 4, n);
        break;
    case 8:
        move_strided(dir, mem, stride, stream, 8, n);
        break;
    case 12:
        move_strided(dir, mem, stride, stream, 12, n);
        break;
    case 16:
        move_strided(dir, mem, stride, stream, 16, n);
        break;
    case 24:
        move_strided(dir, mem, stride, stream, 24, n);
        break;
    case 32:
        move_strided(dir, mem, stride, stream, 32, n);
        break;
    default:
        move_strided(dir, mem, stride, stream, unit, n);
        break;
    }
}

static unsigned char *move_plan(enum direction dir, const struct type_plan *plan, uintptr_t base,
                                unsigned char *stream);

/* Whole iterations [first, first + n) of a loop. */
static unsigned char *move_items(enum direction dir, const struct type_loop *loop, uintptr_t base,
                                 uint64_t first, uint64_t n, unsigned char *stream)
{
    uint64_t stride = (uint64_t)loop->stride;
    uintptr_t mem = base + (uint64_t)loop->disp + first * stride;
    if (!loop->child) {
        if (dir == PACK)
            move_runs(PACK, mem, stride, stream, loop->unit, n);
        else
            move_runs(UNPACK, mem, stride, stream, loop->unit, n);
        return stream + n * loop->unit;
    }
    for (uint64_t i = 0; i < n; i++, mem += stride)
        stream = move_plan(dir, loop->child, mem, stream);
    return stream;
}

static unsigned char *move_plan(enum direction dir, const struct type_plan *plan, uintptr_t base,
                                unsigned char *stream)
{
    for (uint32_t i = 0; i < plan->nloops; i++)
        stream = move_items(dir, &plan->loops[i], base, 0, plan->loops[i].count, stream);
    return stream;
}

static void move_plan_range(enum direction dir, const struct type_plan *plan, uintptr_t base,
                            uint64_t skip, unsigned char *stream, uint64_t n);

/* Bytes [skip, skip + n) of iteration `item`, not all of it. */
static void move_cut_item(enum direction dir, const struct type_loop *loop, uintptr_t base,
                          uint64_t item, uint64_t skip, unsigned char *stream, uint64_t n)
{
    uintptr_t mem = base + (uint64_t)loop->disp + item * (uint64_t)loop->stride;
    if (loop->child)
        move_plan_range(dir, loop->child, mem, skip, stream, n);
    else
        move_bytes(dir, mem + skip, stream, n);
}

/* Bytes [skip, skip + n) of a loop: the rest of a cut item, whole items, the start of another. */
static void move_loop_range(enum direction dir, const struct type_loop *loop, uintptr_t base,
                            uint64_t skip, unsigned char *stream, uint64_t n)
{
    uint64_t item = skip / loop->unit;
    uint64_t inside = skip % loop->unit;
    if (inside) {
        uint64_t head = loop->unit - inside < n ? loop->unit - inside : n;
        move_cut_item(dir, loop, base, item++, inside, stream, head);
        stream += head;
        n -= head;
    }
    uint64_t whole = n / loop->unit;
    if (whole)
        stream = move_items(dir, loop, base, item, whole, stream);
    n -= whole * loop->unit;
    if (n)
        move_cut_item(dir, loop, base, item + whole, 0, stream, n);
}

static void move_plan_range(enum direction dir, const struct type_plan *plan, uintptr_t base,
                            uint64_t skip, unsigned char *stream, uint64_t n)
{
    for (uint32_t i = plan_find_loop(plan, skip); n; i++) {
        const struct type_loop *loop = &plan->loops[i];
        uint64_t inside = skip - loop->start;
        uint64_t rest = loop->unit * loop->count - inside;
        uint64_t take = n < rest ? n : rest;
        move_loop_range(dir, loop, base, inside, stream, take);
        stream += take;
        skip += take;
        n -= take;
    }
}

/* Bytes [skip, skip + n) of the stream of `count` items, cut at its end. */
static uint64_t move_type(enum direction dir, const struct mpi_type *t, uint64_t count,
                          uintptr_t mem, uint64_t skip, unsigned char *stream, uint64_t n)
{
    uint64_t total = t->size * count;
    if (skip >= total || !n)
        return 0;
    if (n > total - skip)
        n = total - skip;
    if (mpi_data_is_hollow((const void *)mem, t) || mpi_is_hollow(stream))
        return n;
    if (t->contig) {
        move_bytes(dir, mem + skip, stream, n);
        return n;
    }
    struct type_loop top;
    plan_loop_init(&top, 0, count, t->extent, t->plan);
    move_loop_range(dir, &top, mem, skip, stream, n);
    return n;
}

uint64_t mpi_type_pack(const struct mpi_type *t, uint64_t count, const void *buf, void *out)
{
    return move_type(PACK, t, count, (uintptr_t)buf, 0, out, t->size * count);
}

uint64_t mpi_type_unpack(const struct mpi_type *t, uint64_t count, void *buf, const void *in,
                         uint64_t in_bytes)
{
    return move_type(UNPACK, t, count, (uintptr_t)buf, 0, (unsigned char *)(uintptr_t)in, in_bytes);
}

uint64_t mpi_type_pack_range(const struct mpi_type *t, uint64_t count, const void *buf,
                             uint64_t skip, void *out, uint64_t n)
{
    return move_type(PACK, t, count, (uintptr_t)buf, skip, out, n);
}

uint64_t mpi_type_unpack_range(const struct mpi_type *t, uint64_t count, void *buf, uint64_t skip,
                               const void *in, uint64_t n)
{
    return move_type(UNPACK, t, count, (uintptr_t)buf, skip, (unsigned char *)(uintptr_t)in, n);
}

/* Neither side contiguous: a chunk at a time through a buffer that stays in the cache. */
static void copy_chunks(uintptr_t src, uint64_t src_count, const struct mpi_type *src_type,
                        uintptr_t dst, uint64_t dst_count, const struct mpi_type *dst_type,
                        uint64_t n)
{
    unsigned char *chunk = mem_alloc(n < COPY_CHUNK ? n : COPY_CHUNK);
    for (uint64_t done = 0; done < n;) {
        uint64_t take = n - done < COPY_CHUNK ? n - done : COPY_CHUNK;
        move_type(PACK, src_type, src_count, src, done, chunk, take);
        move_type(UNPACK, dst_type, dst_count, dst, done, chunk, take);
        done += take;
    }
    mem_free(chunk);
}

uint64_t mpi_type_copy(const void *src, uint64_t src_count, const struct mpi_type *src_type,
                       void *dst, uint64_t dst_count, const struct mpi_type *dst_type)
{
    uint64_t src_bytes = src_type->size * src_count;
    uint64_t dst_bytes = dst_type->size * dst_count;
    uint64_t n = src_bytes < dst_bytes ? src_bytes : dst_bytes;
    if (!n || mpi_data_is_hollow(src, src_type) || mpi_data_is_hollow(dst, dst_type))
        return n;
    if (dst_type->contig)
        move_type(PACK, src_type, src_count, (uintptr_t)src, 0, dst, n);
    else if (src_type->contig)
        mpi_type_unpack(dst_type, dst_count, dst, src, n);
    else
        copy_chunks((uintptr_t)src, src_count, src_type, (uintptr_t)dst, dst_count, dst_type, n);
    return n;
}
