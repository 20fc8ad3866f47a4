/*
 * processor.c - the table of processor models, and what they have in common: speeds, noise,
 * recording.
 */
#include "processor/processor.h"

#include <math.h>

#include "base/mem.h"
#include "platform/sharing.h"
#include "processor/processor_internal.h"

static const struct processor_ops *const models[] = {
    &processor_measured_ops,
    &processor_counters_ops,
    &processor_recorded_ops,
    &processor_table_ops,
};

static struct {
    const struct processor_ops *ops;
    const struct platform_group *groups;
    size_t group_count;
    double speed;       /* of nodes in no group */
    double sharing;     /* factor on slices if all nodes have the same number of ranks */
    int uneven;         /* nodes have different numbers of ranks */
    uint32_t *ranks_on; /* ranks on each node, if nodes are uneven and ranks have a map */
    int noisy, recording, plain;
} processor;
const struct processor_host *processor_host;

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

/* Ranks of a node slow each other down. Usually all nodes are alike, and one factor suffices. */
static void init_sharing(const struct platform *p)
{
    const struct platform_nodes *nodes = processor_host->nodes;
    uint32_t ranks = processor_host->map->world;

    processor.sharing = 1;
    if (!p->lists[PLATFORM_SHARING].count)
        return;
    processor.uneven = !platform_nodes_are_even(nodes, ranks);
    processor.sharing = platform_sharing_factor(p,
                                                platform_ranks_on_node(nodes,
                                                                       platform_node_of(nodes, 0),
                                                                       ranks));
    if (!processor.uneven || nodes->placement != PLATFORM_LIST)
        return;
    processor.ranks_on = mem_zalloc(nodes->count * sizeof *processor.ranks_on);
    for (uint32_t i = 0; i < ranks; i++)
        processor.ranks_on[platform_node_of(nodes, i)]++;
}

static double sharing(uint32_t index)
{
    const struct platform_nodes *nodes = processor_host->nodes;
    uint32_t node;

    if (!processor.uneven)
        return processor.sharing;
    node = platform_node_of(nodes, processor_rank_id(index));
    return platform_sharing_factor(processor_host->machine,
                                   processor.ranks_on
                                       ? processor.ranks_on[node]
                                       : platform_ranks_on_node(nodes, node,
                                                                processor_host->map->world));
}

double processor_factor(void)
{
    return processor.sharing / processor.speed;
}

int processor_init(const struct processor_host *host, struct err *err)
{
    const struct run_options *o = host->options;
    const struct platform *p = host->machine;
    int rc = 0;

    processor_host = host;
    processor.ops = find_model(o->compute);
    processor.groups = p->lists[PLATFORM_GROUPS].items;
    processor.group_count = p->lists[PLATFORM_GROUPS].count;
    processor.speed = p->config.nodes_speed;
    processor.noisy = is_noisy(p);
    init_sharing(p);
    processor.recording = o->record_path[0] != 0;
    processor.plain = processor.ops == &processor_measured_ops && !processor.group_count &&
                      !processor.uneven && !processor.noisy && !o->sample[0];
    if (processor.noisy)
        processor_noise_init(p);
    if (processor.recording)
        rc = processor_record_init(o, err);
    if (rc == 0)
        rc = processor_regions_init(o, err);
    if (rc == 0 && processor.ops && processor.ops->init)
        rc = processor.ops->init(host, err);
    return rc;
}

int processor_is_measured(void)
{
    return processor.ops != NULL;
}

int processor_is_plain(void)
{
    return processor.plain;
}

uint64_t (*processor_clock(void))(void)
{
    return processor.ops ? processor.ops->now : NULL;
}

int processor_is_recording(void)
{
    return processor.recording;
}

int processor_is_timed(void)
{
    return processor.ops == &processor_measured_ops || processor.ops == &processor_table_ops;
}

int processor_finish(struct err *err)
{
    return processor.recording ? processor_record_finish(err) : 0;
}

struct processor_state *processor_state(uint32_t index)
{
    struct processor_state **slot = processor_host->state(index, 0);

    return slot ? *slot : NULL;
}

struct processor_state *processor_state_get(uint32_t index)
{
    struct processor_state **slot = processor_host->state(index, 1);

    if (!*slot)
        *slot = mem_zalloc(sizeof **slot);
    return *slot;
}

struct processor_tape *processor_tape_get(uint32_t index)
{
    struct processor_state *state = processor_state_get(index);

    if (!state->tape)
        state->tape = mem_zalloc(sizeof *state->tape);
    return state->tape;
}

const struct platform_group *processor_group(uint32_t index)
{
    uint32_t node = platform_node_of(processor_host->nodes, processor_rank_id(index));

    for (size_t i = processor.group_count; i-- > 0;)
        if (node >= processor.groups[i].first && node <= processor.groups[i].last)
            return &processor.groups[i];
    return NULL;
}

double processor_speed(uint32_t index)
{
    const struct platform_group *g = processor.group_count ? processor_group(index) : NULL;

    return g && !isnan(g->speed) ? g->speed : processor.speed;
}

vtime processor_declare(uint32_t index, vtime now, vtime dt)
{
    if (processor.noisy)
        dt = processor_noise(index, now, dt);
    return dt < VTIME_LIMIT ? dt : VTIME_LIMIT;
}

vtime processor_slice(uint32_t index, vtime now, uint64_t ticks, unsigned call, vtime *host)
{
    vtime dt;

    *host = processor.ops->slice(index, ticks, call);
    if (processor_is_muted(index) || *host == 0)
        return 0;
    dt = vtime_scale(*host, sharing(index) / processor_speed(index));
    processor_regions_count(index, dt);
    return processor_declare(index, now, dt);
}
