/*
 * settings_help.c - help on settings, from their tables.
 */
#include "cli/settings_help.h"

#include <stdio.h>
#include <string.h>

#include "cli/machine.h"
#include "cli/options.h"
#include "cli/uses.h"

#define WIDTH 80
#define INDENT 16

static size_t section_length(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot ? (size_t)(dot - name) : 0;
}

/* Is it directly in the section? */
static int is_in(const char *name, const char *section, size_t length)
{
    return section_length(name) == length && strncmp(name, section, length) == 0;
}

static void add_word(struct buf *out, const char *word, const char *end, size_t *column)
{
    size_t length = strlen(word) + strlen(end);
    if (*column + 1 + length > WIDTH) {
        buf_addf(out, "\n%*s", INDENT, "");
        *column = INDENT;
    }
    buf_addf(out, " %s%s", word, end);
    *column += 1 + length;
}

/* "  net.intra     latency bandwidth ..." */
static void add_section(const char *section, size_t length, struct buf *out)
{
    size_t column = INDENT, skip = length ? length + 1 : 0;
    buf_addf(out, "  %-*.*s", INDENT - 2, (int)length, section);
    for (size_t i = 0; i < platform_config_count(); i++)
        if (is_in(platform_config_key(i), section, length))
            add_word(out, platform_config_key(i) + skip, "", &column);
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const char *key = platform_list_key((enum platform_list_kind)i);
        if (key && is_in(key, section, length))
            add_word(out, key + skip, "[]", &column);
    }
    buf_addc(out, '\n');
}

/* Is key i the first of its section? */
static int begins_section(size_t i)
{
    const char *key = platform_config_key(i);
    for (size_t k = 0; k < i; k++)
        if (is_in(platform_config_key(k), key, section_length(key)))
            return 0;
    return 1;
}

void cli_settings_names(struct buf *out)
{
    buf_adds(out, "Settings of the machine, for --set KEY=VALUE and platform files:\n\n");
    for (size_t i = 0; i < platform_config_count(); i++)
        if (begins_section(i))
            add_section(platform_config_key(i), section_length(platform_config_key(i)), out);
    buf_adds(out,
             "\nA key is section and name, as in --set net.latency=2us,nodes.ranks=16. What ends\n"
             "in [] is a list: net.segments[+].from=4KiB adds an item, [0] is the first, [-1]\n"
             "the last, and net.segments= empties it.\n\n"
             "  orrery help KEY              explains one, such as net.gap\n"
             "  orrery help SECTION          all of a section, such as net.topology\n"
             "  orrery help --all settings   all, with defaults and meaning\n"
             "  man orrery-settings\n");
}

void cli_settings_all(struct buf *out)
{
    buf_adds(out, "\nSettings for --set, with their defaults:\n");
    platform_config_help(out);
    buf_adds(out, "\nFields of lists; [+] adds an item, [0] is the first, [-1] the last:\n");
    platform_lists_help(out);
}

/* ---- one setting ---- */

static void add_line(struct buf *out, const char *head, const char *text)
{
    buf_addf(out, "    %s", head);
    cli_options_wrap(out, text, 4, 4 + (int)strlen(head));
}

static void add_facts(const char *name, struct buf *out)
{
    struct buf text;
    const char *choice;
    buf_init(&text);
    for (unsigned i = 0; (choice = cli_machine_choice(name, i)); i++)
        buf_addf(&text, "%s%s", i ? ", " : "", choice);
    if (text.len)
        add_line(out, "values: ", buf_str(&text));
    buf_clear(&text);
    cli_uses_who(name, &text);
    if (text.len)
        add_line(out, "used by: ", buf_str(&text));
    buf_fini(&text);
}

static int explain_setting(const char *name, struct buf *out)
{
    struct platform_config defaults;
    for (size_t i = 0; i < platform_config_count(); i++)
        if (strcmp(platform_config_key(i), name) == 0) {
            platform_config_init(&defaults);
            buf_addf(out, "%s=", name);
            platform_config_value(&defaults, i, out);
            buf_addc(out, '\n');
            add_line(out, "", platform_config_text(i));
            add_facts(name, out);
            return 1;
        }
    return 0;
}

static int explain_list(const char *name, struct buf *out)
{
    for (int i = 0; i < PLATFORM_LISTS; i++) {
        const char *key = platform_list_key((enum platform_list_kind)i);
        if (!key || strcmp(key, name) != 0)
            continue;
        buf_addf(out, "%s, a list\n", name);
        add_line(out, "", platform_list_text((enum platform_list_kind)i));
        add_facts(name, out);
        buf_adds(out, "\nFields of an item:\n");
        platform_list_help((enum platform_list_kind)i, out);
        return 1;
    }
    return 0;
}

/* Settings of the section itself, and only the names of what is below it. */
static int explain_section(const char *name, struct buf *out)
{
    size_t length = strlen(name), found = 0;
    for (size_t i = 0; i < platform_config_count(); i++)
        if (is_in(platform_config_key(i), name, length)) {
            platform_setting_help(i, out);
            found++;
        }
    for (int i = 0; i < PLATFORM_LISTS && found; i++) {
        const char *key = platform_list_key((enum platform_list_kind)i);
        if (key && is_in(key, name, length))
            buf_addf(out, "  %-27s a list: 'orrery help %s'\n", key, key);
    }
    for (size_t i = 0; i < platform_config_count() && found; i++) {
        const char *key = platform_config_key(i);
        if (section_length(key) > length && strncmp(key, name, length) == 0 && key[length] == '.' &&
            begins_section(i))
            buf_addf(out, "  %-27.*s a section: 'orrery help %.*s'\n", (int)section_length(key),
                     key, (int)section_length(key), key);
    }
    return found > 0;
}

int cli_settings_explain(const char *name, struct buf *out)
{
    return *name &&
           (explain_setting(name, out) || explain_list(name, out) || explain_section(name, out));
}
