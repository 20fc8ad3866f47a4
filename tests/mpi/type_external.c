/* test: n=1,2 native=2 schedules=2
 * external32: sizes and byte order of basic types, nested types, and back. What MPICH 4.0 gets
 * wrong or crashes on (pairs, MPI_COMPLEX, MPI_WCHAR, structs) is checked in virtual runs only. */
#include "check.h"

#include <complex.h>
#include <stddef.h>

static char stream[4096];

static MPI_Aint pack(const void *values, int count, MPI_Datatype type)
{
    MPI_Aint size = -1, at = 0;
    MPI_Pack_external_size("external32", count, type, &size);
    CHECK(size >= 0 && size <= (MPI_Aint)sizeof stream);
    MPI_Pack_external("external32", values, count, type, stream, sizeof stream, &at);
    CHECK(at == size);
    return at;
}

static void unpack(void *values, int count, MPI_Datatype type, MPI_Aint size)
{
    MPI_Aint at = 0;
    MPI_Unpack_external("external32", stream, size, &at, values, count, type);
    CHECK(at == size);
}

/* The values pack into these bytes, and come back. */
#define BYTES(ctype, type, value, ...)                                           \
    do {                                                                         \
        static const unsigned char want[] = {__VA_ARGS__};                       \
        ctype here = value, back = 0;                                            \
        MPI_Aint n = pack(&here, 1, type);                                       \
        CHECK(n == (MPI_Aint)sizeof want && !memcmp(stream, want, sizeof want)); \
        unpack(&back, 1, type, n);                                               \
        CHECK(back == here);                                                     \
    } while (0)

static void basics(void)
{
    BYTES(signed char, MPI_SIGNED_CHAR, -2, 0xfe);
    BYTES(short, MPI_SHORT, 0x0102, 1, 2);
    BYTES(int, MPI_INT, -2, 0xff, 0xff, 0xff, 0xfe);
    BYTES(unsigned, MPI_UNSIGNED, 0x01020304, 1, 2, 3, 4);
    BYTES(long, MPI_LONG, 0x01020304, 1, 2, 3, 4);
    BYTES(unsigned long, MPI_UNSIGNED_LONG, 0x01020304, 1, 2, 3, 4);
    BYTES(long long, MPI_LONG_LONG, 0x0102030405060708, 1, 2, 3, 4, 5, 6, 7, 8);
    BYTES(MPI_Aint, MPI_AINT, -1, 255, 255, 255, 255, 255, 255, 255, 255);
    BYTES(MPI_Count, MPI_COUNT, 258, 0, 0, 0, 0, 0, 0, 1, 2);
    BYTES(float, MPI_FLOAT, 1.5f, 0x3f, 0xc0, 0, 0);
    BYTES(double, MPI_DOUBLE, -2.0, 0xc0, 0, 0, 0, 0, 0, 0, 0);
    BYTES(long double, MPI_LONG_DOUBLE, 1.5L, 0x3f, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
          0);
    BYTES(float complex, MPI_C_FLOAT_COMPLEX, 1.5f + 1.5f * I, 0x3f, 0xc0, 0, 0, 0x3f, 0xc0, 0, 0);
    BYTES(int, MPI_INTEGER, 7, 0, 0, 0, 7);
    BYTES(int, MPI_LOGICAL, 1, 0, 0, 0, 1);
    BYTES(_Bool, MPI_C_BOOL, 1, 1);
    if (!check_virtual())
        return;
    BYTES(long, MPI_LONG, -2, 0xff, 0xff, 0xff, 0xfe);
    BYTES(int, MPI_WCHAR, 0x0102, 1, 2);
    BYTES(float complex, MPI_COMPLEX, 1.5f, 0x3f, 0xc0, 0, 0, 0, 0, 0, 0);
}

static void pairs(void)
{
    struct {
        double value;
        int place;
    } here = {1.0, 5}, back = {0, 0};
    static const unsigned char want[] = {0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
    MPI_Aint n = pack(&here, 1, MPI_DOUBLE_INT);
    CHECK(n == 12 && !memcmp(stream, want, sizeof want));
    unpack(&back, 1, MPI_DOUBLE_INT, n);
    CHECK(back.value == 1.0 && back.place == 5);
}

struct record {
    char letter;
    double numbers[3];
    short small[2];
    int skipped;
};

/* Many items of a struct with gaps: more than one pass through any buffer. */
static void nested(void)
{
    enum { N = 40 };
    struct record here[N], back[N];
    const int lengths[] = {1, 3, 2};
    const MPI_Aint displs[] = {offsetof(struct record, letter), offsetof(struct record, numbers),
                               offsetof(struct record, small)};
    const MPI_Datatype types[] = {MPI_CHAR, MPI_DOUBLE, MPI_SHORT};
    MPI_Datatype raw, type, every_second;
    for (int i = 0; i < N; i++)
        here[i] = (struct record){(char)i, {i, i + 0.5, -i}, {(short)i, (short)-i}, i};
    memset(back, 0, sizeof back);
    MPI_Type_create_struct(3, lengths, displs, types, &raw);
    MPI_Type_create_resized(raw, 0, sizeof(struct record), &type);
    MPI_Type_vector(N / 2, 1, 2, type, &every_second);
    MPI_Type_commit(&type);
    MPI_Type_commit(&every_second);
    unpack(back, N, type, pack(here, N, type));
    for (int i = 0; i < N; i++)
        CHECK(back[i].letter == (char)i && back[i].numbers[1] == i + 0.5 &&
              back[i].numbers[2] == -i && back[i].small[1] == -i && back[i].skipped == 0);
    memset(back, 0, sizeof back);
    unpack(back, 1, every_second, pack(here, 1, every_second));
    for (int i = 0; i < N; i++)
        CHECK(back[i].numbers[1] == (i % 2 ? 0 : i + 0.5));
    MPI_Type_free(&raw);
    MPI_Type_free(&type);
    MPI_Type_free(&every_second);
}

static void strided(void)
{
    enum { N = 5000 };
    static double here[N], back[N];
    MPI_Datatype third;
    MPI_Aint at = 0, end = 0;
    static char wide[8 * N];
    for (int i = 0; i < N; i++)
        here[i] = i - 0.25;
    MPI_Type_vector(N / 5, 2, 5, MPI_DOUBLE, &third);
    MPI_Type_commit(&third);
    MPI_Pack_external("external32", here, 1, third, wide, sizeof wide, &end);
    MPI_Unpack_external("external32", wide, end, &at, back, 1, third);
    CHECK(end == 16 * (N / 5) && at == end);
    for (int i = 0; i < N; i++)
        CHECK(back[i] == (i % 5 < 2 ? i - 0.25 : 0));
    MPI_Type_free(&third);
}

static void large_form(void)
{
    int values[3] = {1, 2, 3}, back[3];
    MPI_Count size, at = 0;
    MPI_Pack_external_size_c("external32", 3, MPI_INT, &size);
    MPI_Pack_external_c("external32", values, 3, MPI_INT, stream, sizeof stream, &at);
    CHECK(size == 12 && at == 12 && stream[3] == 1 && stream[11] == 3);
    at = 0;
    MPI_Unpack_external_c("external32", stream, 12, &at, back, 3, MPI_INT);
    CHECK(at == 12 && !memcmp(values, back, sizeof back));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    basics();
    strided();
    large_form();
    if (check_virtual()) {
        pairs();
        nested();
    }
    check_ok("external32");
    MPI_Finalize();
    return 0;
}
