/*
 * argv.c - command lines of other programs.
 */
#include "launch/argv.h"

#include <string.h>

#include "base/mem.h"

void launch_argv_add(struct launch_argv *w, const char *text)
{
    w->at = mem_realloc(w->at, (w->count + 2) * sizeof *w->at);
    w->at[w->count++] = mem_strdup(text);
    w->at[w->count] = NULL;
}

void launch_argv_add_all(struct launch_argv *w, const char *const *words)
{
    for (; *words; words++)
        launch_argv_add(w, *words);
}

void launch_argv_pass(struct launch_argv *w, const char *option, const char *value)
{
    launch_argv_add(w, option);
    if (value)
        launch_argv_add(w, value);
}

void launch_argv_fini(struct launch_argv *w)
{
    for (size_t i = 0; i < w->count; i++)
        mem_free(w->at[i]);
    mem_free(w->at);
}

int launch_argv_split(struct launch_argv *w, const char *option, const char *text, struct err *err)
{
    struct buf word;
    char quote = 0;
    int inside = 0;

    buf_init(&word);
    for (; *text; text++) {
        if (quote ? *text == quote : *text == '"' || *text == '\'') {
            quote = quote ? 0 : *text;
            inside = 1;
        } else if (!quote && (*text == ' ' || *text == '\t')) {
            if (inside)
                launch_argv_add(w, buf_str(&word));
            buf_clear(&word);
            inside = 0;
        } else {
            buf_addc(&word, *text);
            inside = 1;
        }
    }
    if (inside)
        launch_argv_add(w, buf_str(&word));
    buf_fini(&word);
    if (quote)
        return err_set(err, ERR_INPUT, "%s: a quote (%c) is not closed", option, quote);
    return w->count ? 0 : err_set(err, ERR_INPUT, "%s: the command is empty", option);
}
