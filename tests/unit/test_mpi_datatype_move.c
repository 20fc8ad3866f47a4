/* Unit tests of src/mpi/datatype that move data: packing, copying, element counts, signatures, and
 * the MPI calls that pack. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "datatype_mock.h"
#include "mpi/datatype/plan.h"

static void test_moving(void)
{
    MPI_Datatype h;
    mpi_type_vector(self, 3, 2, -4, MPI_SHORT, &h);
    const struct mpi_type *t = mpi_type_get(h);
    short in[40], out[16], back[40];
    for (int i = 0; i < 40; i++)
        in[i] = (short)i;
    is_int((long)mpi_type_pack(t, 2, in + 10, out), 24, "bytes packed");
    const short want[] = {10, 11, 6, 7, 2, 3, 20, 21, 16, 17, 12, 13};
    ok(!memcmp(out, want, sizeof want), "a backward vector packs in order");
    memset(back, 0, sizeof back);
    is_int((long)mpi_type_unpack(t, 2, back + 10, out, 5), 5, "bytes unpacked");
    short part = 0;
    memcpy(&part, out + 2, 1);
    ok(back[10] == 10 && back[11] == 11 && back[6] == part && back[7] == 0, "partial unpack");
    is_int((long)mpi_type_unpack(t, 1, back + 10, out, 99), 12, "unpack stops at the last item");
    is_int((long)mpi_type_pack_range(t, 2, in + 10, 23, out, 9), 1, "a range is cut at the end");
    is_int((long)mpi_type_pack_range(t, 2, in + 10, 24, out, 9), 0, "nothing after the end");
    int64_t at = 3;
    MPI_Aint where = (MPI_Aint)&at;
    MPI_Datatype absolute, one = MPI_LONG;
    int length = 1;
    mpi_type_create_struct(self, 1, &length, &where, &one, &absolute);
    int64_t got = 0;
    mpi_type_pack(mpi_type_get(absolute), 1, MPI_BOTTOM, &got);
    is_int(got, 3, "addresses relative to MPI_BOTTOM");
    double src[6] = {1, 2, 3, 4, 5, 6}, dst[9] = {0};
    MPI_Datatype v2, v3;
    mpi_type_create_resized(self, MPI_DOUBLE, 0, 16, &v2);
    mpi_type_create_resized(self, MPI_DOUBLE, 0, 24, &v3);
    is_int((long)mpi_type_copy(src, 3, mpi_type_get(v2), dst, 3, mpi_type_get(v3)), 24, "copy");
    ok(dst[0] == 1 && dst[3] == 3 && dst[6] == 5 && dst[1] == 0, "copy between two layouts");
    mpi_type_copy(src, 3, mpi_type_get(v2), dst, 3, mpi_type_get(MPI_DOUBLE));
    ok(dst[0] == 1 && dst[1] == 3 && dst[2] == 5, "copy to contiguous");
    mpi_type_copy(src, 2, mpi_type_get(MPI_DOUBLE), dst, 9, mpi_type_get(v3));
    ok(dst[0] == 1 && dst[3] == 2 && dst[6] == 5, "copy from contiguous stops with the source");
}

/* A hollow side: as many bytes as ever, of which none are moved. */
static void test_hollow(void)
{
    const struct mpi_type *t, *d = mpi_type_get(MPI_DOUBLE), *gone;
    MPI_Datatype gaps, absolute, one = MPI_DOUBLE;
    MPI_Aint where = (MPI_Aint)MPI_HOLLOW;
    int length = 4;
    double kept[4] = {1, 2, 3, 4};

    mpi_type_vector(self, 4, 1, 2, MPI_DOUBLE, &gaps);
    mpi_type_create_struct(self, 1, &length, &where, &one, &absolute);
    t = mpi_type_get(gaps);
    gone = mpi_type_get(absolute);
    ok(mpi_is_hollow(MPI_HOLLOW) && mpi_is_hollow((char *)MPI_HOLLOW + (1L << 50)) &&
           mpi_is_hollow((char *)MPI_HOLLOW - (1L << 50)),
       "addresses on both sides of a hollow one are hollow");
    ok(!mpi_is_hollow(NULL) && !mpi_is_hollow(MPI_IN_PLACE) && !mpi_is_hollow(kept) &&
           !mpi_is_hollow(stdout),
       "others are not");
    ok(mpi_data_is_hollow(MPI_BOTTOM, gone) && !mpi_data_is_hollow(kept, t), "absolute addresses");
    is_int((long)mpi_type_pack(t, 1, MPI_HOLLOW, kept), 32, "packed from a hollow buffer");
    is_int((long)mpi_type_pack(d, 4, MPI_HOLLOW, kept), 32, "the same without gaps");
    is_int((long)mpi_type_pack(gone, 1, MPI_BOTTOM, kept), 32, "the same by absolute addresses");
    is_int((long)mpi_type_unpack(t, 1, kept, MPI_HOLLOW, 8), 8, "unpacked from a hollow stream");
    is_int((long)mpi_type_unpack_range(t, 1, MPI_HOLLOW, 8, kept, 16), 16, "unpacked into nothing");
    is_int((long)mpi_type_copy(MPI_HOLLOW, 1, t, kept, 2, t), 32, "copied from a hollow buffer");
    is_int((long)mpi_type_copy(kept, 4, d, MPI_HOLLOW, 1, t), 32, "copied into nothing");
    ok(kept[0] == 1 && kept[1] == 2 && kept[2] == 3 && kept[3] == 4, "nothing was written");
}

/* More than one chunk, both sides strided. */
static void test_large_copy(void)
{
    enum { N = 30000 };
    int *src = malloc(2 * N * sizeof *src), *dst = calloc(3 * N, sizeof *dst);
    MPI_Datatype two, three;
    mpi_type_vector(self, N, 1, 2, MPI_INT, &two);
    mpi_type_vector(self, N, 1, 3, MPI_INT, &three);
    for (int i = 0; i < 2 * N; i++)
        src[i] = i;
    uint64_t n = mpi_type_copy(src, 1, mpi_type_get(two), dst, 1, mpi_type_get(three));
    int good = n == 4 * N;
    for (int i = 0; i < N; i++)
        good = good && dst[3 * i] == 2 * i;
    ok(good, "a copy longer than the chunk");
    free(src);
    free(dst);
}

static void test_elements(void)
{
    MPI_Datatype t = struct2(1, 0, MPI_INT, 2, 8, MPI_DOUBLE), u;
    static const int want[][2] = {{0, 0},  {3, 0},  {4, 1},  {11, 1}, {12, 2},
                                  {19, 2}, {20, 3}, {24, 4}, {36, 5}, {40, 6}};
    int good = 1;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++)
        good = good && mpi_type_elements(mpi_type_get(t), (uint64_t)want[i][0]) == want[i][1];
    ok(good, "elements in partial structs");
    mpi_type_contiguous(self, 2, MPI_DOUBLE_INT, &u);
    is_int(mpi_type_elements(mpi_type_get(u), 20), 3, "pairs count twice");
    is_int(mpi_type_elements(mpi_type_get(u), 13), 2, "a cut element does not count");
    is_int(mpi_type_elements(mpi_type_get(MPI_INT), 6), MPI_UNDEFINED, "a cut int");
    is_int((long)mpi_type_element_bytes(mpi_type_get(t), 5), 32, "bytes of elements");
    is_int((long)mpi_type_element_bytes(mpi_type_get(u), 3), 20, "bytes of elements of pairs");
    MPI_Status s = {0};
    int n = 0;
    mpi_status_set_elements(self, &s, t, 4);
    mpi_get_elements(self, &s, t, &n);
    is_int(n, 4, "set and get elements");
    mpi_get_count(self, &s, t, &n);
    is_int(n, MPI_UNDEFINED, "no whole number of items");
    s.count_hi_and_cancelled = 1;
    mpi_status_set_elements_x(self, &s, MPI_BYTE, 5000000000);
    ok(s.count_lo == 705032704 && s.count_hi_and_cancelled == 3, "large count beside the flag");
    mpi_get_count(self, &s, MPI_BYTE, &n);
    is_int(n, MPI_UNDEFINED, "a count that does not fit");
    mpi_get_count(self, &s, MPI_DOUBLE, &n);
    is_int(n, 625000000, "a count that fits");
}

/* Of whole items. */
static uint64_t signature(const struct mpi_type *t, uint64_t count)
{
    return mpi_type_prefix_signature(t, count * t->nelems);
}

static void test_signatures(void)
{
    MPI_Datatype a, b, c;
    mpi_type_contiguous(self, 6, MPI_INT, &a);
    mpi_type_vector(self, 3, 2, 7, MPI_INT, &b);
    ok(signature(mpi_type_get(a), 2) == signature(mpi_type_get(MPI_INT), 12) &&
           signature(mpi_type_get(a), 2) == signature(mpi_type_get(b), 2),
       "layout does not matter");
    ok(signature(mpi_type_get(a), 1) != signature(mpi_type_get(a), 2), "length matters");
    ok(signature(mpi_type_get(MPI_FLOAT), 1) != signature(mpi_type_get(MPI_INT), 1),
       "the basic type matters");
    c = struct2(1, 0, MPI_DOUBLE, 1, 8, MPI_INT);
    ok(signature(mpi_type_get(c), 3) == signature(mpi_type_get(MPI_DOUBLE_INT), 3),
       "a pair is its members");
    c = struct2(1, 8, MPI_INT, 1, 0, MPI_DOUBLE);
    ok(signature(mpi_type_get(c), 1) != signature(mpi_type_get(MPI_DOUBLE_INT), 1),
       "order matters");
    ok(mpi_type_get(b)->elem == MPI_INT && mpi_type_get(c)->elem == 0, "the common basic type");
    c = struct2(1, 0, MPI_DOUBLE, 1, 8, MPI_FLOAT);
    ok(mpi_type_prefix_signature(mpi_type_get(MPI_DOUBLE_INT), 1) ==
               mpi_type_prefix_signature(mpi_type_get(c), 1) &&
           mpi_type_prefix_signature(mpi_type_get(MPI_DOUBLE_INT), 2) !=
               mpi_type_prefix_signature(mpi_type_get(c), 2),
       "the first half of a pair");
    ok(mpi_type_prefix_signature(mpi_type_get(MPI_2INT), 5) ==
           mpi_type_prefix_signature(mpi_type_get(MPI_INT), 5),
       "and of a pair of two equal ones");
}

static void test_pack_calls(void)
{
    MPI_Datatype t;
    int in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0}, position = 0, n = 0;
    char packed[40];
    mpi_type_vector(self, 2, 1, 3, MPI_INT, &t);
    raises(mpi_pack(self, in, 1, t, packed, 40, &position, MPI_COMM_WORLD), MPI_ERR_TYPE,
           "not committed");
    mpi_type_commit(self, &t);
    mpi_pack(self, in, 2, t, packed, 40, &position, MPI_COMM_WORLD);
    mpi_pack(self, in + 7, 1, MPI_INT, packed, 40, &position, MPI_COMM_WORLD);
    is_int(position, 20, "position after two packs");
    position = 0;
    mpi_unpack(self, packed, 20, &position, out, 5, MPI_INT, MPI_COMM_WORLD);
    ok(out[0] == 1 && out[1] == 4 && out[2] == 5 && out[3] == 8 && out[4] == 8, "unpacked");
    is_int(position, 20, "position after unpack");
    raises(mpi_unpack(self, packed, 20, &position, out, 1, MPI_CHAR, MPI_COMM_WORLD),
           MPI_ERR_TRUNCATE, "nothing left");
    position = 33;
    raises(mpi_pack(self, in, 1, t, packed, 40, &position, MPI_COMM_WORLD), MPI_ERR_TRUNCATE,
           "no room");
    is_int(position, 33, "position stays on error");
    raises(mpi_pack(self, NULL, 1, t, packed, 40, &position, MPI_COMM_WORLD), MPI_ERR_BUFFER,
           "null buffer");
    is_int(mpi_pack(self, NULL, 0, t, packed, 40, &position, MPI_COMM_WORLD), 0, "nothing at all");
    mpi_pack_size(self, 3, t, MPI_COMM_WORLD, &n);
    is_int(n, 24, "pack size");
}

int main(void)
{
    plan_auto();
    test_moving();
    test_hollow();
    test_large_copy();
    test_elements();
    test_signatures();
    test_pack_calls();
    return done_testing();
}
