/* Tables: written, read again, and compared. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/compare.h"
#include "base/xml.h"
#include "tap.h"

static char path[] = "/tmp/orrery-table-XXXXXX";

static struct tables make(double time, double calls, int has_extra)
{
    struct tables t;
    tables_init(&t);
    tables_add_meta(&t, "source", "a <b> & \"c\"");
    struct table *table = tables_add(&t, "functions", "functions");
    table_add_column(&t, table, "function", "", TABLE_KEY);
    table_add_column(&t, table, "calls", "", TABLE_COUNT);
    table_add_column(&t, table, "time", "s", TABLE_TIME);
    union table_cell *row = table_add_row(table);
    row[0].text = "f<int, \"x\">";
    row[1].number = calls;
    row[2].number = time;
    if (has_extra) {
        row = table_add_row(table);
        row[0].text = "only";
        row[1].number = 1;
        row[2].number = 5;
    }
    table = tables_add(&t, "phases", "phase-times");
    table_add_column(&t, table, "rank", "", TABLE_KEY);
    table_add_column(&t, table, "times", "s", TABLE_TIMES);
    struct table_list *list = tables_keep_list(&t, 3);
    list->items[0] = 0.1;
    list->items[1] = NAN;
    list->items[2] = time;
    row = table_add_row(table);
    row[0].text = "0";
    row[1].list = list;
    return t;
}

static void put(const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

static void test_round_trip(void)
{
    struct tables t = make(1.0 / 3, 7, 1), back;
    struct buf xml, again, csv;
    struct err err = {0};
    buf_init(&xml);
    buf_init(&again);
    buf_init(&csv);
    tables_write_xml(&t, &xml);
    put(buf_str(&xml));
    if (!is_int(tables_read_xml(&back, path, &err), 0, "XML is read"))
        diag("%s", err.text);
    tables_write_xml(&back, &again);
    is_str(buf_str(&again), buf_str(&xml), "and is the same when it is written again");
    is_str(tables_meta(&back, "source"), "a <b> & \"c\"", "meta data");
    const struct table *table = tables_find(&back, "functions", "functions");
    ok(table && table->row_count == 2, "rows");
    is_str(table->cells[0].text, "f<int, \"x\">", "a key with what XML has uses for");
    ok(table->cells[2].number == 1.0 / 3, "a number to the last bit");
    table = tables_find(&back, "phases", "phase-times");
    ok(table->cells[1].list->count == 3 && isnan(table->cells[1].list->items[1]),
       "a list with a gap");
    tables_write_csv(&t, &csv);
    ok(strstr(buf_str(&csv), "functions,\"f<int, \"\"x\"\">\",7,") != NULL, "CSV is quoted");
    buf_fini(&xml);
    buf_fini(&again);
    buf_fini(&csv);
    tables_fini(&t);
    tables_fini(&back);
}

static void test_bad_xml(void)
{
    static const char *const bad[] = {
        "",
        "no xml",
        "<html/>",
        "<orrery-statistics>",
        "<orrery-statistics><table name='x'/></orrery-statistics>",
        "<orrery-statistics><entry/></orrery-statistics>",
        "<orrery-statistics><entry name='a'><row/></entry></orrery-statistics>",
        "<orrery-statistics><entry name='a'><table name='t'><column name='x' role='time'/>"
        "<row x='soon'/></table></entry></orrery-statistics>",
        "<orrery-statistics><entry name='a'><table name='t'><column name='x' role='time'/>"
        "<row x='1e999'/></table></entry></orrery-statistics>",
        "<orrery-statistics><entry name='a'><table name='t'><row/><column name='x' role='time'/>"
        "</table></entry></orrery-statistics>",
    };
    struct tables t;
    struct err err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        put(bad[i]);
        ok(tables_read_xml(&t, path, &err) != 0 && strstr(err.text, path), "refused: %s", err.text);
    }
    put("<orrery-statistics version='9'><news><row/></news></orrery-statistics>");
    ok(tables_read_xml(&t, path, &err) != 0, "rows belong to tables, in later versions, too");
    put("<orrery-statistics version='9'><news/><entry name='a'><table name='t'>"
        "<column name='x' role='mood'/><column name='y' role='time'/><colour/>"
        "<row x='1' y='2' z='3'/></table></entry></orrery-statistics>");
    is_int(tables_read_xml(&t, path, &err), 0, "what is not known is skipped");
    ok(t.count == 1 && t.items[0].column_count == 1 && t.items[0].cells[0].number == 2,
       "and the rest is read");
    tables_fini(&t);
}

static void test_errors(void)
{
    ok(compare_error(COMPARE_SYMMETRIC, 1, 3) == 1, "symmetric error");
    ok(compare_error(COMPARE_SYMMETRIC, 0, 3) == 2, "of nothing and something");
    ok(compare_error(COMPARE_SYMMETRIC, 0, 0) == 0, "of nothing and nothing");
    ok(fabs(compare_error(COMPARE_LOG, 1, M_E) - 1) < 1e-12, "logarithmic error");
    ok(compare_error(COMPARE_LOG, 0, 1) == COMPARE_LOG_MOST, "is bounded");
    ok(compare_error(COMPARE_LOG, 1e-300, 1e300) == COMPARE_LOG_MOST, "in any case");
    ok(compare_error(COMPARE_RELATIVE, 2, 3) == 0.5, "relative error");
    ok(compare_error(COMPARE_RELATIVE, 3, 2) == 1. / 3, "has a reference");
    ok(compare_error(COMPARE_RELATIVE, 0, 2) == 1, "which may be 0");
}

static void test_groups(void)
{
    struct tables a = make(1, 10, 0), b = make(3, 10, 1);
    struct comparison c;
    struct compare_options o = {0}, skeleton = {.skeleton = 1};
    struct err err = {0};
    is_int(compare_run(&c, &a, &b, &o, &err), 0, "is compared");
    is_int(c.group_count, 2, "groups");
    const struct compare_group *g = &c.groups[0];
    is_str(g->name, "functions", "the first");
    is_int(g->values, 2, "values");
    ok(g->mean == 0.5 && g->max == 1 && g->variance == 0.25, "mean, most and variance");
    ok(g->rows == 2 && g->only_a == 0 && g->only_b == 1 && g->structure == 0.5, "structure");
    is_int(c.groups[1].values, 2, "elements of lists, without gaps");
    ok(c.groups[1].mean == 0.5, "and their mean");
    is_int(c.only_count, 1, "rows of one side");
    ok(c.only[0].is_b && strcmp(c.only[0].row, "only") == 0, "which");
    is_int(c.difference_count, 2, "what differs");
    ok(c.differences[0].a == 1 && c.differences[0].b == 3, "its values");
    compare_fini(&c);
    is_int(compare_run(&c, &a, &b, &skeleton, &err), 0, "a skeleton");
    ok(c.group_count == 1 && c.groups[0].values == 1 && c.groups[0].mean == 0, "has no times");
    compare_fini(&c);
    tables_fini(&b);
    tables_init(&b);
    is_int(compare_run(&c, &a, &b, &o, &err), ERR_INPUT, "nothing in common");
    tables_fini(&a);
}

static void test_xml_text(void)
{
    struct buf out;
    buf_init(&out);
    xml_add_text(&out, "<a href=\"x\">&\x01\xff\xc3\xa4");
    is_str(buf_str(&out), "&lt;a href=&quot;x&quot;&gt;&amp;??\xc3\xa4", "text in XML");
    buf_fini(&out);
}

int main(void)
{
    plan_auto();
    close(mkstemp(path));
    test_round_trip();
    test_bad_xml();
    test_errors();
    test_groups();
    test_xml_text();
    unlink(path);
    return done_testing();
}
