/*
 * cmd_check.c - `orrery check`: can a program be simulated? Findings go to standard output; nothing
 * is executed.
 */
#include <string.h>

#include "base/json.h"
#include "base/units.h"
#include "cli/cli.h"
#include "cli/shared.h"
#include "program/host.h"
#include "program/program.h"

struct check_options {
    int json;
};

static int set_format(void *into, const char *value, struct err *err)
{
    struct check_options *opt = into;
    if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0)
        return err_set(err, ERR_INPUT, "unknown format '%s': expected text or json", value);
    opt->json = strcmp(value, "json") == 0;
    return 0;
}

static const struct cli_option options[] = {
    {CLI_NAMED_FORMAT, "FORMAT", "text (default) or json", set_format},
    {0},
};

static const struct cli_usage usage = {
    .command = "check",
    .synopsis = "[--format FORMAT] program...",
    .about = "Says whether programs can be simulated, without running them: what each is, which "
             "MPI it was built for, and which MPI calls it imports that are not supported yet. "
             "Exit status: 0 they can, 1 one cannot, 2 wrong usage or no such file.",
    .options = options,
    .arguments = CLI_ARGUMENTS_PROGRAM,
};

static int can_run(const struct program *program)
{
    return !program->refused && program->unsupported.count == 0;
}

static void print_text(const struct program *program, struct buf *out)
{
    char size[UNITS_TEXT_MAX];
    const char *reason;
    buf_addf(out, "program       %s\n", program->path);
    if (program->language) {
        buf_addf(out, "MPI           %s%s%s%s\n", program->mpi_kind ? program->mpi_kind : "none",
                 program->mpi[0] ? " (" : "", program->mpi, program->mpi[0] ? ")" : "");
        buf_addf(out, "language      %s\n", program->language);
        buf_addf(out, "libraries     %zu besides MPI and language runtimes\n", program->libraries);
        buf_addf(out, "private data  at most %s per rank\n",
                 units_format_bytes(size, sizeof size, program->private_bytes));
    }
    if (!program->refused) {
        const char *host = run_host_kind(program_host_choose(program, RUN_HOST_AUTO, 0, &reason))
                               ->word;
        buf_addf(out, "host          %s: %s\n", host, reason);
    }
    for (size_t i = 0; i < program->unsupported.count; i++)
        buf_addf(out, "%-13s %s\n", i ? "" : "unsupported", program->unsupported.items[i]);
    for (size_t i = 0; i < program->warnings.count; i++)
        buf_addf(out, "warning       %s\n", program->warnings.items[i]);
    if (program->refused)
        buf_addf(out, "verdict       no: it %s\n", program->why.text);
    else if (program->unsupported.count)
        buf_addf(out, "verdict       no: it refers to %zu MPI call%s not supported yet\n",
                 program->unsupported.count, program->unsupported.count == 1 ? "" : "s");
    else
        buf_addf(out, "verdict       yes, it can be simulated\n");
}

static void json_names(struct json *json, const char *key, const struct program_names *names)
{
    json_key(json, key);
    json_array_begin(json);
    for (size_t i = 0; i < names->count; i++)
        json_string(json, names->items[i]);
    json_array_end(json);
}

static void json_member(struct json *json, const char *key, const char *value)
{
    json_key(json, key);
    json_string(json, value);
}

static void print_json(const struct program *program, struct buf *out)
{
    struct json json;
    const char *host, *reason;
    json_init(&json, out);
    json_object_begin(&json);
    json_member(&json, "program", program->path);
    json_key(&json, "can_run");
    json_bool(&json, can_run(program));
    json_member(&json, "reason", program->refused ? program->why.text : NULL);
    json_member(&json, "mpi", program->mpi_kind);
    json_member(&json, "mpi_library", program->mpi[0] ? program->mpi : NULL);
    json_member(&json, "language", program->language);
    json_key(&json, "libraries");
    json_uint(&json, program->libraries);
    json_key(&json, "private_bytes");
    json_uint(&json, program->private_bytes);
    json_key(&json, "threads");
    json_bool(&json, program->threads);
    host = run_host_kind(program_host_choose(program, RUN_HOST_AUTO, 0, &reason))->word;
    json_member(&json, "host", program->refused ? NULL : host);
    json_member(&json, "host_reason", program->refused ? NULL : reason);
    json_names(&json, "unsupported", &program->unsupported);
    json_names(&json, "warnings", &program->warnings);
    json_object_end(&json);
    json_fini(&json);
}

static int check_program(const char *name, int as_json, int is_further)
{
    struct program program;
    struct err err;
    struct buf text;
    if (program_inspect(&program, name, &err)) {
        program_fini(&program);
        return cli_fail(&err);
    }
    buf_init(&text);
    if (as_json)
        print_json(&program, &text);
    else {
        if (is_further)
            buf_addc(&text, '\n');
        print_text(&program, &text);
    }
    int status = cli_print(&text);
    if (status == EXIT_DONE && !can_run(&program))
        status = EXIT_FINDING;
    buf_fini(&text);
    program_fini(&program);
    return status;
}

static int check_main(int argc, char **argv)
{
    struct check_options opt = {0};
    struct err err;
    int next, status;
    if (cli_begin(&usage, argc, argv, &opt, &next, &status))
        return status;
    if (next >= argc) {
        err_set(&err, ERR_INPUT, "check needs a program: orrery check ./app");
        return cli_fail(&err);
    }
    status = EXIT_DONE;
    for (int i = next; i < argc; i++) {
        int worst = check_program(argv[i], opt.json, i > next);
        status = worst > status ? worst : status;
    }
    return status;
}

const struct cli_command cli_cmd_check = {
    .summary = "say whether a program can be simulated",
    .usage = &usage,
    .main = check_main,
};
