/*
 * read.h - machines as files: YAML and the plain text files it refers to. For the command only: the
 * library inside a program gets its machine as bytes (lists.h).
 *
 * Errors name the file, the line, the field, what was given and what is allowed:
 *
 *     machine.yaml:12: net.latncy: unknown field: did you mean 'latency'?
 */
#ifndef PLATFORM_READ_H
#define PLATFORM_READ_H

#include "platform/lists.h"
#include "platform/origins.h"

#define PLATFORM_PRESET_DEFAULT "ethernet-1g"

/* Where presets are looked for, in this order. Borrowed. */
struct platform_preset_dirs {
    const char *const *directories;
    size_t count;
};

/* Is it the name of a preset, and not that of a file? Those have a slash or end in .yaml or .yml. */
int platform_is_preset(const char *name);

/* The path of a preset; ERR_INPUT, with the nearest and all there are, if there is none. */
int platform_preset_path(const struct platform_preset_dirs *, const char *name, char *path,
                         size_t size, struct err *);

/* The names of all presets, sorted; the caller frees each and the array with mem_free. */
char **platform_presets(const struct platform_preset_dirs *, size_t *count);

/* Reads a preset or file over a machine, whose values remain where the file says nothing; lists that
 * the file has replace the machine's. `origins` may be NULL. On failure the machine is some mixture. */
int platform_read(struct platform *, const struct platform_preset_dirs *, const char *name,
                  struct platform_origins *, struct err *);

/* The same of a text; `file` is its name for errors and for what relative paths are relative to. */
int platform_read_text(struct platform *, const struct platform_preset_dirs *, const char *file,
                       const char *text, size_t length, struct platform_origins *, struct err *);

/* Reads the files that settings name (noise, graph) into their lists and makes their paths absolute.
 * Once all settings are known. */
int platform_read_files(struct platform *, struct err *);

/* Readers of these files, given as text. */
int platform_read_noise(struct platform *, const char *file, const char *text, size_t length,
                        struct err *);
int platform_read_graph(struct platform *, const char *file, const char *text, size_t length,
                        struct err *);
int platform_read_map(struct platform *, const char *file, const char *text, size_t length,
                      struct err *);

/* Does the machine make use of a setting, or of a list? By its name. */
typedef int platform_used(const struct platform *, const char *name);

/* Appends the machine as a platform file: every field, with what it is. Those that are not `used` (NULL:
 * all are) become remarks. Reading it over any machine gives this one, but for these. */
void platform_write(const struct platform *, platform_used *used, struct buf *out);

/* The machine as a JSON object: settings by their dotted names, and lists that are not empty (but nodes.map
 * and what is in files) as arrays of objects; all values are texts. */
struct json;
void platform_json(const struct platform *, struct json *);

/* Appends the JSON schema of platform files. `choice` gives the i-th value that a setting may have, NULL
 * beyond the last or if any may be. */
void platform_schema(const char *(*choice)(const char *key, unsigned i), struct buf *out);

#endif
