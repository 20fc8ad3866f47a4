/*
 * groups.c - finds groups of statistics by name (see groups.h).
 */
#include "cli/groups.h"

#include <string.h>

#include "analysis/analysis.h"
#include "base/nearest.h"

unsigned cli_group_find(const char *name, const char *also, struct err *err)
{
    struct nearest nearest = {.word = name};
    if (also)
        nearest_offer(&nearest, also);
    for (unsigned i = 0; i < ANALYSIS_GROUPS; i++) {
        if (strcmp(analysis_groups[i].name, name) == 0)
            return 1u << i;
        nearest_offer(&nearest, analysis_groups[i].name);
    }
    if (nearest.best)
        err_set(err, ERR_INPUT, "unknown group '%s': did you mean '%s'?", name, nearest.best);
    else
        err_set(err, ERR_INPUT, "unknown group '%s': 'orrery analyze --help' lists them", name);
    return 0;
}
