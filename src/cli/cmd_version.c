/*
 * cmd_version.c - `orrery version`.
 */
#include "cli/cli.h"

static const struct cli_option options[] = {{0}};

static const struct cli_usage usage = {
    .command = "version",
    .synopsis = "",
    .about = "Prints the version.",
    .options = options,
};

static int version_main(int argc, char **argv)
{
    struct err err;
    struct buf text;
    int next, status = EXIT_DONE;
    if (cli_begin(&usage, argc, argv, NULL, &next, &status))
        return status;
    if (next < argc) {
        err_set(&err, ERR_INPUT, "version takes no argument, but '%s' was given", argv[next]);
        return cli_fail(&err);
    }
    buf_init(&text);
    buf_adds(&text, "orrery " ORRERY_VERSION "\n");
    status = cli_print(&text);
    buf_fini(&text);
    return status;
}

const struct cli_command cli_cmd_version = {
    .summary = "print the version",
    .usage = &usage,
    .main = version_main,
};
