/*
 * cmd_platform.c - `orrery platform`: lists, prints, checks and draws machines, and prints the
 * schema of platform files.
 */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/units.h"
#include "cli/actions.h"
#include "cli/cli.h"
#include "cli/machine.h"
#include "cli/outputs.h"
#include "cli/shared.h"
#include "cli/uses.h"
#include "net/net.h"
#include "net/topology/topology.h"
#include "platform/read.h"
#include "draw/topology.h"

struct request {
    struct cli_machine given;
    const char *output;
    struct cli_given platforms;
};

static int set_settings(void *into, const char *value, struct err *err)
{
    (void)err;
    cli_machine_add(&((struct request *)into)->given, value);
    return 0;
}

static int set_output(void *into, const char *value, struct err *err)
{
    return cli_options_text(&((struct request *)into)->output, value, err);
}

static const struct cli_option options[] = {
    {CLI_SHARED_SET, set_settings},
    {CLI_SHARED_OUTPUT, set_output},
    {CLI_SHARED_QUIET, cli_shared_quiet},
    {0},
};

/* ---- actions ---- */

static int finish(const struct request *q, const struct buf *text)
{
    struct err err;
    if (!q->output)
        return cli_print(text);
    return buf_write_file(text, q->output, &err) ? cli_fail(&err) : EXIT_DONE;
}

/* Returns 0, or reports that the action takes no platform. */
static int refuse_names(const struct request *q)
{
    struct err err;
    if (!q->platforms.count)
        return 0;
    err_set(&err, ERR_INPUT, "no platform is expected, but '%s' was given", q->platforms.names[0]);
    return cli_fail(&err);
}

static int list(void *request)
{
    struct request *q = request;
    if (refuse_names(q))
        return EXIT_USAGE;
    struct cli_preset_dirs dirs;
    struct buf text;
    size_t count;
    int status = EXIT_DONE;
    cli_preset_dirs_init(&dirs);
    buf_init(&text);
    char **names = platform_presets(&dirs.list, &count);
    for (size_t i = 0; i < count; i++) {
        struct platform p;
        struct err err;
        platform_init(&p);
        if (platform_read(&p, &dirs.list, names[i], NULL, &err) == 0)
            buf_addf(&text, "%-20s %s\n", names[i], p.config.description);
        else
            status = cli_fail(&err);
        platform_fini(&p);
        mem_free(names[i]);
    }
    mem_free(names);
    int rc = finish(q, &text);
    buf_fini(&text);
    cli_preset_dirs_fini(&dirs);
    return status ? status : rc;
}

/* The machine of the only argument; without one, the default. */
static int only_machine(struct request *q, struct platform *out, struct err *err)
{
    if (q->platforms.count > 1)
        return err_set(err, ERR_INPUT, "one platform is expected, but '%s' was given, too",
                       q->platforms.names[1]);
    q->given.platform = q->platforms.count ? q->platforms.names[0] : NULL;
    return cli_machine_make(&q->given, out, err);
}

static int show(void *request)
{
    struct request *q = request;
    struct platform p;
    struct err err;
    struct buf text;
    if (only_machine(q, &p, &err))
        return cli_fail(&err);
    buf_init(&text);
    if (cli_uses_check(&q->given, &p, &text, &err)) {
        platform_fini(&p);
        return cli_fail(&err);
    }
    cli_uses_say(&text);
    buf_clear(&text);
    platform_write(&p, cli_uses_setting, &text);
    int status = finish(q, &text);
    buf_fini(&text);
    platform_fini(&p);
    return status;
}

static int has_topology(const struct platform *p)
{
    return cli_uses_setting(p, "net.topology.kind");
}

/* The size that a torus or mesh gets if the platform does not say it. */
static void add_dims(const struct cli_size *size, struct buf *out)
{
    if (size->nodes)
        buf_addf(out, " of %s (chosen: there is no net.topology.dims)", size->dims);
    else
        buf_addf(out, " chosen by the number of nodes, such as %s for %u", size->dims,
                 size->example);
}

static int check(void *request)
{
    struct request *q = request;
    struct buf text, notes;
    int status = EXIT_DONE;
    if (q->platforms.count == 0) {
        struct err err;
        err_set(&err, ERR_INPUT, "no platform given, as in: orrery platform check machine.yaml");
        return cli_fail(&err);
    }
    buf_init(&text);
    buf_init(&notes);
    for (size_t i = 0; i < q->platforms.count; i++) {
        struct platform p;
        struct cli_size size;
        struct err err;
        char nodes[UNITS_TEXT_MAX];
        q->given.platform = q->platforms.names[i];
        if (cli_machine_make(&q->given, &p, &err)) {
            status = cli_fail(&err);
            continue;
        }
        buf_clear(&notes);
        int rc = cli_machine_check(&q->given, &p, &size, &err);
        if (rc == 0)
            rc = cli_uses_check(&q->given, &p, &notes, &err);
        if (rc)
            status = cli_fail(&err);
        else
            buf_addf(&text, "%s: good: %s node%s, model %s%s%s", q->platforms.names[i],
                     size.nodes ? units_format_count(nodes, sizeof nodes, size.nodes)
                                : "any number of",
                     size.nodes == 1 ? "" : "s", p.config.net_model,
                     has_topology(&p) ? ", topology " : "",
                     has_topology(&p) ? p.config.topo_kind : "");
        if (!rc && has_topology(&p) && size.dims[0])
            add_dims(&size, &text);
        if (!rc)
            buf_addc(&text, '\n');
        cli_uses_say(&notes);
        platform_fini(&p);
    }
    int rc = finish(q, &text);
    buf_fini(&notes);
    buf_fini(&text);
    return status ? status : rc;
}

static int draw(void *request)
{
    struct request *q = request;
    struct platform p;
    struct topo *topo;
    struct err err;
    struct buf text;
    if (only_machine(q, &p, &err))
        return cli_fail(&err);
    int rc = cli_outputs_check_svg("--output", q->output, &err);
    if (rc == 0)
        rc = cli_machine_topology(&q->given, &p, &topo, &err);
    if (rc) {
        platform_fini(&p);
        return cli_fail(&err);
    }
    buf_init(&text);
    draw_topology(topo, &p, cli_machine_is_sized(&p), &text);
    int status = finish(q, &text);
    buf_fini(&text);
    topo_destroy(topo);
    platform_fini(&p);
    return status;
}

static int schema(void *request)
{
    struct request *q = request;
    if (refuse_names(q))
        return EXIT_USAGE;
    struct buf text;
    buf_init(&text);
    platform_schema(cli_machine_choice, &text);
    int status = finish(q, &text);
    buf_fini(&text);
    return status;
}

/* ---- the command ---- */

static const struct cli_action actions[] = {
    {{"list", "the presets, each with a line that describes it"}, list},
    {{"show", "a machine as a platform file, with every field"}, show},
    {{"check", "whether platforms are right"}, check},
    {{"draw", "the topology as an SVG picture"}, draw},
    {{"schema", "the JSON schema of platform files, for editors"}, schema},
};

static void actions_help(struct buf *out)
{
    cli_actions_help(actions, sizeof actions / sizeof actions[0], out);
}

static const struct cli_usage usage = {
    .command = "platform",
    .synopsis = "list|show|check|draw|schema [options] [platform...]",
    .about =
        "Machines to simulate. A platform is the name of a preset, or a YAML file whose name has a "
        "slash or ends in .yaml. Exit status: 0, or 2 if a platform is wrong.",
    .options = options,
    .more = actions_help,
    .arguments = CLI_ARGUMENTS_PLATFORMS,
    CLI_WORDS(actions),
};

static int platform_main(int argc, char **argv)
{
    struct request q = {0};
    int status = cli_actions_main(&usage, argc, argv, &q, &q.platforms);
    cli_machine_fini(&q.given);
    return status;
}

const struct cli_command cli_cmd_platform = {
    .summary = "list, print, check and draw machines",
    .usage = &usage,
    .main = platform_main,
};
