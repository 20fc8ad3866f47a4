/*
 * err.h - failures of input or system, as values.
 *
 * A function that can fail returns 0 or a negative ERR_ code and takes a `struct err *` as its
 * last argument, which it fills on failure and leaves untouched on success. Callers add their
 * context with err_prefix and pass it up; only the outermost caller prints. (The codes are
 * `enum err_code` because C keeps the tags of structs and enums in one name space.)
 *
 * No function here allocates or switches.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

enum err_code {
    ERR_OK = 0,
    ERR_INPUT = -1,    /* an invalid file, option or program */
    ERR_SYSTEM = -2,   /* the operating system refused */
    ERR_MEMORY = -3,   /* an allocation sized by input failed */
    ERR_INTERNAL = -4, /* Orrery itself is at fault */
};

/* A plain value: needs no cleanup, may be copied. Texts that do not fit are cut. */
struct err {
    int code;
    char text[1024];
};

/* Sets code and text, and returns code. `err` may be NULL; arguments may point into err->text. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Turns the text into "<context>: <text>" and returns err->code (ERR_INPUT if err is NULL). */
int err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
