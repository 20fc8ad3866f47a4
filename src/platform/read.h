/*
 * read.h - reads and writes machines as files: YAML and the plain text files it refers to. For the
 * command only: the library inside a program gets its machine as bytes (lists.h).
 *
 * Errors name the file, the line, the field, what was given and what is allowed:
 *
 *     machine.yaml:12: net.latncy: unknown field: did you mean 'latency'?
 */
#ifndef PLATFORM_READ_H
#define PLATFORM_READ_H

#include "platform/lists.h"
#include "platform/origins.h"

/* The directories of presets, in search order. Borrowed. */
struct platform_preset_dirs {
    const char *const *directories;
    size_t count;
};

/* Is it the name of a preset, not of a file? File names have a slash or end in .yaml or .yml. */
int platform_is_preset(const char *name);

/* The path of a preset. If there is none, ERR_INPUT with the nearest name and all names. */
int platform_preset_path(const struct platform_preset_dirs *, const char *name, char *path,
                         size_t size, struct err *);

/* The names of all presets, sorted; the caller frees each and the array with mem_free. */
char **platform_presets(const struct platform_preset_dirs *, size_t *count);

/* Reads a preset or file into a machine. Values that the file does not give remain; lists in the
 * file replace the machine's. `origins` may be NULL. On failure the machine is partly changed. */
int platform_read(struct platform *, const struct platform_preset_dirs *, const char *name,
                  struct platform_origins *, struct err *);

/* platform_read for a text; `file` is its name for errors, and the base of relative paths. */
int platform_read_text(struct platform *, const struct platform_preset_dirs *, const char *file,
                       const char *text, size_t length, struct platform_origins *, struct err *);

/* Reads the files that settings name (noise, graph) into their lists and makes their paths
 * absolute. Call it once all settings are known. */
int platform_read_files(struct platform *, struct err *);

/* Readers of these files, given as text. */
int platform_read_noise(struct platform *, const char *file, const char *text, size_t length,
                        struct err *);
int platform_read_graph(struct platform *, const char *file, const char *text, size_t length,
                        struct err *);
int platform_read_map(struct platform *, const char *file, const char *text, size_t length,
                      struct err *);

/* Does the machine use the setting or list of this name? */
typedef int platform_used(const struct platform *, const char *name);

/* Appends the machine as a platform file: every field with its description. Fields that are not
 * `used` (NULL: all are) become comments. Reading it into any machine gives this one, except for
 * those fields. */
void platform_write(const struct platform *, platform_used *used, struct buf *out);

/* The machine as a JSON object: settings by their dotted names, and non-empty lists (except
 * nodes.map and lists from files) as arrays of objects; all values are strings. */
struct json;
void platform_json(const struct platform *, struct json *);

/* Appends the JSON schema of platform files. `choice` returns the i-th value that a setting may
 * have; NULL beyond the last, or if any value is allowed. */
void platform_schema(const char *(*choice)(const char *key, unsigned i), struct buf *out);

#endif
