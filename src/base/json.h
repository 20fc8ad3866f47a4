/*
 * json.h - writes JSON to a text buffer: two-space indent, one member per line; an array of scalars
 * that fits in 80 columns is written on one line.
 *
 *     json_init(&j, &out);
 *     json_object_begin(&j);
 *     json_key(&j, "ranks");  json_uint(&j, 4);
 *     json_object_end(&j);
 *     json_fini(&j);
 *
 * Calls in an order that is not JSON (a value in an object without a key, an unmatched end) are
 * bugs and assert. Nothing here switches.
 */
#ifndef BASE_JSON_H
#define BASE_JSON_H

#include <stdint.h>

#include "base/buf.h"

#define JSON_DEPTH_MAX 64

/* Use the functions. */
struct json_level {
    size_t start; /* offset in out of the opening bracket */
    char close;   /* ']' or '}' */
    char empty;   /* nothing written in it yet */
    char flat;    /* holds scalars only */
};

struct json {
    struct buf *out;
    int depth;
    int after_key; /* a key was written, its value was not */
    int done;      /* the top-level value is complete */
    struct json_level level[JSON_DEPTH_MAX];
};

/* Starts a document that is appended to `out`, which is borrowed. */
void json_init(struct json *json, struct buf *out);

/* Ends the document with a newline; all objects and arrays must be closed. */
void json_fini(struct json *json);

void json_object_begin(struct json *json);
void json_object_end(struct json *json);
void json_array_begin(struct json *json);
void json_array_end(struct json *json);

/* The name of the next member of the current object; escaped like a string. */
void json_key(struct json *json, const char *key);

/* NULL writes null. Bytes that are not UTF-8 become U+FFFD, so the output is always valid. */
void json_string(struct json *json, const char *text);
void json_int(struct json *json, int64_t value);
void json_uint(struct json *json, uint64_t value);

/* Appends a string alone, in quotes, for who writes JSON by itself. */
void json_quote(struct buf *out, const char *text);

/* The shortest text that reads back as the same double; infinities and NaN become null. */
void json_double(struct json *json, double value);

/* value / 10^digits, exactly, with all `digits` (1 to 18) digits of the fraction. */
void json_decimal(struct json *json, uint64_t value, int digits);

/* A key and its value. */
void json_put_uint(struct json *json, const char *key, uint64_t value);
void json_put_double(struct json *json, const char *key, double value);
void json_put_string(struct json *json, const char *key, const char *value);
void json_bool(struct json *json, int value);

#endif
