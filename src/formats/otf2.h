/*
 * otf2.h - both directions of the format OTF2.
 */
#ifndef FORMATS_OTF2_H
#define FORMATS_OTF2_H

#include "formats/formats.h"

int otf2_write(struct trace *, const char *path, struct format_notes *, struct err *);

/* Loads the library, and keeps it from printing messages. */
int otf2_begin(struct err *);

#endif
