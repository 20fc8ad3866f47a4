/*
 * advice.c - says what to use instead of an unknown option (see advice.h).
 */
#include "cli/advice.h"

#include <string.h>

#include "cli/cli.h"

#define OTHERS_MOST 4 /* commands that are named */

/* Options of launchers, for commands that run programs: `natively`, if it differs, is for those
 * that start the program itself by a launcher. */
static const struct foreign {
    const char *const *words;
    const char *advice, *natively;
} foreign[] = {
    {(const char *const[]){"--np", "--ntasks", NULL}, "use -n N", NULL},
    {(const char *const[]){"-ppn", "-perhost", "-pernode", "-npernode", "--npernode",
                           "--ntasks-per-node", "--map-by", "-N", NULL},
     "ranks per node are a setting of the machine, as in --set nodes.ranks=4",
     "give it to the launcher, as in --launcher \"mpiexec.mpich -ppn 4\""},
    {(const char *const[]){"-x", "-env", "-genv", "-genvlist", "-genvall", "--export", NULL},
     "the program has the environment of this command: set variables before it, as in: A=1 orrery "
     "...",
     NULL},
    {(const char *const[]){"-hosts", "-host", "-H", "--hostfile", "-hostfile", "--machinefile",
                           "-machinefile", "-f", "-w", NULL},
     "a launcher starts processes on other computers, as in --launcher \"mpiexec.mpich -hosts "
     "a,b\"",
     NULL},
    {(const char *const[]){"--oversubscribe", "--allow-run-as-root", "--use-hwthread-cpus",
                           "--bind-to", "-bind-to", "--report-bindings", "--mca", "-mca", "-c",
                           "--cpus-per-task", NULL},
     "leave it out: ranks need no processors of their own",
     "give it to the launcher (--launcher), if it has such an option"},
    {(const char *const[]){"-l", "-prepend-rank", "--tag-output", "--label", NULL}, "use --labels",
     "give it to the launcher, as in --launcher \"mpiexec.mpich -l\""},
    {(const char *const[]){"-wdir", "-wd", "--wdir", "--chdir", NULL},
     "change the directory before, as in: cd DIR && orrery ...", NULL},
};

static int is_listed(const char *const *words, const char *word)
{
    for (; *words; words++)
        if (strcmp(*words, word) == 0)
            return 1;
    return 0;
}

/* The program is started as it is, by a launcher. */
static int is_native(const struct cli_usage *usage)
{
    return usage == cli_cmd_record.usage || usage == cli_cmd_hybrid.usage;
}

static int advise_foreign(const struct cli_usage *usage, const char *word, struct err *err)
{
    if (usage->arguments != CLI_ARGUMENTS_PROGRAM)
        return 0;
    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++) {
        const struct foreign *f = &foreign[i];
        if (!is_listed(f->words, word))
            continue;
        err_set(err, ERR_INPUT, "unknown option '%s': %s", word,
                f->natively && is_native(usage) ? f->natively : f->advice);
        return 1;
    }
    return 0;
}

/* Options that are not in the help are for nobody. */
static int has(const struct cli_usage *usage, const char *word)
{
    const char *value;
    const struct cli_option *o = cli_options_find(usage, word, &value);
    return o && o->help && !value && strcmp(o->name, "help") != 0;
}

/* Of an option that other commands have: which do. */
static void advise_others(const struct cli_usage *usage, const char *word, struct err *err)
{
    struct buf names;
    int count = 0;
    buf_init(&names);
    for (int i = 0; cli_command_at(i); i++) {
        const struct cli_usage *other = cli_command_at(i)->usage;
        if (!has(other, word) || ++count > OTHERS_MOST)
            continue;
        buf_addf(&names, "%s%s", count > 1 ? ", " : "", other->command);
    }
    if (count)
        err_set(err, ERR_INPUT,
                "unknown option '%s': %s%s %s it, but not %s: 'orrery %s --help' lists the options",
                word, buf_str(&names), count > OTHERS_MOST ? " and others" : "",
                count > 1 ? "have" : "has", usage->command, usage->command);
    buf_fini(&names);
}

void cli_advise(const struct cli_usage *usage, const char *option, struct err *err)
{
    char word[64];
    size_t length = option[1] == '-' ? strcspn(option, "=") : strlen(option);
    if (length >= sizeof word)
        return;
    memcpy(word, option, length);
    word[length] = '\0';
    if (advise_foreign(usage, word, err))
        return;
    if (strcmp(word, "--json") == 0 && has(usage, "--format"))
        err_set(err, ERR_INPUT, "unknown option '--json': use --format json%s",
                has(usage, "--output") ? ", and -o FILE" : "");
    else
        advise_others(usage, word, err);
}
