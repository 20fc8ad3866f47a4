/*
 * uses.c - finds settings that were given but have no effect.
 */
#include "cli/uses.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "cli/collectives.h"
#include "cli/run_options.h"
#include "net/net.h"
#include "net/packet/packet.h"
#include "net/topology/topology.h"
#include "program/program.h"

#define NAMES_SHOWN 5

/* ---- choices ---- */

static const char *const placements[] = {"block", "cyclic", "list"};

static const char *placement_name(unsigned i)
{
    return i < sizeof placements / sizeof placements[0] ? placements[i] : NULL;
}

static const char *const *placement_uses(unsigned i)
{
    static const char *const ranks[] = {"nodes.ranks", NULL}, *const map[] = {"nodes.map", NULL};
    return strcmp(placements[i], "list") == 0 ? map : ranks;
}

static const struct choice {
    const char *key;
    const char *(*name)(unsigned i);        /* of the i-th variant; NULL beyond the last */
    const char *const *(*uses)(unsigned i); /* its settings; ends with NULL */
} choices[] = {
    {"net.model", net_model_name, net_model_uses},
    {"net.topology.kind", topo_kind_name, topo_kind_uses},
    {"net.packet.transport", packet_transport_name, packet_transport_uses},
    {"net.packet.fabric", packet_fabric_name, packet_fabric_uses},
    {"nodes.placement", placement_name, placement_uses},
    {"mpi.collectives", cli_collectives_name, cli_collectives_uses},
};
#define CHOICES (sizeof choices / sizeof choices[0])

static const char *flag_name(unsigned i)
{
    return i == 0 ? "true" : i == 1 ? "false" : NULL;
}

const char *cli_machine_choice(const char *key, unsigned i)
{
    /* Settings that no other ones depend on. */
    static const struct {
        const char *key;
        const char *(*name)(unsigned i);
    } words[] = {
        {"net.routing", topo_routing_name},
        {"net.packet.streams", packet_streams_name},
        {"net.packet.rate_control", message_control_name},
        {"net.packet.congestion", tcp_congestion_name},
        {"net.packet.connections.congestion", tcp_congestion_name},
        {"net.packet.connections.sack", flag_name},
        {"net.packet.connections.nagle", flag_name},
    };
    for (size_t k = 0; k < CHOICES; k++)
        if (strcmp(choices[k].key, key) == 0)
            return choices[k].name(i);
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (strcmp(words[k].key, key) == 0)
            return words[k].name(i);
    return cli_collectives_choice(key, i);
}

/* "net.topology.*" matches all names with that prefix. */
static int matches(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    return pattern[length - 1] == '*' ? strncmp(pattern, name, length - 1) == 0
                                      : strcmp(pattern, name) == 0;
}

static int is_among(const char *const *patterns, const char *name)
{
    for (; *patterns; patterns++)
        if (matches(*patterns, name))
            return 1;
    return 0;
}

/* Appends the variants that use it: none if all do. */
static void add_users(const struct choice *c, const char *name, struct buf *out)
{
    for (unsigned i = 0; c->name(i); i++)
        if (is_among(c->uses(i), name))
            buf_addf(out, "%s%s", out->len ? ", " : "", c->name(i));
}

static void value_of(const struct platform *p, const char *key, struct buf *out)
{
    for (size_t i = 0; i < platform_config_count(); i++)
        if (strcmp(platform_config_key(i), key) == 0)
            platform_config_value(&p->config, i, out);
}

/* An unknown variant is refused elsewhere. */
static int is_used(const struct platform *p, const struct choice *c, const char *name)
{
    struct buf value, users;
    int used = 0, known = 0;
    buf_init(&value);
    buf_init(&users);
    value_of(p, c->key, &value);
    for (unsigned i = 0; c->name(i); i++)
        if (strcmp(c->name(i), buf_str(&value)) == 0) {
            known = 1;
            used = is_among(c->uses(i), name);
        }
    add_users(c, name, &users);
    used |= !known || users.len == 0;
    buf_fini(&users);
    buf_fini(&value);
    return used;
}

void cli_uses_who(const char *name, struct buf *out)
{
    for (size_t i = 0; i < CHOICES; i++) {
        struct buf users;
        buf_init(&users);
        add_users(&choices[i], name, &users);
        if (users.len)
            buf_addf(out, "%s%s %s", out->len ? "; " : "", choices[i].key, buf_str(&users));
        buf_fini(&users);
    }
}

/* ---- settings overridden by others ---- */

/* Settings that all pieces of the cost curve may override. */
static const struct cover {
    const char *setting;
    size_t field; /* of struct platform_segment */
    int lists;    /* 1: net.segments, 2: net.intra.segments, 3: both */
} covers[] = {
#define FIELD(member) offsetof(struct platform_segment, member)
    {"net.latency", FIELD(latency), 1},
    {"net.bandwidth", FIELD(bandwidth), 1},
    {"net.intra.latency", FIELD(latency), 2},
    {"net.intra.bandwidth", FIELD(bandwidth), 2},
    {"mpi.send_overhead", FIELD(send_overhead), 3},
    {"mpi.recv_overhead", FIELD(recv_overhead), 3},
    {"mpi.send_per_kib", FIELD(send_per_kib), 3},
    {"mpi.recv_per_kib", FIELD(recv_per_kib), 3},
};

static int has_field(const struct platform_segment *s, size_t field)
{
    const char *at = (const char *)s + field;
    return field == FIELD(bandwidth) ? !isnan(*(const double *)at)
                                     : *(const vtime *)at != VTIME_NEVER;
}
#undef FIELD

/* Does every message size have a piece with that field? */
static int covers_all(const struct platform *p, int intra, size_t field)
{
    size_t count;
    const struct platform_segment *s = platform_segments(p, intra, &count);
    int from_0 = 0;
    for (size_t i = 0; i < count; i++) {
        from_0 |= s[i].from == 0;
        if (!has_field(&s[i], field))
            return 0;
    }
    return from_0;
}

static int is_covered(const struct platform *p, const struct cover *c)
{
    static const char topology[] = "net.topology.kind", intra[] = "net.intra.segments";
    int lists = is_used(p, &choices[0], intra) ? c->lists : c->lists & 1;
    if (strcmp(p->config.mpi_collectives, "model") == 0)
        return 0; /* the model does not use pieces */
    if (strcmp(c->setting, "net.bandwidth") == 0 && is_used(p, &choices[0], topology))
        return 0; /* it is also the bandwidth of links */
    return lists && (!(lists & 1) || covers_all(p, 0, c->field)) &&
           (!(lists & 2) || covers_all(p, 1, c->field));
}

static unsigned layer_of(const struct cli_machine *m, const char *name)
{
    const struct platform_origin *o = platform_origins_find(&m->origins, name);
    return o ? o->layer : 0;
}

/* A file may give values that only some pieces override: only settings given after the pieces are
 * useless. */
static int check_covers(const struct cli_machine *m, const struct platform *p, struct err *err)
{
    for (size_t i = 0; i < sizeof covers / sizeof covers[0]; i++) {
        const char *list = covers[i].lists == 2 ? "net.intra.segments" : "net.segments";
        unsigned layer = layer_of(m, covers[i].setting);
        if (layer > layer_of(m, "net.segments") && layer > layer_of(m, "net.intra.segments") &&
            is_covered(p, &covers[i]))
            return err_set(err, ERR_INPUT,
                           "%s: changes nothing, as every piece of %s has its own: change "
                           "these, empty the list (%s=)%s",
                           covers[i].setting, list, list,
                           strcmp(covers[i].setting, "net.latency") == 0
                               ? ", or use net.latency_factor"
                           : strcmp(covers[i].setting, "net.bandwidth") == 0
                               ? ", or use net.bandwidth_factor"
                               : "");
    }
    return 0;
}

static int groups_have_noise(const struct platform *p)
{
    const struct platform_group *g = p->lists[PLATFORM_GROUPS].items;
    for (size_t i = 0; i < p->lists[PLATFORM_GROUPS].count; i++)
        if (g[i].noise_duration != VTIME_NEVER)
            return 1;
    return 0;
}

/* Why a setting has no effect for any variant; NULL: it has. */
static const char *is_idle(const struct platform *p, const char *name)
{
    const struct platform_config *c = &p->config;
    if (strcmp(name, "nodes.streaming_part") == 0 || strcmp(name, "nodes.random_part") == 0)
        return p->lists[PLATFORM_SHARING].count ? NULL : "not used without nodes.sharing";
    int period = strcmp(name, "nodes.noise_period") == 0;
    if ((!period && strcmp(name, "nodes.noise_duration") != 0) || groups_have_noise(p) ||
        (period ? c->nodes_noise_period : c->nodes_noise_duration) == 0)
        return NULL;
    if (*c->nodes_noise_file)
        return "not used, as nodes.noise_file takes its place";
    return period && c->nodes_noise_duration == 0
               ? "not used without nodes.noise_duration: give both"
               : NULL;
}

/* ---- checks ---- */

int cli_uses_setting(const struct platform *p, const char *name)
{
    for (size_t i = 0; i < CHOICES; i++)
        if (!is_used(p, &choices[i], name))
            return 0;
    return !is_idle(p, name);
}

static int refuse(const struct platform *p, const struct choice *c, const char *name,
                  struct err *err)
{
    struct buf users, value;
    buf_init(&users);
    buf_init(&value);
    add_users(c, name, &users);
    value_of(p, c->key, &value);
    int rc = err_set(err, ERR_INPUT, "%s: %s '%s' does not use it; those that do: %s", name, c->key,
                     buf_str(&value), buf_str(&users));
    buf_fini(&value);
    buf_fini(&users);
    return rc;
}

/* Settings that a choice ignores. */
struct left_out {
    struct buf names;
    size_t count;
};

/* Checks one setting or list; an empty list counts as not given. */
static int check_one(const struct cli_machine *m, const struct platform *p, const char *name,
                     struct left_out *left, struct err *err)
{
    const struct platform_origin *o = platform_origins_find(&m->origins, name);
    const char *why = is_idle(p, name);
    if (o->layer == 0)
        return 0;
    for (size_t i = 0; i < CHOICES; i++) {
        unsigned chosen = layer_of(m, choices[i].key);
        if (is_used(p, &choices[i], name))
            continue;
        if (o->layer >= chosen)
            return refuse(p, &choices[i], name, err);
        if (left[i].count++ < NAMES_SHOWN)
            buf_addf(&left[i].names, "%s%s", left[i].names.len ? ", " : "", name);
        return 0;
    }
    return why && o->layer >= layer_of(m, "nodes.noise_file")
               ? err_set(err, ERR_INPUT, "%s: %s", name, why)
               : 0;
}

static void add_note(const struct platform *p, const struct choice *c, const struct left_out *left,
                     struct buf *out)
{
    if (!left->count)
        return;
    buf_addf(out, "note: %s ", c->key);
    value_of(p, c->key, out);
    buf_addf(out, " does not use %s", buf_str(&left->names));
    if (left->count > NAMES_SHOWN)
        buf_addf(out, " and %zu more settings", left->count - NAMES_SHOWN);
    buf_adds(out, " of the platform\n");
}

/* Do links have what only packets use? */
static int links_have_packets(const struct platform *p)
{
    const struct platform_link *l = p->lists[PLATFORM_LINKS].items;
    for (size_t i = 0; i < p->lists[PLATFORM_LINKS].count; i++)
        if (!isnan(l[i].error_rate) || l[i].mtu != UINT64_MAX)
            return 1;
    return 0;
}

int cli_uses_check(const struct cli_machine *m, const struct platform *p, struct buf *notes,
                   struct err *err)
{
    struct left_out left[CHOICES] = {{{0}, 0}};
    int rc = 0;
    for (size_t i = 0; i < platform_config_count() && rc == 0; i++)
        rc = check_one(m, p, platform_config_key(i), left, err);
    for (int i = 0; i < PLATFORM_LISTS && rc == 0; i++) {
        const char *key = platform_list_key((enum platform_list_kind)i);
        if (key && p->lists[i].count)
            rc = check_one(m, p, key, left, err);
    }
    if (rc == 0)
        rc = check_covers(m, p, err);
    if (rc == 0 && links_have_packets(p) && !is_used(p, &choices[0], "net.packet.mtu"))
        buf_addf(notes, "note: net.model %s does not use error_rate and mtu of net.links\n",
                 p->config.net_model);
    for (size_t i = 0; i < CHOICES; i++) {
        if (rc == 0)
            add_note(p, &choices[i], &left[i], notes);
        buf_fini(&left[i].names);
    }
    if (rc)
        platform_origins_explain(&m->origins, err);
    return rc;
}

void cli_uses_say(const struct buf *notes)
{
    const char *line = notes->len ? buf_str(notes) : NULL;
    while (line && *line) {
        size_t length = strcspn(line, "\n");
        log_note("%.*s", (int)length, line);
        line += length + (line[length] != 0);
    }
}

/* Was the setting given by an option, not in a file? */
static int is_option(const struct cli_machine *m, const char *name)
{
    const struct platform_origin *o = platform_origins_find(&m->origins, name);
    return o && o->layer && !o->line;
}

/* Without compute times these settings affect only what the program declares. */
static const struct {
    const char *setting;
    unsigned changes; /* enum program_declares */
} of_computing[] = {
    {"nodes.speed", PROGRAM_DECLARES_FLOPS},
    {"nodes.sharing", 0},
    {"nodes.streaming_part", 0},
    {"nodes.random_part", 0},
    {"nodes.noise_period", PROGRAM_DECLARES_TIME | PROGRAM_DECLARES_FLOPS},
    {"nodes.noise_duration", PROGRAM_DECLARES_TIME | PROGRAM_DECLARES_FLOPS},
    {"nodes.noise_file", PROGRAM_DECLARES_TIME | PROGRAM_DECLARES_FLOPS},
};

int cli_uses_check_compute(const struct cli_machine *m, const struct cli_run *run,
                           unsigned declares, struct err *err)
{
    static const char *const counted[] = {"nodes.gigahertz", "nodes.cpi"};
    int counters = run->job.opt.compute == RUN_COMPUTE_COUNTERS;

    for (size_t i = 0; i < sizeof counted / sizeof counted[0]; i++)
        if (is_option(m, counted[i]) && (!counters || run->counter_table))
            return err_set(err, ERR_INPUT, "--set: %s: not used %s", counted[i],
                           counters ? "with --counter-table" : "without --compute counters");
    for (size_t i = 0; i < sizeof of_computing / sizeof of_computing[0]; i++)
        if (run->job.opt.compute == RUN_COMPUTE_NONE && !(of_computing[i].changes & declares) &&
            is_option(m, of_computing[i].setting))
            return err_set(err, ERR_INPUT,
                           "--set: %s: not used with --compute none: no time is taken that "
                           "it could change",
                           of_computing[i].setting);
    return 0;
}
