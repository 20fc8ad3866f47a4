/*
 * notes.c - prints what a conversion has lost, and converts traces of other tools (see notes.h).
 */
#include "cli/notes.h"

#include "base/log.h"
#include "cli/cli.h"

void cli_say_notes(const char *path, struct format_notes *notes)
{
    struct buf line;
    buf_init(&line);
    for (size_t i = 0; i < notes->count; i++) {
        buf_clear(&line);
        format_note_text(&notes->items[i], &line);
        log_warn("'%s': %s", path, buf_str(&line));
    }
    buf_fini(&line);
    format_notes_fini(notes);
}

int cli_trace_as_orr(const char *path, char **temporary)
{
    struct format_notes notes;
    struct err err;
    format_notes_init(&notes);
    int rc = formats_native(path, temporary, &notes, &err);
    cli_say_notes(path, &notes);
    return rc ? cli_fail(&err) : EXIT_DONE;
}
