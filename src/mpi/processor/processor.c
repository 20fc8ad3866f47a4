/*
 * processor.c - the table of processor models, and what is common to them: speeds, noise, recording.
 */
#include "mpi/processor/processor.h"

#include <math.h>

#include "base/mem.h"
#include "mpi/processor/processor_internal.h"
#include "platform/sharing.h"

static const struct processor_ops *const models[] = {
    &processor_measured_ops,
    &processor_counters_ops,
    &processor_replay_ops,
    &processor_table_ops,
};

static struct {
    const struct processor_ops *ops;
    const struct platform_group *groups;
    size_t group_count;
    double speed; /* of nodes that are in no group */
    double sharing;         /* factor on slices, as nodes have that many ranks ... */
    uint32_t *ranks_on;     /* ... or, with a map: ranks on each node ... */
    int uneven;             /* ... if nodes differ */
    int noisy, recording;
} processor;

static const struct processor_ops *find_model(int mode)
{
    for (size_t i = 0; i < sizeof models / sizeof models[0]; i++)
        if (models[i]->mode == mode)
            return models[i];
    return NULL;
}

static int is_noisy(const struct platform *p)
{
    if (p->config.nodes_noise_duration || p->lists[PLATFORM_NOISE].count)
        return 1;
    for (size_t i = 0; i < processor.group_count; i++)
        if (processor.groups[i].noise_duration != VTIME_NEVER)
            return 1;
    return 0;
}

/* Ranks of a node slow each other down. All nodes alike is the usual case: then one factor does. */
static void init_sharing(const struct platform *p)
{
    const struct platform_nodes *nodes = &mpi_world.net.nodes;
    uint32_t ranks = mpi_world.size;

    processor.sharing = 1;
    if (!p->lists[PLATFORM_SHARING].count)
        return;
    processor.uneven = !platform_nodes_are_even(nodes, ranks);
    processor.sharing = platform_sharing_factor(
        p, platform_ranks_on_node(nodes, platform_node_of(nodes, 0), ranks));
    if (!processor.uneven || nodes->placement != PLATFORM_LIST)
        return;
    processor.ranks_on = mem_zalloc(nodes->count * sizeof *processor.ranks_on);
    for (uint32_t i = 0; i < ranks; i++)
        processor.ranks_on[platform_node_of(nodes, i)]++;
}

static double sharing(const struct mpi_rank *self)
{
    const struct platform_nodes *nodes = &mpi_world.net.nodes;
    uint32_t node;

    if (!processor.uneven)
        return processor.sharing;
    node = platform_node_of(nodes, mpi_rank_id(self));
    return platform_sharing_factor(&mpi_world.machine,
                                   processor.ranks_on
                                       ? processor.ranks_on[node]
                                       : platform_ranks_on_node(nodes, node, mpi_world.size));
}

double processor_factor(void)
{
    return processor.sharing / processor.speed;
}

int processor_init(const struct run_options *o, struct err *err)
{
    const struct platform *p = &mpi_world.machine;
    int rc = 0;

    processor.ops = find_model(o->compute);
    processor.groups = p->lists[PLATFORM_GROUPS].items;
    processor.group_count = p->lists[PLATFORM_GROUPS].count;
    processor.speed = p->config.nodes_speed;
    processor.noisy = is_noisy(p);
    init_sharing(p);
    processor.recording = o->record_path[0] != 0;
    mpi_world.measured = processor.ops != NULL;
    mpi_world.plain = processor.ops == &processor_measured_ops && !processor.group_count &&
                      !processor.uneven && !processor.noisy && !processor.recording && !o->sample[0];
    if (processor.noisy)
        processor_noise_init(p);
    if (rc == 0 && processor.recording)
        rc = processor_record_init(o, err);
    if (rc == 0)
        rc = processor_regions_init(o, err);
    if (rc == 0 && processor.ops && processor.ops->init)
        rc = processor.ops->init(o, err);
    if (rc == 0 && processor.ops)
        mpi_world.slice_clock = processor.ops->now;
    return rc;
}

int processor_is_timed(void)
{
    return processor.ops == &processor_measured_ops || processor.ops == &processor_table_ops;
}

int processor_finish(struct err *err)
{
    return processor.recording ? processor_record_finish(err) : 0;
}

const struct platform_group *processor_group(const struct mpi_rank *self)
{
    uint32_t node = net_node(&mpi_world.net, mpi_rank_id(self));

    for (size_t i = processor.group_count; i-- > 0;)
        if (node >= processor.groups[i].first && node <= processor.groups[i].last)
            return &processor.groups[i];
    return NULL;
}

double processor_speed(const struct mpi_rank *self)
{
    const struct platform_group *g = processor.group_count ? processor_group(self) : NULL;

    return g && !isnan(g->speed) ? g->speed : processor.speed;
}

void processor_declare(struct mpi_rank *self, vtime dt)
{
    if (processor.noisy)
        dt = processor_noise(self, self->ent.clock, dt);
    mpi_clock_add(self, dt < VTIME_LIMIT ? dt : VTIME_LIMIT);
}

void processor_slice(struct mpi_rank *self, uint64_t ticks, enum mpi_fn fn)
{
    vtime dt = processor.ops->slice(self, ticks, fn);

    if (processor.recording)
        processor_record(self, fn, dt);
    if (processor_is_muted(self) || dt == 0)
        return;
    dt = vtime_scale(dt, sharing(self) / processor_speed(self));
    processor_regions_count(self, dt);
    processor_declare(self, dt);
}
