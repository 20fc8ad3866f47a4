/*
 * Text in XML documents.
 */
#ifndef BASE_XML_H
#define BASE_XML_H

#include "base/buf.h"

/* Appends text for an element or for an attribute in double quotes. Control characters, which XML
 * does not have, and bytes that are not UTF-8 become '?'. */
void xml_add_text(struct buf *out, const char *text);

#endif
