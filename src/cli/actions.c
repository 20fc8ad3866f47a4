/*
 * actions.c - finds and runs the action of a command.
 */
#include "base/mem.h"
#include "base/nearest.h"
#include "cli/actions.h"

void cli_actions_help(const struct cli_action *actions, size_t count, struct buf *out)
{
    buf_adds(out, "\nActions:\n");
    for (size_t i = 0; i < count; i++)
        buf_addf(out, "  %-25s %s\n", actions[i].word.name, actions[i].word.about);
}

static int unknown(const struct cli_usage *usage, const char *name)
{
    struct nearest nearest = {.word = name};
    const struct cli_word *word;
    struct buf all;
    struct err err;
    buf_init(&all);
    for (size_t i = 0; (word = cli_word_at(usage, i)); i++) {
        nearest_offer(&nearest, word->name);
        buf_addf(&all, "%s%s", i ? ", " : "", word->name);
    }
    if (nearest.best)
        err_set(&err, ERR_INPUT, "unknown action '%s': did you mean '%s'?", name, nearest.best);
    else
        err_set(&err, ERR_INPUT, "unknown action '%s': expected one of: %s", name, buf_str(&all));
    buf_fini(&all);
    return cli_fail(&err);
}

/* The action, or NULL with the exit status. */
static const struct cli_action *parse(const struct cli_usage *usage, int argc, char **argv,
                                      void *request, struct cli_given *given, int *status)
{
    const struct cli_action *action = NULL;
    const char *word;
    struct err err;
    for (;;) {
        if (cli_next(usage, &argc, &argv, request, &word, status))
            return NULL;
        if (!word)
            break;
        if (action) {
            given->names[given->count++] = word;
        } else if (!(action = (const struct cli_action *)cli_word_find(usage, word))) {
            *status = unknown(usage, word);
            return NULL;
        }
    }
    if (!action) {
        err_set(&err, ERR_INPUT, "no action given: 'orrery %s --help' lists the actions",
                usage->command);
        *status = cli_fail(&err);
    }
    return action;
}

int cli_actions_main(const struct cli_usage *usage, int argc, char **argv, void *request,
                     struct cli_given *given)
{
    int status;
    given->names = mem_alloc((size_t)argc * sizeof *given->names);
    given->count = 0;
    const struct cli_action *action = parse(usage, argc, argv, request, given, &status);
    if (action)
        status = action->run(request);
    mem_free(given->names);
    return status;
}
