/*
 * coll_setup.c - applies the machine's settings for collectives.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mpi/coll/coll_internal.h"

/* In the order of the settings (platform/config.h), which is that of enum mpi_coll_op. */
static const char *const operations[] = {
#define NAME(operation) #operation,
    MPI_COLL_OPERATIONS(NAME)
#undef NAME
};
_Static_assert(sizeof operations / sizeof operations[0] == PLATFORM_COLLECTIVES &&
                   PLATFORM_COLLECTIVES == MPI_COLL_exscan + 1,
               "a setting for each collective");

static int take_rules(const struct platform_list *list, struct err *err)
{
    const struct platform_rule *rule = list->items;

    for (size_t i = 0; i < list->count; i++)
        if (mpi_coll_rule(&rule[i]))
            return err_set(err, ERR_INPUT, "mpi.algorithms: there is no algorithm '%s' of '%s'",
                           rule[i].algorithm, rule[i].op);
    return 0;
}

/* The cost of a byte: on the wire and in the processors. */
static double ps_per_byte(const struct platform_config *config)
{
    double bits = config->net_bandwidth * config->net_bandwidth_factor;
    double kib = (double)config->mpi_send_per_kib + (double)config->mpi_recv_per_kib;

    return (isinf(bits) ? 0 : 8e12 / bits) + kib / 1024;
}

static int take_settings(const struct platform_config *config, struct err *err)
{
    for (size_t i = 0; i < PLATFORM_COLLECTIVES; i++) {
        const char *name = config->mpi_algorithm[i];
        if (strcmp(name, "auto") && mpi_coll_force(operations[i], name))
            return err_set(err, ERR_INPUT, "mpi.%s: there is no algorithm '%s'", operations[i],
                           name);
    }
    return 0;
}

int mpi_coll_init(const struct platform *machine, struct err *err)
{
    const struct platform_config *config = &machine->config;

    if (mpi_coll_select(config->mpi_collectives))
        return err_set(err, ERR_INPUT, "mpi.collectives: unknown name '%s'",
                       config->mpi_collectives);
    if (strcmp(config->mpi_collectives, "model") == 0) { /* algorithms do not matter */
        mpi_coll_model(vtime_add(vtime_scale(config->net_latency, config->net_latency_factor),
                                 vtime_add(config->mpi_send_overhead, config->mpi_recv_overhead)),
                       ps_per_byte(config), config->mpi_collective_factor);
        return 0;
    }
    int rc = take_rules(&machine->lists[PLATFORM_RULES], err);
    return rc ? rc : take_settings(config, err);
}
