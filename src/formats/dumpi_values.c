/*
 * dumpi_values.c - constants for which DUMPI has its own numbers. Values of MPI are those of
 * MPICH's ABI, as in traces.
 */
#include <string.h>

#include "formats/dumpi.h"
#include "mpi_roles.h"

/* By number; those that are not names are unused. */
static const struct {
    const char *name;
    uint8_t size;
} types[DUMPI_FIRST_TYPE] = {
    {"", 0},
    {"MPI_DATATYPE_NULL", 0},
    {"MPI_CHAR", 1},
    {"MPI_SIGNED_CHAR", 1},
    {"MPI_UNSIGNED_CHAR", 1},
    {"MPI_BYTE", 1},
    {"MPI_WCHAR", 4},
    {"MPI_SHORT", 2},
    {"MPI_UNSIGNED_SHORT", 2},
    {"MPI_INT", 4},
    {"MPI_UNSIGNED", 4},
    {"MPI_LONG", 8},
    {"MPI_UNSIGNED_LONG", 8},
    {"MPI_FLOAT", 4},
    {"MPI_DOUBLE", 8},
    {"MPI_LONG_DOUBLE", 16},
    {"MPI_LONG_LONG_INT", 8},
    {"MPI_UNSIGNED_LONG_LONG", 8},
    {"MPI_LONG_LONG", 8},
    {"MPI_PACKED", 1},
    {"MPI_LB", 0},
    {"MPI_UB", 0},
    {"MPI_FLOAT_INT", 8},
    {"MPI_DOUBLE_INT", 12},
    {"MPI_LONG_INT", 12},
    {"MPI_SHORT_INT", 6},
    {"MPI_2INT", 8},
    {"MPI_LONG_DOUBLE_INT", 20},
};

static const char *const ops[DUMPI_FIRST_OP] = {
    "",         "MPI_MAX",    "MPI_MIN",    "MPI_SUM",     "MPI_PROD",
    "MPI_LAND", "MPI_BAND",   "MPI_LOR",    "MPI_BOR",     "MPI_LXOR",
    "MPI_BXOR", "MPI_MINLOC", "MPI_MAXLOC", "MPI_REPLACE", "MPI_OP_NULL",
};

unsigned dumpi_type_number(const char *name)
{
    unsigned i = 2;
    while (i < DUMPI_FIRST_TYPE && strcmp(types[i].name, name) != 0)
        i++;
    return i;
}

unsigned dumpi_op_number(const char *name)
{
    unsigned i = 1;
    while (i < DUMPI_FIRST_OP && strcmp(ops[i], name) != 0)
        i++;
    return i;
}

const char *dumpi_type_name(unsigned number)
{
    return number < DUMPI_FIRST_TYPE ? types[number].name : NULL;
}

const char *dumpi_op_name(unsigned number)
{
    return number < DUMPI_FIRST_OP ? ops[number] : NULL;
}

uint64_t dumpi_type_size(unsigned number)
{
    return number < DUMPI_FIRST_TYPE ? types[number].size : 0;
}

/* Constants: of MPI, and DUMPI's. */
static const struct {
    const char *name;
    int64_t mpi, dumpi;
} constants[] = {
    {"required", 0, 1},
    {"required", 1, 2},
    {"required", 2, 3},
    {"required", 3, 4},
    {"provided", 0, 1},
    {"provided", 1, 2},
    {"provided", 2, 3},
    {"provided", 3, 4},
    {"order", 56, 1},
    {"order", 57, 2},
    {"lock_type", 235, 1},
    {"lock_type", 234, 2},
    {"whence", 600, 1},
    {"whence", 602, 2},
    {"whence", 604, 3},
    {"result", 0, 1},
    {"result", 1, 2},
    {"result", 2, 3},
    {"result", 3, 4},
    {"status", 1, 1},
    {"status", 2, 2},
    {"status", -32766, 3},
    {"array_of_distribs", 121, 1},
    {"array_of_distribs", 122, 2},
    {"array_of_distribs", 123, 3},
    {"array_of_distribs", -49767, 4},
    {"amode", 2, 1},
    {"amode", 8, 2},
    {"amode", 4, 3},
    {"amode", 1, 4},
    {"amode", 64, 5},
    {"amode", 16, 6},
    {"amode", 32, 7},
    {"amode", 256, 8},
    {"amode", 128, 9},
    {"source", -2, -1},
    {"source", -1, -2},
    {"root", -3, -2},
};
#define CONSTANTS (sizeof constants / sizeof constants[0])
#define ASSERT_SHIFT 10 /* assertions are other bits */

int64_t dumpi_value_out(const struct dumpi_field *f, int64_t value)
{
    for (size_t i = 0; i < CONSTANTS && f->name; i++)
        if (constants[i].mpi == value && strcmp(constants[i].name, f->name) == 0)
            return constants[i].dumpi;
    if (f->name && strcmp(f->name, "amode") == 0)
        return 0; /* DUMPI has no name for several of them */
    return f->name && strcmp(f->name, "assert") == 0 ? value >> ASSERT_SHIFT : value;
}

int64_t dumpi_value_in(const struct dumpi_field *f, int64_t value)
{
    for (size_t i = 0; i < CONSTANTS && f->name; i++)
        if (constants[i].dumpi == value && strcmp(constants[i].name, f->name) == 0)
            return constants[i].mpi;
    return f->name && strcmp(f->name, "assert") == 0 ? value << ASSERT_SHIFT : value;
}
