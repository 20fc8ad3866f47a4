/*
 * kind.c - kinds of calls.
 */
#include "webreport/kind.h"

#include <string.h>

#include "mpi_fn.h"

static const char *const names[WEBREPORT_KINDS] = {
    [WEBREPORT_COMPUTE] = "compute",       [WEBREPORT_SEND] = "send",
    [WEBREPORT_RECEIVE] = "receive",       [WEBREPORT_WAIT] = "wait",
    [WEBREPORT_COLLECTIVE] = "collective", [WEBREPORT_BARRIER] = "barrier",
    [WEBREPORT_ONE_SIDED] = "one-sided",   [WEBREPORT_FILE] = "file",
    [WEBREPORT_OTHER] = "other",
};

/* Groups of api/mpi_functions.txt with one kind. */
static const struct {
    const char *group;
    enum webreport_kind kind;
} groups[] = {
    {"coll", WEBREPORT_COLLECTIVE},  {"icoll", WEBREPORT_COLLECTIVE},
    {"pcoll", WEBREPORT_COLLECTIVE}, {"ncoll", WEBREPORT_COLLECTIVE},
    {"rma", WEBREPORT_ONE_SIDED},    {"io", WEBREPORT_FILE},
};

/* Parts of names; the first match counts: MPI_Sendrecv is a receive, as that is what it waits
 * for. */
static const struct {
    const char *part;
    enum webreport_kind kind;
} words[] = {
    {"arrier", WEBREPORT_BARRIER},  {"Wait", WEBREPORT_WAIT},    {"Test", WEBREPORT_WAIT},
    {"recv", WEBREPORT_RECEIVE},    {"Recv", WEBREPORT_RECEIVE}, {"robe", WEBREPORT_RECEIVE},
    {"send", WEBREPORT_SEND},       {"Send", WEBREPORT_SEND},    {"Start", WEBREPORT_SEND},
    {"MPI_Pready", WEBREPORT_SEND},
};

enum webreport_kind webreport_kind_of(const struct trace_fn *fn)
{
    const char *group = fn->number >= 0 ? mpi_fngroup_name[mpi_fn_group[fn->number]] : "";
    int is_plain = strcmp(group, "pt2pt") == 0 || strcmp(group, "request") == 0 ||
                   strcmp(group, "part") == 0;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if ((is_plain || words[i].kind == WEBREPORT_BARRIER) && strstr(fn->name, words[i].part))
            return words[i].kind;
    for (size_t i = 0; i < sizeof groups / sizeof groups[0]; i++)
        if (strcmp(group, groups[i].group) == 0)
            return groups[i].kind;
    return WEBREPORT_OTHER;
}

const char *webreport_kind_name(enum webreport_kind kind)
{
    return names[kind];
}
