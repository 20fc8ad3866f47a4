/*
 * Damaged traces of every format that can be read: changed bytes, files cut off or missing. Reading
 * never crashes: it gives a trace that can be opened, or an error with a text.
 */
#include <dirent.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/formats.h"
#include "formats/textfile.h"
#include "otf2_sanitized.h"
#include "prop/random_trace.h"
#include "tap.h"
#include "trace/verify.h"

#define RANKS 2
#define CALLS 30
#define TRIES 40 /* for each file of a trace */
#define FILES_MOST 16

static char folder[] = "/tmp/orrery-damage-XXXXXX";
static struct rng rng;

static int save(const char *path, const struct buf *data)
{
    FILE *file = fopen(path, "wb");
    size_t n = file ? fwrite(buf_str(data), 1, data->len, file) : 0;
    return file && fclose(file) == 0 && n == data->len;
}

/* ---- the files of a trace ---- */

struct files {
    char paths[FILES_MOST][512];
    struct buf data[FILES_MOST];
    unsigned count;
};

static void find_files(struct files *f, const char *path)
{
    DIR *all = opendir(path);
    struct dirent *entry;
    struct err err;
    while (all && (entry = readdir(all))) {
        struct stat st;
        char name[512];
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (entry->d_name[0] == '.' || stat(name, &st) != 0)
            continue;
        if (S_ISDIR(st.st_mode)) {
            find_files(f, name);
        } else if (f->count < FILES_MOST) {
            memcpy(f->paths[f->count], name, sizeof name);
            if (textfile_read(name, 1 << 24, &f->data[f->count], &err) == 0)
                f->count++;
        }
    }
    if (all)
        closedir(all);
}

/* ---- damage ---- */

static void damage(struct buf *data, unsigned kind)
{
    if (data->len == 0)
        return;
    switch (kind % 4) {
    case 0: /* cut off */
        data->len = rng_below(&rng, data->len);
        break;
    case 1: /* one byte */
        data->data[rng_below(&rng, data->len)] = (char)rng_next(&rng);
        break;
    case 2: /* a few bytes, near each other: lengths and numbers */
        for (size_t at = rng_below(&rng, data->len), i = 0; i < 4 && at + i < data->len; i++)
            data->data[at + i] = (char)(rng_below(&rng, 2) ? 0xff : rng_next(&rng));
        break;
    default: /* a piece is there twice */
        if (data->len > 16) {
            size_t from = rng_below(&rng, data->len / 2), to = rng_below(&rng, data->len / 2);
            memmove(data->data + to, data->data + from, 1 + rng_below(&rng, data->len / 2));
        }
    }
}

/* A trace that was read can be processed further; an error has a text. */
static int read_all(const char *path)
{
    struct format_notes notes;
    struct trace t;
    struct err err = {0};
    struct buf out;
    format_notes_init(&notes);
    int rc = formats_open(&t, path, &notes, &err), good = 1;
    buf_init(&out);
    if (rc == 0) {
        trace_verify(&t, &out);
        trace_close(&t);
    } else {
        good = rc < 0 && err.text[0] != '\0';
    }
    for (size_t i = 0; i < notes.count; i++)
        format_note_text(&notes.items[i], &out);
    buf_fini(&out);
    format_notes_fini(&notes);
    return good;
}

static void try_format(const struct trace_format *format, const char *orr)
{
    struct files f = {0};
    struct err err = {0};
    char place[300], path[400];
    int good = 1;
    snprintf(place, sizeof place, "%s/%s", folder, format->name);
    snprintf(path, sizeof path, "%s/t%s", place, format->suffix);
    mkdir(place, 0777);
    if (!is_int(formats_convert(orr, path, format, NULL, &err), 0, format->name))
        diag("%s", err.text);
    find_files(&f, place);
    for (unsigned i = 0; i < f.count; i++) {
        for (unsigned k = 0; k < TRIES && good; k++) {
            struct buf copy;
            buf_init(&copy);
            buf_add(&copy, buf_str(&f.data[i]), f.data[i].len);
            damage(&copy, k);
            good = save(f.paths[i], &copy) && read_all(path);
            buf_fini(&copy);
        }
        unlink(f.paths[i]);
        if (strcmp(f.paths[i], path) != 0)
            good &= read_all(path);
        good &= save(f.paths[i], &f.data[i]);
    }
    ok(good, "%s: %u damaged files are read as far as they go, or refused", format->name,
       f.count * TRIES);
    ok(read_all(path), "%s: and whole again", format->name);
    for (unsigned i = 0; i < f.count; i++)
        buf_fini(&f.data[i]);
}

int main(void)
{
    struct random_trace spec = {.seed = 7, .ranks = RANKS, .calls = CALLS};
    const struct trace_format *format;
    struct err err;
    char orr[300], command[300];
    plan_auto();
    rng_seed(&rng, 2026);
    if (!mkdtemp(folder))
        return 1;
    setenv("TMPDIR", folder, 1);
    snprintf(orr, sizeof orr, "%s/t.orr", folder);
    is_int(random_trace_write(&spec, orr, &err), 0, "a trace");
    for (size_t i = 0; (format = formats_at(i)); i++)
        if (format->read && format->write)
            try_format(format, orr);
    snprintf(command, sizeof command, "rm -r %s", folder);
    ok(system(command) == 0, "removed");
    return done_testing();
}
