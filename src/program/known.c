/*
 * known.c - looks up MPI symbols in the generated table mpi_known.h. C names are looked up
 * unchanged; a Fortran name is stripped of the decoration of its binding and compared without case,
 * since Fortran is case-insensitive:
 *
 *     mpi_send_  mpi_send__  MPI_SEND  mpi_send_f08ts_  pmpir_send_f08ts_   ->  MPI_SEND
 *     mpi_send_f08ts_large_                                                  ->  MPI_SEND_C
 */
#include "program/known.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "mpi_known.h"

#define KNOWN (sizeof mpi_known / sizeof mpi_known[0])
#define NAME_MAX_LENGTH 96

static const struct mpi_known *lookup(const char *name, int (*compare)(const char *, const char *))
{
    for (size_t i = 0; i < KNOWN; i++) {
        if (compare(mpi_known[i].name, name) == 0)
            return &mpi_known[i];
    }
    return NULL;
}

static int starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Endings of Fortran bindings, longest first, and what replaces them. */
static const struct {
    const char *ending, *instead;
} endings[] = {
    {"_f08ts_large_", "_c"},
    {"_f08_large_", "_c"},
    {"_f08ts_", ""},
    {"_f08_", ""},
    {"_cptr_", ""},
    {"__", ""},
    {"_", ""},
    {"", ""},
};

/* Turns a Fortran name into "mpi_send" or "mpix_..."; 0 if it is not an MPI name. */
static int strip_fortran(const char *symbol, char *out, size_t size)
{
    static const char *const prefixes[][2] = {
        {"pmpir_", "mpi_"},  {"pmpixr_", "mpix_"}, {"pmpi_", "mpi_"},
        {"pmpix_", "mpix_"}, {"mpi_", "mpi_"},     {"mpix_", "mpix_"},
    };
    size_t length = strlen(symbol);
    for (size_t p = 0; p < sizeof prefixes / sizeof prefixes[0]; p++) {
        size_t skip = strlen(prefixes[p][0]);
        if (strncasecmp(symbol, prefixes[p][0], skip) != 0)
            continue;
        for (size_t e = 0; e < sizeof endings / sizeof endings[0]; e++) {
            size_t cut = strlen(endings[e].ending);
            if (length < skip + cut || strcmp(symbol + length - cut, endings[e].ending) != 0)
                continue;
            int n = snprintf(out, size, "%s%.*s%s", prefixes[p][1], (int)(length - skip - cut),
                             symbol + skip, endings[e].instead);
            return n > 0 && (size_t)n < size;
        }
    }
    return 0;
}

/* The table's name without the P of the profiling interface. */
static const char *plain(const char *name)
{
    return starts(name, "PMPI") ? name + 1 : name;
}

enum program_known program_known_find(const char *symbol, const char **name, unsigned *needs)
{
    char stripped[NAME_MAX_LENGTH];
    const struct mpi_known *known = lookup(symbol, strcmp);
    *name = symbol;
    *needs = 0;
    if (!known && strip_fortran(symbol, stripped, sizeof stripped))
        known = lookup(stripped, strcasecmp);
    if (known) {
        *name = plain(known->name);
        *needs = known->needs;
        return known->state == MPI_KNOWN_IMPL ? PROGRAM_KNOWN_SUPPORTED : PROGRAM_KNOWN_UNSUPPORTED;
    }
    /* C names are mixed case: "MPI_Xyz"; we do not provide what only the Fortran bindings have */
    const char *tail = starts(symbol, "PMPI_") || starts(symbol, "QMPI_") ? symbol + 5
                       : starts(symbol, "MPI_")                           ? symbol + 4
                                                                          : "";
    int is_c = tail[0] >= 'A' && tail[0] <= 'Z' && tail[1] >= 'a' && tail[1] <= 'z';
    return is_c ? PROGRAM_KNOWN_MISSING : PROGRAM_KNOWN_OTHER;
}
