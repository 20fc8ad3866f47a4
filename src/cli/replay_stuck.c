/*
 * replay_stuck.c - notices that a replay on the real MPI does not go on (see replay_stuck.h).
 *
 * Each rank that waits for long has a file beside its part; one that has ended has another. When
 * all ranks have one or the other, no rank computes, and if no file changes until the next look,
 * none has gone on.
 */
#include "cli/replay_stuck.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sys.h"
#include "base/units.h"
#include "cli/parts.h"
#include "replay/agreed.h"

#define LINE_MOST 512
#define LINES_SHOWN 32

static uint64_t count_ended(const char *trace)
{
    struct launch_argv names = {0};
    cli_parts_find(trace, REPLAY_COUNTS, &names);
    uint64_t count = names.count;
    launch_argv_fini(&names);
    return count;
}

int cli_replay_stuck_look(void *context)
{
    struct cli_replay_stuck *s = context;
    struct launch_argv names = {0};
    struct buf now;
    char line[LINE_MOST];
    buf_init(&now);
    cli_parts_find(s->trace, REPLAY_STUCK, &names);
    int is_all = names.count && names.count + count_ended(s->trace) >= s->ranks;
    for (size_t i = 0; is_all && i < names.count; i++) {
        ssize_t n = sys_read_text(names.at[i], line, sizeof line);
        is_all = n > 0 && line[n - 1] == '\n'; /* or it is being written */
        if (is_all)
            buf_adds(&now, line);
    }
    s->is_found = is_all && now.len == s->last.len && memcmp(now.data, s->last.data, now.len) == 0;
    buf_fini(&s->last);
    s->last = now;
    launch_argv_fini(&names);
    return s->is_found;
}

void cli_replay_stuck_report(struct cli_replay_stuck *s)
{
    char limit[UNITS_TEXT_MAX], at[UNITS_TEXT_MAX];
    uint64_t lines = 0;
    log_error("deadlock: all ranks have waited in MPI for %s, and none continues",
              units_format_time(limit, sizeof limit, s->limit));
    for (const char *line = buf_str(&s->last), *next; *line; line = next, lines++) {
        unsigned long long rank, steps, reordered;
        long long began;
        int text = 0;
        next = line + strcspn(line, "\n");
        next += *next == '\n';
        if (sscanf(line, "%llu %llu %lld %llu %n", &rank, &steps, &began, &reordered, &text) < 4)
            continue;
        s->reordered += reordered;
        if (lines < LINES_SHOWN)
            log_note("  rank %llu at %s: waits in %.*s", rank,
                     units_format_time(at, sizeof at, began), (int)strcspn(line + text, "\n"),
                     line + text);
    }
    if (lines > LINES_SHOWN)
        log_note("  and %llu more", (unsigned long long)(lines - LINES_SHOWN));
}

void cli_replay_stuck_fini(struct cli_replay_stuck *s)
{
    struct launch_argv names = {0};
    cli_parts_find(s->trace, REPLAY_STUCK, &names);
    for (size_t i = 0; i < names.count; i++)
        unlink(names.at[i]);
    launch_argv_fini(&names);
    buf_fini(&s->last);
}
