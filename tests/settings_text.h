/*
 * settings_text.h - all settings as one text that platform_set takes, to read them back.
 */
#ifndef SETTINGS_TEXT_H
#define SETTINGS_TEXT_H

#include "platform/config.h"

static void print_settings(const struct platform_config *config, struct buf *out)
{
    for (size_t i = 0; i < platform_config_count(); i++) {
        buf_addf(out, "%s%s=", i ? "," : "", platform_config_key(i));
        platform_config_value(config, i, out);
    }
}

#endif
