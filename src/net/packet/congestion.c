/*
 * congestion.c - the table of algorithms for congestion control. A new one is one file and one line
 * here.
 */
#include <string.h>

#include "net/packet/tcp.h"

static const struct tcp_congestion_ops *const algorithms[] = {&tcp_cubic_ops, &tcp_newreno_ops};
#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

const char *tcp_congestion_name(unsigned i)
{
    return i < ALGORITHMS ? algorithms[i]->name : NULL;
}

const struct tcp_congestion_ops *tcp_congestion_find(const char *name)
{
    for (size_t i = 0; i < ALGORITHMS; i++)
        if (strcmp(algorithms[i]->name, name) == 0)
            return algorithms[i];
    return NULL;
}
