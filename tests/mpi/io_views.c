/* test: n=1,2,5,16 native=4 args="{tmp}/views.dat" schedules=10
 * Random views and random buffers against a model of the file that every rank keeps for itself. In
 * each round one rank writes through its view, or all write interleaved parts; then all read
 * through views of their own, with individual pointers, explicit offsets and seeks. */
#include "check.h"

#define FILE_MAX 65536
#define MAP_MAX 512
#define ROUNDS 30
#define SLACK 4096 /* items may reach beyond their extent */

static unsigned char model[FILE_MAX];
static int model_size;
static int rank, size;
static unsigned common = 12345, own; /* seeds: the same on all ranks, and the rank's */

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 8) % below;
}

/* A type as MPI has it, and as a list of the bytes it is made of. */
struct layout {
    MPI_Datatype type;
    int map[MAP_MAX], n, extent;
};

static void basic(struct layout *l, unsigned *seed)
{
    static const MPI_Datatype types[] = {MPI_BYTE, MPI_SHORT, MPI_INT, MPI_DOUBLE};
    static const int bytes[] = {1, 2, 4, 8};
    unsigned k = draw(seed, 4);

    MPI_Type_contiguous(1, types[k], &l->type);
    l->n = l->extent = bytes[k];
    for (int i = 0; i < l->n; i++)
        l->map[i] = i;
}

static void repeat(struct layout *to, const struct layout *from, int at)
{
    for (int i = 0; i < from->n; i++) {
        CHECK(to->n < MAP_MAX);
        to->map[to->n++] = at + from->map[i];
    }
}

/* The new type takes the place of the old one. */
static void replace(struct layout *l, struct layout *by, int extent)
{
    MPI_Type_free(&l->type);
    by->extent = extent;
    *l = *by;
}

static void vector(struct layout *l, unsigned *seed)
{
    int count = 1 + (int)draw(seed, 4), block = 1 + (int)draw(seed, 3);
    int stride = block + (int)draw(seed, 3);
    struct layout v = {.n = 0};

    MPI_Type_vector(count, block, stride, l->type, &v.type);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < block; k++)
            repeat(&v, l, (i * stride + k) * l->extent);
    replace(l, &v, ((count - 1) * stride + block) * l->extent);
}

static void indexed(struct layout *l, unsigned *seed)
{
    int count = 1 + (int)draw(seed, 4), blocks[4], displs[4], at = 0;
    struct layout v = {.n = 0};

    for (int i = 0; i < count; i++) {
        displs[i] = at + (int)draw(seed, 3);
        blocks[i] = 1 + (int)draw(seed, 3);
        at = displs[i] + blocks[i];
        for (int k = 0; k < blocks[i]; k++)
            repeat(&v, l, (displs[i] + k) * l->extent);
    }
    MPI_Type_indexed(count, blocks, displs, l->type, &v.type);
    replace(l, &v, (at - displs[0]) * l->extent);
}

static void subarray(struct layout *l, unsigned *seed)
{
    int sizes[2], subs[2], starts[2];
    struct layout v = {.n = 0};

    for (int d = 0; d < 2; d++) {
        sizes[d] = 1 + (int)draw(seed, 4);
        subs[d] = 1 + (int)draw(seed, (unsigned)sizes[d]);
        starts[d] = (int)draw(seed, (unsigned)(sizes[d] - subs[d] + 1));
    }
    MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, l->type, &v.type);
    for (int i = 0; i < subs[0]; i++)
        for (int k = 0; k < subs[1]; k++)
            repeat(&v, l, ((starts[0] + i) * sizes[1] + starts[1] + k) * l->extent);
    replace(l, &v, sizes[0] * sizes[1] * l->extent);
}

/* On top of a basic type that stays the etype. MPICH 4.0 reads wrong data through views as rare as
 * these, and gets basic types only. */
static void random_layout(struct layout *l, unsigned *seed, struct layout *etype)
{
    static void (*const makers[])(struct layout *, unsigned *) = {vector, indexed, subarray};
    int depth = check_virtual() ? (int)draw(seed, 3) : 0;

    basic(l, seed);
    if (etype) {
        *etype = *l;
        MPI_Type_dup(l->type, &etype->type);
        MPI_Type_commit(&etype->type);
    }
    for (int i = 0; i < depth && l->n <= 16; i++)
        makers[draw(seed, 3)](l, seed);
    MPI_Type_commit(&l->type);
}

/* Byte of the file that is byte `at` of the view. */
static int place(const struct layout *view, int disp, int at)
{
    return disp + at / view->n * view->extent + view->map[at % view->n];
}

/* The bytes of the view from `at` on that are in the file. */
static int readable(const struct layout *view, int disp, int at, int want)
{
    int n = 0;

    while (n < want && place(view, disp, at + n) < model_size)
        n++;
    return n;
}

static unsigned char sample(int writer, int round, int i)
{
    return (unsigned char)(writer * 17 + round * 29 + i * 7 + 1);
}

/* ---- writing ---- */

static void model_write(const struct layout *view, int disp, int at, int n, int writer, int round)
{
    for (int i = 0; i < n; i++) {
        int k = place(view, disp, at + i);

        CHECK(k < FILE_MAX);
        model[k] = sample(writer, round, i);
        if (k >= model_size)
            model_size = k + 1;
    }
}

/* The memory of `count` items of a layout, with the n-th byte of data being sample(n). */
static unsigned char *filled(const struct layout *mem, int count, int writer, int round)
{
    unsigned char *buf = calloc((size_t)(count * mem->extent + SLACK), 1);

    for (int i = 0; i < count * mem->n; i++)
        buf[i / mem->n * mem->extent + mem->map[i % mem->n]] = sample(writer, round, i);
    return buf;
}

/* Rank `writer` writes through a random view; all know what. */
static void write_one(MPI_File f, int round)
{
    unsigned seed;
    int writer = (int)draw(&common, (unsigned)size), disp = (int)draw(&common, 500);
    struct layout view, etype, mem;

    seed = common;
    random_layout(&view, &seed, &etype);
    random_layout(&mem, &seed, NULL);
    int count = 1 + (int)draw(&seed, 20), units = (int)draw(&seed, 50);
    while (count * mem.n % etype.n)
        count++;
    int at = units * etype.n;
    CHECK(MPI_File_set_view(f, disp, etype.type, view.type, "native", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    if (rank == writer) {
        unsigned char *buf = filled(&mem, count, writer, round);
        MPI_Status status;
        int n;

        CHECK(MPI_File_write_at(f, units, buf, count, mem.type, &status) == MPI_SUCCESS);
        MPI_Get_count(&status, MPI_BYTE, &n);
        CHECK(n == count * mem.n);
        free(buf);
    }
    model_write(&view, disp, at, count * mem.n, writer, round);
    MPI_Type_free(&view.type);
    MPI_Type_free(&etype.type);
    MPI_Type_free(&mem.type);
}

/* All write: blocks of `width` ints in turn. */
static void write_all(MPI_File f, int round)
{
    int width = 1 + (int)draw(&common, 5), times = 1 + (int)draw(&common, 6);
    int sizes[1] = {width * size}, subs[1] = {width}, starts[1] = {width * rank};
    int n = width * times;
    MPI_Datatype type;
    unsigned char *buf = malloc((size_t)n * 4);

    MPI_Type_create_subarray(1, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &type);
    MPI_Type_commit(&type);
    CHECK(MPI_File_set_view(f, 64, MPI_INT, type, "native", MPI_INFO_NULL) == MPI_SUCCESS);
    MPI_Type_free(&type);
    for (int i = 0; i < n * 4; i++)
        buf[i] = sample(rank, round, i);
    CHECK(MPI_File_write_all(f, buf, n, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS);
    free(buf);
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n * 4; i++) {
            int k = 64 + (i / (4 * width) * size + r) * 4 * width + i % (4 * width);

            CHECK(k < FILE_MAX);
            model[k] = sample(r, round, i);
            if (k >= model_size)
                model_size = k + 1;
        }
}

/* ---- reading ---- */

static void check_read(const struct layout *view, int disp, int at, const struct layout *mem,
                       const unsigned char *buf, int want, MPI_Status *status)
{
    int n = readable(view, disp, at, want), got;

    MPI_Get_count(status, MPI_BYTE, &got);
    CHECK(got == n);
    for (int i = 0; i < n; i++)
        CHECK(buf[i / mem->n * mem->extent + mem->map[i % mem->n]] ==
              model[place(view, disp, at + i)]);
}

static void read_own(MPI_File f)
{
    int disp = (int)draw(&own, 300);
    struct layout view, etype, mem;

    random_layout(&view, &own, &etype);
    random_layout(&mem, &own, NULL);
    int count = 1 + (int)draw(&own, 30), units = (int)draw(&own, 40);
    while (count * mem.n % etype.n)
        count++;
    CHECK(MPI_File_set_view(f, disp, etype.type, view.type, "native", MPI_INFO_NULL) ==
          MPI_SUCCESS);
    {
        unsigned char *buf = calloc((size_t)(count * mem.extent + SLACK), 1);
        int at = units * etype.n;
        MPI_Offset byte, position;
        MPI_Status status;

        MPI_File_get_byte_offset(f, units, &byte);
        CHECK(byte == place(&view, disp, at));
        CHECK(MPI_File_read_at(f, units, buf, count, mem.type, &status) == MPI_SUCCESS);
        check_read(&view, disp, at, &mem, buf, count * mem.n, &status);
        MPI_File_seek(f, units, MPI_SEEK_SET);
        CHECK(MPI_File_read(f, buf, count, mem.type, &status) == MPI_SUCCESS);
        check_read(&view, disp, at, &mem, buf, count * mem.n, &status);
        if (readable(&view, disp, at, count * mem.n) == count * mem.n) {
            MPI_File_get_position(f, &position);
            CHECK(position * etype.n == at + count * mem.n);
        }
        free(buf);
    }
    MPI_Type_free(&view.type);
    MPI_Type_free(&etype.type);
    MPI_Type_free(&mem.type);
}

int main(int argc, char **argv)
{
    MPI_File f;
    MPI_Offset bytes;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    own = 777u + (unsigned)rank * 31u;
    CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1],
                        MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                        &f) == MPI_SUCCESS);
    for (int round = 0; round < ROUNDS; round++) {
        if (draw(&common, 3))
            write_one(f, round);
        else
            write_all(f, round);
        MPI_File_sync(f);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_File_sync(f);
        MPI_File_get_size(f, &bytes);
        CHECK(bytes == model_size);
        read_own(f);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_File_close(&f);
    check_ok("views");
    MPI_Finalize();
    return 0;
}
